#!/usr/bin/python3
# xtrace_tests.py - the tool against sets of an independent writer. Prints TAP.
# SPDX-License-Identifier: Apache-2.0
"""Usage: xtrace_tests.py --tool TRACKWAY"""
import argparse
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

import served
import xtrace
import xtrace_tokens

TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Bench:
    """A directory, the writer and the tool."""

    def __init__(self, tool, directory):
        self.tool, self.directory, self.count = tool, directory, 0
        self.server = served.Server(tool)

    def write(self, *options):
        """Writes a set; gives its directory and its facts."""
        self.count += 1
        path = self.directory / str(self.count)
        return path, xtrace.written([*map(str, options), str(path)])

    def run(self, *arguments, status=0, **more):
        if more:
            done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, **more)
        else:
            done = self.server.run(*map(str, arguments))
        out, err = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == status, (arguments, done.returncode, out[-500:], err[-500:])
        return out

    def lines(self, *arguments, **more):
        return [json.loads(line) for line in self.run(*arguments, "--json", **more).splitlines()]


def zstd(content):
    return subprocess.run(["zstd", "-qc"], input=content, capture_output=True, check=True).stdout


def data_of(path):
    return sorted(path.glob("*.xinsndata.bin"))


def snapshots_of(path):
    return sorted(path.glob("*.xsnapshot.bin"))


@test
def every_layout_is_found_in_the_files(bench):
    """Header, vector length, matrix, index and start of the data, each with each."""
    for header, bits, more in itertools.product((0, 19, 20, 24, 32), (128, 256, 384, 512, 640, 1024, 1920, 2048),
                                                (["--no-za"], ["--index", "count", "--start", 24], ["--order"])):
        path, facts = bench.write("--header", header, "--bits", bits, "--turns", 40, *more)
        info, = bench.lines("info", path)
        where = header, bits, more
        assert info["kinds"] == facts["kinds"], (where, info["kinds"], facts["kinds"])
        assert info["vector_bits"] == bits and info["lost_bytes"] == 0 and info["version"] == (header > 0), where
        assert [finding["rule"] for finding in bench.lines("check", path)] == [], where


@test
def info_counts_what_the_writer_wrote(bench):
    path, facts = bench.write("--threads", 3, "--kernel", "--order", "--turns", 1000)
    info, = bench.lines("info", path)
    assert info["kinds"] == facts["kinds"]
    assert info["files"] == 6 and info["threads"] == 3 and info["stream"] == 1 and info["has_order"] == 1
    for name in ("instructions", "user_instructions"):
        assert info[name] == facts[name]
    assert info["kernel_instructions"] == facts["instructions"] - facts["user_instructions"] > 0
    assert info["first_time"] == 1 and info["last_time"] == facts["kinds"]["time"]
    size = sum(file.stat().st_size for file in data_of(path))
    assert abs(info["bytes_per_instruction"] - size / facts["instructions"]) < 0.01
    assert sum(thread["records"] for thread in info["thread_list"]) == sum(facts["kinds"].values())


@test
def a_set_is_opened_by_any_of_its_files(bench):
    path, facts = bench.write("--threads", 2)
    for file in path.iterdir():
        info, = bench.lines("info", file)
        assert info["kinds"] == facts["kinds"], file


@test
def sets_of_two_times_stay_apart(bench):
    path, facts = bench.write()
    xtrace.written(["--timestamp", "17", "--turns", "7", str(path)])
    info, = bench.lines("info", path / "xtrace.1718000000.100.hint9.xinsndata.bin")
    assert info["kinds"] == facts["kinds"]
    bench.run("info", path, status=2)


@test
def files_without_names_are_read_too(bench):
    path, facts = bench.write("--turns", 100)
    data, = data_of(path)
    snapshots, = snapshots_of(path)
    with open(data, "rb") as stream:
        info, = bench.lines("info", "-", stdin=stream)
    assert {**info["kinds"], "snapshot": facts["kinds"]["snapshot"]} == facts["kinds"]
    renamed = path / "other"
    snapshots.rename(renamed)
    info, = bench.lines("info", "--from", "xtrace", renamed)
    assert info["kinds"] == {"snapshot": facts["kinds"]["snapshot"]}


@test
def compressed_files_are_a_set_too(bench):
    path, facts = bench.write("--turns", 3000)
    for file in [*data_of(path), *snapshots_of(path)]:
        subprocess.run(["gzip", file], check=True)
    info, = bench.lines("info", path)
    assert info["kinds"] == facts["kinds"]


@test
def files_of_one_set_are_read_once(bench):
    """As a shell makes them of DIR/*: any of them stands for all."""
    path, _ = bench.write("--threads", 2, "--order", "--turns", 30)
    other, _ = bench.write("--threads", 1, "--turns", 3, "--timestamp", "1718000001")
    files = data_of(path) + snapshots_of(path)
    for command in (["stat"], ["stacks"], ["graph"], ["check"]):
        wanted = bench.lines(*command, path)
        assert [{**row, "file": None} for row in bench.lines(*command, *files)] == [{**row, "file": None} for row in wanted], command
        done = subprocess.run([bench.tool, *command, *files], capture_output=True, text=True)
        assert f"3 files not read again: of the same trace as one before, the last: {files[-1]}" in done.stderr, done
    assert len(bench.lines("info", path, *files)) == 1 and len(bench.lines("info", *files, other)) == 2
    assert bench.lines("sql", *files, "select count(*) n from slice") == bench.lines("sql", path, "select count(*) n from slice")
    for merged, operands in ("one.fxt", [path, other]), ("files.fxt", [*files, other]):
        bench.run("merge", *operands, "-o", bench.directory / merged)
    assert (bench.directory / "one.fxt").read_bytes() == (bench.directory / "files.fxt").read_bytes()


@test
def files_of_two_times_in_a_directory_are_two_traces(bench):
    """The directory is neither: it cannot be read, and stands for none of the files."""
    folder = bench.directory / "both"
    folder.mkdir()
    for path in bench.write("--turns", 3)[0], bench.write("--turns", 3, "--timestamp", "1718000001")[0]:
        for file in data_of(path) + snapshots_of(path):
            shutil.copy(file, folder)
    files = data_of(folder)
    done = subprocess.run([bench.tool, "info", "--json", folder, *files, f"{folder}/"], capture_output=True, text=True)
    assert done.returncode == 2 and "name a file of one" in done.stderr
    assert [json.loads(line)["file"] for line in done.stdout.splitlines()] == [str(file) for file in files], done
    assert f"1 file not read again: of the same trace as one before, the last: {folder}" in done.stderr, done


@test
def a_compressed_copy_beside_a_file_is_not_read(bench):
    """Where both are there, in whatever order the directory lists them, the plain file counts: here the copies are of less."""
    path, _ = bench.write("--threads", 12, "--turns", 5)
    wanted = bench.lines("insns", path)
    for ending in ".gz", ".zst":
        for file in data_of(path):
            content = file.read_bytes()[:5 * 13]
            packed = gzip.compress(content) if ending == ".gz" else zstd(content)
            pathlib.Path(f"{file}{ending}").write_bytes(packed)
        assert bench.lines("insns", path) == wanted, ending


@test
def a_layout_can_be_told(bench):
    path, facts = bench.write("--header", 20)
    told = "header=20,za=yes,bits=128,index=offset,start=0"
    info, = bench.lines("info", "--xtrace-layout", told, path)
    assert info["kinds"] == facts["kinds"]
    found = bench.lines("info", "--xtrace-layout", "bits=256", path, status=1)[0]
    assert found["kinds"].get("snapshot") is None and found["errors"] == 1
    bench.run("info", "--xtrace-layout", "header=21", path, status=2)


def encode(record):
    """The bytes of a token as dump shows it, by the writer's words."""
    kind = record["record"]
    if kind in ("inst", "pcinst"):
        opcode, level = record["opcode"], record["level"]
        return xtrace.pcinst(record["pc"], opcode, level) if kind == "pcinst" else xtrace.inst(opcode, level)
    if kind in ("load", "store"):
        return xtrace.access(kind == "store", record["address"], bytes.fromhex(record["data"]))
    if kind == "allgpr":
        return xtrace.allgpr(record["x"])
    if kind == "syscall-vec":
        return xtrace.syscall_vec([(part["base"], part["length"]) for part in record["parts"]])
    if kind == "time":
        return xtrace.time(record["order"])
    return xtrace.misc_flags(record["value"]) if kind == "misc-flags" else xtrace.value(kind, record["value"])


@test
def dump_shows_all_there_is(bench):
    """What it shows makes the same bytes again, token by token and instruction by instruction; offsets are right."""
    path, facts = bench.write("--kernel", "--order", "--turns", 60)
    data, = (file.read_bytes() for file in data_of(path))
    instructions = 0
    for arguments in (["--tokens"], []):
        found = b""
        for record in bench.lines("dump", *arguments, path):
            if record["record"] == "snapshot":
                continue
            assert record["offset"] == len(found), record
            found += encode(record) + b"".join(encode(token) for token in record.get("tokens", ()))
            instructions += "text" in record
        assert found == data
    assert instructions == facts["instructions"]


