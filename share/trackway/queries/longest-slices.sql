-- the slices that took the longest, with their threads
with longest as materialized (
  select id, ts, dur, utid, name, category, depth from slice order by dur desc, id limit 30
)
select longest.dur as dur_ns, longest.ts, thread.tid, thread.name as thread_name, longest.name, longest.category,
  longest.depth, longest.id
from longest
left join thread using (utid)
order by longest.dur desc, longest.id;
