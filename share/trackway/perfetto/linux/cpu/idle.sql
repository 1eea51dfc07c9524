-- The idle states of CPUs: -1 is none, the CPU is at work.

include perfetto module counters.intervals;

create perfetto view cpu_idle_counters as
select i.id, i.track_id, i.ts, i.dur, iif(i.value = 4294967295, -1, cast(i.value as int)) as idle, t.cpu as ucpu, t.cpu
from counter_leading_intervals!((
  select * from counter where track_id in (select id from cpu_counter_track where name = 'cpuidle'))) i
join cpu_counter_track t on t.id = i.track_id;
