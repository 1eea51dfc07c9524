/* kernel.c - functions and events of the kernel: kernel-cpuN.dat, the pages of a CPU's ring buffer.
 *
 * A page has a time and how many bytes of records it holds, then records: each a word of type (5 bits) and time since
 * the one before (27), and what the type asks for. Data is an event's number, whose it is, and its fields.
 * Source: Documentation/trace/ring-buffer-design.rst and events/header_event in tracefs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/plural.h"
#include "uftrace/uftrace.h"

#include <inttypes.h>
#include <string.h>

enum {
	WORD = 4,
	/* Types of records. A smaller number is the size of the data in words; 0: the size stands behind the word. */
	PADDING = 29,
	TIME_EXTEND = 30,
	TIME_STAMP = 31,
	DELTA_BITS = 27,
	STAMP_BITS = 59, /* bits of an absolute time */
	/* The word for the size of a page. */
	SIZE_BITS = 27,
	COUNT_STORED = 30, /* bit: behind the records stands how many are missing before them */
	MISSED = 31,
	DATA_LEAST = 8 /* bytes that all events have */
};

/* A record in the page. */
struct page_record {
	const uint8_t *data; /* NULL: it only tells time */
	size_t data_size, size;
	uint64_t time;
};

static void report(struct tw_reader *reader, const struct uftrace_cpu *cpu, enum uftrace_rule rule, uint64_t at,
                   const char *text)
{
	reader->reports.file = cpu->file;
	tw_report(reader, &uftrace_rules[rule], at, at, 0, "%s", text);
	reader->reports.file = NULL;
}

static void lose(struct tw_reader *reader, size_t size)
{
	if (!reader->reports.quiet)
		uftrace_of(reader)->lost += size;
}

/* ---- Pages. ---- */

/* How many records were overwritten before the page; UINT64_MAX where it is only known that some were. */
static uint64_t missed(const uint8_t *page, size_t room, uint64_t word, size_t size)
{
	if (!(word >> MISSED & 1))
		return 0;
	bool stored = word >> COUNT_STORED & 1 && room - size >= UFTRACE_WORD;
	return stored ? tw_load64(page + 2 * UFTRACE_WORD + size, false) : UINT64_MAX;
}

/* Returns 1, 0 at the end, or a negative status. */
static int next_page(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	const struct uftrace_kernel *kernel = &uftrace_of(reader)->kernel;
	const size_t room = kernel->page_size - kernel->data_at;
	const uint8_t *page;
	size_t have;
	int status = tw_window_view(&cpu->window, cpu->next, kernel->page_size, &page, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(cpu->input));
	if (have < kernel->page_size) {
		if (have)
			report(reader, cpu, UFTRACE_CUT_RECORD, cpu->next, uftrace_rules[UFTRACE_CUT_RECORD].text);
		lose(reader, have);
		return 0;
	}
	uint64_t word = tw_load64(page + UFTRACE_WORD, false);
	size_t size = word & ((1 << SIZE_BITS) - 1);
	cpu->page = cpu->next;
	cpu->next += kernel->page_size;
	cpu->time = tw_load64(page, false);
	cpu->at = kernel->data_at;
	cpu->end = kernel->data_at;
	if (size > room) {
		report(reader, cpu, UFTRACE_BAD_RECORD, cpu->page,
		       "Expected a page of the kernel's buffer, found a size that is none: it is left out.");
		lose(reader, kernel->page_size);
		return 1;
	}
	cpu->end += size;
	uint64_t count = missed(page, room, word, size);
	cpu->missed = count ? count : cpu->missed;
	return 1;
}

/* ---- Records. ---- */

static uint64_t stamp(uint64_t before, uint64_t low, uint64_t high)
{
	return (before & ~((UINT64_C(1) << STAMP_BITS) - 1)) | high << DELTA_BITS | low;
}

/* Decodes records that only tell time. Returns false for others. */
static bool decode_time(const uint8_t *bytes, size_t left, unsigned type, struct page_record *item)
{
	uint64_t low = tw_load32(bytes, false) >> (WORD * 8 - DELTA_BITS);
	uint64_t high = left < 2 * WORD ? 0 : tw_load32(bytes + WORD, false);
	item->size = left;
	if (type == PADDING && low == 0)
		return true; /* nothing more in the page */
	item->size = 2 * WORD;
	if (type == PADDING) {
		item->size = WORD + (size_t)high;
		item->time += low;
	} else if (type == TIME_EXTEND) {
		item->time += high << DELTA_BITS | low;
	} else {
		item->time = stamp(item->time, low, high);
	}
	return left >= 2 * WORD && item->size <= left && item->size >= 2 * WORD;
}

