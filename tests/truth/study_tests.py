#!/usr/bin/python3
"""study_tests - what the analyses of instructions say of programs whose answers are known. Prints TAP.

Truth comes from the programs' own sources (how often each loop runs), from QEMU's log of executed addresses, from GNU objdump, and
from models in this file over the tokens as xtrace_tokens reads them: none of it is code of ours.
"""
# SPDX-License-Identifier: Apache-2.0

import collections
import functools
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import xtrace
import xtrace_tokens
from aarch64 import COMPILER, compile_program, expect, main
from xtrace_record_tests import symbols

N, NODES, ROUNDS, WORDS = 16, 96, 8, 40
MATRIX = 7 + N * (1 + N * (4 + 5 * N + 4) + 3) + 3
LIST = 3 + ROUNDS * (1 + 3 * NODES + 2) + 3
MOVES = WORDS * (WORDS - 1) // 2
# The first word never stands before the others: all inner loops end at the beginning.
SORT = 5 + (WORDS - 1) * (4 + 2 + 1 + 2) + 8 * MOVES + 3


class Bench:
    """Programs and their recordings, each made once."""

    def __init__(self, tool, directory):
        self.tool, self.directory, self.made = tool, directory, {}

    def program(self, name):
        return compile_program(self.directory, name)

    def record(self, name, *arguments):
        """The directory of a trace of the program, without names of functions."""
        if name not in self.made:
            out = self.made[name] = self.directory / f"{name}.trace"
            subprocess.run([self.tool, "record", "--to", "xtrace", "-o", out, "--", self.program(name), *arguments],
                           check=True, capture_output=True)
            next(out.glob("*.maps")).unlink()  # addresses are what the tests count by; and a label is no function
        return self.made[name]

    def tables(self, command, trace, *options):
        """Rows by table."""
        done = subprocess.run([self.tool, command, "--json", "--all", *options, trace], capture_output=True, text=True,
                              check=False)
        expect(done.returncode == 0, command, options, done.returncode, done.stderr)
        rows = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            rows[row["table"]].append(row)
        return rows


@functools.lru_cache(maxsize=4)
def streams(trace):
    """By thread: (pc, opcode, its tokens) of each instruction."""
    found = {}
    for thread, (data, _) in xtrace_tokens.files(trace).items():
        steps = found[thread] = []
        for _, name, fields in xtrace_tokens.tokens(data.read_bytes()):
            if name in ("inst", "pcinst"):
                steps.append((*fields, []))
            else:
                steps[-1][2].append((name, *fields))
    return found


def mnemonics(program):
    """By address, as GNU objdump names them without aliases."""
    text = subprocess.run([COMPILER.replace("gcc", "objdump"), "-d", program], check=True, capture_output=True, text=True).stdout
    return {int(pc, 16): name for pc, name in re.findall(r"^ +([0-9a-f]+):\t[0-9a-f]{8} \t(\S+)", text, re.M)}


def is_branch(opcode):
    """B, BL, B.cond, CBZ, TBZ, BR, BLR, RET, SVC: Arm's table of "Branches, exception generating and system"."""
    return opcode >> 26 & 0x1f == 5 or opcode >> 24 == 0x54 or opcode >> 26 & 0x1f == 0x0d or opcode >> 25 == 0x6b or \
        opcode & 0xffe0001f == 0xd4000001


def is_conditional(opcode):
    return opcode >> 24 == 0x54 or opcode >> 26 & 0x1f == 0x0d


def is_return(opcode):
    return opcode & 0xfffffc1f == 0xd65f0000


def is_indirect(opcode):
    return opcode >> 25 == 0x6b


# ---- The tests. ----

def test_counts(bench):
    "insns: as many instructions as the sources say, and as QEMU's own log has"
    for name, wanted in (("matrix", MATRIX), ("list", LIST), ("sort", SORT)):
        tables = bench.tables("insns", bench.record(name))
        expect(sum(row["count"] for row in tables["class"]) == wanted, name, tables["class"], "wanted", wanted)
        log = subprocess.run(["qemu-aarch64", "-singlestep", "-d", "nochain,exec", bench.program(name)],
                             capture_output=True, text=True, check=True).stderr
        expect(len(re.findall(r"^Trace ", log, re.M)) == wanted, name, "by QEMU")
        expect([(row["level"], row["count"]) for row in tables["level"]] == [("EL0", wanted)], tables["level"])


def test_classes(bench):
    "insns: the classes of the matrix product, by its loops"
    rows = {row["class"]: row["count"] for row in bench.tables("insns", bench.record("matrix"))["class"]}
    cubes, squares = N ** 3, N ** 2
    wanted = {"load": 2 * cubes, "store": squares, "conditional": cubes + squares + N, "float": cubes + squares,
              "system": 1, "arithmetic": cubes + squares * 5 + N * 3 + 7 + 2}
    expect(rows == wanted, rows, "wanted", wanted)


def test_mnemonics(bench):
    "insns: each mnemonic as often as objdump's names say, but for aliases that other tools do not choose"
    for name in ("matrix", "list", "sort"):
        trace, names = bench.record(name), mnemonics(bench.program(name))
        wanted = collections.Counter(names[pc] for steps in streams(trace).values() for pc, _, _ in steps)
        found = collections.Counter()
        for row in bench.tables("insns", trace)["mnemonic"]:
            found[{"movz": "mov", "b.hs": "b.cs"}.get(row["mnemonic"], row["mnemonic"])] += row["count"]
        expect(found == wanted, name, found, "wanted", wanted)


def test_functions(bench):
    "insns: what a function executes is its own"
    program, trace = bench.program("sort"), bench.record("sort")
    inside = 2 * (WORDS - 1) + 8 * MOVES + (1 + 2) * (WORDS - 1)
    rows = bench.tables("insns", trace)["function"]
    names = [hex(symbols(program)["insert"]), hex(symbols(program)["_start"])]
    expect([row["function"] for row in rows] == names, rows)
    expect([row["count"] for row in rows] == [inside, SORT - inside], rows, inside)
    expect(rows[0]["stores"] == MOVES + WORDS - 1 and rows[0]["loads"] == MOVES + WORDS - 1, rows[0])


def blocks_of(steps):
    """Executions and instructions by first address."""
    entries, instructions, start, before = collections.Counter(), collections.Counter(), None, None
    for pc, opcode, _ in steps:
        if before is None or is_branch(before[1]) or pc != before[0] + 4:
            start = pc
            entries[pc] += 1
        instructions[start] += 1
        before = pc, opcode
    return entries, instructions


def test_blocks(bench):
    "blocks: each as often and as long as a second count says; the matrix product's inner loop by its source"
    for name in ("matrix", "list", "sort", "threads"):
        trace = bench.record(name, *(["500"] if name == "threads" else []))
        entries, instructions = collections.Counter(), collections.Counter()
        for steps in streams(trace).values():
            one, two = blocks_of(steps)
            entries += one
            instructions += two
        rows = bench.tables("blocks", trace)["block"]
        expect({row["pc"]: row["executed"] for row in rows} == entries, name, "executed")
        expect({row["pc"]: row["instructions"] for row in rows} == instructions, name, "instructions")
        expect(rows == sorted(rows, key=lambda row: -row["instructions"]), name, "the order")
    row = bench.tables("blocks", bench.record("matrix"))["block"][0]
    inner = symbols(bench.program("matrix"))["inner"]
    expect((row["pc"], row["executed"], row["length"]) == (inner, N ** 3 - N ** 2, 5), row)
    code = [line.split()[0] for line in row["code"]]
    expect(code == ["ldr", "ldr", "fmadd", "subs", "b.ne"], row["code"])


