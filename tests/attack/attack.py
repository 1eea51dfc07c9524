#!/usr/bin/python3
"""attack.py - damaged and hostile traces and statements against every command, under limits of the system.

Each run of the tool must end by itself, within its time, by no signal, with status 0, 1 or 2, with a line that says why
where it is 2, within the memory that --memory gives it and what the tool itself needs, and with nothing left that it had
begun; text has no characters that a terminal obeys, and after a kill nothing is half there. Each failure is printed with
the command that shows it again; what it needs is kept in --keep. The last line counts. Runs are chosen by --seed;
--seconds ends them."""
# SPDX-License-Identifier: Apache-2.0
import argparse
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS / "truth"), str(TESTS / "fuzz")]
import seeds

SECONDS = 30             # a run may take so long, of a processor and by the clock
MEMORY_MB = 32           # --memory
BESIDE_MB = 64           # the tool, its libraries and its windows
FILE_BYTES = 64 << 20    # a file may become so large
LARGEST = 1 << 18        # of the seeds
BEGUN = re.compile(r"\.trackway-[0-9a-f]{6}$")
WHY = re.compile(r"^trackway: (error: |.*usage)|^Usage: ", re.M)

# Every command with what it needs besides the trace. OUT is replaced by a name that is not there.
LISTINGS = ["info", "info --json", "dump", "dump --json", "check", "check --all --json", "stat", "stat --by caller", "stat --csv",
            "stacks", "stacks --per-thread --json", "graph", "graph --dot", "flame", "flame --folded", "counters", "sched", "alloc",
            "jit", "gc", "cpu", "blobs", "log", "insns", "blocks", "branches", "mem", "cache", "syscalls", "calls", "phases",
            "replay", "diff TRACE", "stat --function *a* --from-time 1us --to-time 1s", "info --jobs 2", "stat --jobs 2"]
QUERIES = ["select * from slice join thread_track on track_id = thread_track.id join thread using (utid) limit 100",
           "select name, count(*), sum(dur) from slice group by name order by 3 desc",
           "select a.name from slice a join slice b on a.name = b.name limit 1000",
           "select * from counter join counter_track t on track_id = t.id", "select * from args", "select * from sched"]
TARGETS = ["xray-fdr", "xray-basic", "fxt", "chrome", "tracelog", "perfetto", "speedscope", "pprof", "callgrind", "firefox",
           "folded", "csv", "jsonl", "ctf", "champsim", "tarmac"]
WRITING = [*(f"convert --to {target} -o OUT" for target in TARGETS), "repair -o OUT", "cut --to-time 1ms -o OUT",
           "merge TRACE -o OUT", "blobs --extract-all OUT", "slice --snapshot 0 --length 9 -o OUT", "slice --snapshot 0 --length 9 --sync -o OUT", "sql -o OUT.db", "flame -o OUT.svg"]
COMMANDS = [words.split() for words in LISTINGS + WRITING] + [["sql", "TRACE", query] for query in QUERIES]


# ---- One run. ----

