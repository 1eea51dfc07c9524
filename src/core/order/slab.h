/* slab.h - a block of rows with their arguments, made in one go, and the putting of rows into time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_SLAB_H
#define CORE_ORDER_SLAB_H

#include "core/order/equal_times.h"

#include <trackway/event.h>

#include <stdbool.h>

/* Rows of a block share one base for their arguments. */
enum { TW_SLAB_BLOCK = 256 };

/* Events in the order in which they were added, with their arguments. All zero is empty; memory is used again. A text
 * or bytes argument points to memory that lives as long as the slab is in use, which is the business of who fills
 * it. */
struct tw_slab {
	struct tw_event *events; /* first_argument counts from the base of the row's block */
	size_t count, room;
	struct tw_argument *arguments;
	size_t argument_count, argument_room;
	uint32_t *bases; /* by block: where in `arguments` its arguments begin */
	size_t base_room;
	uint32_t *order; /* row numbers in time order; only where `sorted` is false, made by tw_slab_sort() */
	size_t order_room;
	bool sorted; /* rows stand in time order */
	/* Slices of one time were put in order, and track 0 is among theirs: if that stands for tracks which become
	 * known later, the slab must be sorted again then. */
	bool trackless;
	bool failed; /* no memory: rows are missing */
};

void tw_slab_clear(struct tw_slab *slab);
void tw_slab_free(struct tw_slab *slab);

/* Makes room for that many rows and arguments. False when there is no memory. */
bool tw_slab_reserve(struct tw_slab *slab, size_t rows, size_t arguments);

/* Adds a row for the caller to fill: all of it but the argument_count, which is 0, and the first_argument. NULL when
 * there is no memory (then `failed` is set). The pointer lives until the next row. */
static inline struct tw_event *tw_slab_next(struct tw_slab *slab)
{
	if (slab->count == slab->room && !tw_slab_reserve(slab, slab->count + 1, slab->argument_count))
		return NULL;
	size_t block = slab->count / TW_SLAB_BLOCK;
	if (slab->count % TW_SLAB_BLOCK == 0)
		slab->bases[block] = (uint32_t)slab->argument_count;
	struct tw_event *row = &slab->events[slab->count++];
	row->first_argument = (uint16_t)(slab->argument_count - slab->bases[block]);
	row->argument_count = 0;
	return row;
}

/* Adds a copy of a row; its arguments are added after it one by one. NULL when there is no memory. */
struct tw_event *tw_slab_add(struct tw_slab *slab, const struct tw_event *event);

/* Adds an argument to the last row; at most 255 each. */
void tw_slab_argument(struct tw_slab *slab, const struct tw_argument *argument);

/* Memory that sorting takes, to be used again; all zero to begin. */
struct tw_slab_scratch {
	uint8_t *bytes;
	size_t room;
	struct tw_equal_times equal;
};

/* Finds whether the rows stand in time order, and if not makes `order`: by time, rows of the same time as in
 * tw_equal_times_nest(). */
void tw_slab_sort(struct tw_slab *slab, struct tw_slab_scratch *scratch);

/* slab.c: how many bits a number has. */
unsigned tw_bits_of(uint64_t number);

/* slab.c: sorts keys, of which each is followed by its number in so many bits, and gives them back; there is room for
 * twice as many. The order of those with the same key stays. */
uint64_t *tw_sort_keys(uint64_t *keys, size_t count, unsigned number_bits, unsigned key_bits);

void tw_slab_scratch_free(struct tw_slab_scratch *scratch);

/* ---- Merging slabs in time order: rows may come late by as many slabs as are held back. ---- */

enum { TW_ORDER_SLABS = 256 };

/* One slab that is being delivered. */
struct tw_order_queue {
	const struct tw_slab *slab;
	uint64_t number; /* of all queues that ever were */
	size_t next;     /* place in the slab's order */
	bool later;      /* the slab is still to be made */
};

/* The first row of a queue that has not been delivered. */
struct tw_order_head {
	uint64_t time;
	bool later;     /* the slab is still to be made: the time is one before which it has no row */
	uint64_t queue; /* its number */
};

/* Room that a caller offers for a batch: rows, and their arguments one behind the other. Whether the batch was put
 * there shows where its rows are. */
struct tw_batch_room {
	struct tw_event *events;       /* TW_SLAB_BLOCK */
	struct tw_argument *arguments; /* at least UINT8_MAX */
	size_t argument_room;
};

struct tw_sorter {
	struct tw_order_queue queues[TW_ORDER_SLABS]; /* queue number n is queues[n % TW_ORDER_SLABS] */
	uint64_t oldest;                              /* number of the oldest queue */
	size_t count;
	/* Of the queues that are not used up, the first row to be delivered last. */
	struct tw_order_head heads[TW_ORDER_SLABS];
	size_t head_count;
	int (*make)(void *context, uint64_t queue); /* makes the slab of a queue; returns 0 or a negative status */
	void *context;
	uint64_t last;                         /* time of the last row delivered */
	uint64_t late;                         /* rows delivered behind a later one, because they came too late */
	uint64_t late_offset;                  /* the least of theirs */
	uint64_t latest_by;                    /* ns: how late at most */
	const struct tw_batch_room *room;      /* for the rows of a batch; NULL: the own */
	struct tw_event events[TW_SLAB_BLOCK]; /* the own */
	struct tw_argument *arguments;
	size_t argument_room;
	struct tw_equal_times equal; /* rows of one time that were taken out of several queues, to be delivered next */
	size_t equal_given;          /* those of them that have been delivered */
};

/* Whether another slab may be put. */
static inline bool tw_sorter_has_room(const struct tw_sorter *sorter)
{
	return sorter->count < TW_ORDER_SLABS;
}

/* Puts a slab behind the others: sorted, and untouched until tw_sorter_done() names it. */
void tw_sorter_put(struct tw_sorter *sorter, const struct tw_slab *slab);

/* The same for a slab that is made when its time comes, by sorter->make: it has no rows yet, and none will be before
 * `not_before`. Returns the number of its queue. */
uint64_t tw_sorter_put_later(struct tw_sorter *sorter, const struct tw_slab *slab, uint64_t not_before);

/* Gives the next batch in time order: as many rows as can be delivered in one, up to TW_SLAB_BLOCK; 0 when all slabs
 * are used up. `whole`: nothing else will be put; otherwise it stops, with 0, when the oldest slab is used up. Returns
 * a negative status when there is no memory. */
int tw_sorter_next(struct tw_sorter *sorter, bool whole, struct tw_batch *batch);

/* A row of a slab, and its arguments, if there are any. */
static inline const struct tw_event *tw_slab_row(const struct tw_slab *slab, uint32_t row,
                                                 const struct tw_argument **arguments)
{
	const struct tw_event *event = &slab->events[row];
	if (event->argument_count)
		*arguments = slab->arguments + slab->bases[row / TW_SLAB_BLOCK] + event->first_argument;
	return event;
}

/* Takes away the oldest slab if it is used up: returns it, or NULL. */
const struct tw_slab *tw_sorter_done(struct tw_sorter *sorter);

/* Whether all rows of the queue at a place, the oldest being 0, have been delivered. */
bool tw_sorter_used_up(const struct tw_sorter *sorter, size_t place);

/* The least time of all rows that are held, UINT64_MAX when there are none. */
uint64_t tw_sorter_first(const struct tw_sorter *sorter);

void tw_sorter_free(struct tw_sorter *sorter);

#endif
