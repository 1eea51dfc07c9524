# sql_pasted.bats - statements as Perfetto's users paste them: create perfetto ..., include perfetto module, NAME!(...),
# span_join, and the functions of slices and flows. The answers are worked out by hand from the scene.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

EXTENSION=$(dirname "$(readlink -f "$TRACKWAY")")/libtrackway_sqlite

# Process 5 ("app") has threads 6 ("main") and 7 ("worker"), process 8 thread 9 ("other"); a tick is a nanosecond, and the
# first event is at 1000, which is ts 0.
#   main:   top 0-100 { an interesting slice name 10-50 { leaf 20-30 }, measure 60-80 }
#   worker: measure 120-130      other: reply 150-160      async 200-240
#   flows:  leaf -> worker's measure -> reply
#   cpu 0:  main 0-60 (preempted), worker 60-100 (blocks), main 100-160 (dies); worker is woken at 50, other at 170
#   counters: mem.swap 500 at 20, 2000 at 40; cpufreq of CPU 0 is 1000 at 0, 2000 at 60
scene() {
	"$PYTHON" - <<END
import sys; sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
from fxt_odd import *
def named(kind, koid, text, *arguments):
    return record(7, kind << 16 | (1 << 15 | len(text)) << 24 | len(arguments) << 40, koid, stream(text), b"".join(arguments))
def switch(at, old, new, state):
    return record(8, 1 << 60 | state << 36, at, old, new)
def wake(at, thread):
    return record(8, 2 << 60, at, thread)
texts = [b"top", b"an interesting slice name", b"leaf", b"measure", b"reply", b"async", b"link", b"mem.swap", b"cpufreq",
         b"value", b"process", b"ui"]
TOP, INTERESTING, LEAF, MEASURE, REPLY, ASYNC, LINK, SWAP, FREQ, VALUE, PROCESS, UI = range(1, len(texts) + 1)
out = [words(MAGIC), provider_info(1, b"p"), record(1, 0, 10**9)]
out += [string(i + 1, text) for i, text in enumerate(texts)]
out += [thread(1, 5, 6), thread(2, 5, 7), thread(3, 8, 9)]
out += [named(1, 5, b"app"), named(1, 8, b"server"), named(2, 6, b"main", argument(8, 0, 5, name=PROCESS)),
        named(2, 7, b"worker", argument(8, 0, 5, name=PROCESS)), named(2, 9, b"other", argument(8, 0, 8, name=PROCESS))]
def at(kind, name, ticks, *parts, reference=1, arguments=0):
    return event(kind, name, *parts, category=UI, ticks=1000 + ticks, reference=reference, arguments=arguments)
def counter(name, ticks, number, identity):
    return at(1, name, ticks, argument(1, number, name=VALUE), identity, arguments=1)
out += [at(2, TOP, 0), counter(FREQ, 0, 1000, 0), at(2, INTERESTING, 10), at(2, LEAF, 20), counter(SWAP, 20, 500, 7),
        at(8, LINK, 25, 1), at(3, LEAF, 30), counter(SWAP, 40, 2000, 7), at(3, INTERESTING, 50), at(2, MEASURE, 60),
        counter(FREQ, 60, 2000, 0), at(3, MEASURE, 80), at(3, TOP, 100), at(5, ASYNC, 200, 1)]
out += [at(4, MEASURE, 120, 1130, reference=2), at(10, LINK, 125, 1, reference=2), at(8, LINK, 126, 2, reference=2),
        at(7, ASYNC, 240, 1, reference=2)]
out += [at(4, REPLY, 150, 1160, reference=3), at(10, LINK, 155, 2, reference=3)]
out += [switch(1000, 0, 6, 0), wake(1050, 7), switch(1060, 6, 7, 1), switch(1100, 7, 6, 3), switch(1160, 6, 0, 5),
        wake(1170, 9)]
open("t.fxt", "wb").write(b"".join(out))
END
}

asked() { # statements, what the last of them answers: lines without the names of the columns
	local found
	found=$(trackway sql --csv t.fxt "$1" 2>&1 | tail -n +2)
	[ "$found" = "$(printf '%s\n' "${@:2}")" ] || fail "$1: $(trackway sql --csv t.fxt "$1" 2>&1)"
}

refused() { # statements, the message behind "query:"
	run trackway sql t.fxt "$1"
	[ "$status" -eq 2 ] || fail "$1: $status $output"
	[ "${lines[-1]}" = "trackway: error: query:$2" ] || fail "$1: $output"
}

@test "functions of slices: ancestors and descendants" {
	scene
	asked "select s.name, a.name, a.depth from slice s, ancestor_slice(s.id) a order by s.ts, a.depth" \
		'an interesting slice name,top,0' leaf,top,0 'leaf,an interesting slice name,1' measure,top,0
	asked "select s.name, d.name, d.dur from slice s, descendant_slice(s.id) d order by s.ts, d.ts" \
		'top,an interesting slice name,40' top,leaf,10 top,measure,20 'an interesting slice name,leaf,10'
	asked "select count(*) from ancestor_slice(-1)" 0
	asked "select count(*) from ancestor_slice(null)" 0
	asked "select a.name from slice s join ancestor_slice_by_stack(s.stack_id) a where s.name = 'leaf' order by a.depth" \
		top 'an interesting slice name'
	asked "select d.name from slice s join descendant_slice_by_stack(s.stack_id) d where s.name = 'top' order by d.ts" \
		'an interesting slice name' leaf measure
	refused 'select * from ancestor_slice' '1:1: function ancestor_slice wants 1 argument'
}

@test "functions of flows: following, preceding, directly connected" {
	scene
	# leaf -> measure of worker -> reply
	asked "select s.name, (select count(*) from following_flow(s.id)), (select count(*) from preceding_flow(s.id)),
		(select count(*) from directly_connected_flow(s.id)) from slice s order by s.ts" \
		top,2,0,0 'an interesting slice name,2,0,0' leaf,2,0,2 measure,0,0,0 measure,1,1,2 reply,0,2,2
	asked "select a.name, b.name from directly_connected_flow((select id from slice where name = 'reply')) f
		join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in order by a.ts" leaf,measure measure,reply
}

@test "the bounds of a trace, CPUs, statistics, metadata, and when threads end" {
	scene
	asked 'select trace_start(), trace_end(), trace_dur()' 0,240,240
	asked 'select id, cpu from cpu' 0,0
	asked "select name, int_value, str_value from metadata where name = 'trace_type'" trace_type,,fxt
	asked "select int_value from metadata where name = 'trace_size_bytes'" "$(stat -c %s t.fxt)"
	asked 'select name, cpu from cpu_counter_track' cpufreq,0
	asked "select name, ifnull(start_ts, '-'), ifnull(end_ts, '-') from thread where name is not null order by tid" \
		main,-,160 worker,-,- other,-,-
	head -c -3 t.fxt >cut.fxt
	run trackway sql --csv cut.fxt "select name, severity, value from stats"
	[[ "$output" == *'fxt.record-truncated,error,1'* ]] || fail "$output"
}

