/* script.h - statements as Perfetto's users write them: create perfetto, include perfetto module, NAME!(...). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_SCRIPT_H
#define SQL_PERFETTO_SCRIPT_H

#include "sql/perfetto/function.h"

/* What the statements of a connection have made. Written by script.c and parse.c. */
struct sql_script {
	struct sql_calls calls; /* of its functions */
	struct sql_aside *aside;
	struct sql_macro *macros;
	struct sql_names included;        /* modules */
	struct sql_names scalars, tables; /* its functions */
	bool ready; /* the functions that are always there are: bodies are looked at from now on */
};

/* Begins with functions that are always there, over the tables of a session. kept: statements are kept for speed, and
 * sql_script_close() is called before the connection is closed. NULL when there is no memory. */
struct sql_script *sql_script_new(sqlite3 *db, struct sql_session *session, bool kept);

/* Prepares the first statement of a text, as sqlite3_prepare_v2() does; of Perfetto's own ones most are carried out at
 * once, and there is no *statement. *end: what follows it. Returns one of SQLite's results; where it is not SQLITE_OK,
 * *fault tells. */
int sql_script_prepare(struct sql_script *script, const char *text, sqlite3_stmt **statement, const char **end,
                       struct sql_fault *fault);

/* Runs all statements of a module, but once only. False: *fault tells. */
bool sql_script_include(struct sql_script *script, const char *module, struct sql_fault *fault);

/* Finalizes all statements of the connection. */
void sql_script_close(struct sql_script *script);

/* Once the connection is closed. */
void sql_script_free(struct sql_script *script);

/* What is wrong at the begin of a text, where what it refers to was not prepared: SQLite's last words. */
void sql_script_fault(const struct sql_script *script, size_t offset, struct sql_fault *fault);

/* hint.c: puts behind what is wrong with a statement what it may be about, a word like it or what Perfetto calls so;
 * nothing where that is not known. */
void sql_hint(const struct sql_script *script, struct sql_fault *fault);

#endif
