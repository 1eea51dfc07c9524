-- from each event of one name to the next of another, on any thread (--param from=... --param to=...)
with events as materialized (
  select ts, name from slice where name = :from
  union all
  select ts, name from slice where name = :to
  union all
  select ts, name from instant where name = :from
  union all
  select ts, name from instant where name = :to
),
pairs as (
  select ts, name,
    min(case when name = :to then ts end)
      over (order by ts rows between 1 following and unbounded following) as next_ts
  from events
)
select count(*) as pairs, min(next_ts - ts) as min_ns, avg(next_ts - ts) as mean_ns, max(next_ts - ts) as max_ns
from pairs
where name = :from and next_ts is not null;
