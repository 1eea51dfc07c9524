#!/usr/bin/python3
"""seeds.py - inputs for the fuzz targets to start from: the test traces, whole and damaged, behind a byte of options."""
# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import struct
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "truth"))
import portable_pdb

# One byte in front selects options: see fuzz_options() in common.c. None, all checks, time order, file order, the filters.
SELECTORS = [0x00, 0x04, 0x05, 0x0A, 0x14, 0x24, 0x44, 0x84, 0xF7]
LARGEST = 1 << 16
FXT_PART = 1 << 13
TEXT_PART = 1 << 13


def damaged(log):
    """The log, its first half, and the log with a byte in the middle turned over."""
    middle = len(log) // 2
    yield log
    yield log[:middle]
    yield log[:middle] + bytes([log[middle] ^ 0xFF]) + log[middle + 1:]


def xray_logs(data):
    yield "flight", flight_log()
    yield "core", core_dump(flight_log())
    for path in sorted(data.rglob("*.xray")):
        if 0 < path.stat().st_size <= LARGEST:
            yield path.stem, path.read_bytes()


def flight_log():
    """A log of the flight recorder as its program left it: its state, and a chunk of a thread with a call."""
    def metadata(kind, *parts):
        return bytes([kind]) + b"".join(parts).ljust(15, b"\0")[:15]

    def chunk(size, thread, records):
        body = metadata(0x01, struct.pack("<i", thread)) + metadata(0x09, struct.pack("<QI", 1, 0)) + \
            metadata(0x13, struct.pack("<i", 1)) + metadata(0x05, struct.pack("<HQ", 0, 1000)) + records
        return (struct.pack("<I", size).ljust(15, b"\0") + metadata(0x0f, struct.pack("<Q", len(body))) + body).ljust(size, b"\0")

    clock = struct.pack("<4Q", 1000, 1000, 1000, 1000)
    state = b"trackway.flight".ljust(17, b"\0") + struct.pack("<IIQQQ", 1, 1, 1, 0, 0) + 2 * clock
    header = struct.pack("<HHIQQ8s", 5, 1, 3, 10 ** 9, 1 << 20, b"twflight")
    calls = struct.pack("<4I", 1 << 4, 0, 1 << 4 | 2, 500) + metadata(0x11, struct.pack("<iih", 1, 5, 7)) + b"x"
    clocks = b"trackway.clocks".ljust(16, b"\0") + clock + bytes(63 * 32)
    losses = b"trackway.losses".ljust(16, b"\0") + struct.pack("<3Q", 2, 3, 24)
    named = b"trackway.event".ljust(16, b"\0") + b"0007 request"
    notes = b"".join(metadata(0x0b, struct.pack("<ii", len(note), 0)) + note for note in (state, clocks, losses, named))
    return header + chunk(8192 - 32, 0, notes) + bytes(4096) + chunk(4096, 7, calls)


def core_dump(log):
    """With a log in the second of its segments."""
    def segment(offset, size):
        return struct.pack("<IIQQQQQQ", 1, 6, offset, 0, 0, size, size, 4096)

    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    return (header + segment(64, 64) + segment(4096, len(log))).ljust(4096, b"\0") + log


def fxt_archives(data):
    """Parts of the archives, and each of the single records; these also with words the other way round."""
    for path in sorted(data.rglob("*.fxt")):
        archive = path.read_bytes()
        for at in range(0, min(len(archive), 4 * FXT_PART), FXT_PART):
            yield f"{path.stem}-{at}", archive[at:at + FXT_PART]
    for line in (data / "fxt/vectors.tsv").read_text().splitlines():
        name, words = line.split("\t")
        for order in "little", "big":
            yield f"{name}-{order}", b"".join(int(word, 16).to_bytes(8, order) for word in words.split())


def chrome_events(path):
    """Nothing of what Python's own reader does not take: damaged, or nested deeply."""
    try:
        trace = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return []
    return trace.get("traceEvents", []) if isinstance(trace, dict) else trace


def chrome_traces(data):
    """The trace whole, and its events one by one, as JSON that begins with them."""
    for path in sorted(data.rglob("*.json")):
        yield path.stem, path.read_bytes()
        for i, event in enumerate(chrome_events(path)):
            yield f"{path.stem}-event{i}", json.dumps([event]).encode()


