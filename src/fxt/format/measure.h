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

/* Words of an event by its type, without koids, texts and arguments; FXT_NEVER where there is no such type. */
extern const uint16_t fxt_event_words[FXT_TYPES];

/* fxt_measure() of an event. `make bench` measures info. */
static inline uint32_t fxt_measure_event(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	static const uint64_t more = FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63);
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint32_t size = (uint32_t)tw_bits(header, 4, 15);
	uint32_t words = fxt_event_words[type] + fxt_thread_words(tw_bits(header, 24, 31));
	if (size > left_words)
		return 0;
	if (header & more)
		words = fxt_measure_more(header, bytes, words, big);
	/* An instant may have a scope word. */
	return size - words <= (type == FXT_INSTANT) ? size : 0;
}

/* A context switch or a wake-up, as its header tells it. */
struct fxt_switch {
	uint32_t koids;     /* of threads, behind the time: 2 of a switch, 1 of a wake-up; 0: the record is neither */
	uint32_t arguments; /* behind the koids */
	uint16_t cpu;
	uint8_t state; /* of a switch: that of the thread that leaves */
};

static inline struct fxt_switch fxt_switch(uint64_t header)
{
	const uint64_t type = tw_bits(header, 60, 63);
	const bool is_switch = type == FXT_SWITCH, is_either = is_switch || type == FXT_WAKEUP;
	return (struct fxt_switch){
	    .koids = fxt_type(header) == TW_FXT_TYPE_SCHEDULING && is_either ? 1 + is_switch : 0,
	    .arguments = (uint32_t)tw_bits(header, 16, 19),
	    .cpu = (uint16_t)tw_bits(header, 20, 35),
	    .state = is_switch ? (uint8_t)tw_bits(header, 36, 39) : 0,
	};
}

/* The place of a koid in a context switch or a wake-up; behind the last one stand the arguments. */
static inline size_t fxt_switch_koid(uint32_t number)
{
	return (2 + number) * (size_t)TW_FXT_WORD;
}

/* The koids of a context switch or wake-up without arguments, which come in millions. 0: it is another record, or its
 * size is wrong, or a reserved bit is set. */
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
