/* jit.c - trackway jit: what was compiled while the program ran. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/sum.h"
#include "cli/files/listing.h"
#include "cli/files/nothing_passed.h"
#include "cli/output/message.h"

#include <trackway/jit.h>

#include <string.h>

struct jit_options {
	struct tw_common common;
	const char *by, *sort;
	uint64_t top;
};

static const struct tw_number numbers[] = {
    {offsetof(struct tw_jit_row, self_ns), "self_ns", "SELF", "self", tw_show_duration},
    {offsetof(struct tw_jit_row, compiled_ns), "compiled_ns", "TIME", "time", tw_show_duration},
    {offsetof(struct tw_jit_row, cpu_ns), "cpu_ns", "CPU", "cpu", tw_show_duration},
    {offsetof(struct tw_jit_row, compiled), "compiled", "COMPILED", "compiled", tw_show_count},
    {offsetof(struct tw_jit_row, max_ns), "max_ns", "MAX", "max", tw_show_duration},
    {offsetof(struct tw_jit_row, code_bytes), "code_bytes", "CODE", "code", tw_show_size},
    {offsetof(struct tw_jit_row, cached), "cached", "CACHED", "cached", tw_show_count},
    {offsetof(struct tw_jit_row, cached_ns), "cached_ns", "CACHED TIME", "cached-time", tw_show_duration},
    {offsetof(struct tw_jit_row, failed), "failed", "FAILED", "failed", tw_show_count},
    {offsetof(struct tw_jit_row, open), "open", NULL, NULL, tw_show_count},
};

enum { CPU = 2, BEHIND, NUMBERS = sizeof numbers / sizeof *numbers };

static const char *const by_words[] = {
    [TW_JIT_BY_FUNCTION] = "function", [TW_JIT_BY_THREAD] = "thread", [TW_JIT_BY_BODY] = "body", NULL};
static const char *const titles[] = {
    [TW_JIT_BY_FUNCTION] = "FUNCTION", [TW_JIT_BY_THREAD] = "NAME", [TW_JIT_BY_BODY] = "BODY"};

static const char *sort_word(size_t i)
{
	return tw_numbers_word(numbers, NUMBERS, i);
}

static enum tw_jit_by by_of(const struct jit_options *options)
{
	return (enum tw_jit_by)tw_word_place(by_words, options->by);
}

struct jit_listing {
	struct tw_listing listing; /* first */
	const struct jit_options *options;
	struct tw_jit_row all; /* also what --function leaves out */
	uint64_t functions;    /* the same: that were compiled */
};

static const struct jit_listing *jit_of(const struct tw_listing *listing)
{
	return (const struct jit_listing *)(const void *)listing;
}

/* ---- Rows. ---- */

static void put_json(struct tw_json *json, const struct tw_listing *listing, const void *item)
{
	const struct tw_jit_row *row = item;
	const enum tw_jit_by by = by_of(jit_of(listing)->options);
	tw_json_text(json, "name", row->name);
	if (by == TW_JIT_BY_BODY) {
		tw_json_known(json, "body", row->body, row->body > 0);
	} else if (by == TW_JIT_BY_THREAD) {
		tw_json_task(json, "process", row->process);
		tw_json_known_task(json, "thread", row->thread, !row->threadless);
	} else {
		tw_json_text(json, "class", row->owner);
		tw_json_text(json, "module", row->module);
	}
	tw_numbers_json(json, row, numbers, CPU);
	tw_numbers_json(json, row, numbers + BEHIND, NUMBERS - BEHIND);
	tw_json_known(json, numbers[CPU].name, row->cpu_ns, row->cpu_known);
}

static void put_totals(struct tw_screen *screen, const struct jit_listing *jit)
{
	const struct tw_jit_row *all = &jit->all;
	uint64_t span = tw_jit_span_ns(jit->listing.result);
	if (all->compiled || all->open)
		tw_putf(&screen->out, "\n%s", tw_show_plural(all->compiled, "compilation").text);
	if (all->compiled && by_of(jit->options) == TW_JIT_BY_FUNCTION)
		tw_putf(&screen->out, " of %s", tw_show_plural(jit->functions, "function").text);
	if (all->compiled || all->open)
		tw_putf(&screen->out, " in %s of wall time, %s of the span: %s of code\n",
		        tw_show_duration(all->self_ns).text, tw_show_percent(all->self_ns, span).text,
		        tw_show_size(all->code_bytes).text);
	if (all->cpu_known)
		tw_putf(&screen->out, "about %s of CPU time\n", tw_show_duration(all->cpu_ns).text);
	if (all->cached)
		tw_putf(&screen->out, "%s found compiled in %s\n", tw_show_plural(all->cached, "function").text,
		        tw_show_duration(all->cached_ns).text);
	if (all->failed)
		tw_putf(&screen->out, "%s\n", tw_show_plural(all->failed, "failure").text);
	if (all->open)
		tw_putf(&screen->out, "%s begun and not known to end: without time\n",
		        tw_show_plural(all->open, "compilation").text);
}

