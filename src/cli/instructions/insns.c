/* insns.c - trackway insns: the mix of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct tw_study_common *options = (const struct tw_study_common *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_INSNS};
	return tw_study_show(options, &study, &tw_command_insns, NULL, operands, count);
}

static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(&tw_study_row_options, &tw_study_range_options, &tw_input_options, &tw_jobs_options,
                     &tw_output_options);

const struct tw_command tw_command_insns = {
    .name = "insns",
    .summary = "which instructions were executed",
    .operands = "DIR",
    .description =
	"Counts the instructions of a trace by exception level, by class, by mnemonic and by function.\n\n"
	"A function is where a call leads; what is jumped to belongs to the function that jumps. The classes are by "
	"Arm's table of encodings: \"atomic\" has all that is exclusive or orders memory, \"vector\" also scalars in "
	"the encodings of Advanced SIMD, \"other\" prefetches and what is not allocated.",
    .examples = "trackway insns trace\tThe mix of all threads.\n"
		"trackway insns --json --all -b ./program trace\tEvery mnemonic and function, for a script.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct tw_study_common),
    .least = 1,
    .most = 1,
    .run = run,
};
