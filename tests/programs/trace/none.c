/* none.c - a program that was made for the tracer, with TW_NTRACE: nothing is evaluated, and no library is needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#define TW_NTRACE
#include <trackway/trace.h>

#include <stdio.h>

int main(void)
{
	char name[8] = "x";
	struct tw_trace_argument list[1] = {TW_I32("a", 1)};
	int evaluated = 0;
	tw_trace_start("x", NULL);
	tw_trace_stop();
	tw_trace_file(name, sizeof name);
	tw_trace_dropped();
	tw_trace_enabled("x");
	tw_trace_write(TW_TRACE_KIND_BEGIN, "a", "b", (uint64_t)evaluated++, list, 1);
	tw_trace_log("a", 1);
	tw_trace_log_text("a");
	tw_trace_blob("a", "b", 1);
	tw_trace_object(name, "b", list, 1);
	tw_trace_thread_name("b");
	tw_trace_alert("a", "b");
	uint32_t track = tw_trace_track("t");
	track += tw_trace_vthread("t", 1);
	tw_trace_write_at(track, tw_trace_now(), tw_trace_time(1), TW_TRACE_KIND_BEGIN, "a", "b", 1, NULL, 0);
	return evaluated || *name;
}
