#!/usr/bin/env bats
# uftrace.bats - uftrace's data directory as input: one written from its layout, and one that uftrace records.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

bats_require_minimum_version 1.5.0

export PYTHON=${PYTHON:-/usr/bin/python3}
TRUTH=$TRACKWAY_SOURCE/tests/truth

written() { "$PYTHON" "$TRUTH/uftrace.py" write data; }

@test "uftrace: calls, times and names of a directory written by hand" {
	written
	trackway stat --json data >out
	"$PYTHON" - out <<-'END'
		import json, sys
		rows = {row["name"]: (row["count"], row["total_ns"], row["self_ns"]) for row in map(json.loads, open(sys.argv[1]))}
		assert rows == {"main": (1, 100, 45), "work": (3, 95, 95), "walk(int)": (3, 90, 86), "puts": (1, 4, 4)}, rows
	END
	trackway info --json data >out
	grep -q '"records":18' out || fail "$(cat out)"
	grep -q '"program":"/opt/prog"' out || fail "$(cat out)"
}

@test "uftrace: calls by chance, left by jumps and open at the end, in all that they are converted to" {
	"$PYTHON" "$TRUTH/uftrace_calls.py" "$(command -v trackway)" . 20 >wrong || fail "$(head wrong)"
}

@test "uftrace: threads have their processes and names, and a fork the symbols of its parent" {
	written
	trackway convert --to jsonl data >out
	grep -q '"thread":71.*"worker"\|"worker".*"thread":71' out || fail "$(cat out)"
	grep -q '"process":80.*walk' out || fail "$(cat out)"
	grep -q '"name":"app:ready"' out
	[ "$(trackway sql --csv data 'select tid, name from thread where tid order by tid' | tail -n +2 | paste -sd' ')" = '70,prog 71,worker 80,prog' ]
	trackway stat --by thread --thread prog --json data >rows
	grep -q '"thread":80,.*"thread_name":"prog"' rows
	fails grep -q '"thread":71' rows
	# In the order of time, whatever the file.
	"$PYTHON" -c 'import json; times = [json.loads(line)["time_ns"] for line in open("out")]; assert times == sorted(times) and len(times) == 18'
}

# Twenty calls of main, each before the one before: of a rule ten findings are told one by one, whose file is not the
# path that was given.
@test "uftrace: how many more findings there are is told of the trace that has them, in a merge, too" {
	written
	"$PYTHON" - data/70.dat <<-'END'
		import struct, sys
		word, = struct.unpack_from("<Q", open(sys.argv[1], "rb").read(), 8)
		with open(sys.argv[1], "ab") as file:
		    for n in range(20):
		        for type in 0, 1:
		            file.write(struct.pack("<QQ", 10 ** 6 - 10 * n, word & ~3 | type))
	END
	for order in "data $DATA/fxt/streaming.fxt" "$DATA/fxt/streaming.fxt data"; do
		trackway merge $order -o out.fxt 2>err
		[ "$(sed 's|.*/||' err | grep -c '^70.dat: .*time-back')" = 10 ] || fail "$(cat err)"
		[ "$(grep ' more of ' err)" = "trackway: data: ... and 10 more of uftrace.time-back" ] || fail "$(cat err)"
	done
}

@test "uftrace: arguments are kept as bytes, and lost records are told" {
	written
	trackway dump --json data >out
	[ "$(grep -c '"data"' out)" = 3 ] || fail "$(cat out)"
	: >data/kernel-cpu0.dat
	run --separate-stderr trackway check --json data
	[[ "$output" == *uftrace.lost* && "$output" == *"lost 3 records"* && "$output" == *uftrace.not-read* ]] || fail "$output"
}

