#!/usr/bin/python3
# xtrace_tests.py - the tool against sets of an independent writer. Prints TAP.
# SPDX-License-Identifier: Apache-2.0
"""Usage: xtrace_tests.py --tool TRACKWAY"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Bench:
    """A directory, the writer and the tool."""

    def __init__(self, tool, directory):
        self.tool, self.directory, self.count = tool, directory, 0

    def write(self, *options):
        """Writes a set; gives its directory and its facts."""
        self.count += 1
        path = self.directory / str(self.count)
        out = subprocess.run([sys.executable, HERE / "xtrace.py", *map(str, options), path], check=True,
                             capture_output=True, text=True).stdout
        return path, json.loads(out)

    def run(self, *arguments, status=0, **more):
        done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True, **more)
        assert done.returncode == status, (arguments, done.returncode, done.stdout[-500:], done.stderr[-500:])
        return done.stdout

    def lines(self, *arguments, **more):
        return [json.loads(line) for line in self.run(*arguments, "--json", **more).splitlines()]


def data_of(path):
    return sorted(path.glob("*.xinsndata.bin"))


def snapshots_of(path):
    return sorted(path.glob("*.xsnapshot.bin"))


@test
def every_layout_is_found_in_the_files(bench):
    """Header, vector length, matrix, index and start of the data, each with each."""
    for header, bits, more in itertools.product((0, 19, 20, 24, 32), (128, 256, 512, 1024, 2048),
                                                (["--no-za"], ["--index", "count", "--start", 24], ["--order"])):
        path, facts = bench.write("--header", header, "--bits", bits, "--turns", 40, *more)
        info, = bench.lines("info", path)
        where = header, bits, more
        assert info["kinds"] == facts["kinds"], (where, info["kinds"], facts["kinds"])
        assert info["vector_bits"] == bits and info["lost_bytes"] == 0 and info["version"] == (header > 0), where
        assert [finding["rule"] for finding in bench.lines("check", path)] == [], where


@test
def info_counts_what_the_writer_wrote(bench):
    path, facts = bench.write("--threads", 3, "--kernel", "--order", "--turns", 1000)
    info, = bench.lines("info", path)
    assert info["kinds"] == facts["kinds"]
    assert info["files"] == 6 and info["threads"] == 3 and info["stream"] == 1 and info["has_order"] == 1
    for name in ("instructions", "user_instructions"):
        assert info[name] == facts[name]
    assert info["kernel_instructions"] == facts["instructions"] - facts["user_instructions"] > 0
    assert info["first_time"] == 1 and info["last_time"] == facts["kinds"]["time"]
    size = sum(file.stat().st_size for file in data_of(path))
    assert abs(info["bytes_per_instruction"] - size / facts["instructions"]) < 0.01
    assert sum(thread["records"] for thread in info["thread_list"]) == sum(facts["kinds"].values())


@test
def a_set_is_opened_by_any_of_its_files(bench):
    path, facts = bench.write("--threads", 2)
    for file in path.iterdir():
        info, = bench.lines("info", file)
        assert info["kinds"] == facts["kinds"], file


@test
def sets_of_two_times_stay_apart(bench):
    path, facts = bench.write()
    subprocess.run([sys.executable, HERE / "xtrace.py", "--timestamp", "17", "--turns", "7", path], check=True,
                   capture_output=True)
    info, = bench.lines("info", path / "xtrace.1718000000.100.hint9.xinsndata.bin")
    assert info["kinds"] == facts["kinds"]
    bench.run("info", path, status=2)


@test
def files_without_names_are_read_too(bench):
    path, facts = bench.write("--turns", 100)
    data, = data_of(path)
    snapshots, = snapshots_of(path)
    with open(data, "rb") as stream:
        info, = bench.lines("info", "-", stdin=stream)
    assert {**info["kinds"], "snapshot": facts["kinds"]["snapshot"]} == facts["kinds"]
    renamed = path / "other"
    snapshots.rename(renamed)
    info, = bench.lines("info", "--from", "xtrace", renamed)
    assert info["kinds"] == {"snapshot": facts["kinds"]["snapshot"]}


@test
def compressed_files_are_a_set_too(bench):
    path, facts = bench.write("--turns", 3000)
    for file in [*data_of(path), *snapshots_of(path)]:
        subprocess.run(["gzip", file], check=True)
    info, = bench.lines("info", path)
    assert info["kinds"] == facts["kinds"]


@test
def a_layout_can_be_told(bench):
    path, facts = bench.write("--header", 20)
    told = "header=20,za=yes,bits=128,index=offset,start=0"
    info, = bench.lines("info", "--xtrace-layout", told, path)
    assert info["kinds"] == facts["kinds"]
    found = bench.lines("info", "--xtrace-layout", "bits=256", path, status=1)[0]
    assert found["kinds"].get("snapshot") is None and found["errors"] == 1
    bench.run("info", "--xtrace-layout", "header=21", path, status=2)


def rules(bench, path, status=1):
    """What check finds, as (rule, offset) in their order."""
    return [(finding["rule"], finding["record"]) for finding in bench.lines("check", "--all", path, status=status)]


SNAPSHOT = 1424  # bytes, with vectors of 128 bits


@test
def damaged_snapshots_cost_only_themselves(bench):
    """Each damage, and what is told of it; the others are counted."""
    for damage, expected, left in (
            (lambda data: data[:-7], [("xtrace.snapshot-cut", 24 + 3 * SNAPSHOT)], 3),
            (lambda data: data[:24 + 2 * SNAPSHOT - 8] + b"\x7f" + data[24 + 2 * SNAPSHOT - 7:],
             [("xtrace.snapshot-length", 24 + SNAPSHOT)], 3),
            (lambda data: data[:24 + SNAPSHOT + 16] + bytes(16) + data[24 + SNAPSHOT + 32:],
             [("xtrace.snapshot-order", 24 + SNAPSHOT)], 3),
            (lambda data: data[:24 + 2 * SNAPSHOT + 5] + data[24 + 2 * SNAPSHOT + 8:],
             [("xtrace.snapshot-length", 24 + 2 * SNAPSHOT)], 3),
            (lambda data: data[:24 + SNAPSHOT] + b"garbage" + data[24 + SNAPSHOT:],
             [("xtrace.snapshot-length", 24 + SNAPSHOT)], 4),
            (lambda data: bytes(len(data)), [("xtrace.snapshot-layout", 0)], 0)):
        path, facts = bench.write()
        file, = snapshots_of(path)
        assert facts["kinds"]["snapshot"] == 4
        file.write_bytes(damage(file.read_bytes()))
        found = rules(bench, path)
        assert [each for each in found if each in expected] == expected, (found, expected)
        info, = bench.lines("info", path, status=1)
        assert info["snapshots"] == left, (info, left)


@test
def damaged_compression_is_told(bench):
    path, _ = bench.write("--turns", 3000)
    for file in [*data_of(path), *snapshots_of(path)]:
        subprocess.run(["gzip", file], check=True)
        packed = pathlib.Path(f"{file}.gz")
        packed.write_bytes(packed.read_bytes()[:-1000])
    assert [rule for rule, _ in rules(bench, path)].count("xtrace.compression") == 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    options = parser.parse_args()
    print("TAP version 13")
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, function in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as directory:
            try:
                function(Bench(options.tool, pathlib.Path(directory)))
                outcome = "ok"
            except (AssertionError, subprocess.CalledProcessError, ValueError) as error:
                outcome, failed = "not ok", failed + 1
                print("#", repr(error)[:1500])
        print(outcome, number, "-", function.__name__.replace("_", " "), flush=True)
    sys.exit(failed > 0)


main()
