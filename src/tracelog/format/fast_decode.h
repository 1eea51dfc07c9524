/* fast_decode.h - the numbers of the commonest lines of a log: samples, allocations, CPU usages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_FORMAT_FAST_DECODE_H
#define TRACELOG_FORMAT_FAST_DECODE_H

#include <trackway/tracelog.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of a stack. */
struct tracelog_frame {
	uint32_t iid;
	uint64_t ip; /* 0: not known */
};

/* The objects of a class that were allocated. */
struct tracelog_allocation {
	uint32_t iid;
	uint64_t count, bytes;
	uint64_t ip; /* 0: not known */
};

enum tracelog_line_kind {
	TRACELOG_OTHER_LINE, /* any line that is not written exactly as one of the others: it must be decoded */
	TRACELOG_SAMPLE,
	TRACELOG_ALLOCATION,
	TRACELOG_THREAD_CPU,
	TRACELOG_PROCESS_CPU,
	TRACELOG_LINE_KINDS
};

/* A line that was decoded fast. Its kind tells which of the members hold something. */
struct tracelog_fast_line {
	/* The line's place in its block, and its bytes, no more than the memory limit allows a line. */
	uint32_t at, size;
	enum tracelog_line_kind kind;
	bool has_ip;
	bool ip_known;    /* an instruction pointer stands in the line that is not "?" */
	uint8_t ip_style; /* how the first of them is written: enum tw_tracelog_style */
	uint32_t thread, ms;
	uint32_t match, depth;
	uint32_t first, count; /* frames or allocations */
	uint64_t number;       /* ticks, microseconds */
	uint64_t ip;
};

/* The lists at the ends of lines. */
struct tracelog_fast_lists {
	struct tracelog_frame *frames;
	size_t frame_count, frame_room;
	struct tracelog_allocation *allocations;
	size_t allocation_count, allocation_room;
	bool failed; /* no memory */
};

/* Decodes a line that is written exactly as the profiler writes it: adds to the lists, and fills the entry but for its
 * place. Returns the place behind the line, or NULL for any other line. There must be a line end somewhere, and
 * TRACELOG_SLACK bytes behind it that may be read. */
const uint8_t *tracelog_fast_decode(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry,
                                    const uint8_t *line);

/* The same without lists: kind, thread, time, the ticks of a sample, and the style of the instruction pointers. */
const uint8_t *tracelog_fast_decode_head(struct tracelog_fast_line *entry, const uint8_t *line);

/* The kind of record that a line is. */
enum tw_tracelog_kind tracelog_kind_of_line(enum tracelog_line_kind line);

void tracelog_fast_lists_free(struct tracelog_fast_lists *lists);

#endif
