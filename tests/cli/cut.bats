# cut.bats - parts of traces: they stand alone, and say what the filters say of the whole.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3} PYTHONDONTWRITEBYTECODE=1

# what stat says of a part is what it says of the whole with the same filters
same_stat() {
	local file=$1 part=$BATS_TEST_TMPDIR/part.${1##*.}
	shift
	trackway cut "$@" "$file" -o "$part"
	trackway check "$part"
	trackway stat --json "$@" "$file" >"$BATS_TEST_TMPDIR/whole"
	trackway stat --json "$part" >"$BATS_TEST_TMPDIR/part"
	[ -s "$BATS_TEST_TMPDIR/part" ]
	cmp "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/part"
}

@test "cut: a time window of an FXT archive" {
	same_stat "$DATA/fxt/streaming.fxt" --from-time 10ms --to-time 20ms
}

@test "cut: a thread, a category of an FXT archive" {
	same_stat "$DATA/fxt/oneshot_all.fxt" --thread 1001
	same_stat "$DATA/fxt/oneshot_all.fxt" --category 'cat*'
}

@test "cut: a thread of an XRay log" {
	same_stat "$DATA/xray/v5.xray" --thread 101
}

@test "cut: wants a filter and an output" {
	run trackway cut "$DATA/fxt/oneshot_all.fxt" -o "$BATS_TEST_TMPDIR/all.fxt"
	[ "$status" -eq 2 ]
	[ ! -e "$BATS_TEST_TMPDIR/all.fxt" ]
	run trackway cut --thread 1001 "$DATA/fxt/oneshot_all.fxt"
	[ "$status" -eq 2 ]
	# One that leaves out nothing is a filter, too.
	for filter in --from-time --min-duration --from-snapshot; do
		trackway cut $filter 0 "$DATA/fxt/oneshot_all.fxt" -o "$BATS_TEST_TMPDIR/all.fxt" 2>err
		trackway stat --json "$BATS_TEST_TMPDIR/all.fxt" >part
		trackway stat --json "$DATA/fxt/oneshot_all.fxt" | cmp - part
	done
}

@test "cut: from a pipe to a compressed file" {
	cat "$DATA/fxt/oneshot_all.fxt" | trackway cut --thread 1001 - -o "$BATS_TEST_TMPDIR/part.fxt.zst"
	trackway cut --thread 1001 "$DATA/fxt/oneshot_all.fxt" -o - | cmp - <(zstd -dc "$BATS_TEST_TMPDIR/part.fxt.zst")
}

# Two providers and the kernel take turns; the kernel names the threads. The first 600 KB are the kernel's.
providers() {
	"$PYTHON" - <<'PY'
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
from fxt_odd import *

def section(number):
    return record(0, 2 << 16 | number << 20)

def full(number):
    return record(0, 3 << 16 | number << 20)

def kernel(name, koid, kind, *parts):
    return record(7, kind << 16 | name << 24 | len(parts) << 40, koid, *parts)

def slices(at, name, category):
    return (event(2, name, ticks=at, category=category) + event(3, name, ticks=at + 9, category=category) +
            event(4, name, at + 20, ticks=at + 10, category=category))

app = [provider_info(7, b"app"), record(1, 0, 10**9), string(1, b"work"), string(2, b"cat"), thread(1, 5, 6)]
app += [slices(at, 1, 2) for at in (10**6, 10**6 + 500)]
net = [provider_info(12, b"net"), record(1, 0, 24 * 10**6), string(1, b"send"), string(2, b"cat"), thread(1, 5, 8)]
net += [slices(24100, 1, 2), full(12), full(7)]
system = [provider_info(2, b"kernel"), record(1, 0, 10**9), string(1, b"boss"), string(2, b"worker"),
          string(3, b"process"), string(4, b"other")]
system += [kernel(4, 100 + i, 9) for i in range(40000)]
system += [kernel(1, 5, 1), kernel(2, 6, 2, argument(8, 0, 5, name=3)), kernel(4, 8, 2, argument(8, 0, 5, name=3))]
system += [record(8, 1 << 60 | 2 << 36, 10**6 + at, 6, 8) for at in range(5)]
out = [words(MAGIC)] + system + app[:5]
for part in (net, [section(7), app[5]], [section(12), slices(24200, 1, 2)], [section(7), app[6]]):
    out += part
open("in.fxt", "wb").write(b"".join(out))
PY
}

@test "cut: a provider of an FXT archive, by its name and by its number" {
	providers
	for jobs in 1 2; do
		trackway stat --json --jobs $jobs --provider app in.fxt | tee stat | grep -q '"name":"work".*"count":4,'
		[ "$(wc -l <stat)" -eq 1 ]
		trackway stat --json --jobs $jobs --provider '1?' in.fxt | tee stat | grep -q '"name":"send".*"count":4,'
		[ "$(wc -l <stat)" -eq 1 ]
	done
	trackway dump --json --provider app in.fxt >dump
	[ "$(grep -c '"record":"event' dump)" -eq 6 ]
	[ "$(wc -l <dump)" -eq 6 ]
	trackway cut --provider 'a*' in.fxt -o app.fxt 2>err
	[ "$(grep -c records-dropped err)" -eq 1 ]
	# What is wrong with the whole stays: records of this provider were dropped.
	run trackway check app.fxt
	[ "${#lines[@]}" -eq 2 ]
	[[ "${lines[0]}" == *fxt.records-dropped* ]]
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" --events app.fxt >events
	[ "$(grep -c '"time": *10005\|"name": *"work"' events)" -ge 6 ]
	! grep -q '"send"' events
	trackway dump --json app.fxt | grep '"record":"kernel-object"' >objects
	grep -q '"koid":5,"name":"boss"' objects
	grep -q '"koid":6,"name":"worker"' objects
	[ "$(wc -l <objects)" -eq 2 ]
	trackway stat --json --provider app in.fxt >whole
	trackway stat --json app.fxt | cmp - whole
	trackway info --json app.fxt | grep -q '"clock_start_ns":1000000,'
	cat in.fxt | trackway cut --provider app - -o - | cmp - app.fxt
}

@test "cut: a provider that is not there, a format without any" {
	providers
	trackway cut --provider none in.fxt -o none.fxt 2>err
	[ "$(cat err)" = "trackway: nothing passes the filters: --provider none" ]
	run trackway stat --provider app "$DATA/xray/v5.xray"
	[ "$status" -eq 2 ]
	[ "$output" = "trackway: error: $DATA/xray/v5.xray: a trace of format xray-fdr has no providers to choose from" ]
}

# Each event of an archive: the provider's number and name, its own name, its time; sections are taken as they stand.
whose() {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" "$1" | "$PYTHON" -c '
import json, sys
names, ticks, now = {}, {}, None
for line in sys.stdin:
    row = json.loads(line)
    kind = row["record"]
    if kind in ("provider-info", "provider-section"):
        now = row["provider_id"]
        names[now] = row.get("name", names.get(now))
    elif kind == "initialization":
        ticks[now] = row["ticks_per_second"]
    elif kind == "provider-event":
        print(row["provider_id"], names[row["provider_id"]], "full")
    elif kind.startswith(("event.", "scheduling.")):
        print(now, names[now], row.get("name", "switch"), row["timestamp"] * 10**9 // ticks[now])
'
}

@test "cut: events stay in the sections of their providers" {
	providers
	whose in.fxt >whole
	[ "$(cut -d ' ' -f 1,2 whole | sort -u | tr '\n' ' ')" = "12 net 2 kernel 7 app " ]
	for input in "in.fxt" "--jobs 2 - <in.fxt" "--category '*' in.fxt"; do
		eval "trackway cut --thread 6 --thread 8 --thread 5 $input -o part.fxt" 2>/dev/null
		whose part.fxt | sort >part
		sort whole | diff - part
	done
	trackway convert --from-time 0 in.fxt -o all.fxt 2>/dev/null # in the order of time
	whose all.fxt | sort >part
	sort whole | diff - part
	[ -z "$(trackway info --json all.fxt | grep '"trackway"')" ]
	trackway cut --from-time 0 --to-time 5us in.fxt -o part.fxt 2>/dev/null
	[ "$(whose part.fxt | grep -c '^2 kernel switch')" -eq 5 ]
}

@test "cut: providers of concatenated archives that have one number are kept apart" {
	"$PYTHON" - <<'PY'
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
from fxt_odd import *

def archive(name, rate, tick):
    return (words(MAGIC) + provider_info(1, name) + record(1, 0, rate) + string(1, name) + thread(1, 5, 6) +
            event(0, 1, ticks=tick))

open("in.fxt", "wb").write(archive(b"one", 10**9, 1000) + archive(b"two", 24 * 10**6, 24) + archive(b"one", 10**9, 3000))
PY
	trackway cut --thread 6 in.fxt -o part.fxt 2>/dev/null
	whose part.fxt | diff - <(printf '%s\n' "1 one one 1000" "2 two two 1000" "1 one one 3000")
}

@test "cut: an archive without providers, and more providers than there are numbers for" {
	"$PYTHON" - <<'PY'
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
from fxt_odd import *

one = record(1, 0, 10**9) + string(1, b"one") + thread(1, 5, 6) + event(0, 1, ticks=1000)
open("none.fxt", "wb").write(words(MAGIC) + one)
open("many.fxt", "wb").write(words(MAGIC) + b"".join(provider_info(i, b"p%d" % i) + one for i in range(2, 302)))
PY
	trackway cut --thread 6 none.fxt -o part.fxt 2>/dev/null
	[ "$(whose part.fxt)" = "1 trackway one 1000" ]
	trackway cut --thread 6 many.fxt -o part.fxt 2>err
	[ "$(whose part.fxt | grep -c '^\([0-9]*\) p\1 one 1000$')" -eq 255 ]
	[ "$(whose part.fxt | grep -c '^1 trackway one 1000$')" -eq 45 ]
	grep -q 'provider: 45 ' err
}

@test "cut: a provider that does not tell its ticks keeps its nanoseconds beside one that does" {
	"$PYTHON" - <<'PY'
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
from fxt_odd import *

one = string(1, b"one") + thread(1, 5, 6) + event(0, 1, ticks=24000)
two = string(1, b"two") + thread(1, 5, 6) + event(0, 1, ticks=1000007)
open("in.fxt", "wb").write(words(MAGIC) + provider_info(1, b"one") + record(1, 0, 24 * 10**6) + one + provider_info(2, b"two") + two +
                            record(0, 2 << 16 | 1 << 20) + event(0, 1, ticks=48000))
PY
	trackway cut --thread 6 in.fxt -o part.fxt 2>err
	whose part.fxt | diff - <(printf '%s\n' "1 one one 1000000" "2 two two 1000007" "1 one one 2000000")
	[ ! -s err ] || fail "$(cat err)"
}

@test "cut: the wall time of an archive's clock is kept" {
	"$PYTHON" - <<-'END'
		import struct
		words = [0x0016547846040010, 0x110010, 0x41, 1_000_000, 500, 1_650_419_113_000_500_000, 0x10033, 1, 2]
		for time in range(1000):
		    words += [0x8000800001000024, time]  # an instant without a name
		open("in.fxt", "wb").write(struct.pack(f"<{len(words)}Q", *words))
	END
	trackway cut --from-time 10us in.fxt -o out.fxt
	trackway dump out.fxt >dumped
	grep -q 'initialization  *ticks_per_second=1000000 base_ticks=0 base_time_ns=1650419113000000000$' dumped
}

@test "cut: processes and threads are described as often as they were, however often it is cut" {
	name() { echo "{\"ph\":\"M\",\"pid\":1,\"tid\":$1,\"name\":\"$2\",\"args\":{\"name\":\"$3\"}}"; }
	(name 7 process_name server && name 7 thread_name main && name 8 thread_name work
		for tid in 7 8; do echo "{\"ph\":\"X\",\"pid\":1,\"tid\":$tid,\"ts\":1,\"dur\":5,\"name\":\"x\"}"; done) >in.json
	trackway convert in.json -o in.fxt
	objects() { trackway dump "$1" | grep -o 'kernel-object .* name=[a-z]*' | tr -s ' ' | sort; }
	objects in.fxt >expected
	[ "$(wc -l <expected)" = 3 ]
	trackway cut --thread 7,8 in.fxt -o once.fxt
	trackway cut --thread 7,8 once.fxt -o twice.fxt
	objects once.fxt | diff expected -
	objects twice.fxt | diff expected -
	trackway stat --json --by thread once.fxt | grep -o '"process_name".*' >names
	printf '"process_name":"server","thread_name":"%s"}\n' main work | diff - names
	# Another name is another description.
	(cat in.json && name 8 thread_name idle) >renamed.json
	trackway convert renamed.json -o renamed.fxt
	trackway cut --thread 7,8 renamed.fxt -o once.fxt
	objects once.fxt | grep -q 'koid=8 name=idle'
}

@test "cut: how many events of each kind a part has" {
	for filter in "--thread 1001" "--category test" "--function 'complete*'" "--from-time 100ms"; do
		eval trackway cut "$filter" "$DATA/fxt/streaming.fxt" -o part.fxt --json >told
		trackway convert --to jsonl part.fxt | "$PYTHON" -c '
import collections, json, sys
told = json.load(open("told"))
found = collections.Counter(json.loads(line)["kind"] for line in sys.stdin)
assert told["kinds"] == found and told["events"] == sum(found.values()), (told, found)'
	done
}
