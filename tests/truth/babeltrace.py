#!/usr/bin/python3
# babeltrace.py - what babeltrace2 shows of a trace by Trackway's plugin, compared with the same trace as JSON Lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: babeltrace.py PLUGINS TRACE ROWS.jsonl STAT.json

Prints the first event of which babeltrace2 shows another thing than its row tells, or the functions whose slices are not
those of stat (an empty file: they are not compared); the exit status is 1 when there is one.
"""
import itertools
import json
import math
import re
import subprocess
import sys

import ctf
import exports

VALUE = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"|(?P<nothing>\{ \})|(?P<plain>[^\s,"{}]+)')


def agrees(found, value):
    """Whether a field as it is shown is a value of JSON, where large integers, pointers and odd numbers are texts."""
    if found["text"] is not None:
        return ctf.unescape(found["text"]) == value
    if found["nothing"]:
        return value is None
    plain = found["plain"]
    if isinstance(value, bool):
        return plain.lower() in (("false", "0"), ("true", "1"))[value]
    if isinstance(value, int):
        return plain == str(value) or float(plain) == value
    if isinstance(value, float):
        return math.isclose(float(plain), value, rel_tol=1e-5)
    if not isinstance(value, str):
        return False
    if value.startswith("0x"):
        return int(plain, 16) == int(value, 16)
    return plain == value or math.isclose(float(plain), float(value)) or math.isnan(float(plain)) == math.isnan(float(value))


def take_args(line, at, args):
    """The end of the arguments of an event, which begin there; they must be these, in this order."""
    for number, (name, value) in enumerate(args.items()):
        key = ("" if number == 0 else ", ") + f"{name} = "
        if not line.startswith(key, at):
            raise ValueError(f"no {name} at {line[at:]}")
        found = VALUE.match(line, at + len(key))
        if not agrees(found, value):
            raise ValueError(f"{name}: {value!r} is shown as {found[0]}")
        at = found.end()
    if not line.startswith(" }", at):
        raise ValueError(f"more arguments: {line[at:]}")
    return at + 2


def event_of(line, row):
    """An event as a row; its arguments are those of its row, or this is a ValueError."""
    head = ctf.HEAD.match(line)
    event = {"time_ns": int(head[1] + head[2]), "kind": head[3]}
    at = head.end()
    while found := re.compile(r"[^\w]*(\w+) = ").match(line, at):
        if found[1] == "args":
            at = take_args(line, found.end() + 2, row.get("args", {}))
            event["args"] = row["args"]
            continue
        value = VALUE.match(line, found.end())
        event[found[1]] = int(value["plain"]) if value["plain"] else ctf.unescape(value["text"])
        at = value.end()
    return event


def events(plugins, trace, rows):
    shown = subprocess.run(["babeltrace2", "--plugin-path", plugins, "--clock-seconds", "--no-delta", trace],
                           stdout=subprocess.PIPE, check=True)
    for line, row in itertools.zip_longest(shown.stdout.decode().split("\n")[:-1], rows):
        if line is None or row is None:
            raise ValueError(f"event {line}, row {row}")
        yield event_of(line, row)


def main():
    with open(sys.argv[3], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(sys.argv[4], encoding="utf-8") as file:
        stat = [json.loads(line) for line in file]
    found = []
    start = None
    for row, event in zip(rows, events(sys.argv[1], sys.argv[2], rows)):
        start = event["time_ns"] - row["time_ns"] if start is None else start
        row |= {name: int(row[name]) % (1 << 64) for name in ctf.NUMBERS if name in row}
        found.append(event | {"time_ns": event["time_ns"] - start})
        if row != found[-1]:
            sys.exit(f"{row}\n{found[-1]}")
    wrong = list(exports.differences(exports.read_rows(iter(found)), stat, False)) if stat and all("open" in row and "total_ns" in row for row in stat) else []
    print("\n".join(wrong) or f"{len(rows)} events and {len(stat)} names agree")
    sys.exit(bool(wrong) or not rows)


if __name__ == "__main__":
    main()
