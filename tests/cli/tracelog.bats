# tracelog.bats - logs of CoreProfiler: as they come over a pipe, cut, compressed.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Waits until a file has so many lines.
wait_for_lines() { # file count
	for _ in $(seq 100); do
		[ "$(wc -l <"$1")" -ge "$2" ] && return
		sleep 0.05
	done
	fail "$1 has $(wc -l <"$1") lines, not $2"
}

@test "dump: lines of a FIFO are shown while its writer still lives" {
	mkfifo log
	: >out
	trackway dump --from tracelog - <log >out 3>&- &
	exec 4>log
	printf 'prf tps 1\nprf tps 2\nprf t' >&4
	wait_for_lines out 2
	printf 'ps 3\n' >&4
	wait_for_lines out 3
	exec 4>&-
	wait $!
	grep -q 'line=3 timestamp=3' out
}

@test "dump: a log that is joined late is recognised, and only its first line is lost" {
	tail -c +2000 "$DATA/tracelog/kinds.log" >late.log
	fails trackway dump late.log >out 2>err
	[ "$(grep -c . err)" = 1 ]
	grep -q 'line 1, column [0-9]*: error: .*tracelog.no-record' err
	[ "$(grep -vc ' unknown ' out)" = "$(($(wc -l <late.log) - 1))" ]
}

@test "dump: a damaged .gz ends the log early" {
	gzip -c "$DATA/tracelog/small-d2-64.log" >log.gz
	head -c 20000 log.gz >cut.gz
	fails trackway dump cut.gz >out 2>err
	grep -q 'tracelog.compression' err
	[ "$(wc -l <out)" -gt 100 ]
}

@test "dump: CRLF, tabs and a byte order mark change nothing" {
	printf '\xEF\xBB\xBF' >odd.log
	sed -e 's/$/\r/' -e 's/^\(...\) /\1\t/' "$DATA/tracelog/kinds.log" >>odd.log
	trackway dump --json odd.log | sed 's/"offset":[0-9]*,//' >odd.txt
	trackway dump --json "$DATA/tracelog/kinds.log" | sed 's/"offset":[0-9]*,//' | diff - odd.txt
}

# A log is repaired: what is wrong is gone, what is odd is as the profiler writes it, and a second repair changes nothing.
@test "repair: only what can be read is left, and only once is there something to do" {
	fails trackway repair --json "$DATA/tracelog/odd.log" -o once.log >out 2>err
	grep -q '"records_in":17,"records_out":12,"records_changed":8,"records_dropped":5,"lost_bytes":132,' out
	trackway repair --json once.log -o twice.log >out 2>err
	grep -q '"records_in":12,"records_out":12,"records_changed":0,"records_dropped":0,"lost_bytes":0,' out
	cmp once.log twice.log
	fails grep -q error err
	diff - once.log <<-END
		thr cpu 0x00000000 5 18446744073709551586
		prf tps -1
		thr dst 0x00000001
		mod ata 0x0000ABCD 0x00000001
		sam str 0x0000000a 1 1 0:0 0x1:0xF 0xab:B2000000
		cls nam 0x00000001 "a"b"
		fun nam 0x00000001 "a" "b" "c" "d"
		cls nam 0x00000002 "$(printf '\xff\xfe')"
		prf tps 5
		prf tpx 5
		sam str 0x00000000 1 1 2:1:?
		gch gen 1 loh:1:2
	END
}

@test "repair: a log of which nothing can be saved becomes no file" {
	printf 'gch gcs 0x0 10 in' >one.log
	local to status
	for to in out.log out.log.gz -; do
		status=0
		trackway repair --from tracelog one.log -o $to >out 2>err || status=$?
		[ "$status" = 2 ] && [ ! -s out ] && [ "$(cat err)" = "trackway: error: one.log: nothing in it can be saved" ] || fail "$status $(cat err)"
		[ ! -e out.log ]
		[ ! -e out.log.gz ]
	done
	# A file that is there stays.
	echo old >out.log
	fails trackway repair one.log -o out.log
	[ "$(cat out.log)" = old ]
}

@test "repair: a good log stays as it is" {
	for log in kinds small-d2-64 d0 d1 vs; do
		trackway repair "$DATA/tracelog/$log.log" -o same.log
		cmp "$DATA/tracelog/$log.log" same.log
	done
}

@test "convert: a dialect to itself changes nothing; to another and back only what that cannot hold" {
	trackway convert "$DATA/tracelog/small-d2-64.log" --dialect d2 -o d2.tracelog
	cmp "$DATA/tracelog/small-d2-64.log" d2.tracelog
	fails trackway convert --strict "$DATA/tracelog/small-d2-64.log" --dialect d3 -o d3.tracelog 2>err
	grep -q ': 1 kept in another form$' err # there is no zone to be had
	grep -q '^jit cms 4200 ' d3.tracelog
	trackway convert --strict d3.tracelog --dialect d2 -o back.tracelog
	cmp "$DATA/tracelog/small-d2-64.log" back.tracelog
	trackway convert "$DATA/tracelog/d1.log" --dialect d1 -o d1.tracelog
	cmp "$DATA/tracelog/d1.log" d1.tracelog
	trackway convert "$DATA/tracelog/d0.log" --dialect d0 -o d0.tracelog
	cmp "$DATA/tracelog/d0.log" d0.tracelog
}

