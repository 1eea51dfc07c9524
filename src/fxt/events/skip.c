/* skip.c - events that nobody looks at: nothing is taken of them but their times. `make bench` measures log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/walk/chunk.h"

/* Bits of fxt_wish.skips: first the types of events, then those of scheduling records. Legacy context switches, which
 * may have threads inline, are never skipped. */
enum { SCHEDULING = FXT_TYPES };

static uint32_t bit_unless(uint32_t kinds, enum tw_event_kind kind, unsigned bit)
{
	return kinds >> kind & 1 ? 0 : 1u << bit;
}

uint32_t fxt_skips(uint32_t kinds)
{
	uint32_t skips = bit_unless(kinds, TW_SWITCH, SCHEDULING + FXT_SWITCH) |
	                 bit_unless(kinds, TW_WAKEUP, SCHEDULING + FXT_WAKEUP);
	for (unsigned type = 0; type < FXT_EVENT_TYPES; type++)
		skips |= bit_unless(kinds, fxt_event_kinds[type], type);
	return skips;
}

/* Whether nobody looks at records with this header. A thread that is inline tells whose thread a koid is. */
TW_INLINE bool is_skipped(uint32_t skips, uint64_t header)
{
	if (__builtin_expect(fxt_type(header) == TW_FXT_TYPE_EVENT, 1))
		return skips >> tw_bits(header, 16, 19) & 1 && tw_bits(header, 24, 31);
	return fxt_type(header) == TW_FXT_TYPE_SCHEDULING && skips >> SCHEDULING >> tw_bits(header, 60, 63) & 1;
}

bool fxt_is_skipped(uint32_t skips, uint64_t header)
{
	return is_skipped(skips, header);
}

TW_INLINE const uint8_t *skip(struct fxt_chunk *chunk, uint32_t skips, const uint8_t *bytes, const uint8_t *to,
                              bool big)
{
	const uint8_t *const from = bytes, *timed = bytes;
	uint64_t least = UINT64_MAX, last = 0;
	while (bytes < to) {
		const uint64_t header = tw_load64(bytes, big);
		if (!is_skipped(skips, header))
			break;
		const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
		least = ticks < least ? ticks : least;
		last = ticks > last ? ticks : last;
		timed = bytes;
		bytes += tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	if (bytes == from)
		return from;
	fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, tw_load64(from + TW_FXT_WORD, big)));
	fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, tw_load64(timed + TW_FXT_WORD, big)));
	fxt_pass_by(chunk, tw_ticks_ns(&chunk->decoder.clock, least));
	fxt_pass_by(chunk, tw_ticks_ns(&chunk->decoder.clock, last));
	return bytes;
}

const uint8_t *fxt_skip(struct fxt_chunk *chunk, uint32_t skips, const uint8_t *bytes, const uint8_t *to, bool big)
{
	return big ? skip(chunk, skips, bytes, to, true) : skip(chunk, skips, bytes, to, false);
}
