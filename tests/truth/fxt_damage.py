#!/usr/bin/python3
# fxt_damage.py - damages FXT archives and tells what must still be read: every record outside the damage.
# SPDX-License-Identifier: Apache-2.0
"""usage: fxt_damage.py [--tool TRACKWAY] [--seed N] [--rounds N] [--cuts BYTES] [--keep DIR] [WORD...]

Prints TAP. Archives are damaged in the ways of DAMAGES and SPLICES, ROUNDS times each, in both byte orders, and cut at every byte of
their first BYTES; the same seed does the same. fxt.py knows which records are whole afterwards, wherever they have been
moved to. With --tool each of them must come out of `dump --json` with what it says, nothing else may come out of places
that were not damaged, and `info` must count as lost the bytes of which no record came, and `check` must find something.
Without it only the damage itself is tested. --keep writes each archive that fails to a directory. Words choose the tests in
whose name one stands.

A damaged record that is still a valid one may be read as what it now says, and so may what refers to it. If it now reaches
to the beginning of a later record, nothing shows that what lies between was no part of it. One or two records between two
damaged places may be lost: only what they hold shows that they are records. So may one be whose last bytes complete a
header.

A blob larger than what is read at once has been told of before it shows that some of it is missing: it ends where the next
record begins.
"""
import argparse
import collections
import functools
import json
import pathlib
import random
import struct
import sys
import tempfile

import fxt
import fxt_tests

DATA = fxt_tests.DATA
MASK = 1 << 64


class Archive:
    """A good one: its bytes, byte order, and offset and size of each record."""

    def __init__(self, data):
        self.data, self.order = data, fxt.order_of(data)
        self.records = list(fxt.Decoder(data).sizes())

    def header(self, offset):
        return struct.unpack_from(self.order + "Q", self.data, offset)[0]

    def word(self, value):
        return struct.pack(self.order + "Q", value % MASK)


# Ways to damage: each takes an archive and a random generator and returns [(begin, end, what stands there instead)].

def some_record(archive, rng):
    return rng.choice(archive.records[1:])


def zero_header(archive, rng):
    offset, _ = some_record(archive, rng)
    return [(offset, offset + 8, bytes(8))]


def zero_word(archive, rng):
    """Between two records."""
    offset, _ = some_record(archive, rng)
    return [(offset, offset, bytes(8 * rng.randint(1, 20)))]


def zero_size(archive, rng):
    offset, _ = some_record(archive, rng)
    header = archive.header(offset)
    return [(offset, offset + 8, archive.word(header & ~(0xfff << 4)))]


def large_size(archive, rng):
    """Past the end of the file."""
    offset, _ = some_record(archive, rng)
    header = archive.header(offset)
    if 8 * 0xfff > len(archive.data) - offset:
        header |= 0xfff << 4
    else:
        header = fxt.LARGE | rng.randint(1 << 30, (1 << 32) - 1) << 4
    return [(offset, offset + 8, archive.word(header))]


def overwritten(archive, rng):
    size = rng.choice((1, 2, 7, 8, rng.randint(1, 100), rng.randint(1, 3000)))
    begin = rng.randrange(8, len(archive.data) - size)
    return [(begin, begin + size, rng.randbytes(size))]


def inserted(archive, rng):
    begin = rng.randrange(8, len(archive.data))
    return [(begin, begin, rng.randbytes(rng.choice((1, 3, 8, rng.randint(1, 64), rng.randint(1, 5000)))))]


def between(archive, rng):
    offset, _ = some_record(archive, rng)
    return [(offset, offset, rng.randbytes(rng.choice((1, 8, rng.randint(1, 64), rng.randint(1, 5000)))))]


def missing(archive, rng):
    size = rng.choice((1, 8, rng.randint(1, 64), rng.randint(1, 3000)))
    begin = rng.randrange(8, len(archive.data) - size)
    return [(begin, begin + size, b"")]


