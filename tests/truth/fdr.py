#!/usr/bin/python3
# fdr.py - decodes XRay logs (FDR versions 1 to 5, basic mode, both byte orders) from the format's description alone.
# SPDX-License-Identifier: Apache-2.0
"""Usage: fdr.py [--zeroed] LOG

Prints every record as a JSON line with the names that `trackway dump --json` uses; with --zeroed, writes the log itself
with all bytes that mean nothing set to 0. This decoder shares nothing with the
library: it is what the library's output is compared with. It takes whole logs, not damaged ones: anything that it does not
know is an error.
"""
import json
import struct
import sys

HEADER = 32
FUNCTIONS = ["function.enter", "function.exit", "function.tail-exit", "function.enter-args"]
NEW_BUFFER, END_OF_BUFFER, EXTENTS = 0, 1, 7

# Kind of metadata -> name, struct format of the body, field names. Custom events are added by version.
METADATA = {
    NEW_BUFFER: ("new-buffer", "i", ["thread_id"]),
    END_OF_BUFFER: ("end-of-buffer", "", []),
    2: ("new-cpu-id", "HQ", ["cpu_id", "absolute_tsc"]),
    3: ("tsc-wrap", "Q", ["absolute_tsc"]),
    4: ("wall-time", "QI", ["seconds", "microseconds"]),
    6: ("call-argument", "Q", ["argument"]),
    EXTENTS: ("buffer-extents", "Q", ["size"]),
    8: ("typed-event", "iiH", ["event_size", "tsc_delta", "event_type"]),
    9: ("pid", "i", ["pid"]),
}
CUSTOM = {
    1: ("custom-event", "iQ", ["event_size", "absolute_tsc"]),
    4: ("custom-event", "iQH", ["event_size", "absolute_tsc", "cpu_id"]),
    5: ("custom-event", "ii", ["event_size", "tsc_delta"]),
}


class Log:
    """A log in memory: its header, and the order of its bytes and bits."""

    def __init__(self, data):
        self.data = data
        self.order = "<"
        if not self._sane("<"):
            if not self._sane(">"):
                raise ValueError("no XRay log")
            self.order = ">"
        self.version, self.type, bits, self.frequency, self.buffer_size, self.reserved = struct.unpack_from(
            self.order + "HHIQQQ", data)
        # Big endian: with the most significant bit first, the first record (metadata) has its top bit set.
        self.msb = self.order == ">" and len(data) > HEADER and data[HEADER] >= 0x80
        self.metadata = dict(METADATA)
        self.metadata[5] = CUSTOM[5 if self.version == 5 else 4 if self.version == 4 else 1]

    def _sane(self, order):
        version, kind = struct.unpack_from(order + "HH", self.data)
        return (kind == 0 and 1 <= version <= 3) or (kind == 1 and 1 <= version <= 5)

    def take(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)


def function_record(log, at):
    word, delta = log.take("II", at)
    action, function = ((word >> 28) & 7, word & 0xFFFFFFF) if log.msb else ((word >> 1) & 7, word >> 4)
    return {"offset": at, "record": FUNCTIONS[action], "function_id": function, "tsc_delta": delta}, at + 8


def metadata_record(log, at):
    first = log.data[at]
    name, form, fields = log.metadata[first & 0x7F if log.msb else first >> 1]
    record = {"offset": at, "record": name, **dict(zip(fields, log.take(form, at + 1)))}
    end = at + 16
    if "event_size" in record:
        if record["event_size"] <= 0 or end + record["event_size"] > len(log.data):
            raise ValueError(f"{at:#x}: event of size {record['event_size']}")
        record["data"] = log.data[end:end + record["event_size"]]
        end += record["event_size"]
    return record, end


def next_record(log, at):
    first = log.data[at]
    metadata = first >= 0x80 if log.msb else first & 1
    return metadata_record(log, at) if metadata else function_record(log, at)


def filled(log):
    """Whether the buffers of a version 1 log all have the size that the header says, the rest of them being fill; behind
    the last one there need not be any. A log that is shorter than one buffer has no fill."""
    size = log.buffer_size
    new_buffer = bytes([0x80 if log.msb else 0x01])
    starts = range(HEADER, len(log.data), size) if size else []
    return 0 < size <= len(log.data) - HEADER and all(log.data[at:at + 1] == new_buffer for at in starts)


