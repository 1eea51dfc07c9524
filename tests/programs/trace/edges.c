/* edges.c - the edges of the macros, as C99, C11 and C++11: what is deduced from a bit-field, durations on one line,
 * names and texts that are NULL, and that nothing is evaluated while nothing is recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <trackway/trace.h>

#define TWICE(value)                                                                                                   \
	do {                                                                                                           \
		TW_TRACE_DURATION("lines", "around", TW_ARG("value", value));                                          \
		{                                                                                                      \
			TW_TRACE_DURATION("lines", "inside");                                                          \
		}                                                                                                      \
	} while (0)

struct fields {
	unsigned three : 3;
	int five : 5;
	unsigned whole : 32;
	bool one : 1;
};

static int evaluated;

static const char *text(void)
{
	evaluated++;
	return "text";
}

static void deduced(void)
{
	const struct fields fields = {5, -3, 4000000000u, true};
	volatile short changing = -2;
	TW_TRACE_INSTANT("types", "edges", TW_SCOPE_THREAD, TW_ARG("three", fields.three), TW_ARG("five", fields.five),
	                 TW_ARG("whole", fields.whole), TW_ARG("one", fields.one), TW_ARG("changing", changing),
	                 TW_ARG("long double", 1.5L), TW_ARG("letter", (char)'a'), TW_ARG("file", (FILE *)NULL),
	                 TW_ARG("function", text), TW_ARG("literal", "literal"));
}

static void lines(void)
{
	TW_TRACE_DURATION("lines", "first");
	TW_TRACE_DURATION("lines", "second"); /* clang-format off */
	TWICE(1); TWICE(2);
	TW_TRACE_INSTANT("lines", __func__, TW_SCOPE_THREAD);
					      /* clang-format on */
}

static void empty(void)
{
	const char *none = NULL;
	TW_TRACE_INSTANT(NULL, "no category", TW_SCOPE_THREAD, TW_ARG("none", none), TW_I32(NULL, 1));
	TW_TRACE_INSTANT("empty", NULL, TW_SCOPE_THREAD);
	TW_TRACE_LOG(none);
	TW_TRACE_BLOB(none, none, 5);
	TW_TRACE_OBJECT(&none, none);
	TW_TRACE_ALERT("empty", none);
	tw_trace_write(TW_TRACE_KIND_INSTANT, NULL, NULL, 0, NULL, 3);
	tw_trace_write_at(tw_trace_track(NULL), tw_trace_now(), 0, TW_TRACE_KIND_INSTANT, NULL, "on none", 0, NULL, 0);
	tw_trace_vthread(NULL, 3);
	tw_trace_object(NULL, NULL, NULL, 1);
	tw_trace_thread_name(NULL);
	tw_trace_log(NULL, 7);
	tw_trace_log_text(NULL);
	tw_trace_blob(NULL, NULL, 9);
	tw_trace_enabled(NULL);
}

static void evaluates(void)
{
	TW_TRACE_LOG(text());
	TW_TRACE_BLOB("blob", text(), 4);
	TW_TRACE_OBJECT(&evaluated, text(), TW_TEXT("name", text()));
	TW_TRACE_INSTANT("evaluates", "instant", TW_SCOPE_THREAD, TW_TEXT("text", text()));
	TW_TRACE_DURATION("evaluates", "duration", TW_TEXT("text", text()));
}

int main(void)
{
	deduced();
	lines();
	empty();
	evaluates();
	printf("%d\n", evaluated);
	return 0;
}
