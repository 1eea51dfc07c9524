/* cursor.c - rows of one table, file after file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/cursor.h"

#include "base/loops.h"
#include "core/format.h"
#include "sql/engine/lookup.h"
#include "sql/engine/pack.h"
#include "sql/index/index.h"
#include "sql/tables/groups.h"
#include "sql/tables/survey_make.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Conditions. ---- */

static void forget_verdicts(struct sql_match *match)
{
	free(match->verdicts);
	match->verdicts = NULL;
	match->room = 0;
}

static void forget_match(struct sql_match *match)
{
	forget_verdicts(match);
	sqlite3_free(match->equal);
	sqlite3_free(match->glob);
	*match = (struct sql_match){0};
}

/* ---- Files. ---- */

/* Makes the surveys of the file that are needed before its first row. */
static int prepare(struct sql_cursor *cursor, const struct sql_needs *needs)
{
	struct sql_session *session = cursor->scan.session;
	int status = needs->survey ? sql_survey_make(session, cursor->scan.file) : 0;
	if (status == 0 && needs->start)
		status = sql_file_start(session, cursor->scan.file, &cursor->file.start);
	return status;
}

/* Whether the file can have rows of the track that is wanted; looks up its thread. */
static bool choose_track(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	uint64_t id = (uint64_t)cursor->query.track;
	cursor->scan.one_thread = cursor->query.one_tid;
	cursor->scan.thread = cursor->query.tid;
	if (!cursor->query.one_track)
		return true;
	cursor->file.wanted = (uint32_t)id;
	if (id >> SQL_TRACK_SHIFT != cursor->scan.file || cursor->file.wanted == 0 ||
	    cursor->file.wanted >= survey->tracks.count)
		return false;
	const struct sql_track *track = &survey->tracks.items[cursor->file.wanted];
	cursor->scan.thread = track->thread;
	bool alone = !cursor->table->reads.kinds || !sql_format_named(survey->format)->traits.shared_clock;
	cursor->scan.one_thread =
	    alone && !cursor->table->reads.whole_file && track->kind == TW_TRACK_THREAD && track->thread != 0;
	return true;
}

/* Chooses the pieces of the file that a window of time needs, where there is an index. */
static void choose_view(struct sql_cursor *cursor)
{
	struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	if (!cursor->table->reads.windowed || !survey || !survey->index || cursor->query.ts.high < 0 ||
	    cursor->query.ts.low > cursor->query.ts.high ||
	    (cursor->query.ts.low <= 0 && cursor->query.ts.high == INT64_MAX))
		return;
	if (cursor->table->reads.kinds & 1u << TW_SLICE_COMPLETE && sql_index_overlaps(survey->index))
		return;
	if (cursor->table->reads.stacked && !sql_survey_has_stacks(survey))
		return;
	sql_index_view(survey->index, cursor->query.ts.low > 0 ? (uint64_t)cursor->query.ts.low : 0,
	               (uint64_t)cursor->query.ts.high, cursor->query.one_track ? cursor->file.wanted : 0,
	               &cursor->scan.view);
}

static bool has_format(const struct sql_cursor *cursor)
{
	const char *wanted = cursor->table->format;
	return !wanted || !cursor->scan.reader ||
	       strncmp(wanted, tw_reader_format(cursor->scan.reader), strlen(wanted)) == 0;
}

/* Begins the file that the scan is at. */
static int begin_file(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	struct sql_scan *scan = &cursor->scan;
	bool reads = table->reads.kinds || table->pull;
	int status = prepare(cursor, &cursor->query.needs);
	cursor->file.scanning = false;
	if (status < 0 || !choose_track(cursor))
		return status;
	scan->order = table->pull                                      ? TW_ORDER_FILE
	              : cursor->query.in_order || table->reads.in_time ? TW_ORDER_TIME
	                                                               : TW_ORDER_TRACK;
	bool all = cursor->query.used & table->reads.lasting && !cursor->scan.session->files[scan->file].survey;
	scan->kinds = all ? UINT32_MAX : table->reads.kinds;
	scan->checking = table->checking;
	scan->thread_times = table->thread_times & cursor->query.used;
	scan->finding.take = table->on_finding;
	scan->finding.context = cursor;
	if (cursor->state)
		memset(cursor->state, 0, table->state_size);
	choose_view(cursor);
	if (reads && (status = sql_scan_open(scan)) < 0)
		return status;
	if (!has_format(cursor))
		return 0;
	cursor->file.scanning = true;
	return table->begin ? table->begin(cursor) : 0;
}