@test "when threads of a TraceLog are made and destroyed, also of a kept index" {
	# Created before a time is told, and after 20 ms; destroyed after 50.
	printf '%s\n' 'prf stm 2018-06-25 07:24:28.049 +09:00' 'thr crt 0x00000000B6A00000 0x00000000' 'thr aos 0x00000000 100' \
		'thr cpu 0x00000000 20 10000' 'thr crt 0x00000000B6A00010 0x00000001' 'thr aos 0x00000001 101' \
		'thr cpu 0x00000000 50 2000' 'thr dst 0x00000001' 'thr cpu 0x00000000 60 2000' >t.log
	for index in '' --index --index; do
		[ "$(trackway sql $index --csv t.log "select name, start_ts, ifnull(end_ts, '-') as end_ts from thread where start_ts is not null")" = \
			"name,start_ts,end_ts
OS thread 100,0,-
OS thread 101,20000000,50000000" ] || fail "$index: $(trackway sql --csv t.log 'select * from thread')"
	done
	[ -s t.log.twindex ]
}

@test "a thread and a process that are named several times have their last names" {
	named='{"ph":"M","pid":1,"tid":2,"name"' slice='{"ph":"X","name":"a","pid":1,"tid":2,"dur":1,"ts"'
	printf '%s\n' "[$named:\"thread_name\",\"args\":{\"name\":\"first\"}},$slice:1},$named:\"process_name\",\"args\":{\"name\":\"one\"}}," \
		"$named:\"thread_name\",\"args\":{\"name\":\"second\"}},$named:\"process_name\",\"args\":{\"name\":\"two\"}},$slice:5}]" >t.fxt
	asked 'select ts, thread_name, process_name from thread_slice order by ts' 0,second,two 4000,second,two
}

# dur of the slices but async: 100, 40, 10, 20, 10, 10; in order 10, 10, 10, 20, 40, 100.
@test "aggregates and operators: percentile, regexp" {
	scene
	asked "SELECT
  name,
  COUNT(dur) AS count_slice,
  PERCENTILE(dur,50) / 10 AS p50,
  PERCENTILE(dur,90) / 10 AS p90
FROM slice
WHERE name REGEXP '.*interesting.*'
GROUP BY name
ORDER BY count_slice DESC
LIMIT 10;" 'an interesting slice name,1,4.0,4.0'
	asked "select percentile(dur, 0), percentile(dur, 50), percentile(dur, 90), percentile(dur, 95), percentile(dur, 100) from slice" \
		10.0,15.0,70.0,85.0,100.0
	asked "select percentile(null, 50) is null, percentile(dur, 50) is null from slice where 0" 1,1
	asked "select depth, percentile(dur, 50) from slice group by depth order by depth" 0,10.0 1,30.0 2,10.0
	asked "select name from slice where name regexp '^(m|l).*[a-z]\$' and not name regexp null is not null order by ts" leaf measure measure
	refused 'select percentile(dur, 101) from slice' '1:1: percentile wants a percentage from 0 to 100'
	refused 'select percentile(name, 50) from slice' '1:1: percentile wants numbers'
	refused 'select percentile(dur, depth) from slice' '1:1: percentile wants one percentage for all rows'
	refused "select name regexp '(a' from slice" '1:1: regexp: Unmatched ( or \('
}

@test "create perfetto function: of a value, of a table, replaced, dropped" {
	scene
	asked 'create perfetto function f(x int, y INT) returns int as select $x * 10 + $y; select f(1, 2), f(ts, 1) from slice where ts = 10' 12,101
	asked 'create perfetto function f() returns string as select name from slice where 0; select f() is null' 1
	asked 'create perfetto function f(a timestamp, b joinid(slice.id)) returns table(ts long, Name string) as
		select ts, name from slice where ts >= $a and id <> $b; select * from f(120, 0) order by ts' 120,measure 150,reply
	asked 'create perfetto function f(x int) returns int as select iif($x <= 1, 1, $x * f($x - 1)); select f(5)' 120
	asked 'create perfetto function f() returns int as select 1; create or replace perfetto function f() returns int as
		select 2; select f()' 2
	refused 'create perfetto function f() returns int as select 1; create perfetto function f() returns int as select 2' \
		'1:80: function f already exists'
	refused 'create perfetto function f() returns int as select 1; drop perfetto function f; select f()' \
		'1:88: no such function: f'
	refused 'drop perfetto function f' '1:24: no such function: f'
	asked 'drop perfetto function if exists f; select 1' 1
	refused 'create perfetto function f(x int) returns int as select $y' '1:50: function f has no argument $y'
	refused 'create perfetto function f(x int, X int) returns int as select 1' '1:35: x stands twice in the list'
	refused 'create perfetto function f() returns int as select 1, 2' '1:45: function f: its body gives 2 columns, not one'
	refused 'create perfetto function f() returns table(a int) as select 1 as b' \
		'1:54: function f: column 1 is a, but its body gives b'
	refused 'create perfetto function f() returns int as select id from slice; select f()' \
		'1:66: function f: its body gives more than one row'
	refused 'create perfetto function f() returns int as delete from sqlite_temp_master' \
		'1:45: f: table sqlite_temp_master may not be modified'
	refused 'create or replace perfetto function Slice() returns table(a int) as select 1 as a' '1:37: Slice is a table'
	refused 'create perfetto function f(x) returns int as select 1' '1:29: a type is wanted, not )'
	refused 'create perfetto function f(x int) as select 1' '1:35: returns is wanted, not as'
}

@test "create perfetto table and view: with a schema, replaced, dropped" {
	scene
	asked "create perfetto table foo(x INT, y STRING) as select 1 as x, 'test' as y; select * from foo" 1,test
	asked "create perfetto view v(name string) as select name from slice; select name from v where name glob 'r*'" reply
	asked 'create perfetto table t as select 1 as a; create or replace perfetto table t as select 2 as b; select b from t' 2
	asked 'create perfetto view t as select 1 as a; create or replace perfetto table t as select 2 as b; select b from t' 2
	asked 'create perfetto table t as select 1 as a; create perfetto index i on t(a); drop perfetto index i;
		drop perfetto table t; create perfetto view t as select 3 as a; select a from t; ' 3
	asked 'CREATE VIEW a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 2 AS y; DROP VIEW IF EXISTS c; SELECT x, y FROM a, b' 1,2
	refused 'create perfetto table t as select 1 as a; create perfetto table t as select 2' '1:65: table t already exists'
	refused "create perfetto table t(a int, b int) as select 1 as a" '1:42: 2 columns are listed, but the select gives 1'
	refused "create perfetto table t(a int, b int) as select 1 as a, 2 as c" '1:42: column 2 is b, but the select gives c'
	refused 'create perfetto table t as select nowhere' '1:35: no such column: nowhere'
	asked "create perfetto table t(a int, b double, c string, d BYTES, e JOINID(slice.id), f any) as
		select 2.0 as a, 3 as b, 'x' as c, null as d, 4 as e, 'y' as f -- the end
		; select a, b, c, d is null, e, f, typeof(a), typeof(b) from t" 2,3.0,x,1,4,y,integer,real
	asked "create perfetto table t(n string, ts timestamp) as select name as n, ts from slice order by dur desc limit 2;
		select * from t" top,0 'an interesting slice name,10'
	refused "create perfetto table t(x LONG) as select 'a' as x" '1:1: column x is LONG, but a row has a text'
	refused "create perfetto table t(x int) as select 1.5 as x" '1:1: column x is INT, but a row has a real number'
	refused "create perfetto table t(x string) as select 1 as x" '1:1: column x is STRING, but a row has a whole number'
	refused "create perfetto table t(x lnog) as select 1 as x" '1:27: no such type: lnog; did you mean LONG?'
	refused 'create perfetto function f(x integral) returns int as select 1' '1:30: no such type: integral'
	refused 'create perfetto table slice as select 1 as a' '1:23: slice is a table of the trace: create or replace perfetto hides it'
	refused 'create perfetto view Sched as select 1 as a' '1:22: Sched is a table of the trace: create or replace perfetto hides it'
	refused 'create table "slice" as select 1 as a' '1:14: slice is a table of the trace: create or replace perfetto hides it'
	asked 'create or replace perfetto table flow as select 7 as a; select a from flow' 7
	asked 'create or replace perfetto table slice as select 7 as a; drop perfetto table slice; select count(*) from slice' 6
	refused 'create perfetto tabel t as select 1' '1:17: table, view, index, function or macro is wanted, not tabel'
	refused 'create perfetto table t as' '1:27: nothing stands behind as'
	refused 'drop perfetto view v' '1:20: no such view: v'
	# What there was stays when the new one is wrong.
	printf '%s\n' 'create perfetto table t as select 7 as a;' 'create or replace perfetto table t as select nowhere;' >script
	run trackway sql t.fxt -f script
	[ "${lines[-1]}" = 'trackway: error: script:2:46: no such column: nowhere' ]
}

@test "macros: arguments, macros inside, quotes and comments, places of mistakes" {
	scene
	asked 'create perfetto macro m(a Expr, b TableOrSubquery) returns TableOrSubquery as (select $a as c from $b);
		select c from m!(dur + 1, slice) where c > 40 order by 1' 41 101
	asked 'create perfetto macro m(a Expr) returns Expr as ($a + 1); select m!(m!(m!(1)))' 4
	asked 'create perfetto macro m(a Expr) returns Expr as ($a); select m!(max(1, 2)), m!( (3) )' 2,3
	asked "create perfetto macro one() returns Expr as 1; select 'one!()' || \"one!()\" /* one!() */ as x, one!() -- one!()" \
		'one!()one!(),1'
	asked "create perfetto macro m(a Expr) returns Expr as '\$a ' || \$a; select m!('x;y')" '$a x;y'
	asked 'create perfetto macro m() returns Expr as 1; select 1 where 2 !=(3)' 1
	asked 'create perfetto macro m() returns Expr as 1; create perfetto function f() returns int as select m!(); select f()' 1
	refused 'create perfetto macro m() returns Expr as nowhere; select 1,
  m!()' '2:3: no such column: nowhere'
	refused 'create perfetto macro m() returns Expr as 1; select m!(1)' '1:53: macro m wants 0 arguments, not 1'
	refused 'create perfetto macro m(a Expr) returns Expr as 1; select m!()' '1:59: macro m wants 1 argument, not 0'
	refused 'create perfetto macro m(a Expr) returns Expr as 1; select m!(1' \
		"1:59: the brackets of a macro's call are not closed"
	refused 'create perfetto macro m() returns Expr as 1; create perfetto macro m() returns Expr as 2' '1:68: macro m already exists'
	asked 'create perfetto macro m() returns Expr as 1; create or replace perfetto macro m() returns Expr as 2; select m!()' 2
	refused 'create perfetto macro m() returns Expr as 1; drop perfetto macro m; select m!()' '1:76: no such macro: m'
}

@test "what calls itself, or grows without end, ends in one line" {
	scene
	refused 'create perfetto macro m(a Expr) returns Expr as m!($a); select m!(1)' '1:64: macro m calls itself'
	refused 'create perfetto macro a() returns Expr as b!(); create perfetto macro b() returns Expr as a!(); select a!()' \
		'1:104: macro a calls itself'
	refused 'create perfetto function f(x int) returns int as select f($x); select f(1)' \
		'1:63: function f: calls are more than 100 deep'
	refused 'create perfetto function f() returns table(a int) as select a from f(); select * from f()' \
		'1:72: function f: calls are more than 100 deep'
	"$PYTHON" - >script <<-'END'
		print("create perfetto macro m0() returns Expr as '%s';" % ("x" * 1000))
		for i in range(20):
		    print(f"create perfetto macro m{i + 1}() returns Expr as m{i}!() || m{i}!();")
		print("select m20!();")
	END
	run trackway sql t.fxt -f script
	[ "$output" = 'trackway: error: script:22:8: macros make more than 1 MiB of this statement' ] || fail "$output"
	"$PYTHON" - >script <<-'END'
		print("create perfetto macro m0() returns Expr as 1;")
		for i in range(40):
		    print(f"create perfetto macro m{i + 1}() returns Expr as m{i}!()m{i}!();")
		print("select m40!();")
	END
	run trackway sql t.fxt -f script
	[ "$output" = 'trackway: error: script:42:8: more than 10,000 calls of macros in this statement' ] || fail "$output"
	refused 'create view v as select 1 as ts, 1 as dur, 2 as a; create view w as select 1 as ts, 1 as dur, 2 as b;
		create virtual table s using span_join(v, w); drop view v; create view v as select ts, dur, a from s;
		select * from s' '2:104: span joins are more than 100 deep'
	run trackway sql --memory 8M t.fxt 'create perfetto function f() returns int as select length(randomblob(9000000)); select f()'
	[ "$output" = 'trackway: error: query:1:80: out of memory: --memory is reached' ] || fail "$output"
}

# By hand: a 0-10, 20-30 and in partition 2 5-10 and from 40 on; b 5-25, 28-38, in partition 2 0-100, in partition 3 0-5.
TABLES="create table a as select column1 as ts, column2 as dur, column3 as p, column4 as x
	from (values (0, 10, 1, 'a'), (20, 10, 1, 'b'), (5, 5, 2, 'c'), (40, -1, 2, 'd'));
	create table b as select column1 as ts, column2 as dur, column3 as p, column4 as y
	from (values (5, 20, 1, 'A'), (28, 10, 1, 'B'), (0, 100, 2, 'C'), (0, 5, 3, 'D'));
	create view left as select ts, dur, x from a where p = 1; create view right as select ts, dur, y from b where p = 1;"

@test "span_join, span_left_join, span_outer_join" {
	scene
	asked "$TABLES create virtual table s using span_join(a partitioned p, b partitioned p); select * from s" \
		5,5,1,a,A 20,5,1,b,A 28,2,1,b,B 5,5,2,c,C 40,60,2,d,C
	asked "$TABLES create virtual table s using span_join(a partitioned p, b partitioned p); select ts, x from s where p = 2" 5,c 40,d
	asked "$TABLES create virtual table s using SPAN_LEFT_JOIN(a PARTITIONED p, b PARTITIONED p); select * from s" \
		0,5,1,a, 5,5,1,a,A 20,5,1,b,A 25,3,1,b, 28,2,1,b,B 5,5,2,c,C 40,60,2,d,C 100,-1,2,d,
	asked "$TABLES create virtual table s using span_outer_join(a partitioned p, b partitioned p); select * from s" \
		0,5,1,a, 5,5,1,a,A 10,10,1,,A 20,5,1,b,A 25,3,1,b, 28,2,1,b,B 30,8,1,,B 0,5,2,,C 5,5,2,c,C 10,30,2,,C 40,60,2,d,C \
		100,-1,2,d, 0,5,3,,D
	asked "$TABLES create virtual table s using span_left_join(a partitioned p, right); select * from s" \
		0,5,1,a, 5,5,1,a,A 20,5,1,b,A 25,3,1,b, 28,2,1,b,B 5,5,2,c,A 40,-1,2,d,
	asked "$TABLES create virtual table s using span_outer_join(left, right); select * from s" \
		0,5,a, 5,5,a,A 10,10,,A 20,5,b,A 25,3,b, 28,2,b,B 30,8,,B
	# A partitioned table that is empty has no partition.
	asked "$TABLES create view none as select * from a where p > 9; create virtual table s using span_outer_join(right, none partitioned p);
		select count(*) from s" 0
	refused 'create virtual table s using span_join(slice)' '1:1: span_join wants two tables'
	refused 'create virtual table s using span_join(slice, nothing)' '1:1: no such table: nothing'
	refused "$TABLES create virtual table s using span_join(a, b)" '5:118: column p is there twice'
	refused "$TABLES create virtual table s using span_join(a partitioned p, b partitioned q)" \
		'5:118: both tables must be partitioned by a column of one name, not p and q'
	refused "$TABLES create view c as select ts, dur, x as p, 3 as z from a; create virtual table s using
		span_join(b partitioned p, c partitioned p); select * from s" '6:47: partition p of c is no whole number'
	refused "$TABLES create virtual table s using span_join(a p, b)" '5:118: a table is wanted, or TABLE partitioned COLUMN, not a p'
}

@test "a name that is not there: the nearest, or the module that makes it" {
	scene
	refused 'select * from ancestor_slise(1)' '1:1: no such table: ancestor_slise; did you mean ancestor_slice?'
	refused 'select * from thread_or_process_slice' \
		'1:1: no such table: thread_or_process_slice; include perfetto module slices.with_context makes it'
	refused 'select time_to_ms(3)' '1:8: no such function: time_to_ms; include perfetto module time.conversion makes it'
	refused 'select time_to_mss(3)' '1:8: no such function: time_to_mss; did you mean time_to_ms?'
	refused 'select coalesc(1, 2)' '1:8: no such function: coalesc; did you mean coalesce?'
	refused 'create perfetto macro abcde() returns Expr as 1; select abcdf!()' '1:57: no such macro: abcdf; did you mean abcde?'
	refused 'include perfetto module slices.with_contxt' \
		'1:25: no such module: slices.with_contxt; did you mean slices.with_context?'
	refused 'include perfetto module qqqqqqqqqqqqqqqqqqqqqq' '1:25: no such module: qqqqqqqqqqqqqqqqqqqqqq'
	refused 'include perfetto slices' '1:18: module is wanted, not slices'
	refused 'include perfetto module' '1:24: the name of a module is missing'
	refused "include perfetto module 'x'" "1:25: the name of a module is wanted, not 'x'"
}

@test "what is made may only read" {
	scene
	for statement in "attach 'x' as y" 'create perfetto table t as select writefile(1, 2)' 'create virtual table x using fts5(a)' \
		'create perfetto function f() returns int as select load_extension(1); select f()' \
		"create perfetto macro m() returns Expr as attach 'x' as y; m!()"; do
		run trackway sql t.fxt "$statement"
		[ "$status" -eq 2 ] || fail "$statement"
	done
	[ "$(ls)" = t.fxt ]
}

@test "every name of Perfetto's that doc/sql.md lists is here" {
	scene
	awk -F'|' '/^<!-- names -->/ { on = 1 } /^<!-- end of names -->/ { on = 0 } on && /`/ { print $3 }' \
		"$TRACKWAY_SOURCE/doc/sql.md" | grep -o '`[^`]*`' | tr -d '`' >names
	[ "$(wc -l <names)" -gt 30 ]
	while read -r name; do
		case $name in
		trace_* | extract_*) [[ $name != *')' ]] || statement="select $name" ;;
		*.*) statement="select ${name#*.} from ${name%.*} limit 1" ;;
		*) statement="select * from $name limit 1" ;;
		esac
		trackway sql t.fxt "$statement" >/dev/null || fail "$statement"
	done <names
}

