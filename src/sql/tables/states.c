/* states.c - the table of what threads did: running, or waiting for a CPU or for something else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/sched.h"
#include "core/format.h"
#include "sql/tables/tables.h"

#include <stdlib.h>

struct row {
	uint64_t id, ts, duration;
	uint64_t waker_state;
	uint32_t track, waker;
	struct sql_any cpu;
	const char *state;
};

#define AT(member) offsetof(struct row, member)
static const struct sql_column columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of the switch or wake-up that it begins with"},
    {"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "since when: ns since the start of the trace"},
    {"dur", "INTEGER", SQL_NUMBER, AT(duration), SQL_PLAIN, "ns until the next; -1: there is none"},
    {"cpu", "INTEGER", SQL_ANY, AT(cpu), SQL_PLAIN, "the CPU that it runs on; NULL where it does not run"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "the thread: thread.utid"},
    {"state", "TEXT", SQL_WORD, AT(state), SQL_PLAIN,
     "'Running', 'R' (woken: it could), 'R+' (preempted), 'S' (blocked), 'T' (suspended), 'Z' (dying), 'X' (dead); "
     "NULL where unknown"},
    {"waker_utid", "INTEGER", SQL_THREAD, AT(waker), SQL_PLAIN,
     "the thread that woke it: thread.utid; NULL where it was not woken, or the trace does not tell by whom"},
    {"waker_id", "INTEGER", SQL_RECORD, AT(waker_state), SQL_PLAIN, "what that did then: the id of its state"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static const char running[] = "Running", runnable[] = "R";

/* What a thread does. */
struct task {
	uint64_t id, since;
	uint64_t waker_state; /* what the thread did that woke it: the id of that row; UINT64_MAX: not known */
	const char *state;
	uint32_t waker; /* track of that thread, 0 where it is not known */
	uint16_t cpu;
	bool known, wanted;
};

struct tasks {
	struct task *tasks; /* by the reader's number of the track */
	size_t room;
	uint32_t *running; /* track of the thread that runs on a CPU, by its number: 16 bits */
	size_t cpu_room;
	size_t wanted;
};

/* The names that Perfetto has for the states of threads. */
static const char *state_word(uint64_t state)
{
	static const char *const words[] = {
	    [TW_SCHED_NEW] = "R+",    [TW_SCHED_RUNNING] = "R+", [TW_SCHED_SUSPENDED] = "T",
	    [TW_SCHED_BLOCKED] = "S", [TW_SCHED_DYING] = "Z",    [TW_SCHED_DEAD] = "X",
	};
	return state < sizeof words / sizeof *words ? words[state] : NULL;
}

static int add_row(struct sql_cursor *cursor, uint32_t track, int64_t duration)
{
	const struct tasks *tasks = cursor->state;
	const struct task *task = &tasks->tasks[track];
	struct row *row = task->wanted ? sql_add_row(cursor) : NULL;
	if (row)
		*row = (struct row){
		    .id = task->id,
		    .ts = task->since,
		    .duration = (uint64_t)duration,
		    .track = track,
		    .cpu = {.type = task->state == running ? SQL_ANY_NUMBER : SQL_ANY_NULL, .value.i = task->cpu},
		    .state = task->state,
		    .waker = task->waker,
		    .waker_state = task->waker_state,
		};
	return row || !task->wanted ? 0 : sql_no_memory(cursor);
}

/* A thread comes into a state, which ends the one before. */
static int change(struct sql_cursor *cursor, const struct tw_event *event, uint32_t track, const char *state)
{
	struct tasks *tasks = cursor->state;
	if (!tw_grow(&tasks->tasks, &tasks->room, track + (size_t)1, sizeof *tasks->tasks))
		return sql_no_memory(cursor);
	struct task *task = &tasks->tasks[track];
	int status = 0;
	if (task->known)
		status = add_row(cursor, track, event->time > task->since ? (int64_t)(event->time - task->since) : 0);
	tasks->wanted -= task->known && task->wanted;
	*task = (struct task){
	    .id = event->offset,
	    .since = event->time,
	    .state = state,
	    .waker_state = UINT64_MAX,
	    .cpu = event->cpu,
	    .known = true,
	    .wanted = sql_in_window(cursor, event->time) && sql_on_track(cursor, track),
	};
	tasks->wanted += task->wanted;
	return status;
}

