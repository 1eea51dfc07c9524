/* aside.h - slices and flows with indexes, in a connection of their own: for functions that ask for them often. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_ASIDE_H
#define SQL_PERFETTO_ASIDE_H

#include "sql/engine/session.h"
#include "sql/engine/sqlite.h"

struct sql_aside;

/* Nothing is read yet. NULL when there is no memory. */
struct sql_aside *sql_aside_new(struct sql_session *session);

/* The connection, with the tables slice_aside and flow_aside, which are made at the first call: of all files. NULL:
 * *error tells, to be freed by sqlite3_free(), or there was no memory. */
sqlite3 *sql_aside_open(struct sql_aside *aside, char **error);

/* Once no statement of the connection is left. */
void sql_aside_free(struct sql_aside *aside);

#endif
