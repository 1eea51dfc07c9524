# sql.bats - questions in SQL: forms, ready queries, databases, the prompt, the extension, and what goes wrong.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Where the extension is: beside the tool.
EXTENSION=$(dirname "$(readlink -f "$TRACKWAY")")/libtrackway_sqlite

# With sanitizers it cannot be loaded by programs that have none.
need_extension() {
	! grep -q __asan_init "$EXTENSION.so" || skip "the extension has sanitizers"
}

one() { # what a query answers, without the names of the columns
	trackway sql --csv "$@" | tail -n +2
}

@test "sql: the sums are those of stat, in every format" {
	PYTHONPATH=$TRACKWAY_SOURCE/tests/truth "$PYTHON" -c \
		'import fxt_odd, sys; sys.stdout.buffer.write(fxt_odd.unfinished(True))' >unfinished.fxt
	for file in "$DATA/fxt/oneshot_all.fxt" "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" "$DATA/xray/basic-v3.xray" \
		"$DATA/chrome/phases.json" unfinished.fxt; do
		trackway stat --json "$file" >stat
		for name in name "+name"; do # gathered while the file is read, or by SQLite
			trackway sql --json "$file" "select name, count(*) as count, sum(self_dur) as self_ns,
				sum(end_kind = 'open') as open, sum(end_kind = 'unwound') as unwound from slice group by $name" >"sql.$name"
		done
		"$PYTHON" - stat sql.name sql.+name <<-'END'
			import collections, json, sys
			def sums(path):
			    total = collections.defaultdict(lambda: [0] * 4)
			    for line in open(path, encoding="utf-8"):
			        row = json.loads(line)
			        for i, key in enumerate(("count", "self_ns", "open", "unwound")):
			            total[row["name"] or ""][i] += row[key]
			    return total
			a, b, c = map(sums, sys.argv[1:])
			assert a and a == b == c, (dict(a), dict(b), dict(c))
		END
	done
}

@test "sql, diff: operations and flows without a name are told apart by category and id, whatever numbers these are" {
	for category in 1 2 3 4 5 6; do
		for id in 1 2 3 4 5 6; do
			n=$((10 * category + id))
			for phases in be sf; do
				for at in "${phases:0:1} $n" "${phases:1} $((1000 + 2 * n))"; do
					printf '{"ph":"%s","ts":%s,"cat":"c%s","id":%s,"pid":1,"tid":1}\n' $at $category $id
				done
			done
		done
	done >unnamed.json
	[ "$(one unnamed.json "select count(*), sum(dur = ts + 1011000) from async_slice")" = 36,36 ]
	[ "$(one unnamed.json "select count(*), sum(ts - ts_out = ts_out + 1011000) from flow")" = 36,36 ]
	trackway diff --of async --json unnamed.json unnamed.json |
		sed 's/.*"category":"\(c.\)".*"total_ns_a":\([0-9]*\),.*/\1 \2/' | sort >totals
	printf 'c%s %s000\n' 1 6081 2 6141 3 6201 4 6261 5 6321 6 6381 | diff - totals
}

@test "sql: text is aligned, numbers on the right" {
	run trackway sql "$DATA/fxt/oneshot_all.fxt" "select name, dur, null as void from slice where depth = 0 order by ts"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "name        dur  void" ]
	[ "${lines[1]}" = "8 bytes!   4166  NULL" ]
	[ "${lines[4]}" = "step      12500  NULL" ]
	[ "$(trackway sql "$DATA/fxt/oneshot_all.fxt" "select x'00ff' as a, x'' as b, char(27) || 'x' as c" | tail -n 1)" = '00ff     \x1bx' ]
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

# As Python's strict reading of pairs sees it: a join has columns of one name, and an object must not lose one.
@test "sql: columns of one name are all in JSON Lines" {
	trackway sql --json "$DATA/fxt/oneshot_all.fxt" 'select 1 as a, 2 as a, 3 as "a 2", 4 as a, 5 as b' >out
	[ "$(cat out)" = '{"a":1,"a 3":2,"a 2":3,"a 4":4,"b":5}' ] || fail "$(cat out)"
	# As many as SQLite takes, at once.
	timeout 4 trackway sql --json "$DATA/fxt/oneshot_all.fxt" "select $(yes '1 as a' | head -n 1999 | tr '\n' ,) 7 as a" >out
	[[ "$(cat out)" == '{"a":1,"a 2":1,'*',"a 1999":1,"a 2000":7}' ]] || fail "$(tail -c 100 out)"
	trackway sql --json "$DATA/fxt/oneshot_all.fxt" 'select * from slice join thread using (utid) limit 1' >out
	"$PYTHON" - out <<-'END'
		import json, sys
		names = [name for name, _ in json.load(open(sys.argv[1]), object_pairs_hook=lambda pairs: pairs)]
		assert len(set(names)) == len(names) and names.count("name") == names.count("name 2") == 1, names
	END
}

# Digits: the shortest that IEEE 754 doubles need, as Python writes them.
@test "sql: CSV and Markdown have every digit of a number" {
	local text="$DATA/fxt/oneshot_all.fxt" query='select 1234567890123456.5 as a, 0.1 + 0.2 as b, 2.5 as c, 1e999 as d'
	trackway sql --csv "$text" "$query" | diff - <(printf '%s\n' a,b,c,d 1234567890123456.5,0.30000000000000004,2.5,Inf)
	trackway sql --markdown "$text" "$query" | grep -Fx '| 1234567890123456.5 | 0.30000000000000004 | 2.5 | Inf |'
	trackway sql --json "$text" "$query" | grep -Fx '{"a":1234567890123456.5,"b":0.30000000000000004,"c":2.5,"d":null}'
}

