#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C header of the files of a page: scripts/embed_page.py OUTPUT INPUT... gives an array of the bytes of each,
a/index.html as index_html."""
import pathlib
import sys


def array(path):
    data = path.read_bytes()
    rows = ["\t" + ",".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24)]
    name = path.name.replace(".", "_").replace("-", "_")
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(rows) + "};\n"


def main():
    output, inputs = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    head = f"/* {output.name} - made by scripts/embed_page.py; edit the files it is made of. */\n"
    output.write_text(head + "".join(map(array, inputs)), encoding="ascii")


main()
