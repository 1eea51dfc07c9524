/* decode.c - bytes of an FXT archive to records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"

#include <trackway/fxt.h>

/* A record that is being taken apart. What does not fit sets fault or need; all that is taken after that is 0, so that
 * the fields need no checks of their own. */
struct decoding {
	const uint8_t *bytes; /* of the record */
	uint64_t at;
	uint64_t end;  /* of the record, or of the argument that is being read */
	uint64_t here; /* of the record's bytes: less than its size only in large ones */
	uint64_t need;
	uint64_t headers[2]; /* the second is a large blob's */
	const char *fault;
	bool big, padded, reserved;
};

const char *tw_fxt_kind_name(unsigned kind)
{
	static const char *const names[TW_FXT_KINDS] = {
#define X(name, type, subtype, text) text,
	    TW_FXT_KIND_LIST(X)
#undef X
	};
	return kind < TW_FXT_KINDS ? names[kind] : NULL;
}

int tw_fxt_magic(const uint8_t bytes[TW_FXT_WORD], bool *big)
{
	bool is_big = tw_load64(bytes, true) == TW_FXT_MAGIC_WORD;
	if (!is_big && tw_load64(bytes, false) != TW_FXT_MAGIC_WORD)
		return TW_ERR_FORMAT;
	*big = is_big;
	return 0;
}

/* ---- Words and streams. ---- */

static bool broken(const struct decoding *in)
{
	return in->fault || in->need;
}

static bool fits(struct decoding *in, uint64_t bytes, const char *fault)
{
	if (broken(in))
		return false;
	if (bytes > in->end - in->at)
		in->fault = fault;
	else if (bytes > in->here - in->at)
		in->need = in->at + bytes;
	return !broken(in);
}

static uint64_t take_word(struct decoding *in, const char *fault)
{
	if (!fits(in, TW_FXT_WORD, fault))
		return 0;
	uint64_t word = tw_load64(in->bytes + in->at, in->big);
	in->at += TW_FXT_WORD;
	return word;
}

/* Takes the bytes of a stream and its padding. length is of at most 32 bits. */
static const uint8_t *take_stream(struct decoding *in, uint64_t length, const char *fault)
{
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	if (!fits(in, size, fault))
		return NULL;
	const uint8_t *bytes = in->bytes + in->at;
	in->padded |= tw_any_set(bytes + length, (size_t)(size - length));
	in->at += size;
	return bytes;
}

static const uint8_t *take_rest(struct decoding *in, uint32_t *size)
{
	*size = broken(in) ? 0 : (uint32_t)(in->end - in->at);
	return *size ? take_stream(in, *size, NULL) : NULL;
}

static struct tw_fxt_string take_string(struct decoding *in, uint64_t reference, const char *fault)
{
	struct tw_fxt_string string = {.reference = (uint16_t)reference};
	if (!(reference & TW_FXT_STRING_INLINE))
		return string;
	string.length = (uint16_t)(reference & FXT_TEXT_MAX);
	string.bytes = take_stream(in, string.length, fault);
	return string;
}

/* wide: where the koids stand in the record, both do. */
static struct tw_fxt_thread take_thread(struct decoding *in, uint64_t index, bool wide, const char *fault)
{
	struct tw_fxt_thread thread = {.index = (uint8_t)index};
	if (index == 0)
		thread.process = take_word(in, fault);
	if (index == 0 && wide)
		thread.thread = take_word(in, "the thread that is given inline");
	return thread;
}

/* ---- Arguments. ---- */

static void take_value(struct decoding *in, uint64_t header, struct tw_fxt_argument *argument)
{
	argument->value.u = fxt_value_in_header(header);
	switch (fxt_argument_kinds[argument->type].value) {
	case FXT_VALUE_NONE:
	case FXT_VALUE_SIGNED:
	case FXT_VALUE_UPPER:
	case FXT_VALUE_BIT:
		break;
	case FXT_VALUE_WORD:
		argument->value.u = take_word(in, "the value of an argument, within its size");
		break;
	case FXT_VALUE_TEXT:
		argument->text = take_string(in, tw_bits(header, 32, 47), "the text of an argument, within its size");
		break;
	case FXT_VALUE_BYTES:
		argument->size = (uint32_t)(header >> 32);
		argument->bytes = take_stream(in, argument->size, "the bytes of an argument, within its size");
		break;
	case FXT_VALUE_UNKNOWN:
		argument->bytes = take_rest(in, &argument->size);
		break;
	}
}

