# output.bats - where output goes: complete or not at all, through links, over old files, not over the input.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

export PYTHON=${PYTHON:-/usr/bin/python3}

# A log that takes long enough to be interrupted: the third buffer of v5.xray many times, each 10^10 ticks later.
long_log() { # file
	"$PYTHON" - "$DATA/xray/v5.xray" "$1" <<-'END'
		import struct, sys
		log = open(sys.argv[1], "rb").read()
		buffer, ticks = bytearray(log[0x274:]), (0x43, 0xe3, 0x105)
		with open(sys.argv[2], "wb") as file:
		    file.write(log)
		    for i in range(40000):
		        for at in ticks:
		            struct.pack_into("<Q", buffer, at, struct.unpack_from("<Q", buffer, at)[0] + 10 ** 10)
		        file.write(buffer)
	END
}

# Starts a command in the empty directory `place`, sends it a signal as soon as it has a file there open for writing, and
# tells how it ended and what it left. The command has the lowest priority, so that it is seen in time; where it has
# ended before the signal all the same, it is started again.
interrupted() { # signal command...
	"$PYTHON" - "$@" <<-'END'
		import os, shutil, signal, subprocess, sys, time
		number = getattr(signal, sys.argv[1])
		place = os.path.realpath("place")
		shutil.copytree(place, "before")
		def fresh():
		    os.nice(19)
		    for name in "SIGHUP", "SIGINT", "SIGPIPE", "SIGTERM":
		        signal.signal(getattr(signal, name), signal.SIG_DFL)
		def writes(child):
		    for fd in os.listdir(f"/proc/{child.pid}/fd"):
		        try:
		            if os.readlink(f"/proc/{child.pid}/fd/{fd}").startswith(place + "/"):
		                return True
		        except OSError:
		            pass
		def run():
		    child = subprocess.Popen(sys.argv[2:], preexec_fn=fresh, stderr=subprocess.DEVNULL)
		    while child.poll() is None and not writes(child):
		        time.sleep(0.0002)
		    child.send_signal(number)
		    return child.wait()
		for _ in range(10):
		    status = run()
		    if status != 0:
		        break
		    shutil.rmtree(place)
		    shutil.copytree("before", place)
		shutil.rmtree("before")
		print(signal.Signals(-status).name if status < 0 else status, *os.listdir(place))
	END
}

each_interrupted() {
	[ -d /proc/self/fd ] || skip "no /proc"
	long_log long.xray
	mkdir place
	for signal in SIGHUP SIGINT SIGTERM SIGPIPE; do
		for command in "convert --to chrome" "convert --to ctf" repair "dump --json"; do
			found=$(interrupted $signal trackway $command long.xray -o place/out)
			[ "$found" = "$signal" ] || fail "$command: $found"
		done
	done
	echo old >place/out
	[ "$(interrupted SIGTERM trackway dump long.xray -o place/out)" = "SIGTERM out" ]
	[ "$(cat place/out)" = old ]
	# A directory that was there stays, and what is in it.
	mkdir place/made
	[ "$(interrupted SIGINT trackway convert --to ctf long.xray -o place/made/ | tr ' ' '\n' | sort | tr '\n' ' ')" = "SIGINT made out " ]
	[ -z "$(ls place/made)" ]
	echo old >place/made/stream
	interrupted SIGINT trackway convert --to ctf long.xray -o place/made
	[ "$(ls place/made) $(cat place/made/stream)" = "stream old" ]
}

@test "an interrupted command leaves nothing" { each_interrupted; }

# SQLite writes to a file with a name, and a directory has one always.
@test "what a killed command leaves is no output, and the next one removes it" {
	[ -d /proc/self/fd ] || skip "no /proc"
	long_log long.xray
	mkdir place
	for command in sql "convert --to ctf"; do
		found=$(interrupted SIGKILL trackway $command long.xray -o place/out.db)
		[[ "$found" =~ ^SIGKILL\ out\.db\.trackway-[0-9a-f]{6}$ ]] || fail "$command: $found"
		trackway $command "$DATA/xray/v5.xray" -o place/out.db
		[ "$(ls place)" = out.db ] || fail "$command: $(ls place)"
		rm -r place/out.db
	done
}

