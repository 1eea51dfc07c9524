#!/usr/bin/env bats
# limits.bats - logs and programs that ask for more than the memory limit: it holds, is told, and for any --jobs the same.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

make() { # kind file
	"${PYTHON:-python3}" "$TRACKWAY_SOURCE/tests/cli/hostile.py" "$@"
}

# Everything that a command says is the same for any number of jobs.
alike() { # arguments...
	local jobs one
	one=$(trackway "$@" --jobs 1 2>&1 | cksum)
	for jobs in 2 3 8; do
		[ "$(trackway "$@" --jobs $jobs 2>&1 | cksum)" = "$one" ] || fail "$*: --jobs $jobs is not --jobs 1"
	done
}

skip_sanitizer() { # in the test's own shell
	! grep -qa __asan_init "$TRACKWAY" || skip "the sanitizer's memory counts too"
}

# Runs a command and compares the most memory that it had, in MB; what it says is in `said`. Meson has malloc() fill what it
# gives: what a command asks for and never touches would count.
peak_below() { # MB arguments...
	local most=$1
	shift
	skip_sanitizer
	MALLOC_PERTURB_= "${PYTHON:-python3}" -ISc '
import os, resource, sys
tool = os.fork()
if tool == 0:
    os.execvp("trackway", ["trackway", *sys.argv[1:]])
os.waitpid(tool, 0)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=open("peak", "w"))' "$@" >/dev/null 2>said
	[ "$(cat peak)" -lt "$most" ] || fail "$*: $(cat peak) MB, expected less than $most"
	said=$(cat said)
}

@test "the result at the limit does not depend on the jobs" {
	make mixed log
	for size in 64K 150K 300K 1M; do
		alike stat --json --memory $size log
		alike stat --json --by caller --memory $size log
		alike stacks --json --memory $size log
		alike graph --json --memory $size log
	done
}

@test "nor does that of threads with calls open at the end" {
	make open log
	for size in 1M 4M 9M; do
		alike stat --json --memory $size log
		alike stacks --json --per-thread --memory $size log
	done
}

@test "nor that of filters, and what they could not hold is told" {
	make mixed log
	for size in 64K 150K 300K 1M; do
		alike stat --json --min-duration 50us --to-time 10s --memory $size log
		alike stat --json --from-time 30us --memory $size log
		alike stacks --json --thread 1,2,3 --from-time 30us --memory $size log
	done
	run --separate-stderr trackway stat log --from-time 30us --memory 64K
	[[ "$stderr" == *"slices let through unjudged"*"[filter.memory-limit]"* ]] || fail "$stderr"
	run --separate-stderr trackway stat log --from-time 30us
	[[ "$stderr" != *unjudged* ]] || fail "$stderr"
}

@test "many functions, stacks and edges stay within the limit" {
	make names log
	peak_below 32 stat --json --memory 12M log
	[[ "$said" == *xray.name-limit* ]] || fail "$said"
	make stacks log
	for command in stacks flame graph "stat --by caller"; do
		peak_below 28 $command --memory 12M --jobs 1 log
		[[ "$said" == *"the memory limit was reached: "*" under \"(other)\""* ]] || fail "$said"
		peak_below 36 $command --memory 12M --jobs 8 log # with what eight threads read ahead
	done
}

