#!/usr/bin/env bats
# kept.bats - what a trace states is kept: flows, asynchronous operations, instants, and the round trip.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

arrows() { # FILE
	trackway sql --csv "$1" "select f.ts_out, f.ts, a.name as a, b.name as b from flow f left join slice a on a.id = slice_out
		left join slice b on b.id = slice_in order by f.ts, f.ts_out" | tail -n +2
}

# The Trace Event Format: an end without "bp":"e" binds to the next slice of the thread, with it to the one around it.
@test "a flow ends in the next slice, or in the one around its end" {
	printf '1000,3000,A,B\n1000,5000,A,B\n' | diff - <(arrows "$DATA/chrome/flowbp.json")
	trackway convert "$DATA/chrome/flowbp.json" -o out.json
	printf '1000,3000,A,B\n1000,5000,A,B\n' | sed 's/000,\(.\)000/000,\1000/' >expected
	arrows out.json | cut -d, -f3- | diff - <(cut -d, -f3- expected)
	[ "$(trackway sql --csv out.json 'select count(*) from flow where slice_in is not null' | tail -1)" = 2 ]
	[ "$(grep -c '"ph":"f".*"bp":"e"' out.json)" = 1 ]
}

@test "the next slice may begin at the very time of the end, and be written before it; without one there is none" {
	cat >equal.json <<-'END'
		[{"ph":"X","ts":0,"dur":5,"pid":1,"tid":1,"name":"from"},{"ph":"s","ts":1,"pid":1,"tid":1,"name":"f","id":1},
		 {"ph":"X","ts":10,"dur":9,"pid":1,"tid":2,"name":"to"},{"ph":"X","ts":10,"dur":5,"pid":1,"tid":2,"name":"inner"},
		 {"ph":"f","ts":10,"pid":1,"tid":2,"name":"f","id":1},{"ph":"X","ts":12,"dur":1,"pid":1,"tid":2,"name":"late"},
		 {"ph":"s","ts":2,"pid":1,"tid":1,"name":"g","id":2},{"ph":"f","ts":13,"pid":1,"tid":3,"name":"g","id":2},
		 {"ph":"s","ts":3,"pid":1,"tid":1,"name":"h","id":2},{"ph":"f","ts":11,"pid":1,"tid":2,"name":"h","id":2},
		 {"ph":"i","ts":11.5,"pid":1,"tid":2,"name":"no slice","s":"t"}]
	END
	printf '1000,10000,from,to\n3000,11000,from,late\n2000,13000,from,\n' | diff <(sort) <(arrows equal.json | sort)
	# Of a window the arrows that arrive in it, wherever their slice is.
	[ "$(trackway sql --csv equal.json 'select count(*) from flow where ts between 10500 and 11500 and slice_in is not null' | tail -1)" = 1 ]
}

# Fuchsia's format: a flow event is of the duration that is open on its thread.
@test "flows of FXT bind to the slice around" {
	printf '50,250,send,recv\n250,610,recv,done\n' | diff - <(arrows "$DATA/fxt/flow3.fxt")
}

# Plain ids and "global" ones are of all processes, "local" ones of one.
@test "asynchronous operations: ids of one process, and of all" {
	cat >expected <<-'END'
		url_headers,3000
		url_request,7000
		x,4000
		x,7000
		y,5000
	END
	durations() { trackway sql --csv "$1" 'select name, dur from async_slice order by name, dur' | tail -n +2; }
	durations "$DATA/chrome/nestasync.json" | diff expected -
	trackway convert "$DATA/chrome/nestasync.json" -o out.json
	durations out.json | diff expected -
	cat >plain.json <<-'END'
		[{"ph":"b","ts":1,"pid":1,"tid":1,"name":"a","id":"0x5"},{"ph":"e","ts":4,"pid":2,"tid":2,"name":"a","id":5}]
	END
	[ "$(durations plain.json)" = 'a,3000' ]
}

@test "stat --by async: operations by name, with percentiles, in every form" {
	local t=$DATA/chrome/nestasync.json
	trackway stat --by async --json "$t" >rows
	"$PYTHON" - <<-'END'
		import json
		found = {r["name"]: (r["count"], r["open"], r["total_ns"], r["min_ns"], r["max_ns"]) for r in map(json.loads, open("rows"))}
		assert found == {"url_request": (1, 0, 7000, 7000, 7000), "url_headers": (1, 0, 3000, 3000, 3000),
		                 "x": (2, 0, 11000, 4000, 7000), "y": (1, 0, 5000, 5000, 5000)}, found
	END
	trackway stat --by async --sort total "$t" | sed -n '1s/.* //p;2p' >text
	grep -qx OPERATION text
	grep -q '^ *2  11.00 us .* 4.000 us .* 7.000 us  x$' text
	[ "$(trackway stat --by async --csv "$t" | wc -l)" = 5 ]
	[ "$(trackway stat --by async --function 'url_*' --json "$t" | wc -l)" = 2 ]
	# 100 of 1 to 100 us, begun on one thread and ended on another; one has no end.
	"$PYTHON" - >many.json <<-'END'
		import json
		at = lambda phase, ts, tid, id: {"ph": phase, "ts": ts, "pid": 1, "tid": tid, "cat": "c", "name": "op", "id": id}
		events = [at("b", 0, 1, i) for i in range(1, 102)] + [at("e", i, 2, i) for i in range(1, 101)]
		print(json.dumps(events + [{"ph": "i", "ts": 200, "pid": 1, "tid": 1, "name": "last", "s": "t"}]))
	END
	trackway convert many.json -o many.fxt
	for t in many.json many.fxt; do
		trackway stat --by async --json $t >rows
		"$PYTHON" - <<-'END'
			import json
			row = json.loads(open("rows").read())
			assert (row["count"], row["open"], row["min_ns"], row["max_ns"]) == (101, 1, 1000, 100000), row
			assert row["total_ns"] == 5050000 + 200000, row
			assert all(abs(row[key] - us * 1000) <= us * 10 for key, us in (("p50_ns", 50), ("p90_ns", 90), ("p99_ns", 99))), row
		END
		trackway stat --by async $t | grep -q '^1 operation still open at the end'
	done
	fails trackway stat --by async --weight bytes many.json
	trackway stat --by async "$DATA/chrome/pid0.json" 2>&1 >none | grep -q 'there is no asynchronous operation in the trace, but it has calls'
}

