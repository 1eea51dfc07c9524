# cut.bats - parts of traces: they stand alone, and say what the filters say of the whole.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

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
	fails grep -q '"send"' events
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
	"$PYTHON" -c '
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
import fxt
names, ticks, now, damaged = {}, {}, None, []
for row, _ in fxt.records(open(sys.argv[1], "rb").read(), None, damaged):
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
sys.exit(f"{sys.argv[1]}: {damaged}" if damaged else 0)
' "$1"
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

@test "cut: a provider whose ticks change keeps all times" {
	"$PYTHON" - <<-'PY'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *

		def archive(provider, ticks_per_second, times):
		    fine = words(MAGIC) + provider + record(1, 0, ticks_per_second) + string(1, b"one") + thread(1, 5, 6)
		    return fine + b"".join(event(0, 1, ticks=ticks) for ticks in times)

		for name, provider in (("named", provider_info(1, b"one")), ("nameless", b"")):
		    fine = archive(provider, 10**9, (7, 1234567891))
		    coarse = archive(provider, 1000, (3000, 4001))
		    open(name + ".fxt", "wb").write(fine + coarse)
		    open(name + "2.fxt", "wb").write(coarse + fine)
	PY
	times() { whose "$1" | cut -d ' ' -f 4 | sort; }
	printf '%s\n' 1234567891 3000000000 4001000000 7 >expected
	for file in named nameless named2 nameless2; do
		for jobs in 1 2; do
			trackway cut --jobs $jobs --thread 6 $file.fxt -o part$jobs.fxt 2>err
			[ ! -s err ] || fail "$(cat err)"
			times part$jobs.fxt | diff expected -
		done
		cmp part1.fxt part2.fxt
	done
	trackway cut --thread 6 named.fxt -o part.fxt
	whose part.fxt | diff - <(printf '%s\n' '1 one one 7' '1 one one 1234567891' '2 one one 3000000000' '2 one one 4001000000')
}

@test "cut: a provider whose ticks are not told, or were told by damage, in one of several archives keeps all times" {
	"$PYTHON" - <<-'PY'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *

		def clock(ticks_per_second):
		    return record(1, 0, ticks_per_second) if ticks_per_second else b""

		def events(*times):
		    return string(1, b"one") + thread(1, 5, 6) + b"".join(event(0, 1, ticks=ticks) for ticks in times)

		SWALLOWS = words(1 | 2 << 4)  # an initialization record without its number takes the header of a string for it
		for name, provider in (("named", provider_info(1, b"one")), ("nameless", b"")):
		    def archive(ticks_per_second, *times):
		        return words(MAGIC) + provider + clock(ticks_per_second) + events(*times)

		    none, coarse = (3000000007, 4000000009), (1, 2)
		    inputs = {
		        "last": archive(1000, *coarse) + archive(0, *none),
		        "first": archive(0, *none) + archive(1000, *coarse),
		        "late": archive(0, *none) + clock(1000) + events(*coarse),
		        "damaged": words(MAGIC) + provider + SWALLOWS + events(*none) + archive(1000, *coarse),
		        "behind": archive(1000, *coarse) + words(MAGIC) + provider + SWALLOWS + events(*none),
		    }
		    for way, data in inputs.items():
		        open(f"{name}-{way}.fxt", "wb").write(data)
		# where the clock stands before the name of who has it
		open("named-before.fxt", "wb").write(
		    words(MAGIC) + clock(1000) + provider_info(0, b"one") + events(1, 2) + archive(0, 3000000007, 4000000009))
	PY
	times() { whose "$1" | sed '/ lost /d; s/.* //' | sort; }
	printf '%s\n' 1000000 2000000 3000000007 4000000009 >expected
	for file in named-*.fxt nameless-*.fxt; do
		for jobs in 1 2; do
			trackway cut --jobs $jobs --thread 6 $file -o part$jobs.fxt 2>err || true
			! grep -q 'time: ' err || fail "$file: $(cat err)"
			times part$jobs.fxt | diff expected - || fail "$file"
			[ "$(trackway dump part$jobs.fxt | grep -c 'ticks_per_second=1000$')" = 1 ] || fail "$file"
		done
		cmp part1.fxt part2.fxt
	done
	# Nor does damage tell the clock of the whole, which is that of another format's header.
	for file in *-damaged.fxt; do
		trackway convert --to xray-fdr $file -o log.xray 2>/dev/null || true
		trackway info log.xray | grep -q '^cycle frequency: *1,000,000,000 Hz$' || fail "$file"
	done
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

# What the records of an archive say, but for those of tables and of providers, whatever their references are; instants
# without a scope are of their thread.
said() {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" "$1" | "$PYTHON" -c '
import json, sys
TABLES = ("magic", "provider-info", "provider-section", "initialization", "string", "thread")
def plain(value):
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: plain(one) for key, one in value.items() if key != "offset" and not key.endswith("_ref")}
for line in sys.stdin:
    row = plain(json.loads(line))
    if row["record"] == "event.instant":
        row.setdefault("scope", 0)
    if row["record"] not in TABLES:
        print(json.dumps(row, sort_keys=True))
'
}

