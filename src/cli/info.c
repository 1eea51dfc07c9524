/* info.c - trackway info: what is in a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/info.h"

#include "cli/show.h"
#include "cli/walk.h"

struct info_options {
	struct tw_common common;
	bool all;
};

struct info_work {
	struct tw_screen screen;
	struct tw_info_view view; /* of the file that is open */
	size_t files;             /* shown so far */
};

static int read_info(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct info_work *work = walk->context;
	work->view.path = tw_shown_path(path);
	work->view.reader = reader;
	return tw_read_info(reader, tw_jobs(walk->common), &work->view.info);
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)reader, (void)path;
	struct info_work *work = walk->context;
	if (tw_screen_open(&work->screen, walk->common->output))
		return TW_EXIT_FAILED;
	if (walk->common->json) {
		tw_info_put_json(&work->screen.out, &work->view);
		return 0;
	}
	if (work->files++)
		tw_put_char(&work->screen.out, '\n');
	return tw_info_put_text(&work->screen, &work->view);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct info_work work = {.view = {.all = ((const struct info_options *)common)->all}};
	struct tw_walk walk = {.common = common, .context = &work, .read = read_info, .show = show};
	int status = tw_walk(&walk, operands, count);
	int closed = tw_screen_close(&work.screen);
	return closed ? closed : status;
}

static const struct tw_option own_options[] = {
    {"all", 'a', TW_OPTION_FLAG, offsetof(struct info_options, all), .help = "list all threads, not the first twenty"},
};
static const struct tw_option_group own_group = {"Threads", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group,         &tw_plain_input_options, &tw_jobs_options,
                                                       &tw_output_options, &tw_help_options,        NULL};

const struct tw_command tw_command_info = {
    .name = "info",
    .summary = "what is in a trace: format, clock, span, threads, records, damage",
    .operands = "FILE...",
    .description =
	"Tells what a trace is and what it holds: format and version, size, time span, how many records of each "
	"kind, which threads, and how much of it is damaged. How many events the records make is told where each "
	"record makes one or none; the lines of a TraceLog may make many (a `sam mem`, a `thr cpu`).",
    .examples = "trackway info app.xray\tAbout one trace.\n"
		"trackway info --json *.xray.zst\tAbout many, an object each.\n",
    .groups = groups,
    .size = sizeof(struct info_options),
    .least = 1,
    .run = run,
};
