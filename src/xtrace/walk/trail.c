/* trail.c - stretches of tokens that come again: learning them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/trail.h"

#include "base/memory/memory.h"
#include "xtrace/layout.h"

#include <trackway/xtrace.h>

#include <stdlib.h>

enum { LEVEL_SHIFT = 6 };

/* Values of the map beside the numbers of trails. */
static const uint32_t once = UINT32_MAX - 1, never = UINT32_MAX - 2;

enum { MISSES = 8 /* a trail that fits so seldom, and less often than not, is made anew */ };

void xtrace_trails_free(struct xtrace_trails *trails)
{
	for (size_t i = 0; i < trails->count; i++)
		free(trails->items[i]);
	free(trails->items);
	tw_map_free(&trails->map);
}

/* ---- Drafts. ---- */

/* The bytes of a token, of which some are to be the same again. */
static void add_bytes(struct xtrace_draft *draft, const uint8_t *bytes, size_t size, size_t from, size_t to)
{
	memset(draft->want + draft->size, 0, size);
	memset(draft->mask + draft->size, 0, size);
	draft->want[draft->size] = bytes[0];
	draft->mask[draft->size] = UINT8_MAX;
	memcpy(draft->want + draft->size + from, bytes + from, to - from);
	memset(draft->mask + draft->size + from, UINT8_MAX, to - from);
	draft->size += size;
}

static bool add_step(struct xtrace_draft *draft, const struct tw_xtrace_token *token, const uint8_t *bytes)
{
	if (draft->step_count == XTRACE_TRAIL_STEPS)
		return false;
	draft->starts[draft->step_count] = (uint16_t)draft->size;
	draft->steps[draft->step_count++] = token->opcode;
	add_bytes(draft, bytes, token->size, 1, token->size);
	return true;
}

static bool add_access(struct xtrace_draft *draft, const struct tw_xtrace_token *token, const uint8_t *bytes)
{
	if (draft->access_count == XTRACE_TRAIL_ACCESSES)
		return false;
	uint8_t step = (uint8_t)(draft->step_count - 1);
	bool more = draft->access_count && draft->accesses[draft->access_count - 1].step == step;
	draft->accesses[draft->access_count++] = (struct xtrace_trail_access){
	    .at = (uint16_t)(draft->size + 1),
	    .size = (uint16_t)token->payload_size,
	    .step = step,
	    .stores = token->kind == TW_XTRACE_STORE,
	    .more = more,
	};
	add_bytes(draft, bytes, token->size, 0, 1);
	return true;
}

/* Takes the next token; false where the trail ends before it. */
static bool take(const struct xtrace_trails *trails, struct xtrace_draft *draft, const struct tw_xtrace_token *token,
                 const uint8_t *bytes)
{
	if (draft->size + token->size > XTRACE_TRAIL_BYTES)
		return false;
	switch ((unsigned)token->kind) {
	case TW_XTRACE_PCINST:
	case TW_XTRACE_INST:
		if (draft->flow != XTRACE_NEXT || !token->opcode || /* zeros: what follows decides, see cursor.c */
		    (token->kind == TW_XTRACE_PCINST && !xtrace_is_canonical(token->pc)) ||
		    (draft->step_count &&
		     (token->kind == TW_XTRACE_PCINST || bytes[0] >> LEVEL_SHIFT != draft->want[0] >> LEVEL_SHIFT)))
			return false;
		draft->flow = xtrace_find_operation(trails->operations, token->opcode)->flow;
		return add_step(draft, token, bytes);
	case TW_XTRACE_LOAD:
	case TW_XTRACE_STORE:
		return add_access(draft, token, bytes);
	}
	if (!(trails->passed >> token->kind & 1))
		return false;
	add_bytes(draft, bytes, token->size, 0, 1);
	return true;
}

/* Makes a draft of the tokens that come now. Returns false where the bytes that are held end before it does. */
static bool make_draft(struct xtrace_trails *trails, const uint8_t *bytes, size_t left, uint64_t pc)
{
	struct xtrace_draft *draft = &trails->draft;
	struct tw_xtrace_token token;
	draft->pc = pc;
	draft->mark = 0;
	draft->step_count = draft->access_count = draft->size = 0;
	draft->flow = XTRACE_NEXT;
	for (;;) {
		int status = tw_xtrace_decode(bytes + draft->size, left - draft->size, &token);
		if (status == 0 || status == TW_ERR_ROOM)
			return false;
		if (status < 0 || !take(trails, draft, &token, bytes + draft->size))
			break;
	}
	draft->starts[draft->step_count] = (uint16_t)draft->size;
	return true;
}

