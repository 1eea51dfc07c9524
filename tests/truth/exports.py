#!/usr/bin/python3
# exports.py - reads what convert writes for other tools, and compares its slices with `trackway stat --json`.
# SPDX-License-Identifier: Apache-2.0
"""Usage: exports.py FORMAT FILE STAT.json

Reads FILE by the format's document alone and checks what the document asks for. Then the slices are added up by name: how
often, and the time of it, each nanosecond of a thread once where a name is in itself. Names that have a slice without an end
in STAT.json are only counted in formats that can leave it so; in others it ends where stat says. Prints each difference; the
exit status is 1 when there is one.
"""
import collections
import csv
import decimal
import gzip
import json
import re
import subprocess
import sys

import ctf
import protobuf
from protobuf import first, message


class Wrong(Exception):
    pass


def require(condition, text):
    if not condition:
        raise Wrong(text)


class Stack:
    """The slices that are open on one track."""

    def __init__(self, totals):
        self.totals, self.open = totals, []

    def begin(self, name, time):
        self.open.append((name, time))
        self.totals[name][0] += 1

    def end(self, time):
        require(self.open, "an end without a begin")
        name, begin = self.open.pop()
        require(time >= begin, f"{name} ends before it begins")
        if all(other != name for other, _ in self.open):
            self.totals[name][1] += time - begin
        return name


def new_totals():
    return collections.defaultdict(lambda: [0, 0])


# ---- Perfetto ----

FTRACE, TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, DESCRIPTOR, SAMPLE = 1, 8, 10, 11, 12, 13, 60, 66
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Perfetto:
    """One sequence: what is known since it began anew."""

    def __init__(self):
        self.known = None
        self.tracks, self.threads = {}, set()
        self.events = []

    def iid(self, table, number):
        require((table, number) in self.known, f"number {number} of table {table} is not told")
        return self.known[table, number]

    def intern(self, data):
        for table, value in protobuf.fields(data):
            entry = message(value)
            self.known[table, first(entry, 1)] = entry
        for table, references in ((6, ((2, 5), (3, 19), (5, 18))), (7, ((2, 6),)), (19, ((7, 17),))):
            for value in message(data).get(table, []):
                for field, other in references:
                    for number in message(value).get(field, []):
                        self.iid(other, number)

    def describe(self, data):
        track = message(data)
        uuid, parent = first(track, 1), first(track, 5)
        require(uuid, "a track without a uuid")
        require(parent is None or parent in self.tracks, f"track {uuid}: its parent {parent} is not told")
        self.tracks[uuid] = track
        if 4 in track:
            self.threads.add(uuid)

    def take_event(self, time, data):
        event = message(data)
        uuid, kind = first(event, 11), first(event, 9)
        require(uuid == 0 or uuid in self.tracks, f"track {uuid} is not told")
        require((kind == COUNTER) == (8 in self.tracks.get(uuid, ())), f"track {uuid} and type {kind}")
        require((kind == COUNTER) == bool(30 in event or 44 in event), "a counter without a value")
        name = ""
        if 10 in event:
            name = first(self.iid(2, first(event, 10)), 2).decode()
        for table, field in ((1, 3), (4, 34), (7, 56)):
            for number in event.get(field, []):
                self.iid(table, number)
        for annotation in map(message, event.get(4, [])):
            require((1 in annotation) != (10 in annotation), "an annotation has one name")
            require(len(annotation) == 2, "an annotation has one value")
            if 1 in annotation:
                self.iid(3, first(annotation, 1))
        for log in map(message, event.get(21, [])):
            self.iid(20, first(log, 2))
        self.events.append((time, uuid, kind, name))

    def packet(self, data):
        packet = message(data)
        flags = first(packet, FLAGS)
        require(first(packet, SEQUENCE) == 1, "a packet of no sequence")
        if flags & 1:
            self.known, self.tracks = {}, {}
        require(self.known is not None and flags & 2, "a packet before the sequence begins")
        if INTERNED in packet:
            self.intern(first(packet, INTERNED))
        if DESCRIPTOR in packet:
            self.describe(first(packet, DESCRIPTOR))
        if EVENT in packet:
            self.take_event(first(packet, TIMESTAMP), first(packet, EVENT))
        if SAMPLE in packet and 4 in message(first(packet, SAMPLE)):
            self.iid(7, first(message(first(packet, SAMPLE)), 4))


