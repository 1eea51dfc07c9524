#!/usr/bin/env bats
# filters.bats - the filters and --json of the commands that read a trace as a whole: info, check, repair, flame, convert.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

# A field of the only object in a file.
field() { # file expression
	"$PYTHON" -c 'import json, sys; o = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

@test "info: with filters it counts the records that dump shows, and the events that convert writes" {
	local log="$DATA/xray/v5.xray" filter
	for filter in '--thread=102' '--from-time=1us' '--to-time=1us' '--function=#2' '--min-duration=1s' \
		'--from-time=30ns --to-time=100ns --thread=101'; do
		trackway info --json $filter "$log" >info
		[ "$(field info 'o["records"]')" = "$(trackway dump $filter "$log" | grep -c .)" ] || fail "$filter: $(cat info)"
		[ "$(field info 'sum(o["kinds"].values())')" = "$(field info 'o["records"]')" ]
		[ "$(field info 'o["events"]')" = "$(trackway convert --to jsonl $filter "$log" | grep -c .)" ] || fail "$filter"
		[ "$(field info 'sum(t["events"] for t in o["thread_list"])')" = "$(field info 'o["events"]')" ]
		[ "$(field info 'o["bytes"]')" = 926 ]
	done
}

@test "info: a window's span, threads and functions, by hand" {
	trackway info --json --thread 102 --function '#2' "$DATA/xray/v5.xray" >info
	[ "$(field info '[o["start_ns"], o["end_ns"], o["functions"], o["processes"]]')" = "[200, 220, 1, 1]" ]
	[ "$(field info 'o["thread_list"]')" = "[{'process': 100, 'thread': 102, 'events': 2, 'start_ns': 200, 'end_ns': 220, 'thread_name': None, 'process_name': None}]" ]
	trackway info --thread 102 --function '#2' "$DATA/xray/v5.xray" >text
	grep -qx 'part:  *from 200 ns to 220 ns' text
	grep -qx 'functions:  *1' text
	grep -qx '  *102  *100  *2  *200 ns  *220 ns' text
	trackway info --json --thread 102 --function '#2' - <"$DATA/xray/v5.xray" | sed 's/<stdin>//' >piped
	sed "s|\"file\":\"[^\"]*\"|\"file\":\"\"|" info | cmp - piped
}

# Two members of one name: most readers keep the last, and say nothing.
@test "info: the functions that pass a filter are not those that a TraceLog names" {
	trackway info --json --from-time 1us "$DATA/tracelog/kinds.log" >info
	"$PYTHON" - info <<-'END'
		import json, sys
		pairs = json.load(open(sys.argv[1]), object_pairs_hook=lambda pairs: pairs)
		names = [name for name, _ in pairs]
		assert len(set(names)) == len(names), names
		assert dict(pairs)["functions"] == 4 and dict(pairs)["named_functions"] == 5, pairs
	END
}

# A buffer of version 5 whose counter is told, 1000, half a microsecond before its first call.
@test "info: an XRay log starts where all commands count from, also if nothing happens there" {
	"$PYTHON" - >late.xray <<-'END'
		import struct, sys
		def metadata(kind, form, *fields):
		    return struct.pack("<B15s", kind << 1 | 1, struct.pack("<" + form, *fields))
		body = metadata(0, "i", 7) + metadata(4, "QI", 0, 1) + metadata(9, "i", 6) + metadata(2, "HQ", 0, 1000)
		body += struct.pack("<IIII", 1 << 4, 500, 1 << 4 | 1 << 1, 100)
		header = struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 4096, 0)
		sys.stdout.buffer.write(header + metadata(7, "Q", len(body)) + body)
	END
	trackway info --json late.xray >info
	[ "$(field info '[o["clock_start_ns"], o["start_ns"], o["end_ns"]]')" = "[1000, 0, 600]" ] || fail "$(cat info)"
	for filter in '' '--thread=7' '--from-time=500'; do
		trackway info --json $filter late.xray >info
		[ "$(field info '[[t["start_ns"], t["end_ns"]] for t in o["thread_list"]]')" = "[[500, 600]]" ] || fail "$filter: $(cat info)"
	done
	trackway sql --json late.xray 'select ts, dur, start_ts from slice, trace' >info
	[ "$(field info 'list(o.values())')" = "[500, 100, 1000]" ]
}

