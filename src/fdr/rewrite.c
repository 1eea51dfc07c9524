/* rewrite.c - a log written again record by record: repaired, or in another version or byte order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "fdr/state.h"
#include "fdr/write.h"

#include <stdlib.h>

/* A buffer is gone through twice: its size comes before its records. */
struct fdr_rewrite {
	struct tw_reader *reader;
	const struct fdr_log *log;
	struct fdr_cursor cursor;
	struct tw_fdr_header target;
	struct tw_output *out; /* NULL: only the size is wanted */
	struct tw_rewrite_result *result;
	struct tw_rewrite_result unused; /* for the first pass */
	struct tw_window window;         /* where payloads are looked at and copied from */
	struct tw_map written;           /* hashes of the buffers that were written */
	uint64_t size, hash;             /* of the buffer's records so far */
	uint64_t declared;               /* what its BufferExtents says, 0 without one */
	uint64_t tsc;                    /* of the last record written */
	struct {
		bool only; /* buffers are counted, and nothing is written */
		uint64_t buffers,
		    full; /* buffers that will be written; of them, buffers whose records fill the header's size */
		uint64_t longest; /* the longest, with EndOfBuffer */
	} counts;
	bool filled;           /* version 1: there is fill between buffers */
	uint64_t fill;         /* how much comes behind the buffer written before, if another one does */
	bool ends_filled;      /* or in any case */
	enum tw_fdr_kind last; /* the record written before, TW_FDR_KINDS before the first */
	bool dropped;          /* the record before was: its arguments go too */
};

/* A buffer, and the counter that its thread has where it begins. */
struct rewritten_buffer {
	struct fdr_place place;
	uint64_t tsc;
	uint16_t cpu;
};

/* ---- Writing. ---- */

static int put_payload(struct fdr_rewrite *r, const struct fdr_item *item)
{
	enum { STEP = 1 << 16 };
	uint64_t at = item->offset + TW_FDR_METADATA_SIZE, end = item->offset + item->record.size;
	while (at < end) {
		size_t have, want = end - at < STEP ? (size_t)(end - at) : STEP;
		const uint8_t *bytes;
		int status = tw_window_view(&r->window, at, want, &bytes, &have);
		if (status == TW_ERR_MEMORY)
			return tw_fail_memory(r->reader);
		if (status < 0 || have < want)
			return tw_fail(r->reader, TW_ERR_SYSTEM, "%s: the file was cut while it was read",
			               tw_input_name(r->reader->input));
		r->hash = tw_hash_bytes(bytes, want, r->hash);
		if (r->out)
			tw_put(r->out, bytes, want);
		at += want;
	}
	return 0;
}

/* In version 1 a buffer's end is found by its records alone, and an event that holds the beginning of a buffer is taken
 * for one with a damaged size. */
static bool is_writable(struct fdr_rewrite *r, const struct tw_fdr_record *record, const struct fdr_item *item,
                        int *status)
{
	bool holds = false;
	if (r->target.version != 1 || !record->payload_size)
		return true;
	uint64_t at = item->offset + TW_FDR_METADATA_SIZE;
	*status = fdr_holds_buffer(r->reader, &r->window, r->target.layout, at, at + record->payload_size, &holds);
	return !holds;
}

/* Writes one record, or counts its size. item is where a payload comes from, or NULL. False when the target has no
 * place for it. */
static bool put(struct fdr_rewrite *r, struct tw_fdr_record record, const struct fdr_item *item, int *status)
{
	uint8_t bytes[TW_FDR_RECORD_MAX];
	record.payload = NULL;
	if (!is_writable(r, &record, item, status) || *status < 0)
		return false;
	int n = tw_fdr_encode(&record, r->target.version, r->target.layout, bytes, sizeof bytes);
	if (n < 0)
		return false;
	r->size += (uint64_t)n + record.payload_size;
	r->hash = tw_hash_bytes(bytes, (size_t)n, r->hash);
	r->last = record.kind;
	r->result->records_out++;
	if (r->out)
		tw_put(r->out, bytes, (size_t)n);
	if (record.payload_size)
		*status = put_payload(r, item);
	return true;
}