@test "convert: losses are counted, and --strict makes them an error" {
	run trackway convert --strict "$DATA/tracelog/kinds.log" --dialect d1 -o d1.tracelog
	[ "$status" = 1 ]
	[[ "$output" == *"1 kept in another form"*"13 left out"* ]]
	run trackway convert "$DATA/xray/v5.xray" -o x.tracelog
	[ "$status" = 2 ]
	[[ "$output" == *"only a trace of format tracelog"* ]]
}

@test "info: the same with any number of threads, and from a pipe" {
	for log in kinds small-d2-64 odd; do
		trackway info --jobs 1 "$DATA/tracelog/$log.log" >one 2>one.err || true
		for jobs in 2 3 8; do
			trackway info --jobs $jobs "$DATA/tracelog/$log.log" 2>many.err | diff one -
			diff one.err many.err
		done
		trackway info - <"$DATA/tracelog/$log.log" 2>/dev/null | tail -n +2 | diff <(tail -n +2 one) -
	done
}

@test "info --json: the width of pointers is a number" {
	bits() { trackway info --json "$1" 2>/dev/null | grep -o '"pointer_bits":[^,]*'; }
	[ "$(bits "$DATA/tracelog/small-d2-64.log")" = '"pointer_bits":64' ]
	[ "$(bits "$DATA/tracelog/kinds.log")" = '"pointer_bits":32' ]
	grep '^prf' "$DATA/tracelog/small-d2-64.log" >bare.log
	[ "$(bits bare.log)" = '"pointer_bits":"unknown"' ]
}

@test "info: a bad item of a list is told as check tells it" {
	printf '%s\n' 'thr crt 0x00000000BA000000 0x00000000' 'sam str 0x00000000 10 1 0:0 0x1 0x2:' \
		'sam mem 0x00000000 10 0x1:2:3 0x2:3' 'fun inf 0x00000001 0x1 0x2 0x3 0x00000004 0x5' \
		'sam str 0x00000000 20 1 1:2 0x3 0x' 'gch alt 20 0x1:1' >bad.log
	printf 'sam str 0x00000000 30 1 0:0 0x1:' >>bad.log # cut: that is told, and no more
	fails trackway check bad.log 2>/dev/null >check.out
	fails trackway info bad.log 2>info.err
	[ "$(grep -c 'tracelog.bad-item' info.err)" = 5 ]
	diff <(sed -n 's/^bad.log:\([0-9]*: error\)/\1/p' check.out) <(sed -n 's/.*: line \([0-9]*: error\)/\1/p' info.err)
	fails trackway info --jobs 3 - <bad.log 2>pipe.err
	diff <(grep -o 'line .*' info.err) <(grep -o 'line .*' pipe.err)
}

@test "dump: a FIFO whose format is not told is followed as soon as it can be known" {
	mkfifo log
	: >out
	trackway dump - <log >out 3>&- &
	exec 4>log
	head -n 20 "$DATA/tracelog/kinds.log" >&4
	wait_for_lines out 19
	printf 'sam str 0x00000000 5 1 0:0 0x2' >&4
	sleep 0.2
	fails grep -q sam-str out
	printf '\n' >&4
	wait_for_lines out 21
	exec 4>&-
	wait $!
	tail -n 1 out | grep -q 'sam-str .*frames=\[{function_iid=0x2}\]'
}

@test "every way in gives the same samples: a pipe, .gz, .zst, any number of threads" {
	trackway stat --json --weight wall "$DATA/tracelog/small-d2-64.log" >expected
	trackway stat --json --weight wall - <"$DATA/tracelog/small-d2-64.log" | cmp expected -
	gzip -c "$DATA/tracelog/small-d2-64.log" >log.gz
	zstd -q "$DATA/tracelog/small-d2-64.log" -o log.zst
	trackway stat --json --weight wall log.gz | cmp expected -
	zstd -qdc log.zst | trackway stat --json --weight wall - | cmp expected -
	trackway stat --json --weight wall - <log.zst | cmp expected -
	for jobs in 1 2 3 8; do
		trackway stat --json --weight wall --jobs $jobs "$DATA/tracelog/small-d2-64.log" | cmp expected -
	done
}

@test "info: threads and times are those that the other commands show" {
	printf 'prf tps 100\nprf trs 450\nthr crt 0xB6A01000 0x00000001\nthr aos 0x00000001 4201\n' >log
	printf 'sam str 0x00000001 500 1 0:0 0x1\ngch gcs 4300 600 ? tfff\ngch gcf 4300 700\n' >>log
	trackway info --json log >out
	grep -q '"start_ns":0,"end_ns":700000000,"clock_start_ns":0,' out
	grep -q '{"process":0,"thread":1,.*"start_ns":500000000,"end_ns":500000000,"os_thread_id":4201,' out
	grep -q '{"process":0,"thread":4294971596,.*"os_thread_id":4300,' out
	fails grep -q '"events"' out
	trackway info log | grep -qx 'paused: *350.0 ms'
}

@test "cpu: an interval without usage counts in the mean, also the first" {
	printf 'prf cfg CpuTraceTimeoutMs 10\nthr crt 0xB6A01000 0x00000000\n' >log
	printf 'thr cpu 0x00000000 10 0\nthr cpu 0x00000000 20 5000\n' >>log
	trackway cpu --json log >out
	grep -q '"mean_percent":25[,.}]' out
}

