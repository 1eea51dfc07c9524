/* stream.c - the records of one thread, or of the file in its order, as events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/loops.h"
#include "fdr/state.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Where events go. ---- */

bool fdr_rows_init(struct fdr_rows *rows, size_t events, size_t arguments, size_t bytes)
{
	*rows = (struct fdr_rows){
	    .events = malloc(events * sizeof *rows->events),
	    .arguments = malloc(arguments * sizeof *rows->arguments),
	    .bytes = malloc(bytes),
	    .event_room = events,
	    .argument_room = arguments,
	    .byte_room = bytes,
	};
	return rows->events && rows->arguments && rows->bytes;
}

void fdr_rows_free(struct fdr_rows *rows)
{
	free(rows->events);
	free(rows->arguments);
	free(rows->bytes);
}

int fdr_words_init(struct tw_dictionary *dictionary, struct fdr_words *words)
{
	const struct {
		uint32_t *number;
		const char *text;
	} all[] = {
	    {&words->category, "xray"}, {&words->custom_event, "custom event"}, {&words->typed_event, "typed event"},
	    {&words->data, "data"},     {&words->event_type, "event_type"},     {&words->argument0, "arg0"},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		*all[i].number = tw_dictionary_text(dictionary, all[i].text);
		if (*all[i].number == UINT32_MAX)
			return TW_ERR_MEMORY;
	}
	return 0;
}

/* Whether one more event, with as many arguments as one may have, finds room. */
static bool has_room(const struct fdr_rows *rows)
{
	return !rows->full && rows->event_count < rows->event_room &&
	       rows->argument_room - rows->argument_count >= FDR_ARGUMENTS_MAX;
}

static struct tw_event *add_event(struct fdr_stream *stream, struct fdr_rows *rows, enum tw_event_kind kind,
                                  uint64_t offset)
{
	struct tw_event *event = &rows->events[rows->event_count++];
	stream->last_ns = tw_ticks_ns(&stream->clock, stream->cursor.tsc);
	*event = (struct tw_event){
	    .time = stream->last_ns,
	    .offset = offset,
	    .track = stream->track,
	    .kind = (uint8_t)kind,
	    .cpu = stream->cursor.cpu,
	    .first_argument = (uint16_t)rows->argument_count,
	};
	return event;
}

static void add_argument(struct fdr_rows *rows, struct tw_event *event, const struct tw_argument *argument)
{
	rows->arguments[rows->argument_count++] = *argument;
	event->argument_count++;
}

/* ---- One record, of any kind. ---- */

/* Whether the next record of the buffer is an argument of the call before. */
static bool argument_follows(struct fdr_cursor *cursor)
{
	const uint8_t *bytes;
	size_t size;
	if (cursor->buffer.damaged || fdr_cursor_bytes(cursor, &bytes, &size) < 0 || size < TW_FDR_METADATA_SIZE)
		return false;
	if (fdr_is_basic(cursor->log))
		return tw_load16(bytes, cursor->log->header.layout != TW_FDR_LITTLE) == 1;
	return bytes[0] == fdr_first_byte(cursor->log->header.layout, TW_FDR_CALL_ARGUMENT);
}

static int next_item(struct fdr_stream *stream, struct fdr_item *item)
{
	uint64_t before = stream->cursor.tsc;
	int status = fdr_cursor_next(&stream->cursor, item);
	if (status > 0 && stream->checker)
		fdr_check_item(stream->checker, &stream->cursor, item, before);
	return status;
}

static int take_arguments(struct fdr_stream *stream, struct fdr_rows *rows, struct tw_event *event)
{
	struct fdr_item item;
	while (event->argument_count < FDR_ARGUMENTS_MAX && argument_follows(&stream->cursor)) {
		int status = next_item(stream, &item);
		if (status <= 0)
			return status;
		uint32_t name = stream->words->argument0;
		if (event->argument_count) {
			char text[8];
			snprintf(text, sizeof text, "arg%u", event->argument_count);
			name = tw_dictionary_text(stream->cursor.reader->dictionary, text);
		}
		if (name == UINT32_MAX)
			return tw_fail_memory(stream->cursor.reader);
		add_argument(rows, event,
		             &(struct tw_argument){.name = name, .type = TW_ARG_POINTER, .value.u = item.record.value});
	}
	return 0;
}

static uint8_t doubt_of(const struct fdr_item *item)
{
	return item->suspect || item->uncertain ? TW_FLAG_UNCERTAIN : 0;
}

static const struct {
	enum tw_event_kind kind;
	uint8_t flags;
} call_forms[] = {
    [TW_FDR_ENTER] = {TW_SLICE_BEGIN, 0},
    [TW_FDR_EXIT] = {TW_SLICE_END, 0},
    [TW_FDR_TAIL_EXIT] = {TW_SLICE_END, TW_FLAG_TAIL},
    [TW_FDR_ENTER_ARGS] = {TW_SLICE_BEGIN, 0},
};

