# sql_perfetto.bats - questions as Perfetto's documentation asks them: its names of tables, columns and functions.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

EXTENSION=$(dirname "$(readlink -f "$TRACKWAY")")/libtrackway_sqlite

# Two processes: 5 ("app") with threads 6 ("main") and 7, and 8 with thread 9. A tick is a nanosecond.
write_archive() {
	"$PYTHON" - <<END
import sys; sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
from fxt_odd import *
def named(kind, koid, text, *arguments):
    return record(7, kind << 16 | (1 << 15 | len(text)) << 24 | len(arguments) << 40, koid, stream(text), b"".join(arguments))
def switch(at, cpu, old, new, state, *arguments):
    return record(8, 1 << 60 | len(arguments) << 16 | cpu << 20 | state << 36, at, old, new, b"".join(arguments))
def wake(at, cpu, thread):
    return record(8, 2 << 60 | cpu << 20, at, thread)
texts = [b"outer", b"inner", b"size", b"where", b"load", b"priority", b"ui", b"incoming_priority", b"process", b"ok"]
OUTER, INNER, SIZE, WHERE, LOAD, _, UI, INCOMING, PROCESS, OK = range(1, 11)
out = [words(MAGIC), provider_info(1, b"p"), record(1, 0, 10**9)]
out += [string(i + 1, text) for i, text in enumerate(texts)]
out += [thread(1, 5, 6), thread(2, 5, 7), thread(3, 8, 9)]
out += [named(1, 5, b"app"), named(2, 6, b"main", argument(8, 0, 5, name=PROCESS)),
        named(2, 7, b"worker", argument(8, 0, 5, name=PROCESS)), named(2, 9, b"other", argument(8, 0, 8, name=PROCESS))]
out += [event(2, OUTER, argument(1, 77, name=SIZE), argument(6, 0x8003, stream(b"her"), name=WHERE), arguments=2, category=UI, ticks=100),
        event(2, INNER, argument(9, 1, name=OK), arguments=1, category=UI, ticks=110),
        event(3, INNER, category=UI, ticks=150), event(3, OUTER, category=UI, ticks=200),
        event(4, OUTER, 230, category=UI, ticks=220, reference=2),
        event(4, INNER, argument(7, 0, 0xabc, name=SIZE), 260, arguments=1, category=UI, ticks=250, reference=3),
        event(1, LOAD, argument(1, 3, name=SIZE), 0, arguments=1, ticks=120),
        event(1, LOAD, argument(1, 9, name=SIZE), 0, arguments=1, ticks=140),
        event(5, OUTER, 1, category=UI, ticks=300), event(7, OUTER, 1, category=UI, ticks=340)]
out += [switch(100, 0, 0, 6, 0, argument(1, 20, name=INCOMING)), wake(150, 0, 7), switch(160, 0, 6, 7, 1, argument(1, 30, name=INCOMING)),
        switch(200, 0, 7, 6, 3, argument(1, 20, name=INCOMING)), switch(260, 0, 6, 0, 5), wake(270, 0, 9)]
open("t.fxt", "wb").write(b"".join(out))
END
}

asked() { # a query, what it answers: lines without the names of the columns; the same of the database that -o writes
	local expected
	expected=$(printf '%s\n' "${@:2}")
	[ "$(trackway sql --csv t.fxt "$1" | tail -n +2)" = "$expected" ] || fail "$(trackway sql --csv t.fxt "$1" 2>&1)"
	[[ "$1" == *[eE][xX][tT][rR][aA][cC][tT]_* ]] && return
	[ -e t.db ] || trackway sql t.fxt -o t.db
	[ "$(sqlite3 -csv t.db "$1")" = "$expected" ] || fail "of t.db: $(sqlite3 -csv t.db "$1" 2>&1)"
}

@test "slices with their threads and processes, by tracks and by views" {
	write_archive
	asked 'SELECT ts, dur, name FROM slice ORDER BY ts' 0,100,outer 10,40,inner 120,10,outer 150,10,inner
	asked "SELECT thread.name AS thread_name FROM slice JOIN thread_track ON slice.track_id = thread_track.id
		JOIN thread USING(utid) WHERE slice.name = 'outer' GROUP BY thread_name" main worker
	asked "SELECT s.name, tid, pid, process.name FROM slices AS s LEFT JOIN thread_track ON s.track_id = thread_track.id
		LEFT JOIN thread USING(utid) LEFT JOIN process USING(upid) ORDER BY ts" \
		outer,6,5,app inner,6,5,app outer,7,5,app inner,9,8,
	asked "SELECT ts, name, thread_name, tid, process_name, pid, depth FROM thread_slice WHERE thread_name IN ('main', 'other')
		ORDER BY ts" 0,outer,main,6,app,5,0 10,inner,main,6,app,5,1 150,inner,other,9,,8,0
	asked "SELECT process_name, COUNT(*), SUM(dur) FROM thread_slice GROUP BY upid ORDER BY upid" app,3,150 ,1,10
	asked 'SELECT name, ts, dur, process_name, pid FROM process_slice' outer,200,40,app,5
	asked 'SELECT c.name, p.name FROM slice c JOIN slice p ON c.parent_id = p.id WHERE c.depth = 1' inner,outer
	asked 'SELECT count(*), count(DISTINCT stack_id), min(stack_id) > 0 FROM slice' 4,3,1
	asked "SELECT count(DISTINCT stack_id) FROM slice WHERE name = 'outer'" 1
	asked "SELECT count(DISTINCT stack_id) FROM slice WHERE name = 'inner'" 2
	asked 'SELECT name, upid IS NOT NULL FROM process_track' app,1
	asked 'SELECT start_ts, end_ts FROM trace_bounds' 0,240
}

