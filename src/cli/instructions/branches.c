/* branches.c - trackway branches: how often branches are taken, foreseen, and where they go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"

struct branches_options {
	struct tw_study_common common; /* first */
	uint64_t history;
};

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct branches_options *options = (const struct branches_options *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_BRANCHES, .history = (unsigned)options->history};
	return tw_study_show(&options->common, &study, &tw_command_branches, NULL, operands, count);
}

static const struct tw_option own_options[] = {
    {"history", 0, TW_OPTION_COUNT, offsetof(struct branches_options, history), .placeholder = "BITS", .least = 1,
     .most = TW_STUDY_HISTORY_MOST,
     .help = "how many outcomes the predictor knows: it has 2 to the power of that many counters; 12 otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Model", own_options), &tw_study_row_options, &tw_study_range_options,
                     &tw_input_options, &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_branches = {
    .name = "branches",
    .summary = "how often branches are taken and mispredicted, and where they go",
    .operands = "DIR",
    .description =
	"Tells of each kind of branch, of each conditional branch and of each indirect one how often it was executed, "
	"taken, and mispredicted by a simple model; of indirect ones the targets.\n\n"
	"Conditional branches are predicted by gshare: counters of 2 bits, weakly \"not taken\" to begin, chosen by "
	"the address / 4 exclusive-or the outcomes of the last branches, the newest in bit 0. Returns by a stack of "
	"16 addresses, other indirect branches by where they went the last time. Each thread has its own predictor.",
    .examples = "trackway branches trace\tThe branches that are mispredicted most.\n"
		"trackway branches --history 16 --json trace\tWith a larger predictor.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct branches_options),
    .least = 1,
    .most = 1,
    .run = run,
};
