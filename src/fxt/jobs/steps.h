/* steps.h - steps: the little of a chunk's events that the rules about pairs need, for checking without rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_STEPS_H
#define FXT_JOBS_STEPS_H

#include "base/memory/map.h"
#include "fxt/format/layout.h"

/* The type of a step that stands for a row until that is committed. Others are those of their events: FXT_BEGIN,
 * FXT_END, FXT_COMPLETE, and FXT_ASYNC_BEGIN and all behind it. */
enum { FXT_ROW = 0xff };

/* A begin or end of a duration, a complete slice, a step of an operation or of a flow. */
struct fxt_step {
	uint64_t time;
	uint64_t
	    key; /* fxt_operation_key(); of a duration its name; of a complete slice its end; of a row its number */
	uint32_t track; /* but of a row */
	uint32_t place; /* of the record in the chunk */
	uint32_t type;  /* enum fxt_event_type, or FXT_ROW */
};

struct fxt_steps {
	struct fxt_step *all; /* in the order of the archive, then of time, without complete slices */
	size_t count, room;
	bool complete; /* some of them are complete slices */
	size_t rows;   /* of the slab that have been looked at for steps */
	bool failed;   /* no memory: steps are missing */
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

/* Puts the steps of a chunk in the order of time, once its complete slices are taken. */
void fxt_steps_sort(struct fxt_steps *steps, struct fxt_steps_scratch *scratch);

/* What the steps of one operation or flow have in common, apart from the process. */
static inline uint64_t fxt_operation_key(uint32_t category, uint32_t name, uint64_t id)
{
	return tw_hash_two((uint64_t)category << 32 | name, id);
}

#endif
