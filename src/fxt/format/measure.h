/* measure.h - whether a record's size agrees with what its header says of texts, threads and arguments, told without
 * decoding it: for the loops that hop from record to record. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_FORMAT_MEASURE_H
#define FXT_FORMAT_MEASURE_H

#include "fxt/format/layout.h"

/* More words than any record has: no size agrees with it. */
enum { FXT_NEVER = 2 * TW_FXT_RECORD_MAX };

/* The slow parts of the functions below: the words of an event with inline texts or arguments, whose fixed part has
 * `fixed` words, or FXT_NEVER when an argument is wrong; and fxt_measure() of records that are no events. */
uint32_t fxt_measure_more(uint64_t header, const uint8_t *bytes, uint32_t fixed, bool big);
uint32_t fxt_measure_other(uint64_t header, const uint8_t *bytes, size_t left_words, bool big);

/* Whether a record is a large blob whose sizes agree, even if only its beginning is among the words that are there. */
bool fxt_is_large(uint64_t header, const uint8_t *bytes, size_t left_words, bool big);

/* fxt_measure() of an event. `make bench` measures info. */
static inline uint32_t fxt_measure_event(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
#define X(type, row, call, last) FXT_EVENT_WORDS(last),
	static const uint16_t fixed[FXT_TYPES] = {FXT_EVENT_LIST(X) FXT_NEVER, FXT_NEVER, FXT_NEVER, FXT_NEVER,
	                                          FXT_NEVER};
#undef X
	static const uint64_t more = FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63);
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint32_t size = (uint32_t)tw_bits(header, 4, 15);
	uint32_t words = fixed[type] + fxt_thread_words(tw_bits(header, 24, 31));
	if (size > left_words)
		return 0;
	if (header & more)
		words = fxt_measure_more(header, bytes, words, big);
	/* An instant may have a scope word. */
	return size - words <= (type == FXT_INSTANT) ? size : 0;
}

enum { FXT_PLAIN_MAX = 3 }; /* words of an event without texts, arguments and koids */

/* The bits that tell whether a header is that of such an event. */
#define FXT_PLAIN_BITS (FXT_BITS(0, 3) | FXT_BITS(6, 15) | FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63))

/* The shape of a plain event: the type and the low two bits of the size. */
static inline unsigned fxt_plain_shape(uint64_t header)
{
	return ((unsigned)header >> 14 & FXT_BITS(2, 5)) | ((unsigned)header >> 4 & FXT_BITS(0, 1));
}

/* The sizes that a plain event may have, by its last word: bit n for n words. A counter always has arguments. */
#define FXT_PLAIN_SIZES(last)                                                                                          \
	((last) == FXT_LAST_NONE         ? 1 << 2                                                                      \
	 : (last) == FXT_LAST_SCOPE      ? 1 << 2 | 1 << 3                                                             \
	 : (last) == FXT_LAST_COUNTER_ID ? 0                                                                           \
	                                 : 1 << 3)

/* Whether a plain event of this type can have this size: four bits for each type. */
static inline bool fxt_shape_fits(unsigned shape)
{
#define X(type, row, call, last) | (uint64_t)FXT_PLAIN_SIZES(last) << 4 * (type)
	return (0 FXT_EVENT_LIST(X)) >> shape & 1;
#undef X
}

/* Whether a header is that of a plain event whose size is right. */
static inline bool fxt_is_plain(uint64_t header)
{
	return (header & FXT_PLAIN_BITS) == TW_FXT_TYPE_EVENT && tw_bits(header, 24, 31) != 0 &&
	       fxt_shape_fits(fxt_plain_shape(header));
}

/* What the header of an argument must look like whose name, and text if it is one, is an index: header & mask ==
 * value. */
struct fxt_plain_argument {
	/* Of size, reserved bits, and that no text is inline; for all other types what no header has. */
	uint64_t mask, value;
};

extern const struct fxt_plain_argument fxt_plain_arguments[FXT_TYPES];

static inline bool fxt_is_plain_argument(uint64_t header)
{
	const struct fxt_plain_argument *plain = &fxt_plain_arguments[fxt_type(header)];
	return (header & plain->mask) == plain->value;
}

/* The koids behind the time of a context switch (2) or wake-up (1) without arguments, which come in millions. 0: it is
 * another record, or its size is wrong. */
static inline uint32_t fxt_plain_koids(uint64_t header)
{
	static const uint64_t plain = FXT_BITS(0, 19) | FXT_BITS(60, 63);
	static const uint64_t a_switch = TW_FXT_TYPE_SCHEDULING | FXT_SWITCH_WORDS << 4 | (uint64_t)FXT_SWITCH << 60;
	static const uint64_t a_wakeup = TW_FXT_TYPE_SCHEDULING | FXT_WAKEUP_WORDS << 4 | (uint64_t)FXT_WAKEUP << 60;
	if ((header & (plain | FXT_BITS(40, 59))) == a_switch)
		return 2;
	return (header & (plain | FXT_BITS(36, 59))) == a_wakeup;
}

/* Returns the size in words of the record that begins at `bytes` with this header, if what the header says about its
 * contents adds up to that size exactly and no reserved bit is set; 0 otherwise: then tw_fxt_next() decides. left_words
 * are there. Padding is not looked at. */
static inline uint32_t fxt_measure(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT ? fxt_measure_event(header, bytes, left_words, big)
	                                             : fxt_measure_other(header, bytes, left_words, big);
}

#endif
