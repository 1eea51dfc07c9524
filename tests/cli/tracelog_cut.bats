# tracelog_cut.bats - parts of TraceLog logs: they stand alone, and say what the filters say of the whole.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Makes a log of a size in bytes: generate OUT SIZE OPTION...
generate() {
	local out=$1 size=$2
	shift 2
	cc=$(command -v cc || command -v clang-14 || command -v clang) || skip "no C compiler"
	local program=$BATS_FILE_TMPDIR/gen_tracelog
	[ -x "$program" ] || "$cc" -O1 -o "$program" "$TRACKWAY_SOURCE/bench/gen_tracelog.c"
	"$program" --size "$size" "$@" "$out"
}

# What the commands say of a part is what they say of the whole with the same filters: same_weights LOG WEIGHTS FILTER...
same_weights() {
	local log=$1 weights=$2 weight command
	shift 2
	trackway cut "$@" "$log" -o part.tracelog
	trackway check part.tracelog >check.out || fail "$(cat check.out)"
	for weight in $weights; do
		for command in stat stacks; do
			trackway $command --json --weight $weight "$@" "$log" >whole
			trackway $command --json --weight $weight part.tracelog >part
			cmp whole part || fail "$command --weight $weight $* of $log"
		done
	done
}

# The samples of a part are those of the log, each with the stack that the document's rules make.
same_stacks() { # log from to
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/tracelog_stacks.py" "$2" "$3" <"$1" >whole
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/tracelog_stacks.py" <part.tracelog >part
	cmp whole part
	[ -s whole ]
}

# Lines, each an argument.
write_log() { # log line...
	local log=$1
	shift
	printf '%s\n' "$@" >"$log"
}

@test "cut: a time window, a thread of logs in all dialects" {
	for log in kinds small-d2-64 d0 d1 vs; do
		same_weights "$DATA/tracelog/$log.log" "samples bytes allocations" --from-time 30ms --to-time 75ms
		same_weights "$DATA/tracelog/$log.log" "samples cpu wall bytes allocations" --thread 0
	done
}

@test "cut: windows of generated logs, by our weights and by stacks rebuilt on their own" {
	generate d1.log 300000 --dialect d1 --threads 2
	generate d2.log 900000 --dialect d2 --threads 5 --seed 7 --pointers 32
	generate d3.log 2000000 --dialect d3 --threads 9 --seed 3
	for log in d1 d2 d3; do
		for window in "0 200" "330 340" "400 1700" "1000 99999"; do
			set -- $window
			same_weights $log.log "samples bytes allocations" --from-time "${1}ms" --to-time "${2}ms"
			same_stacks $log.log "$1" "$2"
		done
	done
}

@test "cut: a thread of a generated log has all that it had, in every weight" {
	generate d3.log 1000000 --dialect d3 --threads 6 --seed 4
	same_weights d3.log "samples cpu wall bytes allocations" --thread 2
	same_weights d3.log "samples cpu wall bytes allocations" --thread 1,4
}

# A sample stands for the time since the one before, so that names do not filter samples here.
@test "cut: by function all samples, and only its compilations" {
	log="$DATA/tracelog/small-d2-64.log"
	trackway cut --function '*Read*' "$log" -o part.tracelog
	trackway check part.tracelog
	trackway convert --to csv "$log" -o - | grep -E '(stack|allocation)-sample' | cut -d, -f 1-8,11- >whole
	trackway convert --to csv part.tracelog -o - | grep -E '(stack|allocation)-sample' | cut -d, -f 1-8,11- >part
	[ -s whole ]
	cmp whole part
	trackway stacks --json --function '*Read*' "$log" >whole
	trackway stacks --json --function '*Read*' part.tracelog | cmp whole -
	# what was compiled inside of them is not in the part: their own time is longer there
	trackway jit --json --function '*Read*' "$log" | grep '^{"name"' | sed 's/"self_ns":[0-9]*,//; s/,"cpu_ns":[^}]*//' >whole
	trackway jit --json part.tracelog | grep '^{"name"' | sed 's/"self_ns":[0-9]*,//; s/,"cpu_ns":[^}]*//' | cmp whole -
}

@test "cut: nothing passes" {
	for filter in "--from-time 99s" "--thread 98"; do
		trackway cut $filter "$DATA/tracelog/kinds.log" -o part.tracelog 2>err
		[[ "$(cat err)" == "trackway: nothing passes the filters: ${filter%% *} "* ]] || fail "$(cat err)"
		trackway check part.tracelog
	done
	trackway cut --from-time 20ms "$DATA/tracelog/kinds.log" -o part.tracelog 2>err
	fails grep -q nothing err
}

