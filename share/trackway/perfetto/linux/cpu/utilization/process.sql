-- How much of the CPUs each process took.

include perfetto module linux.cpu.utilization.general;

create perfetto function cpu_process_utilization_per_period(interval long, upid long)
returns table(ts timestamp, utilization double, unnormalized_utilization double) as
select ts, utilization, unnormalized_utilization
from _cpu_avg_utilization_per_period!($interval, (select ts, dur from _cpu_runs where upid = $upid));

create perfetto function cpu_process_utilization_per_second(upid long)
returns table(ts timestamp, utilization double, unnormalized_utilization double) as
select ts, utilization, unnormalized_utilization
from _cpu_avg_utilization_per_period!(1000000000, (select ts, dur from _cpu_runs where upid = $upid));

create perfetto view cpu_cycles_per_process(upid long, millicycles long, megacycles long, runtime duration, min_freq long,
  max_freq long, avg_freq long) as
select upid, millicycles, megacycles, runtime, min_freq, max_freq, avg_freq from _cpu_cycles!(upid, _cpu_freq_per_thread);

create perfetto function cpu_cycles_per_process_in_interval(ts timestamp, dur duration)
returns table(upid long, millicycles long, megacycles long, runtime duration, min_freq long, max_freq long,
  avg_freq long) as
select upid, millicycles, megacycles, runtime, min_freq, max_freq, avg_freq
from _cpu_cycles!(upid, _cpu_runs_in_interval!($ts, $dur));
