-- functions and slices by the time they took themselves, and by how long the runtime compiled them
with named as (
  select name, dur, self_dur, coalesce(category, '') in ('jit', 'jit-cached') as jit from slice
)
select
  name,
  count(*) filter (where not jit) as calls,
  coalesce(sum(dur) filter (where not jit), 0) as total_ns,
  coalesce(sum(self_dur) filter (where not jit), 0) as self_ns,
  min(dur) filter (where not jit) as min_ns,
  max(dur) filter (where not jit) as max_ns,
  coalesce(sum(self_dur) filter (where jit), 0) as jit_ns
from named
group by name
order by self_ns + jit_ns desc, name
limit 30;
