# tracelog_stacks.py - each sample and allocation of a log with its whole stack, rebuilt as the format's document tells.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tracelog_stacks.py [FROM TO] <log: those from FROM ms on, before TO ms
import functools
import sys


@functools.cache
def shown(frame):
    function, *ip = frame.split(":")
    return f"{int(function, 16):x}:{ip[0] if ip else '?'}"


def change(stack, delta, frames):
    """Applies match:size[:ip] and new frames to a list of frames as they are shown."""
    match, size, *ip = delta.split(":")
    assert len(stack) == int(size), f"{len(stack)} frames, not {size}"
    del stack[int(match):]
    if ip:
        stack[-1] = f"{stack[-1].split(':')[0]}:{ip[0]}"
    stack.extend(map(shown, frames))


def main():
    begin, end = (int(text) for text in sys.argv[1:3] or ("-1", "4294967296"))
    stacks = {}
    for line in sys.stdin:
        kind, fields = line[:7], line[8:].split()
        if kind not in ("sam str", "str sam", "sam mem"):
            continue
        thread, ms, rest = fields[0], int(fields[1]), fields[2:]
        stack = stacks.setdefault(thread, [])
        if kind != "sam mem":
            change(stack, rest[1], rest[2:])
            rest = rest[:1]
        if rest and rest[0] != "0" and begin <= ms < end:
            print(" ".join((kind, thread, str(ms), *rest, "at", *stack)))


main()
