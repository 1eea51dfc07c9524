/* row.h - one row of a picture: slices that do not overlap, or samples, with sums of them level by level. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_ROW_H
#define VIEW_INDEX_ROW_H

#include "view/index/pack.h"

/* The numbers are those of the protocol. */
enum view_kind { VIEW_SLICES, VIEW_COUNTER, VIEW_POINTS, VIEW_STATES };

/* A slice, or a point, which ends when it begins. Times are those of the reader. */
struct view_slice {
	uint64_t begin, end;
	uint64_t offset; /* of its record */
	uint32_t name;   /* a number of struct view_names */
	uint32_t unused; /* 0: an index that is kept has nothing of the stack */
};

struct view_sample {
	uint64_t time;
	double value;
};

/* Items that a row has packed before it gets a tail of its own. */
enum { VIEW_OWN_TAIL = 2 * VIEW_BLOCK };

/* A row is asked whether it keeps what comes (bare.h) when it has so many slices, or a multiple. */
enum { VIEW_AGAIN_FROM = VIEW_BLOCK };

/* A record of a level sums up so many of the level below, which are all there; level 0 is the blocks. */
enum { VIEW_FAN = 16, VIEW_LEVELS = 12 };

/* Of slices. */
struct view_busy {
	uint64_t busy;    /* ns */
	uint64_t longest; /* ns */
	uint64_t item;    /* the first of those that last so long */
};

/* Of samples. */
struct view_range {
	double least, most;
};

union view_sum {
	struct view_busy busy;
	struct view_range range;
};

/* Items that are packed. Its number of the longest is `packed.longest`. */
struct view_block {
	struct view_packed packed;
	uint64_t begin; /* of the first */
	uint64_t base;  /* of slices the offset of the first, of samples the least value, in bits */
	union {
		struct {
			uint64_t busy, longest;
		} slices;
		struct view_range range;
	} sum;
};

/* What a row has of packed items: in memory, and so as little as most rows need, which have few blocks. */
struct view_packs {
	struct view_column blocks;  /* struct view_block */
	struct view_column *levels; /* union view_sum */
	uint32_t level_count;       /* VIEW_LEVELS at most */
};

/* Returns the next level, which is empty; NULL without memory. */
struct view_column *view_packs_deepen(struct view_packs *packs);

/* Frees packs and their columns; NULL is none. */
void view_packs_free(struct view_packs *packs);

/* In the store, where it stays. The items that are not packed yet stand with those of other rows (few.h) until there
 * are VIEW_OWN_TAIL that are. */
struct view_row {
	uint32_t track;
	uint16_t lane, depth;
	uint64_t count : 46;   /* of items */
	uint64_t bare : 1;     /* later ones are not here, but in the trace: bare.h */
	uint64_t readable : 1; /* slices can be read again by their times */
	uint64_t kind : 8;     /* enum view_kind */
	uint64_t own_tail : 1; /* items that are not packed yet have a place of their own */
	uint64_t unused : 7;   /* 0, in a file too */
	uint64_t last;         /* when the last one ends */
	uint64_t tail;         /* that place; or what tells the last of them (few.h), 0: none; or of struct view_bare */
	struct view_packs *packs; /* NULL: there are none */
};

/* Makes room for the times of blocks that are looked at, where there is none yet. False without memory. */
bool view_row_times_room(struct view_store *store);

/* Adds one behind the others: begin is not less than row->last. False where there is no room: store->error. */
bool view_row_add_slice(struct view_row *row, struct view_store *store, const struct view_slice *slice);
bool view_row_add_sample(struct view_row *row, struct view_store *store, const struct view_sample *sample);

/* Returns item i, which must be there. */
struct view_slice view_row_slice(const struct view_row *row, const struct view_store *store, uint64_t i);
struct view_sample view_row_sample(const struct view_row *row, const struct view_store *store, uint64_t i);

/* The same of one member alone. */
uint64_t view_row_begin(const struct view_row *row, const struct view_store *store, uint64_t i);
uint64_t view_row_end(const struct view_row *row, const struct view_store *store, uint64_t i);
uint32_t view_row_name(const struct view_row *row, const struct view_store *store, uint64_t i);

/* Of the block of slices that item i is in: of the first, and of those behind it. They are there until another row or
 * block is looked at. False where it is not in a block. */
struct view_block_times {
	uint64_t first; /* item */
	const uint64_t *begins, *lasts;
};
bool view_row_times(const struct view_row *row, const struct view_store *store, uint64_t i,
                    struct view_block_times *block);

/* The same with all else of them. */
struct view_block_slices {
	uint64_t first;
	const uint64_t *begins, *lasts, *offsets, *names;
};
bool view_row_block(const struct view_row *row, const struct view_store *store, uint64_t i,
                    struct view_block_slices *block);

/* Returns the first item from `from` on that begins at a time or later; the count where there is none. The first steps
 * are short: what is near is found soon. */
uint64_t view_row_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time);

/* Sums up items from one to the one before another. */
struct view_busy view_row_busy(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to);
struct view_range view_row_range(const struct view_row *row, const struct view_store *store, uint64_t from,
                                 uint64_t to);

void view_row_free(struct view_row *row, const struct view_store *store);

#endif
