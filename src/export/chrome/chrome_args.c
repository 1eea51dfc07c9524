/* chrome_args.c - what stands in "args": an event's arguments, and those of its numbers that no other member has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome/chrome.h"

#include "base/text/utf8.h"

#include <math.h>
#include <string.h>

/* Whether a text looks like what is written as text of another type: "0x1f", "NaN", "9007199254740993". */
static bool looks_like_number(const char *text, size_t size)
{
	static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
	enum { LARGE = 16 }; /* digits of the least number that a double does not hold */
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (size == strlen(words[i]) && memcmp(text, words[i], size) == 0)
			return true;
	bool hex = size > 2 && memcmp(text, "0x", 2) == 0;
	if (!hex && size < LARGE)
		return false;
	for (size_t i = hex || *text == '-' ? 1u + hex : 0; i < size; i++)
		if (!memchr("0123456789abcdef", text[i], hex ? 16 : 10))
			return false;
	return true;
}

/* A text, from its first quote, that looks like a number gets an escape for its first letter: so it comes back as a
 * text. */
static void guard(struct tw_line *line, size_t from)
{
	static const char digits[] = "0123456789abcdef";
	enum { QUOTES = 2, ESCAPE = 6 };
	size_t size = line->text.length - from - QUOTES;
	if (line->failed || !looks_like_number(line->text.bytes + from + 1, size) || !tw_line_reserve(line, ESCAPE))
		return;
	char *text = line->text.bytes + from + 1;
	const char escape[ESCAPE] = {'\\', 'u', '0', '0', digits[*text >> 4 & 15], digits[*text & 15]};
	memmove(text + ESCAPE, text + 1, size); /* with the quote */
	memcpy(text, escape, ESCAPE);
	line->text.length += ESCAPE - 1;
}

/* {"hex":"6869","text":"hi"} */
static void add_printable(const struct chrome_context *context, const struct tw_argument *argument, size_t size)
{
	struct tw_line *line = &context->chrome->line;
	tw_line_text(line, "{\"hex\":");
	tw_line_bytes(line, argument->value.bytes, size);
	tw_line_text(line, ",\"text\":");
	tw_line_string(line, argument->value.bytes, size);
	tw_line_text(line, "}");
}

static void add_bytes(const struct chrome_context *context, const struct tw_argument *argument)
{
	struct tw_line *line = &context->chrome->line;
	size_t size = tw_args_size(&context->chrome->args, argument), from = line->text.length;
	tw_count_unknown(context->chrome->writer, argument);
	if (tw_is_printable(argument->value.bytes, size)) {
		add_printable(context, argument, size);
		return;
	}
	tw_line_bytes(line, argument->value.bytes, size);
	guard(line, from);
}

static void add_text(const struct chrome_context *context, const struct tw_argument *argument)
{
	struct tw_line *line = &context->chrome->line;
	size_t from = line->text.length;
	tw_line_string(line, argument->value.bytes, tw_args_size(&context->chrome->args, argument));
	guard(line, from);
}

/* A number that is a double has a point or an exponent, by which it comes back as one. */
static void add_double(struct tw_line *line, double value)
{
	size_t from = line->text.length;
	tw_line_double(line, value);
	bool whole = isfinite(value) && !line->failed;
	for (size_t i = from; i < line->text.length && whole; i++)
		whole = line->text.bytes[i] != '.' && line->text.bytes[i] != 'e';
	if (whole)
		tw_line_text(line, ".0");
}

static void add_value(const struct chrome_context *context, const struct tw_argument *argument)
{
	if (argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID)
		tw_args_reference(&context->chrome->args, &context->chrome->line, context->dictionary, argument);
	else if (argument->type == TW_ARG_BYTES)
		add_bytes(context, argument);
	else if (argument->type == TW_ARG_DOUBLE)
		add_double(&context->chrome->line, argument->value.d);
	else if (argument->type == TW_ARG_TEXT)
		add_text(context, argument);
	else
		tw_args_value(&context->chrome->args, &context->chrome->line, context->dictionary, argument);
}

/* A counter's values are drawn: whatever is a number must be one in JSON. */
static void add_series(const struct chrome_context *context, const struct tw_argument *argument)
{
	struct tw_line *line = &context->chrome->line;
	if (argument->type == TW_ARG_INT && argument->value.i < 0)
		tw_line_text(line, "-");
	if (argument->type == TW_ARG_DOUBLE)
		add_double(line, argument->value.d);
	else if (argument->type == TW_ARG_INT && argument->value.i < 0)
		tw_line_u64(line, -(uint64_t)argument->value.i);
	else
		tw_line_u64(line, argument->value.u);
}

/* ---- What "prio" of scheduling is. ---- */

static const struct {
	const char *name;
	uint8_t kind, type;
	bool legacy, in;
} prio_names[] = {
    {"outgoing_weight", TW_SWITCH, TW_ARG_INT, false, false},
    {"incoming_weight", TW_SWITCH, TW_ARG_INT, false, true},
    {"outgoing_priority", TW_SWITCH, TW_ARG_UINT, true, false},
    {"incoming_priority", TW_SWITCH, TW_ARG_UINT, true, true},
    {"weight", TW_WAKEUP, TW_ARG_INT, false, false},
};

