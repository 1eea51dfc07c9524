/* diff_rows.c - the rows of trackway diff as a table and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "cli/diff.h"
#include "cli/show.h"
#include "cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What is compared. ---- */

/* X(enumerator, member, name in JSON, word of --sort, titles of both columns, how its values look) */
#define VALUE_LIST(X)                                                                                                  \
	X(TW_DIFF_SELF, self, "self_ns", "self", "SELF A", "SELF B", tw_show_duration)                                 \
	X(TW_DIFF_TOTAL, total, "total_ns", "total", "TOTAL A", "TOTAL B", tw_show_duration)                           \
	X(TW_DIFF_COUNT, count, "count", "count", "CALLS A", "CALLS B", tw_show_count)                                 \
	X(TW_DIFF_P50, p50_ns, "p50_ns", "p50", "P50 A", "P50 B", tw_show_duration)

static const struct value {
	const char *name, *word, *titles[2];
	size_t offset;
	struct tw_shown (*show)(uint64_t);
} values[] = {
#define X(by, member, name, word, a, b, show) [by] = {name, word, {a, b}, offsetof(struct tw_diff_row, member), show},
    VALUE_LIST(X)
#undef X
};

enum { VALUES = sizeof values / sizeof *values };

static const struct tw_diff_value *value_of(const struct tw_diff_row *row, size_t i)
{
	return (const struct tw_diff_value *)((const char *)row + values[i].offset);
}

const char *tw_diff_word(size_t i)
{
	return i < VALUES ? values[i].word : NULL;
}

enum tw_diff_by tw_diff_by_word(const char *word)
{
	size_t i = 0;
	while (word && strcmp(word, values[i].word) != 0)
		i++;
	return (enum tw_diff_by)i;
}

/* The next row that --function lets through, from number *i on. */
static const struct tw_diff_row *next_row(const struct tw_diff_view *view, size_t *i)
{
	const struct tw_diff_row *row;
	while ((row = tw_diff_row(view->diff, (*i)++)) && !tw_function_wanted(view->common, row->name))
		;
	return row;
}

/* ---- JSON. ---- */

static void put_value_json(struct tw_json *json, const char *name, const struct tw_diff_value *value)
{
	char key[32];
	snprintf(key, sizeof key, "%s_a", name);
	tw_json_u64(json, key, value->a);
	snprintf(key, sizeof key, "%s_b", name);
	tw_json_u64(json, key, value->b);
	snprintf(key, sizeof key, "%s_change", name);
	tw_json_i64(json, key, value->change);
	snprintf(key, sizeof key, "%s_ratio", name);
	tw_json_fixed(json, key, value->ratio, 4);
}

static void put_json_row(struct tw_output *out, const struct tw_diff_row *row)
{
	static const char *const words[] = {
	    [TW_DIFF_BOTH] = "both", [TW_DIFF_ONLY_A] = "only-a", [TW_DIFF_ONLY_B] = "only-b"};
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "name", row->name);
	tw_json_text(&json, "status", words[row->status]);
	for (size_t i = 0; i < VALUES; i++)
		put_value_json(&json, values[i].name, value_of(row, i));
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

void tw_diff_put_json(struct tw_output *out, const struct tw_diff_view *view)
{
	const struct tw_diff_row *row;
	for (size_t i = 0, n = 0; (!view->top || n < view->top) && (row = next_row(view, &i)); n++)
		put_json_row(out, row);
}

/* ---- Text. ---- */

static struct tw_shown show_ratio(const struct tw_diff_row *row, const struct tw_diff_value *value)
{
	struct tw_shown shown;
	if (row->status != TW_DIFF_BOTH)
		snprintf(shown.text, sizeof shown.text, "%s", row->status == TW_DIFF_ONLY_A ? "gone" : "new");
	else if (!isfinite(value->ratio))
		snprintf(shown.text, sizeof shown.text, "-");
	else
		snprintf(shown.text, sizeof shown.text, "%+.1f %%", 100.0 * (value->ratio - 1));
	return shown;
}

static void add_row(struct tw_table *table, const struct tw_diff_row *row, enum tw_diff_by by)
{
	const struct tw_diff_value *value = value_of(row, by);
	tw_table_add(table, values[by].show(value->a).text);
	tw_table_add(table, values[by].show(value->b).text);
	tw_table_add(table, tw_show_change(value->change, values[by].show).text);
	tw_table_add(table, show_ratio(row, value).text);
	if (by != TW_DIFF_COUNT) {
		tw_table_add(table, tw_show_count(row->count.a).text);
		tw_table_add(table, tw_show_count(row->count.b).text);
	}
	tw_table_add(table, row->name);
}

/* Returns how many columns there are. */
static size_t choose_columns(struct tw_column columns[], enum tw_diff_by by)
{
	static const struct tw_column change[] = {{"CHANGE", true}, {"CHANGE %", true}};
	static const struct tw_column calls[] = {{"CALLS A", true}, {"CALLS B", true}};
	size_t count = 0;
	columns[count++] = (struct tw_column){values[by].titles[0], true};
	columns[count++] = (struct tw_column){values[by].titles[1], true};
	columns[count++] = change[0];
	columns[count++] = change[1];
	if (by != TW_DIFF_COUNT) {
		columns[count++] = calls[0];
		columns[count++] = calls[1];
	}
	columns[count++] = (struct tw_column){"FUNCTION", false};
	return count;
}

int tw_diff_put_text(struct tw_screen *screen, const struct tw_diff_view *view)
{
	struct tw_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns, .column_count = choose_columns(columns, view->by)};
	const struct tw_diff_row *row;
	uint64_t shown = 0, more = 0;
	for (size_t i = 0; (row = next_row(view, &i));) {
		if (view->top && shown == view->top) {
			more++;
			continue;
		}
		add_row(&table, row, view->by);
		shown++;
	}
	int status = tw_table_put(&table, screen);
	if (more)
		tw_putf(&screen->out, "... and %s more\n", tw_show_count(more).text);
	return status;
}
