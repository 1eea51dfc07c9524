#!/usr/bin/python3
# fxt_tests.py - compares FXT files with their listings, and what the tool makes of them with what fxt.py decodes.
# SPDX-License-Identifier: Apache-2.0
"""usage: fxt_tests.py [--tool TRACKWAY] [WORD...]

Prints TAP. Without --tool only fxt.py itself is tested: against the listing of oneshot_all.fxt, the numbers of
vectors.tsv, and the JSON that Fuchsia's own converter made. With it `dump`, `info`, `stat` and `convert` are compared with
fxt.py on all these files, in both byte orders. Words choose the tests in whose name one stands.

Files that may not be copied are in a directory beside the checkout (TW_CORPUS names another); without it their tests are
skipped, and fail where CI is set.
"""
import argparse
import collections
import fractions
import functools
import gc
import itertools
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import fxt
import fxt_analysis
import fxt_calls
import fxt_odd
import fxt_vectors
import served

gc.disable()  # what is decoded is kept, and has no circles: searching it took a tenth of the time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests/data/fxt"
CORPUS = pathlib.Path(os.environ.get("TW_CORPUS", ROOT.parent / "shared/corpus")) / "fxt"
MAGIC = struct.pack("<Q", fxt.MAGIC)
SHOWN = 5  # differences, of each test


class Skip(Exception):
    pass


def read(path):
    if not path.exists():
        raise Skip(f"no {path.name}")
    return path.read_bytes()


# Comparing.

MISSING = object()


def same(found, wanted):
    """Whether all that is wanted is there; objects may have more."""
    kind = type(wanted)
    if kind is str or kind is int:
        return found == wanted and type(found) is not bool
    if kind is dict:
        if type(found) is not dict:
            return False
        for key, value in wanted.items():
            if not same(found.get(key, MISSING), value):
                return False
        return True
    if kind is list:
        return type(found) is list and len(found) == len(wanted) and all(map(same, found, wanted))
    if kind is bool or type(found) is bool or wanted is None:
        return found is wanted
    return found == wanted


def differences(found, wanted):
    for one, other in itertools.zip_longest(found, wanted):
        if other is None or one is None:
            yield f"{'too many' if other is None else 'missing'}: {short(other or one)}"
        elif not same(one, other):
            yield f"found {short(one)}, not {short(other)}"


def short(value):
    words = value if isinstance(value, str) else json.dumps(value)
    return words if len(words) < 600 else words[:600] + "..."


def counted(found, wanted):
    """Differences of two collections without order."""
    found, wanted = collections.Counter(found), collections.Counter(wanted)
    for one in wanted - found:
        yield f"missing: {one}"
    for one in found - wanted:
        yield f"too many: {one}"


def rows_differ(found, wanted):
    """Differences of rows of `stat` by their keys."""
    yield from counted(found.keys(), wanted.keys())
    for key in found.keys() & wanted.keys():
        for field, value in wanted[key].items():
            slack = value / 100 + 1 if re.match(r"p\d", field) else 0
            if found[key][field] is None and found[key]["count"] == found[key]["open"]:
                continue  # of no call that ended there is a shortest
            if abs(found[key][field] - value) > slack:
                yield f"{key}: {field} is {found[key][field]}, not {value}"


# The listing of Fuchsia's engine.

LISTED = {"null": "{}", "bool": "bool={}", "double": "f64={}", "string": "str={}", "pointer": "ptr={}",
          "koid": "koid={}", "int32": "i32={}", "uint32": "u32={}", "int64": "i64={}", "uint64": "u64={}"}
WORDS = {"duration-begin": "dur_begin", "duration-end": "dur_end", "duration-complete": "dur_complete"}


def quoted(value):
    return f"@{len(value)}x" if value == "x" * 32000 else json.dumps(value, ensure_ascii=False)


def listed_argument(argument):
    kind, value = argument["type"], argument["value"]
    shown = {"null": "null", "bool": str(value).lower(), "string": quoted(value or ""),
             "pointer": hex(value) if kind == "pointer" else ""}.get(kind, str(value))
    return json.dumps(argument["name"]) + ":" + LISTED[kind].format(shown)


def listed_payload(payload):
    size = len(payload)
    pattern = b"This is some data that we are writing"
    if payload == bytes(i * 7 & 255 for i in range(size)) and size > len(pattern):
        return "@ramp7"
    return f"@{size}" if payload == pattern[:size] else "@unknown"