@test "many threads stay within the limit, and a filter of records costs each no more than the thread itself" {
	make threads log
	# Of half the limit a buffer takes 72 bytes, a thread 160, and half of what a filter or target has of each.
	for command in "72316 stat" "22920 cut --to-time 1s -o out.xray" "26547 convert -o out.json --to firefox" \
		"36712 convert --to speedscope -o out" "38836 convert --to perfetto -o out"; do
		peak_below 64 ${command#* } --memory 32M log # with what is read ahead, and waits to be written
		[[ "$said" == *"more than ${command%% *} buffers of ${command%% *} threads"*"[fdr.index-limit]"* ]] || fail "$command: $said"
	done
	run --separate-stderr timeout 60 trackway dump --thread 100000 --function '*' --memory 1G log
	[ "${#lines[@]}" = 2 ] || fail "$status: ${#lines[@]} lines"
	timeout 60 trackway dump --function none --memory 1G log >none 2>&1 || fail "$?"
}

# Each thread enters at its number and leaves 300,000 later: all are open at once, many more than are merged in memory.
@test "XRay: threads that all run at once come in the order of time, by way of a temporary file where they are many" {
	"${PYTHON:-python3}" - >log <<-'END'
		import struct, sys
		def metadata(kind, form, *fields):
		    return bytes([kind << 1 | 1]) + struct.pack("<" + form, *fields).ljust(15, b"\0")
		sys.stdout.buffer.write(struct.pack("<HHIQQQ", 3, 1, 3, 10**9, 1 << 16, 0))
		for thread in range(9000, 0, -1):
		    body = (metadata(0, "i", thread) + metadata(4, "QI", 1700000000, 0) + metadata(9, "i", 1) +
		            metadata(2, "HQ", 0, thread) + struct.pack("<4I", 7 << 4, 0, 1 << 1 | 7 << 4, 300000))
		    sys.stdout.buffer.write(metadata(7, "Q", len(body)) + body)
	END
	trackway convert --to jsonl --memory 2G log >whole
	"${PYTHON:-python3}" -c '
import json
rows = [(row["time_ns"], row["kind"], row["thread"]) for row in map(json.loads, open("whole")) if row["kind"].startswith("slice")]
assert [(time + 1, thread) for time, _, thread in rows] == \
    [(t, t) for t in range(1, 9001)] + [(t + 300000, t) for t in range(1, 9001)], rows[:3]'
	for jobs in 1 2; do
		peak_below 40 convert --to jsonl --memory 16M --jobs $jobs -o part log
		[[ "$said" != *limit* && "$said" != *error* ]] || fail "$said"
		cmp whole part
	done
	TMPDIR=$PWD/nowhere run trackway convert --to jsonl --memory 16M -o part log
	[ "$status" = 2 ] && [[ "$output" == *nowhere* ]] || fail "$status $output"
}

@test "threads of little each stay within the limit, whatever keeps more of them than a profile" {
	"${PYTHON:-python3}" - <<-'END'
		import struct
		with open("a.fxt", "wb") as fxt, open("a.json", "w") as chrome:
		    fxt.write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9))
		    chrome.write("[")
		    for k in range(36000):
		        name = b"name %011d" % (k % 10)
		        fxt.write(struct.pack("<4Q16sQ", 4 | 7 << 4 | 4 << 16 | (0x8000 | 16) << 48, 2 * k, 1, k + 2, name, 2 * k + 1))
		        chrome.write('{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":1,"name":"%s"},\n' % (k + 2, 2 * k, name.decode()))
	END
	for file in a.fxt a.json; do
		for command in "sql -o out.db" "convert --to firefox -o out" "convert --to speedscope -o out" "convert --to perfetto -o out"; do
			peak_below 62 $command --memory 24M $file # with what is read ahead, and waits to be written
			[[ "$said" == *name-limit* ]] || fail "$command: $said"
		done
	done
	run --separate-stderr trackway graph --json --memory 4M a.json
	[ "$(grep -c 'the memory limit was reached' <<<"$stderr")" = 1 ] || fail "$stderr"
}

# The first of the two profiles keeps half of what it was read in: the second has the rest.
@test "graph: 20,000 threads are told apart in 31 MB" {
	"${PYTHON:-python3}" - >log <<-'END'
		import struct, sys
		def string(number, text):
		    return struct.pack("<Q8s", 2 | 2 << 4 | number << 16 | len(text) << 32, text)
		def call(kind, name, time, thread):
		    return struct.pack("<4Q", 4 | 4 << 4 | kind << 16 | name << 48, time, 7, thread)
		write = sys.stdout.buffer.write
		write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9) + string(1, b"f") + string(2, b"g"))
		write(b"".join(call(2, 1, 1000 + t, t + 1) + call(2, 2, 1001 + t, t + 1) for t in range(20000)))
		write(b"".join(call(3, 2, 10**6 + t, t + 1) + call(3, 1, 10**6 + t + 1, t + 1) for t in range(20000)))
	END
	run --separate-stderr timeout 60 trackway graph --json --memory 31M log
	[[ "$status" = 0 && "$stderr" != *"memory limit"* ]] || fail "$status: $stderr"
	[[ "$output" == *'"from":0,"to":1,"count":20000,'* ]] || fail "$output"
}

