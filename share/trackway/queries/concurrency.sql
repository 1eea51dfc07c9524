-- how long how many threads had a slice open at the same time
with edges as materialized (
  select ts, 1 as step from slice where depth = 0
  union all
  select ts + dur, -1 from slice where depth = 0
),
moments as (
  select ts, sum(step) as step from edges group by ts
),
spans as (
  select sum(step) over (order by ts) as threads, lead(ts) over (order by ts) - ts as dur from moments
)
select threads, sum(dur) as ns
from spans
where dur is not null
group by threads
order by threads;
