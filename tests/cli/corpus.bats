# corpus.bats - the small logs of tests/data/xray: every version, byte order and bit order, and the basic mode.
# SPDX-License-Identifier: Apache-2.0
#
# They come from LLVM's own FDRTraceWriter and from scripts; what they hold is decoded here by tests/truth/fdr.py.

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}
TRUTH=$TRACKWAY_SOURCE/tests/truth

# Runs a function on each log that matches; tells all that fail.
each() { # function patterns...
	local function=$1 pattern log failed=0 seen=0
	shift
	for pattern in "$@"; do
		for log in "$DATA"/xray/$pattern; do
			seen=1
			"$function" "$log" >output 2>&1 && continue
			echo "${log##*/}:"
			cat output
			failed=1
		done
	done
	[ $seen = 1 ] && [ $failed = 0 ]
}

dumps() { # log
	local status=0
	trackway dump --json "$1" >dump.json || status=$?
	[ $status -le 1 ] && "$PYTHON" "$TRUTH/records.py" dump.json "$1"
}

# The same version again gives every byte back that means something.
comes_back() { # log
	trackway convert --to "${2:-xray-fdr}" "$1" -o out.xray &&
		"$PYTHON" "$TRUTH/fdr.py" --zeroed "$1" >expected.xray &&
		cmp expected.xray out.xray
}

# What stat counts is what the independent decoder counts.
counts() { # log
	trackway stat --json "$1" >stat.json &&
		"$PYTHON" "$TRUTH/truth.py" "$1" >truth.json &&
		"$PYTHON" "$TRUTH/compare.py" stat.json truth.json
}

# The same on a log of random calls, read by one processor and by two.
counts_random() { # seed
	"$PYTHON" "$TRUTH/fdr_random.py" "$1" random.xray && counts random.xray &&
		trackway stat --jobs 1 --json random.xray | cmp - stat.json &&
		trackway stat --jobs 2 --json random.xray | cmp - stat.json
}

# What an independent decoder finds in the archive is what another finds in the log.
becomes_fxt() { # log
	trackway convert "$1" -o out.fxt && "$PYTHON" "$TRUTH/fxt_of_xray.py" "$1" out.fxt &&
		trackway convert --byte-order big "$1" -o big.fxt && "$PYTHON" "$TRUTH/fxt_of_xray.py" "$1" big.fxt &&
		[ "$(stat -c %s out.fxt)" = "$(stat -c %s big.fxt)" ]
}

@test "dump: little endian, versions 1 to 5" { each dumps 'v[1-5]*.xray' 'le-*.xray'; }
@test "dump: big endian, bit fields from the most significant bit" { each dumps 'be-msb-*.xray'; }
@test "dump: big endian, bit fields from the least significant bit" { each dumps 'be-lsb-*.xray'; }
@test "dump: basic logs of both byte orders" { each dumps 'basic-*.xray'; }

@test "convert to the same version: little endian" { each comes_back 'v[1-5]*.xray' 'le-*.xray'; }
@test "convert to the same version: big endian" { each comes_back 'be-*.xray'; }

@test "convert to FXT: every FDR log" { each becomes_fxt 'v[1-5]*.xray' 'le-*.xray' 'be-*.xray'; }

@test "stat: every FDR log" { each counts 'v[1-5]*.xray' 'le-*.xray' 'be-*.xray'; }
@test "stat: basic logs" { each counts 'basic-v[123].xray' 'basic-be-*.xray'; }

@test "stat: random calls of several threads in many buffers" {
	local seed
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		counts_random $seed || fail "seed $seed"
	done
}

@test "repair of a good log changes nothing that means something" {
	repaired() {
		trackway repair "$1" -o out.xray && "$PYTHON" "$TRUTH/fdr.py" --zeroed "$1" >expected.xray &&
			cmp expected.xray out.xray
	}
	each repaired 'v[1-5].xray' 'v[1-5]-functions-only.xray' 'le-*.xray' 'be-*.xray'
}

@test "convert: records keep the source's byte order and buffer size, events get the usual ones" {
	of_log() { trackway info --json "$1" | grep -Eo '"(version|byte_order|buffer_size)":[^,]*'; }
	of_log "$DATA/xray/be-msb-v3.xray" >source
	trackway convert "$DATA/xray/be-msb-v3.xray" -o same.xray
	of_log same.xray | cmp - source
	trackway convert --from-time 1ns "$DATA/xray/be-msb-v3.xray" -o events.xray
	printf '%s\n' '"version":5' '"byte_order":"little"' '"buffer_size":16384' >expected
	of_log events.xray | diff expected -
	if cmp -s expected source; then fail "the source shows nothing"; fi
}

@test "convert basic 2 to 3: what means nothing in an argument record does not become a process" {
	cp "$DATA/xray/basic-v2.xray" old.xray
	printf 'junk' | dd of=old.xray bs=1 seek=$((0x6c)) conv=notrunc status=none
	trackway convert old.xray --to xray-basic --format-version 3 -o new.xray
	"$PYTHON" "$TRUTH/fdr.py" new.xray >records
	[ "$(grep -c call-argument records)" -gt 0 ]
	[ "$(grep -o '"process": [0-9]*' records | sort -u)" = '"process": 0' ]
}

@test "repair: a log of version 1 that ends with its last record keeps its bytes" {
	head -c 2340 "$DATA/xray/v1-padded-zero.xray" >in.xray # without the fill behind the last buffer
	trackway repair in.xray -o out.xray
	cmp in.xray out.xray
}

