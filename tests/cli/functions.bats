# functions.bats - slices of FXT as calls of XRay: their names get ids, and a table beside the log tells them.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

# what stat says of a log with the names of the table is what it says of the archive
same_calls() { # archive format
	trackway convert --to "$2" "$1" -o calls.xray 2>losses
	trackway check calls.xray
	trackway stat --json "$1" >archive
	trackway stat --json calls.xray >calls
	"$PYTHON" - calls.xray.functions archive calls <<-'END'
		import json, sys
		names = dict(line.rstrip("\n").split("\t") for line in open(sys.argv[1]))
		assert list(names) == [str(i + 1) for i in range(len(names))], names
		archive, calls = ([json.loads(line) for line in open(path)] for path in sys.argv[2:])
		for row in calls:
		    row["name"], row["id"] = names[str(row["id"])], 0
		key = lambda row: row["name"]
		assert sorted(archive, key=key) == sorted(calls, key=key), (archive, calls)
	END
}

@test "functions: an FXT archive to xray-fdr, with an end without a name" {
	same_calls "$DATA/fxt/oneshot_all.fxt" xray-fdr
	[ "$(head -n 1 calls.xray.functions)" = "1	8 bytes!" ]
	grep -q "counter: 1 left out" losses
}

@test "functions: without a place for the table the names are lost, and --strict says so" {
	run trackway convert --strict --to xray-fdr "$DATA/fxt/oneshot_all.fxt" -o -
	[ "$status" -eq 1 ]
	trackway convert --to xray-fdr "$DATA/fxt/oneshot_all.fxt" -o - 2>losses >log
	grep -q "function name: 4 left out" losses
}

@test "functions: beside a pipe there is no table" {
	mkfifo pipe
	cat pipe >piped.xray &
	trackway convert --to xray-fdr "$DATA/fxt/oneshot_all.fxt" -o pipe 2>err
	wait
	[ ! -e pipe.functions ]
	trackway convert --to xray-fdr "$DATA/fxt/oneshot_all.fxt" >direct.xray
	cmp piped.xray direct.xray
	trackway convert --to xray-fdr "$DATA/fxt/oneshot_all.fxt" -o "$PWD/named.xray" >named.xray 2>err
	cmp named.xray direct.xray
	[ ! -e named.xray.functions ]
	grep -q "function name: .* left out" err
}

@test "functions: names that would break the table" {
	"$PYTHON" - >odd.fxt <<-'END'
		import struct, sys
		def words(*values):
		    sys.stdout.buffer.write(struct.pack(f"<{len(values)}Q", *values))
		words(0x0016547846040010)
		words(3 | 3 << 4 | 1 << 16, 5, 1 << 63 | 6)
		words(2 | 2 << 4 | 1 << 16 | 6 << 32, int.from_bytes(b"a\tb\n\\c\0\0", "little"))
		words(4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 48, 100, 200)
	END
	trackway convert --to xray-fdr odd.fxt -o odd.xray 2>losses
	[ "$(cat odd.xray.functions)" = '1	a\tb\n\\c' ]
	grep -q "process or thread id: 1 kept in another form" losses
}

@test "functions: a log that has ids keeps them, without a table" {
	trackway convert --to xray-fdr --thread 101 "$DATA/xray/v5.xray" -o part.xray
	[ ! -e part.xray.functions ]
}

@test "functions: a function 0 of a log stays apart from function 1" {
	"$PYTHON" - >zero.xray <<-'END'
		import struct, sys
		def metadata(kind, form, *values):
		    return struct.pack("<B15s", kind << 1 | 1, struct.pack("<" + form, *values))
		body = b"".join([metadata(0, "i", 1), metadata(4, "QI", 1, 0), metadata(9, "i", 7), metadata(2, "HQ", 0, 1000),
		                 *(struct.pack("<II", word, 10) for word in (0 << 4, 1 << 4, 1 << 4 | 2, 0 << 4 | 2))])
		sys.stdout.buffer.write(struct.pack("<HHIQQQ", 5, 1, 3, 2 * 10**9, 4096, 0) + metadata(7, "Q", len(body)) + body)
	END
	for target in xray-fdr xray-basic; do
		trackway convert --from-time 0 --to $target zero.xray -o part.xray
		[ ! -e part.xray.functions ]
		[ "$(trackway dump part.xray | grep -o 'function_id=[0-9]*' | tr '\n' ' ')" = "function_id=0 function_id=1 function_id=1 function_id=0 " ]
	done
}

