/* tables.h - all tables that there are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_TABLES_H
#define SQL_TABLES_TABLES_H

#include "sql/tables/table.h"

/* X(name): each is a `const struct sql_table sql_table_NAME`; this is the order in which they are listed. */
#define SQL_TABLE_LIST(X)                                                                                              \
	X(slice)                                                                                                       \
	X(async_slice)                                                                                                 \
	X(instant)                                                                                                     \
	X(async_instant)                                                                                               \
	X(counter)                                                                                                     \
	X(flow)                                                                                                        \
	X(sched)                                                                                                       \
	X(thread_state)                                                                                                \
	X(stack_sample)                                                                                                \
	X(log)                                                                                                         \
	X(args)                                                                                                        \
	X(thread)                                                                                                      \
	X(process)                                                                                                     \
	X(track)                                                                                                       \
	X(thread_track)                                                                                                \
	X(process_track)                                                                                               \
	X(counter_track)                                                                                               \
	X(callsite)                                                                                                    \
	X(frame)                                                                                                       \
	X(trace)                                                                                                       \
	X(finding)                                                                                                     \
	X(fdr_record)                                                                                                  \
	X(fxt_record)                                                                                                  \
	X(tracelog_record)                                                                                             \
	X(xtrace_insn)                                                                                                 \
	X(xtrace_mem)

#define X(name) extern const struct sql_table sql_table_##name;
SQL_TABLE_LIST(X)
#undef X

#endif
