#!/usr/bin/python3
# mono_tests.py - the logs of programs of Mono against what they count themselves.
# SPDX-License-Identifier: Apache-2.0
"""usage: mono_tests.py --tool TRACKWAY [WORD...]

Prints TAP; skips all where mono or mcs is not installed, unless CI is set. The program is that of dotnet_tests.py, with
tests/programs/mono/main.cs, which a script starts.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import dotnet_tests
from dotnet_tests import ROOT, SAID, Fails, expect

PROGRAM = [*dotnet_tests.PROGRAM, ROOT / "tests/programs/mono/main.cs"]


class Bench(dotnet_tests.Bench):
    def __init__(self, tool, directory):
        # pylint: disable=super-init-not-called
        directory.mkdir()
        self.tool, self.directory = tool, directory
        self.library = next(pathlib.Path(tool).parent.glob("**/libmono-profiler-trackway.so"))
        self.host = directory / "host"
        program = directory / "main.exe"
        subprocess.run(["mcs", "-nologo", "-debug", "-warn:0", f"-out:{program}", *PROGRAM], check=True)
        self.host.write_text(f"#!/bin/sh\nexec mono {program}\n")
        self.host.chmod(0o755)

    def environment(self, how):
        return {**os.environ, "TRUTH": how}

    def alone(self, **variables):
        """The program with the profiler, without record."""
        return self.run([self.host], MONO_ENV_OPTIONS="--debug --profile=trackway", PROF_COLLECT_METHOD="Sampling",
                        LD_LIBRARY_PATH=str(self.library.parent), PROF_MEMORY_TRACE="1", PROF_GC_TRACE="1", **variables)


def everything(bench):
    log, done = bench.record(how="busy")
    expect(done.returncode == 0 and done.stdout == SAID, "it says what it says without", done)
    bench.check(log)
    bench.expect_figures(log)
    bench.expect_made(log)
    collections = bench.lines(log, "gch gcs ")
    expect(sum(line.endswith(" ? ttft") for line in collections) >= 3, "three were asked for", collections)
    expect(len(collections) == len(bench.lines(log, "gch gcf ")), "each ends")
    expect(bench.lines(log, "gch gen "), "the heap after them")
    expect(any(row["name"] == "Truth::Busy" for row in bench.rows("stat", log)), "it was in Busy for long")
    expect(not any(row["total"] and row["name"] == "(no stack)" for row in bench.rows("stat", log)), "who runs no managed code has no samples")
    places = {row["function"]: row for row in bench.rows("alloc", log, "--by", "function", "--class", "Marker")}
    expect({name: row["count"] for name, row in places.items()} == {"Truth::MakeMarkers": 1200}, "markers are made in one function", places)
    compiled = [row for row in bench.rows("jit", log) if row.get("name") == "Truth::MakeMarkers"]
    expect(len(compiled) == 1, "Truth::MakeMarkers was compiled", compiled)
    flame = subprocess.run([bench.tool, "flame", log, "-o", bench.directory / "flame.svg"], check=False)
    expect(flame.returncode == 0 and "Truth" in (bench.directory / "flame.svg").read_text(), "flame shows it")
    expect(len(bench.lines(log, "thr dst ")) >= 4, "four threads ended")
    expect(any(line.endswith('"main"') for line in bench.lines(log, "asm ldf ")), "the assembly")
    expect(bench.lines(log, "jit css "), "what was compiled before is found")


def bodies(bench):
    """Each place that stacks have lies in a body of its function, and maps are in order."""
    log, _ = bench.record()
    ranges, all_maps = {}, 0
    for line in bench.lines(log, "fun inf "):
        words = line.split()
        code = [item.split(":") for item in words[7:] if item.count(":") == 1]
        maps = [[int(number, 16) for number in item.split(":")] for item in words[7:] if item.count(":") == 2]
        ranges.setdefault(int(words[2], 16), []).extend((int(start, 16), int(size, 16)) for start, size in code)
        expect(maps == sorted(maps, key=lambda item: item[1]) and all(start <= end for _, start, end in maps), line)
        all_maps += len(maps)
    seen = outside = 0
    for line in bench.lines(log, "sam str "):
        for frame in line.split()[6:]:
            iid, _, place = frame.partition(":")
            if place.startswith("0x"):
                seen += 1
                outside += not any(start <= int(place, 16) <= start + size for start, size in ranges.get(int(iid, 16), ()))
    expect(all_maps > 100 and seen > 100 and outside == 0, all_maps, "maps;", outside, "of", seen, "places lie outside")


def source_lines(bench):
    """Objects are made in the lines that make them: from the symbol file that mcs writes beside the program."""
    log, _ = bench.record()
    bench.check(log)
    source = (ROOT / "tests/programs/dotnet/truth.cs").read_text().splitlines()
    made = {"last = new Marker();": 1200, "last = new Marker[2, 3];": 500, "kept[i] = new Kept();": 321}
    wanted = {f"truth.cs:{[line.strip() for line in source].index(text) + 1}": count for text, count in made.items()}
    rows = {pathlib.Path(row["name"]).name: row["self"] for row in bench.rows("stat", log, "--by", "line", "-w", "allocations")}
    # Where it first makes such an array, Mono makes an object more.
    expect(all(rows.get(name, 0) - count in (0, count == 500) for name, count in wanted.items()), wanted, rows)
    symbols = bench.directory / "main.exe.mdb"
    own = symbols.read_bytes()
    try:
        symbols.write_bytes(own[:16] + bytes([own[16] ^ 1]) + own[17:])  # the GUID is that of another build
        done = bench.run([bench.tool, "stat", "--by", "line", "-w", "allocations", log])
    finally:
        symbols.write_bytes(own)
    told = [line for line in done.stderr.splitlines() if f"{symbols}" in line]
    expect(len(told) == 1 and "tracelog.pdb-other" in told[0] and "truth.cs:" not in done.stdout, done)


def live_heap(bench):
    log, _ = bench.record("--live-heap", "--memory-trace", "off", "--collect-method", "None")
    bench.check(log)
    kept = [line.split()[2] for line in bench.lines(log, "cls nam ") if line.endswith(' "Kept"')]
    tables = bench.lines(log, "gch alt ")
    expect(len(kept) == 1 and len(tables) >= 3, "the class and the tables are there", kept, len(tables))
    item = f" {hex(int(kept[0], 16))}:321:{321 * 24} "
    expect(any(item in line + " " for line in tables[2:]), "321 of Kept live", item, tables[-3:])
    expect(not bench.lines(log, "sam "), "no samples, no allocations")


def names(bench):
    """Generic types and methods, nested ones and arrays."""
    log, _ = bench.record()
    classes = {line.split('"')[1] for line in bench.lines(log, "cls nam ")}
    for name in ("Marker[,]", "Outer.Inner<T=System.String, U=System.Int32>", "System.Collections.Generic.Dictionary<T=System.String, U=System.Collections.Generic.List<T=System.Int32>>"):
        expect(name in classes, name, "is no class of", sorted(name for name in classes if "." not in name))
    functions = [line.split('"')[1::2] for line in bench.lines(log, "fun nam ")]
    second = [words for words in functions if "::Second" in words[0]]
    expect(second and second[0][0].startswith("Outer.Inner<T=System.String, U=System.Int32>::Second<M="), second)
    expect(second[0][1] == "int" and second[0][2].startswith("(string, int, ") and second[0][2].endswith("[], ref int)"), second)


def instrumented(bench):
    dotnet_tests.instrumented(bench)
    dotnet_tests.coarse(bench)


def older(bench):
    dotnet_tests.older(bench, "")  # Mono collects nothing in the background


def alone(bench):
    log = bench.directory / "alone.log"
    done = bench.alone(PROF_TRACE_FILENAME=str(log))
    expect(done.returncode == 0 and done.stdout == SAID, "it ends as without", done)
    bench.check(log)
    bench.expect_made(log)
    expect("prf cfg MemoryTraceEnabled T" in bench.lines(log, "prf cfg "), "the log tells of it")
    done = bench.alone(PROF_TRACE_STREAM="/dev/full")
    expect(done.returncode == 0 and done.stdout == SAID, "a disk without room", done)
    done = bench.alone()
    expect(done.returncode == 0 and done.stdout == SAID and not done.stderr, "nobody asks for a log", done)


def estimates(bench):
    """2,000,000 of 16 bytes, as independent samples of one in EVERY bytes: the deviation of their number is its root."""
    every, small = 5000, 2000000 * 16
    log, _ = bench.record("--alloc-bytes", str(every), "--gc-trace", "off", how="much")
    bench.check(log)
    expect(f"prf cfg AllocationSampleBytes {every}" in bench.lines(log, "prf cfg "), "the log tells of it")
    rows = {(row["function"], row["class"]): row for row in bench.rows("alloc", log, "--by", "function")}
    row = rows["Truth::MakeSmall", "System.Object"]
    expect(abs(row["bytes"] - small) < 6 * small / (small / every) ** 0.5 and row["bytes"] == row["count"] * 16, row)


def stress(bench):
    """Eight threads that allocate, collect, and are sampled all the time."""
    log, done = bench.record("--sampling-timeout", "1ms", how="stress")
    expect(done.returncode == 0, done)
    bench.check(log)
    made = {row["class"]: row["count"] for row in bench.rows("alloc", log)}
    expect(made["Kept"] == 8 * 20000 + 321, made["Kept"])
    begun, ended = bench.lines(log, "gch gcs "), bench.lines(log, "gch gcf ")
    expect(len(begun) == len(ended) and sum(line.endswith("ttft") for line in begun) >= 3, len(begun), len(ended))
    expect(bench.lines(log, "gch ")[-1].startswith("gch gen "), "what the last collection left is told", bench.lines(log, "gch ")[-3:])


IN_DOMAIN = """using System.Collections.Generic;
class NAME {
    public static object last;
    static void Make() { for (int i = 0; i < 100; i++) last = new NAME(); }
    static void MakeArrays() { for (int i = 0; i < 50; i++) last = new NAME[2]; }
    static void MakeLists() { for (int i = 0; i < 30; i++) last = new List<NAME>(); }
    static void Main() { Make(); MakeArrays(); MakeLists(); }
}
"""


def domains(bench):
    """What goes with a domain gives its place to another one: each is counted as what it is, where it was made, in four rounds."""
    program, log, wanted = bench.directory / "domains.exe", bench.directory / "domains.log", {}
    subprocess.run(["mcs", "-nologo", f"-out:{program}", ROOT / "tests/programs/mono/domains.cs"], check=True)
    for name in "Even", "Odds":
        source = bench.directory / f"{name}.cs"
        source.write_text(IN_DOMAIN.replace("NAME", name))
        subprocess.run(["mcs", "-nologo", f"-out:{bench.directory}/{name}.exe", source], check=True)
        wanted |= {(f"{name}::Make", name): 400, (f"{name}::MakeArrays", f"{name}[]"): 200,
                   (f"{name}::MakeLists", f"System.Collections.Generic.List<T={name}>"): 120}
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", log, "--", "mono", program, bench.directory / "Even.exe", bench.directory / "Odds.exe"],
                     TRACKWAY_TRACELOG_CHECK_STACKS="1")
    expect(done.returncode == 0 and done.stdout == "unloaded\n" and " 0 differ" in done.stderr, done)
    bench.check(log)
    rows = {(row["function"], row["class"]): row["count"] for row in bench.rows("alloc", log, "--by", "function")}
    made = {key: count for key, count in rows.items() if key[0] and key[0].startswith(("Even::Make", "Odds::Make"))}
    expect(made == wanted, made)
    expect(rows.get((None, "System.OutOfMemoryException")) == 1, "what Mono makes before any method runs is of none", rows)
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", log, "--collect-method", "Instrumentation", "--memory-trace", "off", "--", "mono", program, bench.directory / "Even.exe"])
    expect(done.returncode == 0 and done.stdout == "unloaded\n", done)
    found = bench.run([bench.tool, "check", "--all", log]).stdout
    expect("function-unknown" not in found, "what is called again is told of again", found[:1000])


MADE_LATE = """
using System; using System.Reflection.Emit;
class P {
    public static int Leaf(int x) { return x + 1; }
    static void Main() {
        var late = new DynamicMethod("Late", typeof(int), new[] { typeof(int) });
        var code = late.GetILGenerator();
        code.Emit(OpCodes.Ldarg_0); code.Emit(OpCodes.Call, typeof(P).GetMethod("Leaf")); code.Emit(OpCodes.Ret);
        var call = (Func<int, int>)late.CreateDelegate(typeof(Func<int, int>));
        for (int i = 0; i < 25; i++) call(i);
    }
}
"""


def made_late(bench):
    """An assembly that the program makes while it runs is in no file, and its methods are called as others."""
    program, log = bench.directory / "late.exe", bench.directory / "late.log"
    program.with_suffix(".cs").write_text(MADE_LATE)
    subprocess.run(["mcs", "-nologo", f"-out:{program}", program.with_suffix(".cs")], check=True)
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", log, "--collect-method", "Instrumentation", "--", "mono", program])
    expect(done.returncode == 0, done)
    bench.check(log)
    called = {name: sum(len(re.findall(f" 0x{int(iid, 16):x}(?= |$)", line)) for line in bench.lines(log, "sam str "))
              for iid, name in re.findall(r'^fun nam (\w+) "[^"]*::(Late|Leaf)"', log.read_text(), re.M)}
    expect(called == {"Late": 25, "Leaf": 25}, called)


def told_stacks(bench, log, *command):
    """How many stacks came by steps, each of which is that of Mono's own walk, for one that Mono walked."""
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", log, "--", *command], TRACKWAY_TRACELOG_CHECK_STACKS="1")
    told = re.search(r"stacks: (\d+) by steps, (\d+) by Mono, (\d+) differ", done.stderr)
    expect(done.returncode == 0 and told and told[3] == "0", done)
    return int(told[1]) / int(told[2]), done


