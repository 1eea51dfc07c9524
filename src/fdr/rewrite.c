/* rewrite.c - a log written again record by record: repaired, or in another version or byte order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fdr/state.h"

/* A buffer is gone through twice: its size comes before its records. */
struct rewrite {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct fdr_cursor cursor;
	struct tw_fdr_header target;
	struct tw_output *out; /* NULL: only the size is wanted */
	struct tw_rewrite_result *result;
	struct tw_rewrite_result unused; /* for the first pass */
	uint64_t size;                   /* of the buffer's records so far */
	uint64_t tsc;                    /* of the last record written */
	bool started;                    /* NewBuffer has been written */
	bool dropped;                    /* the record before was: its arguments go too */
};

/* ---- Writing. ---- */

static int put_payload(struct rewrite *r, const struct fdr_item *item)
{
	uint64_t at = item->offset + TW_FDR_METADATA_SIZE, end = item->offset + item->record.size;
	uint8_t bytes[4096];
	while (at < end) {
		size_t want = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
		int64_t n = tw_input_read(r->reader->input, at, bytes, want);
		if (n <= 0)
			return tw_fail(r->reader, TW_ERR_SYSTEM, "%s: the file was cut while it was read",
			               tw_input_name(r->reader->input));
		tw_put(r->out, bytes, (size_t)n);
		at += (uint64_t)n;
	}
	return 0;
}

/* Writes one record, or counts its size. item is where a payload comes from, or NULL. False when the target has no place
 * for it. */
static bool put(struct rewrite *r, struct tw_fdr_record record, const struct fdr_item *item, int *status)
{
	uint8_t bytes[TW_FDR_RECORD_MAX];
	record.payload = NULL;
	int n = tw_fdr_encode(&record, r->target.version, r->target.layout, bytes, sizeof bytes);
	if (n < 0)
		return false;
	r->size += (uint64_t)n + record.payload_size;
	r->result->records_out++;
	if (r->out)
		tw_put(r->out, bytes, (size_t)n);
	if (r->out && record.payload_size)
		*status = put_payload(r, item);
	return true;
}

/* Makes a delta reach from the last record written to this one; where it cannot, an absolute count goes before it. */
static void make_delta(struct rewrite *r, struct tw_fdr_record *record, bool is_signed, int *status)
{
	uint64_t delta = r->cursor.tsc - r->tsc;
	bool fits = is_signed ? (int64_t)delta >= INT32_MIN && (int64_t)delta <= INT32_MAX : delta <= UINT32_MAX;
	if (!fits)
		put(r, (struct tw_fdr_record){.kind = TW_FDR_TSC_WRAP, .tsc = r->cursor.tsc}, NULL, status);
	record->tsc_delta = fits ? (uint32_t)delta : 0;
	r->tsc = r->cursor.tsc;
}

/* ---- From one version to another. ---- */

static void change_event(struct rewrite *r, struct tw_fdr_record *record, int *status)
{
	uint16_t from = r->log->header.version, to = r->target.version;
	bool typed = record->kind == TW_FDR_TYPED_EVENT;
	if (typed || to >= 5) {
		if (!typed && from < 5)
			r->cursor.tsc = record->tsc;
		make_delta(r, record, true, status);
	} else if (from >= 5) {
		record->tsc = r->cursor.tsc;
	}
	if (!typed && to == 4 && from != 4)
		record->cpu = r->cursor.cpu;
	r->result->records_changed += !typed && from == 4 && to != 4;
}

/* Whether a record has to go for a reason of its own; BufferExtents and EndOfBuffer are made anew. */
static bool is_border(const struct tw_fdr_record *record)
{
	return record->kind == TW_FDR_BUFFER_EXTENTS || record->kind == TW_FDR_END_OF_BUFFER;
}

static int take(struct rewrite *r, const struct fdr_item *item)
{
	struct tw_fdr_record record = item->record;
	int status = 0;
	r->result->records_in++;
	if (is_border(&record))
		return 0;
	if (!r->started && record.kind != TW_FDR_NEW_BUFFER)
		put(r, (struct tw_fdr_record){.kind = TW_FDR_NEW_BUFFER}, NULL, &status);
	r->started = true;
	if (r->dropped && record.kind == TW_FDR_CALL_ARGUMENT) {
		r->result->records_dropped++;
		return 0;
	}
	if (record.kind <= TW_FDR_ENTER_ARGS)
		make_delta(r, &record, false, &status);
	else if (fdr_has_payload((unsigned)record.kind))
		change_event(r, &record, &status);
	else if (record.kind == TW_FDR_NEW_CPU_ID || record.kind == TW_FDR_TSC_WRAP)
		r->tsc = record.tsc;
	r->dropped = !put(r, record, item, &status);
	if (r->dropped && record.kind <= TW_FDR_ENTER_ARGS) /* the next delta has to reach over it */
		r->tsc -= record.tsc_delta;
	r->result->records_dropped += r->dropped;
	return status;
}

/* ---- Buffers. ---- */

