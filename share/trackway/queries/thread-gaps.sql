-- the longest times in which nothing was open on a thread (--param tid=..., utid=..., process=...: only on such threads)
with chosen as materialized (
  select utid, tid, thread.name as thread
  from thread left join process using (upid)
  where (@utid is null or utid = @utid)
    and (@tid is null or tid = @tid)
    and (@process is null or pid = @process or process.name = @process)
),
outer_slices as materialized (
  select chosen.utid, tid, thread, ts, ts + dur as ts_end, slice.name
  from chosen cross join slice on slice.utid = chosen.utid
  where depth = 0
),
gaps as (
  select ts_end as ts, lead(ts) over later - ts_end as gap_ns, name as after_name, lead(name) over later as before_name,
    utid, tid, thread
  from outer_slices
  window later as (partition by utid order by ts, ts_end)
)
select gap_ns, ts, after_name, before_name, utid, tid, thread
from gaps
where gap_ns > 0
order by gap_ns desc, ts, utid
limit 30;
