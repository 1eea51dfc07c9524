/* sum.h - sums that stay at the end instead of beginning again at 0. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_SUM_H
#define BASE_MEMORY_SUM_H

#include <stdint.h>

/* A trace whose clock makes no sense has durations of centuries: a few of them are more than 64 bits hold. */
static inline uint64_t tw_sum(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
