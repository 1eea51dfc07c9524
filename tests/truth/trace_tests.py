#!/usr/bin/python3
"""trace_tests - what the tracer's images hold, by the second decoder of FXT and by what programs count. Prints TAP.

Each program runs with TRACKWAY_TRACE; its image is converted by the tool, and the archive decoded by fxt.py, which knows
nothing of the library. Programs that are killed count in shared memory what they have committed: it must all be there.
--kills N: so many of them; --seed: which moments.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import csv
import collections
import ctypes
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import fxt

TRUTHS = 1024
BILLION = 10**9
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    pass


def expect(holds, *what):
    if not holds:
        raise Failed(" ".join(str(part) for part in what)[:2000])


def without_trace():
    return {name: value for name, value in os.environ.items() if not name.startswith("TRACKWAY_TRACE")}


class Run:
    """A directory, and the programs and the tool in it."""

    def __init__(self, options, folder):
        self.tool, self.programs, self.folder = options.tool, options.programs, pathlib.Path(folder)

    def environment(self, settings, name="out-%p.fxt"):
        return {**os.environ, "TRACKWAY_TRACE": name, "TRACKWAY_TRACE_OPTIONS": settings}

    def program(self, name, *words, settings="", limits=None):
        done = subprocess.run([self.programs / name, *map(str, words)], cwd=self.folder, capture_output=True,
                              env=self.environment(settings), preexec_fn=limits)
        expect(done.returncode == 0, name, words, "ended with", done.returncode, done.stderr.decode())

    def images(self):
        return sorted(self.folder.glob("out-*.fxt"))

    def run(self, *words, stdin=None):
        return subprocess.run([self.tool, *map(str, words)], cwd=self.folder, capture_output=True, stdin=stdin)

    def findings(self, path):
        done = self.run("check", "--json", path)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return collections.Counter(f"{row['rule']} {row['severity']}" for row in rows if "rule" in row)

    def archive(self, path):
        """The rows of the archive that the image makes: times are nanoseconds in it."""
        damaged = []
        rows = [row for row, _ in fxt.records(self.converted(path), damaged=damaged)]
        expect(not damaged, "the archive is damaged:", damaged[:3])
        expect_nanoseconds(rows)
        return rows

    def converted(self, path):
        target = self.folder / "archive.fxt"
        done = self.run("convert", path, "-o", target)
        expect(done.returncode == 0, "convert:", done.stderr.decode())
        return target.read_bytes()


def expect_nanoseconds(rows):
    rates = [row["ticks_per_second"] for row in rows if row["record"] == "initialization"]
    expect(set(rates) == {BILLION}, "rates", rates)


def arguments(row):
    return {argument["name"]: (argument["type"], argument["value"]) for argument in row["arguments"]}


def named(rows, kind, name):
    found = [row for row in rows if row["record"] == kind and row.get("name") == name]
    expect(len(found) == 1, len(found), kind, name)
    return found[0]


NUMBERS = {"i32": ("int32", -5), "u32": ("uint32", 4000000000), "i64": ("int64", -2**63), "u64": ("uint64", 2**64 - 1),
           "f64": ("double", -0.5)}
OTHERS = {"text": ("string", "café"), "pointer": ("pointer", 0xabc), "koid": ("koid", 77), "yes": ("bool", True),
          "no": ("bool", False), "null": ("null", None), "bytes": ("blob", "0100020304"), "empty": ("string", ""),
          "none": ("string", "")}
DEDUCED = {"bool": ("bool", True), "int": ("int32", -1), "unsigned": ("uint32", 1), "long": ("int64", -2),
           "ulong": ("uint64", 2), "llong": ("int64", -3), "ullong": ("uint64", 3), "float": ("double", 1.5),
           "double": ("double", 2.5), "text": ("string", "constant"), "array": ("string", "mutable"),
           "short": ("int32", -7), "pointer": ("pointer", 0x10)}
LARGE = bytes(ord("a") + i % 26 for i in range(70000))


def check_types(rows):
    row = named(rows, "event.instant", "numbers")
    expect(arguments(row) == NUMBERS and row["scope"] == 0, row)
    row = named(rows, "event.instant", "others")
    found = arguments(row)
    found["null"] = ("null", found["null"][1] if found["null"][1] else None)
    expect(found == OTHERS and row["scope"] == 1, row)
    row = named(rows, "event.instant", "deduced")
    found = arguments(row)
    expect(found.pop("uchar")[1] == 200, row)
    expect(found == DEDUCED and row["scope"] == 2, row)


def check_scopes(rows):
    outer = [row for row in rows if row.get("name") == "outer"]
    inner = [row for row in rows if row.get("name") == "inner"]
    expect(len(outer) == 2 and len(inner) == 2, outer, inner)
    for around, inside, value in zip(outer, inner, (1, 2)):
        expect(around["record"] == inside["record"] == "event.duration-complete", around)
        expect(around["timestamp"] <= inside["timestamp"] <= inside["end_time"] <= around["end_time"], around, inside)
        expect(arguments(inside) == {"value": ("int32", value), "when": ("string", "begin")}, inside)
    expect(arguments(named(rows, "event.duration-begin", "pair")) == {"a": ("int32", 1)})
    expect(arguments(named(rows, "event.duration-end", "pair")) == {"b": ("int32", 2)})


def check_ids(rows):
    row = named(rows, "event.counter", "counter")
    expect(row["counter_id"] == 9 and arguments(row) == {"x": ("int32", 1), "y": ("double", 2.0)}, row)
    for step in ("begin", "instant", "end"):
        expect(named(rows, f"event.async-{step}", "async")["async_correlation_id"] == 10)
    for step in ("begin", "step", "end"):
        expect(named(rows, f"event.flow-{step}", "flow")["flow_correlation_id"] == 11)


def check_others(rows, process):
    expect([row["message"] for row in rows if row["record"] == "log"] == ["a line"])
    blobs = [(row["name"], bytes.fromhex(row["payload"])) for row in rows if row["record"] == "blob"]
    expect(blobs[0] == ("small", bytes([1, 0, 2, 3, 4])), blobs[0])
    expect([len(data) for name, data in blobs[1:]] == [32000, 32000, 6000], [len(data) for _, data in blobs])
    expect(b"".join(data for name, data in blobs if name == "large") == LARGE)
    row = named(rows, "userspace-object", "object")
    expect(row["pointer"] == 0x1234 and arguments(row) == {"size": ("int32", 3)} and row["process"] == process, row)
    expect(named(rows, "event.instant", "alert")["scope"] == 1)
    row = named(rows, "event.instant", "fifteen")
    expect([argument["name"] for argument in row["arguments"]] == [str(i) for i in range(1, 16)], row)
    found = arguments(named(rows, "event.instant", "cut"))
    expect(found["whole"] == ("blob", LARGE[:20000].hex()) and "gone" not in found, list(found))
    expect(LARGE[:20000].hex().startswith(found["cut"][1]) and len(found["cut"][1]) > 20000, len(found["cut"][1]))


def check_functions(rows, process, tick):
    """tick: how many ns ten ticks of the clock are at most."""
    row = named(rows, "event.instant", "name5")
    expect(row["category"] == "functions" and arguments(row) == {"n": ("int32", 4)}, row)
    fiber = named(rows, "kernel-object", "fiber")
    row = named(rows, "event.duration-complete", "on fiber")
    expect(row["thread"] == fiber["koid"] and row["thread"] >> 63 and 0 < row["end_time"] - row["timestamp"] <= tick, row)
    expect(named(rows, "event.instant", "own")["thread"] == process)
    expect(named(rows, "kernel-object", "first thread")["koid"] == process)
    expect(not any(row.get("name") == "not wanted" for row in rows), "a category that is off")


CATEGORIES = "category=types:scopes:ids:oth*:functions"


def check_cut(run, image):
    """What did not fit in records, and was too deep to be kept, stays in the archive, and is told."""
    data = image.read_bytes()
    cut, = struct.unpack_from("<Q", data, 192)
    for name in image, "archive.fxt":
        expect(run.findings(name) == {"fxt.image-cut note": 1}, name, run.findings(name))
    image.write_bytes(data[:208] + struct.pack("<Q", 8) + data[216:])
    lost = [arguments(row) for row in run.archive(image) if row["record"] == "kernel-object"][-1]
    expect(lost == {"events_cut": ("uint64", cut), "scopes_unkept": ("uint64", 8)} and cut, lost, cut)
    expect(run.findings("archive.fxt") == {"fxt.image-cut note": 1, "fxt.scopes-unkept note": 1}, run.findings("archive.fxt"))
    expect(b"8 durations began more than 32 deep" in run.run("check", "archive.fxt").stdout, "the note")


def check_every(run, tick=10):
    image, = run.images()
    process = int(image.stem.split("-")[1])
    expect(os.stat(image).st_mode & 0o777 == 0o600, "the mode of the file")
    rows = run.archive(image)
    check_types(rows)
    check_scopes(rows)
    check_ids(rows)
    check_others(rows, process)
    check_functions(rows, process, tick)
    check_cut(run, image)


def every(run, program, clock):
    run.program(program, settings=f"clock={clock},{CATEGORIES}")
    check_every(run)


def compile_with(run, compiler, program, *options, source=None):
    """A program with the library's sources, in the run's folder."""
    source = source or ROOT / f"tests/programs/trace/{program}.c"
    built = subprocess.run([compiler, *options, "-O1", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-funsigned-char",
                            "-D_GNU_SOURCE", f"-I{ROOT}/src", f"-I{ROOT}/include", "-pthread", "-o", run.folder / program,
                            source, *ROOT.glob("src/trace/*.c"), "-ldl"],
                           capture_output=True)
    expect(built.returncode == 0, built.stderr.decode())


def races(run):
    """Under ThreadSanitizer: threads that come and go, and a ring of which they take from each other."""
    compile_with(run, "gcc", "stress", "-fsanitize=thread", "-Wno-tsan")  # fences order what the file's readers see
    for settings in ("mode=circular,size=64K", "mode=oneshot,size=64K"):
        done = subprocess.run([run.folder / "stress", "storm", "60"], cwd=run.folder, capture_output=True,
                              env=run.environment(settings))
        expect(done.returncode == 0 and not done.stderr, done.stderr.decode())
    process = subprocess.Popen([run.folder / "stress", "commit", "truth", "3"], cwd=run.folder, stderr=subprocess.PIPE,
                               env=run.environment("mode=circular,size=64K"))
    end = time.monotonic() + 60
    while count_of(run) < 5000 and time.monotonic() < end and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    said = process.communicate()[1].decode()
    expect(count_of(run) >= 5000 and not said, count_of(run), said)


def races_outside(run):
    """A program under ThreadSanitizer, gcc's and clang's, with the library as it is installed: nothing is found."""
    objects = run.folder / "objects"
    objects.mkdir()
    sources = [*ROOT.glob("src/trace/*.c"), ROOT / "tests/programs/trace/callers.c"]
    for compiler in "gcc", "clang":
        if not shutil.which(compiler):
            expect("CI" not in os.environ, "no", compiler)
            continue
        flags = ["-O2", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}/src", f"-I{ROOT}/include", "-pthread"]
        for source in sources:
            instrumented = ["-fsanitize=thread"] if source.name == "callers.c" else []
            built = subprocess.run([compiler, *flags, *instrumented, "-c", source, "-o", objects / f"{source.stem}.o"], capture_output=True)
            expect(built.returncode == 0, built.stderr.decode())
        built = subprocess.run([compiler, "-fsanitize=thread", "-pthread", "-o", objects / compiler, *objects.glob("*.o")],
                               capture_output=True)
        expect(built.returncode == 0, built.stderr.decode())
        for settings in "mode=circular,size=64K", "mode=streaming,clock=tsc":
            done = subprocess.run([objects / compiler, "races"], cwd=run.folder, env=run.environment(settings), capture_output=True)
            expect(done.returncode == 0 and not done.stderr, compiler, settings, done.stderr.decode())


def early_fork(run):
    """Under AddressSanitizer, whose allocator a thread that begins has locked, a fork waits for the helper's thread."""
    for flags, said in ((), b"did not wait\n"), (("-fsanitize=address",), b"waited\n"):
        compile_with(run, "gcc", "early_fork", *flags)
        done = subprocess.run([run.folder / "early_fork"], cwd=run.folder, capture_output=True, env=run.environment(""), timeout=60)
        expect(done.returncode == 0 and done.stdout == said and not done.stderr, flags, done)


