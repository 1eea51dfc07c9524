#!/usr/bin/env bats
# study.bats - what the commands over instructions print, of a trace made byte by byte.
# SPDX-License-Identifier: Apache-2.0

load helpers

# Three rounds of a loop that loads and stores at 0x1000, 0x1040, 0x1080, in a function that is called; then exit(0).
make_trace() { # directory
	mkdir -p "$1"
	"$PYTHON" - "$1" <<-'END'
		import struct, sys
		def pcinst(pc, op): return struct.pack("<BQI", 0x09, pc, op)
		def inst(op): return struct.pack("<BI", 0x01, op)
		def load(at): return struct.pack("<BQQ", 0x32, at, 7)
		def store(at): return struct.pack("<BQI", 0x2a, at, 7)
		def value(byte, x): return struct.pack("<BQ", byte, x)
		out = pcinst(0x400000, 0xd2800060) + inst(0x94000003)  # mov x0, #3; bl 0x400010
		for i in range(3):
		    out += pcinst(0x400010, 0xf9400021) + load(0x1000 + 64 * i)  # ldr x1, [x1]
		    out += inst(0xb9000422) + store(0x1004 + 64 * i)  # str w2, [x1, #4]
		    out += inst(0xf1000400) + inst(0x54ffffa1)  # subs x0, x0, #1; b.ne 0x400010
		out += pcinst(0x400020, 0xd65f03c0) + value(0x2b, 0x400008)  # ret
		out += pcinst(0x400008, 0xd4000001)  # svc #0
		out += b"".join(value(0x13, x) for x in (94, 0, 1, 2, 3, 4, 5))
		open(f"{sys.argv[1]}/xtrace.1.100.hint9.xinsndata.bin", "wb").write(out)
	END
}

@test "insns as text" {
	make_trace set
	trackway insns set >out
	grep -qx 'EL0              16  100.00 %' out
	grep -qx 'arithmetic              4  25.00 %' out
	grep -qx 'b.ne                 3  18.75 %' out
	grep -q '^          13  81.25 %      3       3         4         3              0       0  0x400010$' out
	trackway insns -n 1 set | grep -qx '\.\.\. and 7 more (--all)'
}

@test "blocks: 20 rows if nothing is said, and all where --top is 0" {
	mkdir set
	"$PYTHON" - <<-'END'
		import struct
		jump = 0x14000040  # b .+0x100
		out = b"".join(struct.pack("<BQI", 0x09, 0x400000 + 0x100 * i, jump) for i in range(25))
		open("set/xtrace.1.100.hint9.xinsndata.bin", "wb").write(out)
	END
	trackway blocks set | grep -qx '\.\.\. and 5 more (--all)'
	trackway blocks -n 0 set >out
	[ "$(grep -c ' b #0x40[0-9a-f]*$' out)" -eq 25 ] || fail "$(cat out)"
	trackway blocks --all set | cmp - out
}

@test "blocks as text, with the lines of their code" {
	make_trace set
	trackway blocks -n 1 set >out
	grep -qx '          12  75.00 %         3  0x400010       4  0x400010  ldr x1, \[x1\]' out
	grep -qx ' *b.ne #0x400010' out
	trackway blocks -n 1 --json set | grep -q '"code":\["ldr x1, \[x1\]","str w2, \[x1, #4\]","subs x0, x0, #1","b.ne #0x400010"\]'
}

@test "branches as text" {
	make_trace set
	trackway branches set >out
	grep -qx "conditional       1      3      2   66.67 %             2  66.67 %" out
	grep -qx '    3      2  66.67 %             2  66.67 %  0x40001c  0x400010  b.ne #0x400010' out
	grep -qx '    1             0  0.00 %        1  0x400020  return  0x400010  0x400008 (1)' out
	run trackway branches --history 25 set
	[ "$status" = 2 ]
}

@test "mem as text, and as a picture" {
	make_trace set
	trackway mem --reuse --interval 7 set | tr -s ' ' >out
	grep -qx ' 3 3 24 12 3 1' out
	grep -qx ' 64 64 4 100.00 %' out
	grep -qx ' 100 7 7 1 2 2 1 1 3' out
	grep -qx '0 3 50.00 % 50.00 %' out
	grep -qx 'first 3 50.00 % 100.00 %' out
	trackway mem set -o out.svg
	grep -q 'thread 100: lines of 64 bytes' out.svg
	# Ticks at round numbers, to the end, as those of times: each 2 of 16 are 128 pixels of 1,024.
	grep -qF '<text class="time" x="898" y="205">12</text>' out.svg
	grep -qF '<text class="time" x="1154" y="205">16</text>' out.svg
	grep -qF '<text class="value" x="116" y="205">instructions</text>' out.svg
	[ "$(grep -c '<path class="grid" d="M[0-9]* 70V190"/>' out.svg)" = 9 ]
	run trackway mem --svg --json set
	[ "$status" = 2 ]
	[ "${lines[0]}" = 'trackway: error: only one of --json and --svg' ]
}

