/* calls.c - trackway calls: the tree of calls, weighed by instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "study/tool.h"

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct tw_study_common *options = (const struct tw_study_common *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_CALLS};
	return tw_study_show(options, &study, &tw_command_calls, study_render_calls, operands, count);
}

static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(&tw_study_row_options, &tw_study_range_options, &tw_input_options, &tw_jobs_options,
                     &tw_study_picture_options);

const struct tw_command tw_command_calls = {
    .name = "calls",
    .summary = "who calls whom, by the instructions that were executed",
    .operands = "DIR",
    .description =
	"Tells how many instructions each function executed, itself and with all that it called, and the tree of "
	"calls, the largest first; of all threads together. The picture is a flame graph.\n\n"
	"A call begins where BL or BLR leads, and ends where a return leads behind it or further out. A function that "
	"calls itself is counted once in its own total.",
    .examples = "trackway calls -b ./program trace\tBy name.\n"
		"trackway calls trace -o calls.svg\tA flame graph.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct tw_study_common),
    .least = 1,
    .most = 1,
    .run = run,
};
