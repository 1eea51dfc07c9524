# help.bats - help, wrong use, completion and manual pages.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

COMMANDS="info dump check repair convert cut merge stat stacks graph flame diff counters sched alloc jit gc cpu blobs names log insns blocks branches mem cache syscalls calls phases slice record providers snapshot replay sql view load completion help"

# Runs wrong use: exit status 2, nothing on standard output, the error and the hint on standard error.
wrong() { # error hint command...
	local error="trackway: error: $1" hint="Try '$2'."
	shift 2
	local status=0
	"$@" >out 2>err || status=$?
	[ "$status" = 2 ] || fail "exit status $status: $*"
	[ ! -s out ] || fail "standard output: $(cat out)"
	printf '%s\n%s\n' "$error" "$hint" >expected
	same expected err "standard error"
}

long_lines() { # file
	grep -E '.{81}' "$1"
}

# The long options that a command's --help lists.
options_of() { # command
	trackway "$1" --help | sed '/^Examples:/,$d' | grep -Eo '^ +(-., )?--[a-z-]+' | grep -Eo -- '--[a-z-]+'
}

@test "help: --help of the tool lists every command, in at most 80 columns" {
	trackway --help >out 2>err
	[ ! -s err ]
	for command in $COMMANDS; do
		grep -Eq "^  $command +[a-z]" out || fail "$command is not in --help"
	done
	[ "$(sed -n '/^Commands:/,/^$/p' out | grep -c '^  ')" = "$(wc -w <<<"$COMMANDS")" ]
	if long_lines out; then fail "a line is too long"; fi
	trackway help | cmp - out
	trackway -h | cmp - out
}

@test "help: every command has a usage line, --help, an example, and lines of at most 80 columns" {
	for command in $COMMANDS; do
		trackway "$command" --help >out 2>err
		[ ! -s err ]
		head -1 out | grep -q "^Usage: trackway $command \[OPTION\]\.\.\." || fail "$command: $(head -1 out)"
		grep -q -- "-h, --help" out
		if long_lines out; then fail "$command has a long line"; fi
		[ "$command" = help ] || grep -q '^Examples:' out || fail "$command has no example"
		trackway help "$command" | cmp - out
	done
}

@test "help: the filters are the same wherever they are" {
	for command in info dump check repair convert stat stacks graph flame diff; do
		trackway "$command" --help >out
		for option in --thread --function --from-time --to-time --min-duration --binary --from; do
			grep -q -- " $option " out || fail "$command has no $option"
		done
	done
}

@test "help: the version is that of the build" {
	version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$TRACKWAY_SOURCE/meson.build" | head -1)
	[ "$(trackway --version | head -1)" = "trackway $version" ]
	[ "$(trackway -V)" = "$(trackway --version)" ]
}

@test "wrong use: no command, no such command, the nearest one" {
	wrong "no command given" "trackway --help" trackway
	wrong "there is no command sttat; did you mean stat?" "trackway --help" trackway sttat a.xray
	wrong "there is no command frobnicate" "trackway --help" trackway frobnicate
	wrong "there is no command sttat; did you mean stat?" "trackway --help" trackway help sttat
	wrong "there is no command frobnicate" "trackway --help" trackway help frobnicate
	wrong "there is no option --hlep; did you mean --help?" "trackway --help" trackway --hlep
}

@test "wrong use: no such option, the nearest one, no value, a value too many" {
	wrong "there is no option --tpo; did you mean --top?" "trackway stat --help" trackway stat --tpo 3 a
	wrong "there is no option --frobnicate" "trackway stat --help" trackway stat --frobnicate a
	wrong "there is no option -Z" "trackway stat --help" trackway stat -Z a
	wrong "--top wants a value" "trackway stat --help" trackway stat a --top
	wrong "--json takes no value" "trackway stat --help" trackway stat --json=yes a
}

