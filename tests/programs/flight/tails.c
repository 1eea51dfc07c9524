/* tails.c - calls that leave by calling another, and an argument. */
/* SPDX-License-Identifier: Apache-2.0 */
#define HERE __attribute__((noinline))

static volatile int sink;

HERE int third(int value)
{
	sink = value;
	return value * 3;
}

HERE int second(int value)
{
	sink = value;
	return third(value + 2);
}

HERE int first(int value)
{
	sink = value;
	return second(value + 1);
}

HERE __attribute__((xray_always_instrument, xray_log_args(1))) long argument(long value)
{
	sink = 1;
	return value + 1;
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		if (first(i) != 3 * (i + 3) || argument(0x1122334455667788 + i) != 0x1122334455667789 + i)
			return 1;
	return 0;
}