@test "cache as text, and levels that make no sense" {
	make_trace set
	trackway cache -l 128:1:64:fifo -l 1K:2 set | tr -s ' ' >out
	grep -qx ' 1 L1D 128 1 64 fifo 3 3 3 0 50.00 %' out
	grep -qx ' 2 L2 1,024 2 64 lru 3 3 0 0 100.00 %' out
	grep -q '^ 3 3 3 100.00 % 0x400010 0x400010 ldr x1, \[x1\]$' out
	for level in 32K 32K: 32K:0 32K:3:64 1000:1 4K:1:48 32K:8:64:mru 32K:8:64:lru:1 K:1 32K:8:4 99999999999G:1; do
		run trackway cache -l $level set
		[ "$status" = 2 ] || fail "$level"
	done
	run trackway cache -l 1K:1 -l 1K:1 -l 1K:1 -l 1K:1 -l 1K:1 set
	[ "$status" = 2 ]
	[[ $output = *"at most 4 levels"* ]]
}

@test "cache: instructions, TLBs, prefetchers and a shared level as text, and those that make no sense" {
	make_trace set
	trackway cache -l 1K:2 --icache 64:1:16 --llc 4K:4 --itlb 1:1 --dtlb 2:1 --stlb 4:4 --page 64K --prefetch next-line set | tr -s ' ' >out
	# Fetches go to three lines of 16 bytes, those of the loop are in one.
	grep -qx ' 1 L1I 64 1 16 lru 16 3 18.75 %' out || fail "$(cat out)"
	grep -qx ' 1 L1D 1,024 2 64 lru 3 1 3 0 16.67 %' out || fail "$(cat out)"
	grep -qx ' 2 LLC 4,096 4 64 lru 1 1 0 0 3 1 50.00 %' out || fail "$(cat out)"
	grep -qx 'ITLB 1 1 65,536 16 1 6.25 %' out
	grep -qx 'STLB 4 4 65,536 2 2 100.00 %' out
	grep -qx 'next-line 1 3 2 66.67 % 3' out
	for wrong in "--icache 32K" "--icache 0:1" "--llc 1K:1:32" "--itlb 64" "--itlb 0:1" "--dtlb 6:4" "--stlb 4:4" "--page 5000" "--page 2G" \
		"--prefetch stride:0" "--prefetch stride:65" "--prefetch strides" "--prefetch next-line:" "-l 1K:1 -l 1K:1 -l 1K:1 -l 1K:1 --llc 1K:1"; do
		run trackway cache $wrong set
		[ "$status" = 2 ] || fail "$wrong"
		[[ ${lines[0]} = "trackway: error: "* ]] || fail "$wrong: $output"
	done
	for i in $(seq 101 164); do cp set/xtrace.1.100.hint9.xinsndata.bin set/xtrace.1.$i.hint9.xinsndata.bin; done
	run --separate-stderr trackway cache --llc 1M:16 set
	[ "$status" = 2 ]
	[ "$stderr" = "trackway: error: set has 65 threads: at most 64 share a cache (--thread chooses some)" ] || fail "$stderr"
	# All load a line, then the first one's store takes it from the other 63.
	trackway cache --llc 1M:16 --thread "$(seq -s, 100 163)" set | tr -s ' ' | grep -qx ' 3 LLC 1,048,576 16 64 lru 192 3 189 0 0.79 %'
}

tool() { # source, output, options...
	"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -shared -fPIC -I "$TRACKWAY_SOURCE/include" "$1" -o "$2" "${@:3}"
}

