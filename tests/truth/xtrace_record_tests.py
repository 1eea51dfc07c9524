#!/usr/bin/python3
"""xtrace_record_tests - what `trackway record` writes of programs whose every step is known. Prints TAP.

Truth comes from the programs' own sources (what they load and store), from QEMU's log of executed addresses, and from the
document's words by way of xtrace_tokens, which is no code of ours.
"""
# SPDX-License-Identifier: Apache-2.0

import collections
import contextlib
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

import xtrace_tokens
from aarch64 import SOURCES, Failed, compile_program, expect, main

# By the sources: what each instruction of accesses.S does, in its order, as (mnemonic's kind, tokens behind it). Addresses are
# from the symbol `data`.
A, B, C, D = "1122334455667788", "10" * 8, "20" * 8, "00000080ffffff7f"
COUNT, NEXT, BOTH = "29" + "00" * 7, "2a" + "00" * 7, "2f" + "00" * 7
FIVE, NINE, SEVEN = "05" + "00" * 7, "09" + "00" * 7, "07" + "00" * 7
WANTED = [
    [], [],  # adrp, add
    [("load", 0, A)],
    [("load", 1, "22")],
    [("load", 6, "7788")],
    [("load", 8, B), ("load", 16, C)],
    [("load", 24, D[:8]), ("load", 28, D[8:])],
    [("store", 64, "11223344")],
    [("store", 72, B), ("store", 80, C)],
    [("store", 64, "0000")],
    [("load", 16, C + D)],
    [("store", 96, C + D), ("store", 112, C + D)],
    [("load", "constant", "efcdab8967452301")],
    [("load", 0, A + B), ("load", 16, C + D)],
    [("store", 0, "1122334420202020556677882020202010101010000000801010" + "1010ffffff7f")],
    [("load", 0, "1122")],
    [],
    [("load", 128, COUNT)], [], [("store", 128, NEXT), ("stxr", 0)], [], [("stxr", 1)],
    [("load", 128, NEXT), ("load", 136, NEXT)],
    [("store", 128, NEXT), ("store", 136, NEXT), ("stxr", 0)],
    [("load", 128, NEXT[:8])], [("store", 128, NEXT[:8])],
    [],
    [("load", 128, NEXT), ("store", 128, BOTH)],
    [("load", 128, BOTH), ("store", 128, BOTH)],
    [("load", 128, "2f"), ("store", 128, "05")],
    [("load", 128, FIVE[:8]), ("store", 128, FIVE[:8])],
    [], [],
    [("load", 128, FIVE)], [("load", 128, FIVE), ("store", 128, FIVE)],
    [], [], [], [],
    [("load", 128, FIVE), ("load", 136, NEXT)],
    [("load", 128, FIVE), ("load", 136, NEXT), ("store", 128, SEVEN), ("store", 136, NINE)],
    [("mrs", None)], [("mrs", "data+128")], [], [("misc-flags", 0x60000000)],
    [("mrs", 0x60000000)], [("mrs", "data+128")],
    [("dc", "data"), ("store", 0, "00" * 64)],
    [], [("target-b", "next")], [], [("target-b", "next+4")], [],
    [], [], [], [], [],
    [("svcarg", 66), ("svcarg", 1), ("svcarg", "vector"), ("svcarg", 2), ("svcarg", None), ("svcarg", None), ("svcarg", None),
     ("syscall-vec", "words", 3, "words+3", 2), ("svcret", 5), ("allgpr",)],
    [], [],
    [("svcarg", 94), ("svcarg", 0)] + [("svcarg", None)] * 5,
]


# The same for scalable.S.
LOW, MIDDLE, HIGH = "0001020304050607", "08090a0b0c0d0e0f", "1011121314151617"
SCALABLE = [
    [], [], [], [], [],
    [("load", 0, LOW + MIDDLE), ("load", 16, HIGH)],
    [("store", 256, "0008"), ("store", 258, "10")],
    [("load", 4, "04050607")],
    [],
    [("load", 8, MIDDLE), ("load", 4, "0405060708090a0b"), ("load", 0, LOW)],
    [("store", 288, "00010203"), ("store", 272, "08090a0b"), ("store", 256, "10111213")],
    [("load", 0, LOW), ("load", 16, HIGH), ("load", 32, "2021222324252627")],
    [("store", 288, LOW + MIDDLE), ("store", 304, HIGH + "00" * 8)],
    [("store", 380, "01010100")],
    [("load", 380, "01010100")],
    [], [],
    [("load", 0, LOW)],
    [], [], [],
    [("load", 0, "00")] * 3,
    [], [], [],
    [("svcarg", 94), ("svcarg", 0)] + [("svcarg", None)] * 5,
]


class Bench:
    """Programs, made once, and their recordings."""

    def __init__(self, arguments, directory):
        self.tool, self.sanitized, self.directory, self.runs = arguments.tool, arguments.sanitized, directory, 0
        self.qemu = arguments.qemu or shutil.which("qemu-aarch64")
        version = subprocess.run([self.qemu, "--version"], check=True, capture_output=True, text=True).stdout
        self.version = tuple(int(one) for one in re.search(r"version (\d+)\.(\d+)", version).groups())

    def program(self, name, *options, **how):
        return compile_program(self.directory, name, *options, **how)

    def command(self, words, *options):
        self.runs += 1
        out = self.directory / f"run{self.runs}"
        qemu = [] if "--qemu" in options else ["--qemu", self.qemu]
        return out, [self.tool, "record", "--to", "xtrace", *qemu, *options, "-o", out, "--", *words]

    def record(self, words, *options, status=0, says=None, environment=None):
        out, command = self.command(words, *options)
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.directory, check=False,
                              env=os.environ | (environment or {}))
        expect(done.returncode == status, "exit status", done.returncode, done.stderr)
        expect(says is None or says in done.stderr, "it says", done.stderr)
        return out, done.stdout


def symbols(program):
    text = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines()]
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def instructions(data):
    """(pc, opcode, its tokens) of each instruction."""
    found = []
    for _, name, fields in xtrace_tokens.tokens(data):
        if name in ("inst", "pcinst"):
            found.append((*fields, []))
        else:
            found[-1][2].append((name, *fields))
    return found


def only(directory):
    streams = xtrace_tokens.files(directory)
    expect(len(streams) == 1, "streams", streams)
    data, snapshots = next(iter(streams.values()))
    return data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes()))


