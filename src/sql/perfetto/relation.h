/* relation.h - create perfetto table, view and index. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_RELATION_H
#define SQL_PERFETTO_RELATION_H

#include "sql/perfetto/prepare.h"

/* Whether a name is that of a table of the trace: it stands in the database itself, and what is temporary hides it. */
bool sql_relation_is_builtin(const char *name);

/* Says that it is; returns false. */
bool sql_relation_refuse(struct sql_preparing *preparing, const struct sql_token *token, const char *name);

bool sql_relation_create(struct sql_preparing *preparing);

/* False: there is none of that kind and name. */
bool sql_relation_drop(struct sql_script *script, enum sql_own kind, const char *name);

#endif
