/* cursor.c - the records of one buffer, one after the other, whatever they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/plural.h"
#include "fdr/known.h"

#include <inttypes.h>

void fdr_cursor_init(struct fdr_cursor *cursor, struct tw_reader *reader, const struct fdr_log *log, size_t chunk)
{
	*cursor = (struct fdr_cursor){
	    .reader = reader,
	    .log = log,
	    .window = {.input = reader->input},
	    .chunk = chunk ? chunk : TW_WINDOW_CHUNK,
	    .payload_limit = tw_memory_limit(reader) / 16,
	};
}

void fdr_cursor_free(struct fdr_cursor *cursor)
{
	tw_window_free(&cursor->window);
}

void fdr_cursor_enter(struct fdr_cursor *cursor, const struct fdr_place *place)
{
	cursor->buffer.start = cursor->at = place->offset;
	cursor->buffer.end = cursor->buffer.looked = fdr_is_basic(cursor->log) ? place->end : place->offset;
	cursor->buffer.last = place->end;
	cursor->buffer.next = place->next;
	cursor->stretches.next = cursor->stretches.count = 0;
	cursor->gaps.bytes = cursor->buffer.counter = 0;
	cursor->excess = place->excess;
	cursor->filled = place->filled;
	cursor->cut = place->cut;
	cursor->searched = place->searched;
	cursor->buffer.orphan = place->orphan;
	cursor->buffer.damaged = cursor->buffer.begun = false;
	cursor->typed_events = 0;
	cursor->missing = 0;
	cursor->doubted = place->doubted && !place->resumed ? place->stated_tsc : UINT64_MAX;
	cursor->counted_on |= cursor->doubted != UINT64_MAX;
	cursor->tsc = place->resumed ? place->stated_tsc : cursor->tsc;
	cursor->cpu = place->resumed ? place->stated_cpu : cursor->cpu;
}

uint64_t fdr_cursor_lost(const struct fdr_cursor *cursor)
{
	uint64_t stop = cursor->filled && !cursor->buffer.damaged ? cursor->buffer.next : cursor->at;
	return cursor->buffer.next - stop + cursor->gaps.bytes;
}

static int hop(struct fdr_cursor *cursor);

static size_t chunk_for(const struct fdr_cursor *cursor, uint64_t left)
{
	return left < cursor->chunk && !cursor->onward ? (size_t)left : cursor->chunk;
}

int fdr_cursor_bytes(struct fdr_cursor *cursor, const uint8_t **bytes, size_t *size)
{
	if (cursor->at == cursor->buffer.end &&
	    (cursor->stretches.next < cursor->stretches.count || cursor->buffer.looked < cursor->buffer.last)) {
		int status = hop(cursor);
		if (status < 0)
			return status;
	}
	uint64_t left = cursor->buffer.end - cursor->at;
	size_t record = fdr_is_basic(cursor->log) ? TW_BASIC_RECORD_SIZE : TW_FDR_RECORD_MAX;
	size_t want = left < record ? (size_t)left : record;
	*size = 0;
	*bytes = (const uint8_t *)""; /* a pointer that may be counted with, even where there are no bytes */
	if (!want)
		return 0;
	cursor->window.chunk = chunk_for(cursor, left);
	int status = tw_window_view(&cursor->window, cursor->at, want, bytes, size);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	if (*size > left)
		*size = (size_t)left;
	return 0;
}

/* ---- Damage. ---- */

/* Ends the buffer here. Always 0, for `return stop(...)`. */
static int stop(struct fdr_cursor *cursor)
{
	cursor->buffer.damaged = cursor->counted_on = true;
	return 0;
}

/* Whether a record begins another buffer. At the start of a buffer BufferExtents and NewBuffer are its own. */
static bool nested(const struct fdr_cursor *cursor, enum tw_fdr_kind kind)
{
	uint64_t into = cursor->at - cursor->buffer.start;
	return (kind == TW_FDR_BUFFER_EXTENTS && into != 0) ||
	       (kind == TW_FDR_NEW_BUFFER && (cursor->buffer.begun || into > TW_FDR_METADATA_SIZE));
}

