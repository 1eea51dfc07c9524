/* insns.c - trackway insns: the mix of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "cli/instructions/tool_file.h"
#include "cli/output/message.h"
#include "study/tool.h"

struct insns_options {
	struct tw_study_common common; /* first */
	const char *tool;
	bool tasks;
};

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct insns_options *options = (const struct insns_options *)common;
	struct tw_tool_file file = {0};
	if (options->tool && options->tasks)
		return tw_say_usage(&tw_command_insns, "only one of --tool and --tasks");
	if (common->forms.chosen == TW_FORM_SVG && !options->tasks)
		return tw_say_usage(&tw_command_insns, "a picture is of --tasks");
	int status = options->tool ? tw_tool_open(&file, options->tool) : 0;
	enum tw_study_kind kind = options->tasks ? TW_STUDY_TASKS : TW_STUDY_INSNS;
	const struct tw_study_options study = {.kind = options->tool ? TW_STUDY_TOOL : kind, .tool = file.tool};
	if (status == 0)
		status =
		    tw_study_show(&options->common, &study, &tw_command_insns, study_render_tasks, operands, count);
	tw_tool_close(&file);
	return status;
}

static const struct tw_option own_options[] = {
    {"tasks", 0, TW_OPTION_FLAG, offsetof(struct insns_options, tasks),
     .help = "the schedule of each core of a trace with the kernel instead: which task was executed when, how often "
             "tasks were switched, and how much of each was the kernel; -o FILE.svg draws it"},
    {"tool", 0, TW_OPTION_FILE, offsetof(struct insns_options, tool), .placeholder = "FILE.so",
     .help =
         "an analysis of your own instead: a shared object that exports tw_study_tool, as trackway/study.h describes "
         "it; examples/unaligned.c is one"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Analysis", own_options), &tw_study_row_options, &tw_study_range_options,
                     &tw_input_options, &tw_jobs_options, &tw_study_picture_options);

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
		"trackway insns --json --all -b ./program trace\tEvery mnemonic and function, for a script.\n"
		"trackway insns --tasks trace\tWhich task each core executed when.\n"
		"trackway insns --tasks trace -o tasks.svg\tThe same as a picture.\n"
		"trackway insns --tool ./unaligned.so trace\tAn analysis of your own, over all threads.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct insns_options),
    .least = 1,
    .most = 1,
    .run = run,
};
