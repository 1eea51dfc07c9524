/* rows_select.c - the part of a graph of calls around certain functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "base/memory/map.h"

#include <string.h>

static uint64_t key_of(const char *name, uint64_t id)
{
	return tw_hash_bytes(name, strlen(name), id);
}

static bool keep_end(struct tw_map *ends, const char *name, uint64_t id)
{
	uint32_t seen;
	if (!name || tw_map_find(ends, key_of(name, id), &seen))
		return true;
	return tw_map_add(ends, key_of(name, id), 0);
}

static bool select_edges(struct tw_rows *edges, tw_name_wanted_fn *wanted, const void *context, struct tw_map *ends)
{
	size_t kept = 0;
	for (size_t i = 0; i < edges->count; i++) {
		const struct tw_profile_row row = edges->rows[i];
		if (!wanted(context, row.name) && !wanted(context, row.caller))
			continue;
		if (!keep_end(ends, row.name, row.id) || !keep_end(ends, row.caller, row.caller_id))
			return false;
		edges->rows[kept++] = row;
	}
	edges->count = kept;
	return true;
}

static void select_functions(struct tw_rows *functions, const struct tw_map *ends)
{
	size_t kept = 0;
	uint32_t seen;
	for (size_t i = 0; i < functions->count; i++)
		if (tw_map_find(ends, key_of(functions->rows[i].name, functions->rows[i].id), &seen))
			functions->rows[kept++] = functions->rows[i];
	functions->count = kept;
}

int tw_rows_select(struct tw_rows *functions, struct tw_rows *edges, tw_name_wanted_fn *wanted, const void *context)
{
	struct tw_map ends = {0};
	bool fine = select_edges(edges, wanted, context, &ends);
	if (fine)
		select_functions(functions, &ends);
	tw_map_free(&ends);
	return fine ? 0 : TW_ERR_MEMORY;
}