static int put_text(struct tw_listing *listing)
{
	struct tw_screen *screen = &listing->screen;
	enum tw_jit_by by = by_of(jit_of(listing)->options);
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	if (listing->rows.count == 0)
		return 0;
	tw_numbers_titles(columns, &table.column_count, numbers, NUMBERS);
	if (by == TW_JIT_BY_THREAD)
		columns[table.column_count++] = (struct tw_table_column){"THREAD", true};
	columns[table.column_count++] = (struct tw_table_column){titles[by], false};
	for (size_t i = 0; i < listing->rows.shown; i++) {
		const struct tw_jit_row *row = listing->rows.items[i];
		tw_numbers_cells(&table, row, numbers, CPU);
		tw_table_add(&table, row->cpu_known ? tw_show_duration(row->cpu_ns).text : "-");
		tw_numbers_cells(&table, row, numbers + BEHIND, NUMBERS - BEHIND);
		if (by == TW_JIT_BY_THREAD)
			tw_table_add(&table, row->threadless ? "-" : tw_show_task(row->thread).text);
		tw_table_add(&table, row->name);
	}
	int status = tw_table_put(&table, screen);
	tw_rows_put_more(screen, &listing->rows);
	put_totals(screen, jit_of(listing));
	return status;
}

/* ---- The command. ---- */

static void add_to(struct tw_jit_row *all, const struct tw_jit_row *row)
{
	all->compiled += row->compiled;
	all->cached += row->cached;
	all->failed += row->failed;
	all->open += row->open;
	all->self_ns = tw_sum(all->self_ns, row->self_ns);
	all->cpu_ns = tw_sum(all->cpu_ns, row->cpu_ns);
	all->cpu_known |= row->cpu_known;
	all->cached_ns = tw_sum(all->cached_ns, row->cached_ns);
	all->code_bytes = tw_sum(all->code_bytes, row->code_bytes);
}

static bool collect(struct tw_listing *listing)
{
	struct jit_listing *jit = (struct jit_listing *)(void *)listing;
	const struct tw_jit_row *row;
	for (size_t i = 0; (row = tw_jit_row(listing->result, i)); i++) {
		add_to(&jit->all, row);
		jit->functions += row->compiled > 0;
		if (tw_function_wanted(listing->common, row->name) && !tw_rows_add(&listing->rows, row))
			return false;
	}
	const char *own = by_of(jit->options) == TW_JIT_BY_BODY ? "name" : "time";
	const char *sort = jit->options->sort ? jit->options->sort : own;
	tw_rows_sort(&listing->rows, numbers, NUMBERS, sort, jit->options->top);
	return true;
}

static void note(const struct tw_listing *listing)
{
	if (tw_say_left_out(tw_jit_left_out(listing->result), "compilation", ""))
		return;
	if (!tw_jit_row(listing->result, 0))
		tw_say_none(listing->common, "compilation");
	else if (listing->rows.count == 0)
		tw_say_nothing(listing->common, true);
}

static int read_jit(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	struct jit_listing *jit = (struct jit_listing *)(void *)listing;
	(void)path;
	const struct tw_jit_options options = {
	    .by = by_of(jit->options),
	    .memory_limit = (size_t)listing->common->limits.memory,
	};
	struct tw_jit *result = NULL;
	int status = tw_jit_read(&result, reader, &options);
	listing->result = result;
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct jit_listing jit = {
	    .listing =
		{
		    .common = common,
		    .read = read_jit,
		    .collect = collect,
		    .note = note,
		    .put_json = put_json,
		    .put_text = put_text,
		},
	    .options = (const struct jit_options *)common,
	};
	int status = tw_list(&jit.listing, operands, count);
	tw_jit_free(jit.listing.result);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct jit_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .words = by_words,
     .help = "what makes a row: each function; each thread that compiled; all first, all second compilations of "
             "functions"},
    {"function", 'f', TW_OPTION_TEXT, MEMBER(common.filter.function), .placeholder = "GLOB",
     .help = "only functions, or threads, whose name matches, \"System.*\""},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = sort_word,
     .help = "the column to sort by, largest first; time otherwise, bodies by number"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), &tw_window_options, &tw_plain_input_options, &tw_output_options);

const struct tw_command tw_command_jit = {
    .name = "jit",
    .summary = "what was compiled while the program ran",
    .operands = "FILE",
    .description =
	"Lists what the just-in-time compiler did, in wall time: TIME is that of the COMPILED functions, SELF what is "
	"left of it without compilations and searches inside them, CPU an estimate of its processor time: of each "
	"interval that its thread's was told of the share that it compiled in (\"-\": none was), MAX the longest, CODE "
	"what became of them. A "
	"function may be compiled several times; each of its bodies counts once. CACHED functions were found "
	"compiled before, CACHED TIME is what the search took. "
	"FAILED counts both. With --by body a row is the first compilation of each function, the second, and so on; "
	"what was found compiled is the first. Below the table is all together, also what --function leaves out.\n\n"
	"It comes from slices of the categories \"jit\" and \"jit-cached\".",
    .examples = "trackway jit -n 20 app.log\tThe twenty functions that took the longest in all.\n"
		"trackway jit --by thread app.log\tWho waited for the compiler.\n"
		"trackway jit --by body app.log\tWhat compiling again took.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct jit_options),
    .least = 1,
    .most = 1,
    .run = run,
};