@test
def dump_shows_snapshots_where_they_belong(bench):
    for more in ([], ["--index", "count"], ["--bits", 512, "--no-za"]):
        path, facts = bench.write(*more, "--turns", 60)
        before, user = 0, 0
        snapshots = []
        for record in bench.lines("dump", path):
            if record["record"] == "snapshot":
                assert record["user_instructions"] == user and record["instructions"] == before, record
                snapshots.append(record)
            else:
                before += 1
                user += record["level"] == 0
        assert len(snapshots) == facts["kinds"]["snapshot"]
        size = snapshots[0]["vector_bits"] // 8
        assert snapshots[0]["x"] == [*range(31), xtrace.STACK]
        assert snapshots[0]["z"] == [bytes([i] * size).hex() for i in range(32)]
        assert snapshots[0]["p"] == [bytes([0x10 | i] * (size // 8)).hex() for i in range(16)]
        assert snapshots[0]["ffr"] == [(b"\xff" * (size // 8)).hex()]
        assert ("za" in snapshots[0]) == ("--no-za" not in more)
        assert snapshots[0]["nzcv"] == 0x60000000 and snapshots[0]["tpidr_el0"] == 0x7F0000


@test
def dump_is_a_listing_of_instructions(bench):
    path, _ = bench.write("--turns", 1)
    lines = bench.run("dump", path).splitlines()
    assert [line.split("  ")[:1] for line in lines[:1]] == [["# snapshot: 0 instructions before, 0 of them of user mode; "
                                                              "index 0 of file 0"]]
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "0 0x000000400000 EL0 a9bf7bfd stp x29, x30, [sp, #-0x10]! store 0x7fe0 = 0x" + 32 * "0",
        "1 0x000000400004 EL0 910003fd mov x29, sp",
        "2 0x000000400008 EL0 9400003e bl #0x400100",
        "3 0x000000400100 EL0 f9400020 ldr x0, [x1] load 0x10000 = 0x0",
        "4 0x000000400104 EL0 91000400 add x0, x0, #1",
        "5 0x000000400108 EL0 f9000020 str x0, [x1] store 0x10000 = 0x1",
        "6 0x00000040010c EL0 c85f7c22 ldxr x2, [x1] load 0x10000 = 0x1",
        "7 0x000000400110 EL0 c8037c22 stxr w3, x2, [x1] stxr 0x0, store 0x10000 = 0x1",
        "8 0x000000400114 EL0 35ffffc3 cbnz w3, #0x40010c",
        "9 0x000000400118 EL0 9a820000 csel x0, x0, x2, eq misc-flags 0x60000000",
        "10 0x00000040011c EL0 d53bd044 mrs x4, tpidr_el0 mrs 0x7f0000",
        "11 0x000000400120 EL0 d65f03c0 ret target-b 0x40000c",
        "12 0x00000040000c EL0 d4000001 svc #0 svcarg 0x42, svcarg 0x1, svcarg 0x7000, svcarg 0x2, svcarg 0x0, svcarg 0x0, "
        "svcarg 0x0, syscall-vec 0x2 0x10000 0x8 0x10008 0x4, svcret 0xc",
        "13 0x000000400010 EL0 d50b7425 dc zva, x5 dc 0x20000, store 0x20000 = 0x" + 128 * "0",
        "14 0x000000400014 EL0 58000066 ldr x6, #0x400020 load 0x400020 = 0x1234",
        "15 0x000000400018 EL0 17fffffa b #0x400000",
    ]


@test
def dump_chooses_threads_and_instructions(bench):
    path, _ = bench.write("--threads", 2, "--turns", 10)
    records = bench.lines("dump", "--thread", 101, "--from-time", 5, "--to-time", 8, path)
    assert [(record["thread"], record["index"], record["text"]) for record in records] == [
        (101, 5, "str x0, [x1]"), (101, 6, "ldxr x2, [x1]"), (101, 7, "stxr w3, x2, [x1]")]
    bench.run("dump", "--function", "f*", path, status=2)


@test
def dump_shows_what_is_unknown(bench):
    """An opcode that is none, and an instruction with more tokens than a record holds."""
    path, _ = bench.write("--turns", 1)
    data, = data_of(path)
    data.write_bytes(xtrace.pcinst(0x1000, 0xFFFFFFFF) + 1500 * xtrace.load(0x10, bytes(8)) + xtrace.inst(0xD503201F))
    records = [record for record in bench.lines("dump", path) if record["record"] != "snapshot"]
    assert {record["text"] for record in records[:-1]} == {".inst 0xffffffff"}
    assert [record.get("continued", False) for record in records] == [False] + (len(records) - 2) * [True] + [False]
    assert sum(len(record["tokens"]) for record in records) == 1500
    assert [record["index"] for record in records] == (len(records) - 1) * [0] + [1]
    assert records[-1]["pc"] == 0x1004


def rules(bench, path, status=1):
    """What check finds, as (rule, offset) in their order."""
    return [(finding["rule"], finding["record"]) for finding in bench.lines("check", "--all", path, status=status)]


SNAPSHOT = 1424  # bytes, with vectors of 128 bits
INST = 5  # bytes of an instruction without an address


@test
def damaged_snapshots_cost_only_themselves(bench):
    """Each damage, and what is told of it; the others are counted."""
    for damage, expected, left in (
            (lambda data: data[:-7], [("xtrace.snapshot-cut", 24 + 3 * SNAPSHOT)], 3),
            (lambda data: data[:23], [("xtrace.snapshot-cut", 0)], 0),
            (lambda data: data[:24 + 2 * SNAPSHOT - 8] + b"\x7f" + data[24 + 2 * SNAPSHOT - 7:],
             [("xtrace.snapshot-length", 24 + SNAPSHOT)], 3),
            (lambda data: data[:24 + SNAPSHOT + 16] + bytes(16) + data[24 + SNAPSHOT + 32:],
             [("xtrace.snapshot-order", 24 + SNAPSHOT)], 3),
            (lambda data: data[:24 + 2 * SNAPSHOT + 5] + data[24 + 2 * SNAPSHOT + 8:],
             [("xtrace.snapshot-length", 24 + 2 * SNAPSHOT)], 3),
            (lambda data: data[:24 + SNAPSHOT] + b"garbage" + data[24 + SNAPSHOT:],
             [("xtrace.snapshot-length", 24 + SNAPSHOT)], 4),
            (lambda data: bytes(len(data)), [("xtrace.snapshot-layout", 0)], 0)):
        path, facts = bench.write()
        file, = snapshots_of(path)
        assert facts["kinds"]["snapshot"] == 4
        file.write_bytes(damage(file.read_bytes()))
        found = rules(bench, path)
        assert [each for each in found if each in expected] == expected, (found, expected)
        info, = bench.lines("info", path, status=1)
        assert info["snapshots"] == left, (info, left)


@test
def a_snapshot_that_runs_ahead_costs_only_itself(bench):
    """A bit set in the index or the counters of one, each in turn: those behind it were made before what it says."""
    index, user, count = 8, 16, 24
    whole, facts = bench.write("--turns", 1000, "--interval", 1000)
    plain = snapshots_of(whole)[0].read_bytes()
    most = facts["kinds"]["snapshot"]
    assert most > 6
    for number, field, bit in itertools.product((0, 1, 4), (index, user, count), (17, 40, 63)):
        path, _ = bench.write("--turns", 1000, "--interval", 1000)
        file, = snapshots_of(path)
        at = 24 + number * SNAPSHOT
        value, = struct.unpack_from("<Q", plain, at + field)
        file.write_bytes(plain[:at + field] + xtrace.word(value | 1 << bit) + plain[at + field + 8:])
        assert rules(bench, path) == [("xtrace.snapshot-order", at)], (number, field, bit)
        info, = bench.lines("info", path, status=1)
        assert info["snapshots"] == most - 1 and info["lost_bytes"] == SNAPSHOT, info
        out = path.with_suffix(".repaired")
        bench.run("repair", path, "-o", out, status=1)
        assert snapshots_of(out)[0].read_bytes() == plain[:at] + plain[at + SNAPSHOT:]


@test
def a_snapshot_that_runs_ahead_behind_one_that_is_damaged(bench):
    """The index of one is 0, that of the next has a bit too many: both are lost, and no other."""
    path, facts = bench.write("--turns", 1000, "--interval", 1000)
    file, = snapshots_of(path)
    plain = bytearray(file.read_bytes())
    first, second = (24 + number * SNAPSHOT + 8 for number in (1, 2))
    plain[first:first + 8] = bytes(8)
    plain[second + 5] |= 1
    file.write_bytes(plain)
    assert rules(bench, path) == [("xtrace.snapshot-order", first - 8), ("xtrace.snapshot-order", second - 8)]
    info, = bench.lines("info", path, status=1)
    assert info["snapshots"] == facts["kinds"]["snapshot"] - 2 and info["lost_bytes"] == 2 * SNAPSHOT, info


@test
def repair_tells_of_snapshots_that_it_leaves_out(bench):
    """Of the first, where no instruction begins there; of all behind the data, where that was cut."""
    for damage, left_out in ((lambda data, snapshots: (data, snapshots[:32] + xtrace.word(
            struct.unpack_from("<Q", snapshots, 32)[0] + 1) + snapshots[40:]), 1),
                             (lambda data, snapshots: (
                                 data[:struct.unpack_from("<Q", snapshots, 32 + 2 * SNAPSHOT)[0]], snapshots), 2)):
        path, facts = bench.write()
        assert facts["kinds"]["snapshot"] == 4
        files = data_of(path) + snapshots_of(path)
        for file, content in zip(files, damage(*(file.read_bytes() for file in files))):
            file.write_bytes(content)
        found = [rule for rule, _ in rules(bench, path) if rule == "xtrace.snapshot-index"]
        assert len(found) == left_out
        told, = bench.lines("repair", path, "-o", path.with_suffix(".repaired"), status=1)
        assert told["records_dropped"] == left_out, told
        assert told["records_in"] - told["records_out"] == left_out, told
        bench.run("check", path.with_suffix(".repaired"))


@test
def check_compares_snapshots_with_the_instructions(bench):
    for damage, rule in (
            (lambda data: data[:24 + SNAPSHOT + 8] + xtrace.word(struct.unpack_from("<Q", data, 24 + SNAPSHOT + 8)[0] + 1)
             + data[24 + SNAPSHOT + 16:], "xtrace.snapshot-index"),
            (lambda data: data[:24 + SNAPSHOT + 24] + xtrace.word(501) + data[24 + SNAPSHOT + 32:], "xtrace.snapshot-count"),
            (lambda data: data[:22] + b"\x01" + data[23:], "xtrace.header-reserved")):
        path, _ = bench.write()
        file, = snapshots_of(path)
        file.write_bytes(damage(file.read_bytes()))
        found = rules(bench, path, status=rule == "xtrace.snapshot-index")
        assert {each for each, _ in found} == {rule}, (found, rule)


@test
def replay_says_where_it_cannot_begin(bench):
    """A snapshot at an INST that no PCINST is before has no PC; what has none to begin at at all is told, too."""
    path = bench.directory / "begin"
    path.mkdir()
    data = path / "xtrace.1.1.hint9.xinsndata.bin"
    data.write_bytes(xtrace.inst(NOP) + xtrace.pcinst(0x1000, NOP) + xtrace.inst(NOP))
    snapshots = path / "xtrace.1.1.hint9.xsnapshot.bin"
    for index, count, status, says in ((5, 2, 0, "no difference"), (18, 1, 0, "no difference"), (0, 0, 1, "no PCINST tells")):
        snapshots.write_bytes(xtrace.header(24, False, False) + xtrace.snapshot(0, index, index // 5, index // 5, [0] * 32, 128))
        said = bench.run("replay", path, status=status)
        assert says in said and f"{count if status == 0 else 0} instruction" in said, said
    for spoil in (lambda: snapshots.write_bytes(bytes(5000)), snapshots.unlink, lambda: data.write_bytes(b""), data.unlink):
        spoil()
        bench.run("replay", path, status=2)


def parted(bench, path, cuts, pack=False, head=b""):
    """The set with its data file in parts that begin at 0 and at the cuts, each of a time of its own; snapshots name them."""
    files, (data,), (snapshots,) = bench.directory / f"parted{len(cuts)}{pack}{len(head)}", data_of(path), snapshots_of(path)
    files.mkdir()
    begins, content, said = [0, *cuts], data.read_bytes(), bytearray(snapshots.read_bytes())
    for number, begin in enumerate(begins):
        part = head + content[begin:(begins + [len(content)])[number + 1]]
        name = files / data.name.replace("1718000000", str((9, 10, 1000)[number]))  # as numbers, not as text
        (files / (name.name + ".zst")).write_bytes(zstd(part)) if pack else name.write_bytes(part)
    for at in range(24, len(said), SNAPSHOT):
        index, = struct.unpack_from("<Q", said, at + 8)
        number = sum(begin <= index for begin in begins) - 1
        struct.pack_into("<QQ", said, at, number, index - begins[number] + len(head))
    (files / snapshots.name.replace("1718000000", "9")).write_bytes(said)
    return files


@test
def data_files_of_a_capture_are_one_stream(bench):
    """Against the same stream in one file; a snapshot is at the offset that it says in the file that it names. Parts begin inside
    of a block, at a snapshot, and behind a header where PCINSTs are."""
    path, facts = bench.write("--turns", 400, "--interval", 700)
    index = [struct.unpack_from("<Q", snapshots_of(path)[0].read_bytes(), 24 + i * SNAPSHOT + 8)[0] for i in range(3)]
    content = data_of(path)[0].read_bytes()
    inside = content.index(xtrace.inst(0x91000400))
    first, begin = (content.index(xtrace.pcinst(xtrace.START, 0xA9BF7BFD), at) for at in (1, index[1] + 1))
    whole = {command: bench.lines(command, path) for command in ("stat", "insns", "blocks", "mem", "syscalls", "calls")}
    for cuts, more in (((inside, index[2]), {}), ((inside, begin), {"pack": True}), ((first, begin), {"head": bytes(24)})):
        files = parted(bench, path, cuts, **more)
        info, = bench.lines("info", files)
        assert (info["kinds"], info["files"]) == (facts["kinds"], 4), info
        assert bench.run("check", files) == bench.run("check", path).replace(str(path), str(files))
        for command, wanted in whole.items():
            assert bench.lines(command, files) == wanted, (command, more)
        for file in data_of(files) + snapshots_of(files):
            assert bench.lines("insns", file) == whole["insns"], file
        assert len(bench.lines("info", files, *files.iterdir())) == 1
        programs = [bench.directory / name for name in ("one", "parts")]
        for trace, program in zip((path, files), programs):
            bench.run("slice", "--snapshot", 2, "--length", 300, trace, "-o", program)
        assert programs[0].read_bytes() == programs[1].read_bytes()
        cut = bench.directory / f"cut{len(more)}{files.name}"
        bench.run("cut", "--from-snapshot", 2, files, "-o", cut)
        bench.run("check", cut)
        assert len(data_of(cut) or list(cut.glob("*.zst"))) == 1


@test
def an_index_is_compared_within_its_file(bench):
    """It is an offset, also where it is less than the one in the file before, or little more for so many instructions."""
    path = headed(bench, (1, 9, (0, 0, 0), 1, False))
    nops = [xtrace.pcinst(0x400000 + 4 * 4 * i, NOP) + 3 * xtrace.inst(NOP) for i in range(3)]
    for old in path.iterdir():
        old.unlink()
    for time, data in zip((999, 1000, 20000), nops):
        (path / f"xtrace.{time}.1.hint9.xinsndata.bin").write_bytes(data)
    ones = [xtrace.snapshot(*where, [0] * 32, 128) for where in ((0, 0, 0, 0), (1, 13, 5, 5), (2, 18, 10, 10))]
    (path / "xtrace.999.1.hint9.xsnapshot.bin").write_bytes(xtrace.header(24, 0, 0) + b"".join(ones))
    assert rules(bench, path, 0) == []
    bench.run("slice", "--snapshot", 2, "--length", 1, path, "-o", bench.directory / "third")


@test
def each_of_several_data_files_is_executed_from_its_own_snapshots(bench):
    """10 instructions from 3 snapshots, of which two are in the second file."""
    load = xtrace.inst(0x58000066) + xtrace.load(0x400024 + 12, bytes(8))  # ldr x6, its PC + 12
    path = stream(bench, xtrace.pcinst(0x400000, NOP) + xtrace.inst(NOP) * 2)
    second = xtrace.pcinst(0x40000C, NOP) + xtrace.inst(NOP) * 5 + load
    (path / "xtrace.2.1.hint9.xinsndata.bin").write_bytes(second)
    said = xtrace.header(24, False, False) + b"".join(
        xtrace.snapshot(number, at, count, count, [0] * 32, 128) for number, at, count in ((0, 0, 0), (1, 0, 3), (1, 18, 5)))
    (path / "xtrace.1.1.hint9.xsnapshot.bin").write_bytes(said)
    said = bench.run("replay", path).splitlines()
    assert ["3 instructions from 1 snapshot, no" in said[0], "7 instructions from 2 snapshots, no" in said[1]] == [True] * 2, said
    (path / "xtrace.2.1.hint9.xinsndata.bin").write_bytes(second[:-16] + xtrace.word(0x400024 + 16) + bytes(8))
    said = bench.run("replay", path, status=1).splitlines()
    assert "3 instructions from 1 snapshot, no" in said[0] and "address of a load" in " ".join(said), said


@test
def what_is_wrong_in_one_of_several_data_files_is_told_of_it(bench):
    path, _ = bench.write("--turns", 40, "--interval", 100)
    index = [struct.unpack_from("<Q", snapshots_of(path)[0].read_bytes(), 24 + i * SNAPSHOT + 8)[0] for i in range(3)]
    files = parted(bench, path, index[1:])
    second, snapshots = files / data_of(path)[0].name.replace("1718000000", "10"), snapshots_of(files)[0]
    whole = second.read_bytes()
    second.write_bytes(whole[:-3])
    done = subprocess.run([bench.tool, "check", files, "--json"], capture_output=True, text=True)
    cut = next(row for row in map(json.loads, done.stdout.splitlines()) if row.get("rule") == "xtrace.cut-token")
    assert cut["file"] == str(second) and len(whole) - 3 - 265 <= cut["record"] < cut["at"] == len(whole) - 3, cut
    second.write_bytes(whole)
    said = bytearray(snapshots.read_bytes())
    struct.pack_into("<Q", said, len(said) - SNAPSHOT, 7)
    snapshots.write_bytes(said)
    assert [rule for rule, _ in rules(bench, files)] == ["xtrace.snapshot-index"]
    # Without its second part the trace has no place for the snapshots of that.
    second.unlink()
    for file in data_of(files):
        if file.name.startswith("xtrace.1000."):
            file.unlink()
    assert set(rule for rule, _ in rules(bench, files)) == {"xtrace.snapshot-index"}


@test
def several_data_files_need_snapshots_that_name_them(bench):
    """Data files alone, of two times, and pairs of two times are different captures."""
    path, facts = bench.write("--turns", 4)
    files = parted(bench, path, (data_of(path)[0].stat().st_size // 2,))
    snapshots_of(files)[0].unlink()
    bench.run("info", files, status=2)
    assert len(data_of(files)) == 2


def stream(bench, data, indices=(0,), **names):
    """A set of one file of tokens, with a snapshot at each offset that says how many instructions are before it."""
    path = bench.directory / "stream"
    path.mkdir(exist_ok=True)
    for old in path.iterdir():
        old.unlink()
    name = "xtrace.{timestamp}.{number}.hint{hint}.".format(**{"timestamp": 1, "number": 1, "hint": 9, **names})
    (path / (name + "xinsndata.bin")).write_bytes(data)
    snapshots = [xtrace.snapshot(0, at, i, i, [0] * 32, 128) for at, i in indices.items()] if isinstance(indices, dict) else \
        [xtrace.snapshot(0, at, 0, 0, [0] * 32, 128) for at in indices]
    (path / (name + "xsnapshot.bin")).write_bytes(xtrace.header(24, False, False) + b"".join(snapshots))
    return path


@test
def a_snapshot_in_the_middle_of_a_block_is_one_to_begin_at(bench):
    """The PC is that of the PCINST before it and 4 for each INST; also where a snapshot at an INST lies between. The last
    instruction loads from its PC and 12, which is compared."""
    last = xtrace.inst(0x58000066) + xtrace.load(0x400024 + 12, bytes(8))
    path = stream(bench, xtrace.pcinst(0x400000, NOP) + xtrace.inst(NOP) * 8 + last, {0: 0, 28: 4, 38: 6})
    assert "10 instructions from 3 snapshots, no difference" in bench.run("replay", path)
    program = bench.directory / "program"
    for number in range(3):
        line, = bench.lines("slice", "--snapshot", number, "--length", 3, path, "-o", program)
        assert (line["instructions"], line["before"]) == (3, 0), line
        said = bench.run("slice", "--snapshot", number, "--length", 11, path, "-o", program, status=2)
        assert said == "", said
    path = stream(bench, xtrace.inst(NOP) * 3 + xtrace.pcinst(0x400000, NOP), {5: 1})
    assert "no PCINST tells" in bench.run("replay", path, status=1)
    bench.run("slice", "--length", 1, path, "-o", program, status=2)


ZVA, GZVA, READ_DCZID, LDR_X0_X1 = 0xD50B7420, 0xD50B7480, 0xD53B00E0, 0xF9400020


@test
def dc_zva_alone_is_a_store_of_its_block(bench):
    """64 bytes unless DCZID_EL0 was read (bits 0 to 3: the power of 2 of words) or the layout says; where the trace has the
    store itself, before or behind DC, it counts once."""
    zero, begin = xtrace.value("dc", 0x6010), xtrace.pcinst(0x400000, ZVA)
    rest = xtrace.inst(LDR_X0_X1) + xtrace.load(0x6000, bytes(8))
    dczid = xtrace.pcinst(0x3FFFFC, READ_DCZID) + xtrace.value("mrs", 5)
    store = xtrace.store(0x6000, bytes(64))
    for data, options, size in (
        (begin + zero + rest, [], 64),
        (begin + zero, [], 64),
        (xtrace.pcinst(0x400000, GZVA) + zero + rest, [], 64),
        (dczid + begin + zero + rest, [], 128),
        (dczid + begin + zero + rest, ["--xtrace-layout", "zva=16"], 16),
        (begin + zero + rest, ["--xtrace-layout", "zva=2048"], 2048),
        (begin + zero + store + rest, [], 64),
        (begin + store + zero + rest, [], 64),
        (begin + zero + xtrace.store(0x6000, bytes(32)) + xtrace.store(0x6020, bytes(32)) + rest, [], 64),
    ):
        path = stream(bench, data)
        total, = (row for row in bench.lines("mem", path, *options) if row["table"] == "total")
        assert (total["stores"], total["stored_bytes"], total["loads"]) == (1, size, int(rest in data)), (total, options)
        first = next(row for row in bench.lines("cache", path, *options) if row["table"] == "level")
        assert first["stores"] == max(1, size // 64) and first["load_misses"] == 0, first
        rows = bench.lines("sql", path, "SELECT sum(size) AS bytes, min(address) AS low FROM xtrace_mem WHERE kind = 'store'", *options)
        assert rows == [{"bytes": size, "low": 0x6010 & -size}], rows
    cleans = xtrace.pcinst(0x400000, 0xD50B7E20) + xtrace.value("dc", 0x6010)  # dc civac stores nothing
    total, = (row for row in bench.lines("mem", stream(bench, cleans)) if row["table"] == "total")
    assert total["stores"] == 0
    bench.run("mem", path, "--xtrace-layout", "zva=48", status=2)


@test
def dc_zva_of_large_blocks_is_no_damage(bench):
    """As a recorder under a processor with blocks of 512 bytes writes it; other stores are never so large."""
    for size in (256, 512, 1024, 2048):
        data = xtrace.pcinst(0x400000, ZVA) + xtrace.value("dc", 0x6000 & -size) + xtrace.store(0x6000 & -size, bytes(size))
        assert rules(bench, stream(bench, data + xtrace.inst(NOP)), 0) == []
    ones = xtrace.pcinst(0x400000, ZVA) + xtrace.value("dc", 0x6000) + xtrace.store(0x6000, bytes(511) + b"\1")
    aside = xtrace.pcinst(0x400000, ZVA) + xtrace.value("dc", 0x6000) + xtrace.store(0x6008, bytes(512))
    for data in (ones, aside):
        assert ("xtrace.unknown-token", 22) in rules(bench, stream(bench, data))


def headed(bench, *files):
    """A set of files of one instruction and a load: (number, hint, header's bytes 16 to 18, version, whether with TIME)."""
    path = stream(bench, b"")
    for old in path.iterdir():
        old.unlink()
    for i, (number, hint, fields, version, ordered) in enumerate(files):
        stem = f"xtrace.1.{number}.hint{hint}."
        data = xtrace.pcinst(0x400000, LDR_X0_SP) + xtrace.load(0x6000, bytes(8)) + (xtrace.time(i + 1) if ordered else b"")
        (path / (stem + "xinsndata.bin")).write_bytes(data)
        head = struct.pack("<IIQ3B", 0x58, 0, version, *fields) + bytes(5)
        (path / (stem + "xsnapshot.bin")).write_bytes(head + xtrace.snapshot(0, 0, 0, 0, [0] * 32, 128))
    return path


@test
def headers_are_compared_with_their_files(bench):
    for files, wanted in (
        ([(1, 9, (0, 0, 0), 1, False)], []),
        ([(1, 9, (0, 0, 1), 1, True)], []),
        ([(1, 9, (0, 0, 1), 1, False)], ["xtrace.header-order"]),
        ([(1, 9, (0, 0, 0), 1, True)], ["xtrace.header-order"]),
        ([(1, 9, (2, 0, 0), 1, False)], ["xtrace.header-value"]),
        ([(1, 9, (0, 3, 0), 1, False)], ["xtrace.header-value"]),
        ([(0, 9, (0, 1, 0), 1, False), (1, 13, (0, 1, 0), 1, False)], []),
        ([(1, 13, (0, 0, 0), 1, False)], ["xtrace.header-stream"]),
        ([(1, 9, (0, 0, 1), 1, True), (2, 9, (0, 0, 1), 2, True)], ["xtrace.headers-differ"]),
        ([(1, 9, (0, 0, 1), 1, True), (2, 9, (1, 0, 1), 1, True)], ["xtrace.headers-differ"]),
        ([(0, 9, (0, 1, 1), 1, True), (0, 13, (0, 1, 1), 1, True)], ["xtrace.number-twice"]),
    ):
        assert [rule for rule, _ in rules(bench, headed(bench, *files), 0)] == wanted, (files, wanted)
    path = headed(bench, (1, 9, (0, 0, 0), 1, False))
    file, = snapshots_of(path)
    for point, wanted in ((0, []), (1, ["xtrace.header-global"]), (7, ["xtrace.header-global"])):
        file.write_bytes(file.read_bytes()[:4] + struct.pack("<I", point) + file.read_bytes()[8:])
        assert [rule for rule, _ in rules(bench, path, 0)] == wanted, point


@test
def the_main_core_is_a_core(bench):
    """Hint 9 is the main core's where hint 13 is there or the header tells of cores; of one number it stays apart."""
    query = "SELECT count(*) AS n, count(utid) AS threads, count(DISTINCT track_id) AS tracks FROM slice"
    for files, cores, tracks in (
        ([(0, 9, (0, 1, 0), 1, False), (1, 13, (0, 1, 0), 1, False)], 2, 2),
        ([(0, 9, (0, 0, 0), 1, False), (1, 13, (0, 0, 0), 1, False)], 2, 2),
        ([(0, 9, (0, 1, 0), 1, False)], 1, 1),
        ([(7, 9, (0, 0, 0), 1, False)], 0, 1),
        ([(0, 9, (0, 1, 0), 1, False), (0, 13, (0, 1, 0), 1, False)], 1, 2),
    ):
        path = headed(bench, *files)
        rows = bench.lines("sql", path, "SELECT count(*) - count(utid) AS cores FROM xtrace_insn")
        assert rows == [{"cores": cores}], (files, rows)
        out = bench.directory / "out.json"
        bench.run("convert", path, "-o", out)
        events = json.loads(out.read_text())["traceEvents"]
        assert len({(event.get("pid"), event.get("tid")) for event in events if event["ph"] == "B"}) == tracks
        said = bench.server.run("sched", str(path)).stderr.decode()
        assert ("insns --tasks" in said) == (cores > 0), (files, said)


@test
def a_header_alone_is_read(bench):
    path = headed(bench, (1, 9, (1, 0, 0), 3, False))
    file, = snapshots_of(path)
    for size in (24, 19, 20, 32):
        file.write_bytes((file.read_bytes() + bytes(32))[:size])
        info, = bench.lines("info", path)
        assert (info["version"], info["division"], info["snapshots"], info["identification"]) == (3, 1, 0, 0x58), (size, info)
        assert rules(bench, path, 0) == []


@test
def slices_of_all_threads_begin_at_the_global_snapshot(bench):
    """The header's second number is that of the snapshot, unless --snapshot says another."""
    path, _ = bench.write("--threads", 2, "--order", "--turns", 200)
    for file in snapshots_of(path):
        file.write_bytes(file.read_bytes()[:4] + struct.pack("<I", 2) + file.read_bytes()[8:])
    for number, (options, wanted) in enumerate((([], 2), (["--snapshot", 0], 0), (["--snapshot", 1], 1))):
        lines = bench.lines("slice", "--sync", "--thread", 100, "--length", 40, *options, path, "-o", bench.directory / f"all{number}")
        assert [line["snapshot"] for line in lines if line.get("thread") == 100] == [wanted], lines
    line, = bench.lines("slice", "--thread", 100, "--length", 40, path, "-o", bench.directory / "one")
    assert line["snapshot"] == 0


@test
def an_exception_return_is_a_branch(bench):
    """ERET twice to two places: a row, and each is where none was foreseen."""
    eret = xtrace.inst(0xD69F03E0, 1)
    data = b"".join(xtrace.pcinst(0xFFFF800010000400, NOP, 1) + eret + xtrace.value("target-b", to) + xtrace.allgpr([0] * 32) +
                    xtrace.pcinst(to, NOP) + xtrace.allgpr([0] * 32) for to in (0x400000, 0x500000))
    rows = bench.lines("branches", stream(bench, data))
    kind, = (row for row in rows if row["table"] == "kind")
    assert (kind["kind"], kind["places"], kind["count"], kind["mispredicted"]) == ("exception return", 1, 2, 2), kind
    row, = (row for row in rows if row["table"] == "indirect")
    assert (row["kind"], row["targets"], row["pc"]) == ("exception return", 2, 0xFFFF800010000404), row


VECTORS = 0xFFFF800010000800  # a multiple of 2 KiB
ERET, MSR_TTBR0, MSR_TPIDR, MSR_SP_EL0, RET, SVC = 0xD69F03E0, 0xD5182000, 0xD51BD040, 0xD5184100, 0xD65F03C0, 0xD4000001
B_EQ_8, BL_8 = 0x54000040, 0x94000002


def svc(pc, number):
    """A system call, and the kernel entered by its vector: from a lower level, synchronous, at 0x400."""
    return xtrace.pcinst(pc, SVC) + b"".join(xtrace.value("svcarg", x) for x in (number, 0, 0, 0, 0, 0, 0)) + \
        xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x400, NOP, 1)


def eret(to, result=None, level=0, late=False):
    """To a PC; with what a system call returned, told before the target or behind it."""
    target, told = xtrace.value("target-b", to), b"" if result is None else xtrace.value("svcret", result)
    return xtrace.inst(ERET, 1) + (told + target if late else target + told) + \
        (b"" if level else xtrace.allgpr([0] * 32)) + xtrace.pcinst(to, NOP, level)


def msr(opcode, number):
    return xtrace.inst(opcode, 1) + xtrace.value("mrs", number)


@test
def an_exception_is_a_frame_until_its_eret(bench):
    """A call of the program; in it a system call whose vector calls; an interrupt in that at the kernel's own level, and one of
    the program where a call had led."""
    user, irq = 0x400000, VECTORS + 0x280
    data = xtrace.pcinst(user, BL_8) + svc(user + 8, 172)
    data += xtrace.inst(BL_8, 1) + xtrace.pcinst(VECTORS + 0x40C, NOP, 1)
    data += xtrace.pcinst(irq, NOP, 1) + eret(VECTORS + 0x410, level=1)  # behind the instruction before
    data += eret(user + 12, 7)  # leaves what the vector called, too
    data += xtrace.inst(RET) + xtrace.value("target-b", user + 4)
    data += xtrace.pcinst(user + 4, BL_8) + xtrace.allgpr([0] * 32)  # interrupted before what it calls
    data += xtrace.pcinst(VECTORS + 0x480, NOP, 1) + eret(user + 12)
    path = stream(bench, data)
    assert rules(bench, path, 0) == []
    wanted = {  # depth, calls, instructions of its own
        user: (1, 1, 2), user + 8: (2, 1, 3), VECTORS + 0x400: (3, 1, 2), VECTORS + 0x40C: (4, 1, 3), irq: (5, 1, 2),
        user + 12: (2, 1, 1), VECTORS + 0x480: (3, 1, 2),
    }
    tree = {int(row["function"], 16): (row["depth"], row["calls"], row["self"]) for row in bench.lines("calls", path)
            if row["table"] == "tree"}
    assert tree == wanted, tree
    stat = {int(row["name"], 16): (row["count"], row["self"]) for row in bench.lines("stat", path)}
    assert stat == {pc: one[1:] for pc, one in wanted.items()}, stat


@test
def the_table_of_the_document_names_tests(bench):
    """Each sentence of the document has tests in doc/formats/xtrace.md, and they are there."""
    tests = pathlib.Path(__file__).resolve().parent.parent
    table = (tests.parent / "doc/formats/xtrace.md").read_text().split("## The document's sentences, and tests")[1]
    files = {"record": "truth/xtrace_record_tests.py", "study": "truth/study_tests.py", "slice": "truth/slice_tests.py",
             "system": "truth/xtrace_system_tests.py", "unit": "unit/test_xtrace_records.c", "": "truth/xtrace_tests.py"}
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 30, len(rows)
    for sentence, cell in rows:
        names = re.findall(r"`(?:(\w+):)?(\w*)`", cell)
        assert names, sentence
        for kind, name in names:
            text = (tests / files[kind]).read_text()
            assert re.search(rf"^(def |static void ){name}\(", text, re.M) if name else text, (sentence, kind, name)


@test
def functions_of_the_kernel_have_names(bench):
    """By /proc/kallsyms: the vector and what it calls, in each command that names functions. A module's has it behind its name; a
    list that the kernel gave to no root has no addresses."""
    user, kallsyms, module = 0x400000, bench.directory / "kallsyms", 0xFFFF800001000000
    data = xtrace.pcinst(user, BL_8) + svc(user + 8, 172) + xtrace.inst(0xD63F0020, 1) + xtrace.value("target-b", module)
    data += xtrace.pcinst(module, NOP, 1) + xtrace.inst(RET, 1) + xtrace.value("target-b", VECTORS + 0x408)
    data += xtrace.pcinst(VECTORS + 0x408, NOP, 1) + eret(user + 12, 7)
    path = stream(bench, data)
    kallsyms.write_text(f"{VECTORS:016x} T vectors\n{VECTORS + 0x800:016x} D data\n{module:016x} t handle\t[m]\n{module + 64:016x} d x\t[m]\n")
    wanted = {"vectors", "handle [m]", hex(user), hex(user + 8)}
    for command in ("stat",), ("calls",), ("insns",), ("stacks",), ("sql", "select name from slice"), ("dump",):
        out = bench.run(command[0], "--json", "--kallsyms", kallsyms, path, *command[1:])
        assert '"vectors' in out or ';vectors;' in out, (command, out)
        assert "handle [m]" in out, (command, out)
    assert {row["name"] for row in bench.lines("stat", "--kallsyms", kallsyms, path)} == wanted
    kallsyms.write_text("0000000000000000 T vectors\n0000000000000000 t handle\t[m]\n")
    done = bench.server.run("stat", "--kallsyms", str(kallsyms), str(path))
    assert done.returncode == 2 and b"kptr_restrict" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@test
def levels_are_chosen(bench):
    """Of a program that makes a system call: its 4 instructions, or the kernel's 3; calls of what is not chosen are none."""
    user = 0x400000
    data = xtrace.pcinst(user, BL_8) + svc(user + 8, 172) + xtrace.inst(NOP, 1) + eret(user + 12, 7) + xtrace.inst(NOP)
    path = stream(bench, data)
    for level, count, functions in ("EL0", 5 - 1 + 0, {user: 1, user + 8: 3}), ("EL1", 3, {VECTORS + 0x400: 3}):
        rows = bench.lines("insns", "--exception-level", level, path)
        assert [(row["level"], row["count"]) for row in rows if row["table"] == "level"] == [(level, count)], rows
        assert {int(row["function"], 16): row["count"] for row in rows if row["table"] == "function"} == functions, rows
        tree = [row for row in bench.lines("calls", "--exception-level", level, path) if row["table"] == "tree"]
        assert {int(row["function"], 16): row["self"] for row in tree if row["self"]} == functions, tree
        assert sum(row["calls"] for row in tree) == len(functions), tree
        part = bench.directory / f"part-{level}"
        bench.run("cut", "--exception-level", level, path, "-o", part)
        rows = bench.lines("insns", part)
        assert [(row["level"], row["count"]) for row in rows if row["table"] == "level"] == [(level, count)], rows
        assert "snapshot" not in bench.run("dump", "--tokens", part)
    part = bench.directory / "part-function"
    bench.run("cut", "--function", hex(user + 8), path, "-o", part)
    assert bench.lines("insns", part)[0]["count"] == 3
    for more in ("--from-snapshot", "1"), ("--category", "x"):
        assert b"error" in bench.server.run("cut", "--function", "x", *more, str(path), "-o", str(bench.directory / "none")).stderr
    done = bench.server.run("insns", "--from-insn", "7", str(path))
    assert done.stderr == b"trackway: no instruction passes the filters\n", done.stderr


TASKS = 0xFFFF000012340000, 0xFFFF000056780000  # where Linux has its tasks: SP_EL0 in the kernel


def switched(registers, pointers=None):
    """Two programs at the same addresses. A is interrupted inside of a function, and again after B ran, which is interrupted,
    too: both go on where they were. registers: an MSR and what it sets, of each; pointers: SP_EL0 in the kernel."""
    user, vector, schedule, ldr = 0x400000, VECTORS + 0x480, VECTORS + 0x900, xtrace.inst(LDR_X0_X1) + xtrace.load(0x5008, bytes(8))

    def kernel(to, next_task):
        """The interrupt calls a function that sets the task, which returns in the next one."""
        data = xtrace.allgpr([0] * 32) + xtrace.pcinst(vector, 0x94000000 | (schedule - vector) // 4, 1)
        data += xtrace.pcinst(schedule, NOP, 1) + msr(*registers[next_task])
        data += msr(MSR_SP_EL0, pointers[next_task]) if pointers else b""
        data += xtrace.inst(RET, 1) + xtrace.value("target-b", vector + 4) + xtrace.pcinst(vector + 4, NOP, 1)
        return data + eret(to)[:-13]  # without the NOP there

    def calls(function):
        return xtrace.pcinst(user, 0x94000000 | function // 4) + xtrace.pcinst(user + function, LDR_X0_X1) + xtrace.load(0x5000, bytes(8))

    back = xtrace.inst(RET) + xtrace.value("target-b", user + 4) + xtrace.pcinst(user + 4, NOP)
    data = xtrace.pcinst(vector - 0x80, NOP, 1) + msr(*registers[0]) + (msr(MSR_SP_EL0, pointers[0]) if pointers else b"")
    data += eret(user)[:-13] + calls(0x100) + kernel(user, 1) + calls(0x200) + kernel(user + 0x104, 0)
    data += xtrace.pcinst(user + 0x104, LDR_X0_X1) + xtrace.load(0x5000, bytes(8)) + back + kernel(user + 0x204, 1)
    return data + xtrace.pcinst(user + 0x204, LDR_X0_X1) + xtrace.load(0x5000, bytes(8)) + back


@test
def replay_passes_over_the_kernel(bench):
    """Of three instructions of user mode around an interrupt the second and third are executed with the registers that the kernel
    leaves; not where it leaves them to another task, and nothing where the snapshot stands in the kernel."""
    user, interrupt = 0x400000, xtrace.allgpr([1] * 32) + xtrace.pcinst(VECTORS + 0x480, 0xF9000020, 1) + xtrace.store(0xFFFF000000001000, bytes(8))
    first, second = (msr(MSR_SP_EL0, task) for task in TASKS)
    behind = eret(user + 4) + xtrace.inst(LDR_X0_X1) + xtrace.load(0, bytes(8))
    for kernel, count, parts in ((b"", 3, 0), (first, 3, 0), (first + first, 3, 0), (first + second + first, 3, 0), (first + second, 1, 1)):
        row, = bench.lines("replay", stream(bench, xtrace.pcinst(user, NOP) + interrupt + kernel + behind))
        assert (row["instructions"], row["kernel"], row["different"]) == (count, parts, 0), (kernel, row)
    row, = bench.lines("replay", stream(bench, interrupt[-(13 + 17):] + first + behind))
    assert (row["instructions"], row["kernel"]) == (0, 1), row
    wrong = eret(user + 4) + xtrace.inst(LDR_X0_X1) + xtrace.load(8, bytes(8))
    row, = bench.lines("replay", stream(bench, xtrace.pcinst(user, NOP) + interrupt + first + wrong), status=1)
    assert (row["different"], row["what"]) == (1, "address of a load"), row


@test
def a_slice_of_the_kernel_is_refused_in_one_line(bench):
    """A snapshot in the kernel, or an interrupt that the program does not come back from."""
    kernel = xtrace.pcinst(VECTORS + 0x480, NOP, 1) + xtrace.inst(NOP, 1)
    for data, said in (kernel, "is of user mode only"), (xtrace.pcinst(0x400000, NOP) + xtrace.allgpr([0] * 32) + kernel, "only 1 instructions"):
        done = bench.server.run("slice", "--length", "2", str(stream(bench, data)), "-o", str(bench.directory / "none"))
        lines = done.stderr.decode().splitlines()
        assert done.returncode == 2 and len(lines) == 1 and said in lines[0], (done.returncode, lines)


@test
def tasks_have_stacks_of_their_own(bench):
    """Each function is called once and has what was executed in it before and after the other task ran, below the function of its
    own task; without what tells tasks apart, returns would leave the calls of others."""
    user = 0x400000
    for registers in ((MSR_TTBR0, 0x41000), (MSR_TTBR0, 0x42000)), ((MSR_TPIDR, 0x7000), (MSR_TPIDR, 0x8000)):
        for pointers in (None, TASKS):
            path = stream(bench, switched(registers, pointers))
            assert rules(bench, path, 0) == [], rules(bench, path, 0)
            rows = [row for row in bench.lines("calls", path) if row["table"] == "tree"]
            found = {}
            for row in rows:
                calls, self = found.get(int(row["function"], 16), (0, 0))
                found[int(row["function"], 16)] = calls + row["calls"], self + row["self"]
            # Function A: 3 and a return; B the same. Their callers: the call and what is behind it.
            assert (found[user + 0x100], found[user + 0x200]) == ((1, 3), (1, 3)), (found, pointers)
            depths = {int(row["function"], 16): row["depth"] for row in rows if row["self"] and int(row["function"], 16) in (user + 0x100, user + 0x200)}
            assert len(set(depths.values())) == 1, rows
            # The kernel's return in a task that is new is in no function that is known.
            assert sum(row["self"] for row in rows) == bench.lines("info", path)[0]["instructions"] - bool(pointers), rows
            # sql has the function of each instruction.
            inside = bench.lines("sql", path, "select function, count(*) n from xtrace_insn where pc between 4194560 and 4194824 group by 1")
            assert sorted((int(row["function"], 16), row["n"]) for row in inside if row["function"]) == \
                [(user + 0x100, 3), (user + 0x200, 3)], inside
            stat = bench.lines("stat", path)
            assert {int(row["name"], 16): row["self"] for row in stat}[user + 0x100] == 3, stat


@test
def the_schedule_of_a_core_is_told(bench):
    """Which task when, by a second reading of the MSRs: a task is another behind the MSR of SP_EL0 with another address of the
    kernel's, without such a one behind the ERET to a program with another TTBR0_EL1 or TPIDR_EL0."""
    for registers in ((MSR_TTBR0, 0x41000), (MSR_TTBR0, 0x42000)), ((MSR_TPIDR, 0x7000), (MSR_TPIDR, 0x8000)):
        for pointers in (None, TASKS):
            data = switched(registers, pointers)
            path = stream(bench, data)
            now, known, level, opcode, stays = None, {}, 0, 0, []
            for at, name, fields in xtrace_tokens.tokens(data):
                if name in ("inst", "pcinst"):
                    opcode, level = fields[-1], data[at] >> 6
                    if not stays or stays[-1][0] != now:
                        stays.append([now, 0, 0])
                    stays[-1][1] += 1
                    stays[-1][2] += level
                elif name == "mrs" and level:
                    known[opcode] = fields[0]
                    if opcode == MSR_SP_EL0:
                        now = fields[0]
                elif name == "target-b" and opcode == ERET and not pointers:
                    now = known.get(MSR_TTBR0), known.get(MSR_TPIDR)
            rows = bench.lines("insns", "--tasks", path)
            found = [(row["instructions"], row["kernel"]) for row in rows if row["table"] == "schedule"]
            assert found == [tuple(stay[1:]) for stay in stays], (found, stays)
            assert len(stays) == 5, stays  # before, A, B, A, B
            tasks = {row["task"]: row for row in rows if row["table"] == "task"}
            where = [row["task"] for row in rows if row["table"] == "schedule"]
            assert where == [0, 1, 2, 1, 2], where
            for number, name in ((1, 0), (2, 1)):
                own = [stay for stay, task in zip(stays, where) if task == number]
                row = tasks[number]
                assert (row["instructions"], row["kernel"], row["times"], row["cores"]) == (sum(one[1] for one in own), sum(one[2] for one in own), 2, 1), row
                register = "tables" if registers[0][0] == MSR_TTBR0 else "thread"
                assert row[register] == registers[name][1] and row["pointer"] == (pointers[name] if pointers else 0), row
            core, = (row for row in rows if row["table"] == "core")
            assert (core["switches"], core["tasks"], core["instructions"]) == (3, 2, sum(stay[1] for stay in stays)), core


@test
def the_schedule_of_a_core_is_drawn(bench):
    """A box for each stay of a task, of one colour a task, as wide as 1024 pixels are to the longest core; of its 40 pixels as many
    are dark as the kernel had of it."""
    path, out = stream(bench, switched(((MSR_TTBR0, 0x41000), (MSR_TTBR0, 0x42000)), TASKS)), bench.directory / "tasks.svg"
    rows = [row for row in bench.lines("insns", "--tasks", path) if row["table"] == "schedule"]
    assert bench.run("insns", "--tasks", path, "-o", out) == ""
    boxes = [dict(re.findall(r'([a-z]+)="([^"]*)"', box)) for box in re.findall("<rect [^>]*>", out.read_text())]
    tasks = [box for box in boxes if re.fullmatch(r"c\d+", box.get("class", "")) and box["height"] == "40"]
    kernel = [box for box in boxes if box.get("class") == "kernel"]
    whole = sum(row["instructions"] for row in rows)
    assert len(rows) == len(tasks) == len(kernel) == 5, (rows, boxes)
    for row, task, dark in zip(rows, tasks, kernel):
        wanted = 130 + 1024 * row["start"] / whole, 1024 * row["instructions"] / whole, 40 * row["kernel"] / row["instructions"]
        found = float(task["x"]), float(task["width"]), float(dark["height"])
        assert all(abs(a - b) < 0.06 for a, b in zip(found, wanted)), (found, wanted)
        assert (dark["x"], dark["width"]) == (task["x"], task["width"]), (dark, task)
    assert [box["class"] for box in tasks[1:3]] == [box["class"] for box in tasks[3:]] and tasks[1]["class"] != tasks[2]["class"], tasks
    assert "--tasks" in bench.server.run("insns", str(path), "-o", str(bench.directory / "mix.svg")).stderr.decode()


@test
def pages_are_as_large_as_the_kernel_has_them(bench):
    """Loads of a byte at both sides of borders of 16 and 64 KiB."""
    data = xtrace.pcinst(0x400000, NOP) + b"".join(xtrace.inst(0x39400020) + xtrace.load(at, b"1") for at in (0, 0x3FFF, 0x4000, 0xFFFF, 0x10000))
    path = stream(bench, data)
    for size, pages in (None, 5), ("4K", 5), ("16K", 4), ("64K", 2), ("2M", 1):
        options = ["--page", size] if size else []
        rows = {row["table"]: row for row in bench.lines("mem", *options, path)}
        assert rows["total"]["pages"] == rows["footprint"]["pages"] == pages, (size, rows)
    assert "pages of 65536" in bench.run("mem", "--page", "64K", path)
    bench.run("mem", "--page", "5000", path, status=2)


@test
def address_spaces_are_apart(bench):
    """What one program has in the cache another one does not find; a line of each. Of one address space it is one line."""
    for tables, lines, misses in ((0x42000, 2, 2), (0x41000, 1, 1)):
        path = stream(bench, switched(((MSR_TTBR0, 0x41000), (MSR_TTBR0, tables)), TASKS))
        rows = bench.lines("mem", path)
        total, = [row for row in rows if row["table"] == "total"]
        assert (total["loads"], total["lines"], total["pages"]) == (4, lines, lines), total
        hot = [(row["address"], row["loads"], row["tables"]) for row in rows if row["table"] == "line"]
        wanted = [(0x5000, 2, 0x41000), (0x5000, 2, 0x42000)] if lines == 2 else [(0x5000, 4, 0x41000)]
        assert hot == wanted, hot
        level = next(row for row in bench.lines("cache", path) if row["table"] == "level")
        assert (level["loads"], level["load_misses"]) == (4, misses), level


@test
def an_eret_of_what_came_before_the_trace_leaves_its_level(bench):
    data = xtrace.pcinst(VECTORS + 0x400, BL_8, 1) + xtrace.pcinst(VECTORS + 0x408, NOP, 1) + eret(0x400000) + xtrace.inst(NOP)
    tree = [(row["depth"], row["function"], row["self"]) for row in bench.lines("calls", stream(bench, data)) if row["table"] == "tree"]
    assert sorted(tree) == [(1, "0x400000", 2), (1, hex(VECTORS + 0x400), 1), (2, hex(VECTORS + 0x408), 2)], tree


def results(bench, path):
    return [(row["name"], row["result"]) for row in bench.lines("syscalls", path) if row["table"] == "event"]


@test
def a_result_belongs_to_the_task_that_made_the_call(bench):
    """Two tasks make their calls at one PC; what the kernel sets when it changes the task tells them apart."""
    interrupt = xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x480, NOP, 1)
    for opcode in (MSR_TTBR0, MSR_TPIDR, MSR_SP_EL0):
        for late in (False, True):
            a, b = msr(opcode, 0x41000), msr(opcode, 0x42000)
            data = xtrace.pcinst(VECTORS + 0x480, NOP, 1) + a + eret(0x3FFFFC) + svc(0x400000, 63) + b + eret(0x3FFFFC)
            data += svc(0x400000, 64) + a + eret(0x400004, 11, late=late) + interrupt + b + eret(0x400004, 22, late=late)
            path = stream(bench, data)
            assert results(bench, path) == [("read", "11"), ("write", "22")], (hex(opcode), late, results(bench, path))
            assert rules(bench, path, 0) == []
    # The numbers of address spaces are no part of them: the upper 16 bits of TTBR0.
    one, other = msr(MSR_TTBR0, 1 << 48 | 0x41000), msr(MSR_TTBR0, 2 << 48 | 0x41000)
    data = xtrace.pcinst(VECTORS + 0x480, NOP, 1) + one + eret(0x3FFFFC) + svc(0x400000, 63) + other + eret(0x400004, 3)
    assert results(bench, stream(bench, data)) == [("read", "3")]


@test
def a_result_belongs_to_the_task_on_whichever_core(bench):
    """A task reads in a loop on core 0, has its result on core 1, and the next one, of a call that it makes there, on core 0: the
    order of the TIMEs tells which is which. It may be told first when the kernel is entered; page tables are not told there, so that nothing tells whose the call was."""
    kernel, branch_back = xtrace.pcinst(VECTORS + 0x480, NOP, 1), 0x17FFFFFE

    def at(time):
        return xtrace.inst(LDR_X0_X1, 1) + xtrace.load(0xFFFF000000005000, bytes(8)) + xtrace.time(time)

    for opcode, tasks, told, wanted in (
            (MSR_SP_EL0, TASKS, True, ["11", "22"]), (MSR_SP_EL0, TASKS, False, ["11", "22"]),
            (MSR_TTBR0, (0x41000, 0x42000), True, ["11", "22"]), (MSR_TTBR0, (0x41000, 0x42000), False, [None, "22"])):
        one, other = (msr(opcode, task) for task in tasks)
        begin = kernel + one + at(1) + eret(0x3FFFFC) if told else b""
        cores = (begin + svc(0x400000, 63) + one + at(2) + other + at(3) + at(10) + one + eret(0x400004, 22),
                 kernel + other + at(4) + one + at(5) + eret(0x400004, 11) + xtrace.inst(branch_back) + svc(0x400000, 63) + one +
                 at(6) + other + at(7))
        path = stream(bench, cores[0], number=0)
        (path / "xtrace.1.1.hint13.xinsndata.bin").write_bytes(cores[1])
        told_of = {rule for rule, _ in rules(bench, path, 0)}
        assert told_of <= {"xtrace.header-stream", "xtrace.header-order", "xtrace.snapshots-missing"}, told_of
        assert results(bench, path) == [("read", result) for result in wanted], (hex(opcode), told, results(bench, path))


@test
def an_eret_may_have_a_call_made_again_or_go_to_a_handler(bench):
    again = xtrace.inst(ERET, 1) + xtrace.value("target-b", 0x400000) + xtrace.value("svcret", 0) + xtrace.allgpr([0] * 32)
    path = stream(bench, svc(0x400000, 63) + again + svc(0x400000, 63) + eret(0x400004, 5))
    assert results(bench, path) == [("read", None), ("read", "5")], results(bench, path)
    handled = svc(0x400000, 63) + eret(0x600000, 0) + svc(0x600004, 139) + eret(0x400004, 9)
    assert results(bench, stream(bench, handled)) == [("read", "9"), ("rt_sigreturn", None)]
    for data, wanted in ((svc(0x400000, 63) + eret(0x400004), ["xtrace.svc-return"]),
                         (svc(0x400000, 63) + eret(0x500000), []),
                         (svc(0x400000, 63) + eret(0x500000) + svc(0x500004, 64) + eret(0x400004, 1) +
                          xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x480, NOP, 1) + eret(0x500008), ["xtrace.svc-return"])):
        assert [rule for rule, _ in rules(bench, stream(bench, data), 0)] == wanted, wanted


@test
def programs_children_and_handlers_are_told(bench):
    """An ERET with a result that does not go behind a call of its task: execve (221) goes to a new program, clone (220) has a
    child that begins behind it with 0, and another call has a signal's handler begin before it returns."""
    def text(data):
        return [row["text"].split(") ", 1)[1] for row in bench.lines("syscalls", stream(bench, data)) if row["table"] == "event"]

    assert text(svc(0x400000, 221) + eret(0x500000, 0)) == ["= 0, a new program at 0x500000"]
    handled = svc(0x400000, 63) + eret(0x600000, 0) + svc(0x600004, 139) + eret(0x400004, 9)
    assert text(handled)[0] == "= 9, the handler of a signal at 0x600000 before it returns", text(handled)
    interrupt = xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x480, NOP, 1)
    a, b = msr(MSR_TTBR0, 0x41000), msr(MSR_TTBR0, 0x42000)
    begin = xtrace.pcinst(VECTORS + 0x480, NOP, 1) + a + eret(0x3FFFFC)
    for back in (eret(0x400004, 77) + interrupt + b + eret(0x400004, 0), b + eret(0x400004, 0) + interrupt + a + eret(0x400004, 77)):
        assert text(begin + svc(0x400000, 220) + back) == ["= 77, where a child begins, too"], text(begin + svc(0x400000, 220) + back)


@test
def linux_tells_tasks_in_sp_el0(bench):
    """A child of vfork (clone, 220) has its parent's tables and TPIDR_EL0; execve (221) gets others. What ends (94) or comes back
    from a handler (139) takes no signal."""
    def text(data):
        path = stream(bench, begin + data)
        return [row["text"].split(") ", 1)[1] for row in bench.lines("syscalls", path) if row["table"] == "event"]

    parent, child = (msr(MSR_SP_EL0, task) for task in TASKS)
    interrupt = xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x480, NOP, 1)
    begin = xtrace.pcinst(VECTORS + 0x480, NOP, 1) + msr(MSR_TTBR0, 0x41000) + parent + eret(0x3FFFFC)
    assert text(svc(0x400000, 220) + child + eret(0x400004, 0) + interrupt + parent + eret(0x400004, 77)) == ["= 77, where a child begins, too"]
    assert text(svc(0x400000, 221) + msr(MSR_TTBR0, 0x42000) + eret(0x500000, 0)) == ["= 0, a new program at 0x500000"]
    assert text(svc(0x400000, 221) + msr(MSR_TTBR0, 0x42000) + child + eret(0x500000, 0)) == ["= ?"]
    for number in 93, 94, 139:
        assert text(svc(0x400000, number) + eret(0x500000, 0)) == ["= ?"], number


@test
def an_eret_to_where_an_exception_comes_at_once_begins_one(bench):
    """A new program's page is not there: its exception, from a lower level (0x400 to 0x780 of the vectors), is a frame beside that
    of the system call, and its ERET goes where the first did. Where none goes there, or the PC is in no vector, it is told."""
    user, program, fault = 0x400000, 0x500000, VECTORS + 0x400
    begin = svc(user, 221) + xtrace.inst(ERET, 1) + xtrace.value("target-b", program) + xtrace.value("svcret", 0)
    falls = begin + xtrace.pcinst(fault, NOP, 1) + xtrace.inst(NOP, 1)
    path = stream(bench, falls + eret(program) + xtrace.inst(NOP))
    assert rules(bench, path, 0) == [], rules(bench, path, 0)
    tree = [(row["depth"], int(row["function"], 16), row["calls"], row["self"]) for row in bench.lines("calls", path) if row["table"] == "tree"]
    entered = [row for row in tree if row[1] == fault]
    assert [row[2:] for row in entered] == [(2, 2 + 3)], tree
    assert sum(row[3] for row in tree) == bench.lines("info", path)[0]["instructions"] == 8, tree
    event, = (row for row in bench.lines("syscalls", path) if row["table"] == "event")
    assert event["text"].endswith(") = 0, a new program at 0x500000"), event
    for elsewhere in falls + eret(program + 0x100), begin + xtrace.pcinst(fault + 4, NOP, 1):
        assert [rule for rule, _ in rules(bench, stream(bench, elsewhere), 0)] == ["xtrace.target-differs"], elsewhere


@test
def an_interrupt_behind_a_branch_is_no_finding_if_it_comes_back(bench):
    """At the kernel's own level: vectors are at 0, 0x80, ... of the first half of a table."""
    kernel, irq = VECTORS + 0x1000, VECTORS + 0x280
    branch, straight = xtrace.pcinst(kernel, B_EQ_8, 1), xtrace.pcinst(kernel, NOP, 1)
    enter = xtrace.pcinst(irq, NOP, 1)
    nested = enter + xtrace.pcinst(irq + 0x100, NOP, 1) + eret(irq + 4, level=1)
    for data, wanted in (
        (branch + enter + eret(kernel + 8, level=1), []),
        (branch + enter + eret(kernel + 4, level=1), []),
        (branch + enter + eret(kernel, level=1), []),  # it is executed again
        (branch + nested + eret(kernel + 8, level=1), []),
        (straight + enter + eret(kernel + 4, level=1), []),
        (branch + enter + eret(kernel + 16, level=1), ["xtrace.branch-target"]),
        (branch + enter, ["xtrace.branch-target"]),
        (straight + enter, ["xtrace.pc-jump"]),
        (branch + xtrace.pcinst(irq + 4, NOP, 1) + eret(kernel + 8, level=1), ["xtrace.branch-target"]),
        (branch + xtrace.pcinst(VECTORS + 0x480, NOP, 1) + eret(kernel + 8, level=1), ["xtrace.branch-target"]),
    ):
        assert [rule for rule, _ in rules(bench, stream(bench, data), 0)] == wanted, (wanted, rules(bench, stream(bench, data), 0))


def found(bench, path):
    return [(one["rule"], one["record"], one["text"]) for one in bench.lines("check", "--all", path, status=0)]


@test
def notes_of_a_kind_are_one_with_their_number(bench):
    """A load with STXR, 3000 times, as QEMU gives it; a signal twice; then no flags, once."""
    data = xtrace.pcinst(0x400000, NOP) + (xtrace.inst(0xC85F7C22) + xtrace.load(0x6000, bytes(8)) + xtrace.value("stxr", 0)) * 3000
    jumps = xtrace.pcinst(0x500000, NOP) + xtrace.pcinst(0x600000, NOP)
    rows = found(bench, stream(bench, data + jumps + xtrace.inst(0x9A820020) + xtrace.inst(NOP)))
    assert [row[:2] for row in rows] == [("xtrace.stxr-load", 13 + 5 + 17), ("xtrace.pc-jump", len(data)),
                                         ("xtrace.flags-missing", len(data) + 26)], rows
    assert [row[2].partition("It is")[2] for row in rows] == [" the first of 3000.", " the first of 2.", ""], rows


@test
def what_is_left_out_between_parts_is_one_note(bench):
    """Behind ALLGPR, where a snapshot is, the trace goes on anywhere; behind ALLGPR alone it is a signal's handler."""
    part, registers = xtrace.inst(NOP) * 3, xtrace.allgpr([0] * 32)
    parts = [xtrace.pcinst(pc, NOP) + part + registers for pc in (0x400000, 0x500000, 0x3FFF00)]
    size = len(parts[0])
    load, store = xtrace.inst(0xC85F7C22) + xtrace.load(0x6000, bytes(8)), xtrace.inst(0xC8037C22) + xtrace.value("stxr", 0)
    for snapshots, data, wanted in (
        ({0: 0, size: 4, 2 * size: 8}, b"".join(parts), [("xtrace.left-out", size, " the first of 2.")]),
        ({0: 0, size: 4}, b"".join(parts), [("xtrace.left-out", size, ""), ("xtrace.pc-jump", 2 * size, "")]),
        ({0: 0, size - len(registers) - 5: 3}, b"".join(parts), [("xtrace.pc-jump", size, " the first of 2.")]),
        ({0: 0, 13 + len(part): 4}, (xtrace.pcinst(0x400000, NOP) + part + xtrace.pcinst(0x500000, NOP)),
         [("xtrace.pc-jump", 13 + len(part), "")]),
    ):
        rows = [(rule, at, text.partition("It is")[2]) for rule, at, text in found(bench, stream(bench, data, snapshots))]
        assert rows == wanted, (rows, wanted)
    begin = xtrace.pcinst(0x400000, NOP) + load + registers
    data = begin + xtrace.pcinst(0x500000, NOP) + store + xtrace.store(0x6000, bytes(8))
    rows = rules(bench, stream(bench, data, {0: 0, len(begin): 2}), 0)
    assert rows == [("xtrace.left-out", len(begin))], rows  # the load may be left out
    rows = rules(bench, stream(bench, data + store + xtrace.store(0x6000, bytes(8)), {0: 0, len(begin): 2}), 0)
    assert rows == [("xtrace.left-out", len(begin)), ("xtrace.exclusive-alone", len(data))], rows


@test
def snapshots_come_each_million_instructions(bench):
    """A hundredth more is let pass: they come where a block begins. Of user mode, or all, as the header's division says."""
    most, rule = 1010000, "xtrace.snapshot-spacing"
    for user, kernel, wanted in ((most, 0, 0), (most + 1, 0, 1), (1000, most, 0)):
        data = xtrace.pcinst(0x400000, NOP) + xtrace.inst(NOP) * (user - 1) + xtrace.allgpr([0] * 32) + \
            (xtrace.pcinst(VECTORS + 0x400, NOP, 1) + xtrace.inst(NOP, 1) * (kernel - 1) if kernel else b"")
        path = stream(bench, data)
        assert rules(bench, path, 0) == [(rule, 24 + SNAPSHOT)] * wanted, (user, rules(bench, path, 0))
        file, = snapshots_of(path)
        file.write_bytes(file.read_bytes()[:16] + b"\1" + file.read_bytes()[17:])
        assert rules(bench, path, 0) == [(rule, 24 + SNAPSHOT)] * (user + kernel > most), user
    data = xtrace.pcinst(0x400000, NOP) + xtrace.inst(NOP) * (2 * most - 1)
    index = [13 + 5 * (count - 1) for count in (most, most + 1)]
    assert rules(bench, stream(bench, data, {0: 0, index[0]: most}), 0) == []
    rows = found(bench, stream(bench, data, {0: 0, index[1]: most + 1}))
    assert [row[:2] for row in rows] == [(rule, 24 + SNAPSHOT)] and f" {most + 1} instructions of user mode" in rows[0][2], rows


@test
def reuse_distances_are_numbers(bench):
    """Of lines 0, 1, 2, 0: two others lie between, and three accesses are the first of their line."""
    data = b"".join(xtrace.pcinst(0x400000, LDR_X0_X1) + xtrace.load(64 * line, bytes(8)) for line in (0, 1, 2, 0))
    rows = [row for row in bench.lines("mem", "--reuse", stream(bench, data)) if row["table"] == "reuse"]
    assert [(row["distance"], row["distance_to"], row["count"]) for row in rows] == [(2, 3, 1), (None, None, 3)], rows


@test
def replay_takes_a_layout_that_is_told(bench):
    """Where all instructions are counted and those of user mode alone are in the trace, offsets look like numbers of instructions."""
    path = bench.directory / "told"
    path.mkdir()
    (path / "xtrace.1.1.hint9.xinsndata.bin").write_bytes(xtrace.pcinst(0x1000, NOP) + xtrace.pcinst(0x1004, NOP))
    (path / "xtrace.1.1.hint9.xsnapshot.bin").write_bytes(xtrace.header(24, False, False) + b"".join(
        xtrace.snapshot(0, 13 * number, number, 100 * number, [0] * 32, 128) for number in range(2)))
    for told, status, says in ((None, 2, "tell instructions' numbers"), ("index=count", 2, "tell instructions' numbers"),
                               ("index=offset", 0, "2 instructions from 2 snapshots, no difference"),
                               ("header=24,za=yes,bits=128,index=offset,start=0", 0, "2 instructions from 2 snapshots, no difference"),
                               ("header=20,index=offset", 2, "cannot be read"), ("bits=256", 2, "cannot be read"),
                               ("header=21", 2, "header=21: no layout of xtrace")):
        done = subprocess.run([bench.tool, "replay", *(["--xtrace-layout", told] if told else []), path], capture_output=True, text=True)
        assert done.returncode == status and says in done.stdout + done.stderr, (told, done)


@test
def replay_reads_what_is_compressed(bench):
    """As all commands do, one file of a pair or both: the same results. (The writer's stores are not what its
    registers hold, so there are differences.) Damaged compression is told."""
    for ending, pack in ((".gz", gzip.compress), (".zst", zstd)):
        path, _ = bench.write("--turns", 20, "--threads", 2)
        plain = bench.lines("replay", path, status=1)
        for files in (snapshots_of(path), data_of(path)):
            for file in files:
                file.with_name(file.name + ending).write_bytes(pack(file.read_bytes()))
                file.unlink()
            found = bench.lines("replay", path, status=1)
            assert [{**each, "file": each["file"].removesuffix(ending)} for each in found] == plain, (found, plain)
        assert len(plain) == 2 and all(each["instructions"] and each["snapshots"] for each in plain), plain
        cut = sorted(path.glob("*.xinsndata.bin" + ending))[0]
        cut.write_bytes(cut.read_bytes()[:-20])
        bench.run("replay", cut, status=2)


@test
def replay_looks_at_as_many_places_as_there_are(bench):
    """All emulator hooks are asked about each instruction that has one: 100,000 of them would take minutes."""
    count, select = 100_000, 0x9A820000  # csel x0, x0, x2, eq
    path = stream(bench, xtrace.pcinst(0x400000, select) + xtrace.inst(select) * (count - 1))
    minute = lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    assert f"{count:,} instructions from 1 snapshot, no difference" in bench.run("replay", path, preexec_fn=minute)


@test
def replay_passes_by_what_is_empty(bench):
    """The thread of a part of a trace that did nothing there: no tokens, and a header or no byte for its snapshots. Nor does a
    terminal obey the name of the directory."""
    path = bench.directory / "empty\33[31m"
    path.mkdir()
    data, snapshots = path / "xtrace.1.1.hint9.xinsndata.bin", path / "xtrace.1.1.hint9.xsnapshot.bin"
    data.write_bytes(b"")
    for bytes_ in (xtrace.header(24, False, False), xtrace.header(32, False, False), b""):
        snapshots.write_bytes(bytes_)
        said = bench.run("replay", path)
        assert "0 instructions from 0 snapshots, no difference" in said and "empty\\x1b[31m/" in said, said
    snapshots.write_bytes(bytes(5000))
    bench.run("replay", path, status=2)
    data.write_bytes(xtrace.pcinst(0x1000, NOP))
    snapshots.write_bytes(xtrace.header(24, False, False))
    bench.run("replay", path, status=2)


@test
def replay_says_what_it_cannot_unpack(bench):
    """Where there is no room for copies the files are there all the same; what is plain or empty needs none."""
    path, _ = bench.write("--threads", 1)
    files = *data_of(path), *snapshots_of(path)
    nowhere = {**os.environ, "TMPDIR": str(path / "nowhere")}
    wanted = bench.lines("replay", path, status=1)
    assert bench.lines("replay", path, status=1, env=nowhere) == wanted
    for file, whose in zip(files, ("", "the snapshots beside it")):
        content = file.read_bytes()
        packed = file.with_name(file.name + ".gz")
        packed.write_bytes(gzip.compress(content))
        file.unlink()
        done = subprocess.run([bench.tool, "replay", path], capture_output=True, text=True, env=nowhere)
        assert done.returncode == 2 and f"{whose} cannot be unpacked to a temporary file" in done.stderr, done.stderr
        packed.unlink()
        file.write_bytes(content)
    for file in files:
        file.write_bytes(b"")
    bench.run("replay", path, env=nowhere)


@test
def check_misses_files(bench):
    for files, rule, status in ((snapshots_of, "xtrace.snapshots-missing", 0), (data_of, "xtrace.data-missing", 1)):
        path, _ = bench.write("--threads", 2)
        files(path)[1].unlink()
        assert [each for each, _ in rules(bench, path, status)] == [rule]


@test
def check_compares_the_times_of_all_files(bench):
    path, _ = bench.write("--threads", 3, "--order", "--turns", 5)
    assert rules(bench, path, 0) == []
    last = data_of(path)[-1]
    data = last.read_bytes()
    at = data.index(xtrace.time(3 * 7))  # the last of its first turn: the file before has the number before its first
    last.write_bytes(data[:at] + xtrace.time(3 * 7 + 1) + data[at + 9:])
    assert [each for each, _ in rules(bench, path, 0)] == ["xtrace.time-twice"]


LDR_X0_SP, STR_X0_SP, NOP, BL_1000, RET_X30 = 0xf94003e0, 0xf90003e0, 0xd503201f, 0x94000400 - 6, 0xd65f03c0
AT = 0x7000


def two_threads(path, ordered):
    """By hand: two threads that wait for each other's accesses. Returns the slices that are to be seen: (thread, name, from, to)."""
    def time(order):
        return xtrace.time(order) if ordered else b""

    def make(number, *tokens):
        (path / f"xtrace.1.{number}.hint9.xinsndata.bin").write_bytes(b"".join(tokens))

    def access(order):
        return xtrace.load(AT, bytes(8)) + time(order)

    path.mkdir()
    make(1, xtrace.pcinst(0x1000, LDR_X0_SP), access(0), *[xtrace.inst(NOP)] * 5, xtrace.inst(BL_1000),
         xtrace.pcinst(0x2000, LDR_X0_SP), access(3), xtrace.inst(NOP), xtrace.inst(RET_X30),
         xtrace.value("target-b", 0x101c), xtrace.pcinst(0x101c, NOP))
    make(2, xtrace.pcinst(0x3000, STR_X0_SP), xtrace.store(AT, bytes(8)), time(1), *[xtrace.inst(NOP)] * 20,
         xtrace.inst(LDR_X0_SP), access(2), xtrace.inst(NOP))
    if not ordered:
        return [(1, "0x1000", 0, None), (1, "0x2000", 7, 10), (2, "0x3000", 0, None)]
    # thread 2 begins when TIME 0 has come; TIME 2 comes at 23: the first thread's access of 7 is done then
    return [(1, "0x1000", 0, None), (1, "0x2000", 7, 25), (2, "0x3000", 1, None)]


@test
def threads_are_on_one_clock(bench):
    """What has a TIME comes when all with smaller ones have come; without TIMEs all begin at 0, which is told."""
    for ordered in (True, False):
        path = bench.directory / f"clock{ordered}"
        wanted = two_threads(path, ordered)
        for form in ("jsonl", "fxt"):
            out = path.with_suffix("." + form)
            done = subprocess.run([bench.tool, "convert", path, "-o", out], capture_output=True, text=True, check=True)
            assert ("xtrace.no-order" in done.stderr) == (not ordered), done.stderr
            text = out.read_text() if form == "jsonl" else bench.run("convert", "--to", "jsonl", out, "-o", "-")
            rows = [json.loads(line) for line in text.splitlines()]
            assert [row["time_ns"] for row in rows] == sorted(row["time_ns"] for row in rows), rows
            found = {}
            for row in rows:
                if row["kind"] == "slice-begin":
                    found.setdefault(row["thread"], []).append([row["name"], row["time_ns"], None])
                elif row["kind"] == "slice-end":
                    next(one for one in reversed(found[row["thread"]]) if one[2] is None)[2] = row["time_ns"]
            found = sorted((thread, *one) for thread, calls in found.items() for one in calls)
            assert found == wanted, (ordered, form, found)
        stat = {row["name"]: row for row in bench.lines("stat", path)}
        assert stat["0x2000"]["total"] == wanted[1][3] - wanted[1][2], stat
        assert {finding["rule"] for finding in bench.lines("check", path)} == {"xtrace.snapshots-missing"}


@test
def cut_takes_snapshots(bench):
    """From a snapshot to before another: just their instructions, as a set again; beyond the last it is told."""
    for more in ([], ["--index", "count", "--start", 24], ["--kernel", "--threads", 2, "--order"]):
        path, _ = bench.write(*more)
        whole = bench.lines("dump", path)
        for first, last in ((0, 1), (1, 3), (2, None)):
            out = path.with_suffix(f".{first}")
            bench.run("cut", "--from-snapshot", first, *(["--to-snapshot", last] if last else []), path, "-o", out)
            assert bench.lines("check", out) == []
            part = bench.lines("dump", out)
            for thread in {record["thread"] for record in whole}:
                theirs = [record for record in whole if record["thread"] == thread]
                at = [i for i, record in enumerate(theirs) if record["record"] == "snapshot"]
                expected = theirs[at[first]:at[last] if last else None]
                found = [record for record in part if record["thread"] == thread]
                keys = ("pc", "opcode", "tokens", "instructions", "x")
                assert [[record.get(key) for key in keys] for record in found] == \
                    [[record.get(key) for key in keys] for record in expected], (more, first, last)
    done = subprocess.run([bench.tool, "cut", "--from-snapshot", "1000", path, "-o", path / "no"], capture_output=True, text=True)
    assert done.returncode == 2 and f"{path}: no thread has a snapshot number 1000" in done.stderr, done.stderr
    assert not (path / "no").exists()
    bench.run("cut", "--from-snapshot", 3, "--to-snapshot", 3, path, "-o", path / "no", status=2)
    bench.run("cut", "--from-snapshot", 1, "--from-time", 7, path, "-o", path / "no", status=2)


@test
def cut_begins_at_a_snapshot(bench):
    """A part is a set again: the same instructions, from the snapshot before the first one that is asked for."""
    for more in ([], ["--index", "count", "--start", 24], ["--kernel", "--threads", 2, "--order"]):
        path, _ = bench.write(*more)
        out = path.with_suffix(".cut")
        bench.run("cut", "--from-time", 700, "--to-time", 1200, path, "-o", out)
        assert bench.lines("check", out) == []
        whole, part = bench.lines("dump", path), bench.lines("dump", out)
        for thread in {record["thread"] for record in whole}:
            theirs = [record for record in whole if record["thread"] == thread]
            begin = max(i for i, record in enumerate(theirs) if record["record"] == "snapshot"
                        and record["instructions"] <= 700)
            first = theirs[begin]["instructions"]
            expected = [record for record in theirs[begin:] if record.get("text") is None or record["index"] < 1200]
            found = [record for record in part if record["thread"] == thread]
            expected = [record for record in expected if record.get("text") or record["instructions"] < 1200]
            for record in [*expected, *found]:
                del record["offset"]
                if "text" not in record:
                    del record["index"]
            for record in found:
                if "text" in record:
                    record["index"] += first
            expected[1]["record"] = "pcinst"
            assert found == expected, (more, thread)


@test
def cut_reads_what_is_compressed(bench):
    path, _ = bench.write("--turns", 300)
    bench.run("cut", "--from-snapshot", 2, path, "-o", bench.directory / "cut-plain")
    wanted = bench.lines("insns", bench.directory / "cut-plain")
    for file in data_of(path):
        subprocess.run(["gzip", file], check=True)
    bench.run("cut", "--from-snapshot", 2, path, "-o", bench.directory / "cut-packed")
    assert bench.lines("insns", bench.directory / "cut-packed") == wanted


@test
def cut_chooses_threads_and_whole_traces(bench):
    path, _ = bench.write("--threads", 2)
    out = path.with_suffix(".cut")
    bench.run("cut", "--thread", 101, path, "-o", out)
    assert sorted(file.name for file in out.iterdir()) == sorted(file.name for file in path.glob("*.101.*"))
    assert all(file.read_bytes() == (path / file.name).read_bytes() for file in out.iterdir())
    bench.run("cut", "--thread", 101, path, "-o", out, status=2)  # it is there, and not empty
    bench.run("cut", "--category", "x", path, "-o", path.with_suffix(".more"), status=2)
    none = path.with_suffix(".none")
    bench.run("cut", "--from-time", 10 ** 9, path, "-o", none)
    info, = bench.lines("info", none)
    assert info["instructions"] == 0
    for i, filters in enumerate((["--thread", "999"], ["--from-time", "1000000000"])):
        done = subprocess.run([bench.tool, "cut", *filters, path, "-o", path.with_suffix(f".nothing{i}")],
                              capture_output=True, text=True)
        assert done.returncode == 0, done
        assert done.stderr.startswith("trackway: nothing passes the filters: " + filters[0]), done.stderr


@test
def repair_changes_nothing_that_is_fine(bench):
    path, _ = bench.write("--threads", 2, "--kernel", "--header", 32)
    out = path.with_suffix(".repaired")
    bench.run("repair", path, "-o", out)
    assert all(file.read_bytes() == (out / file.name).read_bytes() for file in path.iterdir())


@test
def repair_saves_what_is_whole(bench):
    """Garbage in the data and in the snapshots, and both cut off: what is left has no errors, and is all there is, but
    for an instruction right before the garbage: its five bytes may be damage as well."""
    for index in ("offset", "count"):
        path, facts = bench.write("--index", index)
        file, = data_of(path)
        data = file.read_bytes()
        at = data.index(xtrace.pcinst(xtrace.START, 0xA9BF7BFD), len(data) // 2)
        assert data[at - INST] == xtrace.inst(0)[0]
        file.write_bytes(data[:at] + b"\xff" * 100 + data[at:-3])
        file, = snapshots_of(path)
        snapshots = file.read_bytes()
        file.write_bytes(snapshots[:24 + SNAPSHOT] + b"\xee" * 10 + snapshots[24 + SNAPSHOT:-1])
        out = path.with_suffix(".repaired")
        bench.run("repair", path, "-o", out, status=1)
        again = path.with_suffix(".again")
        bench.run("repair", out, "-o", again)
        assert all(file.read_bytes() == (again / file.name).read_bytes() for file in out.iterdir())
        assert not [finding for finding in bench.lines("check", out) if finding["severity"] == "error"]
        info, = bench.lines("info", out)
        assert info["instructions"] == facts["instructions"] - 2, info  # the last was cut
        if index == "offset":  # the first two, and those behind the garbage, whose offsets are of another file
            assert data_of(out)[0].read_bytes() == data[:at - INST] + data[at:data.rindex(data[-5:])]
            assert info["snapshots"] == 2 or info["snapshots"] == 1


@test
def snapshot_files_without_a_snapshot_are_kept_or_told(bench):
    """A header alone stays as it is; a file that has no layout is lost as a whole, and so is compression that is cut."""
    path, _ = bench.write("--turns", 5)
    snapshots, = snapshots_of(path)
    whole = snapshots.read_bytes()
    for number, (content, lost) in enumerate(((whole[:24], 0), (b"", 0), (whole[:10], 10), (b"\7" * 5000, 5000))):
        snapshots.write_bytes(content)
        status = int(lost > 0)
        info, = bench.lines("info", path, status=status)
        assert info["lost_bytes"] == lost and info["errors"] == status, (number, info)
        for words in (["repair"], ["cut", "--from-time", 0]):
            out = bench.directory / f"kept{number}{words[0]}"
            facts, = bench.lines(*words, path, "-o", out, status=status)
            assert facts["lost_bytes"] == lost, (words, facts)
            assert snapshots_of(out)[0].read_bytes() == (b"" if lost else content), words
    snapshots.unlink()
    packed = pathlib.Path(f"{snapshots}.gz")
    packed.write_bytes(gzip.compress(whole)[:12])
    assert [rule for rule, _ in rules(bench, path)] == ["xtrace.compression"]


@test
def calls_are_made_of_branches(bench):
    """The program calls one function each turn, which has 9 instructions, and 3 more each time an exclusive store fails."""
    path, facts = bench.write("--turns", 100)
    rows = {row["name"]: row for row in bench.lines("stat", path)}
    main, function = rows[hex(xtrace.START)], rows[hex(xtrace.FUNCTION)]
    failures = facts["kinds"]["stxr"] - 100
    assert function["count"] == 100 and function["open"] == 0 and function["min"] == 9
    assert function["total"] == function["self"] == 9 * 100 + 3 * failures
    assert main["count"] == main["open"] == 1
    stacks = {tuple(row["stack"]): row["self"] for row in bench.lines("stacks", path)}
    assert stacks[hex(xtrace.START), hex(xtrace.FUNCTION)] == function["self"]
    chrome = path.with_suffix(".json")
    bench.run("convert", path, "-o", chrome)
    begins = [event for event in json.loads(chrome.read_text())["traceEvents"] if event["ph"] in "XB"]
    assert len(begins) == 101


def looped(signals):
    """By hand: a loop that calls one function by BL, one by BLR and goes on by BR, three times. With signals a handler runs between
    each branch and where it leads."""
    bl, blr, br, svc, b = 0x940003ff, 0xd63f0020, 0xd61f0040, 0xd4000001, 0x17fffff7
    handler = xtrace.pcinst(0x5000, NOP) + xtrace.inst(RET_X30) + xtrace.value("target-b", 0x6000) + \
        xtrace.pcinst(0x6000, svc) + b"".join(xtrace.value("svcarg", number) for number in (139, 0, 0, 0, 0, 0, 0))
    out = b""

    def branch(opcode, target):
        nonlocal out
        out += xtrace.inst(opcode) + xtrace.value("target-b", target)
        interrupt()

    def interrupt():
        nonlocal out
        out += handler if signals else b""

    for _ in range(3):
        out += xtrace.pcinst(0x1000, NOP) + xtrace.inst(bl)
        interrupt()
        out += xtrace.pcinst(0x2000, NOP)
        branch(RET_X30, 0x1008)
        out += xtrace.pcinst(0x1008, NOP)
        branch(blr, 0x3000)
        out += xtrace.pcinst(0x3000, NOP)
        branch(RET_X30, 0x1010)
        out += xtrace.pcinst(0x1010, NOP)
        branch(br, 0x1020)
        out += xtrace.pcinst(0x1020, NOP) + xtrace.inst(b)
        interrupt()
    return out + xtrace.pcinst(0x1000, NOP)


@test
def signals_leave_calls_as_they_are(bench):
    """A handler that runs between a branch and where it leads is no call, ends none, and is nowhere that a branch goes."""
    for signals in (False, True):
        path = bench.directory / f"signals{signals}"
        path.mkdir()
        (path / "xtrace.1.7.hint9.xinsndata.bin").write_bytes(looped(signals))
        stat = {row["name"]: (row["count"], row["open"]) for row in bench.lines("stat", path)}
        assert stat == {"0x1000": (1, 1), "0x2000": (3, 0), "0x3000": (3, 0)}, (signals, stat)
        calls = {row["function"]: (row["calls"], row["depth"]) for row in bench.lines("calls", path) if row["table"] == "tree"}
        assert calls == {"0x1000": (1, 1), "0x2000": (3, 2), "0x3000": (3, 2)}, (signals, calls)
        rows = [row for row in bench.lines("branches", path) if row["table"] == "kind"]
        kinds = {row["kind"]: (row["count"], row["mispredicted"]) for row in rows}
        if signals:  # all but the handler's own returns
            assert kinds == {"return": (18, 18)}, kinds
        else:  # each indirect branch the first time
            assert kinds == {"jump": (3, 0), "call": (3, 0), "indirect jump": (3, 1), "indirect call": (3, 1),
                             "return": (6, 0)}, kinds
        named = bench.lines("sql", path, "select distinct function from xtrace_insn where pc between 0x1000 and 0x1fff")
        assert named == [{"function": "0x1000"}], (signals, named)


@test
def calls_begin_where_a_pc_is_told(bench):
    """Instructions before the first PCINST are in no function; those behind it are."""
    path = bench.directory / "headless"
    path.mkdir()
    tokens = [xtrace.inst(NOP)] * 3 + [xtrace.pcinst(0x1000, NOP), xtrace.inst(BL_1000), xtrace.pcinst(0x1fec, NOP), xtrace.inst(RET_X30),
                                       xtrace.value("target-b", 0x1008), xtrace.pcinst(0x1008, NOP)]
    (path / "xtrace.1.7.hint9.xinsndata.bin").write_bytes(b"".join(tokens))
    stat = {row["name"]: (row["count"], row["self"]) for row in bench.lines("stat", path)}
    calls = {row["function"]: (row["calls"], row["self"]) for row in bench.lines("calls", path) if row["table"] == "function"}
    assert stat == calls == {"0x1000": (1, 3), "0x1fec": (1, 2)}, (stat, calls)


@test
def open_calls_last_until_their_thread_ends(bench):
    """What is executed behind the last branch counts, in each thread: a loop, and a function that the end comes in."""
    path = bench.directory / "tails"
    path.mkdir()
    parts = {
        1: [xtrace.pcinst(0x1000, NOP)] + [xtrace.inst(NOP)] * 99,
        2: [xtrace.pcinst(0x3000, NOP), xtrace.inst(0x940003ff), xtrace.pcinst(0x4000, NOP)] + [xtrace.inst(NOP)] * 49,
    }
    wanted = {1: {"0x1000": (100, 100)}, 2: {"0x3000": (52, 2), "0x4000": (50, 50)}}
    for number, tokens in parts.items():
        (path / f"xtrace.1.{number}.hint9.xinsndata.bin").write_bytes(b"".join(tokens))
    for options, threads in ((("--thread", 1), (1,)), (("--thread", 2), (2,)), ((), (1, 2))):
        functions = {name: sums for thread in threads for name, sums in wanted[thread].items()}
        stat = bench.lines("stat", path, *options)
        assert {row["name"]: (row["total"], row["self"]) for row in stat} == functions, (options, stat)
        assert all(row["count"] == row["open"] == 1 for row in stat), stat
        stacks = bench.lines("stacks", path, *options)
        assert {row["stack"][-1]: row["self"] for row in stacks} == {name: own for name, (_, own) in functions.items()}, stacks
        for jobs in 1, 2:
            folded = bench.run("convert", "--jobs", jobs, path, *options, "--to", "folded")
            assert folded == bench.run("flame", "--folded", path, *options), folded
    told, = bench.lines("convert", path, "--to", "folded", "-o", bench.directory / "out.folded")
    assert told["kinds"] == {"slice-begin": 3} and told["losses"] == [], told
    assert bench.run("convert", path, "--to", "callgrind").endswith("\ntotals: 152\n")
    profiles = json.loads(bench.run("convert", path, "--to", "speedscope"))["profiles"]
    assert [profile["endValue"] for profile in profiles] == [100, 52], profiles
    threads = json.loads(bench.run("convert", path, "--to", "firefox"))["threads"]
    assert [round(sum(thread["samples"]["weight"]) * 1e6) for thread in threads] == [100, 52], threads
    rows = bench.lines("sql", path, "select name, dur, self_dur from slice")
    assert {row["name"]: (row["dur"], row["self_dur"]) for row in rows} == wanted[1] | wanted[2], rows


@test
def the_return_of_a_handler_takes_an_address_from_the_ring(bench):
    """As a processor's does: of two calls inside each other one is left for the two returns behind it."""
    path = bench.directory / "ring"
    path.mkdir()
    for signals in (False, True):
        data = xtrace.pcinst(0x1000, 0x94000400) + xtrace.pcinst(0x2000, 0x94000400)  # bl 0x2000; bl 0x3000
        data += xtrace.pcinst(0x3000, NOP)
        if signals:
            data += xtrace.pcinst(0x5000, RET_X30) + xtrace.pcinst(0x6000, 0xd4000001)
            data += b"".join(xtrace.value("svcarg", number) for number in (139, 0, 0, 0, 0, 0, 0))
        data += xtrace.pcinst(0x3004, RET_X30) + xtrace.pcinst(0x2004, RET_X30) + xtrace.pcinst(0x1004, NOP)
        (path / "xtrace.1.7.hint9.xinsndata.bin").write_bytes(data)
        kinds = {row["kind"]: (row["count"], row["mispredicted"]) for row in bench.lines("branches", path) if row["table"] == "kind"}
        assert kinds["return"] == ((3, 3) if signals else (2, 0)), kinds


@test
def system_calls_are_as_many_as_returned(bench):
    """The program calls writev alone, once each turn."""
    for turns in 1, 40, 300:
        path, facts = bench.write("--turns", turns, "--threads", 2)
        rows = [row for row in bench.lines("syscalls", path) if row["table"] == "call"]
        found = [(row["name"], row["calls"], row["unreturned"]) for row in rows]
        assert found == [("writev", facts["kinds"]["svcret"], 0)], found


@test
def too_many_functions_are_one(bench):
    path, _ = bench.write("--turns", 1)
    file, = data_of(path)
    calls = b"".join(xtrace.pcinst(0x10000 + 4 * i, 0x94000001) for i in range(1000))  # bl to the next one
    file.write_bytes(calls)
    done = subprocess.run([bench.tool, "stat", "--json", "--memory", "65536", path], capture_output=True, text=True)
    assert "xtrace.memory-limit" in done.stderr and done.returncode == 0, done
    assert sum(json.loads(line)["count"] for line in done.stdout.splitlines()) < 1000


@test
def many_threads_need_few_descriptors(bench):
    """More files than a process may have open: the same as when it may, and little memory."""
    def limited(files):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    path, _ = bench.write("--threads", 50, "--order", "--turns", 20)
    many = len(data_of(path)) + len(snapshots_of(path))
    assert many == 100, many
    for words in (["check", "--json"], ["stat", "--json"], ["info", "--json"]):
        few, all_of_them = [bench.run(*words, path, preexec_fn=limited(files)) for files in (40, 1000)]
        assert few == all_of_them and (words[0] == "check") == (few == ""), (words, few)
    slices = [bench.directory / f"{files}.jsonl" for files in (40, 1000)]
    for files, out in zip((40, 1000), slices):
        bench.run("convert", path, "-o", out, preexec_fn=limited(files))
    text = slices[0].read_text()
    assert text == slices[1].read_text() and len({json.loads(line)["thread"] for line in text.splitlines()}) == 50


@test
def tracks_side_by_side_are_as_one_after_the_other(bench):
    """What info and check print does not depend on --jobs: not with little damage, nor with much, nor where a file cannot be read."""
    def all_of(path):
        done = [subprocess.run([bench.tool, *words, "--jobs", str(jobs), path], capture_output=True, text=True)
                for words in (["info", "--json"], ["check"], ["check", "--all", "--json"]) for jobs in (1, 4)]
        told = [(one.returncode, one.stdout, one.stderr) for one in done]
        assert all(told[i] == told[i - i % 2] for i in range(len(told))), told
        return told

    path, _ = bench.write("--threads", 7, "--order", "--turns", 40)
    assert all_of(path)[0][0] == 0
    for i, file in enumerate(data_of(path)):
        data = bytearray(file.read_bytes())
        for at in range(1000, len(data), 61 if i in (0, 1, 4) else 5000):
            data[at] = 0xff
        if i % 2:  # more than is kept of a track: a branch that must be taken and is not
            data += xtrace.pcinst(0x1000, NOP) + 2000 * (xtrace.inst(0x14000002) + xtrace.inst(NOP))
        file.write_bytes(data)
    told = all_of(path)
    assert told[0][0] == told[2][0] == 1 and told[4][1].count("\n") > 5000, (told[0][0], told[2][0], told[4][1].count("\n"))
    broken = data_of(path)[3]
    broken.unlink()
    broken.mkdir()
    told = all_of(path)
    assert told[0][0] == 2 and "is a directory" in told[0][2], told[0]


@test
def damaged_compression_is_told(bench):
    path, _ = bench.write("--turns", 3000)
    for file in [*data_of(path), *snapshots_of(path)]:
        subprocess.run(["gzip", file], check=True)
        packed = pathlib.Path(f"{file}.gz")
        packed.write_bytes(packed.read_bytes()[:-1000])
    assert [rule for rule, _ in rules(bench, path)].count("xtrace.compression") == 2


@test
def damage_is_told_alike_whatever_loop_meets_it(bench):
    """Bytes turned over, left out and put in, by a seed: the first tokens that are told as none, and what is left out."""
    path, _ = bench.write("--turns", 400, "--threads", 1)
    data, = data_of(path)
    whole = data.read_bytes()
    chance = random.Random(29)
    for _ in range(25):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(100, len(damaged) - 100)
            how = chance.choice(("turned", "left out", "put in"))
            if how == "turned":
                damaged[at] ^= 1 << chance.randrange(8)
            elif how == "left out":
                del damaged[at:at + chance.randint(1, 40)]
            else:
                damaged[at:at] = chance.randbytes(chance.randint(1, 16))
        data.write_bytes(damaged)
        told = []
        for command in ("dump", "info", "insns", "stat", "convert --to chrome -o /dev/null", "check --all"):
            done = bench.server.run(*command.split(), str(path))
            text = (done.stdout + done.stderr).decode(errors="replace")
            told.append(re.findall(r"(0x[0-9a-f]+): error: (Expected a token, found [^.]*)", text)[:10])
        assert all(one == told[0] for one in told), told


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    print("TAP version 13")
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, function in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as directory:
            try:
                function(Bench(options.tool, pathlib.Path(directory)))
                outcome = "ok"
            except (AssertionError, subprocess.CalledProcessError, ValueError, KeyError) as error:
                outcome, failed = "not ok", failed + 1
                print("#", repr(error)[:1500])
        print(outcome, number, "-", function.__name__.replace("_", " "), flush=True)
    sys.exit(failed > 0)


main()