# Perfetto's importer of Chrome's JSON: an end without a name ends the innermost of the same category, id and scope.
@test "an asynchronous end without a name ends the newest of its category, its id and its process" {
	"$PYTHON" - >noname.json <<-'END'
		import json
		at = lambda phase, ts, id, name=None, pid=1, cat="c", key="id": \
		    dict({"ph": phase, "ts": ts, "pid": pid, "tid": 1, "cat": cat, key: id}, **({"name": name} if name else {}))
		local = lambda phase, ts, pid, name=None: at(phase, ts, {"local": 9}, name, pid, key="id2")
		print(json.dumps([
		    at("e", 0, 1),                                                                     # nothing is open
		    at("b", 1, 1, "outer"), at("b", 3, 1, "inner"), at("e", 6, 1), at("e", 11, 1),     # 3 and 10 us
		    at("b", 12, 2, "one"), at("b", 13, 2, "two"), at("b", 14, 2, "three"),
		    at("e", 16, 2, "two"), at("e", 20, 2), at("e", 27, 2),                             # two 3, three 6, one 15
		    at("b", 30, 3, "other"), at("e", 32, 3, cat="d"), at("e", 34, 3),                  # 4
		    local("b", 40, 1, "mine"), local("b", 41, 2, "yours"), local("e", 45, 1), local("e", 48, 2), # 5 and 7
		    at("b", 50, 4, "again"), at("e", 51, 4), at("b", 60, 4, "again"), at("e", 62, 4)]))          # 1 and 2
	END
	printf '%s\n' inner,3000 outer,10000 two,3000 three,6000 one,15000 other,4000 mine,5000 yours,7000 again,1000 again,2000 |
		sort >expected
	trackway convert noname.json -o noname.fxt 2>/dev/null
	trackway convert noname.json -o written.json 2>/dev/null
	for t in noname.json noname.fxt written.json; do
		trackway sql --csv $t "select name || ',' || dur from async_slice" | tr -d '"' | tail -n +2 | sort | diff expected - ||
			fail $t
		trackway stat --by async --json $t | "$PYTHON" -c '
import json, sys
rows = {row["name"]: (row["count"], row["open"], row["total_ns"]) for row in map(json.loads, sys.stdin)}
assert rows["again"] == (2, 0, 3000) and rows["outer"] == (1, 0, 10000) and rows["one"] == (1, 0, 15000), rows
assert sum(row[1] for row in rows.values()) == 0, rows' || fail $t
	done
	# What is ended is not open any more.
	printf '%s\n' '[{"ph":"b","ts":1,"pid":1,"tid":1,"name":"a","id":5},{"ph":"e","ts":2,"pid":1,"tid":1,"id":5},' \
		'{"ph":"b","ts":3,"pid":1,"tid":1,"name":"a","id":5},{"ph":"e","ts":4,"pid":1,"tid":1,"id":5}]' >once.json
	trackway check once.json 2>&1 >found
	! grep shared found || fail "ended, and open"
}

@test "operations of one key that are open at once are noted, once for each thread" {
	"$PYTHON" - >shared.json <<-'END'
		import json
		print(json.dumps([{"ph": phase, "ts": ts, "pid": 1, "tid": tid, "cat": "c", "name": "op", "id": 1}
			for phase, ts, tid in (("b", 1, 1), ("b", 2, 1), ("b", 3, 1), ("b", 4, 2), *(("e", t, 3) for t in (5, 6, 7, 8)))]))
	END
	trackway convert shared.json -o shared.fxt
	for t in json fxt; do
		trackway check shared.$t >out
		grep -q ': note: An asynchronous operation begins while another one of its category, name and id is open' out || fail "$(cat out)"
	done
	[ "$(trackway check --json shared.json | grep -c async-shared-key)" = 2 ]
	[ "$(trackway check --json shared.fxt | grep -c fxt.async-shared-key)" = 2 ]
	trackway sql --csv shared.json 'select dur from async_slice order by 1' | tail -n +2 | paste -sd' ' | grep -qx '1000 3000 5000 7000'
}

@test "sql: asynchronous instants, and counters that are larger than SQLite's integers" {
	trackway sql --csv "$DATA/fxt/async_inst.fxt" 'select name, category, ts, async_id, args ->> "step" from async_instant' | grep -qx 'op,io,50,7,1'
	trackway sql --csv "$DATA/fxt/ctr_threads.fxt" 'select value = 18446744073709551615.0, typeof(value) from counter where ts = 300' |
		grep -qx '1,real'
}

# What the documents have, event by event and member by member, whatever their order.
same_json() { # FILE FILE
	"$PYTHON" - "$1" "$2" <<-'END'
		import json, sys
		def load(path):
		    whole = json.load(open(path, encoding="utf-8"))
		    whole = whole if isinstance(whole, dict) else {"traceEvents": whole}
		    whole["traceEvents"] = sorted(json.dumps(event, sort_keys=True) for event in whole["traceEvents"])
		    return whole
		a, b = map(load, sys.argv[1:])
		for event in set(a["traceEvents"]) ^ set(b["traceEvents"]):
		    print("+" if event in b["traceEvents"] else "-", event)
		assert a == b, (a.keys(), b.keys())
	END
}

@test "Chrome to Chrome: nothing is rewritten, nothing invented" {
	for file in rt phases nestasync flowbp; do
		for command in convert 'cut --from-time 0'; do
			trackway $command "$DATA/chrome/$file.json" -o out.json 2>losses
			same_json "$DATA/chrome/$file.json" out.json || fail "$command $file"
			[ ! -s losses ]
		done
		trackway convert --to chrome - <"$DATA/chrome/$file.json" | cmp - out.json
	done
}

