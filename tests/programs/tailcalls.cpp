/* tailcalls.cpp - functions that leave by a tail call: chains, a pair that bounces, and both within ordinary calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

extern "C" NOINLINE unsigned long tail_c(unsigned long n)
{
	CALLED("tail_c");
	sink = n;
	return n * 3;
}

extern "C" NOINLINE unsigned long tail_b(unsigned long n)
{
	CALLED("tail_b");
	[[clang::musttail]] return tail_c(n + 1);
}

extern "C" NOINLINE unsigned long tail_a(unsigned long n)
{
	CALLED("tail_a");
	[[clang::musttail]] return tail_b(n + 1);
}

extern "C" NOINLINE unsigned long pong(unsigned long n);

extern "C" NOINLINE unsigned long ping(unsigned long n)
{
	CALLED("ping");
	if (!n)
		return 1;
	[[clang::musttail]] return pong(n - 1);
}

extern "C" NOINLINE unsigned long pong(unsigned long n)
{
	CALLED("pong");
	if (!n)
		return 2;
	[[clang::musttail]] return ping(n - 1);
}

extern "C" NOINLINE unsigned long caller(unsigned long n)
{
	CALLED("caller");
	return tail_a(n) + ping(n % 7) + tail_c(n);
}

int main()
{
	start_recording("func_duration_threshold_us=0:buffer_size=32768:buffer_max=64");
	for (unsigned long i = 0; i < 600; i++)
		sink = caller(i) + tail_a(i);
	finish_recording();
}
