#!/usr/bin/env bats
# chrome.bats - Chrome's trace event JSON read: against Python's json module, and what Trackway wrote comes back.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

export PYTHON=${PYTHON:-/usr/bin/python3}
TRUTH=$TRACKWAY_SOURCE/tests/truth

# Every member of every event is what Python reads, and so is every event converted.
agrees() { # trace
	trackway dump --json "$1" >dump.json && "$PYTHON" "$TRUTH/chrome_events.py" dump dump.json "$1" &&
		trackway convert --to chrome "$1" -o out.json && "$PYTHON" "$TRUTH/chrome_events.py" convert out.json "$1"
}

@test "all phases: the events that Python reads" { agrees "$DATA/chrome/phases.json"; }

@test "the JSON of Fuchsia's converter" {
	need_corpus
	for trace in "$CORPUS"/fxt/fuchsia/*.json; do
		agrees "$trace" || fail "$trace"
	done
}

@test "compressed, and from a pipe: the same events" {
	trackway dump "$DATA/chrome/phases.json" >expected
	gzip -c "$DATA/chrome/phases.json" >trace.json.gz
	trackway dump trace.json.gz | cmp - expected
	trackway dump - <"$DATA/chrome/phases.json" | cmp - expected
	cat trace.json.gz | trackway dump - | cmp - expected
	# Filters read the records again, which a pipe does not allow without a copy.
	trackway dump --thread 11 --min-duration 1us "$DATA/chrome/phases.json" >expected
	[ -s expected ]
	cat trace.json.gz | trackway dump --thread 11 --min-duration 1us - | cmp - expected
}

@test "a compressed file that is cut: what is there is read, and the loss is told" {
	"$PYTHON" -c 'print("[" + ",\n".join("{\"ph\":\"i\",\"ts\":%d,\"name\":\"%d\"}" % (i, i * i) for i in range(9999)) + "]")' | gzip -c >whole.json.gz
	head -c 20000 whole.json.gz >cut.json.gz
	run --separate-stderr trackway check cut.json.gz
	[ "$status" = 1 ]
	[[ "$output" == *"[chrome.compression]"* ]] || fail "$output"
}

# What the writer makes of a log is read as the same calls, and written again as the same events; what else the document has
# then stands behind them.
comes_back() { # log
	trackway convert --to chrome "$1" -o once.json 2>/dev/null && trackway convert --to chrome once.json -o twice.json &&
		cmp <(tail -n +2 once.json | sed 's/^].*/]/') <(tail -n +2 twice.json | sed 's/^].*/]/')
}

