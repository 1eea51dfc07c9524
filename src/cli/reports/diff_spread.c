/* diff_spread.c - trackway diff --of: events, operations, counters, collections, allocations, heaps, compilations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/spread.h"
#include "base/memory/order.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/table.h"
#include "cli/reports/diff.h"
#include "study/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum unit { COUNTED, TIME, BYTES, NUMBER };

/* X(word of --of, what is compared, its name in JSON, title, unit, what `count` is, its title) */
#define KIND_LIST(X)                                                                                                   \
	X("events", TW_SPREAD_EVENTS, "count", "EVENTS", COUNTED, "instant event", "EVENTS")                           \
	X("async", TW_SPREAD_ASYNC, "total_ns", "TOTAL", TIME, "asynchronous operation", "OPERATIONS")                 \
	X("counters", TW_SPREAD_COUNTERS, "mean", "MEAN", NUMBER, "counter", "SAMPLES")                                \
	X("gc", TW_SPREAD_GC, "pause_ns", "PAUSES", TIME, "collection", "COLLECTIONS")                                 \
	X("allocations", TW_SPREAD_ALLOCATIONS, "bytes", "BYTES", BYTES, "allocation", "OBJECTS")                      \
	X("heap", TW_SPREAD_HEAP, "bytes", "BYTES", BYTES, "look at the heap", "OBJECTS")                              \
	X("jit", TW_SPREAD_JIT, "compiled_ns", "TIME", TIME, "compilation", "COMPILED")                                \
	X("instructions", TW_SPREAD_INSTRUCTIONS, "count", "COUNT", COUNTED, "instruction", "COUNT")

