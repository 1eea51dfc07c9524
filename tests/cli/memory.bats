#!/usr/bin/env bats
# memory.bats - commands whose memory runs out: they end by themselves, and say so.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

HERE="$TRACKWAY_SOURCE/tests/cli"

setup_file() {
	cc=$(command -v cc || command -v clang-14 || command -v clang) || return 0
	"$cc" -shared -fPIC "$HERE/scarce.c" -o "$BATS_FILE_TMPDIR/scarce.so" || return 0
}

# Skips the test where nothing can be loaded before the tool, as with sanitizers.
need_scarce() {
	SCARCE="$BATS_FILE_TMPDIR/scarce.so"
	[ -e "$SCARCE" ] || skip "no C compiler, or no glibc"
	LD_PRELOAD="$SCARCE" SCARCE_COUNT=count trackway --version >out 2>err && [ ! -s err ] && [ "$(cat count)" -gt 0 ] ||
		skip "nothing can be loaded before the tool"
}

scarce() { "$PYTHON" "$HERE/scarce.py" "$SCARCE" "$@"; }

# An archive of several pieces, which are read and decoded by several threads.
pieces() {
	for i in 1 2 3 4 5 6; do cat "$DATA/fxt/streaming.fxt"; done
}

@test "no memory: FXT is read by one thread and by two" {
	need_scarce
	pieces >a.fxt
	for jobs in 1 2; do
		scarce 25 trackway info --jobs $jobs "$PWD/a.fxt"
		scarce 25 trackway check --jobs $jobs "$PWD/a.fxt"
		scarce 25 trackway stat --jobs $jobs "$PWD/a.fxt"
		scarce 25 trackway convert --to chrome --jobs $jobs "$PWD/a.fxt" -o out.json
	done
}

# String 1 is "a", and then "b": one note, which is remembered so that it is told once.
@test "no memory: what is told once is told" {
	need_scarce
	"$PYTHON" - >a.fxt <<-'END'
		import struct, sys
		words = 0x0016547846040010, 0x110010, 0x0000000100010022, 0x61, 0x0000000100010022, 0x62
		sys.stdout.buffer.write(struct.pack("<6Q", *words))
	END
	run trackway check --jobs 1 a.fxt
	[[ $output == *fxt.string-replaced* ]]
	scarce 200 trackway check --jobs 1 "$PWD/a.fxt"
}

@test "no memory: FXT is rewritten, cut and listed" {
	need_scarce
	pieces >a.fxt
	scarce 20 trackway repair "$DATA/fxt/oneshot_all.fxt" -o out.fxt
	scarce 20 trackway cut --from-time 1ms "$PWD/a.fxt" -o out.fxt
	for command in dump log blobs sched; do
		scarce 10 trackway $command "$DATA/fxt/oneshot_all.fxt"
	done
	scarce 20 trackway counters "$DATA/fxt/streaming.fxt"
}

@test "no memory: analyses and exports" {
	need_scarce
	pieces >a.fxt
	for command in stacks graph flame; do
		scarce 10 trackway $command "$PWD/a.fxt"
	done
	for target in perfetto speedscope pprof callgrind firefox folded csv jsonl; do
		scarce 10 trackway convert --to $target "$PWD/a.fxt" -o -
	done
	scarce 10 trackway convert --to ctf "$PWD/a.fxt" -o out
	scarce 10 trackway convert --to fxt "$PWD/a.fxt" -o out.fxt.gz
	scarce 10 trackway diff "$DATA/fxt/streaming.fxt" "$DATA/fxt/oneshot_all.fxt"
}

@test "no memory: the other formats" {
	need_scarce
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/uftrace.py" write data
	"$PYTHON" "$HERE/rounds.py" rounds
	printf 'main;work 10\nmain;work;inner 7\nmain;idle 5\n' >a.folded
	for file in "$DATA/xray/v5.xray" "$DATA/xray/basic-v3.xray" "$DATA/tracelog/kinds.log" "$DATA/chrome/pid0.json" \
		"$PWD/a.folded" "$PWD/data" "$PWD/rounds"; do
		for command in info check stat; do
			scarce 10 trackway $command "$file"
		done
	done
	scarce 20 trackway repair "$DATA/xray/v5.xray" -o out.xray
	scarce 10 trackway convert --to fxt "$DATA/xray/v5.xray" -o out.fxt
	scarce 20 trackway convert --to chrome "$DATA/tracelog/kinds.log" -o out.json
	for command in alloc jit gc cpu; do
		scarce 10 trackway $command "$DATA/tracelog/kinds.log"
	done
}

