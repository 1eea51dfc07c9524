/* views.c - what Perfetto's trace processor has under names of its own: as views, or told what it is here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/views.h"

const struct sql_alias sql_aliases[] = {
    {"slices", "the same as slice", "select * from slice"},
    {"thread_slice", "slices with their threads and processes",
     "select s.id, s.ts, s.dur, s.category, s.name, s.track_id, t.name as thread_name, s.utid, t.tid,\n"
     "    p.name as process_name, t.upid, p.pid, s.depth, s.parent_id, s.arg_set_id\n"
     "  from slice s join thread t using (utid) left join process p using (upid)"},
    {"process_slice", "asynchronous operations, and slices of no thread, with their processes",
     "select s.id, s.ts, s.dur, s.category, s.name, s.track_id, p.name as process_name, t.upid, p.pid,\n"
     "    0 as depth, null as parent_id, s.arg_set_id\n"
     "  from async_slice s left join track t on t.id = s.track_id left join process p using (upid)\n"
     "  union all select s.id, s.ts, s.dur, s.category, s.name, s.track_id, p.name, t.upid, p.pid,\n"
     "    s.depth, s.parent_id, s.arg_set_id\n"
     "  from slice s join process_track t on t.id = s.track_id left join process p using (upid)"},
    {"instants", "the same as instant", "select * from instant"},
    {"counters", "the same as counter", "select * from counter"},
    {"process_counter_track", "series of counters, with their processes",
     "select id, name, series, category, upid from counter_track where upid is not null"},
    {"sched_slice", "the same as sched", "select * from sched"},
    {"perf_sample", "samples of stacks and of CPU time",
     "select id, ts, utid, callsite_id from stack_sample where kind <> 'allocation-sample'"},
    {"cpu_profile_stack_sample", "the same as perf_sample", "select id, ts, callsite_id, utid from perf_sample"},
    {"stack_profile_callsite", "the same as callsite", "select * from callsite"},
    {"stack_profile_frame", "the same as frame", "select * from frame"},
    {"trace_bounds", "when the first trace starts and the last ends, by the clock of ts",
     "select 0 as start_ts, max(end_ts - start_ts) as end_ts from trace"},
    {NULL, NULL, NULL},
};

static const struct {
	const char *theirs, *ours;
} elsewhere[] = {
    {"cpu_track", "track"},
    {"cpu_counter_track", "counter_track"},
    {"thread_counter_track", "counter_track"},
    {"heap_profile_allocation", "stack_sample"},
    {"android_logs", "log"},
    {"stack_profile_mapping", "frame.module"},
};

const char *sql_table_elsewhere(size_t i)
{
	return i < sizeof elsewhere / sizeof *elsewhere ? elsewhere[i].theirs : NULL;
}

const char *sql_table_instead(const char *name)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (sqlite3_stricmp(elsewhere[i].theirs, name) == 0)
			return elsewhere[i].ours;
	return NULL;
}

int sql_views_make(sqlite3 *db)
{
	int result = SQLITE_OK;
	for (const struct sql_alias *view = sql_aliases; view->name && result == SQLITE_OK; view++) {
		if (sqlite3_table_column_metadata(db, "main", view->name, NULL, NULL, NULL, NULL, NULL, NULL) ==
		    SQLITE_OK)
			continue;
		char *text = sqlite3_mprintf("create temp view if not exists \"%w\" as %s", view->name, view->select);
		result = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(text);
	}
	return result;
}