def stacks(bench):
    """By steps from frame to frame, each is that of Mono's own walk. The compiler was compiled before; both have trampolines."""
    program, log = bench.directory / "stacks.exe", bench.directory / "stacks.log"
    each, _ = told_stacks(bench, log, "mcs", "-nologo", "-unsafe", f"-out:{program}", ROOT / "tests/programs/mono/stacks.cs")
    expect(each > 5, "the compiler's stacks come by steps", each)
    each, done = told_stacks(bench, log, "mono", program)
    expect(done.stdout == "done\n" and each > 5, each, done)
    bench.check(log)
    made = {row["function"]: row["count"] for row in bench.rows("alloc", log, "--by", "function", "--class", "System.Object")}
    # Three when it begins; 60 rounds of four threads with 6 and 4 on the stack, 6 in generic ones, 20 and 5 numbers, two by a delegate.
    expect(made.get("Stacks::Make", 0) >= 3 + 4 * 60 * 43, made)


def ends(bench):
    """No line is of a thread that has ended, while CPU times are measured as often as can be."""
    program, log = bench.directory / "ends.exe", bench.directory / "ends.log"
    subprocess.run(["mcs", "-nologo", f"-out:{program}", ROOT / "tests/programs/mono/ends.cs"], check=True)
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", log, "--", "mono", program], PROF_CPU_TRACE="1", PROF_CPU_TRACE_TIMEOUT="1")
    expect(done.returncode == 0, done)
    bench.check(log)
    expect(len(bench.lines(log, "thr dst ")) >= 3200 and bench.lines(log, "thr cpu "), "threads end, and have times")


