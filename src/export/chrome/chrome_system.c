/* chrome_system.c - scheduling, and the names of who is scheduled: "systemTraceEvents".
 *
 * The "Trace Event Format" document has no phases for scheduling. Fuchsia's converter writes it beside the events, in
 * an object of type "fuchsia", and catapult's importer reads it there: "k" is a switch, "w" a wake-up, "t" and "p" name
 * threads and processes. A switch of today tells threads by their koids alone and their weight as "prio"; a legacy one
 * tells processes, too, and its "prio" is a priority. What else such a record has is in "args", and so is the "waker",
 * a thread's number. Numbers are the trace's own, 64 bits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome/chrome.h"

#include <string.h>

/* ---- Members. ---- */

static void add_number(struct tw_line *line, const char *key, uint64_t value)
{
	tw_line_text(line, key);
	tw_line_exact_u64(line, value);
}

static void add_time(struct chrome *chrome, uint64_t time)
{
	char text[TW_DIGITS_MAX + 8], *p = text;
	if (time < chrome->start)
		*p++ = '-';
	p = tw_decimal(p, time < chrome->start ? chrome->start - time : time - chrome->start, 3);
	tw_line_text(&chrome->line, ",\"ts\":");
	tw_line_add(&chrome->line, text, (size_t)(p - text));
}

/* "key":"name" of a name; nothing where there is none. */
static void add_name(struct chrome *chrome, const char *key, uint32_t number)
{
	struct tw_rendered piece = {0};
	if (!number)
		return;
	tw_line_text(&chrome->line, key);
	tw_names_json(&chrome->line, tw_dictionary_name(chrome->dictionary, number), &piece);
	tw_count_losses(chrome->writer, "long name", true, piece.cut);
}

/* ---- Records. ---- */

static void add_prio(struct tw_line *line, const struct tw_argument *argument)
{
	if (!argument)
		return;
	tw_line_text(line, ",\"prio\":");
	if (argument->type == TW_ARG_INT)
		tw_line_exact_i64(line, argument->value.i);
	else
		tw_line_exact_u64(line, argument->value.u);
}

/* Notes that the names of a thread and its process are written beside the events. */
static void need_names(struct chrome *chrome, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
	chrome->tracks.items[number].system = true;
	if (track->process && !tw_chrome_need_process(chrome, track->process))
		chrome->line.failed = true;
}

/* "pid" and "tid": the process only where the koid does not tell the thread alone. */
static void add_thread(const struct chrome_context *context, uint32_t number, const struct chrome_prios *prios)
{
	struct chrome *chrome = context->chrome;
	const struct tw_track *track = tw_dictionary_track(context->dictionary, number);
	bool has_sides = prios->sides[0] || prios->sides[1];
	if (prios->legacy || (!has_sides && track->process)) {
		add_number(&chrome->line, "\"pid\":", track->process);
		tw_line_text(&chrome->line, ",");
	}
	add_number(&chrome->line, "\"tid\":", track->thread);
	need_names(chrome, number);
}

static void add_side(const struct chrome_context *context, const char *key, uint32_t track,
                     const struct chrome_prios *prios)
{
	tw_line_text(&context->chrome->line, key);
	add_thread(context, track, prios);
}

static void add_switch(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	struct tw_line *line = &context->chrome->line;
	const struct chrome_prios prios = tw_chrome_prios_of(context, event);
	uint32_t comes = event->other < tw_dictionary_tracks(context->dictionary) ? event->other : 0;
	add_side(context, ",\"out\":{", track, &prios);
	add_number(line, ",\"state\":", event->value);
	add_prio(line, prios.sides[0]);
	add_side(context, "},\"in\":{", comes, &prios);
	add_prio(line, prios.sides[1]);
	tw_line_text(line, "}");
}

static void add_wakeup(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	const struct chrome_prios prios = tw_chrome_prios_of(context, event);
	add_side(context, ",", track, &prios);
	add_prio(&context->chrome->line, prios.sides[0]);
}

static void add_arguments(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	static const struct chrome_shape waker = {.other = {CHROME_THREAD, "waker"}}, none = {0};
	static const struct chrome_shape severe = {.value = {CHROME_PLAIN_NUMBER, "severity"}};
	const bool has_severity = event->kind == TW_LOG && event->value;
	struct tw_line *line = &context->chrome->line;
	size_t before = line->text.length;
	tw_line_text(line, ",\"args\":{");
	size_t inside = line->text.length;
	tw_chrome_args(context, event, track,
	               event->kind == TW_WAKEUP ? &waker
	               : has_severity           ? &severe
	                                        : &none,
	               inside);
	if (line->text.length > inside)
		tw_line_text(line, "}");
	else
		line->text.length = before;
}

int tw_chrome_system_add(struct chrome *chrome)
{
	const struct tw_text *text = &chrome->line.text;
	if (!chrome->line.failed)
		tw_spool_add(&chrome->system.spool, 0, text->bytes, text->length);
	return chrome->line.failed ? TW_ERR_MEMORY : 0;
}

