#!/usr/bin/python3
# xtrace.py - an independent writer of xtrace, to test the library with: made from the document's words alone.
# SPDX-License-Identifier: Apache-2.0
"""Usage: xtrace.py [OPTIONS] DIRECTORY

Writes a set of a small program that never ran: its instructions, what they access and the registers were worked out by hand.
The facts of the set are printed as an object in JSON.

Document: "Workload trace格式介绍", 2025-06-10. A token is a byte: class in bits 0 to 2, then sub-kind and parameter.
"""
import argparse
import json
import pathlib
import struct
import sys

# 1) INST: class 1, bits 3-5 are 0 (INST) or 1 (PCINST), the exception level is in bits 6-7.
# 2) MEM: class 2, bit 3 is 0 (LOAD) or 1 (STORE), bits 4-7 are k of 2^k bytes.
# 3) VAL: class 3, bits 3-7 are 0 STXR, 1 MRS, 2 SVCARG, 3 SVCRET, 4 DC, 5 TARGET_B.
# 4) MISC: class 4, bits 3-7 are 1 ALLGPR, 3 MISC_FLAGS, 4 SYSCALL_VEC.
# 7) TIME: class 7, bits 3-7 are 0.
VALUES = {"stxr": 0, "mrs": 1, "svcarg": 2, "svcret": 3, "dc": 4, "target-b": 5}


def token(big, small):
    return bytes([big | small << 3])


def word(*values):
    return b"".join(struct.pack("<Q", value & 0xFFFFFFFFFFFFFFFF) for value in values)


def inst(opcode, level=0):
    return token(1, 0 | level << 3) + struct.pack("<I", opcode)


def pcinst(pc, opcode, level=0):
    return token(1, 1 | level << 3) + word(pc) + struct.pack("<I", opcode)


def access(store, address, value):
    return token(2, store | (len(value).bit_length() - 1) << 1) + word(address) + value


def load(address, value):
    return access(0, address, value)


def store(address, value):
    return access(1, address, value)


def value(kind, number):
    return token(3, VALUES[kind]) + word(number)


def allgpr(registers):
    return token(4, 1) + word(*registers)


def misc_flags(nzcv):
    return token(4, 3) + word(nzcv)


def syscall_vec(parts):
    return token(4, 4) + word(len(parts), *(number for part in parts for number in part))


def time(order):
    return token(7, 0) + word(order)


def align(data):
    """Registers are aligned to 16 bytes."""
    return data + bytes(-len(data) % 16)