def buffers(log):
    """Lists the buffers of an FDR log: each a list of its records, in file order."""
    fill = log.version == 1 and filled(log)
    at, found = HEADER, []
    while at < len(log.data):
        start, records, end, begun = at, [], len(log.data), False
        while at < end:
            record, after = next_record(log, at)
            if record["record"] == "buffer-extents":
                if records:
                    break
                end = after + record["size"]
            if record["record"] == "new-buffer":
                if begun:
                    break
                begun = True
            records.append(record)
            at = after
            if record["record"] == "end-of-buffer":
                at = start + log.buffer_size if fill else at
                break
        found.append(records)
    return found


def basic_records(log):
    """The records of a basic log. Arguments are records of their own there too."""
    for at in range(HEADER, len(log.data), 32):
        if log.take("H", at)[0] == 1:
            function, thread, process, argument = log.take("iIIQ", at + 4)
            record = {"offset": at, "record": "call-argument", "function_id": function, "thread": thread,
                      "argument": argument}
            yield {**record, "process": process} if log.version >= 3 else record
            continue
        _, cpu, kind, function, tsc, thread, process = log.take("HBBiQII", at)
        record = {"offset": at, "record": FUNCTIONS[kind], "cpu": cpu, "function_id": function, "tsc": tsc,
                  "thread": thread}
        yield {**record, "process": process} if log.version >= 3 else record


def records(log):
    if log.type == 0:
        yield from basic_records(log)
    else:
        for buffer in buffers(log):
            yield from buffer


def absolute(buffer, tsc):
    """Yields (record, its count of ticks) of the timed records of a buffer; tsc is that of the buffer before."""
    for record in buffer:
        if record["record"] == "custom-event" and "absolute_tsc" in record:
            yield record, record["absolute_tsc"]  # before version 5 events do not move the counter
            continue
        if "absolute_tsc" in record:
            tsc = record["absolute_tsc"]
        elif "tsc_delta" in record:
            tsc += record["tsc_delta"]
        else:
            continue
        yield record, tsc


def timed(log):
    """Yields (process, thread, tsc, record name, function id or None); a buffer that is there twice counts once."""
    if log.type == 0:
        for record in basic_records(log):
            if "tsc" in record:
                yield record.get("process", 0), record["thread"], record["tsc"], record["record"], record["function_id"]
        return
    seen, last = set(), {}
    for buffer in buffers(log):
        start, end = buffer[0]["offset"], buffer[-1]["offset"] + 8
        if log.data[start:end] in seen:
            continue
        seen.add(log.data[start:end])
        thread = next(r["thread_id"] for r in buffer if r["record"] == "new-buffer")
        process = next((r["pid"] for r in buffer if r["record"] == "pid"), thread if log.version == 2 else 0)
        for record, tsc in absolute(buffer, last.get(thread, 0)):
            last[thread] = tsc
            if record["record"] not in ("new-cpu-id", "tsc-wrap"):
                yield process, thread, tsc, record["record"], record.get("function_id")


def meaning(log, record):
    """Which bytes of a record, but for its data, mean something: pairs of begin and end."""
    if log.type == 0:
        if record["record"] == "call-argument":
            return [(0, 2), (4, 24)]
        return [(0, 24 if log.version >= 3 else 20)]
    if "function_id" in record:
        return [(0, 8)]
    kind = log.data[record["offset"]]
    return [(0, 1 + struct.calcsize("=" + log.metadata[kind & 0x7F if log.msb else kind >> 1][1]))]


def zeroed(log):
    """The bytes of a log with those that mean nothing set to 0: padding of records and fill. The header stays."""
    out = bytearray(len(log.data))
    out[:HEADER] = log.data[:HEADER]
    for record in records(log):
        at, data = record["offset"], record.get("data", b"")
        for begin, end in meaning(log, record):
            out[at + begin:at + end] = log.data[at + begin:at + end]
        out[at + 16:at + 16 + len(data)] = data
    return bytes(out)


def shown(record):
    """A record for JSON: payload bytes as hexadecimal digits."""
    return {key: value.hex() if isinstance(value, bytes) else value for key, value in record.items()}


def main():
    with open(sys.argv[-1], "rb") as file:
        log = Log(file.read())
    if sys.argv[1] == "--zeroed":
        sys.stdout.buffer.write(zeroed(log))
        return
    for record in records(log):
        print(json.dumps(shown(record)))


if __name__ == "__main__":
    main()
