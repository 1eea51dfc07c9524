/* counters.c - trackway counters: the series of numbers in a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/counters.h"

#include "analysis/tool.h"
#include "cli/files/nothing_passed.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"

#include <stdlib.h>

struct counters_options {
	struct tw_common common;
	const char *counter, *sort;
	uint64_t top;
};

static int put_sample(void *context, const struct tw_counter_sample *sample)
{
	struct tw_listing *listing = context;
	tw_counters_put_sample(&listing->screen.out, sample, listing->common->forms.csv_safe);
	return listing->screen.out.error; /* reading stops when writing fails; closing the screen says why */
}

static struct tw_counters_listing *counters_of(const struct tw_listing *listing)
{
	return (struct tw_counters_listing *)(uintptr_t)listing;
}

static int read_counters(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	struct tw_counters_listing *counters = counters_of(listing);
	counters->paths[counters->path_count++] = path;
	return tw_counters_add(counters->counters, reader);
}

static bool collect(struct tw_listing *listing)
{
	const struct counters_options *options = (const struct counters_options *)listing->common;
	const struct tw_counter_row *row;
	for (size_t i = 0; (row = tw_counters_row(counters_of(listing)->counters, i)); i++)
		if (!tw_rows_add(&listing->rows, row))
			return false;
	tw_counters_sort(&listing->rows, options->sort ? options->sort : "name", options->top);
	return true;
}

static void note(const struct tw_listing *listing)
{
	const char *counter = ((const struct counters_options *)listing->common)->counter;
	uint64_t left_out = tw_counters_left_out(counters_of(listing)->counters);
	if (tw_say_left_out(left_out, "sample", " of other series") || listing->rows.count)
		return;
	if (counter)
		tw_say("no counter matches '%s'", counter);
	else
		tw_say_none(listing->common, "counter");
}

static int draw(struct tw_listing *listing, const char *title)
{
	const void *rows = listing->rows.items;
	return tw_counters_render(&listing->screen.out, counters_of(listing)->counters, title, rows,
	                          listing->rows.shown);
}

static int check_options(const struct counters_options *options, size_t count)
{
	bool csv = options->common.forms.chosen == TW_FORM_CSV;
	if (csv && count > 1)
		return tw_say_usage(&tw_command_counters, "samples are those of one file");
	if (csv && (options->sort || options->top))
		return tw_say_usage(&tw_command_counters,
		                    "samples are in the order of time: --sort and --top are for series");
	return 0;
}

static int run_with(struct tw_counters_listing *counters, char **operands, size_t count)
{
	const struct counters_options *options = (const struct counters_options *)counters->listing.common;
	const struct tw_counters_options how = {
	    .counter = options->counter,
	    .plot = tw_listing_form(&counters->listing) == TW_FORM_SVG,
	    .memory_limit = (size_t)options->common.limits.memory,
	    .on_sample = tw_listing_form(&counters->listing) == TW_FORM_CSV ? put_sample : NULL,
	    .context = &counters->listing,
	};
	counters->paths = calloc(count, sizeof *counters->paths);
	if (!counters->paths || tw_counters_new(&counters->counters, &how) < 0)
		return tw_say_error("out of memory");
	counters->listing.result = counters->counters;
	return tw_list(&counters->listing, operands, count);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct counters_options *options = (const struct counters_options *)common;
	struct tw_counters_listing counters = {
	    .listing =
		{
		    .common = common,
		    .walk = {.options = {.order = TW_ORDER_TIME}},
		    .csv_head = tw_counters_csv_head,
		    .read = read_counters,
		    .collect = collect,
		    .note = note,
		    .put_json = tw_counters_put_json,
		    .put_text = tw_counters_put_text,
		    .draw = draw,
		},
	    .several = count > 1,
	};
	int status = check_options(options, count);
	if (status == 0)
		status = run_with(&counters, operands, count);
	tw_counters_free(counters.counters);
	free(counters.paths);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct counters_options, name)
static const struct tw_option own_options[] = {
    {"counter", 'f', TW_OPTION_TEXT, MEMBER(counter), .placeholder = "GLOB",
     .help = "only counters whose name matches, \"memory*\""},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = tw_counters_sort_word,
     .help = "samples: those with the most first; otherwise by process, category, name, id and series"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows or charts; 0, the default, shows all"},
};
static const struct tw_option form_options[] = {
    TW_OPTION_OUTPUT_BY_NAME, TW_OPTION_JSON_ROWS("series"),
    TW_OPTION_CSV_SAMPLES,    TW_OPTION_CSV_SAFE_ROWS,
    TW_OPTION_MARKDOWN,       TW_OPTION_SVG("draw a chart for each series"),
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Series", own_options), &tw_window_options, &tw_plain_input_options,
                     TW_OPTIONS("Output", form_options));

const struct tw_command tw_command_counters = {
    .name = "counters",
    .summary = "the series of numbers in a trace",
    .operands = "FILE...",
    .description =
	"Lists what counters told. A series is what one argument of one counter of a process tells: the same process, "
	"category, counter, counter id and argument. Integers are exact; MEAN is over the samples, however far apart "
	"they are; SPAN is the time from the first to the last. What is not a number is counted below the table.\n\n"
	"A picture has one chart for each series, in at most 1,024 columns, each with the first, least, greatest and "
	"last value in it. Behind the last sample the line is dotted.",
    .examples = "trackway counters app.fxt\tAll series.\n"
		"trackway counters -f 'memory*' app.fxt -o memory.svg\tSome of them as charts.\n"
		"trackway counters --sort samples -n 10 app.fxt\tThe ten that were told most often.\n"
		"trackway counters --csv app.fxt\tEvery sample, for a spreadsheet.\n",
    .groups = groups,
    .forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_SVG,
    .size = sizeof(struct counters_options),
    .least = 1,
    .run = run,
};
