/* stat.c - trackway stat: calls and times of each function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/stat.h"

#include "analysis/tool.h"
#include "base/memory/sum.h"
#include "cli/command.h"
#include "cli/files/follow.h"
#include "cli/files/instead.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/profiles.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stat_options {
	struct tw_common common;
	const char *by, *sort;
	uint64_t top;
	bool ascending, recursive, follow;
	bool shown; /* --follow: a table */
};

/* ---- What rows are, and in which order. ---- */

static const char *const by_words[] = {[TW_BY_FUNCTION] = "function", [TW_BY_THREAD] = "thread",
                                       [TW_BY_CALLER] = "caller",     [TW_BY_OBJECT] = "object",
                                       [TW_BY_CLASS] = "class",       [TW_BY_MODULE] = "module",
                                       [TW_BY_LINE] = "line",         [TW_BY_WHOLE_THREAD] = "whole-thread",
                                       [TW_BY_ASYNC] = "async",       NULL};

static enum tw_profile_by by_of(const struct stat_options *options)
{
	return (enum tw_profile_by)tw_word_place(by_words, options->by);
}

/* Samples have none of the columns that are about single calls, and do not recur. */
static int refuse(const struct stat_options *options, enum tw_weight weight)
{
	const char *word = options->sort;
	if (options->recursive && (tw_weight_is_sampled(weight) || by_of(options) == TW_BY_ASYNC))
		return tw_say_usage(&tw_command_stat, "--recursive is about calls");
	if (word && tw_weight_is_sampled(weight) && tw_stat_sorts_ended(word))
		return tw_say_usage(&tw_command_stat, "--sort %s is about calls: samples have no duration", word);
	return 0;
}

static bool collect(struct tw_stat_rows *rows, struct tw_profile *profile, const struct stat_options *options)
{
	const struct tw_profile_row *row;
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++) {
		rows->self = tw_sum(rows->self, row->self);
		rows->counted |= row->count > 0;
		if (options->recursive && row->count == 0)
			continue;
		if (rows->by != TW_BY_WHOLE_THREAD && !tw_function_wanted(&options->common, row->name))
			continue;
		if (!tw_rows_add(&rows->list, row))
			return false;
		rows->notes.open += row->open;
		rows->notes.unwound += row->unwound;
	}
	tw_stat_sort(rows, options->sort ? options->sort : "self", options->ascending, options->top);
	return true;
}

/* ---- The command. ---- */

static int put_rows(const struct tw_stat_rows *rows, const struct stat_options *options,
                    const struct tw_profile_notes *notes)
{
	struct tw_screen screen = {0};
	int status = tw_screen_open_form(&screen, &options->common);
	if (status)
		return status;
	if (options->common.forms.json)
		tw_stat_put_json(&screen.out, rows);
	else
		status = tw_stat_put_text(&screen, rows, notes);
	return tw_screen_end(&screen, status);
}

/* NULL where the message tells the weight. */
static const char *what_rows_are(const struct tw_stat_rows *rows)
{
	if (rows->by == TW_BY_ASYNC)
		return "asynchronous operation";
	return tw_weight_is_sampled(rows->weight) ? NULL : "call";
}

static int show(struct tw_profile *profile, const struct stat_options *options, char **paths, size_t count)
{
	struct tw_stat_rows rows = {.by = by_of(options),
	                            .weight = tw_profile_weight(profile),
	                            .notes.async = by_of(options) == TW_BY_ASYNC};
	int status = refuse(options, rows.weight);
	if (status)
		return status;
	if (collect(&rows, profile, options)) {
		const struct tw_profile_row *first = rows.list.count ? rows.list.items[0] : NULL;
		if (first && !options->common.forms.json)
			tw_say_numbers(&options->common, first->name, first->id);
		if (rows.list.count == 0 && options->recursive) {
			tw_say("no function is called again before it has returned");
		} else if (rows.list.count == 0) {
			tw_say_weightless(&options->common, rows.weight, tw_profile_row(profile, 0) != NULL);
			tw_say_instead(&options->common, what_rows_are(&rows), UINT32_MAX, paths, count);
		}
		status = put_rows(&rows, options, tw_profile_notes(profile));
	} else {
		status = tw_say_error("out of memory");
	}
	free(rows.list.items);
	return status;
}

