#!/usr/bin/python3
# tracelog_tests.py - what the tool makes of TraceLog logs against what tracelog.py decodes.
# SPDX-License-Identifier: Apache-2.0
"""usage: tracelog_tests.py [--tool TRACKWAY] [WORD...]

Prints TAP. Without --tool only tracelog.py itself is tested: against lines and a log of which everything was written down
by hand, and on logs of real runtimes and generated ones, in which nothing may be odd. Words choose the tests in whose name
one stands.

Logs that may not be copied are in a directory beside the checkout (TW_CORPUS names another); without it their tests are
skipped, and fail where CI is set.
"""
import argparse
import collections
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fxt_tests
import tracelog
import tracelog_lines
import tracelog_random
from fxt_tests import counted, differences, read

ROOT = fxt_tests.ROOT
DATA = ROOT / "tests/data/tracelog"
CORPUS = pathlib.Path(os.environ.get("TW_CORPUS", ROOT.parent / "shared/corpus")) / "tracelog"
REAL = ("real-mono-sample", "real-coreclr80-work-suspend-alloc")
DIALECTS = ("d0", "d1", "d2", "d3", "vs")


@functools.lru_cache(maxsize=64)
def log_of(data):
    return tracelog.Log(data)


# kinds.log by hand.

MAIN, SELECT, RUN, UNMANAGED = 2, 3, 4, 0
STACKS = [  # thread, ms, ticks, wall in ms, stack
    (0, 20, 1, None, [(MAIN, 0xB2000014), (SELECT, None), (RUN, None)]),
    (0, 30, 1, 10, [(MAIN, 0xB2000014), (SELECT, None), (RUN, None)]),
    (0, 40, 2, 10, [(MAIN, 0xB2000024), (RUN, 0xB2000210), (UNMANAGED, None)]),
    (0, 50, 1, 10, [(MAIN, None)]),
    (0, 70, 3, 20, [(MAIN, None), (RUN, None)]),
]
ALLOCATED = [  # thread, ms, class, objects, bytes
    (0, 70, 0, 3, 96), (0, 70, 1, 1, 4096), (0, 70, 2, 2, 160),
]
OF_FUNCTIONS = {  # self, inclusive
    "samples": {MAIN: [1, 8], SELECT: [0, 2], RUN: [5, 7], UNMANAGED: [2, 2]},
    "wall": {MAIN: [10_000_000, 50_000_000], SELECT: [0, 10_000_000], RUN: [30_000_000, 40_000_000],
             UNMANAGED: [10_000_000, 10_000_000]},
    "bytes": {MAIN: [0, 4352], RUN: [4352, 4352]},
    "allocations": {MAIN: [0, 6], RUN: [6, 6]},
}


def covered(collections):
    """How long at least one went on."""
    edges = sorted([(one.begin, 1) for one in collections] + [(one.end, -1) for one in collections])
    going, total = 0, 0
    for (time, step), (until, _) in zip(edges, edges[1:]):
        going += step
        total += until - time if going else 0
    return total


def kinds_by_hand():
    log = tracelog.Log(read(DATA / "kinds.log"))
    yield from differences([[one.thread, one.ms, one.count, one.wall, list(one.stack)] for one in log.samples],
                           [list(one) for one in STACKS])
    yield from differences([list(one[1:6]) for one in log.allocations], [list(one) for one in ALLOCATED])
    for weight, wanted in OF_FUNCTIONS.items():
        found = {iid: both for (_, iid), both in tracelog.totals(log, weight, "function").items()}
        if found != wanted:
            yield f"{weight}: found {found}, not {wanted}"
    if [(one.begin, one.end, one.function_iid, one.cached) for one in log.compilations] != \
            [(12, 14, MAIN, False), (14, 15, SELECT, True)]:
        yield f"compilations: {log.compilations}"
    if [(one.begin, one.end, one.reason) for one in log.collections] != [(100, 103, None), (110, 140, "induced")]:
        yield f"collections: {log.collections}"
    if (log.latest, covered(log.collections)) != (500, 33):
        yield f"collections go on for {covered(log.collections)} of {log.latest} ms"
    cpu = {iid: both for (_, iid), both in tracelog.totals(log, "cpu", "function").items()}
    if cpu[MAIN][1] != 9876000 or cpu[RUN][0] != 9876000 * 5 / 8:
        yield f"CPU time: {cpu}"


