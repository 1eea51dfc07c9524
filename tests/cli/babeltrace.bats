# babeltrace.bats - the plugin of babeltrace2: what babeltrace2 shows of traces of all formats, whole and damaged.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

export PYTHON=${PYTHON:-/usr/bin/python3}
TRUTH=$TRACKWAY_SOURCE/tests/truth
PLUGINS=$(dirname "$(readlink -f "$TRACKWAY")")/babeltrace

# A build may lack it, but not in CI. With sanitizers their library is loaded before babeltrace2, which has none.
setup_file() {
	local library
	[ -n "${CI:-}" ] || [ -e "$PLUGINS/babeltrace-plugin-trackway.so" ] || skip "no plugin in this build"
	grep -q __asan_init "$PLUGINS/babeltrace-plugin-trackway.so" || return 0
	library=$(clang-14 -print-file-name=libclang_rt.asan-x86_64.so) && [ -e "$library" ] || skip "the plugin has sanitizers"
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$library" "$(command -v babeltrace2)" >"$BATS_FILE_TMPDIR/babeltrace2"
	chmod +x "$BATS_FILE_TMPDIR/babeltrace2"
	export PATH=$BATS_FILE_TMPDIR:$PATH
}

show() {
	babeltrace2 --plugin-path "$PLUGINS" "$@"
}

# Every event is what its row tells, and the slices are those of stat.
agree() { # trace...
	local trace
	for trace; do
		trackway stat --json "$trace" >stat.json 2>err || [ $? = 1 ]
		trackway convert --to jsonl "$trace" -o out.jsonl 2>err || [ $? = 1 ]
		"$PYTHON" "$TRUTH/babeltrace.py" "$PLUGINS" "$trace" out.jsonl stat.json 2>err || fail "$trace: $(cat err)"
	done
}

@test "babeltrace2: XRay's logs are found, and each event is what its row tells" {
	agree "$DATA"/xray/{v1,v3,v5,be-msb-v5,basic-v1,basic-v3,v4-typed}.xray
}

