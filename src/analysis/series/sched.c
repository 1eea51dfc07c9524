/* sched.c - which thread ran when: running times, wake-up latencies, and how busy each CPU was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/sched.h"

#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "core/format.h"

#include <stdlib.h>
#include <string.h>

const char *tw_sched_state_name(unsigned state)
{
	static const char *const names[] = {
	    [TW_SCHED_NEW] = "new",         [TW_SCHED_RUNNING] = "running", [TW_SCHED_SUSPENDED] = "suspended",
	    [TW_SCHED_BLOCKED] = "blocked", [TW_SCHED_DYING] = "dying",     [TW_SCHED_DEAD] = "dead",
	};
	return state < sizeof names / sizeof *names ? names[state] : NULL;
}

bool tw_sched_could_run(uint64_t state)
{
	return state == TW_SCHED_NEW || state == TW_SCHED_RUNNING;
}

/* ---- Threads and CPUs. ---- */

/* NULL when there is no room. */
static struct tw_sched_task *task_of(struct tw_sched *sched, uint32_t track)
{
	if (!tw_budget_grow(&sched->budget, TW_FOR_ROWS, &sched->tasks, &sched->task_room, track + (size_t)1,
	                    sizeof *sched->tasks))
		return NULL;
	struct tw_sched_task *task = &sched->tasks[track];
	if (!task->seen && tw_histogram_init(&sched->pool, &task->latencies))
		task->seen = true;
	return task->seen ? task : NULL;
}

/* Adds the time of one thread to a column, or that of two columns. */
static void vote(struct tw_sched_column *column, uint32_t track, uint64_t most)
{
	if (column->track == track) {
		column->most += most;
	} else if (column->most >= most) {
		column->most -= most;
	} else {
		column->most = most - column->most;
		column->track = track;
	}
}

static void merge_columns(void *into, const void *from)
{
	struct tw_sched_column *a = into;
	const struct tw_sched_column *b = from;
	a->busy += b->busy;
	vote(a, b->track, b->most);
}

static bool add_core(struct tw_sched *sched, unsigned cpu)
{
	const size_t size = sizeof(struct tw_sched_column);
	struct tw_sched_core core = {.row.cpu = cpu, .columns = {.size = size, .merge = merge_columns}};
	if (!tw_budget_grow(&sched->budget, TW_FOR_ROWS, &sched->cores.items, &sched->cores.room,
	                    sched->cores.count + 1, sizeof *sched->cores.items) ||
	    (sched->options.plot && !tw_budget_take(&sched->budget, TW_FOR_ROWS, TW_COLUMNS * size)))
		return false;
	core.columns.items = sched->options.plot ? calloc(TW_COLUMNS, size) : NULL;
	if (sched->options.plot && !core.columns.items)
		return tw_budget_fail(&sched->budget);
	if (!tw_budget_map_add(&sched->budget, TW_FOR_ROWS, &sched->cores.by_number, cpu,
	                       (uint32_t)sched->cores.count)) {
		free(core.columns.items);
		return false;
	}
	sched->cores.items[sched->cores.count++] = core;
	return true;
}

/* NULL when there is no room. */
static struct tw_sched_core *core_of(struct tw_sched *sched, unsigned cpu)
{
	uint32_t number;
	if (tw_map_find(&sched->cores.by_number, cpu, &number))
		return &sched->cores.items[number];
	return add_core(sched, cpu) ? &sched->cores.items[sched->cores.count - 1] : NULL;
}

/* ---- Switches and wake-ups. ---- */

static bool is_inside(const struct tw_sched *sched, uint64_t time)
{
	return time >= sched->from && time <= sched->last;
}

/* What is in the window of the time from one switch to another. */
struct clipped_time {
	uint64_t from, length;
};

static struct clipped_time part_of(const struct tw_sched *sched, uint64_t from, uint64_t to)
{
	from = from < sched->from ? sched->from : from;
	to = to > sched->last && to - sched->last > 1 ? sched->last + 1 : to;
	return (struct clipped_time){.from = from, .length = to > from ? to - from : 0};
}

/* A thread ran from a time to another, since the left edge. */
static void draw_run(struct tw_columns *columns, uint32_t track, uint64_t from, uint64_t to)
{
	struct tw_sched_column *items = columns->items;
	if (!items || to == from)
		return;
	tw_columns_reach(columns, to - 1);
	while (from < to) {
		uint64_t column = from >> columns->shift, end = (column + 1) << columns->shift;
		uint64_t part = (end && end < to ? end : to) - from;
		items[column].busy += part;
		vote(&items[column], track, part);
		from += part;
	}
}