static const struct task *task_of(const struct tasks *tasks, uint32_t track)
{
	static const struct task none;
	return track < tasks->room ? &tasks->tasks[track] : &none;
}

/* Where a switch is missing, another thread leaves than the one that came: what that did since it came is not known,
 * and goes on not to be. */
static void lose(struct tasks *tasks, const struct tw_event *event, uint32_t track)
{
	if (track == event->track || track >= tasks->room)
		return;
	struct task *task = &tasks->tasks[track];
	if (task->known && task->state == running && task->cpu == event->cpu)
		task->state = NULL;
}

/* One that leaves a CPU on which it was not, or comes while it is on another: the switch between is missing, and it is
 * not known what the thread did since the last one. */
static void doubt(struct tasks *tasks, uint32_t track, bool leaves, uint16_t cpu)
{
	struct task *task = track < tasks->room ? &tasks->tasks[track] : NULL;
	const bool runs = task && task->state == running;
	if (task && task->known && (leaves ? !runs || task->cpu != cpu : runs))
		task->state = NULL;
}

static int take_switch(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct tasks *tasks = cursor->state;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(cursor->scan.reader);
	if (!tw_grow(&tasks->running, &tasks->cpu_room, (size_t)event->cpu + 1, sizeof *tasks->running))
		return sql_no_memory(cursor);
	int status = 0;
	lose(tasks, event, tasks->running[event->cpu]);
	if (!tw_sched_leaves_idle(dictionary, event, arguments)) {
		doubt(tasks, event->track, true, event->cpu);
		status = change(cursor, event, event->track, state_word(event->value));
	}
	tasks->running[event->cpu] = event->other;
	if (status == 0 && !tw_sched_comes_idle(dictionary, event, arguments)) {
		doubt(tasks, event->other, false, event->cpu);
		status = change(cursor, event, event->other, running);
	}
	return status;
}

/* One that runs, or could, is not changed by it. */
static int take_wakeup(struct sql_cursor *cursor, const struct tw_event *event)
{
	struct tasks *tasks = cursor->state;
	const char *state = task_of(tasks, event->track)->state;
	bool ready = state && (state == running || *state == *runnable);
	int status = ready ? 0 : change(cursor, event, event->track, runnable);
	const struct task *waker = task_of(tasks, event->other);
	if (!ready && status == 0 && event->other) {
		tasks->tasks[event->track].waker = event->other;
		tasks->tasks[event->track].waker_state = waker->known ? waker->id : UINT64_MAX;
	}
	return status;
}

static int take(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->kind == TW_SWITCH)
		return take_switch(cursor, event, arguments);
	return event->kind == TW_WAKEUP ? take_wakeup(cursor, event) : 0;
}

static int finish(struct sql_cursor *cursor)
{
	const struct tasks *tasks = cursor->state;
	int status = 0;
	for (size_t i = 0; i < tasks->room && status == 0; i++)
		if (tasks->tasks[i].known)
			status = add_row(cursor, (uint32_t)i, -1);
	return status;
}

static bool waits(const struct sql_cursor *cursor)
{
	return ((const struct tasks *)cursor->state)->wanted > 0;
}

static void end(struct sql_cursor *cursor)
{
	struct tasks *tasks = cursor->state;
	free(tasks->tasks);
	free(tasks->running);
	*tasks = (struct tasks){0};
}

const struct sql_table sql_table_thread_state = {
    .name = "thread_state",
    .summary = "what the threads did by the scheduling, in the order in which each ends; without idle ones",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct row),
    .reads.kinds = 1u << TW_SWITCH | 1u << TW_WAKEUP,
    .reads.whole_file = true,
    .reads.in_time = true,
    .state_size = sizeof(struct tasks),
    .take = take,
    .finish = finish,
    .waits = waits,
    .end = end,
};
