# forms.bats - in which form a listing is written: by an option, or by the name of the output.
# SPDX-License-Identifier: Apache-2.0

load "$TRACKWAY_SOURCE/tests/cli/helpers.bash"

trace() {
	cat >t.json <<-'END'
		[{"ph":"X","pid":1,"tid":1,"name":"a|b","ts":0,"dur":100},
		 {"ph":"X","pid":1,"tid":1,"name":"with, comma \"and\" quotes","ts":10,"dur":5},
		 {"ph":"C","pid":1,"tid":1,"name":"n","ts":20,"args":{"v":1}},
		 {"ph":"C","pid":1,"tid":1,"name":"n","ts":30,"args":{"v":3}}]
	END
}

# Commands whose rows are in JSON, with an input that has some.
listings() {
	trace
	cat <<-END
		stat t.json
		stat --by thread t.json
		stacks t.json
		graph t.json
		flame t.json
		info t.json
		dump t.json
		check t.json
		check --rules
		diff t.json t.json
		diff --of counters t.json t.json
		jit $DATA/tracelog/small-d2-64.log
		alloc $DATA/tracelog/small-d2-64.log
		blobs $DATA/fxt/oneshot_all.fxt
		log $DATA/fxt/oneshot_all.fxt
		sched $DATA/fxt/oneshot_all.fxt
	END
}

# The columns and values by Python's own readers of JSON and CSV.
@test "forms: CSV has the rows of JSON, by the names of JSON" {
	listings | while read -r command; do
		trackway ${command%% *} --json ${command#* } >rows 2>err || [ $? -eq 1 ] || fail "$command: $(cat err)"
		trackway ${command%% *} --csv ${command#* } >table 2>err || [ $? -eq 1 ] || fail "$command: $(cat err)"
		trackway ${command%% *} -o named.csv ${command#* } 2>err || [ $? -eq 1 ] || fail "$command: $(cat err)"
		cmp table named.csv
		"$PYTHON" - rows table <<-'END' || fail "$command"
			import csv, json, sys
			csv.field_size_limit(1 << 24)
			def flat(value, prefix=""):
			    for key, inner in value.items():
			        if isinstance(inner, dict):
			            yield from flat(inner, prefix + key + ".")
			        else:
			            yield prefix + key, inner
			def same(cell, value):
			    if value is None:
			        return cell == ""
			    if isinstance(value, bool):
			        return cell == ("true" if value else "false")
			    if isinstance(value, list):
			        plain = not any(isinstance(item, (list, dict)) for item in value)
			        return cell == ";".join(map(str, value)) if plain else json.loads(cell) == value
			    return cell == value if isinstance(value, str) else float(cell) == float(value)
			rows = [dict(flat(json.loads(line))) for line in open(sys.argv[1])]
			table = list(csv.DictReader(open(sys.argv[2], newline="")))
			names = list(dict.fromkeys(name for row in rows for name in row))
			assert len(table) == len(rows), (len(table), len(rows))
			for cells, row in zip(table, rows):
			    assert list(cells) == names, (list(cells), names)
			    for name in names:
			        assert same(cells[name], row.get(name)), (name, cells[name], row.get(name))
		END
	done
}

@test "forms: the name of the output is an option" {
	trace
	for form in json csv markdown; do
		for command in stat stacks graph flame info dump check "diff t.json"; do
			trackway $command --$form t.json >option 2>/dev/null
			for ending in $(case $form in json) echo json jsonl ndjson ;; csv) echo csv CSV csv.gz ;; *) echo md markdown ;; esac); do
				trackway $command t.json -o x.$ending 2>/dev/null
				case $ending in *.gz) gzip -dc x.$ending >x.plain ;; *) mv x.$ending x.plain ;; esac
				cmp option x.plain || fail "$command: $ending"
			done
		done
	done
	trackway sql t.json 'select name from slice' --csv | cmp - <(trackway sql t.json 'select name from slice' -o /dev/stdout --csv)
	trackway sql t.json 'select name from slice' -o q.md
	head -2 q.md | tail -1 | grep -qx '|---|'
	trackway stat --json t.json -o x.csv # an option comes before a name
	head -c 1 x.csv | grep -q '{'
	trackway graph t.json -o g.dot && head -1 g.dot | grep -q digraph
}

@test "forms: what a command cannot write it refuses, and writes nothing" {
	trace
	refused() {
		run trackway "$@"
		[ "$status" -eq 2 ] || fail "$*: $output"
		[ -z "$(find . -name 'x.*')" ] || fail "$*: a file"
	}
	for command in stat stacks info dump check jit alloc log blobs sched counters cpu gc graph flame insns mem sql replay "diff t.json"; do
		for ending in png pdf xlsx png.gz fxt pftrace; do
			refused $command t.json -o x.$ending
		done
	done
	for command in stat stacks info dump check jit alloc log blobs graph insns sql; do
		for ending in svg html; do
			refused $command t.json -o x.$ending
		done
	done
	for command in stat flame graph counters; do
		refused $command t.json -o x.db
	done
	refused graph t.json -o x.svg
	[[ "$output" == *"graph writes no .svg; names tell its forms: .json, .csv, .md, .dot"* ]]
	refused stat --json --csv t.json
	refused stat --csv --markdown t.json
}