# Whatever is left out, a trace begins with its first event: 10 us, -10 us, 5 s. The third is of a thread of its own.
@test "times count from the start of the trace, whatever threads are chosen" {
	local start
	for start in 10 -10; do
		echo '[{"ph":"X","ts":'$start',"dur":5,"pid":1,"tid":1,"name":"a"},{"ph":"X","ts":30,"dur":5,"pid":1,"tid":2,"name":"b"}]' >trace.json
		trackway convert --to jsonl --thread 2 trace.json >out
		[ "$(field out '[o["time_ns"], o["name"]]')" = "[$((30000 - start * 1000)), 'b']" ] || fail "$start: $(cat out)"
		trackway convert --to jsonl --thread 2 --from-time 15us trace.json | cmp - out
	done
	# Also where that stands behind the reorder window.
	"$PYTHON" - <<-'END' >late.json
		import json
		slices = [(1, 10 + i) for i in range(60000)] + [(2, 80000), (1, 5)]
		print(json.dumps([{"ph": "X", "ts": ts, "dur": 1, "pid": 1, "tid": tid, "name": "a"} for tid, ts in slices]))
	END
	trackway convert --to jsonl --reorder-window 64K late.json 2>/dev/null | grep '"thread":2' >all
	trackway convert --to jsonl --reorder-window 64K --thread 2 late.json >out
	[ "$(field out 'o["time_ns"]')" = 79995000 ]
	cmp all out
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/uftrace.py" write data
	trackway convert --to jsonl --thread 80 data | head -1 >out
	[ "$(field out '[o["time_ns"], o["name"]]')" = "[200, 'walk(int)']" ] || fail "$(cat out)"
}

# Objects have no time: they are at the start of the trace, also where nothing else passes.
@test "nothing that passes the filters is before the start of the trace" {
	local trace
	for trace in "$DATA"/fxt/oneshot_all.fxt "$DATA"/fxt/streaming.fxt; do
		trackway convert --to jsonl --thread 7 "$trace" >out 2>err
		grep -q '^{"time_ns":0,"kind":"object"' out || fail "$(cat out)"
		grep -v '^{"time_ns":[0-9]' out && fail "$trace"
	done
	true
}

# Kernel objects pass all the same: they name processes and threads.
@test "info: where nothing passes but what is told about objects" {
	run --separate-stderr trackway info --json --thread 7 "$DATA/fxt/streaming.fxt"
	[ "$status" = 0 ] && [[ "$stderr" == *": only objects pass the filters: --thread 7"* ]] || fail "$stderr"
	echo "$output" >info
	[ "$(field info '[o["kinds"], o["thread_list"], o["processes"]]')" = "[{'kernel-object': 1}, [], 0]" ]
	trackway info --json --thread 1001 "$DATA/fxt/oneshot_all.fxt" >info
	[ "$(field info '[t["thread"] for t in o["thread_list"]]')" = "[1001]" ]
}

@test "info, check: where nothing passes it is told" {
	for command in info check; do
		run --separate-stderr trackway $command --thread 7 "$DATA/xray/v5.xray"
		[ "$status" = 0 ] && [[ "$stderr" == *"nothing passes the filters: --thread 7"* ]] || fail "$command: $stderr"
	done
	# All filters, as they could be typed.
	run --separate-stderr trackway stat -t 7 -t 8,9 -f 'a*' --category b --provider '*' --from-time 1us --to-time 2us \
		--min-duration 5 "$DATA/fxt/streaming.fxt"
	[[ "$stderr" == *": no call passes the filters: --thread 7,8,9 --provider * --function a* --category b --from-time 1000ns --to-time 2000ns --min-duration 5ns (trackway info lists the threads)" ]] ||
		fail "$stderr"
}

