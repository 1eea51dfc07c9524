#!/usr/bin/python3
"""clickhouse_tests - traces as tables of ClickHouse: blocks against a second reader of the format, and Debian's
clickhouse-server, which is started on loopback for the time of the tests. Prints TAP.

Without the server what needs it is skipped, and fails where CI is set."""
# SPDX-License-Identifier: Apache-2.0

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import clickhouse
import clickhouse_native

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data"
BILLION = 10**9


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(holds, *what):
    if not holds:
        raise Failed(" ".join(str(part) for part in what)[:2000])


class Run:
    """A directory, the tool in it, and a server that all tests share."""

    def __init__(self, tool, folder, servers):
        self.tool, self.folder, self.servers = tool, pathlib.Path(folder), servers

    def run(self, *words, stdin=None, status=(0, 1), **more):
        done = subprocess.run([self.tool, *map(str, words)], cwd=self.folder, stdin=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **more)
        expect(done.returncode in status, words, "ended with", done.returncode, done.stderr.decode())
        return done

    def blocks(self, path):
        return self.run("convert", "--to", "clickhouse", "-o", "-", path).stdout

    def server(self):
        if not clickhouse.is_there():
            raise Failed("no clickhouse-server") if os.environ.get("CI") else Skipped("no clickhouse-server")
        if not self.servers:
            self.servers.append(clickhouse.Server(tempfile.mkdtemp()).start())
        return self.servers[0]

    def stat(self, path):
        """(calls, total, self) of each function, by the tool's own sums; of samples their self counts."""
        calls, samples = {}, {}
        for line in self.run("stat", "--json", path).stdout.splitlines():
            row = json.loads(line)
            if row.get("weight") == "samples":
                samples[row["name"]] = row["self"]
            elif "name" in row:
                unit = "" if "self" in row else "_ns"
                count, total, own = calls.get(row["name"], (0, 0, 0))
                calls[row["name"]] = (count + row["count"], total + row["total" + unit], own + row["self" + unit])
        return calls, {name: count for name, count in samples.items() if count}


