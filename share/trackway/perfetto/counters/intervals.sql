-- Samples of counters as intervals: each value until the next one that is another.

create perfetto macro counter_leading_intervals(counter_table TableOrSubquery)
returns TableOrSubquery as
(
  select id, ts, coalesce(lead(ts) over later, trace_end()) - ts as dur, track_id, value,
    lead(value) over later as next_value, value - value_before as delta_value
  from (
    select id, ts, track_id, value, lag(value) over (partition by track_id order by ts, id) as value_before
    from $counter_table)
  where value_before is null or value_before <> value
  window later as (partition by track_id order by ts, id)
);