class Limits:
    """Of the system: kilobytes of stack, megabytes of addresses, descriptors. None: as it is."""

    def __init__(self, stack=None, addresses=None, descriptors=None, file=FILE_BYTES):
        self.stack, self.addresses, self.descriptors, self.file = stack, addresses, descriptors, file

    def set(self):
        for what, value in ((resource.RLIMIT_STACK, self.stack and self.stack << 10), (resource.RLIMIT_NOFILE, self.descriptors),
                            (resource.RLIMIT_AS, self.addresses and self.addresses << 20), (resource.RLIMIT_FSIZE, self.file),
                            (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
            if value is not None:
                resource.setrlimit(what, (value, value))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def __str__(self):
        told = (("s", self.stack), ("v", self.addresses and self.addresses << 10), ("n", self.descriptors))
        return "".join(f"ulimit -{letter} {value}; " for letter, value in told if value is not None)


class Attack:
    def __init__(self, options, place):
        self.options, self.place, self.runs, self.failures = options, place, 0, 0
        self.draw = random.Random(options.seed)
        self.sanitized = b"__asan_init" in pathlib.Path(options.tool).read_bytes()
        self.end = time.monotonic() + options.seconds

    def over(self):
        return time.monotonic() > self.end

    def fail(self, words, limits, what, said, files):
        self.failures += 1
        kept = []
        for file in files if self.options.keep else ():
            kept.append(os.path.join(self.options.keep, f"{self.failures}-{os.path.basename(file)}"))
            (shutil.copytree if os.path.isdir(file) else shutil.copyfile)(file, kept[-1])
        shown = " ".join(f"'{word}'" if re.search(r"[\s*;]", word) else word for word in words)
        print(f"{what}: {limits}trackway {shown}\n    {said.strip()[:300]!r} {' '.join(kept)}", flush=True)

    def run(self, words, limits=Limits(), files=(), fine=(0, 1, 2), memory=True):
        """Runs the tool and judges how it ended; returns its status and all that it said."""
        self.runs += 1
        before = set(os.listdir(self.place))
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([self.options.tool, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.place,
                                     preexec_fn=limits.set, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
            status, usage, late = self.wait(child)
            err.seek(0)
            out.seek(0)
            said, shown = err.read(1 << 20).decode(errors="replace"), out.read(1 << 20).decode(errors="replace")
        most = usage.ru_maxrss >> 10
        left = [name for name in set(os.listdir(self.place)) - before if BEGUN.search(name)]
        if late or status == -signal.SIGXCPU:
            self.fail(words, limits, f"no end within {SECONDS} s", said, files)
        elif status < 0:
            self.fail(words, limits, f"signal {-status}", said, files)
        elif status not in fine:
            self.fail(words, limits, f"status {status}", said, files)
        elif status == 2 and not WHY.search(said):
            self.fail(words, limits, "status 2 without a word", said, files)
        elif memory and not self.sanitized and most > MEMORY_MB + BESIDE_MB:
            self.fail(words, limits, f"{most} MB", said, files)
        if left and status >= 0:
            self.fail(words, limits, f"left {left}", said, files)
        return status, said + shown

    @staticmethod
    def wait(child):
        """Its status, what it used, and whether it was late."""
        until = time.monotonic() + 2 * SECONDS
        pause = 0.0005
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode, usage, False
            if time.monotonic() > until:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode, usage, True
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def command(self, words, trace, limits=Limits(), **more):
        """Runs a command on a trace, and removes what it wrote."""
        out = os.path.join(self.place, "written")
        placed = [word.replace("OUT", out).replace("TRACE", trace) for word in words]
        traced = [] if trace in placed and "diff" not in words and "merge" not in words else [trace]
        result = self.run([*placed, "--memory", f"{MEMORY_MB}M", *traced], limits, files=[trace], **more)
        for name in os.listdir(self.place):
            path = os.path.join(self.place, name)
            if name.startswith("written"):
                (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
        return result


# ---- Traces. ----

def put_directory(place, files):
    shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    for name, data in files.items():
        with open(os.path.join(place, name), "wb") as out:
            out.write(data)


def traces(place):
    """Each seed as {name of a file: bytes}; "" is the name of a trace that is one file."""
    found = []
    for path in sorted((TESTS / "data").rglob("*")):
        if path.suffix in (".xray", ".fxt", ".json", ".log", ".cpuprofile") and path.stat().st_size <= LARGEST:
            found.append({"": path.read_bytes()})
    found.append({"": b"main;work;read 12\nmain;work 3\nmain;\xc3\xa9;[kernel] 4\n" * 50})
    for _, data in seeds.runs():
        size = len(data[1:]) * data[0] // 255
        parts = data[1:size + 1], data[size + 1:]
        found.append({f"xtrace.1.7.hint9.{kind}.bin": part for kind, part in zip(("xinsndata", "xsnapshot"), parts)})
    written = os.path.join(place, "uftrace")
    done = subprocess.run([sys.executable, TESTS / "truth/uftrace.py", "write", written], check=False, stdout=subprocess.DEVNULL)
    if done.returncode == 0:
        found.append({name: (pathlib.Path(written) / name).read_bytes() for name in sorted(os.listdir(written))})
    return found


def edit(data, draw):
    """One damage of a kind that files suffer, or that someone thinks of."""
    at, size = draw.randrange(len(data) + 1), draw.choice([1, 2, 4, 8, 13, 16, 200, 4096])
    number = draw.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, 2**16, 2**24])
    return draw.choice([
        lambda: data[:at] + bytes([draw.randrange(256)]) + data[at + 1:],
        lambda: data[:at] + draw.randbytes(size) + data[at + size:],
        lambda: data[:at] + bytes(size) + data[at + size:],
        lambda: data[:at] + data[at + size:],
        lambda: data[:at] + draw.randbytes(size) + data[at:],
        lambda: data[:at] + data[at:at + size] * 2 + data[at + size:],
        lambda: data[:at],
        lambda: data[:at & ~7] + struct.pack(draw.choice("<>") + "Q", number) + data[(at & ~7) + 8:],
        lambda: data[:at & ~3] + struct.pack(draw.choice("<>") + "I", number & 0xffffffff) + data[(at & ~3) + 4:],
        lambda: re.sub(rb"\d+", lambda match: str(number).encode() if draw.random() < 0.02 else match.group(), data),
    ])()


def put(place, files):
    trace = os.path.join(place, "trace")
    if "" in files:
        shutil.rmtree(trace, ignore_errors=True)
        with open(trace, "wb") as out:
            out.write(files[""])
    else:
        if os.path.isfile(trace):
            os.unlink(trace)
        put_directory(trace, files)
    return trace


LIMITS = [Limits(), Limits(), Limits(stack=64), Limits(stack=128), Limits(stack=256), Limits(addresses=96), Limits(addresses=160),
          Limits(descriptors=5), Limits(descriptors=9), Limits(descriptors=16), Limits(file=4096)]


def attack_damage(attack):
    """Damaged traces of every format through commands, under limits, until the time is over."""
    found = traces(attack.place)
    while not attack.over():
        files = dict(attack.draw.choice(found))
        name = attack.draw.choice(list(files))
        for _ in range(attack.draw.choice([1, 1, 2, 5])):
            files[name] = edit(files[name], attack.draw)
        trace = put(attack.place, files)
        for words in attack.draw.sample(COMMANDS, 6):
            if os.path.exists(trace):
                attack.command(words, trace, attack.draw.choice(LIMITS))
        (shutil.rmtree if os.path.isdir(trace) else os.unlink)(trace)


def attack_stack(attack):
    """Every command on every kind of trace with small stacks."""
    kinds = {}
    for files in traces(attack.place):
        kinds.setdefault((min(files), files[min(files)][:4]), files)
    for files in kinds.values():
        trace = put(attack.place, files)
        for words in COMMANDS:
            if attack.over():
                return
            attack.command(words, trace, Limits(stack=64))
        (shutil.rmtree if os.path.isdir(trace) else os.unlink)(trace)


# ---- Hostile files. ----

def zeros_gz(place, head=b""):
    """A gigabyte of zeros behind a beginning, in a megabyte."""
    with gzip.open(place, "wb", 9) as out:
        out.write(head)
        for _ in range(256):
            out.write(bytes(1 << 22))


def zeros_zst(place):
    """Gigabytes of zeros in blocks of one byte each (RFC 8878: RLE blocks of 128 KiB, in frames without a size)."""
    blocks = struct.pack("<I", (1 << 17) << 3 | 1 << 1)[:3] + b"\0"
    last = struct.pack("<I", (1 << 17) << 3 | 1 << 1 | 1)[:3] + b"\0"
    with open(place, "wb") as out:
        out.write(b"\x28\xb5\x2f\xfd\x00\x58" + blocks * 8191 + last)


def window_zst(place):
    """A frame that wants a window of more than a terabyte."""
    with open(place, "wb") as out:
        out.write(b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00")


def text(place, data):
    with open(place, "wb") as out:
        out.write(data)


DEEP = 1 << 20
FDR = struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 4096, 0)
HOSTILE = {
    "zeros.xray.gz": lambda path: zeros_gz(path, FDR),
    "zeros.json.gz": lambda path: zeros_gz(path, b'[{"name":"'),
    "zeros.zst": zeros_zst,
    "window.zst": window_zst,
    "gz-in-gz.gz": lambda path: text(path, gzip.compress(gzip.compress(gzip.compress(b"a;b 1\n" * 1000)))),
    "deep.json": lambda path: text(path, b"[" * DEEP),
    "deep-object.json": lambda path: text(path, b'{"traceEvents":[{"ph":"X","args":' + b'{"a":' * DEEP),
    "deep-whole.json": lambda path: text(path, b'[{"ph":"i","ts":1,"args":{"a":' + b"[" * DEEP + b"]" * DEEP + b"}}]"),
    "numbers.json": lambda path: text(path, b'[{"ph":"X","name":"a","ts":' + b"9" * DEEP + b',"dur":1e999999999}]'),
    "string.json": lambda path: text(path, b'[{"ph":"i","ts":1,"name":"' + b"\\ud83d" * DEEP + b'"}]'),
    "begins.json": lambda path: text(path, b"[" + b'{"ph":"B","ts":1,"pid":1,"tid":1,"name":"f"},' * (DEEP >> 2) + b"]"),
    "deep.folded": lambda path: text(path, b"a;" * DEEP + b"b 1\n"),
    "count.folded": lambda path: text(path, b"a;b 18446744073709551615\na;b 18446744073709551615\na -1\na 1e300\n"),
    "counts.fxt": lambda path: text(path, struct.pack("<Q", 0x0016547846040010) + struct.pack("<Q", 0xfff << 4 | 4) * 4096),
    "strings.fxt": lambda path: text(path, struct.pack("<Q", 0x0016547846040010) + b"".join(
        struct.pack("<QQ", 2 | 2 << 4 | (i & 0x7fff) << 16 | 8 << 32, i) for i in range(1 << 17))),
    "threads.log": lambda path: text(path, b"".join(b"thr crt 0x%x 0x%x\n" % (i, i) for i in range(1 << 17))),
    "frames.log": lambda path: text(path, b"sam str 0x0 1 1 0:4294967295 0x2\nsam str 0x0 2 1 4294967295:0\n"),
    "buffer.xray": lambda path: text(path, struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 2**64 - 1, 0) +
                                     (b"\x0f" + struct.pack("<Q7x", 2**64 - 8)) * 64),
    "event.xray": lambda path: text(path, FDR + (b"\x0b" + struct.pack("<iI7x", 2**31 - 1, 2**32 - 1)) * 64),
    "bodies.log": lambda path: text(path, b"".join(b"sam str 0x0 %d 1 0:%d 0x2:0x%x\n" % (i, i > 0, i + 1) for i in range(20000)) + b"".join(
        b"fun inf 0x2 0x%x 0x1 0x2 0x06000001 %s\n" % (i + 9, b" ".join(b"0x%x:0x8" % (i << 12 | 16 * k | 1 << 24) for k in range(30)))
        for i in range(1020))),
    "basic.xray": lambda path: text(path, struct.pack("<HHIQQQ", 3, 0, 3, 0, 0, 0) + b"\xff" * 3200),
    "empty": lambda path: text(path, b""),
    "loop": lambda path: os.symlink(path, path),
    "dangling": lambda path: os.symlink("nowhere", path),
    "directory.fxt": os.mkdir,
    "null": lambda path: os.symlink("/dev/null", path),
    "memory": lambda path: os.symlink("/proc/self/mem", path),
}


def attack_files(attack):
    """Bombs, deep nesting, huge counts, links and devices, through every command."""
    for name, make in HOSTILE.items():
        path = os.path.join(attack.place, name)
        make(path)
        bomb = name.endswith(("gz", "zst"))
        for words in attack.draw.sample(COMMANDS, 12) if bomb else COMMANDS:
            if attack.over():
                break
            attack.command(words, path, attack.draw.choice(LIMITS[:5]))
        (os.rmdir if os.path.isdir(path) else os.unlink)(path)


def attack_fifo(attack):
    """A trace comes through a FIFO whose writer stops in the middle."""
    path, data = os.path.join(attack.place, "fifo"), (TESTS / "data/fxt/streaming.fxt").read_bytes()
    os.mkfifo(path)
    for words in LISTINGS[:26] + WRITING:
        if attack.over() or "TRACE" in words:
            continue
        writer = os.fork()
        if writer == 0:
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            with open(path, "wb") as out:
                out.write(data[:attack.draw.randrange(len(data))])
            os._exit(0)
        attack.command(words.split(), path)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    os.unlink(path)


def attack_outputs(attack):
    """Outputs that cannot be: full, read-only, links that lead round, directories, names that are too long."""
    trace = str(TESTS / "data/fxt/streaming.fxt")
    os.mkdir(os.path.join(attack.place, "there"))
    os.symlink("round", os.path.join(attack.place, "round"))
    for out in ("/dev/full", "/proc/new", "/nowhere/new", "round", "there", "n" * 255, "n" * 256, "/proc/self/fd/99", ""):
        for words in WRITING:
            if not attack.over():
                attack.run([*words.replace("OUT", out).replace("TRACE", trace).split(), trace], files=[])
    for name in os.listdir(attack.place):
        if name.startswith("n" * 200) and os.path.isfile(os.path.join(attack.place, name)):
            os.unlink(os.path.join(attack.place, name))


# ---- Statements. ----

STATEMENTS = [
    "create perfetto function f(x int) returns int as select f($x + 1); select f(1)",
    "create perfetto function f() returns table(a int) as select a from f(); select * from f()",
    "create perfetto function slice() returns table(a int) as select 1 as a; select * from slice",
    "create perfetto macro a() returns Expr as b!(); create perfetto macro b() returns Expr as a!(); select a!()",
    "create perfetto macro m(x Expr) returns Expr as $x || $x || $x; select " + "m!(" * 40 + "'xxxxxxxxxxxxxxxx'" + ")" * 40,
    "create perfetto table t as with recursive r(x) as (select zeroblob(1000000) union all select x from r) select x from r limit 2000",
    "create view a as with recursive r(ts) as (select 1 union all select ts + 2 from r limit 3000000) select ts, 1 as dur, 1 as p from r;"
    "create view b as select ts, dur from a; create virtual table s using span_join(b, a partitioned p); select count(*) from s",
    "create view a as select 1 as ts, 1 as dur, 1 as x; create virtual table s using span_join(a, slice); drop view a;"
    "create view a as select ts, dur, x from s; select * from s", "include perfetto module *; select * from _slice_flattened",
    "create perfetto view v as attach 'made' as m", "create virtual table t using span_join(slice, \"made'; attach 'made' as m\")",
    "select fts3_tokenizer('simple', x'4141414141414141'); create virtual table temp.t using fts3(tokenize=simple)",
    "select fts3_tokenizer('simple')", "attach 'made' as m", "attach ':memory:' as m; create table m.t(x)", "vacuum into 'made'",
    "vacuum main into 'made'", "select load_extension('libc.so.6')", "select writefile('made', 'x')", "select edit('x', 'touch made')",
    "pragma temp_store_directory = '.'", "pragma journal_mode = wal", "pragma writable_schema = on", "create table t as select 1",
    "create temp table t as select * from slice", "drop table slice", "delete from slice", "update slice set name = 'x'",
    "insert into slice default values", "create temp trigger t after insert on slice begin select 1; end", "reindex", "analyze",
    "create virtual table temp.t using fts5(x)", "create virtual table temp.t using rtree(a, b, c)",
    "create virtual table t using dbstat", "select * from sqlite_dbpage", "detach main", "select readfile('/etc/passwd')",
    "select length(zeroblob(2000000000))", "select length(randomblob(1000000000))", "select length(printf('%.*c', 1000000000, 'x'))",
    "select length(replace(hex(zeroblob(10000000)), '0', '0123456789'))", "select length(group_concat(name, hex(zeroblob(1000000)))) from slice",
    "with recursive r(x) as (select 1 union all select x + 1 from r limit 3000000) select count(distinct hex(x) || x) from r",
    "with recursive r(x) as (select zeroblob(1000000) union all select x from r limit 1000) select count(*) from (select x from r order by x)",
    "with recursive r(x) as (select zeroblob(100000) union all select x from r) select x from r order by x",
    "create temp table t as with recursive r(x) as (select zeroblob(100000) union all select x from r) select x from r",
    "select " + "(" * 900 + "1" + ")" * 900, "select " + "(" * 100000 + "1" + ")" * 100000, "select " + "-" * 100001 + "1",
    "select " + "1+" * 5000 + "1", "select " + "abs(" * 2000 + "1" + ")" * 2000, "select * from " + ",".join(["slice"] * 70),
    "select " + "x'" + "41" * 500000 + "'", "select 'a' like '" + "%a" * 20000 + "'", "select json('" + "[" * 100000 + "')",
    "select * from json_tree('" + "[" * 1000 + "]" * 1000 + "') limit 1", "select 'a' glob '" + "*a" * 20000 + "b'",
    "explain select * from slice", "select \0 1", "\xff\xfe", ";" * 100000, "select 1;" * 5000, "/*", "'", "select $1, ?2, :a, @b",
    "select * from slice where ts = (select max(ts) from slice where name match 'x')", "select sqlite_compileoption_get(1)",
    ".shell touch made", ".system touch made", ".output made\nselect 1;", ".once made\nselect 1;", ".backup made", ".save made",
    ".read made", ".load libc.so.6", ".open made", ".log made", ".cd /", ".import made t", ".clone made",
]


def attack_sql(attack):
    """Statements that want to write, to crash or to take all memory, as a word and from a file."""
    chosen = ["data/fxt/streaming.fxt", "data/xray/basic-v3.xray", "data/chrome/small.cpuprofile"]
    before = set(os.listdir(attack.place))
    for trace in chosen:
        for statement in STATEMENTS:
            if attack.over():
                return
            file = os.path.join(attack.place, "statement")
            text(file, statement.encode("utf-8", "surrogateescape"))
            where = ["--memory", f"{MEMORY_MB}M", str(TESTS / trace)]
            ways = [["sql", "-f", file, *where]]
            if "\0" not in statement and len(statement) < 100000:
                ways.append(["sql", *where, statement])
            for words in ways:
                attack.run(words, attack.draw.choice(LIMITS[:5]), files=[file])
            os.unlink(file)
            made = set(os.listdir(attack.place)) - before
            if made:
                attack.fail(ways[-1], Limits(), f"made {made}", "", [])
                for name in made:
                    os.unlink(os.path.join(attack.place, name))


# ---- Text. ----

NAMES = ["\x1b]0;x\a", "\r", "a\rb", "\n", "\t", "\x7f", "\x85", "\x9b31m", "\u202e", "\u2066", "\u2028", "\u200f", "\0", "=cmd()", "+1", "@x",
         "</script><script>", '"', "\ufeff", "", "x" * 65536]
OBEYED = re.compile("[\0-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")


def attack_text(attack):
    """Names that a terminal or a spreadsheet obeys, through every command that writes text."""
    path, out = os.path.join(attack.place, "names.json"), os.path.join(attack.place, "written")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"ph": phase, "name": name, "cat": name, "pid": 1, "tid": i, "ts": i, "dur": 1, "args": {name: i}}
                   for phase in "XCi" for i, name in enumerate(NAMES)], file)
    forms = ["", "--csv", "--csv-safe", "--json", "--markdown"]
    for words in LISTINGS + [f"sql {form} TRACE" for form in forms] + [f"convert --to {to} -o OUT" for to in ("csv", "jsonl", "folded", "callgrind", "chrome")]:
        if attack.over():
            break
        given = words.replace("OUT", out).split() + ["--memory", f"{MEMORY_MB}M"]
        given = [path if word == "TRACE" else word for word in given]
        given += ["select * from slice"] if words.startswith("sql") else [path]
        _, said = attack.run(given, files=[path])
        if os.path.exists(out):
            said += pathlib.Path(out).read_text(encoding="utf-8", errors="replace")
            os.unlink(out)
        found = OBEYED.search(said)
        if found:
            attack.fail(given, Limits(), f"has {found.group()!r}", said[max(0, found.start() - 40):found.end() + 40], [path])
    os.unlink(path)


