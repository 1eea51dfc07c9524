#!/usr/bin/python3
"""prompt.py - a person at trackway's SQL prompt: a terminal, lines that are edited, Ctrl-C and Ctrl-D.

usage: prompt.py FILE"""
# SPDX-License-Identifier: Apache-2.0

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

READY, MORE = "trackway> $", r"\.\.\.> $"
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n;"


class Prompt:
    def __init__(self, *command):
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(other)
        self.until(READY)

    def until(self, what, seconds=60):
        """What comes until something stands at the end of it."""
        text, end = "", time.monotonic() + seconds
        while not re.search(what, text):
            assert select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0], f"no {what!r} in {text!r}"
            text += os.read(self.terminal, 65536).decode()
        # A key that comes before the terminal has the settings for lines that are edited is taken by the terminal itself.
        while what in (READY, MORE) and termios.tcgetattr(self.terminal)[3] & termios.ICANON and time.monotonic() < end:
            time.sleep(0.01)
        return re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", text).replace("\r", "")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def ask(self, line, ready=READY):
        self.type(line + "\n")
        return self.until(ready)


def holds(text, *parts):
    for part in parts:
        assert part in text, f"no {part!r} in {text!r}"


prompt = Prompt("trackway", "sql", sys.argv[1])
holds(prompt.ask(".tables"), "slice ", "fxt_record ", "tracelog_record ", "finding ")
holds(prompt.ask(".schema thread"), "create table thread (", "utid INTEGER")
holds(prompt.ask(".schma"), "did you mean .schema?")
holds(prompt.ask("select count(*)", MORE), "...>")
holds(prompt.ask("from slice;"), "count(*)\n       4\n")
holds(prompt.ask(".timer on\nselect 1;", "processor time\r\n" + READY), " s of processor time")
holds(prompt.ask("select nope;"), "query:1:8: no such column: nope")
prompt.type(ENDLESS + "\n")
time.sleep(0.5)
prompt.type("\x03")
holds(prompt.until(READY), "interrupted")
holds(prompt.ask("\x1b[A\x1b[A"), "no such column: nope")  # two lines back in the history
holds(prompt.ask("select 40 + 2;"), "42")  # it goes on
prompt.type("select 1 +")  # Ctrl-C drops what is typed, and the lines before it
prompt.until(r"1 \+$")
prompt.type("\x03")
prompt.until(READY)
prompt.ask("select 'half of it'", MORE)
prompt.type("\x03")
prompt.until(READY)
found = prompt.ask("select 40 + 2;")
assert "40 + 2\n    42\n" in found and "error" not in found, found
prompt.type("\x04")
assert prompt.process.wait(60) == 0
again = Prompt("trackway", "sql", sys.argv[1])  # another run has the history
holds(again.ask("\x1b[A"), "42")
again.ask(".quit", "quit")
assert again.process.wait(60) == 0