@test "uftrace: arguments and values are what info says that they are" {
	written
	printf 'argspec:lines=2\nargspec:nobody@arg1;work@arg1/i64;work@arg1/s\nretspec:work@retval/u32\n' >>data/info
	trackway dump --json data >out
	[ "$(grep -o '"name":"work".*' out | grep -o '"arguments":{[^}]*}')" = '"arguments":{"arg1":7}
"arguments":{"retval":9}
"arguments":{"arg1":"hello'"$(printf '\\u0000%.0s' {1..14})"'"}' ] || fail "$(cat out)"
	[ "$(trackway sql --csv data "select args ->> 'arg1', args ->> 'retval' from slice where args is not null limit 1" 2>err | tail -n 1)" = 7,9 ]
	# What does not fit the data is not believed.
	printf 'retauto:work@retval/f80\nargauto:work@arg1/t99999999:x,arg2/s,@,/,%%\n' >>data/info
	trackway dump --json data | cmp - out
	sed -i -e 's/work@arg1\/i64/work@arg1,arg2/' -e 's/work@retval\/u32/work@retval\/s/' data/info
	trackway dump --json data >out
	grep -q '"data":"0700000000000000"' out && grep -q '"data":"0900000000000000"' out || fail "$(cat out)"
	# Of functions that debugging information tells about.
	printf 'F: 1200 work\nL: 7 prog.c\nA: @arg1/p%%rdi\nR: @retval\nnonsense\n' >data/prog.dbg
	trackway dump data >out
	grep -q 'arguments={arg1=0x7}' out && grep -q 'arguments={retval=9}' out || fail "$(cat out)"
}

records() { # Python: a list of records as uftrace.py has them, to be what thread 70 has; SECOND is 5 s
	PYTHONPATH="$TRUTH" "$PYTHON" -c '
import struct, sys
from uftrace import BASE, ENTRY, EVENT, EXIT, LOST, MAIN, PUTS, WORK, record
SECOND = 5_000_000_000
open("data/70.dat", "wb").write(b"".join(eval("(" + sys.argv[1] + ")")))' "$1"
}

@test "uftrace: a character is one byte, and what follows stands at a multiple of four" {
	written
	records "[record(SECOND, ENTRY, 0, BASE + WORK, struct.pack('<4si', b'A\x01\x02\x03', -2)),
		record(SECOND + 5, EXIT, 0, BASE + WORK)]"
	printf 'argspec:lines=1\nargspec:work@arg1/c,arg2/i32\n' >>data/info
	trackway dump --json --thread 70 data >out
	grep -q '"arguments":{"arg1":"A","arg2":-2}' out || fail "$(cat out)"
}

# The time of the record behind the data is one that would be a record`s word, too: of a loss, of an event.
@test "uftrace: where data ends is told by what it is, not by bytes in it that look like a record" {
	local kind
	written
	for kind in 0x2e 0x2b 0x2a; do
		records "[record(SECOND, ENTRY, 0, BASE + MAIN),
			record(SECOND + 1, ENTRY, 1, BASE + WORK, struct.pack('<H6sQ', 3, b'abc', SECOND + 3000)),
			record((SECOND + 2000) // 64 * 64 + $kind, EXIT, 1, BASE + WORK, struct.pack('<Q', 9)),
			record(SECOND + 5000, EXIT, 0, BASE + MAIN)]"
		cp data/info info
		printf 'argspec:lines=1\nargspec:work@arg1/x,arg2/s;work@arg1/s,arg2/u;work@retval/t0:nothing,retval\n' >>data/info
		trackway dump --json --thread 70 data >out
		[ "$(wc -l <out)" = 4 ] && grep -q '"arguments":{"arg1":"abc","arg2":5000003000}' out || fail "$(cat out)"
		[ "$(trackway check --json data | grep -c 70.dat)" = 0 ] || fail "$(trackway check data)"
		cp info data/info
	done
	# Nothing tells what it is; a loss is told without a time, and has no data.
	for kind in 0x2e 0x2a; do
		records "[record(SECOND, ENTRY, 0, BASE + MAIN, struct.pack('<QQ', 7, 0)),
			record((SECOND + 2000) // 64 * 64 + $kind, EXIT, 0, BASE + MAIN)]"
		[ "$(trackway dump --thread 70 data | wc -l)" = 2 ] || fail "$(trackway dump data)"
	done
}

@test "uftrace: a loss without a time stands where it is told" {
	written
	records "[record(0, LOST, 9, 2), record(SECOND, ENTRY, 0, BASE + MAIN), record(SECOND + 5, ENTRY, 1, BASE + WORK, bytes(8)),
		record(0, LOST, 0x3f, 7), record(SECOND + 50, EXIT, 0, BASE + MAIN)]"
	trackway check --json data >out || true
	[ "$(grep 70.dat out | grep -o '"rule":"[^"]*"' | tr '\n' ' ')" = '"rule":"uftrace.lost" "rule":"uftrace.lost" ' ] || fail "$(cat out)"
	trackway dump --thread 70 data >out
	[ "$(grep -o 'lost .*' out | tr -s ' ' | tr '\n' ' ')" = 'lost tid=70 time=5000000000 depth=9 count=2 lost tid=70 time=5000000005 depth=63 count=7 ' ] ||
		fail "$(cat out)"
	[ "$(trackway stat --json --thread 70 data 2>err | grep -o '"main".*"total_ns":50')" ] || fail "$(trackway stat data)"
}

@test "uftrace: events of its own have names and values" {
	written
	records "[record(SECOND, ENTRY, 0, BASE + MAIN), record(SECOND + 1, EVENT, 0, 100002, struct.pack('<HQQ6x', 16, 3, 805)),
		record(SECOND + 2, EVENT, 0, 100003, struct.pack('<Hqqq6x', 24, 8, -4, 0)), record(SECOND + 3, EVENT, 0, 100011, struct.pack('<Hi2x', 4, 1)),
		record(SECOND + 4, EVENT, 0, 100012, struct.pack('<HI2x', 4, 1)), record(SECOND + 5, EVENT, 0, 100002, struct.pack('<HI2x', 4, 1)),
		record(SECOND + 9, EXIT, 0, BASE + MAIN)]"
	trackway dump --json --thread 70 data | grep '"event"' | grep -o '"name".*' >out
	diff out - <<-END
		"name":"read:page-fault","arguments":{"major":3,"minor":805}}
		"name":"diff:proc/statm","arguments":{"vmsize":8,"vmrss":-4,"shared":0}}
		"name":"watch:cpu","arguments":{"cpu":1}}
		"name":"event 100012","data":"0400010000000000"}
		"name":"read:page-fault","data":"0400010000000000"}
	END
}

