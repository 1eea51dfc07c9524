/* once.c - operands that are files of one trace: it is read once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/once.h"

#include "cli/message.h"
#include "cli/show.h"
#include "core/format.h"

#include <string.h>

/* The format that opens a path by itself, where it tells files of one trace; NULL otherwise. */
static const struct tw_format *format_of(const struct tw_common *common, const char *path)
{
	for (size_t i = 0; tw_formats[i]; i++)
		if (tw_formats[i]->same && (!common->from || strcmp(common->from, tw_formats[i]->name) == 0) &&
		    tw_formats[i]->claims(path))
			return tw_formats[i];
	return NULL;
}

static bool is_read(const struct tw_common *common, char **kept, size_t count, const char *path)
{
	const struct tw_format *format = format_of(common, path);
	for (size_t i = count; format && i-- > 0;)
		if (format_of(common, kept[i]) == format && format->same(kept[i], path))
			return true;
	return false;
}

size_t tw_once(const struct tw_common *common, char **paths, size_t count)
{
	size_t kept = 0;
	const char *last = NULL;
	for (size_t i = 0; i < count; i++) {
		char *path = paths[i];
		if (i > 0 && is_read(common, paths, kept, path)) {
			last = path;
			continue;
		}
		paths[i] = paths[kept];
		paths[kept++] = path;
	}
	if (last)
		tw_say("%s not read again: of the same trace as one before, the last: %s",
		       tw_show_plural(count - kept, "file").text, last);
	return kept;
}
