# tracelog_pdb.bats - source lines of a TraceLog from portable PDBs, which tests/truth/portable_pdb.py makes by their documents.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

prepare() {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/portable_pdb.py" "$PWD"
	printf '%s\n' '2 /src/app/Main.cs:10' '2 /src/app/Main.cs:11' '2 C:\work\Other.cs:20000' '1 /src/app/Main.cs:300' \
		'1 /src/app/Main.cs:7' '1 /src/app/Main.cs:8' '1 App::M3+IL_0000' >lines
	printf '%s\n' '1 App::M1+IL_0000' '1 App::M1+IL_0003' >offsets
}

lines_of() { # the samples of each line, by the options and the log
	trackway stat --by line --csv "$@" 2>notes | "$PYTHON" -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["self"], row["name"])'
}

@test "lines: beside the assembly, a hidden point is of the line before, another document, far lines and back" {
	prepare
	lines_of app.log | diff - lines
	[ ! -s notes ]
}

@test "lines: of an assembly that has its PDB in it; of a folder; by name where the assembly is not here" {
	prepare
	mkdir else
	mv app.pdb else
	lines_of app.log | head -n 2 | sort | diff - offsets
	lines_of --pdb else app.log | diff - lines
	sed 's|app.dll|inside.dll|' app.log >inside.log
	lines_of inside.log | diff - lines
	rm app.dll
	lines_of --pdb else app.log | diff - lines
	sed 's|"[^"]*app.dll"|"app.dll"|' app.log >bare.log
	lines_of bare.log | head -n 2 | sort | diff - offsets
	lines_of --pdb else bare.log | diff - lines
}

@test "lines: of Mono's file in the place of a PDB, beside the assembly or in a folder; columns and ends too" {
	prepare
	mkdir else
	trackway convert --to tracelog --dialect vs -o pdb.vs app.log
	rm app.pdb
	mv mono.mdb app.dll.mdb
	lines_of app.log | diff - lines
	[ ! -s notes ]
	trackway convert --to tracelog --dialect vs -o mdb.vs app.log
	diff pdb.vs mdb.vs
	mv app.dll.mdb else
	lines_of app.log | head -n 2 | sort | diff - offsets
	lines_of --pdb else app.log | diff - lines
	for size in 0 20 60 111 300 350; do
		head -c "$size" else/app.dll.mdb >app.dll.mdb
		lines_of app.log >got
		[ -s got ] || fail "$size"
		[ "$(grep -c "tracelog.pdb-damaged" notes)" = 1 ] || fail "$size: $(cat notes)"
	done
	"$PYTHON" -c '
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<I", data, 0x20 + 4 * 10)
data[at:at + 24] = data[at + 12:at + 24] + data[at:at + 12]
open("app.dll.mdb", "wb").write(data)' else/app.dll.mdb
	lines_of app.log | head -n 2 | sort | diff - offsets
	grep -q "app.dll.mdb: damaged: its methods are not in order" notes
}

@test "lines: a PDB of another build is not used, and told once" {
	prepare
	mv other.pdb app.pdb
	lines_of app.log | head -n 2 | sort | diff - offsets
	trackway check app.log >notes || true
	[ "$(grep -c "app.pdb .tracelog.pdb-other." notes)" = 1 ] || fail "$(cat notes)"
}

@test "lines: exports have them, other windows too; a folder that is not there is told" {
	prepare
	trackway convert --to pprof -o - app.log 2>/dev/null | "$PYTHON" -c '
import gzip, sys
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)' | grep -aq '/src/app/Main.cs'
	trackway cut --from-time 60ms -o part.log app.log
	lines_of part.log | grep -q '^1 /src/app/Main.cs:300$'
	fails trackway stat --pdb nosuch app.log 2>told
	grep -q 'nosuch: No such file or directory' told
	[ "$(wc -l <told)" = 1 ]
}