def aarch64(run):
    """The same built for AArch64, under qemu-user."""
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if not compiler or not emulator:
        return expect("CI" not in os.environ, "no compiler or emulator")
    compile_with(run, compiler, "every", "-static")
    done = subprocess.run([emulator, run.folder / "every"], cwd=run.folder, capture_output=True,
                          env=run.environment(CATEGORIES))
    expect(done.returncode == 0, done)
    return check_every(run, tick=1000)  # CNTVCT of qemu-user counts 62.5 MHz


FUCHSIA = {"bool": ("bool", True), "int": ("int32", -1), "uint8": ("uint32", 200), "uint16": ("uint32", 40000),
           "ulong": ("uint64", 2), "double": ("double", 2.5), "text": ("string", "constant"), "literal": ("string", "Hi!"),
           "array": ("string", "mutable"), "string": ("string", "owned"), "view": ("string", "view"),
           "pointer": ("pointer", 16), "null": ("null", None), "plain": ("uint32", 3), "scoped": ("uint64", 2**40)}


def without_null(found):
    return {name: (kind, None) if kind == "null" else (kind, value) for name, (kind, value) in found.items()}


def check_fuchsia_values(rows, deduces):
    row = named(rows, "event.instant", "numbers")
    expect(arguments(row) == NUMBERS and row["scope"] == 0, row)
    row = named(rows, "event.instant", "others")
    wanted = {name: OTHERS[name] for name in ("text", "pointer", "koid", "yes", "no", "null")}
    expect(without_null(arguments(row)) == {**wanted, "part": ("string", "part")} and row["scope"] == 1, row)
    row = named(rows, "event.instant", "fifteen")
    expect(arguments(row) == {str(n): ("int32", n) for n in range(1, 16)} and row["scope"] == 2, row)
    if deduces:
        row = named(rows, "event.duration-complete", "deduced")
        expect(without_null(arguments(row)) == FUCHSIA, row)


def check_fuchsia_events(rows):
    depths = {"first": 2, "second": 1, "third": 0}
    for name, depth in depths.items():
        expect(arguments(named(rows, "event.duration-complete", name)) == {"depth": ("int32", depth)}, name)
        expect(named(rows, "event.instant", name)["category"] == "+kept", name)
    expect(arguments(named(rows, "event.duration-complete", "inner")) == {"n": ("int32", 1)})
    outer, pair = named(rows, "event.duration-complete", "outer"), named(rows, "event.duration-begin", "pair")
    expect(outer["timestamp"] <= pair["timestamp"] <= outer["end_time"], outer, pair)
    expect(arguments(named(rows, "event.duration-end", "pair")) == {"b": ("int32", 2)})
    check_ids(rows)
    for kind, step in (("begin", "one"), ("step", "two"), ("end", "three")):
        around, flow = named(rows, "event.duration-complete", step), named(rows, f"event.flow-{kind}", "instaflow")
        expect(around["timestamp"] <= flow["timestamp"] <= around["end_time"], around, flow)
    expect(not [row for row in rows if row.get("name") == "not wanted"], "what is off is there")


def check_fuchsia_others(rows):
    threads = {name: {row["thread"] for row in rows if row.get("category") == "+virtual" and row["name"] == name}
               for name in ("on a queue", "waiting", "submit", "on another")}
    expect(threads["on a queue"] == threads["waiting"] and len(threads["waiting"]) == len(threads["on another"]) == 1, threads)
    expect(threads["submit"] == threads["waiting"] | threads["on another"] and len(threads["submit"]) == 2, threads)
    names = {row["koid"]: row["name"] for row in rows if row["record"] == "kernel-object"}
    expect([names[koid] for name in ("waiting", "on another") for koid in threads[name]] == ["queue", "other"], names)
    blobs = [(row["name"], row["payload"]) for row in rows if row["record"] == "blob"]
    expect([name for name, _ in blobs] == ["with arguments", "attached", "blob"], blobs)
    expect(arguments(named(rows, "event.instant", "with arguments")) == {"n": ("int32", 1)})
    row = named(rows, "userspace-object", "handle")
    expect(row["pointer"] == 0x77 and arguments(row) == {"description": ("string", "some object")}, row)
    expect(named(rows, "event.instant", "alert")["scope"] == 1)


def fuchsia(run):
    """The macros under Fuchsia's names, in C99, C11 and C++; and none of them."""
    for standard in ("c99", "c11", "cpp"):
        run.program(f"trace-fuchsia-{standard}", settings="category=+*")
        image, = run.images()
        rows = run.archive(image)
        check_fuchsia_values(rows, standard == "cpp")
        check_fuchsia_events(rows)
        check_fuchsia_others(rows)
        expect(not run.findings(image), run.findings(image))
        image.unlink()
    run.program("trace-fuchsia-off")
    expect(not run.images(), "an image of a program without tracing")


EDGES = {"five": ("int32", -3), "whole": ("uint32", 4000000000), "one": ("bool", True),
         "changing": ("int32", -2), "long double": ("double", 1.5), "letter": ("int32", 97), "file": ("pointer", 0),
         "literal": ("string", "literal")}
EMPTY = [("", "no category"), ("empty", ""), ("empty", ""), ("", ""), ("", "on none")]


def check_edges(rows):
    found = arguments(named(rows, "event.instant", "edges"))
    expect(found.pop("function")[0] == "pointer" and found.pop("three")[1] == 5 and found == EDGES, found)
    lines = [(row["name"], row["timestamp"], row["end_time"]) for row in rows
             if row.get("category") == "lines" and row["record"] == "event.duration-complete"]
    named(rows, "event.instant", "lines")
    lines.sort(key=lambda line: (line[1], -line[2]))
    expect([name for name, _, _ in lines] == ["first", "second"] + ["around", "inside"] * 2, lines)
    instants = [(row["category"], row["name"]) for row in rows if row["record"] == "event.instant"]
    expect([label for label in instants if "" in label] == EMPTY, instants)
    expect(arguments(named(rows, "event.instant", "no category")) == {"none": ("string", ""), "": ("int32", 1)})
    expect([row["message"] for row in rows if row["record"] == "log"] == ["", "", "", "text"], "log")
    blobs = [(row["name"], bytes.fromhex(row["payload"])) for row in rows if row["record"] == "blob"]
    expect(blobs == [("", b""), ("", b""), ("blob", b"text")], blobs)


