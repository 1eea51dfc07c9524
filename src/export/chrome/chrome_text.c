/* chrome_text.c - events that come with their own text: a trace of this format is written as it was read.
 *
 * Where nothing became of an event its text is copied. At the edge of a window it has other times, and "clipped" among
 * its arguments; among other traces it has the times of them all, and the numbers that its process and thread got. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/parse.h"
#include "export/chrome/chrome.h"

#include <string.h>

enum { ID_SHIFT = 48 };    /* where a merge puts the number of the trace */
enum { LARGE = ARGS_MAX }; /* bytes of an event that does not wait in the ring */

static void add_bytes(struct tw_line *line, const uint8_t *bytes, size_t size)
{
	tw_line_add(line, (const char *)bytes, size);
}

/* As it is written: a string with its quotes. */
static void add_value(struct tw_line *line, const struct chrome_value *value)
{
	bool quoted = value->type == CHROME_STRING;
	add_bytes(line, value->bytes - quoted, value->size + 2u * quoted);
}

static void add_micros(struct tw_line *line, uint64_t ns, bool negative)
{
	char text[TW_DIGITS_MAX + 8], *p = text;
	if (negative)
		*p++ = '-';
	p = tw_decimal(p, ns, 3);
	tw_line_add(line, text, (size_t)(p - text));
}

/* ---- The numbers of a track. ---- */

static bool is_number(const struct chrome_value *value, uint64_t number)
{
	uint64_t found;
	return chrome_integer(value, &found) && found == number;
}

/* Remembers how the events of a track tell it, for ends that are made at the edge of a window. */
static void remember(const struct chrome_context *context, uint32_t number, const struct chrome_item *item)
{
	struct chrome_track *known = &context->chrome->tracks.items[number];
	const struct chrome_value *values = item->values;
	const struct chrome_value *pid = &values[CHROME_PID], *tid = &values[CHROME_TID];
	size_t before = context->chrome->line.text.length;
	struct tw_line *line = &context->chrome->line;
	known->begins_as_read = true;
	if (known->prefix_size || !pid->type || !tid->type)
		return;
	tw_line_text(line, ",\"pid\":");
	add_value(line, pid);
	tw_line_text(line, ",\"tid\":");
	add_value(line, tid);
	tw_line_text(line, ",\"ts\":");
	size_t size = line->text.length - before;
	if (!line->failed && size < sizeof known->prefix) {
		memcpy(known->prefix, line->text.bytes + before, size);
		known->prefix_size = size;
		known->as_read = true;
	}
	line->text.length = before;
}

/* Whether the numbers in the text are those of the track. */
static bool has_numbers(const struct chrome_context *context, uint32_t number, const struct chrome_item *item)
{
	const struct tw_track *track = tw_dictionary_track(context->dictionary, number);
	if (number == 0)
		return true;
	return is_number(&item->values[CHROME_PID], track->process) &&
	       (track->kind != TW_TRACK_THREAD || is_number(&item->values[CHROME_TID], track->thread));
}

/* ---- An event that has changed. ---- */

struct change {
	const struct chrome_context *context;
	const struct tw_event *event;
	const struct chrome_track *track; /* NULL: its numbers are those in the text */
	uint64_t start;                   /* the time at which ts is 0 */
	uint64_t moved_by;                /* bits of its id that have changed */
	bool timeless, of_thread;
	bool adds_cpu; /* among its arguments */
};

/* The value of a member; of nothing where there is none. */
static struct chrome_value member_of(const struct chrome_value *object, const char *name)
{
	struct chrome_value key, value, none = {.type = CHROME_NOTHING};
	if (object->type != CHROME_OBJECT)
		return none;
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	while (chrome_next_member(&scan, &key, &value))
		if (chrome_is(&key, name))
			return value;
	return none;
}

static bool is_clipped(const struct change *change)
{
	return change->event->flags & TW_FLAG_CLIPPED;
}

/* Whether arguments are added to those of the text. */
static bool adds_args(const struct change *change)
{
	return is_clipped(change) || change->adds_cpu;
}

static void add_args(const struct change *change, const struct chrome_value *args)
{
	struct tw_line *line = &change->context->chrome->line;
	bool object = args->type == CHROME_OBJECT;
	if (!object && args->type) {
		add_value(line, args);
		return;
	}
	size_t end = object ? args->size - 1 : 0, last = end;
	while (last > 1 && strchr(" \n\r\t", args->bytes[last - 1]))
		last--;
	if (object)
		add_bytes(line, args->bytes, end);
	else
		tw_line_text(line, "{");
	const char *comma = last > 1 ? "," : "";
	if (is_clipped(change) && !member_of(args, "clipped").type) {
		tw_line_text(line, comma);
		tw_line_text(line, "\"clipped\":true");
	} else if (change->adds_cpu) {
		tw_line_text(line, comma);
		tw_line_text(line, "\"cpu\":");
		tw_line_u64(line, change->event->cpu);
	}
	tw_line_text(line, "}");
}

