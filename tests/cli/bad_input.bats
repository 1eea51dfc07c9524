#!/usr/bin/env bats
# bad_input.bats - what a newcomer gives the tool by mistake, and what crashes leave: one clear line, the right status.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

commands="info dump check stat stacks graph"

# Runs a command on a file: exit status 2, nothing on standard output, one line on standard error that holds the words.
refused() { # file words...
	local file=$1 command word
	shift
	for command in $commands; do
		run --separate-stderr trackway "$command" "$file"
		[ "$status" = 2 ] || fail "$command $file: exit status $status"
		[ -z "$output" ] || fail "$command $file: $output"
		[ "${#stderr_lines[@]}" = 1 ] || fail "$command $file: $stderr"
		for word; do
			[[ "$stderr" == *"$word"* ]] || fail "$command $file: no \"$word\" in: $stderr"
		done
	done
	run --separate-stderr trackway repair "$file" -o out.xray
	[ "$status" = 2 ] && [ ! -e out.xray ] || fail "repair $file: exit status $status"
	run --separate-stderr trackway convert "$file" -o out.json
	[ "$status" = 2 ] && [ ! -e out.json ] || fail "convert $file: exit status $status"
}

bats_require_minimum_version 1.5.0

@test "an empty file" {
	: >empty
	refused empty "empty: the file is empty"
}

@test "one byte" {
	printf x >one
	refused one "one: offset 0x0" expected found
}

@test "random bytes" {
	head -c 65536 /dev/zero | openssl enc -aes-128-ctr -pass pass:trackway -nosalt 2>/dev/null >random
	[ -s random ] || "$PYTHON" -c "import random; random.seed(1); open('random','wb').write(random.randbytes(65536))"
	refused random "random: offset 0x0" expected "found the bytes"
}

@test "a directory" {
	mkdir d
	refused d "d: is a directory"
}

@test "a file that is not there" {
	refused nowhere "nowhere: No such file or directory"
}

@test "a file without permission" {
	[ "$(id -u)" != 0 ] || skip "root may read everything"
	cp "$DATA/xray/v5.xray" locked
	chmod 0 locked
	refused locked "locked: Permission denied"
}

@test "a text file" {
	echo "just some words" >text
	refused text "text: offset 0x0" expected "found text"
}

@test "a text log as UTF-16, as some shells write what they redirect" {
	for order in LE BE; do
		{ [ $order = LE ] && printf '\xff\xfe' || printf '\xfe\xff'; } >wide.log
		iconv -f UTF-8 -t UTF-16$order "$DATA/tracelog/kinds.log" >>wide.log
		refused wide.log "wide.log: offset 0x0" expected "found UTF-16 text"
	done
}

@test "a text log of which only a byte order mark is there, or empty lines" {
	printf '\xef\xbb\xbf' >mark.log
	refused mark.log "mark.log: offset 0x0" expected found
	printf '\n\n\r\n' >lines.log
	refused lines.log "lines.log: offset 0x0" expected "found white space"
}

@test "a program, as a core dump would be" {
	cp "$(command -v sh)" program
	refused program "program: offset 0x0" expected "an ELF file (a program, library or core dump)"
}

@test "a compressed file that is cut at its beginning" {
	gzip -c "$DATA/xray/v5.xray" | head -c 12 >cut.gz
	refused cut.gz "cut.gz"
}

@test "a log cut at every byte of its first kilobyte" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/cuts.py" "$DATA"/xray/{v5,v1-padded-zero,be-msb-v5,basic-v3}.xray
}