@test "Chrome to Chrome: texts, numbers and names of every kind" {
	"$PYTHON" - <<-'END' >texts.json
		import json, random
		random.seed(7)
		def value(depth=0):
		    kinds = [None, True, False, 0, -1, 2**53 + 1, 2**64, -0.5, 1e-9, 1.0, "", "0x1f", "12", "NaN", "\ud800"[:0], "\u00e9\"\\/\b\n\u2028"]
		    pick = random.randrange(len(kinds) + (4 if depth < 5 else 0))
		    if pick < len(kinds):
		        return kinds[pick]
		    if pick % 2:
		        return [value(depth + 1) for _ in range(random.randrange(4))]
		    return {random.choice(["a", "b.c", "", "end", "tail", "cpu", "clipped", "hex", "text"]): value(depth + 1) for _ in range(random.randrange(4))}
		events = []
		for i in range(500):
		    event = {"ph": random.choice("XBEiCbnestfNODMv(Pc"), "ts": random.choice([i, i + 0.25, i + 0.0625, str(i)]), "name": value() if i % 9 == 0 else "n%d" % (i % 7),
		             "pid": random.choice([1, "1", 7, "GPU 0", -3, 2**40]), "tid": random.choice([1, "main", 2]), "args": value()}
		    for more in random.sample(["cat", "id", "id2", "scope", "tts", "cname", "bp", "bind_id", "flow_in", "x", "s", "sf", "dur"], 3):
		        event[more] = {"dur": 1.5, "flow_in": True, "id2": {"local": "0x1"}}.get(more, value())
		    if event["ph"] == "M":
		        del event["ts"]
		    events.append(event)
		print(json.dumps({"a": 1, "traceEvents": events, "samples": [], "z\u00e9": [{"traceEvents": []}, "]}"]}))
	END
	trackway convert texts.json -o out.json 2>/dev/null || [ $? = 1 ]
	same_json texts.json out.json
}

# A window cuts what reaches into it, and leaves names, indices and labels.
@test "Chrome to Chrome: a window" {
	cat >window.json <<-'END'
		{"traceEvents":[{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"t"}},{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"l"}},
		{"ph":"X","pid":1,"tid":2,"ts":0,"dur":100,"name":"long","cname":"good","args":{"k":[1]}},
		{"ph":"X","pid":1,"tid":2,"ts":5,"dur":2,"name":"early"},
		{"ph":"B","pid":1,"tid":2,"ts":10,"name":"begun","tts":7},
		{"ph":"X","pid":1,"tid":2,"ts":25,"dur":5.5,"name":"in"},
		{"ph":"E","pid":1,"tid":2,"ts":60,"name":"begun"},{"ph":"i","pid":1,"tid":2,"ts":70,"name":"late","s":"t"}],"k":"v"}
	END
	cat >expected.json <<-'END'
		{"traceEvents":[{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"t"}},{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"l"}},
		{"ph":"X","pid":1,"tid":2,"ts":20.000,"dur":20.000,"name":"long","cname":"good","args":{"k":[1],"clipped":true}},
		{"ph":"B","pid":1,"tid":2,"ts":20.000,"name":"begun","args":{"clipped":true}},
		{"ph":"X","pid":1,"tid":2,"ts":25,"dur":5.5,"name":"in"},
		{"ph":"E","pid":1,"tid":2,"ts":40.000,"name":"begun","args":{"clipped":true}}],"k":"v"}
	END
	trackway cut --from-time 20us --to-time 40us window.json -o out.json
	same_json expected.json out.json
}

@test "Chrome to Chrome: a merge keeps what events have, and tells processes apart" {
	printf '[%s]' '{"ph":"X","pid":1,"tid":2,"ts":1,"dur":2,"name":"a","cname":"good","args":{"l":[1,{"k":2}]}}' >a.json
	printf '[%s]' '{"ph":"X","pid":1,"tid":2,"ts":5,"dur":3,"name":"b","tts":4,"args":{"o":{"p":1}}}' >b.json
	trackway merge a.json b.json -o out.json
	"$PYTHON" - <<-'END'
		import json
		a, b = [event for event in json.load(open("out.json"))["traceEvents"] if event["ph"] == "X"]
		assert a["args"] == {"l": [1, {"k": 2}]} and a["cname"] == "good" and a["dur"] == 2 and (a["pid"], a["tid"]) == (1, 2), a
		assert b["args"] == {"o": {"p": 1}} and b["tts"] == 4 and b["dur"] == 3 and b["pid"] != 1, b
	END
}

samples() { # FILE: the stacks and how often
	trackway convert "$1" -o samples.folded
	sort samples.folded
}

# The protocol of DevTools: nodes with their children, a sample at each sum of timeDeltas from startTime on.
@test "samples of V8's profiles: a document, with times" {
	printf '%s\n' '(idle) 1' 'main 1' 'main;(anonymous) 1' 'main;work 2' | diff - <(samples "$DATA/chrome/small.cpuprofile")
	printf '%s\n' 0,1000000 1000000,1000000 2000000,2000000 4000000,1000000 5000000,2000000 |
		diff - <(trackway sql --csv "$DATA/chrome/small.cpuprofile" 'select ts, weight from stack_sample order by ts' | tail -n +2)
	trackway stat --json --weight wall "$DATA/chrome/small.cpuprofile" | grep -q '"work".*3000000'
	trackway flame "$DATA/chrome/small.cpuprofile" -o flame.svg
	grep -q work flame.svg
	trackway check "$DATA/chrome/small.cpuprofile"
	# Children before their parents, and a cycle that no profiler writes.
	cat >odd.cpuprofile <<-'END'
		{"nodes":[{"id":3,"callFrame":{"functionName":"c"}},{"id":2,"callFrame":{"functionName":"b"},"children":[3]},
		{"id":1,"callFrame":{"functionName":"a"},"children":[2]},{"id":8,"callFrame":{"functionName":"x"},"children":[9]},
		{"id":9,"callFrame":{"functionName":"y"},"children":[8]}],"startTime":0,"endTime":9,"samples":[3,3,7],"timeDeltas":[1,1,1]}
	END
	samples odd.cpuprofile | grep -qx 'a;b;c 2'
	trackway convert "$DATA/chrome/small.cpuprofile" -o out.json
	"$PYTHON" - "$DATA/chrome/small.cpuprofile" out.json <<-'END'
		import json, sys
		a, b = (json.load(open(path)) for path in sys.argv[1:])
		assert b.pop("traceEvents") == [] and a == b
	END
}

# Chrome's trace: the profile's thread is that of "Profile"; chunks come from another one. The last tells the end: 1500.
@test "samples of V8's profiles: chunks among events" {
	printf '%s\n' 0,50000,11 50000,50000,11 100000,200000,11 300000,100000,11 400000,100000,11 |
		diff - <(trackway sql --csv "$DATA/chrome/chunks.json" 'select ts, weight, tid from stack_sample join thread using (utid) order by ts' | tail -n +2)
	trackway convert "$DATA/chrome/chunks.json" -o out.folded 2>/dev/null
	grep -qx 'f 2' out.folded
	grep -qx 'f;g 2' out.folded
	# A trace that begins with the event of a profile begins there for all: the first sample comes 50 us later.
	sed 's/"timeDeltas":.100/"timeDeltas":[150/' "$DATA/chrome/chunks.json" >later.json
	[ "$(trackway sql --csv later.json 'select min(ts), start_ts from stack_sample, trace' | tail -n 1)" = 50000,1000000 ]
	trackway info --json later.json | grep -q '"clock_start_ns":1000000,'
	same_json "$DATA/chrome/chunks.json" <(trackway convert --to chrome "$DATA/chrome/chunks.json" -o -)
}

