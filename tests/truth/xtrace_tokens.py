#!/usr/bin/python3
"""xtrace_tokens - tokens and snapshots of xtrace files, decoded from the words of the document alone.

Nothing here knows our decoder: classes are the low three bits of a token byte, sub-kinds the high five.
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import struct

LEVEL_SHIFT = 6

# VAL and MISC tokens by class and sub-kind: name and payload.
FIXED = {
    (3, 0): ("stxr", 8), (3, 1): ("mrs", 8), (3, 2): ("svcarg", 8), (3, 3): ("svcret", 8),
    (3, 4): ("dc", 8), (3, 5): ("target-b", 8),
    (4, 1): ("allgpr", 256), (4, 3): ("misc-flags", 8),
    (7, 0): ("time", 8),
}


def tokens(data):
    """Yields (offset, name, fields): inst and pcinst (pc, opcode), load and store (address, bytes), others the payload's words.

    The PC of an inst is that of the instruction before + 4."""
    at, pc = 0, None
    while at < len(data):
        token = data[at]
        kind, high = token & 7, token >> 3
        start, at = at, at + 1
        if kind == 1 and high & 7 == 0:
            (opcode,) = struct.unpack_from("<I", data, at)
            at += 4
            pc += 4
            yield start, "inst", (pc, opcode)
        elif kind == 1 and high & 7 == 1:
            pc, opcode = struct.unpack_from("<QI", data, at)
            at += 12
            yield start, "pcinst", (pc, opcode)
        elif kind == 2:
            size = 1 << (token >> 4)
            (address,) = struct.unpack_from("<Q", data, at)
            value = data[at + 8:at + 8 + size]
            if len(value) < size:
                raise ValueError(f"{start:#x}: half a token")
            at += 8 + size
            yield start, "store" if high & 1 else "load", (address, value)
        elif kind == 4 and high == 4:
            (count,) = struct.unpack_from("<Q", data, at)
            words = struct.unpack_from(f"<{2 * count}Q", data, at + 8)
            at += 8 + 16 * count
            yield start, "syscall-vec", words
        elif (kind, high) in FIXED:
            name, size = FIXED[kind, high]
            words = struct.unpack_from(f"<{size // 8}Q", data, at)
            at += size
            yield start, name, words
        else:
            raise ValueError(f"{start:#x}: {token:#04x} is no token")


SYSTEM = ["fpcr", "fpsr", "nzcv", "tpidr_el0", "tpidrro_el0", "ttbr0_el1", "elr_el1", "spsr_el1", "esr_el1", "tpidr_el1",
          "daif"]


def snapshots(data, header=24, vector_bits=128):
    """Yields a dictionary for each snapshot; the file must end with the last."""
    size = vector_bits // 8
    predicate = (size // 8 + 15) // 16 * 16
    at = header
    while at < len(data):
        one = dict(zip(("file", "index", "user_count", "count"), struct.unpack_from("<4Q", data, at)))
        one["x"] = struct.unpack_from("<32Q", data, at + 32)
        at += 32 + 256
        one["z"] = [data[at + size * i:at + size * (i + 1)] for i in range(32)]
        at += 32 * size
        one["p"] = [data[at + predicate * i:at + predicate * i + size // 8] for i in range(17)]  # FFR is the last
        at += 17 * predicate + size * size
        one.update(zip(SYSTEM, struct.unpack_from("<11Q", data, at)))
        at += 88
        (one["vector_bits"],) = struct.unpack_from("<Q", data, at)
        at += 8
        if one["vector_bits"] != vector_bits:
            raise ValueError(f"a snapshot before {at:#x} ends with {one['vector_bits']}")
        yield one


def files(directory):
    """The data files of a directory with their snapshot files, by thread."""
    found = {}
    for path in sorted(pathlib.Path(directory).glob("xtrace.*.xinsndata.bin")):
        thread = int(path.name.split(".")[2])
        found[thread] = path, path.with_name(path.name.replace("xinsndata", "xsnapshot"))
    return found
