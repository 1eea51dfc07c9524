/* diff.c - trackway diff: what changed between two traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/diff.h"

#include "analysis/tool.h"
#include "base/bytes/compress.h"
#include "cli/command.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/flame_form.h"
#include "cli/reports/profiles.h"

#include <string.h>

struct diff_options {
	struct tw_common common;
	const char *binary_a, *binary_b, *sort, *of;
	uint64_t top;
	bool flame, folded, normalize;
	const char *title;
};

static int put_diff(const struct tw_diff_view *view)
{
	struct tw_screen screen = {0};
	int status = tw_screen_open(&screen, view->common->output);
	if (status)
		return status;
	if (view->common->json)
		tw_diff_put_json(&screen.out, view);
	else
		status = tw_diff_put_text(&screen, view);
	return tw_screen_end(&screen, status);
}

static int compare(struct tw_profile *a, struct tw_profile *b, const struct diff_options *options)
{
	struct tw_diff *diff;
	struct tw_diff_view view = {
	    .common = &options->common,
	    .by = tw_diff_by_word(options->sort),
	    .weight = tw_profile_weight(a),
	    .top = options->top,
	};
	if (view.weight != tw_profile_weight(b))
		return tw_diff_say_weights(view.weight, tw_profile_weight(b));
	if (view.by == TW_DIFF_P50 && tw_weight_is_sampled(view.weight))
		return tw_say_error("samples have no durations: --sort p50 is for calls");
	if (tw_diff_new(&diff, a, b, view.by) < 0)
		return tw_say_error("out of memory");
	view.diff = diff;
	if (tw_diff_is_empty(&view))
		tw_say_weightless(view.common, view.weight, tw_diff_row(diff, 0) != NULL);
	int status = put_diff(&view);
	tw_diff_free(diff);
	return status;
}

static int compare_functions(struct tw_common commons[2], char **operands, const struct diff_options *options)
{
	struct tw_profiling sides[2] = {{.common = &commons[0], .halved = true},
	                                {.common = &commons[1], .halved = true}};
	int status = 0;
	for (size_t i = 0; i < 2; i++) {
		status = tw_worse(status, tw_profile_files(&sides[i], &operands[i], 1));
	}
	if (sides[0].readable && sides[1].readable) {
		status = tw_worse(status, compare(sides[0].profile, sides[1].profile, options));
	}
	tw_profile_free(sides[0].profile);
	tw_profile_free(sides[1].profile);
	return status;
}

/* Whether the name of the output tells a form that a table does not have: .txt is one that it has. */
static bool names_flame(const struct tw_common *common)
{
	const char *path = common->output ? common->output : "-";
	return !common->json && strcmp(path, "-") != 0 && tw_flame_file_of(path) != TW_FLAME_FILE_UNKNOWN &&
	       !tw_name_ends_with(path, ".txt");
}

/* Whether a flame graph, or its stacks, is asked for: the options about it ask for it, too. */
static bool wants_flame(const struct diff_options *options)
{
	return options->flame || options->folded || options->normalize || options->title ||
	       names_flame(&options->common);
}

static int draw(struct tw_common commons[2], char **operands, size_t count, const struct diff_options *options)
{
	struct tw_text title = {0};
	struct tw_diff_flame flame = {.output = options->common.output,
	                              .title = options->title,
	                              .folded = options->folded,
	                              .normalize = options->normalize};
	if (!flame.title && tw_text_add_files(&title, operands, count))
		flame.title = title.bytes;
	int status = count == 1 ? tw_diff_flame_lines(&options->common, operands[0], &flame)
	                        : tw_diff_flame_traces(commons, operands, &flame);
	tw_text_free(&title);
	return status;
}

