#!/usr/bin/python3
"""header.py - the page of a public header of the library, and the page of all of them, from the headers alone.

usage: header.py RELEASE OUTPUT HEADER        one page
       header.py RELEASE OUTPUT HEADERS...    trackway(3)
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import re
import sys
import textwrap

import roff

# What is no declaration; of conditions the part is shown that a C compiler takes with nothing defined.
LEFT_OUT = re.compile(r"^#\s*(include|undef|pragma|define TRACKWAY_\w+_H$)|^/\* clang-format (on|off) \*/$")
NOT_TAKEN = re.compile(r"^#\s*if.*(__cplusplus|NTRACE)")
# What macros are made of: names that end with "_".
INSIDE = re.compile(r"^#define \w+_(?:\([^)]*\))?(?=[ \n])(?:[^\n]*\\\n)*[^\n]*\n?"
                    r"|^(?:static inline|struct|typedef) [^;{=]*?\w+_\s*(?:\([^{;]*\))?\s*\{.*?^\};?\n?"
                    r"|^[A-Z_]+_\([^\n]*\n?|^extern [^;]*_;[^;]*;\n?", re.M | re.S)
# Macros whose use does not show what they become.
MACRO = re.compile(r"^(#define (?!X\(|\w+_LIST\()\w+\([^)]*\))(?:[^\n]*\\\n)*[^\n]*", re.M)


def comment_text(comment):
    """The text of a comment, without its stars."""
    lines = re.sub(r"^/\*\s?|\s*\*/$", "", comment).splitlines()
    return "\n".join(re.sub(r"^\s*\* ?", "", line) if number else line for number, line in enumerate(lines)).strip()


def summary_of(header):
    first = comment_text(re.match(r"/\*.*?\*/", header.read_text(), re.S).group())
    named, _, rest = first.partition(" - ")
    assert named == header.name, f"{header}: the first comment names {named}"
    whole, _, more = rest.partition("\n\n")
    return " ".join(whole.split()).rstrip("."), more


def taken(lines):
    """The lines that conditions leave: of each the first part that is taken."""
    stack = []  # of conditions: whether this part is taken, whether one was
    for line in lines:
        if re.match(r"#\s*if", line):
            mine = not NOT_TAKEN.match(line)
            stack.append((mine, mine))
        elif re.match(r"#\s*el", line):
            stack[-1] = (not stack[-1][1], True)
        elif re.match(r"#\s*endif", line):
            stack.pop()
        elif all(mine for mine, _ in stack):
            yield line


def body_of(text):
    """A header without its first comments, conditions and what is for C++ alone."""
    text = re.sub(r"^/\*.*?\*/\s*/\* SPDX.*?\*/\n", "", text, flags=re.S)
    return [line for line in taken(text.splitlines()) if not LEFT_OUT.match(line)]


def chunks(lines):
    """What blank lines part outside of braces and comments."""
    held, depth, in_comment = [], 0, False
    for line in [*lines, ""]:
        if not line.strip() and depth == 0 and not in_comment:
            if held:
                yield "\n".join(held)
            held = []
            continue
        held.append(line)
        bare = re.sub(r"/\*.*?\*/|\"(\\.|[^\"])*\"|'(\\.|[^'])'", "", line)
        in_comment = "*/" not in bare if in_comment else "/*" in bare
        depth += bare.count("{") - bare.count("}") if not in_comment else 0


def wrapped_comment(text, margin):
    lines = textwrap.wrap(" ".join(text.split()), roff.CODE_WIDTH - len(margin) - 6)
    return [f"{margin}{'/*' if not number else ' *'} {line}{' */' if number == len(lines) - 1 else ''}"
            for number, line in enumerate(lines)]


def narrowed(line):
    """A line of code, no wider than a page where that can be."""
    if len(line) <= roff.CODE_WIDTH:
        return [line]
    margin = line[:len(line) - len(line.lstrip())]
    comment = re.search(r"\s*/\*.*?\*/$", line, re.S)
    if comment and comment.start() > len(margin):
        return [*wrapped_comment(comment_text(comment.group().strip()), margin), *narrowed(line[:comment.start()])]
    if comment:
        return wrapped_comment(comment_text(comment.group().strip()), margin)
    return textwrap.wrap(line, roff.CODE_WIDTH, subsequent_indent=margin + "        ", break_long_words=False,
                         break_on_hyphens=False)


def bodiless(code):
    """Functions of the header without their bodies."""
    code = re.sub(r"^(?:static )?inline ", "", code, flags=re.M)
    return re.sub(r"^(\w[^;{}#]*\))\n\{.*?^\}", r"\1;", code, flags=re.S | re.M)


def public(code):
    """Code without what macros are made of, and without what other macros become."""
    code = INSIDE.sub("", code)
    if not re.sub(r"/\*.*?\*/|\s", "", code, flags=re.S):
        return ""
    return MACRO.sub(r"\1", code)


def code_lines(code):
    code = re.sub(r"^(extern )?TW_API ", r"\1", code, flags=re.M).expandtabs(4)
    # A prototype is one line before it is narrowed, and so is a comment.
    code = re.sub(r",\n +(?=[^/\s][^;{]*\);)", ", ", code)
    code = re.sub(r"/\*.*?\*/", lambda comment: " ".join(re.sub(r"\n\s*\*?", " ", comment.group()).split()), code,
                  flags=re.S)
    lines = [re.sub(r"\s+\\$", " \\\\", line) for line in bodiless(code).splitlines()]
    return [narrow for line in lines
            for narrow in ([line] if line.startswith("#") or line.endswith("\\") else narrowed(line))]


def paragraphs(text):
    """The text of a comment: paragraphs, and indented code between them."""
    out = ""
    for part in re.split(r"\n\s*\n", text):
        lines = part.splitlines()
        if all(line.startswith("    ") for line in lines):
            out += roff.indented_code([line[4:] for line in lines])
            continue
        out += ".PP\n" + roff.filled(roff.escaped(" ".join(part.split())))
    return out


def indented(text):
    return f".RS {roff.INDENT}\n{text}.RE\n" if text else ""


def page_of_chunk(chunk):
    """A comment that begins a section, or code with the comment before it, which follows it on the page."""
    comment = re.match(r"(/\*.*?\*/)\n?", chunk, re.S)
    text = comment_text(comment.group(1)) if comment else ""
    whole_code = chunk[comment.end():] if comment else chunk
    code = public(whole_code)
    if whole_code and not code:
        return ""
    section = re.match(r"---- (.*?)\.?(: (.*?))? ----$", text, re.S)
    if section and not code:
        head, _, rest = section.group(0)[5:-5].partition(". ")
        named, _, more = head.partition(": ")
        rest = " ".join(f"{more}. {rest}".split()) if more and rest else more or rest
        return f".SS {roff.escaped(' '.join(named.rstrip('.').split()))}\n" + \
            (paragraphs(rest[0].upper() + rest[1:]) if rest else "")
    if not code:
        return paragraphs(text)
    return ".PP\n" + roff.code(code_lines(code)) + indented(paragraphs(text))


def functions_of(text):
    """The functions of a header, and the macros of the tracer that stand for one."""
    bare = re.sub(r"/\*.*?\*/", "", "\n".join(body_of(text)), flags=re.S)
    found = re.findall(r"^(?:TW_API|static inline)\b[^;{=(]*?\b(tw_\w*[a-z0-9])\(", bare, re.M)
    macros = re.findall(r"^#define ((?:TW_)?TRACE_\w*[A-Z])\(", bare, re.M)
    return list(dict.fromkeys(found + macros))


def package_of(header):
    return "trackway\\-trace" if header.stem in ("trace", "fuchsia") else "trackway"


def synopsis(header):
    return (f".SH SYNOPSIS\n.B #include <trackway/{header.name}>\n.PP\n"
            f".EX\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs {package_of(header)})\n.EE\n")


def page_name(header):
    return f"trackway-{header.stem}"


def page(release, header):
    text = header.read_text()
    summary, more = summary_of(header)
    out = roff.title(page_name(header), 3, summary, release, functions_of(text)) + synopsis(header)
    out += ".SH DESCRIPTION\n" + (paragraphs(more) if more else "")
    out += "".join(page_of_chunk(chunk) for chunk in chunks(body_of(text)))
    return roff.joined([out, ".SH SEE ALSO\n.BR trackway (3),\n.BR trackway (1)\n"])


def whole(release, headers):
    umbrella = next(header for header in headers if header.stem == "trackway")
    out = roff.title("trackway", 3, summary_of(umbrella)[0], release) + synopsis(umbrella)
    out += ".SH DESCRIPTION\nEach header has a page.\n"
    included = re.findall(r"#include <trackway/(\w+)\.h>", umbrella.read_text())
    for mine, before in ((True, ""), (False, ".PP\nNot part of it, because they are for other programs:\n")):
        out += before
        for header in headers:
            if header != umbrella and (header.stem in included) == mine:
                out += f".TP\n.BR {roff.escaped(page_name(header))} (3)\n" + roff.filled(
                    roff.escaped(summary_of(header)[0] + "."))
    return out + ".SH SEE ALSO\n.BR trackway (1),\n.BR trackway\\-formats (5),\n.BR trackway\\-sql (7)\n"


def main():
    release, output, *names = sys.argv[1:]
    headers = sorted(pathlib.Path(name) for name in names)
    text = page(release, headers[0]) if len(headers) == 1 else whole(release, headers)
    pathlib.Path(output).write_text(text)


if __name__ == "__main__":
    main()
