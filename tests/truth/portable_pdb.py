#!/usr/bin/python3
# portable_pdb.py - portable PDBs and assemblies for the tests, by "Portable PDB v1.0" and ECMA-335 II.24; and logs that point into them.
# SPDX-License-Identifier: Apache-2.0
"""usage: portable_pdb.py FOLDER

Writes app.dll and app.pdb (a GUID of 0x11), other.pdb (of another build), inside.dll (with the PDB in it), mono.mdb (the
same lines as Mono's compilers write them), and app.log.
"""
import pathlib
import struct
import sys
import zlib

HIDDEN = None
GUID, STAMP = b"\x11" * 16, 0x5eed5eed
# Methods: the document, and points (offset, line, column, end line, end column, document); by the rows of the table.
METHODS = [
    (1, [(0, 10, 5, 10, 6, 1), (4, 11, 9, 11, 40, 1), (9, HIDDEN, 0, 0, 0, 1), (12, 8, 1, 9, 30, 1), (200, 300, 2, 300, 3, 1), (270, 301, 2, 301, 3, 1)]),
    (0, [(0, 20000, 70, 20001, 3, 2), (5, HIDDEN, 0, 0, 0, 1), (7, 7, 1, 7, 2, 1)]),
    (1, []),
]
DOCUMENTS = [("/", ["", "src", "app", "Main.cs"]), ("\\", ["C:", "work", "Other.cs"])]


def compressed(number):
    if number < 0x80:
        return bytes([number])
    if number < 0x4000:
        return struct.pack(">H", 0x8000 | number)
    return struct.pack(">I", 0xc0000000 | number)


def signed(number):
    for bits, mark, size in (7, 0, 1), (14, 0x8000, 2), (29, 0xc0000000, 4):
        if -(1 << (bits - 1)) <= number < 1 << (bits - 1):
            rotated = (number << 1 | number >> (bits - 1) & 1) & ((1 << bits) - 1)
            return (mark | rotated).to_bytes(size, "big")
    raise ValueError(number)


class Heap:
    def __init__(self):
        self.bytes = b"\0"

    def add(self, blob):
        at = len(self.bytes)
        self.bytes += compressed(len(blob)) + blob
        return at


def points_of(document, points):
    blob = compressed(0)
    offset, line, column, placed = 0, 0, 0, False
    current = document or points[0][5]
    if not document:
        blob += compressed(current)
    for i, (at, start, start_column, end, end_column, of) in enumerate(points):
        if of != current:
            blob += compressed(0) + compressed(of)
            current = of
        blob += compressed(at - offset) if i else compressed(at)
        offset = at
        if start is HIDDEN:
            blob += compressed(0) + compressed(0)
            continue
        lines, columns = end - start, end_column - start_column
        blob += compressed(lines) + (signed(columns) if lines else compressed(columns))
        blob += (signed(start - line) + signed(start_column - column)) if placed else compressed(start) + compressed(start_column)
        line, column, placed = start, start_column, True
    return blob


def pdb(guid=GUID, stamp=STAMP):
    blobs = Heap()
    documents = methods = b""
    for separator, parts in DOCUMENTS:
        name = separator.encode() + b"".join(compressed(blobs.add(part.encode()) if part else 0) for part in parts)
        documents += struct.pack("<HHHH", blobs.add(name), 0, 0, 0)
    for document, points in METHODS:
        methods += struct.pack("<HH", document, blobs.add(points_of(document, points)) if points else 0)
    tables = struct.pack("<IBBBBQQII", 0, 2, 0, 0, 1, 3 << 0x30, 0, len(DOCUMENTS), len(METHODS)) + documents + methods
    streams = [("#Pdb", guid + struct.pack("<IIQ", stamp, 0, 0)), ("#~", tables), ("#Blob", blobs.bytes), ("#Strings", b"\0")]
    version = b"PDB v1.0\0\0\0\0"
    names = [name.encode() + bytes(4 - len(name) % 4) for name, _ in streams]
    head = struct.pack("<IHHII", 0x424a5342, 1, 1, 0, len(version)) + version + struct.pack("<HH", 0, len(streams))
    at = len(head) + sum(8 + len(name) for name in names)
    body = b""
    for name, (_, content) in zip(names, streams):
        content += bytes(-len(content) % 4)
        head += struct.pack("<II", at + len(body), len(content)) + name
        body += content
    return head + body


def assembly(inside=None):
    view = b"RSDS" + GUID + struct.pack("<I", 1) + b"/build/app.pdb\0"
    data = [(2, 0x504d, STAMP, view)]
    if inside:
        press = zlib.compressobj(wbits=-15)
        data.append((17, 0x100, 0, b"MPDB" + struct.pack("<I", len(inside)) + press.compress(inside) + press.flush()))
    address, raw = 0x2000, 0x200
    directory, contents = b"", b""
    start = 28 * len(data)
    for kind, minor, stamp, content in data:
        at = start + len(contents)
        directory += struct.pack("<IIHHIIII", 0, stamp, 0, minor, kind, len(content), address + at, raw + at)
        contents += content
    optional = bytearray(112 + 16 * 8)
    struct.pack_into("<H", optional, 0, 0x20b)
    struct.pack_into("<II", optional, 112 + 6 * 8, address, len(directory))
    section = b".text\0\0\0" + struct.pack("<IIII", start + len(contents), address, start + len(contents), raw) + bytes(16)
    header = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0) + bytes(optional) + section
    file = b"MZ" + bytes(0x3a) + struct.pack("<I", 0x40) + header
    return file.ljust(raw, b"\0") + directory + contents