# ---- Kills. ----

def attack_kill(attack):
    """kill -9 at any time: what has the name is whole, and the next run removes what was begun."""
    trace, place = os.path.join(attack.place, "trace.json"), os.path.join(attack.place, "out")
    with open(trace, "w", encoding="utf-8") as file:
        json.dump([{"ph": "X", "name": f"f{i % 300}", "pid": 1, "tid": i % 5, "ts": i * 2, "dur": 1} for i in range(10000)], file)
    os.mkdir(place)
    for words in (["sql", "-o", "o.db"], ["convert", "--to", "ctf", "-o", "o"], ["convert", "-o", "o.fxt"], ["view", "--export", "o.html"]):
        began = time.monotonic()
        attack.run([*words[:-1], os.path.join(place, words[-1]), trace], Limits(file=None))
        lasted, whole = time.monotonic() - began, listing_of(place)
        while not attack.over() and attack.draw.random() > 0.05:
            shutil.rmtree(place)
            os.mkdir(place)
            with subprocess.Popen([attack.options.tool, *words, trace], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
                time.sleep(attack.draw.random() * lasted)
                child.kill()
            attack.runs += 1
            if not {name: size for name, size in listing_of(place).items() if not begun(name)}.items() <= whole.items():
                attack.fail(words, Limits(), "half is there", str(listing_of(place)), [trace])
            subprocess.run([attack.options.tool, *words, trace], cwd=place, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if listing_of(place) != whole:
                attack.fail(words, Limits(), "not as without a kill", str(listing_of(place)), [trace])
        shutil.rmtree(place)
        os.mkdir(place)


def begun(name):
    return any(BEGUN.search(part) for part in pathlib.Path(name).parts)


def listing_of(place):
    """The files below a directory: their names and sizes."""
    return {str(path.relative_to(place)): path.stat().st_size for path in pathlib.Path(place).rglob("*") if path.is_file()}


PARTS = {"text": attack_text, "kill": attack_kill, "damage": attack_damage, "stack": attack_stack, "outputs": attack_outputs, "fifo": attack_fifo, "sql": attack_sql,
         "files": attack_files}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/src/trackway", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=240, help="for all parts together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts; all otherwise")
    parser.add_argument("--keep", help="a directory for what failed")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    parts = [part for part in PARTS if not options.only or part in options.only]
    totals, begun = [0, 0], time.monotonic()
    for number, part in enumerate(parts):
        with tempfile.TemporaryDirectory(prefix="attack-") as place:
            attack = Attack(options, place)
            left = options.seconds - (time.monotonic() - begun)
            attack.end = time.monotonic() + left / (len(parts) - number)
            PARTS[part](attack)
        print(f"{part}: {attack.runs} runs, {attack.failures} failed", flush=True)
        totals = [totals[0] + attack.runs, totals[1] + attack.failures]
    print(f"{totals[0]} runs, {totals[1]} failed")
    sys.exit(totals[1] > 0)


main()