# The Trace Event Format, "Global Samples": frames may come after the samples, and before their parents.
@test "samples with stackFrames, beside slices" {
	trackway stat --json --weight samples "$DATA/chrome/hermes.json" >found
	grep -q '"leaf(a.js:1:2)"' found
	[ "$(wc -l <found)" = 3 ]
	trackway sql --csv "$DATA/chrome/hermes.json" 'select ts from stack_sample order by ts' | tail -n +2 | paste -sd, | grep -qx 1000,3000
	trackway stat --json "$DATA/chrome/hermes.json" | grep -q '"x"'
	same_json "$DATA/chrome/hermes.json" <(trackway convert --to chrome "$DATA/chrome/hermes.json" -o -)
}

# The Trace Event Format: "tts" is the thread's clock at "ts" in us, "tdur" how long the slice ran by that.
@test "sql: slices have the times of their thread's own clock" {
	cat >own.json <<-'JSON'
		[{"ph":"X","ts":1,"dur":9,"tts":100,"tdur":1.5,"pid":1,"tid":1,"name":"a","args":{"x":1}},
		{"ph":"B","ts":20,"tts":110,"pid":1,"tid":1,"name":"b"},{"ph":"B","ts":21,"pid":1,"tid":1,"name":"c"},
		{"ph":"E","ts":22,"pid":1,"tid":1,"args":{"y":2}},{"ph":"E","ts":30,"tts":"112.25","pid":1,"tid":1}]
	JSON
	trackway sql --csv own.json 'select name, thread_ts, thread_dur, args from slice order by ts' >out
	printf '%s\n' name,thread_ts,thread_dur,args 'a,100000,1500,"{""x"":1}"' b,110000,2250, 'c,,,"{""y"":2}"' |
		diff - <(tr -d '\r' <out)
	trackway sql --csv own.json 'select arg_set_id is null from slice order by ts' | tail -n +2 | paste -sd, | grep -qx 0,1,0
	trackway sql --csv "$DATA/chrome/rt.json" "select thread_ts, thread_dur from slice where name = 'a'" | grep -q '^100000,1000'
}

# plain FILE: without ids, classes and modules of functions, which the formats have no place for.
plain() {
	sed 's/,"\(id\|class\|module\)":[^,}]*//g' "$1"
}

# What a format has no stacks for is read back: a log of samples and allocations, and folded stacks, through FXT and Chrome.
@test "samples and allocations survive FXT and Chrome" {
	printf 'main;parse 5\nmain;read 3\nmain;parse 2\n' >a.folded
	for from in a.folded "$DATA/tracelog/vs.log"; do
		for to in json fxt; do
			trackway convert "$from" -o "once.$to" 2>/dev/null
			trackway convert "once.$to" -o other.fxt 2>/dev/null
			trackway convert other.fxt -o "twice.$to" 2>/dev/null
			for command in 'stat' 'stat --weight wall' 'stacks' 'alloc --by stack' 'alloc --by class' 'alloc --by function'; do
				# Folded text tells no unit: there --weight says what it counts.
				[ "$from $command" != 'a.folded stat --weight wall' ] || continue
				trackway $command --json "$from" 2>/dev/null >before || true
				for file in "once.$to" "twice.$to"; do
					trackway $command --json "$file" 2>/dev/null >after || true
					diff <(plain before) <(plain after) || fail "$from $file $command"
				done
			done
		done
	done
	[ "$(trackway stat --json once.json | wc -l)" -ge 1 ]
}

# The Trace Event Format, "Sample events", "Stack frames": "sf" leads to a frame, "stack" has the outermost first.
@test "sample events have their stacks, wherever the frames stand" {
	events='{"ph":"P","ts":1,"pid":1,"tid":2,"name":"s","sf":7},{"ph":"P","ts":2,"pid":1,"tid":2,"name":"s","stack":["main","f"]}'
	frames='"stackFrames":{"7":{"name":"g","parent":"5"},"5":{"name":"main"}}'
	printf '{%s,"traceEvents":[%s]}' "$frames" "$events" >before.json
	printf '{"traceEvents":[%s],%s}' "$events" "$frames" >after.json
	for file in before after; do
		trackway convert "$file.json" --to folded --weight samples -o - | sort >$file.folded
		printf 'main;f 1\nmain;g 1\n' | cmp - $file.folded
		trackway sql --csv "$file.json" 'select ts from stack_sample order by ts' | tail -n +2 | paste -sd, | grep -qx 0,1000
		same_json $file.json <(trackway convert --to chrome $file.json -o -)
	done
	printf '{"traceEvents":[%s]}' "$events" >none.json
	trackway convert none.json --to folded --weight samples -o - 2>/dev/null | grep -qx 'main;f 1'
	trackway check none.json | grep -q 'no "stackFrames" tell the frame'
}

@test "folded stacks are known by lines that come late, are long, or have no end" {
	printf 'main 5\n\nfoo 7\nmain;foo 3' >late
	for i in $(seq 40); do printf 'function%s 5\n' "$i"; done >shallow
	printf 'a;b 3\n' >>shallow
	"$PYTHON" -c 'print("x" * 300, 5); print("x;y 3")' >long
	"$PYTHON" -c 'print("\ufeffx;y 3", end="")' >mark
	for file in late shallow long mark; do
		trackway info --json "$file" | grep -q '"format":"folded"' || fail "$file"
	done
	trackway convert mark -o - --to folded | grep -qx 'x;y 3'
	printf 'main 5\nfoo 7\n' >unknown
	run trackway stat unknown
	[ "$status" = 2 ]
	[[ "$output" == *'--from folded'* ]]
	run trackway stat --from folded unknown
	[ "$status" = 0 ]
}

