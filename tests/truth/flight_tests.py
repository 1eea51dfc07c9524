#!/usr/bin/python3
# flight_tests.py - what the flight recorder's logs hold against what the program itself counted.
# SPDX-License-Identifier: Apache-2.0
"""usage: flight_tests.py --tool TRACKWAY [--library FILE] [--kills N] [--seed N]

Prints TAP. tests/programs/flight/calls.c is built by gcc and clang, each way that the recorder knows, and counts its calls in a
shared file after each of them. Whatever ends it: what is read is at least that, and at most one call of each thread more.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/programs/flight"
MOST = 4096

# How a program is built, by what its calls are told. The compilers' names are those of scripts/build.
BUILDS = {
    "gcc -finstrument-functions": ["gcc", "-finstrument-functions"],
    "gcc -finstrument-functions, not PIE": ["gcc", "-finstrument-functions", "-no-pie"],
    "clang -finstrument-functions": ["clang", "-finstrument-functions"],
    "clang -fxray-instrument": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1"],
    "clang -fxray-instrument -fxray-modes=none, stripped": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1",
                                                            "-fxray-modes=none", "-s"],
    "clang -fxray-instrument, not PIE": ["clang", "-fxray-instrument", "-fxray-instruction-threshold=1", "-fno-pie",
                                         "-no-pie"],
}
# How it ends, and the status that `record` then has.
WAYS = {"return": 0, "_exit": 3, "quick_exit": 4, "abort": 128 + signal.SIGABRT, "segv": 128 + signal.SIGSEGV,
        "kill": 128 + signal.SIGKILL}


class Fails(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails(" ".join(str(word) for word in what))


class Bench:
    def __init__(self, options, directory):
        self.tool, self.directory, self.options = options.tool, directory, options
        self.random = random.Random(options.seed)

    def compiler(self, name):
        return shutil.which(name.replace("clang", "clang-14").replace("clang-14++", "clang++-14")) or name

    def build(self, words, name, source="calls.c", *more):
        path = self.directory / name
        command = [self.compiler(words[0]), "-O2", "-g", *words[1:], *more, PROGRAMS / source, "-o", path, "-pthread", "-ldl",
                   "-lrt"]
        subprocess.run(command, check=True)
        return path

    def library(self):
        return self.options.library or str(next(pathlib.Path(self.tool).parent.glob("**/libtrackway_fdr.so")))

    def record(self, program, *words, options=(), **more):
        out = self.directory / "out.xray"
        for old in [*self.directory.glob("out*.xray"), *self.directory.glob("out*.part*")]:
            old.unlink()
        counts = self.directory / "counts"
        counts.write_bytes(bytes(8 * MOST))
        library = ["--library", self.options.library] if self.options.library else []
        command = [self.tool, "record", "--to", "xray-fdr", "-o", out, *library, *options, "--", program, counts, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)
        return out, done

    def counts(self):
        return struct.unpack(f"<{MOST}Q", (self.directory / "counts").read_bytes())

    def rows(self, *words):
        done = subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 0 and not done.stderr, words, done.returncode, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def calls(self, log):
        """{function: calls}; the log must have no error."""
        done = subprocess.run([self.tool, "check", log], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        expect(done.returncode == 0, "check:", done.stdout)
        return {row["name"]: row["count"] for row in self.rows("stat", "--json", log)}

    def expect_all(self, log, threads=4, name="leaf"):
        done, calls = sum(self.counts()[:threads]), self.calls(log).get(name, 0)
        expect(done <= calls <= done + threads, f"{name}: {done} calls done, {calls} in the log")
        return calls


def ends(bench, words):
    program = bench.build(words, "program")
    for way, status in WAYS.items():
        log, done = bench.record(program, "4", "2000", way)
        expect(done.returncode == status, way, "status", done.returncode, done.stderr)
        calls = bench.calls(log)
        if "-s" in words:  # no names: leaf, middle, work, main and end
            expect(16005 <= sum(calls.values()) <= 16006 and all(name.startswith("@0x") for name in calls), way, calls)
        else:
            expect(calls["leaf"] == 8000 and calls["middle"] == 8000 and calls["main"] == 1, way, calls)
        info = bench.rows("info", "--json", log)[0]
        expect(info["recording"] == ("complete" if way in ("return",) else "cut"), way, info["recording"])
        expect(info["lost_records"] == 0 and info["processes"] == 1, info)


def killed(bench, words):
    program = bench.build(words, "program")
    command = [program, bench.directory / "counts", "4", "0", "return"]
    library = bench.library()
    for number in range(bench.options.kills):
        log = bench.directory / f"killed{number}.xray"
        (bench.directory / "counts").write_bytes(bytes(8 * MOST))
        environment = {**os.environ, "LD_PRELOAD": library, "TRACKWAY_FLIGHT": str(log),
                       "TRACKWAY_FLIGHT_OPTIONS": bench.random.choice(["", "clock=tsc", "clock=monotonic"])}
        with subprocess.Popen(command, env=environment) as process:
            while not sum(bench.counts()[:4]):
                time.sleep(0.001)
            time.sleep(bench.random.random() / 20)
            process.kill()
        bench.expect_all(log)
        info = bench.rows("info", "--json", log)[0]
        expect(info["recording"] == "unfinished" and info["lost_bytes"] == 0, info)
        log.unlink()


def orphaned(bench, words):
    """`record` is killed, the program goes on, and is killed later: all of it is in the log that it left."""
    program = bench.build(words, "program")
    (bench.directory / "counts").write_bytes(bytes(8 * MOST))
    library = ["--library", bench.options.library] if bench.options.library else []
    command = [bench.tool, "record", "--to", "xray-fdr", "-o", bench.directory / "out.xray", *library, "--", program,
               bench.directory / "counts", "4", "0", "return"]
    with subprocess.Popen(command) as process:
        while not sum(bench.counts()[:4]):
            time.sleep(0.001)
        process.kill()
    before = sum(bench.counts()[:4])
    while sum(bench.counts()[:4]) < before + 1000:
        time.sleep(0.001)
    log, = bench.directory.glob("out.xray.*.part")
    pid = int(log.name.split(".")[2])
    os.kill(pid, signal.SIGKILL)
    while pathlib.Path(f"/proc/{pid}/maps").exists() and pathlib.Path(f"/proc/{pid}/maps").read_bytes():
        time.sleep(0.001)
    calls = bench.expect_all(log)
    expect(calls > before, calls, before)


def children(bench, words):
    program = bench.build(words, "program")
    log, done = bench.record(program, "2", "500", "fork")
    logs = sorted(bench.directory.glob("out*.xray"))
    expect(done.returncode == 0 and len(logs) == 6, done.stderr, logs)
    expect(bench.calls(log)["leaf"] == 1000, "parent")
    for other in logs:
        if other != log:
            calls = bench.calls(other)
            expect(calls["leaf"] == 500 and "main" not in calls, other, calls)


def again(bench, words):
    program = bench.build(words, "program")
    _, done = bench.record(program, "2", "500", "exec")
    logs = list(bench.directory.glob("out*.xray"))
    expect(done.returncode == 0 and len(logs) == 2, done.stderr, logs)
    expect(sum(bench.calls(log)["leaf"] for log in logs) == 2000, "leaf")
    expect(sum(bench.calls(log)["main"] for log in logs) == 2, "main")


def signals(bench, words):
    program = bench.build(words, "program")
    log, done = bench.record(program, "2", "200000", "signals")
    calls = bench.calls(log)
    expect(done.returncode == 0 and bench.counts()[MOST - 1] > 100, done.stderr, bench.counts()[MOST - 1])
    handled = bench.counts()[MOST - 1]
    expect(handled <= calls["handled"] <= handled + 1 and calls["leaf"] == 400000, handled, calls)


def threads(bench, words):
    program = bench.build(words, "program")
    log, done = bench.record(program, "2000", "3", "return")
    expect(done.returncode == 0, done.stderr)
    expect(bench.calls(log)["leaf"] == 6000, bench.calls(log))


def plugins(bench, words):
    program = bench.build(words, "program")
    library = bench.build(words, "plugin.so", "plugin.c", "-shared", "-fPIC")
    log, done = bench.record(program, "1", "10", "return", library)
    calls = bench.calls(log)
    expect(done.returncode == 0 and calls["plugged"] == 3 and calls["leaf"] == 10, done.stderr, calls)


def ring(bench, words):
    program = bench.build(words, "program")
    log, done = bench.record(program, "2", "100000", "kill", options=["--ring", "256K"])
    calls = bench.calls(log)
    expect(done.returncode == 137, done.stderr)
    # The newest of each thread, without a gap: 256 KiB are 32,768 records less the heads of the chunks, four a round.
    expect(2 * 7 * 4096 / 4 < calls["leaf"] <= 2 * 8192, calls)
    times = bench.rows("sql", "--json", log, "select max(ts + dur) as last, utid from slice group by utid")
    expect(len(times) >= 2, times)


def full(bench, words):
    program = bench.build(words, "program")
    log, done = bench.record(program, "2", "100000", "return", options=["--max-size", "1M"])
    info = bench.rows("info", "--json", log)[0]
    expect(done.returncode == 0 and "had no room" in done.stderr, done.returncode, done.stderr)
    expect(info["lost_records"] + info["kinds"]["function.enter"] + info["kinds"]["function.exit"] >= 2 * 2 * 200000, info)
    out, done = bench.record(program, "2", "100000", "return", preexec_fn=lambda: limit_files(2 << 20))
    expect(done.returncode == 0 and "had no room" in done.stderr, out, done.returncode, done.stderr)


def stale(bench, words):
    """Logs of an earlier run, whose recorder was killed, stay as they are and count for nothing."""
    program = bench.build(words, "program")
    log, _ = bench.record(program, "1", "7", "return")
    old = [bench.directory / "kept.4000000.part", bench.directory / "kept.4000000-1.part"]
    for path in old:
        path.write_bytes(log.read_bytes())
    command = [bench.tool, "record", "--to", "xray-fdr", "-o", bench.directory / "kept", "--", program,
               bench.directory / "counts", "1", "50", "return"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0 and all(path.name in done.stderr for path in old), done.returncode, done.stderr)
    expect(sorted(bench.directory.glob("kept*")) == sorted([bench.directory / "kept", *old]), "other files")
    expect(all(path.read_bytes() == log.read_bytes() for path in old), "changed")
    expect(bench.calls(bench.directory / "kept")["leaf"] == 50, "leaf")
    done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "-o", bench.directory / "kept", "--", "true"],
                          stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.returncode, done.stderr)


def cut(bench, words):
    """A part of a log has names as the whole has."""
    program = bench.build(words, "program")
    log, _ = bench.record(program, "2", "100", "return")
    part = bench.directory / "part.xray"
    subprocess.run([bench.tool, "cut", "--min-duration", "1ns", log, "-o", part], stderr=subprocess.DEVNULL, check=True)
    expect(bench.calls(part)["main"] == 1, bench.calls(part))


def linked(bench, words):
    """With the recorder in it, which is not recorded twice: by `record`, and by the environment alone."""
    archive = pathlib.Path(bench.library()).with_suffix(".a")
    link = [archive, "-Wl,--undefined=__cyg_profile_func_enter"]
    for static in ([], ["-static"]):
        program = bench.build([*words, *static], "program", "calls.c", *link)
        log, done = bench.record(program, "2", "500", "_exit")
        expect(done.returncode == 3 and bench.calls(log)["leaf"] == 1000, done.stderr)
        expect(list(bench.directory.glob("out*")) == [log], "two logs")
        other = bench.directory / "own.xray"
        subprocess.run([program, bench.directory / "counts", "2", "500", "kill"], check=False,
                       env={**os.environ, "TRACKWAY_FLIGHT": str(other)})
        expect(bench.calls(other)["leaf"] == 1000, "by the environment")
        other.unlink()


def readme(bench, _):
    """The lines of README's "Record the calls of a program": each way to build, and what is recorded then."""
    text = (ROOT / "README.md").read_text().split("## Record the calls of a program\n\n")[1]
    *builds, record = [line.strip() for line in text.split("\n\n")[0].splitlines()]
    expect(len(builds) == 4 and "trackway record" in record, builds, record)
    for number, line in enumerate(builds):
        place = bench.directory / str(number)
        place.mkdir()
        (place / "server.c").write_text("__attribute__((noinline)) void serve(volatile int *i) { ++*i; }\n"
                                        "int main(void) { volatile int i = 0; while (i < 7) serve(&i); return 0; }\n")
        (place / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.13)\nproject(server C)\n"
                                              "add_executable(server server.c)\n")
        (place / "meson.build").write_text("project('server', 'c')\nexecutable('server', 'server.c')\n")
        tools = place / "tools"
        tools.mkdir()
        (tools / "trackway").symlink_to(bench.tool)
        (tools / "clang").symlink_to(shutil.which(bench.compiler("clang")))
        more = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        run = record.replace("./server", "./build/server") if " build" in line else record
        done = subprocess.run(f"set -e\n{line}\n{run}", shell=True, cwd=place, env=more, text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect(done.returncode == 0, line, done.stdout)
        expect(bench.calls(place / "server.xray") == {"serve": 7, "main": 1}, line)


def short(calls):
    """{part of the name that tells how often: calls}"""
    names = ("method2", "hidden3", "templated4", "many5", "local6", "plain7", "~thing", "main")
    return {part: sum(count for name, count in calls.items() if part in name) for part in names
            if any(part in name for name in calls)}


def chosen(bench, words):
    """Globs over names of C and C++, and what each of them leaves."""
    every = {"method2": 2, "hidden3": 3, "templated4": 4, "many5": 5, "local6": 7, "plain7": 7, "~thing": 1, "main": 1}
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "names", "names.cpp")
    names = bench.directory / "list"
    names.write_text("# 3 _ZN5outer5thingD2Ev\nmain\nouter::thing::method2(outer::thing const&) const\n_ZL6local6v\n")
    for options, left in (
            ([], set(every)),
            (["--function", "main"], {"main"}),
            (["--function", "outer::*"], set(every) - {"local6", "plain7", "main"}),
            (["--function", "outer::inner::*", "--not-function", "*many?"], {"templated4"}),
            (["--function", "outer::(anonymous namespace)::hidden3(int)"], {"hidden3"}),
            (["--function", "outer::thing::~thing"], {"~thing"}),
            (["--not-function", "outer::inner::many5", "--not-function", "plain*"], set(every) - {"many5", "plain7"}),
            (["--not-function", f"@{names}"], set(every) - {"main", "method2", "local6"}),
            (["--function", f"@{names}"], {"main", "method2", "local6"})):
        log, done = bench.record(program, options=options)
        expect(done.returncode == 0, options, done.stderr)
        expect(short(bench.calls(log)) == {name: every[name] for name in left}, options, bench.calls(log))
    _, done = bench.record(program, options=["--function", "none"])
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.stderr)
    _, done = bench.record(program, options=["--not-function", "@none"])
    expect(done.returncode == 2 and "none: No such file" in done.stderr, done.stderr)


