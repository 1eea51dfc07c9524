# sql_xtrace.bats - questions to instructions and what they access: against a decoder made from the document's words.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

TRUTH="$TRACKWAY_SOURCE/tests/truth"
EXTENSION=$(dirname "$(readlink -f "$TRACKWAY")")/libtrackway_sqlite

write_set() { # options of the writer, then a directory
	"$PYTHON" "$TRUTH/xtrace.py" "$@" >facts.json
}

one() { # what a query answers, without the names of the columns
	trackway sql --csv "$@" | tail -n +2
}

@test "sql of xtrace: every instruction and every access, and what conditions leave of them" {
	write_set --threads 3 --kernel --turns 60 set
	PYTHONPATH=$TRUTH "$PYTHON" - set <<-'END'
		import csv, pathlib, subprocess, sys
		import xtrace_tokens
		insns, accesses = [], []
		for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xinsndata.bin")):
		    data, tid, index = path.read_bytes(), int(path.name.split(".")[2]), -1
		    for at, kind, fields in xtrace_tokens.tokens(data):
		        if kind in ("inst", "pcinst"):
		            index += 1
		            pc, opcode = fields
		            signed = pc - (pc >> 63 << 64)
		            insns.append((tid, index, signed, data[at] >> 6, opcode))
		        elif kind in ("load", "store"):
		            address, value = fields
		            size = len(value)
		            number = int.from_bytes(value, "little")
		            number -= number >> 63 << 64 if size == 8 else 0
		            accesses.append((tid, index, signed, address, size, kind, number if size <= 8 else value.hex()))
		assert len(insns) > 2000 and len(accesses) > 500 and any(row[4] > 8 for row in accesses)
		assert len({row[0] for row in insns}) == 3 and {row[3] for row in insns} == {0, 1}
		def ask(query):
		    out = subprocess.run(["trackway", "sql", "--csv", sys.argv[1], query], check=True, capture_output=True, text=True).stdout
		    return list(csv.reader(out.splitlines()))[1:]
		def same(columns, table, rows, where, keep):
		    found = [tuple(row) for row in ask(f"select {columns} from {table} where {where}")]
		    expected = [tuple(map(str, row)) for row in rows if keep(row)]
		    assert sorted(found) == sorted(expected), (where, len(found), len(expected), found[:3], expected[:3])
		    return len(found)
		tids = sorted({row[0] for row in insns})
		pc, address = insns[5][2], accesses[7][3]
		I = "tid, idx, pc, level, opcode"
		for where, keep in (
		    ("1", lambda r: True),
		    (f"tid = {tids[1]}", lambda r: r[0] == tids[1]),
		    (f"utid = 2", lambda r: False),  # of cores: no thread
		    ("idx between 100 and 120", lambda r: 100 <= r[1] <= 120),
		    ("idx > 100 and idx < 120", lambda r: 100 < r[1] < 120),
		    ("idx = 77", lambda r: r[1] == 77),
		    ("idx > 100.5 and idx < 103.5", lambda r: 101 <= r[1] <= 103),
		    (f"idx < 0 or idx >= {2**62}", lambda r: False),
		    (f"pc = {pc}", lambda r: r[2] == pc),
		    (f"pc > {pc} and pc <= {pc + 64}", lambda r: pc < r[2] <= pc + 64),
		    ("pc < 0", lambda r: r[2] < 0),
		    ("level = 1", lambda r: r[3] == 1),
		    (f"tid = {tids[2]} and idx >= 50 and pc = {pc}", lambda r: r[0] == tids[2] and r[1] >= 50 and r[2] == pc),
		):
		    same(I, "xtrace_insn", insns, where, keep)
		M = "tid, idx, pc, address, size, kind, value"
		for where, keep in (
		    ("1", lambda r: True),
		    (f"address = {address}", lambda r: r[3] == address),
		    (f"address >= {address} and address < {address + 16}", lambda r: address <= r[3] < address + 16),
		    ("kind = 'store' and size > 8", lambda r: r[5] == "store" and r[4] > 8),
		    (f"pc = {accesses[3][2]}", lambda r: r[2] == accesses[3][2]),
		    (f"tid = {tids[0]} and idx <= 40", lambda r: r[0] == tids[0] and r[1] <= 40),
		):
		    assert same(M, "xtrace_mem", accesses, where, keep) > 0, where
		assert ask("select count(*), count(distinct id) from xtrace_insn") == [[str(len(insns))] * 2]
		joined = ask("select count(*), sum(i.idx = m.idx and i.pc = m.pc) from xtrace_mem m join xtrace_insn i on i.id = m.insn_id")
		assert joined == [[str(len(accesses))] * 2], joined
	END
}

