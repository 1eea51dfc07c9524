/* slices.c - the table of slices: each when it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/slices.h"

#include "core/format.h"
#include "sql/tables/groups.h"
#include "sql/tables/tables.h"

#include <stdlib.h>

/* ---- The slices that are open. ---- */

static struct sql_slice *slice_of(struct sql_slices *slices, uint32_t row)
{
	row &= ~TW_ROW_HELD;
	return row >= TW_ROW_FIRST ? &slices->open.items[row - TW_ROW_FIRST] : NULL;
}

/* The frame's row of a slice that is free; TW_ROW_OTHER when there is no memory. */
static uint32_t take_free(struct sql_slices *slices)
{
	uint32_t found = slices->open.free;
	if (found) {
		slices->open.free = slices->open.items[found - 1].next;
		return found - 1 + TW_ROW_FIRST;
	}
	if (slices->open.count >= UINT32_MAX - TW_ROW_FIRST - 1 ||
	    !tw_budget_grow(&slices->budget, TW_FOR_ROWS, &slices->open.items, &slices->open.room,
	                    slices->open.count + 1, sizeof *slices->open.items))
		return TW_ROW_OTHER;
	return (uint32_t)slices->open.count++ + TW_ROW_FIRST;
}

static void keep_arguments(struct sql_slices *slices, struct sql_slice *slice)
{
	size_t before = slice->arguments.room;
	if (!slices->event->argument_count)
		return;
	slice->argued = true;
	if (!slices->keep_arguments || !slice->wanted)
		return;
	if (!sql_add_arguments(slices->cursor, &slice->arguments, slices->arguments, slices->event->argument_count))
		slices->failed = true;
	if (!tw_budget_take(&slices->budget, TW_FOR_COUNTS, slice->arguments.room - before))
		slices->full = true;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct sql_slices *slices = (struct sql_slices *)calls;
	const struct tw_event *event = slices->event;
	uint32_t row = take_free(slices);
	struct sql_slice *slice = slice_of(slices, row), *parent = slice_of(slices, caller->row);
	if (!slice) {
		slices->full = true;
		return row;
	}
	struct tw_text arguments = slice->arguments;
	arguments.length = 0;
	*slice = (struct sql_slice){
	    .id = event->offset,
	    .parent = parent ? parent->id : UINT64_MAX,
	    .begin = event->time,
	    .track = calls->track,
	    .name = name,
	    .category = event->category,
	    .depth = tw_calls_depth(calls),
	    .lane = calls->lane,
	    .live = true,
	    .wanted = sql_wants(slices->cursor, event),
	    .complete = event->kind == TW_SLICE_COMPLETE,
	    .waiting.parent_row = caller->row,
	    .own_clock.has_begin = slices->thread_ts,
	    .own_clock.has_duration = slices->thread_dur && event->kind == TW_SLICE_COMPLETE,
	    .own_clock.begin = slices->thread_ts ? slices->thread_ts->value.i : 0,
	    .own_clock.duration = slices->thread_dur ? slices->thread_dur->value.i : 0,
	    .arguments = arguments,
	};
	slices->wanted += slice->wanted;
	if (slices->keep_stacks)
		slice->stack = sql_slices_stack(slices, parent, name);
	keep_arguments(slices, slice);
	return calls->mixed && sql_slices_hold(slices, row - TW_ROW_FIRST) ? row | TW_ROW_HELD : row;
}

/* Whether the event that is being taken ends this slice itself: then its arguments are the slice's, too. What else ends
 * at the same time has none of them. */
static bool is_its_end(const struct sql_slices *slices, const struct sql_slice *slice, enum tw_call_end how)
{
	return how == TW_CALL_ENDED && !slice->complete && slices->event && slices->event->kind == TW_SLICE_END;
}

