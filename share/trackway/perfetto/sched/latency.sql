-- How long a thread could run before it did.

create perfetto view sched_latency_for_running_interval(thread_state_id long, sched_id long, utid long,
  runnable_latency_id long, latency_dur duration) as
select id as thread_state_id, id as sched_id, utid, before_id as runnable_latency_id, before_dur as latency_dur
from (
  select id, utid, state, lag(id) over earlier as before_id, lag(dur) over earlier as before_dur,
    lag(state) over earlier as before_state
  from thread_state
  window earlier as (partition by utid order by ts, dur = -1))
where state = 'Running' and before_state in ('R', 'R+');
