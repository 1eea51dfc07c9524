# who.bats - who is who: processes and threads by number and by name, in every command.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

tells() { # what is expected, command...
	local want=$1
	shift
	"$@" >told 2>told.err || true
	[ "$(cat told)" = "$want" ] || fail "$* tells:
$(cat told told.err)"
}

# A query, and its rows without the names of the columns: a | between values.
asks() { # file, query, rows
	trackway sql --csv "$1" "$2" >rows || return 1
	[ "$(tail -n +2 rows)" = "$3" ] || fail "$2 of $1 tells:
$(cat rows)"
}

@test "process 0 is there: named, with its threads and counters" {
	local chrome=$DATA/chrome
	asks "$chrome/pid0.json" "select pid, name from process order by pid" "0,GPU 0
5,"
	asks "$chrome/pid0.json" "select pid, tid, dur from slice join thread using (utid) join process using (upid)
		order by pid, tid" "0,0,2000
0,7,2000
5,5,3000"
	asks "$chrome/pid0.json" "select pid, c.name, value from counter c join process_counter_track t on t.id = c.track_id
		join process using (upid)" "0,c,1"
	asks "$chrome/kineto.json" "select pid, tid, s.name from slice s join thread using (utid) join process using (upid)
		where pid < 1000 order by ts" "100,100,aten::mm
100,100,cudaLaunchKernel
0,7,sgemm"
}

@test "process 0 stays through other formats" {
	for to in fxt json; do
		trackway convert "$DATA/chrome/pid0.json" -o "p.$to"
		asks "p.$to" "select pid, p.name, tid, s.name, dur from slice s join thread using (utid)
			join process p using (upid) where pid = 0 order by tid" "0,GPU 0,0,k,2000
0,GPU 0,7,k,2000"
	done
}

@test "without a tid, an event is on the thread whose number is the pid; without a pid, on one of process 0" {
	asks "$DATA/chrome/nopid.json" "select s.name, pid, tid, ts, dur from thread_slice s order by s.name" "a,0,0,0,3000
b,4,4,5000,1000
c,0,4,5000,1000"
}

@test "threads that no record has registered are rows of their own, and can be chosen" {
	cp "$DATA/fxt/ret130.fxt" t.fxt
	local one=16140901064495857921 two=16140901064495857922
	trackway info --json t.fxt 2>/dev/null >told || true
	grep -q "\"thread\":$one" told
	grep -q "\"thread\":$two" told
	trackway stat --by thread --json t.fxt 2>/dev/null >told || true
	"$PYTHON" -c "import json; print(sorted((r['name'], r['total_ns'], r['thread'], r['thread_name'])
		for r in map(json.loads, open('told'))))" >rows
	[ "$(cat rows)" = "[('major', 240, $one, 'undefined thread 1'), ('minor', 50, $one, 'undefined thread 1'), \
('minor', 180, $two, 'undefined thread 2')]" ] || fail "$(cat rows)"
	trackway stat --thread $two --json t.fxt 2>/dev/null >told || true
	[ "$(grep -o '"total_ns":[0-9]*' told)" = '"total_ns":180' ]
	trackway dump --thread $two --json t.fxt 2>/dev/null >told || true
	[ "$(wc -l <told)" = 2 ]
	trackway sql --csv t.fxt "select s.name, dur from slice s join thread t using (utid)
		where t.name = 'undefined thread 2'" 2>/dev/null >told || true
	[ "$(tail -n +2 told)" = "minor,180" ]
}