def predict(steps, bits):
    """gshare, a stack of 16 returns and last targets: mispredictions and takes by address, targets of indirect branches."""
    count, taken, missed = collections.Counter(), collections.Counter(), collections.Counter()
    targets, last = collections.defaultdict(collections.Counter), {}
    counters, history, stack = collections.defaultdict(lambda: 1), 0, [0] * 16
    top = 0
    for (pc, opcode, _), (to, _, _) in zip(steps, steps[1:]):
        if not is_branch(opcode) or opcode & 0xffe0001f == 0xd4000001:
            continue
        count[pc] += 1
        if is_conditional(opcode):
            index = (pc // 4 ^ history) % 2 ** bits
            goes = to != pc + 4
            missed[pc] += (counters[index] >= 2) != goes
            counters[index] = min(3, counters[index] + 1) if goes else max(0, counters[index] - 1)
            history = (history * 2 + goes) % 2 ** bits
            taken[pc] += goes
            continue
        taken[pc] += 1
        if is_return(opcode):
            top = (top - 1) % 16
            missed[pc] += stack[top] != to
        elif is_indirect(opcode):
            missed[pc] += last.get(pc) != to
        if is_indirect(opcode):
            last[pc] = to
            targets[pc][to] += 1
        if opcode >> 26 == 0x25 or opcode & 0xfffffc1f == 0xd63f0000:
            stack[top] = pc + 4
            top = (top + 1) % 16
    return count, taken, missed, targets


def test_branches(bench):
    "branches: taken rates by the sources; mispredictions and targets as a second model has them"
    where = symbols(bench.program("list"))
    rows = bench.tables("branches", bench.record("list"))["conditional"]
    found = {row["pc"]: (row["count"], row["taken"]) for row in rows}
    wanted = {where["step"] + 8: (ROUNDS * NODES, ROUNDS * (NODES - 1)), where["step"] + 16: (ROUNDS, ROUNDS - 1)}
    expect(found == wanted, found, "wanted", wanted)
    for name, bits in (("matrix", 12), ("list", 12), ("list", 3), ("sort", 12), ("sort", 1), ("threads", 8), ("threads", 12)):
        trace = bench.record(name, *(["500"] if name == "threads" else []))
        tables = bench.tables("branches", trace, "--history", str(bits))
        sums = [collections.Counter() for _ in range(3)]
        targets = collections.defaultdict(collections.Counter)
        for steps in streams(trace).values():
            *counts, edges = predict(steps, bits)
            for one, more in zip(sums, counts):
                one.update(more)
            for pc, one in edges.items():
                targets[pc].update(one)
        rows = tables["conditional"] + tables["indirect"]
        found = {row["pc"]: (row["count"], row["mispredicted"]) for row in rows}
        wanted = {pc: (sums[0][pc], sums[2][pc]) for pc in found}
        expect(found == wanted, name, bits, {pc: (found[pc], wanted[pc]) for pc in found if found[pc] != wanted[pc]})
        expect(sum(row["count"] for row in tables["kind"]) == sum(sums[0].values()), name, tables["kind"])
        expect(sum(row["taken"] for row in tables["kind"]) == sum(sums[1].values()), name, tables["kind"])
        expect({row["pc"]: row["targets"] for row in tables["indirect"]} == {pc: len(one) for pc, one in targets.items()},
               name, "targets")
        for row in tables["indirect"]:
            most = re.match(r"0x(\w+) \((\d+)\)", row["most"])
            expect(targets[row["pc"]][int(most[1], 16)] == int(most[2]) == max(targets[row["pc"]].values()), name, row)


def accesses(steps):
    """(index of its instruction, pc, kind, address, size): what one instruction accesses without a gap is one."""
    for index, (pc, _, tokens) in enumerate(steps):
        joined = []
        for token in tokens:
            if token[0] not in ("load", "store"):
                continue
            last = joined[-1] if joined else None
            if last and last[0] == token[0] and last[1] + last[2] == token[1]:
                last[2] += len(token[2])
            else:
                joined.append([token[0], token[1], len(token[2])])
        for kind, address, size in joined:
            yield index, pc, kind, address, size


def lines_of(address, size):
    return range(address // 64, (address + size - 1) // 64 + 1)


def bucket(distance):
    low = 1 << distance.bit_length() - 1 if distance else 0
    return (distance, distance) if distance < 2 else (low, 2 * low - 1)


def reuse_of(steps):
    """By a list in the order of use: how far down a line stands is how many others came between."""
    order, found = [], collections.Counter()
    for _, _, _, address, size in accesses(steps):
        for line in lines_of(address, size):
            if line in order:
                at = order.index(line)
                found[bucket(at)] += 1
                del order[at]
            else:
                found[None, None] += 1
            order.insert(0, line)
    return found


def test_mem_known(bench):
    "mem: the matrix product, the list and the sort, by their sources"
    tables = bench.tables("mem", bench.record("matrix"))
    total, = tables["total"]
    expect((total["loads"], total["stores"]) == (2 * N ** 3, N ** 2), total)
    expect((total["loaded_bytes"], total["lines"], total["pages"]) == (16 * N ** 3, 3 * N * N * 8 // 64, 3), total)
    expect([(row["size"], row["loads"], row["stores"]) for row in tables["size"]] == [(8, 2 * N ** 3, N ** 2)], tables["size"])
    strides = {row["from"]: row["count"] for row in tables["stride"]}
    # rows of A go on by 8; columns of B by a row; back to the beginning of the row of A, and from one column to the next
    wanted = collections.Counter({8: N * N * (N - 1) + N * N - 1 + N - 1, 8 * N: N * N * (N - 1),
                                  -8 * (N - 1): N * (N - 1)})
    wanted[8 - 8 * N * (N - 1)] += N * (N - 1)
    wanted[-8 * (N - 1) - 8 * N * (N - 1)] += N - 1
    expect(strides == wanted, strides, "wanted", wanted)
    tables = bench.tables("mem", bench.record("list"), "--reuse")
    reuse = {(row["distance"], row["distance_to"]): row["count"] for row in tables["reuse"]}
    expect(reuse == {bucket(NODES - 1): NODES * (ROUNDS - 1), (None, None): NODES}, reuse)
    expect(tables["total"][0]["lines"] == NODES and len(tables["line"]) == NODES, tables["total"])
    expect({(row["loads"], row["stores"]) for row in tables["line"]} == {(ROUNDS, 0)}, tables["line"][:3])
    total, = bench.tables("mem", bench.record("sort"))["total"]
    expect((total["loads"], total["stores"]) == (MOVES + WORDS - 1, MOVES + WORDS - 1), total)
    expect(total["lines"] == -(-4 * WORDS // 64), total)


def test_mem_model(bench):
    "mem: of the threads program as a second count has it: sizes, footprint, lines, sharing, reuse"
    trace, every = bench.record("threads", "500"), 5000
    tables = bench.tables("mem", trace, "--reuse", "--interval", str(every))
    sizes, footprint, reuse, strides = collections.Counter(), [], collections.Counter(), collections.Counter()
    touched, written, counts = {}, {}, collections.Counter()
    for thread, steps in streams(trace).items():
        rows = [[set(), set(), 0, 0] for _ in range(-(-len(steps) // every))]
        last, before = {}, None
        for index, pc, kind, address, size in accesses(steps):
            sizes[size, kind] += 1
            row = rows[index // every]
            row[2 + (kind == "store")] += 1
            if index != before and pc in last:
                strides[address - last[pc]] += 1
            if index != before:
                last[pc] = address
            before = index
            for line in lines_of(address, size):
                row[0].add(line)
                row[1].add(line // 64)
                counts[line, kind] += 1
            for byte in range(address, address + size):
                touched.setdefault(byte // 64, {}).setdefault(thread, set()).add(byte)
                if kind == "store":
                    written.setdefault(byte // 64, {}).setdefault(thread, set()).add(byte)
        so_far = set()
        for i, row in enumerate(rows):
            fresh = len(row[0] - so_far)
            so_far |= row[0]
            footprint.append((thread, i * every, min(every, len(steps) - i * every), row[2], row[3], len(row[0]), len(row[1]), fresh, len(so_far)))
        reuse += reuse_of(steps)
    names = "thread", "start", "instructions", "loads", "stores", "lines", "pages", "new_lines", "all_lines"
    expect([tuple(row[name] for name in names) for row in tables["footprint"]] == footprint, "footprint")
    found = {(row["size"], kind[:-1]): row[kind] for row in tables["size"] for kind in ("loads", "stores") if row[kind]}
    expect(found == sizes, found, sizes)
    found = {row["from"]: row["count"] for row in tables["stride"] if abs(row["from"]) <= 4096}
    expect(found == {stride: n for stride, n in strides.items() if abs(stride) <= 4096}, "strides")
    for row in tables["stride"]:
        wanted = sum(n for stride, n in strides.items() if row["from"] <= stride <= row["to"])
        expect(row["count"] == wanted, row, wanted)
    found = {(row["distance"], row["distance_to"]): row["count"] for row in tables["reuse"]}
    expect(found == reuse, "reuse", tables["reuse"], reuse)
    wanted = {}
    for line, by in touched.items():
        writers = written.get(line, {})
        both = any(writers[one] & by[two] for one in writers for two in by if one != two)
        sharing = "one thread" if len(by) == 1 else "read only" if not writers else "written" if both else \
            "written, no byte in common"
        wanted[64 * line] = counts[line, "load"], counts[line, "store"], len(by), len(writers), sharing
    names = "loads", "stores", "threads", "writers", "sharing"
    found = {row["address"]: tuple(row[name] for name in names) for row in tables["line"]}
    expect(found == wanted, {at: (found.get(at), wanted[at]) for at in wanted if found.get(at) != wanted[at]})
    sums = collections.Counter(one[4] for one in wanted.values())
    expect({row["sharing"]: row["lines"] for row in tables["sharing"]} == sums, tables["sharing"], sums)
    expect(len(sums) >= 3, "the program shares no lines", sums)


def test_phases_picture(bench):
    "phases: a picture with a box for each stretch of a phase, as wide as it is long, in its colour"
    trace, out = bench.record("phases"), bench.directory / "phases.svg"
    subprocess.run([bench.tool, "phases", "--interval", "2000", trace, "-o", out], check=True)
    root = xml.etree.ElementTree.parse(out).getroot()
    boxes = [(float(box.get("width")), box.get("class")) for box in root.findall("{*}rect") if re.fullmatch(r"c\d+", box.get("class", ""))]
    expect(len(boxes) == 12 + 3, boxes)  # three loops, four times; the legend
    colours = [colour for _, colour in boxes[12:]]
    expect(len(set(colours)) == 3 and [colour for _, colour in boxes[:12]] == colours * 4, boxes)
    whole = 2 + 4 * 30011 + 3
    expect(all(abs(wide - 1024 * 10000 / whole) < 1.5 for wide, _ in boxes[:12]), boxes)


def test_pictures(bench):
    "mem, cache: a picture with a chart for each thread, as high and as wide as the rows say, all on one scale from 0"
    trace, out = bench.record("threads", "500"), bench.directory / "out.svg"
    for command, table, columns in (("mem", "footprint", ("all_lines", "lines")), ("cache", "interval", ("misses_1", "misses_2"))):
        subprocess.run([bench.tool, command, "--interval", "5000", trace, "-o", out], check=True)
        rows = bench.tables(command, trace, "--interval", "5000")[table]
        root = xml.etree.ElementTree.parse(out).getroot()
        most, top = max(1, *(row[columns[0]] for row in rows)), None
        for name, column in zip(("all", "set"), columns):
            charts = root.findall("{*}path[@class='%s']" % name)
            expect(len(charts) == len(xtrace_tokens.files(trace)), command, charts)
            for chart, thread in zip(charts, dict.fromkeys(row["thread"] for row in rows)):
                own = [row for row in rows if row["thread"] == thread]
                bottom = float(re.match(r"M\d+ (\d+)", chart.get("d"))[1])
                heights = [bottom - float(y) for y in re.findall(r"V([\d.]+)H", chart.get("d"))]
                edges = [float(x) - 130 for x in re.findall(r"H([\d.]+)", chart.get("d"))]
                ends = [row["start"] + row["instructions"] for row in own]
                expect(len(edges) == len(own) and all(abs(edge - 1024 * end / ends[-1]) < 0.1 for edge, end in zip(edges, ends)),
                       command, column, edges)
                # A round number somewhat above the most of all threads is at the top.
                top = top or float("%.3g" % (120 * own[0][column] / heights[0]))
                expect(most <= top <= 2.5 * most, command, column, most, top)
                expect(len(heights) == len(own) and all(abs(height - 120 * row[column] / top) < 0.1 for height, row in zip(heights, own)),
                       command, column, top, heights)


def simulate(steps, levels, every=1 << 62):
    """Accesses and misses by (interval, address) of the instruction: lists of lines, the one that goes next at the end."""
    caches = [([[] for _ in range(size // (ways * line))], ways, line, policy) for size, ways, line, policy in levels]
    counts = collections.defaultdict(lambda: [0] * (1 + len(levels)))
    first = levels[0][2]
    for index, pc, _, address, size in accesses(steps):
        place = index // every, pc
        for at in range(address // first * first, address + size, first):
            counts[place][0] += 1
            for number, (sets, ways, line, policy) in enumerate(caches):
                ways_of = sets[at // line % len(sets)]
                hit = at // line in ways_of
                if hit and policy == "lru":
                    ways_of.remove(at // line)
                if not hit or policy == "lru":
                    ways_of.insert(0, at // line)
                del ways_of[ways:]
                if hit:
                    break
                counts[place][number + 1] += 1
    return counts


def test_cache(bench):
    "cache: the list by its source, around its size; the others as a second model has them"
    trace = bench.record("list")
    for level, misses in (("8K:128", NODES), ("4K:64", NODES * ROUNDS), ("8K:128:64:fifo", NODES), ("4K:64:64:fifo", NODES * ROUNDS),
                          ("8K:1", NODES), ("8K:64:128", NODES // 2)):
        row, = bench.tables("cache", trace, "-l", level)["level"]
        expect((row["loads"], row["load_misses"], row["stores"]) == (NODES * ROUNDS, misses, 0), level, row)
    row, = bench.tables("cache", trace, "-l", "4K:64:64:random")["level"]
    expect(NODES < row["load_misses"] < NODES * ROUNDS, row)  # chance keeps some of a loop that is too long
    for name, levels in (("matrix", [(1024, 2, 64, "lru"), (4096, 4, 128, "fifo")]), ("sort", [(64, 1, 16, "lru")]),
                         ("threads", [(4096, 2, 64, "lru"), (16384, 8, 64, "lru"), (65536, 4, 128, "fifo")])):
        trace = bench.record(name, *(["500"] if name == "threads" else []))
        options = [word for level in levels for word in ("-l", ":".join(map(str, level)))]
        wanted = collections.defaultdict(lambda: [0] * (1 + len(levels)))
        every, over_time = 700, []
        for thread, steps in streams(trace).items():
            rows = [[0] * (1 + len(levels)) for _ in range(-(-len(steps) // every))]
            for (row, pc), counts in simulate(steps, levels, every).items():
                wanted[pc] = [a + b for a, b in zip(wanted[pc], counts)]
                rows[row] = [a + b for a, b in zip(rows[row], counts)]
            over_time += [(thread, number * every, min(every, len(steps) - number * every), *row) for number, row in enumerate(rows)]
        tables = bench.tables("cache", trace, "--interval", str(every), *options)
        names = ["accesses"] + [f"misses_{i + 1}" for i in range(len(levels))]
        found = {row["pc"]: [row[word] for word in names] for row in tables["instruction"]}
        expect(found == wanted, name, {pc: (found.get(pc), wanted[pc]) for pc in wanted if found.get(pc) != wanted[pc]})
        found = [(row["thread"], row["start"], row["instructions"], *(row[word] for word in names)) for row in tables["interval"]]
        expect(found == over_time, name, "over time", found[:5], over_time[:5])
        for i, row in enumerate(tables["level"]):
            expect(row["load_misses"] + row["store_misses"] == sum(one[i + 1] for one in wanted.values()), name, row)
        expect(sum(row["misses_1"] for row in tables["function"]) == sum(one[1] for one in wanted.values()), name, "functions")


class Level:
    """Sets of lines, the one used last first; each with the mark of who fetched it ahead."""

    def __init__(self, size, ways, line):
        self.ways, self.line, self.sets = ways, line, [[] for _ in range(size // (ways * line))]

    def place(self, address):
        number = address // self.line
        return number, self.sets[number % len(self.sets)]

    def look(self, address, mark=None):
        """Whether it hits, and the mark that the line had."""
        number, ways = self.place(address)
        for at, (line, known) in enumerate(ways):
            if line == number:
                del ways[at]
                ways.insert(0, (number, None))
                return True, known
        ways.insert(0, (number, mark))
        del ways[self.ways:]
        return False, None

    def has(self, address):
        number, ways = self.place(address)
        return any(one[0] == number for one in ways)

    def drop(self, address):
        number, ways = self.place(address)
        had = len(ways)
        ways[:] = [one for one in ways if one[0] != number]
        return len(ways) < had


class Processor:
    """Caches, TLBs and prefetchers of a thread, by doc/formats/xtrace.md."""

    def __init__(self, counts, totals, levels, llc=None, icache=None, itlb=None, dtlb=None, stlb=None, page=4096, ahead=()):
        self.own = [Level(*one) for one in levels]
        self.levels = self.own + ([llc] if llc else [])
        self.icache = Level(*icache) if icache else None
        self.tlbs = {name: Level(entries * page, ways, page)
                     for name, (entries, ways) in (("ITLB", itlb or (0, 1)), ("DTLB", dtlb or (0, 1)), ("STLB", stlb or (0, 1))) if entries}
        self.page, self.ahead, self.strides, self.counts, self.totals = page, dict(ahead), {}, counts, totals

    def translate(self, tlb, pc, address):
        if tlb not in self.tlbs:
            return
        self.totals[tlb, "lookups"] += 1
        if self.tlbs[tlb].look(address)[0]:
            return
        self.totals[tlb, "misses"] += 1
        self.counts[pc][tlb.lower() + "_misses"] += 1
        if "STLB" in self.tlbs:
            self.totals["STLB", "lookups"] += 1
            if self.tlbs["STLB"].look(address)[0]:
                return
            self.totals["STLB", "misses"] += 1
        self.counts[pc]["page_walks"] += 1

    def fetch(self, pc):
        self.translate("ITLB", pc, pc)
        if not self.icache:
            return
        self.totals["L1I", "fetches"] += 1
        if self.icache.look(pc)[0]:
            return
        self.totals["L1I", "fetch_misses"] += 1
        self.counts[pc]["fetch_misses"] += 1
        for number, level in enumerate(self.levels[1:], 2):
            self.totals[number, "fetches"] += 1
            if level.look(pc)[0]:
                return
            self.totals[number, "fetch_misses"] += 1

    def bring(self, who, start, address):
        if start // self.page != address // self.page or self.levels[0].has(address):
            return
        self.totals[who, "issued"] += 1
        self.brought(address)
        self.levels[0].look(address, who)
        for level in self.levels[1:]:
            if level.look(address)[0]:
                return
        self.totals[who, "from_memory"] += 1

    def brought(self, address):
        """For who keeps copies in order."""

    def access(self, pc, kind, address, size):
        for page in range(address // self.page, (address + size - 1) // self.page + 1):
            self.translate("DTLB", pc, page * self.page)
        line = self.levels[0].line
        for at in range(address // line * line, address + size, line):
            self.counts[pc]["accesses"] += 1
            hit, mark = self.levels[0].look(at)
            if mark:
                self.totals[mark, "useful"] += 1
            if not hit:
                self.counts[pc]["misses_1"] += 1
                for number, level in enumerate(self.levels[1:], 2):
                    if level.look(at)[0]:
                        break
                    self.counts[pc][f"misses_{number}"] += 1
            if not hit or mark:
                for i in range(self.ahead.get("next-line", 0)):
                    self.bring("next-line", at, at + (i + 1) * line)
        if "stride" in self.ahead:
            known, last, before = self.strides.get(pc // 4 % 256, (None, 0, 0))
            distance = address - last if known == pc else 0
            self.strides[pc // 4 % 256] = pc, address, distance
            if distance and distance == before:
                for i in range(self.ahead["stride"]):
                    self.bring("stride", address, address + (i + 1) * distance)


def words_of(levels, **more):
    """The options of such a processor."""
    out = [word for level in levels for word in ("-l", ":".join(map(str, level)))]
    for name in ("icache", "llc", "itlb", "dtlb", "stlb"):
        if more.get(name):
            out += ["--" + name, ":".join(map(str, more[name]))]
    out += ["--page", str(more["page"])] if "page" in more else []
    for name, degree in more.get("ahead", ()):
        out += ["--prefetch", f"{name}:{degree}"]
    return out


def compare_caches(name, tables, counts, totals):
    """Each column that is told of each instruction; what is told of levels, TLBs and prefetchers."""
    for row in tables["instruction"]:
        told = {word: n for word, n in row.items() if word.endswith(("misses", "walks", "sharing", "accesses", "invalidations")) or
                word.startswith("misses_")}
        expect(told == {word: counts[row["pc"]][word] for word in told}, name, hex(row["pc"]), told, counts[row["pc"]])
    pcs = {row["pc"] for row in tables["instruction"]}
    expect(all(pc in pcs or not any(one.values()) for pc, one in counts.items()), name, "places are missing")
    rows = {(row["tlb"], word): row[word] for row in tables["tlb"] for word in ("lookups", "misses")}
    rows.update({(row["prefetcher"], word): row[word] for row in tables["prefetch"] for word in ("issued", "useful", "from_memory")})
    for row in tables["level"]:
        key = "L1I" if row["cache"] == "L1I" else row["level"]
        if row.get("fetches") is not None:
            rows.update({(key, word): row[word] for word in ("fetches", "fetch_misses")})
        if key != "L1I":
            expect(row["load_misses"] + row["store_misses"] == sum(one[f"misses_{key}"] for one in counts.values()), name, row)
    expect(rows == {key: totals[key] for key in rows} and all(key in rows for key in totals), name, rows, totals)


def test_instructions_tlbs_prefetchers(bench):
    "cache: an instruction cache, TLBs of several page sizes, and prefetchers, as a second model has them"
    cases = [
        ([(512, 2, 64)], {"icache": (128, 1, 64)}),
        ([(1024, 2, 64), (2048, 4, 64)], {"icache": (256, 2, 32), "itlb": (2, 2), "dtlb": (4, 2), "stlb": (8, 4)}),
        ([(1024, 2, 32), (8192, 4, 64)], {"dtlb": (2, 1), "page": 65536}),
        ([(1024, 2, 64), (4096, 4, 64)], {"ahead": [("next-line", 1)]}),
        ([(1024, 4, 64)], {"ahead": [("stride", 2)], "itlb": (1, 1)}),
        ([(2048, 4, 64), (4096, 4, 128)], {"ahead": [("next-line", 2), ("stride", 3)], "icache": (512, 4, 64)}),
    ]
    for name in ("matrix", "list", "sort", "threads"):
        trace = bench.record(name, *(["200"] if name == "threads" else []))
        threads = [(steps, collections.defaultdict(list)) for steps in streams(trace).values()]
        for steps, at in threads:
            for index, *one in accesses(steps):
                at[index].append(one)
        for levels, more in cases:
            counts, totals = collections.defaultdict(collections.Counter), collections.Counter()
            for steps, at in threads:
                processor = Processor(counts, totals, levels, **more)
                for index, (pc, _, _) in enumerate(steps):
                    processor.fetch(pc)
                    for one in at.get(index, ()):
                        processor.access(*one)
            compare_caches((name, levels, more), bench.tables("cache", trace, *words_of(levels, **more)), counts, totals)
    # By the source: the nodes of the list are lines that do not follow each other; the matrix goes on line by line.
    tables = bench.tables("cache", bench.record("matrix"), "-l", "8K:128", "--prefetch", "next-line")
    lines = 3 * N * N * 8 // 64
    expect(tables["level"][0]["load_misses"] + tables["level"][0]["store_misses"] < lines / 4, tables["level"])


def random_threads(directory, count, timed):
    """Threads that access a few lines by chance, in an order by chance; their loops have instructions at two places."""
    chance, tokens, time = random.Random(37), [b""] * count, 0
    directory.mkdir()
    opcodes = (0xB9400021, 0xF9400021, 0x3DC00021), (0xB9000021, 0xF9000021, 0x3D800021)  # ldr, str w1, x1, q1, [x1]
    for _ in range(4000):
        lane, store, kind = chance.randrange(count), chance.randrange(3) == 0, chance.randrange(3)
        address = 0x10000 + 64 * chance.randrange(12) + chance.choice((0, 8, 16, 40, 56)) + 4096 * chance.randrange(3)
        time += 1
        tokens[lane] += xtrace.pcinst(0x400000 + 0x1000 * chance.randrange(3) + 64 * store + 16 * kind, opcodes[store][kind])
        tokens[lane] += xtrace.access(store, address, bytes(4 << kind)) + (xtrace.time(time) if timed else b"")
        tokens[lane] += xtrace.inst(0xD61F0040)  # br x2
    for lane, data in enumerate(tokens):
        (directory / f"xtrace.1.{100 + lane}.hint9.xinsndata.bin").write_bytes(data)
    return directory


def check_shared(bench, trace):
    """Returns how many misses were of sharing, and falsely."""
    order, threads, misses = [], streams(trace), ()
    for lane, steps in enumerate(threads.values()):
        last, at = 0, collections.defaultdict(list)
        for index, *one in accesses(steps):
            at[index].append(one)
        for index, (pc, _, tokens) in enumerate(steps):
            last = max(last, next((token[1] for token in tokens if token[0] == "time"), 0)) if at[index] else last
            order.append((last, index, lane, pc, at[index]))
    order.sort(key=lambda one: one[:3])
    for levels, more in (([(1024, 2, 64), (4096, 4, 64)], {"llc": (16384, 4, 64)}),
                         ([(4096, 4, 128)], {"llc": (65536, 8, 128), "icache": (1024, 2, 64), "ahead": [("next-line", 1)]}),
                         ([(2048, 4, 32)], {"llc": (8192, 4, 32), "dtlb": (8, 8), "ahead": [("stride", 1)]})):
        counts, totals, lines = collections.defaultdict(collections.Counter), collections.Counter(), collections.defaultdict(collections.Counter)
        llc, size, stolen = Level(*more["llc"]), more["llc"][2], {}
        processors = []
        for lane in range(len(threads)):
            processors.append(Processor(counts, totals, levels, **{**more, "llc": llc}))
            processors[-1].brought = lambda address, lane=lane: stolen.pop((lane, address // size), None)
        for _, _, lane, pc, made in order:
            processors[lane].fetch(pc)
            for _, kind, address, length in made:
                for line in range(address // size, (address + length - 1) // size + 1):
                    touched = set(range(max(address, line * size), min(address + length, (line + 1) * size)))
                    if (lane, line) in stolen:
                        falsely = not touched & stolen.pop((lane, line))
                        counts[pc]["sharing_misses"] += 1
                        counts[pc]["false_sharing"] += falsely
                        lines[line * size]["sharing_misses"] += 1
                        lines[line * size]["false_sharing"] += falsely
                    for other in range(len(threads)) if kind == "store" else ():
                        if other == lane:
                            continue
                        if any([level.drop(line * size) for level in processors[other].own]):
                            stolen[other, line] = set()
                            counts[pc]["invalidations"] += 1
                            lines[line * size]["invalidations"] += 1
                        if (other, line) in stolen:
                            stolen[other, line] |= touched if size <= 64 else {byte - byte % (size // 64) + i for byte in touched
                                                                              for i in range(size // 64)}
                processors[lane].access(pc, kind, address, length)
        tables = bench.tables("cache", trace, *words_of(levels, **more))
        compare_caches((levels, more), tables, counts, totals)
        found = {row["address"]: {word: row[word] for word in ("invalidations", "sharing_misses", "false_sharing")} for row in tables["line"]}
        wanted = {at: {word: one[word] for word in ("invalidations", "sharing_misses", "false_sharing")} for at, one in lines.items() if
                  one["invalidations"]}
        expect(found == wanted, levels, found, wanted)
        for word in ("invalidations", "sharing_misses", "false_sharing"):
            expect(sum(row[word] for row in tables["function"]) == sum(one[word] for one in lines.values()), word, "by function")
        expect(tables["level"][-1]["cache"] == "LLC", tables["level"])
        misses += sum(one["sharing_misses"] - one["false_sharing"] for one in lines.values()), sum(one["false_sharing"] for one in lines.values())
    return misses


def test_shared_cache(bench):
    "cache: a level that threads share, and the copies that stores take, as a second model has them"
    check_shared(bench, bench.record("threads", "200"))
    for count, timed in ((3, True), (2, True), (3, False)):
        truly, falsely, *more = check_shared(bench, random_threads(bench.directory / f"random-{count}-{timed}", count, timed))
        expect(truly > 100 and falsely > 100, truly, falsely, more)


def chosen(bench, name, trace):
    """Options of ranges, and which instructions they choose: (number, pc)."""
    steps = next(iter(streams(trace).values()))
    middle, top = sorted(pc for pc, _, _ in steps)[len(steps) // 2], max(pc for pc, _, _ in steps)
    yield ("--from-insn", "0"), lambda i, pc: True
    yield ("--from-insn", "1000", "--to-insn", "2501"), lambda i, pc: 1000 <= i < 2501
    yield ("--to-insn", "1"), lambda i, pc: i < 1
    yield ("--from-address", hex(middle)), lambda i, pc: pc >= middle
    yield ("--to-address", hex(top), "--from-insn", "77"), lambda i, pc: pc < top and i >= 77
    if name == "sort":
        start = symbols(bench.program(name))["insert"]
        yield ("--function", hex(start)), lambda i, pc: start <= pc
        yield ("--function", "0x*", "--from-address", hex(start + 4)), lambda i, pc: start + 4 <= pc


def test_ranges(bench):
    "all of them: of ranges what a second count has of just these instructions"
    levels = [(512, 2, 64, "lru")]
    for name in ("matrix", "sort", "threads"):
        trace = bench.record(name, *(["500"] if name == "threads" else []))
        for options, keeps in chosen(bench, name, trace):
            kept = {thread: [step for i, step in enumerate(steps) if keeps(i, step[0])] for thread, steps in streams(trace).items()}
            whole = [step for steps in kept.values() for step in steps]
            rows = bench.tables("insns", trace, *options)
            expect(rows["level"][0]["count"] == len(whole), name, options, rows["level"], len(whole))
            expect(sum(row["count"] for row in rows["mnemonic"]) == len(whole) == sum(row["count"] for row in rows["function"]), name, options)
            total, = bench.tables("mem", trace, *options)["total"]
            made = [one for steps in kept.values() for one in accesses(steps)]
            count = collections.Counter(one[2] for one in made)
            expect((total["loads"], total["stores"]) == (count["load"], count["store"]), name, options, total, count)
            expect(total["lines"] == len({line for *_, address, size in made for line in lines_of(address, size)}), name, options, total)
            entries, instructions = collections.Counter(), collections.Counter()
            misses = collections.defaultdict(lambda: [0, 0])
            for steps in kept.values():
                one, two = blocks_of(steps)
                entries += one
                instructions += two
                for (_, pc), counts in simulate(steps, levels).items():
                    misses[pc] = [a + b for a, b in zip(misses[pc], counts)]
            rows = bench.tables("blocks", trace, *options)["block"]
            expect({row["pc"]: row["executed"] for row in rows} == entries, name, options, "blocks")
            expect({row["pc"]: row["instructions"] for row in rows} == instructions, name, options, "blocks")
            rows = bench.tables("cache", trace, "-l", "512:2", *options)["instruction"]
            expect({row["pc"]: [row["accesses"], row["misses_1"]] for row in rows} == misses, name, options, "cache")
            rows = bench.tables("cache", trace, "-l", "512:2", "--llc", "1M:8", "--icache", "1K:2", *options)["level"]
            expect(rows[0]["fetches"] == len(whole), name, options, rows)
            tree = bench.tables("calls", trace, *options)["tree"]
            told = bench.tables("insns", trace, *options)["function"]
            named = {row["function"]: row["count"] for row in told if row["function"] != "(unknown)"}
            own = collections.Counter()
            for row in tree:
                own[row["function"]] += row["self"]
            if name != "threads":  # where a place may be of two functions
                expect({one: n for one, n in own.items() if n} == named, name, options, own, named)
            vectors = bench.tables("phases", trace, "--interval", "300", *options)["interval"]
            expect(sum(row["instructions"] for row in vectors) == len(whole), name, options, "phases")
    count = MOVES + WORDS - 1
    row, = bench.tables("mem", bench.record("sort"), "--function", hex(symbols(bench.program("sort"))["insert"]))["total"]
    expect((row["loads"], row["stores"]) == (count, count), row)


def test_cut_ranges(bench):
    "cut: a part by functions, addresses and numbers has just these instructions with what they access; stat and check read it"
    for name in ("sort", "matrix", "threads"):
        trace = bench.record(name, *(["500"] if name == "threads" else []))
        for number, (options, keeps) in enumerate(chosen(bench, name, trace)):
            words = [{"--from-insn": "--from-time", "--to-insn": "--to-time"}.get(word, word) for word in options]
            if not {"--function", "--from-address", "--to-address"} & set(words):
                continue  # those begin at snapshots
            part = bench.directory / f"part-{name}-{number}"
            done = subprocess.run([bench.tool, "cut", *words, trace, "-o", part], capture_output=True, text=True, check=False)
            expect(done.returncode == 0 and not done.stderr, name, options, done.stderr)
            made = streams(part)
            for thread, steps in streams(trace).items():
                wanted = [step for i, step in enumerate(steps) if keeps(i, step[0])]
                expect(made[thread] == wanted, name, options, thread, len(made[thread]), len(wanted))
            done = subprocess.run([bench.tool, "check", part], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, name, options, done.stdout, done.stderr)


def test_tool(bench):
    "insns --tool: the example counts what a second count has, over all threads, in ranges, whatever --jobs"
    source = pathlib.Path(__file__).resolve().parent.parent.parent
    tool = bench.directory / "unaligned.so"
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", source / "include",
                    source / "examples/unaligned.c", "-o", tool], check=True)
    odd = random_threads(bench.directory / "odd", 3, True)
    for path in odd.iterdir():  # one byte further
        data = path.read_bytes()
        path.write_bytes(data.replace(bytes([0x32]) + (0x10008).to_bytes(8, "little"), bytes([0x32]) + (0x10009).to_bytes(8, "little")))
    found = []
    for trace in (bench.record("matrix"), bench.record("threads", "500"), odd):
        for options, first in ((), 0), (("--from-insn", "1001"), 1001):
            wanted = collections.Counter(size for steps in streams(trace).values() for _, _, _, address, size in accesses(steps[first:])
                                         if address % size and size < 65)
            for jobs in "1", "3":
                rows = bench.tables("insns", trace, "--tool", tool, "-j", jobs, *options)["unaligned"]
                expect({row["size"]: row["count"] for row in rows} == wanted, trace.name, options, rows, wanted)
            found.append(wanted)
    expect(found[-1][16] > 100, found)


def test_tool_words(bench):
    "insns --tool: a tool that refuses is told as that, and rows beyond the limit of memory"
    source, text = pathlib.Path(__file__).resolve().parent.parent.parent, bench.directory / "refuses.c"
    trace = bench.record("threads", "500")
    text.write_text("""#include <stdlib.h>
#include <trackway/study.h>
static void *begin(uint64_t thread) { return thread ? malloc(1) : NULL; }
static int take(void *one, const struct tw_study_step *steps, size_t count) { (void)one; (void)steps; return count && AT == 1; }
static int merge(void *all, const void *one) { (void)all; (void)one; return AT == 2; }
static int rows(void *all, tw_study_put_fn put, void *context)
{
	const struct tw_study_cell cells[] = {{1, 0, NULL}, {0, 0, "a text that takes some memory, too"}};
	(void)all;
	for (int i = 0; i < ROWS; i++)
		put(context, cells);
	return AT == 3;
}
static const struct tw_study_column columns[] = {{"number", "NUMBER", TW_STUDY_COUNT}, {"text", "TEXT", TW_STUDY_TEXT}};
const struct tw_study_tool tw_study_tool = {TW_STUDY_TOOL_VERSION, "picky", "Picky", columns, 2, begin, take, merge, rows, free};
""")
    for at, rows, says in ((1, 1, 'the tool "picky" refused instructions'), (2, 1, 'the tool "picky" refused to merge threads'),
                           (3, 1, 'the tool "picky" refused to give its rows'), (0, 1 << 20, "items left out: beyond the memory limit")):
        tool = bench.directory / f"refuses{at}.so"
        subprocess.run(["cc", "-shared", "-fPIC", f"-DAT={at}", f"-DROWS={rows}", "-I", source / "include", text, "-o", tool],
                       check=True)
        for jobs in "1", "3":
            done = subprocess.run([bench.tool, "insns", "--json", "--all", "--tool", tool, "-j", jobs, "--memory", "16M", trace],
                                  capture_output=True, text=True, check=False)
            expect(done.returncode == (2 if at else 0) and done.stderr.count("\n") == 1 and says in done.stderr, at, done.returncode, done.stderr)
        left = re.search(r"([0-9,]+) items left out", done.stderr)
        expect(at or int(left[1].replace(",", "")) + done.stdout.count("\n") == rows and done.stdout.count("\n") > 1000, left)


def test_syscalls(bench):
    "syscalls: names, results and errors as QEMU's own strace has them; texts as the source says"
    program, trace = bench.program("calls"), bench.record("calls")
    log = subprocess.run(["qemu-aarch64", "-strace", program], capture_output=True, text=True, check=True).stderr
    wanted = []
    for line in log.splitlines():
        line = re.sub(r"Unknown syscall 293", "rseq() = -1 errno=38", line)
        match = re.match(r"\d+ (\w+)\(.*?\)(?: = (?:-1 errno=(\d+)|(0x[0-9a-f]+|-?\d+)))?( \(.*)?$", line)
        name, error, result, _ = match.groups()
        wanted.append((name, -int(error) if error else int(result, 0) if result else None))
    tables = bench.tables("syscalls", trace)
    found = [(row["name"], int(row["result"]) if row["result"] else None) for row in tables["event"]]
    process = dict(wanted)["set_tid_address"]
    wanted = [(name, found[i][1] if result == process else result) for i, (name, result) in enumerate(wanted)]
    expect(found == wanted, found, "wanted", wanted)
    counts = {row["name"]: (row["calls"], row["errors"], row["error_names"]) for row in tables["call"]}
    expect(counts["close"] == (3, 3, "EBADF (3)") and counts["openat"] == (2, 1, "ENOENT (1)"), counts)
    texts = [row["text"] for row in tables["event"]]
    for text in (r"openat\(AT_FDCWD, 0x\w+, O_RDWR\|O_CLOEXEC, 0\) = 3",
                 r"openat\(AT_FDCWD, 0x\w+, O_WRONLY\|O_CREAT\|O_TRUNC, 0644\) = -1 ENOENT \(No such file or directory\)",
                 r"mmap\(NULL, 65536, PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS, -1, 0\) = 0x\w+",
                 r"close\(-1\) = -1 EBADF \(Bad file descriptor\)",
                 r"writev\(3, \[{iov_base=0x\w+, iov_len=1}, {iov_base=0x\w+, iov_len=2}, \.\.\.\], 3\) = 3",
                 r"lseek\(3, -5, 0\) = .*", r"exit_group\(0\) = \?",
                 r"mprotect\(0x\w+, 4096, PROT_READ\|PROT_EXEC\) = -1 ENOMEM \(Cannot allocate memory\)"):
        expect(any(re.fullmatch(text, one) for one in texts), text, texts)


def test_calls(bench):
    "calls: the sort by its source; the stacks of the threads program as a second reading of calls and returns has them"
    rows = bench.tables("calls", bench.record("sort"))["tree"]
    inside = 2 * (WORDS - 1) + 8 * MOVES + 3 * (WORDS - 1)
    found = [(row["depth"], row["total"], row["self"], row["calls"]) for row in rows]
    expect(found == [(1, SORT, SORT - inside, 1), (2, inside, inside, WORDS - 1)], found)
    trace, wanted = bench.record("threads", "500"), collections.Counter()
    for steps in streams(trace).values():
        stack, before = [(None, steps[0][0])], None
        for pc, opcode, _ in steps:
            if before and (before[1] >> 26 == 0x25 or before[1] & 0xfffffc1f == 0xd63f0000):
                stack.append((before[0] + 4, pc))
            elif before and is_indirect(before[1]):
                backs = [back for back, _ in stack]
                if pc in backs:
                    del stack[len(backs) - 1 - backs[::-1].index(pc):]
            wanted[tuple(function for _, function in stack)] += 1
            before = pc, opcode
    found, path = {}, []
    tables = bench.tables("calls", trace)
    for row in tables["tree"]:
        path[row["depth"] - 1:] = [int(row["function"], 16)]
        found[tuple(path)] = row["self"]
    expect({stack: n for stack, n in found.items() if n} == wanted, "stacks differ", len(found), len(wanted))
    for row in tables["function"]:
        function = int(row["function"], 16)
        expect(row["total"] == sum(n for stack, n in wanted.items() if function in stack), row)
    out = bench.directory / "calls.svg"
    subprocess.run([bench.tool, "calls", trace, "-o", out], check=True)
    text = out.read_text()
    expect(f"{sum(wanted.values()):,} instructions" in text and xml.etree.ElementTree.fromstring(text.encode()) is not None, text[:500])


def vectors_of(steps, every):
    """Instructions by the first address of the block that they are executed in, for each interval."""
    found, start, before = [], None, None
    for i, (pc, opcode, _) in enumerate(steps):
        if before is None or is_branch(before[1]) or pc != before[0] + 4:
            start = pc
        if i % every == 0:
            found.append(collections.Counter())
        found[-1][start] += 1
        before = pc, opcode
    return found


def mix(x):
    """splitmix64, by its paper."""
    x = (x + 0x9e3779b97f4a7c15) % 2 ** 64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % 2 ** 64
    x = (x ^ x >> 27) * 0x94d049bb133111eb % 2 ** 64
    return x ^ x >> 31


def project(vector, known):
    """The shares of the blocks, each in a direction that its address chooses: 15 dimensions."""
    whole = sum(vector.values())
    for pc in vector:
        if pc not in known:
            known[pc] = [(mix(mix(pc) + d) >> 11) / 2 ** 52 - 1 for d in range(15)]
    return [sum(n / whole * known[pc][d] for pc, n in vector.items()) for d in range(15)]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def middle(points, weights):
    whole = sum(weights)
    return [sum(w * point[d] for point, w in zip(points, weights)) / whole for d in range(15)]


def score(points, weights, labels):
    """Bayesian information criterion of groups with one variance, as the SimPoint paper writes it, and the variance's floor."""
    groups = {label: [i for i, one in enumerate(labels) if one == label] for label in set(labels)}
    whole, k = sum(weights), len(groups)
    spread = 0
    for members in groups.values():
        center = middle([points[i] for i in members], [weights[i] for i in members])
        spread += sum(weights[i] * distance(points[i], center) for i in members)
    variance = max(spread / (whole - k), 1e-3)
    found = -(k - 1 + 15 * k + 1) / 2 * math.log(whole)
    for members in groups.values():
        own = sum(weights[i] for i in members)
        found += own * math.log(own / whole) - own / 2 * math.log(2 * math.pi) - own * 15 / 2 * math.log(variance) - (own - 1) / 2
    return found


def check_phases(bench, trace, every):
    """Vectors, labels, weights and the chosen intervals by a second count; returns the phases of the intervals, and the choice."""
    prefix = bench.directory / "saved"
    tables = bench.tables("phases", trace, "--interval", str(every), "--save", prefix)
    vectors, places = [], []
    for thread, steps in streams(trace).items():
        for number, vector in enumerate(vectors_of(steps, every)):
            vectors.append(vector)
            places.append((thread, number * every))
    expect([(row["thread"], row["start"]) for row in tables["interval"]] == places, "intervals")
    expect([row["instructions"] for row in tables["interval"]] == [sum(one.values()) for one in vectors], "instructions")
    lines = prefix.with_suffix(".bb").read_text().splitlines()
    expect(all(re.fullmatch(r"T(:[1-9]\d*:[1-9]\d* )+", line) for line in lines), lines[:3])
    numbers, next_number = {}, 1
    for line, vector in zip(lines, vectors):
        pairs = [tuple(map(int, pair)) for pair in re.findall(r":(\d+):(\d+)", line)]
        for pc, (number, _) in zip(vector, pairs):  # both in the order in which they are met
            next_number += pc not in numbers
            expect(numbers.setdefault(pc, number) == number < next_number, line)
        expect([(numbers[pc], n) for pc, n in vector.items()] == pairs, line, vector)
    expect(len(lines) == len(vectors), len(lines), len(vectors))
    known, labels = {}, [row["phase"] for row in tables["interval"]]
    points, weights = [project(vector, known) for vector in vectors], [sum(vector.values()) / every for vector in vectors]
    centers = {}
    for label in set(labels):
        members = [i for i, one in enumerate(labels) if one == label]
        centers[label] = middle([points[i] for i in members], [weights[i] for i in members])
    for point, label in zip(points, labels):
        expect(distance(point, centers[label]) <= 1e-9 + min(distance(point, one) for one in centers.values()), "not the nearest")
    expect(list(dict.fromkeys(labels)) == list(range(len(centers))), "phases by their first intervals", labels)
    rows = tables["phase"]
    for row in rows:
        members = [i for i, one in enumerate(labels) if one == row["phase"]]
        share = sum(weights[i] for i in members) / sum(weights)
        expect(row["intervals"] == len(members) and abs(row["weight"] - share) < 1e-6 and row["interval"] in members, row)
        nearest = min(distance(points[i], centers[row["phase"]]) for i in members)
        expect(distance(points[row["interval"]], centers[row["phase"]]) <= nearest + 1e-9, row)
    files = [[tuple(line.split(" ")) for line in prefix.with_suffix(suffix).read_text().splitlines()]
             for suffix in (".simpoints", ".weights")]
    expect(files[0] == [(str(row["interval"]), str(row["phase"])) for row in rows], files[0])
    expect(files[1] == [(f"{row['weight']:.6f}", str(row["phase"])) for row in rows], files[1])
    choice = [row["score"] for row in tables["choice"]]
    expect(len(rows) == 1 + next(i for i, one in enumerate(choice) if one >= 0.9), choice)
    ones = score(points, weights, [0] * len(points))
    expect((choice[0] == 0) == (score(points, weights, labels) > ones) or len(rows) == 1, choice, ones)
    return labels, choice


def test_phases(bench):
    "phases: three loops by their source; vectors, nearest middles and weights of others by a second count"
    trace = bench.record("phases")
    labels, choice = check_phases(bench, trace, 2000)
    whole = 2 + 4 * 30011 + 3
    expect(labels == [start // 10003 % 3 for start in range(1000, whole, 2000)] + [2], labels)
    expect(max(choice) == choice[2] == 1, choice)
    check_phases(bench, bench.record("threads", "500"), 3000)
    check_phases(bench, bench.record("calls"), 500)
    one, = bench.tables("phases", trace)["phase"]
    expect((one["weight"], one["instructions"]) == (1, whole), one)
    few = bench.tables("phases", trace, "--interval", "2000", "-k", "2")
    expect(len(few["choice"]) == 2 == len(few["phase"]), few["choice"])


def test_phases_of_many(bench):
    "phases: of 20,000 intervals each has its own phase, though a sample of them finds the phases"
    chance, path, kinds, phase = random.Random(11), bench.directory / "many.bb", [], 0
    shares = [[chance.random() ** 3 for _ in range(40)] for _ in range(20)]
    with open(path, "w", encoding="ascii") as out:
        for number in range(20000):
            phase = chance.randrange(20) if number % 60 == 0 else phase
            kinds.append(phase)
            counts = [int(2000 * one * (1 + 0.02 * chance.gauss(0, 1))) for one in shares[phase]]
            out.write("T" + "".join(f":{i}:{one} " for i, one in enumerate(counts, 1) if one > 0) + "\n")
    tables = bench.tables("phases", path)
    expect(len(tables["phase"]) == 20, [row["score"] for row in tables["choice"]])
    names = {}
    for row, kind in zip(tables["interval"], kinds):
        expect(names.setdefault(kind, row["phase"]) == row["phase"], row, kind)
    expect(sorted(names.values()) == list(range(20)) and len(tables["interval"]) == 20000, names)


def test_jobs(bench):
    "all of them: several threads, and one, give the same bytes"
    trace = bench.record("threads", "500")
    for command in COMMANDS:
        outs = [subprocess.run([bench.tool, command[0], "--json", "--all", *command[1:], "-j", jobs, trace], check=True,
                               capture_output=True).stdout for jobs in ("1", "2", "5")]
        expect(outs[0] and outs[0] == outs[1] == outs[2], command)


def test_threads(bench):
    "all of them: a thread alone is what it is in the set"
    trace = bench.record("threads", "500")
    for thread, steps in streams(trace).items():
        rows = bench.tables("insns", trace, "--thread", str(thread))["level"]
        expect(rows[0]["count"] == len(steps), thread, rows)


def test_words(bench):
    "what makes no sense is told"
    other = pathlib.Path(__file__).parent.parent / "data/fxt/oneshot_all.fxt"
    for command in COMMANDS:
        done = subprocess.run([bench.tool, command[0], other], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and "no instructions" in done.stderr, command, done.stderr)
    damaged = bench.directory / "damaged"
    shutil.copytree(bench.record("sort"), damaged)
    data = next(damaged.glob("*.xinsndata.bin"))
    whole = bytearray(data.read_bytes())
    whole[len(whole) // 2:len(whole) // 2 + 40] = b"\xff" * 40
    data.write_bytes(whole)
    for command in COMMANDS:
        done = subprocess.run([bench.tool, *command, "--json", damaged], capture_output=True, text=True, check=False)
        expect(done.returncode == 1 and "xtrace.unknown-token" in done.stderr, command, done.returncode, done.stderr)


COMMANDS = [("insns",), ("blocks",), ("branches",), ("mem", "--reuse"), ("cache",),
            ("cache", "--llc", "1M:16", "--icache", "32K:4", "--dtlb", "48:48", "--prefetch", "stride"), ("syscalls",), ("calls",),
            ("phases", "--interval", "2000")]


if __name__ == "__main__":
    sys.exit(main(globals(), lambda arguments, directory: Bench(arguments.tool, directory)))
