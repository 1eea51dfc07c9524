"""scarce.py - runs a command again and again, each time with another allocation that fails.

usage: scarce.py LIBRARY RUNS COMMAND...

LIBRARY is scarce.c, to be loaded before the command. Each of RUNS allocations, spread over all that the command makes,
fails once alone and once with all that follow. The command must end by itself, and either as it does with all memory,
with the same output, or with status 2 and a line that tells that there was no memory. Output is what it prints and the
files that it leaves in a directory of its own, from which it is run."""
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import resource
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "truth"))
import served

PLACE, COUNT, EVER = "scarce", "scarce.count", 10**9
SECONDS = 20  # of a processor; a run takes milliseconds
TELLING = ("out of memory", "no memory", "Cannot allocate memory")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def files():
    found = {}
    for folder, _, names in os.walk(PLACE):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[path] = file.read()
    return found


def clear():
    for name in os.listdir(PLACE):
        path = os.path.join(PLACE, name)
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)


class Run:
    def __init__(self, server, words, **scarce):
        clear()
        done = server.run(*words, **{"SCARCE_" + name.upper(): str(value) for name, value in scarce.items()})
        self.status, self.out, self.files = done.returncode, done.stdout, files()
        self.err = done.stderr.decode(errors="replace")

    def tells(self):
        return any(line.startswith("trackway: error: ") and any(word in line for word in TELLING)
                   for line in self.err.splitlines())


def fault(run, good):
    """What is wrong with a run; None: nothing."""
    if run.status < 0:
        return f"ended by signal {-run.status}"
    if run.status == 2:
        return None if run.tells() else "status 2, and no word about memory"
    if run.status != good.status:
        return f"status {run.status}"
    if (run.out, run.files, run.err) != (good.out, good.files, good.err):
        return f"status {run.status}, and other output"
    return None


def main():
    library, runs, command = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(PLACE, ignore_errors=True)
    os.mkdir(PLACE)
    server = served.Server(shutil.which(command[0]), library, cwd=PLACE, preexec_fn=limit)
    good = Run(server, command[1:], count=os.path.abspath(COUNT))
    with open(COUNT, encoding="ascii") as file:
        count = int(file.read())
    if good.status not in (0, 1) or count == 0:
        sys.exit(f"{command}: status {good.status} with all memory, {count} allocations: {good.err}")
    wrong = 0
    for number in sorted({1 + i * count // runs for i in range(runs)}):
        for last in (number, EVER):
            run = Run(server, command[1:], **{"from": number, "to": last, "count": ""})
            what = fault(run, good)
            wrong += what is not None
            if what:
                print(f"{' '.join(command)}: allocation {number} of {count}"
                      f"{' and all that follow' if last == EVER else ''}: {what}: {run.err[:300]}")
    sys.exit(wrong > 0)


main()
