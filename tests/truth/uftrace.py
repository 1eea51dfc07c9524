#!/usr/bin/python3
# uftrace.py - writes a data directory of uftrace from its layout, and adds up what `uftrace dump` shows of one.
# SPDX-License-Identifier: Apache-2.0
"""usage: uftrace.py write DIRECTORY | uftrace.py compare DUMP.txt STAT.json | uftrace.py arguments DUMP.txt RECORDS.json
    | uftrace.py switches DUMP.txt RECORDS.json

write: two threads of one process and a forked child, with arguments behind records, a recursion, an event, lost records and names
of threads. compare: counts and times by function, from the text of `uftrace dump`, must be those of `trackway stat --json`.
arguments: the values that it shows must be those of `trackway dump --json`. switches: the same of when threads got
a CPU and left it, from the first function on.
"""
import collections
import json
import pathlib
import re
import struct
import sys

ENTRY, EXIT, LOST, EVENT = range(4)
BASE = 0x5500_0000_0000
MAIN, WORK, WALK, PUTS = 0x1139, 0x1200, 0x1300, 0x1030


def record(time, kind, depth, address, data=b""):
    word = kind | bool(data) << 2 | 5 << 3 | depth << 6 | address << 16
    return struct.pack("<QQ", time, word) + data


def calls():
    """The main thread: 100 ns in main, twice into work, with 8 and 24 bytes of arguments, and a walk that calls itself."""
    second = 5_000_000_000
    rows = [
        (0, ENTRY, 0, MAIN, b""), (10, ENTRY, 1, WORK, struct.pack("<Q", 7)), (30, EXIT, 1, WORK, struct.pack("<Q", 9)),
        (35, EVENT, 0, 1000001, b""), (40, ENTRY, 1, WORK, struct.pack("<HH20s", 19, 0x6568, b"llo")), (45, EXIT, 1, WORK, b""),
        (50, ENTRY, 1, WALK, b""), (55, ENTRY, 2, WALK, b""), (60, ENTRY, 3, PUTS, b""), (64, EXIT, 3, PUTS, b""),
        (70, EXIT, 2, WALK, b""), (80, EXIT, 1, WALK, b""), (100, EXIT, 0, MAIN, b""),
    ]
    return b"".join(record(second + time, kind, depth, address if kind == EVENT else BASE + address, data)
                    for time, kind, depth, address, data in rows)


def thread():
    second = 5_000_000_000
    return b"".join((record(second + 20, ENTRY, 0, BASE + WORK), record(second + 25, LOST, 0, 3),
                     record(second + 90, EXIT, 0, BASE + WORK)))


def write(directory):
    directory.mkdir(parents=True)
    header = b"Ftrace!\0" + struct.pack("<IHBBQQHHHH", 4, 40, 1, 2, 0x163, 0x3FFF, 1024, 0, 0, 0)
    (directory / "info").write_bytes(header + b"exename:/opt/prog\ncmdline:uftrace record ./prog\n")
    (directory / "task.txt").write_text(
        'SESS timestamp=4.900000000 pid=70 sid=00112233aabbccdd exename="/opt/prog"\n'
        "TASK timestamp=4.900000001 tid=70 pid=70\nTASK timestamp=4.950000000 tid=71 pid=70\n"
        "FORK timestamp=4.960000000 pid=80 ppid=70\n")
    (directory / "sid-00112233aabbccdd.map").write_text(
        f"{BASE:x}-{BASE + 0x1000:x} r--p 00000000 08:01 42  /opt/prog\n"
        f"{BASE + 0x1000:x}-{BASE + 0x5000:x} r-xp 00001000 08:01 42  /opt/prog build-id:0123\n"
        "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0  [stack]\n")
    (directory / "prog.sym").write_text(
        "# symbols: 4\n# path name: /opt/prog\n"
        f"{PUTS:016x} P puts\n{PUTS + 16:016x} ? __dynsym_end\n{MAIN:016x} T main\n{WORK:016x} t work\n"
        f"{WALK:016x} T walk(int)\n{WALK + 64:016x} ? __sym_end\n")
    (directory / "events.txt").write_text("EVENT: 1000001 app:ready\n")
    (directory / "70.dat").write_bytes(calls())
    (directory / "71.dat").write_bytes(thread())
    (directory / "80.dat").write_bytes(record(5_000_000_200, ENTRY, 0, BASE + WALK) + record(5_000_000_260, EXIT, 0, BASE + WALK))
    comm = struct.pack("<IHHII16s", 3, 0, 48, 70, 71, b"worker") + struct.pack("<IIQ", 70, 71, 4_950_000_000)
    (directory / "perf-cpu0.dat").write_bytes(comm)