@test "stat: findings tell the right line, also behind lines that only tell CPU usage" {
	printf 'thr crt 0x1000 0x00000000\n' >lines.log
	for i in 1 2 3 4 5; do printf 'thr cpu 0x00000000 10 5\nprc cpu 10 5\n' >>lines.log; done
	printf 'garbage\nthr cpu 0x00000000 10 5\nthr cpu 0x00000000 10 5\nthr cpu 0x00000000 10 5\n' >>lines.log
	printf 'sam str 0x00000000 20 1 0:3 0x1\n' >>lines.log
	fails trackway stat lines.log >out 2>err
	grep -q 'lines.log: line 12, column [0-9]*: error:.*tracelog.no-record' err
	grep -q 'lines.log: line 16, column [0-9]*: warning:.*tracelog.depth-mismatch' err
}

@test "stat: a weight that no sample has is told in words" {
	printf 'prf cfg CollectionMethod Instrumentation\nthr crt 0xB6A01000 0x00000000\n' >log
	printf 'sam str 0x00000000 10 0 0:0 0x2\nsam str 0x00000000 30 0 1:1 0x3\n' >>log
	run trackway stat --weight samples log
	[[ "$output" == *"there is nothing to count by samples in the trace; --weight chooses another"* ]] || fail "$output"
	trackway stat --json --weight wall log | grep -q '"self[a-z_]*":20000000[,}]'
}

@test "stat: where no sample has ticks, wall time is counted, and told" {
	printf 'prf cfg CollectionMethod Instrumentation\nthr crt 0xB6A01000 0x00000000\n' >log
	printf 'sam str 0x00000000 10 0 0:0 0x2\nsam str 0x00000000 30 0 1:1 0x3\n' >>log
	for command in stat stacks graph "flame --folded"; do
		trackway $command log 2>err >default
		[ "$(grep -c 'no sample has ticks: wall time is counted, as with --weight wall' err)" -eq 1 ] || fail "$command: $(cat err)"
		trackway $command --weight wall log 2>err | cmp - default
		fails grep -q 'no sample has ticks' err
	done
	trackway diff log log 2>err >default
	trackway diff --weight wall log log | cmp - default
	grep -q 'no sample has ticks' err
	trackway convert --to folded log -o - >default
	trackway convert --to folded --weight wall log -o - | cmp - default
	[ -s default ]
	# As for one log, so for several; and a log with ticks is counted by them.
	[ "$(trackway stat --json log log 2>/dev/null | grep -c '"self[a-z_]*":40000000[,}]')" -eq 1 ]
	trackway stat "$DATA/tracelog/kinds.log" log 2>err | cmp - <(trackway stat --weight samples "$DATA/tracelog/kinds.log" log)
}

@test "convert: to vs, lines stay where they are there, and ips go where they are not" {
	trackway convert --strict "$DATA/tracelog/vs.log" --dialect vs -o same.tracelog
	cmp "$DATA/tracelog/vs.log" same.tracelog
	printf 'sam str 0x00000000 10 1 0:0 0x1:0xB2000024\nsam str 0x00000000 20 1 1:1:0xB2000030\n' >d3.log
	run trackway convert --strict d3.log --dialect vs -o vs.tracelog
	[ "$status" = 1 ]
	[[ "$output" == *"2 kept in another form"* ]] || fail "$output"
	diff vs.tracelog - <<<$'sam str 0x00000000 10 1 0:0 0x1\nsam str 0x00000000 20 1 1:1'
}

# Samples by function: weights are those that stacks tells of the same stacks.
@test "filters: samples pass with a function in their stack, and with their category" {
	log="$DATA/tracelog/small-d2-64.log"
	for weight in samples wall bytes; do
		trackway convert --to folded --weight $weight --function '*Read*' "$log" -o - 2>/dev/null | sort >part
		trackway convert --to folded --weight $weight "$log" -o - 2>/dev/null | grep '^\([^;]*;\)*[^;]*Read' | sort >whole
		[ -s part ]
		cmp whole part
	done
	for command in stat stacks; do
		trackway $command --json --category jit "$log" 2>err >out
		[ ! -s out ]
		grep -q 'nothing to count by samples passes the filters: --category jit' err
		trackway $command --category '*' "$log" | cmp - <(trackway $command "$log")
	done
}

# Thread 0 is a thread like others, and no other track has its number.
@test "exports: threads keep their numbers, and each track has one of its own" {
	trackway convert --to chrome "$DATA/tracelog/kinds.log" -o out.json 2>/dev/null
	trackway convert --to firefox "$DATA/tracelog/kinds.log" -o out.firefox.json 2>/dev/null
	"$PYTHON" - <<'PY'
import json
chrome = {(event["pid"], event["tid"]): event["args"]["name"] for event in json.load(open("out.json"))["traceEvents"]
          if event["name"] == "thread_name"}
assert len(chrome) == 3 and chrome[4200, 0] == "OS thread 4200" and chrome[4200, 1] == "OS thread 4207", chrome
threads = json.load(open("out.firefox.json"))["threads"]
numbers = [thread["tid"] for thread in threads]
assert len(set(numbers)) == len(numbers) >= 3, numbers
assert {thread["name"]: thread["tid"] for thread in threads}["OS thread 4200 (samples)"] == "0 (samples)", numbers
PY
}

