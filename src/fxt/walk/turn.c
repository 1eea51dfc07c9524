/* turn.c - what holds at a place of a chunk: whose records come, by which clock, and which names were looked up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/walk/chunk.h"

#include <string.h>

struct fxt_turn fxt_turn_of(const struct fxt_state *state)
{
	const struct fxt_provider *provider = state->current;
	return (struct fxt_turn){
	    .provider = state->current,
	    .generation = provider->generation,
	    .number = provider->number,
	    .frequency = provider->frequency,
	    .announced = provider->announced,
	    .initialized = provider->initialized,
	    .gave_ticks = provider->gave_ticks,
	    .gave_first = provider->gave_first,
	    .foreign = !provider->wanted,
	    .has_wall = provider->has_wall,
	    .wall_ns = provider->wall_ns,
	};
}

/* ---- Names that were looked up. ---- */

bool fxt_look_up(struct fxt_chunk *chunk, unsigned reference, uint64_t offset, uint32_t *number)
{
	if (!fxt_string_number(chunk->turn.provider, reference, offset, number))
		return false;
	chunk->memo->known[reference % FXT_KNOWN] = (struct fxt_known){chunk->memo->epoch | reference, *number};
	return true;
}

const struct fxt_pair *fxt_look_up_pair(struct fxt_chunk *chunk, uint64_t header, size_t place)
{
	struct fxt_pair *pair = &chunk->memo->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	struct fxt_pair found = {.key = header >> 32 | chunk->memo->pair_epoch};
	uint64_t offset = fxt_offset(chunk, place);
	if (!fxt_known_number(chunk, (unsigned)tw_bits(header, 32, 47), offset, &found.category) ||
	    !fxt_known_number(chunk, (unsigned)tw_bits(header, 48, 63), offset, &found.name))
		return NULL;
	*pair = found;
	return pair;
}

static void forget_pairs(struct fxt_memo *memo)
{
	enum { EPOCH_SHIFT = 32 };
	memo->pair_epoch += UINT64_C(1) << EPOCH_SHIFT;
	if (memo->pair_epoch)
		return;
	memset(memo->pairs, 0, sizeof memo->pairs);
	memo->pair_epoch = UINT64_C(1) << EPOCH_SHIFT;
}

/* What references mean now, they mean no more. */
static void forget_names(struct fxt_chunk *chunk)
{
	enum { EPOCH = 1 << 16 };
	struct fxt_memo *memo = chunk->memo;
	forget_pairs(memo);
	memo->provider = chunk->turn.provider;
	memo->generation = chunk->turn.generation;
	memo->strings = chunk->strings;
	memo->epoch += EPOCH;
	if (memo->epoch)
		return;
	memset(memo->known, 0, sizeof memo->known);
	memo->epoch = EPOCH;
}

/* Pairs may have it, too. */
void fxt_forget_string(struct fxt_chunk *chunk, unsigned index)
{
	chunk->memo->known[index % FXT_KNOWN].key = 0;
	chunk->memo->strings = chunk->strings = FXT_STRINGS_NEW;
	forget_pairs(chunk->memo);
}

/* ---- From turn to turn. ---- */

static void set_turn(struct fxt_chunk *chunk, const struct fxt_turn *turn)
{
	if (chunk->clock.frequency != turn->frequency) {
		tw_ticks_set(&chunk->clock, turn->frequency);
		chunk->first_without = tw_ticks_of(UINT64_MAX, turn->frequency);
	}
	chunk->turn = *turn;
	chunk->told_provider = chunk->told_clock = false;
}

/* Goes on with what was looked up of a provider, if it still holds. */
static void turn_to_memo(struct fxt_chunk *chunk)
{
	const struct fxt_turn *turn = &chunk->turn;
	const struct fxt_memo *memo = chunk->memo = &chunk->memos[turn->generation % chunk->memo_count];
	if (memo->provider != turn->provider || memo->generation != turn->generation ||
	    memo->strings != chunk->strings || memo->strings == FXT_STRINGS_NEW || memo->epoch == 0)
		forget_names(chunk);
}

void fxt_begin_turn(struct fxt_chunk *chunk)
{
	set_turn(chunk, &chunk->turn);
	turn_to_memo(chunk);
}

void fxt_next_turn(struct fxt_chunk *chunk)
{
	if (chunk->turned == chunk->turn_count)
		return;
	set_turn(chunk, &chunk->turns[chunk->turned++]);
	turn_to_memo(chunk);
}
