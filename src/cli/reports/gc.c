/* gc.c - trackway gc: garbage collections, and what was on the heap after them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/gc.h"

#include "analysis/tool.h"
#include "cli/files/nothing_passed.h"
#include "cli/options/output_form.h"
#include "cli/options/parse.h"
#include "cli/output/message.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct gc_options {
	struct tw_common common;
	const char *by, *diff, *class, *sort;
	uint64_t top;
};

static const char *const by_words[] = {
    [TW_GC_BY_COLLECTION] = "collection", [TW_GC_BY_CLASS] = "class", [TW_GC_BY_GENERATION] = "generation", NULL};

/* --diff and --class are about classes. */
static enum tw_gc_by by_of(const struct gc_options *options)
{
	bool classes = options->diff || options->class;
	return !options->by && classes ? TW_GC_BY_CLASS : (enum tw_gc_by)tw_word_place(by_words, options->by);
}

static struct tw_gc_listing *gc_of(const struct tw_listing *listing)
{
	return (struct tw_gc_listing *)(uintptr_t)listing;
}

static const struct gc_options *options_of(const struct tw_listing *listing)
{
	return (const struct gc_options *)listing->common;
}

/* ---- Options. ---- */

/* "1s,2.5s" */
static int parse_diff(struct tw_gc_listing *gc)
{
	const char *text = options_of(&gc->listing)->diff, *comma = strchr(text, ',');
	char from[32] = "";
	if (comma && (size_t)(comma - text) < sizeof from)
		memcpy(from, text, (size_t)(comma - text));
	const char *wrong = comma ? tw_parse_duration(from, &gc->from_ns) : "is not two times: FROM,TO";
	wrong = wrong ? wrong : tw_parse_duration(comma + 1, &gc->to_ns);
	if (wrong)
		return tw_say_usage(&tw_command_gc, "--diff: \"%s\" %s", text, wrong);
	if (gc->to_ns <= gc->from_ns)
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
static int check_rows(const struct gc_options *options, enum tw_form form)
{
	if (form == TW_FORM_SVG && (options->by || options->class || options->sort || options->top))
		return tw_say_usage(&tw_command_gc,
		                    "a picture is of the heap: --by, --class, --sort and --top are about rows");
	if (form == TW_FORM_CSV && (options->sort || options->top))
		return tw_say_usage(&tw_command_gc,
		                    "samples are in the order of time: --sort and --top are about rows");
	return 0;
}

static int check_options(struct tw_gc_listing *gc)
{
	const struct gc_options *options = options_of(&gc->listing);
	enum tw_form form = tw_listing_form(&gc->listing);
	int status = 0;
	status = status ? status : check_sort(options);
	if (status)
		return status;
	if (form == TW_FORM_FOLDED && (options->diff || (options->by && by_of(options) != TW_GC_BY_CLASS)))
		return tw_say_usage(&tw_command_gc, "--folded is of the classes that live");
	if (form == TW_FORM_FOLDED)
		gc->by = TW_GC_BY_CLASS;
	if ((options->diff || options->class || options->sort) && gc->by != TW_GC_BY_CLASS)
		return tw_say_usage(&tw_command_gc, "--diff, --class and --sort are about classes: --by class");
	if (options->diff && (form == TW_FORM_CSV || form == TW_FORM_SVG))
		return tw_say_usage(&tw_command_gc, "--diff is text or --json");
	status = check_rows(options, form);
	return status || !options->diff ? status : parse_diff(gc);
}

/* ---- Rows. ---- */

static bool collect_collections(struct tw_gc_listing *gc)
{
	const struct tw_gc_collection *row;
	for (size_t i = 0; (row = tw_gc_collection(gc->gc, i)); i++)
		if (!tw_rows_add(&gc->listing.rows, row))
			return false;
	return true;
}

static bool collect_generations(struct tw_gc_listing *gc)
{
	const struct tw_gc_generation *row;
	for (size_t i = 0; (row = tw_gc_generation(gc->gc, i)); i++)
		if (!tw_rows_add(&gc->listing.rows, row))
			return false;
	return true;
}

static bool is_named(const struct tw_listing *listing, const char *name)
{
	const char *class = options_of(listing)->class;
	return !class || fnmatch(class, name, 0) == 0;
}

/* A class that is at neither of two points in time is no change. */
static bool is_wanted(const struct tw_gc_listing *gc, const struct tw_gc_class *row)
{
	bool there = !gc->diff || row->from_count || row->from_bytes || row->to_count || row->to_bytes;
	return there && is_named(&gc->listing, row->name);
}

static bool collect_classes(struct tw_gc_listing *gc)
{
	const struct tw_gc_class *row;
	size_t count = 0;
	while (tw_gc_class(gc->gc, count))
		count++;
	gc->growths = calloc(count + 1, sizeof *gc->growths);
	if (!gc->growths)
		return false;
	for (size_t i = 0; (row = tw_gc_class(gc->gc, i)); i++) {
		uint64_t from = row->from_bytes, to = row->to_bytes;
		gc->growths[i] = (struct tw_gc_growth){*row, to > from ? to - from : from - to};
		if (is_wanted(gc, row) && !tw_rows_add(&gc->listing.rows, &gc->growths[i]))
			return false;
	}
	return true;
}

static bool collect(struct tw_listing *listing)
{
	static bool (*const collects[])(struct tw_gc_listing * gc) = {
	    [TW_GC_BY_COLLECTION] = collect_collections,
	    [TW_GC_BY_CLASS] = collect_classes,
	    [TW_GC_BY_GENERATION] = collect_generations,
	};
	struct tw_gc_listing *gc = gc_of(listing);
	bool fine = collects[gc->by](gc);
	if (gc->by == TW_GC_BY_CLASS)
		tw_gc_sort(gc, options_of(listing)->sort, options_of(listing)->top);
	else
		tw_rows_sort(&listing->rows, NULL, 0, "", options_of(listing)->top);
	return fine;
}

/* ---- The command. ---- */

/* Why there are no rows. */
static void note_none(const struct tw_gc_listing *gc)
{
	static const char *const whats[] = {"collection", "look at the heap", "generation of the heap"};
	const char *class = options_of(&gc->listing)->class;
	const struct tw_gc_class *row;
	size_t count = 0, named = 0;
	for (; gc->by == TW_GC_BY_CLASS && (row = tw_gc_class(gc->gc, count)); count++)
		named += is_named(&gc->listing, row->name);
	if (named)
		tw_say("no class%s is known to be alive at either time; %s at the heap in all",
		       class ? " that matches" : "", tw_show_plural(tw_gc_totals(gc->gc)->looks, "look").text);
	else if (count)
		tw_say("no class matches '%s'", class);
	else
		tw_say_none(gc->listing.common, whats[gc->by]);
}

/* The picture is of the heap: there is none of collections alone. */
static bool can_draw(const struct tw_listing *listing)
{
	const struct tw_gc *gc = gc_of(listing)->gc;
	return tw_gc_totals(gc)->looks || tw_gc_generation(gc, 0);
}

static void note(const struct tw_listing *listing)
{
	if (tw_say_left_out(tw_gc_left_out(gc_of(listing)->gc), "event", ""))
		return;
	if (tw_listing_form(listing) == TW_FORM_SVG && !can_draw(listing))
		tw_say_none(listing->common, "look at the heap");
	else if (listing->rows.count == 0)
		note_none(gc_of(listing));
}

static int draw(struct tw_listing *listing, const char *title)
{
	return tw_gc_render(&listing->screen.out, gc_of(listing)->gc, title);
}

static int put_sample(void *context, const struct tw_gc_sample *sample)
{
	struct tw_listing *listing = context;
	if (sample->generation == (gc_of(listing)->by == TW_GC_BY_GENERATION) && is_named(listing, sample->name))
		tw_gc_put_sample(&listing->screen.out, sample, listing->common->forms.csv_safe);
	return listing->screen.out.error; /* reading stops when writing fails; closing the screen says why */
}

static int read_gc(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	struct tw_gc_listing *gc = gc_of(listing);
	bool csv = tw_listing_form(listing) == TW_FORM_CSV;
	(void)path;
	const struct tw_gc_options options = {
	    .from_ns = gc->from_ns,
	    .to_ns = gc->to_ns,
	    .plot = tw_listing_form(listing) == TW_FORM_SVG,
	    .memory_limit = (size_t)listing->common->limits.memory,
	    .on_sample = csv && gc->by != TW_GC_BY_COLLECTION ? put_sample : NULL,
	    .context = listing,
	};
	int status = tw_gc_read(&gc->gc, reader, &options);
	listing->result = gc->gc;
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct gc_options *options = (const struct gc_options *)common;
	struct tw_gc_listing gc = {
	    .listing =
		{
		    .common = common,
		    .walk = {.options = {.order = TW_ORDER_TIME}},
		    .csv_head = tw_gc_csv_head(by_of(options)),
		    .read = read_gc,
		    .collect = collect,
		    .note = note,
		    .put_json = tw_gc_put_json,
		    .end_json = tw_gc_end_json,
		    .put_text = tw_gc_put_text,
		    .put_csv = tw_gc_put_csv,
		    .put_folded = tw_gc_put_folded,
		    .draw = draw,
		    .can_draw = can_draw,
		},
	    .by = by_of(options),
	    .diff = options->diff != NULL,
	};
	int status = check_options(&gc);
	if (status == 0)
		status = tw_list(&gc.listing, operands, count);
	free(gc.growths);
	tw_gc_free(gc.gc);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct gc_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .words = by_words,
     .help = "what makes a row: each collection, each class that was alive, each generation of the heap"},
    {"diff", 0, TW_OPTION_TEXT, MEMBER(diff), .placeholder = "FROM,TO",
     .help = "how the classes alive changed between two times since the start of the trace, \"1s,2.5s\""},
    {"class", 'f', TW_OPTION_TEXT, MEMBER(class), .placeholder = "GLOB",
     .help = "only classes whose name matches, \"System.*\""},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .words = tw_gc_sort_words,
     .help = "the column to sort classes by, largest first; bytes otherwise, with --diff growth, up or down"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
};
static const struct tw_option form_options[] = {
    TW_OPTION_OUTPUT_BY_NAME,
    TW_OPTION_JSON_ROWS("row"),
    TW_OPTION_CSV_HELP("write a line for each collection, or each time that a class or a generation was told of"),
    TW_OPTION_CSV_SAFE_ROWS,
    TW_OPTION_MARKDOWN,
    {"folded", 0, TW_OPTION_FLAG, MEMBER(common.forms.folded),
     .help = "what lives, by type, for `trackway flame`: a line for each class, its namespaces, its name, its bytes"},
    TW_OPTION_SVG("draw the heap over time: all classes together, and each generation"),
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), &tw_window_options, &tw_plain_input_options,
                     TW_OPTIONS("Output", form_options));