def deepest(bench, words):
    """A depth, also where exceptions and longjmp() pass frames, which then have no exit with sleds."""
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "deep", "deep.cpp")
    for depth, left in ((1, {"main": 1}), (2, {"main": 1, "down": 100, "thrower": 100, "jumper": 100}), (64, None)):
        log, done = bench.record(program, options=["--max-depth", str(depth)])
        calls = {name.split("(")[0]: count for name, count in bench.calls(log).items()}
        expect(done.returncode == 0 and (calls == left if left else calls["down"] == 100 * 20), depth, calls, done.stderr)


def shortest(bench, words):
    """Calls in which nothing else is kept go: what is left of the short ones was where a thread changed its processor."""
    program = bench.build(words, "program")
    log, done = bench.record(program, "2", "1000", "return", options=["--min-duration", "1s"])
    expect(done.returncode == 0 and sum(bench.calls(log).values()) < 100, "one second", done.returncode, done.stderr)
    log, done = bench.record(program, "2", "1000000", "kill", options=["--min-duration", "1ms"])
    calls = bench.calls(log)
    expect(calls["main"] == 1 and calls["work"] == 2 and calls.get("leaf", 0) + calls.get("middle", 0) < 600, calls)


def listed(path):
    """{function: calls} of a list of --count, and the functions that its lines choose."""
    rows = path.read_text().splitlines()[1:]
    calls, chosen, last = {}, set(), 0
    for row in rows:
        if row.startswith("#"):
            told, _, name = row[2:].partition("%")
            last = int(told.split(" call")[0].replace(",", ""))
            if name.startswith(": "):
                calls[name[2:]] = last
        else:
            calls[row] = last
            chosen.add(row)
    return calls, chosen