def listed_event(row):
    kind = row["record"].removeprefix("event.")
    line = (f"EVENT {WORDS.get(kind, kind.replace('-', '_'))} ts={row['timestamp']} pid={row['process']} "
            f"tid={row['thread']} cat={quoted(row['category'])} name={quoted(row['name'])}")
    for field, word in (("counter_id", "id"), ("async_correlation_id", "id"), ("flow_correlation_id", "id"),
                        ("end_time", "end"), ("scope", "scope")):
        if field in row:
            line += f" {word}={row[field]}"
    return line


def listed(row):
    """The line of a record, None when the listing has none."""
    line = {
        "magic": "MAGIC",
        "provider-info": 'PROVIDER id={provider_id} name="{name}"',
        "initialization": "INIT ticks_per_second={ticks_per_second}",
        "kernel-object": 'KOBJ type={object_type} koid={koid} name="{name}"',
        "scheduling.legacy-context-switch":
            "LEGACYSWITCH cpu={cpu} state={outgoing_thread_state} ts={timestamp} "
            "out={outgoing_process}/{outgoing_thread} in={incoming_process}/{incoming_thread} "
            "outprio={outgoing_thread_priority} inprio={incoming_thread_priority}",
        "log": 'LOG ts={timestamp} pid={process} tid={thread} msg="{message}"',
        "blob": 'BLOB name="{name}" type={blob_type} size={payload_size} sha1={pattern}',
    }.get(row["record"], "")
    line = line.format(**row, pattern=listed_payload(bytes.fromhex(row.get("payload", ""))))
    if row["record"].startswith("event."):
        line = listed_event(row)
    if line and row.get("arguments"):
        line += f" args=[{', '.join(map(listed_argument, row['arguments']))}]"
    return line


def listing(rows):
    expected = read(DATA / "oneshot_all.expected.txt").decode().splitlines()
    return differences((line for line in map(listed, rows) if line), expected)


# The JSON of Fuchsia's converter: microseconds as doubles.

PHASES = {"event.instant": "i", "event.duration-begin": "B", "event.duration-end": "E", "event.duration-complete": "X",
          "event.async-begin": "b", "event.async-end": "e"}


def near(found, ticks, rate):
    exact = fractions.Fraction(ticks * 10**6, rate)
    return abs(fractions.Fraction(found) - exact) <= exact * fractions.Fraction(1, 10**13) + fractions.Fraction(1, 10**8)


def fuchsia_event(found, row, rate):
    wanted = {"ph": PHASES[row["record"]], "cat": row["category"], "name": row["name"], "pid": row["process"],
              "tid": row["thread"]}
    if "scope" in row:
        wanted["s"] = "tpg"[row["scope"]]
    if "async_correlation_id" in row:
        wanted["id"] = row["async_correlation_id"]
    good = same(found, wanted) and near(found["ts"], row["timestamp"], rate) and not found.get("args") and \
        not row["arguments"]
    return good and ("end_time" not in row or near(found["dur"], row["end_time"] - row["timestamp"], rate))


def fuchsia_switch(found, row, rate):
    wanted = {"ph": "k", "cpu": row["cpu"],
              "out": {"pid": row["outgoing_process"], "tid": row["outgoing_thread"],
                      "state": row["outgoing_thread_state"], "prio": row["outgoing_thread_priority"]},
              "in": {"pid": row["incoming_process"], "tid": row["incoming_thread"],
                     "prio": row["incoming_thread_priority"]}}
    return same(found, wanted) and near(found["ts"], row["timestamp"], rate)


def object_names(rows):
    """Process and thread names, in the converter's form."""
    for row in rows:
        if row["record"] == "kernel-object" and row["object_type"] == 1:
            yield "p", row["koid"], None, row["name"]
        process = [one["value"] for one in row.get("arguments", ()) if one["name"] == "process"]
        if row["record"] == "kernel-object" and row["object_type"] == 2 and process:
            yield "t", process[0], row["koid"], row["name"]