# Statements of Perfetto's documentation, unchanged: "Getting Started with PerfettoSQL", "PerfettoSQL Syntax", "PerfettoSQL
# Common Queries" of v48. What only makes something is followed by a select of it.
documented() { # the columns to be looked at, as cut has them; expected lines; statements from standard input
	cat >statements
	trackway sql --csv t.fxt -f statements >answer || fail "$(cat statements)"
	tail -n +2 answer | cut -d, -f"$1" >found
	shift
	printf '%s\n' "$@" | diff - found || fail "$(cat statements)"
}

@test "documented: slices, counters, threads" {
	scene
	documented 1-3 20,10,leaf '10,40,an interesting slice name' 60,20,measure 0,100,top 120,10,measure 150,10,reply <<-'END'
		SELECT ts, dur, name FROM slice LIMIT 10;
	END
	documented 1 1 2 <<-'END'
		SELECT utid
		FROM slice
		JOIN thread_track ON thread_track.id = slice.track_id
		WHERE slice.name = 'measure'
	END
	documented 1 1 <<-'END'
		SELECT upid
		FROM counter
		JOIN process_counter_track ON process_counter_track.id = counter.track_id
		WHERE process_counter_track.name = 'mem.swap' AND value > 1000
	END
	documented 1 main worker <<-'END'
		SELECT thread.name AS thread_name
		FROM slice
		JOIN thread_track ON slice.track_id = thread_track.id
		JOIN thread USING(utid)
		WHERE slice.name = 'measure'
		GROUP BY thread_name
	END
	documented 1-5 main,app,leaf,20,10 'main,app,an interesting slice name,10,40' main,app,measure,60,20 main,app,top,0,100 \
		worker,app,measure,120,10 other,server,reply,150,10 ,app,async,200,40 <<-'END'
		INCLUDE PERFETTO MODULE slices.with_context;

		SELECT thread_name, process_name, name, ts, dur
		FROM thread_or_process_slice;
	END
}