static bool decode(const uint8_t *bytes, size_t left, uint64_t time, struct page_record *item)
{
	*item = (struct page_record){.time = time};
	if (left < WORD)
		return false;
	uint32_t word = tw_load32(bytes, false);
	unsigned type = word & ((1 << (WORD * 8 - DELTA_BITS)) - 1);
	if (type >= PADDING)
		return decode_time(bytes, left, type, item);
	size_t before = WORD, size = type * WORD;
	if (type == 0) { /* the size includes its own word */
		before = 2 * WORD;
		if (left < before || tw_load32(bytes + WORD, false) < WORD)
			return false;
		size = tw_load32(bytes + WORD, false) - WORD;
		size = (size + WORD - 1) / WORD * WORD;
	}
	item->data = bytes + before;
	item->data_size = size;
	item->size = before + size;
	item->time += word >> (WORD * 8 - DELTA_BITS);
	return item->size <= left;
}

/* The number that a field is; 0 where the data is shorter. */
static uint64_t number_of(const struct uftrace_kernel_field *field, const uint8_t *data, size_t size)
{
	uint64_t number = 0;
	bool negative = field->kind == UFTRACE_FIELD_INT;
	if (field->size == 0 || field->size > sizeof number || field->at > size || field->size > size - field->at)
		return 0;
	for (size_t i = field->size; i-- > 0;)
		number = number << 8 | data[field->at + i];
	negative = negative && field->size < sizeof number && number >> (field->size * 8 - 1);
	return negative ? number | UINT64_MAX << field->size * 8 : number;
}

/* Returns the thread that a kernel event is about, which an event may name in a field; NULL when that was not
 * recorded. */
static struct uftrace_task *task_of(struct uftrace_reader *uftrace, const struct uftrace_kernel_event *event,
                                    const struct page_record *item)
{
	uint32_t number;
	for (size_t i = 0; i < UFTRACE_PIDS; i++) {
		const struct uftrace_kernel_field *field = &event->pids[i];
		uint64_t thread = (uint32_t)number_of(field, item->data, item->data_size);
		if (field->size && tw_map_find(&uftrace->tasks.numbers, thread, &number))
			return &uftrace->tasks.items[number];
		if (event->type != UFTRACE_KERNEL_EVENT)
			break;
	}
	return NULL;
}

static const struct uftrace_kernel_event *event_of(struct tw_reader *reader, const struct uftrace_cpu *cpu,
                                                   const struct page_record *item)
{
	struct uftrace_reader *uftrace = uftrace_of(reader);
	uint32_t number;
	if (item->data_size < DATA_LEAST)
		return NULL;
	if (tw_map_find(&uftrace->kernel.numbers, tw_load16(item->data, false), &number))
		return &uftrace->kernel.events[number];
	if (!uftrace->tasks.reported_not_read)
		report(reader, cpu, UFTRACE_NOT_READ, cpu->page + cpu->at,
		       "An event is of a number that kernel_header does not tell: such are left out.");
	uftrace->tasks.reported_not_read = true;
	return NULL;
}

/* Takes a record, where it is of a thread that is shown. Those before its first function are uftrace's own, and left
 * out. */
static bool take(struct tw_reader *reader, struct uftrace_cpu *cpu, const struct page_record *item)
{
	const struct uftrace_kernel_event *event = event_of(reader, cpu, item);
	if (!event)
		return false;
	size_t most = item->data_size < UFTRACE_DATA_MOST ? item->data_size : UFTRACE_DATA_MOST;
	cpu->task = task_of(uftrace_of(reader), event, item);
	cpu->record = (struct uftrace_record){
	    .type = event->type,
	    .event = event,
	    .time = item->time,
	    .address = number_of(&event->function, item->data, item->data_size),
	    .depth = (unsigned)number_of(&event->depth, item->data, item->data_size),
	    .cpu = cpu->number,
	    .offset = cpu->page + cpu->at,
	    .size = item->size,
	    .data = item->data,
	    .data_size = event->type == UFTRACE_KERNEL_EVENT ? most : 0,
	    .kernel = true,
	};
	return cpu->task && cpu->task->shown && item->time >= reader->clock.start_ns;
}

