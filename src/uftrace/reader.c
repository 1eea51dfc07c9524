/* reader.c - the calls of all threads, in the order asked for, and the directory in sum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/heap.h"
#include "base/memory/memory.h"
#include "core/filter/filter.h"
#include "uftrace/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Where records come from: the files of tasks, and behind them in number those of CPUs. ---- */

static size_t source_count(const struct uftrace_reader *uftrace)
{
	return uftrace->tasks.count + uftrace->cpus.count;
}

/* Returns the CPU whose file a source is; NULL: it is a task's file. */
static struct uftrace_cpu *cpu_of(const struct uftrace_reader *uftrace, size_t source)
{
	return source < uftrace->tasks.count ? NULL : &uftrace->cpus.items[source - uftrace->tasks.count];
}

static const struct uftrace_record *record_of(const struct uftrace_reader *uftrace, size_t source)
{
	const struct uftrace_cpu *cpu = cpu_of(uftrace, source);
	return cpu ? &cpu->record : &uftrace->tasks.items[source].record;
}

/* Makes a record of the end of a thread, behind those that it has. Returns whether that is known. */
static bool take_end(struct uftrace_task *task)
{
	uint64_t last = task->cursor.time, offset = task->record.offset;
	if (!task->ended)
		return false;
	task->record = (struct uftrace_record){.type = UFTRACE_TASK_END,
	                                       .time = task->ended > last ? task->ended : last,
	                                       .offset = offset};
	task->ended = 0;
	return true;
}

/* Goes to the next record of what is open. Returns 1, 0 at its end, or a negative status. */
static int advance(struct tw_reader *reader, size_t source)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_cpu *cpu = cpu_of(uftrace, source);
	struct uftrace_task *task = &uftrace->tasks.items[source];
	int status = cpu ? uftrace_cpu_next(reader, cpu) : uftrace_cursor_next(&task->cursor, &task->record);
	if (status == 0 && !cpu && task->open_count && take_end(task))
		return 1;
	if (status == 0 && cpu) {
		uftrace_cpu_close(cpu);
	} else if (status == 0) {
		uftrace->lost += task->cursor.lost_bytes;
		uftrace_cursor_close(&task->cursor);
		free(task->open);
		task->open = NULL;
		task->open_count = task->open_room = 0;
	}
	return status;
}

static bool is_open(const struct uftrace_reader *uftrace, size_t source)
{
	const struct uftrace_cpu *cpu = cpu_of(uftrace, source);
	return cpu ? cpu->input != NULL : uftrace->tasks.items[source].cursor.input != NULL;
}

/* Returns 1, 0 where there is nothing to be opened, or a negative status. */
static int open_source(struct tw_reader *reader, size_t source)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_cpu *cpu = cpu_of(uftrace, source);
	struct uftrace_task *task = &uftrace->tasks.items[source];
	if (!cpu && (!task->file || !task->shown))
		return 0;
	int status = cpu ? uftrace_cpu_open(reader, cpu) : uftrace_cursor_open(&task->cursor, reader, task->file);
	if (!cpu)
		uftrace_cursor_own(&task->cursor, task);
	return status < 0 ? status : 1;
}

static int give(struct uftrace_reader *uftrace, size_t source, struct uftrace_task **task,
                struct uftrace_record *record)
{
	const struct uftrace_cpu *cpu = cpu_of(uftrace, source);
	*task = cpu ? cpu->task : &uftrace->tasks.items[source];
	*record = *record_of(uftrace, source);
	return 1;
}

/* ---- The order of time: a heap of sources, the one whose next record is the earliest on top. ---- */

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct uftrace_reader *uftrace = context;
	uint64_t first = record_of(uftrace, a)->time, second = record_of(uftrace, b)->time;
	return first != second ? first < second : a < b;
}

static int open_all(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uftrace->order.heap = calloc(source_count(uftrace) + 1, sizeof *uftrace->order.heap);
	if (!uftrace->order.heap)
		return tw_fail_memory(reader);
	for (size_t i = 0; i < source_count(uftrace); i++) {
		int status = open_source(reader, i);
		if (status > 0)
			status = advance(reader, i);
		if (status < 0)
			return status;
		if (status)
			uftrace->order.heap[uftrace->order.heap_count++] = (uint32_t)i;
	}
	tw_heap_make(uftrace->order.heap, uftrace->order.heap_count, earlier, uftrace);
	return 0;
}

