/* sql_run.c - a connection to traces, and statements that are run on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/sql_run.h"

#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"
#include "sql/engine/guard.h"
#include "sql/engine/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- What the tables tell while they read. ---- */

static void stop_progress(struct tw_sql_run *run)
{
	if (run->shown)
		tw_progress_stop(&run->progress);
	run->shown = NULL;
}

static void begin_scan(void *context, const struct tw_reader *reader, const char *path)
{
	struct tw_sql_run *run = context;
	if (run->shown)
		return;
	run->shown = reader;
	tw_progress_start(&run->progress, reader, path);
}

static void end_scan(void *context, const struct tw_reader *reader)
{
	struct tw_sql_run *run = context;
	if (run->shown == reader)
		stop_progress(run);
	run->said_numbers = run->said_numbers || tw_say_numbers_in(&run->options->common, reader);
}

static void take_finding(void *context, size_t file, const struct tw_finding *finding)
{
	struct tw_sql_run *run = context;
	tw_findings_add(&run->findings[file], finding);
	run->damaged = run->damaged || finding->severity == TW_ERROR;
}

static void say_index_refused(void *context, const char *path, const char *what, const char *why)
{
	struct tw_sql_run *run = context;
	stop_progress(run);
	tw_say("%s.twindex: %s: %s", path, what, why);
}

static void say_not_kept(void *context, const char *table)
{
	const struct tw_sql_run *run = context;
	stop_progress(context);
	tw_say("sql: half of --memory has no room for the rows of %s: the %s read for each row that they are joined to",
	       table, run->session->count > 1 ? "files are" : "file is");
}

static void say_series_left(void *context, const char *path, size_t kept)
{
	stop_progress(context);
	tw_say("%s: an eighth of --memory has room for %s series: counter_track lacks series of counters, and their "
	       "samples have no track_id",
	       path, tw_show_count(kept).text);
}

int tw_sql_say_findings(struct tw_sql_run *run)
{
	int status = 0;
	for (size_t i = 0; i < run->session->count; i++) {
		if (tw_say_findings(&run->findings[i], run->session->files[i].path))
			status = TW_EXIT_FAILED;
		tw_findings_clear(&run->findings[i]);
	}
	return status;
}

/* ---- Opening and closing. ---- */