# Line 10 is where the first sample is, 11 where the second and the allocation are.
@test "exports: rows and instants of samples tell their line of the source" {
	log="$DATA/tracelog/vs.log" file='C:.*Program.cs'
	trackway convert --to chrome "$log" -o out.json 2>/dev/null
	"$PYTHON" - <<-'PY'
		import json
		trace = json.load(open("out.json"))
		frames = trace["stackFrames"]
		lines = [frames[str(event["sf"])]["line"] for event in trace["traceEvents"] if event["ph"] == "P"]
		assert lines == [10, 11, 11], lines
		assert all(frame["file"].endswith("Program.cs") for frame in frames.values() if "line" in frame), frames
	PY
	trackway convert --to jsonl "$log" 2>/dev/null | grep '"kind":"[a-z]*-sample"' >out.jsonl
	[ "$(grep -o "\"file\":\"$file\",\"line\":[0-9]*" out.jsonl | sed 's/.*://' | paste -sd, -)" = 10,11,11 ]
	trackway convert --to csv "$log" 2>/dev/null | grep ',[a-z]*-sample,' >out.csv
	[ "$(grep -o "$file,[0-9]*\$" out.csv | sed 's/.*,//' | paste -sd, -)" = 10,11,11 ]
	trackway convert --to ctf "$log" -o out.ctf 2>/dev/null
	babeltrace2 out.ctf | grep -- -sample: >out.txt
	[ "$(grep -o "file = \"$file\", line = [0-9]*" out.txt | sed 's/.* //' | paste -sd, -)" = 10,11,11 ]
	trackway convert --to fxt "$log" -o out.fxt 2>/dev/null
	trackway dump out.fxt | grep event.instant >out.txt
	[ "$(grep -o 'name=line [^}]*' out.txt | sed 's/.*=//' | paste -sd, -)" = 10,11,11 ]
	[ "$(grep -c "name=file .*value=\"*$file" out.txt)" = 3 ]
}

# A name may turn the rest of the line round, or look like another: on a terminal it shows what it is.
@test "characters that cannot be seen are shown by their numbers, in JSON by its escapes" {
	printf '%s\n' 'thr crt 0x1000 0x00000000' "fun nam 0x00000001 \"a$(printf '\u202e\u200b\ufeff\u0085\u2066')é日\" \"\" \"\"" \
		'sam str 0x00000000 1 1 0:0 0x1' >log
	name='a\u{202e}\u{200b}\u{feff}\u{85}\u{2066}é日'
	for command in stat stacks dump; do
		trackway $command log | grep -qF "$name" || fail "$command"
		trackway $command --json log | grep -qF '"a\u202e\u200b\ufeff' || fail "$command --json"
	done
	sed -i 's/$/\nfun nam 0x00000001 "b" "" ""/;3!s/\n.*//' log
	trackway check log | grep -F "is called b, was called $name" || fail "$(trackway check log)"
}

# Behind more than the 4 MiB that events wait.
@test "names that come late are there in exports of a file, whatever the target" {
	{ echo 'thr crt 0x1000 0x00000000' && echo 'sam str 0x00000000 1 1 0:0 0x1' && echo 'sam mem 0x00000000 1 0x7:1:24' &&
		yes 'thr cpu 0x00000000 2 0' | head -n 250000 && echo 'fun nam 0x00000001 "Late::Main" "" ""' &&
		echo 'cls nam 0x00000007 "LateClass"'; } >log
	for target in chrome jsonl csv fxt; do
		trackway convert --to $target log -o out.$target 2>/dev/null
		grep -aq Late::Main out.$target || fail "$target"
		grep -aq LateClass out.$target || fail "$target"
		! grep -aqE 'function 0x1|class 0x7' out.$target || fail "$target"
	done
	trackway stat --function 'Late*' log | grep -q Late::Main
	# Also of a compressed file, whatever way it comes in.
	gzip -1 -c log >log.gz
	zstd -q -1 log -o log.zst
	for log in log.gz log.zst; do
		trackway convert --to jsonl $log 2>/dev/null | grep -q Late::Main || fail "$log"
		trackway convert --to jsonl - <$log 2>/dev/null | grep -q LateClass || fail "<$log"
	done
	head -c $(($(stat -c %s log.gz) - 200)) log.gz >cut.gz
	trackway convert --to jsonl cut.gz 2>err | fails grep -q Late::Main
	[ "$(grep -c tracelog.compression err)" = 1 ]
	# What comes from a pipe is in a temporary file, where the order matters.
	cat log | trackway convert --to jsonl - 2>/dev/null | grep -q Late::Main
}

# By a count of the log's own numbers.
@test "stat: threads as a whole, by every weight" {
	log="$DATA/tracelog/small-d2-64.log"
	for weight in samples cpu bytes; do
		awk -v weight=$weight '
			/^sam str/ { sum["samples", $3] += $5 }
			/^thr cpu/ { sum["cpu", $3] += $5 * 1000 }
			/^sam mem/ { for (i = 5; i <= NF; i++) { split($i, item, ":"); sum["bytes", $3] += item[3] } }
			END { for (i = 0; i < 4; i++) print i, sum[weight, "0x0000000" i] }' "$log" >expected
		trackway stat --json --by whole-thread --weight $weight "$log" |
			sed 's/.*"total":\([0-9]*\),"self":\([0-9]*\),.*"thread":\([0-9]*\)[,}].*/\3 \1 \2/' | sort >out
		awk '$2 == $3 { print $1, $2 }' out | diff expected - || fail "$weight"
	done
}