def xtraces():
    """Tokens of every kind one after the other, and two snapshots with vectors of 128 bits, by the document."""
    word = b"\x10\x20\x30\x40\0\0\0\0"
    tokens = b"\x09" + word + b"\x1f\x20\x03\xd5" + b"\x01\x1f\x20\x03\xd5" + b"\x49" + word + b"\0\0\0\xd4"
    tokens += b"".join(bytes([memory | k << 4]) + word + bytes(1 << k) for memory in (2, 10) for k in range(5))
    tokens += b"".join(bytes([value]) + word for value in (0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x1c, 0x07))
    tokens += b"\x0c" + 32 * word + b"\x24" + (2).to_bytes(8, "little") + 4 * word
    yield "xtrace-tokens", tokens
    snapshots = b"".join((count << 64 | count << 128).to_bytes(1416, "little") + (128).to_bytes(8, "little")
                         for count in (1, 2))
    yield "xtrace-snapshots", bytes(24) + snapshots
    part = len(tokens) * 255 // len(tokens + bytes(24) + snapshots) + 1
    yield "xtrace-set", bytes([part]) + tokens + bytes(24) + snapshots
    yield from runs()


def runs():
    """A program with a loop, accesses, a system call, MRS, a store-exclusive that fails, and TIMEs, behind a snapshot at its beginning."""
    def first(pc, opcode):
        return struct.pack("<BQI", 0x09, pc, opcode)

    def then(opcode):
        return struct.pack("<BI", 0x01, opcode)

    def value(token, number):
        return struct.pack("<BQ", token, number)

    tokens = first(0x400000, 0xd2800060)  # mov x0, #3
    for time in range(1, 4):
        tokens += first(0x400004, 0xf9400021) + struct.pack("<BQQ", 0x32, 0x1000, 7) + value(0x07, 2 * time)  # ldr x1, [x1]
        tokens += then(0xb9000422) + struct.pack("<BQI", 0x2a, 0x1ffe, 7) + value(0x07, 2 * time + 1)  # str w2, [x1, #4]
        tokens += then(0xf1000400) + then(0x54ffffa1)  # subs x0, x0, #1; b.ne
    tokens += first(0x400014, 0xd53be040) + value(0x0b, 5) + then(0xc8037c41) + value(0x03, 1)  # mrs cntvct_el0; stxr w3, x1, [x2]
    tokens += then(0xd4000001) + b"".join(value(0x13, x) for x in range(7)) + value(0x1b, 9)  # svc #0
    tokens += first(0x400020, 0x10000005) + then(0xd65f03c0) + value(0x2b, 0x400004) + first(0x400004, 0xd503201f)  # adr; ret; nop
    snapshots = bytes(24) + b"".join(struct.pack("<4Q", 0, index, count, count) + bytes(1384) + struct.pack("<Q", 128)
                                     for count, index in enumerate((0, 13)))
    for nops in range(256):  # until the size of the data file is a whole number of parts
        data = tokens + nops * then(0xd503201f)
        part = -(-len(data) * 255 // len(data + snapshots))
        if len(data + snapshots) * part // 255 == len(data):
            return [("xtrace-run", bytes([part]) + data + snapshots)]
    raise ValueError("no size of the data file is a whole number of parts")


def executed():
    """What replay has special ways for, as it was executed from a snapshot of zeros. Opcodes are those of GNU's assembler."""
    def word(value):
        return value.to_bytes(8, "little")

    def inst(opcode, *behind):
        return b"\x01" + opcode.to_bytes(4, "little") + b"".join(behind)

    def begin(pc, opcode):
        return b"\x09" + word(pc) + opcode.to_bytes(4, "little")

    def access(token, address, value):
        return bytes([token]) + word(address) + value

    load, store, value = 0x32, 0x3a, word(0x1122334455667788)
    tokens = begin(0x400000, 0xd2820001)                                                   # mov x1, #0x1000
    tokens += inst(0xf9400020, access(load, 0x1000, value))                                # ldr x0, [x1]
    tokens += inst(0xf9000420, access(store, 0x1008, value))                               # str x0, [x1, #8]
    tokens += inst(0xeb01001f)                                                             # cmp x0, x1
    tokens += inst(0x9a810002, b"\x1c" + word(0x20000000))                                 # csel x2, x0, x1, eq
    tokens += inst(0xc8037c20, access(store, 0x1000, value), b"\x03" + word(0))            # stxr w3, x0, [x1]
    tokens += inst(0xd53bd044, b"\x0b" + word(0x7000))                                     # mrs x4, tpidr_el0
    tokens += inst(0xc8a07c22, access(load, 0x1000, value))                                # cas x0, x2, [x1]
    tokens += inst(0x3dc00020, access(load, 0x1000, value), access(load, 0x1008, value))   # ldr q0, [x1]
    tokens += inst(0xd50b7421, b"\x23" + word(0x1000), access(0x6a, 0x1000, bytes(64)))    # dc zva, x1
    tokens += inst(0xd2800008)                                                             # mov x8, #0
    arguments = (0, 0x1122334455667788, 0x1000, 0x1000, 0, 0x7000, 0)
    tokens += inst(0xd4000001, *(b"\x13" + word(one) for one in arguments), b"\x1b" + word(7), b"\x0c" + word(7) * 32)
    tokens += 3 * begin(0x400030, 0x14000000)                                                # b .
    second = len(tokens) - 13
    tokens += begin(0x400034, 0x04bf5020) + inst(0xa5e0a01f, access(load, 0x1000, value))    # rdvl x0, #1; ld1d {z31.d}, p0/z, [x0]
    snapshots = b"".join((index << 64 | count << 128 | count << 192).to_bytes(1416, "little") + word(128)
                         for index, count in ((0, 0), (second, 14)))
    yield "executed", len(tokens).to_bytes(2, "little") + tokens + bytes(24) + snapshots


def tracelog_logs(data):
    """Parts of the logs, among them one line of every kind and spelling."""
    for path in sorted((data / "tracelog").glob("*.log")):
        log = path.read_bytes()
        for at in range(0, min(len(log), 4 * TEXT_PART), TEXT_PART):
            yield f"{path.stem}-{at}", log[at:at + TEXT_PART]


def stacks():
    """Folded stacks, and lines for diff --flame."""
    yield "folded", (b"# profiler\nmain;parse;read 12\nmain;walk;walk 2.6\n;x 1\n5\nbad\na;\xff 99999999999999999999\r\n"
                     b"#1;#2 40")
    yield "two-numbers", b"main 1 2\nmain;a;b 10 20\r\n# said\n\nmain;new 0 5\nmain;a;old 7 0"


def image_record(kind, number, *words, arguments=0):
    body = b"".join(word if isinstance(word, bytes) else struct.pack("<Q", word) for word in words)
    return struct.pack("<Q", kind | (len(body) // 8 + 1) << 8 | arguments << 24 | number << 32) + body


def image_chunk(owner, ticks, *records):
    body = b"".join(records)
    return (b"TWCHUNK\n" + struct.pack("<QQQQQQQ", 4096, 1 << 32 | owner, len(body), ticks, 2 * ticks, 0, 0) + body).ljust(4096, b"\0")


def image_text(text):
    return struct.pack("<Q", len(text)) + text.ljust(-(-len(text) // 8) * 8, b"\0")


def images():
    """Images of the tracer, by doc/recording.md: every kind of record and argument, and an open scope."""
    durable = [image_record(32, i + 1, image_text(text)) for i, text in enumerate((b"category", b"name", b"", b"argument"))]
    durable += [image_record(33, 1, 1 | 2 << 32), image_record(34, 1, 10, 11), image_record(35, 1, 2),
                image_record(34, 2, 10, 1 << 63 | 2), image_record(36, 2, 0x1234, 4 | 2 << 4 | 4 << 32, 5, arguments=1),
                image_record(37, 1, 3)]
    values = [4 << 32 | kind | words << 4 for kind, words in [(0, 1), (1, 2), (5, 2), (9, 2), (8, 2)]]
    listed = [values[0], values[1], 2**64 - 1, values[2], 1 << 62, values[3], 1, values[4], 9,
              4 << 32 | 3 << 4 | 6, image_text(b"text"), 4 << 32 | 3 << 4 | 10, image_text(b"\1\2")]
    events = [image_record(16, 1, 1, 1)]
    events += [image_record(kind, 1, 1000 + kind, *([2000 + kind] if kind not in (2, 3) else [])) for kind in range(11)]
    events += [image_record(0, 1, 3000, 0, *listed, arguments=7), image_record(17, 0, 3001, image_text(b"log")),
               image_record(18, 2, image_text(b"blob")), image_record(16, 2), image_record(4, 1, 3002, 3005),
               image_record(16, 2, 1 << 56 | 3, 2), image_record(4, 1, 3003, 3006)]
    slot = struct.pack("<IIQ", 1, 2, 1) + struct.pack("<QQQQ", 900, 1, 1004, 1)
    slots = slot.ljust(528, b"\0") * 2
    chunks = image_chunk(0xffffffff, 0, *durable) + image_chunk(0xfffffffe, 0, slots) + image_chunk(1, 900, *events)
    chunks += b"".join(image_chunk(1, 100 + i, image_record(16, 1, 5 + i, 3 + i), image_record(0, 1, 100 + i, 0)) for i in (0, 2, 3))
    for clock in 0, 1:
        header = b"TWIMAGE\n" + struct.pack("<IIQQIIQQQQ", 1, 2, 10, 0, clock, 0, 900, 1800, 10**18, 5 * 10**8)
        header = header.ljust(72, b"\0") + b"program".ljust(96, b"\0")
        header += struct.pack("<10Q", 1 + clock, len(chunks), 1, 1, 1, 0, 2, 10**7, 2 * 10**7, 5)
        yield f"image-{clock}", header.ljust(4096, b"\0") + chunks


def line_images():
    """Images of the profiler for .NET, by doc/dotnet.md: lines of two writers, and a chunk without any."""
    def line(number, text):
        return struct.pack("<QQ", number, len(text)) + text.ljust(-(-len(text) // 8) * 8, b"\0")

    def chunk(*lines):
        body = b"".join(lines)
        return (b"TWCHUNK\n" + struct.pack("<4Q", 4096, len(body), 0, 0) + body).ljust(4096, b"\0")

    chunks = chunk(line(0, b"prf stm 2026-01-02 03:04:05.006\n"), line(2, b"thr aos 0x00000000 12\n"),
                   line(4, b"sam str 0x00000000 20 1 1:1\n")) + chunk()
    chunks += chunk(line(1, b"thr crt 0x0000000000004000 0x00000000\n"), line(3, b"sam str 0x00000000 10 1 0:0 0x0\n"))
    header = b"TWLINES\n" + struct.pack("<II6Q", 1, 77, 0, 0, len(chunks), 5, 1, 1)
    yield "lines", header.ljust(4096, b"\0") + chunks


def packet(text, connection=0, descriptor=0):
    return bytes([connection | descriptor << 4, len(text)]) + text


def conversations():
    """Both sides of the tracer's protocol, by doc/recording.md: packets, and what the files hold (tests/fuzz/packets.h)."""
    image = next(iter(images()))[1]
    for descriptor in range(10):
        yield f"talk-start-{descriptor}", (packet(b"start mode=streaming", 0, descriptor) + packet(b"status") +
                                           packet(b"image") + packet(b"start category=a*:b", 0, 4) + packet(b"stop"))
    for options in b"mode=oneshot,size=64K", b"mode=circular,size=64K,clock=monotonic", b"category=fuzz,control=off", b"size=1":
        yield f"talk-{options[:14].decode()}", packet(b"start " + options, 0, 4) + packet(b"stop") + packet(b"status", 0, 1)
    yield "talk-manager", packet(b"start mode=streaming", 0, 4) + packet(b"manager /nowhere/manager-1") + packet(b"manager") + packet(b"stop")
    program = [packet(b"hello 1 10", i) + packet(b"started", i) + packet(b"status circular 4096 3\n2 fuzz\n1 other", i)
               for i in range(4)]
    yield "talk-hello", b"".join(program) + packet(b"alert alert", 1) + packet(b"stopped 3", 2) + packet(b"") + image
    yield "talk-refused", packet(b"hello 2 0", 0, 3) + packet(b"refused 114") + packet(b"status off 0") + packet(b"hello") + image
    yield "talk-empty", packet(b"hello 1 10") + packet(b"") + image[:100]


def answers():
    """What servers answer, addresses, and an archive of one block."""
    for name, text in (
            ("rows", b"0\t262144\t19802\n1\t1\t19802\n"), ("error", b"Code: 60, e.displayText() = DB::Exception: Table a.b doesn't exist., e.what() = DB::Exception\n"),
            ("newer", b"Code: 516. DB::Exception: default: Authentication failed. (AUTHENTICATION_FAILED) (version 23.8.1)\n"),
            ("address", b"clickhouse://user:p%41ss@[::1]:9,db2:8123,db3/traces"), ("binary", b"\xff\0\t\t\n\n18446744073709551616\t")):
        yield f"answer-{name}", b"\x03" + text
    head = b"slice/00000001.native".ljust(124, b"\0") + b"00000000007".ljust(388, b"\0")
    yield "answer-archive", b"\x10" + head + b"\x01\x02\x01aXYZ".ljust(512, b"\0") + bytes(1024)


def maps(data):
    for path in sorted((data / "maps").glob("*.yaml")):
        yield f"map-{path.stem}", path.read_bytes()
    yield "map-lines", b"- id: 7\n  function-name: | # as it stands\n    it's(int)\n\n  address: 0x201210\n  kind:\n    log-args-enter\n" \
        b"  function: 0x201200\n  always-instrument: >-\n   true\n  version: 2\n"


def kernels():
    """Lists as /proc/kallsyms and System.map."""
    yield "kallsyms", b"ffff800008000000 T _text\nffff800008000000 t _head\nffff800008010000 W weak\nffff800008010400 t $x\n" \
        b"ffff800008010800 D data\nffff800001000000 t ext4_get_inode\t[ext4]\n"
    yield "kallsyms-hidden", b"0000000000000000 T _text\n0000000000000000 t nft_do_chain\t[nf_tables]\n"


def symbols():
    """A symbol of each mangling, with what refers back, lifetimes, constants and closures."""
    for name, symbol in (
            ("cpp", b"_ZNSt6vectorIiSaIiEE9push_backERKi"), ("rust-legacy", b"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            ("rust", b"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_"),
            ("rust-types", b"_RINvC7mycrate3fooDINtC3std8IteratorlEp4ItemhEL_FG_RL0_hEuAhj4_Kan80_Kc41_TTlEEE"),
            ("d", b"_D4core6memory2GC6enableFNbZv")):
        yield f"demangle-{name}", symbol


def lists():
    """Lists of what was loaded where: a process that forks, and what its child executes in its place; without programs."""
    rows = b"00400000-00480000 r-xp 00000000 00:00 1 /home/me/shell\n# thread 1: program 1\n# program 2: as 1 so far\n" \
        b"# thread 2: program 2\n00400000-0047e000 r-xp 00000000 00:00 3 /home/me/shows\n# thread 10000002: program 3\n"
    yield "list-programs", rows
    yield "list-child", rows + b"5500000000-5500001000 r-xp 00000000 00:00 2 /lib/one.so\n" \
        b"5500000800-5500001800 r-xp 0 00:00 1 /lib/two.so\n"
    yield "list-threads-twice", rows + b"# thread 1: program 3\n# program 3: as 3 so far\n# program 1: as 3 so far\n"
    yield "list-plain", rows.replace(b"00:00", b"fe:01") + b"5500000000 /lib/one.so\n7f00-8000 rw-p 0 00:00 0 [stack]\n"


def vectors():
    """Vectors of basic blocks, with the list of blocks before them and without."""
    lines = b"T:1:60 :2:40 \nT:2:100 \n# a comment\nT:1:30 :3:70 \nT:3:7 \n"
    yield "vectors", lines
    yield "vectors-blocks", b"#interval 100 thread 7\n1 0x400000\n2 0x400010\n3 0x400020\n\0" + lines


def scalable():
    """SVE's instructions with registers: LDR, LD1D, LDFF1D by offsets, LDNF1D, LD4B, LD1RQD, LD1RD, ST1W by addresses, PRFB."""
    for opcode in (0x85804020, 0xa5e0a020, 0xc5e2e020, 0xa5f1a020, 0xa460e020, 0xa5880020, 0x85ffe020, 0xe57fa020, 0x8400c020):
        registers = struct.pack("<2Q", 0x10000, 24) + bytes(range(256)) + b"\x01" * 32 + b"\xff" * 16 + bytes(16)
        yield f"scalable-{opcode:x}", struct.pack("<I", opcode) + registers


def windows():
    """Lists of windows, behind a byte that says which: for `record`, of SimPoint's files, beside a trace, with little memory."""
    yield "windows", b"\0# of SimPoint's, and others\n60000 3000\n\n 100 50 \n50000 1000 7 0.5\n70000 500 3 0.5 0\n"
    yield "windows-simpoints", b"\0015 0\n1 2\n11 1\n\0" + b"0.25 0\n0.125 2\n0.625 1\n"
    yield "windows-beside", b"\2#window\tthread\tfrom\tlength\tphase\tweight\tsnapshot\twarm_up\twarm_up_snapshot\n" \
        b"0\t1\t5\t6\t-\t-\t0\t0\t0\n1\t1\t5\t6\t1\t0.5\t2\t7\t1\n"
    yield "windows-many", b"\3" + b"0\t1\t5\t6\t-\t-\t0\t0\t0\n" * 300


def pdbs():
    """Portable PDBs, assemblies and Mono's files, by their documents."""
    yield "pdb", portable_pdb.pdb()
    yield "mdb", portable_pdb.mdb()
    yield "assembly", portable_pdb.assembly()
    yield "assembly-inside", portable_pdb.assembly(portable_pdb.pdb())


def views(data):
    """Requests about traces, for the server of views: the address, three headers, and the trace."""
    asked = ["window?from=0&to=90000000&width=40&names=0&tracks=0,1,2,3,4,5,6,7,8,9",
             "window?from=16000&to=17000&width=7&names=1&tracks=1,2", "trace", "progress?starts=0", "flame", "stat?tracks=1&text=a&from=1&starts=0",
             "slice?track=1&lane=0&depth=0&item=0", "near?name=a&at=0&direction=next",
             "near?text=a&at=9&direction=previous&track=1&lane=0&depth=0&item=0",
             "near?track=1&lane=0&depth=0&item=0&direction=previous",
             "sql?query=select+*+from+slice&question=a&limit=3", "sql?query=select+name,dur+from+slice+where+ts<9&from=0&to=90",
             "sql?query=create+temp+table+t(a);insert+into+t+values(x'00');select+a,1.5,null,'b'+from+t&tracks=1",
             "details?track=1&lane=0&depth=0&item=0&question=b", "details?track=1&lane=65535&depth=0&item=0",
             "details?track=1&lane=0&depth=1&item=1&starts=0", "flows?from=0&to=90000000000&tracks=1,2",
             "sql?query=begin;reindex;savepoint+s;create+temp+view+v+as+select+1+as+a;select+a+from+v",
             "sql?query=create+temp+table+arrow(a);select+*+from+arrow,flow",
             "flows?from=0&to=90000000000&limit=2", "question?question=a", "cancel?question=a", "search?text=a&limit=2",
             "diff?after=0&from=5&to=90000000", "diff-flame?after=0&before=0", "diff?after=1"]
    traces = [(data / name).read_bytes() for name in ("fxt/oneshot_all.fxt", "chrome/phases.json")]
    for i, question in enumerate(asked):
        head = f"/api/{question}\nlocalhost:1\nhttp://localhost:1\ntrackway-0=0123\n".encode()
        trace = traces[i % len(traces)]
        yield f"view-{i}", head + (trace if len(trace) < 8192 else trace[:4096] + trace[-2048:])


def statements():
    """Perfetto's statements, right and wrong, behind the line that the target for SQL looks for."""
    texts = [
        "create perfetto table t(a int, b string) as select 1 as a, 'x' as b; create or replace perfetto table t as select 2 "
        "as b; create perfetto index i on t(b); select * from t; drop perfetto table if exists t;",
        "include perfetto module intervals.intersect; select * from _interval_intersect!((slice, (select * from sched where dur "
        "> 0)), (utid)); select * from _interval_intersect!((a, b, (c)), ()); select * from _trackway_intersect!(), _trackway_intersect!(a, (b)",
        "create perfetto table t(x LONG, y STRING) as select ts as x, name as y from slice; select * from t; create perfetto "
        "table t(x LNOG) as select 1 as x; create perfetto table slice as select 1 as x; select * from slise, t where nmae = 1",
        "create perfetto view v as select utid from slice join thread_track on track_id = thread_track.id; select * from v",
        "create perfetto function f(x int, y joinid(thread.id)) returns int as select $x + $y; select f(1, 2); drop perfetto "
        "function f; select f(1, 2)",
        "create perfetto function f(x int) returns int as select iif($x < 1, 0, f($x - 1)); select f(9); select f(999)",
        "create perfetto function f(a int) returns table(a int, b int) as select $a as a, value as b from counter; select * "
        "from f(3), slice; select * from slice s join f(s.id) g",
        "create perfetto function f() returns table(a int) as select a from f(); select * from f()",
        "create perfetto macro m(a Expr, b TableOrSubquery) returns TableOrSubquery as (select $a as c from $b); select * "
        "from m!(1 + 2, m!('x,y)', (select 1))) where c -- m!()\n/* m!( */ != \"m!(\";",
        "create perfetto macro a() returns Expr as b!(); create perfetto macro b() returns Expr as a!(); select a!()",
        "create perfetto macro a() returns Expr as 1; create perfetto macro b() returns Expr as a!()a!()a!(); select b!( );",
        "create table a as select 0 as ts, 9 as dur, 1 as p; create view b as select 3 as ts, -1 as dur, 1 as p, 'y' as y; "
        "create virtual table s using span_join(a partitioned p, b partitioned p); select * from s where p = 1; create virtual "
        "table temp.o using span_outer_join(\"a\", [c]); drop table s",
        "create view c as select column1 as ts, column2 as dur, 5 as z from (values (1, 2), (2, 9223372036854775807), (-5, 0), "
        "(null, 1)); create view d as select 4 as ts, 4 as dur, 'k' as k; create virtual table s using span_left_join(c "
        "partitioned z, d); select * from s; drop view c; create view c as select ts, dur, z from s; select * from s",
        "include perfetto module *; select * from thread_or_process_slice; select * from _slice_flattened",
        "include perfetto module intervals.overlap; select * from intervals_overlap_count!((select 1 as ts, 2 as dur), ts, dur)",
        "include perfetto module linux.cpu.utilization.thread; select * from cpu_thread_utilization_per_period(5, 1); select * "
        "from cpu_cycles_per_thread_in_interval(0, 9)",
        "select * from ancestor_slice(1), descendant_slice(2), following_flow(3), preceding_flow(4), trace_bounds",
        "create perfetto", "create or replace perfetto function", "include perfetto module a.b.*.", "drop perfetto x 'y'",
        "select 'open", "select x'0", "select [open", "/* open", "select 1 -- end", "select m!(", "select $a::b(c), ?1, :x, @y"]
    for i, text in enumerate(texts):
        yield f"statements-{i}", b"-- statements\n" + text.encode()


def main():
    out, tests = map(pathlib.Path, sys.argv[1:])
    traces = [*xray_logs(tests / "data"), *fxt_archives(tests / "data"), *chrome_traces(tests / "data"),
              *tracelog_logs(tests / "data"), *xtraces(), *executed(), *stacks(),
              *images(), *line_images(), *conversations(), *answers(), *maps(tests / "data"), *kernels(), *lists(), *symbols(), *pdbs(), *vectors(), *windows(), *scalable(),
              *views(tests / "data"), *statements()]
    out.mkdir(parents=True, exist_ok=True)
    for name, trace in traces:
        start = zlib.crc32(name.encode()) % len(SELECTORS)
        for i, variant in enumerate(damaged(trace)):
            selector = SELECTORS[(start + i) % len(SELECTORS)]
            (out / f"{name}-{i}").write_bytes(bytes([selector]) + variant)


if __name__ == "__main__":
    main()