/* Gives what is missing before a record as a record of its own; the record itself comes next. */
static void give_loss(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	bool known = cpu->missed != UINT64_MAX;
	uint64_t count = known ? cpu->missed : 0;
	cpu->missed = 0;
	cpu->record = (struct uftrace_record){.type = UFTRACE_LOSS,
	                                      .time = cpu->record.time,
	                                      .address = count,
	                                      .cpu = cpu->number,
	                                      .offset = cpu->record.offset,
	                                      .kernel = true};
	reader->reports.file = cpu->file;
	if (known)
		tw_report(reader, &uftrace_rules[UFTRACE_LOST], cpu->page, cpu->page, 0,
		          "The kernel lost %" PRIu64 " record%s here.", count, tw_plural(count));
	else
		tw_report(reader, &uftrace_rules[UFTRACE_LOST], cpu->page, cpu->page, 0,
		          "The kernel lost records here; how many is not known.");
	reader->reports.file = NULL;
}

/* Looks at one record of the page. Returns 1, 0 where it is not one to be given, or a negative status. */
static int next_item(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	const struct uftrace_kernel *kernel = &uftrace_of(reader)->kernel;
	const uint8_t *page;
	struct page_record item;
	size_t have;
	int status = tw_window_view(&cpu->window, cpu->page, kernel->page_size, &page, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(cpu->input));
	if (have < cpu->end || !decode(page + cpu->at, cpu->end - cpu->at, cpu->time, &item)) {
		report(reader, cpu, UFTRACE_BAD_RECORD, cpu->page + cpu->at,
		       "Expected a record of the kernel, found a size that is none: the rest of the page is left out.");
		lose(reader, cpu->end - cpu->at);
		cpu->at = cpu->end;
		return 0;
	}
	bool given = item.data && take(reader, cpu, &item);
	if (given && cpu->missed) {
		give_loss(reader, cpu);
		return 1;
	}
	cpu->time = item.time;
	cpu->at += item.size;
	return given;
}

int uftrace_kernel_next(struct tw_reader *reader, struct uftrace_cpu *cpu)
{
	for (;;) {
		bool within = cpu->at < cpu->end;
		int status = within ? next_item(reader, cpu) : next_page(reader, cpu);
		if (status < 0 || (within ? status > 0 : status == 0))
			return status;
	}
}

/* ---- Arguments of events. ---- */

/* Finds the bytes that a field refers to: a word with their offset and size, 16 bits each. False where they are not
 * there. */
static bool place(const struct uftrace_kernel_field *field, const uint8_t *data, size_t size, size_t *at,
                  size_t *length)
{
	bool placed = field->kind == UFTRACE_FIELD_PLACED || field->kind == UFTRACE_FIELD_PLACED_TEXT;
	uint64_t word = placed ? number_of(field, data, size) : 0;
	*at = placed ? word & UINT16_MAX : field->at;
	*length = placed ? word >> 16 & UINT16_MAX : field->size;
	return *at <= size && *length <= size - *at;
}

static struct tw_argument argument_of(const struct uftrace_kernel_field *field, const uint8_t *data, size_t size)
{
	static const enum tw_argument_type types[] = {
	    [UFTRACE_FIELD_UINT] = TW_ARG_UINT,       [UFTRACE_FIELD_INT] = TW_ARG_INT,
	    [UFTRACE_FIELD_TEXT] = TW_ARG_TEXT,       [UFTRACE_FIELD_PLACED_TEXT] = TW_ARG_TEXT,
	    [UFTRACE_FIELD_BYTES] = TW_ARG_BYTES,     [UFTRACE_FIELD_PLACED] = TW_ARG_BYTES,
	    [UFTRACE_FIELD_POINTER] = TW_ARG_POINTER,
	};
	struct tw_argument argument = {.name = field->name, .type = (uint8_t)types[field->kind]};
	size_t at, length;
	if (argument.type != TW_ARG_TEXT && argument.type != TW_ARG_BYTES) {
		argument.value.u = number_of(field, data, size);
	} else if (place(field, data, size, &at, &length)) {
		argument.value.bytes = data + at;
		length = argument.type == TW_ARG_TEXT ? strnlen((const char *)data + at, length) : length;
		argument.size = (uint32_t)length;
	} else {
		argument.type = TW_ARG_NULL;
	}
	return argument;
}

int uftrace_kernel_arguments(const struct tw_reader *reader, const struct uftrace_record *record, const uint8_t *data,
                             struct tw_argument *arguments)
{
	const struct uftrace_kernel_event *event = record->event;
	for (size_t i = 0; i < event->count; i++)
		arguments[i] =
		    argument_of(&uftrace_of(reader)->kernel.fields[event->first + i], data, record->data_size);
	return (int)event->count;
}
