-- How many threads were in a state, and how many CPUs were busy, at each moment at which that changes.

include perfetto module intervals.overlap;

create perfetto view sched_runnable_thread_count(ts timestamp, runnable_thread_count long) as
select ts, value as runnable_thread_count
from intervals_overlap_count!((select ts, dur from thread_state where state in ('R', 'R+')), ts, dur);

create perfetto view sched_uninterruptible_sleep_thread_count(ts timestamp, uninterruptible_sleep_thread_count long) as
select ts, value as uninterruptible_sleep_thread_count
from intervals_overlap_count!((select ts, dur from thread_state where state = 'D'), ts, dur);

create perfetto view sched_active_cpu_count(ts timestamp, active_cpu_count long) as
select ts, value as active_cpu_count
from intervals_overlap_count!((select s.ts, s.dur from sched s join thread t using (utid) where not t.is_idle), ts, dur);