@test "Chrome JSON with much before its events is known" {
	{ printf '{"metadata":"'; head -c 200000 /dev/zero | tr '\0' x; printf '","traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}]}\n'; } >big.json
	trackway stat --json big.json | grep -q '"a"'
	trackway stat --json - <big.json | grep -q '"a"'
	{ printf '{"metadata":"'; head -c 2000000 /dev/zero | tr '\0' x; printf '"}'; } >larger.json
	run trackway stat larger.json
	[ "$status" = 2 ]
	[[ "$output" == *'--from chrome'* ]]
}

@test "Chrome JSON: arguments nested too deep lose themselves, not their event; a time that is damaged loses its event" {
	trackway stat --json "$DATA/chrome/deepargs.json" 2>err >found || [ $? = 1 ]
	grep -q '"a".*"count":1' found
	grep -q '\[chrome.nesting\]' err
	"$PYTHON" - <<-'END' >deep.json
		deep = '{"k":' * 200 + '"]}"' + '}' * 200
		print('[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a","args":{"x":1,"y":%s}},{"ph":"X","ts":5,"dur":2,"pid":1,"tid":1,"name":"b"},' % deep)
		print('{"ph":"i","ts":"x5","pid":1,"tid":1,"name":"damaged","s":"t"}]')
	END
	trackway stat --json deep.json 2>err >found || [ $? = 1 ]
	[ "$(wc -l <found)" = 2 ]
	grep -q 'line 1.*\[chrome.nesting\]' err
	grep -q 'line 2.*\[chrome.time-wrong\]' err
	[ "$(trackway sql --csv deep.json 'select count(*) from instant' 2>/dev/null | tail -1)" = 0 ]
}

# profile.proto: duration_nanos is field 10, default_sample_type field 14, an index of field 6.
pprof_states() { # DURATION TYPE
	"$PYTHON" - "$@" <<-'END'
		import gzip, sys
		data = gzip.decompress(open("out.pb.gz", "rb").read())
		at, fields = 0, {}
		def number():
		    global at
		    value = shift = 0
		    while True:
		        byte = data[at]
		        at += 1
		        value |= (byte & 127) << shift
		        shift += 7
		        if byte < 128:
		            return value
		while at < len(data):
		    tag = number()
		    value = number()
		    if tag & 7 == 2:
		        value, at = data[at:at + value], at + value
		    fields.setdefault(tag >> 3, []).append(value)
		assert fields[10] == [int(sys.argv[1])], fields
		assert fields[6][fields[14][0]] == sys.argv[2].encode(), fields
	END
}

# A sample of V8 stands for the time behind it, the last until "endTime": from 1 ms to 8 ms.
@test "pprof: the duration is that of the whole trace, and a type is chosen" {
	trackway convert "$DATA/chrome/dur.json" --to pprof -o out.pb.gz
	pprof_states 100000 wall
	trackway convert "$DATA/chrome/small.cpuprofile" --to pprof -o out.pb.gz
	pprof_states 7000000 samples
	trackway info "$DATA/chrome/small.cpuprofile" | grep -q '^span: *7.000 ms'
	trackway sql --csv "$DATA/chrome/small.cpuprofile" 'select end_ts from trace' | grep -q '^8000000'
	trackway info "$DATA/chrome/phases.json" | grep -q '^span: *1.060 ms' # its last event is a memory dump
}

@test "V8's profiles: a chunk may stand before the event that tells its thread and its start" {
	"$PYTHON" - "$DATA/chrome/chunks.json" <<-'END'
		import json, sys
		events = json.load(open(sys.argv[1]))
		events = events if isinstance(events, list) else events["traceEvents"]
		json.dump(events[1:] + events[:1], open("behind.json", "w"))
	END
	local query='select ts, weight, tid from stack_sample join thread using (utid) order by ts'
	diff <(trackway sql --csv "$DATA/chrome/chunks.json" "$query") <(trackway sql --csv behind.json "$query")
	diff <(trackway stat --csv --weight wall "$DATA/chrome/chunks.json") <(trackway stat --csv --weight wall behind.json)
}

stacks_of() { # FILE [OPTION]...
	trackway stat --json --weight samples "$@" | "$PYTHON" -c '
import json, sys
print(*sorted("%s %d %d" % (row["name"], row["self"], row["total"]) for row in map(json.loads, sys.stdin)), sep="\n")'
}

# Samples at 0, 1, ... 4 ms: f, g of f, g of f, f, h; of V8, whose times are differences, and of "samples".
profiles() {
	cat >v8.cpuprofile <<-'END'
		{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,4]},
		 {"id":2,"callFrame":{"functionName":"f","url":"a.js","lineNumber":6},"children":[3]},
		 {"id":3,"callFrame":{"functionName":"g"}},{"id":4,"callFrame":{"functionName":"h"}}],
		 "startTime":5000,"endTime":10000,"samples":[2,3,3,2,4],"timeDeltas":[0,1000,1000,1000,1000]}
	END
	cat >global.json <<-'END'
		{"traceEvents":[{"ph":"X","ts":5000,"dur":5000,"pid":1,"tid":7,"name":"x","sf":2,"args":{"dims":[[1,2],[]]}}],
		 "stackFrames":{"2":{"name":"f"},"3":{"name":"g","parent":2},"4":{"name":"h"}},"metadata":{"a":[1]},"samples":[
		 {"ts":5000,"pid":1,"tid":7,"weight":1,"sf":2},{"ts":6000,"pid":1,"tid":7,"weight":1,"sf":3},
		 {"ts":7000,"pid":1,"tid":7,"weight":1,"sf":3},{"ts":8000,"pid":1,"tid":7,"weight":1,"sf":2},
		 {"ts":9000,"pid":1,"tid":7,"weight":1,"sf":4}]}
	END
	cat >chunks.json <<-'END'
		[{"ph":"P","name":"Profile","id":"0x1","ts":5000,"pid":1,"tid":7,"args":{"data":{"startTime":5000}}},
		 {"ph":"P","name":"ProfileChunk","id":"0x1","ts":9500,"pid":1,"tid":9,"args":{"data":{"cpuProfile":{"nodes":[
		 {"id":2,"callFrame":{"functionName":"f"}},{"id":3,"parent":2,"callFrame":{"functionName":"g"}},
		 {"id":4,"callFrame":{"functionName":"h"}}],"samples":[2,3,3,2,4]},"timeDeltas":[0,1000,1000,1000,1000]}}}]
	END
}

