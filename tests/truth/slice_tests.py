#!/usr/bin/python3
"""slice_tests - slices of programs, executed again: the same instructions with the same accesses. Prints TAP.

Truth is the trace itself, as xtrace_tokens reads it, against what the collector records of the slice under QEMU.
"""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import shutil
import subprocess
import sys

import xtrace
import xtrace_tokens
from aarch64 import Failed, expect, main
from study_tests import Bench
from xtrace_record_tests import busybox

ORDERED = ("load", "store")


def data_of(directory, thread=None):
    """The data and snapshot files of a thread, or of the only one."""
    files = xtrace_tokens.files(directory)
    if thread is None:
        (thread,) = files
    return files[thread]


def steps_of(directory, start=0, length=None, thread=None):
    """Instructions of a recording, from an offset on: (pc, opcode, loads and stores)."""
    found = []
    for _, name, fields in xtrace_tokens.tokens(data_of(directory, thread)[0].read_bytes()[start:]):
        if name in ("inst", "pcinst"):
            if len(found) == length:
                break
            found.append((*fields, []))
        elif name in ORDERED:
            found[-1][2].append((name, *fields))
    return found


def indexes(directory, thread=None):
    """Where the snapshots of a thread stand in its data file."""
    return [one["index"] for one in xtrace_tokens.snapshots(data_of(directory, thread)[1].read_bytes())]


def compare(bench, program, wanted, places, options=()):
    """What is recorded of a slice is what it was made of, but for stubs, whose places are none of the interval's; returns how many
    places were replaced."""
    again = bench.directory / "slice.again"
    shutil.rmtree(again, ignore_errors=True)
    subprocess.run([bench.tool, "record", "--from-hint", *options, "-o", again, "--", program], check=True, capture_output=True)
    length, found = len(wanted), [step for step in steps_of(again) if step[0] in places]
    expect(len(found) in (length, length + 1), "instructions", len(found), "of", length)  # and the branch that ends it
    replaced = set()
    for i, (have, want) in enumerate(zip(found, wanted)):
        branch = have[1] >> 26 == 5 and have[1] != want[1]  # to a stub
        expect(have[0] == want[0], i, "instructions in:", hex(have[0]), "is not", hex(want[0]))
        expect(branch or have[1:] == want[1:], i, "instructions in:", have, "is not", want)
        replaced |= {want[0]} if branch else set()
    return len(replaced)


def check_slice(bench, trace, snapshot, length, thread=None):
    index, program = indexes(trace, thread)[snapshot], bench.directory / "slice.elf"
    steps = steps_of(trace, index, length + 1, thread)
    options = ["--thread", str(thread)] if thread else []
    subprocess.run([bench.tool, "slice", "--snapshot", str(snapshot), "--length", str(length), *options, trace, "-o", program],
                   check=True, capture_output=True)
    return compare(bench, program, steps[:length], {pc for pc, _, _ in steps})


def record(bench, name, words, interval):
    """A trace with many snapshots."""
    out = bench.directory / f"{name}.slices"
    if not out.exists():
        subprocess.run([bench.tool, "record", "--snapshot-interval", str(interval), "-o", out, "--", *words], check=True,
                       capture_output=True, cwd=bench.directory)
    return out


# ---- The tests. ----

