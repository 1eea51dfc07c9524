#!/usr/bin/python3
"""seeds.py - inputs for the fuzz targets to start from: the test traces, whole and damaged, behind a byte of options."""
# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import sys
import zlib

# One byte in front selects options: see fuzz_options() in common.c. None, all checks, time order, file order, the filters.
SELECTORS = [0x00, 0x04, 0x05, 0x0A, 0x14, 0x24, 0x44, 0x84, 0xF7]
LARGEST = 1 << 16
FXT_PART = 1 << 13


def damaged(log):
    """The log, its first half, and the log with a byte in the middle turned over."""
    middle = len(log) // 2
    yield log
    yield log[:middle]
    yield log[:middle] + bytes([log[middle] ^ 0xFF]) + log[middle + 1:]


def xray_logs(data):
    for path in sorted(data.rglob("*.xray")):
        if 0 < path.stat().st_size <= LARGEST:
            yield path.stem, path.read_bytes()


def fxt_archives(data):
    """Parts of the archives, and each of the single records; these also with words the other way round."""
    for path in sorted(data.rglob("*.fxt")):
        archive = path.read_bytes()
        for at in range(0, min(len(archive), 4 * FXT_PART), FXT_PART):
            yield f"{path.stem}-{at}", archive[at:at + FXT_PART]
    for line in (data / "fxt/vectors.tsv").read_text().splitlines():
        name, words = line.split("\t")
        for order in "little", "big":
            yield f"{name}-{order}", b"".join(int(word, 16).to_bytes(8, order) for word in words.split())


def chrome_traces(data):
    """The trace whole, and its events one by one, as JSON that begins with them."""
    for path in sorted(data.rglob("*.json")):
        yield path.stem, path.read_bytes()
        for i, event in enumerate(json.loads(path.read_text())["traceEvents"]):
            yield f"{path.stem}-event{i}", json.dumps([event]).encode()


def main():
    out, tests = map(pathlib.Path, sys.argv[1:])
    traces = [*xray_logs(tests / "data"), *fxt_archives(tests / "data"), *chrome_traces(tests / "data")]
    out.mkdir(parents=True, exist_ok=True)
    for name, trace in traces:
        start = zlib.crc32(name.encode()) % len(SELECTORS)
        for i, variant in enumerate(damaged(trace)):
            selector = SELECTORS[(start + i) % len(SELECTORS)]
            (out / f"{name}-{i}").write_bytes(bytes([selector]) + variant)


main()