@test "uftrace: functions that longjmp() and exec() leave are over with the next record" {
	written
	# main calls puts (setjmp), then work, which calls itself 300 times and jumps to where puts returns again; then walk.
	records "[record(SECOND, ENTRY, 0, BASE + MAIN), record(SECOND + 10, ENTRY, 1, BASE + PUTS), record(SECOND + 20, EXIT, 1, BASE + PUTS)]
		+ [record(SECOND + 30 + i, ENTRY, 1 + i, BASE + WORK) for i in range(300)]
		+ [record(SECOND + 1000, EXIT, 1, BASE + PUTS), record(SECOND + 1010, ENTRY, 1, BASE + 0x1300), record(SECOND + 1020, ENTRY, 2, BASE + WORK),
		record(SECOND + 1030, EXIT, 0, BASE + MAIN)]"
	trackway stat --json --thread 70 data 2>err >out
	"$PYTHON" - out <<-'END'
		import json, sys
		rows = {row["name"]: (row["count"], row["open"], row["total_ns"], row["self_ns"]) for row in map(json.loads, open(sys.argv[1]))}
		assert rows == {"main": (1, 0, 1030, 1030 - 10 - 970 - 20), "puts": (1, 0, 10, 10), "work": (301, 0, 970 + 10, 970 + 10),
		                "walk(int)": (1, 0, 20, 10)}, rows
	END
	# Each is ended by a row of its own.
	trackway convert --to jsonl --thread 70 data >rows
	[ "$(grep -c '"slice-end".*"work"' rows)" = 301 ] || fail "$(cat rows)"
	# A child begins where its parent was, and executes something else: nothing is missing.
	cat >data/task.txt <<-END
		SESS timestamp=4.900000000 pid=70 sid=00112233aabbccdd exename="/opt/prog"
		TASK timestamp=4.900000001 tid=70 pid=70
		FORK timestamp=5.000000005 pid=80 ppid=70
		SESS timestamp=5.000000050 pid=80 sid=00112233aabbccdd exename="/opt/prog"
	END
	records "[record(SECOND + 10, EXIT, 2, BASE + PUTS), record(SECOND + 20, ENTRY, 2, BASE + WORK), record(SECOND + 60, ENTRY, 0, BASE + MAIN),
		record(SECOND + 90, EXIT, 0, BASE + MAIN)]" && mv data/70.dat data/80.dat
	[ "$(trackway check --json data | grep -c 80.dat)" = 0 ] || fail "$(trackway check data)"
	[ "$(trackway stat --json --thread 80 data 2>err | grep -o '"name":"work".*"self_ns":40')" ] || fail "$(trackway stat data)"
}