/* An id that another trace may have, too: a number, or a text that stands for one. */
static void add_moved(const struct change *change, const struct chrome_value *value)
{
	struct tw_line *line = &change->context->chrome->line;
	uint64_t number;
	if (chrome_id_number(value, &number)) {
		tw_line_hex(line, number ^ change->moved_by);
		return;
	}
	tw_line_text(line, "\"");
	add_bytes(line, value->bytes, value->size);
	tw_line_text(line, " of ");
	tw_line_u64(line, change->moved_by >> ID_SHIFT);
	tw_line_text(line, "\"");
}

/* Adds the value of a member that tells an id of all processes; false: it is another one. */
static bool add_id(const struct change *change, const struct chrome_value *key, const struct chrome_value *value)
{
	struct tw_line *line = &change->context->chrome->line;
	const bool slice = change->event->kind <= TW_SLICE_COMPLETE;
	struct chrome_scan scan = {.at = value->bytes + 1, .end = value->bytes + value->size};
	struct chrome_value inner, id;
	if (chrome_is(key, slice ? "bind_id" : "id")) {
		add_moved(change, value);
		return true;
	}
	if (slice || !chrome_is(key, "id2") || value->type != CHROME_OBJECT ||
	    !chrome_next_member(&scan, &inner, &id) || !chrome_is(&inner, "global"))
		return false;
	tw_line_text(line, "{\"global\":");
	add_moved(change, &id);
	tw_line_text(line, "}");
	return true;
}

static void add_member(const struct change *change, const struct chrome_value *key, const struct chrome_value *value)
{
	struct tw_line *line = &change->context->chrome->line;
	const struct tw_event *event = change->event;
	add_value(line, key);
	tw_line_text(line, ":");
	if (!change->timeless && chrome_is(key, "ts"))
		add_micros(line,
		           event->time < change->start ? change->start - event->time : event->time - change->start,
		           event->time < change->start);
	else if (event->kind == TW_SLICE_COMPLETE && chrome_is(key, "dur"))
		add_micros(line, event->value, false);
	else if (change->track && chrome_is(key, "pid"))
		tw_line_u64(line, change->track->pid);
	else if (change->track && chrome_is(key, "tid"))
		tw_line_u64(line, change->track->tid);
	else if (change->moved_by && add_id(change, key, value))
		return;
	else if (adds_args(change) && chrome_is(key, "args"))
		add_args(change, value);
	else
		add_value(line, value);
}

/* Frames of traces that are merged have other numbers than those in the text; where in a slice the clock of its thread
 * stood is not known. */
static bool is_lost(const struct change *change, const struct chrome_value *key)
{
	struct tw_writer *writer = change->context->writer;
	const bool stack =
	    !change->context->chrome->source.unchanged && (chrome_is(key, "sf") || chrome_is(key, "esf"));
	const bool time = change->event->flags & TW_FLAG_CLIPPED && (chrome_is(key, "tts") || chrome_is(key, "tdur"));
	tw_count_losses(writer, "stack of an event", false, stack);
	tw_count_losses(writer, "thread time", false, time);
	return stack || time;
}

/* Adds a number that the text has not, for it is that of another member. */
static void add_missing(const struct change *change, const struct chrome_value *value, const char *key, uint32_t number)
{
	struct tw_line *line = &change->context->chrome->line;
	if (!change->track || value->type)
		return;
	tw_line_text(line, key);
	tw_line_u64(line, number);
}

static void add_changed(const struct change *change, const struct chrome_item *item, size_t size)
{
	const struct chrome_value *values = item->values;
	const uint8_t *bytes = item->bytes;
	static const struct chrome_value none = {.type = CHROME_NOTHING};
	struct tw_line *line = &change->context->chrome->line;
	struct chrome_scan scan = {.at = bytes + 1, .end = bytes + size};
	struct chrome_value key, value;
	tw_line_text(line, "{");
	for (bool some = false; chrome_next_member(&scan, &key, &value);) {
		if (is_lost(change, &key))
			continue;
		if (some)
			tw_line_text(line, ",");
		add_member(change, &key, &value);
		some = true;
	}
	add_missing(change, &values[CHROME_PID], ",\"pid\":", change->track ? change->track->pid : 0);
	if (change->of_thread)
		add_missing(change, &values[CHROME_TID], ",\"tid\":", change->track ? change->track->tid : 0);
	if (adds_args(change) && !values[CHROME_ARGS].type) {
		tw_line_text(line, ",\"args\":");
		add_args(change, &none);
	}
	tw_line_text(line, "}");
}

/* Whether the CPU is to be added, which no event that was written has. */
static bool adds_cpu(const struct change *change, const struct chrome_item *item, uint32_t track,
                     const struct tw_raw_text *head)
{
	struct chrome_track *known = &change->context->chrome->tracks.items[track];
	const struct tw_event *event = change->event;
	if (!(head->marks & CHROME_KNOWS_CPU) || event->kind == TW_METADATA || is_clipped(change) ||
	    known->cpu == event->cpu)
		return false;
	known->cpu = event->cpu;
	return !member_of(&item->values[CHROME_ARGS], "cpu").type;
}

