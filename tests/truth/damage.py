#!/usr/bin/python3
# damage.py - measures how much of a damaged trace is lost, and how much is told that never was.
# SPDX-License-Identifier: Apache-2.0
"""usage: damage.py --tool TRACKWAY [--seed N] [--rounds N] [--keep DIR] [--verbose] [WORD...]

Damages a trace of each format in the ways of DAMAGES, ROUNDS times each; the same seed does the same. Where the records of
the good trace begin and end is told by the decoders of this directory, not by the tool. A record of which no byte was hit is
to be found by `dump` of the damaged trace, wherever it has been moved to, and by those decoders in what `repair` makes of it:
otherwise it is lost. What `dump` tells of a place where the good trace has no record is invented, and so is a record that
another thread is said to have made. A record that was hit counts neither way. One that stands whole in the copy of a stretch
is counted as twice: in a format without an order nothing shows that it is a copy; it is not lost if one of both is told. A
time that the tool has by counting on from a record that is gone may be another one, and is counted as moved. What a repaired
trace says more often than the good one is strange: mostly records that were hit.

Prints a row of figures for each format and damage, and TAP: a format fails when more than BOUNDS is lost on average, or
anything is invented. Words choose the formats.
"""
import argparse
import collections
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import fdr
import fdr_random
import fxt
import tracelog
import xtrace

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
HEADER = 32
BOUNDS = {"fdr": 0.02, "basic": 0.001, "fxt": 0.001, "tracelog": 0.001, "xtrace": 0.001,  # of the records not hit
          "fdr-shapes": 0.06, "basic-shapes": 0.001}

Record = collections.namedtuple("Record", "begin end kind says time")


# ---- Good traces. ----

class Calls:
    """A thread that calls functions, as LLVM's runtime would write it: most calls are short, some have arguments."""

    def __init__(self, draw, number):
        self.draw, self.number, self.stack = draw, number, []
        self.tsc, self.cpu = 10**12 + draw.randrange(10**5), number % 4

    def step(self):
        """(kind, function, ticks since the last)"""
        draw = self.draw
        ticks = draw.randrange(30, 3000) if draw.random() < 0.98 else draw.randrange(10**5)
        self.tsc += ticks
        if self.stack and (len(self.stack) > 12 or draw.random() < 0.5):
            return draw.choices([fdr_random.EXIT, fdr_random.TAIL], [20, 1])[0], self.stack.pop(), ticks
        self.stack.append(draw.randrange(1, 90))
        return fdr_random.ENTER_ARGS if draw.random() < 0.03 else fdr_random.ENTER, self.stack[-1], ticks


class Shape:
    """How a maker writes XRay logs: the version, the order of bytes (and in big-endian logs, of bits), and how long."""

    def __init__(self, version=5, order="<", msb=False, size=16384, count=12, filled=False, even=0.8):
        self.version, self.order, self.msb, self.filled = version, order, msb, filled
        self.size, self.count, self.even = size, count, even  # of buffers; the share of those that are full

    def pack(self, form, *fields):
        return struct.pack(self.order + form, *fields)

    def header(self, type):
        return self.pack("HHIQQQ", self.version, type, 3, 3 * 10**9, self.size if type else 0, 0)

    def metadata(self, kind, form="", *fields):
        return bytes([0x80 | kind if self.msb else kind << 1 | 1]) + self.pack(form, *fields).ljust(15, b"\0")

    def function(self, kind, function, ticks):
        return self.pack("II", kind << 28 | function if self.msb else function << 4 | kind << 1, ticks)

    def custom(self, calls, data, ticks):
        if self.version == 5:
            return self.metadata(fdr_random.CUSTOM, "ii", len(data), ticks) + data
        fields = (len(data), calls.tsc, calls.cpu)[:2 if self.version < 4 else 3]
        return self.metadata(fdr_random.CUSTOM, "iQH"[:len(fields)], *fields) + data


