/* counters.c - trackway counters: the series of numbers in a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/counters.h"

#include "analysis/tool.h"
#include "cli/files/walk.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/reports/call_notes.h"

#include <stdlib.h>

struct counters_options {
	struct tw_common common;
	const char *counter, *sort;
	uint64_t top;
	struct tw_form_options forms;
};

static enum tw_form form_of(const struct counters_options *options)
{
	return tw_form_of(&options->common, &options->forms);
}

/* What one run of the command works on. A series tells its file by a number: its place among `paths`, the files that
 * could be read. */
struct work {
	const struct counters_options *options;
	struct tw_counters *counters;
	struct tw_list_rows rows;
	struct tw_screen screen;
	char **paths;
	size_t path_count;
};

static int put_sample(void *context, const struct tw_counter_sample *sample)
{
	struct work *work = context;
	tw_counters_put_csv(&work->screen.out, sample);
	return work->screen.out.error; /* reading stops when writing fails; closing the screen says why */
}

static int read_counters(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct work *work = walk->context;
	work->paths[work->path_count++] = (char *)(uintptr_t)path;
	int status = tw_counters_add(work->counters, reader);
	return status < 0 ? status : 0;
}

static void tell(const struct work *work)
{
	const struct counters_options *options = work->options;
	if (tw_say_left_out(tw_counters_left_out(work->counters), "sample", " of other series"))
		return;
	if (!tw_counters_row(work->counters, 0) && options->counter)
		tw_say("no counter matches '%s'", options->counter);
	else if (!tw_counters_row(work->counters, 0))
		tw_say_none(&options->common, "counter");
}

static bool collect(struct work *work)
{
	const struct tw_counter_row *row;
	for (size_t i = 0; (row = tw_counters_row(work->counters, i)); i++)
		if (!tw_rows_add(&work->rows, row))
			return false;
	tw_counters_sort(&work->rows, work->options->sort ? work->options->sort : "name", work->options->top);
	return true;
}

static void put_picture(struct work *work, char **operands, size_t count)
{
	struct tw_text title = {0};
	const struct tw_list_rows *rows = &work->rows;
	tw_text_add_files(&title, operands, count);
	tw_counters_render(&work->screen.out, work->counters, title.bytes,
	                   (const struct tw_counter_row *const *)(const void *)rows->items, rows->shown);
	tw_text_free(&title);
}

static int put(struct work *work, char **operands, size_t count)
{
	if (!collect(work))
		return tw_say_error("out of memory");
	int status = tw_screen_open(&work->screen, work->options->common.output);
	if (status)
		return status;
	switch (form_of(work->options)) {
	case TW_FORM_TEXT:
		status = tw_counters_put_text(&work->screen, &work->rows, work->paths, count);
		break;
	case TW_FORM_JSON:
		tw_counters_put_json(&work->screen.out, &work->rows, work->paths);
		break;
	case TW_FORM_SVG:
		put_picture(work, operands, count);
		break;
	case TW_FORM_CSV: /* written while it was read */
		break;
	}
	return tw_screen_end(&work->screen, status);
}

static int check_options(const struct counters_options *options, size_t count)
{
	if (form_of(options) == TW_FORM_CSV && count > 1)
		return tw_say_usage(&tw_command_counters, "samples are those of one file");
	if (form_of(options) == TW_FORM_CSV && (options->sort || options->top))
		return tw_say_usage(&tw_command_counters,
		                    "samples are in the order of time: --sort and --top are for series");
	return tw_check_form(&tw_command_counters, &options->common, &options->forms);
}

static int read_all(struct work *work, char **operands, size_t count)
{
	struct tw_walk walk = {
	    .common = &work->options->common,
	    .options = {.order = TW_ORDER_TIME},
	    .quiet = form_of(work->options) == TW_FORM_CSV && tw_goes_to_terminal(work->options->common.output),
	    .context = work,
	    .read = read_counters,
	};
	int status = tw_walk(&walk, operands, count);
	if (walk.readable) {
		tell(work);
		int shown = put(work, operands, count);
		status = shown > status ? shown : status;
	} else if (work->screen.open) {
		tw_output_discard(&work->screen.out);
	}
	return status;
}

static int start(struct work *work, size_t count)
{
	const struct counters_options *options = work->options;
	enum tw_form form = form_of(options);
	const struct tw_counters_options how = {
	    .counter = options->counter,
	    .plot = form == TW_FORM_SVG,
	    .memory_limit = (size_t)options->common.memory,
	    .on_sample = form == TW_FORM_CSV ? put_sample : NULL,
	    .context = work,
	};
	work->paths = calloc(count, sizeof *work->paths);
	if (!work->paths || tw_counters_new(&work->counters, &how) < 0)
		return tw_say_error("out of memory");
	if (form != TW_FORM_CSV)
		return 0;
	int status = tw_screen_open(&work->screen, options->common.output);
	if (status == 0)
		tw_counters_put_csv_head(&work->screen.out);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct work work = {.options = (const struct counters_options *)common};
	int status = check_options(work.options, count);
	if (status)
		return status;
	status = start(&work, count);
	if (status == 0)
		status = read_all(&work, operands, count);
	free(work.rows.items);
	tw_counters_free(work.counters);
	free(work.paths);
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
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "where to write; .csv and .svg tell the form, and .gz or .zst behind them the compression. - is standard "
             "output, the default"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.json), .help = "write JSON Lines: an object a series"},
    {"csv", 0, TW_OPTION_FLAG, MEMBER(forms.csv), .help = "write every sample: a line each, in the order of time"},
    {"svg", 0, TW_OPTION_FLAG, MEMBER(forms.svg), .help = "draw a chart for each series"},
};
static const struct tw_option_group own_group = {"Series", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group form_group = {"Output", form_options, sizeof form_options / sizeof *form_options};
static const struct tw_option_group *const groups[] = {&own_group,  &tw_window_options, &tw_plain_input_options,
                                                       &form_group, &tw_help_options,   NULL};

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
    .size = sizeof(struct counters_options),
    .least = 1,
    .run = run,
};
