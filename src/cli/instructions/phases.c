/* phases.c - trackway phases: intervals that stand for the others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "cli/instructions/vector_files.h"
#include "cli/output/message.h"
#include "study/tool.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct phases_options {
	struct tw_study_common common; /* first */
	uint64_t interval, most;
	const char *save;
};

struct simpoint_file {
	const char *suffix;
	void (*write)(struct tw_output *out, const struct tw_study *study);
};

static int write_file(const char *prefix, const struct simpoint_file *file, const struct tw_study *study)
{
	char path[PATH_MAX];
	struct tw_output out;
	if (snprintf(path, sizeof path, "%s%s", prefix, file->suffix) >= (int)sizeof path)
		return tw_say_error("%s: the name is too long", prefix);
	int error = tw_output_open(&out, path);
	if (!error) {
		file->write(&out, study);
		error = tw_output_close(&out);
	}
	return error ? tw_say_error("%s: %s", path, strerror(error)) : 0;
}

static int write_files(const struct tw_study_common *common, const struct tw_study *study)
{
	static const struct simpoint_file files[] = {
	    {".bb", study_write_vectors},
	    {".simpoints", study_write_simpoints},
	    {".weights", study_write_weights},
	    {".windows", study_write_windows},
	};
	const struct phases_options *options = (const struct phases_options *)common;
	int status = 0;
	for (size_t i = 0; options->save && status == 0 && i < sizeof files / sizeof *files; i++)
		status = write_file(options->save, &files[i], study);
	return status;
}

/* Of vectors that were recorded alone, or by others. */
static int show_vectors(const struct phases_options *options, struct tw_study_options *wanted,
                        const struct tw_vector_files *files, char *operand)
{
	char fault[STUDY_FAULT_ROOM];
	const struct tw_common *common = &options->common.common;
	const struct study_vectors vectors = {.paths = (const char *const *)files->paths,
	                                      .count = files->count,
	                                      .threads = common->filter.threads.items,
	                                      .thread_count = common->filter.threads.count,
	                                      .fault = fault};
	struct tw_study *study;
	wanted->memory_limit = (size_t)common->limits.memory;
	int status = study_read_vectors(&study, &vectors, wanted) < 0
	                 ? tw_say_error("%s", fault)
	                 : tw_study_show_made(&options->common, study, study_render_phases, operand);
	tw_study_free(study);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct phases_options *options = (struct phases_options *)common;
	struct tw_study_options study = {.kind = TW_STUDY_PHASES,
	                                 .interval = options->interval,
	                                 .phases = (unsigned)options->most};
	struct tw_vector_files files;
	options->common.write = write_files;
	int status = tw_vector_files_find(&files, operands[0]);
	if (status == 0 && !files.count)
		status =
		    tw_study_show(&options->common, &study, &tw_command_phases, study_render_phases, operands, count);
	else if (status == 0)
		status = show_vectors(options, &study, &files, operands[0]);
	tw_vector_files_free(&files);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct phases_options, name)
static const struct tw_option own_options[] = {
    {"interval", 0, TW_OPTION_COUNT, MEMBER(interval), .placeholder = "N", .least = 1, .most = UINT32_MAX,
     .help = "intervals of so many instructions of a thread; 1000000 otherwise"},
    {"max-phases", 'k', TW_OPTION_COUNT, MEMBER(most), .placeholder = "K", .least = 1, .most = TW_STUDY_PHASES_MOST,
     .help = "at most K phases; 30 otherwise"},
    {"save", 0, TW_OPTION_FILE, MEMBER(save), .placeholder = "PREFIX",
     .help = "write PREFIX.bb, PREFIX.simpoints and PREFIX.weights, as SimPoint has them, and PREFIX.windows, by which "
             "record records them"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Phases", own_options), &tw_study_row_options, &tw_study_range_options,
                     &tw_input_options, &tw_jobs_options, &tw_study_picture_options);

const struct tw_command tw_command_phases = {
    .name = "phases",
    .summary = "intervals of an xtrace that stand for the others",
    .operands = "DIR",
    .description =
	"Cuts each thread into intervals, counts for each how many instructions it executes in which basic block, and "
	"puts together those that do the same: a phase. Of each phase it names the interval nearest to its middle, "
	"and the weight that what is measured of it has for the whole trace.\n\n"
	"Phases are found as SimPoint finds them: vectors of shares, projected to 15 dimensions; k-means, begun by "
	"k-means++ five times for each number of phases; of the numbers whose score (the Bayesian information "
	"criterion) is at least 90 % of the way from the worst to the best, the smallest. The same trace has the same "
	"phases everywhere.\n\n"
	"With --save: vectors (a line for each interval: \"T\", then \":BLOCK:INSTRUCTIONS \"), chosen intervals "
	"(\"INTERVAL PHASE\", from 0), weights (\"WEIGHT PHASE\"), and of windows to record \"FROM LENGTH PHASE WEIGHT "
	"THREAD\", threads counted from 0. The picture is the phases over time.\n\n"
	"Instead of a trace it takes the vectors that record --bbv has written to DIR, which need none, or a file of "
	"such lines, named .bb, whoever made it. Their intervals have their own length.",
    .examples = "trackway phases trace\tWhich intervals to simulate.\n"
		"trackway phases --interval 100000 --save app trace\tapp.bb, app.simpoints, app.weights and "
		"app.windows.\n"
		"trackway record --bbv -o vectors -- ./program\tHow often which block is executed, alone.\n"
		"trackway phases --save app vectors\tapp.windows, for record --windows app.windows.\n"
		"trackway phases trace -o phases.svg\tWhen the program is in which phase.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct phases_options),
    .least = 1,
    .most = 1,
    .run = run,
};
