#!/usr/bin/python3
# ties.py - slices that begin and end at one time, told by begins, ends and complete slices: each keeps its duration everywhere.
# SPDX-License-Identifier: Apache-2.0
"""usage: ties.py --tool TRACKWAY [--seed N]

A thread a case: some written by hand, others by chance. The slices of a thread nest, each has a name of its own, and is told by
one complete event or by a begin and an end. Those of one time stand in the order of a stack, but complete events stand before or
behind ends, and ends with a name in any order. So each slice must come out once, as long as it is, of Chrome's JSON and of an archive, by stat and by each export read back; nothing is lost.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import exports

LAST, SLICES_MOST, THREADS = 8, 12, 150

# Events as kind, time, name and duration; an end without a name is E 2. Then the slices: name, begin, duration.
BY_HAND = [
    ("X a 0 2, B b 1, X z 2 5, E 2", "a 0 2, b 1 1, z 2 5"),
    ("X a 0 2, B b 1, X z 2 5, E b 2", "a 0 2, b 1 1, z 2 5"),
    ("B b 1, X y 2 5, X z 2 3, E 2", "b 1 1, y 2 5, z 2 3"),
    ("B b 1, X z 2 0, E 2, X y 2 0", "b 1 1, z 2 0, y 2 0"),
    ("B b 1, X z 2 3, E 2, X y 2 5", "b 1 1, z 2 3, y 2 5"),
    ("X a 0 2, B b 1, X z 2 0, X y 2 5, E 2", "a 0 2, b 1 1, z 2 0, y 2 5"),
    ("X a 0 2, B b 1, B z 2, E 2, E 2", "a 0 2, b 1 1, z 2 0"),
    ("B a 0, B b 1, E a 2, E b 2, X z 2 5", "a 0 2, b 1 1, z 2 5"),
    ("B a 0, B b 1, X z 2 5, E a 2, E b 2", "a 0 2, b 1 1, z 2 5"),
    ("B a 0, B b 2, E a 2, E b 2", "a 0 2, b 2 0"),
    ("B a 0, B a 2, E a 2, E a 5", "a 0 5, a 2 0"),
    ("B a 0, E a 2, B a 2, E a 5", "a 0 2, a 2 3"),
    ("X a 0 5, X b 2 3, B c 2, X z 5 1, X d 5 0, E 5", "a 0 5, b 2 3, c 2 3, z 5 1, d 5 0"),
    ("X a 3 4, B b 6, X c 7 0, B d 7, E 7, E 7", "a 3 4, b 6 1, c 7 0, d 7 0"),
]


def written(text, thread):
    for words in map(str.split, text.split(", ")):
        event = {"ph": words[0], "pid": 1, "tid": thread, "ts": int(words[-2 if words[0] == "X" else -1])}
        if words[0] == "X":
            event["dur"] = int(words[3])
        if len(words) > 2:
            event["name"] = f"{thread}.{words[1]}"
        yield event


def by_hand(text, wanted, thread):
    slices = [(f"{thread}.{name}", int(begin), int(length)) for name, begin, length in map(str.split, wanted.split(", "))]
    return [*written(text, thread)], slices


def nested(chance, begin, end, depth):
    """Begins and ends of slices, those around others first."""
    while depth and chance.random() < 0.75:
        first = chance.randint(begin, end)
        last = chance.randint(first, min(end, first + 4))
        yield first, last
        yield from nested(chance, first, last, depth - 1)
        begin = last


class Thread:
    """The slices of one thread, and for each whether a complete event tells it."""

    def __init__(self, chance, thread):
        self.chance, self.thread = chance, thread
        self.slices = [*nested(chance, 0, LAST, 3)][:SLICES_MOST]
        self.complete = [chance.random() < 0.5 for _ in self.slices]
        self.named = chance.random() < 0.5

    def event(self, kind, number, **members):
        name = {"name": f"{self.thread}.{number}"} if kind != "E" or self.named else {}
        return {"ph": kind, "pid": 1, "tid": self.thread, **name, **members}

    def begins(self, time):
        for number, (begin, end) in enumerate(self.slices):
            if begin != time:
                continue
            if self.complete[number]:
                yield self.event("X", number, ts=begin, dur=end - begin)
                continue
            yield self.event("B", number, ts=begin)
            if end == time:
                yield self.event("E", number, ts=end)

    def ends(self, time):
        """Of slices that began before, the innermost first."""
        found = [self.event("E", number, ts=end) for number, (begin, end) in enumerate(self.slices)
                 if begin < end == time and not self.complete[number]][::-1]
        if self.named:
            self.chance.shuffle(found)
        return found

    def events(self):
        for time in range(LAST + 1):
            events = [*self.begins(time)]
            most = next((place for place, event in enumerate(events) if event["ph"] == "B"), len(events))
            ends = self.ends(time)
            places = sorted(self.chance.randint(0, most) for _ in ends)
            for place, end in reversed([*zip(places, ends)]):
                events.insert(place, end)
            yield from events


def by_chance(chance, thread):
    made = Thread(chance, thread)
    return [*made.events()], [(f"{thread}.{number}", begin, end - begin) for number, (begin, end) in enumerate(made.slices)]


class Cases:
    def __init__(self, tool, scratch, seed):
        self.tool, self.scratch = tool, scratch
        chance = random.Random(seed)
        cases = [by_hand(*case, number + 1) for number, case in enumerate(BY_HAND)]
        cases += [by_chance(chance, len(cases) + number + 1) for number in range(THREADS)]
        self.events = sorted((event for events, _ in cases for event in events), key=lambda event: event["ts"])
        self.slices = [one for _, slices in cases for one in slices]
        self.totals = collections.defaultdict(lambda: [0, 0])
        for name, begin, length in self.slices:
            self.totals[name][0] += 1
            self.totals[name][1] += 1000 * length
        self.source = None

    def write(self):
        path = self.scratch / "ties.json"
        path.write_text(json.dumps(self.events), encoding="utf-8")
        self.run("convert", "--strict", path, "-o", self.scratch / "ties.fxt")
        return path, self.scratch / "ties.fxt"

    def run(self, *words):
        done = subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise exports.Wrong(done.stderr.strip())
        return done.stdout

    def convert(self, name):
        self.run("convert", "--strict", self.source, "-o", self.scratch / name)
        return self.scratch / name

    def differ(self, found, counts=True):
        for name, (count, length) in self.totals.items():
            of_name = found.get(name, (0 if counts else None, 0))
            if of_name[1] != length or (counts and of_name[0] != count):
                yield f"{name}: {tuple(of_name)}, not {(count, length)}: {self.shown(name)}"
        yield from (f"{name}: {found[name]}, but there is none" for name in found if name not in self.totals)

    def shown(self, name):
        thread = int(name.split(".")[0])
        return ", ".join(" ".join(str(event[key]) for key in ("ph", "name", "ts", "dur") if key in event)
                         for event in self.events if event["tid"] == thread)

    def stat(self):
        rows = map(json.loads, self.run("stat", "--json", self.source).splitlines())
        yield from self.differ({row["name"]: (row["count"], row["total_ns"]) for row in rows})

    def xray(self):
        """The log has numbers of functions alone."""
        found = self.run("sql", "--csv", self.convert("ties.xray"), "select dur from slice order by dur").splitlines()[1:]
        wanted = [str(length) for length in sorted(1000 * length for _, _, length in self.slices)]
        if found != wanted:
            yield f"{len(found)} slices, not {len(wanted)}, or not as long"

    def checks(self):
        yield "stat", self.stat
        yield "perfetto", lambda: self.differ(exports.read_perfetto(self.convert("ties.pftrace")))
        yield "speedscope", lambda: self.differ(exports.read_speedscope(self.convert("ties.speedscope.json")))
        yield "firefox", lambda: self.differ(exports.read_firefox(self.convert("ties.firefox.json")), False)
        yield "pprof", lambda: self.differ(exports.read_pprof(self.convert("ties.pb.gz")))
        yield "xray", self.xray

    def results(self):
        for self.source in self.write():
            for what, check in self.checks():
                try:
                    wrong = [*check()]
                except exports.Wrong as error:
                    wrong = [str(error)]
                yield f"{self.source.suffix[1:]}: {what}", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    number = failed = 0
    print("TAP version 13")
    with tempfile.TemporaryDirectory() as scratch:
        for number, (what, wrong) in enumerate(Cases(options.tool, pathlib.Path(scratch), options.seed).results(), 1):
            failed += bool(wrong)
            print(f"{'not ok' if wrong else 'ok'} {number} - ties of {what}", flush=True)
            for line in wrong[:5]:
                print("#", line[:600].replace("\n", "\n# "))
    print(f"1..{number}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
