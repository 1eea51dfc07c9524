#!/usr/bin/python3
# exports_samples.py - compares what samples weigh in the profiles of four formats with `trackway stat --json`.
# SPDX-License-Identifier: Apache-2.0
"""Usage: exports_samples.py, in a directory with WEIGHT.json for each weight (stat --json --weight WEIGHT), out.speedscope.json,
out.pprof, out.callgrind and out.firefox.json, all of one log. Prints each difference; the exit status is 1 when there is one.
"""
import collections
import decimal
import gzip
import json
import sys

import protobuf
from exports import firefox_names
from protobuf import first, message

WEIGHTS = ("samples", "cpu", "wall", "bytes", "allocations")
WORDS = {" (samples)": "samples", " (CPU time)": "cpu", " (wall time)": "wall", " (allocated)": "bytes"}


def weight_of(name):
    return next((weight for word, weight in WORDS.items() if name.endswith(word)), None)


def of_speedscope():
    with open("out.speedscope.json", encoding="utf-8") as file:
        data = json.load(file)
    sums = collections.Counter()
    for profile in data["profiles"]:
        if profile["type"] == "sampled":
            sums[weight_of(profile["name"])] += sum(profile["weights"])
    return sums


def of_firefox():
    with open("out.firefox.json", encoding="utf-8") as file:
        data = json.load(file, parse_float=decimal.Decimal)
    sums = collections.Counter()
    for thread in data["threads"]:
        weight = weight_of(thread["name"])
        if weight:
            assert len(firefox_names(thread)) == thread["stackTable"]["length"]
            sums[weight] += int(sum(thread["samples"]["weight"]) * (1000000 if weight in ("cpu", "wall") else 1))
    return sums


def of_pprof():
    with gzip.open("out.pprof", "rb") as file:
        profile = message(file.read())
    strings = [text.decode() for text in profile[6]]
    names = {"samples": "samples", "cpu": "cpu", "sampled_wall": "wall", "alloc_space": "bytes", "alloc_objects": "allocations"}
    types = [names.get(strings[first(message(value), 1)]) for value in profile[1]]
    sums = collections.Counter()
    for sample in map(message, profile[2]):
        for weight, value in zip(types, protobuf.packed(first(sample, 2)), strict=True):
            sums[weight] += value
    return sums


def of_callgrind():
    names = {"samples": "samples", "cpu_ns": "cpu", "wall_ns": "wall", "bytes": "bytes", "objects": "allocations"}
    words = {}
    with open("out.callgrind", encoding="utf-8") as file:
        for line in file:
            key, colon, value = line.partition(":")
            if colon and key in ("events", "totals"):
                words[key] = value.split()
    return collections.Counter({names.get(name): int(value) for name, value in zip(words["events"], words["totals"])})


def main():
    expected = {}
    for weight in WEIGHTS:
        with open(f"{weight}.json", encoding="utf-8") as file:
            expected[weight] = sum(json.loads(line)["self"] for line in file)
    assert all(expected.values()), expected
    wrong = 0
    for format_, sums in (("speedscope", of_speedscope()), ("firefox", of_firefox()), ("pprof", of_pprof()),
                          ("callgrind", of_callgrind())):
        for weight in WEIGHTS:
            if weight == "allocations" and weight not in sums:
                continue
            if sums[weight] != expected[weight]:
                print(f"{format_}: {weight}: {sums[weight]}, not {expected[weight]}")
                wrong += 1
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
