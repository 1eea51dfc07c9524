/* no_microhttpd.c - a build without libmicrohttpd: pages are written, and none is served. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"

#include <stdio.h>

int view_http_start(struct view *view, unsigned port)
{
	(void)port;
	snprintf(view->error, sizeof view->error,
	         "this trackway is built without libmicrohttpd; --export writes a page");
	return TW_ERR_UNSUPPORTED;
}

void view_http_stop(struct view *view)
{
	view_questions_stop(&view->questions);
}
