-- functions and slices by the time they took themselves
select
  name,
  count(*) as calls,
  sum(dur) as total_ns,
  sum(self_dur) as self_ns,
  min(dur) as min_ns,
  max(dur) as max_ns
from slice
group by name
order by self_ns desc, name
limit 30;
