/* flame.c - trackway flame: a flame graph, or stacks folded for other tools. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "cli/command.h"
#include "cli/files/instead.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/diff.h"
#include "cli/reports/tree.h"

#include <ctype.h>
#include <stdlib.h>

struct flame_options {
	struct tw_common common;
	bool icicle;
	struct tw_tree_options tree;
	const char *title, *min_width;
	double min_share; /* of --min-width */
};

static int render(struct tw_output *out, const struct tw_tree *tree, const struct flame_options *options)
{
	const struct tw_flame_options flame = {
	    .weight = tree->weight,
	    .title = options->title,
	    .form = options->common.forms.chosen == TW_FORM_HTML ? TW_FLAME_HTML : TW_FLAME_SVG,
	    .inverted = options->icicle,
	    .min_share = options->min_share,
	    .sampled_bytes = tree->sampled_bytes,
	    .max_depth = tw_tree_depth(&options->tree) + 2, /* two more: "(deeper)", and the thread at the bottom */
	};
	if (options->common.forms.chosen == TW_FORM_FOLDED)
		return tw_folded_render(out, tree->nodes.nodes, (uint32_t)tree->nodes.count);
	if (options->common.forms.json)
		return tw_calltree_json_render(out, tree->nodes.nodes, (uint32_t)tree->nodes.count, tree->weight);
	return tw_flame_render(out, tree->nodes.nodes, (uint32_t)tree->nodes.count, &flame);
}

static int write_graph(struct tw_tree *tree, const struct flame_options *options)
{
	struct tw_screen screen = {0};
	bool any = tree->nodes.count > 1;
	if (tw_tree_cut(tree, &options->common) < 0)
		return tw_say_error("out of memory");
	if (tree->nodes.count <= 1)
		tw_say_weightless(&options->common, tree->weight, any);
	if (tw_screen_open_form(&screen, &options->common))
		return TW_EXIT_FAILED;
	if (render(&screen.out, tree, options) == 0)
		return tw_screen_close(&screen);
	tw_screen_discard(&screen);
	return tw_say_error("out of memory");
}

/* A part of the picture, in percent: "0.01", "0.01%". 0 is all. False where it is none. */
static bool take_width(struct flame_options *options)
{
	char *end;
	double percent = strtod(options->min_width, &end);
	options->min_share = percent > 0 ? percent / 100 : -1;
	end += *end == '%';
	return isdigit((unsigned char)*options->min_width) && !*end && percent <= 100;
}

static int check_options(struct flame_options *options)
{
	bool picture = options->common.forms.chosen == TW_FORM_SVG || options->common.forms.chosen == TW_FORM_HTML;
	if ((options->icicle || options->title || options->min_width) && !picture)
		return tw_say_usage(&tw_command_flame, "--%s is about pictures",
		                    options->icicle  ? "icicle"
		                    : options->title ? "title"
		                                     : "min-width");
	if (options->min_width && !take_width(options))
		return tw_say_usage(&tw_command_flame, "--min-width: \"%s\" is no part in percent", options->min_width);
	return 0;
}

/* Stacks with two counts each are those of before and after. */
static int draw_changes(const struct flame_options *options, const char *path)
{
	const struct tw_diff_flame flame = {
	    .output = options->common.output,
	    .title = options->title,
	    .form = options->common.forms.chosen,
	    .inverted = options->icicle,
	    .min_share = options->min_share,
	};
	return tw_diff_flame_lines(&options->common, path, &flame);
}

