#!/usr/bin/python3
"""xtrace_tokens - tokens and snapshots of xtrace files, decoded from the words of the document alone.

Nothing here knows our decoder: classes are the low three bits of a token byte, sub-kinds the high five.
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import struct

LEVEL_SHIFT = 6

# VAL and MISC tokens by class and sub-kind: name and payload.
FIXED = {kind | high << 3: (name, struct.Struct(f"<{words}Q")) for kind, high, name, words in (
    (3, 0, "stxr", 1), (3, 1, "mrs", 1), (3, 2, "svcarg", 1), (3, 3, "svcret", 1), (3, 4, "dc", 1), (3, 5, "target-b", 1),
    (4, 1, "allgpr", 32), (4, 3, "misc-flags", 1),
    (7, 0, "time", 1),
)}
VECTOR = 4 | 4 << 3
take_opcode, take_place, take_word = (struct.Struct(form).unpack_from for form in ("<I", "<QI", "<Q"))


def tokens(data):
    """Yields (offset, name, fields): inst and pcinst (pc, opcode), load and store (address, bytes), others the payload's words.

    The PC of an inst is that of the instruction before + 4."""
    at, pc, end = 0, None, len(data)
    while at < end:
        token, start, at = data[at], at, at + 1
        low = token & 63
        if low == 1:
            (opcode,) = take_opcode(data, at)
            at += 4
            pc += 4
            yield start, "inst", (pc, opcode)
        elif low == 1 | 1 << 3:
            pc, opcode = take_place(data, at)
            at += 12
            yield start, "pcinst", (pc, opcode)
        elif low & 7 == 2:
            size = 1 << (token >> 4)
            (address,) = take_word(data, at)
            value = data[at + 8:at + 8 + size]
            if len(value) < size:
                raise ValueError(f"{start:#x}: half a token")
            at += 8 + size
            yield start, "store" if token & 8 else "load", (address, value)
        elif token in FIXED:
            name, words = FIXED[token]
            yield start, name, words.unpack_from(data, at)
            at += words.size
        elif token == VECTOR:
            (count,) = take_word(data, at)
            words = struct.unpack_from(f"<{2 * count}Q", data, at + 8)
            at += 8 + 16 * count
            yield start, "syscall-vec", words
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
