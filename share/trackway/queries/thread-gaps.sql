-- the longest times in which nothing was open on a thread (--param tid=...)
with outer_slices as materialized (
  select ts, ts + dur as ts_end, name
  from slice
  where depth = 0 and utid = (select utid from thread where tid = :tid)
),
gaps as (
  select ts_end as ts, lead(ts) over (order by ts, ts_end) - ts_end as gap_ns, name as after_name,
    lead(name) over (order by ts, ts_end) as before_name
  from outer_slices
)
select gap_ns, ts, after_name, before_name
from gaps
where gap_ns > 0
order by gap_ns desc, ts
limit 30;
