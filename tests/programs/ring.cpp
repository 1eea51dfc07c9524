/* ring.cpp - far more calls than the buffers hold: the oldest are overwritten, and frames lose their entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

NOINLINE static unsigned long leaf(unsigned long n)
{
	CALLED("leaf(unsigned long)");
	sink = n;
	return n + 1;
}

NOINLINE static unsigned long branch(unsigned depth)
{
	CALLED("branch(unsigned int)");
	return depth ? (branch(depth - 1) + leaf(depth) + branch(depth - 1)) ^ depth : leaf(0);
}

NOINLINE static unsigned long root(unsigned depth)
{
	CALLED("root(unsigned int)");
	return branch(depth) + leaf(1);
}

int main()
{
	start_recording("func_duration_threshold_us=0:buffer_size=4096:buffer_max=10");
	for (unsigned i = 0; i < 4; i++)
		sink = root(10);
	finish_recording();
}
