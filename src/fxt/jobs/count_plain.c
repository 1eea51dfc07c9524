/* count_plain.c - the fast path of counting records for `info`: events whose thread and names are registered indices, and
 * context switches. It stops at the first other record. `make bench` measures info: without it info takes five times as
 * long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/events/values.h"
#include "fxt/jobs/census.h"

/* Counts a context switch or a wake-up without arguments. False for any other record. */
static bool count_plain_koids(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t without, bool big)
{
	const uint32_t koids = fxt_plain_koids(header);
	if (koids == 0) /* it may be of one word */
		return false;
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = fxt_switch_koid(koids);
	if (ticks >= without)
		return false;
	sums->kinds[koids == 2 ? TW_FXT_CONTEXT_SWITCH : TW_FXT_THREAD_WAKEUP]++;
	fxt_note_time(&sums->provider, ticks);
	for (uint32_t i = 0; i < koids; i++)
		fxt_count_lone(sums, tw_load64(bytes + fxt_switch_koid(i), big), size, ticks);
	return true;
}

/* Whether the thread of an event is registered. *last: the index of the last one that was. */
TW_INLINE bool has_thread(const struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes, unsigned *last)
{
	const unsigned index = (unsigned)tw_bits(header, 24, 31);
	const uint64_t offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes));
	if (__builtin_expect(index == *last, 1))
		return true;
	if (!fxt_thread_at(chunk->decoder.context.provider, index, offset))
		return false;
	*last = index;
	return true;
}

/* Whether category, name and arguments of an event refer to registered strings. */
TW_INLINE bool has_names(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes)
{
	const size_t place = (size_t)(bytes - chunk->bytes);
	const uint64_t count = tw_bits(header, 20, 23);
	return (fxt_known_pair(chunk, header) || fxt_look_up_pair(chunk, header, place)) &&
	       (count == 0 || fxt_are_registered(chunk, place, place + (size_t)2 * TW_FXT_WORD, count));
}

/* Counts an event of a known type. False where it is not for the fast path. */
TW_INLINE bool count_event(struct fxt_sums *sums, uint64_t without, uint64_t header, const uint8_t *bytes, bool big)
{
	const uint64_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	const unsigned type = (unsigned)tw_bits(header, 16, 19);
	const uint64_t last = type == FXT_COMPLETE ? size - TW_FXT_WORD : TW_FXT_WORD;
	const struct fxt_tally tally = {1, size, tw_load64(bytes + TW_FXT_WORD, big), tw_load64(bytes + last, big)};
	if (tally.last < tally.first || tally.last >= without)
		return false;
	fxt_add_category(sums, (unsigned)tw_bits(header, 32, 47));
	fxt_add_up(&sums->threads[tw_bits(header, 24, 31)], &tally);
	sums->events[type]++;
	return true;
}

static inline bool is_known_event(uint64_t header)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT && tw_bits(header, 16, 19) < FXT_EVENT_TYPES &&
	       tw_bits(header, 24, 31);
}

/* Returns the place of the first record that is not for the fast path. */
TW_INLINE const uint8_t *count_run(struct fxt_chunk *chunk, const uint8_t *bytes, const uint8_t *to, bool big)
{
	struct fxt_sums *const sums = &chunk->census->sums;
	const uint64_t without = chunk->decoder.first_without;
	unsigned thread = 0; /* which is none */
	uint64_t count = 0, header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD, count++) {
		header = tw_load64(bytes, big);
		const bool counted = is_known_event(header) ? has_thread(chunk, header, bytes, &thread) &&
		                                                  has_names(chunk, header, bytes) &&
		                                                  count_event(sums, without, header, bytes, big)
		                                            : count_plain_koids(sums, header, bytes, without, big);
		if (!counted)
			break;
	}
	sums->provider.records += count;
	return bytes;
}

size_t fxt_count_plain(struct fxt_chunk *chunk, size_t place, size_t end)
{
	const uint8_t *const from = chunk->bytes + place, *const to = chunk->bytes + end;
	const uint8_t *behind =
	    chunk->decoder.big ? count_run(chunk, from, to, true) : count_run(chunk, from, to, false);
	chunk->census->sums.provider.bytes += (uint64_t)(behind - from);
	return (size_t)(behind - chunk->bytes);
}
