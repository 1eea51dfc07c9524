#!/usr/bin/env bats
# again.bats - Chrome's JSON that Trackway wrote, written again: by convert, cut and merge nothing of it is rewritten.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

# What documents have, event by event and member by member; what tells of the writing is another one each time.
same_trace() { # FILE FILE
	"$PYTHON" - "$1" "$2" <<-'END'
		import json, sys
		def load(path):
		    whole = json.load(open(path, encoding="utf-8"))
		    whole["traceEvents"] = sorted(json.dumps(event, sort_keys=True) for event in whole["traceEvents"])
		    whole.pop("otherData", None)
		    system = whole.get("systemTraceEvents", {"events": []})
		    system["events"] = sorted(json.dumps(event, sort_keys=True) for event in system["events"])
		    return whole
		a, b = map(load, sys.argv[1:])
		for sign, x, y in ("-", a, b), ("+", b, a):
		    for event in x["traceEvents"]:
		        if event not in y["traceEvents"]:
		            print(sign, event)
		assert a == b, (a.keys(), b.keys())
	END
}

rewritten() { # FILE: by each command, and by that once more
	for way in convert 'cut --from-time 0' merge; do
		trackway $way "$1" -o again.json 2>err || return
		[ ! -s err ] || fail "$way: $(cat err)"
		same_trace "$1" again.json || fail "$way"
		trackway $way again.json -o twice.json
		cmp again.json twice.json || fail "$way"
	done
}

@test "events of another writer among ours stay what they are" {
	cat >own.json <<-'END'
		[{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"t"}},{"ph":"M","pid":1,"tid":2,"name":"thread_sort_index","args":{"sort_index":-3}},
		 {"ph":"M","pid":1,"tid":2,"name":"process_labels","args":{"labels":"l"}},
		 {"ph":"X","pid":1,"tid":2,"ts":0,"dur":50,"tts":3,"tdur":40,"name":"x","cname":"good","own":{"a":[1]},"args":{"Input Dims":[[1,2],[]],"o":{"p":null},"at":"0x1f","tail":true,"end":{"q":1}}},
		 {"ph":"B","pid":1,"tid":2,"ts":60,"tts":50,"name":"y","args":{"cpu":"a"}},{"ph":"E","pid":1,"tid":2,"ts":70,"tts":55,"args":{"l":[1]}},
		 {"ph":"X","pid":1,"tid":2,"ts":71,"dur":1,"name":"out","bind_id":"0xq","flow_out":true},{"ph":"X","pid":1,"ts":73,"dur":1,"name":"without a tid"},
		 {"ph":"b","pid":1,"tid":2,"ts":74,"id":"q","scope":"s","cat":"c","name":"op"},{"ph":"e","pid":1,"tid":2,"ts":75,"id":"q","scope":"s","cat":"c","name":"op"},
		 {"ph":"N","pid":1,"tid":2,"ts":76,"id":"0x1","name":"Obj"},{"ph":"O","pid":1,"tid":2,"ts":77,"id":"0x1","name":"Obj","args":{"snapshot":{"v":[1]}}},
		 {"ph":"v","pid":1,"tid":2,"ts":78,"id":"0x1","name":"dump","args":{"dumps":{"a":{"b":[2]}}}},{"ph":"P","pid":1,"tid":2,"ts":79,"name":"p","stack":["f","g"]}]
	END
	trackway merge own.json "$DATA/fxt/async_inst.fxt" -o mixed.json 2>/dev/null
	grep -q '"writer":"trackway' mixed.json
	"$PYTHON" - <<-'END'
		import json
		before, after = json.load(open("own.json")), json.load(open("mixed.json"))["traceEvents"]
		for event in before:
		    event.setdefault("tid", 1)  # of the thread whose number is that of the process: in what we write it is told
		assert not [event for event in before if event not in after], [e for e in before if e not in after]
	END
	rewritten mixed.json
	"$PYTHON" -c 'import json; json.dump(json.load(open("mixed.json")), open("indented.json", "w"), indent=1)'
	trackway convert indented.json -o again.json
	same_trace mixed.json again.json
	grep -q '^{"displayTimeUnit":"ns","otherData":{"writer":"trackway' again.json
}

