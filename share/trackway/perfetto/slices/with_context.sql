-- Slices of threads and of processes, with their names.

create perfetto view thread_or_process_slice as
select id, ts, dur, category, name, track_id, track_name, thread_name, utid, tid, is_main_thread, process_name, upid, pid,
  depth, parent_id, arg_set_id
from thread_slice
union all
select id, ts, dur, category, name, track_id, track_name, null, null, null, null, process_name, upid, pid,
  depth, parent_id, arg_set_id
from process_slice;