@test "stat: rows that weigh the same are in the order of their names, by caller also of the callers'" {
	for sort in self count; do
		trackway stat --json --by caller --sort $sort "$DATA/tracelog/small-d2-64.log" >rows
		"$PYTHON" - rows $sort <<-'END'
			import json, sys
			rows = [json.loads(line) for line in open(sys.argv[1])]
			assert len({row[sys.argv[2]] for row in rows}) < len(rows) > 400
			names = lambda row: (row["name"].encode(), row["id"], (row["caller"] or "").encode())
			assert rows == sorted(rows, key=lambda row: (-row[sys.argv[2]], *names(row)))
		END
	done
}

@test "standard input has one name, and a damaged file is named once" {
	for command in info "info --json" check "check --json" "counters --json" "repair --json -o out.log"; do
		trackway $command - <"$DATA/tracelog/kinds.log" >out 2>&1
		grep -q '<stdin>' out || fail "$command"
		! grep -qE '"-"|^-:|: +-$' out || fail "$command: $(cat out)"
	done
	gzip -c "$DATA/tracelog/small-d2-64.log" | head -c 20000 >cut.gz
	for command in info stat dump; do
		trackway $command cut.gz 2>&1 >out | grep 'tracelog.compression' >err
		[ "$(grep -o cut.gz err | wc -l)" = 1 ] || fail "$(cat err)"
	done
}

@test "what there is nothing of is told: a number of the system, pictures of the heap and of the CPU" {
	grep -v '^thr aos 0x00000001' "$DATA/tracelog/kinds.log" >log
	trackway info log | grep -qE '^ +1 +- +0 +0$'
	trackway info --json log | grep -q '"thread_iid":1,"os_thread_id":null'
	grep -vE '^(gch|thr cpu|prc cpu)' log >less.log
	trackway gc -o heap.svg less.log 2>err
	grep -q 'no look at the heap' err
	[ ! -e heap.svg ]
	trackway cpu -o cpu.svg less.log 2>err
	grep -q 'no processor time' err
	[ ! -e cpu.svg ]
}

@test "jit: the size of the code counts, whether the function is described before its compilation ends or after" {
	printf '%s\r\n' "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" "jit cms 42 1 0x00000001" \
	    "fun inf 0x00000001 0x00000001 0x00000000 0x00000000 0x06000001 0x00001000:0x80" "fun nam 0x00000001 \"a\" \"\" \"\"" \
	    "jit cmf 42 2 0x00000001 0x00000000" "jit cms 42 5 0x00000002" "jit cmf 42 6 0x00000002 0x00000000" \
	    "fun inf 0x00000002 0x00000002 0x00000000 0x00000000 0x06000002 0x00002000:0x40" "fun nam 0x00000002 \"b\" \"\" \"\"" \
	    "fun inf 0x00000002 0x00000002 0x00000000 0x00000000 0x06000002 0x00002000:0x40" >log
	trackway jit --json log 2>/dev/null | sed 's/.*"name":"\([ab]*\)".*"code_bytes":\([0-9]*\),.*/\1 \2/' >out
	grep -qx 'a 128' out
	grep -qx 'b 64' out
	[ "$(trackway jit --json --by thread log 2>/dev/null | grep -o '"compiled":2,.*"code_bytes":192')" ]
	trackway convert --to chrome log -o out.json 2>/dev/null
	trackway jit --json out.json | grep -q '"name":"b".*"compiled":1,.*"code_bytes":64'
}

@test "jit: a function that a sample and a compilation told of before it was described has one row" {
	printf '%s\n' "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" "sam str 0x00000000 1 1 0:0 0x0" \
	    "jit cms 42 1 0x00000001" "jit cmf 42 9 0x00000001 0x00000000" \
	    "fun inf 0x00000000 0x00000001 0x00000000 0x00000000 0x06000001 0x00001000:0x80" "fun nam 0x00000000 \"a\" \"\" \"\"" \
	    "fun inf 0x00000001 0x00000002 0x00000000 0x00000000 0x06000002 0x00002000:0x40" "fun nam 0x00000001 \"a\" \"\" \"\"" \
	    "jit cms 42 11 0x00000001" "jit cmf 42 15 0x00000001 0x00000000" \
	    "jit cms 42 20 0x00000002" "jit cmf 42 21 0x00000002 0x00000000" >log
	trackway jit --json log >out
	[ "$(wc -l <out)" -eq 2 ] # one for each of the two of that name
	# Compiled twice, and one body told: its bytes count once.
	grep -q '"compiled_ns":12000000,"compiled":2,"max_ns":8000000,"code_bytes":128' out
	grep -q '"compiled_ns":1000000,"compiled":1,"max_ns":1000000,"code_bytes":64' out
}

@test "jit: a search that only the compilation around it ends found nothing" {
	printf '%s\n' "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" \
	    "fun inf 0x00000000 0x00000001 0x00000000 0x00000000 0x06000001" "fun nam 0x00000000 \"a\" \"\" \"\"" \
	    "fun inf 0x00000001 0x00000002 0x00000000 0x00000000 0x06000002" "fun nam 0x00000001 \"b\" \"\" \"\"" \
	    "jit cms 42 1 0x00000001" "jit css 42 3 0x00000002" "jit cmf 42 9 0x00000001 0x00000000" >log
	trackway jit --json log >out
	grep -q '"name":"a".*"compiled_ns":8000000,"compiled":1,.*"open":0' out
	grep -q '"name":"b".*"cached":0,"cached_ns":0,"failed":0,"open":1' out
	trackway convert --to chrome log -o out.json
	trackway jit --json out.json | grep -q '"name":"b".*"cached":0,"cached_ns":0,"failed":0,"open":1'
}

