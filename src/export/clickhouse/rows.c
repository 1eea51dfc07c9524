/* rows.c - events that are no slices as rows of ClickHouse: counters, scheduling, samples, messages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/stack_text.h"
#include "export/clickhouse/clickhouse.h"
#include "export/text/args.h"

enum { STACK_MAX = 32 << 10 }; /* bytes of a stack's text; the outermost functions are left out */

/* ---- Counters, messages, samples. ---- */

static void put_counter(struct clickhouse *clickhouse, const struct tw_event *event, const struct tw_argument *argument)
{
	struct tw_native_block *block =
	    tw_clickhouse_track_row(clickhouse, TW_TABLE_COUNTER, event->track, event->time, event->offset);
	tw_clickhouse_name(clickhouse, block, COUNTER_NAME, event->name);
	tw_clickhouse_name(clickhouse, block, COUNTER_SERIES, argument->name);
	tw_native_double(block, COUNTER_VALUE, tw_clickhouse_number(argument));
	tw_native_number(block, COUNTER_KEY, event->id);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_COUNTER);
}

static void take_counter(struct clickhouse *clickhouse, const struct tw_event *event)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &clickhouse->arguments[event->first_argument + i];
		if (tw_args_is_number(argument))
			put_counter(clickhouse, event, argument);
		else
			tw_clickhouse_argument(clickhouse, event, event->offset, argument);
	}
}

static void take_log(struct clickhouse *clickhouse, const struct tw_event *event)
{
	static const struct tw_argument nothing = {0};
	struct tw_native_block *block =
	    tw_clickhouse_track_row(clickhouse, TW_TABLE_LOG, event->track, event->time, event->offset);
	tw_clickhouse_name(clickhouse, block, LOG_NAME, event->name);
	tw_clickhouse_name(clickhouse, block, LOG_CATEGORY, event->category);
	tw_native_number(block, LOG_SEVERITY, event->value);
	tw_clickhouse_value(clickhouse, block, LOG_TEXT,
	                    event->argument_count ? &clickhouse->arguments[event->first_argument] : &nothing);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_LOG);
	tw_clickhouse_arguments(clickhouse, event, event->offset, 1);
}

static void put_stack(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column, uint32_t stack)
{
	if (tw_native_known(block, column, stack))
		return;
	struct tw_text *text = &clickhouse->piece.text;
	enum tw_stack_fit fit = tw_stack_text(text, clickhouse->dictionary, stack, STACK_MAX);
	clickhouse->failed |= fit == TW_STACK_NO_MEMORY;
	tw_count_losses(clickhouse->writer, "deep stack", true, fit == TW_STACK_CUT);
	if (!clickhouse->failed)
		tw_native_key(block, column, stack, text->bytes, text->length);
}

static void take_sample(struct clickhouse *clickhouse, const struct tw_event *event)
{
	const struct tw_dictionary *dictionary = clickhouse->dictionary;
	struct tw_native_block *block =
	    tw_clickhouse_track_row(clickhouse, TW_TABLE_SAMPLE, event->track, event->time, event->offset);
	uint32_t location = tw_dictionary_stack(dictionary, event->other)->location;
	uint32_t name =
	    event->kind == TW_ALLOCATION_SAMPLE ? event->name : tw_dictionary_location(dictionary, location)->name;
	tw_native_word(block, SAMPLE_KIND, tw_event_kind_name(event->kind));
	tw_clickhouse_name(clickhouse, block, SAMPLE_NAME, name);
	put_stack(clickhouse, block, SAMPLE_STACK, event->other);
	tw_native_number(block, SAMPLE_VALUE, event->value);
	tw_native_number(block, SAMPLE_WEIGHT, event->id);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_SAMPLE);
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

/* ---- Scheduling. ---- */

/* FXT, "Scheduling Record": the states of a thread that leaves. */
static const char *state_name(uint64_t state)
{
	static const char *const states[] = {"new", "running", "suspended", "blocked", "dying", "dead"};
	return state < sizeof states / sizeof *states ? states[state] : "other";
}

struct ran {
	const char *kind, *state;
	uint64_t duration, waker;
	uint16_t cpu;
};

static void put_sched(struct clickhouse *clickhouse, struct tw_native_block *block, const struct ran *ran)
{
	tw_native_word(block, SCHED_KIND, ran->kind);
	tw_native_number(block, SCHED_CPU, ran->cpu);
	tw_native_number(block, SCHED_DURATION, ran->duration);
	tw_native_word(block, SCHED_STATE, ran->state);
	tw_native_number(block, SCHED_WAKER, ran->waker);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_SCHED);
}

