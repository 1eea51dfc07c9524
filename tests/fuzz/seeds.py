#!/usr/bin/python3
"""seeds.py - inputs for the fuzz targets to start from: the test logs, whole and damaged, behind a byte of options."""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import sys
import zlib

# One byte in front selects options: see fuzz_options() in common.c. None, all checks, time order, file order, the filters.
SELECTORS = [0x00, 0x04, 0x05, 0x0A, 0x14, 0x24, 0x44, 0x84, 0xF7]
LARGEST = 1 << 16


def damaged(log):
    """The log, its first half, and the log with a byte in the middle turned over."""
    middle = len(log) // 2
    yield log
    yield log[:middle]
    yield log[:middle] + bytes([log[middle] ^ 0xFF]) + log[middle + 1:]


def main():
    out, tests = map(pathlib.Path, sys.argv[1:])
    logs = sorted(path for path in (tests / "data").rglob("*.xray") if 0 < path.stat().st_size <= LARGEST)
    if not logs:
        sys.exit(f"{tests / 'data'}: no logs to make seeds of")
    out.mkdir(parents=True, exist_ok=True)
    for path in logs:
        log = path.read_bytes()
        start = zlib.crc32(path.name.encode()) % len(SELECTORS)
        for i, variant in enumerate(damaged(log)):
            selector = SELECTORS[(start + i) % len(SELECTORS)]
            (out / f"{path.stem}-{i}").write_bytes(bytes([selector]) + variant)


main()
