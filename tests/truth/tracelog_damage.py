#!/usr/bin/python3
# tracelog_damage.py - damages lines of TraceLog logs and tells what must still be read: every other line.
# SPDX-License-Identifier: Apache-2.0
"""usage: tracelog_damage.py [--tool TRACKWAY] [--seed N] [--rounds N] [--stride N] [--every N] [--cuts N] [--keep DIR]
                          [WORD...]

Prints TAP. Each line of kinds.log (with --stride every N-th), and every N-th of small-d2-64.log, is damaged in the ways of
DAMAGES; many lines of it at once, ROUNDS times; kinds.log is cut at every N-th byte. tracelog.py tells what each line of the
damaged log is. With --tool `dump --json` must show every line that was not damaged as in the good log, `info` must count
them, `stat` must weigh what is left, `check` must find the damage, name its line and offset, and exit with status 1; nothing
may crash. Without it only the damage itself is tested. --keep writes each log that fails to a directory. Words choose the
tests in whose name one stands.
"""
import argparse
import collections
import functools
import json
import pathlib
import random
import sys
import tempfile

import fxt_tests
import tracelog
import tracelog_tests

DATA = tracelog_tests.DATA
MEGABYTE = 1 << 20
UNKNOWN = "unknown"


# Ways to damage: each takes a line with its LF and a random generator, and returns what stands there instead.

def no_line_end(data):
    return data.replace(b"\n", b"x")


def garbage(_, rng):
    return bytes(rng.randrange(33, 127) for _ in range(rng.randint(1, 200))) + b"\n"


def binary(_, rng):
    return no_line_end(rng.randbytes(rng.randint(1, 300))) + b"\n"


def cut(line, rng):
    return line[:rng.randrange(1, len(line) - 1)] + b"\n"


def beheaded(line, rng):
    return line[rng.randrange(1, len(line) - 1):]


def glued(line, _):
    """To the line behind it."""
    return line[:-1]


def doubled(line, _):
    return line * 2


def flipped(line, rng):
    """A few bits."""
    data = bytearray(line[:-1])
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return no_line_end(bytes(data)) + b"\n"


def zeros(line, rng):
    """NUL bytes inside, as a file system leaves them."""
    at = rng.randrange(len(line))
    return line[:at] + bytes(rng.randint(1, 64)) + line[at:]


def overwritten(line, rng):
    """By zeros, its end too."""
    return bytes(len(line) - 1) + (b"\n" if rng.randrange(2) else b"\0")


def empty(*_):
    return b"\n"


def huge_number(line, rng):
    """A number with many digits."""
    places = [at for at, char in enumerate(line) if char in b"0123456789"]
    at = rng.choice(places) if places else 0
    return line[:at] + rng.choice((b"1", b"9")) * rng.randint(9, 30) + line[at:]


def junk(_, rng):
    return no_line_end(rng.randbytes(MEGABYTE)) + b"\n"


DAMAGES = {"garbage": garbage, "random bytes": binary, "cut": cut, "without its beginning": beheaded,
           "glued to the next": glued, "doubled": doubled, "bits flipped": flipped, "NUL inside": zeros,
           "zeros over it": overwritten, "empty": empty, "a huge number": huge_number, "1 MB of junk": junk}


class Log:
    """A good one: its bytes, and offset and bytes of each line."""

    def __init__(self, data):
        self.data = data
        self.lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
        self.offsets = [sum(map(len, self.lines[:number])) for number in range(len(self.lines))]