@test "documented: span joins" {
	scene
	# The last frequency has no duration there.
	documented 1-5 0,60,0,1,1000 <<-'END'
		-- Get all the scheduling slices
		CREATE VIEW sp_sched AS
		SELECT ts, dur, cpu, utid
		FROM sched;

		-- Get all the cpu frequency slices
		CREATE VIEW sp_frequency AS
		SELECT
		  ts,
		  lead(ts) OVER (PARTITION BY track_id ORDER BY ts) - ts as dur,
		  cpu,
		  value as freq
		FROM counter
		JOIN cpu_counter_track ON counter.track_id = cpu_counter_track.id
		WHERE cpu_counter_track.name = 'cpufreq';

		-- Create the span joined table which combines cpu frequency with
		-- scheduling slices.
		CREATE VIRTUAL TABLE sched_with_frequency
		USING SPAN_JOIN(sp_sched PARTITIONED cpu, sp_frequency PARTITIONED cpu);

		-- This span joined table can be queried as normal and has the columns from both
		-- tables.
		SELECT ts, dur, cpu, utid, freq
		FROM sched_with_frequency;
	END
	cat >breakdown <<-'END'
		DROP VIEW IF EXISTS slice_with_utid;
		CREATE VIEW slice_with_utid AS
		SELECT
		  ts,
		  dur,
		  slice.name as slice_name,
		  slice.id as slice_id, utid,
		  thread.name as thread_name
		FROM slice
		JOIN thread_track ON thread_track.id = slice.track_id
		JOIN thread USING (utid);

		DROP TABLE IF EXISTS slice_thread_state_breakdown;
		CREATE VIRTUAL TABLE slice_thread_state_breakdown
		USING SPAN_LEFT_JOIN(
		  slice_with_utid PARTITIONED utid,
		  thread_state PARTITIONED utid
		);
	END
	# top ran from 0 to 60; slices inside of it overlap it, and count for nothing there.
	cat breakdown - <<-'END' | documented 2-3 top,60
		SELECT slice_id, slice_name, SUM(dur) AS cpu_time
		FROM slice_thread_state_breakdown
		WHERE state = 'Running'
		GROUP BY slice_id;
	END
	cat breakdown - <<-'END' | documented 2-4 top,0,0 measure,0,0 reply,0,0
		SELECT
		  slice_id,
		  slice_name,
		  SUM(IIF(state = 'R', dur, 0)) AS runnable_time,
		  SUM(IIF(state = 'D', dur, 0)) AS uninterruptible_time
		FROM slice_thread_state_breakdown
		GROUP BY slice_id;
	END
}

