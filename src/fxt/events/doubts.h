/* doubts.h - events with arguments, taken by fast paths before anybody has checked that their sizes agree with their
 * headers.
 *
 * The processor cannot predict which events have arguments, and a mispredicted jump takes as long as all else that is
 * done for an event. So these are taken as all others are, listed, and checked later, many at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_DOUBTS_H
#define FXT_EVENTS_DOUBTS_H

#include "fxt/format/measure.h"
#include "fxt/walk/chunk.h"

enum {
	FXT_DOUBTS = 1024,
	FXT_ARGUMENT_COUNTS = 16,
	FXT_CLASSES = 32 /* what is listed can be sorted into */
};

struct fxt_doubts {
	uint32_t places[FXT_DOUBTS]; /* of records in the chunk */
	size_t count;
	size_t wrong; /* place of the first record that was found to be wrong; SIZE_MAX: there is none */
};

/* The size in words, as it stands in the headers of events without arguments. */
enum { FXT_TWO_WORDS = 2 << 4, FXT_THREE_WORDS = 3 << 4 };

/* Whether the size of an event, whose names and thread are indices, must still be checked. plain: FXT_TWO_WORDS or
 * FXT_THREE_WORDS, what its type has without arguments. */
static inline bool fxt_is_doubtful(uint64_t header, uint32_t plain)
{
	static const uint32_t bits = (uint32_t)(FXT_BITS(4, 15) | FXT_BITS(20, 23));
	return (((uint32_t)header ^ plain) & bits) != 0;
}

static inline void fxt_doubts_begin(struct fxt_doubts *doubts)
{
	doubts->count = 0;
	doubts->wrong = SIZE_MAX;
}

/* Up to where events may begin that a loop takes without further checks: a plain event must be there as a whole before
 * `to`, and the list must have room for all of them. doubts: NULL where nothing is listed. */
static inline const uint8_t *fxt_doubts_limit(const struct fxt_doubts *doubts, const uint8_t *bytes, const uint8_t *to)
{
	enum { LEAST = 2 * TW_FXT_WORD, LAST = FXT_PLAIN_MAX * TW_FXT_WORD - 1 }; /* bytes */
	const size_t left = (size_t)(to - bytes), room = doubts ? (FXT_DOUBTS - doubts->count) * LEAST : SIZE_MAX;
	const size_t most = left > LAST ? left - LAST : 0;
	return bytes + (most < room ? most : room);
}

/* Whether an event at `bytes` has at least two words, and all of its `size` bytes are there. Two words always are. */
static inline bool fxt_is_there(size_t size, const uint8_t *bytes, const uint8_t *to)
{
	return size - 2 * TW_FXT_WORD <= (size_t)(to - bytes) - 2 * TW_FXT_WORD;
}

/* Sorts listed places by their classes, numbers below class_count: those of class n are sorted[from[n]] to
 * sorted[from[n + 1] - 1]. The processor predicts a loop over arguments right where the loop before was as long. From
 * the beginning and from the middle at once: a count is ready to be added to only some time after it was. */
static inline void fxt_doubts_sort(const struct fxt_doubts *doubts, const uint8_t *classes, unsigned class_count,
                                   uint32_t *sorted, uint32_t *from)
{
	const size_t half = doubts->count / 2, rest = doubts->count % 2;
	const uint32_t *const places = doubts->places;
	uint32_t first[FXT_CLASSES] = {0}, second[FXT_CLASSES] = {0}, sum = 0;
	for (size_t i = 0; i < half; i++) {
		first[classes[i]]++;
		second[classes[half + i]]++;
	}
	if (rest)
		second[classes[2 * half]]++;
	for (unsigned n = 0; n < class_count; n++) {
		const uint32_t before = first[n], behind = second[n];
		from[n] = first[n] = sum;
		second[n] = sum + before;
		sum += before + behind;
	}
	from[class_count] = sum;
	for (size_t i = 0; i < half; i++) {
		sorted[first[classes[i]]++] = places[i];
		sorted[second[classes[half + i]]++] = places[half + i];
	}
	if (rest)
		sorted[second[classes[2 * half]]] = places[2 * half];
}

/* Sorts listed events by the number of arguments. */
void fxt_doubts_sort_events(const struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big,
                            uint32_t sorted[static FXT_DOUBTS], uint32_t from[static FXT_ARGUMENT_COUNTS + 1]);

/* The place of the first event that is wrong, of those that were sorted so; SIZE_MAX: there is none. */
size_t fxt_doubts_wrong(const struct fxt_chunk *chunk, bool big, const uint32_t *sorted, const uint32_t *from);

/* Checks all listed events, and empties the list. False where one is wrong: then `wrong` is set. */
bool fxt_doubts_settle(struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big);

#endif