# What filters do not choose from passes all the same; the second file has calls in one window and switches in another.
@test "where only what no filter is about passes it is told" {
	local all="$DATA/fxt/oneshot_all.fxt" command
	for command in "cut -o out" "convert --to chrome -o out" "merge $all -o out.fxt" info check; do
		trackway $command --thread 7 "$all" 2>err >/dev/null
		grep -qxF "trackway: only objects and blobs pass the filters: --thread 7 (trackway info lists the threads)" err || fail "$command: $(cat err)"
		trackway $command --from-time 9s "$all" 2>err >/dev/null
		grep -qxF "trackway: only objects pass the filters: --from-time 9000000000ns" err || fail "$command: $(cat err)"
		trackway $command --category none "$all" 2>err >/dev/null
		grep -qxF "trackway: only objects and blobs and log records and switches pass the filters: --category none" err || fail "$command: $(cat err)"
		trackway $command --function none "$all" 2>err >/dev/null
		grep -q "no function matches 'none'" err || fail "$command: $(cat err)"
		trackway $command --category cat "$all" 2>err >/dev/null
		! grep -q "pass the filters\|passes" err || fail "$command: $(cat err)"
	done
	for command in stat stacks "flame --folded" graph; do
		trackway $command --to-time 10us "$all" 2>err >/dev/null
		[ "$(cat err)" = "trackway: no call passes the filters: --to-time 10000ns" ] || fail "$command: $(cat err)"
	done
	trackway info --json --to-time 10us "$all" | grep -q '"scheduling.legacy-context-switch":2'
}

# The offsets of the records that check finds fault with.
found() { # options and files
	trackway check --json "$@" | sed 's/.*"record":\([0-9]*\).*/\1/' | tr '\n' ' '
}

@test "check: only the findings of a thread, a window, a function" {
	local log="$DATA/xray/v5.xray"
	[ "$(found "$log")" = "32 250 330 548 628 846 " ]
	[ "$(found --thread 102 "$log")" = "330 548 " ]
	[ "$(found --thread 101 "$log")" = "32 250 628 846 " ]
	[ "$(found --to-time 1us "$log")" = "32 330 " ]
	[ "$(found --from-time 5s "$log")" = "628 846 " ]
	[ "$(found --function '#5' "$log")" = "" ]
	[ "$(found --function '#15:16777215' "$log")" = "250 548 846 " ]
	[ "$(found --thread 102 - <"$log")" = "330 548 " ]
}

# Four events, the last of another thread, and then the rest is missing or damaged at the end of a record.
@test "check: compression that is damaged is told whatever passes" {
	"${PYTHON:-/usr/bin/python3}" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
		import sys, zlib
		sys.path.insert(0, sys.argv[1])
		from fxt_odd import *
		threads = thread(1, 5, 6) + thread(2, 5, 7)
		data = words(MAGIC) + provider_info(1, b'p') + record(1, 0, 10**9) + threads + string(1, b'w')
		data += b''.join(event(0, 1, category=1, reference=reference, ticks=9) for reference in (1, 1, 1, 2))
		packer = zlib.compressobj(wbits=31)
		begin = packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)
		end = packer.compress(data) + packer.flush()
		open('whole.fxt.gz', 'wb').write(begin + end)
		open('cut.fxt.gz', 'wb').write(begin)
		open('damaged.fxt.gz', 'wb').write(begin + b'\xff' * len(end))
	END
	# Blocks that are stored as they are; the last one is not there.
	printf '\x28\xb5\x2f\xfd\x00\x58' >cut.fxt.zst
	gzip -dc cut.fxt.gz 2>gzip.err >data || true
	"${PYTHON:-/usr/bin/python3}" -c '
import sys
data = open("data", "rb").read()
sys.stdout.buffer.write((len(data) << 3).to_bytes(3, "little") + data)' >>cut.fxt.zst
	for file in cut.fxt.gz damaged.fxt.gz cut.fxt.zst; do
		for filter in '' '--thread=6' '--thread=7' '--thread=8' '--to-time=1ns' '--function=w'; do
			run --separate-stderr trackway check $filter $file
			[ "$status" = 1 ] && [[ "$output" == *"[fxt.compression]"* ]] || fail "$file $filter: $status $output"
		done
	done
	trackway check --thread 6 whole.fxt.gz
}