@test "Chrome: many threads of little each are told apart until half of the limit is used" {
	"${PYTHON:-python3}" - >log <<-'END'
		rows = (f'{{"ph":"X","pid":1,"tid":{i + 1},"ts":{i},"dur":1,"name":"f{i % 10}"}}' for i in range(38000))
		print("[" + ",\n".join(rows) + "]")
	END
	for command in stat stacks; do
		peak_below 48 $command --memory 40M --jobs 1 log
		[[ "$said" != *"(other)"* && "$said" != *limit* ]] || fail "$command: $said"
	done
}

@test "a deep recursion is shown so deep, and no deeper" {
	make deep log
	trackway stacks --json log >out 2>err
	[ "$(wc -l <out)" = 1001 ] || fail "$(wc -l <out) stacks"
	[[ "$(cat err)" == *'199,000 calls deeper than 1,000 functions under "(deeper)"; --max-depth shows more'* ]] || fail "$(cat err)"
	run --separate-stderr trackway flame --folded --max-depth 3 log
	[ "$output" = "#5 2
#5;#5 2
#5;#5;#5 2
#5;#5;#5;(deeper) 399993" ] || fail "$output"
	run --separate-stderr trackway flame --max-depth 3 log
	[[ "$output" == *"(deeper)"* ]] || fail "$output"
	trackway stacks --json --max-depth 1500 log >out 2>err
	[ "$(wc -l <out)" = 1501 ] || fail "$(wc -l <out) stacks"
}

@test "a program that is one huge hole takes no memory" {
	make stacks log
	make program program
	peak_below 64 stat --binary program --memory 16M log
	[[ "$said" == *"section xray_instr_map at offset 0x1000: 1073741824 bytes, expected at most 134217728"* ]] || fail "$said"
}

@test "compressed debugging information that unpacks to half a gigabyte is left alone" {
	make bomb program
	peak_below 64 stat --binary program "$DATA/xray/v5.xray"
}

@test "lines in tables over each other, with a directory of a megabyte, 300,000 attributes or 400,000,000 abbreviations are left alone" {
	make lines program
	run trackway names --json program
	[[ "$output" == *'"file":"f"'*'"line":7'* ]] || fail "$output"
	for kind in nested-lines attributes abbreviations directory; do
		make $kind program
		(ulimit -t 60; peak_below 64 names --json program)
		run trackway names --json program
		[[ "$output" == *'"address":'* && "$output" != *'"line":7'* ]] || fail "$kind: $output"
	done
}

@test "a program that a flight recorder notes 3,000 times is read once, and 5,000 others are too many" {
	local main
	main=$(nm "$TRACKWAY" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/hostile.py" objects log "$TRACKWAY" "$main"
	(ulimit -t 60; run --separate-stderr trackway stat --json --function main log
		[ "${#lines[@]}" = 3000 ] && [[ "$stderr" == *"no names of 5,000 programs"* ]] || fail "${#lines[@]} $stderr")
}

# The samples of the function that stands first and last, whatever is between.
samples_of_main() { # log
	trackway stat --json --function App::Main "$1" 2>/dev/null | sed -n 's/.*"self":\([0-9]*\).*/\1/p'
}

@test "TraceLog: a sample of 200,000 frames" {
	make tracelog-deep log
	[ "$(samples_of_main log)" = 5 ]
	trackway dump --json log | tail -n +5 | head -n 1 | grep -o function_iid | wc -l | grep -qx 199999
	trackway stacks --json --max-depth 300000 log | awk -F App::Main '{ print NF - 1 }' | sort -n | tail -n 1 | grep -qx 200000
	trackway check log
	peak_below 64 stat log
}

@test "TraceLog: a line of 40 MB costs no other" {
	for kind in line name; do
		make tracelog-$kind log
		[ "$(samples_of_main log)" = 2 ] || fail "$kind: $(samples_of_main log)"
		for command in info check stat stacks dump; do
			run --separate-stderr trackway $command --memory 16M log
			[ "$status" = 1 ] || fail "$command: exit status $status"
			[[ "$stderr$output" == *"tracelog.long-line"* ]] || fail "$command: $stderr"
			[ "${#stderr_lines[@]}" -le 1 ] || fail "$command: $stderr"
		done
		peak_below 32 stat --memory 16M log
	done
}

# A line may take a thirty-second of the memory limit, with its end; 256 KiB always.
@test "TraceLog: a line is too long for all commands, or for none" {
	head -c 2M /dev/zero | tr '\0' 0 >zeros
	for memory in 64K:262144 1M:262144 16M:524288 64M:2097152; do
		for more in 0 1; do
			{ printf 'thr crt 0x1000 0x00000000\ncls nam 0x00000001 "' && head -c $((${memory#*:} + more - 22)) zeros &&
				printf '"\nsam str 0x00000000 1 1 0:0\n'; } >log
			for command in info check stat dump; do
				status=0
				trackway $command --memory ${memory%:*} log >out 2>&1 || status=$?
				[ "$status" = $more ] || fail "$memory + $more: $command: $status: $(head -c 300 out)"
				[ "$(grep -c tracelog.long-line out)" = $more ] || fail "$command: $(head -c 300 out)"
			done
			trackway info --json --memory ${memory%:*} log 2>/dev/null | grep -q '"records":3'
		done
	done
}

@test "TraceLog: lines of many frames stay within the limit" {
	"${PYTHON:-python3}" -c 'for i in range(16):
	frames = 520000 if i % 2 else 2000000
	print(f"sam str 0x{i:08x} {i} 1 0:{frames}" + " 0x1" * frames)' >log
	for command in info check stat stacks dump; do
		peak_below 80 $command --memory 64M log
	done
}

@test "TraceLog: a stack that says it is 4,294,967,295 frames deep costs no other" {
	make tracelog-depth log
	[ "$(samples_of_main log)" = 5 ]
	peak_below 32 stat --memory 16M log
	[[ "$said" == *"tracelog.depth-mismatch"* ]] || fail "$said"
	[[ "$said" == *"what there is no room for is shown as (other) [tracelog.stack-limit]"* ]] || fail "$said"
	peak_below 32 check --memory 16M log
}

@test "TraceLog: many names, stacks, threads and open intervals stay within the limit" {
	for kind in names stacks threads open; do
		make tracelog-$kind log
		for command in info check stat stacks; do
			peak_below 40 $command --memory 16M log
		done
		[ "$(samples_of_main log)" -ge 2 ] || fail "$kind: $(samples_of_main log)"
	done
}

@test "TraceLog: where an instruction is costs no look at each block of its function" {
	make tracelog-places log
	timeout 30 trackway check log >checked || fail "$?: $(cat checked)"
	run timeout 30 trackway stat --json --top 1 log
	[[ "$output" == *'"self":200001,'* ]] || fail "$output"
	[ "$(samples_of_main log)" = 3 ] || fail "$(samples_of_main log)"
}

@test "TraceLog: nothing is judged of threads beyond the limit, and their samples are counted" {
	make tracelog-threads log
	[ "$(trackway check --memory 1G log 2>&1 | grep -o '\[[a-z.-]*\]')" = "" ]
	[ "$(trackway check --memory 16M log 2>&1 | grep -o '\[[a-z.-]*\]')" = "[tracelog.table-limit]" ]
	trackway stat --json --memory 16M log >out 2>err
	[ "$(grep -c . err)" = 1 ] || fail "$(cat err)"
	[ "$(sed -n 's/.*"self":\([0-9]*\).*/\1/p' out | awk '{ sum += $1 } END { print sum }')" = 60002 ] || fail "$(cat out)"
	[ "$(trackway stat --json --memory 16M --function '(other)' log 2>err | wc -l)" = 1 ]
}

@test "TraceLog: info lists as many threads as the limit allows, and tells that there are more" {
	"${PYTHON:-python3}" -c 'for t in range(400000): print(f"thr crt 0x{t + 4096:08X} 0x{t:08x}\nthr aos 0x{t:08x} {t + 5000}")' >log
	peak_below 96 info --json --memory 32M log
	run trackway info --memory 32M log
	[[ "$output" == *"the others are left out"*"[tracelog.table-limit]"* ]] || fail "$output"
	run trackway info --memory 1G log
	[[ "$output" != *table-limit* ]] || fail "$output"
}

@test "FXT: archives that are merged share the limit" {
	"${PYTHON:-python3}" -c '
import struct, sys
head = [0x0016547846040010, 0x21, 10**9, 0x22 | 1 << 16 | 1 << 32, 0x6e, 0x33 | 1 << 16, 7, 8]
event = 0x24 | 1 << 24 | 1 << 32 | 1 << 48
body = [word for time in range(300000) for word in (event, time)]
sys.stdout.buffer.write(struct.pack(f"<{len(head) + len(body)}Q", *head, *body))' >archive
	local i archives=()
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ln archive "archive$i"
		archives+=("archive$i")
	done
	peak_below 200 merge --same-machine --memory 64M --to-time 1ms --to fxt -o - "${archives[@]}"
	[[ "$said" == "trackway: numbers that several files use, "*" are taken as those of one machine" ]] || fail "$said"
}

@test "FXT: the memory of a merge does not grow with what is merged" {
	"${PYTHON:-python3}" -c '
import struct, sys
for name, count in ("short", 20000), ("long", 200000):
    head = [0x0016547846040010, 0x21, 10**9, 0x22 | 1 << 16 | 1 << 32, 0x6e, 0x33 | 1 << 16, 7, 8]
    event = 0x24 | 1 << 24 | 1 << 32 | 1 << 48
    body = [word for time in range(count) for word in (event, time)]
    open(name, "wb").write(struct.pack(f"<{len(head) + len(body)}Q", *head, *body))'
	local i short=() long=()
	for i in $(seq 100); do
		ln short "short$i"
		short+=("short$i")
	done
	for i in $(seq 8); do
		ln long "long$i"
		long+=("long$i")
	done
	peak_below 48 merge --same-machine --to fxt -o - "${long[@]}"
	[[ "$said" == "trackway: numbers that several files use, "*" are taken as those of one machine" ]] || fail "$said"
	peak_below 96 merge --same-machine --to fxt -o - "${short[@]}"
	[[ "$said" == "trackway: numbers that several files use, "*" are taken as those of one machine" ]] || fail "$said"
}

@test "names, threads and stacks of more files than can be open at once stay within the limit" {
	skip_sanitizer
	"${PYTHON:-python3}" - <<-'END'
		import struct
		for n in range(60):
		    with open(f"many{n:02}.fxt", "wb") as file:
		        file.write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9))
		        for k in range(150):
		            name = f"{n} {k} ".encode().ljust(3000, b"x")
		            file.write(struct.pack("<Q", 0x02 | 376 << 4 | 1 << 16 | 3000 << 32) + name)
		            file.write(struct.pack("<4Q", 0x44 | 1 << 48, 1000 * n + k, n + 1, 1000 * n + k + 1))
	END
	(ulimit -n 32; peak_below 28 merge --align none --memory 8M many*.fxt -o out.fxt)
	[[ "$(cat said)" == *"many0"?".fxt: offset 0x"*": warning: There are more names, threads and stacks in all files than"*"[merge.name-limit]" ]]
	[ "$(wc -l <said)" -eq 1 ]
	(ulimit -n 32; trackway merge --align none --memory 8M many*.fxt --to chrome -o out.json 2>/dev/null)
	for out in out.fxt out.json; do # each event, with its name or none; those that there was room for come first
		trackway convert --to jsonl --memory 64M $out | "${PYTHON:-python3}" -c '
import json, sys
names = [row["name"] for row in map(json.loads, sys.stdin) if row["kind"] == "instant"]
own = [f"{n} {k} ".ljust(3000, "x") for n in range(60) for k in range(150)]
kept = next(i for i, name in enumerate(names) if name == "(other)")
assert 300 < kept < 1000, kept
assert names == own[:kept] + ["(other)"] * (9000 - kept)'
	done
	(ulimit -n 32; trackway merge --align none many*.fxt -o all.fxt 2>said) # with the usual limit there is room
	[ ! -s said ]
	peak_below 72 merge --align none --memory 32M many*.fxt -o out.fxt # all are open at once: 60 readers
}

@test "FXT: what is found wrong in archives that are merged is not held" {
	skip_sanitizer
	"${PYTHON:-python3}" - <<-'END'
		import array, struct
		words = array.array("Q", (word for k in range(60000) for word in (0x44 | (1 + k % 30000) << 48, k, 0, 1)))
		for n in range(40):
		    words[2::4] = array.array("Q", [n + 1]) * 60000
		    with open(f"undefined{n:02}.fxt", "wb") as file:
		        file.write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9) + words.tobytes())
	END
	peak_below 88 merge --align none --memory 32M undefined*.fxt -o out.fxt
	[[ "$said" == *"more of fxt.string-undefined"* ]]
}

@test "names that are written six times as long stay within the limit" {
	"${PYTHON:-python3}" - <<-'END'
		import struct
		with open("control.fxt", "wb") as file:
		    file.write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9))
		    for k in range(1, 3000):
		        name = (b"%d " % k).ljust(6000, b"\1")
		        file.write(struct.pack("<Q", 0x02 | 751 << 4 | k << 16 | 6000 << 32) + name)
		        file.write(struct.pack("<4Q", 0x44 | k << 48, k, 1, 1))
	END
	for target in chrome jsonl; do
		peak_below 100 convert --memory 64M --to $target -o out.$target control.fxt
		[ "$said" = "" ] || fail "$said"
	done
	tail -n 1 out.jsonl | "${PYTHON:-python3}" -c '
