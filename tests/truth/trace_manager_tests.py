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
import socket
import subprocess
import time

from trace_tests import Managed, count_of, expect, main, read_ticks

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
        numbers = {number for _, number in WAYS}
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        process = os.fork()
        if process == 0:
            for number in numbers:
                signal.signal(number, signal.SIG_DFL)
            os.execv(words[0], words)
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


# ---- Programs that do not answer. ----

def silent(run):
    """A program that does not answer, to the connection or to what it is asked, is told after a time."""
    folder = run.folder / "trackway"
    folder.mkdir(mode=0o700)
    for greets in (False, True):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(folder / str(os.getpid())))
            listener.listen()
            with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--attach", os.getpid()) as manager:
                if greets:
                    talk, _ = listener.accept()
                    talk.send(f"hello 1 {os.getpid()}".encode())
                    asked = [talk.recv(4096).split()[0] for _ in range(2)]
                    expect(asked == [b"manager", b"start"], asked)  # what it forks finds the manager from the start on
                said = manager.wait()
                expect(manager.process.returncode == 2, manager.process.returncode, said)
                expect(f"process {os.getpid()} does not answer" in said and "nothing was recorded" in said, said)
                if greets:
                    talk.close()
        (folder / str(os.getpid())).unlink()
    expect([path.name for path in run.folder.iterdir() if path.name.startswith("out")] == [], "something is left")


def task_state(task):
    return (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def stopped(run):
    """A program that is stopped does not end its recording: told after a time, and all that it committed is there."""
    with Managed(run, "trace-stress", "commit", "truth", 1, program=True) as program:
        program.until(lambda: b'"stress"' in program.ask("providers", "--json").stdout, "its sites")
        with Managed(run, "record", "--to", "fxt", "-o", "out.fxt", "--attach", program.process.pid) as manager:
            program.until(lambda: b"streaming" in program.ask("providers").stdout, "the recording")
            before = count_of(run)
            program.until(lambda: count_of(run) > before + 1000, "events")
            program.process.send_signal(signal.SIGSTOP)
            tasks = pathlib.Path(f"/proc/{program.process.pid}/task")
            program.until(lambda: {task_state(task) for task in tasks.iterdir()} == {"T"}, "the stop of all its threads")
            counted = count_of(run)
            manager.process.send_signal(signal.SIGINT)
            said = manager.wait()
            expect(manager.process.returncode == 0 and "has not ended its recording" in said, said)
        program.process.send_signal(signal.SIGCONT)
        program.until(lambda: b"off" in program.ask("providers").stdout, "the end of its recording")
    values = read_ticks(run, run.folder / "out.fxt")[0]
    expect(values == list(range(values[0], values[0] + len(values))) and values[-1] >= counted, values[-1], counted)


# ---- Disks. ----

def on_disk(run, options, script):
    """Runs a script with the tool and the program as $1 and $2 on a disk of its own, which then is in `kept`."""
    disk, kept = run.folder / "disk", run.folder / "kept"
    disk.mkdir()
    whole = f'mount -t tmpfs -o {options} none . || exit 99; cd "$PWD"; {script}; status=$?; cp -r . "$3"; exit $status'
    done = subprocess.run(["unshare", "-m", "sh", "-c", whole, "sh", run.tool, run.programs / "trace-stress", kept], cwd=disk,
                          capture_output=True, text=True)
    if done.returncode in (1, 99) and ("unshare" in done.stderr or "mount" in done.stderr):
        return expect("CI" not in os.environ, done.stderr), None
    return done, kept


def full_disk(run):
    """A disk that the programs fill: OUT finds no room, which is told, and what they have written stays."""
    done, kept = on_disk(run, "size=300k", '"$1" record --to fxt -o out.fxt -- "$2" strings 20000')
    if not done:
        return
    expect(done.returncode == 2 and "out.fxt: No space left on device" in done.stderr, done)
    expect("what was recorded is in out.fxt.parts" in done.stderr and not (kept / "out.fxt").exists(), done.stderr)
    image, = (kept / "out.fxt.parts").iterdir()
    names = [row["name"] for row in run.archive(image) if row["record"] == "event.instant"]
    expect(names == [f"name {i}" for i in range(len(names))] and len(names) > 100, len(names))


def no_files(run):
    """A disk on which no more files can be made: told as it is."""
    done, kept = on_disk(run, "nr_inodes=2", '"$1" record --to fxt -o out.fxt -- "$2" storm 3')
    if not done:
        return
    expect(done.returncode == 2 and "cannot be recorded: No space left on device" in done.stderr, done)
    expect(list(kept.iterdir()) == [], list(kept.iterdir()))


def tests(options):
    for test in (once, each_once, silent, stopped, full_disk, no_files):
        yield f"{test.__name__}: {test.__doc__.strip()}", test


if __name__ == "__main__":
    main(tests, __doc__)