static void change_text(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                        const uint8_t *bytes, size_t size, const struct tw_raw_text *head)
{
	struct chrome_item item = {.bytes = bytes};
	struct chrome_scan scan = {.at = bytes, .end = bytes + size};
	struct chrome *chrome = context->chrome;
	chrome_scan_event(&scan, &item);
	struct change change = {
	    .context = context,
	    .event = event,
	    .start = chrome->source.unchanged ? head->base : chrome->start,
	    .moved_by = event->id ^ head->id,
	    .timeless = event->kind == TW_METADATA && event->value,
	    .of_thread = tw_dictionary_track(context->dictionary, track)->kind == TW_TRACK_THREAD,
	};
	if (!chrome->source.unchanged && !has_numbers(context, track, &item)) {
		if (!chrome->tracks.items[track].prefix_size)
			tw_chrome_meet_track(chrome, track);
		change.track = &chrome->tracks.items[track];
	}
	tw_line_clear(&chrome->line);
	if (event->kind == TW_SLICE_BEGIN)
		remember(context, track, &item);
	change.adds_cpu = adds_cpu(&change, &item, track, head);
	add_changed(&change, &item, size);
}

/* ---- Any. ---- */

static void copy_text(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                      const uint8_t *bytes, size_t size)
{
	struct chrome *chrome = context->chrome;
	tw_line_clear(&chrome->line);
	if (event->kind == TW_SLICE_BEGIN && !chrome->tracks.items[track].begins_as_read) {
		struct chrome_item item = {.bytes = bytes};
		struct chrome_scan scan = {.at = bytes, .end = bytes + size};
		chrome_scan_event(&scan, &item);
		remember(context, track, &item);
	}
	add_bytes(&chrome->line, bytes, size);
}

static void put_large(struct chrome *chrome, struct tw_output *out)
{
	tw_chrome_ring_flush(chrome, out);
	tw_put_text(out, chrome->some ? ",\n" : "\n");
	tw_put(out, chrome->line.text.bytes, chrome->line.text.length);
	chrome->some = true;
}

/* Whether an event has a name that was written before. */
static bool repeats_name(const struct chrome_context *context, uint32_t track, const uint8_t *bytes, size_t size)
{
	enum { LONGEST = 1024 };
	struct chrome_item item = {.bytes = bytes};
	struct chrome_scan scan = {.at = bytes, .end = bytes + size};
	uint8_t text[LONGEST + 1];
	unsigned odd = 0;
	chrome_scan_event(&scan, &item);
	const bool process = chrome_is(&item.values[CHROME_NAME], "process_name");
	const struct chrome_value name = member_of(&item.values[CHROME_ARGS], "name");
	if ((!process && !chrome_is(&item.values[CHROME_NAME], "thread_name")) || name.type != CHROME_STRING ||
	    name.size > LONGEST)
		return false;
	struct tw_name unescaped = {.text = (const char *)text, .length = chrome_unescape(&name, text, &odd)};
	return !tw_chrome_note_name(context->chrome, track, process, &unescaped);
}

/* Takes an event of the system's list. */
static int take_listed(struct chrome *chrome, const struct tw_event *event, uint32_t track, const uint8_t *bytes,
                       size_t size)
{
	if (event->kind == TW_METADATA)
		tw_chrome_note_listed(chrome, track);
	tw_line_clear(&chrome->line);
	tw_line_text(&chrome->line, ",\n");
	add_bytes(&chrome->line, bytes, size);
	return tw_chrome_system_add(chrome);
}

int tw_chrome_take_text(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                        const struct tw_argument *text)
{
	struct chrome *chrome = context->chrome;
	struct tw_output *out = &context->writer->out;
	const uint8_t *bytes = text->value.bytes + TW_RAW_TEXT_HEAD;
	const size_t size = text->size - TW_RAW_TEXT_HEAD;
	struct tw_raw_text head;
	memcpy(&head, text->value.bytes, sizeof head);
	if (head.marks & CHROME_IN_SYSTEM)
		return take_listed(chrome, event, track, bytes, size);
	chrome->source.has_texts = true;
	if (!chrome->source.unchanged && event->kind == TW_METADATA && repeats_name(context, track, bytes, size))
		return 0;
	if (chrome->source.unchanged && !(event->flags & TW_FLAG_CLIPPED))
		copy_text(context, event, track, bytes, size);
	else
		change_text(context, event, track, bytes, size, &head);
	const struct tw_text *line = &chrome->line.text;
	if (chrome->line.failed)
		return TW_ERR_MEMORY;
	if (line->length > LARGE) {
		put_large(chrome, out);
		return 0;
	}
	struct chrome_slot *place = tw_chrome_ring_next(chrome);
	*place = (struct chrome_slot){.kind = event->kind, .track = track, .text_size = (uint32_t)line->length};
	place->text = tw_chrome_ring_text(chrome, out, line->bytes, line->length);
	tw_chrome_ring_add(chrome, out);
	return 0;
}
