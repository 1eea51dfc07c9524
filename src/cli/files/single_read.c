/* single_read.c - operands that are files of one trace: it is read once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/single_read.h"

#include "base/memory/map.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <stdlib.h>
#include <string.h>

/* The traces that are read: a key of each, and which have a hash. */
struct traces {
	char **keys; /* as many as there are paths at most */
	size_t count;
	struct tw_map map;
};

/* Whether the trace of a path is among those that are read; it is from here on. */
static bool is_read(struct traces *traces, const struct tw_common *common, const char *path)
{
	char *key = tw_trace_key_of(path, common->from);
	uint32_t number;
	bool read = false;
	const uint64_t hash = key ? tw_hash_bytes(key, strlen(key), 0) : 0;
	for (size_t slot = SIZE_MAX; key && !read && tw_map_next(&traces->map, hash, &slot, &number);)
		read = strcmp(traces->keys[number], key) == 0;
	if (key && !read && tw_map_add(&traces->map, hash, (uint32_t)traces->count))
		traces->keys[traces->count++] = key;
	else
		free(key);
	return read;
}

size_t tw_drop_same_traces(const struct tw_common *common, char **paths, size_t count)
{
	struct traces traces = {.keys = count > 1 ? calloc(count, sizeof *traces.keys) : NULL};
	size_t kept = 0;
	const char *last = NULL;
	for (size_t i = 0; i < count; i++) {
		char *path = paths[i];
		if (traces.keys && is_read(&traces, common, path)) {
			last = path;
			continue;
		}
		paths[i] = paths[kept];
		paths[kept++] = path;
	}
	for (size_t i = 0; traces.keys && i < traces.count; i++)
		free(traces.keys[i]);
	free(traces.keys);
	tw_map_free(&traces.map);
	if (last)
		tw_say("%s not read again: of the same trace as one before, the last: %s",
		       tw_show_plural(count - kept, "file").text, last);
	return kept;
}
