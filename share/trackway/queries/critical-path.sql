-- the flow that arrives last, and back from there what each waited for
with recursive arrows as materialized (
  select id, slice_out, slice_in, ts_out, ts, name
  from flow
  where slice_out is not null and slice_in is not null
),
path(id, slice_out, slice_in, ts_out, ts, name, step) as (
  select * from (select *, 0 from arrows order by ts desc, id limit 1)
  union all
  select arrows.*, path.step + 1
  from path
  join arrows on arrows.id = (
    select before.id
    from arrows as before
    where before.slice_in = path.slice_out and before.ts <= path.ts_out and before.id <> path.id
    order by before.ts desc, before.id
    limit 1
  )
  where path.step < 1000
),
slices as materialized (
  select id, name, utid
  from slice
  where id in (select slice_out from path union select slice_in from path)
)
select
  path.ts_out,
  path.ts - path.ts_out as wait_ns,
  path.name as flow,
  a.name as from_slice,
  b.name as to_slice,
  a.utid as from_utid,
  b.utid as to_utid
from path
left join slices as a on a.id = path.slice_out
left join slices as b on b.id = path.slice_in
order by path.step desc;
