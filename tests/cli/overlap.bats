#!/usr/bin/env bats
# overlap.bats - slices of a thread that overlap without nesting last as long as they say.
# SPDX-License-Identifier: Apache-2.0

bats_require_minimum_version 1.5.0
load helpers

slices() { # FILE
	trackway sql --csv "$1" "select name, ts, dur, self_dur, depth, parent_id is null, lane from slice order by ts" | tail -n +2
}

totals() { # FILE
	trackway stat --json "$1" | "$PYTHON" -c 'import json, sys
for row in sorted(map(json.loads, sys.stdin), key=lambda row: row["name"]):
    print(row["name"], row["total_ns"], row["self_ns"], row["max_ns"])'
}

# The times of the records, in ticks of 1 ns: 0-1000, 900-1900, 1850-2500, 2500-2600.
@test "FXT: complete events that overlap" {
	printf 'gemm,0,1000,1000,0,1,0\nsoftmax,900,1000,1000,0,1,1\ngemm2,1850,650,650,0,1,0\ncopy,2500,100,100,0,1,0\n' |
		diff - <(slices "$DATA/fxt/gpu_overlap.fxt")
	printf 'copy 100 100 100\ngemm 1000 1000 1000\ngemm2 650 650 650\nsoftmax 1000 1000 1000\n' >expected
	totals "$DATA/fxt/gpu_overlap.fxt" | diff expected -
	for to in json fxt; do
		trackway convert --strict "$DATA/fxt/gpu_overlap.fxt" -o "out.$to"
		totals "out.$to" | diff expected -
	done
	trackway convert --strict "$DATA/fxt/gpu_overlap.fxt" -o out.pftrace
}

@test "Chrome: kernels that overlap, by more than rounding" {
	totals "$DATA/chrome/p432.json" | diff <(printf 'k1 3776 3776 3776\nk2 50000 50000 50000\nk3 50000 50000 50000\nouter 100000 100000 100000\n') -
}

@test "an overhang of a nanosecond is rounding, of complete slices and of begins" {
	for name in overhang overhangB; do
		printf 'first,0,10001,10001,0,1,0\nsecond,10000,100000,100000,0,1,0\n' | diff - <(slices "$DATA/chrome/$name.json")
		totals "$DATA/chrome/$name.json" | diff <(printf 'first 10001 10001 10001\nsecond 100000 100000 100000\n') -
		for to in speedscope.json firefox.json folded callgrind pftrace json; do
			trackway convert --strict "$DATA/chrome/$name.json" -o "out.$to"
		done
	done
}

@test "targets that must nest count what they approximate" {
	for to in speedscope.json firefox.json folded callgrind xray; do
		run trackway convert "$DATA/fxt/gpu_overlap.fxt" -o "out.$to"
		[[ $output == *"slice that overlaps another ("*"): 2 kept in another form"* ]]
	done
}

@test "diff and the texts of events keep what slices state; check tells of it once for each thread" {
	trackway diff --json "$DATA/fxt/gpu_overlap.fxt" "$DATA/fxt/gpu_overlap.fxt" | "$PYTHON" -c 'import json, sys
print(*("%s=%s/%s" % (row["name"], row["total_ns_a"], row["total_ns_b"]) for row in sorted(map(json.loads, sys.stdin), key=lambda row: row["name"])))' >out
	echo 'copy=100/100 gemm=1000/1000 gemm2=650/650 softmax=1000/1000' | diff - out
	trackway convert "$DATA/fxt/gpu_overlap.fxt" -o out.csv
	cut -d, -f1,6,8 out.csv | diff <(printf 'time_ns,name,value\n0,gemm,1000\n900,softmax,1000\n1850,gemm2,650\n2500,copy,100\n') -
	trackway convert "$DATA/fxt/gpu_overlap.fxt" -o out.jsonl
	[ "$(grep -c '"value":1000' out.jsonl)" -eq 2 ]
	[ "$(trackway check "$DATA/fxt/gpu_overlap.fxt" | grep -c '900 ns after .*fxt.slices-overlap')" -eq 1 ]
	[ "$(trackway check "$DATA/chrome/p432.json" | grep -c 'chrome.slices-overlap')" -eq 1 ]
	for name in overhang overhangB; do
		trackway check "$DATA/chrome/$name.json" | grep -q ': fine$'
	done
}

