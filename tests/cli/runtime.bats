# runtime.bats - alloc, jit, gc and cpu on small traces that are written here: what a runtime tells, in any format.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

# Times are microseconds. Process 9 is "app", thread 1 "main".
runtime() {
	{
		echo '['
		echo '{"ph":"M","pid":9,"tid":0,"name":"process_name","args":{"name":"app"}},'
		echo '{"ph":"M","pid":9,"tid":1,"name":"thread_name","args":{"name":"main"}},'
		cat
		echo '{"ph":"i","pid":9,"tid":1,"ts":1000,"name":"end","s":"t"}]'
	} >in.json
}

collections='
{"ph":"X","pid":9,"tid":1,"ts":0,"dur":10,"name":"GC","cat":"gc","args":{"reason":"induced","generations":"0"}},
{"ph":"X","pid":9,"tid":1,"ts":100,"dur":30,"name":"GC","cat":"gc","args":{"reason":"?","generations":"0 1, \"2\""}},
{"ph":"X","pid":9,"tid":2,"ts":300,"dur":60,"name":"GC","cat":"gc"},'

# Three looks: B is gone in the second, C comes in the third.
heap='
{"ph":"C","pid":9,"tid":0,"ts":100,"name":"A","cat":"heap","args":{"count":10,"bytes":1000}},
{"ph":"C","pid":9,"tid":0,"ts":100,"name":"B","cat":"heap","args":{"count":2,"bytes":500}},
{"ph":"C","pid":9,"tid":0,"ts":200,"name":"A","cat":"heap","args":{"count":20,"bytes":1800}},
{"ph":"C","pid":9,"tid":0,"ts":200,"name":"B","cat":"heap","args":{"count":0,"bytes":0}},
{"ph":"C","pid":9,"tid":0,"ts":300,"name":"A","cat":"heap","args":{"count":5,"bytes":100}},
{"ph":"C","pid":9,"tid":0,"ts":300,"name":"C","cat":"heap","args":{"count":1,"bytes":7}},
{"ph":"C","pid":9,"tid":0,"ts":300,"name":"LOH","cat":"generation","args":{"allocated":3000,"reserved":4096}},'

compilations='
{"ph":"X","pid":9,"tid":1,"ts":0,"dur":300,"name":"f","cat":"jit","args":{"code_bytes":40}},
{"ph":"X","pid":9,"tid":2,"ts":0,"dur":500,"name":"f","cat":"jit","args":{"code_bytes":60}},
{"ph":"X","pid":9,"tid":1,"ts":400,"dur":7,"name":"f","cat":"jit-cached","args":{}},
{"ph":"X","pid":9,"tid":1,"ts":500,"dur":20,"name":"g","cat":"jit","args":{"status":5}},'

usage='
{"ph":"C","pid":9,"tid":1,"ts":100,"name":"thread CPU","cat":"cpu","args":{"us":100,"percent":100}},
{"ph":"C","pid":9,"tid":1,"ts":200,"name":"thread CPU","cat":"cpu","args":{"us":50,"percent":50}},
{"ph":"C","pid":9,"tid":1,"ts":400,"name":"thread CPU","cat":"cpu","args":{"us":50,"percent":25}},
{"ph":"C","pid":9,"tid":1,"ts":400,"name":"process CPU","cat":"cpu","args":{"us":400}},'

says() { # expected, then a command: exit status 0, nothing on standard output
	local expected=$1
	shift
	"$@" >out 2>err
	[ ! -s out ] || fail "standard output: $(cat out)"
	echo "trackway: $expected" | diff - err
}

usage_error() { # expected, then a command: exit status 2
	local expected=$1 status=0
	shift
	"$@" >out 2>err || status=$?
	[ "$status" = 2 ] || fail "exit status $status"
	grep -qF -- "$expected" err || fail "$(cat err)"
}