/* What the CPU did since the last switch. */
static void end_run(struct tw_sched *sched, struct tw_sched_core *core, const struct tw_event *event, bool idle)
{
	const struct clipped_time part = part_of(sched, core->since, event->time);
	const bool inside = part.length || is_inside(sched, event->time);
	struct tw_sched_task *task;
	sched->notes.time_backwards += inside && event->time < core->since;
	core->shown |= inside;
	if (event->track != core->track && !(idle && core->idle)) {
		core->row.unknown_ns = tw_sum(core->row.unknown_ns, part.length);
		sched->notes.wrong_thread += inside;
	} else if (idle || core->idle) {
		core->row.idle_ns = tw_sum(core->row.idle_ns, part.length);
	} else {
		core->row.busy_ns = tw_sum(core->row.busy_ns, part.length);
		if (part.from >= sched->left)
			draw_run(&core->columns, core->track, part.from - sched->left,
			         part.from - sched->left + part.length);
		if ((task = task_of(sched, core->track))) {
			task->row.running_ns = tw_sum(task->row.running_ns, part.length);
			task->shown |= inside;
		}
	}
}

static bool leave(struct tw_sched *sched, const struct tw_event *event)
{
	struct tw_sched_task *task = task_of(sched, event->track);
	if (!task)
		return false;
	if (is_inside(sched, event->time)) {
		task->row.left[event->value < TW_SCHED_STATES ? event->value : TW_SCHED_STATES - 1]++;
		task->shown = true;
	}
	if (tw_sched_could_run(event->value))
		task->ready = true;
	task->ready_at = event->time; /* also of one woken while it ran */
	return true;
}

static void add_latency(struct tw_sched *sched, struct tw_sched_task *task, uint64_t latency)
{
	struct tw_sched_thread *row = &task->row;
	if (!row->latencies || latency < row->latency_min_ns)
		row->latency_min_ns = latency;
	if (latency > row->latency_max_ns)
		row->latency_max_ns = latency;
	tw_histogram_add(&sched->pool, &task->latencies, row->latencies++, latency);
}

static bool come(struct tw_sched *sched, const struct tw_event *event)
{
	struct tw_sched_task *task = task_of(sched, event->other);
	if (!task)
		return false;
	const bool inside = is_inside(sched, event->time);
	const struct clipped_time waited = part_of(sched, task->ready_at, event->time);
	task->row.switches += inside;
	if (task->woken && inside)
		add_latency(sched, task, event->time < task->woken_at ? 0 : event->time - task->woken_at);
	if (task->ready)
		task->row.runnable_ns = tw_sum(task->row.runnable_ns, waited.length);
	task->shown |= inside || (task->ready && waited.length);
	task->woken = task->ready = false;
	return true;
}

static bool take_switch(struct tw_sched *sched, const struct tw_event *event, const struct tw_argument *arguments)
{
	bool from_idle = tw_sched_leaves_idle(sched->dictionary, event, arguments);
	bool to_idle = tw_sched_comes_idle(sched->dictionary, event, arguments), fits = true;
	struct tw_sched_core *core = core_of(sched, event->cpu);
	if (!core)
		return false;
	core->row.switches += is_inside(sched, event->time);
	core->shown |= is_inside(sched, event->time);
	if (core->begun)
		end_run(sched, core, event, from_idle);
	if (!from_idle)
		fits = leave(sched, event);
	if (!to_idle)
		fits = come(sched, event) && fits;
	core->since = event->time;
	core->track = event->other;
	core->idle = to_idle;
	core->begun = true;
	return fits;
}

static bool take_wakeup(struct tw_sched *sched, const struct tw_event *event)
{
	struct tw_sched_task *task = task_of(sched, event->track);
	if (!task)
		return false;
	task->row.wakeups += is_inside(sched, event->time);
	task->shown |= is_inside(sched, event->time);
	if (!task->woken)
		task->woken_at = event->time;
	if (!task->ready)
		task->ready_at = event->time;
	task->woken = task->ready = true;
	return true;
}

static uint64_t later(uint64_t time, uint64_t ns)
{
	return ns > UINT64_MAX - time ? UINT64_MAX : time + ns;
}

/* Without a window all is in it, also what is before the start. */
static void set_window(struct tw_sched *sched)
{
	const struct tw_sched_options *options = &sched->options;
	sched->left = later(sched->clock->start_ns, options->from_ns);
	sched->from = options->from_ns ? sched->left : 0;
	sched->last = options->to_ns ? later(sched->clock->start_ns, options->to_ns - 1) : UINT64_MAX;
}