static int next_by_time(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	int status = uftrace->order.begun ? 1 : open_all(reader);
	/* The record that was given last: its data stood in the window until now. */
	if (uftrace->order.begun && uftrace->order.heap_count) {
		status = advance(reader, uftrace->order.heap[0]);
		if (status == 0)
			uftrace->order.heap[0] = uftrace->order.heap[--uftrace->order.heap_count];
		tw_heap_sift(uftrace->order.heap, uftrace->order.heap_count, 0, earlier, uftrace);
	}
	uftrace->order.begun = true;
	if (status < 0 || !uftrace->order.heap_count)
		return status < 0 ? status : 0;
	return give(uftrace, uftrace->order.heap[0], task, record);
}

/* ---- Thread after thread; then CPU after CPU. ---- */

static int next_by_track(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	for (; uftrace->order.current < source_count(uftrace); uftrace->order.current++) {
		int status = is_open(uftrace, uftrace->order.current) ? 1 : open_source(reader, uftrace->order.current);
		if (status > 0)
			status = advance(reader, uftrace->order.current);
		if (status > 0)
			return give(uftrace, uftrace->order.current, task, record);
		if (status < 0)
			return status;
	}
	return 0;
}

/* The next record in the order that is asked for, and its task. Returns 1, 0 at the end, or a negative status. */
static int next_record(struct tw_reader *reader, struct uftrace_task **task, struct uftrace_record *record)
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

static uint32_t event_name(struct tw_reader *reader, uint64_t number)
{
	char text[32];
	uint32_t name;
	if (tw_map_find(&uftrace_of(reader)->tasks.event_names, number, &name))
		return name;
	const char *built_in = uftrace_built_in_event(number);
	(void)snprintf(text, sizeof text, "event %" PRIu64, number);
	return tw_dictionary_text(reader->dictionary, built_in ? built_in : text);
}

/* The name of what a record is about. UINT32_MAX when there is no memory. */
static uint32_t name_of(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record)
{
	if (record->type == UFTRACE_EVENT)
		return event_name(reader, record->address);
	if (record->type == UFTRACE_KERNEL_EVENT)
		return record->event->name;
	if (record->kernel)
		return uftrace_name(reader, UFTRACE_KERNEL, record->address);
	return uftrace_name(reader, uftrace_session_of(uftrace_of(reader), task, record->time), record->address);
}

/* ---- Events. ---- */

static const uint8_t events[UFTRACE_TYPES] = {
    [UFTRACE_ENTRY] = TW_SLICE_BEGIN,
    [UFTRACE_EXIT] = TW_SLICE_END,
    [UFTRACE_LOSS] = TW_LOST,
    [UFTRACE_EVENT] = TW_INSTANT,
    [UFTRACE_GAP] = TW_LOST,
    [UFTRACE_SCHED_IN] = TW_SWITCH,
    [UFTRACE_SCHED_OUT] = TW_SWITCH,
    [UFTRACE_KERNEL_ENTRY] = TW_SLICE_BEGIN,
    [UFTRACE_KERNEL_EXIT] = TW_SLICE_END,
    [UFTRACE_KERNEL_EVENT] = TW_INSTANT,
    [UFTRACE_TASK_END] = TW_LOST, /* which has no name; there is no row of it */
};

/* Adds the arguments of a record to a row, with a copy of their data, which lives as long as the batch. Returns 0 or a
 * negative status. */
static int add_arguments(struct tw_reader *reader, const struct uftrace_record *record, struct tw_event *row)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uint8_t *data = uftrace->batch.bytes + uftrace->batch.byte_count;
	if (!record->data_size)
		return 0;
	memcpy(data, record->data, record->data_size);
	int count = uftrace_arguments(reader, row->name, record, data,
	                              uftrace->batch.arguments + uftrace->batch.argument_count);
	if (count <= 0)
		return count;
	row->first_argument = (uint16_t)uftrace->batch.argument_count;
	row->argument_count = (uint8_t)count;
	uftrace->batch.argument_count += (size_t)count;
	uftrace->batch.byte_count += record->data_size;
	return 0;
}

/* Makes a switch. The trace does not tell what else ran on the CPU: `nobody` stands for it. */
static void add_switch(const struct uftrace_reader *uftrace, const struct uftrace_record *record, struct tw_event *row)
{
	enum { RUNNING = 1, BLOCKED = 3 }; /* as enum tw_sched_state has them */
	bool leaves = record->type == UFTRACE_SCHED_OUT;
	row->cpu = (uint16_t)record->cpu;
	row->other = leaves ? uftrace->cpus.nobody : row->track;
	row->track = leaves ? row->track : uftrace->cpus.nobody;
	row->value = leaves && !record->preempted ? BLOCKED : RUNNING;
}

