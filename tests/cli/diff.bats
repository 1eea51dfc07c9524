# diff.bats - two traces: what changed, what is noise, and the picture of it.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

recordings() { # same.json is another recording of before.json, slow.json one in which f3 takes a fifth longer
	"$PYTHON" - <<-'END'
		import json, random
		def record(path, seed, factor):
		    random.seed(seed)
		    now, events = 1000, []
		    for _ in range(400):
		        for f in range(20):
		            dur = max(1, int(random.lognormvariate(8, 0.3) * (f + 1) * (factor if f == 3 else 1)))
		            events.append({"ph": "X", "pid": 1, "tid": 1, "name": f"f{f}", "ts": now / 1000, "dur": dur / 1000})
		            now += dur + 10
		    json.dump({"traceEvents": events}, open(path, "w"))
		record("before.json", 1, 1)
		record("same.json", 2, 1)
		record("slow.json", 3, 1.2)
	END
}

@test "diff: two recordings of the same are noise, a fifth slower is not" {
	recordings
	trackway diff --json before.json same.json >same
	[ "$(grep -c '"significance":"noise"' same)" -eq 20 ]
	trackway diff --json before.json slow.json >slow
	[ "$(grep '"significance":"significant"' slow | grep -o '"name":"[^"]*"')" = '"name":"f3"' ]
	[ "$(grep -c '"significance":"noise"' slow)" -eq 19 ]
	trackway diff before.json slow.json | grep -E ' f3$' | grep -q ' <0.0001  '
	[ "$(trackway diff before.json same.json | grep -c '[0-9] noise  ')" -eq 20 ]
}

@test "diff: the rank test is that of the definition, over values of seven bits" {
	recordings
	for after in same slow; do
		trackway diff --json before.json $after.json >found
		"$PYTHON" - before.json $after.json found <<-'END'
			import collections, json, math, sys
			def durations(path):
			    all = collections.defaultdict(list)
			    for event in json.load(open(path))["traceEvents"]:
			        dur = round(event["dur"] * 1000)
			        shift = max(0, dur.bit_length() - 7)
			        all[event["name"]].append((shift, dur >> shift))
			    return all
			a, b = durations(sys.argv[1]), durations(sys.argv[2])
			seen = set()
			for line in open(sys.argv[3]):
			    row = json.loads(line)
			    x, y = a[row["name"]], b[row["name"]]
			    u = sum((v > w) + (v == w) / 2 for v in x for w in y)
			    n, m, total = len(x), len(y), len(x) + len(y)
			    ties = sum(t ** 3 - t for t in collections.Counter(x + y).values())
			    sigma = math.sqrt(n * m / 12 * (total + 1 - ties / (total * (total - 1))))
			    p = math.erfc(max(0, abs(u - n * m / 2) - 0.5) / sigma / math.sqrt(2))
			    assert math.isclose(row["p"], p, rel_tol=1e-9), (row, p)
			    seen.add(row["name"])
			assert seen == set(a), seen
		END
	done
}

@test "diff: what has no durations on both sides is not tested" {
	echo '[{"ph":"X","pid":1,"tid":1,"name":"gone","ts":1,"dur":1},{"ph":"B","pid":1,"tid":1,"name":"open","ts":5}]' >a.json
	echo '[{"ph":"X","pid":1,"tid":1,"name":"new","ts":1,"dur":1},{"ph":"B","pid":1,"tid":1,"name":"open","ts":5}]' >b.json
	trackway diff --json a.json b.json >rows
	[ "$(wc -l <rows)" -eq 3 ]
	[ "$(grep -c '"significance":"untested","p":null}' rows)" -eq 3 ]
}
