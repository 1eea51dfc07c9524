# merge.bats - several traces as one: all events, in time order, processes apart, clocks brought together.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

@test "merge: every thread of every file has its own calls; a process number that is taken gets 1,000,000 more" {
	a="$DATA/fxt/oneshot_all.fxt" b="$DATA/fxt/streaming.fxt" c="$DATA/xray/v5.xray"
	trackway merge "$a" "$b" "$c" -o all.fxt.gz 2>losses
	trackway check all.fxt.gz
	for file in all.fxt.gz "$a" "$b" "$c"; do
		trackway stat --json --by thread "$file" || [ $? -eq 1 ]
	done >rows
	"$PYTHON" - rows all.fxt.gz <<-'END'
		import json, sys
		rows = [json.loads(line) for line in open(sys.argv[1])]
		key = lambda row: json.dumps([row[name] for name in ("process", "thread", "name", "count", "unwound", "min_ns",
		                                                     "max_ns")])
		half = len(rows) // 2
		merged, single = rows[:half], rows[half:]
		for row in single:
		    if row["name"] == "many":  # of the second file
		        row["process"] += 1000000
		    elif (row["process"], row["thread"]) == (1000, 1001):  # that of the second file came first
		        row["thread"] += 1000000
		assert sorted(map(key, merged)) == sorted(map(key, single)), (merged, single)
		assert {row["process"] for row in merged} >= {1000, 1001000}
	END
}

@test "merge: each trace begins at 0, or where --offset says; --align none leaves times alone" {
	cp "$DATA/fxt/oneshot_all.fxt" a.fxt
	cp "$DATA/fxt/streaming.fxt" b.fxt
	starts() { # the clock's start; time of the first event of each process
		trackway merge "$@" a.fxt b.fxt -o out.json 2>losses
		"$PYTHON" "$TRACKWAY_SOURCE/tests/scripts/check_chrome.py" out.json >checked
		"$PYTHON" - out.json <<-'END'
			import json, sys
			trace, times = json.load(open(sys.argv[1])), {}
			for event in trace["traceEvents"]:
			    if event["ph"] != "M":
			        times.setdefault(event["pid"], []).append(event["ts"])
			for event in trace["systemTraceEvents"]["events"]:
			    if event["ph"] == "k":
			        times.setdefault(event["out"]["pid"], []).append(event["ts"])
			print(trace["otherData"]["clock_start_ns"], min(times[1000]), min(times[1001000]))
		END
	}
	start() { trackway convert --to chrome "$1" 2>losses | sed -n '1s/.*clock_start_ns":"\([0-9]*\)".*/\1/p'; }
	[ "$(starts)" = "0 0.0 0.0" ]
	[ "$(starts --offset b.fxt=1.5ms)" = "0 0.0 1500.0" ]
	[ "$(starts --offset b.fxt=-2us)" = "0 0.0 2.0" ] # now the process of b.fxt comes first
	[ "$(starts --offset a.fxt=1us --offset b.fxt=2us)" = "1000 0.0 1.0" ]
	set -- $(starts --align none)
	a=$(start a.fxt) b=$(start b.fxt)
	[ "$1" -eq $((a < b ? a : b)) ]
	[ "$a" -ne "$b" ]
}

@test "merge: filters hold for the whole" {
	trackway merge --category 'cat*' --to-time 1ms "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" -o out.fxt 2>losses
	trackway check out.fxt
	trackway convert --to chrome out.fxt 2>losses | grep '"ph":"[XBC]"' >events
	grep -q '"cat":"cat' events
	if grep -v '"cat":"cat' events; then fail "other categories"; fi
}

@test "merge: a name that tells a format it does not write" {
	run trackway merge "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" -o out.xray
	[ "$status" -eq 2 ]
	[[ "$output" = *"merge does not write xray-fdr, only fxt, chrome and perfetto"* ]]
	[ ! -e out.xray ]
}

@test "merge: wrong offsets, wrong files" {
	for offset in 1ms x=1ms "$DATA/fxt/streaming.fxt=soon"; do
		run trackway merge --offset "$offset" "$DATA/fxt/streaming.fxt" -o out.fxt
		[ "$status" -eq 2 ]
	done
	run trackway merge "$DATA/fxt/streaming.fxt" nothing.fxt -o out.fxt
	[ "$status" -eq 2 ]
	[[ "$output" = *nothing.fxt* ]]
	[ ! -e out.fxt ]
	run trackway merge --offset "$DATA/fxt/streaming.fxt=1ms" --offset "$DATA/fxt/streaming.fxt=2ms" \
		"$DATA/fxt/streaming.fxt" "$DATA/fxt/streaming.fxt" -o out.fxt
	[ "$status" -eq 2 ]
	[[ "$output" = *"is the second one of this file"* ]]
	[ ! -e out.fxt ]
}

# The second's processes are in the first, too, with the number that each of them would get instead, and with others that
# steps of 2^32 lead to, mixed as the numbers were.
@test "merge: processes whose new numbers are all taken do not look at each other's" {
	"$PYTHON" - <<-'END'
		import struct
		def words(*values):
		    return struct.pack(f"<{len(values)}Q", *values)
		def mix(key):
		    for _ in range(2):
		        key = (key ^ key >> 32) * 0xd6e8feb86659fd93 % 2**64
		    return key ^ key >> 32
		def write(name, time, thread, processes):
		    with open(name, "wb") as file:
		        file.write(words(0x0016547846040010, 0x21, 10**9, 0x22 | 1 << 16 | 1 << 32, ord("a")))
		        for i, process in enumerate(processes):
		            file.write(words(0x44 | 1 << 48, time, process, thread + i))
		count = 100000
		processes = [5000 ^ i << 32 for i in range(count)]
		taken = [process + 1000000 for process in processes] + [mix(5000 ^ i << 32 ^ 1) >> 33 for i in range(2 * count)]
		write("a.fxt", 0, 1, processes + taken)
		write("b.fxt", 10**9, 10**6, processes)
	END
	trackway merge a.fxt b.fxt -o out.fxt
	[ "$(trackway info --json out.fxt | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["events"])')" = 500000 ]
}

