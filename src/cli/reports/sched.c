/* sched.c - trackway sched: which thread ran when, and how long it had to wait. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/sched.h"

#include "analysis/tool.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "cli/files/instead.h"
#include "cli/files/nothing_passed.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "core/tool.h"

#include <stdlib.h>
#include <string.h>

struct sched_options {
	struct tw_common common;
	const char *by, *sort;
	uint64_t top;
};

/* ---- What rows are, and in which order. ---- */

static const char *const by_words[] = {"thread", "process", "cpu", NULL}; /* as enum tw_sched_by */

/* The words of --sort: the numbers of threads and processes, those of CPUs, and "id": the order without sorting. */
static const char *const sort_words[] = {"running", "runnable", "switches", "wakeups", "p99",
                                         "max",     "busy",     "id",       NULL};

static enum tw_sched_by by_of(const struct sched_options *options)
{
	return options->by ? (enum tw_sched_by)tw_word_place(by_words, options->by) : TW_SCHED_BY_THREAD;
}

/* Threads and processes are sorted by their running time, CPUs by their number, unless something else is asked for. */
static const char *sort_of(const struct sched_options *options)
{
	return options->sort ? options->sort : by_of(options) == TW_SCHED_BY_CPU ? "id" : "running";
}

static bool is_wanted(const struct tw_read_options *chosen, const struct tw_sched_thread *thread)
{
	const struct tw_track track = {.process = thread->process, .thread = thread->thread};
	return tw_track_wanted(chosen, &track);
}

static struct tw_sched_listing *sched_of(const struct tw_listing *listing)
{
	return (struct tw_sched_listing *)(uintptr_t)listing;
}

static bool collect_threads(struct tw_sched_listing *sched)
{
	const struct tw_sched_thread *row;
	for (size_t i = 0; (row = tw_sched_thread(sched->sched, i)); i++)
		if (is_wanted(&sched->listing.walk.chosen, row) && !tw_rows_add(&sched->listing.rows, row))
			return false;
	return true;
}

static bool collect_cpus(struct tw_sched_listing *sched)
{
	const struct tw_sched_cpu *row;
	for (size_t i = 0; (row = tw_sched_cpu(sched->sched, i)); i++)
		if (!tw_rows_add(&sched->listing.rows, row))
			return false;
	return true;
}

/* The sums of a process; NULL without memory. Threads come in the order of their processes. */
static struct tw_sched_process *process_of(struct tw_sched_listing *sched, const struct tw_sched_thread *thread)
{
	struct tw_sched_process *last = sched->process_count ? &sched->processes[sched->process_count - 1] : NULL;
	if (last && last->process == thread->process)
		return last;
	if (!tw_grow(&sched->processes, &sched->process_room, sched->process_count + 1, sizeof *sched->processes))
		return NULL;
	last = &sched->processes[sched->process_count++];
	*last = (struct tw_sched_process){.process = thread->process, .name = thread->process_name};
	return last;
}

static bool collect_processes(struct tw_sched_listing *sched)
{
	const struct tw_sched_thread *thread;
	for (size_t i = 0; (thread = tw_sched_thread(sched->sched, i)); i++) {
		if (!is_wanted(&sched->listing.walk.chosen, thread))
			continue;
		struct tw_sched_process *process = process_of(sched, thread);
		if (!process)
			return false;
		process->threads++;
		process->running_ns = tw_sum(process->running_ns, thread->running_ns);
		process->runnable_ns = tw_sum(process->runnable_ns, thread->runnable_ns);
		process->switches += thread->switches;
		process->wakeups += thread->wakeups;
	}
	for (size_t i = 0; i < sched->process_count; i++)
		if (!tw_rows_add(&sched->listing.rows, &sched->processes[i]))
			return false;
	return true;
}

static bool (*const collectors[])(struct tw_sched_listing *) = {
    [TW_SCHED_BY_THREAD] = collect_threads,
    [TW_SCHED_BY_PROCESS] = collect_processes,
    [TW_SCHED_BY_CPU] = collect_cpus,
};

static bool collect(struct tw_listing *listing)
{
	const struct sched_options *options = (const struct sched_options *)listing->common;
	struct tw_sched_listing *sched = sched_of(listing);
	if (!collectors[sched->by](sched))
		return false;
	tw_sched_sort(sched, sort_of(options), options->top);
	return true;
}

/* ---- The command. ---- */

/* Rows are what the picture shows: CPUs, or threads with colours of their own. */
static int draw(struct tw_listing *listing, const char *title)
{
	static const struct tw_sched_thread *const none[1];
	const struct tw_sched_listing *sched = sched_of(listing);
	const void *items = listing->rows.items;
	size_t count = listing->rows.shown;
	struct tw_sched_shown shown = {0};
	if (sched->by == TW_SCHED_BY_CPU) {
		shown.cpus = items;
		shown.cpu_count = count;
	} else {
		bool all = !((const struct sched_options *)listing->common)->top;
		shown.threads = items ? items : none;
		shown.thread_count = all && count > TW_SCHED_COLOURS ? TW_SCHED_COLOURS : count;
	}
	return tw_sched_render(&listing->screen.out, sched->sched, title,
	                       sched->by == TW_SCHED_BY_PROCESS ? NULL : &shown);
}

