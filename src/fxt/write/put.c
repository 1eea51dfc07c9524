/* put.c - arguments of FXT records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/put.h"

/* The value of an argument: the document, "Argument Types". */
struct value {
	uint64_t header; /* type, and bits 32 to 63 */
	uint64_t word;
	bool has_word;
	const uint8_t *bytes; /* a stream */
	uint64_t size;
	bool unknown; /* of a type that has a meaning only to its writer */
};

static struct value in_header(enum tw_fxt_argument_type type, uint32_t value)
{
	return (struct value){.header = type | (uint64_t)value << 32};
}

static struct value in_word(enum tw_fxt_argument_type type, uint64_t word)
{
	return (struct value){.header = type, .word = word, .has_word = true};
}

static struct value in_stream(enum tw_fxt_argument_type type, const struct tw_argument *argument)
{
	return (struct value){.header = type, .bytes = argument->value.bytes, .size = argument->size};
}

/* What an unknown type has is whole words. */
static bool is_unknown(const struct tw_argument *argument)
{
	return (argument->raw & ~(FXT_RAW_BIG | FXT_RAW_TYPE)) == FXT_RAW &&
	       (argument->raw & FXT_RAW_TYPE) > TW_FXT_ARG_BLOB && argument->size % TW_FXT_WORD == 0;
}

static struct value of_bytes(const struct tw_argument *argument)
{
	struct value value = in_stream(TW_FXT_ARG_BLOB, argument);
	value.unknown = is_unknown(argument);
	if (value.unknown)
		value.header = (argument->raw & FXT_RAW_TYPE) | (uint64_t)argument->raw_more << 32;
	return value;
}

static struct value of_double(double number)
{
	uint64_t word;
	memcpy(&word, &number, sizeof word);
	return in_word(TW_FXT_ARG_DOUBLE, word);
}

/* Numbers that fit 32 bits take that form, as the document asks. */
static struct value of_int(int64_t number)
{
	if (number < INT32_MIN || number > INT32_MAX)
		return in_word(TW_FXT_ARG_INT64, (uint64_t)number);
	return in_header(TW_FXT_ARG_INT32, (uint32_t)number);
}

static struct value of_uint(uint64_t number)
{
	return number > UINT32_MAX ? in_word(TW_FXT_ARG_UINT64, number)
	                           : in_header(TW_FXT_ARG_UINT32, (uint32_t)number);
}

static struct value value_of(const struct tw_argument *argument)
{
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		break;
	case TW_ARG_BOOL:
		return in_header(TW_FXT_ARG_BOOL, argument->value.u != 0);
	case TW_ARG_INT:
		return of_int(argument->value.i);
	case TW_ARG_UINT:
		return of_uint(argument->value.u);
	case TW_ARG_POINTER:
		return in_word(TW_FXT_ARG_POINTER, argument->value.u);
	case TW_ARG_KOID:
		return in_word(TW_FXT_ARG_KOID, argument->value.u);
	case TW_ARG_DOUBLE:
		return of_double(argument->value.d);
	case TW_ARG_TEXT:
		return in_stream(TW_FXT_ARG_STRING, argument);
	case TW_ARG_BYTES:
		return of_bytes(argument);
	}
	return in_header(TW_FXT_ARG_NULL, 0);
}

size_t fxt_cut_text(const char *text, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	size_t end = limit;
	while (end > 0 && limit - end < 3 && ((uint8_t)text[end] & 0xc0) == 0x80)
		end--;
	return ((uint8_t)text[end] & 0xc0) == 0x80 ? limit : end;
}

/* Cuts a stream to what fits in `room` words, and says so in the header. */
static enum fxt_fit limit_stream(struct value *value, size_t room)
{
	bool text = value->header == TW_FXT_ARG_STRING;
	size_t limit = room * TW_FXT_WORD;
	if (value->unknown)
		return value->size > limit ? FXT_NO_ROOM : FXT_FITS;
	if (text && limit > TW_FXT_STRING_MAX)
		limit = TW_FXT_STRING_MAX;
	bool cut = value->size > limit;
	if (cut)
		value->size = text ? fxt_cut_text((const char *)value->bytes, (size_t)value->size, limit) : limit;
	if (text && value->size)
		value->header |= (TW_FXT_STRING_INLINE | value->size) << 32;
	else if (!text)
		value->header |= value->size << 32;
	return cut ? FXT_CUT_SHORT : FXT_FITS;
}

/* As repair has it, and as all that the format is made of. */
static void put_turned(struct fxt_put *put, const struct value *value)
{
	for (size_t at = 0; at < value->size; at += TW_FXT_WORD)
		fxt_put_word(put, tw_load64(value->bytes + at, !put->big));
}

enum fxt_fit fxt_put_argument(struct fxt_put *put, const struct fxt_label *name, const struct tw_argument *argument,
                              size_t reserved)
{
	struct value value = value_of(argument);
	enum fxt_fit fit = FXT_FITS;
	size_t name_words = fxt_text_words(name->reference);
	size_t need = 1 + name_words + value.has_word + reserved;
	size_t left = fxt_put_left(put);
	if (left < need || (value.size && left == need))
		return FXT_NO_ROOM;
	if (argument->type >= TW_ARG_TEXT)
		fit = limit_stream(&value, left - need);
	if (fit == FXT_NO_ROOM)
		return fit;
	uint64_t words = 1 + name_words + value.has_word + fxt_words(value.size);
	fxt_put_word(put, value.header | words << 4 | (uint64_t)name->reference << 16);
	fxt_put_label(put, name);
	if (value.has_word)
		fxt_put_word(put, value.word);
	const bool big = argument->raw & FXT_RAW_BIG;
	if (value.unknown && big != put->big)
		put_turned(put, &value);
	else
		fxt_put_stream(put, value.bytes, (size_t)value.size);
	return fit;
}

enum fxt_fit fxt_put_reference(struct fxt_put *put, const struct fxt_label *name, uint16_t text, size_t reserved)
{
	uint64_t words = 1 + fxt_text_words(name->reference);
	if (fxt_put_left(put) < words + reserved)
		return FXT_NO_ROOM;
	fxt_put_word(put, TW_FXT_ARG_STRING | words << 4 | (uint64_t)name->reference << 16 | (uint64_t)text << 32);
	fxt_put_label(put, name);
	return FXT_FITS;
}
