/* calls.c - a program that calls functions, for uftrace to record: calls ROUNDS. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sum;

static void leaf(unsigned long i)
{
	sum += i;
}

static void branch(unsigned long i)
{
	leaf(i);
	if (i % 3 == 0)
		leaf(i + 1);
}

static void recursive(unsigned long depth)
{
	if (depth)
		recursive(depth - 1);
	branch(depth);
}

int main(int count, char **words)
{
	unsigned long rounds = count == 2 ? strtoul(words[1], NULL, 10) : 0;

	for (unsigned long i = 0; i < rounds / 20; i++)
		recursive(i % 10);
	printf("%lu\n", sum);
	return 0;
}