def read_perfetto(path):
    sequence, totals, stacks = Perfetto(), new_totals(), {}
    with open(path, "rb") as file:
        for number, packet in protobuf.fields(file.read()):
            require(number == 1, f"field {number} of the trace")
            sequence.packet(packet)
    # The reader sorts by time and keeps the order of what is at the same time.
    for time, uuid, kind, name in sorted(sequence.events, key=lambda event: event[0]):
        if uuid not in sequence.threads:
            continue
        stack = stacks.setdefault(uuid, Stack(totals))
        if kind == BEGIN:
            stack.begin(name, time)
        elif kind == END:
            stack.end(time)
    return totals


# ---- speedscope ----

def read_speedscope(path):
    totals = new_totals()
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    require(data["$schema"] == "https://www.speedscope.app/file-format-schema.json", "the schema")
    frames = data["shared"]["frames"]
    for profile in data["profiles"]:
        require(profile["name"] and profile["startValue"] <= profile["endValue"], "a profile's head")
        if profile["type"] == "sampled":
            require(len(profile["samples"]) == len(profile["weights"]), "samples and weights")
            require(all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack), "a frame of a sample")
            continue
        require(profile["unit"] == "nanoseconds", "the unit of slices")
        stack, before = Stack(totals), profile["startValue"]
        for event in profile["events"]:
            at, name = event["at"], frames[event["frame"]]["name"]
            require(at >= before, f"{at} after {before}")
            before = at
            if event["type"] == "O":
                stack.begin(name, at)
            else:
                require(event["type"] == "C" and stack.end(at) == name, f"{name} closes another one")
        require(not stack.open and before == profile["endValue"], "the end of a profile")
    return totals


# ---- pprof ----

def read_pprof(path):
    with gzip.open(path, "rb") as file:
        profile = message(file.read())
    strings = [text.decode() for text in profile[6]]
    require(strings[0] == "", "string 0")
    types = [tuple(strings[message(value).get(n, [0])[0]] for n in (1, 2)) for value in profile.get(1, [])]
    functions = {first(function, 1): strings[first(function, 2)] for function in map(message, profile.get(5, []))}
    mappings = {first(message(mapping), 1) for mapping in profile[3]}
    locations = {}
    for location in map(message, profile.get(4, [])):
        require(first(location, 1) not in locations and first(location, 2) in mappings, "a location")
        locations[first(location, 1)] = functions[first(message(first(location, 4)), 1)]
    totals = new_totals()
    for sample in map(message, profile.get(2, [])):
        stack = [locations[number] for number in protobuf.packed(first(sample, 1))]
        values = dict(zip(types, protobuf.packed(first(sample, 2)), strict=True))
        labels = {strings[first(label, 1)]: strings[first(label, 2)] for label in map(message, sample.get(3, []))}
        require(set(labels) == {"thread", "process"}, f"labels {labels}")
        if not values.get(("calls", "count")):
            continue
        totals[stack[0]][0] += values["calls", "count"]
        for name in set(stack):
            totals[name][1] += values["wall", "nanoseconds"]
    return totals


# ---- callgrind ----

class Callgrind:
    """Costs by function, with the numbers that stand for names."""

    def __init__(self):
        self.names, self.own, self.inside, self.words = {}, collections.Counter(), collections.Counter(), {}
        self.function = self.calls = None

    def name(self, text):
        number, _, name = text.partition(" ")
        require(not name or number not in self.names, f"{number} has a name already")
        return self.names.setdefault(number, name)

    def line(self, text):
        key, equals, value = text.partition("=")
        if equals and key == "fn":
            self.function = self.name(value)
        elif equals and key == "cfn":
            self.callee = self.name(value)
        elif equals and key == "calls":
            self.calls = int(value.split()[0])
        elif text[:1].isdigit():
            cost = dict(zip(self.words["events"], map(int, text.split()[1:]), strict=True))["ns"]
            into = self.own if self.calls is None else self.inside
            into[self.function] += cost
            self.calls = None
        elif ":" in text and not equals:
            key, _, value = text.partition(":")
            self.words[key] = value.split()