/* What ran on a CPU until a time. */
static void put_run(struct clickhouse *clickhouse, size_t cpu, uint64_t until, uint32_t track, const char *state)
{
	const struct clickhouse_core *core = &clickhouse->cores.items[cpu];
	const struct ran ran = {
	    .kind = "run",
	    .state = state,
	    .duration = until > core->since ? until - core->since : 0,
	    .cpu = (uint16_t)cpu,
	};
	put_sched(clickhouse, tw_clickhouse_track_row(clickhouse, TW_TABLE_SCHED, track, core->since, core->id), &ran);
}

static uint64_t thread_of(const struct clickhouse *clickhouse, uint32_t track)
{
	return tw_dictionary_track(clickhouse->dictionary, track)->thread;
}

/* Where another thread leaves than had come, a switch is missing, and who ran is not known: track 0. */
static void take_switch(struct clickhouse *clickhouse, const struct tw_event *event)
{
	if (!tw_grow(&clickhouse->cores.items, &clickhouse->cores.room, (size_t)event->cpu + 1,
	             sizeof *clickhouse->cores.items)) {
		clickhouse->failed = true;
		return;
	}
	struct clickhouse_core *core = &clickhouse->cores.items[event->cpu];
	bool its = core->track == event->track;
	bool idle = thread_of(clickhouse, core->track) == 0 && thread_of(clickhouse, event->track) == 0;
	if (core->busy)
		put_run(clickhouse, event->cpu, event->time, its || idle ? core->track : 0,
		        its ? state_name(event->value) : "");
	*core = (struct clickhouse_core){
	    .id = event->offset,
	    .since = event->time,
	    .track = event->other,
	    .busy = true,
	};
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

static void take_wakeup(struct clickhouse *clickhouse, const struct tw_event *event)
{
	const struct ran woken = {
	    .kind = "wakeup",
	    .state = "",
	    .waker = event->other ? thread_of(clickhouse, event->other) : 0,
	    .cpu = event->cpu,
	};
	put_sched(clickhouse,
	          tw_clickhouse_track_row(clickhouse, TW_TABLE_SCHED, event->track, event->time, event->offset),
	          &woken);
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

void tw_clickhouse_finish_rows(struct clickhouse *clickhouse)
{
	uint64_t end = tw_reader_clock(clickhouse->reader)->end_ns;
	for (size_t i = 0; i < clickhouse->cores.room; i++)
		if (clickhouse->cores.items[i].busy)
			put_run(clickhouse, i, end, clickhouse->cores.items[i].track, "");
}

/* ---- All kinds. ---- */

typedef void take_fn(struct clickhouse *clickhouse, const struct tw_event *event);

static void take_instant(struct clickhouse *clickhouse, const struct tw_event *event)
{
	tw_clickhouse_moment(clickhouse, event, 0);
}

static void take_moment_of(struct clickhouse *clickhouse, const struct tw_event *event)
{
	tw_clickhouse_moment(clickhouse, event, event->id);
}

static void take_metadata(struct clickhouse *clickhouse, const struct tw_event *event)
{
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

static void leave_out(struct clickhouse *clickhouse, const struct tw_event *event)
{
	tw_leave_out(clickhouse->writer, event);
}

static take_fn *const takes[TW_EVENT_KINDS] = {
    [TW_INSTANT] = take_instant,
    [TW_COUNTER] = take_counter,
    [TW_ASYNC_BEGIN] = tw_clickhouse_take_async,
    [TW_ASYNC_INSTANT] = take_moment_of,
    [TW_ASYNC_END] = tw_clickhouse_take_async,
    [TW_FLOW_BEGIN] = take_moment_of,
    [TW_FLOW_STEP] = take_moment_of,
    [TW_FLOW_END] = take_moment_of,
    [TW_SWITCH] = take_switch,
    [TW_WAKEUP] = take_wakeup,
    [TW_STACK_SAMPLE] = take_sample,
    [TW_CPU_SAMPLE] = take_sample,
    [TW_ALLOCATION_SAMPLE] = take_sample,
    [TW_LOG] = take_log,
    [TW_OBJECT] = leave_out,
    [TW_BLOB] = leave_out,
    [TW_INSTRUCTIONS] = leave_out,
    [TW_LOST] = leave_out,
    [TW_METADATA] = take_metadata,
};

void tw_clickhouse_take(struct clickhouse *clickhouse, const struct tw_event *event)
{
	if (takes[event->kind])
		takes[event->kind](clickhouse, event);
}
