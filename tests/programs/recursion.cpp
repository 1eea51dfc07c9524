/* recursion.cpp - a function that calls itself, two that call each other, three in a ring: one thread, one buffer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

/* A sum alone would become a loop over its second call. */
NOINLINE static unsigned long fibonacci(unsigned n)
{
	CALLED("fibonacci(unsigned int)");
	return n < 2 ? n : (fibonacci(n - 1) + fibonacci(n - 2)) ^ n;
}

NOINLINE static unsigned long is_odd(unsigned n);

/* The multiplications keep these from being tail calls. */
NOINLINE static unsigned long is_even(unsigned n)
{
	CALLED("is_even(unsigned int)");
	return n ? 3 * is_odd(n - 1) + 1 : 1;
}

NOINLINE static unsigned long is_odd(unsigned n)
{
	CALLED("is_odd(unsigned int)");
	return n ? 5 * is_even(n - 1) + 1 : 0;
}

NOINLINE static unsigned long leaf(unsigned long n)
{
	CALLED("leaf(unsigned long)");
	sink = n;
	return n * n;
}

NOINLINE static unsigned long inner(unsigned depth);

NOINLINE static unsigned long middle(unsigned depth)
{
	CALLED("middle(unsigned int)");
	return leaf(depth) + inner(depth) + leaf(depth + 1);
}

NOINLINE static unsigned long outer(unsigned depth)
{
	CALLED("outer(unsigned int)");
	return middle(depth) ^ leaf(depth);
}

NOINLINE static unsigned long inner(unsigned depth)
{
	CALLED("inner(unsigned int)");
	return depth ? outer(depth - 1) + 1 : leaf(0);
}

int main()
{
	start_recording("func_duration_threshold_us=0:buffer_size=8388608:buffer_max=4");
	sink = fibonacci(18);
	for (unsigned i = 0; i < 40; i++)
		sink = is_even(i) + is_odd(2 * i);
	for (unsigned i = 0; i < 25; i++)
		sink = outer(i);
	finish_recording();
}