@test "nothing of the kind: one line, exit status 0" {
	runtime <<<""
	says "there is no allocation in the trace" trackway alloc in.json
	says "there is no compilation in the trace" trackway jit in.json
	says "there is no collection in the trace" trackway gc in.json
	says "there is no look at the heap in the trace" trackway gc --by class in.json
	says "there is no generation of the heap in the trace" trackway gc --by generation in.json
	says "there is no processor time in the trace" trackway cpu in.json
	runtime <<<"$heap$compilations"
	says "no class matches 'x*'" trackway gc --class 'x*' in.json
	# There are looks, at 140 and 141 ms: nothing is alive after the second, or before the first.
	log="$DATA/tracelog/kinds.log"
	says "no class is known to be alive at either time; 2 looks at the heap in all" trackway gc --diff 0s,1s "$log"
	says "no class is known to be alive at either time; 2 looks at the heap in all" trackway gc --diff 0s,100ms "$log"
	says "no class that matches is known to be alive at either time; 2 looks at the heap in all" trackway gc --diff 0s,1s -f 'System*' "$log"
	says "no class matches 'x*'" trackway gc --diff 0s,1s -f 'x*' "$log"
	says "no function matches 'x*'" trackway jit -f 'x*' in.json
}

@test "gc: collections and all together" {
	runtime <<<"$collections"
	trackway gc in.json >out
	diff - out <<'END'
    TIME     PAUSE  THREAD  GENERATIONS  REASON
    0 ns  10.00 us       1  0            induced
100.0 us  30.00 us       1  0 1, "2"     ?
300.0 us  60.00 us       2  -            -

3 collections: 100.0 us, 10.0 % of the time
pauses: min 10.00 us, p50 30.00 us, p90 60.00 us, p99 60.00 us, max 60.00 us
END
	trackway gc -n 1 in.json | sed -n 3p | diff - <(echo "... and 2 more")
	trackway gc --json in.json | tail -n 1 | diff - <(echo '{"type":"totals","collections":3,"ended":3,"pause_ns":100000,"covered_ns":100000,"span_ns":1000000,"min_ns":10000,"p50_ns":30000,"p90_ns":60000,"p99_ns":60000,"max_ns":60000,"background":0,"background_ns":0}')
	trackway gc --csv in.json >out
	diff - out <<'END'
time_ns,pause_ns,process,thread,generations,reason,background,before_bytes,after_bytes,allocated_bytes,promoted_bytes,function
0,10000,9,1,0,induced,false,,,,,
100000,30000,9,1,"0 1, ""2""",?,false,,,,,
300000,60000,9,2,,,false,,,,,
END
}

# A log of a thread 42 that takes a sample at 2 ms; its collections come from standard input.
collecting() {
	{
		printf 'thr crt 0xB6A01000 0x00000000\nthr aos 0x00000000 42\nsam str 0x00000000 2 1 0:0\n'
		cat
	} >gc.log
}

totals() { # pause, covered, span, then a command
	local expected="$1 $2 $3"
	shift 3
	"$@" --json | tail -n 1 >out
	sed 's/.*"pause_ns":\([0-9]*\),"covered_ns":\([0-9]*\),"span_ns":\([0-9]*\),.*/\1 \2 \3/' out | diff - <(echo "$expected")
}

@test "gc: the share is of the span that info tells, and of a window's" {
	collecting <<<$'gch gcs 42 10 ? tfff\ngch gcf 42 500'
	trackway info --json gc.log | grep -q '"end_ns":500000000,'
	trackway gc gc.log | sed -n 4p | diff - <(echo '1 collection: 490.0 ms, 98.0 % of the time')
	totals 490000000 490000000 500000000 trackway gc gc.log
	totals 490000000 490000000 500000000 trackway gc --to-time 600ms gc.log
	totals 100000000 100000000 100000000 trackway gc --from-time 100ms --to-time 200ms gc.log
	totals 10000000 10000000 20000000 trackway gc --to-time 20ms gc.log
	totals 300000000 300000000 300000000 trackway gc --from-time 200ms gc.log
	# A line that makes no event is a time of the trace, too.
	collecting <<<$'gch gcs 42 10 ? tfff\ngch gcf 42 60\ngch alt 200'
	totals 50000000 50000000 200000000 trackway gc gc.log
	# A slice of another kind, written whole, ends last.
	runtime <<<"$collections"'{"ph":"X","pid":9,"tid":1,"ts":500,"dur":1500,"name":"f"},'
	totals 100000 100000 2000000 trackway gc in.json
}