def magic_lost(archive, rng):
    return [(0, 8, rng.randbytes(8))]


def page_of_zeros(archive, rng):
    """One that never reached the disk."""
    page = rng.choice((512, 4096))
    begin = rng.randrange(0, len(archive.data) // page) * page
    size = min(page, len(archive.data) - begin)
    return [(max(begin, 8), begin + size, bytes(begin + size - max(begin, 8)))]


def near_places(archive, rng):
    """Several in a few records."""
    first = rng.randrange(1, len(archive.records) - 8)
    edits, least = [], 0
    for number in sorted(rng.sample(range(first, first + 8), rng.randint(2, 4))):
        offset, size = archive.records[number]
        begin = offset + rng.randrange(size)
        if begin > least:
            end = rng.choice((begin, min(begin + rng.randint(1, 12), offset + size)))
            edits.append((begin, end, rng.randbytes(rng.choice((0, 1, end - begin, rng.randint(1, 40))))))
            least = end
    return [(begin, end, text) for begin, end, text in edits if end > begin or text]


def another_inside(archive, rng):
    """Its middle overwritten by a whole archive, or its tail: as the same one three times, of which parts are missing."""
    third = len(archive.data) // 3
    begin = rng.randrange(8, third)
    end = third if rng.random() < 0.5 else rng.randrange(begin, third)
    return [(begin, third, b""), (2 * third, 2 * third + end, b"")]


def three_places(archive, rng):
    """Far from one another."""
    edits, third = [], len(archive.records) // 3
    for part in range(3):
        offset, size = archive.records[part * third + third // 2]
        edits.append((offset + rng.randrange(size), offset + size, rng.randbytes(rng.randint(0, 50))))
    return edits


def flipped_bits(archive, rng):
    """In headers of strings and threads that others refer to."""
    headers = [offset for offset, _ in archive.records if archive.header(offset) & 15 in (2, 3)]
    edits = []
    for offset in sorted(rng.sample(headers, min(len(headers), rng.randint(1, 4)))):
        at = offset + rng.randrange(8)
        edits.append((at, at + 1, bytes([archive.data[at] ^ 1 << rng.randrange(8)])))
    return edits


DAMAGES = {"a header of zeros": zero_header, "words of zeros between records": zero_word, "a size of zero": zero_size,
           "a size past the end": large_size, "random bytes over others": overwritten,
           "random bytes between others": inserted, "random bytes between records": between, "bytes missing": missing,
           "no magic record": magic_lost, "three places": three_places, "a page of zeros": page_of_zeros,
           "places near one another": near_places, "bits in headers of strings and threads": flipped_bits}


# Ways to put an archive together anew: each takes an archive, another and a random generator and returns what it is made
# of: [(archive, begin, end)].

PAGE = 4096


def pages_of(archive, rng):
    """Where two pages begin that are not the last one."""
    first, second = sorted(rng.sample(range(len(archive.data) // PAGE), 2))
    return first * PAGE, second * PAGE


def pages_swapped(archive, _, rng):
    first, second = pages_of(archive, rng)
    return [(archive, 0, first), (archive, second, second + PAGE), (archive, first + PAGE, second),
            (archive, first, first + PAGE), (archive, second + PAGE, len(archive.data))]


def page_doubled(archive, _, rng):
    """Written twice, the second time where another should be."""
    first, second = pages_of(archive, rng)
    return [(archive, 0, second), (archive, first, first + PAGE), (archive, second + PAGE, len(archive.data))]


def page_repeated(archive, _, rng):
    """Written twice, one after the other."""
    first, _ = pages_of(archive, rng)
    return [(archive, 0, first + PAGE), (archive, first, len(archive.data))]


def two_halves(archive, other, rng):
    """Of different archives."""
    begin, end = (rng.randrange(8, len(one.data)) for one in (archive, other))
    return [(archive, 0, begin), (other, end, len(other.data))]


SPLICES = {"pages swapped": pages_swapped, "a page in place of another": page_doubled, "a page twice": page_repeated,
           "two halves": two_halves}


def touches(edit, offset, size):
    """Whether a record is changed. What is put in at one place has no extent; at a record's beginning it moves it only."""
    begin, end, _ = edit
    return begin < offset + size and end > offset if begin < end else offset < begin < offset + size


AT_ONCE = 1 << 16  # bytes of a blob that may have been told of
FEW = 3  # records show by themselves that they are some


def lonely(archive, edits):
    """Offsets of whole records of which fewer stand between two edits."""
    whole = [offset for offset, size in archive.records if not any(touches(edit, offset, size) for edit in edits)]
    for (_, before, _), (after, _, _) in zip(edits, edits[1:]):
        between = [offset for offset in whole if before <= offset < after]
        if len(between) < FEW:
            yield from between


def completing(archive, edits):
    """Offsets of records whose last bytes may be the first ones of a header of which as many are missing."""
    ends = {offset + size: offset for offset, size in archive.records}
    for begin, end, instead in edits:
        header = next((offset for offset, _ in archive.records if offset < end < offset + 8), None)
        if not instead and header is not None:
            before = min(begin, header)
            yield from [ends[before]] if before in ends else []


def moved(offset, edits):
    return offset + sum(len(instead) - end + begin for begin, end, instead in edits if end <= offset)


def whole_after(archive, edits):
    """New offset and size of each record that no edit touches."""
    return {moved(offset, edits): size for offset, size in archive.records
            if not any(touches(edit, offset, size) for edit in edits)}


def elsewhere(archive, edits, data):
    """The same damage may be at other places: without one of two zeros, nobody knows which. Yields such edits."""
    for number, (begin, end, instead) in enumerate(edits):
        shift = sum(len(other) - stop + start for start, stop, other in edits[:number])
        for step in (-1, 1):
            at, stop = begin, end
            while len(instead) != end - begin and abs(at - begin) < 64 and 0 < at and stop < len(archive.data):
                here, there = (at + len(instead) - 1, stop - 1) if step < 0 else (at, at)
                if data[here + shift] != archive.data[there]:
                    break
                at, stop = at + step, stop + step
                moved_text = data[at + shift:at + shift + len(instead)]
                yield [*edits[:number], (at, stop, moved_text), *edits[number + 1:]]


class Damaged:
    """A damaged archive, and what it must still give."""

    def __init__(self, archive, edits):
        self.order = archive.order
        self.data, at = b"", 0
        for begin, end, instead in edits:
            self.data += archive.data[at:begin] + instead
            at = end
        self.data += archive.data[at:]
        self.whole = whole_after(archive, edits)
        touched = [(offset, size) for offset, size in archive.records if any(touches(edit, offset, size) for edit in edits)]
        # Where those begin whose first word is where it should be, or is seen from their end, whatever it says now.
        self.altered = {moved(offset, edits) for offset, _ in touched
                        if not any(begin <= offset < end and len(instead) != end - begin for begin, end, instead in edits)}
        self.altered |= {max(0, moved(offset + size, edits) - size) for offset, size in touched} - self.whole.keys()
        self.doubtful = {moved(offset, edits) for offset in (*lonely(archive, edits), *completing(archive, edits))}
        for others in elsewhere(archive, edits, self.data):
            whole = whole_after(archive, others)
            if whole.keys() - self.whole.keys():
                self.doubtful |= self.whole.keys() ^ whole.keys()

    def check(self, archive):
        """Every record that should be whole has its bytes."""
        here = (self.data[offset:offset + size] for offset, size in self.whole.items())
        there = {archive.data[offset:offset + size] for offset, size in archive.records}
        return all(record in there for record in here)

    def decoder(self):
        decoder = fxt.Decoder(self.data)
        decoder.order = self.order
        return decoder

    def decode(self, offsets):
        decoder, rows = self.decoder(), {}
        for offset in sorted(offsets):
            try:
                rows[offset] = decoder.record(offset)
            except fxt.Damage:
                pass
        return rows

    @functools.cached_property
    def sizes(self):
        return self.decoder()

    def size_of(self, offset):
        return self.sizes.header(offset)[1]

    def still_valid(self):
        """Offset and size of damaged records that are records still."""
        valid = {}
        for offset in self.altered:
            size = self.size_of(offset)
            if size and self.decode([offset]):
                valid[offset] = size
        return valid

    def expected(self, found):
        """Offset of each whole record -> what it must say to a reader that finds records at these offsets. Left out is what
        a damaged record reaches over."""
        valid = self.still_valid()
        swallowed = set(self.doubtful)
        for offset, size in valid.items():
            if offset + size in self.whole or offset + size == len(self.data):
                swallowed.update(other for other in self.whole if offset < other < offset + size)
        sure = set(self.whole) - swallowed
        rows = self.decode(sure | (swallowed | valid.keys()) & set(found))
        return {offset: rows[offset] for offset in sure}


class Spliced(Damaged):
    """Parts of archives, one behind the other."""

    def __init__(self, parts):
        parts = [part for part in parts if part[1] < part[2]]
        self.order = parts[0][0].order
        self.data, self.whole, self.altered, self.doubtful = b"", {}, set(), set()
        for archive, begin, end in parts:
            whole = {len(self.data) + offset - begin: size for offset, size in archive.records
                     if begin <= offset and offset + size <= end}
            self.altered |= {len(self.data) + offset - begin for offset, size in archive.records
                             if begin <= offset < end < offset + size}
            self.doubtful |= whole.keys() if len(whole) < FEW else set()
            self.whole |= whole
            self.data += archive.data[begin:end]


def wrong(damaged, found, lost):
    """What is wrong with rows that a reader found and with what it counts as lost."""
    expected, at, size, length_before = damaged.expected(row["offset"] for row in found), 0, 0, 0
    for row in found:
        offset, length = row["offset"], damaged.size_of(row["offset"])
        if offset < at and length_before < AT_ONCE:
            yield f"the record at {offset} begins inside another"
        size -= max(0, at - offset)
        at, size, length_before = offset + length, size + length, length
    there = {row["offset"]: row for row in found}
    for offset, row in expected.items():
        if offset not in there:
            yield f"lost: {row}"
        elif not fxt_tests.same(there[offset], row):
            yield f"found {there[offset]}, not {row}"
    if lost is not None and lost != len(damaged.data) - size:
        yield f"{lost} bytes are counted as lost, not {len(damaged.data) - size}"


# Tests.

TOGETHER = 64  # archives that one command looks at


class Tester:
    def __init__(self, tool, keep):
        self.tool, self.keep, self.kept = tool, keep, 0

    def check(self, paths):
        """The exit status and the rules that are broken, by file."""
        done = self.tool.call("check", "--json", "--from", "fxt", *paths)
        rules = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            finding = json.loads(line)
            rules[finding["file"]].append(finding["rule"])
        return done.returncode, rules

    def compare(self, cases):
        """Cases: what has been done, and what it made. One run of info and of check looks at all of them."""
        if not self.tool or not cases:
            return
        paths = [str(self.tool.file(damaged.data, f"in{number}.fxt")) for number, (_, damaged) in enumerate(cases)]
        infos = self.tool.lines("info", "--json", "--from", "fxt", *paths)
        status, rules = self.check(paths)
        for (what, damaged), path, info in zip(cases, paths, infos, strict=True):
            lost = info["lost_bytes"]
            texts = list(wrong(damaged, self.tool.lines("dump", "--json", "--from", "fxt", path), lost))
            if lost and (status != 1 or not rules[path]):
                texts.append(f"check: exit status {status}, findings {rules[path]}, though {lost} bytes are lost")
            if texts and self.keep:
                self.kept += 1
                (self.keep / f"{self.kept}.fxt").write_bytes(damaged.data)
                what += f" ({self.kept}.fxt)"
            yield from (f"{what}: {text}" for text in texts)

    def damage(self, archive, way, seed, rounds):
        cases = []
        for number in range(rounds):
            edits = way(archive, random.Random(f"{seed} {way.__name__} {number}"))
            damaged = Damaged(archive, edits)
            what = f"round {number}, " + ", ".join(f"{begin}-{end} now {len(text)} bytes" for begin, end, text in edits)
            if not damaged.check(archive):
                yield f"{what}: the damage is not where it should be"
            cases.append((what, damaged))
        yield from self.compare(cases)

    def splice(self, archive, other, way, seed, rounds):
        cases = []
        for number in range(rounds):
            parts = way(archive, other, random.Random(f"{seed} {way.__name__} {number}"))
            what = f"round {number}, " + ", ".join(f"{begin}-{end}" for _, begin, end in parts)
            cases.append((what, Spliced(parts)))
        yield from self.compare(cases)

    def cut(self, archive, most):
        """At every byte; with fewer than eight there is nothing to know the format by."""
        ends = range(8, min(most, len(archive.data)))
        for first in range(0, len(ends), TOGETHER):
            yield from self.compare([(f"cut at {end}", Damaged(archive, [(end, len(archive.data), b"")]))
                                     for end in ends[first:first + TOGETHER]])


def large_blob(size):
    """More than is read at once, of category 1 and name 2."""
    words = fxt.LARGE | (3 + (size + 7) // 8) << 4 | 1 << 40, 1 | 2 << 16, size
    return struct.pack("<3Q", *words) + (bytes(range(251)) * (size // 251 + 1))[:size] + bytes(-size % 8)


@functools.lru_cache(maxsize=1)
def archives():
    oneshot, streaming = (fxt_tests.read(DATA / name) for name in ("oneshot_all.fxt", "streaming.fxt"))
    # Records with everything in them, then many that are alike; and records of 32 KB.
    end = next(offset for offset, _ in fxt.Decoder(streaming).sizes() if offset > 12000)
    small = oneshot[:1800] + streaming[8:end]
    half = next(offset for offset, _ in fxt.Decoder(small).sizes() if offset > len(small) // 2)
    huge = small[:half] + large_blob(300000) + small[half:]
    return [one for name, data in (("small", small), ("with large records", oneshot), ("with a huge record", huge))
            for one in ((name, data), (f"{name}, big endian", fxt.swapped(data)))]


def tests(tester, options):
    for name, data in archives():
        archive = Archive(data)
        for what, way in DAMAGES.items():
            yield (f"{what}: {name}",
                   lambda archive=archive, way=way: tester.damage(archive, way, options.seed, options.rounds))
        tripled = Archive(3 * data)
        if "huge" in name:
            continue  # what a blob of which most is missing holds may be its own
        yield (f"another archive inside: {name}",
               lambda archive=tripled: tester.damage(archive, another_inside, options.seed, options.rounds))
    small, small_big, large, large_big, _, _ = (Archive(data) for _, data in archives())
    for name, archive, other in (("small", small, large), ("with large records", large, small),
                                 ("small, big endian", small_big, large_big),
                                 ("with large records, big endian", large_big, small_big)):
        for what, way in SPLICES.items():
            yield (f"{what}: {name}", lambda archive=archive, other=other, way=way:
                   tester.splice(archive, other, way, options.seed, options.rounds))
    for name, data in archives()[:2]:
        yield f"cut at every byte: {name}", lambda archive=Archive(data): tester.cut(archive, options.cuts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=2048)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        tool = fxt_tests.Tool(options.tool, pathlib.Path(scratch)) if options.tool else None
        sys.exit(bool(fxt_tests.run(tests(Tester(tool, options.keep), options), options.words)))


if __name__ == "__main__":
    main()
