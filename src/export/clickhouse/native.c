/* native.c - rows of a table in memory, and as a block of ClickHouse's Native format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/native.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"

#include <assert.h>
#include <stdlib.h>

const char *const tw_native_types[TW_NATIVE_TYPE_COUNT] = {
#define X(id, type) [id] = type,
    TW_NATIVE_TYPES(X)
#undef X
};

static const uint8_t widths[TW_NATIVE_TYPE_COUNT] = {
    [TW_NATIVE_U8] = 1,  [TW_NATIVE_U16] = 2,    [TW_NATIVE_U32] = 4,    [TW_NATIVE_U64] = 8,
    [TW_NATIVE_DAY] = 2, [TW_NATIVE_SECOND] = 4, [TW_NATIVE_DOUBLE] = 8, [TW_NATIVE_NAME] = 4,
};

/* ---- Values. ---- */

void tw_native_put_count(struct tw_line *out, uint64_t value)
{
	enum { SEVEN = 0x7f, MORE = 0x80, MOST = 10 };
	char *p = tw_line_room(out, MOST);
	if (!p)
		return;
	for (; value > SEVEN; value >>= 7)
		*p++ = (char)((value & SEVEN) | MORE);
	*p++ = (char)value;
	tw_line_end(out, p);
}

static void put_string(struct tw_line *out, const char *bytes, size_t size)
{
	tw_native_put_count(out, size);
	tw_line_add(out, bytes, size);
}

static inline void put_little(struct tw_line *out, uint64_t value, size_t width)
{
	char *p = tw_line_room(out, sizeof value);
	if (!p)
		return;
	tw_store64((uint8_t *)p, value, false);
	tw_line_end(out, p + width);
}

void tw_native_number(struct tw_native_block *block, size_t column, uint64_t value)
{
	struct tw_native_column *to = &block->columns[column];
	assert(widths[to->type]);
	put_little(&to->bytes, value, widths[to->type]);
}

void tw_native_double(struct tw_native_block *block, size_t column, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	tw_native_number(block, column, bits);
}

void tw_native_text(struct tw_native_block *block, size_t column, const char *bytes, size_t size)
{
	put_string(&block->columns[column].bytes, bytes, size);
	block->bytes += size;
}

void tw_native_texts(struct tw_native_block *block, size_t column, const char *const *texts, size_t count)
{
	struct tw_native_column *to = &block->columns[column];
	for (size_t i = 0; i < count; i++)
		put_string(&to->bytes, texts[i], strlen(texts[i]));
	to->texts += count;
	put_little(&to->ends, to->texts, sizeof(uint64_t));
}

/* ---- Keys. ---- */

static uint32_t add_key(struct tw_native_block *block, struct tw_native_keys *keys, const char *bytes, size_t size)
{
	if (size == 0)
		return 0;
	put_string(&keys->bytes, bytes, size);
	block->bytes += size;
	return ++keys->count;
}

void tw_native_word(struct tw_native_block *block, size_t column, const char *word)
{
	struct tw_native_keys *keys = &block->columns[column].keys;
	unsigned i = 0;
	while (i < keys->word_count && keys->words[i] != word)
		i++;
	if (i == keys->word_count) {
		assert(i < sizeof keys->words / sizeof *keys->words);
		keys->words[i] = word;
		keys->word_places[i] = add_key(block, keys, word, strlen(word));
		keys->word_count++;
	}
	tw_native_number(block, column, keys->word_places[i]);
}

bool tw_native_known(struct tw_native_block *block, size_t column, uint32_t number)
{
	const struct tw_native_keys *keys = &block->columns[column].keys;
	uint32_t place = number && number < keys->place_room ? keys->places[number] : 0;
	if (number && !place)
		return false;
	tw_native_number(block, column, place);
	return true;
}

void tw_native_key(struct tw_native_block *block, size_t column, uint32_t number, const char *bytes, size_t size)
{
	struct tw_native_keys *keys = &block->columns[column].keys;
	if (size == 0) {
		tw_native_number(block, column, 0);
		return;
	}
	if (!tw_grow(&keys->places, &keys->place_room, (size_t)number + 1, sizeof *keys->places) ||
	    !tw_grow(&keys->numbers, &keys->number_room, keys->number_count + 1, sizeof *keys->numbers)) {
		block->failed = true;
		return;
	}
	keys->places[number] = add_key(block, keys, bytes, size);
	keys->numbers[keys->number_count++] = number;
	tw_native_number(block, column, keys->places[number]);
}

