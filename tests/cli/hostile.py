#!/usr/bin/python3
# hostile.py - writes logs and programs that ask for more memory than a limit allows.
# SPDX-License-Identifier: Apache-2.0
"""Usage: hostile.py KIND FILE

FDR version 3, little endian, and text logs of TraceLog, from the formats' descriptions alone."""
import array
import random
import struct
import sys
import zlib

ENTER, EXIT = 0, 1


def metadata(kind, form, *fields):
    return bytes([kind << 1 | 1]) + struct.pack("<" + form, *fields).ljust(15, b"\0")


def thread(number, records):
    """A buffer: `records` are (kind, function, ticks since the one before)."""
    words = array.array("I")
    for kind, function, ticks in records:
        words.extend((kind << 1 | function << 4, ticks))
    body = (metadata(0, "i", number) + metadata(4, "QI", 1700000000, 0) + metadata(9, "i", 1) +
            metadata(2, "HQ", 0, 1000) + words.tobytes())
    return metadata(7, "Q", len(body)) + body


def walk(seed, count, functions, deepest):
    """Calls at random; what is open at the end stays open."""
    source, stack = random.Random(seed), []
    for _ in range(count):
        if not stack or (len(stack) < deepest and source.random() < 0.5):
            stack.append(source.randrange(1, functions))
            yield ENTER, stack[-1], source.randint(1, 400)
        else:
            yield EXIT, stack.pop(), source.randint(1, 400)


def deep(depth):
    for kind in ENTER, EXIT:
        for _ in range(depth):
            yield kind, 5, 1


def pairs(first, count):
    for function in range(first, first + count):
        yield ENTER, function, 1
        yield EXIT, function, 1


def stacks(seed, count):
    source = random.Random(seed)
    for _ in range(count):
        names = [source.randrange(1, 60000) for _ in range(4)]
        for name in names:
            yield ENTER, name, 5
        for name in reversed(names):
            yield EXIT, name, 5


LOGS = {
    "mixed": lambda: [thread(t, walk(t, 6000, 50 if t % 2 else 3000, 60)) for t in range(1, 10)],
    "open": lambda: [thread(1, pairs(1, 20000))] + [thread(t, [(ENTER, 20000 + t, 1)]) for t in range(2, 600)],
    "threads": lambda: (thread(t, [(ENTER, 1, 1), (EXIT, 1, 1)]) for t in range(1, 100001)),
    "names": lambda: [thread(1, pairs(1, 225000))],
    "stacks": lambda: [thread(t, stacks(t, 28000)) for t in (1, 2)],
    "deep": lambda: [thread(1, deep(200000))],
}


def elf_with_map(size):
    """A program for x86-64 that is nothing but an instrumentation map of `size` bytes, which is a hole."""
    names = b"\0xray_instr_map\0.shstrtab\0"
    sections = [(0,) * 10, (1, 1, 2, 0x1000, 0x1000, size, 0, 0, 8, 0), (16, 3, 0, 0, 64, len(names), 0, 0, 1, 0)]
    table = 64 + len(names) + 7 & ~7
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 2)
    return (header + names).ljust(table, b"\0") + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)


def elf_of(*sections):
    """A program with a function of two sleds, and sections (name, flags, bytes)."""
    sleds = b"".join(struct.pack("<qqBBB13x", 0, 0, kind, 1, 2) for kind in (ENTER, EXIT))
    sections = [("xray_instr_map", 2, sleds), *sections]
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in sections) + b".shstrtab\0"
    headers, body = [(0,) * 10], b""
    for name, flags, data in [*sections, (".shstrtab", 0, names)]:
        kind = 3 if name == ".shstrtab" else 1
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append((at, kind, flags, 0x1000 if flags == 2 else 0, 64 + len(body), len(data), 0, 0, 8, 0))
        body += data.ljust(len(data) + 7 & ~7, b"\0")
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                         len(headers), len(headers) - 1)
    return header + body + b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in headers)


def elf_with_bomb(size):
    """A program with a function and a compressed section .debug_str of `size` zeros."""
    packer, megabyte = zlib.compressobj(9), bytes(1 << 20)
    header = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)  # the same for each megabyte
    ones, sums = 1, size % 65521  # Adler-32 of zeros
    zeros = header + block * (size >> 20) + b"\3\0" + struct.pack(">HH", sums, ones)
    return elf_of((".debug_str", 0x800, struct.pack("<IIQQ", 1, 0, size, 1) + zeros))