/* first: the first byte of the record, which tells a typed event even where no more of it is there. */
static int stop_short(struct fdr_cursor *cursor, const struct tw_fdr_record *record, uint64_t need, uint8_t first)
{
	enum tw_fdr_layout layout = cursor->log->header.layout;
	uint64_t left = cursor->buffer.last - cursor->at;
	bool known = left >= TW_FDR_METADATA_SIZE || need == TW_FDR_FUNCTION_SIZE;
	const char *kind = known ? tw_fdr_kind_name((unsigned)record->kind) : NULL;
	cursor->missing = need - left;
	uint64_t typed = cursor->typed_events + (uint64_t)(first == fdr_first_byte(layout, TW_FDR_TYPED_EVENT));
	if (typed && !cursor->cut && cursor->missing <= typed * TW_FDR_METADATA_SIZE)
		tw_report(cursor->reader, &fdr_rules[FDR_TYPED_EVENT_EXTENTS], cursor->buffer.start, cursor->at, 0,
		          "%" PRIu64 " typed event%s made the extents %" PRIu64
		          " bytes too short: what was there is not in the file",
		          typed, tw_plural(typed), typed * TW_FDR_METADATA_SIZE);
	else if (!cursor->cut)
		tw_report(cursor->reader, &fdr_rules[FDR_RECORD_TRUNCATED], cursor->at, cursor->buffer.last, 0,
		          "expected %" PRIu64 " byte%s of %s, found the end of the buffer after %" PRIu64, need,
		          tw_plural(need), kind ? kind : "a record", left);
	return stop(cursor);
}

static int stop_wrong(struct fdr_cursor *cursor, const struct tw_fdr_record *record, int status)
{
	unsigned kind = (unsigned)record->kind;
	if (status == TW_ERR_VALUE)
		tw_report(cursor->reader, &fdr_rules[FDR_EVENT_SIZE], cursor->at, cursor->at + 1, 0,
		          "expected the size of a %s to be above 0", tw_fdr_kind_name(kind));
	else if (kind >= FDR_METADATA)
		tw_report(cursor->reader, &fdr_rules[FDR_RECORD_KIND], cursor->at, cursor->at, 0,
		          "expected a metadata record of kind 0 to 9, found kind %u", kind - FDR_METADATA);
	else
		tw_report(cursor->reader, &fdr_rules[FDR_FUNCTION_KIND], cursor->at, cursor->at, 0,
		          "expected a function record of kind 0 to 3, found kind %u", kind);
	return stop(cursor);
}

static int stop_nested(struct fdr_cursor *cursor, const struct tw_fdr_record *record)
{
	tw_report(cursor->reader, &fdr_rules[FDR_NESTED_BUFFER], cursor->buffer.start, cursor->at, 0,
	          "expected a record of this buffer, found %s", tw_fdr_kind_name((unsigned)record->kind));
	if (cursor->buffer.resumes)
		cursor->buffer.next = cursor->at;
	return stop(cursor);
}

/* ---- Where the records are. ---- */

/* Decodes at an offset as if all the rest of the buffer were records. Returns as tw_fdr_next(), 0 where nothing is
 * left, or TW_ERR_SYSTEM. */
static int decode_at(struct fdr_cursor *cursor, uint64_t at, struct tw_fdr_decoder *decoder,
                     struct tw_fdr_record *record)
{
	uint64_t left = cursor->buffer.last - at;
	*decoder =
	    (struct tw_fdr_decoder){.version = cursor->log->header.version, .layout = cursor->log->header.layout};
	*record = (struct tw_fdr_record){0};
	if (!left)
		return 0;
	cursor->window.chunk = chunk_for(cursor, left);
	int status = tw_window_view(&cursor->window, at, left < TW_FDR_RECORD_MAX ? (size_t)left : TW_FDR_RECORD_MAX,
	                            &decoder->bytes, &decoder->left);
	if (status < 0)
		return TW_ERR_SYSTEM;
	if (decoder->left > left)
		decoder->left = (size_t)left;
	return tw_fdr_next(decoder, record);
}

/* Tells of bytes that are no records, by the first of them. */
static void report_gap(struct fdr_cursor *cursor, uint64_t size)
{
	struct tw_fdr_decoder decoder;
	struct tw_fdr_record record;
	int status = decode_at(cursor, cursor->at, &decoder, &record);
	if (status == TW_ERR_FORMAT || status == TW_ERR_VALUE)
		stop_wrong(cursor, &record, status);
	else if (decoder.need > cursor->buffer.last - cursor->at)
		stop_short(cursor, &record, decoder.need, decoder.bytes[0]);
	else
		tw_report(cursor->reader, &fdr_rules[FDR_DOUBTFUL], cursor->at, cursor->at, 0,
		          "expected records, found %" PRIu64 " byte%s that do not fit the rest of the log", size,
		          tw_plural(size));
}

