#!/usr/bin/python3
# uftrace.py - writes a data directory of uftrace from its layout, and adds up what `uftrace dump` shows of one.
# SPDX-License-Identifier: Apache-2.0
"""usage: uftrace.py write DIRECTORY | uftrace.py compare DUMP.txt STAT.json | uftrace.py arguments DUMP.txt RECORDS.json
    | uftrace.py switches DUMP.txt RECORDS.json | uftrace.py records DUMP.txt RECORDS.json
    | uftrace.py kernel DIRECTORY | uftrace.py kernel-calls DUMP.txt RECORDS.json

write: two threads of one process and a forked child, with arguments behind records, a recursion, an event, lost records and names
of threads. compare: counts and times by function, from the text of `uftrace dump`, must be those of `trackway stat --json`.
arguments: the values that it shows must be those of `trackway dump --json`. switches: the same of when threads got
a CPU and left it, from the first function on. records: entries and exits that it shows, with names where they are not
demangled, must be those of `trackway dump --json`. kernel: puts functions and events of the kernel beside what was recorded,
laid out as events/header_page and events/header_event of tracefs say, and prints what they are. kernel-calls: those that it
shows must be those of `trackway dump --json`.
"""
import collections
import json
import pathlib
import re
import struct
import subprocess
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


def records(dump, found):
    matches = [match for match in map(LINE.match, pathlib.Path(dump).read_text(errors="replace").splitlines()) if match]
    symbols = sorted({match[5] for match in matches})
    names = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=True).stdout.splitlines()
    names = dict(zip(symbols, names)) if any(symbol.startswith("_Z") for symbol in symbols) else {}
    told = collections.Counter((int(m[3]), m[4].strip(), int(m[1] + m[2]), int(m[6]), names.get(m[5])) for m in matches)
    rows = [row for row in map(json.loads, open(found, encoding="utf-8")) if row["record"] in ("entry", "exit")]
    rows = collections.Counter(
        (row["tid"], row["record"], row["time"], row["depth"], row["name"] if names else None) for row in rows)
    print(told.total(), "records,", len(names), "names", *(told - rows), "found:", *(rows - told), sep="\n")
    sys.exit(told != rows or len(told) < 100)


# ---- The kernel. ----

COMMON = ("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
          "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
          "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
          "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n")
PAGE, KERNEL_ENTRY, KERNEL_EXIT, OPENED = 4096, 11, 10, 601
FORMATS = {
    "events/header_page": "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;"
                          "\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;"
                          "\tsize:4080;\tsigned:1;\n",
    "events/ftrace/funcgraph_entry/format":
        f"name: funcgraph_entry\nID: {KERNEL_ENTRY}\nformat:\n{COMMON}\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt: \"--> %lx (%d)\", REC->func, REC->depth\n",
    "events/ftrace/funcgraph_exit/format":
        f"name: funcgraph_exit\nID: {KERNEL_EXIT}\nformat:\n{COMMON}\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
        "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
        "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
        "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n"
        "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt: \"<-- %lx (%d)\", REC->func, REC->depth\n",
    "events/fs/opened/format":
        f"name: opened\nID: {OPENED}\nformat:\n{COMMON}\tfield:int mode;\toffset:8;\tsize:4;\tsigned:1;\n"
        "\tfield:__data_loc char[] path;\toffset:12;\tsize:4;\tsigned:0;\n\tfield:char comm[8];\toffset:16;\tsize:8;\tsigned:0;\n"
        "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
        "print fmt: \"mode=%d path=%s\", REC->mode, __get_str(path)\n",
}
KALLSYMS = {"sys_read": 0xFFFFFFFF81001000, "vfs_read": 0xFFFFFFFF81002000, "rw_verify": 0xFFFFFFFF81003000}


def kernel_data(kind, thread, name="", depth=0, extra=b""):
    head = struct.pack("<HBBi", kind, 0, 0, thread)
    if kind == KERNEL_ENTRY:
        return head + struct.pack("<Qi", KALLSYMS[name], depth)
    if kind == KERNEL_EXIT:
        return head + struct.pack("<QiIQQ", KALLSYMS[name], depth, 0, 0, 0)
    return head + extra


def opened(thread, mode, path, about=0):
    text = path.encode() + b"\0"
    fields = struct.pack("<iI8si", mode, 28 | len(text) << 16, b"cat", about) + text
    return kernel_data(OPENED, thread, extra=fields + bytes(-len(fields) % 4))