@test "cut: samples have no category" {
	log="$DATA/tracelog/small-d2-64.log"
	trackway cut --category 'jit*' "$log" -o part.tracelog
	trackway check part.tracelog
	fails grep -q '^sam' part.tracelog
	trackway cut --category '*' "$log" -o part.tracelog
	[ "$(grep -c '^sam' part.tracelog)" -eq "$(grep -c '^sam' "$log")" ]
}

@test "cut: compilations and collections begin and end at the edges of the window" {
	generate d3.log 1000000 --dialect d3 --seed 6
	trackway cut --from-time 501ms --to-time 1234ms d3.log -o part.tracelog
	trackway jit --json --from-time 501ms --to-time 1234ms d3.log >whole
	trackway jit --json part.tracelog | cmp whole -
	[ -s whole ]
	write_log log "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" "jit cms 42 1 0x00000001" "jit cmf 42 2 0x00000001 0x00000000" \
	    "jit cms 42 5 0x00000002" "gch gcs 42 6 induced tfff" "gch gcs 7 8 ? ttff" "jit css 42 12 0x00000003" "gch gcf 42 15" \
	    "jit csf 42 18 0x00000003" "gch gcf 7 22" "jit cms 42 25 0x00000004" "jit cmf 42 27 0x00000004 0x00000000" \
	    "jit cmf 42 31 0x00000002 0x00000000"
	trackway cut --from-time 10ms --to-time 20ms log -o part.tracelog
	diff <(grep -v '^prf cfg Part' part.tracelog) - <<-END
		thr crt 0x00000010 0x00000000
		thr aos 0x00000000 42
		jit cms 42 10 0x00000002
		gch gcs 42 10 induced tfff
		gch gcs 7 10 ? ttff
		jit css 42 12 0x00000003
		gch gcf 42 15
		jit csf 42 18 0x00000003
		gch gcf 7 20
		jit cmf 42 20 0x00000002 0x00000000
	END
}

@test "cut: pauses that reach into the window stay, from its start or to its end" {
	write_log log "prf tps 1" "prf trs 2" "prf tps 5" "gch gen 12 loh:1:2" "prf trs 15" "sam str 0x00000000 16 1 0:0 0x1" \
	    "prf tps 18" "prf trs 25" "prf tps 26" "prf trs 27"
	trackway cut --from-time 10ms --to-time 20ms log -o part.tracelog
	diff <(grep -v '^prf cfg Part' part.tracelog) - <<-END
		prf tps 10
		gch gen 12 loh:1:2
		prf trs 15
		sam str 0x00000000 16 1 0:0 0x1
		prf tps 18
		prf trs 20
	END
	trackway cut --from-time 6ms --to-time 11ms log -o part.tracelog
	printf 'prf tps 6\nprf trs 11\n' | diff <(grep -v '^prf cfg Part' part.tracelog) -
	trackway cut --from-time 15ms --to-time 17ms log -o part.tracelog
	printf 'sam str 0x00000000 16 1 0:0 0x1\n' | diff <(grep -v '^prf cfg Part' part.tracelog) -
}

@test "cut: a sample behind others that are left out tells the whole change" {
	write_log log "sam str 0x00000000 10 1 0:0 0x1:0xA 0x2 0x3" "sam str 0x00000001 10 1 0:0 0x7" "sam str 0x00000000 11 1 2:3:0xB 0x4" \
	    "sam str 0x00000000 20 2 3:3" "sam str 0x00000000 21 1 1:3:0xC 0x5:0xD" "sam str 0x00000001 21 1 1:1:0xE" \
	    "sam str 0x00000000 31 1 2:2:? 0x6" "sam str 0x00000000 32 0 2:3:0xF" "sam mem 0x00000000 40 0x0:1:2" \
	    "sam str 0x00000000 41 1 2:2 0x8" "sam mem 0x00000001 42 0x0:3:4"
	trackway cut --from-time 20ms --to-time 21ms log -o part.tracelog
	printf 'sam str 0x00000000 20 2 0:0 0x1:0xA 0x2:0xB 0x4\n' | diff <(grep -v '^prf cfg Part' part.tracelog) -
	trackway cut --from-time 40ms log -o part.tracelog
	diff <(grep -v '^prf cfg Part' part.tracelog) - <<-END
		sam str 0x00000000 40 0 0:0 0x1:0xC 0x5:0xF
		sam mem 0x00000000 40 0x0:1:2
		sam str 0x00000000 41 1 2:2 0x8
		sam str 0x00000001 40 0 0:0 0x7:0xE
		sam mem 0x00000001 42 0x0:3:4
	END
}

