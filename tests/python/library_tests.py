#!/usr/bin/python3
"""library_tests - every function that a public header declares is found in the shared libraries by who compiles nothing.
Prints TAP, a test a header.

usage: library_tests.py LIBRARY TRACE_LIBRARY RECORDER
"""
# SPDX-License-Identifier: Apache-2.0

import ctypes
import pathlib
import re
import sys

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include/trackway"
OF_RECORDER = {"flight"}
OF_TRACE = {"trace", "fuchsia"}  # macros, and functions of the tracer's library; those that end in _ are the macros' own


def declared(text):
    """The functions that a header declares for its library, and those that only it has."""
    code = re.sub(r"/\*.*?\*/|\\\n", "", text, flags=re.S)
    exported = re.findall(r"^TW_API\b[^;{=(]*?\b(tw_\w+)\(", code, re.M)
    inline = re.findall(r"^(?:static )?inline\b[^;{=(]*?\b(tw_\w*[a-z0-9])\(", code, re.M)
    return exported, inline


def main():
    library, trace, recorder = map(ctypes.CDLL, sys.argv[1:4])
    headers = sorted(HEADERS.glob("*.h"))
    print(f"TAP version 13\n1..{len(headers) + 1}")
    found, failed = 0, False
    for number, header in enumerate(headers, 1):
        exported, inline = declared(header.read_text())
        of = trace if header.stem in OF_TRACE else recorder if header.stem in OF_RECORDER else library
        missing = [name for name in exported + inline if not hasattr(of, name)]
        found += len(exported)
        print(f"{'not ok' if missing else 'ok'} {number} - {header.name}", *(f"\n# not there: {name}" for name in missing))
        failed |= bool(missing)
    # A list that nothing is read into would pass: there are more than 150.
    print(f"{'ok' if found > 150 else 'not ok'} {len(headers) + 1} - {found} functions were looked for")
    sys.exit(failed or found <= 150)


main()