class Damaged:
    """A log with one line damaged."""

    def __init__(self, log, number, instead):
        self.number, self.begin = number, log.offsets[number]
        rest = log.offsets[number] + len(log.lines[number])
        self.data = log.data[:self.begin] + instead + log.data[rest:]
        # What is glued to a line behind it takes that along.
        self.end = len(self.data) if number + 1 == len(log.lines) else self.begin + len(instead)
        self.kept = log.offsets[number + 1:]
        if not instead.endswith(b"\n"):
            self.kept = log.offsets[number + 2:]
            self.end = self.data.find(b"\n", self.end) + 1 or len(self.data)
        self.shift = len(instead) - len(log.lines[number])

    def whole(self, log):
        """Offset in the damaged log -> offset in the good one of each line that was not touched."""
        return {**{offset: offset for offset in log.offsets[:self.number]},
                **{offset + self.shift: offset for offset in self.kept}}

    def is_whole(self, log):
        """Whether those are there, and are lines."""
        line_of = dict(zip(log.offsets, log.lines))
        return all(self.data[here - 1:here] in (b"", b"\n") and self.data.startswith(line_of[there], here)
                   for here, there in self.whole(log).items())

    @functools.cached_property
    def rows(self):
        return list(tracelog.records(self.data, texts=False))

    def bad_lines(self):
        """Offset and number of lines in the damage that are no records."""
        rows = enumerate(self.rows, 1)
        return [(row["offset"], number) for number, row in rows
                if self.begin <= row["offset"] < self.end and row["record"] == UNKNOWN]


# Tests.

def without_place(row):
    return {key: value for key, value in row.items() if key not in ("offset", "line")}


