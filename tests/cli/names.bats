# names.bats - a program's functions by XRay id: maps in YAML, shared objects, programs that are not those of the log.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

MAP=$TRACKWAY_SOURCE/tests/data/maps/extract.yaml # what llvm-xray 14 has extracted

@test "names: a map is listed, and written again as llvm-xray wrote it" {
	trackway names "$MAP" >list
	diff list - <<-'END'
		ID   ADDRESS  SLEDS                          PLACE  FUNCTION
		 1  0x421d20  function-exit, log-args-enter  -      arg(int)
		 2  0x421d40  function-enter, function-exit  -      tail(int)
		 3  0x421d70  function-enter, function-exit  -      main
		 4  0x421da0  function-enter, function-exit  -      leaf
	END
	trackway names --yaml "$MAP" | cmp - "$MAP"
	trackway names --json "$MAP" >rows
	[ "$(wc -l <rows)" -eq 4 ]
	grep -q '^{"id":3,"address":4332912,"name":"main","file":null,"sleds":\[{"kind":"function-enter","address":4332912,"always_instrument":false,"version":2},' rows
}

@test "names: what is no program and no map is refused" {
	run trackway names "$DATA/xray/v5.xray"
	[ "$status" -eq 2 ]
	[[ $output == *'expected an ELF file'* ]]
	printf -- '---\n- { id: one }\n' >wrong.yaml
	run trackway names wrong.yaml
	[ "$status" -eq 2 ]
	[[ $output == *'wrong.yaml: line 2: expected a number'* ]]
	run trackway names --yaml --json "$MAP"
	[ "$status" -eq 2 ]
}

@test "names: functions of shared objects have two numbers" {
	# function 1 becomes 1:4, function 4 2:1, as LLVM 20 numbers them
	python3 - "$DATA/xray/basic-v3.xray" shared.xray <<-'END'
		import struct, sys
		log = bytearray(open(sys.argv[1], "rb").read())
		for at in range(32, len(log), 32):
		    number = struct.unpack_from("<i", log, at + 4)[0]
		    struct.pack_into("<i", log, at + 4, {1: 1 << 24 | 4, 4: 2 << 24 | 1}.get(number, number))
		open(sys.argv[2], "wb").write(log)
	END
	trackway stat --csv shared.xray >rows
	cut -d, -f1 rows | sort | paste -sd' ' >functions
	[ "$(cat functions)" = '#1:4 #2 #2:1 #3 name' ]
	trackway stat --csv -b 1="$MAP" shared.xray 2>told >rows
	cut -d, -f1 rows | sort | paste -sd' ' >functions
	[ "$(cat functions)" = '#2 #2:1 #3 leaf name' ]
	[ ! -s told ]
	# without numbers, they are 0, 1, 2
	trackway stat --csv -b "$MAP" -b "$MAP" -b "$MAP" shared.xray 2>told >rows
	[ "$(grep -c '^leaf,' rows)" -eq 1 ]
	[ "$(grep -c '^arg(int),' rows)" -eq 1 ]
	run trackway stat -b 256="$MAP" shared.xray
	[ "$status" -eq 2 ]
	[ "$output" = "trackway: error: object 256: expected a number of at most 255" ]
	run trackway stat -b "$MAP" -b 0=other shared.xray
	[ "$status" -eq 2 ]
	[ "$output" = "trackway: error: object 0 cannot be two programs, $MAP and other" ]
}

@test "names: a program that is not the one of the log is told once, and gives no names that cannot be" {
	trackway stat --csv -b "$MAP" "$DATA/xray/basic-v3.xray" 2>told >rows
	[ "$(wc -l <told)" -eq 1 ]
	grep -q 'the log has arguments of tail(int), which has no sled that takes them: is it the program' told
	cut -d, -f1 rows | sort | paste -sd' ' >functions
	[ "$(cat functions)" = '#2 #3 arg(int) leaf name' ]
	head -n 3 "$MAP" >short.yaml
	trackway stat -b short.yaml "$DATA/xray/basic-v3.xray" 2>&1 >rows | grep -q 'the log has #2, which it has not'
	trackway stat -b 1=short.yaml "$DATA/field/xray/dso-fdr.xray" 2>&1 >rows | grep -q 'the log has #1:5, which it has not'
	# paths of profiles, of which #1 calls none
	trackway stat -b short.yaml "$DATA/profiling/profiling-nested.xray" 2>&1 >rows | grep -q 'the log has #2, which it has not'
	grep -q ' arg(int)$' rows
}

