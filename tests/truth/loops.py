#!/usr/bin/python3
# loops.py - what the tool says does not depend on which loop took a record, on --jobs, on file or pipe.
# SPDX-License-Identifier: Apache-2.0
"""usage: loops.py --tool TRACKWAY_WITHOUT [--seeds N] [--share PERCENT] [--keep DIR] [--list] [WORD...]

Prints TAP, a line for each input. The tool is the one that tests/meson.build makes of the tool's own sources and without.c: it
switches off the fast loops whose names are in TRACKWAY_WITHOUT. Every command of COMMANDS reads each input with all of them, and
then in the ways of VARIANTS: without one, without all, with --jobs 1 and 2, from a pipe, with a filter that removes nothing.
Output, findings and exit status must be the same.

Inputs are tests/data, the files in a directory beside the checkout (TW_CORPUS names another; without it they are skipped, and
fail where CI is set), and N damaged copies of each format: the same seed does the same. Of the ways PERCENT are gone, chosen by
the names of input and command. --keep writes each input that fails to a directory. Words choose the inputs in whose name one stands.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import zlib

import fdr_random
import fxt_odd
import fxt_tests
import served
import tracelog_lines

DATA = fxt_tests.ROOT / "tests/data"
CORPUS = fxt_tests.CORPUS.parent
FORMATS = {".fxt": "fxt", ".xray": "xray", ".log": "tracelog", ".json": "chrome"}
LARGEST = 1 << 18  # bytes of an input that is damaged
SHOWN = 3  # differences, of each input
TIMEOUT = 60

# What reads everything, by what of it takes a way of its own. {} is the input.
COMMANDS = [
    "info {}", "check --all {}", "dump --json {}", "repair {} -o -", "cut --from-time 1us {} -o -", "log --json {}", "stat --json {}", "stat --by thread {}",
    "stat --by caller --json {}", "stacks --json {}", "flame --folded {} -o -", "graph --json {}", "counters --json {}", "sched --json {}",
    "convert --to chrome {} -o -", "convert --to perfetto {} -o -", "convert --to fxt {} -o -", "convert --to speedscope {} -o -",
    "convert --to firefox {} -o -", "convert --to callgrind {} -o -", "convert --to pprof {} -o -", "convert --to jsonl {} -o -",
    "merge --to fxt {} {} -o -", "merge --to perfetto {} {} -o -", "diff --json {} {}",
    "sql --json {} 'select name, count(*), sum(dur) from slice group by name; select count(*), sum(value) from counter'",
]
OF_FORMAT = {
    "fxt": ["blobs --json {}", "diff --of events --json {} {}", "convert --to ctf --json {} -o {}.ctf"],
    "xray": ["convert --to xray-fdr {} -o -"],
    "tracelog": ["alloc --json {}", "jit --json {}", "gc --json {}", "cpu --json {}", "stat --weight samples --json {}", "convert --to tracelog {} -o -"],
    "chrome": [],
}

# The loops of one format; all others are of all formats.
LOOPS_OF = {"xray-": "xray", "tracelog-": "tracelog", "fxt-": "fxt"}

# Commands that know no --category, or show more than events; and those that show nothing but calls and samples, so that their
# output is the same with a filter that removes nothing. Of the others, findings and exit status are.
UNFILTERED = {"info", "check", "dump", "cut", "repair", "counters", "sched", "alloc", "jit", "gc", "cpu", "blobs", "sql", "log", "diff"}
OF_CALLS = {"stat", "stacks", "flame", "graph"}
NO_JOBS = {"dump", "counters", "sched", "alloc", "jit", "gc", "cpu", "blobs", "log"}


def damage(data, rng):
    """A few places are no longer what they were, as happens to files."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at, size = rng.randrange(len(data)), rng.choice([1, 4, 8, 8, 16, 64, 300])
        at -= at % 8 if rng.random() < 0.7 else 0
        way = rng.choice(["flip", "flip", "flip", "set", "smash", "zero", "delete", "insert", "double", "cut"])
        if way == "flip":
            data[at] ^= 1 << rng.randrange(8)
        elif way == "set":
            data[at] = rng.choice(b"\0\1\x7f\x80\xff 0:\n\"")
        elif way in ("smash", "zero"):
            size = min(size, len(data) - at)
            data[at:at + size] = rng.randbytes(size) if way == "smash" else bytes(size)
        elif way == "delete" and size < len(data) // 2:
            del data[at:at + size]
        elif way == "insert":
            data[at:at] = rng.randbytes(size)
        elif way == "double":
            data[at:at] = data[at:at + 8 * size]
        elif way == "cut" and at > len(data) // 2:
            del data[at:]
    return bytes(data)


