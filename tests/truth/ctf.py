#!/usr/bin/python3
# ctf.py - what babeltrace2 shows of a CTF directory, compared with the same trace as JSON Lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ctf.py DIRECTORY ROWS.jsonl

Prints the first event of which babeltrace2 shows another thing than its row tells, a field too much or one too few; the exit
status is 1 when there is one.
"""
import itertools
import json
import re
import subprocess
import sys

HEAD = re.compile(r"\[(\d+)\.(\d{9})\] ([a-z-]+): ")
FIELD = re.compile(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(\d+))')
ESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.)")
CONTROLS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
NUMBERS = ("process", "thread", "value", "id")
UNKNOWN = (1 << 64) - (1 << 31) - 1  # what CTF, which has numbers only, has for "?"


def unescape(text):
    return ESCAPE.sub(lambda found: chr(int(found[1][1:], 16)) if len(found[1]) == 3 else CONTROLS.get(found[1], found[1]), text)


def events(path):
    """Of a directory: a dictionary each, with the time as it is shown."""
    shown = subprocess.run(["babeltrace2", "--clock-seconds", "--no-delta", path], capture_output=True, check=True)
    if shown.stderr:
        raise ValueError(shown.stderr.decode())
    for line in shown.stdout.decode().split("\n")[:-1]:  # a name may hold what ends lines elsewhere: U+2028
        head = HEAD.match(line)
        event = {"time_ns": int(head[1] + head[2]), "kind": head[3]}
        for name, text, number in FIELD.findall(line, head.end()):
            event[name] = int(number) if number else unescape(text)
        yield event


def row_of(event, start):
    event["time_ns"] -= start
    if "args" in event:
        event["args"] = json.loads(event["args"])
    return event


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    start = None
    for row, event in itertools.zip_longest(rows, events(sys.argv[1])):
        if start is None and row and event:
            start = event["time_ns"] - row["time_ns"]
        row = row and row | {name: UNKNOWN if row[name] == "?" else int(row[name]) % (1 << 64) for name in NUMBERS if name in row}
        event = event and row_of(event, start)
        if row != event:
            print(f"{row}\n{event}")
            sys.exit(1)
    print(f"{len(rows)} events agree")


if __name__ == "__main__":
    main()