bool tw_sql_is_database(const char *path)
{
	static const char *const ends[] = {".db", ".sqlite", ".sqlite3"};
	size_t length = path ? strlen(path) : 0;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static const char *const form_names[TW_FORMS] = {
    [TW_FORM_TEXT] = "text",         [TW_FORM_JSON] = "json", [TW_FORM_CSV] = "csv",
    [TW_FORM_MARKDOWN] = "markdown", [TW_FORM_SVG] = "text",  [TW_FORM_HTML] = "text",
    [TW_FORM_FOLDED] = "text",       [TW_FORM_DOT] = "text",  [TW_FORM_DATABASE] = "text",
};

/* Opens a file; among several, one that is no trace is reported and left out. */
static int add_file(struct tw_sql_run *run, const char *path, bool among)
{
	struct sql_session *session = run->session;
	int status = sql_session_add(session, path);
	if (status < 0)
		return status;
	run->findings[session->count - 1].limit = TW_FINDINGS_SHOWN;
	status = sql_file_try(session, session->count - 1);
	if (!among || !tw_may_leave_out(path, status))
		return status;
	tw_say("left out: %s", session->error);
	sql_session_remove_last(session);
	run->damaged = true;
	return 0;
}

static int add_files(struct tw_sql_run *run, char **paths, size_t count)
{
	run->findings = calloc(count ? count : 1, sizeof *run->findings);
	if (!run->findings)
		return tw_say_error("out of memory");
	for (size_t i = 0; i < count; i++)
		if (add_file(run, paths[i], count > 1) < 0)
			return tw_say_error("%s", run->session->error);
	return count && run->session->count == 0 ? tw_say_error("none of the files is a trace") : 0;
}

/* SQLite's share of --memory has a least size: below it no statement of the tables could be prepared. */
static void limit_memory(const struct tw_sql_options *options)
{
	enum { LEAST = 4 << 20 };
	size_t limit = tw_memory_asked(&options->common);
	sql_guard_memory(limit > LEAST ? limit : LEAST);
}

/* Writing a database is done by statements of our own. A name that is empty: what SQLite sorts goes to a temporary
 * file. */
static int open_database(struct tw_sql_run *run)
{
	const bool writes = tw_sql_is_database(run->options->common.output);
	const size_t memory = run->session->options.memory_limit;
	const int opened = writes ? sqlite3_open_v2("", &run->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)
	                          : sql_spill_open(&run->session->spill, memory, &run->db);
	if (opened != SQLITE_OK)
		return tw_say_error("SQLite: %s", run->db ? sqlite3_errmsg(run->db) : "out of memory");
	int result = sql_register(run->db, run->session);
	sql_guard_settings(run->db);
	if (result == SQLITE_OK && !writes)
		result = sql_guard_statements(run->db, SQL_GUARD_NAMED);
	limit_memory(run->options);
	run->script = result == SQLITE_OK ? sql_script_new(run->db, run->session, true) : NULL;
	if (result == SQLITE_OK && !run->script)
		result = SQLITE_NOMEM;
	return result == SQLITE_OK ? 0 : tw_say_error("SQLite: %s", sqlite3_errstr(result));
}

int tw_sql_open(struct tw_sql_run *run, const struct tw_sql_options *options, char **paths, size_t count)
{
	struct tw_read_options read = {0};
	*run = (struct tw_sql_run){.options = options};
	const char *missing = sql_sqlite_load();
	if (missing)
		return tw_say_error("SQLite is needed, Debian's package libsqlite3-0: %s", missing);
	run->rows.screen = &run->screen;
	run->rows.safe = options->common.forms.csv_safe;
	run->rows.form = tw_sql_form_named(form_names[options->common.forms.chosen]);
	tw_take_options(&options->common, false, &read);
	for (size_t i = 0; i < count; i++)
		tw_names_want(&run->names, &options->common, paths[i]);
	if (tw_names_open(&run->names, &options->common, &read))
		return TW_EXIT_FAILED;
	run->session = sql_session_new(&read);
	if (!run->session)
		return tw_say_error("out of memory");
	run->session->hooks = (struct sql_hooks){
	    .context = run,
	    .begin = begin_scan,
	    .end = end_scan,
	    .finding = take_finding,
	    .refused = say_index_refused,
	    .not_kept = say_not_kept,
	    .series_left = say_series_left,
	};
	run->session->keep_index = options->index;
	int status = add_files(run, paths, count);
	return status ? status : open_database(run);
}

int tw_sql_close(struct tw_sql_run *run, int status)
{
	int closed = tw_screen_close(&run->screen);
	sql_script_close(run->script);
	if (run->db)
		sqlite3_close(run->db);
	sql_script_free(run->script);
	tw_sql_rows_free(&run->rows);
	for (size_t i = 0; run->session && run->findings && i < run->session->count; i++)
		tw_findings_clear(&run->findings[i]);
	free(run->findings);
	sql_session_free(run->session);
	tw_names_close(&run->names);
	if (status == 0 && closed == 0)
		return run->damaged ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
	return closed ? closed : status;
}

/* ---- Statements. ---- */

/* What stands behind a message; it may be added to the message itself. */
static const char *hint(const struct tw_sql_run *run, struct sql_fault *fault)
{
	if (fault->code == SQLITE_NOMEM && sql_guard_memory_reached())
		return ": --memory is reached";
	sql_hint(run->script, fault);
	return "";
}

int tw_sql_say(struct tw_sql_run *run, const char *path)
{
	struct sql_fault fault;
	stop_progress(run);
	sql_script_fault(run->script, 0, &fault);
	const char *more = hint(run, &fault);
	return tw_say_error("%s: %s%s", path, fault.text, more);
}

/* "query:2:8: no such column: foo"; line and column count from 1. */
static int say_place(struct tw_sql_run *run, const char *name, const char *text, const char *at,
                     struct sql_fault *fault)
{
	const char *line = text;
	unsigned number = 1;
	stop_progress(run);
	for (const char *p = text; p < at; p++)
		if (*p == '\n') {
			number++;
			line = p + 1;
		}
	const char *more = hint(run, fault);
	return tw_say_error("%s:%u:%u: %s%s", name, number, (unsigned)(at - line) + 1, fault->text, more);
}

/* The value of a --param by its name of some length; NULL: there is none. */
static const char *value_of(const struct tw_list *parameters, const char *name, size_t length)
{
	for (size_t i = 0; i < parameters->count; i++)
		if (strncmp(parameters->items[i], name, length) == 0 && parameters->items[i][length] == '=')
			return parameters->items[i] + length + 1;
	return NULL;
}

/* Numbers are numbers: whole ones up to 64 bits as the tables have them, of which the largest are negative. */
static void bind_value(sqlite3_stmt *statement, int i, const char *value)
{
	char *end;
	bool number = *value && value[strspn(value, "+-.0123456789eE")] == '\0';
	errno = 0;
	int64_t whole = strtoll(value, &end, 10);
	if (number && errno == ERANGE && *value != '-') {
		errno = 0;
		whole = (int64_t)strtoull(value, &end, 10);
	}
	if (number && !*end && errno == 0) {
		sqlite3_bind_int64(statement, i, whole);
		return;
	}
	double real = strtod(value, &end);
	if (number && !*end)
		sqlite3_bind_double(statement, i, real);
	else
		sqlite3_bind_text(statement, i, value, -1, SQLITE_STATIC);
}

/* Gives a statement the values of --param; @NAME needs none. */
static int bind(struct tw_sql_run *run, sqlite3_stmt *statement, const char *name)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *parameter = sqlite3_bind_parameter_name(statement, i);
		const char *own = parameter ? parameter + 1 : "";
		const char *value = value_of(&run->options->parameters, own, strlen(own));
		if (value)
			bind_value(statement, i, value);
		else if (!parameter || *parameter != '@')
			return tw_say_error("%s: wants a value for %s: --param %s=...", name,
			                    parameter ? parameter : "?", parameter ? own : "NAME");
	}
	return 0;
}

