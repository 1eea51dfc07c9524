#!/usr/bin/env bats
# field.bats - small traces made after public reports, each with what is right of it.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

told() { # members of the rows of JSON on standard input, a row a line
	"$PYTHON" -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(*("-" if row.get(key) is None else row[key] for key in sys.argv[1:]))' "$@"
}

# The whole collection: a file that is not here has no test.
@test "every input of the collection is among the data of the tests" {
	need_corpus
	(cd "$TRACKWAY_SOURCE/tests/data" && find . -type f -exec md5sum {} + | cut -c1-32 | sort -u) >here
	(cd "$CORPUS/field" && find . -type f ! -name README.md -exec md5sum {} +) | while read -r sum file; do
		grep -qx "$sum" here || fail "$file"
	done
}

# Brendan Gregg's flamegraph.pl: the count is what follows the last white space.
@test "folded: a mark of byte order is no part of a frame, and a tab stands before a count" {
	for f in bom tab; do
		trackway stat --json "$DATA/field/folded/$f.folded" | told name self total >rows
		printf '%s\n' 'c 8 8' 'b 7 7' 'a 0 15' | diff - rows || fail "$f"
		trackway flame --folded "$DATA/field/folded/$f.folded" >folded
		printf 'a;b 7\na;c 8\n' | diff - folded || fail "$f"
	done
}

# LLVM's runtime: a number of an object in the upper 8 bits of the id, that of the function below.
@test "XRay: ids of functions in shared objects are told with their object" {
	trackway stat --json "$DATA/field/xray/dso-fdr.xray" 2>/dev/null | told name >names
	printf '%s\n' '#1:1' '#15:2' '#1:5' '#2:1' '#607' | sort | diff - <(sort names)
	trackway stat --json "$DATA/field/xray/dso-basic.xray" 2>/dev/null | told name >names
	printf '%s\n' '#16:2' '#1:1' '#607' '#200:3' | sort | diff - <(sort names)
}

@test "XRay: zeros over the end of a buffer, and four bytes that are missing, invent no call, thread or id" {
	trackway stat --json --by thread "$DATA/field/xray/fdr_min_zero.xray" 2>/dev/null | told name count thread >rows ||
		true
	printf '%s\n' '#1 5 101' '#3 6 303' | diff - <(sort rows)
	trackway stat --json --by thread "$DATA/field/xray/basic_min.xray" 2>/dev/null | told name count thread >rows || true
	printf '%s\n' '#1 1 101' '#2 1 101' '#3 1 101' '#4 1 101' | diff - <(sort rows)
}

@test "XRay: a log of three functions, and one without a call" {
	trackway stat --json "$DATA/field/xray/id123.xray" 2>/dev/null | told name count total_ns >rows
	printf '%s\n' '#1 1 10' '#2 1 10' '#3 1 10' | diff - <(sort rows)
	trackway check "$DATA/field/xray/id123.xray"
	trackway check "$DATA/field/xray/e.f" >checked
	grep -q 'there are no buffers: no function was patched' checked
	[ -z "$(trackway stat --json "$DATA/field/xray/e.f" 2>/dev/null)" ]
}

@test "XRay: a map as llvm-xray writes it names functions; another program's is told" {
	trackway stat --json --binary "$DATA/maps/fork.yaml" "$DATA/fork/basic-fork.xray" 2>err | told name count | sort >rows
	printf '%s\n' '#4 1' '#5 2' 'last 2' 'leaf 683' 'mid 5' | diff - rows
	grep -q 'the log has #5, which it has not: is it the program that was traced?' err
}

@test "FXT: an archive without its first records is read, and two of its counters are told" {
	trackway stat --json "$DATA/fxt/ftfcut.fxt" 2>/dev/null | told name count total_ns >rows
	[ "$(cat rows)" = 'test_event 2 1000' ]
	trackway check "$DATA/fxt/ftfcut.fxt" >checked
	[ "$(grep -c 'A value of a counter is not a number' checked)" = 2 ]
}

@test "TraceLog: 50 and 500 objects of one run each are no noise; two sessions are told" {
	trackway diff "$DATA/tracelog/da.log" "$DATA/tracelog/db.log" 2>err >text
	grep -q 'how much runs differ by themselves (noise) is unknown' err
	grep -Eq '^ +50 +500 +\+450 +10x +A::Main$' text
	trackway diff --weight bytes "$DATA/tracelog/da.log" "$DATA/tracelog/db.log" 2>/dev/null >text
	grep -Eq '\+10.5 KiB +10x ' text || fail "$(cat text)"
	fails grep -q -i noise text
	trackway check "$DATA/tracelog/t32-two-sessions.log" >checked
	grep -q ':11:1: note: another session starts, 86400000 ms after the first' checked
	trackway stat --json "$DATA/tracelog/t32-two-sessions.log" 2>/dev/null | told self | paste -sd+ | grep -qx 1+1
}

