#!/usr/bin/env bats
# exports.bats - what convert writes for other tools: read by the formats' documents, and by the tools where Debian has them.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

export PYTHON=${PYTHON:-/usr/bin/python3}
TRUTH=$TRACKWAY_SOURCE/tests/truth

# Traces of all formats with slices that nest as they should, with some that do not, and with some that nothing ends.
traces() {
	PYTHONPATH=$TRUTH "$PYTHON" -c 'import fxt_odd, sys; sys.stdout.buffer.write(fxt_odd.unfinished(True))' >unfinished.fxt
	grep -v '"ph": "P"' "$DATA"/chrome/phases.json >phases.json # samples are no slices
	ls "$DATA"/xray/v5.xray "$DATA"/xray/be-msb-v5.xray "$DATA"/xray/basic-v3.xray "$DATA"/xray/v4-typed.xray \
		"$DATA"/fxt/oneshot_all.fxt "$DATA"/fxt/streaming.fxt phases.json unfinished.fxt
}

# The slices of each trace are those of stat.
agrees() { # format
	local trace
	for trace in $(traces); do
		trackway stat --json "$trace" >stat.json || [ $? = 1 ]
		trackway convert --to "$1" "$trace" -o out 2>losses || [ $? = 1 ]
		[ -s stat.json ] || continue
		"$PYTHON" "$TRUTH/exports.py" "$1" out stat.json || fail "$trace"
	done
}

@test "perfetto: every number is told before it is used, and the slices are those of stat" { agrees perfetto; }

@test "perfetto: protoc knows every field" {
	local trace
	for trace in $(traces); do
		trackway convert "$trace" -o out.pftrace 2>losses || [ $? = 1 ]
		protoc --decode=Trace --proto_path="$TRUTH" perfetto.proto <out.pftrace >out.txt || fail "$trace"
		# What it does not know stands there by its number.
		! grep -nE '^ *[0-9]+[:{ ]' out.txt || fail "$trace"
		[ "$(grep -c '^packet' out.txt)" -gt 1 ]
	done
}

@test "speedscope: opens and closes match in order, and the slices are those of stat" { agrees speedscope; }

@test "speedscope: what differs in the address alone is one frame" {
	trackway convert --to speedscope "$DATA/tracelog/kinds.log" >out.json 2>losses
	grep -o '"frames":.*' out.json | grep -o '{"name":[^}]*}' | sort | uniq -d >twice
	[ ! -s twice ] || fail "$(cat twice)"
}

@test "pprof: stacks of threads, and the functions are those of stat" { agrees pprof; }

@test "callgrind: callgrind_annotate's totals, and the functions are those of stat" { agrees callgrind; }

# An xtrace has no clock.
@test "what times of calls are where they are instructions: not nanoseconds" {
	"$PYTHON" "$TRUTH/xtrace.py" --threads 2 --turns 40 set >facts.json
	trackway stat --json set >stat.json
	trackway convert --to pprof set -o out.pb.gz
	"$PYTHON" - <<-'END'
		import gzip, json, subprocess
		text = subprocess.run(["protoc", "--decode_raw"], input=gzip.open("out.pb.gz").read(), stdout=subprocess.PIPE, check=True).stdout
		lines = text.decode().splitlines()
		strings = [line[4:-1] for line in lines if line.startswith('6: "')]
		types = [(strings[int(lines[i + 1].split()[1])], strings[int(lines[i + 2].split()[1])])
		         for i, line in enumerate(lines) if line == "1 {"]
		assert types == [("calls", "count"), ("instructions", "count")], types
		assert not any(line.startswith("10: ") for line in lines)  # no nanoseconds either
	END
	total=$("$PYTHON" -c 'import json; print(sum(json.loads(line)["self"] for line in open("stat.json")))')
	trackway convert --to callgrind set -o out.callgrind
	grep -qx 'events: Ir' out.callgrind
	grep -qx "totals: $total\|summary: $total" out.callgrind
	trackway convert --to speedscope set | grep -q '"unit":"none"'
	[ "$(trackway convert --to folded set | awk '{ n += $NF } END { print n }')" = "$total" ]
	[ "$(trackway convert --to folded --weight calls set | awk '{ n += $NF } END { print n }')" = "$total" ]
}