def number(value):
    """Seven bits a byte, the lowest first; a negative number is one of 32 bits."""
    value &= 0xffffffff
    written = b""
    while value >= 0x80:
        written += bytes([value & 0x7f | 0x80])
        value >>= 7
    return written + bytes([value])


LINE_BASE, LINE_RANGE, OPCODE_BASE = -1, 8, 9


def entries_of(points):
    """The lines of a method as Mono's compilers write them: opcodes, then a column of each entry, then its end."""
    code = columns = ends = b""
    offset, line, document, hidden = 0, 1, 1, False
    for at, start, column, end, end_column, of in points:
        if (start is HIDDEN) != hidden:
            hidden = not hidden
            code += b"\0\1\x40"
        start = line if start is HIDDEN else start
        if of != document:
            code += b"\4" + number(of)
            document = of
        if at - offset >= (255 - OPCODE_BASE) // LINE_RANGE:
            code += b"\x08"
            offset += (255 - OPCODE_BASE) // LINE_RANGE
        special = start - line - LINE_BASE + LINE_RANGE * (at - offset) + OPCODE_BASE
        if 0 <= start - line - LINE_BASE < LINE_RANGE and OPCODE_BASE <= special < 256:
            code += bytes([special])
        else:
            code += b"\2" + number(at - offset) + b"\3" + number(start - line) + b"\1"
        offset, line = at, start
        columns += number(column)
        ends += number(0xffffff) if hidden else number(end - start) + number(end_column)
    return code + b"\0\1\1" + columns + ends


def mdb():
    """The same methods by MonoSymbolFile, version 50: with columns and ends."""
    at, data, methods, sources = 0x70, b"", b"", b""
    for i, (separator, parts) in enumerate(DOCUMENTS, 1):
        name = separator.join(parts).encode()
        sources += struct.pack("<II", i, at + len(data))
        data += number(len(name)) + name + bytes(33)
    for i, (_, points) in enumerate(METHODS, 1):
        if points:
            lines = at + len(data)
            data += entries_of(points)
            methods += struct.pack("<III", 0x06000000 + i, at + len(data), lines)
            data += bytes(6) + number(2 | 4)
    tables = at + len(data)
    offsets = [tables + len(methods) + len(sources), at, len(data), 0, 0, 0, len(sources) // 8, tables + len(methods), len(sources),
               len(methods) // 12, tables, len(methods), 0, 0, 0, 0]
    return (struct.pack("<QII", 0x45e82623fd7fa614, 50, 0) + GUID + struct.pack("<16I", *offsets) +
            struct.pack("<iIII", LINE_BASE, LINE_RANGE, OPCODE_BASE, 0) + data + methods + sources)


def log(path):
    """Samples in the method of each token, at IL offsets that the map gives from instructions."""
    lines = ["prf stm 2018-06-25 07:24:28.049 +09:00", "prf cfg CollectionMethod Sampling",
             f'mod ldf 0x00000000A0001000 0x00000000B0000000 0x0000000000000000 0x00000000 "{path}"',
             "thr crt 0x00000000B6A00000 0x00000000"]
    offsets = {1: [0, 3, 4, 9, 12, 250], 2: [0, 6, 7], 3: [0]}
    for method, places in offsets.items():
        code = 0xC0000000 + method * 0x1000
        maps = " ".join(f"0x{il:08x}:0x{16 * i:08x}:0x{16 * i + 16:08x}" for i, il in enumerate(places))
        lines.append(f"fun inf 0x{method:08x} 0x{0xA0000000 + method:016X} 0x0000000000000000 0x00000000A0001000 0x{0x06000000 + method:08x} "
                     f"0x{code:016X}:0x{16 * len(places):08x} {maps}")
        lines.append(f'fun nam 0x{method:08x} "App::M{method}" "void" "()"')
    ms = 0
    for method, places in offsets.items():
        for i, _ in enumerate(places):
            ms += 10
            lines.append(f"sam str 0x00000000 {ms} 1 0:{1 if ms > 10 else 0} 0x{method:x}:0x{0xC0000000 + method * 0x1000 + 16 * i:X}")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "app.pdb").write_bytes(pdb())
    (folder / "app.dll").write_bytes(assembly())
    (folder / "inside.dll").write_bytes(assembly(pdb()))
    (folder / "other.pdb").write_bytes(pdb(b"\x22" * 16))
    (folder / "mono.mdb").write_bytes(mdb())
    (folder / "app.log").write_text(log(folder / "app.dll"))


if __name__ == "__main__":
    main()
