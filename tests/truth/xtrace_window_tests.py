#!/usr/bin/python3
"""xtrace_window_tests - parts of long programs, as `trackway record` cuts them, against the whole. Prints TAP.

Truth is the whole trace of the same program, whose every step xtrace_record_tests knows the cause of, and arithmetic by hand
on the programs' sources.
"""
# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import re
import shutil
import subprocess
import sys

import xtrace_tokens
from aarch64 import COMPILER, expect, main
from slice_tests import compare
from xtrace_record_tests import Bench, check_replay, instructions, only

PHASES = 2 + 4 * (30009 + 2) + 3  # instructions of phases.S, by its source
LONGEST = 16  # no block of phases.S has more


def windows(directory):
    """The list beside a trace: a dict for each window."""
    path, = directory.glob("xtrace.*.windows")
    heading, *lines = path.read_text().splitlines()
    names = heading.lstrip("#").split("\t")
    return [dict(zip(names, line.split("\t"))) for line in lines]


def number(window, name):
    return int(window[name])


def parts(directory):
    """(window, its instructions, its snapshot) for each window of a trace of one thread; those of the warm-up are apart."""
    data, snapshots = only(directory)
    found, rows = instructions(data), windows(directory)
    for row in rows:
        one = snapshots[number(row, "snapshot")]
        expect(one["count"] - snapshots[number(row, "warm_up_snapshot")]["count"] == number(row, "warm_up"), "warm-up", row)
        yield row, found[one["count"]:one["count"] + number(row, "length")], one


def plain(steps):
    """Without what stands behind the last: ALLGPR of a gap, a target where a window ends."""
    return [(pc, opcode, [one for one in tokens if one[0] not in ("allgpr", "target-b")]) for pc, opcode, tokens in steps]


def check_parts(directory, whole, asked):
    """Each window is what the whole has there, and begins at the next block. asked: (from, length) of each."""
    rows = list(parts(directory))
    expect(len(rows) == len(asked), len(rows), "windows, not", len(asked))
    for (row, steps, _), (begin, length) in zip(rows, asked):
        at = number(row, "from")
        expect(begin <= at < begin + LONGEST, "begins at", at, "not", begin)
        wanted = whole[at:at + length]
        expect(len(steps) == length or at + length > len(whole), len(steps), "instructions, not", length)
        expect(plain(steps) == plain(wanted), "not what the whole has from", at)
    return rows


def whole_of(bench, *words, options=()):
    return instructions(only(bench.record(words, *options)[0])[0])


def test_skip(bench):
    "--skip, --length: so many instructions from there, no more, and they are executed again"
    program = bench.program("phases")
    whole = whole_of(bench, program)
    expect(len(whole) == PHASES, len(whole), "instructions")
    for skip, length in ((0, 700), (20000, 5000), (PHASES - 100, 1000)):
        directory, _ = bench.record([program], *(["--skip", str(skip)] if skip else []), "--length", str(length))
        check_parts(directory, whole, [(skip, length)])
        count = len(instructions(only(directory)[0]))
        expect(count < length + LONGEST, count, "instructions recorded of", length)
        check_replay(bench, directory, count)
    bench.record([program], "--skip", "1000000", "--length", "10", status=2, says="1 window not recorded: the program ended before")


def test_several(bench):
    "--window, --every, lists: each window is what the whole has there"
    program, lists = bench.program("phases"), bench.directory / "list"
    whole = whole_of(bench, program)
    lists.write_text("# of SimPoint's, and others\n60000 3000\n\n 100 50 \n61000 100\n")
    cases = {("--window", "60000:3000", "--window", "100:50"): [(100, 50), (60000, 3000)],
             ("--every", "30000", "--length", "2000"): [(n * 30000, 2000) for n in range(5)],
             ("--every", "30000", "--length", "2000", "--skip", "10000"): [(10000 + n * 30000, 2000) for n in range(4)],
             ("--windows", str(lists)): [(100, 50), (60000, 3000), (61000, 100)]}
    for options, wanted in cases.items():
        directory, _ = bench.record([program], *options)
        check_parts(directory, whole, wanted)
        check_replay(bench, directory, len(instructions(only(directory)[0])))


