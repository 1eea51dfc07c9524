#!/usr/bin/python3
# flight_tests.py - what the flight recorder's logs hold against what the program itself counted.
# SPDX-License-Identifier: Apache-2.0
"""usage: flight_tests.py --tool TRACKWAY [--library FILE] [--kills N] [--seed N]

Prints TAP. tests/programs/flight/calls.c is built by gcc and clang, each way that the recorder knows, and counts its calls in a
shared file after each of them. Whatever ends it: what is read is at least that, and at most one call of each thread more.
"""
import collections
import argparse
import contextlib
import datetime
import errno
import json
import os
import pathlib
import random
import re
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
NO_CALLS = "trackway: there is no call in the trace\n"

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
    "gcc -minstrument-return, patched": ["gcc", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount",
                                         "-minstrument-return=nop5", "-mrecord-return"],
    "gcc -minstrument-return, patched, PIE, stripped": ["gcc", "-fPIE", "-fcf-protection", "-pg", "-mfentry", "-minstrument-return=nop5",
                                                        "-mrecord-return", "-s", "-Wl,-z,notext", "-Wl,--no-warnings"],
    "gcc -minstrument-return=call": ["gcc", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-minstrument-return=call"],
}
# A shared object takes what the recorder has.
RETURNS_SHARED = ["gcc", "-pg", "-mfentry", "-minstrument-return=call"]
# How it ends, and the status that `record` then has.
WAYS = {"return": 0, "_exit": 3, "quick_exit": 4, "abort": 128 + signal.SIGABRT, "segv": 128 + signal.SIGSEGV,
        "kill": 128 + signal.SIGKILL}


class Fails(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails(" ".join(str(word) for word in what))


@contextlib.contextmanager
def running(command, **more):
    """A process, which does not outlive what fails here: that would be waited for without end."""
    with subprocess.Popen(command, **more) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


class Bench:
    def __init__(self, options, directory):
        self.tool, self.directory, self.options = options.tool, directory, options
        self.random = random.Random(options.seed)
        self.notes = []

    def compiler(self, name):
        return shutil.which(name.replace("clang", "clang-14").replace("clang-14++", "clang++-14")) or name

    def build(self, words, name, source="calls.c", *more):
        """A program. What several tests want is compiled for the first of them."""
        path, key = self.directory / name, (*words, source, *map(str, more))
        if key in self.options.programs:
            shutil.copy(self.options.programs[key], path)
            return path
        self.compile(path, words, source, *more)
        self.options.programs[key] = self.options.folder / f"program{len(self.options.programs)}"
        shutil.copy(path, self.options.programs[key])
        return path

    def compile(self, path, words, source, *more):
        compiler, source = self.compiler(words[0]), PROGRAMS / source
        if "-pg" in words:  # which is not for the linker: gprof's functions would come
            part, shared = path.with_name(path.name + ".o"), ["-fPIC"] if "-shared" in more else []
            subprocess.run([compiler, "-O2", "-g", *words[1:], *shared, "-c", source, "-o", part], check=True)
            if "-minstrument-return=call" in words and not shared:
                more = *more, self.archive(), "-Wl,--undefined=__cyg_profile_func_enter"
            words, source = [word for word in words if word != "-pg"], part
        command = [compiler, "-O2", "-g", *words[1:], source, *more, "-o", path, "-pthread", "-ldl", "-lrt"]
        subprocess.run(command, check=True)

    def archive(self):
        return pathlib.Path(self.library()).with_suffix(".a")

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
        expect(done.returncode == 0 and done.stderr in ("", NO_CALLS), words, done.returncode, done.stderr)
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
            expect(16005 <= sum(calls.values()) <= 16006 and all(name[0] in "@#" for name in calls), way, calls)
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
        with running(command, env=environment) as process:
            while not sum(bench.counts()[:4]):
                time.sleep(0.001)
            time.sleep(bench.random.random() / 20)
            process.kill()
        bench.expect_all(log)
        info = bench.rows("info", "--json", log)[0]
        expect(info["recording"] == "unfinished" and info["lost_bytes"] == 0, info)
        log.unlink()


def in_memory(bench, words):
    """Logs in memory alone: as whole as files after SIGKILL, of forked children and after exec, and where all descriptors are closed."""
    program, out, counts = bench.build(words, "program"), bench.directory / "out.xray", bench.directory / "counts"
    library = ["--library", bench.options.library] if bench.options.library else []
    command = [bench.tool, "record", "--to", "xray-fdr", "--in-memory", "-o", out, *library, "--", program, counts, "4", "0", "return"]

    def of(process):
        """The program among the processes that `record` has."""
        for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            if os.readlink(f"/proc/{child}/exe") == str(program):
                return int(child)
        raise Fails("there is no program")

    for _ in range(bench.options.kills):
        counts.write_bytes(bytes(8 * MOST))
        with running(command, stderr=subprocess.DEVNULL) as process:
            while not sum(bench.counts()[:4]):
                expect(process.poll() is None, "status", process.returncode)
                time.sleep(0.001)
            time.sleep(bench.random.random() / 20)
            expect(not list(bench.directory.glob("out*")), "a file")
            os.kill(of(process), signal.SIGKILL)
            expect(process.wait() == 128 + signal.SIGKILL, process.returncode)
        bench.expect_all(out)
        out.unlink()

    for way, files in (("fork", 6), ("exec", 2)):
        _, done = bench.record(program, "2", "500", way, options=["--in-memory"])
        logs = list(bench.directory.glob("out*"))
        expect(done.returncode == 0 and len(logs) == files, way, done.stderr, logs)
        expect(sum(bench.calls(log)["leaf"] for log in logs) == (1000 + 5 * 500 if way == "fork" else 2000), way)
    log, done = bench.record(program, "2", "100000", "return", options=["--in-memory", "--max-size", "1M"])
    info = bench.rows("info", "--json", log)[0]
    expect(done.returncode == 0 and "had no room" in done.stderr, done.returncode, done.stderr)
    expect(info["lost_records"] + info["kinds"]["function.enter"] + info["kinds"]["function.exit"] >= 2 * 2 * 200000, info)
    log, done = bench.record(program, "2", "100000", "kill", options=["--in-memory", "--ring", "256K"])
    expect(2 * 7 * 4096 / 4 < bench.calls(log)["leaf"] <= 2 * 8192, done.stderr)
    own, closes = bench.directory / "own", bench.build(words, "closes", "closes.c")
    own.mkdir()
    log, done = bench.record(closes, own, options=["--in-memory"])
    expect(done.returncode == 0 and bench.calls(log)["leaf"] == bench.counts()[0] == 3 * 200000, done.returncode, done.stderr)


def orphaned(bench, words):
    """`record` is killed, the program goes on, and is killed later: all of it is in the log that it left."""
    program = bench.build(words, "program")
    (bench.directory / "counts").write_bytes(bytes(8 * MOST))
    library = ["--library", bench.options.library] if bench.options.library else []
    command = [bench.tool, "record", "--to", "xray-fdr", "-o", bench.directory / "out.xray", *library, "--", program,
               bench.directory / "counts", "4", "0", "return"]
    with running(command) as process:
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


def read_llvm(bench, mode, command, ends):
    """Calls of leaf that LLVM's runtime leaves, started by its environment, as `trackway` counts them."""
    for old in bench.directory.glob("llvm.*"):
        old.unlink()
    (bench.directory / "counts").write_bytes(bytes(8 * MOST))
    environment = {**os.environ, "XRAY_OPTIONS": f"patch_premain=true xray_mode=xray-{mode} xray_logfile_base={bench.directory}/llvm.",
                   "XRAY_BASIC_OPTIONS": "func_duration_threshold_us=0"}
    with running(command, env=environment, stderr=subprocess.DEVNULL) as process:
        ends(process)
    written, read = sum(bench.counts()[:4]), 0
    for log in bench.directory.glob("llvm.*"):
        done = subprocess.run([bench.tool, "stat", "--json", "-b", command[0], log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        read += sum(row["count"] for row in map(json.loads, done.stdout.splitlines()) if row["name"] == "leaf")
    return f"{read} of {written}"


def deaths(bench, words):
    """The table of what is written and read, with LLVM's runtime beside it: none that is committed is lost."""
    program = bench.build(words, "program")
    counts = bench.directory / "counts"

    def kill(process):
        while not sum(bench.counts()[:4]):
            time.sleep(0.001)
        time.sleep(bench.random.random() / 20)
        process.kill()

    def wait(process):
        process.wait()

    bench.notes.append(f"{'DEATH':12} {'WRITTEN':>9} {'READ':>9} {'LOST, TOLD':>10}   LLVM FDR, BASIC")
    ways = {"SIGKILL": ("0", "return"), "SIGSEGV": ("2000", "segv"), "abort": ("2000", "abort"), "_exit": ("2000", "_exit"),
            "exec": ("2000", "exec"), "quick_exit": ("2000", "quick_exit"), "full disk": ("20000", "return"),
            "parent": ("0", "return")}
    for way, (calls, end) in ways.items():
        command = [program, counts, "4", calls, end]
        for old in bench.directory.glob("death*"):
            old.unlink()
        counts.write_bytes(bytes(8 * MOST))
        log = bench.directory / "death-%p.xray"
        environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(log)}
        if way == "full disk":
            environment["TRACKWAY_FLIGHT_OPTIONS"] = "max-size=1M"
        if way == "parent":  # a shell that starts it and dies
            with running(["sh", "-c", '"$@" >&2 & echo $!; wait', "sh", *command], env=environment,
                                  stdout=subprocess.PIPE, text=True) as shell:
                child = int(shell.stdout.readline())
                while not sum(bench.counts()[:4]):
                    time.sleep(0.001)
                shell.kill()
            before = sum(bench.counts()[:4])
            while sum(bench.counts()[:4]) < before + 1000:
                time.sleep(0.001)
            os.kill(child, signal.SIGKILL)
            maps = pathlib.Path(f"/proc/{child}/maps")
            while maps.exists() and maps.read_bytes():
                time.sleep(0.001)
            for log in bench.directory.glob("death*"):
                if not log.name.startswith(f"death-{child}"):
                    log.unlink()
        else:
            with running(command, env=environment) as process:
                (kill if way == "SIGKILL" else wait)(process)
        written, read, lost = sum(bench.counts()[:4]), 0, 0
        for part in bench.directory.glob("death*"):
            read += bench.calls(part).get("leaf", 0)
            lost += bench.rows("info", "--json", part)[0]["lost_records"]
        beside = [read_llvm(bench, mode, command, kill if way in ("SIGKILL", "parent") else wait) for mode in ("fdr", "basic")]
        bench.notes.append(f"{way:12} {written:9} {read:9} {lost:10}   {', '.join(beside)}")
        if way == "full disk":
            expect(lost > 0 and read + lost >= written, way, written, read, lost)
            with open(part, "ab") as file:  # of the next chunk there was a part of a page
                file.write(bytes(5000))
            done = subprocess.run([bench.tool, "check", part], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  check=False)
            expect(" error: " not in done.stdout, done.stdout)
        else:
            expect(lost == 0 and written <= read <= written + 4, way, written, read, lost)


def ask(bench, *words):
    command = [bench.tool, "record", "--to", "xray-fdr", *map(str, words)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0, command, done.stderr)


def asked(bench, words):
    """A program that runs is asked to pause, to go on, and for what it has recorded, which is whole each time."""
    program = bench.build(words, "program")
    now, counts = bench.directory / "now.xray", bench.directory / "counts"
    log = bench.directory / "log.xray"

    def moves(least):
        before = sum(bench.counts()[:4])
        while sum(bench.counts()[:4]) < before + least:
            time.sleep(0.001)

    def last(pid):
        """When the last call of a snapshot was; 0: it has none."""
        ask(bench, "--snapshot", pid, "-o", now)
        os.kill(pid, signal.SIGSTOP)  # it would take all processors from who reads the snapshot
        info = bench.rows("info", "--json", now)[0]
        calls = bench.calls(now) if "function.enter" in info["kinds"] else {}
        os.kill(pid, signal.SIGCONT)
        now.unlink()
        expect(calls.get("leaf", 0) <= sum(bench.counts()[:4]) + 4, calls)
        return info["clock_start_ns"] + info["end_ns"] if calls else 0

    counts.write_bytes(bytes(8 * MOST))
    environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(log),
                   "TRACKWAY_FLIGHT_OPTIONS": "signals=1,delayed=1,ring=64K"}
    with running([program, counts, "4", "0", "return"], env=environment) as process:
        try:
            moves(1000)
            expect(last(process.pid) == 0, "delayed")
            ask(bench, "--resume", process.pid)
            while not last(process.pid):
                moves(10)
            for _ in range(5):
                before = last(process.pid)
                moves(500)
                expect(last(process.pid) > before, "it goes on")
            ask(bench, "--pause", process.pid)
            before = -1
            while before != last(process.pid):  # what threads are at ends
                before = last(process.pid)
                moves(1000)
            ask(bench, "--resume", process.pid)
            while last(process.pid) <= before:
                moves(10)
        finally:
            process.kill()
    done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "--snapshot", str(os.getpid()), "-o", now], stderr=subprocess.PIPE,
                          text=True, check=False)
    expect(done.returncode == 2 and "writes no log of calls" in done.stderr and not now.exists(), done.stderr)
    done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "--pause", str(os.getpid())], stderr=subprocess.PIPE, text=True,
                          check=False)
    expect(done.returncode == 2 and "is not recorded by this" in done.stderr, done.stderr)