# Two logs one after the other are two processes: each has what it has alone, a day and 20 ms apart.
@test "TraceLog: another session is a process of its own, with its own numbers, times and window" {
	two="$DATA/tracelog/t32-two-sessions.log"
	trackway stat --by thread "$two" 2>/dev/null >rows
	grep -Eq ' 0 +0 +OS thread 100 +A::Main$' rows
	grep -Eq ' session 2 +0 +C::Other$' rows || fail "$(cat rows)"
	trackway sql --csv "$two" 'select pid, name from process order by pid' | diff - <(printf '%s\n' pid,name 0, '4294967297,session 2')
	trackway info "$two" >told
	grep -Eq '^span: +86400 s$' told
	grep -Eq '^processes: +2$' told
	grep -Eq '^ +0 +4294967297 +2 +70 bytes +86400 s +86400 s$' told || fail "$(cat told)"
	trackway cut --from-time 86400s -o late.log "$two"
	trackway stat --json late.log | told name self | diff - <(echo 'C::Other 1')
	trackway cut --to-time 86400s -o early.log "$two"
	trackway stat --json early.log | told name self | diff - <(echo 'A::Main 1')
	trackway cut --from-time 86400.03s -o none.log "$two" 2>/dev/null || true
	trackway stat --json none.log 2>/dev/null | fails grep -q "C::"
	trackway dump --from-time 1s "$two" | fails grep -q A::Main
	# What has no name in the first keeps its number there.
	grep -v 'fun .*0x00000002 .*A' "$two" >unnamed.log
	trackway stat --json unnamed.log | told name self | sort | diff - <(printf '%s\n' 'C::Other 1' 'function 0x2 1')
	# The second starts before the first, and in another zone at the same moment: it starts with the first.
	sed 's/06-26 07:24:28.049 +09:00/06-25 08:24:28.049 +10:00/' "$two" >same.log
	trackway check same.log | grep -q ':11:1: note: another session starts, 0 ms after the first'
	trackway info same.log | grep -Eq '^span: +40.00 ms$'
	sed 's/2018-06-26/2017-06-26/' "$two" >before.log
	trackway check before.log | grep -q ':11:1: note: another session starts, 0 ms after the first'
}

@test "TraceLog: a log behind another has the same rows as alone" {
	sed 's/^prf stm .*/prf stm 2018-06-27 07:24:28.049 +09:00/' "$DATA/tracelog/small-d2-64.log" >second.log
	cat "$DATA/tracelog/kinds.log" second.log >both.log
	for command in 'stat --by thread' 'alloc' 'gc' 'jit' 'cpu'; do
		for log in "$DATA/tracelog/kinds.log" second.log; do
			trackway $command --json "$log" 2>/dev/null || true
		done >alone
		trackway $command --json both.log >both 2>/dev/null || true
		"$PYTHON" - "$command" <<-'PYTHON'
			import json, sys
			KEYS = ("table", "function", "class", "name", "generation", "reason")
			SUMS = ("self", "count", "bytes", "pause_ns", "after_bytes", "promoted_bytes", "self_ns", "compiled",
			        "code_bytes", "cached", "total_ns", "samples")
			def sums(path):
			    found = {}
			    for row in map(json.loads, open(path)):
			        key = tuple(str(row.get(key)) for key in KEYS)
			        for name in SUMS:
			            if isinstance(row.get(name), int):
			                found[key, name] = found.get((key, name), 0) + row[name]
			    return found
			alone, both = sums("alone"), sums("both")
			differ = {key: (alone.get(key), both.get(key)) for key in alone.keys() | both.keys()
			          if alone.get(key) != both.get(key)}
			assert alone and not differ, (sys.argv[1], differ)
		PYTHON
	done
}

# The document of xtrace: an exception is a call that ERET ends.
@test "xtrace: system calls whose vector calls; two processes on a core" {
	trackway calls --json "$DATA/field/xtrace/nest" >all
	grep '"table":"function"' all | told function self calls total | sort >rows
	printf '%s\n' '0x400000 4 1 13' '0xffff800008000c00 3 3 9' '0xffff800008000c08 6 3 6' | diff - rows
	trackway syscalls "$DATA/field/xtrace/svcmix" >rows
	grep -q 'read(0, NULL, 0) = 11$' rows
	grep -q 'write(0, NULL, 0) = 22$' rows
}

@test "xtrace: a snapshot at a token, two files of a thread, a block of zeros" {
	trackway check "$DATA/field/xtrace/snapmid2" | grep -q ': fine'
	trackway replay "$DATA/field/xtrace/snapmid2" | grep -q '10 instructions from 2 snapshots, no difference'
	trackway info --json "$DATA/field/xtrace/file2" | grep -q '"instructions":22[,}]'
	trackway check "$DATA/field/xtrace/file2" >checked
	[ "$(grep -c snapshot checked)" = 0 ]
	trackway mem --json "$DATA/field/xtrace/zva_dconly" >rows
	grep '"table":"total"' rows | grep -q '"stored_bytes":64'
}

@test "xtrace: a main core and another, numbers of both hints, interrupts, headers that disagree" {
	local x=$DATA/field/xtrace
	trackway info --json "$x/core1c" | grep -o '"thread":[0-9]*' | sort -u | paste -sd' ' | grep -qx '"thread":0 "thread":1'
	trackway check "$x/core1c" | grep -q ': fine'
	trackway check "$x/both" >checked
	grep -q 'Hint 9 has a stream of number 0, too' checked
	trackway info --json "$x/both" | grep -q '"threads":2,'
	for f in irq vl384 emptysnap; do trackway check "$x/$f" | grep -q ': fine' || fail "$f"; done
	trackway check "$x/rndr_noflags" | grep -q 'note: .*has no MISC_FLAGS'
	trackway check "$x/order1none" | grep -q 'The header says that there are TIMEs; there are none'
	trackway check "$x/hdrmismatch" >checked
	grep -q 'The division is 7: expected 0 or 1' checked
	grep -q 'The header tells of a thread, and the set is of cores' checked
	fails trackway replay "$x/emptysnap" 2>said
	grep -q 'has no snapshots beside it to begin at' said
	for f in irq:6 rndr_noflags:2 vl384:11 emptysnap:11 order1none:11; do
		trackway info --json "$x/${f%:*}" | grep -q "\"instructions\":${f#*:}[,}]" || fail "$f"
	done
}