def fuchsia(name):
    made = json.loads(read(CORPUS / f"fuchsia/{name}.json"))
    states = [(row, decoder.provider.ticks_per_second)
              for row, decoder in fxt.records(read(CORPUS / f"fuchsia/{name}.fxt"))]
    of_threads = [state for state in states if state[0]["record"].startswith("event.")]
    of_system = [state for state in states if state[0]["record"].startswith("scheduling.")]
    switches = [event for event in made["systemTraceEvents"]["events"] if event["ph"] == "k"]
    for found, wanted, compare in ((made["traceEvents"], of_threads, fuchsia_event),
                                   (switches, of_system, fuchsia_switch)):
        if len(found) != len(wanted):
            yield f"{len(found)} events in the JSON, {len(wanted)} in the archive"
        yield from (f"{event} is not {row}" for event, (row, rate) in zip(found, wanted) if not compare(event, row, rate))
    names = {(event["ph"], event["pid"], event.get("tid"), event["name"])
             for event in made["systemTraceEvents"]["events"] if event["ph"] in "pt"}
    yield from counted(names, set(object_names(row for row, _ in states)))


# Tests of fxt.py itself.

def decoded(data):
    rows, _, damaged = fxt.decoded(data)
    if damaged:
        raise ValueError(f"damage: {damaged}")
    return rows


def whole(path):
    """An archive without damage, in which every slice that begins ends."""
    data = read(path)
    rows = decoded(data)
    kinds = collections.Counter(row["record"] for row in rows)
    if kinds["event.duration-begin"] != kinds["event.duration-end"]:
        yield f"{kinds['event.duration-begin']} begins, {kinds['event.duration-end']} ends"
    for key, slices in fxt.threads_of(data).items():
        slices.match()
        odd = [part for part in slices.slices if part["how"] != "ended"]
        if odd or slices.stray:
            yield f"thread {key}: {slices.stray} ends without begin; {odd[:2]}"
    if any("rest" in row or row["record"] == "unknown" for row in rows):
        yield "something is not understood"


def magic_trace(path):
    rows = decoded(read(path))
    clock = next(row for row in rows if row["record"] == "initialization")
    if "base_ticks" not in clock or "base_time_ns" not in clock:
        yield f"no four words: {clock}"


def vectors():
    """name -> bytes, little endian, without magic"""
    lines = read(DATA / "vectors.tsv").decode().splitlines()
    return {name: b"".join(struct.pack("<Q", int(word, 16)) for word in words.split())
            for name, words in (line.split("\t") for line in lines)}


def vector_meanings(swap):
    found = vectors()
    yield from counted(found.keys(), fxt_vectors.EXPECTED.keys())
    for name, data in found.items():
        data = fxt.swapped(MAGIC + data) if swap else MAGIC + data
        rows = [row for row, _ in fxt.records(data)][1:]
        yield from (f"{name}: {text}" for text in differences(rows, fxt_vectors.EXPECTED[name]))


def odd_meanings(data):
    damaged = []
    yield from differences([row for row, _ in fxt.records(data, None, damaged)], fxt_odd.EXPECTED)
    yield from map(str, damaged)
    found = [event["ns"] for event in fxt.events(data) if event["offset"] == odd_offset(fxt_odd.LATE)]
    if found != [fxt_odd.LATE_NS]:
        yield f"{fxt_odd.LATE} ticks are {found} ns"


def odd_offset(ticks):
    """Where the first event of that time is."""
    at = 0
    for data, said in fxt_odd.RECORDS:
        if said.get("timestamp") == ticks:
            return at
        at += len(data)
    raise ValueError("no such event")


# Tests of the tool.

def no_constant(text):
    raise ValueError(f"{text} is no JSON")


