/* records.c - the events of a file as they are written, member by member. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"
#include "core/filter/filter.h"

#include <assert.h>
#include <stdlib.h>

/* What a record shows, in this order. */
static const struct {
	enum chrome_member member;
	const char *name;
} shown[] = {
    {CHROME_PH, "ph"},     {CHROME_CAT, "cat"}, {CHROME_NAME, "name"}, {CHROME_TS, "ts"},   {CHROME_DUR, "dur"},
    {CHROME_PID, "pid"},   {CHROME_TID, "tid"}, {CHROME_ID, "id"},     {CHROME_ID2, "id2"}, {CHROME_SCOPE, "scope"},
    {CHROME_S, "s"},       {CHROME_CPU, "cpu"}, {CHROME_OUT, "out"},   {CHROME_IN, "in"},   {CHROME_MESSAGE, "message"},
    {CHROME_ARGS, "args"},
};

enum { FIELDS = sizeof shown / sizeof *shown };

struct chrome_records {
	struct tw_field fields[FIELDS];
	struct chrome_piece *piece; /* texts */
	/* With a filter: the events that it lets through tell which records are wanted. */
	struct tw_window window;
	struct tw_batch batch;
	size_t taken; /* events of the batch */
};

void chrome_records_free(struct chrome_records *records)
{
	if (!records)
		return;
	tw_window_free(&records->window);
	chrome_piece_free(records->piece);
	free(records);
}

static bool is_id(const struct chrome_value *value, enum chrome_member member)
{
	return (member == CHROME_PID || member == CHROME_TID || member == CHROME_CPU) && value->type == CHROME_NUMBER &&
	       chrome_is_whole(value);
}

/* Times stay as they are written: a double would round them. */
static struct tw_field field_of(struct chrome_fill *fill, size_t i, const struct chrome_value *value)
{
	struct tw_field field = {.name = shown[i].name, .type = TW_FIELD_TEXT};
	uint64_t number;
	if (is_id(value, shown[i].member) && chrome_integer(value, &number)) {
		field.type = value->bytes[0] == '-' ? TW_FIELD_INT : TW_FIELD_UINT;
		field.value.u = number;
		return field;
	}
	struct chrome_value text = *value;
	if (value->type == CHROME_STRING)
		text = chrome_text_of(fill, value, false);
	field.value.bytes = (const char *)text.bytes;
	field.size = text.size;
	return field;
}

static int describe(struct tw_reader *reader, struct chrome_records *records, const struct chrome_item *item,
                    struct tw_record *record)
{
	struct chrome_fill fill = {.reader = reader, .state = reader->state, .piece = records->piece, .item = item};
	size_t count = 0;
	chrome_piece_clear(records->piece);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct chrome_value *value = &item->values[shown[i].member];
		if (value->type)
			records->fields[count++] = field_of(&fill, i, value);
	}
	*record = (struct tw_record){
	    .kind = chrome_phases[chrome_phase_number(item)].kind,
	    .offset = item->offset,
	    .size = item->size,
	    .fields = records->fields,
	    .field_count = count,
	};
	return fill.failed ? tw_fail_memory(reader) : 1;
}

/* Whether a row is only the flow that an event of another kind belongs to. */
static bool is_flow_beside(const struct tw_event *event, const struct chrome_item *item)
{
	bool is_flow = event->kind >= TW_FLOW_BEGIN && event->kind <= TW_FLOW_END;
	return is_flow && chrome_phases[chrome_phase_number(item)].event != event->kind;
}

/* The next event that passes the filter, from the file again. */
static int next_filtered(struct tw_reader *reader, struct chrome_records *records, struct chrome_item *item)
{
	for (;;) {
		if (records->taken == records->batch.count) {
			int status = tw_begin(reader, TW_USE_RECORDS, &(struct tw_request){.marks_made = true});
			if (status == 0)
				status = tw_filter_read(reader->filtering.filter, reader, &records->batch);
			if (status <= 0)
				return status;
			records->taken = 0;
		}
		assert(records->batch.events);
		const struct tw_event *event = &records->batch.events[records->taken++];
		if (event->kind == TW_LOST || tw_is_made(event))
			continue;
		int status = chrome_item_at(reader, &records->window, event->offset, item);
		if (status < 0 || !is_flow_beside(event, item))
			return status;
	}
}

static bool is_wanted(struct tw_reader *reader, const struct chrome_item *item)
{
	uint32_t track = 0;
	if (reader->options.thread_count)
		track = chrome_track(reader, &item->values[CHROME_PID], &item->values[CHROME_TID]);
	return !item->lost && chrome_wanted(reader, track);
}

static int next_plain(struct tw_reader *reader, struct chrome_item *item)
{
	struct chrome_state *state = reader->state;
	int status;
	do
		status = chrome_next(&state->stream, item);
	while (status > 0 && !is_wanted(reader, item));
	return status;
}

int chrome_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct chrome_state *state = reader->state;
	struct chrome_item item;
	if (!state->records) {
		state->records = calloc(1, sizeof *state->records);
		if (!state->records)
			return tw_fail_memory(reader);
		state->records->window = (struct tw_window){.input = reader->input, .chunk = 1 << 14};
		state->records->piece = calloc(1, sizeof *state->records->piece);
		if (!state->records->piece)
			return tw_fail_memory(reader);
	}
	int status =
	    reader->filtering.filter ? next_filtered(reader, state->records, &item) : next_plain(reader, &item);
	return status > 0 ? describe(reader, state->records, &item, record) : status;
}