def made():
    """What is made here: (name, bytes)."""
    whole = (DATA / "fxt/oneshot_all.fxt").read_bytes()
    yield "odd.fxt", fxt_odd.archive()
    yield "swapped.fxt", b"".join(whole[i:i + 8][::-1] for i in range(0, len(whole), 8))
    yield "long.fxt", (DATA / "fxt/streaming.fxt").read_bytes() * 3
    yield "random.xray", fdr_random.log("1")
    yield "lines.log", tracelog_lines.log()


def inputs(seeds):
    """[(name, format, bytes)]"""
    found = [(name, FORMATS[pathlib.Path(name).suffix], data) for name, data in made()]
    for root in DATA, CORPUS:
        for path in sorted(root.rglob("*")) if root.exists() else []:
            if path.suffix in FORMATS and path.is_file() and "xtrace" not in path.parts:
                found.append((str(path.relative_to(root)), FORMATS[path.suffix], path.read_bytes()))
    unique = {data: (name, form, data) for name, form, data in reversed(found)}
    found = [row for row in found if unique[row[2]] is row or unique[row[2]][0] == row[0]]
    damaged = []
    for form in OF_FORMAT:
        sources = [row for row in found if row[1] == form and 64 < len(row[2]) <= LARGEST]
        for seed in range(1, seeds + 1):
            rng = random.Random(f"{form} {seed}")
            name, _, data = rng.choice(sources)
            damaged.append((f"damaged {form} {seed}: {name}", form, damage(data, rng)))
    return found + damaged


# What else a trace has is found by a second look, which a pipe does not allow; what it has not is told of a pipe, too.
HINT = re.compile(rb"^trackway: the trace has .*\n|(?<= in the trace), but it has .*$", re.M)


class Variant:
    """A way to read an input that must make no difference."""

    def __init__(self, name, without="", words=(), pipe=False):
        self.name, self.without, self.words, self.pipe = name, without, list(words), pipe
        self.filtered = "--category" in words

    def fits(self, words, form):
        if self.words[:1] == ["--jobs"] and words[0] in NO_JOBS:
            return False
        if self.filtered and words[0] in UNFILTERED:
            return False
        if self.pipe:
            return words.count("{}") == 1
        return all(not self.without.startswith(prefix) or "," in self.without or form == of for prefix, of in LOOPS_OF.items())


def variants(loops):
    yield Variant("without any loop", ",".join(loops))
    for loop in loops:
        yield Variant(f"without {loop}", loop)
    yield Variant("--jobs 1", words=["--jobs", "1"])
    yield Variant("--jobs 2", words=["--jobs", "2"])
    yield Variant("--jobs 2 without any loop", ",".join(loops), ["--jobs", "2"])
    yield Variant("a pipe", pipe=True)
    yield Variant("--category '*'", words=["--category", "*"])


class Result:
    def __init__(self, status, out, err):
        self.parts = {"exit status": str(status).encode(), "output": out, "findings": err}

    def differences(self, other, variant, words):
        for what, mine in self.parts.items():
            theirs = other.parts[what]
            if variant.filtered and what == "output" and words[0] not in OF_CALLS:
                continue
            # A copy looks no reference up; with a filter it is written from events, which do.
            if variant.filtered and what != "output" and words[:3] == ["convert", "--to", "fxt"]:
                continue
            # And the copy of an XRay log tells of bytes and buffers that it leaves out.
            if variant.filtered and what == "findings" and words[:3] == ["convert", "--to", "xray-fdr"]:
                continue
            if variant.filtered and what == "findings":  # not what was lost in a conversion: less comes to it
                mine, theirs = rules(mine), rules(theirs)
            if variant.pipe and what == "findings":
                mine, theirs = HINT.sub(b"", mine), HINT.sub(b"", theirs)
            if mine != theirs:
                yield what, mine, theirs


