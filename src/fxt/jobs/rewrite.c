/* rewrite.c - an archive written again record by record: repaired, or in another byte order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/fxt.h"
#include "fxt/walk/walk.h"
#include "fxt/write/record.h"

#include <stdlib.h>

/* Bytes of the largest record that is not large, or of what precedes the payload of one that is. */
enum { HEAD_MAX = (TW_FXT_ARGUMENTS_MAX + 3) * TW_FXT_RECORD_MAX * TW_FXT_WORD };

struct rewrite {
	struct tw_reader *reader;
	struct fxt_cursor cursor;
	struct tw_output *out;
	struct tw_rewrite_result *result;
	enum tw_byte_order order;
	bool repair;
	struct tw_map defined; /* repair: what had to be defined: hash of provider and index */
	uint64_t end;          /* of the input */
	uint64_t blob_left;    /* bytes of a large record that still come */
	uint64_t fill;         /* how many of the last are fill, which repair makes zeros */
	uint8_t record[HEAD_MAX];
	uint8_t words[HEAD_MAX];
};

/* ---- Writing. ---- */

static bool is_big(const struct rewrite *r, bool as_source)
{
	return r->order == TW_BYTES_AS_SOURCE ? as_source : r->order != TW_BYTES_LITTLE;
}

/* What is kept as words must be turned where the byte order changes. */
static void swap_words(uint8_t *to, const uint8_t *from, uint64_t size)
{
	for (uint64_t at = 0; at + TW_FXT_WORD <= size; at += TW_FXT_WORD)
		tw_store64(to + at, tw_load64(from + at, true), false);
}

/* Words whose meaning is not known, in the target's byte order: a backtrace's addresses are words for sure, extensions
 * and unknown records by all that the document says. */
static const uint8_t *swapped(struct rewrite *r, size_t *used, const uint8_t *bytes, uint64_t size)
{
	uint8_t *to = r->words + *used;
	swap_words(to, bytes, size);
	*used += (size_t)size;
	return to;
}

static void swap_record(struct rewrite *r, struct tw_fxt_record *record)
{
	bool large = record->type == TW_FXT_TYPE_LARGE; /* what may be larger than memory is not turned */
	bool words = record->kind == TW_FXT_PROFILER_BACKTRACE || (record->kind == TW_FXT_UNKNOWN && !large);
	size_t used = 0;
	if (words && record->payload)
		record->payload = swapped(r, &used, record->payload, record->payload_size);
	if (record->trailing && !large)
		record->trailing = swapped(r, &used, record->trailing, record->trailing_size);
	for (unsigned i = 0; i < record->argument_count; i++) {
		struct tw_fxt_argument *argument = &record->arguments[i];
		if (argument->type > TW_FXT_ARG_BLOB && argument->bytes)
			argument->bytes = swapped(r, &used, argument->bytes, argument->size);
		if (argument->trailing)
			argument->trailing = swapped(r, &used, argument->trailing, argument->trailing_size);
	}
}

/* Encodes and writes; false when no record can hold it. */
static bool put(struct rewrite *r, const struct tw_fxt_record *record, bool big)
{
	size_t size;
	if (tw_fxt_encode(record, big, r->record, sizeof r->record, &size) < 0)
		return false;
	tw_put(r->out, r->record, size);
	return true;
}

/* Up to a whole word: all that is written is. */
static void put_fill(struct rewrite *r)
{
	fxt_put_zeros(r->out, -tw_output_position(r->out) & (TW_FXT_WORD - 1));
}

/* Fills up a large record whose contents end early because others begin in it: its size is in the output already. */
static void finish_large(struct rewrite *r)
{
	if (r->blob_left == 0)
		return;
	fxt_put_zeros(r->out, r->blob_left);
	put_fill(r);
	r->blob_left = 0;
	r->result->records_changed++;
}

