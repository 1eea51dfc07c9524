/* once.c - operands that are files of one trace: it is read once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/once.h"

#include "base/memory/map.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/format.h"

#include <stdlib.h>
#include <string.h>

/* Keys of the traces that are read, as many as there are paths at most, and which have a hash. */
struct traces {
	char (*keys)[TW_TRACE_KEY_SIZE];
	size_t count;
	struct tw_map map;
};

/* Whether a format tells files of one trace that a path is of: then the key of that trace. */
static bool find_key(const struct tw_common *common, const char *path, char key[static TW_TRACE_KEY_SIZE])
{
	for (size_t i = 0; tw_formats[i]; i++)
		if (tw_formats[i]->key && (!common->from || strcmp(common->from, tw_formats[i]->name) == 0) &&
		    tw_formats[i]->key(path, key))
			return true;
	return false;
}

/* Whether the trace of a path is among those that are read; it is from here on. */
static bool is_read(struct traces *traces, const struct tw_common *common, const char *path)
{
	char *key = traces->keys[traces->count];
	uint32_t number;
	if (!find_key(common, path, key))
		return false;
	const uint64_t hash = tw_hash_bytes(key, strlen(key), 0);
	for (size_t slot = SIZE_MAX; tw_map_next(&traces->map, hash, &slot, &number);)
		if (strcmp(traces->keys[number], key) == 0)
			return true;
	if (tw_map_add(&traces->map, hash, (uint32_t)traces->count))
		traces->count++;
	return false;
}

size_t tw_once(const struct tw_common *common, char **paths, size_t count)
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
	free(traces.keys);
	tw_map_free(&traces.map);
	if (last)
		tw_say("%s not read again: of the same trace as one before, the last: %s",
		       tw_show_plural(count - kept, "file").text, last);
	return kept;
}