# Those in between are left out because their times are before the window: only damage looks so.
@test "cut: the lowest depth and a moved frame below it are told" {
	write_log log "sam str 0x00000000 51 1 0:0 0x1:0xA 0x1 0x3:0xB" "sam str 0x00000000 42 1 2:3:0xC 0x2" \
	    "sam str 0x00000000 43 1 1:3:0xD 0x2 0x2" "sam str 0x00000000 54 1 1:3 0x1 0x1 0x3" \
	    "sam str 0x00000000 45 1 3:4:0xF 0x2" "sam str 0x00000000 56 1 3:4:? 0x3" "sam str 0x00000000 47 1 4:4:0x10" \
	    "sam mem 0x00000000 57 0x0:1:1" "sam str 0x00000000 58 0 2:4"
	trackway cut --from-time 50ms log -o part.tracelog
	diff <(grep -v '^prf cfg Part' part.tracelog) - <<-END
		sam str 0x00000000 51 1 0:0 0x1:0xA 0x1 0x3:0xB
		sam str 0x00000000 54 1 1:3:0xD 0x1 0x1 0x3
		sam str 0x00000000 56 1 3:4:? 0x3
		sam str 0x00000000 50 0 4:4:0x10
		sam mem 0x00000000 57 0x0:1:1
		sam str 0x00000000 58 0 2:4
	END
}

# What is wrong with a log is no less wrong in its parts, and the stacks are the same.
@test "cut: frames that no record told of stay unknown" {
	write_log log "sam str 0x00000000 1 1 0:0 0x1 0x2 0x3" "sam str 0x00000000 2 1 1:1" "sam str 0x00000000 3 1 4:4 0x9" \
	    "sam str 0x00000000 4 1 5:5 0x8" "sam str 0x00000000 5 1 9:9"
	trackway convert --to csv --from-time 4ms log -o - 2>err | grep stack-sample >whole
	trackway cut --from-time 4ms log -o part.tracelog
	trackway convert --to csv part.tracelog -o - 2>err | grep stack-sample >part || true
	[ "$(wc -l <whole)" = 2 ]
	diff <(cut -d, -f 1,2,4,8,11- whole) <(cut -d, -f 1,2,4,8,11- part)
}

@test "cut: stacks of 200,000 frames" {
	"$PYTHON" - >log <<-END
		print("sam str 0x00000000 1 1 0:0" + " 0x1:0xB2000014 0x2" * 100000)
		print("sam str 0x00000000 2 1 100000:200000" + " 0x3" * 100000)
		print("sam str 0x00000000 3 1 199999:200000 0x4")
		print("sam mem 0x00000000 4 0x1:1:1")
	END
	trackway cut --from-time 3ms --to-time 4ms log -o part.tracelog
	same_stacks log 3 4
	trackway cut --from-time 4ms log -o part.tracelog
	same_stacks log 4 5
}

@test "cut: a stack that is too deep for a line is made of several samples" {
	"$PYTHON" - >log <<-END
		for i in range(5):
		    print(f"sam str 0x00000000 1 1 {i * 1200}:{i * 1200}" + " 0x1:0xB2 0x2" * 600)
		print("sam str 0x00000000 3 1 5999:6000 0x4")
	END
	trackway cut --memory 1M --from-time 3ms log -o part.tracelog
	[ "$(grep -c '^sam str 0x00000000 3 0 ' part.tracelog)" = 2 ]
	same_stacks log 3 4
	trackway check part.tracelog
}

@test "cut, convert: from a pipe, to a compressed file and standard output; in another dialect" {
	log="$DATA/tracelog/small-d2-64.log"
	trackway cut --from-time 30ms --to-time 80ms "$log" -o part.tracelog
	trackway cut --from-time 30ms --to-time 80ms - -o part.zst <"$log"
	zstd -dc part.zst | cmp part.tracelog -
	gzip -c "$log" | trackway cut --from-time 30ms --to-time 80ms - -o - | cmp part.tracelog -
	trackway convert --to tracelog --from-time 30ms --to-time 80ms "$log" -o - | cmp part.tracelog -
	trackway convert --dialect d3 --from-time 30ms --to-time 80ms "$log" -o d3.tracelog
	trackway convert --to tracelog --dialect d3 part.tracelog | cmp d3.tracelog -
}

@test "cut: what cannot be read is left out and counted" {
	run trackway cut --strict --from-time 1ms "$DATA/tracelog/odd.log" -o part.tracelog
	[ "$status" = 1 ]
	[[ "$output" == *"records: 5 left out"* ]]
	[ "$(wc -l <part.tracelog)" = 13 ]
}
