/* sched.c - trackway sched: which thread ran when, and how long it had to wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/sched.h"

#include "analysis/tool.h"
#include "cli/files/walk.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"

#include <stdlib.h>
#include <string.h>

struct sched_options {
	struct tw_common common;
	const char *by, *sort;
	uint64_t top;
	struct tw_form_options forms;
};

/* ---- What rows are, and in which order. ---- */

static const char *by_word(size_t i)
{
	static const char *const words[] = {"thread", "cpu"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

/* The words of --sort: the numbers of threads, those of CPUs, and "id", which is the order without sorting. */
static const char *sort_word(size_t i)
{
	static const char *const words[] = {"running", "runnable", "switches", "wakeups", "p99", "max", "busy", "id"};
	return i < sizeof words / sizeof *words ? words[i] : NULL;
}

static bool is_by_cpu(const struct sched_options *options)
{
	return options->by && strcmp(options->by, "cpu") == 0;
}

/* Threads are sorted by their running time, CPUs by their number, unless something else is asked for. */
static const char *sort_of(const struct sched_options *options)
{
	return options->sort ? options->sort : is_by_cpu(options) ? "id" : "running";
}

static bool is_wanted(const struct tw_numbers *threads, uint64_t thread)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->items[i] == thread)
			return true;
	return threads->count == 0;
}

static const void *row_at(const struct tw_sched *sched, size_t i, bool by_cpu)
{
	return by_cpu ? (const void *)tw_sched_cpu(sched, i) : (const void *)tw_sched_thread(sched, i);
}

static bool collect(struct tw_sched_rows *rows, const struct tw_sched *sched, const struct sched_options *options)
{
	const void *row;
	for (size_t i = 0; (row = row_at(sched, i, rows->by_cpu)); i++) {
		if (!rows->by_cpu &&
		    !is_wanted(&options->common.threads, ((const struct tw_sched_thread *)row)->thread))
			continue;
		if (!tw_rows_add(&rows->list, row))
			return false;
	}
	tw_sched_sort(rows, sort_of(options), options->top);
	return true;
}

/* ---- The command. ---- */

static int put_rows(struct tw_screen *screen, const struct tw_sched *sched, const struct sched_options *options)
{
	struct tw_sched_rows rows = {.by_cpu = is_by_cpu(options)};
	int status = 0;
	if (!collect(&rows, sched, options))
		status = tw_say_error("out of memory");
	else if (options->common.json)
		tw_sched_put_json(&screen->out, &rows);
	else
		status = tw_sched_put_text(screen, &rows, tw_sched_notes(sched));
	free(rows.list.items);
	return status;
}

/* Rows are what the picture shows: CPUs, or threads with colours of their own. */
static int put_picture(struct tw_screen *screen, const struct tw_sched *sched, const struct sched_options *options,
                       char *path)
{
	static const struct tw_sched_thread *const none[1];
	struct tw_sched_rows rows = {.by_cpu = is_by_cpu(options)};
	struct tw_sched_shown shown = {0};
	struct tw_text title = {0};
	bool fine = collect(&rows, sched, options);
	if (rows.by_cpu) {
		shown.cpus = (const struct tw_sched_cpu *const *)(const void *)rows.list.items;
		shown.cpu_count = rows.list.shown;
	} else {
		const void *items = rows.list.items;
		shown.threads = items ? items : none;
		shown.thread_count =
		    !options->top && rows.list.shown > TW_SCHED_COLOURS ? TW_SCHED_COLOURS : rows.list.shown;
	}
	tw_text_add_files(&title, &path, 1);
	fine = fine && tw_sched_render(&screen->out, sched, title.bytes, &shown) == 0;
	tw_text_free(&title);
	free(rows.list.items);
	return fine ? 0 : tw_say_error("out of memory");
}

static bool is_picture(const struct sched_options *options)
{
	return tw_form_of(&options->common, &options->forms) == TW_FORM_SVG;
}

static int put(const struct tw_sched *sched, const struct sched_options *options, char *path)
{
	struct tw_screen screen = {0};
	int status = tw_screen_open(&screen, options->common.output);
	if (status)
		return status;
	if (is_picture(options))
		status = put_picture(&screen, sched, options, path);
	else
		status = put_rows(&screen, sched, options);
	return tw_screen_end(&screen, status);
}

