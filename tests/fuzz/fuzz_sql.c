/* fuzz_sql.c - any bytes as a trace, all rows of all tables; or, behind a line that says so, as statements. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sql/engine/guard.h"
#include "sql/perfetto/script.h"
#include "sql/tables/tables.h"

/* What may go wrong with a table without being a mistake of ours: the trace cannot be read, or asks for too much. */
static void look(sqlite3 *db, const struct sql_session *session, const char *text)
{
	sqlite3_stmt *statement = NULL;
	int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
	fuzz_require(result == SQLITE_OK, "the statement is right");
	while ((result = sqlite3_step(statement)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const void *bytes = sqlite3_column_blob(statement, i);
			fuzz_touch(bytes, (uint64_t)sqlite3_column_bytes(statement, i));
		}
	/* SQLite's own: sums of times may be more than 63 bits. */
	bool overflow = result == SQLITE_ERROR && strcmp(sqlite3_errmsg(db), "integer overflow") == 0;
	fuzz_require(result == SQLITE_DONE || overflow || session->error[0], "a text for every failure");
	fuzz_require(result != SQLITE_NOMEM, "memory is enough");
	sqlite3_finalize(statement);
}

static void look_at_tables(sqlite3 *db, const struct sql_session *session)
{
	char text[128];
	for (size_t i = 0; sql_tables[i]; i++) {
		snprintf(text, sizeof text, "select * from \"%s\"", sql_tables[i]->name);
		look(db, session, text);
	}
	look(db, session, "select name, count(*), sum(dur) from slice group by name");
	look(db, session, "select * from slice where ts between 100 and 100000 and name glob '*1*' and utid = 1");
	look(db, session, "select * from instant where ts > 5 order by ts");
	look(db, session,
	     "select a.id, b.id, x.* from slice a join slice b on b.parent_id = a.id join args x on x.arg_set_id = "
	     "b.arg_set_id");
	look(
	    db, session,
	    "select id from slice a where exists (select 1 from slice b where b.id = a.parent_id and b.utid = a.utid)");
}

/* Files are known by their path: this one is written anew for each input. */
static const char *write_file(const uint8_t *bytes, size_t size)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	fuzz_require(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size, "a file");
	return path;
}

/* ---- Statements. ---- */

static const char statements_line[] = "-- statements\n";

/* Whatever takes long ends. */
static int is_long(void *looks)
{
	enum { LOOKS = 50 };
	return ++*(int *)looks > LOOKS;
}

static void step_some(sqlite3_stmt *statement)
{
	enum { ROWS = 100 };
	for (int row = 0; row < ROWS && sqlite3_step(statement) == SQLITE_ROW; row++)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const void *bytes = sqlite3_column_blob(statement, i);
			fuzz_touch(bytes, (uint64_t)sqlite3_column_bytes(statement, i));
		}
}

static void run_statements(struct sql_script *script, const char *text, int *looks)
{
	struct sql_fault fault;
	const char *end = text;
	for (const char *at = text; *at; at = end) {
		sqlite3_stmt *statement = NULL;
		*looks = 0;
		if (sql_script_prepare(script, at, &statement, &end, &fault) != SQLITE_OK) {
			fuzz_require(*fault.text && !strchr(fault.text, '\n'), "a line for every failure");
			fuzz_require(fault.offset <= strlen(at), "its place is in the text");
			fuzz_require(!statement, "no statement");
			return;
		}
		fuzz_require(end > at, "what follows it");
		step_some(statement);
		sqlite3_finalize(statement);
	}
}

/* A connection without files: the statements themselves are looked at. */
static void look_at_statements(const char *text)
{
	enum { STEPS = 1000, LONGEST = 1 << 20, DEEPEST = 100 };
	struct sql_session *session = sql_session_new(NULL);
	sqlite3 *db = NULL;
	int looks = 0;
	fuzz_require(session && sqlite3_open(":memory:", &db) == SQLITE_OK && sql_register(db, session) == SQLITE_OK,
	             "tables");
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, DEEPEST);
	sqlite3_progress_handler(db, STEPS, is_long, &looks);
	fuzz_require(sql_guard_statements(db, SQL_GUARD_GIVEN) == SQLITE_OK, "a guard");
	struct sql_script *script = sql_script_new(db, session, true);
	fuzz_require(script != NULL, "a script");
	run_statements(script, text, &looks);
	sql_script_close(script);
	fuzz_require(sqlite3_close(db) == SQLITE_OK, "nothing is left of the connection");
	sql_script_free(script);
	sql_session_free(session);
}

static bool take_statements(const uint8_t *bytes, size_t size)
{
	size_t line = strlen(statements_line);
	if (size < line || memcmp(bytes, statements_line, line) != 0)
		return false;
	char *text = calloc(1, size + 1);
	fuzz_require(text != NULL, "memory");
	memcpy(text, bytes, size);
	look_at_statements(text);
	free(text);
	return true;
}

FUZZ_TARGET(sql, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	const struct tw_read_options options = {.memory_limit = bytes[0] & 8 ? 1 << 20 : 0, .jobs = 1};
	fuzz_require(!sql_sqlite_load(), "SQLite");
	if (take_statements(bytes + 1, size - 1))
		return 0;
	struct sql_session *session = sql_session_new(&options);
	sqlite3 *db = NULL;
	fuzz_require(session && sql_session_add(session, write_file(bytes + 1, size - 1)) == 0, "a session");
	fuzz_require(sqlite3_open(":memory:", &db) == SQLITE_OK && sql_register(db, session) == SQLITE_OK, "tables");
	look_at_tables(db, session);
	sqlite3_close(db);
	sql_session_free(session);
	return 0;
}