def edges(run):
    """Bit-fields, durations on one line, names that are NULL; nothing is evaluated while nothing is recorded."""
    for standard in ("c99", "c11", "cpp"):
        program = run.programs / f"trace-edges-{standard}"
        for environment, evaluated in ((run.environment(""), "6"), (without_trace(), "0")):
            done = subprocess.run([program], cwd=run.folder, env=environment, capture_output=True, text=True)
            expect(done.returncode == 0 and done.stdout.strip() == evaluated and not done.stderr, standard, done)
        image, = run.images()
        check_edges(run.archive(image))
        expect(run.findings(image) == {"fxt.image-cut note": 1} or not run.findings(image), run.findings(image))
        image.unlink()


JUMPS = """#include <trackway/trace.h>
int jump(int value) {
    if (value)
        goto end;
    TW_TRACE_DURATION("a", "b");
end:
    return value;
}"""
TEMPORARY = """#include <string>
#include <trackway/trace.h>
void temporary(const std::string &lasting) {
    TW_TRACE_INSTANT("a", "b", TW_SCOPE_THREAD, TW_ARG("text", std::string("x")));
    TW_TRACE_DURATION("a", "b", TW_ARG("text", lasting));
    TW_TRACE_DURATION("a", "b", TW_ARG("text", std::string("x")));
}"""
VARIABLE = """#include <trackway/trace.h>
void variable(const char *name) { TW_TRACE_%s("a", name); }"""
SIXTEEN = """#include <trackway/trace.h>
void sixteen(void) { TW_TRACE_%s); }"""


def compile_text(compiler, source):
    words = ["-xc++" if "c++" in compiler[1] else "-xc", "-fsyntax-only", "-Wall", "-Wextra", f"-I{ROOT}/include", "-"]
    return subprocess.run([*compiler, *words], input=source, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})


def refused(run):
    """What a compiler must refuse: a duration that is jumped over, sixteen arguments, a name that changes, a text that is gone."""
    del run
    sixteen = ", ".join(f'TW_I32("{n}", {n})' for n in range(16))
    many = "tw_trace_at_most_15_arguments"
    c = {JUMPS: "jump", SIXTEEN % f'DURATION("a", "b", {sixteen}': many, SIXTEEN % f'END("a", "b", {sixteen}': many,
         SIXTEEN % f'OBJECT(0, "b", {sixteen}': many, VARIABLE % "DURATION": "constant", VARIABLE % "BEGIN": "constant"}
    cpp = {**c, TEMPORARY: "temporary_&"}
    for words, sources in (("gcc -std=c99", c), ("gcc -std=c11", c), ("c++ -std=c++11", cpp), ("clang -std=c99", c)):
        for source, word in sources.items() if shutil.which(words.split()[0]) else ():
            done = compile_text(words.split(), source)
            expect(done.returncode != 0 and word in done.stderr, words, source, done.stderr)
    done = compile_text(["c++", "-std=c++11"], TEMPORARY.replace('std::string("x")));\n}', "lasting));\n}"))
    expect(done.returncode == 0 and not done.stderr, done.stderr)


def clocks(run):
    """An event's time is CLOCK_MONOTONIC's, whatever counts."""
    before = time.monotonic_ns()
    run.program("trace-every-c11", settings="clock=tsc,category=types:functions")
    after = time.monotonic_ns()
    times = [row["timestamp"] for row in run.archive(run.images()[0]) if "timestamp" in row]
    expect(before <= min(times) and max(times) <= after, before, min(times), max(times), after)


def names(run):
    """Never over a file: the next free number."""
    for _ in range(3):
        subprocess.run([run.programs / "trace-every-c99"], cwd=run.folder, env=run.environment("category=types:functions", "a.b.fxt"),
                       check=True)
    found = sorted(path.name for path in run.folder.iterdir())
    expect(found == ["a.b-1.fxt", "a.b-2.fxt", "a.b.fxt"], found)


def quiet(run):
    """What cannot be recorded harms nothing; one line says what is wrong."""
    program = [run.programs / "trace-stress", "storm", "50"]
    for name, settings, word in (("/nowhere/out.fxt", "", "/nowhere/out.fxt: No such file"),
                                 ("/proc/out.fxt", "", "/proc/out.fxt: No such file"),
                                 ("out-%p.fxt", "mode=other", "mode=other"), ("out-%p.fxt", "mode=oneshot,size=4K", "size=4K"),
                                 ("out-%p.fxt", "control=off,size=64Q", "size=64Q"), ("out-%p.fxt", "what", "what")):
        done = subprocess.run(program, cwd=run.folder, env=run.environment(settings, name), capture_output=True, text=True)
        expect(done.returncode == 0 and not done.stdout and not run.images(), name, settings, done)
        expect(word in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("trackway: "), done.stderr)
    run.program("trace-stress", "storm", 50, settings="mode=oneshot,size=64k")
    expect(len(run.images()) == 1, run.images())


def unread(run):
    """Whoever does not read what the program says, or has closed it, is not harmed by the line."""
    program = [run.programs / "trace-stress", "storm", "5"]
    ends = os.pipe()
    os.close(ends[0])
    for words in ({"stderr": ends[1]}, {"preexec_fn": lambda: os.close(2)}):
        done = subprocess.run(program, cwd=run.folder, env=run.environment("mode=other"), **words)
        expect(done.returncode == 0, words, done.returncode)
    os.close(ends[1])


def small_disk(run):
    """A disk of 256 KB: what fits is there, the rest is counted."""
    script = 'mount -t tmpfs -o size=256k none . && cd "$PWD" && "$0" strings 20000; cp out-*.fxt "$1"'
    kept = run.folder / "kept"
    disk = run.folder / "disk"
    kept.mkdir()
    disk.mkdir()
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, run.programs / "trace-stress", kept], cwd=disk,
                          env=run.environment(""), capture_output=True, text=True)
    if "unshare" in done.stderr or "mount" in done.stderr:
        return expect("CI" not in os.environ, done.stderr)
    expect(done.returncode == 0, done)
    image, = kept.glob("out-*.fxt")
    findings = run.findings(image)
    expect(image.stat().st_blocks <= 512 and not [rule for rule in findings if rule.endswith("error")], findings)
    return expect("fxt.records-dropped warning" in findings, findings)


def limit_files(size=1 << 18):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def full(run):
    """A file that may not grow: the rest is dropped, and counted."""
    run.program("trace-stress", "forks", "truth", 1, limits=limit_files)
    process = run.folder / "truth"
    image, = run.images()
    findings = run.findings(image)
    expect(image.stat().st_size <= 1 << 18 and process.exists())
    expect(not [rule for rule in findings if rule.endswith("error")], findings)


def closed(run):
    """Descriptors that the program has closed and opened anew are its own."""
    words = [run.programs / "trace-stress", "closed"]
    for environment in (without_trace(), run.environment(""), run.environment("control=off"), run.environment("mode=circular")):
        done = subprocess.run(words, cwd=run.folder, env=environment, capture_output=True)
        expect(done.returncode == 0, done)
    expect(any(row.get("name") == "before" for row in run.archive(run.images()[0])), run.images())
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--", *words) as manager:
        said = manager.wait()
        expect(manager.process.returncode == 0, said)


def tiny(run):
    """A file that may not even hold its header is none, and the program has its own way with the limit."""
    run.program("trace-stress", "storm", 1, limits=lambda: limit_files(3000))
    expect(not run.images(), run.images())
    done = run.run("record", "--to", "fxt", "-o", "out.fxt", "--", "grep", "SigIgn", "/proc/self/status")
    ignored = int(done.stdout.split()[1], 16)
    expect(not ignored >> (signal.SIGXFSZ - 1) & 1, done)


def storm(run):
    count = 10000 if os.environ.get("TRACKWAY_STRIDE", "1") == "1" else 2000  # fewer under sanitizers
    run.program("trace-stress", "storm", count)
    rows = run.archive(run.images()[0])
    values = sorted(arguments(row)["value"][1] for row in rows if row.get("name") == "once")
    expect(values == list(range(count)), len(values))
    threads = {row["thread"] for row in rows if row.get("name") == "once"}
    expect(len(threads) > 255, len(threads), "threads")
    expect(run.images()[0].stat().st_size < 4 << 20, "10,000 threads take", run.images()[0].stat().st_size)


def strings(run):
    run.program("trace-stress", "strings", 33000)
    rows = run.archive(run.images()[0])
    found = [row["name"] for row in rows if row["record"] == "event.instant"]
    expect(found == [f"name {i}" for i in range(33000)], len(found))
    indices = [row["index"] for row in rows if row["record"] == "string"]
    expect(len(indices) == len(set(indices)) == 32767, "an index is used again")
    expect(not run.findings(run.images()[0]), run.findings(run.images()[0]))


def circular(run):
    """A ring has the newest, and says so."""
    run.program("trace-stress", "strings", 33000, settings="mode=circular,size=64K")
    rows = run.archive(run.images()[0])
    found = [row["name"] for row in rows if row["record"] == "event.instant"]
    expect(found == [f"name {i}" for i in range(33000 - len(found), 33000)] and len(found) > 1000, len(found), found[-1:])
    for path in run.images()[0], "archive.fxt":
        expect(run.findings(path) == {"fxt.image-overwritten note": 1}, path, run.findings(path))
    recordings = [json.loads(run.run("info", "--json", path).stdout).get("recording") for path in (run.images()[0], "archive.fxt")]
    expect(recordings == ["complete", None], recordings)
    row, event = [row for row in rows if row["record"] in ("kernel-object", "provider-event")][-2:]
    expect(arguments(row)["bytes_overwritten"][1] > 0 and event["event_id"] == 0, row, event)


