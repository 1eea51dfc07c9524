/* part.h - which part of a trace a question is about. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_PART_H
#define VIEW_SERVE_PART_H

#include "view/serve/view.h"

struct view_part {
	struct tw_read_options options;
	uint64_t *threads, *processes;
};

/* Takes from, to and tracks of a request, each of which may be missing. False where one is none. Free it in any case.
 */
bool view_part_take(struct view *view, const struct view_request *request, struct view_part *part);
void view_part_free(struct view_part *part);

#endif