/* An event of an old version has a time of its own, which must not stay in the counter. */
static int take_all(struct rewrite *r, const struct fdr_place *place)
{
	struct fdr_item item;
	int status;
	r->size = 0;
	r->tsc = r->cursor.tsc;
	r->started = r->dropped = false;
	fdr_cursor_enter(&r->cursor, place);
	while ((status = fdr_cursor_next(&r->cursor, &item)) > 0) {
		uint64_t tsc = r->cursor.tsc;
		status = take(r, &item);
		r->cursor.tsc = tsc;
		if (status < 0)
			return status;
	}
	return status;
}

static void put_fill(struct tw_output *out, uint64_t size)
{
	static const char zeros[256];
	for (uint64_t step; size; size -= step) {
		step = size < sizeof zeros ? size : sizeof zeros;
		tw_put(out, zeros, (size_t)step);
	}
}

static void put_end(struct rewrite *r, const struct fdr_place *place)
{
	uint64_t asked = r->target.buffer_size,
		 full = place->next - place->offset; /* the header's size may be damaged */
	int status = 0;
	if (asked != r->log->header.buffer_size)
		full = asked;
	if (r->target.version != 1)
		return;
	put(r, (struct tw_fdr_record){.kind = TW_FDR_END_OF_BUFFER}, NULL, &status);
	if (place->filled && r->size < full)
		put_fill(r->out, full - r->size);
}

static int rewrite_buffer(struct rewrite *r, struct tw_output *out, struct tw_rewrite_result *result,
                          const struct fdr_place *place)
{
	uint64_t tsc = r->cursor.tsc;
	int status = 0;
	r->out = NULL;
	r->result = &r->unused;
	r->reader->quiet = true;
	int measured = take_all(r, place);
	r->reader->quiet = false;
	if (measured < 0)
		return measured;
	struct tw_fdr_record extents = {.kind = TW_FDR_BUFFER_EXTENTS, .value = r->size};
	bool any =
	    r->size > TW_FDR_METADATA_SIZE; /* NewBuffer alone is no buffer: it could not be found again after fill */
	r->out = any ? out : NULL;
	r->result = any ? result : &r->unused;
	r->cursor.tsc = tsc;
	if (any && r->target.version >= 2)
		put(r, extents, NULL, &status);
	status = take_all(r, place);
	if (any)
		put_end(r, place);
	result->lost_bytes += any ? fdr_cursor_lost(&r->cursor) : place->next - place->offset;
	return status;
}

/* ---- The whole log. ---- */

static int compare_offsets(const void *left, const void *right)
{
	const struct fdr_place *a = left, *b = right;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The buffers in the order of the file, each once. */
static struct fdr_place *places_in_file_order(const struct fdr_log *log)
{
	struct fdr_place *places = malloc((log->place_count + 1) * sizeof *places);
	if (!places)
		return NULL;
	if (!log->place_count)
		return places;
	memcpy(places, log->places, log->place_count * sizeof *places);
	qsort(places, log->place_count, sizeof *places, compare_offsets);
	return places;
}

static int rewrite_log(struct tw_reader *reader, const struct tw_fdr_header *target, struct tw_output *out,
                       struct tw_rewrite_result *result)
{
	struct fdr_state *state = reader->state;
	struct fdr_log *log = state->log;
	struct rewrite r = {.reader = reader, .log = log, .target = *target};
	uint8_t header[TW_FDR_HEADER_SIZE];
	int status = log->indexed ? 0 : fdr_index(reader, log);
	if (status < 0)
		return status;
	struct fdr_place *places = places_in_file_order(log);
	if (!places)
		return tw_fail(reader, TW_ERR_MEMORY, "%s: out of memory", tw_input_name(reader->input));
	fdr_cursor_init(&r.cursor, reader, log, 0);
	tw_fdr_header_encode(target, header);
	tw_put(out, header, sizeof header);
	for (size_t i = 0; i < log->place_count && status >= 0 && !out->error; i++) {
		if (!places[i].thread)
			result->lost_bytes += places[i].next - places[i].offset;
		else if (tw_thread_wanted(&reader->options, log->threads[places[i].thread].thread))
			status = rewrite_buffer(&r, out, result, &places[i]);
	}
	fdr_cursor_free(&r.cursor);
	free(places);
	return status;
}

static struct tw_fdr_header clean_header(const struct fdr_log *log)
{
	struct tw_fdr_header header = log->header;
	header.reserved_bits = 0;
	header.reserved = 0;
	return header;
}

int fdr_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct tw_fdr_header header = clean_header(((struct fdr_state *)reader->state)->log);
	return rewrite_log(reader, &header, out, result);
}

int fdr_transcode(struct tw_reader *reader, struct tw_output *out, const struct tw_write_options *options,
                  struct tw_rewrite_result *result)
{
	struct tw_fdr_header header = clean_header(((struct fdr_state *)reader->state)->log);
	if (options->version > FDR_VERSION_MAX)
		return tw_fail(reader, TW_ERR_VALUE, "xray-fdr has no version %u, only 1 to %d", options->version,
		               FDR_VERSION_MAX);
	if (options->version)
		header.version = (uint16_t)options->version;
	if (options->byte_order != TW_BYTES_AS_SOURCE)
		header.layout = fdr_layout_for(options->byte_order);
	if (options->buffer_size)
		header.buffer_size = options->buffer_size;
	return rewrite_log(reader, &header, out, result);
}
