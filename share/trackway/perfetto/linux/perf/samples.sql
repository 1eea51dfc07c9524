-- The stacks of perf's samples as a tree.

include perfetto module callstacks.stack_profile;

create perfetto view linux_perf_samples_summary_tree(id long, parent_id long, name string, mapping_name string,
  source_file string, line_number long, self_count long, cumulative_count long) as
select id, parent_id, name, mapping_name, source_file, line_number, self_count, cumulative_count
from _callstacks_summary!((select callsite_id from perf_sample));
