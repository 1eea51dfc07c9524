# fxt_calls.py - what `trackway stat` must say of calls that do not nest, from the events of fxt.py; archives of such.
# SPDX-License-Identifier: Apache-2.0
"""stat(data) gives rows by process, thread and name, stat_functions(data) by name; archive(seed, unnamed) has begins, ends and complete slices by chance.

Events of a thread are taken by time, those of one time in the order of the file; but complete slices of one time stand the
longest first in the places that they have: those that last between the same begins, those that do not between the same ends,
too. What a slice states is kept:
- a complete slice lasts as long as it says; its parent is the call that began last of those that hold it whole: the open
  ones on whose lane no complete slice ends before it. It goes on the lane of its parent if nothing is open there above the
  parent, otherwise on the first lane on which nothing is;
- a begin is inside of the call that began last, and on its lane;
- an end ends the call of its name that began last, one without a name the last of all, but no complete slice; the begins
  above it on its lane are "unwound". Complete slices that are over before do so first, and those on top that are over just then, but those below
  others that go on not before the time has passed; the others go on, as do begins after the end of a complete slice around
  them: the parent of both is then the parent of what has ended;
- what has no end is open until the last event, or the last end that a complete slice tells.
Ends of one time are in the order of the file, behind those of complete slices, of which the last begun ends first. Once all
ends are known, what a call is directly inside of is the one that began last of those before it that do not end before it; self
is the length without the union of the calls directly inside. What stands on one of its name when it ends is not in total: a
call stands on the one that it was put on, and on what that stood on once it ended.
"""
import itertools
import random

import fxt
import fxt_odd


BLOB = fxt_odd.record(5, 1 << 16 | 32000 << 32 | 1 << 48, bytes(32000))


class Call:
    def __init__(self, event, number, stands_on):
        self.name, self.begin, self.number, self.stands_on = event["name"], event["ns"], number, stands_on
        self.due = max(self.begin, event["end_ns"]) if "end_ns" in event else None
        self.end, self.how, self.lapsed = None, None, False


def longest_first(calls, places):
    """Puts complete slices in order in the places that they have."""
    for place, call in zip(places, sorted((calls[place] for place in places), key=lambda event: event["ns"] - event["end_ns"])):
        calls[place] = call


def in_order(events):
    calls = sorted((event for event in events if event["kind"].startswith("duration-")), key=lambda event: event["ns"])
    begins = itertools.accumulate(event["kind"] == "duration-begin" for event in calls)
    for _, group in itertools.groupby(list(zip(calls, begins)), key=lambda pair: (pair[0]["ns"], pair[1])):
        group = [{**event, "end_ns": max(event["ns"], event["end_ns"])} if "end_ns" in event else event for event, _ in group]
        for complete, places in itertools.groupby(range(len(group)), key=lambda place: "end_ns" in group[place]):
            if complete:
                longest_first(group, list(places))
        longest_first(group, [place for place, event in enumerate(group) if event.get("end_ns", 0) > event["ns"]])
        yield from group