def read_callgrind(path):
    found = Callgrind()
    with open(path, encoding="utf-8") as file:
        for line in file:
            found.line(line.rstrip("\n"))
    require(sum(found.own.values()) == int(found.words["totals"][found.words["events"].index("ns")]), "the totals")
    totals = {name: (None, found.own[name] + found.inside[name]) for name in found.own if "'" not in name}
    annotated = subprocess.run(["callgrind_annotate", "--threshold=100", path], capture_output=True, text=True, check=True)
    for line in annotated.stdout.splitlines():
        if line.endswith("PROGRAM TOTALS"):
            shown = int(line.split()[0].replace(",", ""))
            require(shown == sum(found.own.values()), f"callgrind_annotate says {shown}")
            return totals
    raise Wrong("callgrind_annotate tells no totals")


# ---- Firefox ----

FIREFOX_TABLES = {
    "samples": {"time", "stack", "weight", "weightType"},
    "markers": {"name", "startTime", "endTime", "phase", "data", "category"},
    "stackTable": {"frame", "prefix", "category", "subcategory"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID",
                   "implementation", "line", "column"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"},
    "resourceTable": {"lib", "name", "host", "type"},
    "nativeSymbols": {"libIndex", "address", "name", "functionSize"},
}
FIREFOX_THREAD = {"processType", "processStartupTime", "processShutdownTime", "registerTime", "unregisterTime",
                  "pausedRanges", "name", "isMainThread", "processName", "pid", "tid", "stringArray"}
# Column -> the table that its numbers are of.
FIREFOX_NUMBERS = {
    ("samples", "stack"): "stackTable", ("stackTable", "frame"): "frameTable", ("stackTable", "prefix"): "stackTable",
    ("frameTable", "func"): "funcTable", ("funcTable", "name"): "stringArray", ("funcTable", "fileName"): "stringArray",
    ("markers", "name"): "stringArray",
}


def check_firefox_thread(thread):
    require(set(thread) == FIREFOX_THREAD | set(FIREFOX_TABLES), f"members of a thread: {sorted(thread)}")
    require(isinstance(thread["pid"], str), "the pid")
    for name, columns in FIREFOX_TABLES.items():
        table = thread[name]
        require(set(table) == columns | {"length"}, f"columns of {name}")
        for column in columns - {"weightType"}:
            require(len(table[column]) == table["length"], f"{name}.{column}")
    for (name, column), other in FIREFOX_NUMBERS.items():
        length = len(thread[other]) if other == "stringArray" else thread[other]["length"]
        for number in thread[name][column]:
            require(number is None or 0 <= number < length, f"{name}.{column}: {number} of {length}")
    prefixes = thread["stackTable"]["prefix"]
    require(all(prefix is None or prefix < i for i, prefix in enumerate(prefixes)), "a stack before its caller")
    for phase, start, end in zip(*(thread["markers"][column] for column in ("phase", "startTime", "endTime"))):
        require((phase == 3) == (start is None) and (phase in (1, 3)) == (end is not None), "times of a marker")


def check_firefox_counter(counter, threads):
    require(set(counter) == {"name", "category", "description", "pid", "mainThreadIndex", "samples"},
            f"members of a counter: {sorted(counter)}")
    require(threads[counter["mainThreadIndex"]]["pid"] == counter["pid"], "the process of a counter")
    samples = counter["samples"]
    require(set(samples) == {"time", "count", "length"}, "columns of a counter")
    require(len(samples["time"]) == len(samples["count"]) == samples["length"], "the length of a counter")
    require(samples["time"] == sorted(samples["time"]) and samples["count"][0] == 0, "the samples of a counter")


def firefox_names(thread):
    """For each stack the names on it."""
    strings, functions = thread["stringArray"], thread["funcTable"]["name"]
    names = []
    for frame, prefix in zip(thread["stackTable"]["frame"], thread["stackTable"]["prefix"]):
        above = names[prefix] if prefix is not None else frozenset()
        names.append(above | {strings[functions[thread["frameTable"]["func"][frame]]]})
    return names


def read_firefox(path):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file, parse_float=decimal.Decimal)
    meta = profile["meta"]
    require(meta["preprocessedProfileVersion"] == 48 and meta["categories"][0]["color"] == "grey", "the head")
    totals = collections.defaultdict(lambda: [None, 0])
    for counter in profile["counters"]:
        check_firefox_counter(counter, profile["threads"])
    for thread in profile["threads"]:
        check_firefox_thread(thread)
        samples, names, over = thread["samples"], firefox_names(thread), None
        if samples["weightType"] != "tracing-ms" or "(" in thread["name"]:
            continue
        for time, stack, weight in zip(samples["time"], samples["stack"], samples["weight"]):
            require(over is None or time >= over, f"a sample at {time}, and one before until {over}")
            over = time + weight
            for name in names[stack] if stack is not None else ():
                totals[name][1] += int(weight * 1000000)
        for name in frozenset().union(*names):
            totals[name][1] += 0  # also what took no time
    return {name: tuple(value) for name, value in totals.items()}


