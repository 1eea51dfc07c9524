# fxt_odd.py - an archive of what is rare: extensions, unknown kinds, undefined references, numbers at their limits.
# SPDX-License-Identifier: Apache-2.0
"""archive() is little endian; EXPECTED is what its records say, by the document."""
import struct

MAGIC = 0x0016547846040010
LARGE = 15
RATE = 24_000_000
LATE = 18_446_744_074  # ticks: times 10^9 it does not fit into 64 bits
LATE_NS = 768_614_336_416  # at that rate
PAYLOAD = bytes(range(251)) * 160  # 40,160 bytes: 5,020 words, more than 12 bits hold
ODD_TEXT = 'tab\t "quote" \\ \x01 '.encode() + b"\xff\xc3\x28 " + "é€𝄞".encode()
SHOWN_TEXT = 'tab\t "quote" \\ \x01 \ufffd\ufffd( é€𝄞'


def stream(data):
    return data + bytes(-len(data) % 8)


def words(*values):
    return b"".join(struct.pack("<Q", value % (1 << 64)) for value in values)


MAGIC_RECORD = words(MAGIC)


def record(kind, fields=0, *parts):
    """A record: its type, the other bits of its first word, and numbers or bytes."""
    body = b"".join(part if isinstance(part, bytes) else words(part) for part in parts)
    return words(kind | (len(body) // 8 + 1) << 4 | fields) + body


def provider_info(number, name):
    return record(0, 1 << 16 | number << 20 | len(name) << 52, stream(name))


def string(index, value):
    return record(2, index << 16 | len(value) << 32, stream(value))


def thread(index, process, koid):
    return record(3, index << 16, process, koid)


def event(kind, name, *parts, category=0, arguments=0, reference=1, ticks=100):
    return record(4, kind << 16 | arguments << 20 | reference << 24 | category << 32 | name << 48, ticks, *parts)


def argument(kind, upper=0, *parts, name=1):
    body = b"".join(part if isinstance(part, bytes) else words(part) for part in parts)
    return words(kind | (len(body) // 8 + 1) << 4 | name << 16 | upper << 32) + body


def double(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


ENDS = [("int32", -1 << 31), ("int32", (1 << 31) - 1), ("uint32", (1 << 32) - 1), ("int64", -1 << 63),
        ("int64", (1 << 63) - 1), ("uint64", (1 << 64) - 1), ("double", 1e300), ("double", 0.1), ("double", "NaN"),
        ("double", "Infinity"), ("double", "-Infinity"), ("bool", True), ("bool", False), ("koid", (1 << 64) - 1),
        ("pointer", 1 << 63)]


def ends():
    """Fifteen arguments, which is the most."""
    for kind, value in ENDS:
        number = float(value.lower()) if isinstance(value, str) else value
        if kind in ("int32", "uint32"):
            yield argument(1 if kind == "int32" else 2, number % (1 << 32))
        elif kind == "bool":
            yield argument(9, int(number))
        else:
            code = {"int64": 3, "uint64": 4, "double": 5, "pointer": 7, "koid": 8}[kind]
            yield argument(code, 0, double(number) if kind == "double" else number)


def row(kind, **fields):
    return {"record": kind, **fields}


def instant(**fields):
    return row("event.instant", **fields)


# Bytes of each record, and what it says.
RECORDS = [
    (MAGIC_RECORD, row("magic")),
    # Before any provider: a tick is a nanosecond, nothing is defined.
    (event(0, 1), instant(process=None, thread=None, thread_ref=1, name=None, name_ref=1, category="")),
    (provider_info(1, b"first"), row("provider-info", provider_id=1, name="first")),
    (record(1, 0, RATE), row("initialization", ticks_per_second=RATE)),
    (string(1, b"one"), row("string", index=1, value="one")),
    (string(0, b"none"), row("string", index=0, value="none")),
    (string(2, ODD_TEXT), row("string", index=2, value=SHOWN_TEXT)),
    (string(0x7fff, b""), row("string", index=0x7fff, value="")),
    (thread(1, 5, 6), row("thread", index=1, process=5, thread=6)),
    (thread(0, 7, 8), row("thread", index=0, process=7, thread=8)),
    (thread(255, 1 << 63, (1 << 64) - 1), row("thread", index=255, process=1 << 63, thread=(1 << 64) - 1)),
    (event(0, 1, ticks=LATE), instant(timestamp=LATE, process=5, thread=6, name="one", category="")),
    (event(0, 2, category=0x7fff, reference=255), instant(process=1 << 63, name=SHOWN_TEXT, category="")),
    (event(0, 3, category=4, reference=9), instant(process=None, thread=None, name=None, category=None)),
    (event(0, 0x8000, category=0x8000), instant(name="", name_ref=0x8000, category="", category_ref=0x8000)),
    (event(0, 1, 2), instant(scope=2)),
    (event(0, 1, 1, 77), instant(scope=1, rest=words(77).hex())),
    (event(2, 1, 77, 78), row("event.duration-begin", name="one", rest=words(77, 78).hex())),
    (event(3, 0, ticks=300), row("event.duration-end", name="", timestamp=300)),
    (event(4, 1, 400, ticks=500), row("event.duration-complete", timestamp=500, end_time=400)),
    (event(1, 1, *ends(), 99, arguments=15),
     row("event.counter", counter_id=99, arguments=[{"name": "one", "type": kind, "value": value}
                                                    for kind, value in ENDS])),
    # Objects, and what points to them.
    (record(6, 0x8003 << 24, 0xabc, 5, stream(b"obj")),
     row("userspace-object", pointer=0xabc, process=5, thread=None, thread_ref=0, name="obj", arguments=[])),
    (record(6, 0x8003 << 24 | 1 << 40, 0xdef, 5, 6, stream(b"two"), argument(0)),
     row("userspace-object", pointer=0xdef, process=5, thread=6, name="two",
         arguments=[{"name": "one", "type": "null", "value": None}])),
    (record(7, 2 << 16 | 0x8001 << 24 | 1 << 40, 6, stream(b"t"), argument(8, 0, 5)),
     row("kernel-object", object_type=2, koid=6, name="t", arguments=[{"name": "one", "type": "koid", "value": 5}])),
    (event(0, 1, argument(7, 0, 0xabc), argument(7, 0, 0xdef), argument(7, 0, 0x123), argument(8, 0, 6), arguments=4),
     instant(arguments=[{"type": "pointer", "object": "obj"}, {"type": "pointer", "object": "two"},
                        {"type": "pointer", "value": 0x123}, {"type": "koid", "object": "t"}])),
    # Of another process that pointer is nothing.
    (event(0, 1, argument(7, 0, 0xabc), arguments=1, reference=255), instant(arguments=[{"value": 0xabc}])),
    # Unknown kinds.
    (record(12, 0xabcdef << 16, 1, 2), row("unknown", type=12, size=24, data=words(1, 2).hex())),
    (event(13, 1, 5), row("unknown", type=4, subtype=13, size=24, data=words(100, 5).hex())),
    (record(0, 7 << 16), row("unknown", type=0, subtype=7, size=8, data="")),
    (record(8, 3 << 60, 5, 6), row("unknown", type=8, subtype=3, size=24)),
    (record(10, 4 << 16, 5), row("unknown", type=10, subtype=4, size=16)),
    (record(LARGE, 3 << 36, 5), row("unknown", type=15, subtype=3, size=16)),
    (record(LARGE, 2 << 40, bytes(5000)), row("unknown", type=15, subtype=0, size=5008, data="00" * 4096)),
    (event(0, 1, argument(12, 0x1234, 9), argument(2, 3), arguments=2),
     instant(arguments=[{"name": "one", "type": "unknown", "value": words(9).hex(), "header": 0x12340001002c},
                        {"type": "uint32", "value": 3}])),
    (event(0, 1, argument(2, 3, 9), argument(9, 0, 8), arguments=2),
     instant(arguments=[{"type": "uint32", "value": 3, "rest": words(9).hex()},
                        {"type": "bool", "value": False, "rest": words(8).hex()}])),
    # More than one way to give the time, and none.
    (record(1, 0, RATE, 11, 12), row("initialization", ticks_per_second=RATE, base_ticks=11, base_time_ns=12)),
    (record(1, 0, 0), row("initialization", ticks_per_second=0)),
    (record(10, 1 << 20 | 7 << 28 | 3 << 44 | 2 << 52, 40, stream(b"mod"), stream(b"\x01\x02")),
     row("profiler.module", timestamp=40, process=5, thread=6, module_id=7, name="mod", build_id="0102")),
    (record(10, 1 << 16 | 7 << 28 | 5 << 44, 40, 50, 60, 1, 2, 3),
     row("profiler.mmap", process=50, thread=60, module_id=7, flags=5, start=1, range=2, vaddr=3)),
    (record(10, 1 << 16, 40, 50, 1, 2, 3), row("profiler.mmap", process=50, thread=None, start=1, range=2, vaddr=3)),
    (record(10, 2 << 16 | 1 << 20 | 2 << 28, 40, 1, 2), row("profiler.backtrace", process=5, flags=0, pcs=[1, 2])),
    (record(LARGE, 0, 1 << 16 | 1 << 32, 700, 50, 60, argument(2, 3), len(PAYLOAD), PAYLOAD),
     row("large-blob", blob_format=0, timestamp=700, process=50, thread=60, name="one", payload_size=len(PAYLOAD),
         payload=PAYLOAD[:4096].hex(), arguments=[{"type": "uint32", "value": 3}])),
    (record(LARGE, 1 << 40, 0x8003 | 1 << 16, stream(b"cat"), 3, stream(b"\x01\x02\x03")),
     row("large-blob", blob_format=1, category="cat", name="one", payload_size=3, payload="010203")),
    (record(5, 1 << 16 | 5 << 32 | 9 << 48, stream(b"12345")),
     row("blob", name="one", blob_type=9, payload_size=5, payload=b"12345".hex())),
    (record(9, 3 << 16 | 1 << 32, 800, stream(b"log")), row("log", timestamp=800, thread=6, message="log")),
    # Other providers have tables of their own; information said again empties them.
    (record(0, 2 << 16 | 9 << 20), row("provider-section", provider_id=9)),
    (event(0, 1), instant(name=None, process=None)),
    (string(1, b"other"), row("string", index=1, value="other")),
    (event(0, 1, 70, 71, reference=0, ticks=1000), instant(process=70, thread=71, thread_ref=0, name="other")),
    (record(0, 3 << 16 | 1 << 20), row("provider-event", provider_id=1, event_id=0)),
    (record(0, 2 << 16 | 1 << 20), row("provider-section", provider_id=1)),
    (event(0, 1), instant(name="one", thread=6)),
    (provider_info(1, b"again"), row("provider-info", provider_id=1, name="again")),
    (event(0, 1), instant(name=None, thread=None)),
    (record(0, 2 << 16 | 9 << 20), row("provider-section", provider_id=9)),
    (event(0, 1), instant(name="other", thread=None)),
    # Another archive.
    (MAGIC_RECORD, row("magic")),
    (event(0, 1), instant(name=None, thread=None)),
]

EXPECTED = [said for _, said in RECORDS]


def archive():
    return b"".join(data for data, _ in RECORDS)


def unfinished(inline):
    """Slices that nothing ends, on threads that go on with events that are none; `inline`: the last of them is of a thread
    that its record describes. Names of threads stand before all times, and behind them. Another one goes on
    until a slice is over that its record told long before."""
    def name(koid):
        return record(7, 2 << 16 | 1 << 24 | 1 << 40, koid, argument(8, 0, 900, name=2))
    data = MAGIC_RECORD + record(1, 0, 10**9) + string(1, b"worker") + string(2, b"process") + string(3, b"other")
    data += name(11) + name(12) + thread(1, 900, 11) + thread(2, 900, 12) + thread(3, 900, 13)
    for reference in (1, 2, 3):
        data += event(4, 1, 1400, category=3, reference=reference, ticks=1200) + event(2, 1, category=3, reference=reference, ticks=1000)
    data += event(0, 3, category=3, ticks=1700) + event(1, 3, 7, category=3, reference=2, ticks=1900) + event(0, 3, category=3, ticks=1600)
    data += event(8, 3, 5, category=3, reference=2, ticks=1300)
    data += thread(4, 900, 14) + event(4, 1, 2000, category=3, reference=4, ticks=1000) + event(2, 2, category=3, reference=4, ticks=1500)
    if inline:
        data += event(0, 3, 900, 13, category=3, reference=0, ticks=2500)
    return data + name(13) + name(11)


def extended():
    """Records with more words than the format has for them, five in a row: in some of their times and words others seem to
    begin where bytes are skipped."""
    def work(kind, *parts, **others):
        return event(kind, 1, *parts, category=1, **others)
    data = MAGIC_RECORD + record(1, 0, 10**9) + string(1, b"work") + thread(1, 5, 6)
    for ticks in range(17_000, 27_000, 10):
        data += work(5, 55, ticks=ticks)
        if ticks % 30 == 20:
            data += work(5, 56, 77, ticks=ticks + 1) + work(0, 1, 2, ticks=ticks + 2)
            data += work(4, ticks + 4, ticks + 200, ticks=ticks + 3) + work(0, 1, 5, ticks=ticks + 4)
            data += work(1, argument(1, 3), 99, 98, arguments=1, ticks=ticks + 5)
    return data


def backwards(count):
    """Complete slices that end before they begin, the last one too."""
    data = MAGIC_RECORD + record(1, 0, 10**9) + string(1, b"work") + thread(1, 5, 6)
    return data + b"".join(event(4, 1, 10 * i + 40, category=1, ticks=10 * i + 100) for i in range(count))
