#!/usr/bin/python3
# compare.py - compares `trackway stat --json` with the truth, and with what the program itself counted.
# SPDX-License-Identifier: Apache-2.0
"""Usage: compare.py STAT.json TRUTH.json [COUNTS.json]

STAT.json: `trackway stat --json` (with --binary when there are COUNTS); TRUTH.json: what truth.py prints; COUNTS.json:
function name -> calls, as the program printed. Every function must be in all of them. Counts, totals, self times, min and
max must be equal; percentiles within 1 % and 1 ns. Prints each difference; the exit status is 1 when there is one.
"""
import json
import sys

EXACT = ["count", "open", "unwound", "total_ns", "self_ns", "min_ns", "max_ns"]
NEAR = ["p50_ns", "p90_ns", "p99_ns"]


def near(found, expected):
    if found is None or expected is None:
        return found is expected
    return abs(found - expected) <= expected / 100 + 1


def against_truth(rows, truth):
    for function in sorted(set(rows) ^ set(truth), key=int):
        yield f"function {function}: only in " + ("stat" if function in rows else "the truth")
    for function in sorted(set(rows) & set(truth), key=int):
        row, expected = rows[function], truth[function]
        for field in EXACT:
            if row[field] != expected[field]:
                yield f"function {function} ({row['name']}): {field} is {row[field]}, not {expected[field]}"
        for field in NEAR:
            if not near(row[field], expected[field]):
                yield f"function {function} ({row['name']}): {field} is {row[field]}, not about {expected[field]}"


def against_counts(rows, counts):
    found = {}
    for row in rows.values():
        found[row["name"]] = found.get(row["name"], 0) + row["count"]
    for name in sorted(set(found) | set(counts)):
        if found.get(name) != counts.get(name):
            yield f"{name}: {found.get(name)} calls in stat, {counts.get(name)} by the program's own count"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = {str(row["id"]): row for row in map(json.loads, file)}
    with open(sys.argv[2], encoding="utf-8") as file:
        differences = list(against_truth(rows, json.load(file)["functions"]))
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8") as file:
            differences += against_counts(rows, json.load(file))
    if not rows:
        differences.append("stat printed nothing")
    print("\n".join(differences) or f"{len(rows)} functions agree")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
