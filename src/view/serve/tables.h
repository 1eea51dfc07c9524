/* tables.h - the tables of SQL over the files of a view. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_SERVE_TABLES_H
#define VIEW_SERVE_TABLES_H

#include "sql/engine/sqlite.h"
#include "view/serve/view.h"

/* Loads SQLite, which gets so much memory; 0: as much as a reader. Returns NULL, or what is missing. */
const char *view_tables_load(size_t memory);

/* NULL without memory. */
struct view_tables *view_tables_new(void);
void view_tables_free(struct view_tables *tables);

/* The session that a connection which is open has its tables of. */
struct sql_session *view_tables_session(struct view *view, enum view_use use);

/* Opens a connection for a question, once it is its turn; statements may do no more than those of `trackway sql`.
 * Close it in any case but NULL, which is refused in the answer. */
sqlite3 *view_tables_open(struct view *view, enum view_use use, struct view_question *question,
                          struct view_answer *answer);
void view_tables_close(struct view *view, enum view_use use, sqlite3 *db);

/* A connection whose table `arrow` has the flows of all files, with both ends, by the slices that they are in: made by
 * the first question that wants it, so that others read no file for theirs. Instead of one that view_tables_open() has
 * given, until it is closed. NULL: there is no room for it, or the question is over. */
sqlite3 *view_tables_arrows(struct view *view, enum view_use use);

/* Makes `arrow` of the flows that a connection has. Returns one of SQLite's results. */
int view_tables_view_arrows(sqlite3 *db);

/* Makes the tables of events have only what is in a window, and of some tracks, as a request has them. False where it
 * has none of these: the answer is a refusal. */
bool view_tables_restrict(struct view *view, sqlite3 *db, const struct view_request *request,
                          struct view_answer *answer);

#endif
