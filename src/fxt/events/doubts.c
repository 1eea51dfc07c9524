/* doubts.c - sizes of events with arguments, checked many at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/doubts.h"

#include "base/inline.h"

static inline uint64_t header_at(const struct fxt_chunk *chunk, uint32_t place, bool big)
{
	return tw_load64(chunk->bytes + place, big);
}

void fxt_doubts_sort_events(const struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big,
                            uint32_t sorted[static FXT_DOUBTS], uint32_t from[static FXT_ARGUMENT_COUNTS + 1])
{
	uint8_t classes[FXT_DOUBTS];
	for (size_t i = 0; i < doubts->count; i++)
		classes[i] = (uint8_t)tw_bits(header_at(chunk, doubts->places[i], big), 20, 23);
	fxt_doubts_sort(doubts, classes, FXT_ARGUMENT_COUNTS, sorted, from);
}

/* Whether the arguments of an event fill its size exactly, and nothing in it is inline: names, thread and texts are
 * indices. Otherwise fxt_measure_event() decides. The processor cannot predict which types follow one another, so no
 * jump depends on them, and what may be no arguments is looked at, too. */
static inline bool is_simple(uint64_t header, const uint8_t *bytes, size_t left_words, unsigned count, bool big)
{
	enum { LOOK = 2 + 2 * FXT_ARGUMENT_COUNTS }; /* words */
	const size_t size = tw_bits(header, 4, 15), type = tw_bits(header, 16, 19);
	const size_t end = size - fxt_event_extra((enum tw_fxt_kind)(TW_FXT_INSTANT + type));
	uint64_t flaws = header & (FXT_BITS(47, 47) | FXT_BITS(63, 63));
	size_t at = 2;
	if (left_words < LOOK || size > left_words)
		return false;
	for (unsigned i = 0; i < count; i++) {
		uint64_t argument = tw_load64(bytes + at * TW_FXT_WORD, big);
		const struct fxt_plain_argument *plain = &fxt_plain_arguments[fxt_type(argument)];
		flaws |= (argument & plain->mask) ^ plain->value;
		at += tw_bits(plain->value, 4, 15);
	}
	/* An instant may have a scope word. */
	return !flaws && end - at <= (type == FXT_INSTANT) && type < FXT_EVENT_TYPES && tw_bits(header, 24, 31) != 0;
}

TW_INLINE size_t first_wrong(const struct fxt_chunk *chunk, bool big, const uint32_t *sorted, const uint32_t *from)
{
	size_t wrong = SIZE_MAX;
	for (unsigned n = 0; n < FXT_ARGUMENT_COUNTS; n++)
		for (uint32_t i = from[n]; i < from[n + 1]; i++) {
			const uint8_t *bytes = chunk->bytes + sorted[i];
			uint64_t header = tw_load64(bytes, big);
			size_t left = (chunk->end - sorted[i]) / TW_FXT_WORD;
			if (!is_simple(header, bytes, left, n, big) && !fxt_measure_event(header, bytes, left, big))
				wrong = sorted[i] < wrong ? sorted[i] : wrong;
		}
	return wrong;
}

size_t fxt_doubts_wrong(const struct fxt_chunk *chunk, bool big, const uint32_t *sorted, const uint32_t *from)
{
	return big ? first_wrong(chunk, true, sorted, from) : first_wrong(chunk, false, sorted, from);
}

bool fxt_doubts_settle(struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big)
{
	uint32_t sorted[FXT_DOUBTS], from[FXT_ARGUMENT_COUNTS + 1];
	fxt_doubts_sort_events(doubts, chunk, big, sorted, from);
	const size_t wrong = fxt_doubts_wrong(chunk, big, sorted, from);
	doubts->wrong = wrong < doubts->wrong ? wrong : doubts->wrong;
	doubts->count = 0;
	return doubts->wrong == SIZE_MAX;
}
