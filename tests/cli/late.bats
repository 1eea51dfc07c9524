#!/usr/bin/env bats
# late.bats - events that stand late in their file: written thread by thread, at the end of what lasts long, or last of all
# though they are the first. What every command says is what it says of the same events in order.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

export PYTHON=${PYTHON:-/usr/bin/python3}

# Three threads, one behind the other, with counters, nested slices, the outer ones written after those inside, begins and
# ends, and an event that is the first of all at the end of the file. Beside it the same in order, the outer first.
make_traces() {
	"$PYTHON" - <<-'END'
		import json, struct
		late, inner = [], 7000
		for thread in range(1, 4):
		    for outer in range(2):
		        begin = 1000 + outer * 200000
		        for i in range(inner):
		            ts = begin + 10 + i * 25 + thread
		            late.append({"ph": "X", "name": "in", "pid": 1, "tid": thread, "ts": ts, "dur": 8, "args": {"i": i}})
		            if i % 100 == 0:
		                late.append({"ph": "C", "name": "level", "pid": 1, "tid": thread, "ts": ts + 0.5, "args": {"v": i}})
		        late.append({"ph": "X", "name": "out", "pid": 1, "tid": thread, "ts": begin, "dur": 190000})
		        late.append({"ph": "E", "name": "pair", "pid": 1, "tid": thread, "ts": begin + 195000})
		        late.append({"ph": "B", "name": "pair", "pid": 1, "tid": thread, "ts": begin + 191000})
		late.append({"ph": "i", "s": "t", "name": "first", "pid": 1, "tid": 2, "ts": 250.125})
		first = [e for e in late if e["name"] == "first"]
		for name, events in ("late.json", late), ("order.json", sorted(late, key=lambda e: e["ts"])):
		    with open(name, "w") as out:
		        out.write("[" + ",\n".join(json.dumps(e) for e in events) + "]\n")

		def words(*values):
		    return struct.pack(f"<{len(values)}Q", *values)

		# The same events as records of an archive of 10^9 ticks a second: magic number, provider, clock, strings, threads.
		names = ["t", "in", "out", "pair", "level", "first", "i", "v"]
		def record(e):
		    ticks, name = round(e["ts"] * 1000), names.index(e["name"]) + 1
		    values = [(names.index(k) + 1, v) for k, v in e.get("args", {}).items()]
		    more = [word for key, value in values for word in (4 | 2 << 4 | key << 16, value)]
		    more += [ticks + e["dur"] * 1000] if e["ph"] == "X" else [e["tid"]] if e["ph"] == "C" else []
		    header = 4 | 2 + len(more) << 4 | "iCBEX".index(e["ph"]) << 16 | len(values) << 20 | e["tid"] << 24
		    return words(header | 1 << 32 | name << 48, ticks, *more)
		head = words(0x0016547846040010, 2 << 4 | 1 << 16 | 1 << 20 | 1 << 52) + b"p".ljust(8, b"\0")
		head += words(1 | 2 << 4, 10**9)
		for i, name in enumerate(names, 1):
		    head += words(2 | 2 << 4 | i << 16 | len(name) << 32) + name.encode().ljust(8, b"\0")
		for thread in range(1, 4):
		    head += words(3 | 3 << 4 | thread << 16, 1, thread)
		for name, events in ("late.fxt", late), ("order.fxt", sorted(late, key=lambda e: e["ts"])):
		    with open(name, "wb") as out:
		        out.write(head + b"".join(map(record, events)))
	END
}

# Rows without where they stood in the file.
rows() { # trace options...
	trackway convert --to jsonl --reorder-window 64K "$@" 2>err | sed -E 's/,"offset":[0-9]+//; s/"offset":[0-9]+,//'
	[ ! -s err ] || fail "$(cat err)"
}

in_order() { # extension
	local ext=$1
	rows order.$ext >expected
	[ "$(head -1 expected | grep -c '"time_ns":0,.*"first"')" = 1 ] || fail "$(head -1 expected)"
	[ "$(wc -l <expected)" = $((3 * 2 * (7000 + 70 + 3) + 1)) ]
	gzip -kf late.$ext
	rows late.$ext | cmp - expected
	rows late.$ext.gz | cmp - expected
	cat late.$ext | rows - | cmp - expected
	rows --memory 1M late.$ext | cmp - expected # many runs
}