int tw_chrome_take_scheduling(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	struct chrome *chrome = context->chrome;
	struct tw_line *line = &chrome->line;
	tw_line_clear(line);
	tw_line_text(line, event->kind == TW_SWITCH ? ",\n{\"ph\":\"k\"" : ",\n{\"ph\":\"w\"");
	add_time(chrome, event->time);
	add_number(line, ",\"cpu\":", event->cpu);
	if (event->kind == TW_SWITCH)
		add_switch(context, event, track);
	else
		add_wakeup(context, event, track);
	add_name(chrome, ",\"name\":", event->name);
	add_name(chrome, ",\"cat\":", event->category);
	add_arguments(context, event, track);
	tw_line_text(line, "}");
	return tw_chrome_system_add(chrome);
}

int tw_chrome_take_message(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	static const struct chrome_prios none = {0};
	struct chrome *chrome = context->chrome;
	tw_line_clear(&chrome->line);
	tw_line_text(&chrome->line, ",\n{\"ph\":\"l\"");
	add_time(chrome, event->time);
	add_side(context, ",", track, &none);
	add_name(chrome, ",\"name\":", event->name);
	add_name(chrome, ",\"cat\":", event->category);
	add_arguments(context, event, track);
	tw_line_text(&chrome->line, "}");
	return tw_chrome_system_add(chrome);
}

/* ---- Names. ---- */

/* Whether an object says no more than the name of its track: process 1 or thread 2 of Fuchsia's types; or that there is
 * the process. */
static bool names_track(const struct chrome_context *context, const struct tw_event *event, uint32_t number)
{
	enum { PROCESS = 1, THREAD = 2 };
	const struct tw_track *track = tw_dictionary_track(context->dictionary, number);
	const struct tw_argument *argument = context->arguments + event->first_argument;
	if (event->flags || event->category || event->name != track->name)
		return false;
	if (event->value == PROCESS && track->kind == TW_TRACK_PROCESS)
		return event->id == track->process && event->argument_count == 0;
	return event->name && event->value == THREAD && track->kind == TW_TRACK_THREAD && event->id == track->thread &&
	       event->argument_count == 1 && argument->type == TW_ARG_KOID && argument->value.u == track->process &&
	       strcmp(tw_dictionary_name(context->dictionary, argument->name)->text, "process") == 0;
}

bool tw_chrome_take_name(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	if (!names_track(context, event, track))
		return false;
	need_names(context->chrome, track);
	return true;
}

static void put_line(struct chrome *chrome, bool *some)
{
	struct tw_line *line = &chrome->line;
	const size_t comma = *some ? 0 : 1;
	tw_line_text(line, "}");
	if (!line->failed)
		tw_put(&chrome->writer->out, line->text.bytes + comma, line->text.length - comma);
	*some = true;
}

static void put_process(struct chrome *chrome, const struct tw_track *track, bool *some)
{
	tw_line_clear(&chrome->line);
	add_number(&chrome->line, ",\n{\"ph\":\"p\",\"pid\":", track->process);
	add_name(chrome, ",\"name\":", track->name);
	put_line(chrome, some);
}

/* A thread without a name has an empty one: so its process is written. */
static void put_thread(struct chrome *chrome, const struct tw_track *track, bool *some)
{
	tw_line_clear(&chrome->line);
	add_number(&chrome->line, ",\n{\"ph\":\"t\",\"pid\":", track->process);
	add_number(&chrome->line, ",\"tid\":", track->thread);
	add_name(chrome, ",\"name\":", track->name);
	if (!track->name)
		tw_line_text(&chrome->line, ",\"name\":\"\"");
	put_line(chrome, some);
}

static bool put_names(struct chrome *chrome)
{
	bool some = false;
	for (uint32_t i = 0; i < chrome->tracks.seen; i++) {
		const struct tw_track *track = tw_dictionary_track(chrome->dictionary, i);
		if (track->kind == TW_TRACK_PROCESS && track->name &&
		    (tw_chrome_needs_process(chrome, track->process) || tw_chrome_is_unnamed(chrome, i)))
			put_process(chrome, track, &some);
	}
	for (uint32_t i = 0; i < chrome->tracks.seen; i++) {
		const struct tw_track *track = tw_dictionary_track(chrome->dictionary, i);
		const bool described = chrome->tracks.items[i].system && (track->name || track->process);
		if (track->kind == TW_TRACK_THREAD && (described || tw_chrome_is_unnamed(chrome, i)))
			put_thread(chrome, track, &some);
	}
	return some;
}

void tw_chrome_system_begin(struct chrome *chrome, const struct tw_reader *reader)
{
	struct tw_spool *spool = &chrome->system.spool;
	spool->directory = reader->options.temporary_directory;
	spool->memory_limit = spool->keep_limit = tw_memory_limit(reader) / (2 * SPOOL_SHARE);
}

int tw_chrome_system_finish(struct chrome *chrome)
{
	struct tw_output *out = &chrome->writer->out;
	struct tw_spool_cursor cursor = {0};
	uint8_t block[SPOOL_BLOCK];
	const uint8_t *bytes;
	size_t size;
	if (!tw_chrome_has_system(chrome) && !(chrome->source.document && tw_chrome_has_unnamed(chrome)))
		return chrome->system.spool.error;
	tw_put_text(out, ",\"systemTraceEvents\":{\"type\":\"fuchsia\",\"events\":[");
	bool some = put_names(chrome);
	while (tw_spool_next(&chrome->system.spool, &cursor, block, &bytes, &size)) {
		const size_t comma = some ? 0 : 1;
		tw_put(out, bytes + comma, size - comma);
		some = true;
	}
	tw_put_text(out, "\n]}");
	return chrome->system.spool.error;
}
