#!/usr/bin/python3
# dotnet_tests.py - the logs of a real .NET program against what it counts itself.
# SPDX-License-Identifier: Apache-2.0
"""usage: dotnet_tests.py --tool TRACKWAY [WORD...]

Prints TAP; skips all where the runtime (tests/dotnet) or mcs is not installed, unless CI is set. tests/programs/dotnet/truth.cs
makes 1,200 objects of class Marker and 500 arrays in five threads, keeps 321 of class Kept, and asks for three collections;
calls.cs beside it counts calls.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tracelog_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIMES = {name: ROOT / "tests/dotnet/node_modules" / folder / "Sarif.Multitool"
            for name, folder in ((".NET 8.0", "net8"), (".NET 3.1", "net3"))}
PROGRAM = [ROOT / "tests/programs/dotnet" / name for name in ("truth.cs", "calls.cs")]
SAID = "made 321\n"


class Fails(Exception):
    pass


class Skips(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails(" ".join(str(word) for word in what))


class Bench:
    def __init__(self, tool, directory, runtime):
        directory.mkdir()
        self.runtime = runtime
        self.tool, self.directory, self.pins = tool, directory, "net8" in str(runtime)
        self.host, self.hook = directory / "host", directory / "truth.dll"
        self.library = next(pathlib.Path(tool).parent.glob("**/libtrackway_coreprofiler.so"))
        shutil.copy(runtime, self.host)
        self.host.chmod(0o755)
        subprocess.run(["mcs", "-nologo", "-warn:0", "-target:library", f"-out:{self.hook}", *PROGRAM], check=True)

    def environment(self, how):
        return {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "DOTNET_STARTUP_HOOKS": str(self.hook),
                "DOTNET_BUNDLE_EXTRACT_BASE_DIR": str(self.directory / "bundle"), "DOTNET_DbgEnableMiniDump": "0", "TRUTH": how}

    def run(self, command, how="", **variables):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=600,
                              env={**self.environment(how), **variables}, cwd=self.directory)

    def record(self, *options, how="", **variables):
        """The log of a run, and how the run ended."""
        for old in self.directory.glob("out*"):
            old.unlink()
        log = self.directory / "out.log"
        done = self.run([self.tool, "record", "--to", "tracelog", "-o", log, *options, "--", self.host, "--version"], how, **variables)
        expect(SAID in done.stdout, "the program said", done.stdout, done.stderr)
        expect(not list(self.directory.glob("out*.part")), "nothing of a recording is left")
        return log, done

    def rows(self, command, log, *options):
        done = subprocess.run([self.tool, command, "--json", *options, log], stdout=subprocess.PIPE, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check(self, log):
        """Everything that `check` finds is a note."""
        done = subprocess.run([self.tool, "check", "--json", "--all", log], stdout=subprocess.PIPE, text=True, check=False)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        bad = [row for row in found if row.get("severity") in ("error", "warning")]
        expect(done.returncode == 0 and not bad, "check found", bad)

    def expect_made(self, log):
        made = {row["class"]: row for row in self.rows("alloc", log)}
        for name, count in ("Marker", 1200), ("Marker[,]", 500), ("Kept", 321):
            expect(made[name]["count"] == count, name, made[name], "but it made", count)
        expect(made["Marker"]["bytes"] == 1200 * 32, "two longs, a table and a header are 32 bytes", made["Marker"])

    def expect_figures(self, log):
        """What tables have is what another program makes of the lines."""
        odd = list(tracelog_tests.Tool(self.tool, self.directory).figures(log.read_bytes()))
        expect(not odd, *odd[:3])

    def lines(self, log, kind):
        return [line for line in log.read_text().splitlines() if line.startswith(kind)]


def everything(bench):
    log, done = bench.record(how="busy")
    expect(done.returncode == 0 and done.stdout.endswith("\n"), "it ends as without", done)
    bench.check(log)
    bench.expect_figures(log)
    bench.expect_made(log)
    collections = bench.lines(log, "gch gcs ")
    expect(sum(" induced tttt" in line for line in collections) == 3, "three were asked for", collections)
    expect(len(collections) == len(bench.lines(log, "gch gcf ")), "each ends")
    expect(any(row["name"] == "Truth::Busy" for row in bench.rows("stat", log)), "it was in Busy for long")
    places = {row["function"]: row for row in bench.rows("alloc", log, "--by", "function", "--class", "Marker")}
    expect(len(places) == 1, "markers are made in one function", places)
    compiled = [row for row in bench.rows("jit", log) if row.get("name") == "Truth::MakeMarkers"]
    expect(len(compiled) == 1, "Truth::MakeMarkers was compiled", compiled)
    flame = subprocess.run([bench.tool, "flame", log, "-o", bench.directory / "flame.svg"], check=False)
    expect(flame.returncode == 0 and "Truth" in (bench.directory / "flame.svg").read_text(), "flame shows it")
    expect(len(bench.lines(log, "thr dst ")) >= 4, "four threads ended")


def source_lines(bench):
    """Lines of the program that starts the hook, of its own PDBs: the files that they name, and no other."""
    log, _ = bench.record()
    plain = bench.rows("stat", log, "--by", "line", "--weight", "bytes")
    expect(not any((row["file"] or "").endswith(".cs") for row in plain), "nothing tells lines without PDBs")
    rows = bench.rows("stat", log, "--by", "line", "--weight", "bytes", "--pdb", str(bench.runtime.parent))
    lines = {(row["file"], row["line"]) for row in rows if (row["file"] or "").endswith(".cs")}
    expect(("/_/src/Sarif.Multitool/Program.cs" in {file for file, _ in lines}) and all(line > 0 for _, line in lines), lines)
    expect(sum(row["self"] for row in rows) == sum(row["self"] for row in plain), "the same bytes")
    written = bench.directory / "vs.log"
    subprocess.run([bench.tool, "convert", "--dialect", "vs", "--pdb", str(bench.runtime.parent), log, "-o", written], check=True,
                   stderr=subprocess.DEVNULL)
    told = {line.split()[2] for line in bench.lines(written, "lin src ")}
    expect(len(told) == len(bench.lines(written, "lin src ")) > 0 and bench.lines(written, "fil src "), "each line is told once")
    for weight in "bytes", "samples":
        by_line = [sorted((row["file"], row["line"], row["self"], row["total"])
                          for row in bench.rows("stat", file, "--by", "line", "--weight", weight, *options)
                          if (row["file"] or "").endswith(".cs"))
                   for file, options in ((log, ("--pdb", str(bench.runtime.parent))), (written, ()))]
        expect(by_line[0] == by_line[1], "lines in the log are those of the PDBs", *by_line)


def live_heap(bench):
    log, _ = bench.record("--live-heap", "--memory-trace", "off", "--collect-method", "None")
    bench.check(log)
    kept = [line.split()[2] for line in bench.lines(log, "cls nam ") if line.endswith(' "Kept"')]
    tables = [line for line in bench.lines(log, "gch alt ")]
    expect(len(kept) == 1 and len(tables) >= 3, "the class and the tables are there", kept, len(tables))
    generations = bench.lines(log, "gch gen ")
    expect(generations and all((" POH:" in line) == bench.pins for line in generations), "from .NET 5 on", generations)
    item = f" {hex(int(kept[0], 16))}:321:{321 * 24} "
    expect(all(item in line + " " for line in tables[-3:]), "321 of Kept live", item, tables[-3:])
    expect(not bench.lines(log, "sam "), "no samples, no allocations")


def background(bench):
    """The runtime itself counts those that were asked for, and three more that block."""
    log, done = bench.record("--memory-trace", "off", "--collect-method", "None", how="background")
    bench.check(log)
    lines = bench.lines(log, "gch gcs ")
    _, blocking, _, aside = done.stdout[done.stdout.index("collected "):].split()[:4]
    induced = {word: sum(f" {word} tttt" in line for line in lines) for word in ("induced", "induced-background")}
    expect(int(aside) > 0 and induced == {"induced": 3 + int(blocking), "induced-background": int(aside)}, aside, lines)
    *rows, total = bench.rows("gc", log)
    expect([row["background"] for row in rows] == ["background" in line for line in lines], "gc tells them apart", rows)
    expect(total["background"] + total["ended"] == len(lines), "no pauses", total)


def estimates(bench):
    """2,000,000 of 24 bytes, as independent samples of one in EVERY bytes: the deviation of their number is its root."""
    every, small = 5000, 2000000 * 24
    log, _ = bench.record("--alloc-bytes", str(every), "--gc-trace", "off", how="much")
    bench.check(log)
    expect(f"prf cfg AllocationSampleBytes {every}" in bench.lines(log, "prf cfg "), "the log tells of it")
    expect_estimates(bench, log, 6 * small / (small / every) ** 0.5, 40)


def ticks(bench):
    """The samples of the runtime: each at 102,400 bytes since the one before, and at most what a thread has in store, 8 KiB."""
    log, _ = bench.record("--alloc-bytes", "1M", how="much")
    bench.check(log)
    every = 102400 if bench.pins else 1 << 20
    expect(f"prf cfg AllocationSampleBytes {every}" in bench.lines(log, "prf cfg "), "the log tells of it")
    if bench.pins:
        expect_estimates(bench, log, 4 * 110000, 40)


def expect_estimates(bench, log, difference, large):
    rows = {(row["function"], row["class"]): row for row in bench.rows("alloc", log, "--by", "function")}
    small = rows["Truth::MakeSmall", "System.Object"]
    expect(abs(small["bytes"] - 2000000 * 24) < difference and small["bytes"] == small["count"] * 24, small, difference)
    expect(large <= rows["Truth::MakeLarge", "System.Byte[]"]["count"] <= large + 1, "what is larger than samples are apart", rows)
    expect(all(row["sampled_bytes"] for row in rows.values()), "they are told to be estimates")


def older(bench, how="background"):
    log, _ = bench.record("--dialect", "d2", how=how)
    bench.check(log)
    bench.expect_made(log)
    expect({line.split()[4] for line in bench.lines(log, "gch gcs ")} <= {"induced", "?"}, "d2 has two reasons")
    expect(len(bench.lines(log, "prf stm ")[0].split()) == 4, "and no zone")
    expect(not bench.lines(log, "gch gen "), "d2 knows no generations")
    expect(all(line.split()[2].startswith("0x") or line.split()[2] == "?" for line in bench.lines(log, "jit ")), "internal ids")
    info, = bench.rows("info", log)
    expect(info["dialect"] == "d2", info)


def alone(bench):
    log = bench.directory / "alone.log"
    done = bench.run([bench.host, "--version"], CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER_PATH=str(bench.library),
                     CORECLR_PROFILER="{101DA8FE-FDCA-4D0E-9712-7639CDE48EBA}", PROF_TRACE_FILENAME=str(log),
                     PROF_COLLECT_METHOD="Sampling", PROF_MEMORY_TRACE="1", PROF_GC_TRACE="1")
    expect(done.returncode == 0 and SAID in done.stdout, "it ends as without", done)
    bench.check(log)
    bench.expect_made(log)
    expect("prf cfg MemoryTraceEnabled T" in bench.lines(log, "prf cfg "), "the log tells of it")


class Stacks:
    """Each thread's stack, by the document: `sam str iid ms ticks match:size[:ip] frame*`."""

    def __init__(self, lines):
        names = {int(line.split()[2], 16): line.split('"')[1] for line in lines if line.startswith("fun nam ")}
        self.calls, self.made, self.callers, stacks = {}, {}, {}, {}
        for line in lines:
            words = line.split()
            if words[:2] == ["sam", "mem"]:
                stack = stacks.get(words[2]) or ["(no stack)"]
                for item in words[4:]:
                    self.made[stack[-1]] = self.made.get(stack[-1], 0) + int(item.split(":")[1])
            if words[:2] != ["sam", "str"]:
                continue
            stack = stacks.setdefault(words[2], [])
            match, size = map(int, words[5].split(":")[:2])
            expect(size == len(stack) and match <= size, "a stack of", len(stack), "is", line)
            del stack[match:]
            for frame in words[6:]:
                stack.append(names[int(frame.split(":")[0], 16)])
                self.calls[stack[-1]] = self.calls.get(stack[-1], 0) + 1
                self.callers.setdefault(stack[-1], set()).add(stack[-2] if len(stack) > 1 else None)
        self.left = stacks


