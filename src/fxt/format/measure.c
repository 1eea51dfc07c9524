/* measure.c - what records other than plain events must measure. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/measure.h"

/* Words of an argument without the text of its name; 0 for an unknown type. */
static uint64_t value_words(uint64_t header)
{
	static const uint8_t fixed[FXT_TYPES] = {
	    [TW_FXT_ARG_NULL] = 1,   [TW_FXT_ARG_INT32] = 1,  [TW_FXT_ARG_UINT32] = 1, [TW_FXT_ARG_INT64] = 2,
	    [TW_FXT_ARG_UINT64] = 2, [TW_FXT_ARG_DOUBLE] = 2, [TW_FXT_ARG_STRING] = 1, [TW_FXT_ARG_POINTER] = 2,
	    [TW_FXT_ARG_KOID] = 2,   [TW_FXT_ARG_BOOL] = 1,   [TW_FXT_ARG_BLOB] = 1,
	};
	unsigned type = fxt_type(header);
	uint64_t words = fixed[type];
	if (type == TW_FXT_ARG_STRING)
		words += fxt_text_words(header >> 32);
	else if (type == TW_FXT_ARG_BLOB)
		words += fxt_words(header >> 32);
	return words;
}

/* Whether an argument of known type fills its size exactly, with no reserved bits. */
static inline bool is_exact(uint64_t header, uint32_t size)
{
	static const uint8_t fixed[FXT_TYPES] = {
	    [TW_FXT_ARG_INT32] = 1,  [TW_FXT_ARG_UINT32] = 1,  [TW_FXT_ARG_INT64] = 2, [TW_FXT_ARG_UINT64] = 2,
	    [TW_FXT_ARG_DOUBLE] = 2, [TW_FXT_ARG_POINTER] = 2, [TW_FXT_ARG_KOID] = 2,  [TW_FXT_ARG_BOOL] = 1,
	};
	if (header & fxt_argument_reserved(fxt_type(header)))
		return false;
	if (size == fixed[fxt_type(header)] && !(header >> 31 & 1))
		return size;
	uint64_t value = value_words(header);
	return value && value + fxt_text_words(header >> 16) == size;
}

/* Words of count arguments (1 or more) that begin at word `at` of a record of `end` words; 0 when one of them is of an
 * unknown type, has reserved bits or a size that is not exactly what it holds. */
static inline uint32_t arguments_words(const uint8_t *bytes, uint32_t at, uint32_t end, unsigned count, bool big)
{
	uint32_t start = at;
	for (; count; count--) {
		if (at >= end)
			return 0;
		uint64_t header = tw_load64(bytes + (size_t)at * TW_FXT_WORD, big);
		uint32_t size = (uint32_t)tw_bits(header, 4, 15);
		if (size > end - at || !is_exact(header, size))
			return 0;
		at += size;
	}
	return at - start;
}

/* The size of a record of `words` and arguments behind them; 0 when the arguments do not agree. */
static uint32_t with_arguments(uint64_t count, uint32_t words, const uint8_t *bytes, uint32_t size, bool big)
{
	if (!count)
		return words;
	uint32_t more = arguments_words(bytes, words, size, (unsigned)count, big);
	return more ? words + more : 0;
}

static uint32_t scheduling_words(enum tw_fxt_kind kind, uint64_t header, const uint8_t *bytes, uint32_t size, bool big)
{
	if (kind == TW_FXT_LEGACY_CONTEXT_SWITCH)
		return 2 + fxt_thread_words(tw_bits(header, 28, 35)) + fxt_thread_words(tw_bits(header, 36, 43));
	return with_arguments(tw_bits(header, 16, 19), kind == TW_FXT_CONTEXT_SWITCH ? 4 : 3, bytes, size, big);
}

/* An inline process is one word or two. */
static uint32_t userspace_words(uint64_t header, const uint8_t *bytes, uint32_t size, bool big)
{
	uint32_t words = 2 + fxt_text_words(header >> 24);
	uint64_t count = tw_bits(header, 40, 43);
	if (tw_bits(header, 16, 23))
		return with_arguments(count, words, bytes, size, big);
	uint32_t narrow = with_arguments(count, words + 1, bytes, size, big);
	return narrow == size ? narrow : with_arguments(count, words + 2, bytes, size, big);
}

static uint32_t profiler_words(enum tw_fxt_kind kind, uint64_t header, uint32_t size)
{
	uint32_t words = 2;
	if (kind == TW_FXT_PROFILER_MODULE)
		words += (uint32_t)(fxt_words(tw_bits(header, 44, 51)) + fxt_words(tw_bits(header, 52, 59)));
	else
		words += kind == TW_FXT_PROFILER_MMAP ? 3 : (uint32_t)tw_bits(header, 28, 35);
	if (tw_bits(header, 20, 27))
		return words;
	return words + 2 == size ? words + 2 : words + 1;
}

bool fxt_is_large(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	unsigned format = (unsigned)tw_bits(header, 40, 43);
	uint32_t size = fxt_size(header), here = size < left_words ? size : (uint32_t)left_words;
	uint64_t second = here > 1 ? tw_load64(bytes + TW_FXT_WORD, big) : UINT64_MAX;
	if (fxt_kind(header) != TW_FXT_LARGE_BLOB || (header & fxt_reserved(TW_FXT_LARGE_BLOB)) ||
	    (second & fxt_blob_reserved(format)))
		return false;
	uint32_t words = 2 + fxt_text_words(second) + fxt_text_words(second >> 16);
	if (format == 0) {
		words += tw_bits(second, 36, 43) ? 1 : 3;
		words = with_arguments(tw_bits(second, 32, 35), words, bytes, here, big);
	}
	if (!words || words >= here)
		return false;
	uint64_t length = tw_load64(bytes + (size_t)words * TW_FXT_WORD, big);
	uint32_t rest = size - words - 1;
	return length <= (uint64_t)rest * TW_FXT_WORD && fxt_words(length) == rest;
}

