/* fuchsia.c - every macro under Fuchsia's name, as C99, C11 and C++11: trace_tests.py knows what must come. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>

#include <trackway/fuchsia.h>

static const char bytes[] = {1, 0, 2, 3, 4};
static const char *const category = "+kept";

static void values(void)
{
	TRACE_INSTANT("+types", "numbers", TRACE_SCOPE_THREAD, "i32", TA_INT32(-5), "u32", TA_UINT32(4000000000u),
	              "i64", TA_INT64(INT64_MIN), "u64", TA_UINT64(UINT64_MAX), "f64", TA_DOUBLE(-0.5));
	TRACE_INSTANT("+types", "others", TRACE_SCOPE_PROCESS, "text", TA_STRING("caf\xc3\xa9"), "pointer",
	              TA_POINTER((void *)(uintptr_t)0xabc), "koid", TA_KOID(77), "yes", TA_BOOL(true), "no",
	              TA_BOOL(false), "null", TA_NULL(), "part", TA_CHAR_ARRAY("partly", 4));
	TRACE_INSTANT("+types", "fifteen", TRACE_SCOPE_GLOBAL, "1", TA_INT32(1), "2", TA_INT32(2), "3", TA_INT32(3),
	              "4", TA_INT32(4), "5", TA_INT32(5), "6", TA_INT32(6), "7", TA_INT32(7), "8", TA_INT32(8), "9",
	              TA_INT32(9), "10", TA_INT32(10), "11", TA_INT32(11), "12", TA_INT32(12), "13", TA_INT32(13), "14",
	              TA_INT32(14), "15", TA_INT32(15));
}

#ifdef __cplusplus
#include <string>

enum plain { PLAIN = 3 };
enum class scoped : uint64_t { BIG = 1ull << 40 };

/* What has the members that a view of a string has. */
struct view {
	const char *data() const
	{
		return "viewed";
	}
	size_t size() const
	{
		return 4;
	}
};

static void deduced()
{
	const char *constant = "constant";
	char mutable_text[] = "mutable";
	std::string owned("owned");
	TRACE_DURATION("+types", "deduced", "bool", true, "int", -1, "uint8", uint8_t(200), "uint16", uint16_t(40000),
	               "ulong", 2ul, "double", 2.5, "text", constant, "literal", "Hi!", "array", mutable_text, "string",
	               owned, "view", view(), "pointer", reinterpret_cast<int *>(uintptr_t(16)), "null", nullptr,
	               "plain", PLAIN, "scoped", scoped::BIG);
}
#endif

/* Its name is another each time. */
static void named(const char *name, int depth)
{
	TRACE_DURATION("+names", name, "depth", TA_INT32(depth));
	TRACE_INSTANT(category, name, TRACE_SCOPE_THREAD);
	if (depth)
		named(depth == 2 ? "second" : "third", depth - 1);
}

#define TWO_OF_A_LINE()                                                                                                \
	TRACE_DURATION("+scopes", "outer");                                                                            \
	TRACE_DURATION("+scopes", "inner", "n", TA_INT32(1))

static void scopes(void)
{
	TWO_OF_A_LINE();
	TRACE_DURATION_BEGIN("+scopes", "pair", "a", TA_INT32(1));
	TRACE_DURATION_END("+scopes", "pair", "b", TA_INT32(2));
	TRACE_DURATION("-off", "not wanted", "n", TA_INT32(1));
	TRACE_INSTANT("-off", "not wanted", TRACE_SCOPE_THREAD);
}

static void ids(void)
{
	trace_flow_id_t flow = 11;
	TRACE_COUNTER("+ids", "counter", 9, "x", TA_INT32(1), "y", TA_DOUBLE(2.0));
	TRACE_ASYNC_BEGIN("+ids", "async", 10);
	TRACE_ASYNC_INSTANT("+ids", "async", 10, "step", TA_INT32(1));
	TRACE_ASYNC_END("+ids", "async", 10);
	TRACE_DURATION_BEGIN("+ids", "around");
	TRACE_FLOW_BEGIN("+ids", "flow", flow);
	TRACE_FLOW_STEP("+ids", "flow", flow);
	TRACE_FLOW_END("+ids", "flow", flow);
	TRACE_DURATION_END("+ids", "around");
	TRACE_INSTAFLOW_BEGIN("+ids", "instaflow", "one", 12, "n", TA_INT32(1));
	TRACE_INSTAFLOW_STEP("+ids", "instaflow", "two", 12);
	TRACE_INSTAFLOW_END("+ids", "instaflow", "three", 12);
}

/* Two virtual threads, one of which is named again by its number. */
static void virtual_threads(void)
{
	trace_vthread_id_t id = 444;
#ifdef NTRACE
	trace_ticks_t now = 0;
#else
	trace_ticks_t now = tw_trace_now();
#endif
	TRACE_VTHREAD_DURATION_BEGIN("+virtual", "on a queue", "queue", id, now, "x", TA_INT32(42));
	TRACE_VTHREAD_COUNTER("+virtual", "waiting", "queue", id, 5, now, "n", TA_INT32(2));
	TRACE_VTHREAD_FLOW_BEGIN("+virtual", "submit", "queue", id, 13, now);
	TRACE_VTHREAD_DURATION_END("+virtual", "on a queue", "queue", id, now);
	TRACE_VTHREAD_DURATION_BEGIN("+virtual", "on another", "other", id + 1, now);
	TRACE_VTHREAD_FLOW_STEP("+virtual", "submit", "other", id + 1, 13, now);
	TRACE_VTHREAD_FLOW_END("+virtual", "submit", "other", id + 1, 13, now);
	TRACE_VTHREAD_DURATION_END("+virtual", "on another", "other", id + 1, now);
	TRACE_VTHREAD_DURATION_BEGIN("-off", "not wanted", "never", 7, now);
}

static void others(void)
{
	TRACE_BLOB_EVENT("+others", "with arguments", bytes, sizeof bytes, "n", TA_INT32(1));
	TRACE_BLOB_ATTACHMENT("+others", "attached", bytes, sizeof bytes);
	TRACE_BLOB_ATTACHMENT("-off", "not wanted", bytes, sizeof bytes);
	TRACE_BLOB(TRACE_BLOB_TYPE_DATA, "blob", bytes, sizeof bytes);
	TRACE_KERNEL_OBJECT(0x77, "description", TA_STRING("some object"));
	TRACE_ALERT("+others", "alert");
}

int main(void)
{
	bool on = TRACE_ENABLED();
	if (TRACE_CATEGORY_ENABLED("-off") || on != TRACE_CATEGORY_ENABLED("+types") || TRACE_NONCE() == TRACE_NONCE())
		return 1;
	values();
#ifdef __cplusplus
	deduced();
#endif
	named("first", 2);
	scopes();
	ids();
	virtual_threads();
	others();
#ifdef NTRACE
	return on;
#else
	return !on || tw_trace_dropped() != 0;
#endif
}