same_said() { # extension
	local ext=$1
	local window=(--reorder-window 64K)
	# Of each thread: two outer slices of 190 ms, and in each 7,000 of 8 us.
	trackway stat "${window[@]}" --json late.$ext 2>err >stat
	[ ! -s err ] || fail "$(cat err)"
	grep -q '"name":"out",.*"count":6,.*"total_ns":1140000000,"self_ns":804000000,' stat || fail "$(cat stat)"
	grep -q '"name":"in",.*"count":42000,.*"total_ns":336000000,"self_ns":336000000,' stat || fail "$(cat stat)"
	grep -q '"name":"pair",.*"count":6,"open":0,.*"total_ns":24000000,' stat || fail "$(cat stat)"
	gzip -kf late.$ext
	trackway stat "${window[@]}" --json late.$ext.gz | cmp - stat
	local name
	for name in late order; do
		trackway info --json $name.$ext | grep -o '"clock_start_ns":[0-9]*,' >$name.said
		trackway check "${window[@]}" $name.$ext 2>&1 | sed -E 's/(late|order)\.|:0x[0-9a-f]+//g' >>$name.said || true
		trackway counters "${window[@]}" --csv $name.$ext >>$name.said
		trackway stacks "${window[@]}" $name.$ext >>$name.said
		trackway sql "${window[@]}" --csv $name.$ext 'select count(*), min(ts), max(ts + dur), sum(dur), sum(depth),
			(select start_ts from trace), (select max(value) from counter) from slice' >>$name.said
		trackway cut "${window[@]}" --from-time 1.1ms --to-time 1.3ms $name.$ext -o cut.$ext
		rows cut.$ext >>$name.said
		trackway merge "${window[@]}" $name.$ext order.$ext -o merged.$ext
		rows merged.$ext >>$name.said
		trackway convert "${window[@]}" $name.$ext -o $name.csv 2>>$name.said
		cat $name.csv >>$name.said
		trackway convert "${window[@]}" $name.$ext --to ctf -o $name.ctf 2>>$name.said
	done
	diff -q late.said order.said || fail "$(diff -a late.said order.said | head -5 | cut -c 1-300)"
	grep -q '"clock_start_ns":250125,' late.said
	for name in late.ctf/*; do
		cmp "$name" "order.ctf/${name##*/}"
	done
}

@test "chrome: events that come later than the window are in order, from a file, a pipe and compressed" {
	make_traces
	in_order json
}

@test "fxt: events that come later than the window are in order, from a file, a pipe and compressed" {
	make_traces
	in_order fxt
}

@test "chrome: every command says the same of events in order and late" {
	make_traces
	same_said json
}

@test "fxt: every command says the same of events in order and late" {
	make_traces
	same_said fxt
}

# One slice around all others, which stands last in the file.
@test "a profile of a pipe is that of the file, however late an event comes, whatever --memory and the window are" {
	"$PYTHON" - <<-'END'
		with open("parent.json", "w") as out:
		    out.write("[")
		    for i in range(80000):
		        out.write('{"name":"kid","ph":"X","ts":%d,"dur":4,"pid":1,"tid":1,"cat":"a-long-category"},\n' % (10 * i))
		    out.write('{"name":"parent","ph":"X","ts":0,"dur":801000,"pid":1,"tid":1}]')
	END
	trackway convert parent.json -o parent.fxt
	local name
	for name in parent.json parent.fxt; do
		cat $name | trackway stat --csv --reorder-window 64M --memory 32M - | cut -d, -f1-7 >out
		printf '%s\n' name,id,count,open,unwound,total_ns,self_ns parent,0,1,0,0,801000000,481000000 \
			kid,0,80000,0,0,320000000,320000000 | diff - out
		cat $name | trackway flame --folded - -o - >out
		printf '%s\n' "parent 481000000" "parent;kid 320000000" | diff - out
	done
}

@test "a place for the temporary file that is none is told" {
	make_traces
	run --separate-stderr env TMPDIR=/nonexistent trackway convert --reorder-window 64K --to csv late.json -o out.csv
	[ "$status" = 2 ]
	[[ "$stderr" == *"temporary file in /nonexistent: No such file or directory"* ]] || fail "$stderr"
}

# Samples, CPU usages and compilations of three threads, one thread behind the other; beside it the same by time.
make_logs() {
	"$PYTHON" - <<-'END'
		late = []
		for thread in range(1, 4):
		    for i in range(6000):
		        late.append((10 + 2 * i, f"thr cpu 0x{thread:08x} {10 + 2 * i} {i % 7 + 1}"))
		        late.append((10 + 2 * i, f"sam str 0x{thread:08x} {10 + 2 * i} 1 {min(i, 1)}:{min(i, 1)}" + " 0x1" * (i == 0)))
		    for i in range(500):
		        function = f"0x{0xB6E00000 + 500 * thread + i:08X}"
		        late.append((11 + 4 * i, f"jit cms 0x{thread:08x} {11 + 4 * i} {function}"))
		        late.append((13 + 4 * i, f"jit cmf 0x{thread:08x} {13 + 4 * i} {function} 0x00000000"))
		head = ['fun nam 0x00000001 "A::b" "void" "()"']
		head += [f"thr crt 0x{0x1000 * thread:08X} 0x{thread:08x}" for thread in range(1, 4)]
		for name, lines in ("late.log", late), ("order.log", sorted(late, key=lambda line: line[0])):
		    with open(name, "w") as out:
		        out.write("\n".join(head + [line for _, line in lines]) + "\n")
	END
}

