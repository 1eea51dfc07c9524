/* stat_rows.c - the rows of trackway stat as a table and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "cli/output/show.h"
#include "cli/output/table.h"
#include "cli/reports/stat.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct tw_number numbers[] = {
    {offsetof(struct tw_profile_row, id), "id", NULL, "id", NULL},
    {offsetof(struct tw_profile_row, count), "count", NULL, "count", NULL},
    {offsetof(struct tw_profile_row, open), "open", NULL, NULL, NULL},
    {offsetof(struct tw_profile_row, unwound), "unwound", NULL, NULL, NULL},
    {offsetof(struct tw_profile_row, total), "total_ns", NULL, "total", NULL},
    {offsetof(struct tw_profile_row, self), "self_ns", NULL, "self", NULL},
};

/* Of single calls that were seen to end. */
static const struct tw_number ended_numbers[] = {
    {offsetof(struct tw_profile_row, min_ns), "min_ns", NULL, "min", NULL},
    {offsetof(struct tw_profile_row, p50_ns), "p50_ns", NULL, "p50", NULL},
    {offsetof(struct tw_profile_row, p90_ns), "p90_ns", NULL, "p90", NULL},
    {offsetof(struct tw_profile_row, p99_ns), "p99_ns", NULL, "p99", NULL},
    {offsetof(struct tw_profile_row, max_ns), "max_ns", NULL, "max", NULL},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers, ENDED_NUMBERS = sizeof ended_numbers / sizeof *ended_numbers };

const char *const tw_stat_sort_words[] = {"count", "total", "self", "min", "p50", "p90",
                                          "p99",   "max",   "name", "id",  NULL};

bool tw_stat_sorts_ended(const char *word)
{
	return tw_numbers_have(ended_numbers, ENDED_NUMBERS, word);
}

static void reverse(struct tw_list_rows *rows)
{
	for (size_t i = 0, k = rows->count; i + 1 < k; i++) {
		const void *first = rows->items[i];
		rows->items[i] = rows->items[--k];
		rows->items[k] = first;
	}
}

void tw_stat_sort(struct tw_stat_rows *rows, const char *word, bool ascending, uint64_t top)
{
	tw_rows_sort(&rows->list, numbers, NUMBERS, word, top);
	tw_rows_sort(&rows->list, ended_numbers, ENDED_NUMBERS, word, top);
	if (ascending && strcmp(word, "name") != 0)
		reverse(&rows->list);
}

static const struct tw_profile_row *row_at(const struct tw_stat_rows *rows, size_t i)
{
	return rows->list.items[i];
}

/* NULL where no call of a row has ended: the shortest and longest of others are not known. */
static const struct tw_profile_row *ended(const struct tw_profile_row *row)
{
	return row->count > row->open + row->summed ? row : NULL;
}

/* ---- JSON. ---- */

/* A number's name; without "_ns" where it is no time. */
static struct tw_shown name_of(const char *name, enum tw_weight weight)
{
	struct tw_shown shown;
	const char *end = tw_weight_unit(weight) == TW_UNIT_NS ? NULL : strstr(name, "_ns");
	snprintf(shown.text, sizeof shown.text, "%.*s", end ? (int)(end - name) : TW_SHOW_ROOM, name);
	return shown;
}

static void put_numbers(struct tw_json *json, const struct tw_profile_row *row, enum tw_weight weight,
                        const struct tw_number *those, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tw_number number = those[i];
		struct tw_shown name = name_of(number.name, weight);
		number.name = name.text;
		tw_numbers_json(json, row, &number, 1);
	}
}

static void put_calls_json(struct tw_json *json, const struct tw_profile_row *row, enum tw_weight weight)
{
	if (weight > TW_WEIGHT_CALLS)
		tw_json_text(json, "weight", tw_weight_name(weight));
	put_numbers(json, row, weight, numbers, NUMBERS);
	put_numbers(json, ended(row), weight, ended_numbers, ENDED_NUMBERS);
}

/* Folded stacks have bytes, and do not tell of how many objects. */
static bool is_counted(const struct tw_stat_rows *rows)
{
	return rows->counted || rows->self == 0;
}

