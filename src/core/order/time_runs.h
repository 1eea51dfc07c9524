/* time_runs.h - puts items in the order of time that consist of a few runs in that order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_TIME_RUNS_H
#define CORE_ORDER_TIME_RUNS_H

#include "base/inline.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Items are of `size` bytes, and begin with their time. All functions are inline, so that the size is known. */

TW_INLINE uint64_t tw_time_of_item(const char *item)
{
	uint64_t time;
	memcpy(&time, item, sizeof time);
	return time;
}

/* The end of the run that begins with an item before `end`. */
TW_INLINE const char *tw_end_of_time_run(const char *item, const char *end, size_t size)
{
	do
		item += size;
	while (item < end && tw_time_of_item(item) >= tw_time_of_item(item - size));
	return item;
}

/* Merges two runs, [a, b) and [b, b_end), into one; of one time those of the first stay first. */
TW_INLINE void tw_merge_time_runs(const char *a, const char *b, const char *b_end, char *to, size_t size)
{
	const char *const a_end = b;
	for (; a < a_end && b < b_end; to += size) {
		const char *const first = tw_time_of_item(b) < tw_time_of_item(a) ? b : a;
		memcpy(to, first, size);
		a += first == a ? size : 0;
		b += first == b ? size : 0;
	}
	memcpy(to, a, (size_t)(a_end - a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b));
}

/* Merges runs two by two until there is one. spare: room for as many items. */
TW_INLINE void tw_sort_time_runs(void *items, size_t count, void *spare, size_t size)
{
	if (count == 0) /* and perhaps no memory */
		return;
	const char *const from = spare, *const end = from + count * size;
	size_t runs =
	    tw_end_of_time_run(items, (const char *)items + count * size, size) < (const char *)items + count * size;
	while (runs) {
		char *to = items;
		memcpy(spare, items, count * size);
		runs = 0;
		for (const char *a = from, *b, *b_end; a < end; to += b_end - a, a = b_end, runs++) {
			b = tw_end_of_time_run(a, end, size);
			b_end = b < end ? tw_end_of_time_run(b, end, size) : end;
			tw_merge_time_runs(a, b, b_end, to, size);
		}
		runs -= 1;
	}
}

#endif