# Samples at 0.1, 1.1, 0.6, 1.6, 3.6, 3.5, 4.0 and 5.5 ms of 9: DevTools sorts them (CPUProfileDataModel), and each lasts until
# the next: f 0.5 and 1.5 ms, g 0.5, 0.5 and 3.5, h 1.9, i 0.1, k 0.4.
@test "samples with negative differences of time are put in order first" {
	local nodes='{"id":1,"callFrame":{"functionName":"(root)"},"children":[2,3,4,5,6]},{"id":2,"callFrame":{"functionName":"f"}},
		{"id":3,"callFrame":{"functionName":"g"}},{"id":4,"callFrame":{"functionName":"h"}},
		{"id":5,"callFrame":{"functionName":"i"}},{"id":6,"callFrame":{"functionName":"k"}}'
	echo "{\"nodes\":[$nodes],\"startTime\":5000000,\"endTime\":5009000,\"samples\":[2,3,3,4,6,5,2,3],
		\"timeDeltas\":[100,1000,-500,1000,2000,-100,500,1500]}" >v8.cpuprofile
	local chunk='"ph":"P","name":"ProfileChunk","id":"0x1","ts":9500,"pid":1,"tid":9'
	echo "[{\"ph\":\"P\",\"name\":\"Profile\",\"id\":\"0x1\",\"ts\":5000000,\"pid\":1,\"tid\":7,
		\"args\":{\"data\":{\"startTime\":5000000}}},
		{$chunk,\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[$nodes],\"samples\":[2,3,3,4]},\"timeDeltas\":[100,1000,-500,1000]}}},
		{$chunk,\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[6,5]},\"timeDeltas\":[2000,-100]}}},
		{$chunk,\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[2,3]},\"timeDeltas\":[500,1500],\"endTime\":5009000}}}]" \
		>parts.json
	trackway convert v8.cpuprofile -o v8.fxt
	for t in v8.cpuprofile v8.fxt parts.json; do
		trackway stat --weight wall --json $t | "$PYTHON" -c '
import json, sys
found = {row["name"]: row["self"] for row in map(json.loads, sys.stdin)}
assert found == {"f": 2000000, "g": 4500000, "h": 1900000, "i": 100000, "k": 400000}, found' || fail $t
		trackway check $t || fail $t
	done
	[ "$(trackway sql --csv v8.cpuprofile 'select (ts - (select min(ts) from stack_sample)) / 1000 from stack_sample order by ts' |
		tail -n +2 | tr '\n' ' ')" = '0 500 1000 1500 3400 3500 3900 5400 ' ]
	# A chunk that goes back behind the one before: none is counted twice, the sum is that of the times.
	sed 's/\[6,5\]/[6]/; s/\[2000,-100\]/[2000]/; s/\[2,3\]}/[5,2,3]}/; s/\[500,1500\]/[-100,500,1500]/' parts.json >back.json
	[ "$(trackway sql --csv back.json 'select count(*) from stack_sample' | tail -1)" = 8 ]
	trackway stat --weight wall --json back.json | "$PYTHON" -c '
import json, sys
assert sum(json.loads(line)["self"] for line in sys.stdin) == 8900000'
}

@test "frames that are not there, and frames that call each other, are told" {
	cat >circle.json <<-'END'
		{"traceEvents":[],"samples":[{"ts":1,"tid":1,"sf":1},{"ts":2,"tid":1,"sf":3},{"ts":3,"tid":1,"sf":"7"},{"ts":4,"tid":1}],
		 "stackFrames":{"1":{"name":"a","parent":2},"2":{"name":"b","parent":1},"3":{"name":"c","parent":"1"}}}
	END
	trackway check --json circle.json >found
	[ "$(grep -c chrome.frame-cycle found)" = 1 ]
	[ "$(grep -c chrome.frame-unknown found)" = 1 ]
	trackway flame --folded --weight samples circle.json 2>/dev/null | sort | diff <(printf '%s\n' '(no stack) 2' 'b;a 1' 'b;a;c 1') -
	cat >own.json <<-'END'
		{"traceEvents":[{"ph":"P","name":"p","ts":1,"pid":1,"tid":1,"sf":5}],
		 "stackFrames":{"5":{"name":"a","parent":5},"6":{"name":"b","parent":9}},"samples":[{"ts":2,"pid":1,"tid":1,"sf":6}]}
	END
	trackway check --json own.json >found
	[ "$(grep -c chrome.frame-cycle found)/$(grep -c chrome.frame-unknown found)" = 1/1 ]
	trackway flame --folded --weight samples own.json 2>/dev/null | sort | diff <(printf '%s\n' 'a 1' 'b 1') -
	cat >gone.cpuprofile <<-'END'
		{"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"startTime":0,"endTime":3,"samples":[1,999,998],"timeDeltas":[0,1,1]}
	END
	trackway check --json gone.cpuprofile >found
	[ "$(grep -c chrome.frame-unknown found)" = 2 ]
	[ "$(trackway flame --folded --weight samples gone.cpuprofile 2>/dev/null | sort | tr '\n' ' ')" = '(no stack) 2 f 1 ' ]
}

@test "samples of a window, a thread, a function are cut where they are, with their stacks" {
	profiles
	for t in v8.cpuprofile global.json chunks.json; do
		trackway cut --from-time 1ms --to-time 3500us $t -o part.json 2>err
		stacks_of part.json >found
		printf '%s\n' 'f 1 3' 'g 2 2' | diff - found || fail "$t"
		fails grep -q 'passes the filters' err
		trackway cut --function h $t -o part.json
		[ "$(stacks_of part.json)" = 'h 1 1' ] || fail "$t"
		trackway convert --from-time 1ms --to-time 2500us $t -o part.fxt
		printf '%s\n' 'f 0 2' 'g 2 2' | diff - <(stacks_of part.fxt) || fail "$t"
	done
	trackway cut --from-time 1ms --to-time 3500us global.json -o part.json
	"$PYTHON" - <<-'END'
		import json
		part = json.load(open("part.json"))
		slice, = (e for e in part["traceEvents"] if e["ph"] == "X")
		frames = part["stackFrames"]
		assert frames[str(slice["sf"])]["name"] == "f" and slice["args"]["dims"] == [[1, 2], []], part
		assert part["metadata"] == {"a": [1]} and "samples" not in part, part
		samples = [(e["ts"], e["pid"], e["tid"], frames[str(e["sf"])]["name"]) for e in part["traceEvents"] if e["ph"] == "P"]
		assert samples == [(6000, 1, 7, "g"), (7000, 1, 7, "g"), (8000, 1, 7, "f")], samples
	END
}

@test "samples of several documents that are merged stay, each with its own stack" {
	profiles
	sed 's/"functionName":"\([fgh]\)"/"functionName":"\1\1"/g' v8.cpuprofile >other.cpuprofile
	trackway merge v8.cpuprofile other.cpuprofile -o m.json
	printf '%s\n' 'f 2 4' 'ff 2 4' 'g 2 2' 'gg 2 2' 'h 1 1' 'hh 1 1' | diff - <(stacks_of m.json)
	trackway merge global.json chunks.json -o m.json
	printf '%s\n' 'f 4 8' 'g 4 4' 'h 2 2' | diff - <(stacks_of m.json)
	# all of it is read as foreign: nothing is invented, and what stands around the events of the first is there
	trackway merge global.json global.json -o m.json 2>err
	grep -q 'stack of an event: 2 left out' err
	"$PYTHON" - <<-'END'
		import json
		trace = json.load(open("m.json"))
		assert trace["metadata"] == {"a": [1]} and "otherData" not in trace, list(trace)
		assert sorted(e["ph"] for e in trace["traceEvents"]) == ["P"] * 10 + ["X"] * 2, trace["traceEvents"]
		assert {e["pid"] for e in trace["traceEvents"]} == {1, 1000001}
		assert all(e["args"]["dims"] == [[1, 2], []] for e in trace["traceEvents"] if e["ph"] == "X")
	END
	sed 's/"metadata":{"a":\[1\]}/"metadata":{"a":[2]}/' global.json >differs.json
	run trackway merge --strict global.json differs.json -o m.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"what stands around the events: 1 left out"* ]] || fail "$output"
}