@test "names: a program that is newer than the log is told" {
	head -c 64 "$DATA/xray/basic-v3.xray" >calm.xray # a call of function 1 begins
	cp "$MAP" map.yaml
	touch -d '2020-01-01' calm.xray
	trackway stat -b map.yaml calm.xray 2>told >rows
	grep -q "map.yaml: is newer than calm.xray: where it was built anew" told
	touch -d '2020-01-01' map.yaml
	[ -z "$(trackway stat -b map.yaml calm.xray 2>&1 >rows)" ]
}

@test "names: the output is no map that is read" {
	cp "$MAP" map.txt
	run trackway stat -b 0=map.txt "$DATA/xray/basic-v3.xray" -o map.txt
	[ "$status" -eq 2 ]
	[[ $output == *'is the output too'* ]]
	cmp map.txt "$MAP"
}

@test "names: doc/llvm-xray.md: every command there does its work" {
	for name in before after; do cp "$DATA/xray/v5.xray" $name.xray; done
	cp "$DATA/xray/v4-typed.xray" log.xray
	cp "$MAP" program
	touch -d '2020-01-01' program
	grep -o '`trackway [^`]*`' "$TRACKWAY_SOURCE/doc/llvm-xray.md" | tr -d '`' >commands
	[ "$(wc -l <commands)" -eq 39 ]
	while read -r line; do
		sh -c "$line" >out 2>err </dev/null || fail "$line: $(cat err)"
		[ -s out ] || [[ $line == *' -o '* || $line == *check* ]] || fail "$line: nothing"
	done <commands
	[ -s stat.csv ] && [ -s trace.json ] && [ -s basic.xray ] && [ -s calls.dot ] && [ -s diff.svg ] && [ -s flame.svg ]
	trackway check basic.xray
	cmp <(trackway names --yaml program) "$MAP"
	head -n 1 stat.csv | grep -q '^name,id,count,'
}