/* Gives the next bytes of the buffer that were not looked at. Returns 0 or a negative status. */
static int view_ahead(struct fdr_cursor *cursor, struct fdr_span *span, bool *cut)
{
	enum { AT_ONCE = 1 << 16 };
	const uint64_t left = cursor->buffer.last - cursor->buffer.looked;
	const size_t want = left < AT_ONCE ? (size_t)left : AT_ONCE;
	size_t have;
	cursor->window.chunk = chunk_for(cursor, left);
	int status = tw_window_view(&cursor->window, cursor->buffer.looked, want, &span->bytes, &have);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	*cut = have < want;
	span->size = *cut ? have : want;
	span->beyond = *cut ? 0 : left - want;
	return 0;
}

/* Whether bytes are records as they stand; *done: how many of them are. Returns 1, 0, or a negative status. */
static int is_as_it_stands(struct fdr_cursor *cursor, struct fdr_span *span, size_t *done)
{
	const struct fdr_known *known = NULL;
	int status = cursor->searched ? fdr_known_of(cursor->reader, cursor->log, &known) : 0;
	if (status < 0)
		return status;
	if (fdr_finds_copy(span) || (cursor->searched && fdr_is_misplaced(cursor->log, known, span)) ||
	    !fdr_is_sound(cursor->log, span, done))
		return 0;
	if (span->bare || span->halved)
		status = fdr_known_of(cursor->reader, cursor->log, &known);
	if (status < 0)
		return status;
	return !(span->bare && fdr_has_arguments(known)) && !(span->halved && fdr_is_half(known, &span->half));
}

/* Finds the stretches of bytes that are records. Returns 0 or a negative status. */
static int fit_ahead(struct fdr_cursor *cursor, struct fdr_span *span, size_t *done)
{
	const struct fdr_known *known;
	int status = fdr_known_of(cursor->reader, cursor->log, &known);
	if (status < 0)
		return status;
	span->counter = cursor->buffer.counter;
	status = fdr_fit(cursor->log, known, span, cursor->stretches.items, FDR_STRETCHES, done);
	if (status < 0)
		return tw_fail_memory(cursor->reader);
	cursor->stretches.count = (size_t)status;
	for (size_t i = 0; i < cursor->stretches.count; i++) {
		cursor->stretches.items[i].begin += cursor->buffer.looked;
		cursor->stretches.items[i].end += cursor->buffer.looked;
	}
	return 0;
}

/* Looks at the next bytes of the buffer: they are records as they stand, or the stretches of them are. */
static int look_ahead(struct fdr_cursor *cursor)
{
	struct fdr_span span = {.from_start = (size_t)(cursor->buffer.looked - cursor->buffer.start),
	                        .counter = cursor->buffer.counter,
	                        .excess = cursor->excess,
	                        .searched = cursor->searched};
	size_t done = 0;
	bool cut = false;
	int status = view_ahead(cursor, &span, &cut);
	if (status < 0)
		return status;
	const int stands = is_as_it_stands(cursor, &span, &done);
	cursor->stretches.next = 0;
	cursor->stretches.count = 1;
	cursor->stretches.items[0] = (struct fdr_stretch){cursor->buffer.looked, cursor->buffer.looked + done};
	status = stands ? stands : fit_ahead(cursor, &span, &done);
	if (status < 0)
		return status;
	cursor->buffer.counter = span.counter;
	cursor->buffer.looked = done && !(stands && cut) ? cursor->buffer.looked + done : cursor->buffer.last;
	return 0;
}

/* Whether another buffer begins here for certain: where bytes are missing, any may stand here. */
static bool begins_buffer(struct fdr_cursor *cursor)
{
	enum { START = 3 * TW_FDR_METADATA_SIZE };
	struct tw_fdr_decoder decoder;
	struct tw_fdr_record record;
	const uint8_t *bytes;
	size_t have;
	if (cursor->buffer.last - cursor->at < START || decode_at(cursor, cursor->at, &decoder, &record) <= 0 ||
	    !nested(cursor, record.kind) || tw_window_view(&cursor->window, cursor->at, START, &bytes, &have) < 0)
		return false;
	return have >= START && fdr_find_start(cursor->log, bytes, START, 1) == 0;
}

/* Ends the buffer at bytes of which none are records. */
static int end_early(struct fdr_cursor *cursor)
{
	cursor->stretches.next = cursor->stretches.count;
	cursor->buffer.looked = cursor->buffer.last;
	if (begins_buffer(cursor)) {
		struct tw_fdr_decoder decoder;
		struct tw_fdr_record record;
		decode_at(cursor, cursor->at, &decoder, &record);
		return stop_nested(cursor, &record);
	}
	report_gap(cursor, cursor->buffer.last - cursor->at);
	return stop(cursor);
}