static int add_row(struct tw_reader *reader, struct uftrace_task *task, const struct uftrace_record *record,
                   struct tw_event *row)
{
	*row = (struct tw_event){
	    .kind = events[record->type],
	    .name = uftrace_of(reader)->waiting.name,
	    .time = record->time,
	    .offset = uftrace_offset(record),
	    .category = record->kernel ? uftrace_of(reader)->kernel.category : 0,
	    .track = task->track,
	    .value = record->type == UFTRACE_GAP ? record->size : 0,
	};
	if (row->kind == TW_SWITCH)
		add_switch(uftrace_of(reader), record, row);
	return row->kind == TW_LOST || row->kind == TW_SWITCH ? 0 : add_arguments(reader, record, row);
}

/* ---- Functions that are over without a record: longjmp() and exec() leave none, and some are lost. ---- */

/* Takes the next record and finds its name. Returns 1, 0 at the end, or a negative status. */
static int take_record(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	int status = next_record(reader, &uftrace->waiting.task, &uftrace->waiting.record);
	if (status <= 0)
		return status;
	bool named =
	    events[uftrace->waiting.record.type] != TW_LOST && events[uftrace->waiting.record.type] != TW_SWITCH;
	uftrace->waiting.name = named ? name_of(reader, uftrace->waiting.task, &uftrace->waiting.record) : 0;
	uftrace->waiting.any = true;
	return uftrace->waiting.name == UINT32_MAX ? TW_ERR_MEMORY : 1;
}

/* Returns how many functions of the thread may be open where the record stands; those above have ended without a
 * record. The one that an exit ends is among them, unless another is open in its place. */
static size_t open_before(const struct uftrace_reader *uftrace)
{
	const struct uftrace_record *record = &uftrace->waiting.record;
	const struct uftrace_task *task = uftrace->waiting.task;
	if (record->type == UFTRACE_ENTRY)
		return record->depth;
	if (record->type == UFTRACE_TASK_END)
		return 0;
	if (record->type != UFTRACE_EXIT)
		return SIZE_MAX;
	bool ends = task->open_count <= record->depth || task->open[record->depth] == uftrace->waiting.name;
	return record->depth + ends;
}

/* Ends a function that must be over by now. Returns whether there was one that had begun. */
static bool end_function(const struct tw_reader *reader, struct tw_event *row)
{
	const struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_task *task = uftrace->waiting.task;
	uint32_t name = task->open[--task->open_count];
	*row = (struct tw_event){
	    .kind = TW_SLICE_END,
	    .flags = reader->request.marks_made ? TW_FLAG_MADE : 0, /* the record is of something else */
	    .time = uftrace->waiting.record.time,
	    .offset = uftrace_offset(&uftrace->waiting.record),
	    .track = task->track,
	    .name = name,
	};
	return name != 0;
}

/* Keeps account of what is open after the record. Returns 0 or a negative status. */
static int note_open(struct tw_reader *reader)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	const struct uftrace_record *record = &uftrace->waiting.record;
	struct uftrace_task *task = uftrace->waiting.task;
	if (record->type == UFTRACE_EXIT && task->open_count > record->depth)
		task->open_count = record->depth;
	if (record->type != UFTRACE_ENTRY)
		return 0;
	if (!tw_grow(&task->open, &task->open_room, record->depth + 1, sizeof *task->open))
		return tw_fail_memory(reader);
	while (task->open_count < record->depth)
		task->open[task->open_count++] = 0;
	task->open[task->open_count++] = uftrace->waiting.name;
	return 0;
}

/* Whether a record makes no row of its own: the end of a thread, and the exit of a function that the parent of a forked
 * process has begun. */
static bool has_no_row(const struct uftrace_reader *uftrace)
{
	const struct uftrace_record *record = &uftrace->waiting.record;
	const struct uftrace_task *task = uftrace->waiting.task;
	if (record->type == UFTRACE_TASK_END)
		return true;
	return record->type == UFTRACE_EXIT && task->parent && !task->lost && task->open_count <= record->depth;
}

