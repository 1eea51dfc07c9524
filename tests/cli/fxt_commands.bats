# fxt_commands.bats - counters, sched, blobs and log on small archives that are written here.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}

# Writes in.fxt: Python's standard input appends to the list `out` what fxt_odd.py makes; a tick is a nanosecond.
archive() {
	{
		echo "import sys; sys.path.insert(0, '$TRACKWAY_SOURCE/tests/truth')"
		echo "from fxt_odd import *"
		echo "out = [words(MAGIC), provider_info(1, b'p'), record(1, 0, 10**9), thread(1, 5, 6)]"
		cat
		echo "open('in.fxt', 'wb').write(b''.join(out))"
	} | "$PYTHON" -
}

# A blob record: a name of the table, a type, bytes.
blob="
def blob(name, kind, data):
    return record(5, name << 16 | len(data) << 32 | kind << 48, stream(data))
def large(name, data):
    return record(15, 1 << 40, name << 16, len(data), stream(data))
"

says() { # expected, then a command: exit status 0, nothing on standard output
	local expected=$1
	shift
	"$@" >out 2>err
	[ ! -s out ] || fail "standard output: $(cat out)"
	echo "trackway: $expected" | diff - err
}

@test "nothing of the kind: one line, exit status 0" {
	archive <<<"out.append(event(0, 0))"
	says "there is no counter in the trace" trackway counters in.fxt
	says "there is no counter in the trace" trackway counters --json in.fxt
	says "there is no scheduling in the trace" trackway sched in.fxt
	says "there is no scheduling in the trace" trackway sched --by cpu --json in.fxt
	says "there is no blob in the trace" trackway blobs in.fxt
	says "there is no blob in the trace" trackway blobs --extract-all all in.fxt
	says "there is no log record in the trace" trackway log in.fxt
	says "no counter matches 'x*'" trackway counters -f 'x*' in.fxt
	says "no log record passes the filters: --thread 7" trackway log --thread 7 in.fxt
	says "no scheduling passes the filters: --thread nobody" trackway sched --thread nobody "$DATA/fxt/cpu_breakdown.fxt"
	for command in counters sched blobs log; do
		trackway $command "$DATA/xray/v5.xray" 2>err
		grep -q "^trackway: there is no" err
	done
	for command in insns blocks branches mem cache syscalls calls phases 'slice --length 1 -o out.elf'; do
		run trackway $command in.fxt
		[ "$status" -eq 2 ] && [ "$output" = "trackway: error: in.fxt has no instructions: an xtrace has" ] || fail "$command: $output"
	done
	trackway counters in.fxt -o none.svg 2>err
	grep -q 'no counters' none.svg
	says "there is no scheduling in the trace" trackway sched in.fxt -o nothing.svg
	[ ! -e nothing.svg ]
}

@test "counters: CSV has every sample exactly, in the order of time" {
	archive <<'END'
out += [string(1, b'mem,"x"'), string(2, b'a\nb'), string(3, b'plain'),
        event(1, 1, argument(4, 0, (1 << 64) - 1, name=2), argument(3, 0, -(1 << 63), name=3), 7, arguments=2, ticks=300),
        event(1, 3, argument(5, 0, double(0.1), name=3), 0, arguments=1, category=3, ticks=100),
        event(1, 3, argument(5, 0, double(float('nan')), name=3), 0, arguments=1, category=3, ticks=120),
        event(1, 3, argument(1, -5 % (1 << 32), name=3), 0, arguments=1, category=3, ticks=200)]
END
	trackway counters --csv in.fxt >out.csv
	cat >expected <<'END'
time_ns,process,thread,category,counter,id,series,value
0,5,6,plain,plain,0,plain,0.1
100,5,6,plain,plain,0,plain,-5
200,5,6,,"mem,""x""",7,"a
b",18446744073709551615
200,5,6,,"mem,""x""",7,plain,-9223372036854775808
END
	diff expected out.csv
	trackway counters in.fxt -o named.csv
	cmp named.csv out.csv
	trackway counters in.fxt -o named.csv.gz
	gzip -dc named.csv.gz | cmp - out.csv
	trackway counters --csv -f 'mem*' --from-time 150ns in.fxt | wc -l | grep -qx 4
	trackway counters --csv -f plain --to-time 100ns in.fxt | wc -l | grep -qx 2
	trackway counters in.fxt | tail -1 | grep -qx '1 value not a number: not counted'
}