@test "lines: damaged PDBs and assemblies, pipes and folders in their place cost the lines alone" {
	prepare
	for size in 0 4 20 40 100 200; do
		head -c "$size" app.pdb >cut.pdb
		sed 's|app.dll|cut.dll|' app.log >cut.log
		lines_of cut.log >got
		[ -s got ] || fail "$size"
		[ "$(grep -c "cut.pdb: .*tracelog.pdb-damaged" notes)" = 1 ] || fail "$size: $(cat notes)"
	done
	grep -q 'cut.pdb: damaged: ' notes
	printf 'Microsoft C/C++ MSF 7.00\r\n' >cut.pdb
	lines_of cut.log >got
	grep -q 'warning: .*/cut.pdb: a PDB of Windows, not a portable one' notes
	sed 's|app.dll|inside.dll|' app.log >inside.log
	"$PYTHON" - <<'END'
data = bytearray(open("inside.dll", "rb").read())
at = data.index(b"MPDB") + 12
data[at:at + 8] = b"\xff" * 8
open("inside.dll", "wb").write(data)
END
	lines_of inside.log >got
	grep -q 'warning: .*/inside.dll: the PDB in it is damaged' notes || fail "$(cat notes)"
	rm app.pdb
	mkfifo app.pdb
	lines_of app.log | head -n 2 | sort | diff - offsets
	rm app.pdb
	mkdir app.pdb
	lines_of app.log | head -n 2 | sort | diff - offsets
}

# Instructions of frames, of a frame that stays, of an allocation; of functions that are told behind their first sample;
# and of a place that no code is at. Numbers of lines are by hand from METHODS of portable_pdb.py.
vs_log() {
	local head functions
	head="$(grep '^prf\|^mod\|^thr' app.log)"
	functions="$(grep '^fun ... 0x0000000[12] ' app.log)"
	printf '%s\n' "$head" 'sam str 0x00000000 10 1 0:0 0x1:0xC0001000 0x2:0xC0002000' "$functions" \
		'sam str 0x00000000 20 1 1:2:0xC0001020' 'sam mem 0x00000000 20 0x00000005:2:48:0xC0001040' \
		'sam str 0x00000000 30 1 1:1:0xC000FFFF'
}

@test "convert: to vs, lines from PDBs are written before the first record that has them, behind their functions" {
	prepare
	vs_log >deep.log
	run trackway convert --strict deep.log --dialect vs -o vs.tracelog
	[ "$status" = 1 ]
	[[ "$output" == *"4 kept in another form"* ]] || fail "$output"
	grep -v '^prf\|^mod\|^thr\|^fun' vs.tracelog | diff - <(printf '%s\n' \
		'sam str 0x00000000 10 1 0:0 0x1:0x1 0x2:0x2' \
		'fil src 0x00000001 "/src/app/Main.cs"' \
		'lin src 0x00000001 0x00000001 0x00000001 10 5 10 6' \
		'fil src 0x00000002 "C:\work\Other.cs"' \
		'lin src 0x00000002 0x00000002 0x00000002 20000 70 20001 3' \
		'lin src 0x00000003 0x00000001 0x00000001 11 9 11 40' \
		'sam str 0x00000000 20 1 1:2:0x3' \
		'lin src 0x00000004 0x00000001 0x00000001 8 1 9 30' \
		'sam mem 0x00000000 20 0x00000005:2:48:0x4' \
		'sam str 0x00000000 30 1 1:1:0x0')
	[ "$(sed -n '/^fil src/{=;q}' vs.tracelog)" -gt "$(sed -n '/^fun nam 0x00000002/=' vs.tracelog)" ]
	trackway info vs.tracelog 2>/dev/null | grep -q 'dialect: *vs'
	# What is read back has the same lines: of samples, of time and of bytes; from a pipe too.
	for weight in samples wall bytes; do
		for log in app.log deep.log; do
			trackway convert "$log" --dialect vs -o again.tracelog 2>/dev/null
			trackway stat --by line --weight $weight --csv "$log" 2>/dev/null | sed 's/+IL_....\|@0x[0-9a-f]*//' >whole
			trackway stat --by line --weight $weight --csv again.tracelog 2>/dev/null | diff - whole
		done
	done
	cat deep.log | trackway convert - --from tracelog --to tracelog --dialect vs -o piped.tracelog 2>/dev/null
	cmp piped.tracelog vs.tracelog
	trackway convert vs.tracelog --dialect vs -o same.tracelog
	cmp same.tracelog vs.tracelog
}

