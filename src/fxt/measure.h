/* measure.h - whether a record's header and its size agree, told without decoding it: for the loop that hops over
 * records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MEASURE_H
#define FXT_MEASURE_H

#include "fxt/layout.h"

/* More words than a record can have: no size agrees with it. */
enum { FXT_NEVER = 2 * TW_FXT_RECORD_MAX };

/* What is seldom needed: words of an event with texts or arguments whose fixed part is of `fixed` words, FXT_NEVER when
 * they do not agree with themselves; and fxt_measure() of all that is not an event. */
uint32_t fxt_measure_more(uint64_t header, const uint8_t *bytes, uint32_t fixed, bool big);
uint32_t fxt_measure_other(uint64_t header, const uint8_t *bytes, size_t left_words, bool big);

/* fxt_measure() of an event. `make bench` measures info. */
static inline uint32_t fxt_measure_event(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	/* Header and time, and what stands behind the arguments. */
	static const uint16_t fixed[FXT_TYPES] = {2, 3, 2, 2,         3,         3,         3,         3,
	                                          3, 3, 3, FXT_NEVER, FXT_NEVER, FXT_NEVER, FXT_NEVER, FXT_NEVER};
	static const uint64_t more = FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63);
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint32_t size = (uint32_t)tw_bits(header, 4, 15);
	uint32_t words = fixed[type] + fxt_thread_words(tw_bits(header, 24, 31));
	if (size > left_words)
		return 0;
	if (header & more)
		words = fxt_measure_more(header, bytes, words, big);
	/* An instant may have a scope word. */
	return size - words <= (type == 0) ? size : 0;
}

enum { FXT_PLAIN_MAX = 3 }; /* words of an event without texts, arguments and koids */

/* What says that a header is that of such an event. */
#define FXT_PLAIN_BITS (FXT_BITS(0, 3) | FXT_BITS(6, 15) | FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63))

/* Its type and size, four numbers for each type. */
enum { FXT_SHAPES = 4 * FXT_TYPES };

static inline unsigned fxt_shape(uint64_t header)
{
	return ((unsigned)header >> 14 & FXT_BITS(2, 5)) | ((unsigned)header >> 4 & FXT_BITS(0, 1));
}

/* Whether a type can be of that size: a digit for each type, the last is that of instants. */
static inline bool fxt_shape_fits(unsigned shape)
{
	return UINT64_C(0x8888888440c) >> shape & 1;
}

/* Whether a header is that of such an event, and its size is right. */
static inline bool fxt_is_plain(uint64_t header)
{
	return (header & FXT_PLAIN_BITS) == TW_FXT_TYPE_EVENT && tw_bits(header, 24, 31) != 0 &&
	       fxt_shape_fits(fxt_shape(header));
}

/* What the header of an argument must be whose name, and text, is an index: in the bits of the mask this value. */
struct fxt_plain_argument {
	uint64_t mask, value; /* size, reserved bits, and whether a text is in the record; of no other type: 0 */
};

extern const struct fxt_plain_argument fxt_plain_arguments[FXT_TYPES];

static inline bool fxt_is_plain_argument(uint64_t header)
{
	const struct fxt_plain_argument *plain = &fxt_plain_arguments[fxt_type(header)];
	return plain->value && (header & plain->mask) == plain->value;
}

/* What comes in millions: context switches and wake-ups without arguments. How many koids one has behind its time; 0:
 * it is another record, or has not the size that it should have. */
static inline uint32_t fxt_plain_koids(uint64_t header)
{
	static const uint64_t plain = FXT_BITS(0, 19) | FXT_BITS(60, 63);
	static const uint64_t a_switch = TW_FXT_TYPE_SCHEDULING | 4 << 4 | UINT64_C(1) << 60;
	static const uint64_t a_wakeup = TW_FXT_TYPE_SCHEDULING | 3 << 4 | UINT64_C(2) << 60;
	if ((header & (plain | FXT_BITS(40, 59))) == a_switch)
		return 2;
	return (header & (plain | FXT_BITS(36, 59))) == a_wakeup;
}

/* Words of the record that begins with this header, if all that its header says about its contents adds up to its size
 * exactly, with no reserved bits set; 0 otherwise: then tw_fxt_next() decides. bytes begin with the header; left_words
 * are there. Padding is not looked at. */
static inline uint32_t fxt_measure(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT ? fxt_measure_event(header, bytes, left_words, big)
	                                             : fxt_measure_other(header, bytes, left_words, big);
}

#endif
