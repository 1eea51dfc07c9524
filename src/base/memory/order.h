/* order.h - numbers in order: which of two goes first, and where one is in an array. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_ORDER_H
#define BASE_MEMORY_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Below 0, 0 or above, as qsort() wants it. */
static inline int tw_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The same of two elements of an array of them. */
static inline int tw_compare_u64(const void *left, const void *right)
{
	return tw_compare(*(const uint64_t *)left, *(const uint64_t *)right);
}

/* Where in an element its number is. */
struct tw_key {
	size_t size, at;
};

/* The key of a field of a struct; it compiles for a uint64_t only. */
#define TW_KEY(type, field)                                                                                            \
	((struct tw_key){sizeof(type), _Generic(((type *)NULL)->field, uint64_t : offsetof(type, field))})

/* Returns how many elements of a sorted array have a number less than this: the index of the first that has not. An
 * array of 0 elements is not touched. */
static inline size_t tw_count_below(const void *array, size_t count, struct tw_key key, uint64_t number)
{
	const char *numbers = array;
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *found = numbers + middle * key.size + key.at;
		if (*(const uint64_t *)found < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many have numbers that are not above it. */
static inline size_t tw_count_up_to(const void *array, size_t count, struct tw_key key, uint64_t number)
{
	return number == UINT64_MAX ? count : tw_count_below(array, count, key, number + 1);
}

#endif