@test "names: typed events have the names that --event gives them, and payloads that are text are text" {
	trackway dump --json "$DATA/xray/v4-typed.xray" | grep '"typed-event"' >records
	head -n 1 records
	type=$(head -n 1 records | grep -o '"event_type":[0-9]*' | cut -d: -f2)
	fails grep -q event_name records
	trackway dump --json --event "$type=other" --event "$type=my event" "$DATA/xray/v4-typed.xray" >named
	[ "$(grep -c '"event_name":"my event"' named)" -eq "$(grep -c "\"event_type\":$type," records)" ]
	# custom event "hello": 1 byte of kind, 4 of size, 4 of difference
	python3 - hello.xray <<-'END'
		import struct, sys
		def metadata(kind, body): return bytes([kind << 1 | 1]) + body.ljust(15, b"\0")
		records = b"".join((metadata(0, struct.pack("<i", 7)), metadata(4, struct.pack("<QI", 1, 0)), metadata(9, struct.pack("<i", 7)),
		                    metadata(2, struct.pack("<HQ", 0, 1000)), metadata(5, struct.pack("<ii", 5, 10)), b"hello",
		                    metadata(8, struct.pack("<iiH", 6, 10, 3)), b"typed!", metadata(8, struct.pack("<iiH", 2, 10, 4)), b"\1\2"))
		header = struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 4096, 0)
		open(sys.argv[1], "wb").write(header + metadata(7, struct.pack("<Q", len(records))) + records)
	END
	trackway dump --event 3=request hello.xray >out
	grep -q 'data="hello" tsc=' out
	grep -q 'event_type=3 event_name=request data="typed!" tsc=' out
	trackway dump --event 65535=last hello.xray >out 2>err
	local status=0
	trackway dump --event 65536=more hello.xray >out 2>err || status=$?
	[ $status = 2 ] && grep -q '^trackway: error: --event: "65536=more" is too large' err || fail "$status: $(cat err)"
	trackway dump --json --event 3=request hello.xray >out
	grep -q '"data":"68656c6c6f","text":"hello",' out
	[ "$(grep -c '"text":' out)" -eq 2 ]
	trackway convert --to jsonl --event 3=request hello.xray -o out.jsonl
	grep -q '"name":"custom event".*"data":"hello"' out.jsonl
	grep -q '"name":"request".*"data":"typed!"' out.jsonl
	grep -q '"name":"typed event".*"data":"0102"' out.jsonl
	trackway convert --to csv --event 3=request hello.xray -o out.csv
	grep -q 'request.*""data"":""typed!""' out.csv
	trackway convert --to fxt --event 3=request hello.xray -o out.fxt
	trackway dump --json out.fxt | grep -q '"name":"request".*"value":"typed!"'
	# and they come back as what they were
	for step in json fxt; do
		case $step in json) trackway convert --to chrome hello.xray -o out.json ;; esac
		trackway convert --to xray-fdr out.$step -o back.xray 2>told
		trackway dump --json back.xray | grep -o '"event_type":[0-9]*\|"data":"[^"]*"' | paste -sd' ' >got
		# Chrome's JSON has the digits of bytes that are no text: what stands there then is counted, and has its name
		case $step in
		json) other='"data":"7479706564206576656e74"' && grep -q 'instant: 1 kept in another form' told ;;
		fxt) other='"event_type":4 "data":"0102"' ;;
		esac
		[ "$(cat got)" = '"data":"68656c6c6f" "event_type":3 "data":"747970656421" '"$other" ]
	done
	run trackway dump --event 3 hello.xray
	[ "$status" -eq 2 ]
	[[ $output == *'--event: "3" is no number, = and name'* ]]
	run trackway dump --event x=y hello.xray
	[ "$status" -eq 2 ]
	run trackway stat --event 3=x "$DATA/tracelog/d0.log"
	[ "$status" -eq 2 ]
}

@test "names: --no-demangle shows symbols, in every command" {
	g++ -O1 -fno-inline -c -x c++ - -o named.o <<<'namespace space { int leaf(int i) { return i + 1; } } int main() { return space::leaf(1); }' || skip "no g++"
	g++ named.o -o named
	python3 - log.xray <<-'END'
		import struct, sys
		head = struct.pack("<HHIQQQ", 3, 0, 3, 10**9, 0, 0)
		record = lambda kind, function, tsc: struct.pack("<HBBiQIIQ", 0, 0, kind, function, tsc, 7, 7, 0)
		open(sys.argv[1], "wb").write(head + record(0, 1, 10) + record(0, 4, 20) + record(1, 4, 30) + record(1, 1, 40))
	END
	sed 's/function-name: leaf/function-name: _ZN5space4leafEi/' "$MAP" >map.yaml
	touch -d '2020-01-01' map.yaml
	for words in 'stat --csv' 'stacks --csv' 'flame --folded' 'graph --json' 'dump' 'convert --to csv' 'sql -q select*from(slice)'; do
		case $words in sql*) set -- sql log.xray 'select name from slice' -b map.yaml ;; *) set -- $words log.xray -b map.yaml ;; esac
		trackway "$@" >plain
		trackway "$@" --no-demangle >mangled
		grep -qF 'space::leaf(int)' plain || fail "$words: $(cat plain)"
		fails grep -q _ZN plain
		grep -qF _ZN5space4leafEi mangled || fail "$words: $(cat mangled)"
		fails grep -q space:: mangled
	done
	trackway stat --csv --no-demangle -f '_ZN5*' -b map.yaml log.xray | grep -c _ZN | grep -qx 1
}

