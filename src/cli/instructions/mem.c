/* mem.c - trackway mem: how memory was accessed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "cli/output/message.h"
#include "study/tool.h"

struct mem_options {
	struct tw_study_common common; /* first */
	uint64_t interval, page;
	bool reuse;
};

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct mem_options *options = (const struct mem_options *)common;
	const struct tw_study_options study = {.kind = TW_STUDY_MEM,
	                                       .interval = options->interval,
	                                       .page = options->page,
	                                       .reuse = options->reuse};
	if (options->reuse && common->forms.chosen == TW_FORM_SVG)
		return tw_say_usage(&tw_command_mem, "a picture is of the footprint: --reuse does nothing");
	return tw_study_show(&options->common, &study, &tw_command_mem, study_render_footprint, operands, count);
}

static const struct tw_option own_options[] = {
    {"interval", 0, TW_OPTION_COUNT, offsetof(struct mem_options, interval), .placeholder = "N", .least = 1,
     .help = "a row of the footprint for so many instructions of a thread; 1000000 otherwise"},
    {"page", 0, TW_OPTION_SIZE, offsetof(struct mem_options, page), .placeholder = "SIZE", .least = 4096,
     .help = "the size of all pages, as the kernel has them: \"16K\", \"64K\"; 4K otherwise"},
    {"reuse", 0, TW_OPTION_FLAG, offsetof(struct mem_options, reuse),
     .help = "tell reuse distances as well: how many other lines were touched between two accesses of a line"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Memory", own_options), &tw_study_row_options, &tw_study_range_options,
                     &tw_input_options, &tw_jobs_options, &tw_study_picture_options);

const struct tw_command tw_command_mem = {
    .name = "mem",
    .summary = "how memory was accessed: sizes, strides, footprint, sharing, reuse",
    .operands = "DIR",
    .description =
	"Tells how many bytes instructions load and store at once, from one access of an instruction to its next how "
	"far it is, how many lines of 64 bytes and pages of 4 KiB each interval touches (its working set) and how they "
	"add up (the footprint), which lines are accessed most, and which are shared between threads.\n\n"
	"What one instruction loads, or stores, without a gap is one access. A line that threads share and write is "
	"told apart by whether any byte that one wrote was touched by another: otherwise they only share the line.\n\n"
	"With --reuse: a cache of N lines, fully associative and LRU, hits where the distance is less than N. The "
	"picture is the footprint over time.",
    .examples = "trackway mem --interval 100000 trace\tThe working set of each 100,000 instructions.\n"
		"trackway mem --reuse --json trace\tWith reuse distances, for a script.\n"
		"trackway mem trace -o footprint.svg\tThe footprint over time.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct mem_options),
    .least = 1,
    .most = 1,
    .run = run,
};