@test "check: the exit status is that of what passes" {
	head -c 500 "$DATA/xray/v5.xray" >cut.xray
	run trackway check cut.xray
	[ "$status" = 1 ]
	run trackway check --to-time 10ns cut.xray
	[ "$status" = 0 ] && [[ "$output" == *"1 note" ]] || fail "$output"
	run trackway check --from-time 10ns cut.xray
	[ "$status" = 1 ]
	[[ "$output" == *"fdr.buffer-truncated"* ]]
	run trackway check --min-duration 1ns --json "$DATA/fxt/streaming.fxt"
	[ "$status" = 0 ]
	[ -z "$output" ]
}

@test "repair: with filters a sound log of what passes is left" {
	local log="$DATA/xray/v5.xray" filter
	head -c 500 "$log" >cut.xray
	for filter in '--thread=101' '--thread=102' '--to-time=1us' '--from-time=100ns'; do
		run --separate-stderr trackway repair $filter cut.xray -o out.xray
		[ "$status" = 1 ] && [[ "$stderr" == *"that pass"*" the filters written"* ]] || fail "$filter: $stderr"
		trackway check out.xray || fail "$filter"
		trackway stat --json $filter cut.xray >expected 2>err || [ $? = 1 ]
		trackway stat --json out.xray >found
		diff expected found || fail "$filter"
	done
	trackway repair --function '#2' cut.xray -o out.xray 2>err || [ $? = 1 ]
	[ "$(trackway dump out.xray | grep -c function_id=)" = 4 ]
	[ "$(trackway dump out.xray | grep -c 'function_id=2 ')" = 4 ]
	trackway repair --json --thread 102 cut.xray -o out.xray >result 2>err || [ $? = 1 ]
	[ "$(field result '[o["events"], o["lost_bytes"], o["bytes_out"]]')" = "[7, 18, $(stat -c %s out.xray)]" ]
	[ "$(field result 'sum(o["kinds"].values())')" = 7 ]
}

@test "repair: the same for other formats" {
	head -c 2900 "$DATA/fxt/oneshot_all.fxt" >cut.fxt
	head -c 30000 "$DATA/tracelog/small-d2-64.log" >cut.log
	printf '\377\377 no line\n' >>cut.log
	for file in cut.fxt cut.log; do
		trackway repair --to-time 30ms "$file" -o "out.$file" 2>err || [ $? = 1 ]
		grep -q 'of the input could not be read' err || fail "$(cat err)"
		trackway check "out.$file" >out || fail "$file: $(cat out)"
	done
}

