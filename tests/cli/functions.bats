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
