/* estimates.c - samples of what is allocated, and what each stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <time.h>

/* ---- Chance. ---- */

static void begin(struct profiler_chance *chance)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	chance->state = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + (uintptr_t)chance;
	chance->state |= 1;
}

/* From 0 up to 1. Source: S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled". */
static double uniform(struct profiler_chance *chance)
{
	uint64_t x = chance->state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	chance->state = x;
	return (double)(x * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

/* How far the next of points is that lie 1 apart on average, independent of each other. Source: J. von Neumann,
 * "Various techniques used in connection with random digits" (1951): it needs no logarithm. */
static double distance(struct profiler_chance *chance)
{
	unsigned whole = 0;
	while (true) {
		const double first = uniform(chance);
		bool odd = true; /* the length of a run of numbers, each less than the one before */
		double last = first, next = uniform(chance);
		while (next < last) {
			odd = !odd;
			last = next;
			next = uniform(chance);
		}
		if (odd)
			return whole + first;
		whole++;
	}
}

/* How likely such a point lies in the next x: 1 - exp(-x). That of two halves comes of that of one. */
static double likelihood(double x)
{
	enum { CERTAIN = 64 };
	if (x > CERTAIN)
		return 1;
	unsigned doublings = 0;
	for (; x > 0x1p-6; doublings++)
		x /= 2;
	double share = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
	while (doublings--)
		share *= 2 - share;
	return share;
}

static uint64_t round_by_chance(struct profiler_chance *chance, double value)
{
	const uint64_t whole = (uint64_t)value;
	return whole + (uniform(chance) < value - (double)whole);
}

/* ---- Samples. ---- */

static uint64_t draw(struct profiler_chance *chance, uint64_t every)
{
	return (uint64_t)(distance(chance) * (double)every);
}

bool profiler_is_sample(struct profiler_chance *chance, uint64_t size, uint64_t every, struct profiler_amount *amount)
{
	if (!chance->state) {
		begin(chance);
		chance->left = draw(chance, every);
	}
	if (chance->left >= size) {
		chance->left -= size;
		return false;
	}
	chance->left = draw(chance, every);
	amount->count = round_by_chance(chance, 1 / likelihood((double)size / (double)every));
	amount->bytes = amount->count * size;
	return true;
}

uint64_t profiler_objects_in(struct profiler_chance *chance, uint64_t bytes, uint64_t size)
{
	if (!chance->state)
		begin(chance);
	const uint64_t count = size ? round_by_chance(chance, (double)bytes / (double)size) : 1;
	return count ? count : 1;
}
