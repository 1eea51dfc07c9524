/* index.c - which bytes of a file a window of time needs: what an index is asked first, and its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "sql/index/index_parts.h"

#include <stdlib.h>

int sql_index_compare_begins(const void *left, const void *right)
{
	const struct sql_index_begin *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

const struct sql_index_begin *sql_index_begin_at(const struct sql_index *index, uint64_t offset)
{
	const struct sql_index_begin key = {.offset = offset};
	return bsearch(&key, index->begins, index->begin_count, sizeof key, sql_index_compare_begins);
}

bool sql_index_overlaps(const struct sql_index *index)
{
	return index->overlaps;
}

void sql_index_free(struct sql_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < SQL_INDEX_SPANS; i++)
		free(index->spans[i].open);
	free(index->live.items);
	free(index->places.items);
	free(index->blocks);
	free(index->begins);
	free(index->needed.items);
	free(index);
}
