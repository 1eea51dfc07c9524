#!/usr/bin/python3
# chrome_events.py - compares what Trackway reads of Chrome trace event JSON with what Python's json module reads.
# SPDX-License-Identifier: Apache-2.0
"""Usage: chrome_events.py dump DUMP.json TRACE.json       the output of `trackway dump --json`
       chrome_events.py convert OUT.json TRACE.json     the output of `trackway convert --to chrome`

dump: every event with every member that both have, in the order of the file. convert: the slices, instants, counters,
asynchronous events and flows with their names, categories, tracks, times and arguments. Times are compared exactly: as
decimal fractions, in whole nanoseconds. Prints the first differences; the exit status is 1 when there is one.
"""
import collections
import decimal
import itertools
import json
import math
import sys

SHOWN = ("ph", "cat", "name", "ts", "dur", "pid", "tid", "id", "id2", "scope", "s", "cpu", "out", "in", "message", "args")
PHASES = {"I": "i", "R": "i", "S": "b", "T": "n", "p": "n", "F": "e"}
decimal.getcontext().prec = 60


class Number(str):
    """A number with a point or an exponent, as it is written."""


def load(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return json.load(file, parse_float=Number)


def events_of(trace):
    if isinstance(trace, list):
        return [event for event in trace if event]
    system = trace.get("systemTraceEvents", {})
    return trace["traceEvents"] + (system["events"] if isinstance(system, dict) and "events" in system else [])


# ---- dump ----


def same_shown(found, value):
    """A field of the dump: integers are numbers, other values the text that stands in the file."""
    if isinstance(value, (dict, list)):
        return json.loads(found, parse_float=Number) == value
    if value is None or isinstance(value, bool):
        return found == json.dumps(value)
    return str(found) == str(value)


def dump_differences(dump, events):
    for found, event in itertools.zip_longest(dump, events):
        if found is None or event is None:
            yield f"{'missing' if found is None else 'too many'}: {event or found}"
            continue
        wanted = {key for key in SHOWN if key in event}
        if wanted != set(found) - {"offset", "record"}:
            yield f"found {sorted(found)}, not {sorted(wanted)}"
        yield from (f"{key} of {event}: {found[key]!r}" for key in wanted & set(found)
                    if not same_shown(found[key], event[key]))


# ---- convert ----


def ns(value):
    return math.floor(decimal.Decimal(str(value)) * 1000)


def flat(prefix, value, depth):
    """Arguments as they come back: dotted names, down to four levels; below that, and arrays, as JSON."""
    if isinstance(value, dict) and value and depth <= 4:
        for key, inner in value.items():
            yield from flat(f"{prefix}.{key}" if prefix else key, inner, depth + 1)
    else:
        yield prefix, value


def plain(value):
    """A value in a form in which both sides are equal: texts that are JSON count as what they say."""
    if isinstance(value, Number):
        return float(value)
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return plain(json.loads(value, parse_float=Number))
    if isinstance(value, dict):
        return tuple(sorted((key, plain(inner)) for key, inner in value.items()))
    return tuple(map(plain, value)) if isinstance(value, list) else value


def arguments(event):
    args = event.get("args") or {}
    return tuple(sorted(((key, plain(value)) for key, value in flat("", args, 0) if key), key=repr))


def number(value):
    try:
        return int(value)
    except (TypeError, ValueError):
        return None  # a text: what number it gets is not for others to say


def names_of(events):
    """The names of threads that the file gives: numbers of those told by a text are replaced by it."""
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in events
            if event.get("ph") == "M" and event["name"] == "thread_name"}


def track(event, names):
    pid, tid = event.get("pid"), event.get("tid")
    if number(tid) is None and tid is not None:
        return tid
    if event["ph"] == "C":
        return number(pid)  # a counter is of its process, whatever thread is told
    name = names.get((pid, tid), "")
    return name if number(tid) is not None and number(tid) >= 0x70000000 else (number(pid), number(tid) or 0)


class Row(collections.namedtuple("Row", "phase name category track time duration arguments")):
    pass


def row(event, names, base):
    phase = PHASES.get(event["ph"], event["ph"])
    time = ns(event["ts"]) - base
    end = math.floor((decimal.Decimal(str(event["ts"])) + decimal.Decimal(str(event.get("dur", 0)))) * 1000) - base
    category = event.get("cat", "")
    args = tuple(pair for pair in arguments(event) if pair[0] != "ph")
    return Row(phase, event.get("name", ""), category, track(event, names), time, end - time if phase == "X" else 0, args)


DEFAULTS = {"async": "bne", "flow": "stf"}


def rows(trace):
    events = events_of(trace)
    names = names_of(events)
    timed = [event for event in events if "ts" in event]
    base = min(ns(event["ts"]) for event in timed)
    compared = [row(event, names, base) for event in timed if event["ph"] in "XiIRCbneSTpFstf" and not is_stand_in(event)]
    return collections.Counter(
        entry._replace(category="") if entry.phase in DEFAULTS.get(entry.category, "") else entry for entry in compared)


def is_stand_in(event):
    """An instant that Trackway wrote for something that the format has not."""
    return event["ph"] == "i" and (event["name"] in ("switch", "wakeup", "stack-sample", "lost") or
                                   "koid" in event.get("args", {}) or event.get("args", {}).get("ph", "R") not in "RTp" or
                                   "weight" in event.get("args", {}) or event["name"] in METADATA)


METADATA = {"process_labels", "process_sort_index", "thread_sort_index"}


def pair_durations(trace):
    """B and E to X: on each thread the innermost first."""
    stacks, kept = collections.defaultdict(list), []
    for event in events_of(trace):
        key = event.get("pid"), event.get("tid")
        if event["ph"] == "B":
            stacks[key].append(event)
        elif event["ph"] == "E":
            begin = stacks[key].pop() if stacks[key] else None
            if begin is None:
                continue
            args = dict(begin.get("args", {}))
            if event.get("args"):
                args["end"] = event["args"]
            duration = decimal.Decimal(ns(event["ts"]) - ns(begin["ts"])) / 1000
            kept.append({**begin, "ph": "X", "ts": str(decimal.Decimal(ns(begin["ts"])) / 1000), "dur": str(duration), "args": args})
        else:
            kept.append(event)
    return {"traceEvents": kept}


def convert_differences(found, trace):
    wanted, got = rows(pair_durations(trace)), rows(pair_durations(found))
    for entry in sorted((wanted - got).elements(), key=repr):
        yield f"missing: {entry}"
    for entry in sorted((got - wanted).elements(), key=repr):
        yield f"too many: {entry}"
    if not wanted:
        yield "nothing to compare"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("dump", "convert"):
        sys.exit(__doc__)
    trace = load(sys.argv[3])
    if sys.argv[1] == "dump":
        with open(sys.argv[2], encoding="utf-8") as file:
            found = list(itertools.islice(dump_differences(map(json.loads, file), events_of(trace)), 5))
    else:
        found = list(itertools.islice(convert_differences(load(sys.argv[2]), trace), 5))
    print("\n".join(found) or f"{len(events_of(trace))} events agree")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
