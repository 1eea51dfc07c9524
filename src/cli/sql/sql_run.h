/* sql_run.h - a connection to traces, and statements that are run on it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SQL_SQL_RUN_H
#define CLI_SQL_SQL_RUN_H

#include "cli/command.h"
#include "cli/files/findings.h"
#include "cli/options/names.h"
#include "cli/output/progress.h"
#include "cli/sql/sql_rows.h"
#include "sql/perfetto/script.h"
#include "sql/tables/table.h"

struct tw_sql_options {
	struct tw_common common;
	const char *file, *query;
	struct tw_list parameters; /* "name=value" */
	bool queries, index;
};

struct tw_sql_run {
	const struct tw_sql_options *options;
	sqlite3 *db;
	struct sql_script *script;
	struct sql_session *session;
	struct tw_name_sources names;
	struct tw_screen screen;
	struct tw_sql_rows rows;
	struct tw_findings *findings; /* by file */
	struct tw_progress progress;
	const struct tw_reader *shown; /* the reader that the line of progress is of; NULL: there is none */
	bool damaged;                  /* there were findings of severity error, or a file was left out */
	bool said_numbers;             /* that functions have no names */
	bool timer;                    /* how long each statement takes is told */
};

/* Whether a path is that of a database. */
bool tw_sql_is_database(const char *path);

/* Opens the files. Returns 0 or TW_EXIT_FAILED after saying why; close it in any case. */
int tw_sql_open(struct tw_sql_run *run, const struct tw_sql_options *options, char **paths, size_t count);

/* Frees all; returns the worse of `status` and what closing gives. */
int tw_sql_close(struct tw_sql_run *run, int status);

/* Runs statements and writes what they answer. name: what they are called in messages. Returns 0 or TW_EXIT_FAILED
 * after saying what is wrong. */
int tw_sql_statements(struct tw_sql_run *run, const char *name, const char *text);

/* Runs statements without an answer. Returns as above. */
int tw_sql_do(struct tw_sql_run *run, const char *text);

/* Says what SQLite says of the last failure. Returns TW_EXIT_FAILED. */
int tw_sql_say(struct tw_sql_run *run, const char *path);

/* Tells the findings that there were since the last time. */
int tw_sql_say_findings(struct tw_sql_run *run);

/* sql_missing.c: says what a ready query was missing that has found nothing. */
void tw_sql_say_missing(const struct tw_sql_run *run, const char *query, char **paths, size_t count);

/* sql_prompt.c: statements from a person or a pipe, until it ends. */
int tw_sql_prompt(struct tw_sql_run *run);

/* Whether a text is a dot command; and running it. Returns 0 or TW_EXIT_FAILED after saying what is wrong. */
bool tw_sql_is_command(const char *text);
int tw_sql_command(struct tw_sql_run *run, const char *text);

/* sql_save.c: all tables are written to a database. */
int tw_sql_save(struct tw_sql_run *run, const char *path);

/* sql_queries.c: ready queries. Each begins with a comment of one line that says what it answers. */
struct tw_sql_query {
	const char *name, *text;
};
const struct tw_sql_query *tw_sql_query_at(size_t i);
const struct tw_sql_query *tw_sql_query_named(const char *name);
int tw_sql_list_queries(const struct tw_common *common);

#endif