@test "gc: whose thread is not known is that of ?, not the one with the number 0" {
	printf 'thr crt 0x1000 0x00000000\n' >gc.log
	printf 'gch gcs ? 10 induced tfff\ngch gcf ? 15\ngch gcs 0x0 20 ? tttt\ngch gcf 0x0 29\n' >>gc.log
	trackway gc gc.log | sed -n '1,3s/  */ /gp' | diff - <(printf '%s\n' ' TIME PAUSE THREAD GENERATIONS REASON' \
		'10.00 ms 5.000 ms ? 0 induced' '20.00 ms 9.000 ms 0 0 1 2 LOH ?')
	trackway gc --json gc.log | head -n 2 | grep -o '"thread":[^,]*' | diff - <(printf '"thread":%s\n' null 0)
	trackway gc --csv gc.log | cut -d , -f 4 | diff - <(printf '%s\n' thread '?' 0)
	trackway stat -w calls --by thread gc.log | awk '{ print $2, $(NF - 1) }' | diff - <(printf '%s\n' 'TOTAL NAME' '9.000 0' '5.000 ?')
	trackway stat -w calls --by thread --json gc.log | grep -o '"total_ns":[0-9]*\|"thread":[^,]*' | tr '\n' ' ' |
		diff - <(printf '"total_ns":%s "thread":%s ' 9000000 0 5000000 null)
	trackway stat -w calls --by thread --json "$DATA/tracelog/kinds.log" | grep '"name":"paused"' | grep -q '"thread":null,"process_name":"clrhost","thread_name":null}$'
	trackway stacks -w calls --per-thread --json gc.log | grep -o '"total_ns":[0-9]*\|"thread":[^,]*' | tr '\n' ' ' |
		diff - <(printf '"thread":%s "total_ns":%s ' 0 9000000 null 5000000)
	trackway stacks -w calls --per-thread gc.log | grep , | diff - <(printf '%s\n' ' 64.3 %  9.000 ms self, 1 call, thread 0' ' 35.7 %  5.000 ms self, 1 call, ? (thread ?)')
}

@test "jit: whose thread is not known is that of ?, not the one with the number 0" {
	printf 'thr crt 0x1000 0x00000000\njit cms ? 12 0xB6E00000\njit cmf ? 14 0xB6E00000 0x00000000\n' >jit.log
	printf 'jit cms 0x0 22 0xB6E00010\njit cmf 0x0 25 0xB6E00010 0x00000000\n' >>jit.log
	trackway jit --by thread jit.log | awk 'NR > 1 && NR < 4 { print $1, $NF }' | diff - <(printf '%s\n' '3.000 0' '2.000 ?')
	trackway jit --by thread --json jit.log | grep -o '"thread":[^,]*,"self_ns":[^,]*' |
		diff - <(printf '"thread":%s,"self_ns":%s\n' 0 3000000 null 2000000)
}

# The runtime is not paused, only who watches it; that of a sample is another matter: it is time in which somebody looked.
@test "gc, jit: what goes on while the profiler is paused takes as long as it takes" {
	collecting <<'END'
gch gcs 42 10 ? tfff
jit cms 42 20 0xB6E00000
prf tps 100
prf trs 300
jit cmf 42 320 0xB6E00000 0x00000000
gch gcf 42 400
sam str 0x00000000 450 1 1:1
END
	totals 390000000 390000000 450000000 trackway gc gc.log
	trackway jit --json gc.log | grep -q '"compiled_ns":300000000,'
	trackway stat -w wall --json gc.log | grep -q '"self":150000000,'
}

@test "gc: the share counts collections that overlap once" {
	# 10 to 50 of one thread; 20 to 30 inside it; 40 to 70 of another thread; 80 to 90; of 100 ms.
	collecting <<'END'
gch gcs 42 10 ? tfff
gch gcs 42 20 ? tfff
gch gcf 42 30
gch gcs 43 40 ? tfff
gch gcf 42 50
gch gcf 43 70
gch gcs 42 80 ? tfff
gch gcf 42 90
gch alt 100
END
	totals 90000000 70000000 100000000 trackway gc gc.log
	trackway gc gc.log | grep '^4 coll' | diff - <(echo '4 collections: 70.00 ms, 70.0 % of the time')
}