# A complete slice states its own end, and ends nothing but itself: a begin without an end goes on until the call around it
# or the thread ends, and is then no part of the slice.
@test "what begins inside of a complete slice and has no end goes on after it: in stat, in a window, and in Chrome's JSON" {
	archive <<'END'
out += [string(1, b'outer'), string(2, b'whole'), string(3, b'lost end'), string(4, b'next'),
        event(2, 1, ticks=0), event(4, 2, 100, ticks=10), event(2, 3, ticks=20), event(4, 4, 150, ticks=110),
        event(3, 1, ticks=200), event(0, 1, ticks=300)]
END
	calls() { trackway stat --json "$@" in.fxt | "$PYTHON" -c '
import json, sys
rows = map(json.loads, sys.stdin)
print(*sorted("%(name)s %(count)d %(total_ns)d %(self_ns)d" % row for row in rows), sep="; ")'; }
	is() { [ "$1" = "$2" ] || fail "$1"; }
	is "$(calls)" "lost end 1 180 140; next 1 40 40; outer 1 200 10; whole 1 90 90"
	is "$(calls --from-time 50ns)" "lost end 1 150 110; next 1 40 40; outer 1 150 0; whole 1 50 50"
	is "$(calls --from-time 50ns --to-time 90ns)" "lost end 1 40 40; outer 1 40 0; whole 1 40 0"
	is "$(calls --from-time 100ns)" "lost end 1 100 60; next 1 40 40; outer 1 100 0"
	is "$(calls --from-time 105ns)" "lost end 1 95 55; next 1 40 40; outer 1 95 0"
	is "$(calls --min-duration 90ns)" "lost end 1 180 180; outer 1 200 10; whole 1 90 90"
	is "$(calls --min-duration 91ns)" "lost end 1 180 180; outer 1 200 20"
	trackway cut --from-time 105ns in.fxt -o part.fxt
	is "$(trackway sql --csv part.fxt 'select name, ts, dur from slice order by ts, name' | tail -n +2 | xargs)" \
		"lost end,0,95 outer,0,95 next,5,40"
	trackway convert in.fxt -o out.json
	is "$("$PYTHON" -c '
import json
for one in json.load(open("out.json"))["traceEvents"]:
    if one["ph"] == "X":
        print(one["name"], round(one["ts"] * 1000), round(one["dur"] * 1000), one.get("args", ""), sep=",")')" \
		"outer,0,200,
whole,10,90,
lost end,20,180,{'unwound': True}
next,110,40,"
	# The last thing that the thread tells.
	archive <<'END'
out += [string(2, b'whole'), string(3, b'lost end'), event(4, 2, 100, ticks=10), event(2, 3, ticks=20), event(0, 2, ticks=200)]
END
	is "$(calls --min-duration 90ns)" "lost end 1 180 180; whole 1 90 90"
	is "$(calls --min-duration 91ns)" "lost end 1 180 180"
}

@test "CSV and folded stacks are UTF-8, whatever bytes names have" {
	archive <<'END'
out += [string(1, b'a\xff\xfe"b'), string(2, b'cut\xe2\x82'), string(3, b'\xc3\xa4'),
        event(1, 1, argument(1, 5, name=2), 0, arguments=1, category=3, ticks=100), event(0, 1, ticks=100),
        event(4, 1, 130, ticks=100), event(4, 2, 110, ticks=100)]
END
	u=$(printf '\xef\xbf\xbd')
	trackway counters --csv in.fxt | tail -n 1 >found
	printf '0,5,6,%s,"a%s""b",0,%s,5\n' ä "$u$u" "cut$u$u" | diff - found
	trackway sql --csv in.fxt 'select name from instant' | tail -n 1 >found
	printf '"a%s""b"\n' "$u$u" | diff - found
	printf 'a%s"b 20\na%s"b;%s 10\n' "$u$u" "$u$u" "cut$u$u" >expected
	trackway convert --to folded in.fxt -o - | diff expected -
	trackway flame --folded in.fxt | diff expected -
}

@test "threads of process 0 are its own; where only a thread is known, it is of the process that it is met with" {
	archive <<'END'
out += [string(1, b'a'), string(2, b'b'), thread(1, 0, 7), thread(2, 1, 7), thread(3, 9, 8),
        event(4, 1, 600, ticks=100, reference=1), event(4, 2, 500, ticks=200, reference=2),
        record(8, 2 << 60, 300, 8), event(0, 1, ticks=400, reference=3)]
END
	for jobs in 1 2; do
		trackway stat -j $jobs --json in.fxt | grep -Eo '"name":"."|"self_ns":[0-9]*' | paste -sd' ' >out
		echo '"name":"a" "self_ns":500 "name":"b" "self_ns":300' | diff - out
	done
	trackway convert --to jsonl in.fxt | grep -Eo '"kind":"[a-z-]*"|"(process|thread)":[0-9]*' | paste -d' ' - - - >out
	cat >expected <<'END'
"kind":"slice-complete" "process":0 "thread":7
"kind":"slice-complete" "process":1 "thread":7
"kind":"wakeup" "process":9 "thread":8
"kind":"instant" "process":9 "thread":8
END
	diff expected out
	# The same where its process comes long after it, twice: the track that things without a thread have gets none.
	archive <<END
$blob
def switch(at, leaving, coming):
    return record(8, 1 << 60 | 3 << 36, at, leaving, coming)
out += [switch(100, 0, 8), switch(300, 8, 0)] + [event(0, 0, ticks=400)] * 400000
for index in 3, 4:
    out += [thread(index, 9, 8), event(0, 0, ticks=500, reference=index)] + [event(0, 0, ticks=600)] * 400000
out += [string(1, b'b'), blob(1, 1, b'x')]
END
	for jobs in 1 2; do
		trackway sched --json in.fxt | grep -q '"process":9,"thread":8,.*"running_ns":200,'
		trackway info -j $jobs --json in.fxt | grep -q '"threads":2,"processes":2,'
	done
	trackway blobs --json in.fxt | grep -q '"process":0,"thread":0}'
}

@test "records that come late by no more than the reorder window are put in order, wherever in the file they stand" {
	archive <<'END'
out.append(string(1, b'f'))
for group in range(1000):
    out += [event(4, 1, 1000 * group + 10 * back + 9, ticks=1000 * group + 10 * back) for back in range(99, -1, -1)]
END
	for window in 4K 256K 300K; do
		for jobs in 1 2; do
			trackway stat -j $jobs --reorder-window $window --json in.fxt 2>err | grep -q '"count":100000,"open":0,"unwound":0,"total_ns":900000,'
			[ ! -s err ] || fail "stat: $(cat err)"
		done
		trackway convert --reorder-window $window --to csv in.fxt 2>err | tail -n +2 | cut -d, -f 1 >times
		[ ! -s err ] || fail "convert: $(cat err)"
		seq 0 10 999990 | cmp - times
		[ "$(trackway check --reorder-window $window in.fxt)" = "in.fxt: fine" ]
	done
}

@test "counters: the first, or those that were told most often, as rows and as charts" {
	archive <<'END'
out += [string(1, b'few'), string(2, b'most'), string(3, b'some'), string(4, b'told as text')]
for name, samples in (1, 1), (2, 3), (3, 2), (4, 0):
    for at in range(samples):
        out.append(event(1, name, argument(1, at), 0, arguments=1, ticks=at))
out.append(event(1, 4, argument(6, 4), 0, arguments=1, ticks=9))
END
	names() { trackway counters --json "$@" in.fxt | grep -Eo '"counter":"[a-z ]*"' | cut -d'"' -f 4 | paste -sd,; }
	[ "$(names)" = "few,most,some,told as text" ]
	[ "$(names -n 2)" = few,most ]
	[ "$(names --sort name -n 1)" = few ]
	[ "$(names --sort samples)" = "most,some,few,told as text" ]
	[ "$(names -s samples --top 2)" = most,some ]
	trackway counters -s samples -n 2 in.fxt >out
	grep -qx '\.\.\. and 2 more' out
	[ "$(tail -1 out)" = '1 value not a number: not counted' ]
	trackway counters -s samples -n 2 in.fxt -o two.svg
	[ "$(grep -Eo '>(few|most|some): ' two.svg | paste -sd,)" = '>most: ,>some: ' ]
	trackway counters -n 9 in.fxt -o all.svg
	trackway counters in.fxt -o every.svg
	cmp all.svg every.svg
}

@test "sched: the rows are the threads with colours of their own, or the CPUs, of the picture" {
	archive <<'END'
def switch(at, cpu, old, new):
    return record(8, 1 << 60 | 3 << 36 | cpu << 20, at, old, new)
def wake(at, cpu, thread):
    return record(8, 2 << 60 | cpu << 20, at, thread)
out += [switch(0, 0, 0, 11), wake(50, 1, 12), switch(60, 1, 0, 12), wake(70, 1, 13), switch(100, 1, 12, 13),
        switch(130, 1, 13, 0), switch(200, 0, 11, 0), switch(300, 2, 0, 0)]
for at in range(25):
    out += [switch(1000 + 2 * at, 2, 100 + at - 1 if at else 0, 100 + at)]
out += [switch(1050, 2, 124, 0)]
END
	shown() { # what the legend lists: thread=how long
		trackway sched "$@" in.fxt --svg >out.svg
		sed -En 's/.*z"\/><text[^>]*>(thread ([0-9]+) of process 0|([0-9]+) other threads?): ([0-9]+) ns<.*/\2+\3=\4/p' out.svg |
			sed 's/+=/=/' | paste -sd,
	}
	[ "$(shown -n 2)" = 11=200,12=40,+26=80 ]
	[ "$(shown --sort max --top 2)" = 13=30,12=40,+26=250 ]
	[ "$(shown --thread 13 --thread 12)" = 12=40,13=30,+26=250 ]
	[ "$(shown --thread 99)" = +28=320 ]
	[ "$(shown | tr , '\n' | wc -l)" = 13 ]
	[ "$(shown | tr , '\n' | tail -1)" = +16=32 ]
	[ "$(shown -n 28 | tr , '\n' | wc -l)" = 28 ]
	[ "$(shown --by cpu --sort switches -n 1 | cut -d, -f 1)" = 11=200 ]
	[ "$(grep -Eo '>CPU [0-9]+' out.svg)" = '>CPU 2' ]
	shown --by cpu
	[ "$(grep -Eo '>CPU [0-9]+' out.svg | paste -sd,)" = '>CPU 0,>CPU 1,>CPU 2' ]
	shown --sort max --top 2
	grep -Eq '<path class="c7" [^>]*><title>thread 13 ' out.svg
	grep -Eq '<path class="c8" [^>]*><title>thread 12 ' out.svg
	shown --top 1
	grep -Eq '<path class="c9" [^>]*><title>thread 11 ' out.svg
	grep -Eq '<path class="others" [^>]*><title>thread 12 ' out.svg
}

@test "counters: an axis has more than one round number, also on both sides of 0" {
	local at values='0 49 -49' n=0
	for at in $values; do
		n=$((n + 1))
		printf '{"ph":"C","pid":1,"ts":%d,"name":"neg","args":{"v":%d}}\n' "$n" "$at"
	done | paste -sd, | sed 's/.*/[&]/' >in.json
	trackway counters in.json -o axis.svg
	[ "$(grep -o 'class="value"[^>]*>[^<]*' axis.svg | sed 's/.*>//' | tr '\n' ' ')" = '-40 -20 0 20 40 ' ]
}

@test "counters, sched: pictures are XML, need no other file, and stay small" {
	"$PYTHON" - <<END
import sys
sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
import fxt_analysis
open("in.fxt", "wb").write(fxt_analysis.archive(3, 100_000))
END
	for command in counters sched; do
		trackway $command in.fxt -o $command.svg
		trackway $command --svg in.fxt | cmp - $command.svg
		"$PYTHON" - $command.svg <<'END'
import re, sys, xml.dom.minidom
data = open(sys.argv[1], "rb").read()
assert len(data) < 600_000, len(data)
assert not re.search(rb'(?:href|src)=|url\(|@import', data)
assert xml.dom.minidom.parseString(data).documentElement.tagName == "svg"
END
	done
	[ "$(grep -c 'class="line"' counters.svg)" = 3 ]
	grep -q 'prefers-color-scheme: dark' counters.svg
	grep -q 'prefers-color-scheme: dark' sched.svg
	grep -q '>CPU 3: ' sched.svg
	# Of a window: it has all of the width.
	for command in counters sched; do
		trackway $command --from-time 120ms --to-time 140ms --svg in.fxt >part.svg
		sed -n 's/.*class="time" x="\([0-9.]*\)".*>\(.*\)<.*/\1 \2/p' part.svg | sort -un >times
		[ "$(sed -n '1p;$p' times)" = "130 120 ms
1154 140 ms" ]
	done
}

@test "counters, sched: at the memory limit the rest is left out, and told" {
	archive <<'END'
out.append(string(1, b'n'))
out += [event(1, 1, argument(1, 1), number, arguments=1, ticks=number) for number in range(9000)]
out += [record(8, 1 << 60 | 3 << 36, number, number, number + 1) for number in range(9000)]
END
	trackway counters --memory 1M in.fxt >out 2>err
	grep -Eqx 'trackway: the memory limit was reached: [0-9,]+ samples of other series left out; --memory raises it' err
	[ "$(wc -l <out)" -gt 100 ]
	trackway counters in.fxt >out 2>err
	[ ! -s err ]
	[ "$(wc -l <out)" = 9001 ]
	trackway sched --memory 1M in.fxt -o limited.svg 2>err
	grep -q '<title>a thread left out</title>' limited.svg
	trackway sched --memory 1M in.fxt >out 2>err
	grep -q 'the rest is shown as one. \[fxt.name-limit\]$' err # threads without a number of their own have one row
	[ "$(wc -l <out)" -gt 100 ]
}

@test "sched: threads, CPUs and what is chosen of them" {
	archive <<'END'
def switch(at, cpu, state, leaving, coming):
    return record(8, 1 << 60 | cpu << 20 | state << 36, at, leaving, coming)
def wake(at, koid):
    return record(8, 2 << 60, at, koid)
name, process = string(1, b'process'), argument(8, 0, 5, name=1)
out += [name, record(7, 1 << 16 | 0x8006 << 24, 5, stream(b'server')),
        record(7, 2 << 16 | 0x8004 << 24 | 1 << 40, 6, stream(b'main'), process),
        switch(1000, 0, 1, 0, 6), wake(1500, 8), switch(2000, 0, 3, 6, 8), switch(2250, 0, 9, 8, 0),
        switch(4250, 0, 1, 0, 6), switch(4350, 0, 5, 6, 0)]
END
	trackway sched in.fxt >out
	cat >expected <<'END'
WINDOW %   RUNNING  RUNNABLE  SWITCHES  WAKE-UPS     P50     P90     P99     MAX  LEFT               PROCESS  THREAD  NAME
  32.8 %  1.100 us      0 ns         2         0       -       -       -       -  1 blocked, 1 dead  server        6  main
   7.5 %    250 ns    500 ns         1         1  500 ns  500 ns  500 ns  500 ns  1 state 9          0             8
END
	diff expected out
	trackway sched --by cpu in.fxt >out
	cat >expected <<'END'
CPU      BUSY      IDLE  UNKNOWN  SWITCHES  BUSY %  WINDOW %
  0  1.350 us  2.000 us     0 ns         5  40.3 %    40.3 %
END
	diff expected out
	trackway sched --by process in.fxt >out
	cat >expected <<'END'
WINDOW %   RUNNING  RUNNABLE  SWITCHES  WAKE-UPS  THREADS  PROCESS  NAME
  32.8 %  1.100 us      0 ns         2         0        1        5  server
   7.5 %    250 ns    500 ns         1         1        1        0
END
	diff expected out
	# 100 of the 500 ns from 1,900 on: what goes on at an edge counts with what is inside
	trackway sched --by process --json --from-time 900ns --to-time 1400ns in.fxt >out
	grep -q '"process":5,.*"running_ns":100,.*"window_ns":500,"window_percent":20.000}$' out
	grep -q '"process":0,.*"running_ns":250,.*"window_percent":50.000}$' out
	trackway sched --sort max -n 1 in.fxt | sed -n 2p | grep -q ' 8$'
	trackway sched --thread 8 in.fxt | grep -c main | grep -qx 0
	trackway sched --thread 8 --json in.fxt | grep -q '"running_ns":250,'
	local status=0
	trackway sched --by cpu --sort p99 in.fxt 2>err || status=$?
	[ $status = 2 ]
	grep -q -- '--by cpu has nothing to sort by p99' err
}

@test "sched: how busy a CPU was is of the time of which something is known" {
	archive <<'END'
def switch(at, cpu, leaving, coming):
    return record(8, 1 << 60 | cpu << 20 | 3 << 36, at, leaving, coming)
# CPU 0: 100 ns of thread 6, 100 ns idle, 300 ns in which 7 came and 8 left. CPU 1: a single switch. CPU 2: unknown alone.
out += [switch(1000, 0, 0, 6), switch(1100, 0, 6, 0), switch(1200, 0, 0, 7), switch(1500, 0, 8, 0),
        switch(1200, 1, 6, 7), switch(1000, 2, 0, 9), switch(1400, 2, 10, 9)]
END
	trackway sched --by cpu in.fxt | head -n 4 >out
	cat >expected <<'END'
CPU    BUSY    IDLE  UNKNOWN  SWITCHES  BUSY %  WINDOW %
  0  100 ns  100 ns   300 ns         4  50.0 %    20.0 %
  1    0 ns    0 ns     0 ns         1       -     0.0 %
  2    0 ns    0 ns   400 ns         2       -     0.0 %
END
	diff expected out
	trackway sched in.fxt -o out.svg
	[ "$(grep -o 'CPU [0-9]: [^<]*' out.svg | tr '\n' ' ')" = "CPU 0: 50.0 % CPU 1: - CPU 2: - " ] || fail "$(cat out.svg)"
}

@test "sched: of a thread that was cut out, with the switches that it leaves with and those that it comes with" {
	archive <<'END'
def switch(at, leaving, coming):
    return record(8, 1 << 60, at, leaving, coming)
def legacy(at, leaving, coming):
    return record(8, leaving << 28 | coming << 36, at)
out += [thread(2, 5, 8), thread(3, 5, 9), switch(1000, 6, 8), switch(2000, 8, 6), switch(2100, 6, 9), switch(2200, 9, 6),
        legacy(3000, 1, 2), legacy(3500, 2, 1), legacy(3600, 1, 3)]
END
	trackway sched --thread 8 --json in.fxt | sed 's/,"window_ns.*//' >expected # the part has fewer switches
	grep -q '"running_ns":1500,' expected
	trackway cut --thread 8 in.fxt -o part.fxt
	trackway sched --thread 8 --json part.fxt | sed 's/,"window_ns.*//' | diff expected -
	trackway dump --json part.fxt | grep -c '"record":"scheduling' | grep -qx 4
}

@test "blobs: parts of one name are one blob" {
	archive <<END
$blob
out += [string(1, b'one'), string(2, b'two'), string(3, b'none'), event(0, 1, ticks=1000),
        blob(1, 1, b'first '), blob(2, 2, b'2'), event(0, 1, ticks=3000), blob(1, 3, b'second '), blob(3, 9, b''),
        large(1, b'third')]
END
	trackway blobs in.fxt >out
	cat >expected <<'END'
BYTES  MISSING  PARTS  TYPE             TIME  THREAD  NAME
   18        -      3  data             0 ns       -  one
    1        -      1  last-branch      0 ns       -  two
    0        -      1  9            2.000 us       -  none
END
	diff expected out
	[ "$(trackway blobs --extract one in.fxt)" = "first second third" ]
	trackway blobs -x two in.fxt -o two
	printf 2 | cmp - two
	trackway blobs -x none in.fxt -o none
	[ -e none ]
	[ ! -s none ]
	local status=0
	trackway blobs -x three in.fxt -o three 2>err || status=$?
	[ $status = 2 ]
	[ ! -e three ]
	grep -qx 'trackway: error: no blob is called "three"' err
}

@test "blobs: each is the same after its archive is written as FXT, byte for byte" {
	archive <<END
$blob
import random
random.seed(3)
out += [string(1, b'one'), string(2, b'two'), string(3, b'none'), event(0, 1, ticks=1000)]
for i in range(60): # in turns, of every size up to a record's, and large ones between
    out += [blob(1 + i % 2, 1, random.randbytes(i * 500 + i % 9)), event(0, 1, ticks=2000 + i)]
out += [blob(3, 9, b''), large(1, random.randbytes(70001))]
END
	cp "$DATA/fxt/oneshot_all.fxt" all.fxt
	for t in in all; do
		trackway blobs --extract-all $t.0 $t.fxt
		trackway convert $t.fxt -o $t.1.fxt
		trackway convert $t.1.fxt -o $t.2.fxt
		trackway cut --to-time 100s $t.fxt -o $t.3.fxt
		trackway convert --byte-order big $t.fxt -o $t.4.fxt
		for i in 1 2 3 4; do
			trackway blobs --extract-all $t.$i $t.$i.fxt
			diff -r $t.0 $t.$i || fail "$t $i"
		done
	done
	[ "$(ls in.0 | wc -l)" = 3 ]
}

@test "blobs: their parts stay in order where the records before them are not" {
	for form in "blob(3, 1, part)" "large(3, part)"; do
		archive <<-EOF
			$blob
			out += [string(1, b'inner'), string(2, b'outer'), string(3, b'file')]
			for begin, end, part in (1000, 1100, b'one, '), (500, 1200, b'two, '), (1300, 1400, b'three, '), (900, 1500, b'four'):
			    out += [event(4, 1, end, ticks=begin), $form]
		EOF
		for command in merge "cut --from-time 1ns" "cut --min-duration 1ns" "convert --to-time 1s"; do
			trackway $command in.fxt -o out.fxt
			[ "$(trackway blobs --extract file out.fxt)" = "one, two, three, four" ] || fail "$form, $command"
		done
	done
	# A blob of another name, in what another provider wrote meanwhile, is none of the parts.
	archive <<-EOF
		$blob
		for number, name, seconds in (1, b'a', (1, 50)), (2, b'b', (1, 2)):
		    out += [provider_info(number, name), record(1, 0, 10**9), string(1, b'one'), string(2, name), thread(1, 5, 6)]
		    for second in seconds:
		        out += [event(0, 1, ticks=second * 10**9), blob(2, 1, b'%d, ' % second)]
	EOF
	[ "$(trackway blobs --json in.fxt | grep -o '"time_ns":[0-9]*' | tr '\n' ' ')" = '"time_ns":0 "time_ns":0 ' ]
	trackway cut --to-time 10s in.fxt -o out.fxt
	[ "$(trackway blobs --extract a out.fxt)" = "1, " ]
	[ "$(trackway blobs --extract b out.fxt)" = "1, 2, " ]
	# Parts that are read far from one another.
	archive <<-EOF
		$blob
		out += [string(1, b'long'), string(2, b'file')]
		out += [event(4, 1, 10**6, ticks=i) for i in range(10**5, 10**5 + 20000)] + [blob(2, 1, b'one, ')]
		out += [event(4, 1, 10**6, ticks=i) for i in range(20000)] + [blob(2, 1, b'two')]
	EOF
	for jobs in 1 3; do
		trackway merge --jobs $jobs in.fxt "$DATA/fxt/streaming.fxt" -o out.fxt
		[ "$(trackway blobs --extract file out.fxt)" = "one, two" ]
		trackway merge --jobs $jobs - <in.fxt -o out.fxt
		[ "$(trackway blobs --extract file out.fxt)" = "one, two" ]
	done
}

@test "a call that is open in a thread that nothing registers goes on until its last event" {
	archive <<-EOF
		out += [string(1, b'open'), event(2, 1, reference=9, ticks=10), event(0, 1, reference=9, ticks=100)]
	EOF
	for options in "" "--jobs 1" "--category *"; do
		set -f
		trackway stat --json $options in.fxt >out 2>err || [ $? -eq 1 ]
		set +f
		grep -q '"name":"open",.*"open":1,.*"total_ns":90,' out || fail "$options: $(cat out)"
	done
}

@test "slices of one time nest as those of their thread, also where it stands in the records" {
	# What begins at once: the longer contains the shorter, which was written before it. An end of another thread is
	# between them; then the thread is an index of the table in the first, and stands in the second.
	for there in "event(4, 1, 5, 6, 101, reference=0), event(3, 3, 5, 7, reference=0), event(4, 2, 5, 6, 105, reference=0)" \
		"event(4, 1, 101), event(3, 3, 5, 7, reference=0), event(4, 2, 5, 6, 105, reference=0)" \
		"event(4, 1, 5, 6, 101, reference=0), event(3, 3, 5, 7, reference=0), event(4, 2, 105)"; do
		archive <<-EOF
			out += [string(1, b'child'), string(2, b'parent'), string(3, b'other')]
			out += [event(2, 3, 5, 7, reference=0, ticks=50), $there]
		EOF
		printf '%s\n' 'other 50' 'parent 4' 'parent;child 1' >expected
		trackway convert --to folded in.fxt -o - | diff expected -
		trackway convert --to folded --category '*' in.fxt -o - | diff expected -
		trackway flame --folded --to-time 1s in.fxt | diff expected -
		trackway merge in.fxt -o out.json
		trackway convert --to folded out.json -o - | diff expected -
		trackway stat --json --category '*' in.fxt >out
		trackway stat --json in.fxt | diff out -
	done
}

@test "blobs: larger than what may be held in memory, byte for byte, also cut off" {
	archive <<END
$blob
import random
data = random.Random(1).randbytes(5_000_003)
open('data', 'wb').write(data)
out += [string(1, b'big'), blob(1, 1, data[:1000]), large(1, data[1000:]), event(0, 1)]
END
	trackway blobs --memory 64K --extract big in.fxt | cmp - data
	trackway blobs --extract-all all in.fxt
	cmp all/big data
	head -c 3000000 in.fxt >cut.fxt
	local status=0
	trackway blobs --json cut.fxt >out 2>err || status=$?
	[ $status = 1 ]
	"$PYTHON" - <<'END'
import json
row = json.loads(open("out").read())
assert row["bytes"] + row["missing_bytes"] == 5_000_003, row
assert 2_900_000 < row["bytes"] < 3_000_000, row
END
	trackway blobs --extract big cut.fxt -o part 2>err || status=$?
	head -c "$(stat -c %s part)" data | cmp - part
}

@test "a large blob that the file's end cuts off is no other event" {
	archive <<END
$blob
out += [string(1, b'big'), event(0, 1, ticks=1000), large(1, bytes(10_000))]
END
	head -c -100 in.fxt >cut.fxt
	trackway convert --to jsonl cut.fxt 2>err >out || [ $? = 1 ]
	"$PYTHON" - <<'END'
import json
rows = [json.loads(line) for line in open("out")]
assert [row["kind"] for row in rows if row["name"]] == ["instant", "blob", "blob"], rows
assert all(row["time_ns"] == 0 for row in rows), rows
END
	trackway check cut.fxt >out || [ $? = 1 ]
	fails grep begin-without-end out
	rm -f merged.json
	trackway merge --to chrome cut.fxt in.fxt -o merged.json 2>err || [ $? = 1 ]
	[ "$(grep -c '"ts":0.000,"name":"big","s":"t"' merged.json)" = 2 ]
}

@test "info: the time, thread and category of large blobs count" {
	archive <<'END'
def large(category, thread, ticks, data):
    inline = words(7, 8) if thread == 0 else b''
    return record(15, 0, category | 2 << 16 | thread << 36, ticks, inline, len(data), stream(data))
out += [string(1, b'cat'), string(2, b'big'), event(0, 2, category=1, ticks=1000),
        large(1, 1, 1500, bytes(5)), large(0, 0, 4000, bytes(300_000))]
END
	trackway info --json in.fxt >out
	"$PYTHON" - <<'END'
import json
info = json.load(open("out"))
assert info["end_ns"] == info["providers"][0]["end_ns"] == 3000, info
assert info["categories"] == [{"events": 2, "name": "cat"}, {"events": 1, "name": ""}], info
rows = [(row["thread"], row["records"], row["start_ns"], row["end_ns"]) for row in info["thread_list"]]
assert rows == [(6, 2, 0, 500), (8, 1, 3000, 3000)], info
END
}

@test "info: records of unknown types have no time, no thread and no category" {
	archive <<'END'
out += [string(1, b'cat'), event(0, 1, category=1, ticks=1000),
        record(4, 12 << 16, 77), record(4, 12 << 16), record(4, 12 << 16 | 1 << 24, 1), record(4, 11 << 16 | 1 << 24),
        record(8, 3 << 60, 1, 2, 3), record(8, 5 << 60), record(10, 9 << 16, 3, 4, 5), record(11, 0, 6, 7),
        event(0, 1, category=1, ticks=2500)]
out += [record(4, 15 << 16 | 0x8fff << 32, 5000)] # an inline category would go beyond the end of the file
END
	trackway info --json in.fxt >out 2>err
	"$PYTHON" - <<'END'
import json
info = json.load(open("out"))
assert info["kinds"]["unknown"] == 9 and info["events"] == 11, info
assert (info["clock_start_ns"], info["end_ns"]) == (1000, 1500), info
assert info["categories"] == [{"events": 2, "name": "cat"}], info
assert [(row["thread"], row["records"]) for row in info["thread_list"]] == [(6, 2)], info
END
}

@test "backtraces of a thread that has no names, for the Firefox Profiler" {
	archive <<'END'
out += [record(10, 2 << 16 | 1 << 20 | 2 << 28, 1000, 0x20, 0x10)]
END
	trackway convert in.fxt --to firefox -o out.json
	"$PYTHON" - <<'END'
import json
thread = next(thread for thread in json.load(open("out.json"))["threads"] if thread["samples"]["length"])
names = [thread["stringArray"][thread["funcTable"]["name"][func]] for func in thread["frameTable"]["func"]]
assert sorted(names) == ["0x10", "0x20"], names
END
}

@test "backtraces: functions of which only addresses are known, in pprof and callgrind" {
	archive <<'END'
out += [record(10, 2 << 16 | 1 << 20 | 2 << 28, 1000, 0x20, 0x10)]
END
	trackway convert in.fxt --to callgrind -o out.callgrind
	[ "$(sed -n 's/^c*fn=([0-9]*) //p' out.callgrind | sort)" = $'0x10\n0x20' ] || fail "$(cat out.callgrind)"
	trackway convert in.fxt --to pprof -o out.pb
	"$PYTHON" - <<'END'
import gzip
data = gzip.open("out.pb").read()
# string_table is field 6.
assert b"\x32\x040x10" in data and b"\x32\x040x20" in data, data
END
}

@test "dump: objects that take all the memory there may be, and another archive" {
	archive <<'END'
out += [record(7, 1 << 16 | 0x8001 << 24, 1000 + i, stream(b'o')) for i in range(4000)]
out += [words(MAGIC), provider_info(1, b'p'), event(0, 0, ticks=7)]
END
	trackway dump --memory 64K in.fxt >out 2>err || [ $? = 1 ] # what has no room is undefined
	tail -n 1 out | grep -q 'event.instant .*timestamp=7 '
	[ "$(grep -c kernel-object out)" = 4000 ]
}

@test "blobs: names of files are safe, and every blob has one" {
	archive <<END
$blob
names = [b'../up', b'/etc/x', b'.hidden', b'', b'a/b', b'a_b', b'a\\\\b', b'a_b-2', b'\xff\x01', '\u0085é'.encode(), b'x' * 300]
for index, name in enumerate(names, 1):
    out += [string(index, name)]
for index, name in enumerate(names, 1):
    out += [blob(index, 1, b'%d' % index)]
END
	[ "$(trackway blobs --extract '' in.fxt)" = 4 ]
	trackway blobs --extract-all deep in.fxt
	(cd deep && for file in * .[!.]*; do [ -e "$file" ] && printf '%s %s\n' "$(cat "./$file")" "$file"; done) | sort -n >out
	cat >expected <<END
1 _._up
2 _etc_x
3 _hidden
4 blob
5 a_b
6 a_b-2
7 a_b-3
8 a_b-2-2
9 __
10 _é
11 $(printf 'x%.0s' {1..200})
END
	diff expected out
	[ "$(ls)" = "$(printf '%s\n' deep expected in.fxt out | sort)" ]
}

@test "blobs: nothing is written over without --force, nothing through a link, and never the input" {
	archive <<END
$blob
out += [string(1, b'one'), string(2, b'two'), string(3, b'in.fxt'), blob(1, 1, b'new'), blob(2, 1, b'new'),
        blob(1, 1, b'er')]
END
	mkdir all
	echo mine >outside
	ln -s ../outside all/one
	local status=0
	trackway blobs --extract-all all in.fxt 2>err || status=$?
	[ $status = 2 ]
	echo 'trackway: error: all/one: cannot write: is there already; --force replaces it' | diff - err
	[ "$(cat outside)" = mine ]
	[ "$(cat all/two)" = new ]
	trackway blobs --force --extract-all all in.fxt
	[ "$(cat outside)" = mine ]
	[ ! -L all/one ]
	[ "$(cat all/one)" = newer ]
	archive <<END
$blob
out += [string(3, b'in.fxt'), blob(3, 1, b'gone')]
END
	cp in.fxt before
	trackway blobs --force --extract-all . in.fxt 2>err && fail "the input was replaced"
	grep -q 'is the input too, and would be lost' err
	cmp in.fxt before
}

# What these commands do not look at is skipped. All the same it is where the trace begins and ends, when the blob came,
# and what tells that thread 70 is one of process 7.
@test "log, blobs, sched, counters: what they skip is still where and when things were" {
	archive <<'END'
def switch(at, leaving, coming):
    return record(8, 1 << 60 | 3 << 36, at, leaving, coming)
def blob(name):
    return record(5, name << 16 | 3 << 32 | 1 << 48, stream(b'abc'))
out += [string(1, b'a'), string(2, b'b'), blob(1), event(0, 1, ticks=1000), event(0, 1, ticks=2000), blob(2),
        event(0, 1, 7, 70, reference=0, ticks=2500),
        record(8, 2 << 60, 3000, 70), switch(4000, 6, 70), switch(5000, 70, 6), event(0, 1, ticks=12345),
        record(9, 2 << 16 | 1 << 32, 6000, stream(b'on')), event(1, 1, argument(1, 5), 0, arguments=1, ticks=7000),
        event(4, 1, 99000, ticks=11000)]
END
	trackway log in.fxt | diff - <(echo '0.000005000  5/6: on')
	trackway blobs --json in.fxt | grep -o '"name":"."\|"time_ns":[0-9]*' | paste -d ' ' - - >out
	diff out <(printf '%s\n' '"name":"a" "time_ns":0' '"name":"b" "time_ns":1000')
	trackway sched --json in.fxt | grep -q '"process":7,"thread":70,.*"running_ns":1000,'
	trackway counters -o out.svg in.fxt
	grep -q '>10 us<' out.svg # of 11.345
}

@test "log: lines in the order of time, what would spoil a terminal escaped" {
	archive <<'END'
out += [record(7, 1 << 16 | 0x8006 << 24, 5, stream(b'server'))]
for at, text in ((3000, b'one\ntwo\n\tthree\n'), (1000, b'\x1b[31mred\x9b\xc2\x85'), (2000, b''), (2500, 'é'.encode())):
    out.append(record(9, len(text) << 16 | 1 << 32, at, stream(text)))
END
	trackway log in.fxt >out
	cat >expected <<'END'
0.000000000  server[5]/6: \x1b[31mred\x9b\u{85}
0.000001000  server[5]/6:
0.000001500  server[5]/6: é
0.000002000  server[5]/6: one
    two
    \x09three
END
	diff expected out
	trackway log --json --from-time 2us in.fxt >out
	"$PYTHON" - <<'END'
import json
row = json.loads(open("out").read())
assert row["message"] == "one\ntwo\n\tthree\n" and row["time_ns"] == 2000 and row["process_name"] == "server", row
END
}

# Writes in.fxt: two providers that describe the same pointers and koids, each in its own words.
objects() {
	archive <<'END'
def name(text):
    return 0x8000 | len(text)
def user(pointer, text):
    return record(6, 1 << 16 | name(text) << 24, pointer, stream(text))
def kernel(koid, text):
    return record(7, 9 << 16 | name(text) << 24, koid, stream(text))
def turn(provider):
    return record(0, 2 << 16 | provider << 20)
def look(index, pointer, koid):
    return event(0, index, argument(7, 0, pointer, name=1), argument(8, 0, koid, name=2), arguments=2)
words_of = string(1, b'p') + string(2, b'k') + string(3, b'A') + string(4, b'B') + string(5, b'C')
out += [words_of, user(16, b'mine'), kernel(70, b'door'), kernel(71, b'gate'), provider_info(2, b'q'), words_of,
        thread(1, 5, 7), user(16, b'yours'), kernel(70, b'tor'), look(3, 16, 70), turn(1), look(3, 16, 70), turn(2), look(4, 17, 71),
        provider_info(2, b'q'), words_of, thread(1, 5, 7), look(5, 16, 72)]
END
}

@test "pointers and koids have the names that their own provider gave" {
	objects
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" in.fxt | grep '"event' >truth
	trackway dump --json in.fxt | grep '"event' | "$PYTHON" -c '
import json, sys
for found, wanted in zip(sys.stdin, open("truth"), strict=True):
    assert json.loads(found) == json.loads(wanted), (found, wanted)'
	trackway dump in.fxt | sed -n 's/.*event.*arguments=//p' >out
	cat >expected <<'END'
[{name=p name_ref=1 type=pointer value=0x10 object=yours} {name=k name_ref=2 type=koid value=70 object=tor}]
[{name=p name_ref=1 type=pointer value=0x10 object=mine} {name=k name_ref=2 type=koid value=70 object=door}]
[{name=p name_ref=1 type=pointer value=0x11} {name=k name_ref=2 type=koid value=71 object=gate}]
[{name=p name_ref=1 type=pointer value=0x10} {name=k name_ref=2 type=koid value=72}]
END
	diff expected out
}

@test "exports show the names of objects" {
	objects
	for to in chrome jsonl csv firefox; do
		trackway convert --to $to in.fxt -o - 2>err >$to
		for shown in "0x10 (yours)" "0x10 (mine)" "0x46 (tor)" "0x46 (door)" "0x47 (gate)"; do
			grep -qF "$shown" $to || fail "$to: no $shown: $(cat $to)"
		done
	done
	trackway convert --to ctf in.fxt -o ctf 2>err
	trackway convert --to perfetto in.fxt -o perfetto 2>err
	grep -qF "0x10 (yours)" ctf/stream
	grep -qF "0x46 (door)" perfetto
	trackway sql --csv in.fxt "SELECT int_value, string_value FROM args WHERE key <> 'process'" | sort -u >out
	printf '%s\n' 16, 16,mine 16,yours 17, 70,door 70,tor 71,gate 72, int_value,string_value | diff - out
}

@test "objects keep their process on the way through events" {
	objects
	trackway cut --provider p in.fxt -o cut.fxt 2>err
	trackway dump cut.fxt | sed -n 's/.*\(userspace-object.*\)/\1/p; s/.*event.*arguments=//p' >out
	cat >expected <<'END'
userspace-object     pointer=0x10 process=5 thread=6 thread_ref=1 name=mine name_ref=1 arguments=[]
[{name=p name_ref=4 type=pointer value=0x10 object=mine} {name=k name_ref=5 type=koid value=70 object=door}] scope=0
END
	diff expected out
	trackway convert --to jsonl in.fxt -o - | grep -q '"kind":"object","process":5,.*"name":"mine"'
}

@test "stat: threads have the names that kernel objects give them" {
	archive <<'END'
def kernel(kind, koid, text, *arguments):
    return record(7, kind << 16 | (0x8000 | len(text)) << 24 | len(arguments) << 40, koid, stream(text), *arguments)
out += [string(1, b'process'), string(2, b'work'), thread(2, 5, 7),
        record(4, 4 << 16 | 1 << 24 | 2 << 48, 100, 130), record(4, 4 << 16 | 2 << 24 | 2 << 48, 100, 120),
        kernel(1, 5, b'server'), kernel(2, 6, b'main', argument(8, 0, 5, name=1))]
END
	trackway stat --by thread in.fxt | sed 's/.* %  .*ns  //' >out
	printf '%s\n' '     6  main  work' '     7        work' | diff - <(tail -2 out)
	trackway stat --by thread --json in.fxt | grep -o '"process":.*' >out
	cat >expected <<'END'
"process":5,"thread":6,"process_name":"server","thread_name":"main"}
"process":5,"thread":7,"process_name":"server","thread_name":null}
END
	diff expected out
}

@test "stat, stacks: a name that is empty is told as such" {
	echo '{"ph":"X","pid":1,"tid":7,"ts":1,"dur":5,"name":""}' >in.json
	trackway stat in.json | grep -q ' us  (no name)$'
	trackway stat --by caller in.json | grep -q ' us  (root) > (no name)$'
	trackway stacks in.json | grep -qx ' *(no name)'
	trackway stat --json in.json | grep -q '"name":""'
}

@test "stacks, flame: threads have their names, also where only one of two traces tells them" {
	x='{"ph":"X","pid":1,"tid":7,"ts":1,"dur":5,"name":"x"}'
	name='{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"'
	long=$(printf 'é%.0s' $(seq 40))
	echo "$x" >bare.json
	(echo "$name"'worker"}}' && echo "$x") >named.json
	(echo "$name$long"'"}}' && echo "$x") >long.json
	[ "$(trackway stacks -p named.json | head -n 1)" = "100.0 %  5.000 us self, 1 call, worker (thread 7)" ]
	[ "$(trackway stacks -p bare.json | head -n 1)" = "100.0 %  5.000 us self, 1 call, thread 7" ]
	[ "$(trackway flame -p --folded named.json bare.json)" = "worker (thread 7);x 10000" ]
	[ "$(trackway flame -p --folded long.json)" = "$(printf 'é%.0s' $(seq 32)) (thread 7);x 5000" ]
}

@test "check: a section without a provider info is told as that alone" {
	archive <<'END'
out += [record(0, 2 << 16 | 9 << 20), record(1, 0, 10**9), thread(1, 5, 7), string(1, b'n'), event(0, 1)]
END
	trackway check in.fxt | grep -o '\[fxt.*' >out
	echo "[fxt.provider-unknown]" | diff - out
}

@test "check: what is still open at the end is told once for all of a thread" {
	begin() { echo "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":$1,\"name\":\"x\"}"; }
	(begin 1 && begin 2) >in.json
	trackway convert in.json -o in.fxt
	trackway check in.fxt | grep -q 'ends\. So is 1 more\. \[fxt.begin-without-end\]'
	(cat in.json && begin 3) >more.json
	trackway convert more.json -o more.fxt
	trackway check more.fxt | grep -q 'ends\. So are 2 more\. \[fxt.begin-without-end\]'
}

@test "what is not known stays whole, whatever its arguments look like" {
	archive <<'END'
out += [string(index, b'string %d' % index) for index in range(1, 400)]
def arguments(index):
    text = stream(b'a name')
    yield argument(0, 0, name=index)
    yield argument(2, 0, name=index)
    yield argument(4, 0, 7, name=index)
    yield argument(7, 0, 0x7f0012345678, name=index)
    yield argument(8, 0, 1234, name=index)
    yield argument(6, index, text, name=0x8006)
    yield argument(3, 0, text, 5, name=0x8006)
for index in range(1, 400, 7):
    for one in arguments(index):
        out += [event(11 + index % 5, 1, one, one, arguments=2), event(0, 1, argument(12, 0, name=1), one, arguments=2),
                record(11 + index % 4, index << 16, index, one), record(0, 9 << 16, one), event(0, 1)]
END
	trackway dump --json in.fxt 2>err >out
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/fxt.py" in.fxt >truth
	"$PYTHON" -c '
import json, sys
for found, wanted in zip(open("out"), open("truth"), strict=True):
    assert json.loads(found) == json.loads(wanted), (found, wanted)'
	trackway check in.fxt >out
	fails grep -q 'error' out
}

@test "log, blobs, sched, counters: options that do not go together are refused" {
	archive <<<"out.append(event(0, 1))"
	for words in "counters --csv --svg" "counters --csv in.fxt" "counters --csv -n 1" "counters --csv --sort name" "blobs --extract a --extract-all b" "blobs --json -x a" \
		"sched --json --svg" "blobs --extract-all b -o c"; do
		local status=0
		trackway $words in.fxt >out 2>err || status=$?
		[ $status = 2 ] || fail "$words: $status"
		grep -q '^Try' err || fail "$words: $(cat err)"
	done
}

@test "records that a pipe has late are in order for a profile, as those of a file" {
	archive <<'END'
def work(at, reference): # one of the last two is in one like it, the other is on its own
    return event(4, 1, at + 5, reference=reference, ticks=at)
out += [string(1, b'work'), thread(2, 5, 7)] + [work(1000 + 10 * i, 1 + i % 2) for i in range(24000)]
out += [work(5000, 1), work(3000, 2)] # of two threads, whose calls are counted one after the other
END
	for jobs in 1 2 3; do
		for file in in.fxt -; do
			cat in.fxt | trackway stat --jobs $jobs --reorder-window 1K --json $file 2>err >stat
			grep -q '"name":"work",.*"count":24002,.*"total_ns":120005,' stat || fail "$file: $(cat stat)"
			[ ! -s err ] || fail "$file: $(cat err)"
		done
	done
	trackway convert --to csv --reorder-window 1K in.fxt -o out.csv 2>err
	[ ! -s err ] || fail "$(cat err)"
	tail -n +2 out.csv | cut -d, -f 1 | sort -nc
}

@test "info: a category without a name is told as such" {
	trackway info "$DATA/fxt/oneshot_all.fxt" | grep -qx '     2  (no name)'
}

@test "counters, blobs and slices without a name are told as such" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *
		open("nameless.fxt", "wb").write(words(MAGIC) + string(1, b"one") + thread(1, 5, 6) + event(4, 0, 200) +
		                                 event(1, 0, argument(1, 3, name=0), 0, arguments=1) +
		                                 record(5, 3 << 32 | 1 << 48, stream(b"abc")))
	END
	trackway counters nameless.fxt | grep -q '  0  (no name)  (no name)$'
	trackway blobs nameless.fxt | grep -q '  (no name)$'
	trackway convert nameless.fxt --to speedscope 2>/dev/null | grep -qxF '{"name":"(no name)"}]}}'
}