@test "folded: names with what means something in a line" {
	printf '[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":9,"name":"a;b\\tc\\nd\\re\\u0001f\\u007fg"},{"ph":"X","pid":1,"tid":2,"ts":2,"dur":4,"name":"h 1"}]' >in.json
	for command in "flame --folded" "convert --to folded"; do
		trackway $command in.json | diff - <(printf '%s\n' 'a:b c d e f g 5000' 'a:b c d e f g;h 1 4000') || fail "$command"
	done
}

@test "folded: as flame --folded has it" {
	local trace
	for trace in $(traces) "$DATA/tracelog/kinds.log"; do
		trackway flame --folded "$trace" 2>err | LC_ALL=C sort >flame.txt || [ $? = 1 ]
		trackway convert --to folded "$trace" 2>err | LC_ALL=C sort >folded.txt || [ $? = 1 ]
		diff flame.txt folded.txt || fail "$trace"
	done
}

@test "pprof is compressed whatever its name, and once" {
	trackway convert --to pprof "$DATA/xray/v1.xray" | gzip -dc >plain
	trackway convert "$DATA/xray/v1.xray" -o out.pb.gz
	gzip -dc out.pb.gz | cmp - plain
	trackway convert "$DATA/xray/v1.xray" -o out.pprof
	gzip -dc out.pprof | cmp - plain
	trackway convert "$DATA/xray/v1.xray" -o out.pprof.zst
	zstd -dcq out.pprof.zst | cmp - plain
}

@test "firefox: every column is as long as its table, and the slices are those of stat" { agrees firefox; }

@test "samples: what stacks weigh in profiles is what stat says" {
	local log="$DATA/tracelog/small-d2-64.log" weight
	for weight in samples cpu wall bytes allocations; do
		trackway stat --json --weight $weight "$log" >$weight.json
	done
	trackway convert "$log" -o out.speedscope.json
	trackway convert "$log" -o out.pprof
	trackway convert "$log" -o out.callgrind
	trackway convert "$log" -o out.firefox.json
	"$PYTHON" "$TRUTH/exports_samples.py"
}

@test "csv: the rows of Python's reader, and the slices are those of stat" { agrees csv; }

@test "jsonl: an object a line, and the slices are those of stat" { agrees jsonl; }

@test "ctf: babeltrace2 reads it to the last event, and the slices are those of stat" {
	local trace
	for trace in $(traces); do
		rm -rf out
		trackway stat --json "$trace" >stat.json || [ $? = 1 ]
		trackway convert --to ctf "$trace" -o out
		[ "$(ls out)" = "metadata"$'\n'"stream" ]
		"$PYTHON" "$TRUTH/exports.py" ctf out stat.json || fail "$trace"
	done
}

