/* counters.h - the series of numbers that counters of a trace make. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_COUNTERS_H
#define TRACKWAY_COUNTERS_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A series is what one argument of one counter of a process tells: samples with the same process, category, name,
 * counter id and argument name. Samples are arguments of the types TW_ARG_INT, TW_ARG_UINT and TW_ARG_DOUBLE; what is
 * none of these, and doubles that are infinite or no number, is counted, and is in nothing else. */

/* A sample, as exact as in the trace. */
struct tw_counter_value {
	enum tw_argument_type type; /* TW_ARG_INT, TW_ARG_UINT or TW_ARG_DOUBLE */
	union {
		int64_t i;
		uint64_t u;
		double d;
	} value;
};

/* One series. Texts live until the counters are freed. Times are nanoseconds since the start of the trace. */
struct tw_counter_row {
	const char *category, *name, *series; /* of the argument; any of them may be "" */
	const char *process_name;             /* NULL where there is none */
	uint64_t process, id;
	size_t trace;         /* which call of tw_counters_add() it came with, from 0 */
	uint64_t count;       /* samples */
	uint64_t not_numbers; /* what was no sample; where count is 0, what follows is 0 */
	uint64_t first_ns, last_ns;
	struct tw_counter_value first, last, min, max; /* of equal ones the earlier */
	double mean;
};

/* One sample, while it is read. Borrowed for the call. */
struct tw_counter_sample {
	uint64_t time; /* nanoseconds since the start of the trace */
	uint64_t process, thread, id;
	const char *category, *name, *series;
	struct tw_counter_value value;
};

struct tw_counters_options {
	size_t struct_size;  /* trackway/status.h */
	const char *counter; /* only counters whose name matches this glob, as fnmatch(3) does; NULL: all */
	bool plot;           /* remember what tw_counters_plot() draws: 40 KiB for each series */
	size_t memory_limit; /* bytes for series; 0: 256 MiB. Samples of series beyond are left out and counted. */

	/* Called for each sample in the order of the trace; not 0 stops reading and is what tw_counters_add() returns.
	 * NULL: nobody is told. */
	int (*on_sample)(void *context, const struct tw_counter_sample *sample);
	void *context;
};

struct tw_counters;

/* Creates an empty set. Returns 0 or TW_ERR_MEMORY; then *counters is NULL. options: NULL for the defaults; what its
 * pointers point to must live until the set is freed. */
TW_API int tw_counters_new(struct tw_counters **counters, const struct tw_counters_options *options);

/* Reads a whole trace, opened with TW_ORDER_TIME and not read from. Series of different traces stay apart. Returns 0 or
 * the negative status of the read; what was read before that is in the set. */
TW_API int tw_counters_add(struct tw_counters *counters, struct tw_reader *reader);

/* Returns row i (from 0) in order of trace, process, category, name, id and series; NULL past the last. */
TW_API const struct tw_counter_row *tw_counters_row(const struct tw_counters *counters, size_t i);

/* Returns how many samples were left out because the memory limit was reached. */
TW_API uint64_t tw_counters_left_out(const struct tw_counters *counters);

/* Draws every series as a chart of its own, one below the other, into one SVG that needs no other file: at most 1,024
 * columns a chart, each with the first, least, greatest and last of its samples. path: "-" is standard output, and a
 * regular file appears when it is complete; title: NULL for "Counters". The set was made with `plot`. Returns 0,
 * TW_ERR_UNSUPPORTED when it was not, TW_ERR_MEMORY or TW_ERR_SYSTEM (errno tells). */
TW_API int tw_counters_plot(const struct tw_counters *counters, const char *path, const char *title);

/* Frees; NULL is fine. */
TW_API void tw_counters_free(struct tw_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