@test "what stands around the events of a document among other traces is counted" {
	echo '{"metadata":{"a":1},"traceEvents":[{"ph":"X","pid":1,"tid":2,"ts":0,"dur":50,"name":"x"}]}' >m.json
	run trackway merge --strict m.json "$DATA/fxt/async_inst.fxt" -o n.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"what stands around the events: 1 left out"* ]] || fail "$output"
}

@test "the CPU is told by the first event of a thread that is left" {
	cat >own.json <<-'END'
		{"displayTimeUnit":"ns","otherData":{"writer":"trackway 0","format":"xray-fdr","clock_start_ns":"1000","ticks_per_second":"1000000000","has_cpu":true},"traceEvents":[
		{"ph":"X","pid":1,"tid":2,"ts":0.000,"dur":1.000,"name":"a","args":{"cpu":3}},{"ph":"X","pid":1,"tid":2,"ts":2.000,"dur":1.000,"name":"b"},
		{"ph":"X","pid":1,"tid":2,"ts":4.000,"dur":1.000,"name":"c","args":{"cpu":5,"l":[1]}},{"ph":"X","pid":1,"tid":2,"ts":6.000,"dur":1.000,"name":"d","args":{"l":[2]}},
		{"ph":"X","pid":1,"tid":7,"ts":6.500,"dur":1.000,"name":"of another writer"}]}
	END
	rewritten own.json
	told() { # [OPTION]...: names, CPUs and lists
		trackway cut "$@" own.json -o part.json
		"$PYTHON" -c 'import json
for event in json.load(open("part.json"))["traceEvents"]:
    args = event.get("args", {})
    print(event["name"], args.get("cpu"), args.get("l"))'
	}
	printf '%s\n' 'b 3 None' 'c 5 [1]' 'd None [2]' 'of another writer None None' | diff - <(told --from-time 2us)
	printf '%s\n' 'd 5 [2]' 'of another writer None None' | diff - <(told --from-time 6us)
	printf '%s\n' 'b 3 None' 'd 5 [2]' | diff - <(told --function '[bd]')
}

@test "what is open at the edges of a window of ours ends and begins there, once" {
	echo '[{"ph":"B","pid":1,"tid":2,"ts":0,"name":"x","args":{"l":[1]}},{"ph":"B","pid":1,"tid":2,"ts":10,"name":"y"},
		{"ph":"P","pid":1,"tid":2,"ts":15,"name":"p","sf":1},{"ph":"E","pid":1,"tid":2,"ts":20},{"ph":"E","pid":1,"tid":2,"ts":30}]' >b.json
	trackway merge b.json "$DATA/fxt/async_inst.fxt" -o own.json 2>/dev/null
	for t in b own; do
		trackway cut --from-time 5us --to-time 18us $t.json -o part.json 2>err
		trackway cut --from-time 0 --to-time 12us part.json -o part2.json
		trackway sql --csv part.json "select name, dur, depth, args ->> 'l' from slice where name in ('x', 'y') order by ts" | tail -n +2 >found
		printf '%s\n' 'x,13000,0,[1]' 'y,8000,1,' | diff - found || fail "$t"
		trackway sql --csv part2.json "select name, dur from slice where name in ('x', 'y') order by ts" | tail -n +2 >found
		[ "$(wc -l <found)" = 2 ] || fail "$t: $(cat found)"
		[ "$(grep -o 'clipped":true' part2.json | wc -l)" = "$(grep -c 'clipped":true' part2.json)" ]
	done
}

