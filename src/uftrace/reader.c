/* reader.c - the calls of all threads, in the order asked for, and the directory in sum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "uftrace/uftrace.h"

/* ---- The order of time: a heap of threads, the one whose next record is the earliest on top. ---- */

static bool earlier(const struct uftrace_reader *uftrace, uint32_t a, uint32_t b)
{
	const struct uftrace_task *first = &uftrace->tasks[a], *second = &uftrace->tasks[b];
	if (first->record.time != second->record.time)
		return first->record.time < second->record.time;
	return a < b;
}

static void sift_down(struct uftrace_reader *uftrace, size_t at)
{
	for (;;) {
		size_t least = at;
		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < uftrace->heap_count; child++)
			if (earlier(uftrace, uftrace->heap[child], uftrace->heap[least]))
				least = child;
		if (least == at)
			return;
		uint32_t other = uftrace->heap[at];
		uftrace->heap[at] = uftrace->heap[least];
		uftrace->heap[least] = other;
		at = least;
	}
}

/* Gets the next record of a task that is open. Returns 1, 0 at its end, or a negative status. */
static int advance(struct uftrace_reader *uftrace, struct uftrace_task *task)
{
	int status = uftrace_cursor_next(&task->cursor, &task->record);
	if (status == 0) {
		uftrace->lost += task->cursor.lost_bytes;
		uftrace_cursor_close(&task->cursor);
	}
	return status;
}

static int open_all(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uftrace->heap = calloc(uftrace->task_count + 1, sizeof *uftrace->heap);
	if (!uftrace->heap)
		return uftrace_no_memory(reader);
	for (size_t i = 0; i < uftrace->task_count; i++) {
		struct uftrace_task *task = &uftrace->tasks[i];
		if (!task->file || !task->shown)
			continue;
		int status = uftrace_cursor_open(&task->cursor, reader, task->file);
		status = status < 0 ? status : advance(uftrace, task);
		if (status < 0)
			return status;
		if (status)
			uftrace->heap[uftrace->heap_count++] = (uint32_t)i;
	}
	for (size_t i = uftrace->heap_count; i-- > 0;)
		sift_down(uftrace, i);
	return 0;
}

static int next_by_time(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	int status = uftrace->begun ? 1 : open_all(reader);
	/* The record that was given last: its data stood in the window until now. */
	if (uftrace->begun && uftrace->heap_count) {
		status = advance(uftrace, &uftrace->tasks[uftrace->heap[0]]);
		if (status == 0)
			uftrace->heap[0] = uftrace->heap[--uftrace->heap_count];
		sift_down(uftrace, 0);
	}
	uftrace->begun = true;
	if (status < 0 || !uftrace->heap_count)
		return status < 0 ? status : 0;
	*task = &uftrace->tasks[uftrace->heap[0]];
	*record = (*task)->record;
	return 1;
}

/* ---- Thread after thread. ---- */

static int next_by_track(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	int status = 0;
	for (; uftrace->current < uftrace->task_count; uftrace->current++) {
		*task = &uftrace->tasks[uftrace->current];
		if (!(*task)->file || !(*task)->shown)
			continue;
		if (!(*task)->cursor.input)
			status = uftrace_cursor_open(&(*task)->cursor, reader, (*task)->file);
		status = status < 0 ? status : advance(uftrace, *task);
		*record = (*task)->record;
		if (status != 0)
			return status;
	}
	return 0;
}

int uftrace_next(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
{
	int status = reader->options.order == TW_ORDER_TIME ? next_by_time(reader, task, record)
	                                                    : next_by_track(reader, task, record);
	if (status <= 0 || record->type == UFTRACE_GAP)
		return status;
	if (record->time > reader->clock.end_ns)
		reader->clock.end_ns = record->time;
	return 1;
}

/* ---- Names. ---- */

static uint32_t session_of(struct uftrace_reader *uftrace, struct uftrace_task *task, uint64_t time)
{
	if (time >= task->until)
		task->session = uftrace_session_at(&uftrace->symbols, task->image, time, &task->until);
	return task->session;
}

static uint32_t event_name(struct tw_reader *reader, uint64_t number)
{
	char text[32];
	uint32_t name;
	if (tw_map_find(&uftrace_of(reader)->event_names, number, &name))
		return name;
	(void)snprintf(text, sizeof text, "event %" PRIu64, number);
	return tw_dictionary_text(reader->dictionary, text);
}

uint32_t uftrace_record_name(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record)
{
	if (record->type == UFTRACE_EVENT)
		return event_name(reader, record->address);
	return uftrace_name(reader, session_of(uftrace_of(reader), task, record->time), record->address);
}

/* ---- Events. ---- */

static const uint8_t events[UFTRACE_TYPES] = {
    [UFTRACE_ENTRY] = TW_SLICE_BEGIN, [UFTRACE_EXIT] = TW_SLICE_END, [UFTRACE_LOSS] = TW_LOST,
    [UFTRACE_EVENT] = TW_INSTANT,     [UFTRACE_GAP] = TW_LOST,
};

/* The data is kept as long as the batch. */
static int add_arguments(struct tw_reader *reader, const struct uftrace_record *record, struct tw_event *row)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uint8_t *data = uftrace->store + uftrace->stored;
	if (!record->data_size)
		return 0;
	memcpy(data, record->data, record->data_size);
	int count = uftrace_arguments(reader, row->name, record, data, uftrace->arguments + uftrace->argument_count);
	if (count <= 0)
		return count;
	row->first_argument = (uint16_t)uftrace->argument_count;
	row->argument_count = (uint8_t)count;
	uftrace->argument_count += (size_t)count;
	uftrace->stored += record->data_size;
	return 0;
}

