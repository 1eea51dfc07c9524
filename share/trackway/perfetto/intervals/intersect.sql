-- What intervals have in common with one that is given.

create perfetto macro _interval_intersect_single(ts Expr, dur Expr, intervals_table TableOrSubquery)
returns TableOrSubquery as
(
  select id, max(ts, $ts) as ts, min(ts + dur, $ts + $dur) - max(ts, $ts) as dur
  from $intervals_table
  where ts < $ts + $dur and ts + dur > $ts
);