@test "sql: display_value has every digit of a number" {
	local number
	for number in 1234567890123456.5 0.30000000000000004 2.5 -1e+300 3; do
		printf '[{"ph":"i","pid":1,"tid":2,"ts":1,"name":"a","args":{"x":%s}}]' "${number/%3/3.0}" >in.json
		trackway sql --csv in.json 'select display_value from args' | diff - <(printf '%s\n' display_value "$number")
	done
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
	[ "$(one "$DATA/fxt/oneshot_all.fxt" 'select typeof(@n), :a, :b, :c, typeof(:a), typeof(:b), typeof(:c), typeof(:d)' \
		-p a=18446744073709551615 -p b=-9223372036854775808 -p c=0.5 -p d=nan)" = \
		"null,-1,-9223372036854775808,0.5,integer,integer,real,text" ]
}

@test "sql: a statement of many lines is read once, and what only looks like an end is none" {
	awk 'BEGIN { print "select count(*) from (values"; for (i = 1; i < 200000; i++) print "(" i "),"; print "(0)); select 2;" }' >long.sql
	[ "$(timeout 60 trackway sql --csv "$DATA/fxt/oneshot_all.fxt" <long.sql | tr '\n' ' ')" = "count(*) 200000 2 2 " ]
	said() { printf '%s\n' "$1" | trackway sql --csv "$DATA/fxt/oneshot_all.fxt" | tail -n +2; }
	[ "$(said $'select 1; /* x;\ny */')" = 1 ]
	[ "$(said $'select 1 -- ;\n+ 1 as a;')" = 2 ]
	[ "$(said $'select \';\n;\' as a;')" = $'";\n;"' ]
	for way in '' '-f nul.sql'; do
		printf 'select 1;\0select 2;\n' >nul.sql
		run trackway sql $way "$DATA/fxt/oneshot_all.fxt" <nul.sql
		[ "$status" -eq 2 ]
		[[ "$output" == *": a zero byte is no part of a statement" ]]
	done
}

@test "sql: a trace from standard input, as a pipe and as a file" {
	query='select count(*), count(distinct p.id) from slice s left join slice p on p.id = s.parent_id'
	expected=$(one "$DATA/fxt/streaming.fxt" "$query")
	[ "$(cat "$DATA/fxt/streaming.fxt" | one - "$query")" = "$expected" ]
	[ "$(one - "$query" <"$DATA/fxt/streaming.fxt")" = "$expected" ]
	cat "$DATA/fxt/streaming.fxt" | trackway sql - "$DATA/fxt/streaming.fxt" -o both.db
	[ "$(sqlite3 both.db 'select count(distinct file), count(*) from trace')" = '2|2' ]
	refused() { # what is said, then arguments
		run trackway sql "${@:2}" <"$DATA/fxt/streaming.fxt"
		[ "$status" -eq 2 ]
		[[ "${lines[0]}" == *"$1"* ]]
	}
	refused 'cannot be statements, too' -
	refused 'cannot be statements, too' -f - -
	refused 'no place for an index' --index - 'select 1'
}

@test "sql: standard input that comes late, and that cannot be kept" {
	one "$DATA/fxt/streaming.fxt" "select count(*), sum(dur) from slice" >whole
	"$PYTHON" -c 'if True:
		import os, subprocess, sys, time
		end, begin = os.pipe()
		os.set_blocking(end, False)
		child = subprocess.Popen(["trackway", "sql", "--csv", "-", "select count(*), sum(dur) from slice"], stdin=end)
		os.close(end)
		time.sleep(0.2) # meanwhile there is nothing to read
		with open(begin, "wb") as pipe:
		    pipe.write(open(sys.argv[1], "rb").read())
		sys.exit(child.wait())' "$DATA/fxt/streaming.fxt" | tail -n +2 | cmp - whole
	cat "$DATA/fxt/streaming.fxt" | TMPDIR=/nonexistent trackway sql - "select 1" 2>err || [ $? = 2 ]
	[ "$(cat err)" = "trackway: error: <stdin>: no temporary file can be made in /nonexistent: No such file or directory" ]
}

@test "sql: what a small limit has no room for, where every file must have a name" {
	query="select name, count(*), sum(ts), sum(dur) from slice group by name"
	one "$DATA/fxt/streaming.fxt" "$query" >whole
	need_names
	mkdir folder
	TMPDIR=$PWD/folder one --memory 256K "$DATA/fxt/streaming.fxt" "$query" | cmp - whole
	[ -z "$(ls folder)" ]
}

@test "sql: dot commands" {
	printf '.tables\n' | trackway sql "$DATA/fxt/oneshot_all.fxt" | grep -q '^slice  '
	trackway sql "$DATA/fxt/oneshot_all.fxt" .tables >listed
	printf '.tables\n' | trackway sql "$DATA/fxt/oneshot_all.fxt" | diff - listed
	trackway sql "$DATA/fxt/oneshot_all.fxt" '.schema thread_track' | grep -q '^create table thread_track '
	trackway sql --csv "$DATA/fxt/oneshot_all.fxt" '.query longest-slices' | diff - <(trackway sql --csv -q longest-slices "$DATA/fxt/oneshot_all.fxt")
	run trackway sql "$DATA/fxt/oneshot_all.fxt" '.schema nothing'
	[ "$status" = 2 ]
	[ "$output" = 'trackway: error: there is no table nothing' ]
	run trackway sql "$DATA/fxt/oneshot_all.fxt" .table
	[ "$status" = 2 ]
	[[ "$output" == *'.table: No such file or directory' ]]
	printf '.schema\n' | trackway sql "$DATA/fxt/oneshot_all.fxt" | sed -E \
		-e 's/^create table (.*) \( -- (.*)/### `\1`: \2\n\n| column | type | |\n|---|---|---|/' \
		-e 's/^\);//' \
		-e 's/^  ([a-z_]+) ([A-Z]+),? -- (.*)/| `\1` | \2 | \3 |/' \
		-e 's/^  ([a-z_]+),? -- (.*)/| `\1` | | \2 |/' \
		-e 's/^create view (.*) as -- (.*)/### `\1`, a view: \2\n/' \
		-e '/ -- /!s/^  (.*)/    \1/' \
		-e 's/^(    .*);$/\1\n/' >expected
	awk '/^<!-- tables -->/ { on = 1; next } /^<!-- end of tables -->/ { on = 0 } on' "$TRACKWAY_SOURCE/doc/sql.md" >found
	diff -u expected found
}

