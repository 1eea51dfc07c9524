#!/usr/bin/python3
# fxt.py - an independent decoder of FXT, to test the library against: written from the format's document alone.
# SPDX-License-Identifier: Apache-2.0
"""Usage: fxt.py FILE | fxt.py --events FILE | fxt.py --stat FILE | fxt.py --swap FILE

Without an option: one JSON object a record, with the fields of `trackway dump --json` (doc/design.md has the table).
--events: the events in the order of the file with their times in nanoseconds, floor(ticks * 10^9 / ticks per second).
--stat: for each thread and name what `trackway stat --json` says; see Slices.
--swap: the archive in the other byte order.

Damage is not looked behind: what does not fit its size is left out and told on standard error, and where no size can be
trusted decoding ends. The exit status is 1 then.
"""
import functools
import json
import struct
import sys

MAGIC = 0x0016547846040010
LARGE = 15
SHOWN = 4096  # bytes of data that is not held in memory
BILLION = 10**9

EVENTS = ["instant", "counter", "duration-begin", "duration-end", "duration-complete", "async-begin", "async-instant",
          "async-end", "flow-begin", "flow-step", "flow-end"]
ARGUMENTS = ["null", "int32", "uint32", "int64", "uint64", "double", "string", "pointer", "koid", "bool", "blob"]
LAST_WORDS = {"counter": "counter_id", "duration-complete": "end_time"}
LAST_WORDS.update({f"async-{step}": "async_correlation_id" for step in ("begin", "instant", "end")})
LAST_WORDS.update({f"flow-{step}": "flow_correlation_id" for step in ("begin", "step", "end")})


MAGICS = struct.pack("<Q", MAGIC), struct.pack(">Q", MAGIC)
MAGIC_NUMBERS = [int.from_bytes(magic, "little") for magic in MAGICS]  # read in either byte order
WORD = {"<": struct.Struct("<Q"), ">": struct.Struct(">Q")}


class Damage(Exception):
    """A record whose fields do not fit into its size."""


def bits(word, low, high):
    return word >> low & (1 << high - low + 1) - 1


def signed(value, width):
    return value - (1 << width) if value >> width - 1 else value


def text(data):
    """UTF-8, each byte that is none replaced."""
    return "".join("\N{REPLACEMENT CHARACTER}" if "\udc80" <= char <= "\udcff" else char
                   for char in data.decode("utf-8", "surrogateescape"))