class Tool:
    def __init__(self, path, scratch):
        self.call, self.scratch = served.Server(path).run, scratch

    def file(self, data, name="in.fxt"):
        path = self.scratch / name
        path.write_bytes(data)
        return path

    def run(self, *words):
        done = self.call(*words)
        if done.returncode not in (0, 1):
            raise ValueError(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')[:400]}")
        return done.stdout

    def lines(self, *words):
        """All lines as one array, which takes a third of the time."""
        lines = self.run(*words).splitlines()
        rows = json.loads(b"[%s]" % b",".join(lines))
        if len(rows) != len(lines):
            raise ValueError(f"{len(rows)} values on {len(lines)} lines")
        return rows

    # Each takes the bytes of an archive and yields differences.

    def dumps(self, data):
        yield from differences(self.lines("dump", "--json", self.file(data)), fxt.decoded(data)[0])

    def informs(self, data):
        rows = decoded(data)
        found, = self.lines("info", "--json", self.file(data))
        yield from differences([found], [{"format": "fxt", "bytes": len(data), "records": len(rows), "lost_bytes": 0}])
        yield from counted(found["kinds"], collections.Counter(row["record"] for row in rows))
        first, last = span_of(data)
        yield from differences([found], [{"clock_start_ns": first, "start_ns": 0, "end_ns": last - first}])

    def comes_back(self, data):
        out = self.scratch / "out.fxt"
        self.run("convert", "--to", "fxt", self.file(data), "-o", out)
        if out.read_bytes() != data:
            yield "the copy differs"

    def parses(self, data):
        """Strict JSON, whatever the archive."""
        json.loads(self.run("convert", "--to", "chrome", self.file(data), "-o", "-"), parse_constant=no_constant)
        return ()

    def schedules_json(self):
        """Fuchsia's converter has made the JSON of the archive: who ran, on which CPU, and what that was called."""
        pair = [self.file(read(CORPUS / f"fuchsia/example_benchmark.{kind}"), f"pair.{kind}") for kind in ("fxt", "json")]
        back = self.scratch / "back.fxt"
        self.run("convert", pair[1], "-o", back)
        for words in ((), ("--by", "cpu")):
            wanted = self.lines("sched", "--json", *words, pair[0])
            for path in (pair[1], back):
                yield from (f"{path.name}: {text}"
                            for text in differences(self.lines("sched", "--json", *words, path), wanted))

    def cuts(self, data):
        """The events that pass, in the order of the file."""
        path, out = self.file(data), self.scratch / "cut.fxt"
        events = [cut_event(event) for event in fxt.events(data)]
        koid = next(event["thread"] for event in events if event.get("thread"))
        category = next(event["category"] for event in events if event.get("category"))
        slices = {"duration-begin", "duration-end", "duration-complete", "instant", "counter"}
        for words, wanted in ((("--function", "*"), events),
                              (("--thread", str(koid)), [one for one in events if one.get("thread") == koid]),
                              (("--category", category), [one for one in events if one.get("category") == category or
                                                          "category" not in one])):
            self.run("cut", *words, path, "-o", out)
            found = [cut_event(event) for event in fxt.events(out.read_bytes())]
            keep = [one for one in wanted if one["kind"] in slices]
            yield from (f"{words}: {text}" for text in
                        differences([one for one in found if one["kind"] in slices], keep))

    def counts(self, data):
        yield from self.counts_as(data, {key: row for key, row in fxt.stat(data).items() if None not in key})

    def counts_as(self, data, wanted, *words):
        yield from rows_differ({(row["process"], row["thread"], row["name"]): row
                                for row in self.lines("stat", "--json", "--by", "thread", *words, self.file(data))}, wanted)

    def counts_functions(self, data):
        """Takes calls that nest as such."""
        yield from rows_differ({row["name"]: row for row in self.lines("stat", "--json", self.file(data))},
                               fxt_calls.stat_functions(data))

    def counts_any(self, seeds):
        """Calls that do not nest, as dealt out to threads, and as events. A filter gives ends the names of their begins."""
        for seed, words in itertools.product(seeds, ((), ("--category", "*"))):
            data = fxt_calls.archive(seed, not words)
            yield from (f"{seed}, {words}: {text}" for text in self.counts_as(data, fxt_calls.stat(data), *words))
            if not words:
                yield from (f"{seed}, functions: {text}" for text in self.counts_functions(data))

    def nests(self, data):
        """Parents and depths of `sql`, paths of `flame` and `stacks`; on a lane calls do nest."""
        path = self.file(data)
        calls = {thread: fxt_calls.calls_of(slices) for (_, thread), slices in fxt.threads_of(data).items()}
        first = min(event["ns"] for event in fxt.events(data))
        rows = self.lines("sql", "--json", path, "select tid, s.name, s.ts, s.dur, s.self_dur, s.depth, s.lane, p.name as around, "
                          "p.ts as around_ts from slice s left join slice p on s.parent_id = p.id join thread using (utid)")
        yield from counted([tuple(value for name, value in row.items() if name != "lane") for row in rows],
                           [(thread, call.name, call.begin - first, call.end - call.begin, fxt_calls.self_of(call),
                             len(fxt_calls.path(call)) - 1, *((call.around.name, call.around.begin - first) if call.around
                                                              else (None, None)))
                            for thread, all_of in calls.items() for call in all_of])
        lanes = collections.defaultdict(list)
        for row in rows:
            lanes[row["tid"], row["lane"]].append((row["ts"], row["ts"] + row["dur"]))
        yield from (f"lane {lane}: {one} and {other}" for lane, spans in lanes.items()
                    for one, other in itertools.combinations(sorted(spans), 2) if one[0] < other[0] < one[1] < other[1])
        paths, own = collections.Counter(), collections.Counter()
        for call in itertools.chain(*calls.values()):
            paths[fxt_calls.path(call)] += 1
            own[fxt_calls.path(call)] += fxt_calls.self_of(call)
        yield from counted([(tuple(row["stack"]), row["count"]) for row in self.lines("stacks", "--json", path)], paths.items())
        folded = [line.rsplit(" ", 1) for line in self.run("flame", "--folded", path, "-o", "-").decode().splitlines()]
        yield from counted([(tuple(stack.split(";")), int(time)) for stack, time in folded], (+own).items())

    def nests_any(self, seeds):
        for seed in seeds:
            yield from (f"{seed}: {text}" for text in self.nests(fxt_calls.archive(seed, True)))

    def counters(self, data):
        wanted = fxt_analysis.counters(data)
        found = {(row["process"], row["category"], row["counter"], row["id"], row["series"]): row
                 for row in self.lines("counters", "--json", self.file(data))}
        found = {key: row for key, row in found.items()
                 if not any(str(part).startswith("undefined string") for part in key)}
        yield from counted(found.keys(), wanted.keys())
        for key in found.keys() & wanted.keys():
            row = {**found[key], "span": (found[key]["last_ns"] or 0) - (found[key]["first_ns"] or 0)}
            for field, value in wanted[key].items():
                slack = abs(value) * 1e-12 if field == "mean" else 0
                if row[field] != value and not abs(row[field] - value) <= slack:
                    yield f"{key}: {field} is {row[field]}, not {value}"

    def schedules(self, data, window=fxt_analysis.EVER, *options):
        path = self.file(data)
        cpus = self.lines("sched", "--json", "--by", "cpu", path, *options)
        yield from self.numbers({row["cpu"]: row for row in cpus}, fxt_analysis.cpus(data, window))
        rows = self.lines("sched", "--json", path, *options)
        if len({row["thread"] for row in rows}) != len(rows):
            yield "a thread is there twice"
        yield from self.numbers({row["thread"]: row for row in rows}, fxt_analysis.threads(data, window))

    def schedules_of_parts(self, data):
        """Windows of a third of the trace, and of one in which nothing is switched."""
        info = self.lines("info", "--json", self.file(data))[0]
        start, span = info["clock_start_ns"], info["end_ns"]
        third = span // 3
        parts = [(0, third), (third, 2 * third), (2 * third, span + 1)]
        times = sorted({switch.ns for switch in fxt_analysis.switches(data)})
        gap, begin = max(((two - one, one) for one, two in itertools.pairwise(times)), default=(0, 0))
        if gap > 2:
            parts.append((begin - start + 1, begin - start + gap))
        for first, end in parts:
            if end > first:
                yield from (f"from {first} to {end} ns: {text}" for text in self.schedules(
                    data, range(start + first, start + end), "--from-time", str(first), "--to-time", str(end)))

    @staticmethod
    def numbers(found, wanted):
        yield from counted(found.keys(), wanted.keys())
        for key in found.keys() & wanted.keys():
            for field, value in wanted[key].items():
                slack = value / 100 + 1 if "_p" in field else 0
                if found[key][field] != value and not (slack and abs(found[key][field] - value) <= slack):
                    yield f"{key}: {field} is {found[key][field]}, not {value}"

    def charts(self, data):
        out = self.scratch / "out.json"
        self.run("convert", "--to", "chrome", self.file(data), "-o", out)
        subprocess.run([sys.executable, ROOT / "tests/scripts/check_chrome.py", out], stdout=subprocess.DEVNULL, check=True)
        found, wanted = Chart(json.loads(out.read_bytes(), parse_float=Number)), wanted_chart(data)
        # Records of other kinds may be there as instants.
        yield from counted((key for key in found.events if key[0] != "i" or key in wanted), wanted.keys())
        for key in found.events.keys() & wanted.keys():
            if len(found.events[key]) != len(wanted[key]):
                yield f"{key}: {len(found.events[key])} times, not {len(wanted[key])}"
            for one, arguments in zip(found.events[key], wanted[key]):
                yield from (f"{key}: {name} is {one.get(name)!r}, not {argument}" for name, argument in arguments.items()
                            if not shows(one.get(name), argument))


def span_of(data):
    """The first and the last time of an archive, in nanoseconds."""
    events = list(fxt.events(data))
    times = [min(event[name], (1 << 64) - 1) for event in events for name in ("ns", "end_ns") if name in event]
    return min((event["ns"] for event in events), default=0), max(times, default=0)


def cut_event(event):
    """What must come through: not the width of a number, and the end of a slice may get the name of its begin."""
    kept = {key: event[key] for key in ("kind", "ns", "process", "thread", "category", "name", "id", "scope", "end_ns")
            if key in event}
    kept["arguments"] = [(one["name"], one["type"].rstrip("0123456789"), one["value"]) for one in event.get("arguments", ())]
    if event["kind"] == "duration-end":
        del kept["name"]
    return kept


class Number(str):
    """A number with a point, as it is written."""

    def ns(self):
        return int(self.replace(".", ""))


def is_undefined(event):
    """Whether something of an event was not defined in the archive: those are not compared."""
    return any(event.get(key, "").startswith("undefined") for key in ("name", "cat")) or \
        (event["pid"], event["tid"]) == (0, 0)


class Chart:
    """The events of a Chrome trace: key -> [args]. A key is phase, thread, category, name, time and the like."""

    def __init__(self, trace):
        self.start = int(trace["otherData"]["clock_start_ns"])
        self.events, stacks = {}, collections.defaultdict(list)
        names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"]
                 for event in trace["traceEvents"] if event["ph"] == "M"}
        for event in trace["traceEvents"]:
            stack = stacks[event["pid"], event["tid"]]
            if event["ph"] == "M" or event.get("cat") in STAND_INS or is_undefined(event):
                continue
            event["pid"], event["tid"] = (
                number if number < 1 << 31 else int(names[word + "_name", event["pid"], other].split()[-1])
                for word, number, other in (("process", event["pid"], event["pid"]), ("thread", event["tid"], event["tid"])))
            if event["ph"] == "B":
                stack.append(event)
            elif event["ph"] == "E":
                begin = stack.pop()
                begin.setdefault("args", {}).update(event.get("args", {}))
                self.add("X", begin, self.time(event))
            elif event["ph"] == "X":
                self.add("X", event, self.time(event) + event["dur"].ns())
            else:
                self.add(event["ph"], event, *self.more(event))
        for stack in stacks.values():
            for begin in stack:
                self.add("B", begin)

    def time(self, event):
        return event["ts"].ns() + self.start

    def more(self, event):
        if event["ph"] == "i":
            yield event["s"]
        if event["ph"] in "bnestf":
            yield int(event["id"] if "id" in event else event["id2"]["local"], 0)

    def add(self, phase, event, *more):
        key = (phase, event["pid"], event["tid"], event.get("cat", ""), event["name"], self.time(event), *more)
        arguments = event.get("args", {})
        self.events.setdefault(key, []).append({**arguments, **arguments.get("end", {})})


