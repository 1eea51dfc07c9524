/* profiling.h - xray-profiling logs: calls and times of whole paths, summed by the program itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILING_PROFILING_H
#define PROFILING_PROFILING_H

#include "base/memory/map.h"
#include "core/format.h"
#include "profiling/decode.h"
#include "profiling/rules.h"

extern const struct tw_format tw_format_profiling;

/* ---- walk.c: one block and path after the other, over damage. ---- */

enum profiling_item_kind { PROFILING_BLOCK, PROFILING_PATH, PROFILING_GAP };

struct profiling_item {
	enum profiling_item_kind kind;
	uint64_t offset, size;
	struct profiling_path path; /* of the block that came last */
};

/* Words before the one at `to` that are not 0, from one at `from` on; whether that one is. */
struct profiling_ids {
	uint64_t from, to;
	bool ended;
};

struct profiling_walk {
	struct profiling_header header; /* of the log that the last item is of */
	struct tw_window window;
	struct profiling_block block;                   /* the last one */
	uint64_t at;                                    /* the next item */
	uint64_t block_end;                             /* of the block; 0 before the first */
	uint32_t numbers;                               /* blocks of the log met so far */
	uint32_t logs;                                  /* that ended */
	bool looks;                                     /* only another log is reported */
	struct profiling_ids ids[2][PROFILING_ID_SIZE]; /* of a path, and of the one behind it; by where words begin */
};

/* Reads the header; makes the input seekable. Returns 0 or a negative status. */
int profiling_walk_open(struct tw_reader *reader, struct profiling_walk *walk);

/* Takes the next item; what is wrong is reported. Returns 1, 0 at the end, or a negative status. What it points to
 * lives until the next call. */
int profiling_walk_next(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_item *item);

void profiling_walk_free(struct profiling_walk *walk);

/* Goes through the whole log, and reports nothing but that a log of another kind follows, which ends it. Returns 0 or a
 * negative status. */
int profiling_look_behind(struct tw_reader *reader);

/* ---- paths.c: equal paths as one, with what each took itself. ---- */

/* A path of a thread. */
struct profiling_node {
	uint32_t track, stack; /* of the dictionary */
	uint64_t calls, ticks;
	uint64_t below;  /* ticks of what it called */
	uint64_t offset; /* of the first path of the log that ends here or leads through here */
	bool counted;    /* a path of the log ends here */
};

struct profiling_paths {
	struct profiling_node *nodes;
	size_t count, room;
	struct tw_map map; /* hash of track and stack to node */
	uint32_t *stacks;  /* of a path, while it is added */
	size_t stack_room;
	bool full; /* the memory limit was reached */
};

/* Adds a path. Returns 0 or TW_ERR_MEMORY. */
int profiling_paths_add(struct tw_reader *reader, struct profiling_paths *paths, uint32_t track,
                        const struct profiling_item *item);

/* Takes from all paths what they called, once all are there. */
void profiling_paths_settle(struct tw_reader *reader, struct profiling_paths *paths);

void profiling_paths_free(struct profiling_paths *paths);

/* ---- known.c: what other processes' logs read before have. ---- */

struct profiling_known {
	struct tw_map beginnings; /* hashes of all beginnings of blocks, to the process */
	uint64_t hash;            /* of the block so far; 0 where there is nothing to tell it by */
	bool known;               /* up to here the block is one that is known */
};

/* Reads the logs that are told to be read before. Returns 0 or TW_ERR_MEMORY. */
int profiling_known_load(struct tw_reader *reader, struct profiling_known *known);

/* Whether an item of the log, taken one after the other, is known to be another process's: 1 or 0, or TW_ERR_MEMORY.
 * It is known from then on. */
int profiling_is_known(struct profiling_known *known, const struct profiling_walk *walk,
                       const struct profiling_item *item);

void profiling_known_free(struct profiling_known *known);

/* ---- repair.c ---- */

int profiling_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result);

/* ---- reader.c ---- */

enum {
	PROFILING_ROWS = 256,
	PROFILING_MOST_GAPS = 1 << 16, /* the bytes of further ones are added to the last */
};

enum { PROFILING_KIND_BLOCK, PROFILING_KIND_PATH, PROFILING_KINDS };

struct profiling_reader {
	struct profiling_walk walk;
	struct profiling_header first; /* of the file */
	struct profiling_paths paths;
	struct profiling_known known;
	uint64_t frequency; /* ticks per second; 0: a tick is a nanosecond */
	bool is_read;       /* the log was read to its end */
	size_t given;       /* nodes that were given as rows */
	struct tw_event events[PROFILING_ROWS];
	struct {
		struct profiling_gap {
			uint64_t offset, size;
		} * items;
		size_t count, room, given;
	} gaps;
	/* Records and sums. */
	struct tw_wanted *wanted; /* NULL: all records are */
	struct tw_field fields[4];
	struct tw_text text; /* the functions of a path */
	struct tw_kind_count kinds[PROFILING_KINDS];
	struct {
		struct tw_thread_info *items;
		size_t count, room;
	} threads;
	struct tw_field sums[4];
	char written[40];
};

#endif
