#!/usr/bin/python3
# flame.py - checks `trackway flame --folded` by adding up: against stat, function by function, and against the truth.
# SPDX-License-Identifier: Apache-2.0
"""Usage: flame.py FOLDED STAT.json TRUTH.json

Each line is a stack and the time in its innermost function alone. The lines whose innermost function is f add up to f's
self time; the lines with f anywhere in them, each once, to its total; all of them, which is the root of the graph, to the
sum of all self times. Names must be unique: use a program in which they are.
"""
import collections
import json
import sys


def read_folded(path):
    own, total = collections.Counter(), collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, time = line.rstrip("\n").rsplit(" ", 1)
            names = stack.split(";")
            own[names[-1]] += int(time)
            for name in set(names):
                total[name] += int(time)
    return own, total


def differences(own, total, rows, truth):
    for row in rows:
        if own[row["name"]] != row["self_ns"]:
            yield f"{row['name']}: {own[row['name']]} ns at the ends of stacks, self time {row['self_ns']}"
        if total[row["name"]] != row["total_ns"]:
            yield f"{row['name']}: {total[row['name']]} ns in stacks, total {row['total_ns']}"
    root, expected = sum(own.values()), sum(row["self_ns"] for row in truth["functions"].values())
    if root != expected:
        yield f"the root has {root} ns, the truth {expected}"


def main():
    own, total = read_folded(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(sys.argv[3], encoding="utf-8") as file:
        found = list(differences(own, total, rows, json.load(file)))
    if not set(own) <= {row["name"] for row in rows}:
        found.append("stacks hold functions that stat does not know")
    print("\n".join(found) or f"{sum(own.values())} ns agree")
    sys.exit(bool(found) or not own)


if __name__ == "__main__":
    main()