# Categories of instants that stand for what Chrome's format has no kind for.
STAND_INS = {"stack-sample", "cpu-sample", "allocation-sample", "log", "object", "blob", "lost",
             "metadata"}

CHART = {"instant": "i", "counter": "C", "async-begin": "b", "async-instant": "n", "async-end": "e", "flow-begin": "s",
         "flow-step": "t", "flow-end": "f"}


NO_NUMBERS = {"NaN", "Infinity", "-Infinity"}


def keyed(arguments):
    """Arguments by the keys of a JSON object: of one name the second is "name 2"."""
    keys, seen = {}, collections.Counter()
    for one in arguments:
        seen[one["name"]] += 1
        number = seen[one["name"]]
        if one["name"] is not None:
            keys[one["name"] + (f" {number}" if number > 1 else "")] = one
    return keys


def wanted_chart(data):
    """What a Chrome trace must have of the archive; scheduling, logs and blobs are not compared."""
    events = {}

    def add(phase, thread, event, *more):
        key = (phase, *thread, event["category"], event["name"], event["ns"], *more)
        if thread != (0, 0):
            count = event.get("of_begin", len(event["arguments"]))
            shown = [one for one in event["arguments"] if phase != "C" or one["type"] in fxt_analysis.NUMBERS and one["value"] not in NO_NUMBERS]
            events.setdefault(key, []).append({**keyed(shown[:count]), **keyed(shown[count:])})
    for event in fxt.events(data):
        phase = CHART.get(event["kind"])
        thread = event.get("process"), event.get("thread")
        if phase and None not in (*thread, event["category"], event["name"]):
            more = {"i": ["tpg"[event.get("scope", 0)]], "C": []}.get(phase, [event.get("id")])
            add(phase, thread, event, *more)
    for thread, slices in fxt.threads_of(data).items():
        for part in slices.match() if None not in thread else ():
            if part["how"] == "open":
                add("B", thread, part)
            else:
                add("X", thread, part, part["end_ns"])
    return events


