/* diff.c - trackway diff: what changed between two traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/diff.h"

#include "analysis/tool.h"
#include "base/bytes/input.h"
#include "cli/command.h"
#include "cli/files/output_overwrite.h"
#include "cli/options/options.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct diff_options {
	struct tw_common common;
	const char *sort, *of;
	uint64_t top;
	struct tw_list binary_a, binary_b, before, after;
	bool flame, normalize;
	const char *title;
};

static int put_diff(const struct tw_diff_view *view)
{
	struct tw_screen screen = {0};
	int status = tw_screen_open_form(&screen, view->common);
	if (status)
		return status;
	if (view->common->forms.json)
		tw_diff_put_json(&screen.out, view);
	else
		status = tw_diff_put_text(&screen, view);
	return tw_screen_end(&screen, status);
}

static void say_of_runs(struct tw_profile *profile, const struct tw_diff_paths *paths,
                        const struct diff_options *options)
{
	if (!options->common.forms.json && !options->binary_a.count && !options->binary_b.count)
		tw_say_numbers_of_profile(&options->common, profile);
	tw_diff_say_runs(paths->count);
}

static int compare(struct tw_profile *const *profiles, const struct tw_diff_paths *paths,
                   const struct diff_options *options)
{
	struct tw_diff *diff;
	const struct tw_diff_side a = {profiles, paths->count[0]}, b = {profiles + paths->count[0], paths->count[1]};
	struct tw_diff_view view = {
	    .common = &options->common,
	    .by = tw_diff_by_word(options->sort),
	    .weight = tw_profile_weight(profiles[0]),
	    .top = options->top,
	    .runs = paths->count,
	};
	for (size_t i = 1; i < tw_diff_all(paths); i++)
		if (view.weight != tw_profile_weight(profiles[i]))
			return tw_diff_say_weights(view.weight, tw_profile_weight(profiles[i]));
	if (view.by == TW_DIFF_P50 && tw_weight_is_sampled(view.weight))
		return tw_say_error("samples have no durations: --sort p50 is for calls");
	if (tw_diff_runs(&diff, &a, &b, view.by) < 0)
		return tw_say_error("out of memory");
	view.diff = diff;
	if (tw_diff_is_empty(&view))
		tw_say_weightless(view.common, view.weight, tw_diff_row(diff, 0) != NULL);
	else
		say_of_runs(profiles[0], paths, options);
	int status = put_diff(&view);
	tw_diff_free(diff);
	return status;
}

static int compare_functions(struct tw_common commons[2], const struct tw_diff_paths *paths,
                             const struct diff_options *options)
{
	size_t all = tw_diff_all(paths), readable = 0;
	struct tw_profile **profiles = calloc(all, sizeof *profiles);
	int status = profiles ? 0 : tw_say_error("out of memory");
	for (size_t i = 0; profiles && i < all; i++) {
		struct tw_profiling run = {.common = &commons[tw_diff_side_of(paths, i)], .parts = all};
		status = tw_worse(status, tw_profile_files(&run, &paths->paths[i], 1));
		profiles[i] = run.profile;
		readable += run.readable;
	}
	if (readable == all) {
		status = tw_worse(status, compare(profiles, paths, options));
	}
	for (size_t i = 0; profiles && i < all; i++)
		tw_profile_free(profiles[i]);
	free(profiles);
	return status;
}

/* Whether the form is that of a flame graph, or of its stacks. */
static bool is_flame(enum tw_form form)
{
	return form == TW_FORM_SVG || form == TW_FORM_HTML || form == TW_FORM_FOLDED;
}

/* Whether a flame graph, or its stacks, is asked for: the options about it ask for it, too. */
static bool wants_flame(const struct diff_options *options)
{
	return options->flame || options->normalize || options->title || is_flame(options->common.forms.chosen);
}

/* "before a.fxt, after b.fxt"; the name of a file that has both. */
static bool add_title(struct tw_text *title, const struct tw_diff_paths *paths)
{
	if (tw_diff_all(paths) == 1)
		return tw_text_add_files(title, paths->paths, 1);
	return tw_text_add(title, "before ", 7) && tw_text_add_files(title, paths->paths, paths->count[0]) &&
	       tw_text_add(title, ", after ", 8) &&
	       tw_text_add_files(title, paths->paths + paths->count[0], paths->count[1]);
}

static int draw(struct tw_common commons[2], const struct tw_diff_paths *paths, const struct diff_options *options)
{
	struct tw_text title = {0};
	struct tw_diff_flame flame = {.output = options->common.output,
	                              .title = options->title,
	                              .form = is_flame(options->common.forms.chosen) ? options->common.forms.chosen
	                                                                             : TW_FORM_SVG,
	                              .normalize = options->normalize};
	if (!flame.title && add_title(&title, paths))
		flame.title = title.bytes;
	int status = tw_diff_all(paths) == 1 ? tw_diff_flame_lines(&options->common, paths->paths[0], &flame)
	                                     : tw_diff_flame_traces(commons, paths, &flame);
	tw_text_free(&title);
	return status;
}

/* ---- Both sides. ---- */

