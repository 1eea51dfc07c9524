/* walk_define.c - the records that others depend on: providers, clocks, strings and threads, put into the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/memory.h"
#include "fxt/walk/walk.h"

#include <string.h>

/* How many meanings of an index may wait to be decoded: looking one up goes through them. */
enum { MEANINGS = 8 };

/* A record that others depend on, at a place of the chunk. */
struct definition {
	struct fxt_chunk *chunk;
	size_t place;
	const uint8_t *bytes;
	uint64_t header, offset;
	size_t words;
};

static void add_context(const struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	if (tw_grow(&chunk->walk.contexts, &chunk->walk.context_room, chunk->walk.context_count + 1,
	            sizeof *chunk->walk.contexts))
		chunk->walk.contexts[chunk->walk.context_count++] = fxt_context_of(walk->state);
	else
		chunk->failed = true;
}

/* Notes a rule about the tables. Only the walk sees them change. */
static void note(const struct fxt_walk *walk, const struct definition *seen, enum fxt_rule rule, uint64_t number)
{
	if (walk->check)
		fxt_note(seen->chunk, rule, seen->place, seen->place, number, 0, NULL);
}

/* Whether all records before this one are decoded. A record that empties the tables must wait for that: the others
 * still look up their names there. */
static bool are_others_decoded(struct fxt_walk *walk, const struct definition *seen)
{
	return walk->state->oldest == seen->offset;
}

/* ---- By type. Each returns false at a barrier: then nothing has been done. ---- */

static bool define_provider(struct fxt_walk *walk, const struct definition *seen, uint32_t id)
{
	bool again = fxt_state_knows(walk->state, id);
	if (again && !are_others_decoded(walk, seen))
		return false;
	if (again)
		note(walk, seen, FXT_PROVIDER_AGAIN, id);
	fxt_state_announce(walk->state, id, seen->bytes + TW_FXT_WORD, tw_bits(seen->header, 52, 59));
	return true;
}

static bool begin_archive(struct fxt_walk *walk, const struct definition *seen)
{
	if (!seen->offset)
		return true;
	if (!are_others_decoded(walk, seen))
		return false;
	note(walk, seen, FXT_SECOND_ARCHIVE, 0);
	fxt_state_reset(walk->state);
	return true;
}

static bool define_metadata(struct fxt_walk *walk, const struct definition *seen)
{
	uint32_t id = (uint32_t)tw_bits(seen->header, 20, 51);
	switch ((unsigned)fxt_kind(seen->header)) {
	case TW_FXT_PROVIDER_INFO:
		return define_provider(walk, seen, id);
	case TW_FXT_PROVIDER_SECTION:
		if (!fxt_state_knows(walk->state, id))
			note(walk, seen, FXT_PROVIDER_UNKNOWN, id);
		fxt_state_select(walk->state, id);
		return true;
	case TW_FXT_MAGIC:
		return begin_archive(walk, seen);
	default:
		return true;
	}
}

/* The longer record tells the wall time of a tick. */
static void set_wall(struct fxt_provider *provider, const struct definition *seen, bool big)
{
	struct tw_ticks clock;
	provider->has_wall = false;
	if (seen->words < 4 || provider->frequency > TW_FREQUENCY_MAX)
		return;
	tw_ticks_set(&clock, provider->frequency);
	uint64_t ns = tw_ticks_ns(&clock, tw_load64(seen->bytes + 2 * TW_FXT_WORD, big));
	uint64_t wall = tw_load64(seen->bytes + 3 * TW_FXT_WORD, big);
	provider->has_wall = ns <= INT64_MAX && wall <= INT64_MAX;
	provider->wall_ns = provider->has_wall ? (int64_t)wall - (int64_t)ns : 0;
}

static bool define_clock(struct fxt_walk *walk, const struct definition *seen)
{
	struct fxt_provider *provider = walk->state->current;
	uint64_t frequency = tw_load64(seen->bytes + TW_FXT_WORD, walk->big);
	provider->gave_ticks = provider->gave_first = false;
	if (frequency == 0)
		return true;
	if (provider->initialized && provider->frequency != frequency)
		note(walk, seen, FXT_INITIALIZATION_AGAIN, frequency);
	fxt_state_set_ticks(walk->state, frequency);
	set_wall(provider, seen, walk->big);
	return true;
}

/* Notes that an index got another meaning, once for each provider: there are writers with few, which they use again and
 * again. */
static void note_replaced(const struct fxt_walk *walk, const struct definition *seen, bool *noted, enum fxt_rule rule)
{
	if (!*noted)
		note(walk, seen, rule, walk->state->current->id);
	*noted = true;
}

static bool define_string(struct fxt_walk *walk, const struct definition *seen)
{
	unsigned index = (unsigned)tw_bits(seen->header, 16, 30);
	if (index == 0)
		return true;
	if (fxt_state_meanings(walk->state, false, index) >= MEANINGS)
		return false;
	struct fxt_provider *provider = walk->state->current;
	const uint8_t *text = seen->bytes + TW_FXT_WORD;
	const size_t length = tw_bits(seen->header, 32, 46);
	const struct fxt_entry *entry = walk->check ? fxt_string_at(provider, index, seen->offset) : NULL;
	if (entry && (entry->length != length || memcmp(entry->text, text, length) != 0))
		note_replaced(walk, seen, &provider->replaced_string, FXT_STRING_REPLACED);
	fxt_state_string(walk->state, index, text, length, seen->offset);
	return true;
}

static bool define_thread(struct fxt_walk *walk, const struct definition *seen)
{
	unsigned index = (unsigned)tw_bits(seen->header, 16, 23);
	if (index == 0)
		return true;
	if (fxt_state_meanings(walk->state, true, index) >= MEANINGS)
		return false;
	uint64_t process = tw_load64(seen->bytes + TW_FXT_WORD, walk->big);
	uint64_t thread = tw_load64(seen->bytes + 2 * TW_FXT_WORD, walk->big);
	struct fxt_provider *provider = walk->state->current;
	const struct fxt_entry *entry = walk->check ? fxt_thread_at(provider, index, seen->offset) : NULL;
	if (entry && (entry->process != process || entry->thread != thread))
		note_replaced(walk, seen, &provider->replaced_thread, FXT_THREAD_REPLACED);
	fxt_state_thread(walk->state, index, process, thread, seen->offset);
	return true;
}

static bool (*const definers[])(struct fxt_walk *, const struct definition *) = {
    [TW_FXT_TYPE_METADATA] = define_metadata,
    [TW_FXT_TYPE_INITIALIZATION] = define_clock,
    [TW_FXT_TYPE_STRING] = define_string,
    [TW_FXT_TYPE_THREAD] = define_thread,
};

bool fxt_define(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words)
{
	const struct definition seen = {chunk, place, chunk->bytes + place, header, fxt_offset(chunk, place), words};
	walk->scanned.end = 0;
	if (!definers[tw_bits(header, 0, 3)](walk, &seen))
		return false;
	if (tw_bits(header, 0, 3) <= TW_FXT_TYPE_INITIALIZATION)
		add_context(walk, chunk);
	return true;
}
