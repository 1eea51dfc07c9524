# fxt_analysis.py - what `trackway counters` and `trackway sched` must say, from the events of fxt.py; an archive for it.
# SPDX-License-Identifier: Apache-2.0
"""counters(data), threads(data) and cpus(data) give rows by what tells them apart; archive(seed) has random scheduling."""
import collections
import fractions
import functools
import itertools
import math
import random
import struct

import fxt
import fxt_odd

STATES = ["new", "running", "suspended", "blocked", "dying", "dead"]
IDLE_WEIGHT = -1 << 31
NUMBERS = ("int32", "uint32", "int64", "uint64", "double")


@functools.lru_cache(maxsize=4)
def in_time(data):
    return sorted(fxt.events(data), key=lambda event: event["ns"])


# Counters.

def is_number(argument):
    return argument["type"] in NUMBERS and not isinstance(argument["value"], str)


def counters(data):
    """(process, category, counter, id, series) -> fields; series of which something is not defined are left out."""
    samples = collections.defaultdict(list)
    for event in in_time(data):
        for argument in event["arguments"] if event["kind"] == "counter" else ():
            key = (event["process"] or 0, event["category"], event["name"], event["id"], argument["name"])
            if None not in key:
                samples[key].append((event["ns"], argument))
    return {key: counted(found) for key, found in samples.items()}


def counted(found):
    good = [(ns, argument["value"]) for ns, argument in found if is_number(argument)]
    row = {"count": len(good), "not_numbers": len(found) - len(good)}
    if good:
        values = [value for _, value in good]
        row.update(first=values[0], last=values[-1], min=min(values), max=max(values), span=good[-1][0] - good[0][0],
                   mean=float(sum(map(fractions.Fraction, values)) / len(values)))
    return row


# Scheduling: switches as (time, cpu, leaving, its state, whether it is idle, coming, whether it is idle).

Switch = collections.namedtuple("Switch", "ns cpu leaving state from_idle coming to_idle")


def argument_of(event, name):
    return next((one["value"] for one in event.get("arguments", ()) if one["name"] == name), None)


def switch_of(event):
    sides = {}
    for side in ("outgoing", "incoming"):
        thread = event[f"{side}_thread"] or 0
        if event["kind"] == "scheduling.legacy-context-switch":
            idle = (event[f"{side}_process"] or 0) == 0 and event[f"{side}_thread_priority"] == 0
        else:
            idle = thread == 0 or argument_of(event, f"{side}_weight") == IDLE_WEIGHT
        sides[side] = thread, idle
    return Switch(event["ns"], event["cpu"], sides["outgoing"][0], event["outgoing_thread_state"], sides["outgoing"][1],
                  *sides["incoming"])


@functools.lru_cache(maxsize=4)
def switches(data):
    return [switch_of(event) for event in in_time(data) if event["kind"].endswith("context-switch")]


EVER = range(1 << 64)  # a window: its nanoseconds


def inside(begin, end, window):
    return max(0, min(end, window.stop) - max(begin, window.start))


def runs(data):
    """(cpu, thread or "idle" or "unknown", begin, end) between the switches of each CPU."""
    by_cpu = collections.defaultdict(list)
    for switch in switches(data):
        by_cpu[switch.cpu].append(switch)
    for cpu, those in by_cpu.items():
        for one, two in itertools.pairwise(those):
            idle = [one.to_idle, two.from_idle]
            if one.coming != two.leaving and not all(idle):
                who = "unknown"
            else:
                who = "idle" if any(idle) else one.coming
            yield cpu, who, one.ns, two.ns


def cpus(data, window=EVER):
    rows = collections.defaultdict(lambda: {"busy_ns": 0, "idle_ns": 0, "unknown_ns": 0, "switches": 0})
    for switch in switches(data):
        if switch.ns in window:
            rows[switch.cpu]["switches"] += 1
    for cpu, who, begin, end in runs(data):
        if length := inside(begin, end, window):
            rows[cpu][f"{who}_ns" if who in ("idle", "unknown") else "busy_ns"] += length
    return rows


