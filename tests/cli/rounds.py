"""rounds.py - an xtrace of a loop that is not quite the same each time, and what is to be counted in it.

usage: rounds.py DIRECTORY

Writes a set into DIRECTORY, and beside it, as DIRECTORY.json, what the commands must say of it, counted while it is
written."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct
import sys
from collections import Counter

LOOP, FAR, ROUNDS = 0x400000, 0x400100, 2000
LDR, LDP, NOP, SUBS, BNE, BACK = 0xF9400021, 0xA9400C82, 0xD503201F, 0xF1000400, 0x54FFFFA1, 0x17FFFFC0
MNEMONICS = {LDR: "ldr", LDP: "ldp", NOP: "nop", SUBS: "subs", BNE: "b.ne", BACK: "b"}


class Trace:
    def __init__(self):
        self.bytes, self.level = bytearray(), 0
        self.opcodes, self.levels, self.blocks, self.sizes, self.findings = Counter(), Counter(), Counter(), Counter(), []
        self.lines = set()

    def instruction(self, opcode, pc=None):
        head = 0x01 if pc is None else 0x09
        self.bytes += bytes([head | self.level << 6]) + (b"" if pc is None else struct.pack("<Q", pc))
        self.bytes += struct.pack("<I", opcode)
        self.opcodes[MNEMONICS[opcode]] += 1
        self.levels[f"EL{self.level}"] += 1
        if pc is not None:
            self.blocks[pc] += 1

    def loads(self, address, *sizes):
        """Tokens that continue each other: one access."""
        at = address
        for size in sizes:
            self.bytes += struct.pack("<BQ", 0x02 | size.bit_length() - 1 << 4, at) + bytes(size)
            at += size
        self.sizes[sum(sizes)] += 1
        self.lines |= set(range(address >> 6, (at - 1 >> 6) + 1))

    def value(self, byte, value):
        self.bytes += struct.pack("<BQ", byte, value)

    def find(self, rule):
        self.findings.append([len(self.bytes), f"xtrace.{rule}"])


def round_of(trace, number):
    pair = 0x20000 + number % 512 * 16
    if number == 1000 or number == 1010:  # the kernel, and back
        trace.bytes += bytes([0x0C]) + bytes(256)
        trace.level = int(number == 1000)
    trace.instruction(LDR, LOOP)
    trace.loads(0x10000 + number % 100 * 8, 8)
    if number % 11 == 5:
        trace.value(0x07, number + 1)
    if number == 1700:
        trace.instruction(NOP)
    else:
        if number == 1500:
            trace.find("access-base")
        trace.instruction(LDP)
        if number == 1500:
            trace.loads(pair, 8)
            trace.loads(pair + 64, 8)
        elif number % 7 == 3:
            trace.loads(pair, 8, 4, 4)
        else:
            trace.loads(pair, 8, 8)
    if number == 1800:
        trace.find("unknown-token")
        trace.bytes += bytes([0xFF]) * 7
        return
    trace.instruction(SUBS)
    trace.instruction(BNE)
    if number == 1900:
        trace.find("branch-target")
        trace.instruction(BACK, FAR)


def main(directory):
    trace = Trace()
    for number in range(ROUNDS):
        round_of(trace, number)
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/xtrace.1.100.hint9.xinsndata.bin", "wb") as out:
        out.write(trace.bytes)
    told = {"level": trace.levels, "mnemonic": trace.opcodes, "size": {str(k): v for k, v in trace.sizes.items()},
            "executed": {str(k): v for k, v in trace.blocks.items()}, "lines": len(trace.lines),
            "findings": sorted(trace.findings)}
    with open(f"{directory}.json", "w") as out:
        json.dump(told, out, sort_keys=True)


main(sys.argv[1])