def build_moments(bench, words, linked=False):
    """A program that asks its recorder. One that is no PIE finds the recorder alone that it is linked with."""
    link = [bench.archive(), "-Wl,--undefined=__cyg_profile_func_enter"] if linked or "-no-pie" in words else []
    return bench.build([*words, f"-I{ROOT}/include"], "linked" if linked else "program", "moments.c", *link)


def moments(bench, words):
    """What a program asks for itself: of its own thread exactly the calls since a moment, none before."""
    program = build_moments(bench, words)
    for options in ([], ["--ring", "8M"]):
        for old in bench.directory.glob("moment-*"):
            old.unlink()
        out = bench.directory / "moment"
        _, done = bench.record(program, out, options=options)
        expect(done.returncode == 0, options, done.returncode, done.stderr)
        wanted = [int(line) for line in done.stdout.splitlines()]
        calls = [bench.calls(f"{out}-{number}").get("leaf", 0) for number in range(1, 9)]
        expect(calls == wanted == [1, 10, 100, 1000, 10000, 100000, 0, 0], options, calls, wanted)
    if "-no-pie" not in words:
        done = subprocess.run([program, bench.directory / "counts", out], check=False)
        expect(done.returncode == 3, "without a recorder", done.returncode)


def expect_day(bench, log, begun, last, ended):
    """The time of day of a log that was killed: it begins behind one moment, and ends between two."""
    info, slack = bench.rows("info", "--json", log)[0], 0.005  # of the clocks
    start, end = (datetime.datetime.fromisoformat(info[name].replace("Z", "+00:00")).timestamp() for name in ("wall_start", "wall_end"))
    expect(begun - slack <= start <= last and last - slack <= end <= ended + slack, begun, start, last, end, ended)
    data = log.read_bytes()
    pairs = data[data.index(b"trackway.clocks\0") + 16:]
    first, = struct.unpack_from("<Q", data, data.index(b"trackway.flight\0") + 49)
    moved = [row["absolute_tsc"] for row in bench.rows("dump", "--json", log) if row["record"] == "new-cpu-id"]
    late = [tsc for tsc in moved if tsc > first + info["cycle_frequency"] // 32]  # where a pair was due
    expect(not late or struct.unpack_from("<Q", pairs)[0], "pairs of clocks in between", first, late[:3])
    bench.notes.append(f"{len(late)} buffers and moves where a pair was due")


def aged(bench, words):
    """A snapshot of an age, asked for from outside and by a signal: the calls that the program made then."""
    program = build_moments(bench, words)
    counts, now, log = bench.directory / "counts", bench.directory / "now.xray", bench.directory / "log.xray"
    age = 300_000_000

    def raw():
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)

    def done():
        data = counts.read_bytes()
        count, = struct.unpack_from("<Q", data)
        return list(struct.iter_unpack("<QQ", data[8:8 + 16 * count]))

    def count():
        with counts.open("rb") as file:
            return struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]

    def compare(path, before, after):
        late, calls = 1_000_000, bench.calls(path)["leaf"]  # late: of the clocks' ratio, in the first second
        least = sum(begin >= after - age + late and end <= before - late for begin, end in done())
        most = sum(end >= before - age - late and begin <= after + late for begin, end in done())
        expect(0 < least <= calls <= most < count(), path, least, calls, most)

    for ring in ("", ",ring=8M"):
        counts.write_bytes(b"")
        begun = time.time()
        environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(log),
                       "TRACKWAY_FLIGHT_OPTIONS": f"signals=1,snapshot-age={age}{ring}"}
        with running([program, counts], env=environment) as process:
            try:
                while count() < 2 or raw() - done()[0][0] < 3 * age:
                    time.sleep(0.01)
                before = raw()
                ask(bench, "--snapshot", process.pid, "--since", f"{age}ns", "-o", now)
                after = raw()
                while count() < 2 or done()[-1][0] < after:
                    time.sleep(0.01)
                compare(now, before, after)
                before = raw()
                process.send_signal(signal.SIGRTMIN + 9)
                snapshot = bench.directory / "log-snapshot.xray"
                while not snapshot.exists():
                    time.sleep(0.001)
                calls = count()
                while count() < calls + 2:  # its only thread is back from the handler
                    time.sleep(0.001)
                last = time.time()
                calls = count()
                while count() < calls + 2:
                    time.sleep(0.001)
                compare(snapshot, before, raw())
            finally:
                process.kill()
        expect_day(bench, log, begun, last, time.time())
        for path in (now, log, snapshot):
            path.unlink()