@test "gc: what is alive, what grew, generations" {
	runtime <<<"$heap"
	trackway gc --by class in.json >out
	diff - out <<'END'
    BYTES  OBJECTS  MOST BYTES  MOST OBJECTS  CLASS
100 bytes        5     1.8 KiB            20  A
  7 bytes        1     7 bytes             1  C
  0 bytes        0   500 bytes             2  B

all classes: 107 bytes in 6 objects; at most 1.8 KiB; 3 looks at the heap
END
	# Times of the trace begin at its first event, here the first look.
	trackway gc --diff 50us,250us in.json >out
	diff - out <<'END'
     BYTES  OBJECTS  BYTES FROM   BYTES TO  OBJECTS FROM  OBJECTS TO  CLASS
-900 bytes       -5  1000 bytes  100 bytes            10           5  A
-500 bytes       -2   500 bytes    0 bytes             2           0  B
  +7 bytes       +1     0 bytes    7 bytes             0           1  C

all classes: -1.4 KiB, -6 objects
END
}

@test "jit: by function and by thread" {
	runtime <<<"$compilations"
	trackway jit in.json >out
	diff - out <<'END'
    SELF      TIME  CPU  COMPILED       MAX       CODE  CACHED  CACHED TIME  FAILED  FUNCTION
800.0 us  800.0 us    -         2  500.0 us  100 bytes       1     7.000 us       0  f
20.00 us  20.00 us    -         1  20.00 us    0 bytes       0         0 ns       1  g

3 compilations of 2 functions in 820.0 us of wall time, 82.0 % of the span: 100 bytes of code
1 function found compiled in 7.000 us
1 failure
END
	trackway jit --by thread --sort max -n 1 --json in.json | diff - <(echo '{"name":"","process":9,"thread":2,"self_ns":500000,"compiled_ns":500000,"compiled":1,"max_ns":500000,"code_bytes":60,"cached":0,"cached_ns":0,"failed":0,"open":0,"cpu_ns":null}')
}

@test "cpu: a process and its threads, samples, charts" {
	runtime <<<"$usage"
	trackway cpu in.json >out
	diff - out <<'END'
  MEAN      MAX  CPU TIME  SAMPLES      SPAN  THREAD  NAME
     -        -  400.0 us        1      0 ns     all  app
50.0 %  100.0 %  200.0 us        3  300.0 us       1  main
END
	trackway cpu --csv in.json >out
	diff - out <<'END'
time_ns,process,thread,cpu_ns,percent
0,9,1,100000,100.000
100000,9,1,50000,50.000
300000,9,1,50000,25.000
300000,9,,400000,
END
	trackway cpu in.json -o cpu.svg
	[ "$(grep -c 'class="line"' cpu.svg)" = 1 ]
	runtime <<<"$heap"
	trackway gc in.json -o heap.svg
	[ "$(grep -c 'class="line"' heap.svg)" = 4 ] # objects and bytes, allocated and reserved
	grep -o 'class="name"[^<]*' heap.svg | sed 's/.*>//' >out
	diff - out <<'END'
LOH: allocated (app 9, 1 sample)
LOH: reserved (app 9, 1 sample)
heap: bytes (app 9, 3 samples)
heap: objects (app 9, 3 samples)
END
	grep generation <<<"$heap" | runtime # generations alone are of the heap, too
	trackway gc in.json -o generations.svg
	[ "$(grep -c 'class="line"' generations.svg)" = 2 ]
	# The axis of time is that of the trace, whose last time is 500 ms, also where nothing of these happens at its end.
	for command in counters cpu gc; do
		trackway "$command" "$DATA/tracelog/kinds.log" -o axis.svg
		grep -q '>500 ms<' axis.svg || fail "$command"
	done
	trackway gc "$DATA/tracelog/kinds.log" -o heap.svg
	grep -c '(clrhost 4200, ' heap.svg | diff - <(echo 10)
	# Collections from 100 to 103 and 110 to 140 of 500 ms are shaded in each, over 1,024 pixels from the 130th on.
	local shaded='M334.8 [0-9]*H340.94v80H334.8zM355.28 [0-9]*H416.72v80H355.28z'
	grep -c "class=\"stretch\" d=\"$shaded\"" heap.svg | diff - <(echo 10)
	trackway cpu "$DATA/tracelog/kinds.log" -o threads.svg # a thread has its name and its number in the log
	grep -o 'CPU: percent ([^<]*' threads.svg | diff - <(
		echo 'CPU: percent (clrhost 4200, 1 sample)'
		echo 'CPU: percent (OS thread 4200, thread 0 of clrhost 4200, 2 samples)'
	)
	printf '%s\n' 'prf stm 2018-06-25 07:24:28.049 +09:00' 'prf cfg CpuTraceThreadEnabled T' 'prf cfg CpuTraceTimeoutMs 10' \
		'thr crt 0xA0 0x00000000' 'thr aos 0x00000000 100' 'thr crt 0xB0 0x00000001' 'thr aos 0x00000001 200' \
		'thr cpu 0x00000000 10 5000' 'thr cpu 0x00000001 10 2500' 'thr cpu 0x00000001 20 2500' >two.log
	trackway cpu two.log -o two.svg
	grep -o 'OS thread [0-9]*, thread [0-9]* of' two.svg | sort | uniq -c | diff - <(
		printf '%7d OS thread %d, thread %d of\n' 1 100 0 1 200 1
	)
}