def snapshot(number, index, user, count, registers, bits, za=True):
    size = bits // 8
    out = word(number, index, user, count) + word(*registers)
    out += b"".join(align(bytes([i]) * size) for i in range(32))
    out += b"".join(align(bytes([0x10 | i]) * (size // 8)) for i in range(16))
    out += align(b"\xff" * (size // 8))
    out += align(bytes(size * size)) if za else b""
    out += word(0, 0, 0x60000000, 0x7F0000, 0, 0, 0, 0, 0, 0, 0)  # fpcr fpsr nzcv tpidr_el0 ...
    return out + word(bits)


def header(size, order, core, version=1):
    """4 bytes identification, 4 global snapshot, 8 version, division, kind of stream, order; padded to size."""
    return (struct.pack("<IIQBBB", 0x58, 0, version, 0, core, order) + bytes(32))[:size]


# The program: a block that saves its frame and calls a function, which counts a word up, exclusively and not, and returns;
# then system calls, and back to the start.
STACK, DATA, START, FUNCTION = 0x7FF0, 0x10000, 0x400000, 0x400100
WRITEV = 66


def turn(i, tick, vectors=True):
    """One turn of the loop: its tokens as (bytes, whether an instruction begins)."""
    count, more = word(i), word(i + 1)
    exclusive = (i >> 4) << 4 == i and i > 0  # now and then the exclusive store fails once
    out = [
        pcinst(START, 0xA9BF7BFD),  # stp x29, x30, [sp, #-16]!
        *tick(store(STACK - 16, word(0, 0))),
        inst(0x910003FD),  # mov x29, sp
        inst(0x9400003E),  # bl FUNCTION
        pcinst(FUNCTION, 0xF9400020),  # ldr x0, [x1]
        *tick(load(DATA, count)),
        inst(0x91000400),  # add x0, x0, #1
        inst(0xF9000020),  # str x0, [x1]
        *tick(store(DATA, more)),
    ]
    for failed in [True, False] if exclusive else [False]:
        out += [
            (pcinst(FUNCTION + 12, 0xC85F7C22) if exclusive and not failed
             else inst(0xC85F7C22)),  # ldxr x2, [x1]
            *tick(load(DATA, more)),
            inst(0xC8037C22),  # stxr w3, x2, [x1]
            value("stxr", int(failed)),
            *([] if failed else tick(store(DATA, more))),
            inst(0x35FFFFC3),  # cbnz w3, ldxr
        ]
    out += [
        pcinst(FUNCTION + 24, 0x9A820000),  # csel x0, x0, x2, eq
        misc_flags(0x60000000),
        inst(0xD53BD044),  # mrs x4, tpidr_el0
        value("mrs", 0x7F0000),
        inst(0xD65F03C0),  # ret
        value("target-b", START + 12),
        pcinst(START + 12, 0xD4000001),  # svc #0
        *(value("svcarg", number) for number in (WRITEV, 1, 0x7000, 2, 0, 0, 0)),
        *([syscall_vec([(0x10000, 8), (0x10008, 4)])] if vectors else []),
        value("svcret", 12),
        pcinst(START + 16, 0xD50B7425),  # dc zva, x5
        value("dc", 0x20000),
        *tick(store(0x20000, bytes(64))),
        inst(0x58000066),  # ldr x6, START + 32
        *tick(load(START + 32, word(0x1234))),
        inst(0x17FFFFFA),  # b START
    ]
    return out


def kernel(i):
    """An interrupt: instructions of EL1 between two turns, with all registers where the level changes."""
    registers = [i] * 32
    return [
        allgpr(registers),
        pcinst(0xFFFF800010000280, 0xD503201F, 1),  # nop
        inst(0xD69F03E0, 1),  # eret
        value("target-b", START),
        allgpr(registers),
    ]


class Track:
    """One thread or core: its tokens, and a snapshot where each so many instructions of user mode have passed."""

    def __init__(self, options, number, order):
        self.options, self.number, self.order = options, number, order
        self.data = bytearray(options.start)
        self.snapshots = []
        self.user = self.count = 0

    def tick(self, memory):
        if not self.options.order:
            return [memory]
        self.order[0] += 1
        return [memory, time(self.order[0])]

    def put(self, tokens):
        for data in tokens:
            if data[0] & 7 == 1:
                if self.user >= len(self.snapshots) * self.options.interval and data[0] >> 6 == 0:
                    self.snapshot()
                self.user += data[0] >> 6 == 0
                self.count += 1
            self.data += data

    def snapshot(self):
        index = self.count if self.options.index == "count" else len(self.data)
        self.snapshots.append(snapshot(0, index, self.user, self.count, [*range(31), STACK], self.options.bits,
                                       not self.options.no_za))

    def write(self, directory, core=False, hint=9):
        options = self.options
        stem = f"xtrace.{options.timestamp}.{self.number}.hint{hint}."
        (directory / (stem + "xinsndata.bin")).write_bytes(self.data)
        if not options.no_snapshots:
            (directory / (stem + "xsnapshot.bin")).write_bytes(
                header(options.header, options.order, core) + b"".join(self.snapshots))


def kinds(data, start):
    """Counts the tokens, and knows nothing of how they were made."""
    names = {0: "inst", 1: "pcinst"}
    others = {3: ["stxr", "mrs", "svcarg", "svcret", "dc", "target-b"], 4: {1: "allgpr", 3: "misc-flags", 4: "syscall-vec"}}
    sizes = {"inst": 4, "pcinst": 12, "allgpr": 256}
    counts, at = {}, start
    while at < len(data):
        big, small = data[at] & 7, data[at] >> 3
        if big == 1:
            name = names[small & 7]
        elif big == 2:
            name = "store" if small & 1 else "load"
        else:
            name = "time" if big == 7 else others[big][small]
        size = sizes.get(name, 8)
        if big == 2:
            size += 1 << (small >> 1)
        elif name == "syscall-vec":
            size += 16 * struct.unpack_from("<Q", data, at + 1)[0]
        counts[name] = counts.get(name, 0) + 1
        at += 1 + size
    return counts


def written(words):
    """Writes a set as a command line has it; returns its facts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--turns", type=int, default=100, help="of the loop, in each thread")
    parser.add_argument("--interval", type=int, default=500, help="user instructions from snapshot to snapshot")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--bits", type=int, default=128, help="of a vector register")
    parser.add_argument("--header", type=int, default=24, help="bytes of it")
    parser.add_argument("--start", type=int, default=0, help="where tokens begin")
    parser.add_argument("--index", choices=["offset", "count"], default="offset")
    parser.add_argument("--no-za", action="store_true")
    parser.add_argument("--no-snapshots", action="store_true")
    parser.add_argument("--order", action="store_true", help="with TIME tokens")
    parser.add_argument("--kernel", action="store_true", help="of cores, with interrupts")
    parser.add_argument("--timestamp", default="1718000000")
    options = parser.parse_args(words)
    options.directory.mkdir(parents=True, exist_ok=True)
    tracks, order = [Track(options, 100 + i, [0]) for i in range(options.threads)], [0]
    for track in tracks:
        track.order = order
    for i in range(options.turns):
        for track in tracks:
            track.put(turn(i, track.tick))
            if options.kernel and i % 8 == 7:
                track.put(kernel(i))
    counts = {}
    for i, track in enumerate(tracks):
        track.write(options.directory, options.kernel, 13 if options.kernel and i else 9)
        for name, count in kinds(track.data, options.start).items():
            counts[name] = counts.get(name, 0) + count
    counts["snapshot"] = 0 if options.no_snapshots else sum(len(track.snapshots) for track in tracks)
    return {
        "kinds": {name: count for name, count in counts.items() if count},
        "instructions": sum(track.count for track in tracks),
        "user_instructions": sum(track.user for track in tracks),
    }


if __name__ == "__main__":
    print(json.dumps(written(sys.argv[1:])))