@test "sql of xtrace: disassembly is that of dump, and functions are those of the slices" {
	write_set --threads 2 --turns 40 set
	one set 'select tid, idx, disassembly from xtrace_insn' >found
	trackway dump --json set | "$PYTHON" -c 'import csv, json, sys
out = csv.writer(sys.stdout, lineterminator="\n")
for line in sys.stdin:
    row = json.loads(line)
    if "opcode" in row:
        out.writerow([row["thread"], row["index"], row["text"]])' >expected
	[ "$(wc -l <found)" -gt 500 ]
	diff expected found
	one set 'select function, count(*) from xtrace_insn group by 1 order by 1' >found
	one set 'select name, sum(self_dur) from slice group by 1 having sum(self_dur) > 0 order by 1' >expected
	[ "$(wc -l <found)" -gt 1 ]
	# A slice that is open ends with the last event of its thread, which is not its last instruction.
	"$PYTHON" - expected found <<-'END'
		import csv, sys
		slices, insns = ({row[0]: int(row[1]) for row in csv.reader(open(path))} for path in sys.argv[1:])
		assert slices.keys() == insns.keys() and slices["0x400100"] == insns["0x400100"], (slices, insns)
		assert 0 <= insns["0x400000"] - slices["0x400000"] < 20, (slices, insns)
	END
	[ "$(one set "select count(*) from xtrace_mem m join slice s on s.utid = m.utid and m.idx between s.ts and s.ts + s.dur - 1
		where s.name = m.function and s.name = '0x400100' and m.tid = (select min(tid) from thread)")" -gt 40 ]
	# Rows that the table puts together by function are those that SQLite sorts.
	for what in "count(*), sum(idx), min(opcode), max(utid) from xtrace_insn" "count(*), sum(address), max(kind), sum(id) from xtrace_mem"; do
		[ "$(one set "select function, $what group by function")" = "$(one set "select function, $what group by +function")" ]
	done
}

@test "sql of xtrace: the tables that all formats share" {
	write_set --threads 3 --turns 40 set
	[ "$(one set 'select tid from thread order by tid' | tr '\n' ' ')" = \
		"$(ls set/*.xinsndata.bin | sed 's/.*\.\([0-9]*\)\.hint.*/\1/' | sort -n | tr '\n' ' ')" ]
	trackway stat --json set | "$PYTHON" -c 'import json, sys
for line in sorted(sys.stdin, key=lambda line: json.loads(line)["name"]):
    row = json.loads(line)
    print(row["name"], row["count"], row["self"], sep=",")' >expected
	one set 'select name, count(*), sum(self_dur) from slice group by name order by name' | diff expected -
	[ "$(one set 'select count(*) = count(distinct id), count(*) > 100, sum(parent_id is not null) from slice')" = \
		"$(one set 'select 1, 1, count(*) from slice a join slice b on b.id = a.parent_id and b.utid = a.utid and b.depth = a.depth - 1')" ]
	for table in async_slice instant counter flow sched stack_sample log args process counter_track callsite frame; do
		[ "$(one set "select count(*) from $table")" = 0 ] || fail "$table"
	done
	[ "$(one set 'select format, events > 0 from trace')" = xtrace,1 ]
	printf '\x05' >>"$(ls set/*.xinsndata.bin | head -n 1)"
	[ "$(one set 'select rule from finding' 2>err || true)" = xtrace.unknown-token ]
	run trackway sql set 'select count(*) from slice'
	[ "$status" -eq 1 ]
	[[ "$output" == *"xtrace.unknown-token"* ]]
}

