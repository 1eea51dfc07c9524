-- How many intervals go on at each moment. One whose duration is -1 has no end.

create perfetto macro intervals_overlap_count(segments TableOrSubquery, ts_column ColumnName, dur_column ColumnName)
returns TableOrSubquery as
(
  select ts, sum(sum(step)) over (order by ts) as value
  from (
    select $ts_column as ts, 1 as step from $segments
    union all
    select $ts_column + $dur_column, -1 from $segments where $dur_column <> -1)
  group by ts
  order by ts
);

create perfetto macro intervals_overlap_count_by_group(segments TableOrSubquery, ts_column ColumnName,
  dur_column ColumnName, group_column ColumnName)
returns TableOrSubquery as
(
  select ts, sum(sum(step)) over (partition by group_name order by ts) as value, group_name
  from (
    select $ts_column as ts, 1 as step, $group_column as group_name from $segments
    union all
    select $ts_column + $dur_column, -1, $group_column from $segments where $dur_column <> -1)
  group by group_name, ts
  order by group_name, ts
);

-- Whether any two of them overlap.
create perfetto macro intervals_overlap_in_table(segments TableOrSubquery, ts_column ColumnName, dur_column ColumnName)
returns Expr as
(
  select exists (
    select 1
    from (select $ts_column as ts, $dur_column as dur, lead($ts_column) over (order by $ts_column) as next_ts from $segments)
    where next_ts is not null and (dur = -1 or next_ts < ts + dur))
);