static void put_samples_json(struct tw_json *json, const struct tw_profile_row *row, const struct tw_stat_rows *rows)
{
	tw_json_u64(json, "id", row->id);
	tw_json_known(json, "count", row->count, is_counted(rows));
	tw_json_weighed(json, rows->weight, row->total, &row->self);
	tw_json_text(json, "class", row->owner);
	tw_json_text(json, "module", row->module);
}

static bool is_by_thread(enum tw_profile_by by)
{
	return by == TW_BY_THREAD || by == TW_BY_WHOLE_THREAD;
}

static void put_json_row(struct tw_output *out, const struct tw_profile_row *row, const struct tw_stat_rows *rows)
{
	const enum tw_profile_by by = rows->by;
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "name", row->name);
	if (row->weighed)
		put_samples_json(&json, row, rows);
	else
		put_calls_json(&json, row, rows->weight);
	tw_json_text(&json, "file", row->file);
	tw_json_u64(&json, "line", row->line);
	if (is_by_thread(by)) {
		tw_json_task(&json, "process", row->process);
		tw_json_known_task(&json, "thread", row->thread, !row->threadless);
		tw_json_text(&json, "process_name", row->process_name);
		tw_json_text(&json, "thread_name", row->thread_name);
	}
	if (by == TW_BY_CALLER) {
		tw_json_text(&json, "caller", row->caller);
		tw_json_u64(&json, "caller_id", row->caller_id);
	}
	if (by == TW_BY_OBJECT)
		tw_json_text(&json, "object", row->object);
	tw_json_object_line_end(&json);
}

void tw_stat_put_json(struct tw_output *out, const struct tw_stat_rows *rows)
{
	for (size_t i = 0; i < rows->list.shown; i++)
		put_json_row(out, row_at(rows, i), rows);
}

/* ---- Text. ---- */

enum { TOTAL_COLUMN = 1 };

static const struct tw_table_column call_columns[] = {
    {"CALLS", true}, [TOTAL_COLUMN] = {"TOTAL", true},
    {"SELF", true},  {"SELF %", true},
    {"MIN", true},   {"P50", true},
    {"P90", true},   {"P99", true},
    {"MAX", true},
};
static const struct tw_table_column sample_columns[] = {{"SELF", true},
                                                        {"SELF %", true},
                                                        {"TOTAL", true},
                                                        {"TOTAL %", true}};
static const struct tw_table_column name_columns[] = {
    [TW_BY_FUNCTION] = {"FUNCTION", false},
    [TW_BY_THREAD] = {"FUNCTION", false},
    [TW_BY_CALLER] = {"CALLER > FUNCTION", false},
    [TW_BY_OBJECT] = {"FUNCTION", false},
    [TW_BY_CLASS] = {"CLASS", false},
    [TW_BY_MODULE] = {"MODULE", false},
    [TW_BY_LINE] = {"LINE", false},
    [TW_BY_WHOLE_THREAD] = {"NAME", false},
    [TW_BY_ASYNC] = {"OPERATION", false},
};

/* Whether threads have a column for their names: where some have one. */
static bool has_thread_names(const struct tw_stat_rows *rows)
{
	for (size_t i = 0; i < rows->list.shown && rows->by == TW_BY_THREAD; i++)
		if (row_at(rows, i)->thread_name)
			return true;
	return false;
}

/* Whether processes have a column: where there are several. */
static bool has_processes(const struct tw_stat_rows *rows)
{
	for (size_t i = 1; i < rows->list.shown && is_by_thread(rows->by); i++)
		if (row_at(rows, i)->process != row_at(rows, 0)->process)
			return true;
	return false;
}

static void add_thread(struct tw_table *table, const struct tw_profile_row *row, bool named, bool of_process)
{
	if (of_process)
		tw_table_add(table, row->process_name ? row->process_name : tw_show_task(row->process).text);
	tw_table_add(table, row->threadless ? "-" : tw_show_task(row->thread).text);
	if (named)
		tw_table_add(table, row->thread_name ? row->thread_name : "");
}

