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
}

@test "names: a program that is not the one of the log is told once, and gives no names that cannot be" {
	trackway stat --csv -b "$MAP" "$DATA/xray/basic-v3.xray" 2>told >rows
	[ "$(wc -l <told)" -eq 1 ]
	grep -q 'the log has arguments of tail(int), which has no sled that takes them: is it the program' told
	cut -d, -f1 rows | sort | paste -sd' ' >functions
	[ "$(cat functions)" = '#2 #3 arg(int) leaf name' ]
	head -n 3 "$MAP" >short.yaml
	trackway stat -b short.yaml "$DATA/xray/basic-v3.xray" 2>&1 >rows | grep -q 'the log has #2, which it has not'
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
	for name in log before after; do cp "$DATA/xray/v5.xray" $name.xray; done
	cp "$MAP" program
	touch -d '2020-01-01' program
	grep -o '`trackway [^`]*`' "$TRACKWAY_SOURCE/doc/llvm-xray.md" | tr -d '`' >commands
	[ "$(wc -l <commands)" -eq 30 ]
	while read -r line; do
		sh -c "$line" >out 2>err </dev/null || fail "$line: $(cat err)"
		[ -s out ] || [[ $line == *' -o '* || $line == *check* ]] || fail "$line: nothing"
	done <commands
	[ -s stat.csv ] && [ -s trace.json ] && [ -s basic.xray ] && [ -s calls.dot ] && [ -s diff.svg ] && [ -s flame.svg ]
	trackway check basic.xray
	cmp <(trackway names --yaml program) "$MAP"
	head -n 1 stat.csv | grep -q '^name,id,count,'
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
	for kind in none zlib zstd; do
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