@test "merge: a number that a process got is no other one's, of its own trace either" {
	for i in {2..20}; do
		echo "[{\"ph\":\"X\",\"name\":\"far\",\"pid\":$((50 + i)),\"tid\":1,\"ts\":9,\"dur\":1}]" >"far$i.json"
	done
	echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1}]' >a.json
	echo '[{"ph":"X","name":"b","pid":1,"tid":1,"ts":0,"dur":1},
		{"ph":"X","name":"c","pid":1000001,"tid":1,"ts":3,"dur":1}]' >b.json
	trackway merge --align none a.json b.json -o few.json
	(ulimit -n 32; trackway merge --align none a.json b.json far*.json -o many.json) # more than half as many as that
	for file in few.json many.json; do
		trackway convert --to csv "$file" -o - | awk -F, '$6 ~ /^[abc]$/ { print $6, $3 }' >found
		printf '%s\n' "a 1" "b 1000001" "c 2000001" | diff - found
	done
}

# What a program leaves that is killed before it has written: nothing, zeros, the first word of an image alone.
@test "merge, sql: a file that is no trace is told in a line, and left out of several" {
	cp "$DATA/fxt/oneshot_all.fxt" a.fxt
	cp "$DATA/fxt/streaming.fxt" b.fxt
	: >empty.fxt
	head -c 8192 /dev/zero >zeros.fxt
	printf 'TWIMAGE\n' >begun.fxt
	echo none >text.fxt
	bad=(empty.fxt zeros.fxt begun.fxt text.fxt)
	trackway merge a.fxt b.fxt -o want.fxt 2>losses
	merged() { # descriptors, the order of the files
		(
			ulimit -n "$1"
			shift
			run trackway merge "$@" -o out.fxt
			[ "$status" -eq 1 ]
			[ "$(grep -c 'left out: ' <<<"$output")" -eq 4 ]
			for file in "${bad[@]}"; do grep -q "left out: $file: " <<<"$output"; done
		)
		trackway dump --json out.fxt | cmp - <(trackway dump --json want.fxt)
	}
	merged 256 "${bad[@]}" a.fxt b.fxt
	merged 256 a.fxt "${bad[@]}" b.fxt
	(
		ulimit -n 16 # one after the other
		run trackway merge "${bad[@]}" a.fxt {1..7}.fxt b.fxt -o few.fxt
		[ "$status" -eq 2 ] # the others are not there
		for i in {1..7}; do cp a.fxt "$i.fxt"; done
		run trackway merge "${bad[@]}" a.fxt {1..7}.fxt b.fxt -o few.fxt
		[ "$status" -eq 1 ]
		trackway merge a.fxt {1..7}.fxt b.fxt -o many.fxt 2>losses
	)
	for file in few many; do trackway stat --json --by thread $file.fxt | grep -o '"name".*"count":[0-9]*' | sort >$file.rows; done
	cmp few.rows many.rows
	[ -s few.rows ]
	run trackway merge --json "${bad[@]}" a.fxt -o one.fxt
	[[ "$output" = *"\"file\":\"zeros.fxt\""[^}]*"\"left_out\":true"* ]]
	run trackway sql "${bad[@]}" a.fxt "select count(*) as n from slice"
	[ "$status" -eq 1 ]
	[ "$(grep -c 'left out: ' <<<"$output")" -eq 4 ]
	[ "$(tail -n 1 <<<"$output")" -eq "$(trackway sql a.fxt "select count(*) as n from slice" | tail -n 1)" ]
	for command in merge sql; do
		words=(-o none.fxt)
		[ "$command" = merge ] || words=("select 1")
		run trackway "$command" "${bad[@]}" "${words[@]}"
		[ "$status" -eq 2 ]
		[[ "$output" = *"none of the files is a trace"* ]]
		run trackway "$command" empty.fxt "${words[@]}"
		[ "$status" -eq 2 ]
		[[ "$output" = *"empty.fxt: the file is empty" ]]
	done
	[ ! -e none.fxt ]
}

# Names stand for threads of each file, so each is read before they are merged.
@test "merge: a file that is no trace, or may not be read, is left out where names choose threads, too" {
	for i in {1..9}; do
		echo '[{"ph":"M","name":"process_name","pid":1,"args":{"name":"one"}},
			{"ph":"M","name":"process_name","pid":2,"args":{"name":"two"}},
			{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"first"}},
			{"ph":"X","name":"of one, '"$i"'","pid":1,"tid":1,"ts":'"$i"',"dur":1},
			{"ph":"X","name":"of two","pid":2,"tid":2,"ts":0,"dur":1}]' >"$i.json"
	done
	: >empty.json
	echo none >text.json
	cp 1.json shut.json
	chmod 0 shut.json
	as_reader=() # root reads what is shut
	[ "$(id -u)" -ne 0 ] || as_reader=(setpriv --bounding-set=-dac_override,-dac_read_search)
	bad=(empty.json text.json shut.json)
	for who in --process=one --process=1 --thread=first; do
		for last in 2 9; do # of 16 descriptors: together, and one after the other
			run bash -c 'ulimit -n 16 && exec "$@"' bash "${as_reader[@]}" "$bin/trackway" merge --align none "$who" \
				"${bad[@]}" $(seq -f %g.json $last) -o "out$last.json"
			[ "$status" -eq 1 ] || fail "$who: status $status, $output"
			[ "$(grep -c 'left out: ' <<<"$output")" -eq 3 ] || fail "$who: $output"
			for file in "${bad[@]}"; do grep -q "left out: $file: " <<<"$output" || fail "$who: $output"; done
			trackway convert --to csv "out$last.json" -o - | grep -o 'of [a-z]*, [0-9]*\|of two' |
				diff - <(seq -f "of one, %g" $last)
		done
	done
	run "${as_reader[@]}" "$bin/trackway" merge --process one "${bad[@]}" -o none.json
	[ "$status" -eq 2 ]
	[[ "$output" = *"none of the files is a trace" ]]
	run trackway merge --process one 1.json absent.json -o none.json
	[ "$status" -eq 2 ]
	[[ "$output" = *"absent.json: No such file or directory" ]]
}

@test "merge: what is wrong in a file is told with its name" {
	head -c 60000 "$DATA/fxt/streaming.fxt" >cut.fxt
	printf '\0\0\0\0\0\0\0\0' >>cut.fxt
	run trackway merge "$DATA/fxt/oneshot_all.fxt" cut.fxt -o out.fxt
	[ "$status" -eq 1 ]
	[[ "$output" = *"cut.fxt: offset"* ]]
}

