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
			trace, first = json.load(open(sys.argv[1])), {}
			for event in trace["traceEvents"]:
			    if event["ph"] != "M":
			        first.setdefault(event["pid"], event["ts"])
			print(trace["otherData"]["clock_start_ns"], first[1000], first[1001000])
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
	[[ "$output" = *"merge does not write xray-fdr, only fxt and chrome"* ]]
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
}

@test "merge: what is wrong in a file is told with its name" {
	head -c 60000 "$DATA/fxt/streaming.fxt" >cut.fxt
	printf '\0\0\0\0\0\0\0\0' >>cut.fxt
	run trackway merge "$DATA/fxt/oneshot_all.fxt" cut.fxt -o out.fxt
	[ "$status" -eq 1 ]
	[[ "$output" = *"cut.fxt: offset"* ]]
}
