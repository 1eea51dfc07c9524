-- from each slice or instant of one name to the next of another, on any thread (--param from=... --param to=...)
with events as materialized (
  select ts, name from slice where name = :from
  union all
  select ts, name from slice where name = :to and :to <> :from
  union all
  select ts, name from instant where name = :from
  union all
  select ts, name from instant where name = :to and :to <> :from
),
pairs as (
  select ts, name,
    case when :from = :to
      then lead(ts) over (order by ts)
      else min(case when name = :to then ts end) over (order by ts range between current row and unbounded following)
    end as next_ts
  from events
)
select count(*) as pairs, min(next_ts - ts) as min_ns, avg(next_ts - ts) as mean_ns, max(next_ts - ts) as max_ns
from pairs
where name = :from and next_ts is not null;
