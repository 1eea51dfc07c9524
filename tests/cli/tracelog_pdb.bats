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
