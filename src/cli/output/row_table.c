/* row_table.c - rows in JSON as a table: CSV or Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/row_table.h"

#include "cli/output/cells.h"

#include <stdlib.h>
#include <string.h>

struct column {
	char *name;
	const char *value; /* in the row at hand: JSON; NULL: it has none */
	size_t length;
};

struct row_table {
	struct column *columns;
	size_t count, room;
	size_t next; /* the column that is likely to come next: rows are alike */
	struct tw_text prefix, name, field;
	bool failed;
};

/* ---- JSON, as it was written here: without spaces, and well-formed. ---- */

static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		p += *p == '\\' && p[1];
	return *p ? p + 1 : p;
}

/* Behind a value. */
static const char *skip_value(const char *p)
{
	size_t depth = 0;
	do {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		depth += *p == '{' || *p == '[';
		depth -= depth && (*p == '}' || *p == ']');
		p += *p != '\0';
	} while (*p && (depth || !strchr(",]}", *p)));
	return p;
}

static void add_code(struct tw_text *text, uint32_t code)
{
	const char four[4] = {(char)(0xf0 | code >> 18), (char)(0x80 | (code >> 12 & 63)),
	                      (char)(0x80 | (code >> 6 & 63)), (char)(0x80 | (code & 63))};
	const char three[3] = {(char)(0xe0 | code >> 12), four[2], four[3]};
	const char two[2] = {(char)(0xc0 | code >> 6), four[3]};
	const char one = (char)code;
	if (code < 0x80)
		tw_text_add(text, &one, 1);
	else if (code < 0x800)
		tw_text_add(text, two, sizeof two);
	else if (code < 0x10000)
		tw_text_add(text, three, sizeof three);
	else
		tw_text_add(text, four, sizeof four);
}

/* The four digits behind "\\u"; 0 where there are none. */
static uint32_t digits_of(const char *p)
{
	char digits[5] = "";
	strncpy(digits, p, 4);
	return (uint32_t)strtoul(digits, NULL, 16);
}

/* Adds the character of "u1234", or of a pair "udb40\\udc01"; returns its last digit's place. */
static const char *add_escaped(struct tw_text *text, const char *p)
{
	enum { HIGH = 0xd800, LOW = 0xdc00, PAIRED = 0x10000, HALF = 0x400 };
	uint32_t code = digits_of(p + 1);
	bool pair = code >= HIGH && code < LOW && strncmp(p + 5, "\\u", 2) == 0;
	if (pair)
		code = PAIRED + (code - HIGH) * HALF + (digits_of(p + 7) & (HALF - 1));
	add_code(text, code);
	return p + (pair ? 10 : 4);
}

/* Adds what a string, from its first quote on, says. */
static void add_string(struct tw_text *text, const char *p)
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	for (p++; *p && *p != '"'; p++) {
		if (*p != '\\') {
			tw_text_add(text, p, 1);
			continue;
		}
		const char *name = *++p ? strchr(names, *p) : NULL;
		if (*p == 'u' && strlen(p) > 4) {
			p = add_escaped(text, p);
		} else if (*p) {
			tw_text_add(text, name ? &meant[name - names] : p, 1);
		}
	}
}

/* Adds a value as a field has it. */
static void add_value(struct tw_text *text, const char *value, size_t length)
{
	if (*value == '"') {
		add_string(text, value);
	} else if (*value == '[' && value[1] != '{' && value[1] != '[') {
		for (const char *p = value + 1, *end; p < value + length - 1; p = end + (*end == ',')) {
			end = skip_value(p);
			tw_text_add(text, ";", p > value + 1);
			add_value(text, p, (size_t)(end - p));
		}
	} else if (strncmp(value, "null", 4) != 0) {
		tw_text_add(text, value, length);
	}
}

/* ---- Columns. ---- */

static struct column *find_column(struct row_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		size_t place = (table->next + i) % table->count;
		if (strcmp(table->columns[place].name, name) == 0) {
			table->next = place + 1;
			return &table->columns[place];
		}
	}
	if (!tw_grow(&table->columns, &table->room, table->count + 1, sizeof *table->columns))
		return NULL;
	struct column column = {.name = strdup(name)};
	if (!column.name)
		return NULL;
	table->columns[table->count++] = column;
	table->next = table->count;
	return &table->columns[table->count - 1];
}

