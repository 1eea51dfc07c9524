# fxt_calls.py - what `trackway stat` must say of calls that do not nest, from the events of fxt.py; archives of such.
# SPDX-License-Identifier: Apache-2.0
"""stat(data) gives rows by process, thread and name, stat_functions(data) by name; archive(seed, unnamed) has begins, ends and complete slices by chance.

Events of a thread are taken by time, those of one time in the order of the file; but complete slices of one time between
which no other call begins or ends the longest first. A call is on the stack from its begin on:
- before anything begins, complete slices that are over by then end, the earliest first, and with each what is above it;
- an end ends the innermost call of its name, one without a name the innermost of all, but no complete slice, and with
  it what is above it; complete slices that are over before do so first, and those on top that are over just
  then;
- with the last event, or the last end that a complete slice tells, all is over: first what complete slices end before.
What is ended by something below it is "unwound", unless it is a complete slice that is over by then.
"""
import itertools
import random

import fxt
import fxt_odd


BLOB = fxt_odd.record(5, 1 << 16 | 32000 << 32 | 1 << 48, bytes(32000))


class Call:
    def __init__(self, event, parent):
        self.name, self.begin, self.parent = event["name"], event["ns"], parent
        self.due = max(self.begin, event["end_ns"]) if "end_ns" in event else None
        self.end, self.how = None, None


def in_order(events):
    calls = sorted((event for event in events if event["kind"].startswith("duration-")), key=lambda event: event["ns"])
    for (_, complete), group in itertools.groupby(calls, key=lambda event: (event["ns"], "end_ns" in event)):
        yield from sorted(group, key=lambda event: -max(event["ns"], event["end_ns"])) if complete else group


class Stack:
    def __init__(self):
        self.calls, self.open = [], []

    def begin(self, event):
        self.settle(event["ns"])
        self.open.append(Call(event, self.open[-1] if self.open else None))
        self.calls.append(self.open[-1])

    def close(self, place, time, how="ended"):
        while len(self.open) > place:
            call = self.open.pop()
            over = call.due is not None and call.due <= time
            call.end, call.how = time, how if len(self.open) == place else "ended" if over else "unwound"

    def settle(self, time):
        """Ends the complete slices that are over at a time."""
        while due := [(call.due, place) for place, call in enumerate(self.open) if call.due is not None and call.due <= time]:
            self.close(min(due)[1], min(due)[0])

    def ends(self, event):
        self.settle(event["ns"] - 1)
        while self.open and self.open[-1].due is not None and self.open[-1].due <= event["ns"]:
            self.close(len(self.open) - 1, event["ns"])
        fitting = [place for place, call in enumerate(self.open)
                   if call.due is None and event["name"] in ("", None, call.name)]
        if fitting:
            self.close(fitting[-1], event["ns"])

    def finish(self, last):
        self.settle(last - 1)
        while self.open:
            self.close(len(self.open) - 1, last, "open" if self.open[-1].due is None else "ended")


def calls_of(slices):
    stack = Stack()
    for event in in_order(slices.events):
        if event["kind"] in ("duration-begin", "duration-complete"):
            stack.begin(event)
        elif event["kind"] == "duration-end":
            stack.ends(event)
    stack.finish(max(slices.last, *(max(event["ns"], event.get("end_ns", 0)) for event in slices.events)))
    return stack.calls


def is_recursion(call):
    around = call.parent
    while around and around.name != call.name:
        around = around.parent
    return around is not None


def rows(calls):
    found = {call.name: {"count": 0, "open": 0, "unwound": 0, "total_ns": 0, "self_ns": 0, "durations": [], "covered": 0}
             for call in calls}
    for call in calls:
        row, length = found[call.name], call.end - call.begin
        row["count"] += 1
        row["open"] += call.how == "open"
        row["unwound"] += call.how == "unwound"
        row["total_ns"] += 0 if is_recursion(call) else length
        row["self_ns"] += length
        row["durations"] += [] if call.how == "open" else [length]
        if call.parent:
            found[call.parent.name]["self_ns"] -= length
    return {name: fxt.finished(row) for name, row in found.items()}


def stat_functions(data):
    return rows([call for slices in fxt.threads_of(data).values() for call in calls_of(slices)])


def stat(data):
    return {(*thread, name): row for thread, slices in fxt.threads_of(data).items()
            for name, row in rows(calls_of(slices)).items()}


def begun(threads):
    out = [fxt_odd.MAGIC_RECORD, fxt_odd.provider_info(1, b"random"), fxt_odd.record(1, 0, 10**9)]
    out += [fxt_odd.string(index, text) for index, text in ((1, b"f"), (2, b"g"), (3, b"h"))]
    return out + [fxt_odd.thread(thread, 100, thread) for thread in threads]


def late_parent():
    """Calls that nest, and in a later chunk a slice that begins with them and contains them."""
    out = begun((1,))
    for name, begin, end in ((1, 5, 6), (1, 11, 12), (2, 10, 15), (1, 20, 21), (0, 0, 0), (3, 10, 100), (1, 200, 201)):
        out += [fxt_odd.event(4, name, end, ticks=begin)] if name else [BLOB] * 12
    return b"".join(out)


def archive(seed, unnamed):
    """`unnamed`: some ends have no name. Blobs between the events make them belong to several chunks of a reader."""
    chance = random.Random(seed)
    threads = (1, 2, 3)[:chance.choice((1, 1, 3))]
    out = begun(threads)
    now = 0
    steps, blobs, counts = chance.choice((((0, 0, 1, 2, 10), (0,) * 9 + (12,), (3, 6, 30, 100)),
                                          ((0, 0, 0, 1), (0, 0, 12), (6, 12, 24))))
    for _ in range(chance.choice(counts)):
        thread, name = chance.choice(threads), chance.choice((1, 1, 2, 3))
        now += chance.choice(steps)
        out += [BLOB] * chance.choice(blobs)
        ticks = 4 * max(0, now - chance.choice((0, 0, 0, 1, 5)))
        kind = chance.choice((0, 2, 2, 3, 3, 4, 4, 4))
        length = 4 * chance.choice((0, 0, 1, 2, 10, 100, -1, 1 << 31))
        out.append(fxt_odd.event(kind, chance.choice((name, 0)) if unnamed and kind == 3 else name,
                                 *([max(0, ticks + length)] if kind == 4 else ()), reference=thread, ticks=ticks))
    return b"".join(out)