def oneshot(run):
    """What a buffer has no room for is counted."""
    done = subprocess.run([run.programs / "trace-stress", "strings", "33000"], cwd=run.folder,
                          env=run.environment("mode=oneshot,size=64K"))
    expect(done.returncode == 1, "tw_trace_dropped() is not 0:", done.returncode)
    rows = run.archive(run.images()[0])
    found = [row["name"] for row in rows if row["record"] == "event.instant"]
    expect(found == [f"name {i}" for i in range(len(found))] and len(found) > 1000, len(found))
    row, = [row for row in rows if row["record"] == "provider-event"]
    expect(row["event_id"] == 0, row)
    for path in run.images()[0], "archive.fxt":
        text = run.run("check", path).stdout.decode()
        expect(f"{33000 - len(found)} events found no room" in text, text, len(found))
        expect(run.findings(path)["fxt.records-dropped warning"] == 1, text)
    dropped = [arguments(row).get("events_dropped") for row in rows if row["record"] == "kernel-object"]
    expect(dropped[-2:] == [("uint64", 33000 - len(found))] * 2, "of the process and its thread:", dropped)


# ---- What callers may do that nobody should, and what is left of it. ----

def said_dropped(done):
    expect(done.returncode == 0 and not done.stderr, done)
    return int(done.stdout)


def caller(run, name, **words):
    return subprocess.run([run.programs / "trace-callers", name], cwd=run.folder, capture_output=True, text=True, **words)


def odd(run):
    """Arguments, kinds, scopes and tracks that there are not: left out, counted, and all that is sound is there."""
    dropped = said_dropped(caller(run, "odd", env=run.environment("")))
    image, = run.images()
    rows = run.archive(image)
    instants = [row for row in rows if row["record"] == "event.instant"]
    found = [(row["name"], list(arguments(row)), row["scope"]) for row in instants]
    expect(found == [("type", ["first", "last"], 0)] * 5 + [("scope", [], 0), ("site", [], 0), ("null", ["first", "odd", "last"], 0),
                                                            ("sound", ["first"], 0)], found)
    expect(list(arguments(named(rows, "userspace-object", "object"))) == ["first", "last"])
    expect([row["name"] for row in rows if row["record"].startswith("event.") and row not in instants] == ["site"], "kinds")
    lost = [arguments(row) for row in rows if row["record"] == "kernel-object" and "events_cut" in arguments(row)][-1]
    # Each of 5 kinds three times, complete ones without an end and with one too early, two tracks; 5 types and an object, two
    # scopes.
    expect(lost == {"events_dropped": ("uint64", 19), "events_cut": ("uint64", 8)} and dropped == 19, lost, dropped)
    expect(not [rule for rule in run.findings(image) if "error" in rule], run.findings(image))


def late(run):
    """What threads and tracks were called before a recording, they are called in it, in the next, and in forked processes."""
    done = caller(run, "late", env=without_trace())
    expect(done.returncode == 0 and not done.stderr, done)
    images = sorted(run.folder.glob("late-*.fxt"))
    expect([image.name for image in images] == ["late-0.fxt", "late-1-1.fxt", "late-1.fxt"], images)
    wanted = {"of thread": "named before", "of main": "main before", "of track": "track before", "of known": "known before"}
    for image in images:
        rows = run.archive(image)
        called = {row["koid"]: row["name"] for row in rows if row["record"] == "kernel-object"}
        found = {row["name"]: called[row["thread"]] for row in rows if row["record"] == "event.instant"}
        expect(found == {name: wanted[name] for name in found} and len(found) == (4 if image.name == "late-0.fxt" else 3), found)


def unload(run):
    """A library with the recorder inside stays when it is unloaded: its threads run, and all that it recorded is there."""
    words = [run.programs / "trace-unload", run.programs / "trace-library-whole.so", "20"]
    for environment in (without_trace(), run.environment("clock=tsc")):
        done = subprocess.run(words, cwd=run.folder, env=environment, capture_output=True)
        expect(done.returncode == 0, done)
    image, = run.images()
    expect(sum(row.get("name") == "from library" for row in run.archive(image)) == 20, "events")


def unrecorded(run):
    """Forked processes that find no file, and no manager: their parent's recording tells how many, and why."""
    expect(caller(run, "forks", env=run.environment("")).returncode == 0, "forks")
    image, = run.images()
    rule = "fxt.children-unrecorded warning"
    text = b"2 processes that the program forked recorded nothing; of the last, process "
    archive = run.folder / "archive.fxt"
    run.archive(image)
    for path in image, archive:
        expect(run.findings(path)[rule] == 1, run.findings(path))
        said = run.run("check", path).stdout
        expect(text in said and b": Too many open files" in said, said)
    done = run.run("record", "--to", "fxt", "-o", "managed.fxt", "--", run.programs / "trace-callers", "forks")
    expect(run.findings("managed.fxt")[rule] == 1, run.findings("managed.fxt"), done)
    expect(b": 2 of the processes that it forked recorded nothing: Too many open files" in done.stderr, done)
    expect(done.returncode == 1, done)


def restarts(run):
    """Threads and a signal handler write while recordings begin and end: nothing crashes, and nothing hangs."""
    done = subprocess.run([run.programs / "trace-callers", "restarts"], cwd=run.folder, capture_output=True, timeout=300)
    expect(done.returncode == 0 and not done.stderr, done)


def away(run):
    """A file without a directory is that of the directory where the program began, for forked processes too."""
    expect(caller(run, "away", env=run.environment("", "out-%p.fxt")).returncode == 0, "away")
    found = sorted(row["name"] for path in run.images() for row in run.archive(path) if row["record"] == "event.instant")
    expect(found == ["away", "here"], found)


def in_time(test):
    """A program that starts waits a tenth of a second for its manager, which a busy machine may not give it: once in five
    times it must have been enough."""
    def tried(run):
        for left in range(4, -1, -1):
            try:
                return test(run)
            except Failed:
                if left == 0:
                    raise
                for name in ("out.fxt", "go"):
                    (run.folder / name).unlink(missing_ok=True)
                shutil.rmtree(run.folder / "trackway", ignore_errors=True)
        return None
    tried.__name__, tried.__doc__ = test.__name__, test.__doc__
    return tried


@in_time
def executed(run):
    """What an attached process executes, itself, in forked processes and by a shell, is recorded from its first event on."""
    with Managed(run, "trace-callers", "executes", program=True) as program:
        program.until(lambda: b'"callers":1' in program.ask("providers", "--json").stdout, "its site")
        with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--attach", program.process.pid) as manager:
            program.until(lambda: b"streaming" in program.ask("providers").stdout, "the recording")
            other = subprocess.run([run.programs / "trace-callers", "one"], env=program.environment)
            expect(other.returncode == 0, "a program of others")
            (run.folder / "go").touch()
            said = manager.wait()
            expect(manager.process.returncode == 0 and "5 programs" in said, said)
    found = collections.Counter(row["name"] for row in run.archive(run.folder / "out.fxt") if row["record"] == "event.instant")
    expect(found == {"forked": 1, "executed": 3}, found)


def late_drops(run):
    """What threads dropped that end when the file is full, is counted: in the file, and by the program."""
    dropped = said_dropped(caller(run, "drops", env=run.environment(""), preexec_fn=limit_files))
    lost = [arguments(row) for row in run.archive(run.images()[0]) if row["record"] == "kernel-object"]
    total = [row["events_dropped"][1] for row in lost if "events_dropped" in row][0]
    expect(total == dropped and dropped > 8000, total, dropped)


def forks(run):
    run.program("trace-stress", "forks", "truth", 4)
    truth = struct.unpack(f"<{TRUTHS}Q", (run.folder / "truth").read_bytes())
    last = collections.Counter()
    expect(len(run.images()) == 4, run.images())
    for image in run.images():
        ticks = read_ticks(run, image)
        for place, values in ticks.items():
            expect(values == list(range(1, len(values) + 1)), image, place, values[:3])
            expect(place not in last, "two processes have place", place)
            last[place] = values[-1]
    for place in range(8):
        expect(last[place] >= truth[place], place, last[place], truth[place])


def library(run):
    run.program("trace-stress", "library", run.programs / "trace-library.so", 40)
    count = 0
    for image in run.images():
        count += sum(row.get("name") == "from library" for row in run.archive(image))
    expect(count == 40, count)


def handled(run):
    run.program("trace-stress", "handled")
    rows = run.archive(run.images()[0])
    begins = [row["name"] for row in rows if row["record"] == "event.duration-begin"]
    expect(begins == ["main", "last"], begins)
    expect([row["name"] for row in rows if row["record"] == "event.duration-complete"] == ["around"])
    findings = run.findings(run.images()[0])
    expect(set(findings) == {"fxt.image-not-finished note", "fxt.begin-without-end note"}, findings)


