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

/* Returns how many elements of a sorted array stand before what is wanted, as `compare` tells of an element and that:
 * the index of the first that does not. An array of 0 elements is not touched. */
static inline size_t tw_count_before(const void *array, size_t count, size_t size, const void *wanted,
                                     int (*compare)(const void *element, const void *wanted))
{
	const char *elements = array;
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(elements + middle * size, wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A number, and where in an element it is compared with. */
struct tw_number_at {
	size_t at;
	uint64_t number;
};

static inline int tw_compare_at(const void *element, const void *wanted)
{
	const struct tw_number_at *number = (const struct tw_number_at *)wanted;
	return tw_compare_u64((const char *)element + number->at, &number->number);
}

/* How many have a number less than this. */
static inline size_t tw_count_below(const void *array, size_t count, struct tw_key key, uint64_t number)
{
	const struct tw_number_at wanted = {key.at, number};
	return tw_count_before(array, count, key.size, &wanted, tw_compare_at);
}

/* How many have numbers that are not above it. */
static inline size_t tw_count_up_to(const void *array, size_t count, struct tw_key key, uint64_t number)
{
	return number == UINT64_MAX ? count : tw_count_below(array, count, key, number + 1);
}

#endif
