-- The stacks of samples as a tree, with how many samples each function has.

-- samples: with a column callsite_id.
create perfetto macro _callstacks_for_stack_profile_samples(samples TableOrSubquery)
returns TableOrSubquery as
(
  with recursive
    _sampled(id, self_count) as (
      select callsite_id, count(*) from $samples where callsite_id is not null group by callsite_id),
    _on_stack(id) as (
      select id from _sampled
      union
      select c.parent_id from _on_stack o join callsite c on c.id = o.id where c.parent_id is not null)
  select c.id, c.parent_id, c.id as callsite_id, f.name, f.module as mapping_name, f.source_file,
    nullif(f.line, 0) as line_number, coalesce(s.self_count, 0) as self_count
  from _on_stack o join callsite c on c.id = o.id join frame f on f.id = c.frame_id left join _sampled s on s.id = c.id
  order by c.id
);

-- callstacks: with id, parent_id and self_count. Gives the samples of each with all that it called.
create perfetto macro _callstacks_self_to_cumulative(callstacks TableOrSubquery)
returns TableOrSubquery as
(
  with recursive
    _stacks as materialized (select id, parent_id, self_count from $callstacks),
    _counted(id, samples) as (
      select id, self_count from _stacks where self_count > 0
      union all
      select s.parent_id, c.samples from _counted c join _stacks s on s.id = c.id where s.parent_id is not null)
  select id, sum(samples) as cumulative_count from _counted group by id
);

-- Both at once.
create perfetto macro _callstacks_summary(samples TableOrSubquery)
returns TableOrSubquery as
(
  with _tree as materialized (select * from _callstacks_for_stack_profile_samples!($samples))
  select t.id, t.parent_id, t.name, t.mapping_name, t.source_file, t.line_number, t.self_count, c.cumulative_count
  from _tree t join _callstacks_self_to_cumulative!(_tree) c using (id)
  order by t.id
);
