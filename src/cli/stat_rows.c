/* stat_rows.c - the rows of trackway stat as a table and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cli/show.h"
#include "cli/stat.h"
#include "cli/table.h"

#include <stddef.h>
#include <string.h>

/* ---- JSON. ---- */

static const struct {
	const char *name;
	size_t offset;
	bool ended; /* of calls that ended only */
} numbers[] = {
#define X(member, name, sort, ended) {name, offsetof(struct tw_profile_row, member), ended},
    TW_STAT_NUMBERS(X)
#undef X
};

static void put_json_row(struct tw_output *out, const struct tw_profile_row *row, enum tw_profile_by by)
{
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "name", row->name);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].ended && !tw_stat_timed(row))
			tw_json_text(&json, numbers[i].name, NULL);
		else
			tw_json_u64(&json, numbers[i].name, *(const uint64_t *)((const char *)row + numbers[i].offset));
	tw_json_text(&json, "file", row->file);
	tw_json_u64(&json, "line", row->line);
	if (by == TW_BY_THREAD) {
		tw_json_u64(&json, "process", row->process);
		tw_json_u64(&json, "thread", row->thread);
	}
	if (by == TW_BY_CALLER) {
		tw_json_text(&json, "caller", row->caller);
		tw_json_u64(&json, "caller_id", row->caller_id);
	}
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

void tw_stat_put_json(struct tw_output *out, const struct tw_stat_rows *rows)
{
	for (size_t i = 0; i < rows->shown; i++)
		put_json_row(out, rows->items[i], rows->by);
}

/* ---- Text. ---- */

static const struct tw_column columns[] = {
    {"CALLS", true}, {"TOTAL", true}, {"SELF", true}, {"SELF %", true}, {"MIN", true},
    {"P50", true},   {"P90", true},   {"P99", true},  {"MAX", true},
};
static const struct tw_column last_columns[] = {
    [TW_BY_FUNCTION] = {"FUNCTION", false},
    [TW_BY_THREAD] = {"THREAD", true}, /* FUNCTION follows */
    [TW_BY_CALLER] = {"CALLER > FUNCTION", false},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_name(struct tw_table *table, const struct tw_profile_row *row, enum tw_profile_by by)
{
	struct tw_text text = {0};
	const char *caller = row->caller ? row->caller : "(root)";
	if (by == TW_BY_THREAD)
		tw_table_add(table, tw_show_id(row->thread).text);
	if (by != TW_BY_CALLER) {
		tw_table_add(table, row->name);
		return;
	}
	bool fine = tw_text_add(&text, caller, strlen(caller)) && tw_text_add(&text, " > ", 3) &&
	            tw_text_add(&text, row->name, strlen(row->name));
	tw_table_add(table, fine ? text.bytes : row->name);
	tw_text_free(&text);
}

static void add_row(struct tw_table *table, const struct tw_profile_row *row, const struct tw_stat_rows *rows)
{
	const uint64_t spread[] = {row->min_ns, row->p50_ns, row->p90_ns, row->p99_ns, row->max_ns};
	tw_table_add(table, tw_show_count(row->count).text);
	tw_table_add(table, tw_show_duration(row->total).text);
	tw_table_add(table, tw_show_duration(row->self).text);
	tw_table_add(table, tw_show_percent(row->self, rows->self).text);
	for (size_t i = 0; i < sizeof spread / sizeof *spread; i++)
		tw_table_add(table, tw_stat_timed(row) ? tw_show_duration(spread[i]).text : "-");
	add_name(table, row, rows->by);
}

int tw_stat_put_text(struct tw_screen *screen, const struct tw_stat_rows *rows, const struct tw_profile_notes *notes)
{
	struct tw_column all[COLUMNS + 2] = {[COLUMNS + 1] = {"FUNCTION", false}};
	memcpy(all, columns, sizeof columns);
	all[COLUMNS] = last_columns[rows->by];
	struct tw_table table = {.columns = all, .column_count = COLUMNS + (rows->by == TW_BY_THREAD ? 2 : 1)};
	for (size_t i = 0; i < rows->shown; i++)
		add_row(&table, rows->items[i], rows);
	int status = tw_table_put(&table, screen);
	if (rows->shown < rows->count)
		tw_putf(&screen->out, "... and %s more\n", tw_show_count(rows->count - rows->shown).text);
	tw_put_notes(screen, notes, &rows->notes);
	return status;
}