static void take_argument(struct decoding *in, struct tw_fxt_argument *argument)
{
	uint64_t start = in->at, end = in->end;
	uint64_t header = take_word(in, "as many arguments as the header says");
	uint64_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	*argument = (struct tw_fxt_argument){.type = (uint8_t)tw_bits(header, 0, 3)};
	if (broken(in))
		return;
	if (size == 0 || size > end - start) {
		in->at = start;
		in->fault = size ? "an argument that ends within its record" : "an argument of at least one word";
		return;
	}
	in->end = start + size;
	in->reserved |= (header & fxt_argument_kinds[argument->type].reserved) != 0;
	argument->name = take_string(in, tw_bits(header, 16, 31), "the name of an argument, within its size");
	take_value(in, header, argument);
	argument->trailing = take_rest(in, &argument->trailing_size);
	in->end = end;
}

static void take_arguments(struct decoding *in, uint64_t count, struct tw_fxt_record *record)
{
	record->argument_count = (uint8_t)count;
	for (unsigned i = 0; i < count && !broken(in); i++)
		take_argument(in, &record->arguments[i]);
}

/* ---- Fields. ---- */

static void take_payload(struct decoding *in, uint64_t length, const char *fault, struct tw_fxt_record *record)
{
	record->payload = take_stream(in, length, fault);
	record->payload_size = record->payload_here = length;
}

/* magic-trace adds these two words to the document's two. */
static void take_base(struct decoding *in, struct tw_fxt_record *record)
{
	record->has_base = in->end - in->at >= 2 * (uint64_t)TW_FXT_WORD;
	if (!record->has_base)
		return;
	record->base_ticks = take_word(in, NULL);
	record->base_ns = take_word(in, NULL);
}

/* The document has no scope; the engine writes it and its old reader demands it. */
static void take_scope(struct decoding *in, struct tw_fxt_record *record)
{
	record->has_scope = !broken(in) && in->at < in->end;
	if (record->has_scope)
		record->scope = take_word(in, NULL);
}

static void take_second_header(struct decoding *in, const struct tw_fxt_record *record)
{
	in->headers[1] = take_word(in, "the second header of a large blob");
	in->reserved |= (in->headers[1] & fxt_blob_reserved(record->format)) != 0;
}

/* Takes what is here of bytes that may be more than memory. */
static void take_part(struct decoding *in, uint64_t length, struct tw_fxt_record *record)
{
	uint64_t size = fxt_words(length) * TW_FXT_WORD;
	uint64_t here = in->here - in->at;
	record->payload = in->bytes + in->at;
	record->payload_size = length;
	record->payload_here = length < here ? length : here;
	if (size <= here)
		in->padded |= tw_any_set(record->payload + length, (size_t)(size - length));
	in->at += size;
}

static void take_large_payload(struct decoding *in, struct tw_fxt_record *record)
{
	uint64_t length = take_word(in, "the size of a large blob");
	if (!broken(in) && length > in->end - in->at) {
		in->at -= TW_FXT_WORD;
		in->fault = "a size of a large blob that ends within its record";
	}
	if (!broken(in))
		take_part(in, length, record);
}

static void take_field(struct decoding *in, const struct fxt_record_field *field, struct tw_fxt_record *record)
{
	void *member = (uint8_t *)record + field->member;
	const uint64_t bits = tw_bits(in->headers[field->low / 64], field->low % 64, field->high % 64);
	switch ((enum fxt_field_form)field->form) {
	case FXT_FIELDS_END:
		return;
	case FXT_FIELD_BITS:
		fxt_set_number(record, field, bits);
		return;
	case FXT_FIELD_WORD:
		*(uint64_t *)member = take_word(in, field->fault);
		return;
	case FXT_FIELD_STRING:
		*(struct tw_fxt_string *)member = take_string(in, bits, field->fault);
		return;
	case FXT_FIELD_THREAD:
	case FXT_FIELD_PROCESS: {
		bool wide = field->form == FXT_FIELD_THREAD || record->wide_process;
		*(struct tw_fxt_thread *)member = take_thread(in, bits, wide, field->fault);
		return;
	}
	case FXT_FIELD_NAME:
		record->name.length = (uint16_t)bits;
		record->name.bytes = take_stream(in, bits, field->fault);
		return;
	case FXT_FIELD_PAYLOAD:
		take_payload(in, bits, field->fault, record);
		return;
	case FXT_FIELD_ADDRESSES:
		take_payload(in, bits * TW_FXT_WORD, field->fault, record);
		return;
	case FXT_FIELD_ARGUMENTS:
		take_arguments(in, bits, record);
		return;
	case FXT_FIELD_SCOPE:
		take_scope(in, record);
		return;
	case FXT_FIELD_BASE:
		take_base(in, record);
		return;
	case FXT_FIELD_SECOND:
		take_second_header(in, record);
		return;
	case FXT_FIELD_LARGE:
		take_large_payload(in, record);
		return;
	case FXT_FIELD_REST:
		take_part(in, in->end - in->at, record);
		return;
	}
}