static void end_file(struct sql_cursor *cursor)
{
	if (cursor->file.scanning && cursor->table->end)
		cursor->table->end(cursor);
	cursor->file.scanning = false;
	sql_scan_close(&cursor->scan);
	forget_verdicts(&cursor->query.name);
	forget_verdicts(&cursor->query.category);
}

/* Whether nothing more of this file can be wanted: events come in the order of time but for what the survey has
 * seen. */
static bool is_past(const struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	if (!survey || cursor->query.ts.high == INT64_MAX || cursor->scan.batch.count == 0)
		return false;
	const struct tw_event *last = &cursor->scan.batch.events[cursor->scan.batch.count - 1];
	int64_t time = (int64_t)(last->time - cursor->file.start);
	if (survey->late_ns > INT64_MAX || cursor->query.ts.high > INT64_MAX - (int64_t)survey->late_ns ||
	    time <= cursor->query.ts.high + (int64_t)survey->late_ns)
		return false;
	return !table->waits || !table->waits(cursor);
}

static int take_batch(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	const struct tw_batch *batch = &cursor->scan.batch;
	int status = 0;
	for (size_t i = 0; i < batch->count && status == 0; i++) {
		const struct tw_event *event = &batch->events[i];
		bool left_out =
		    table->reads.single && !(table->reads.kinds >> event->kind & 1 && sql_wants(cursor, event));
		if (!left_out)
			status = table->take(cursor, event, tw_event_arguments(batch, event));
	}
	return status;
}

/* Makes more rows of the file. Returns > 0 when there may be more, 0 when it is over. */
static int more_of_file(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	struct sql_session *session = cursor->scan.session;
	if (!cursor->file.scanning || (!table->pull && !table->reads.kinds))
		return 0;
	if (sql_session_stops(session))
		return sql_session_fail(session, TW_ERR_LIMIT, "interrupted");
	if (table->pull)
		return table->pull(cursor);
	int got = sql_scan_batch(&cursor->scan);
	if (got <= 0)
		return got < 0 || !table->finish ? got : table->finish(cursor);
	got = take_batch(cursor);
	if (got < 0)
		return got;
	if (cursor->scan.known.failed)
		return sql_no_memory(cursor);
	return !is_past(cursor);
}

/* Whether the format can give calls instead of events (tw_format_reading.calls_by_track), which is faster: where
 * nothing but names and times is asked for. */
static bool can_read_calls(const struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	const struct tw_reader *reader = cursor->scan.reader;
	return tw_loop_is_on(TW_LOOP_CALLS_BY_TRACK) && table->read_calls && reader->format->reading.calls_by_track &&
	       !reader->filtering.filter && reader->options.order == TW_ORDER_TRACK && !cursor->scan.view.pieces &&
	       !cursor->query.one_track && !cursor->query.category.equal && !cursor->query.category.glob &&
	       (sql_groups_have_names(cursor->groups) || (!cursor->query.name.equal && !cursor->query.name.glob)) &&
	       !(cursor->query.used & ~table->call_columns);
}

static int collect_rows(struct sql_cursor *cursor)
{
	int more = 1, taken = 0;
	while (more > 0) {
		more = more_of_file(cursor);
		taken = more < 0 ? more : sql_groups_take(cursor->groups);
		more = taken < 0 ? taken : more;
	}
	return more;
}

