/* alloc.c - trackway alloc: what was allocated, and by whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "cli/files/listing.h"
#include "cli/files/nothing_passed.h"
#include "cli/output/message.h"
#include "core/tool.h"

#include <trackway/alloc.h>

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct alloc_options {
	struct tw_common common;
	const char *by, *sort, *class;
	uint64_t top;
};

/* A row as it is shown. */
struct alloc_numbers {
	const struct tw_alloc_row *row;
	uint64_t bytes, count, average;
};

static const struct tw_number numbers[] = {
    {offsetof(struct alloc_numbers, bytes), "bytes", "BYTES", "bytes", tw_show_size},
    {offsetof(struct alloc_numbers, count), "count", "OBJECTS", "count", tw_show_count},
    {offsetof(struct alloc_numbers, average), "average_bytes", "AVERAGE", "average", tw_show_size},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char *const by_words[] = {
    [TW_ALLOC_BY_CLASS] = "class",   [TW_ALLOC_BY_FUNCTION] = "function", [TW_ALLOC_BY_STACK] = "stack",
    [TW_ALLOC_BY_THREAD] = "thread", [TW_ALLOC_BY_MODULE] = "module",     NULL,
};

static const char *sort_word(size_t i)
{
	return tw_numbers_word(numbers, NUMBERS, i);
}

static enum tw_alloc_by by_of(const struct alloc_options *options)
{
	return (enum tw_alloc_by)tw_word_place(by_words, options->by);
}

struct alloc_listing {
	struct tw_listing listing; /* first */
	const struct alloc_options *options;
	struct alloc_numbers *shown;
	uint64_t all_bytes, all_count; /* of all, also those that --class leaves out */
	uint64_t sampled_bytes;        /* all are estimates, of a sample about every so many bytes; 0: exact */
};

static const struct alloc_listing *alloc_of(const struct tw_listing *listing)
{
	return (const struct alloc_listing *)(const void *)listing;
}

/* ---- JSON. ---- */

/* "a;b;c" as an array. */
static void put_stack(struct tw_json *json, const char *stack)
{
	tw_json_array(json, "stack");
	for (const char *p = stack, *end; p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ";");
		tw_json_bytes(json, NULL, p, (size_t)(end - p));
	}
	tw_json_array_end(json);
}

static void put_json(struct tw_json *json, const struct tw_listing *listing, const void *item)
{
	static const char *const keys[] = {
	    [TW_ALLOC_BY_FUNCTION] = "function", [TW_ALLOC_BY_THREAD] = "thread_name", [TW_ALLOC_BY_MODULE] = "module"};
	enum tw_alloc_by by = by_of(alloc_of(listing)->options);
	const struct alloc_numbers *shown = item;
	const struct tw_alloc_row *row = shown->row;
	tw_json_text(json, "class", row->name);
	tw_numbers_json(json, shown, numbers, NUMBERS);
	if (alloc_of(listing)->sampled_bytes)
		tw_json_u64(json, "sampled_bytes", alloc_of(listing)->sampled_bytes);
	if (by == TW_ALLOC_BY_THREAD) {
		tw_json_task(json, "process", row->process);
		tw_json_task(json, "thread", row->thread);
	}
	if (by == TW_ALLOC_BY_STACK)
		put_stack(json, row->where);
	else if (by != TW_ALLOC_BY_CLASS)
		tw_json_text(json, keys[by], row->where);
}

/* ---- Text. ---- */

static void add_row(struct tw_table *table, const struct alloc_listing *alloc, const struct alloc_numbers *shown,
                    enum tw_alloc_by by)
{
	tw_table_add(table, tw_show_percent(shown->bytes, alloc->all_bytes).text);
	tw_numbers_cells(table, shown, numbers, NUMBERS);
	if (by == TW_ALLOC_BY_THREAD)
		tw_table_add(table, tw_show_task(shown->row->thread).text);
	tw_table_add(table, shown->row->name);
	if (by != TW_ALLOC_BY_CLASS)
		tw_table_add(table, shown->row->where ? shown->row->where : "-");
}

