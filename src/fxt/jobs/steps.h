/* steps.h - steps: the little of a chunk's events that the rules about pairs need, for checking without rows.
 *
 * Nearly all durations end in the chunk that they begin in. Where the events of each track stand in the order of time,
 * such a begin and end are settled when the chunk is decoded: they keep the rules, and change nothing for other events.
 * Only the steps that are left must be looked at in the order of all chunks. Settled steps are kept, because a later
 * chunk may hold an event that belongs between them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_STEPS_H
#define FXT_JOBS_STEPS_H

#include "base/memory/map.h"
#include "fxt/format/layout.h"

/* Types of step besides those of events, which are FXT_BEGIN, FXT_END, and FXT_ASYNC_BEGIN and all behind it. */
enum fxt_step_type {
	FXT_MARK = 0xfe, /* marks where the steps of a chunk begin and end */
	FXT_ROW = 0xff   /* stands for a row */
};

/* A begin or end of a duration, a step of an operation, or any row. */
struct fxt_step {
	uint64_t time;
	uint64_t key; /* fxt_operation_key(); of a duration its name; of a row its number */
	uint32_t track;
	uint32_t place; /* of the record in the chunk */
	uint32_t type;  /* enum fxt_event_type or fxt_step_type */
	uint32_t other; /* of a begin: number of its end, if settled; otherwise of the open begin around it, or 0 */
};

/* A complete slice. Whether those of a thread overlap is found without the order of time. */
struct fxt_whole {
	uint64_t begin, end;
	uint32_t track;
	uint32_t place; /* of the record in the chunk */
};

/* The durations of a track that are open in a chunk. */
struct fxt_pile {
	uint64_t first, last; /* times of the first and last begin or end; UINT64_MAX: there are none */
	uint32_t track;
	uint32_t top; /* number of the innermost open begin; 0: none is open */
};

struct fxt_steps {
	struct fxt_step *all; /* in the order of the archive; number 0 is a sentinel */
	size_t count, room;
	struct fxt_whole *wholes; /* in the order of the archive, but for those that are rows; room as for steps */
	size_t whole_count, whole_room;
	uint32_t *loose; /* numbers of steps that are neither settled nor open: operations, rows, ends without begin */
	size_t loose_count, loose_room;
	struct fxt_pile *piles;
	size_t pile_count, pile_room;
	struct tw_map by_track;
	bool mixed;            /* nothing is settled: steps are out of order, or a track or name is not known yet */
	struct fxt_step *left; /* copies of the steps that are not settled, in the order of time between two marks; if
	                        * `mixed`, of all */
	size_t left_count, left_room;
	size_t rows; /* of the slab that have a step */
	bool failed; /* no memory: steps are missing */
};

/* Memory for sorting; all zero to begin. */
struct fxt_steps_scratch {
	struct fxt_step *steps;
	size_t room;
};

void fxt_steps_clear(struct fxt_steps *steps);
void fxt_steps_free(struct fxt_steps *steps);

/* Makes room for so many steps more. False when there is no memory. */
bool fxt_steps_reserve(struct fxt_steps *steps, size_t more);

/* Returns where the next step goes, for which there is room. One of the next two functions adds it. */
static inline struct fxt_step *fxt_steps_next(const struct fxt_steps *steps)
{
	return &steps->all[steps->count];
}

/* Adds the next step, which is no begin or end of a duration. */
void fxt_steps_add(struct fxt_steps *steps);

/* Adds the next step, a begin or end of a duration, to the pile of its track. */
void fxt_steps_add_duration(struct fxt_steps *steps, struct fxt_pile *pile);

/* The pile of a track, a new one if there is none; NULL when there is no memory. It moves with the next new one. */
struct fxt_pile *fxt_steps_pile(struct fxt_steps *steps, uint32_t track);

/* Makes `left`, once the chunk is complete. */
void fxt_steps_sort(struct fxt_steps *steps, struct fxt_steps_scratch *scratch);

/* Makes `left` anew, of all steps, as if none were settled. */
void fxt_steps_unsettle(struct fxt_steps *steps, struct fxt_steps_scratch *scratch);

/* Whether a step is the begin of a settled pair. */
static inline bool fxt_step_is_settled(const struct fxt_steps *steps, const struct fxt_step *begin)
{
	return begin->other > (size_t)(begin - steps->all);
}

/* What the steps of one operation or flow have in common, apart from the process. */
static inline uint64_t fxt_operation_key(uint32_t category, uint32_t name, uint64_t id)
{
	return tw_hash_two((uint64_t)category << 32 | name, id);
}

#endif