@test "ctf: babeltrace2 shows of every event what its row tells, and no more" {
	local trace
	# Events have 32 bits of the time: as much between two of them as these hold, and more; and numbers that need 64 bits.
	PYTHONPATH=$TRUTH "$PYTHON" - <<-'END'
		import itertools
		from fxt_odd import *
		gaps = [0, 10**9, (1 << 32) - 1, (1 << 32) - 1, 1 << 32, 0, 5, 10**15]
		data = MAGIC_RECORD + record(1, 0, 10**9) + string(1, b"one") + string(2, "two\u2028\u0085".encode()) + thread(1, 7, 8) + thread(2, 1 << 40, 9)
		for number, ticks in enumerate(itertools.accumulate(gaps)):
		    said = [argument(2, number)] * (number % 3)
		    data += event(0, 1 + number // 4, *said, category=number % 2, arguments=len(said), reference=1 + number % 3 % 2, ticks=ticks)
		open("gaps.fxt", "wb").write(data)
		open("odd.fxt", "wb").write(archive())
	END
	for trace in $(traces) "$DATA"/tracelog/*.log gaps.fxt odd.fxt; do
		rm -rf out
		trackway convert --to ctf "$trace" -o out 2>err || [ $? = 1 ]
		trackway convert --to jsonl "$trace" -o out.jsonl 2>err || [ $? = 1 ]
		"$PYTHON" "$TRUTH/ctf.py" out out.jsonl || fail "$trace"
	done
}

# Of an object in a document.
member() {
	"$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]].get(sys.argv[3]))' "$@"
}

@test "the time of day goes wherever there is a place for it" {
	"$PYTHON" - <<-'END'
		import struct
		# 1 MHz; tick 500 was at that time; a slice from tick 750 to 900
		words = [0x0016547846040010, 0x110010, 0x41, 1_000_000, 500, 1_650_419_113_000_000_000, 0x10033, 1, 2]
		words += [0x8000800001020024, 750, 0x8000800001030024, 900]
		open("in.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	for target in firefox chrome perfetto pprof ctf fxt; do
		trackway convert --to "$target" in.fxt -o "out.$target" 2>/dev/null
	done
	start=1650419113000250000 date=2022-04-20T01:45:13.000250
	[ "$(member out.firefox meta startTime)" = 1650419113000.25 ]
	[ "$(member out.chrome otherData wall_start_ns)" = "$start" ]
	protoc --decode=Trace --proto_path="$TRUTH" perfetto.proto <out.perfetto | grep -A 1 'clock_id: 1$' | grep -q "timestamp: $start\$"
	gzip -dc out.pprof | protoc --decode_raw | grep -qx "9: $start"
	babeltrace2 --clock-gmt --clock-date out.ctf | head -n 1 | grep -q "^\[${date/T/ }000\]"
	trackway info out.fxt | grep -qx "wall start:  *${date}Z"
	trackway convert out.chrome --to fxt -o again.fxt
	trackway info again.fxt | grep -qx "wall start:  *${date}Z"

	# XRay's wall time is that since the system began
	trackway convert --to firefox "$DATA/xray/v5.xray" -o out.firefox 2>/dev/null
	[ "$(member out.firefox meta startTime)" = 0.0 ]
	trackway convert --to chrome "$DATA/xray/v5.xray" -o out.chrome 2>/dev/null
	[ "$(member out.chrome otherData wall_start_ns)" = None ]
}

@test "counters: what is no number is none in all targets, as in counters and sql" {
	echo '[{"ph":"C","pid":1,"tid":2,"ts":1,"name":"c","args":{"n":7,"flag":true,"p":"0x1f","t":"x"}},{"ph":"C","pid":1,"tid":2,"ts":2,"name":"c","args":{"n":8,"flag":false}}]' >in.json
	[ "$(trackway counters --json in.json | grep -o '"series":"[^"]*","count":[0-9]*' | tr '\n' ' ')" = \
		'"series":"flag","count":0 "series":"n","count":2 "series":"p","count":0 "series":"t","count":0 ' ]
	[ "$(trackway sql --csv in.json 'select count(*), count(value) from counter' | tail -n 1)" = 6,2 ]
	for target in perfetto firefox; do
		trackway convert --to $target in.json -o "out.$target" 2>err
		grep -qx "trackway: out.$target: counter value: 4 left out" err || fail "$target: $(cat err)"
	done
	trackway convert --to chrome in.json -o out.chrome 2>err # the events as they stand
	fails grep "left out" err
	grep -q '"args":{"n":7,"flag":true,"p":"0x1f","t":"x"}}' out.chrome
	[ "$(protoc --decode=Trace --proto_path="$TRUTH" perfetto.proto <out.perfetto | grep -c counter_value)" = 2 ]
}

@test "a function without a name has the same one in all profiles" {
	echo '[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":5,"name":""},{"ph":"X","pid":1,"tid":2,"ts":2,"dur":1,"name":"inner"}]' >in.json
	for target in speedscope pprof callgrind firefox folded; do
		trackway convert --to $target in.json -o out 2>/dev/null
		case $target in
		speedscope | firefox) grep -q '"(no name)"' out ;;
		pprof) gzip -dc out | protoc --decode_raw | grep -qx '6: "(no name)"' ;;
		callgrind) grep -qx 'fn=([0-9]*) (no name)' out ;;
		folded) grep -qx '(no name);inner 1000' out ;;
		esac || fail "$target"
	done
}

@test "ctf: a directory that is something else stays as it is" {
	mkdir out.ctf && echo mine >out.ctf/notes
	run --separate-stderr trackway convert "$DATA/xray/v1.xray" -o out.ctf
	[ "$status" = 2 ]
	[[ "$stderr" == *"out.ctf: File exists"* ]] || fail "$stderr"
	[ "$(ls out.ctf)" = notes ]
	run --separate-stderr trackway convert --to ctf "$DATA/xray/v1.xray"
	[ "$status" = 2 ]
	[[ "$stderr" == *"it does not go to standard output"* ]] || fail "$stderr"
	# One of ours is replaced.
	trackway convert "$DATA/xray/v5.xray" -o twice.ctf
	trackway convert "$DATA/xray/v1.xray" -o twice.ctf
	trackway convert "$DATA/xray/v1.xray" -o once.ctf
	diff -r once.ctf twice.ctf
}

# A link is no file of ours: where it leads nothing is written, and what is there stays, with its stream.
@test "ctf: a directory with a link in it stays as it is" {
	trackway convert "$DATA/xray/v5.xray" -o out.ctf
	cp -r out.ctf before
	echo mine >mine
	rm out.ctf/metadata && ln -s ../mine out.ctf/metadata
	run --separate-stderr trackway convert "$DATA/xray/v1.xray" -o out.ctf
	[ "$status" = 2 ]
	[[ "$stderr" == *"out.ctf: File exists"* ]] || fail "$stderr"
	[ "$(cat mine) $(ls out.ctf | xargs)" = "mine metadata stream" ]
	cmp out.ctf/stream before/stream
}

# A file may not become so large as the stream is: neither it nor the description appears.
@test "ctf: a stream that has no room does not replace another one" {
	trackway convert "$DATA/xray/v1.xray" -o out.ctf
	cp -r out.ctf before
	run --separate-stderr bash -c 'ulimit -f 1; exec trackway convert --to ctf "$DATA/fxt/streaming.fxt" -o out.ctf'
	[ "$status" = 2 ]
	[[ "$stderr" == *"out.ctf: File too large"* ]] || fail "$stderr"
	diff -r before out.ctf
	run --separate-stderr bash -c 'ulimit -f 1; exec trackway convert --to ctf "$DATA/fxt/streaming.fxt" -o new.ctf'
	[ "$status" = 2 ]
	[ -z "$(compgen -G 'new*')" ] || fail "$(ls)"
}

@test "csv, jsonl and ctf: an object tells which thread told of it" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		open("in.fxt", "wb").write(b"".join([
		    MAGIC_RECORD, provider_info(1, b"app"), string(1, b"one"), thread(1, 5, 6), event(0, 1),
		    record(6, 1 << 16 | 1 << 24, 0xabc),  # a userspace object, by a reference to a thread
		    record(7, 4 << 16 | 1 << 24, 0xdef)]))  # a kernel object: nobody's
	END
	for to in csv jsonl ctf; do
		trackway convert --strict in.fxt --to $to -o out.$to
	done
	[ "$(grep -c 5/6 out.csv)" = 1 ] && grep -q '^[^,]*,object,.*,2748,5/6,' out.csv || fail "$(cat out.csv)"
	[ "$(grep -c '"other":"5/6"' out.jsonl)" = 1 ]
	[ "$(babeltrace2 out.ctf | grep -c 'object.* other = "5/6"')" = 1 ] || fail "$(babeltrace2 out.ctf)"
}

@test "csv and jsonl say the same" {
	local trace
	for trace in $(traces); do
		trackway convert "$trace" -o out.csv
		trackway convert "$trace" -o out.jsonl
		"$PYTHON" - <<'END' || fail "$trace"
import csv, json
csv.field_size_limit(1 << 20)
rows = list(csv.DictReader(open("out.csv", encoding="utf-8", newline=""), strict=True))
objects = [json.loads(line) for line in open("out.jsonl", encoding="utf-8")]
assert len(rows) == len(objects) > 0
for row, found in zip(rows, objects):
    for key, cell in row.items():
        value = found.pop(key, "")
        assert (json.loads(cell) == value) if key == "args" and cell else str(value) == cell, (key, cell, value)
    assert not found, found
END
	done
}

@test "the ending of a name: the longest one counts" {
	trackway convert "$DATA/xray/v5.xray" -o out.speedscope.json
	trackway convert "$DATA/xray/v5.xray" -o out.json
	grep -q speedscope.app out.speedscope.json
	fails grep -q speedscope.app out.json
}