def counted(bench, words):
    """Every call, whatever ends the program, of all processes together; and the list leaves out the dearest."""
    program = bench.build(words, "program")
    for way, status in WAYS.items():
        out, done = bench.record(program, "4", "20000", way, options=["--count"])
        calls, chosen = listed(out)
        expect(done.returncode == status and chosen == {"leaf", "middle"}, way, done.returncode, done.stderr, chosen)
        expect(calls["leaf"] == calls["middle"] == 80000 and calls["work"] == 4 and calls["main"] == 1, way, calls)
        expect(list(bench.directory.glob("out*")) == [out], way, "other files")
    _, done = bench.record(program, "4", "20000", "return", options=["--not-function", f"@{out.rename(out.with_name('list'))}"])
    expect(set(bench.calls(out)) >= {"work", "main"} and not chosen & set(bench.calls(out)), bench.calls(out))
    out, done = bench.record(program, "2", "500", "fork", options=["--count"])
    expect(listed(out)[0]["leaf"] == 1000 + 5 * 500, "children", done.stderr)
    out, done = bench.record(program, "2000", "3", "return", options=["--count"])
    expect(listed(out)[0]["leaf"] == 6000, "threads", done.stderr)
    out, done = bench.record(program, "2", "200000", "signals", options=["--count"])
    handled = bench.counts()[MOST - 1]
    expect(handled <= listed(out)[0]["handled"] <= handled + 1, "signals", handled, listed(out)[0])
    _, done = bench.record(bench.build([words[0]], "plain"), "1", "1", "return", options=["--count"])
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.returncode, done.stderr)
    _, done = bench.record(program, "1", "1", "return", options=["--count", "--ring", "1M"])
    expect(done.returncode == 2 and "--count counts every call" in done.stderr, done.returncode, done.stderr)