@test "sql: a prompt with lines that are edited, history, Ctrl-C and Ctrl-D" {
	export HOME="$PWD" XDG_STATE_HOME="$PWD/state" TERM=xterm
	timeout 120 "$PYTHON" "$TRACKWAY_SOURCE/tests/cli/prompt.py" "$DATA/fxt/oneshot_all.fxt"
	grep -q 'select' state/trackway/sql_history
}

@test "sql -o: a plain database with indexes, the same rows" {
	need_extension
	for file in "$DATA/fxt/streaming.fxt" "$DATA/xray/v5.xray" "$DATA/chrome/phases.json" "$DATA/tracelog/d1.log"; do
		trackway sql "$file" -o out.db 2>err || [ $? = 1 ]
		[ "$(sqlite3 out.db 'pragma integrity_check')" = ok ]
		"$PYTHON" - "$EXTENSION" "$file" <<-'END'
			import sqlite3, sys
			saved, live = sqlite3.connect("out.db"), sqlite3.connect(":memory:")
			live.enable_load_extension(True)
			live.load_extension(sys.argv[1])
			live.execute("select trackway_open(?)", [sys.argv[2]])
			tables = [row[0] for row in saved.execute("select name from sqlite_master where type = 'table'")]
			assert {"slice", "thread", "args", "finding"} <= set(tables), tables
			for table in tables:
			    named, there = ([row[1] for row in db.execute(f"pragma table_xinfo({table})")] for db in (saved, live))
			    assert named == there, (table, named, there)
			    columns = ", ".join(f'"{name}"' for name in named)
			    a, b = (sorted(map(repr, db.execute(f"select {columns} from {table}"))) for db in (saved, live))
			    assert a == b, (sys.argv[2], table, a, b)
		END
	done
	sqlite3 out.db "explain query plan select * from slice join thread using (utid) where ts between 1 and 2" >plan
	grep -q 'SEARCH slice USING INDEX slice__ts' plan
	grep -q 'SEARCH thread USING INDEX thread__utid' plan
	[ "$(ls)" = "$(printf '%s\n' err out.db plan)" ]
}

@test "sql -o: a database that cannot be written leaves nothing, and what was there stays" {
	echo old >out.db
	(
		ulimit -f 8
		trap '' XFSZ
		run trackway sql "$DATA/fxt/oneshot_all.fxt" -o out.db
		[ "$status" -eq 2 ]
		[[ "$output" == *"error: out.db: "* ]]
	)
	[ "$(cat out.db)" = old ]
	[ "$(ls)" = out.db ]
	run trackway sql "$DATA/fxt/oneshot_all.fxt" -o missing/out.db
	[ "$status" -eq 2 ]
	[[ "$output" == *"missing/out.db: cannot write: No such file or directory"* ]]
	# What is replaced keeps its permissions. What is no file is not replaced.
	chmod 640 out.db
	trackway sql "$DATA/fxt/oneshot_all.fxt" -o out.db
	[ "$(stat -c %a out.db) $(sqlite3 out.db 'select count(*) from trace')" = "640 1" ]
	mkfifo pipe.db
	run trackway sql "$DATA/fxt/oneshot_all.fxt" -o pipe.db
	[ "$status" -eq 2 ]
	[[ "$output" == *"pipe.db: cannot write: Operation not supported"* ]]
	[ -p pipe.db ]
}

@test "sql: the extension in SQLite's shell and in Python" {
	need_extension
	[ "$(sqlite3 -cmd ".load $EXTENSION" :memory: "select trackway_open('$DATA/fxt/oneshot_all.fxt')" \
		"select name, dur from slice order by ts" "create virtual table t using trackway('$DATA/fxt/streaming.fxt', 'thread')" \
		"select count(*) > 0 from t" | tr '\n' ' ')" = "1 8 bytes!|4166 scope|4167 be|8334 step|12500 1 " ]
	run sqlite3 -cmd ".load $EXTENSION" :memory: "select trackway_open('missing.fxt')"
	[[ "$output" == *"missing.fxt: No such file or directory"* ]]
	run sqlite3 -cmd ".load $EXTENSION" :memory: "select fts3_tokenizer('simple', x'4141414141414141')"
	[[ "$output" == *"fts3tokenize disabled"* ]]
	run sqlite3 -cmd ".load $EXTENSION" :memory: "pragma writable_schema = 1; delete from sqlite_master"
	[[ "$output" == *"table sqlite_master may not be modified"* ]]
	"$PYTHON" - "$EXTENSION" "$DATA/fxt/oneshot_all.fxt" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(":memory:")
		db.enable_load_extension(True)
		db.load_extension(sys.argv[1])
		assert db.execute("select trackway_open(?)", [sys.argv[2]]).fetchall() == [(1,)]
		rows = db.execute("select name, dur from slice where dur > ? order by ts", [5000]).fetchall()
		assert rows == [("be", 8334), ("step", 12500)], rows
		try:
		    db.execute("select trackway_open('missing.fxt')").fetchall()
		    raise SystemExit("opened")
		except sqlite3.Error as error:
		    assert "missing.fxt" in str(error)
	END
}