def xtrace_of(run):
    """Calls of an xtrace are what its instructions do."""
    done = subprocess.run([sys.executable, ROOT / "tests" / "truth" / "xtrace.py", "--threads", "2", "--turns", "40",
                           run.folder / "set"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    expect(done.returncode == 0, done.stderr.decode())
    return run.folder / "set"


def traces(run):
    """Of all four formats; the second is of samples."""
    return [DATA / "xray" / "v5.xray", DATA / "tracelog" / "kinds.log", DATA / "fxt" / "oneshot_all.fxt",
            DATA / "xray" / "be-msb-v5.xray", DATA / "fxt" / "streaming.fxt", DATA / "fxt" / "ret130.fxt",
            DATA / "chrome" / "overhang.json", xtrace_of(run)]


def sums_of_rows(tables):
    calls, samples = collections.defaultdict(lambda: (0, 0, 0)), collections.Counter()
    for row in tables.get("slice", []):
        if row["kind"] == b"slice":
            count, total, own = calls[row["name"].decode()]
            calls[row["name"].decode()] = (count + 1, total + (0 if row["nested"] else row["duration"]),
                                           own + row["self"])
    for row in tables.get("sample", []):
        if row["kind"] == b"stack-sample":
            samples[row["name"].decode()] += row["value"]
    return dict(calls), dict(samples)


# ---- Blocks. ----

def sums(run):
    """blocks of all formats: the sums by function are those of stat"""
    for path in traces(run):
        tables = clickhouse_native.tables(run.blocks(path))
        calls, samples = sums_of_rows(tables)
        told, sampled = run.stat(path)
        expect(calls == told or sampled, path, calls, told)
        expect(not sampled or samples == sampled, path, samples, sampled)
        expect(calls or samples, path, "has nothing to compare")


def known(run):
    """a trace is known by sha256sum's digest of its file, in each row; its day is that of its clock, or the file's"""
    path, dated = DATA / "fxt" / "oneshot_all.fxt", DATA / "tracelog" / "kinds.log"
    copy = run.folder / "copy.fxt"
    shutil.copy(path, copy)
    os.utime(copy, (1710892800, 1710892800)) # 2024-03-20
    for file, day, source in ((copy, "2024-03-20", b"file"), (dated, "2018-06-24", b"clock")):
        tables = clickhouse_native.tables(run.blocks(file))
        digest = hashlib.sha256(file.read_bytes()).hexdigest().encode()
        rows = [row for table in tables.values() for row in table]
        expect({row["trace"] for row in rows} == {digest}, file)
        expect({clickhouse_native.day(row["day"]) for row in rows} == {day}, file)
        trace = tables["trace"][0]
        expect(trace["day_from"] == source and trace["bytes"] == file.stat().st_size, trace)
        for name in ("slice", "counter", "sched", "sample", "log", "argument", "finding"):
            expect(trace[name + "s"] == len(tables.get(name, [])), name, trace)


def same(run):
    """the blocks are the same each time, with one processor and with several, from a pipe too but for what it is"""
    path = DATA / "fxt" / "streaming.fxt"
    whole = clickhouse_native.archive(run.blocks(path))[:-1]
    one = run.run("convert", "--to", "clickhouse", "-o", "-", path, preexec_fn=lambda: os.sched_setaffinity(0, [min(
        os.sched_getaffinity(0))])).stdout
    expect(clickhouse_native.archive(one)[:-1] == whole, "one processor")
    with open(path, "rb") as file:
        piped = subprocess.run([run.tool, "convert", "--to", "clickhouse", "-o", "-", "-"], input=file.read(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout
    rows = clickhouse_native.tables(piped)
    expect({row["trace"] for row in rows["slice"]} == {b""}, "a pipe has no digest")
    expect(len(rows["slice"]) == len(clickhouse_native.tables(run.blocks(path))["slice"]), "rows of a pipe")


def kinds(run):
    """rows of FXT's own example: counters, messages, scheduling, arguments, by its listing"""
    tables = clickhouse_native.tables(run.blocks(DATA / "fxt" / "oneshot_all.fxt"))
    counters = {(row["name"], row["series"]): row["value"] for row in tables["counter"]}
    expect(counters == {(b"counter", b"x"): 42.0, (b"counter", b"y"): 2.25, (b"counter", b"z"): -7.0}, counters)
    expect([row["text"] for row in tables["log"]][0] == b"This is a log message", tables["log"])
    expect({row["kind"] for row in tables["slice"]} >= {b"slice", b"async", b"instant", b"flow-begin", b"flow-end"},
           tables["slice"])
    texts = {(row["name"], row["type"]): row["text"] for row in tables["argument"]}
    expect(texts[(b"i32", b"int")] in (b"-42", b"-2147483648"), texts)


def findings(run):
    """damage is rows, in the order of the offsets"""
    damaged = run.folder / "damaged.fxt"
    data = bytearray((DATA / "fxt" / "oneshot_all.fxt").read_bytes())
    data[176:184] = b"\xff" * 8
    damaged.write_bytes(data)
    rows = clickhouse_native.tables(run.blocks(damaged)).get("finding", [])
    told = [json.loads(line) for line in run.run("check", "--json", damaged).stdout.splitlines()]
    errors = {row["rule"] for row in told if row.get("severity") == "error"}
    expect(errors and errors <= {row["rule"].decode() for row in rows}, rows, errors)


def documented(run):
    """doc/clickhouse.md has the tables, with their columns and types, as they are made"""
    made = dict(clickhouse_native.archive(run.blocks(DATA / "xray" / "v5.xray")))["schema.sql"].decode()
    tables = {name: columns.split(", ") for name, columns in re.findall(r"EXISTS (\w+) \((.*?)\) ENGINE", made)}
    shared, track, told, at = [], [], {}, None
    for line in (ROOT / "doc" / "clickhouse.md").read_text().splitlines():
        heading = re.match(r"### (\w+)$", line)
        at = told.setdefault(heading.group(1), []) if heading else at
        at = shared if line == "Every table begins with" else track if line.startswith("and `slice`") else at
        row = re.match(r"\| (\w+) \| ([\w()]+) \|", line)
        if row and row.group(1) != "column" and at is not None:
            at.append(" ".join(row.groups()))
    for name, columns in tables.items():
        expect(columns == shared + (track if name not in ("trace", "finding") else []) + told.get(name, []), name, columns)


# ---- The server. ----

def database(run, name):
    server = run.server()
    server.ask(f"DROP DATABASE IF EXISTS {name}")
    server.ask(f"CREATE DATABASE {name}")
    return server


def accepted(run):
    """the server takes schema and blocks as they are, and its sums by function are those of stat"""
    for path in traces(run):
        server = database(run, "blocks")
        for name, body in clickhouse_native.archive(run.blocks(path)):
            if name == "schema.sql":
                for statement in body.decode().split(";\n")[:-1]:
                    server.ask(statement, "blocks")
            else:
                server.ask(f"INSERT INTO {name.split('/')[0]} FORMAT Native", "blocks", body)
        compare_sums(run, server, "blocks", path)


def compare_sums(run, server, name, path, where="1"):
    told, sampled = run.stat(path)
    rows = server.rows(f"SELECT name, count(), sumIf(duration, nested = 0), sum(self) FROM slice WHERE kind = 'slice' "
                       f"AND {where} GROUP BY name", name)
    calls = {row[0]: tuple(map(int, row[1:])) for row in rows}
    expect(calls == told or sampled, path, calls, told)
    rows = server.rows(f"SELECT name, sum(value) FROM sample WHERE kind = 'stack-sample' AND {where} GROUP BY name",
                       name)
    expect(not sampled or {row[0]: int(row[1]) for row in rows} == sampled, path, rows, sampled)


TESTS = [sums, known, same, kinds, findings, documented, accepted]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [test for test in TESTS if options.only in test.__name__]
    servers = []
    print("TAP version 13")
    print(f"1..{len(chosen)}", flush=True)
    try:
        for number, test in enumerate(chosen, 1):
            name = f"{number} - {test.__name__}: {test.__doc__.strip()}"
            with tempfile.TemporaryDirectory() as folder:
                try:
                    test(Run(options.tool.resolve(), folder, servers))
                    print(f"ok {name}", flush=True)
                except Skipped as reason:
                    print(f"ok {name} # SKIP {reason}", flush=True)
                except (Failed, clickhouse.Refused, AssertionError, subprocess.SubprocessError, RuntimeError) as failure:
                    print(f"not ok {name}\n# {failure!r}"[:3000], flush=True)
    finally:
        for server in servers:
            server.stop()
            shutil.rmtree(server.folder)


if __name__ == "__main__":
    main()
