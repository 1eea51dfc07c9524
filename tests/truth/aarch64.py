#!/usr/bin/python3
"""aarch64 - programs for AArch64 in tests: how they are compiled, and the running of tests over their traces. Prints TAP."""
# SPDX-License-Identifier: Apache-2.0

import argparse
import gc
import os
import pathlib
import shutil
import subprocess
import tempfile

gc.disable()  # what is decoded is kept, and has no circles: searching it took a sixth of the time

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "programs/aarch64"
COMPILER = os.environ.get("AARCH64_CC", "aarch64-linux-gnu-gcc")


class Failed(Exception):
    pass


def expect(truth, *words):
    if not truth:
        raise Failed(" ".join(str(word) for word in words))


def compile_program(directory, name, *options, to=None, static=True):
    """The program of a source, made once."""
    path = directory / (to or name)
    source = next(SOURCES.glob(name + ".[Sc]"))
    own = ["-nostdlib"] if source.suffix == ".S" else ["-O2", "-pthread"]
    own += ["-static"] if static else []
    if not path.exists():
        subprocess.run([COMPILER, *own, *options, source, "-o", path], check=True)
    return path


def run_test(number, test, bench):
    """A test raises what is wrong, and returns why it could not be run, if so."""
    try:
        skipped = test(bench)
        print(f"ok {number} - {test.__doc__}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
    except (Failed, ValueError, subprocess.CalledProcessError, OSError, StopIteration) as error:
        print(f"not ok {number} - {test.__doc__}", flush=True)
        print("#", str(error).replace("\n", "\n# ")[:2000], flush=True)


def main(names, make, **options):
    """Runs the functions `test_...` of a module's names: each is called with what make(arguments, directory) returned. options:
    more of the command line: a file's help, or what else argparse takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    for name, how in options.items():
        parser.add_argument(f"--{name}", **(how if isinstance(how, dict) else {"type": os.path.abspath, "help": how}))
    parser.add_argument("tests", nargs="*", help="words of tests' names; all otherwise")
    arguments = parser.parse_args()
    tests = [value for name, value in names.items() if name.startswith("test_")]
    if arguments.tests:
        tests = [test for test in tests if any(word in test.__name__ for word in arguments.tests)]
    print("TAP version 13")
    missing = [name for name in (COMPILER, "qemu-aarch64") if not shutil.which(name)]
    if missing and not os.environ.get("CI"):
        print(f"1..0 # SKIP not there: {' '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as directory:
        bench = make(arguments, pathlib.Path(directory))
        for number, test in enumerate(tests, 1):
            run_test(number, test, bench)
    print(f"1..{len(tests)}")