static int collect_file(struct sql_cursor *cursor)
{
	int status = !cursor->file.scanning   ? 0
	             : can_read_calls(cursor) ? cursor->table->read_calls(cursor)
	                                      : collect_rows(cursor);
	return status < 0 ? status : sql_groups_end_file(cursor->groups);
}

/* Takes all rows of all files, to give them name by name. The last file stays open for their values. */
static int collect(struct sql_cursor *cursor)
{
	cursor->groups = sql_groups_new(cursor, cursor->query.group);
	int status = cursor->groups ? collect_file(cursor) : sql_no_memory(cursor);
	while (status == 0 && cursor->scan.file + 1 < cursor->scan.session->count) {
		end_file(cursor);
		cursor->scan.file++;
		status = begin_file(cursor);
		status = status < 0 ? status : collect_file(cursor);
	}
	if (status == 0)
		sql_groups_sort(cursor->groups);
	return status;
}

/* ---- What SQLite asks for. ---- */

/* Looks for rows: in what is left of the file, then in the next one. */
static int advance(struct sql_cursor *cursor)
{
	int status;
	cursor->given.at = cursor->made.count = cursor->made.text.length = 0;
	while (cursor->made.count == 0 && !cursor->file.none_left) {
		status = cursor->file.over ? 0
		         : cursor->groups  ? sql_groups_give(cursor->groups)
		                           : more_of_file(cursor);
		if (status < 0)
			return status;
		cursor->file.over = status == 0;
		if (!cursor->file.over || cursor->made.count)
			continue;
		end_file(cursor);
		cursor->file.none_left = ++cursor->scan.file >= cursor->scan.session->count;
		if (!cursor->file.none_left && (status = begin_file(cursor)) < 0)
			return status;
		cursor->file.over = false;
	}
	if (!cursor->groups)
		cursor->given.row = cursor->made.rows;
	return 0;
}

/* Sets where each column stands in the table's rows. In the rows of groups they stand elsewhere. */
static void place_columns(struct sql_cursor *cursor)
{
	const struct sql_table *table = cursor->table;
	assert(table->column_count <= SQL_COLUMNS_MOST);
	for (size_t i = 0; i < table->column_count; i++)
		cursor->given.slots[i] =
		    (struct sql_slot){sql_cursor_putter(table->columns[i].value), table->columns[i].place};
	cursor->given.stride = table->row_size;
}

static void rewind_cursor(struct sql_cursor *cursor)
{
	cursor->file = (struct sql_progress){.none_left = cursor->scan.session->count == 0};
	cursor->scan.file = 0;
	cursor->given.at = cursor->made.count = cursor->made.text.length = 0;
	cursor->given.number = 0;
	place_columns(cursor);
}

int sql_cursor_start(struct sql_cursor *cursor)
{
	rewind_cursor(cursor);
	if (cursor->file.none_left)
		return sql_session_fail(cursor->scan.session, TW_ERR_VALUE,
		                        "no trace is open: select trackway_open('file')");
	int status = begin_file(cursor);
	if (status == 0 && cursor->query.grouped)
		status = collect(cursor);
	cursor->given.row = cursor->made.rows;
	return status < 0 || cursor->made.count ? status : advance(cursor);
}

/* Rows that are kept for a join, packed. */
struct kept_rows {
	struct sql_packing packing;
	uint64_t columns; /* the columns that are kept: bits */
	uint8_t *rows;
	size_t count, room; /* room: bytes */
};

/* Takes the cursor's rows away. Returns > 0, 0 when there are too many, or a negative status. */
static int hold_rows(struct sql_cursor *cursor, struct kept_rows *held, size_t limit)
{
	const size_t size = held->packing.size, count = held->count + cursor->made.count;
	if (count * (size + SQL_LOOKUP_COST) + cursor->made.text.length > limit || count > UINT32_MAX - 1)
		return 0;
	if (!tw_grow(&held->rows, &held->room, count * size, 1))
		return sql_no_memory(cursor);
	for (size_t i = 0; i < cursor->made.count; i++)
		sql_pack(&held->packing, cursor->made.rows + i * cursor->table->row_size,
		         held->rows + held->count++ * size);
	cursor->made.count = 0;
	return 1;
}