# An archive of one instant event: its name, its tick, and the tick and wall time of its initialization record.
archive() { # file name tick base_tick base_ns
	"$PYTHON" - "$@" <<-'END'
		import struct, sys
		path, name, tick, base_tick, base_ns = sys.argv[1], sys.argv[2].encode(), *map(int, sys.argv[3:])
		text = name.ljust((len(name) + 7) // 8 * 8, b"\0")
		words = [0x0016547846040010, 0x41, 10**9, base_tick, base_ns]
		words += [0x02 | 1 + len(text) // 8 << 4 | 1 << 16 | len(name) << 32]
		record = struct.pack("<%dQ" % len(words), *words) + text
		record += struct.pack("<5Q", 0x33 | 1 << 16, 5, 6, 0x24 | 1 << 24 | 1 << 48, tick)
		open(path, "wb").write(record)
	END
}

times() { # file: name and time of each event that is no metadata
	"$PYTHON" - "$1" <<-'END'
		import json, sys
		trace = json.load(open(sys.argv[1]))["traceEvents"]
		print(" ".join(f"{e['name']}@{e['ts']:g}" for e in trace if e["ph"] != "M"))
	END
}

@test "merge: by the wall time that each trace tells" {
	archive a.fxt a 2000 1000 1700000000000000000 # at 1000 ns of that second
	archive b.fxt b 0 0 1700000000000005000
	trackway merge --align wall b.fxt a.fxt -o out.json
	[ "$(times out.json)" = "a@0 b@4" ]
	trackway merge --align wall --offset a.fxt=1us b.fxt a.fxt -o out.json
	[ "$(times out.json)" = "a@0 b@3" ]
	run trackway merge --align wall a.fxt "$DATA/fxt/streaming.fxt" -o out.fxt
	[ "$status" -eq 2 ]
	[[ "$output" = *"streaming.fxt does not tell the wall time of anything"* ]]
	[ ! -e out.fxt ]
}

@test "merge: by the time that a TraceLog starts at, where it tells the zone" {
	archive b.fxt b 0 0 1700000000000000000 # 2023-11-14 22:13:20 UTC
	printf '%s\n' 'prf stm 2023-11-14 23:13:20.250 +01:00' 'sam str 0x00000000 5 1 0:0 0x2' >a.log
	trackway merge --align wall a.log b.fxt -o out.json 2>losses
	[[ " $(times out.json) " = " b@0 "*" function 0x2@255000 "* ]] || fail "$(times out.json)"
	sed -i 's/ +01:00//' a.log
	run trackway merge --align wall a.log b.fxt -o out.json
	[ "$status" -eq 2 ]
	[[ "$output" = *"a.log does not tell the wall time of anything"* ]]
}

@test "merge: an archive keeps the time of day of what it was made of" {
	archive b.fxt b 0 0 1700000000000000000 # 2023-11-14 22:13:20 UTC
	printf '%s\n' 'prf stm 2023-11-14 23:13:20.250 +01:00' 'sam str 0x00000000 5 1 0:0 0x2' >a.log
	trackway convert a.log -o a.fxt 2>losses
	trackway merge --align wall a.fxt b.fxt -o out.json 2>losses
	[[ " $(times out.json) " = " b@0 "*" function 0x2@255000 "* ]] || fail "$(times out.json)"
	archive c.fxt c 0 0 1700000000000009000
	archive d.fxt d 0 0 1700000000000007000
	trackway merge --align wall d.fxt c.fxt -o cd.fxt
	"$PYTHON" -c 'import struct; assert struct.unpack_from("<4Q", open("cd.fxt", "rb").read(), 24) == (0x41, 10**9, 0, 1700000000000007000)'
	trackway merge --align wall cd.fxt b.fxt -o out.json
	[ "$(times out.json)" = "b@0 d@7 c@9" ]
}

@test "merge: the wall time of XRay logs is no time of day" {
	archive b.fxt b 0 0 1700000000000000000
	run trackway merge --align wall b.fxt "$DATA/xray/v5.xray" -o out.fxt
	[ "$status" -eq 2 ]
	[[ "$output" = *"b.fxt and "*"/v5.xray: one has the time of day, and one the time since its system began"* ]]
	[ ! -e out.fxt ]
	trackway convert "$DATA/xray/v5.xray" -o v5.fxt 2>losses
	run trackway merge --align wall b.fxt v5.fxt -o out.fxt
	[ "$status" -eq 2 ]
	[[ "$output" = *"v5.fxt does not tell the wall time of anything"* ]]
}

@test "merge: by the wall time records of XRay logs, which say what the counter means" {
	# The first buffer of v5.xray is at 10.0005 s of wall time, of v3.xray too; they have the same counters.
	trackway merge --align wall "$DATA/xray/v5.xray" "$DATA/xray/v3.xray" -o wall.json 2>losses
	trackway merge "$DATA/xray/v5.xray" "$DATA/xray/v3.xray" -o first.json 2>losses
	[ "$(times wall.json)" = "$(times first.json)" ]
}

events() { # file, then name and microseconds of instants
	local file=$1 comma=
	shift
	printf '[' >"$file"
	while [ $# -gt 0 ]; do
		printf '%s{"ph":"i","s":"t","name":"%s","ts":%s,"pid":1,"tid":1}' "$comma" "$1" "$2" >>"$file"
		comma=,
		shift 2
	done
	printf ']' >>"$file"
}

@test "merge: by an event that happened once and is in all traces" {
	events a.json x 1 sync 10 y 20
	events b.json early 1 sync 5 late 8
	trackway merge --marker sync a.json b.json -o out.json 2>notes
	[ "$(times out.json)" = "x@0 early@5 sync@9 sync@9 late@12 y@19" ]
	grep -q '^trackway: b.json: moved by +5.000 us$' notes
}

@test "merge: by two events, clocks that run at other speeds" {
	events a.json begin 0 end 1000
	events b.json begin 100 middle 600.5 end 1101 # 1001 microseconds where the first trace has 1000
	trackway merge --marker begin --marker end a.json b.json -o out.json 2>notes
	[ "$(times out.json)" = "begin@0 begin@0 middle@500 end@1000 end@1000" ]
	grep -q '^trackway: b.json: moved by -100.0 us, drift +1000.000 ppm$' notes
}

@test "merge: --json tells how each clock was changed, and what was written" {
	event() { echo "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":$1,\"dur\":1,\"name\":\"$2\"}"; }
	(event 10 a && event 30 b) >one.json
	(event 100 a && event 110 b) >two.json
	# Of the second clock 10 us are 20 us of the first one.
	trackway merge --json --marker a --marker b one.json two.json -o out.fxt >result 2>err
	[ ! -s err ]
	"$PYTHON" - <<-'END'
		import json
		told = json.load(open("result"))
		assert told["files"] == [{"file": "one.json", "shift_ns": 0, "pivot_ns": 10000, "scale": 1},
		                         {"file": "two.json", "shift_ns": -90000, "pivot_ns": 100000, "scale": 2}], told
		assert (told["output"], told["to"], told["events"], told["losses"]) == ("out.fxt", "fxt", 4, []), told
	END
	[ "$(trackway convert --to jsonl out.fxt | grep -o '"time_ns":[0-9]*' | tr '\n' ' ')" = '"time_ns":0 "time_ns":0 "time_ns":20000 "time_ns":20000 ' ]
	run trackway merge --json one.json -o - --to fxt
	[ "$status" = 2 ]
	[[ $output == *"--json and -o - would both write to standard output"* ]]
}

@test "merge: markers that are not there, in the wrong order, too many, in a pipe" {
	events a.json begin 0 end 1000
	events b.json end 1 begin 2
	refused() { # what it says, arguments
		local text=$1
		shift
		run trackway merge "$@" -o out.json
		[ "$status" -eq 2 ] && [[ "$output" = *"$text"* ]] && [ ! -e out.json ] || fail "$* said: $output"
	}
	refused 'b.json has no event "middle"' --marker middle b.json a.json
	refused 'b.json: "end" does not come after "begin"' --marker begin --marker end a.json b.json
	refused 'at most 2' --marker a --marker b --marker c a.json b.json
	refused 'two ways of doing one thing' --marker begin --align wall a.json b.json
	gzip -k a.json
	refused 'a.json.gz: markers are looked for in files only' --marker begin b.json a.json.gz
	cat a.json | refused '<stdin>: markers are looked for in files only' --marker begin b.json -
}

@test "merge: standard input may be one of the files, or several if it is no pipe" {
	cp "$DATA/fxt/oneshot_all.fxt" a.fxt
	cp "$DATA/fxt/streaming.fxt" b.fxt
	trackway merge a.fxt b.fxt a.fxt -o expected.fxt
	trackway merge - b.fxt - -o out.fxt <a.fxt
	cmp expected.fxt out.fxt
	trackway merge <(cat a.fxt) b.fxt - -o out.fxt < <(cat a.fxt)
	cmp expected.fxt out.fxt
	run trackway merge - b.fxt - -o none.fxt < <(cat a.fxt)
	[ "$status" -eq 2 ]
	[[ "$output" = *"standard input is a pipe: it can be one of the files, no more"* ]]
	[ ! -e none.fxt ]
}

@test "merge: Perfetto's protobuf holds the slices that FXT holds" {
	cp "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" .
	trackway merge oneshot_all.fxt streaming.fxt v5.xray -o all.fxt 2>losses
	trackway merge oneshot_all.fxt streaming.fxt v5.xray -o all.pftrace 2>losses
	trackway stat --json all.fxt >stat.json || [ $? = 1 ]
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/exports.py" perfetto all.pftrace stat.json
}

@test "merge: FXT straight from FXT has the events that the way through rows has" {
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import fxt, fxt_odd
		odd = fxt_odd.archive()
		open("odd.fxt", "wb").write(odd)
		open("big.fxt", "wb").write(fxt.swapped(odd))
		damaged = bytearray(odd)
		del damaged[len(odd) // 2 & ~7 : (len(odd) // 2 & ~7) + 24]
		open("damaged.fxt", "wb").write(damaged)
	END
	cp "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" .
	events() { # of an archive, without the indices and the koids that were invented for tracks that are no threads
		trackway dump "$1" 2>findings | grep -vE ' (magic|provider-info|initialization|string|thread|kernel-object) ' |
			cut -d' ' -f2- | sed 's/_ref=[0-9]*//g; s/thread=13835058055[0-9]*/thread=invented/; s/\(header=0x[0-9a-f]*\)[0-9a-f]\{8\}/\1/'
	}
	printf 'a;b 1\n' >none.folded
	for set in "odd.fxt big.fxt" "big.fxt streaming.fxt odd.fxt" "damaged.fxt oneshot_all.fxt"; do
		trackway merge --align none $set -o straight.fxt 2>found.straight || [ $? -eq 1 ]
		trackway merge --align none $set none.folded -o rows.fxt 2>found.rows || [ $? -eq 1 ]
		events straight.fxt >straight.txt
		events rows.fxt | grep -v 'value=a;b ' >rows.txt
		[ -s straight.txt ]
		diff straight.txt rows.txt
	done
}

# Two archives whose names and threads are more than a string table (32,767) and a thread table (255) hold, with clocks of
# other rates. "expected" has what each event is: nanoseconds, process, thread, name.
make_wide() {
	"$PYTHON" - <<-'END'
		import struct
		EVENT, RATES = 4 | 2 << 4, (24000000, 1000003)
		expected = []
		for file, rate in enumerate(RATES):
		    words = [0x0016547846040010, 0x21, rate]
		    for i in range(1, 17001):
		        text = f"{file}.{i}".encode()
		        words += [2 | (1 + (len(text) + 7) // 8) << 4 | i << 16 | len(text) << 32]
		        words += struct.unpack(f"<{(len(text) + 7) // 8}Q", text.ljust((len(text) + 7) // 8 * 8, b"\0"))
		    for i in range(1, 201):
		        words += [0x33 | i << 16, 100 + file, 1000 * (file + 1) + i]
		    for i in range(1, 17001):
		        thread, ticks = 1 + i % 200, i * 7
		        words += [EVENT | thread << 24 | i << 48, ticks]
		        expected.append((ticks * 10**9 // rate, 100 + file, 1000 * (file + 1) + thread, f"{file}.{i}"))
		    open(f"wide{file}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
		open("expected", "w").write("".join("%d %d %d %s\n" % row for row in sorted(expected)))
	END
}

@test "merge: more names and threads than the tables of an archive hold, from clocks of other rates" {
	make_wide
	trackway merge --align none wide0.fxt wide1.fxt -o wide.fxt
	trackway check wide.fxt
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" >found <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		import fxt
		rows = [(row["ns"], row["process"], row["thread"], row["name"]) for row in fxt.events(open("wide.fxt", "rb").read())]
		assert [row[0] for row in rows] == sorted(row[0] for row in rows)
		print("\n".join("%d %d %d %s" % row for row in sorted(rows)))
	END
	diff expected found
}

flows() { # of an archive: time, file and number of each begin of a flow
	"$PYTHON" - "$1" <<-'END'
		import struct, sys
		data, at = open(sys.argv[1], "rb").read(), 0
		while at < len(data):
		    header, = struct.unpack_from("<Q", data, at)
		    size = 8 * (header >> 4 & 0xfff)
		    if header & 0xf000f == 0x80004:
		        tick, number = struct.unpack_from("<Q", data, at + 8)[0], struct.unpack_from("<Q", data, at + size - 8)[0]
		        print(tick, number >> 32, number & 0xffffffff)
		    at += size
	END
}

@test "merge: what stands behind the arguments of an event, and what does not" {
	"$PYTHON" - >expected <<-'END'
		import struct
		# instants with a koid, a number of 64 bits that fits 32 and a text; without a scope, and with each
		koid, number = [8 | 2 << 4 | 1 << 16], [3 | 2 << 4 | 1 << 16]
		text = [6 | 2 << 4 | 1 << 16 | 0x8003 << 32, 0x636261]
		for file in range(2):
		    words = [0x0016547846040010, 0x21, 10**9, 0x22 | 1 << 16 | 4 << 32, 0x656d616e]
		    words += [0x33 | 1 << 16, 5 + file, 6 + file]
		    ticks = 0
		    for _ in range(200):  # in many chunks: those that come later are made otherwise than the first
		        for value in ([*koid, 1], [*koid, 2], [*number, 2], text, [*text, *koid, 0], []):
		            for scope in ([], [0], [1], [2]):
		                count = 0 if not value else 2 if len(value) > 2 else 1
		                size = 2 + len(value) + len(scope)
		                words += [4 | size << 4 | count << 20 | 1 << 24 | 1 << 48, ticks, *value, *scope]
		                print("timestamp=%d process=%d" % (ticks, 5 + file), "scope=%d" % (scope[0] if scope else 0))
		                ticks += 10
		    open(f"tail{file}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	trackway merge --align none --memory 8M tail0.fxt tail1.fxt -o straight.fxt
	printf 'a;b 1\n' >none.folded
	trackway merge --align none tail0.fxt tail1.fxt none.folded -o rows.fxt 2>losses
	for file in straight rows; do
		trackway dump "$file.fxt" | sed -n 's/.* event.instant  *\(.*\)/\1/p' | grep -v 'value=a;b' >"$file.txt"
	done
	[ "$(wc -l <straight.txt)" -eq 9600 ]
	diff straight.txt rows.txt
	sed 's/^\(timestamp=[0-9]*\) \(process=[0-9]*\) .* \(scope=[0-9]*\)$/\1 \2 \3/' straight.txt | sort |
		diff <(sort expected) -
}

@test "merge: events of one time, in the order of the files and as they stand there; times far apart" {
	"$PYTHON" - <<-'END'
		import random, struct
		random.seed(1)
		for file in range(3):
		    # one time for 9,000; a few times in turns, as of a clock of 100 ns; one nearly an hour later, and so on
		    ticks = [500] * 9000 + [1000 + i // 40 * 100 for i in range(9000)] + [3 << 40, (3 << 40) + 7, 5 << 60]
		    late = [i for i in range(9100, 17900) if random.random() < 0.1]
		    for i in late:  # come some records after their time
		        ticks[i] -= random.choice((100, 200, 1000))
		    words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 5 + file, 6 + file]
		    for i, tick in enumerate(ticks):  # begins of flows
		        words += [0x34 | 8 << 16 | 1 << 24, tick, file << 32 | i]
		    open(f"even{file}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
		    # ids of the second trace and of the third have its number above 48 bits
		    ids = [(file << 32 | i) ^ file << 48 for i in range(len(ticks))]
		    open("even.txt", "a").write("".join(f"{tick} {id >> 32} {id & 0xffffffff}\n" for tick, id in zip(ticks, ids)))
	END
	sort -s -n -k1,1 even.txt >expected # stable
	for jobs in 1 2; do
		trackway merge --jobs $jobs --align none even0.fxt even1.fxt even2.fxt -o even.fxt
		flows even.fxt | diff expected -
	done
}

@test "merge: times that are more than 64 bits hold" {
	"$PYTHON" - <<-'END'
		import struct
		for file in range(2):
		    words = [0x0016547846040010, 0x21, 1000, 0x33 | 1 << 16, 5 + file, 6 + file]  # ticks are milliseconds
		    for tick in (10, 11, 2**64 - 1 - file):
		        words += [0x24 | 2 << 16 | 1 << 24, tick]
		    open(f"far{file}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	trackway merge --align none far0.fxt far1.fxt -o far.fxt 2>findings || [ $? -eq 1 ]
	trackway dump far.fxt | sed -n 's/.* timestamp=\([0-9]*\) .*process=\([0-9]*\) .*/\1 \2/p' >found
	printf '%s\n' '10000000 5' '10000000 6' '11000000 5' '11000000 6' "18446744073709551615 5" "18446744073709551615 6" |
		diff - found
}

@test "merge: the same for any number of jobs" {
	make_wide
	cp "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" .
	for set in "wide0.fxt wide1.fxt streaming.fxt" "oneshot_all.fxt v5.xray wide1.fxt"; do
		for to in fxt chrome perfetto; do
			trackway merge --jobs 1 --to $to $set -o - >one 2>losses
			trackway merge --jobs 2 --to $to $set -o - >two 2>losses
			[ -s one ]
			cmp one two
		done
	done
}

@test "merge: all four formats have the totals in each target that each has alone" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --turns 50 insns >facts
	cp "$DATA/fxt/oneshot_all.fxt" "$DATA/xray/v5.xray" "$DATA/tracelog/kinds.log" .
	set -- oneshot_all.fxt v5.xray kinds.log insns
	cat >sums.py <<-'END'
		# statistics by name; those of instructions have another unit, but the same numbers
		import collections, json, sys
		sums = collections.Counter()
		for line in sys.stdin:
		    row = json.loads(line)
		    if row.get("weight") != "samples":
		        sums[row["name"], "count"] += row["count"]
		        sums[row["name"], "total"] += row["total_ns"] if "total_ns" in row else row["total"]
		print(*sorted("%s %s %d" % (*key, sums[key]) for key in sums), sep="\n")
	END
	trackway convert kinds.log -o kinds.json 2>losses # of a TraceLog itself, stat counts samples
	trackway convert insns -o insns.json 2>losses     # of an xtrace itself, also what comes behind the last event
	for file in oneshot_all.fxt v5.xray kinds.json insns.json; do
		trackway stat --json --weight calls "$file" 2>findings || [ $? -eq 1 ]
	done | "$PYTHON" sums.py >alone
	grep -q '^GC count' alone
	[ "$(wc -l <alone)" -gt 10 ]
	for target in fxt json; do
		trackway merge "$@" -o all.$target 2>losses || [ $? -eq 1 ]
		trackway stat --json all.$target 2>findings >rows || [ $? -eq 1 ]
		"$PYTHON" sums.py <rows >merged
		diff alone merged
	done
	trackway merge "$@" -o all.pftrace 2>losses || [ $? -eq 1 ]
	grep -v '^{"name":"paused"' rows >begun # a pause that the log begins in: Perfetto shows no slice without a beginning
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/exports.py" perfetto all.pftrace begun
}

@test "merge: events whose time is beyond 64 bits come last" {
	"$PYTHON" - <<-'END'
		import struct
		words = [0x0016547846040010, 0x110010, 0x21, 1, 0x10033, 1, 2]
		for time in (1, 5, 1 << 40, (1 << 64) - 1):
		    words += [0x8000800001000024, time]  # an instant without a name
		open("late.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	trackway merge late.fxt late.fxt -o both.fxt 2>losses
	[ "$(trackway dump both.fxt | grep -c '  event.instant ')" -eq 8 ]
}

@test "merge: events of one time stay in the order of their archives, slices of an archive the longest first, and nest wherever they stand" {
	"$PYTHON" - <<-'END'
		import struct
		def archive(name, lengths):
		    words = [0x0016547846040010, 0x110010, 0x21, 10**9, 0x10033, 1, 2]
		    # each slice of tick 5000 is in a chunk of its own, behind many instants
		    for length in lengths:
		        words += [0x8000800001040034, 5000, 5000 + length]
		        for time in range(20000):
		            words += [0x8000800001000024, 1000 + time * 10]
		    open(name, "wb").write(struct.pack(f"<{len(words)}Q", *words))
		archive("a.fxt", [10, 30, 20])
		archive("b.fxt", [40])
	END
	for jobs in 1 2; do
		trackway merge --jobs $jobs --align none a.fxt b.fxt -o both.fxt
		trackway dump --json both.fxt | "$PYTHON" -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if row["record"].endswith("complete"):
        print(row["end_time"] - row["timestamp"])' >lengths
		diff lengths - <<<$'30\n20\n10\n40'
		trackway sql --csv --jobs $jobs both.fxt 'SELECT dur, depth FROM slices ORDER BY dur' >depths
		diff depths - <<<$'dur,depth\n10,2\n20,1\n30,0\n40,0'
	done
}

# ---- More traces than can be open at once: half as many as `ulimit -n` says. ----

# Archives of instants, half of them with processes of the same numbers; clocks of other rates, which begin at other times
# of day. Of each event "expected.WAY" has what it becomes: nanoseconds, file and number.
make_many() { # how many
	"$PYTHON" - "$1" <<-'END'
		import random, struct, sys
		from fractions import Fraction
		count, rows = int(sys.argv[1]), {"first": [], "wall": [], "none": []}
		random.seed(7)
		def string(index, text):
		    data = text.encode().ljust((len(text) + 7) // 8 * 8, b"\0")
		    return [2 | 1 + len(data) // 8 << 4 | index << 16 | len(text) << 32, *struct.unpack(f"<{len(data) // 8}Q", data)]
		for file in range(count):
		    rate, wall = random.choice((10**9, 10**8, 24000000)), 1700000000000000000 + random.randrange(10**6)
		    base = random.randrange(10**6)
		    words = [0x0016547846040010, 0x41, rate, base, wall, *string(1, f"name{file % 7}")]
		    words += [0x33 | 1 << 16, 1 + file % (count // 2), 10000 + file]
		    ticks = sorted(random.randrange(10**6) for _ in range(40))
		    for number, tick in enumerate(ticks):  # begins of flows: they have a number
		        words += [0x34 | 8 << 16 | 1 << 24 | 1 << 48, tick, file << 32 | number]
		    ns = [tick * 10**9 // rate for tick in ticks]
		    zero = wall - base * 10**9 // rate
		    for number, time in enumerate(ns):
		        rows["first"].append((time - ns[0], file, number))
		        rows["none"].append((time, file, number))
		        rows["wall"].append((zero + time, file, number))
		    open(f"many{file:04}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
		least = min(rows["wall"])[0]
		rows["wall"] = [(time - least, *rest) for time, *rest in rows["wall"]]
		for way in rows:
		    open(f"expected.{way}", "w").write("".join(
		        # ids of all traces but the first have the number of theirs above 48 bits
		        "%d %d %d\n" % (time, file | file << 16, number) for time, file, number in sorted(rows[way])))
	END
}

@test "merge: more files than can be open at once, in every way of bringing their clocks together" {
	make_many 300
	for way in first wall none; do
		(ulimit -n 32; trackway merge --align $way many*.fxt -o out.fxt)
		flows out.fxt | diff expected.$way -
	done
	trackway merge --align wall many*.fxt -o all.fxt # 300 are more than 256, too
	(ulimit -n 32; trackway merge --memory 1M --align wall many*.fxt -o out.fxt) # several rounds of a few
	cmp all.fxt out.fxt
	trackway check all.fxt
	[ "$(trackway info --json all.fxt | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["processes"])')" -eq 300 ]
}

@test "merge: files that are not open at once have the processes, threads and names that they have if they are" {
	make_many 40
	cp "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" "$DATA/tracelog/kinds.log" .
	gzip -k many0003.fxt
	set -- many*.fxt many0003.fxt.gz v5.xray kinds.log streaming.fxt many0005.fxt v5.xray
	for to in chrome perfetto; do
		trackway merge --to $to --offset many0001.fxt=-1ms --offset v5.xray=3ms "$@" -o - >direct 2>losses.direct
		(ulimit -n 32; trackway merge --to $to --offset many0001.fxt=-1ms --offset v5.xray=3ms "$@" -o - >rounds 2>losses)
		[ -s direct ]
		cmp direct rounds
		diff <(sort losses.direct) <(sort losses)
	done
	trackway merge --align none "$@" -o direct.json 2>losses
	(ulimit -n 32; trackway merge --align none --memory 1M "$@" -o rounds.json 2>losses) # several rounds
	diff <(sort direct.json) <(sort rounds.json)
	(ulimit -n 32; trackway merge many*.fxt /dev/fd/7 -o out.json) 7< <(cat "$DATA/fxt/streaming.fxt") 2>losses
	trackway merge many*.fxt "$DATA/fxt/streaming.fxt" -o all.json 2>losses
	cmp all.json out.json
}

@test "merge: markers in more files than can be open at once, of clocks that run at other speeds" {
	events a.json begin 0 end 1000
	events b.json begin 100 middle 600.5 end 1101 # 1001 microseconds where the first trace has 1000
	events c.json begin 0 far 500 end 1000
	for i in $(seq 20); do cp b.json b$i.json; done
	trackway merge --marker begin --marker end a.json b*.json -o all.json 2>notes.direct
	(ulimit -n 32; trackway merge --marker begin --marker end a.json b*.json -o out.json 2>notes)
	cmp all.json out.json
	diff notes.direct notes
	grep -q '^trackway: b20.json: moved by -100.0 us, drift +1000.000 ppm$' notes
	cp c.json b21.json
	sed -i s/end/other/ b21.json
	run bash -c 'ulimit -n 32; trackway merge --marker begin --marker end a.json b*.json -o missing.json'
	[ "$status" -eq 2 ]
	[[ "$output" = *'b21.json has no event "end"'* ]]
	[ ! -e missing.json ]
}

@test "merge: payloads that are larger than a block, and damage, in more files than can be open at once" {
	"$PYTHON" - <<-'END'
		import struct
		for file in range(20):
		    words = [0x0016547846040010, 0x21, 10**9, 0x33 | 1 << 16, 5 + file, 6 + file]
		    for i, size in enumerate((10, 8000, 20000, 30000, 8)):
		        text = bytes((file + i + k) % 251 for k in range(size)).ljust((size + 7) // 8 * 8, b"\0")
		        words += [9 | (2 + len(text) // 8) << 4 | size << 16 | 1 << 32, 100 * i + file]
		        words += struct.unpack(f"<{len(text) // 8}Q", text)  # a log record
		    words += [0] if file == 7 else []
		    open(f"log{file:02}.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	trackway merge --align none log*.fxt -o all.json 2>found.direct || [ $? -eq 1 ]
	(ulimit -n 32; trackway merge --align none log*.fxt -o out.json 2>found || [ $? -eq 1 ])
	(ulimit -n 32; trackway merge --align none --memory 1M log*.fxt -o few.json 2>found.few || [ $? -eq 1 ])
	[ "$(grep -c '"name":"log"' all.json)" -eq 100 ] || fail "$(cut -c1-200 all.json)"
	cmp all.json out.json
	cmp all.json few.json
	diff found.direct found
	grep -q 'log07.fxt: offset' found
}

@test "merge: of more files than can be open at once, one that is not there, no room for what is read of them" {
	make_many 20
	run bash -c 'ulimit -n 32; trackway merge many*.fxt nothing.fxt -o out.fxt'
	[ "$status" -eq 2 ]
	[[ "$output" = *"nothing.fxt: No such file"* ]]
	[ ! -e out.fxt ]
	run bash -c 'ulimit -n 32; TMPDIR=/nonexistent trackway merge many*.fxt -o out.fxt'
	[ "$status" -eq 2 ]
	[[ "$output" = *"temporary file in /nonexistent: No such file"* ]]
	[ ! -e out.fxt ]
	mkdir folder
	run bash -c 'trap "" XFSZ; ulimit -n 32; ulimit -f 8; TMPDIR=folder trackway merge many*.fxt -o out.fxt'
	[ "$status" -eq 2 ]
	[[ "$output" = *"temporary file in folder: File too large"* ]]
	[ ! -e out.fxt ]
	[ -z "$(ls folder)" ]
}

@test "merge: FXT's objects pass a window of time, more files than can be open at once or not" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		for i in range(20):
		    out = [MAGIC_RECORD, provider_info(1, b"app"), record(1, 0, 10**9), string(1, b"one"), thread(1, 5, 6)]
		    out += [record(7, 4 << 16 | 1 << 24, 100 + i), event(0, 1, ticks=10), event(0, 1, ticks=9000),
		            record(10, 2 << 16 | 1 << 20, 9001)]  # a backtrace of no addresses
		    open(f"in{i:02}.fxt", "wb").write(b"".join(out))
	END
	trackway merge --same-machine --strict --from-time 5us in*.fxt -o direct.fxt
	(ulimit -n 32; trackway merge --same-machine --strict --from-time 5us in*.fxt -o rounds.fxt)
	(ulimit -n 32; trackway merge --same-machine --from-time 5us in*.fxt - <in00.fxt -o with.fxt)
	for file in direct rounds with; do
		"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" $file.fxt >$file
	done
	for file in direct rounds; do
		[ "$(grep -c '"record":"kernel-object"' $file)" -eq 20 ] || fail "$(head -c 2000 $file)"
		[ "$(grep -c '"record":"event.instant"' $file)" -eq 20 ]
		[ "$(grep -c '"record":"profiler.backtrace"' $file)" -eq 20 ]
	done
	[ "$(grep -c '"record":"kernel-object"' with)" -eq 21 ] # what is in a pipe is known when it is read
}

@test "merge: functions of one name at one address stand in the sources of their own programs" {
	for drive in C D E F G; do
		sed "s/C:/$drive:/" "$DATA/tracelog/vs.log" >$drive.log
	done
	trackway merge [C-G].log -o direct.json 2>err
	(ulimit -n 9; trackway merge [C-G].log -o rounds.json) 2>err
	for file in direct rounds; do
		"$PYTHON" - $file.json <<-'END'
			import json, sys
			trace = json.load(open(sys.argv[1]))
			sampled = [(trace["stackFrames"][str(e["sf"])], e["ts"]) for e in trace["traceEvents"] if e["ph"] == "P"]
			found = [(frame["file"], time, frame["line"]) for frame, time in sampled]
			for drive in "CDEFG":
			    own = [place[1:] for place in found if place[0] == drive + ":\\src\\App\\Program.cs"]
			    assert own == [(20000, 10), (30000, 11), (30000, 11)], found
		END
	done
}

@test "merge: events of FXT's providers are of the one that the merged archive has; alone they keep theirs" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		for i in 7, 9:  # a section, and a provider's event: its buffer was full
		    out = MAGIC_RECORD + provider_info(i, b"app") + record(0, 2 << 16 | i << 20) + record(0, 3 << 16 | i << 20)
		    open(f"in{i}.fxt", "wb").write(out)
	END
	trackway merge in7.fxt in9.fxt -o all.fxt
	trackway convert in7.fxt --to fxt -o one.fxt
	for file in all one; do
		"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" $file.fxt >$file
	done
	[ "$(grep '"provider-info"' all | grep -Eo '"provider_id":[0-9]+')" = '"provider_id":1' ]
	[ "$(grep '"provider-event"' all | grep -Eo '"provider_id":[0-9]+' | uniq -c | tr -d ' ')" = '2"provider_id":1' ]
	[ "$(grep '"provider-event"' one | grep -Eo '"provider_id":[0-9]+')" = '"provider_id":7' ]
}

@test "merge: records of FXT stay of their kind" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		for file, at, koid in (("a.fxt", 2000, 5), ("b.fxt", 2001, 15)):
		    out = [MAGIC_RECORD, provider_info(7, b"app"), record(1, 0, 10**9), string(1, b"one"), thread(1, koid, koid + 1)]
		    out += [record(6, 1 << 16 | 1 << 24, 0xabc), event(0, 1, 0, ticks=1000),
		            record(8, 3 << 16 | 2 << 24 | 1 << 28 | 1 << 36 | 10 << 44 | 20 << 52, at),
		            record(10, 1 << 20 | 7 << 28 | 3 << 44 | 2 << 52, at + 10, stream(b"mod"), stream(b"\x01\x02")),
		            record(10, 1 << 16 | 1 << 20 | 7 << 28 | 5 << 44, at + 20, 1, 2, 3),
		            record(10, 2 << 16 | 1 << 20 | 2 << 28 | 9 << 36, at + 30, 0x10, 0x20),
		            record(10, 2 << 16 | 1 << 20, at + 40),  # a backtrace of no addresses
		            record(7, 1 << 24, 0xc0 + koid),  # an object whose type is not told
		            event(1, 1, argument(6, 1), 3, arguments=1, ticks=at + 50),  # a counter whose value is a text
		            record(LARGE, 1 << 40, 1 << 16, 5, stream(b"bytes"))]
		    open(file, "wb").write(b"".join(out))
	END
	for jobs in 1 2; do
		trackway merge --same-machine --jobs $jobs --align none a.fxt b.fxt -o both.fxt 2>err
		[ "$(grep -vc "taken as those of one machine" err)" = 0 ] || fail "$(cat err)"
		for file in a b both; do
			"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" $file.fxt |
				sed -n '/event\|object\|scheduling\|profiler\|blob/s/"[a-z_]*offset":[0-9]*,\|"[a-z_]*_ref":[0-9]*,\|,"value_ref":[0-9]*//gp' >$file
		done
		[ "$(wc -l <a)" -eq 10 ]
		sort a b | diff - <(sort both)
	done
}

@test "merge: so many files that each has a share of the memory limit of less than a page" {
	"$PYTHON" - <<-'PY'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		for i in range(40):
		    open(f"in{i}.fxt", "wb").write(words(MAGIC) + provider_info(1, b"one") + record(1, 0, 10**9) +
		                                   event(0, 0, 5, 6, reference=0, ticks=i))
	PY
	trackway merge --memory 64K in*.fxt -o out.fxt 2>err || fail "$(cat err)"
	[ "$(trackway dump out.fxt | grep -c ' event.instant ')" = 40 ]
}

@test "merge: an argument that is the koid of a process follows it to another number" {
	"$PYTHON" - <<-END
		import sys; sys.path.insert(0, '$TRACKWAY_SOURCE/tests/truth')
		from fxt_odd import *
		for file in 'abcdefghijklyz':
		    out = [words(MAGIC), provider_info(1, b'p'), record(1, 0, 10**9), thread(1, 5, 6), string(1, b'process ' + file.encode()),
		           string(2, b'k'), record(7, 1 << 16 | 1 << 24, 5)]
		    # Several times, and begins of slices in several chunks: what is known may be written another way. Koid 7 is
		    # nobody's.
		    out += [record(4, (2 << 16 if file in 'yz' else 0) | 2 << 20 | 1 << 24 | 2 << 48, 1000 + i, 8 | 2 << 4 | 2 << 16, 5, 8 | 2 << 4 | 2 << 16, 7)
		            for i in range(20000 if file in 'yz' else 3)]
		    open(file + '.fxt', 'wb').write(b''.join(out))
	END
	follows() { # in so many processes
		trackway dump --json "$1" >rows
		"$PYTHON" - "$2" <<-'END'
			import json, sys
			names = set()
			for row in map(json.loads, open("rows")):
			    if row["record"] in ("event.instant", "event.duration-begin"):
			        process, nobody = row["arguments"]
			        assert process["value"] == row["process"] and nobody["value"] == 7, row
			        names.add((process["value"], process["object"]))
			assert len({name for _, name in names}) == len(names) == int(sys.argv[1]), names
		END
	}
	trackway merge --same-machine a.fxt b.fxt -o two.fxt
	follows two.fxt 2
	trackway merge --same-machine y.fxt z.fxt -o long.fxt
	follows long.fxt 2
	(ulimit -n 16; trackway merge --same-machine [a-l].fxt -o many.fxt) # one after the other
	follows many.fxt 12
}

@test "merge: records come late by up to the reorder window, whatever stands between them" {
	"$PYTHON" - <<-END
		import sys; sys.path.insert(0, '$TRACKWAY_SOURCE/tests/truth')
		from fxt_odd import *
		out = [words(MAGIC), provider_info(1, b'p'), record(1, 0, 10**9), thread(1, 5, 6), string(1, b'n')]
		for i in range(60000): # with objects, rows are made when they are read
		    out += [record(4, 1 << 24 | 1 << 48, 1000 + 10 * i)] + [record(7, 3 << 16 | 1 << 24, 77)] * (i % 10 == 0)
		out.append(record(4, 1 << 24 | 1 << 48, 1005))
		open('late.fxt', 'wb').write(b''.join(out))
	END
	trackway merge --same-machine late.fxt late.fxt -o out.fxt 2>found
	[ "$(grep -vc "taken as those of one machine" found)" = 0 ] || fail "$(cat found)"
}

@test "merge: records that come later than the window are in order, and the trace begins with the first of them" {
	"$PYTHON" - <<-END
		import sys; sys.path.insert(0, '$TRACKWAY_SOURCE/tests/truth')
		from fxt_odd import *
		out = [words(MAGIC), provider_info(1, b'p'), record(1, 0, 10**9), thread(1, 5, 6), string(1, b'n')]
		out += [event(0, 1, ticks=1000 + 10 * i) for i in range(200000)]
		open('late.fxt', 'wb').write(b''.join(out + [event(0, 1, ticks=at) for at in (400, 700, 1003)]))
	END
	printf 'a;b 1\n' >one.folded
	for others in late.fxt one.folded; do
		for align in first none; do
			run trackway merge --reorder-window 64K --align $align late.fxt $others -o out.fxt
			[[ "$status" = 0 && "$output" != *"time:"* && "$output" != *"came later"* ]] || fail "$others: $output"
			trackway convert --to csv out.fxt -o out.csv
			[ "$(sed -n 2p out.csv | cut -d, -f 1)" = 0 ]
			tail -n +2 out.csv | cut -d, -f 1 | sort -nc
		done
	done
}
