#!/usr/bin/python3
# account.py - compares `trackway stat --json` with `llvm-xray account -f csv`.
# SPDX-License-Identifier: Apache-2.0
"""Usage: account.py STAT.json ACCOUNT.csv [RECURSIVE...]

Only for logs that account reads right: one thread in one buffer. Counts must be equal, min and max to the seven digits
that account prints. So must the totals, but for functions that call themselves, whose names are given: account adds the
time of inner calls again.
"""
import csv
import json
import sys


def near(ns, seconds):
    return abs(ns - float(seconds) * 1e9) <= max(1.0, ns * 1e-6)


def differences(rows, accounts, recursive):
    for function in sorted(set(rows) ^ set(accounts)):
        yield f"function {function}: only in " + ("stat" if function in rows else "account")
    for function in sorted(set(rows) & set(accounts)):
        row, account = rows[function], accounts[function]
        if row["count"] != int(account["count"]):
            yield f"{row['name']}: {row['count']} calls, {account['count']} by account"
        fields = {"min_ns": "min", "max_ns": "max"}
        if row["name"] not in recursive:
            fields["total_ns"] = "sum"
        for ours, theirs in fields.items():
            if not near(row[ours], account[theirs]):
                yield f"{row['name']}: {ours} is {row[ours]}, {account[theirs]} s by account"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = {row["id"]: row for row in map(json.loads, file)}
    with open(sys.argv[2], encoding="utf-8") as file:
        accounts = {int(row["funcid"]): row for row in csv.DictReader(file)}
    found = list(differences(rows, accounts, sys.argv[3:]))
    print("\n".join(found) or f"{len(rows)} functions agree")
    sys.exit(bool(found) or not rows)


if __name__ == "__main__":
    main()