def test_warm_up(bench):
    "--warm-up: what is before a window is recorded and told apart, once where two have it"
    program = bench.program("phases")
    whole = whole_of(bench, program)
    asked = [(200, 100), (20000, 1000), (21200, 500)]
    options = [word for begin, length in asked for word in ("--window", f"{begin}:{length}")]
    directory, _ = bench.record([program], *options, "--warm-up", "500")
    rows = check_parts(directory, whole, asked)
    warm = [number(row, "warm_up") for row, _, _ in rows]
    expect(200 <= warm[0] < 200 + LONGEST and all(abs(one - 500) < LONGEST for one in warm[1:]), "warm-ups of", warm)
    found, (_, snapshots) = instructions(only(directory)[0]), only(directory)
    for row, _, one in rows:
        begin = snapshots[number(row, "warm_up_snapshot")]["count"]
        at = number(row, "from") - number(row, "warm_up")
        expect(plain(found[begin:one["count"]]) == plain(whole[at:number(row, "from")]), "warm-up of", row)
    # 100 to 300 and 200 before it, then 500 before 20,000 to 21,700 without a gap
    expect(abs(len(found) - (300 + 500 + 1700)) < 4 * LONGEST, len(found), "instructions")


def findings(bench, directory):
    done = subprocess.run([bench.tool, "check", "--all", "--json", directory], capture_output=True, text=True, check=True)
    return [(row["rule"], row["text"].partition("It is")[2]) for row in rows_of(done.stdout) if "rule" in row]


def global_snapshot(directory):
    """The second number of the header."""
    path, = directory.glob("*.xsnapshot.bin")
    return int.from_bytes(path.read_bytes()[4:8], "little")


def test_between(bench):
    "what is left out between windows, and between marks, is one note; the header names the first window's snapshot"
    program = bench.program("phases")
    options = [word for begin in (5000, 15000, 25000) for word in ("--window", f"{begin}:1000")]  # a loop each
    directory, _ = bench.record([program], *options)
    expect(findings(bench, directory) == [("xtrace.left-out", " the first of 2.")], findings(bench, directory))
    expect(global_snapshot(directory) == 0, global_snapshot(directory))
    options = ("--window", "25000:1000", "--window", "35000:1000", "--warm-up", "500")
    directory, _ = bench.record([program], *options)
    expect(findings(bench, directory) == [("xtrace.left-out", "")], findings(bench, directory))
    first = min(number(row, "snapshot") for row in windows(directory))
    expect(global_snapshot(directory) == first == 1, global_snapshot(directory), first)


def test_simpoints(bench):
    "--windows of SimPoint's files, and of lists: phases and weights come along"
    program, prefix = bench.program("phases"), bench.directory / "point"
    whole = whole_of(bench, program)
    prefix.with_suffix(".simpoints").write_text("5 0\n1 2\n11 1\n")
    prefix.with_suffix(".weights").write_text("0.25 0\n0.125 2\n0.625 1\n")
    directory, _ = bench.record([program], "--windows", f"{prefix}.simpoints", "--length", "10000")
    rows = check_parts(directory, whole, [(10000, 10000), (50000, 10000), (110000, 10000)])
    expect([(row["phase"], float(row["weight"])) for row, _, _ in rows] == [("2", .125), ("0", .25), ("1", .625)], rows)
    prefix.with_suffix(".windows").write_text("50000 1000 7 0.5\n70000 500 3 0.5 0\n90000 500 4 0.25 1\n")
    directory, _ = bench.record([program], "--windows", f"{prefix}.windows", says="1 window not recorded")
    rows = check_parts(directory, whole, [(50000, 1000), (70000, 500)])
    expect([(row["phase"], float(row["weight"])) for row, _, _ in rows] == [("7", .5), ("3", .5)], rows)


