"""Pages of the manual in roff: titles, text, code and tables.

Sources: man(7), tbl(1), groff_char(7).
"""
# SPDX-License-Identifier: Apache-2.0

import re
import textwrap

CODE_WIDTH, TABLE_WIDTH, NARROWEST, INDENT = 76, 70, 14, 4
# Glyphs of groff_char(7) for what its tables would make another character of.
GLYPHS = str.maketrans({"\\": "\\e", "-": "\\-", "~": "\\(ti", "^": "\\(ha", "`": "\\(ga", "'": "\\(aq"})


def escaped(text):
    return text.translate(GLYPHS)


def guarded(line):
    """A line that is no request, though it begins as one."""
    return "\\&" + line if line.startswith((".", "'", "\\(aq")) else line


def title(page, section, summary, release, names=()):
    named = filled(", ".join(escaped(name) for name in [page, *names]) + f" \\- {escaped(summary)}")
    return (f"'\\\" t\n.TH {page.upper()} {section} \"\" \"Trackway {release}\" \"Trackway\"\n"
            f".nh\n.ad l\n.SH NAME\n{named}")


def joined(parts):
    """A page of these: a paragraph that follows a heading is begun by it, and none is empty."""
    return re.sub(r"(\.S[SH] [^\n]*\n)\.PP\n", r"\1", re.sub(r"\.SS [^\n]*\n(?=\.S[SH] )", "", "".join(parts)))


def filled(text):
    """Lines of text that is escaped already."""
    lines = textwrap.wrap(text, 79, break_long_words=False, break_on_hyphens=False)
    return "".join(guarded(line) + "\n" for line in lines)


def code(lines):
    body = "".join(guarded(escaped(line.rstrip())) + "\n" for line in lines)
    return f".EX\n{body}.EE\n"


def indented_code(lines):
    return f".PP\n.RS {INDENT}\n{code(lines)}.RE\n"


def width(text):
    """Columns that escaped text takes."""
    return len(re.sub(r"\\f.|\\&", "", re.sub(r"\\\(..|\\[e-]", "x", text)))


def longest_word(text):
    return max(map(width, text.split()), default=0)


def as_list(head, rows):
    """A table whose columns have no room beside each other: each row is a paragraph."""
    out = ""
    for row in rows:
        more = [f"\\fI{name}\\fR: {cell}" if name else cell for name, cell in zip(head[1:], row[1:]) if cell]
        out += f".TP\n{guarded(row[0] or head[0])}\n{filled('; '.join(more) or row[0])}"
    return out


def table(head, rows):
    """Rows of cells that are escaped already. What is short has the room that it needs, the rest shares what is left."""
    count = len(head)
    head = [f"\\fB{cell}\\fR" if cell else "" for cell in head]
    rows = [(row + [""] * count)[:count] for row in rows]
    needed = [max(width(row[column]) for row in [head, *rows]) for column in range(count)]
    room, long = TABLE_WIDTH - 3 * (count - 1), list(range(count))
    for column in sorted(range(count), key=needed.__getitem__):
        if needed[column] > max(room // len(long), 1):
            break
        room -= needed[column]
        long.remove(column)
    words = {column: max(longest_word(row[column]) for row in [head, *rows]) for column in long}
    widths = ["l"] * count
    for column in sorted(long, key=words.__getitem__, reverse=True):
        share = max(room // len(words), words.pop(column))
        room -= share
        widths[column] = f"lw({share}n)"
        if room < 0 or share < NARROWEST:
            return as_list([re.sub(r"\\f.", "", cell) for cell in head], rows)

    def line(cells):
        return "@".join(f"T{{\n{filled(cell)}T}}" if column in long and cell else guarded(cell)
                        for column, cell in enumerate(cells)) + "\n"

    return f".PP\n.TS\ntab(@) nokeep nowarn;\n{' '.join(widths)}.\n{''.join(map(line, [head, *rows]))}.TE\n"
