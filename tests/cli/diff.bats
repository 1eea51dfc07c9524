# diff.bats - two traces: what changed, what is noise, and the picture of it.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Eight runs of one program, r0.json to r7.json, whose functions all take more or less of their time in each of them,
# and four of a slower one, s0.json to s3.json: f3 takes a half longer in each.
recordings() {
	"$PYTHON" - <<-'END'
		import json, random
		def record(path, seed, slower):
		    random.seed(seed)
		    weather = [random.lognormvariate(0, 0.1) for f in range(20)]
		    now, events = 1000, []
		    for _ in range(40):
		        for f in range(20):
		            dur = int(random.lognormvariate(8, 0.3) * (f + 1) * weather[f] * (2 if f == 3 and slower else 1)) + 1
		            events.append({"ph": "X", "pid": 1, "tid": 1, "name": f"f{f}", "ts": now / 1000, "dur": dur / 1000})
		            now += dur + 10
		    json.dump({"traceEvents": events}, open(path, "w"))
		for run in range(8):
		    record(f"r{run}.json", run + 1, False)
		for run in range(4):
		    record(f"s{run}.json", run + 101, True)
	END
}

# The P of an exact permutation test, from its definition: of all ways to deal the runs the part that is as far out.
@test "diff: the unit of the test is the run" {
	recordings
	trackway diff --json r0.json r1.json r2.json r3.json -- s0.json s1.json s2.json s3.json >found 2>err
	[ ! -s err ]
	"$PYTHON" - found r?.json s?.json <<-'END'
		import collections, itertools, json, math, sys
		def selfs(path):
		    sums = collections.Counter()
		    for event in json.load(open(path))["traceEvents"]:
		        sums[event["name"]] += round(event["dur"] * 1000)
		    return sums
		before = [selfs(f"r{i}.json") for i in range(4)]
		after = [selfs(f"s{i}.json") for i in range(4)]
		rows = [json.loads(line) for line in open(sys.argv[1])]
		assert len(rows) == 20
		for row in rows:
		    values = [run[row["name"]] for run in before + after]
		    seen = sum(values[4:])
		    ways = [sum(values[i] for i in way) for way in itertools.combinations(range(8), 4)]
		    tail = min(sum(way <= seen for way in ways), sum(way >= seen for way in ways)) / len(ways)
		    assert math.isclose(row["p"], min(1, 2 * tail), rel_tol=1e-9), (row, tail)
		    assert row["significance"] == ("significant" if 2 * tail <= 0.05 else "noise"), row
		    assert (row["runs_a"], row["runs_b"]) == (4, 4)
		    a, b = sum(values[:4]) / 4, sum(values[4:]) / 4
		    assert abs(row["self_ns_a"] - a) <= 0.5 and abs(row["self_ns_b"] - b) <= 0.5, row
		    assert row["change_low"] <= b - a <= row["change_high"], row
		    assert (row["change_low"] > 0 or row["change_high"] < 0) == (row["significance"] == "significant"), row
		assert rows[0]["name"] == "f3" and rows[0]["significance"] == "significant", rows[0]
	END
	trackway diff --json --before r0.json --before r1.json --before r2.json --before r3.json \
		--after s0.json --after s1.json --after s2.json --after s3.json | cmp - found
	trackway diff r[0-3].json -- s?.json >table
	head -1 table | grep -q '^ *SELF A  *SELF B  *CHANGE  *CHANGE %  *95 % INTERVAL  *P  *P50 A  *P50 B  *CALLS A  *CALLS B  FUNCTION$'
	sed -n 2p table | grep -Eq '  \+[0-9.]+ [mu]s to \+[0-9.]+ [mu]s +0.0286 .*  f3$'
}

# Runs of the same program: over all 35 ways to make two sides of eight, at most one row in twenty is marked.
@test "diff: of eight runs of one program at most one row in twenty is marked" {
	recordings
	"$PYTHON" - <<-'END'
		import itertools, json, subprocess
		marked = rows = 0
		for side in itertools.combinations(range(1, 8), 3):
		    first = [0, *side]
		    names = [[f"r{i}.json" for i in range(8) if (i in first) == which] for which in (True, False)]
		    out = subprocess.run(["trackway", "diff", "--json", *names[0], "--", *names[1]], check=True, capture_output=True)
		    for line in out.stdout.splitlines():
		        marked += json.loads(line)["significance"] == "significant"
		        rows += 1
		assert rows == 35 * 20 and 0 < marked * 20 <= rows, (marked, rows)
	END
}

