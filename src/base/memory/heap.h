/* heap.h - numbers of which the one that goes first is on top: what a merge of many takes from next. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_HEAP_H
#define BASE_MEMORY_HEAP_H

#include "base/inline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool tw_goes_first_fn(const void *context, uint32_t a, uint32_t b);

/* Moves the number at a place down to where it belongs. Inline, so that to compare is no call. */
TW_INLINE void tw_heap_sift(uint32_t *heap, size_t count, size_t place, tw_goes_first_fn *goes_first,
                            const void *context)
{
	const uint32_t moved = heap[place];
	for (size_t below; (below = 2 * place + 1) < count; place = below) {
		if (below + 1 < count && goes_first(context, heap[below + 1], heap[below]))
			below++;
		if (!goes_first(context, heap[below], moved))
			break;
		heap[place] = heap[below];
	}
	heap[place] = moved;
}

/* Puts numbers that stand in any order into that of a heap. */
TW_INLINE void tw_heap_make(uint32_t *heap, size_t count, tw_goes_first_fn *goes_first, const void *context)
{
	for (size_t i = count / 2; i-- > 0;)
		tw_heap_sift(heap, count, i, goes_first, context);
}

#endif
