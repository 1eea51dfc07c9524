-- What intervals have in common with one that is given.

create perfetto macro _interval_intersect_single(ts Expr, dur Expr, intervals_table TableOrSubquery)
returns TableOrSubquery as
(
  select id, max(ts, $ts) as ts, min(ts + dur, $ts + $dur) - max(ts, $ts) as dur
  from $intervals_table
  where ts < $ts + $dur and ts + dur > $ts
);

-- What intervals of several tables have in common, where the partition columns are alike: ts, dur, id_0, id_1 and so on, and
-- these columns. Each table has id, ts, dur and them.
create perfetto macro _interval_intersect(tables TableOrSubqueryList, partition_columns ColumnNameList)
returns TableOrSubquery as
(
  select * from _trackway_intersect!($tables, $partition_columns)
);