@test "convert: to vs, each session has its own lines; a part has those that it needs; without PDBs ips go" {
	prepare
	vs_log >deep.log
	sed 's/^prf stm 2018-06-25 07:24:28/prf stm 2018-06-25 07:24:29/' deep.log | cat deep.log - >two.log
	trackway convert two.log --dialect vs -o two.tracelog 2>/dev/null
	[ "$(grep -c '^fil src' two.tracelog)" = 4 ]
	[ "$(grep '^lin src' two.tracelog | cut -d ' ' -f 3 | sort -u | wc -l)" = 8 ]
	lines_of two.log | grep 'cs:' | diff - <(lines_of two.tracelog | grep 'cs:')
	trackway convert deep.log --dialect vs --from-time 15ms -o part.tracelog 2>/dev/null
	[ "$(grep -c '^lin src' part.tracelog)" = 2 ] || fail "$(cat part.tracelog)"
	lines_of part.tracelog | grep -q '^1 /src/app/Main.cs:11$'
	rm app.pdb
	trackway convert deep.log --dialect vs -o bare.tracelog 2>/dev/null
	fails grep -q '^lin src\|0xC000' <(grep -v '^fun' bare.tracelog)
	trackway convert deep.log --dialect vs --pdb nosuch -o bare.tracelog 2>told && fail "a folder that is not there"
	grep -q 'nosuch: No such file' told || fail "$(cat told)"
}

@test "lines: damage inside the lines of a single method is told once; other methods have theirs" {
	prepare
	"$PYTHON" - <<'END'
data = bytearray(open("app.pdb", "rb").read())
at = data.index(b"\xc0\x00\x4e\x20")  # line 20000, the first of M2; no line is as large as what it becomes
data[at:at + 4] = b"\xdf\xff\xff\xff"
open("app.pdb", "wb").write(data)
END
	lines_of app.log | sort | diff - <(printf '%s\n' '1 /src/app/Main.cs:300' '1 /src/app/Main.cs:8' '1 App::M2+IL_0000' \
		'1 App::M2+IL_0006' '1 App::M2+IL_0007' '1 App::M3+IL_0000' '2 /src/app/Main.cs:10' '2 /src/app/Main.cs:11' | sort)
	[ "$(grep -c 'tracelog.pdb-damaged' notes)" = 1 ] || fail "$(cat notes)"
	grep -q 'app.dll: the lines of method 0x06000002 in its PDB are damaged' notes
	trackway convert app.log --dialect vs -o vs.tracelog 2>notes
	[ "$(grep -c 'the lines of method 0x06000002 in its PDB are damaged' notes)" = 1 ] || fail "$(cat notes)"
}

@test "lines: of a method with a million of them, instructions are looked for so far, and no further" {
	"$PYTHON" - <<-'END'
		import os, sys
		sys.path.insert(0, os.environ["TRACKWAY_SOURCE"] + "/tests/truth")
		import portable_pdb
		points_of, instructions = portable_pdb.points_of, 2000
		portable_pdb.METHODS = [(1, [(0, 10, 5, 10, 6, 1)])]
		portable_pdb.points_of = lambda *told: points_of(*told) + bytes((1, 0, 0)) * 1000000 # hidden ones
		open("app.pdb", "wb").write(portable_pdb.pdb())
		with open("app.log", "w") as log:
		    log.write('prf stm 2018-06-25 07:24:28.049 +09:00\nmod ldf 0x1 0x2 0x0 0x00000000 "app.dll"\n')
		    log.write(f"fun inf 0x00000002 0x3 0x0 0x1 0x06000001 0x1000:0x{instructions:x}")
		    log.write("".join(f" 0x{999999 - i:x}:0x{i:x}:0x{i + 1:x}" for i in range(instructions)) + "\n")
		    for i in range(instructions):
		        log.write(f"sam str 0x00000000 {i + 1} 1 0:{i and 1} 0x2:0x{0x1000 + i:x}\n")
	END
	lines_of --pdb . app.log >got
	# Of 3 million bytes each: 90 are 256 MiB.
	[ "$(head -n 1 got)" = "90 /src/app/Main.cs:10" ] || fail "$(head -n 3 got) $(cat notes)"
	[ "$(grep -c "after 256 MiB of lines, those of further instructions are not looked for.*tracelog.pdb-damaged" notes)" = 1 ]
}