import json, sys
assert json.load(sys.stdin)["name"].startswith("2999 \1")'
}

@test "FXT: many names and threads stay within the limit, with whoever takes them" {
	"${PYTHON:-python3}" - <<-'END'
		import struct
		header = 0x04 | 6 << 4 | (0x8000 | 16) << 48 # an instant in a thread of its own, with an inline name
		instant = struct.Struct("<4Q16s").pack
		with open("many.fxt", "wb") as file:
		    file.write(struct.pack("<3Q", 0x0016547846040010, 0x21, 10**9))
		    file.write(b"".join(instant(header, k, 1, k + 1, b"name %011d" % k) for k in range(400000)))
	END
	peak_below 80 info --memory 64M many.fxt
	peak_below 108 stat --memory 64M many.fxt
	peak_below 120 cut --memory 64M --from-time 1 -o out.fxt many.fxt
	for target in chrome perfetto jsonl; do
		peak_below 120 convert --memory 64M --to $target -o out.$target many.fxt
		[[ "$said" == *"[fxt.name-limit]" ]] || fail "$said"
	done
}

@test "FXT: what was registered beyond the limit is not said to be undefined" {
	"${PYTHON:-python3}" - <<-'END'
		import struct
		words = lambda *w: struct.pack(f"<{len(w)}Q", *w)
		with open("sound.fxt", "wb") as file:
		    file.write(words(0x0016547846040010, 0x110010, 0x21, 10**9))
		    for k in range(1, 1001):  # strings of 4 bytes; threads from 1 to 200; complete slices of each
		        file.write(words(0x22 | k << 16 | 4 << 32) + b"%04d\0\0\0\0" % k)
		        if k <= 200:
		            file.write(words(0x33 | k << 16, 7, k))
		        file.write(words(0x34 | 4 << 16 | (k - 1) % 200 + 1 << 24 | k << 48, k, k + 1))
	END
	for jobs in 1 2; do
		trackway check --memory 64K --jobs $jobs sound.fxt >out
		grep -q '\[fxt.name-limit\]$' out && grep -q ': 1 warning$' out || fail "$(cat out)"
		trackway convert --memory 64K --jobs $jobs --to jsonl sound.fxt >rows 2>said
		[ "$(grep -c '"name":"(other)"' rows)" -gt 100 ] && ! grep undefined rows said || fail "$(cat said)"
		grep -q '"name":"0001"' rows
	done
	trackway check sound.fxt | grep -q ': fine$'
	# But what stands before the first of these is: an instant called by string 2000.
	"${PYTHON:-python3}" - <<-'END'
		import struct
		sound = open("sound.fxt", "rb").read()
		instant = struct.pack("<4Q", 0x44 | 2000 << 48, 0, 7, 1)
		open("wrong.fxt", "wb").write(sound[:32] + instant + sound[32:])
	END
	for jobs in 1 2; do
		trackway check --memory 64K --jobs $jobs wrong.fxt >out || true
		grep -q '^wrong.fxt:0x20: error: .*\[fxt.string-undefined\]$' out && grep -q ': 1 error, 1 warning$' out || fail "$(cat out)"
	done
}