# Threads take their stacks from the limit, too.
@test "small stacks are enough for every command" {
	for kilobytes in 64 128 256; do
		for command in info check "stat --jobs 3" "flame --folded --jobs 1" "convert --to chrome" "dump --json"; do
			trackway $command "$DATA/xray/v5.xray" >expected
			(ulimit -s $kilobytes && trackway $command "$DATA/xray/v5.xray") | cmp - expected
		done
		trackway sql "$DATA/fxt/streaming.fxt" 'select count(*), sum(dur) from slice' >expected
		(ulimit -s $kilobytes && trackway sql "$DATA/fxt/streaming.fxt" 'select count(*), sum(dur) from slice') | cmp - expected
	done
}

@test "an interrupted command leaves nothing where every file must have a name" {
	need_names
	mkdir place
	echo old >place/out
	chmod 640 place/out
	trackway info "$DATA/xray/v5.xray" -o place/out
	[ "$(stat -c %a place/out) $(ls place)" = "640 out" ]
	grep -q ^format: place/out
	rm -r place
	each_interrupted
}

@test "a file that is replaced keeps its permissions, a link stays a link" {
	umask 022
	trackway info "$DATA/xray/v5.xray" >expected
	trackway info "$DATA/xray/v5.xray" -o new
	[ "$(stat -c %a new)" = 644 ]
	echo old >old
	chmod 600 old
	trackway info "$DATA/xray/v5.xray" -o old
	[ "$(stat -c %a old)" = 600 ]
	mkdir there
	ln -s there/target link
	for i in dangling there; do
		trackway info "$DATA/xray/v5.xray" -o link
		[ -L link ] && [ ! -L there/target ] || fail "$i: $(ls -l . there)"
		cmp expected there/target
	done
}

# Runs a command that must be refused with one line and leave the log as it was.
spared() { # command...
	local status=0
	trackway "$@" >/dev/null 2>err || status=$?
	[ $status = 2 ] || fail "exit status $status: $*"
	[ "$(wc -l <err)" = 1 ] && grep -q "^trackway: error: .*: is the output too, and would be lost$" err || fail "$*: $(cat err)"
	cmp log "$DATA/xray/v5.xray"
}

@test "the input is not written over, by whatever name" {
	cp "$DATA/xray/v5.xray" log
	ln log hard
	ln -s log soft
	for name in log ./log hard soft; do
		for command in info dump check repair "convert --to chrome" "convert --to xray-fdr" stat stacks graph \
			"flame --folded"; do
			spared $command log -o $name
			spared $command -o log $name
		done
		spared info "$DATA/xray/v1.xray" $name -o log
		spared diff "$DATA/xray/v1.xray" $name -o log
		spared stat --binary $name "$DATA/xray/v1.xray" -o log
		spared diff --binary-a log --binary-b /bin/sh -o $name "$DATA/xray/v1.xray" "$DATA/xray/v5.xray"
	done
	spared stat - -o log <log
	cp log copy
	if trackway info log >>log 2>err; then fail "a listing was written at the end of its log"; fi
	cmp log copy
	trackway check --rules -o other
	trackway info log >other
	trackway help info >log
}

@test "files beside the output or in it are not written over the input" {
	mkdir out.ctf
	for name in out.xray.functions out.ctf/stream out.ctf/metadata; do
		cp "$DATA/fxt/streaming.fxt" $name
		ln -sf $name soft
		for input in $name soft; do
			local status=0
			trackway convert $input -o "${name%[./]*}" 2>err || status=$?
			[ $status = 2 ] || fail "exit status $status: $input"
			diff err - <<<"trackway: error: $input: is the output too, and would be lost"
		done
		cmp $name "$DATA/fxt/streaming.fxt"
		rm $name
	done
	cp "$DATA/fxt/streaming.fxt" out.functions
	trackway convert out.functions --to chrome -o out
	trackway convert out.functions -o out.xray
	[ -s out.xray.functions ]
}

