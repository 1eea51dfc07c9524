/* arguments.c - the arguments of FXT records: those of an event, and what of it has no other place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/stack_text.h"
#include "fxt/write/writer.h"

#include <assert.h>

/* ---- One argument to words. ---- */

/* The value of an argument: the document, "Argument Types". */
struct value {
	uint64_t header; /* type, and bits 32 to 63 */
	uint64_t word;
	bool has_word;
	const uint8_t *bytes; /* a stream */
	uint64_t size;
	bool unknown; /* of a type that has a meaning only to its writer */
};

/* What an unknown type has is whole words. */
static bool is_unknown(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_BYTES && (argument->raw & ~(FXT_RAW_BIG | FXT_RAW_TYPE)) == FXT_RAW &&
	       (argument->raw & FXT_RAW_TYPE) > TW_FXT_ARG_BLOB && argument->size % TW_FXT_WORD == 0;
}

/* Numbers that fit 32 bits take that form, as the document asks. */
static enum tw_fxt_argument_type type_of(const struct tw_argument *argument)
{
	static const uint8_t types[] = {
	    [TW_ARG_NULL] = TW_FXT_ARG_NULL,       [TW_ARG_BOOL] = TW_FXT_ARG_BOOL,
	    [TW_ARG_POINTER] = TW_FXT_ARG_POINTER, [TW_ARG_KOID] = TW_FXT_ARG_KOID,
	    [TW_ARG_DOUBLE] = TW_FXT_ARG_DOUBLE,   [TW_ARG_TEXT] = TW_FXT_ARG_STRING,
	    [TW_ARG_BYTES] = TW_FXT_ARG_BLOB,
	};
	const int64_t number = argument->value.i;
	if (argument->type == TW_ARG_INT)
		return number == (int32_t)number ? TW_FXT_ARG_INT32 : TW_FXT_ARG_INT64;
	if (argument->type == TW_ARG_UINT)
		return argument->value.u <= UINT32_MAX ? TW_FXT_ARG_UINT32 : TW_FXT_ARG_UINT64;
	return (enum tw_fxt_argument_type)types[argument->type];
}

static struct value value_of(const struct tw_argument *argument)
{
	const enum tw_fxt_argument_type type = type_of(argument);
	struct value value = {.header = type, .word = argument->value.u, .unknown = is_unknown(argument)};
	value.has_word = fxt_argument_kinds[type].words > 1;
	if (type == TW_FXT_ARG_BOOL)
		value.header |= (uint64_t)(argument->value.u != 0) << 32;
	else if (type == TW_FXT_ARG_INT32 || type == TW_FXT_ARG_UINT32)
		value.header |= argument->value.u << 32;
	else if (argument->type >= TW_ARG_TEXT) {
		value.bytes = argument->value.bytes;
		value.size = argument->size;
	}
	if (value.unknown)
		value.header = (argument->raw & FXT_RAW_TYPE) | (uint64_t)argument->raw_more << 32;
	return value;
}

/* Cuts a stream to what fits in `room` words, and says so in the header. */
static enum fxt_fit limit_stream(struct value *value, size_t room)
{
	bool text = value->header == TW_FXT_ARG_STRING;
	size_t limit = room * TW_FXT_WORD;
	if (value->unknown)
		return value->size > limit ? FXT_NO_ROOM : FXT_FITS;
	if (text && limit > TW_FXT_STRING_MAX)
		limit = TW_FXT_STRING_MAX;
	bool cut = value->size > limit;
	if (cut)
		value->size = text ? fxt_cut_text((const char *)value->bytes, (size_t)value->size, limit) : limit;
	if (text && value->size)
		value->header |= (TW_FXT_STRING_INLINE | value->size) << 32;
	else if (!text)
		value->header |= value->size << 32;
	return cut ? FXT_CUT_SHORT : FXT_FITS;
}

/* As repair has it, and as all that the format is made of. */
static void put_turned(struct fxt_new_record *record, const struct value *value)
{
	for (size_t at = 0; at < value->size; at += TW_FXT_WORD)
		fxt_put_word(record, tw_load64(value->bytes + at, !record->big));
}

enum fxt_fit fxt_put_argument(struct fxt_new_record *record, const struct fxt_string_ref *name,
                              const struct tw_argument *argument, size_t reserved)
{
	struct value value = value_of(argument);
	enum fxt_fit fit = FXT_FITS;
	size_t words = 1 + fxt_text_words(name->reference) + value.has_word;
	size_t left = fxt_record_left(record), need = words + reserved;
	if (left < need || (value.size && left == need))
		return FXT_NO_ROOM;
	if (argument->type >= TW_ARG_TEXT)
		fit = limit_stream(&value, left - need);
	if (fit == FXT_NO_ROOM)
		return fit;
	words += fxt_words(value.size);
	fxt_put_word(record, value.header | (uint64_t)words << 4 | (uint64_t)name->reference << 16);
	fxt_put_text(record, name);
	if (value.has_word)
		fxt_put_word(record, value.word);
	const bool big = argument->raw & FXT_RAW_BIG;
	if (value.unknown && big != record->big)
		put_turned(record, &value);
	else
		fxt_put_stream(record, value.bytes, (size_t)value.size);
	return fit;
}

/* Puts an argument whose value is the text of a string record. */
static enum fxt_fit put_reference(struct fxt_new_record *record, const struct fxt_listed_argument *listed,
                                  size_t reserved)
{
	const struct fxt_string_ref *name = &listed->name;
	uint64_t words = 1 + fxt_text_words(name->reference);
	if (fxt_record_left(record) < words + reserved)
		return FXT_NO_ROOM;
	fxt_put_word(record,
	             TW_FXT_ARG_STRING | words << 4 | (uint64_t)name->reference << 16 | (uint64_t)listed->text << 32);
	fxt_put_text(record, name);
	return FXT_FITS;
}