static void take_value(struct row_table *table, const char *value, size_t length)
{
	struct column *column = table->name.bytes ? find_column(table, table->name.bytes) : NULL;
	table->failed |= !column;
	if (column)
		column->value = value;
	if (column)
		column->length = length;
}

/* Takes the members of an object; those of objects in it by their names with this one's before them. */
static const char *take_object(struct row_table *table, const char *p)
{
	size_t outer = table->prefix.length;
	for (p++; *p == '"'; p += *p == ',') {
		const char *value = skip_string(p) + 1;
		table->name.length = 0;
		tw_text_add(&table->name, table->prefix.bytes ? table->prefix.bytes : "", outer);
		add_string(&table->name, p);
		if (*value == '{') {
			table->prefix.length = outer;
			tw_text_add(&table->prefix, table->name.bytes + outer, table->name.length - outer);
			tw_text_add(&table->prefix, ".", 1);
			p = take_object(table, value);
			table->prefix.length = outer;
			continue;
		}
		p = skip_value(value);
		take_value(table, value, (size_t)(p - value));
	}
	return p + (*p == '}');
}

static void take_row(struct row_table *table, const char *line)
{
	for (size_t i = 0; i < table->count; i++)
		table->columns[i].value = NULL;
	table->prefix.length = 0;
	if (*line == '{')
		take_object(table, line);
}

/* ---- The table. ---- */

/* safe: the value is a text that a spreadsheet may not take for a formula. */
static void put_field(struct tw_output *out, const char *text, size_t length, enum tw_row_table_form form, bool first,
                      bool safe)
{
	if (form != TW_ROWS_MARKDOWN) {
		tw_put_text(out, first ? "" : ",");
		tw_put_csv(out, text, length, safe);
		return;
	}
	tw_put_text(out, first ? "| " : " | ");
	tw_put_markdown(out, text, length);
}

static void put_row(struct row_table *table, struct tw_output *out, enum tw_row_table_form form)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];
		table->field.length = 0;
		bool safe = form == TW_ROWS_CSV_SAFE && column->value && strchr("[\"", *column->value);
		if (column->value)
			add_value(&table->field, column->value, column->length);
		put_field(out, table->field.bytes ? table->field.bytes : "", table->field.length, form, i == 0, safe);
	}
	tw_put_text(out, form == TW_ROWS_MARKDOWN ? " |\n" : "\n");
}

static void put_head(const struct row_table *table, struct tw_output *out, enum tw_row_table_form form)
{
	for (size_t i = 0; i < table->count; i++)
		put_field(out, table->columns[i].name, strlen(table->columns[i].name), form, i == 0, false);
	if (table->count)
		tw_put_text(out, form == TW_ROWS_MARKDOWN ? " |\n" : "\n");
	for (size_t i = 0; i < table->count && form == TW_ROWS_MARKDOWN; i++)
		tw_put_text(out, i + 1 < table->count ? "| --- " : "| --- |\n");
}

/* out: NULL to find the columns only. */
static void each_row(struct row_table *table, FILE *rows, struct tw_output *out, enum tw_row_table_form form)
{
	char *line = NULL;
	size_t room = 0;
	rewind(rows);
	while (!table->failed && getline(&line, &room, rows) > 0) {
		take_row(table, line);
		if (out)
			put_row(table, out, form);
	}
	free(line);
}

bool tw_row_table_put(struct tw_output *out, FILE *rows, enum tw_row_table_form form)
{
	struct row_table table = {0};
	each_row(&table, rows, NULL, form);
	put_head(&table, out, form);
	each_row(&table, rows, out, form);
	for (size_t i = 0; i < table.count; i++)
		free(table.columns[i].name);
	free(table.columns);
	tw_text_free(&table.prefix);
	tw_text_free(&table.name);
	tw_text_free(&table.field);
	return !table.failed;
}