@test "names: stat --recursive counts as llvm-xray account --recursive-calls-only does" {
	# of a { a { b } a }, b, a, c { b { c } c }, c each ten apart: by hand
	python3 - log.xray <<-'END'
		import struct, sys
		head = struct.pack("<HHIQQQ", 3, 0, 3, 10**9, 0, 0)
		time = 0
		def record(kind, function):
		    global time
		    time += 10
		    return struct.pack("<HBBiQIIQ", 0, 0, kind, function, time, 7, 7, 0)
		def calls(text):
		    stack = []
		    for c in text:
		        if c == ")":
		            yield record(1, stack.pop())
		        else:
		            stack.append(ord(c) - ord("a") + 1)
		            yield record(0, stack[-1])
		open(sys.argv[1], "wb").write(head + b"".join(calls("aab))a)) b) a) cbc))c)) c)".replace(" ", ""))))
	END
	for jobs in 1 2; do
		trackway stat --recursive --json -j $jobs log.xray | grep -o '"name":"#[0-9]*"\|"count":[0-9]*\|"total_ns":[0-9]*\|"min_ns":[0-9]*\|"max_ns":[0-9]*' |
			paste -sd' ' >got
		[ "$(cat got)" = '"name":"#1" "count":3 "total_ns":70 "min_ns":10 "max_ns":70 "name":"#3" "count":3 "total_ns":70 "min_ns":10 "max_ns":70' ] ||
			fail "$(cat got)"
	done
	trackway stat --recursive --by thread --json log.xray | grep -c '"count":3' | grep -qx 2
	run trackway stat --recursive "$DATA/tracelog/d0.log"
	[ "$status" -eq 2 ]
	run trackway stat --recursive "$DATA/field/xray/id123.xray"
	[ "$status" -eq 0 ] && [ "${lines[0]}" = 'trackway: no function is called again before it has returned' ]
	llvm=$(command -v llvm-xray-14 || command -v llvm-xray) || return 0
	"$llvm" account --recursive-calls-only -f csv log.xray -o account.csv
	trackway stat --recursive --csv --sort id --ascending log.xray >stat.csv
	python3 - stat.csv account.csv <<-'END'
		import csv, sys
		ours = {int(row["id"]): row for row in csv.DictReader(open(sys.argv[1]))}
		theirs = {int(row["funcid"]): row for row in csv.DictReader(open(sys.argv[2]))}
		assert set(ours) == set(theirs) == {1, 3}, (set(ours), set(theirs))
		for number, row in theirs.items():
		    assert int(ours[number]["count"]) == int(row["count"]), number
		    for own, other in (("min_ns", "min"), ("max_ns", "max")):
		        assert int(ours[number][own]) == round(float(row[other]) * 1e9), (number, own)
	END
}

