#!/usr/bin/python3
"""simpoint_tests - SimPoint's way, whole: a program's cycles out of a few of its intervals. Prints TAP.

Truth is the whole program, streamed through a model of a processor that stores nothing: cycles.c, a plugin of QEMU. The slices run
through the same model.
"""
# SPDX-License-Identifier: Apache-2.0

import json
import subprocess
import sys

from aarch64 import SOURCES, compile_program, expect, main

INTERVAL, WARM_UP, MOST = 1000000, 200000, 12
ROUND = 85000000  # instructions of a round of long.c, at the least


class Bench:
    def __init__(self, arguments, directory):
        self.tool, self.directory, self.rounds = arguments.tool, directory, arguments.rounds
        self.program = compile_program(directory, "long")
        self.model = directory / "cycles.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", SOURCES.parent.parent.parent / "src", SOURCES / "cycles.c", "-o",
                        self.model], check=True)

    def run(self, *words):
        return subprocess.run([self.tool, *words], check=True, capture_output=True, text=True).stdout

    def record(self, out, *options):
        self.run("record", "--to", "xtrace", *options, "-o", out, "--", self.program, str(self.rounds))
        return out

    def cycles(self, words, *options):
        """Instructions and cycles of a program in the model, and how many blocks QEMU translated."""
        out = self.directory / "cycles"
        done = subprocess.run(["qemu-aarch64", "-plugin", ",".join([str(self.model), f"out={out}", *options]), *words], check=False,
                              capture_output=True, text=True)
        expect(done.returncode == 0, words, done.returncode, done.stderr)
        return map(int, out.read_text().split())


def rows_of(path):
    heading, *lines = path.read_text().splitlines()
    return [dict(zip(heading.lstrip("#").split("\t"), line.split("\t"))) for line in lines]


def test_cycles(bench):
    "record --bbv, phases, record --windows, slice --windows: cycles of slices, weighted, are those of the whole within 10 %"
    prefix, slices = bench.directory / "long-points", bench.directory / "slices"
    whole, whole_cycles, _ = bench.cycles([bench.program, str(bench.rounds)])
    expect(whole > bench.rounds * ROUND, whole, "instructions")
    vectors = bench.record(bench.directory / "vectors", "--bbv", "--interval", str(INTERVAL))
    rows = [json.loads(line) for line in bench.run("phases", "--json", "--all", "-k", str(MOST), "--save", prefix, vectors).splitlines()]
    counted = sum(row["instructions"] for row in rows if row["table"] == "interval")
    # glibc begins in another way where the environment is another
    expect(abs(counted - whole) < 20000, counted, "instructions in vectors, not", whole)
    trace = bench.record(bench.directory / "trace", "--windows", f"{prefix}.windows", "--warm-up", str(WARM_UP))
    bench.run("slice", "--windows", trace, "-o", slices)
    found = []
    for row in rows_of(slices / "windows.tsv"):
        stubs = [f"stub={one}" for one in row["stubs"].split(",")]
        count, cycles, translated = bench.cycles([slices / row["program"]], "hint=on", *stubs)
        # and the branch that ends it
        expect(INTERVAL <= count <= INTERVAL + 1, count, "instructions of the model in", row)
        expect(translated < INTERVAL / 200, translated, "translations: it writes beside what it executes")
        found.append((float(row["weight"]), cycles / count))
    estimate, truth = sum(weight * cpi for weight, cpi in found), whole_cycles / whole
    print(f"# {whole} instructions, {len(found)} slices of {INTERVAL}: {estimate:.4f} cycles each, of the whole {truth:.4f}, "
          f"{100 * (estimate / truth - 1):+.2f} %", flush=True)
    expect(abs(sum(weight for weight, _ in found) - 1) < 1e-4 and 5 <= len(found) <= MOST, found)
    expect(max(cpi for _, cpi in found) > 2 * min(cpi for _, cpi in found), "phases are alike:", found)
    expect(abs(estimate / truth - 1) < 0.1, estimate, "cycles an instruction, not", truth)


if __name__ == "__main__":
    sys.exit(main(globals(), Bench, rounds={"type": int, "default": 12, "help": "of long.c: 87 million instructions each (12)"}))