/* Replaces in a column of kept rows what only the open file explains, such as its numbers of names, by what the session
 * knows. */
static bool settle_column(struct sql_cursor *cursor, struct kept_rows *held, size_t first, unsigned column)
{
	enum sql_value value = cursor->table->columns[column].value;
	bool fine = true;
	if (first == held->count || !(held->columns >> column & 1) || sql_value_settled(value) == value)
		return true;
	uint8_t *at = held->rows + first * held->packing.size + cursor->given.slots[column].place;
	for (size_t i = first; i < held->count && fine; i++, at += held->packing.size)
		fine = sql_settle(cursor, value, at);
	return fine;
}

/* Keeps all rows of the next file. Returns as hold_rows() does. */
static int hold_file(struct sql_cursor *cursor, struct kept_rows *held, size_t limit)
{
	const size_t first = held->count;
	int status = begin_file(cursor), more = 1;
	while (status >= 0 && (status = hold_rows(cursor, held, limit)) > 0 && more > 0)
		status = more = more_of_file(cursor);
	for (unsigned i = 0; i < cursor->table->column_count && status > 0; i++)
		status = settle_column(cursor, held, first, i) ? 1 : sql_no_memory(cursor);
	cursor->parts[cursor->scan.file] = (struct sql_part){held->count, cursor->file.start};
	return status;
}

static void give_held(struct sql_cursor *cursor, const struct kept_rows *held)
{
	for (unsigned i = 0; i < cursor->table->column_count; i++)
		cursor->given.slots[i].put = sql_cursor_putter(sql_value_settled(cursor->table->columns[i].value));
	free(cursor->made.rows);
	cursor->made.rows = held->rows;
	cursor->made.room = held->room;
	cursor->made.count = held->count;
}

int sql_cursor_hold(struct sql_cursor *cursor, unsigned column, size_t limit)
{
	struct kept_rows held = {0};
	uint64_t key = column < cursor->table->column_count ? UINT64_C(1) << column : 0;
	const size_t files = cursor->scan.session->count;
	int status = 1;
	rewind_cursor(cursor);
	held.columns = cursor->query.used | key | 1; /* the first is the row's id */
	sql_packing_begin(&held.packing, cursor, held.columns);
	cursor->parts = calloc(files, sizeof *cursor->parts);
	if (!cursor->parts)
		return sql_no_memory(cursor);
	for (size_t i = 0; i < files && status > 0; i++) {
		cursor->scan.file = i;
		status = hold_file(cursor, &held, limit);
		end_file(cursor);
	}
	if (status > 0) {
		give_held(cursor, &held);
		return status;
	}
	free(held.rows);
	free(cursor->parts);
	cursor->parts = NULL;
	return status;
}

int sql_cursor_next(struct sql_cursor *cursor)
{
	if (sql_lookup_ready(cursor)) {
		sql_lookup_next(cursor);
		return 0;
	}
	cursor->given.number++;
	cursor->given.row += cursor->given.stride;
	return ++cursor->given.at < cursor->made.count ? 0 : advance(cursor);
}

void sql_cursor_reset(struct sql_cursor *cursor)
{
	end_file(cursor);
	sql_groups_free(cursor->groups);
	cursor->groups = NULL;
	free(cursor->parts);
	cursor->parts = NULL;
	sql_lookup_drop(cursor);
	forget_match(&cursor->query.name);
	forget_match(&cursor->query.category);
}

void sql_cursor_free(struct sql_cursor *cursor)
{
	sql_cursor_reset(cursor);
	sql_lookup_free(cursor);
	free(cursor->made.rows);
	if (cursor->made.out.buffer)
		tw_output_discard(&cursor->made.out);
	tw_text_free(&cursor->made.text);
	free(cursor->state);
	free(cursor);
}
