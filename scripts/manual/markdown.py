#!/usr/bin/python3
"""markdown.py - a page of the manual from documents of doc/.

usage: markdown.py RELEASE OUTPUT PAGE SECTION SUMMARY DOCUMENT...    each document is a section; of one, its parts are
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import re
import sys

import roff

INLINE = re.compile(r"`` ?(?P<code2>.+?) ?``|`(?P<code>[^`]+)`|\*\*(?P<bold>.+?)\*\*"
                    r"|(?<![\w*])\*(?P<italic>[^*\s][^*]*?)\*(?!\w)"
                    r"|!\[(?P<picture>[^\]]*)\]\([^)]*\)|\[(?P<link>[^\]]+)\]\((?P<to>[^)]*)\)|\\(?P<bare>[\\`*_|<>\[\]])", re.S)
ITEM = re.compile(r"(\s*)([-*]|\d+\.) +(.*)")


def inline(text):
    """Text with Markdown's marks, escaped."""
    out, at = "", 0
    for found in INLINE.finditer(text):
        out += roff.escaped(text[at:found.start()])
        at = found.end()
        kind = found.lastgroup
        if kind in ("code", "code2"):
            out += f"\\fB{roff.escaped(found[kind])}\\fR"
        elif kind == "bold":
            out += f"\\fB{inline(found['bold'])}\\fR"
        elif kind == "italic":
            out += f"\\fI{inline(found['italic'])}\\fR"
        elif kind == "to":
            out += inline(found["link"]) + (f" <{roff.escaped(found['to'])}>" if "://" in found["to"] else "")
        else:
            out += roff.escaped(found[kind])
    return out + roff.escaped(text[at:])


def paragraph(lines):
    return roff.filled(inline(" ".join(" ".join(lines).split())))


class Document:
    """Markdown as the documents here use it: headings, paragraphs, lists, code, tables."""

    def __init__(self, text, shift):
        self.lines, self.at, self.shift = text.splitlines(), 0, shift

    def left(self):
        return self.at < len(self.lines)

    def line(self):
        return self.lines[self.at]

    def take(self, is_part):
        taken = []
        while self.left() and is_part(self.line()):
            taken.append(self.line())
            self.at += 1
        return taken

    def heading(self):
        marks, _, text = self.line().partition(" ")
        self.at += 1
        level = len(marks) - self.shift
        if level == 0:  # of the whole document, which the page's name tells
            return ""
        if level == 1:
            return f".SH {roff.escaped(text.upper()) if not INLINE.search(text) else inline(text)}\n"
        return f".SS {inline(text)}\n" if level == 2 else f".PP\n\\fB{inline(text)}\\fR\n"

    def fence(self):
        self.at += 1
        lines = self.take(lambda line: not line.lstrip().startswith("```"))
        self.at += 1
        return roff.indented_code(lines)

    def code(self):
        lines = self.take(lambda line: line.startswith("    ") or not line.strip())
        while lines and not lines[-1].strip():
            lines.pop()
        return roff.indented_code([line[4:] for line in lines])

    def table(self):
        rows = [[inline(cell.strip().replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
                for line in self.take(lambda line: line.startswith("|"))]
        return roff.table(rows[0], rows[2:])

    def item(self):
        found = ITEM.match(self.line())
        self.at += 1
        indent = len(found[1])
        lines = [found[3]] + self.take(lambda line: line.strip() and not ITEM.match(line) and line.startswith(" "))
        mark = "\\(bu" if found[2] in "-*" else found[2]
        text = f".IP {mark} {4 if len(mark) > 2 else 2}\n" + paragraph(lines)
        return f".RS 2\n{text}.RE\n" if indent else text

    def text(self):
        lines = [self.line()]
        self.at += 1
        return ".PP\n" + paragraph(lines + self.take(lambda line: line.strip() and not self.begins_another(line)))

    @staticmethod
    def begins_another(line):
        return line.startswith(("#", "|", "```")) or ITEM.match(line) and not line.startswith("    ")

    def block(self):
        line = self.line()
        if re.match(r"#+ ", line):
            return self.heading()
        if line.lstrip().startswith("```"):
            return self.fence()
        if line.startswith("    "):
            return self.code()
        if line.startswith("|"):
            return self.table()
        if ITEM.match(line):
            return self.item()
        return self.text()

    def roff(self):
        parts = []
        while self.left():
            if self.line().strip() and not self.line().startswith("<!--"):
                parts.append(self.block())
            else:
                self.at += 1
        return roff.joined(parts)


def without_contents(text):
    """A document without its table of contents, whose links lead nowhere here."""
    return re.sub(r"(^(- |\d+\. )\[[^\]]*\]\(#[^)]*\)\n)+", "", text, flags=re.M)


def main():
    release, output, name, section, summary, *documents = sys.argv[1:]
    shift = 1 if len(documents) == 1 else 0
    texts = [Document(without_contents(pathlib.Path(path).read_text()), shift).roff() for path in documents]
    body = "".join(texts)
    if shift:
        body = ".SH DESCRIPTION\n" + re.sub(r"^\.PP\n", "", body)
    pathlib.Path(output).write_text(roff.title(name, section, summary, release) + body
                                    + ".SH SEE ALSO\n.BR trackway (1),\n.BR trackway (3)\n")


if __name__ == "__main__":
    main()
