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
	! trackway dump late.log >out 2>err
	[ "$(grep -c . err)" = 1 ]
	grep -q 'line 1: error: .*tracelog.no-record' err
	[ "$(grep -vc ' unknown ' out)" = "$(($(wc -l <late.log) - 1))" ]
}

@test "dump: a damaged .gz ends the log early" {
	gzip -c "$DATA/tracelog/small-d2-64.log" >log.gz
	head -c 20000 log.gz >cut.gz
	! trackway dump cut.gz >out 2>err
	grep -q 'tracelog.compression' err
	[ "$(wc -l <out)" -gt 100 ]
}

@test "dump: CRLF, tabs and a byte order mark change nothing" {
	printf '\xEF\xBB\xBF' >odd.log
	sed -e 's/$/\r/' -e 's/^\(...\) /\1\t/' "$DATA/tracelog/kinds.log" >>odd.log
	trackway dump --json odd.log | sed 's/"offset":[0-9]*,//' >odd.txt
	trackway dump --json "$DATA/tracelog/kinds.log" | sed 's/"offset":[0-9]*,//' | diff - odd.txt
}
