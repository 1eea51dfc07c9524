/* facts.c - what the tables of SQL say of one slice, and the arrows of a window. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/session.h"
#include "view/serve/place.h"
#include "view/serve/tables.h"

#include <stdlib.h>
#include <string.h>

/* The low bits of an id are the offset in the file. */
#define OFFSET_MASK (((sqlite3_int64)1 << SQL_FILE_SHIFT) - 1)

/* ---- Arrows. ---- */

/* Where an arrow begins or ends; the columns of a row from one on: time, tid, pid, slice. */
enum { END_COLUMNS = 4 };

static void put_end(struct tw_json *json, const struct view *view, const char *key, sqlite3_stmt *row, int column)
{
	const struct view_index *index = &view->index;
	uint64_t time = (uint64_t)sqlite3_column_int64(row, column);
	uint64_t process = (uint64_t)sqlite3_column_int64(row, column + 2), slice = VIEW_NOWHERE;
	bool threaded = sqlite3_column_type(row, column + 1) != SQLITE_NULL;
	uint32_t track = VIEW_NONE;
	struct view_place place;
	if (threaded)
		track = view_tracks_known(&index->tracks, VIEW_THREAD, process,
		                          (uint64_t)sqlite3_column_int64(row, column + 1));
	if (sqlite3_column_type(row, column + 3) != SQLITE_NULL)
		slice = (uint64_t)(sqlite3_column_int64(row, column + 3) & OFFSET_MASK);
	tw_json_object(json, key);
	tw_json_known(json, "track", track, track != VIEW_NONE);
	view_json_digits(json, "time", time);
	if (track != VIEW_NONE && view_place_at(view, track, view->start + time, slice, &place)) {
		tw_json_u64(json, "lane", place.row->lane);
		tw_json_u64(json, "depth", place.row->depth);
		view_json_digits(json, "item", place.item);
	}
	tw_json_object_end(json);
}

static void put_flow(struct tw_json *json, const struct view *view, sqlite3_stmt *row)
{
	tw_json_object(json, NULL);
	const char *name = (const char *)sqlite3_column_text(row, 0);
	tw_json_bytes(json, "name", name ? name : "", (size_t)sqlite3_column_bytes(row, 0));
	view_json_digits(json, "id", (uint64_t)sqlite3_column_int64(row, 1));
	put_end(json, view, "from", row, 2);
	put_end(json, view, "to", row, 2 + END_COLUMNS);
	tw_json_object_end(json);
}

#define FLOWS                                                                                                          \
	"select f.name, f.trace_id, f.ts_out, a.tid, p.pid, f.slice_out, f.ts, b.tid, q.pid, f.slice_in from flow f "  \
	"left join thread a on a.utid = f.utid_out left join process p on p.upid = a.upid "                            \
	"left join thread b on b.utid = f.utid left join process q on q.upid = b.upid where "