/* Shortens the draft to so many steps. */
static void cut(struct xtrace_trails *trails, size_t steps)
{
	struct xtrace_draft *draft = &trails->draft;
	if (steps < draft->step_count)
		draft->flow = XTRACE_NEXT;
	draft->step_count = steps;
	draft->size = draft->starts[steps];
	while (draft->access_count && draft->accesses[draft->access_count - 1].step >= steps)
		draft->access_count--;
}

/* ---- Trails. ---- */

static void fill_masked(struct xtrace_trail *trail, const struct xtrace_draft *draft)
{
	for (size_t i = 0; i < trail->masked_count; i++) {
		struct xtrace_masked *masked = &trail->masked[i];
		size_t at = i * XTRACE_MASKED,
		       have = draft->size - at < XTRACE_MASKED ? draft->size - at : XTRACE_MASKED;
		*masked = (struct xtrace_masked){0};
		memcpy(masked->want, draft->want + at, have);
		memcpy(masked->mask, draft->mask + at, have);
	}
}

/* A trail out of the draft, all in one piece. NULL when there is no room. */
static struct xtrace_trail *make_trail(struct xtrace_trails *trails)
{
	const struct xtrace_draft *draft = &trails->draft;
	size_t masked = (draft->size + XTRACE_MASKED - 1) / XTRACE_MASKED;
	size_t accesses = draft->access_count * sizeof *draft->accesses;
	size_t steps = draft->step_count * sizeof *draft->steps;
	size_t size = sizeof(struct xtrace_trail) + masked * sizeof(struct xtrace_masked) + accesses + steps;
	if (size > trails->limit - trails->used ||
	    !tw_grow(&trails->items, &trails->room, trails->count + 1, sizeof *trails->items))
		return NULL;
	struct xtrace_trail *trail = malloc(size);
	if (!trail)
		return NULL;
	*trail = (struct xtrace_trail){
	    .pc = draft->pc,
	    .accesses = (struct xtrace_trail_access *)&trail->masked[masked],
	    .first = draft->steps[0],
	    .last = draft->steps[draft->step_count - 1],
	    .mark = draft->mark,
	    .size = (uint16_t)draft->size,
	    .last_at = draft->starts[draft->step_count - 1],
	    .step_count = (uint8_t)draft->step_count,
	    .access_count = (uint8_t)draft->access_count,
	    .masked_count = (uint8_t)masked,
	    .flow = draft->flow,
	};
	memcpy(trail->accesses, draft->accesses, accesses);
	memcpy(trail->accesses + draft->access_count, draft->steps, steps);
	fill_masked(trail, draft);
	trails->used += size;
	return trails->items[trails->count++] = trail;
}

/* Makes a trail of the tokens that come now; *value is what the map then holds of it. */
static struct xtrace_trail *learn(struct xtrace_trails *trails, const uint8_t *bytes, size_t left, uint64_t pc,
                                  uint32_t *value)
{
	if (!make_draft(trails, bytes, left, pc))
		return NULL;
	size_t steps = trails->admit(trails->context, &trails->draft);
	cut(trails, steps);
	struct xtrace_trail *trail = steps ? make_trail(trails) : NULL;
	*value = (trail ? (uint32_t)trails->count - 1 : never) + 1;
	return trail;
}

/* Notes that tokens came once: only when they come again a trail is made. */
static void note_once(struct xtrace_trails *trails, uint64_t key)
{
	enum { COST = 4 * sizeof(struct tw_map_slot) };
	if (trails->limit - trails->used >= COST && tw_map_add(&trails->map, key, once))
		trails->used += COST;
}

static bool fits(const struct xtrace_trail *trail, const uint8_t *bytes, size_t left, uint64_t pc)
{
	return trail->pc == pc && xtrace_trail_matches(trail, bytes, left);
}

struct xtrace_trail *xtrace_trails_search(struct xtrace_trails *trails, struct xtrace_trail *before,
                                          const uint8_t *bytes, size_t left, uint64_t pc, bool behind)
{
	uint64_t key = pc << 1 | ((bytes[0] & XTRACE_INST_BITS) == XTRACE_PCINST);
	uint32_t *value = tw_map_stored(&trails->map, key), number = value ? *value - 1 : 0;
	struct xtrace_trail *trail = NULL;
	if (!value)
		note_once(trails, key);
	else if (number == once)
		trail = learn(trails, bytes, left, pc, value);
	else if (number != never)
		trail = trails->items[number];
	if (trail && !fits(trail, bytes, left, pc) && ++trail->misses > MISSES && trail->misses > trail->count)
		trail = learn(trails, bytes, left, pc, value);
	if (!trail || !fits(trail, bytes, left, pc))
		return NULL;
	if (before)
		before->after[behind] = trail;
	return trail;
}