# Python keeps statements that were prepared for one file.
@test "sql: the extension, when another file is opened" {
	need_extension
	"$PYTHON" - "$EXTENSION" "$DATA/fxt/streaming.fxt" "$DATA/chrome/phases.json" <<-'END'
		import sqlite3, sys
		def connect(*files):
		    db = sqlite3.connect(":memory:")
		    db.enable_load_extension(True)
		    db.load_extension(sys.argv[1])
		    for file in files:
		        db.execute("select trackway_open(?)", [file]).fetchall()
		    return db
		first, second = sys.argv[2:]
		queries = ["select name, min(ts), max(utid), count(*), min(file) from slice group by name", "select ts from slice order by ts",
		           "select name, sum(dur) from slice group by name", "select s.id, t.name from slice s join thread t using (utid) order by 1"]
		db, fresh = connect(first), connect(first, second)
		before = [db.execute(query).fetchall() for query in queries]
		db.execute("select trackway_open(?)", [second]).fetchall()
		for query, alone in zip(queries, before):
		    found = db.execute(query).fetchall()
		    assert found == fresh.execute(query).fetchall() != alone, query
		rows = fresh.execute("select name from slice")
		rows.fetchone()
		try:
		    fresh.execute("select trackway_open(?)", [first]).fetchall()
		    raise SystemExit("opened under a statement")
		except sqlite3.Error as error:
		    assert "a statement is reading" in str(error)
		rows.fetchall()
		assert fresh.execute("select trackway_open(?)", [first]).fetchall() == [(3,)]
	END
}

# Two threads, slices inside slices, gaps, and flows from one to the other; what the ready queries must say is counted from the same
# numbers, without SQL.
@test "sql: every ready query" {
	"$PYTHON" - <<-'END'
		import csv, json, random, subprocess
		random.seed(7)
		events, slices = [], []
		for tid in (1, 2):
		    now = tid * 100
		    for i in range(60):
		        dur = random.randrange(100, 900)
		        inner = dur // 3
		        slices += [(tid, f"outer{i % 5}", now, dur, dur - inner, 0), (tid, "inner", now + 10, inner, inner, 1)]
		        now += dur + random.choice([0, 0, 5, 50, 500])
		for tid, name, ts, dur, own, depth in slices:
		    events.append({"ph": "X", "pid": 9, "tid": tid, "name": name, "ts": ts / 1000, "dur": dur / 1000})
		# Chains of flows: each from the middle of a slice of one thread to that of a later one of the other.
		outer = sorted((s for s in slices if s[5] == 0), key=lambda s: s[2])
		hops, at = [], outer[0]
		while True:
		    later = [s for s in outer if s[0] != at[0] and s[2] > at[2] + at[3]]
		    if not later:
		        break
		    hops.append((at, later[0]))
		    at = later[0]
		for i, (a, b) in enumerate(hops):
		    events.append({"ph": "s", "id": i, "pid": 9, "tid": a[0], "name": "hop", "cat": "f", "ts": (a[2] + a[3] - 1) / 1000})
		    events.append({"ph": "f", "bp": "e", "id": i, "pid": 9, "tid": b[0], "name": "hop", "cat": "f", "ts": (b[2] + 1) / 1000})
		events.sort(key=lambda e: e["ts"])
		json.dump(events, open("t.json", "w"))
		start = min(s[2] for s in slices)
		def ask(name, *more):
		    out = subprocess.run(["trackway", "sql", "--csv", "-q", name, *more, "t.json"], check=True, capture_output=True, text=True)
		    return list(csv.DictReader(out.stdout.splitlines()))
		def same(found, expected):
		    assert found == expected, (found, expected)

		names = sorted({s[1] for s in slices})
		rows = [(n, [s for s in slices if s[1] == n]) for n in names]
		rows = [(n, len(g), sum(s[3] for s in g), sum(s[4] for s in g), min(s[3] for s in g), max(s[3] for s in g), 0) for n, g in rows]
		rows.sort(key=lambda r: (-r[3], r[0]))
		same([tuple(r.values()) for r in ask("top-functions")], [tuple(map(str, r)) for r in rows])

		longest = sorted((s[3] for s in slices), reverse=True)[:30]
		same([int(r["dur_ns"]) for r in ask("longest-slices")], longest)
		by_place = {(s[2] - start, s[0]): s for s in slices if s[5] == 0}
		for r in ask("longest-slices"):
		    s = by_place[int(r["ts"]), int(r["tid"])]
		    same((r["name"], int(r["dur_ns"])), (s[1], s[3]))

		for tid in (1, 2):
		    mine = sorted((s for s in slices if s[0] == tid and s[5] == 0), key=lambda s: s[2])
		    gaps = [(b[2] - a[2] - a[3], a[2] + a[3] - start, a[1], b[1]) for a, b in zip(mine, mine[1:])]
		    gaps = sorted((g for g in gaps if g[0] > 0), key=lambda g: (-g[0], g[1]))[:30]
		    assert gaps
		    same([tuple(r.values())[:4] for r in ask("thread-gaps", "-p", f"tid={tid}")], [tuple(map(str, g)) for g in gaps])

		begins = sorted((s[2], s[1]) for s in slices)
		waits = []
		for ts, name in begins:
		    later = [t for t, n in begins if n == "outer3" and t >= ts]
		    if name == "outer1" and later:
		        waits.append(later[0] - ts)
		(row,) = ask("latency", "-p", "from=outer1", "-p", "to=outer3")
		same((int(row["pairs"]), int(row["min_ns"]), int(row["max_ns"])), (len(waits), min(waits), max(waits)))
		assert abs(float(row["mean_ns"]) - sum(waits) / len(waits)) < 1e-6

		end = max(s[2] + s[3] for s in slices)
		open_at = {}
		edges = sorted({e for s in slices for e in (s[2], s[2] + s[3])})
		for a, b in zip(edges, edges[1:]):
		    n = sum(s[2] <= a < s[2] + s[3] for s in slices if s[5] == 0)
		    open_at[n] = open_at.get(n, 0) + b - a
		same([(int(r["threads"]), int(r["ns"])) for r in ask("concurrency")], sorted(open_at.items()))

		path = [(str(a[2] + a[3] - 1 - start), str(b[2] + 1 - a[2] - a[3] + 1), "hop", a[1], b[1]) for a, b in hops]
		assert len(path) > 3
		same([tuple(r.values())[:5] for r in ask("critical-path")], path)
	END
	# At the same time, whatever kinds of events they are; and of one name, always to the next.
	echo '[{"ph":"X","pid":1,"tid":1,"name":"b","ts":5,"dur":1},{"ph":"i","pid":1,"tid":2,"name":"a","ts":5},
		{"ph":"i","pid":1,"tid":2,"name":"a","ts":8},{"ph":"X","pid":1,"tid":1,"name":"b","ts":9,"dur":1}]' >ties.json
	[ "$(one -q latency -p from=a -p to=b ties.json)" = "2,0,500.0,1000" ]
	[ "$(one -q latency -p from=b -p to=a ties.json)" = "1,0,0.0,0" ]
	[ "$(one -q latency -p from=a -p to=a ties.json)" = "1,3000,3000.0,3000" ]
	# Threads of one number in several processes: all of them, those of a process by its number or name, or one by utid.
	echo '[{"ph":"M","pid":1,"name":"process_name","args":{"name":"one"}},{"ph":"M","pid":2,"name":"process_name","args":{"name":"two"}},
		{"ph":"X","pid":1,"tid":7,"name":"a","ts":0,"dur":1},{"ph":"X","pid":1,"tid":7,"name":"b","ts":3,"dur":1},
		{"ph":"X","pid":2,"tid":7,"name":"c","ts":1,"dur":1},{"ph":"X","pid":2,"tid":7,"name":"d","ts":9,"dur":1},
		{"ph":"X","pid":2,"tid":8,"name":"e","ts":1,"dur":1},{"ph":"X","pid":2,"tid":8,"name":"f","ts":7,"dur":1}]' >threads.json
	gaps() { one -q thread-gaps "$@" threads.json | cut -d, -f1,3,4 | tr '\n' ' '; }
	[ "$(gaps)" = "7000,c,d 5000,e,f 2000,a,b " ]
	[ "$(gaps -p tid=7)" = "7000,c,d 2000,a,b " ]
	[ "$(gaps -p tid=7 -p process=one)" = "2000,a,b " ]
	[ "$(gaps -p process=2)" = "7000,c,d 5000,e,f " ]
	[ "$(gaps -p utid="$(one threads.json "select utid from slice where name = 'e'")")" = "5000,e,f " ]
	[ "$(trackway sql --queries | awk '{ print $1 }' | LC_ALL=C sort)" = \
		"$(cd "$TRACKWAY_SOURCE/share/trackway/queries" && LC_ALL=C ls | sed 's/\.sql$//')" ]
}

