#!/usr/bin/env bats
# follow.bats - log --follow and stat --follow: what has come is shown as it comes.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

# Waits until a command succeeds.
await() {
	for ((i = 0; i < 400; i++)); do
		"$@" && return
		sleep 0.05
	done
	fail "never: $*"
}

# Whether two files are the same.
same() {
	cmp -s "$1" "$2"
}

@test "log --follow: of a pipe each record is shown before the next has come" {
	whole=$DATA/fxt/oneshot_all.fxt
	trackway log "$whole" >all
	[ "$(wc -l <all)" = 2 ]
	second=$(trackway log --json "$whole" | sed -n '2s/.*"offset":\([0-9]*\).*/\1/p')
	head -1 all >first
	mkfifo pipe
	trackway log --follow pipe >out 2>err &
	exec 7>pipe
	head -c 100 "$whole" >&7
	tail -c +101 "$whole" | head -c $((second - 100)) >&7
	await same out first
	tail -c +$((second + 1)) "$whole" >&7
	exec 7>&-
	wait $!
	cmp out all
	[ ! -s err ] || fail "$(cat err)"
	# Standard input is the same.
	(head -c "$second" "$whole"; sleep 0.3; tail -c +$((second + 1)) "$whole") | trackway log --follow - | cmp - all
}

@test "log --follow: of a file that grows, until its user ends it or nobody reads" {
	whole=$DATA/fxt/oneshot_all.fxt
	trackway log "$whole" >all
	second=$(trackway log --json "$whole" | sed -n '2s/.*"offset":\([0-9]*\).*/\1/p')
	head -1 all >first
	head -c "$second" "$whole" >growing.fxt
	trackway log --follow growing.fxt >out 2>err &
	await same out first
	tail -c +$((second + 1)) "$whole" >>growing.fxt
	await same out all
	kill -TERM $!
	wait $! || true
	[ ! -s err ] || fail "$(cat err)"
	timeout 20 bash -c 'trackway log --follow growing.fxt | head -1' | cmp - first
}

@test "stat --follow: a table for what has come, in every format; findings are told at the end" {
	mkfifo pipe
	trackway stat --json --follow pipe >out 2>err &
	exec 7>pipe
	printf '[{"ph":"X","name":"a","ts":1,"dur":5,"pid":1,"tid":1},\n{"ph":"X","name":"b","ts":1' >&7
	await grep -q '"name":"a","id":0,"count":1,.*"total_ns":5000,' out
	if grep -q '"name":"b"' out; then fail "$(cat out)"; fi
	printf '0,"dur":2,"pid":1,"tid":1},{"ph":"X","name":"c","ts":"x"}' >&7
	await grep -q '"name":"b","id":0,"count":1,.*"total_ns":2000,' out
	[ ! -s err ] || fail "$(cat err)"
	exec 7>&-
	wait $! || true
	[ "$(grep -c chrome.time-wrong err)" = 1 ] || fail "err: $(cat err)"
	printf 'a;b 3\n' >growing.folded
	trackway stat --follow --from folded growing.folded >out 2>err &
	await grep -q '^ *3 .* 3 .* b$' out
	printf 'a;b 4\n' >>growing.folded
	await grep -q '^ *7 .* 7 .* b$' out
	[ "$(grep -c SELF out)" = 2 ] || fail "$(cat out)"
	kill -TERM $!
	wait $! || true
}

@test "--follow: what cannot be followed" {
	mkdir directory
	run trackway stat --follow directory
	[ "$status" = 2 ]
	[[ "$output" == *"directory: a directory cannot be followed" ]] || fail "$output"
	run trackway log --follow missing
	[ "$status" = 2 ]
	[[ "$output" == *"missing: No such file or directory" ]] || fail "$output"
	run trackway stat --follow a b
	[ "$status" = 2 ]
	[[ "$output" == *"--follow reads one FILE"* ]] || fail "$output"
	run trackway log --follow --csv a
	[ "$status" = 2 ]
	[[ "$output" == *"a table waits for all of them"* ]] || fail "$output"
}