struct work {
	const struct sched_options *options;
	struct tw_sched *sched;
};

static int read_sched(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	struct work *work = walk->context;
	const struct tw_sched_options how = {
	    .plot = is_picture(work->options),
	    .memory_limit = (size_t)work->options->common.memory,
	    .from_ns = work->options->common.from_time,
	    .to_ns = work->options->common.to_time,
	};
	return tw_sched_read(&work->sched, reader, &how);
}

static void tell(const struct work *work)
{
	if (tw_say_left_out(tw_sched_notes(work->sched)->left_out, "event", ""))
		return;
	if (!tw_sched_thread(work->sched, 0) && !tw_sched_cpu(work->sched, 0))
		tw_say_none(&work->options->common, "scheduling");
}

static int check_options(const struct sched_options *options)
{
	bool keeps_order = strcmp(sort_of(options), "id") == 0;
	if (!keeps_order && !tw_sched_sorts_by(is_by_cpu(options), sort_of(options)))
		return tw_say_usage(&tw_command_sched, "--by %s has nothing to sort by %s",
		                    is_by_cpu(options) ? "cpu" : "thread", options->sort);
	return tw_check_form(&tw_command_sched, &options->common, &options->forms);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct work work = {.options = (const struct sched_options *)common};
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_TIME},
	    .all_threads = true,
	    .all_times = true,
	    .context = &work,
	    .read = read_sched,
	};
	int status = check_options(work.options);
	if (status)
		return status;
	status = tw_walk(&walk, operands, count);
	if (walk.readable && work.sched) {
		tell(&work);
		int shown = put(work.sched, work.options, operands[0]);
		status = shown > status ? shown : status;
	}
	tw_sched_free(work.sched);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct sched_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .choice = by_word, .help = "what makes a row: each thread, or each CPU"},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .choice = sort_word,
     .help = "the column to sort by, largest first; otherwise threads by running, CPUs by id"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help =
         "only the first N rows; 0, the default, shows all. Of a picture, the threads with colours of their own, 20 "
         "by default, or the CPUs"},
};
static const struct tw_option form_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "where to write; .svg makes it a picture, and .gz or .zst behind that compresses. - is standard output, "
             "the default"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.json), .help = "write JSON Lines: an object a row"},
    {"svg", 0, TW_OPTION_FLAG, MEMBER(forms.svg), .help = "draw a line of time for each CPU"},
};
static const struct tw_option_group own_group = {"Rows", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group form_group = {"Output", form_options, sizeof form_options / sizeof *form_options};
static const struct tw_option_group *const groups[] = {&own_group,  &tw_window_options, &tw_plain_input_options,
                                                       &form_group, &tw_help_options,   NULL};

const struct tw_command tw_command_sched = {
    .name = "sched",
    .summary = "running times, wake-up latencies, and how busy the CPUs were",
    .operands = "FILE",
    .description =
	"Tells from context switches and wake-ups which threads ran. RUNNING is the time between the switch that a "
	"thread came with and the one that it left with; what a CPU did before its first switch and after its last is "
	"not known, also where --from-time and --to-time show a part: of what goes on at its edges they count what is "
	"inside. RUNNABLE is the time from a wake-up, or from leaving while it could run on, until it came to a "
	"CPU. P50 to MAX are latencies: from a wake-up until the thread came to a CPU; percentiles are at most 1 % "
	"off. LEFT says how often it left, in which state.\n\n"
	"Idle time is that of threads which the trace says are idle; it belongs to no thread. UNKNOWN is time before "
	"switches away from a thread that had not come. BUSY % is of the time that was busy or idle, \"-\" where there "
	"is none. --thread chooses rows and leaves CPUs as they are.\n\n"
	"A picture has a line of time for each CPU. The rows of the table are the threads with colours of their own in "
	"it; all others share grey. With --by cpu they are the CPUs.",
    .examples = "trackway sched trace.fxt\tThreads, by their running time.\n"
		"trackway sched --sort p99 -n 10 trace.fxt\tThe ten that waited longest to run.\n"
		"trackway sched trace.fxt -o sched.svg\tWho ran where, as a picture.\n"
		"trackway sched --sort p99 -n 3 trace.fxt -o waits.svg\tWhere those ran that waited longest.\n",
    .groups = groups,
    .size = sizeof(struct sched_options),
    .least = 1,
    .most = 1,
    .run = run,
};