def line_table(size, directory=b"", files=1):
    """A table of lines of DWARF 2, `size` bytes behind its length; its program advances lines."""
    head = bytes((1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)) + directory + b"\0"
    head += (b"f\0\1\0\0" if directory else b"f\0\0\0\0") * files + b"\0"
    return struct.pack("<IHI", size or len(head) + 6, 2, len(head)) + head


def elf_with_lines(offsets, tables, file=1, attributes=b"", more=b"", before=b""):
    """A unit for each table of lines, where a function stands in one of its files; entries with `more` are the unit's, too, of
    functions with `attributes` alone. `before`: other abbreviations."""
    abbreviations = before + b"\x01\x11\x01\x03\x08\x10\x17\0\0" b"\x02\x2e\0\x3a\x0b\x3b\x0b\x11\x01\0\0"
    abbreviations += b"\x03\x2e\0" + attributes + b"\0\0" b"\0"
    units = b""
    for offset in offsets:
        entries = b"\x01a\0" + struct.pack("<I", offset) + b"\x02%c\7" % file + struct.pack("<Q", 0x1008) + more + b"\0"
        units += struct.pack("<IHIB", len(entries) + 7, 4, 0, 8) + entries
    return elf_of((".debug_info", 0, units), (".debug_abbrev", 0, abbreviations), (".debug_line", 0, tables))


def many_abbreviations(count):
    """Of variables without attributes, from number 128 on."""
    codes = (bytes((code & 127 | 128, code >> 7 & 127 | 128, code >> 14)) for code in range(128, 128 + count))
    return b"".join(code + b"\x34\0\0\0" for code in codes)


def elf_with_nested_lines(count, behind):
    """Tables of lines that all go to the end of the section, and none has the file."""
    room = 64
    whole = room * count + behind
    tables = b"".join(line_table(whole - room * i - 4).ljust(room, b"\x20") for i in range(count))
    return elf_with_lines(range(0, room * count, room), tables + b"\x20" * behind, file=2)


PROGRAMS = {
    "bomb": lambda: elf_with_bomb(1 << 29),
    "lines": lambda: elf_with_lines([0], line_table(0)),
    "nested-lines": lambda: elf_with_nested_lines(1000, 1 << 20),
    "attributes": lambda: elf_with_lines([0], line_table(0), 1, b"\x3f\x19" * 300000, b"\3" * 600000),
    "abbreviations": lambda: elf_with_lines([0] * 4000, line_table(0), 2, before=many_abbreviations(100000)),
    "directory": lambda: elf_with_lines([0], line_table(0, b"d" * (1 << 20) + b"\0", 50000)),
}


# TraceLog. Each log has a sample of one frame before all and behind all, which must be found whatever stands between.

BEFORE = (b"thr crt 0xB6A01000 0x00000000\n"
          b"fun inf 0x00000002 0xB6E00000 0x00000000 0x00000000 0x06000001\nfun nam 0x00000002 \"App::Main\" \"void\" \"()\"\n"
          b"sam str 0x00000000 10 1 0:0 0x2\n")
AFTER = b"sam str 0x00000000 900000 1 1:1\n"


def sample(ms, change, frames=b""):
    return b"sam str 0x00000000 %d 1 %s%s\n" % (ms, change, frames)


def function(iid):
    yield b"fun inf 0x%08x 0x%016X 0x0000000000000000 0x0000000000000000 0x06000001\n" % (iid, 0x7F0000000000 + iid)
    yield b'fun nam 0x%08x "App.Part%d::Method%d" "void" "()"\n' % (iid, iid % 1000, iid)


def places(blocks, samples):
    """A function in many blocks of code, of which the last ones are sampled, each instruction once."""
    yield b"fun inf 0x00000003 0xB6E00001 0x00000000 0x00000000 0x06000001"
    for block in range(blocks):
        yield b" 0x%08X:0x4" % (4 * block)
    yield b"\n" + sample(20, b"1:1", b" 0x3:0x00000000")
    for number in range(samples):
        yield sample(20 + number, b"2:2:0x%08X" % (4 * (blocks - 1 - number)))
    yield sample(20 + samples, b"1:2")


def random_stacks(count):
    source, depth = random.Random(1), 1
    for number in range(count):
        frames = b"".join(b" 0x%x" % source.randrange(2, 60000) for _ in range(8))
        yield sample(20 + number, b"1:%d" % depth, frames)
        depth = 9
    yield sample(20 + count, b"1:%d" % depth)