FIB_20, FIB_10 = 21891, 177  # 2 * fib(n + 1) - 1 calls
CALLS = {"Leaf": 6000, "Outer": 3000, "Fib": FIB_20 + 3 * FIB_10, "Dig": 40 * 7, "Clean": 40 * 6, "After": 40, "Catch": 40,
         "First": 500, "Next": 500, "Last": 500, "Many": 1000, "Run": 1}
CALLERS = {"After": {"Calls::Catch"}, "Catch": {"Calls::Run"}, "First": {"Calls::Run"}, "Many": {"Calls::Run"}}


def instrumented(bench, **variables):
    log, done = bench.record("--collect-method", "Instrumentation", how="calls", **variables)
    expect(done.returncode == 0 and "6765 6280 True 54321 True\n" in done.stdout, "it computes as without", done)
    bench.check(log)
    bench.expect_made(log)
    lines = log.read_text().splitlines()
    stacks = Stacks(lines)
    calls = {name: stacks.calls.get(f"Calls::{name}", 0) for name in CALLS}
    expect(calls == CALLS, "calls", calls, "are not", CALLS)
    for name, callers in CALLERS.items():
        expect(stacks.callers[f"Calls::{name}"] == callers, name, "was called by", stacks.callers[f"Calls::{name}"])
    expect(stacks.made["Truth::MakeMarkers"] == 1200, "1,200 were made in their function", stacks.made)
    expect("prf cfg CollectionMethod Instrumentation" in lines and "prf cfg LineTraceEnabled F" in lines, "the log tells so")
    expect(all(line.split()[4] == "0" for line in lines if line.startswith("sam str ")), "no timer ticks")