def pipes(run):
    """Every way to read an image is the same."""
    run.program("trace-every-c11", settings="category=types")
    image, = run.images()
    want = run.run("dump", image).stdout
    expect(want, "nothing")
    for words in (["cat", image], ["gzip", "-c", image], ["zstd", "-q", "-c", image]):
        with subprocess.Popen(words, stdout=subprocess.PIPE) as source:
            expect(run.run("dump", "-", stdin=source.stdout).stdout == want, words)
    for command in ("repair", "convert"):
        done = run.run(command, image, "-o", "made.fxt")
        expect(done.returncode == 0, command, done.stderr)
        expect(run.run("dump", "made.fxt").stdout == want, command)
        (run.folder / "made.fxt").unlink()
    expect(run.run("dump", "--from", "fxt", image).stdout == want, "--from")


def damaged(run):
    """Damage is told, and what is whole is read."""
    run.program("trace-stress", "storm", 200)
    image, = run.images()
    data = image.read_bytes()
    at = data.index(b"TWCHUNK\n", 4096 + 64 + 8)
    image.write_bytes(data[:at] + b"DAMAGED\n" + data[at + 8:])
    expect(run.findings(image)["fxt.image-damaged error"] == 1, run.findings(image))
    run.run("convert", image, "-o", "archive.fxt")  # what is made of it says so, too
    expect(run.findings("archive.fxt")["fxt.recording-damaged warning"] == 1, run.findings("archive.fxt"))
    image.write_bytes(data[:len(data) // 2])
    expect(run.findings(image)["fxt.image-damaged error"] == 1, run.findings(image))
    image.write_bytes(data[:8] + b"\2" + data[9:])
    expect(b"version that is not known" in run.run("check", image).stderr, run.run("check", image).stderr)


# ---- With a manager. ----

class Managed:
    """`trackway record --to fxt` or a program, in the background, with sockets of its own."""

    def __init__(self, run, *words, program=False, settings=None):
        self.run = run
        name = words[0]
        started = os.environ if settings is None else run.environment(settings)
        self.environment = {**started, "XDG_RUNTIME_DIR": str(run.folder)}
        words = [(run.programs if program is True else program) / words[0], *words[1:]] if program else [run.tool, *words]
        self.said = open(run.folder / f"said-{name}", "w+b")  # no pipe: the program may go on, and hold it
        self.process = subprocess.Popen(list(map(str, words)), cwd=run.folder, env=self.environment, stderr=self.said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.said.close()

    def wait(self):
        self.process.wait(60)
        self.said.seek(0)
        return self.said.read().decode()

    def ask(self, *words):
        return subprocess.run([self.run.tool, *map(str, words)], cwd=self.run.folder, env=self.environment,
                              capture_output=True)

    def until(self, holds, what):
        end = time.monotonic() + 60
        while not holds():
            expect(self.process.poll() is None, what, "did not come:", self.process.returncode)
            expect(time.monotonic() < end, what, "did not come in time")
            time.sleep(0.01)


def count_of(run, place=0):
    path = run.folder / "truth"
    data = path.read_bytes() if path.exists() else b""
    return struct.unpack_from("<Q", data, 8 * place)[0] if len(data) == 8 * TRUTHS else 0


def check_counted(run, image, place=0, begins=True):
    """All that was counted is there, without a gap."""
    values, wanted = read_ticks(run, image)[place], count_of(run, place)
    expect(values, "nothing of place", place)
    expect(values == list(range(values[0], values[0] + len(values))), "a gap")
    expect(values[-1] >= wanted and (values[0] == 1 or not begins), values[0], values[-1], "of", wanted)


def record(run):
    """A program that is killed, under the manager."""
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--", run.programs / "trace-stress", "commit", "truth",
                 3) as manager:
        manager.until(lambda: count_of(run) > 3000, "events")
        program, = [int(path.name.split("-")[0]) for path in (run.folder / "out.fxt.parts").iterdir()]
        os.kill(program, 9)
        said = manager.wait()
        expect(manager.process.returncode == 137 and "was ended by signal 9" in said, manager.process.returncode, said)
        expect(f"process {program} (trace-stress) was killed: all that it committed" in said, said)
    expect(not (run.folder / "out.fxt.parts").exists(), "the parts are still there")
    for place in range(3):
        check_counted(run, run.folder / "out.fxt", place)
    expect(set(run.findings("out.fxt")) == {"fxt.begin-without-end note"}, run.findings("out.fxt"))
    for words in (["stat"], ["flame", "-o", "flame.svg"], ["sched"]):
        expect(run.run(words[0], "out.fxt", *words[1:]).returncode == 0, words)


def processes(run):
    """What a program starts is in the same archive, on one clock."""
    script = "$1/trace-stress storm 10; exec $1/trace-stress storm 20"
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt.zst", "--category", "str*", "--", "sh", "-c", script, "sh",
                 run.programs) as manager:
        said = manager.wait()
        expect(manager.process.returncode == 0 and "2 programs" in said, manager.process.returncode, said)
    rows = run.archive("out.fxt.zst")
    providers = [row["provider_id"] for row in rows if row["record"] == "provider-info"]
    expect(providers == [1, 2], providers)
    count = sum(row.get("name") == "once" for row in rows)
    expect(count == 100, count)
    times = [row["timestamp"] for row in rows if "timestamp" in row]
    expect(times == sorted(times), "not in order of time")


def attach(run):
    """A program that was started long before; a snapshot; what is refused."""
    with Managed(run, "trace-stress", "commit", "truth", 2, program=True) as program:
        program.until(lambda: b'"stress":3' in program.ask("providers", "--json").stdout, "its sites")
        listed, = [json.loads(line) for line in program.ask("providers", "--json").stdout.splitlines()]
        expect(listed["process"] == program.process.pid and listed["mode"] == "off", listed)
        expect(listed["categories"] == {"stress": 3} and listed["name"] == "trace-stress", listed)
        row, = csv.DictReader(program.ask("providers", "--csv").stdout.decode().splitlines())
        expect(row["process"] == str(program.process.pid) and row["categories.stress"] == "3", row)
        table = program.ask("providers", "--markdown").stdout.decode().splitlines()
        expect(len(table) == 4 and table[2].startswith(f"| {program.process.pid} | off | 0 |"), table)
        with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--mode", "circular", "--buffer-size", "1M",
                     "--in-memory", "--attach", program.process.pid) as manager:
            program.until(lambda: b"circular" in program.ask("providers").stdout, "the recording")
            before = count_of(run)
            program.until(lambda: count_of(run) > before + 1000, "events")
            seen = count_of(run) - before
            listed, = [json.loads(line) for line in program.ask("providers", "--json").stdout.splitlines()]
            expect(listed["events"] >= seen and listed["cut"] == listed["too_deep"] == 0, "events", listed, "of", seen)
            expect(program.ask("snapshot", "-o", "snapshot.fxt").returncode == 0, "snapshot")
            for words in ("--duration", "300ms"), ("--attach", program.process.pid):
                after = program.ask("record", "--to", "fxt", "-o", "second.fxt", *words)
                expect(b"recorded by others" in after.stderr and after.returncode == 2, after)
            none = program.ask("record", "--to", "fxt", "-o", "second.fxt", "--attach", 2**31 - 1)
            expect(b"does not run" in none.stderr and none.returncode == 2, none)
            manager.process.send_signal(2)
            said = manager.wait()
            expect(manager.process.returncode == 0, said)
        program.until(lambda: b"off" in program.ask("providers").stdout, "the end of the recording")
    for name in ("snapshot.fxt", "out.fxt"):
        for place in range(2):
            values = read_ticks(run, run.folder / name)[place]
            expect(values and values == list(range(values[0], values[0] + len(values))), name, "has a gap")
            expect(values[-1] > before or place, name, values[-1], before)
        expect(not [rule for rule in run.findings(name) if not rule.endswith("note")], run.findings(name))


def while_written(run):
    """Rings that threads write while they are read: each thread has its newest part, without a gap."""
    for size, reads in (("64K", 8), ("512K", 2)):
        with Managed(run, "trace-stress", "commit", "truth", 2, program=True,
                     settings=f"mode=circular,size={size}") as program:
            program.until(lambda: count_of(run) > 10000, "events")
            image, = run.images()
            for _ in range(reads):
                before = count_of(run)
                values = read_ticks(run, image)
                for place in range(2):
                    found = values[place]
                    expect(found and found == list(range(found[0], found[0] + len(found))), size, place, "has a gap")
                expect(values[0][-1] >= before, size, values[0][-1], before)
        image.unlink()
        (run.folder / "truth").unlink()


def alert(run):
    """An alert ends it."""
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--mode", "circular", "--buffer-size", "64M", "--stop-on",
                 "too late", "--after", "50ms", "--", run.programs / "trace-stress", "alerts", "truth") as manager:
        said = manager.wait()
        expect(manager.process.returncode == 0, manager.process.returncode, said)
    with Managed(run, "trace-stress", "storm", "1", program=True) as asked:
        left = [json.loads(line)["process"] for line in asked.ask("providers", "--json").stdout.splitlines()]
        for process in left:
            if process != asked.process.pid:
                os.kill(process, 9)
    rows = run.archive("out.fxt")
    expect(named(rows, "event.instant", "too late")["scope"] == 1)
    values = read_ticks(run, run.folder / "out.fxt")[0]
    expect(values[0] < 20000 < values[-1], values[0], values[-1])


