/* gc.h - garbage collections, and what was on the heap after them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_GC_H
#define TRACKWAY_GC_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where it comes from:
 * - Slices of the category "gc" are collections: their time is the pause. Texts among their arguments: "reason", and
 *   "generations", those that were collected, with spaces between them.
 * - Counters of the category "heap" tell what was alive of the class that their name is: arguments "count" and "bytes".
 *   All counters of one time are one look at the heap; a class keeps its numbers until they are told anew.
 * - Counters of the category "generation" tell of the part of the heap that their name is how much was "allocated" and
 *   "reserved".
 * - Samples of allocations and of stacks, by their threads, tell what was allocated, and what ran.
 * Times are nanoseconds since the start of the trace. Texts live until the handle is freed. */

/* A collection. */
struct tw_gc_collection {
	uint64_t time_ns, pause_ns;
	bool open;       /* it is not known to end: pause_ns is 0, and it is in no pause below */
	bool threadless; /* of which thread it is, is not told: thread is 0, which may be another's number */
	uint64_t process, thread;
	const char *reason, *generations; /* "" where not told */
	const char *function; /* innermost of the last stack of its thread, since the collection before; or NULL */
	/* Of the heap: its size after, as the next counters of generations tell it; before: as the last ones do, with
	 * what was allocated since; what was allocated since the collection before began, or since the start; what
	 * lived on in an older generation, or in the oldest. Each is 0 where it is not known. */
	uint64_t before_bytes, after_bytes, allocated_bytes, promoted_bytes;
	bool before_known, after_known, allocated_known, promoted_known;
	bool background; /* the program went on meanwhile: pause_ns is how long it took, and it is in no pause below */
};

/* All collections. Where `ended` is 0, the pauses are 0. */
struct tw_gc_totals {
	uint64_t collections, ended;
	uint64_t pause_ns;                               /* of all together */
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* exact: nearest rank */
	uint64_t covered_ns;                             /* in which there was a pause: where several overlap, once */
	uint64_t span_ns; /* of the trace, from its start to the end of what is last; of a window's part of it */
	uint64_t looks;   /* at the heap */
	uint64_t background, background_ns; /* collections in the background that ended, in none of the numbers but
	                                       `collections`; in how much time there was one */
};

/* What was alive of a class, or of all where `name` is NULL. */
struct tw_gc_class {
	const char *name, *module;       /* module: NULL where not known */
	uint64_t count, bytes;           /* at the last look */
	uint64_t most_count, most_bytes; /* each at the look where it was largest */
	uint64_t from_count, from_bytes; /* at the last look not after options.from_ns; 0 where there was none */
	uint64_t to_count, to_bytes;     /* the same of options.to_ns */
};

/* A generation, or the heap of large objects. */
struct tw_gc_generation {
	const char *name;
	uint64_t allocated, reserved; /* told last */
	uint64_t most_allocated, most_reserved;
	uint64_t samples;
};

/* A look at a class, or a sample of a generation, while it is read. Borrowed for the call. */
struct tw_gc_sample {
	uint64_t time;
	bool generation;
	const char *name;
	uint64_t first, second; /* count and bytes, or allocated and reserved */
};

struct tw_gc_options {
	size_t struct_size;      /* trackway/status.h */
	uint64_t from_ns, to_ns; /* two points in time to compare the heap at */
	bool plot;               /* remember what tw_gc_plot() draws: 40 KiB for each chart */
	size_t memory_limit;     /* bytes for what is kept; 0: 256 MiB. What is beyond is left out and counted. */

	/* Called for each sample in the order of the trace; not 0 stops reading and is what tw_gc_read() returns. NULL:
	 * nobody is told. */
	int (*on_sample)(void *context, const struct tw_gc_sample *sample);
	void *context;
};

struct tw_gc;

/* Reads a whole trace, opened with TW_ORDER_TIME and not read from. *gc is set even on failure (NULL only for
 * TW_ERR_MEMORY) and has what was read; free it in any case. options: NULL for the defaults. Returns 0, the negative
 * status of the read, or what on_sample() did. */
TW_API int tw_gc_read(struct tw_gc **gc, struct tw_reader *reader, const struct tw_gc_options *options);

/* Return collection i (from 0) in the order of time, class i in order of name, generation i in order of name; NULL past
 * the last. */
TW_API const struct tw_gc_collection *tw_gc_collection(const struct tw_gc *gc, size_t i);
TW_API const struct tw_gc_class *tw_gc_class(const struct tw_gc *gc, size_t i);
TW_API const struct tw_gc_generation *tw_gc_generation(const struct tw_gc *gc, size_t i);

/* Returns all collections together. Lives until the handle is freed. */
TW_API const struct tw_gc_totals *tw_gc_totals(const struct tw_gc *gc);

/* Returns all classes together: most_count and most_bytes are those of a look. */
TW_API const struct tw_gc_class *tw_gc_heap(const struct tw_gc *gc);

/* Returns how many events were left out because the memory limit was reached. */
TW_API uint64_t tw_gc_left_out(const struct tw_gc *gc);

/* Draws the heap over time, all classes together, and each generation, one chart below the other, as tw_counters_plot()
 * draws counters. path: "-" is standard output, and a regular file appears when it is complete; title: NULL for "Heap".
 * The handle was made with `plot`. Returns 0, TW_ERR_UNSUPPORTED when it was not, TW_ERR_MEMORY or TW_ERR_SYSTEM (errno
 * tells). */
TW_API int tw_gc_plot(const struct tw_gc *gc, const char *path, const char *title);

/* Frees; NULL is fine. */
TW_API void tw_gc_free(struct tw_gc *gc);

#ifdef __cplusplus
}
#endif

#endif
