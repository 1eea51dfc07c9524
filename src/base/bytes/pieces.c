/* pieces.c - pieces of a file in order, each byte once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input.h"
#include "base/memory/order.h"

#include <stdlib.h>

static int compare_pieces(const void *left, const void *right)
{
	const struct tw_piece *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

uint64_t tw_join_pieces(struct tw_piece *pieces, size_t *count)
{
	size_t kept = 0;
	uint64_t place = 0;
	qsort(pieces, *count, sizeof *pieces, compare_pieces);
	for (size_t i = 0; i < *count; i++) {
		const uint64_t end = pieces[i].offset + pieces[i].size;
		struct tw_piece *last = kept ? &pieces[kept - 1] : NULL;
		if (last && pieces[i].offset <= last->offset + last->size)
			last->size = end > last->offset + last->size ? end - last->offset : last->size;
		else
			pieces[kept++] = pieces[i];
	}
	*count = kept;
	for (size_t i = 0; i < kept; i++) {
		pieces[i].place = place;
		place += pieces[i].size;
	}
	return place;
}