USUAL = Shape()
FDR_SHAPES = [Shape(count=9, size=4096), Shape(4), Shape(3, ">"), Shape(2, ">", True), Shape(1), Shape(1, ">", filled=True),
              Shape(count=9, size=1024), Shape(5, ">", True, 65536, 5), Shape(count=40, size=8192, even=0.1)]
BASIC_SHAPES = [Shape(3, size=20000), Shape(2), Shape(1, ">"), Shape(3, ">"), Shape(2, ">"), Shape(1), Shape(3, size=9000)]


def fdr_record(shape, calls, draw):
    chance = draw.random()
    if chance < 0.004:
        calls.cpu, calls.tsc = draw.randrange(4), calls.tsc + draw.randrange(5000)
        return shape.metadata(fdr_random.NEW_CPU, "HQ", calls.cpu, calls.tsc)
    if chance < 0.014:
        data, ticks = draw.randbytes(draw.randrange(1, 60)), draw.randrange(400)
        calls.tsc += ticks if shape.version == 5 else 0
        return shape.custom(calls, data, ticks)
    kind, function, ticks = calls.step()
    data = shape.function(kind, function, ticks)
    if kind == fdr_random.ENTER_ARGS:
        data += shape.metadata(fdr_random.ARGUMENT, "Q", draw.getrandbits(32))
    return data


