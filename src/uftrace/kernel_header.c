/* kernel_header.c - what the records of the kernel hold: the file kernel_header.
 *
 * It has lines "WORD: value", and files of tracefs, each behind a line "TRACEFS: name: size": how a page begins, and
 * the format of each event that was recorded, as Documentation/trace/events.rst has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "uftrace/uftrace.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_MOST = 8 << 20, PAGE_LEAST = 1 << 8, PAGE_MOST = 1 << 16, LONG = 8, NAME_MOST = 128 };

struct header_text {
	const char *bytes;
	size_t size;
};

/* Takes a line off the text, without its end. */
static struct header_text take_line(struct header_text *text)
{
	const char *end = memchr(text->bytes, '\n', text->size);
	struct header_text line = {text->bytes, end ? (size_t)(end - text->bytes) : text->size};
	size_t whole = end ? line.size + 1 : line.size;
	text->bytes += whole;
	text->size -= whole;
	return line;
}

static bool begins(struct header_text text, const char *word)
{
	return text.size >= strlen(word) && memcmp(text.bytes, word, strlen(word)) == 0;
}

static bool holds(struct header_text text, const char *word)
{
	return memmem(text.bytes, text.size, word, strlen(word)) != NULL;
}

/* A number behind a word; one that is too long, or none, is UINT32_MAX. */
static uint32_t number_after(struct header_text text, const char *word)
{
	const char *at = memmem(text.bytes, text.size, word, strlen(word)), *end = text.bytes + text.size;
	uint32_t number = 0;
	if (!at)
		return UINT32_MAX;
	at += strlen(word);
	at += at < end && *at == ' ';
	if (at == end || *at < '0' || *at > '9')
		return UINT32_MAX;
	for (; at < end && *at >= '0' && *at <= '9'; at++) {
		if (number > UINT16_MAX)
			return UINT32_MAX;
		number = number * 10 + (uint32_t)(*at - '0');
	}
	return number;
}

/* ---- Fields: "field:char prev_comm[16];	offset:8;	size:16;	signed:0;". ---- */

/* The name in a declaration, behind its last space and before a bracket. */
static struct header_text name_in(struct header_text declaration)
{
	const char *space = memrchr(declaration.bytes, ' ', declaration.size);
	const char *end = declaration.bytes + declaration.size;
	struct header_text name = {space ? space + 1 : end, space ? (size_t)(end - space - 1) : 0};
	const char *bracket = name.size ? memchr(name.bytes, '[', name.size) : NULL;
	name.size = bracket ? (size_t)(bracket - name.bytes) : name.size;
	return name;
}

static enum uftrace_field_kind kind_of(struct header_text declaration, size_t size, bool is_signed)
{
	bool array = memchr(declaration.bytes, '[', declaration.size) != NULL, text = holds(declaration, "char");
	if (begins(declaration, "__data_loc "))
		return text ? UFTRACE_FIELD_PLACED_TEXT : UFTRACE_FIELD_PLACED;
	if (array)
		return text ? UFTRACE_FIELD_TEXT : UFTRACE_FIELD_BYTES;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return UFTRACE_FIELD_BYTES;
	if (memchr(declaration.bytes, '*', declaration.size))
		return UFTRACE_FIELD_POINTER;
	return is_signed ? UFTRACE_FIELD_INT : UFTRACE_FIELD_UINT;
}

static bool read_field(struct tw_reader *reader, struct header_text line, struct uftrace_kernel_field *field)
{
	line.bytes += strlen("\tfield:");
	line.size -= strlen("\tfield:");
	const char *stop = memchr(line.bytes, ';', line.size);
	if (!stop)
		return false;
	struct header_text declaration = {line.bytes, (size_t)(stop - line.bytes)}, name = name_in(declaration);
	uint32_t at = number_after(line, "offset:"), size = number_after(line, "size:");
	if (!name.size || at > UINT16_MAX || size > UINT16_MAX)
		return false;
	const struct tw_name known = {.text = name.bytes, .length = name.size};
	*field = (struct uftrace_kernel_field){
	    .name = tw_dictionary_intern(reader->dictionary, &known),
	    .at = (uint16_t)at,
	    .size = (uint16_t)size,
	    .kind = kind_of(declaration, size, number_after(line, "signed:") == 1),
	};
	return field->name != UINT32_MAX;
}

/* Takes a field of an event. Those that are common to all events are no arguments, but may tell the thread. */
static bool take_field(struct tw_reader *reader, struct uftrace_kernel_event *event, struct header_text line)
{
	static const char *const threads[UFTRACE_PIDS] = {"common_pid", "next_pid", "pid"};
	struct uftrace_kernel *kernel = &uftrace_of(reader)->kernel;
	struct uftrace_kernel_field field;
	if (!read_field(reader, line, &field))
		return true;
	const char *name = tw_dictionary_name(reader->dictionary, field.name)->text;
	for (size_t i = 0; i < UFTRACE_PIDS; i++)
		if (strcmp(name, threads[i]) == 0)
			event->pids[i] = field;
	if (strcmp(name, "func") == 0)
		event->function = field;
	if (strcmp(name, "depth") == 0)
		event->depth = field;
	if (strncmp(name, "common_", strlen("common_")) == 0 || event->count == UFTRACE_ARGUMENTS)
		return true;
	if (!uftrace_fits(reader, sizeof field))
		return true;
	if (!tw_grow(&kernel->fields, &kernel->field_room, kernel->field_count + 1, sizeof field))
		return false;
	kernel->fields[kernel->field_count++] = field;
	event->count++;
	return true;
}

