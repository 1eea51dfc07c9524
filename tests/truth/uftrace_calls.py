#!/usr/bin/python3
# uftrace_calls.py - calls by chance as uftrace records them, and what must become of them in each conversion.
# SPDX-License-Identifier: Apache-2.0
"""usage: uftrace_calls.py TRACKWAY DIRECTORY SEEDS

For each seed a directory is written with calls on three threads of a process and in a fork of it, some left by a jump,
some open at the end. `stat` of it, and of the FXT and Chrome's JSON that it is converted to, the folded stacks, and the
begins in JSON Lines must be those of the calls.
"""
import collections
import json
import pathlib
import random
import subprocess
import sys

import uftrace

NAMES = {"main": uftrace.MAIN, "work": uftrace.WORK, "walk(int)": uftrace.WALK, "puts": uftrace.PUTS}
PROCESSES = {70: 70, 71: 70, 72: 70, 80: 80}
START = 5_000_000_000

Call = collections.namedtuple("Call", "thread stack begin end open")  # stack: names, its own last


class Thread:
    def __init__(self, number, now):
        self.number, self.now = number, now
        self.stack, self.calls, self.data = [], [], b""

    def close(self, depth, is_open=False):
        while len(self.stack) > depth:
            names = tuple(name for name, _ in self.stack)
            self.calls.append(Call(self.number, names, self.stack.pop()[1], self.now, is_open))

    def put(self, kind, depth, name):
        self.data += uftrace.record(self.now, kind, depth, uftrace.BASE + NAMES[name])

    def step(self, chance):
        """A record. Some leave more than one call: what a jump, or an exception, leaves has no exit."""
        self.now += chance.choice((1, 7, 100, 1000))
        depth = len(self.stack)
        if depth and (depth == 20 or chance.random() < 0.4):
            depth = depth - 1 if chance.random() < 0.9 else chance.randrange(depth)
            self.put(uftrace.EXIT, depth, self.stack[depth][0])
            self.close(depth)
        else:
            depth = depth if depth == 0 or chance.random() < 0.95 else chance.randrange(depth)
            self.close(depth)
            self.stack.append((chance.choice(list(NAMES)), self.now))
            self.put(uftrace.ENTRY, depth, self.stack[-1][0])


def write(directory, seed):
    """Returns the calls."""
    chance = random.Random(seed)
    uftrace.write(directory)
    with open(directory / "task.txt", "a", encoding="ascii") as tasks:
        tasks.write("TASK timestamp=4.970000000 tid=72 pid=70\n")
    calls = []
    for number in PROCESSES:
        thread = Thread(number, START + chance.randrange(1000))
        for _ in range(chance.choice((1, 3, 40, 300))):
            thread.step(chance)
        thread.close(0, True)
        (directory / f"{number}.dat").write_bytes(thread.data)
        calls += thread.calls
    return calls


def rows(calls):
    """(process, thread, name) -> count, total, self, open"""
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for call in calls:
        around, length = call.stack[:-1], call.end - call.begin
        row = found[PROCESSES[call.thread], call.thread, call.stack[-1]]
        row[0] += 1
        row[1] += 0 if call.stack[-1] in around else length
        row[2] += length
        row[3] += call.open
        if around:
            found[PROCESSES[call.thread], call.thread, around[-1]][2] -= length
    return dict(found)


def folded(calls):
    lines = collections.Counter()
    for call in calls:
        lines[call.stack] += call.end - call.begin
        lines[call.stack[:-1]] -= call.end - call.begin
    return {";".join(stack): value for stack, value in lines.items() if stack and value}


class Bench:
    def __init__(self, tool, directory):
        self.tool, self.directory = tool, directory

    def run(self, *words):
        return subprocess.run([self.tool, *words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode()

    def lines(self, *words):
        return [json.loads(line) for line in self.run(*words).splitlines()]

    def stat(self, path):
        return {(row["process"], row["thread"], row["name"]): [row[key] for key in ("count", "total_ns", "self_ns", "open")]
                for row in self.lines("stat", "--json", "--by", "thread", path)}

    def test(self, seed):
        """Yields what is wrong."""
        data = self.directory / str(seed)
        calls = write(data, seed)
        yield "stat", self.stat(data), rows(calls)
        for name in ("x.fxt", "x.json"):
            self.run("convert", data, "-o", data / name)
            yield name, self.stat(data / name), rows(calls)
        (data / "x.json").unlink()
        (data / "x.fxt").unlink()
        for words in (("convert", "--to", "folded"), ("flame", "--folded")):
            lines = (line.rsplit(" ", 1) for line in self.run(*words, data).splitlines())
            yield words, {stack: int(value) for stack, value in lines}, folded(calls)
        start = min(call.begin for call in calls)
        begins = collections.Counter((row["process"], row["thread"], row["name"], row["time_ns"])
                                     for row in self.lines("convert", "--to", "jsonl", data) if row["kind"] == "slice-begin")
        yield "begins", begins, collections.Counter(
            (PROCESSES[call.thread], call.thread, call.stack[-1], call.begin - start) for call in calls)


def main():
    bench, wrong = Bench(sys.argv[1], pathlib.Path(sys.argv[2])), 0
    for seed in range(int(sys.argv[3])):
        for what, found, wanted in bench.test(seed):
            for key in found.keys() | wanted.keys():
                if found.get(key) != wanted.get(key):
                    print(f"{seed}, {what}: {key} is {found.get(key)}, not {wanted.get(key)}")
                    wrong += 1
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