def attached(bench, words):
    """A program that has the recorder in it, and is recorded for a time, twice; that ends; that forks; or has none."""
    out, counts = bench.directory / "out.xray", bench.directory / "counts"
    command = [bench.tool, "record", "--to", "xray-fdr", "-o", str(out)]

    def count():
        with counts.open("rb") as file:
            return struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]

    def parts():
        return list(bench.directory.glob("out*.part"))

    def calls_in_part():
        """Whether the log that is being made, or that another makes and removes to see that it can, has calls already."""
        done = subprocess.run([bench.tool, "stat", "--json", *parts()[:1]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return any(json.loads(line)["name"] == "leaf" for line in done.stdout.splitlines())

    def is_recorded(process):
        """The program has a log mapped: another request is refused."""
        return ".part" in pathlib.Path(f"/proc/{process.pid}/maps").read_text()

    def counts_in_part():
        return any(part.read_bytes().partition(b"trackway.counts\0\0")[2].strip(b"\0") for part in parts())

    def stretch(process, ends, options=()):
        """What is recorded, or counted, is what the program counted in that time."""
        for old in bench.directory.glob("out*"):
            old.unlink()
        before = count()
        with running([*command, *options, "--attach", str(process.pid)], stderr=subprocess.PIPE, text=True) as recorder:
            while recorder.poll() is None and not (counts_in_part() if options else calls_in_part()):
                time.sleep(0.01)
            begun = count()
            while count() < begun + 100:
                expect(process.poll() is None, "the program ends:", process.returncode)
                time.sleep(0.001)
            ended = count()
            ends(recorder)
            told = recorder.communicate()[1]
        expect(recorder.returncode == 0 and not parts(), recorder.returncode, told, parts())
        after, calls = count(), (listed(out)[0] if options else bench.calls(out)).get("leaf", 0)
        expect(ended - begun <= calls <= after - before + 1, before, begun, calls, ended, after)

    plain = build_moments(bench, words)
    for program, library in ((plain, bench.library()), (build_moments(bench, [*words, "-static"], True), "")):
        counts.write_bytes(b"")
        with running([program, counts], env={**os.environ, "LD_PRELOAD": library}) as process:
            try:
                while not count():
                    expect(process.poll() is None, "the program ends at once:", process.returncode)
                    time.sleep(0.001)
                for signal_number in (signal.SIGINT, signal.SIGTERM):
                    stretch(process, lambda recorder, number=signal_number: recorder.send_signal(number))
                    stretch(process, lambda recorder, number=signal_number: recorder.send_signal(number), ["--count"])
                stretch(process, lambda recorder: process.kill())
            finally:
                process.kill()

    def refused(pid, why, *options):
        done = subprocess.run([*command, "--attach", str(pid), *options], stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1, why, done.returncode, done.stderr)

    out.unlink()
    idle = [bench.build([*words], "idle"), counts, "1", "0", "return"]
    with running(idle) as process:
        refused(process.pid, "has no recorder in it that waits")
        process.kill()
    with running(idle, env={**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT_OPTIONS": "control=off"}) as process:
        refused(process.pid, "has no recorder in it that waits")
        process.kill()
    process.wait()
    refused(process.pid, "No such process")

    def wait_for_recorder(process):
        while process.poll() is None and "tw-flight" not in [path.read_text().strip() for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/comm")]:
            time.sleep(0.001)

    sleeping = {"command": ["sleep", "100"], "env": {**os.environ, "LD_PRELOAD": bench.library()}}
    with running(**sleeping) as process:
        wait_for_recorder(process)
        refused(process.pid, "no calls were recorded", "--duration", "1ms")
        expect(not parts() and not out.exists(), parts())
        process.kill()
    with running(**sleeping) as process:  # another one: nothing of a log before is in it
        wait_for_recorder(process)
        with running([*command, "--attach", str(process.pid)], stderr=subprocess.PIPE, text=True) as recorder:
            while not is_recorded(process):
                expect(recorder.poll() is None, "the recorder ends:", recorder.returncode)
                time.sleep(0.001)
            refused(process.pid, "is recorded already")
            process.kill()


def cores(bench, words):
    """A core dump has the log that the process had in its memory: where the kernel is told to write what is mapped."""
    import resource
    program, counts, log = bench.build(words, "program"), bench.directory / "counts", bench.directory / "log.xray"
    environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(log), "TRACKWAY_FLIGHT_OPTIONS": "max-size=16M"}

    def dump_all(what):
        def prepare():
            pathlib.Path("/proc/self/coredump_filter").write_text(what)
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        return prepare

    def run(what, *words, **more):
        counts.write_bytes(bytes(8 * MOST))
        return subprocess.Popen([program, counts, *words], env=environment, preexec_fn=dump_all(what), cwd=bench.directory, **more)

    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY or \
            "/" in pathlib.Path("/proc/sys/kernel/core_pattern").read_text() or \
            "|" in pathlib.Path("/proc/sys/kernel/core_pattern").read_text():
        return "the kernel writes no core here"
    run("0x7f", "4", "2000", "abort").wait()
    core, = bench.directory.glob("core*")
    log.unlink()
    calls = bench.calls(core)
    expect(calls["leaf"] == 8000 == sum(bench.counts()[:4]) and calls["main"] == 1, calls)
    with core.open("rb") as file:  # from a pipe, too
        piped = subprocess.run([bench.tool, "stat", "--csv", "-"], stdin=file, stdout=subprocess.PIPE, check=False)
    expect(piped.returncode == 0 and len(piped.stdout.splitlines()) == len(calls) + 1, piped)
    core.unlink()
    run("0x33", "4", "2000", "abort").wait()
    core, = bench.directory.glob("core*")
    done = subprocess.run([bench.tool, "info", core], stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 2 and "core dump without a log" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    return None


def misplaced(bench, _):
    """What is no log where one should be, and an output that cannot be written: a line each, and nothing is waited for."""
    out, folder = bench.directory / "out.xray", bench.directory / "folder"
    folder.mkdir()
    (bench.directory / "dangling").symlink_to("none/none")

    def record(output, script):
        done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "-o", output, "--library", bench.library(), "--", "sh", "-c",
                               script], stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1, script, output, done.returncode, done.stderr)
        return done.stderr

    for script, why in ((f"mkfifo {out}.$$.part", "is no file"), (f"mkdir {out}.$$.part", "is no file"),
                        (f"ln -s /dev/zero {out}.$$.part", "is no file"), (f"ln -s {out}.$$.part {out}.$$.part", "is no file"),
                        (f"echo junk > {out}.$$.part", "it is left as it is"), (f": > {out}.$$.part", "none of its calls were recorded"),
                        ("true", "no log of it is there")):
        told = record(out, f"rm -f {out}.$$.part; {script}")
        expect(why in told and not out.exists(), script, told)
        for old in bench.directory.glob("out.xray.*"):
            old.rmdir() if old.is_dir() else old.unlink()
    for output, why in ((folder, "is a folder"), (bench.directory / "none/out.xray", "No such file"), ("/proc/out.xray", "beside it")):
        expect(why in record(output, "true"), output)


def refused(bench, words):
    """A sandbox refuses what the recorder needs: the program goes on, and what it could not record is a line."""
    program, plain = bench.build(words, "program"), bench.build(["gcc"], "denied", "denied.c")
    for name, number, lost in (("fallocate", 285, True), ("fstat", 5, True), ("madvise", 28, True), ("clock_gettime", 228, False),
                               ("fcntl", 72, False)):
        (bench.directory / "counts").write_bytes(bytes(8 * MOST))
        command = [plain, str(number), program, bench.directory / "counts", "2", "500", "_exit"]
        out = bench.directory / "out.xray"
        done = subprocess.run([bench.tool, "record", "--to", "xray-fdr", "-o", out, "--library", bench.library(), "--", *command],
                              stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        if done.returncode == 77:
            return "no seccomp"
        expect(sum(bench.counts()[:2]) == 1000, name, bench.counts()[:2])
        expect(done.returncode == 3 and done.stderr.count("\n") == 1, name, done.returncode, done.stderr)
        if lost:
            why = "none of its calls were recorded: no log could be made: "
            expect(why + ("Stale file handle" if name == "fstat" else "Operation not permitted") in done.stderr and not out.exists(),
                   name, done.stderr)
        else:
            expect(bench.calls(out).get("leaf") == 1000, name, bench.calls(out))
            out.unlink()
        expect(not list(bench.directory.glob("out*")), name, list(bench.directory.glob("out*")))
    for name, number, why in (("memfd_create", 319, "1 log could not be made: Operation not permitted"),
                              ("socket", 41, "a sandbox may refuse it socket()"), ("connect", 42, "a sandbox may refuse it socket()")):
        command = [bench.tool, "record", "--to", "xray-fdr", "--in-memory", "-o", out, "--library", bench.library(), "--", plain,
                   str(number), program, bench.directory / "counts", "1", "5", "_exit"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        expect(done.returncode == 3 and done.stderr.count("\n") == 1 and why in done.stderr, name, done.returncode, done.stderr)
    return None


def limited(bench, words):
    """Forked children that can make no log: their parent's tells how many."""
    log, done = bench.record(bench.build(words, "program"), "2", "500", "closed")
    info = bench.rows("info", "--json", log)[0]
    expect(bench.calls(log)["leaf"] == 1000 and done.returncode == 0, bench.calls(log), done.stderr)
    expect(info["children_without_log"] == 5 and info["children_errno"] == errno.EMFILE and info["lost_records"] == 0, info)
    expect("5 forks without a log, of which no calls were recorded: Too many open files\n" in done.stderr, done.stderr)
    log, done = bench.record(bench.build(words, "program"), "2", "500", "clone")
    info = bench.rows("info", "--json", log)[0]
    expect(bench.calls(log)["leaf"] == 1000 and info["children_without_log"] == 5 and "children_errno" not in info, info, done.stderr)
    expect("5 forks without a log, of which no calls were recorded: made by clone() or a system" in done.stderr, done.stderr)


def trapped(bench, words):
    """Handlers that interrupt records, three deep: what the third calls is lost, and no room is missing."""
    log, done = bench.record(bench.build(words, "program", "traps.c"))
    if done.returncode == 77:
        return "no seccomp"
    info = bench.rows("info", "--json", log)[0]
    expect(done.returncode == 0 and info["lost_in_handlers"] == info["lost_records"] > 0, info, done.stderr)
    expect("of handlers of signals" in done.stderr and "no room" not in done.stderr, done.stderr)
    calls = bench.calls(log)
    # the third handler is lost whole, the second has its chunk then, and those of later growths have one
    expect(calls["main"] == 1 and calls["leaf"] >= 1002 and calls["on_trap"] == calls["leaf"] - 1000, calls)
    return None


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


def descriptors(bench, _):
    """A forked child has its own log open, and none of its parent's."""
    script = """if True:
        import os
        def logs():
            names = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
            return sorted(os.readlink(name) for name in names if os.path.lexists(name) and ".xray" in os.readlink(name))
        own = logs()
        pid = os.fork()
        if pid == 0:
            mine = logs()
            os._exit(len(own) != 1 or len(mine) != 1 or mine == own)
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"""
    environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(bench.directory / "child-%p.xray")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    expect(done.returncode == 0, done.returncode)


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


def wrong(bench, words):
    """Variables that are wrong: a line, and the program runs."""
    program, log = bench.build(words, "program"), bench.directory / "own.xray"
    for path, options, told in ((log, "", None), (log, "ring=32K,,clock=auto,", None), (log, "max-size=x", "max-size=x: no option"),
                                (log, "count=1,clock=sundial,ring=1M", "clock=sundial: no option"), (log, "ring", "ring: no option"),
                                (log, "ringing=1", "ringing=1: no option"), (log, "count=2", "count=2: no option"),
                                (log, "ring=1M5", "ring=1M5: no option"), (log, "quiet=1,max-depth=-1", None),
                                (bench.directory / "none/own.xray", "", "own.xray: no log could be made: No such file"),
                                (bench.directory / "none/own.xray", "quiet=1", None)):
        environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(path), "TRACKWAY_FLIGHT_OPTIONS": options}
        done = subprocess.run([program, bench.directory / "counts", "1", "10", "return"], env=environment, stderr=subprocess.PIPE,
                              text=True, check=True)
        expect(told in done.stderr and done.stderr.count("\n") == 1 if told else done.stderr == "", options, done.stderr)
        expect(log.exists() == (path == log and not told and "-1" not in options), options)
        log.unlink(missing_ok=True)


def sanitized(bench, words):
    """gcc's sanitizers, whose libraries want to be first, beside the recorder."""
    for kind in ("address,undefined", "thread"):
        program = bench.build([*words, f"-fsanitize={kind}"], "program")
        log, done = bench.record(program, "1", "100", "return")  # of which the sanitizers have nothing to say
        expect(done.returncode == 0 and bench.calls(log)["leaf"] == 100, kind, done.returncode, done.stderr)


def plugins(bench, words):
    program = bench.build(words, "program")
    library = bench.build(words, "plugin.so", "plugin.c", "-shared", "-fPIC")
    other = bench.build(words, "other.so", "plugin.c", "-shared", "-fPIC", "-Wl,--build-id=0x12345678")
    log, done = bench.record(program, "1", "10", "return", library, other)
    rows = [(row["name"], row["count"]) for row in bench.rows("stat", "--json", log)]
    expect(done.returncode == 0 and rows.count(("plugged", 3)) == 2 and ("leaf", 10) in rows, done.stderr, rows)
    # Built anew meanwhile: each build has numbers of its own, and the one that is there has names.
    log, done = bench.record(program, "1", "10", "return", library, f"!cp {other} {library}.new && mv {library}.new {library}")
    shown = subprocess.run([bench.tool, "stat", "--json", log], capture_output=True, text=True, check=True)
    rows = [(row["name"], row["count"]) for row in map(json.loads, shown.stdout.splitlines())]
    expect(shown.stderr == f"trackway: no names of {library}: it was built anew since it was recorded\n", shown.stderr)
    expect(done.returncode == 0 and ("plugged", 2) in rows and [count for name, count in rows if name[0] == "#"] == [1], done.stderr,
           rows)


def plugged(bench, words):
    """Sleds of libraries that come and go: of a program that has none, and of one that has."""
    for name, own in (("plain", ["gcc"]), ("program", words)):
        program = bench.build(own, name)
        library = bench.build(RETURNS_SHARED if "-pg" in words else words, "plugin.so", "plugin.c", "-shared", "-fPIC")
        log, done = bench.record(program, "1", "10", "return", library)
        calls = bench.calls(log)
        expect(done.returncode == 0 and calls["plugged"] == 3 and calls.get("leaf", 0) == (10 if own == words else 0), done.stderr,
               calls)
        environment = {**os.environ, "LD_PRELOAD": bench.library(), "TRACKWAY_FLIGHT": str(bench.directory / "own.xray")}
        command = [program, bench.directory / "counts", "1", "10", "return", "./plugin.so"]
        subprocess.run(command, check=True, env=environment, cwd=bench.directory)
        expect(bench.calls(bench.directory / "own.xray")["plugged"] == 3, "a path that is relative")
        (bench.directory / "own.xray").unlink()


def payloads(bench, log):
    """[(type or None, text)] of a log, in its order."""
    rows = bench.rows("dump", "--json", log)
    return [(row.get("event_type"), row.get("text", row["data"])) for row in rows
            if row["record"] in ("custom-event", "typed-event") and not row.get("text", "").startswith("trackway.")
            and b"trackway." not in bytes.fromhex(row["data"])[:9]]


def named_types(bench, log):
    """The notes of types, as they stand."""
    texts = [bytes.fromhex(row["data"]) for row in bench.rows("dump", "--json", log) if row["record"] == "custom-event"]
    return [text[16:].decode() for text in texts if text[:16] == b"trackway.event\0\0"]


def events(bench, _):
    """Payloads from all registers, and none of them changed; sleds that are none stay. Sizes as far as they have room."""
    program = bench.build(["gcc"], "events", "events.c", PROGRAMS / "events.S")
    registers = ("rdi_rsi", "rsi_rdi", "rdi_rax", "rcx_rsi", "rbx_rbp", "r8_r15", "rsi_r12")
    typed = ("rdi_rsi_rdx", "rsi_rdx_rdi", "rdx_rdi_rsi", "rax_rcx_rbx", "r9_r10_r11", "rdi_rdx_rsi", "r14_rdi_rbp")
    wanted = [(None, f"custom {name}") for name in registers] + [(100 + i, f"typed {name}") for i, name in enumerate(typed)]
    for options, sizes, lost in (([], (1, 5000, 0, 200000, 1044480, 1044481), (0, 1044481)),
                                 (["--ring", "32K"], (1, 3969, 3970), (3970,)), (["--clock", "monotonic"], (7,), ())):
        out = bench.directory / "out.xray"
        command = [bench.tool, "record", "--to", "xray-fdr", "-o", out, *options, "--library", bench.library(), "--", program]
        done = subprocess.run([*command, *map(str, sizes)], stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode == 0, options, done.stderr)
        kept = [(None, chr(ord("a") + i) * size) for i, size in enumerate(sizes, 1) if size not in lost]
        expect(payloads(bench, out) == wanted + kept, options, [(kind, text[:40], len(text)) for kind, text in payloads(bench, out)])
        expect(bench.rows("info", "--json", out)[0]["lost_records"] == len(lost), options, "lost")
        expect(named_types(bench, out) == ["0000 no 0", "0001 o 0", "0002  0"], options, named_types(bench, out))
        out.unlink()


def clang_events(bench, words):
    """Those of clang, which its own runtime has: with it and without. Arguments beside them, and the names of types."""
    program = bench.build([*words, "-O0"], "sleds", "sleds.c")
    log, done = bench.record(program)
    expect(done.returncode == 0, done.returncode, done.stderr)
    wanted = [event for i in range(5) for event in ((None, "hello"), (7, "abc"), (i % 3, "of a name"))]
    expect(payloads(bench, log) == wanted, payloads(bench, log))
    arguments = [int(row["argument"]) if str(row["argument"]).isdigit() else int(row["argument"], 16)
                 for row in bench.rows("dump", "--json", log) if row["record"] == "call-argument"]
    expect(arguments == [0x1122334455667788 + i for i in range(5)], arguments)
    named = ["sql", "--json", log, "select name, count(*) as n from instant group by name"]
    wanted = {"early": 2, "request": 3, "typed event": 5, "custom event": 5}
    expect({row["name"]: row["n"] for row in bench.rows(*named)} == wanted, bench.rows(*named))
    wanted = {"early": 2, "mine": 1, "seven": 5, "request": 2, "custom event": 5}
    named += ["--event", "7=seven", "--event", "2=mine"]
    expect({row["name"]: row["n"] for row in bench.rows(*named)} == wanted, bench.rows(*named))
    part = bench.directory / "part.xray"
    subprocess.run([bench.tool, "cut", "--category", "*", "-o", part, log], check=True, stderr=subprocess.DEVNULL)
    for path in (log, part):
        named = [(row["event_type"], row.get("event_name")) for row in bench.rows("dump", "--json", path) if "event_type" in row]
        expect(sorted(set(named), key=str) == [(0, "early"), (1, "request"), (2, "request"), (7, None)], path, named)
    linked = bench.build([*words, "-O0"], "linked", "sleds.c", bench.archive(), "-Wl,--undefined=__cyg_profile_func_enter")
    subprocess.run([linked], check=True, env={**os.environ, "TRACKWAY_FLIGHT": str(bench.directory / "linked.xray")})
    expect(named_types(bench, bench.directory / "linked.xray") == ["0000 early", "0001 request", "0002 request"], "linked")
    subprocess.run(["strip", program], check=True)
    log, done = bench.record(program)  # whose runtime nobody finds
    expect(done.returncode == 0, done.returncode, done.stderr)
    named = [row.get("event_name") for row in bench.rows("dump", "--json", log) if "event_type" in row]
    expect(named == [None] * 10, named)


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
    # More threads than there are chunks: each record of leaf, middle, work and main, and of end, if it is a call, is written or counted.
    log, done = bench.record(program, "2000", "3", "return", options=["--max-size", "1M"])
    info = bench.rows("info", "--json", log)[0]
    written, lost = info["kinds"]["function.enter"] + info["kinds"]["function.exit"], info["lost_records"]
    expect(written + lost - 2 * (2000 * (3 + 3 + 1) + 1) in (0, 2) and bench.calls(log)["work"] < 256, written, lost)
    expect(done.returncode == 0 and f"{lost:,} records had no room" in done.stderr, done.stderr)
    out, done = bench.record(program, "2", "100000", "return", preexec_fn=lambda: limit_files(2 << 20))
    expect(done.returncode == 0 and "had no room: the disk was full or a limit reached" in done.stderr, out, done.returncode, done.stderr)


def closed(bench, words):
    """A program that closes all descriptors, and then has files of its own there: they stay as it wrote them, and the log is whole."""
    program, own = bench.build(words, "program", "closes.c"), bench.directory / "own"
    own.mkdir()
    log, done = bench.record(program, own, cwd=bench.directory)
    info = bench.rows("info", "--json", log)[0]
    expect(done.returncode == 0, done.returncode, done.stderr)
    expect(all(path.read_bytes() == b"kept" for path in own.iterdir()), [path.stat().st_size for path in own.iterdir()])
    expect(len(list(own.iterdir())) == 32, list(own.iterdir()))
    expect(bench.calls(log)["leaf"] == bench.counts()[0] == 3 * 200000 and not info["lost_records"], info["lost_records"])
    log, done = bench.record(program, own, "limit", cwd=bench.directory)
    expect(done.returncode == 0 and "had no room" in done.stderr, done.returncode, done.stderr)
    info = bench.rows("info", "--json", log)[0]
    expect(info["lost_records"] + info["kinds"]["function.enter"] + info["kinds"]["function.exit"] >= 3 * 2 * 200000, info)


def interrupted(bench, words):
    """`record` ends by a signal while it puts the log in order, which nobody reads here; what the program had of it is passed over."""
    program, out = bench.build(words, "program"), bench.directory / "out.xray"
    library = ["--library", bench.options.library] if bench.options.library else []
    os.mkfifo(out)

    def has(process, field):
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(rf"{field}:\s*(\w+)", status)[1], 16) >> (signal.SIGTERM - 1) & 1

    def await_(process, done):
        end = time.monotonic() + 100
        while not done():
            expect(process.poll() is None and time.monotonic() < end, "it waits", process.returncode)
            time.sleep(0.001)

    for calls, spare in (("100", 0), ("0", 1)):
        bench.directory.joinpath("counts").write_bytes(bytes(8 * MOST))
        command = [bench.tool, "record", "--to", "xray-fdr", "-o", out, *library, "--", program, bench.directory / "counts", "4", calls, "return"]
        with running(command, stderr=subprocess.DEVNULL) as process:
            await_(process, lambda: sum(bench.counts()[:4]) >= 400)
            for _ in range(spare):
                process.send_signal(signal.SIGTERM)
            await_(process, lambda: not has(process, "SigBlk"))
            for _ in range(spare):
                process.send_signal(signal.SIGTERM)
                await_(process, lambda: not has(process, "SigCgt"))
            process.send_signal(signal.SIGTERM)
            expect(process.wait() == -signal.SIGTERM, process.returncode)
        log, = bench.directory.glob("out.xray.*.part")
        bench.expect_all(log)
        log.unlink()


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
    # Numbers of functions are a program's own: what `cat` puts behind is a log of its own, with names of its own.
    two = bench.directory / "two.xray"
    two.write_bytes(log.read_bytes() + log.read_bytes())
    done = subprocess.run([bench.tool, "check", two], stdout=subprocess.PIPE, text=True, check=False)
    expect(f":0x{log.stat().st_size:x}: note: a log of another kind, clock or program begins" in done.stdout, done.stdout)
    done = subprocess.run([bench.tool, "stat", "--csv", two], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    expect(re.search("^main,[0-9]*,2,", done.stdout, re.M), done.stdout)
    sized = subprocess.run([bench.tool, "sql", two, "select bytes from trace"], stdout=subprocess.PIPE, text=True, check=True).stdout
    expect(sized.split()[-1] == str(two.stat().st_size), sized)
    # A part of both is of names, because numbers are of one.
    for command in ("cut", "repair"):
        subprocess.run([bench.tool, command, "--to-time", "1000s", two, "-o", part], stderr=subprocess.DEVNULL, check=True)
        table = (bench.directory / "part.xray.functions").read_text().splitlines()
        expect({"main", "leaf"} <= {line.split("\t")[1] for line in table} and "#" not in str(table), command, table)
    # The recorder's notes are no thread; logs are placed by the time of day, which it knows.
    tell = [bench.tool, "info", "--json"]
    info = json.loads(subprocess.run([*tell, two], stdout=subprocess.PIPE, check=True).stdout)
    expect(info["threads"] == 6 and len(info["logs"]) == 2, info)
    expect(all(thread["thread"] for thread in info["thread_list"]), info)
    earlier = log.rename(bench.directory / "earlier.xray")
    later, _ = bench.record(program, "2", "100", "return")
    merged = bench.directory / "merged.json"
    subprocess.run([bench.tool, "merge", "--align", "wall", later, earlier, "-o", merged], stderr=subprocess.DEVNULL, check=True)
    mains = sorted((event["ts"], event["pid"]) for event in json.loads(merged.read_text())["traceEvents"] if event.get("name") == "main")
    first = json.loads(subprocess.run([*tell, earlier], stdout=subprocess.PIPE, check=True).stdout)["thread_list"][0]["process"]
    expect(len(mains) == 2 and mains[0][1] == first and mains[0][0] < mains[1][0], mains)


def linked(bench, words):
    """With the recorder in it, which is not recorded twice: by `record`, and by the environment alone."""
    link = [bench.archive(), "-Wl,--undefined=__cyg_profile_func_enter"]
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
    expect(len(builds) == 5 and "trackway record" in record, builds, record)
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
    names = ("method2", "hidden3", "templated4", "many5", "local6", "local8", "operator++", "plain7", "~thing", "main")
    parts = {}
    for name, count in calls.items():
        part = next((part for part in names if part in name), None)
        if part:
            parts[part] = parts.get(part, 0) + count
    return parts


def chosen(bench, words):
    """Globs over names of C and C++, and what each of them leaves."""
    every = {"method2": 2, "hidden3": 3, "templated4": 4, "many5": 5, "local6": 7, "local8": 7, "plain7": 7, "operator++": 7, "~thing": 1,
             "main": 1}
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "names", "names.cpp")
    names = bench.directory / "list"
    names.write_text("# 3 _ZN5outer5thingD2Ev\nmain\nouter::thing::method2(outer::thing const&) const\n_ZL6local6v\n")
    for options, left in (
            ([], set(every)),
            (["--function", "main"], {"main"}),
            (["--function", "outer::*"], set(every) - {"local6", "local8", "plain7", "operator++", "main"}),
            (["--function", "_ZN5outer5thing*", "--not-function", "_ZN5outer5thingC?Ev"], {"~thing", "operator++"}),
            (["--function", "outer::inner::*", "--not-function", "*many?"], {"templated4"}),
            (["--function", "outer::(anonymous namespace)::hidden3(int)"], {"hidden3"}),
            (["--function", "outer::thing::~thing"], {"~thing"}),
            (["--not-function", "outer::inner::many5", "--not-function", "plain*"], set(every) - {"many5", "plain7"}),
            (["--not-function", f"@{names}"], set(every) - {"main", "method2", "local6"}),
            (["--function", f"@{names}"], {"main", "method2", "local6"})):
        log, done = bench.record(program, options=options)
        expect(done.returncode == 0, options, done.stderr)
        calls = bench.calls(log)
        expect(short(calls) == {name: every[name] for name in left}, options, calls)
    _, done = bench.record(program, options=["--function", "none"])
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.stderr)
    _, done = bench.record(program, options=["--not-function", "@none"])
    expect(done.returncode == 2 and "none: No such file" in done.stderr, done.stderr)
    _, done = bench.record(program, options=["--function", f"@{bench.directory}"])
    expect(done.returncode == 2 and f"{bench.directory}: Is a directory" in done.stderr, done.stderr)


FUNCTIONS = "main leaf throws catches passes again jumps jumper back handler waits takes in_coroutine resumes body leaves".split()


def bare(calls):
    """Names without what is in parentheses at their ends."""
    return {name.split("(")[0]: count for name, count in calls.items()}


CALL = re.compile(r'"record":"function\.([a-z-]+)",.*?"function":"([^("]*).*?"tsc":(\d+),"thread":(\d+)')


def nested(bench, log):
    """{thread: [(function, how many are around it)]} and {thread: calls that are open at its end}; exits are those of the last."""
    calls, stacks = {}, {}
    done = subprocess.run([bench.tool, "dump", "--json", log], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0 and done.stderr in ("", NO_CALLS), "dump", done.returncode, done.stderr)
    rows = CALL.findall(done.stdout)  # a million rows: as objects of JSON they took four times as long
    expect(len(rows) == done.stdout.count('"record":"function.'), "rows of another form")
    for kind, name, _, thread in sorted(rows, key=lambda row: int(row[2])):  # what handlers do is in buffers of their own
        own, stack = calls.setdefault(int(thread), []), stacks.setdefault(int(thread), [])
        if kind == "enter":
            own.append((name, len(stack)))
            stack.append(name)
        else:
            expect(stack and stack[-1] == name, "exit of", name, "in", stack[-5:], "behind", own[-5:])
            stack.pop()
    return calls, stacks


def unwind(bench, words):
    return bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "unwind", "unwind.cpp")


def ended(bench, words):
    """Exceptions, longjmp(), handlers that leave, other stacks: calls, and in what they are, as the program has them."""
    log, done = bench.record(unwind(bench, words), "ends")
    told = bench.counts()
    expect(done.returncode == 0 and 100 < told[0] < MOST - 1, done.returncode, done.stderr, told[0])
    wanted = [[], []]
    for call in told[1:1 + told[0]]:
        wanted[call >> 40].append((FUNCTIONS[call >> 32 & 255], call & 0xffffffff))
    calls, stacks = nested(bench, log)
    first, second = sorted(calls)
    for i, (own, found) in enumerate(zip(wanted[0], calls[first])):
        expect(own == found, "call", i, own, found, "behind", calls[first][max(0, i - 5):i])
    expect(calls[first] == wanted[0] and calls[second] == wanted[1], len(calls[first]), len(wanted[0]), calls[second])
    # also those with a part elsewhere, as gcc makes where exceptions are thrown and caught: they have ranges in DWARF
    for row in bench.rows("stat", "--json", log):
        expect(row["line"] > 0 and row["file"].endswith("unwind.cpp"), row)
    # gcc's hooks are called where pthread_exit() passes
    left = [] if words[:2] == ["gcc", "-finstrument-functions"] else ["body", *["leaves"] * 5]
    expect(not stacks[first] and stacks[second] == left, stacks)


def deep(bench, words):
    """A stack of 100,000 calls, and one that overflows and is left; and handlers that leave what they interrupt, which may be a record."""
    program = unwind(bench, words)
    log, done = bench.record(program, "deep")
    expect(done.returncode == 0 and bench.counts()[0] == 200002, done.returncode, done.stderr)
    calls = bare(bench.calls(log))
    expect(calls == {"main": 1, "down": 200002}, calls)
    ends = "select end_kind, max(depth) as depth, count(*) as count from slice group by end_kind"
    rows = bench.rows("sql", "--json", log, ends)  # hundreds of thousands of records: the tool counts them
    expect(rows == [{"end_kind": "ended", "depth": 100000, "count": 200003}], rows)
    log, done = bench.record(program, "overflow")
    began, handled = bench.counts()[0], bench.counts()[MOST - 1]
    calls = bare(bench.calls(log))
    expect(done.returncode == 0 and handled == 2 and calls["overflown"] == 2, done.returncode, done.stderr, calls)
    expect(began <= calls["down"] <= began + 2, began, calls)
    behind = "(select min(ts) from slice where name like 'overflown%')"
    rows = bench.rows("sql", "--json", log, f"select name, depth from slice where ts >= {behind} order by ts limit 2")
    expect([row["name"].split("(")[0] for row in rows] == ["overflown", "down"] and rows[1]["depth"] == 0, rows,
           "the second begins where the first did")
    log, done = bench.record(program, "storm")
    began, handled = bench.counts()[0], bench.counts()[MOST - 1]
    calls = bare(bench.calls(log))
    expect(done.returncode == 0 and handled >= 500 and handled <= calls["storm"] <= handled + 1, done.returncode, handled, calls)
    expect(began <= calls["down"] <= began + handled, began, calls)
    expect(bench.rows("info", "--json", log)[0]["lost_records"] == 0, "lost")


def deepest(bench, words):
    """A depth, also where exceptions and longjmp() pass frames, which then have no exit with sleds."""
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "deep", "deep.cpp")
    for depth, left in ((1, {"main": 1}), (2, {"main": 1, "down": 100, "thrower": 100, "jumper": 100}), (65, None)):
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
    """{function: calls} of a list of --count, and the symbols that its lines choose."""
    rows = path.read_text().splitlines()[1:]
    calls = {}
    for row in rows:
        if row.startswith("#"):
            told, _, name = row[2:].partition("%: ")
            calls[name] = calls.get(name, 0) + int(told.split(" call")[0].replace(",", ""))
    return calls, {row for row in rows if not row.startswith("#")}


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
    every = {"method2": 2, "hidden3": 3, "templated4": 4, "many5": 5, "local6": 7, "local8": 7, "plain7": 7, "operator++": 7, "~thing": 1,
             "main": 1}
    program = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "names", "names.cpp")
    out, _ = bench.record(program, options=["--count"])
    calls, _ = listed(out)
    expect(short(calls) == every, calls)
    names = out.rename(out.with_name("list"))
    _, done = bench.record(program, options=["--not-function", f"@{names}"])
    expect(done.returncode == 2 and "no calls were recorded" in done.stderr, done.returncode, done.stderr)