@test "no file of a trace that has several is written over" {
	local trace=xtrace.1.7.hint9.xinsndata.bin
	mkdir set
	printf '\t\0\020\0\0\0\0\0\0\037\040\003\325' >set/$trace # PCINST 0x1000: nop
	cp set/$trace set/xtrace.1.8.hint9.xinsndata.bin
	ln -s set/$trace soft
	for command in info check "mem --svg" insns calls stat "convert --to jsonl" "flame --folded"; do
		for name in set/$trace ./set/../set/$trace soft; do
			for whole in set set/ set/xtrace.1.8.hint9.xinsndata.bin; do
				local status=0
				trackway $command $whole -o $name >/dev/null 2>err || status=$?
				[ $status = 2 ] && grep -q ": is the output too, and would be lost$" err || fail "$command $whole $name: $(cat err)"
				cmp set/$trace set/xtrace.1.8.hint9.xinsndata.bin
			done
		done
	done
	(cd set && ! trackway insns xtrace.1.8.hint9.xinsndata.bin -o $trace 2>../err)
	grep -q "would be lost" err
	touch set/report # it is no file of the trace
	trackway insns set -o set/report
	grep -q nop set/report
}

# Writes a file as it is and compressed, and compares what gzip, Python and zstd make of it.
both_ways() { # plain name, command...
	local name=$1
	shift
	trackway "$@" -o "$name" 2>plain.err
	trackway "$@" -o "$name.gz" 2>gz.err
	trackway "$@" -o "$name.zst" 2>zst.err
	gzip -t "$name.gz"
	gzip -cd "$name.gz" | cmp - "$name"
	"$PYTHON" -c 'import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())' "$name.gz" | cmp - "$name"
	zstd -tq "$name.zst"
	zstd -cdq "$name.zst" | cmp - "$name"
	[ "$(sed s/.gz:/:/ gz.err)" = "$(cat plain.err)" ] || fail "$*: $(cat gz.err)"
}

@test "output is compressed when its name says so" {
	log=$DATA/xray/v5.xray
	both_ways chrome.json convert "$log"
	both_ways log.xray convert "$log"
	both_ways events.xray convert -t 101 "$log"
	both_ways saved repair "$log"
	both_ways page.html flame "$log"
	both_ways picture.svg flame "$log"
	both_ways lines dump --json "$log"
	both_ways text info "$log"
	grep -q '<html' page.html
	for name in log.xray saved; do
		for ending in gz zst; do
			trackway stat "$name.$ending" | diff - <(trackway stat "$log")
		done
	done
	trackway convert --to chrome "$log" | cmp - chrome.json
}

@test "a large compressed file is whole, one that cannot be written is told" {
	long_log long.xray
	both_ways long.json convert long.xray
	[ "$(stat -c %s long.json)" -gt 10000000 ]
	# One member, and the same with one processor.
	"$PYTHON" - <<-'END'
		import zlib
		gzip = zlib.decompressobj(31)
		gzip.decompress(open("long.json.gz", "rb").read())
		assert gzip.eof and not gzip.unused_data
	END
	taskset -c 0 trackway convert long.xray -o one.json.gz
	cmp one.json.gz long.json.gz
	[ -e /dev/full ] || skip "no /dev/full"
	ln -s /dev/full full.json.gz
	ln -s /dev/full full.json.zst
	for name in full.json.gz full.json.zst; do
		local status=0
		trackway convert "$DATA/xray/v5.xray" -o $name 2>err || status=$?
		[ $status = 2 ] && grep -q "No space left on device" err || fail "$status $(cat err)"
	done
}

# Whoever opened a pipe may have told it not to wait, and that holds for all who write to it.
@test "output waits for who reads slowly" {
	long_log long.xray
	for command in dump "convert --to chrome -o -"; do
		trackway $command long.xray >whole
		"$PYTHON" - trackway $command long.xray >slow <<-'END'
			import os, subprocess, sys, time
			end, begin = os.pipe()
			os.set_blocking(begin, False)
			child = subprocess.Popen(sys.argv[1:], stdout=begin)
			os.close(begin)
			time.sleep(0.2)
			while piece := os.read(end, 1 << 16):
			    sys.stdout.buffer.write(piece)
			sys.exit(child.wait())
		END
		cmp whole slow
	done
}