const struct tw_command tw_command_gc = {
    .name = "gc",
    .summary = "garbage collections, and what was on the heap after them",
    .operands = "FILE",
    .description =
	"Lists collections with their pauses, and below them all together: their share of the time and percentiles of "
	"the pauses, which are exact. Where the trace tells it there is the heap AFTER and BEFORE, what was ALLOCATED "
	"since the collection before, what was PROMOTED (lives on in an older generation, or in the oldest), and the "
	"FUNCTION that the thread last allocated in since the collection before, or where the trace tells of no "
	"allocations, was last seen in. Collections in the background, which "
	"their reason tells, are no pauses: they are counted apart.\n\n"
	"--by class tells what was alive of each class when the heap was last looked at, and the most that was ever "
	"seen. --diff compares two points in time, each by the last look before it. --by generation tells how much of "
	"each generation was allocated and reserved. One class over time is a chart of trackway counters.\n\n"
	"It comes from slices of the category \"gc\" and counters of the categories \"heap\" and \"generation\".",
    .examples = "trackway gc app.log\tCollections and their pauses.\n"
		"trackway gc --diff 10s,60s -n 20 app.log\tWhat grew in fifty seconds.\n"
		"trackway gc app.log -o heap.svg\tThe heap over time.\n"
		"trackway gc --folded app.log | trackway flame -w bytes - -o a.svg\tA flame graph of what lives.\n",
    .groups = groups,
    .forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_SVG |
             1u << TW_FORM_FOLDED,
    .size = sizeof(struct gc_options),
    .least = 1,
    .most = 1,
    .run = run,
};
