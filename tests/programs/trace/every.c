/* every.c - every macro and every type of argument once, as C99, C11 and C++11: trace_tests.py knows what must come. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <trackway/trace.h>

static const char bytes[] = {1, 0, 2, 3, 4};
static char large[70000];

static void numbers(void)
{
	TW_TRACE_INSTANT("types", "numbers", TW_SCOPE_THREAD, TW_I32("i32", -5), TW_U32("u32", 4000000000u),
	                 TW_I64("i64", INT64_MIN), TW_U64("u64", UINT64_MAX), TW_F64("f64", -0.5));
	TW_TRACE_INSTANT("types", "others", TW_SCOPE_PROCESS, TW_TEXT("text", "caf\xc3\xa9"),
	                 TW_POINTER("pointer", (void *)(uintptr_t)0xabc), TW_KOID("koid", 77), TW_BOOL("yes", 3),
	                 TW_BOOL("no", 0), TW_NULL("null"), TW_BYTES("bytes", bytes, sizeof bytes),
	                 TW_TEXT("empty", ""), TW_TEXT("none", NULL));
}

static void deduced(void)
{
	static char text[] = "mutable";
	const char *constant = "constant";
	TW_TRACE_INSTANT("types", "deduced", TW_SCOPE_GLOBAL, TW_ARG("bool", (bool)true), TW_ARG("int", -1),
	                 TW_ARG("unsigned", 1u), TW_ARG("long", -2l), TW_ARG("ulong", 2ul), TW_ARG("llong", -3ll),
	                 TW_ARG("ullong", 3ull), TW_ARG("float", 1.5f), TW_ARG("double", 2.5), TW_ARG("text", constant),
	                 TW_ARG("array", text), TW_ARG("short", (short)-7), TW_ARG("uchar", (unsigned char)200),
	                 TW_ARG("pointer", (const int *)(uintptr_t)0x10));
}

static int scopes(int value)
{
	TW_TRACE_DURATION("scopes", "outer");
	{
		TW_TRACE_DURATION("scopes", "inner", TW_I32("value", value), TW_TEXT("when", "begin"));
		if (value > 1)
			return value;
	}
	TW_TRACE_BEGIN("scopes", "pair", TW_I32("a", 1));
	TW_TRACE_END("scopes", "pair", TW_I32("b", 2));
	return 0;
}

static void ids(void)
{
	TW_TRACE_COUNTER("ids", "counter", 9, TW_I32("x", 1), TW_F64("y", 2));
	TW_TRACE_ASYNC_BEGIN("ids", "async", 10);
	TW_TRACE_ASYNC_INSTANT("ids", "async", 10, TW_I32("step", 1));
	TW_TRACE_ASYNC_END("ids", "async", 10);
	TW_TRACE_BEGIN("ids", "around");
	TW_TRACE_FLOW_BEGIN("ids", "flow", 11);
	TW_TRACE_FLOW_STEP("ids", "flow", 11);
	TW_TRACE_FLOW_END("ids", "flow", 11);
	TW_TRACE_END("ids", "around");
}

static void others(void)
{
	for (size_t i = 0; i < sizeof large; i++)
		large[i] = (char)('a' + i % 26);
	TW_TRACE_LOG("a line");
	TW_TRACE_BLOB("small", bytes, sizeof bytes);
	TW_TRACE_BLOB("large", large, sizeof large);
	TW_TRACE_OBJECT((void *)(uintptr_t)0x1234, "object", TW_I32("size", 3));
	TW_TRACE_ALERT("others", "alert");
	TW_TRACE_INSTANT("others", "fifteen", TW_SCOPE_THREAD, TW_NULL("1"), TW_NULL("2"), TW_NULL("3"), TW_NULL("4"),
	                 TW_NULL("5"), TW_NULL("6"), TW_NULL("7"), TW_NULL("8"), TW_NULL("9"), TW_NULL("10"),
	                 TW_NULL("11"), TW_NULL("12"), TW_NULL("13"), TW_NULL("14"), TW_NULL("15"));
	TW_TRACE_INSTANT("others", "cut", TW_SCOPE_THREAD, TW_BYTES("whole", large, 20000),
	                 TW_BYTES("cut", large, 20000), TW_I32("gone", 1));
}

static void functions(void)
{
	char name[16];
	const struct tw_trace_argument list[] = {TW_I32("n", 4)};
	snprintf(name, sizeof name, "name%d", 5);
	tw_trace_write(TW_TRACE_KIND_INSTANT, "functions", name, TW_SCOPE_THREAD, list, 1);
	uint32_t fiber = tw_trace_track("fiber");
	uint64_t now = tw_trace_now();
	tw_trace_write_at(fiber, now, now + 10, TW_TRACE_KIND_COMPLETE, "functions", "on fiber", 0, list, 1);
	tw_trace_write_at(0, now, 0, TW_TRACE_KIND_INSTANT, "functions", "own", TW_SCOPE_THREAD, NULL, 0);
}

int main(void)
{
	tw_trace_thread_name("first thread");
	if (!TW_TRACE_ENABLED("types") || TW_TRACE_ENABLED("off"))
		return 1;
	TW_TRACE_INSTANT("off", "not wanted", TW_SCOPE_THREAD);
	numbers();
	deduced();
	scopes(1);
	scopes(2);
	ids();
	others();
	functions();
	return tw_trace_dropped() != 0;
}
