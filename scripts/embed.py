#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C header of text files: scripts/embed.py OUTPUT INPUT... gives an array for each, a/flame.js as flame_js.

Indentation, empty lines and comments that have a line to themselves are left out: what is embedded is in every file
that the tool writes."""
import pathlib
import sys


def squeeze(text):
    """The lines that do something."""
    kept = []
    in_comment = False
    for line in map(str.strip, text.splitlines()):
        in_comment = in_comment or line.startswith("/*")
        if line and not in_comment and not line.startswith("//"):
            kept.append(line)
        if "*/" in line:
            in_comment = False
    return "".join(line + "\n" for line in kept)


def check(path, text):
    """Refuses what cannot stand inside an SVG file as it is."""
    forbidden = ["]]>", "</script"] if path.suffix == ".js" else ["<", "&"]
    for what in forbidden:
        if what in text:
            sys.exit(f"{path}: {what!r} cannot be embedded")
    text.encode("ascii")


def array(path):
    text = squeeze(path.read_text(encoding="utf-8"))
    check(path, text)
    rows = []
    data = text.encode("ascii")
    for at in range(0, len(data), 24):
        rows.append("\t" + ",".join(str(byte) for byte in data[at:at + 24]))
    name = path.name.replace(".", "_").replace("-", "_")
    return f"static const char {name}[] = {{\n" + ",\n".join(rows) + "};\n"


def main():
    output, inputs = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    head = f"/* {output.name} - made by scripts/embed.py; edit the files it is made of. */\n"
    output.write_text(head + "".join(array(path) for path in inputs), encoding="ascii")


main()
