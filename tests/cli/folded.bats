#!/usr/bin/env bats
# folded.bats - folded stacks as input: what each line weighs reaches every command.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

stacks() {
	printf '# a profiler wrote this\nmain;parse;read 12\nmain;parse 3\nmain;walk;walk;walk 20\nmain 2\nmain;parse 7\n'
}

@test "folded: the same stacks come out again" {
	stacks >a.folded
	trackway flame --folded a.folded | LC_ALL=C sort >out
	printf 'main 2\nmain;parse 10\nmain;parse;read 12\nmain;walk;walk;walk 20\n' | diff - out
	trackway convert --to folded a.folded | LC_ALL=C sort | diff - out
}

@test "folded: a function that is in itself counts once" {
	stacks >a.folded
	trackway stat --json a.folded >out
	grep -q '"name":"walk".*"self":20,"total":20' out || grep -q '"name":"walk".*"total":20.*"self":20' out || fail "$(cat out)"
	grep '"name":"main"' out | grep -q '"total":44'
}

@test "folded: info, dump and check" {
	stacks >a.folded
	trackway info --json a.folded | grep -q '"records":6'
	[ "$(trackway dump --json a.folded | grep -c '"record":"stack"')" = 5 ]
	trackway dump --json a.folded | grep -q '"stack":"main;parse;read","count":12'
	trackway check a.folded
}

@test "folded: what flame writes of other formats is read, and weighs the same" {
	trackway flame --folded "$DATA/xray/v5.xray" 2>err | LC_ALL=C sort >first || [ $? = 1 ]
	trackway flame --folded first | LC_ALL=C sort >second
	[ -s first ]
	diff first second
}

@test "folded: bad lines cost no other line, and each rule is told" {
	printf 'a;b 1\r\na;;b 2\nno count\na;b 99999999999999999999\n a;b 1.5\n7\na;\xff 1\na;b 3\na;c 4\na;d 5\na;b 6' >a.folded
	run --separate-stderr trackway check --json a.folded
	[ "$status" = 1 ]
	local rule
	for rule in folded.no-count folded.count-range folded.cut-line folded.fraction folded.no-stack folded.empty-frame \
		folded.crlf folded.utf8; do
		[[ "$output" == *"\"$rule\""* ]] || fail "$rule: $output"
	done
	run --separate-stderr trackway flame --folded --from folded a.folded
	[ "$status" = 1 ]
	[[ "$output" == *"a;b 10"* && "$output" == *"a;d 5"* ]] || fail "$output"
	[[ "$stderr" == *"line 3"* ]] || fail "$stderr"
}

@test "folded: long lines and many names stay in the memory limit" {
	"$PYTHON" -c '
for i in range(60000): print(f"main;function {i};leaf {i * 7} {i}")' >many.folded
	run --separate-stderr trackway check --memory 4M many.folded
	[ "$status" -le 1 ]
	[[ "$output$stderr" == *"folded.name-limit"* ]] || fail "$output $stderr"
	"$PYTHON" -c 'print("main;" + "x" * 3000000 + " 5"); print("a;b 2")' >long.folded
	run --separate-stderr trackway check --memory 4M --from folded long.folded
	[ "$status" = 1 ]
	[[ "$output$stderr" == *"folded.line-too-long"* ]] || fail "$output $stderr"
}

@test "folded: cut compression is told" {
	stacks | gzip >a.folded.gz
	head -c -9 a.folded.gz >cut.gz
	run --separate-stderr trackway check --from folded cut.gz
	[ "$status" = 1 ]
	[[ "$output$stderr" == *"folded.compression"* ]] || fail "$output $stderr"
}

@test "folded: fractions are rounded, and a line that begins with # is a comment or a function without a name" {
	printf 'a 2.4\nb 2.5\nc 2.49\nd 0.5\n# 7\n#\n#text\n#12 5\n' >a.folded
	trackway stat --from folded --json a.folded 2>/dev/null | "$PYTHON" -c '
import json, sys
rows = {row["name"]: row["self"] for row in map(json.loads, sys.stdin)}
assert rows == {"a": 2, "b": 3, "c": 2, "d": 1, "#12": 5}, rows'
}

@test "folded: no stack is written as a comment" {
	printf '%s,"ph":"X","pid":1,"tid":1},\n' '[{"name":"# a","ts":0,"dur":9' '{"name":"# b","ts":0,"dur":4' \
		'{"name":"#","ts":10,"dur":3' '{"name":"#","ts":20,"dur":8' '{"name":"in","ts":20,"dur":1' \
		'{"name":"#c","ts":30,"dur":6' '{"name":"#\u007fd","ts":40,"dur":2' >a.json
	printf '%s\n' '#;in 1000' '#c 6000' ': 10000' ': a 5000' ': a;# b 4000' ': d 2000' >expected
	trackway convert a.json -o a.folded
	trackway flame --folded a.json -o b.folded
	LC_ALL=C sort a.folded | diff expected -
	LC_ALL=C sort b.folded | diff expected -
	trackway diff --folded a.json a.json -o c.folded
	sed 's/ [0-9]*$//' c.folded | LC_ALL=C sort | diff expected -
	trackway convert a.folded -o d.folded
	LC_ALL=C sort d.folded | diff expected -
}