@test "sql: what is wrong is told with its place, and leaves nothing half written" {
	wrong() { # what is said, then arguments
		local said=$1
		shift
		run trackway sql "$DATA/fxt/oneshot_all.fxt" "$@"
		[ "$status" -eq 2 ] || fail "status $status"
		[[ "$output" == *"$said"* ]] || fail "$output"
	}
	wrong 'query:1:8: no such column: nope' 'select nope'
	wrong 'query:2:6: near "slice": syntax error' $'select 1\nform slice'
	wrong 'query:1:1: no such table: slicez' 'select * from slicez'
	wrong 'incomplete input' 'select * from'
	wrong 'wants a value for :x' 'select :x'
	wrong 'query has no parameter y' 'select :x' -p x=1 -p y=2
	wrong 'query has no parameter x' 'select :xy' -p x=1 -p xy=2
	wrong '--param x was given twice' 'select :x' -p x=1 -p x=2
	wrong 'thread-gaps has no parameter tdi' -q thread-gaps -p tdi=1
	wrong '--param wants NAME=VALUE, not x' 'select :x' -p x
	wrong 'query:1:18: no such column: nope' --csv -o out.csv 'select 1; select nope'
	wrong "there is no query top-function; did you mean top-functions?" -q top-function
	printf 'select 1;\nselect\n  nope;\n' >q.sql
	wrong 'q.sql:3:3: no such column: nope' -f q.sql
	[ "$(ls)" = q.sql ]
}

@test "sql: a full disk and a reader that goes away" {
	run bash -c 'trackway sql "$DATA/fxt/oneshot_all.fxt" "select * from slice" >/dev/full'
	[ "$status" -eq 2 ]
	[[ "$output" == *"standard output: cannot write: No space left on device"* ]]
	trackway sql "$DATA/fxt/oneshot_all.fxt" \
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) select i from n" 2>err | head -n 1 >out
	[ "${PIPESTATUS[0]}" -ne 0 ]
	[ ! -s err ]
}

