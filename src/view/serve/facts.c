/* facts.c - what the tables of SQL say of one slice, and the arrows of a window. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/session.h"
#include "view/serve/place.h"
#include "view/serve/starts.h"
#include "view/serve/tables.h"

#include <stdlib.h>
#include <string.h>

/* The low bits of an id are the offset in the file. */
#define OFFSET_MASK (((sqlite3_int64)1 << SQL_FILE_SHIFT) - 1)

/* ---- Arrows. ---- */

/* Who asks, of which tables, and what the answer is written into. */
struct reply {
	struct view *view;
	const struct view_request *request;
	sqlite3 *db, *arrows;
	struct tw_json json;
};

/* Where an arrow begins or ends; the columns of a row from one on: time, tid, pid, slice. */
enum { END_COLUMNS = 4 };

/* Which of the files an id is of. */
static size_t file_of(const struct view *view, sqlite3_int64 id)
{
	const size_t file = (size_t)((uint64_t)id >> SQL_FILE_SHIFT) % SQL_FILES;
	return file < view->options.count ? file : 0;
}

/* Where it is as the tables have it. */
struct end {
	size_t file;
	uint64_t time, process, thread, slice; /* on the reader's clock */
};

/* Finds the slice that it is in, or the next one of the track: an arrow ends there that states no slice around it. */
static bool find_slice(const struct view *view, uint32_t track, const struct end *end, struct view_place *place)
{
	return view_place_at(view, track, end->time, end->slice, place) ||
	       view_place_next(view, track, end->time, end->slice, place);
}

/* Of several files processes may have got other numbers: the slice tells the track; of tracks without it the only one
 * is taken. */
static uint32_t find_among(const struct view *view, const struct end *end, struct view_place *place)
{
	uint32_t found = VIEW_NONE, count = 0;
	for (size_t i = 0; i < view->index.tracks.count; i++) {
		const struct view_track *track = &view->index.tracks.items[i];
		if (track->kind != VIEW_THREAD || track->thread != end->thread || track->file != end->file + 1)
			continue;
		found = (uint32_t)i;
		count++;
		if (find_slice(view, found, end, place))
			return found;
	}
	return count == 1 ? found : VIEW_NONE;
}

/* Finds the track, VIEW_NONE where it is not known, and the slice, where that is there. */
static uint32_t find_end(const struct view *view, const struct end *end, struct view_place *place)
{
	if (view->options.count > 1)
		return find_among(view, end, place);
	uint32_t track = view_tracks_known(&view->index.tracks, VIEW_THREAD, end->process, end->thread);
	if (track != VIEW_NONE)
		(void)find_slice(view, track, end, place);
	return track;
}

static void put_end(struct reply *reply, const char *key, sqlite3_stmt *row, int column)
{
	const struct view *view = reply->view;
	struct tw_json *json = &reply->json;
	const size_t file = file_of(view, sqlite3_column_int64(row, 2 + 2 * END_COLUMNS));
	struct end end = {.file = file,
	                  .time = (uint64_t)sqlite3_column_int64(row, column) + view->files[file].start,
	                  .thread = (uint64_t)sqlite3_column_int64(row, column + 1),
	                  .process = (uint64_t)sqlite3_column_int64(row, column + 2),
	                  .slice = VIEW_NOWHERE};
	struct view_place place = {NULL, 0};
	uint32_t track = VIEW_NONE;
	if (sqlite3_column_type(row, column + 3) != SQLITE_NULL)
		end.slice = (uint64_t)(sqlite3_column_int64(row, column + 3) & OFFSET_MASK);
	if (sqlite3_column_type(row, column + 1) != SQLITE_NULL)
		track = find_end(view, &end, &place);
	if (place.row) {
		const uint64_t begin = view_row_slice(place.row, &view->index.store, place.item).begin;
		end.time = begin > end.time ? begin : end.time;
	}
	tw_json_object(json, key);
	tw_json_known(json, "track", track, track != VIEW_NONE);
	view_json_digits(json, "time", view_since_start(view, end.time, view_later(reply->request, file)));
	if (place.row) {
		tw_json_u64(json, "lane", place.row->lane);
		tw_json_u64(json, "depth", place.row->depth);
		view_json_digits(json, "item", place.item);
	}
	tw_json_object_end(json);
}

static void put_flow(struct reply *reply, sqlite3_stmt *row)
{
	struct tw_json *json = &reply->json;
	tw_json_object(json, NULL);
	const char *name = (const char *)sqlite3_column_text(row, 0);
	tw_json_bytes(json, "name", name ? name : "", (size_t)sqlite3_column_bytes(row, 0));
	view_json_digits(json, "id", (uint64_t)sqlite3_column_int64(row, 1));
	put_end(reply, "from", row, 2);
	put_end(reply, "to", row, 2 + END_COLUMNS);
	tw_json_object_end(json);
}

/* Has reply->arrows be a connection with the table `arrow`. Returns one of SQLite's results. */
static int take_arrows(struct reply *reply)
{
	const bool some = view_request_text(reply->request, "tracks");
	reply->arrows = some ? NULL : view_tables_arrows(reply->view, VIEW_FOR_PAGE);
	if (reply->arrows)
		return SQLITE_OK;
	reply->arrows = reply->db;
	return view_tables_view_arrows(reply->db);
}