@test "documented: ancestors, descendants, flows" {
	scene
	documented 2,3,10 10,40,top <<-'END'
		CREATE VIEW interesting_slices AS
		SELECT id, ts, dur, track_id
		FROM slice WHERE name LIKE "%interesting slice name%";

		SELECT
		  *
		FROM
		  interesting_slices LEFT JOIN
		  ancestor_slice(interesting_slices.id) AS ancestor ON ancestor.depth = 0
	END
	documented 7 top <<-'END'
		CREATE VIEW interesting_stack_ids AS
		SELECT stack_id
		FROM slice WHERE name LIKE "%interesting slice name%";

		SELECT
		  *
		FROM
		  interesting_stack_ids LEFT JOIN
		  ancestor_slice_by_stack(interesting_stack_ids.stack_id) AS ancestor
		  ON ancestor.depth = 0
	END
	documented 2,8 1,leaf <<-'END'
		CREATE VIEW interesting_stacks AS
		SELECT stack_id, depth
		FROM slice WHERE name LIKE "%interesting slice name%";

		SELECT
		  *
		FROM
		  interesting_stacks LEFT JOIN
		  descendant_slice_by_stack(interesting_stacks.stack_id) AS descendant
		  ON descendant.depth = interesting_stacks.depth + 1
	END
	documented 1 2 2 0 2 1 0 <<-'END'
		--number of following flows for each slice
		SELECT (SELECT COUNT(*) FROM FOLLOWING_FLOW(slice_id)) as following FROM slice;
	END
}

@test "documented: functions, tables, views, macros" {
	scene
	documented 1 1 <<-'END'
		-- Create a scalar function with no arguments.
		CREATE PERFETTO FUNCTION constant_fn() RETURNS INT AS SELECT 1;
		SELECT constant_fn();
	END
	documented 1 7 <<-'END'
		-- Create a scalar function taking two arguments.
		CREATE PERFETTO FUNCTION add(x INT, y INT) RETURNS INT AS SELECT $x + $y;
		SELECT "add"(3, 4);
	END
	documented 1-2 100,10 200,20 <<-'END'
		-- Create a table function with no arguments
		CREATE PERFETTO FUNCTION constant_tab_fn()
		RETURNS TABLE(ts LONG, dur LONG) AS
		SELECT column1 as ts, column2 as dur
		FROM (
		  VALUES
		  (100, 10),
		  (200, 20)
		);
		SELECT * FROM constant_tab_fn();
	END
	documented 1-3 0,60,1 100,60,1 <<-'END'
		-- Create a table function with one argument
		CREATE PERFETTO FUNCTION sched_by_utid(utid INT)
		RETURNS TABLE(ts LONG, dur LONG, utid INT) AS
		SELECT ts, dur, utid
		FROM sched
		WHERE utid = $utid;
		SELECT * FROM sched_by_utid(1);
	END
	documented 1-2 100,10 200,20 <<-'END'
		-- Create a Perfetto table with constant values.
		CREATE PERFETTO TABLE constant_table AS
		SELECT column1 as ts, column2 as dur
		FROM (
		  VALUES
		  (100, 10),
		  (200, 20)
		);
		SELECT * FROM constant_table;
	END
	documented 1 0 <<-'END'
		-- Create a Perfetto table with a query on another table.
		CREATE PERFETTO TABLE slice_sub_table AS
		SELECT *
		FROM slice
		WHERE name = 'foo';
		SELECT count(dur) FROM slice_sub_table;
	END
	documented 1-2 1,test <<-'END'
		CREATE PERFETTO TABLE foo(x INT, y STRING) AS
		SELECT 1 as x, 'test' as y;
		SELECT * FROM foo;
	END
	documented 1-2 1,test <<-'END'
		CREATE PERFETTO VIEW foo(x INT, y STRING) AS
		SELECT 1 as x, 'test' as y;
		SELECT * FROM foo;
	END
	documented 1 1 <<-'END'
		CREATE PERFETTO MACRO constant_macro() RETURNS Expr AS (SELECT 1);

		-- Using the above macro. Macros are invoked by suffixing their names with !.
		-- This is similar to how macros are invoked in Rust.
		SELECT constant_macro!();
	END
	documented 1 2 <<-'END'
		-- A variant of the above. Again, strongly discouraged.
		CREATE PERFETTO MACRO constant_macro_no_bracket() RETURNS Expr AS 2;

		-- Using the above macro.
		SELECT constant_macro_no_bracket!();
	END
	documented 1 101 <<-'END'
		CREATE PERFETTO MACRO constant_macro() RETURNS Expr AS (SELECT 1);
		CREATE PERFETTO MACRO single_arg_macro(x Expr) RETURNS Expr AS (SELECT $x);
		SELECT constant_macro!() + single_arg_macro!(100);
	END
}