@test "sql: a file that changes between two statements" {
	"$PYTHON" - "$DATA/fxt/oneshot_all.fxt" <<-'END'
		import os, shutil, subprocess, sys
		for change in ("longer", "another"):
		    shutil.copy(sys.argv[1], "t.fxt")
		    run = subprocess.Popen(["trackway", "sql", "--csv", "t.fxt", "-o", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
		                           stderr=subprocess.PIPE, text=True, bufsize=1)
		    run.stdin.write("select count(*) from slice;\n")
		    run.stdin.flush()
		    # Its answer may still be held back; that the file has been opened is seen from outside.
		    import time
		    time.sleep(1)
		    if change == "longer":
		        with open("t.fxt", "ab") as file:
		            file.write(bytes(8))
		    else:
		        os.rename("t.fxt", "old.fxt")
		        shutil.copy(sys.argv[1], "t.fxt")
		    out, err = run.communicate("select count(*) from slice;\n")
		    assert run.returncode == 2, (change, run.returncode, out, err)
		    assert "t.fxt: " in err and "changed" in err, (change, err)
	END
}

@test "sql: a name that is not there is told with one that is" {
	told() { # statement, what is told behind the place
		run trackway sql "$DATA/fxt/oneshot_all.fxt" "$1"
		[ "$status" = 2 ]
		[ "${output#trackway: error: query:1:*: }" = "$2" ] || fail "$output"
	}
	told 'select * from slicee' 'no such table: slicee; did you mean slice?'
	told 'select s.nmae from slice s' 'no such column: s.nmae; did you mean name?'
	told 'select * from thread_slices' 'no such table: thread_slices; did you mean thread_slice?'
	told 'select * from thread_counter_track' 'no such table: thread_counter_track; here that is counter_track'
	told 'select cat from slice' 'no such column: cat; here that is category'
	told 'select rel_pc from slice' 'no such column: rel_pc'
	told 'select "über" from zebra_crossing' 'no such table: zebra_crossing'
	told 'select nothing_like_it(1)' 'no such function: nothing_like_it'
}

@test "sql --index: one of another file is not used, and made anew" {
	cp "$DATA/fxt/oneshot_all.fxt" t.fxt
	query='select count(*) from slice where ts between 0 and 1000000'
	expected=$(one --index t.fxt "$query")
	[ -s t.fxt.twindex ]
	cp t.fxt.twindex first
	[ "$(one --index t.fxt "$query" 2>err)" = "$expected" ]
	[ ! -s err ]
	cp "$DATA/fxt/streaming.fxt" t.fxt
	other=$(one "$DATA/fxt/streaming.fxt" "$query")
	[ "$(one --index t.fxt "$query" 2>err)" = "$other" ]
	grep -q 't.fxt.twindex: not used: ' err
	[ "$(one --index t.fxt "$query" 2>err)" = "$other" ]
	[ ! -s err ]
	fails cmp -s first t.fxt.twindex
	mkdir readonly
	cp "$DATA/fxt/oneshot_all.fxt" readonly/t.fxt
	head -c 100 first >readonly/t.fxt.twindex
	[ "$(one --index readonly/t.fxt "$query" 2>err)" = "$expected" ]
	grep -q 'readonly/t.fxt.twindex: not used: ' err
	mkdir -p kept/t.fxt.twindex
	cp "$DATA/fxt/oneshot_all.fxt" kept/t.fxt
	[ "$(one --index kept/t.fxt "$query" 2>err)" = "$expected" ]
	grep -q 'kept/t.fxt.twindex: not kept: ' err
	rmdir kept/t.fxt.twindex
	mkfifo kept/t.fxt.twindex
	[ "$(timeout 20 trackway sql --csv --index kept/t.fxt "$query" 2>err | tail -n 1)" = "$expected" ]
	grep -q 'kept/t.fxt.twindex: not kept: it is no regular file' err
}

# Statements may have been written by somebody else than who runs them.
@test "sql: statements read, and make what is temporary, and nothing else" {
	cp "$DATA/fxt/oneshot_all.fxt" t.fxt
	ls -A >before
	cksum t.fxt >sum
	while IFS= read -r statement; do
		run trackway sql t.fxt "$statement"
		[ "$status" = 2 ] || fail "$statement: $status $output"
		[[ "$output" =~ 'not authorized'|'authorization denied'|'may not be'|'no such function' ]] || fail "$output"
	done <<-'END'
		attach 'new.db' as x
		attach 'file:new.db?mode=rwc' as x
		attach 't.fxt' as x
		vacuum into 'new.db'
		 vacuum
		create table x(a)
		create index main.x on slice(name)
		create view main.x as select 1
		create virtual table x using fts3(a)
		create virtual table x using fts5(a)
		create virtual table x using rtree(a, b, c)
		select load_extension('./new.so')
		select fts3_tokenizer('simple')
		select fts3_tokenizer('simple', x'4141414141414141')
		select writefile('new', 'x')
		select readfile('t.fxt')
		pragma writable_schema = 1
		pragma temp_store_directory = '.'
		pragma journal_mode = wal
		pragma trusted_schema = 1
		pragma hard_heap_limit = 1000000000
		select * from pragma_journal_mode
		insert into slice(name) values ('x')
		update slice set name = 'x'
		delete from slice
		delete from sqlite_temp_master
		detach main
		 analyze
	END
	[ "$(ls -A | sort)" = "$( (cat before; echo sum) | sort)" ]
	cksum t.fxt | cmp - sum
	[ "$(one t.fxt "create temp table x as select name from slice; create index temp.y on x(name); insert into x values
		('more'); create temp view z as select count(*) from x; select * from z")" = 5 ]
	[ "$(one t.fxt "create virtual table x using trackway('t.fxt'); select count(*) from x")" = 4 ]
	trackway sql t.fxt "create virtual table x using trackway('t.fxt'); drop table x; select 1 from pragma_table_info('slice')"
	trackway sql t.fxt 'begin; savepoint a; release a; commit; with recursive r(x) as (select 1 union all select x + 1
		from r limit 9) select * from r'
}

