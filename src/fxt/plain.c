/* plain.c - records of which all that matters stands where their headers tell: the fast path of rows and of checking. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "fxt/chunk.h"
#include "fxt/measure.h"

/* The document, "Context Switch Record" and "Instant event". */
enum { STATE_RUNNING = 1, STATE_MAX = 5, SCOPE_MAX = 2 };

/* What an event leads to. */
struct references {
	const struct fxt_entry *thread;
	uint32_t category, name;
};

/* False where something is inline, or not defined. */
static inline bool find(const struct fxt_chunk *chunk, uint64_t header, uint64_t offset, struct references *found)
{
	struct fxt_provider *provider = chunk->turn.provider;
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	found->thread = index ? fxt_thread_at(chunk->turn.provider, index, offset) : NULL;
	return found->thread &&
	       fxt_string_number(provider, (unsigned)tw_bits(header, 32, 47), offset, &found->category) &&
	       fxt_string_number(provider, (unsigned)tw_bits(header, 48, 63), offset, &found->name);
}

/* ---- Rules. ---- */

static bool is_number(unsigned type)
{
	return type >= TW_FXT_ARG_INT32 && type <= TW_FXT_ARG_DOUBLE;
}

/* Words of the arguments from a word of a record on, which are known to fill it; 0 where they must be looked at: one has a text in
 * it, or leads nowhere, or `numbers` are asked for and it is none. */
static size_t arguments_words(const struct fxt_chunk *chunk, size_t place, size_t from, uint64_t count, bool numbers)
{
	struct fxt_provider *provider = chunk->turn.provider;
	size_t at = from;
	uint64_t offset = fxt_offset(chunk, place);
	for (uint32_t unused; count > 0; count--) {
		uint64_t header = tw_load64(chunk->bytes + place + at * TW_FXT_WORD, chunk->big);
		unsigned type = fxt_type(header);
		bool text = type == TW_FXT_ARG_STRING;
		if ((numbers && !is_number(type)) || type >= TW_FXT_ARG_BLOB ||
		    !fxt_string_number(provider, (unsigned)tw_bits(header, 16, 31), offset, &unused) ||
		    (text && !fxt_string_number(provider, (unsigned)tw_bits(header, 32, 47), offset, &unused)))
			return 0;
		at += (size_t)tw_bits(header, 4, 15);
	}
	return at - from;
}

/* Whether provider and clock of the turn are told, or it has been said that they are not. */
static bool is_clear(const struct fxt_chunk *chunk)
{
	return (chunk->turn.initialized || chunk->told_clock) && (chunk->turn.announced || chunk->told_provider);
}

/* Whether an event of a kind with this last word keeps the rules of its kind. */
static bool is_right(unsigned kind, uint64_t header, uint64_t word)
{
	if (kind == TW_INSTANT)
		return word <= SCOPE_MAX;
	return kind != TW_COUNTER || tw_bits(header, 20, 23) != 0;
}

/* ---- Events. ---- */

/* Words before what stands behind the arguments; 0 where they must be looked at. */
static size_t words_before(const struct fxt_chunk *chunk, const struct fxt_wish *wish, uint64_t header, size_t place,
                           bool exact)
{
	uint64_t count = tw_bits(header, 20, 23);
	if (count == 0)
		return 2;
	bool counter = tw_bits(header, 16, 19) == TW_FXT_COUNTER - TW_FXT_INSTANT;
	size_t more = exact && wish->findings ? arguments_words(chunk, place, 2, count, counter) : 0;
	return more ? 2 + more : 0;
}

static void add_row(struct fxt_chunk *chunk, size_t place, unsigned kind, const struct references *found, uint64_t time,
                    uint64_t duration, uint64_t word)
{
	bool instant = kind == TW_INSTANT, has_id = kind >= TW_COUNTER && kind != TW_SLICE_COMPLETE;
	struct tw_event *row = tw_slab_next(&chunk->slab);
	if (!row)
		return;
	row->time = time;
	row->offset = fxt_offset(chunk, place);
	row->value = duration;
	row->id = has_id ? word : 0;
	row->track = found->thread->number;
	row->name = found->name;
	row->category = found->category;
	row->other = 0;
	row->kind = (uint8_t)kind;
	row->cpu = 0;
	row->flags = instant ? fxt_scope_flags(word) : 0;
}

static bool take_event(struct fxt_chunk *chunk, const struct fxt_wish *wish, uint64_t header, size_t place, bool exact)
{
	static const uint8_t extra[FXT_TYPES] = {0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1};
	unsigned type = (unsigned)tw_bits(header, 16, 19), kind = fxt_event_kinds[type];
	bool looked_at = wish->kinds >> kind & 1;
	struct references found;
	size_t before = words_before(chunk, wish, header, place, exact), size = fxt_size(header);
	/* An instant may have its scope. */
	if (!before || type > TW_FXT_FLOW_END - TW_FXT_INSTANT || size - before - extra[type] > (type == 0))
		return false;
	if (!looked_at && !wish->check)
		return true;
	const uint8_t *bytes = chunk->bytes + place;
	uint64_t word = size > before ? tw_load64(bytes + (size - 1) * TW_FXT_WORD, chunk->big) : 0;
	if ((wish->check && !(is_clear(chunk) && is_right(kind, header, word))) ||
	    !find(chunk, header, fxt_offset(chunk, place), &found))
		return false;
	if (!found.thread->wanted)
		return true;
	uint64_t time = fxt_time(chunk, tw_load64(bytes + TW_FXT_WORD, chunk->big), place);
	uint64_t duration = kind == TW_SLICE_COMPLETE ? fxt_duration(chunk, time, word, place) : 0;
	if (looked_at)
		add_row(chunk, place, kind, &found, time, duration, word);
	return true;
}

/* ---- Context switches and wake-ups, of which no row is asked for. ---- */

static bool check_switch(struct fxt_chunk *chunk, const struct fxt_wish *wish, uint64_t header, size_t place)
{
	uint64_t kind = tw_bits(header, 60, 63), state = tw_bits(header, 36, 39), count = tw_bits(header, 16, 19);
	bool right = kind == 2 || (kind == 1 && state != STATE_RUNNING && state <= STATE_MAX);
	if (!right || !is_clear(chunk) || wish->options->thread_count)
		return false;
	if (count && !arguments_words(chunk, place, kind == 1 ? 4 : 3, count, false))
		return false;
	fxt_time(chunk, tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->big), place);
	return true;
}

bool fxt_take_plain(struct fxt_chunk *chunk, const struct fxt_wish *wish, uint64_t header, size_t place, bool exact)
{
	if (fxt_type(header) == TW_FXT_TYPE_EVENT)
		return take_event(chunk, wish, header, place, exact);
	return fxt_type(header) == TW_FXT_TYPE_SCHEDULING && wish->findings && exact &&
	       check_switch(chunk, wish, header, place);
}