/* ---- Blocks. ---- */

static size_t rows_of(const struct tw_native_column *column)
{
	if (column->type == TW_NATIVE_TEXTS)
		return column->ends.text.length / sizeof(uint64_t);
	return column->bytes.text.length / widths[column->type];
}

static bool is_whole(const struct tw_native_block *block)
{
	bool whole = true;
	for (size_t i = 0; i < block->column_count; i++) {
		const struct tw_native_column *column = &block->columns[i];
		bool failed = column->bytes.failed || column->ends.failed || block->failed;
		whole &= failed || column->type == TW_NATIVE_TEXT || rows_of(column) == block->rows;
	}
	return whole;
}

void tw_native_end_row(struct tw_native_block *block)
{
	block->rows++;
	assert(block->rows > 2 || is_whole(block));
}

/* Indexes of as many bits as the keys need. */
static void put_indexes(const struct tw_native_column *column, size_t rows, struct tw_line *out)
{
	const uint32_t keys = column->keys.count;
	const size_t width = keys <= UINT8_MAX ? 1 : keys <= UINT16_MAX ? 2 : 4;
	const uint8_t *from = (const uint8_t *)column->bytes.text.bytes;
	char *p = tw_line_room(out, rows * width + sizeof(uint64_t));
	if (!p)
		return;
	for (size_t i = 0; i < rows; i++, p += width)
		tw_store64((uint8_t *)p, tw_load32(from + i * sizeof(uint32_t), false), false);
	tw_line_end(out, p);
}

static void put_names(const struct tw_native_column *column, size_t rows, struct tw_line *out)
{
	enum { VERSION = 1, OWN_KEYS = 1 << 9, NEW_KEYS = 1 << 10 };
	const uint32_t keys = column->keys.count;
	const unsigned size = keys <= UINT8_MAX ? 0 : keys <= UINT16_MAX ? 1 : 2;
	put_little(out, VERSION, sizeof(uint64_t));
	put_little(out, OWN_KEYS | NEW_KEYS | size, sizeof(uint64_t));
	put_little(out, (uint64_t)keys + 1, sizeof(uint64_t));
	put_string(out, "", 0);
	tw_line_add(out, column->keys.bytes.text.bytes, column->keys.bytes.text.length);
	put_little(out, rows, sizeof(uint64_t));
	put_indexes(column, rows, out);
}

static void put_column(struct tw_native_block *block, const struct tw_native_column *column, struct tw_line *out)
{
	const char *type = tw_native_types[column->type];
	put_string(out, column->name, strlen(column->name));
	put_string(out, type, strlen(type));
	if (column->type == TW_NATIVE_NAME && block->rows) {
		put_names(column, block->rows, out);
		return;
	}
	tw_line_add(out, column->ends.text.bytes, column->ends.text.length);
	tw_line_add(out, column->bytes.text.bytes, column->bytes.text.length);
}

void tw_native_put(struct tw_native_block *block, struct tw_line *out)
{
	tw_native_put_count(out, block->column_count);
	tw_native_put_count(out, block->rows);
	for (size_t i = 0; i < block->column_count; i++) {
		const struct tw_native_column *column = &block->columns[i];
		block->failed |= column->bytes.failed | column->ends.failed | column->keys.bytes.failed;
		put_column(block, column, out);
	}
	block->failed |= out->failed;
}

static void clear_keys(struct tw_native_keys *keys)
{
	for (size_t i = 0; i < keys->number_count; i++)
		keys->places[keys->numbers[i]] = 0;
	keys->number_count = 0;
	keys->word_count = 0;
	keys->count = 0;
	tw_line_clear(&keys->bytes);
}

void tw_native_clear(struct tw_native_block *block)
{
	for (size_t i = 0; i < block->column_count; i++) {
		struct tw_native_column *column = &block->columns[i];
		tw_line_clear(&column->bytes);
		tw_line_clear(&column->ends);
		clear_keys(&column->keys);
		column->texts = 0;
	}
	block->rows = block->bytes = 0;
}

void tw_native_free(struct tw_native_block *block)
{
	for (size_t i = 0; i < block->column_count; i++) {
		struct tw_native_column *column = &block->columns[i];
		tw_text_free(&column->bytes.text);
		tw_text_free(&column->ends.text);
		tw_text_free(&column->keys.bytes.text);
		free(column->keys.places);
		free(column->keys.numbers);
	}
	free(block->columns);
	*block = (struct tw_native_block){0};
}
