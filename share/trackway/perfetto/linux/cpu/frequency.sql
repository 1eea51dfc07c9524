-- The frequencies of CPUs.

include perfetto module counters.intervals;

create perfetto view cpu_frequency_counters as
select i.id, i.track_id, i.ts, i.dur, cast(i.value as int) as freq, t.cpu as ucpu, t.cpu
from counter_leading_intervals!((
  select * from counter where track_id in (select id from cpu_counter_track where name = 'cpufreq'))) i
join cpu_counter_track t on t.id = i.track_id;