@test "diff: below four runs a side nothing is marked, and that is said" {
	recordings
	trackway diff --json r0.json s0.json >found 2>err
	grep -q 'one run a side: how much runs differ by themselves (noise) is unknown' err
	[ "$(grep -c '"significance":"untested","p":null,"change_low":null,"change_high":null,"runs_a":1,"runs_b":1}' found)" -eq 20 ]
	trackway diff r0.json r1.json r2.json -- s0.json s1.json s2.json s3.json >found 2>err
	grep -q '3 runs before, 4 after: no change is marked, because noise is told from 4 runs a side on' err
	fails grep -q 'noise\|INTERVAL' found
	for wrong in "r0.json r1.json s0.json" "--before r0.json" "--before r0.json --after s0.json r1.json" r0.json; do
		run trackway diff $wrong
		[ "$status" -eq 2 ] || fail "$wrong"
	done
}

@test "diff: a large growth is told as how many times as much" {
	for calls in 2 19 20 50; do
		"$PYTHON" -c "import json; print(json.dumps([{'ph': 'X', 'pid': 1, 'tid': 1, 'name': 'f', 'ts': 10 * i, 'dur': 1} for i in range($calls)]))" >$calls.json
	done
	change() { trackway diff --sort count "$1" "$2" 2>/dev/null | sed -n 2p; }
	change 2.json 19.json | grep -q ' +17 *+850.0 % '
	change 2.json 20.json | grep -q ' +18 *10x '
	change 2.json 50.json | grep -q ' +48 *25x '
	change 50.json 2.json | grep -q ' -48 *-96.0 % '
}

@test "diff --flame: several runs a side are the mean run of each" {
	stacks
	trackway diff --folded before.json after.json | LC_ALL=C sort >one
	trackway diff --folded before.json before.json before.json -- after.json after.json | LC_ALL=C sort | diff one -
}

@test "diff: what has no durations on both sides is not tested" {
	echo '[{"ph":"X","pid":1,"tid":1,"name":"gone","ts":1,"dur":1},{"ph":"B","pid":1,"tid":1,"name":"open","ts":5}]' >a.json
	echo '[{"ph":"X","pid":1,"tid":1,"name":"new","ts":1,"dur":1},{"ph":"B","pid":1,"tid":1,"name":"open","ts":5}]' >b.json
	trackway diff --json a.json b.json >rows
	[ "$(wc -l <rows)" -eq 3 ]
	[ "$(grep -c '"significance":"untested","p":null,' rows)" -eq 3 ]
}

stacks() { # main calls a, b and c: a takes longer, b less, c is as before, old is gone and new is new
	"$PYTHON" - <<-'END'
		import json
		def record(path, parts):
		    now, events = 0, []
		    for name, dur in parts:
		        events.append({"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": now + 1, "dur": dur})
		        now += dur + 1
		    events.insert(0, {"ph": "X", "pid": 1, "tid": 1, "name": "main", "ts": 0, "dur": now + 10})
		    json.dump(events, open(path, "w"))
		record("before.json", [("a", 100), ("b", 400), ("c", 300), ("old", 7), ("a", 50)])
		record("after.json", [("a", 200), ("b", 100), ("c", 300), ("new", 50), ("new", 60)])
	END
}

