# real.bats - logs that clang's runtime writes of programs with known calls, against truths that are not ours.
# SPDX-License-Identifier: Apache-2.0
#
# The programs (tests/programs) count their own calls; tests/truth computes times from llvm-xray's YAML.

LLVM_XRAY=${LLVM_XRAY:-$(command -v llvm-xray-14 || command -v llvm-xray || true)}
CLANGXX=${CLANGXX:-$(command -v clang++-14 || command -v clang++ || true)}
export LLVM_XRAY CLANGXX

# What the helpers set up comes after: they are loaded, and with them a setup() of their own, only here.
setup() {
	if [ -z "$LLVM_XRAY" ] || [ -z "$CLANGXX" ]; then
		[ -z "${CI:-}" ] || { echo 'clang and llvm-xray are missing'; return 1; }
		skip 'clang or llvm-xray is missing'
	fi
	load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"
	setup
}

# Programs of which every call is in the log, and all.
COMPLETE='recursion threads8 arguments exceptions pie nopie manybuffers tailcalls events'
ALL="$COMPLETE ring alive"

setup_file() {
	export REC=$BATS_FILE_TMPDIR TRUTH=$TRACKWAY_SOURCE/tests/truth PYTHON=${PYTHON:-/usr/bin/python3}
	[ -n "$LLVM_XRAY" ] && [ -n "$CLANGXX" ] || return 0
	"$TRACKWAY_SOURCE/tests/programs/record" "$REC"
	for program in $ALL; do
		once=
		[ "$program" = alive ] && once=--once
		"$LLVM_XRAY" convert -f yaml "$REC/$program.xray" -o "$REC/$program.yaml"
		"$PYTHON" "$TRUTH/truth.py" $once "$REC/$program.yaml" >"$REC/$program.truth.json"
	done
}

stat_of() { # program
	trackway stat --json --binary "$REC/$1" "$REC/$1.xray"
}

# Exact truth, and the program's own counters where every call is in the log.
agrees() { # program
	stat_of "$1" >stat.json
	case " $COMPLETE " in
	*" $1 "*) "$PYTHON" "$TRUTH/compare.py" stat.json "$REC/$1.truth.json" "$REC/$1.counts.json" ;;
	*) "$PYTHON" "$TRUTH/compare.py" stat.json "$REC/$1.truth.json" ;;
	esac
}

@test "stat is right: recursion, direct and mutual" { agrees recursion; }
@test "stat is right: eight threads" { agrees threads8; }
@test "stat is right: logged arguments" { agrees arguments; }
@test "stat is right: exceptions and longjmp" { agrees exceptions; }
@test "stat is right: a position-independent program" { agrees pie; }
@test "stat is right: a program that is not position-independent" { agrees nopie; }
@test "stat is right: many buffers a thread, over more than a second" { agrees manybuffers; }
@test "stat is right: tail calls" { agrees tailcalls; }
@test "stat is right: custom events" { agrees events; }
@test "stat is right: a ring of buffers that lost the oldest" { agrees ring; }
@test "stat is right: threads alive at the end, buffers written twice" { agrees alive; }

@test "stat is right: a real cycle counter, several CPUs" {
	[ -f "$REC/tsc.xray" ] || skip 'cannot tell the runtime a frequency here'
	"$LLVM_XRAY" convert -f yaml "$REC/tsc.xray" -o tsc.yaml
	"$PYTHON" "$TRUTH/truth.py" tsc.yaml >truth.json
	stat_of tsc >stat.json
	"$PYTHON" "$TRUTH/compare.py" stat.json truth.json "$REC/tsc.counts.json"
}

@test "the two truths agree: llvm-xray's YAML and a decoder of our description" {
	for program in $ALL; do
		"$PYTHON" "$TRUTH/truth.py" "$REC/$program.xray" >own.json
		cmp own.json "$REC/$program.truth.json"
	done
}

@test "llvm-xray account agrees where one buffer holds all" {
	stat_of recursion >stat.json
	"$LLVM_XRAY" account -f csv "$REC/recursion.xray" >account.csv
	"$PYTHON" "$TRUTH/account.py" stat.json account.csv 'fibonacci(unsigned int)' 'is_even(unsigned int)' \
		'is_odd(unsigned int)' 'outer(unsigned int)' 'middle(unsigned int)' 'inner(unsigned int)'
}

@test "names are those of llvm-xray extract" {
	for program in $ALL; do
		"$LLVM_XRAY" extract -symbolize "$REC/$program" >map.yaml
		stat_of "$program" >stat.json
		"$PYTHON" "$TRUTH/names.py" stat.json map.yaml
		trackway names --yaml "$REC/$program" | cmp - map.yaml
		trackway stat --json --binary map.yaml "$REC/$program.xray" 2>told >again.json
		"$PYTHON" "$TRUTH/names.py" again.json map.yaml
		[ "$(grep -c 'is it the program\|is newer' told)" -eq 0 ]
	done
}

@test "flame --folded adds up to stat and to the truth" {
	for program in $ALL; do
		trackway flame --folded --binary "$REC/$program" "$REC/$program.xray" -o out.folded
		stat_of "$program" >stat.json
		"$PYTHON" "$TRUTH/flame.py" out.folded stat.json "$REC/$program.truth.json"
	done
}

@test "the Chrome trace is well-formed and has every call" {
	for program in $ALL; do
		trackway convert --to chrome --binary "$REC/$program" "$REC/$program.xray" -o out.json
		"$PYTHON" "$TRACKWAY_SOURCE/tests/scripts/check_chrome.py" out.json >checked.json
		stat_of "$program" >stat.json
		"$PYTHON" "$TRUTH/chrome.py" checked.json stat.json "$REC/$program.truth.json"
	done
}