def shows(found, argument):
    """Whether a value of Chrome's args is the argument's: as it is, as text, in hexadecimal, or as the object's name."""
    value, kind = argument["value"], argument["type"]
    if kind == "double" and not isinstance(value, str):
        return found is not None and float(found) == value
    if kind in ("null", "bool"):
        return found == value or found == str(value).lower()
    ways = [value, str(value)] + ([hex(value)] if isinstance(value, int) else [])
    named = argument.get("object")
    return found in ways or bool(named) and isinstance(found, str) and named in found


# The tests.

def truth_tests():
    oneshot, real = DATA / "oneshot_all.fxt", CORPUS / "magic-trace/real.fxt"
    yield "fxt.py: oneshot_all, every line of its listing", lambda: listing(decoded(read(oneshot)))
    yield ("fxt.py: oneshot_all, big endian, every line of its listing",
           lambda: listing(decoded(fxt.swapped(read(oneshot)))))
    yield "fxt.py: streaming, whole", lambda: whole(DATA / "streaming.fxt")
    yield "fxt.py: vectors, little endian", lambda: vector_meanings(False)
    yield "fxt.py: vectors, big endian", lambda: vector_meanings(True)
    yield "fxt.py: rare kinds and numbers, little endian", lambda: odd_meanings(fxt_odd.archive())
    yield "fxt.py: rare kinds and numbers, big endian", lambda: odd_meanings(fxt.swapped(fxt_odd.archive()))
    for name in ("simple_trace", "example_benchmark"):
        yield f"fxt.py: {name}, the JSON of Fuchsia's converter", lambda name=name: fuchsia(name)
    yield "fxt.py: magic-trace, whole", lambda: whole(real)
    yield "fxt.py: magic-trace, clock of four words", lambda: magic_trace(real)


