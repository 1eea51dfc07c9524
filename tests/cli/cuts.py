"""cuts.py - has `stat` read XRay logs that are cut at each byte of their first kilobyte.

usage: cuts.py LOG...

TRACKWAY names the tool. Less than a header is nothing readable, which one line tells; a whole header is a log."""
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "truth"))
import served

KILOBYTE, HEADER = 1024, 32


def fault(done, size):
    """What is wrong with the end of a command; None: nothing."""
    lines = [line for line in done.stderr.splitlines() if line]
    if size < HEADER:
        return None if done.returncode == 2 and len(lines) == 1 else "expected status 2 and one line"
    return None if done.returncode in (0, 1) else "expected status 0 or 1"


def main():
    server, wrong = served.Server(os.environ["TRACKWAY"]), 0
    for log in map(pathlib.Path, sys.argv[1:]):
        data = log.read_bytes()
        for size in range(0, min(KILOBYTE, len(data)), int(os.environ.get("TRACKWAY_STRIDE", 1))):
            pathlib.Path("cut.xray").write_bytes(data[:size])
            done = server.run("stat", "cut.xray")
            what = fault(done, size)
            wrong += what is not None
            if what:
                print(f"{log.name} cut at {size}: {what}: {done.returncode}: {done.stderr.decode(errors='replace')}")
    sys.exit(wrong > 0)


main()