@test "dump has every record of a real log" {
	for program in $ALL; do
		trackway dump --json "$REC/$program.xray" >dump.json
		"$PYTHON" "$TRUTH/records.py" dump.json "$REC/$program.xray"
	done
}

@test "info counts the records and threads of a real log" {
	for program in $COMPLETE; do
		records=$("$PYTHON" "$TRUTH/fdr.py" "$REC/$program.xray" | wc -l)
		threads=$(sed -n 's/^ "threads": \([0-9]*\).*/\1/p' "$REC/$program.truth.json")
		trackway info --json "$REC/$program.xray" >info.json
		grep -q "\"records\":$records[,}]" info.json
		grep -q "\"threads\":$threads[,}]" info.json
	done
}

@test "a log of the runtime has no error" {
	for program in $ALL; do
		trackway check --json "$REC/$program.xray" >check.json
		if grep "\"severity\":\"error\"" check.json; then return 1; fi
	done
}

@test "check tells of buffers written twice" {
	trackway check --json "$REC/alive.xray" >check.json
	"$PYTHON" - "$REC/alive.xray" <<-'EOF' >twice
		import os, sys
		sys.path.insert(0, os.environ["TRUTH"])
		import fdr
		log = fdr.Log(open(sys.argv[1], "rb").read())
		parts = [log.data[b[0]["offset"]:b[-1]["offset"] + 8] for b in fdr.buffers(log)]
		print(len(parts) - len(set(parts)))
	EOF
	[ "$(cat twice)" -gt 0 ] || skip 'no buffer came twice this time'
	grep -q '"rule":"fdr.buffer-twice"' check.json
}

@test "every version of the format keeps every call, there and back" {
	for program in $COMPLETE; do
		stat_of "$program" >expected.json
		for version in 1 2 3 4 5; do
			trackway convert --to xray-fdr --format-version $version "$REC/$program.xray" -o there.xray
			trackway stat --json --binary "$REC/$program" there.xray >found.json
			cmp expected.json found.json
			trackway convert --to xray-fdr --format-version 5 there.xray -o back.xray
			trackway stat --json --binary "$REC/$program" back.xray >found.json
			cmp expected.json found.json
		done
	done
}

# Without the version, and the process, which there is since version 3.
same_records() { # YAML
	sed -n 's/process: [0-9]*, //; /  - {/p; /cycle-frequency/p' "$1"
}

@test "llvm-xray reads what convert writes" {
	for program in $COMPLETE; do
		same_records "$REC/$program.yaml" >expected
		for version in 2 3 4 5; do
			trackway convert --to xray-fdr --format-version $version "$REC/$program.xray" -o out.xray
			"$LLVM_XRAY" convert -f yaml out.xray -o out.yaml
			same_records out.yaml | cmp - expected
		done
	done
}

@test "repair leaves a good log as it is" {
	for program in $COMPLETE; do
		trackway repair "$REC/$program.xray" -o out.xray
		stat_of "$program" >expected.json
		trackway stat --json --binary "$REC/$program" out.xray >found.json
		cmp expected.json found.json
	done
}

@test "one processor and two give the same bytes" {
	for program in $ALL; do
		for command in 'stat --json' 'stat --json --by thread' 'stat --json --by caller' 'stacks --json' 'flame --folded'; do
			trackway $command --jobs 1 --binary "$REC/$program" "$REC/$program.xray" >one
			trackway $command --jobs 2 --binary "$REC/$program" "$REC/$program.xray" >two
			[ -s one ]
			cmp one two
		done
		trackway info --json --jobs 1 "$REC/$program.xray" >one
		trackway info --json --jobs 2 "$REC/$program.xray" >two
		[ -s one ]
		cmp one two
	done
}

@test "a pipe, .gz and .zst give the same as the file" {
	for program in threads8 manybuffers events ring; do
		gzip -c "$REC/$program.xray" >log.gz
		zstd -qc "$REC/$program.xray" >log.zst
		for command in 'stat --json' 'dump --json' 'flame --folded'; do
			trackway $command "$REC/$program.xray" >expected
			[ -s expected ]
			cat "$REC/$program.xray" | trackway $command - >found
			cmp expected found
			trackway $command log.gz >found
			cmp expected found
			trackway $command log.zst >found
			cmp expected found
			cat log.zst | trackway $command - >found
			cmp expected found
		done
	done
}

@test "sql: the extension names functions by a program" {
	extension=$(dirname "$(readlink -f "$TRACKWAY")")/libtrackway_sqlite
	! grep -q __asan_init "$extension.so" || skip "the extension has sanitizers"
	query='select hex(name), count(*) from slice group by name order by 1'
	sqlite3 -csv -cmd ".load $extension" :memory: "select trackway_open('$REC/recursion.xray', '$REC/recursion')" "$query" >found
	trackway sql --csv --binary "$REC/recursion" "$REC/recursion.xray" "$query" >expected
	[ "$(wc -l <found)" -gt 2 ]
	diff <(tail -n +2 expected) <(tail -n +2 found | tr -d '\r')
	run sqlite3 -cmd ".load $extension" :memory: "select trackway_open('$REC/recursion.xray', '/bin/true')"
	[[ "$output" == *"/bin/true: no xray_instr_map section"* ]]
	run sqlite3 -cmd ".load $extension" :memory: "select trackway_open('$REC/recursion.xray', 'missing')" \
		"select count(*) from slice"
	[[ "$output" == *"missing: "* ]]
}