static void pass_gap(struct fdr_cursor *cursor, uint64_t to)
{
	report_gap(cursor, to - cursor->at);
	cursor->buffer.damaged = false;
	cursor->counted_on = true;
	cursor->missing = 0;
	cursor->gaps.first = cursor->gaps.bytes ? cursor->gaps.first : cursor->at;
	cursor->gaps.bytes += to - cursor->at;
	cursor->at = to;
}

/* Goes on behind the records that were looked at, over a gap where there is one. */
static int hop(struct fdr_cursor *cursor)
{
	while (cursor->at == cursor->buffer.end) {
		if (cursor->stretches.next == cursor->stretches.count && cursor->buffer.looked == cursor->buffer.last)
			return 0;
		int status = cursor->stretches.next == cursor->stretches.count ? look_ahead(cursor) : 0;
		if (status < 0)
			return status;
		if (cursor->stretches.next == cursor->stretches.count)
			continue;
		const struct fdr_stretch *to = &cursor->stretches.items[cursor->stretches.next++];
		if (to->begin > cursor->at && begins_buffer(cursor))
			return end_early(cursor);
		if (to->begin > cursor->at)
			pass_gap(cursor, to->begin);
		cursor->buffer.end = to->end;
	}
	return 0;
}

/* ---- Records. ---- */

static void set_counter(struct fdr_cursor *cursor, const struct tw_fdr_record *record)
{
	if (!fdr_has_believed_counter(cursor, record))
		return;
	cursor->tsc = record->tsc;
	cursor->counted_on = false;
}

static void move_on(struct fdr_cursor *cursor, const struct tw_fdr_record *record)
{
	switch (record->kind) {
	case TW_FDR_ENTER:
	case TW_FDR_EXIT:
	case TW_FDR_TAIL_EXIT:
	case TW_FDR_ENTER_ARGS:
		cursor->tsc += record->tsc_delta;
		break;
	case TW_FDR_NEW_CPU_ID:
		cursor->cpu = record->cpu;
		set_counter(cursor, record);
		break;
	case TW_FDR_TSC_WRAP:
		set_counter(cursor, record);
		break;
	case TW_FDR_CUSTOM_EVENT:
		if (cursor->log->header.version >= 5)
			cursor->tsc += (uint64_t)(int64_t)(int32_t)record->tsc_delta;
		break;
	case TW_FDR_TYPED_EVENT:
		cursor->tsc += (uint64_t)(int64_t)(int32_t)record->tsc_delta;
		cursor->typed_events++;
		break;
	case TW_FDR_NEW_BUFFER:
		cursor->buffer.begun = true;
		break;
	case TW_FDR_END_OF_BUFFER:
	case TW_FDR_WALL_TIME:
	case TW_FDR_CALL_ARGUMENT:
	case TW_FDR_BUFFER_EXTENTS:
	case TW_FDR_PID:
	case TW_FDR_KINDS:
		break;
	}
}

/* Brings as much of a record's payload into the window as the limit allows. */
static int view_payload(struct fdr_cursor *cursor, struct fdr_item *item)
{
	struct tw_fdr_record *record = &item->record;
	size_t have, want = record->payload_size;
	const uint8_t *bytes;
	if (want > cursor->payload_limit) {
		want = cursor->payload_limit;
		tw_report(cursor->reader, &fdr_rules[FDR_EVENT_TOO_LARGE], cursor->at, cursor->at + 1, 0,
		          "the event has %" PRIu32 " bytes, the first %zu are shown", record->payload_size, want);
	}
	int status = tw_window_view(&cursor->window, cursor->at + TW_FDR_METADATA_SIZE, want, &bytes, &have);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	item->payload_have = have < want ? have : want;
	record->payload = item->payload_have ? bytes : NULL;
	return 0;
}