# Writers have -1 where they know no process (PyTorch), and koids of Fuchsia may have bit 63.
@test "negative numbers of processes and threads are shown as they are written" {
	cat >minus.json <<-'END'
		[{"name":"a","ph":"X","ts":1,"dur":3,"pid":-1,"tid":-2},{"name":"b","ph":"X","ts":5,"dur":1,"pid":-1,"tid":-2147483648},
		 {"name":"big","ph":"X","ts":6,"dur":1,"pid":7,"tid":"9223372036854775809"},{"name":"n","ph":"C","ts":7,"pid":-1,"args":{"v":1}}]
	END
	trackway convert minus.json -o minus.fxt 2>/dev/null
	for t in minus.json minus.fxt; do
		trackway info --json $t | grep -o '"process":[-0-9]*,"thread":[-0-9]*' | sort >found
		printf '%s\n' '"process":-1,"thread":-2' '"process":-1,"thread":-2147483648' '"process":7,"thread":9223372036854775809' |
			sort | diff - <(grep -v '"thread":0' found) || fail $t
		trackway info $t | grep -qE '^ +-2 +-1 ' || fail $t
		trackway stat --by thread $t | grep -qE ' -1 +-2 +a$' || fail $t
		[ "$(trackway stat --by thread --csv $t | cut -d, -f1,15,16 | sort | tr '\n' ' ')" = \
			'a,-1,-2 b,-1,-2147483648 big,7,9223372036854775809 name,process,thread ' ] || fail $t
		trackway stat --by thread --json $t | grep -q '"process":-1,"thread":-2,' || fail $t
		[ "$(trackway stat --csv --thread -2 $t | tail -n +2 | cut -d, -f1)" = a ] || fail $t
		[ "$(trackway stat --csv --process=-1 $t | tail -n +2 | wc -l)" = 2 ] || fail $t
		trackway counters --json $t | grep -q '"process":-1,' || fail $t
		trackway flame --folded $t >/dev/null
		trackway convert $t --to jsonl -o - | grep -q '"process":-1,"thread":-2,"name":"a"' || fail $t
		trackway convert $t --to csv -o - | grep -q 'slice-complete,-1,-2,' || fail $t
		[ "$(trackway sql --csv $t "select pid, tid from slice join thread using (utid) join process using (upid)
			where slice.name = 'a'" | tail -1)" = -1,-2 ] || fail $t
	done
	trackway check --json minus.json >found
	fails grep -q '"rule"' found
	echo '[{"name":"a","ph":"X","ts":1,"dur":3,"pid":null,"tid":1},{"name":"a","ph":"X","ts":6,"dur":3,"pid":2,"tid":[1]}]' >odd.json
	trackway check --json odd.json >found
	[ "$(grep -c 'neither a number nor a text' found)" = 1 ]
}

# FXT, "Context Switch Event Record": a priority is a byte, so that a number beyond is a weight, also where threads have a pid.
@test "the same scheduling as FXT and as Fuchsia's JSON: the same answers" {
	sed 's/"tid": \(1036\|11\),/"pid": 1, &/' "$DATA/chrome/idle-fuchsia.json" >pids.json
	[ "$(grep -c '"pid": 1, "tid": 1036' pids.json)" -gt 1 ]
	for t in "$DATA/fxt/idle.fxt" "$DATA/chrome/idle-fuchsia.json" pids.json; do
		trackway sched --by cpu --json "$t" | grep -q '"cpu":0,"busy_ns":2000000,"idle_ns":1000000000,"unknown_ns":0'
		trackway sched --json "$t" >threads
		grep -q '"process":1,"thread":11,"process_name":"p","thread_name":"worker","running_ns":2000000' threads
		[ "$(wc -l <threads)" = 1 ]
		asks "$t" "select tid, is_idle from thread order by tid" "11,0
1036,1"
	done
}

# Fuchsia's converter and catapult's importer of its "systemTraceEvents".
@test "scheduling of FXT in Chrome JSON: the same answers, nobody invented, and nothing is approximated" {
	local f by
	for f in idle waker cpu_breakdown pf_cpu_idle oneshot_all; do
		trackway convert "$DATA/fxt/$f.fxt" -o "$f.json" 2>told || fail "$f"
		fails grep -q -e switch -e wakeup told
		for by in thread process cpu; do
			trackway sched --json --by $by "$DATA/fxt/$f.fxt" >one
			trackway sched --json --by $by "$f.json" | diff one - || fail "$f, $by"
		done
		for t in "$DATA/fxt/$f.fxt" "$f.json"; do
			trackway sql --csv "$t" "select s.ts, s.dur, s.cpu, t.tid, t.name, s.state, w.tid as waker from thread_state s
				join thread t using (utid) left join thread w on w.utid = s.waker_utid order by 1, 4, 3, 2, 6"
		done >states
		[ "$(sort states | uniq -c | awk '$1 % 2' | wc -l)" = 0 ] || fail "$f: $(cat states)"
	done
	"$PYTHON" - "$DATA/chrome/idle-fuchsia.json" <<-'END'
		import json, sys
		made = json.load(open("idle.json"))
		system = made["systemTraceEvents"]
		assert made["traceEvents"] == [] and system["type"] == "fuchsia", made
		asked = json.load(open(sys.argv[1]))["systemTraceEvents"]["events"]
		assert system["events"] == asked, system["events"]
	END
	trackway convert waker.json -o waker.fxt
	trackway dump waker.fxt | grep -q 'thread-wakeup .*waking_thread=12 .*name=weight .*type=int32 value=10.*name=waker .*type=koid value=11'
}