# shown OPTION...: kind and time of the records that pass, but for those that tell of the log and its threads.
shown() {
	trackway dump "$@" | sed -n 's/^0x[0-9a-f]*  \([a-z]*-[a-z]*\) .* timestamp=\([0-9]*\).*/\1 \2/p' | paste -sd, -
}

@test "dump: with filters, both ends of compilations, collections and pauses that reach into the window are shown" {
	log="$DATA/tracelog/kinds.log"
	[ "$(shown --from-time 100ms --to-time 120ms "$log")" = "gch-gcs 100,gch-gcf 103,gch-gcs 110,gch-gcf 140" ]
	[ "$(shown --from-time 105ms --to-time 120ms "$log")" = "gch-gcs 110,gch-gcf 140" ]
	[ "$(shown --from-time 120ms --to-time 130ms "$log")" = "gch-gcs 110,gch-gcf 140" ]
	[ "$(shown --from-time 200ms --to-time 300ms "$log")" = "prf-tps 150,prf-trs 500" ]
	[ "$(shown --category jit "$log")" = "jit-cms 12,jit-cmf 14" ]
	[ "$(shown --category 'jit*' "$log")" = "jit-cms 12,jit-cmf 14,jit-css 14,jit-csf 15" ]
	[ "$(shown --category gc "$log")" = "gch-gcs 100,gch-gcf 103,gch-gcs 110,gch-gcf 140" ]
}

# What is in the first 256 bytes makes a log known as one.
@test "repair, convert: lines of unknown kinds stay, also before the first record" {
	printf 'prf new 1\r\nprf tps 5\nprf trs 6\n' >log
	for command in repair "repair --from tracelog" "convert --to tracelog" "convert --to tracelog --from tracelog"; do
		trackway $command log -o out.tracelog || [ "$command" != "${command#repair}" ]
		diff out.tracelog - <<<$'prf new 1\nprf tps 5\nprf trs 6'
		trackway info out.tracelog >info.out
	done
	printf 'prf new 1\nabc def 2\nprf nxt "a"\nprf tps 5\n' >log
	trackway repair log -o out.tracelog || true
	cmp log out.tracelog
	# What would not be known as a log: only where the format is told.
	{ printf 'prf tps x\n' && printf 'prf new %0250d\nprf tps 5\n' 7; } >log
	fails trackway repair --json log -o out.tracelog >out
	diff out.tracelog - <<<'prf tps 5'
	grep -q '"records_in":3,"records_out":1,"records_changed":0,"records_dropped":2,"lost_bytes":269,' out
	fails trackway repair --from tracelog log -o out.tracelog
	diff out.tracelog <(tail -n 2 log)
	{ printf 'prf tps x\n' && printf 'prf new %0240d\nprf tps 5\n' 7; } >log
	fails trackway repair --json log -o out.tracelog >out
	diff out.tracelog - <<<'prf tps 5'
	grep -q '"records_in":3,"records_out":1,"records_changed":0,"records_dropped":2,"lost_bytes":259,' out
}

@test "convert: a dialect, or the ending .log, tells TraceLog" {
	trackway convert --dialect d3 "$DATA/tracelog/d1.log" -o new.tracelog || [ $? = 1 ]
	for output in new.log new.log.gz new -; do
		trackway convert --dialect d3 "$DATA/tracelog/d1.log" -o $output >out
		[ $output != - ] || cp out ./-
		cmp new.tracelog <(gzip -dcf ./$output)
	done
	trackway convert --dialect d3 "$DATA/tracelog/d1.log" | cmp new.tracelog -
	trackway convert "$DATA/tracelog/d1.log" -o same.log
	cmp "$DATA/tracelog/d1.log" same.log
	for told in "--to chrome -o x.log" "-o x.json"; do
		run trackway convert --dialect d3 "$DATA/tracelog/d1.log" $told
		[ "$status" = 2 ]
		[[ "$output" == *"--dialect is for TraceLog, not for chrome"* ]]
		[ ! -e x.log ]
		[ ! -e x.json ]
	done
	run trackway convert "$DATA/xray/v5.xray" -o x.log
	[ "$status" = 2 ]
	[[ "$output" == *"tracelog: only a trace of format tracelog can be written in it"* ]]
	trackway help convert | grep -- '--dialect d3 old.log -o new.log'
}