static void add_name(struct tw_table *table, const struct tw_profile_row *row, enum tw_profile_by by)
{
	struct tw_text text = {0};
	const char *caller = row->caller ? tw_show_name(row->caller) : "(root)", *name = tw_show_name(row->name);
	if (by != TW_BY_CALLER) {
		tw_table_add(table, name);
		return;
	}
	bool fine = tw_text_add(&text, caller, strlen(caller)) && tw_text_add(&text, " > ", 3) &&
	            tw_text_add(&text, name, strlen(name));
	table->failed |= !fine;
	tw_table_add(table, fine ? text.bytes : name);
	tw_text_free(&text);
}

static void add_calls(struct tw_table *table, const struct tw_profile_row *row, const struct tw_stat_rows *rows)
{
	const uint64_t spread[] = {row->min_ns, row->p50_ns, row->p90_ns, row->p99_ns, row->max_ns};
	tw_table_add(table, tw_show_count(row->count).text);
	tw_table_add(table, tw_show_weight(rows->weight, row->total).text);
	tw_table_add(table, tw_show_weight(rows->weight, row->self).text);
	tw_table_add(table, tw_show_percent(row->self, rows->self).text);
	for (size_t i = 0; i < sizeof spread / sizeof *spread; i++)
		tw_table_add(table, ended(row) ? tw_show_weight(rows->weight, spread[i]).text : "-");
}

static void add_samples(struct tw_table *table, const struct tw_profile_row *row, const struct tw_stat_rows *rows)
{
	tw_table_add(table, tw_show_weight(rows->weight, row->self).text);
	tw_table_add(table, tw_show_percent(row->self, rows->self).text);
	tw_table_add(table, tw_show_weight(rows->weight, row->total).text);
	tw_table_add(table, tw_show_percent(row->total, rows->self).text);
	if (tw_weight_has_count(rows->weight) && is_counted(rows))
		tw_table_add(table, tw_show_count(row->count).text);
}

/* Returns how many columns there are. */
static size_t choose_columns(struct tw_table_column columns[], const struct tw_stat_rows *rows, bool named,
                             bool of_process)
{
	bool sampled = tw_weight_is_sampled(rows->weight);
	size_t count =
	    sampled ? sizeof sample_columns / sizeof *sample_columns : sizeof call_columns / sizeof *call_columns;
	memcpy(columns, sampled ? sample_columns : call_columns, count * sizeof *columns);
	if (rows->weight == TW_WEIGHT_INSTRUCTIONS)
		columns[TOTAL_COLUMN].title = "INSTRUCTIONS";
	if (rows->weight == TW_WEIGHT_TICKS)
		columns[TOTAL_COLUMN].title = "TICKS";
	if (sampled && tw_weight_has_count(rows->weight) && is_counted(rows))
		columns[count++] = (struct tw_table_column){tw_weight_title(rows->weight), true};
	if (of_process)
		columns[count++] = (struct tw_table_column){"PROCESS", false};
	if (is_by_thread(rows->by))
		columns[count++] = (struct tw_table_column){"THREAD", true};
	if (named)
		columns[count++] = (struct tw_table_column){"NAME", false};
	if (rows->by == TW_BY_OBJECT)
		columns[count++] = (struct tw_table_column){"OBJECT", false};
	columns[count++] = name_columns[rows->by];
	return count;
}

int tw_stat_put_text(struct tw_screen *screen, const struct tw_stat_rows *rows, const struct tw_profile_notes *notes)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	bool named = has_thread_names(rows), of_process = has_processes(rows);
	struct tw_table table = {.columns = columns, .column_count = choose_columns(columns, rows, named, of_process)};
	for (size_t i = 0; i < rows->list.shown; i++) {
		(row_at(rows, i)->weighed ? add_samples : add_calls)(&table, row_at(rows, i), rows);
		if (is_by_thread(rows->by))
			add_thread(&table, row_at(rows, i), named, of_process);
		if (rows->by == TW_BY_OBJECT)
			tw_table_add(&table, row_at(rows, i)->object ? row_at(rows, i)->object : "-");
		add_name(&table, row_at(rows, i), rows->by);
	}
	int status = tw_table_put(&table, screen);
	tw_rows_put_more(screen, &rows->list);
	tw_put_notes(screen, notes, &rows->notes);
	return status;
}