def programs_together(bench, words):
    """Logs of two programs, whose functions have the same numbers: each names its own, for every command."""
    program = bench.build(words, "program")
    first = bench.record(program, "2", "500", "return")[0].rename(bench.directory / "first.xray")
    names = bench.build([words[0].replace("gcc", "g++").replace("clang", "clang++"), *words[1:]], "names", "names.cpp")
    second, _ = bench.record(names)
    wanted = {"leaf": 1000, "middle": 1000, "work": 2, "main": 2, "plain7": 7, "outer::thing::operator++()": 7}
    for order in ([first, second], [second, first]):
        merged = bench.directory / "merged.fxt"
        subprocess.run([bench.tool, "merge", *order, "-o", merged], check=True, stderr=subprocess.PIPE)
        rows = {"stat": bench.rows("stat", "--json", *order), "merge": bench.rows("stat", "--json", merged),
                "sql": bench.rows("sql", "--json", *order, "select name, count(*) as count from slice group by name")}
        for what, found in rows.items():
            calls = collections.Counter()
            for row in found:
                calls[row["name"]] += row["count"]
            expect(all(calls[name] == count for name, count in wanted.items()), what, order, calls)
            expect(not any(name.startswith("#") for name in calls), what, order, calls)
    if "-fxray-instrument" in words:  # the other program has another build id: it names nothing
        done = subprocess.run([bench.tool, "stat", "--csv", "-b", program, second], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        expect("the build ids in the log are others" in done.stderr, done.stderr)
        expect(all(line.startswith("#") for line in done.stdout.splitlines()[1:]), done.stdout)


def aarch64_library(bench, compiler):
    library = bench.options.folder / "libtrackway_fdr.so"
    if library.exists():
        return library
    flags = ["-O2", "-std=gnu17", "-D_GNU_SOURCE", "-fPIC", "-mgeneral-regs-only", "-ftls-model=initial-exec",
             "-fno-stack-protector", "-fno-builtin", "-fvisibility=hidden", "-funsigned-char", "-pthread"]
    sources = sorted((ROOT / "src/flight").rglob("*.[cS]"))
    sources = [source for source in sources if source.name != "mark.S"]
    subprocess.run([compiler, *flags, "-I", ROOT / "src", "-I", ROOT / "include", "-shared", *sources, "-o", library], check=True)
    return library


def aarch64(bench, words):
    """The recorder of AArch64, built here, and a program with hooks, both by qemu-user."""
    if not shutil.which(words[0]) or not shutil.which("qemu-aarch64"):
        return f"no {words[0]}, or no qemu-aarch64"
    library, program = aarch64_library(bench, words[0]), bench.directory / "program"
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


def aarch64_sleds(bench, words):
    """The same with sleds, by clang's objects linked without LLVM's runtime, and in a library that comes and goes three times."""
    clang = bench.compiler("clang")
    if not shutil.which(words[0]) or not shutil.which("qemu-aarch64") or not shutil.which(clang):
        return f"no {words[0]}, no qemu-aarch64, or no clang"
    library, program, part = aarch64_library(bench, words[0]), bench.directory / "program", bench.directory / "part.o"
    flags = ["--target=aarch64-linux-gnu", "-isystem", "/usr/aarch64-linux-gnu/include", "-O2", "-g", "-D_GNU_SOURCE",
             "-fxray-instrument", "-fxray-instruction-threshold=1", "-fPIC", "-c"]
    plugin = bench.directory / "plugin.so"
    for source, arguments, wanted in (("plugin.c", None, None),
                                      ("calls.c", ("2", "500", "_exit", plugin),
                                       {"main": 1, "work": 2, "middle": 1000, "leaf": 1000, "plugged": 3}),
                                      ("tails.c", (), {"main": 1, "first": 10, "second": 10, "third": 10, "argument": 10})):
        done = subprocess.run([clang, *flags, PROGRAMS / source, "-o", part], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            return "clang has no headers for AArch64"
        if arguments is None:
            subprocess.run([words[0], "-shared", part, "-o", plugin], check=True)
            continue
        subprocess.run([words[0], part, "-o", program, "-pthread", "-ldl", "-lrt"], check=True)
        log = bench.directory / f"{source}.xray"
        done = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_PRELOAD={library}", "-E",
                               f"TRACKWAY_FLIGHT={log}", program, bench.directory / "counts", *arguments], check=False)
        expect(done.returncode == (3 if arguments else 0), source, done.returncode)
        expect(bench.calls(log) == wanted, source, bench.calls(log))
    arguments = [row["argument"] for row in bench.rows("dump", "--json", log) if row["record"] == "call-argument"]
    expect([int(str(value), 0) for value in arguments] == [0x1122334455667788 + i for i in range(10)], arguments)
    kinds = bench.rows("info", "--json", log)[0]["kinds"]
    expect(kinds["function.enter-args"] == 10 and kinds["function.exit"] == 41, kinds)
    aarch64_events(bench, words[0], library)
    return None


