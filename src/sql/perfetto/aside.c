/* aside.c - slices and flows with indexes, in a connection of their own.
 *
 * A table that reads the trace keeps rows for one join; ancestor_slice() and its like are several, for each row of a
 * query. The copy is in a temporary file of SQLite's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/aside.h"

#include "sql/tables/table.h"

#include <stdlib.h>

struct sql_aside {
	struct sql_session *session;
	sqlite3 *db;  /* NULL: not made yet */
	size_t files; /* that it was made of */
};

/* Pages of 4 KiB: as many as view lets a query make. */
static const char making[] =
    "pragma journal_mode = off; pragma synchronous = off; pragma main.max_page_count = 1048576;"
    "create table slice_aside as select id, ts, dur, track_id, utid, name, category, depth, parent_id, arg_set_id,"
    " self_dur, end_kind, thread_ts, thread_dur, stack_id from slice;"
    "create table flow_aside as select id, slice_out, slice_in, trace_id, arg_set_id from flow;"
    "create index slice_by_id on slice_aside(id); create index slice_by_parent on slice_aside(parent_id);"
    "create index slice_by_stack on slice_aside(stack_id); create index flow_by_out on flow_aside(slice_out);"
    "create index flow_by_in on flow_aside(slice_in)";

struct sql_aside *sql_aside_new(struct sql_session *session)
{
	struct sql_aside *aside = calloc(1, sizeof *aside);
	if (aside)
		aside->session = session;
	return aside;
}

static void forget(struct sql_aside *aside)
{
	sqlite3_close(aside->db);
	aside->db = NULL;
}

/* The tables of the trace are not needed any more: they are taken away, as the session may end first. */
static int make(struct sql_aside *aside, char **error)
{
	int result = sqlite3_open_v2("", &aside->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	result = result == SQLITE_OK ? sql_register_tables(aside->db, aside->session) : result;
	result = result == SQLITE_OK ? sqlite3_exec(aside->db, making, NULL, NULL, error) : result;
	if (result == SQLITE_OK)
		result = sqlite3_drop_modules(aside->db, NULL);
	aside->files = aside->session->count;
	return result;
}

sqlite3 *sql_aside_open(struct sql_aside *aside, char **error)
{
	*error = NULL;
	if (aside->db && aside->files == aside->session->count)
		return aside->db;
	forget(aside);
	int result = make(aside, error);
	if (result == SQLITE_OK)
		return aside->db;
	if (!*error && result != SQLITE_NOMEM)
		*error = sqlite3_mprintf("%s", sqlite3_errstr(result));
	forget(aside);
	return NULL;
}

void sql_aside_free(struct sql_aside *aside)
{
	if (!aside)
		return;
	forget(aside);
	free(aside);
}