/* Of a slice whose end is another record. */
static void end_thread_time(const struct sql_slices *slices, struct sql_slice *slice)
{
	slice->own_clock.has_duration = slice->own_clock.has_begin && slices->thread_ts;
	if (slice->own_clock.has_duration)
		slice->own_clock.duration =
		    (int64_t)((uint64_t)slices->thread_ts->value.i - (uint64_t)slice->own_clock.begin);
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct sql_slices *slices = (struct sql_slices *)calls;
	struct sql_slice *slice = slice_of(slices, frame->row);
	const struct sql_slice *parent = slice_of(slices, calls->around->row);
	if (!slice)
		return;
	slice->parent = parent ? parent->id : UINT64_MAX;
	if (is_its_end(slices, slice, how)) {
		keep_arguments(slices, slice);
		end_thread_time(slices, slice);
	}
	slice->waiting.duration = call->duration;
	slice->waiting.self = tw_call_self(call);
	slice->waiting.how = how;
	if (slice->waiting.held) {
		sql_slices_end_held(slices, slice, calls->around->row);
		return;
	}
	if (calls->own->held)
		sql_slices_note_gone(slices, slice, frame->row);
	sql_slices_forget(slices, slice);
}

static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	struct sql_slices *slices = (struct sql_slices *)calls;
	struct sql_slice *slice = slice_of(slices, frame->row), *parent = slice_of(slices, caller->row);
	if (!slice || slice->waiting.held)
		return frame->row;
	slice->parent = parent ? parent->id : UINT64_MAX;
	slice->depth = calls->level + (uint32_t)(frame - calls->stack->space->frames) - 1;
	if (slices->keep_stacks)
		slice->stack = sql_slices_stack(slices, parent, frame->name);
	return frame->row;
}

static const struct tw_call_hooks hooks = {.enter = enter, .leave = leave, .moved = moved};
static const struct tw_call_hooks holding_hooks = {
    .enter = enter,
    .leave = leave,
    .moved = moved,
    .settle = sql_slices_settle,
};

int sql_slices_begin(struct sql_slices *slices, struct sql_cursor *cursor)
{
	slices->cursor = cursor;
	slices->calls.hooks = slices->holds ? &holding_hooks : &hooks;
	slices->calls.budget = &slices->budget;
	slices->calls.rules.in_turn = cursor->scan.reader->traits.in_turn && cursor->scan.order == TW_ORDER_TRACK;
	slices->calls.rules.rounding = cursor->scan.reader->traits.rounding;
	slices->calls.rules.ends_unordered = cursor->scan.reader->traits.ends_unordered;
	tw_budget_reset(&slices->budget, tw_memory_limit(cursor->scan.reader), 1);
	return tw_calls_init(&slices->calls) ? 0 : sql_no_memory(cursor);
}

static int too_many(const struct sql_cursor *cursor, const struct tw_calls *calls)
{
	if (calls->counts.beyond)
		return sql_session_fail(
		    cursor->scan.session, TW_ERR_LIMIT,
		    "%s: more than 1,024 slices of a thread are open at once that do not nest; async "
		    "operations have no such bound",
		    cursor->scan.session->files[cursor->scan.file].path);
	return sql_session_fail(cursor->scan.session, TW_ERR_LIMIT,
	                        "%s: more slices are open at once than the memory limit has room for",
	                        cursor->scan.session->files[cursor->scan.file].path);
}

static int state_of(struct sql_slices *slices)
{
	if (slices->failed || tw_budget_status(&slices->budget) < 0)
		return sql_no_memory(slices->cursor);
	if (slices->full || slices->calls.counts.untimed)
		return too_many(slices->cursor, &slices->calls);
	return 0;
}

/* Takes the thread's times from behind the arguments of an event. */
static void take_thread_times(struct sql_slices *slices, struct tw_event *event, const struct tw_argument *arguments)
{
	slices->thread_ts = slices->thread_dur = NULL;
	for (; event->argument_count; event->argument_count--) {
		const struct tw_argument *last = &arguments[event->argument_count - 1];
		if (last->raw == TW_RAW_THREAD_TS)
			slices->thread_ts = last;
		else if (last->raw == TW_RAW_THREAD_DUR)
			slices->thread_dur = last;
		else
			return;
	}
}