def rules(text):
    return b"\n".join(line for line in text.splitlines() if line.endswith(b"]"))


def first_difference(what, mine, other):
    a, b = mine.splitlines(), other.splitlines()
    at = next((i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]), min(len(a), len(b)))
    show = lambda lines: lines[at][:160].decode("utf-8", "backslashreplace") if at < len(lines) else "(end)"
    return f"{what}, line {at + 1}: {show(a)} | {show(b)}"


class Server(served.Server):
    """Whose tool is without some loops from the start."""

    def __init__(self, tool, without):
        super().__init__(tool)
        self.without = without

    def environment(self, *libraries, **more):
        return super().environment(*libraries, TRACKWAY_WITHOUT=self.without, **more)


class Tester:
    def __init__(self, tool, share):
        self.tool, self.share, self.local = tool, share, threading.local()
        loops = subprocess.run([tool], env={"TRACKWAY_WITHOUT": "list"}, check=True, stdout=subprocess.PIPE).stdout
        self.loops = loops.decode().split()
        self.variants = list(variants(self.loops))

    def server(self, without):
        """Each thread has its own."""
        servers = self.local.__dict__.setdefault("servers", {})
        if without not in servers:
            servers[without] = Server(self.tool, without)
        return servers[without]

    def run(self, words, path, variant):
        words = words[:1] + variant.words + [word.replace("{}", "-" if word == "{}" and variant.pipe else str(path)) for word in words[1:]]
        if variant.pipe:
            with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as source:
                done = subprocess.run([self.tool, *words], stdin=source.stdout, capture_output=True, timeout=TIMEOUT, check=False)
        else:
            done = self.server(variant.without).run(*words)
        out, err = (re.sub(rb"<stdin>|/dev/stdin", bytes(path), text) for text in (done.stdout, done.stderr))
        return Result(done.returncode, out, err)

    def chosen(self, name, command, variant):
        return zlib.crc32(f"{name} {command} {variant.name}".encode()) % 100 < self.share

    def test(self, name, form, data):
        """What is wrong, a line each."""
        wrong = []
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "x" + next(end for end, of in FORMATS.items() if of == form))
            path.write_bytes(data)
            for command in COMMANDS + OF_FORMAT[form]:
                words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
                ways = [v for v in self.variants if v.fits(words, form) and self.chosen(name, command, v)]
                plain = self.run(words, path, Variant("")) if ways else None
                for variant in ways:
                    results = [plain, self.run(words, path, variant)]
                    differences = list(results[0].differences(results[1], variant, words))
                    if differences:
                        wrong.append(f"{command}, {variant.name}: {first_difference(*differences[-1])}")
        return wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tool", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seeds", type=int, default=5, help="damaged copies of each format")
    parser.add_argument("--share", type=int, default=4, help="percent of the ways")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    tester, failed, number = Tester(options.tool, options.share), 0, 0
    rows = [row for row in inputs(options.seeds) if not options.words or any(word in row[0] for word in options.words)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (row, wrong) in enumerate(zip(rows, pool.map(lambda row: tester.test(*row), rows)), 1):
            print(f"{'not ' if wrong else ''}ok {number} - {row[0]}", flush=True)
            for line in wrong[:SHOWN]:
                print(f"# {line}")
            if len(wrong) > SHOWN:
                print(f"# and {len(wrong) - SHOWN} more")
            if wrong and options.keep:
                options.keep.mkdir(exist_ok=True)
                (options.keep / re.sub(r"[^\w.]+", "-", row[0])).write_bytes(row[2])
            failed += bool(wrong)
    if not CORPUS.exists() and not options.words:
        number += 1
        failed += bool(os.environ.get("CI"))
        print(f"{'not ok' if os.environ.get('CI') else 'ok'} {number} - corpus{'' if os.environ.get('CI') else ' # SKIP no ' + str(CORPUS)}")
    print(f"1..{number}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