@test "names: flame --weight count: the calls of each stack, as llvm-xray stack has them" {
	# a { b b c } a { a { c } } b { c c }, each ten apart: by hand
	python3 - log.xray <<-'END'
		import struct, sys
		def records(text):
		    stack, time = [], 0
		    for c in text:
		        time += 10
		        if c != ")":
		            stack.append(ord(c) - ord("a") + 1)
		        function = stack.pop() if c == ")" else stack[-1]
		        yield struct.pack("<HBBiQIIQ", 0, 0, c == ")", function, time, 7, 7, 0)
		open(sys.argv[1], "wb").write(struct.pack("<HHIQQQ", 3, 0, 3, 10**9, 0, 0) + b"".join(records("ab)b)c))aac)))bc)c))")))
	END
	printf '%s\n' '#1 2' '#1;#1 1' '#1;#1;#3 1' '#1;#2 2' '#1;#3 1' '#2 1' '#2;#3 2' >counts
	trackway flame --folded --weight count log.xray | LC_ALL=C sort | diff - counts
	trackway flame --folded --weight count --per-thread log.xray | cut -d';' -f2- | LC_ALL=C sort | diff - counts
	trackway convert --to folded --weight count log.xray | LC_ALL=C sort | diff - counts
	trackway diff --folded --weight count log.xray log.xray | awk '{ print $1, $3 }' | LC_ALL=C sort | diff - counts
	trackway flame --folded --weight count --function '#3' log.xray | diff - <(echo '#3 4')
	trackway flame --folded --weight count --max-depth 1 log.xray | LC_ALL=C sort | diff - <(printf '%s\n' '#1 2' '#1;(deeper) 5' '#2 1' '#2;(deeper) 2')
	trackway stacks --weight count --csv log.xray | cut -d, -f2-3,6-7 | LC_ALL=C sort |
		diff - <(printf '%s\n' '#1,2,7,2' '#1;#1,1,2,1' '#1;#1;#3,1,1,1' '#1;#2,2,2,2' '#1;#3,1,1,1' '#2,1,3,1' '#2;#3,2,2,2' 'stack,count,total,self')
	trackway stacks --weight count log.xray | head -n 1 | grep -qx ' 20.0 %  2 calls'
	trackway flame --weight count log.xray >calls.svg
	grep -q '>10 calls in 7 frames<' calls.svg
	grep -q 'data-unit="" data-count="calls"' calls.svg
	# sums of calls have them too
	trackway flame --folded --weight count "$DATA/profiling/profiling-nested.xray" | diff - <(printf '%s\n' '#2 2' '#2;#1 2')
	trackway convert --to folded --weight count "$DATA/profiling/profiling-nested.xray" | diff - <(printf '%s\n' '#2 2' '#2;#1 2')
	for command in stat graph "diff log.xray"; do
		run trackway $command --weight count log.xray
		[ "$status" -eq 2 ]
		[[ $output == *'the weight "count" is for stacks'* ]]
	done
	llvm=$(command -v llvm-xray-14 || command -v llvm-xray) || return 0
	"$llvm" stack -aggregate-threads -all-stacks -stack-format=flame -aggregation-type=count log.xray | grep '^#' | sed 's/; / /' |
		LC_ALL=C sort | diff - counts
}

@test "names: lines of debug information that is compressed, by zstd too" {
	clang=$(command -v clang || command -v clang-14) || skip "no clang"
	objcopy --help | grep -q 'zlib-gabi|zstd' || skip "objcopy has no zstd"
	printf '%s\n' '__attribute__((noinline)) int leaf(int i) { return i + 1; }' '' 'int main(int c, char **v) { (void)v; return leaf(c); }' >z.c
	"$clang" -g -O1 -fxray-instrument -fxray-instruction-threshold=1 z.c -o z.none
	for kind in zlib zstd; do
		objcopy --compress-debug-sections=$kind z.none z.$kind
		readelf -t z.$kind | grep -qi "^ *$kind"
	done
	# of before 2016
	objcopy --compress-debug-sections=zlib-gnu z.none z.old
	readelf -SW z.old | grep -q '\.zdebug_info'
	for kind in none zlib zstd old; do
		trackway names --csv z.$kind | grep -o '[a-z]*,[^,]*z.c,[0-9]*' | sed 's|,.*/|,|' | diff - <(printf 'leaf,z.c,1\nmain,z.c,3\n')
	done
	# what is compressed is damaged: names without lines
	python3 - <<-'END'
		import struct
		program = bytearray(open("z.zstd", "rb").read())
		sections, size = struct.unpack_from("<Q", program, 40)[0], struct.unpack_from("<H", program, 58)[0]
		for at in range(sections, len(program) - size + 1, size):
		    flags, _, offset, length = struct.unpack_from("<QQQQ", program, at + 8)
		    if flags & 0x800:
		        for place in range(offset + 24, offset + length):
		            program[place] ^= 0x55
		open("damaged", "wb").write(program)
	END
	trackway names damaged | grep -q ' leaf$'
	trackway names damaged | fails grep -q 'z\.c'
}
