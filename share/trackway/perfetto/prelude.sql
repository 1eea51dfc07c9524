-- What is always there: functions of slices, flows and the trace's bounds, by the names of Perfetto's trace processor.
-- slice_aside and flow_aside are slice and flow with indexes, made when one of the tables here is first asked for.

create perfetto function trace_start() returns timestamp as
select 0;

create perfetto function trace_end() returns timestamp as
select max(end_ts - start_ts) from trace;

create perfetto function trace_dur() returns duration as
select max(end_ts - start_ts) from trace;

-- The slices that a slice is inside of.
create perfetto function ancestor_slice(slice_id long)
returns table(id long, ts timestamp, dur duration, track_id long, utid long, name string, category string, depth long,
  parent_id long, arg_set_id long, self_dur duration, end_kind string, thread_ts timestamp, thread_dur duration) as
with recursive up(id) as (
  select parent_id from slice_aside where id = $slice_id
  union
  select s.parent_id from up join slice_aside s on s.id = up.id)
select s.id, s.ts, s.dur, s.track_id, s.utid, s.name, s.category, s.depth, s.parent_id, s.arg_set_id, s.self_dur,
  s.end_kind, s.thread_ts, s.thread_dur
from up join slice_aside s on s.id = up.id;

-- The slices inside of a slice.
create perfetto function descendant_slice(slice_id long)
returns table(id long, ts timestamp, dur duration, track_id long, utid long, name string, category string, depth long,
  parent_id long, arg_set_id long, self_dur duration, end_kind string, thread_ts timestamp, thread_dur duration) as
with recursive down(id) as (
  select id from slice_aside where parent_id = $slice_id
  union
  select s.id from down join slice_aside s on s.parent_id = down.id)
select s.id, s.ts, s.dur, s.track_id, s.utid, s.name, s.category, s.depth, s.parent_id, s.arg_set_id, s.self_dur,
  s.end_kind, s.thread_ts, s.thread_dur
from down join slice_aside s on s.id = down.id;

-- The same of all slices of one stack_id.
create perfetto function ancestor_slice_by_stack(stack_id long)
returns table(id long, ts timestamp, dur duration, track_id long, utid long, name string, category string, depth long,
  parent_id long, arg_set_id long, self_dur duration, end_kind string, thread_ts timestamp, thread_dur duration) as
with recursive up(id) as (
  select parent_id from slice_aside where stack_id = $stack_id
  union
  select s.parent_id from up join slice_aside s on s.id = up.id)
select s.id, s.ts, s.dur, s.track_id, s.utid, s.name, s.category, s.depth, s.parent_id, s.arg_set_id, s.self_dur,
  s.end_kind, s.thread_ts, s.thread_dur
from up join slice_aside s on s.id = up.id;

create perfetto function descendant_slice_by_stack(stack_id long)
returns table(id long, ts timestamp, dur duration, track_id long, utid long, name string, category string, depth long,
  parent_id long, arg_set_id long, self_dur duration, end_kind string, thread_ts timestamp, thread_dur duration) as
with recursive down(id) as (
  select c.id from slice_aside p join slice_aside c on c.parent_id = p.id where p.stack_id = $stack_id
  union
  select s.id from down join slice_aside s on s.parent_id = down.id)
select s.id, s.ts, s.dur, s.track_id, s.utid, s.name, s.category, s.depth, s.parent_id, s.arg_set_id, s.self_dur,
  s.end_kind, s.thread_ts, s.thread_dur
from down join slice_aside s on s.id = down.id;

-- The flows that can be reached from a slice: from it and what is inside of it to where they arrive, and on from there.
create perfetto function following_flow(start_slice_id long)
returns table(id long, slice_out long, slice_in long, trace_id long, arg_set_id long) as
with recursive reached(id) as (
  select $start_slice_id
  union
  select s.id from reached r join slice_aside s on s.parent_id = r.id
  union
  select f.slice_in from reached r join flow_aside f on f.slice_out = r.id where f.slice_in is not null)
select f.id, f.slice_out, f.slice_in, f.trace_id, f.arg_set_id
from reached r join flow_aside f on f.slice_out = r.id;

-- The flows by which a slice can be reached: those that arrive at it or around it, and so back from where they leave.
create perfetto function preceding_flow(start_slice_id long)
returns table(id long, slice_out long, slice_in long, trace_id long, arg_set_id long) as
with recursive reached(id) as (
  select $start_slice_id
  union
  select s.parent_id from reached r join slice_aside s on s.id = r.id where s.parent_id is not null
  union
  select f.slice_out from reached r join flow_aside f on f.slice_in = r.id where f.slice_out is not null)
select f.id, f.slice_out, f.slice_in, f.trace_id, f.arg_set_id
from reached r join flow_aside f on f.slice_in = r.id;

-- The flows in chains that leave a slice or arrive at it, from slice to slice alone.
create perfetto function directly_connected_flow(start_slice_id long)
returns table(id long, slice_out long, slice_in long, trace_id long, arg_set_id long) as
with recursive
  after(id) as (
    select $start_slice_id
    union
    select f.slice_in from after r join flow_aside f on f.slice_out = r.id where f.slice_in is not null),
  before(id) as (
    select $start_slice_id
    union
    select f.slice_out from before r join flow_aside f on f.slice_in = r.id where f.slice_out is not null)
select f.id, f.slice_out, f.slice_in, f.trace_id, f.arg_set_id from after r join flow_aside f on f.slice_out = r.id
union
select f.id, f.slice_out, f.slice_in, f.trace_id, f.arg_set_id from before r join flow_aside f on f.slice_in = r.id;
