# absent.bats - a library or a file that is not there where the tool runs: one line, which names Debian's package.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

PYTHON=${PYTHON:-/usr/bin/python3}

# The next runs find an empty file in the place of a library, which cannot be loaded.
hide() { # library...
	mkdir -p hidden
	(cd hidden && touch "$@")
	export LD_LIBRARY_PATH=$PWD/hidden
}

# A command fails with one line, which begins so.
says() { # line command...
	local line="trackway: error: $1" status=0
	shift
	"$@" >out 2>err </dev/null || status=$?
	[ "$status" = 2 ] || fail "status $status"
	[ ! -s out ] || fail "$(cat out)"
	[ "$(wc -l <err)" = 1 ] && [ "$(head -c ${#line} err)" = "$line" ] || fail "$(cat err)"
}

# A command does its work without a library, and says in one line what is left out.
works() { # command...
	"$@" >out 2>err || fail "$(cat err)"
	[ -s out ] || fail "no output"
	[ "$(cat err)" = "trackway: instructions have no text without libcapstone.so.4, Debian's package libcapstone4" ] ||
		fail "$(cat err)"
}

@test "without capstone: instructions have no text, and whoever asked for one is told" {
	hide libcapstone.so.4
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --threads 1 --turns 20 set >facts.json
	works trackway insns set
	works trackway dump set
	grep -q ' a9bf7bfd  .inst 0xa9bf7bfd ' out || fail "$(head out)"
	works trackway blocks set
	works trackway convert --to tarmac -o - set
	works trackway sql set "select disassembly from xtrace_insn limit 2"
	trackway stat set >out 2>err # asks for none
	[ ! -s err ] || fail "$(cat err)"
}

@test "without SQLite: sql says what is needed; view has all but questions" {
	hide libsqlite3.so.0
	says "SQLite is needed, Debian's package libsqlite3-0: " trackway sql "$DATA/xray/v5.xray" "select 1"
	trackway view --export page.html "$DATA/xray/v5.xray"
	grep -q "^<!DOCTYPE html>" page.html
}

@test "without libmicrohttpd: view says what is needed, and writes a page" {
	hide libmicrohttpd.so.12
	says "no server on 127.0.0.1: libmicrohttpd is needed, Debian's package libmicrohttpd12: " \
		trackway view --no-open "$DATA/xray/v5.xray"
	trackway view --export page.html "$DATA/xray/v5.xray"
}

@test "without libcurl and unicorn: load and replay say what is needed" {
	hide libcurl.so.4 libunicorn.so.2
	says "database x: libcurl is needed, Debian's package libcurl4: " \
		trackway load --to clickhouse://localhost/x "$DATA/xray/v5.xray"
	mkdir set
	says "the emulator unicorn is needed, Debian's package libunicorn2: " trackway replay --verify 1 set
}

@test "without libedit: a person at the prompt is told what is needed" {
	hide libedit.so.2 libedit.so.0
	"$PYTHON" - "$DATA/xray/v5.xray" >out <<-'END'
		import os, pty, sys
		child, terminal = pty.fork()
		if child == 0:
		    os.execvp("trackway", ["trackway", "sql", sys.argv[1]])
		said = b""
		try:
		    while more := os.read(terminal, 4096):
		        said += more
		except OSError:  # it has ended
		    pass
		print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode(), end="")
	END
	grep -q "^2 trackway: error: the line editor libedit is needed, Debian's package libedit2: " out || fail "$(cat out)"
	[ "$(wc -l <out)" = 1 ]
	[ "$(echo 'select 1 as one;' | trackway sql "$DATA/xray/v5.xray" | tail -1 | tr -d ' ')" = 1 ] # no person
}

# A copy of the tool, with none of the files beside it that it comes with.
@test "without what record loads: it says which package has it" {
	cp "$TRACKWAY" alone
	says "libtrackway_fdr.so: not found; Debian's package libtrackway-fdr0 has it, or --library names it" \
		./alone record --to xray-fdr -o o.xray -- true
	says "libtrackway_coreprofiler.so: not found; Debian's package trackway-dotnet has it, or --library names it" \
		./alone record --to tracelog -o o.log -- true
	says "/nowhere.so: not found" ./alone record --to tracelog --library /nowhere.so -o o.log -- true
	command -v qemu-aarch64 >qemu || skip "no QEMU"
	says "trackway_qemu.so: not found; Debian's package trackway-qemu has it, or --plugin names it" \
		./alone record --to xtrace -o set -- true
}