static void take_fields(struct decoding *in, struct tw_fxt_record *record)
{
	for (const struct fxt_record_field *field = fxt_fields(record->kind, record->header >> 40 & 1); field->form;
	     field++)
		take_field(in, field, record);
}

static bool is_exact(const struct decoding *in)
{
	return !broken(in) && in->at == in->end;
}

/* Takes the fields of a record with a process in the form that fills it exactly; when neither does, in the usual one if
 * that fits at all. */
static void take_with_process(struct decoding *in, struct tw_fxt_record *record, bool wide)
{
	struct decoding start = *in;
	record->wide_process = wide;
	take_fields(in, record);
	if (is_exact(in) || record->thread.index != 0) {
		record->wide_process = wide && record->thread.index == 0;
		return;
	}
	struct decoding other = start;
	record->wide_process = !wide;
	take_fields(&other, record);
	if (is_exact(&other) || (broken(in) && !broken(&other))) {
		*in = other;
		return;
	}
	*in = start;
	record->wide_process = wide;
	take_fields(in, record);
}

/* ---- Records. ---- */

static int refuse(struct tw_fxt_decoder *decoder, int status, uint64_t at, const char *fault)
{
	decoder->at = (size_t)at;
	decoder->fault = fault;
	return status;
}

static int lack(struct tw_fxt_decoder *decoder, uint64_t need)
{
	decoder->need = need;
	return TW_ERR_ROOM;
}

static int take_record(struct tw_fxt_decoder *decoder, struct tw_fxt_record *record)
{
	struct decoding in = {
	    .bytes = decoder->bytes,
	    .at = TW_FXT_WORD,
	    .end = record->size,
	    .here = decoder->left < record->size ? decoder->left : record->size,
	    .big = decoder->big,
	    .headers = {record->header},
	    .reserved = (record->header & fxt_reserved(record->kind)) != 0,
	};
	if (fxt_record_kinds[record->kind].has_process)
		take_with_process(&in, record, fxt_record_kinds[record->kind].wide);
	else
		take_fields(&in, record);
	if (in.need)
		return lack(decoder, in.need);
	if (in.fault)
		return refuse(decoder, TW_ERR_VALUE, in.at, in.fault);
	record->padded = in.padded;
	record->reserved = in.reserved;
	record->as_found = true;
	record->trailing_size = in.end - in.at;
	if (record->trailing_size && in.here == in.end)
		record->trailing = in.bytes + in.at;
	decoder->bytes += in.here;
	decoder->left -= (size_t)in.here;
	return 1;
}

int tw_fxt_next(struct tw_fxt_decoder *decoder, struct tw_fxt_record *record)
{
	/* The arguments are set one by one, as far as there are any. */
	memset(record, 0, offsetof(struct tw_fxt_record, arguments));
	if (!decoder->left)
		return 0;
	if (decoder->left < TW_FXT_WORD)
		return lack(decoder, TW_FXT_WORD);
	uint64_t header = tw_load64(decoder->bytes, decoder->big);
	record->header = header;
	record->type = (uint8_t)fxt_type(header);
	record->subtype = (uint8_t)fxt_subtype(header);
	record->kind = fxt_kind(header);
	record->size = (uint64_t)fxt_size(header) * TW_FXT_WORD;
	if (record->size == 0)
		return refuse(decoder, TW_ERR_FORMAT, 0, "a record of at least one word");
	/* Large records may be larger than memory: what precedes their bytes is enough. */
	if (record->type != TW_FXT_TYPE_LARGE && decoder->left < record->size)
		return lack(decoder, record->size);
	return take_record(decoder, record);
}
