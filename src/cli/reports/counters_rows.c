/* counters_rows.c - the rows of trackway counters as a table, as JSON Lines, and their samples as CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/digits.h"
#include "cli/output/cells.h"
#include "cli/reports/counters.h"

#include <stdio.h>

/* ---- Which rows, and in which order. ---- */

static const struct tw_number numbers[] = {
    {offsetof(struct tw_counter_row, count), "count", NULL, "samples", tw_show_count},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

const char *tw_counters_sort_word(size_t i)
{
	return tw_numbers_word(numbers, NUMBERS, i);
}

void tw_counters_sort(struct tw_list_rows *rows, const char *word, uint64_t top)
{
	tw_rows_sort(rows, numbers, NUMBERS, word, top);
}

/* ---- JSON. ---- */

static void put_json_value(struct tw_json *json, const char *key, const struct tw_counter_value *value)
{
	if (value->type == TW_ARG_INT)
		tw_json_i64(json, key, value->value.i);
	else if (value->type == TW_ARG_UINT)
		tw_json_u64(json, key, value->value.u);
	else
		tw_json_double(json, key, value->value.d);
}

/* What a series without a sample does not have is null. */
static void put_json_numbers(struct tw_json *json, const struct tw_counter_row *row)
{
	static const char *const names[] = {"first", "last", "min", "max", "mean", "first_ns", "last_ns"};
	const struct tw_counter_value *const values[] = {&row->first, &row->last, &row->min, &row->max};
	for (size_t i = 0; row->count == 0 && i < sizeof names / sizeof *names; i++)
		tw_json_text(json, names[i], NULL);
	if (row->count == 0)
		return;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		put_json_value(json, names[i], values[i]);
	tw_json_double(json, "mean", row->mean);
	tw_json_u64(json, "first_ns", row->first_ns);
	tw_json_u64(json, "last_ns", row->last_ns);
}

static const char *path_of(const struct tw_listing *listing, const struct tw_counter_row *row)
{
	return tw_shown_path(((const struct tw_counters_listing *)(const void *)listing)->paths[row->trace]);
}

void tw_counters_put_json(struct tw_json *json, const struct tw_listing *listing, const void *item)
{
	const struct tw_counter_row *row = item;
	tw_json_text(json, "file", path_of(listing, row));
	tw_json_task(json, "process", row->process);
	tw_json_text(json, "process_name", row->process_name);
	tw_json_text(json, "category", row->category);
	tw_json_text(json, "counter", row->name);
	tw_json_known(json, "id", row->id, row->id != TW_UNKNOWN_TASK);
	tw_json_text(json, "series", row->series);
	tw_json_u64(json, "count", row->count);
	tw_json_u64(json, "not_numbers", row->not_numbers);
	put_json_numbers(json, row);
}

/* ---- Text. ---- */

static const struct tw_table_column columns[] = {
    {"SAMPLES", true},  {"FIRST", true},   {"LAST", true},     {"MIN", true},       {"MAX", true},
    {"MEAN", true},     {"SPAN", true},    {"PROCESS", false}, {"CATEGORY", false}, {"ID", true},
    {"COUNTER", false}, {"SERIES", false}, {"FILE", false},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static struct tw_shown show_value(const struct tw_counter_value *value)
{
	if (value->type == TW_ARG_DOUBLE)
		return tw_show_number(value->value.d);
	bool negative = value->type == TW_ARG_INT && value->value.i < 0;
	char digits[TW_DIGITS_MAX + 2] = "-";
	struct tw_shown shown;
	*tw_digits(digits + negative, negative ? -value->value.u : value->value.u) = '\0';
	tw_group_digits(shown.text, digits);
	return shown;
}

static void add_numbers(struct tw_table *table, const struct tw_counter_row *row)
{
	const struct tw_counter_value *const values[] = {&row->first, &row->last, &row->min, &row->max};
	tw_table_add(table, tw_show_count(row->count).text);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		tw_table_add(table, row->count ? show_value(values[i]).text : "-");
	tw_table_add(table, row->count ? tw_show_number(row->mean).text : "-");
	tw_table_add(table, row->count ? tw_show_duration(row->last_ns - row->first_ns).text : "-");
}

static void add_row(struct tw_table *table, const struct tw_counter_row *row, const char *path)
{
	add_numbers(table, row);
	tw_table_add(table, row->process_name ? row->process_name : tw_show_task(row->process).text);
	tw_table_add(table, row->category);
	tw_table_add(table, row->id == TW_UNKNOWN_TASK ? "?" : tw_show_id(row->id).text);
	tw_table_add(table, tw_show_name(row->name));
	tw_table_add(table, tw_show_name(row->series));
	if (table->column_count == COLUMNS)
		tw_table_add(table, path);
}

int tw_counters_put_text(struct tw_listing *listing)
{
	bool several = ((const struct tw_counters_listing *)(const void *)listing)->several;
	struct tw_table table = {.columns = columns, .column_count = several ? COLUMNS : COLUMNS - 1};
	uint64_t not_numbers = 0;
	if (!listing->rows.count)
		return 0;
	for (size_t i = 0; i < listing->rows.count; i++) {
		const struct tw_counter_row *row = listing->rows.items[i];
		if (i < listing->rows.shown)
			add_row(&table, row, path_of(listing, row));
		not_numbers += row->not_numbers;
	}
	int status = tw_table_put(&table, &listing->screen);
	tw_rows_put_more(&listing->screen, &listing->rows);
	if (not_numbers)
		tw_putf(&listing->screen.out, "\n%s not a number: not counted\n",
		        tw_show_plural(not_numbers, "value").text);
	return status;
}

/* ---- CSV. ---- */

static void put_csv_text(struct tw_output *out, const char *text, bool safe)
{
	tw_put_char(out, ',');
	tw_put_csv(out, text, strlen(text), safe);
}

const char tw_counters_csv_head[] = "time_ns,process,thread,category,counter,id,series,value\n";

void tw_counters_put_sample(struct tw_output *out, const struct tw_counter_sample *sample, bool safe)
{
	tw_put_u64(out, sample->time);
	tw_put_char(out, ',');
	tw_put_task(out, sample->process);
	tw_put_char(out, ',');
	tw_put_task(out, sample->thread);
	put_csv_text(out, sample->category, safe);
	put_csv_text(out, sample->name, safe);
	tw_put_char(out, ',');
	if (sample->id == TW_UNKNOWN_TASK)
		tw_put_char(out, '?');
	else
		tw_put_u64(out, sample->id);
	put_csv_text(out, sample->series, safe);
	tw_put_char(out, ',');
	if (sample->value.type == TW_ARG_INT)
		tw_put_i64(out, sample->value.value.i);
	else if (sample->value.type == TW_ARG_UINT)
		tw_put_u64(out, sample->value.value.u);
	else
		tw_put_double(out, sample->value.value.d);
	tw_put_char(out, '\n');
}
