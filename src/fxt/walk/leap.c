/* leap.c - records in the middle of an archive, found before the walk comes by: in any thread, while their bytes are
 * near. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/measure.h"
#include "fxt/walk/chunk.h"

enum {
	IN_A_ROW = 16, /* records in a row that show that a first one was found: a single one is often chance */
	FAR = 4096     /* bytes in which the first record is looked for: few records are longer */
};

/* Returns the place behind `count` records that follow one another from a place; 0 where there are fewer. */
static size_t skip_records(const struct fxt_chunk *chunk, size_t place, unsigned count, bool big)
{
	for (; count > 0; count--) {
		size_t left = (chunk->end - place) / TW_FXT_WORD;
		const uint8_t *bytes = chunk->bytes + place;
		uint32_t words = left ? fxt_measure(tw_load64(bytes, big), bytes, left, big) : 0;
		if (words == 0)
			return 0;
		place += words * (size_t)TW_FXT_WORD;
	}
	return place;
}

size_t fxt_find_records(const struct fxt_chunk *chunk, size_t from, unsigned count, bool big)
{
	size_t far = chunk->end - from < FAR ? chunk->end : from + FAR, found = 0;
	for (size_t place = from; place < far && !found; place += TW_FXT_WORD)
		found = skip_records(chunk, place, count, big);
	return found;
}

bool fxt_leap_over(const struct fxt_chunk *chunk, struct fxt_leap *leap)
{
	const uint8_t *bytes = chunk->bytes + leap->to;
	const size_t left = (chunk->end - leap->to) / TW_FXT_WORD;
	const uint64_t header = leap->to > leap->from && left ? tw_load64(bytes, leap->big) : UINT64_MAX;
	const uint32_t words = fxt_type(header) < TW_FXT_TYPE_EVENT ? fxt_measure(header, bytes, left, leap->big) : 0;
	const size_t behind = leap->to + words * (size_t)TW_FXT_WORD;
	*leap = (struct fxt_leap){.big = leap->big, .from = behind, .to = behind};
	return words > 0;
}

void fxt_leap(struct fxt_chunk *chunk, bool big, fxt_leap_fn *take, struct fxt_scratch *scratch)
{
	size_t from = fxt_find_records(chunk, chunk->begin, IN_A_ROW, big);
	if (!from)
		return;
	chunk->leap = (struct fxt_leap){.big = big, .from = from, .to = from};
	take(chunk, &chunk->leap, scratch);
}