/* ---- All that a record has. ---- */

static bool has_room(struct fxt_writer *w, const struct fxt_arguments *list)
{
	if (list->count == TW_FXT_ARGUMENTS_MAX)
		fxt_loss(w, "argument", false);
	return list->count < TW_FXT_ARGUMENTS_MAX;
}

/* Adds an argument of the writer's own for the caller to fill; NULL where there is no room. */
static struct tw_argument *add_own(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name,
                                   enum tw_argument_type type)
{
	if (!has_room(w, list))
		return NULL;
	assert(list->own_count < sizeof list->own / sizeof *list->own);
	struct tw_argument *own = &list->own[list->own_count++];
	*own = (struct tw_argument){.type = (uint8_t)type};
	list->items[list->count++] =
	    (struct fxt_listed_argument){.name = fxt_own_string(w->tables, name), .argument = own};
	return own;
}

void fxt_add_own_argument(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name,
                          enum tw_argument_type type, uint64_t value)
{
	struct tw_argument *own = add_own(w, list, name, type);
	if (own)
		own->value.u = value;
}

static void add_text(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name, const char *text, size_t size)
{
	struct tw_argument *own = add_own(w, list, name, TW_ARG_TEXT);
	if (!own)
		return;
	own->value.bytes = (const uint8_t *)text;
	own->size = (uint32_t)size;
}

/* A stack that cannot be told whole has its innermost functions. */
void fxt_add_stack(struct fxt_writer *w, struct fxt_arguments *list, enum fxt_own name, uint32_t stack)
{
	enum {
		STACK_MAX = 32000,
		MANY = 64
	}; /* bytes: a string of the document, "String record"; one that is registered */
	if (!stack)
		return;
	enum tw_stack_fit fit = tw_stack_text(&w->stack, w->dictionary, stack, STACK_MAX);
	w->failed |= fit == TW_STACK_NO_MEMORY;
	if (fit == TW_STACK_CUT)
		fxt_loss(w, "long stack", true);
	if (fit == TW_STACK_NO_MEMORY || w->stack.length == 0)
		return;
	add_text(w, list, name, w->stack.bytes, w->stack.length);
	if (list->count && w->stack.length > MANY) /* many samples have the same */
		list->items[list->count - 1].text =
		    fxt_register_text(w->tables, (const uint8_t *)w->stack.bytes, w->stack.length);
	const struct tw_source source = tw_source_of_stack(w->dictionary, stack);
	if (source.file)
		add_text(w, list, FXT_OWN_FILE, source.file, source.length);
	if (source.file && source.line)
		fxt_add_own_argument(w, list, FXT_OWN_LINE, TW_ARG_UINT, source.line);
	uint32_t place = tw_dictionary_stack(w->dictionary, stack)->location;
	if (tw_dictionary_location(w->dictionary, place)->address)
		fxt_add_own_argument(w, list, FXT_OWN_ADDRESS, TW_ARG_POINTER,
		                     tw_dictionary_location(w->dictionary, place)->address);
}

/* The process whose pointers the arguments of an event are: records of some kinds tell none. */
static uint64_t process_of(const struct fxt_writer *w, const struct tw_event *event)
{
	bool kernel = event->kind == TW_OBJECT && !(event->flags & TW_FLAG_USERSPACE);
	bool none = kernel || event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
	return none ? 0 : tw_dictionary_track(w->dictionary, event->track)->process;
}

/* Registers texts of arguments that a record does not hold as a whole, with what else it may have. */
static void register_texts(struct fxt_writer *w, struct fxt_arguments *list)
{
	enum { ENOUGH = TW_FXT_RECORD_MAX / 2 };
	uint64_t words = 0;
	for (unsigned i = 0; i < list->count; i++)
		words += list->items[i].argument->type >= TW_ARG_TEXT ? fxt_words(list->items[i].argument->size) : 0;
	for (unsigned i = 0; i < list->count && words > ENOUGH; i++) {
		const struct tw_argument *argument = list->items[i].argument;
		if (argument->type == TW_ARG_TEXT && argument->size > FXT_LONG_TEXT)
			list->items[i].text = fxt_register_text(w->tables, argument->value.bytes, argument->size);
	}
}

void fxt_add_arguments(struct fxt_writer *w, struct fxt_arguments *list, const struct tw_event *event, unsigned first)
{
	for (unsigned i = first; i < event->argument_count; i++) {
		const struct tw_argument *argument = &w->arguments[event->first_argument + i];
		const bool refers = argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID;
		if (!has_room(w, list))
			continue;
		if (refers && argument->size)
			fxt_describe_object(w->tables, process_of(w, event), argument);
		list->items[list->count++] =
		    (struct fxt_listed_argument){.name = fxt_string(w->tables, argument->name), .argument = argument};
	}
	register_texts(w, list);
}

uint64_t fxt_put_arguments(struct fxt_writer *w, struct fxt_new_record *record, const struct fxt_arguments *list,
                           size_t reserved)
{
	uint64_t count = 0;
	for (unsigned i = 0; i < list->count; i++) {
		const struct fxt_listed_argument *item = &list->items[i];
		enum fxt_fit fit = item->text ? put_reference(record, item, reserved)
		                              : fxt_put_argument(record, &item->name, item->argument, reserved);
		if (fit == FXT_NO_ROOM)
			fxt_loss(w, "argument", false);
		else
			count++;
		if (fit == FXT_CUT_SHORT)
			fxt_loss(w, item->argument->type == TW_ARG_TEXT ? "long string" : "long argument", true);
	}
	return count;
}
