#!/usr/bin/python3
# stated.py - what Chrome's JSON states of slices, against all commands and every export read back.
# SPDX-License-Identifier: Apache-2.0
"""usage: stated.py --tool TRACKWAY [--rounds N] [--seed N]

Writes files of complete slices, asynchronous operations and flows by chance: slices overlap, begin together, come late, stand
thread by thread or in any order; a process is 0, some events have no tid, arguments are arrays. Prints TAP, a test a round.

By the format's document an event without a tid is on the thread whose number is the pid (as catapult has it), and what a slice
states is kept. A slice is directly inside of the one that began last of those before it that hold it whole, of slices that
begin together the longest is first; self is the duration without the union of the slices directly inside. Times are whole
microseconds: none differ by rounding.
"""
import argparse
import collections
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import exports
import fxt
import protobuf

Slice = collections.namedtuple("Slice", "pid tid name begin duration")
# An archive has process 0 where it is named: its document has no other way to tell it from none.
NAMED = {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "GPU 0"}}
KINDS = {"b": "async-begin", "e": "async-end", "s": "flow-begin", "f": "flow-end"}


def slices_by_chance(chance):
    for _ in range(chance.choice((4, 20, 60))):
        begin = chance.choice((chance.randrange(400), 10 * chance.randrange(40)))
        yield {"ph": "X", "pid": chance.choice((0, 0, 7)), "tid": chance.choice((1, 2, None)), "name": chance.choice("abcde"),
               "ts": 1000 + begin, "dur": chance.choice((1, 5, 20, 20, 100, 300)), "args": {"dims": [[1, 2], [3], []]}}


def pairs_by_chance(chance):
    for number in range(chance.randrange(6)):
        for first, last in (("b", "e"), ("s", "f")):
            time = 1000 + chance.randrange(300)
            for phase, at in ((first, time), (last, time + chance.randrange(1, 90))):
                yield {"ph": phase, "pid": 7, "tid": 1, "cat": "c", "name": "op", "id": number + 1, "ts": at}


def events_by_chance(chance):
    events = [*slices_by_chance(chance), *pairs_by_chance(chance)]
    events.sort(key=chance.choice((lambda event: event["ts"],  # as written by one clock; thread by thread; in any order
                                   lambda event: (event["pid"], event["tid"] or -1, event["ts"]),
                                   lambda event: chance.random())))
    return [{key: value for key, value in event.items() if value is not None} for event in events]


def stated(events):
    """The slices, in the order of the file, and how many events there are of the other kinds."""
    start = min(event["ts"] for event in events)
    slices = [Slice(event["pid"], event.get("tid", event["pid"]), event["name"], 1000 * (event["ts"] - start),
                    1000 * event["dur"]) for event in events if event["ph"] == "X"]
    return slices, collections.Counter(KINDS[event["ph"]] for event in events if event["ph"] != "X")


def union(spans):
    covered = reached = 0
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return covered


def bound(slices):
    """Of each slice: itself, the one that it is directly inside of, and its self."""
    threads = collections.defaultdict(list)
    for one in slices:
        threads[one.pid, one.tid].append(one)
    for thread in threads.values():
        thread.sort(key=lambda one: (one.begin, -one.duration))
        inside = [[] for _ in thread]
        parents = []
        for number, one in enumerate(thread):
            end = one.begin + one.duration
            around = next((i for i in range(number - 1, -1, -1) if thread[i].begin + thread[i].duration >= end), None)
            parents.append(around)
            if around is not None:
                inside[around].append((one.begin, end))
        for one, around, children in zip(thread, parents, inside):
            yield one, None if around is None else thread[around], one.duration - union(children)


def differ(what, found, wanted):
    found, wanted = collections.Counter(found), collections.Counter(wanted)
    if found != wanted:
        yield f"{what}: {list((found - wanted).items())[:3]}, not {list((wanted - found).items())[:3]}"


