/* hint.c - what a name may be that a statement has and no table: a word like it, or what Perfetto calls so. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/script.h"

#include "base/text/nearest.h"
#include "sql/perfetto/modules.h"
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

struct words {
	const struct sql_script *script;
	struct sql_names made; /* by Perfetto's modules, and by statements */
};

/* Tables, then views, then what modules make. */
static const char *table_at(void *context, size_t i)
{
	const struct words *words = context;
	size_t tables = 0, views = 0;
	while (sql_tables[tables])
		tables++;
	while (sql_aliases[views].name)
		views++;
	if (i < tables)
		return sql_tables[i]->name;
	i -= tables;
	if (i < views)
		return sql_aliases[i].name;
	i -= views;
	return i < words->made.count ? words->made.items[i] : NULL;
}

/* Columns of all tables, one after the other, then those of what statements made. */
static const char *column_at(void *context, size_t i)
{
	const struct words *words = context;
	for (size_t t = 0; sql_tables[t]; i -= sql_tables[t++]->column_count)
		if (i < sql_tables[t]->column_count)
			return sql_tables[t]->columns[i].name;
	return i < words->made.count ? words->made.items[i] : NULL;
}

/* What modules make, and the functions of the connection. */
static const char *function_at(void *context, size_t i)
{
	const struct words *words = context;
	return i < words->made.count ? words->made.items[i] : NULL;
}

/* What the connection has. */
static void add_names(struct words *words, const char *query)
{
	sqlite3_stmt *list = NULL;
	(void)sqlite3_prepare_v2(words->script->calls.db, query, -1, &list, NULL);
	while (list && sqlite3_step(list) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(list, 0);
		(void)sql_names_add(&words->made, name ? strdup(name) : NULL);
	}
	sqlite3_finalize(list);
}

static const char *macro_at(void *context, size_t i)
{
	const struct words *words = context;
	const struct sql_macro *macro = words->script->macros;
	if (i < words->made.count)
		return words->made.items[i];
	for (i -= words->made.count; macro && i; i--)
		macro = macro->next;
	return macro ? macro->name : NULL;
}

static const char *module_at(void *context, size_t i)
{
	const struct sql_module *module = sql_module_at(i);
	(void)context;
	return module ? module->name : NULL;
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

static const struct {
	const char *message;
	const char *(*word)(void *context, size_t i);
	bool makable;      /* by a module */
	const char *query; /* what the connection has of them; NULL: is not in it */
} missing[] = {
    {"no such table: ", table_at, true, "select name from temp.sqlite_schema where type in ('table', 'view')"},
    {"no such column: ", column_at, false,
     "select c.name from temp.sqlite_schema s join pragma_table_info(s.name) c where s.type in ('table', 'view')"},
    {"no such function: ", function_at, true, "select distinct name from pragma_function_list"},
    {"no such macro: ", macro_at, true, NULL},
};

/* What does not fit is left out. */
static void add(struct sql_fault *fault, const char *before, const char *word, const char *behind)
{
	const size_t length = strlen(fault->text), room = sizeof fault->text - length;
	if (strlen(before) + strlen(word) + strlen(behind) < room)
		(void)snprintf(fault->text + length, room, "%s%s%s", before, word, behind);
	sql_fault_one_line(fault);
}

/* Adds what is told of a name that is not there. */
static void add_word(const struct sql_script *script, const char *name, size_t kind, struct sql_fault *fault)
{
	struct words words = {.script = script};
	char *made;
	const struct sql_module *module = missing[kind].makable ? sql_module_making(name) : NULL;
	const char *ours = ours_of(name);
	for (size_t i = 0; missing[kind].makable && (made = sql_module_name_at(i)); i++)
		(void)sql_names_add(&words.made, made);
	if (missing[kind].query)
		add_names(&words, missing[kind].query);
	const char *near = ours || module ? NULL : tw_nearest(name, missing[kind].word, &words);
	if (module)
		add(fault, "; include perfetto module ", module->name, " makes it");
	else if (ours)
		add(fault, "; here that is ", ours, "");
	else if (near && strcmp(near, name) != 0) /* the same name is a column of another table */
		add(fault, "; did you mean ", near, "?");
	sql_names_free(&words.made);
}

void sql_hint(const struct sql_script *script, struct sql_fault *fault)
{
	static const char no_module[] = "no such module: ";
	enum { NAME_MOST = 64 };
	char name[NAME_MOST];
	if (fault->code == SQLITE_AUTH)
		add(fault, ": a statement may only read, and make what is temporary (create temp table)", "", "");
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		if (take_name(fault->text, missing[i].message, name, sizeof name)) {
			add_word(script, name, i, fault);
			return;
		}
	const bool module = strncmp(fault->text, no_module, strlen(no_module)) == 0;
	const char *near = module ? tw_nearest(fault->text + strlen(no_module), module_at, NULL) : NULL;
	if (near)
		add(fault, "; did you mean ", near, "?");
}