def counted_names(bench, words):
    """With nothing but the list, no function of C++ is left that it names: all of this program."""
    every = {"method2": 2, "hidden3": 3, "templated4": 4, "many5": 5, "local6": 7, "plain7": 7, "~thing": 1, "main": 1}
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "names", "names.cpp")
    out, _ = bench.record(program, options=["--count"])
    calls, _ = listed(out)
    expect(short(calls) == every, calls)
    names = out.rename(out.with_name("list"))
    _, done = bench.record(program, options=["--not-function", f"@{names}"])
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.returncode, done.stderr)


def aarch64(bench, words):
    """The recorder of AArch64, built here, and a program with hooks, both by qemu-user."""
    if not shutil.which(words[0]) or not shutil.which("qemu-aarch64"):
        return f"no {words[0]}, or no qemu-aarch64"
    library, program = bench.directory / "libtrackway_fdr.so", bench.directory / "program"
    flags = ["-O2", "-std=gnu17", "-D_GNU_SOURCE", "-fPIC", "-mgeneral-regs-only", "-ftls-model=initial-exec",
             "-fno-stack-protector", "-fno-builtin", "-fvisibility=hidden", "-funsigned-char", "-pthread"]
    sources = sorted((ROOT / "src/flight").glob("*.[cS]"))
    sources = [source for source in sources if source.name != "mark.S"]
    subprocess.run([words[0], *flags, "-I", ROOT / "src", "-I", ROOT / "include", "-shared", *sources, "-o", library], check=True)
    subprocess.run([*words, "-O2", PROGRAMS / "calls.c", "-o", program, "-pthread", "-ldl", "-lrt"], check=True)
    for options in ("clock=monotonic", "clock=tsc", "count=1"):
        log = bench.directory / f"{options}.xray"
        done = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_PRELOAD={library}", "-E",
                               f"TRACKWAY_FLIGHT={log}", "-E", f"TRACKWAY_FLIGHT_OPTIONS={options}", program,
                               bench.directory / "counts", "2", "500", "_exit"], check=False)
        calls = bench.calls(log)
        expect(done.returncode == 3, options, done.returncode)
        expect(calls == ({} if options == "count=1" else {"main": 1, "work": 2, "middle": 1000, "leaf": 1000, "end": 1}),
               options, calls)
    return None


