#!/usr/bin/python3
# tutorial_tests.py - runs doc/tutorial.md: its files are written, its commands typed, and what it shows must come out.
# SPDX-License-Identifier: Apache-2.0
"""usage: tutorial_tests.py --tool TRACKWAY

Prints TAP, a test for each section. A block of a language is a file, which its first line names; a block of `sh` is a
script; a block of `text` is what the script before it prints. Of more than one line the heading and the last word of the
first row are compared, since times are those of one machine; the page's folder is /home/me. A section whose compiler is
not installed is skipped, but not where CI is set.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "doc/tutorial.md"

# What each section needs, the name of its trace, the function that is slow, by its source, and the words of its line there.
SECTIONS = {
    "C": (["gcc"], "orders", "find", "static int find("),
    "C++": (["clang++-14"], "queue", "take", "static int take("),
    "Rust": (["rustc"], "letters", "positions", "fn positions("),
    ".NET": (["mcs", "mono"], "report", "Position", None),
    "Instructions": (["aarch64-linux-gnu-gcc", "qemu-aarch64"], "table", "divisors", "static int divisors("),
    "After the change": (["aarch64-linux-gnu-gcc", "qemu-aarch64"], None, None, None),
}


class Fails(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Fails("\n".join(str(one) for one in what))


def sections(page):
    """The name of each section up to a colon, and its blocks: (language, text)."""
    for part in page.read_text().split("\n## ")[1:]:
        heading = part.split("\n", 1)[0]
        blocks = re.findall(r"^```([a-z]+)\n(.*?)^```$", part, re.M | re.S)
        expect(len(re.findall("^```", part, re.M)) == 2 * len(blocks), "a block without a language", heading)
        yield heading.split(":")[0], blocks


class Reader:
    """Somebody who does what the page says, in one folder."""

    def __init__(self, tool, folder):
        self.folder = folder / "me"
        self.folder.mkdir()
        # Debian's compilers before those that somebody has besides.
        path = [str(pathlib.Path(tool).resolve().parent), "/usr/bin", os.environ["PATH"]]
        self.environment = {**os.environ, "PATH": os.pathsep.join(path), "TRACKWAY_PAGER": "cat", "LC_ALL": "C.UTF-8"}

    def missing(self, needs):
        for need in needs:
            if not shutil.which(need, path=self.environment["PATH"]):
                return f"{need} is not installed"
        if "rustc" in needs:
            known = subprocess.run(["rustc", "-Z", "help"], env={**self.environment, "RUSTC_BOOTSTRAP": "1"}, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
            return None if "instrument-xray" in known else "rustc has no -Z instrument-xray"
        return None

    def type(self, script):
        done = subprocess.run(["bash", "-ec", "set -o pipefail\n" + script], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        expect(done.returncode == 0, "this fails:", script, done.stdout, done.stderr)
        return done.stdout.replace(str(self.folder), "/home/me")

    def follow(self, blocks):
        """All blocks of a section; what each script prints."""
        printed = []
        for language, text in blocks:
            if language == "sh":
                printed.append(self.type(text))
            elif language == "text":
                compare(text, printed[-1])
            else:
                (self.folder / re.match(r"\W*([\w.]+)", text)[1]).write_text(text)
        return printed


def bare(name):
    """What a name is called: without the number that Rust's compiler gives it."""
    return re.sub(r"::h[0-9a-f]{16}$", "", name)


def compare(shown, printed):
    shown, printed = shown.splitlines(), printed.splitlines()
    if len(shown) == 1:
        expect(shown == printed, "the page shows", *shown, "and this came out", *printed)
        return
    ends = [[bare(line.split()[-1]) for line in lines[1:2]] for lines in (shown, printed)]
    expect(shown[0].split() == printed[0].split() and ends[0] == ends[1], "the page shows", *shown, "and this came out", *printed)


def expect_slow(reader, trace, function, source_line, blocks):
    """The function that the section is about stands in its pictures, and the page's line is the one of the source."""
    for name in trace + ".svg", trace + ".html":
        expect(function in (reader.folder / name).read_text(), name, "without", function)
    if source_line:
        language, source = blocks[0]
        line = next(number for number, text in enumerate(source.splitlines(), 1) if source_line in text)
        told = [text for language, text in blocks if language == "text" and text.startswith('"file"')]
        expect(len(told) == 1 and told[0].endswith(f'"line":{line}}}\n'), "the line is", line, "and the page tells", told)


def numbers(printed, heading):
    """The first column of a table of SQL."""
    rows = printed.split(heading + "\n", 1)[1].splitlines()
    return [int(row.split()[0]) for row in rows if re.match(r" *\d+ ", row)]


def claims(name, blocks, printed):
    """What a section says beside what it shows."""
    if name == "C":
        fastest = numbers(printed[-2], "fastest  thousand")
        expect(len(fastest) == 4 and fastest == sorted(fastest), "the calls become longer", fastest)
    if name == "C++":
        fastest = numbers(printed[-1], "fastest  quarter")
        expect(len(fastest) == 4 and fastest == sorted(fastest, reverse=True), "the calls become shorter", fastest)
    if name == "Rust":
        rows = re.findall(r"^ *20 +(\d+) +letters::(\w+)", printed[-1], re.M)
        expect([row[1] for row in rows] == ["positions", "words"] and int(rows[0][0]) > 5 * int(rows[1][0]), rows)
    if name == ".NET":
        expect("Report::Position" in printed[-1], printed[-1])
    if name == "Instructions":
        source = blocks[0][1].splitlines()
        line = source.index("\t\tif (n % d == 0)") + 1
        expect(any(text == f"/home/me/table.c:{line}\n" for text in printed), "the division stands in line", line)
        expect("divisors" in printed[-1] and "udiv" in printed[-1], printed[-1])
    if name == "After the change":
        expect(re.search(r" -[89]\d\.\d % .* divisors$", printed[-1], re.M), printed[-1])


def test(reader, name, blocks):
    needs, trace, function, source_line = SECTIONS[name]
    reason = reader.missing(needs)
    if reason:
        expect(not os.environ.get("CI"), reason)
        return f" # SKIP {reason}"
    printed = reader.follow(blocks)
    claims(name, blocks, printed)
    if trace:
        expect_slow(reader, trace, function, source_line, blocks)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    arguments = parser.parse_args()
    page = list(sections(PAGE))
    failed = 0
    print("TAP version 13")
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(arguments.tool, pathlib.Path(folder))
        for number, (name, blocks) in enumerate(page, 1):
            try:
                print(f"ok {number} - {name}{test(reader, name, blocks)}", flush=True)
            except Fails as error:
                failed += 1
                print(f"not ok {number} - {name}", *(f"# {line}" for line in str(error).splitlines()), sep="\n", flush=True)
        expect([name for name, _ in page] == list(SECTIONS), "the sections are", [name for name, _ in page])
    print(f"1..{len(page)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
