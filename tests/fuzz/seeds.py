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
TEXT_PART = 1 << 13


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


def xtraces():
    """Tokens of every kind one after the other, and two snapshots with vectors of 128 bits, by the document."""
    word = b"\x10\x20\x30\x40\0\0\0\0"
    tokens = b"\x09" + word + b"\x1f\x20\x03\xd5" + b"\x01\x1f\x20\x03\xd5" + b"\x49" + word + b"\0\0\0\xd4"
    tokens += b"".join(bytes([memory | k << 4]) + word + bytes(1 << k) for memory in (2, 10) for k in range(5))
    tokens += b"".join(bytes([value]) + word for value in (0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x1c, 0x07))
    tokens += b"\x0c" + 32 * word + b"\x24" + (2).to_bytes(8, "little") + 4 * word
    yield "xtrace-tokens", tokens
    snapshots = b"".join((count << 64 | count << 128).to_bytes(1416, "little") + (128).to_bytes(8, "little")
                         for count in (1, 2))
    yield "xtrace-snapshots", bytes(24) + snapshots
    part = len(tokens) * 255 // len(tokens + bytes(24) + snapshots) + 1
    yield "xtrace-set", bytes([part]) + tokens + bytes(24) + snapshots


def tracelog_logs(data):
    """Parts of the logs, among them one line of every kind and spelling."""
    for path in sorted((data / "tracelog").glob("*.log")):
        log = path.read_bytes()
        for at in range(0, min(len(log), 4 * TEXT_PART), TEXT_PART):
            yield f"{path.stem}-{at}", log[at:at + TEXT_PART]


def stacks():
    """Folded stacks, and lines for diff --flame."""
    yield "folded", (b"# profiler\nmain;parse;read 12\nmain;walk;walk 2.6\n;x 1\n5\nbad\na;\xff 99999999999999999999\r\n"
                     b"#1;#2 40")
    yield "two-numbers", b"main 1 2\nmain;a;b 10 20\r\n# said\n\nmain;new 0 5\nmain;a;old 7 0"


def main():
    out, tests = map(pathlib.Path, sys.argv[1:])
    traces = [*xray_logs(tests / "data"), *fxt_archives(tests / "data"), *chrome_traces(tests / "data"),
              *tracelog_logs(tests / "data"), *xtraces(), *stacks()]
    out.mkdir(parents=True, exist_ok=True)
    for name, trace in traces:
        start = zlib.crc32(name.encode()) % len(SELECTORS)
        for i, variant in enumerate(damaged(trace)):
            selector = SELECTORS[(start + i) % len(SELECTORS)]
            (out / f"{name}-{i}").write_bytes(bytes([selector]) + variant)


main()