# 2^63 is the most negative number of 64 bits: what it takes back is more than all that was used.
@test "cpu: a usage that makes all less than nothing is no negative percentage" {
	printf 'prf cfg CpuTraceTimeoutMs 10\nthr crt 0xB6A01000 0x00000000\nthr aos 0x00000000 42\n' >cpu.log
	echo 'thr cpu 0x00000000 10 9223372036854775808' >>cpu.log
	trackway cpu cpu.log >out
	diff - out <<'END'
 MEAN    MAX  CPU TIME  SAMPLES  SPAN  THREAD  NAME
0.0 %  0.0 %      0 ns        1  0 ns       0  OS thread 42
END
	echo 'thr cpu 0x00000000 20 5000' >>cpu.log
	trackway cpu --json cpu.log | grep -q '"total_ns":0,"samples":2,.*"mean_percent":0.000,"max_percent":50.000}'
	# The samples are what the trace tells.
	trackway cpu --csv cpu.log | sed -n 2p | diff - <(echo '10000000,0,0,-9223372036854775808,-92233720368547760.000')
}

@test "wrong use is told" {
	runtime <<<"$heap"
	usage_error "is not two times: FROM,TO" trackway gc --diff 5 in.json
	usage_error "must be later" trackway gc --diff 5,5 in.json
	usage_error "are about classes" trackway gc --by collection --class A in.json
	usage_error "--diff is text or --json" trackway gc --diff 1,2 --csv in.json
	usage_error "only one of" trackway cpu --csv --svg in.json
	trackway stat --weight bytes in.json 2>err && grep -q "nothing to count by bytes in the trace" err
	usage_error "calls have no classes" trackway stat --by class in.json
	[ ! -e x.svg ]
}