/* Writes the next bytes of a large record. */
static void put_next(struct rewrite *r, const uint8_t *bytes, uint64_t size)
{
	uint64_t own = r->blob_left > r->fill ? r->blob_left - r->fill : 0;
	own = own < size ? own : size;
	tw_put(r->out, bytes, (size_t)own);
	fxt_put_zeros(r->out, size - own);
	r->result->records_changed += tw_any_set(bytes + own, (size_t)(size - own));
	r->blob_left -= size;
	if (r->blob_left == 0)
		put_fill(r);
}

/* ---- Repair: what is used must be defined. ---- */

static bool is_new(struct rewrite *r, bool thread, unsigned index)
{
	uint64_t key = tw_hash_two(r->cursor.chunk->decoder.context.provider->id, (uint64_t)thread << 32 | index);
	uint32_t known;
	return !tw_map_find(&r->defined, key, &known) && tw_map_add(&r->defined, key, 0);
}

/* Tables begin anew. What another provider had defined is defined once more, which changes nothing. */
static void forget_defined(struct rewrite *r)
{
	tw_map_free(&r->defined);
	r->defined = (struct tw_map){0};
}

/* Writes a definition of an index that has none, and tells of it. */
static void define(struct rewrite *r, enum fxt_rule rule, const struct tw_fxt_record *definition, bool big)
{
	uint64_t offset = fxt_cursor_offset(&r->cursor);
	fxt_report(r->reader, &(struct fxt_note){.rule = rule, .record = offset, .at = offset, .a = definition->index});
	r->result->records_out += put(r, definition, big);
}

/* Returns whether the string is not defined; likewise below. Where tables are full it may be, but was not kept. */
static bool define_string(struct rewrite *r, const struct tw_fxt_string *string, bool big)
{
	char text[FXT_UNDEFINED_MAX];
	if (string->bytes || string->reference == 0 || string->reference >= TW_FXT_STRING_INLINE ||
	    r->cursor.state.full || fxt_string_of(r->cursor.chunk, string->reference, r->cursor.place))
		return false;
	const struct tw_fxt_record record = {.kind = TW_FXT_STRING,
	                                     .index = string->reference,
	                                     .payload = (const uint8_t *)text,
	                                     .payload_size = fxt_undefined_name(text, string->reference)};
	if (is_new(r, false, string->reference))
		define(r, FXT_STRING_UNDEFINED, &record, big);
	return true;
}

static struct tw_fxt_string inline_string(const char *text, size_t length)
{
	return (struct tw_fxt_string){.reference = TW_FXT_STRING_INLINE,
	                              .length = (uint16_t)length,
	                              .bytes = (const uint8_t *)text};
}

static void put_thread_name(struct rewrite *r, uint64_t koid, unsigned index, bool big)
{
	char text[FXT_UNDEFINED_MAX];
	struct tw_fxt_record object = {
	    .kind = TW_FXT_KERNEL_OBJECT,
	    .id = koid,
	    .object_type = FXT_OBJECT_THREAD,
	    .name = inline_string(text, fxt_undefined_thread(text, index)),
	    .argument_count = 1,
	};
	object.arguments[0] =
	    (struct tw_fxt_argument){.type = TW_FXT_ARG_KOID, .name = inline_string("process", strlen("process"))};
	r->result->records_out += put(r, &object, big);
}

/* Each is a thread of its own, and has the name that readers show. */
static bool define_thread(struct rewrite *r, const struct tw_fxt_thread *thread, bool big)
{
	if (thread->index == 0 || r->cursor.state.full ||
	    fxt_thread_of(r->cursor.chunk, thread->index, r->cursor.place))
		return false;
	uint64_t koid = fxt_undefined_koid(r->cursor.chunk->decoder.context.generation, thread->index);
	const struct tw_fxt_record record = {.kind = TW_FXT_THREAD, .index = thread->index, .thread.thread = koid};
	if (!is_new(r, true, thread->index))
		return true;
	define(r, FXT_THREAD_UNDEFINED, &record, big);
	put_thread_name(r, koid, thread->index, big);
	return true;
}