static const char wants[] = "diff wants A B, or several runs a side: A... -- B...";

/* The files of --before and --after as operands. Returns 0 or TW_EXIT_FAILED. */
static int take_lists(struct tw_diff_paths *paths, const struct diff_options *options, size_t operands)
{
	const struct tw_list *lists[2] = {&options->before, &options->after};
	if (operands || !lists[0]->count || !lists[1]->count)
		return tw_say_usage(&tw_command_diff, "--before and --after belong together, and replace A B");
	paths->paths = calloc(lists[0]->count + lists[1]->count, sizeof *paths->paths);
	if (!paths->paths)
		return tw_say_error("out of memory");
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < lists[side]->count; i++, paths->count[side]++)
			paths->paths[tw_diff_all(paths)] = (char *)(uintptr_t)lists[side]->items[i];
	return tw_refuse_overwrite(&tw_command_diff, &options->common, paths->paths, tw_diff_all(paths));
}

static int choose_sides(struct tw_diff_paths *paths, const struct diff_options *options, char **operands, size_t count)
{
	size_t behind = options->common.behind < count ? options->common.behind : 0;
	for (size_t i = count - behind; i < count; i++)
		if (operands[i][0] == '-' && operands[i][1])
			return tw_say_usage(&tw_command_diff, "%s: options stand in front of --, between the runs",
			                    operands[i]);
	if (options->before.count || options->after.count)
		return take_lists(paths, options, count);
	if (count == 0 || (count > 2 && !behind))
		return tw_say_usage(&tw_command_diff, "%s", wants);
	paths->paths = malloc((count + 1) * sizeof *paths->paths);
	if (!paths->paths)
		return tw_say_error("out of memory");
	memcpy(paths->paths, operands, count * sizeof *operands);
	paths->count[1] = behind ? behind : count - 1;
	paths->count[0] = count - paths->count[1];
	return 0;
}

static int check_options(const struct diff_options *options, size_t count)
{
	const struct tw_common *common = &options->common;
	if (!tw_diff_of_functions(options->of) && (wants_flame(options) || options->sort))
		return tw_say_usage(&tw_command_diff, "--of %s has neither --sort nor a picture", options->of);
	if (!tw_diff_of_functions(options->of) && options->common.weight)
		return tw_say_usage(&tw_command_diff, "--of %s has no --weight", options->of);
	if (!wants_flame(options))
		return count > 1 ? 0 : tw_say_usage(&tw_command_diff, "%s", wants);
	if (common->forms.json || common->forms.markdown || options->sort || options->top)
		return tw_say_usage(&tw_command_diff,
		                    "--json, --csv, --markdown, --sort and --top are about rows: of a "
		                    "picture and of stacks there are none");
	if (options->title && common->forms.chosen == TW_FORM_FOLDED)
		return tw_say_usage(&tw_command_diff, "--title is about pictures");
	if (common->output && strcmp(common->output, "-") != 0 && !is_flame(common->forms.chosen))
		return tw_say_usage(&tw_command_diff, "%s: the name tells no form: .svg, .html or .folded does",
		                    common->output);
	if (!is_flame(common->forms.chosen) && tw_goes_to_terminal(common->output))
		return tw_say_usage(&tw_command_diff, "a picture does not go to a terminal: -o FILE.svg, or --folded");
	return 0;
}

/* Functions without names on one side alone match nothing. */
static void say_binaries(const struct tw_diff_paths *paths, const struct diff_options *options)
{
	if (options->common.names.binaries.count || !options->binary_a.count == !options->binary_b.count ||
	    tw_diff_all(paths) < 2)
		return;
	tw_say("there is no --binary-%c: the functions of %s may have numbers only, which match no names",
	       options->binary_a.count ? 'b' : 'a', paths->paths[options->binary_a.count ? paths->count[0] : 0]);
}

/* One operand that is a pipe, and is read for both sides. */
struct copied {
	struct tw_input *input;
	char path[32];
};