def aarch64_events(bench, compiler, library):
    """Sleds of events as clang writes them since 17, from all registers. Debian's clang writes none: the object is made up."""
    program, log = bench.directory / "events", bench.directory / "events.xray"
    subprocess.run([compiler, "-O2", PROGRAMS / "events.c", PROGRAMS / "events_aarch64.S", "-o", program], check=True)
    done = subprocess.run(["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_PRELOAD={library}", "-E",
                           f"TRACKWAY_FLIGHT={log}", program, "1", "5000", "0"], stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 0, done.returncode, done.stderr)
    registers = ("x0_x1", "x1_x0", "x0_x9", "x10_x1", "x19_x20", "x8_x27", "x18_x30", "x17_x16")
    typed = ("x0_x1_x2", "x1_x2_x0", "x2_x0_x1", "x9_x10_x19", "x3_x4_x5", "x0_x2_x1", "x30_x0_x21")
    wanted = [(None, f"custom {name}") for name in registers] + [(100 + i, f"typed {name}") for i, name in enumerate(typed)]
    wanted += [(0, "zero"), (None, "b"), (None, "c" * 5000)]
    expect(payloads(bench, log) == wanted, [(kind, text[:40]) for kind, text in payloads(bench, log)])
    expect(bench.rows("info", "--json", log)[0]["lost_records"] == 1, "the one without a payload")
    named = [row.get("event_name") for row in bench.rows("dump", "--json", log) if "event_type" in row]
    expect(named == [None] * 7 + ["no 0"], named)


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
    for words, source, why in ((["gcc", "-static"], "calls.c", "linked statically"),
                               (["gcc", "-fpatchable-function-entry=5"], "calls.c", "return addresses would have to be replaced"),
                               (["gcc", "-pg"], "calls.c", "-pg tells where functions begin"),
                               (["gcc", "-pg", "-mfentry"], "calls.c", "-pg tells where functions begin"),
                               (["gcc", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-mnop-mcount", "-mrecord-mcount"], "calls.c",
                                "-pg tells where functions begin"),
                               (["gcc", "-finstrument-functions"], "own.c", "functions of its own"),
                               (["gcc", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-minstrument-return=nop5"], "own_returns.c",
                                "functions of its own"),
                               (["gcc", "-static", "-fno-pie", "-no-pie", "-pg", "-mfentry", "-minstrument-return=nop5"], "calls.c",
                                "linked statically"),
                               (["clang", "-fxray-instrument", "-fxray-instruction-threshold=1"], "calls.c", None)):
        program = bench.build(words, "other", source)
        _, done = bench.record(program, "1", "1", "return", options=["--function", "none"] if not why else [], cwd=bench.directory)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1, words, done.returncode, done.stderr)
        expect((why or "sleds, of which none was left") in done.stderr, words, done.stderr)
    _, done = bench.record(bench.build(["gcc", "-finstrument-functions"], "hooks"), "1", "1", "return", options=["--function", "none"])
    expect(done.returncode == 2 and "--function and --not-function leave none" in done.stderr, done.returncode, done.stderr)
    _, done = bench.record(program, "1", "1", "return", options=["--library", bench.directory])
    expect(done.returncode == 2 and f"{bench.directory}: no regular file" in done.stderr, done.returncode, done.stderr)
    if os.getuid() == 0:
        program = bench.build(["gcc", "-finstrument-functions"], "secure")
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        _, done = bench.record(program, "1", "1", "return")
        expect(done.returncode == 2 and "set-user-id" in done.stderr and done.stderr.count("\n") == 1, done.returncode, done.stderr)
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
    returns = BUILDS["gcc -minstrument-return, patched"]
    for name, words in BUILDS.items():
        yield f"{name}: every way to end", ends, words
    for what, words in (("hooks", hooks), ("sleds", sleds), ("returns", returns)):
        yield f"{what}: {options.kills} times killed, every committed call is read", killed, words
        yield f"{what}: the parent is killed", orphaned, words
        yield f"{what}: forked children have logs of their own", children, words
        yield f"{what}: exec", again, words
        yield f"{what}: signal handlers", signals, words
        yield f"{what}: 2,000 threads", threads, words
        yield f"{what}: the newest alone", ring, words
        yield f"{what}: no room", full, words
        yield f"{what}: descriptors are closed", closed, words
        yield f"{what}: in memory", in_memory, words
        yield f"{what}: llvm-xray reads it", llvm, words
        yield f"{what}: a program that runs is asked", asked, words
        yield f"{what}: a program asks for what was since a moment", moments, words
        yield f"{what}: what is not older", aged, words
        yield f"{what}: recorded for a time", attached, words
        yield f"{what}: core dumps", cores, words
    yield "descriptors of forked children", descriptors, []
    yield "eight deaths, with LLVM's runtime beside", deaths, sleds
    yield "hooks: variables that are wrong", wrong, hooks
    yield "hooks: sanitizers", sanitized, hooks
    yield "hooks: libraries that are loaded and unloaded", plugins, hooks
    yield "sleds: libraries that are loaded and unloaded", plugged, sleds
    yield "returns: libraries that are loaded and unloaded", plugged, returns
    yield "sleds of events, from all registers", events, []
    yield "sleds of events and arguments", clang_events, sleds
    yield "a program without calls", nothing, hooks
    yield "logs that an earlier run left", stale, hooks
    yield "a signal while a log is put in order", interrupted, hooks
    yield "what is no log, and outputs that cannot be", misplaced, []
    yield "system calls that a sandbox refuses", refused, hooks
    yield "forked children that can make no log", limited, hooks
    yield "handlers that interrupt handlers", trapped, hooks
    yield "hooks: linked with the recorder", linked, hooks
    yield "sleds: linked with the recorder", linked, BUILDS["clang -fxray-instrument -fxray-modes=none, stripped"][:-1]
    for what, words in (("hooks", hooks), ("hooks of clang", BUILDS["clang -finstrument-functions"]), ("sleds", sleds),
                        ("returns", returns), ("returns that are called", BUILDS["gcc -minstrument-return=call"])):
        yield f"{what}: calls that do not return", ended, words
        yield f"{what}: deep stacks, handlers that leave", deep, words
        yield f"{what}: chosen functions", chosen, words
        yield f"{what}: calls that are too deep", deepest, words
        yield f"{what}: calls that are too short", shortest, words
        yield f"{what}: counted alone", counted, words
        yield f"{what}: what was counted names functions of C++", counted_names, words
    yield "hooks: logs of two programs", programs_together, hooks
    yield "sleds: logs of two programs", programs_together, sleds
    yield "README's ways to build", readme, hooks
    yield "hooks on AArch64, by qemu-user", aarch64, ["aarch64-linux-gnu-gcc", "-finstrument-functions"]
    yield "sleds on AArch64, by qemu-user", aarch64_sleds, ["aarch64-linux-gnu-gcc"]
    for compiler in ("g++", "clang++"):
        yield f"the demo, by {compiler}", demo, [compiler]
    yield "a part of a log has names, and two in one file are told", cut, hooks


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
    failed, kept = 0, tempfile.TemporaryDirectory()
    options.folder, options.programs = pathlib.Path(kept.name), {}
    for number, (name, test, words) in enumerate(rows, 1):
        skipped = why = None
        with tempfile.TemporaryDirectory() as directory:
            bench = Bench(options, pathlib.Path(directory))
            try:
                skipped = test(bench, words)
            except (Fails, KeyError, subprocess.SubprocessError) as error:
                why = f"{type(error).__name__}: {error}"
        failed += why is not None
        print("ok" if why is None else "not ok", number, "-", name, f"# SKIP {skipped}" if skipped else "", flush=True)
        for line in bench.notes:
            print("#", line, flush=True)
        if why is not None:
            print("#", why.replace("\n", "\n# "), flush=True)
    kept.cleanup()
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
