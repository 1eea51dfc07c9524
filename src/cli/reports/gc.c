/* gc.c - trackway gc: garbage collections, and what was on the heap after them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/gc.h"

#include "analysis/tool.h"
#include "cli/files/walk.h"
#include "cli/options/output_form.h"
#include "cli/options/parse.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct gc_options {
	struct tw_common common;
	struct tw_form_options forms;
	const char *by, *diff, *class, *sort;
	uint64_t top;
};

/* What one run of the command works on. */
struct work {
	const struct gc_options *options;
	uint64_t from_ns, to_ns; /* --diff */
	struct tw_gc *gc;
	struct tw_gc_view view;
	struct tw_gc_growth *growths; /* of classes */
	struct tw_screen screen;
};

static const char *by_word(size_t i)
{
	static const char *const words[] = {
	    [TW_GC_BY_COLLECTION] = "collection", [TW_GC_BY_CLASS] = "class", [TW_GC_BY_GENERATION] = "generation"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

/* --diff and --class are about classes. */
static enum tw_gc_by by_of(const struct gc_options *options)
{
	size_t i = 0;
	if (!options->by)
		return options->diff || options->class ? TW_GC_BY_CLASS : TW_GC_BY_COLLECTION;
	while (strcmp(options->by, by_word(i)) != 0)
		i++;
	return (enum tw_gc_by)i;
}

static enum tw_form form_of(const struct work *work)
{
	return tw_form_of(&work->options->common, &work->options->forms);
}

/* ---- Options. ---- */

/* "1s,2.5s" */
static int parse_diff(struct work *work)
{
	const char *text = work->options->diff, *comma = strchr(text, ',');
	char from[32] = "";
	if (comma && (size_t)(comma - text) < sizeof from)
		memcpy(from, text, (size_t)(comma - text));
	const char *wrong = comma ? tw_parse_duration(from, &work->from_ns) : "is not two times: FROM,TO";
	wrong = wrong ? wrong : tw_parse_duration(comma + 1, &work->to_ns);
	if (wrong)
		return tw_say_usage(&tw_command_gc, "--diff: \"%s\" %s", text, wrong);
	if (work->to_ns <= work->from_ns)
		return tw_say_usage(&tw_command_gc, "--diff: the second time must be later than the first");
	return 0;
}

static int check_sort(const struct gc_options *options)
{
	bool growth = options->sort && strcmp(options->sort, "growth") == 0;
	bool most = options->sort && strncmp(options->sort, "most-", 5) == 0;
	if (growth && !options->diff)
		return tw_say_usage(&tw_command_gc, "--sort growth is about two times: --diff FROM,TO");
	if (most && options->diff)
		return tw_say_usage(&tw_command_gc, "--sort %s is not a column of --diff", options->sort);
	return 0;
}

/* What a form that is no listing has no use for. */
static int check_rows(const struct work *work)
{
	const struct gc_options *options = work->options;
	enum tw_form form = form_of(work);
	if (form == TW_FORM_SVG && (options->by || options->class || options->sort || options->top))
		return tw_say_usage(&tw_command_gc,
		                    "a picture is of the heap: --by, --class, --sort and --top are about rows");
	if (form == TW_FORM_CSV && (options->sort || options->top))
		return tw_say_usage(&tw_command_gc,
		                    "samples are in the order of time: --sort and --top are about rows");
	return 0;
}

static int check_options(struct work *work)
{
	const struct gc_options *options = work->options;
	int status = tw_check_form(&tw_command_gc, &options->common, &options->forms);
	status = status ? status : check_sort(options);
	if (status)
		return status;
	if ((options->diff || options->class || options->sort) && by_of(options) != TW_GC_BY_CLASS)
		return tw_say_usage(&tw_command_gc, "--diff, --class and --sort are about classes: --by class");
	if (options->diff && (form_of(work) == TW_FORM_CSV || form_of(work) == TW_FORM_SVG))
		return tw_say_usage(&tw_command_gc, "--diff is text or --json");
	status = check_rows(work);
	return status || !options->diff ? status : parse_diff(work);
}

/* ---- Rows. ---- */

static bool collect_collections(struct work *work)
{
	const struct tw_gc_collection *row;
	for (size_t i = 0; (row = tw_gc_collection(work->gc, i)); i++)
		if (!tw_rows_add(&work->view.rows, row))
			return false;
	return true;
}

static bool collect_generations(struct work *work)
{
	const struct tw_gc_generation *row;
	for (size_t i = 0; (row = tw_gc_generation(work->gc, i)); i++)
		if (!tw_rows_add(&work->view.rows, row))
			return false;
	return true;
}

static struct tw_gc_growth growth_of(const struct tw_gc_class *row)
{
	return (struct tw_gc_growth){
	    .row = row,
	    .bytes = row->bytes,
	    .count = row->count,
	    .most_bytes = row->most_bytes,
	    .most_count = row->most_count,
	    .from_bytes = row->from_bytes,
	    .to_bytes = row->to_bytes,
	    .from_count = row->from_count,
	    .to_count = row->to_count,
	    .growth =
		row->to_bytes > row->from_bytes ? row->to_bytes - row->from_bytes : row->from_bytes - row->to_bytes,
	};
}

static bool is_named(const struct work *work, const struct tw_gc_class *row)
{
	return !work->options->class || fnmatch(work->options->class, row->name, 0) == 0;
}

/* A class that is at neither of two points in time is no change. */
static bool is_wanted(const struct work *work, const struct tw_gc_class *row)
{
	bool there = !work->view.diff || row->from_count || row->from_bytes || row->to_count || row->to_bytes;
	return there && is_named(work, row);
}

static bool collect_classes(struct work *work)
{
	const struct tw_gc_class *row;
	size_t count = 0;
	while (tw_gc_class(work->gc, count))
		count++;
	work->growths = calloc(count + 1, sizeof *work->growths);
	if (!work->growths)
		return false;
	for (size_t i = 0; (row = tw_gc_class(work->gc, i)); i++) {
		work->growths[i] = growth_of(row);
		if (is_wanted(work, row) && !tw_rows_add(&work->view.rows, &work->growths[i]))
			return false;
	}
	return true;
}

static bool collect(struct work *work)
{
	static bool (*const collects[])(struct work * work) = {
	    [TW_GC_BY_COLLECTION] = collect_collections,
	    [TW_GC_BY_CLASS] = collect_classes,
	    [TW_GC_BY_GENERATION] = collect_generations,
	};
	bool fine = collects[work->view.by](work);
	if (work->view.by == TW_GC_BY_CLASS)
		tw_gc_sort(&work->view, work->options->sort, work->options->top);
	else
		tw_rows_sort(&work->view.rows, NULL, 0, "", work->options->top);
	return fine;
}

/* ---- The command. ---- */

/* Why there are no rows. */
static void tell_none(const struct work *work)
{
	static const char *const whats[] = {"collection", "look at the heap", "generation of the heap"};
	const struct tw_gc_class *row;
	size_t count = 0, named = 0;
	for (; work->view.by == TW_GC_BY_CLASS && (row = tw_gc_class(work->gc, count)); count++)
		named += is_named(work, row);
	if (named)
		tw_say("no class%s is known to be alive at either time; %s at the heap in all",
		       work->options->class ? " that matches" : "",
		       tw_show_plural(tw_gc_totals(work->gc)->looks, "look").text);
	else if (count)
		tw_say("no class matches '%s'", work->options->class);
	else
		tw_say_none(&work->options->common, whats[work->view.by]);
}

/* The picture is of the heap: there is none of collections alone. */
static bool is_nothing_to_draw(const struct work *work)
{
	return form_of(work) == TW_FORM_SVG && tw_gc_totals(work->gc)->looks == 0 && !tw_gc_generation(work->gc, 0);
}

static void tell(const struct work *work)
{
	if (tw_say_left_out(tw_gc_left_out(work->gc), "event", ""))
		return;
	if (is_nothing_to_draw(work))
		tw_say_none(&work->options->common, "look at the heap");
	else if (work->view.rows.count == 0)
		tell_none(work);
}

static int put_form(struct work *work, char *path)
{
	struct tw_text title = {0};
	switch (form_of(work)) {
	case TW_FORM_TEXT:
		return tw_gc_put_text(&work->screen, &work->view);
	case TW_FORM_JSON:
		tw_gc_put_json(&work->screen.out, &work->view);
		break;
	case TW_FORM_SVG:
		tw_text_add_files(&title, &path, 1);
		tw_gc_render(&work->screen.out, work->gc, title.bytes);
		tw_text_free(&title);
		break;
	case TW_FORM_CSV: /* samples were written while they were read */
		if (work->view.by == TW_GC_BY_COLLECTION)
			tw_gc_put_csv(&work->screen.out, work->gc);
		break;
	}
	return 0;
}

static int put(struct work *work, char *path)
{
	int status = tw_screen_open(&work->screen, work->options->common.output);
	if (status)
		return status;
	status = put_form(work, path);
	return tw_screen_end(&work->screen, status);
}

static int put_sample(void *context, const struct tw_gc_sample *sample)
{
	struct work *work = context;
	const char *class = work->options->class;
	bool wanted = sample->generation == (work->view.by == TW_GC_BY_GENERATION) &&
	              (!class || fnmatch(class, sample->name, 0) == 0);
	if (wanted)
		tw_gc_put_csv_sample(&work->screen.out, sample);
	return work->screen.out.error; /* reading stops when writing fails; closing the screen says why */
}

static int read_gc(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct work *work = walk->context;
	bool csv = form_of(work) == TW_FORM_CSV;
	(void)path;
	const struct tw_gc_options options = {
	    .from_ns = work->from_ns,
	    .to_ns = work->to_ns,
	    .plot = form_of(work) == TW_FORM_SVG,
	    .memory_limit = (size_t)walk->common->memory,
	    .on_sample = csv && work->view.by != TW_GC_BY_COLLECTION ? put_sample : NULL,
	    .context = work,
	};
	int status = csv ? tw_screen_open(&work->screen, walk->common->output) : 0;
	if (status)
		return status;
	if (csv)
		tw_gc_put_csv_head(&work->screen.out, work->view.by);
	status = tw_gc_read(&work->gc, reader, &options);
	work->view.gc = work->gc;
	return status < 0 ? status : 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct gc_options *options = (const struct gc_options *)common;
	struct work work = {.options = options, .view = {.by = by_of(options), .diff = options->diff != NULL}};
	int status = check_options(&work);
	if (status)
		return status;
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_TIME},
	    .quiet = form_of(&work) == TW_FORM_CSV && tw_goes_to_terminal(common->output),
	    .context = &work,
	    .read = read_gc,
	};
	status = tw_walk(&walk, operands, count);
	if (walk.readable && work.gc) {
		int shown = collect(&work) ? 0 : tw_say_error("out of memory");
		tell(&work);
		if (!shown && !is_nothing_to_draw(&work))
			shown = put(&work, operands[0]);
		status = shown > status ? shown : status;
	} else if (work.screen.open) {
		tw_output_discard(&work.screen.out);
	}
	free(work.view.rows.items);
	free(work.growths);
	tw_gc_free(work.gc);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct gc_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .choice = by_word,
     .help = "what makes a row: each collection, each class that was alive, each generation of the heap"},
    {"diff", 0, TW_OPTION_TEXT, MEMBER(diff), .placeholder = "FROM,TO",
     .help = "how the classes alive changed between two times since the start of the trace, \"1s,2.5s\""},
    {"class", 'f', TW_OPTION_TEXT, MEMBER(class), .placeholder = "GLOB",
     .help = "only classes whose name matches, \"System.*\""},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = tw_gc_sort_word,
     .help = "the column to sort classes by, largest first; bytes otherwise, with --diff growth, up or down"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
};
static const struct tw_option form_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "where to write; .csv and .svg tell the form, and .gz or .zst behind them the compression. - is standard "
             "output, the default"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.json), .help = "write JSON Lines: an object a row"},
    {"csv", 0, TW_OPTION_FLAG, MEMBER(forms.csv),
     .help = "write a line for each collection, or each time that a class or a generation was told of"},
    {"svg", 0, TW_OPTION_FLAG, MEMBER(forms.svg),
     .help = "draw the heap over time: all classes together, and each generation"},
};
static const struct tw_option_group own_group = {"Rows", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group form_group = {"Output", form_options, sizeof form_options / sizeof *form_options};
static const struct tw_option_group *const groups[] = {&own_group,  &tw_window_options, &tw_plain_input_options,
                                                       &form_group, &tw_help_options,   NULL};

const struct tw_command tw_command_gc = {
    .name = "gc",
    .summary = "garbage collections, and what was on the heap after them",
    .operands = "FILE",
    .description =
	"Lists collections with their pauses, and below them all together: their share of the time and percentiles of "
	"the pauses, which are exact.\n\n"
	"--by class tells what was alive of each class when the heap was last looked at, and the most that was ever "
	"seen. --diff compares two points in time, each by the last look before it. --by generation tells how much of "
	"each generation was allocated and reserved. One class over time is a chart of trackway counters.\n\n"
	"It comes from slices of the category \"gc\" and counters of the categories \"heap\" and \"generation\".",
    .examples = "trackway gc app.log\tCollections and their pauses.\n"
		"trackway gc --diff 10s,60s -n 20 app.log\tWhat grew in fifty seconds.\n"
		"trackway gc app.log -o heap.svg\tThe heap over time.\n",
    .groups = groups,
    .size = sizeof(struct gc_options),
    .least = 1,
    .most = 1,
    .run = run,
};