@test "legacy switches of FXT in Chrome JSON are those of Fuchsia's own converter" {
	need_corpus
	local made=$CORPUS/fxt/fuchsia
	for f in simple_trace example_benchmark; do
		trackway convert "$made/$f.fxt" -o "$f.json" 2>/dev/null || fail "$f"
		"$PYTHON" - "$made/$f.json" "$f.json" <<-'END'
			import json, sys
			wanted, found = (json.load(open(path)) for path in sys.argv[1:])
			of = lambda trace, phases: [e for e in trace["systemTraceEvents"]["events"] if e["ph"] in phases]
			switches = sorted(of(wanted, "k"), key=lambda e: e["ts"])
			start = float(found["otherData"]["clock_start_ns"]) / 1000
			assert len(switches) == len(of(found, "k")) > 0
			bare = lambda e: json.dumps([e["cpu"], e["out"], e["in"]], sort_keys=True)
			assert sorted(map(bare, switches)) == sorted(map(bare, of(found, "k")))
			assert all(abs(a["ts"] - start - b["ts"]) <= 0.002 for a, b in zip(switches, of(found, "k")))
			name = lambda e: (e["ph"], e["pid"], e.get("tid"), e["name"])
			known = set(map(name, of(wanted, "pt")))
			assert all(name(e) in known for e in of(found, "pt") if e["name"])
		END
	done
}

@test "Fuchsia's JSON: names for threads told by number alone, state 0 is runnable, weights in FXT" {
	trackway convert "$DATA/chrome/sched-names-fuchsia.json" -o s.fxt
	for t in "$DATA/chrome/sched-names-fuchsia.json" s.fxt; do
		trackway sched --json "$t" >threads
		grep -q '"process_name":"server.cm","thread_name":"main","running_ns":22000,"runnable_ns":10000' threads
		grep -q '"process_name":"server.cm","thread_name":"pool-1","running_ns":10000,"runnable_ns":0' threads
		[ "$(wc -l <threads)" = 2 ]
		trackway sched --by cpu --json "$t" | grep -q '"cpu":0,"busy_ns":32000,"idle_ns":0'
		asks "$t" "select t.name, state, sum(dur) from thread_state join thread t using (utid) where dur >= 0
			group by 1, 2 order by 1, 2" "main,R+,10000
main,Running,22000
pool-1,Running,10000
pool-1,S,5000"
	done
	trackway dump s.fxt | grep -q 'name=incoming_weight .*type=int32 value=-2147483648'
	trackway dump s.fxt | grep -q 'name=outgoing_weight .*type=int32 value=16'
}

@test "where a switch is missing, sched and the tables know the same" {
	local t=$DATA/fxt/cpu_breakdown.fxt
	asks "$t" "select sum(dur) from sched join thread using (utid) where cpu = 2 and tid = 1" 1500000000
	asks "$t" "select sum(dur) from sched where cpu = 2 and utid is null" 1000000000
	trackway sched --by cpu --json "$t" | grep -q '"cpu":2,"busy_ns":7000000000,"idle_ns":0,"unknown_ns":1000000000'
	asks "$t" "select sum(dur) from sched left join thread using (utid) where cpu = 2 and dur > 0" 8000000000
}