def little_work(number, pointer):
    """What a thread does, as lines that each stand beside the same line of another thread."""
    ms, system = 10 * number, 10000 + number
    yield b"thr crt 0x%016X 0x%08x\n" % (0x7F0000000000 + number, number)
    yield b"thr aos 0x%08x %d\n" % (number, system)
    yield b"sam str 0x%08x %d 1 0:0 0x2 0x3\n" % (number, ms)
    yield b"jit cms %d %d 0x%016X\n" % (system, ms + 1, pointer)
    yield b"jit cmf %d %d 0x%016X 0x00000000\n" % (system, ms + 2, pointer)
    yield b"sam str 0x%08x %d 1 1:2 0x3 0x2\n" % (number, ms + 3)
    yield b"thr cpu 0x%08x %d 5000\n" % (number, ms + 3)
    yield b"sam str 0x%08x %d 0 0:3 0x2\n" % (number, ms + 4)
    yield b"sam mem 0x%08x %d 0x0:1:8\n" % (number, ms + 4)
    yield b"thr dst 0x%08x\n" % number


def two_threads(number):
    for lines in zip(little_work(number, 0xB6E00000), little_work(number + 1, 0x7F0000000003)):
        yield from lines


def threads(count):
    yield b'cls nam 0x00000000 "C"\n'
    yield from function(3)
    for number in range(1, count, 2):
        yield from two_threads(number)


LONG = [b"x" * (1 << 20)] * 40
TRACELOGS = {
    "deep": lambda: [sample(20, b"1:1", b" 0x2" * 199999), sample(30, b"199999:200000"), sample(40, b"1:199999")],
    "line": lambda: [*LONG, b"\n"],
    "name": lambda: [b'fun nam 0x00000003 "', *LONG, b'" "void" "()"\n'],
    "depth": lambda: [sample(20, b"4294967295:4294967295", b" 0x2"), sample(30, b"4294967295:0"),
                      sample(40, b"3000000000:4000000000", b" 0x2"), sample(50, b"1:1")],
    "names": lambda: (line for iid in range(3, 100000) for line in function(iid)),
    "stacks": lambda: random_stacks(30000),
    "places": lambda: places(400000, 200000),
    "threads": lambda: threads(30000),
    "open": lambda: (b"jit cms %d 10 0x%08X\n" % (n % 7, n) for n in range(250000)),
}


def event(payload):
    return metadata(5, "ii", len(payload), 1) + payload


def objects(program, address):
    """A flight recorder's log: a function, at the address, of each of 3,000 places of the program, and 5,000 programs that are not
    there. Source: doc/formats/xray-fdr.md, "Logs of the flight recorder"."""
    clocks = struct.pack("<8Q", 1000, 1000, 1000, 10**18, 10**9, 10**9, 10**9, 10**18 + 10**9)
    notes = event(b"trackway.flight\0" + struct.pack("<IIQQQ", 1, 77, 2, 0, 0) + clocks)
    notes += b"".join(event(b"trackway.object\0%x 10 1 %x 0 - %s" % (1 + 16 * i, address, program if i < 3000 else b"/none/%d" % i))
                      for i in range(8000))
    calls = b"".join(struct.pack("<II", kind | (1 + 16 * i) << 4, 5) for i in range(3000) for kind in (ENTER << 1, EXIT << 1))
    for number, records in (0, notes), (1, calls):
        body = metadata(0, "i", number) + metadata(4, "QI", 1700000000, 0) + metadata(9, "i", 77) + metadata(2, "HQ", 0, 1000) + records
        yield metadata(7, "Q", len(body)) + body


def main(kind, path, *more):
    with open(path, "wb") as out:
        if kind == "objects":
            out.writelines([struct.pack("<HHIQ16x", 5, 1, 3, 10**9), *objects(more[0].encode(), int(more[1], 16))])
            return
        if kind.startswith("tracelog-"):
            out.writelines([BEFORE, *TRACELOGS[kind.removeprefix("tracelog-")](), AFTER])
            return
        if kind in PROGRAMS:
            out.write(PROGRAMS[kind]())
            return
        if kind == "program":
            size = 1 << 30
            out.write(elf_with_map(size))
            out.truncate(0x1000 + size)
            return
        out.write(struct.pack("<HHIQQQ", 3, 1, 3, 10**9, 1 << 16, 0))
        for buffer in LOGS[kind]():
            out.write(buffer)


main(*sys.argv[1:])
