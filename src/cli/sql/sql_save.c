/* sql_save.c - the tables as a plain SQLite database. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/outfile.h"
#include "cli/output/message.h"
#include "cli/sql/sql_run.h"
#include "sql/tables/views.h"

#include <string.h>

/* What a column is asked for by. */
static bool is_indexed(const struct sql_column *column)
{
	static const char *const more[] = {"id",        "utid",      "upid",     "track_id",    "arg_set_id",
	                                   "parent_id", "slice_out", "slice_in", "callsite_id", "frame_id"};
	if (column->role == SQL_IS_TS || column->role == SQL_IS_TRACK || column->role == SQL_IS_NAME)
		return true;
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		if (strcmp(column->name, more[i]) == 0)
			return true;
	return false;
}

static bool add(struct tw_text *text, const char *format, const char *a, const char *b)
{
	char *part = sqlite3_mprintf(format, a, b);
	bool fine = part && tw_text_add(text, part, strlen(part));
	sqlite3_free(part);
	return fine;
}

/* Creates and fills a table. Returns 0 or TW_EXIT_FAILED, as all that follow: what SQLite has no error for is a lack of
 * memory. */
static int copy_table(struct tw_sql_run *run, const struct sql_table *table)
{
	struct tw_text create = {0}, select = {0};
	bool fine = add(&create, "create table saved.\"%w\"(", table->name, NULL) &&
	            add(&select, "insert into saved.\"%w\" select ", table->name, NULL);
	for (size_t i = 0; i < table->column_count && fine; i++) {
		const struct sql_column *column = &table->columns[i];
		fine = add(&create, i ? ", \"%w\" %s" : "\"%w\" %s", column->name, column->type) &&
		       add(&select, i ? ", \"%w\"" : "\"%w\"", column->name, NULL);
	}
	fine = fine && tw_text_add(&create, ")", 1) && add(&select, " from main.\"%w\"", table->name, NULL);
	int status = !fine ? TW_EXIT_FAILED : tw_sql_do(run, create.bytes);
	status = status ? status : tw_sql_do(run, select.bytes);
	tw_text_free(&create);
	tw_text_free(&select);
	return status;
}

/* Two underlines: counter_track has an id, counter a track_id. */
static int index_table(struct tw_sql_run *run, const struct sql_table *table)
{
	int status = 0;
	for (size_t i = 0; i < table->column_count && status == 0; i++) {
		const struct sql_column *column = &table->columns[i];
		if (!is_indexed(column))
			continue;
		char *text = sqlite3_mprintf("create index saved.\"%w__%w\" on \"%w\"(\"%w\")", table->name,
		                             column->name, table->name, column->name);
		status = text ? tw_sql_do(run, text) : TW_EXIT_FAILED;
		sqlite3_free(text);
	}
	return status;
}

static int copy_view(struct tw_sql_run *run, const struct sql_alias *view)
{
	char *text = sqlite3_mprintf("create view saved.\"%w\" as %s", view->name, view->select);
	int status = text ? tw_sql_do(run, text) : TW_EXIT_FAILED;
	sqlite3_free(text);
	return status;
}

/* A journal in a file would stay when the program is killed; SQLite's defensive setting allows none to be off. It is
 * empty: all pages are new. */
static int fill(struct tw_sql_run *run, const char *temporary)
{
	char *attach =
	    sqlite3_mprintf("attach %Q as saved; pragma saved.journal_mode = memory; pragma saved.synchronous = off;"
	                    "pragma saved.locking_mode = exclusive; begin",
	                    temporary);
	int status = attach ? tw_sql_do(run, attach) : TW_EXIT_FAILED;
	sqlite3_free(attach);
	for (size_t i = 0; sql_tables[i] && status == 0; i++) {
		if (sql_tables[i]->format)
			continue; /* single records: dump has them */
		status = copy_table(run, sql_tables[i]);
		status = status ? status : index_table(run, sql_tables[i]);
	}
	for (const struct sql_alias *view = sql_aliases; view->name && status == 0; view++)
		status = copy_view(run, view);
	return status ? status : tw_sql_do(run, "commit");
}

/* SQLite opens the file by a name, which it has until it is complete; an interrupt removes it. */
int tw_sql_save(struct tw_sql_run *run, const char *path)
{
	struct tw_outfile file;
	int error = tw_outfile_open_named(&file, path);
	if (error)
		return tw_say_error("%s: cannot write: %s", path, strerror(error));
	int status = fill(run, file.temporary);
	if (status && sqlite3_errcode(run->db) == SQLITE_OK)
		tw_say_error("%s: out of memory", path);
	else if (status)
		tw_sql_say(run, path);
	sqlite3_exec(run->db, "rollback", NULL, NULL, NULL);
	sqlite3_exec(run->db, "detach saved", NULL, NULL, NULL);
	if (status) {
		tw_outfile_drop(&file);
		return status;
	}
	error = tw_outfile_keep(&file);
	return error ? tw_say_error("%s: cannot write: %s", path, strerror(error)) : 0;
}
