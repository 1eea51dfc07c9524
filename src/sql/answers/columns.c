/* columns.c - the answer of a statement, column by column. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/answers/columns.h"

#include "base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT = 48 };

/* ---- Values that are told apart. ---- */

/* Adds a value at the back. Bytes that are no UTF-8 become U+FFFD, each. */
static bool add_bytes(struct tw_text *bytes, const char *value, size_t size, bool text)
{
	static const char unknown[] = "\xef\xbf\xbd";
	if (!text || tw_is_utf8((const uint8_t *)value, size))
		return tw_text_add(bytes, value, size);
	for (size_t at = 0; at < size;) {
		const size_t length = tw_utf8_length(value + at, size - at);
		if (!(length ? tw_text_add(bytes, value + at, length)
		             : tw_text_add(bytes, unknown, sizeof unknown - 1)))
			return false;
		at += length ? length : 1;
	}
	return true;
}

static bool is_value(const struct sql_answer_column *column, size_t number, const char *value, size_t size)
{
	const int64_t from = column->offsets[number];
	return (size_t)(column->offsets[number + 1] - from) == size &&
	       (size == 0 || memcmp(column->bytes.bytes + from, value, size) == 0);
}

/* The number of the value that is at the back: it is taken away where it was there before. Negative: a status. */
static int64_t settle_value(struct sql_answer_column *column, size_t from)
{
	const size_t size = column->bytes.length - from;
	const char *value = column->bytes.bytes + from;
	const uint64_t hash = tw_hash_bytes(value, size, 0);
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&column->codes, hash, &slot, &number);)
		if (is_value(column, number, value, size)) {
			column->bytes.length = from;
			return number;
		}
	if (column->values >= INT32_MAX)
		return TW_ERR_LIMIT;
	if (!tw_map_add(&column->codes, hash, (uint32_t)column->values) ||
	    !tw_extend(&column->offsets, &column->offset_room, column->values + 2, sizeof *column->offsets))
		return TW_ERR_MEMORY;
	column->offsets[0] = 0;
	column->offsets[++column->values] = (int64_t)column->bytes.length;
	return (int64_t)column->values - 1;
}

static int64_t value_number(struct sql_answer_column *column, const char *value, size_t size)
{
	const size_t from = column->bytes.length;
	if (!add_bytes(&column->bytes, size ? value : "", size, column->type == TW_SQL_TEXT))
		return TW_ERR_MEMORY;
	return settle_value(column, from);
}

/* ---- Types. ---- */

static enum tw_sql_type type_of_cell(sqlite3_stmt *statement, int i)
{
	switch (sqlite3_column_type(statement, i)) {
	case SQLITE_INTEGER:
		return TW_SQL_INT;
	case SQLITE_FLOAT:
		return TW_SQL_REAL;
	case SQLITE_TEXT:
		return TW_SQL_TEXT;
	case SQLITE_BLOB:
		return TW_SQL_BYTES;
	default:
		return TW_SQL_NULL;
	}
}

static bool is_valid(const struct sql_answer_column *column, size_t row)
{
	return column->valid[row / 8] >> row % 8 & 1;
}

static double real_of(int64_t word)
{
	double real;
	memcpy(&real, &word, sizeof real);
	return real;
}

static int64_t word_of(double real)
{
	int64_t word;
	memcpy(&word, &real, sizeof word);
	return word;
}

/* Makes the number of a row what the column holds from now on. Returns 0 or a status. */
static int convert(struct sql_answer_column *column, size_t row, enum tw_sql_type from)
{
	char text[NUMBER_TEXT];
	int64_t *word = &column->words[row];
	if (column->type == TW_SQL_REAL) {
		*word = word_of((double)*word);
		return 0;
	}
	if (from == TW_SQL_INT)
		sqlite3_snprintf(sizeof text, text, "%lld", (long long)*word);
	else
		sqlite3_snprintf(sizeof text, text, "%!.15g", real_of(*word));
	const int64_t number = value_number(column, text, strlen(text));
	*word = number < 0 ? 0 : number;
	return number < 0 ? (int)number : 0;
}

/* The column gets a wider type: the enumeration is in that order. Texts are bytes as they are. */
static int widen(struct sql_answer_column *column, enum tw_sql_type type, size_t rows)
{
	const enum tw_sql_type from = column->type;
	int status = 0;
	column->type = type;
	if (from == TW_SQL_NULL || from == TW_SQL_TEXT)
		return 0;
	for (size_t row = 0; row < rows && status == 0; row++)
		if (is_valid(column, row))
			status = convert(column, row, from);
	return status;
}

/* ---- Rows. ---- */

static int64_t text_of_cell(struct sql_answer_column *column, sqlite3_stmt *statement, int i)
{
	const char *bytes = column->type == TW_SQL_TEXT ? (const char *)sqlite3_column_text(statement, i)
	                                                : sqlite3_column_blob(statement, i);
	const size_t size = (size_t)sqlite3_column_bytes(statement, i);
	return size && !bytes ? TW_ERR_MEMORY : value_number(column, bytes, size);
}

static int add_cell(struct sql_answer_column *column, sqlite3_stmt *statement, int i, size_t row)
{
	const enum tw_sql_type type = type_of_cell(statement, i);
	if (!tw_grow(&column->valid, &column->valid_room, row / 8 + 1, 1) ||
	    !tw_extend(&column->words, &column->word_room, row + 1, sizeof *column->words))
		return TW_ERR_MEMORY;
	column->words[row] = 0;
	if (type == TW_SQL_NULL) {
		column->nulls++;
		return 0;
	}
	int status = type > column->type ? widen(column, type, row) : 0;
	if (status < 0)
		return status;
	column->valid[row / 8] |= (uint8_t)(1 << row % 8);
	int64_t word;
	if (column->type == TW_SQL_INT)
		word = sqlite3_column_int64(statement, i);
	else if (column->type == TW_SQL_REAL)
		word = word_of(sqlite3_column_double(statement, i));
	else if ((word = text_of_cell(column, statement, i)) < 0)
		return (int)word;
	column->words[row] = word;
	return 0;
}