@test "wrong use: values that are none" {
	wrong '--top: "x" is not a number' "trackway stat --help" trackway stat --top x a
	wrong '--top: "" is not a number' "trackway stat --help" trackway stat --top= a
	wrong '--top: "0x\x10" is not a number' "trackway stat --help" trackway stat --top $'0x\020' a
	wrong '--top: "0xg" is not a number' "trackway stat --help" trackway stat --top 0xg a
	wrong '--top: "-1" is not a number' "trackway stat --help" trackway stat --top=-1 a
	wrong '--top: "18446744073709551616" is too large' "trackway stat --help" trackway stat --top 18446744073709551616 a
	wrong '--top: "1.5" is not a whole number' "trackway stat --help" trackway stat --top 1.5 a
	wrong '--thread: "1,,2" is empty' "trackway stat --help" trackway stat --thread 1,,2 a
	wrong '--by: "thred" is none of the choices; did you mean thread?' "trackway stat --help" trackway stat --by thred a
	wrong '--by: "x" is none of the choices: function, thread, caller, object, class, module, line, whole-thread, async' "trackway stat --help" trackway stat --by x a
	wrong '--jobs: "257" is too large: 256 is the most' "trackway stat --help" trackway stat -j 257 a
	wrong '--jobs: "99999999999999999999" is too large: 256 is the most' "trackway stat --help" \
		trackway stat -j 99999999999999999999 a
	wrong '--jobs: "-1" is not a number' "trackway info --help" trackway info --jobs -1 a
	wrong '--memory: "1" is too small: 65536 is the least' "trackway stat --help" trackway stat --memory 1 a
	wrong '--memory: "1X" is not a number with a unit: B, K, M, G, T' "trackway stat --help" trackway stat --memory 1X a
	wrong '--binary: "" is empty' "trackway stat --help" trackway stat -b '' a
}

@test "wrong use: times that are none" {
	wrong '--min-duration: "0.5ns" is finer than a nanosecond' "trackway stat --help" trackway stat --min-duration 0.5ns a
	wrong '--min-duration: "1.0000005ms" is finer than a nanosecond' "trackway stat --help" \
		trackway stat --min-duration 1.0000005ms a
	wrong '--min-duration: "1 h" is not a number with a unit: ns, us, ms, s' "trackway stat --help" trackway stat --min-duration "1 h" a
	wrong '--min-duration: "1." is not a number with a unit: ns, us, ms, s' "trackway stat --help" trackway stat --min-duration 1. a
	wrong '--from-time: "18446744074s" is too large' "trackway stat --help" trackway stat --from-time 18446744074s a
	wrong '--to-time: "0" is too small: 1 is the least' "trackway stat --help" trackway stat --to-time 0 a
	wrong "--to-time must be later than --from-time" "trackway stat --help" trackway stat --from-time 1.5ms --to-time 1500us a
}

@test "wrong use: too few and too many files" {
	for command in info stat stacks graph; do
		wrong "$command wants FILE..." "trackway $command --help" trackway "$command"
	done
	wrong "check wants FILE..., or --rules" "trackway check --help" trackway check
	wrong "--rules reads no FILE; --from FORMAT chooses whose rules" "trackway check --help" trackway check --rules fxt
	for option in --jobs=2 --memory=64M --reorder-window=1M --binary=app --maps=list --kallsyms=list --xtrace-layout=header=24; do
		wrong "--rules reads nothing: ${option%%=*} does nothing" "trackway check --help" trackway check --rules "$option"
	done
	for command in stat replay insns sql; do
		wrong "--load-address is about the program of --binary" "trackway $command --help" trackway $command --load-address 0x1000 a
	done
	for option in "--by class" --top=1; do
		wrong "a picture is of the heap: --by, --class, --sort and --top are about rows" "trackway gc --help" trackway gc --svg $option a
	done
	wrong "samples are in the order of time: --sort and --top are about rows" "trackway gc --help" trackway gc --csv --top 1 a
	for command in mem cache calls phases; do
		wrong "a picture has no rows: --top does nothing" "trackway $command --help" trackway $command --svg --top 1 a
		wrong "only one of --all and --top" "trackway $command --help" trackway $command --all --top 1 a
	done
	wrong "a picture is of the footprint: --reuse does nothing" "trackway mem --help" trackway mem --svg --reuse a
	for more in a --json "--query slices" "--param a=1"; do
		wrong "--queries lists the ready queries, and does nothing else" "trackway sql --help" trackway sql --queries $more
	done
	wrong "--csv, --json, --markdown and --param are about answers: a database has none" "trackway sql --help" \
		trackway sql --csv a -o a.db
	wrong "--rules lists no findings: a filter does nothing" "trackway check --help" trackway check --rules --thread 1
	wrong "--rules lists no findings: --all does nothing" "trackway check --help" trackway check --rules --all
	wrong "--force is for --extract-all" "trackway blobs --help" trackway blobs --force x.fxt
	wrong "dump wants FILE" "trackway dump --help" trackway dump
	wrong 'too many operands: "b" is one more' "trackway dump --help" trackway dump a b
	wrong 'too many operands: "a" is one more' "trackway providers --help" trackway providers a
	wrong 'too many operands: "a" is one more' "trackway snapshot --help" trackway snapshot a -o b
	wrong "diff wants A B, or several runs a side: A... -- B..." "trackway diff --help" trackway diff a
	wrong "repair wants -o FILE; - is standard output" "trackway repair --help" trackway repair a
	wrong "convert wants -o FILE, or --to FORMAT for standard output" "trackway convert --help" trackway convert a
	wrong "b.foo: the name tells no format; --to FORMAT does" "trackway convert --help" trackway convert a -o b.foo
	wrong "only one of --svg and --html" "trackway flame --help" trackway flame --svg --html a
	wrong "--icicle is about pictures" "trackway flame --help" trackway flame --folded --icicle a
	wrong "--title is about pictures" "trackway flame --help" trackway flame --json --title x a
	wrong "--title is about pictures" "trackway diff --help" trackway diff --folded --title x a b
	wrong "only one of --json and --dot" "trackway graph --help" trackway graph --dot --json a
	wrong "--title is about DOT" "trackway graph --help" trackway graph --title x --json a
	wrong "--weight is for folded stacks" "trackway convert --help" trackway convert --weight calls a -o b.json
	wrong "--dialect is for TraceLog, not for csv" "trackway convert --help" trackway convert --dialect d1 a -o b.csv
	wrong "a part is chosen by time or by snapshots, not by both" "trackway cut --help" \
		trackway cut --from-snapshot 1 --from-time 1ms a -o b
	wrong "--to-snapshot is not behind --from-snapshot" "trackway cut --help" \
		trackway cut --from-snapshot 2 --to-snapshot 2 a -o b
	[ ! -e b.foo ]
}

