#!/usr/bin/python3
# speedscope_tests.py - what speedscope shows in a browser of the files that convert writes.
# SPDX-License-Identifier: Apache-2.0
"""usage: speedscope_tests.py --tool TRACKWAY

Prints TAP; skips all where the browser or the viewer is not installed, unless CI is set. A trace whose names and times were written down by hand is converted to each target that speedscope opens. Chromium
opens each, without a window, from a server on the loopback interface; the table of its "Sandwich" view must have these names
and times, added up over the profiles of a file. What a log weighs in samples is compared with what the log holds.
"""
import argparse
import collections
import contextlib
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait
except ImportError:
    webdriver = None

HERE = pathlib.Path(__file__).resolve().parent
VIEWER = HERE / "node_modules/speedscope/dist/release"
CHROMIUM, DRIVER = pathlib.Path("/usr/bin/chromium"), pathlib.Path("/usr/bin/chromedriver")
LOG = HERE.parent / "data/tracelog/kinds.log"

# Microseconds: name, thread, begin, duration.
CALLS = [
    ("main", 1, 0, 900), ("parse <a&b>", 1, 10, 200), ("read;all", 1, 20, 100), ("parse <a&b>", 1, 300, 150),
    ("walk", 1, 500, 300), ("walk", 1, 510, 250), ("walk", 1, 520, 40),
    ("worker", 2, 100, 640), ("read;all", 2, 150, 70), ("warte \u00e4\u4e00", 2, 300, 410),
]
SHOWN = {  # total and self in nanoseconds; a name that is in itself counts once
    "main": (900_000, 250_000), "parse <a&b>": (350_000, 250_000), "read;all": (170_000, 170_000),
    "walk": (300_000, 300_000), "worker": (640_000, 160_000), "warte \u00e4\u4e00": (410_000, 410_000),
}
TARGETS = {"speedscope": "speedscope.json", "chrome": "json", "pprof": "pprof", "callgrind": "callgrind", "folded": "folded"}
RENAMED = {"folded": lambda name: name.replace(";", ":")}  # what stands between two names cannot be in one
# Samples of kinds.log, counted by hand: total, self of each function.
SAMPLED = {
    "App.Program::Main": (8, 1), "System.Linq.Enumerable::Select<M=System.Int32, N=System.String>": (2, 0),
    "App.Program::<Run>b__0": (7, 5), "<UNMANAGED>": (2, 2),
}
UNITS = {"": 1, " B": 1, " KB": 1 << 10, "ns": 1, "\u00b5s": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
CELL = re.compile(r"([\d,.]+)(\D*?) \(")
OF_MANY = re.compile(r"\((\d+)/(\d+)\)")


def trace():
    events = [{"ph": "X", "name": name, "pid": 7, "tid": thread, "ts": begin, "dur": duration}
              for name, thread, begin, duration in CALLS]
    return json.dumps({"traceEvents": events})


def amount(cell):
    number, unit = CELL.match(cell).groups()
    return round(float(number.replace(",", "")) * UNITS[unit])


class Viewer:
    """speedscope in a browser, showing files of a directory."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def head(self):
        """The name of the profile that is shown; the middle of the bar at the top. Nothing before it is."""
        texts = self.browser.find_element(By.TAG_NAME, "body").text.split("\n")
        return texts[1] if len(texts) > 1 and "Sandwich" in texts[0] else ""

    def rows(self):
        for row in self.browser.find_elements(By.CSS_SELECTOR, "tr"):
            cells = [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
            if len(cells) == 3 and cells[2]:
                yield cells[2], amount(cells[0]), amount(cells[1])

    def wait(self, condition):
        return WebDriverWait(self.browser, 60).until(lambda _: condition())

    def show(self, name):
        """For each profile of a file: its title, and its rows: name, total, self."""
        self.browser.get("about:blank")
        self.browser.get(f"{self.address}/viewer/index.html#profileURL=/files/{name}&view=sandwich")
        self.wait(self.head)
        place = OF_MANY.search(self.head())
        count = int(place[2]) if place else 1
        self.to_first(place)
        for number in range(1, count + 1):
            if count > 1:
                self.wait(lambda: f"({number}/{count})" in self.head())
            self.wait(lambda: any(self.rows()))
            yield self.head(), list(self.rows())
            self.press("n")

    def to_first(self, place):
        for _ in range(int(place[1]) - 1 if place else 0):
            self.press("p")

    def press(self, key):
        self.browser.find_element(By.TAG_NAME, "body").send_keys(key)


def plain(name):
    """What stands behind a name: its arguments in Chrome JSON, in callgrind the depth of a function that is in itself."""
    return re.sub(r"'\d+$| \{.*\}$", "", name)


def sums(profiles):
    """name -> total and self. What a function has in itself is in its total once."""
    found = collections.defaultdict(lambda: [0, 0])
    for _, rows in profiles:
        for name, total, own in rows:
            found[plain(name)][0] += total if "'" not in name else 0
            found[plain(name)][1] += own
    return {name: tuple(both) for name, both in found.items()}


def differences(found, wanted):
    for name in sorted(found.keys() | wanted.keys()):
        if found.get(name) != wanted.get(name):
            yield f"{name}: {found.get(name)}, not {wanted.get(name)}"


def slices(viewer, target, ending):
    rename = RENAMED.get(target, lambda name: name)
    yield from differences(sums(viewer.show(f"calls.{ending}")), {rename(name): both for name, both in SHOWN.items()})


def samples(viewer, name):
    profiles = [(title, rows) for title, rows in viewer.show(name) if "(samples)" in title]
    yield from differences(sums(profiles), SAMPLED)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(directory):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextlib.contextmanager
def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    # Its own sandbox wants rights that a container has not; nothing but our pages is opened.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--lang=en",
                     "--disable-dev-shm-usage", "--window-size=1600,2400"):
        options.add_argument(argument)
    browser = webdriver.Chrome(service=Service(str(DRIVER)), options=options)
    try:
        yield browser
    finally:
        browser.quit()


def convert(tool, source, out):
    subprocess.run([tool, "convert", source, "-o", out], check=True, stderr=subprocess.DEVNULL)



def tests(tool, files, viewer):
    (files / "calls.in.json").write_text(trace(), encoding="utf-8")
    for target, ending in TARGETS.items():
        convert(tool, files / "calls.in.json", files / f"calls.{ending}")
        yield f"{target}: names and times", slices(viewer, target, ending)
    convert(tool, LOG, files / "log.speedscope.json")
    yield "speedscope: samples", samples(viewer, "log.speedscope.json")


def missing():
    """What scripts/install-deps would install, and is not there."""
    there = {"selenium": webdriver, "chromium": CHROMIUM.exists(), "chromedriver": DRIVER.exists(), "speedscope": VIEWER.exists()}
    return ", ".join(name for name, found in there.items() if not found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=pathlib.Path)
    options = parser.parse_args()
    if missing() and "CI" not in os.environ:
        print("TAP version 13", f"1..0 # SKIP there is no {missing()}", sep="\n")
        return
    failed = 0
    print("TAP version 13", f"1..{len(TARGETS) + 1}", sep="\n", flush=True)
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        root = pathlib.Path(scratch)
        (root / "files").mkdir()
        (root / "viewer").symlink_to(VIEWER)
        with served(scratch) as address:
            for number, (name, found) in enumerate(tests(options.tool.absolute(), root / "files", Viewer(browser, address)), 1):
                wrong = list(found)
                failed += bool(wrong)
                print(f"{'not ' if wrong else ''}ok {number} - {name}", *(f"# {text}" for text in wrong), sep="\n", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
