/* digest.h - a stretch of a log with the numbers of its commonest lines, found without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_DIGEST_H
#define TRACELOG_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A frame of a stack. */
struct tracelog_frame {
	uint32_t iid;
	uint64_t ip; /* 0: not known */
};

/* What was allocated of a class. */
struct tracelog_allocation {
	uint32_t iid;
	uint64_t count, bytes;
	uint64_t ip; /* 0: not known */
};

/* What a sam str says. */
struct tracelog_sample {
	uint32_t thread, ms;
	uint64_t count; /* ticks */
	bool has_count;
	bool has_ip;
	uint32_t match, depth;
	uint64_t ip; /* 0: not known */
	const struct tracelog_frame *frames;
	size_t frame_count;
};

/* What a thr cpu or prc cpu says. */
struct tracelog_usage {
	bool process;
	uint32_t thread, ms;
	uint64_t us; /* may be negative, as 64 bits hold it */
};

enum tracelog_plain {
	TRACELOG_LINE, /* anything that is not plainly one of the others: must be decoded */
	TRACELOG_SAMPLE,
	TRACELOG_ALLOCATION,
	TRACELOG_THREAD_CPU,
	TRACELOG_PROCESS_CPU
};

struct tracelog_entry {
	uint32_t at, size; /* bytes of the line: a stretch is no longer than the memory limit allows a line */
	enum tracelog_plain plain;
	bool has_ip;
	uint32_t thread, ms;
	uint32_t match, depth;
	uint32_t first, count; /* frames or allocations */
	uint64_t number;       /* ticks, microseconds */
	uint64_t ip;
};

struct tracelog_digest {
	uint8_t *bytes; /* whole lines, or the only part of one that is there; TRACELOG_SLACK bytes more may be read */
	size_t size, room;
	uint64_t offset; /* in the log */
	bool cut;        /* a line that is too long: only its beginning is here */
	struct tracelog_entry *entries;
	size_t entry_count, entry_room;
	struct tracelog_frame *frames;
	size_t frame_count, frame_room;
	struct tracelog_allocation *allocations;
	size_t allocation_count, allocation_room;
	bool failed; /* no memory */
};

enum { TRACELOG_SLACK = 8 };

/* Makes entries of the bytes. */
void tracelog_digest(struct tracelog_digest *digest);

void tracelog_digest_free(struct tracelog_digest *digest);

#endif
