# sql.bats - questions in SQL: forms, ready queries, databases, the prompt, the extension, and what goes wrong.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

one() { # what a query answers, without the names of the columns
	trackway sql --csv "$@" | tail -n +2
}

@test "sql: the sums are those of stat, in every format" {
	for file in "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" "$DATA/xray/basic-v3.xray" \
		"$DATA/chrome/phases.json"; do
		trackway stat --json "$file" >stat
		trackway sql --json "$file" "select name, count(*) as count, sum(self_dur) as self_ns, sum(end_kind = 'open') as open,
			sum(end_kind = 'unwound') as unwound from slice group by name" >sql
		"$PYTHON" - stat sql <<-'END'
			import collections, json, sys
			def sums(path):
			    total = collections.defaultdict(lambda: [0] * 4)
			    for line in open(path, encoding="utf-8"):
			        row = json.loads(line)
			        for i, key in enumerate(("count", "self_ns", "open", "unwound")):
			            total[row["name"] or ""][i] += row[key]
			    return total
			a, b = map(sums, sys.argv[1:])
			assert a and a == b, (dict(a), dict(b))
		END
	done
}

@test "sql: text is aligned, numbers on the right" {
	run trackway sql "$DATA/fxt/oneshot_all.fxt" "select name, dur, null as void from slice where depth = 0 order by ts"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "name        dur  void" ]
	[ "${lines[1]}" = "8 bytes!   4166  NULL" ]
	[ "${lines[4]}" = "step      12500  NULL" ]
}

@test "sql: CSV, JSON Lines, Markdown" {
	query="select 1 as a, 'x,\"y' as b, null as c, 2.5 as d, x'00ff' as e, 'p|q' as f"
	[ "$(trackway sql --csv "$DATA/fxt/oneshot_all.fxt" "$query")" = 'a,b,c,d,e,f
1,"x,""y",,2.5,00ff,p|q' ]
	[ "$(trackway sql --json "$DATA/fxt/oneshot_all.fxt" "$query")" = \
		'{"a":1,"b":"x,\"y","c":null,"d":2.5,"e":"00ff","f":"p|q"}' ]
	[ "$(trackway sql --markdown "$DATA/fxt/oneshot_all.fxt" "$query")" = '| a | b | c | d | e | f |
|---|---|---|---|---|---|
| 1 | x,"y |  | 2.5 | 00ff | p\|q |' ]
	run trackway sql --markdown --csv "$DATA/fxt/oneshot_all.fxt" "$query"
	[ "$status" -eq 2 ]
}

@test "sql: more rows than are held for their widths" {
	trackway sql "$DATA/fxt/oneshot_all.fxt" \
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000) select i, 'x' as x from n" >rows
	[ "$(wc -l <rows)" -eq 5001 ]
	[ "$(tail -n 1 rows)" = "5000  x" ]
}

@test "sql: statements from a file, from a pipe, and with values" {
	printf 'select count(*)\nfrom slice;\nselect 2;\n' >query.sql
	[ "$(trackway sql --csv -f query.sql "$DATA/fxt/oneshot_all.fxt" | tr '\n' ' ')" = "count(*) 4 2 2 " ]
	[ "$(trackway sql --csv "$DATA/fxt/oneshot_all.fxt" <query.sql | tr '\n' ' ')" = "count(*) 4 2 2 " ]
	[ "$(printf '.mode json\nselect 1 as a' | trackway sql "$DATA/fxt/oneshot_all.fxt")" = '{"a":1}' ]
	[ "$(one -p n=be -p d=8000 "$DATA/fxt/oneshot_all.fxt" 'select dur from slice where name = :n and dur > :d')" = 8334 ]
	run trackway sql "$DATA/fxt/oneshot_all.fxt" 'select :n'
	[ "$status" -eq 2 ]
	[[ "$output" == *"wants a value for :n: --param n=..."* ]]
}

@test "sql: dot commands" {
	printf '.tables\n' | trackway sql "$DATA/fxt/oneshot_all.fxt" | grep -q '^slice  '
	printf '.schema\n' | trackway sql "$DATA/fxt/oneshot_all.fxt" | sed -E \
		-e 's/^create table (.*) \( -- (.*)/### `\1`: \2\n\n| column | type | |\n|---|---|---|/' \
		-e 's/^\);//' \
		-e 's/^  ([a-z_]+) ([A-Z]+),? -- (.*)/| `\1` | \2 | \3 |/' \
		-e 's/^  ([a-z_]+),? -- (.*)/| `\1` | | \2 |/' >expected
	awk '/^<!-- tables -->/ { on = 1; next } /^<!-- end of tables -->/ { on = 0 } on' "$TRACKWAY_SOURCE/doc/sql.md" >found
	diff -u expected found
}
