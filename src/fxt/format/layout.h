/* layout.h - what FXT headers say, by the document's bit numbers: for decoding, encoding and measuring. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_FORMAT_LAYOUT_H
#define FXT_FORMAT_LAYOUT_H

#include "base/bytes/bytes.h"
#include "fxt/format/kinds.h"

#include <trackway/fxt.h>

#include <limits.h>

/* ---- What FXT headers say, by the document's bit numbers: for decoding, encoding and measuring. ---- */

enum { FXT_TEXT_MAX = 0x7fff }; /* bytes of an inline text: 15 bits */

/* The types of kernel object that the document gives a meaning: zircon/types.h, ZX_OBJ_TYPE_. */
enum { FXT_OBJECT_PROCESS = 1, FXT_OBJECT_THREAD = 2 };

/* Arguments by which objects of a process and of threads tell what their recorder lost: doc/recording.md. */
#define FXT_EVENTS_DROPPED "events_dropped"
#define FXT_BYTES_OVERWRITTEN "bytes_overwritten"
#define FXT_EVENTS_CUT "events_cut"
#define FXT_SCOPES_TOO_DEEP "scopes_unkept"
#define FXT_CHILDREN_UNRECORDED_COUNT "children_unrecorded"
#define FXT_CHILD_UNRECORDED_LAST "child_unrecorded_last"
#define FXT_RECORDER_GONE "recorder_gone"
#define FXT_BYTES_DAMAGED "bytes_damaged"

/* Bit 63 marks koids that no kernel has given out, as Fuchsia's engine has it; bit 62 those that are ours, and bit 61
 * of these what nothing registers: which table of a provider's it is, then 8 bits of the index. */
#define FXT_INVENTED (UINT64_C(3) << 62)
#define FXT_INVENTED_UNDEFINED (UINT64_C(7) << 61)

/* The scope of an instant, the word behind its arguments: 0 thread, 1 process, 2 global. The engine writes it; the
 * document does not tell of it. */
enum { FXT_SCOPE_MAX = 2 };

/* The types of scheduling record, bits 60 to 63: the document, "Scheduling Record". */
enum fxt_scheduling_type { FXT_LEGACY_SWITCH, FXT_SWITCH, FXT_WAKEUP };

/* Words of those without arguments, and the states of a thread that leaves a CPU, bits 36 to 39. */
enum {
	FXT_SWITCH_WORDS = 4,
	FXT_WAKEUP_WORDS = 3,
	FXT_STATE_KNOWN = 5, /* the last that the document tells: "Context Switch Record" */
	FXT_STATE_MAX = 15   /* the greatest that there is room for */
};

/* Words that a stream takes. bytes is at most 2^64 - 8. */
static inline uint64_t fxt_words(uint64_t bytes)
{
	return (bytes + TW_FXT_WORD - 1) / TW_FXT_WORD;
}

/* Bytes that are shown of what may be larger than memory: the walk leaves so many with the header of their record. */
enum { FXT_SHOWN = 4096 };

/* Words of the text that a reference puts into the record; none for an index. */
static inline uint32_t fxt_text_words(uint64_t reference)
{
	uint32_t is_inline = 0u - (uint32_t)(reference >> 15 & 1);
	return is_inline & (uint32_t)fxt_words(reference & FXT_TEXT_MAX);
}

/* Words of the koids that a thread reference puts into the record; none for an index. */
static inline uint32_t fxt_thread_words(uint64_t index)
{
	return index ? 0 : 2;
}

static inline unsigned fxt_type(uint64_t header)
{
	return (unsigned)tw_bits(header, 0, 3);
}

/* The size of a record in words, as its header has it. */
static inline uint32_t fxt_size(uint64_t header)
{
	return (uint32_t)(fxt_type(header) == TW_FXT_TYPE_LARGE ? tw_bits(header, 4, 35) : tw_bits(header, 4, 15));
}

/* The lowest of the 4 bits of the subtype that records of a type have; 0: they have none. */
static inline unsigned fxt_subtype_bit(unsigned type)
{
	static const uint8_t low[FXT_TYPES] = {
	    [TW_FXT_TYPE_METADATA] = 16, [TW_FXT_TYPE_EVENT] = 16, [TW_FXT_TYPE_SCHEDULING] = 60,
	    [TW_FXT_TYPE_PROFILER] = 16, [TW_FXT_TYPE_LARGE] = 36,
	};
	return low[type];
}

