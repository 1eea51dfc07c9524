/* deep.cpp - recursion, and calls that exceptions and longjmp() end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <csetjmp>

#define HERE __attribute__((noinline))

static volatile int sink;
static std::jmp_buf back;

HERE static void down(int more)
{
	if (more)
		down(more - 1);
	sink = sink + 1;
}

HERE static void throws(int more)
{
	if (!more)
		throw 1;
	throws(more - 1);
	sink = sink + 1;
}

HERE static void thrower()
{
	try {
		throws(5);
	} catch (int) {
		sink = sink + 1;
	}
}

HERE static void jumps(int more)
{
	if (!more)
		std::longjmp(back, 1);
	jumps(more - 1);
	sink = sink + 1;
}

HERE static void jumper()
{
	if (!setjmp(back))
		jumps(5);
	sink = sink + 1;
}

int main()
{
	for (volatile int i = 0; i < 100; i = i + 1) {
		down(19);
		thrower();
		jumper();
	}
	return 0;
}
