/* arguments.cpp - functions whose first argument is in the log, with values at the ends of their range; a method's is this. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#define LOGGED [[clang::xray_always_instrument, clang::xray_log_args(1)]]

LOGGED NOINLINE static unsigned long take_unsigned(unsigned long n)
{
	CALLED("take_unsigned(unsigned long)");
	sink = n;
	return n + 1;
}

LOGGED NOINLINE static long take_signed(long n)
{
	CALLED("take_signed(long)");
	sink = static_cast<unsigned long>(n);
	return n / 2;
}

struct account {
	long balance = 0;

	LOGGED NOINLINE void deposit(long amount)
	{
		CALLED("account::deposit(long)");
		balance += take_signed(amount);
	}
	NOINLINE void move(account &to, long amount)
	{
		CALLED("account::move(account&, long)");
		deposit(-amount);
		to.deposit(amount);
	}
};

extern "C" LOGGED NOINLINE unsigned long recurse(unsigned long n)
{
	CALLED("recurse");
	return n ? recurse(n - 1) * 3 + 1 : take_unsigned(0);
}

int main()
{
	static const unsigned long values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1ul << 63, ~0ul};
	account from, to;

	start_recording("func_duration_threshold_us=0:buffer_size=1048576:buffer_max=4");
	for (unsigned round = 0; round < 300; round++)
		for (unsigned long value : values)
			sink = take_unsigned(value + round);
	for (long amount = -200; amount < 200; amount++)
		from.move(to, amount);
	sink = recurse(60);
	finish_recording();
}