@test "no memory: questions" {
	need_scarce
	scarce 40 trackway sql "$DATA/fxt/streaming.fxt" 'select name, count(*), sum(dur) from slice group by name order by 2, 1'
}

@test "no memory: compressed input and output" {
	need_scarce
	cp "$DATA/fxt/streaming.fxt" a.fxt
	cp "$DATA/tracelog/kinds.log" a.log
	for ending in gz zst; do
		[ $ending = gz ] && gzip a.fxt a.log || { gunzip a.fxt.gz a.log.gz && zstd -q a.fxt a.log; }
		scarce 30 trackway dump "$PWD/a.log.$ending"
		scarce 10 trackway check --jobs 2 "$PWD/a.fxt.$ending"
		scarce 10 trackway convert --to chrome "$PWD/a.fxt.$ending" -o out.json.$ending
	done
}

# Each allocation of these, because it was one of them.
@test "no memory: exports of a log with objects, counters and samples" {
	need_scarce
	scarce 250 trackway convert --to chrome "$DATA/tracelog/kinds.log" -o out.json
	scarce 150 trackway convert --to firefox "$DATA/tracelog/kinds.log" -o out.json
}

@test "no memory: several traces at a time, a database" {
	need_scarce
	pieces >a.fxt
	scarce 30 trackway merge --jobs 2 "$PWD/a.fxt" "$PWD/a.fxt" -o out.fxt
	scarce 20 trackway merge --jobs 2 "$DATA/fxt/oneshot_all.fxt" "$DATA/xray/v5.xray" "$DATA/tracelog/kinds.log" -o out.fxt
	scarce 10 trackway sql -o out.db "$DATA/fxt/oneshot_all.fxt"
}

@test "no memory: traces of instructions" {
	need_scarce
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --threads 2 --turns 40 set >facts
	for command in info check stat; do
		scarce 15 trackway $command "$PWD/set"
	done
	scarce 40 trackway syscalls "$PWD/set"
	for command in mem calls phases; do
		scarce 15 trackway $command "$PWD/set"
	done
}

# What is loaded by those who need it may be too large, too; and unicorn ends the program, with the status of a trace
# that differs, where it has too little.
@test "little memory: instructions are shown as they are, or not at all" {
	need_scarce
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --threads 2 --turns 40 set >facts
	for command in "dump set" "blocks set"; do
		trackway $command >expected
		for size in 14000 17700 20000 24000 28000 32000; do
			status=0
			(ulimit -v $size && exec trackway $command) >found 2>err || status=$?
			if [ $status = 0 ]; then
				cmp expected found || fail "$command: with $size KB"
			else
				[ $status != 1 ] || fail "$command: with $size KB: $(cat err)"
			fi
		done
	done
	for size in 60000 200000; do
		status=0
		(ulimit -v $size && exec trackway replay set) >found 2>err || status=$?
		[ $status != 1 ] || fail "replay: with $size KB: $(cat err)"
	done
}

@test "little memory: it is no limit of --memory that was reached" {
	need_scarce
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/hostile.py" names log
	for command in stat graph; do
		status=0
		(ulimit -v 60000 && exec trackway $command --memory 64G log) >/dev/null 2>err || status=$?
		[ $status = 2 ] || fail "$command: $status: $(cat err)"
		grep -q '^trackway: error: log: out of memory$' err || fail "$command: $(cat err)"
		fails grep -e 'memory limit' -e '--memory' err
	done
}

# Where it ends some of what was read ahead has been given out, and some has not.
@test "little memory: Chrome JSON of many names ends in the middle" {
	need_scarce
	"$PYTHON" -c 'for i in range(300000):
		print("[" * (i == 0) + "{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"name\":\"function%d\"}," % (i * 3, i))' >log
	for command in stat "convert --to speedscope -o out"; do
		status=0
		(ulimit -v 60000 && exec trackway $command --memory 64G log) >/dev/null 2>err || status=$?
		[ $status = 2 ] || fail "$command: $status: $(cat err)"
		grep -q '^trackway: error: .*out of memory$' err || fail "$command: $(cat err)"
	done
}
