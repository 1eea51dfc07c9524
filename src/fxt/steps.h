/* steps.h - what the rules about pairs need of a chunk's events, in the order of time: for checking without rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_STEPS_H
#define FXT_STEPS_H

#include "base/map.h"

/* A begin or end of a duration, a step of an operation, or any row. */
struct fxt_step {
	uint64_t time;
	uint64_t what; /* enum fxt_step_kind; above it the name of a duration, or the key of an operation */
	uint32_t track;
	uint32_t place; /* of the record in the chunk; of a row: its number */
};

/* The kinds of event that rules look at have their own numbers. */
enum fxt_step_kind { FXT_STEP_ROW = 0xff, FXT_STEP_KINDS = 0x100 };

struct fxt_steps {
	struct fxt_step *steps;
	size_t count, room;
	size_t rows; /* of the slab that have a step */
};

/* What operations have in common that belong together, but for the process; without the bits of the kind. */
static inline uint64_t fxt_operation_key(uint32_t category, uint32_t name, uint64_t id)
{
	uint64_t key = tw_hash64((uint64_t)category << 32 | name);
	return tw_hash64(key ^ id) / FXT_STEP_KINDS * FXT_STEP_KINDS;
}

#endif
