#!/usr/bin/python3
# page_tests.py - what is shipped of the page of `trackway view` is what its sources give.
# SPDX-License-Identifier: Apache-2.0
"""usage: page_tests.py

Prints TAP; skips all where npm or what it installs is missing, unless CI is set. web/view/dist is built again from
web/view/src with the versions of the lock file, and must have the same bytes: packages are made without network, so what is
built is in the tree.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VIEW = pathlib.Path(__file__).resolve().parents[2] / "web/view"
MOST = 200_000  # bytes of all that the page loads, compressed
MARKUP = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(|createContextualFragment")


def run(*command):
    done = subprocess.run(command, cwd=VIEW, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def rebuilt():
    """What of dist/ is not what the sources give."""
    with tempfile.TemporaryDirectory() as scratch:
        yield from run("node", "build.mjs", scratch)
        built = {path.name: path.read_bytes() for path in pathlib.Path(scratch).iterdir()}
    shipped = {path.name: path.read_bytes() for path in (VIEW / "dist").iterdir()}
    for name in sorted(built.keys() | shipped.keys()):
        if built.get(name) != shipped.get(name):
            yield f"dist/{name} is not what the sources give: run `npm ci && npm run build` in web/view"


def typed():
    return run("node", "node_modules/typescript/bin/tsc", "--noEmit")


def parts():
    return run("node", str(pathlib.Path(__file__).with_name("page_units.mjs")))


def small():
    size = sum(len(gzip.compress(path.read_bytes(), 9)) for path in (VIEW / "dist").iterdir())
    if size > MOST:
        yield f"{size} bytes, more than {MOST}"


def no_markup():
    """Names of a trace are text: the sources have nothing that makes markup or code of a text."""
    for path in sorted((VIEW / "src").rglob("*.ts")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MARKUP.search(line):
                yield f"{path.relative_to(VIEW)}:{number}: {line.strip()}"


TESTS = {
    "the page that is shipped is built from its sources": rebuilt,
    "its types fit": typed,
    "its parts do what they say": parts,
    "it is small": small,
    "nothing makes markup of a text": no_markup,
}


def missing():
    there = {"node": shutil.which("node"), "esbuild": (VIEW / "node_modules/esbuild").exists(),
             "typescript": (VIEW / "node_modules/typescript").exists()}
    return ", ".join(name for name, found in there.items() if not found)


def main():
    print("TAP version 13")
    if missing() and "CI" not in os.environ:
        print(f"1..0 # SKIP there is no {missing()}")
        return
    print(f"1..{len(TESTS)}")
    failed = 0
    for number, (name, found) in enumerate(TESTS.items(), 1):
        wrong = list(found())
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {number} - {name}", *(f"# {text}" for text in wrong), sep="\n", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