@test "diff --flame: widths are after, colours and numbers tell the change" {
	stacks
	trackway diff --flame -o x.svg before.json after.json
	"$PYTHON" - x.svg <<-'END'
		import sys, xml.etree.ElementTree as tree
		ns = "{http://www.w3.org/2000/svg}"
		root = tree.parse(sys.argv[1]).getroot()
		assert root.get("data-compared") == "1"
		found = {}
		for g in root.iter(ns + "g"):
		    if g.get("data-v"):
		        numbers = [int(n) for n in g.get("data-v").split()]
		        title, text = g.find(ns + "title"), g.find(ns + "text")
		        found[(title if title is not None else text).text] = (g.get("class"), numbers[2], numbers[5])
		# A call is 1 us longer than what it has in it for each call in it, and 10.
		main = (100 + 400 + 300 + 7 + 50 + 5 + 10, 200 + 100 + 300 + 50 + 60 + 5 + 10)
		expected = {"all": ("all", main[1], main[0]), "main": ("down2", main[1], main[0]), "a": ("up2", 200, 150),
		            "b": ("down4", 100, 400), "c": ("same", 300, 300), "new": ("up4", 110, 0)}
		assert found == {k: (c, x * 1000, y * 1000) for k, (c, x, y) in expected.items()}, found
		summary = [t.text for t in root.iter(ns + "text") if t.get("id") == "summary"]
		assert summary == ["before 872.000 us, after 725.000 us in 5 frames; left out: 1 frame narrower than 0.001 % (0.00 % of the time); gone: 7.000 us before, of stacks that are not there after"], summary
	END
	trackway diff --flame -o x.html before.json after.json
	head -c 15 x.html | grep -q '<!DOCTYPE html>'
}

@test "diff: the name of the output asks for a picture, or for its lines" {
	stacks
	for form in svg html; do
		trackway diff --flame -o flame.$form before.json after.json
		trackway diff -o named.$form before.json after.json
		cmp flame.$form named.$form
	done
	trackway diff -o lines.folded before.json after.json
	trackway diff --folded before.json after.json | diff - lines.folded
	trackway diff before.json after.json >table
	trackway diff -o table.txt before.json after.json
	diff table table.txt
	trackway diff --json -o rows.svg before.json after.json
	trackway diff --json before.json after.json | diff - rows.svg
	for options in '--of events' '--top 3'; do
		run trackway diff $options -o x.svg before.json after.json
		[ "$status" -eq 2 ] || fail "$options: $output"
		[ ! -e x.svg ]
	done
}

@test "diff --folded: two numbers a stack, of both traces, out and in" {
	stacks
	trackway diff --folded before.json after.json | LC_ALL=C sort >two
	cat >expected <<-END
		main 15000 15000
		main;a 150000 200000
		main;b 400000 100000
		main;c 300000 300000
		main;new 0 110000
		main;old 7000 0
	END
	diff expected two
	trackway flame --folded before.json | LC_ALL=C sort | diff <(awk '$2 { print $1, $2 }' two) -
	trackway flame --folded after.json | LC_ALL=C sort | diff <(awk '$3 { print $1, $3 }' two) -
	trackway diff --folded two | LC_ALL=C sort | diff expected -
	trackway diff --folded "$DATA/xray/v4.xray" "$DATA/xray/v5.xray" | LC_ALL=C sort >numbers
	[ "$(cut -d' ' -f1 numbers | grep -c '^#1;#')" -gt 0 ] || fail "$(cat numbers)"
	trackway diff --folded numbers | LC_ALL=C sort | diff numbers -
	trackway diff --flame --title T -o one.svg before.json after.json
	trackway diff --flame --title T -o two.svg two
	grep -o 'class="[a-z0-9]*" data-v="[0-9]* [0-9]* [0-9]*' one.svg | LC_ALL=C sort >one.frames
	grep -o 'class="[a-z0-9]*" data-v="[0-9]* [0-9]* [0-9]*' two.svg | LC_ALL=C sort | diff one.frames -
}

@test "diff --normalize: both weigh the same in all" {
	printf '# a comment\na;b 100 10\r\nc 100 30\n\na 0 10' >two
	trackway diff --folded --normalize two | LC_ALL=C sort >scaled
	diff - scaled <<-END
		a 0 10
		a;b 25 10
		c 25 30
	END
	printf 'a 0 5\n' | trackway diff --folded --normalize - | diff <(echo "a 0 5") -
}

