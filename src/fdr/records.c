/* records.c - the records of a log as they are, field by field. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/filter.h"
#include "core/text/fields.h"
#include "fdr/state.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 10 };

struct fdr_records {
	struct tw_field fields[FIELDS];
	struct tw_field_list list; /* of them */
	/* With a filter: the events that it lets through tell which records are wanted. */
	struct tw_reader *events; /* of the thread that is being read */
	struct tw_batch batch;
	size_t taken;      /* events of the batch */
	bool after_wanted; /* arguments that follow now belong to a wanted record */
};

void fdr_records_free(struct fdr_records *records)
{
	if (!records)
		return;
	tw_close(records->events);
	free(records);
}

/* ---- Fields. ---- */

static void add_uint(struct fdr_records *records, const char *name, uint64_t value)
{
	tw_add_number(&records->list, name, TW_FIELD_UINT, value);
}

static void add_function(struct fdr_records *records, struct fdr_stream *stream, const struct tw_fdr_record *record)
{
	struct tw_reader *reader = stream->cursor.reader;
	add_uint(records, "function_id", record->function_id);
	if (reader->options.namer && reader->options.namer->name) {
		uint32_t number = fdr_name_of(reader, stream->names, record->function_id);
		const struct tw_name *name = tw_dictionary_name(reader->dictionary, number);
		tw_add_bytes(&records->list, "function", TW_FIELD_TEXT, name->text, name->length);
	}
}

static void describe_basic(struct fdr_records *records, struct fdr_stream *stream, const struct fdr_item *item)
{
	const struct tw_track *track = tw_dictionary_track(stream->cursor.reader->dictionary, stream->track);
	bool argument = item->record.kind == TW_FDR_CALL_ARGUMENT;
	if (!argument)
		add_uint(records, "cpu", stream->cursor.cpu);
	add_function(records, stream, &item->record);
	if (argument)
		tw_add_number(&records->list, "argument", TW_FIELD_HEX, item->record.value);
	else
		add_uint(records, "tsc", item->record.tsc);
	add_uint(records, "thread", track->thread);
	if (stream->cursor.log->header.version >= 3)
		add_uint(records, "process", track->process);
}

static void describe_call(struct fdr_records *records, struct fdr_stream *stream, const struct tw_fdr_record *record)
{
	add_function(records, stream, record);
	add_uint(records, "tsc_delta", record->tsc_delta);
}

static void add_type(struct fdr_records *records, const struct fdr_stream *stream, uint16_t type)
{
	const char *name = fdr_type_name(&stream->cursor, type);
	add_uint(records, "event_type", type);
	if (name)
		tw_add_bytes(&records->list, "event_name", TW_FIELD_TEXT, name, strlen(name));
}

static void describe_event(struct fdr_records *records, const struct fdr_stream *stream, const struct fdr_item *item)
{
	const struct tw_fdr_record *record = &item->record;
	uint16_t version = stream->cursor.log->header.version;
	bool typed = record->kind == TW_FDR_TYPED_EVENT;
	add_uint(records, "event_size", record->payload_size);
	if (typed || version >= 5)
		tw_add_number(&records->list, "tsc_delta", TW_FIELD_INT, (uint64_t)(int64_t)(int32_t)record->tsc_delta);
	else
		add_uint(records, "absolute_tsc", record->tsc);
	if (typed)
		add_type(records, stream, record->event_type);
	else if (version == 4)
		add_uint(records, "cpu_id", record->cpu);
	tw_add_bytes(&records->list, "data", TW_FIELD_BYTES, record->payload, item->payload_have);
	/* In a listing the bytes are shown as the text that they are. */
	if (!stream->cursor.reader->options.listing && fdr_payload_is_text(item))
		tw_add_bytes(&records->list, "text", TW_FIELD_TEXT, record->payload, item->payload_have);
}

static void describe_metadata(struct fdr_records *records, const struct tw_fdr_record *record)
{
	switch ((unsigned)record->kind) {
	case TW_FDR_NEW_BUFFER:
		tw_add_number(&records->list, "thread_id", TW_FIELD_INT, record->value);
		break;
	case TW_FDR_NEW_CPU_ID:
		add_uint(records, "cpu_id", record->cpu);
		add_uint(records, "absolute_tsc", record->tsc);
		break;
	case TW_FDR_TSC_WRAP:
		add_uint(records, "absolute_tsc", record->tsc);
		break;
	case TW_FDR_WALL_TIME:
		add_uint(records, "seconds", record->value);
		add_uint(records, "microseconds", record->microseconds);
		break;
	case TW_FDR_CALL_ARGUMENT:
		tw_add_number(&records->list, "argument", TW_FIELD_HEX, record->value);
		break;
	case TW_FDR_BUFFER_EXTENTS:
		add_uint(records, "size", record->value);
		break;
	case TW_FDR_PID:
		tw_add_number(&records->list, "pid", TW_FIELD_INT, record->value);
		break;
	}
}