class Tester:
    def __init__(self, tool, keep):
        self.tool, self.keep, self.kept, self.good = tool, keep, 0, {}

    def dump_file(self, path):
        return {row["offset"]: row for row in self.tool.lines("dump", "--json", "--from", "tracelog", path)}

    def dump(self, data):
        return self.dump_file(self.tool.file(data, "in.log"))

    def dump_of_good(self, log):
        if log.data not in self.good:
            self.good[log.data] = self.dump(log.data)
        return self.good[log.data]

    def dumps(self, log, damaged, path):
        """Every line that was not touched, with the same fields; of the others the kind."""
        good, found = self.dump_of_good(log), self.dump_file(path)
        for here, there in damaged.whole(log).items():
            if here not in found:
                yield f"lost: {good[there]}"
            elif without_place(found[here]) != without_place(good[there]):
                yield f"found {found[here]}, not {good[there]}"
        kinds = {row["offset"]: row["record"] for row in damaged.rows}
        for offset in found.keys() | kinds.keys():
            shown = found.get(offset, {}).get("record")
            if shown != kinds.get(offset) and not (shown is None and kinds[offset] == UNKNOWN):
                yield f"at {offset} a record {shown}, not {kinds.get(offset)}"

    def informs(self, damaged, info):
        wanted = collections.Counter(row["record"] for row in damaged.rows)
        found = collections.Counter({kind: count for kind, count in info["kinds"].items() if count})
        del wanted[UNKNOWN], found[UNKNOWN]
        yield from fxt_tests.counted(found, wanted)

    def findings(self, paths):
        """By file; together they must have the exit status that each of them has."""
        done = self.tool.call("check", "--json", "--from", "tracelog", *paths)
        found = {path: [] for path in paths}
        for line in done.stdout.splitlines():
            finding = json.loads(line)
            found[finding["file"]].append(finding)
        errors = [path for path in paths if any(one["severity"] == "error" for one in found[path])]
        if done.returncode != bool(errors):
            raise ValueError(f"check: exit status {done.returncode}, findings {found}")
        if errors and len(errors) < len(paths):
            self.findings([path for path in paths if path not in errors])
        return found

    def checks(self, damaged, findings):
        # What looks like a record of another kind may be of a later version.
        places = {(one["record"], one["line"]) for one in findings
                  if one["severity"] == "error" or one["rule"] == "tracelog.unknown-kind"}
        for place in damaged.bad_lines():
            if place not in places:
                yield f"no finding at offset and line {place}: {findings}"

    def weighs(self, damaged):
        """What can still be counted."""
        return self.tool.weighs(damaged.data, "function", ("samples", "bytes"))

    def compare(self, log, cases):
        """Cases: what has been done, and what it made. One run of info and of check looks at all of them."""
        if not self.tool or not cases:
            return
        paths = [str(self.tool.file(damaged.data, f"in{number}.log")) for number, (_, damaged) in enumerate(cases)]
        infos, findings = self.tool.lines("info", "--json", "--from", "tracelog", *paths), self.findings(paths)
        for (what, damaged), path, info in zip(cases, paths, infos, strict=True):
            texts = [*self.dumps(log, damaged, path), *self.informs(damaged, info), *self.checks(damaged, findings[path]),
                     *self.weighs(damaged)]
            if texts and self.keep:
                self.kept += 1
                (self.keep / f"{self.kept}.log").write_bytes(damaged.data)
                what += f" ({self.kept}.log)"
            yield from (f"{what}: {text}" for text in texts)

    def damage(self, log, way, seed, every):
        cases = []
        for number in range(0, len(log.lines), every):
            line, rng = log.lines[number], random.Random(f"{seed} {way.__name__} {number}")
            damaged = Damaged(log, number, way(line, rng))
            what = f"line {number + 1}"
            if not damaged.is_whole(log):
                yield f"{what}: the damage is not where it should be"
            cases.append((what, damaged))
        yield from self.compare(log, cases)

    def many(self, log, seed, rounds):
        """Up to 60 lines at once: every line is what it says, and every sample and allocation is counted."""
        ways = [way for way in DAMAGES.values() if way is not junk]
        for number in range(rounds):
            rng, lines = random.Random(f"{seed} many {number}"), list(log.lines)
            for at in rng.sample(range(len(lines)), rng.randint(2, 60)):
                lines[at] = rng.choice(ways)(lines[at], rng)
            data = b"".join(lines)
            if self.tool:
                found = {row["offset"]: row["record"] for row in self.dump(data).values()}
                wanted = {row["offset"]: row["record"] for row in tracelog.records(data)}
                yield from (f"round {number}: {text}" for text in fxt_tests.counted(found.items(), wanted.items()))
                yield from (f"round {number}: {text}" for text in self.tool.weighs(data, "function"))

    def cut(self, log, step):
        """Whole lines are all delivered, whatever is cut."""
        for end in range(len(log.lines[0]), len(log.data), step):
            whole = [offset for offset, line in zip(log.offsets, log.lines) if offset + len(line) <= end]
            if self.tool:
                good, found = self.dump_of_good(log), self.dump(log.data[:end])
                lost = [good[offset] for offset in whole if found.get(offset) != good[offset]]
                yield from (f"cut at {end}: lost {row}" for row in lost)


def tests(tester, options):
    kinds, small = (Log(fxt_tests.read(DATA / f"{name}.log")) for name in ("kinds", "small-d2-64"))
    for what, way in DAMAGES.items():
        yield f"kinds, {what}", lambda way=way: tester.damage(kinds, way, options.seed, options.stride)
    for what, way in DAMAGES.items():
        yield f"small-d2-64, {what}", lambda way=way: tester.damage(small, way, options.seed, options.every)
    yield "small-d2-64, many lines at once", lambda: tester.many(small, options.seed, options.rounds)
    yield "kinds, cut at every byte", lambda: tester.cut(kinds, options.cuts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10, help="logs with many damaged lines")
    parser.add_argument("--stride", type=int, default=1, help="lines of kinds.log of which one is damaged")
    parser.add_argument("--every", type=int, default=250, help="lines of small-d2-64.log of which one is damaged")
    parser.add_argument("--cuts", type=int, default=1, help="bytes of kinds.log of which one is a cut")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tool = tracelog_tests.Tool(options.tool, pathlib.Path(scratch)) if options.tool else None
        sys.exit(bool(fxt_tests.run(tests(Tester(tool, options.keep), options), options.words)))


if __name__ == "__main__":
    main()