@test "wrong use: what would be forgotten, and names that tell no form" {
	wrong "--function was given twice" "trackway stat --help" trackway stat -f a --function b c
	wrong "--maps was given twice" "trackway stat --help" trackway stat --maps a --maps b c
	wrong "there is no option -b" "trackway counters --help" trackway counters -b a b
	wrong '--sort: "open" is none of the choices: count, total, self, min, p50, p90, p99, max, name, id' \
		"trackway stat --help" trackway stat --sort open a
	for name in a.gz a; do
		wrong "$name: the name tells no form: .json, .csv, .md, .svg, .html, .folded do" "trackway flame --help" \
			trackway flame b -o "$name"
	done
}

@test "filters that nothing passes are told, and are no failure" {
	for command in stat "diff $DATA/xray/v5.xray" stacks graph "flame --folded" dump "convert --to chrome"; do
		trackway $command -f nomatch "$DATA/xray/v5.xray" >out 2>err
		echo "trackway: no function matches 'nomatch': a glob matches the whole name, as in '*nomatch*'" >expected
		same expected err "standard error of $command"
		trackway $command --thread 98,99 "$DATA/xray/v5.xray" >out 2>err
		case $command in dump | convert*) what=nothing ;; *) what="no call" ;; esac
		echo "trackway: $what passes the filters: --thread 98,99 (trackway info lists the threads)" >expected
		same expected err "standard error of $command"
	done
}

@test "check: notes of a rule beyond the third are folded, --all shows them" {
	# Its buffers twice, with other bytes in the events.
	{ cat "$DATA/xray/v5.xray" && tail -c +33 "$DATA/xray/v5.xray" | LC_ALL=C tr e E; } >twice.xray
	trackway check twice.xray >out
	trackway check --json twice.xray >json
	trackway check --all twice.xray >all
	grep -q "(--all shows them)$" out
	for rule in $(grep '"severity":"note"' json | sed 's/.*"rule":"\([^"]*\)".*/\1/' | sort -u); do
		count=$(grep -c "\"rule\":\"$rule\"" json)
		[ "$(grep -c ": note: .*\[$rule\]$" all)" = "$count" ]
		[ "$(grep -c ": note: .*\[$rule\]$" out)" = "$((count < 3 ? count : 3))" ]
		[ "$count" -le 3 ] || grep -qxF "... and $((count - 3)) more [$rule] (--all shows them)" out
	done
}

@test "help: --help and the manual of the tool tell its options, exit statuses and variables" {
	trackway --help >out
	trackway help --man >page
	for word in -h, -V, --help --version TRACKWAY_PAGER NO_COLOR TMPDIR; do
		grep -qF -- "$word" out || fail "$word is not in --help"
		grep -qF -- "${word//-/\\-}" page || fail "$word is not in the page"
	done
	grep -q '^Exit status:' out
}

@test "completion: bash completes commands, options, values and words" {
	cat >try.bash <<-'END'
		source <(trackway completion bash)
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_trackway
		echo "${COMPREPLY[*]}"
	END
	try() { bash try.bash trackway "$@"; }
	trackway completion bash | bash -n
	[ "$(try st)" = "stat stacks" ]
	[ "$(try stat --so)" = "--sort" ]
	[ "$(try stat --by '')" = "function thread caller object class module line whole-thread async" ]
	[ "$(try stat --by = t)" = "thread" ]
	[ "$(try stat --by =)" = "function thread caller object class module line whole-thread async" ]
	[ "$(try stat -s p)" = "p50 p90 p99" ]
	[ "$(try stat -n '')" = "" ]
	[ "$(try stat some)" = "" ]
	[ "$(try help co)" = "convert counters completion" ]
	[ "$(try completion '')" = "bash zsh" ]
	for command in $COMMANDS; do
		[[ " $(try "$command" --) " == *" --help "* ]] || fail "$command: no options"
	done
}