/* Runs a question of arrows, with a value. Returns SQLITE_DONE, SQLITE_ROW where there are more than the limit, or why
 * it failed. */
static int put_flows(struct reply *reply, const char *text, sqlite3_int64 value, uint64_t limit)
{
	sqlite3_stmt *rows = NULL;
	uint64_t count = 0;
	int result = text ? sqlite3_prepare_v2(reply->arrows, text, -1, &rows, NULL) : SQLITE_NOMEM;
	if (result == SQLITE_OK) {
		sqlite3_bind_int64(rows, 1, value);
		while (count < limit && (result = sqlite3_step(rows)) == SQLITE_ROW) {
			view_lock(reply->view);
			put_flow(reply, rows);
			view_unlock(reply->view);
			count++;
		}
		result = count == limit ? sqlite3_step(rows) : result;
	}
	sqlite3_finalize(rows);
	return result;
}

static bool failed(int result)
{
	return result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE;
}

/* A question of those that touch the time, in each file on its own clock. NULL without memory. */
static char *window_of(const struct view *view, const struct view_request *request, uint64_t from, uint64_t to)
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_str_appendall(text, "select * from arrow where ?1 and (");
	for (size_t i = 0; i < view->options.count; i++) {
		const int64_t start = view->options.count > 1 ? (int64_t)view_file_begin(view, request, i) : 0;
		sqlite3_str_appendf(text, "%s(id >> %d = %d and ts_out < %lld and ts >= %lld)", i ? " or " : "",
		                    (int)SQL_FILE_SHIFT, (int)i, (long long)to - start, (long long)from - start);
	}
	sqlite3_str_appendall(text, ")");
	return sqlite3_str_finish(text);
}

static int put_window(struct reply *reply, struct view_answer *answer, uint64_t from, uint64_t to, uint64_t limit)
{
	struct tw_output out;
	char *text = window_of(reply->view, reply->request, from, to);
	int result = take_arrows(reply);
	if (!failed(result) && view_json_begin(&reply->json, &out, answer)) {
		tw_json_object(&reply->json, NULL);
		tw_json_array(&reply->json, "flows");
		result = put_flows(reply, text, 1, limit);
		tw_json_array_end(&reply->json);
		tw_json_bool(&reply->json, "more", result == SQLITE_ROW);
		tw_json_object_end(&reply->json);
		view_json_end(&out, answer);
	}
	sqlite3_free(text);
	return result;
}

void view_answer_flows(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	enum { LIMIT = 1000 };
	int result = SQLITE_DONE;
	struct reply reply = {.view = view, .request = request};
	uint64_t from, to, limit = LIMIT;
	(void)view_request_number(request, "limit", UINT64_MAX, &limit);
	if (!view_request_number(request, "from", INT64_MAX, &from) ||
	    !view_request_number(request, "to", INT64_MAX, &to) || from >= to) {
		view_refuse(answer, 400, "flows wants from and to: from comes first");
		return;
	}
	sqlite3 *db = reply.db = view_tables_open(view, VIEW_FOR_PAGE, request->question, answer);
	if (!db)
		return;
	if (!view_request_text(request, "tracks") || view_tables_restrict(view, db, request, answer))
		result = put_window(&reply, answer, from, to, limit);
	if (failed(result))
		view_refuse(answer, 400, sqlite3_errmsg(reply.arrows));
	view_tables_close(view, VIEW_FOR_PAGE, db);
}

/* ---- One slice. ---- */