@test "what cannot be written is named" {
	local command
	for command in "convert --to chrome" "merge --to fxt"; do
		run --separate-stderr trackway $command "$DATA/fxt/oneshot_all.fxt" -o /dev/full
		[ "$status" = 2 ]
		[[ "$stderr" == *"/dev/full: cannot write: No space left on device"* ]] || fail "$stderr"
	done
	# Without the log its table of functions is of no use.
	ln -s /dev/full full.xray
	trackway convert "$DATA/fxt/oneshot_all.fxt" -o full.xray 2>err || [ $? = 2 ]
	grep -q "full.xray: cannot write: No space left on device" err || fail "$(cat err)"
	[ ! -e full.xray.functions ]
	trackway convert --to chrome "$DATA/fxt/oneshot_all.fxt" >/dev/full 2>err || [ $? = 2 ]
	grep -q "standard output: cannot write: No space left on device" err || fail "$(cat err)"
	for command in 'convert --to fxt' repair 'cut --thread 1001'; do
		run --separate-stderr bash -c "trackway $command \"\$1\" -o - >/dev/full" - "$DATA/fxt/oneshot_all.fxt"
		[ "$status" = 2 ]
		[[ "$stderr" == *"standard output: cannot write: No space left on device"* ]] || fail "$command: $stderr"
	done
}

@test "a pager that cannot be run hides nothing, or it is told" {
	cat >terminal.py <<-'END'
		import fcntl, os, pty, signal, struct, sys, termios
		process, terminal = pty.fork()
		if process == 0:
		    signal.signal(signal.SIGPIPE, signal.SIG_DFL) # as shells have it
		    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0)) # all columns fit
		    os.execvp("trackway", ["trackway", *(sys.argv[2:] or ["info"]), sys.argv[1]])
		shown = b""
		try:
		    while piece := os.read(terminal, 65536):
		        shown += piece
		except OSError: # Linux tells so that nobody writes any more
		    pass
		sys.stdout.buffer.write(shown.replace(b"\r", b""))
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
	END
	mkdir folder
	printf '#!/bin/sh\nsed s/^/shown:/\n' >folder/own.sh
	: >folder/plain
	chmod +x folder/own.sh
	trackway info "$DATA/fxt/streaming.fxt" >expected
	sed s/^/shown:/ expected >paged
	export TERM=vt100 NO_COLOR=1
	for pager in no-such-pager /no/such/pager "$PWD/folder" folder folder/plain "folder/no --such" ''; do
		TRACKWAY_PAGER="$pager" "$PYTHON" terminal.py "$DATA/fxt/streaming.fxt" | diff expected - || fail "$pager"
	done
	for pager in folder/own.sh '  folder/own.sh' '"folder"/own.sh' "$PWD/folder/own.sh" '$PWD/folder/own.sh'; do
		TRACKWAY_PAGER="$pager" "$PYTHON" terminal.py "$DATA/fxt/streaming.fxt" | diff paged - || fail "$pager"
	done
	for pager in '$PWD/folder' '"folder"/plain' './"no"'; do
		run env TRACKWAY_PAGER="$pager" "$PYTHON" terminal.py "$DATA/fxt/streaming.fxt"
		[ "$status" -eq 2 ] && [[ "$output" == *"the pager could not be run"* ]] || fail "$pager: $output"
	done
	# Whoever leaves the pager has seen enough, however much is to come.
	seq -f 'main;f%g 1' 40000 >long.folded
	for pager in false true 'head -1'; do
		TRACKWAY_PAGER="$pager" "$PYTHON" terminal.py long.folded dump >shown || fail "$pager"
		[ "$(wc -l <shown)" -le 1 ] || fail "$pager"
	done
}