def kills(bench):
    """Wherever it is killed: what a line names stands in the log."""
    def is_program(process):
        """And no process of the tool: a sanitizer has one that looks for leaks at its end."""
        try:
            return os.readlink(f"/proc/{process}/exe") != str(pathlib.Path(bench.tool).resolve())
        except FileNotFoundError:
            return False

    for ms in range(40, 360, 40):
        log = bench.directory / "killed.log"
        with subprocess.Popen([bench.tool, "record", "--to", "tracelog", "-o", log, "--sampling-timeout", "1ms", "--", bench.host], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=bench.environment("stress")) as record:
            time.sleep(ms / 1000)
            children = pathlib.Path(f"/proc/{record.pid}/task/{record.pid}/children").read_text().split()
            for process in filter(is_program, children):
                os.kill(int(process), signal.SIGKILL)
            record.communicate()
        if log.exists():
            bench.check(log)


def beginnings(bench):
    """A log that ends behind any of its lines, as one of a program that is killed, names nothing that it lacks."""
    log, _ = bench.record(how="busy")
    lines = log.read_bytes().splitlines(keepends=True)
    objects = {b"apd", b"asm", b"mod", b"thr"}
    ends = [i + 1 for i, line in enumerate(lines) if i % 200 == 0 or (line[:3] in objects and line[4:7] != b"cpu")]
    expect(len(ends) > 30, "there are places to cut at", ends)
    cut = bench.directory / "beginning.log"
    for end in ends:
        cut.write_bytes(b"".join(lines[:end]))
        bench.check(cut)