@test "--min-duration keeps what is open at the end, in profiles as in what is cut out" {
	echo '[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":9,"name":"long"},{"ph":"X","pid":1,"tid":2,"ts":11,"dur":1,"name":"short"},
	{"ph":"B","pid":1,"tid":2,"ts":15,"name":"open"},{"ph":"i","pid":1,"tid":2,"ts":16,"name":"last","s":"t"}]' >in.json
	trackway convert in.json -o in.fxt
	trackway cut --min-duration 5us in.fxt -o part.fxt
	for command in stat stacks graph; do
		trackway $command --json --min-duration 5us in.fxt >found
		trackway $command --json part.fxt >expected
		same expected found $command
		grep -q '"open"' found
	done
	[ "$(trackway stat --json --min-duration 5us in.fxt | grep -o '"name":"[^"]*"' | tr '\n' ' ')" = '"name":"long" "name":"open" ' ]
}

@test "filters that mean nothing for a format are refused" {
	printf 'main;walk 3\n' >a.folded
	for command in info check dump 'stat' 'convert --to csv'; do
		for filter in '--from-time=1us' '--thread=0'; do
			run --separate-stderr trackway $command $filter a.folded
			[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] || fail "$command $filter: $status $stderr"
		done
	done
	run --separate-stderr trackway repair --thread 3 "$DATA/chrome/phases.json" -o out.json
	[ "$status" = 2 ]
	[[ "$stderr" == *"/phases.json: no repair for a trace of format chrome" ]]
	run --separate-stderr trackway check --provider a "$DATA/xray/v5.xray"
	[ "$status" = 2 ]
	[[ "$stderr" == *"has no providers to choose from" ]]
	mkfifo pipe
	run --separate-stderr timeout 10 trackway info --thread 1 pipe
	[ "$status" = 2 ]
	[[ "$stderr" == *"give it as standard input"* ]]
}

@test "dump: of folded stacks only those that a function is in" {
	printf 'a;b 1\nc 2\nb;c 3\n' >a.folded
	[ "$(trackway dump --json --function b a.folded | sed 's/.*"stack":"\([^"]*\)".*/\1/' | tr '\n' ' ')" = "a;b b;c " ]
	[ "$(trackway dump --function c - <a.folded | grep -c .)" = 2 ]
}

@test "flame: the graph as JSON has the stacks of the folded one" {
	trackway flame --folded "$DATA/xray/v5.xray" >folded
	trackway flame --json "$DATA/xray/v5.xray" >nodes
	"$PYTHON" - nodes >stacks <<-'END'
		import json, sys
		nodes = [json.loads(line) for line in open(sys.argv[1])]
		for i, node in enumerate(nodes):
		    assert node["id"] == i
		    assert all(nodes[c]["parent"] == i and nodes[c]["depth"] == node["depth"] + 1 for c in node["children"])
		    assert node["total_ns"] == node["self_ns"] + sum(nodes[c]["total_ns"] for c in node["children"])
		    path, n = [], node
		    while n["parent"] is not None:
		        path, n = [n["name"]] + path, nodes[n["parent"]]
		    if node["self_ns"]:
		        print(";".join(path), node["self_ns"])
	END
	diff folded stacks
	trackway flame --json --per-thread --function '#2' "$DATA/xray/v5.xray" | grep -c '"name":"#2"' | grep -qx 2
	run --separate-stderr trackway flame --json --svg "$DATA/xray/v5.xray"
	[ "$status" = 2 ]
	[[ "$stderr" == *"only one of --"* ]]
}

@test "convert, cut: what was written and lost, as JSON" {
	trackway convert --json "$DATA/xray/v5.xray" -o out.xray --to xray-basic >result
	[ "$(field result 'o["events"]')" = 48 ]
	[ "$(field result '[(l["what"], l["left_out"]) for l in o["losses"]]')" = "[('instant', 6)]" ]
	[ "$(field result '[o["format"], o["output"], o["to"], o["bytes_out"]]')" = "['xray-fdr', 'out.xray', 'xray-basic', $(stat -c %s out.xray)]" ]
	trackway convert --json --format-version 4 "$DATA/xray/v5.xray" -o out.xray >result
	[ "$(field result '[o["records"], o["losses"]]')" = "[72, []]" ]
	trackway cut --json --thread 102 "$DATA/xray/v5.xray" -o out.xray >result
	[ "$(field result '[o["events"], o["losses"]]')" = "[16, []]" ]
	for command in 'convert --to csv' 'cut --thread 1 -o -'; do
		run --separate-stderr trackway $command --json "$DATA/xray/v5.xray"
		[ "$status" = 2 ]
		[[ "$stderr" == *"would both write to standard output"* ]]
	done
}

@test "convert: what a target has no choice of is refused, not left aside" {
	local option to
	while read -r to option; do
		run --separate-stderr trackway convert --to $to $option "$DATA/fxt/oneshot_all.fxt" -o out
		[ "$status" = 2 ] && [[ "$stderr" == *"${option%%=*}: $to has no "* ]] && [ ! -e out ] || fail "$to $option: $stderr"
	done <<-'END'
		csv --format-version=3
		fxt --format-version=1
		ctf --byte-order=big
		chrome --byte-order=little
		fxt --buffer-size=64K
		xray-basic --buffer-size=64K
	END
	run --separate-stderr trackway convert --to chrome --weight calls "$DATA/fxt/oneshot_all.fxt" -o out
	[ "$status" = 2 ] && [[ "$stderr" == *"--weight is for folded stacks"* ]] && [ ! -e out ] || fail "$stderr"
	trackway convert --to fxt --byte-order big "$DATA/fxt/oneshot_all.fxt" -o out
	head -c 8 out | od -An -tx1 | grep -qx ' 00 16 54 78 46 04 00 10'
}

@test "check: findings beyond those that are kept are told, not guessed" {
	"$PYTHON" - >exits.xray <<-'END'
		import struct, sys
		count = 100100  # exits without entries, 10 ns apart
		body = struct.pack("<Bi11xBQI3xBi11xBHQ5x", 1, 101, 9, 10, 5, 0x13, 1, 5, 0, 1000)
		body += struct.pack("<II", 7 << 4 | 2, 30) * count
		header = struct.pack("<HHIQQ8x", 5, 1, 3, 3000000000, 1 << 40)
		sys.stdout.buffer.write(header + struct.pack("<BQ7x", 0xf, len(body)) + body)
	END
	run --separate-stderr trackway check --to-time 95ns exits.xray
	[ "$status" = 0 ] && [[ "$output" == *": 9 warnings" ]] || fail "$output"
	[[ "$stderr" == *"100 findings further on"*"(--all looks at more)" ]] || fail "$stderr"
	run --separate-stderr trackway check --all --from-time 1ms exits.xray
	[[ "$output" == *": 101 warnings" ]] && [ -z "$stderr" ] || fail "$output $stderr"
}

# The instant at 1000 ns starts the trace. The complete event goes on from 100 to 2100 ns after that, as does the slice of
# two records on the other thread to 1000.
@test "dump, info, check: a record that is a whole slice is shown where the slice reaches into the window, or out of it" {
	"$PYTHON" - >long.fxt <<-'END'
		import struct, sys
		def word(*words): return struct.pack("<%dQ" % len(words), *words)
		def event(kind, time, thread, *more):
		    body = word(time, 1, thread, *more)
		    return word(4 | (1 + len(body) // 8) << 4 | kind << 16 | 1 << 48) + body
		sys.stdout.buffer.write(
		    word(0x0016547846040010, 1 | 2 << 4, 10**9, 2 | 2 << 4 | 1 << 16 | 2 << 32, 0xff41) +  # string 1: "A", \xff
		    event(0, 1000, 2) + event(4, 1100, 2, 3100) + event(2, 1100, 3) + event(3, 2000, 3) + event(0, 4000, 2))
		wrong = word(4 | 6 << 4 | 4 << 16 | 0x8001 << 48, 1100, 1, 2, 0xff, 3100)  # its name is \xff
		open("wrong.fxt", "wb").write(word(0x0016547846040010, 1 | 2 << 4, 10**9) + event(0, 1000, 2) + wrong + event(0, 4000, 2))
	END
	cat >long.json <<-'END'
		[{"ph":"i","ts":1,"pid":1,"tid":2,"name":"a","s":"t"},
		{"ph":"X","ts":1.1,"dur":2,"pid":1,"tid":2,"name":"a"},
		{"ph":"B","ts":1.1,"pid":1,"tid":3,"name":"a"},
		{"ph":"E","ts":2,"pid":1,"tid":3},
		{"ph":"i","ts":4,"pid":1,"tid":2,"name":"a","s":"t"}]
	END
	kinds() { # options: the kinds that dump shows, which info counts
		trackway dump --json "$@" >rows
		[ "$(trackway info --json "$@" | grep -o '"records":[0-9]*')" = "\"records\":$(grep -c . rows)" ] || echo "other numbers"
		grep -oE '(instant|complete|duration-begin|duration-end)"' rows | tr -d '"' | tr '\n' ' '
	}
	for file in long.fxt long.json; do
		[ "$(kinds --to-time 500 $file)" = "instant complete duration-begin " ] || fail "$file"
		[ "$(kinds --from-time 500 $file)" = "complete duration-end instant " ] || fail "$file"
		[ "$(kinds --from-time 300 --to-time 600 $file)" = "complete " ] || fail "$file"
		[ "$(kinds --from-time 2100 $file)" = "instant " ] || fail "$file"
	done
	for window in '--to-time 500' '--from-time 500' '--from-time 300 --to-time 600'; do
		trackway check $window wrong.fxt | grep -q '^wrong.fxt:0x38: .*fxt.utf8' || fail "$window"
	done
	trackway check --from-time 2100 wrong.fxt | grep -q ': fine$'
}

# Trackway's own JSON says so of slices that were cut; others may have an argument of the name, too.
@test "dump, info: a file that calls its slices clipped has records all the same" {
	cat >cut.json <<-'END'
		{"otherData":{"writer":"trackway 0.1.0"},"traceEvents":[
		{"ph":"X","ts":1,"dur":1,"pid":1,"tid":2,"name":"a","args":{"clipped":true}},
		{"ph":"B","ts":3,"pid":1,"tid":2,"name":"a","args":{"clipped":true}},
		{"ph":"E","ts":4,"pid":1,"tid":2,"args":{"clipped":true}},
		{"ph":"X","ts":5,"dur":1,"pid":1,"tid":2,"name":"b","args":{"clipped":true}}]}
	END
	[ "$(trackway dump --function a cut.json | grep -c .)" = 3 ]
	trackway info --json --from-time 1us cut.json >info
	[ "$(field info '[o["records"], o["events"]]')" = "[3, 3]" ]
}

@test "a glob's ? and [] stand for a character of UTF-8, in whatever locale; bytes that are none match, too" {
	"$PYTHON" - >names.json <<-'END'
		import sys
		for name in "\u65e5\u672c", "\u00e9", "a":
		    sys.stdout.buffer.write(b'{"ph":"X","ts":1,"dur":1,"pid":1,"tid":2,"name":"%s","cat":"%s"}\n' % ((name.encode(),) * 2))
		sys.stdout.buffer.write(b'{"ph":"X","ts":1,"dur":1,"pid":1,"tid":2,"name":"q\xff","cat":"x"}\n')
	END
	count() { trackway stat --json "$@" names.json 2>err | grep -c '"name"' || true; }
	for locale in C C.UTF-8 nowhere; do
		export LC_ALL=$locale
		[ "$(count --function '?')" = 2 ]
		[ "$(count --category $'\xe6\x97\xa5?')" = 1 ]
		[ "$(count --function $'[\xe6\x97\xa5\xe6\x9c\x88]\xe6\x9c\xac')" = 1 ]
		[ "$(count --function '*')" = 4 ]
		[ "$(count --function 'q*')" = 1 ]
	done
}

# In a window from 3 to 6 us: of a (0..40), b (1..2), c (5..9), d (from 4 on), e (6..7).
@test "stat --by async: of operations that reach out of a window the part inside counts" {
	"$PYTHON" - >a.json <<-'END'
		import json
		at = lambda phase, ts, name: {"ph": phase, "ts": ts, "pid": 1, "tid": 1, "cat": "c", "name": name, "id": ord(name)}
		print(json.dumps([at("b", 0, "a"), at("b", 1, "b"), at("e", 2, "b"), at("b", 4, "d"), at("b", 5, "c"), at("b", 6, "e"),
		                  at("e", 7, "e"), at("e", 9, "c"), at("e", 40, "a")]))
	END
	trackway convert a.json -o a.fxt 2>/dev/null
	for t in json fxt; do
		trackway stat --by async --json --from-time 3us --to-time 6us a.$t | "$PYTHON" -c '
import json, sys
for row in sorted(map(json.loads, sys.stdin), key=lambda row: row["name"]):
    print(row["name"], row["count"], row["open"], row["total_ns"])' >rows
		printf '%s\n' 'a 1 0 3000' 'c 1 0 1000' 'd 1 1 2000' | diff - rows || fail $t
	done
}
