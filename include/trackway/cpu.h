/* cpu.h - how much processor time a process and its threads used, over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_CPU_H
#define TRACKWAY_CPU_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All comes from counters of the category "cpu": the process's own is called "process CPU", all others are of the
 * thread whose track they are on. Argument "us": microseconds of processor time since the sample before; argument
 * "percent", where it is there: the same of the time since then, of one processor. */

/* A process, or a thread. Texts live until the handle is freed. Times are since the start of the trace. */
struct tw_cpu_row {
	const char *process_name, *name; /* NULL where there is none */
	uint64_t process, thread;
	bool whole; /* of the process: thread is 0 */
	uint64_t samples;
	uint64_t total_ns; /* processor time; what is negative is taken off, and less than 0 is 0 */
	uint64_t first_ns, last_ns;
	uint64_t timed; /* samples with a percentage; where 0, the next two are 0 */
	/* The mean is by time: of the intervals that have a percentage. Less than 0 is 0 here, too. */
	double mean_percent, max_percent;
};

/* One sample, while it is read. Borrowed for the call. */
struct tw_cpu_sample {
	uint64_t time;
	uint64_t process, thread;
	bool whole;
	int64_t cpu_ns;
	bool timed;
	double percent;
};

struct tw_cpu_options {
	size_t struct_size;  /* trackway/status.h */
	bool plot;           /* remember what tw_cpu_plot() draws: 40 KiB for each row */
	size_t memory_limit; /* bytes for rows; 0: 256 MiB. Samples of rows beyond are left out and counted. */

	/* Called for each sample in the order of the trace; not 0 stops reading and is what tw_cpu_read() returns.
	 * NULL: nobody is told. */
	int (*on_sample)(void *context, const struct tw_cpu_sample *sample);
	void *context;
};

struct tw_cpu;

/* Reads a whole trace, opened with TW_ORDER_TIME and not read from. *cpu is set even on failure (NULL only for
 * TW_ERR_MEMORY) and has what was read; free it in any case. options: NULL for the defaults. Returns 0, the negative
 * status of the read, or what on_sample() did. */
TW_API int tw_cpu_read(struct tw_cpu **cpu, struct tw_reader *reader, const struct tw_cpu_options *options);

/* Returns row i (from 0) in order of process, the process before its threads, and thread; NULL past the last. */
TW_API const struct tw_cpu_row *tw_cpu_row(const struct tw_cpu *cpu, size_t i);

/* Returns how many samples were left out because the memory limit was reached. */
TW_API uint64_t tw_cpu_left_out(const struct tw_cpu *cpu);

/* Draws the percentages of each row over time, one chart below the other, as tw_counters_plot() draws counters. path:
 * "-" is standard output, and a regular file appears when it is complete; title: NULL for "CPU". The handle was made
 * with `plot`. Returns 0, TW_ERR_UNSUPPORTED when it was not, TW_ERR_MEMORY or TW_ERR_SYSTEM (errno tells). */
TW_API int tw_cpu_plot(const struct tw_cpu *cpu, const char *path, const char *title);

/* Frees; NULL is fine. */
TW_API void tw_cpu_free(struct tw_cpu *cpu);

#ifdef __cplusplus
}
#endif

#endif
