/* sleds.c - events and arguments, by clang's sleds; without optimization, for which clang 14 writes sleds that work. */
/* SPDX-License-Identifier: Apache-2.0 */
#define HERE __attribute__((noinline))

/* LLVM's runtime has it; it tells one type from another by where its description is. */
extern unsigned short __xray_register_event_type(const char *description);
static const char first[] = "request", second[] = "request";

/* Before main(), as those of C++ have it. */
static unsigned short early;
__attribute__((constructor)) static void begin(void)
{
	early = __xray_register_event_type("early");
}

HERE static void custom(const char *text, unsigned long size)
{
	__xray_customevent(text, size);
}

HERE static void typed(unsigned short type, const char *text, unsigned long size)
{
	__xray_typedevent(type, text, size);
}

HERE __attribute__((xray_always_instrument, xray_log_args(1))) static long argument(long value)
{
	return value + 1;
}

int main(void)
{
	if (early != 0 || __xray_register_event_type(first) != 1 || __xray_register_event_type(second) != 2 ||
	    __xray_register_event_type(first) != 1)
		return 2;
	for (int i = 0; i < 5; i++) {
		custom("hello", 5);
		typed(7, "abc", 3);
		typed(i % 3, "of a name", 9);
		if (argument(0x1122334455667788 + i) != 0x1122334455667789 + i)
			return 1;
	}
	return 0;
}
