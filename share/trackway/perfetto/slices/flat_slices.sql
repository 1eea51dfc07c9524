-- Slices without those inside of them: at each moment of a track the innermost slice alone.

create perfetto view _slice_flattened as
with recursive
  inside as materialized (
    select parent_id, ts, ts + dur as ts_end, lead(ts) over (partition by parent_id order by ts, id) as next_ts,
      row_number() over (partition by parent_id order by ts, id) as number
    from slice where parent_id is not null),
  piece(slice_id, ts, ts_end) as (
    select s.id, s.ts, coalesce(i.ts, s.ts + s.dur)
    from slice s left join inside i on i.parent_id = s.id and i.number = 1
    union all
    select s.id, i.ts_end, coalesce(i.next_ts, s.ts + s.dur) from inside i join slice s on s.id = i.parent_id),
  root(slice_id, root_id) as (
    select id, id from slice where parent_id is null
    union all
    select s.id, r.root_id from root r join slice s on s.parent_id = r.slice_id)
select p.slice_id, p.ts, p.ts_end - p.ts as dur, s.category, s.name, s.arg_set_id, r.root_id, s.depth, s.track_id, s.utid,
  t.tid, t.name as thread_name, t.upid, process.pid, process.name as process_name
from piece p join slice s on s.id = p.slice_id join root r using (slice_id) left join thread t on t.utid = s.utid
  left join process on process.upid = t.upid
where p.ts_end > p.ts
order by s.track_id, p.ts;