static void describe(struct fdr_records *records, struct fdr_stream *stream, const struct fdr_item *item,
                     struct tw_record *record)
{
	unsigned kind = (unsigned)item->record.kind;
	bool call = kind <= TW_FDR_ENTER_ARGS, event = fdr_has_payload(kind);
	bool basic = fdr_is_basic(stream->cursor.log);
	records->list = (struct tw_field_list){.fields = records->fields};
	if (basic)
		describe_basic(records, stream, item);
	else if (call)
		describe_call(records, stream, &item->record);
	else if (event)
		describe_event(records, stream, item);
	else
		describe_metadata(records, &item->record);
	if (!basic && (call || event)) {
		const struct tw_track *track = tw_dictionary_track(stream->cursor.reader->dictionary, stream->track);
		add_uint(records, "tsc", stream->cursor.tsc);
		if (!stream->cursor.buffer.orphan)
			add_uint(records, "thread", track->thread);
	}
	if (item->suspect)
		tw_add_number(&records->list, "suspect", TW_FIELD_BOOL, true);
	if (item->uncertain)
		tw_add_number(&records->list, "time_uncertain", TW_FIELD_BOOL, true);
	*record = (struct tw_record){
	    .kind = tw_fdr_kind_name(kind),
	    .offset = item->offset,
	    .size = item->record.size,
	    .fields = records->fields,
	    .field_count = records->list.count,
	};
}

/* ---- With a filter. ---- */

/* Opens the events of one thread, as the options of the reader let them through. */
static int open_events(struct tw_reader *reader, struct fdr_records *records, uint32_t thread)
{
	struct fdr_state *state = reader->state;
	tw_close(records->events);
	state->alone = &thread;
	int status = tw_open_shard(&records->events, reader, 0, 1);
	state->alone = NULL;
	if (status == 0)
		status = tw_begin(records->events, TW_USE_EVENTS, &(struct tw_request){.marks_made = true});
	if (status < 0)
		return tw_fail(reader, status, "%s", records->events ? records->events->error : "out of memory");
	records->events->reports.quiet = true; /* the records themselves report */
	records->batch = (struct tw_batch){0};
	records->taken = 0;
	return 0;
}

/* The offset of the next wanted record of the thread. Returns 1, 0 when there is none, or a negative status. */
static int next_wanted(struct tw_reader *reader, struct fdr_records *records, uint64_t *offset)
{
	for (;;) {
		if (records->taken == records->batch.count) {
			int status = tw_pull(records->events, &records->batch);
			if (status <= 0)
				return status < 0 ? tw_fail(reader, status, "%s", records->events->error) : 0;
			records->taken = 0;
		}
		const struct tw_event *event = &records->batch.events[records->taken];
		if (event->kind != TW_LOST && !tw_is_made(event)) {
			*offset = event->offset;
			return 1;
		}
		records->taken++;
	}
}

/* The thread's next record that is wanted, or that is an argument of such a one. */
static int next_of_thread(struct tw_reader *reader, struct fdr_records *records, struct fdr_item *item)
{
	struct fdr_state *state = reader->state;
	uint64_t wanted = 0;
	int status = next_wanted(reader, records, &wanted);
	bool more = status > 0;
	while (status >= 0 && (more || records->after_wanted)) {
		status = fdr_stream_item(&state->stream, item);
		if (status <= 0)
			return status;
		if (records->after_wanted && item->record.kind == TW_FDR_CALL_ARGUMENT)
			return 1;
		records->after_wanted = more && item->offset == wanted;
		if (records->after_wanted) {
			records->taken++;
			return 1;
		}
	}
	return status < 0 ? status : 0;
}

static int next_filtered(struct tw_reader *reader, struct fdr_records *records, struct fdr_item *item)
{
	struct fdr_state *state = reader->state;
	for (;;) {
		int status = records->events ? next_of_thread(reader, records, item) : 0;
		if (status != 0)
			return status;
		if (state->next_thread == state->thread_count)
			return 0;
		uint32_t thread = state->threads[state->next_thread++];
		status = fdr_stream_thread(&state->stream, reader, thread);
		if (status >= 0)
			status = open_events(reader, records, thread);
		if (status < 0)
			return status;
	}
}

/* ---- Without. ---- */

static int next_plain(struct tw_reader *reader, struct fdr_item *item)
{
	struct fdr_state *state = reader->state;
	for (;;) {
		int status = fdr_stream_item(&state->stream, item);
		if (status != 0)
			return status;
		if (reader->options.order == TW_ORDER_FILE)
			status = fdr_stream_next_buffer(&state->stream, reader);
		else if (state->next_thread < state->thread_count)
			status = fdr_stream_thread(&state->stream, reader, state->threads[state->next_thread++]) < 0
			             ? TW_ERR_MEMORY
			             : 1;
		if (status <= 0)
			return status;
	}
}

int fdr_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct fdr_state *state = reader->state;
	struct fdr_item item;
	if (!state->records)
		state->records = calloc(1, sizeof *state->records);
	if (!state->records)
		return tw_fail_memory(reader);
	int status =
	    reader->filtering.filter ? next_filtered(reader, state->records, &item) : next_plain(reader, &item);
	if (status > 0)
		describe(state->records, &state->stream, &item, record);
	return status;
}