/* ---- Events: "events/sched/sched_switch/format". ---- */

static enum uftrace_type type_of(struct header_text file)
{
	if (begins(file, "events/ftrace/funcgraph_entry/"))
		return UFTRACE_KERNEL_ENTRY;
	return begins(file, "events/ftrace/funcgraph_exit/") ? UFTRACE_KERNEL_EXIT : UFTRACE_KERNEL_EVENT;
}

/* "sched:sched_switch" */
static uint32_t event_name(struct tw_reader *reader, struct header_text file)
{
	char name[NAME_MOST];
	size_t before = strlen("events/"), behind = strlen("/format");
	size_t size = file.size - before - behind;
	if (size > sizeof name)
		size = sizeof name;
	memcpy(name, file.bytes + before, size);
	char *slash = memchr(name, '/', size);
	if (slash)
		*slash = ':';
	return tw_dictionary_intern(reader->dictionary, &(struct tw_name){.text = name, .length = size});
}

/* Whether all is known that is needed to read records of the event. */
static bool is_whole(const struct uftrace_kernel_event *event)
{
	bool call = event->type != UFTRACE_KERNEL_EVENT;
	return event->pids[0].size == 4 && (!call || event->function.size == LONG);
}

static bool take_event(struct tw_reader *reader, struct header_text file, struct header_text text)
{
	struct uftrace_kernel *kernel = &uftrace_of(reader)->kernel;
	struct uftrace_kernel_event event = {.type = type_of(file), .first = kernel->field_count};
	uint32_t id = UINT32_MAX, there;
	while (text.size) {
		struct header_text line = take_line(&text);
		if (begins(line, "ID: "))
			id = number_after(line, "ID:");
		if (begins(line, "\tfield:") && !take_field(reader, &event, line))
			return false;
	}
	if (id > UINT16_MAX || !is_whole(&event) || tw_map_find(&kernel->numbers, id, &there) ||
	    !uftrace_fits(reader, sizeof event))
		return true;
	event.name = event_name(reader, file);
	if (event.name == UINT32_MAX ||
	    !tw_grow(&kernel->events, &kernel->event_room, kernel->event_count + 1, sizeof event) ||
	    !tw_map_add(&kernel->numbers, id, (uint32_t)kernel->event_count))
		return false;
	kernel->events[kernel->event_count++] = event;
	return true;
}

static bool is_format(struct header_text file)
{
	size_t behind = strlen("/format");
	return begins(file, "events/") && file.size > strlen("events/") + behind &&
	       memcmp(file.bytes + file.size - behind, "/format", behind) == 0;
}

/* "TRACEFS: events/header_page: 205": what is in so many bytes behind it. */
static bool take_file(struct tw_reader *reader, struct header_text line, struct header_text *rest)
{
	const char *colon = memrchr(line.bytes, ':', line.size);
	size_t before = strlen("TRACEFS: ");
	struct header_text file = {line.bytes + before, 0}, tail = {colon, line.size - (size_t)(colon - line.bytes)};
	uint32_t size = number_after(tail, ":");
	if (colon < file.bytes || size > rest->size)
		size = rest->size > UINT32_MAX ? UINT32_MAX : (uint32_t)rest->size;
	else
		file.size = (size_t)(colon - file.bytes);
	struct header_text text = {rest->bytes, size};
	rest->bytes += size;
	rest->size -= size;
	if (begins(file, "events/header_page")) {
		uint32_t at = number_after((struct header_text){text.bytes, text.size}, "char data;\toffset:");
		uftrace_of(reader)->kernel.data_at = at;
		return true;
	}
	return !is_format(file) || take_event(reader, file, text);
}

/* ---- The file. ---- */

static bool take_all(struct tw_reader *reader, struct header_text text)
{
	struct uftrace_kernel *kernel = &uftrace_of(reader)->kernel;
	kernel->data_at = 2 * LONG;
	while (text.size) {
		struct header_text line = take_line(&text);
		if (begins(line, "TRACEFS: ") && !take_file(reader, line, &text))
			return false;
		if (begins(line, "PAGE_SIZE: "))
			kernel->page_size = number_after(line, "PAGE_SIZE:");
		if (begins(line, "LONG_SIZE: "))
			kernel->long_size = number_after(line, "LONG_SIZE:");
		if (begins(line, "ENDIAN: "))
			kernel->little = begins(line, "ENDIAN: LE");
	}
	kernel->known = kernel->page_size >= PAGE_LEAST && kernel->page_size <= PAGE_MOST && kernel->little &&
	                kernel->long_size == LONG && kernel->data_at == 2 * LONG && kernel->event_count > 0;
	return true;
}

int uftrace_read_kernel_header(struct tw_reader *reader)
{
	struct tw_input *input;
	const uint8_t *bytes;
	size_t have;
	bool found;
	int status = uftrace_open_side(reader, "kernel_header", &input, &found);
	if (!input)
		return status;
	struct tw_window window = {.input = input};
	status = tw_window_view(&window, 0, HEADER_MOST, &bytes, &have);
	if (status < 0)
		tw_fail(reader, status, "%s", tw_input_error(input));
	else if (!take_all(reader, (struct header_text){(const char *)bytes, have < HEADER_MOST ? have : HEADER_MOST}))
		status = tw_fail_memory(reader);
	tw_window_free(&window);
	tw_input_close(input);
	return status;
}

void uftrace_kernel_free(struct uftrace_kernel *kernel)
{
	free(kernel->events);
	free(kernel->fields);
	tw_map_free(&kernel->numbers);
}
