/* sched.c - the table of scheduling: which thread ran on which CPU, from when to when. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/sched.h"
#include "core/format.h"
#include "sql/tables/tables.h"

#include <trackway/sched.h>

#include <stdlib.h>

struct sched_row {
	uint64_t id, ts, duration, argument_set;
	uint32_t track, cpu;
	const char *end;
	struct sql_any priority;
};

enum { PRIORITY = 6 }; /* column */

#define AT(member) offsetof(struct sched_row, member)
static const struct sql_column columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of the record of the switch to it"},
    {"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "since when it runs: ns since the start of the trace"},
    {"dur", "INTEGER", SQL_NUMBER, AT(duration), SQL_PLAIN, "ns until the next switch of the CPU; -1: there is none"},
    {"cpu", "INTEGER", SQL_SMALL, AT(cpu), SQL_PLAIN, "the CPU"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK,
     "the thread: thread.utid; NULL where a switch is missing: another one left than had come"},
    {"end_state", "TEXT", SQL_WORD, AT(end), SQL_PLAIN,
     "the thread's state after it: 'running', 'blocked', 'suspended', 'new', 'dying', 'dead'; NULL where unknown"},
    {"priority", "INTEGER", SQL_ANY, AT(priority), SQL_IS_COSTLY,
     "its priority, or weight, where the switch to it tells it"},
    {"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN,
     "the arguments of the switch to it: args.arg_set_id; NULL where it has none"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

/* What runs on a CPU. */
struct cpu_state {
	uint64_t id, since, argument_set;
	uint32_t track;
	bool busy, idle, wanted;
	struct sql_any priority;
};

struct cores {
	struct cpu_state *cores; /* by number: 16 bits */
	size_t room;
	size_t wanted;
};

/* What is not known of a CPU is no thread's. */
static void lose(struct sql_cursor *cursor, struct cpu_state *core)
{
	core->track = 0;
	core->wanted = core->wanted && sql_on_track(cursor, 0);
}

static int add_row(struct sql_cursor *cursor, unsigned cpu, int64_t duration, const char *end)
{
	const struct cores *cores = cursor->state;
	const struct cpu_state *core = &cores->cores[cpu];
	struct sched_row *row = core->wanted ? sql_add_row(cursor) : NULL;
	if (row)
		*row = (struct sched_row){
		    .id = core->id,
		    .ts = core->since,
		    .duration = (uint64_t)duration,
		    .track = core->track,
		    .cpu = cpu,
		    .end = end,
		    .argument_set = core->argument_set,
		    .priority = core->priority,
		};
	return row || !core->wanted ? 0 : sql_no_memory(cursor);
}

static struct sql_any priority_of(const struct sql_cursor *cursor, const struct tw_event *event,
                                  const struct tw_argument *arguments)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(cursor->scan.reader);
	const struct tw_argument *found = NULL;
	if (sql_uses(cursor, PRIORITY))
		found = tw_sched_argument(dictionary, event, arguments, "incoming_priority");
	if (sql_uses(cursor, PRIORITY) && !found)
		found = tw_sched_argument(dictionary, event, arguments, "incoming_weight");
	bool whole = found && (found->type == TW_ARG_INT || found->type == TW_ARG_UINT);
	return (struct sql_any){.type = whole ? SQL_ANY_NUMBER : SQL_ANY_NULL, .value.i = whole ? found->value.i : 0};
}

static int take_switch(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct cores *cores = cursor->state;
	if (!tw_grow(&cores->cores, &cores->room, (size_t)event->cpu + 1, sizeof *cores->cores))
		return sql_no_memory(cursor);
	struct cpu_state *core = &cores->cores[event->cpu];
	int64_t duration = event->time > core->since ? (int64_t)(event->time - core->since) : 0;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(cursor->scan.reader);
	bool its = core->track == event->track && event->value <= UINT32_MAX;
	int status = 0;
	cores->wanted -= core->busy && core->wanted;
	if (core->track != event->track && !(core->idle && tw_sched_leaves_idle(dictionary, event, arguments)))
		lose(cursor, core);
	if (core->busy)
		status =
		    add_row(cursor, event->cpu, duration, its ? tw_sched_state_name((unsigned)event->value) : NULL);
	*core = (struct cpu_state){
	    .id = event->offset,
	    .since = event->time,
	    .argument_set = event->argument_count ? event->offset : UINT64_MAX,
	    .track = event->other,
	    .busy = true,
	    .idle = tw_sched_comes_idle(dictionary, event, arguments),
	    .priority = priority_of(cursor, event, arguments),
	    .wanted = sql_in_window(cursor, event->time) && sql_on_track(cursor, event->other),
	};
	cores->wanted += core->wanted;
	return status;
}

static int take(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	return event->kind == TW_SWITCH ? take_switch(cursor, event, arguments) : 0;
}

static int finish(struct sql_cursor *cursor)
{
	const struct cores *cores = cursor->state;
	int status = 0;
	for (size_t i = 0; i < cores->room && status == 0; i++)
		if (cores->cores[i].busy)
			status = add_row(cursor, (unsigned)i, -1, NULL);
	return status;
}

static bool waits(const struct sql_cursor *cursor)
{
	return ((const struct cores *)cursor->state)->wanted > 0;
}

static void end(struct sql_cursor *cursor)
{
	struct cores *cores = cursor->state;
	free(cores->cores);
	*cores = (struct cores){0};
}

const struct sql_table sql_table_sched = {
    .name = "sched",
    .summary = "which thread ran on which CPU, in the order in which each was left",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct sched_row),
    .reads.kinds = 1u << TW_SWITCH,
    .reads.whole_file = true,
    .reads.in_time = true,
    .state_size = sizeof(struct cores),
    .take = take,
    .finish = finish,
    .waits = waits,
    .end = end,
};
