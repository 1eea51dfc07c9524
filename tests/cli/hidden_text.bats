#!/usr/bin/env bats
# hidden_text.bats - characters that a terminal obeys, or a spreadsheet takes for a formula, in every text.
# SPDX-License-Identifier: Apache-2.0

load helpers

# A trace whose texts hold ESC, DEL, CR, NEL, CSI as one character, and controls of direction.
make_trace() {
	"$PYTHON" - <<-'END'
		import json
		bad = "a\x1b[31m\rb\x9b1m\x85c\u202ed\u2066e\u200ff\u061cg\u2028h\x7fi"
		def event(**members):
		    return {"pid": 1, "tid": 1, "ts": 1, **members}
		json.dump([
		    event(ph="M", name="thread_name", args={"name": "t" + bad}),
		    event(ph="M", name="process_name", args={"name": "p" + bad}),
		    event(ph="X", dur=5, name="s" + bad, cat="c" + bad, args={"k" + bad: "v" + bad}),
		    event(ph="X", ts=2, dur=1, name="=1+1", cat="@x", args={"-k": "+v"}),
		    event(ph="X", ts=2, dur=1, name="+1", cat="-2"),
		    event(ph="C", ts=3, name="n" + bad, args={"=s" + bad: -1}),
		    event(ph="i", ts=3, name="i" + bad),
		    event(ph="b", ts=3, name="b" + bad, cat="x", id=1), event(ph="e", ts=4, name="b" + bad, cat="x", id=1),
		    event(ph="s", ts=2, name="f" + bad, cat="x", id=1), event(ph="f", ts=3, name="f" + bad, cat="x", id=1),
		], open("t.json", "w"))
	END
}

# Whether a file has such a character as it is.
has_raw() {
	LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c' "$1"
}

@test "no text has characters as they are that a terminal obeys" {
	make_trace
	bad=$'x\e[31m\u009b\u202e'
	clean() { # command...
		trackway "$@" >out 2>err || true
		[ -s out ] || [ -s err ]
		fails has_raw out || fail "$*: $(cat -v out)"
		fails has_raw err || fail "$*: $(cat -v err)"
	}
	for command in info dump check stat stacks graph flame counters log; do
		clean $command t.json
		clean $command "$bad"
	done
	grep -qF 'trackway: error: x\x1b[31m\u{9b}\u{202e}: No such file' err || fail "$(cat err)"
	for command in 'stat --json' 'dump --json' 'stacks --json' 'graph --json' 'counters --csv' 'flame --folded' 'diff t.json'; do
		clean $command t.json
	done
	for form in --csv --csv-safe --json --markdown ''; do
		for table in slice instant counter args thread process counter_track flow async_slice record; do
			clean sql $form t.json "select * from $table"
		done
		clean sql $form t.json "select 1 as \"$bad\""
		clean sql $form t.json "select \"$bad\" from nowhere"
	done
	for format in chrome csv jsonl speedscope firefox callgrind folded; do
		trackway convert --to $format t.json -o converted 2>err || true
		[ -s converted ]
		fails has_raw converted || fail "$format: $(cat -v converted)"
	done
}

@test "JSON has these characters escaped, and means the same" {
	make_trace
	"$PYTHON" - "$TRACKWAY" <<-'END'
		import json, subprocess, sys
		names = {event["name"] for event in json.load(open("t.json"))}
		out = subprocess.run([sys.argv[1], "sql", "--json", "t.json", "select name from slice union select name from instant"],
		                     stdout=subprocess.PIPE, check=True).stdout
		assert {json.loads(line)["name"] for line in out.splitlines()} < names
		assert b"\\u202e" in out and b"\\u009b" in out and b"\\u001b" in out
	END
}

@test "blobs: a file's name has no hidden characters" {
	"$PYTHON" - <<-'END'
		import struct
		name = "a\x1bb\x9bc\u202ed\u200be.bin".encode()
		words = (len(name) + 7) // 8
		record = lambda header, body: struct.pack("<Q", header) + body
		string = record(2 | (1 + words) << 4 | 1 << 16 | len(name) << 32, name.ljust(8 * words, b"\0"))
		blob = record(5 | 2 << 4 | 1 << 16 | 4 << 32 | 1 << 48, b"data\0\0\0\0")
		open("t.fxt", "wb").write(bytes.fromhex("1000044678541600") + string + blob)
	END
	trackway blobs --extract-all folder t.fxt 2>err || cat err
	[ "$(ls folder)" = a_b_c_d_e.bin ] || fail "$(ls folder | cat -v)"
}

@test "view: what is shown at first is in the address as an address may have it" {
	make_trace
	trackway view --no-open --state $'tab=sql&sql=a\e[31m "\u202e%20' t.json >address &
	pid=$!
	until [ -s address ] || ! kill -0 $pid; do sleep 0.02; done
	kill $pid
	wait $pid || true
	[[ "$(cat address)" == *'#tab=sql&sql=a%1b[31m%20%22%e2%80%ae%20' ]] || fail "$(cat -v address)"
}

@test "--csv-safe: a text that a spreadsheet takes for a formula has an apostrophe in front" {
	make_trace
	[ "$(trackway sql --csv t.json "select name, category from slice where name glob '[=+]*' order by name")" = \
		$'name,category\n+1,-2\n=1+1,@x' ]
	[ "$(trackway sql --csv-safe t.json "select name, category, -dur as \"=d\", char(9) || 'x' from slice
		where name glob '[=+]*' order by name")" = \
		"name,category,'=d,char(9) || 'x'"$'\n'"'+1,'-2,-1000,'"$'\tx\n'"'=1+1,'@x,-1000,'"$'\tx' ]
	trackway convert --csv-safe t.json -o t.csv 2>err
	grep -q "^1000,slice-complete,1,1,[^,]*,\"'=1+1\",\"'@x\",1000,,,,,,\"{\"\"-k\"\":\"\"+v\"\"}\"," t.csv
	[[ "$(trackway counters --csv-safe t.json | tail -n 1)" == 2000,1,1,,*",'=s"*,-1 ]]
	run trackway convert --csv-safe t.json -o t.fxt
	[ "$status" = 2 ]
	[[ "$output" == *"--csv-safe: fxt is no CSV"* ]]
}
