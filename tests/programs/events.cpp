/* events.cpp - custom events between and inside calls, of one byte up to some kilobytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <cstring>

NOINLINE static unsigned long between(unsigned long n)
{
	CALLED("between(unsigned long)");
	sink = n;
	return n + 1;
}

/* The runtime's event handler needs an aligned stack, which the code that calls it does not promise: the array of 16-byte
 * alignment makes the compiler align the frame. */
NOINLINE static unsigned long tell(const char *text, unsigned long size)
{
	CALLED("tell(char const*, unsigned long)");
	alignas(64) char copy[4096];
	std::memcpy(copy, text, size);
	unsigned long before = between(size);
	__xray_customevent(copy, size);
	return before + between(static_cast<unsigned char>(copy[size - 1]));
}

int main()
{
	static char payload[4096];
	for (unsigned i = 0; i < sizeof(payload); i++)
		payload[i] = static_cast<char>(i * 7);

	start_recording("func_duration_threshold_us=0:buffer_size=65536:buffer_max=64");
	for (unsigned i = 0; i < 100; i++) {
		sink = tell("request \"42\"\n", 13);
		sink = tell(payload, 1 + i * 40);
		sink = between(i);
	}
	finish_recording();
}
