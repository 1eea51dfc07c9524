/* tables.c - the tables of SQL over the files of a view. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/tables.h"

#include "core/format.h"
#include "sql/engine/guard.h"
#include "sql/engine/spill.h"
#include "sql/tables/table.h"
#include "view/serve/part.h"
#include "view/serve/starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct view_tables {
	pthread_mutex_t lock;
	/* Under it. */
	struct view_questions *questions;
	struct view_question *question; /* whose turn it is */
	const struct tw_reader *shown;  /* whose progress is told */
	struct sql_session *session;    /* NULL: nothing was asked yet */
	sqlite3 *arrows;                /* a connection with all flows of the session; NULL: there is none yet */
	bool too_many;                  /* flows for such a table */
};

const char *view_tables_load(size_t memory)
{
	enum { LEAST = 4 << 20 };
	const char *missing = sql_sqlite_load();
	memory = memory ? memory : TW_DEFAULT_MEMORY;
	if (!missing)
		sql_guard_memory(memory > LEAST ? memory : LEAST);
	return missing;
}

struct view_tables *view_tables_new(void)
{
	struct view_tables *tables = calloc(1, sizeof *tables);
	if (tables)
		pthread_mutex_init(&tables->lock, NULL);
	return tables;
}

static void forget(struct view_tables *tables)
{
	if (tables->arrows) /* without SQLite there is no function to close with */
		sqlite3_close(tables->arrows);
	sql_session_free(tables->session);
	tables->arrows = NULL;
	tables->session = NULL;
	tables->too_many = false;
}

void view_tables_free(struct view_tables *tables)
{
	if (!tables)
		return;
	forget(tables);
	pthread_mutex_destroy(&tables->lock);
	free(tables);
}

/* ---- What is read. ---- */

static void begin_scan(void *context, const struct tw_reader *reader, const char *path)
{
	struct view_tables *tables = context;
	(void)path;
	if (tables->shown)
		return;
	tables->shown = reader;
	view_question_reads(tables->questions, tables->question, reader);
}

static void end_scan(void *context, const struct tw_reader *reader)
{
	struct view_tables *tables = context;
	if (tables->shown != reader)
		return;
	tables->shown = NULL;
	view_question_reads(tables->questions, tables->question, NULL);
}

/* ---- A session. ---- */

/* The tables have all that is in the files: a filter would change what a slice is. */
static struct tw_read_options options_of(const struct view *view)
{
	struct tw_read_options options = view->options.read;
	options.threads = options.thread_processes = NULL;
	options.thread_count = 0;
	options.provider = options.function = options.category = NULL;
	options.from_ns = options.to_ns = options.min_duration_ns = 0;
	options.on_finding = NULL;
	options.stop = NULL;
	return options;
}

/* Whether all files are what they were. */
static bool is_current(struct sql_session *session)
{
	for (size_t i = 0; i < session->count; i++)
		if (sql_file_check(session, i) < 0)
			return false;
	return true;
}

static int make_session(struct view *view, struct view_tables *tables)
{
	const struct tw_read_options options = options_of(view);
	int status = 0;
	struct sql_session *session = tables->session = sql_session_new(&options);
	if (!session)
		return TW_ERR_MEMORY;
	session->hooks = (struct sql_hooks){.context = tables, .begin = begin_scan, .end = end_scan};
	for (size_t i = 0; i < view->options.count && status >= 0; i++)
		status = sql_session_add(session, view->options.paths[i]);
	return status;
}

/* Returns 0 or a negative status; tables->session may tell why. */
static int take_session(struct view *view, struct view_tables *tables, struct view_question *question)
{
	tables->questions = &view->questions;
	tables->question = question;
	if (tables->session && !is_current(tables->session))
		forget(tables);
	const int status = tables->session ? 0 : make_session(view, tables);
	if (status < 0)
		return status;
	tables->session->hooks.stop = &question->stop;
	tables->session->options.stop = &question->stop;
	return 0;
}

/* ---- A connection. ---- */

static int is_over(void *question)
{
	return view_question_stops(question);
}

static void attend(sqlite3 *db, struct view_question *question)
{
	enum { STEPS = 4096 }; /* of SQLite's machine between looks at whether it is over */
	sqlite3_progress_handler(db, STEPS, is_over, question);
}

