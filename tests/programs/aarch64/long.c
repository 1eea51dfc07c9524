/* long.c - a program of any length with six phases, which come again in turns: `long ROUNDS`, of some 87 million instructions each.
 *
 * They differ in what a processor is slow at: caches, branches, neither. Nothing is random but what it makes itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 96, LINES = 1 << 16, LINE = 8, WORDS = 4096, BYTES = 1 << 15, NODES = 3000 };

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static uint64_t wide[LINES][LINE]; /* 4 MiB */
static uint32_t words[WORDS];
static uint8_t bytes[BYTES];
static struct node {
	struct node *lower, *upper;
	uint32_t key;
} nodes[NODES];

static uint32_t seed = 1;

static uint32_t draw(void)
{
	return seed = seed * 1664525 + 1013904223;
}

/* Products of numbers: in the first cache. */
static __attribute__((noinline)) void multiply(void)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double sum = 0;
			for (int k = 0; k < SIDE; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum + i - j;
		}
}

/* From line to line, each of which tells the next: in no cache. */
static __attribute__((noinline)) uint64_t wander(uint64_t steps)
{
	uint64_t at = 0, sum = 0;
	for (uint64_t i = 0; i < steps; i++) {
		at = (at * 5 + 12345 + wide[at][1]) % LINES;
		sum += at ^ i;
	}
	return sum;
}

/* Line after line: the second cache is too small. */
static __attribute__((noinline)) uint64_t sweep(uint64_t times)
{
	uint64_t sum = 0;
	for (uint64_t time = 0; time < times; time++)
		for (int i = 0; i < LINES; i++)
			for (int k = 2; k < LINE; k++)
				sum += wide[i][k] += time;
	return sum;
}

/* Branches that nobody foresees. */
static __attribute__((noinline)) void sort(void)
{
	for (int i = 0; i < WORDS; i++)
		words[i] = draw() >> 8;
	for (int gap = WORDS / 2; gap; gap /= 2)
		for (int i = gap; i < WORDS; i++) {
			uint32_t one = words[i];
			int k = i;
			for (; k >= gap && words[k - gap] > one; k -= gap)
				words[k] = words[k - gap];
			words[k] = one;
		}
}

/* Arithmetic alone. */
static __attribute__((noinline)) uint32_t check(void)
{
	uint32_t sum = ~0U;
	for (int i = 0; i < BYTES; i++) {
		sum ^= bytes[i];
		for (int k = 0; k < 8; k++)
			sum = sum >> 1 ^ (0xedb88320 & -(sum & 1));
	}
	return bytes[sum % BYTES]++, sum;
}

/* A tree: both, a little. */
static __attribute__((noinline)) uint32_t find(int times)
{
	struct node *root = nodes;
	uint32_t found = 0;
	for (int i = 0; i < NODES; i++) {
		struct node **at = &root;
		nodes[i] = (struct node){NULL, NULL, draw() >> 4};
		for (at = i ? &root : at; i && *at;)
			at = nodes[i].key < (*at)->key ? &(*at)->lower : &(*at)->upper;
		if (i)
			*at = &nodes[i];
	}
	for (int i = 0; i < times; i++)
		for (struct node *at = root, *next = root; next; found++) {
			at = next;
			next = draw() >> 4 < at->key ? at->lower : at->upper;
		}
	return found;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;
	for (int i = 0; i < LINES; i++)
		wide[i][1] = draw() >> 3;
	for (int round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--) {
		for (int i = 0; i < 3; i++)
			multiply();
		sum += wander(1500000);
		sum += sweep(10);
		for (int i = 0; i < 8; i++)
			sort();
		for (int i = 0; i < 12; i++)
			sum += check();
		sum += find(60000);
	}
	printf("%llx\n", (unsigned long long)(sum + (uint64_t)product[3][5]));
	return 0;
}