LINE = re.compile(r"^(\d+)\.(\d{9})\s+(\d+): \[(entry|exit )\] (.*)\([0-9a-f]+\) depth: (\d+)$")


def compare(dump, stat):
    totals, stacks = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list)
    for line in pathlib.Path(dump).read_text().splitlines():
        match = LINE.match(line)
        if not match:
            continue
        seconds, ns, thread_id, kind, name, _ = match.groups()
        time, stack = int(seconds + ns), stacks[thread_id]
        if kind == "entry":
            stack.append((name, time))
            totals[name][0] += 1
            continue
        opened, begin = stack.pop()
        assert opened == name, line
        if all(other != name for other, _ in stack):
            totals[name][1] += time - begin
    found = {row["name"]: [row["count"], row["total_ns"]] for row in map(json.loads, open(stat, encoding="utf-8"))}
    wrong = {name: (found.get(name), totals.get(name)) for name in found.keys() | totals.keys()
             if found.get(name) != totals.get(name)}
    print(f"{len(totals)} functions", *wrong.items(), sep="\n")
    sys.exit(bool(wrong) or not totals)


VALUE = re.compile(r"^  (?:args\[\d+\]|retval) (\w+)(?: \w+)?: ?(.*)$")


def shown(kind, text, value):
    """Whether a value is what uftrace shows: numbers are their bits, a text may go on in the next line."""
    if kind == "str":
        return value.split("\n")[0] == text
    if kind in ("f64", "f32"):
        wide = kind == "f64"
        return value == struct.unpack("<d" if wide else "<f", struct.pack("<Q" if wide else "<I", int(text, 16)))[0]
    if kind == "struct":
        return isinstance(value, str)  # its bytes are in the next line
    if kind == "c8":
        return ord(value) == int(text, 16)
    if kind == "enum":
        return int(re.search(r"\((\w+)\)", text)[1], 0) == value
    bits = 64 if kind == "p" else int(kind.lstrip("diuxoe"))
    number = 0 if text == "(nil)" else int(text.split()[0], 16)
    return (number - int(value)) % (1 << min(bits, 32) if value < 0 else 1 << bits) == 0


def arguments(dump, records):
    groups, group = [], None
    for line in pathlib.Path(dump).read_text(errors="replace").splitlines():
        if "] length = " in line:
            group = []
            groups.append(group)
        match = VALUE.match(line)
        if match:
            group.append(match.groups())
    found = [row for row in map(json.loads, open(records, encoding="utf-8")) if "arguments" in row or "data" in row]
    assert len(found) == len(groups) > 10, (len(found), len(groups))
    for row, group in zip(found, groups):
        values = list(row["arguments"].values())
        assert len(values) == len(group), (row, group)
        for value, (kind, text) in zip(values, group):
            assert shown(kind, text, value), (row, kind, text, value)
    kinds = {kind for group in groups for kind, _ in group}
    print(len(groups), "records with values of", *sorted(kinds))


SWITCH = re.compile(r"^(\d+)\.(\d{9})\s+(\d+): \[event\] linux:(sched-in|sched-out)( \(pre-empted\))?\(")


def switches(dump, records):
    lines = pathlib.Path(dump).read_text(errors="replace").splitlines()
    start = min(int(match[1] + match[2]) for match in map(LINE.match, lines) if match)
    told = [(int(match[1] + match[2]), int(match[3]), match[4], bool(match[5])) for match in map(SWITCH.match, lines) if match]
    rows = [row for row in map(json.loads, open(records, encoding="utf-8")) if row["record"].startswith("sched-")]
    found = [(row["time"], row["tid"], row["record"], row.get("preempted", False)) for row in rows]
    expected = sorted(row for row in told if row[0] >= start)
    assert sorted(found) == expected, (found, expected)
    print(len(found), "switches")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "switches":
        switches(*sys.argv[2:])
    elif sys.argv[1] == "arguments":
        arguments(*sys.argv[2:])
    else:
        compare(*sys.argv[2:])
