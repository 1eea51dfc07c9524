#!/usr/bin/python3
"""clickhouse_tests - traces as tables of ClickHouse: blocks against a second reader of the format, and Debian's
clickhouse-server, which is started on loopback for the time of the tests. Prints TAP.

Without the server what needs it is skipped, and fails where CI is set."""
# SPDX-License-Identifier: Apache-2.0

import argparse
import concurrent.futures
import collections
import functools
import hashlib
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

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

    def __init__(self, options, folder, servers):
        self.tool, self.kills = options.tool.resolve(), options.kills
        self.folder, self.servers = pathlib.Path(folder), servers

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


# ---- load. ----

SLICES = 270000 # two blocks


@functools.cache
def large_archive():
    """An FXT archive of slices and counters: "Fuchsia trace format"."""
    words = [0x0016547846040010, 1 | 2 << 4, BILLION]
    for index, name in enumerate((b"app", b"parse", b"send", b"step"), 1):
        words += [2 | 2 << 4 | index << 16 | len(name) << 32, int.from_bytes(name.ljust(8, b"\0"), "little")]
    words += [3 | 3 << 4 | 1 << 16, 7, 8]
    events = []
    for i in range(SLICES):
        events += [4 | 3 << 4 | 4 << 16 | 1 << 24 | 1 << 32 | (2 + i % 3) << 48, 1000 + i * 10, 1000 + i * 10 + i % 7]
    for i in range(1000): # a counter with an argument of 64 bits: words of header and value
        events += [4 | 5 << 4 | 1 << 16 | 1 << 20 | 1 << 24 | 1 << 32 | 2 << 48, 5000000 + i, 3 | 2 << 4 | 2 << 16, i, 9]
    return struct.pack(f"<{len(words) + len(events)}Q", *words, *events)


def large_trace(path):
    path.write_bytes(large_archive())
    return path


def address(server, name, login=""):
    return f"clickhouse://{login}127.0.0.1:{server.http}/{name}"


def load(run, server, name, *words, status=(0,), **more):
    return run.run("load", "--to", address(server, name), *words, status=status, **more)