/* As fdr_cursor_next(), of a basic log: entries, exits and arguments with absolute counts. */
static int next_of_run(struct fdr_cursor *cursor, struct fdr_item *item)
{
	const uint8_t *bytes;
	size_t have;
	struct tw_basic_record record;
	if (cursor->at == cursor->buffer.end)
		return 0;
	int status = fdr_cursor_bytes(cursor, &bytes, &have);
	if (status < 0)
		return tw_fail(cursor->reader, status, "%s", tw_input_error(cursor->reader->input));
	if (have < TW_BASIC_RECORD_SIZE ||
	    tw_basic_decode(bytes, cursor->log->header.version, cursor->log->header.layout, &record) < 0)
		return 0;
	bool argument = record.record_type == FDR_BASIC_ARGUMENT;
	if (!argument) {
		cursor->tsc = record.tsc;
		cursor->cpu = record.cpu;
	}
	*item = (struct fdr_item){
	    .offset = cursor->at,
	    .record = {.kind = argument ? TW_FDR_CALL_ARGUMENT : (enum tw_fdr_kind)record.kind,
	               .size = TW_BASIC_RECORD_SIZE,
	               .function_id = (uint32_t)record.function_id,
	               .tsc = record.tsc,
	               .value = record.argument,
	               .padded = record.padded},
	};
	cursor->at += TW_BASIC_RECORD_SIZE;
	return 1;
}

/* Whether damage follows the record before cursor->end: a record of which only the end is missing is none. */
static bool is_before_damage(struct fdr_cursor *cursor)
{
	struct tw_fdr_decoder decoder;
	struct tw_fdr_record record;
	if (!fdr_gap_follows(cursor))
		return false;
	return cursor->stretches.next < cursor->stretches.count ||
	       decode_at(cursor, cursor->buffer.end, &decoder, &record) != TW_ERR_ROOM;
}

size_t fdr_cursor_at_hand(const struct fdr_cursor *cursor, const uint8_t **bytes)
{
	const uint64_t skip = cursor->at - cursor->window.offset, left = cursor->buffer.end - cursor->at;
	if (cursor->buffer.damaged || cursor->counted_on || fdr_is_basic(cursor->log) || left <= TW_FDR_FUNCTION_SIZE ||
	    skip >= cursor->window.used)
		return 0;
	const uint64_t have = cursor->window.used - skip, wanted = left - TW_FDR_FUNCTION_SIZE;
	*bytes = cursor->window.bytes + skip;
	return (size_t)(have < wanted ? have : wanted);
}

/* Takes a call as fdr_cursor_at_hand() has it. False: it is for fdr_cursor_next(). */
static bool next_call(struct fdr_cursor *cursor, struct fdr_item *item)
{
	const enum tw_fdr_layout layout = cursor->log->header.layout;
	const uint8_t *bytes;
	if (fdr_cursor_at_hand(cursor, &bytes) < TW_FDR_FUNCTION_SIZE)
		return false;
	*item = (struct fdr_item){.offset = cursor->at, .record.size = TW_FDR_FUNCTION_SIZE};
	if (fdr_is_metadata(bytes[0], layout) || fdr_take_function(bytes, layout, &item->record) < 0)
		return false;
	cursor->tsc += item->record.tsc_delta;
	cursor->at += TW_FDR_FUNCTION_SIZE;
	return true;
}

int fdr_cursor_next(struct fdr_cursor *cursor, struct fdr_item *item)
{
	struct tw_fdr_record *record = &item->record;
	struct tw_fdr_decoder decoder = {.version = cursor->log->header.version, .layout = cursor->log->header.layout};
	if (cursor->buffer.damaged)
		return 0;
	if (fdr_is_basic(cursor->log))
		return next_of_run(cursor, item);
	if (next_call(cursor, item))
		return 1;
	int status = fdr_cursor_bytes(cursor, &decoder.bytes, &decoder.left);
	if (status < 0)
		return status;
	if (cursor->buffer.damaged)
		return 0;
	status = tw_fdr_next(&decoder, record);
	if (status == 0)
		return cursor->at < cursor->buffer.last ? end_early(cursor) : 0;
	if (status < 0 && status != TW_ERR_ROOM)
		return stop_wrong(cursor, record, status);
	bool missing = status == TW_ERR_ROOM && !record->payload_size; /* the file was cut after it was opened */
	if (missing || decoder.need > cursor->buffer.end - cursor->at)
		return stop_short(cursor, record, decoder.need, decoder.bytes[0]);
	if (nested(cursor, record->kind))
		return stop_nested(cursor, record);
	record->size = (uint32_t)decoder.need;
	item->offset = cursor->at;
	item->payload_have = 0;
	item->suspect = cursor->at + decoder.need == cursor->buffer.end && is_before_damage(cursor);
	status = record->payload_size ? view_payload(cursor, item) : 0;
	move_on(cursor, record);
	cursor->at += decoder.need;
	item->uncertain = cursor->counted_on && fdr_is_timed(record, decoder.version);
	if (record->kind == TW_FDR_END_OF_BUFFER && decoder.version == 1)
		cursor->buffer.end = cursor->buffer.looked = cursor->buffer.last = cursor->at;
	return status < 0 ? status : 1;
}