static int take_call(struct fdr_stream *stream, struct fdr_rows *rows, const struct fdr_item *item)
{
	struct tw_reader *reader = stream->cursor.reader;
	const struct tw_fdr_record *record = &item->record;
	struct tw_event *event = add_event(stream, rows, call_forms[record->kind].kind, item->offset);
	event->flags = call_forms[record->kind].flags | doubt_of(item);
	event->name = fdr_name_of(reader, stream->names, record->function_id);
	if (event->name == UINT32_MAX)
		return tw_fail_memory(reader);
	return record->kind == TW_FDR_ENTER_ARGS ? take_arguments(stream, rows, event) : 0;
}

/* A payload is kept with the rows, or, when too large for that, left in the window and handed over at once. */
static const uint8_t *keep_payload(struct fdr_rows *rows, const struct fdr_item *item)
{
	size_t size = item->payload_have;
	if (size > rows->byte_room - rows->byte_count) {
		rows->full = true;
		return item->record.payload;
	}
	uint8_t *kept = rows->bytes + rows->byte_count;
	if (size)
		memcpy(kept, item->record.payload, size);
	rows->byte_count += size;
	return kept;
}

/* What a type is called; UINT32_MAX: there is no memory. */
static uint32_t name_of_type(const struct fdr_stream *stream, uint16_t type)
{
	struct tw_reader *reader = stream->cursor.reader;
	const char *text = fdr_type_name(&stream->cursor, type);
	return text ? tw_dictionary_text(reader->dictionary, text) : stream->words->typed_event;
}

static int take_event(struct fdr_stream *stream, struct fdr_rows *rows, const struct fdr_item *item)
{
	const struct tw_fdr_record *record = &item->record;
	const struct fdr_words *words = stream->words;
	bool typed = record->kind == TW_FDR_TYPED_EVENT;
	struct tw_event *event = add_event(stream, rows, TW_INSTANT, item->offset);
	event->name = typed ? name_of_type(stream, record->event_type) : words->custom_event;
	if (event->name == UINT32_MAX)
		return tw_fail_memory(stream->cursor.reader);
	event->category = words->category;
	event->flags = doubt_of(item);
	if (!typed && stream->cursor.log->header.version < 5) {
		event->time = tw_ticks_ns(&stream->clock, record->tsc);
		if (stream->cursor.log->header.version == 4)
			event->cpu = record->cpu;
	}
	if (typed)
		add_argument(rows, event,
		             &(struct tw_argument){.name = words->event_type,
		                                   .type = TW_ARG_UINT,
		                                   .value.u = record->event_type});
	add_argument(rows, event,
	             &(struct tw_argument){.name = words->data,
	                                   .type = fdr_payload_is_text(item) ? TW_ARG_TEXT : TW_ARG_BYTES,
	                                   .value.bytes = keep_payload(rows, item),
	                                   .size = (uint32_t)item->payload_have});
	return 0;
}

static int take_item(struct fdr_stream *stream, struct fdr_rows *rows, const struct fdr_item *item)
{
	if (item->record.kind <= TW_FDR_ENTER_ARGS)
		return take_call(stream, rows, item);
	if (fdr_has_payload((unsigned)item->record.kind) && !fdr_is_note(&item->record, item->payload_have))
		return take_event(stream, rows, item);
	return 0;
}

/* ---- Buffers. ---- */

/* The counter where a buffer begins that does not tell it there: counted back from where it tells it first, or the
 * first one of the log. */
static uint64_t count_back(struct fdr_cursor *cursor, const struct fdr_place *place)
{
	struct tw_reports *reports = &cursor->reader->reports;
	const bool quiet = reports->quiet;
	const uint16_t cpu = cursor->cpu;
	struct fdr_item item;
	uint64_t counted = 0, counter = 0;
	reports->quiet = true;
	fdr_cursor_enter(cursor, place);
	while (!counter && fdr_cursor_next(cursor, &item) > 0) {
		counter = fdr_has_believed_counter(cursor, &item.record) ? item.record.tsc : 0;
		counted = counter ? counted : cursor->tsc;
	}
	reports->quiet = quiet;
	cursor->cpu = cpu;
	return counter > counted ? counter - counted : cursor->log->first_tsc;
}

bool fdr_stream_enter(struct fdr_stream *stream)
{
	struct fdr_cursor *cursor = &stream->cursor;
	if (stream->place == stream->places_end)
		return false;
	const bool counted_back = stream->place->tsc == UINT64_MAX && !cursor->tsc && !fdr_is_basic(cursor->log);
	if (counted_back)
		cursor->tsc = count_back(cursor, stream->place);
	fdr_cursor_enter(cursor, stream->place);
	cursor->counted_on |= counted_back && cursor->tsc;
	if (stream->checker)
		fdr_check_buffer(stream->checker, &stream->cursor, stream->place);
	stream->place++;
	stream->in_buffer = true;
	return true;
}

static int leave_buffer(struct fdr_stream *stream, struct fdr_rows *rows)
{
	uint64_t lost = fdr_cursor_lost(&stream->cursor);
	stream->in_buffer = false;
	int status = stream->checker ? fdr_check_buffer_end(stream->checker, &stream->cursor) : 0;
	if (status < 0 || !lost || !rows)
		return status;
	uint64_t offset = stream->cursor.gaps.bytes ? stream->cursor.gaps.first : stream->cursor.buffer.next - lost;
	struct tw_event *event = add_event(stream, rows, TW_LOST, offset);
	event->value = lost;
	if (!stream->cursor.tsc) /* nothing before it tells a time */
		event->time = stream->cursor.reader->clock.start_ns;
	return 0;
}

