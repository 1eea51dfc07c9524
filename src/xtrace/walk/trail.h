/* trail.h - stretches of tokens that come again as they came before: known by their bytes, and not taken apart.
 *
 * A program does the same things over and over. A trail is a head, PCINST or INST, with the INSTs and accesses behind
 * it, up to where control may leave; what may be another each time, addresses and values, is masked. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_WALK_TRAIL_H
#define XTRACE_WALK_TRAIL_H

#include "base/memory/map.h"
#include "xtrace/format/opcode.h"
#include "xtrace/layout.h"

#include <string.h>

enum { XTRACE_MASKED = 32, XTRACE_TRAIL_BYTES = 1 << 10, XTRACE_TRAIL_STEPS = 128, XTRACE_TRAIL_ACCESSES = 128 };

/* Bytes that are compared at once. */
typedef uint64_t xtrace_word __attribute__((vector_size(16)));

/* What XTRACE_MASKED bytes of a trail are under a mask. */
struct xtrace_masked {
	xtrace_word mask[2], want[2];
};

struct xtrace_trail_access {
	uint32_t mark; /* the user's */
	uint16_t at;   /* where its address stands */
	uint16_t size; /* bytes */
	uint8_t step;  /* the instruction that makes it */
	bool stores;
	bool more; /* it is not the first of its instruction */
};

struct xtrace_trail {
	struct xtrace_trail *after[2]; /* that came behind it last: elsewhere, or at the next instruction */
	uint64_t pc;
	uint64_t count; /* the user's: how often it was taken */
	struct xtrace_trail_access *accesses;
	uint32_t first, last;   /* of its steps */
	uint32_t mark;          /* the user's */
	uint32_t misses;        /* how often other tokens came */
	uint16_t size, last_at; /* last_at: where the last step's tokens begin */
	uint8_t step_count, access_count, masked_count;
	uint8_t flow; /* of the last step: enum xtrace_flow */
	struct xtrace_masked masked[];
};

/* The opcodes of its steps, or what the user has put in their place. */
static inline const uint32_t *xtrace_trail_steps(const struct xtrace_trail *trail)
{
	return (const uint32_t *)(trail->accesses + trail->access_count);
}

/* A trail that is being made: the tokens that come now. */
struct xtrace_draft {
	uint64_t pc;
	uint32_t mark; /* 0 */
	size_t step_count, access_count, size;
	uint8_t flow;
	uint32_t steps[XTRACE_TRAIL_STEPS];
	uint16_t starts[XTRACE_TRAIL_STEPS + 1]; /* where their tokens stand, and the end */
	struct xtrace_trail_access accesses[XTRACE_TRAIL_ACCESSES];
	uint8_t want[XTRACE_TRAIL_BYTES], mask[XTRACE_TRAIL_BYTES];
};

/* Tells how many of a draft's steps may be taken as a trail, and marks them. What it does not want to be shown again of
 * their accesses, it may take out. */
typedef size_t (*xtrace_admit_fn)(void *context, struct xtrace_draft *draft);

struct xtrace_trails {
	struct xtrace_operations *operations; /* borrowed */
	xtrace_admit_fn admit;
	void *context;
	unsigned passed; /* kinds of token that are nothing to the user, of one size: 1 << enum tw_xtrace_kind */
	size_t limit, used;
	struct tw_map map; /* by PC and kind of head; what came only once is there, too */
	struct xtrace_trail **items;
	size_t count, room;
	struct xtrace_draft draft;
};

/* Whether the bytes, of which `left` are held, are those of a trail, and a token follows: else, see cursor.c, the last
 * may be none. `make bench` measures it (insns, check):
 * the words have the size of instructions that the compiler knows. */
static inline bool xtrace_trail_matches(const struct xtrace_trail *trail, const uint8_t *bytes, size_t left)
{
	xtrace_word word[2], differs = {0};
	if (left < (size_t)trail->masked_count * XTRACE_MASKED || left == trail->size ||
	    !xtrace_is_token(bytes[trail->size]))
		return false;
	for (unsigned i = 0; i < trail->masked_count; i++, bytes += XTRACE_MASKED) {
		const struct xtrace_masked *masked = &trail->masked[i];
		memcpy(&word[0], bytes, sizeof *word);
		memcpy(&word[1], bytes + sizeof *word, sizeof *word);
		differs |=
		    ((word[0] & masked->mask[0]) ^ masked->want[0]) | ((word[1] & masked->mask[1]) ^ masked->want[1]);
	}
	return !(differs[0] | differs[1]);
}

/* As xtrace_trails_find(), for a trail that did not come behind `before` the last time. */
struct xtrace_trail *xtrace_trails_search(struct xtrace_trails *trails, struct xtrace_trail *before,
                                          const uint8_t *bytes, size_t left, uint64_t pc, bool behind);

/* Returns the trail that the bytes of an instruction at a PC begin with; NULL when there is none. before: the trail
 * that ends there, or NULL. behind: the instruction follows the one before. The trail lives as long as the trails. */
static inline struct xtrace_trail *xtrace_trails_find(struct xtrace_trails *trails, struct xtrace_trail *before,
                                                      const uint8_t *bytes, size_t left, uint64_t pc, bool behind)
{
	struct xtrace_trail *trail = before ? before->after[behind] : NULL;
	if (trail && trail->pc == pc && xtrace_trail_matches(trail, bytes, left))
		return trail;
	return xtrace_trails_search(trails, before, bytes, left, pc, behind);
}

void xtrace_trails_free(struct xtrace_trails *trails);

#endif
