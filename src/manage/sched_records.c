/* sched_records.c - the kernel's records to switches and wake-ups: perf_event_open(2), <linux/perf_event.h>. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "manage/sched.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What each record says of itself: the last bytes of most, the first of a sample. */
struct id {
	uint32_t process, thread;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* PERF_RECORD_FORK and _EXIT, behind the header. */
struct fork_record {
	uint32_t process, parent, thread, parent_thread;
};

enum { HEAD = sizeof(struct perf_event_header) };

/* What becomes of a thread that leaves its CPU: FXT, "Context Switch Record". */
enum state { RUNNING = 1, SUSPENDED, BLOCKED, DEAD = 5 };

/* ---- Formats of tracepoints. ---- */

static bool read_number(const char *text, const char *before, uint32_t *number)
{
	size_t length = strlen(before);
	char *end = NULL;
	unsigned long value = strncmp(text, before, length) == 0 ? strtoul(text + length, &end, 10) : 0;
	*number = (uint32_t)value;
	return end && end != text + length && value < UINT32_MAX;
}

/* A line of it: `field:pid_t next_pid;	offset:56;	size:4;	signed:1;`, an array has `[16]` behind its name. */
static bool find_field(const char *text, const char *name, struct sched_field *field)
{
	size_t length = strlen(name);
	for (const char *line = text; (line = strstr(line, "field:")); line++) {
		const char *end = strchr(line, ';'), *first = end;
		while (first && first > line && first[-1] != ' ')
			first--;
		bool same =
		    first && strncmp(first, name, length) == 0 && (first[length] == ';' || first[length] == '[');
		const char *next = same ? strchr(end + 1, ';') : NULL;
		if (next && read_number(end, ";\toffset:", &field->offset) &&
		    read_number(next, ";\tsize:", &field->size))
			return field->offset < SCHED_FORMAT && field->size > 0 && field->size < SCHED_FORMAT;
	}
	return false;
}

static bool find_id(const char *text, uint32_t *id)
{
	const char *line = strstr(text, "\nID: ");
	return line && read_number(line, "\nID: ", id) && *id != 0;
}

bool sched_format_switch(struct sched_tracepoint *tracepoint, const char *text)
{
	return find_field(text, "prev_comm", &tracepoint->name) && find_field(text, "prev_pid", &tracepoint->thread) &&
	       find_field(text, "prev_state", &tracepoint->state) &&
	       find_field(text, "next_comm", &tracepoint->next_name) &&
	       find_field(text, "next_pid", &tracepoint->next_thread) && find_id(text, &tracepoint->id);
}

bool sched_format_waking(struct sched_tracepoint *tracepoint, const char *text)
{
	return find_field(text, "comm", &tracepoint->name) && find_field(text, "pid", &tracepoint->thread) &&
	       find_field(text, "target_cpu", &tracepoint->cpu) && find_id(text, &tracepoint->id);
}

/* ---- Threads. ---- */

/* NULL without memory. */
static struct sched_thread *thread_of(struct sched_threads *threads, uint32_t number)
{
	uint32_t at;
	if (tw_map_find(&threads->numbers, number, &at))
		return &threads->items[at];
	if (!tw_grow(&threads->items, &threads->room, threads->count + 1, sizeof *threads->items) ||
	    !tw_map_add(&threads->numbers, number, (uint32_t)threads->count))
		return NULL;
	threads->items[threads->count] = (struct sched_thread){.thread = number};
	return &threads->items[threads->count++];
}

/* Threads move where there is no room for one more. */
static bool find_both(struct sched_threads *threads, uint32_t first, uint32_t second, struct sched_thread **a,
                      struct sched_thread **b)
{
	bool good = thread_of(threads, first) && thread_of(threads, second);
	*a = good ? thread_of(threads, first) : NULL;
	*b = good ? thread_of(threads, second) : NULL;
	return *a && *b;
}

static void set_process(struct sched_thread *thread, uint32_t process)
{
	thread->written = thread->written && thread->process == process;
	thread->process = process;
}

static void set_name(struct sched_thread *thread, const char *name, size_t size)
{
	size_t length = strnlen(name, size < SCHED_NAME ? size : SCHED_NAME);
	if (length == strlen(thread->name) && memcmp(thread->name, name, length) == 0)
		return;
	memcpy(thread->name, name, length);
	thread->name[length] = '\0';
	thread->written = false;
}

/* As the kernel has it, of a thread of which nothing else tells the name. */
static void read_name(struct sched_thread *thread)
{
	char path[64], name[SCHED_NAME + 1];
	snprintf(path, sizeof path, "/proc/%u/task/%u/comm", thread->process, thread->thread);
	FILE *file = fopen(path, "re");
	if (file && fgets(name, sizeof name, file))
		set_name(thread, name, strcspn(name, "\n"));
	if (file)
		fclose(file);
}

/* A thread that is named by an event. Only those have a number in the image: of the others there may be more than an
 * image of its size could name. */
static void put_thread(struct sched_threads *threads, struct sched_thread *thread)
{
	if (thread->written || thread->thread == 0)
		return;
	thread->written = true;
	if (!*thread->name)
		read_name(thread);
	thread->number = thread->number ? thread->number : ++threads->named;
	sched_image_thread(&threads->image, thread->number, thread->process, thread->thread, thread->name);
}

void sched_trace_thread(struct sched_threads *threads, uint32_t process, uint32_t number)
{
	struct sched_thread *thread = thread_of(threads, number);
	if (!thread)
		return;
	*thread = (struct sched_thread){.thread = number, .traced = true};
	set_process(thread, process);
}

void sched_threads_free(struct sched_threads *threads)
{
	free(threads->items);
	tw_map_free(&threads->numbers);
}

/* ---- Threads that begin and end. ---- */

static void take_fork(struct sched_threads *threads, const struct fork_record *task)
{
	uint32_t at;
	bool traced = tw_map_find(&threads->numbers, task->parent_thread, &at) && threads->items[at].traced;
	if (traced)
		sched_trace_thread(threads, task->process, task->thread);
	else if (tw_map_find(&threads->numbers, task->thread, &at)) /* the number of one that has ended */
		threads->items[at] = (struct sched_thread){.thread = task->thread};
}

/* A thread that tells its own switches does not tell the last one: that it exits is the last there is of it. */
static void take_exit(struct sched_threads *threads, const struct fork_record *task, const struct id *id)
{
	uint32_t at;
	const uint32_t both[] = {task->thread, SCHED_OTHERS};
	if (threads->own && tw_map_find(&threads->numbers, task->thread, &at) && threads->items[at].written)
		sched_image_switch(&threads->image, id->time, id->cpu, DEAD, both);
}

static struct perf_event_header header_of(const uint8_t *record)
{
	struct perf_event_header header;
	memcpy(&header, record, sizeof header);
	return header;
}

void sched_take_task(struct sched_threads *threads, const uint8_t *record, size_t size)
{
	struct perf_event_header header = header_of(record);
	struct fork_record task;
	if (header.type != PERF_RECORD_FORK || size < HEAD + sizeof task)
		return;
	memcpy(&task, record + HEAD, sizeof task);
	take_fork(threads, &task);
}

/* ---- Switches. ---- */

/* What a thread does that has left its CPU. Bits of a task's state, TASK_REPORT of the kernel's sched.h: 4 and 8 are
 * stopped and traced, 0x10 dead, 0x20 a zombie; from 0x100 on others, that it could have gone on. */
static enum state state_of(uint64_t bits)
{
	enum { IS_STOPPED = 0xc, IS_DEAD = 0x30, ALL = 0xff };
	if ((bits & ALL) == 0)
		return RUNNING;
	if (bits & IS_DEAD)
		return DEAD;
	return bits & IS_STOPPED ? SUSPENDED : BLOCKED;
}

/* A thread of the programs says that it comes or leaves. */
static void take_own(struct sched_threads *threads, const struct id *id, unsigned misc)
{
	struct sched_thread *thread = thread_of(threads, id->thread);
	bool leaves = misc & PERF_RECORD_MISC_SWITCH_OUT;
	enum state state = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? RUNNING : BLOCKED;
	if (!thread || id->thread == 0 || id->thread == SCHED_OTHERS)
		return;
	set_process(thread, id->process ? id->process : thread->process);
	put_thread(threads, thread);
	const uint32_t both[] = {leaves ? id->thread : SCHED_OTHERS, leaves ? SCHED_OTHERS : id->thread};
	sched_image_switch(&threads->image, id->time, id->cpu, leaves ? state : RUNNING, both);
}

/* A number of 4 or 8 bytes; 0: it is not in the record. */
static uint64_t number_at(const uint8_t *raw, size_t size, const struct sched_field *field)
{
	uint32_t half = 0;
	uint64_t whole = 0;
	if (field->offset > size || size - field->offset < field->size)
		return 0;
	if (field->size == sizeof half)
		memcpy(&half, raw + field->offset, sizeof half);
	if (field->size == sizeof whole)
		memcpy(&whole, raw + field->offset, sizeof whole);
	return half | whole;
}

static void take_name(struct sched_thread *thread, const uint8_t *raw, size_t size, const struct sched_field *field)
{
	if (field->offset <= size && size - field->offset >= field->size)
		set_name(thread, (const char *)raw + field->offset, field->size);
}

static void take_both(struct sched_threads *threads, const struct id *id, const uint8_t *raw, size_t size)
{
	const struct sched_tracepoint *point = &threads->a_switch;
	const uint32_t both[] = {(uint32_t)number_at(raw, size, &point->thread),
	                         (uint32_t)number_at(raw, size, &point->next_thread)};
	struct sched_thread *from, *to;
	if (!find_both(threads, both[0], both[1], &from, &to))
		return;
	take_name(from, raw, size, &point->name);
	take_name(to, raw, size, &point->next_name);
	if (id->thread == both[0] && id->process)
		set_process(from, id->process);
	if (!from->traced && !to->traced)
		return;
	put_thread(threads, from);
	put_thread(threads, to);
	sched_image_switch(&threads->image, id->time, id->cpu, state_of(number_at(raw, size, &point->state)), both);
}

static void take_waking(struct sched_threads *threads, const struct id *id, const struct sched_tracepoint *point,
                        const uint8_t *raw, size_t size)
{
	uint32_t number = (uint32_t)number_at(raw, size, &point->thread);
	struct sched_thread *thread, *waker;
	if (!find_both(threads, number, id->thread, &thread, &waker) || !thread->traced)
		return;
	take_name(thread, raw, size, &point->name);
	if (id->process)
		set_process(waker, id->process);
	put_thread(threads, thread);
	put_thread(threads, waker);
	sched_image_wakeup(&threads->image, id->time, (unsigned)number_at(raw, size, &point->cpu), number, id->thread);
}

/* A sample: what it says of itself, the size of the tracepoint's bytes, and these: their first two are its number. */
static void take_sample(struct sched_threads *threads, const uint8_t *record, size_t size)
{
	struct id id;
	uint32_t raw_size;
	uint16_t point;
	const size_t head = HEAD + sizeof id + sizeof raw_size;
	if (size < head + sizeof point)
		return;
	memcpy(&id, record + HEAD, sizeof id);
	memcpy(&raw_size, record + HEAD + sizeof id, sizeof raw_size);
	memcpy(&point, record + head, sizeof point);
	raw_size = raw_size < size - head ? raw_size : (uint32_t)(size - head);
	if (point == threads->a_switch.id)
		take_both(threads, &id, record + head, raw_size);
	else if (point == threads->waking.id)
		take_waking(threads, &id, &threads->waking, record + head, raw_size);
	else if (point == threads->waking_new.id)
		take_waking(threads, &id, &threads->waking_new, record + head, raw_size);
}

void sched_take_switch(struct sched_threads *threads, const uint8_t *record, size_t size)
{
	struct perf_event_header header = header_of(record);
	struct id id;
	struct fork_record task;
	uint64_t lost;
	if (header.type == PERF_RECORD_SAMPLE)
		take_sample(threads, record, size);
	if (header.type == PERF_RECORD_EXIT && size >= HEAD + sizeof task + sizeof id) {
		memcpy(&task, record + HEAD, sizeof task);
		memcpy(&id, record + size - sizeof id, sizeof id);
		take_exit(threads, &task, &id);
	}
	if (header.type == PERF_RECORD_SWITCH && size >= HEAD + sizeof id) {
		memcpy(&id, record + size - sizeof id, sizeof id);
		take_own(threads, &id, header.misc);
	}
	if (header.type == PERF_RECORD_LOST && size >= HEAD + 2 * sizeof lost) {
		memcpy(&lost, record + HEAD + sizeof lost, sizeof lost);
		threads->lost += lost;
	}
}