@test "convert: a dialect to itself leaves ips as they are, with leading zeros or without" {
	printf '%s\n' 'thr crt 0x00007F0100000000 0x00000000' 'sam str 0x00000000 1 1 0:0 0x2:7F010000002C 0x3' \
	    'sam str 0x00000000 2 1 1:2:7F0100000010 0x3:00007F010000002C' 'sam mem 0x00000000 2 0x1:1:24:7F0100000010' >d1.log
	trackway convert --strict --dialect d1 d1.log -o same.log
	cmp d1.log same.log
	sed -e '/^sam mem/d' -e 's/^sam str/str sam/' d1.log >d0.log
	trackway convert --strict --dialect d0 d0.log -o same.log
	cmp d0.log same.log
	trackway convert --strict --dialect d2 d1.log -o d2.log
	grep -q '^sam str 0x00000000 1 1 0:0 0x2:0x00007F010000002C 0x3$' d2.log
	# One that is not of the dialect: then all of the line are written as it does.
	printf '%s\n' 'thr crt 0x00007F0100000000 0x00000000' 'sam str 0x00000000 1 1 0:0 0x2:7F010000002C 0x3:0x00007F010000002C' >log
	trackway convert --strict --dialect d1 log -o d1.log
	grep -q '^sam str 0x00000000 1 1 0:0 0x2:00007F010000002C 0x3:00007F010000002C$' d1.log
}