/* Takes the arguments of the one or the other form. Returns whether there are any. */
static bool find_prios(const struct chrome_context *context, const struct tw_event *event, bool legacy,
                       struct chrome_prios *prios)
{
	*prios = (struct chrome_prios){.legacy = legacy};
	for (size_t i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = context->arguments + event->first_argument + i;
		const char *name = tw_dictionary_name(context->dictionary, argument->name)->text;
		for (size_t k = 0; k < sizeof prio_names / sizeof *prio_names; k++)
			if (prio_names[k].kind == event->kind && prio_names[k].type == argument->type &&
			    prio_names[k].legacy == legacy && !prios->sides[prio_names[k].in] &&
			    strcmp(prio_names[k].name, name) == 0)
				prios->sides[prio_names[k].in] = argument;
	}
	return prios->sides[0] || prios->sides[1];
}

struct chrome_prios tw_chrome_prios_of(const struct chrome_context *context, const struct tw_event *event)
{
	struct chrome_prios prios;
	if (!find_prios(context, event, false, &prios) && !find_prios(context, event, true, &prios))
		prios.legacy = false;
	return prios;
}

static bool is_prio(const struct chrome_context *context, const struct tw_event *event,
                    const struct tw_argument *argument)
{
	if (event->kind != TW_SWITCH && event->kind != TW_WAKEUP)
		return false;
	const struct chrome_prios prios = tw_chrome_prios_of(context, event);
	return argument == prios.sides[0] || argument == prios.sides[1];
}

/* Whether an argument is the koid of what a wake-up's `other` tells. */
static bool is_waker(const struct chrome_context *context, const struct tw_event *event,
                     const struct tw_argument *argument)
{
	return event->kind == TW_WAKEUP && event->other && argument->type == TW_ARG_KOID &&
	       strcmp(tw_dictionary_name(context->dictionary, argument->name)->text, "waker") == 0;
}

static void add_arguments(const struct chrome_context *context, const struct tw_event *event, size_t root_size)
{
	struct tw_line *line = &context->chrome->line;
	unsigned count = event->argument_count;
	const struct tw_argument *arguments = count ? context->arguments + event->first_argument : NULL;
	bool counter = event->kind == TW_COUNTER;
	for (unsigned i = 0; i < count; i++) {
		if (line->text.length > ARGS_MAX) {
			tw_count_loss(context->writer, "argument", false);
		} else if (counter && !tw_args_is_number(&arguments[i])) {
			tw_count_loss(context->writer, "counter value", false);
		} else if (!is_waker(context, event, &arguments[i]) && !is_prio(context, event, &arguments[i])) {
			tw_args_name(&context->chrome->args, line, context->dictionary, arguments[i].name,
			             line->text.length == root_size);
			(counter ? add_series : add_value)(context, &arguments[i]);
		}
	}
}

static void add_key(const struct chrome_context *context, const char *key, size_t root_size)
{
	struct tw_line *line = &context->chrome->line;
	tw_args_key(&context->chrome->args, line, key, line->text.length == root_size);
}

static void add_cpu(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                    size_t root_size)
{
	if (event->flags & TW_FLAG_CLIPPED)
		return;
	context->chrome->tracks.items[track].cpu = event->cpu;
	add_key(context, "cpu", root_size);
	tw_line_u64(&context->chrome->line, event->cpu);
}

static void add_number(const struct chrome_context *context, const struct chrome_number *number, uint64_t value,
                       size_t root_size)
{
	struct tw_line *line = &context->chrome->line;
	bool needs_value = number->form == CHROME_NOT_ZERO || number->form == CHROME_THREAD;
	if (number->form >= CHROME_ROOT_ID || (needs_value && value == 0))
		return;
	add_key(context, number->key, root_size);
	if (number->form == CHROME_PLAIN_NUMBER || number->form == CHROME_NOT_ZERO)
		tw_line_exact_u64(line, value);
	else if (number->form == CHROME_HEX)
		tw_line_hex(line, value);
	else
		tw_line_exact_u64(line, tw_dictionary_track(context->dictionary, (uint32_t)value)->thread);
}

/* A sample with a category of its own counts once where nothing else is written. */
static bool is_one_sample(const struct tw_event *event)
{
	return event->kind == TW_STACK_SAMPLE && event->category && event->value == 1;
}

static void add_numbers(const struct chrome_context *context, const struct tw_event *event,
                        const struct chrome_shape *type, size_t root_size)
{
	if (type->value.form != CHROME_NOT_WRITTEN && !is_one_sample(event))
		add_number(context, &type->value, event->value, root_size);
	if (type->id.form != CHROME_NOT_WRITTEN)
		add_number(context, &type->id, event->id, root_size);
	if (type->other.form != CHROME_NOT_WRITTEN)
		add_number(context, &type->other, event->other, root_size);
}

/* Whether args tell the CPU: where a thread's changes. */
static bool adds_cpu(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	return context->has_cpu && context->chrome->tracks.items[track].cpu != event->cpu;
}

void tw_chrome_args(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                    const struct chrome_shape *type, size_t root_size)
{
	(event->kind == TW_COUNTER ? tw_args_begin_free : tw_args_begin)(&context->chrome->args, event->argument_count);
	if (type->cpu && adds_cpu(context, event, track))
		add_cpu(context, event, track, root_size);
	if (event->kind > TW_SLICE_COMPLETE)
		add_numbers(context, event, type, root_size);
	if (event->argument_count)
		add_arguments(context, event, root_size);
}