@test "modules: slices, counters, intervals, time" {
	scene
	asked 'include perfetto module slices.flat_slices; select name, ts, dur, depth, thread_name from _slice_flattened' \
		top,0,10,0,main 'an interesting slice name,10,10,1,main' leaf,20,10,2,main 'an interesting slice name,30,20,1,main' \
		top,50,10,0,main measure,60,20,1,main top,80,20,0,main measure,120,10,0,worker reply,150,10,0,other
	asked 'include perfetto module slices.flat_slices; select f.name, sum(f.dur) = self_dur from _slice_flattened f
		join slice s on s.id = f.slice_id group by f.slice_id order by f.ts' \
		top,1 'an interesting slice name,1' leaf,1 measure,1 measure,1 reply,1
	# The example of the module's documentation, with a second track; the trace ends at 240.
	asked 'include perfetto module counters.intervals;
		with samples(id, ts, value, track_id) as (values (1, 0, 10, 1), (2, 0, 10, 2), (3, 10, 10, 1), (4, 10, 20, 2), (5, 20, 30, 1))
		select ts, dur, track_id, value, next_value, delta_value from counter_leading_intervals!(samples) order by track_id, ts' \
		0,20,1,10,30, 20,220,1,30,,20 0,10,2,10,20, 10,230,2,20,,10
	asked 'include perfetto module intervals.overlap; with data(ts, dur) as (values (10, 40), (20, 10), (25, 10), (60, 10), (70, 20), (80, -1))
		select * from intervals_overlap_count!(data, ts, dur)' 10,1 20,2 25,3 30,2 35,1 50,0 60,1 70,1 80,2 90,1
	asked 'include perfetto module intervals.overlap; with data(ts, dur, g) as (values (0, 10, 1), (5, 10, 2), (5, 5, 1))
		select * from intervals_overlap_count_by_group!(data, ts, dur, g)' 0,1,1 5,2,1 10,0,1 5,1,2 15,0,2
	asked 'include perfetto module intervals.overlap; with data(ts, dur) as (values (0, 10), (10, 5), (20, -1))
		select intervals_overlap_in_table!(data, ts, dur) as a, intervals_overlap_in_table!((select ts, dur + 1 as dur from data), ts, dur) as b' 0,1
	asked 'include perfetto module intervals.intersect; select ts, dur from _interval_intersect_single!(50, 15, slice) order by 1' \
		50,15 60,5
	# a: 0-10, 20-30 and 40-50, of p 1, 1, 2; b: 5-25 of p 1, 0-100 of p 2; c: 8-22 of p 1.
	intervals="include perfetto module intervals.intersect;
		create perfetto table a as select column1 as id, column2 as ts, column3 as dur, column4 as p
			from (values (1, 0, 10, 1), (2, 20, 10, 1), (3, 40, 10, 2));
		create perfetto table b as select column1 as id, column2 as ts, column3 as dur, column4 as p from (values (7, 5, 20, 1), (8, 0, 100, 2));
		create perfetto table c as select 9 as id, 8 as ts, 14 as dur, 1 as p;"
	asked "$intervals select * from _interval_intersect!((a, b), (p)) order by ts" 5,5,1,7,1 20,5,2,7,1 40,10,3,8,2
	asked "$intervals select * from _interval_intersect!((a, b), ()) order by ts, id_1" 0,10,1,8 5,5,1,7 20,5,2,7 20,10,2,8 40,10,3,8
	asked "$intervals select ii.ts, ii.dur, id_0, id_1, id_2, ii.p from _interval_intersect!((a, b, (select * from c where dur > 0)), (p)) as ii
		join a on a.id = id_0 order by 1" 8,2,1,7,9,1 20,2,2,7,9,1
	asked "$intervals select * from _interval_intersect!((a), (p)) order by 1" 0,10,1,1 20,10,2,1 40,10,3,2
	asked "$intervals select count(*), sum(dur) from _interval_intersect!((a, (select 5 as id, ts, dur from _interval_intersect!((a, b), ()))), ())" 5,40
	asked 'include perfetto module intervals.intersect; select s.name, ii.dur from _interval_intersect!(((select * from thread_slice where dur > 0),
		(select * from sched where dur > 0)), (utid)) ii join slice s on s.id = id_0 order by s.ts, ii.ts' \
		top,60 'an interesting slice name,40' leaf,10
	refused 'include perfetto module intervals.intersect; select * from _interval_intersect!(slice, ())' \
		'1:60: _interval_intersect wants up to 16 tables in brackets, and columns in brackets'
	refused 'include perfetto module intervals.intersect; select * from _interval_intersect!((), ())' \
		'1:60: _interval_intersect wants up to 16 tables in brackets, and columns in brackets'
	refused 'include perfetto module intervals.intersect; select * from _interval_intersect!((slice))' \
		'1:60: macro _interval_intersect wants 2 arguments, not 1'
	asked 'include perfetto module time.conversion; select time_from_ms(3), time_from_days(1), time_to_us(5000), time_to_min(120000000000)' \
		3000000,86400000000000,5,2
	asked 'include perfetto module time; include perfetto module time.*; include perfetto module TIME.conversion; select time_from_s(2)' 2000000000
}