def start_load(run, server, name, *words):
    return subprocess.Popen([run.tool, "load", "--to", address(server, name), *map(str, words)], cwd=run.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def one_line(done, *parts):
    """A command that failed has said so in one line, which has these words."""
    said = done.stderr.decode()
    expect(done.returncode == 2 and said.count("\n") == 1, done.returncode, said)
    for part in parts:
        expect(part in said, part, "is not in", said)


def expect_large(server, name, trace=1):
    """All of the large trace, and nothing of it twice."""
    counts = server.rows("SELECT name, count(), sum(duration), uniqExact(id) FROM slice GROUP BY name ORDER BY name", name)
    wanted = []
    for place, text in ((0, "parse"), (1, "send"), (2, "step")):
        mine = range(place, SLICES, 3)
        wanted.append([text, str(len(mine)), str(sum(i % 7 for i in mine)), str(len(mine))])
    expect(counts == wanted, counts, wanted)
    expect(server.rows("SELECT count(), sum(value) FROM counter", name) == [["1000", "499500"]], "counters")
    expect(server.rows("SELECT count(), sum(slices) FROM trace", name) == [[str(trace), str(SLICES)]], "traces")


def loaded(run):
    """several files of all formats at once, with labels; the sums by function are those of stat; loaded again, nothing comes"""
    server, paths = database(run, "fleet"), traces(run)
    done = load(run, server, "fleet", "--json", "--label", "host=web1", "--label", "build=a=b", *paths, status=(0, 1))
    told = {row["file"]: row for row in map(json.loads, done.stdout.splitlines())}
    expect(len(told) == len(paths), done.stdout, done.stderr)
    for path in paths:
        compare_sums(run, server, "fleet", path, f"trace = '{told[str(path)]['trace']}'")
    labels = server.rows("SELECT DISTINCT label_keys, label_values FROM trace", "fleet")
    expect(labels == [["['host','build']", "['web1','a=b']"]], labels)
    before = server.ask("SELECT count() FROM slice", "fleet")
    again = load(run, server, "fleet", "--json", *paths, status=(0, 1))
    expect(all(json.loads(line)["rows"] == 0 for line in again.stdout.splitlines()), again.stdout)
    expect(server.ask("SELECT count() FROM slice", "fleet") == before, "rows came twice")


def piped(run):
    """a pipe is loaded by --id, and refused without; a day that is given is the partition, and another one refused"""
    server = database(run, "piped")
    path = DATA / "fxt" / "streaming.fxt"
    with open(path, "rb") as file:
        one_line(load(run, server, "piped", "-", stdin=file, status=(2,)), "--id")
    for _ in range(2):
        with open(path, "rb") as file:
            load(run, server, "piped", "--id", "web1-7", "--day", "2024-02-29", "-", stdin=file)
    rows = server.rows("SELECT trace, day, count() FROM slice GROUP BY trace, day", "piped")
    expect(rows == [["web1-7", "2024-02-29", "5000"]], rows)
    with open(path, "rb") as file:
        one_line(load(run, server, "piped", "--id", "web1-7", "--day", "2024-03-01", "-", stdin=file, status=(2,)),
                 "2024-02-29", "2024-03-01")


def killed(run):
    """a loader that is killed at any moment is gone on with by the same command: nothing is doubled or lost"""
    server, path = database(run, "killed"), large_trace(run.folder / "large.fxt")
    begun = time.monotonic()
    load(run, server, "killed", path)
    whole, dice, stopped = time.monotonic() - begun, random.Random(39), 0
    expect_large(server, "killed")
    for number in range(run.kills):
        database(run, "killed")
        for _ in range(3):
            loader = start_load(run, server, "killed", path)
            time.sleep(dice.random() * whole)
            loader.kill()
            loader.communicate()
            stopped += loader.returncode < 0
        done = load(run, server, "killed", path)
        expect_large(server, "killed")
        expect(b"loaded" in done.stderr, done.stderr)
    expect(stopped, "no loader was killed")


def server_killed(run):
    """a server that dies in the middle of a load: one line, and the same command goes on when it is there again"""
    server, path = database(run, "dies"), large_trace(run.folder / "large.fxt")
    begun = time.monotonic()
    load(run, server, "dies", path)
    whole, dice = time.monotonic() - begun, random.Random(40)
    for _ in range(run.kills):
        database(run, "dies")
        loader = start_load(run, server, "dies", path)
        time.sleep((0.3 + 0.6 * dice.random()) * whole)
        server.stop(signal.SIGKILL)
        out, said = loader.communicate(timeout=120)
        expect(loader.returncode == 0 or (loader.returncode == 2 and said.count(b"\n") == 1), loader.returncode, said)
        server.start()
        load(run, server, "dies", path)
        expect_large(server, "dies")


def stopped_server(run):
    """a server that is silent: given up after --timeout, told in one line; when it goes on, so does the load"""
    server, path = database(run, "silent"), large_trace(run.folder / "large.fxt")
    load(run, server, "silent", DATA / "xray" / "v5.xray")
    server.ask("DROP DATABASE silent")
    server.send(signal.SIGSTOP)
    try:
        one_line(load(run, server, "silent", "--timeout", "1", path, status=(2,)), "answer within ")
    finally:
        server.send(signal.SIGCONT)
    load(run, server, "silent", path)
    expect_large(server, "silent")


class Pages(http.server.BaseHTTPRequestHandler):
    """A server of something else."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>It works!</html>")

    def log_message(self, *_):
        pass


class Drips(http.server.BaseHTTPRequestHandler):
    """A server whose answer goes on for ever, a byte at a time."""

    over = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        try:
            while not self.over.wait(0.2):
                self.wfile.write(b"1")
        except OSError:
            pass

    def log_message(self, *_):
        pass


def drips(run):
    """a server that sends a byte now and then, and no end: given up, told in one line"""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Drips)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    to = f"clickhouse://127.0.0.1:{server.server_port}/x"
    one_line(run.run("load", "--timeout", "1", "--to", to, DATA / "xray" / "v5.xray", status=(2,)), "no end of the answer within 4 s")
    Drips.over.set()
    server.shutdown()


def refused(run):
    """a refused login, nobody at the port, a table of others, a bad address: one line each, and exit status 2"""
    server, path = database(run, "refused"), DATA / "xray" / "v5.xray"
    wrong = run.run("load", "--to", address(server, "refused", "secret:bad@"), path, status=(2,))
    one_line(wrong, "login is refused")
    expect("bad" not in wrong.stderr.decode(), "a password is told")
    run.run("load", "--to", address(server, "refused", "secret:w%6Frd@"), path, status=(0,))
    pages = http.server.HTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    one_line(run.run("load", "--to", f"clickhouse://127.0.0.1:{pages.server_port}/x", path, status=(2,)), "no ClickHouse", "8123")
    pages.shutdown()
    nobody = clickhouse.free_ports(1)[0]
    one_line(run.run("load", "--to", f"clickhouse://127.0.0.1:{nobody}/x", path, status=(2,)), str(nobody))
    database(run, "others")
    server.ask("CREATE TABLE slice (name UInt8) ENGINE = MergeTree() ORDER BY name", "others")
    one_line(load(run, server, "others", path, status=(2,)), "slice", "another", "name")
    database(run, "memory")
    server.ask("CREATE TABLE counter (name String) ENGINE = Memory", "memory")
    one_line(load(run, server, "memory", path, status=(2,)), "counter", "MergeTree")
    for bad in ("http://x/y", "clickhouse://127.0.0.1/", "clickhouse://127.0.0.1:99999/x", "clickhouse://h/a-b"):
        done = run.run("load", "--to", bad, path, status=(2,))
        expect(b"--to" in done.stderr, done.stderr)


def half(run):
    """a schema of which a half is there gets the rest, columns too; a block of other rows is told"""
    server, path = database(run, "half"), DATA / "fxt" / "oneshot_all.fxt"
    load(run, server, "half", path)
    whole = server.rows("DESCRIBE TABLE log", "half"), server.rows("DESCRIBE TABLE slice", "half")
    server.ask("DROP TABLE log", "half")
    server.ask("ALTER TABLE slice DROP COLUMN key", "half")
    server.ask("ALTER TABLE slice DROP COLUMN category", "half")
    load(run, server, "half", DATA / "xray" / "v5.xray")
    expect((server.rows("DESCRIBE TABLE log", "half"), server.rows("DESCRIBE TABLE slice", "half")) == whole, "columns")
    done = load(run, server, "half", "--id", "other", path)
    server.ask("ALTER TABLE trace DELETE WHERE trace = 'other'", "half")
    wait(lambda: server.rows("SELECT count() FROM trace WHERE trace = 'other'", "half") == [["0"]])
    one_line(load(run, server, "half", "--id", "other", DATA / "fxt" / "streaming.fxt", status=(2,)), "other options")
    expect(done, "")


def wait(holds):
    until = time.monotonic() + 60
    while not holds():
        expect(time.monotonic() < until, "it does not come")
        time.sleep(0.05)


def full(run):
    """a full disk of the server: one line that tells what is loaded; with room again the same command goes on"""
    run.server()
    folder = pathlib.Path(tempfile.mkdtemp(dir=run.folder))
    mount = 'mount -t tmpfs -o size=6m none "$0" && exec "$@"'
    before = ["unshare", "-rm", "sh", "-c", mount, str(folder / "data")]
    if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no mounts of one's own")
    server = clickhouse.Server(folder, before=before)
    path = large_trace(run.folder / "large.fxt")
    with server:
        load(run, server, "small", DATA / "xray" / "v5.xray")
        server.ask("CREATE TABLE filler (x UInt64) ENGINE = MergeTree() ORDER BY x", "small")
        try:
            for _ in range(100):
                server.ask("INSERT INTO filler SELECT rand64() FROM system.numbers LIMIT 40000", "small")
        except clickhouse.Refused:
            pass
        one_line(load(run, server, "small", path, status=(2,)), "disk is full")
        server.ask("DROP TABLE filler", "small")
        load(run, server, "small", path)
        rows = server.rows("SELECT count(), uniqExact(id) FROM slice WHERE kind = 'slice' AND name != '' AND thread = 8", "small")
        expect(rows == [[str(SLICES), str(SLICES)]], rows)


# ---- Ready queries. ----

QUERIES = ROOT / "share" / "trackway" / "clickhouse"


def ask_ready(server, name, query, **constants):
    """The rows of a ready query, some of whose constants are others."""
    text = (QUERIES / f"{query}.sql").read_text()
    for constant, value in constants.items():
        text, count = re.subn(rf"('[^']*'|[\d.]+) AS {constant}\b", lambda _, value=value, constant=constant: f"{value!r} AS {constant}", text)
        expect(count == 1, query, "has no constant", constant)
    return [line.split("\t") for line in server.ask(text + "\nFORMAT TabSeparated", name).splitlines()]


def calls_trace(path, durations):
    """A trace of Chrome's whose calls of "work" take so long, in us, each within "receive", with an instant "send" behind."""
    events, at = [], 0
    for duration in durations:
        events.append({"ph": "X", "name": "receive", "ts": at, "dur": duration + 10, "pid": 1, "tid": 2})
        events.append({"ph": "X", "name": "work", "ts": at + 5, "dur": duration, "pid": 1, "tid": 2})
        events.append({"ph": "i", "name": "send", "ts": at + duration + 20, "pid": 1, "tid": 2, "s": "t"})
        at += duration + 100
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def queries(run):
    """each ready query over runs whose answers are known; the command of a longest slice cuts it out"""
    server = database(run, "fleet")
    for number in range(8):
        for build, extra in (("old", 0), ("new", 50)):
            path = calls_trace(run.folder / f"it's {build}-{number}.json", [100 + extra + (number * 7) % 11, 110 + extra])
            load(run, server, "fleet", "--label", f"build={build}", "--label", f"host=h{number % 2}", path)
    rows = ask_ready(server, "fleet", "top-functions", label="build")
    own = {(row[1], row[2]): list(map(int, row[3:])) for row in rows}
    noise = sum((number * 7) % 11 for number in range(8))
    work = {"old": (8 * 210 + noise) * 1000, "new": (8 * 310 + noise) * 1000}
    for build, total in work.items():
        expect(own[build, "work"] == [16, total, total, 8], own)
        expect(own[build, "receive"] == [16, total + 160000, 160000, 8], own)
    slower = ask_ready(server, "fleet", "slower")
    expect([row[:3] for row in slower] == [["work", "8", "8"]], slower)
    expect([float(row) for row in slower[0][3:5]] == [work["old"] / 16, work["new"] / 16], slower)
    expect(not ask_ready(server, "fleet", "slower", before="new", after="old"), "faster is no slower")
    latency = ask_ready(server, "fleet", "latency", label="build")
    expect([row[:3] for row in latency] == [["new", "16", "170000"], ["old", "16", "120000"]], latency)
    expect([int(row[-1]) for row in latency] == [180000, 130000], latency)
    longest = ask_ready(server, "fleet", "longest-slices")
    expect(longest[0][0] == "receive" and longest[0][1] == "170000" and len(longest) == 20, longest[0])
    command = longest[0][4].replace("\\'", "'").replace("\\\\", "\\").replace("trackway", str(run.tool), 1)
    done = subprocess.run(["sh", "-c", command], cwd=run.folder, stderr=subprocess.PIPE)
    expect(done.returncode == 0, command, done.stderr.decode())
    told = [json.loads(line) for line in run.run("stat", "--json", "moment").stdout.splitlines()]
    expect({row["name"]: row["total_ns"] for row in told}["receive"] == 170000, told)


def dashboard(run):
    """Grafana's dashboard is JSON, and each of its queries is one of the server"""
    server, board = run.server(), json.loads((QUERIES / "dashboard.json").read_text())
    database(run, "fleet")
    load(run, server, "fleet", "--label", "host=h1", DATA / "fxt" / "streaming.fxt")
    values = {"database": "fleet", "label": "host", "function": "%", "__from:date:seconds": "1500000000", "__to:date:seconds": "4000000000"}
    answered = 0
    for panel in board["panels"]:
        text = panel["targets"][0]["rawSql"]
        text = re.sub(r"\$\{([^}]*)\}", lambda match: values[match.group(1)], text)
        answered += bool(server.rows(text))
    expect(answered == len(board["panels"]) - 1, answered, "panels have rows: all but that of findings")


# ---- Shards and replicas. ----

def shards(run):
    """three shards of two replicas: each trace on one of them, whole; a node that dies in a load or a query is done without"""
    if not clickhouse.is_there() or not clickhouse.has_zookeeper():
        raise Failed("no ZooKeeper") if os.environ.get("CI") else Skipped("no ZooKeeper")
    with clickhouse.Cluster(run.folder / "cluster") as cluster:
        to = [word for shard in cluster.nodes
              for word in ("--to", "clickhouse://" + ",".join(f"127.0.0.1:{node.http}" for node in shard) + "/fleet")]
        paths = [calls_trace(run.folder / f"{number}.json", [100 + number]) for number in range(12)]
        large = large_trace(run.folder / "large.fxt")
        run.run("load", "--replicated", *to, *paths, status=(0,))
        first = cluster.nodes[0][0]
        for node in cluster.all():
            for table in ("slice", "trace", "counter"):
                node.ask(f"CREATE TABLE all_{table} AS {table} ENGINE = Distributed(fleet, fleet, {table})", "fleet")
        expect(first.rows("SELECT count(), uniqExact(trace) FROM all_slice", "fleet") == [["36", "12"]], "slices of all")
        held = [{row[0] for row in shard[0].rows("SELECT trace FROM trace", "fleet")} for shard in cluster.nodes]
        expect(sum(map(len, held)) == 12 and all(held), "traces of each shard", held)
        # The first replica of each shard dies in a load: those who are left take the rest, but where they lack what only
        # the dead one has.
        loader = subprocess.Popen([run.tool, "load", "--replicated", *to, large], cwd=run.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        time.sleep(0.5)
        stop_first(cluster)
        loader.communicate(timeout=120)
        done = run.run("load", "--replicated", "--timeout", "5", *to, large, *paths, status=(0, 2))
        expect(done.returncode == 0 or LACKING in done.stderr, done.stderr)
        second = cluster.nodes[1][1]
        if done.returncode:
            start_first(cluster)
            run.run("load", "--replicated", *to, large, *paths, status=(0,))
            wait_for_replicas(cluster)
            stop_first(cluster)
        found = second.rows("SELECT count(), uniqExact(id), sum(duration) FROM all_slice WHERE thread = 8", "fleet")
        expect(found == [[str(SLICES), str(SLICES), str(sum(i % 7 for i in range(SLICES)))]], found)
        expect(second.rows("SELECT count(), uniqExact(trace) FROM all_trace", "fleet") == [["13", "13"]], "traces")
        # They come back, and have what they have missed.
        start_first(cluster)
        wait_for_replicas(cluster)
        # They die while a query runs: its answer is right, or there is none; the next one has it.
        slow = "SELECT count(), uniqExact(id), sum(duration) FROM all_slice WHERE thread = 8 AND sleepEachRow(0.00002) = 0"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            query = pool.submit(second.rows, slow, "fleet")
            wait(lambda: query.done() or any(node.rows("SELECT 1 FROM system.processes WHERE query LIKE '%0.00002%' AND NOT is_initial_query")
                                             for node in cluster.all()))
            expect(not query.done(), "the query runs")
            stop_first(cluster)
            try:
                expect(query.result() == found, "a right answer, or none")
            except (clickhouse.Refused, OSError):
                pass
        again = second.rows("SELECT count(), uniqExact(id), sum(duration) FROM all_slice WHERE thread = 8", "fleet")
        expect(again == found, again)


LACKING = b"this replica lacks blocks that another has"


def stop_first(cluster):
    for shard in cluster.nodes:
        shard[0].stop(signal.SIGKILL)


def start_first(cluster):
    for step in (clickhouse.Server.launch, clickhouse.Server.wait):
        for shard in cluster.nodes:
            step(shard[0])


def wait_for_replicas(cluster):
    """Both of each shard have the same, and want nothing of each other."""
    for shard in cluster.nodes:
        for table in ("slice", "trace"):
            rows = f"SELECT sum(rows) FROM system.parts WHERE active AND database = 'fleet' AND table = '{table}'"
            wait(lambda: len({str(node.rows(rows)) for node in shard}) == 1)  # which costs less than the blocks
            wait(lambda: len({str(node.rows(f"SELECT trace, block, count() FROM {table} GROUP BY trace, block "
                                            "ORDER BY trace, block", "fleet")) for node in shard}) == 1)


def behind(run):
    """a replica that lacks what another has: it is waited for, then told; nothing is sent again or taken for another's"""
    if not clickhouse.is_there() or not clickhouse.has_zookeeper():
        raise Failed("no ZooKeeper") if os.environ.get("CI") else Skipped("no ZooKeeper")
    with clickhouse.Cluster(run.folder / "cluster", shards=1) as cluster:
        first, second = cluster.nodes[0]
        load = ["load", "--replicated", "--to", f"clickhouse://127.0.0.1:{first.http},127.0.0.1:{second.http}/fleet"]
        early, late = (calls_trace(run.folder / f"{name}.json", [100]) for name in ("early", "late"))
        late.write_text(late.read_text() + "\n")
        run.run(*load, early, status=(0,))
        wait(lambda: second.rows("SELECT count() FROM trace", "fleet") == [["1"]])
        second.ask("SYSTEM STOP FETCHES")
        run.run(*load, late, status=(0,))
        wait(lambda: second.rows("SELECT sum(inserts_in_queue) > 0 FROM system.replicas") == [["1"]])
        first.stop(signal.SIGKILL)
        done = run.run(*load, "--timeout", "1", late, status=(2,))
        expect(LACKING in done.stderr and b"ALTER" not in done.stderr and done.stderr.count(b"\n") == 1, done.stderr)
        # The part comes while it is waited for.
        loader = subprocess.Popen([run.tool, *load, late], cwd=run.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first.launch()
        first.wait()
        second.ask("SYSTEM START FETCHES")
        said = loader.communicate(timeout=120)[1]
        expect(loader.returncode == 0 and b"0 rows loaded" in said, said)
        wait(lambda: second.rows("SELECT count(), uniqExact(trace) FROM slice", "fleet") == [["6", "2"]])

TESTS = [sums, known, same, kinds, findings, documented, accepted, loaded, piped, killed, server_killed, stopped_server,
         drips, refused, half, full, queries, dashboard, shards, behind]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=2)
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
                    test(Run(options, folder, servers))
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