@test "samples of a trace that Trackway wrote as Chrome's JSON stay, however often it is written" {
	trackway convert "$DATA/tracelog/oa.log" -o a.json 2>/dev/null
	trackway convert a.json -o b.json
	trackway convert b.json -o c.json
	stacks_of a.json >expected
	[ -s expected ]
	grep -q 'A::F(string) 7 7' expected
	for t in b c; do diff expected <(stacks_of $t.json) || fail $t; done
}

# Two machines number their flows, and operations that are of all processes, each for itself.
@test "merged traces keep their flows and operations apart, unless they are of one machine" {
	cat >a.json <<-'END'
		[{"ph":"X","ts":0,"dur":5,"pid":1,"tid":1,"name":"S"},{"ph":"s","ts":1,"pid":1,"tid":1,"name":"f","cat":"q","id":3},
		 {"ph":"b","ts":2,"pid":1,"tid":1,"name":"op","cat":"q","id":"0x7"},{"ph":"e","ts":9,"pid":1,"tid":1,"name":"op","cat":"q","id":"0x7"},
		 {"ph":"b","ts":2,"pid":1,"tid":1,"name":"w","cat":"q","id":"word"},{"ph":"e","ts":8,"pid":1,"tid":1,"name":"w","cat":"q","id":"word"},
		 {"ph":"X","ts":10,"dur":5,"pid":1,"tid":2,"name":"T"},{"ph":"f","bp":"e","ts":11,"pid":1,"tid":2,"name":"f","cat":"q","id":3},
		 {"ph":"X","ts":20,"dur":1,"pid":1,"tid":1,"name":"U","bind_id":"0x9","flow_out":true},
		 {"ph":"X","ts":30,"dur":1,"pid":1,"tid":2,"name":"V","bind_id":"0x9","flow_in":true}]
	END
	"$PYTHON" - <<-'END'
		import json
		events = json.load(open("a.json"))
		for event in events[1:]:
		    event["ts"] += 2
		json.dump(events, open("b.json", "w"))
	END
	for t in a b; do trackway convert $t.json -o $t.fxt 2>/dev/null; done
	ends() { # FILE: from which process each flow leads to which
		trackway sql --csv "$1" 'select a.pid, b.pid, f.ts_out, f.ts from flow f join thread t on t.utid = f.utid_out
			join process a using (upid) join thread u on u.utid = f.utid join process b on b.upid = u.upid order by 1, 3' | tail -n +2
	}
	for t in json fxt; do
		for to in json fxt; do
			trackway merge a.$t b.$t -o m.$to 2>err
			grep -q 'flow or operation id: [1-9]* kept in another form' err || fail "$t $to: $(cat err)"
			ends m.$to >found
			printf '%s\n' 1,1,1000,11000 1,1,20000,30000 1000001,1000001,3000,13000 1000001,1000001,22000,32000 | diff - found ||
				fail "$t to $to"
			trackway merge --same-machine a.$t b.$t -o m.$to 2>err
			fails grep -q 'operation id' err
		done
	done
	trackway merge a.json b.json -o m.json 2>/dev/null
	trackway sql --csv m.json 'select name, dur from async_slice order by 1, 2' | tail -n +2 >found
	printf '%s\n' op,7000 op,7000 w,6000 w,6000 | diff - found
	"$PYTHON" -m json.tool m.json >/dev/null
}

@test "names of processes that are texts stay where traces are merged, and nobody is invented" {
	echo '[{"ph":"X","ts":1,"dur":5,"pid":"GPU 0","tid":"Stream 7","name":"k"},{"ph":"X","ts":1,"dur":5,"pid":5,"tid":6,"name":"x"}]' >w.json
	trackway merge w.json w.json -o m.json
	trackway sql --csv m.json "select p.name, t.name, count(distinct upid) from slice join thread t using (utid)
		join process p using (upid) group by 1, 2 order by 1" | tail -n +2 >found
	printf '%s\n' ',,2' 'GPU 0,Stream 7,2' | diff - found
	fails grep -q -e '"process ' -e '"thread [0-9]' -e '"track ' m.json
}

@test "what is no number of JSON becomes null in its event, which stays as it is else, and is counted" {
	cat >n.json <<-'END'
		[{"name":"a","ph":"X","ts":1,"dur":5,"pid":1,"tid":1,"args":{"l":[1,[2]],"nan":NaN,"m":[-Infinity,Infinity],"NaN":"a \" NaN"}}]
	END
	trackway convert n.json -o o.json 2>err
	grep -q 'member of an event: 3 left out' err
	"$PYTHON" - <<-'END'
		import json
		event, = json.load(open("o.json"))["traceEvents"]
		assert event == {"name": "a", "ph": "X", "ts": 1, "dur": 5, "pid": 1, "tid": 1,
		                 "args": {"l": [1, [2]], "nan": None, "m": [None, None], "NaN": 'a " NaN'}}, event
	END
}

