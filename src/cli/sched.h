/* sched.h - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SCHED_H
#define CLI_SCHED_H

#include "cli/screen.h"

#include <trackway/sched.h>

/* Numbers of a thread: member, name in JSON, title of the column, word for --sort (NULL: cannot be sorted by), how it
 * is shown. Those from latency_min_ns on are of wake-ups that a switch followed. */
#define TW_SCHED_THREAD_NUMBERS(X)                                                                                     \
	X(running_ns, "running_ns", "RUNNING", "running", tw_show_duration)                                            \
	X(runnable_ns, "runnable_ns", "RUNNABLE", "runnable", tw_show_duration)                                        \
	X(switches, "switches", "SWITCHES", "switches", tw_show_count)                                                 \
	X(wakeups, "wakeups", "WAKE-UPS", "wakeups", tw_show_count)                                                    \
	X(latencies, "latencies", NULL, NULL, tw_show_count)                                                           \
	X(latency_min_ns, "latency_min_ns", NULL, NULL, tw_show_duration)                                              \
	X(latency_p50_ns, "latency_p50_ns", "P50", NULL, tw_show_duration)                                             \
	X(latency_p90_ns, "latency_p90_ns", "P90", NULL, tw_show_duration)                                             \
	X(latency_p99_ns, "latency_p99_ns", "P99", "p99", tw_show_duration)                                            \
	X(latency_max_ns, "latency_max_ns", "MAX", "max", tw_show_duration)

/* The same of a CPU. */
#define TW_SCHED_CPU_NUMBERS(X)                                                                                        \
	X(busy_ns, "busy_ns", "BUSY", "busy", tw_show_duration)                                                        \
	X(idle_ns, "idle_ns", "IDLE", NULL, tw_show_duration)                                                          \
	X(unknown_ns, "unknown_ns", "UNKNOWN", NULL, tw_show_duration)                                                 \
	X(switches, "switches", "SWITCHES", "switches", tw_show_count)

/* What is shown: in this order, the first `shown` of them. */
struct tw_sched_rows {
	const void **items; /* struct tw_sched_thread or struct tw_sched_cpu */
	size_t count, room, shown;
	bool by_cpu;
};

/* The text returns 0 or TW_EXIT_FAILED. */
int tw_sched_put_text(struct tw_screen *screen, const struct tw_sched_rows *rows, const struct tw_sched_notes *notes);
void tw_sched_put_json(struct tw_output *out, const struct tw_sched_rows *rows);

#endif