@test "forms: tables of Markdown have the cells of the text" {
	trace
	trackway stat --markdown t.json >table
	cat >expected <<-'END'
		| CALLS | TOTAL | SELF | SELF % | MIN | P50 | P90 | P99 | MAX | FUNCTION |
		| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
		| 1 | 100.0 us | 95.00 us | 95.0 % | 100.0 us | 100.0 us | 100.0 us | 100.0 us | 100.0 us | a\|b |
		| 1 | 5.000 us | 5.000 us | 5.0 % | 5.000 us | 5.000 us | 5.000 us | 5.000 us | 5.000 us | with, comma "and" quotes |

	END
	diff expected table
	trackway counters --markdown t.json | grep -q '^| .* | n | .*v |$\|^| .* n .* |$'
	trackway info --markdown t.json | grep -qx -- '- format: chrome, version 1'
	trackway stacks --markdown t.json | sed -n 2p | grep -q '^| --- | --- '
}

@test "forms: a trace keeps its format, whatever its name promises" {
	trace
	for command in cut repair; do
		for ending in png svg html md csv dot db; do
			run trackway $command t.json -o x.$ending
			[ "$status" -eq 2 ] && [[ "$output" == *"x.$ending: $command writes a trace in its own format, no .$ending"* ]] || fail "$output"
			[ ! -e x.$ending ]
		done
	done
	trackway cut --thread 1 t.json -o ok.json
}

@test "forms: a flame graph leaves out what is narrower than --min-width, and says so" {
	trace
	trackway flame --min-width 10 t.json -o x.svg
	grep -q 'left out: 1 frame narrower than 10 %' x.svg
	trackway flame --min-width 0 t.json -o x.svg
	fails grep -q 'left out' x.svg
	for wrong in x -1 101 5px; do
		run trackway flame --min-width "$wrong" t.json -o x.svg
		[ "$status" -eq 2 ] || fail "$wrong"
	done
	run trackway flame --min-width 1 --json t.json
	[ "$status" -eq 2 ]
}

# Tables and help on terminals of several widths; names are cut with an ellipsis.
@test "forms: tables and help are as wide as the terminal" {
	trace
	"$PYTHON" - <<-'END'
		import fcntl, os, pty, struct, subprocess, termios, unicodedata
		name = "a_function_with_a_name_that_is_longer_than_most_terminals_have_room_for_" * 2
		with open("long.json", "w") as file:
		    file.write('[{"ph":"X","pid":1,"tid":1,"name":"%s","ts":0,"dur":100}]' % name)
		def lines(width, *command):
		    main, side = pty.openpty()
		    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
		    child = subprocess.Popen(["trackway", *command], stdout=side, stderr=subprocess.DEVNULL)
		    os.close(side)
		    text = b""
		    while True:
		        try:
		            part = os.read(main, 4096)
		        except OSError:
		            break
		        if not part:
		            break
		        text += part
		    assert child.wait() == 0, command
		    return text.decode().replace("\r", "").split("\n")
		assert max(map(len, lines(40, "stat", "long.json"))) <= 40
		for command in ("dump", "record", "sql", "diff"):
		    assert max(map(len, lines(40, command, "--help"))) <= 40, command
		assert max(map(len, lines(40, "--help"))) <= 40
		for width in (60, 80, 100, 118):
		    shown = lines(width, "stat", "long.json")
		    assert max(map(len, shown)) <= width, (width, shown)
		    assert shown[1].endswith("\u2026"), shown
		    assert any("no room for" in line for line in shown) == (width < 110), (width, shown)
		    shown = lines(width, "sql", "long.json", "select name, ts, dur, name as again from slice")
		    assert max(map(len, shown)) <= width and shown[1].count("\u2026") == 2, (width, shown)
		    shown = lines(width, "sql", "long.json", "select * from slice")
		    assert max(map(len, shown)) <= width and "no room for" in shown[2], (width, shown)
		    assert any(line.endswith(")") for line in shown), shown
		    shown = lines(width, "sql", "long.json", "select ts, dur from slice")
		    assert len(shown) == 3 and shown[1].split() == ["0", "100000"], shown
		    shown = lines(width, "stacks", "long.json")
		    assert max(map(len, shown)) == width and shown[1].endswith("\u2026"), (width, shown)
		    shown = lines(width, "dump", "long.json")
		    assert len(shown) == 2 and len(shown[0]) == width and shown[0].endswith("\u2026"), (width, shown)
		    help_lines = lines(width, "stat", "--help")
		    prose = [line for line in help_lines if not line.startswith("  ")]
		    assert max(map(len, prose)) <= width, (width, max(prose, key=len))
		    assert width < 80 or max(map(len, prose)) > width - 12, width
	END
}

