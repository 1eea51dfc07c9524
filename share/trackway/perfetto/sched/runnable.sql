-- When a thread that runs could run before.

create perfetto view sched_previous_runnable_on_thread(id long, prev_runnable_id long, prev_wakeup_runnable_id long) as
with
  states as materialized (
    select id, state, utid, row_number() over (partition by utid order by ts, dur = -1) as number from thread_state),
  before as (
    select id, utid, max(iif(state in ('R', 'R+'), number, null)) over earlier as runnable,
      max(iif(state = 'R', number, null)) over earlier as woken
    from states
    window earlier as (partition by utid order by number rows between unbounded preceding and 1 preceding))
select b.id, r.id as prev_runnable_id, w.id as prev_wakeup_runnable_id
from before b left join states r on r.utid = b.utid and r.number = b.runnable
  left join states w on w.utid = b.utid and w.number = b.woken;