# One thread is not read alone: when something happened is told by the others, too.
@test "sql of xtrace: threads on one clock, whatever is asked for" {
	write_set --threads 3 --turns 40 --order set
	for i in 1 2 3; do
		pushed=$(one set "select count(*), sum(ts), sum(dur), sum(id % 1000003) from slice where utid = $i")
		[ "$pushed" = "$(one set "select count(*), sum(ts), sum(dur), sum(id % 1000003) from slice where +utid = $i")" ]
		[ "${pushed%%,*}" -gt 10 ]
	done
	[ "$(one set 'select ts from slice order by ts')" = "$(one set 'select +ts from slice order by +ts')" ]
}

@test "sql of xtrace: a file of the set that changes, and an index beside it" {
	write_set --threads 2 --turns 40 set
	"$PYTHON" - <<-'END'
		import glob, subprocess, time
		last = sorted(glob.glob("set/*.xinsndata.bin"))[-1]
		for path in ("set", sorted(glob.glob("set/*.xinsndata.bin"))[0]):
		    run = subprocess.Popen(["trackway", "sql", "--csv", path, "-o", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
		                           stderr=subprocess.PIPE, text=True, bufsize=1)
		    run.stdin.write("select count(*) from slice;\n")
		    run.stdin.flush()
		    time.sleep(1)
		    with open(last, "ab") as file:
		        file.write(bytes([1, 0x1F, 0x20, 0x03, 0xD5]))  # another NOP
		    out, err = run.communicate("select count(*) from slice;\n")
		    assert run.returncode == 2 and "changed" in err, (path, run.returncode, out, err)
	END
	query='select count(*) from slice join thread using (utid)'
	expected=$(one --index set "$query")
	[ -s set.twindex ]
	[ "$(one --index set "$query" 2>err)" = "$expected" ]
	[[ "$(<err)" != *twindex* ]]
	touch "$(ls set/*.xinsndata.bin | tail -n 1)"
	[ "$(one --index set "$query" 2>err)" = "$expected" ]
	grep -q 'set.twindex: not used: ' err
}

@test "sql of xtrace: the extension in SQLite's shell and in Python" {
	! grep -q __asan_init "$EXTENSION.so" || skip "the extension has sanitizers"
	write_set --threads 2 --turns 40 set
	loads=$("$PYTHON" -c 'import json; print(json.load(open("facts.json"))["kinds"]["load"])')
	insns=$("$PYTHON" -c 'import json; print(json.load(open("facts.json"))["instructions"])')
	[ "$(sqlite3 -cmd ".load $EXTENSION" :memory: "select trackway_open('set')" "select count(*) from xtrace_insn" \
		"create virtual table m using trackway('set', 'xtrace_mem')" "select count(*) from m where kind = 'load'" | tr '\n' ' ')" = \
		"1 $insns $loads " ]
	"$PYTHON" - "$EXTENSION" "$loads" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(":memory:")
		db.enable_load_extension(True)
		db.load_extension(sys.argv[1])
		db.execute("select trackway_open('set')")
		rows = db.execute("select disassembly, address, value from xtrace_mem join xtrace_insn i on i.id = insn_id "
		                  "where address = ? and kind = 'load' order by i.tid, i.idx limit 1", [0x10000]).fetchall()
		assert rows == [("ldr x0, [x1]", 0x10000, 0)], rows
		assert db.execute("select count(*) from xtrace_mem where kind = 'load'").fetchall() == [(int(sys.argv[2]),)]
	END
}