# As Fuchsia's converter writes it: names, switches, wake-ups, messages of logs.
@test "the list of Fuchsia's scheduling stays as it is; of merged traces names and messages stay, too" {
	cat >f.json <<-'END'
		{"displayTimeUnit":"ns","systemTraceEvents":{"type":"fuchsia","events":[
		{"ph":"k","ts":"8","cpu":1,"out":{"pid":0,"tid":0,"state":3,"prio":0},"in":{"pid":3000,"tid":3001,"prio":16}},
		{"ph":"k","ts":20.5,"cpu":1,"out":{"tid":3001,"state":0,"prio":16},"in":{"tid":77,"prio":-2147483648}},
		{"ph":"w","ts":30,"cpu":1,"pid":3000,"tid":3001,"prio":16},{"ph":"k","ts":40,"cpu":1,"out":{"tid":77,"state":3,"prio":-2147483648},"in":{"tid":3001,"prio":16}},
		{"ph":"l","ts":52,"pid":3000,"tid":3001,"message":"log text"},{"ph":"p","pid":3000,"name":"server.cm"},{"ph":"t","pid":3000,"tid":3001,"name":"main"},
		{"ph":"t","pid":"3000","tid":"3002","name":"late"}]},"traceEvents":[{"ph":"X","pid":3000,"tid":3002,"ts":12,"dur":1,"name":"W"}]}
	END
	for way in convert 'cut --from-time 0'; do
		trackway $way f.json -o g.json
		"$PYTHON" -c 'import json; a, b = (json.load(open(f)) for f in ("f.json", "g.json")); assert a == b, b' || fail "$way"
	done
	names="3000,server.cm,3001,main
3000,server.cm,3002,late"
	for others in '' "$DATA/fxt/async_inst.fxt"; do
		trackway merge f.json $others -o g.json
		trackway convert g.json -o h.json
		for t in g h; do
			trackway sql --csv $t.json 'select pid, p.name, tid, t.name from thread t join process p using (upid)
				where pid = 3000 order by tid' | tail -n +2 | diff <(echo "$names") - || fail "$t $others"
			trackway log $t.json | grep -q 'server.cm\[3000\]/main\[3001\]: log text' || fail "$t $others"
		done
	done
}

@test "messages of logs and names come back as they were" {
	trackway log "$DATA/fxt/oneshot_all.fxt" >expected
	grep -q 'This is a log message' expected
	trackway convert "$DATA/fxt/oneshot_all.fxt" -o a.json 2>/dev/null
	trackway convert a.json -o b.json
	trackway convert b.json -o c.fxt 2>/dev/null
	for t in a.json b.json c.fxt; do trackway log $t | diff expected - || fail $t; done
	same_trace a.json b.json
	# "process 0" exists; a name that looks like a number is a name
	echo '[{"ph":"M","name":"process_name","pid":0,"args":{"name":"GPU 0"}},{"ph":"X","pid":0,"tid":7,"ts":0,"dur":1,"name":"k"},
		{"ph":"M","name":"process_name","pid":1,"args":{"name":"process 1"}},{"ph":"M","name":"thread_name","pid":1,"tid":5,"args":{"name":"thread 5"}},
		{"ph":"X","pid":1,"tid":5,"ts":0,"dur":1,"name":"k"},{"ph":"X","pid":6,"tid":6,"ts":0,"dur":1,"name":"k"}]' >n.json
	echo '[{"ph":"X","pid":0,"tid":7,"ts":0,"dur":1,"name":"k"}]' >0.json
	trackway convert 0.json -o 0.fxt
	trackway convert 0.fxt -o 0.again.json
	[ "$(grep -c '"ph"' 0.again.json)" = 1 ]
	trackway convert n.json -o n.fxt
	trackway convert n.fxt -o o.json 2>err
	[ ! -s err ]
	fails grep -q '"ph":"i"' o.json
	trackway convert o.json -o p.fxt
	for t in n.json n.fxt o.json p.fxt; do
		trackway sql --csv $t 'select pid, p.name, tid, t.name from slice s join thread t using (utid) join process p using (upid)
			order by pid' | tail -n +2 >found
		printf '%s\n' '0,GPU 0,7,' '1,process 1,5,thread 5' 6,,6, | diff - found || fail $t
	done
}