@test "functions: what a TraceLog numbers from 0 on are no function ids" {
	printf '%s\n' "thr crt 0x00000010 0x00000000" "thr aos 0x00000000 42" \
	    "fun inf 0x00000000 0x00000001 0x00000000 0x00000000 0x06000001" "fun nam 0x00000000 \"zero\" \"\" \"\"" \
	    "fun inf 0x00000001 0x00000002 0x00000000 0x00000000 0x06000002" "fun nam 0x00000001 \"one\" \"\" \"\"" \
	    "jit cms 42 1 0x00000001" "jit cmf 42 9 0x00000001 0x00000000" \
	    "jit cms 42 11 0x00000002" "jit cmf 42 15 0x00000002 0x00000000" "gch gcs 42 20 ? tfff" "gch gcf 42 25" >log
	trackway convert --to xray-fdr log -o calls.xray 2>losses
	printf '%s\t%s\n' 1 zero 2 one 3 GC | cmp - calls.xray.functions
	[ "$(trackway dump calls.xray 2>/dev/null | grep -o 'enter[-a-z]* .*function_id=[0-9]*' | grep -o '[0-9]*$' | tr '\n' ' ')" = "1 2 3 " ]
}

@test "functions: tail exits, custom and typed events come back through FXT and Chrome's JSON" {
	there() {
		trackway dump --json "$1" >records
		"$PYTHON" - <<-'END'
			import json
			for row in map(json.loads, open("records")):
			    if row["record"] in ("function.tail-exit", "custom-event", "typed-event"):
			        print(row["record"], row["thread"], row.get("event_type"), row.get("data"))
		END
	}
	there "$DATA/xray/v5.xray" | sort >before
	[ "$(wc -l <before)" -eq 9 ]
	for through in fxt json; do
		trackway convert "$DATA/xray/v5.xray" -o "through.$through" 2>losses
		trackway convert "through.$through" -o back.xray 2>losses
		[ ! -s losses ]
		there back.xray | sort | diff before -
	done
	trackway convert --to xray-basic through.fxt -o basic.xray 2>losses
	[ "$(trackway dump basic.xray | grep -c function.tail-exit)" -eq "$(grep -c tail before)" ]
}

# end arguments: (name, word) ...
ends_with() {
	"$PYTHON" - "$@" <<-'END'
		import struct, sys
		def words(*values):
		    sys.stdout.buffer.write(struct.pack(f"<{len(values)}Q", *values))
		def string(index, text):
		    words(2 | 2 << 4 | index << 16 | len(text) << 32, int.from_bytes(text.encode().ljust(8, b"\0"), "little"))
		words(0x0016547846040010, 3 | 3 << 4 | 1 << 16, 5, 6)
		string(1, "f")
		string(2, "tail")
		string(3, "n")
		words(4 | 2 << 4 | 2 << 16 | 1 << 24 | 1 << 48, 100)
		arguments = [int(word, 0) | 1 << 4 for word in sys.argv[1:]]
		words(4 | 2 + len(arguments) << 4 | 3 << 16 | len(arguments) << 20 | 1 << 24 | 1 << 48, 200, *arguments)
	END
}

@test "functions: what an exit cannot hold is counted" {
	ends_with $((9 | 2 << 16 | 1 << 32)) $((1 | 3 << 16 | 7 << 32)) >end.fxt
	run trackway convert --strict end.fxt -o end.xray
	[ "$status" -eq 1 ]
	[[ $output == "trackway: end.xray: argument of an exit: 1 left out"* ]]
	[ "$(trackway dump end.xray | grep -c function.tail-exit)" -eq 1 ]
	ends_with $((9 | 2 << 16)) >end.fxt
	run trackway convert --strict end.fxt -o end.xray
	[ "$status" -eq 1 ]
	[ "$(trackway dump end.xray | grep -c function.exit)" -eq 1 ]
}