def generated(scratch, *options):
    """What bench/gen_fxt.c makes: providers in turns, records late by their duration."""
    generator, path = scratch / "gen_fxt", scratch / "generated.fxt"
    compiler = os.environ.get("CC") or shutil.which("cc")
    if not compiler:
        raise Skip("no C compiler")
    if not generator.exists():
        subprocess.run([*compiler.split(), "-std=c17", "-O1", "-D_GNU_SOURCE", ROOT / "bench/gen_fxt.c", "-o", generator],
                       check=True)
    subprocess.run([generator, "--size", "400000", *options, path], check=True)
    return path.read_bytes()


def cut_off(data, size):
    """The records that end within a size."""
    return data[:max(offset for offset, _ in fxt.Decoder(data).sizes() if offset <= size)]


def archives(scratch):
    """name and a function that returns the bytes"""
    files = {path.stem: path for path in (DATA / "oneshot_all.fxt", DATA / "streaming.fxt",
                                          CORPUS / "fuchsia/simple_trace.fxt", CORPUS / "fuchsia/example_benchmark.fxt",
                                          CORPUS / "magic-trace/real.fxt")}
    for name, path in files.items():
        yield name, lambda path=path: read(path)
        yield f"{name}, big endian", lambda path=path: fxt.swapped(read(path))
    yield "rare kinds and numbers", fxt_odd.archive
    yield "rare kinds and numbers, big endian", lambda: fxt.swapped(fxt_odd.archive())
    yield "random scheduling", lambda: fxt_analysis.archive(1)
    yield "random scheduling, big endian", lambda: fxt.swapped(fxt_analysis.archive(2))
    yield "generated", lambda: generated(scratch)
    yield "generated, sorted", lambda: generated(scratch, "--sorted", "--seed", "2")
    yield "generated, cut off", lambda: cut_off(generated(scratch), 150000)
    yield "slices that end before they begin", lambda: fxt_odd.backwards(4) + fxt_odd.backwards(200)
    yield "extended", fxt_odd.extended
    yield "extended, big endian", lambda: fxt.swapped(fxt_odd.extended())
    yield "unfinished", lambda: fxt_odd.unfinished(False)
    yield "unfinished, big endian", lambda: fxt.swapped(fxt_odd.unfinished(False))
    yield "unfinished, a thread inline", lambda: fxt_odd.unfinished(True)
    yield "oneshot_all and streaming, one after the other", lambda: read(files["oneshot_all"]) + read(files["streaming"])
    yield "oneshot_all, no magic record", lambda: read(files["oneshot_all"])[8:]
    yield "oneshot_all, big endian, no magic record", lambda: fxt.swapped(read(files["oneshot_all"]))[8:]
    yield ("oneshot_all little endian, then big endian",
           lambda: read(files["oneshot_all"]) + fxt.swapped(read(files["oneshot_all"])))


