#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C header of queries: scripts/embed_queries.py OUTPUT INPUT... gives an array of their names and texts."""
import pathlib
import sys


def quoted(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def entry(path):
    lines = path.read_text(encoding="ascii").splitlines()
    if not lines or not lines[0].startswith("-- "):
        sys.exit(f"{path}: does not begin with a comment that says what it answers")
    text = "\n\t    ".join(quoted(line) for line in lines)
    return f'\t{{"{path.stem}",\n\t    {text}}},\n'


def main():
    output, inputs = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    head = f"/* {output.name} - made by scripts/embed_queries.py; edit the files it is made of. */\n"
    body = "".join(entry(path) for path in inputs)
    output.write_text(f"{head}static const struct tw_sql_query queries[] = {{\n{body}}};\n", encoding="ascii")


main()