@test "repair: a log of version 1 in which most buffers are full keeps the fill of the others" {
	"$PYTHON" - "$DATA/xray/v1-padded-zero.xray" >in.xray <<-'END'
		import struct, sys
		log = open(sys.argv[1], "rb").read()
		function = struct.pack("<II", 1 << 4, 10) + struct.pack("<II", 1 << 4 | 2, 10)  # entry and exit of function 1
		def buffer(thread, functions):
		    new = log[32:33] + struct.pack("<I", thread) + log[37:80]  # NewBuffer, WallTime, NewCPUId
		    return (new + functions * function + b"\3" + bytes(15)).ljust(1024, b"\0")
		sys.stdout.buffer.write(log[:32] + b"".join(buffer(7000 + i, 59 if i == 5 else 60) for i in range(7)))
	END
	trackway repair in.xray -o out.xray
	cmp in.xray out.xray
}

@test "repair of version 1: buffers that begin inside another count where it is to have fill" {
	"$PYTHON" - "$DATA/xray/v1-padded-zero.xray" >in.xray <<-'END'
		import struct, sys
		log, size = open(sys.argv[1], "rb").read(), 20000
		entry = struct.pack("<II", 1 << 4, 10)  # entry of function 1
		first = log[32:80] + entry  # NewBuffer, WallTime, NewCPUId
		inner = b"".join(log[32:33] + struct.pack("<I", 1000 + i) + log[37:80] + entry for i in range(1, 350))
		outer = (first + inner).ljust(size, b"\0")
		sys.stdout.buffer.write(log[:16] + struct.pack("<Q", size) + log[24:32] + outer + first + b"\3" + bytes(15))
	END
	trackway repair in.xray -o out.xray || [ $? -eq 1 ]
	[ "$(stat -c %s out.xray)" -lt $((3 * $(stat -c %s in.xray))) ] # not the header's size for each
	[ "$(trackway dump out.xray --json | grep -c '"new-buffer"')" -eq 350 ] # the last is the first again
}

@test "convert of version 2 to 1: full buffers are none with fill" {
	"$PYTHON" - "$DATA/xray/v1-padded-zero.xray" >new.xray <<-'END'
		import struct, sys
		log = open(sys.argv[1], "rb").read()
		function = struct.pack("<II", 1 << 4, 10) + struct.pack("<II", 1 << 4 | 2, 10)  # entry and exit of function 1
		def buffer(thread, functions):
		    data = log[32:33] + struct.pack("<I", thread) + log[37:80] + functions * function
		    return b"\17" + struct.pack("<Q", len(data)) + bytes(7) + data  # BufferExtents
		sys.stdout.buffer.write(b"\2\0" + log[2:32] + b"".join(buffer(7000 + i, 60 if i < 4 else 9) for i in range(6)))
	END
	trackway convert new.xray --to xray-fdr --format-version 1 -o old.xray
	[ "$(stat -c %s old.xray)" -eq "$(stat -c %s new.xray)" ] # EndOfBuffer for BufferExtents
}

@test "repair of version 1: a damaged buffer among others with fill has fill, too" {
	cp "$DATA/xray/v1-padded-zero.xray" bad.xray
	printf '\377' | dd of=bad.xray bs=1 seek=$((0x4bc)) conv=notrunc status=none # a record of the second of three
	status=0; trackway repair bad.xray -o good.xray || status=$?
	[ "$status" -eq 1 ]
	[ "$(stat -c %s good.xray)" -eq $((32 + 3 * 1024)) ]
	"$PYTHON" "$TRUTH/fdr.py" good.xray >records # by the document: each buffer has the header's size
	[ "$(grep new-buffer records | grep -Eo '"offset": [0-9]+' | tr -dc '0-9\n' | tr '\n' ' ')" = '32 1056 2080 ' ]
	[ "$(grep -c end-of-buffer records)" -eq 3 ]
}

# A stretch of calls copied within the fourth of seven buffers: by the document the fifth is looked for inside it.
@test "repair of version 1: with a buffer that became longer, all have its size, or none has fill" {
	for calls in 70 4000; do
		"$PYTHON" - "$DATA/xray/v1-padded-zero.xray" $calls >in.xray <<-'END'
			import struct, sys
			log = open(sys.argv[1], "rb").read()
			function = struct.pack("<II", 1 << 4, 10) + struct.pack("<II", 1 << 4 | 2, 10)  # entry and exit of function 1
			def buffer(thread, functions):
			    new = log[32:33] + struct.pack("<I", thread) + log[37:80]  # NewBuffer, WallTime, NewCPUId
			    return (new + functions * function + b"\3" + bytes(15)).ljust(1024, b"\0")
			calls = [60, 60, 60, int(sys.argv[2]), 60, 50, 60]
			sys.stdout.buffer.write(log[:32] + b"".join(buffer(7000 + i, n) for i, n in enumerate(calls)))
		END
		trackway repair in.xray -o out.xray
		"$PYTHON" "$TRUTH/fdr.py" out.xray >records
		[ "$(grep -c function.enter records)" -eq $((5 * 60 + 50 + calls)) ]
		size=$((48 + 16 * calls + 16))
		# All of the longest one's size is twice as much as the log, and so there is no fill.
		[ "$calls" = 70 ] || size=1024
		[ "$(trackway info --json out.xray | grep -o '"buffer_size":[0-9]*')" = "\"buffer_size\":$size" ]
		trackway repair out.xray -o again.xray
		cmp out.xray again.xray
		if [ "$calls" = 70 ]; then
			[ "$(stat -c %s out.xray)" -eq $((32 + 7 * size)) ]
		else
			[ "$(stat -c %s out.xray)" -eq $((32 + 7 * 64 + 16 * (5 * 60 + 50 + calls))) ]
		fi
	done
}
