/* context.c - provider and clock of the records at a place of a chunk, and the names that were looked up for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/walk/chunk.h"

#include <string.h>

struct fxt_context fxt_context_of(const struct fxt_state *state)
{
	const struct fxt_provider *provider = state->current;
	return (struct fxt_context){
	    .provider = state->current,
	    .generation = provider->generation,
	    .name = provider->name,
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

/* ---- References. ---- */

const struct fxt_entry *fxt_string_of(const struct fxt_chunk *chunk, unsigned reference, size_t place)
{
	return fxt_string_at(chunk->decoder.context.provider, reference, fxt_offset(chunk, place));
}

const struct fxt_entry *fxt_thread_of(const struct fxt_chunk *chunk, unsigned index, size_t place)
{
	return fxt_thread_at(chunk->decoder.context.provider, index, fxt_offset(chunk, place));
}

const char *fxt_text(const struct fxt_chunk *chunk, const struct tw_fxt_string *string, size_t place, size_t *length)
{
	*length = string->length;
	if (string->bytes || string->reference == 0 || string->reference >= TW_FXT_STRING_INLINE)
		return string->bytes ? (const char *)string->bytes : "";
	const struct fxt_entry *entry = fxt_string_of(chunk, string->reference, place);
	*length = entry ? entry->length : 0;
	return entry ? entry->text : NULL;
}

struct fxt_referred fxt_refer_to(const struct fxt_chunk *chunk, const struct tw_fxt_thread *thread, size_t place)
{
	const struct fxt_entry *entry = fxt_thread_of(chunk, thread->index, place);
	if (entry)
		return (struct fxt_referred){entry->process, entry->thread, entry->number, true};
	return (struct fxt_referred){thread->process, thread->thread, UINT32_MAX, thread->index == 0};
}

/* ---- Names that were looked up. ---- */

bool fxt_look_up(struct fxt_chunk *chunk, unsigned reference, uint64_t offset, uint32_t *number)
{
	const struct fxt_entry *entry = fxt_string_at(chunk->decoder.context.provider, reference, offset);
	*number = entry ? entry->number : 0;
	if (!entry && reference)
		return false;
	chunk->decoder.name_cache->known[reference % FXT_KNOWN] =
	    (struct fxt_known){chunk->decoder.name_cache->epoch | reference, *number};
	return true;
}

const struct fxt_pair *fxt_look_up_pair(struct fxt_chunk *chunk, uint64_t header, size_t place)
{
	struct fxt_pair *pair = &chunk->decoder.name_cache->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	struct fxt_pair found = {.key = header >> 32 | chunk->decoder.name_cache->pair_epoch};
	uint64_t offset = fxt_offset(chunk, place);
	if (!fxt_known_number(chunk, (unsigned)tw_bits(header, 32, 47), offset, &found.category) ||
	    !fxt_known_number(chunk, (unsigned)tw_bits(header, 48, 63), offset, &found.name))
		return NULL;
	*pair = found;
	return pair;
}

static void forget_pairs(struct fxt_name_cache *name_cache)
{
	enum { EPOCH_SHIFT = 32 };
	name_cache->pair_epoch += UINT64_C(1) << EPOCH_SHIFT;
	if (name_cache->pair_epoch)
		return;
	memset(name_cache->pairs, 0, sizeof name_cache->pairs);
	name_cache->pair_epoch = UINT64_C(1) << EPOCH_SHIFT;
}

/* Forgets the names that were looked up: references of the new context have other meanings. */
static void forget_names(struct fxt_chunk *chunk)
{
	enum { EPOCH = 1 << 16 };
	struct fxt_name_cache *name_cache = chunk->decoder.name_cache;
	forget_pairs(name_cache);
	name_cache->provider = chunk->decoder.context.provider;
	name_cache->generation = chunk->decoder.context.generation;
	name_cache->strings = chunk->decoder.strings;
	name_cache->epoch += EPOCH;
	if (name_cache->epoch)
		return;
	memset(name_cache->known, 0, sizeof name_cache->known);
	name_cache->epoch = EPOCH;
}

/* A pair of category and name may refer to the string, too. */
void fxt_forget_string(struct fxt_chunk *chunk, unsigned index)
{
	chunk->decoder.name_cache->known[index % FXT_KNOWN].key = 0;
	chunk->decoder.name_cache->strings = chunk->decoder.strings = FXT_STRINGS_NEW;
	forget_pairs(chunk->decoder.name_cache);
}

/* ---- From context to context. ---- */

static void set_context(struct fxt_chunk *chunk, const struct fxt_context *context)
{
	if (chunk->decoder.clock.frequency != context->frequency) {
		tw_ticks_set(&chunk->decoder.clock, context->frequency);
		chunk->decoder.first_without = tw_ticks_of(UINT64_MAX, context->frequency);
	}
	chunk->decoder.context = *context;
	chunk->decoder.reported_provider = chunk->decoder.reported_clock = false;
}

/* Goes on with what was looked up of a provider, if it still holds. */
static void find_name_cache(struct fxt_chunk *chunk)
{
	const struct fxt_context *context = &chunk->decoder.context;
	const struct fxt_name_cache *name_cache = chunk->decoder.name_cache =
	    &chunk->decoder.name_caches[context->generation % chunk->decoder.name_cache_count];
	if (name_cache->provider != context->provider || name_cache->generation != context->generation ||
	    name_cache->strings != chunk->decoder.strings || name_cache->strings == FXT_STRINGS_NEW ||
	    name_cache->epoch == 0)
		forget_names(chunk);
}

void fxt_begin_context(struct fxt_chunk *chunk)
{
	set_context(chunk, &chunk->decoder.context);
	find_name_cache(chunk);
}

void fxt_next_context(struct fxt_chunk *chunk)
{
	if (chunk->decoder.contexts_taken == chunk->walk.context_count)
		return;
	set_context(chunk, &chunk->walk.contexts[chunk->decoder.contexts_taken++]);
	find_name_cache(chunk);
}
