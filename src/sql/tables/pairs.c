/* pairs.c - the tables of asynchronous operations and of flows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/pairs.h"
#include "core/format.h"
#include "sql/tables/slices.h"
#include "sql/tables/tables.h"

#include <stdlib.h>

enum { SHARE = 8 }; /* of the memory limit */

/* NULL when there is no memory, or no room. */
static struct tw_open_pair *add_open(struct sql_cursor *cursor, struct tw_pairs *pairs, uint64_t key)
{
	return tw_pairs_add(pairs, key, tw_memory_limit(cursor->scan.reader) / SHARE);
}

static int too_many(const struct sql_cursor *cursor)
{
	return sql_session_fail(cursor->scan.session, TW_ERR_LIMIT,
	                        "%s: more %s are open at once than the memory limit has room for",
	                        cursor->scan.session->files[cursor->scan.file].path, cursor->table->name);
}

/* ---- async_slice ---- */

struct async_row {
	uint64_t id, ts, duration, async_id, argument_set;
	uint32_t track, name, category;
	struct sql_text arguments;
};

#define AT(member) offsetof(struct async_row, member)
static const struct sql_column async_columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of the record that begins it"},
    {"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "when it begins: ns since the start of the trace"},
    {"dur", "INTEGER", SQL_NUMBER, AT(duration), SQL_PLAIN, "ns until its end; -1: it has none"},
    {"track_id", "INTEGER", SQL_TRACK, AT(track), SQL_IS_TRACK, "the track of the thread where it begins"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "the thread where it begins: thread.utid"},
    {"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "its name"},
    {"category", "TEXT", SQL_NAME, AT(category), SQL_IS_CATEGORY, "its category"},
    {"async_id", "INTEGER", SQL_UNSIGNED, AT(async_id), SQL_PLAIN, "what its begin and its end have in common"},
    {"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN,
     "the arguments of its begin: args.arg_set_id; NULL where it has none"},
    {"args", "TEXT", SQL_TEXT, AT(arguments), SQL_IS_COSTLY, "the arguments of its begin and its end as a JSON object"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

enum { ASYNC_ARGS = 9 };

/* What only these have, by place of the open item. */
struct operation {
	uint64_t id;
	struct tw_text arguments; /* the inside of an object */
};

struct async {
	struct tw_pairs opens;
	struct operation *operations;
	size_t operation_room;
	size_t text_room; /* of all arguments */
};

/* 0 where nobody asks for them. */
static int keep_arguments(struct sql_cursor *cursor, struct operation *operation, const struct tw_event *event,
                          const struct tw_argument *arguments)
{
	struct async *async = cursor->state;
	struct tw_text *text = &operation->arguments;
	size_t before = text->room;
	if (event->argument_count == 0 || !sql_uses(cursor, ASYNC_ARGS))
		return 0;
	if (!sql_add_arguments(cursor, text, arguments, event->argument_count))
		return sql_no_memory(cursor);
	async->text_room += text->room - before;
	return async->text_room > tw_memory_limit(cursor->scan.reader) / SHARE ? too_many(cursor) : 0;
}

static int begin_async(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct async *async = cursor->state;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(cursor->scan.reader);
	const size_t limit = tw_memory_limit(cursor->scan.reader) / SHARE;
	struct tw_open_pair *item = tw_pairs_begin(&async->opens, dictionary, event, limit);
	if (!item)
		return too_many(cursor);
	size_t place = (size_t)(item - async->opens.items);
	if (!tw_grow(&async->operations, &async->operation_room, place + 1, sizeof *async->operations))
		return sql_no_memory(cursor);
	struct operation *operation = &async->operations[place];
	operation->id = event->id;
	operation->arguments.length = 0;
	item->id = event->offset;
	item->ts = event->time;
	item->argument_set = event->argument_count ? event->offset : UINT64_MAX;
	item->track = event->track;
	item->name = event->name;
	item->category = event->category;
	item->wanted = sql_wants(cursor, event);
	async->opens.wanted += item->wanted;
	return item->wanted ? keep_arguments(cursor, operation, event, arguments) : 0;
}

static int add_async(struct sql_cursor *cursor, const struct tw_open_pair *item, int64_t duration)
{
	const struct async *async = cursor->state;
	const struct operation *operation = &async->operations[item - async->opens.items];
	struct async_row *row = item->wanted ? sql_add_row(cursor) : NULL;
	if (!row)
		return item->wanted ? sql_no_memory(cursor) : 0;
	*row = (struct async_row){
	    .id = item->id,
	    .ts = item->ts,
	    .duration = (uint64_t)duration,
	    .async_id = operation->id,
	    .argument_set = item->argument_set,
	    .track = item->track,
	    .name = item->name,
	    .category = item->category,
	};
	if (operation->arguments.length && !sql_keep_object(cursor, &operation->arguments, &row->arguments))
		return sql_no_memory(cursor);
	return 0;
}

static int end_async(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct async *async = cursor->state;
	struct tw_open_pair *item = tw_pairs_ended(&async->opens, tw_reader_dictionary(cursor->scan.reader), event);
	if (!item)
		return 0;
	struct operation *operation = &async->operations[item - async->opens.items];
	int status = item->wanted ? keep_arguments(cursor, operation, event, arguments) : 0;
	if (status == 0)
		status = add_async(cursor, item, event->time > item->ts ? (int64_t)(event->time - item->ts) : 0);
	tw_pairs_remove(&async->opens, item);
	return status < 0 || tw_pairs_sweep(&async->opens) ? status : sql_no_memory(cursor);
}

static int take_async(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->kind == TW_ASYNC_BEGIN)
		return begin_async(cursor, event, arguments);
	return event->kind == TW_ASYNC_END ? end_async(cursor, event, arguments) : 0;
}

static int finish_async(struct sql_cursor *cursor)
{
	struct async *async = cursor->state;
	int status = 0;
	for (size_t i = 0; i < async->opens.count && status == 0; i++)
		if (async->opens.items[i].key)
			status = add_async(cursor, &async->opens.items[i], -1);
	return status;
}

static bool async_waits(const struct sql_cursor *cursor)
{
	return ((const struct async *)cursor->state)->opens.wanted > 0;
}

static void end_of_async(struct sql_cursor *cursor)
{
	struct async *async = cursor->state;
	tw_pairs_free(&async->opens);
	for (size_t i = 0; i < async->operation_room; i++)
		tw_text_free(&async->operations[i].arguments);
	free(async->operations);
	*async = (struct async){0};
}

const struct sql_table sql_table_async_slice = {
    .name = "async_slice",
    .summary = "operations that may begin on one thread and end on another, in the order in which they end",
    SQL_COLUMNS(async_columns),
    .row_size = sizeof(struct async_row),
    .reads.kinds = 1u << TW_ASYNC_BEGIN | 1u << TW_ASYNC_END,
    .reads.whole_file = true,
    .reads.in_time = true,
    .state_size = sizeof(struct async),
    .take = take_async,
    .finish = finish_async,
    .waits = async_waits,
    .end = end_of_async,
};

/* ---- flow ---- */

struct flow_row {
	uint64_t id, ts, ts_out, slice_out, slice_in, trace_id, argument_set;
	uint32_t track, track_out, name, category;
	struct sql_text arguments;
};

#define AT(member) offsetof(struct flow_row, member)
static const struct sql_column flow_columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of the record where it arrives"},
    {"slice_out", "INTEGER", SQL_RECORD, AT(slice_out), SQL_PLAIN, "the slice that it leaves; NULL where none is open"},
    {"slice_in", "INTEGER", SQL_RECORD, AT(slice_in), SQL_PLAIN,
     "the slice where it arrives; NULL where there is none"},
    {"trace_id", "INTEGER", SQL_UNSIGNED, AT(trace_id), SQL_PLAIN, "what all of one flow have in common"},
    {"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN,
     "the arguments where it arrives: args.arg_set_id; NULL where there are none"},
    {"ts_out", "INTEGER", SQL_TIME, AT(ts_out), SQL_PLAIN, "when it leaves: ns since the start of the trace"},
    {"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "when it arrives"},
    {"utid_out", "INTEGER", SQL_THREAD, AT(track_out), SQL_PLAIN, "the thread that it leaves: thread.utid"},
    {"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "the thread where it arrives: thread.utid"},
    {"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "its name"},
    {"category", "TEXT", SQL_NAME, AT(category), SQL_IS_CATEGORY, "its category"},
    {"args", "TEXT", SQL_TEXT, AT(arguments), SQL_IS_COSTLY, "the arguments where it arrives as a JSON object"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

enum { FLOW_ARGS = 11 };

/* One that has arrived, but not at a slice: it binds to the next one of the thread. */
struct arrival {
	struct flow_row row;
	struct tw_text arguments; /* the inside of an object */
};

struct flows {
	struct sql_slices slices;
	struct tw_pairs opens;
	struct tw_pairs waiting;  /* by track */
	struct arrival *arrivals; /* by place of those */
	size_t arrival_room;
	size_t text_room; /* of their arguments */
};

static int begin_flows(struct sql_cursor *cursor)
{
	struct flows *flows = cursor->state;
	return sql_slices_begin(&flows->slices, cursor);
}

static struct flow_row row_of_flow(const struct tw_event *event, const struct tw_open_pair *from)
{
	return (struct flow_row){
	    .id = event->offset,
	    .ts = event->time,
	    .ts_out = from->ts,
	    .slice_out = from->slice,
	    .slice_in = UINT64_MAX,
	    .trace_id = event->id,
	    .argument_set = event->argument_count ? event->offset : UINT64_MAX,
	    .track = event->track,
	    .track_out = from->track,
	    .name = event->name,
	    .category = event->category,
	};
}

static int add_flow(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments,
                    const struct tw_open_pair *from, uint64_t slice)
{
	struct flow_row *row = sql_wants(cursor, event) ? sql_add_row(cursor) : NULL;
	if (!row)
		return sql_wants(cursor, event) ? sql_no_memory(cursor) : 0;
	*row = row_of_flow(event, from);
	row->slice_in = slice;
	if (sql_uses(cursor, FLOW_ARGS) &&
	    !sql_keep_arguments(cursor, arguments, event->argument_count, &row->arguments))
		return sql_no_memory(cursor);
	return 0;
}

/* ---- Arrivals that bind to the next slice. ---- */

static uint64_t key_of_track(uint32_t track)
{
	return tw_hash64(track) | 1;
}

static int keep_arrival(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments,
                        const struct tw_open_pair *from)
{
	struct flows *flows = cursor->state;
	struct tw_open_pair *item =
	    sql_wants(cursor, event) ? add_open(cursor, &flows->waiting, key_of_track(event->track)) : NULL;
	if (!item)
		return sql_wants(cursor, event) ? too_many(cursor) : 0;
	size_t place = (size_t)(item - flows->waiting.items);
	if (!tw_grow(&flows->arrivals, &flows->arrival_room, place + 1, sizeof *flows->arrivals))
		return sql_no_memory(cursor);
	struct arrival *arrival = &flows->arrivals[place];
	size_t before = arrival->arguments.room;
	item->wanted = true;
	flows->waiting.wanted++;
	arrival->row = row_of_flow(event, from);
	arrival->arguments.length = 0;
	if (sql_uses(cursor, FLOW_ARGS) &&
	    !sql_add_arguments(cursor, &arrival->arguments, arguments, event->argument_count))
		return sql_no_memory(cursor);
	flows->text_room += arrival->arguments.room - before;
	return flows->text_room > tw_memory_limit(cursor->scan.reader) / SHARE ? too_many(cursor) : 0;
}

static int add_arrival(struct sql_cursor *cursor, const struct arrival *arrival, uint64_t slice)
{
	struct flow_row *row = sql_add_row(cursor);
	if (!row)
		return sql_no_memory(cursor);
	*row = arrival->row;
	row->slice_in = slice;
	bool kept = !arrival->arguments.length || sql_keep_object(cursor, &arrival->arguments, &row->arguments);
	return kept ? 0 : sql_no_memory(cursor);
}

/* A slice begins: what waits on its track arrives there. */
static int bind_arrivals(struct sql_cursor *cursor, const struct tw_event *event)
{
	struct flows *flows = cursor->state;
	int status = 0;
	for (struct tw_open_pair *item; status == 0 && flows->waiting.going &&
	                                (item = tw_pairs_find(&flows->waiting, key_of_track(event->track)));) {
		status = add_arrival(cursor, &flows->arrivals[item - flows->waiting.items], event->offset);
		tw_pairs_remove(&flows->waiting, item);
	}
	return status < 0 || tw_pairs_sweep(&flows->waiting) ? status : sql_no_memory(cursor);
}

static int finish_flows(struct sql_cursor *cursor)
{
	struct flows *flows = cursor->state;
	int status = 0;
	for (size_t i = 0; i < flows->waiting.count && status == 0; i++)
		if (flows->waiting.items[i].key)
			status = add_arrival(cursor, &flows->arrivals[i], UINT64_MAX);
	return status;
}

static bool flows_wait(const struct sql_cursor *cursor)
{
	return ((const struct flows *)cursor->state)->waiting.wanted > 0;
}

/* Where an event of a flow arrives, or leaves: the innermost slice, or for one that binds to the next slice the
 * outermost one that begins just then. UINT64_MAX: none. */
static uint64_t slice_of_flow(struct flows *flows, const struct tw_event *event)
{
	const struct sql_slice *inside = event->kind == TW_FLOW_END && event->other == TW_FLOW_NEXT
	                                     ? sql_slices_begun(&flows->slices, event->track, event->time)
	                                     : sql_slices_innermost(&flows->slices, event->track);
	return inside ? inside->id : UINT64_MAX;
}

static int arrive(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments,
                  const struct tw_open_pair *from, uint64_t slice)
{
	bool next = event->kind == TW_FLOW_END && event->other == TW_FLOW_NEXT && slice == UINT64_MAX;
	return next ? keep_arrival(cursor, event, arguments, from) : add_flow(cursor, event, arguments, from, slice);
}

/* Each of its events is an arrow from the one before. */
static int take_flow(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct flows *flows = cursor->state;
	uint64_t key = tw_pair_key(tw_reader_dictionary(cursor->scan.reader), event, false);
	tw_calls_advance(&flows->slices.calls, event->time);
	uint64_t slice = slice_of_flow(flows, event);
	struct tw_open_pair *from = tw_pairs_find(&flows->opens, key);
	int status = 0;
	if (from && event->kind != TW_FLOW_BEGIN)
		status = arrive(cursor, event, arguments, from, slice);
	if (from && event->kind == TW_FLOW_END) {
		tw_pairs_remove(&flows->opens, from);
		return status < 0 || tw_pairs_sweep(&flows->opens) ? status : sql_no_memory(cursor);
	}
	if (!from && event->kind == TW_FLOW_BEGIN && !(from = add_open(cursor, &flows->opens, key)))
		return too_many(cursor);
	if (from) {
		from->ts = event->time;
		from->track = event->track;
		from->slice = slice;
	}
	return status;
}

static int take_flows(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct flows *flows = cursor->state;
	int status = sql_slices_take(&flows->slices, event, NULL);
	bool flow = event->kind == TW_FLOW_BEGIN || event->kind == TW_FLOW_STEP || event->kind == TW_FLOW_END;
	bool begins = event->kind == TW_SLICE_BEGIN || event->kind == TW_SLICE_COMPLETE;
	if (status < 0 || (!flow && !begins))
		return status;
	return flow ? take_flow(cursor, event, arguments) : bind_arrivals(cursor, event);
}

static void end_flows(struct sql_cursor *cursor)
{
	struct flows *flows = cursor->state;
	sql_slices_free(&flows->slices);
	tw_pairs_free(&flows->opens);
	tw_pairs_free(&flows->waiting);
	for (size_t i = 0; i < flows->arrival_room; i++)
		tw_text_free(&flows->arrivals[i].arguments);
	free(flows->arrivals);
	*flows = (struct flows){0};
}

const struct sql_table sql_table_flow = {
    .name = "flow",
    .summary = "arrows from slice to slice, in the order in which they reach one",
    SQL_COLUMNS(flow_columns),
    .row_size = sizeof(struct flow_row),
    .reads.kinds = 1u << TW_FLOW_BEGIN | 1u << TW_FLOW_STEP | 1u << TW_FLOW_END | 1u << TW_SLICE_BEGIN |
                   1u << TW_SLICE_END | 1u << TW_SLICE_COMPLETE,
    .reads.whole_file = true,
    .reads.in_time = true,
    .state_size = sizeof(struct flows),
    .begin = begin_flows,
    .take = take_flows,
    .finish = finish_flows,
    .waits = flows_wait,
    .end = end_flows,
};
