# helpers.bash - what the tests of the command line share.
# SPDX-License-Identifier: Apache-2.0
#
# Every test runs in an empty directory of its own, with `trackway` on the path, $DATA naming tests/data, no colours and
# no pager, and times in UTC.

setup() {
	cd "$BATS_TEST_TMPDIR"
	bin=$BATS_FILE_TMPDIR/bin
	[ -d "$bin" ] || { mkdir "$bin" && ln -s "$TRACKWAY" "$bin/trackway"; }
	export PATH="$bin:$PATH"
	export DATA="$TRACKWAY_SOURCE/tests/data"
	export LC_ALL=C.UTF-8 TZ=UTC0 NO_COLOR=1 PAGER=cat TRACKWAY_PAGER=cat
	unset COLUMNS
}

# Says where the collection of logs beside the checkout is; without it the test is skipped, and fails in CI.
need_corpus() {
	CORPUS="${TW_CORPUS:-$TRACKWAY_SOURCE/../shared/corpus}"
	export CORPUS
	[ -d "$CORPUS" ] && return
	[ -n "${CI:-}" ] && fail "no corpus directory: $CORPUS (TW_CORPUS names it)"
	skip "no corpus directory"
}

# From here on no file can be without a name. Skips the test where nothing can be loaded before the tool, as with
# sanitizers.
need_names() {
	local cc
	cc=$(command -v cc || command -v clang-14 || command -v clang) || skip "no C compiler"
	"$cc" -shared -fPIC "$TRACKWAY_SOURCE/tests/cli/named.c" -o named.so -ldl
	LD_PRELOAD=$PWD/named.so trackway --version >out 2>err && [ ! -s err ] || skip "nothing can be loaded before the tool"
	export LD_PRELOAD=$PWD/named.so
}

fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# Runs a command that must fail. What a test says with "!" alone is not looked at but in its last line.
fails() {
	! "$@"
}

# Compares a file with what is expected of it. No expected file means: nothing.
same() { # expected actual what
	[ -e "$1" ] || set -- /dev/null "$2" "$3"
	cmp -s "$1" "$2" && return
	echo "$3 differs (- expected, + found):"
	diff -u --label expected --label found "$1" "$2" || true
	return 1
}

# Keeps what came out as what is expected; an empty file is no file.
keep() { # actual expected
	if [ -s "$1" ]; then cp "$1" "$2"; else rm -f "$2"; fi
}

# Runs tests/cli/cases/NAME.cmd and compares standard output, standard error and the exit status with NAME.out, NAME.err
# and NAME.exit (each absent: empty, empty, 0).
run_case() { # name
	local case="$TRACKWAY_SOURCE/tests/cli/cases/$1" wrong=0 status=0
	local out="$BATS_TEST_TMPDIR/.out" err="$BATS_TEST_TMPDIR/.err" exit="$BATS_TEST_TMPDIR/.exit"
	bash -u -o pipefail "$case.cmd" >"$out" 2>"$err" </dev/null || status=$?
	: >"$exit"
	[ "$status" = 0 ] || echo "$status" >"$exit"
	# Where the tree lies must not matter.
	sed -i -e "s|$DATA|DATA|g" -e "s|$BATS_TEST_TMPDIR|TMP|g" "$out" "$err"

	if [ -n "${ACCEPT:-}" ]; then
		keep "$out" "$case.out"
		keep "$err" "$case.err"
		keep "$exit" "$case.exit"
		return
	fi
	same "$case.out" "$out" "standard output" || wrong=1
	same "$case.err" "$err" "standard error" || wrong=1
	same "$case.exit" "$exit" "the exit status" || wrong=1
	return $wrong
}
