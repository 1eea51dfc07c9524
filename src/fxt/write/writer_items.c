/* writer_items.c - what every record of the FXT writer has: ticks, and arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/stack_text.h"
#include "fxt/write/writer.h"

#include <assert.h>

void fxt_move_clock(struct fxt_clock *clock, uint64_t ns)
{
	__extension__ typedef unsigned __int128 wide;
	clock->reach = (UINT64_MAX - TW_NS_PER_SECOND) / clock->frequency;
	clock->base_ns = ns - (ns < clock->reach / 2 ? ns : clock->reach / 2);
	wide product = (wide)clock->base_ns * clock->frequency + TW_NS_PER_SECOND - 1;
	clock->base_ticks = (uint64_t)(product / TW_NS_PER_SECOND);
	clock->base_rest = (uint64_t)(product % TW_NS_PER_SECOND);
	if (clock->reach > UINT64_MAX - clock->base_ns) /* or times near 0 would seem to come after it */
		clock->reach = UINT64_MAX - clock->base_ns;
	if (product / TW_NS_PER_SECOND > UINT64_MAX / 2)
		clock->reach = 0;
}

static bool has_room(struct fxt_writer *w, const struct fxt_items *items)
{
	if (items->count == TW_FXT_ARGUMENTS_MAX)
		fxt_loss(w, "argument", false);
	return items->count < TW_FXT_ARGUMENTS_MAX;
}

void fxt_add_made(struct fxt_writer *w, struct fxt_items *items, enum fxt_own name, enum tw_argument_type type,
                  uint64_t value)
{
	if (!has_room(w, items))
		return;
	assert(items->made_count < sizeof items->made / sizeof *items->made);
	struct tw_argument *made = &items->made[items->made_count++];
	*made = (struct tw_argument){.type = (uint8_t)type, .value.u = value};
	items->items[items->count++] = (struct fxt_item){.name = fxt_own_label(w->intern, name), .argument = made};
}

static void add_text(struct fxt_writer *w, struct fxt_items *items, enum fxt_own name, const char *text, size_t size)
{
	unsigned before = items->made_count;
	fxt_add_made(w, items, name, TW_ARG_TEXT, 0);
	if (items->made_count == before)
		return;
	items->made[before].value.bytes = (const uint8_t *)text;
	items->made[before].size = (uint32_t)size;
}

/* A stack that cannot be told whole has its innermost functions. */
void fxt_add_stack(struct fxt_writer *w, struct fxt_items *items, enum fxt_own name, uint32_t stack)
{
	enum { STACK_MAX = 32000 }; /* as a string of the document, "String record" */
	enum tw_stack_fit fit =
	    stack ? tw_stack_text(&w->stack, w->intern->dictionary, stack, STACK_MAX) : TW_STACK_NO_MEMORY;
	if (stack && fit == TW_STACK_NO_MEMORY)
		w->failed = true;
	else if (fit == TW_STACK_CUT)
		fxt_loss(w, "long stack", true);
	if (fit == TW_STACK_NO_MEMORY || w->stack.length == 0)
		return;
	add_text(w, items, name, w->stack.bytes, w->stack.length);
	const struct tw_source source = tw_source_of_stack(w->intern->dictionary, stack);
	if (source.file)
		add_text(w, items, FXT_OWN_FILE, source.file, source.length);
	if (source.file && source.line)
		fxt_add_made(w, items, FXT_OWN_LINE, TW_ARG_UINT, source.line);
}

/* The process whose pointers the arguments of an event are: records of some kinds tell none. */
static uint64_t process_of(const struct fxt_writer *w, const struct tw_event *event)
{
	bool kernel = event->kind == TW_OBJECT && !(event->flags & TW_FLAG_USERSPACE);
	bool none = kernel || event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
	return none ? 0 : tw_dictionary_track(w->dictionary, event->track)->process;
}

/* Registers texts of arguments that a record does not hold as a whole, with what else it may have. */
static void register_texts(struct fxt_writer *w, struct fxt_items *items)
{
	enum { ENOUGH = TW_FXT_RECORD_MAX / 2 };
	uint64_t words = 0;
	for (unsigned i = 0; i < items->count; i++)
		words += items->items[i].argument->type >= TW_ARG_TEXT ? fxt_words(items->items[i].argument->size) : 0;
	for (unsigned i = 0; i < items->count && words > ENOUGH; i++) {
		const struct tw_argument *argument = items->items[i].argument;
		if (argument->type == TW_ARG_TEXT && argument->size > FXT_LONG_TEXT)
			items->items[i].text = fxt_register_text(w->intern, argument->value.bytes, argument->size);
	}
}

void fxt_add_arguments(struct fxt_writer *w, struct fxt_items *items, const struct tw_event *event, unsigned first)
{
	uint64_t process = process_of(w, event);
	for (unsigned i = first; i < event->argument_count; i++) {
		const struct tw_argument *argument = &w->arguments[event->first_argument + i];
		if (!has_room(w, items))
			continue;
		if (!w->source) /* where archives are joined most events are records already, and tell none: ready.c */
			fxt_describe_object(w->intern, process, argument);
		items->items[items->count++] =
		    (struct fxt_item){.name = fxt_label(w->intern, argument->name), .argument = argument};
	}
	register_texts(w, items);
}

uint64_t fxt_put_items(struct fxt_writer *w, struct fxt_put *put, const struct fxt_items *items, size_t reserved)
{
	uint64_t count = 0;
	for (unsigned i = 0; i < items->count; i++) {
		const struct fxt_item *item = &items->items[i];
		enum fxt_fit fit = item->text ? fxt_put_reference(put, &item->name, item->text, reserved)
		                              : fxt_put_argument(put, &item->name, item->argument, reserved);
		if (fit == FXT_NO_ROOM)
			fxt_loss(w, "argument", false);
		else
			count++;
		if (fit == FXT_CUT_SHORT)
			fxt_loss(w, item->argument->type == TW_ARG_TEXT ? "long string" : "long argument", true);
	}
	return count;
}