@test "info: an xtrace has instructions, no nanoseconds" {
	"$PYTHON" "$TRACKWAY_SOURCE/tests/truth/xtrace.py" --turns 10 trace >sums.json
	trackway info --json trace >row
	"$PYTHON" - row <<-'END'
		import json, sys
		info = json.load(open(sys.argv[1]))
		instructions = info["kinds"]["inst"] + info["kinds"]["pcinst"]
		assert not any(key.endswith("_ns") for key in info), info
		assert (info["start_instructions"], info["end_instructions"]) == (0, instructions), info
		assert 0 < info["thread_list"][0]["end_instructions"] <= instructions, info
	END
	trackway info trace >text
	grep -q '^span: .* instructions$' text
	fails grep -qw 'ns' text
}

@test "record: a directory that holds a trace is refused without --force" {
	printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\267\0' >program
	head -c 44 /dev/zero >>program && chmod +x program
	printf '#!/bin/sh\necho "qemu-aarch64 version 7.2.0"\n' >qemu && chmod +x qemu
	mkdir trace && touch trace/xtrace.1.0.hint1.xinsndata.bin trace/notes.txt
	run trackway record --qemu "$PWD/qemu" --plugin "$PWD/program" -o trace -- ./program
	[ "$status" -eq 2 ]
	[[ "$output" == *"trace: holds a trace: choose another directory, or --force, which removes it"* ]] || fail "$output"
	[ -e trace/xtrace.1.0.hint1.xinsndata.bin ]
	run trackway record --force --qemu "$PWD/qemu" --plugin "$PWD/program" -o trace -- ./program
	[ ! -e trace/xtrace.1.0.hint1.xinsndata.bin ] || fail "$output"
	[ -e trace/notes.txt ]
}

@test "cut and repair: a name of another format than the trace has is refused" {
	trace
	cp "$DATA/fxt/oneshot_all.fxt" a.fxt
	for command in cut repair; do
		for name in out.json out.json.gz out.pftrace out.folded out.speedscope.json; do
			run trackway $command --to-time 10s a.fxt -o $name
			[ "$status" -eq 2 ] || fail "$command $name"
			[[ "$output" == *"the trace is fxt and is written as such, not as "* ]] || fail "$command $name: $output"
			[ ! -e $name ]
		done
		trackway $command --to-time 10s a.fxt -o out.fxt 2>/dev/null
		trackway $command --to-time 10s "$DATA/xray/v5.xray" -o out.log 2>/dev/null
	done
	trackway cut --to-time 10s t.json -o out.json
	run trackway cut --to-time 10s t.json -o out.fxt
	[ "$status" -eq 2 ]
}

@test "diff: options behind -- are told where they belong" {
	trace
	run trackway diff t.json t.json -- t.json t.json -o d.svg
	[ "$status" -eq 2 ]
	[[ "$output" == *"-o: options stand in front of --, between the runs"* ]] || fail "$output"
}

@test "check: what complete slices are told of has a line and a column" {
	cp "$DATA/chrome/p432.json" p.json
	trackway check p.json >told
	grep -Eq "^p.json:[0-9]+:[0-9]+: note: A complete slice ends" told || fail "$(cat told)"
	trackway check --json p.json | grep slices-overlap >told
	"$PYTHON" - <<-'END'
		import json
		finding, text = json.loads(open("told").readline()), open("p.json", "rb").read()
		before = text[:finding["record"]]
		assert finding["line"] == before.count(b"\n") + 1, finding
		assert finding["column"] == finding["record"] - (before.rfind(b"\n") + 1) + 1, finding
	END
}

@test "functions that have numbers only: how to get names is told wherever they are shown" {
	cp "$DATA/xray/v5.xray" v.xray
	for command in 'stat v.xray' 'dump v.xray' 'convert v.xray -o v.json' 'merge v.xray v.xray -o v.fxt' 'graph v.xray'; do
		trackway $command 2>&1 >out | grep -qx 'trackway: functions have numbers only: --binary PROGRAM gives them names' || fail "$command"
	done
	[ "$(trackway sql v.xray 'select name from slice' 2>&1 >out | grep -c 'gives them names')" = 1 ]
	trackway convert v.xray -o w.fxt --to xray-fdr 2>err
	fails grep -q 'gives them names' err
	trackway dump "$DATA/fxt/oneshot_all.fxt" 2>err >out
	[ ! -s err ]
	# A log that tells of its programs has the names.
	main=$(nm "$TRACKWAY" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
	"$PYTHON" "$TRACKWAY_SOURCE/tests/cli/hostile.py" objects log "$TRACKWAY" "$main"
	trackway dump log 2>err >out
	grep -q ' function=main ' out
	fails grep -q 'gives them names' err
	# So has standard input that can be read twice; a pipe cannot.
	trackway stat log >want 2>err
	grep -q ' main$' want
	trackway stat - <log 2>err | cmp - want
	cat log | trackway stat - 2>&1 >out | grep -qx 'trackway: functions have numbers only: --binary PROGRAM gives them names'
	cat log | trackway graph - >out 2>err
	fails grep -q 'gives them names' err
}
