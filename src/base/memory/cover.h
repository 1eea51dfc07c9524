/* cover.h - which of several intervals that may overlap holds a number: the first that does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_COVER_H
#define BASE_MEMORY_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From start up to, but without, end; none where that is not above start. */
struct tw_interval {
	uint64_t start, end;
};

/* From here up to the next edge the span with this number is the first; TW_NO_SPAN: no span is there. */
struct tw_edge {
	uint64_t at;
	uint32_t span;
};

#define TW_NO_SPAN UINT32_MAX

/* Makes edges, in order, of spans. edges: room for 2 * span_count. Returns false when there is no memory. */
bool tw_cover_make(const struct tw_interval *spans, uint32_t span_count, struct tw_edge *edges, size_t *count);

/* Returns the first span that holds a number, or TW_NO_SPAN. */
uint32_t tw_cover_find(const struct tw_edge *edges, size_t count, uint64_t number);

#endif
