/* diff_rows.c - the rows of trackway diff as a table and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/output/table.h"
#include "cli/reports/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What is compared. ---- */

/* X(enumerator, member, name in JSON of times and of what is none, word of --sort, title) */
#define VALUE_LIST(X)                                                                                                  \
	X(TW_DIFF_SELF, self, "self_ns", "self", "self", "SELF")                                                       \
	X(TW_DIFF_TOTAL, total, "total_ns", "total", "total", "TOTAL")                                                 \
	X(TW_DIFF_COUNT, count, "count", "count", "count", NULL)                                                       \
	X(TW_DIFF_P50, p50_ns, "p50_ns", "p50", "p50", "P50")

static const struct compared_value {
	const char *time_name, *name, *word, *title;
	size_t offset;
} values[] = {
#define X(by, member, time_name, name, word, title)                                                                    \
	[by] = {time_name, name, word, title, offsetof(struct tw_diff_row, member)},
    VALUE_LIST(X)
#undef X
};

enum { VALUES = sizeof values / sizeof *values };

/* How a value looks. */
static struct tw_shown show(const struct tw_diff_view *view, uint64_t value)
{
	return view->by == TW_DIFF_COUNT ? tw_show_count(value) : tw_show_weight(view->weight, value);
}

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

bool tw_diff_is_empty(const struct tw_diff_view *view)
{
	size_t i = 0;
	return !next_row(view, &i);
}

/* ---- Significance. ---- */

void tw_diff_put_test(struct tw_json *json, const struct tw_diff_test *test, const size_t runs[2])
{
	static const char *const words[] = {
	    [TW_UNTESTED] = "untested", [TW_NOISE] = "noise", [TW_SIGNIFICANT] = "significant"};
	tw_json_text(json, "significance", words[test->significance]);
	tw_json_double(json, "p", test->p);
	tw_json_double(json, "change_low", test->low);
	tw_json_double(json, "change_high", test->high);
	tw_json_u64(json, "runs_a", runs[0]);
	tw_json_u64(json, "runs_b", runs[1]);
}

struct tw_shown tw_diff_show_p(const struct tw_diff_test *test)
{
	struct tw_shown shown;
	if (isnan(test->p))
		snprintf(shown.text, sizeof shown.text, "-");
	else
		snprintf(shown.text, sizeof shown.text, "%.4f%s", test->p,
		         test->significance == TW_NOISE ? " noise" : "");
	return shown;
}

struct tw_shown tw_diff_show_interval(struct tw_shown low, struct tw_shown high)
{
	struct tw_shown shown;
	snprintf(shown.text, sizeof shown.text, "%.20s to %.20s", low.text, high.text);
	return shown;
}

void tw_diff_say_runs(const size_t runs[2])
{
	if (runs[0] == 1 && runs[1] == 1)
		tw_say(
		    "one run a side: how much runs differ by themselves (noise) is unknown; diff A... -- B... compares "
		    "several");
	else if (!tw_diff_is_tested(runs))
		tw_say("%s before, %zu after: no change is marked, because noise is told from %d runs a side on",
		       tw_show_plural(runs[0], "run").text, runs[1], TW_RUNS_LEAST);
}

/* ---- JSON. ---- */

const char *tw_diff_status_word(enum tw_diff_status status)
{
	static const char *const words[] = {
	    [TW_DIFF_BOTH] = "both", [TW_DIFF_ONLY_A] = "only-a", [TW_DIFF_ONLY_B] = "only-b"};
	return words[status];
}

static const char *key_of(struct tw_shown *key, const char *name, const char *end)
{
	snprintf(key->text, sizeof key->text, "%s_%s", name, end);
	return key->text;
}

void tw_diff_put_whole(struct tw_json *json, const char *name, uint64_t a, uint64_t b, double ratio)
{
	struct tw_shown key;
	tw_json_u64(json, key_of(&key, name, "a"), a);
	tw_json_u64(json, key_of(&key, name, "b"), b);
	tw_json_change(json, key_of(&key, name, "change"), a, b);
	tw_json_fixed(json, key_of(&key, name, "ratio"), ratio, 4);
}

void tw_diff_put_number(struct tw_json *json, const char *name, double a, double b, double ratio)
{
	struct tw_shown key;
	tw_json_double(json, key_of(&key, name, "a"), a);
	tw_json_double(json, key_of(&key, name, "b"), b);
	tw_json_double(json, key_of(&key, name, "change"), b - a);
	tw_json_fixed(json, key_of(&key, name, "ratio"), ratio, 4);
}

static void put_value(struct tw_json *json, const char *name, const struct tw_diff_value *value)
{
	tw_diff_put_whole(json, name, value->a, value->b, value->ratio);
}

static struct tw_diff_test test_of(const struct tw_diff_row *row)
{
	return (struct tw_diff_test){row->significance, row->p, row->low, row->high};
}

static void put_json_row(struct tw_output *out, const struct tw_diff_row *row, const struct tw_diff_view *view)
{
	enum tw_weight weight = view->weight;
	const struct tw_diff_test test = test_of(row);
	bool times = tw_weight_unit(weight) == TW_UNIT_NS, calls = !tw_weight_is_sampled(weight);
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "name", row->name);
	tw_json_text(&json, "status", tw_diff_status_word(row->status));
	if (weight > TW_WEIGHT_CALLS)
		tw_json_text(&json, "weight", tw_weight_name(weight));
	for (size_t i = 0; i < (calls ? VALUES : TW_DIFF_P50); i++)
		put_value(&json, times ? values[i].time_name : values[i].name, value_of(row, i));
	tw_diff_put_test(&json, &test, view->runs);
	tw_json_object_line_end(&json);
}