@test "a child that ends 1 ns behind its parent lasts as long as it says, whatever begins then" {
	echo '[{"name":"par","ph":"X","ts":0,"dur":10,"pid":1,"tid":1},{"name":"ch","ph":"X","ts":5,"dur":5.001,"pid":1,"tid":1},
		{"name":"nx","ph":"X","ts":10,"dur":5,"pid":1,"tid":1}]' >child.json
	trackway convert child.json -o child.fxt
	local file
	for file in child.json child.fxt; do
		printf '%s\n' ch,5001,5001 nx,5000,5000 par,10000,5000 |
			diff - <(trackway stat --csv $file | tail -n +2 | cut -d, -f1,6,7 | sort)
		trackway flame --folded $file -o - | grep -qx 'par;ch 5001'
	done
}

@test "what ends with the slice around it is inside of it, whatever begins and ends just then" {
	local last
	for last in '{"ph":"B","name":"z","ts":2,"pid":1,"tid":1},{"ph":"E","name":"z","ts":2,"pid":1,"tid":1}' \
		'{"ph":"X","name":"z","ts":2,"dur":0,"pid":1,"tid":1}'; do
		echo '[{"ph":"X","name":"a","ts":0,"dur":2,"pid":1,"tid":1},{"ph":"B","name":"b","ts":1,"pid":1,"tid":1},' >tie.json
		echo "$last," '{"ph":"E","name":"b","ts":2,"pid":1,"tid":1}]' >>tie.json
		trackway sql --csv tie.json 'select name, depth, self_dur from slice order by ts, depth' >out
		printf '%s\n' name,depth,self_dur a,0,1000 b,1,1000 z,2,0 | diff - out
	done
}

# a lasts until 2, b from 1 to 2, z from 2 to 7: its record stands before the end of b.
@test "what ends with the slice around it is inside of it, also where a slice begins just then" {
	echo '[{"ph":"X","name":"a","ts":0,"dur":2,"pid":1,"tid":1},{"ph":"B","name":"b","ts":1,"pid":1,"tid":1},
		{"ph":"X","name":"z","ts":2,"dur":5,"pid":1,"tid":1},{"ph":"E","ts":2,"pid":1,"tid":1}]' >tie.json
	printf '%s\n' a,0,2000,1000,0,1,0 b,1000,1000,1000,1,0,0 z,2000,5000,5000,0,1,0 | diff - <(slices tie.json)
	printf '%s\n' 'a 1000' 'a;b 1000' 'z 5000' | diff - <(trackway flame --folded tie.json -o -)
	trackway convert --strict tie.json -o tie.folded
}

# y, from 2 to 7, holds z, from 2 to 5, although b, which is neither, ends between the two in the file.
@test "the longer of two slices that begin together holds the other, whatever ends between them" {
	echo '[{"ph":"X","name":"z","ts":2,"dur":3,"pid":1,"tid":1},{"ph":"B","name":"b","ts":1,"pid":1,"tid":1},
		{"ph":"E","ts":2,"pid":1,"tid":1},{"ph":"X","name":"y","ts":2,"dur":5,"pid":1,"tid":1}]' >between.json
	trackway convert --strict between.json -o between.fxt
	for file in between.json between.fxt; do
		trackway sql --csv "$file" 'select name, dur, depth from slice' | tail -n +2 | sort >slices
		printf '%s\n' b,1000,0 y,5000,0 z,3000,1 | diff - slices
		printf '%s\n' 'b 1000' 'y 2000' 'y;z 3000' | diff - <(trackway flame --folded "$file" -o -)
		trackway stat --json --jobs 1 "$file" | grep -q '"name":"y".*"self_ns":2000' || fail "$file"
		trackway convert --strict --to pprof "$file" -o out.pb.gz
	done
}