@test "sql: what a query sorts and keeps takes no more of the disk than 16 times --memory" {
	rows="with recursive r(x) as (select zeroblob(100000) union all select x from r"
	for statement in "$rows) select x from r order by x" "create temp table t as $rows) select x from r"; do
		status=0
		timeout 60 trackway sql --memory 1M "$DATA/fxt/oneshot_all.fxt" "$statement" >out 2>err || status=$?
		[ "$status" = 2 ] || fail "$status $(<err)"
		[[ "$(<err)" == *": database or disk is full: temporary files may take 16 times the memory limit" ]] || fail "$(<err)"
	done
	# Two thirds of that are fine, again and again.
	sorted="select sum(length(x)) from ($rows limit 100) select x from r order by x limit 100)"
	[ "$(trackway sql --memory 1M "$DATA/fxt/oneshot_all.fxt" "$sorted; $sorted; $sorted" | grep -c 10000000)" = 3 ]
}

@test "sql: --memory is the limit of what SQLite takes, too" {
	run trackway sql --memory 8M "$DATA/fxt/oneshot_all.fxt" 'select length(randomblob(9000000))'
	[ "$status" = 2 ]
	[ "$output" = 'trackway: error: query:1:1: out of memory: --memory is reached' ]
	[ "$(one --memory 16M "$DATA/fxt/oneshot_all.fxt" 'select length(randomblob(9000000))')" = 9000000 ]
	[ "$(one --memory 64K "$DATA/fxt/oneshot_all.fxt" 'select count(*) from thread_slice')" = 4 ]
}

# The name of an index may have been given to something else.
@test "sql --index: nothing is replaced that is no index, and nothing is written through a link" {
	cp "$DATA/fxt/oneshot_all.fxt" t.fxt
	query='select count(*) from slice where ts between 0 and 1000000'
	expected=$(one t.fxt "$query")
	refused() { # why
		[ "$(one --index t.fxt "$query" 2>err)" = "$expected" ]
		grep -qxF "trackway: t.fxt.twindex: not kept: $1" err || fail "$(<err)"
	}
	for precious in 'precious' 'TWINDEX' ''; do
		printf '%s' "$precious" >t.fxt.twindex
		refused 'what has that name is no index, and stays'
		[ "$(<t.fxt.twindex)" = "$precious" ]
	done
	rm t.fxt.twindex
	echo precious >target
	ln -s target t.fxt.twindex
	refused 'it is a symbolic link'
	[ "$(<target)" = precious ]
	ln -sf nowhere t.fxt.twindex
	refused 'it is a symbolic link'
	[ ! -e nowhere ]
	rm t.fxt.twindex
	one --index t.fxt "$query" >/dev/null
	mv t.fxt.twindex target
	ln -s target t.fxt.twindex
	refused 'it is a symbolic link'
	grep -qxF 'trackway: t.fxt.twindex: not used: it is a symbolic link' err
	rm t.fxt.twindex
	chmod 777 .
	refused 'other users may change its directory'
	chmod 755 .
	[ "$(id -u)" = 0 ] || return 0
	chown 65534 .
	refused "its directory is another user's"
	cp target t.fxt.twindex
	chown 65534 t.fxt.twindex
	chown 0 .
	refused "it is another user's"
	chown 65534 t.fxt # whose trace it is may tell of it
	[ "$(one --index t.fxt "$query" 2>err)" = "$expected" ]
	[ ! -s err ] || fail "$(<err)"
}

# A pass over the file for each row of the outer table would take a thousand times as long.
@test "sql: joins by ids read a table once, and have the rows that SQLite has of its own tables" {
	"$PYTHON" - <<-'END'
		import json, random
		random.seed(3)
		events, now = [], 0
		for i in range(20000):
		    now += 100
		    event = {"ph": "X", "pid": 1, "tid": i % 4, "name": f"f{i % 7}", "ts": now, "dur": random.choice([50, 90, 5000])}
		    if i % 3 == 0:
		        event["args"] = {"n": i, "t": f"text {i}"}
		    events.append(event)
		json.dump(events[:1500], open("t.json", "w"))
		json.dump(events, open("large.json", "w"))
	END
	cat >queries <<-'END'
		select a.id, b.id, b.name from slice a join slice b on b.parent_id = a.id where a.name = 'f3'
		select a.id, b.id, b.name from slice a left join slice b on b.id = a.parent_id
		select s.id, x.key, x.int_value, x.string_value from slice s join args x using (arg_set_id)
		select s.name, t.tid, p.pid, count(*) from slice s join thread t using (utid) join process p using (upid) group by 1, 2, 3
		select a.id, b.id from slice a join slice b on b.name = a.name and b.dur = 5000000 and a.dur = 5000000 and a.id % 97 = 0
		select a.id, b.id from args a join args b on a.string_value = b.string_value
		select a.id, b.id from args a join args b on a.int_value = b.int_value + 0.0
		select a.id, b.id from args a left join args b on a.int_value = b.display_value where a.id % 500 = 0
		select a.id, b.id from args a left join args b on b.int_value = a.display_value where a.id % 500 = 0
		select a.id, b.id from slice a left join slice b on b.name = 'f' || (a.id % 20000) and b.utid = a.utid and a.id % 50 = 0
		select a.id, (select count(*) from args b where b.string_value = 'text ' || a.id) from slice a
		select s.id, count(x.id) from slice s left join args x on x.arg_set_id = s.id and x.key = 't' group by s.id
		select a.id from slice a where not exists (select 1 from slice b where b.parent_id = a.id) and a.ts < 300000000
		select a.id, b.id from slice a join slice b on b.id = a.id * 1.0 where a.ts < 100000000
		select a.id, b.id from slice a join slice b on b.id = cast(a.id as text) where a.ts < 100000000
		select a.id, b.id from slice a join slice b on b.parent_id = a.id and b.ts between a.ts and a.ts + 1000000 where a.ts < 5000000
		select a.id, b.id, b.track_id, b.utid, b.category, b.ts from slice a join slice b on b.ts between a.ts and a.ts + 200 where a.name = 'f3'
	END
	# One, and several of different formats, of which the first has no slice.
	printf '[{"ph":"i","pid":9,"tid":1,"name":"f3","ts":7,"args":{"t":"x"}}]' >none.json
	for files in t.json "none.json t.json $DATA/fxt/oneshot_all.fxt $DATA/xray/v5.xray"; do
		rm -f t.db
		trackway sql $files -o t.db 2>/dev/null || [ $? = 1 ]
		while read -r query; do
			timeout 60 trackway sql --csv $files "$query" 2>/dev/null >found || [ $? = 1 ] || fail "$query"
			sqlite3 t.db "analyze" "$query" | LC_ALL=C sort >expected
			[ "$(wc -l <expected)" -gt 0 ]
			tail -n +2 found | tr , '|' | tr -d '"' | LC_ALL=C sort | diff expected - >differ || fail "$query: $(head differ)"
		done <queries
	done
	for memory in 1M 64M; do
		timeout 60 trackway sql --memory $memory --csv large.json \
			"select count(*) from (select * from slice where name = 'f1' limit 20) a join slice b on b.parent_id = a.id" 2>err.$memory >$memory || [ $? = 1 ]
	done
	[ "$(grep -c 'sql: half of --memory has no room for the rows of slice: ' err.1M err.64M | tr '\n' ' ')" = "err.1M:1 err.64M:0 " ]
	[ "$(trackway sql --memory 1M --csv none.json large.json "select count(*) from (select * from slice limit 3) a cross join slice b on b.parent_id = a.id" \
		2>&1 >/dev/null | grep -c 'rows of slice: the files are read')" = 1 ]
	diff 1M 64M
}

