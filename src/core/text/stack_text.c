/* stack_text.c - a stack as text, "main;parse;read", and where in the source its frames are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/stack_text.h"

#include <string.h>

static const struct tw_name unknown = {.text = "?", .length = 1}, more = {.text = "...", .length = 3};

static const struct tw_name *name_of(const struct tw_dictionary *dictionary, const struct tw_stack *stack)
{
	uint32_t number = tw_dictionary_location(dictionary, stack->location)->name;
	const struct tw_name *name = tw_dictionary_name(dictionary, number);
	return name->length ? name : &unknown;
}

/* Puts a name in front of what stands from `at` on. */
static char *put_before(char *at, const struct tw_name *name)
{
	at = memcpy(at - name->length, name->text, name->length);
	for (size_t i = 0; i < name->length; i++)
		if (at[i] == ';')
			at[i] = ':';
	return at;
}

/* From the end backwards, because a stack leads from its innermost function to its outermost. */
enum tw_stack_fit tw_stack_text(struct tw_text *text, const struct tw_dictionary *dictionary, uint32_t stack,
                                size_t most)
{
	if (!tw_grow(&text->bytes, &text->room, most + 1, 1))
		return TW_STACK_NO_MEMORY;
	char *end = text->bytes + most, *at = end;
	const struct tw_stack *frame = tw_dictionary_stack(dictionary, stack);
	for (; frame->depth; frame = tw_dictionary_stack(dictionary, frame->caller)) {
		const struct tw_name *name = name_of(dictionary, frame);
		size_t left = (size_t)(at - text->bytes);
		size_t behind = at < end;
		size_t before = frame->depth > 1 ? more.length + 1 : 0;
		if (left < name->length + behind + before)
			break;
		if (behind)
			*--at = ';';
		at = put_before(at, name);
	}
	bool cut = frame->depth > 0;
	if (cut && at < end)
		*--at = ';';
	if (cut && (size_t)(at - text->bytes) >= more.length)
		at = put_before(at, &more);
	text->length = (size_t)(end - at);
	memmove(text->bytes, at, text->length);
	text->bytes[text->length] = '\0';
	return cut ? TW_STACK_CUT : TW_STACK_WHOLE;
}

/* ---- Places in the source. ---- */

struct tw_source tw_source_of_name(const struct tw_dictionary *dictionary, uint32_t name)
{
	const struct tw_name *function = tw_dictionary_name(dictionary, name);
	if (!function->file)
		return (struct tw_source){0};
	return (struct tw_source){function->file, strlen(function->file), function->line};
}

struct tw_source tw_source_of_location(const struct tw_dictionary *dictionary, uint32_t location)
{
	const struct tw_location *place = tw_dictionary_location(dictionary, location);
	if (!place->file)
		return tw_source_of_name(dictionary, place->name);
	const struct tw_name *file = tw_dictionary_name(dictionary, place->file);
	return (struct tw_source){file->text, file->length, place->line};
}

struct tw_source tw_source_of_stack(const struct tw_dictionary *dictionary, uint32_t stack)
{
	const struct tw_stack *frame = tw_dictionary_stack(dictionary, stack);
	return frame->depth ? tw_source_of_location(dictionary, frame->location) : (struct tw_source){0};
}