@test "completion: zsh knows every command and every long option" {
	trackway completion zsh >script
	[ "$(head -1 script)" = "#compdef trackway" ]
	for command in $COMMANDS; do
		grep -q "^		$command)" script || fail "$command is not in the script"
		sed -n "/^		$command)/,/;;/p" script | grep -Eo -- "[*',{]--[a-z-]+=?[]}[]" | tr -d "*',{=[]}" | sort -u >part
		options_of "$command" | sort -u | comm -23 - part >missing
		[ ! -s missing ] || fail "$command: not in the script: $(cat missing)"
	done
	grep -qF "'(-s --sort)'{-s+,--sort=}'[" script || fail "values behind = are not completed"
	grep -qF "{-V,--version}" script
	if command -v zsh >/dev/null; then
		zsh -n script
	fi
}

@test "completion: other shells are told what there is" {
	wrong "there is no completion for fish: bash, zsh" "trackway completion --help" trackway completion fish
}

@test "man: every page is clean roff and tells every option" {
	for command in "" $COMMANDS; do
		trackway help --man $command >page 2>err
		[ ! -s err ]
		head -1 page | grep -q '^\.TH "trackway'
		for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" "SEE ALSO"; do
			grep -q "^\.SH $section\$" page || fail "$command: no section $section"
		done
		if command -v groff >/dev/null; then
			groff -man -ww -Tutf8 page >text 2>err
			same /dev/null err "groff's complaints about $command"
		fi
		[ -n "$command" ] || continue
		grep -Eo '\\fB\\-\\-[a-z\\-]+\\fR' page | sed 's/^\\fB//; s/\\fR$//; s/\\-/-/g' | sort -u >part
		options_of "$command" | sort -u | comm -23 - part >missing
		[ ! -s missing ] || fail "$command: not in the page: $(cat missing)"
	done
}

@test "man: the exit statuses of what runs programs and compares are their own" {
	exit_status() { trackway help --man "$1" | sed -n '/^\.SH "*EXIT STATUS/,/^\.SH EX/p'; }
	[[ "$(exit_status record)" == *"1 when a signal ended it"* ]] || fail "$(exit_status record)"
	[[ "$(exit_status replay)" == *"1 when there is a difference"* ]] || fail "$(exit_status replay)"
	[[ "$(exit_status convert)" == *"strict finds a loss"* ]] || fail "$(exit_status convert)"
	[[ "$(exit_status info)" == *"severity error (the work was done)"* ]] || fail "$(exit_status info)"
}

@test "man: the page of check tells every rule" {
	trackway help --man check >page
	trackway check --rules >rules
	[ "$(wc -l <rules)" -gt 40 ]
	sed -E 's/^([^ ]+) +([^ ]+).*/\\fB\1\\fR (\2)/; s/-/\\-/g' rules | sort -u >wanted
	grep -oFf wanted page | sort -u | comm -23 wanted - >missing
	[ ! -s missing ] || fail "not in the page: $(cat missing)"
	[ -z "$(cut -d' ' -f1 rules | sort | uniq -d)" ]
	trackway check --rules --from fxt >of-fxt
	cmp <(sort of-fxt) <(grep -E '^(fxt|filter)\.' rules | sort)
}

@test "options for xtraces are refused where no trace is one" {
	log=$DATA/xray/v5.xray
	for command in info dump check stat stacks log "convert -o out.json" "merge -o out.json $log" sql; do
		for option in "--xtrace-layout header=24" "--maps /proc/self/maps" "--kallsyms list"; do
			[[ $command = log && $option != --xtrace-layout* ]] && continue # it has no such option
			run --separate-stderr trackway $command $option "$log"
			[ "$status" -eq 2 ] && [ -z "$output" ] || fail "$command $option: $status $output"
			[ "$stderr" = "trackway: error: ${option%% *} does nothing: it is for xtraces, and no trace is one" ] || fail "$command: $stderr"
		done
	done
	run --separate-stderr trackway dump --tokens "$log"
	[ "$status" -eq 2 ] && [[ "$stderr" == *"a trace of format xray-fdr has no tokens to choose from" ]] || fail "$stderr"
	# Of what cannot be looked at nobody knows.
	cat "$log" | trackway stat --xtrace-layout header=24 - >out
	[ -s out ]
	run --separate-stderr trackway stat --maps list no-such-file
	[[ "$stderr" == *"no-such-file: No such file or directory" ]] || fail "$stderr"
}
