/* connection.c - traces that are asked by who is linked with the library. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/format.h"
#include "sql/answers/columns.h"
#include "sql/engine/guard.h"
#include "sql/engine/spill.h"
#include "sql/perfetto/script.h"
#include "sql/tables/table.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10000 /* of SQLite's machine, between two looks at whether to stop */, ERROR_TEXT = 1024 };

struct tw_sql {
	struct sql_session *session;
	struct sqlite3 *db;
	struct sql_script *script;
	const volatile int *stop;
	tw_finding_fn on_finding;
	void *finding_context;
	char error[ERROR_TEXT];
};

static int fail(struct tw_sql *sql, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int fail(struct tw_sql *sql, int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(sql->error, sizeof sql->error, format, arguments);
	va_end(arguments);
	return status;
}

/* ---- Opening. ---- */

/* Loading SQLite is nothing for two threads at once. */
static const char *load(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	const char *missing = sql_sqlite_load();
	pthread_mutex_unlock(&lock);
	return missing;
}

static void take_finding(void *context, size_t file, const struct tw_finding *finding)
{
	struct tw_sql *sql = context;
	(void)file;
	sql->on_finding(sql->finding_context, finding);
}

static int stops(void *context)
{
	const struct tw_sql *sql = context;
	return sql->stop && *sql->stop;
}

static int open_session(struct tw_sql *sql, const struct tw_read_options *options)
{
	sql->session = sql_session_new(options);
	if (!sql->session)
		return fail(sql, TW_ERR_MEMORY, "out of memory");
	sql->stop = sql->session->options.stop;
	sql->on_finding = sql->session->options.on_finding;
	sql->finding_context = sql->session->options.finding_context;
	sql->session->hooks = (struct sql_hooks){
	    .context = sql,
	    .finding = sql->on_finding ? take_finding : NULL,
	    .stop = sql->stop,
	};
	return 0;
}

static int add_file(struct tw_sql *sql, const char *path)
{
	struct sql_session *session = sql->session;
	int status = sql_session_add(session, path);
	if (status == TW_ERR_LIMIT)
		return fail(sql, status, "%s: more than %d files", path, SQL_FILES);
	if (status == 0)
		status = sql_file_try(session, session->count - 1);
	return status < 0 ? fail(sql, status, "%s", session->error) : 0;
}

/* What SQLite sorts goes to a temporary file. */
static int open_database(struct tw_sql *sql)
{
	int result = sql_spill_open(&sql->session->spill, sql->session->options.memory_limit, &sql->db);
	if (result == SQLITE_OK)
		result = sql_register(sql->db, sql->session);
	if (result != SQLITE_OK)
		return fail(sql, TW_ERR_MEMORY, "SQLite: %s", sqlite3_errstr(result));
	sql_guard_settings(sql->db);
	sqlite3_progress_handler(sql->db, STEPS, stops, sql);
	sql->script = sql_script_new(sql->db, sql->session, true);
	return sql->script && sql_guard_statements(sql->db, SQL_GUARD_GIVEN) == SQLITE_OK
	           ? 0
	           : fail(sql, TW_ERR_MEMORY, "out of memory");
}

int tw_sql_open(struct tw_sql **sql, const char *const *paths, size_t count, const struct tw_read_options *options)
{
	*sql = calloc(1, sizeof **sql);
	if (!*sql)
		return TW_ERR_MEMORY;
	const char *missing = load();
	if (missing)
		return fail(*sql, TW_ERR_UNSUPPORTED, "SQLite is needed, Debian's package libsqlite3-0: %s", missing);
	int status = open_session(*sql, options);
	for (size_t i = 0; i < count && status == 0; i++)
		status = add_file(*sql, paths[i]);
	return status < 0 ? status : open_database(*sql);
}

void tw_sql_close(struct tw_sql *sql)
{
	if (!sql)
		return;
	sql_script_close(sql->script);
	if (sql->db)
		sqlite3_close(sql->db);
	sql_script_free(sql->script);
	sql_session_free(sql->session);
	free(sql);
}

const char *tw_sql_error(const struct tw_sql *sql)
{
	return sql->error;
}

/* ---- Statements. ---- */

/* A statement of a text. */
struct statement_position {
	const char *text, *statement;
};

static int status_of(const struct tw_sql *sql, int code)
{
	if (stops((void *)(uintptr_t)sql))
		return TW_ERR_LIMIT;
	switch (code) {
	case SQLITE_NOMEM:
		return TW_ERR_MEMORY;
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
		return TW_ERR_SYSTEM;
	case SQLITE_TOOBIG:
	case SQLITE_INTERRUPT:
		return TW_ERR_LIMIT;
	default:
		return TW_ERR_VALUE;
	}
}

/* "2:8: no such column: foo": line and column count from 1. */
static int fail_at(struct tw_sql *sql, const struct statement_position *place, struct sql_fault *fault)
{
	const char *at = place->statement + fault->offset, *line = place->text;
	unsigned number = 1;
	for (const char *p = place->text; p < at; p++)
		if (*p == '\n') {
			number++;
			line = p + 1;
		}
	const int status = status_of(sql, fault->code);
	sql_hint(sql->script, fault);
	return fail(sql, status, "%u:%u: %s", number, (unsigned)(at - line) + 1, fault->text);
}

static int fail_step(struct tw_sql *sql, const struct statement_position *place)
{
	struct sql_fault fault;
	sql_script_fault(sql->script, 0, &fault);
	return fail_at(sql, place, &fault);
}

static void bind_value(sqlite3_stmt *statement, int i, const struct tw_sql_parameter *parameter)
{
	const char *bytes = parameter->size ? parameter->value.bytes : "";
	switch (parameter->type) {
	case TW_SQL_INT:
		sqlite3_bind_int64(statement, i, parameter->value.i);
		break;
	case TW_SQL_REAL:
		sqlite3_bind_double(statement, i, parameter->value.d);
		break;
	case TW_SQL_TEXT:
		sqlite3_bind_text64(statement, i, bytes, parameter->size, SQLITE_STATIC, SQLITE_UTF8);
		break;
	case TW_SQL_BYTES:
		sqlite3_bind_blob64(statement, i, bytes, parameter->size, SQLITE_STATIC);
		break;
	case TW_SQL_NULL:
		break;
	}
}

static void bind(sqlite3_stmt *statement, const struct tw_sql_parameter *parameters, size_t count)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *name = sqlite3_bind_parameter_name(statement, i);
		for (size_t k = 0; k < count; k++) {
			const char *own = parameters[k].name;
			if (own && name ? strcmp(own, name + 1) == 0 : !own && (size_t)i == k + 1)
				bind_value(statement, i, &parameters[k]);
		}
	}
}