# Writes little.fxt and big.fxt from Python: `out` is a list of records behind those of a provider.
both_orders() {
	(cat <<'PY'
import os, sys
sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
from fxt_odd import *

def user(pointer, reference, name, *parts):
    return record(6, reference << 16 | name << 24 | len(parts) << 40, pointer, *parts)

def kernel(koid, kind, name, *parts):
    return record(7, kind << 16 | name << 24 | len(parts) << 40, koid, *parts)

def section(number):
    return record(0, 2 << 16 | number << 20)

def provider(number, name, process, koid):
    texts = (b"work", b"cat", b"one", b"two", b"process")
    return (provider_info(number, name) + record(1, 0, 10**9) + thread(1, process, koid) + thread(2, process, koid + 1) +
            b"".join(string(i, text) for i, text in enumerate(texts, 1)))

out = [MAGIC_RECORD, provider(7, b"app", 5, 6)]
PY
	cat
	echo 'open("little.fxt", "wb").write(b"".join(out))') | "$PYTHON"
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" --swap little.fxt >big.fxt
}

@test "cut: records of every kind stay what they are, and none is lost" {
	both_orders <<'PY'
out += [
    user(0xabc, 1, 3, argument(2, 77)),                               # with a thread of the table
    record(6, 0x8003 << 24, 0xdef, 5, stream(b"far")),                # with a process alone
    kernel(700, 3, 4, argument(2, 5)), kernel(701, 4, 0),
    event(2, 1, ticks=1000, category=2), event(3, 1, ticks=1500, category=2),
    record(8, 3 << 16 | 2 << 24 | 1 << 28 | 2 << 36 | 10 << 44 | 20 << 52, 2000),  # legacy context switch
    record(8, 255 << 16 | 2 << 24 | 255 << 52, 2001, 5, 7, 5, 6),
    record(8, 1 << 60 | 3 << 20 | 2 << 36, 2002, 6, 7),
    record(8, 1 << 60 | 3 << 20 | 2 << 36 | 1 << 16, 2003, 7, 6, argument(1, 5)),
    record(8, 1 << 60 | 256 << 20 | 2 << 36, 2004, 6, 7),
    record(8, 2 << 60 | 3 << 20 | 1 << 16, 2005, 7, argument(2, 6)),
    record(9, 5 << 16 | 1 << 32, 2006, stream(b"hello")), record(9, 0, 2007, 5, 7),
    record(10, 1 << 20 | 7 << 28 | 3 << 44 | 2 << 52, 2010, stream(b"mod"), stream(b"\x01\x02")),
    record(10, 0xffff << 28 | 255 << 44 | 255 << 52, 2011, 5, 7, stream(b"m" * 255), stream(b"\x03" * 255)),
    record(10, 1 << 20 | 7 << 28, 2012),
    record(10, 1 << 16 | 7 << 28 | 5 << 44, 2013, 5, 6, 1, 2, 3),
    record(10, 1 << 16 | 1 << 20, 2014, 1 << 63, (1 << 64) - 1, 0),
    record(10, 2 << 16 | 1 << 20 | 2 << 28, 2015, 0x10, 1 << 63),
    record(10, 2 << 16 | 1 << 20 | 2 << 28 | 9 << 36, 2016, 0x10, 0x20),
    record(10, 2 << 16 | 1 << 20 | ((1 << 28) - 1) << 36, 2017),
    record(10, 2 << 16 | 1 << 20 | 255 << 28, 2018, *range(255)),
    record(0, 3 << 16 | 7 << 20), record(0, 3 << 16 | 7 << 20 | 2 << 52), record(0, 3 << 16 | 99 << 20),
    record(5, 4 << 16 | 3 << 32 | 1 << 48, stream(b"abc")), record(5, 4 << 16 | 2 << 48),
    record(LARGE, 0, 2 | 4 << 16 | 1 << 32 | 1 << 36, 2020, argument(2, 3), 5, stream(b"12345")),
    record(LARGE, 0, 2 | 4 << 16 | 1 << 36, 2021, 5, stream(b"12345")),
    record(LARGE, 0, 4 << 16, 2022, 0, 0, 5, stream(b"12345")),
    record(LARGE, 1 << 40, 2 | 4 << 16, 5, stream(b"12345")), record(LARGE, 1 << 40, 4 << 16, 5, stream(b"12345")),
    record(LARGE, 1 << 40, 0, 0),
    event(0, 1, ticks=3000), event(0, 1, 1, ticks=3001), event(0, 1, 2, ticks=3002),
    event(1, 1, argument(1, 5), argument(5, 0, double(1.5)), argument(6, 3), 99, arguments=3, ticks=3004, category=2),
    event(4, 1, 3030, ticks=3020),
    *(event(kind, 1, 55, ticks=3030 + kind, category=2) for kind in range(5, 11)),
    event(0, 1, argument(0), argument(1, (1 << 32) - 1), argument(2, 5), argument(3, 0, -(1 << 40)),
          argument(4, 0, 1 << 40), argument(6, 1), argument(6, 0), argument(6, 0x8003, stream(b"xyz")),
          argument(7, 0, 0x123), argument(8, 0, 77), argument(9, 1), argument(10, 3, stream(b"\1\2\3")),
          argument(10, 0, name=0), arguments=13, ticks=3050),
    record(4, 0x8001 << 32 | 0x8002 << 48, 3051, 5, 7, stream(b"c"), stream(b"nn")), record(4, 0, 3052, 0, 0)]
PY
	for file in little big; do
		said $file.fxt >whole
		[ "$(wc -l <whole)" -eq 48 ]
		for jobs in 1 2; do
			trackway cut --jobs $jobs --category '*' $file.fxt -o part.fxt 2>err
			[ "$(grep -cv 'fxt.records-dropped\|fxt.provider-event' err)" -eq 0 ] || fail "$(cat err)"
			said part.fxt | diff whole -
		done
	done
}