@test "insns --tool: an analysis of one's own, and files that are none" {
	make_trace set
	source=$TRACKWAY_SOURCE/examples/unaligned.c
	tool "$source" unaligned.so
	trackway insns --tool unaligned.so set >out # each store of 4 bytes, and each load of 8, is aligned
	[ ! -s out ] || fail "$(cat out)"
	sed 's/address % [^)]*)/size)/' "$source" >all.c
	tool all.c all.so
	printf 'Not aligned\nSIZE  COUNT\n   4      3\n   8      3\n' | diff - <(trackway insns --tool all.so set)
	trackway insns --tool ./all.so --json set | diff - <(echo '{"table":"unaligned","size":4,"count":3}
	{"table":"unaligned","size":8,"count":3}' | tr -d '\t')
	sed 's/TW_STUDY_TOOL_VERSION,/7,/' "$source" >seven.c
	tool seven.c seven.so
	sed 's/ merge, rows/ NULL, rows/; s/^static int merge/int merge/' "$source" >part.c
	tool part.c part.so
	sed 's/tw_study_tool = {/another = {/' "$source" >none.c
	tool none.c none.so
	sed 's/return 0;/return 1;/' "$source" >fails.c
	tool fails.c fails.so
	echo "no object" >text.so
	while IFS='|' read -r file told; do
		run trackway insns --tool $file set
		[ "$status" = 2 ] || fail "$file: $output"
		[ "$output" = "trackway: error: $told" ] || fail "$file: $output"
	done <<-END
		missing.so|missing.so: No such file or directory
		text.so|text.so: file too short
		none.so|none.so: has no symbol tw_study_tool: expected a tool, as trackway/study.h describes it
		seven.so|seven.so: was built for version 7 of the interface of tools: this is 1
		part.so|part.so: its tw_study_tool lacks a name, a title, columns or a function
	END
	run trackway insns --tool fails.so set
	[ "$status" = 2 ] || fail "$output"
}

@test "ranges that make no sense, and those that nothing is in" {
	make_trace set
	for wrong in "--from-insn 5 --to-insn 5" "--to-insn 0" "--from-address 0x10 --to-address 16" "--exception-level EL2" "--function a --function b"; do
		run trackway insns $wrong set
		[ "$status" = 2 ] || fail "$wrong"
	done
	run trackway cut --from-address 0x10 --to-address 16 set -o out
	[ "$status" = 2 ]
	for command in insns blocks branches mem cache syscalls calls phases; do
		trackway $command --from-insn 99 set 2>err
		[ "$(cat err)" = "trackway: no instruction passes the filters" ] || fail "$command: $(cat err)"
		trackway $command --from-insn 2 --to-insn 9 --function '0x*' --exception-level EL0 --from-address 0x400000 --to-address 0x400100 set >out
		[ -s out ] || [ $command = syscalls ]
	done
	trackway insns --from-insn 2 --to-insn 9 set | grep -qx 'EL0               7  100.00 %'
	run trackway cut --exception-level EL0 "$DATA/fxt/oneshot_all.fxt" -o out
	[ "$status" = 2 ]
	[ "$output" = "trackway: error: $DATA/fxt/oneshot_all.fxt: a trace of format fxt has no instructions to choose from" ] || fail "$output"
}

# Python's table of errno.h tells the names.
@test "syscalls: all errors of a call are told, however many" {
	mkdir set
	"$PYTHON" - set <<-'END'
		import struct, sys
		out = b""
		for error in range(1, 35):
		    out += struct.pack("<BQI", 0x09, 0x400000, 0xd4000001)  # svc #0
		    out += b"".join(struct.pack("<BQ", 0x13, x) for x in (57, 3, 0, 0, 0, 0, 0))
		    out += struct.pack("<Bq", 0x1b, -error)
		    out += struct.pack("<BI", 0x01, 0x17ffffff)  # b .-4
		open(f"{sys.argv[1]}/xtrace.1.100.hint9.xinsndata.bin", "wb").write(out)
	END
	trackway syscalls --json set >out
	"$PYTHON" - out <<-'END'
		import errno, json, sys
		call = json.loads(open(sys.argv[1]).readline())
		wanted = ", ".join(f"{errno.errorcode[number]} (1)" for number in range(1, 35))
		assert call["error_names"] == wanted, call
	END
}

@test "syscalls as text" {
	make_trace set
	trackway syscalls set | tr -s ' ' >out
	grep -qx ' 1 0 1 94 exit_group' out
	grep -qx ' 100 15 exit_group(0) = ?' out
	trackway syscalls --json set | grep -q '"arguments":\["0x0","0x1","0x2","0x3","0x4","0x5"\],"result":null'
}

@test "calls as text, and as a flame graph" {
	make_trace set
	trackway calls set | tr -s ' ' >out
	grep -qx ' 16 100.00 % 3 18.75 % 1 0x400000' out
	grep -qx ' 13 81.25 % 13 1 0x400010' out
	trackway calls set | grep -q '  13  *1    0x400010$'
	trackway calls set -o out.svg
	grep -q '16 instructions' out.svg
}

@test "what all formats have, in instructions" {
	make_trace set
	trackway info set | grep -qx 'span: *16 instructions'
	# All values begin in one column, behind the longest name.
	[ "$(trackway info set | sed -n '/^file:/,/^damage:/s/^\([a-z ]*: *\).*/\1/p' | awk '{ print length }' | sort -u)" = 23 ]
	trackway stat set >out
	head -1 out | grep -q '^CALLS  INSTRUCTIONS  SELF '
	grep -q '^    1            13    13  .*  0x400010$' out
	trackway stat --json set | grep -q '"name":"0x400010","weight":"instructions",.*"total":13,"self":13,"min":13,'
	trackway stacks set | grep -q '13 instructions self, 1 call'
	trackway graph set | grep -q 'total 13 instructions'
	trackway flame -o out.svg set
	grep -q '16 instructions in' out.svg
	trackway diff --json set set | grep -q '"weight":"instructions","self_a":13,"self_b":13,.*"p50_a":13,'
	trackway stat --weight calls set | diff out -
	run trackway stat --weight instructions "$DATA/fxt/oneshot_all.fxt"
	[ "$status" = 2 ]
	[[ $output == *'there is no weight "instructions": fxt has calls'* ]]
	run trackway stat set "$DATA/fxt/oneshot_all.fxt"
	[[ $output == *'fxt tells of calls, the files before of instructions: they are no sum'* ]]
}

@test "phases as text, and SimPoint's files" {
	make_trace set
	trackway phases --interval 4 --save app set | tr -s ' ' >out
	grep -qx ' 1 50.00 % 2 1 100 4 4' out
	grep -qx ' 3 100.00 %' out
	grep -qx ' 3 100 12 4 3 2' out
	printf 'T:1:2 :2:2 \nT:2:4 \nT:2:4 \nT:2:2 :3:1 :4:1 \n' | diff - app.bb
	printf '0 0\n1 1\n3 2\n' | diff - app.simpoints
	printf '0.250000 0\n0.500000 1\n0.250000 2\n' | diff - app.weights
	# A colour for each phase, of those that all pictures have, in its strip and beside what is said of it.
	trackway phases --interval 4 -o phases.svg set
	number=0
	while grep -q "phase $number:" phases.svg; do
		[ "$(grep -c "<rect class=\"c$number\" " phases.svg)" -ge 2 ]
		number=$((number + 1))
	done
	[ "$number" -ge 1 ] && ! grep -q hsl phases.svg
	run trackway phases --save /none/app set
	[ "$status" = 2 ]
	[[ $output = *"/none/app.bb: No such file or directory"* ]]
	run trackway phases -k 0 set
	[ "$status" = 2 ]
}

@test "a trace without instructions, and one cut in the middle" {
	make_trace set
	: >empty
	for command in insns blocks branches mem cache syscalls calls phases; do
		run trackway $command "$DATA/fxt/oneshot_all.fxt"
		[ "$status" = 2 ]
		[[ $output = *"no instructions"* ]]
		run trackway $command --thread 7 set
		[ "$status" = 0 ]
		[[ $output = *"no instruction passes the filters: --thread 7"* ]]
	done
	truncate -s -3 set/*
	run trackway insns set
	[ "$status" = 1 ]
	[[ $output = *xtrace.cut-token* ]]
	[[ $output = *"EL0"* ]]
}

@test "what holds one thread is not made of several, or of none" {
	make_trace set
	for target in champsim tarmac; do
		trackway convert --to $target set -o one
		[ -s one ]
		run trackway convert --thread 7 --to $target set -o none
		[ "$status" = 2 ]
		[[ $output = *"there is no such thread"* ]]
		[ ! -e none ]
	done
	cp set/xtrace.1.100.hint9.xinsndata.bin set/xtrace.1.101.hint9.xinsndata.bin
	for target in champsim tarmac; do
		run trackway convert --to $target set -o several
		[ "$status" = 2 ]
		[[ $output = *"choose it (--thread)"* ]]
		[ ! -e several ]
		trackway convert --thread 101 --to $target set -o other
		[ -s other ]
	done
}

# Trails, which most of a trace is read by, are left and made anew; what is counted is not to depend on them.
@test "rounds that are not quite the same each time" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/rounds.py" rounds
	for command in insns blocks mem check; do
		trackway $command --json rounds >>out || [ $? = 1 ]
	done
	"$PYTHON" - <<-'END'
		import json
		want, got = json.load(open("rounds.json")), {"findings": []}
		rules = {rule for _, rule in want["findings"]}
		for row in map(json.loads, open("out")):
		    table = row.get("table", "finding")
		    if table in ("level", "mnemonic"):
		        got.setdefault(table, {})[row[table]] = row["count"]
		    elif table == "block":
		        got.setdefault("executed", {})[str(row["pc"])] = row["executed"]
		    elif table == "size":
		        got.setdefault(table, {})[str(row["size"])] = row["loads"]
		    elif table == "total":
		        got["lines"] = row["lines"]
		    elif row.get("rule") in rules:
		        got["findings"].append([row["record"], row["rule"]])
		assert got == want, (got, want)
	END
}