def number(value):
    """A double for JSON, which has no word for some."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


class Words:
    """What is left of a record."""

    def __init__(self, data, at, end, order, places):
        self.data, self.at, self.end, self.order, self.places = data, at, end, order, places

    def word(self, form="Q"):
        self.places.add(self.at)
        data = self.take(8)
        return WORD[self.order].unpack(data)[0] if form == "Q" else struct.unpack(self.order + form, data)[0]

    def take(self, size):
        if self.end - self.at < size:
            raise Damage("a field reaches past the end of the record")
        self.at += size
        return self.data[self.at - size:self.at]

    def stream(self, size):
        return self.take(size + -size % 8)[:size]

    def rest(self):
        return self.data[self.at:self.end]


class Provider:
    def __init__(self, name=""):
        self.name = name
        self.strings, self.threads, self.koids, self.pointers = {}, {}, {}, {}
        self.ticks_per_second = BILLION


class Decoder:
    """Decodes records one by one; they come in the order of the file, but some may be left out."""

    def __init__(self, data):
        self.data = data
        self.order = order_of(data)
        self.places = set()  # of all words, which the other byte order turns round
        self.reset()

    def reset(self):
        self.provider = Provider()
        self.providers = {0: self.provider}
        self.koids = {}  # by any provider: koids are one for the whole system

    # Sizes.

    def header(self, offset):
        """Returns the first word of the record at an offset and its size in bytes, 0 when it cannot be right."""
        left = len(self.data) - offset
        if left < 8:
            return 0, 0
        word, = WORD[self.order].unpack_from(self.data, offset)
        if word in MAGIC_NUMBERS:
            return MAGIC, 8
        size = 8 * (word >> 4 & (0xffffffff if word & 15 == LARGE else 0xfff))
        return word, size if size <= left else 0

    def sizes(self):
        """Yields offset and size of record after record; ends early where there is no size."""
        offset = 0
        while offset < len(self.data):
            word, size = self.header(offset)
            if not size:
                return
            if word == MAGIC:
                self.order = "<" if self.data[offset] == 0x10 else ">"
            yield offset, size
            offset += size

    # Records.

    def record(self, offset):
        """Decodes the record at an offset; a dictionary with the names of the dump."""
        word, size = self.header(offset)
        if word == MAGIC:
            self.order = "<" if self.data[offset] == 0x10 else ">"
        self.end = offset + size
        words = Words(self.data, offset + 8, self.end, self.order, self.places)
        self.places.add(offset)
        row = {"offset": offset}
        known = self.decoders.get(bits(word, 0, 3))
        if not known or not known(self, row, word, words):
            words.at = offset + 8
            return unknown(row, word, words)
        if words.rest():
            row["rest"] = words.rest().hex()
        return row

    def metadata(self, row, word, words):
        kind = bits(word, 16, 19)
        if word == MAGIC:
            row["record"] = "magic"
            self.reset()
        elif kind == 1:
            name = text(words.stream(bits(word, 52, 59)))
            row.update(record="provider-info", provider_id=bits(word, 20, 51), name=name)
            self.provider = self.providers[row["provider_id"]] = Provider(name)
        elif kind == 2:
            row.update(record="provider-section", provider_id=bits(word, 20, 51))
            self.provider = self.providers.setdefault(row["provider_id"], Provider())
        elif kind == 3:
            row.update(record="provider-event", provider_id=bits(word, 20, 51), event_id=bits(word, 52, 55))
        return "record" in row

    def initialization(self, row, word, words):
        row.update(record="initialization", ticks_per_second=words.word())
        if len(words.rest()) >= 16:
            row.update(base_ticks=words.word(), base_time_ns=words.word())
        if row["ticks_per_second"]:  # 0 is ignored
            self.provider.ticks_per_second = row["ticks_per_second"]
        return True

    def string(self, row, word, words):
        value = text(words.stream(bits(word, 32, 46)))
        row.update(record="string", index=bits(word, 16, 30), value=value)
        if row["index"]:
            self.provider.strings[row["index"]] = value
        return True

    def thread(self, row, word, words):
        row.update(record="thread", index=bits(word, 16, 23), process=words.word(), thread=words.word())
        if row["index"]:
            self.provider.threads[row["index"]] = row["process"], row["thread"]
        return True

    def event(self, row, word, words):
        kind = bits(word, 16, 19)
        if kind >= len(EVENTS):
            return False
        row.update(record="event." + EVENTS[kind], timestamp=words.word())
        self.put_thread(row, words, bits(word, 24, 31))
        self.put_string(row, words, "category", bits(word, 32, 47))
        self.put_string(row, words, "name", bits(word, 48, 63))
        row["arguments"] = self.arguments(words, bits(word, 20, 23), row["process"])
        if EVENTS[kind] in LAST_WORDS:
            row[LAST_WORDS[EVENTS[kind]]] = words.word()
        elif EVENTS[kind] == "instant" and words.rest():
            row["scope"] = words.word()
        return True

    def blob(self, row, word, words):
        row["record"] = "blob"
        self.put_string(row, words, "name", bits(word, 16, 31))
        row.update(blob_type=bits(word, 48, 55), payload_size=bits(word, 32, 46))
        row["payload"] = words.stream(row["payload_size"]).hex()
        return True

    def userspace_object(self, row, word, words):
        """The document has one word for an inline process; a writer has two. The size of the record tells."""
        row.update(record="userspace-object", pointer=words.word())
        reference, start, before, places = bits(word, 16, 23), words.at, dict(row), words.places
        fitting = []
        for count in (2,) if reference else (1, 2):
            words.at, words.places, found = start, set(), dict(before)
            try:
                self.put_thread(found, words, reference, count)
                self.put_string(found, words, "name", bits(word, 24, 39))
                found["arguments"] = self.arguments(words, bits(word, 40, 43), found["process"])
                fitting.append((len(words.rest()), count, words.at, found, words.places))
            except Damage:
                pass
        if not fitting:
            raise Damage("a userspace object's fields do not fit")
        _, _, words.at, found, seen = min(fitting, key=lambda fit: fit[:2])
        words.places = places
        places |= seen
        row.update(found)
        if row["name"] and row["process"] is not None:
            self.provider.pointers[row["process"], row["pointer"]] = row["name"]
        return True

    def kernel_object(self, row, word, words):
        row.update(record="kernel-object", object_type=bits(word, 16, 23), koid=words.word())
        self.put_string(row, words, "name", bits(word, 24, 39))
        row["arguments"] = self.arguments(words, bits(word, 40, 43), None)
        if row["name"]:
            self.provider.koids[row["koid"]] = self.koids[row["koid"]] = row["name"]
        return True

    def scheduling(self, row, word, words):
        kind = bits(word, 60, 63)
        if kind > 2:
            return False
        names = ["legacy-context-switch", "context-switch", "thread-wakeup"]
        row.update(record="scheduling." + names[kind], timestamp=words.word())
        if kind == 0:
            row.update(cpu=bits(word, 16, 23), outgoing_thread_state=bits(word, 24, 27))
            self.put_thread(row, words, bits(word, 28, 35), 2, "outgoing_")
            self.put_thread(row, words, bits(word, 36, 43), 2, "incoming_")
            row.update(outgoing_thread_priority=bits(word, 44, 51), incoming_thread_priority=bits(word, 52, 59))
            return True
        row["cpu"] = bits(word, 20, 35)
        if kind == 1:
            row.update(outgoing_thread_state=bits(word, 36, 39), outgoing_thread=words.word(),
                       incoming_thread=words.word())
        else:
            row["waking_thread"] = words.word()
        row["arguments"] = self.arguments(words, bits(word, 16, 19), None)
        return True

    def log(self, row, word, words):
        row.update(record="log", timestamp=words.word())
        self.put_thread(row, words, bits(word, 32, 39))
        row["message"] = text(words.stream(bits(word, 16, 30)))
        return True

    def profiler(self, row, word, words):
        kind = bits(word, 16, 19)
        if kind > 2:
            return False
        row.update(record="profiler." + ["module", "mmap", "backtrace"][kind], timestamp=words.word())
        reference = bits(word, 20, 27)
        name_size, build_size = bits(word, 44, 51), bits(word, 52, 59)
        tail = [name_size + -name_size % 8 + build_size + -build_size % 8, 24, 8 * bits(word, 28, 35)][kind]
        # An older writer has the process only.
        self.put_thread(row, words, reference, 1 if kind < 2 and len(words.rest()) == tail + 8 else 2)
        if kind == 2:
            row.update(flags=bits(word, 36, 63), pcs=[words.word() for _ in range(bits(word, 28, 35))])
            return True
        row["module_id"] = bits(word, 28, 43)
        if kind == 0:
            row.update(name=text(words.stream(name_size)), build_id=words.stream(build_size).hex())
        else:
            row.update(flags=bits(word, 44, 46), start=words.word(), range=words.word(), vaddr=words.word())
        return True

    def large(self, row, word, words):
        form = bits(word, 40, 43)
        if bits(word, 36, 39) or form > 1:
            return False
        row.update(record="large-blob", blob_format=form)
        head = words.word()
        self.put_string(row, words, "category", bits(head, 0, 15))
        self.put_string(row, words, "name", bits(head, 16, 31))
        if form == 0:
            row["timestamp"] = words.word()
            self.put_thread(row, words, bits(head, 36, 43))
            row["arguments"] = self.arguments(words, bits(head, 32, 35), row["process"])
        row["payload_size"] = words.word()
        row["payload"] = words.stream(row["payload_size"])[:SHOWN].hex()
        return True

    decoders = {0: metadata, 1: initialization, 2: string, 3: thread, 4: event, 5: blob, 6: userspace_object,
                7: kernel_object, 8: scheduling, 9: log, 10: profiler, LARGE: large}

    # Fields.

    def put_thread(self, row, words, reference, count=2, prefix=""):
        process = thread = None
        if reference:
            process, thread = self.provider.threads.get(reference, (None, None))
        else:
            process = words.word()
            thread = words.word() if count == 2 else None
        row.update({prefix + "process": process, prefix + "thread": thread, prefix + "thread_ref": reference})

    def put_string(self, row, words, name, reference):
        if reference >> 15:
            row[name] = text(words.stream(reference & 0x7fff))
        else:
            row[name] = self.provider.strings.get(reference) if reference else ""
        row[name + "_ref"] = reference

    def arguments(self, words, count, process):
        return [self.argument(words, process) for _ in range(count)]

    def argument(self, outer, process):
        start, word, row = outer.at, outer.word(), {}
        size = 8 * bits(word, 4, 15)
        outer.at = start
        if not size:
            raise Damage("an argument of size 0")
        outer.take(size)
        words = Words(outer.data, start + 8, start + size, outer.order, outer.places)
        self.put_string(row, words, "name", bits(word, 16, 31))
        kind = bits(word, 0, 3)
        row["type"] = ARGUMENTS[kind] if kind < len(ARGUMENTS) else "unknown"
        getattr(self, "take_" + row["type"])(row, word, words, process)
        if words.rest() and row["type"] != "unknown":
            row["rest"] = words.rest().hex()
        return row

    def take_null(self, row, word, words, process):
        row["value"] = None

    def take_int32(self, row, word, words, process):
        row["value"] = signed(bits(word, 32, 63), 32)

    def take_uint32(self, row, word, words, process):
        row["value"] = bits(word, 32, 63)

    def take_int64(self, row, word, words, process):
        row["value"] = signed(words.word(), 64)

    def take_uint64(self, row, word, words, process):
        row["value"] = words.word()

    def take_double(self, row, word, words, process):
        row["value"] = number(words.word("d"))

    def take_string(self, row, word, words, process):
        self.put_string(row, words, "value", bits(word, 32, 47))

    def take_pointer(self, row, word, words, process):
        row["value"] = words.word()
        name = self.provider.pointers.get((process, row["value"]))
        row.update({"object": name} if name else {})

    def take_koid(self, row, word, words, process):
        row["value"] = words.word()
        name = self.provider.koids.get(row["value"]) or self.koids.get(row["value"])
        row.update({"object": name} if name else {})

    def take_bool(self, row, word, words, process):
        row["value"] = bool(bits(word, 32, 32))

    def take_blob(self, row, word, words, process):
        row["value"] = words.stream(bits(word, 32, 63)).hex()

    def take_unknown(self, row, word, words, process):
        row.update(value=words.rest().hex(), header=word)


SUBTYPES = {0: (16, 19), 4: (16, 19), 8: (60, 63), 10: (16, 19), LARGE: (36, 39)}


def unknown(row, word, words):
    row = {"offset": row["offset"], "record": "unknown", "type": bits(word, 0, 3)}
    if row["type"] in SUBTYPES:
        row["subtype"] = bits(word, *SUBTYPES[row["type"]])
    row.update(header=word, size=8 + len(words.rest()), data=words.rest()[:SHOWN].hex())
    return row


def order_of(data):
    """The byte order: what the magic record says, otherwise the one in which more records follow one another."""
    if data[:8] in MAGICS:
        return "<" if data[0] == 0x10 else ">"

    def run(order):
        at = count = 0
        while at + 8 <= len(data) and count < 100:
            word = struct.unpack_from(order + "Q", data, at)[0]
            size = 8 * bits(word, 4, 35 if bits(word, 0, 3) == LARGE else 15)
            if not size or size > len(data) - at or 10 < bits(word, 0, 3) < LARGE:
                break
            at, count = at + size, count + 1
        return count
    return "<" if run("<") >= run(">") else ">"


def records(data, offsets=None, damaged=None):
    """Decodes the records at these offsets (all), in order, and yields them with the decoder, whose state they left.
    Offsets of damaged ones, and the place where decoding had to end, go to the list `damaged`."""
    decoder, at = Decoder(data), 0
    damaged = [] if damaged is None else damaged
    if offsets is None:
        offsets = (offset for offset, _ in decoder.sizes())
    for offset in offsets:
        try:
            row = decoder.record(offset)
        except Damage as error:
            damaged.append((offset, str(error)))
        else:
            yield row, decoder
        at = decoder.end
    if at < len(data):
        damaged.append((at, "no record begins here"))


def swapped(data):
    """The same archive in the other byte order. What no record is known to mean stays as it is."""
    out, decoder = bytearray(data), None
    for _, decoder in records(data):
        pass
    for place in decoder.places if decoder else ():
        out[place:place + 8] = data[place:place + 8][::-1]
    return bytes(out)


# Events.

def ns_of(ticks, decoder):
    return ticks * BILLION // decoder.provider.ticks_per_second


EVENT_FIELDS = {name: "id" if name.endswith("_id") else name for name in (
    "process", "thread", "category", "name", "arguments", "scope", "message", "cpu", "counter_id", "async_correlation_id",
    "flow_correlation_id", "waking_thread", "incoming_process", "incoming_thread", "incoming_thread_ref",
    "incoming_thread_priority", "outgoing_process", "outgoing_thread", "outgoing_thread_ref", "outgoing_thread_priority",
    "outgoing_thread_state")}


def event_of(row, decoder):
    """An event with times in nanoseconds; None when the record is none."""
    if "timestamp" not in row:
        return None
    event = {"offset": row["offset"], "kind": row["record"].removeprefix("event."), "ns": ns_of(row["timestamp"], decoder)}
    for name, value in row.items():
        kept = EVENT_FIELDS.get(name)
        if kept:
            event[kept] = value
    if "end_time" in row:
        event["end_ns"] = ns_of(row["end_time"], decoder)
    return event


def events(data, offsets=None, damaged=None):
    if offsets is None and damaged is None:
        yield from decoded(data)[1]
        return
    for row, decoder in records(data, offsets, damaged):
        event = event_of(row, decoder)
        if event:
            yield event


@functools.lru_cache(maxsize=4)
def decoded(data):
    """All rows, all events, and what is damaged. Tests ask for them again and again: nobody may change them."""
    rows, found, damaged = [], [], []
    for row, decoder in records(data, None, damaged):
        rows.append(row)
        event = event_of(row, decoder)
        if event:
            found.append(event)
    return rows, found, damaged


class Slices:
    """The slices of one thread, and what stat says about each name. The rules:
    - events are taken by time, those of one time in the order of the file; a complete event is a slice by itself;
    - an end with a name ends the innermost open slice of that name, and at the same time those inside it, which are
      "unwound"; one without a name ends the innermost; one that matches nothing is counted and ignored;
    - a complete event that ends before it begins lasts 0 ns;
    - what is open at the end, ends with the last event of the thread, a context switch too; it is in count, total and
      self only;
    - total has each nanosecond of a name once; self is without the slices inside.
    """

    def __init__(self):
        self.events, self.slices, self.stray, self.last = [], [], 0, 0

    def match(self):
        stack, last = [], self.last
        for event in sorted(self.events, key=lambda event: event["ns"]):
            last = max(last, event["ns"], event.get("end_ns", 0))
            if event["kind"] == "duration-begin":
                stack.append(event)
            elif event["kind"] == "duration-complete":
                self.add(event, max(event["ns"], event["end_ns"]), None, "ended")
            elif event["kind"] == "duration-end":
                self.end(stack, event)
        while stack:
            self.add(stack.pop(), last, None, "open")
        # Outer before inner: of two that begin together that which ends later, or was known later to have ended.
        order = {id(part): -number for number, part in enumerate(self.slices)}
        self.slices.sort(key=lambda part: (part["ns"], -part["end_ns"], order[id(part)]))
        return self.slices

    def end(self, stack, event):
        depth = len(stack) if not event["name"] else max(
            (i + 1 for i, open_one in enumerate(stack) if open_one["name"] == event["name"]), default=0)
        if not depth:
            self.stray += 1
            return
        while len(stack) > depth:
            self.add(stack.pop(), event["ns"], None, "unwound")
        self.add(stack.pop(), event["ns"], event, "ended")

    def add(self, begin, end_ns, end, how):
        self.slices.append({"ns": begin["ns"], "end_ns": end_ns, "how": how, "category": begin["category"],
                            "name": begin["name"], "arguments": begin["arguments"] + (end["arguments"] if end else []),
                            "complete": begin["kind"] == "duration-complete",
                            "of_begin": len(begin["arguments"])})

    def rows(self):
        """name -> fields of stat."""
        rows, stack = {}, []
        for part in self.match():
            row = rows.setdefault(part["name"], {"count": 0, "open": 0, "unwound": 0, "total_ns": 0, "self_ns": 0,
                                                 "durations": [], "covered": -1})
            row["count"] += 1
            row["open"] += part["how"] == "open"
            row["unwound"] += part["how"] == "unwound"
            begin, end = part["ns"], part["end_ns"]
            row["total_ns"] += max(0, end - max(begin, row["covered"]))
            row["covered"] = max(end, row["covered"])
            row["self_ns"] += end - begin
            while stack and stack[-1][0] <= begin:
                stack.pop()
            if stack:
                stack[-1][1]["self_ns"] -= min(end, stack[-1][0]) - begin
            stack.append((end, row))
            if part["how"] != "open":
                row["durations"].append(end - begin)
        return {name: finished(row) for name, row in rows.items()}


def finished(row):
    durations = sorted(row.pop("durations"))
    del row["covered"]
    size = len(durations)
    row["min_ns"], row["max_ns"] = (durations[0], durations[-1]) if size else (0, 0)
    for p in (50, 90, 99):  # nearest rank
        row[f"p{p}_ns"] = durations[-(-size * p // 100) - 1] if size else 0
    return row


def threads_of(data, offsets=None):
    """(process, thread) -> Slices"""
    threads, last = {}, {}
    for event in events(data, offsets):
        if event["kind"].startswith("scheduling."):
            koid = event.get("waking_thread", event.get("outgoing_thread"))
            last[koid] = max(last.get(koid, 0), event["ns"])
        else:
            threads.setdefault((event.get("process"), event.get("thread")), Slices()).events.append(event)
    for (_, koid), slices in threads.items():
        slices.last = last.get(koid, 0)
    return threads


def stat(data, offsets=None):
    """(process, thread, name) -> fields of stat"""
    return {(*key, name): row for key, slices in threads_of(data, offsets).items() for name, row in slices.rows().items()}


def show(option, data, damaged):
    if option == "--stat":
        for (process, thread, name), row in stat(data).items():
            yield {"process": process, "thread": thread, "name": name, **row}
    elif option == "--events":
        yield from events(data, None, damaged)
    else:
        for row, _ in records(data, None, damaged):
            yield row


def main():
    with open(sys.argv[-1], "rb") as file:
        data = file.read()
    if sys.argv[1] == "--swap":
        sys.stdout.buffer.write(swapped(data))
        return
    damaged = []
    for row in show(sys.argv[1], data, damaged):
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
    for offset, why in damaged:
        print(f"{sys.argv[-1]}: {offset}: {why}", file=sys.stderr)
    sys.exit(bool(damaged))


if __name__ == "__main__":
    main()