static void note_time(struct tw_sched *sched, const struct tw_event *event)
{
	if ((event->kind != TW_SWITCH && event->kind != TW_WAKEUP) || !is_inside(sched, event->time))
		return;
	if (event->time < sched->first_at)
		sched->first_at = event->time;
	if (event->time > sched->last_at)
		sched->last_at = event->time;
}

void tw_sched_take(struct tw_sched *sched, const struct tw_batch *batch)
{
	set_window(sched);
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		bool fits = true;
		note_time(sched, event);
		if (event->kind == TW_SWITCH)
			fits = take_switch(sched, event, tw_event_arguments(batch, event));
		else if (event->kind == TW_WAKEUP)
			fits = take_wakeup(sched, event);
		sched->notes.left_out += !fits;
	}
}

/* ---- The rows as they are shown. ---- */

static void show_latencies(const struct tw_sched *sched, const struct tw_sched_task *task, struct tw_sched_thread *row)
{
	static const unsigned parts[] = {500, 900, 990};
	uint64_t results[3], *const shares[] = {&row->latency_p50_ns, &row->latency_p90_ns, &row->latency_p99_ns};
	if (!row->latencies)
		return;
	tw_histogram_percentiles(&sched->pool, &task->latencies, row->latencies, parts, results, 3);
	for (size_t i = 0; i < 3; i++) {
		uint64_t low = results[i] < row->latency_min_ns ? row->latency_min_ns : results[i];
		*shares[i] = low > row->latency_max_ns ? row->latency_max_ns : low;
	}
}

/* NULL where there is no name, or no room for it. */
static const char *keep_text(struct tw_sched *sched, const struct tw_name *name)
{
	size_t size = tw_dictionary_plain_length(name->text, name->length) + sizeof *name;
	if (!name->length || !tw_budget_take(&sched->budget, TW_FOR_COUNTS, size))
		return NULL;
	uint32_t kept =
	    tw_dictionary_intern(sched->texts, &(struct tw_name){.text = name->text, .length = name->length});
	if (kept != UINT32_MAX)
		return tw_dictionary_name(sched->texts, kept)->text;
	tw_budget_fail(&sched->budget);
	return NULL;
}

static void show_task(struct tw_sched *sched, uint32_t number)
{
	struct tw_sched_task *task = &sched->tasks[number];
	const struct tw_track *track = tw_dictionary_track(sched->dictionary, task->owner ? task->owner : number);
	task->row.process = track->process;
	task->row.thread = track->thread;
	task->row.name = keep_text(sched, tw_dictionary_name(sched->dictionary, track->name));
	task->row.process_name = keep_text(sched, tw_dictionary_process_name(sched->dictionary, track->process));
	show_latencies(sched, task, &task->row);
	sched->threads[sched->thread_count++] = task->row;
}

/* Switches that name a thread by its number alone, in process 0: who has told of a thread with this number tells its
 * process. False without memory. */
static bool find_owners(struct tw_sched *sched)
{
	const struct tw_dictionary *dictionary = sched->dictionary;
	struct tw_map alone = {0};
	bool good = true;
	for (uint32_t i = 0; good && i < sched->task_room; i++) {
		const struct tw_track *track = sched->tasks[i].shown ? tw_dictionary_track(dictionary, i) : NULL;
		if (track && track->process == 0 && track->thread)
			good = tw_map_add(&alone, track->thread, i);
	}
	for (uint32_t i = 0, number; good && i < tw_dictionary_tracks(dictionary); i++) {
		const struct tw_track *track = tw_dictionary_track(dictionary, i);
		bool has_row = i < sched->task_room && sched->tasks[i].shown;
		if (track->process && !has_row && tw_map_find(&alone, track->thread, &number))
			sched->tasks[number].owner = i;
	}
	tw_map_free(&alone);
	return good;
}

static int compare_threads(const void *left, const void *right)
{
	const struct tw_sched_thread *a = left, *b = right;
	int order = tw_compare(a->process, b->process);
	return order ? order : tw_compare(a->thread, b->thread);
}

static int compare_cores(const void *left, const void *right)
{
	const struct tw_sched_core *a = left, *b = right;
	return tw_compare(a->row.cpu, b->row.cpu);
}

/* Lets go of the CPUs of which nothing is in the window. */
static void choose_cores(struct tw_sched *sched)
{
	size_t kept = 0;
	for (size_t i = 0; i < sched->cores.count; i++)
		if (sched->cores.items[i].shown)
			sched->cores.items[kept++] = sched->cores.items[i];
		else
			free(sched->cores.items[i].columns.items);
	sched->cores.count = kept;
}

