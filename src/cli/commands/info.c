/* info.c - trackway info: what is in a trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/info.h"

#include "cli/files/nothing_passed.h"
#include "cli/files/spooled_stdin.h"
#include "cli/files/walk.h"
#include "cli/output/show.h"

struct info_options {
	struct tw_common common;
	bool all;
};

struct info_report {
	struct tw_screen screen;
	struct tw_info_view view; /* of the file that is open */
	struct tw_info_part part; /* of it */
	size_t files;             /* shown so far */
};

/* Replaces the numbers of the whole trace by those of what passes the filters, but for what a trace is as a whole. */
static int read_part(struct tw_walk *walk, const char *path)
{
	struct info_report *report = walk->context;
	struct tw_info *info = &report->view.info;
	struct tw_info_part *part = &report->part;
	int status = tw_info_part_read(part, path, &walk->options);
	if (status) {
		tw_info_part_free(part);
		return status;
	}
	info->records = part->records;
	info->events = part->events;
	info->processes = part->processes;
	info->thread_count = part->thread_count;
	info->span_ns = part->end_ns - part->start_ns;
	info->kinds = part->kinds;
	info->kind_count = part->kind_count;
	info->list_count = 0;
	report->view.part = part;
	return 0;
}

static int read_info(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct info_report *report = walk->context;
	report->view.path = tw_shown_path(path);
	report->view.reader = reader;
	int status = tw_read_info(reader, tw_jobs(walk->common), &report->view.info);
	return status < 0 || !tw_has_filters(walk->common) ? status : read_part(walk, path);
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)reader, (void)path;
	struct info_report *report = walk->context;
	if (tw_screen_open_form(&report->screen, walk->common))
		return TW_EXIT_FAILED;
	if (report->view.part)
		tw_say_passed(walk->common, report->part.passed);
	if (!walk->common->forms.json && report->files++)
		tw_put_char(&report->screen.out, '\n');
	int status = 0;
	if (walk->common->forms.json)
		tw_info_put_json(&report->screen.out, &report->view);
	else
		status = tw_info_put_text(&report->screen, &report->view);
	tw_info_part_free(&report->part);
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct info_report report = {.view = {.all = ((const struct info_options *)common)->all}};
	struct tw_walk walk = {
	    .nameless = true,
	    .common = common,
	    .filter_slices = true,
	    .context = &report,
	    .read = read_info,
	    .show = show,
	};
	int status = tw_has_filters(common) ? tw_spool_stdin(operands, count) : 0;
	if (status)
		return status;
	status = tw_walk(&walk, operands, count);
	return tw_screen_end(&report.screen, status);
}

static const struct tw_option own_options[] = {
    {"all", 'a', TW_OPTION_FLAG, offsetof(struct info_options, all), .help = "list all threads, not the first twenty"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Threads", own_options), &tw_filter_options, &tw_input_options, &tw_jobs_options,
                     &tw_output_options);

const struct tw_command tw_command_info = {
    .name = "info",
    .summary = "what is in a trace: format, clock, span, threads, records, damage",
    .operands = "FILE...",
    .description =
	"Tells what a trace is and what it holds: format and version, size, time span, how many records of each "
	"kind, which threads, and how much of it is damaged. How many events the records make is told where each "
	"record makes one or none; the lines of a TraceLog may make many (a `sam mem`, a `thr cpu`). Damage is what "
	"keeps records from being read; what else is wrong with them 'trackway check' tells.\n\n"
	"With filters records, events, threads and the span are those of what passes them, and how many functions it "
	"calls is told too; size, clock and damage are those of the file. The files are then read three times.",
    .examples = "trackway info app.xray\tAbout one trace.\n"
		"trackway info --json *.xray.zst\tAbout many, an object each.\n"
		"trackway info --from-time 1s --to-time 2s app.xray\tAbout the second second.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .size = sizeof(struct info_options),
    .least = 1,
    .run = run,
};