# ---- Rows. ----

class Calls(Stack):
    """Slices that need not nest: an end without a name ends the innermost, one with a name also what is inside of it."""

    def __init__(self, totals):
        super().__init__(totals)
        self.ends = []  # of what is open: when it is over, None where an end tells

    def until(self, time, inclusive=True):
        due = lambda: [end for end in self.ends if end is not None and (end <= time if inclusive else end < time)]
        while due():
            self.close(self.ends.index(min(due())), min(due()))

    def close(self, place, time):
        while len(self.ends) > place:
            self.ends.pop()
            self.end(time)

    def take(self, row):
        kind, time, name = row["kind"], int(row["time_ns"]), row.get("name") or ""
        if kind == "slice-end":
            self.until(time, False)
            while self.ends and self.ends[-1] is not None and self.ends[-1] <= time:
                self.close(len(self.ends) - 1, time)
            places = [i for i, (other, _) in enumerate(self.open) if self.ends[i] is None and name in ("", other)]
            if places:
                self.close(places[-1], time)
            return
        self.until(time)
        if kind in ("slice-begin", "slice-complete"):
            self.begin(name, time)
            self.ends.append(time + int(row["value"]) if kind == "slice-complete" else None)


def read_rows(rows):
    totals, tracks = new_totals(), {}
    last = None
    for row in rows:
        track = row["process"], row["thread"], row.get("track")
        tracks.setdefault(track, Calls(totals)).take(row)
        require(last is None or int(row["time_ns"]) >= last, "times go back")
        last = int(row["time_ns"])
    for calls in tracks.values():
        calls.until(float("inf"))
    return totals


def read_csv(path):
    csv.field_size_limit(1 << 20)
    with open(path, encoding="utf-8", newline="") as file:
        return read_rows(csv.DictReader(file, strict=True))


def read_ctf(path):
    """What babeltrace2 makes of it."""
    return read_rows(ctf.events(path))


def read_jsonl(path):
    with open(path, encoding="utf-8") as file:
        return read_rows(map(json.loads, file))


# ---- All. ----

READERS = {
    "perfetto": read_perfetto,
    "speedscope": read_speedscope,
    "pprof": read_pprof,
    "callgrind": read_callgrind,
    "firefox": read_firefox,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "ctf": read_ctf,
}


ALL_END = {"speedscope", "pprof", "callgrind", "firefox"}


def differences(found, rows, all_end):
    found = {"" if name == "(no name)" else name: value for name, value in found.items()}
    expected = {row["name"]: row for row in rows}
    for name in sorted(set(found) ^ set(expected)):
        yield f"{name}: only in " + ("the file" if name in found else "stat")
    for name in sorted(set(found) & set(expected)):
        row, (count, total) = expected[name], found[name]
        if count is not None and count != row["count"]:
            yield f"{name}: {count} times, not {row['count']}"
        if (all_end or row["open"] == 0) and total != row["total_ns"]:
            yield f"{name}: {total} ns, not {row['total_ns']}"


def main():
    with open(sys.argv[3], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    try:
        found = list(differences(READERS[sys.argv[1]](sys.argv[2]), rows, sys.argv[1] in ALL_END))
    except (Wrong, protobuf.Malformed) as wrong:
        found = [f"{sys.argv[2]}: {wrong}"]
    print("\n".join(found) or f"{len(rows)} names agree")
    sys.exit(bool(found) or not rows)


if __name__ == "__main__":
    main()
