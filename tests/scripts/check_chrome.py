#!/usr/bin/env python3
# check_chrome.py - checks Chrome trace event JSON against the format's rules and adds its slices up.
# SPDX-License-Identifier: Apache-2.0
"""usage: check_chrome.py FILE

Prints one JSON object and exits with 0, or prints what is wrong on standard error and exits with 1:
  slices    {name: {"count", "open", "unwound", "total_ns"}}: total_ns is of the slices that ended
  threads   {"pid/tid": name}
  phases    {phase: count}
  events    of all phases but M
"""
import collections
import json
import re
import sys

PHASES = set("XBEiCbnestfMP")
LOCAL_ID_PHASES = set("bne")
ID_PHASES = set("stf")
TIME = re.compile(r"-?\d+\.\d{3}\Z")


class Number(str):
    """A JSON number with a point, as it is written."""


class Wrong(Exception):
    pass


def require(condition, number, text):
    if not condition:
        raise Wrong(f"event {number}: {text}")


def no_twice(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Wrong(f"an object has a key twice: {[key for key, _ in pairs]}")
    return members


def no_constant(text):
    raise Wrong(f"{text} is no JSON")


def load(path):
    with open(path, encoding="utf-8", errors="strict") as file:
        return json.load(file, parse_float=Number, object_pairs_hook=no_twice, parse_constant=no_constant)


def nanoseconds(event, key, number):
    value = event.get(key)
    if not isinstance(value, Number) or not TIME.match(value):
        raise Wrong(f"event {number}: {key} {value!r} has not three decimals")
    return int(value.replace(".", ""))


class Threads:
    """Slices that are open on each thread: (end in ns, None for B; name; begin in ns), the innermost last."""

    def __init__(self):
        self.stacks = collections.defaultdict(list)
        self.slices = collections.defaultdict(lambda: {"count": 0, "open": 0, "unwound": 0, "total_ns": 0})

    def leave(self, stack, time, length):
        """Takes off the X that are over. One that ends now may still hold a slice without length."""
        while stack and stack[-1][0] is not None and (stack[-1][0] < time or length != 0 and stack[-1][0] == time):
            stack.pop()

    def inside(self, stack, number, time):
        for end, name, _ in reversed(stack):
            if end is not None:
                require(time <= end, number, f"ends after {name!r}, which it is inside of")
                return

    def complete(self, stack, event, number, time):
        length = nanoseconds(event, "dur", number)
        require(length >= 0, number, "dur is negative")
        self.leave(stack, time, length)
        self.inside(stack, number, time + length)
        stack.append((time + length, event["name"], time))
        self.count(event, length)

    def begin(self, stack, event, number, time):
        self.leave(stack, time, None)
        self.inside(stack, number, time)
        stack.append((None, event["name"], time))
        self.slices[event["name"]]["count"] += 1
        self.slices[event["name"]]["open"] += 1

    def end(self, stack, event, number, time):
        self.leave(stack, time, None)
        require(stack and stack[-1][0] is None, number, "E without B, or inside an X")
        _, name, begin = stack.pop()
        self.inside(stack, number, time)
        require(event.get("name", name) == name, number, f"E of {event.get('name')!r} ends {name!r}")
        self.slices[name]["count"] -= 1
        self.slices[name]["open"] -= 1
        self.count({**event, "name": name}, time - begin)

    def count(self, event, length):
        slices = self.slices[event["name"]]
        slices["count"] += 1
        slices["unwound"] += event.get("args", {}).get("unwound") is True
        slices["total_ns"] += length

    def take(self, event, number, time):
        take = {"X": self.complete, "B": self.begin, "E": self.end}.get(event["ph"])
        if take:
            take(self.stacks[event["pid"], event["tid"]], event, number, time)


def check_members(event, number):
    phase = event.get("ph")
    require(phase in PHASES, number, f"ph is {phase!r}")
    for key in "pid", "tid":
        value = event.get(key)
        if type(value) is not int or not 0 <= value < 1 << 32:
            raise Wrong(f"event {number}: {key} is {value!r}")
    require(phase == "E" or isinstance(event.get("name"), str), number, "no name")
    require(isinstance(event.get("args", {}), dict), number, "args is no object")
    require(phase not in ID_PHASES or isinstance(event.get("id"), str), number, "no id")
    if phase in LOCAL_ID_PHASES:
        known = event.get("id2", {})
        require(isinstance(known.get("local", known.get("global")), str), number, "no id2")
    require(phase not in ID_PHASES | LOCAL_ID_PHASES or isinstance(event.get("cat"), str), number, "no cat")
    require(phase != "i" or event.get("s") in ("t", "p", "g"), number, "no s")
    if phase == "C":
        for value in event.get("args", {}).values():
            require(isinstance(value, (int, Number)) and not isinstance(value, bool), number, f"counter has {value!r}")


def check_stack(event, frames, number):
    """A sample has its frames with it, or names one of stackFrames, whose parents are there, too."""
    if isinstance(event.get("stack"), list):
        return
    frame, passed = event.get("sf"), 0
    while frame is not None:
        require(frame in frames and isinstance(frames[frame].get("name"), str), number, f"no frame {frame!r}")
        frame, passed = frames[frame].get("parent"), passed + 1
        require(passed <= len(frames), number, "its frames go round")


def check(trace):
    require(trace["displayTimeUnit"] == "ns", 0, "displayTimeUnit")
    threads, names = Threads(), {}
    phases, last = collections.Counter(), None
    for number, event in enumerate(trace["traceEvents"]):
        check_members(event, number)
        phases[event["ph"]] += 1
        if event["ph"] == "M":
            if event["name"] == "thread_name":
                names[f"{event['pid']}/{event['tid']}"] = event["args"]["name"]
            continue
        names.setdefault(f"{event['pid']}/{event['tid']}", None)
        time = nanoseconds(event, "ts", number)
        require(last is None or time >= last, number, f"ts {time} ns comes after {last} ns")
        last = time
        if event["ph"] == "P":
            check_stack(event, trace.get("stackFrames", {}), number)
        threads.take(event, number, time)
    return {
        "events": sum(phases.values()) - phases["M"],
        "phases": dict(phases),
        "threads": names,
        "slices": dict(sorted(threads.slices.items())),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(json.dumps(check(load(sys.argv[1]))))
    except (Wrong, ValueError, KeyError, TypeError) as wrong:
        print(f"{sys.argv[1]}: {wrong!r}" if not isinstance(wrong, Wrong) else f"{sys.argv[1]}: {wrong}", file=sys.stderr)
        sys.exit(1)


main()