@test "uftrace: a library that was opened later has names from then on, and a child those of its parent until it executes" {
	written
	cat >data/task.txt <<-END
		SESS timestamp=4.900000000 pid=70 sid=00112233aabbccdd exename="/opt/prog"
		TASK timestamp=4.900000001 tid=70 pid=70
		DLOP timestamp=5.000000020 tid=70 sid=00112233aabbccdd base=7f0000000000 libname="./my plug.so"
		DLOP timestamp=5.000000030 tid=70 sid=00112233aabbccdd base=7f0000100000 libname="/lib/other.so"
		DLOP timestamp=5.000000040 tid=70 sid=00112233aabbccdd base=7f0000000000 libname="/lib/other.so"
		FORK timestamp=5.000000045 pid=80 ppid=70
		DLOP timestamp=5.000000050 tid=80 sid=00112233aabbccdd base=7f0000200000 libname="/lib/other.so"
		SESS timestamp=5.000000060 pid=80 sid=00112233aabbccee exename="/opt/next"
		TASK timestamp=5.000000061 tid=80 pid=80
	END
	printf '0000000000000100 T plug_a\n0000000000000200 T plug_b\n0000000000000300 ? __sym_end\n' >'data/my plug.so.sym'
	printf '0000000000000100 T other_a\n0000000000000200 ? __sym_end\n' >data/other.so.sym
	printf '550000000000-550000005000 r-xp 00000000 08:01 43  /opt/next\n' >data/sid-00112233aabbccee.map
	printf '0000000000001200 T next_work\n' >data/next.sym
	records "[record(SECOND + 10 * i, ENTRY, i, address) for i, address in enumerate((0x7f0000000100, 0x7f0000000100, 0x7f0000000200,
		0x7f0000100150, 0x7f0000000100, 0x7f0000000300, BASE + WORK, 0x7f0000200100))]"
	trackway dump --json --thread 70 data | grep -o '"name":"[^"]*"' | tr '\n' ' ' >names
	[ "$(cat names)" = '"name":"0x7f0000000100" "name":"0x7f0000000100" "name":"plug_b" "name":"other_a" "name":"other_a" "name":"0x7f0000000300" "name":"work" "name":"other_a" ' ] ||
		fail "$(cat names)"
	records "[record(SECOND + 10 * i, ENTRY, i, address) for i, address in enumerate((BASE + WORK, BASE + WORK, 0x7f0000000100,
		BASE + WORK, BASE + WORK, 0x7f0000200100, BASE + WORK, 0x7f0000200100))]" && mv data/70.dat data/80.dat
	trackway dump --json --thread 80 data | grep -o '"name":"[^"]*"' | tr '\n' ' ' >names
	[ "$(cat names)" = '"name":"work" "name":"work" "name":"plug_a" "name":"work" "name":"work" "name":"other_a" "name":"next_work" "name":"0x7f0000200100" ' ] ||
		fail "$(cat names)"
	trackway check --json data 2>/dev/null >out || true
	[ "$(grep -c 'bad-line\|no-symbols\|no-map' out)" = 0 ] || fail "$(cat out)"
	sed -i 's/base=7f0000200000/base=x/' data/task.txt
	trackway check --json data | grep bad-line | grep -q '"line":7'
}

# What the symbols mean is from c++filt.
@test "uftrace: names of C++ are told as they stand in the source, and so are functions with arguments" {
	written
	sed -i -e 's/ work$/ _ZN5graph4workERKNS_4nodeE/' -e 's/walk(int)$/_ZL4walki/' data/prog.sym
	printf 'F: 1200 graph::work\nA: @arg1/x%%rdi\n' >data/prog.dbg
	trackway stat --json data | grep -o '"name":"[^"]*"' | LC_ALL=C sort >names
	[ "$(tr '\n' ' ' <names)" = '"name":"graph::work(graph::node const&)" "name":"main" "name":"puts" "name":"walk(int)" ' ] ||
		fail "$(cat names)"
	trackway dump data | grep -q 'name="graph::work(graph::node const&)" arguments={arg1=7}' || fail "$(trackway dump data)"
	rm data/prog.dbg
	printf 'argspec:lines=1\nargauto:_ZN5graph4workERKNS_4nodeE@arg1\n' >>data/info
	trackway dump data | grep -q 'name="graph::work(graph::node const&)" arguments={arg1=7}' || fail "$(trackway dump data)"
}

