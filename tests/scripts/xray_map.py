#!/usr/bin/env python3
# xray_map.py - function ids, addresses and symbols of a program's XRay map, read without LLVM and without Trackway.
# SPDX-License-Identifier: Apache-2.0
"""Usage: xray_map.py PROGRAM            prints "id 0xaddress symbol", one line a function ("-": no symbol)
       xray_map.py --llvm MAP.yaml     prints the same from the output of `llvm-xray extract -symbolize -no-demangle`

Reads ELF by its specification: sections, .symtab (else .dynsym), relocations; the map as LLVM's AsmPrinter.cpp lays it
out.
"""
import re
import struct
import sys

SYMTAB, RELA, REL, DYNSYM = 2, 4, 9, 11
FUNC, IFUNC, GLOBAL, WEAK, UNIQUE = 2, 10, 1, 2, 10
RELATIVE = {62: 8, 3: 8, 183: 1027, 40: 23, 21: 22, 243: 3, 22: 12}  # R_*_RELATIVE by e_machine


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:4] != b"\x7fELF":
            sys.exit(f"{path}: not an ELF file")
        self.wide = self.data[4] == 2
        self.order = ">" if self.data[5] == 2 else "<"
        self.machine = self.unpack("H", 18)[0]
        self.sections = self.read_sections()

    def unpack(self, layout, offset):
        return struct.unpack_from(self.order + layout, self.data, offset)

    def read_sections(self):
        table = self.unpack("Q", 40)[0] if self.wide else self.unpack("I", 32)[0]
        size, count, names = self.unpack("HHH", 58 if self.wide else 46)
        layout = "IIQQQQIIQQ" if self.wide else "IIIIIIIIII"
        keys = ("name", "type", "flags", "address", "offset", "size", "link", "info", "align", "entry")
        found = [dict(zip(keys, self.unpack(layout, table + i * size))) for i in range(count)]
        for section in found:
            section["name"] = self.text(found[names]["offset"] + section["name"])
        return found

    def text(self, offset):
        return self.data[offset:self.data.index(b"\0", offset)].decode("utf-8", "replace")

    def symbols(self, table):
        step = 24 if self.wide else 16
        texts = self.sections[table["link"]]["offset"]
        for at in range(table["offset"], table["offset"] + table["size"], step):
            if self.wide:
                name, info, _, index, value, _ = self.unpack("IBBHQQ", at)
            else:
                name, value, _, info, _, index = self.unpack("IIIBBH", at)
            kind, bind = info & 15, info >> 4
            yield {"name": self.text(texts + name), "type": kind, "bind": bind, "index": index, "value": value}

    def relocations(self):
        """Address of a word to its value, None where the value is what stands there plus the symbol."""
        for section in self.sections:
            if section["type"] not in (RELA, REL):
                continue
            has_addend = section["type"] == RELA
            layout = ("QQ" if self.wide else "II") + (("q" if self.wide else "i") if has_addend else "")
            step = struct.calcsize(self.order + layout)
            table = self.sections[section["link"]]
            values = [s["value"] for s in self.symbols(table)] if table["type"] in (SYMTAB, DYNSYM) else [0]
            for at in range(section["offset"], section["offset"] + section["size"], step):
                where, info, *addend = self.unpack(layout, at)
                kind, symbol = (info & 0xFFFFFFFF, info >> 32) if self.wide else (info & 255, info >> 8)
                base = 0 if kind == RELATIVE.get(self.machine) else values[symbol]
                yield where, base, addend[0] if has_addend else None


def read_functions(elf):
    sections = [s for s in elf.sections if s["name"] == "xray_instr_map"]
    if not sections:
        sys.exit("no xray_instr_map section")
    section = sections[0]
    entry, word, letter, version_at = (32, 8, "Q", 18) if elf.wide else (16, 4, "I", 10)
    moved = {where: (base, addend) for where, base, addend in elf.relocations()}
    functions = []
    for at in range(0, section["size"], entry):
        place = section["address"] + at + word
        value = elf.unpack(letter, section["offset"] + at + word)[0]
        if elf.data[section["offset"] + at + version_at] >= 2:
            value += place
        elif place in moved:
            base, addend = moved[place]
            value = base + (value if addend is None else addend)
        value &= (1 << (8 * word)) - 1
        if not functions or functions[-1] != value:
            functions.append(value)
    return functions


def score(symbol):
    bind = {GLOBAL: 3, UNIQUE: 3, WEAK: 2}.get(symbol["bind"], 1)
    return (symbol["type"] in (FUNC, IFUNC), bind)


def best_symbols(elf):
    best = {}
    for kind in (SYMTAB, DYNSYM):
        fresh = {}
        for table in (s for s in elf.sections if s["type"] == kind):
            for symbol in elf.symbols(table):
                name = symbol["name"]
                if symbol["index"] == 0 or symbol["type"] not in (0, FUNC, IFUNC) or not name or name[0] == "$":
                    continue
                old = fresh.get(symbol["value"])
                if old is None or score(symbol) > score(old):
                    fresh[symbol["value"]] = symbol
        best = {**fresh, **best}
    return best


def print_program(path):
    elf = Elf(path)
    best = best_symbols(elf)
    for number, address in enumerate(read_functions(elf), 1):
        print(number, hex(address), best[address]["name"] if address in best else "-")


def print_llvm(path):
    line = re.compile(r"id: (\d+), address: \S+, function: (0x[0-9A-Fa-f]+),.*?function-name: ('(?:[^']|'')*'|[^,]*),")
    seen = set()
    with open(path, encoding="utf-8") as file:
        for number, address, name in line.findall(file.read()):
            if number not in seen:
                seen.add(number)
                print(number, hex(int(address, 16)), name.strip("'") or "-")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--llvm":
        print_llvm(sys.argv[2])
    elif len(sys.argv) == 2 and sys.argv[1][:1] != "-":
        print_program(sys.argv[1])
    else:
        sys.exit(__doc__)