def replay(bench, directory):
    """Executed again by unicorn, with all instructions and no difference; or what is said of it."""
    done = subprocess.run([bench.tool, "replay", "--json", directory], capture_output=True, text=True, check=False)
    expect(done.returncode in (0, 1), done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return sum(line["instructions"] for line in lines), [line for line in lines if line["different"]]


def check_replay(bench, directory, count):
    again, different = replay(bench, directory)
    expect(not different and again == count, again, "of", count, "instructions executed again;", different)


def signed(value, bits):
    return (value & (1 << bits) - 1) - ((value & 1 << (bits - 1)) << 1)


@functools.lru_cache(maxsize=1 << 16)
def steps(opcode):
    """How far from an instruction that after it may be; None: a register tells."""
    jump = None
    if opcode >> 26 & 0x1f == 5:
        return [4 * signed(opcode, 26)]
    if opcode >> 24 == 0x54 or opcode >> 25 & 0x3f == 0x1a:
        jump = signed(opcode >> 5, 19)
    elif opcode >> 25 & 0x3f == 0x1b:
        jump = signed(opcode >> 5, 14)
    elif opcode >> 25 == 0x6b:
        return None
    return [4] + ([4 * jump] if jump is not None else [])


def check_stream(data, snapshots):
    """Every instruction follows from the one before; snapshots stand where they say. Returns the number of instructions."""
    count, before, anew, targets, at = 0, None, False, [], {one["index"]: one for one in snapshots}
    for offset, name, fields in xtrace_tokens.tokens(data):
        if name not in ("inst", "pcinst"):
            anew = anew or name == "allgpr"
            if name == "target-b":
                targets.append(fields[0])
            continue
        if offset in at:
            expect(at.pop(offset)["count"] == count, "snapshot at", hex(offset), "counts wrong")
        if before and not anew:
            far = steps(before[1])
            if not (fields[0] - before[0] in far if far else fields[0] in targets):
                raise Failed(f"{offset:#x}: {fields[0]:#x} after {before[0]:#x}")
        before, anew, targets, count = fields, False, [], count + 1
    expect(not at, "snapshots that stand nowhere:", sorted(at))
    return count


# ---- The tests. ----

def test_accesses(bench):
    "accesses.S: each instruction's tokens, values and addresses"
    program = bench.program("accesses")
    where = symbols(program)

    def value(word):
        if not isinstance(word, str):
            return word
        name, _, more = word.partition("+")
        return where[name] + int(more or 0)

    directory, output = bench.record([program])
    expect(output == "ab\nc\n", "output", output)
    check_accesses(instructions(only(directory)[0]), WANTED, value, where["data"])


def check_accesses(found, all_wanted, value, data):
    """Each instruction has the tokens that are wanted; value: of their words; data: the address that theirs count from."""
    expect(len(found) == len(all_wanted), len(found), "instructions, not", len(all_wanted))
    for (pc, opcode, tokens), wanted in zip(found, all_wanted):
        text = f"{pc:#x} {opcode:08x}: {tokens}"
        memory = [(t[0], t[1], t[2].hex()) for t in tokens if t[0] in ("load", "store")]
        others = [t for t in tokens if t[0] not in ("load", "store")]
        want = [(w[0], value(w[1]) + (0 if isinstance(w[1], str) else data), w[2])
                for w in wanted if w[0] in ("load", "store")]
        expect(spans(memory) == spans(want), text, "wanted", want)
        want = [w for w in wanted if w[0] not in ("load", "store")]
        expect([t[0] for t in others] == [w[0] for w in want], text)
        for token, one in zip(others, want):
            for have, word in zip(token[1:], one[1:]):
                expect(word is None or have == value(word), text, "wanted", one)


def test_scalable(bench):
    "scalable.S: what SVE's loads and stores access, by vectors, offsets and predicates; registers of the snapshots"
    program = bench.program("scalable")
    directory, _ = bench.record([program], "--cpu", "max,sve-max-vq=2", "--snapshot-interval", "10")
    (data, snapshots), = xtrace_tokens.files(directory).values()
    check_accesses(instructions(data.read_bytes()), SCALABLE, lambda word: word, symbols(program)["data"])
    one = list(xtrace_tokens.snapshots(snapshots.read_bytes(), vector_bits=256))[-1]
    expect(one["count"] == 23 and one["vector_bits"] == 256, one)
    expect([one["z"][i].hex() for i in (0, 1, 2)] == [
        LOW + MIDDLE + HIGH + "00" * 8, "0405060700000000" * 3 + "00" * 8,
        "".join(struct.pack("<q", word).hex() for word in (8, 4, 0, -4))], one["z"])
    expect([one["p"][i].hex() for i in (0, 1, 2, 16)] == ["01010100", "01010100", "ff000000", "00000000"], one["p"])
    for words, status, says in ((["check"], 0, "fine"), (["replay"], 0, "7 instructions from 2 snapshots (1 up to an instruction of SVE, which the "
                                 "emulator does not know: 19 instructions left out), no difference"),
                                (["slice", "--length", "20", "-o", bench.directory / "slice.elf"], 2, "it is of SVE, whose registers a slice has not")):
        done = subprocess.run([bench.tool, *words, directory], capture_output=True, text=True, check=False)
        expect(done.returncode == status and says in done.stdout + done.stderr, words, done.returncode, done.stdout, done.stderr)
    out = bench.directory / "slice.elf"  # behind all of SVE
    subprocess.run([bench.tool, "slice", "--snapshot", "1", "--length", "2", "-o", out, directory], check=True, capture_output=True)
    vectors = bytes.fromhex(LOW + MIDDLE + 2 * "0405060700000000") + struct.pack("<qq", 8, 4)
    expect(vectors in out.read_bytes(), "V0 to V2 are the low halves of Z0 to Z2")


def test_scalable_changes(bench):
    "scalable_changes.S: vectors that become shorter are loaded so, and told; SME is told"
    for options, says in (([], "changed the length of its vectors"), (["-DMATRIX"], "instructions of SME were executed")):
        program = bench.program("scalable_changes", *options, to=f"changes{len(options)}")
        directory, _ = bench.record([program], "--cpu", "max,sve-max-vq=2", "--snapshot-interval", "5", says=says)
        loads = [(t[1] - symbols(program)["data"], len(t[2]))
                 for _, _, tokens in instructions(only_data(directory)) for t in tokens if t[0] == "load"]
        expect(loads == [(0, 16), (16, 16), (16, 16)], loads)


def only_data(directory):
    (data, _), = xtrace_tokens.files(directory).values()
    return data.read_bytes()


def changed_by_none(tokens):
    """Bytes that are loaded and are not those that were last loaded from there or stored there; all that were compared."""
    memory, wrong, compared = {}, [], 0
    for offset, name, fields in tokens:
        if name == "svcarg":  # the kernel writes where it was told to
            memory = {}
        if name not in ("load", "store"):
            continue
        for i, byte in enumerate(fields[1]):
            if name == "load" and fields[0] + i in memory:
                compared += 1
                wrong += [(hex(offset), hex(fields[0] + i))] if memory[fields[0] + i] != byte else []
            memory[fields[0] + i] = byte
    return wrong, compared


def check_replay_up_to_scalable(bench, trace, count):
    """Each part is executed up to its first instruction of SVE, and the rest is told."""
    done = subprocess.run([bench.tool, "replay", "--json", trace], capture_output=True, text=True, check=False)
    row = json.loads(done.stdout)
    expect(done.returncode == 0 and row["different"] == 0 and row["scalable"] > 10, row)
    expect(row["instructions"] > count // 2 and row["instructions"] + row["left_out"] == count, row, count)


def test_scalable_lengths(bench):
    "scalable_loops.c: vectors of each length load what was stored, as compiled loops and the C library do; windows, too"
    program = bench.program("scalable_loops", "-O3", "-ffast-math", "-march=armv8-a+sve")
    bytes_of = set()
    for quads in (1, 3, 16):
        cpu = f"max,sve-max-vq={quads},sve-default-vector-length=-1"
        directory, output = bench.record([program], "--cpu", cpu, "--snapshot-interval", "500")
        expect(output == "999000 2975 2997\n", output)
        (data, snapshots), = xtrace_tokens.files(directory).values()
        wrong, compared = changed_by_none(xtrace_tokens.tokens(data.read_bytes()))
        expect(not wrong, quads, wrong[:5])
        bytes_of.add(compared)
        first, *_ = xtrace_tokens.snapshots(snapshots.read_bytes(), vector_bits=128 * quads)
        expect(first["vector_bits"] == 128 * quads, first["vector_bits"])
        all_of = instructions(data.read_bytes())
        check_replay_up_to_scalable(bench, directory, len(all_of))
        directory, _ = bench.record([program], "--cpu", cpu, "--skip", "3000", "--length", "1000")
        (data, _), = xtrace_tokens.files(directory).values()
        part = instructions(data.read_bytes())
        starts = [i for i in range(3000, 3200) if [one[:2] for one in all_of[i:i + len(part)]] == [one[:2] for one in part]]
        expect(len(part) >= 1000 and starts, len(part), "instructions of a window")
    expect(len(bytes_of) == 1 and min(bytes_of) > 50000, "the same bytes, whatever the length", bytes_of)


def spans(accesses):
    """Accesses that follow each other are one: collectors cut them differently."""
    joined = []
    for kind, address, text in accesses:
        last = joined[-1] if joined else None
        if last and last[0] == kind and last[1] + len(last[2]) // 2 == address:
            last[2] += text
        else:
            joined.append([kind, address, text])
    return joined


def test_log(bench):
    "crash.S and marks.S: the same addresses as in QEMU's log of one instruction at a time"
    for name, status in (("crash", 1), ("marks", 0)):
        program = bench.program(name)
        step = "-singlestep" if bench.version < (8, 1) else "-one-insn-per-tb"
        log = subprocess.run([bench.qemu, "-cpu", "neoverse-n1", step, "-d", "nochain,exec", program],
                             capture_output=True, text=True, cwd=bench.directory, check=False).stderr
        truth = [int(one, 16) for one in re.findall(r"^Trace .*\[\w+/(\w+)/", log, re.M)]
        found = [pc for pc, _, _ in instructions(only(bench.record([program], status=status)[0])[0])]
        if name == "crash":
            truth.pop()  # the load that fails is begun, not done
        expect(found == truth, name, len(found), "instructions; QEMU's log has", len(truth))


def test_crash(bench):
    "crash.S: ended by a signal, it is told and everything before is there"
    directory, _ = bench.record([bench.program("crash")], status=1, says="signal 11")
    found = instructions(only(directory)[0])
    expect(len(found) == 1 + 3 * 1000 + 2, len(found), "instructions")
    expect(sum(len(tokens) for _, _, tokens in found) == 2000, "stores")


def test_marks(bench):
    "marks.S: between marks only, with a snapshot at each beginning"
    data, snapshots = only(bench.record([bench.program("marks")], "--from-hint")[0])
    expect(len(instructions(data)) == 15 and len(snapshots) == 2, "not 15 instructions and 2 snapshots")
    expect([one["count"] for one in snapshots] == [0, 10], "counts of snapshots")
    expect(snapshots[0]["x"][0:2] == (0, 1), "X0, X1 at the first mark")
    bench.record([bench.program("crash")], "--from-hint", status=2, says="no HINT #9")


def test_snapshots(bench):
    "crash.S: snapshots by their interval hold what the registers are"
    data, snapshots = only(bench.record([bench.program("crash")], "--snapshot-interval", "300", status=1)[0])
    expect(check_stream(data, snapshots) == 3003, "instructions")
    for i, one in enumerate(snapshots):
        expect(one["count"] // 300 == i and one["count"] % 300 <= 3, "snapshot", i, "after", one["count"])
        expect(i == 0 or one["x"][0] == 1000 - (one["count"] - 1) // 3, "X0 after", one["count"])


REWRITTEN = 12 + 40 * 26 + 7 + 2 * 22 + 3  # instructions of rewrites.S, by its source


def test_rewrites(bench):
    "a program that writes its own code, by stores and by system calls: replay takes what the trace has"
    program = bench.program("rewrites")
    for options in ((), ("--snapshot-interval", "100")):
        directory, _ = bench.record([program], *options, says="status 28")
        data, _ = only(directory)
        first = [opcode for pc, opcode, _ in instructions(data) if pc & 0xFFF == 0 and opcode >> 21 == 0xD2800000 >> 21]
        expect([opcode >> 5 & 0xFFFF for opcode in first] == [*range(40), 7, 9], first)
        expect(replay(bench, directory) == (REWRITTEN, []), replay(bench, directory))
    path, = directory.glob("*.xinsndata.bin")  # another number in the fifth function: the exit status is another
    five, six = ((0xD2800000 | number << 5).to_bytes(4, "little") for number in (5, 6))
    at = data.index(five + b"\x01")
    path.write_bytes(data[:at] + six + data[at + 4:])
    expect(replay(bench, directory)[1], "no difference")


def test_state(bench):
    "state.S: a snapshot has each register's own value"
    program = bench.program("state")
    _, (one,) = only(bench.record([program], "--from-hint")[0])
    wanted = [0x100 + n for n in range(31)] + [symbols(program)["stack"]]
    expect(list(one["x"]) == wanted, [hex(x) for x in one["x"]])
    for n, z in enumerate(one["z"]):
        expect(z == struct.pack("<2Q", 0x500 + n, 0x8000000000000600 + n), "V", n, z.hex())
    wanted = {"fpcr": 0x00c00000, "fpsr": 0x08000011, "nzcv": 0x90000000, "tpidr_el0": 0x1122334455667788}
    expect({name: one[name] for name in wanted} == wanted, {name: hex(one[name]) for name in wanted})


def test_threads(bench):
    "threads.c: one pair of files a thread, no step without its cause, and values that add up"
    rounds = 3000
    directory, output = bench.record([bench.program("threads"), str(rounds)])
    total = 4 * sum(i & 3 for i in range(rounds))
    expect(output == f"{total} {total} 10\n", "output", output)
    streams = xtrace_tokens.files(directory)
    expect(len(streams) == 5, "streams", streams)
    where = symbols(bench.program("threads"))
    added, count = collections.Counter(), 0
    for data, snapshots in streams.values():
        bytes_of = data.read_bytes()
        count += check_stream(bytes_of, list(xtrace_tokens.snapshots(snapshots.read_bytes())))
        for _, _, tokens in instructions(bytes_of):
            loads = [t for t in tokens if t[0] == "load" and t[1] == where["together"]]
            stores = [t for t in tokens if t[0] == "store" and t[1] == where["together"]]
            if loads and stores:
                added[int.from_bytes(stores[0][2], "little")] += 1
                added[int.from_bytes(loads[0][2], "little")] -= 1
    check_replay(bench, directory, count)
    # each sum that one thread left another took up: what stays is the last and the first
    expect({value: n for value, n in added.items() if n} == {0: -1, total: 1}, "sums do not meet", added)


def test_order(bench):
    "threads.c: accesses are numbered over all files; what one lock guards comes in the order of the numbers"
    program = bench.program("threads")
    directory, output = bench.record([program, "300"])
    locked, orders, guarded, begins = symbols(program)["locked"], [], [], {}
    for name, (data, snapshots) in xtrace_tokens.files(directory).items():
        expect(snapshots.read_bytes()[18] == 1, "the header says that there is no order")
        for _, opcode, tokens in instructions(data.read_bytes()):
            for before, token in zip(tokens, tokens[1:]):
                if token[0] != "time":
                    continue
                expect(before[0] in ("load", "store", "svcarg"), "a TIME after", before)
                orders.append(token[1])
                begins.setdefault(name, token[1])
                if before[0] == "store" and before[1] == locked:
                    guarded.append((token[1], int.from_bytes(before[2], "little")))
    expect(sorted(orders) == list(range(len(orders))), "numbers are missing or twice")
    values = [value for _, value in sorted(guarded)]
    expect(len(values) == 4 * 300 and values == sorted(values) and values[-1] == int(output.split()[0]), values[:20])
    slices = [row for row in map(json.loads, subprocess.run(
        [bench.tool, "convert", "--to", "jsonl", "--binary", program, directory, "-o", "-"], check=True, capture_output=True,
        text=True).stdout.splitlines()) if row["kind"] == "slice-begin"]
    main = slices[0]["thread"]
    clones = [row["time_ns"] for row in slices if row["thread"] == main and "clone" in row["name"]]
    starts = sorted(min(row["time_ns"] for row in slices if row["thread"] == one)
                    for one in {row["thread"] for row in slices} - {main})
    expect(len(starts) == 4 and all(clone <= start for clone, start in zip(clones, starts)), clones, starts)


def test_forks(bench):
    "forks.c: a child has files of its own; handlers begin with all registers"
    directory, output = bench.record([bench.program("forks")])
    expect(output == "2 2\n", "output", output)
    streams = xtrace_tokens.files(directory)
    expect(len(streams) == 2, "streams", streams)
    check_replay(bench, directory, sum(
        check_stream(data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes())))
        for data, snapshots in streams.values()))


def test_late(bench):
    "late.c: handlers and threads of before the first mark are known behind it"
    directory, output = bench.record([bench.program("late")], "--from-hint")
    expect(output == "1 101\n", "output", output)
    streams = xtrace_tokens.files(directory)
    expect(len(streams) == 2, "streams", streams)
    count, returns, steps = 0, [], []
    for data, snapshots in streams.values():
        bytes_of = data.read_bytes()
        count += check_stream(bytes_of, list(xtrace_tokens.snapshots(snapshots.read_bytes())))
        for _, _, tokens in instructions(bytes_of):
            numbers = [t[1] for t in tokens if t[0] == "svcarg"]
            returns += [(numbers[0], t[1]) for t in tokens if t[0] == "svcret"]
            loads, stores = ([t for t in tokens if t[0] == kind] for kind in ("load", "store"))
            if loads and stores:
                steps.append((int.from_bytes(loads[0][2], "little"), int.from_bytes(stores[0][2], "little")))
    raised = [value for number, value in returns if number == 131]
    expect(raised == [0], "what tgkill() returned, not what its handler was given:", returns)
    expect([one for one in steps if one[0] >= 1 and one[1] <= 101 and one[1] == one[0] + 1][-100:] == [(i, i + 1) for i in range(1, 101)], steps)
    check_replay(bench, directory, count)


def test_replay_differs(bench):
    "replay shows what was changed in a trace: a load's value, a store's, an address, a flag, a target"
    directory, _ = bench.record([bench.program("accesses")])
    path = next(directory.glob("*.xinsndata.bin"))
    whole = path.read_bytes()
    wanted = {"load": "value of a store", "store": "value of a store", "address": "address of a load",
              "misc-flags": "NZCV", "svcarg": "argument of a system call", "pcinst": "next PC", "target-b": "branch target",
              "dc": "address of DC ZVA", "zeros": "value of a store", "zeros' address": "address of a store", "nzcv": "NZCV"}
    for kind, what in wanted.items():
        changed = bytearray(whole)
        tokens = list(xtrace_tokens.tokens(whole))
        if kind.startswith("zeros"):
            at = next(two[0] for one, two in zip(tokens, tokens[1:]) if one[1] == "dc")
        elif kind == "nzcv":
            at = next(one[0] + 3 for one in tokens if one[1:] == ("mrs", (0x60000000,)))
        else:
            named = [one for one in tokens if one[1] == ("load" if kind == "address" else kind)]
            at = named[3 if kind == "pcinst" else 0][0]
        changed[at + (9 if kind in ("load", "store", "zeros") else 4 if kind == "misc-flags" else 1)] ^= 0x10
        path.write_bytes(changed)
        _, different = replay(bench, directory)
        expect(different and different[0].get("what") == what, kind, "changed:", different)
        run = subprocess.run([bench.tool, "replay", directory], capture_output=True, text=True, check=False)
        expect(run.returncode == 1 and what in run.stdout, run.stdout)
    path.write_bytes(whole[:-3])
    expect(replay(bench, directory)[1][0]["end"] == "damaged", "half a token")


def test_replay_parts(bench):
    "replay counts the parts that differ"
    directory, _ = bench.record([bench.program("far"), "100", "1"], "--snapshot-interval", "5000")
    path = next(directory.glob("*.xinsndata.bin"))
    whole = path.read_bytes()
    stores = [at for at, name, _ in xtrace_tokens.tokens(whole) if name == "store"]
    for taken, says in ((stores[:1], "; 1 does not end as recorded"), (stores, " do not end as recorded")):
        changed = bytearray(whole)
        for at in taken:
            changed[at + 9] ^= 0x10
        path.write_bytes(changed)
        run = subprocess.run([bench.tool, "replay", directory], capture_output=True, text=True, check=False)
        expect(run.returncode == 1 and says in run.stdout, run.returncode, run.stdout)


def test_replay_damaged(bench):
    "a part whose first token is damaged costs only itself"
    directory, _ = bench.record([bench.program("far"), "100", "1"], "--snapshot-interval", "5000")
    data, snapshots = only(directory)
    at, count = snapshots[1]["index"], snapshots[2]["count"] - snapshots[1]["count"]
    next(directory.glob("*.xinsndata.bin")).write_bytes(data[:at] + b"\x04" + data[at + 1:])
    again, different = replay(bench, directory)
    expect(again == len(instructions(data)) - count, again, "instructions executed again")
    expect([(one["different"], one["end"], one["offset"]) for one in different] == [(1, "damaged", at)], different)


def test_replay_signals(bench):
    "faults.c: when a handler returns, flags and vectors are what they were before it"
    directory, output = bench.record([bench.program("faults")], "--snapshot-interval", "100000000")
    expect(output == "20 20\n", "output", output)
    check_replay(bench, directory, len(instructions(only(directory)[0])))


def test_replay_random(bench):
    "random.S: what a random number leaves in the flags"
    directory, _ = bench.record([bench.program("random")], "--cpu", "max,sve=off")
    check_replay(bench, directory, 1 + 100 * 5 + 4)


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (1400 << 20, 1400 << 20))  # unicorn alone takes 1 GiB


def test_replay_far(bench):
    "far.c: memory at thousands of places, which the emulator could not have one by one"
    program = bench.program("far")
    for count, step in ((1200, 1), (2000, 8), (600, 256)):
        directory, _ = bench.record([program, str(count), str(step)])
        check_replay(bench, directory, len(instructions(only(directory)[0])))
    if not bench.sanitized:
        run = subprocess.run([bench.tool, "replay", directory], capture_output=True, text=True, check=False,
                             preexec_fn=little_memory)
        expect(run.returncode == 2 and "out of memory" in run.stderr and not run.stdout, run.returncode, run.stdout,
               run.stderr)
    directory, _ = bench.record([program, "600", "8192"])
    run = subprocess.run([bench.tool, "replay", directory], capture_output=True, text=True, check=False)
    expect(run.returncode == 1 and "too many places" in run.stdout, run.returncode, run.stdout, run.stderr)


@contextlib.contextmanager
def running(command):
    """The tool at work. It does not outlive a test that fails: its program, which it ends with itself, may have no end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            yield run
        except BaseException:
            run.kill()
            raise


def wait_until(run, holds, *what):
    for _ in range(2400):
        if holds():
            return
        expect(run.poll() is None, "the tool has ended before", *what)
        time.sleep(0.05)
    expect(False, *what, "does not come")


def written(out, pattern):
    """How much there is of such files."""
    return sum(path.stat().st_size for path in out.glob(pattern))


def name_of(process):
    """None: it has gone."""
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return None


def programs_of(recorder):
    """Processes that it has started, or was left, beside the one that tells it to whom signals come."""
    children = pathlib.Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()
    return [child for child in children if name_of(child) not in (None, "tw-witness")]


def test_kill(bench):
    "killed in the middle of its work: whole tokens to the end"
    out, command = bench.command([bench.program("threads"), "100000000"], "--snapshot-interval", "50000")
    with running(command) as run:
        wait_until(run, lambda: written(out, "*.xinsndata.bin"), "a trace")
        program, = programs_of(run.pid)
        os.kill(int(program), signal.SIGKILL)
        said = run.stderr.read()
    expect(run.returncode == 1 and "signal 9" in said, run.returncode, said)
    for data, snapshots in xtrace_tokens.files(out).values():
        check_stream(data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes())))


def test_left(bench):
    "stays.c: a process that the program left behind ends by a signal to the tool"
    for number in (signal.SIGTERM, signal.SIGINT):
        out, command = bench.command([bench.program("stays")])
        with running(command) as run:
            left = run.stdout.readline().strip()
            wait_until(run, lambda: programs_of(run.pid) == [left], "the program's end")
            run.send_signal(number)
            try:
                run.wait(10)
                ended = True
            except subprocess.TimeoutExpired:
                ended = False
                os.kill(int(left), signal.SIGKILL)
        expect(ended and run.returncode == 0, number, run.returncode)
        streams = xtrace_tokens.files(out).values()
        expect(len(streams) == 2, "streams", streams)
        for data, snapshots in streams:
            check_stream(data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes())))


def unpacked(out, to):
    """The trace with its files of instructions as zstd's own tool has them."""
    shutil.copytree(out, to)
    for path in to.glob("*.zst"):
        subprocess.run(["zstd", "-q", "-d", "--rm", path], check=True)
    return to


def test_compressed(bench):
    "--compress zstd: frames of the same tokens, which replay and check read as they are; killed, whole tokens to the end"
    program = bench.program("far")
    plain, _ = bench.record([program, "600", "8"], "--snapshot-interval", "1000")
    packed, _ = bench.record([program, "600", "8"], "--snapshot-interval", "1000", "--compress", "zstd")
    expect(len(list(packed.glob("*.xinsndata.bin.zst"))) == 1 and not list(packed.glob("*.xinsndata.bin")), list(packed.iterdir()))
    again = unpacked(packed, bench.directory / "unpacked")
    strip = [[(pc, opcode, [one for one in tokens if one[0] in ("load", "store")]) for pc, opcode, tokens in instructions(only(one)[0])
              if pc < 1 << 30] for one in (plain, again)]
    expect(len(strip[0]) == len(strip[1]), len(strip[0]), len(strip[1]))
    count = check_stream(*only(again))
    size, small = (sum(path.stat().st_size for path in one.glob("*xinsndata*")) for one in (plain, packed))
    expect(small * 4 < size, small, "bytes of", size)
    check_replay(bench, packed, count)
    subprocess.run([bench.tool, "check", packed], check=True, capture_output=True)
    out, command = bench.command([bench.program("threads"), "100000000"], "--compress", "zstd")
    with running(command) as run:
        wait_until(run, lambda: written(out, "*.xinsndata.bin.zst"), "a trace")
        killed, = programs_of(run.pid)
        os.kill(int(killed), signal.SIGKILL)
        said = run.stderr.read()
    expect(run.returncode == 1 and "signal 9" in said, run.returncode, said)
    for data, snapshots in xtrace_tokens.files(unpacked(out, bench.directory / "unpacked-killed")).values():
        check_stream(data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes())))