# What comes out of a command on a compressed log that was cut: the lines that are whole, one error, exit status 1.
@test "a compressed text log that is cut" {
	for _ in 1 2 3 4 5 6 7 8; do cat "$DATA/tracelog/small-d2-64.log"; done >log
	gzip -c log >log.gz
	zstd -q -1 --no-progress log -o log.zst
	for file in log.gz log.zst; do
		head -c $(($(stat -c %s "$file") / 2)) "$file" >"cut.${file##*.}"
		run --separate-stderr trackway dump "cut.${file##*.}"
		[ "$status" = 1 ] || fail "$file: exit status $status"
		[ "${#stderr_lines[@]}" = 1 ] || fail "$file: $stderr"
		[[ "$stderr" == *"[tracelog.compression]"* ]] || fail "$file: $stderr"
		[ "${#lines[@]}" -gt 1000 ] || fail "$file: ${#lines[@]} lines"
		trackway dump --from tracelog log | head -n $((${#lines[@]} - 1)) >expected
		printf '%s\n' "${lines[@]}" | head -n -1 | cmp expected -
	done
}

@test "a text log whose lines end in CR LF, with a byte order mark: every sample" {
	{ printf '\xef\xbb\xbf'; sed 's/$/\r/' "$DATA/tracelog/small-d2-64.log"; } >dos.log
	for weight in samples wall cpu bytes; do
		trackway stat --json --weight $weight "$DATA/tracelog/small-d2-64.log" >expected
		trackway stat --json --weight $weight dos.log | cmp expected -
	done
}

# Writes v5.xray with the size in its first BufferExtents record replaced.
with_size() { # eight bytes in hex
	"$PYTHON" - "$DATA/xray/v5.xray" "$1" <<'END' >size.xray
import sys
log = bytearray(open(sys.argv[1], "rb").read())
log[0x21:0x29] = bytes.fromhex(sys.argv[2])
sys.stdout.buffer.write(log)
END
}

@test "a size field of 0 and of 2^64-1: told, and every call is still there" {
	trackway stat --json "$DATA/xray/v5.xray" >expected
	for size in 0000000000000000 ffffffffffffffff; do
		with_size $size
		run --separate-stderr trackway stat --json size.xray
		[ "$status" = 1 ] || fail "exit status $status"
		[ "$output" = "$(cat expected)" ] || fail "$size: $output"
		[[ "$stderr" == *"size.xray: offset 0x20: error: "*"[fdr.extents-wrong]"* ]] || fail "$stderr"
	done
}

@test "a buffer size of 2^63 in the header is shown" {
	cp "$DATA/xray/v5.xray" log
	printf '\0\0\0\0\0\0\0\200' | dd of=log bs=1 seek=16 conv=notrunc status=none
	run --separate-stderr trackway info log
	[ "$status" = 0 ] && [[ "$output" == *"8.0 EiB (9,223,372,036,854,775,808 bytes)"* ]] || fail "$status $output $stderr"
}

@test "the size of an event of 0 and of 2^31-1" {
	for size in 00000000 ffffff7f ffffffff; do
		"$PYTHON" - "$DATA/xray/v5.xray" $size <<'END' >event.xray
import sys
log = bytearray(open(sys.argv[1], "rb").read())
log[0xb9:0xbd] = bytes.fromhex(sys.argv[2])
sys.stdout.buffer.write(log)
END
		run --separate-stderr trackway check event.xray
		[ "$status" = 1 ] || fail "exit status $status"
		[[ "$output" == *"event.xray:0xb8: error: "* ]] || fail "$output"
	done
}

@test "one bad file of several: the others are shown, the status is 2" {
	echo text >text
	run --separate-stderr trackway info --json text "$DATA/xray/v5.xray"
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	[[ "$stderr" == *"text: offset 0x0"* ]]
}

@test "a full disk is told, and leaves no half file" {
	[ -e /dev/full ] || skip "no /dev/full"
	run --separate-stderr trackway convert "$DATA/xray/v5.xray" --to chrome -o /dev/full
	[ "$status" = 2 ]
	[[ "$stderr" == *"No space left on device"* ]] || fail "$stderr"
	run --separate-stderr bash -c 'trackway stat "$1" >/dev/full' - "$DATA/xray/v5.xray"
	[ "$status" = 2 ]
}

@test "a file that may not get as large as it would is told, and left out" {
	log="$DATA/xray/v5.xray"
	for command in "convert $log --to chrome -o out" "dump $log -o out" "convert $log --to ctf -o out"; do
		run --separate-stderr bash -c "ulimit -f 1 && trackway $command"
		[ "$status" = 2 ] && [ ! -e out ] || fail "$command: exit status $status, $(ls)"
		[[ "$stderr" == "trackway: error: "*"File too large" ]] || fail "$command: $stderr"
	done
	run --separate-stderr bash -c "ulimit -f 1 && trackway sql $log -o out.db"
	[ "$status" = 2 ] && [ ! -e out.db ] || fail "exit status $status"
}

# Nobody writes to the pipe: to wait for it would be forever.
@test "a pipe in a directory, where a file of the trace should be" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --threads 2 set >facts
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/uftrace.py" write data
	for file in set/*.101.*.xinsndata.bin set/*.100.*.xsnapshot.bin data/task.txt data/*.dat data/*.map; do
		mv "$file" kept
		mkfifo "$file"
		for command in info check stat; do
			run --separate-stderr timeout 20 trackway $command "${file%/*}"
			case $file in
			set/*) # it is the trace
				[ "$status" = 2 ] || fail "$command with $file: exit status $status"
				[ "$stderr" = "trackway: error: $file: is no regular file" ] || fail "$command with $file: $stderr"
				;;
			*) # it costs its names, or its thread
				[ "$status" = 1 ] || fail "$command with $file: exit status $status"
				[[ "$stderr$output" == *"$file: is no regular file"*"[uftrace.unreadable]"* ]] || fail "$command with $file: $stderr"
				;;
			esac
		done
		mv -f kept "$file"
	done
	trackway check data
	mkfifo set/xtrace.1718000000.maps
	for command in stat "repair -o out" syscalls; do
		timeout 20 trackway $command set >out.text 2>err || fail "$command: $?: $(cat err)"
	done
	[ ! -e out/xtrace.1718000000.maps ]
	file=$(ls set/*.100.*.xinsndata.bin)
	rm "$file" && mkfifo "$file"
	timeout 20 trackway replay "$file" 2>err || [ $? = 2 ]
	grep -qE "is no regular file|unicorn" err || fail "$(cat err)"
}

@test "a reader that goes away is no error message" {
	run --separate-stderr bash -c 'set -o pipefail; trackway dump "$1" | head -n 1 >/dev/null; true' - "$DATA/xray/v5.xray"
	[[ "$stderr" != *error* ]] || fail "$stderr"
}

@test "a byte of compressed data that is wrong is told by all that read the data, whatever of it they look at" {
	local file command
	gzip -c "$DATA/fxt/oneshot_all.fxt" >fxt.gz
	gzip -c "$DATA/xray/v5.xray" >xray.gz
	gzip -c "$DATA/tracelog/d1.log" >tracelog.gz
	gzip -c "$DATA/chrome/phases.json" >chrome.gz
	for file in fxt xray tracelog chrome; do
		printf '\0\0\0\0' | dd of="$file.gz" bs=1 seek=$(($(stat -c %s "$file.gz") - 8)) conv=notrunc status=none
		for command in $commands "info --to-time 1s"; do
			run --separate-stderr trackway $command "$file.gz"
			[ "$status" = 1 ] || fail "$command $file.gz: exit status $status"
			[[ "$output$stderr" == *"$file.compression]"* ]] || fail "$command $file.gz: $stderr"
		done
	done
}

@test "a path of a thousand bytes does not hide what is wrong" {
	local part path
	printf -v part '%0100d' 0
	path=$part/$part/$part/$part/$part/$part/$part/$part/$part/$part
	mkdir -p "$path"
	echo "no trace" >"$path/text"
	refused "$path/none" "No such file"
	refused "$path/text" "found text"
	run --separate-stderr trackway convert "$DATA/fxt/oneshot_all.fxt" -o "$path/none/x.json"
	[ "$status" = 2 ] && [[ "$stderr" == *"No such file"* ]] || fail "$status: $stderr"
}

# Records one after the other of other traces, cut and put together: what is a record there depends on what follows it,
# and in what is left of them others follow.
@test "repair: the result has no errors, also where damage hid more of it" {
	base64 -d <<-'END' | gzip -d >one.fxt
		H4sIAAAAAAACAxNgYHGrCBFjWM8AAauqdlcf5GFgEGT4/+7umd2rJBlclRmB4kpQ+eD83FSFlMSSRIWSfIXyosySVIXMPCCzJCNVIak0LS21CK
		KuH0QwQsxjIEO/McMqMP3+7OrOdKATBIxCymbsOvuviuHAnT27HBiB4hMqwkyEcvNTSnNS4/MSc1Mh+uw6PxwsZeB5N7tOQf7t2fwohoN39kSB
		zQGrByoxYRBgZGIQgDpIAUobQKgqBiYDqL1g9e/3rb0H4vN++HcK6iUwYILSzFBahYGBW5ohloGBA8L/AhTha+BqgPEjoRqXQTWmlqXmlcQnJ5
		akpucXVcL4cG8wmDGwNLA0gJkOj6B6BSAWwpwgwMAFpiH+QYgLAsXf/v//H11cCCguDqRd0MSVoeZsBOr5D6RT0OTdGFgbeEAMFggfXb8qVP8C
		Kf27KvX9Duj2igHluYFsALnI2AZrAgAA
	END
	base64 -d <<-'END' | gzip -d >two.xray
		H4sIAAAAAAACA2NgYmA8wAABmy7EQVksDDDQDqULoHQDEKcyYIIEKJ0ExLxALATEGkDMPwEkqluQWJmTn5jy4f///9zI2hhhZp1CCEFpJiBOMW
		BgYAbSXG2CSsYuoWnlHVBJAYi4iABEHasARB8bNuemIdnXAqW5gNgIZAAQK4EMgDqZjR/NAEY0AzgRBjDtAWsEuYPBetbpL6BQAQDjMpiNTwEA
		AA==
	END
	for file in one.fxt two.xray; do
		for ending in '' .gz; do
			run trackway repair --json $file -o result$ending
			[ "$status" -eq 1 ] || fail "$output"
			trackway check result$ending || fail "$(trackway check result$ending)"
			trackway repair result$ending -o again$ending 2>/dev/null
			cmp result$ending again$ending
		done
		[[ "$output" == *'"bytes_out":'"$(wc -c <result)"* ]] || fail "$output"
	done
}
