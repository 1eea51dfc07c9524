/* doubts.c - sizes of events with arguments, checked many at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/doubts.h"

static inline uint64_t header_at(const struct fxt_chunk *chunk, uint32_t place, bool big)
{
	return tw_load64(chunk->bytes + place, big);
}

void fxt_doubts_sort(const struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big,
                     uint32_t sorted[static FXT_DOUBTS], uint32_t from[static FXT_ARGUMENT_COUNTS + 1])
{
	uint32_t next[FXT_ARGUMENT_COUNTS] = {0}, sum = 0;
	uint8_t counts[FXT_DOUBTS];
	for (size_t i = 0; i < doubts->count; i++) {
		counts[i] = (uint8_t)tw_bits(header_at(chunk, doubts->places[i], big), 20, 23);
		next[counts[i]]++;
	}
	for (unsigned n = 0; n < FXT_ARGUMENT_COUNTS; n++) {
		sum += next[n];
		from[n] = next[n] = sum - next[n];
	}
	from[FXT_ARGUMENT_COUNTS] = sum;
	for (size_t i = 0; i < doubts->count; i++)
		sorted[next[counts[i]]++] = doubts->places[i];
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
	return !flaws && end - at <= (type == 0) && type <= TW_FXT_FLOW_END - TW_FXT_INSTANT &&
	       tw_bits(header, 24, 31) != 0;
}

static inline __attribute__((always_inline)) size_t first_wrong(const struct fxt_doubts *doubts,
                                                                const struct fxt_chunk *chunk, bool big)
{
	uint32_t sorted[FXT_DOUBTS], from[FXT_ARGUMENT_COUNTS + 1];
	size_t wrong = doubts->wrong;
	fxt_doubts_sort(doubts, chunk, big, sorted, from);
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

bool fxt_doubts_settle(struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big)
{
	doubts->wrong = big ? first_wrong(doubts, chunk, true) : first_wrong(doubts, chunk, false);
	doubts->count = 0;
	return doubts->wrong == SIZE_MAX;
}