int sql_slices_take(struct sql_slices *slices, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct tw_event plain;
	if (slices->cursor->scan.thread_times) {
		plain = *event;
		take_thread_times(slices, &plain, arguments);
		event = &plain;
	}
	slices->event = event;
	slices->arguments = arguments;
	if (event->track != slices->calls.track)
		tw_calls_switch(&slices->calls, event->track);
	tw_calls_take(&slices->calls, event);
	return slices->failed || slices->full || slices->calls.counts.untimed ? state_of(slices) : 0;
}

int sql_slices_finish(struct sql_slices *slices)
{
	slices->event = NULL;
	slices->thread_ts = slices->thread_dur = NULL;
	tw_calls_finish(&slices->calls);
	return state_of(slices);
}

static const struct tw_call_stack *stack_of_track(const struct sql_slices *slices, uint32_t track)
{
	return track < slices->calls.tracks.stack_room ? &slices->calls.tracks.stacks[track]
	                                               : &slices->calls.tracks.spare;
}

const struct sql_slice *sql_slices_innermost(struct sql_slices *slices, uint32_t track)
{
	const struct tw_frame *frame = tw_calls_innermost(&slices->calls, track);
	return frame ? slice_of(slices, frame->row) : NULL;
}

const struct sql_slice *sql_slices_begun(struct sql_slices *slices, uint32_t track, uint64_t time)
{
	const struct tw_call_stack *own = stack_of_track(slices, track);
	const struct sql_slice *found = NULL;
	for (uint32_t lane = 0; lane <= own->lane_count; lane++) {
		const struct tw_call_stack *stack = tw_lane_at(own, lane);
		for (size_t i = stack->depth; i > 0; i--) {
			const struct sql_slice *slice = slice_of(slices, stack->space->frames[i].row);
			if (!slice || slice->begin != time)
				break;
			found = found && found->depth <= slice->depth ? found : slice;
		}
	}
	return found;
}

void sql_slices_free(struct sql_slices *slices)
{
	for (size_t i = 0; i < slices->open.room; i++)
		tw_text_free(&slices->open.items[i].arguments);
	free(slices->open.items);
	for (size_t i = 0; i < slices->held.room; i++) {
		free(slices->held.items[i].begun);
		free(slices->held.items[i].ended);
		free(slices->held.items[i].gone);
	}
	free(slices->held.items);
	tw_calls_free(&slices->calls);
	*slices = (struct sql_slices){0};
}

/* ---- The table. ---- */

struct slice_row {
	uint64_t id, ts, duration, self, parent, argument_set, stack;
	uint32_t track, name, category, depth, lane;
	const char *end;
	struct sql_text arguments;
	struct sql_any thread_ts, thread_dur;
};

enum {
	ID,
	TS,
	DUR,
	TRACK_ID,
	UTID,
	NAME,
	CATEGORY,
	DEPTH,
	PARENT_ID,
	ARG_SET_ID,
	SELF_DUR,
	END,
	ARGS,
	LANE,
	THREAD_TS,
	THREAD_DUR,
	STACK_ID,
	SLICE_ID,
	SOURCE
};

