/* states.c - the table of what threads did: running, or waiting for a CPU or for something else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/states.h"
#include "core/format.h"
#include "sql/tables/tables.h"

struct state_row {
	uint64_t id, ts, duration;
	uint64_t waker_state;
	uint32_t track, waker;
	struct sql_any cpu;
	const char *state;
};

#define AT(member) offsetof(struct state_row, member)
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

struct state_scan {
	struct tw_thread_states states;
	size_t wanted; /* of these */
};

static int add_row(struct sql_cursor *cursor, uint32_t track, const struct tw_thread_state *state, int64_t duration)
{
	struct state_row *row = state->wanted ? sql_add_row(cursor) : NULL;
	if (row)
		*row = (struct state_row){
		    .id = state->id,
		    .ts = state->since,
		    .duration = (uint64_t)duration,
		    .track = track,
		    .cpu = {.type = state->state == tw_state_running ? SQL_ANY_NUMBER : SQL_ANY_NULL,
		            .value.i = state->cpu},
		    .state = state->state,
		    .waker = state->waker,
		    .waker_state = state->waker_state,
		};
	return row || !state->wanted ? 0 : TW_ERR_MEMORY;
}

static int add_ended(void *owner, uint32_t track, const struct tw_thread_state *state, uint64_t end)
{
	struct sql_cursor *cursor = owner;
	struct state_scan *tasks = cursor->state;
	tasks->wanted -= state->wanted;
	return add_row(cursor, track, state, (int64_t)(end - state->since));
}

static void begin(void *owner, uint32_t track, struct tw_thread_state *state)
{
	struct sql_cursor *cursor = owner;
	struct state_scan *tasks = cursor->state;
	state->wanted = sql_in_window(cursor, state->since) && sql_on_track(cursor, track);
	tasks->wanted += state->wanted;
}

static int take(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct tw_thread_states *states = &((struct state_scan *)cursor->state)->states;
	states->over = add_ended;
	states->begun = begin;
	states->owner = cursor;
	int status = tw_thread_states_take(states, tw_reader_dictionary(cursor->scan.reader), event, arguments);
	return status < 0 ? sql_no_memory(cursor) : 0;
}

static int finish(struct sql_cursor *cursor)
{
	const struct tw_thread_states *states = &((const struct state_scan *)cursor->state)->states;
	int status = 0;
	for (size_t i = 0; i < states->room && status == 0; i++)
		if (states->items[i].known)
			status = add_row(cursor, (uint32_t)i, &states->items[i], -1);
	return status < 0 ? sql_no_memory(cursor) : 0;
}

static bool waits(const struct sql_cursor *cursor)
{
	return ((const struct state_scan *)cursor->state)->wanted > 0;
}

static void end(struct sql_cursor *cursor)
{
	struct state_scan *tasks = cursor->state;
	tw_thread_states_free(&tasks->states);
	*tasks = (struct state_scan){0};
}

const struct sql_table sql_table_thread_state = {
    .name = "thread_state",
    .summary = "what the threads did by the scheduling, in the order in which each ends; without idle ones",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct state_row),
    .reads.kinds = 1u << TW_SWITCH | 1u << TW_WAKEUP,
    .reads.whole_file = true,
    .reads.in_time = true,
    .state_size = sizeof(struct state_scan),
    .take = take,
    .finish = finish,
    .waits = waits,
    .end = end,
};