static size_t memory_of(const struct sql_answer_column *column)
{
	const size_t slots = column->codes.mask ? column->codes.mask + 1 : 0;
	return column->valid_room + column->word_room * sizeof *column->words +
	       column->offset_room * sizeof *column->offsets + column->bytes.room + slots * sizeof *column->codes.slots;
}

int sql_answer_add(struct tw_sql_result *result, sqlite3_stmt *statement)
{
	int status = 0;
	size_t memory = 0;
	for (size_t i = 0; i < result->column_count && status == 0; i++) {
		status = add_cell(&result->columns[i], statement, (int)i, result->rows);
		memory += memory_of(&result->columns[i]);
	}
	result->rows += status == 0;
	return status == 0 && memory > result->limit ? TW_ERR_LIMIT : status;
}

/* ---- The answer. ---- */

struct tw_sql_result *sql_answer_new(sqlite3_stmt *statement, size_t limit)
{
	struct tw_sql_result *result = calloc(1, sizeof *result);
	if (!result)
		return NULL;
	atomic_init(&result->references, 1);
	result->limit = limit;
	result->column_count = statement ? (size_t)sqlite3_column_count(statement) : 0;
	result->columns = calloc(result->column_count + 1, sizeof *result->columns);
	bool whole = result->columns;
	for (size_t i = 0; whole && i < result->column_count; i++) {
		const char *name = sqlite3_column_name(statement, (int)i);
		result->columns[i].name = strdup(name ? name : "");
		whole = result->columns[i].name;
	}
	if (whole)
		return result;
	tw_sql_result_free(result);
	return NULL;
}

/* What SQLite says that a column of a table is. */
static enum tw_sql_type declared(sqlite3_stmt *statement, int i)
{
	static const struct {
		const char *word;
		enum tw_sql_type type;
	} words[] = {{"INTEGER", TW_SQL_INT}, {"REAL", TW_SQL_REAL}, {"TEXT", TW_SQL_TEXT}, {"BLOB", TW_SQL_BYTES}};
	const char *type = sqlite3_column_decltype(statement, i);
	for (size_t k = 0; type && k < sizeof words / sizeof *words; k++)
		if (sqlite3_stricmp(type, words[k].word) == 0)
			return words[k].type;
	return TW_SQL_NULL;
}

/* Makes the numbers of values half as wide, in their place. There is a value for every row's number. */
static bool finish_values(struct sql_answer_column *column, size_t rows)
{
	int32_t *codes = (int32_t *)(void *)column->words;
	for (size_t row = 0; row < rows; row++) {
		const int32_t code = (int32_t)column->words[row];
		memcpy((char *)codes + row * sizeof code, &code, sizeof code);
	}
	if (column->values == 0 && value_number(column, "", 0) < 0)
		return false;
	column->finished.codes = codes;
	column->finished.offsets = column->offsets;
	column->finished.bytes = column->bytes.bytes ? column->bytes.bytes : "";
	column->finished.values = column->values;
	return true;
}

static bool finish_column(struct sql_answer_column *column, size_t rows)
{
	column->finished.name = column->name;
	column->finished.type = column->type;
	column->finished.valid = column->nulls ? column->valid : NULL;
	column->finished.nulls = column->nulls;
	tw_map_free(&column->codes);
	column->codes = (struct tw_map){0};
	switch (column->type) {
	case TW_SQL_INT:
		column->finished.ints = column->words;
		return true;
	case TW_SQL_REAL:
		column->finished.reals = (const double *)(void *)column->words;
		return true;
	case TW_SQL_TEXT:
	case TW_SQL_BYTES:
		return finish_values(column, rows);
	case TW_SQL_NULL:
		return true;
	}
	return true;
}

bool sql_answer_finish(struct tw_sql_result *result, sqlite3_stmt *statement)
{
	for (size_t i = 0; i < result->column_count; i++) {
		struct sql_answer_column *column = &result->columns[i];
		if (column->type == TW_SQL_NULL)
			column->type = declared(statement, (int)i);
		if (!finish_column(column, result->rows))
			return false;
	}
	return true;
}

struct tw_sql_result *sql_answer_keep(struct tw_sql_result *result)
{
	atomic_fetch_add(&result->references, 1);
	return result;
}

size_t tw_sql_rows(const struct tw_sql_result *result)
{
	return result->rows;
}

size_t tw_sql_columns(const struct tw_sql_result *result)
{
	return result->column_count;
}

const struct tw_sql_column *tw_sql_column(const struct tw_sql_result *result, size_t i)
{
	return i < result->column_count ? &result->columns[i].finished : NULL;
}

void tw_sql_result_free(struct tw_sql_result *result)
{
	if (!result || atomic_fetch_sub(&result->references, 1) > 1)
		return;
	for (size_t i = 0; result->columns && i < result->column_count; i++) {
		struct sql_answer_column *column = &result->columns[i];
		free(column->name);
		free(column->valid);
		free(column->words);
		free(column->offsets);
		tw_text_free(&column->bytes);
		tw_map_free(&column->codes);
	}
	free(result->columns);
	free(result);
}
