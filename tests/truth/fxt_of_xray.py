#!/usr/bin/python3
# fxt_of_xray.py - compares an FXT archive with the XRay log that it was made from. Neither is read by the library.
# SPDX-License-Identifier: Apache-2.0
"""Usage: fxt_of_xray.py LOG ARCHIVE

Every call, custom and typed event of the log must be in the archive, and nothing else: process, thread, time in
nanoseconds (floor(ticks * 10^9 / ticks per second) on both sides), name, arguments. Threads' events must stand in time
order. Prints each difference; the exit status is 1 when there is one.
"""
import collections
import sys

import fdr
import fxt

KINDS = {"function.enter": "duration-begin", "function.enter-args": "duration-begin", "function.exit": "duration-end",
         "function.tail-exit": "duration-end", "custom-event": "instant", "typed-event": "instant"}


def arguments_of(record, numbers):
    """What an event carries: (name, type, value) of each argument."""
    if record["record"] == "function.tail-exit":
        return (("tail", "bool", True),)
    data = record.get("data", b"")
    text = len(data) > 0 and all(0x20 <= byte <= 0x7e for byte in data)
    payload = (("data", "string", data.decode()) if text else ("data", "blob", data.hex()),) if "data" in record else ()
    if "event_type" in record:
        return (("event_type", "uint32", record["event_type"]), *payload)
    return tuple((f"arg{i}", "pointer", number) for i, number in enumerate(numbers)) + payload


def name_of(record):
    """An id is object << 24 | function, and 0 the program."""
    if "function_id" not in record:
        return record["record"].replace("-", " ")
    shared, function = divmod(record["function_id"], 1 << 24)
    return f"#{shared}:{function}" if shared else f"#{function}"


def in_log(path):
    """Yields the events of a flight data recorder log."""
    with open(path, "rb") as file:
        log = fdr.Log(file.read())
    last = {}
    for buffer in fdr.buffers(log):
        thread = next(record["thread_id"] for record in buffer if record["record"] == "new-buffer")
        process = next((record["pid"] for record in buffer if record["record"] == "pid"), 0)
        ticks = {record["offset"]: tsc for record, tsc in fdr.absolute(buffer, last.get(thread, 0))}
        for at, record in enumerate(buffer):
            if record["record"] not in KINDS:
                continue
            last[thread] = ticks[record["offset"]]
            numbers = []
            while at + 1 < len(buffer) and buffer[at + 1]["record"] == "call-argument":
                at += 1
                numbers.append(buffer[at]["argument"])
            ns = ticks[record["offset"]] * 10**9 // log.frequency
            yield process, thread, ns, KINDS[record["record"]], name_of(record), arguments_of(record, numbers)


def in_archive(path, found):
    """Yields the events of an archive; `found` takes what is wrong with it."""
    with open(path, "rb") as file:
        data = file.read()
    last, damaged = collections.defaultdict(int), []
    for event in fxt.events(data, damaged=damaged):
        thread = event["process"], event["thread"]
        if event["ns"] < last[thread]:
            found.append(f"{event['offset']:#x}: earlier than the event before it")
        last[thread] = event["ns"]
        values = tuple((one["name"], one["type"], one["value"]) for one in event["arguments"])
        yield *thread, event["ns"], event["kind"], event["name"], values
    found += [f"{offset:#x}: {why}" for offset, why in damaged]


def main():
    found = []
    wanted = collections.Counter(in_log(sys.argv[1]))
    written = collections.Counter(in_archive(sys.argv[2], found))
    found += [f"only in the log: {event}" for event in wanted - written]
    found += [f"only in the archive: {event}" for event in written - wanted]
    print("\n".join(found) or f"{wanted.total()} events agree")
    sys.exit(bool(found) or not wanted)


if __name__ == "__main__":
    main()