@functools.lru_cache(maxsize=4)
def stories(data):
    """thread -> [(time, "wake"), (time, "in"), (time, state), ...]"""
    told = collections.defaultdict(list)
    for event in in_time(data):
        if event["kind"] == "scheduling.thread-wakeup":
            told[event["waking_thread"]].append((event["ns"], "wake"))
        elif event["kind"].endswith("context-switch"):
            switch = switch_of(event)
            if not switch.from_idle:
                told[switch.leaving].append((event["ns"], switch.state))
            if not switch.to_idle:
                told[switch.coming].append((event["ns"], "in"))
    return told


def nearest(values, part):
    return sorted(values)[max(1, math.ceil(fractions.Fraction(part, 100) * len(values))) - 1]


def thread_row(story, window):
    row = {"runnable_ns": 0, "switches": 0, "wakeups": 0, "left": collections.Counter()}
    latencies, woken, ready = [], None, None
    for ns, what in story:
        if what == "wake":
            row["wakeups"] += ns in window
            woken = ns if woken is None else woken
            ready = ns if ready is None else ready
        elif what == "in":
            row["switches"] += ns in window
            if woken is not None and ns in window:
                latencies.append(ns - woken)
            row["runnable_ns"] += 0 if ready is None else inside(ready, ns, window)
            woken = ready = None
        else:
            row["left"][STATES[what] if what < len(STATES) else f"state {what}"] += ns in window
            # Fuchsia's kernel tracer writes 0, "new", for a thread that is ready. It may also have been woken while it ran.
            ready = ns if what in (0, 1) or ready is not None else None
    row["latencies"] = len(latencies)
    if latencies:
        row.update(latency_min_ns=min(latencies), latency_max_ns=max(latencies),
                   **{f"latency_p{part}_ns": nearest(latencies, part) for part in (50, 90, 99)})
    row["left"] = {state: count for state, count in row["left"].items() if count}
    return row


def threads(data, window=EVER):
    rows = {thread: {"running_ns": 0, **thread_row(story, window)} for thread, story in stories(data).items()}
    for _, who, begin, end in runs(data):
        if who not in ("idle", "unknown"):
            rows[who]["running_ns"] += inside(begin, end, window)
    return {thread: row for thread, row in rows.items() if any(row.values())}


# An archive.

def scheduling(kind, fields, *parts):
    return fxt_odd.record(8, kind << 60 | fields, *parts)


def weight(index, value):
    return struct.pack("<Q", 1 | 1 << 4 | index << 16 | (value % (1 << 32)) << 32)


def archive(seed, count=4000):
    """Threads on four CPUs with switches of all three kinds, wake-ups, numbers of counters, and now and then a lie."""
    chance = random.Random(seed)
    out = [struct.pack("<Q", fxt.MAGIC), fxt_odd.provider_info(1, b"random"), fxt_odd.record(1, 0, 1_000_000_000),
           fxt_odd.string(1, b"outgoing_weight"), fxt_odd.string(2, b"incoming_weight"), fxt_odd.string(3, b"value"),
           fxt_odd.thread(1, 1000, 999)]
    running, ns = {cpu: 1001 for cpu in range(4)}, 1_000_000
    for _ in range(count):
        ns += chance.choice((0, 1, 17, 300, 5000, 100_000))
        cpu, coming = chance.randrange(4), chance.choice((0, 9001, 9002, *range(1001, 1030)))
        leaving = running[cpu] if chance.random() < 0.98 else chance.randrange(1001, 1030)
        what = chance.random()
        if what < 0.3:
            out.append(scheduling(2, cpu << 20, ns, chance.randrange(1001, 1030)))
        elif what < 0.4:
            value = chance.choice((chance.randrange(-1 << 63, 1 << 63), chance.randrange(-9, 9)))
            out.append(fxt_odd.event(1, 3, fxt_odd.argument(3, 0, value, name=3), chance.randrange(3), arguments=1,
                                     ticks=ns))
        elif what < 0.5:
            # Of process 0; with priority 0 it is idle.
            out.append(scheduling(0, cpu << 16 | 3 << 24 | chance.randrange(2) << 44 | chance.randrange(2) << 52, ns,
                                  0, leaving, 0, coming))
            running[cpu] = coming
        else:
            weights = [weight(index, IDLE_WEIGHT if thread > 9000 else 5)
                       for index, thread in ((1, leaving), (2, coming)) if chance.random() < 0.9]
            out.append(scheduling(1, len(weights) << 16 | cpu << 20 | chance.randrange(8) << 36, ns, leaving, coming,
                                  *weights))
            running[cpu] = coming
    return b"".join(out)