# As a join over all pairs has it: intervals that overlap within their own table, at once, without time, before their
# own start, and of no group.
@test "intervals of several tables, as a plain join has them, and many of them" {
	scene
	made() { # table, intervals, columns
		echo "create perfetto table $1 as with recursive n(i) as (select 0 union all select i + 1 from n where i < $2 - 1)
			select i as id, $3 from n;"
	}
	few="include perfetto module intervals.intersect;
		$(made a 150 '(i * 7919) % 251 as ts, (i * 31) % 23 - 1 as dur, iif(i % 11 = 0, null, i % 3) as k, i % 2 as j')
		$(made b 100 '(i * 104729) % 251 as ts, (i * 17) % 37 as dur, iif(i % 13 = 0, null, i % 4) as k, i % 2 as j')
		$(made c 70 '(i * 1299709) % 251 as ts, (i * 19) % 41 as dur, i % 2 as k, i % 2 as j')"
	overlap() { echo "$1.ts < $2.ts + $2.dur and $2.ts < $1.ts + $1.dur"; }
	pairs="select max(a.ts, b.ts), min(a.ts + a.dur, b.ts + b.dur) - max(a.ts, b.ts), a.id, b.id from a, b where $(overlap a b)"
	three="select max(a.ts, b.ts, c.ts), min(a.ts + a.dur, b.ts + b.dur, c.ts + c.dur) - max(a.ts, b.ts, c.ts), a.id, b.id, c.id,
		a.k, a.j from a join b using (k, j) join c using (k, j)
		where $(overlap a b) and $(overlap a c) and $(overlap b c)"
	for case in "()|(a, b)|$pairs" "(k, j)|(a, b, c)|$three"; do
		IFS='|' read -rd '' columns tables plain <<<"$case" || true
		found="select * from _interval_intersect!($tables, $columns)"
		asked "$few select count(*) > 50 as many, count(*) = (select count(*) from ($plain)) as alike from ($found)" 1,1
		asked "$few select count(*) from ($found except $plain)" 0
	done
	# 100,000 a side, of which each overlaps one: the product would take hours.
	asked "include perfetto module intervals.intersect; $(made a 100000 'i * 10 as ts, 5 as dur') $(made b 100000 'i * 10 + 3 as ts, 5 as dur')
		select count(*), sum(dur) from _interval_intersect!((a, b), ())" 100000,200000
}

@test "modules: scheduling and the CPUs' utilization" {
	scene
	asked 'include perfetto module sched.time_in_state; select * from sched_time_in_state_for_thread order by utid, state' \
		1,240,R+,40,16 1,240,Running,120,50 1,240,X,80,33 2,190,R,10,5 2,190,Running,40,21 2,190,S,140,73 3,70,R,70,100
	asked 'include perfetto module sched.time_in_state; select * from sched_percentage_of_time_in_state' \
		1,50,,16,,,33 2,21,5,,73,, 3,,100,,,,
	asked 'include perfetto module sched.time_in_state; select state, dur from sched_time_in_state_for_thread_in_interval(50, 60, 1)' \
		R+,40 Running,20
	asked 'include perfetto module sched.time_in_state;
		select state, cpu, dur from sched_time_in_state_and_cpu_for_thread_in_interval(50, 60, 1)' R+,,40 Running,0,20
	asked 'include perfetto module sched.latency; select tid, latency_dur from sched_latency_for_running_interval
		join thread using (utid)' 6,40 7,10
	asked "include perfetto module sched.runnable; select count(*), count(prev_wakeup_runnable_id) from sched_previous_runnable_on_thread p
		join thread_state s using (id) where state = 'Running' and prev_runnable_id is not null and utid = 2" 1,1
	asked 'include perfetto module sched.thread_level_parallelism; select * from sched_active_cpu_count' 0,1 60,1 100,1 160,0
	asked 'include perfetto module sched.thread_level_parallelism; select * from sched_runnable_thread_count' 50,1 60,1 100,0 170,1
	asked 'include perfetto module sched.with_context; select ts, thread_name, process_name from sched_with_thread_process
		where thread_name is not null order by ts' 0,main,app 60,worker,app 100,main,app
	asked "include perfetto module sched.states; select sched_state_to_human_readable_string('R+'),
		sched_state_io_to_human_readable_string('D', 1)" 'Runnable (Preempted),Uninterruptible Sleep (IO)'
	# main runs 0-60 and 100-160: of the period 50-100 10 ns.
	asked 'include perfetto module linux.cpu.utilization.thread; select * from cpu_thread_utilization_per_period(50, 1)' \
		0,1.0,1.0 50,0.2,0.2 100,1.0,1.0 150,0.2,0.2
	asked 'include perfetto module linux.cpu.utilization.thread; select ts, round(unnormalized_utilization * 1e9) from
		cpu_thread_utilization_per_second(1)' 0,120.0
	# 60 ns at 1000 kHz and 60 ns at 2000 kHz are 180,000 millionths of a cycle.
	asked 'include perfetto module linux.cpu.utilization.thread; select * from cpu_cycles_per_thread' \
		1,180,0,120,1000,2000,1500 2,80,0,40,2000,2000,2000
	asked 'include perfetto module linux.cpu.utilization.thread; select * from cpu_cycles_per_thread_in_interval(50, 20)' \
		1,10,0,10,1000,1000,1000 2,20,0,10,2000,2000,2000
	asked 'include perfetto module linux.cpu.utilization.process; select * from cpu_process_utilization_per_period(50, 1)' \
		0,1.0,1.0 50,1.0,1.0 100,1.0,1.0 150,0.2,0.2
	asked 'include perfetto module linux.cpu.utilization.process; select * from cpu_cycles_per_process' 1,260,0,160,1000,2000,1625
	asked 'include perfetto module linux.cpu.utilization.process; select * from cpu_cycles_per_process_in_interval(50, 20)' \
		1,30,0,20,1000,2000,1500
	asked 'include perfetto module linux.cpu.frequency; select ts, dur, freq, cpu from cpu_frequency_counters' 0,60,1000,0 60,180,2000,0
}

