/* encode.c - records of an FXT archive to bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"

#include <trackway/fxt.h>

/* Where a record is put together. Everything is counted, and written as far as there is room. */
struct encoding {
	uint8_t *bytes;
	size_t room;
	uint64_t at;
	uint64_t later;      /* bytes of the record that the caller writes behind these */
	uint64_t headers[2]; /* the second is a large blob's */
	uint64_t second_at;  /* where that stands; 0: there is none */
	bool big;
	bool as_found; /* the record is written back */
	bool wrong;    /* a value that no record can hold */
};

/* Bytes of the largest record: 32 bits count its words. */
#define RECORD_MOST ((uint64_t)UINT32_MAX * TW_FXT_WORD)

/* ---- Fields, words, streams. ---- */

static uint64_t field(struct encoding *out, unsigned low, unsigned high, uint64_t value)
{
	out->wrong |= value > tw_bits(UINT64_MAX, low, high);
	return value << low;
}

static void put_word(struct encoding *out, uint64_t word)
{
	if (out->at <= out->room && out->room - out->at >= TW_FXT_WORD)
		tw_store64(out->bytes + out->at, word, out->big);
	out->at += TW_FXT_WORD;
}

static void put_stream(struct encoding *out, const uint8_t *bytes, uint64_t length)
{
	if (length > RECORD_MOST || (length && !bytes)) {
		out->wrong = true;
		return;
	}
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	if (size && out->at <= out->room && out->room - out->at >= size) {
		memset(out->bytes + out->at + size - TW_FXT_WORD, 0, TW_FXT_WORD);
		memcpy(out->bytes + out->at, bytes, (size_t)length);
	}
	out->at += size;
}

/* Puts words that are kept as they were found. */
static void put_words(struct encoding *out, const uint8_t *bytes, uint64_t length)
{
	out->wrong |= length % TW_FXT_WORD != 0;
	put_stream(out, bytes, length);
}

static bool is_inline(const struct tw_fxt_string *string)
{
	return string->reference & TW_FXT_STRING_INLINE;
}

/* The 16 bits of a reference. A text that would not be written, or not as long as the reference says, is wrong; so is a
 * new one without a byte. */
static uint64_t reference(struct encoding *out, const struct tw_fxt_string *string)
{
	const unsigned stated = string->reference & ~(unsigned)TW_FXT_STRING_INLINE;
	if (is_inline(string))
		out->wrong |= (stated && stated != string->length) || (!string->length && !out->as_found);
	else
		out->wrong |= string->length != 0;
	return is_inline(string) ? TW_FXT_STRING_INLINE | field(out, 0, 14, string->length) : string->reference;
}

static void put_text(struct encoding *out, const struct tw_fxt_string *string)
{
	if (is_inline(string))
		put_stream(out, string->bytes, string->length);
}

/* wide: where the koids stand in the record, both do. */
static void put_thread(struct encoding *out, const struct tw_fxt_thread *thread, bool wide)
{
	if (thread->index)
		return;
	put_word(out, thread->process);
	if (wide)
		put_word(out, thread->thread);
}

/* ---- Arguments. ---- */

/* Of a type that does not fit into its bits nothing is written: then the record is wrong. */
static const struct fxt_argument_kind *kind_of(const struct tw_fxt_argument *argument)
{
	return &fxt_argument_kinds[argument->type % FXT_TYPES];
}

/* Puts the words of a value; returns its bits in the header, from bit 0 on. */
static uint64_t put_value(struct encoding *out, const struct tw_fxt_argument *argument)
{
	switch (kind_of(argument)->value) {
	case FXT_VALUE_NONE:
		return 0;
	case FXT_VALUE_SIGNED:
		out->wrong |= argument->value.i != (int32_t)argument->value.i;
		return (uint32_t)argument->value.i;
	case FXT_VALUE_BIT:
		return field(out, 0, 0, argument->value.u);
	case FXT_VALUE_WORD:
		put_word(out, argument->value.u);
		return 0;
	case FXT_VALUE_TEXT:
		put_text(out, &argument->text);
		return reference(out, &argument->text);
	case FXT_VALUE_BYTES:
		put_stream(out, argument->bytes, argument->size);
		return argument->size;
	case FXT_VALUE_UNKNOWN:
		put_words(out, argument->bytes, argument->size);
		break;
	case FXT_VALUE_UPPER:
		break;
	}
	return field(out, 0, 31, argument->value.u);
}

/* Puts a word at a place that was counted before. */
static void put_word_at(struct encoding *out, uint64_t at, uint64_t word)
{
	uint64_t end = out->at;
	out->at = at;
	put_word(out, word);
	out->at = end;
}

static void put_argument(struct encoding *out, const struct tw_fxt_argument *argument)
{
	uint64_t start = out->at;
	uint64_t header = field(out, 0, 3, argument->type);
	header |= reference(out, &argument->name) << 16;
	out->at += TW_FXT_WORD;
	put_text(out, &argument->name);
	header |= put_value(out, argument) << 32;
	put_words(out, argument->trailing, argument->trailing_size);
	put_word_at(out, start, header | field(out, 4, 15, (out->at - start) / TW_FXT_WORD));
}

static void put_arguments(struct encoding *out, const struct tw_fxt_record *record)
{
	unsigned count = record->argument_count;
	out->wrong |= count > TW_FXT_ARGUMENTS_MAX;
	for (unsigned i = 0; i < count && !out->wrong; i++)
		put_argument(out, &record->arguments[i]);
}

/* ---- Fields. ---- */