static int add_row(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record,
                   struct tw_event *row)
{
	*row = (struct tw_event){
	    .kind = events[record->type],
	    .time = record->time,
	    .offset = record->offset,
	    .track = task->track,
	    .value = record->type == UFTRACE_GAP ? record->size : 0,
	};
	if (row->kind != TW_LOST)
		row->name = uftrace_record_name(reader, task, record);
	return row->name == UINT32_MAX ? TW_ERR_MEMORY : add_arguments(reader, record, row);
}

/* Tracks are made of the tasks, in their order. */
size_t uftrace_member(const struct tw_reader *reader, uint32_t track)
{
	const struct uftrace_reader *uftrace = uftrace_of(reader);
	return uftrace->task_count ? track - uftrace->tasks[0].track : 0;
}

int uftrace_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_task *task;
	struct uftrace_record record;
	size_t rows = 0;
	int status = 1;
	uftrace->argument_count = uftrace->stored = 0;
	while (rows < UFTRACE_ROWS && uftrace->stored + UFTRACE_DATA_MOST <= UFTRACE_STORE && status > 0 &&
	       (status = uftrace_next(reader, &task, &record)) > 0)
		status = add_row(reader, task, &record, &uftrace->events[rows++]) < 0 ? TW_ERR_MEMORY : 1;
	*batch = (struct tw_batch){uftrace->events, rows, uftrace->arguments};
	return status < 0 ? status : (int)rows;
}

/* ---- Records. ---- */

static const char *const kinds[UFTRACE_TYPES] = {
    [UFTRACE_ENTRY] = "entry",
    [UFTRACE_EXIT] = "exit",
    [UFTRACE_LOSS] = "lost",
    [UFTRACE_EVENT] = "event",
};

static void add_field(struct tw_record *record, struct tw_field *fields, struct tw_field field)
{
	fields[record->field_count++] = field;
}

/* The same as an event's argument has it. */
static struct tw_field field_of(const struct tw_reader *reader, const struct tw_argument *argument)
{
	static const enum tw_field_type types[] = {
	    [TW_ARG_NULL] = TW_FIELD_NULL,   [TW_ARG_INT] = TW_FIELD_INT,   [TW_ARG_UINT] = TW_FIELD_UINT,
	    [TW_ARG_POINTER] = TW_FIELD_HEX, [TW_ARG_TEXT] = TW_FIELD_TEXT, [TW_ARG_DOUBLE] = TW_FIELD_DOUBLE,
	    [TW_ARG_BYTES] = TW_FIELD_BYTES,
	};
	struct tw_field field = {.name = tw_dictionary_name(reader->dictionary, argument->name)->text,
	                         .type = types[argument->type],
	                         .size = argument->size};
	if (argument->type == TW_ARG_DOUBLE)
		field.value.d = argument->value.d;
	else if (argument->type == TW_ARG_TEXT || argument->type == TW_ARG_BYTES)
		field.value.bytes = (const char *)argument->value.bytes;
	else
		field.value.u = argument->value.u;
	return field;
}

/* The values, or the bytes where it is not known what they are. */
static int add_data(struct tw_reader *reader, struct tw_record *record, const struct uftrace_record *it, uint32_t name)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct tw_argument arguments[UFTRACE_ARGUMENTS];
	int count = uftrace_arguments(reader, name, it, it->data, arguments);
	for (int i = 0; i < count; i++)
		uftrace->values[i] = field_of(reader, &arguments[i]);
	struct tw_field field = {.name = "data",
	                         .type = TW_FIELD_BYTES,
	                         .value.bytes = (const char *)it->data,
	                         .size = it->data_size};
	if (count > 0)
		field = (struct tw_field){.name = "arguments",
		                          .type = TW_FIELD_OBJECT,
		                          .value.fields = uftrace->values,
		                          .size = (uint64_t)count};
	if (count >= 0)
		add_field(record, uftrace->fields, field);
	return count < 0 ? count : 1;
}