def has_ended(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_orphans(bench):
    "the death of the tool ends the program, and what it left behind"
    for words in ([bench.program("threads"), "1000000000"], [bench.program("stays")]):
        out, command = bench.command(words)
        with running(command) as run:
            told = run.stdout.readline().strip() if len(words) == 1 else None
            wait_until(run, lambda: len(programs := programs_of(run.pid)) == 1 and told in (None, *programs), "one program")
            left, = programs_of(run.pid)
            wait_until(run, lambda: list(out.glob("*.xinsndata.bin")), "a trace")
            run.kill()
        for _ in range(1200):
            if has_ended(left):
                break
            time.sleep(0.1)
        else:
            os.kill(int(left), signal.SIGKILL)
            expect(False, words, "goes on without the tool")


def test_execs(bench):
    "execs.c: what is executed in a program's place is named; not what is not there"
    program = bench.program("execs")
    for options in ([], ["--from-hint"]):
        out, command = bench.command([program, "/bin/true", "/nowhere/program", "/bin/false"], *options)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        expect(done.stdout.split() == ["0", "3", "1"], done.stdout, done.stderr)
        named = re.findall(r"^trackway: (\S+) was executed in the place", done.stderr, re.M)
        expect(named == ["/bin/true", "/bin/false"], done.stderr)
        expect(len(xtrace_tokens.files(out)) == (0 if options else 4), "streams")
        expect("nowhere" not in done.stderr, done.stderr)


def check_own_names(bench, out, programs):
    """programs: of each thread, at the same addresses: what each executes has names of its own program, and what both
    have a row for each."""
    starts = {}
    for thread, program in programs.items():
        text = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        starts[thread] = {(row[2], int(row[0], 16)) for row in map(str.split, text.splitlines()) if len(row) == 3}
        rows = [row for row in lines_of(bench, "dump", "--json", "--thread", str(thread), out) if "function" in row]
        odd = {(row["function"], row["pc"] - row["function_offset"]) for row in rows} - starts[thread]
        expect(rows and {name for name, _ in odd} <= {"[plt]"}, thread, program, odd)
    mains = {thread: dict(starts[thread])["main"] for thread in programs}
    entries = sum(pc == mains[thread] for thread, (data, _) in xtrace_tokens.files(out).items()
                  for pc, _, _ in instructions(data.read_bytes()))
    several = len(set(programs.values()))
    rows = [row for row in lines_of(bench, "stat", "--json", out) if row["name"] == "main"]
    expect(len(rows) == several and sum(row["count"] for row in rows) == entries, rows, entries)
    for command in ("calls", "insns"):
        rows = [row for row in lines_of(bench, command, "--json", "--all", out) if row["table"] == "function"]
        expect(len([row for row in rows if row["function"] == "main"]) == several, command, rows)
    blocks = [row for row in lines_of(bench, "blocks", "--json", "--all", out) if row["table"] == "block"]
    for thread, main in mains.items():
        expect(any(row["pc"] == main and row["function"] == "main" for row in blocks), thread, "main's block")


def test_follows(bench):
    "a program that becomes another one: both are recorded, by whichever system call, by child or parent, script or not"
    becomes, shows, ends = (bench.program(name) for name in ("becomes", "shows", "ends"))
    script = bench.directory / "script"
    script.write_text(f"#! {shows} \t one word \nnothing\n")
    script.chmod(0o755)
    scripted = [str(shows), "one word", str(script)]
    for way in ("execve", "folder", "file", "vfork", "spawn"):
        for path, printed in (shows, [str(shows)]), (script, scripted):
            out, command = bench.command([becomes, way, path, "", "last"])
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            expect(done.stdout.splitlines() == [*printed, "", "last", "VALUE=a,b"], way, path, done.stdout, done.stderr)
            expect("ended with status 7" in done.stderr and "not recorded" not in done.stderr, way, done.stderr)
            streams = {number: instructions(data.read_bytes()) for number, (data, _) in xtrace_tokens.files(out).items()}
            expect(len(streams) == 2 + (way in ("vfork", "spawn")), way, "streams", len(streams))
            again = streams[max(streams)]  # the number of a process that comes again is raised
            expect(symbols(shows)["main"] in {pc for pc, _, _ in again}, way, "main of the other program")
            last = streams[max(streams) - 10000000][-1]
            expect(last[1] == 0xd4000001 and last[2][0] == ("svcarg", 281 if way in ("folder", "file") else 221), way, last)
            done = subprocess.run([bench.tool, "check", "--json", out], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, way, done.stdout)
            if path == shows and way in ("execve", "vfork"):
                check_own_names(bench, out, {number: shows if number == max(streams) else becomes for number in streams})
    other = bench.directory / "other"  # the same code by another name
    subprocess.run(["aarch64-linux-gnu-objcopy", "--redefine-sym", "main=second", becomes, other], check=True)
    out, _ = bench.record([becomes, "execve", other, "execve", ends])
    rows = [row for row in lines_of(bench, "blocks", "--json", "--all", out) if row["table"] == "block"]
    main = symbols(becomes)["main"]
    found = {row["function"] for row in rows if row["pc"] == main}
    expect(found == {"main", "second"}, "one opcode, two programs", found)
    out, _ = bench.record([becomes, "execve", ends], "--bbv", "--interval", "10")
    (path,) = out.glob("xtrace.*.thread1.bb")
    expect(path.read_text() == "T:1:3 \n", "three instructions, not", path.read_text())
    out, _ = bench.record([becomes, "execve", bench.program("marks")], "--from-hint")
    alone, _ = bench.record([bench.program("marks")], "--from-hint")
    (one,), (other,) = (xtrace_tokens.files(where).values() for where in (out, alone))
    expect(len(instructions(one[0].read_bytes())) == len(instructions(other[0].read_bytes())) > 0, "between marks")


def test_scripts(bench):
    "a script is recorded with its interpreter, under a system root, too; what cannot be executed is told in a line"
    shows, root, script = bench.program("shows"), bench.directory / "root", bench.directory / "own script"
    (root / "odd").mkdir(parents=True)
    shutil.copy(shows, root / "odd/interpreter")
    script.write_text("#!/odd/interpreter\n")
    script.chmod(0o755)
    out, command = bench.command([script, "x"], "--sysroot", root)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"], "A": "1"})
    expect(done.stdout.splitlines()[1:3] == [str(script), "x"] and "A=1" in done.stdout, done.stdout, done.stderr)
    expect(len(xtrace_tokens.files(out)) == 1, done.stderr)
    hosts, loop, text = (bench.directory / name for name in ("hosts", "loop", "text"))
    for path, contents in ((hosts, "#!/bin/sh\n"), (loop, f"#!{loop}\n"), (text, "hello\n")):
        path.write_text(contents)
        path.chmod(0o755)
    for mode in ([], ["--bbv"], ["--length", "5"]):
        for path, says in ((hosts, f"{hosts}: /bin/sh is no AArch64 program, which executes it"),
                           (script, f"{script}: /odd/interpreter: No such file or directory, which executes it"),
                           (loop, "Too many levels"), (text, f"{text}: is no AArch64 program"),
                           (bench.directory / "nothing", "nothing: No such file"), (bench.directory, "Is a directory"),
                           ("/bin/sh", "/bin/sh: is no AArch64 program (others have calls: --to xray-fdr)")):
            out, command = bench.command([path], *mode)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            expect(done.returncode == 2 and says in done.stderr and len(done.stderr.splitlines()) == 1, mode, done.stderr)
    script.chmod(0o644)
    bench.record([script], "--sysroot", root, status=2, says="Permission denied")


def test_shell(bench):
    "a shell script of Debian's busybox for arm64: each process and what it becomes is recorded"
    program, why = busybox(bench)
    if not program:
        expect(not os.environ.get("CI"), why)
        return f"no busybox: {why}"
    script = bench.directory / "script.sh"
    script.write_text(f"#!{program} sh\necho one $1\n{program} env X=2 {program} expr $2 + 1\n"
                      f"for i in 1 2 3; do {program} true; done\n/bin/echo of the host\nexit 5\n")
    script.chmod(0o755)
    out, command = bench.command([script, "two", "41"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(done.stdout.splitlines() == ["one two", "42", "of the host"], done.stdout, done.stderr)
    expect("ended with status 5" in done.stderr and "/bin/echo was executed in the place" in done.stderr, done.stderr)
    expect(len(xtrace_tokens.files(out)) == 1 + 5 + 1 + 4, "the shell, its children, env, and what these become")
    expect(subprocess.run([bench.tool, "check", out], capture_output=True, check=False).returncode == 0, "check")
    return None


def test_full(bench):
    "a full disk: it is told, and the files end with a whole token"
    small = bench.directory / "small"
    small.mkdir()
    space = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    script = 'mount -t tmpfs -o size=1m none "$1" || exit 77; "$2" record --qemu "$5" -o "$1/o" -- "$3" 5000; s=$?; cp -r "$1/o" "$4"; exit $s'
    done = subprocess.run([*space, "sh", "-c", script, "sh", small, bench.tool, bench.program("threads"),
                           bench.directory / "full", bench.qemu], capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        return "no right to mount"
    expect(done.returncode == 2 and "No space left" in done.stderr, done.returncode, done.stderr)
    for data, snapshots in xtrace_tokens.files(bench.directory / "full").values():
        check_stream(data.read_bytes(), list(xtrace_tokens.snapshots(snapshots.read_bytes())))
    return None


def test_newer(bench):
    "a QEMU of plugin interface 4, by a program that stands in for one: registers and values are those it shows"
    host = bench.directory / "qemu4"
    compiler, options = (["clang-14", "-fsanitize=address,undefined"], ["--plugin", bench.sanitized]) if bench.sanitized else (["cc"], [])
    subprocess.run([*compiler, "-std=c17", "-O1", "-rdynamic", SOURCES / "qemu4.c", "-o", host, "-ldl"], check=True)
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}  # what a thread has goes with QEMU
    trace, _ = bench.record([bench.program("marks")], "--qemu", host, *options, environment=environment)
    check_newer(host, trace)
    trace, _ = bench.record([bench.program("marks")], "--qemu", host, "--cpu", "max", *options, environment=environment)
    (data, snapshots), = xtrace_tokens.files(trace).values()
    *_, scalable, _ = instructions(data.read_bytes())
    expect(scalable == (0x500000, 0xa5e0a01f, [("load", 0x10000, (82).to_bytes(8, "little")),
                                               ("load", 0x10010, (43).to_bytes(8, "little"))]), scalable)
    one, = xtrace_tokens.snapshots(snapshots.read_bytes(), vector_bits=256)
    expect((one["vector_bits"], one["z"][31][15], one["p"][0].hex(), one["p"][16].hex()) ==
           (256, 0xee, "01000100", "ff000000"), one)


def check_newer(host, trace):
    """What qemu4.c plays, by its source."""
    data, snapshots = only(trace)
    listed = next(trace.glob("*.maps")).read_text()
    expect(f" {host}\n" in listed and " r-xp " in listed, "where the instructions lie:", listed)
    word = {n: n.to_bytes(8, "little") for n in (41, 82)}
    memory = 0x10000
    wanted = [
        (0x400000, [("load", memory, word[41])]),
        (0x400004, [("store", memory + 8, word[41])]),
        (0x400008, [("misc-flags", 0x60000000)]),
        (0x40000c, [("load", memory, word[41]), ("store", memory, word[82])]),
        (0x400010, [("mrs", 0x1234)]),
        (0x400014, [("target-b", 0x500000)]),
        (0x500000, [("svcarg", n) for n in (94, memory, 41, 41, 41, 0x1234, 0x500000)]),
    ]
    found = [(pc, tokens) for pc, _, tokens in instructions(data)]
    expect(found == wanted, found)
    one = snapshots[0]
    expect((one["x"][0], one["x"][31], one["nzcv"], one["tpidr_el0"]) == (memory, 0x7000, 0x60000000, 0x1234), one["x"])
    expect((one["fpsr"], one["fpcr"], one["z"][31][15]) == (1, 2, 0xee), "floating point")


def source_line(name, text):
    """The number of the line of a program that begins so."""
    lines = (SOURCES / name).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.startswith(text))


def lines_of(bench, *words, status=0):
    done = subprocess.run([bench.tool, *words], capture_output=True, text=True, check=False)
    expect(done.returncode == status, words, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_names(bench, trace, *options):
    """By names.c: how often each function is called, and by whom; where it stands in the source."""
    calls = {"main": 1, "outer": 1, "last": 1, "geo::area(long, long)": 6}
    rows = {row["name"]: row for row in lines_of(bench, "stat", "--json", *options, trace)}
    expect({name: rows[name]["count"] for name in calls if name in rows} == calls, sorted(rows))
    expect(rows["outer"]["file"].endswith("names.c"), rows["outer"])
    expect(rows["outer"]["line"] == source_line("names.c", "__attribute__((noinline, noclone)) static long outer"), rows["outer"])
    graph = lines_of(bench, "graph", "--json", *options, trace)
    nodes = {row["id"]: row["name"] for row in graph if row["type"] == "node"}
    edges = {(nodes.get(row["from"]), nodes[row["to"]]): row["count"] for row in graph if row["type"] == "edge"}
    # the last step of `last` is a jump: what it leads to is called by who called `last`
    expect(edges["outer", "geo::area(long, long)"] == 6 and edges["outer", "last"] == 1, edges)
    expect(edges["main", "outer"] == 1, edges)
    stacks = lines_of(bench, "stacks", "--json", *options, trace)
    expect(any(row["stack"][-3:] == ["main", "outer", "last"] for row in stacks), "stacks")
    return nodes.values()


def test_names(bench):
    "names.c, static: functions by name, with file and line, in all that shows them"
    program = bench.program("names", "-g")
    trace, output = bench.record([program])
    check_names(bench, trace, "--binary", program)
    check_names(bench, trace)
    main, again = int(output.split()[0], 16), symbols(program)["main"]
    expect(main == again, hex(main), hex(again))
    rows = [row for row in lines_of(bench, "dump", "--json", "--binary", program, trace) if row.get("pc") in (main, main + 4)]
    expect([(row["function"], row["function_offset"]) for row in rows] == [("main", 0), ("main", 4)], rows)
    expect(rows[0]["file"].endswith("names.c") and rows[0]["line"] == source_line("names.c", "int main"), rows[0])
    text = subprocess.run([bench.tool, "dump", "--binary", program, trace], capture_output=True, text=True, check=True).stdout
    expect(re.search(f"  0x{main:012x}  main +EL0 .*\n.*  0x{main + 4:012x}  main\\+0x4 +EL0 ", text), "dump")
    wanted = {"chrome": '"name":"geo::area(long, long)"', "folded": "main;outer;geo::area(long, long) "}
    for form, words in wanted.items():
        out = subprocess.run([bench.tool, "convert", "--to", form, "--binary", program, trace, "-o", "-"], capture_output=True,
                             text=True, check=True).stdout
        expect(words in out, form, out[:1000])
    lines_of(bench, "stat", "--json", "--binary", program, "--load-address", "0x400000", trace)
    wrong = subprocess.run([bench.tool, "stat", "--binary", program, "--load-address", "0x500000", trace], capture_output=True,
                           text=True, check=False)
    expect(wrong.returncode == 2 and "always loaded there" in wrong.stderr, wrong.stderr)


def test_names_replay(bench):
    "names.c: the function where replay finds a difference"
    program = bench.program("names", "-g")
    trace, _ = bench.record([program])
    path = next(trace.glob("*.xinsndata.bin"))
    data, last = bytearray(path.read_bytes()), symbols(program)["last"]
    at = [offset for offset, name, fields in xtrace_tokens.tokens(data) if name == "pcinst" and fields[0] == last]
    expect(len(at) == 1, at)
    data[at[0] + 5] ^= 0x10
    path.write_bytes(data)
    found = lines_of(bench, "replay", "--json", "--binary", program, trace, status=1)[0]
    expect(found.get("what") == "next PC" and found["function"] == "outer" and found["source"].endswith("names.c"), found)
    text = subprocess.run([bench.tool, "replay", "--binary", program, trace], capture_output=True, text=True, check=False).stdout
    expect("\n  in outer+0x" in text and "names.c:" in text, text)


def test_names_anywhere(bench):
    "names.c, static and position independent: with the address that it was loaded at, not without"
    program = bench.program("names", "-g", "-static-pie", to="names-pie", static=False)
    trace, output = bench.record([program])
    start = int(output.split()[0], 16) - symbols(program)["main"]
    check_names(bench, trace, "--binary", program, "--load-address", hex(start))
    check_names(bench, trace)
    later = time.time() + 100
    os.utime(program, (later, later))
    said = subprocess.run([bench.tool, "stat", trace], capture_output=True, text=True, check=True).stderr
    expect(f"{program}: was changed since it was recorded" in said, said)
    wrong = subprocess.run([bench.tool, "stat", "--binary", program, trace], capture_output=True, text=True, check=False)
    expect(wrong.returncode == 2 and "--load-address" in wrong.stderr, wrong.stderr)


def test_names_kept(bench):
    "names.c: the list of what was loaded where goes with what repair and cut write"
    trace, _ = bench.record([bench.program("names", "-g")])
    (listed,) = trace.glob("*.maps")
    for words in (["repair", trace], ["cut", "--to-time", "99999999", next(trace.glob("*.xinsndata.bin"))]):
        out = bench.directory / f"kept-{words[0]}"
        lines_of(bench, *words, "-o", out)
        expect((out / listed.name).read_bytes() == listed.read_bytes(), words[0])
        check_names(bench, out)
    path = next(trace.glob("*.xinsndata.bin"))
    subprocess.run(["gzip", path], check=True)
    check_names(bench, f"{path}.gz")
    listed.unlink()
    lines_of(bench, "repair", trace, "-o", bench.directory / "kept-none")
    expect(not list((bench.directory / "kept-none").glob("*.maps")), "a list that was not there")


def loads(bench):
    """loads.c, and its two libraries."""
    program = bench.program("loads", "-g", "-pie", to="loads", static=False)
    return program, *(bench.program("loads", "-g", "-shared", "-fPIC", f"-DVISIT={name}", to=f"lib{name}.so", static=False)
                      for name in ("visit", "other"))


def calls_of(rows, name):
    return sum(row["count"] for row in rows if row["name"] == name)


def test_names_again(bench):
    "loads.c: a library that is opened again, at another place, has names there, too"
    libraries = pathlib.Path(os.environ.get("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu"))
    program, library, _ = loads(bench)
    trace, output = bench.record([program, "6", library], "--sysroot", libraries)
    calls = [line.split() for line in output.splitlines()]
    expect(len({line[0] for line in calls}) > 1 and {line[1] for line in calls} == {"10"}, output)
    rows = lines_of(bench, "stat", "--json", trace)
    expect(calls_of(rows, "visit") == 6, [row for row in rows if row["name"] == "visit"])
    later = time.time() + 100
    os.utime(library, (later, later))
    said = subprocess.run([bench.tool, "stat", trace], capture_output=True, text=True, check=True).stderr
    expect(said.count(f"{library}: was changed since it was recorded") == 1, said)


def test_names_parted(bench):
    "loads.c: two processes have different libraries at one place: each its own; by a list without processes neither"
    libraries = pathlib.Path(os.environ.get("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu"))
    trace, output = bench.record(loads(bench), "--sysroot", libraries)
    places = {line.split()[0] for line in output.splitlines()}
    rows = lines_of(bench, "stat", "--json", trace)
    if len(places) > 1:
        return "the system chose two places"
    expect([calls_of(rows, name) for name in ("visit", "other", "main")] == [1, 1, 1], rows)
    (listed,) = trace.glob("*.maps")
    lines = [line.split(maxsplit=5) for line in listed.read_text().splitlines() if not line.startswith("#")]
    listed.write_text("".join(" ".join([*line[:4], "0", line[5]]) + "\n" for line in lines))
    rows = subprocess.run([bench.tool, "stat", "--json", trace], capture_output=True, text=True, check=True)
    found = [json.loads(line)["name"] for line in rows.stdout.splitlines()]
    expect("visit" not in found and "other" not in found and "main" in found, found)
    expect("no names of 2 files, such as /" in rows.stderr, rows.stderr)
    expect("another file is, too (of one program: --thread ID --binary FILE)" in rows.stderr, rows.stderr)
    return None


def test_names_many(bench):
    "places.c: code in 700 places is in the list, each place once or twice"
    count, file = 700, bench.directory / "pages"
    file.write_bytes(b"".join(struct.pack("<II", 0x52800000 | i << 5, 0xd65f03c0).ljust(4096, b"\0") for i in range(count)))
    trace, output = bench.record([bench.program("places"), file, str(count)])
    start, total = output.split()
    expect(int(total) == count * (count - 1) // 2, output)
    lines = [line.split() for line in next(trace.glob("*.maps")).read_text().splitlines() if line.endswith(str(file))]
    code = {(line[0], int(line[2], 16)) for line in lines if line[1] == "r-xp"}
    places = [int(start, 16) + (2 * i + 1) * 4096 for i in range(count)]
    expect(code == {(f"{at:08x}-{at + 4096:08x}", i * 4096) for i, at in enumerate(places)}, sorted(code)[-3:])
    expect(len(lines) <= 2 * count, len(lines), "lines")


def check_list(recorded, told):
    """Each line is where the guest itself saw the file, in one of its parts; each file with code is there."""
    parts = {}
    for line in told.splitlines():
        place, _, _, _, _, *path = line.split()
        parts.setdefault(" ".join(path), []).append([int(one, 16) for one in place.split("-")])
    names = set()
    for line in recorded.splitlines():
        if line.startswith("#"):
            continue
        place, access, offset, _, _, path = line.split(maxsplit=5)
        start, end = (int(one, 16) for one in place.split("-"))
        expect(any(low <= start and end <= max(each[1] for each in parts[path]) for low, _ in parts[path]), line)
        names |= {path} if access == "r-xp" else set()
    expect(names == {path for path in parts if path.startswith("/")}, names)


def test_names_maps(bench):
    "names.c with libraries: a list of what was loaded where, as the system tells it, and one by hand"
    libraries = pathlib.Path(os.environ.get("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu"))
    program = bench.program("names", "-g", "-pie", to="names-shared", static=False)
    maps = bench.directory / "maps"
    trace, output = bench.record([program, maps], "--sysroot", libraries)
    names = check_names(bench, trace, "--maps", maps)
    expect(set(names) == set(check_names(bench, trace)), "by the list that was recorded")
    expect(set(names) == set(check_names(bench, next(trace.glob("*.xinsndata.bin")))), "by a file of the trace")
    extension = pathlib.Path(bench.tool).resolve().parent / "libtrackway_sqlite"
    if b"__asan_init" not in extension.with_suffix(".so").read_bytes():
        for opened in (f"'{trace}'", f"'{trace}', '{maps}'"):
            shown = subprocess.run(["sqlite3", "-cmd", f".load {extension}", ":memory:", f"select trackway_open({opened})",
                                    "select distinct name from slice"], capture_output=True, text=True, check=True).stdout
            expect(set(shown.splitlines()[1:]) == set(names), f"SQLite's shell, {opened}")
    check_list(next(trace.glob("*.maps")).read_text(), maps.read_text())
    expect("__libc_start_main@@GLIBC_2.34" in names or "__libc_start_main" in names, sorted(names))
    start = int(output.split()[0], 16) - symbols(program)["main"]
    short = bench.directory / "short"
    short.write_text(f"# by hand\n{start:x} /nowhere/names-shared\n{1:x}000 /nowhere/else.so\n")
    done = subprocess.run([bench.tool, "stat", "--json", "--maps", short, trace], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "no names of /nowhere/else.so: " in done.stderr, done.stderr)
    check_names(bench, trace, "--maps", short)
    short.write_text("5500000000 /bin/true\nno address\n")
    done = subprocess.run([bench.tool, "stat", "--maps", short, trace], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "line 2: expected an address and a path" in done.stderr, done.stderr)


def convert(bench, form, trace, *options):
    out = bench.directory / f"out.{form}"
    done = subprocess.run([bench.tool, "convert", *options, trace, "-o", out], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, form, done.stderr)
    return out.read_bytes(), done.stderr


LINE = 64


def lines_accessed(tokens, kind):
    """Where accesses begin: what goes on from the one before is of it, up to the end of a line of 64 bytes."""
    starts, end = [], None
    for token in tokens:
        if token[0] == kind:
            if token[1] != end or end % LINE == 0:
                starts.append(token[1])
            end = token[1] + len(token[2])
    return starts


def branch_kind(read, written):
    """What ChampSim takes an instruction for, by its rules: inc/instruction.h."""
    others = set(read) - {0, 6, 25, 26}
    sp, flags, ip = 6 in read, 25 in read, 26 in read
    if 26 not in written:
        return None
    if not sp and not flags and not others:
        return "jump"
    if not sp and not ip and not flags and others:
        return "indirect"
    if not sp and ip and 6 not in written and (flags or others):
        return "conditional"
    if sp and ip and 6 in written and not flags:
        return "indirect call" if others else "call"
    return "return" if sp and not ip and 6 in written else "other"


def branch_of(opcode):
    for mask, value, kind in ((0xfc000000, 0x14000000, "jump"), (0xfc000000, 0x94000000, "call"),
                              (0xff000010, 0x54000000, "conditional"), (0x7c000000, 0x34000000, "conditional"),
                              (0xfffffc1f, 0xd61f0000, "indirect"), (0xfffffc1f, 0xd63f0000, "indirect call"),
                              (0xfffffc1f, 0xd65f0000, "return")):
        if opcode & mask == value:
            return kind
    return None


def test_champsim(bench):
    "accesses.S, crash.S and threads.c for ChampSim: 64 bytes an instruction, by its own rules of what a branch is"
    for name, options, status in (("accesses", (), 0), ("crash", (), 1), ("threads", ("50",), 0)):
        trace, _ = bench.record([bench.program(name), *options], status=status)
        data, _ = min(xtrace_tokens.files(trace).values(), key=lambda pair: pair[0].name)
        number = int(data.name.split(".")[2])
        raw, said = convert(bench, "champsimtrace", trace, "--thread", str(number))
        steps = instructions(data.read_bytes())
        expect(len(raw) == 64 * len(steps), len(raw), "bytes of", len(steps), "instructions")
        more = 0
        for i, ((pc, opcode, tokens), one) in enumerate(zip(steps, struct.iter_unpack("<QBB2B4B2Q4Q", raw))):
            written, read, stores, loads = one[3:5], one[5:9], one[9:11], one[11:15]
            expect(one[0] == pc, i, hex(one[0]), hex(pc))
            kind, taken = branch_of(opcode), bool(one[2])
            expect(branch_kind(read, written) == kind and bool(one[1]) == (kind is not None), f"{i}: {opcode:08x}", kind, one)
            if kind and i + 1 < len(steps):
                expect(taken == (kind != "conditional" or steps[i + 1][0] != pc + 4), i, kind, taken)
            for found, name_of in ((stores, "store"), (loads, "load")):
                wanted = lines_accessed(tokens, name_of)
                more += len(wanted) > len(found)
                expect([at for at in found if at] == wanted[:len(found)], f"{i}: {opcode:08x}", found, wanted)
        expect(("kept in another form" in said) >= (more > 0), said)
    done = subprocess.run([bench.tool, "convert", trace, "-o", "x.champsimtrace"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "--thread" in done.stderr, done.stderr)
    part, _ = convert(bench, "champsimtrace", trace, "--thread", str(number), "--from-time", "100", "--to-time", "150")
    expect(part == raw[6400:9600], "a part")


def test_tarmac(bench):
    "accesses.S, crash.S and marks.S as Tarmac: a line an instruction, and every byte that is accessed"
    for name, options, status in (("accesses", (), 0), ("crash", (), 1), ("marks", ("--from-hint",), 0)):
        trace, _ = bench.record([bench.program(name)], *options, status=status)
        data, snapshots = only(trace)
        text, _ = convert(bench, "tarmac", trace)
        steps, found, registers = instructions(data), [], []
        for line in text.decode().splitlines():
            time, unit, kind, *rest = line.split()
            expect(unit == "clk", line)
            if kind in ("IT", "IS"):
                expect(rest[0] == f"({time})" and int(time) == len(found) and rest[3:6] == ["O", "EL0t_n", ":"], line)
                found.append((int(rest[1], 16), int(rest[2], 16), kind, []))
            elif kind == "R":
                registers.append((int(time), rest[0], int(rest[1], 16)))
            else:
                address, value = int(rest[0].split(":")[0], 16), bytes.fromhex(rest[1].replace("_", ""))[::-1]
                expect(len(value) == int(kind[2:]), line)
                found[int(time)][3].append(({"R": "load", "W": "store"}[kind[1]], address, value.hex()))
        expect(len(found) == len(steps), len(found), "instructions of", len(steps))
        for i, ((pc, opcode, tokens), (at, word, kind, accesses)) in enumerate(zip(steps, found)):
            expect((at, word) == (pc, opcode), hex(at), hex(pc))
            failed = branch_of(opcode) == "conditional" and i + 1 < len(steps) and steps[i + 1][0] == pc + 4
            expect(kind == ("IS" if failed else "IT"), i, kind)
            expect(spans(accesses) == spans([(t[0], t[1], t[2].hex()) for t in tokens if t[0] in ("load", "store")]), i, accesses)
        begin = {name: value for time, name, value in registers if time == 0}
        wanted = snapshots[0]
        expect([begin[f"X{n}"] for n in range(31)] + [begin["SP_EL0"]] == list(wanted["x"]), begin)
        expect(begin["cpsr"] == wanted["nzcv"] & 0xf0000000, begin["cpsr"])


def test_words(bench):
    "wrong use is told"
    marks = bench.program("marks")
    bench.record([marks], "--qemu", "/nowhere/qemu", status=2, says="not found")
    bench.record([marks], "--plugin", "/nowhere/plugin.so", status=2, says="not found")
    bench.record(["/bin/sh"], status=2, says="is no AArch64 program")
    bench.record(["nothing"], status=2, says="No such file")
    bench.record([marks], "--cpu", "max,sve=off")
    for taken, says in ((marks, "is no directory"), (bench.directory / "no" / "way", "cannot be made")):
        done = subprocess.run([bench.tool, "record", "-o", taken, "--", marks], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and says in done.stderr, done.returncode, done.stderr)


def busybox(bench):
    """Debian's busybox for arm64, or why there is none."""
    kept = pathlib.Path(os.environ.get("TRACKWAY_BUILD", bench.directory)) / "busybox-arm64"
    done = subprocess.run([SOURCES / "busybox", kept], capture_output=True, text=True, check=False)
    return (None, done.stderr.strip().splitlines()[-1:]) if done.returncode else (kept, None)


def test_busybox(bench):
    "busybox gzip, sort, awk and sha256sum do what they do without us, and every step has its cause"
    program, why = busybox(bench)
    if not program:
        expect(not os.environ.get("CI"), why)
        return f"no busybox: {why}"
    text = bench.directory / "text"
    text.write_text("".join(f"{i * 7919 % 1000} line {i}\n" for i in range(100)))
    for words in (["gzip", "-c", "text"], ["sort", "-n", "text"], ["awk", "{s+=$1} END {print s}", "text"], ["sha256sum", "text"]):
        plain = subprocess.run([bench.qemu, program, *words], cwd=bench.directory, capture_output=True, check=True).stdout
        out, command = bench.command([program, *words], "--snapshot-interval", "10000")
        done = subprocess.run(command, cwd=bench.directory, capture_output=True, check=False)
        expect(done.returncode == 0 and done.stdout == plain, words, done.stderr)
        count = check_stream(*only(out))
        expect(count > 10000, words, count)
        check_replay(bench, out, count)
    return None


if __name__ == "__main__":
    sys.exit(main(globals(), Bench, sanitized="the plugin with sanitizers", qemu="another QEMU than that of the path"))