static sqlite3 *open_database(struct view_tables *tables)
{
	enum { LONGEST = 64 << 20 }; /* bytes of a value */
	sqlite3 *db = NULL;
	int result = sql_spill_open(&tables->session->spill, tables->session->options.memory_limit, &db);
	if (result == SQLITE_OK) /* a function of SQLite's goes on, whatever is cancelled: no value is large */
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
	result = result == SQLITE_OK ? sql_register(db, tables->session) : result;
	if (result == SQLITE_OK) {
		sql_guard_settings(db);
		attend(db, tables->question);
		result = sql_guard_statements(db, SQL_GUARD_GIVEN);
	}
	if (result == SQLITE_OK)
		return db;
	sqlite3_close(db);
	return NULL;
}

/* False: the question is over. */
static bool take_lock(struct view_tables *tables, const struct view_question *question)
{
	enum { STEP = 50000000 }; /* ns */
	while (!view_question_stops(question)) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += STEP;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_mutex_timedlock(&tables->lock, &until) == 0)
			return true;
	}
	return false;
}

sqlite3 *view_tables_open(struct view *view, enum view_use use, struct view_question *question,
                          struct view_answer *answer)
{
	struct view_tables *tables = view->sql.tables[use];
	if (view->sql.missing) {
		view_refuse(answer, 501, "SQLite is needed, Debian's package libsqlite3-0");
		return NULL;
	}
	if (!take_lock(tables, question)) {
		view_refuse(answer, 409, "interrupted");
		return NULL;
	}
	const int status = take_session(view, tables, question);
	sqlite3 *db = status < 0 ? NULL : open_database(tables);
	if (db)
		return db;
	answer->status = 500;
	if (status == TW_ERR_LIMIT)
		view_refuse(answer, 400, tables->session->error);
	if (status < 0) /* it does not have all files */
		forget(tables);
	view_tables_close(view, use, NULL);
	return NULL;
}

void view_tables_close(struct view *view, enum view_use use, sqlite3 *db)
{
	struct view_tables *tables = view->sql.tables[use];
	sqlite3_close(db);
	tables->shown = NULL;
	view_question_reads(tables->questions, tables->question, NULL);
	if (tables->session) {
		tables->session->hooks.stop = NULL;
		tables->session->options.stop = NULL;
	}
	tables->question = NULL;
	pthread_mutex_unlock(&tables->lock);
}

struct sql_session *view_tables_session(struct view *view, enum view_use use)
{
	return view->sql.tables[use]->session;
}

/* ---- Flows. ---- */

#define ARROWS                                                                                                         \
	"arrow as select f.name, f.trace_id, f.ts_out, a.tid as tid_out, p.pid as pid_out, f.slice_out, f.ts, "        \
	"b.tid as tid, q.pid as pid, f.slice_in, f.id from flow f "                                                    \
	"left join thread a on a.utid = f.utid_out left join process p on p.upid = a.upid "                            \
	"left join thread b on b.utid = f.utid left join process q on q.upid = b.upid"

int view_tables_view_arrows(sqlite3 *db)
{
	return sqlite3_exec(db, "create temp view " ARROWS, NULL, NULL, NULL);
}

static sqlite3 *keep_arrows(struct view_tables *tables)
{
	static const char text[] = "create temp table " ARROWS ";"
				   "create index temp.arrow_out on arrow (slice_out);"
				   "create index temp.arrow_in on arrow (slice_in)";
	sqlite3 *db = open_database(tables);
	if (db && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK)
		return db;
	tables->too_many = !view_question_stops(tables->question);
	sqlite3_close(db);
	return NULL;
}

sqlite3 *view_tables_arrows(struct view *view, enum view_use use)
{
	struct view_tables *tables = view->sql.tables[use];
	if (!tables->arrows && !tables->too_many)
		tables->arrows = keep_arrows(tables);
	if (tables->arrows)
		attend(tables->arrows, tables->question);
	return tables->arrows;
}

/* ---- A part of the tables. ---- */

#define TOUCHES "ts < %lld and (ts >= %lld or ts + dur > %lld or dur = -1)"
#define BETWEEN "ts < %lld and ts >= %lld and %lld is not null"

static const struct {
	const char *name, *window; /* window: of its end, and twice its begin */
} events[] = {
    {"slice", TOUCHES},        {"async_slice", TOUCHES},
    {"sched", TOUCHES},        {"thread_state", TOUCHES},
    {"instant", BETWEEN},      {"async_instant", BETWEEN},
    {"counter", BETWEEN},      {"log", BETWEEN},
    {"stack_sample", BETWEEN}, {"flow", "ts_out < %lld and ts >= %lld and %lld is not null"},
};