@test "tracelog: events that come later than the window are in order, and the window is as large as was asked for" {
	make_logs
	rows order.log >expected
	[ "$(grep -c '"kind":"cpu-sample"' expected)" = 18000 ] || fail "$(head -3 expected)"
	rows late.log | cmp - expected
	cat late.log | rows - | cmp - expected
	rows --memory 4M --reorder-window 8M late.log | cmp - expected
	local name
	for name in late order; do
		trackway sql --reorder-window 64K --csv $name.log 'select count(*), min(ts), max(ts), sum(value) from counter' >$name.said
		trackway cpu --reorder-window 64K $name.log >>$name.said 2>&1
		trackway stat --reorder-window 64K --weight calls $name.log >>$name.said 2>&1
		trackway cut --reorder-window 64K --from-time 1002ms --to-time 2002ms $name.log -o cut.log >>$name.said 2>&1
		# The setting that tells the end of the part stands where the log first goes on behind it.
		[ "$(rows cut.log | grep -c PartEndMs)" = 1 ] || fail "$(head -3 cut.log)"
		rows cut.log | grep -v PartEndMs >>$name.said
	done
	diff late.said order.said || fail
	grep -q 'there is no call in the trace, but it has compilations (trackway jit), ' late.said || fail "$(tail -3 late.said)"
	cat late.log | trackway stat --weight calls --reorder-window 64K - 2>err >out
	[ "$(cat err)" = "trackway: there is no call in the trace" ] || fail "$(cat err)"
	trackway stat --weight calls --reorder-window 64K late.log | diff - out
}

@test "chrome: a trace begins with its earliest event, a sample or a memory dump, for all commands" {
	local slices='{"name":"s","ph":"X","ts":1000,"dur":100,"pid":1,"tid":1},{"name":"t","ph":"X","ts":1200,"dur":100,"pid":1,"tid":1}'
	echo "{\"traceEvents\":[$slices],\"samples\":[{\"ts\":500,\"tid\":1,\"pid\":1,\"weight\":1,\"sf\":1}],\"stackFrames\":{\"1\":{\"name\":\"f\"}}}" >samples.json
	echo "[$slices,{\"ph\":\"v\",\"ts\":500,\"pid\":1,\"id\":\"1\",\"name\":\"dump\"}]" >dump.json
	echo "[$slices,{\"ph\":\"P\",\"name\":\"Profile\",\"id\":\"1\",\"pid\":1,\"tid\":1,\"ts\":900,\"args\":{\"data\":{\"startTime\":400}}},
		{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"id\":\"1\",\"pid\":1,\"tid\":2,\"ts\":950,\"args\":{\"data\":{\"cpuProfile\":
		{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"}}],\"samples\":[1]},\"timeDeltas\":[100]}}}]" >profile.json
	local name
	for name in samples dump profile; do
		trackway info --json $name.json | grep -q '"clock_start_ns":500000,' || fail "$(trackway info --json $name.json)"
		[ "$(trackway sql --csv $name.json "select ts from slice where name = 's'" | tail -1)" = 500000 ] || fail $name
		trackway cut --from-time 450us --to-time 610us $name.json -o cut.json
		grep -q '"name":"s"' cut.json || fail "$(cat cut.json)"
		trackway merge --json $name.json $name.json -o merged.json | grep -q '"shift_ns":-500000,'
	done
}

# dur.json: a slice of 100 us from 0 on, and another in it. gpu_overlap.fxt: the last to end begins before others.
@test "a trace ends where its last slice ends, for info and for SQL" {
	local file
	for file in chrome/dur.json chrome/p432.json fxt/gpu_overlap.fxt tracelog/t17-jit-nested.log; do
		trackway sql --csv "$DATA/$file" 'select end_ts - start_ts from trace' | tail -n 1
		trackway info --json "$DATA/$file" | grep -o '"end_ns":[0-9]*' | head -n 1
	done >found
	printf '%s\n"end_ns":%s\n' 100000 100000 100000 100000 2600 2600 50000000 50000000 | diff - found
	[ "$(trackway sql --csv "$DATA/chrome/dur.json" 'select * from trace_bounds' | tail -n 1)" = 0,100000 ]
}

# In the file the slices x and y nest; in the order of time y begins first, and ends below x.
@test "check: durations that stand out of order are matched in the order of time" {
	"$PYTHON" - <<-'END'
		import array
		words = array.array("Q", [0x0016547846040010, 2 | 2 << 4 | 1 << 16 | 1 << 32, ord("x"), 2 | 2 << 4 | 2 << 16 | 1 << 32,
		                          ord("y"), 3 | 3 << 4 | 1 << 16, 1, 1])
		for kind, time, name in (2, 30, 1), (2, 10, 2), (3, 40, 2), (3, 50, 1):
		    words.extend((4 | 2 << 4 | kind << 16 | 1 << 24 | name << 48, time))
		with open("crossed.fxt", "wb") as out:
		    words.tofile(out)
	END
	trackway check crossed.fxt >out
	grep -q '^crossed.fxt:0x60: warning: .*\[fxt.end-mismatched\]$' out
	grep -q '^crossed.fxt:0x70: warning: .*\[fxt.end-without-begin\]$' out
}
