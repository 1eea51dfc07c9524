/* measure.c - what records other than plain events must measure. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"

const uint16_t fxt_event_words[FXT_TYPES] = {
#define X(type, row, call, last) FXT_EVENT_WORDS(last),
    FXT_EVENT_LIST(X) FXT_NEVER, FXT_NEVER, FXT_NEVER, FXT_NEVER, FXT_NEVER,
#undef X
};

/* Whether an argument of known type fills its size exactly, with no reserved bits. */
static bool is_exact(uint64_t header, uint32_t size)
{
	const struct fxt_argument_kind *kind = &fxt_argument_kinds[fxt_type(header)];
	uint64_t words = kind->words + fxt_text_words(header >> 16);
	if (kind->value == FXT_VALUE_TEXT)
		words += fxt_text_words(header >> 32);
	else if (kind->value == FXT_VALUE_BYTES)
		words += fxt_words(header >> 32);
	return kind->words && !(header & kind->reserved) && words == size;
}

/* Where `count` arguments end that begin at word `at` of a record of `end` words; 0 when one of them is of an unknown
 * type, has reserved bits or a size that is not exactly what it holds. */
static uint32_t arguments_end(uint64_t count, uint32_t at, const uint8_t *bytes, uint32_t end, bool big)
{
	for (; count; count--) {
		if (at >= end)
			return 0;
		uint64_t header = tw_load64(bytes + (size_t)at * TW_FXT_WORD, big);
		uint32_t size = (uint32_t)tw_bits(header, 4, 15);
		if (size > end - at || !is_exact(header, size))
			return 0;
		at += size;
	}
	return at;
}

/* A record of `size` words, or as many of them as are here. */
struct measured {
	uint64_t headers[2]; /* the second is a large blob's */
	const uint8_t *bytes;
	uint32_t size;
	bool big, wide; /* both koids of a process stand in the record */
};

/* The second header of a large blob, which begins at word `at`. False where it has reserved bits. */
static bool take_second(struct measured *record, uint32_t at)
{
	uint64_t format = tw_bits(record->headers[0], 40, 43);
	if (at >= record->size)
		return false;
	record->headers[1] = tw_load64(record->bytes + (size_t)at * TW_FXT_WORD, record->big);
	return !(record->headers[1] & fxt_blob_reserved((unsigned)format));
}

/* Where a field ends that begins at word `at`; 0 where it does not agree with the record. */
static uint32_t field_end(const struct fxt_record_field *field, struct measured *record, uint32_t at)
{
	const uint64_t bits = tw_bits(record->headers[field->low / 64], field->low % 64, field->high % 64);
	switch ((enum fxt_field_form)field->form) {
	case FXT_FIELD_BITS:
		return at;
	case FXT_FIELD_WORD:
		return at + 1;
	case FXT_FIELD_STRING:
		return at + fxt_text_words(bits);
	case FXT_FIELD_THREAD:
		return at + fxt_thread_words(bits);
	case FXT_FIELD_PROCESS:
		return at + (bits ? 0 : 1 + record->wide);
	case FXT_FIELD_NAME:
	case FXT_FIELD_PAYLOAD:
		return at + (uint32_t)fxt_words(bits);
	case FXT_FIELD_ADDRESSES:
		return at + (uint32_t)bits;
	case FXT_FIELD_ARGUMENTS:
		return arguments_end(bits, at, record->bytes, record->size, record->big);
	case FXT_FIELD_SCOPE:
		return at + (at + 1 == record->size);
	case FXT_FIELD_BASE:
		return at + (at + 2 == record->size ? 2 : 0);
	case FXT_FIELD_SECOND:
		return take_second(record, at) ? at + 1 : 0;
	case FXT_FIELD_LARGE:
	case FXT_FIELD_REST:
	case FXT_FIELDS_END:
		break;
	}
	return 0;
}

/* Where the fields of a record end, of a large blob those before its bytes; 0 where they do not agree. */
static uint32_t fields_end(enum tw_fxt_kind kind, struct measured *record)
{
	const struct fxt_record_field *field = fxt_fields(kind, tw_bits(record->headers[0], 40, 43));
	uint32_t at = 1;
	for (; at && field->form != FXT_FIELDS_END && field->form != FXT_FIELD_LARGE; field++)
		at = field_end(field, record, at);
	return at;
}

bool fxt_is_large(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	uint32_t size = fxt_size(header), here = size < left_words ? size : (uint32_t)left_words;
	struct measured record = {.headers = {header}, .bytes = bytes, .size = here, .big = big};
	if (fxt_kind(header) != TW_FXT_LARGE_BLOB || (header & fxt_reserved(TW_FXT_LARGE_BLOB)))
		return false;
	uint32_t words = fields_end(TW_FXT_LARGE_BLOB, &record);
	if (!words || words >= here)
		return false;
	uint64_t length = tw_load64(bytes + (size_t)words * TW_FXT_WORD, big);
	uint32_t rest = size - words - 1;
	return length <= (uint64_t)rest * TW_FXT_WORD && fxt_words(length) == rest;
}

uint32_t fxt_measure_more(uint64_t header, const uint8_t *bytes, uint32_t fixed, bool big)
{
	uint32_t size = (uint32_t)tw_bits(header, 4, 15);
	uint32_t behind = fxt_event_words[tw_bits(header, 16, 19)] - 2u;
	uint32_t words = fixed - behind + fxt_text_words(header >> 32) + fxt_text_words(header >> 48);
	words = arguments_end(tw_bits(header, 20, 23), words, bytes, size, big);
	return words ? words + behind : FXT_NEVER;
}

uint32_t fxt_measure_other(uint64_t header, const uint8_t *bytes, size_t left_words, bool big)
{
	uint32_t koids = fxt_plain_koids(header);
	if (koids && left_words >= 2 + koids)
		return 2 + koids;
	enum tw_fxt_kind kind = fxt_kind(header);
	uint32_t size = fxt_size(header);
	struct measured record = {.headers = {header}, .bytes = bytes, .size = size, .big = big};
	if (kind == TW_FXT_UNKNOWN || !size || size > left_words || (header & fxt_reserved(kind)))
		return 0;
	if (kind == TW_FXT_LARGE_BLOB)
		return fxt_is_large(header, bytes, left_words, big) ? size : 0;
	if (fields_end(kind, &record) == size)
		return size;
	record.wide = true;
	return fxt_record_kinds[kind].has_process && fields_end(kind, &record) == size ? size : 0;
}
