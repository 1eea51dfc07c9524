/* tool.h - pictures, files and comparisons of instructions for the command line tool. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_TOOL_H
#define STUDY_TOOL_H

#include "base/bytes/output.h"

#include <trackway/study.h>

#include <limits.h>

struct tw_spread;

/* ---- Pictures, into an output that is open. ---- */

/* Draws what memory was touched over time: of each thread the lines of each interval, and of all intervals so far.
 * Returns 0. */
int study_render_footprint(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws the misses of each interval of each thread, in the first cache and in the last. Returns 0. */
int study_render_misses(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws which phase each interval of each thread is in. Returns 0. */
int study_render_phases(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws which task each core executed, and how much of that was the kernel. Returns 0. */
int study_render_tasks(struct tw_output *out, const struct tw_study *study, const char *title);

/* Draws the tree of calls as a flame graph. Returns 0 or TW_ERR_MEMORY. */
int study_render_calls(struct tw_output *out, const struct tw_study *study, const char *title);

/* ---- What SimPoint reads. ---- */

/* Writes a line an interval: "T", then ":block:instructions " for each block executed in it. Blocks count from 1. */
void study_write_vectors(struct tw_output *out, const struct tw_study *study);

/* Writes a line a phase: the interval, from 0, or the weight, and the number of the phase. */
void study_write_simpoints(struct tw_output *out, const struct tw_study *study);
void study_write_weights(struct tw_output *out, const struct tw_study *study);

/* Writes a line a phase, as `record --windows` reads it: "FROM LENGTH PHASE WEIGHT THREAD"; threads count from 0. */
void study_write_windows(struct tw_output *out, const struct tw_study *study);

enum { STUDY_FAULT_ROOM = PATH_MAX + 128 };

/* Files of vectors: of a thread each, in their order. */
struct study_vectors {
	const char *const *paths;
	size_t count;
	const uint64_t *threads; /* only these; of none: all */
	size_t thread_count;
	char *fault; /* of STUDY_FAULT_ROOM: what is wrong, in words */
};

/* Makes a study of phases from such files. PREFIX.blocks beside PREFIX.bb tells where the blocks are, without it they
 * are known by their numbers. The length of intervals is that of the files. *study is as tw_study_read() makes it. */
int study_read_vectors(struct tw_study **study, const struct study_vectors *wanted,
                       const struct tw_study_options *options);

/* ---- What two traces are compared by. ---- */

/* Counts the instructions of an xtrace into a spread: a row for each class, and one for each operation (category: its
 * class). A reader not read from. Returns 0, TW_ERR_UNSUPPORTED for other formats, or another negative status. */
int study_mix_read(struct tw_spread *spread, struct tw_reader *reader);

#endif