/* A slice as the tables know it. */
struct fact {
	uint64_t begin; /* on the reader's clock */
	sqlite3_int64 offset;
	uint32_t file;  /* as that of a track */
	bool operation; /* it is in async_slice, as far as the index knows */
	bool found;
	bool several;             /* files have one there: which of them it is is not known */
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

/* Takes a row, if it is of the time in its file. */
static void take_row(const struct view *view, sqlite3_stmt *row, struct fact *fact)
{
	const char *arguments = (const char *)sqlite3_column_text(row, 3);
	sqlite3_int64 id = sqlite3_column_int64(row, 0);
	if ((fact->file && fact->file - 1 != file_of(view, id)) ||
	    view->files[file_of(view, id)].start + (uint64_t)sqlite3_column_int64(row, 1) != fact->begin)
		return;
	fact->several = fact->found && file_of(view, fact->id) != file_of(view, id);
	if (fact->found)
		return;
	fact->found = true;
	fact->id = id;
	fact->stack = sqlite3_column_int64(row, 2);
	tw_text_add(&fact->arguments, arguments ? arguments : "{}", arguments ? strlen(arguments) + 1 : 3);
}

/* Looks for it in a table. Returns one of SQLite's results. */
static int take_fact(const struct view *view, sqlite3 *db, size_t i, struct fact *fact)
{
	const bool one = view->options.count == 1;
	sqlite3_stmt *row = NULL;
	char *text = sqlite3_mprintf("select id, ts, %s, %s from %s where %s (id & ?2) = ?3", kept[i].stack,
	                             kept[i].arguments, kept[i].table, one ? "ts = ?1 and" : "");
	int result = text ? sqlite3_prepare_v2(db, text, -1, &row, NULL) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (result == SQLITE_OK) {
		sqlite3_bind_int64(row, 1, (sqlite3_int64)(fact->begin - view->reading.start));
		sqlite3_bind_int64(row, 2, OFFSET_MASK);
		sqlite3_bind_int64(row, 3, fact->offset);
		while (!fact->several && !(one && fact->found) && (result = sqlite3_step(row)) == SQLITE_ROW)
			take_row(view, row, fact);
	}
	sqlite3_finalize(row);
	return result;
}

/* Of several files the row is taken where one alone has it. */
static int take_facts(const struct view *view, sqlite3 *db, bool point, struct fact *fact)
{
	int result = SQLITE_OK;
	const size_t count = sizeof kept / sizeof *kept;
	for (size_t n = 0; n < count && !failed(result) && !fact->several; n++) {
		const size_t i = (n + fact->operation) % count; /* what does not have it is read to its end */
		if (kept[i].point == point && !(view->options.count == 1 && fact->found))
			result = take_fact(view, db, i, fact);
	}
	fact->found = fact->found && !fact->several;
	return result;
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
static void put_arguments(struct reply *reply, const struct fact *fact)
{
	struct tw_json *json = &reply->json;
	static const char text[] =
	    "select key, case type when 'true' then 'boolean' when 'false' then 'boolean' else type end, "
	    "case when type in ('true', 'false') then type when type in ('integer', 'real', 'object', 'array') "
	    "then ?1 -> fullkey else atom end from json_each(?1)";
	sqlite3_stmt *row = NULL;
	tw_json_array(json, "arguments");
	if (fact->found && sqlite3_prepare_v2(reply->db, text, -1, &row, NULL) == SQLITE_OK) {
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

static void put_stack(struct reply *reply, const struct fact *fact)
{
	struct tw_json *json = &reply->json;
	static const char text[] =
	    "with recursive up(id, step) as (select ?1, 0 union all select c.parent_id, step + 1 from up "
	    "join callsite c on c.id = up.id where c.parent_id is not null and step < 1000) "
	    "select f.name, f.source_file, f.line from up join callsite c on c.id = up.id "
	    "join frame f on f.id = c.frame_id order by step";
	sqlite3_stmt *row = NULL;
	tw_json_array(json, "stack");
	if (fact->stack && sqlite3_prepare_v2(reply->db, text, -1, &row, NULL) == SQLITE_OK) {
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

static int put_arrows(struct reply *reply, const struct fact *fact, const char *key, const char *text)
{
	enum { ARROWS = 100 };
	tw_json_array(&reply->json, key);
	int result = fact->found ? put_flows(reply, text, fact->id, ARROWS) : SQLITE_DONE;
	tw_json_array_end(&reply->json);
	return result;
}

/* Returns one of SQLite's results. */
static int put_facts(struct reply *reply, const struct fact *fact)
{
	struct tw_json *json = &reply->json;
	tw_json_object(json, NULL);
	tw_json_bool(json, "found", fact->found);
	put_arguments(reply, fact);
	put_stack(reply, fact);
	int into = put_arrows(reply, fact, "flows_in", "select * from arrow where slice_in = ?1");
	int from =
	    failed(into) ? into : put_arrows(reply, fact, "flows_out", "select * from arrow where slice_out = ?1");
	tw_json_bool(json, "more", into == SQLITE_ROW || from == SQLITE_ROW);
	tw_json_object_end(json);
	return from;
}

void view_answer_details(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct fact fact = {.found = false};
	struct tw_output out;
	struct reply reply = {.view = view, .request = request};
	struct view_place place;
	view_lock(view);
	bool there = view_place_named(view, request, &place), point = false;
	if (there) {
		const struct view_slice slice = view_row_slice(place.row, &view->index.store, place.item);
		fact.begin = slice.begin;
		fact.file = view->index.tracks.items[place.row->track].file;
		fact.operation = view->index.tracks.items[place.row->track].kind == VIEW_ASYNC;
		fact.offset = (sqlite3_int64)slice.offset & OFFSET_MASK;
		point = place.row->kind == VIEW_POINTS;
	}
	view_unlock(view);
	if (!there) {
		view_refuse(answer, 400, "no slice is there: track, lane, depth and item name one");
		return;
	}
	sqlite3 *db = reply.db = view_tables_open(view, VIEW_FOR_PAGE, request->question, answer);
	if (!db)
		return;
	int result = take_facts(view, db, point, &fact);
	if (!failed(result) && fact.found)
		result = take_arrows(&reply);
	if (!failed(result) && view_json_begin(&reply.json, &out, answer)) {
		result = put_facts(&reply, &fact);
		view_json_end(&out, answer);
	}
	if (failed(result))
		view_refuse(answer, 400, sqlite3_errmsg(reply.arrows ? reply.arrows : db));
	view_tables_close(view, VIEW_FOR_PAGE, db);
	tw_text_free(&fact.arguments);
}