static int check_options(const struct diff_options *options, size_t count)
{
	const char *output = options->common.output;
	if (!tw_diff_of_functions(options->of) && (wants_flame(options) || options->sort))
		return tw_say_usage(&tw_command_diff, "--of %s has neither --sort nor a picture", options->of);
	if (!tw_diff_of_functions(options->of) && options->common.weight)
		return tw_say_usage(&tw_command_diff, "--of %s has no --weight", options->of);
	if (!wants_flame(options))
		return count == 2 ? 0 : tw_say_usage(&tw_command_diff, "diff wants A B");
	if (options->common.json || options->sort || options->top)
		return tw_say_usage(&tw_command_diff, "--json, --sort and --top are about rows: of a picture and of "
		                                      "stacks there are none");
	if (options->title && (options->folded || tw_flame_file_of(output) == TW_FLAME_FILE_FOLDED))
		return tw_say_usage(&tw_command_diff, "--title is about pictures");
	if (options->folded)
		return 0;
	if (tw_flame_file_of(output) == TW_FLAME_FILE_UNKNOWN)
		return tw_say_usage(&tw_command_diff, "%s: the name tells no form: .svg, .html or .folded does",
		                    output);
	if (tw_goes_to_terminal(output))
		return tw_say_usage(&tw_command_diff, "a picture does not go to a terminal: -o FILE.svg, or --folded");
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct diff_options *options = (const struct diff_options *)common;
	struct tw_common commons[2] = {*common, *common};
	int status = check_options(options, count);
	if (status)
		return status;
	if (!common->binary && !options->binary_a != !options->binary_b && count == 2)
		tw_say("there is no --binary-%c: the functions of %s may have numbers only, which match no names",
		       options->binary_a ? 'b' : 'a', operands[options->binary_a ? 1 : 0]);
	if (options->binary_a)
		commons[0].binary = options->binary_a;
	if (options->binary_b)
		commons[1].binary = options->binary_b;
	if (!tw_diff_of_functions(options->of))
		return tw_diff_spreads(commons, operands, &(struct tw_diff_choice){common, options->of, options->top});
	return wants_flame(options) ? draw(commons, operands, count, options)
	                            : compare_functions(commons, operands, options);
}

#define MEMBER(name) .offset = offsetof(struct diff_options, name)
static const struct tw_option own_options[] = {
    {"of", 0, TW_OPTION_CHOICE, MEMBER(of), .choice = tw_diff_of_word,
     .help = "what is compared: functions; events (how often, and the times between them); async (operations, from the "
             "last begin of an id to its end); counters (their numbers); gc (pauses); allocations (by class); "
             "instructions (of an xtrace: by class and operation)"},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = tw_diff_word,
     .help = "what is compared; the largest change, up or down, comes first; self otherwise"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
    {"binary-a", 0, TW_OPTION_FILE, MEMBER(binary_a), .placeholder = "FILE",
     .help = "the program of the first trace, where it is not that of --binary"},
    {"binary-b", 0, TW_OPTION_FILE, MEMBER(binary_b), .placeholder = "FILE", .help = "the program of the second trace"},
};
static const struct tw_option flame_options[] = {
    {"flame", 0, TW_OPTION_FLAG, MEMBER(flame),
     .help = "draw a flame graph instead: as wide as after, red where it grew, blue where it shrank. -o FILE.svg and "
             "FILE.html ask for it, too, and FILE.folded for its lines"},
    {"folded", 0, TW_OPTION_FLAG, MEMBER(folded),
     .help = "a line for each stack: its functions, what the last one itself took before, and after"},
    {"normalize", 0, TW_OPTION_FLAG, MEMBER(normalize),
     .help = "scale what was before so that both traces weigh the same in all; with --flame and --folded"},
    {"title", 0, TW_OPTION_TEXT, MEMBER(title), .placeholder = "TEXT",
     .help = "what stands above the picture; the names of the files otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), TW_OPTIONS("Picture", flame_options), &tw_weight_options,
                     &tw_filter_options, &tw_input_options, &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_diff = {
    .name = "diff",
    .summary = "what changed between two traces",
    .operands = "A B",
    .description =
	"Compares two traces, A before and B after. Functions are matched by name: where two builds number their "
	"functions differently, give each its program.\n\n"
	"A change is called noise where the durations on both sides may well be of one source: P is how likely that "
	"is, by a rank test over all of them. Few are marked by chance only, however many functions there are.\n\n"
	"With --flame a single file may be lines of \"stack before after\", which --folded writes.",
    .examples = "trackway diff -n 20 --binary-a old/server --binary-b server old.xray new.xray\tThe largest changes.\n"
		"trackway diff -o changes.svg old.fxt new.fxt\tWhat grew and what shrank.\n",
    .groups = groups,
    .size = sizeof(struct diff_options),
    .least = 1,
    .most = 2,
    .run = run,
};
