/* syscalls.c - trackway syscalls: the system calls of a traced program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct tw_study_common *options = (const struct tw_study_common *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_SYSCALLS};
	return tw_study_show(options, &study, &tw_command_syscalls, NULL, operands, count);
}

static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(&tw_study_row_options, &tw_study_range_options, &tw_input_options, &tw_jobs_options,
                     &tw_output_options);

const struct tw_command tw_command_syscalls = {
    .name = "syscalls",
    .summary = "which system calls were made, with arguments and results",
    .operands = "DIR",
    .description =
	"Counts the system calls by name, with the errors that they returned, and lists them in the order of each "
	"thread, as strace does: flags and errors by name, addresses as they are, since a trace does not say what "
	"text is there.\n\n"
	"What has not returned when the trace ends, or is left by the end of its thread, is shown as \"= ?\".",
    .examples = "trackway syscalls trace\tThe counts, and the first twenty.\n"
		"trackway syscalls --all --thread 1234 trace\tAll that a thread did.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct tw_study_common),
    .least = 1,
    .most = 1,
    .run = run,
};
