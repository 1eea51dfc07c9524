/* views.c - what Perfetto's trace processor has under names of its own: as views, or told what it is here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/views.h"

const struct sql_alias sql_aliases[] = {
    {"slices", "the same as slice", "select * from slice"},
    {"thread_slice", "slices with their threads and processes",
     "select s.id, s.ts, s.dur, s.category, s.name, s.track_id, t.name as track_name, t.name as thread_name, s.utid,\n"
     "    t.tid, t.is_main_thread, p.name as process_name, t.upid, p.pid, s.depth, s.parent_id, s.arg_set_id,\n"
     "    s.thread_ts, s.thread_dur\n"
     "  from slice s join thread t using (utid) left join process p using (upid)"},
    {"process_slice", "asynchronous operations, and slices of no thread, with their processes",
     "select s.id, s.ts, s.dur, s.category, s.name, s.track_id, t.name as track_name, p.name as process_name,\n"
     "    t.upid, p.pid, 0 as depth, null as parent_id, s.arg_set_id, null as thread_ts, null as thread_dur\n"
     "  from async_slice s left join track t on t.id = s.track_id left join process p using (upid)\n"
     "  union all select s.id, s.ts, s.dur, s.category, s.name, s.track_id, t.name, p.name, t.upid,\n"
     "    p.pid, s.depth, s.parent_id, s.arg_set_id, s.thread_ts, s.thread_dur\n"
     "  from slice s join process_track t on t.id = s.track_id left join process p using (upid)"},
    {"instants", "the same as instant", "select * from instant"},
    {"counters", "the same as counter", "select * from counter"},
    {"process_counter_track", "series of counters, with their processes",
     "select id, name, series, category, upid from counter_track where upid is not null"},
    {"cpu_counter_track",
     "series of counters that are a CPU's: its number is in their name (CPU 3 Frequency), is their id (cpufreq), or is "
     "a value of theirs (cpu, cpu_id); those of frequencies and idle states are named cpufreq and cpuidle, as in "
     "Perfetto",
     "select id, coalesce(kind, name) as name, series, category,\n"
     "    cast(coalesce(told, number, counter_id) as int) as cpu\n"
     "  from (select *, iif(kind is null or behind <> '', nullif(behind, ''), nullif(last, '')) as number,\n"
     "      iif(telling, (select iif(min(value) = max(value), max(value), null)\n"
     "        from counter where track_id = sibling), null) as told\n"
     "    from (select *, case when word in ('freq', 'frequency') then 'cpufreq'\n"
     "        when word in ('idle', 'idle state', 'idle_state', 'c-state', 'cstate') then 'cpuidle' end as kind,\n"
     "      iif(first glob '[0-9]*', substr(first, 1, length(first) - length(ltrim(first, '0123456789'))), '')"
     " as behind,\n"
     "      substr(trimmed, length(rtrim(trimmed, '0123456789')) + 1) as last\n"
     "      from (select *, ltrim(substr(name, 4), ' _.:/#[(') as first, rtrim(name, ' )]') as trimmed,\n"
     "        trim(lower(substr(name, 4)), '0123456789 _.:/#[]()') as word,\n"
     "        max(counter_id) over (partition by name) as most,\n"
     "        max(series in ('cpu', 'cpu_id')) over (partition by name, counter_id, upid) as telling,\n"
     "        max(iif(series in ('cpu', 'cpu_id'), id, null)) over (partition by name, counter_id, upid) as sibling\n"
     "        from counter_track where name like 'cpu%')))\n"
     "  where iif(telling, kind is not null and told is not null and series in ('value', 'state'), number is not null\n"
     "    or kind is not null and (most > 0 or instr(name, ' ') = 0) or most between 1 and 4095)"},
    {"cpu", "the CPUs that threads ran on",
     "select cpu as id, cpu as ucpu, cpu, null as cluster_id, null as processor, null as machine_id, null as capacity\n"
     "  from (select distinct cpu from sched)"},
    {"stats", "the rules that the files break, and how often: finding has each",
     "select rule as name, rule as key, null as idx, iif(severity = 'error', 'error', 'info') as severity,\n"
     "    'trace' as source, count(*) as value, min(text) as description from finding group by rule, severity"},
    {"metadata", "what each trace is: its format and its size",
     "select 2 * row_number() over () - 2 as id, 'trace_type' as name, 'single' as key_type, null as int_value,\n"
     "    format as str_value from trace\n"
     "  union all select 2 * row_number() over () - 1, 'trace_size_bytes', 'single', bytes, null from trace"},
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
    {"cpu_track", "track"},  {"thread_counter_track", "counter_track"}, {"heap_profile_allocation", "stack_sample"},
    {"android_logs", "log"}, {"stack_profile_mapping", "frame.module"},
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