def server(run):
    """examples/server.c: what was around a slow request is kept, and the server goes on."""
    with Managed(run, "record", "--to", "fxt", "-o", "slow.fxt", "--mode", "circular", "--buffer-size", "1M", "--stop-on",
                 "slow request", "--after", "50ms", "--", "sh", "-c", 'exec "$0" 0 >port', run.programs / "trace-server") as manager:
        port = run.folder / "port"
        manager.until(lambda: port.exists() and port.read_text().endswith("\n"), "the port")
        with socket.create_connection(("127.0.0.1", int(port.read_text().split()[1]))) as talk, talk.makefile("rw") as lines:
            for request in (3, 2, 101, 1):
                print(request, file=lines, flush=True)
                expect(lines.readline() == "done\n", "no answer to", request)
            said = manager.wait()
            expect(manager.process.returncode == 0, said)
            print("1\nquit", file=lines, flush=True)
            expect(lines.read() == "done\n", "the server did not go on")
    rows = run.archive("slow.fxt")
    worked = [arguments(row)["ms"] for row in rows if row.get("name") == "work"]
    expect(worked[:3] == [("uint32", ms) for ms in (3, 2, 101)], worked)
    slow = named(rows, "event.instant", "slow request")["timestamp"]
    around = [row for row in rows if row.get("name") == "request" and row["timestamp"] <= slow <= row.get("end_time", slow)]
    expect([arguments(row)["line"] for row in around] == [("string", "101\n")], around)


def max_size(run):
    """--max-size ends a recording when so much is written, and the program goes on."""
    script = f'echo $$ >number; exec "{run.programs}/trace-stress" commit truth 1'
    words = ["--to", "fxt", "-o", "out.fxt", "--max-size", "1M", "--mode", "streaming", "--", "sh", "-c", script]
    with Managed(run, "record", *words) as manager:
        said = manager.wait()
    program, counted = int((run.folder / "number").read_text()), count_of(run)
    try:
        size = (run.folder / "out.fxt").stat().st_size
        expect(manager.process.returncode == 0 and 1 << 19 <= size <= (1 << 20) + (1 << 17), size, said)
        expect("goes on" in said and "--max-size" in said, said)
        while count_of(run) == counted:
            os.kill(program, 0)
            time.sleep(0.01)
    finally:
        os.kill(program, 9)
    expect(not run.findings("out.fxt")["fxt.image-dropped note"], run.findings("out.fxt"))


def interrupted(run):
    """An interrupt comes once to the program, which is recorded to its end; a second one ends the recording."""
    ends = 'trap "echo >>ints" INT TERM; : >ready; while [ ! -s ints ]; do sleep 0.05; done; "$1" storm 3; exit 9'
    stays = 'trap "" INT; "$1" storm 3; : >ready; while [ -e ready ]; do sleep 0.05; done'
    third = (130, -signal.SIGINT)  # one more may come when all is written
    for script, way, wanted in ((ends, "terminal", [9]), (ends, signal.SIGTERM, [9]), (stays, "terminal", third)):
        words = [run.tool, "record", "--to", "fxt", "-o", "out.fxt", "--", "sh", "-c", script, "sh", run.programs / "trace-stress"]
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(run.folder)
            os.execv(words[0], list(map(str, words)))
        status, said, end = 0, b"", time.monotonic() + 60
        while not (run.folder / "ready").exists() and time.monotonic() < end:
            time.sleep(0.01)
        os.write(terminal, b"\3") if way == "terminal" else os.kill(process, way)
        while time.monotonic() < end and not (ended := os.waitpid(process, os.WNOHANG))[0]:
            if script == stays:
                time.sleep(0.2)
                os.write(terminal, b"\3")
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    said += os.read(terminal, 4096)
                except OSError:  # nobody has it open any more
                    pass
        os.close(terminal)
        status = os.waitstatus_to_exitcode(ended[1]) if ended[0] else "none"
        (run.folder / "ready").unlink()
        expect(status in wanted, way, "status", status, said)
        rows = run.archive("out.fxt")
        expect(any(row.get("name") == "once" for row in rows), way, "its last events", said)
        if script == ends:
            expect((run.folder / "ints").read_text() == "\n", way, "the program's signals", (run.folder / "ints").read_text())
            (run.folder / "ints").unlink()
        (run.folder / "out.fxt").unlink()


def statuses(run):
    """The program's status is record's; how it ended, and why it was not recorded, is told as it is."""
    for script, status, text in (('"$1" storm 1; exit 7', 7, "sh ended with status 7"), ('"$1" handled', 0, "by _exit()"),
                                 ('"$1" storm 20 & exit 0', 0, "1 program"), ('"$1" storm 1 & exit 3', 3, "1 program"),
                                 ('ulimit -f 1; exec "$1" storm 1', 2, "cannot be recorded: File too large"),
                                 ("sleep 60 & exit 0", 2, "nor what it has left")):
        done = run.run("record", "--to", "fxt", "-o", "out.fxt", "--", "sh", "-c", "exec 2>/dev/null >&2; " + script, "sh",
                       run.programs / "trace-stress")
        expect(done.returncode == status and text in done.stderr.decode(), script, done)
        expect((run.folder / "out.fxt").exists() == (status != 2), script)
        (run.folder / "out.fxt").unlink(missing_ok=True)


def children(run):
    """A program that runs forks: all that its processes write is there, from their first event on."""
    for attach in (False, True):
        with Managed(run, "trace-stress", "children", "go", 40, program=True) as program:
            program.until(lambda: b'"stress"' in program.ask("providers", "--json").stdout, "its sites")
            with Managed(run, "record", "--to", "fxt", "-o", "out.fxt",
                         *(["--attach", program.process.pid] if attach else [])) as manager:
                program.until(lambda: b"streaming" in program.ask("providers").stdout, "the recording")
                (run.folder / "go").touch()
                program.process.wait(60)
                if not attach:  # it ends with its program otherwise
                    manager.process.send_signal(signal.SIGINT)
                said = manager.wait()
                expect(manager.process.returncode == 0, said)
        rows = run.archive("out.fxt")
        found = [arguments(row)["value"][1] for row in rows if row.get("name") == "child"]
        expect(found == list(range(40)), attach, found, said)
        for name in "go", "out.fxt":
            (run.folder / name).unlink()


def directories(run):
    """Sockets: where directories are missing, too long, another's; one that others may write to is refused."""
    words = ["record", "--to", "fxt", "-o", "out.fxt", "--", run.programs / "trace-stress", "storm", 5]
    temporary = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    long, other = temporary / ("x" * 100), temporary / "other"
    try:
        def ask(directory, *words, **more):
            environment = {**os.environ, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(directory)}
            return subprocess.run([run.tool, *map(str, words)], cwd=run.folder, capture_output=True, env=environment, **more)
        long.mkdir()
        other.mkdir()
        for directory in temporary / "none", long, "relative":
            done = ask(directory, *words)
            expect(done.returncode == 0 and b"1 program" in done.stderr, directory, done)
            (run.folder / "out.fxt").unlink()
        (temporary / "away").mkdir(mode=0o700)
        for make in (lambda path: path.mkdir(), lambda path: path.symlink_to(temporary / "away")):
            make(other / "trackway")
            if not (other / "trackway").is_symlink():
                (other / "trackway").chmod(0o777)
            done = ask(other, *words)
            expect(done.returncode == 2 and b"of this user alone" in done.stderr, done)
            expect(not (run.folder / "out.fxt.parts").exists(), "its directory stays")
            (other / "trackway").unlink() if (other / "trackway").is_symlink() else (other / "trackway").rmdir()
        with Managed(run, "trace-stress", "children", "go", 1, program=True) as program:
            program.until(lambda: b'"stress"' in program.ask("providers", "--json").stdout, "its sites")
            words = [run.tool, "record", "--to", "fxt", "-o", "out.fxt", "--attach", str(program.process.pid)]
            with subprocess.Popen(words, cwd=run.folder, stderr=subprocess.PIPE,
                                  env={**os.environ, "XDG_RUNTIME_DIR": str(other)}) as manager:
                program.until(lambda: b"streaming" in program.ask("providers").stdout, "the recording")
                shot = ask(other, "snapshot", "-o", "shot.fxt", "--attach", program.process.pid)
                (run.folder / "go").touch()
                said = manager.communicate(timeout=60)[1]
            expect(b" 1 program\n" in shot.stderr and shot.returncode == 0 and manager.returncode == 0, shot, said)
    finally:
        shutil.rmtree(temporary)


def categories(run):
    """More categories than an answer has room for: the rest is counted."""
    sites = "".join(f'TW_TRACE_INSTANT("category-{i}", "here", TW_SCOPE_THREAD);' for i in range(100))
    (run.folder / "many.c").write_text(f"#include <trackway/trace.h>\n#include <unistd.h>\nint main(void) {{ {sites} pause(); }}\n")
    compile_with(run, "gcc", "many", source=run.folder / "many.c")
    with Managed(run, "many", program=run.folder) as program:
        program.until(lambda: b'"category-63"' in program.ask("providers", "--json").stdout, "its sites")
        program.until(lambda: json.loads(program.ask("providers", "--json").stdout)["other_sites"] == 36, "the others")
        listed = json.loads(program.ask("providers", "--json").stdout)["categories"]
        expect(listed == {f"category-{i}": 1 for i in range(64)}, listed)
        expect(b"category-63 (1), 36 of others" in program.ask("providers").stdout, program.ask("providers").stdout)