def optimized(bench):
    """All is compiled as well as it can be, at once: calls in the place of their callers, too."""
    instrumented(bench, DOTNET_TieredCompilation="0", COMPlus_TieredCompilation="0")


def coarse(bench):
    log, done = bench.record("--collect-method", "Instrumentation", how="calls", PROF_HIGH_GRAN="0")
    bench.check(log)
    lines = log.read_text().splitlines()
    calls = Stacks(lines).calls
    expect(calls.get("Calls::Leaf", 0) <= CALLS["Leaf"] and calls["Calls::Run"] == 1, "no more than there were", calls)
    times = [tuple(line.split()[2:4]) for line in lines if line.startswith("sam str ")]
    made = sum(line.startswith("sam mem ") for line in lines)
    expect(len(times) <= len(set(times)) + made, "a line a millisecond, and before allocations", len(times), made)


def piped(bench):
    """The log goes to who reads the pipe; another one has the process in its name."""
    pipe, log = bench.directory / "pipe", bench.directory / "piped.log"
    loaded = {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER_PATH": str(bench.library), "PROF_MEMORY_TRACE": "1",
              "CORECLR_PROFILER": "{101DA8FE-FDCA-4D0E-9712-7639CDE48EBA}"}
    os.mkfifo(pipe)
    with log.open("wb") as out, subprocess.Popen(["cat", pipe], stdout=out) as reader:
        done = bench.run([bench.host, "--version"], PROF_TRACE_STREAM=str(pipe), **loaded)
    expect(done.returncode == 0 and SAID in done.stdout and reader.returncode == 0, "it ends as without", done)
    bench.check(log)
    bench.expect_made(log)
    bench.run([bench.host, "--version"], PROF_TRACE_FILENAME=str(bench.directory / "own-%p.log"), **loaded)
    own, = bench.directory.glob("own-*.log")
    expect(own.stem.split("-")[1].isdigit(), "the name has the process", own)
    bench.expect_made(own)