@test "info: threads that only log, or only switch, are threads too" {
	archive <<'END'
def log(reference, *koids):
    return record(9, 2 << 16 | reference << 32, 500, *koids, stream(b'hi'))
def switch(at, outgoing, incoming):
    return record(8, 1 << 60 | 2 << 36, at, outgoing, incoming)
out += [string(1, b'work'), thread(2, 5, 7), event(0, 1), log(2), log(0, 5, 8), log(0, 5, 8), log(0, 0, 0)]
out += [switch(600 + at, 9, 6) for at in range(3)] + [switch(700, 0, 10), record(8, 2 << 60, 800, 11)]
out += [record(8, 3 << 24 | 1 << 28 | 0 << 36, 900, 5, 12), thread(3, 5, 10)] # the old record
END
	for jobs in 1 2; do
		trackway info --json --jobs $jobs in.fxt | "$PYTHON" -c '
import json, sys
row = json.load(sys.stdin)
for thread in row["thread_list"]:
    print(thread["process"], thread["thread"], thread["records"])' >out
		diff out - <<'END'
0 9 3
0 11 1
5 6 5
5 7 1
5 8 2
5 10 1
5 12 1
END
	done
}

@test "info: a string that gets another meaning has none of the events before it, wherever a chunk ends" {
	for skipped in 0 1; do
		archive <<END
strings = range(2, 20002)
out += [string(1, b'shift')] * $skipped + [thread(1, 5, 6)] + [string(i, b'old') for i in strings]
for i in strings:
    out += [event(0, 0, category=i), string(i, b'new')]
END
		for jobs in 1 2; do
			trackway info --json --jobs $jobs in.fxt | grep -Eo '"categories":[^]]*]' >out
			echo '"categories":[{"events":20000,"name":"old"}]' | diff - out
		done
	done
}