# kinds.log: 2 ticks in Main;Select;Run, 2 in Main;Run;<UNMANAGED>, 1 in Main, 3 in Main;Run.
@test "stat, stacks, flame, graph, diff: samples of a TraceLog, by every weight" {
	log="$DATA/tracelog/kinds.log"
	trackway stat "$log" >out
	diff - out <<'END'
SELF  SELF %  TOTAL  TOTAL %  FUNCTION
   5  62.5 %      7   87.5 %  App.Program::<Run>b__0
   2  25.0 %      2   25.0 %  <UNMANAGED>
   1  12.5 %      8  100.0 %  App.Program::Main
   0   0.0 %      2   25.0 %  System.Linq.Enumerable::Select<M=System.Int32, N=System.String>
END
	trackway stat -w wall "$log" | sed -n 2p | diff - <(echo "30.00 ms  60.0 %  40.00 ms   80.0 %        5  App.Program::<Run>b__0")
	trackway stat -w bytes --json --sort total "$log" | head -n 1 | diff - <(echo '{"name":"App.Program::<Run>b__0","id":4,"count":6,"weight":"bytes","total":4352,"self":4352,"class":"System.String","module":"/usr/share/dotnet/shared/System.Private.CoreLib.dll","file":null,"line":0}')
	trackway stat -w allocations --thread 7 "$log" 2>&1 | head -n 1 | diff - <(echo "trackway: nothing to count by allocations passes the filters: --thread 7 (trackway info lists the threads)")
	trackway stat -w samples --to-time 35ms "$log" | sed -n 2p | diff - <(echo "   2  100.0 %      2  100.0 %  App.Program::<Run>b__0")
	trackway stacks -n 1 "$log" | head -n 4 | diff - <(printf ' 37.5 %%  3 samples\n        App.Program::Main\n        App.Program::<Run>b__0\n\n')
	trackway flame --folded -w samples "$log" | LC_ALL=C sort | diff - <(cat <<'END'
App.Program::Main 1
App.Program::Main;App.Program::<Run>b__0 3
App.Program::Main;App.Program::<Run>b__0;<UNMANAGED> 2
App.Program::Main;System.Linq.Enumerable::Select<M=System.Int32, N=System.String>;App.Program::<Run>b__0 2
END
	)
	trackway flame -w bytes "$log" -o bytes.svg
	grep -q '4.2 KiB in 2 frames' bytes.svg
	trackway graph -w samples --json "$log" | grep -q '"type":"edge","from":2,"to":1,"count":3,"weight":"samples","total":5}'
	trackway diff -w bytes "$log" "$log" | sed -n 2p | diff - <(echo "4.2 KiB  4.2 KiB  0 bytes    +0.0 %              6              6  App.Program::<Run>b__0")
}

@test "a log of samples and a log of calls are no sum, and not compared" {
	log="$DATA/tracelog/kinds.log"
	usage_error "tells of calls, the files before of samples" trackway stat "$log" "$DATA/xray/v5.xray"
	usage_error "the first trace tells of samples, the second of calls" trackway diff "$log" "$DATA/xray/v5.xray"
	usage_error "--sort p50 is for calls" trackway diff --sort p50 "$log" "$log"
}

@test "alloc, jit, gc and cpu of a TraceLog" {
	log="$DATA/tracelog/kinds.log"
	trackway alloc "$log" >out
	diff - out <<'END'
BYTES %      BYTES  OBJECTS   AVERAGE  CLASS
 94.1 %    4.0 KiB        1   4.0 KiB  System.Byte[]
  3.7 %  160 bytes        2  80 bytes  System.Collections.Generic.Dictionary<T=System.String, U=System.Int32>
  2.2 %   96 bytes        3  32 bytes  System.String

6 objects in all: 4.2 KiB
END
	trackway alloc --by stack -n 1 --json "$log" | diff - <(echo '{"class":"System.Byte[]","bytes":4096,"count":1,"average_bytes":4096,"stack":["App.Program::Main","App.Program::<Run>b__0"]}')
	trackway jit --json --sort time -n 1 "$log" | grep -q '"name":"App.Program::Main",.*"compiled_ns":2000000,"compiled":1,"max_ns":2000000,"code_bytes":160,'
	trackway gc "$log" | tail -n 2 | diff - <(printf '2 collections: 33.00 ms, 6.6 %% of the time\npauses: min 3.000 ms, p50 3.000 ms, p90 30.00 ms, p99 30.00 ms, max 30.00 ms\n')
	trackway gc --by class "$log" | sed -n 2p | diff - <(echo "0 bytes        0   128.0 KiB             4  System.Byte[]")
	trackway gc --by generation --csv "$log" | head -n 2 | tail -n 1 | cut -d, -f2- | diff - <(echo "LOH,131072,262144")
	trackway cpu --json "$log" | tail -n 1 | grep -q '"total_ns":9846000,"samples":2,'
}