void tw_diff_put_json(struct tw_output *out, const struct tw_diff_view *view)
{
	const struct tw_diff_row *row;
	for (size_t i = 0, n = 0; (!view->top || n < view->top) && (row = next_row(view, &i)); n++)
		put_json_row(out, row, view);
}

/* ---- Text. ---- */

/* From here on a percentage says less than how many times as much it is. */
static const double many = 10;

struct tw_shown tw_diff_show_ratio(enum tw_diff_status status, double ratio)
{
	struct tw_shown shown;
	if (status != TW_DIFF_BOTH)
		snprintf(shown.text, sizeof shown.text, "%s", status == TW_DIFF_ONLY_A ? "gone" : "new");
	else if (!isfinite(ratio))
		snprintf(shown.text, sizeof shown.text, "-");
	else if (ratio >= many)
		snprintf(shown.text, sizeof shown.text, ratio < 1000 ? "%.3gx" : "%.0fx", ratio);
	else
		snprintf(shown.text, sizeof shown.text, "%+.1f %%", 100.0 * (ratio - 1));
	return shown;
}

/* Whether there are columns of counts beside those that are compared. */
static bool has_counts(const struct tw_diff_view *view)
{
	return view->by != TW_DIFF_COUNT && tw_weight_has_count(view->weight);
}

/* What stands beside the compared value: how long a call takes as a rule, or the time of all. */
static enum tw_diff_by beside(const struct tw_diff_view *view)
{
	return view->by == TW_DIFF_P50 ? TW_DIFF_SELF : TW_DIFF_P50;
}

static struct tw_shown show_signed(const struct tw_diff_view *view, double change)
{
	double size = fabs(change) + 0.5;
	return tw_show_change((change > 0) - (change < 0), show(view, size < 0x1p63 ? (uint64_t)size : INT64_MAX));
}

static void add_sides(struct tw_table *table, const struct tw_diff_view *view, const struct tw_diff_value *value)
{
	tw_table_add(table, show(view, value->a).text);
	tw_table_add(table, show(view, value->b).text);
}

static void add_test(struct tw_table *table, const struct tw_diff_view *view, const struct tw_diff_row *row)
{
	const struct tw_diff_test test = test_of(row);
	struct tw_shown low = show_signed(view, row->low), high = show_signed(view, row->high);
	tw_table_add(table, tw_diff_show_interval(low, high).text);
	tw_table_add(table, tw_diff_show_p(&test).text);
}

static void add_row(struct tw_table *table, const struct tw_diff_row *row, const struct tw_diff_view *view)
{
	const struct tw_diff_value *value = value_of(row, view->by);
	const struct tw_diff_view times = {.by = TW_DIFF_SELF, .weight = view->weight};
	uint64_t size = value->a < value->b ? value->b - value->a : value->a - value->b;
	add_sides(table, view, value);
	tw_table_add(table, tw_show_change(value->change, show(view, size)).text);
	tw_table_add(table, tw_diff_show_ratio(row->status, value->ratio).text);
	if (tw_diff_is_tested(view->runs))
		add_test(table, view, row);
	if (!tw_weight_is_sampled(view->weight))
		add_sides(table, &times, value_of(row, beside(view)));
	if (has_counts(view)) {
		tw_table_add(table, tw_show_count(row->count.a).text);
		tw_table_add(table, tw_show_count(row->count.b).text);
	}
	tw_table_add(table, row->name);
}

void tw_diff_add_column(struct tw_diff_columns *columns, const char *title, bool right)
{
	columns->columns[columns->count++] = (struct tw_table_column){title, right};
}

void tw_diff_add_sides(struct tw_diff_columns *columns, const char *title)
{
	for (size_t side = 0; side < 2; side++) {
		struct tw_shown *text = &columns->titles[columns->count];
		snprintf(text->text, sizeof text->text, "%s %c", title, "AB"[side]);
		tw_diff_add_column(columns, text->text, true);
	}
}

void tw_diff_choose_columns(struct tw_diff_columns *columns, const char *title, bool tested)
{
	tw_diff_add_sides(columns, title);
	tw_diff_add_column(columns, "CHANGE", true);
	tw_diff_add_column(columns, "CHANGE %", true);
	if (tested) {
		tw_diff_add_column(columns, "95 % INTERVAL", true);
		tw_diff_add_column(columns, "P", true);
	}
}

int tw_diff_end_text(struct tw_screen *screen, struct tw_table *table, uint64_t more)
{
	int status = tw_table_put(table, screen);
	if (more)
		tw_putf(&screen->out, "... and %s more\n", tw_show_count(more).text);
	return status;
}

int tw_diff_put_text(struct tw_screen *screen, const struct tw_diff_view *view)
{
	struct tw_diff_columns columns = {.count = 0};
	const char *title = values[view->by].title, *counts = tw_weight_title(view->weight);
	const struct tw_diff_row *row;
	uint64_t shown = 0, more = 0;
	tw_diff_choose_columns(&columns, title ? title : counts, tw_diff_is_tested(view->runs));
	if (!tw_weight_is_sampled(view->weight))
		tw_diff_add_sides(&columns, values[beside(view)].title);
	if (has_counts(view))
		tw_diff_add_sides(&columns, counts);
	tw_diff_add_column(&columns, "FUNCTION", false);
	struct tw_table table = {.columns = columns.columns, .column_count = columns.count};
	for (size_t i = 0; (row = next_row(view, &i));) {
		if (view->top && shown == view->top) {
			more++;
			continue;
		}
		add_row(&table, row, view);
		shown++;
	}
	return tw_diff_end_text(screen, &table, more);
}
