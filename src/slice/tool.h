/* tool.h - an interval of an xtrace as programs, for the command line tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_TOOL_H
#define SLICE_TOOL_H

#include <trackway/reader.h>

/* A window of a long program, as `record` recorded it. */
struct slice_window {
	uint64_t number, thread;
	uint64_t from, length; /* instructions of the thread before it; and its own */
	bool has_phase;
	uint64_t phase;
	double weight;
	uint64_t warm_up;                    /* instructions before it */
	uint64_t snapshot, warm_up_snapshot; /* where it begins, and where its warm-up does */
};

/* A program that was written. */
struct slice_program {
	const struct slice_window *window; /* NULL: of no window */
	const char *path;
	uint64_t thread, snapshot;
	uint64_t before; /* instructions from the snapshot to where the interval begins */
	uint64_t instructions, accesses;
	uint64_t places; /* instructions of the program that were executed */
	uint64_t pages;  /* of its memory, without those of its stubs */
	uint64_t bytes;
	const char *stubs; /* where instructions are that the interval does not have: "0xFROM-0xTO,..." */
};

/* The order of accesses that was written. */
struct slice_order {
	const char *path;
	uint64_t after, until; /* TIMEs: later than one, up to the other */
	uint64_t accesses;
};

/* Which interval is cut out, and who is told of each file: NULL, nobody. */
struct slice_request {
	const uint64_t *threads; /* one of these; of none, the only one of the trace */
	size_t thread_count;
	uint64_t snapshot, instructions;
	bool global; /* slice_make_all(): not at `snapshot`, but at the one that the header names for all threads */
	void (*on_program)(void *context, const struct slice_program *program);
	void (*on_order)(void *context, const struct slice_order *order);
	/* A window that cannot be cut, and why; the others are. */
	void (*on_left_out)(void *context, const struct slice_window *window, const char *why);
	void *context;
};

/* Writes the interval as a program. Returns 0 or a negative status, which the reader explains. */
int slice_make(struct tw_reader *reader, const struct slice_request *request, const char *path);

/* Writes a program for each thread that accesses memory meanwhile, and the order of accesses, into a directory, which
 * is made where it is not there. Returns as above. */
int slice_make_all(struct tw_reader *reader, const struct slice_request *request, const char *directory);

/* Writes a program for each window of the list beside the trace, and windows.tsv, which has their phases and weights,
 * into a directory. Of the request it takes the threads, and who is told. Returns as above; windows that cannot be cut
 * are left out, unless all are. */
int slice_make_windows(struct tw_reader *reader, const struct slice_request *request, const char *directory);

#endif