@test "thread times of a slice that is cut are not told: nobody knows them" {
	echo '[{"name":"a","ph":"X","ts":0,"dur":50,"tts":7,"tdur":40,"pid":1,"tid":1},{"name":"b","ph":"X","ts":30,"dur":5,"tts":9,"tdur":4,"pid":1,"tid":1}]' >t.json
	trackway cut --from-time 20us --to-time 40us t.json -o part.json 2>err
	grep -q 'thread time: 2 left out' err
	trackway sql --csv part.json 'select name, dur, thread_ts, thread_dur from slice order by name' | tail -n +2 >rows
	printf '%s\n' a,20000,, b,5000,9000,4000 | diff - rows
}

@test "what other formats have no place for is counted: members of events, and how flows bind" {
	cat >m.json <<-'END'
		[{"name":"a","ph":"X","ts":0,"dur":50,"tts":7,"tdur":40,"pid":1,"tid":1,"cname":"good","own":{"x":1}},
		 {"name":"f","ph":"s","ts":1,"pid":1,"tid":1,"id":1},{"name":"f","ph":"f","ts":2,"pid":1,"tid":1,"id":1},
		 {"name":"f","ph":"s","ts":3,"pid":1,"tid":1,"id":1},{"name":"f","ph":"f","bp":"e","ts":4,"pid":1,"tid":1,"id":1}]
	END
	trackway convert m.json -o m.fxt 2>err
	grep -q 'member of an event: 4 left out' err || fail "$(cat err)"
	grep -q 'flow that ends in the next slice: 1 kept in another form' err || fail "$(cat err)"
	run trackway convert --strict m.json --to perfetto -o m.pftrace
	[ "$status" -eq 1 ]
	trackway convert m.json -o n.json 2>err
	[ ! -s err ]
}

@test "arrays, and objects too deep for dotted names, are texts in other formats: that is counted" {
	cat >a.json <<-'END'
		[{"name":"a","ph":"X","ts":0,"dur":5,"pid":1,"tid":1,"args":{"Input Dims":[[1,2],[3]],"text":"[1]","o":{"p":1}}},
		 {"name":"b","ph":"i","ts":1,"pid":1,"tid":1,"args":{"o":{"p":{"q":{"r":{"s":{"t":1}}}}},"none":[]}}]
	END
	for target in fxt perfetto jsonl csv; do
		trackway convert a.json --to $target -o a.out 2>err
		grep -q 'array or object as an argument: 3 kept in another form' err || fail "$target: $(cat err)"
	done
	run trackway convert --strict a.json --to jsonl -o a.jsonl
	[ "$status" -eq 1 ]
	trackway convert a.json -o b.json 2>err
	[ ! -s err ]
	trackway stat a.json >found 2>err
	[ ! -s err ]
}

@test "an end without a name ends a marker of Firefox's profiler by the name of its begin" {
	cat >a.json <<-'END'
		[{"cat":"c","ph":"b","id":4,"pid":1,"tid":1,"ts":0,"name":"first"},{"cat":"c","ph":"b","id":5,"pid":1,"tid":1,"ts":1,"name":"second"},
		 {"cat":"c","ph":"e","id":4,"pid":1,"tid":1,"ts":6},{"cat":"c","ph":"e","id":5,"pid":1,"tid":1,"ts":7},
		 {"cat":"c","ph":"e","id":6,"pid":1,"tid":1,"ts":8}]
	END
	trackway convert a.json --to firefox -o a.firefox.json 2>err
	"$PYTHON" - <<-'END'
		import json
		thread, = json.load(open("a.firefox.json"))["threads"]
		markers = thread["markers"]
		names = [thread["stringArray"][name] for name in markers["name"]]
		assert list(zip(names, markers["phase"])) == [("first", 2), ("second", 2), ("first", 3), ("second", 3),
		                                              ("async-end", 3)], names
	END
}

# The Trace Event Format: sample events have no weight, global samples have a name.
@test "merge: samples keep their names, and get no weight that they did not have" {
	echo '{"traceEvents":[{"ph":"P","name":"tick","cat":"cpu","ts":1,"pid":1,"tid":1,"sf":1}],"stackFrames":{"1":{"name":"main"}}}' >a.json
	echo '{"traceEvents":[],"samples":[{"tid":1,"ts":2,"name":"cycles","sf":1,"weight":3}],"stackFrames":{"1":{"name":"work","category":"lib"}}}' >b.json
	run trackway merge a.json b.json -o out.json
	[[ "$output" == *"out.json: category of a stack frame: 1 left out"* ]] || fail "$output"
	trackway convert b.json -o b.fxt 2>&1 | grep -q 'b.fxt: category of a stack frame: 1 left out'
	[ -z "$(trackway convert b.json -o same.json 2>&1)" ] && grep -q '"category":"lib"' same.json
	"$PYTHON" - <<-'END'
		import json
		one, other = (e for e in json.load(open("out.json"))["traceEvents"] if e["ph"] == "P")
		assert (one["name"], one["cat"], "args" in one) == ("tick", "cpu", False), one
		assert (other["name"], other["args"]) == ("cycles", {"weight": 3}), other
	END
	printf 'main 1\nwork 3\n' | diff - <(trackway convert --to folded --weight samples out.json -o - | sort)
}

# One operation is open from 50 us on; the last slice begins at 60 us, and another lasts until 100 us.
@test "an operation that is open goes on until the last slice is over" {
	echo '[{"ph":"X","name":"f","ts":0,"dur":100,"pid":1,"tid":1},{"ph":"b","cat":"c","name":"op","id":1,"ts":50,"pid":1,"tid":1},
		{"ph":"X","name":"h","ts":60,"dur":30,"pid":1,"tid":3}]' >open.json
	trackway stat --by async --json open.json | grep -q '"open":1,.*"total_ns":50000'
	trackway convert --to clickhouse open.json -o open.tar
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		import clickhouse_native
		tables = clickhouse_native.tables(open("open.tar", "rb").read())
		assert [row["duration"] for row in tables["trace"]] == [100000], tables["trace"]
		assert [row["duration"] for row in tables["slice"] if row["name"] == b"op"] == [50000], tables["slice"]
	END
}
