/* sql_hints.c - what a name may be that a statement has and no table: a word like it, or what Perfetto calls so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"
#include "cli/sql/sql_run.h"
#include "sql/engine/guard.h"
#include "sql/tables/table.h"
#include "sql/tables/views.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- What Perfetto's trace processor has under names of its own. ---- */

static const struct {
	const char *theirs, *ours;
} known[] = {
    {"cat", "category"},
    {"slice_id", "id"},
    {"thread_name", "thread.name"},
    {"process_name", "process.name"},
};

static const char *ours_of(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcasecmp(known[i].theirs, name) == 0)
			return known[i].ours;
	return NULL;
}

/* ---- Words like it. ---- */

/* Tables, then views. */
static const char *table_at(void *context, size_t i)
{
	size_t tables = 0;
	(void)context;
	while (sql_tables[tables])
		tables++;
	return i < tables ? sql_tables[i]->name : sql_aliases[i - tables].name;
}

/* Columns of all tables, one after the other. */
static const char *column_at(void *context, size_t i)
{
	(void)context;
	for (size_t t = 0; sql_tables[t]; i -= sql_tables[t++]->column_count)
		if (i < sql_tables[t]->column_count)
			return sql_tables[t]->columns[i].name;
	return NULL;
}

/* ---- SQLite's message. ---- */

/* Takes the name behind some words of a message, without the table before its point ("t.name"). Returns false where the
 * message does not begin with them. */
static bool take_name(const char *message, const char *words, char *name, size_t room)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t length = strlen(words);
	if (strncmp(message, words, length) != 0)
		return false;
	const char *dot = strrchr(message + length, '.'), *at = dot ? dot + 1 : message + length;
	length = strspn(at, letters);
	if (length == 0 || at[length] || length >= room)
		return false;
	memcpy(name, at, length);
	name[length] = '\0';
	return true;
}

/* What is told of a name that is not there. */
static void add_name(const char *message, struct tw_sql_hint *hint)
{
	enum { NAME_MOST = 64 };
	char name[NAME_MOST];
	bool table = take_name(message, "no such table: ", name, sizeof name);
	bool column = !table && take_name(message, "no such column: ", name, sizeof name);
	if (!table && !column && !take_name(message, "no such function: ", name, sizeof name))
		return;
	const char *ours = ours_of(name);
	const char *near = table ? tw_nearest(name, table_at, NULL) : column ? tw_nearest(name, column_at, NULL) : NULL;
	if (ours)
		(void)snprintf(hint->text, sizeof hint->text, "; here that is %s", ours);
	else if (near && strcmp(near, name) != 0) /* the same name is a column of another table */
		(void)snprintf(hint->text, sizeof hint->text, "; did you mean %s?", near);
}

struct tw_sql_hint tw_sql_hint(const struct tw_sql_run *run)
{
	struct tw_sql_hint hint = {""};
	int code = sqlite3_errcode(run->db);
	if (code == SQLITE_AUTH)
		(void)snprintf(hint.text, sizeof hint.text,
		               ": a statement may only read, and make what is temporary (create temp table)");
	else if (code == SQLITE_NOMEM && sql_guard_memory_reached())
		(void)snprintf(hint.text, sizeof hint.text, ": --memory is reached");
	else
		add_name(sqlite3_errmsg(run->db), &hint);
	return hint;
}