int tw_sched_end(struct tw_sched *sched)
{
	const struct tw_clock *clock = sched->clock;
	const struct tw_times window = {sched->options.from_ns, sched->options.to_ns};
	size_t seen = 0;
	sched->end_at = clock->end_ns;
	for (size_t i = 0; i < sched->task_room; i++)
		seen += sched->tasks[i].shown;
	sched->span_ns = tw_times_span(&window, clock->end_ns > clock->start_ns ? clock->end_ns - clock->start_ns : 0);
	choose_cores(sched);
	if (sched->cores.count)
		qsort(sched->cores.items, sched->cores.count, sizeof *sched->cores.items, compare_cores);
	sched->threads = seen ? calloc(seen, sizeof *sched->threads) : NULL;
	if ((seen && !sched->threads) || !find_owners(sched))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < sched->task_room; i++)
		if (sched->tasks[i].shown)
			show_task(sched, (uint32_t)i);
	if (seen)
		qsort(sched->threads, seen, sizeof *sched->threads, compare_threads);
	return tw_budget_status(&sched->budget);
}

/* ---- The handle. ---- */

int tw_sched_begin(struct tw_sched **made, const struct tw_dictionary *dictionary, const struct tw_clock *clock,
                   const struct tw_sched_options *options)
{
	*made = NULL;
	struct tw_sched *sched = calloc(1, sizeof *sched);
	if (!sched)
		return TW_ERR_MEMORY;
	TW_COPY_OPTIONS(&sched->options, options, struct tw_sched_options);
	size_t limit = sched->options.memory_limit ? sched->options.memory_limit : TW_DEFAULT_MEMORY;
	tw_budget_reset(&sched->budget, limit, 1);
	sched->dictionary = dictionary;
	sched->clock = clock;
	sched->first_at = UINT64_MAX;
	sched->texts = tw_dictionary_new_plain();
	if (!tw_histogram_pool_init(&sched->pool, &sched->budget) || !sched->texts) {
		tw_sched_free(sched);
		return TW_ERR_MEMORY;
	}
	*made = sched;
	return 0;
}

int tw_sched_read(struct tw_sched **made, struct tw_reader *reader, const struct tw_sched_options *options)
{
	const struct tw_request request = {.kinds = tw_kinds_beside_clock(reader, 1u << TW_SWITCH | 1u << TW_WAKEUP)};
	struct tw_batch batch;
	int got = 0, status = tw_sched_begin(made, tw_reader_dictionary(reader), tw_reader_clock(reader), options);
	if (status < 0)
		return tw_fail(reader, status, "out of memory");
	status = tw_begin(reader, TW_USE_WHOLE, &request);
	if (status < 0)
		return status;
	while ((got = tw_pull(reader, &batch)) > 0)
		tw_sched_take(*made, &batch);
	status = tw_sched_end(*made);
	if (got == 0 && status < 0)
		return tw_fail(reader, status, "out of memory");
	return got;
}

const struct tw_sched_thread *tw_sched_thread(const struct tw_sched *sched, size_t i)
{
	return i < sched->thread_count ? &sched->threads[i] : NULL;
}

const struct tw_sched_thread *tw_sched_thread_of(const struct tw_sched *sched, uint32_t track)
{
	if (track >= sched->task_room || !sched->tasks[track].shown)
		return NULL;
	return bsearch(&sched->tasks[track].row, sched->threads, sched->thread_count, sizeof *sched->threads,
	               compare_threads);
}

const struct tw_sched_cpu *tw_sched_cpu(const struct tw_sched *sched, size_t i)
{
	return i < sched->cores.count ? &sched->cores.items[i].row : NULL;
}

uint64_t tw_sched_window_ns(const struct tw_sched *sched)
{
	const uint64_t from = sched->options.from_ns ? sched->left : sched->first_at;
	const uint64_t end = sched->options.to_ns && sched->last < sched->end_at ? sched->last + 1 : sched->last_at;
	return end > from ? end - from : 0;
}

const struct tw_sched_notes *tw_sched_notes(const struct tw_sched *sched)
{
	return &sched->notes;
}

void tw_sched_free(struct tw_sched *sched)
{
	if (!sched)
		return;
	for (size_t i = 0; i < sched->cores.count; i++)
		free(sched->cores.items[i].columns.items);
	free(sched->cores.items);
	free(sched->tasks);
	free(sched->threads);
	tw_map_free(&sched->cores.by_number);
	tw_histogram_pool_free(&sched->pool);
	tw_dictionary_free(sched->texts);
	free(sched);
}