static size_t limit_of(const struct tw_sql *sql)
{
	const size_t asked = sql->session->options.memory_limit;
	return asked ? asked : TW_DEFAULT_MEMORY;
}

static int fail_limit(struct tw_sql *sql)
{
	return fail(sql, TW_ERR_LIMIT,
	            "the answer takes more than the memory limit, %zu bytes: ask for less, or set it", limit_of(sql));
}

/* Takes what a statement answers for the result, in the place of what one before has answered. */
static int run(struct tw_sql *sql, sqlite3_stmt *statement, const struct statement_position *place,
               struct tw_sql_result **result)
{
	const bool answers = sqlite3_column_count(statement) > 0;
	int status = 0, step;
	if (answers) {
		tw_sql_result_free(*result);
		*result = sql_answer_new(statement, limit_of(sql));
		status = *result ? 0 : TW_ERR_MEMORY;
	}
	while (status == 0 && (step = sqlite3_step(statement)) != SQLITE_DONE)
		status = step == SQLITE_ROW ? sql_answer_add(*result, statement) : fail_step(sql, place);
	if (status == 0 && answers && !sql_answer_finish(*result, statement))
		status = TW_ERR_MEMORY;
	if (status < 0 && !*sql->error)
		status == TW_ERR_LIMIT ? fail_limit(sql) : fail(sql, status, "%s", tw_status_text(status));
	return status;
}

int tw_sql_query(struct tw_sql *sql, const char *query, const struct tw_sql_parameter *parameters, size_t count,
                 struct tw_sql_result **result)
{
	struct statement_position place = {query, query};
	int status = 0;
	*result = NULL;
	*sql->error = '\0';
	if (!sql->db)
		return fail(sql, TW_ERR_VALUE, "the traces were not opened");
	while (*place.statement && status == 0) {
		sqlite3_stmt *statement = NULL;
		const char *next = NULL;
		struct sql_fault fault;
		if (sql_script_prepare(sql->script, place.statement, &statement, &next, &fault) != SQLITE_OK)
			status = fail_at(sql, &place, &fault);
		if (statement) {
			bind(statement, parameters, count);
			status = run(sql, statement, &place, result);
			sqlite3_finalize(statement);
		}
		place.statement = next;
	}
	if (status == 0 && !*result && !(*result = sql_answer_new(NULL, 0)))
		status = fail(sql, TW_ERR_MEMORY, "out of memory");
	if (status < 0) {
		tw_sql_result_free(*result);
		*result = NULL;
	}
	return status;
}