def limit(bench):
    log, done = bench.record("--max-size", "1M", "--collect-method", "Instrumentation", how="calls")
    expect(done.returncode == 0 and log.stat().st_size <= 1 << 20, "the log is not longer", done)
    expect(" had no room" in done.stderr and bench.lines(log, "prf cfg LostRecords "), "what is not there is counted", done.stderr)


def kept_options(bench):
    """What the user has in MONO_ENV_OPTIONS and LD_LIBRARY_PATH is there, too; values that are none are told."""
    log, done = bench.record(MONO_ENV_OPTIONS="--trace=N:none", LD_LIBRARY_PATH="/nowhere", PROF_GC_TRACE="perhaps",
                             PROF_SAMPLING_TIMEOUT="5ms", PROF_LINE_TRACE="NO", PROF_STACK_TRACK="0")
    expect(done.returncode == 0, done)
    expect({row["function"] for row in bench.rows("alloc", log, "--by", "function")} == {None}, "no allocation has the stack of a sample")
    told = [line for line in done.stderr.splitlines() if "warning" in line]
    expect(told == [f"trackway: warning: {what} is not understood, and left out" for what in ("PROF_SAMPLING_TIMEOUT=5ms", "PROF_GC_TRACE=perhaps")], told)
    settings = bench.lines(log, "prf cfg ")
    expect({"prf cfg SamplingTimeoutMs 10", "prf cfg GcTraceEnabled F", "prf cfg LineTraceEnabled F"} <= set(settings), settings)
    bench.expect_made(log)


