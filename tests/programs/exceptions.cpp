/* exceptions.cpp - calls that end without an exit record: thrown through, rethrown, and left by longjmp. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <csetjmp>

struct guard {
	NOINLINE guard()
	{
		CALLED("guard::guard()");
	}
	NOINLINE ~guard()
	{
		CALLED("guard::~guard()");
	}
};

NOINLINE static unsigned thrower(unsigned depth)
{
	CALLED("thrower(unsigned int)");
	if (!depth)
		throw 7;
	return thrower(depth - 1) + 1;
}

NOINLINE static unsigned with_cleanup(unsigned depth)
{
	CALLED("with_cleanup(unsigned int)");
	guard g;
	return thrower(depth) + 1;
}

NOINLINE static unsigned rethrower(unsigned depth)
{
	CALLED("rethrower(unsigned int)");
	try {
		return with_cleanup(depth);
	} catch (int) {
		throw 2.0;
	}
}

NOINLINE static unsigned catcher(unsigned depth)
{
	CALLED("catcher(unsigned int)");
	try {
		return rethrower(depth);
	} catch (double) {
		return depth;
	}
}

static jmp_buf back;

NOINLINE static unsigned jumper(unsigned depth)
{
	CALLED("jumper(unsigned int)");
	if (!depth)
		longjmp(back, 1);
	return jumper(depth - 1) + 1;
}

NOINLINE static unsigned landing(unsigned depth)
{
	CALLED("landing(unsigned int)");
	if (setjmp(back))
		return 1;
	return jumper(depth) + 1;
}

NOINLINE static unsigned plain(unsigned n)
{
	CALLED("plain(unsigned int)");
	sink = n;
	return n + 1;
}

int main()
{
	start_recording("func_duration_threshold_us=0:buffer_size=65536:buffer_max=32");
	for (unsigned i = 0; i < 200; i++) {
		sink = catcher(i % 9);
		sink = plain(i);
		sink = landing(i % 5);
	}
	/* Caught where nothing is instrumented: these calls are never seen to end. */
	try {
		sink = with_cleanup(3);
	} catch (int) {
	}
	finish_recording();
}