class Tool:
    def __init__(self, path, scratch):
        self.path, self.scratch, self.file = path, scratch, scratch / "trace.json"

    def run(self, *words):
        return subprocess.run([self.path, *map(str, words)], check=True, capture_output=True, text=True, timeout=120).stdout

    def lines(self, *words):
        return [json.loads(line) for line in self.run(*words).splitlines()]

    def convert(self, name):
        self.run("convert", self.file, "-o", self.scratch / name)
        return self.scratch / name

    def counts(self, slices):
        """Of names, by thread: how many, the shortest and the longest, and self."""
        wanted = collections.defaultdict(lambda: [0, [], 0])
        for one, _, own in bound(slices):
            row = wanted[one.pid, one.tid, one.name]
            row[0] += 1
            row[1].append(one.duration)
            row[2] += own
        yield from differ("stat", [(row["process"], row["thread"], row["name"], row["count"], row["min_ns"], row["max_ns"],
                                    row["self_ns"]) for row in self.lines("stat", "--json", "--by", "thread", self.file)],
                          [(*key, count, min(all_of), max(all_of), own) for key, (count, all_of, own) in wanted.items()])

    def tables(self, slices, file=None):
        query = ("select pid, tid, s.name, s.ts, s.dur, s.self_dur, p.ts, p.dur from slice s left join slice p on "
                 "s.parent_id = p.id join thread using (utid) join process using (upid)")
        rows = csv.reader(self.run("sql", "--csv", file or self.file, query).splitlines()[1:])
        yield from differ(f"sql of {file}", map(tuple, rows),
                          [tuple("" if value is None else str(value) for value in
                                 (*one, own, *((around.begin, around.duration) if around else (None, None))))
                           for one, around, own in bound(slices)])

    def texts(self, slices, others):
        with open(self.convert("out.csv"), encoding="utf-8", newline="") as file:
            rows = [(row["kind"], row["process"], row["thread"], row["name"], row["time_ns"], row["value"])
                    for row in csv.DictReader(file)]
        lines = [json.loads(line) for line in self.convert("out.jsonl").read_text(encoding="utf-8").splitlines()]
        for what, found in (("CSV", rows), ("JSON Lines", [(row["kind"], row["process"], row["thread"], row["name"],
                                                              row["time_ns"], row.get("value")) for row in lines
                                                             if "time_ns" in row and row.get("thread") is not None])):
            yield from differ(what, [tuple(map(str, row[1:])) for row in found if row[0] == "slice-complete"],
                              [tuple(map(str, one)) for one in slices])
        yield from differ("CSV, others", [row[0] for row in rows if row[0] in KINDS.values()], others.elements())

    def chrome(self, slices, others, path):
        found = json.loads(path.read_text(encoding="utf-8"))
        events = found["traceEvents"] if isinstance(found, dict) else found
        events = [event for event in events if event["ph"] in (*KINDS, "X")]
        again, kinds = stated(events)
        yield from differ(path.name, again, slices)
        yield from differ(f"{path.name}, others", kinds.elements(), others.elements())
        yield from differ(f"{path.name}, arguments", [str(event["args"]) for event in events if event["ph"] == "X"],
                          [str({"dims": [[1, 2], [3], []]}) for _ in slices])

    def archive(self, slices):
        path = self.convert("out.fxt")
        events = [event for event in fxt.events(path.read_bytes()) if event["kind"] == "duration-complete"]
        start = min((event["ns"] for event in fxt.events(path.read_bytes())), default=0)
        yield from differ("FXT", [(event["name"], event["ns"] - start, event["end_ns"] - event["ns"]) for event in events],
                          [one[2:] for one in slices])
        yield from self.tables(slices, path)

    def perfetto(self, slices):
        sequence, open_ones, found = exports.Perfetto(), collections.defaultdict(list), []
        for _, packet in protobuf.fields(self.convert("out.pftrace").read_bytes()):
            sequence.packet(packet)
        for time, uuid, kind, name in sorted(sequence.events, key=lambda event: event[0]):
            if kind == exports.BEGIN:
                open_ones[uuid].append((name, time))
            elif kind == exports.END:
                name, begin = open_ones[uuid].pop()
                found.append((name, time - begin))
        yield from differ("Perfetto", [row for row in found if row[0] != "op"], [(one.name, one.duration) for one in slices])

    def cuts(self, slices, others):
        out = self.scratch / "cut.json"
        self.run("cut", "--from-time", "0", self.file, "-o", out)
        yield from self.chrome(slices, others, out)
        self.run("cut", "--from-time", "50us", "--to-time", "200us", self.file, "-o", out)
        events = json.loads(out.read_text(encoding="utf-8"))["traceEvents"]
        found = [(event["name"], round(1000 * event["dur"])) for event in events if event["ph"] == "X"]
        yield from differ("cut", found, [(one.name, min(one.begin + one.duration, 200000) - max(one.begin, 50000))
                                         for one in slices if one.begin < 200000 and one.begin + one.duration > 50000])


def round_of(tool, seed):
    events = events_by_chance(random.Random(seed))
    tool.file.write_text(json.dumps({"traceEvents": [NAMED, *events]}), encoding="utf-8")
    slices, others = stated(events)
    for compare in (lambda: tool.counts(slices), lambda: tool.tables(slices), lambda: tool.texts(slices, others),
                    lambda: tool.chrome(slices, others, tool.convert("out.json")), lambda: tool.archive(slices),
                    lambda: tool.perfetto(slices), lambda: tool.cuts(slices, others)):
        yield from compare()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    print(f"TAP version 13\n1..{options.rounds}")
    with tempfile.TemporaryDirectory() as scratch:
        tool = Tool(options.tool, pathlib.Path(scratch))
        for number in range(options.rounds):
            found = list(round_of(tool, options.seed + number))
            failed += bool(found)
            print(f"{'not ok' if found else 'ok'} {number + 1} - what is stated: seed {options.seed + number}", flush=True)
            for line in found[:5]:
                print("#", line[:400])
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