@test "FXT: a large blob stays one, without being held, whatever comes between its parts" {
	"${PYTHON:-python3}" - <<-'END'
		import random, struct
		words = lambda *w: struct.pack(f"<{len(w)}Q", *w)
		instant = lambda time, thread: words(0x44 | 1 << 48, time, 7, thread)
		name = words(0x22 | 1 << 16 | 3 << 32) + b"one".ljust(8, b"\0")
		data = random.Random(1).randbytes((40 << 20) + 3)
		body = words(1 | 1 << 16, 2000, 7, 8, len(data)) + data + bytes(-len(data) % 8)
		early = b"".join(instant(1000 + i, 1) for i in range(100))
		late = b"".join(instant(5000000 + i, 2) for i in range(1000)) # stands before the blob
		after = b"".join(instant(3000 + i, 1) for i in range(1000))
		with open("blob.fxt", "wb") as file:
		    file.write(words(0x0016547846040010, 0x21, 10**9) + name + early + late)
		    file.write(words(15 | (1 + len(body) // 8) << 4) + body + after)
		with open("other.fxt", "wb") as file:
		    file.write(words(0x0016547846040010, 0x21, 10**9) + name + early)
	END
	large_blob() { # archive events
		"${PYTHON:-python3}" - "$@" <<-'END'
			import random, struct, sys
			data, at, events, size = open(sys.argv[1], "rb").read(), 0, 0, (40 << 20) + 3
			while at < len(data):
			    word, = struct.unpack_from("<Q", data, at)
			    words = word >> 4 & (0xffffffff if word & 15 == 15 else 0xfff)
			    assert word & 15 != 5, "a small blob"
			    events += word & 15 == 4
			    if word & 15 == 15:
			        start = at + 8 * words - (size + 5)
			        assert struct.unpack_from("<Q", data, start - 8) == (size,)
			        assert data[start:start + size] == random.Random(1).randbytes(size)
			    at += 8 * words
			assert at == len(data) and events == int(sys.argv[2]), events
		END
	}
	trackway cut --memory 16M --from-time 100ns -o cut.fxt blob.fxt 2>/dev/null
	large_blob cut.fxt 2000
	trackway cut --from-time 100ns -o cut.fxt.zst blob.fxt 2>/dev/null
	zstd -dq cut.fxt.zst -o packed.fxt
	cmp cut.fxt packed.fxt
	trackway merge --align none -o merged.fxt blob.fxt other.fxt 2>/dev/null
	large_blob merged.fxt 2200
	peak_below 48 cut --memory 16M --from-time 100ns -o out.fxt blob.fxt
	peak_below 64 merge --memory 16M --align none -o out.fxt blob.fxt other.fxt
}

@test "uftrace: many sessions, libraries and threads cost neither memory nor a look at each for each record" {
	"${PYTHON:-python3}" - <<-'END'
		import os, struct
		def record(time, kind, address):
		    return struct.pack("<QQ", time, kind | 5 << 3 | address << 16)
		def directory(name, tasks, maps):
		    os.mkdir(name)
		    with open(name + "/info", "wb") as file:
		        file.write(b"Ftrace!\0" + struct.pack("<IHBBQQQ", 4, 40, 1, 2, 1 << 5, 0, 1024) + b"exename:/bin/x\n")
		    with open(name + "/task.txt", "w") as file:
		        file.write("".join(tasks))
		    with open(name + "/sid-0000000000000001.map", "w") as file:
		        file.write("".join(maps))
		    with open(name + "/1.dat", "wb") as file:
		        file.write(calls)
		calls = b"".join(record(i + 1, i & 1, 0x100000 * (200003 - i // 2)) for i in range(400000))
		start = 'SESS timestamp=0.000000001 pid=1 sid=0000000000000001 exename="/bin/x"\nTASK timestamp=0.1 tid=1 pid=1\n'
		directory("maps", [start], (f"{0x100000 * n:x}-{0x100000 * (n + 1):x} r-xp 0 08:01 1 /l/{n % 999}.so\n"
		                            for n in range(4, 200004)))
		sessions = (f'SESS timestamp=0.{2 * n:09} pid=1 sid={n + 2:016x} exename="/bin/x"\n' for n in range(60000))
		directory("sessions", [start, *sessions], [])
		for thread in range(2, 10):
		    os.link("sessions/1.dat", f"sessions/{thread}.dat")
		    with open("sessions/task.txt", "a") as file:
		        file.write(f"TASK timestamp=0.1 tid={thread} pid=1\n")
		directory("threads", [start], [])
		calls = b"".join(record(i, i & 1, 1) for i in range(4000))
		for thread in range(2, 900):
		    with open(f"threads/{thread}.dat", "wb") as file:
		        file.write(calls)
		threads = (f"TASK timestamp=0.1 tid={thread} pid=1\n" for thread in range(2, 200000))
		directory("tasks", [start, *threads], [])
	END
	timeout 20 trackway info maps >out 2>&1 || fail "$? $(tail -n 3 out)"
	timeout 20 trackway stat maps >out 2>&1 || fail "$? $(tail -n 3 out)"
	timeout 20 trackway stat sessions >out 2>&1 || fail "$? $(tail -n 3 out)"
	peak_below 48 convert --memory 16M --to csv -o out.csv threads
	run --separate-stderr trackway info --memory 16M tasks
	[ "$status" = 1 ] && [[ "$stderr" == *"[uftrace.thread-limit]"* ]] || fail "$status $stderr"
	peak_below 64 info --memory 16M tasks
}

@test "TraceLog: a hundred thousand sessions, objects announced again, and bodies compiled cost no look at each for each" {
	"$PYTHON" - <<-'PYTHON'
		start = "prf stm 2018-06-25 07:24:28.049 +09:00\n"
		domain = 'apd crf 0x00000000B6A00000 0x%08X 0x00000000 "x"\n'
		with open("sessions.log", "w") as file:
		    for i in range(100000):
		        file.write(start + domain % (i + 1) + "sam str 0x00000000 20 1 0:0 0x1\n")
		with open("domains.log", "w") as file:
		    file.write(start + "".join(domain % 1 for i in range(100000)))
		samples = "".join(f"sam str 0x00000000 {i} 1 0:{i and 1} 0x2:0x{i + 1:016x}\n" for i in range(20000))
		with open("bodies.log", "w") as file: # no instruction is in a body
		    file.write(start + samples)
		    for i in range(1020):
		        code = " ".join(f"0x{(i << 12) + 16 * k + 0x1000000:x}:0x8" for k in range(30))
		        file.write(f"fun inf 0x00000002 0x{i + 9:016x} 0x{1:016x} 0x{2:016x} 0x06000001 {code}\n")
	PYTHON
	for command in stat info; do
		for log in sessions domains bodies; do
			timeout 60 trackway $command $log.log >out 2>&1 || [ $? != 124 ] || fail "$command $log"
		done
	done
}

@test "TraceLog: sessions one after the other give their tables back, and full tables lose no compilation" {
	for i in {1..20}; do cat "$TRACKWAY_SOURCE/tests/data/tracelog/small-d2-64.log"; done >sessions.log
	alone=$(trackway sql --csv "$TRACKWAY_SOURCE/tests/data/tracelog/small-d2-64.log" 'select count(*) from slice' | tail -n 1)
	for memory in 2M 256M; do
		all=$(trackway sql --csv --memory $memory sessions.log 'select count(*) from slice' 2>told | tail -n 1)
		[ "$all" = $((20 * alone)) ] || fail "$memory: $all, not 20 times $alone"
		fails grep depth-mismatch told
	done
	grep -q table-limit <(trackway stat --memory 2M sessions.log 2>&1)
	trackway stat --memory 28M sessions.log >out 2>&1 # a quarter is enough for the names of all, not for all tables
	fails grep table-limit out
}

# Before, the time of each grew with the square of its size: minutes.
@test "single records among junk, and forks of forks, are read in a time that grows as their number does" {
	"${PYTHON:-python3}" - <<-'END'
		import os, struct
		def record(tick):
		    return struct.pack("<HBBiQIIQ", 0, 1, tick & 1, 1, 1000 + tick, 101, 100, 0)
		with open("lone", "wb") as out:
		    out.write(struct.pack("<HHIQ16x", 3, 0, 3, 10**9) + b"".join(map(record, range(100))))
		    out.write(b"".join(record(i) + b"\x77" * 32 for i in range(100, 100100)))
		os.mkdir("forks")
		def call(kind, time):
		    return struct.pack("<QQ", 5 * 10**9 + time, kind | 5 << 3 | 0x5000 << 16)
		for process in 70, 100070:
		    open(f"forks/{process}.dat", "wb").write(call(0, 1) + call(1, 3))
		open("forks/info", "wb").write(b"Ftrace!\0" + struct.pack("<IHBBQQQ", 4, 40, 1, 2, 0, 0, 0) + b"exename:/opt/a\n")
		open("forks/task.txt", "w").write('SESS timestamp=4.0 pid=70 sid=0011 exename="/opt/program"\n' + "".join(
		    f"FORK timestamp=4.{i:09d} pid={71 + i} ppid={70 + i}\n" for i in range(100000)))
	END
	run timeout 120 trackway stat --json lone
	[[ "$output" == *'"count":'* ]] || fail "$status $output"
	timeout 120 trackway info --json forks >told 2>&1 || fail "$?"
	grep -q '"thread":100070,.*"program"' told || fail "$(tail -c 300 told)"
}