def beginning(run):
    """A socket that does not listen yet is kept; that of a process that is gone is removed."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    directory = run.folder / "trackway"
    directory.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as two:
        one.bind(str(directory / str(os.getpid())))
        two.bind(str(directory / str(gone.pid)))
        done = subprocess.run([run.tool, "providers"], env={**os.environ, "XDG_RUNTIME_DIR": str(run.folder)}, capture_output=True)
    expect(done.returncode == 0 and not done.stdout, done)
    expect([path.name for path in directory.iterdir()] == [str(os.getpid())], list(directory.iterdir()))


@in_time
def gathered(run):
    """Programs that start while all are gathered: recorded from their first event on, however short they run."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(run.folder)}
    link = run.folder / "trackway/gatherer"
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt") as manager:
        manager.until(link.is_symlink, "the link")
        for _ in range(5):
            expect(subprocess.run([run.programs / "trace-stress", "strings", "100"], env=environment).returncode == 0, "a program")
        own = {**environment, "TRACKWAY_TRACE": str(run.folder / "own.fxt")}
        expect(subprocess.run([run.programs / "trace-stress", "strings", "100"], env=own).returncode == 0, "its own")
        manager.process.send_signal(2)
        said = manager.wait()
        expect(manager.process.returncode == 0 and "5 programs" in said, said)
    expect(not link.is_symlink(), "the link stays")
    found = collections.Counter(row["name"] for row in run.archive(run.folder / "out.fxt") if row["record"] == "event.instant")
    expect(found == {f"name {i}": 5 for i in range(100)}, found)


def damaged_file(run):
    """A file that something has written into, under the manager: told, and the file is kept."""
    with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--", run.programs / "trace-stress", "commit", "truth",
                 1) as manager:
        manager.until(lambda: count_of(run) > 10000, "events")
        image, = (run.folder / "out.fxt.parts").iterdir()
        with open(image, "r+b") as file:
            file.seek(1 << 16)
            file.write(b"\xff" * 512)
        os.kill(int(image.name.split("-")[0]), 9)
        said = manager.wait()
    expect("bytes of its file are no records: they were damaged" in said, said)
    expect(f"the files that are damaged are in {image.parent.name}" in said and manager.process.returncode == 137, said)
    expect(list(image.parent.iterdir()) == [image], "the file is gone")
    expect("fxt.image-damaged error" in run.findings(image), run.findings(image))
    expect(run.findings("out.fxt")["fxt.recording-damaged warning"] == 1, run.findings("out.fxt"))
    expect(len(read_ticks(run, run.folder / "out.fxt")[0]) > 1000, "what is around it")
    shutil.rmtree(image.parent)


def wishes(run):
    """What cannot be recorded is told before anything runs, or soon."""
    with Managed(run, "record", "--to", "fxt", "-o", "none.fxt", "--attach", os.getpid()) as manager:
        said = manager.wait()
        expect("does not trace itself" in said and manager.process.returncode == 2, said)
    words = ["record", "--to", "fxt", "-o", ".", "--", "touch", "ran"]
    done = run.run(*words)
    expect(done.returncode == 2 and b".: is a folder" in done.stderr, done)
    names = [word for i in range(200) for word in ("--category", f"category-{i}")]
    done = run.run("record", "--to", "fxt", "-o", "out.fxt", *names, "--", "touch", "ran")
    expect(done.returncode == 2 and b"at most 1022" in done.stderr, done)
    expect(not (run.folder / "ran").exists(), "it has run")


def manager_killed(run):
    """The manager is killed, or both: the files of the programs are there."""
    for both in (False, True):
        with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--", run.programs / "trace-stress", "commit", "truth",
                     2) as manager:
            manager.until(lambda: count_of(run) > 1000, "events")
            image, = (run.folder / "out.fxt.parts").iterdir()
            counted = count_of(run)  # before: without its manager it goes on, and is not recorded
            manager.process.kill()
            while not both and struct.unpack_from("<Q", image.read_bytes()[:4096], 168)[0] != 2:
                time.sleep(0.01)  # it ends with its manager
            os.kill(int(image.name.split("-")[0]), 9)
        values = read_ticks(run, image)[0]
        expect(values == list(range(1, len(values) + 1)) and values[-1] >= counted, values[-1:], counted)
        merged = run.run("merge", image, "-o", "merged.fxt")
        for path in image, run.folder / "merged.fxt":
            findings = run.findings(path)
            expect(merged.returncode == 0 and findings["fxt.image-abandoned note"] == 1 or both, both, findings, merged)
        (run.folder / "merged.fxt").unlink()
        shutil.rmtree(image.parent)
        (run.folder / "truth").unlink()


def progress(run):
    """A terminal shows how many events there are, and which program drops how many."""
    terminal, other = os.openpty()
    words = ["record", "--to", "fxt", "-o", "out.fxt", "--mode", "oneshot", "--buffer-size", "64K", "--",
             run.programs / "trace-stress", "commit", "truth", "1"]
    said, process = b"", subprocess.Popen([run.tool, *map(str, words)], cwd=run.folder, stderr=other, start_new_session=True)
    try:
        os.close(other)
        shown = rb"1 program, [1-9][0-9,]* events, [0-9.]+ MiB, ([1-9][0-9]*) dropped by ([0-9]+)"
        while not (found := re.search(shown, said)):
            expect(select.select([terminal], [], [], 60)[0] and len(said) < 100000, "what is shown:", said[-200:])
            said += os.read(terminal, 4096)
        os.kill(int(found[2]), 9)
        expect(process.wait(60) == 137, process.returncode)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        os.close(terminal)


ROUNDS, UNTOLD, READY, BLOCKED, DEAD = 20, 0xffffffff, 1, 3, 5


def count_left(rows, thread, first, last):
    """The switches away from a thread between two of its events, by what it then does."""
    begin, end = (named(rows, "event.instant", name)["timestamp"] for name in (first, last))
    return collections.Counter(row["outgoing_thread_state"] for row in rows if row["record"] == "scheduling.context-switch"
                               and row["outgoing_thread"] == thread and begin <= row["timestamp"] <= end)


def check_switches(rows):
    """The thread's own counts, which the kernel keeps, are those of the trace. Returns it, the other one, the switches.

    The counts are taken between two events; a thread may leave its CPU there too."""
    end = named(rows, "event.instant", "after")
    own, other = end["thread"], {row["thread"] for row in rows if row.get("name") == "woken"}
    least, most = count_left(rows, own, "begun", "ended"), count_left(rows, own, "before", "after")
    counted = {name: value for name, (_, value) in arguments(end).items()}
    expect(most[BLOCKED] >= counted["blocked"] >= max(least[BLOCKED], ROUNDS), least, most, counted)
    expect(most[READY] >= counted["preempted"] >= 1, most, counted)
    return own, *other, [row for row in rows if row["record"] == "scheduling.context-switch"]


def check_readers(run, own, other):
    """`sched` and thread_state have the threads by their names."""
    listed = {row["thread"]: row for row in map(json.loads, run.run("sched", "--json", "out.fxt").stdout.splitlines())}
    for name, thread in (("trace-stress", own), ("answers", other)):
        row = listed[thread]
        expect(row["thread_name"] == name and row["running_ns"] > 15000000 and row["switches"] > ROUNDS / 2, row)
    query = "select t.tid, s.state, count(*) from thread_state s join thread t using (utid) group by 1, 2"
    done = run.run("sql", "--json", "out.fxt", query)
    states = {tuple(row.values())[:2] for row in map(json.loads, done.stdout.splitlines())}
    expect({(own, "Running"), (own, "S"), (own, "R+"), (other, "Running")} <= states, states, done.stderr)


def record_switches(run, *before):
    """`record --sched` under a command. Returns the rows, and what was said."""
    words = [*before, run.tool, "record", "--to", "fxt", "--sched", "-o", "out.fxt", "--", run.programs / "trace-stress",
             "switches", ROUNDS]
    done = subprocess.run(list(map(str, words)), cwd=run.folder, capture_output=True)
    said = done.stderr.decode()
    expect(done.returncode == 0 and sum("--sched" in line for line in said.splitlines()) <= 1, done.returncode, said)
    rows = run.archive("out.fxt")
    expect(len([row for row in rows if row.get("name") == "woken"]) == ROUNDS, "the program's own events")
    expect(not run.findings("out.fxt"), run.findings("out.fxt"))
    times = [row["timestamp"] for row in rows if "timestamp" in row]
    expect(times == sorted(times), "not in order of time")
    return rows, said


def own_switches(run):
    """--sched without privilege: each thread's own switches."""
    without = ["setpriv", "--bounding-set=-perfmon,-sys_admin"] if os.geteuid() == 0 else []
    rows, said = record_switches(run, *without)
    if "no scheduling" in said:
        return expect("perf_event" in said, said)
    expect("not who ran instead" in said and ("/sys/kernel/tracing" in said or "perf_event_paranoid" in said), said)
    own, other, switches = check_switches(rows)
    for row in switches:
        both = {row["outgoing_thread"], row["incoming_thread"]}
        expect(UNTOLD in both and len(both) == 2, row)
    dead = collections.Counter(row["outgoing_thread"] for row in switches if row["outgoing_thread_state"] == DEAD)
    expect(dead[other] == 1 and max(dead.values()) == 1, dead)
    names = {row["koid"]: row["name"] for row in rows if row["record"] == "kernel-object"}
    expect(names[UNTOLD] == "others, or idle" and names[other] == "answers", names)
    return check_readers(run, own, other)