int fdr_stream_item(struct fdr_stream *stream, struct fdr_item *item)
{
	for (;;) {
		if (!stream->in_buffer && !fdr_stream_enter(stream))
			return 0;
		int status = next_item(stream, item);
		if (status == 0)
			status = leave_buffer(stream, NULL);
		if (status != 0)
			return status;
	}
}

int fdr_stream_take(struct fdr_stream *stream, struct fdr_rows *rows)
{
	struct fdr_item item;
	int status = next_item(stream, &item);
	if (status > 0)
		return take_item(stream, rows, &item);
	return status == 0 ? leave_buffer(stream, rows) : status;
}

/* Takes calls of no arguments whose bytes are at hand, as nearly all records are, without the steps that others need:
 * `bench/view` and `make bench` measure them. */
static void take_calls_at_hand(struct fdr_stream *stream, struct fdr_rows *rows)
{
	struct fdr_cursor *cursor = &stream->cursor;
	const enum tw_fdr_layout layout = cursor->log->header.layout;
	const uint8_t *bytes = NULL;
	size_t left = stream->checker || !tw_loop_is_on(TW_LOOP_XRAY_EVENTS) ? 0 : fdr_cursor_at_hand(cursor, &bytes);
	for (; left >= TW_FDR_FUNCTION_SIZE && rows->event_count < rows->event_room; left -= TW_FDR_FUNCTION_SIZE) {
		struct tw_fdr_record record;
		if (fdr_is_metadata(bytes[0], layout) || fdr_take_function(bytes, layout, &record) < 0 ||
		    record.kind == TW_FDR_ENTER_ARGS)
			break;
		const uint32_t name = fdr_name_of(cursor->reader, stream->names, record.function_id);
		if (name == UINT32_MAX)
			break;
		cursor->tsc += record.tsc_delta;
		struct tw_event *event = add_event(stream, rows, call_forms[record.kind].kind, cursor->at);
		event->flags = call_forms[record.kind].flags;
		event->name = name;
		cursor->at += TW_FDR_FUNCTION_SIZE;
		bytes += TW_FDR_FUNCTION_SIZE;
	}
}

int fdr_stream_fill(struct fdr_stream *stream, struct fdr_rows *rows)
{
	while (has_room(rows) && (stream->in_buffer || fdr_stream_enter(stream))) {
		take_calls_at_hand(stream, rows);
		if (!has_room(rows))
			break;
		int status = fdr_stream_take(stream, rows);
		if (status < 0)
			return status;
	}
	return (int)rows->event_count;
}

/* ---- Streams of a reader. ---- */

void fdr_stream_init(struct fdr_stream *stream, struct tw_reader *reader, size_t chunk)
{
	struct fdr_state *state = reader->state;
	*stream = (struct fdr_stream){.names = &state->names, .words = &state->words};
	fdr_cursor_init(&stream->cursor, reader, state->log, chunk);
	tw_ticks_set(&stream->clock, state->log->frequency);
	if (reader->options.checking == TW_CHECK_ALL)
		stream->checker = &state->checker;
}

static int set_track(struct fdr_stream *stream, struct tw_reader *reader, bool known, uint64_t process, uint64_t thread)
{
	struct tw_track track = {.process = process, .thread = thread, .kind = TW_TRACK_THREAD};
	stream->track = known ? tw_dictionary_add_track(reader->dictionary, &track) : 0;
	return stream->track == UINT32_MAX ? tw_fail_memory(reader) : 0;
}

int fdr_stream_thread(struct fdr_stream *stream, struct tw_reader *reader, uint32_t thread)
{
	struct fdr_state *state = reader->state;
	const struct fdr_thread *t = &state->log->threads[thread];
	stream->place = state->log->places + t->first;
	stream->places_end = stream->place + t->count;
	stream->in_buffer = false;
	stream->cursor.tsc = 0;
	stream->cursor.cpu = 0;
	stream->cursor.counted_on = false;
	return set_track(stream, reader, thread != 0, t->process, t->thread);
}

int fdr_stream_next_buffer(struct fdr_stream *stream, struct tw_reader *reader)
{
	struct fdr_state *state = reader->state;
	struct fdr_buffer buffer = {.next = state->stream.cursor.buffer.next};
	int status;
	do {
		status = fdr_find_buffer(reader, state->log, &state->borders, buffer.next, &buffer);
		if (status <= 0)
			return status;
	} while (buffer.has_thread && !tw_thread_wanted(&reader->options, buffer.thread));
	state->here = fdr_place_of(&buffer);
	stream->place = &state->here;
	stream->places_end = &state->here + 1;
	return set_track(stream, reader, buffer.has_thread, buffer.process, buffer.thread) < 0 ? TW_ERR_MEMORY : 1;
}