static bool run(sqlite3 *db, char *text)
{
	bool fine = text && sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_free(text);
	return fine;
}

/* The threads of the tracks, in a table of their own: NULL is any. */
static bool pick_threads(const struct view *view, sqlite3 *db, const struct view_part *part)
{
	sqlite3_stmt *add = NULL;
	bool fine = run(db, sqlite3_mprintf("create temp table picked (path text, pid integer, tid integer)")) &&
	            sqlite3_prepare_v2(db, "insert into temp.picked values (?1, ?2, ?3)", -1, &add, NULL) == SQLITE_OK;
	for (size_t i = 0; i < part->options.thread_count && fine; i++) {
		sqlite3_clear_bindings(add);
		const struct view_pick *pick = &part->picks[i];
		sqlite3_bind_text(add, 1, view->options.paths[pick->file], -1, SQLITE_STATIC);
		if (pick->process)
			sqlite3_bind_int64(add, 2, (sqlite3_int64)pick->process);
		if (pick->thread != TW_ANY_THREAD)
			sqlite3_bind_int64(add, 3, (sqlite3_int64)pick->thread);
		fine = sqlite3_step(add) == SQLITE_DONE;
		sqlite3_reset(add);
	}
	sqlite3_finalize(add);
	return fine &&
	       run(db, sqlite3_mprintf("create temp table picked_utid as select t.utid from main.thread t "
	                               "left join main.process p using (upid) where exists (select 1 from "
	                               "temp.picked k where k.path = t.file and (k.pid is null or k.pid is p.pid) and "
	                               "(k.tid is null or k.tid is t.tid))"));
}

/* What is in a window of a view, in each file on its own clock, as a condition of SQL; NULL without memory. */
static char *window_of(const struct view *view, const struct view_request *request, const char *form, uint64_t from,
                       uint64_t to)
{
	if (view->options.count == 1)
		return sqlite3_mprintf(form, (long long)to, (long long)from, (long long)from);
	sqlite3_str *text = sqlite3_str_new(NULL);
	for (size_t i = 0; i < view->options.count; i++) {
		const int64_t start = (int64_t)view_file_begin(view, request, i);
		const long long begin = (long long)from - start, end = (long long)to - start;
		sqlite3_str_appendf(text, "%s(file = %Q and ", i ? " or " : "", view->options.paths[i]);
		sqlite3_str_appendf(text, form, end, begin, begin);
		sqlite3_str_appendall(text, ")");
	}
	return sqlite3_str_finish(text);
}

static bool hide_rest(const struct view *view, const struct view_request *request, sqlite3 *db, uint64_t from,
                      uint64_t to, bool picked)
{
	bool fine = true;
	for (size_t i = 0; i < sizeof events / sizeof *events && fine; i++) {
		const char *threads = picked ? " and utid in (select utid from temp.picked_utid)" : "";
		char *window = window_of(view, request, events[i].window, from, to);
		/* What is left out by select * is not in a view of it. */
		const char *file = view->options.count > 1 ? ", file" : "";
		fine = window && run(db, sqlite3_mprintf("create temp view \"%w\" as select *%s from main.\"%w\" "
		                                         "where (%s)%s",
		                                         events[i].name, file, events[i].name, window, threads));
		sqlite3_free(window);
	}
	return fine;
}

bool view_tables_restrict(struct view *view, sqlite3 *db, const struct view_request *request,
                          struct view_answer *answer)
{
	struct view_part part;
	uint64_t from = 0, to = INT64_MAX;
	bool tracks = view_request_text(request, "tracks") != NULL;
	bool taken = view_part_take(view, request, &part), fine = true;
	(void)view_request_number(request, "from", INT64_MAX, &from);
	(void)view_request_number(request, "to", INT64_MAX, &to);
	if (!taken)
		view_refuse(answer, 400, "the window or the tracks are none");
	else if (tracks && !part.picked)
		view_refuse(answer, 400, "of which of the files a track is is not known");
	else if (tracks || view_request_text(request, "from") || view_request_text(request, "to"))
		fine = (!tracks || pick_threads(view, db, &part)) && hide_rest(view, request, db, from, to, tracks);
	if (!fine)
		view_refuse(answer, 400, sqlite3_errmsg(db));
	view_part_free(&part);
	return answer->status == 200;
}
