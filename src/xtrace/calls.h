/* calls.h - calls and returns out of where instructions go. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_CALLS_H
#define XTRACE_CALLS_H

#include "base/map.h"
#include "xtrace/opcode.h"
#include "xtrace/xtrace.h"

struct xtrace_frame {
	uint64_t back; /* where it returns to */
	uint32_t function;
};

struct xtrace_function {
	struct tw_range range; /* empty: not known */
	uint32_t name;
};

/* All zero but the reader to begin. */
struct xtrace_calls {
	struct tw_reader *reader;
	struct xtrace_operations operations;
	const struct xtrace_operation *operation; /* of the last instruction; NULL: not known */
	uint64_t pc;                              /* of it */
	bool has_pc, told;
	struct xtrace_frame *frames;
	size_t count, room;
	struct tw_map known; /* addresses that were gone to: their functions */
	struct xtrace_function *functions;
	size_t function_count, function_room;
};

/* What an instruction changes: so many calls have ended before it, and one begins with it. */
struct xtrace_turn {
	unsigned ends;
	bool begins, tail; /* tail: the one that begins was jumped to by the one that ends */
	uint32_t name;
};

/* Begins a track. */
void xtrace_calls_begin(struct xtrace_calls *calls);

/* Takes each instruction. Returns 0 or TW_ERR_MEMORY. */
int xtrace_calls_take(struct xtrace_calls *calls, const struct tw_xtrace_token *token, uint64_t offset,
                      struct xtrace_turn *turn);

/* Takes a gap. */
void xtrace_calls_lose(struct xtrace_calls *calls);
void xtrace_calls_free(struct xtrace_calls *calls);

#endif