def no_room(bench):
    """A disk without room: nothing is written, and the program goes on."""
    done = bench.run([bench.host, "--version"], CORECLR_ENABLE_PROFILING="1", CORECLR_PROFILER_PATH=str(bench.library),
                     CORECLR_PROFILER="{101DA8FE-FDCA-4D0E-9712-7639CDE48EBA}", PROF_MEMORY_TRACE="1",
                     PROF_TRACE_STREAM="/dev/full", PROF_LOG_LEVEL="error", PROF_LOG_STREAM="stderr")
    expect(done.returncode == 0 and SAID in done.stdout, "it ends as without", done)
    expect(told(done.stderr) == ["trackway: Error: /dev/full: No space left on device: nothing more is written"], done.stderr)


def told(text):
    """Without what the program that has the hook in it says itself."""
    return [line for line in text.splitlines() if not line.startswith("SARIF ")]


def messages(bench):
    """Of itself the profiler tells only where it is asked; the log may be the program's own output."""
    loaded = {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER_PATH": str(bench.library),
              "CORECLR_PROFILER": "{101DA8FE-FDCA-4D0E-9712-7639CDE48EBA}"}
    nowhere, file = str(bench.directory / "nowhere/a.log"), bench.directory / "messages"
    done = bench.run([bench.host, "--version"], PROF_TRACE_FILENAME=nowhere, **loaded)
    expect(done.returncode == 0 and SAID in done.stdout and not told(done.stderr), "silent", done)
    done = bench.run([bench.host, "--version"], PROF_TRACE_FILENAME=nowhere, PROF_LOG_FILENAME=str(file), **loaded)
    expect(done.returncode == 0 and not told(done.stderr) and
           file.read_text() == f"trackway: Error: {nowhere}: No such file or directory: nothing is recorded\n", "into the file", done)
    done = bench.run([bench.host, "--version"], PROF_TRACE_FILENAME=nowhere, PROF_TRACE_STREAM="stderr", PROF_LOG_LEVEL="4",
                     PROF_LOG_STREAM="Stdout", **loaded)
    expect(SAID in done.stdout and "trackway: Info: stderr: recording begins\n" in done.stdout and
           "trackway: Info: recording ends\n" in done.stdout, "into the output", done.stdout)
    log = bench.directory / "stderr.log"
    log.write_text("".join(line + "\n" for line in told(done.stderr)))
    bench.check(log)