@test "who woke a thread" {
	asks "$DATA/fxt/waker.fxt" "select w.tid, s.dur, r.state from thread_state s join thread t using (utid)
		join thread w on w.utid = s.waker_utid join thread_state r on r.id = s.waker_id and r.utid = s.waker_utid
		where t.tid = 12 and s.state = 'R'" "11,50,Running"
	asks "$DATA/fxt/waker.fxt" "select count(*) from thread_state where waker_utid is not null" 1
}

@test "two machines with the same numbers: kept apart and counted, or joined; told" {
	local a=$DATA/fxt/mg_a.fxt b=$DATA/fxt/mg_b.fxt
	trackway merge "$a" "$b" -o m.fxt 2>told
	grep -q 'CPU number: 1 kept in another form' told
	grep -q 'thread number: 2 kept in another form' told
	grep -q 'numbers that several files use, 1 of processes, 2 of threads, 1 of CPUs, are kept apart' told
	trackway sched --json m.fxt >rows
	grep -q '"process":1,"thread":20,"process_name":"pa","thread_name":"wa","running_ns":1400' rows
	grep -q '"process":1000001,"thread":1000020,"process_name":"pb","thread_name":"wb","running_ns":1400' rows
	trackway sched --by cpu --json m.fxt >rows
	[ "$(grep -o '"cpu":[0-9]*,"busy_ns":[0-9]*,"idle_ns":0,"unknown_ns":0' rows | paste -sd' ')" = \
		'"cpu":0,"busy_ns":1500,"idle_ns":0,"unknown_ns":0 "cpu":1000,"busy_ns":1500,"idle_ns":0,"unknown_ns":0' ]
	trackway merge "$a" "$b" -o m.json 2>told
	grep -q 'CPU number: 1 kept in another form' told
	trackway merge --same-machine "$a" "$b" -o s.fxt 2>told
	grep -q 'are taken as those of one machine' told
	fails grep -q 'CPU number' told
	trackway sched --by cpu --json s.fxt >rows
	[ "$(wc -l <rows)" = 1 ]
}

@test "merged traces keep the names of processes that have no event of their own" {
	echo '[{"ph":"i","ts":0,"pid":9,"tid":9,"name":"a","s":"t"},{"ph":"i","ts":2000000,"pid":9,"tid":9,"name":"b","s":"t"}]' >long.json
	for to in fxt json; do
		trackway merge "$DATA/chrome/idle-fuchsia.json" "$DATA/chrome/sched-names-fuchsia.json" long.json -o "m.$to" 2>/dev/null
	done
	for t in m.fxt m.json; do
		trackway sched --json $t | grep -o '"process":.*"running_ns":[0-9]*' | sort >rows
		diff rows - <<-'END'
			"process":1,"thread":11,"process_name":"p","thread_name":"worker","running_ns":2000000
			"process":3000,"thread":3001,"process_name":"server.cm","thread_name":"main","running_ns":22000
			"process":3000,"thread":3002,"process_name":"server.cm","thread_name":"pool-1","running_ns":10000
		END
	done
}

@test "two traces with a process 0 each: two processes" {
	trackway merge "$DATA/chrome/pid0.json" "$DATA/chrome/pid0.json" -o m.json
	asks m.json "select pid, p.name, count(*) from slice join thread using (utid) join process p using (upid)
		where tid in (0, 7) group by 1, 2 order by 1" "0,GPU 0,2
1000000,GPU 0,2"
}

