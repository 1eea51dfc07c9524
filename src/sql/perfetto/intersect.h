/* intersect.h - what intervals of several tables have in common, as a select. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_INTERSECT_H
#define SQL_PERFETTO_INTERSECT_H

#include "base/memory/memory.h"

#include <stdbool.h>

/* The macro that makes the select: the module intervals.intersect calls it. */
#define SQL_INTERSECT_MACRO "_trackway_intersect"

/* Adds the select, in brackets. tables and columns: "(a, (select ...))" and "(utid, cpu)", terminated; columns are
 * those that must be alike. False: *wrong tells, a constant. */
bool sql_intersect_add(struct tw_text *to, const char *tables, const char *columns, const char **wrong);

#endif