def each_vector(compare):
    for name, data in vectors().items():
        for archive in (MAGIC + data, fxt.swapped(MAGIC + data)):
            yield from (f"{name}: {text}" for text in compare(archive))


def whole_vectors(compare):
    """Those that are valid."""
    odd = {name for name, rows in fxt_vectors.EXPECTED.items() if not rows}
    for name, data in vectors().items():
        if name not in odd:
            yield from (f"{name}: {text}" for text in compare(MAGIC + data))


def tool_tests(tool):
    ways = {"dump": tool.dumps, "info": tool.informs, "convert to FXT": tool.comes_back, "stat": tool.counts,
            "convert to Chrome JSON": tool.charts, "counters": tool.counters, "sched": tool.schedules,
            "sched of parts": tool.schedules_of_parts}
    for name, data in archives(tool.scratch):
        data = functools.cache(data)
        for what, way in ways.items():
            yield f"{what}: {name}", lambda way=way, data=data: way(data())
    yield "stat: calls that do not nest", lambda: tool.counts_any(range(100))
    yield "sql, stacks and flame: calls that do not nest", lambda: tool.nests_any(range(60))
    yield "stat: calls that nest in one of a later chunk", lambda: tool.counts_functions(fxt_calls.late_parent())
    for name, data in archives(tool.scratch):
        if name in ("oneshot_all", "streaming", "generated", "generated, sorted", "simple_trace"):
            yield f"cut: {name}", lambda data=data: tool.cuts(data())
    yield "sched: the JSON of Fuchsia's converter as the archive", tool.schedules_json
    yield "dump: vectors, both byte orders", lambda: each_vector(tool.dumps)
    yield "convert to Chrome JSON: vectors, both byte orders", lambda: each_vector(tool.parses)
    yield "convert to FXT: vectors", lambda: whole_vectors(tool.comes_back)


def result_of(test):
    """Runs a test: whether it is good, and lines to show."""
    try:
        found = list(itertools.islice(test(), SHOWN))
    except Skip as reason:
        return not os.environ.get("CI"), [f"SKIP {reason}"]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, OSError, subprocess.SubprocessError,
            fxt.Damage) as error:
        found = [repr(error)]
    return not found, found


def run(tests, words):
    """Prints the results as TAP; how many are not good."""
    tests = [(name, test) for name, test in tests if not words or any(word in name for word in words)]
    print("TAP version 13")
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        good, lines = result_of(test)
        failed += not good
        directive = f" # {lines.pop()}" if good and lines else ""
        print(f"{'ok' if good else 'not ok'} {number} - {name}{directive}", flush=True)
        for line in lines:
            print("#", short(line).replace("\n", " "))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tests = list(truth_tests())
        if options.tool:
            tests += tool_tests(Tool(options.tool, pathlib.Path(scratch)))
        sys.exit(bool(run(tests, options.words)))


if __name__ == "__main__":
    main()
