#!/usr/bin/python3
"""site_tests.py - the pages of scripts/make-site: every link and anchor leads somewhere, and nothing is fetched.

usage: site_tests.py --manual FOLDER

Prints TAP. Pages are read by Python's own parser of HTML. Skips all where pandoc is not installed, unless CI is set.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAVES_OPEN = {"meta", "link", "img", "br", "hr", "input", "col", "wbr"}


class Page(html.parser.HTMLParser):
    """What a page names and leads to, what its browser fetches, and elements that do not nest."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.elements, self.bad, self.open = [], [], [], set(), [], []
        self.feed(text)
        self.close()
        self.bad += self.open

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.elements.add(tag)
        self.ids += [named["id"]] if "id" in named else []
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        self.fetched += [named[name] for name in ("src", "srcset", "data", "poster") if name in named]
        self.fetched += [named["href"]] if tag == "link" else []
        self.bad += [name for name in named if name.startswith("on")]
        if tag not in LEAVES_OPEN:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in LEAVES_OPEN and (not self.open or self.open.pop() != tag):
            self.bad.append(f"</{tag}>")


def read_site(folder):
    return {path.relative_to(folder).as_posix(): Page(path.read_text()) for path in folder.rglob("*.html")}


def broken(folder, pages):
    """Links of pages to files or anchors that are not there."""
    found = []
    for name, page in pages.items():
        for link in page.links + page.fetched:
            if re.match("[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(name), urllib.parse.unquote(path))) if path else name
            if not (folder / there).is_file() or there.startswith(".."):
                found.append(f"{name}: {link}: no such page")
            elif anchor and there in pages and urllib.parse.unquote(anchor) not in pages[there].ids:
                found.append(f"{name}: {link}: no such anchor")
    return found


def documents():
    for pattern in "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "doc/**/*.md":
        for path in ROOT.glob(pattern):
            name = path.relative_to(ROOT).as_posix()
            yield "index.html" if name == "README.md" else name[:-3] + ".html"


def fetched_elsewhere(folder, pages):
    style = (folder / "style.css").read_text()
    found = [f"{name}: {link}" for name, page in pages.items() for link in page.fetched]
    return [line for line in found if re.search(": (//|[a-z]+:)", line)] + re.findall(r"url\(.*|@import.*", style)


def a_broken_link_is_found(folder):
    """The search for broken links, of a site that has them."""
    targets = "b.html#y", "#z", "c.html", "#x"
    (folder / "a.html").write_text('<h1 id="x"></h1>' + "".join(f'<a href="{one}">one</a>' for one in targets))
    (folder / "b.html").write_text("<p>b</p>")
    expected = ["a.html: #z: no such anchor", "a.html: b.html#y: no such anchor", "a.html: c.html: no such page"]
    found = sorted(broken(folder, read_site(folder)))
    return [] if found == expected else found + ["were found, and not", *expected]


def checks(folder, manual):
    site = folder / "site"
    subprocess.run([ROOT / "scripts/make-site", "--manual", manual, "--output", site], check=True,
                   stdout=subprocess.DEVNULL)
    pages = read_site(site)
    listed = set(pages["manual/index.html"].links)
    other = folder / "other"
    other.mkdir()
    yield "broken links are found", a_broken_link_is_found(other)
    yield "every link and anchor leads somewhere", broken(site, pages)
    yield "every document has a page", [name for name in documents() if name not in pages]
    yield "every page of the manual has one, and is listed", [
        path.name for path in manual.glob("trackway*.[1-9]")
        if f"manual/{path.name}.html" not in pages or path.name + ".html" not in listed]
    live = {"script", "iframe", "object", "embed"}
    yield "there are no scripts", [name for name, page in pages.items() if page.elements & live]
    yield "elements nest, and have no handlers", [f"{name}: {page.bad}" for name, page in pages.items() if page.bad]
    yield "no anchor is there twice", [name for name, page in pages.items() if len(page.ids) != len(set(page.ids))]
    yield "nothing is fetched from elsewhere", fetched_elsewhere(site, pages)
    yield "pictures are taken along", [] if (site / "doc/images/view.png").is_file() else ["doc/images/view.png"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--manual", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    print("TAP version 13")
    if not shutil.which("pandoc") and not os.environ.get("CI"):
        print("1..0 # SKIP pandoc is not installed")
        return
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, found in checks(pathlib.Path(folder), arguments.manual):
            number += 1
            print("not ok" if found else "ok", number, "-", name)
            print("".join(f"# {line}\n" for line in found), end="")
    print(f"1..{number}")


if __name__ == "__main__":
    main()