/* Answers go out as they come; the line of progress goes when the first does. */
static int step_all(struct tw_sql_run *run, sqlite3_stmt *statement)
{
	struct tw_sql_rows *rows = &run->rows;
	int result = sqlite3_step(statement);
	if (sqlite3_column_count(statement) == 0)
		return result;
	bool begun = false;
	for (; result == SQLITE_ROW && !run->screen.out.error && !rows->failed; result = sqlite3_step(statement)) {
		if (!begun && rows->form->begin)
			rows->form->begin(rows, statement);
		begun = true;
		if (run->screen.terminal)
			stop_progress(run);
		rows->form->row(rows, statement);
		rows->answered++;
		rows->first = sqlite3_column_int64(statement, 0);
	}
	if (result == SQLITE_DONE && !begun && rows->form->begin)
		rows->form->begin(rows, statement);
	if (result == SQLITE_DONE && rows->form->end)
		rows->form->end(rows, statement);
	return result;
}

static double seconds(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_one(struct tw_sql_run *run, sqlite3_stmt *statement, const char *name, const char *text,
                   const char *begin)
{
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	int status = bind(run, statement, name);
	if (status)
		return status;
	if (tw_screen_open(&run->screen, run->options->common.output))
		return TW_EXIT_FAILED;
	int result = step_all(run, statement);
	stop_progress(run);
	if (run->rows.failed)
		return tw_say_error("out of memory");
	if (run->screen.out.error)
		return TW_EXIT_FAILED; /* closing the screen says why */
	if (result != SQLITE_DONE && result != SQLITE_ROW) {
		struct sql_fault fault;
		sql_script_fault(run->script, 0, &fault);
		return say_place(run, name, text, begin, &fault);
	}
	if (run->timer)
		tw_putf(&run->screen.out, "%.3f s, %.3f s of processor time\n", seconds(CLOCK_MONOTONIC) - wall,
		        seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	return 0;
}

int tw_sql_statements(struct tw_sql_run *run, const char *name, const char *text)
{
	int status = 0;
	for (const char *begin = text, *end = text; *begin && status == 0; begin = end) {
		sqlite3_stmt *statement = NULL;
		struct sql_fault fault;
		if (sql_script_prepare(run->script, begin, &statement, &end, &fault) != SQLITE_OK)
			return say_place(run, name, text, begin + fault.offset, &fault);
		if (statement)
			status = run_one(run, statement, name, text, begin);
		sqlite3_finalize(statement);
	}
	return status;
}

int tw_sql_do(struct tw_sql_run *run, const char *text)
{
	return sqlite3_exec(run->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : TW_EXIT_FAILED;
}