@test "diff --flame: what is wrong is told with its line" {
	wrong() { # expected lines...
		run trackway diff --folded two
		[ "$status" -eq 2 ]
		[ "$output" = "trackway: error: two:$1: expected \"stack before after\"" ]
	}
	printf 'a 1 2\nb 1\n' >two && wrong 2
	printf 'a 1 18446744073709551616\n' >two && wrong 1
	printf '1 2\n' >two && wrong 1
	printf 'a 1 -2\n' >two && wrong 1
	printf 'a 18446744073709551615 18446744073709551615\na 5 5\n' >two
	[ "$(trackway diff --folded two)" = "a 18446744073709551615 18446744073709551615" ]
	run trackway diff --flame -o x.png two
	[ "$status" -eq 2 ]
	[[ "$output" == *"x.png: diff writes no .png"* ]]
	run trackway diff two
	[ "$status" -eq 2 ]
	[[ "$output" == *"diff wants A B"* ]]
	run trackway diff --folded missing
	[ "$status" -eq 2 ]
	[[ "$output" == *"missing: No such file or directory"* ]]
}

# Rows of "trackway diff --of KIND --json" against rows [name, count_a, count_b, value_a, value_b] in `expected`.
agree() { # kind, the value's name in JSON
	trackway diff --of "$1" --json before.* after.* >found
	"$PYTHON" - found expected "$2" <<-'END'
		import collections, json, math, sys
		found = [json.loads(line) for line in open(sys.argv[1])]
		expected = {row[0]: row[1:] for row in json.load(open(sys.argv[2]))}
		key = sys.argv[3]
		assert {row["name"] for row in found} == set(expected) and len(found) == len(expected), (found, expected)
		changes = []
		for row in found:
		    count_a, count_b, a, b = expected[row["name"]]
		    assert (row["count_a"], row["count_b"], row["count_change"]) == (count_a, count_b, count_b - count_a), row
		    assert math.isclose(row[key + "_a"], a, rel_tol=1e-9) and math.isclose(row[key + "_b"], b, rel_tol=1e-9), (row, a, b)
		    assert math.isclose(row[key + "_change"], b - a, rel_tol=1e-9, abs_tol=1e-9), row
		    assert row["status"] == ("both" if count_a and count_b else "only-a" if count_a else "only-b"), row
		    assert row["significance"] == "untested" and row["p"] is None, row
		    changes.append((-abs(b - a), row["name"]))
		assert changes == sorted(changes), changes
	END
}

@test "diff --of: events, operations, counters and collections are as another count of them has it" {
	local kind
	for kind in events:count async:total_ns counters:mean gc:pause_ns; do
		"$PYTHON" - "${kind%:*}" <<-'END'
			import collections, json, random, sys
			kind = sys.argv[1]
			def record(seed, names, factor):
			    random.seed(seed)
			    now, events, values, counts = 1000, [], collections.defaultdict(list), collections.Counter()
			    last = {}
			    for i in range(300):
			        name = random.choice(names)
			        now += random.randrange(1000, 9000)
			        dur = int(random.lognormvariate(7, 0.4) * factor) + 1
			        common = {"pid": 1, "tid": 1, "name": name, "cat": "c", "ts": now / 1000}
			        if kind == "events":
			            events.append({**common, "ph": "i"})
			            if name in last:
			                values[name].append(now - last[name])
			            last[name] = now
			        elif kind == "async":
			            events += [{**common, "ph": "b", "id": i}, {**common, "ph": "e", "id": i, "ts": (now + dur) / 1000}]
			            values[name].append(dur)
			        elif kind == "counters":
			            number = random.gauss(0, 100) * factor + 3
			            events.append({**common, "ph": "C", "args": {"v": number}})
			            values[name].append(number)
			        else:
			            events.append({**common, "ph": "X", "cat": "gc", "dur": dur / 1000, "args": {"generations": name}})
			            values[name].append(dur)
			            values["(all)"].append(dur)
			            counts["(all)"] += 1
			            now += dur
			        counts[name] += 1
			    return events, values, counts
			a = record(1, ["x", "y", "z", "gone"], 1)
			b = record(2, ["x", "y", "z", "new"], 1.4)
			for name, side in (("before", a), ("after", b)):
			    json.dump(sorted(side[0], key=lambda e: e["ts"]), open(name + ".json", "w"))
			rows = []
			for name in sorted(set(a[2]) | set(b[2])):
			    x, y = a[1][name], b[1][name]
			    value = {"events": lambda v, c: c, "counters": lambda v, c: sum(v) / len(v) if v else 0}.get(kind, lambda v, c: sum(v))
			    rows.append([name, a[2][name], b[2][name], value(x, a[2][name]), value(y, b[2][name])])
			json.dump(rows, open("expected", "w"))
		END
		agree "${kind%:*}" "${kind#*:}" || fail "$kind"
		trackway diff --of "${kind%:*}" before.json after.json >rows
		grep -q ' gone  .* gone$\| gone  .*c: gone' rows || fail "$(cat rows)"
	done
}

