#!/usr/bin/python3
"""trace_manager_tests - the manager where something goes wrong: signals, limits, full disks, programs that do not answer.
Prints TAP. Runs as trace_tests.py.
"""
# SPDX-License-Identifier: Apache-2.0

import contextlib
import os
import pathlib
import pty
import re
import signal
import time

from trace_tests import count_of, expect, main

PATIENCE = 60


def until(holds, *what):
    end = time.monotonic() + PATIENCE
    while not holds():
        expect(time.monotonic() < end, *what, "did not come")
        time.sleep(0.01)


# ---- Signals. ----

class Counted:
    """`record` on a terminal, of a program that counts the signals that come to it. The session's first process, as a
    shell would be, is another one: its end would be a SIGHUP to all."""

    def __init__(self, run, target):
        words = [run.tool, "record", "--to", target, "-o", "out.trace", "--", run.programs / "trace-stress", "signalled", "truth"]
        self.run = run
        self.shell, self.terminal = pty.fork()
        if self.shell == 0:
            os.chdir(run.folder)
            os.environ["XDG_RUNTIME_DIR"] = str(run.folder)
            self.be_shell(list(map(str, words)))
        until(lambda: count_of(run) == 1, "the program")
        self.process, = self.children(self.shell)
        self.program, = [child for child in self.children(self.process) if self.said(child, "comm") == "trace-stress\n"]

    @staticmethod
    def be_shell(words):
        process = os.fork()
        if process == 0:
            os.execv(words[0], words)
        for number in {number for _, number in WAYS}:
            signal.signal(number, signal.SIG_IGN)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        pathlib.Path("status").write_text(f"{status}\n", encoding="utf-8")
        while True:
            signal.pause()

    @staticmethod
    def said(process, name):
        return pathlib.Path(f"/proc/{process}/{name}").read_text(encoding="utf-8")

    def children(self, process):
        return list(map(int, self.said(process, f"task/{process}/children").split()))

    def has_taken(self):
        """Whether no signal waits for record."""
        pending, = re.findall(r"^ShdPnd:\s*(\w+)", self.said(self.process, "status"), re.M)
        return int(pending, 16) == 0

    def count(self, number):
        return count_of(self.run, number)

    def send(self, way, number):
        if way == "terminal":
            os.write(self.terminal, {signal.SIGINT: b"\x03", signal.SIGQUIT: b"\x1c"}[number])
        elif way == "group":
            os.killpg(self.shell, number)
        else:
            os.kill(self.process, number)

    def status(self):
        """Of record, or None while it runs."""
        path = self.run.folder / "status"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return int(text) if text.endswith("\n") else None

    def ends_by(self, number):
        """Sends a signal to record, which does not take it as a second one for a third of a second."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, number)
        return self.status() is not None

    def end(self):
        """The program comes to its end behind all that was sent to it before."""
        os.kill(self.program, signal.SIGRTMIN)
        until(lambda: self.count(signal.SIGRTMIN), "the program's end")

    def close(self):
        os.close(self.terminal)
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)
        for name in "truth", "out.trace", "status":
            (self.run.folder / name).unlink(missing_ok=True)


WAYS = [(way, number) for way in ("alone", "group") for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)]
WAYS += [("terminal", number) for number in (signal.SIGINT, signal.SIGQUIT)]


def once(run):
    """A signal comes to a program once: from the terminal, to the group, to record alone. Another one ends the recording."""
    for way, number in WAYS:
        counted = Counted(run, "fxt")
        counted.send(way, number)
        until(lambda: counted.count(number), way, number)
        other = signal.SIGTERM if number == signal.SIGINT else signal.SIGINT
        until(lambda: counted.ends_by(other), "the end by", other)
        expect(counted.status() == 128 + other, way, number, "status", counted.status())
        counted.end()
        expect(counted.count(number) == 1, way, number, "came", counted.count(number), "times")
        counted.close()


def each_once(run):
    """The same of the recorders that run a program to its end: each signal comes once."""
    for way, number in WAYS:
        counted = Counted(run, "xray-fdr")
        counted.send(way, number)
        until(lambda: counted.count(number), way, number)
        until(counted.has_taken, "record")
        os.kill(counted.process, number)  # what was to be passed on before is behind it
        until(lambda: counted.count(number) > 1, "the second", number)
        counted.end()
        until(lambda: counted.status() is not None, "the end")
        expect(counted.count(number) == 2, way, number, "came", counted.count(number), "times")
        counted.close()


def tests(options):
    for test in (once, each_once):
        yield f"{test.__name__}: {test.__doc__.strip()}", test


if __name__ == "__main__":
    main(tests, __doc__)