def lines_by_hand():
    rows = list(tracelog.records(tracelog_lines.log()))
    for row, (line, wanted) in zip(rows, filter(lambda one: one[0], tracelog_lines.LINES), strict=True):
        wanted = wanted or {"record": "unknown"}
        if not fxt_tests.same(row, wanted):
            yield f"{line}: found {row}, not {wanted}"


def nothing_odd(data):
    """Every line is a record, its kind its first two words; every stack fits the one before."""
    found, words = tracelog.kinds(data), collections.Counter(line[:7].decode().replace(" ", "-") for line in data.splitlines())
    yield from counted(found, words)
    log = log_of(data)
    if log.mismatches:
        yield f"{len(log.mismatches)} stacks are not as deep as they say, first at {log.mismatches[0]}"
    told = log.functions.keys() | log.function_names.keys() | {0, 1, None}
    missing = {frame[0] for sample in log.samples for frame in sample.stack} - told
    if missing:
        yield f"functions {sorted(missing)[:5]} were never told"


# Tests of the tool. Each takes the bytes of a log and yields differences.

OURS = {"bad_items", "why"}  # what tracelog.py says and the tool does not


class Tool(fxt_tests.Tool):
    def dumps(self, data):
        found = self.lines("dump", "--json", self.file(data, "in.log"))
        wanted = [{key: value for key, value in row.items() if key not in OURS} for row in tracelog.records(data)]
        yield from differences(found, wanted)
        for one, other in zip(found, wanted):
            if one.keys() - other.keys():
                yield f"too much in {one}: {one.keys() - other.keys()}"

    def informs(self, data):
        found, = self.lines("info", "--json", self.file(data, "in.log"))
        wanted = tracelog.kinds(data)
        yield from differences([found], [{"format": "tracelog", "bytes": len(data), "records": sum(wanted.values())}])
        yield from counted(found["kinds"], wanted)


    def weighs(self, data, by, weights=tracelog.WEIGHTS):
        """The same in all weights; what is shared may be rounded for each sample."""
        log, path = log_of(data), self.file(data, "in.log")
        for weight in weights:
            wanted = tracelog.totals(log, weight, by)
            slack = len(log.samples) if weight == "cpu" else 0
            rows = self.lines("stat", "--json", "--from", "tracelog", "--weight", weight, "--by", by, path)
            found = {row_key(row, by): row for row in rows if row["self"] or row["total"]}
            yield from (f"{weight}: {text}" for text in counted(found.keys(), wanted.keys()))
            for key in found.keys() & wanted.keys():
                both = [found[key]["self"], found[key]["total"]]
                if any(abs(one - other) > slack for one, other in zip(both, wanted[key])):
                    yield f"{weight}, {key}: {both}, not {[float(number) for number in wanted[key]]}"

    def stacks(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        for weight in tracelog.WEIGHTS:
            wanted = tracelog.stacks(log, weight)
            slack = len(log.samples) if weight == "cpu" else 0
            found = collections.Counter()
            for row in self.lines("stacks", "--json", "--per-thread", "--max-depth", "100000", "--weight", weight, path):
                if row["self"]:
                    found[row["thread"], tuple(row["stack"])] += row["self"]
            yield from (f"{weight}: {text}" for text in counted(found.keys(), wanted.keys()))
            yield from (f"{weight}, {key}: {found[key]}, not {float(wanted[key])}" for key in found.keys() & wanted.keys()
                        if abs(found[key] - wanted[key]) > slack)

    def collects(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        *found, total = self.lines("gc", "--json", path)
        ordered = sorted(log.collections, key=tracelog.begun)
        wanted = [{"time_ns": one.begin * MILLION, "pause_ns": (one.end - one.begin) * MILLION, "reason": one.reason or "?",
                   "generations": " ".join(name for name, flag in zip(GENERATIONS, one.generations) if flag),
                   **({"thread": one.thread} if one.thread is not None else {})}
                  for one in ordered]
        yield from differences(found, wanted)
        for previous, one, row in zip([None, *ordered], ordered, found):
            after, allocated = tracelog.report_after(log, one), tracelog.allocated_between(log, previous and tracelog.begun(previous), tracelog.begun(one))
            heap = {"before_bytes": tracelog.heap_before(log, one), "after_bytes": after and sum(after), "allocated_bytes": allocated,
                    "promoted_bytes": tracelog.promoted(log, one), "function": tracelog.ran_at(log, one, previous)}
            if {**row, "allocated_bytes": row["allocated_bytes"] or 0} != {**row, **heap}:
                yield f"{one}: {row}, not {heap}"
        aside = [one for one in log.collections if (one.reason or "").endswith("background")]
        stopped = [one for one in log.collections if one not in aside]
        pauses = [(one.end - one.begin) * MILLION for one in stopped]
        yield from differences([total], [{"collections": len(wanted), "pause_ns": sum(pauses),
                                          **({"max_ns": max(pauses), "min_ns": min(pauses)} if pauses else {})}])
        yield from differences([total], [{"covered_ns": covered(stopped) * MILLION, "span_ns": log.latest * MILLION,
                                          "background": len(aside), "background_ns": covered(aside) * MILLION}])
        found = {row["name"]: [row["count"], row["bytes"]] for row in self.lines("gc", "--json", "--by", "class", path)
                 if row["count"]}
        wanted = {log.class_names.get(iid, "(unknown)"): list(both) for iid, both in log.heap[-1][1].items()} if log.heap else {}
        yield from differences([found], [wanted])

    def compiles(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        wanted = collections.defaultdict(lambda: dict.fromkeys(COMPILED, 0))
        own_times = tracelog.own_times(log)
        for one, own in zip(log.compilations, own_times or [0] * len(log.compilations)):
            row, time = wanted[tracelog.named(log, one.function_iid)[0][0]], (one.end - one.begin) * MILLION
            if one.cached:
                row["cached"] += 1
                row["cached_ns"] += time
            else:
                row["compiled"] += 1
                row["compiled_ns"] += time
                row["self_ns"] += own * MILLION
                row["code_bytes"] += one.code
        found = collections.defaultdict(lambda: dict.fromkeys(COMPILED, 0))
        for row in self.lines("jit", "--json", path):
            for field in COMPILED:
                found[row["name"]][field] += row[field] if own_times or field != "self_ns" else 0
        yield from (f"{name}: found {found[name]}, not {wanted[name]}" for name in found.keys() | wanted.keys()
                    if found[name] != wanted[name])

    def compilers(self, data):
        """CPU of compilations, by function and by body; code, by body."""
        log, path = log_of(data), self.file(data, "in.log")
        used, bodies, wanted = tracelog.compiler_usage(log), collections.Counter(), collections.defaultdict(lambda: None)
        code = collections.Counter()
        ended = sorted(range(len(log.compilations)), key=lambda place: log.compiled_lines[place][1])
        for place in ended if used else ():
            one = log.compilations[place]
            bodies[one.function_iid] += not one.status and not (one.cached and bodies[one.function_iid])
            body = bodies[one.function_iid] + bool(one.status)
            code[body] += 0 if one.cached else one.code
            if used[place] is not None and not one.cached:
                for key in (tracelog.named(log, one.function_iid)[0][0], body):
                    wanted[key] = (wanted[key] or 0) + used[place] * 1000
        rows = self.lines("jit", "--json", "--by", "body", path)
        found = {row["body"]: row["cpu_ns"] for row in rows}
        yield from (f"{row}: {code[row['body']]} bytes of code" for row in rows if used and row["code_bytes"] != code[row["body"]])
        for row in self.lines("jit", "--json", path):
            before = found.get(row["name"])
            found[row["name"]] = before if row["cpu_ns"] is None else row["cpu_ns"] + (before or 0)
        slack = len(log.compilations)
        for key in found if used else ():
            both = found[key], wanted[key]
            if (None in both and both != (None, None)) or (None not in both and abs(both[0] - both[1]) > slack):
                yield f"{key}: {both[0]}, not {both[1] and float(both[1])}"

    def allocates(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        wanted = collections.defaultdict(lambda: [0, 0])
        for one in log.allocations:
            numbers = wanted[log.class_names.get(one.class_iid, "(unknown)")]
            numbers[0] += one.count
            numbers[1] += one.bytes
        rows = self.lines("alloc", "--json", path) if wanted else []
        yield from differences([{row["class"]: [row["count"], row["bytes"]] for row in rows}], [dict(wanted)])

    def uses(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        wanted = collections.defaultdict(list)
        for one in log.usages:
            wanted[None if one.thread == "process" else one.thread].append(one)
        found = {row["thread"]: row for row in self.lines("cpu", "--json", path)}
        yield from counted(found.keys(), wanted.keys())
        for thread in found.keys() & wanted.keys():
            usages = wanted[thread]
            shares = [0, *(one.us / one.interval / 10 for one in usages if one.interval)]
            timed = [one for one in usages if one.interval]
            mean = max(sum(one.us for one in timed) / sum(one.interval for one in timed) / 10, 0)
            row = found[thread]
            if (row["samples"], row["total_ns"]) != (len(usages), sum(one.us for one in usages) * 1000):
                yield f"{thread}: {row}, not {len(usages)} of {sum(one.us for one in usages)} us"
            if abs(row["max_percent"] - max(shares)) > 0.001 or abs(row["mean_percent"] - mean) > 0.001:
                yield f"{thread}: {row}, not {mean} %, at most {max(shares)} %"

    def converts(self, data):
        """In every dialect the same samples; what a dialect has no records for is left out."""
        log, path, out = log_of(data), self.file(data, "in.log"), self.scratch / "out.tracelog"
        # Where numbers of source lines stand in their place, no other dialect has any.
        ips = not log.sources or any((ip or 0) >> 20 for one in log.samples for _, ip in one.stack)
        for dialect in ("d0", "d1", "d2", "d3"):
            self.run("convert", "--dialect", dialect, path, "-o", out)
            made = tracelog.Log(out.read_bytes())
            yield from (f"{dialect}: {text}" for text in differences(told_by(made, dialect, ips), told_by(log, dialect, ips)))
            if made.kinds["unknown"] or made.mismatches:
                yield f"{dialect}: {made.kinds['unknown']} lines are none, {len(made.mismatches)} stacks do not fit"

    def folds(self, data):
        log, path = log_of(data), self.file(data, "in.log")
        for weight in ("samples", "bytes"):
            wanted, found = collections.Counter(), collections.Counter()
            for (_, stack), amount in tracelog.stacks(log, weight).items():
                wanted[";".join(stack)] += amount
            text = self.run("flame", "--folded", "--max-depth", "100000", "--weight", weight, path).decode()
            for stack, amount in (line.rsplit(" ", 1) for line in text.splitlines()):
                found[stack] += int(amount)
            yield from (f"{weight}: {stack}: {found[stack]}, not {wanted[stack]}" for stack in found.keys() | wanted.keys()
                        if found[stack] != wanted[stack])

    def figures(self, data):
        """All that tables have of a log."""
        for by in ("function", "thread"):
            yield from self.weighs(data, by)
        for way in (self.collects, self.compiles, self.compilers, self.allocates, self.uses):
            yield from way(data)


def told_by(log, dialect, ips):
    """What a log in a dialect can tell: tuples."""
    def stack_of(one):
        return one.stack if ips else tuple(iid for iid, _ in one.stack)

    for one in log.samples:
        yield one.thread, one.ms, one.count, one.wall, stack_of(one)
    for one in log.allocations if dialect != "d0" else ():
        yield *one[1:6], one.ip if ips else None, stack_of(one)
    yield from log.usages
    yield from log.compilations if dialect in ("d2", "d3") else ()


GENERATIONS = ("0", "1", "2", "LOH")
COMPILED = ("compiled", "compiled_ns", "self_ns", "code_bytes", "cached", "cached_ns")
MILLION = 10**6


def row_key(row, by):
    """What tells rows of stat apart."""
    if by in ("class", "module"):
        return None if row["name"] == f"(no {by})" else row["name"]
    function = row["name"], row["id"]
    return (row["thread"], *function) if by == "thread" else function


# Logs.

def generated(scratch, *options):
    """What bench/gen_tracelog.c makes."""
    generator, path = scratch / "gen_tracelog", scratch / "generated.log"
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        raise fxt_tests.Skip("no C compiler")
    if not generator.exists():
        subprocess.run([*compiler.split(), "-std=c17", "-O1", "-D_GNU_SOURCE", ROOT / "bench/gen_tracelog.c", "-o", generator],
                       check=True)
    subprocess.run([generator, "--size", "400000", *options, path], check=True)
    return path.read_bytes()


FIELD = ("q2-frame", "q3-sammem-class", "u1-tiers", "u2-two-names-samefn", "u4-jit-recompiled-once-announced", "t17-jit-nested", "t20-gc-nested", "oa", "ob",
         "t12-gcs-reason-word", "jit-cpu", "gc-heap")


def good_logs(scratch):
    """name and a function that returns the bytes"""
    for name in ("kinds", "small-d2-64", *FIELD):
        yield name, lambda name=name: read(DATA / f"{name}.log")
    for name in REAL:
        yield name, lambda name=name: read(CORPUS / f"{name}.log")
    for number, dialect in enumerate(DIALECTS):
        yield (f"generated, {dialect}",
               lambda dialect=dialect, number=number: generated(scratch, "--dialect", dialect, "--seed", str(number),
                                                                "--pointers", ("64", "32")[number % 2]))
    for seed in range(3):
        yield f"random, seed {seed}", lambda seed=seed: tracelog_random.log(seed)
    yield "generated, no instruction pointers", lambda: generated(scratch, "--no-ip", "--threads", "30")


def odd_logs():
    yield "lines of every kind and dialect", tracelog_lines.log
    yield "CRLF and a byte order mark", lambda: tracelog.BOM + read(DATA / "kinds.log").replace(b"\n", b"\r\n")
    yield "no line end at the end", lambda: read(DATA / "kinds.log")[:-1]


# The tests.

def truth_tests(good):
    yield "tracelog.py: lines of every kind and dialect", lines_by_hand
    yield "tracelog.py: kinds, stacks and totals", kinds_by_hand
    for name, data in good:
        yield f"tracelog.py: {name}, nothing odd", lambda data=data: nothing_odd(data())


def tool_tests(tool, good):
    for by in tracelog.PARTS:
        for name, data in good:
            yield f"stat by {by}: {name}", lambda by=by, data=data: tool.weighs(data(), by)
    for name, data in good:
        yield f"stacks: {name}", lambda data=data: tool.stacks(data())
    for what, way in {"gc": tool.collects, "jit": tool.compiles, "CPU of jit": tool.compilers, "alloc": tool.allocates, "cpu": tool.uses,
                      "flame": tool.folds, "convert": tool.converts}.items():
        for name, data in good:
            yield f"{what}: {name}", lambda way=way, data=data: way(data())
    for what, way in {"dump": tool.dumps, "info": tool.informs}.items():
        for name, data in [*good, *odd_logs()]:
            yield f"{what}: {name}", lambda way=way, data=data: way(data())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = [(name, functools.cache(data)) for name, data in good_logs(pathlib.Path(scratch))]  # made and decoded once
        tests = list(truth_tests(good))
        if options.tool:
            tests += tool_tests(Tool(options.tool, pathlib.Path(scratch)), good)
        sys.exit(bool(fxt_tests.run(tests, options.words)))


if __name__ == "__main__":
    main()