@test "diff --of allocations: classes of a TraceLog" {
	cp "$DATA/tracelog/small-d2-64.log" before.log
	"$PYTHON" - before.log after.log <<-'END'
		import collections, json, sys
		lines = open(sys.argv[1]).read().splitlines()
		changed = [line for i, line in enumerate(lines) if not line.startswith("sam mem") or i % 3]
		open(sys.argv[2], "w").write("\n".join(changed) + "\n")
		names = {}
		def count(lines):
		    classes = collections.defaultdict(lambda: [0, 0, []])
		    for line in lines:
		        words = line.split(" ", 3)
		        if words[:2] == ["cls", "nam"]:
		            names[int(words[2], 16)] = words[3].strip('"')
		    for line in lines:
		        if line.startswith("sam mem"):
		            for part in line.split()[4:]:
		                kind, objects, size = part.split(":")[:3]
		                row = classes[names[int(kind, 16)]]
		                row[0] += int(objects)
		                row[1] += int(size)
		                row[2].append(int(size))
		    return classes
		a, b = count(lines), count(changed)
		rows = [[n, a[n][0], b[n][0], a[n][1], b[n][1]] for n in sorted(set(a) | set(b))]
		assert len(rows) > 100
		json.dump(rows, open("expected", "w"))
	END
	agree allocations bytes
}

# Looks at the heap are counters of the category "heap", the last of a class holds; compilations are slices of "jit".
@test "diff --of heap and jit: what was alive at the last look, and what compiling took" {
	"$PYTHON" - <<-'END'
		import json
		def heap(looks):
		    return [{"ph": "C", "cat": "heap", "name": name, "pid": 1, "ts": 10 * i, "args": {"count": count, "bytes": size}}
		            for i, look in enumerate(looks) for name, count, size in look]
		def jit(functions):
		    return [{"ph": "X", "cat": "jit", "name": name, "pid": 1, "tid": 1, "ts": 100 * i, "dur": us}
		            for i, (name, us) in enumerate(functions)]
		sides = {"before": heap([[("A", 1, 10), ("B", 5, 50)], [("A", 2, 20)]]) + jit([("f", 5), ("g", 7), ("f", 1)]),
		         "after": heap([[("A", 4, 64), ("C", 1, 8)]]) + jit([("f", 60), ("h", 2)])}
		for name, events in sides.items():
		    json.dump(sorted(events, key=lambda event: event["ts"]), open(name + ".json", "w"))
		json.dump([["A", 2, 4, 20, 64], ["B", 5, 0, 50, 0], ["C", 0, 1, 0, 8]], open("heap", "w"))
		json.dump([["f", 2, 1, 6000, 60000], ["g", 1, 0, 7000, 0], ["h", 0, 1, 0, 2000]], open("jit", "w"))
	END
	cp heap expected && agree heap bytes
	cp jit expected && agree jit compiled_ns
	trackway diff --of jit before.json after.json >rows
	grep -q ' new .* h$' rows && grep -q ' gone .* g$' rows && grep -q ' 10x .* f$' rows || fail "$(cat rows)"
}

@test "diff --of counters: numbers look as those of counters do" {
	for part in 0 100000; do
		"$PYTHON" -c "
import json
values = [(123456789 + $part, 0.25), (123456790 + $part, 0.125), (123456789 + $part, 0)]
json.dump([{'ph': 'C', 'pid': 1, 'tid': 1, 'ts': ts, 'name': 'heap', 'args': {'bytes': bytes, 'fill': fill}}
           for ts, (bytes, fill) in enumerate(values)], open('$part.json', 'w'))"
	done
	trackway diff --of counters 0.json 100000.json >out
	grep -Eq '^123,456,789.333 +123,556,789.333 +\+100,000 +\+0.1 % .* heap bytes$' out
	grep -Eq '^ +0.125 +0.125 +0 +\+0.0 % .* heap fill$' out
	trackway counters 0.json | grep -Eq ' 123,456,789.333 .* bytes$'
}