/* Returns 0 or TW_EXIT_FAILED. */
static int copy_pipe(struct copied *copied, struct tw_diff_paths *paths, const struct diff_options *options)
{
	struct stat about;
	if (tw_diff_all(paths) != 1 || wants_flame(options) || !tw_diff_of_functions(options->of))
		return 0;
	const char *path = paths->paths[0];
	if (strcmp(path, "-") != 0 && (stat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
		return 0;
	int status = tw_input_open(&copied->input, path);
	if (status >= 0)
		status = tw_input_spool(copied->input, tw_temporary_folder());
	if (status < 0)
		return tw_say_error("%s", tw_input_error(copied->input));
	snprintf(copied->path, sizeof copied->path, "/dev/fd/%d", tw_input_descriptor(copied->input));
	paths->paths[0] = copied->path;
	return 0;
}

/* Makes one file that has both counts, before and after, both sides. */
static void take_both(struct tw_diff_paths *paths, struct tw_common commons[2], const struct diff_options *options)
{
	if (tw_diff_all(paths) != 1 || wants_flame(options) || !tw_diff_of_functions(options->of) ||
	    !tw_diff_is_both(&options->common, paths->paths[0]))
		return;
	paths->paths[1] = paths->paths[0];
	*paths = (struct tw_diff_paths){paths->paths, {1, 1}};
	commons[0].counts = TW_COUNTS_BEFORE;
	commons[1].counts = TW_COUNTS_AFTER;
}

static int compare_sides(const struct diff_options *options, struct tw_diff_paths *paths)
{
	const struct tw_common *common = &options->common;
	struct tw_common commons[2] = {*common, *common};
	take_both(paths, commons, options);
	int status = check_options(options, tw_diff_all(paths));
	if (status)
		return status;
	say_binaries(paths, options);
	if (options->binary_a.count)
		commons[0].names.binaries = options->binary_a;
	if (options->binary_b.count)
		commons[1].names.binaries = options->binary_b;
	if (!tw_diff_of_functions(options->of))
		return tw_diff_spreads(commons, paths, &(struct tw_diff_choice){common, options->of, options->top});
	return wants_flame(options) ? draw(commons, paths, options) : compare_functions(commons, paths, options);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct diff_options *options = (const struct diff_options *)common;
	struct tw_diff_paths paths = {0};
	struct copied copied = {0};
	int status = choose_sides(&paths, options, operands, count);
	if (status == 0)
		status = copy_pipe(&copied, &paths, options);
	if (status == 0)
		status = compare_sides(options, &paths);
	tw_input_close(copied.input);
	free(paths.paths);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct diff_options, name)
static const struct tw_option own_options[] = {
    {"of", 0, TW_OPTION_CHOICE, MEMBER(of), .choice = tw_diff_of_word,
     .help = "what is compared: functions; events (how often, and the times between them); async (operations, from the "
             "last begin of an id to its end); counters (their numbers); gc (pauses); allocations (by class); heap (by "
             "class, at the last look at it); jit (compilations, by function); instructions (of an xtrace: by class "
             "and operation)"},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = tw_diff_word,
     .help = "what is compared; the largest change, up or down, comes first; self otherwise"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
    {"before", 0, TW_OPTION_FILES, MEMBER(before), .placeholder = "FILE",
     .help = "a run of the first side; may be repeated, and replaces A"},
    {"after", 0, TW_OPTION_FILES, MEMBER(after), .placeholder = "FILE", .help = "a run of the second side"},
    {"binary-a", 0, TW_OPTION_FILES, MEMBER(binary_a), .placeholder = "[N=]FILE",
     .help = "the program of the first trace, where it is not that of --binary"},
    {"binary-b", 0, TW_OPTION_FILES, MEMBER(binary_b), .placeholder = "[N=]FILE",
     .help = "the program of the second trace"},
};
static const struct tw_option flame_options[] = {
    {"flame", 0, TW_OPTION_FLAG, MEMBER(flame),
     .help = "draw a flame graph instead: as wide as after, red where it grew, blue where it shrank. -o FILE.svg and "
             "FILE.html ask for it, too, and FILE.folded for its lines"},
    {"folded", 0, TW_OPTION_FLAG, MEMBER(common.forms.folded),
     .help = "a line for each stack: its functions, what the last one itself took before, and after"},
    {"normalize", 0, TW_OPTION_FLAG, MEMBER(normalize),
     .help = "scale what was before so that both traces weigh the same in all; with --flame and --folded"},
    {"title", 0, TW_OPTION_TEXT, MEMBER(title), .placeholder = "TEXT",
     .help = "what stands above the picture; which files were before and which after otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), TW_OPTIONS("Picture", flame_options), &tw_weight_options,
                     &tw_filter_options, &tw_input_options, &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_diff = {
    .name = "diff",
    .summary = "what changed between two traces, or several runs of each",
    .operands = "A... [--] B...",
    .description =
	"Compares traces, A before and B after: one of each, or several runs a side, with -- between them. Functions "
	"are matched by name: where two builds number their functions differently, give each its program.\n\n"
	"Runs of one program differ by themselves. From four runs a side on each change is tested: P is how many of "
	"the ways to deal the runs to two sides make their means differ as much, and the change of the mean is in the "
	"interval 95 times in 100. What is above 0.05 is noise; of rows that did not change at most one in twenty is "
	"not called so, by chance. With less runs nothing is marked, and of one run a side nothing is known about "
	"noise. Values are means over the runs; one that has no such row counts as 0, but for counters and p50.\n\n"
	"A picture of several runs is of the mean run of each side. A single file may be lines of \"stack before "
	"after\", as difffolded.pl and --folded write them.",
    .examples = "trackway diff old/*.fxt -- new/*.fxt\tWhich changes are more than noise between runs.\n"
		"trackway diff -n 20 --binary-a old/server --binary-b server old.xray new.xray\tThe largest changes.\n"
		"trackway diff -o changes.svg old.fxt new.fxt\tWhat grew and what shrank.\n",
    .groups = groups,
    .forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_SVG | 1u << TW_FORM_HTML |
             1u << TW_FORM_FOLDED,
    .from_rows = 1u << TW_FORM_CSV,
    .size = sizeof(struct diff_options),
    .run = run,
};
