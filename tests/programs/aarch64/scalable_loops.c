/* scalable_loops.c - loops that a compiler makes SVE of: copies, gathers and scatters, structures, conditions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, TRIPLES = 333 };

static double from[COUNT], to[COUNT];
static int order[COUNT];
static int16_t triples[3 * TRIPLES];
static char text[5000], copy[5000];

static long gather_and_scatter(void)
{
	double sum = 0;
	for (int i = 0; i < COUNT; i++) {
		from[i] = i;
		order[i] = i * 77 % COUNT; /* each once: 77 and 1000 have no common factor */
	}
	for (int i = 0; i < COUNT; i++)
		to[i] = from[order[i]];
	for (int i = 0; i < COUNT; i++)
		from[order[i]] = to[i] * 2;
	for (int i = 0; i < COUNT; i++)
		sum += from[i];
	return (long)sum; /* twice 0 + ... + 999 */
}

static long copies(void)
{
	long sum = 0;
	for (int i = 0; i < 5000; i++)
		text[i] = (char)(i % 10 == 0);
	for (int n = 1; n < 100; n++) { /* of 10 * n bytes, n are 1 */
		memcpy(copy + n, text, 10ul * (size_t)n);
		sum += n % 2 ? 10 * copy[n] : 0;
	}
	for (int i = 0; i < 990; i++) /* the last copy */
		sum += copy[99 + i] > 0 ? 25 : 0;
	return sum;
}

static long structures(void)
{
	long sum = 0;
	for (int i = 0; i < TRIPLES; i++) {
		triples[3 * i] = 1;
		triples[3 * i + 1] = 3;
		triples[3 * i + 2] = 5;
	}
	for (int i = 0; i < TRIPLES; i++)
		sum += triples[3 * i] + triples[3 * i + 1] + triples[3 * i + 2];
	return sum; /* 333 * 9 */
}

int main(void)
{
	long first = gather_and_scatter(), second = copies();
	printf("%ld %ld %ld\n", first, second, structures());
	return 0;
}
