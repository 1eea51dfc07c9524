/* diff.c - trackway diff: what changed between two traces, function by function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff.h"

#include "cli/command.h"
#include "cli/message.h"
#include "cli/profiles.h"

struct diff_options {
	struct tw_common common;
	const char *binary_a, *binary_b, *sort;
	uint64_t top;
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
	int closed = tw_screen_close(&screen);
	return closed ? closed : status;
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
		return tw_say_error("the first trace tells of %s, the second of %s: they cannot be compared",
		                    tw_weight_name(view.weight), tw_weight_name(tw_profile_weight(b)));
	if (view.by == TW_DIFF_P50 && view.weight > TW_WEIGHT_CALLS)
		return tw_say_error("samples have no durations: --sort p50 is for calls");
	if (tw_diff_new(&diff, a, b, view.by) < 0)
		return tw_say_error("out of memory");
	view.diff = diff;
	int status = put_diff(&view);
	tw_diff_free(diff);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct diff_options *options = (const struct diff_options *)common;
	struct tw_common commons[2] = {*common, *common};
	struct tw_profiling sides[2] = {{.common = &commons[0], .halved = true},
	                                {.common = &commons[1], .halved = true}};
	(void)count;
	if (!common->binary && !options->binary_a != !options->binary_b)
		tw_say("there is no --binary-%c: the functions of %s may have numbers only, which match no names",
		       options->binary_a ? 'b' : 'a', operands[options->binary_a ? 1 : 0]);
	if (options->binary_a)
		commons[0].binary = options->binary_a;
	if (options->binary_b)
		commons[1].binary = options->binary_b;
	int status = 0;
	for (size_t i = 0; i < 2; i++) {
		int side = tw_profile_files(&sides[i], &operands[i], 1);
		status = side > status ? side : status;
	}
	if (sides[0].readable && sides[1].readable) {
		int shown = compare(sides[0].profile, sides[1].profile, options);
		status = shown > status ? shown : status;
	}
	tw_profile_free(sides[0].profile);
	tw_profile_free(sides[1].profile);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct diff_options, name)
static const struct tw_option own_options[] = {
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = tw_diff_word,
     .help = "what is compared; the largest change, up or down, comes first; self otherwise"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
    {"binary-a", 0, TW_OPTION_FILE, MEMBER(binary_a), .placeholder = "FILE",
     .help = "the program of the first trace, where it is not that of --binary"},
    {"binary-b", 0, TW_OPTION_FILE, MEMBER(binary_b), .placeholder = "FILE", .help = "the program of the second trace"},
};
static const struct tw_option_group own_group = {"Rows", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group,         &tw_weight_options,
                                                       &tw_filter_options, &tw_input_options,
                                                       &tw_jobs_options,   &tw_output_options,
                                                       &tw_help_options,   NULL};

const struct tw_command tw_command_diff = {
    .name = "diff",
    .summary = "what changed between two traces, function by function",
    .operands = "A B",
    .description =
	"Compares two traces, A before and B after. Functions are matched by name: where two builds number their functions "
	"differently, give each its program.",
    .examples = "trackway diff -n 20 --binary-a old/server --binary-b server old.xray new.xray\tThe largest changes.\n",
    .groups = groups,
    .size = sizeof(struct diff_options),
    .least = 2,
    .most = 2,
    .run = run,
};