@test "--thread and --process take numbers, names and globs, in every command, from a pipe, too" {
	local c=$DATA/chrome/pid0.json s=$DATA/chrome/sched-names-fuchsia.json
	counts() { # how many calls pass
		trackway stat --json "$@" 2>err | grep -o '"count":[0-9]*' | cut -d: -f2 | paste -sd' '
	}
	[ "$(counts --process 'GPU*' "$c")" = 2 ]
	[ "$(counts --process 0 --thread 7 "$c")" = 1 ]
	[ "$(counts --process 0,5 "$c" | tr ' ' '\n' | sort | paste -sd' ')" = '1 2' ]
	[ "$(counts --thread 0 "$c")" = 1 ]
	[ "$(counts --process 'GPU 0' - <"$c")" = 2 ]
	[ "$(cat "$c" | counts --process 'GPU 0' -)" = 2 ]
	[ -z "$(counts --process nobody "$c")" ]
	grep -q -- 'passes the filters: --process nobody (trackway info lists the threads)' err
	trackway counters --process 5 --json "$c" >rows 2>err
	[ ! -s rows ]
	trackway counters --process 'GPU 0' --json "$c" | grep -q '"counter":"c"'
	trackway sched --thread 'pool-*' --json "$s" | grep -q '"thread":3002'
	[ "$(trackway sched --process server.cm --json "$s" | wc -l)" = 2 ]
	[ "$(trackway sched --thread 3001 --process server.cm --json "$s" | wc -l)" = 1 ]
	trackway cut --process 'GPU 0' "$c" -o cut.json
	asks cut.json "select count(*), min(pid), max(pid) from slice join thread using (utid) join process using (upid)" "2,0,0"
	trackway convert --thread 'undefined thread 2' "$DATA/fxt/ret130.fxt" -o part.fxt 2>err || true
	trackway stat --json part.fxt >rows
	[ "$(grep -o '"total_ns":[0-9]*' rows)" = '"total_ns":180' ]
	trackway merge --process 'GPU*' "$c" "$s" -o m.json 2>err
	asks m.json "select count(*) from slice" 2
}

@test "info tells the names of threads and processes" {
	trackway info "$DATA/chrome/sched-names-fuchsia.json" >text
	grep -Eq '^ +3001 +3000 .* main +server.cm *$' text
	trackway info --json "$DATA/chrome/sched-names-fuchsia.json" |
		grep -q '"thread":3002,.*"thread_name":"pool-1","process_name":"server.cm"'
	trackway info --json "$DATA/chrome/pid0.json" | grep -q '"process":0,"thread":7,.*"thread_name":null,"process_name":"GPU 0"'
	# of records about the kernel's objects: the process, too
	trackway info --json "$DATA/fxt/cpu_breakdown.fxt" >told
	grep -q '"process":1000,"thread":1,.*"thread_name":"thread-1","process_name":"big_process"' told
	grep -q '"process":2000,"thread":100,.*"thread_name":"small-thread","process_name":"small_process"' told
}

@test "what has no name is called by its number: a glob of all is all" {
	local c=$DATA/chrome/pid0.json
	for glob in '*' '[0-9]*'; do
		[ "$(trackway stat --json -t "$glob" "$c" | grep -c '"name"')" = "$(trackway stat --json "$c" | grep -c '"name"')" ] ||
			fail "$glob"
	done
	[ "$(trackway stat --json --process '*' "$c" | wc -l)" = "$(trackway stat --json "$c" | wc -l)" ]
	trackway info --process 0 "$c" | grep -q '^processes: *1$'
}

@test "stat --by thread tells the processes where there are several" {
	trackway stat --by thread "$DATA/chrome/pid0.json" >text
	head -1 text | grep -q ' PROCESS '
	[ "$(grep -c ' GPU 0 ' text)" = 2 ]
	trackway stat --by thread "$DATA/chrome/dur.json" >text
	fails grep -q PROCESS text
}

@test "names of those that are not chosen are not in the part" {
	trackway cut --process 'GPU 0' --thread 7 "$DATA/chrome/pid0.json" -o part.json
	"$PYTHON" - <<-'END'
		import json
		trace = json.load(open("part.json"))
		events = trace["traceEvents"] if isinstance(trace, dict) else trace
		assert {e["pid"] for e in events} == {0}, events
		assert {e.get("tid", 7) for e in events if e["ph"] != "M"} == {7}, events
	END
	trackway cut --process nobody "$DATA/chrome/kineto.json" -o part.json 2>err
	fails grep -q '"ph"' part.json
}