# A CPU's number is the counter's id, as in the kernel's own names, or stands in the name; 4294967295 is no idle state
# (the kernel's cpu_idle, and Perfetto's linux.cpu.idle). A counter that tells the CPU as one of its values is no CPU's.
@test "counters of CPUs: frequencies and idle states by the names of Perfetto" {
	counter='{"ph":"C","pid":0,"ts"'
	printf '%s\n' "[$counter:0,\"name\":\"cpufreq\",\"id\":0,\"args\":{\"value\":1000}},$counter:2,\"name\":\"cpufreq\",\"id\":1,\"args\":{\"value\":2000}}," \
		"$counter:3,\"name\":\"cpuidle\",\"id\":1,\"args\":{\"value\":4294967295}},$counter:4,\"name\":\"cpuidle\",\"id\":1,\"args\":{\"value\":2}}," \
		"$counter:5,\"name\":\"CPU 12 Frequency\",\"args\":{\"value\":5}},$counter:5,\"name\":\"CPU Frequency [7]\",\"args\":{\"value\":9}}," \
		"$counter:5,\"name\":\"cpu3 temp\",\"args\":{\"value\":40}},$counter:5,\"name\":\"cpu_load_5\",\"args\":{\"value\":1}}," \
		"$counter:6,\"name\":\"cpu_usage\",\"id\":\"0x55aa\",\"args\":{\"value\":1}},$counter:6,\"name\":\"cpu2 idle\",\"args\":{\"value\":0}}," \
		"$counter:7,\"name\":\"cpu_frequency\",\"args\":{\"state\":4,\"cpu_id\":2}},$counter:7,\"name\":\"CPU Idle\",\"args\":{\"value\":60}}]" >t.fxt
	asked 'select name, cpu from cpu_counter_track order by name, cpu' 'cpu3 temp,3' cpufreq,0 cpufreq,1 cpufreq,2 cpufreq,7 \
		cpufreq,12 cpuidle,1 cpuidle,2
	asked 'include perfetto module linux.cpu.frequency; select ts, dur, freq, cpu from cpu_frequency_counters order by cpu' \
		0,7000,1000,0 2000,5000,2000,1 7000,0,4,2 5000,2000,9,7 5000,2000,5,12
	asked 'include perfetto module linux.cpu.idle; select ts, dur, idle, cpu from cpu_idle_counters order by cpu, ts' \
		3000,1000,-1,1 4000,3000,2,1 6000,1000,0,2
	# Perfetto's importer makes the same of the events that the export has: cpufreq and cpuidle, each by the number of a CPU.
	trackway convert t.fxt -o t.pftrace
	protoc --decode=Trace --proto_path="$TRACKWAY_SOURCE/tests/truth" perfetto.proto <t.pftrace |
		awk '$1 == "timestamp:" { ts = $2 } $1 ~ /^cpu_(frequency|idle)$/ { kind = $1 } $1 == "state:" { state = $2 }
			$1 == "cpu_id:" { print ts, kind, state, $2 }' | sort >found
	printf '%s\n' '0 cpu_frequency 1000 0' '2000 cpu_frequency 2000 1' '3000 cpu_idle 4294967295 1' '4000 cpu_idle 2 1' \
		'5000 cpu_frequency 5 12' '5000 cpu_frequency 9 7' '6000 cpu_idle 0 2' '7000 cpu_frequency 4 2' | sort | diff - found
	# The number as a value, which differs from event to event: no series of a counter without an id is a CPU's.
	printf '%s\n' "[$counter:0,\"name\":\"cpu_frequency\",\"args\":{\"state\":4,\"cpu_id\":2}}," \
		"$counter:1,\"name\":\"cpu_frequency\",\"args\":{\"state\":5,\"cpu_id\":3}}," \
		"$counter:2,\"name\":\"cpu_frequency\",\"id\":6,\"args\":{\"value\":8,\"cpu\":6,\"cluster\":1}}]" >t.fxt
	asked 'select name, series, cpu from cpu_counter_track' cpufreq,value,6
}

@test "modules: stacks of samples" {
	printf '%s\n' 'main;work;leaf 3' 'main;work 2' 'main;other 1' 'main;work;leaf 1' >t.fxt # the name that asked() reads
	for module in stacks.cpu_profiling:cpu_profiling_summary_tree linux.perf.samples:linux_perf_samples_summary_tree; do
		asked "include perfetto module ${module%:*}; select name, self_count, cumulative_count from ${module#*:} order by id" \
			main,0,4 work,1,3 leaf,2,2 other,1,1
	done
	asked 'include perfetto module stacks.cpu_profiling; select count(*), count(distinct callsite_id) from cpu_profiling_samples' 4,3
	asked 'include perfetto module callstacks.stack_profile; select name, self_count from
		_callstacks_for_stack_profile_samples!((select callsite_id from perf_sample where callsite_id > 2))' main,0 work,0 leaf,2 other,1
}

@test "every module can be included, and makes what it says" {
	scene
	trackway sql t.fxt 'include perfetto module *; include perfetto module *'
	for file in $(cd "$TRACKWAY_SOURCE/share/trackway/perfetto" && find . -name '*.sql' ! -name prelude.sql); do
		module=$(echo "${file#./}" | tr / .)
		grep -oP '^create (perfetto view|virtual table temp\.)\s*\K\w+' "$TRACKWAY_SOURCE/share/trackway/perfetto/$file" |
			while read -r name; do
				trackway sql t.fxt "include perfetto module ${module%.sql}; select * from $name" >/dev/null || fail "$module $name"
			done
	done
}

@test "in the extension: functions, span joins, modules by trackway_include" {
	! grep -q __asan_init "$EXTENSION.so" || skip "the extension has sanitizers"
	scene
	shell() { sqlite3 -cmd ".load $EXTENSION" own.db "select trackway_open('t.fxt')" "$@" 2>&1 | tail -n +2; }
	[ "$(shell "select a.name from slice s, ancestor_slice(s.id) a where s.name = 'leaf' order by a.depth desc limit 1")" = 'an interesting slice name' ]
	[ "$(shell 'select trace_dur(), count(*) from cpu')" = '240|1' ]
	[ "$(shell "select trackway_include('linux.cpu.utilization.thread')" 'select utid, millicycles from cpu_cycles_per_thread' \
		'select unnormalized_utilization from cpu_thread_utilization_per_period(50, 1) where ts = 50')" = "
1|180
2|80
0.2" ]
	[ "$(shell "create temp view a as select ts, dur, name from slice where depth = 0 and utid = 1;
		create temp view b as select 50 as ts, 100 as dur, 'x' as x;
		create virtual table temp.s using span_join(a, b)" 'select * from s')" = '50|50|top|x' ]
	run sqlite3 -cmd ".load $EXTENSION" own.db "select trackway_include('time.conversions')"
	[[ "$output" == *'no such module: time.conversions'* ]] || fail "$output"
	[ "$(sqlite3 own.db 'select count(*) from sqlite_master')" = 0 ]
	"$PYTHON" - "$EXTENSION" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(":memory:")
		db.enable_load_extension(True)
		db.load_extension(sys.argv[1])
		db.execute("select trackway_open('t.fxt')").fetchall()
		db.execute("select trackway_include('*')").fetchall()
		assert db.execute("select time_from_ms(ts) from slice where name = 'leaf'").fetchall() == [(20000000,)]
		for count in (2, 4): # the second file's, too
		    found = db.execute("select a.name from slice s, ancestor_slice(s.id) a where s.name = 'leaf'").fetchall()
		    assert len(found) == count, found
		    db.execute("select trackway_open('t.fxt')").fetchall()
		db.close()
	END
}

@test "a column that Perfetto's tables do not have is not ambiguous" {
	scene
	asked "select distinct name from counter join counter_track on counter_track.id = track_id order by 1" cpufreq mem.swap
	asked "select ts, name from flow join slice on slice.id = slice_out order by ts" 20,leaf 120,measure
	asked "select utid, s.name from slices as s join thread_track t on t.id = s.track_id where depth = 2" 1,leaf
	asked "create perfetto function f(d int) returns int as select utid from slice join thread_track on thread_track.id = track_id
		where depth = \$d; select f(2)" 1
	asked "create perfetto view v as select utid from slice join thread_track on thread_track.id = track_id where depth = 2;
		select utid from v" 1
	asked "create perfetto table v as select utid from slice join thread_track on thread_track.id = track_id where depth = 2;
		select utid from v" 1
	asked 'select utid, self_dur from slice where depth = 2' 1,10
	refused 'select name from slice join thread using (utid)' '1:8: ambiguous column name: name'
	refused 'select utid, self_dur from slice join thread_track on thread_track.id = track_id' '1:8: ambiguous column name: utid'
}