@test "info: events whose category is not registered are counted under its index" {
	archive <<'END'
out += [string(1, b'cat'), thread(1, 5, 6), event(0, 1, category=1), event(0, 1, category=9), event(0, 1, category=9)]
out += [string(9, b'late'), event(0, 1, category=9), event(0, 1, category=32767)]
END
	for jobs in 1 2; do
		trackway info --json --jobs $jobs in.fxt | "$PYTHON" -c '
import json, sys
rows = [(row["name"], row["events"]) for row in json.load(sys.stdin)["categories"]]
assert rows == [("undefined string 9", 2), ("cat", 1), ("late", 1), ("undefined string 32767", 1)], rows'
	done
	trackway convert --to jsonl in.fxt 2>/dev/null | grep -c '"category":"undefined string 9"' | grep -qx 2
}

@test "check: every counter with a text as its value is told, however many records stand between them" {
	for between in 1 2 5 20; do
		archive <<END
text = argument(6, 1, name=1)
out += [string(1, b'a'), thread(1, 5, 6)]
for i in range(40):
    out += [event(0, 1)] * $between + [event(1, 1, text, 7, arguments=1)]
END
		trackway check in.fxt | grep -c 'not a number. .fxt.counter-value' | grep -qx 40
	done
}

@test "info: all records are counted, wherever in an archive others stand that count apart" {
	"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<'END'
import collections, json, random, sys
sys.path.insert(0, sys.argv[1])
from fxt_odd import *
random.seed(7)
kinds, threads, size, lost = collections.Counter(), collections.Counter(), 0, 0
out = [words(MAGIC), provider_info(1, b'p'), record(1, 0, 10**9)] + [thread(i, 5, 10 + i) for i in range(1, 9)]
kinds.update({'magic': 1, 'provider-info': 1, 'initialization': 1, 'thread': 8})
size = len(b''.join(out))
def add(kind, data, *koids):
    global size
    kinds[kind] += 1
    threads.update(koids)
    out.append(data)
    size += len(data)
def usual():
    what, reference, ticks = random.randrange(20), random.randrange(1, 9), size
    if what == 0:
        add('scheduling.context-switch', record(8, 1 << 60 | 2 << 36, ticks, 11, 12), 11, 12)
    elif what == 1:
        add('scheduling.thread-wakeup', record(8, 2 << 60, ticks, 13), 13)
    elif what < 5:
        values = [argument(1, 7, name=2), argument(4, 0, 1 << 40, name=2), argument(6, 0x8003, b'abc'.ljust(8, bytes(1)))]
        some = values[:what - 1]
        add('event.instant', event(0, 1, *some, arguments=len(some), reference=reference, ticks=ticks), 10 + reference)
    elif what < 10:
        add('event.duration-complete', event(4, 1, ticks + 5, reference=reference, ticks=ticks), 10 + reference)
    else:
        add('event.instant', event(0, 1, reference=reference, ticks=ticks), 10 + reference)
false = b''.join(event(0, 1, reference=3, ticks=i) for i in range(2000)) # what looks like records, but is in others
CHUNK = 1 << 18
def fill(to):
    while size < to:
        usual()
for chunk in range(12):
    begin = chunk * CHUNK
    if chunk % 3 == 0: # the middle is inside of blobs
        fill(begin + CHUNK // 2 - 20000)
        for i in range(3):
            add('blob', record(5, 1 << 16 | len(false) << 32, false))
    elif chunk % 3 == 1: # in the first half and in the other
        fill(begin + CHUNK // 5 * random.randrange(1, 5))
        add('string', string(1, b'work'))
        add('event.instant', event(0, 1, 5, 30 + chunk, reference=0, ticks=size), 30 + chunk)
    if chunk in (5, 8): # no record has a header of zero
        fill(begin + 100000 * (chunk // 4))
        out.append(bytes(64))
        size += 64
        lost += 64
    fill(begin + CHUNK)
open('in.fxt', 'wb').write(b''.join(out))
json.dump([dict(kinds), sorted(threads.items()), lost], open('expected', 'w'), sort_keys=True, indent=1)
END
	for jobs in 1 2; do
		timeout 20 trackway info --json --jobs $jobs in.fxt 2>err | "$PYTHON" -c '
import json, sys
row = json.load(sys.stdin)
threads = sorted([thread["thread"], thread["records"]] for thread in row["thread_list"])
json.dump([row["kinds"], threads, row["lost_bytes"]], sys.stdout, sort_keys=True, indent=1)' >out
		diff expected out
	done
}

@test "the parts of a large blob are in the order of time, with what is late behind them" {
	archive <<'END'
def large(ticks, data):
    return record(15, 0, 1 << 16 | 1 << 36, ticks, len(data), stream(data))
out += [string(1, b'big'), large(1000, bytes(range(250)) * 2000)]
out += [event(0, 1, ticks=ticks) for ticks in (900, 400, 1100)]
END
	for jobs in 1 2; do
		trackway convert --to csv --jobs $jobs in.fxt | tail -n +2 | cut -d, -f 1 >times
		sort -n times | diff - times
		head -2 times | paste -sd' ' | grep -qx '0 500'
		trackway merge --jobs $jobs --memory 64K in.fxt in.fxt -o out.fxt
		trackway convert --to csv --jobs $jobs out.fxt | tail -n +2 | cut -d, -f 1 >times
		sort -n times | diff - times
	done
}

@test "info: a slice lasts until its end, also that of the archive and its thread" {
	for between in 0 2000; do
		archive <<END
slice = lambda thread, begin, end: event(4, 1, end, reference=thread, ticks=begin)
out += [string(1, b'a'), thread(1, 5, 6), thread(2, 5, 7), slice(1, 2000, 1_002_000)] + [event(0, 1, reference=1, ticks=1000)] * $between
out += [slice(2, 3000, 2500), event(4, 1, words(5, 8), 9000, reference=0, ticks=1500)]
END
		for jobs in 1 2; do
			trackway info --json --jobs $jobs in.fxt | "$PYTHON" -c '
import json, sys
row = json.load(sys.stdin)
print(row["start_ns"], row["end_ns"], [[thread["thread"], thread["start_ns"], thread["end_ns"]] for thread in row["thread_list"]])' >out
			[ $between = 0 ] && start=1500 || start=1000
			[ $between = 0 ] && first=500 || first=0
			echo "0 $((1002000 - start)) [[6, $first, $((1002000 - start))], [7, $((3000 - start)), $((3000 - start))], [8, $((1500 - start)), $((9000 - start))]]" | diff - out
		done
	done
}

@test "stat: a reference means what its string was registered as last, and percentiles are over all threads" {
	archive <<'END'
slice = lambda thread, begin, length: event(4, 1, begin + length, reference=thread, ticks=begin)
out += [thread(1, 5, 6), thread(2, 5, 7), string(1, b'early')] + [slice(1, 100 * i, 64) for i in range(100)]
out += [slice(2, 100 * i, 65) for i in range(40)] + [string(1, b'late')] + [slice(1, 100 * i, 7) for i in range(100, 130)]
END
	for jobs in 1 2 3; do
		trackway stat --json --jobs $jobs in.fxt | "$PYTHON" -c '
import json, sys
for row in sorted(map(json.loads, sys.stdin), key=lambda row: row.get("name", "~")):
    if "name" in row:
        print(row["name"], row["count"], row["total_ns"], row["min_ns"], row["p50_ns"], row["p99_ns"], row["max_ns"])' >out
		diff out - <<'END'
early 140 9000 64 64 65 65
late 30 210 7 7 7 7
END
	done
}

@test "stat --by object: a row for each object that calls have as an argument" {
	archive <<'END'
def kernel(koid, text):
    return record(7, 9 << 16 | (0x8000 | len(text)) << 24, koid, stream(text))
def koid(value):
    return argument(8, 0, value, name=2)
def wait(begin, end, *what):
    return event(4, 1, *what, end, arguments=len(what), ticks=begin)
out += [string(1, b'wait'), string(2, b'on'), kernel(70, b'door'), kernel(71, b'gate')]
out += [wait(100, 110, koid(70)), wait(120, 150, argument(1, 3, name=2), koid(71)), wait(200, 205, koid(70)), wait(300, 400),
        wait(500, 600, koid(72))]
out += [event(2, 1, koid(71), arguments=1, ticks=700), wait(710, 720, koid(70)), event(2, 1, koid(71), arguments=1, ticks=730),
        event(3, 1, ticks=740), event(3, 1, ticks=800)]
END
	for jobs in 1 2; do
		trackway stat --by object --json --jobs $jobs in.fxt | "$PYTHON" -c '
import json, sys
for row in map(json.loads, sys.stdin):
    print(row["name"], row["object"], row["count"], row["total_ns"], row["self_ns"])' >out
		diff out - <<'END'
wait None 2 200 200
wait gate 3 130 120
wait door 3 25 25
END
	done
	trackway stat --by object in.fxt | tr -s ' ' | cut -d ' ' -f 2- | grep -q 'door wait$'
}

@test "info: the wall time at which an archive starts" {
	"$PYTHON" - <<-'END'
		import struct
		def archive(name, wall):
		    # 1 MHz; tick 500 was at that time; the first of two instants is at tick 750
		    words = [0x0016547846040010, 0x110010, 0x41, 1_000_000, 500, wall, 0x10033, 1, 2]
		    words += [0x8000800001000024, 750, 0x8000800001000024, 900]
		    open(name, "wb").write(struct.pack(f"<{len(words)}Q", *words))
		archive("in.fxt", 1_650_419_113_000_000_000)
		archive("far.fxt", 2**63 - 10**9)
		archive("never.fxt", 2**64 - 1)
	END
	expected="$(date -u -d @1650419113 +%Y-%m-%dT%H:%M:%S).000250Z"
	trackway info in.fxt | grep -qx "wall start:  *$expected"
	trackway info --json in.fxt | grep -q "\"wall_start\":\"$expected\""
	trackway info --jobs 1 far.fxt | grep -qx 'wall start:  *2262-04-11T23:47:15.855025Z'
	run trackway info --json never.fxt
	[ "$status" -eq 0 ]
	[[ $output != *wall_start* ]]
}

@test "damage that looks like a wall time does not become that of the trace" {
	# An initialization record of four words that lost its last takes the header of a string for it, which is taken back.
	archive <<-'END'
		times = [event(0, 1, ticks=ticks) for ticks in (10**6, 2 * 10**6)]
		out += [words(1 | 4 << 4, 10**9, 0), string(1, b"of three words"), *times]
		out += [record(0, 2 << 16 | 1 << 20), *times]  # more of the provider
	END
	for command in "info --json" "convert --to chrome"; do
		for jobs in 1 2; do
			trackway $command --jobs $jobs in.fxt >out 2>err || [ $? = 1 ]
			grep -q '"event.instant":4\|"name":"of three words"' out
			! grep -q wall out || fail "$command: $(grep wall out)"
		done
	done
}

@test "a zero byte in a name neither cuts it nor makes it another" {
	archive <<-'END'
		out += [string(1, b"a\0b"), string(2, b"a"), string(3, b"\0")]
		for name, begin, end in ((1, 100, 150), (2, 200, 260), (1, 300, 370), (3, 400, 410)):
		    out.append(event(4, name, end, category=2, ticks=begin))
		out.append(event(0, 1, category=2, ticks=500))
	END
	[ "$(trackway stat in.fxt | awk 'NR > 1 { print $1, $NF }' | tr '\n' ' ')" = '2 a\x00b 1 a 1 \x00 ' ]
	[ "$(trackway stat --json in.fxt | grep -o '"name":"[^"]*"' | tr '\n' ' ')" = \
		'"name":"a\\x00b" "name":"a" "name":"\\x00" ' ]
	[ "$(trackway flame --folded in.fxt | LC_ALL=C sort | tr '\n' ' ')" = '\x00 10 a 60 a\x00b 120 ' ]
	[ "$(trackway diff --json in.fxt in.fxt | grep -c '"name":"a\\\\x00b"')" -eq 1 ]
	[ "$(trackway diff --of events --json in.fxt in.fxt | grep -c '"name":"a\\\\x00b"')" -eq 1 ]
	[ "$(trackway sql --csv in.fxt "select count(*) from slice where name = 'a' || char(0) || 'b'" | tail -n 1)" = 2 ]
	[ "$(trackway sql --csv in.fxt "select count(*) from slice where name = 'a'" | tail -n 1)" = 1 ]
}

@test "stat: slices open on hundreds of threads at once, of thousands of names" {
	archive <<-'END'
		import random
		random.seed(4)
		threads, names, open_names = 500, 4000, [[] for _ in range(500)]
		out += [string(i + 1, b"name %d" % i) for i in range(names)]
		for i in range(threads * 20):
		    k = i % threads
		    own = [(k * 7 + j * 11) % names + 1 for j in range(3)]
		    begins = not open_names[k] or random.random() < 0.5
		    name = random.choice(own) if begins or random.random() < 0.1 else open_names[k].pop()
		    if begins:
		        open_names[k].append(name)
		    out.append(event(2 if begins else 3, name, 5, 1000 + k, category=1, reference=0, ticks=i))
	END
	for by in function thread; do
		trackway stat --memory 16M --by $by --json in.fxt >little
		trackway stat --memory 2G --by $by --json in.fxt >much
		cmp little much
		[ "$(grep -c '"name":"(other)"' much)" -eq 0 ]
	done
}

@test "info: hundreds of threads, records of every shape and a zero word among them, counted" {
	archive <<-'END'
		import collections, json, random
		random.seed(9)
		kinds = ["instant", "counter", "", "duration-begin", "duration-end", "duration-complete", "async-begin",
		         "async-instant", "async-end", "flow-begin", "flow-step", "flow-end"]
		del kinds[2]
		records, categories, threads = collections.Counter(), collections.Counter(), {}
		behind = {1: [7], 4: [10 ** 6], **{kind: [3] for kind in range(5, 11)}}
		out += [string(i, b"text %d" % i) for i in range(1, 41)]
		out += [thread(i, 5, 1000 + i) for i in range(1, 255)]

		def some(count):
		    return [random.choice((argument(1, 3), argument(3, 0, 4), argument(6, 5), argument(9, 1), argument(0),
		                           argument(6, 1 << 15 | 9, b"text 1234".ljust(16, b"\0")))) for _ in range(count)]

		def note(koid, ticks, size, end=0):
		    first, last, count, total = threads.get(koid, (ticks, ticks, 0, 0))
		    threads[koid] = min(first, ticks), max(last, ticks, end), count + 1, total + size

		for i in range(30000):
		    ticks, kind, koid = random.randrange(10 ** 6), random.choice([0, 1, 2, 3, 4, *range(5, 11)]), None
		    if random.random() < 0.1:
		        koids = [random.randrange(2000, 2050) for _ in range(random.choice((1, 2)))]
		        state = 2 << 60 if len(koids) == 1 else 1 << 60
		        made = record(8, state, ticks, *koids)
		        records["scheduling." + ("thread-wakeup" if len(koids) == 1 else "context-switch")] += 1
		        for koid in koids:
		            note(koid, ticks, len(made))
		    else:
		        index = random.randrange(0 if random.random() < 0.05 else 1, 255)
		        koid = 1000 + index if index else 9000
		        count = random.choice((0, 0, 0, 1, 2, 3, 15)) if kind != 1 else 1
		        inline = b"an inline category" if random.random() < 0.02 else b""
		        category = 1 << 15 | len(inline) if inline else random.randrange(0, 41)
		        name = 1 << 15 | 8 if random.random() < 0.02 else 2
		        values = some(count) if kind != 1 else [argument(3, 0, 8)]
		        scope = [random.randrange(3)] if kind == 0 and random.random() < 0.5 else []
		        made = event(kind, name, *([5, koid] if not index else []), stream(inline),
		                     b"in place" if name != 2 else b"", *values, *behind.get(kind, []), *scope,
		                     category=category, arguments=count, reference=index, ticks=ticks)
		        records["event." + kinds[kind]] += 1
		        categories[inline.decode() or f"text {category}" if category else ""] += 1
		        note(koid, ticks, len(made), 10 ** 6 if kind == 4 else 0)
		    out.append(made)
		    if i in (9000, 9001, 21000):
		        out.append(bytes(8 * (1 + i % 2)))
		json.dump([records, categories, threads], open("expected", "w"))
	END
	for jobs in 1 2; do
		trackway info --json --jobs $jobs in.fxt >told || [ $? -eq 1 ]
		"$PYTHON" - <<-'END'
			import json
			records, categories, threads = json.load(open("expected"))
			told = json.load(open("told"))
			assert {name: told["kinds"].get(name) for name in records} == records, told["kinds"]
			assert {of["name"]: of["events"] for of in told["categories"]} == categories
			assert told["lost_bytes"] == 32
			own = {str(of["thread"]): of for of in told["thread_list"]}
			assert own.keys() == threads.keys()
			start = min(first for first, *_ in threads.values())
			for koid, (first, last, count, size) in threads.items():
			    assert (own[koid]["records"], own[koid]["bytes"]) == (count, size), (koid, own[koid], count, size)
			    assert (own[koid]["start_ns"], own[koid]["end_ns"]) == (first - start, last - start), (koid, own[koid])
		END
	done
}

@test "info: a zero word among records that are all alike" {
	archive <<<"out += [event(0, 0)] * 100 + [bytes(8)] + [event(0, 0)] * 100"
	trackway info --json in.fxt >told || [ $? -eq 1 ]
	grep -q '"lost_bytes":8,.*"event.instant":200' told
}

# By the document, the header of a uint64 argument with an inline name is that of an event of thread 128 without names.
@test "after damage to a record its arguments are not taken for events" {
	"$PYTHON" - <<END
import sys
sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
import fxt, fxt_odd as odd
head = [odd.MAGIC_RECORD, odd.record(1, 0, 1_000_000_000), odd.string(1, b"work"), odd.string(2, b"kept"),
        odd.thread(1, 100, 101)]
events = [odd.event(0, 1, odd.argument(4, 0, b"frame\0\0\0", number, name=0x8005), category=2, arguments=1,
                    ticks=1000 + 10 * number) for number in range(40)]
start = sum(map(len, head + events[:20]))
number = 0
for archive in (b"".join(head + events), fxt.swapped(b"".join(head + events))):
    for damage in (slice(start, start + 8), slice(start, start + 16), slice(start - 40, start + 13)):
        damaged = bytearray(archive)
        damaged[damage] = bytes(byte ^ 0x5A for byte in damaged[damage])
        open(f"{number}.fxt", "wb").write(damaged)
        number += 1
END
	for number in 0 1 2 3 4 5; do
		trackway info $number.fxt 2>err | grep -qx 'span: *390 ns'
		grep -c error err | grep -qx 1
		trackway dump --json $number.fxt 2>err | grep '"record":"event' >events || true
		[ "$(grep -vc '"thread":101,' events)" = 0 ]
		[ "$(wc -l <events)" -ge 37 ]
	done
}

@test "times count from the start of the trace, whatever threads are asked for" {
	"$PYTHON" - <<END
import sys
sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
import fxt_odd as odd
head = [odd.MAGIC_RECORD, odd.record(1, 0, 1_000_000_000), odd.string(1, b"work"), odd.thread(1, 100, 101),
        odd.thread(2, 100, 102)]
for name, first in {"plain": odd.event(0, 1, ticks=1000), "with": odd.event(0, 1, odd.argument(0), arguments=1, ticks=1000),
                    "log": odd.record(9, 1 << 16 | 1 << 32, 1000, odd.stream(b"x")),
                    "switch": odd.record(8, 1 << 60, 1000, 101, 0)}.items():
    later = [odd.event(0, 1, reference=2, ticks=1000 + 500 * number) for number in range(1, 4)]
    later.append(odd.record(9, 1 << 16 | 2 << 32, 3000, odd.stream(b"y")))
    open(name + ".fxt", "wb").write(b"".join(head + [first] + later))
END
	for name in plain with log switch; do
		trackway convert --thread 102 --to csv $name.fxt -o - | cut -d, -f1,2 >rows
		printf '%s\n' time_ns,kind 500,instant 1000,instant 1500,instant 2000,log | diff - rows
		trackway cut --thread 102 --from-time 900 --to-time 1100 $name.fxt -o part.fxt
		trackway dump --json part.fxt | grep '"record":"event' >rows
		[ "$(grep -c '"timestamp":2000,' rows)" = 1 ]
		[ "$(wc -l <rows)" = 1 ]
		trackway log --thread 102 $name.fxt | grep -q '^0.000002000 '
	done
}

@test "check: what is of several threads or providers is no finding of one of them" {
	"$PYTHON" - <<END
import sys
sys.path.insert(0, "$TRACKWAY_SOURCE/tests/truth")
import fxt_odd as odd
tables = [odd.record(1, 0, 1_000_000_000), odd.string(1, b"work"), odd.thread(1, 100, 101), odd.thread(2, 100, 102)]
open("in.fxt", "wb").write(b"".join(
    [odd.MAGIC_RECORD, odd.provider_info(1, b"one"), *tables, odd.event(8, 1, 7), odd.event(5, 1, 9),
     odd.event(10, 1, 7, reference=2, ticks=200), odd.event(10, 1, 8, reference=2, ticks=250),
     odd.provider_info(2, b"two"), *tables, odd.event(7, 1, 9, reference=2, ticks=300)]))
END
	trackway check in.fxt | tail -n 1 | grep -qx 'in.fxt: 1 warning'
	for options in "--thread 102" "--provider one"; do
		trackway check $options in.fxt >out
		grep -c warning: out | grep -qx 1
		tail -n 1 out | grep -qx 'in.fxt: 1 warning'
	done
	for options in "--thread 101" "--provider two"; do
		[ "$(trackway check $options in.fxt)" = 'in.fxt: fine' ]
	done
}

@test "times count from the start of the trace, whatever providers are asked for" {
	archive <<'END'
first = {"plain": event(0, 1, ticks=1000), "with": event(0, 1, argument(0), arguments=1, ticks=1000),
         "log": record(9, 1 << 16 | 1 << 32, 1000, stream(b"x")), "switch": record(8, 1 << 60, 1000, 6, 0),
         "odd": record(4, 1 << 24 | 1 << 48, 1000, 0, 0, 0)}
later = [provider_info(3, b'slow'), record(1, 0, 1000), string(1, b'slow'), thread(1, 5, 8), event(0, 1, ticks=1),
         words(15 | 4096 << 4 | 1 << 40, 1 << 16, 8 * 4093) + bytes(8 * 4093), # its size has no bits where others have it
         provider_info(2, b'late'), record(1, 0, 10**6), string(1, b'work'), thread(1, 5, 7), event(0, 1, ticks=2),
         record(9, 2 << 16 | 1 << 32, 3, stream(b'on'))]
for name in first:
    open(name + '.fxt', 'wb').write(b''.join(out + [string(1, b'early'), first[name]] + later))
END
	for name in plain with log switch odd; do
		trackway log --provider late $name.fxt | diff - <(echo '0.000002000  5/7: on')
		trackway convert --provider late --from-time 500 --to-time 1500 --to csv $name.fxt -o - | cut -d, -f1,2 >rows
		printf '%s\n' time_ns,kind 1000,instant | diff - rows
		trackway info --provider late --json $name.fxt | grep -q '"start_ns":1000,"end_ns":2000,"clock_start_ns":1000,'
	done
}

@test "a record of which a word is missing takes no section header with it" {
	"$PYTHON" - <<-'PY'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		from fxt_odd import *

		def section(number):
		    return record(0, 2 << 16 | number << 20)

		def counter(ticks):
		    return event(1, 1, argument(2, 5), 7, arguments=1, ticks=ticks)

		begin = words(MAGIC)
		for number, name in ((1, b"one"), (2, b"two")):
		    begin += provider_info(number, name) + record(1, 0, 10**9) + thread(1, 5, 10 + number) + string(1, name)
		begin += section(1) + counter(1000)
		short = counter(2000)[:8] + counter(2000)[16:]
		end = section(2) + counter(3000) + counter(4000) + section(1) + counter(5000)
		open("short.fxt", "wb").write(begin + short + end)
	PY
	trackway convert --to jsonl short.fxt -o - 2>err | grep -o '"thread":.*,"name":"[a-z]*"' >events
	printf '"thread":1%d,"name":"%s"\n' 1 one 2 two 2 two 1 one | diff - events
	grep -q 'fxt.record-broken' err
	trackway repair short.fxt -o whole.fxt 2>err || true
	trackway convert --to jsonl whole.fxt -o - | grep -o '"thread":.*,"name":"[a-z]*"' | diff events -
}

# A wide character takes two columns of a terminal, a combining one none (Unicode's East Asian Width and category Mn).
@test "tables: columns are aligned behind wide and combining characters; names with zero bytes are whole" {
	"$PYTHON" - >wide.fxt <<-'END'
		import struct, sys
		words = lambda *w: struct.pack(f"<{len(w)}Q", *w)
		def text(value): return 0x8000 | len(value), value + b"\0" * (-len(value) % 8)
		out = words(0x0016547846040010) + words(2 << 4 | 1 << 16 | 1 << 20 | 3 << 52) + b"p\0q".ljust(8, b"\0") + words(0x21, 10**9)
		for name in "plain", "\u65e5\u672c\u8a9e", "e\u0301", "\uff46":
		    reference, name = text(name.encode())
		    series = words(4 | 3 << 4 | 0x8001 << 16) + b"s".ljust(8, b"\0") + words(1)
		    body = words(5, 1, 1) + name + series + words(0)
		    out += words(4 | (1 + len(body) // 8) << 4 | 1 << 16 | 1 << 20 | reference << 48) + body
		out += words(5 | 3 << 4 | 0x8003 << 16 | 1 << 32 | 1 << 48) + b"b\0c".ljust(8, b"\0") + b"x".ljust(8, b"\0")
		sys.stdout.buffer.write(out)
	END
	trackway counters wide.fxt >table
	"$PYTHON" - table <<-'END'
		import sys, unicodedata
		width = lambda line: sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in line)
		lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
		assert len(lines) == 5
		assert {width(line) for line in lines[1:]} == {width(lines[0]) - len("ERIES")}, lines
	END
	trackway blobs wide.fxt | grep -q '  b\\x00c$'
	trackway info wide.fxt >table
	grep -q '  p\\x00q$' table
}

@test "repair tells what no record has defined, and counts what it defines" {
	for wrong in "string 7:out += [event(0, 7), event(0, 7)]" "thread 9:out += [string(1, b'one'), event(0, 1, reference=9), event(0, 1, reference=9)]"; do
		archive <<<"${wrong#*:}"
		run trackway check in.fxt
		[ "$status" -eq 1 ]
		status=0
		trackway repair --json in.fxt -o out.fxt >json 2>err || status=$?
		[ "$status" -eq 1 ] || fail "$wrong: $status"
		[[ "$(cat err)" == *": error: A ${wrong%% *} index is used that no ${wrong%% *} record has registered. It is "[79]". "* ]]
		[ "$(wc -l <err)" -eq 1 ]
		grep -q '"records_changed":2,"records_dropped":0' json
		grep -q "\"records_out\":$(trackway dump out.fxt | wc -l)," json
		trackway check out.fxt
	done
	# So it is of an archive without a magic number, which gets one.
	tail -c +9 in.fxt >bare.fxt
	trackway repair --json bare.fxt -o out.fxt >json 2>err || true
	grep -q "\"records_out\":$(trackway dump out.fxt | wc -l)," json
}

@test "check: calls around sections that end soon in the first chunk" {
	"$PYTHON" - >sections.fxt <<-'END'
		import struct, sys
		def words(*all): return struct.pack(f"<{len(all)}Q", *all)
		def section(provider): return words(2 << 16 | provider << 20 | 1 << 4)
		time = 0
		def calls(kinds):
		    global time
		    found = b""
		    for kind in kinds:
		        time += 1
		        found += words(4 | 2 << 4 | kind << 16 | 1 << 24 | 1 << 32 | 1 << 48, time)
		    return found
		parts = [words(0x0016547846040010)]
		for provider in 1, 2:  # its information, ticks, a string and a thread
		    parts.append(words(1 << 16 | provider << 20 | 1 << 52 | 2 << 4, ord("p"), 1 | 2 << 4, 1000000000,
		                       2 | 2 << 4 | 1 << 16 | 1 << 32, ord("a"), 3 | 3 << 4 | 1 << 16, provider, 10 + provider))
		# A call that begins in a section that is soon over, and ends in a later one.
		parts += [section(1), calls([2, 3] * 3000), section(2), calls([2] + [2, 3] * 500)]
		parts += [section(1), calls([2, 3] * 10000), section(2), calls([2, 3] * 10 + [3])]
		sys.stdout.buffer.write(b"".join(parts))
	END
	for jobs in 1 2; do
		trackway check --jobs $jobs sections.fxt >findings
		[ "$(cat findings)" = "sections.fxt: fine" ]
	done
}

# Each word is turned by itself, but for bytes: there are no texts and no blobs here.
@test "convert: what is made of words is turned to the other byte order word by word, also what nobody knows" {
	archive <<'END'
def unknown(kind, fields):
    return record(kind, fields, 0x0102030405060708, 9)
out[:] = [words(MAGIC), provider_info(1, b''), record(1, 0, 10**9), thread(1, 5, 6), event(0, 0, ticks=100),
          unknown(11, 0), unknown(0, 5 << 16), unknown(4, 12 << 16), unknown(8, 3 << 60), unknown(10, 9 << 16),
          record(10, 2 << 16 | 1 << 20 | 2 << 28, 200, 0x1020, 0x3040),
          record(3, 3 << 16, 5, 8, 77, 78),  # words behind its last field
          event(0, 0, argument(12, 7, 0x1122334455667788, name=0), argument(3, 0, 5, 99, name=0), arguments=2, ticks=300)]
open('turned.fxt', 'wb').write(b''.join(b''.join(out)[at:at + 8][::-1] for at in range(0, len(b''.join(out)), 8)))
END
	trackway convert --to fxt --byte-order big in.fxt -o big.fxt
	cmp big.fxt turned.fxt
	trackway convert --to fxt --byte-order little big.fxt -o little.fxt
	cmp little.fxt in.fxt
}

@test "check: many asynchronous operations and flows that are open at once, which end in any order" {
	archive <<'END'
import random
rng = random.Random(22)
out.append(string(1, b'o'))
def operations(file, kinds, unbegun, unended):
    steps, open_now, left = [], [], list(range(5000))
    while left or open_now:
        if left and (not open_now or rng.random() < 0.55):
            number = left.pop()
            open_now.append(number)
            steps += [] if number in unbegun else [(kinds[0], number)]
        else:
            number = open_now.pop(rng.randrange(len(open_now)))
            steps += [] if number in unended else [(kinds[1], number)]
    made = [event(kind, 1, number, ticks=at) for at, (kind, number) in enumerate(steps)]
    open(file, 'wb').write(b''.join(out + made))
for name, kinds in ('async', (5, 7)), ('flow', (8, 10)):
    operations(name + '-fine.fxt', kinds, (), ())
    operations(name + '-wrong.fxt', kinds, range(0, 5000, 97), range(1, 5000, 101))
END
	for kind in async flow; do
		for jobs in 1 2; do
			[ "$(trackway check -j $jobs $kind-fine.fxt)" = "$kind-fine.fxt: fine" ] || fail "$(trackway check $kind-fine.fxt | tail -3)"
			# 52 have no begin, 50 no end; 2425, which is 25 * 97 and 24 * 101 + 1, has neither.
			trackway check --all -j $jobs $kind-wrong.fxt >out || [ $? = 1 ]
			[ "$(grep -c "fxt.$kind-without-begin" out)" = 51 ] || fail "$(cat out)"
			grep "fxt.$kind-without-end" out | grep -q 'So are 48 more\.' || fail "$(cat out)"
		done
	done
}

@test "sched: what could not be counted as it stands is told" {
	archive <<'END'
def switch(at, cpu, leaving, coming):
    return record(8, 1 << 60 | 3 << 36 | cpu << 20, at, leaving, coming)
once = [switch(1000, 0, 0, 6), switch(2000, 0, 7, 8)]
open('once.fxt', 'wb').write(b''.join(out + once))
out += once + [switch(3000, 0, 6, 7)]
END
	trackway sched once.fxt | tail -2 | diff <(printf '%s\n' '' '1 time a CPU left a thread that had not come: what it did before is unknown') -
	trackway sched in.fxt | tail -1 | grep -qx '2 times a CPU left a thread that had not come: what it did before is unknown'
	trackway sched in.fxt --by cpu | tail -1 | grep -q '^2 times a CPU left'
}

@test "check: of many findings of a rule the first hundred by their place in the file, also where they come last first" {
	archive <<'END'
out += [string(1, b'o')] + [event(7, 1, number, ticks=1000 - number) for number in range(250)]
END
	at=$(($(stat -c %s in.fxt) - 250 * 24))
	seq $at 24 $((at + 99 * 24)) | xargs printf '0x%x\n' >expected
	trackway check in.fxt >out
	sed -n 's/^in.fxt:\(0x[0-9a-f]*\): warning: .*\[fxt.async-without-begin\]$/\1/p' out | diff expected -
	grep -qxF '... and 150 more [fxt.async-without-begin] (--all shows them)' out
	[ "$(tail -1 out)" = 'in.fxt: 250 warnings' ]
	trackway check --json in.fxt >out 2>err
	sed -n 's/.*"rule":"fxt.async-without-begin".*"record":\([0-9]*\),.*/\1/p' out | xargs printf '0x%x\n' | diff expected -
	grep -qx 'trackway: in.fxt: ... and 150 more of fxt.async-without-begin' err
	[ "$(trackway check --all in.fxt | grep -c without-begin)" = 250 ]
}

@test "info: the first twenty threads and categories, and how many more there are" {
	archive <<'END'
out += [thread(n, 5, 100 + n) + string(n, b'c%02d' % n) + event(0, n, category=n, reference=n) for n in range(1, 34)]
END
	for filter in "" "--to-time 1s"; do
		trackway info $filter in.fxt >out
		[ "$(grep -c ' c[0-9][0-9]$' out)" = "$([ -n "$filter" ] && echo 0 || echo 20)" ] || fail "$(cat out)"
		grep -q '^\.\.\. and 13 more; --all shows them$' out || fail "$(cat out)"
		trackway info --all $filter in.fxt >out
		[ "$(grep -Ec '^ +1[0-3][0-9] +5 ' out)" = 33 ] || fail "$(cat out)"
		[ "$(grep -c more out)" = 0 ]
	done
}

@test "convert, stat, counters, blobs: an index that nothing has registered is shown as such" {
	archive <<END
$blob
out += [string(1, b'one'), event(0, 9, ticks=100), event(4, 9, 300, ticks=200, category=8),
        event(0, 9, argument(1, 5, name=7), arguments=1, category=8, ticks=300),
        event(0, 1, argument(6, 7, name=1), arguments=1, ticks=400), blob(9, 1, b'x'), record(7, 9 << 16 | 9 << 24, 77),
        event(1, 9, argument(1, 5, name=7), 3, arguments=1, ticks=500)]
END
	trackway convert --to jsonl in.fxt -o out.jsonl 2>err || [ $? = 1 ]
	sed -E 's/"(time_ns|process|thread)":[^,]*,//g' out.jsonl >out
	cat >expected <<'END'
{"kind":"instant","name":"undefined string 9"}
{"kind":"slice-complete","name":"undefined string 9","category":"undefined string 8","value":100}
{"kind":"instant","name":"undefined string 9","category":"undefined string 8","args":{"undefined string 7":5}}
{"kind":"instant","name":"one","args":{"one":"undefined string 7"}}
{"kind":"blob","name":"undefined string 9","value":1,"id":1,"args":{"data":"78"}}
{"kind":"object","name":"undefined string 9","value":9,"id":77}
{"kind":"counter","name":"undefined string 9","id":3,"args":{"undefined string 7":5}}
END
	diff expected out
	grep -q 'It is 7\. \[fxt\.string-undefined\]' err
	trackway stat --json in.fxt | grep -q '"name":"undefined string 9"'
	trackway counters --json in.fxt | grep -q '"counter":"undefined string 9".*"series":"undefined string 7"'
	trackway blobs --json in.fxt | grep -q '"name":"undefined string 9"'
}

@test "cut: profiler records stay records also where their fields are as large as they can be" {
	archive <<'END'
def profiler(kind, fields, *parts):
    return record(10, kind << 16 | 1 << 20 | fields << 28, *parts)
for ticks, module, size, flags in (100, 0xffff, 255, 7), (200, 0, 1, 0):
    text = b'm' * size
    out += [profiler(0, module | size << 16 | size << 24, ticks, stream(text), stream(text)),
            profiler(1, module | flags << 16, ticks, 2**64 - 1, 2**64 - 1, 2**64 - 1)]
out += [profiler(2, 14 | (2**28 - 1) << 8, 300, *range(2**64 - 14, 2**64)), profiler(2, 1, 400, 0)]
END
	trackway dump --json in.fxt | grep -o '"record":"profiler.*' >expected
	[ "$(wc -l <expected)" = 6 ]
	trackway cut --to-time 1s in.fxt -o out.fxt
	trackway dump --json out.fxt | grep -o '"record":"profiler.*' | diff expected -
	grep -q '"module_id":65535,.*"name":"m\{255\}","build_id":"\(6d\)\{255\}"' expected
	grep -q '"flags":268435455,' expected
}

@test "repair, convert: a large blob that is read in parts stays as it is, to the end of the file if it is cut" {
	archive <<END
$blob
import random
data = random.Random(3).randbytes(5_000_003)
open('data', 'wb').write(data)
out += [string(1, b'big'), large(1, data), event(0, 1)]
# The same with two words behind the bytes.
out += [record(15, 1 << 40, 1 << 16, len(data), stream(data), 7, 8), event(0, 1)]
END
	trackway repair in.fxt -o out.fxt 2>err
	cmp in.fxt out.fxt
	trackway convert --to fxt --byte-order big in.fxt -o big.fxt
	[ "$(stat -c %s big.fxt)" = "$(stat -c %s in.fxt)" ]
	trackway blobs --extract big big.fxt | cmp - <(cat data data)
	trackway convert --to fxt --byte-order little big.fxt -o back.fxt
	cmp in.fxt back.fxt
	for size in 3000000 3000001 4999000; do
		head -c $size in.fxt >cut.fxt
		trackway repair cut.fxt -o out.fxt 2>err || [ $? = 1 ]
		trackway check out.fxt
		trackway blobs --extract big out.fxt >part
		[ "$(stat -c %s part)" -gt $((size - 300)) ]
		head -c "$(stat -c %s part)" data | cmp - part
	done
}

@test "cut: where the tables of threads and strings are full, each kind of record tells its own" {
	archive <<'END'
out[2:] = [record(1, 0, 10**9)]
late = [0]
def name():
    late[0] += 1
    text = b'late%d' % late[0]
    return 0x8000 | len(text), stream(text)
def koids():
    late[0] += 1
    return words(1000, 1000 + late[0])
for n in range(300):
    out.append(event(0, 0, koids(), reference=0))
for n in range(33000):
    text = b'n%d' % n
    out.append(event(0, 0x8000 | len(text), 1000, 1001, stream(text), reference=0))
def event_of(kind, *more):
    (category, first), (name_ref, second) = name(), name()
    out.append(event(kind, name_ref, koids(), first, second, *more, category=category, reference=0))
for kind in range(11):
    event_of(kind, *([0] if kind == 0 else [500] if kind >= 4 or kind == 1 else []))
out.append(record(9, 2 << 16, 100, koids(), stream(b'on')))
out += [record(10, 0 << 16 | 5 << 28 | 2 << 44 | 1 << 52, 100, koids(), stream(b'so'), stream(b'i')),
        record(10, 1 << 16 | 5 << 28 | 1 << 44, 100, koids(), 1, 2, 3), record(10, 2 << 16 | 1 << 28, 100, koids(), 16)]
out.append(record(8, 3 << 24 | 7 << 44 | 8 << 52, 100, koids(), koids()))
(category, first), (name_ref, second) = name(), name()
out.append(record(15, 0, category | name_ref << 16, first, second, 100, koids(), 3, stream(b'abc')))
(name_ref, text) = name()
out.append(record(6, name_ref << 24, 64, 1000, text))  # of a process, as the document has it
(name_ref, text) = name()
out.append(record(7, 9 << 16 | name_ref << 24, 65, text))
(name_ref, text) = name()
out.append(record(5, name_ref << 16 | 3 << 32 | 1 << 48, text, stream(b'xyz')))
END
	plain() { # the records but for those that fill the tables, and without what tells where they stand
		trackway dump --json "$1" | grep -E '"record":"(event|log|profiler|scheduling|large|userspace|kernel|blob)' | tail -n 20 |
			sed -E 's/"(offset|[a-z_]*_ref)":[0-9]*,//g'
	}
	plain in.fxt >expected
	[ "$(grep -c late expected)" = 15 ]
	[ "$(grep -c '"process":null' expected)" = 0 ]
	trackway cut --to-time 1s in.fxt -o out.fxt
	[ "$(trackway check out.fxt | grep -c error)" = 0 ]
	plain out.fxt | diff expected -
}

@test "a thread that scheduling names alone is of the process that a record names with it, long after" {
	for first in "1000, 2004" "1000, 6, 2004"; do
		archive <<-END
			koids = [$first]
			out += [string(1, b'late'), record(8, (4 - len(koids)) << 60, *koids)]
			event = record(4, 1 << 24 | 1 << 32 | 1 << 48, 0)[:8]
			out += [event + words(2000 + i) for i in range(330000)]  # 5 MB
			out += [record(4, 2 << 16 | 1 << 32 | 1 << 48, 400000, 1100, 2004), record(4, 3 << 16 | 1 << 32 | 1 << 48, 400005, 1100, 2004)]
		END
		trackway convert --to fxt in.fxt -o other.fxt
		trackway cut --category late in.fxt -o cut.fxt
		trackway cut --from-time 0 in.fxt -o time.fxt
		trackway merge --same-machine --align none in.fxt other.fxt -o merged.fxt 2>err
		for file in cut time merged; do
			trackway dump --json $file.fxt | grep duration >found
			grep -q '"process":1100,"thread":2004' found || fail "$file: $(cat found)"
			fails grep -qv '"process":1100,"thread":2004' found
		done
		trackway convert --to chrome in.fxt | grep '"late"' | grep '"X"' >found
		grep -q '"pid":1100,"tid":2004' found || fail "$(cat found)"
		trackway convert --to perfetto in.fxt -o in.pftrace
		"$PYTHON" - "$TRACKWAY_SOURCE/tests/truth" <<-'END'
			import sys
			sys.path.insert(0, sys.argv[1])
			from protobuf import fields
			tag = bytes([(60 << 3 | 2) & 0x7f | 0x80, 60 << 3 >> 7])  # of packets with a track_descriptor, there are few
			packets = [dict(fields(packet)) for _, packet in fields(open("in.pftrace", "rb").read()) if tag in packet]
			threads = [dict(fields(packet[60])).get(4) for packet in packets if 60 in packet]  # track_descriptor, thread
			assert {1: 1100, 2: 2004} in [dict(fields(thread)) for thread in threads if thread], threads  # pid, tid
		END
	done
}

@test "a window that begins at a time of several events leaves them in their order" {
	archive <<-'END'
		out += [string(1, b'n'), thread(2, 5, 7)]
		out += [event(0, 1, ticks=500), event(2, 1, ticks=1500)]  # open at the edge: what is of its thread waits
		out += [event(8, 1, 9, ticks=2000), event(10, 1, 9, ticks=2000, reference=2)]
		out += [event(5, 1, 9, ticks=2000), event(7, 1, 9, ticks=2000, reference=2)]
		out += [record(8, 3 << 36 | 1 << 60, 2000, 6, 7), record(8, 3 << 36 | 1 << 60, 2000, 7, 8)]
		out += [event(3, 1, ticks=3500)]
	END
	trackway cut --from-time 1500ns in.fxt -o cut.fxt
	for file in in cut; do
		trackway dump --json $file.fxt | grep '"timestamp":2000' | grep -v duration-begin | grep -o '"record":"[a-z.-]*"' >$file
	done
	[ "$(wc -l <in)" = 6 ]
	diff in cut
	trackway check cut.fxt
}

@test "a blob has the time of the record before it, wherever in the file it stands" {
	for events in 16370 16375 16380 16385; do # 16 bytes each: about 256 KiB, what is read at once
		archive <<-END
			$blob
			out += [string(1, b'b')] + [event(0, 1, ticks=10 * i) for i in range($events)]
			out += [blob(1, 1, b'x' * 100)]
			out += [event(0, 1, ticks=10 * $events + 100000)]
		END
		[ "$(trackway blobs --json in.fxt | grep -o '"time_ns":[0-9]*')" = "\"time_ns\":$((10 * (events - 1)))" ] || fail "$events: $(trackway blobs --json in.fxt)"
		trackway cut --to-time $((10 * events))ns in.fxt -o cut.fxt
		trackway blobs cut.fxt | grep -q '^ *100 ' || fail "$events: $(trackway blobs cut.fxt)"
	done
}

@test "a large blob right behind damage is found, whatever its format" {
	archive <<-END
		$blob
		def plain(name, data):  # format 0: with category, thread, time
		    return record(15, 0, 1 | name << 16 | 1 << 36, 2500, len(data), stream(data))
		out += [string(1, b'n')] + [event(0, 1, ticks=1000 + i) for i in range(10)]
		damaged = [bytes(8) + event(0, 1, ticks=2000)[8:]]
		behind = [event(0, 1, ticks=3000 + i) for i in range(30)]
		for name, found in (('one', large(1, b'x' * 100)), ('zero', plain(1, b'x' * 100))):
		    open(name + '.fxt', 'wb').write(b''.join(out + damaged + [found] + behind))
	END
	for file in one zero; do
		trackway info --json $file.fxt 2>/dev/null >info || true
		grep -q '"large-blob":1' info || fail "$file: $(cat info)"
		grep -q '"lost_bytes":16[,}]' info || fail "$file: $(cat info)"
	done
}

@test "a blob larger than what is read at once is found behind damage, and what stands behind it where some of it is missing" {
	archive <<-END
		$blob
		out += [string(1, b'n')] + [event(0, 1, ticks=1000 + i) for i in range(10)]
		damaged = [bytes(8) + event(0, 1, ticks=2000)[8:]]
		behind = [event(0, 1, ticks=3000 + i) for i in range(2000)]
		found = large(1, b'x' * 1000000)
		for name, text in (('behind', b''.join(damaged) + found), ('missing', found[:5000] + found[5024:]),
		                   ('half', found[:400000] + found[403000:]),
		                   ('longer', found[:3] + b'\x60' + found[4:])):
		    open(name + '.fxt', 'wb').write(b''.join(out + [text] + behind))
	END
	for file in behind missing half longer; do
		trackway info --json $file.fxt 2>/dev/null >info || true
		grep -q '"large-blob":1' info || fail "$file: $(cat info)"
		grep -q '"event.instant":2010' info || fail "$file: $(cat info)"
		trackway repair $file.fxt -o repaired.fxt 2>/dev/null || true
		trackway check repaired.fxt >check || fail "$file: $(cat check)"
	done
	trackway check missing.fxt >check && fail "nothing is missing"
	grep -q "Expected the rest of the record, found 0x[0-9a-f]*; 0 bytes skipped" check || fail "$(cat check)"
	trackway blobs --json missing.fxt 2>/dev/null | grep -q '"bytes":999976' || fail "$(trackway blobs --json missing.fxt)"
}

@test "what a large blob holds is its own, whatever follows it" {
	archive <<-END
		$blob
		inner = [words(MAGIC), record(1, 0, 10**9), string(1, b'i')] + [event(0, 0, 5, 6, ticks=i) for i in range(500)]
		inner = (b''.join(inner) + large(1, b'x' * 400000))[:60000]
		out += [string(1, b'n'), large(1, inner)]
		for name, text in (('large', large(1, b'y' * 300000)), ('unknown', record(12, 0, 1, 2)), ('zeros', bytes(8))):
		    open(name + '.fxt', 'wb').write(b''.join(out) + text + b''.join(event(0, 1, ticks=i) for i in range(100)))
		open('beside.fxt', 'wb').write(b''.join(out[:5]) + record(12, 0, 1, 2) + record(7, 3 << 16 | 1 << 24, 77) + bytes(8) +
		                               b''.join(event(0, 1, ticks=i) for i in range(100)))
	END
	for file in large unknown zeros; do
		trackway blobs --json $file.fxt 2>/dev/null | grep -q '"bytes":3\?60000,' || fail "$file"
		trackway info --json $file.fxt 2>/dev/null >info || true
		grep -q '"event.instant":100[,}]' info || fail "$file: $(cat info)"
	done
	# An unknown record and a good one before damage.
	trackway info --json beside.fxt 2>/dev/null >info || true
	grep -q '"kernel-object":1,.*"unknown":1\|"unknown":1,.*"kernel-object":1' info || fail "$(cat info)"
	grep -q '"lost_bytes":8[,}]' info || fail "$(cat info)"
}

@test "a record behind damage stays where an unknown one follows it" {
	archive <<-END
		behind = b''.join(event(0, 1, ticks=i) for i in range(100))
		wakeup, event_, odd = record(8, 2 << 60 | 1 << 20, 100, 7), event(0, 1, ticks=50), record(12, 0, 1, 2)
		out.append(string(1, b'n'))
		for name, few in (('one', wakeup), ('other', event_), ('both', wakeup + event_), ('twice', wakeup + odd + event_)):
		    open(name + '.fxt', 'wb').write(b''.join(out) + bytes(8) + few + odd + behind)
	END
	for file in one other both twice; do
		trackway info --json $file.fxt 2>/dev/null >info || true
		grep -q '"lost_bytes":8[,}]' info || fail "$file: $(cat info)"
		grep -q '"unknown":[12][,}]' info || fail "$file: $(cat info)"
	done
}

@test "a large blob that ends soon behind what is read at once stays one" {
	archive <<-END
		out += [string(1, b'n')]
		data = bytes(i % 251 for i in range(280000))
		room = 2 * 2**18 + 4096 - len(data) - sum(map(len, out)) # it ends 4 KiB behind the second 256
		out += [event(0, 1, ticks=1000 + i) for i in range(room // 16)]
		out += [record(15, 0, 1 | 1 << 16 | 1 << 36, 9001, len(data), stream(data)), event(0, 1, ticks=90002)]
	END
	trackway cut --from-time 0 in.fxt -o out.fxt
	trackway info --json out.fxt | grep -q '"large-blob":1' || fail "$(trackway info --json out.fxt)"
	trackway dump --json in.fxt | grep '"large-blob"' | "$PYTHON" -c \
		'import json, sys; assert len(json.loads(sys.stdin.read())["payload"]) == 2 * 4096'
}

@test "words behind the bytes of a large blob make no events, however many" {
	archive <<-END
		out += [string(1, b'n'), event(0, 1, ticks=1000)]
		out += [record(15, 1 << 40, 1 << 16, 40000, bytes(40000 + 300000)), event(0, 1, ticks=2000)]
	END
	trackway merge in.fxt -o out.fxt
	trackway dump out.fxt | grep -o '^0x[0-9a-f]*  event[^ ]*  *timestamp=[0-9]*' >events
	[ "$(grep -o '[0-9]*$' events | tr '\n' ' ')" = "0 1000 " ] || fail "$(cat events)"
	trackway blobs --json in.fxt | grep -q '"bytes":40000,"missing_bytes":0,"parts":1,' || fail "$(trackway blobs --json in.fxt)"
}

@test "fill of a large blob that is not zeros is told and mended, however large it is" {
	for size in 1001 300001; do
		archive <<-END
			out += [string(1, b'n'), record(15, 1 << 40, 1 << 16, $size, b'x' * $size + b'\xff' * 7), event(0, 1, ticks=2000)]
		END
		trackway check in.fxt >found || true
		grep -q 'fxt.padding' found || fail "$size: $(cat found)"
		trackway repair in.fxt -o out.fxt 2>/dev/null || true
		trackway check out.fxt >found || fail "$size: $(cat found)"
		! grep -q 'fxt.padding' found || fail "$size: $(cat found)"
		trackway blobs --extract n -o blob out.fxt
		[ "$(wc -c <blob)" = "$size" ] || fail "$size: $(wc -c <blob)"
	done
}

@test "each thread index that nothing has registered is a thread of its own" {
	archive <<-END
		out += [string(1, b'a'), string(2, b'b')]
		out += [event(2, 1, reference=9, ticks=100), event(2, 2, reference=10, ticks=110)]
		out += [event(3, 1, reference=9, ticks=120), event(3, 2, reference=10, ticks=130), event(0, 1, 0, 0, reference=0, ticks=140)]
	END
	trackway stat --json in.fxt 2>/dev/null | grep -c '"count":1,"open":0,"unwound":0,"total_ns":20,' >count || true
	[ "$(cat count)" = 2 ] || fail "$(trackway stat --json in.fxt)"
	trackway check in.fxt >found || true
	[ "$(grep -c 'fxt.thread-undefined' found)" = 2 ] || fail "$(cat found)"
	! grep -q 'fxt.end' found || fail "$(cat found)"
	trackway convert in.fxt --to jsonl -o out.jsonl 2>/dev/null || true
	[ "$(grep -c '"track":"undefined thread 10"' out.jsonl)" = 2 ] || fail "$(cat out.jsonl)"
	# And stays one when it is registered.
	trackway repair in.fxt -o repaired.fxt 2>/dev/null || [ $? -eq 1 ]
	[ "$(trackway check repaired.fxt)" = "repaired.fxt: fine" ] || fail "$(trackway check repaired.fxt)"
	trackway convert repaired.fxt --to jsonl -o out.jsonl
	[ "$(grep -c 'slice-.*"track":"undefined thread 10"' out.jsonl)" = 2 ] || fail "$(cat out.jsonl)"
	trackway stat --json repaired.fxt | grep -c '"count":1,"open":0,"unwound":0,"total_ns":20,' | grep -qx 2
	# Also where its provider tells another clock, and whoever reads ahead knows of that.
	archive <<-END
		for clock in 10**9, 10**9 - 1:
		    out += [record(1, 0, clock), string(1, b'n')]
		    out += [event(0, 1, reference=9 if i % 50 == 0 else 1, ticks=10**6 + i) for i in range(20000)]
	END
	for jobs in 1 3; do
		trackway convert --jobs $jobs in.fxt --to jsonl -o out.jsonl 2>/dev/null || true
		grep -o '"thread":[^,]*,"track":"undefined thread 9"' out.jsonl | sort -u >threads
		grep -qx '"thread":"16140901064495858185",.*' threads && [ "$(wc -l <threads)" = 1 ] || fail "$jobs: $(cat threads)"
	done
}

@test "arguments that no record holds together keep their texts" {
	archive <<-END
		def text(reference):
		    return words(6 | 1 << 4 | 1 << 16 | reference << 32)
		out += [string(1, b'n')] + [string(2 + i, b'%d' % i * 20000) for i in range(3)]
		out += [event(0, 1, text(2), text(3), arguments=2, ticks=1000 + i) for i in range(500)]
		out += [event(0, 1, *[text(4)] * 15, arguments=15, ticks=90000)]
	END
	values() {
		trackway dump --json "$1" | "$PYTHON" -c \
			'import json, sys; print([[a["value"] for a in row["arguments"]] for row in map(json.loads, sys.stdin) if "arguments" in row])'
	}
	values in.fxt >before
	for command in "cut --strict --from-time 0" "repair --thread 6" "merge --strict"; do
		trackway $command in.fxt -o out.fxt 2>/dev/null
		values out.fxt | cmp - before || fail "$command"
		[ "$(wc -c <out.fxt)" -lt 100000 ] || fail "$command: $(wc -c <out.fxt)"
	done
}

# The upper half of the header is part of such an argument: what is cut and merged ends with the same 40 bytes.
@test "cut, merge, convert: arguments of unknown types stay, and what has no place elsewhere is counted" {
	archive <<'END'
out.append(string(1, b'o'))
head = b''.join(out)
odd = argument(12, 7, 0x1122334455667788, name=0)
open('kept.fxt', 'wb').write(head + event(0, 1, odd, 0, arguments=1, ticks=100))
open('words.fxt', 'wb').write(head + event(0, 1, 0, 99, ticks=100) + event(0, 1, 7, ticks=200) +
                              event(0, 1, argument(3, 0, 5, 99, name=0), 0, arguments=1, ticks=300) +
                              record(8, 1 << 60, 400, 6, 6) + record(8, 1 << 60, 401, 6, 6, 99))
# A record of 4095 words has no room for a scope.
full = argument(10, 4092 * 8, b'x' * (4092 * 8), name=0)
open('full.fxt', 'wb').write(head + event(0, 1, full, arguments=1, ticks=100))
END
	trackway convert --to fxt --byte-order big kept.fxt -o big.fxt
	for file in kept big; do
		trackway cut --strict --from-time 0 $file.fxt -o cut.fxt
		trackway merge --strict --align none $file.fxt -o merged.fxt
		cmp <(tail -c 40 cut.fxt) <(tail -c 40 kept.fxt)
		cmp <(tail -c 40 merged.fxt) <(tail -c 40 kept.fxt)
	done
	trackway cut --strict --from-time 0 full.fxt -o cut.fxt
	cmp <(tail -c 32760 cut.fxt) <(tail -c 32760 full.fxt)
	run trackway convert --strict --to chrome kept.fxt -o out.json
	[ "$status" -eq 1 ]
	[[ "$output" == *"unknown argument: 1 kept in another form"* ]] || fail "$output"
	for command in 'cut --from-time 0' 'merge --align none' 'convert --to chrome'; do
		run trackway $command --strict words.fxt -o out.fxt
		[ "$status" -eq 1 ]
		[[ "$output" == *"unknown field: 4 left out"* ]] || fail "$command: $output"
	done
	run trackway merge words.fxt words.fxt -o out.fxt
	[[ "$output" == *"unknown field: 8 left out"* ]] || fail "$output"
	# Filters leave the count, and the records, as they are.
	run trackway cut -f o --strict words.fxt -o out.fxt
	[ "$status" -eq 1 ]
	[[ "$output" == *"unknown field: 4 left out"* ]] || fail "$output"
	trackway check -f o words.fxt | grep -q 'trailing-words' || fail "$(trackway check -f o words.fxt)"
}

@test "the beginning of an archive is missing, up to any byte, in either order" {
	for order in little big; do
		trackway convert --to fxt --byte-order $order "$DATA/fxt/streaming.fxt" -o whole.fxt
		for from in 1 3 5 9 13 101 500 1001 2001 5003; do
			tail -c +$((from + 1)) whole.fxt >cut.fxt
			trackway info --from fxt --json cut.fxt 2>/dev/null >info || true
			grep -q '"lost_bytes":[0-4]\?[0-9],' info || fail "$order, $from: $(cat info)"
		done
	done
}

@test "what is not registered has a name of its own everywhere, and its loss is counted" {
	archive <<-END
		out += [string(1, b'n'), string(2, b'k'), event(0, 1, argument(6, 8, name=2), arguments=1)]
		out += [event(2, 1, reference=44, ticks=5), event(3, 1, reference=44, ticks=9)]
	END
	trackway convert in.fxt -o out.json 2>/dev/null || true
	grep -q '"args":{"k":"undefined string 8"}' out.json || fail "$(cat out.json)"
	trackway cut --from-time 0 in.fxt -o cut.fxt 2>/dev/null || true
	trackway dump cut.fxt | grep -q 'name=k name_ref=[0-9]* type=string value="undefined string 8"' || fail "$(trackway dump cut.fxt)"
	trackway info --json in.fxt 2>/dev/null | grep -q '"threads":2,' || fail "$(trackway info --json in.fxt)"
	run trackway convert --strict in.fxt -o out.xray
	[[ "$output" == *"process or thread id: 1 kept in another form"* ]] || fail "$output"
}

@test "a small large blob of a thread is found behind damage, also where hardly anything follows it" {
	archive <<-END
		out += [string(1, b'n'), string(2, b'c'), event(0, 1)]
		blobs = {size: record(15, 0, 2 | 1 << 16 | 1 << 36, 700, size, stream(bytes(size))) for size in (3, 50, 3000)}
		for size, blob in blobs.items():
		    for i, tail in enumerate((b'', event(0, 1), bytes(8) + event(0, 1) * 3)):
		        open(f'blob-{size}-{i}.fxt', 'wb').write(b''.join(out) + bytes(8) + blob + tail)
	END
	for file in blob-*.fxt; do
		trackway blobs --json $file 2>/dev/null | grep -q '"size":\|"bytes":' || fail "$file: $(trackway blobs --json $file)"
	done
}

@test "undefined threads of two archives are two, joined or merged, repaired or not" {
	archive <<-END
		one = b''.join(out[:3]) + string(1, b'n')
		a, b = one + event(2, 1, reference=7, ticks=100), one + event(3, 1, reference=7, ticks=105)
		for name, data in (('a', a), ('b', b), ('both', a + b)):
		    open(name + '.fxt', 'wb').write(data)
	END
	trackway repair both.fxt -o repaired.fxt 2>/dev/null || true
	trackway merge --align none a.fxt b.fxt -o merged.fxt 2>/dev/null || true
	printf 'a;b 1\n' >none.folded
	trackway merge --align none a.fxt b.fxt none.folded -o rows.fxt 2>/dev/null || true
	for file in both repaired merged rows; do
		trackway stat --json $file.fxt 2>/dev/null >stat || true
		grep -q '"name":"n",.*"open":1,.*"total_ns":0,' stat || fail "$file: $(cat stat)"
	done
}

@test "whole archives with arguments of unknown types are read whole, whatever these hold" {
	archive <<-END
		import random
		out += [string(i, b'name%d' % i) for i in range(1, 40)] + [thread(i, 5, 10 + i) for i in range(1, 9)]
		rng = random.Random(3)
		for t in range(5000):
		    values = [rng.choice((rng.randrange(1000), 10**12 + rng.randrange(10**9), rng.getrandbits(64))) for _ in range(3)]
		    odd = argument(rng.randrange(11, 16), rng.getrandbits(32), *values, name=rng.randrange(1, 40))
		    out.append(event(0, rng.randrange(1, 40), odd, 0, arguments=1, reference=rng.randrange(1, 9), ticks=1000 + t))
		# What looks like an object whose name is 650 events that follow, up to where one begins.
		trap = 7 | 3253 << 4 | 39 << 16 | (0x8000 | 26003) << 24
		out.append(event(0, 1, argument(12, 0, trap, 5, name=2), 0, arguments=1, ticks=8000))
		out += [event(0, 1, argument(12, 0, i, name=2), 0, arguments=1, ticks=9000 + i) for i in range(650)]
		out += [event(0, 1, ticks=10000 + i) for i in range(1350)]
	END
	trackway info --json in.fxt 2>/dev/null | grep -q '"lost_bytes":0,' || fail "$(trackway check in.fxt | grep error)"
	trackway info --json in.fxt 2>/dev/null | grep -q '"event.instant":7001[,}]'
	trackway cut --from-time 0 in.fxt -o cut.fxt 2>/dev/null
	trackway info --json cut.fxt 2>/dev/null | grep -q '"lost_bytes":0,' || fail "$(trackway check cut.fxt | grep error)"
}

# The same where none of the events that follow is known by its thread, and none measures right.
@test "what begins in an argument of unknown type must be without flaw" {
	archive <<-END
		def odd(i):
		    return event(0, 1, 5, 6, argument(12, 0, i, name=2), 0, arguments=1, reference=0, ticks=9000 + i)
		out += [string(1, b'n'), string(2, b'k')]
		trap = 7 | 3503 << 4 | 39 << 16 | (0x8000 | 28003) << 24 # up to where the 500 events end
		out.append(event(0, 1, argument(12, 0, trap, 5, name=2), 0, arguments=1, ticks=8000))
		out += [odd(i) for i in range(500)] + [event(0, 1, ticks=20000 + i) for i in range(50)]
	END
	trackway info --json in.fxt 2>/dev/null >info || true
	grep -q '"event.instant":551[,}]' info || fail "$(cat info)"
	grep -q '"lost_bytes":0,' info || fail "$(cat info)"
}

# FXT, "Counter Event": the values are arguments. Texts that are numbers count, as in Chrome's JSON.
@test "counters: texts that are numbers count, others are told" {
	"$PYTHON" - <<-'END'
		import struct
		def text(value): return value.encode().ljust(-len(value) % 8 + len(value), b"\0")
		def counter(time, value):
		    body = text("v") + text(value)
		    header = 6 | 1 + len(body) // 8 << 4 | (0x8000 | 1) << 16 | (0x8000 | len(value)) << 32
		    rest = struct.pack("<QQQ", time, 1, 2) + text("c") + text("n") + struct.pack("<Q", header) + body + bytes(8)
		    return struct.pack("<Q", 4 | 1 + len(rest) // 8 << 4 | 1 << 16 | 1 << 20 | 0x8001 << 32 | 0x8001 << 48) + rest
		with open("texts.fxt", "wb") as out:
		    out.write(struct.pack("<QQQ", 0x0016547846040010, 1 | 2 << 4, 10**9))
		    for time, value in enumerate((".75", "+10.5", "1e3", "abc", "0x10")):
		        out.write(counter(time, value))
	END
	trackway sql --csv texts.fxt 'select value from counter order by ts' >out
	printf '%s\n' value 0.75 10.5 1000.0 '' '' | diff - out
	run trackway check texts.fxt
	[ "$(grep -c 'fxt.counter-value' <<<"$output")" = 2 ] || fail "$output"
}