def whole(bench, log, done):
    """Every line that record tells of is there, and ends."""
    text = log.read_text()
    told = next(line for line in done.stderr.splitlines() if line.endswith(" records"))
    count = text.count("\n") - text.count("\nprf cfg LostRecords ")
    expect(text.endswith("\n") and count == int(told.split()[-2].replace(",", "")), told, count)
    bench.check(log)


def ends(how, status):
    def test(bench):
        log, done = bench.record(how=how)
        expect(done.returncode == status, "status", done.returncode, "is not", status)
        whole(bench, log, done)
        bench.expect_made(log)
    return test


def full_disk(bench):
    """A disk of 1 MB, which record fills; nobody else sees it. The program does not notice, and what had room is whole."""
    disk, kept = bench.directory / "disk", bench.directory / "kept"
    disk.mkdir(exist_ok=True)
    kept.mkdir(exist_ok=True)
    on_disk = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=1m none {disk} && {{ "$@"; s=$?; cp {disk}/* {kept}; exit $s; }}', "sh"]
    if bench.run([*on_disk, "true"]).stderr.find("denied") >= 0 or bench.run(["unshare", "-rm", "true"]).returncode:
        raise Skips("nothing may be mounted here")
    done = bench.run([*on_disk, bench.tool, "record", "--to", "tracelog", "-o", disk / "out.log", "--", bench.host, "--version"])
    expect(SAID in done.stdout and "No space left on device" in done.stderr, "the program goes on, and record says why not", done)
    part, = kept.glob("out.log.*.part")
    bench.check(part)
    text = subprocess.run([bench.tool, "convert", part, "-o", "-", "--to", "tracelog"], stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = text.splitlines()
    expect(text.endswith("\n") and len(lines) == bench.rows("info", part)[0]["records"] > 1000, "it has what had room", len(lines))
    expect(re.fullmatch(r"prf cfg LostRecords [1-9]\d*", lines[-1]), "and tells what had none", lines[-1])


def orphan(bench):
    """record is killed: the program goes on, and so does its log, which every command reads as it is."""
    log = bench.directory / "orphan.log"
    command = [bench.tool, "record", "--to", "tracelog", "-o", log, "--", bench.host, "--version"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1,
                          env=bench.environment("wait"), cwd=bench.directory) as recorder:
        pid = recorder.stdout.readline().split()[1]
        recorder.kill()
        recorder.wait()
        recorder.stdin.write("\n")
        expect(recorder.stdout.readline() == "made\n", "the program goes on")
        recorder.stdin.write("\n")
        recorder.stdin.close()
        recorder.stdout.read()
    part = bench.directory / f"orphan.log.{pid}.part"
    expect(not log.exists() and part.exists(), "the part stays")
    bench.check(part)
    made = {row["class"]: row["count"] for row in bench.rows("alloc", part)}
    expect(made["Marker"] == 10 + 200 + 77, "made", made["Marker"])


def forked(*options):
    def test(bench):
        """Children, one of fork() and one of the system call alone, write nothing."""
        log, done = bench.record(*options, how="fork")
        children = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("child ")]
        expect(done.returncode == 0 and len(children) == 2 and all(int(child) > 0 for child in children), done)
        whole(bench, log, done)
        bench.expect_made(log)
        threads = re.findall(r"^(?:thr aos \S+|jit \S+|gch gc\S+) (\d+)\b", log.read_text(), re.M)
        expect(threads and not set(threads) & set(children), "no line is a child's", children)
    return test


def limit(bench):
    log, done = bench.record("--max-size", "1M", "--sampling-timeout", "1ms")
    expect(done.returncode == 0, done)
    expect(log.stat().st_size <= 1 << 20, "the log is not longer")
    whole(bench, log, done)
    expect(" had no room" in done.stderr, "what is not there is counted", done.stderr)
    lost, = bench.lines(log, "prf cfg LostRecords ")
    expect(lost.split()[3] == next(line for line in done.stderr.splitlines() if " had no room" in line).split()[1].replace(",", ""), lost)


def ask(bench, pid, option, line):
    """Has the profiler pause or go on, and waits until its log says so."""
    done = subprocess.run([bench.tool, "record", "--to", "tracelog", option, pid], check=False)
    expect(done.returncode == 0, option, done)
    part = bench.directory / f"wait.log.{pid}.part"
    for _ in range(6000):
        if line in part.read_bytes():
            return
        time.sleep(0.01)
    raise Fails(f"{line} does not come")


def paused(bench):
    log = bench.directory / "wait.log"
    command = [bench.tool, "record", "--to", "tracelog", "--delayed-start", "-o", log, "--", bench.host, "--version"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1,
                          env=bench.environment("wait"), cwd=bench.directory) as program:
        pid = program.stdout.readline().split()[1]
        ask(bench, pid, "--resume", b"prf trs ")
        program.stdin.write("\n")
        expect(program.stdout.readline() == "made\n", "it goes on")
        ask(bench, pid, "--pause", b"prf tps ")
        program.stdin.write("\n")
        program.stdin.close()
        program.stdout.read()
    expect(program.returncode == 0, program.returncode)
    bench.check(log)
    made = {row["class"]: row["count"] for row in bench.rows("alloc", log)}
    expect(made["Marker"] == 200, "200 were made between", made["Marker"])
    done = subprocess.run([bench.tool, "record", "--to", "tracelog", "--pause", str(os.getpid())], check=False,
                          stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 2 and "not recorded" in done.stderr, "others are left alone", done)


def for_aarch64(bench):
    """It is compiled, and linked with libc alone; what runs it is not here."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if not compiler and not os.environ.get("CI"):
        raise Skips("no aarch64-linux-gnu-gcc")
    out = bench.directory / "aarch64.so"
    folder = ROOT / "src/coreprofiler"
    sources = [*sorted(path for path in folder.glob("*.c") if path.name != "collect.c"), folder / "hooks.S"]
    subprocess.run([compiler, "-std=c17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wno-unused-parameter", "-Werror",
                    "-fPIC", "-fvisibility=hidden", "-shared", "-pthread", "-Wl,--no-undefined", f"-I{ROOT}/src", "-o", out, *sources],
                   check=True)
    told = subprocess.run(["readelf", "-Wd", "--dyn-syms", out], stdout=subprocess.PIPE, text=True, check=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line]
    expect(needed == ["libc.so.6"] and " DllGetClassObject" in told and "AArch64" in
           subprocess.run(["readelf", "-h", out], stdout=subprocess.PIPE, text=True, check=True).stdout, needed)


def expect_readme(bench, folder, program):
    """The lines of README's "Record a .NET program", which stand for `dotnet app.dll`, and for another program where that is
    given: what is built is found as the first has it, and the others are run as they stand there."""
    text = (ROOT / "README.md").read_text().split("## Record a .NET program\n\n")[1]
    build, record, *looks = [line.strip() for line in text.split("\n\n")[0].splitlines()]
    expect(build.startswith("make && export PATH=$PWD/build/src:$PATH ") and program in record, build, record)
    lines = [record.replace("dotnet app.dll", program), *looks]
    expect([line.split()[1] for line in lines] == ["record", "flame", "gc", "alloc"], lines)
    path = f"{folder}:{pathlib.Path(bench.tool).parent}:{os.environ['PATH']}"
    said = [subprocess.run(line, shell=True, cwd=folder, env={**bench.environment("busy"), "PATH": path}, text=True, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for line in lines]
    expect(not any(done.returncode for done in said) and SAID in said[0].stdout, said)
    expect("Truth::Busy" in (folder / "app.svg").read_text(), "the picture has where it was for long")
    expect(re.search(r"^[1-9]\d* collections: ", said[2].stdout, re.MULTILINE), said[2].stdout)
    expect(re.search(r" 1,200 +32 bytes  Marker$", said[3].stdout, re.MULTILINE), said[3].stdout)


def readme(bench):
    """`dotnet` here is what there is of it: the program that has the runtime in itself."""
    folder = bench.directory / "readme"
    folder.mkdir()
    shutil.copy(bench.hook, folder / "app.dll")
    dotnet = folder / "dotnet"
    dotnet.write_text(f'#!/bin/sh\nDOTNET_STARTUP_HOOKS="$PWD/$1" exec {bench.host} --version\n')
    dotnet.chmod(0o755)
    expect_readme(bench, folder, "dotnet app.dll")


def nothing(bench):
    done = bench.run([bench.tool, "record", "--to", "tracelog", "-o", bench.directory / "none.log", "--", "/bin/true"])
    expect(done.returncode == 2 and "nothing was recorded" in done.stderr, done)


# Each leaves whole lines alone, as many as are told, and what the program made up to then; where there was no room, how many
# had none.
DEATHS = {
    "Environment.Exit": ends("exit", 3),
    "_exit()": ends("_exit", 5),
    "FailFast": ends("fail", 128 + signal.SIGABRT),
    "abort()": ends("abort", 128 + signal.SIGABRT),
    "a fault in native code": ends("fault", 128 + signal.SIGSEGV),
    "an exception": ends("throw", 128 + signal.SIGABRT),
    "SIGKILL": ends("kill", 128 + signal.SIGKILL),
    "record is killed": orphan,
    "a full disk": full_disk,
    "a limit of size": limit,
}
# Those that both runtimes run are of what they may do differently.
BOTH = (everything, live_heap, paused, instrumented, optimized, estimates, ticks)
TESTS = {
    "README's lines": readme,
    "everything of a run": everything,
    "what lives after collections": live_heap,
    "calls by enter and leave": instrumented,
    "calls by enter and leave of optimized code": optimized,
    "calls by enter and leave, a line a millisecond": coarse,
    "collections in the background": background,
    "samples of allocations": estimates,
    "samples of allocations by the runtime": ticks,
    "the dialect of the document": older,
    "without record": alone,
    "without record, into a pipe": piped,
    "without record, a disk without room": no_room,
    "messages of the profiler": messages,
    "lines of the source by PDBs": source_lines,
    **{f"it dies: {how}": test for how, test in DEATHS.items()},
    "forked children": forked(),
    "forked children, with calls": forked("--collect-method", "Instrumentation"),
    "it begins late, and pauses": paused,
    "no .NET program": nothing,
    "compiled for AArch64": for_aarch64,
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if not os.environ.get("CI") and not (all(path.exists() for path in RUNTIMES.values()) and shutil.which("mcs")):
        print("1..0 # SKIP no .NET runtimes in tests/dotnet, or no mcs: scripts/install-deps")
        return
    newest = next(iter(RUNTIMES))
    rows = [(runtime, f"{runtime}: {name}", test) for runtime in RUNTIMES for name, test in TESTS.items()
            if runtime == newest or test in BOTH]
    rows = [row for row in rows if all(word in row[1] for word in options.words)]
    print(f"TAP version 13\n1..{len(rows)}")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        benches = {name: Bench(options.tool, pathlib.Path(directory) / name.split()[1], path)
                   for name, path in RUNTIMES.items()}
        for number, (runtime, name, test) in enumerate(rows, 1):
            why = None
            try:
                test(benches[runtime])
            except Skips as reason:
                name += f" # SKIP {reason}"
            except (Fails, KeyError, ValueError, OSError, subprocess.SubprocessError) as error:
                why = f"{type(error).__name__}: {error}"
            failed += why is not None
            print("ok" if why is None else "not ok", number, "-", name, flush=True)
            if why is not None:
                print("#", why.replace("\n", "\n# "), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