@test "diff --of: nothing of the kind, and what cannot be asked for" {
	echo '[{"ph":"i","pid":1,"tid":1,"name":"one","ts":1}]' >a.json
	run trackway diff --of counters a.json a.json
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" == *"there is no counter in the trace"* ]]
	trackway diff --of events --json a.json a.json | grep -q '"significance":"untested","p":null,'
	run trackway diff --of gc --flame a.json a.json
	[ "$status" -eq 2 ]
	for options in '--of events --weight calls' '--flame --json' '--folded --top 3' '--flame --sort total' '--folded --title t'; do
		run trackway diff $options a.json a.json
		[ "$status" -eq 2 ] || fail "$options"
	done
	run trackway graph --json --title t a.json
	[ "$status" -eq 2 ]
	for command in stacks flame; do
		run trackway $command --max-depth 0 a.json
		[ "$status" -eq 2 ] && [[ "$output" == *max-depth* ]] || fail "$command: $output"
	done
	run trackway diff --of gc a.json missing.json
	[ "$status" -eq 2 ]
}

# What the operations are called is from the manual of the architecture, how many there are from a decoder of the tests' own.
@test "diff --of instructions: classes and operations of an xtrace" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --turns 3000 before >before.json
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --turns 3300 --threads 2 after >after.json
	trackway diff --of instructions --json before after >rows
	PYTHONPATH="$TRACKWAY_SOURCE/tests/truth" "$PYTHON" - <<-'END'
		import collections, json, pathlib
		import xtrace_tokens
		NAMES = {0xA9BF7BFD: ("store", "stp"), 0x9400003E: ("call", "bl"), 0xF9400020: ("load", "ldr"), 0x91000400: ("arithmetic", "add"),
		         0xC85F7C22: ("atomic", "ldxr"), 0xD65F03C0: ("return", "ret"), 0xD4000001: ("system", "svc"),
		         0x9A820000: ("select", "csel"), 0x35FFFFC3: ("conditional", "cbnz"), 0x17FFFFFA: ("jump", "b")}
		def count(folder):
		    opcodes = collections.Counter()
		    for path in pathlib.Path(folder).glob("*.xinsndata.bin"):
		        opcodes.update(fields[1] for _, kind, fields in xtrace_tokens.tokens(path.read_bytes()) if kind in ("inst", "pcinst"))
		    return opcodes
		a, b = count("before"), count("after")
		rows = {(row["category"], row["name"]): row for row in map(json.loads, open("rows"))}
		for opcode, name in NAMES.items():
		    if name == ("load", "ldr"):
		        extra = {0x58000066}  # another ldr, of a literal
		    else:
		        extra = set()
		    found = rows[name]["count_a"], rows[name]["count_b"]
		    assert found == tuple(sum(side[o] for o in {opcode} | extra) for side in (a, b)) and found[0], (name, found)
		for side, key in ((a, "count_a"), (b, "count_b")):
		    for inner in (False, True):
		        assert sum(row[key] for where, row in rows.items() if bool(where[0]) == inner) == side.total(), (key, inner)
	END
	run trackway diff --of instructions "$DATA/xray/v5.xray" after
	[ "$status" -eq 2 ]
	[[ "$output" == *"v5.xray has no instructions"* ]]
}

