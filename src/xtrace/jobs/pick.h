/* pick.h - which instructions a part has: of functions, an exception level, addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_JOBS_PICK_H
#define XTRACE_JOBS_PICK_H

#include "xtrace/walk/calls.h"

/* All zero but the reader of the calls to begin with a track. */
struct xtrace_pick {
	struct xtrace_calls calls;
	struct xtrace_stack stack;
	uint8_t *functions; /* by name: whether it is wanted; 0: not asked yet */
	size_t function_room;
};

/* Whether the reader is asked for such a part. */
bool xtrace_picks(const struct tw_reader *reader);

/* Takes each token of a track; pc: of an instruction. Returns 1 where it is an instruction that is wanted, 0, or a
 * negative status. */
int xtrace_pick_take(struct xtrace_pick *pick, const struct tw_xtrace_token *token, uint64_t offset, uint64_t pc);

void xtrace_pick_free(struct xtrace_pick *pick);

#endif