/* Makes a record's delta count from the last record that was written. Where the delta cannot hold that, a TSC wrap
 * record goes before it. */
static void make_delta(struct fdr_rewrite *r, struct tw_fdr_record *record, bool is_signed, int *status)
{
	uint64_t delta = r->cursor.tsc - r->tsc;
	bool fits = is_signed ? (int64_t)delta >= INT32_MIN && (int64_t)delta <= INT32_MAX : delta <= UINT32_MAX;
	if (!fits)
		put(r, (struct tw_fdr_record){.kind = TW_FDR_TSC_WRAP, .tsc = r->cursor.tsc}, NULL, status);
	record->tsc_delta = fits ? (uint32_t)delta : 0;
	r->tsc = r->cursor.tsc;
}

/* ---- From one version to another. ---- */

static void change_event(struct fdr_rewrite *r, struct tw_fdr_record *record, int *status)
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

/* A thread that is not known is 0. What is behind a number of 2 bytes is part of it in other versions, and stands
 * before it in another byte order. */
static void change_thread(struct fdr_rewrite *r, struct tw_fdr_record *record)
{
	const struct tw_fdr_header *from = &r->log->header;
	record->value = r->cursor.buffer.orphan ? 0 : record->value;
	if (from->version == r->target.version && from->layout == r->target.layout)
		return;
	const uint32_t id = fdr_thread_of(from, record->value);
	record->value = fdr_thread_for(&r->target, id);
	r->result->records_changed += record->value != id;
}

/* Whether a record has to go for a reason of its own; BufferExtents and EndOfBuffer are made anew. */
static bool is_border(const struct tw_fdr_record *record)
{
	return record->kind == TW_FDR_BUFFER_EXTENTS || record->kind == TW_FDR_END_OF_BUFFER;
}

/* What a buffer has to begin with. In version 1 NewBuffer and WallTime are all that tells a buffer: one without
 * WallTime gets one of 0, which reads as none. */
static void put_lead(struct fdr_rewrite *r, const struct tw_fdr_record *record, int *status)
{
	if (r->last == TW_FDR_KINDS && record->kind != TW_FDR_NEW_BUFFER)
		put(r, (struct tw_fdr_record){.kind = TW_FDR_NEW_BUFFER}, NULL, status);
	if (r->target.version == 1 && r->last == TW_FDR_NEW_BUFFER && record->kind != TW_FDR_WALL_TIME)
		put(r, (struct tw_fdr_record){.kind = TW_FDR_WALL_TIME}, NULL, status);
}

/* Whether a record has no place where it stands: arguments of what was dropped; in version 1 a WallTime that would look
 * like another buffer's; a counter that is not believed. */
static bool is_misplaced(const struct fdr_rewrite *r, const struct tw_fdr_record *record)
{
	return (r->dropped && record->kind == TW_FDR_CALL_ARGUMENT) ||
	       (r->target.version == 1 && record->kind == TW_FDR_WALL_TIME && r->last != TW_FDR_NEW_BUFFER) ||
	       (fdr_has_counter(record) && !fdr_has_believed_counter(&r->cursor, record));
}

static int take(struct fdr_rewrite *r, const struct fdr_item *item)
{
	struct tw_fdr_record record = item->record;
	int status = 0;
	r->result->records_in++;
	if (record.kind == TW_FDR_BUFFER_EXTENTS)
		r->declared = record.value;
	if (is_border(&record))
		return 0;
	put_lead(r, &record, &status);
	uint64_t tsc = r->tsc, size = r->size;
	if (is_misplaced(r, &record)) {
		r->result->records_dropped++;
		return 0;
	}
	if (record.kind <= TW_FDR_ENTER_ARGS)
		make_delta(r, &record, false, &status);
	else if (fdr_has_payload((unsigned)record.kind))
		change_event(r, &record, &status);
	else if (record.kind == TW_FDR_NEW_BUFFER)
		change_thread(r, &record);
	else if (record.kind == TW_FDR_NEW_CPU_ID || record.kind == TW_FDR_TSC_WRAP)
		r->tsc = record.tsc;
	r->dropped = !put(r, record, item, &status);
	if (r->dropped && r->size == size) /* the next delta has to reach over it */
		r->tsc = tsc;
	r->result->records_dropped += r->dropped;
	return status;
}

