/* sched.h - which thread ran when: running times, wake-up latencies, and how busy each CPU was. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_SCHED_H
#define TRACKWAY_SCHED_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How scheduling is counted:
 * - Between two switches of one CPU the thread ran that came with the first and left with the second. Where those are
 *   not the same, switches are missing, and the time counts as unknown. Nothing is known of a CPU before its first
 *   switch and after its last.
 * - Idle is a thread without a number, or one that the switch says is idle: with a weight of INT32_MIN (arguments
 *   incoming_weight, outgoing_weight), or, where there are priorities (incoming_priority, outgoing_priority), of
 *   process 0 with priority 0. It is no thread's time.
 * - A wake-up's latency is the time until the thread comes to a CPU next; of several wake-ups before that, of the
 *   first.
 * - A thread is runnable from a wake-up, or from leaving in state 0 (new: what Fuchsia's kernel writes of a
 *   thread that is ready) or 1 (running), until it comes to a CPU.
 * - In a window are the switches and wake-ups at times in it, and of running, idle, unknown and runnable times what is
 *   inside. A latency is that of a thread that comes in the window, whenever it was woken.
 * - Percentiles come from a histogram with buckets of at most 1/64 of their value, read at the middle: at most 1 %
 *   off. */

/* How many states are told apart: 0 to 14, and all beyond as 15. */
enum { TW_SCHED_STATES = 16 };

/* The states in which a thread leaves its CPU. */
enum tw_sched_state {
	TW_SCHED_NEW,
	TW_SCHED_RUNNING,
	TW_SCHED_SUSPENDED,
	TW_SCHED_BLOCKED,
	TW_SCHED_DYING,
	TW_SCHED_DEAD
};

/* Returns "new", "running", ..., or NULL for a number without a name. */
TW_API const char *tw_sched_state_name(unsigned state);

/* One thread that ran, left, or was woken. Texts live until the handle is freed. */
struct tw_sched_thread {
	uint64_t process, thread;
	const char *process_name, *name; /* NULL where there is none */
	uint64_t running_ns, runnable_ns;
	uint64_t switches; /* how often it came to a CPU */
	uint64_t wakeups;
	uint64_t latencies; /* wake-ups that a switch to the thread followed; where 0, the next five are 0 */
	uint64_t latency_min_ns, latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_max_ns;
	uint64_t left[TW_SCHED_STATES]; /* how often it left, by state */
};

struct tw_sched_cpu {
	unsigned cpu;
	uint64_t busy_ns, idle_ns, unknown_ns;
	uint64_t switches;
};

struct tw_sched_notes {
	uint64_t wrong_thread;   /* switches away from a thread that had not come: times before them are unknown */
	uint64_t time_backwards; /* switches before the one before them on their CPU: taken as 0 ns */
	uint64_t left_out;       /* switches and wake-ups not counted because the memory limit was reached */
};

struct tw_sched_options {
	size_t struct_size;  /* trackway/status.h */
	bool plot;           /* remember what tw_sched_plot() draws: 24 KiB for each CPU */
	size_t memory_limit; /* bytes for threads and CPUs; 0: 256 MiB */
	/* What is counted, in nanoseconds since the start of the trace: of what goes on at its edges the part inside.
	 * to_ns 0: to the end. */
	uint64_t from_ns, to_ns;
};

struct tw_sched;

/* Reads a whole trace, opened with TW_ORDER_TIME for all threads and times and not read from: what ran when a window
 * begins is told by the switches before it. *sched is set even on failure (NULL only for TW_ERR_MEMORY) and has what
 * was read; free it in any case. options: NULL for the defaults. Returns 0 or the negative status of the read. */
TW_API int tw_sched_read(struct tw_sched **sched, struct tw_reader *reader, const struct tw_sched_options *options);

/* Returns thread i (from 0) in order of process and thread, CPU i in order of number; NULL past the last. */
TW_API const struct tw_sched_thread *tw_sched_thread(const struct tw_sched *sched, size_t i);
TW_API const struct tw_sched_cpu *tw_sched_cpu(const struct tw_sched *sched, size_t i);

/* Returns how long the window is that was counted: from options->from_ns to to_ns, or where they are 0 from the first
 * switch or wake-up, and to the last. */
TW_API uint64_t tw_sched_window_ns(const struct tw_sched *sched);

/* Returns what was odd or left out. Lives until the handle is freed. */
TW_API const struct tw_sched_notes *tw_sched_notes(const struct tw_sched *sched);

/* Draws a row for each CPU, with bars in the colours of the threads that ran, into one SVG that needs no other file: at
 * most 1,024 bars a row; where several threads share one, it has the colour of the one with most of it, and is as high
 * as the CPU was busy. path: "-" is standard output, and a regular file appears when it is complete; title: NULL for
 * "Scheduling". The handle was made with `plot`. Returns 0, TW_ERR_UNSUPPORTED when it was not, TW_ERR_MEMORY or
 * TW_ERR_SYSTEM (errno tells). */
TW_API int tw_sched_plot(const struct tw_sched *sched, const char *path, const char *title);

/* Frees; NULL is fine. */
TW_API void tw_sched_free(struct tw_sched *sched);

#ifdef __cplusplus
}
#endif

#endif