/* Bytes that may be more than memory: without them, what precedes them. */
static void put_part(struct encoding *out, const struct tw_fxt_record *record)
{
	if (record->payload || (!record->payload_size && record->trailing)) {
		put_stream(out, record->payload, record->payload_size);
		return;
	}
	out->wrong |= record->payload_size > RECORD_MOST || record->trailing_size > RECORD_MOST ||
	              record->trailing_size % TW_FXT_WORD != 0;
	out->later = fxt_words(record->payload_size) * TW_FXT_WORD + record->trailing_size;
}

/* An unknown record: its header is kept but for the size. */
static void put_rest(struct encoding *out, const struct tw_fxt_record *record)
{
	bool large = fxt_type(record->header) == TW_FXT_TYPE_LARGE;
	out->wrong |= record->payload_size % TW_FXT_WORD != 0;
	if (large)
		put_part(out, record);
	else
		put_stream(out, record->payload, record->payload_size);
	out->headers[0] |= record->header & (large ? FXT_BITS(36, 63) : FXT_BITS(16, 63));
}

static void put_base(struct encoding *out, const struct tw_fxt_record *record)
{
	if (!record->has_base)
		return;
	put_word(out, record->base_ticks);
	put_word(out, record->base_ns);
}

/* Puts the words of a field; returns its bits, from bit 0 on. */
static uint64_t put_field(struct encoding *out, const struct fxt_record_field *from, const struct tw_fxt_record *record)
{
	const void *member = (const uint8_t *)record + from->member;
	const struct tw_fxt_string *string = member;
	const struct tw_fxt_thread *thread = member;
	switch ((enum fxt_field_form)from->form) {
	case FXT_FIELDS_END:
		break;
	case FXT_FIELD_BITS:
		return fxt_number(record, from);
	case FXT_FIELD_WORD:
		put_word(out, fxt_number(record, from));
		break;
	case FXT_FIELD_STRING:
		put_text(out, string);
		return reference(out, string);
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS:
		put_thread(out, thread, from->form == FXT_FIELD_THREAD || record->wide_process);
		return thread->index;
	case FXT_FIELD_NAME:
		put_stream(out, record->name.bytes, record->name.length);
		return record->name.length;
	case FXT_FIELD_PAYLOAD:
		put_stream(out, record->payload, record->payload_size);
		return record->payload_size;
	case FXT_FIELD_ADDRESSES:
		put_words(out, record->payload, record->payload_size);
		return record->payload_size / TW_FXT_WORD;
	case FXT_FIELD_ARGUMENTS:
		put_arguments(out, record);
		return record->argument_count;
	case FXT_FIELD_SCOPE:
		if (record->has_scope)
			put_word(out, record->scope);
		break;
	case FXT_FIELD_BASE:
		put_base(out, record);
		break;
	case FXT_FIELD_SECOND:
		out->second_at = out->at;
		out->at += TW_FXT_WORD;
		break;
	case FXT_FIELD_LARGE:
		put_word(out, record->payload_size);
		put_part(out, record);
		break;
	case FXT_FIELD_REST:
		put_rest(out, record);
		break;
	}
	return 0;
}

static void put_fields(struct encoding *out, const struct tw_fxt_record *record)
{
	for (const struct fxt_record_field *from = fxt_fields(record->kind, record->format); from->form; from++) {
		uint64_t bits = put_field(out, from, record);
		out->headers[from->low / 64] |= field(out, from->low % 64, from->high % 64, bits);
	}
	if (out->second_at)
		put_word_at(out, out->second_at, out->headers[1]);
	if (record->kind == TW_FXT_MAGIC) {
		out->headers[0] = TW_FXT_MAGIC_WORD;
		out->wrong |= record->trailing_size != 0;
	}
}

/* ---- Records. ---- */

#define X(name, type, subtype, text) [name] = {type, subtype},
static const struct {
	uint8_t type, subtype;
} numbers[TW_FXT_KINDS] = {TW_FXT_KIND_LIST(X)};
#undef X

/* The lowest 16 bits of a header (36 of a large one), and the subtype that stands elsewhere. */
static uint64_t numbers_and_size(struct encoding *out, const struct tw_fxt_record *record)
{
	unsigned type = numbers[record->kind].type, subtype = numbers[record->kind].subtype;
	if (record->kind == TW_FXT_UNKNOWN)
		type = fxt_type(record->header);
	uint64_t words = (out->at + out->later) / TW_FXT_WORD;
	uint64_t size = field(out, 4, type == TW_FXT_TYPE_LARGE ? 35 : 15, words);
	return type | size | (uint64_t)subtype << fxt_subtype_bit(type);
}

int tw_fxt_encode(const struct tw_fxt_record *record, bool big, uint8_t *out, size_t room, size_t *size)
{
	struct encoding to = {.room = room, .at = TW_FXT_WORD, .big = big, .as_found = record->as_found};
	to.bytes = out;
	if ((unsigned)record->kind >= TW_FXT_KINDS)
		return TW_ERR_VALUE;
	to.wrong = record->kind == TW_FXT_DURATION_COMPLETE && record->end < record->time && !record->as_found;
	put_fields(&to, record);
	if (!to.later)
		put_words(&to, record->trailing, record->trailing_size);
	put_word_at(&to, 0, to.headers[0] | numbers_and_size(&to, record));
	if (to.wrong)
		return TW_ERR_VALUE;
	*size = (size_t)to.at;
	return to.at > room ? TW_ERR_ROOM : 0;
}
