#!/bin/bash
# suite.bash - runs tests written for bats, as TAP.
# SPDX-License-Identifier: Apache-2.0
#
# usage: suite.bash [--filter REGEX] FILE...
#
# bats starts a shell for each test, which reads the whole file again, and has a trap before each command: 30 ms a test, more
# than most tests take. Here a test is a subshell of the one that has read its file. There are @test, setup(), teardown(),
# setup_file(), run [--separate-stderr], skip, load, BATS_TEST_TMPDIR and BATS_FILE_TMPDIR, as bats has them.

filter= files=()
while [ $# -gt 0 ]; do
	case $1 in
	-f | --filter) filter=$2 && shift ;;
	*) files+=("$1") ;;
	esac
	shift
done

suite_folder=$(mktemp -d)
trap 'rm -rf "$suite_folder"' EXIT
trap 'exit 1' INT TERM

# The same lines, with functions for tests; the names go to another file. What a test may not change is called suite_.
functions='
	match($0, /^@test ("[^"]*"|\047[^\047]*\047) \{/) {
		print substr($0, 8, RLENGTH - 10) >names
		$0 = "test_" ++count "() {" substr($0, RLENGTH + 1)
	}
	/^@test/ { print FILENAME ":" FNR ": @test \"NAME\" { was expected" >"/dev/stderr"; exit 1 }
	{ print }'

load() { # file
	local path=$1
	[[ $path == /* ]] || path=${suite_file%/*}/$path
	[ -e "$path" ] || path=$path.bash
	source "$path" || exit 2
}

bats_require_minimum_version() { :; }
setup() { :; }
teardown() { :; }
setup_file() { :; }

skip() { # reason
	suite_skipped=${1:-no reason given}
	exit 0
}

# Runs a command, whatever its exit status: `status`, `output` and its `lines`; where it is asked for, standard error is `stderr`.
run() { # [--separate-stderr] command...
	set +eET
	status=0
	if [ "$1" = --separate-stderr ]; then
		shift
		output=$("$@" 2>"$BATS_TEST_TMPDIR.err") || status=$?
		read -d '' -r stderr <"$BATS_TEST_TMPDIR.err"
		IFS=$'\n' read -d '' -r -a stderr_lines <<<"$stderr"
	else
		output=$("$@" 2>&1) || status=$?
	fi
	IFS=$'\n' read -d '' -r -a lines <<<"$output"
	set -eET
}

# The trap of ERR: the command that fails, and where it stands.
note_failure() { # status line command
	local i=1 line=$2
	suite_failure="# status $1: $3"$'\n'
	while [ $i -lt ${#FUNCNAME[@]} ]; do
		suite_failure+="#   ${BASH_SOURCE[i]}:$line: ${FUNCNAME[i]}"$'\n'
		case ${FUNCNAME[i]} in test_* | setup) break ;; esac
		line=${BASH_LINENO[i]}
		i=$((i + 1))
	done
	suite_failure=${suite_failure//"$suite_source"/"$suite_file"}
}

# The trap of EXIT, in a test's shell.
finish() { # status
	local status=$1
	set +eET
	trap - ERR EXIT
	[ -n "$suite_ended$suite_skipped" ] || [ "$status" -ne 0 ] || status=1
	teardown || status=1
	[ "$status" -eq 0 ] || printf '%s' "$suite_failure" >"$BATS_TEST_TMPDIR.failure"
	[ -z "$suite_skipped" ] || printf '%s' "$suite_skipped" >"$BATS_TEST_TMPDIR.skipped"
	exit "$status"
}

# One test, in a shell of its own.
perform() ( # function number
	export BATS_TEST_TMPDIR=$suite_folder/$2
	exec >"$BATS_TEST_TMPDIR.out" 2>&1 </dev/null
	suite_ended= suite_skipped= suite_failure=
	trap 'finish $?' EXIT
	trap 'note_failure $? "$LINENO" "$BASH_COMMAND"' ERR
	set -eET
	setup
	"$1"
	suite_ended=1
)

# What a test printed is shown where it failed, behind '#'.
tell() { # status number name
	local skipped=
	[ ! -e "$suite_folder/$2.skipped" ] || skipped=" # skip $(<"$suite_folder/$2.skipped")"
	if [ "$1" -eq 0 ]; then
		echo "ok $2 $3$skipped"
	else
		suite_failed=1
		echo "not ok $2 $3"
		cat "$suite_folder/$2.failure" 2>/dev/null
		sed 's/^/# /' "$suite_folder/$2.out"
	fi
}

# The chosen tests of a file, in a shell that has read it.
perform_file() ( # file source number...
	suite_file=$1 suite_source=$2 suite_failed=
	shift 2
	export BATS_FILE_TMPDIR=$suite_folder/file
	mkdir "$BATS_FILE_TMPDIR" "${@/#/"$suite_folder/"}"
	set -eET
	source "$suite_source"
	setup_file >&2
	set +eET
	for number; do
		perform "${suite_functions[number]}" "$number"
		tell $? "$number" "${suite_names[number]}"
	done
	[ -z "$suite_failed" ]
)

number=0 failed= suite_functions=() suite_names=() chosen=()
for file in "${files[@]}"; do
	source=$suite_folder/source$((${#chosen[@]} + 1))
	: >"$suite_folder/names"
	awk -v names="$suite_folder/names" "$functions" "$file" >"$source" || exit 2
	mapfile -t names <"$suite_folder/names"
	numbers=
	for i in "${!names[@]}"; do
		if [[ ${names[i]} =~ $filter ]]; then
			number=$((number + 1))
			suite_functions[number]=test_$((i + 1)) suite_names[number]=${names[i]}
			numbers+=" $number"
		fi
	done
	chosen+=("$numbers")
done

# Behind `||`, or as a condition, a shell would pass over what fails in it.
echo "1..$number"
i=0
for file in "${files[@]}"; do
	if [ -n "${chosen[i]}" ]; then
		# shellcheck disable=SC2086 # numbers
		perform_file "$file" "$suite_folder/source$((i + 1))" ${chosen[i]}
		[ $? -eq 0 ] || failed=1
		rm -rf "$suite_folder"/file "$suite_folder"/[0-9]*
	fi
	i=$((i + 1))
done
[ -z "$failed" ]