class Lanes:
    def __init__(self):
        self.calls, self.lanes, self.turn, self.lapsed_at = [], [[]], 0, None

    def open(self):
        return [call for lane in self.lanes for call in lane]

    def begin(self, event):
        self.end_lapsed(event["ns"])
        self.settle_tops(event["ns"])
        if event.get("end_ns", 0) > event["ns"]:
            self.lapse(event["ns"])
        lengths = [self.holding(lane, max(event["ns"], event["end_ns"]) if "end_ns" in event else None) for lane in self.lanes]
        tops = [(lane[length - 1].number, number) for number, (lane, length) in enumerate(zip(self.lanes, lengths)) if length]
        number = max(tops)[1] if tops else 0
        stands_on = self.lanes[number][lengths[number] - 1] if tops else None
        if len(self.lanes[number]) > lengths[number]:
            number = next((i for i, lane in enumerate(self.lanes) if i and not lane), len(self.lanes))
            self.lanes += [[]] if number == len(self.lanes) else []
        self.lanes[number].append(Call(event, len(self.calls), stands_on))
        self.calls.append(self.lanes[number][-1])

    @staticmethod
    def holding(lane, end):
        """How many calls of a lane hold what lasts until an end; None: it is not known."""
        return next((i for i, call in enumerate(lane) if end is not None and call.due is not None and call.due < end), len(lane))

    def close(self, call, time, how="ended"):
        next(lane for lane in self.lanes if call in lane).remove(call)
        call.end, call.how, call.turn = time, how, self.turn
        around = call.stands_on
        while around and around.name != call.name:
            around = around.stands_on
        call.recursion = around is not None
        for other in self.open():
            if other.stands_on is call:
                other.stands_on = call.stands_on
        self.turn += 1

    def last(self, calls):
        return max(calls, key=lambda call: call.number, default=None)

    def settle(self, time):
        """Ends the complete slices that are over at a time."""
        while due := [call for call in self.open() if call.due is not None and call.due <= time]:
            first = min(call.due for call in due)
            self.close(self.last(call for call in due if call.due == first), first)

    def settle_tops(self, time):
        """The same, but of those that are over just then only what nothing is on: that may be inside."""
        self.settle(time - 1)
        while due := self.last(lane[-1] for lane in self.lanes if lane and lane[-1].due is not None and lane[-1].due <= time):
            self.close(due, due.due)

    def lapse(self, time):
        """Complete slices that are over stay below what goes on above them, which may end then, too."""
        for call in self.open():
            if call.due is not None and call.due <= time:
                call.due, call.lapsed, self.lapsed_at = None, True, time

    def end_lapsed(self, time):
        while time != self.lapsed_at and (call := self.last(call for call in self.open() if call.lapsed)):
            self.close(call, self.lapsed_at)

    def ends(self, event):
        time = event["ns"]
        self.end_lapsed(time)
        self.settle_tops(time)
        fitting = [(call.number, number, place) for number, lane in enumerate(self.lanes) for place, call in enumerate(lane)
                   if call.due is None and not call.lapsed and event["name"] in ("", None, call.name)]
        lasts = [max(of_lane, key=lambda fit: fit[2]) for _, of_lane in itertools.groupby(fitting, key=lambda fit: fit[1])]
        if not lasts:
            return
        _, number, place = max(lasts)
        lane = self.lanes[number]
        for call in lane[:place:-1]:
            if call.due is None or call.due <= time:
                self.close(call, time, "ended" if call.due is not None or call.lapsed else "unwound")
        self.close(lane[place], time)

    def finish(self, last):
        self.end_lapsed(None)
        self.settle(last - 1)
        while call := self.last(self.open()):
            self.close(call, last, "open" if call.due is None else "ended")


def bound(calls):
    """Tells each call, of those in the order of their begins, what is directly inside of it."""
    for number, call in enumerate(calls):
        call.inside = []
        call.around = next((other for other in calls[:number][::-1] if other.turn > call.turn), None)
        if call.around:
            call.around.inside.append((call.begin, call.end))
    return calls


def path(call):
    return (*path(call.around), call.name) if call else ()


def self_of(call):
    return call.end - call.begin - union(call.inside, call.begin, call.end)


def calls_of(slices):
    stack = Lanes()
    for event in in_order(slices.events):
        if event["kind"] in ("duration-begin", "duration-complete"):
            stack.begin(event)
        elif event["kind"] == "duration-end":
            stack.ends(event)
    stack.finish(max(slices.last, *(max(event["ns"], event.get("end_ns", 0)) for event in slices.events)))
    return bound(stack.calls)


def union(spans, low, high):
    covered, reached = 0, low
    for begin, end in sorted(spans):
        begin, end = max(begin, reached), min(end, high)
        covered += max(0, end - begin)
        reached = max(reached, end)
    return covered


def rows(calls):
    found = {call.name: {"count": 0, "open": 0, "unwound": 0, "total_ns": 0, "self_ns": 0, "durations": [], "covered": 0}
             for call in calls}
    for call in calls:
        row, length = found[call.name], call.end - call.begin
        row["count"] += 1
        row["open"] += call.how == "open"
        row["unwound"] += call.how == "unwound"
        row["total_ns"] += 0 if call.recursion else length
        row["self_ns"] += self_of(call)
        row["durations"] += [] if call.how == "open" else [length]
    for row in found.values():
        row["total_ns"] = max(row["total_ns"], row["self_ns"])  # calls inside of one of their name may overlap each other
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
    kinds, lengths = chance.choice((((0, 4, 4, 4), (0, 0, 1, 2, 10, 100, -1, 1 << 31)), ((0, 2, 2, 3, 3, 4), (0, 0, -1)),
                                    ((0, 2, 2, 3, 3, 4, 4), (0, 1, 3, 10, 30, 100))))
    mixed = 100 in lengths and 2 in kinds
    for _ in range(chance.choice(counts)):
        thread, name = chance.choice(threads), chance.choice((1, 1, 2, 3))
        now += chance.choice(steps)
        out += [BLOB] * chance.choice(blobs)
        ticks = 4 * max(0, now - chance.choice((0, 0, 0, 1, 5)) * (not mixed))
        kind = chance.choice(kinds)
        length = 4 * chance.choice(lengths)
        out.append(fxt_odd.event(kind, chance.choice((name, 0)) if unnamed and kind == 3 else name,
                                 *([max(0, ticks + length)] if kind == 4 else ()), reference=thread, ticks=ticks))
    return b"".join(out)