@test "cut: what cannot stay what it is is told" {
	both_orders <<'PY'
out += [record(12, 0xabcdef << 16, 1, 2), event(0, 1, ticks=3000)]
PY
	run trackway cut --strict --category '*' little.fxt -o part.fxt
	[ "$status" -eq 1 ]
	[[ "$output" == *"part.fxt: metadata: 1 kept in another form"* ]]
}

# The names of the objects that arguments point to, by the time of the event.
pointed() {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" "$1" | "$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
for row in sorted((row for row in rows if "timestamp" in row), key=lambda row: row["timestamp"]):
    print(row["timestamp"], *(argument.get("object", "-") for argument in row["arguments"]))
'
}

# Two providers: the second one describes its objects behind later records of the first, the third koid is nobody's.
objects() {
	both_orders <<'PY'
def look(time):
    koids = (argument(8, 0, koid, name=4) for koid in (900, 700, 1))
    return event(0, 1, argument(7, 0, 0x111, name=3), *koids, arguments=4, ticks=time)

out += [user(0x111, 1, 3), kernel(700, 3, 3), event(0, 1, ticks=9000), provider(8, b"net", 25, 26),
        user(0x111, 1, 4, argument(2, 5)), kernel(900, 3, 4), look(5000), section(7), look(6000), look(9500),
        kernel(700, 3, 1), look(9600)]
PY
}