/* Adds one row, or none. Returns 1, 0 at the end, or a negative status. */
static int add_next(struct tw_reader *reader, size_t *rows)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct tw_event *row = &uftrace->batch.events[*rows];
	int status = uftrace->waiting.any ? 1 : take_record(reader);
	if (status <= 0)
		return status;
	if (uftrace->waiting.task->open_count > open_before(uftrace)) {
		*rows += end_function(reader, row);
		return 1;
	}
	uftrace->waiting.any = false;
	uftrace->waiting.task->lost |=
	    uftrace->waiting.record.type == UFTRACE_LOSS || uftrace->waiting.record.type == UFTRACE_GAP;
	if (has_no_row(uftrace))
		return 1;
	(*rows)++;
	status = add_row(reader, uftrace->waiting.task, &uftrace->waiting.record, row);
	status = status < 0 ? status : note_open(reader);
	return status < 0 ? status : 1;
}

int uftrace_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	size_t rows = 0;
	int status = 1;
	uftrace->batch.argument_count = uftrace->batch.byte_count = 0;
	while (rows < UFTRACE_ROWS && uftrace->batch.byte_count + UFTRACE_DATA_MOST <= UFTRACE_STORE && status > 0)
		status = add_next(reader, &rows);
	*batch = (struct tw_batch){uftrace->batch.events, rows, uftrace->batch.arguments};
	return status < 0 ? status : (int)rows;
}

/* ---- Records. ---- */

static const char *const kinds[UFTRACE_TYPES] = {
    [UFTRACE_ENTRY] = "entry",
    [UFTRACE_EXIT] = "exit",
    [UFTRACE_LOSS] = "lost",
    [UFTRACE_EVENT] = "event",
    [UFTRACE_SCHED_IN] = "sched-in",
    [UFTRACE_SCHED_OUT] = "sched-out",
    [UFTRACE_KERNEL_ENTRY] = "kernel-entry",
    [UFTRACE_KERNEL_EXIT] = "kernel-exit",
    [UFTRACE_KERNEL_EVENT] = "kernel-event",
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
		uftrace->shown.values[i] = field_of(reader, &arguments[i]);
	struct tw_field field = {.name = "data",
	                         .type = TW_FIELD_BYTES,
	                         .value.bytes = (const char *)it->data,
	                         .size = it->data_size};
	if (count > 0)
		field = (struct tw_field){.name = "arguments",
		                          .type = TW_FIELD_OBJECT,
		                          .value.fields = uftrace->shown.values,
		                          .size = (uint64_t)count};
	if (count >= 0)
		add_field(record, uftrace->shown.fields, field);
	return count < 0 ? count : 1;
}

static void add_number(struct tw_record *record, struct tw_field *fields, const char *name, enum tw_field_type type,
                       uint64_t number)
{
	add_field(record, fields, (struct tw_field){.name = name, .type = type, .value.u = number});
}

/* What a record has that is no switch. Returns 1 or a negative status. */
static int add_call(struct tw_reader *reader, struct tw_record *record, struct uftrace_task *task,
                    const struct uftrace_record *it)
{
	struct tw_field *fields = uftrace_of(reader)->shown.fields;
	static const char *const numbers[UFTRACE_TYPES] = {[UFTRACE_EVENT] = "id", [UFTRACE_LOSS] = "count"};
	const char *number_name = numbers[it->type];
	add_number(record, fields, "depth", TW_FIELD_UINT, it->depth);
	if (it->kernel)
		add_number(record, fields, "cpu", TW_FIELD_UINT, it->cpu);
	if (it->type != UFTRACE_KERNEL_EVENT)
		add_number(record, fields, number_name ? number_name : "address",
		           number_name ? TW_FIELD_UINT : TW_FIELD_HEX, it->address);
	if (it->type == UFTRACE_LOSS)
		return 1;
	uint32_t number = name_of(reader, task, it);
	if (number == UINT32_MAX)
		return TW_ERR_MEMORY;
	const struct tw_name *name = tw_dictionary_name(reader->dictionary, number);
	add_field(
	    record, fields,
	    (struct tw_field){.name = "name", .type = TW_FIELD_TEXT, .value.bytes = name->text, .size = name->length});
	return it->data_size ? add_data(reader, record, it, number) : 1;
}

