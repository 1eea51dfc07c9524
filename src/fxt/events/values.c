/* values.c - arguments of records, whose names and texts are references, to those of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/text/digits.h"
#include "fxt/events/events.h"

/* Whether a reference is registered, or may stand as it is: a text in the record. */
static bool is_fine(struct fxt_chunk *chunk, unsigned reference, uint64_t offset, bool may_be_inline)
{
	uint32_t unused;
	return reference >= TW_FXT_STRING_INLINE ? may_be_inline : fxt_known_number(chunk, reference, offset, &unused);
}

size_t fxt_arguments_end(struct fxt_chunk *chunk, size_t place, size_t at, uint64_t count, enum fxt_arguments_are are)
{
	const uint64_t offset = fxt_offset(chunk, place);
	for (; count > 0; count--) {
		const uint64_t header = tw_load64(chunk->bytes + at, chunk->decoder.big);
		const unsigned type = fxt_type(header), text = (unsigned)tw_bits(header, 32, 47);
		const bool any = are == FXT_REGISTERED;
		if ((are == FXT_NUMBERS && !fxt_is_number(type)) || (!any && type > TW_FXT_ARG_BOOL) ||
		    !is_fine(chunk, (unsigned)tw_bits(header, 16, 31), offset, any))
			return 0;
		if (type == TW_FXT_ARG_STRING && are == FXT_GOOD && text >= TW_FXT_STRING_INLINE) {
			if (!fxt_is_ascii(chunk->bytes + at + TW_FXT_WORD, text & FXT_TEXT_MAX))
				return 0;
		} else if (type == TW_FXT_ARG_STRING && !is_fine(chunk, text, offset, any)) {
			return 0;
		}
		at += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return at;
}

/* The text that a reference means, which is defined. */
static void set_text(const struct fxt_chunk *chunk, unsigned reference, uint64_t offset, struct tw_argument *argument)
{
	const struct fxt_entry *entry = fxt_string_at(chunk->decoder.context.provider, reference, offset);
	argument->value.bytes = (const uint8_t *)(entry ? entry->text : "");
	argument->size = entry ? entry->length : 0;
}

struct tw_argument fxt_value_at(struct fxt_chunk *chunk, size_t at, uint64_t header, uint64_t offset)
{
	struct tw_argument argument = {.type = fxt_argument_kinds[fxt_type(header)].type};
	fxt_known_number(chunk, (unsigned)tw_bits(header, 16, 31), offset, &argument.name);
	if (argument.type == TW_ARG_TEXT)
		set_text(chunk, (unsigned)tw_bits(header, 32, 47), offset, &argument);
	else if (fxt_argument_kinds[fxt_type(header)].value == FXT_VALUE_WORD)
		argument.value.u = tw_load64(chunk->bytes + at + TW_FXT_WORD, chunk->decoder.big);
	else
		argument.value.u = fxt_value_in_header(header);
	return argument;
}

void fxt_refer(struct fxt_chunk *chunk, const struct tw_argument *argument, unsigned number, uint64_t process)
{
	const struct fxt_object object = fxt_object_of(argument->type == TW_ARG_POINTER,
	                                               chunk->decoder.context.provider, process, argument->value.u);
	fxt_add_fix(chunk, &(struct fxt_fix){.kind = FXT_FIX_REFERENCE,
	                                     .argument = (uint8_t)number,
	                                     .a = object.own,
	                                     .b = object.all});
}

void fxt_count_text(const struct tw_slab *slab, struct tw_argument *argument)
{
	double number;
	const bool counts = !slab->failed && slab->events[slab->count - 1].kind == TW_COUNTER;
	if (!counts || argument->type != TW_ARG_TEXT ||
	    !tw_loose_number(argument->value.bytes, argument->size, &number))
		return;
	argument->type = TW_ARG_DOUBLE;
	argument->value.d = number;
	argument->size = 0;
}

void fxt_add_values(struct fxt_chunk *chunk, size_t place, uint64_t count, uint64_t process)
{
	size_t at = place + (size_t)2 * TW_FXT_WORD;
	uint64_t offset = fxt_offset(chunk, place);
	for (unsigned i = 0; i < count; i++) {
		uint64_t header = tw_load64(chunk->bytes + at, chunk->decoder.big);
		struct tw_argument argument = fxt_value_at(chunk, at, header, offset);
		fxt_count_text(&chunk->rows.slab, &argument);
		tw_slab_argument(&chunk->rows.slab, &argument);
		if (argument.type == TW_ARG_KOID || argument.type == TW_ARG_POINTER)
			fxt_refer(chunk, &argument, i, process);
		at += (size_t)fxt_argument_kinds[fxt_type(header)].words * TW_FXT_WORD;
	}
}