static bool define_all(struct rewrite *r, const struct tw_fxt_record *record, bool big)
{
	if (record->type < TW_FXT_TYPE_EVENT)
		return false;
	bool found = define_string(r, &record->category, big);
	if (record->kind != TW_FXT_PROFILER_MODULE)
		found |= define_string(r, &record->name, big);
	found |= define_thread(r, &record->thread, big);
	found |= define_thread(r, &record->incoming, big);
	for (unsigned i = 0; i < record->argument_count; i++) {
		found |= define_string(r, &record->arguments[i].name, big);
		found |= define_string(r, &record->arguments[i].text, big);
	}
	return found;
}

/* ---- Records. ---- */

/* A large record that is in the chunk. */
static void put_whole(struct rewrite *r, const struct tw_fxt_record *record, const uint8_t *payload,
                      const uint8_t *trailing)
{
	tw_put(r->out, payload, (size_t)record->payload_size);
	fxt_put_zeros(r->out, -record->payload_size & (TW_FXT_WORD - 1));
	tw_put(r->out, trailing, (size_t)record->trailing_size);
}

/* Writes the part of a large payload that is in this chunk. Where the file ends before it does, it ends there. */
static void put_part(struct rewrite *r, const uint8_t *payload, uint64_t all)
{
	const struct fxt_chunk *chunk = r->cursor.chunk;
	uint64_t here = (uint64_t)(chunk->bytes + r->cursor.next - payload);
	r->blob_left = all;
	put_next(r, payload, here < all ? here : all);
}

static void put_large(struct rewrite *r, struct tw_fxt_record *record, bool big)
{
	const uint8_t *start = r->cursor.chunk->bytes + r->cursor.place;
	const uint8_t *payload = record->payload, *trailing = record->trailing;
	uint64_t head = payload ? (uint64_t)(payload - start) : record->size;
	uint64_t in_file = r->end - fxt_cursor_offset(&r->cursor), all = record->size - head;
	bool whole = record->size <= r->cursor.next - r->cursor.place;
	bool filled = r->repair && record->kind == TW_FXT_LARGE_BLOB && record->trailing_size == 0;
	r->fill = filled && record->size <= in_file ? -record->payload_size & (TW_FXT_WORD - 1) : 0;
	if (record->size > in_file) {
		all = record->payload_size < in_file - head ? record->payload_size : in_file - head;
		if (record->kind == TW_FXT_UNKNOWN) { /* whose contents are words */
			r->result->lost_bytes += all % TW_FXT_WORD;
			all -= all % TW_FXT_WORD;
		}
		record->payload_size = all;
		record->trailing_size = 0;
		r->result->records_changed++;
	}
	record->payload = record->trailing = NULL; /* up to there only, if it is empty, too */
	if (!put(r, record, big)) {
		r->result->records_dropped++;
		return;
	}
	r->result->records_out++;
	if (whole && payload)
		put_whole(r, record, payload, trailing);
	else if (payload)
		put_part(r, payload, all);
}

static void take_record(struct rewrite *r, struct tw_fxt_record *record, bool source_big)
{
	bool big = is_big(r, source_big);
	r->blob_left = 0;
	if (record->kind == TW_FXT_MAGIC || record->kind == TW_FXT_PROVIDER_INFO)
		forget_defined(r);
	if (r->repair && define_all(r, record, big))
		r->result->records_changed++;
	if (big != source_big)
		swap_record(r, record);
	if (record->type == TW_FXT_TYPE_LARGE) {
		put_large(r, record, big);
		return;
	}
	if (put(r, record, big))
		r->result->records_out++;
	else
		r->result->records_dropped++;
}

static void take_payload(struct rewrite *r, const struct fxt_piece *piece)
{
	uint64_t size = piece->to - piece->from;
	if (r->blob_left == 0)
		return;
	put_next(r, r->cursor.chunk->bytes + piece->from, size < r->blob_left ? size : r->blob_left);
	if (piece->last)
		finish_large(r);
}