def test_known(bench):
    "small programs, and one as a whole, with its system calls"
    replaced = 0
    for name, interval in (("calls", 4000), ("matrix", 3000), ("sort", 1000)):
        trace = record(bench, name, [bench.program(name)], interval)
        for snapshot, length in ((0, 17), (1, interval // 2)):
            replaced += check_slice(bench, trace, snapshot, length)
    trace = bench.record("calls")
    replaced += check_slice(bench, trace, 0, len(steps_of(trace)))
    expect(replaced > 10, "system calls and other replaced places", replaced)


def test_zeros(bench):
    "DC ZVA makes as much zero as it did, on a processor with larger blocks too"
    trace, program = bench.record("zeros"), bench.directory / "slice.elf"
    steps = steps_of(trace)
    zeros = [value for _, _, accesses in steps for kind, _, value in accesses if kind == "load" and value == bytes(8)]
    expect(len(zeros) == 4 * 64 // 8, "what the trace has", len(zeros))
    subprocess.run([bench.tool, "slice", "--length", str(len(steps)), trace, "-o", program], check=True, capture_output=True)
    for cpu in ("max,sve=off,sme=off", "neoverse-n1"):
        replaced = compare(bench, program, steps, {pc for pc, _, _ in steps}, ["--cpu", cpu])
        expect(replaced >= 4, cpu, replaced)


def test_real(bench):
    "twenty slices of real programs: Debian's busybox as gzip, sort, awk and sha256sum"
    program, why = busybox(bench)
    if not program:
        expect(not os.environ.get("CI"), why)
        return f"no busybox: {why}"
    text, done, interval = bench.directory / "text", 0, 12000
    text.write_text("".join(f"{i * 7919 % 1000} line {i}\n" for i in range(300)))
    for words in (["gzip", "-c", "text"], ["sort", "-n", "text"], ["awk", "{s+=$1} END {print s}", "text"], ["sha256sum", "text"]):
        trace = record(bench, f"busybox-{words[0]}", [program, *words], interval)
        count = len(indexes(trace))
        expect(count >= 6, words, "snapshots", count)
        for part in range(5):  # from the beginning to the end, across the snapshots that follow
            check_slice(bench, trace, (count - 3) * part // 4, interval + 3000 * part // 4)
            done += 1
    expect(done == 20, done)
    return None


def test_threads(bench):
    "a slice of each thread of a program with several"
    trace = record(bench, "turns", [bench.program("turns")], 2500)
    threads = xtrace_tokens.files(trace)
    expect(len(threads) == 4, threads)
    replaced = [check_slice(bench, trace, 1, 2500, thread) for thread in threads]
    expect(sum(replaced) > 0, "what other threads wrote", replaced)


def moments(directory, thread):
    """(TIME, its instruction, that one's offset, accesses that it orders) of a thread, and the offsets of all instructions."""
    found, offsets, waiting = [], [], []
    for offset, name, fields in xtrace_tokens.tokens(data_of(directory, thread)[0].read_bytes()):
        if name in ("inst", "pcinst"):
            offsets.append(offset)
            waiting = []
        elif name in ORDERED:
            waiting.append((name, fields[0], len(fields[1])))
        elif name == "time":
            found.append((fields[0], len(offsets) - 1, waiting))
            waiting = []
    return found, offsets


def meanwhile(threads, chosen, begin, length):
    """What all threads do while one takes so many steps: the two points of the order, thread -> its first step and that behind
    its last, and the accesses in order."""
    after = max(time for time, step, _ in threads[chosen][0] if step < begin)
    until = max(time for time, step, _ in threads[chosen][0] if step < begin + length)
    programs, accesses = {}, []
    for thread, (times, _) in threads.items():
        inside = [one for one in times if after < one[0] <= until]
        if not inside:
            continue
        first = begin if thread == chosen else 1 + max((step for time, step, _ in times if time <= after), default=-1)
        programs[thread] = first, begin + length if thread == chosen else inside[-1][1] + 1
        accesses += [(time, thread, step - first, *access)
                     for time, step, told in inside for access in (told or [("call", 0, 0)])]
    return after, until, programs, sorted(accesses, key=lambda row: row[0])


def shared_interval(trace, threads, length):
    """A thread and a snapshot of it behind which several threads take steps: where there is much else to do, one may wait for
    the others for thousands of instructions. None: there is no such interval."""
    for chosen in sorted(threads)[1:]:
        snapshots = indexes(trace, chosen)
        for snapshot in range(2, len(snapshots) - 1):
            begin = threads[chosen][1].index(snapshots[snapshot])
            found = meanwhile(threads, chosen, begin, length)
            if len(found[2]) > 1:
                return chosen, snapshot, *found
    return None


def slices_in_order(bench, name):
    """Records and slices; returns how many slices begin between snapshots, which is a matter of who ran when."""
    trace, out, length, leads = record(bench, name, [bench.program("turns")], 2500), bench.directory / f"sync-{name}", 2500, 0
    threads = {thread: moments(trace, thread) for thread in xtrace_tokens.files(trace)}
    shared = shared_interval(trace, threads, length)
    if not shared:
        return 0
    chosen, snapshot, after, until, programs, wanted = shared
    done = subprocess.run([bench.tool, "slice", "--sync", "--json", "--thread", str(chosen), "--snapshot", str(snapshot),
                           "--length", str(length), trace, "-o", out], check=True, capture_output=True, text=True)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [line.split("\t") for line in (out / "order.tsv").read_text().splitlines()]
    expect(str(after) in rows[0][0] and str(until) in rows[0][0] and rows[1][0] == "time", rows[:2])
    found = [(int(row[0]), int(row[1]), int(row[2]), row[3], int(row[4], 16), int(row[5])) for row in rows[2:]]
    expect(found == wanted, "the order", len(found), len(wanted))
    expect(told[0] == {"order": str(out / "order.tsv"), "after": after, "until": until, "accesses": len(found)}, told[0])
    expect({row["thread"]: (row["instructions"], row["bytes"]) for row in told[1:]} ==
           {thread: (last - first, (out / f"{thread}.elf").stat().st_size) for thread, (first, last) in programs.items()}, told)
    expect(len(list(out.glob("*.elf"))) == len(programs) > 1, programs)
    for row in told[1:]:
        thread, (first, last) = row["thread"], programs[row["thread"]]
        snapshots, offsets = indexes(trace, thread), threads[thread][1]
        expect(row["snapshot"] == max(i for i, index in enumerate(snapshots) if index <= offsets[first]), row)
        expect(row["before"] == first - offsets.index(snapshots[row["snapshot"]]), row)
        lead = steps_of(trace, snapshots[row["snapshot"]], row["before"] + last - first + 1, thread)
        steps = lead[row["before"]:]
        compare(bench, out / f"{thread}.elf", steps[:last - first], {pc for pc, _, _ in lead})
        leads += row["before"] > 0
    return leads


def test_sync(bench):
    "--sync: slices of all threads between two points of the order, and that order, as a second reading of the trace has them"
    expect(any(slices_in_order(bench, f"turns-{i}") for i in range(8)), "no slice begins between snapshots")


def refused(bench, trace, options, words):
    """One line that says why, and no file."""
    out = bench.directory / "none.elf"
    done = subprocess.run([bench.tool, "slice", *options, trace, "-o", out], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and words in done.stderr and not out.exists(), options, done.returncode, done.stderr)
    expect(len(done.stderr.splitlines()) == 1 + ("--help" in done.stderr), done.stderr)


def without(bench, trace, name, number):
    """The trace without one of its tokens."""
    out = bench.directory / f"without.{name}"
    shutil.copytree(trace, out)
    path, _ = data_of(out)
    data = path.read_bytes()
    starts = [(offset, kind) for offset, kind, _ in xtrace_tokens.tokens(data)] + [(len(data), None)]
    at = [i for i, (_, kind) in enumerate(starts) if kind == name][number]
    path.write_bytes(data[:starts[at][0]] + data[starts[at + 1][0]:])
    steps = sum(kind in ("inst", "pcinst") for _, kind in starts[:at])
    return out, steps - 1


def test_words(bench):
    "what cannot be had is told in a line: no such snapshot, a length past the end, memory that the trace never read"
    trace = bench.record("sort")
    whole = len(steps_of(trace))
    for options, words in ((["--snapshot", "9", "--length", "5"], "has 1 snapshot, from 0 on: there is no 9"),
                           (["--length", "1000000"], f"only {whole} instructions follow snapshot 0 of thread "),
                           (["--length", str(whole + 1)], f"only {whole} instructions"),
                           (["--length", "5", "--thread", "1"], "no such thread"),
                           ([], "--length N"), (["--length", "0"], '"0" is too small'),
                           (["--length", "5000", "--memory", "64K"], "--memory")):
        refused(bench, trace, options, words)
    refused(bench, bench.record("threads", "500"), ["--length", "5"], "choose one")
    refused(bench, trace, ["--sync", "--length", "5"], "has no TIME")
    refused(bench, trace, ["--sync", "--snapshot", "9", "--length", "5"], "there is no 9")
    for name, words in (("load", "does not have the memory that it loads"), ("store", "does not have the memory that it stores to")):
        less, step = without(bench, trace, name, 20)
        refused(bench, less, ["--length", "1000"], words)
        refused(bench, less, ["--length", str(step + 1)], f"instruction {step} behind snapshot 0, at 0x")
        subprocess.run([bench.tool, "slice", "--length", str(step), less, "-o", bench.directory / "short.elf"], check=True)
    alone = bench.directory / "alone"
    shutil.copytree(trace, alone)
    data_of(alone)[1].unlink()
    refused(bench, alone, ["--length", "5"], "no snapshots")


# ---- By hand: a core, its kernel, and two tasks. ----

CODE, DATA = 0x400000, 0x500000
VECTORS, TASKS = 0xFFFF800010000800, (0xFFFF000001000000, 0xFFFF000001001000)  # a table of vectors; the kernel's of the tasks
NOP, ERET, SVC, MSR_SP_EL0, STR, LDR = 0xD503201F, 0xD69F03E0, 0xD4000001, 0xD5184100, 0xF9000020, 0xF9400022
STEPS = [  # x1 is DATA
    (CODE, 0xD28000A0, []),  # mov x0, #5
    (CODE + 4, STR, [("store", DATA, xtrace.word(5))]),  # str x0, [x1]
    (CODE + 8, LDR, [("load", DATA, xtrace.word(5))]),  # ldr x2, [x1]
    (CODE + 12, SVC, []),  # returns 3, and the kernel stores 4
    (CODE + 16, 0x8B020003, []),  # add x3, x0, x2
    (CODE + 20, 0xF9400424, [("load", DATA + 8, xtrace.word(4))]),  # ldr x4, [x1, #8]
    (CODE + 24, 0xF9000823, [("store", DATA + 16, xtrace.word(8))]),  # str x3, [x1, #16]
    (CODE + 28, 0x14000000, []),  # b .
]


def step(number):
    """The tokens of a step; a system call's with its arguments."""
    pc, opcode, accesses = STEPS[number]
    arguments = 7 if opcode == SVC else 0
    return xtrace.pcinst(pc, opcode) + b"".join(xtrace.access(kind == "store", at, value) for kind, at, value in accesses) + \
        xtrace.value("svcarg", 63) * arguments


def passage(to, *between, result=None):
    """An exception from user mode, what the kernel does, and back to an address."""
    told = b"" if result is None else xtrace.value("svcret", result)
    return xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x400, NOP, 1) + b"".join(between) + xtrace.inst(ERET, 1) + \
        xtrace.value("target-b", to) + told + xtrace.allgpr([0] * 32)


def task(number):
    return xtrace.inst(MSR_SP_EL0, 1) + xtrace.value("mrs", TASKS[number])


def core(again=False, leaves=False, signal=False):
    """The program, interrupted behind its second step. again: the call is made twice, as its first try was interrupted; leaves:
    the other task is executed meanwhile, at the same addresses; signal: a handler begins behind the call."""
    fills = xtrace.inst(STR, 1) + xtrace.store(DATA + 8, xtrace.word(4))
    data = step(0) + step(1) + passage(CODE + 8, task(0)) + step(2) + step(3)
    data += passage(CODE + 12, task(0)) + step(3) if again else b""
    if leaves:
        data += passage(CODE + 16, task(0), task(1)) + xtrace.pcinst(CODE + 16, LDR) + xtrace.load(DATA, xtrace.word(77))
        data += passage(CODE + 16, task(1), task(0), fills, result=3)
    elif signal:
        data += passage(CODE + 256, task(0), fills) + xtrace.pcinst(CODE + 256, NOP)
    else:
        data += passage(CODE + 16, task(0), fills, result=3)
    return data + b"".join(step(number) for number in range(4, len(STEPS)))


def core_trace(bench, name, cores, indices=(0,)):
    """A set of a file for each core, the first with snapshots."""
    out = bench.directory / f"core-{name}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for number, data in enumerate(cores):
        path = f"xtrace.1.{number}.hint{13 if number else 9}."
        (out / (path + "xinsndata.bin")).write_bytes(data)
        snapshots = [xtrace.snapshot(0, at, i, i, [0, DATA] + [0] * 30, 128) for i, at in enumerate(indices)]
        (out / (path + "xsnapshot.bin")).write_bytes(xtrace.header(24, False, True) + b"".join(snapshots))
    return out


def test_kernel(bench):
    "the program of a core is a slice over interrupts, system calls and other tasks, with what the kernel did to it"
    program, length = bench.directory / "core.elf", len(STEPS) - 1
    idle = xtrace.pcinst(VECTORS, NOP, 1) + task(1)
    for name, cores in (("plain", [core()]), ("again", [core(again=True)]), ("task", [core(leaves=True)]),
                        ("cores", [core(leaves=True), idle])):
        trace = core_trace(bench, name, cores)
        done = subprocess.run([bench.tool, "slice", "--json", "--thread", "0", "--length", str(length), trace, "-o", program],
                              check=True, capture_output=True, text=True)
        told = json.loads(done.stdout)
        expect((told["instructions"], told["accesses"], told["places"]) == (length, 4, length + 1), name, told)
        replaced = compare(bench, program, STEPS[:length], {pc for pc, _, _ in STEPS})
        expect(replaced == 1, name, "only the system call is replaced, not", replaced)


def test_kernel_words(bench):
    "what cannot be had of a core is told in a line, with the next snapshot that is of a program"
    # recording was off in the kernel; from the program on into the kernel; from the kernel on to the program
    off = core().replace(xtrace.inst(STR, 1), xtrace.allgpr([0] * 32) + xtrace.pcinst(VECTORS + 0x600, STR, 1))
    gone = core().replace(xtrace.pcinst(VECTORS + 0x400, NOP, 1), xtrace.pcinst(VECTORS + 0x404, NOP, 1), 1)
    back = core().replace(xtrace.inst(ERET, 1) + xtrace.value("target-b", CODE + 16) + xtrace.value("svcret", 3), b"")
    length, whole, entry = ["--thread", "0", "--length"], core(), passage(CODE)[1 + 32 * 8:]
    for name, cores, indices, options, words in (
            ("kernel", [entry + whole], (0, 5), ["4"], f"at {VECTORS + 0x400:#x}: a slice is of user mode only (no later snapshot"),
            ("behind", [entry + whole], (0, len(entry)), ["4"], "(snapshot 1 is the next)"),
            ("short", [whole], (0,), ["9"], f"only {len(STEPS)} instructions of the program follow snapshot 0 of core 0"),
            ("signal", [core(signal=True)], (0, core(signal=True).index(step(5))), ["5"], "a signal came behind it, or another "
             "program (snapshot 1 is the next)"),
            ("moved", [core(leaves=True), xtrace.pcinst(VECTORS, NOP, 1) + task(0)], (0,), ["5"],
             f"at {CODE + 12:#x}: another task came behind it, and this one may have gone on elsewhere"),
            ("off", [off], (0, off.index(step(5))), ["5"], f"at {CODE + 12:#x}: recording was off behind it (snapshot 1 is the next)"),
            ("gone", [gone], (0,), ["5"], f"at {CODE + 4:#x}: recording was off behind it"),
            ("back", [back], (0,), ["5"], f"at {CODE + 12:#x}: recording was off behind it"),
            ("sync", [whole], (0,), ["5", "--sync"], "--sync is of threads")):
        refused(bench, core_trace(bench, name, cores, indices), [*length, *options], words)


def test_mode(bench):
    "who may read a slice may run it, by the umask; a pipe that it is written to keeps its mode"
    trace, out, pipe = bench.record("sort"), bench.directory / "mode.elf", bench.directory / "pipe"
    for mask, mode in ((0o022, 0o755), (0o077, 0o700)):
        out.unlink(missing_ok=True)
        subprocess.run([bench.tool, "slice", "--length", "5", trace, "-o", out], check=True, umask=mask)
        expect(out.stat().st_mode & 0o777 == mode, oct(out.stat().st_mode), "with the umask", oct(mask))
    os.mkfifo(pipe)
    pipe.chmod(0o622)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as cat:
        subprocess.run([bench.tool, "slice", "--length", "5", trace, "-o", pipe], check=True)
        expect(cat.communicate()[0] == out.read_bytes(), "another slice through a pipe")
    expect(pipe.stat().st_mode & 0o777 == 0o622, oct(pipe.stat().st_mode), "of the pipe")


if __name__ == "__main__":
    sys.exit(main(globals(), lambda arguments, directory: Bench(arguments.tool, directory)))
