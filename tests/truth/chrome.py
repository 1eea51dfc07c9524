#!/usr/bin/python3
# chrome.py - compares what tests/scripts/check_chrome.py adds up in a Chrome trace with the truth.
# SPDX-License-Identifier: Apache-2.0
"""Usage: chrome.py CHECKED.json STAT.json TRUTH.json

CHECKED.json is the checker's output; STAT.json only gives each function id its name. Counts and times must be equal,
and so must the number of threads.
"""
import json
import sys


def differences(checked, names, truth):
    wanted = {names[function]: row for function, row in truth["functions"].items()}
    slices = checked["slices"]
    for name in sorted(set(slices) ^ set(wanted)):
        yield f"{name}: only in " + ("the trace" if name in slices else "the truth")
    for name in sorted(set(slices) & set(wanted)):
        for ours, theirs in (("count", "count"), ("open", "open"), ("unwound", "unwound"), ("total_ns", "ended_ns")):
            if slices[name][ours] != wanted[name][theirs]:
                yield f"{name}: {ours} is {slices[name][ours]}, not {wanted[name][theirs]}"
    if len(checked["threads"]) != truth["threads"]:
        yield f"{len(checked['threads'])} threads have events, there are {truth['threads']}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        checked = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        names = {str(row["id"]): row["name"] for row in map(json.loads, file)}
    with open(sys.argv[3], encoding="utf-8") as file:
        found = list(differences(checked, names, json.load(file)))
    print("\n".join(found) or f"{len(names)} functions agree")
    sys.exit(bool(found) or not names)


if __name__ == "__main__":
    main()