# 40,000 slices, of which 0.5 % are looked for: there is room for these, but not for what is inside them and elsewhere.
@test "sql: of two tables the one is looked up for whose rows there is room" {
	"$PYTHON" - >inside.json <<-'END'
		import json
		events = []
		for i in range(10000):
		    events.append({"name": "rare" if i % 50 == 0 else "often", "ph": "X", "ts": 10 * i, "dur": 9, "pid": 1, "tid": 1})
		    events += [{"name": "in", "ph": "X", "ts": 10 * i + k, "dur": 1, "pid": 1, "tid": 1} for k in (1, 3, 5)]
		print(json.dumps(events))
	END
	for join in "slice p join slice c" "slice c join slice p"; do
		run timeout 60 trackway sql --memory 1M --csv inside.json \
			"select c.name, count(*), sum(c.dur) from $join on c.parent_id = p.id where p.name = 'rare' group by 1"
		[ "$output" = $'name,count(*),sum(c.dur)\nin,600,600000' ] || fail "$join: $output"
	done
}

@test "sql: series of counters beyond the memory limit are told, and not told when there is room" {
	"$PYTHON" - >series.json <<-'END'
		import json
		print(json.dumps([{"name": "c", "id": str(i), "ph": "C", "ts": i, "pid": 1, "tid": 1, "args": {"v": i}}
		                  for i in range(3000)]))
	END
	run trackway sql --memory 1M --csv series.json "select count(*) < 3000 from counter_track"
	[[ $output = *"counter_track lacks series of counters"* ]]
	[ "$status" = 0 ]
	[ "$(trackway sql --csv series.json "select count(*) from counter_track" 2>err)" = $'count(*)\n3000' ]
	[ ! -s err ]
	run trackway sql --index --memory 1M --csv series.json "select count(*) < 3000 from counter_track"
	[[ $output = *"counter_track lacks series of counters"* ]]
	[ "$(trackway sql --index --csv series.json "select count(*) from counter_track" 2>err)" = $'count(*)\n3000' ]
	[ ! -s err ]
}

# 11 comes to CPU 0 and leaves CPU 1: a switch is missing. 12, preempted, leaves again without having come.
@test "thread_state: what a thread did is not known where a switch is missing, as sched has it" {
	"$PYTHON" - <<-'END'
		import struct
		def switch(time, cpu, leaves, state, comes):
		    return struct.pack("<QQQQ", 8 | 4 << 4 | cpu << 20 | state << 36 | 1 << 60, time, leaves, comes)
		def write(name, *switches):
		    with open(name, "wb") as out:
		        out.write(struct.pack("<QQQ", 0x0016547846040010, 1 | 2 << 4, 10**9) + b"".join(switches))
		write("other.fxt", switch(1220, 0, 12, 3, 11), switch(1276, 1, 11, 3, 10))
		write("again.fxt", switch(1602, 0, 12, 0, 10), switch(1647, 0, 12, 3, 11), switch(1700, 0, 11, 3, 10))
	END
	local query="select tid, state, sum(s.dur) from thread_state s join thread using (utid)
		where s.dur > 0 and state in ('Running', 'R', 'R+') group by tid, state"
	[ "$(trackway sql --csv other.fxt "$query" | tail -n +2)" = "" ] || fail "$(trackway sql --csv other.fxt "$query")"
	[ "$(trackway sql --csv again.fxt "$query" | tail -n +2)" = 11,Running,53 ] || fail "$(trackway sql --csv again.fxt "$query")"
	trackway sched --json again.fxt | grep '"thread":12,' | grep -q '"running_ns":0,.*"runnable_ns":0,' ||
		fail "$(trackway sched --json again.fxt)"
}