static int count_files(const struct stat_options *options, char **operands, size_t count)
{
	const struct tw_common *common = &options->common;
	struct tw_profiling profiling = {.common = common, .by = by_of(options), .recursive = options->recursive};
	int status = tw_profile_files(&profiling, operands, count);
	if (profiling.readable) {
		status = tw_worse(status, show(profiling.profile, options, operands, count));
	}
	tw_profile_free(profiling.profile);
	return status;
}

/* Counts anew. On a terminal a table takes the place of the one before; otherwise they stand one below the other. */
static int count_again(void *context, char **paths, bool last)
{
	struct stat_options *options = context;
	const char *between = "";
	(void)last;
	if (tw_goes_to_terminal(options->common.output))
		between = "\033[H\033[2J";
	else if (options->shown && !options->common.output && options->common.forms.chosen == TW_FORM_TEXT)
		between = "\n";
	if (write(STDOUT_FILENO, between, strlen(between)) < 0)
		return TW_EXIT_FAILED;
	options->shown = true;
	return count_files(options, paths, 1);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct stat_options *options = (struct stat_options *)common;
	if (!options->follow)
		return count_files(options, operands, count);
	if (count > 1)
		return tw_say_usage(&tw_command_stat, "--follow reads one FILE");
	return tw_follow(operands[0], count_again, options);
}

static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, offsetof(struct stat_options, by), .words = by_words,
     .help = "what makes a row: each function, each function in each thread, each function under each caller, each "
             "function with each object (the first with a name that a pointer or koid among its arguments leads "
             "to; of FXT); of samples also each class, module, line of the source (where none is known, the place "
             "in the function: an offset in the intermediate language, or an address), or thread, whatever its "
             "functions; or each asynchronous operation, by its name, from its begin to its end on whatever thread"},
    {"sort", 's', TW_OPTION_CHOICE, offsetof(struct stat_options, sort), .words = tw_stat_sort_words,
     .help = "the column to sort by, largest first; self otherwise"},
    {"ascending", 0, TW_OPTION_FLAG, offsetof(struct stat_options, ascending), .help = "sort the smallest first"},
    {"recursive", 0, TW_OPTION_FLAG, offsetof(struct stat_options, recursive),
     .help = "only calls that recur: those inside of another call of the same function, and those that held one"},
    {"top", 'n', TW_OPTION_COUNT, offsetof(struct stat_options, top), .placeholder = "N",
     .help = "only the first N rows; 0, the default, shows all"},
    {"follow", 'F', TW_OPTION_FLAG, offsetof(struct stat_options, follow),
     .help = "count anew as more comes: of a pipe until it ends, of a file until this is interrupted"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), &tw_weight_options, &tw_filter_options, &tw_input_options,
                     &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_stat = {
    .name = "stat",
    .summary = "calls and times of each function",
    .operands = "FILE...",
    .description =
	"Counts the calls of each function and adds up their times; of several files, together.\n\n"
	"TOTAL is the time between entry and exit; of a recursive function each nanosecond counts once. SELF is the "
	"total less the calls made directly inside; SELF % is its part of the time in all functions, also in those "
	"that --function leaves out. MIN, MAX and the percentiles are over single calls that were seen to end; "
	"percentiles are at most 1 % off. Of calls that reach out of --from-time and --to-time only the part inside "
	"counts, for all columns. A tail exit ends the function that leaves. Calls that an exit further down the "
	"stack ends, and calls still open at the end, are counted and told below the table. With --function only rows "
	"of matching functions are shown; their times are not changed by it. Calls that --min-duration leaves out are "
	"their caller's own time.\n\n"
	"Of a trace with samples, SELF is what the samples weigh whose innermost function it is, TOTAL what all "
	"samples weigh that have it anywhere in their stacks, each once, however deep the recursion; --weight says "
	"what is weighed. Percentages are of all samples. Samples without a stack are those of \"(no stack)\".\n\n"
	"Of an xtrace times are instructions; of several threads those of the clock that they share: a call also takes "
	"what its thread waits for the others. What each function executed is told by 'trackway calls', and for one "
	"thread by --thread.",
    .examples = "trackway stat -b ./server server.xray\tTimes by function, with names from the program.\n"
		"trackway stat --weight bytes --by class app.log\tWhich classes allocate.\n"
		"trackway stat --weight cpu --by whole-thread app.log\tHow much each thread computes.\n"
		"trackway stat --by thread --sort total -n 10 server.xray\tThe ten rows with the most time in all.\n"
		"trackway stat --follow -n 20 server.fxt\tThe table of a program that runs.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct stat_options),
    .least = 1,
    .run = run,
};