#define AT(member) offsetof(struct slice_row, member)
static const struct sql_column columns[] = {
    [ID] = {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of the record that begins it"},
    [TS] = {"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "when it begins: ns since the start of the trace"},
    [DUR] = {"dur", "INTEGER", SQL_NUMBER, AT(duration), SQL_PLAIN,
             "ns until its end; of one that is open, to the last event of its thread"},
    [TRACK_ID] = {"track_id", "INTEGER", SQL_TRACK, AT(track), SQL_IS_TRACK, "its track: that of its thread"},
    [UTID] = {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "its thread: thread.utid"},
    [NAME] = {"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "its name, or that of the function"},
    [CATEGORY] = {"category", "TEXT", SQL_NAME, AT(category), SQL_IS_CATEGORY, "its category"},
    [DEPTH] = {"depth", "INTEGER", SQL_SMALL, AT(depth), SQL_PLAIN, "how many slices it is inside of"},
    [PARENT_ID] = {"parent_id", "INTEGER", SQL_RECORD, AT(parent), SQL_PLAIN,
                   "the slice that it is directly inside of"},
    [ARG_SET_ID] = {"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN,
                    "its arguments: args.arg_set_id; NULL where it has none"},
    [SELF_DUR] = {"self_dur", "INTEGER", SQL_NUMBER, AT(self), SQL_PLAIN,
                  "ns of dur that are not in slices directly inside"},
    [END] = {"end_kind", "TEXT", SQL_WORD, AT(end), SQL_PLAIN,
             "how it ended: 'ended', 'unwound' (by the end of a slice around it), 'open' (not at all)"},
    [ARGS] = {"args", "TEXT", SQL_TEXT, AT(arguments), SQL_IS_COSTLY, "its arguments as a JSON object"},
    [LANE] = {"lane", "INTEGER", SQL_SMALL, AT(lane), SQL_PLAIN,
              "0; of slices that overlap others of the thread without being inside of them, a further lane"},
    [THREAD_TS] = {"thread_ts", "INTEGER", SQL_ANY, AT(thread_ts), SQL_PLAIN,
                   "when it begins, in ns of the clock that goes on while its thread runs; NULL: not told"},
    [THREAD_DUR] = {"thread_dur", "INTEGER", SQL_ANY, AT(thread_dur), SQL_PLAIN,
                    "ns of dur that its thread ran; NULL: not told"},
    [STACK_ID] = {"stack_id", "INTEGER", SQL_NUMBER, AT(stack), SQL_IS_HIDDEN,
                  "the same for all slices whose names, and the names of those around them, are the same"},
    [SLICE_ID] = {"slice_id", "INTEGER", SQL_RECORD, AT(id), SQL_IS_HIDDEN, "the same as id"},
    [SOURCE] = {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static const char *const ends[] = {[TW_CALL_ENDED] = "ended", [TW_CALL_UNWOUND] = "unwound", [TW_CALL_OPEN] = "open"};

static struct sql_any any_number(bool known, int64_t number)
{
	return (struct sql_any){.type = known ? SQL_ANY_NUMBER : SQL_ANY_NULL, .value.i = number};
}

static void add_row(struct sql_slices *slices, const struct sql_slice *slice, uint64_t duration, uint64_t self,
                    enum tw_call_end how)
{
	if (!slice->wanted)
		return;
	struct slice_row *row = sql_add_row(slices->cursor);
	if (!row) {
		slices->failed = true;
		return;
	}
	*row = (struct slice_row){
	    .id = slice->id,
	    .ts = slice->begin,
	    .duration = duration,
	    .self = self,
	    .parent = slice->parent,
	    .argument_set = slice->argued ? slice->id : UINT64_MAX,
	    .track = slice->track,
	    .name = slice->name,
	    .category = slice->category,
	    .depth = slice->depth,
	    .lane = slice->lane,
	    .stack = slice->stack,
	    .end = ends[how],
	    .thread_ts = any_number(slice->own_clock.has_begin, slice->own_clock.begin),
	    .thread_dur = any_number(slice->own_clock.has_duration, slice->own_clock.duration),
	};
	if (slice->arguments.length && !sql_keep_object(slices->cursor, &slice->arguments, &row->arguments))
		slices->failed = true;
}

static int begin(struct sql_cursor *cursor)
{
	struct sql_slices *slices = cursor->state;
	slices->ended = add_row;
	slices->keep_arguments = sql_uses(cursor, ARGS);
	slices->keep_stacks = sql_uses(cursor, STACK_ID);
	slices->holds = slices->keep_stacks || sql_uses(cursor, DEPTH) || sql_uses(cursor, LANE);
	return sql_slices_begin(slices, cursor);
}

static int take(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	return sql_slices_take(cursor->state, event, arguments);
}

/* Where only begins and ends have been read: how long the threads of what is open went on, the survey knows. */
static void go_on(struct sql_cursor *cursor, struct tw_calls *calls)
{
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	for (uint32_t i = 0; i < calls->tracks.stack_room; i++) {
		uint64_t last =
		    calls->tracks.stacks[i].depth ? survey->tracks.items[sql_scan_track(&cursor->scan, i)].last : 0;
		if (last > calls->tracks.stacks[i].last)
			calls->tracks.stacks[i].last = last;
	}
}

static int finish(struct sql_cursor *cursor)
{
	struct sql_slices *slices = cursor->state;
	if (slices->wanted && cursor->query.used & cursor->table->reads.lasting && cursor->scan.kinds != UINT32_MAX)
		go_on(cursor, &slices->calls);
	return sql_slices_finish(slices);
}

static bool waits(const struct sql_cursor *cursor)
{
	const struct sql_slices *slices = cursor->state;
	return slices->wanted > 0;
}

static void end(struct sql_cursor *cursor)
{
	sql_slices_free(cursor->state);
}

/* ---- Calls by track, without their records. ---- */

struct track_calls {
	struct tw_calls calls; /* first: hooks get it */
	struct tw_budget budget;
	struct sql_cursor *cursor;
	int status;
	bool failed;
};

/* Every call is put on the stack by its name alone. */
static uint32_t find_by_track(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	(void)calls;
	(void)caller;
	(void)name;
	return TW_ROW_FIRST;
}

static void leave_by_track(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                           enum tw_call_end how)
{
	struct track_calls *reading = (struct track_calls *)calls;
	if (!sql_in_window(reading->cursor, frame->begin))
		return;
	const struct slice_row row = {
	    .ts = frame->begin,
	    .duration = call->duration,
	    .self = tw_call_self(call),
	    .track = calls->track,
	    .name = frame->name,
	    .end = ends[how],
	};
	if (!sql_groups_put(reading->cursor->groups, &row))
		reading->failed = true;
}

static const struct tw_call_hooks by_track_hooks = {.enter = find_by_track, .leave = leave_by_track};

static void take_by_track(void *context, unsigned part, const struct tw_call_run *run)
{
	struct track_calls *reading = context;
	(void)part;
	if (reading->status < 0 || reading->failed)
		return;
	tw_calls_add_run(&reading->calls, run, find_by_track, leave_by_track, false);
	reading->status = sql_groups_settle(reading->cursor->groups);
}

static bool is_stopped(void *context)
{
	const struct track_calls *reading = context;
	return sql_session_stops(reading->cursor->scan.session);
}

static int read_calls(struct sql_cursor *cursor)
{
	struct track_calls reading = {.cursor = cursor, .calls = {.hooks = &by_track_hooks, .name_limit = SIZE_MAX}};
	struct tw_reader *reader = cursor->scan.reader;
	reading.calls.budget = &reading.budget;
	reading.calls.rules.ends_unordered = reader->traits.ends_unordered;
	tw_budget_reset(&reading.budget, tw_memory_limit(reader), 1);
	if (!tw_calls_init(&reading.calls))
		return sql_no_memory(cursor);
	const struct tw_call_taker taker = {
	    .parts = 1,
	    .take = take_by_track,
	    .stops = is_stopped,
	    .context = &reading,
	};
	tw_begin(reader, TW_USE_EVENTS,
	         &(struct tw_request){.kinds = cursor->table->reads.kinds}); /* that is all it needs */
	int status = sql_scan_ended(&cursor->scan, reader->format->reading.calls_by_track(reader, &taker));
	tw_calls_finish(&reading.calls);
	tw_calls_free(&reading.calls);
	if (reading.failed || tw_budget_status(&reading.budget) < 0)
		return sql_no_memory(cursor);
	if (reading.calls.counts.untimed)
		return too_many(cursor, &reading.calls);
	return status < 0 ? status : reading.status;
}

const struct sql_table sql_table_slice = {
    .name = "slice",
    .summary = "calls and other slices of the threads, in the order in which they end",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct slice_row),
    .reads.kinds = 1u << TW_SLICE_BEGIN | 1u << TW_SLICE_END | 1u << TW_SLICE_COMPLETE,
    .reads.lasting = 1u << DUR | 1u << SELF_DUR,
    .reads.windowed = true,
    .thread_times = 1u << THREAD_TS | 1u << THREAD_DUR,
    .state_size = sizeof(struct sql_slices),
    .begin = begin,
    .take = take,
    .finish = finish,
    .read_calls = read_calls,
    .call_columns =
	1u << TS | 1u << DUR | 1u << TRACK_ID | 1u << UTID | 1u << NAME | 1u << SELF_DUR | 1u << END | 1u << SOURCE,
    .waits = waits,
    .end = end,
};
