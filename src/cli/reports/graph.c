/* graph.c - trackway graph: who calls whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "cli/command.h"
#include "cli/files/instead.h"
#include "cli/files/spooled_stdin.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/profiles.h"

#include <stdlib.h>
#include <string.h>

struct graph_options {
	struct tw_common common;
	const char *title;
	uint64_t top;
};

static bool is_wanted(const void *common, const char *name)
{
	return tw_function_wanted(common, name);
}

/* With --function: the edges that touch a function that matches, and the functions at their ends. */
static bool select_rows(struct tw_rows *functions, struct tw_rows *edges, const struct tw_common *common,
                        enum tw_weight weight)
{
	bool any = functions->count > 0;
	if (common->filter.function && tw_rows_select(functions, edges, is_wanted, common) < 0)
		return false;
	if (functions->count == 0)
		tw_say_weightless(common, weight, any);
	return true;
}

/* ---- The command. ---- */

static int put_graph(const struct tw_rows *functions, const struct tw_rows *edges, const struct graph_options *options,
                     enum tw_weight weight)
{
	struct tw_screen screen = {0};
	const struct tw_graph_options graph = {
	    .weight = weight,
	    .form = options->common.forms.json ? TW_GRAPH_JSON : TW_GRAPH_DOT,
	    .title = options->title,
	    .top = (size_t)options->top,
	};
	if (tw_screen_open_form(&screen, &options->common))
		return TW_EXIT_FAILED;
	if (tw_graph_render(&screen.out, functions, edges, &graph) == 0)
		return tw_screen_close(&screen);
	tw_screen_discard(&screen);
	return tw_say_error("out of memory");
}

static int write_graph(struct tw_profile *functions, struct tw_profile *callers, const struct graph_options *options)
{
	struct tw_rows nodes = {0}, edges = {0};
	enum tw_weight weight = tw_profile_weight(functions);
	int status;
	if (tw_rows_of(&nodes, functions) < 0 || tw_rows_of(&edges, callers) < 0 ||
	    !select_rows(&nodes, &edges, &options->common, weight))
		status = tw_say_error("out of memory");
	else
		status = put_graph(&nodes, &edges, options, weight);
	free(nodes.rows);
	free(edges.rows);
	return status;
}

/* The graph needs two profiles: the files are read twice. */
static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct graph_options *options = (const struct graph_options *)common;
	struct tw_profiling functions = {.common = common, .by = TW_BY_FUNCTION, .parts = 2};
	struct tw_profiling callers = {.common = common, .by = TW_BY_CALLER, .parts = 2};
	if (options->title && common->forms.chosen != TW_FORM_DOT)
		return tw_say_usage(&tw_command_graph, "--title is about DOT");
	int status = tw_spool_stdin(operands, count);
	if (status)
		return status;
	status = tw_profile_files(&functions, operands, count);
	if (functions.readable) {
		tw_rewind_input(operands, count);
		callers.earlier = functions.profile;
		status = tw_worse(status, tw_profile_files(&callers, operands, count));
	}
	if (callers.readable) {
		const bool sampled = tw_weight_is_sampled(tw_profile_weight(functions.profile));
		const struct tw_profile_row *first = tw_profile_row(functions.profile, 0);
		if (!common->forms.json)
			tw_say_numbers_of_profile(common, functions.profile);
		if (!first)
			tw_say_instead(common, sampled ? NULL : "call", UINT32_MAX, operands, count);
		status = tw_worse(status, write_graph(functions.profile, callers.profile, options));
	}
	tw_profile_free(functions.profile);
	tw_profile_free(callers.profile);
	return status;
}

static const struct tw_option own_options[] = {
    {"dot", 0, TW_OPTION_FLAG, offsetof(struct graph_options, common.forms.dot),
     .help = "write DOT, for Graphviz; the default"},
    {"title", 0, TW_OPTION_TEXT, offsetof(struct graph_options, title), .placeholder = "TEXT",
     .help = "the title of the graph"},
    {"top", 'n', TW_OPTION_COUNT, offsetof(struct graph_options, top), .placeholder = "N",
     .help = "only the N functions with the most time in all; 0, the default, draws all"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Graph", own_options), &tw_weight_options, &tw_filter_options, &tw_input_options,
                     &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_graph = {
    .name = "graph",
    .summary = "who calls whom, how often and how long",
    .operands = "FILE...",
    .description =
	"Writes the graph of calls: a node for each function with its calls and times, an edge for each caller and "
	"callee.\n\n"
	"With --function only the edges that touch a matching function are kept. The files are read twice.",
    .examples = "trackway graph -n 30 -b ./server server.xray | dot -Tsvg -o calls.svg\tDraws the thirty largest.\n"
		"trackway graph --json server.xray\tNodes and edges for a script.\n",
    .groups = groups,
    .form = TW_FORM_DOT,
    .forms = 1u << TW_FORM_DOT | 1u << TW_FORM_JSON,
    .from_rows = 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN,
    .size = sizeof(struct graph_options),
    .least = 1,
    .run = run,
};
