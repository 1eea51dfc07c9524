-- Scheduling with threads and processes.

create perfetto view sched_with_thread_process(id long, ts timestamp, dur duration, cpu long, utid long, end_state string,
  priority long, ucpu long, thread_name string, upid long, process_name string) as
select s.id, s.ts, s.dur, s.cpu, s.utid, s.end_state, s.priority, s.cpu as ucpu, t.name as thread_name, t.upid,
  p.name as process_name
from sched s left join thread t using (utid) left join process p using (upid);