@test "process 0 without a name stays, too" {
	echo '[{"ph":"X","ts":1,"dur":5,"pid":0,"tid":7,"name":"k"},{"ph":"X","ts":1,"dur":5,"pid":5,"tid":6,"name":"x"}]' >p.json
	trackway convert p.json -o p.fxt
	trackway convert p.fxt -o q.fxt
	trackway convert q.fxt -o r.json
	for t in p.json p.fxt q.fxt r.json; do
		asks $t "select pid, tid from slice join thread using (utid) join process using (upid) order by pid" "0,7
5,6"
	done
	cmp p.fxt q.fxt
}

@test "ready queries that find nothing say what was missing" {
	asked() { # file, query, words
		trackway sql -q "$2" "${@:4}" "$1" >rows 2>err || fail "$(cat err)"
		grep -qx "trackway: $3" err || fail "$2: $(cat err)"
	}
	local c=$DATA/chrome
	asked "$c/dur.json" critical-path 'there is no flow in the trace, but it has calls (trackway stat --weight calls)'
	asked "$DATA/fxt/ctr_threads.fxt" top-functions 'there is no call in the trace, but it has counters (trackway counters)'
	asked "$DATA/fxt/ctr_threads.fxt" concurrency 'there is no call in the trace, but it has counters (trackway counters)'
	asked "$c/dur.json" latency 'no slice or instant is called nobody' -p from=nobody -p to=a
	asked "$c/dur.json" latency 'no a comes after a b' -p from=b -p to=a
	trackway sql -q top-functions "$c/dur.json" >rows 2>err
	[ ! -s err ]
}

@test "a trace without events: stat says so" {
	for t in '[]' '{"traceEvents":[]}' '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}}]'; do
		echo "$t" >none.json
		for form in '' --csv --json --markdown; do
			trackway stat $form none.json 2>&1 >rows | grep -q 'there is no call in the trace' || fail "$t $form"
		done
	done
}

@test "blobs of a process and of a thread" {
	trackway blobs --json "$DATA/fxt/oneshot_all.fxt" >all
	[ -s all ]
	trackway blobs --process 1000 --json "$DATA/fxt/oneshot_all.fxt" >rows
	diff all rows # of no thread: they pass
}

@test "numbers below 0 are chosen as they are told" {
	echo '[{"ph":"X","ts":1,"dur":5,"pid":-1,"tid":-2,"name":"k"},{"ph":"X","ts":1,"dur":5,"pid":1,"tid":2,"name":"x"}]' >n.json
	asks n.json "select pid, tid from slice join thread using (utid) join process using (upid) order by pid" "-1,-2
1,2"
	for option in '--process -1' '--process=-1' '-t -2' '--process -1 -t -2'; do
		trackway stat --json $option n.json | grep -o '"name":"[a-z]*"' | grep -qx '"name":"k"' || fail "$option"
	done
}

# The "Trace Event Format" document, "Metadata Events": process_name and its like are of the process; Chromium writes a thread
# beside. "Global Samples": a sample has a thread and no process.
@test "Chrome: what is told of a process by a thread, and a sample's thread without a process" {
	printf '%s' '{"traceEvents":[{"ph":"M","pid":7,"tid":9,"name":"process_name","args":{"name":"server"}},' \
		'{"ph":"M","pid":7,"tid":9,"name":"process_labels","args":{"labels":"tab"}},' \
		'{"ph":"X","pid":7,"tid":8,"ts":1,"dur":5,"name":"a"},{"ph":"X","pid":6,"tid":5,"ts":1,"dur":5,"name":"b"}],' \
		'"stackFrames":{"1":{"name":"main"}},"samples":[{"cpu":0,"tid":8,"ts":3,"name":"cycles","sf":1,"weight":4}]}' >t.json
	[ "$(trackway info --json t.json | grep -o '"threads":[0-9]*')" = '"threads":2' ]
	asks t.json "select s.ts, t.tid, p.pid, p.name from stack_sample s join thread t using (utid) join process p using (upid)" \
		2000,8,7,server
	trackway cut t.json --thread 8 -o one.json
	[ "$(grep -o 'process_name\|process_labels\|"name":"a"\|"name":"b"\|"weight":4' one.json | sort | tr '\n' ' ')" = \
		'"name":"a" "weight":4 process_labels process_name ' ]
}