/* Runs a question of arrows, with two values. Returns whether there are more than the limit. */
static bool put_flows(struct tw_json *json, struct view *view, sqlite3 *db, const char *text,
                      const sqlite3_int64 values[2], uint64_t limit)
{
	sqlite3_stmt *rows = NULL;
	uint64_t count = 0;
	int result = SQLITE_DONE;
	if (sqlite3_prepare_v2(db, text, -1, &rows, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(rows, 1, values[0]);
		sqlite3_bind_int64(rows, 2, values[1]);
		while (count < limit && (result = sqlite3_step(rows)) == SQLITE_ROW) {
			view_lock(view);
			put_flow(json, view, rows);
			view_unlock(view);
			count++;
		}
		result = count == limit ? sqlite3_step(rows) : result;
	}
	sqlite3_finalize(rows);
	return result == SQLITE_ROW;
}

void view_answer_flows(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	enum { LIMIT = 1000, MOST = 10000 };
	static const char text[] = FLOWS "f.ts >= ?1 and f.ts_out < ?2";
	struct tw_output out;
	struct tw_json json;
	uint64_t from, to, limit = LIMIT;
	bool limited = view_request_text(request, "limit") != NULL;
	if (!view_request_number(request, "from", INT64_MAX, &from) ||
	    !view_request_number(request, "to", INT64_MAX, &to) || from >= to ||
	    (limited && (!view_request_number(request, "limit", MOST, &limit) || !limit))) {
		view_refuse(answer, 400, "flows wants from and to, and a limit from 1 to 10000");
		return;
	}
	sqlite3 *db = view_tables_open(view, VIEW_FOR_PAGE, request->question, answer);
	if (!db)
		return;
	if (view_json_begin(&json, &out, answer)) {
		tw_json_object(&json, NULL);
		tw_json_array(&json, "flows");
		bool more =
		    put_flows(&json, view, db, text, (const sqlite3_int64[]){(int64_t)from, (int64_t)to}, limit);
		tw_json_array_end(&json);
		tw_json_bool(&json, "more", more);
		tw_json_object_end(&json);
		view_json_end(&out, answer);
	}
	view_tables_close(view, VIEW_FOR_PAGE, db);
}

/* ---- One slice. ---- */

/* A slice as the tables know it. */
struct fact {
	sqlite3_int64 begin; /* since the start of its file */
	sqlite3_int64 offset;
	bool one_file;
	bool found;
	sqlite3_int64 id, stack;  /* stack: 0: there is none */
	struct tw_text arguments; /* JSON, terminated */
};

/* Tables that have it, each with the column of its stack. */
static const struct {
	const char *table, *stack, *arguments;
	bool point;
} kept[] = {
    {"slice", "stack_id", "args", false},
    {"async_slice", "null", "args", false},
    {"instant", "null", "args", true},
    {"log", "null", "args", true},
    {"stack_sample", "callsite_id", "null", true},
};

static bool take_fact(sqlite3 *db, size_t i, struct fact *fact)
{
	sqlite3_stmt *row = NULL;
	char *text = sqlite3_mprintf("select id, %s, %s from %s where %s (id & ?2) = ?3 limit 1", kept[i].stack,
	                             kept[i].arguments, kept[i].table, fact->one_file ? "ts = ?1 and" : "");
	bool fine = text && sqlite3_prepare_v2(db, text, -1, &row, NULL) == SQLITE_OK;
	sqlite3_free(text);
	if (fine) {
		sqlite3_bind_int64(row, 1, fact->begin);
		sqlite3_bind_int64(row, 2, OFFSET_MASK);
		sqlite3_bind_int64(row, 3, fact->offset);
		fact->found = sqlite3_step(row) == SQLITE_ROW;
	}
	if (fact->found) {
		const char *arguments = (const char *)sqlite3_column_text(row, 2);
		fact->id = sqlite3_column_int64(row, 0);
		fact->stack = sqlite3_column_int64(row, 1);
		tw_text_add(&fact->arguments, arguments ? arguments : "{}", arguments ? strlen(arguments) + 1 : 3);
	}
	sqlite3_finalize(row);
	return fine;
}

static void put_text(struct tw_json *json, const char *key, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	if (text)
		tw_json_bytes(json, key, text, (size_t)sqlite3_column_bytes(row, column));
	else
		tw_json_text(json, key, NULL);
}

/* Whole numbers beyond 63 bits are as the text has them. */
static void put_arguments(struct tw_json *json, sqlite3 *db, const struct fact *fact)
{
	static const char text[] =
	    "select key, case type when 'true' then 'boolean' when 'false' then 'boolean' else type end, "
	    "case when type in ('true', 'false') then type when type in ('integer', 'real', 'object', 'array') "
	    "then ?1 -> fullkey else atom end from json_each(?1)";
	sqlite3_stmt *row = NULL;
	tw_json_array(json, "arguments");
	if (fact->found && sqlite3_prepare_v2(db, text, -1, &row, NULL) == SQLITE_OK) {
		sqlite3_bind_text(row, 1, fact->arguments.bytes, -1, SQLITE_STATIC);
		while (sqlite3_step(row) == SQLITE_ROW) {
			tw_json_object(json, NULL);
			put_text(json, "name", row, 0);
			put_text(json, "type", row, 1);
			put_text(json, "value", row, 2);
			tw_json_object_end(json);
		}
	}
	sqlite3_finalize(row);
	tw_json_array_end(json);
}

static void put_stack(struct tw_json *json, sqlite3 *db, const struct fact *fact)
{
	static const char text[] =
	    "with recursive up(id, step) as (select ?1, 0 union all select c.parent_id, step + 1 from up "
	    "join callsite c on c.id = up.id where c.parent_id is not null and step < 1000) "
	    "select f.name, f.source_file, f.line from up join callsite c on c.id = up.id "
	    "join frame f on f.id = c.frame_id order by step";
	sqlite3_stmt *row = NULL;
	tw_json_array(json, "stack");
	if (fact->stack && sqlite3_prepare_v2(db, text, -1, &row, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(row, 1, fact->stack);
		while (sqlite3_step(row) == SQLITE_ROW) {
			tw_json_object(json, NULL);
			put_text(json, "name", row, 0);
			put_text(json, "file", row, 1);
			tw_json_u64(json, "line", (uint64_t)sqlite3_column_int64(row, 2));
			tw_json_object_end(json);
		}
	}
	sqlite3_finalize(row);
	tw_json_array_end(json);
}

static void put_facts(struct tw_json *json, struct view *view, sqlite3 *db, struct fact *fact)
{
	enum { ARROWS = 100 };
	const sqlite3_int64 id[2] = {fact->id, fact->id};
	tw_json_object(json, NULL);
	tw_json_bool(json, "found", fact->found);
	put_arguments(json, db, fact);
	put_stack(json, db, fact);
	tw_json_array(json, "flows_in");
	bool more = fact->found && put_flows(json, view, db, FLOWS "f.slice_in = ?1 and ?2", id, ARROWS);
	tw_json_array_end(json);
	tw_json_array(json, "flows_out");
	more |= fact->found && put_flows(json, view, db, FLOWS "f.slice_out = ?1 and ?2", id, ARROWS);
	tw_json_array_end(json);
	tw_json_bool(json, "more", more);
	tw_json_object_end(json);
}

void view_answer_details(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct fact fact = {.one_file = view->options.count == 1};
	struct tw_output out;
	struct tw_json json;
	struct view_place place;
	view_lock(view);
	bool there = view_place_named(view, request, &place), point = false;
	if (there) {
		const struct view_slice *slice = view_row_slice(place.row, &view->index.store, place.item);
		fact.begin = (sqlite3_int64)(slice->begin - view->start);
		fact.offset = (sqlite3_int64)slice->offset & OFFSET_MASK;
		point = place.row->kind == VIEW_POINTS;
	}
	view_unlock(view);
	if (!there) {
		view_refuse(answer, 400, "no slice is there: track, lane, depth and item name one");
		return;
	}
	sqlite3 *db = view_tables_open(view, VIEW_FOR_PAGE, request->question, answer);
	if (!db)
		return;
	for (size_t i = 0; i < sizeof kept / sizeof *kept && !fact.found; i++)
		if (kept[i].point == point)
			take_fact(db, i, &fact);
	if (view_json_begin(&json, &out, answer)) {
		put_facts(&json, view, db, &fact);
		view_json_end(&out, answer);
	}
	view_tables_close(view, VIEW_FOR_PAGE, db);
	tw_text_free(&fact.arguments);
}