@test "arguments: args by arg_set_id, and extract_arg" {
	write_archive
	asked "SELECT flat_key, key, int_value, string_value, value_type, display_value FROM args WHERE arg_set_id =
		(SELECT arg_set_id FROM slice WHERE dur = 100)" size,size,77,,int,77 where,where,,her,string,her
	asked "SELECT display_value FROM args WHERE value_type IN ('bool', 'pointer') ORDER BY 1" 0xabc true
	asked "SELECT name, EXTRACT_ARG(arg_set_id, 'size'), EXTRACT_ARG(arg_set_id, 'where'), extract_arg(arg_set_id, 'none')
		FROM slice ORDER BY ts" outer,77,her, inner,,, outer,,, inner,2748,,
	asked "SELECT extract_arg(arg_set_id, 'size') AS size FROM thread_slice WHERE size > 100" 2748
	asked "SELECT extract_arg(arg_set_id, 'ok'), typeof(extract_arg(arg_set_id, 'where')), extract_arg(NULL, 'x'),
		extract_arg(-1, 'x') FROM slice WHERE ts BETWEEN 0 AND 10 ORDER BY ts" ,text,, 1,null,,
	run trackway sql t.fxt "select extract_arg(1)"
	[ "$status" -eq 2 ]
}

@test "counters with their tracks" {
	write_archive
	asked "SELECT ts, value, t.name, p.name FROM counter c JOIN process_counter_track t ON c.track_id = t.id
		JOIN process p USING (upid) WHERE t.name = 'load' ORDER BY ts" 20,3,load,app 40,9,load,app
	asked "SELECT counter_track.name, avg(value) FROM counters JOIN counter_track ON counters.track_id = counter_track.id
		GROUP BY counter_track.id" load,6.0
}

@test "scheduling: CPUs with priorities, and what threads did" {
	write_archive
	asked "SELECT ts, dur, cpu, end_state, priority, process.name, thread.name FROM sched LEFT JOIN thread USING(utid)
		LEFT JOIN process USING(upid) WHERE utid IS NOT NULL AND dur > 0 AND tid <> 0 ORDER BY ts" \
		0,60,0,running,20,app,main 60,40,0,blocked,30,app,worker 100,60,0,dead,20,app,main
	asked "SELECT ts, dur, ifnull(cpu, 'no'), state, tid FROM thread_state LEFT JOIN thread USING(utid) ORDER BY ts, tid" \
		0,60,0,Running,6 50,10,no,R,7 60,40,no,R+,6 60,40,0,Running,7 100,60,0,Running,6 100,-1,no,S,7 160,-1,no,X,6 170,-1,no,R,9
	asked "SELECT thread.name, sum(dur) FROM thread_state JOIN thread USING(utid) WHERE state = 'Running' GROUP BY utid
		ORDER BY 2 DESC" main,120 worker,40
	asked "SELECT state, dur FROM thread_state WHERE ts BETWEEN 40 AND 60 AND utid = (SELECT utid FROM thread WHERE tid = 7)
		ORDER BY ts" R,10 Running,40
	asked 'SELECT count(*) FROM sched_slice' "$(trackway sql --csv t.fxt 'select count(*) from sched' | tail -1)"
}

@test "a thread that runs and does not leave has an unknown state since it came" {
	"$PYTHON" - <<END
import sys; sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
from fxt_odd import *
def switch(at, old, new, state):
    return record(8, 1 << 60 | state << 36, at, old, new)
open("t.fxt", "wb").write(words(MAGIC) + provider_info(1, b"p") + record(1, 0, 10**9) +
                          switch(10, 0, 6, 0) + switch(30, 7, 8, 3) + switch(50, 8, 6, 2))
END
	asked "SELECT ts, dur, tid, ifnull(state, '?') FROM thread_state JOIN thread USING(utid) ORDER BY ts, tid" \
		'0,40,6,?' '20,-1,7,S' '20,20,8,Running' '40,-1,6,Running' '40,-1,8,T'
}

@test "in the extension: the views beside what a database has, extract_arg, and what is elsewhere" {
	! grep -q __asan_init "$EXTENSION.so" || skip "the extension has sanitizers"
	write_archive
	sqlite3 own.db "create table counters(mine); insert into counters values (7)"
	shell() { sqlite3 -cmd ".load $EXTENSION" own.db "select trackway_open('t.fxt')" "$@" 2>&1 | tail -n +2; }
	[ "$(shell 'select * from counters')" = 7 ]
	[ "$(shell "select name, thread_name, extract_arg(arg_set_id, 'size') from thread_slice where tid = 9")" = 'inner|other|2748' ]
	[ "$(shell 'select name, pid from process_slice')" = 'outer|5' ]
	[ "$(shell "select count(*) from thread_state where state = 'Running'")" = 3 ]
	run sqlite3 -cmd ".load $EXTENSION" own.db 'select * from android_logs'
	[[ "$output" == *"no such table: android_logs; here that is log" ]]
	[ "$(sqlite3 own.db 'select count(*) from sqlite_master')" = 1 ]
	sqlite3 -cmd ".load $EXTENSION" own.db "select extract_arg(1, 'x')" 2>&1 | grep -q 'no trace is open'
	"$PYTHON" - "$EXTENSION" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(":memory:")
		db.enable_load_extension(True)
		db.load_extension(sys.argv[1])
		for count in (1, 2): # the second file's, too
		    db.execute("select trackway_open('t.fxt')").fetchall()
		    rows = db.execute("select extract_arg(arg_set_id, 'size') from slice where name = 'inner' and depth = 0").fetchall()
		    assert rows == [(2748,)] * count, rows
		db.close()
	END
}