def kernel_page(time, records, missed=None):
    """Records (time, data) from a time on; how many are missing before them."""
    body, before = b"", time
    for at, data in records:
        delta, before = at - before, at
        if delta >> 27:  # more than fits
            body += struct.pack("<II", 30 | (delta & (1 << 27) - 1) << 5, delta >> 27)
            delta = 0
        words = len(data) // 4
        body += struct.pack("<I", delta << 5 | words) if words <= 28 else struct.pack("<II", delta << 5, len(data) + 4)
        body += data
    flags = 0 if missed is None else 3 << 30
    count = b"" if missed is None else struct.pack("<Q", missed)
    page = struct.pack("<QQ", time, len(body) | flags) + body + count
    return page + bytes(PAGE - len(page))


def kernel_rows(thread, start):
    """What the kernel did from a time on: on two CPUs, in turns."""
    first = [(start + 10, kernel_data(KERNEL_ENTRY, thread, "sys_read", 0)),
             (start + 15, kernel_data(KERNEL_ENTRY, thread, "rw_verify", 1)),
             (start + 20, kernel_data(KERNEL_EXIT, thread, "rw_verify", 1)),
             (start + 22, opened(thread, -5, "/etc/" + "long" * 40)),
             (start + 23, opened(1, 7, "x", about=thread)),  # of another, about this one
             (start + 24, kernel_data(KERNEL_ENTRY, 1, "sys_read", 0))]  # of nobody that was recorded
    second = [(start + 30, kernel_data(KERNEL_ENTRY, thread, "vfs_read", 1)),
              (start + 60, kernel_data(KERNEL_EXIT, thread, "vfs_read", 1))]
    third = [(start + 70, kernel_data(KERNEL_EXIT, thread, "sys_read", 0)),
             (start + 70 + (1 << 30), kernel_data(KERNEL_ENTRY, thread, "sys_read", 0)),
             (start + 75 + (1 << 30), kernel_data(KERNEL_EXIT, thread, "sys_read", 0))]
    return first, second, third


def write_kernel(directory, thread, start):
    first, second, third = kernel_rows(thread, start)
    header = "PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n" + "".join(
        f"TRACEFS: {name}: {len(text)}\n{text}" for name, text in FORMATS.items())
    (directory / "kernel_header").write_text(header)
    (directory / "kallsyms").write_text("".join(
        f"{address:016x} {kind} {name}{module}\n" for (name, address), kind, module in
        zip(KALLSYMS.items(), "TtT", ("", "", "\t[fs]"))) + "ffffffff82000000 D jiffies\n")
    (directory / "kernel-cpu0.dat").write_bytes(kernel_page(start, first) + kernel_page(start, third, missed=3))
    (directory / "kernel-cpu1.dat").write_bytes(kernel_page(start, second))
    info = directory / "info"
    text = bytearray(info.read_bytes())
    text[16] |= 1 << 2  # there is something of the kernel
    info.write_bytes(text)


def kernel(directory):
    tid = int(re.search(r"TASK .*tid=(\d+)", (directory / "task.txt").read_text())[1])
    write_kernel(directory, tid, struct.unpack_from("<Q", (directory / f"{tid}.dat").read_bytes())[0])


KERNEL_LINE = re.compile(r"^(\d+)\.(\d{9})\s+(\d+): \[(entry|exit )\] (\w+)\(ffff\w+\) depth: (\d+)$")


def kernel_calls(dump, records):
    matches = [match for match in map(KERNEL_LINE.match, pathlib.Path(dump).read_text().splitlines()) if match]
    told = {(int(m[1] + m[2]), int(m[3]), m[4].strip(), m[5], int(m[6])) for m in matches if int(m[3]) != 1}
    rows = [row for row in map(json.loads, open(records, encoding="utf-8")) if row["record"].startswith("kernel-e")]
    found = {(row["time"], row["tid"], row["record"][7:], row["name"], row["depth"]) for row in rows if "address" in row}
    assert found == told and len(told) == 8, (found, told)
    print(len(told), "entries and exits")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "switches":
        switches(*sys.argv[2:])
    elif sys.argv[1] == "arguments":
        arguments(*sys.argv[2:])
    elif sys.argv[1] == "records":
        records(*sys.argv[2:])
    elif sys.argv[1] == "kernel":
        kernel(pathlib.Path(sys.argv[2]))
    elif sys.argv[1] == "kernel-calls":
        kernel_calls(*sys.argv[2:])
    else:
        compare(*sys.argv[2:])
