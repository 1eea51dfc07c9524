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
