-- What the functions of the CPUs' utilization have in common.

include perfetto module linux.cpu.frequency;

-- The CPUs' time of threads, without idle time; what has no end goes on to the trace's.
create perfetto view _cpu_runs as
select s.id, s.ts, iif(s.dur = -1, trace_end() - s.ts, s.dur) as dur, s.cpu, s.utid, t.upid
from sched s join thread t using (utid) where not t.is_idle;

create perfetto view _cpu_frequencies as
select ts, dur, cpu, freq from cpu_frequency_counters;

create virtual table temp._cpu_freq_per_thread using span_left_join(_cpu_runs partitioned cpu, _cpu_frequencies partitioned cpu);

-- Of each period, a multiple of the interval, in which one ran: which part of the CPUs' time.
create perfetto macro _cpu_avg_utilization_per_period(interval Expr, runs TableOrSubquery)
returns TableOrSubquery as
(
  with recursive _piece(number, ts, ts_end) as (
    select ts / $interval, ts, ts + dur from $runs where $interval > 0 and dur > 0
    union all
    select number + 1, ts, ts_end from _piece where (number + 1) * $interval < ts_end)
  select number * $interval as ts,
    sum(min(ts_end, (number + 1) * $interval) - max(ts, number * $interval)) * 1.0 / $interval / (select count(*) from cpu)
      as utilization,
    sum(min(ts_end, (number + 1) * $interval) - max(ts, number * $interval)) * 1.0 / $interval as unnormalized_utilization
  from _piece
  group by number
  order by number
);

-- Cycles of what ran; runs: with dur and freq.
create perfetto macro _cpu_cycles(key ColumnName, runs TableOrSubquery)
returns TableOrSubquery as
(
  select $key, cast(sum(dur * freq / 1000) as int) as millicycles, cast(sum(dur * freq / 1000) / 1e9 as int) as megacycles,
    sum(dur) as runtime, min(freq) as min_freq, max(freq) as max_freq, sum(dur * freq) / sum(dur) as avg_freq
  from $runs
  where $key is not null and dur > 0
  group by $key
);

create perfetto macro _cpu_runs_in_interval(ts Expr, dur Expr)
returns TableOrSubquery as
(
  select max(ts, $ts) as ts, min(ts + dur, $ts + $dur) - max(ts, $ts) as dur, freq, utid, upid
  from _cpu_freq_per_thread
  where ts < $ts + $dur and ts + dur > $ts
);