def demo(bench, words):
    done = subprocess.run([ROOT / "scripts/demo", bench.directory / "demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={**os.environ, "TRACKWAY": bench.tool, "CXX": bench.compiler(words[0])})
    expect(done.returncode == 0, done.stdout)
    expect(bench.calls(bench.directory / "demo/tracer.xray")["tracer::pixel(int, int)"] == 96 * 36, "pixels")


def limit_files(size):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def nothing(bench, words):
    program = bench.build([words[0]], "plain")
    _, done = bench.record(program, "1", "1", "return")
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.returncode, done.stderr)
    _, done = bench.record(program, "1", "1", "_exit")
    expect(done.returncode == 3, done.returncode)
    log, done = bench.record(bench.directory / "none", "1")
    expect(done.returncode == 127 and "none: No such file" in done.stderr and not log.exists(), done.stderr)


def llvm(bench, words):
    tool = shutil.which("llvm-xray-14") or shutil.which("llvm-xray")
    if not tool:
        return "no llvm-xray"
    program = bench.build(words, "program")
    log, _ = bench.record(program, "1", "1000", "kill")
    done = subprocess.run([tool, "convert", "--output-format=yaml", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    kinds = [line.split("kind: ")[1].split(",")[0] for line in done.stdout.splitlines() if "kind: " in line]
    own = bench.rows("info", "--json", log)[0]["kinds"]
    expect(done.returncode == 0 and kinds.count("function-enter") == own["function.enter"] >= 2002 and
           kinds.count("function-exit") == own["function.exit"] >= 2001, done.returncode, done.stderr[:200], len(kinds), own)
    return None


def tests(options):
    sleds, hooks = BUILDS["clang -fxray-instrument"], BUILDS["gcc -finstrument-functions"]
    for name, words in BUILDS.items():
        yield f"{name}: every way to end", ends, words
    for what, words in (("hooks", hooks), ("sleds", sleds)):
        yield f"{what}: {options.kills} times killed, every committed call is read", killed, words
        yield f"{what}: the parent is killed", orphaned, words
        yield f"{what}: forked children have logs of their own", children, words
        yield f"{what}: exec", again, words
        yield f"{what}: signal handlers", signals, words
        yield f"{what}: 2,000 threads", threads, words
        yield f"{what}: the newest alone", ring, words
        yield f"{what}: no room", full, words
        yield f"{what}: llvm-xray reads it", llvm, words
    yield "hooks: libraries that are loaded and unloaded", plugins, hooks
    yield "a program without calls", nothing, hooks
    yield "logs that an earlier run left", stale, hooks
    yield "hooks: linked with the recorder", linked, hooks
    yield "sleds: linked with the recorder", linked, BUILDS["clang -fxray-instrument -fxray-modes=none, stripped"][:-1]
    for what, words in (("hooks", hooks), ("hooks of clang", BUILDS["clang -finstrument-functions"]), ("sleds", sleds)):
        yield f"{what}: chosen functions", chosen, words
        yield f"{what}: calls that are too deep", deepest, words
        yield f"{what}: calls that are too short", shortest, words
        yield f"{what}: counted alone", counted, words
        yield f"{what}: what was counted names functions of C++", counted_names, words
    yield "README's ways to build", readme, hooks
    yield "hooks on AArch64, by qemu-user", aarch64, ["aarch64-linux-gnu-gcc", "-finstrument-functions"]
    for compiler in ("g++", "clang++"):
        yield f"the demo, by {compiler}", demo, [compiler]
    yield "a part of a log has names", cut, hooks


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--library")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    rows = [row for row in tests(options) if all(word in row[0] for word in options.words)]
    print("TAP version 13")
    print(f"1..{len(rows)}")
    failed = 0
    for number, (name, test, words) in enumerate(rows, 1):
        skipped = why = None
        with tempfile.TemporaryDirectory() as directory:
            try:
                skipped = test(Bench(options, pathlib.Path(directory)), words)
            except (Fails, KeyError, subprocess.SubprocessError) as error:
                why = f"{type(error).__name__}: {error}"
        failed += why is not None
        print("ok" if why is None else "not ok", number, "-", name, f"# SKIP {skipped}" if skipped else "", flush=True)
        if why is not None:
            print("#", why.replace("\n", "\n# "), flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