/* ---- Buffers. ---- */

/* An event of an old version has a time of its own, which must not stay in the counter. */
static int take_all(struct fdr_rewrite *r, const struct rewritten_buffer *job)
{
	struct fdr_item item;
	int status;
	r->size = r->hash = r->declared = 0;
	r->tsc = r->cursor.tsc = job->tsc;
	r->cursor.cpu = job->cpu;
	r->last = TW_FDR_KINDS;
	r->dropped = false;
	fdr_cursor_enter(&r->cursor, &job->place);
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

/* Whether a buffer takes as many bytes as the header says, with fill behind its records or without. */
static bool has_size(const struct fdr_log *log, const struct fdr_place *place)
{
	return place->next - place->offset == log->header.buffer_size;
}

static void put_end(struct fdr_rewrite *r, const struct fdr_place *place)
{
	uint64_t full = r->target.buffer_size;
	int status = 0;
	if (r->target.version != 1)
		return;
	if (r->size != full) /* what is full ends there, and another record would be beyond it */
		put(r, (struct tw_fdr_record){.kind = TW_FDR_END_OF_BUFFER}, NULL, &status);
	r->fill = r->filled && r->size < full ? full - r->size : 0;
	r->ends_filled = place->cut || place->filled || has_size(r->log, place);
}

/* What of a buffer that was gone through is not in the result, and what should have been there and is not. */
static void count_loss(const struct fdr_rewrite *r, const struct fdr_place *place, struct tw_rewrite_result *result)
{
	const struct fdr_cursor *cursor = &r->cursor;
	uint64_t have = cursor->buffer.next - place->offset, missing = cursor->missing;
	bool plausible = r->declared <= r->log->header.buffer_size && r->declared + TW_FDR_METADATA_SIZE > have;
	if (place->cut && r->log->header.version == 1 && !missing)
		missing = TW_FDR_METADATA_SIZE; /* EndOfBuffer */
	if (place->cut && plausible)
		missing = r->declared + TW_FDR_METADATA_SIZE - have;
	result->lost_bytes += r->size > TW_FDR_METADATA_SIZE ? fdr_cursor_lost(cursor) : have;
	result->missing_bytes += missing;
}

/* The first pass: its size and hash. *keep: whether it is to be written. NewBuffer alone is no buffer. */
static int measure(struct fdr_rewrite *r, const struct rewritten_buffer *job, bool *keep)
{
	uint32_t before;
	r->out = NULL;
	r->result = &r->unused;
	const bool quiet = r->reader->reports.quiet;
	r->reader->reports.quiet = true;
	int status = take_all(r, job);
	r->reader->reports.quiet = quiet;
	uint64_t hash = tw_hash64(r->hash ^ r->size);
	bool any = r->size > TW_FDR_METADATA_SIZE, twin = any && tw_map_find(&r->written, hash, &before);
	*keep = any && !twin;
	if (status >= 0 && twin)
		tw_report(r->reader, &fdr_rules[FDR_BUFFER_TWICE], job->place.offset, job->place.offset, 0,
		          "once repaired this is the same buffer as one before it: written once");
	if (status >= 0 && *keep && !tw_map_add(&r->written, hash, 0))
		return tw_fail_memory(r->reader);
	return status;
}

/* Version 1: a buffer that would be written, with its EndOfBuffer. */
static void count_buffer(struct fdr_rewrite *r)
{
	const uint64_t size = r->size + TW_FDR_METADATA_SIZE;
	r->counts.buffers++;
	r->counts.full += size == r->target.buffer_size;
	r->counts.longest = size > r->counts.longest ? size : r->counts.longest;
}

/* Leaves the cursor where the buffer ends: before job->place.next when another one begins inside it. */
static int rewrite_buffer(struct fdr_rewrite *r, struct tw_output *out, struct tw_rewrite_result *result,
                          const struct rewritten_buffer *job)
{
	bool keep;
	int status = measure(r, job, &keep);
	struct tw_fdr_record extents = {.kind = TW_FDR_BUFFER_EXTENTS, .value = r->size};
	if (r->counts.only && keep)
		count_buffer(r);
	if (status < 0 || r->counts.only)
		return status;
	r->out = keep ? out : NULL;
	r->result = keep ? result : &r->unused;
	if (keep) {
		put_fill(out, r->fill);
		r->fill = 0;
	}
	if (keep && r->target.version >= 2)
		put(r, extents, NULL, &status);
	status = take_all(r, job);
	count_loss(r, &job->place, result);
	if (keep)
		put_end(r, &job->place);
	return status;
}

/* ---- The whole log. ---- */

static int compare_jobs(const void *left, const void *right)
{
	const struct rewritten_buffer *a = left, *b = right;
	return tw_compare(a->place.offset, b->place.offset);
}

/* Whether times of events become counts or deltas, or CPUs are added: then a buffer that begins without a count needs
 * the one that its thread has there. */
static bool needs_counts(const struct fdr_rewrite *r)
{
	bool needed = false;
	for (size_t i = 0; r->target.version != r->log->header.version && i < r->log->place_count; i++)
		needed |= r->log->places[i].thread && r->log->places[i].tsc == UINT64_MAX;
	return needed;
}

/* Goes through the buffers thread by thread, in the order of time, for the count that each begins with. */
static int count_ahead(struct fdr_rewrite *r, struct rewritten_buffer *jobs)
{
	struct fdr_cursor *cursor = &r->cursor;
	struct fdr_item item;
	int status = 0;
	r->reader->reports.quiet = true;
	for (size_t i = 0; i < r->log->place_count && status >= 0; i++) {
		if (i == 0 || jobs[i].place.thread != jobs[i - 1].place.thread)
			cursor->tsc = cursor->cpu = 0;
		jobs[i].tsc = cursor->tsc;
		jobs[i].cpu = cursor->cpu;
		fdr_cursor_enter(cursor, &jobs[i].place);
		while ((status = fdr_cursor_next(cursor, &item)) > 0)
			;
	}
	r->reader->reports.quiet = false;
	return status;
}

/* The buffers in the order of the file, each once. */
static int list_jobs(struct fdr_rewrite *r, struct rewritten_buffer **list)
{
	const struct fdr_log *log = r->log;
	struct rewritten_buffer *jobs = *list = calloc(log->place_count + 1, sizeof *jobs);
	if (!jobs)
		return tw_fail_memory(r->reader);
	for (size_t i = 0; i < log->place_count; i++)
		jobs[i] = (struct rewritten_buffer){.place = log->places[i]};
	int status = needs_counts(r) ? count_ahead(r, jobs) : 0;
	qsort(jobs, log->place_count, sizeof *jobs, compare_jobs);
	return status;
}

/* Writes the buffers that begin inside of another buffer: the index has none of them. */
static int rewrite_inner(struct fdr_rewrite *r, struct tw_output *out, struct tw_rewrite_result *result, uint64_t end)
{
	uint64_t at = r->cursor.buffer.next;
	int status = 0;
	while (status >= 0 && at < end) {
		struct fdr_buffer buffer;
		status = fdr_find_buffer(r->reader, r->log, &r->window, at, &buffer);
		if (status <= 0)
			break;
		struct rewritten_buffer job = {.place = fdr_place_of(&buffer)};
		job.place.end = buffer.end < end ? buffer.end : end;
		job.place.next = buffer.next < end ? buffer.next : end;
		at = job.place.next;
		if (!buffer.has_thread) {
			result->lost_bytes += at - buffer.offset;
		} else if (tw_thread_wanted(&r->reader->options, buffer.thread)) {
			status = rewrite_buffer(r, out, result, &job);
			at = r->cursor.buffer.next;
		}
	}
	return status;
}

/* out: NULL where buffers are only counted. */
static int rewrite_all(struct fdr_rewrite *r, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct tw_reader *reader = r->reader;
	struct rewritten_buffer *jobs;
	int status = list_jobs(r, &jobs);
	r->cursor.buffer.resumes = true;
	for (size_t i = 0; status >= 0 && i < r->log->place_count && !(out && out->error); i++) {
		const struct fdr_place *place = &jobs[i].place;
		if (!place->thread) {
			result->lost_bytes += place->next - place->offset;
		} else if (tw_thread_wanted(&reader->options, r->log->threads[place->thread].thread)) {
			status = rewrite_buffer(r, out, result, &jobs[i]);
			if (status >= 0)
				status = rewrite_inner(r, out, result, place->next);
		}
	}
	if (r->ends_filled)
		put_fill(out, r->fill);
	free(jobs);
	return status;
}

/* Version 1. A log with fill has it between all buffers, since where the next one begins is told by the header's size;
 * behind the last one there need not be any, unless the file was cut there. As many as about half of those that are
 * written, with the ones that the index does not know, must have kept that size, which may be damaged: what a few claim
 * would make the result many times as long as the log. Those that only get that size by being repaired count as well,
 * as they will when the result is read. A buffer that is longer than that, as a copied stretch makes it, would end
 * behind where its reader looks for the next one: then the size is that of the longest one, or where so much fill would
 * make the result twice as long as the log, there is none. */
static int choose_fill(struct fdr_rewrite *r)
{
	const bool quiet = r->reader->reports.quiet;
	uint64_t filled = 0;
	for (size_t i = 0; i < r->log->place_count; i++)
		filled += has_size(r->log, &r->log->places[i]);
	if (r->log->header.version != 1 || r->target.version != 1)
		return 0;
	r->reader->reports.quiet = r->counts.only = true;
	int status = rewrite_all(r, NULL, &r->unused);
	r->reader->reports.quiet = quiet;
	r->counts.only = false;
	tw_map_free(&r->written);
	r->written = (struct tw_map){0};
	filled = filled > r->counts.full ? filled : r->counts.full;
	r->filled = filled && filled >= r->counts.buffers / 2;
	if (r->filled && r->counts.longest > r->target.buffer_size) {
		r->filled = r->counts.longest <= 2 * tw_input_size(r->reader->input) / r->counts.buffers;
		r->target.buffer_size = r->filled ? r->counts.longest : r->target.buffer_size;
	}
	return status;
}

static int rewrite_log(struct tw_reader *reader, const struct tw_fdr_header *target, struct tw_output *out,
                       struct tw_rewrite_result *result)
{
	struct fdr_state *state = reader->state;
	struct fdr_rewrite r = {.reader = reader,
	                        .log = state->log,
	                        .target = *target,
	                        .window = {.input = reader->input, .chunk = 4096}};
	uint8_t header[TW_FDR_HEADER_SIZE];
	int status = state->log->indexed ? 0 : fdr_index(reader, state->log);
	if (status < 0)
		return status;
	fdr_cursor_init(&r.cursor, reader, state->log, 0);
	status = choose_fill(&r);
	tw_fdr_header_encode(&r.target, header);
	tw_put(out, header, sizeof header);
	if (status >= 0)
		status = rewrite_all(&r, out, result);
	fdr_cursor_free(&r.cursor);
	tw_window_free(&r.window);
	tw_map_free(&r.written);
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