static const struct compared_kind {
	const char *word;
	enum tw_spread_of of;
	const char *json, *title;
	enum unit unit;
	const char *what, *count_title;
} kinds[] = {
#define X(word, of, json, title, unit, what, count_title) {word, of, json, title, unit, what, count_title},
    KIND_LIST(X)
#undef X
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char functions[] = "functions";

const char *tw_diff_of_word(size_t i)
{
	return i == 0 ? functions : i <= KINDS ? kinds[i - 1].word : NULL;
}

bool tw_diff_of_functions(const char *word)
{
	return !word || strcmp(word, functions) == 0;
}

static const struct compared_kind *kind_of(const char *word)
{
	size_t i = 0;
	while (strcmp(kinds[i].word, word) != 0)
		i++;
	return &kinds[i];
}

/* ---- Rows. ---- */

static const struct tw_spread_row *texts_of(const struct tw_spread_change *row)
{
	return row->a ? row->a : row->b;
}

static enum tw_diff_status status_of(const struct tw_spread_change *row)
{
	return !row->b ? TW_DIFF_ONLY_A : !row->a ? TW_DIFF_ONLY_B : TW_DIFF_BOTH;
}

static struct tw_diff_test test_of(const struct tw_spread_change *row)
{
	const struct tw_runs_change *test = &row->test;
	return (struct tw_diff_test){test->significance, test->p, test->low, test->high};
}

static double ratio_of(double a, double b)
{
	return a != 0 ? b / a : b != 0 ? (double)INFINITY : 1;
}

static void put_whole(struct tw_json *json, const char *name, const uint64_t value[2])
{
	tw_diff_put_whole(json, name, value[0], value[1], ratio_of((double)value[0], (double)value[1]));
}

static void put_json(struct tw_output *out, const struct tw_spread_change *row, const struct compared_kind *kind,
                     const size_t runs[2])
{
	const struct tw_diff_test test = test_of(row);
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_text(&json, "of", kind->word);
	tw_json_text(&json, "name", texts_of(row)->name);
	tw_json_text(&json, "category", texts_of(row)->category);
	tw_json_text(&json, "series", texts_of(row)->series);
	tw_json_text(&json, "status", tw_diff_status_word(status_of(row)));
	if (kind->unit == NUMBER)
		tw_diff_put_number(&json, kind->json, row->value[0], row->value[1],
		                   ratio_of(row->value[0], row->value[1]));
	else if (kind->unit != COUNTED)
		put_whole(&json, kind->json, row->whole);
	put_whole(&json, "count", row->count);
	tw_diff_put_test(&json, &test, runs);
	tw_json_object_line_end(&json);
}

/* A number that is whole in all units but NUMBER. */
static struct tw_shown show(enum unit unit, uint64_t whole, double value)
{
	switch (unit) {
	case COUNTED:
	case BYTES: /* all of them: the title tells the unit */
		return tw_show_count(whole);
	case TIME:
		return tw_show_duration(whole);
	case NUMBER:
		break;
	}
	return tw_show_number(value);
}

static struct tw_shown show_change(enum unit unit, const struct tw_spread_change *row)
{
	const uint64_t *whole = row->whole;
	double change = row->value[1] - row->value[0];
	if (unit != NUMBER)
		change = tw_compare(whole[1], whole[0]);
	uint64_t size = whole[1] < whole[0] ? whole[0] - whole[1] : whole[1] - whole[0];
	return tw_show_change((change > 0) - (change < 0), show(unit, size, fabs(change)));
}

static struct tw_shown show_signed(enum unit unit, double change)
{
	double size = fabs(change);
	uint64_t whole = size < 0x1p63 ? (uint64_t)(size + 0.5) : INT64_MAX;
	return tw_show_change((change > 0) - (change < 0), show(unit, whole, size));
}

static struct tw_shown show_count_change(const struct tw_spread_change *row)
{
	uint64_t a = row->count[0], b = row->count[1];
	return tw_show_change(tw_compare(b, a), tw_show_count(a < b ? b - a : a - b));
}

static struct tw_shown show_ratio(const struct tw_spread_change *row)
{
	const double *value = row->value;
	return tw_diff_show_ratio(status_of(row), value[0] < 0 ? (double)INFINITY : ratio_of(value[0], value[1]));
}

/* "category: name series" */
static bool add_name(struct tw_text *text, const struct tw_spread_row *row)
{
	text->length = 0;
	if (*row->category && !(tw_text_add(text, row->category, strlen(row->category)) && tw_text_add(text, ": ", 2)))
		return false;
	if (!tw_text_add(text, row->name, strlen(row->name)))
		return false;
	return !*row->series || (tw_text_add(text, " ", 1) && tw_text_add(text, row->series, strlen(row->series)));
}

static bool add_row(struct tw_table *table, const struct tw_spread_change *row, const struct compared_kind *kind,
                    bool tested, struct tw_text *text)
{
	for (size_t side = 0; side < 2; side++)
		tw_table_add(table, show(kind->unit, row->whole[side], row->value[side]).text);
	tw_table_add(table, show_change(kind->unit, row).text);
	tw_table_add(table, show_ratio(row).text);
	if (tested) {
		const struct tw_diff_test test = test_of(row);
		struct tw_shown low = show_signed(kind->unit, test.low), high = show_signed(kind->unit, test.high);
		tw_table_add(table, tw_diff_show_interval(low, high).text);
		tw_table_add(table, tw_diff_show_p(&test).text);
	}
	for (size_t side = 0; side < 2 && kind->unit != COUNTED; side++)
		tw_table_add(table, tw_show_count(row->count[side]).text);
	if (kind->unit != COUNTED)
		tw_table_add(table, show_count_change(row).text);
	if (!add_name(text, texts_of(row)))
		return false;
	tw_table_add(table, text->bytes ? text->bytes : "");
	return true;
}

static void choose_columns(struct tw_diff_columns *columns, const struct compared_kind *kind, bool tested)
{
	tw_diff_choose_columns(columns, kind->title, tested);
	if (kind->unit != COUNTED) {
		tw_diff_add_sides(columns, kind->count_title);
		tw_diff_add_column(columns, "CHANGE", true);
	}
	tw_diff_add_column(columns, "NAME", false);
}

static int put_text(struct tw_screen *screen, const struct tw_spread_changes *changes, const struct compared_kind *kind,
                    const struct tw_diff_choice *choice, bool tested)
{
	struct tw_diff_columns columns = {.count = 0};
	struct tw_text text = {0};
	uint64_t shown = 0, more = 0;
	bool fine = true;
	choose_columns(&columns, kind, tested);
	struct tw_table table = {.columns = columns.columns, .column_count = columns.count};
	for (size_t i = 0; i < changes->count && fine; i++) {
		if (!tw_function_wanted(choice->common, texts_of(&changes->rows[i])->name))
			continue;
		if (choice->top && shown == choice->top) {
			more++;
			continue;
		}
		fine = add_row(&table, &changes->rows[i], kind, tested, &text);
		shown++;
	}
	tw_text_free(&text);
	int status = tw_diff_end_text(screen, &table, more);
	return fine ? status : tw_say_error("out of memory");
}

static int put(const struct tw_spread_changes *changes, const struct compared_kind *kind,
               const struct tw_diff_choice *choice, const size_t runs[2])
{
	struct tw_screen screen = {0};
	int status = tw_screen_open_form(&screen, choice->common);
	if (status)
		return status;
	if (!choice->common->forms.json)
		status = put_text(&screen, changes, kind, choice, tw_diff_is_tested(runs));
	for (size_t i = 0, n = 0; choice->common->forms.json && i < changes->count && (!choice->top || n < choice->top);
	     i++)
		if (tw_function_wanted(choice->common, texts_of(&changes->rows[i])->name)) {
			put_json(&screen.out, &changes->rows[i], kind, runs);
			n++;
		}
	return tw_screen_end(&screen, status);
}

/* ---- The traces. ---- */

struct spread_side {
	struct tw_spread *spread;
	enum tw_spread_of of;
};

static int read_spread(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct spread_side *side = walk->context;
	(void)path;
	return side->of == TW_SPREAD_INSTRUCTIONS ? study_mix_read(side->spread, reader)
	                                          : tw_spread_read(side->spread, reader);
}

static int read_run(struct tw_spread **spread, const struct tw_common *common, char **path,
                    const struct compared_kind *kind, size_t *readable, size_t memory)
{
	*spread = tw_spread_new(kind->of, memory);
	if (!*spread)
		return tw_say_error("out of memory");
	struct spread_side side = {*spread, kind->of};
	struct tw_walk walk = {.common = common,
	                       .options = {.order = TW_ORDER_TIME},
	                       .context = &side,
	                       .read = read_spread};
	int status = tw_walk(&walk, path, 1);
	*readable += walk.readable;
	tw_say_left_out(tw_spread_left_out(*spread), "value", "");
	return status;
}

static int compare(struct tw_spread *const *spreads, const struct tw_diff_paths *paths,
                   const struct compared_kind *kind, const struct tw_diff_choice *choice)
{
	struct tw_spread_changes changes;
	const struct tw_spread_side a = {spreads, paths->count[0]}, b = {spreads + paths->count[0], paths->count[1]};
	int status = tw_spread_compare(&changes, kind->of, &a, &b) < 0 ? tw_say_error("out of memory") : 0;
	if (status == 0 && changes.count == 0)
		tw_say_none(choice->common, kind->what);
	else if (status == 0)
		tw_diff_say_runs(paths->count);
	if (status == 0)
		status = put(&changes, kind, choice, paths->count);
	free(changes.rows);
	return status;
}

int tw_diff_spreads(struct tw_common commons[2], const struct tw_diff_paths *paths, const struct tw_diff_choice *choice)
{
	const struct compared_kind *kind = kind_of(choice->of);
	size_t all = tw_diff_all(paths), readable = 0;
	struct tw_spread **spreads = calloc(all, sizeof *spreads);
	int status = spreads ? 0 : tw_say_error("out of memory");
	for (size_t i = 0; spreads && i < all; i++) {
		const struct tw_common *common = &commons[tw_diff_side_of(paths, i)];
		size_t memory = tw_memory_asked(common) / all;
		status = tw_worse(status, read_run(&spreads[i], common, &paths->paths[i], kind, &readable, memory));
	}
	if (readable == all) {
		status = tw_worse(status, compare(spreads, paths, kind, choice));
	}
	for (size_t i = 0; spreads && i < all; i++)
		tw_spread_free(spreads[i]);
	free(spreads);
	return status;
}
