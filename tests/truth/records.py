#!/usr/bin/python3
# records.py - compares `trackway dump --json` with what fdr.py decodes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: records.py DUMP.json LOG

Every record must be there, in the order of the file, with all fields that fdr.py knows and the same values; the dump may
have more fields. Prints the first differences; the exit status is 1 when there is one.
"""
import itertools
import json
import sys

import fdr


def differences(dump, expected):
    for found, wanted in itertools.zip_longest(dump, expected):
        if found is None or wanted is None:
            yield f"{'missing' if found is None else 'too many'}: {wanted or found}"
        elif any(found.get(key) != value for key, value in wanted.items()):
            yield f"found {found}, not {wanted}"


def main():
    with open(sys.argv[2], "rb") as file:
        expected = [fdr.shown(record) for record in fdr.records(fdr.Log(file.read()))]
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(itertools.islice(differences(map(json.loads, file), expected), 5))
    print("\n".join(found) or f"{len(expected)} records agree")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