@test "babeltrace2: a log of the recorder names its functions" {
	command -v gcc >compiler || skip "no gcc"
	echo 'void parse(void) { } int main(void) { parse(); return 0; }' >program.c
	gcc -finstrument-functions program.c -o program
	trackway record --to xray-fdr -o program.xray -- ./program 2>err
	show program.xray >out 2>err
	[ "$(grep -c 'slice-begin.*name = "parse"' out)" = 1 ] || fail "$(cat out err)"
	[ "$(grep -c 'slice-begin.*name = "main"' out)" = 1 ] && [ ! -s err ] || fail "$(cat out err)"
	gcc -finstrument-functions -Wl,--build-id=0x12345678 program.c -o program
	show program.xray >out 2>err
	grep -q 'program.xray: names are missing: .* it was built anew since it was recorded' err || fail "$(cat out err)"
	[ "$(grep -c 'slice-begin.*name = "#[0-9]*"' out)" = 2 ] || fail "$(cat out err)"
	trackway stat program.xray >out 2>err
	grep -qx "trackway: no names of $PWD/program: it was built anew since it was recorded" err || fail "$(cat err)"
}

@test "babeltrace2: so are FXT archives" {
	PYTHONPATH=$TRUTH "$PYTHON" -c 'import fxt_odd; open("odd.fxt", "wb").write(fxt_odd.archive())'
	agree "$DATA"/fxt/{oneshot_all,streaming,waker,flow3}.fxt odd.fxt
}

@test "babeltrace2: so are TraceLog's files" { agree "$DATA"/tracelog/{kinds,odd,e1,u1-tiers}.log; }

@test "babeltrace2: so are Chrome's" { agree "$DATA"/chrome/{phases,rt,nestasync,deepargs}.json; }

@test "babeltrace2: so are sets of xtrace, compressed files and uftrace's folders" {
	"$PYTHON" "$TRUTH/xtrace.py" --threads 2 --turns 40 set >facts.json
	agree set
	gzip -c "$DATA/xray/v5.xray" >v5.xray.gz
	agree v5.xray.gz
	"$PYTHON" "$TRUTH/uftrace.py" write data
	agree data
}

@test "babeltrace2: so are profiles and folded stacks" {
	agree "$DATA"/profiling/profiling-nested.xray "$DATA"/chrome/small.cpuprofile
	printf 'main;work 3\nmain;wait 2\n' >stacks.folded
	agree stacks.folded
}

# Worked out by hand: an argument of each type of Chrome's JSON, and the second of one name.
@test "babeltrace2: arguments are fields of their own types" {
	cat >a.json <<-'END'
		[{"ph":"B","pid":1,"tid":2,"ts":1000,"name":"work","cat":"x,y","args":{"n":-5,"d":1.5,"t":"a\"b","yes":true,"no":null,"e":""}},
		 {"ph":"E","pid":1,"tid":2,"ts":3000.5,"name":"work"}]
	END
	show --clock-seconds a.json >out
	diff - out <<-'END'
		[0.001000000] (+?.?????????) slice-begin: { process = 1, thread = 2 }, { name = "work", category = "x,y", args = { n = -5, d = 1.5, t = "a\"b", yes = true, no = { }, e = "" } }
		[0.003000500] (+0.002000500) slice-end: { process = 1, thread = 2 }, { name = "work" }
	END
}

# Its first record: 2018-06-25 07:24:28.049, nine hours east of Greenwich.
@test "babeltrace2: the wall time is the date" {
	show --clock-gmt --clock-date "$DATA/tracelog/kinds.log" | head -n 1 >first
	grep -q '^\[2018-06-24 22:24:28.049' first || fail "$(cat first)"
}

@test "babeltrace2: a program names functions, and several files are one trace in order of time" {
	show -c source.trackway.trace -p "inputs=[\"$DATA/xray/v5.xray\"],program=\"$DATA/maps/extract.yaml\"" >out
	trackway convert --to jsonl --binary "$DATA/maps/extract.yaml" "$DATA/xray/v5.xray" -o rows.jsonl 2>err || [ $? = 1 ]
	"$PYTHON" - <<-'END'
		import json, re
		shown = [re.search(r' name = "((?:[^"\\]|\\.)*)"', line) for line in open("out")]
		rows = [json.loads(line).get("name") for line in open("rows.jsonl")]
		named = [(row, found[1]) for row, found in zip(rows, shown, strict=True) if row and not row.startswith("#")]
		assert {("leaf", "leaf"), ("arg(int)", "arg(int)")} < set(named)
		assert all(row == found for row, found in named), named
	END
	show --clock-seconds --no-delta "$DATA"/xray/v5.xray "$DATA"/xray/v4.xray >both
	[ "$(wc -l <both)" = $(($(show "$DATA/xray/v5.xray" | wc -l) + $(show "$DATA/xray/v4.xray" | wc -l))) ]
	sort -c -t'[' -k2,2 both
}

@test "babeltrace2: damaged files: what is well-formed goes on, and each finding is a warning" {
	local trace
	head -c 300 "$DATA/xray/v5.xray" >cut.xray
	head -c 500 "$DATA/fxt/oneshot_all.fxt" >cut.fxt
	{ head -c 990 "$DATA/tracelog/kinds.log" && echo junk; } >cut.log
	gzip -c "$DATA/chrome/phases.json" | head -c 800 >cut.json.gz
	{ head -c 900 "$DATA/chrome/phases.json" && echo '"ph":}'; } >cut.json
	PYTHONPATH=$TRUTH "$PYTHON" -c 'import fxt_odd; open("odd.fxt", "wb").write(fxt_odd.archive())'
	for trace in cut.xray cut.fxt cut.log cut.json cut.json.gz odd.fxt; do
		show "$trace" >out 2>err || fail "$trace: $(cat err)"
		trackway convert --to jsonl "$trace" -o rows.jsonl 2>findings || [ $? = 1 ]
		[ "$(wc -l <out)" = "$(wc -l <rows.jsonl)" ] || fail "$trace"
		[ "$(grep -cE '^W PLUGIN/SRC.TRACKWAY.TRACE .*(error|warning): ' err)" -gt 0 ] || fail "$trace: $(cat err)"
		fails grep -v '^W PLUGIN/SRC.TRACKWAY.TRACE' err
	done
	# Of 282 bytes of records behind the header and the extents, 300 bytes of the file have 252.
	show cut.xray 2>err >out
	[ "$(cut -d' ' -f4- err)" = "cut.xray:0x12c: error: expected 282 bytes of records, found the end of the file after 252 [fdr.buffer-truncated]" ] ||
		fail "$(cat err)"
}

@test "babeltrace2: a file that is not there, or no trace, is one clear line" {
	fails show -c source.trackway.trace -p 'inputs=["no.xray"]' >out 2>err
	[ ! -s out ]
	[ "$(grep -c 'no.xray: No such file or directory' err)" = 1 ] || fail "$(cat err)"
	: >empty
	fails show -c source.trackway.trace -p 'inputs=["empty"]' 2>err
	[ "$(grep -c '^  empty: ' err)" = 1 ] || fail "$(cat err)"
	fails show -c source.trackway.trace 2>err
	grep -q 'the parameter `inputs` is no list of one or more paths' err
	fails show -c source.trackway.trace -p 'inputs=["no.xray"],program="none"' 2>err
	[ "$(grep -c '^  none: ' err)" = 1 ] || fail "$(cat err)"
}

# 656 events have 65,600 arguments of names of their own: the last one of them is beyond 65,536.
@test "babeltrace2: with too many names of arguments they are one text" {
	"$PYTHON" - >many.json <<-'END'
		import json
		print(json.dumps([{"ph": "i", "pid": 1, "tid": 1, "ts": event, "name": "x", "args": {f"{event}.{n}": n for n in range(100)}}
		                  for event in [*range(658), 0]]))
	END
	show --clock-seconds --no-delta many.json >out
	[ "$(wc -l <out)" = 659 ]
	[ "$(grep -c 'args = { [0-9]*\.0 = 0, [0-9]*\.1 = 1,.* [0-9]*\.99 = 99 } }$' out)" = 656 ] || fail "$(cut -c1-120 out | tail -n 5)"
	[ "$(grep -c 'args = "{\\"65[567]\.0\\":0,\\"65[567]\.1\\":1,.*\\"65[567]\.99\\":99}" }$' out)" = 3 ]
}

# Events from 0.000212 to 0.000221 s, by the times that the whole of it is shown with.
@test "babeltrace2: a window of time is a part of the whole, and sink.ctf.fs writes what is read again" {
	show --clock-seconds --no-delta "$DATA/fxt/oneshot_all.fxt" >whole
	show --clock-seconds --no-delta --begin=0.000212 --end=0.000221 "$DATA/fxt/oneshot_all.fxt" >part
	awk -F'[][]' '$2 >= 0.000212 && $2 <= 0.000221' whole | diff - part
	[ "$(wc -l <part)" = 3 ]
	show --clock-seconds --no-delta "$DATA/xray/v5.xray" | sed 's/ (.*//' >whole
	show -o ctf -w written "$DATA/xray/v5.xray" >log
	[ -e written/v5.xray/metadata ]
	babeltrace2 --clock-seconds --no-delta written >again
	diff whole again
}

@test "babeltrace2: a time that goes back is that of the event before, and is told" {
	"$PYTHON" "$TRUTH/uftrace.py" write data
	rm data/71.dat
	"$PYTHON" -c 'import sys; sys.path.insert(0, sys.argv[1])
import uftrace as u
open("data/70.dat", "wb").write(u.record(50, 0, 0, u.BASE + u.MAIN) + u.record(40, 0, 1, u.BASE + u.WORK) + u.record(60, 0, 2, u.BASE + u.WORK))' "$TRUTH"
	show --clock-seconds --no-delta data >out 2>err
	[ "$(head -n 3 out | cut -c2-12 | tr '\n' ' ')" = "0.000000050 0.000000050 0.000000060 " ] || fail "$(cat out)"
	grep -q 'data: events with a time before that of the event before, which have that one: 1$' err || fail "$(cat err)"
}