@test "flame, stacks: what stands above the function that is asked for does not keep its stacks apart" {
	printf '%s\n' 'a;f;x 3' 'b;f;x 4' 'b;g;f;x 5' 'c;f;y;f 1' 'c;z 9' >in.folded
	printf '%s\n' 'f;x 12' 'f;y;f 1' >expected
	trackway flame --folded -f f in.folded | LC_ALL=C sort | diff expected -
	trackway flame --json -f f in.folded | "$PYTHON" -c '
import json, sys
rows = {row["name"]: row for row in map(json.loads, sys.stdin) if row["depth"] == 2}
assert {name: (row["total"], row["self"]) for name, row in rows.items()} == {"x": (12, 12), "y": (1, 0)}, rows'
	trackway diff --folded -f f in.folded in.folded | LC_ALL=C sort >out
	printf '%s\n' 'f;x 12 12' 'f;y;f 1 1' | diff - out
	trackway stacks -n 2 in.folded | tail -1 | grep -qx '\.\.\. and 3 more stacks'
}

# As difffolded.pl writes them: what a stack weighed before, and after.
@test "folded: two counts are compared from a pipe as from a file" {
	printf 'main;parse 10 12\nmain;walk 5 0\nmain;new 0 7\n' >two.folded
	trackway diff --json two.folded >expected 2>said
	[ "$(wc -l <expected)" = 4 ]
	cat two.folded | trackway diff --json - 2>err | cmp - expected
	cmp err said
	gzip -c two.folded | trackway diff --json - 2>err | cmp - expected
	trackway diff --json - <two.folded 2>err | cmp - expected
	mkfifo pipe
	cat two.folded >pipe &
	trackway diff --json pipe 2>err | cmp - expected
	cat two.folded | trackway diff --folded - 2>err | LC_ALL=C sort | diff - <(LC_ALL=C sort two.folded)
	printf 'main;parse 10\n' | fails trackway diff - 2>err
	grep -q 'diff wants A B' err
	fails trackway diff - </dev/null 2>err
}

@test "folded: stacks that all count 0 are told by one line" {
	printf 'main;a 0\nmain;b 0\n' >zero.folded
	for what in stat 'stat --weight samples' stacks 'flame --folded' graph; do
		trackway $what zero.folded >out 2>err || true
		[ "$(wc -l <err)" = 1 ] || fail "$what: $(cat err)"
		grep -q 'there is nothing to count' err || fail "$what: $(cat err)"
	done
}

@test "folded: two counts are before and after, for diff and flame; other commands take those after and say so" {
	printf 'main;parse 10 12\nmain;walk 5 0\nmain;new 0 7\n' >two.folded
	trackway diff --json two.folded >out 2>err
	"$PYTHON" - out <<-'END'
		import json, sys
		rows = {row["name"]: (row["status"], row["self_a"], row["self_b"]) for row in map(json.loads, open(sys.argv[1]))}
		assert {name: row for name, row in rows.items() if name != "main"} == {
		    "parse": ("both", 10, 12), "walk": ("only-a", 5, 0), "new": ("only-b", 0, 7)}, rows
	END
	if grep -q two-counts err; then fail "$(cat err)"; fi
	trackway flame two.folded -o picture.svg 2>err
	[ ! -s err ] || fail "$(cat err)"
	trackway diff two.folded -o diff.svg
	sed 's/<title>[^<]*//; s/two.folded//' diff.svg >expected
	sed 's/<title>[^<]*//; s/two.folded//' picture.svg | cmp - expected
	trackway flame --folded two.folded | LC_ALL=C sort | diff - <(LC_ALL=C sort two.folded)
	trackway stat --json two.folded >out 2>err
	[ "$(grep -c '"name":"parse".*"self":12,' out)" = 1 ] || fail "$(cat out)"
	[ "$(grep -c folded.two-counts err)" = 1 ] || fail "$(cat err)"
	trackway dump --json two.folded | head -1 | grep -q '"stack":"main;parse","before":10,"after":12' || fail "$(trackway dump --json two.folded)"
	# One line without: then they are frames that end in numbers.
	printf 'main;worker 1 10\nmain;idle 12\n' >one.folded
	trackway stat --json one.folded | grep -q '"name":"worker 1".*"self":10,'
	run trackway diff one.folded
	[ "$status" = 2 ]
	[[ "$output" == *"diff wants A B"* ]] || fail "$output"
}