const struct fxt_plain_argument fxt_plain_arguments[FXT_TYPES] = {
#define PLAIN(words, reserved) FXT_BITS(4, 15) | FXT_BITS(31, 31) | (reserved), (words) << 4
#define NEVER 0, 1
    [TW_FXT_ARG_NULL] = {PLAIN(1, FXT_BITS(32, 63))},
    [TW_FXT_ARG_INT32] = {PLAIN(1, 0)},
    [TW_FXT_ARG_UINT32] = {PLAIN(1, 0)},
    [TW_FXT_ARG_INT64] = {PLAIN(2, FXT_BITS(32, 63))},
    [TW_FXT_ARG_UINT64] = {PLAIN(2, FXT_BITS(32, 63))},
    [TW_FXT_ARG_DOUBLE] = {PLAIN(2, FXT_BITS(32, 63))},
    [TW_FXT_ARG_STRING] = {PLAIN(1, FXT_BITS(47, 63))},
    [TW_FXT_ARG_POINTER] = {PLAIN(2, FXT_BITS(32, 63))},
    [TW_FXT_ARG_KOID] = {PLAIN(2, FXT_BITS(32, 63))},
    [TW_FXT_ARG_BOOL] = {PLAIN(1, FXT_BITS(33, 63))},
    [TW_FXT_ARG_BLOB] = {NEVER},
    [11] = {NEVER},
    [12] = {NEVER},
    [13] = {NEVER},
    [14] = {NEVER},
    [15] = {NEVER},
#undef NEVER
#undef PLAIN
};

/* Words of plain arguments; 0 when there are others. */
static uint32_t plain_arguments_words(const uint8_t *bytes, uint32_t at, uint32_t end, unsigned count, bool big)
{
	uint32_t start = at;
	for (; count && at < end; count--) {
		uint64_t header = tw_load64(bytes + (size_t)at * TW_FXT_WORD, big);
		if (!fxt_is_plain_argument(header))
			return 0;
		at += (uint32_t)tw_bits(header, 4, 15);
	}
	return count ? 0 : at - start;
}

uint32_t fxt_measure_more(uint64_t header, const uint8_t *bytes, uint32_t fixed, bool big)
{
	uint32_t size = (uint32_t)tw_bits(header, 4, 15), count = (uint32_t)tw_bits(header, 20, 23);
	uint32_t behind = fxt_event_extra((enum tw_fxt_kind)(TW_FXT_INSTANT + tw_bits(header, 16, 19)));
	uint32_t words = fixed - behind;
	if (header & (FXT_BITS(47, 47) | FXT_BITS(63, 63)))
		words += fxt_text_words(header >> 32) + fxt_text_words(header >> 48);
	uint32_t plain = plain_arguments_words(bytes, words, size, count, big);
	uint32_t before = plain ? words + plain : with_arguments(count, words, bytes, size, big);
	return before ? before + behind : FXT_NEVER;
}

/* Words of a record of this kind by its header; 0 when there is no telling. */
static uint32_t words_of(enum tw_fxt_kind kind, uint64_t header, const uint8_t *bytes, uint32_t size, bool big)
{
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
		return 1 + (kind == TW_FXT_PROVIDER_INFO ? (uint32_t)fxt_words(tw_bits(header, 52, 59)) : 0);
	case TW_FXT_TYPE_INITIALIZATION:
		return size == 4 ? 4 : 2;
	case TW_FXT_TYPE_STRING:
		return 1 + (uint32_t)fxt_words(tw_bits(header, 32, 46));
	case TW_FXT_TYPE_THREAD:
		return 3;
	case TW_FXT_TYPE_BLOB:
		return 1 + fxt_text_words(header >> 16) + (uint32_t)fxt_words(tw_bits(header, 32, 46));
	case TW_FXT_TYPE_USERSPACE_OBJECT:
		return userspace_words(header, bytes, size, big);
	case TW_FXT_TYPE_KERNEL_OBJECT:
		return with_arguments(tw_bits(header, 40, 43), 2 + fxt_text_words(header >> 24), bytes, size, big);
	case TW_FXT_TYPE_SCHEDULING:
		return scheduling_words(kind, header, bytes, size, big);
	case TW_FXT_TYPE_LOG:
		return 2 + fxt_thread_words(tw_bits(header, 32, 39)) + (uint32_t)fxt_words(tw_bits(header, 16, 30));
	case TW_FXT_TYPE_PROFILER:
		return profiler_words(kind, header, size);
	case TW_FXT_TYPE_LARGE:
		return fxt_is_large(header, bytes, size, big) ? size : 0;
	default:
		return 0;
	}
}

uint32_t fxt_measure_other(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	uint32_t koids = fxt_plain_koids(header);
	if (koids && left_words >= 2 + koids)
		return 2 + koids;
	enum tw_fxt_kind kind = fxt_kind(header);
	uint32_t size = fxt_size(header);
	if (kind == TW_FXT_UNKNOWN || !size || size > left_words || (header & fxt_reserved(kind)))
		return 0;
	return words_of(kind, header, bytes, size, big) == size ? size : 0;
}