def fdr_buffer(shape, calls, draw, wall):
    body = b"".join([
        shape.metadata(fdr_random.NEW_BUFFER, "i", calls.number),
        shape.metadata(fdr_random.WALL, "QI", 1700000000 + wall // 10**6, wall % 10**6),
        shape.metadata(fdr_random.PID, "i", 4000) if shape.version > 2 else b"",
        shape.metadata(fdr_random.NEW_CPU, "HQ", calls.cpu, calls.tsc)])
    size = shape.size if draw.random() < shape.even else draw.randrange(shape.size * 3 // 8, shape.size)
    while len(body) < size - 128:
        body += fdr_record(shape, calls, draw)
    if shape.version == 1:
        return (body + shape.metadata(fdr.END_OF_BUFFER)).ljust(shape.size if shape.filled else 0, b"\0")
    return shape.metadata(fdr_random.EXTENTS, "Q", len(body)) + body


def fdr_log(draw, shape=USUAL):
    """Buffers of five threads."""
    threads = [Calls(draw, 4000 + i) for i in range(5)]
    data = shape.header(1)
    for i in range(shape.count):
        data += fdr_buffer(shape, draw.choice(threads), draw, 1000 * i)
    return data


def basic_log(draw, shape=Shape(3, size=300000)):
    """The records of a thread come in the order of time, and by the thousand at most."""
    threads = [Calls(draw, 4000 + i) for i in range(3)]
    process = 4000 if shape.version == 3 else 0
    data = bytearray(shape.header(0))
    while len(data) < shape.size:
        calls = draw.choice(threads)
        for _ in range(draw.randrange(1, 1000)):
            kind, function, _ = calls.step()
            if kind == fdr_random.TAIL and shape.version < 2:
                kind = fdr_random.EXIT
            data += shape.pack("HBBiQII8x", 0, calls.cpu, kind, function, calls.tsc, calls.number, process)
            if kind == fdr_random.ENTER_ARGS:
                data += shape.pack("HHiIIQ8x", 1, 0, function, calls.number, process, draw.getrandbits(32))
    return bytes(data)


def xtrace_tokens(_):
    with tempfile.TemporaryDirectory() as directory:
        xtrace.written([directory, "--turns", "1000", "--no-snapshots"])
        return next(pathlib.Path(directory).glob("*xinsndata.bin")).read_bytes()


# ---- Where their records are. ----

FDR_TIMES = {"tsc", "tsc_delta", "absolute_tsc"}


def fdr_records(data):
    """Of each: its thread and what else it says, but for the time."""
    log = fdr.Log(data)
    lists = [list(fdr.basic_records(log))] if log.type == 0 else fdr.buffers(log)
    for records in lists:
        thread = next((row["thread_id"] for row in records if row["record"] == "new-buffer"), None)
        counts = {row["offset"]: tsc for row, tsc in fdr.absolute(records, 0)}
        for row, after in zip(records, [*records[1:], None]):
            begin = row["offset"]
            size = 32 if log.type == 0 else 8 if "function_id" in row else 16 + len(row.get("data", b""))
            assert after is None or begin + size <= after["offset"]
            says = tuple(sorted((key, value) for key, value in fdr.shown(row).items()
                                if key not in FDR_TIMES | {"offset"}))
            yield Record(begin, begin + size, row["record"], (row.get("thread", thread), *says),
                         row.get("tsc", counts.get(begin)))


def fxt_records(data):
    for begin, size in fxt.Decoder(data).sizes():
        yield Record(begin, begin + size, None, data[begin:begin + size], None)


def tracelog_records(data):
    for begin, line in tracelog.lines(data):
        row = tracelog.row_of(line)
        if row["record"] != "unknown":
            yield Record(begin, min(begin + len(line) + 1, len(data)), row["record"], line, None)


def xtrace_sizes(data):
    """(begin, size) of each token."""
    at = 0
    while at < len(data):
        big, small = data[at] & 7, data[at] >> 3
        size = {1: 12 if small & 7 else 4, 2: 8 + (1 << (small >> 1)), 4: 256 if small == 1 else 8}.get(big, 8)
        if (big, small) == (4, 4):
            size += 16 * struct.unpack_from("<Q", data, at + 1)[0]
        yield at, 1 + size
        at += 1 + size


def xtrace_records(data):
    """Instructions, each with what belongs to it."""
    begins = [at for at, _ in xtrace_sizes(data) if data[at] & 7 == 1]
    for begin, end in zip(begins, [*begins[1:], len(data)]):
        yield Record(begin, end, "pcinst" if data[begin] >> 3 & 7 else "inst", data[begin:end], None)


class Format:
    """How a good trace is made, in other shapes too, where its records are, and how its file is called."""

    def __init__(self, name, make, records, suffix, shapes=()):
        self.name, self.make, self.records, self.suffix, self.shapes = name, make, records, suffix, shapes


FORMATS = [
    Format("fdr", fdr_log, fdr_records, ".xray"),
    Format("basic", basic_log, fdr_records, ".xray"),
    Format("fxt", lambda _: (DATA / "fxt" / "streaming.fxt").read_bytes(), fxt_records, ".fxt"),
    Format("tracelog", lambda _: (DATA / "tracelog" / "small-d2-64.log").read_bytes(), tracelog_records, ".log"),
    Format("fdr-shapes", fdr_log, fdr_records, ".xray", FDR_SHAPES),
    Format("basic-shapes", basic_log, fdr_records, ".xray", BASIC_SHAPES),
    Format("xtrace", xtrace_tokens, xtrace_records, "/xtrace.1718000000.100.hint9.xinsndata.bin"),
]


# ---- Damage: [(begin, end, what stands there instead)]. The first 32 bytes stay: they are the header of some. ----

def stretch(data, draw, size):
    begin = draw.randrange(HEADER, len(data) - size)
    return begin, begin + size


def flips(data, draw):
    places = sorted(draw.sample(range(HEADER, len(data)), draw.randint(1, 4)))
    return [(at, at + 1, bytes([data[at] ^ 1 << draw.randrange(8)])) for at in places]


def smash_16(data, draw):
    return [(*stretch(data, draw, 16), draw.randbytes(16))]


def smash_200(data, draw):
    return [(*stretch(data, draw, 200), draw.randbytes(200))]


def zeros_4k(data, draw):
    return [(*stretch(data, draw, 4096), bytes(4096))]


def gap_4k(data, draw):
    return [(*stretch(data, draw, 4096), b"")]


def gap_13(data, draw):
    return [(*stretch(data, draw, 13), b"")]


def inserted(data, draw):
    begin, _ = stretch(data, draw, 1)
    return [(begin, begin, draw.randbytes(draw.choice([1, 8, 13, draw.randrange(1, 200)])))]


def doubled(data, draw):
    begin, end = stretch(data, draw, draw.choice([8, 32, draw.randrange(1, 200), draw.randrange(200, 4096)]))
    return [(end, end, data[begin:end])]


def cut(data, draw):
    return [(draw.randrange(len(data) // 2, len(data)), len(data), b"")]


DAMAGES = [flips, smash_16, smash_200, zeros_4k, gap_4k, gap_13, inserted, doubled, cut]


class Damaged:
    """The bytes, and where those of the good trace have gone."""

    def __init__(self, data, edits):
        self.pieces, at, parts, size = [], 0, [], 0  # pieces: of the good trace, begin and end there and begin here
        self.good, self.edits = data, []
        for begin, end, instead in [*edits, (len(data), len(data), b"")]:
            self.pieces.append((at, begin, size))
            self.edits.append((begin, end, instead, size + begin - at))
            parts += [data[at:begin], instead]
            size += begin - at + len(instead)
            at = end
        self.data = b"".join(parts)

    def copy(self, begin):
        """Where a record begins once more, in what was put in; behind the copy it goes on where it did. The bytes before
        it may be those before what was copied, too."""
        for first, last, instead, here in self.edits:
            source = first - len(instead)
            if not instead or first != last or self.good[source:first] != instead:
                continue
            before = 0
            while source - before > HEADER and self.good[source - before - 1] == self.good[first - before - 1]:
                before += 1
            if source - before <= begin < first:
                return here + begin - source
        return None

    def place(self, at):
        """Where a byte is now, of one that was written over too; None when it is gone."""
        for first, last, here in self.pieces:
            if first <= at < last:
                return here + at - first
        for begin, end, instead, here in self.edits:
            if begin <= at < end and len(instead) == end - begin:
                return here + at - begin
            if begin <= at < end and not instead and self.good[at:end] == self.good[begin + at - end:begin]:
                return here + at - end  # as if the gap had been before it, where the same bytes are
        return None

    def where(self, begin, end):
        """Where a record is now, None when it was hit."""
        for first, last, here in self.pieces:
            if first <= begin and end <= last:
                return here + begin - first
        return None


# ---- What the tool says. ----

def run(tool, *words):
    return subprocess.run([tool, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          timeout=300)


def dumped(tool, path):
    done = run(tool, "dump", "--json", path)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"dump of {path}: status {done.returncode}: {done.stderr.decode()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def wrong_kind(record, row):
    return record.kind is not None and record.kind != row["record"]


def judge(good, damaged, rows, counts):
    """Compares what is dumped of a damaged trace with the records of the good one."""
    places, hit, twice = {}, set(), {}
    for record in good:
        twice[damaged.copy(record.begin)] = record.begin
        now = damaged.where(record.begin, record.end)
        if now is not None:
            places[now] = record
        else:
            hit.add(damaged.place(record.begin))
    found = {}
    for row in rows:
        if row["record"] == "unknown" or row["record"] == "buffer-extents":
            continue
        found[row["offset"]] = row
        record = places.get(row["offset"])
        if row["offset"] in twice:
            counts["twice"] += 1
        elif record is None and row["offset"] not in hit:
            counts["invented"] += 1
        elif record and wrong_kind(record, row):
            counts["invented"] += 1
        elif record and record.time is not None and "tsc" in row:
            counts["invented"] += "thread" in row and row["thread"] != record.says[0]
            counts["moved"] += record.time != row["tsc"]
    wanted = [at for at, record in places.items() if record.kind != "buffer-extents"]
    counts["whole"] += len(wanted)
    copied = {begin for copy, begin in twice.items() if copy in found}  # all is told of one of both
    counts["lost"] += sum(at not in found and places[at].begin not in copied for at in wanted)
    return [places[at] for at in wanted]


def judge_repaired(format, good, wanted, data, counts):
    """Compares what an independent decoder reads of a repaired trace."""
    try:
        repaired = collections.Counter(record.says for record in format.records(data))
    except (ValueError, KeyError, IndexError, AssertionError, struct.error, fxt.Damage):
        counts["broken"] += 1
        repaired = collections.Counter()
    counts["unrepaired"] += sum((collections.Counter(record.says for record in wanted) - repaired).values())
    counts["strange"] += sum((repaired - collections.Counter(record.says for record in good)).values())


def put(format, directory, name, data):
    path = pathlib.Path(directory) / (name + format.suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def repaired(options, format, path):
    """The bytes of what repair makes of a trace."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / ("out" + format.suffix.split("/")[0])
        done = run(options.tool, "repair", path, "-o", out)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"repair of {path}: status {done.returncode}: {done.stderr.decode()[-300:]}")
        return (out if out.is_file() else out / path.name).read_bytes()


def good_trace(options, format, turn):
    """A trace of the format, where it has shapes of the next one in turn."""
    if format.shapes:
        data = format.make(random.Random(f"{options.seed} {format.name} {turn}"), format.shapes[turn % len(format.shapes)])
    else:
        data = format.make(random.Random(f"{options.seed} {format.name}"))
    return data, list(format.records(data))


def measure(options, format, directory):
    """Counts by kind of damage."""
    totals = {}
    data, good = good_trace(options, format, 0)
    for turn, damage in enumerate(DAMAGES):
        counts = totals[damage.__name__] = collections.Counter()
        for number in range(options.rounds):
            if format.shapes:
                data, good = good_trace(options, format, turn + number)
            draw = random.Random(f"{options.seed} {format.name} {damage.__name__} {number}")
            damaged = Damaged(data, damage(data, draw))
            name = f"{format.name}-{damage.__name__}-{number}"
            path = put(format, directory, name, damaged.data)
            before = collections.Counter(counts)
            wanted = judge(good, damaged, dumped(options.tool, path), counts)
            judge_repaired(format, good, wanted, repaired(options, format, path), counts)
            if options.verbose:
                print(f"# {name}: {dict(counts - before)}", flush=True)
            if not options.keep:
                path.unlink()
    return totals


def share(part, whole):
    return part / whole if whole else 0.0


def tell(format, totals):
    """Prints the figures, and whether they are within the bounds."""
    whole = collections.Counter()
    for name, counts in [*totals.items(), ("all", whole)]:
        print(f"# {format.name:9} {name:10} whole {counts['whole']:8}  lost {share(counts['lost'], counts['whole']):9.4%}  "
              f"repaired: lost {share(counts['unrepaired'], counts['whole']):9.4%}, "
              f"strange {counts['strange']:5}, broken {counts['broken']:3}  invented {counts['invented']:5}  "
              f"twice {counts['twice']:5}  moved {share(counts['moved'], counts['whole']):8.3%}")
        if name != "all":
            whole.update(counts)
    return (share(whole["lost"], whole["whole"]) <= BOUNDS[format.name] and not whole["invented"] and
            share(whole["unrepaired"], whole["whole"]) <= BOUNDS[format.name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=22, help="of each damage")
    parser.add_argument("--keep", help="a directory for the damaged traces")
    parser.add_argument("--verbose", action="store_true", help="tell of each damage")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    formats = [format for format in FORMATS if not options.words or format.name in options.words]
    print(f"1..{len(formats)}")
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for number, format in enumerate(formats, 1):
            good = tell(format, measure(options, format, options.keep or directory))
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {format.name}: what is not damaged is read, nothing else is",
                  flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
