/* doubts.h - events that are taken before it is known whether their sizes agree with their headers.
 *
 * Which ones have arguments cannot be foretold, and a jump that cannot be foretold takes as long as all else that is
 * done for an event: so they are taken as others are, and looked at later, many at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_DOUBTS_H
#define FXT_DOUBTS_H

#include "fxt/chunk.h"
#include "fxt/measure.h"

enum { FXT_DOUBTS = 1024, FXT_ARGUMENT_COUNTS = 16 };

struct fxt_doubts {
	uint32_t places[FXT_DOUBTS];
	size_t count;
	size_t wrong; /* the first that was found not to be right; SIZE_MAX: there is none */
};

/* What the headers of events without arguments have for their words. */
enum { FXT_TWO_WORDS = 2 << 4, FXT_THREE_WORDS = 3 << 4 };

/* Whether the size of an event is still to be looked at, whose names and thread are indices: `plain` is that of its
 * type. */
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

/* As far as events from a place on can begin that are taken at once: a plain one must be there, and room for doubts.
 * NULL as doubts: there are none. */
static inline const uint8_t *fxt_doubts_limit(const struct fxt_doubts *doubts, const uint8_t *bytes, const uint8_t *to)
{
	enum { LEAST = 2 * TW_FXT_WORD, LAST = FXT_PLAIN_MAX * TW_FXT_WORD - 1 }; /* bytes */
	const size_t left = (size_t)(to - bytes), room = doubts ? (FXT_DOUBTS - doubts->count) * LEAST : SIZE_MAX;
	const size_t most = left > LAST ? left - LAST : 0;
	return bytes + (most < room ? most : room);
}

/* Whether an event at bytes has all words that its header says, and more than one. Two are there. */
static inline bool fxt_is_there(size_t size, const uint8_t *bytes, const uint8_t *to)
{
	return size - 2 * TW_FXT_WORD <= (size_t)(to - bytes) - 2 * TW_FXT_WORD;
}

/* Puts their places in order by how many arguments the events have; from[n] is where those with n begin, and the last
 * where all end. A loop over arguments can be foretold where the one before was as long. */
void fxt_doubts_sort(const struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big,
                     uint32_t sorted[static FXT_DOUBTS], uint32_t from[static FXT_ARGUMENT_COUNTS + 1]);

/* Looks at all of them. False where one is not right. */
bool fxt_doubts_settle(struct fxt_doubts *doubts, const struct fxt_chunk *chunk, bool big);

#endif