static int put_text(struct tw_listing *listing)
{
	const struct alloc_listing *alloc = alloc_of(listing);
	struct tw_screen *screen = &listing->screen;
	enum tw_alloc_by by = by_of(alloc->options);
	static const char *const wheres[] = {NULL, "FUNCTION", "STACK", "THREAD NAME", "MODULE"};
	struct tw_table_column columns[TW_TABLE_COLUMNS] = {{"BYTES %", true}};
	struct tw_table table = {.columns = columns, .column_count = 1};
	if (listing->rows.count == 0)
		return 0;
	tw_numbers_titles(columns, &table.column_count, numbers, NUMBERS);
	if (by == TW_ALLOC_BY_THREAD)
		columns[table.column_count++] = (struct tw_table_column){"THREAD", true};
	columns[table.column_count++] = (struct tw_table_column){"CLASS", false};
	if (by != TW_ALLOC_BY_CLASS)
		columns[table.column_count++] = (struct tw_table_column){wheres[by], false};
	for (size_t i = 0; i < listing->rows.shown; i++)
		add_row(&table, alloc, listing->rows.items[i], by);
	int status = tw_table_put(&table, screen);
	tw_rows_put_more(screen, &listing->rows);
	if (alloc->all_count)
		tw_putf(&screen->out, "\n%s%s in all: %s\n", alloc->sampled_bytes ? "about " : "",
		        tw_show_plural(alloc->all_count, "object").text, tw_show_size(alloc->all_bytes).text);
	return status;
}

/* ---- The command. ---- */

static bool collect(struct tw_listing *listing)
{
	struct alloc_listing *alloc = (struct alloc_listing *)(void *)listing;
	const struct tw_alloc_row *row;
	size_t count = 0, room = 0;
	while (tw_alloc_row(listing->result, count))
		count++;
	if (!tw_grow(&alloc->shown, &room, count + 1, sizeof *alloc->shown))
		return false;
	for (size_t i = 0; (row = tw_alloc_row(listing->result, i)); i++) {
		alloc->all_bytes = tw_sum(alloc->all_bytes, row->bytes);
		alloc->all_count = tw_sum(alloc->all_count, row->count);
		alloc->shown[i] =
		    (struct alloc_numbers){row, row->bytes, row->count, row->count ? row->bytes / row->count : 0};
		bool wanted = !alloc->options->class || fnmatch(alloc->options->class, row->name, 0) == 0;
		if (wanted && !tw_rows_add(&listing->rows, &alloc->shown[i]))
			return false;
	}
	const char *sort = alloc->options->sort ? alloc->options->sort : "bytes";
	tw_rows_sort(&listing->rows, numbers, NUMBERS, sort, alloc->options->top);
	return true;
}

static void note(const struct tw_listing *listing)
{
	const struct alloc_listing *alloc = alloc_of(listing);
	if (tw_say_left_out(tw_alloc_left_out(listing->result), "allocation", ""))
		return;
	if (!tw_alloc_row(listing->result, 0))
		tw_say_none(listing->common, "allocation");
	else if (listing->rows.count == 0)
		tw_say("no class matches '%s'", alloc->options->class);
}

static int read_alloc(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	struct alloc_listing *alloc = (struct alloc_listing *)(void *)listing;
	(void)path;
	const struct tw_alloc_options options = {
	    .by = by_of(alloc->options),
	    .memory_limit = (size_t)listing->common->limits.memory,
	};
	struct tw_alloc *result = NULL;
	int status = tw_alloc_read(&result, reader, &options);
	alloc->sampled_bytes = tw_sampled_bytes(reader);
	listing->result = result;
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct alloc_listing alloc = {
	    .listing =
		{
		    .common = common,
		    .walk = {.allocations = true},
		    .read = read_alloc,
		    .collect = collect,
		    .note = note,
		    .put_json = put_json,
		    .put_text = put_text,
		},
	    .options = (const struct alloc_options *)common,
	};
	int status = tw_list(&alloc.listing, operands, count);
	free(alloc.shown);
	tw_alloc_free(alloc.listing.result);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct alloc_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .words = by_words,
     .help =
         "what makes a row: each class, each class in each function that allocated it, each class under each stack, "
         "each class in each thread, each class in each module whose functions allocated it"},
    {"class", 'f', TW_OPTION_TEXT, MEMBER(class), .placeholder = "GLOB",
     .help = "only classes whose name matches, \"System.*\""},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = sort_word,
     .help = "the column to sort by, largest first; bytes otherwise"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), &tw_window_options, &tw_plain_input_options, &tw_output_options);

const struct tw_command tw_command_alloc = {
    .name = "alloc",
    .summary = "what was allocated: classes, and who allocated them",
    .operands = "FILE",
    .description =
	"Adds up the allocations that a trace tells of, by class. The percentages are of the bytes of all classes, "
	"also of those that --class leaves out.\n\n"
	"Where the bytes of all classes were allocated, with all callers, tell stat, stacks, graph and flame with "
	"--weight bytes, or --weight allocations for objects.",
    .examples = "trackway alloc -n 20 app.log\tThe twenty classes with the most bytes.\n"
		"trackway alloc --by function --class System.String app.log\tWho makes strings.\n"
		"trackway flame --weight bytes app.log -o bytes.svg\tA flame graph of bytes.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct alloc_options),
    .least = 1,
    .most = 1,
    .run = run,
};
