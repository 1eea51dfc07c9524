#!/usr/bin/python3
# truth.py - where the time of a log went, computed without the library: from llvm-xray's YAML, or from the log itself.
# SPDX-License-Identifier: Apache-2.0
"""Usage: truth.py [--once] FILE.yaml | truth.py LOG

FILE.yaml is what `llvm-xray convert -f yaml` prints (names not resolved); its records are sorted by thread and time here,
because llvm-xray's own order is wrong as soon as a thread has several buffers. A log is decoded by fdr.py instead, and a
buffer that is in it twice is read once; --once does the same for YAML: records of a thread that are equal in every field
are taken once.

Prints one JSON object: "functions", by function id, with the fields of `trackway stat --json` and "ended_ns", the durations
of all calls that ended, one by one; "exits_without_entry"; "threads". The rules:
- a record's time is floor(tsc * 10^9 / frequency), a duration the difference of two of these;
- an exit that matches a call further down ends those above it at the same time: they are "unwound";
- an exit that matches nothing is counted and ignored;
- a call open when its thread's records end, ends at the last of them; it is in count, total and self, not in min,
  percentiles and max;
- of a function that is on the stack more than once the total has each nanosecond once;
- percentiles are nearest rank: of n values sorted, number ceil(n * p / 100).
"""
import json
import re
import sys

import fdr

RECORD = re.compile(r"  - \{ type: \d+, func-id: (\d+), .*?thread: (\d+), process: (\d+), kind: ([a-z-]+), tsc: (\d+)")
FREQUENCY = re.compile(r"  cycle-frequency: (\d+)")
ENTER, EXIT, OTHER = range(3)
KINDS = {
    "function-enter": ENTER, "function-enter-arg": ENTER, "function-exit": EXIT, "function-tail-exit": EXIT,
    "function.enter": ENTER, "function.enter-args": ENTER, "function.exit": EXIT, "function.tail-exit": EXIT,
}


class Function:
    def __init__(self):
        self.count = self.open = self.unwound = self.total = self.self = 0
        self.durations = []

    def row(self):
        row = {"count": self.count, "open": self.open, "unwound": self.unwound, "total_ns": self.total,
               "self_ns": self.self}
        durations = sorted(self.durations)
        size = len(durations)
        row["ended_ns"] = sum(durations)
        row["min_ns"], row["max_ns"] = (durations[0], durations[-1]) if size else (None, None)
        for p in (50, 90, 99):
            row[f"p{p}_ns"] = durations[-(-size * p // 100) - 1] if size else None
        return row


class Thread:
    """The stack of one thread: [function id, begin, time of the calls inside]."""

    def __init__(self, functions):
        self.functions = functions
        self.stack = []
        self.stray = 0

    def enter(self, function, ns):
        self.functions.setdefault(function, Function()).count += 1
        self.stack.append([function, ns, 0])

    def end(self, ns, seen):
        function, begin, inside = self.stack.pop()
        duration = ns - begin
        row = self.functions[function]
        row.self += duration - inside
        if all(frame[0] != function for frame in self.stack):
            row.total += duration
        if seen:
            row.durations.append(duration)
        if self.stack:
            self.stack[-1][2] += duration
        return row

    def exit(self, function, ns):
        if all(frame[0] != function for frame in self.stack):
            self.stray += 1
            return
        while self.stack[-1][0] != function:
            self.end(ns, True).unwound += 1
        self.end(ns, True)

    def finish(self, ns):
        while self.stack:
            self.end(ns, False).open += 1


def read_yaml(path, once):
    """Returns the frequency and (process, thread) -> [(tsc, kind, function)]."""
    threads, seen, frequency = {}, set(), 0
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            match = RECORD.match(line)
            if match:
                function, thread, process, kind, tsc = match.groups()
                key = (process, thread, tsc, kind, function)
                if once and key in seen:
                    continue
                seen.add(key)
                threads.setdefault((int(process), int(thread)), []).append(
                    (int(tsc), KINDS.get(kind, OTHER), int(function)))
            elif line.startswith("  - {"):
                raise ValueError(f"{path}: not understood: {line}")
            elif FREQUENCY.match(line):
                frequency = int(FREQUENCY.match(line).group(1))
    return frequency, threads


def read_log(path):
    with open(path, "rb") as file:
        log = fdr.Log(file.read())
    threads = {}
    for process, thread, tsc, kind, function in fdr.timed(log):
        threads.setdefault((process, thread), []).append((tsc, KINDS.get(kind, OTHER), function))
    return log.frequency, threads


def account(frequency, threads):
    functions, stray = {}, 0
    for events in threads.values():
        events.sort(key=lambda event: event[0])  # stable: equal times stay in the order of the log
        thread = Thread(functions)
        for tsc, kind, function in events:
            ns = tsc * 10**9 // frequency
            if kind == ENTER:
                thread.enter(function, ns)
            elif kind == EXIT:
                thread.exit(function, ns)
        thread.finish(events[-1][0] * 10**9 // frequency)
        stray += thread.stray
    return {"functions": {key: functions[key].row() for key in sorted(functions)}, "exits_without_entry": stray,
            "threads": len(threads)}


def truth_of(path, once=False):
    return account(*(read_yaml(path, once) if path.endswith(".yaml") else read_log(path)))


def main():
    once = sys.argv[1] == "--once"
    json.dump(truth_of(sys.argv[-1], once), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
