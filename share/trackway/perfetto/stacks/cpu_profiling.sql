-- Samples of CPU profiles, and their stacks as a tree.

include perfetto module callstacks.stack_profile;

create perfetto view cpu_profiling_samples(id long, ts timestamp, utid long, tid long, thread_name string, ucpu long,
  cpu long, callsite_id long) as
select s.id, s.ts, s.utid, t.tid, t.name as thread_name, null as ucpu, null as cpu, s.callsite_id
from perf_sample s left join thread t using (utid);

create perfetto view cpu_profiling_summary_tree(id long, parent_id long, name string, mapping_name string,
  source_file string, line_number long, self_count long, cumulative_count long) as
select id, parent_id, name, mapping_name, source_file, line_number, self_count, cumulative_count
from _callstacks_summary!((select callsite_id from perf_sample));
