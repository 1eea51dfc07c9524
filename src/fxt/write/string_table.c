/* string_table.c - string records at the first use of a name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/write/tables.h"

enum {
	INLINE_MAX = 16000,  /* bytes of a text in a record: two of them and 80 words beside fit any */
	TEXTS_MOST = 1 << 18 /* bytes of texts that are no names and are known to have been registered */
};

static uint16_t put_string(struct fxt_tables *tables, const char *text, size_t size)
{
	struct tw_output *out = &tables->writer->out;
	uint64_t index = ++tables->string_count;
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_stream(&record, text, size);
	fxt_record_end(out, &record, TW_FXT_TYPE_STRING | index << 16 | (uint64_t)size << 32);
	return (uint16_t)index;
}

size_t fxt_cut_text(const char *text, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	size_t end = limit;
	while (end > 0 && limit - end < 3 && ((uint8_t)text[end] & 0xc0) == 0x80)
		end--;
	return ((uint8_t)text[end] & 0xc0) == 0x80 ? limit : end;
}

/* How much of a text is kept. */
static size_t cut(const struct fxt_tables *tables, const char *text, size_t size, size_t limit)
{
	size_t kept = fxt_cut_text(text, size, limit);
	if (kept < size)
		tw_count_loss(tables->writer, "long string", true);
	return kept;
}

struct fxt_string_ref fxt_inline_string(const struct fxt_tables *tables, const char *text, size_t size)
{
	size = cut(tables, text, size, INLINE_MAX);
	return (struct fxt_string_ref){.reference = (uint16_t)(TW_FXT_STRING_INLINE | size), .text = text};
}

struct fxt_string_ref fxt_add_string(struct fxt_tables *tables, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(tables->dictionary, number);
	if (name->length == 0)
		return (struct fxt_string_ref){0};
	if (number >= tables->string_room || tables->string_count == TW_FXT_STRINGS_MAX)
		return fxt_inline_string(tables, name->text, name->length);
	size_t size = cut(tables, name->text, name->length, TW_FXT_STRING_MAX);
	tables->strings[number] = put_string(tables, name->text, size);
	return (struct fxt_string_ref){.reference = tables->strings[number]};
}

uint16_t fxt_register_text(struct fxt_tables *tables, const uint8_t *text, uint64_t size)
{
	const struct tw_name name = {.text = (const char *)text, .length = (size_t)size};
	tables->texts = tables->texts ? tables->texts : tw_dictionary_new();
	uint32_t number = tables->texts ? tw_dictionary_find(tables->texts, &name) : UINT32_MAX;
	if (number != UINT32_MAX)
		return tables->text_strings[number];
	if (!tables->texts || size > TW_FXT_STRING_MAX || tables->string_count >= TW_FXT_STRINGS_MAX / 2)
		return 0;
	uint16_t index = put_string(tables, name.text, name.length);
	size_t need = tw_dictionary_names(tables->texts) + (size_t)1;
	if (name.length > TEXTS_MOST - tables->text_bytes ||
	    !tw_grow(&tables->text_strings, &tables->text_room, need, sizeof index))
		return index;
	number = tw_dictionary_intern(tables->texts, &name);
	if (number < tables->text_room)
		tables->text_strings[number] = index;
	tables->text_bytes += name.length;
	return index;
}

struct fxt_string_ref fxt_own_string(struct fxt_tables *tables, enum fxt_own own)
{
	static const struct tw_name texts[] = {
#define X(name, string) [name] = {.text = string, .length = sizeof string - 1},
	    FXT_OWN_LIST(X)
#undef X
	};
	const struct tw_name *text = &texts[own];
	if (!tables->own[own] && tables->string_count == TW_FXT_STRINGS_MAX)
		return fxt_inline_string(tables, text->text, text->length);
	if (!tables->own[own])
		tables->own[own] = put_string(tables, text->text, text->length);
	return (struct fxt_string_ref){.reference = tables->own[own]};
}