@test "uftrace: which thread had which CPU, as perf told" {
	written
	"$PYTHON" - <<-'END'
		import struct
		def switch(time, tid, flags):
		    return struct.pack("<IHHIIQ", 14, flags, 24, 70, tid, 5_000_000_000 + time)
		IN, OUT, PREEMPTED = 0, 1 << 13, 3 << 13
		open("data/perf-cpu0.dat", "ab").write(  # one before the first function, and one of a thread of something else
		    switch(-5, 70, IN) + switch(0, 70, IN) + switch(30, 70, PREEMPTED) + switch(31, 99, IN) + switch(33, 71, IN) + switch(60, 71, OUT))
		open("data/perf-cpu3.dat", "ab").write(switch(40, 70, IN) + switch(100, 70, OUT))
	END
	trackway dump --json data >out
	[ "$(grep -c '"sched-' out)" = 6 ] || fail "$(cat out)"
	[ "$(trackway sql --csv data 'select s.ts, dur, cpu, tid, end_state from sched s join thread using (utid) where tid > 0 order by ts' 2>err)" = \
		'ts,dur,cpu,tid,end_state
0,30,0,70,running
33,27,0,71,blocked
40,60,3,70,blocked' ] || fail "$(cat err)"
	# The calls are what they were, in both orders.
	[ "$(trackway stat --json data 2>err | grep '"main"' | grep -c '"total_ns":100')" = 1 ]
	trackway convert --to jsonl data 2>err | "$PYTHON" -c 'import json, sys
times = [json.loads(line)["time_ns"] for line in sys.stdin]
assert times == sorted(times) and len(times) == 24, times'
	[ "$(trackway dump --thread 71 data 2>err | grep -c sched)" = 2 ]
	# What is no record ends the file; one that is cut, too.
	head -c 48 data/perf-cpu0.dat >data/perf-cpu1.dat && printf '\016\0\0\0\0\0\003\0' >>data/perf-cpu1.dat
	head -c 60 data/perf-cpu0.dat >data/perf-cpu2.dat
	run --separate-stderr trackway check --json data
	[[ "$output" == *uftrace.bad-record*perf-cpu1.dat* || "$output" == *perf-cpu1.dat*uftrace.bad-record* ]] || fail "$output"
	[[ "$output" == *uftrace.cut-record*perf-cpu2.dat* || "$output" == *perf-cpu2.dat*uftrace.cut-record* ]] || fail "$output"
}

kernel() { "$PYTHON" -c 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); import uftrace as u
u.write_kernel(pathlib.Path("data"), 71, 5_000_000_015)' "$TRUTH"; }

@test "uftrace: what the kernel did for threads is inside their functions, in the order of time" {
	written
	kernel
	trackway sql --csv data "select ts, dur, s.name, depth, p.name from slice s left join (select id as i, name from slice) p on i = parent_id
		where category = 'kernel' order by ts" 2>err >out
	[ "$(cat out)" = 'ts,dur,name,depth,name
25,60,sys_read,1,work
30,5,rw_verify,2,sys_read
45,30,vfs_read,2,sys_read
1073741909,5,sys_read,0,' ] || fail "$(cat out err)"
	[ "$(trackway sql --csv data 'select count(*) = count(distinct id) from slice' 2>err | tail -n 1)" = 1 ]
	trackway sql --csv data "select ts, name, flat_key, coalesce(int_value, length(string_value)) from instant join args using (arg_set_id)
		where category = 'kernel' and flat_key in ('mode', 'path', 'comm') order by ts" 2>err >out
	[ "$(tail -n +2 out | tr '\n' ' ')" = '37,fs:opened,mode,-5 37,fs:opened,path,165 37,fs:opened,comm,3 38,fs:opened,mode,7 38,fs:opened,path,1 38,fs:opened,comm,3 ' ] ||
		fail "$(cat out err)"
	run --separate-stderr trackway info --json data
	[[ "$output" == *'"kernel-entry":4,"kernel-exit":4,"kernel-event":2'* ]] || fail "$output"
	[[ "$stderr" == *"kernel-cpu0.dat: offset 0x1000: warning: The kernel lost 3 records here. [uftrace.lost]"* ]] || fail "$stderr"
	[ "$(trackway dump --thread 70 data 2>err | grep -c kernel)" = 0 ]
}

@test "uftrace: dump and info have only records that pass the filters, of all files" {
	written
	kernel
	"$PYTHON" - <<-'END'
		import struct
		open("data/perf-cpu1.dat", "wb").write(b"".join(  # 71 gets CPU 1 and leaves it
		    struct.pack("<IHHIIQ", 14, flags, 24, 70, 71, 5_000_000_000 + time) for time, flags in ((33, 0), (95, 1 << 13))))
	END
	shown() { trackway dump --json "$@" data 2>err | "$PYTHON" -c 'import json, sys
print(*("%s@%d" % (r["record"], r["time"] - 5_000_000_000) for r in map(json.loads, sys.stdin)))'; }
	[ "$(shown --function work)" = 'entry@10 entry@20 exit@30 sched-in@33 entry@40 exit@45 exit@90 sched-out@95' ] ||
		fail "$(shown --function work)" # what a CPU did has no name
	[ "$(shown --category kernel --to-time 40ns)" = 'kernel-entry@25 kernel-entry@30 sched-in@33 kernel-exit@35 kernel-event@37 kernel-event@38' ] ||
		fail "$(shown --category kernel --to-time 40ns)"
	[ "$(shown --from-time 84ns --to-time 200ns)" = 'kernel-exit@85 exit@90 sched-out@95 exit@100' ] ||
		fail "$(shown --from-time 84ns --to-time 200ns)"
	[ "$(shown --thread 70 --min-duration 80ns)" = 'entry@0 event@35 exit@100' ] || fail "$(shown --thread 70 --min-duration 80ns)"
	[ "$(shown --function nobody --thread 70)" = '' ]
	for cpu in 1 256 8191; do # among those of CPU 0 that stand where these do in their file
		[ $cpu = 1 ] || mv data/kernel-cpu1.dat data/kernel-cpu$cpu.dat
		[ "$(shown --function vfs_read)" = 'sched-in@33 kernel-entry@45 kernel-exit@75 sched-out@95' ] ||
			fail "$cpu: $(shown --function vfs_read)"
		[ $cpu = 1 ] || mv data/kernel-cpu$cpu.dat data/kernel-cpu1.dat
	done
	trackway info --json --function work data 2>err | grep -q '"records":8,.*' || fail "$(trackway info --json --function work data)"
}

@test "uftrace: what of the kernel is missing or damaged is told, and the rest is read" {
	written
	kernel
	cp -r data whole
	shown() { trackway check --json data >out || true; grep -q "$1" out || fail "$(cat out)"; }
	calls() { trackway dump data 2>err | grep -c 'kernel-e' || true; }
	rm data/kallsyms
	shown uftrace.no-symbols
	trackway stat data 2>err | grep -q 0xffffffff81001000
	cp whole/kallsyms data
	rm data/kernel_header
	shown uftrace.not-read
	[ "$(calls)" = 0 ]
	mkdir data/kernel_header
	shown uftrace.unreadable
	[ "$(calls)" = 0 ] && trackway dump data 2>err | grep -q main
	rmdir data/kernel_header
	mkfifo data/kernel_header
	shown uftrace.unreadable
	rm data/kernel_header
	sed 's/ENDIAN: LE/ENDIAN: BE/' whole/kernel_header >data/kernel_header
	shown uftrace.not-read
	sed 's/^ID: 601/ID: 602/' whole/kernel_header >data/kernel_header
	shown uftrace.not-read
	[ "$(calls)" = 8 ]
	cp whole/kernel_header data
	head -c 6000 whole/kernel-cpu0.dat >data/kernel-cpu0.dat
	shown uftrace.cut-record
	[ "$(calls)" = 7 ]
	# A record that is longer than its page, and a page that is longer than a page.
	cp whole/kernel-cpu0.dat data && printf '\034' | dd of=data/kernel-cpu0.dat bs=1 seek=64 conv=notrunc status=none
	cp data/kernel-cpu0.dat bad && printf '\377\377' | dd of=data/kernel-cpu0.dat bs=1 seek=4104 conv=notrunc status=none
	shown uftrace.bad-record
	cp bad data/kernel-cpu0.dat && printf '\000\001\000\000\377\377\377\000' | dd of=data/kernel-cpu0.dat bs=1 seek=64 conv=notrunc status=none
	shown uftrace.bad-record
	[ "$(calls)" = 7 ] || fail "$(calls)"
}

# Offsets are of the file of each thread.
@test "uftrace: ids of all threads are told apart, and a file that changes ends a query" {
	written
	[ "$(trackway sql --csv data 'select count(*) = count(distinct id), count(*) > 5 from slice' 2>err | tail -n 1)" = 1,1 ] || fail "$(cat err)"
	trackway sql --csv data "select a.name, b.name from slice a join slice b on b.parent_id = a.id order by 1, 2" 2>err >joined
	[ "$(tail -n +2 joined | tr '\n' ' ')" = 'main,walk(int) main,work main,work walk(int),puts walk(int),walk(int) ' ] || fail "$(cat joined)"
	"$PYTHON" - <<-'END'
		import subprocess, time
		run = subprocess.Popen(["trackway", "sql", "--csv", "data"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
		                       stderr=subprocess.PIPE, text=True, bufsize=1)
		run.stdin.write("select count(*) from slice;\n")
		run.stdin.flush()
		time.sleep(0.5)
		open("data/71.dat", "ab").write(bytes(16))
		out, err = run.communicate("select count(*) from slice;\n")
		assert run.returncode == 2 and "changed" in err, (run.returncode, out, err)
	END
}

@test "uftrace: what is missing or damaged is told, and the rest is read" {
	written
	cp -r data whole
	rm data/prog.sym
	trackway check --json data | grep -q uftrace.no-symbols
	trackway stat --json data | grep -q '"name":"0x550000001139"'
	rm data/sid-*.map
	trackway check --json data | grep -q uftrace.no-map
	echo nonsense >>data/task.txt
	trackway check --json data | grep -q uftrace.bad-line
	rm data/task.txt
	trackway check --json data | grep -q uftrace.no-tasks
	rm -r data && cp -r whole data
	printf garbage | dd of=data/70.dat bs=1 seek=142 conv=notrunc status=none
	run --separate-stderr trackway check --json data
	[ "$status" = 1 ]
	[[ "$output" == *uftrace.bad-record*70.dat* || "$output" == *70.dat*uftrace.bad-record* ]] || fail "$output"
	run --separate-stderr trackway stat --json data
	[[ "$output" == *'"name":"walk(int)"'* && "$output" == *'"name":"puts"'* ]] || fail "$output"
	cp whole/70.dat data/70.dat && head -c 12 whole/70.dat >>data/70.dat
	trackway check --json data | grep -q uftrace.cut-record
	# Time that goes back, and a call that nothing led to.
	"$PYTHON" -c '
import sys; sys.path.insert(0, sys.argv[1]); import uftrace as u
open("data/70.dat", "wb").write(u.record(50, 0, 0, u.BASE + u.MAIN) + u.record(40, 0, 1, u.BASE + u.WORK) + u.record(60, 0, 5, u.BASE + u.WALK))' "$TRUTH"
	run --separate-stderr trackway check --json data
	[[ "$output" == *uftrace.time-back* && "$output" == *uftrace.depth* ]] || fail "$output"
}

@test "uftrace: other versions and byte orders are refused, and so is a file of the directory" {
	written
	printf '\003' | dd of=data/info bs=1 seek=8 conv=notrunc status=none
	run --separate-stderr trackway info data
	[ "$status" = 2 ]
	[[ "$stderr" == *"data/info: offset 0x8: expected version 4, found 3"* ]] || fail "$stderr"
	run --separate-stderr trackway info data/70.dat
	[ "$status" = 2 ]
}

@test "uftrace: many addresses without symbols stay in the memory limit" {
	written
	"$PYTHON" -c '
import sys; sys.path.insert(0, sys.argv[1]); import uftrace as u
open("data/70.dat", "wb").write(b"".join(u.record(2 * i, 0, 0, i << 8) + u.record(2 * i + 1, 1, 0, i << 8) for i in range(100000)))' "$TRUTH"
	run --separate-stderr trackway check --json --memory 4M data
	[[ "$output" == *uftrace.name-limit* ]] || fail "$output"
}

@test "uftrace: what uftrace records of a program with threads, and says of it itself" {
	command -v uftrace >/dev/null || skip "there is no uftrace"
	gcc -O1 -pg "$TRACKWAY_SOURCE/tests/programs/threads_uftrace.c" -o prog -lpthread
	cp prog prog_with_a_long_name
	uftrace record -d long --no-event ./prog_with_a_long_name >printed 2>&1 || skip "uftrace cannot record here: $(head -1 printed)"
	uftrace info -d long | sed -n 's/^# task list *: //p' | tr ',' '\n' | tr -d ' ' | sort >tasks
	trackway sql --csv long "select tid || '(' || name || ')' from thread where tid" | tail -n +2 | sort | diff tasks -
	uftrace record -d data --no-event ./prog >printed 2>&1
	uftrace dump -d data >dump.txt
	trackway stat --json data >stat.json
	"$PYTHON" "$TRUTH/uftrace.py" compare dump.txt stat.json
	uftrace record -a -d more ./prog >printed 2>&1
	uftrace dump -d more >dump.txt
	trackway stat --json more >stat.json
	"$PYTHON" "$TRUTH/uftrace.py" compare dump.txt stat.json
	trackway dump --json more >records.json
	"$PYTHON" "$TRUTH/uftrace.py" arguments dump.txt records.json >counted || fail "$(cat counted)"
	"$PYTHON" "$TRUTH/uftrace.py" switches dump.txt records.json >switches || fail "$(cat switches)"
	grep -q ' d32 d64 .*p .*str' counted || fail "$(cat counted)"
	"$PYTHON" "$TRUTH/uftrace.py" kernel data
	uftrace dump -d data >dump.txt
	trackway dump --json data >records.json 2>err
	"$PYTHON" "$TRUTH/uftrace.py" kernel-calls dump.txt records.json || fail "$(cat err)"
}

@test "uftrace: what it records of C++ with a library that is opened late, exceptions, a jump and a child" {
	command -v uftrace >/dev/null || skip "there is no uftrace"
	g++ -O0 -g -pg -DPLUGIN -shared -fPIC "$TRACKWAY_SOURCE/tests/programs/texts_uftrace.cpp" -o libplugin.so
	g++ -O0 -g -pg "$TRACKWAY_SOURCE/tests/programs/texts_uftrace.cpp" -o prog -ldl
	uftrace record -d data --no-event ./prog >printed 2>&1 || skip "uftrace cannot record here: $(head -1 printed)"
	uftrace dump --demangle=no -d data >dump.txt
	trackway dump --json data >records.json 2>err
	"$PYTHON" "$TRUTH/uftrace.py" records dump.txt records.json >compared || fail "$(cat compared)"
	grep -q '"name":"plugin_leaf"' records.json
	grep -q '"name":"throws(char const\*, int)"' records.json
	[ "$(trackway check --json data | grep -c -v uftrace.depth)" = 0 ] || fail "$(trackway check data)"
	uftrace record -a -d more ./prog >printed 2>&1
	uftrace dump -d more >dump.txt
	trackway dump --json more >records.json 2>err
	"$PYTHON" "$TRUTH/uftrace.py" records dump.txt records.json >compared || fail "$(cat compared)"
}

@test "uftrace: no file of the directory is written over, but another one in it is" {
	written
	cp -r data kept
	for name in info task.txt 70.dat prog.sym sid-00112233aabbccdd.map; do
		local status=0
		trackway stat data -o data/$name 2>err || status=$?
		[ $status = 2 ] && grep -q ": is the output too, and would be lost$" err || fail "$name: $(cat err)"
	done
	diff -r data kept
	trackway stat data -o report
	for i in 1 2; do
		trackway stat data -o data/report.txt
		(cd data && trackway stat . >listing)
		cmp report data/report.txt
		cmp report data/listing
	done
}

@test "a side file that cannot be read costs its names, or its thread, not the trace" {
	written
	trackway stat --json data | sort >whole
	[ -s whole ]
	for file in data/*.sym; do rm "$file"; mkdir "$file"; done
	mv data/70.dat kept.dat
	ln -s nowhere data/70.dat
	run trackway stat --json data
	[ "$status" = 1 ]
	[[ "$output" == *'70.dat'*'[uftrace.unreadable]'* ]] || fail "$output"
	[[ "$output" == *'"count"'* ]] || fail "$output"
	rm data/70.dat
	mv kept.dat data/70.dat
	trackway stat --json data 2>err >unnamed || [ $? = 1 ]
	grep -q '\.sym.*\[uftrace.unreadable\]' err
	[ "$(wc -l <unnamed)" -ge 2 ]
	: >data/task.txt
	run --separate-stderr trackway stat --json data
	[[ "$stderr" == *'[uftrace.no-tasks]'* && "$output" == *'"count"'* ]] || fail "$stderr"
}

@test "uftrace: a jump leaves no record out, a fork's exits are its parent's, and what is open ends with its thread" {
	written
	# main calls work, which calls itself and jumps back to main; then puts. It never returns: the thread ends 500 ns on.
	records "[record(SECOND, ENTRY, 0, BASE + MAIN), record(SECOND + 10, ENTRY, 1, BASE + WORK), record(SECOND + 20, ENTRY, 2, BASE + WORK),
		record(SECOND + 30, ENTRY, 1, BASE + PUTS), record(SECOND + 40, EXIT, 1, BASE + PUTS)]"
	# <linux/perf_event.h>: PERF_RECORD_EXIT has pid, ppid, tid, ptid and time; behind it pid, tid and time once more.
	"$PYTHON" -c '
import struct
open("data/perf-cpu0.dat", "wb").write(struct.pack("<IHHIIIIQIIQ", 4, 0, 48, 70, 1, 70, 1, 5000000500, 70, 70, 5000000500))'
	[ "$(trackway check --json data | grep -c '70.dat')" = 0 ] || fail "$(trackway check data)"
	for order in stat "stat --jobs 1"; do
		trackway $order --json --thread 70 data 2>err >out
		grep -q '"name":"main","id":[0-9]*,"count":1,"open":0,"unwound":0,"total_ns":500,"self_ns":470,' out || fail "$(cat out)"
		grep -q '"name":"work","id":[0-9]*,"count":2,"open":0,.*"total_ns":20,' out || fail "$(cat out)"
	done
	trackway convert --to jsonl --thread 70 data | grep '"slice-end".*"main"' | grep -q '"time_ns":500' || fail "no end of main"
	[ "$(trackway dump --json --thread 70 data | grep -c '"record"')" = 5 ]
	# A child comes back from the functions that its parent has begun.
	records "[record(SECOND + 10, ENTRY, 3, BASE + WORK), record(SECOND + 20, EXIT, 3, BASE + WORK), record(SECOND + 30, EXIT, 2, BASE + PUTS),
		record(SECOND + 40, EXIT, 1, BASE + WORK), record(SECOND + 50, EXIT, 0, BASE + MAIN)]" && mv data/70.dat data/80.dat
	trackway stat --thread 80 data >out 2>err
	if grep -q 'without an entry' out; then fail "$(cat out)"; fi
	grep -q '^ *1 .*10 ns .*work$' out || fail "$(cat out)"
}

@test "uftrace: a file of the directory leads to the directory" {
	written
	trackway stat --json data >expected 2>err
	for file in info task.txt 70.dat; do
		trackway stat --json "data/$file" 2>err | cmp - expected || fail "$file"
	done
	(cd data && trackway stat --json task.txt) | cmp - expected
	# Not where there is no such directory.
	mkdir other && cp data/task.txt other
	run trackway stat other/task.txt
	[ "$status" = 2 ]
}