# Where nothing tells dialects apart, all of them are named; what vs has more than d3, lin src and fil src, cannot be made.
@test "info: a log that was written in a dialect is of that dialect" {
	local -A expected=([d0-d0]="d0" [d0-d1]="d1" [d0-d2]="d2 or d3" [d0-d3]="d2 or d3" [d0-vs]="d2 or d3"
	    [d1-d0]="d0" [d1-d1]="d1" [d1-d2]="d2 or d3" [d1-d3]="d2 or d3" [d1-vs]="d2 or d3"
	    [small-d2-64-d0]="d0" [small-d2-64-d1]="d1" [small-d2-64-d2]="d2" [small-d2-64-d3]="d3" [small-d2-64-vs]="d3"
	    [kinds-d0]="d0" [kinds-d1]="d1" [kinds-d2]="d2" [kinds-d3]="d3" [kinds-vs]="vs"
	    [vs-d0]="d0" [vs-d1]="d1" [vs-d2]="d2 or d3" [vs-d3]="d3" [vs-vs]="vs")
	for case in "${!expected[@]}"; do
		trackway convert --dialect "${case##*-}" "$DATA/tracelog/${case%-*}.log" -o out.log 2>/dev/null
		trackway info --json out.log | grep -qF "\"dialect\":\"${expected[$case]}\"" ||
			fail "$case: $(trackway info --json out.log | grep -o '"dialect":"[^"]*"')"
	done
}

refused() { # text command...
	local text="$1"
	shift
	run trackway "$@"
	[ "$status" = 2 ] || fail "$*: $status: $output"
	[[ "$output" == *"$text"* ]] || fail "$*: $output"
}

@test "stat, graph, flame, stacks, diff, gc: options that would do nothing are refused" {
	log="$DATA/tracelog/kinds.log"
	for column in min p50 p90 p99 max; do
		refused "--sort $column is about calls: samples have no duration" stat --sort $column "$log"
	done
	for column in self total count name; do
		trackway stat --sort $column "$log" >out
	done
	for command in stat graph "flame -o x.svg" stacks "diff $log"; do
		refused "--min-duration is about calls: samples have no duration" $command --min-duration 5ms "$log"
		[ ! -e x.svg ]
	done
	trackway stat --weight calls --min-duration 1ms "$log" >out
	trackway stat --weight calls --sort p50 "$log" >out
	refused "--sort growth is about two times: --diff FROM,TO" gc --sort growth --by class "$log"
	refused "--sort most-bytes is not a column of --diff" gc --sort most-bytes --diff 0s,1s "$log"
	trackway gc --sort growth --diff 0s,1s "$log" >out
}

@test "info: settings beyond those that are listed are counted, and a long one shows that it goes on" {
	long=$(printf 'x%.0s' {1..60})
	(sed 2,13d "$DATA/tracelog/kinds.log" | head -1; for i in {1..69}; do echo "prf cfg S$i $i"; done
		echo "prf cfg last $long"; sed 1,13d "$DATA/tracelog/kinds.log") >many.log
	(sed 2,13d "$DATA/tracelog/kinds.log" | head -1; echo "prf cfg $long T"; sed 1,13d "$DATA/tracelog/kinds.log") >long.log
	for log in many long; do
		trackway info --json $log.log | "$PYTHON" -c 'import json, sys
for row in json.load(sys.stdin)["settings"]: print(row["name"], row["value"])' >$log
	done
	(for i in {1..64}; do echo "S$i $i"; done; echo '(other) 6 more') | diff - many
	echo "${long:0:44}... T" | diff - long
}

@test "tracelog: FXT and Chrome's JSON have no classes and modules of functions, which is counted" {
	"$PYTHON" - "$DATA/tracelog/small-d2-64.log" <<-'END' >expected
		import sys
		lines = open(sys.argv[1]).read().splitlines()
		print(any(line.startswith("fun inf") for line in lines))
	END
	[ "$(cat expected)" = True ]
	for target in fxt chrome; do
		trackway convert --to $target "$DATA/tracelog/small-d2-64.log" -o out 2>err
		grep -q ': class: [0-9]* left out$' err || fail "$(cat err)"
		grep -q ': module: [0-9]* left out$' err || fail "$(cat err)"
		run trackway convert --strict --to $target "$DATA/tracelog/small-d2-64.log" -o out
		[ "$status" = 1 ]
	done
	trackway convert --to fxt "$DATA/fxt/streaming.fxt" -o out 2>err
	if grep -q 'class\|module' err; then fail "$(cat err)"; fi
}

@test "jit: of twenty compilations in one another, 1 ms apart, each but the last of sixteen took 2 ms itself" {
	{
		printf '%s\r\n' "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42"
		for i in {1..20}; do printf 'jit cms 42 %d 0x%08x\r\n' "$i" "$i"; done
		for i in {20..1}; do printf 'jit cmf 42 %d 0x%08x 0x00000000\r\n' $((41 - i)) "$i"; done
	} >nested.log
	trackway jit --json nested.log | sed -n 's/.*"self_ns":\([0-9]*\),"compiled_ns":\([0-9]*\),.*/\2 \1/p' | sort -rn >own
	# the outermost began at 1 ms and ended at 40; those deeper than sixteen are the sixteenth's own time
	for i in {1..20}; do
		total=$((41 - 2 * i)) self=$((i < 16 ? 2 : i == 16 ? 9 : 0))
		echo "$((total * 1000000)) $((self * 1000000))"
	done | diff - own
}

# The longest of them comes first where events are in the order of time; lines tell which was first.
@test "gc: of collections that begin in one millisecond, and of two processes, each has its own heap" {
	printf '%s\n' "prf stm 2018-06-25 07:24:28.000 +00:00" "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" \
	    'fun nam 0x00000002 "A::Make" "void" "()"' "sam str 0x00000000 5 0 0:0 0x2" "sam mem 0x00000000 5 0x0:10:1000" \
	    "gch gcs 42 5 induced tttt" "gch gcf 42 5" "gch gen 5 LOH:1:9 GEN2:20:90 GEN1:300:900 GEN0:4000:9000 POH:50000:90000" \
	    "sam mem 0x00000000 5 0x0:1:7" "gch gcs 42 5 ? tfff" "gch gcf 42 6" "gch gen 6 LOH:1:9 GEN2:20:90 GEN1:310:900 GEN0:0:9000" \
	    "gch gcs 42 6 ? ttff" "gch gcf 42 6" "gch gen 6 LOH:1:9 GEN2:30:90 GEN1:10:900 GEN0:5:9000" \
	    "gch gen 6 LOH:0:9 GEN2:0:90 GEN1:0:900 GEN0:100:9000" \
	    "prf stm 2018-06-25 07:24:28.002 +00:00" "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 43" \
	    "gch gcs 43 4 ? tfff" "gch gcf 43 4" "gch gen 4 LOH:0:9 GEN2:0:90 GEN1:0:900 GEN0:8:9000" >log
	trackway gc --csv log >out
	cut -d, -f1,2,5,8-12 out | head -5 | diff - <(cat <<-END
		time_ns,pause_ns,generations,before_bytes,after_bytes,allocated_bytes,promoted_bytes,function
		5000000,0,0 1 2 LOH,,54321,1000,321,A::Make
		5000000,1000000,0,54328,331,7,10,A::Make
		6000000,0,0 1,331,46,0,20,
		6000000,0,0,,8,,,
		END
	)
}

@test "convert: a sample that stands before the lines of a log has their numbers, too, which no other dialect has" {
	printf '%s\n' 'prf stm 2018-06-25 07:24:28.049 +09:00' 'thr crt 0x00000000B6A00000 0x00000000' 'thr aos 0x00000000 100' \
	    'fun nam 0x00000002 "A::Main" "void" "()"' 'sam str 0x00000000 40 1 0:0 0x2:0x0000000000000001 0x3:0x0000000000000002' \
	    'sam mem 0x00000000 40 0x5:1:24:0x0000000000000002' 'fil src 0x00000001 "/src/a.cs"' \
	    'lin src 0x00000001 0x00000001 0x00000002 10 1 10 5' 'sam str 0x00000000 50 1 1:2:0x0000000000000001 0x3' >vs.log
	trackway convert --dialect d3 vs.log -o d3.log
	grep '^sam' d3.log | diff - <(printf '%s\n' 'sam str 0x00000000 40 1 0:0 0x2 0x3' 'sam mem 0x00000000 40 0x5:1:24' 'sam str 0x00000000 50 1 1:2 0x3')
	trackway convert --dialect vs vs.log | cmp vs.log -
	# Addresses stay, also where lines are behind them: these cannot be theirs.
	sed 's/0x0000000000000001 0x3:0x/0x0000000000100000 0x3:0x/' vs.log >d3.log
	trackway convert --dialect d3 - <d3.log | grep -q '^sam str 0x00000000 40 1 0:0 0x2:0x0000000000100000 0x3:'
}

@test "jit: 40,000 compilations in one another, and as many uses of their thread" {
	"$PYTHON" - >log.json <<'END'
count = 40000
head = '{"displayTimeUnit":"ns","otherData":{"writer":"trackway 0.1.0","format":"tracelog","sampled":true},"traceEvents":[\n'
jit = '{"ph":"X","pid":0,"tid":0,"ts":%d,"dur":%d,"name":"f","cat":"jit","args":{"body":1}}'
use = '{"ph":"C","pid":0,"tid":0,"ts":%d,"name":"thread CPU","cat":"cpu","args":{"us":10,"percent":0.5}}'
print(head + ",\n".join([jit % (i, 1000 * count - 2 * i) for i in range(count)] + [use % (count + 10 * i) for i in range(count)]) + "]}")
END
	(ulimit -t 60; trackway jit --json log.json >rows)
	grep -q '"compiled":40000,' rows || fail "$(head -n 3 rows)"
}
