/* blocks.c - trackway blocks: the hottest basic blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct tw_study_common *options = (const struct tw_study_common *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_BLOCKS};
	return tw_study_show(options, &study, &tw_command_blocks, NULL, operands, count);
}

static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(&tw_study_row_options, &tw_study_range_options, &tw_input_options, &tw_jobs_options,
                     &tw_output_options);

const struct tw_command tw_command_blocks = {
    .name = "blocks",
    .summary = "the basic blocks in which most instructions were executed",
    .operands = "DIR",
    .description =
	"Lists basic blocks with their disassembly, by the instructions that were executed in them.\n\n"
	"A block goes from where control arrives to the next branch or system call. One that is also jumped into is "
	"there more than once: what is executed after the jump counts for the block that begins there.",
    .examples = "trackway blocks -n 5 trace\tThe five hottest.\n"
		"trackway blocks --json --all trace\tAll of them, for a script.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct tw_study_common),
    .least = 1,
    .most = 1,
    .run = run,
};