def all_switches(run):
    """--sched with the kernel's tracepoints: who ran instead, and who woke."""
    mount = 'test -e /sys/kernel/tracing/events || mount -t tracefs tracefs /sys/kernel/tracing; "$@"'
    if subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", "true"], capture_output=True).returncode:
        return
    rows, said = record_switches(run, "unshare", "-m", "sh", "-c", mount, "sh")
    if "--sched" in said:
        return expect("perf_event_paranoid" in said or "/sys/kernel/tracing" in said or "no scheduling" in said, said)
    own, other, switches = check_switches(rows)
    between = {(row["outgoing_thread"], row["incoming_thread"]) for row in switches}
    expect({(own, other), (other, own)} <= between and UNTOLD not in {thread for both in between for thread in both}, between)
    woken = [row for row in rows if row["record"] == "scheduling.thread-wakeup" and row["waking_thread"] == other]
    wakers = collections.Counter(arguments(row).get("waker", (None, 0)) for row in woken)
    expect(wakers["koid", own] >= ROUNDS // 2, wakers)
    return check_readers(run, own, other)


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def refuse_perf():
    """No perf_event_open from now on: EPERM, as the filters of containers have it."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    load, same, give = 0x20, 0x15, 0x06
    code = b"".join(struct.pack("<HBBI", *line) for line in
                    ((load, 0, 0, 0), (same, 0, 1, number), (give, 0, 0, 0x50001), (give, 0, 0, 0x7fff0000)))
    kept = ctypes.create_string_buffer(code)
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, ctypes.byref(Filter(4, ctypes.addressof(kept))))


def no_perf(run):
    """--sched where perf_event_open is refused: told in a line, and the program is recorded."""
    words = [run.tool, "record", "--to", "fxt", "--sched", "-o", "out.fxt", "--", run.programs / "trace-stress", "storm", "5"]
    done = subprocess.run(list(map(str, words)), cwd=run.folder, capture_output=True, preexec_fn=refuse_perf)
    told = [line for line in done.stderr.decode().splitlines() if "--sched" in line]
    expect(done.returncode == 0 and len(told) == 1 and "no scheduling" in told[0] and "Operation not permitted" in told[0], done)
    rows = run.archive("out.fxt")
    expect(any(row.get("name") == "once" for row in rows) and not run.findings("out.fxt"), run.findings("out.fxt"))
    expect(not [row for row in rows if row["record"].startswith("scheduling")], "switches from nowhere")


def nothing(run):
    """A program that does not trace itself, and one that is not there."""
    for words, text in ((["true"], b"nothing was recorded"), (["./none"], b"No such file")):
        done = run.run("record", "--to", "fxt", "-o", "out.fxt", "--", *words)
        expect(done.returncode == 2 and text in done.stderr, done)
        expect([path.name for path in run.folder.iterdir()] == [], list(run.folder.iterdir()))


# ---- Programs that are killed. ----

TICK = struct.Struct("<6Q")  # header, time, place in the upper half of a word, header of the value, value, scope


def shape(words):
    return words[0], words[2] & 0xffffffff, words[3]


def read_ticks(run, image):
    """By place, the values in the order of the archive. There are a million: only the first of a shape is decoded by its kinds and
    names, which are the same until a string is registered."""
    data = run.converted(image)
    decoder, at, shapes, others, ticks = fxt.Decoder(data), 0, set(), [], collections.defaultdict(list)
    while at < len(data):
        words = TICK.unpack_from(data, at) if len(data) - at >= TICK.size else ()
        if words and shape(words) in shapes:
            ticks[words[2] >> 32].append(words[4])
            at += TICK.size
            continue
        try:
            _, size = decoder.header(at)
            expect(size, "no record begins at", at)
            row = decoder.record(at)
        except fxt.Damage as damage:
            raise Failed(f"the archive is damaged: {at}: {damage}") from damage
        if row["record"] == "event.instant" and row["name"] == "tick":
            found = {argument["name"]: argument["value"] for argument in row["arguments"]}
            ticks[found["place"]].append(found["value"])
            if size == TICK.size and (words[2] >> 32, words[4]) == (found["place"], found["value"]):
                shapes.add(shape(words))
        elif row["record"] == "string":
            shapes.clear()
        others.append(row)
        at += size
    expect_nanoseconds(others)
    return ticks


def check_killed(run, made, mode, threads, counted=None):
    truth = struct.unpack(f"<{TRUTHS}Q", counted or (run.folder / "truth").read_bytes())
    if not made:
        return expect(not any(truth), "no image, and events were counted")
    findings = run.findings(made[0])
    expect(not [rule for rule in findings if rule.endswith("error")], findings)
    if findings["fxt.image-not-finished note"]:
        expect(b'"recording":"unfinished"' in run.run("info", "--json", made[0]).stdout, made[0])
    ticks = read_ticks(run, made[0])
    lossless = not findings["fxt.image-dropped note"]
    for place in range(threads):
        values = ticks.get(place, [])
        if lossless and values:
            expect(values == list(range(values[0], values[0] + len(values))), "a gap at place", place)
        if lossless and (values or mode != "circular"):
            expect(not truth[place] or values[-1] >= truth[place], "place", place, "has", values[-1:], "of", truth[place])
        if mode != "circular" and values:
            expect(values[0] == 1, "the first of place", place, "is", values[0])
    return None


# Seconds until a program is killed, at most: all that is streamed is decoded here, of the others what a buffer holds.
LONGEST = {"oneshot": 0.1, "circular": 0.1, "streaming": 0.02}


def kill(run, dice):
    mode = dice.choice(["oneshot", "circular", "streaming"])
    size = dice.choice(["", ",size=64K", ",size=2M"])
    threads = dice.choice([1, 8, 8, 500]) if dice.random() < 0.3 else dice.choice([1, 3, 8])
    settings = f"mode={mode}{size},clock={dice.choice(['tsc', 'monotonic'])}"
    words = ["commit", "truth", str(threads)] if dice.random() < 0.8 else ["signals", "truth"]
    program = subprocess.Popen([run.programs / "trace-stress", *words], cwd=run.folder, env=run.environment(settings))
    try:
        while not (run.folder / "truth").exists() or (run.folder / "truth").stat().st_size == 0:
            expect(program.poll() is None, "the program ended with", program.returncode)
            time.sleep(0.001)
        time.sleep(dice.random() ** 2 * LONGEST[mode])
    finally:
        program.kill()
        program.wait()
    try:
        check_killed(run, run.images(), mode, threads if words[0] == "commit" else 1)
    except Failed as failure:
        raise Failed(f"{settings}, {words}: {failure}") from failure


def kill_managed(run, dice):
    """The program under the manager, or this, or both are killed. Without its manager a program goes on unrecorded."""
    mode, threads = dice.choice(["oneshot", "circular", "streaming"]), dice.choice([1, 3, 8])
    size, victim = dice.choice([None, "64K", "2M"]), dice.choice(["program", "manager", "both"])
    words = ["record", "--to", "fxt", "-o", "out.fxt", "--mode", mode, *(["--buffer-size", size] if size else []), "--",
             run.programs / "trace-stress", "commit", "truth", str(threads)]
    parts, out = run.folder / "out.fxt.parts", run.folder / "out.fxt"
    with Managed(run, *words) as manager:
        manager.until(lambda: parts.exists() and any(parts.iterdir()) and count_of(run) > 0, "events")
        image, = parts.iterdir()
        time.sleep(dice.random() ** 2 * LONGEST[mode])
        counted = (run.folder / "truth").read_bytes() if victim != "program" else None
        if victim != "program":
            manager.process.kill()
            time.sleep(dice.random() * 0.05 if victim == "manager" else 0)
        os.kill(int(image.name.split("-")[0]), 9)
        if victim == "program":
            manager.wait()
    try:
        check_killed(run, [out if victim == "program" else image], mode, threads, counted)
    except Failed as failure:
        raise Failed(f"{words[4:9]}, {victim} killed: {failure}") from failure


def kills(run, options):
    dice = random.Random(options.seed)
    for _ in range(options.kills):
        (kill if dice.random() < 0.7 else kill_managed)(run, dice)
        for path in run.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def tests(options):
    for program in ("c99", "c11", "cpp"):
        for clock in ("monotonic", "tsc"):
            yield f"every macro and type, {program}, {clock}", lambda run, p=program, c=clock: every(run, "trace-every-" + p, c)
    for test in (aarch64, races, races_outside, early_fork, fuchsia, edges, refused, clocks, names, quiet, unread, full, small_disk, closed, tiny, storm, strings, circular, oneshot, odd, late, unload, unrecorded, late_drops, forks, library, handled, pipes, damaged, record,
                 processes, attach, while_written, alert, max_size, server, restarts, away, executed, categories, beginning, gathered, damaged_file, wishes, manager_killed, interrupted, statuses, children, directories, progress, own_switches, all_switches, no_perf, nothing):
        yield f"{test.__name__}: {(test.__doc__ or test.__name__).strip()}", test
    yield f"{options.kills} programs that are killed, seed {options.seed}", lambda run: kills(run, options)


def main(tests, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=34)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.tool, options.programs = options.tool.resolve(), options.programs.resolve()
    chosen = [(name, test) for name, test in tests(options) if options.only in name]
    print("TAP version 13")
    print(f"1..{len(chosen)}", flush=True)
    for number, (name, test) in enumerate(chosen, 1):
        folder = tempfile.mkdtemp()
        try:
            test(Run(options, folder))
            print(f"ok {number} - {name}", flush=True)
        except (Failed, subprocess.SubprocessError) as failure:
            print(f"not ok {number} - {name}\n# {failure}", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main(tests, __doc__)