int uftrace_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_task *task;
	struct uftrace_record it;
	int status;
	do
		status = uftrace_next(reader, &task, &it);
	while (status > 0 && it.type == UFTRACE_GAP);
	if (status <= 0)
		return status;
	*record =
	    (struct tw_record){.kind = kinds[it.type], .offset = it.offset, .size = it.size, .fields = uftrace->fields};
	add_field(record, uftrace->fields,
	          (struct tw_field){.name = "tid", .type = TW_FIELD_UINT, .value.u = task->thread});
	add_field(record, uftrace->fields,
	          (struct tw_field){.name = "time", .type = TW_FIELD_UINT, .value.u = it.time});
	add_field(record, uftrace->fields,
	          (struct tw_field){.name = "depth", .type = TW_FIELD_UINT, .value.u = it.depth});
	add_field(record, uftrace->fields,
	          (struct tw_field){.name = it.type == UFTRACE_EVENT  ? "id"
	                                    : it.type == UFTRACE_LOSS ? "count"
	                                                              : "address",
	                            .type = it.type == UFTRACE_ENTRY || it.type == UFTRACE_EXIT ? TW_FIELD_HEX
	                                                                                        : TW_FIELD_UINT,
	                            .value.u = it.address});
	uint32_t number = 0;
	if (it.type != UFTRACE_LOSS) {
		number = uftrace_record_name(reader, task, &it);
		if (number == UINT32_MAX)
			return TW_ERR_MEMORY;
		const struct tw_name *name = tw_dictionary_name(reader->dictionary, number);
		add_field(record, uftrace->fields,
		          (struct tw_field){
			      .name = "name", .type = TW_FIELD_TEXT, .value.bytes = name->text, .size = name->length});
	}
	return it.data_size ? add_data(reader, record, &it, number) : 1;
}

/* ---- In sum. ---- */

static void count(struct uftrace_reader *uftrace, const struct uftrace_task *task, const struct uftrace_record *record)
{
	struct tw_thread_info *thread = &uftrace->threads[task - uftrace->tasks];
	uftrace->kinds[record->type].count++;
	thread->start_ns = thread->records ? thread->start_ns : record->time;
	thread->end_ns = record->time > thread->end_ns ? record->time : thread->end_ns;
	thread->records++;
	thread->bytes += record->size;
}

static int count_all(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_task *task;
	struct uftrace_record record;
	int status;
	while ((status = uftrace_next(reader, &task, &record)) > 0)
		if (record.type != UFTRACE_GAP)
			count(uftrace, task, &record);
	return status;
}

static void tell_threads(struct tw_reader *reader, struct tw_info *info)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	for (size_t i = 0; i < uftrace->task_count; i++) {
		struct tw_thread_info thread = uftrace->threads[i];
		if (!thread.records)
			continue;
		thread.process = uftrace->tasks[i].process;
		thread.thread = uftrace->tasks[i].thread;
		thread.start_ns -= reader->clock.start_ns;
		thread.end_ns -= reader->clock.start_ns;
		info->records += thread.records;
		info->bytes += thread.bytes;
		info->processes += i == 0 || uftrace->tasks[i - 1].process != thread.process;
		uftrace->threads[info->thread_count++] = thread;
	}
	info->threads = uftrace->threads;
}

static void tell_fields(struct uftrace_reader *uftrace, struct tw_info *info)
{
	static const char *const names[] = {"program", "command", "recorded"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (uftrace->texts[i].length)
			uftrace->told[info->field_count++] = (struct tw_field){.name = names[i],
			                                                       .type = TW_FIELD_TEXT,
			                                                       .value.bytes = uftrace->texts[i].bytes,
			                                                       .size = uftrace->texts[i].length};
	info->fields = uftrace->told;
}

int uftrace_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	(void)jobs;
	uftrace->threads = calloc(uftrace->task_count + 1, sizeof *uftrace->threads);
	if (!uftrace->threads)
		return uftrace_no_memory(reader);
	int status = count_all(reader);
	if (status < 0)
		return status;
	tell_threads(reader, info);
	for (size_t i = 0; i < UFTRACE_GAP; i++)
		if (uftrace->kinds[i].count)
			uftrace->kinds[info->kind_count++] = (struct tw_kind_count){kinds[i], uftrace->kinds[i].count};
	info->kinds = uftrace->kinds;
	info->version = uftrace->version;
	info->events = info->records;
	info->lost_bytes = uftrace->lost;
	info->bytes += uftrace->lost;
	info->clock_start_ns = info->records ? reader->clock.start_ns : 0;
	info->span_ns = info->records ? reader->clock.end_ns - reader->clock.start_ns : 0;
	tell_fields(uftrace, info);
	return 0;
}