def test_of_threads(bench):
    "threads.c: windows of each thread, by its own instructions; of one of them; a mark in the list for each"
    program = bench.program("threads")
    directory, _ = bench.record([program, "2000"], "--every", "20000", "--length", "1500")
    rows, streams = windows(directory), xtrace_tokens.files(directory)
    expect(len({row["thread"] for row in rows}) == 5 == len(streams), len(streams), "streams of 5 threads")
    count = 0
    for data, snapshots in streams.values():
        found, marks = instructions(data.read_bytes()), list(xtrace_tokens.snapshots(snapshots.read_bytes()))
        own = [row for row in rows if f".{row['thread']}.hint9." in data.name]
        expect(len(marks) == len(own) >= 1, len(marks), "snapshots of", len(own), "windows")
        for row, one, after in zip(own, marks, [mark["count"] for mark in marks[1:]] + [len(found)]):
            expect(number(row, "from") - number(row, "window") * 20000 < 512, row)
            expect(after - one["count"] >= 1500 or after == len(found), row, after - one["count"], "instructions")
        count += len(found)
    check_replay(bench, directory, count)
    (bench.directory / "third").write_text("5000 1000 0 1 2\n")
    directory, _ = bench.record([program, "2000"], "--windows", str(bench.directory / "third"))
    expect(len(windows(directory)) == 1 == len(xtrace_tokens.files(directory)), "windows of one thread")


def test_of_short_threads(bench):
    "threads.c, made and ended again and again while windows begin: QEMU 7.2 writes to a thread's memory that it has freed"
    directory, _ = bench.record([bench.program("threads"), "100", "60"], "--every", "3000", "--length", "200",
                                environment={"MALLOC_MMAP_THRESHOLD_": "32768"})  # which is then no longer there
    told = {row["thread"] for row in windows(directory)}
    expect(len(told) > 200, len(told), "of 241 threads")


def test_of_children(bench):
    "forks.c: a child process begins to count anew"
    directory, _ = bench.record([bench.program("forks")], "--length", "300")
    rows, streams = windows(directory), xtrace_tokens.files(directory)
    expect(len(rows) == len(streams) >= 2, len(streams), "streams,", len(rows), "windows")
    count = sum(len(instructions(data.read_bytes())) for data, _ in streams.values())
    check_replay(bench, directory, count)


def phases(bench, *words, status=0):
    done = subprocess.run([bench.tool, "phases", *words], capture_output=True, text=True, check=False)
    expect(done.returncode == status, words, done.returncode, done.stderr)
    return done


def vectors_of(bench, words, interval):
    """The lines of a program of one thread, recorded alone."""
    directory, _ = bench.record(words, "--bbv", "--interval", str(interval))
    path, = directory.glob("xtrace.*.thread0.bb")
    return directory, path.read_text()