static int read_sched(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	(void)path;
	const struct tw_sched_options how = {
	    .plot = tw_listing_form(listing) == TW_FORM_SVG,
	    .memory_limit = (size_t)listing->common->limits.memory,
	    .from_ns = listing->common->filter.from_time,
	    .to_ns = listing->common->filter.to_time,
	};
	int status = tw_sched_read(&sched_of(listing)->sched, reader, &how);
	listing->result = sched_of(listing)->sched;
	return status;
}

static bool can_draw(const struct tw_listing *listing)
{
	const struct tw_sched *sched = sched_of(listing)->sched;
	return tw_sched_thread(sched, 0) || tw_sched_cpu(sched, 0);
}

static void note(const struct tw_listing *listing)
{
	const struct tw_sched *sched = sched_of(listing)->sched;
	if (tw_say_left_out(tw_sched_notes(sched)->left_out, "event", ""))
		return;
	if (listing->rows.count == 0)
		tw_say_none(listing->common, "scheduling");
}

static int check_options(const struct sched_options *options)
{
	bool keeps_order = strcmp(sort_of(options), "id") == 0;
	if (!keeps_order && !tw_sched_sorts_by(by_of(options), sort_of(options)))
		return tw_say_usage(&tw_command_sched, "--by %s has nothing to sort by %s", by_words[by_of(options)],
		                    options->sort);
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct sched_options *options = (const struct sched_options *)common;
	struct tw_sched_listing sched = {
	    .listing =
		{
		    .common = common,
		    .walk = {.options = {.order = TW_ORDER_TIME}, .all_threads = true, .all_times = true},
		    .read = read_sched,
		    .collect = collect,
		    .note = note,
		    .points_to = TW_INSTEAD_TASKS,
		    .put_json = tw_sched_put_json,
		    .put_text = tw_sched_put_text,
		    .draw = draw,
		    .can_draw = can_draw,
		},
	    .by = by_of(options),
	};
	int status = check_options(options);
	if (status == 0)
		status = tw_list(&sched.listing, operands, count);
	tw_sched_free(sched.sched);
	free(sched.processes);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct sched_options, name)
static const struct tw_option own_options[] = {
    {"by", 0, TW_OPTION_CHOICE, MEMBER(by), .words = by_words,
     .help = "what makes a row: each thread, each process, or each CPU"},
    {"sort", 's', TW_OPTION_CHOICE, MEMBER(sort), .words = sort_words,
     .help = "the column to sort by, largest first; otherwise threads and processes by running, CPUs by id"},
    {"top", 'n', TW_OPTION_COUNT, MEMBER(top), .placeholder = "N",
     .help =
         "only the first N rows; 0, the default, shows all. Of a picture, the threads with colours of their own, 12 "
         "by default, or the CPUs"},
};
static const struct tw_option form_options[] = {
    TW_OPTION_OUTPUT_BY_NAME, TW_OPTION_JSON_ROWS("row"), TW_OPTION_CSV_ROWS,
    TW_OPTION_CSV_SAFE_ROWS,  TW_OPTION_MARKDOWN,         TW_OPTION_SVG("draw a line of time for each CPU"),
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Rows", own_options), &tw_window_options, &tw_plain_input_options,
                     TW_OPTIONS("Output", form_options));

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
	"off. LEFT says how often it left, in which state. WINDOW % is of the window: from the first "
	"switch or wake-up to the last, or of what "
	"--from-time and --to-time show; 100 % is one CPU all the time. With --by process it is of all chosen threads "
	"of a process, and may be more.\n\n"
	"Idle time is that of threads which the trace says are idle; it belongs to no thread. UNKNOWN is time before "
	"switches away from a thread that had not come. BUSY % is of the time that was busy or idle, \"-\" where there "
	"is none. --thread chooses rows and leaves CPUs as they are.\n\n"
	"A picture has a line of time for each CPU. The rows of the table are the threads with colours of their own in "
	"it; all others share grey. With --by process they are the threads that ran longest, with --by cpu the CPUs.",
    .examples = "trackway sched trace.fxt\tThreads, by their running time.\n"
		"trackway sched --by process trace.fxt\tProcesses, in percent of the time.\n"
		"trackway sched --sort p99 -n 10 trace.fxt\tThe ten that waited longest to run.\n"
		"trackway sched trace.fxt -o sched.svg\tWho ran where, as a picture.\n"
		"trackway sched --sort p99 -n 3 trace.fxt -o waits.svg\tWhere those ran that waited longest.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct sched_options),
    .least = 1,
    .most = 1,
    .run = run,
};