/* Copies records as they are. False where one goes on behind the chunk. */
static bool copy(struct rewrite *r, const struct fxt_piece *piece)
{
	const uint8_t *bytes = r->cursor.chunk->bytes + piece->from;
	size_t size = piece->to - piece->from;
	if (piece->odd && fxt_size(tw_load64(bytes, piece->big)) * (uint64_t)TW_FXT_WORD > size)
		return false;
	tw_put(r->out, bytes, size);
	r->result->records_in += piece->count;
	r->result->records_out += piece->count;
	r->blob_left = 0;
	return true;
}

static void take_records(struct rewrite *r, const struct fxt_piece *piece)
{
	struct tw_fxt_record record;
	int status;
	if (!r->repair && is_big(r, piece->big) == piece->big && copy(r, piece))
		return;
	while ((status = fxt_cursor_record(&r->cursor, piece, &record)) != 0) {
		r->result->records_in++;
		if (status == 1)
			take_record(r, &record, piece->big);
		else
			r->result->records_dropped++;
		if (status < 0)
			fxt_cursor_report(&r->cursor, piece);
	}
}

static void take_piece(struct rewrite *r, const struct fxt_piece *piece)
{
	switch (piece->kind) {
	case FXT_RECORDS:
		take_records(r, piece);
		return;
	case FXT_PAYLOAD:
		take_payload(r, piece);
		break;
	case FXT_BROKEN:
	case FXT_CUT:
		r->result->records_in++;
		r->result->records_dropped++;
		r->result->lost_bytes += piece->to - piece->from;
		break;
	case FXT_LOST:
		r->result->lost_bytes += piece->lost;
		break;
	}
	fxt_cursor_report(&r->cursor, piece);
}

/* ---- The archive. ---- */

/* An archive begins with the magic number; many readers insist. */
static void put_magic(struct rewrite *r, const struct fxt_piece *first)
{
	const struct fxt_chunk *chunk = r->cursor.chunk;
	bool there =
	    first->kind == FXT_RECORDS && tw_load64(chunk->bytes + first->from, first->big) == TW_FXT_MAGIC_WORD;
	const struct tw_fxt_record magic = {.kind = TW_FXT_MAGIC};
	if (!there && (r->repair || r->order != TW_BYTES_AS_SOURCE))
		r->result->records_out += put(r, &magic, is_big(r, r->cursor.big));
}

static int rewrite_all(struct rewrite *r)
{
	const struct fxt_piece *piece;
	bool first = true;
	int status;
	while ((status = fxt_cursor_piece(&r->cursor, &piece)) > 0 && !r->out->error) {
		if (first)
			put_magic(r, piece);
		first = false;
		take_piece(r, piece);
	}
	return status < 0 ? fxt_fail(r->reader, status) : 0;
}

static int rewrite(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result,
                   enum tw_byte_order order, bool repair)
{
	/* Where the file ends must be known before a large blob is written that goes beyond. */
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	struct rewrite *r = status < 0 ? NULL : calloc(1, sizeof *r);
	if (!r)
		return fxt_fail(reader, status < 0 ? status : TW_ERR_MEMORY);
	r->reader = reader;
	r->out = out;
	r->result = result;
	r->order = order;
	r->repair = repair;
	r->end = tw_input_size(reader->input);
	status = fxt_cursor_init(&r->cursor, reader);
	status = status < 0 ? fxt_fail(reader, status) : rewrite_all(r);
	if (status == 0)
		fxt_finish(reader);
	fxt_cursor_free(&r->cursor);
	tw_map_free(&r->defined);
	free(r);
	return status;
}

int fxt_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	return rewrite(reader, out, result, TW_BYTES_AS_SOURCE, true);
}

int fxt_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                  struct tw_rewrite_result *result)
{
	if (options->version > 1)
		return tw_fail(reader, TW_ERR_VALUE, "fxt has no version %u", options->version);
	return rewrite(reader, out, result, options->byte_order, false);
}
