/* cover.c - which of several intervals holds a number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/cover.h"

#include "base/memory/order.h"

#include <stdlib.h>

static int by_place(const void *left, const void *right)
{
	const struct tw_edge *a = left, *b = right;
	return tw_compare(a->at, b->at);
}

/* The places where spans begin and end, each once, in order. */
static size_t place_edges(const struct tw_interval *spans, uint32_t span_count, struct tw_edge *edges)
{
	size_t count = 0, kept = 0;
	for (uint32_t i = 0; i < span_count; i++)
		if (spans[i].start < spans[i].end) {
			edges[count++] = (struct tw_edge){spans[i].start, TW_NO_SPAN};
			edges[count++] = (struct tw_edge){spans[i].end, TW_NO_SPAN};
		}
	if (count)
		qsort(edges, count, sizeof *edges, by_place);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || edges[kept - 1].at != edges[i].at)
			edges[kept++] = edges[i];
	return kept;
}

/* The first edge from i on that has no span. free_from: for each edge one from which on to look. */
static size_t next_free(size_t *free_from, size_t i)
{
	while (free_from[i] != i) {
		free_from[i] = free_from[free_from[i]];
		i = free_from[i];
	}
	return i;
}

bool tw_cover_make(const struct tw_interval *spans, uint32_t span_count, struct tw_edge *edges, size_t *count)
{
	*count = place_edges(spans, span_count, edges);
	size_t *free_from = malloc((*count + 1) * sizeof *free_from);
	if (!free_from)
		return false;
	for (size_t i = 0; i <= *count; i++)
		free_from[i] = i;
	for (uint32_t span = 0; span < span_count; span++) {
		if (spans[span].start >= spans[span].end)
			continue;
		size_t i = tw_count_below(edges, *count, TW_KEY(struct tw_edge, at), spans[span].start);
		while ((i = next_free(free_from, i)) < *count && edges[i].at < spans[span].end) {
			edges[i].span = span;
			free_from[i] = i + 1;
		}
	}
	free(free_from);
	return true;
}

uint32_t tw_cover_find(const struct tw_edge *edges, size_t count, uint64_t number)
{
	size_t before = tw_count_up_to(edges, count, TW_KEY(struct tw_edge, at), number);
	return before ? edges[before - 1].span : TW_NO_SPAN;
}