/* The subtype of a record, 0 where its type has none. */
static inline unsigned fxt_subtype(uint64_t header)
{
	unsigned bit = fxt_subtype_bit(fxt_type(header));
	return bit ? (unsigned)(header >> bit & 0xf) : 0;
}

/* What kind of record has this header. */
static inline enum tw_fxt_kind fxt_kind(uint64_t header)
{
	enum tw_fxt_kind kind = (enum tw_fxt_kind)fxt_kinds_by_type[fxt_type(header)][fxt_subtype(header)];
	if (kind == TW_FXT_MAGIC && header != TW_FXT_MAGIC_WORD)
		return TW_FXT_UNKNOWN; /* another kind of trace information */
	if (kind == TW_FXT_LARGE_BLOB && tw_bits(header, 40, 43) > 1)
		return TW_FXT_UNKNOWN; /* another blob format */
	return kind;
}

/* The bits of a header that must be 0. */
static inline uint64_t fxt_reserved(enum tw_fxt_kind kind)
{
	return fxt_record_kinds[kind].reserved;
}

static inline bool fxt_has_time(const struct tw_fxt_record *record)
{
	return fxt_record_kinds[record->kind].timed || (record->kind == TW_FXT_LARGE_BLOB && record->format == 0);
}

/* The bits that must be 0 in the second word of a large blob. */
static inline uint64_t fxt_blob_reserved(unsigned format)
{
	return format == 0 ? FXT_BITS(44, 63) : FXT_BITS(32, 63);
}

/* The value of an argument that stands in its header; 0: it stands elsewhere. */
static inline uint64_t fxt_value_in_header(uint64_t header)
{
	const uint64_t upper = header >> 32;
	switch (fxt_argument_kinds[fxt_type(header)].value) {
	case FXT_VALUE_SIGNED:
		return (uint64_t)(int64_t)(int32_t)(uint32_t)upper;
	case FXT_VALUE_BIT:
		return upper & 1;
	case FXT_VALUE_UPPER:
	case FXT_VALUE_UNKNOWN:
		return upper;
	default:
		return 0;
	}
}

/* The place of a member of a record in the bytes of a number: its last ones, where the host is big endian. */
static inline size_t fxt_number_at(const struct fxt_record_field *field)
{
	return TW_HOST_IS_BIG ? sizeof(uint64_t) - field->member_size : 0;
}

/* The number in a member of a record. */
static inline uint64_t fxt_number(const struct tw_fxt_record *record, const struct fxt_record_field *field)
{
	uint64_t number = 0;
	memcpy((uint8_t *)&number + fxt_number_at(field), (const uint8_t *)record + field->member, field->member_size);
	return number;
}

static inline void fxt_set_number(struct tw_fxt_record *record, const struct fxt_record_field *field, uint64_t number)
{
	memcpy((uint8_t *)record + field->member, (uint8_t *)&number + fxt_number_at(field), field->member_size);
}

static inline bool fxt_is_number(unsigned type)
{
	return type >= TW_FXT_ARG_INT32 && type <= TW_FXT_ARG_DOUBLE;
}

/* Whether a text in a record is ASCII, short enough and followed by zeros. */
static inline bool fxt_is_ascii(const uint8_t *bytes, uint64_t length)
{
	static const uint64_t high_bits = UINT64_C(0x8080808080808080);
	uint64_t all = 0, last = 0;
	for (uint64_t at = 0; at < length; at += TW_FXT_WORD) {
		last = tw_load64(bytes + at, false);
		all |= last;
	}
	uint64_t used = length % TW_FXT_WORD * CHAR_BIT;
	return !(all & high_bits) && (used == 0 || last >> used == 0) && length <= TW_FXT_STRING_MAX;
}

/* tw_argument.raw of an argument of unknown type, 11 to 15; raw_more has bits 32 to 63 of its header. The low bits are
 * the type. */
enum {
	FXT_RAW = 'f' << 8,   /* of FXT */
	FXT_RAW_BIG = 1 << 4, /* the bytes are words of a big-endian archive */
	FXT_RAW_TYPE = 15
};

/* ---- Whether the size of a record agrees with its header, told without decoding it. ---- */

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
