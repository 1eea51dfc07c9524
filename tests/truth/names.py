#!/usr/bin/python3
# names.py - compares the names of `trackway stat --json --binary` with those of `llvm-xray extract -symbolize`.
# SPDX-License-Identifier: Apache-2.0
"""Usage: names.py STAT.json MAP.yaml"""
import json
import sys

import yaml


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        names = {entry["id"]: entry["function-name"] for entry in yaml.load(file, Loader=yaml.CSafeLoader)}
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = [f"function {row['id']} is {row['name']!r}, not {names.get(row['id'])!r}"
             for row in rows if row["name"] != names.get(row["id"])]
    print("\n".join(found) or f"{len(rows)} names agree")
    sys.exit(bool(found) or not rows)


if __name__ == "__main__":
    main()
