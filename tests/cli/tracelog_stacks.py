# tracelog_stacks.py - each sample and allocation of a log with its whole stack, rebuilt as the format's document tells.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tracelog_stacks.py [FROM TO] <log: those from FROM ms on, before TO ms
import sys


def change(stack, delta, frames):
    """Applies match:size[:ip] and new frames to a list of [function, ip]."""
    match, size, *ip = delta.split(":")
    assert len(stack) == int(size), f"{len(stack)} frames, not {size}"
    del stack[int(match):]
    if ip:
        stack[-1] = [stack[-1][0], ip[0]]
    for frame in frames:
        function, *ip = frame.split(":")
        stack.append([int(function, 16), ip[0] if ip else "?"])


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
            print(kind, thread, ms, *rest, "at", *(f"{function:x}:{ip}" for function, ip in stack))


main()
