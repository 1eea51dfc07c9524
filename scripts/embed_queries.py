#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C header of statements: scripts/embed_queries.py OUTPUT TYPE ARRAY FOLDER INPUT... gives an array of names
and texts. A name is the file's place in the folder, with points between; `prelude` is no member, but has an array of
its own."""
import pathlib
import sys


def symbol(name):
    return name.replace(".", "_").replace("-", "_")


def text_of(path):
    text = path.read_text(encoding="ascii")
    if not text.startswith("-- "):
        sys.exit(f"{path}: does not begin with a comment that says what it answers")
    return text


def array(name, text):
    """Bytes: a long text is no literal in C."""
    codes = [str(code) for code in text.encode("ascii")] + ["0"]
    lines = [", ".join(codes[i:i + 24]) for i in range(0, len(codes), 24)]
    return f"static const char {symbol(name)}[] = {{\n\t" + ",\n\t".join(lines) + "};\n"


def main():
    output, kind, members, folder = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    paths = [pathlib.Path(name) for name in sys.argv[5:]]
    names = [".".join(path.resolve().relative_to(folder.resolve()).with_suffix("").parts) for path in paths]
    head = f"/* {output.name} - made by scripts/embed_queries.py; edit the files it is made of. */\n"
    texts = "".join(array(name, text_of(path)) for name, path in zip(names, paths))
    rows = "".join(f'\t{{"{name}", {symbol(name)}}},\n' for name in names if name != "prelude")
    output.write_text(f"{head}{texts}static const struct {kind} {members}[] = {{\n{rows}}};\n", encoding="ascii")


main()
