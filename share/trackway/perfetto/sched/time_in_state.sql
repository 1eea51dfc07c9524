-- How long threads were in each state. A state without an end goes on to the end of the trace.

create perfetto view _thread_state_ended as
select id, ts, iif(dur = -1, trace_end() - ts, dur) as dur, utid, state, cpu from thread_state;

create perfetto view sched_time_in_state_for_thread(utid long, total_runtime long, state string, time_in_state long,
  percentage_in_state long) as
select utid, total_runtime, state, time_in_state, time_in_state * 100 / total_runtime as percentage_in_state
from (
  select utid, state, sum(dur) as time_in_state, sum(sum(dur)) over (partition by utid) as total_runtime
  from _thread_state_ended group by utid, state)
where total_runtime > 0;

create perfetto view sched_percentage_of_time_in_state(utid long, running long, runnable long, runnable_preempted long,
  sleeping long, uninterruptible_sleep long, other long) as
select utid, max(percentage_in_state) filter (where state = 'Running') as running,
  max(percentage_in_state) filter (where state = 'R') as runnable,
  max(percentage_in_state) filter (where state = 'R+') as runnable_preempted,
  max(percentage_in_state) filter (where state = 'S') as sleeping,
  max(percentage_in_state) filter (where state = 'D') as uninterruptible_sleep,
  sum(percentage_in_state) filter (where state not in ('Running', 'R', 'R+', 'S', 'D')) as other
from sched_time_in_state_for_thread
group by utid;

create perfetto function sched_time_in_state_for_thread_in_interval(ts timestamp, dur duration, utid long)
returns table(state string, io_wait bool, blocked_function string, dur duration) as
select state, null as io_wait, null as blocked_function, sum(min(ts + dur, $ts + $dur) - max(ts, $ts)) as dur
from _thread_state_ended
where utid = $utid and ts < $ts + $dur and ts + dur > $ts
group by state
order by state;

create perfetto function sched_time_in_state_and_cpu_for_thread_in_interval(ts timestamp, dur duration, utid long)
returns table(state string, io_wait bool, cpu long, blocked_function string, dur duration) as
select state, null as io_wait, cpu, null as blocked_function, sum(min(ts + dur, $ts + $dur) - max(ts, $ts)) as dur
from _thread_state_ended
where utid = $utid and ts < $ts + $dur and ts + dur > $ts
group by state, cpu
order by state, cpu;