def test_vectors(bench):
    "--bbv: the lines of phases --save over the whole trace, with the same phases"
    for name, interval in (("phases", 2000), ("calls", 700), ("sort", 1000), ("accesses", 7)):
        program, prefix = bench.program(name), bench.directory / f"save-{name}"
        directory, text = vectors_of(bench, [program], interval)
        whole, _ = bench.record([program])
        tables = phases(bench, "--interval", str(interval), "--save", prefix, "--json", whole).stdout
        expect(text == prefix.with_suffix(".bb").read_text(), name, text[:300])
        again = phases(bench, "--save", bench.directory / "again", "--json", directory).stdout
        plain_of = re.compile(r'"thread":\d+')
        expect(plain_of.sub("", again) == plain_of.sub("", tables), name, again[:500])
        for suffix in (".simpoints", ".weights", ".windows"):
            expect((bench.directory / f"again{suffix}").read_text() == prefix.with_suffix(suffix).read_text(), name, suffix)
    done = subprocess.run([bench.tool, "slice", "--windows", directory, "-o", "out"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "has basic block vectors (record --bbv) and no instructions" in done.stderr, done.stderr)
    # by the source of phases.S: 2 and 3, then 2,500 times 4, then 3 and 2,000 times 5
    first = text_of_vectors(vectors_of(bench, [bench.program("phases")], 10000)[1])
    expect(first[0] == [9, 9991] and first[1][:2] == [5, 3 + 5] and sum(first[1]) == 10000, first[:2])


def text_of_vectors(text):
    return [[int(count) for _, count in re.findall(r":(\d+):(\d+) ", line)] for line in text.splitlines()]


def test_vectors_of_threads(bench):
    "--bbv of threads.c and forks.c: a file for each thread and process, with all its instructions"
    program = bench.program("threads")
    directory, _ = bench.record([program, "2000"], "--bbv", "--interval", "3000")
    paths = sorted(directory.glob("xtrace.*.bb"))
    expect(len(paths) == 5 and not list(directory.glob("*.bin")), paths)
    for path in paths:
        sums = [sum(one) for one in text_of_vectors(path.read_text())]
        expect(sums and all(one == 3000 for one in sums[:-1]) and 0 < sums[-1] <= 3000, path, sums)
    rows = [json.loads(line) for line in phases(bench, "--json", "--all", directory).stdout.splitlines()]
    threads = list(dict.fromkeys(row["thread"] for row in rows if row["table"] == "interval"))
    expect(len(threads) == 5, threads)
    one = [json.loads(line) for line in phases(bench, "--json", "--all", "--thread", str(threads[2]), directory).stdout.splitlines()]
    expect({row["thread"] for row in one if row["table"] == "interval"} == {threads[2]}, one)
    directory, _ = bench.record([bench.program("forks")], "--bbv", "--interval", "100")
    expect(len(list(directory.glob("xtrace.*.bb"))) == 2, "a file of each process")


def test_vectors_of_execs(bench):
    "--bbv of execs.c: what is executed in a program's place is named; not what is not there"
    words = [bench.program("execs"), "/bin/true", "/nowhere/program", "/bin/false"]
    _, command = bench.command(words, "--bbv")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expect(done.stdout.split() == ["0", "3", "1"], done.stdout, done.stderr)
    named = re.findall(r"^trackway: (\S+) was executed in the place", done.stderr, re.M)
    expect(named == ["/bin/true", "/bin/false"] and "nowhere" not in done.stderr, done.stderr)


def test_vectors_of_others(bench):
    "phases reads .bb files of others, and says where one is no such file"
    path = bench.directory / "other.bb"
    path.write_text("# of another tool\nT:1:60 :2:40 \nT:7:100\nT:1:59   :2:41\nT:7:50\n# the end\n")
    rows = [json.loads(line) for line in phases(bench, "--json", path).stdout.splitlines()]
    found = [(row["start"], row["instructions"], row["blocks"], row["phase"]) for row in rows if row["table"] == "interval"]
    expect(found == [(0, 100, 2, 0), (100, 100, 1, 1), (200, 100, 2, 0), (300, 50, 1, 1)], found)
    expect([row["weight"] for row in rows if row["table"] == "phase"] == [round(200 / 350, 6), round(150 / 350, 6)], rows)
    phases(bench, "--interval", "100", path)
    expect("of another --interval" in phases(bench, "--interval", "90", path, status=2).stderr, "another interval")
    for text, says in (("T:1\n", ":1: not :BLOCK:INSTRUCTIONS"), ("T:1:5\nT:1:x\n", ":2: not :BLOCK"), ("T\n", ":1: not T:"),
                       ("hello\n", ":1: no line T:BLOCK:INSTRUCTIONS"), ("", ":0: no line T:"),
                       ("T" + 17 * (1 << 20) * "x", ":1: a line is longer than 16 MiB"),
                       ("T:1:0\n", ":1: no interval has 0"), ("T:1:4294967296\n", ":1: no interval has"), ("T:1:5 x\n", ":1: not T:"),
                       ("T:1:5 \0:2:3\n", ":1: a line has a byte that is 0")):
        path.write_text(text)
        done = phases(bench, path, status=2)
        expect(says in done.stderr, text[:80], done.stderr)
    path.write_text("T:1:5\n")
    for text, says in (("#interval 4 thread 3\n", "other.bb:1: more instructions"), ("#interval 0 thread 3\n", "of one length"),
                       ("1 x\n", "other.blocks:1: not NUMBER 0xPC"), ("99999999999 0x5\n", "not NUMBER")):
        path.with_suffix(".blocks").write_text(text)
        done = phases(bench, path, status=2)
        expect(says in done.stderr, text, done.stderr)


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def slices(bench, trace, *options):
    """The slices of a trace's windows: (what is told, its row in windows.tsv) for each."""
    out = bench.directory / f"{trace.name}.slices"
    done = subprocess.run([bench.tool, "slice", "--windows", "--json", *options, trace, "-o", out], capture_output=True, text=True,
                          check=True)
    heading, *lines = (out / "windows.tsv").read_text().splitlines()
    table = [dict(zip(heading.lstrip("#").split("\t"), line.split("\t"))) for line in lines]
    told = rows_of(done.stdout)
    expect([pathlib.Path(one["program"]).name for one in told] == [row["program"] for row in table], told, table)
    expect(sorted(path.name for path in out.glob("*.elf")) == sorted(row["program"] for row in table), table)
    return list(zip(told, table))


def loads_in(steps):
    return sum(token[0] == "load" for _, _, tokens in steps for token in tokens) / len(steps)


def test_chain(bench):
    "record --bbv, phases, record --windows, slice --windows: what runs is what the whole trace has there, with its weight"
    program, prefix = bench.program("phases"), bench.directory / "chain"
    whole = whole_of(bench, program)
    directory, _ = vectors_of(bench, [program], 2000)
    chosen = [row for row in rows_of(phases(bench, "--json", "--save", prefix, directory).stdout) if row["table"] == "phase"]
    expect(len(chosen) == 3, chosen)
    trace, _ = bench.record([program], "--windows", f"{prefix}.windows", "--warm-up", "300")
    found = slices(bench, trace)
    expect([(one["phase"], one["weight"]) for one, _ in found] == [(row["phase"], row["weight"]) for row in chosen], found, chosen)
    estimate = 0
    for (told, row), want in zip(found, chosen):
        begin = told["from"]
        expect(want["start"] <= begin < want["start"] + LONGEST and told["instructions"] == want["instructions"], told, want)
        expect(int(row["warm_up"]) == told["before"] and abs(told["before"] - 300) < LONGEST, row, told)
        steps = whole[begin:begin + told["instructions"]]
        compare(bench, pathlib.Path(told["program"]), accesses_of(steps), {pc for pc, _, _ in whole})
        estimate += float(row["weight"]) * loads_in(steps)
    # one instruction of eight loads in a third of the program
    expect(abs(estimate - loads_in(whole)) < 0.001, estimate, loads_in(whole))


def accesses_of(steps):
    """As slice_tests has them."""
    return [(pc, opcode, [token for token in tokens if token[0] in ("load", "store")]) for pc, opcode, tokens in steps]


def test_slices(bench):
    "slice --windows: the last window is as long as the program; of one thread; refused without a list"
    program = bench.program("phases")
    whole = whole_of(bench, program)
    trace, _ = bench.record([program], "--window", "5000:100", "--window", f"{PHASES - 50}:1000")
    (_, first), (told, last) = slices(bench, trace)
    expect((first["phase"], first["weight"], first["warm_up"], "phase" in told) == ("-", "-", "0", False), first, told)
    expect(told["instructions"] == PHASES - told["from"] and told["from"] < PHASES, told)
    compare(bench, pathlib.Path(told["program"]), accesses_of(whole[told["from"]:]), {pc for pc, _, _ in whole})
    threads, _ = bench.record([bench.program("threads"), "2000"], "--window", "3000:500")
    expect(len(slices(bench, threads)) == 5 or len(windows(threads)) < 5, "a slice of each thread")
    chosen = windows(threads)[1]["thread"]
    shutil.rmtree(bench.directory / f"{threads.name}.slices")
    found = slices(bench, threads, "--thread", chosen)
    expect([row["thread"] for _, row in found] == [chosen], found)
    for options, says in ((["--length", "5"], "--windows are where"), (["--sync"], "--windows are where"), ([], "where to? -o DIR")):
        done = subprocess.run([bench.tool, "slice", "--windows", *options, trace, *(["-o", "out"] if options else [])],
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and says in done.stderr, done.stderr)
    done = subprocess.run([bench.tool, "slice", trace, "-o", "out"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "--length N, or --windows" in done.stderr, done.stderr)
    path, = trace.glob("*.windows")
    rows = [line for line in path.read_text().splitlines(True) if not line.startswith("#")]
    path.write_text(rows[0] + rows[0] + "7\t1\t5\t6\t-\t-\t0\t0\t0\n" + rows[1])
    done = subprocess.run([bench.tool, "slice", "--windows", trace, "-o", bench.directory / "some"], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 1 and done.stderr.count("\n") == 2, "what cannot be cut is left out", done)
    expect("another line of the list has it" in done.stderr and "no thread 1" in done.stderr, done.stderr)
    expect(len(list((bench.directory / "some").glob("*.elf"))) == 2, "and the others are there")
    for text, says in (("0\t1\t5\n", ":1: is no line"), ("#" * 5000, ":1: is no line"), ("", "is empty"), ("0\t1\t5\t6\t-\t-\t0\t0\t1\n", ":1: is no line"),
                       ("#\n0\t1\t5\t6\t1\t7\t0\t0\t0\n", ":2: is no line"), ("0\t1\t5\t6\t-\t-\t0\t0\t0\n", "no thread 1"), (None, "No such file")):
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        done = subprocess.run([bench.tool, "slice", "--windows", trace, "-o", bench.directory / "none"], capture_output=True,
                              text=True, check=False)
        expect(done.returncode == 2 and says in done.stderr, text, done.stderr)
        expect(not (bench.directory / "none").exists(), "a directory is left")


def test_many_marks(bench):
    "marks in a loop: each pair is recorded as if all had been, beyond the hundredth, too"
    source, program = bench.directory / "pairs.S", bench.directory / "pairs"
    source.write_text("""	.global _start
_start:	mov x19, #150
	mov x20, #0
again:	add x20, x20, #3
	hint #9
	add x20, x20, #1
	cbz x19, out
out:	eor x21, x20, x19
	hint #9
	subs x19, x19, #1
	b.ne again
	mov x0, #0
	mov x8, #94
	svc #0
""")
    subprocess.run([COMPILER, "-nostdlib", "-static", source, "-o", program], check=True)
    directory, _ = bench.record([program], "--from-hint")
    data, snapshots = only(directory)
    found = instructions(data)
    start = found[0][0]
    expect([pc - start for pc, _, _ in found] == [0, 4, 8] * 150, len(found), "instructions, not", 150 * 3)
    expect([one["x"][20] for one in snapshots] == [4 * i + 3 for i in range(150)], "X20 at the marks")
    expect(findings(bench, directory) == [("xtrace.left-out", " the first of 149.")], findings(bench, directory))
    check_replay(bench, directory, len(found))


def test_words(bench):
    "wrong use is told"
    program, lists = bench.program("phases"), bench.directory / "wrong"
    for options, says in ((["--skip", "5"], "how many instructions? --length N"),
                          (["--length", "5", "--from-hint"], "either windows or --from-hint"),
                          (["--warm-up", "5"], "--warm-up is of a window"),
                          (["--every", "5", "--length", "10"], "would overlap"),
                          (["--window", "5"], "not FROM:LENGTH"),
                          (["--bbv", "--from-hint"], "--bbv takes all"),
                          (["--bbv", "--length", "10"], "--bbv takes all"),
                          (["--interval", "10"], "--interval is of --bbv"),
                          (["--window", "5:0"], "wants a length"),
                          (["--window", "5:6", "--length", "3"], "--window has its own length"),
                          (["--windows", "list", "--skip", "3"], "only one of"),
                          (["--windows", "/nowhere/list"], "No such file"),
                          (["--windows", "/dev/zero"], "/dev/zero:1: no line of text"),
                          (["--windows", "list", "--length", "3"], "--length is for a file of SimPoint's")):
        bench.record([program], *options, status=2, says=says)
    for text, says in (("1\n", ":1: not FROM LENGTH"), ("# none\n", "no window"), ("1 2\n" + "3" * 5000, ":2: no line of text"), ("1 2\0\n", ":1: no line"), ("1 2\n3 4 x\n", ":2: not FROM LENGTH"),
                       ("1 2 3 1.5\n", ":1: not FROM LENGTH"), ("1 2 3 0.5 1 9\n", ":1: not"), ("-1 5\n", ":1: not")):
        lists.write_text(text)
        bench.record([program], "--windows", str(lists), status=2, says=says)
    point = bench.directory / "bad.simpoints"
    for text, weights, says in (("1 0 3\n", "", ":1: not INTERVAL PHASE"), ("1 0\n", "2 0\n", ":1: not WEIGHT PHASE"),
                                ("1 0\n", None, "bad.weights: No such file")):
        point.write_text(text)
        if weights is None:
            point.with_suffix(".weights").unlink()
        else:
            point.with_suffix(".weights").write_text(weights)
        bench.record([program], "--windows", str(point), status=2, says=says)


if __name__ == "__main__":
    sys.exit(main(globals(), Bench, sanitized="the plugin with sanitizers", qemu="another QEMU than that of the path"))