static int draw(struct flame_options *options, char **operands, size_t count)
{
	const struct tw_common *common = &options->common;
	struct tw_tree tree;
	if (count == 1 && !common->forms.json && !common->filter.function && tw_diff_is_both(common, operands[0]))
		return draw_changes(options, operands[0]);
	int status = tw_tree_read(&tree, common, &options->tree, operands, count);
	if (tree.nodes.count) {
		if (tree.nodes.count == 1)
			tw_say_instead(common, tw_weight_is_sampled(tree.weight) ? NULL : "call", UINT32_MAX, operands,
			               count);
		status = tw_worse(status, write_graph(&tree, options));
	}
	tw_tree_free(&tree);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct flame_options *options = (struct flame_options *)common;
	struct tw_text title = {0};
	int status = check_options(options);
	if (status)
		return status;
	if (!options->title && !tw_text_add_files(&title, operands, count)) {
		tw_text_free(&title);
		return tw_say_error("out of memory");
	}
	options->title = options->title ? options->title : title.bytes;
	status = draw(options, operands, count);
	tw_text_free(&title);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct flame_options, name)
static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "where to write; .svg, .html, .folded, .json and .csv tell the form, and .gz or .zst behind them the "
             "compression. - is standard output, the default"},
    {"svg", 0, TW_OPTION_FLAG, MEMBER(common.forms.svg),
     .help = "a picture that zooms and searches in a browser; the default"},
    {"html", 0, TW_OPTION_FLAG, MEMBER(common.forms.html), .help = "the same in a page"},
    {"folded", 0, TW_OPTION_FLAG, MEMBER(common.forms.folded),
     .help =
         "a line for each stack: its functions, and the nanoseconds of the last one itself; samples, bytes or objects, "
         "where they are what is counted"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.forms.json),
     .help =
         "JSON Lines: an object for each node of the graph, depth first, with the numbers of its parent and children"},
    TW_OPTION_CSV_ROWS,
    TW_OPTION_CSV_SAFE_ROWS,
    TW_OPTION_MARKDOWN,
    {"icicle", 0, TW_OPTION_FLAG, MEMBER(icicle), .help = "the outermost functions on top"},
    {"title", 0, TW_OPTION_TEXT, MEMBER(title), .placeholder = "TEXT",
     .help = "what stands above the picture; the names of the files otherwise"},
    {"min-width", 0, TW_OPTION_TEXT, MEMBER(min_width), .placeholder = "PERCENT",
     .help = "frames that are narrower than this part of the picture are left out, which is told; 0.001 otherwise, 0 "
             "keeps all"},
    {"per-thread", 'p', TW_OPTION_FLAG, MEMBER(tree.per_thread), .help = "a tower for each thread"},
    {"max-depth", 0, TW_OPTION_COUNT, MEMBER(tree.max_depth), .placeholder = "N", .least = 1,
     .help = "how many functions of a stack are told apart; those further in are \"(deeper)\". 1000 otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options), &tw_weight_options, &tw_filter_options, &tw_input_options,
                     &tw_jobs_options);

const struct tw_command tw_command_flame = {
    .name = "flame",
    .summary = "a flame graph, or stacks folded for other tools",
    .operands = "FILE... -o OUT",
    .description =
	"Draws where the time went: each function as wide as the time spent in it, above the function that called it; "
	"of a trace with samples, as wide as --weight says: samples, times, bytes or objects. With --weight count "
	"it is as wide as its calls and those of all that it called. The file needs no other and no network. "
	"Folded stacks are what flamegraph.pl, speedscope and others read.\n\n"
	"With --function the stacks begin at the outermost function that matches.",
    .examples = "trackway flame -b ./server server.xray -o server.svg\tOpen it in a browser.\n"
		"trackway flame -w count -b ./server server.xray -o calls.svg\tWhere it calls most, however short.\n"
		"trackway flame --folded -f 'handle_*' server.xray\tOnly what happens inside the handlers.\n",
    .groups = groups,
    .form = TW_FORM_SVG,
    .forms = 1u << TW_FORM_SVG | 1u << TW_FORM_HTML | 1u << TW_FORM_FOLDED | 1u << TW_FORM_JSON,
    .from_rows = 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN,
    .size = sizeof(struct flame_options),
    .least = 1,
    .run = run,
};