/* Whether a record is shown: with filters those of events that they let through, and no losses. */
static bool is_shown(const struct tw_reader *reader, const struct uftrace_task *task,
                     const struct uftrace_record *record)
{
	const struct tw_wanted *wanted = uftrace_of(reader)->places.wanted;
	const struct tw_event event = {.kind = events[record->type],
	                               .offset = uftrace_offset(record),
	                               .cpu = (uint16_t)record->cpu,
	                               .track = task->track};
	if (!wanted)
		return record->type < UFTRACE_GAP;
	return event.kind != TW_LOST && tw_is_wanted(wanted, uftrace_place(reader, &event));
}

int uftrace_read_record(struct tw_reader *reader, struct tw_record *record)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	struct uftrace_task *task;
	struct uftrace_record it;
	int status = uftrace_open_wanted(reader);
	if (status < 0)
		return status;
	do
		status = next_record(reader, &task, &it);
	while (status > 0 && !is_shown(reader, task, &it));
	if (status <= 0)
		return status;
	*record = (struct tw_record){.kind = kinds[it.type],
	                             .offset = it.offset,
	                             .size = it.size,
	                             .fields = uftrace->shown.fields};
	add_number(record, uftrace->shown.fields, "tid", TW_FIELD_UINT, task->thread);
	add_number(record, uftrace->shown.fields, "time", TW_FIELD_UINT, it.time);
	if (events[it.type] != TW_SWITCH)
		return add_call(reader, record, task, &it);
	add_number(record, uftrace->shown.fields, "cpu", TW_FIELD_UINT, it.cpu);
	if (it.type == UFTRACE_SCHED_OUT)
		add_number(record, uftrace->shown.fields, "preempted", TW_FIELD_BOOL, it.preempted);
	return 1;
}

/* ---- In sum. ---- */

static void count(struct uftrace_reader *uftrace, const struct uftrace_task *task, const struct uftrace_record *record)
{
	struct tw_thread_info *thread = &uftrace->sums.threads[task - uftrace->tasks.items];
	uftrace->sums.kinds[record->type].count++;
	if (!thread->records || record->time < thread->start_ns)
		thread->start_ns = record->time;
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
	while ((status = next_record(reader, &task, &record)) > 0)
		if (record.type < UFTRACE_GAP)
			count(uftrace, task, &record);
	return status;
}

static void fill_threads(struct tw_reader *reader, struct tw_info *info)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	for (size_t i = 0; i < uftrace->tasks.count; i++) {
		struct tw_thread_info thread = uftrace->sums.threads[i];
		if (!thread.records)
			continue;
		thread.process = uftrace->tasks.items[i].process;
		thread.thread = uftrace->tasks.items[i].thread;
		thread.start_ns -= reader->clock.start_ns;
		thread.end_ns -= reader->clock.start_ns;
		info->records += thread.records;
		info->bytes += thread.bytes;
		info->processes += i == 0 || uftrace->tasks.items[i - 1].process != thread.process;
		uftrace->sums.threads[info->thread_count++] = thread;
	}
	info->threads = uftrace->sums.threads;
}

static void fill_fields(struct uftrace_reader *uftrace, struct tw_info *info)
{
	static const char *const names[] = {"program", "command", "recorded"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (uftrace->header.texts[i].length)
			uftrace->sums.fields[info->field_count++] =
			    (struct tw_field){.name = names[i],
			                      .type = TW_FIELD_TEXT,
			                      .value.bytes = uftrace->header.texts[i].bytes,
			                      .size = uftrace->header.texts[i].length};
	info->fields = uftrace->sums.fields;
}

int uftrace_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	(void)jobs;
	uftrace->sums.threads = calloc(uftrace->tasks.count + 1, sizeof *uftrace->sums.threads);
	if (!uftrace->sums.threads)
		return tw_fail_memory(reader);
	int status = count_all(reader);
	if (status < 0)
		return status;
	fill_threads(reader, info);
	for (size_t i = 0; i < UFTRACE_GAP; i++)
		if (uftrace->sums.kinds[i].count)
			uftrace->sums.kinds[info->kind_count++] =
			    (struct tw_kind_count){kinds[i], uftrace->sums.kinds[i].count};
	info->kinds = uftrace->sums.kinds;
	info->version = uftrace->header.version;
	info->events = info->records;
	info->lost_bytes = uftrace->lost;
	info->bytes += uftrace->lost;
	info->clock_start_ns = info->records ? reader->clock.start_ns : 0;
	info->span_ns = info->records ? reader->clock.end_ns - reader->clock.start_ns : 0;
	fill_fields(uftrace, info);
	return 0;
}