@test "cut: the objects that arguments point to keep their names" {
	objects
	for file in little big; do
		pointed $file.fxt >whole
		diff whole - <<-'END'
			5000 two two one -
			6000 one two one -
			9000
			9500 one two one -
			9600 one two work -
		END
		trackway cut --from-time 0 $file.fxt -o part.fxt
		pointed part.fxt | diff whole -
		trackway cut --from-time 1us $file.fxt -o part.fxt
		pointed part.fxt | diff <(sed 1d whole) -
		trackway cut --from-time 4.2us --to-time 4.55us $file.fxt -o part.fxt
		pointed part.fxt | diff <(sed -n 4p whole) -
		trackway cut --to-time 1us $file.fxt -o part.fxt
		pointed part.fxt | diff <(sed -n 1p whole) -
		trackway cut --min-duration 1us $file.fxt -o part.fxt
		pointed part.fxt | diff whole -
		trackway cut --provider app $file.fxt -o part.fxt
		pointed part.fxt | diff <(sed 1d whole) -
		trackway cut --provider net $file.fxt -o part.fxt
		pointed part.fxt | diff <(sed -n 1p whole) -
		trackway cut --provider net part.fxt -o twice.fxt
		cmp part.fxt twice.fxt
	done
}

@test "cut: a window of time has the records that describe objects" {
	objects
	said little.fxt | grep '"record": "[a-z]*-object"' >whole
	[ "$(wc -l <whole)" -eq 5 ]
	for window in "--from-time 1us" "--to-time 1us" "--from-time 4.2us --to-time 4.3us"; do
		trackway cut $window little.fxt -o part.fxt
		# those that are described ahead of them have a name and nothing else
		said part.fxt | grep '"record": "[a-z]*-object"' | grep -v '"arguments": \[\].*\("thread": null\|"object_type": 0\)' |
			sort | diff <(sort whole) -
	done
	trackway info --json --from-time 4.2us --to-time 4.3us little.fxt | grep -q '"events":5,'
}

@test "cut: what a CPU does and for what a thread waits over the edges of a window is counted" {
	local switch='{"ph":"k","ts":%s,"cpu":%s,"out":{"tid":1%s,"state":3,"prio":16},"in":{"tid":1%s,"prio":16}},\n'
	{
		echo '{"traceEvents":[{"ph":"i","pid":1,"tid":11,"ts":0,"name":"x","s":"t"}],"systemTraceEvents":{"type":"fuchsia","events":['
		printf "$switch" 1 0 2 1 2 1 4 3 10 0 1 2 12 0 2 1
		echo '{"ph":"w","ts":17,"cpu":1,"tid":12,"prio":16},'
		printf "$switch" 20 0 1 2
		echo '{"ph":"p","pid":1,"name":"P"}]}}'
	} >in.json
	trackway convert in.json -o in.fxt
	# of CPU 0: within, into, out of, into and out of, over; CPU 1 switches once: what it does then is never known.
	# Thread 12 waits from 1 to 10 and from 12 to 17, and for a CPU from 17 to 20; 11 from 10 to 12; 14 has no end
	while read -r from to runs waits; do
		for end in json fxt; do
			trackway cut --json --from-time "$from" --to-time "$to" in.$end -o part.$end >told
			for wanted in "CPU at=$runs" "thread that waits at=$waits"; do
				[ "$(grep -o "\"${wanted%=*} the edge of the window\",\"approximated\":0,\"left_out\":[0-9]*" told |
					grep -o '[0-9]*$')" = "${wanted#*=}" ] || fail "$from $to $wanted: $(cat told)"
			done
		done
	done <<-END
		0 1s
		2us 1s 1 1
		0 15us 1 1
		2us 15us 2 2
		3us 9us 1 1
		13us 19us 1 2
		11us 16us 2 2
		30us 1s
		0 500ns
	END
	fails trackway cut --strict --to-time 15us in.fxt -o part.fxt
	trackway cut --strict --to-time 21us in.fxt -o part.fxt
}
