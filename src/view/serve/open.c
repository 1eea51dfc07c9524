/* open.c - the traces of a view, opened as one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"

#include <stdlib.h>

int view_reader(struct view *view, struct tw_reader **reader, const struct tw_read_options *options)
{
	struct tw_merge_source *sources;
	if (view->options.count == 1)
		return tw_open(reader, view->options.paths[0], options);
	*reader = NULL;
	sources = calloc(view->options.count, sizeof *sources);
	if (!sources)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < view->options.count; i++)
		sources[i].path = view->options.paths[i];
	int status = tw_open_merged(reader, sources, view->options.count, &view->options.merge, options);
	free(sources);
	return status;
}