@test "what Trackway wrote comes back, byte for byte" {
	for log in "$DATA"/xray/*.xray; do
		comes_back "$log" || fail "$log"
	done
}

@test "stat of the JSON is stat of the log" {
	for log in v5 be-msb-v5 basic-v3; do
		trackway convert --to chrome "$DATA/xray/$log.xray" -o log.json
		trackway stat --json "$DATA/xray/$log.xray" | sed 's/"id":[0-9]*,//' >expected
		trackway stat --json log.json | sed 's/"id":[0-9]*,//' >found
		cmp expected found || fail "$log"
	done
}

@test "slices that overlap: each has its own end, on a lane where one around it ends before" {
	cat >overlap.json <<-'END'
		[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"},
		 {"ph":"X","pid":1,"tid":1,"ts":7,"dur":2,"name":"c"},{"ph":"X","pid":1,"tid":1,"ts":12,"dur":1,"name":"d"}]
	END
	trackway sql --csv overlap.json 'select name, ts, dur, lane, depth, end_kind from slice order by ts' |
		diff - <(printf '%s\n' name,ts,dur,lane,depth,end_kind a,0,10000,0,0,ended b,5000,10000,1,0,ended \
			c,7000,2000,1,1,ended d,12000,1000,1,1,ended)
	[ "$(trackway stat --json overlap.json | grep -c '"unwound":0,')" = 4 ]
}

@test "keys may have escapes, as any string" {
	cat >keys.json <<-'END'
		[{"p\u0068":"X","t\u0073":1,"d\u0075r":2,"p\u0069d":1,"tid":2,"n\u0061me":"a\u0062"},
		 {"ph":"\u0042","ts":10,"pid":1,"tid":2,"name":"c"},{"\u0070h":"\u0045","ts":13,"pid":1,"tid":2},
		 {"ph":"M","name":"thread\u005fname","pid":1,"tid":2,"args":{"n\u0061me":"main"}}]
	END
	[ "$(trackway stat --json keys.json | grep -o '"name":"ab"')" = '"name":"ab"' ]
	trackway stat --json keys.json | grep -q '"name":"c",.*"count":1,"open":0,.*"total_ns":3000,'
	trackway convert --to csv keys.json -o - | grep -qx '0,slice-complete,1,2,main,ab,,2000,*'
	trackway check keys.json
}

@test "other JSON is still refused, with what it is" {
	echo '{"name":"package","version":"1.0"}' >package.json
	run --separate-stderr trackway info package.json
	[ "$status" = 2 ]
	[[ "$stderr" == *"package.json: offset 0x0: expected the header of a trace"*"found JSON text"* ]] || fail "$stderr"
}

@test "an array of nothing is a trace of nothing, whatever blanks there are" {
	for text in '[]' '\xef\xbb\xbf [\r\n\t]\n'; do
		printf "$text" >in.json
		[ "$(trackway sql --csv in.json 'select count(*) as n from slice' | tail -n 1)" = 0 ]
		printf "$text" | trackway convert --to fxt - -o - | trackway check -
	done
	for text in '[' '[1]' '[] []' 'x[]'; do
		printf "$text" >in.json
		run trackway stat in.json
		[ "$status" = 2 ] || fail "$text: $output"
	done
}

@test "events behind much else: what devices there are, or how it was recorded" {
	local events='"traceEvents":[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]'
	local much
	much=$(printf '%060000d' 0)
	for head in '"metadata":{"source":"DevTools","x":"'$much$much'"}' '"deviceProperties":["'$much'"]'; do
		echo "{$head,$events}" >late.json
		[ "$(trackway stat --json late.json | grep -c '"name":"a"')" -eq 1 ] || fail "${head:0:30}"
		trackway stat --json - <late.json | grep -q '"name":"a"' || fail "${head:0:30}, from a pipe"
	done
	printf '[{"args":{"x":"%s"},"cat":"c","name":"a","ph":"X","pid":1,"tid":1,"ts":1,"dur":2}]' "$much" >late.json
	trackway stat --json late.json | grep -q '"name":"a"'
	for begin in '' '\xef\xbb\xbf'; do
		printf "$begin%200000s{%s}" '' "$events" >late.json
		[ "$(trackway stat --json late.json | grep -c '"name":"a"')" -eq 1 ] || fail "white space behind '$begin'"
	done
	# Where nothing in them tells what it is, more than this is not looked at.
	printf '{"x":"%01200000d",%s}' 0 "$events" >late.json
	run trackway stat late.json
	[ "$status" -eq 2 ]
	trackway stat --from chrome --json late.json | grep -q '"name":"a"'
	for begin in '[' ' [ ' $'\n{'; do
		printf '%s%1200000s{"ph"' "$begin" '' >late.json
		run trackway stat late.json
		[ "$status" -eq 2 ]
		[[ "$output" == *"found JSON text; --from chrome reads it"* ]] || fail "$begin: $output"
	done
	printf '%1200000s{%s}' '' "$events" >late.json
	run trackway stat late.json
	[ "$status" -eq 2 ]
	[[ "$output" == *"found white space; --from chrome reads JSON that comes later" ]] || fail "$output"
	trackway stat --from chrome --json late.json | grep -q '"name":"a"'
}

@test "flows of the newer kind are events in FXT, and no records of their own" {
	cat >flows.json <<-'END'
		[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":2,"name":"a","bind_id":"0x7","flow_out":true},
		 {"ph":"X","ts":4,"dur":2,"pid":1,"tid":3,"name":"b","bind_id":"0x7","flow_in":true}]
	END
	trackway convert flows.json -o flows.fxt
	trackway check flows.fxt
	trackway dump flows.fxt | grep -o 'event.*\(timestamp\|flow_correlation_id\)=[0-9]*' >out
	[ "$(grep -c 'event.flow-begin .*flow_correlation_id=7' out)" -eq 1 ]
	[ "$(grep -c 'event.flow-end .*flow_correlation_id=7' out)" -eq 1 ]
	trackway check flows.json
	[ "$(trackway dump flows.json | wc -l)" -eq 2 ]
	[ "$(trackway dump --from-time 0 --to-time 9us flows.json | wc -l)" -eq 2 ]
}

@test "a process or a thread whose number a viewer cannot hold gets another: counted" {
	for ids in "1 << 40, 6" "5, 1 << 40"; do
		"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" "$ids" <<-'END'
			import sys
			sys.path.insert(0, sys.argv[1])
			from fxt_odd import *
			open("wide.fxt", "wb").write(words(MAGIC) + thread(1, *eval(sys.argv[2])) + event(0, 0))
		END
		trackway convert wide.fxt -o wide.json 2>losses
		[ "$(cat losses)" = "trackway: wide.json: process or thread id: 1 kept in another form" ] || fail "$ids: $(cat losses)"
	done
}

@test "names that there is no memory to keep as JSON are written each time, and look the same" {
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from fxt_odd import *
		out = [words(MAGIC), provider_info(1, b"p"), thread(1, 5, 6)]
		for n in range(1, 150):
		    out += [string(n, b"\1" * 300 + b"%d" % n)]
		    for category in 0, n:
		        out += [event(0, n, category=category), event(0, n, 2, category=category), event(4, n, 200, category=category),
		                event(1, n, argument(1, 5, name=n), 7, arguments=1, category=category),
		                event(5, n, n, category=category), event(7, n, n, category=category),
		                event(8, n, n, category=category), event(10, n, n, category=category)]
		open("names.fxt", "wb").write(b"".join(out))
	END
	trackway convert names.fxt -o all.json 2>err
	trackway convert --memory 1M names.fxt -o some.json 2>err
	[ ! -s err ]
	cmp all.json some.json
	"$PYTHON" -m json.tool some.json >/dev/null
	[ "$(grep -c '"s":"t"' some.json)" = 298 ]
	[ "$(grep -c '"s":"g"' some.json)" = 298 ]
	[ "$(grep -c '"cat":"async"' some.json)" = 298 ]
}

@test "objects that come and go lose their times in FXT: counted" {
	cat >objects.json <<-'END'
		[{"ph":"N","ts":1,"pid":1,"tid":2,"name":"o","id":"0x1000"},
		 {"ph":"O","ts":2,"pid":1,"tid":2,"name":"o","id":"0x1000","args":{"snapshot":{"x":1}}},
		 {"ph":"D","ts":3,"pid":1,"tid":2,"name":"o","id":"0x1000"}]
	END
	trackway convert objects.json -o objects.fxt 2>losses
	[ "$(cat losses)" = "trackway: objects.fxt: object: 3 kept in another form" ]
	run trackway convert --strict "$DATA/fxt/oneshot_all.fxt" -o same.fxt
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "a counter's values: numbers in strings are numbers, what is none is told" {
	cat >counters.json <<-'END'
		[{"name":"c","ph":"C","ts":1,"pid":1,"args":{"a":"12","b":"-1.5e3","c":7,"text":"idle","none":null,"odd":"12 "}},
		 {"name":"i","ph":"i","ts":2,"pid":1,"tid":1,"args":{"a":"12"}}]
	END
	trackway convert counters.json -o counters.fxt 2>losses
	grep -qx "trackway: counters.fxt: counter value: 3 kept in another form" losses
	[ "$(grep -c 'expected a number, found the string' losses)" -eq 2 ]
	trackway counters --csv counters.fxt | tail -n +2 | cut -d, -f 7,8 >values
	printf '%s\n' a,12 b,-1500 c,7 | diff - values
	trackway dump counters.fxt | grep event.instant | grep -q 'name=a .*type=string value=12'
	# In an archive that has such values already nothing is lost.
	run trackway convert --strict --from-time 0 counters.fxt -o again.fxt
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run trackway convert --strict counters.json -o strict.fxt
	[ "$status" -eq 1 ]
}

@test "memory is bounded: names, nesting and events that no limit was made for" {
	grep -qa __asan_init "$TRACKWAY" && skip "the sanitizer's memory counts too"
	"$PYTHON" - <<'END' >hostile.json
print("[")
for i in range(100000):
    print('{"ph":"i","ts":%d,"name":"name %d","pid":%d,"tid":%d,"args":{"k%d":"%s"}},' % (i, i, i, i, i, "v" * 100))
print("[" * 100000)
print('{"ph":"i","name":"' + "x" * 3000000)
END
	run --separate-stderr bash -c 'ulimit -v 120000; trackway stat --memory 16M hostile.json'
	[ "$status" -le 1 ] || fail "exit status $status: $stderr"
	[[ "$stderr" == *"[chrome.name-limit]"* ]] || fail "$stderr"
}

@test "asynchronous operations whose id is one of all processes end in another" {
	part() { printf '{"ph":"%s","ts":%d,"pid":%d,"tid":1,"cat":"c","name":"%s","id2":{"%s":"0x7"}},' "$@"; }
	(printf '[' && part b 1 1 all global && part b 2 2 own local && part e 4 1 own local && part e 6 2 all global &&
		printf '{"ph":"i","ts":9,"pid":1,"tid":1,"name":"i"}]') >in.json
	trackway convert in.json -o out.json
	trackway convert in.json -o out.fxt 2>err
	grep -q 'global id: 2 kept in another form' err
	[ "$(grep -c '"id2":{"global":"0x7"}' out.json)" = 2 ] || fail "$(cat out.json)"
	for file in in.json out.json; do
		trackway sql --csv $file 'SELECT name, ts, dur FROM async_slice' | tail -n +2 >rows
		printf '%s\n' all,0,5000 own,1000,-1 | diff - <(sort rows)
		trackway diff --json --of async $file $file | grep -o '"name":"[a-z]*"\|"total_ns_a":[0-9]*' >rows
		printf '%s\n' '"name":"all"' '"total_ns_a":5000' | diff - rows
	done
	trackway convert in.json -o out.pftrace
	PYTHONPATH=$TRACKWAY_SOURCE/tests/truth "$PYTHON" - <<-'END'
		import exports, protobuf
		sequence = exports.Perfetto()
		for _, packet in protobuf.fields(open("out.pftrace", "rb").read()):
		    sequence.packet(packet)
		tracks = [uuid for _, uuid, kind, _ in sorted(sequence.events) if kind in (exports.BEGIN, exports.END)]
		assert len(tracks) == 4 and tracks[0] == tracks[3] and len(set(tracks)) == 3, sequence.events
	END
}

@test "more members than are told leave room for what else is odd" {
	"$PYTHON" -c 'import json
events = [{"ph": "i", "s": "g", "name": "a", "pid": 1, "tid": 1, "ts": i, f"member {i}": 1} for i in range(300)]
print(json.dumps(events + [{"ph": "Z", "name": "b", "pid": 1, "tid": 1, "ts": 300}]))' >many.json
	status=0; trackway check --all many.json >findings || status=$?
	[ "$(grep -c 'chrome.member' findings)" -eq 256 ]
	[ "$(grep -c 'chrome.phase-unknown' findings)" -eq 1 ]
}

@test "whole doubles, and texts and bytes that look like numbers, come back as what they are" {
	"$PYTHON" -c 'import json
args = {"three": 3.0, "none": -0.0, "large": 1e20, "int": 3, "hex": "0x1f", "more": "0x", "nan": "NaN",
        "infinity": "-Infinity", "digits": "9007199254740993", "below": "-9007199254740993", "few": "12"}
event = {"ph": "i", "name": "a", "pid": 1, "tid": 1, "ts": 1, "args": args}
series = {"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": 2, "args": {"x": 2.0}}
print(json.dumps([event, series]))' >in.json
	trackway convert in.json -o own.json
	"$PYTHON" - <<-'END'
		import json
		read = [[repr(event["args"]) for event in events if event["ph"] in "iC"]
		        for events in (json.load(open("in.json")), json.load(open("own.json"))["traceEvents"])]
		assert read[0] == read[1], read
	END
	for file in in.json own.json; do
		trackway convert $file -o out.fxt
		trackway dump --json out.fxt >records
		"$PYTHON" - <<-'END'
			import json
			arguments = [(argument["name"], argument["type"]) for line in open("records") if "event." in line
			             for argument in json.loads(line)["arguments"]]
			texts = ("hex", "more", "nan", "infinity", "digits", "below", "few")
			assert arguments == [("three", "double"), ("none", "double"), ("large", "double"), ("int", "int32"),
			                     *((name, "string") for name in texts), ("x", "double")], arguments
		END
	done
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		argument = struct.pack("<QQ", 10 | 2 << 4 | 1 << 16 | 8 << 32, 0x10) # a blob of 8 bytes
		open("bytes.fxt", "wb").write(words(MAGIC) + string(1, b"one") + thread(1, 5, 6) + event(0, 1, argument, arguments=1))
	END
	trackway convert bytes.fxt -o bytes.json
	trackway convert bytes.json --to jsonl | grep -qF '"args":{"one":"1000000000000000"}'
	trackway convert bytes.json -o back.fxt
	trackway dump back.fxt | grep -q 'type=string value=1000000000000000 '
}

@test "Chrome: processes beyond 32 bits do not become one with those that have the numbers they get" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		numbers = [2**63 + 5, 2**32 - 1, 2**63 + 6, 2**32 - 3, 2**32 - 2]
		records = [thread(1 + i, number, 7) + event(0, 1, reference=1 + i, ticks=i) for i, number in enumerate(numbers)]
		open("large.fxt", "wb").write(words(MAGIC) + string(1, b"one") + b"".join(records))
	END
	trackway convert large.fxt -o large.json 2>/dev/null
	"$PYTHON" - <<-'END'
		import json
		pids = {event["pid"] for event in json.load(open("large.json"))["traceEvents"] if event["ph"] == "i"}
		assert len(pids) == 5, pids
	END
}

@test "chrome: a finding has its line and column, and where all is one line its byte" {
	printf '[{"ph":"i","ts":1,"name":"a"},\n  {"ph":"i","ts":"x","name":"b"}]\n' >two.json
	[ "$(trackway check two.json | head -1 | cut -d' ' -f1-2)" = "two.json:2:19: warning:" ] || fail "$(trackway check two.json)"
	trackway check --json two.json | grep -q '"record":33,"at":49,"line":2,"column":19,' || fail "$(trackway check --json two.json)"
	[ "$(trackway sql --csv two.json 'select line, column from finding where record = 33' 2>/dev/null | tail -n 1)" = 2,19 ]
	trackway info two.json 2>&1 >/dev/null | grep -q '^trackway: two.json: line 2, column 19: warning: ' || fail "$(trackway info two.json)"
	tr -d '\n' <two.json >one.json
	run trackway check one.json
	[[ "$output" == "one.json:1:49: warning: "*" (byte 0x30) [chrome.time-wrong]"* ]] || fail "$output"
	[ "$(printf %x "$(grep -bo '"x"' one.json | cut -d: -f1)")" = 2f ] # the quote before it
}