@test "functions: an instant with bytes is its name, and is counted" {
	"$PYTHON" - >instant.fxt <<-'END'
		import struct, sys
		def words(*values):
		    sys.stdout.buffer.write(struct.pack(f"<{len(values)}Q", *values))
		words(0x0016547846040010, 3 | 3 << 4 | 1 << 16, 5, 6)
		words(2 | 2 << 4 | 1 << 16 | 5 << 32, int.from_bytes(b"frame\0\0\0", "little"))
		words(4 | 4 << 4 | 1 << 20 | 1 << 24 | 1 << 48, 100, 10 | 2 << 4 | 1 << 16 | 2 << 32, 0x6968)
	END
	trackway convert instant.fxt -o instant.xray 2>losses
	[ "$(cat losses)" = "trackway: instant.xray: instant: 1 kept in another form" ]
	[[ $(trackway dump instant.xray | grep custom-event) == *'data="frame"'* ]]
}

# A complete slice keeps its own end. XRay's calls nest: the one that ends inside of the next is cut, the one that goes on
# behind a call around it is split. What has no end is open until the last event. An end without a name ends no complete
# slice.
@test "functions: complete slices that overlap leave in order of time" {
	cat >in.json <<'END'
[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":9,"name":"outer"},
{"ph":"X","pid":1,"tid":2,"ts":4,"dur":20,"name":"longer"},
{"ph":"B","pid":1,"tid":2,"ts":30,"name":"begun"},
{"ph":"X","pid":1,"tid":2,"ts":31,"dur":5,"name":"outer"},
{"ph":"B","pid":1,"tid":2,"ts":32,"name":"lost"},
{"ph":"E","pid":1,"tid":2,"ts":40},
{"ph":"B","pid":1,"tid":2,"ts":50,"name":"begun"},
{"ph":"X","pid":1,"tid":2,"ts":51,"dur":100,"name":"longer"},
{"ph":"E","pid":1,"tid":2,"ts":60,"name":"begun"},
{"ph":"B","pid":1,"tid":2,"ts":70,"name":"lost"},
{"ph":"E","pid":1,"tid":2,"ts":80,"name":"lost"}]
END
	trackway convert in.json --to xray-fdr -o out.xray
	trackway check out.xray >found || true
	! grep -E 'tsc-backwards|exit-without-entry' found || fail "$(cat found)"
	[ "$(cut -f 1,2 out.xray.functions | tr '\t\n' ' ;')" = '1 outer;2 longer;3 begun;4 lost;' ]
	trackway sql --csv out.xray 'select name, ts / 1000 as begin, (ts + dur) / 1000 as end from slice order by ts' >found
	diff found - <<'END'
name,begin,end
#1,0,3
#2,3,23
#3,29,150
#1,30,35
#4,31,35
#4,35,39
#3,49,59
#2,50,59
#2,59,150
#4,69,79
END
}

@test "functions: what ends inside of a slice of the same function leaves before it" {
	cat >in.json <<'END'
[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":9,"name":"a"},
{"ph":"B","pid":1,"tid":2,"ts":4,"name":"a"},
{"ph":"B","pid":1,"tid":2,"ts":20,"name":"a"},
{"ph":"X","pid":1,"tid":2,"ts":22,"dur":100,"name":"a"},
{"ph":"E","pid":1,"tid":2,"ts":30,"name":"a"},
{"ph":"X","pid":1,"tid":2,"ts":40,"dur":5,"name":"b"}]
END
	trackway convert in.json --to xray-fdr -o out.xray
	trackway sql --csv out.xray 'select name, ts / 1000 as begin, (ts + dur) / 1000 as end from slice order by ts' >found
	diff found - <<'END'
name,begin,end
#1,0,9
#1,3,9
#1,9,121
#1,19,29
#1,21,29
#1,29,121
#2,39,44
END
}

@test "functions: an end without a begin ends no complete slice of its function, and is counted" {
	cat >in.json <<'END'
[{"ph":"X","pid":1,"tid":2,"ts":1,"dur":100,"name":"a"},
{"ph":"E","pid":1,"tid":2,"ts":50,"name":"a"},
{"ph":"E","pid":1,"tid":2,"ts":60,"name":"b"},
{"ph":"X","pid":1,"tid":2,"ts":200,"dur":5,"name":"b"}]
END
	trackway convert in.json --to xray-fdr -o out.xray 2>err
	diff err - <<<"trackway: out.xray: end without a begin, in a slice of its function: 1 left out"
	trackway sql --csv out.xray 'select name, ts / 1000 as begin, (ts + dur) / 1000 as end from slice order by ts' >found
	diff found - <<'END'
name,begin,end
#1,0,100
#2,199,204
END
}