def readme(bench):
    folder = bench.directory / "readme"
    folder.mkdir()
    shutil.copy(bench.directory / "main.exe", folder / "app.exe")
    dotnet_tests.expect_readme(bench, folder, "mono app.exe")


def no_mono(bench):
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", bench.directory / "none.log", "--", "/bin/true"])
    expect(done.returncode == 2 and "nothing was recorded" in done.stderr, done)


ABORTED = 128 + signal.SIGABRT
TESTS = {
    "README's lines": readme,
    "everything of a run": everything,
    "places in bodies": bodies,
    "names": names,
    "lines of the source": source_lines,
    "what lives after collections": live_heap,
    "calls by enter and leave": instrumented,
    "the dialect of the document": older,
    "without record": alone,
    "it ends by Environment.Exit": dotnet_tests.ends("exit", 3),
    "it ends by FailFast": dotnet_tests.ends("fail", ABORTED),
    "it ends by abort": dotnet_tests.ends("abort", ABORTED),
    "it ends by an exception": dotnet_tests.ends("throw", 1),
    "it ends by SIGKILL": dotnet_tests.ends("kill", 128 + signal.SIGKILL),
    "it begins late, and pauses": dotnet_tests.paused,
    "a forked child": dotnet_tests.forked(),
    "estimates of allocations": estimates,
    "threads that collect": stress,
    "threads that end": ends,
    "domains that go": domains,
    "an assembly made while it runs": made_late,
    "stacks of every kind": stacks,
    "it is killed anywhere": kills,
    "it ends behind any line": beginnings,
    "a limit of size": limit,
    "options of the user": kept_options,
    "no program of Mono": no_mono,
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if not os.environ.get("CI") and not (shutil.which("mono") and shutil.which("mcs")):
        print("1..0 # SKIP no mono, or no mcs: scripts/install-deps")
        return
    rows = [(name, test) for name, test in TESTS.items() if all(word in name for word in options.words)]
    print(f"TAP version 13\n1..{len(rows)}")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options.tool, pathlib.Path(directory) / "mono")
        for number, (name, test) in enumerate(rows, 1):
            why = None
            try:
                test(bench)
            except (Fails, KeyError, IndexError, ValueError, OSError, subprocess.SubprocessError) as error:
                why = f"{type(error).__name__}: {error}"
            failed += why is not None
            print("ok" if why is None else "not ok", number, "-", name, flush=True)
            if why is not None:
                print("#", why.replace("\n", "\n# "), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