# Sums of Python's integers.
@test "diff --json: numbers of 64 bits are told to the last digit" {
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from fxt_odd import *
		begin = words(MAGIC) + provider_info(1, b"p") + record(1, 0, 10**9) + thread(1, 5, 6) + string(1, b"w")
		def operation(number, start, end):
		    return event(5, 1, number, category=1, ticks=start) + event(7, 1, number, category=1, ticks=end)
		few = event(4, 1, 5, category=1, ticks=1) + operation(1, 1, 2)
		many = event(4, 1, 2**64 - 6, category=1, ticks=1) + operation(1, 1, 2**53 + 2) + operation(2, 3, 2**53 + 9)
		open("few.fxt", "wb").write(begin + few)
		open("many.fxt", "wb").write(begin + many)
	END
	change() { # options and files
		trackway diff --json "$@" | "$PYTHON" -c 'import json, sys; row = json.loads(sys.stdin.readline()); print(*[row[f"{sys.argv[1]}_ns_{end}"] for end in ("a", "b", "change")])' $what
	}
	what=self
	[ "$(change few.fxt many.fxt)" = "4 18446744073709551609 18446744073709551605" ]
	[ "$(change many.fxt few.fxt)" = "18446744073709551609 4 -18446744073709551605" ]
	what=total
	[ "$(change --of async few.fxt many.fxt)" = "1 18014398509481991 18014398509481990" ]
	[ "$(change --of async many.fxt few.fxt)" = "18014398509481991 1 -18014398509481990" ]
	[ "$(trackway diff --of events few.fxt many.fxt 2>&1 >/dev/null)" = "trackway: there is no instant event in the trace" ]
}

@test "diff --of: times beyond 2^53 and 2^63 are shown as they are" {
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from fxt_odd import *
		begin = words(MAGIC) + provider_info(1, b"p") + record(1, 0, 10**9) + thread(1, 5, 6) + string(1, b"w")
		def archive(name, end, count):
		    many = b"".join(event(5, 1, i, category=1, ticks=0) + event(7, 1, i, category=1, ticks=end)
		                    for i in range(count))
		    open(name, "wb").write(begin + many)
		archive("a.fxt", 2**53 + 1, 1)
		archive("b.fxt", 2**53 + 2, 1)
		archive("c.fxt", 10**19, 1)
	END
	trackway diff --of async a.fxt b.fxt | grep -q ' +1 ns ' || fail "$(trackway diff --of async a.fxt b.fxt)"
	trackway diff --of async b.fxt a.fxt | grep -q ' -1 ns '
	trackway diff --of async a.fxt c.fxt | grep -q ' 10000000000 s '
}

@test "diff: traces that tell of different things, and durations of samples, are refused" {
	printf '%s\n' 'f 3' 'f;g 4' >samples.folded
	echo '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"f"}]' >calls.json
	refuses() { # message, then options and files
		local message=$1
		shift
		run trackway diff "$@"
		[ "$status" = 2 ] && [ "$output" = "trackway: error: $message" ] || fail "$*: $output"
	}
	for form in "" --folded; do
		refuses 'the first trace tells of samples, the second of calls: they cannot be compared' $form samples.folded calls.json
		refuses 'the first trace tells of calls, the second of samples: they cannot be compared' $form calls.json samples.folded
	done
	refuses 'samples have no durations: --sort p50 is for calls' --sort p50 samples.folded samples.folded
	trackway diff --sort p50 calls.json calls.json
	trackway diff --sort total samples.folded samples.folded
}

@test "diff: what is gone, what is new, and what grew from nothing, the largest change first" {
	printf '%s\n' 'main;old 40' 'main;same 50' 'main;grew 100' >a.folded
	printf '%s\n' 'main 7' 'main;new 30' 'main;same 50' 'main;grew 150' >b.folded
	cat >expected <<-'END'
		SELF A  SELF B  CHANGE  CHANGE %  FUNCTION
		   100     150     +50   +50.0 %  grew
		    40       0     -40      gone  old
		     0      30     +30       new  new
		     0       7      +7         -  main
		    50      50       0    +0.0 %  same
	END
	trackway diff a.folded b.folded | diff expected -
	{ head -3 expected && echo '... and 3 more'; } >first
	trackway diff -n 2 a.folded b.folded | diff first -
	trackway diff -n 1 -f '[nos]*' a.folded b.folded | tail -1 | grep -qx '\.\.\. and 2 more'
	for number in 1 2 3; do
		echo '{"ph":"i","pid":1,"tid":1,"ts":1,"name":"'$number'"}'
	done | paste -sd, | sed 's/.*/[&]/' >events.json
	trackway diff --of events -n 1 events.json events.json | tail -1 | grep -qx '\.\.\. and 2 more'
}