# z has no time: it is in b, whose end stands behind it in the file, although y, which begins just then, stands behind that end.
@test "a slice without time before an end of its time is inside of what ends, whatever begins behind it" {
	echo '[{"ph":"X","name":"z","ts":2,"dur":0,"pid":1,"tid":1},{"ph":"B","name":"b","ts":1,"pid":1,"tid":1},
		{"ph":"E","ts":2,"pid":1,"tid":1},{"ph":"X","name":"y","ts":2,"dur":5,"pid":1,"tid":1}]' >without.json
	trackway convert --strict without.json -o without.fxt
	for file in without.json without.fxt; do
		trackway stacks --json "$file" | sed 's/.*"stack":\(.*\),"count.*/\1/' | sort >stacks
		printf '%s\n' '["b","z"]' '["b"]' '["y"]' | sort | diff - stacks
	done
}

# The end of f ends the inner g, too. The end behind it is that of a g that is open, the outer one: as Perfetto's importer
# takes it, which ends the slice of that name that began last.
@test "an end behind that of a call that ended others is that of an open call of its name" {
	echo '[{"ph":"B","name":"g","ts":1,"pid":1,"tid":1},{"ph":"B","name":"f","ts":2,"pid":1,"tid":1},
		{"ph":"B","name":"g","ts":3,"pid":1,"tid":1},{"ph":"E","name":"f","ts":4,"pid":1,"tid":1},
		{"ph":"E","name":"g","ts":4,"pid":1,"tid":1},{"ph":"i","name":"last","ts":9,"pid":1,"tid":1}]' >unwound.json
	trackway convert --strict unwound.json -o unwound.fxt
	for file in unwound.json unwound.fxt; do
		trackway stat --json "$file" | grep -q '"name":"g".*"open":0,"unwound":1,"total_ns":3000' || fail "$file"
	done
}

# x lasts until 100, b from 50 to 150, in and y are in b.
@test "begins and ends beside complete slices: depth, lane and stacks are known once all have ended" {
	echo '[{"ph":"X","name":"x","ts":0,"dur":100,"pid":1,"tid":1},{"ph":"B","name":"b","ts":50,"pid":1,"tid":1},
		{"ph":"X","name":"in","ts":60,"dur":10,"pid":1,"tid":1},{"ph":"X","name":"y","ts":110,"dur":20,"pid":1,"tid":1},
		{"ph":"E","name":"b","ts":150,"pid":1,"tid":1}]' >mixed.json
	trackway sql --csv mixed.json 'select s.name, s.depth, s.lane, p.name from slice s left join slice p on s.parent_id = p.id
		order by s.ts' | tail -n +2 >out
	printf '%s\n' x,0,0, b,0,1, in,1,1,b y,1,1,b | diff - out
	printf '%s\n' 'b 70000' 'b;in 10000' 'b;y 20000' 'x 100000' | diff - <(trackway flame --folded mixed.json -o -)
}

# 1,030 slices of 5,000 us that begin 1 us apart: one is on the thread's own stack, 1,024 have a stack of their own.
@test "slices beyond 1,024 that do not nest are told as such, and not as memory" {
	"$PYTHON" -c 'import json
print(json.dumps([{"ph": "X", "ts": i, "dur": 5000, "pid": 1, "tid": 1, "name": "f"} for i in range(1030)]))' >many.json
	bound="more than 1,024 slices of a thread are open at once that do not nest"
	for command in stat "stat --by caller" flame\ --folded graph stacks; do
		run --separate-stderr trackway $command many.json
		[ "$stderr" = "trackway: $bound: 5 calls under \"(other)\"; async operations have no such bound" ] || fail "$stderr"
	done
	run --separate-stderr trackway sql many.json 'select sum(self_dur) from slice'
	[[ $stderr == *"many.json: $bound; async operations have no such bound" ]] || fail "$stderr"
	for to in folded callgrind pftrace pprof; do
		run trackway convert many.json -o "out.$to"
		[[ $output == *": slice beyond 1,024 of a thread that are open at once and do not nest: 5 left out"* ]] || fail "$output"
	done
}
