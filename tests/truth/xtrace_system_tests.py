#!/usr/bin/python3
"""xtrace_system_tests - a machine with two cores, Debian's kernel and a program of ours, recorded by core. Prints TAP.

Truth comes from the program's source (boot.c), from a plugin that counts by addresses in the same run (levels.c), from QEMU's
log of exceptions, from Linux's source (what an exception passes through), and from the document's words by way of
xtrace_tokens. QEMU and the kernel are Debian's, fetched into the build folder.
"""
# SPDX-License-Identifier: Apache-2.0

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import xtrace_tokens
from aarch64 import SOURCES, compile_program, expect, main
from slice_tests import compare
from xtrace_record_tests import symbols

ASKED, ROUNDS, TURNS, WORDS, CHILDREN = 10, 12, 20000, 8 * 512, 3  # of boot.c
KERNEL = 1 << 63
SYSTEM_CALLS = {"write": 64, "read": 63, "writev": 66, "nanosleep": 115, "getppid": 173, "wait4": 260, "exit": 94, "clone": 220}
DEADLINE = 240  # seconds; a run takes ten


def cpio(files):
    """An archive of the form that Linux unpacks: (name, mode, contents, device) of each."""
    out = b""
    for number, (name, mode, contents, device) in enumerate([*files, ("TRAILER!!!", 0, b"", (0, 0))], 1):
        words = (number, mode, 0, 0, 1, 0, len(contents), 0, 0, *device, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % word for word in words) + name.encode() + b"\0"
        out += head + bytes(-len(head) % 4) + contents + bytes(-len(contents) % 4)
    return out


class Bench:
    """The machines, and a recording by each QEMU, made once."""

    def __init__(self, arguments, directory):
        self.tool, self.directory, self.made = arguments.tool, directory, {}
        self.kept = pathlib.Path(os.environ.get("TRACKWAY_BUILD", directory))
        self.program, self.ends = compile_program(directory, "boot"), compile_program(directory, "ends")
        self.files = directory / "files"
        self.files.write_bytes(cpio([("dev", 0o40755, b"", (0, 0)), ("proc", 0o40755, b"", (0, 0)),
                                     ("dev/console", 0o20600, b"", (5, 1)),
                                     ("ends", 0o100755, self.ends.read_bytes(), (0, 0)),
                                     ("init", 0o100755, self.program.read_bytes(), (0, 0))]))
        self.counter = directory / "levels.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.counter, SOURCES / "levels.c"], check=True)

    def machine(self, suite=None):
        """(directory of a QEMU, None), or why there is none."""
        place = self.kept / ("machine" + (f"-{suite}" if suite else ""))
        done = subprocess.run([SOURCES / "machine", place, *([suite] if suite else [])], capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            return place, None
        why = " ".join(done.stderr.strip().splitlines()[-1:])
        expect(not os.environ.get("CI"), why)
        return None, f"no machine: {why}"

    def run(self, options, words, out):
        return subprocess.run([self.tool, "record", *options, "-o", out, "--", *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=DEADLINE, check=False)

    def boot(self, suite=None):
        """A Recording between marks, or why there is none."""
        if suite in self.made:
            return self.made[suite], None
        kernel, why = self.machine()
        qemu, why = (kernel, why) if why or not suite else self.machine(suite)
        if why:
            return None, why
        name = suite or "own"
        log, out = self.directory / f"{name}.log", self.directory / f"{name}.trace"
        done = self.run(["--from-hint", "--qemu", qemu / "qemu-system-aarch64", "--kernel", kernel / "kernel", "--initrd",
                         self.files, "--smp", "2", "--snapshot-interval", "100000"],
                        ["-append", "console=ttyAMA0 quiet panic=-1 nokaslr", "-plugin", self.counter, "-d", "plugin,int",
                         "-D", log], out)
        expect(done.returncode == 0, done.returncode, done.stderr, done.stdout[-500:])
        expect("two parts" in done.stdout and f"TOGETHER {sum(range(ASKED))}" in done.stdout, done.stdout[-500:])
        self.made[suite] = Recording(out, done.stdout, log.read_text(errors="replace"))
        return self.made[suite], None


    def boot_marked(self, suite=None, *options):
        """(a recording of marked.c, None), or why there is none. Without options between its marks, made once."""
        if (suite, options) in self.made:
            return self.made[suite, options], None
        kernel, why = self.machine()
        qemu, why = (kernel, why) if why or not suite else self.machine(suite)
        if why:
            return None, why
        files = self.directory / "marked.files"
        if not files.exists():
            program = compile_program(self.directory, "marked")
            files.write_bytes(cpio([("dev", 0o40755, b"", (0, 0)), ("dev/console", 0o20600, b"", (5, 1)),
                                    ("init", 0o100755, program.read_bytes(), (0, 0))]))
        out = self.directory / f"marked.{len(self.made)}"
        done = self.run(["--from-hint", *options, "--qemu", qemu / "qemu-system-aarch64", "--kernel", kernel / "kernel", "--initrd", files,
                         "--cpu", "max,sve-max-vq=2,sme=off,pauth=off"],
                        ["-append", "console=ttyAMA0 quiet panic=-1 nokaslr"], out)
        expect(done.returncode == 0, done.returncode, done.stderr, done.stdout[-500:])
        self.made[suite, options] = out
        return out, None


class Recording:
    def __init__(self, directory, output, log):
        self.directory, self.log = directory, log
        self.names = directory.parent / (directory.name + ".names")
        self.names.write_text("".join(line[7:] + "\n" for line in output.splitlines() if line.startswith("SYMBOL ")))
        self.cores = {number: read(data) for number, (data, _) in xtrace_tokens.files(directory).items()}


def read(path):
    """(offset, level, pc, opcode, its tokens) of each instruction."""
    data, found = path.read_bytes(), []
    for offset, name, fields in xtrace_tokens.tokens(data):
        if name in ("inst", "pcinst"):
            found.append((offset, data[offset] >> xtrace_tokens.LEVEL_SHIFT, *fields, []))
        else:
            found[-1][4].append((name, *fields))
    return found


def each_qemu(test):
    """A test of a recording, by each of the two QEMUs."""

    def both(bench):
        for suite in (None, "bookworm-backports"):
            recording, why = bench.boot(suite)
            if why:
                return why
            test(bench, recording)
        return None
    both.__doc__, both.__name__ = test.__doc__, test.__name__
    return both


# ---- The tests. ----

@each_qemu
def test_check(bench, recording):
    "a file for each core, the first by HINT #9, the other by HINT #13; check finds nothing but an interrupt that the end came in"
    names = sorted(re.sub(r"\d{10,}", "T", path.name) for path in recording.directory.iterdir())
    expect(names == [f"xtrace.T.{core}.{kind}.bin" for core in ("0.hint9", "1.hint13") for kind in ("xinsndata", "xsnapshot")],
           names)
    done = subprocess.run([bench.tool, "check", "--json", "--all", recording.directory], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stdout[:2000], done.stderr)
    for found in filter(lambda row: "rule" in row, map(json.loads, done.stdout.splitlines())):
        core = recording.cores[int(found["file"].split(".")[-4])]
        expected, behind = re.search("Expected (0x[0-9a-f]+) ", found["text"]), [insn for insn in core if insn[0] >= found["record"]]
        returns = [insn for insn in behind if insn[3] == 0xd69f03e0 and ("target-b", int(expected[1], 16)) in insn[4]]
        expect(found["rule"] in ("xtrace.pc-jump", "xtrace.branch-target") and not returns and len(behind) < 20000, found)
    for _, snapshots in xtrace_tokens.files(recording.directory).values():
        expect(snapshots.read_bytes()[16:19] == b"\x01\x01\x01", "division by all instructions, of a core, with an order")


def between_marks(log):
    """The lines of the log that stand between them, and what was counted."""
    begin, end = re.search(r"^MARK 1 .*$", log, re.M), re.search(r"^MARK 0 EL0 (\d+) EL1 (\d+)$", log, re.M)
    return log[begin.end():end.start()], [int(one) for one in end.groups()]


@each_qemu
def test_levels(bench, recording):
    "instructions of each level are as many as a second plugin saw begin, without those that an exception came instead of"
    lines, begun = between_marks(recording.log)
    aborted = re.findall(r"Taking exception \d+ \[(?:Data Abort|Undefined Instruction)\].*?with ELR 0x(\w+)$", lines, re.M | re.S)
    expect(len(aborted) > 8, "exceptions", len(aborted))  # the pages of `words` are made one by one
    for at in aborted:
        begun[int(at, 16) // KERNEL] -= 1
    counts = collections.Counter(insn[1] for core in recording.cores.values() for insn in core)
    expect(dict(counts) == {0: begun[0], 1: begun[1]}, counts, begun)
    done = subprocess.run([bench.tool, "info", "--json", recording.directory], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    expect(told["user_instructions"] == begun[0], told)


@each_qemu
def test_levels_by_address(_, recording):
    "the level of an instruction is that of its address; where it changes, all registers are told"
    for core in recording.cores.values():
        for before, insn in zip(core, core[1:]):
            tells = bool(before[4]) and any(token[0] == "allgpr" for token in before[4])
            if insn[1] != insn[2] // KERNEL or tells != (insn[1] != before[1]):
                raise ValueError(f"{before}, {insn}")
    lines, _ = between_marks(recording.log)
    taken, returned = lines.count("...from EL0 to EL1"), lines.count("AArch64 EL1 to AArch64 EL0")
    # where no instruction was executed between: its page was not there
    without = len(re.findall(r"to AArch64 EL0 PC (0x\w+)\nTaking exception 3 .*\n(?:\.\.\..*\n)*?\.\.\.with ELR \1\n", lines))
    changes = sum(a[1] != b[1] for core in recording.cores.values() for a, b in zip(core, core[1:]))
    expect(without < 20 and abs(changes - taken - returned + 2 * without) <= 2, changes, taken, returned, without)


@each_qemu
def test_targets(_, recording):
    "a branch by register goes where it says, though an interrupt comes behind it, or the page is not there"
    seen = 0
    for core in recording.cores.values():
        for before, insn in zip(core, core[1:]):
            target = next((token[1] for token in before[4] if token[0] == "target-b"), insn[2])
            if target != insn[2]:
                seen += 1
                expect(insn[1] == 1 and insn[2] & 0x7f == 0, "goes to", hex(target), "but then comes", hex(insn[2]))
    lines, _ = between_marks(recording.log)
    expect(seen >= lines.count("[Prefetch Abort]") - 3, seen, "exceptions behind branches")


@each_qemu
def test_program(bench, recording):
    "what the program does is there, once: turns of a loop that is interrupted, stores to pages that are made meanwhile"
    where, program = symbols(bench.program), collections.defaultdict(list)
    for core in recording.cores.values():
        for insn in core:
            if insn[1] == 0:
                program[insn[2]].append(insn)
    turns = TURNS + 50 * ROUNDS + 100 * CHILDREN
    expect(len(program[where["turning"]]) == turns, len(program[where["turning"]]), "turns, not", turns)
    stores = [token for insn in program[where["filling"]] for token in insn[4] if token[0] == "store"]
    wanted = [("store", where["words"] + 8 * i, (3 * i).to_bytes(8, "little")) for i in range(WORDS)]
    expect(stores == wanted, len(stores), stores[:3])
    main_core = [insn[2] for insn in recording.cores[0] if insn[1] == 0]
    expect(main_core.index(where["ask"]) < main_core.index(where["turning"]) < main_core.index(where["filling"]), "order")
    interrupted = [a[2] for a, b in zip(recording.cores[0], recording.cores[0][1:])
                   if a[1] == 0 and b[1] == 1 and where["turning"] <= a[2] <= where["turning"] + 4]
    expect(interrupted, "no interrupt came into the loop")


@each_qemu
def test_calls(_, recording):
    "each system call has its arguments, and what it returned, on whichever core"
    made, returned, vectors = collections.Counter(), collections.Counter(), []
    for core in recording.cores.values():
        for insn in filter(lambda insn: insn[4], core):
            words = [token[1] for token in insn[4] if token[0] == "svcarg"]
            if words:
                expect(insn[1] == 0 and insn[3] & 0xffe0001f == 0xd4000001 and len(words) == 7, hex(insn[2]), words)
                made[words[0]] += 1
            vectors += [token[1:] for token in insn[4] if token[0] == "syscall-vec"]
            for token in insn[4]:
                if token[0] == "svcret":
                    expect(insn[3] == 0xd69f03e0, "a result behind", hex(insn[3]))
                    returned[token[1]] += 1
    wanted = {"getppid": ASKED, "write": 2 * ROUNDS, "read": 2 * ROUNDS, "writev": 1, "nanosleep": 1, "wait4": CHILDREN + 1,
              "clone": CHILDREN + 1, "exit": CHILDREN + 1}  # of these, one executes a program
    found = {name: made[number] for name, number in SYSTEM_CALLS.items()}
    # the other core's program may be anywhere in its round at the first mark; sleeping may be by clock_nanosleep
    expect(abs(found.pop("read") - wanted.pop("read")) <= 1, "reads", made)
    expect(made[115] + made[101] == 1, "sleeps", made)
    expect({name: found[name] for name in wanted if name != "nanosleep"} ==
           {name: wanted[name] for name in wanted if name != "nanosleep"}, found)
    expect([len(one) for one in vectors] == [4] and [vectors[0][1], vectors[0][3]] == [4, 6], "vectors", vectors)
    expect(returned[0] >= ASKED, "the parent of the first program is 0", returned)
    expect(sum(returned.values()) >= sum(made.values()) - CHILDREN - 2, "results", returned, made)


@each_qemu
def test_elsewhere(bench, recording):
    "what a system call leads to elsewhere is told: a child, a new program, the handler of a signal"
    handler, start = symbols(bench.program)["take_signal"], symbols(bench.ends)["_start"]
    core = min(recording.directory.glob("*.0.hint9.xinsndata.bin"))
    done = subprocess.run([bench.tool, "syscalls", "--json", "--all", core], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    told = collections.defaultdict(list)
    for row in map(json.loads, done.stdout.splitlines()):
        if row["table"] == "event":
            told[row["name"]].append(row["text"].rsplit(") = ", 1)[-1])
    expect(told["kill"] == [f"0, the handler of a signal at {handler:#x} before it returns"], told["kill"])
    expect(told["execve"] == [f"0, a new program at {start:#x}"], told["execve"])
    expect(len(told["clone"]) == CHILDREN + 1, told["clone"])
    expect(all(re.fullmatch(r"\d+, where a child begins, too", text) for text in told["clone"]), told["clone"])
    others = [text for name in told if name not in ("kill", "execve", "clone") for text in told[name] if "," in text]
    expect(not [text for text in others if "child" in text or "program" in text], others)


@each_qemu
def test_memory(_, recording):
    "what the kernel loads is what was stored last, on either core, in the order of the TIMEs"
    accesses = []
    for core in recording.cores.values():
        for insn in core:
            pending = []
            for token in insn[4]:
                if token[0] in ("load", "store"):
                    pending.append(token)
                elif token[0] == "time":
                    accesses += [(token[1], i, *one) for i, one in enumerate(pending) if one[1] & KERNEL]
                    pending = []
            if pending:
                raise ValueError(f"{insn}: accesses without TIME")
    memory, loads, wrong = {}, 0, collections.Counter()
    for _, _, kind, address, value in sorted(accesses):
        places = range(address, address + len(value))
        if kind == "load":
            loads += 1
            wrong[address >> 12] += bytes(map(memory.get, places, value)) != value
        memory.update(zip(places, value))
    # what else writes: the interrupt controller (one page of registers), the processor into page tables, programs by
    # their own addresses
    device = max(wrong.values())
    expect(loads > 50000 and (sum(wrong.values()) - device) * 2000 < loads, "of", loads, wrong.most_common(8))


@each_qemu
def test_tasks(_, recording):
    "the kernel switches between tasks: it says so in SP_EL0, and page tables are others"
    tasks, tables = set(), set()
    for insn in recording.cores[0]:
        written = insn[3] & ~0x1f
        if written not in (0xd5184100, 0xd5182000):
            continue
        value = next((token[1] for token in insn[4] if token[0] == "mrs"), 0)
        if written == 0xd5182000:
            tables.add(value & (1 << 48) - 1)
        elif value & KERNEL:
            tasks.add(value)
    expect(len(tasks) > CHILDREN and len(tables) >= CHILDREN, len(tasks), "tasks,", len(tables), "tables")


@each_qemu
def test_snapshots(_, recording):
    "a snapshot has the counts of both levels, and the system registers are those that the kernel set"
    for number, (_, snapshots) in xtrace_tokens.files(recording.directory).items():
        core, ones = recording.cores[number], list(xtrace_tokens.snapshots(snapshots.read_bytes()))
        expect(len(ones) == 1 + (len(core) - 1) // 100000, number, len(ones), "snapshots of", len(core))
        table, user = None, 0
        at = {one["index"]: one for one in ones}
        for i, insn in enumerate(core):
            one = at.get(insn[0])
            if one:
                expect((one["count"], one["user_count"]) == (i, user), "counts at", hex(insn[0]), one["count"])
                expect(table is None or one["ttbr0_el1"] == table, "TTBR0", hex(one["ttbr0_el1"]), table)
                expect(one["daif"] & ~0x3c0 == 0 and one["elr_el1"], one["daif"])
                expect(insn[1] == 0 or one["x"][31] & KERNEL, "SP of the kernel")
                late = i % 100000  # it waits for an instruction of a program, unless an exception comes before that is done
                expect(not [other for other in core[i - late:i] if other[1] == 0], "a program before the snapshot", hex(insn[0]))
                expect(late == 1000 or insn[1] == 0 or insn[2] & 0x7f == 0 or i == 0, "of the kernel", late, hex(insn[2]))
            user += insn[1] == 0
            if insn[3] & ~0x1f == 0xd5182000:
                table = insn[4][0][1]
        expect(set(at) <= {insn[0] for insn in core}, "snapshots that stand nowhere")


@each_qemu
def test_replay(bench, recording):
    "an emulator that passes over the kernel executes what the program did, up to where another task goes on"
    done = subprocess.run([bench.tool, "replay", "--json", recording.directory], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stdout, done.stderr)
    rows = {int(row["file"].split(".")[-4]): row for row in map(json.loads, done.stdout.splitlines())}
    expect(rows[0]["different"] == rows[1]["different"] == 0 and rows[0]["kernel"] + rows[1]["kernel"] > 0, rows)
    expect(rows[0]["instructions"] > 2 * TURNS, rows)  # which come first


@each_qemu
def test_slice(bench, recording):
    "the program is a slice over its system calls and interrupts, up to where a signal comes"
    where, out, length = symbols(bench.program), bench.directory / "program.elf", 4000
    steps = [(*insn[2:4], [token for token in insn[4] if token[0] in ("load", "store")])
             for insn in recording.cores[0] if insn[1] == 0][:length + 1]
    expect(sum(step[0] == where["turning"] for step in steps) > 1000, "turns of a loop that is interrupted")
    options = ["--thread", "0", "--length"]
    subprocess.run([bench.tool, "slice", *options, str(length), recording.directory, "-o", out], check=True, capture_output=True)
    replaced = compare(bench, out, steps[:length], {pc for pc, _, _ in steps})
    expect(replaced >= 2, "places of getppid and setitimer", replaced)
    done = subprocess.run([bench.tool, "slice", *options, "40000", recording.directory, "-o", out], check=False,
                          capture_output=True, text=True)
    expect("a signal came behind it" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)


@each_qemu
def test_tree(bench, recording):
    "a system call goes from the user's function through Linux's to the call's own, and back"
    done = subprocess.run([bench.tool, "calls", "--json", "--all", "--binary", bench.program, "--kallsyms", recording.names,
                           recording.directory], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    path, found, places = [], [], {}
    for row in map(json.loads, done.stdout.splitlines()):
        if row["table"] != "tree":
            continue
        path = path[:row["depth"]]
        path += [None] * (row["depth"] - len(path)) + [row]
        places[row["function"]] = [one and one["function"] for one in path]
        if row["function"] == "__arm64_sys_getppid":
            found.append([one for one in path if one])
    expect(len(found) == 1, len(found), "ways to getppid")
    names = [row["function"] for row in found[0]]
    wanted = ["ask", "el0t_64_sync", "el0t_64_sync_handler", "el0_svc", "do_el0_svc", "__arm64_sys_getppid"]
    below = names[names.index("ask"):]
    expect([name for name in below if name in wanted] == wanted, below)
    expect(set(below) - set(wanted) <= {"el0_svc_common.constprop.0", "invoke_syscall", "invoke_syscall.constprop.0"}, below)
    expect(all(row["calls"] == ASKED for row in found[0][names.index("ask"):]), "ten times each")
    expect(found[0][names.index("ask")]["self"] == 3 * ASKED, "three instructions of its own: MOV, SVC, RET")
    expect(places["answer"][:-1] == places["ask"][:-1], "where it goes on", places["answer"])


def check_vectors(where, core, snapshot):
    """What marked.c does with SVE, by its source: a part of the core's instructions, and the snapshot before it."""
    low, middle, high = (bytes(range(first, first + 8)).hex() for first in (0, 8, 16))
    odd, source, to = bytes(range(1, 65, 2)).hex(), where["numbers"], where["stored"]
    over = to + 2 * 4096 - 8
    wanted = [
        [("load", source, low + middle), ("load", source + 16, high)],
        [("store", to, "0008"), ("store", to + 2, "10")],
        [("load", source + 8, middle), ("load", source + 4, "0405060708090a0b"), ("load", source, low)],
        [("store", to + 32, "00010203"), ("store", to + 16, "08090a0b"), ("store", to, "10111213")],
        [("store", over, odd[:32]), ("store", over + 16, odd[32:])],
        [("store", to + 40, "1f000000")],
    ]
    user = [insn for insn in core if insn[1] == 0]
    found = [(insn[2], [(token[0], token[1], token[2].hex()) for token in insn[4] if token[0] in ("load", "store")]) for insn in user]
    expect(found == [(where["with_vectors"] + 4 * i, one) for i, one in enumerate(wanted)], found)
    expect(len(core) > len(user) + 300, "the kernel makes pages", len(core))
    indexes = b"".join(n.to_bytes(8, "little", signed=True) for n in (8, 4, 0, -4)).hex()
    expect([snapshot["z"][i].hex() for i in (0, 2)] == [odd, indexes], snapshot["z"])
    expect([snapshot["p"][i].hex() for i in (0, 1, 16)] == ["01010100", "1f000000", "1f000000"], snapshot["p"])


def marked_snapshots(path):
    return list(xtrace_tokens.snapshots(path.read_bytes(), vector_bits=256))


def user_steps(core):
    """As slice_tests has them."""
    return [(*insn[2:4], [one for one in insn[4] if one[0] in ("load", "store")]) for insn in core if insn[1] == 0]


def test_marks(bench):
    "four pairs of marks: what is between them, each with a snapshot to begin a slice at; what is outside is not there; SVE"
    for suite in (None, "bookworm-backports"):
        out, why = bench.boot_marked(suite)
        if why:
            return why
        where = symbols(bench.directory / "marked")
        ((data, snapshots),) = xtrace_tokens.files(out).values()
        core, all_of = read(data), marked_snapshots(snapshots)
        indexes = [one["index"] for one in all_of]
        begins = [i for i, insn in enumerate(core) if insn[0] in indexes]
        expect(len(begins) == 4 and all(core[i][1] == 0 for i in begins), "snapshots", begins, "of", len(core))
        check_vectors(where, core[begins[3]:], all_of[3])
        done = subprocess.run([bench.tool, "replay", "--json", out], capture_output=True, text=True, check=False)
        row = json.loads(done.stdout)
        expect((done.returncode, row["different"], row["scalable"], row["left_out"]) == (0, 0, 1, 6), row, done.stderr)
        expect(row["instructions"] == sum(insn[1] == 0 for insn in core[:begins[3]]), row)
        for number, (begin, end) in enumerate(zip(begins, begins[1:])):
            asked = [insn for insn in core[begin:end] if insn[2] == where["ask"]]
            calls = [token[1] for insn in core[begin:end] for token in insn[4] if token[0] == "svcarg"]
            returned = [token[1] for insn in core[begin:end] for token in insn[4] if token[0] == "svcret"]
            expect(len(asked) == number + 1 and calls[::7] == [SYSTEM_CALLS["getppid"]] * (number + 1), number, calls)
            expect(returned == [0] * (number + 1), number, "results", returned)  # the parent of the first program
            steps = user_steps(core[begin:end])
            slice_of = [bench.tool, "slice", "--snapshot", str(number), out, "-o", bench.directory / "marked.elf", "--length"]
            subprocess.run([*slice_of, str(len(steps) - 1)], check=True, capture_output=True)
            compare(bench, bench.directory / "marked.elf", steps[:-1], {pc for pc, _, _ in steps})
            done = subprocess.run([*slice_of, str(len(steps) + 1)], check=False, capture_output=True, text=True)
            expect(f"recording was off behind it (snapshot {number + 1} is the next)" in done.stderr, number, done.stderr)
        done = subprocess.run([bench.tool, "check", out], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, done.stdout)
    return None


def test_windows(bench):
    "windows of a machine, counted from the mark on: each is what the whole has there; one that is due in the kernel waits"
    whole, why = bench.boot_marked()
    if why:
        return why
    (data, snapshots), = xtrace_tokens.files(whole).values()
    core, indexes = read(data), [one["index"] for one in marked_snapshots(snapshots)]
    second, third = [i for i, insn in enumerate(core) if insn[0] in indexes][1:3]
    due = second + 50
    late = next(i for i in range(due, third) if core[i][1] == 0)
    expect(core[due][1] == 1 and late - due > 50, "in a system call", due, late)
    lists = bench.directory / "list"
    lists.write_text(f"0 300 3 0.25\n{due} 100000 1 0.75 0\n")
    out, _ = bench.boot_marked(None, "--windows", lists)
    (data, snapshots), = xtrace_tokens.files(out).values()
    part = [insn[1:4] for insn in read(data)]
    expect(part == [insn[1:4] for insn in core[:301] + core[late:]], len(part), "instructions")
    ones = [one["count"] for one in marked_snapshots(snapshots)]
    rows = [line.split("\t") for line in min(out.glob("*.windows")).read_text().splitlines()[1:]]
    expect(ones[:2] == [0, 301] and rows == [["0", "0", "0", "300", "3", "0.250000", "0", "0", "0"],
                                             ["1", "0", str(late), "100000", "1", "0.750000", "1", "0", "1"]], ones, rows)
    slices = bench.directory / "marked.slices"
    subprocess.run([bench.tool, "slice", "--windows", out, "-o", slices], check=True, capture_output=True)
    pcs = {insn[2] for insn in core}
    compare(bench, slices / "0.0.elf", user_steps(core[:300]), pcs)
    compare(bench, slices / "1.0.elf", user_steps(core[late:third])[:-1], pcs)  # up to where recording was off
    return None


def test_vectors(bench):
    "--bbv of a machine, from the mark on: the kernel's blocks have as many instructions as were executed"
    whole, why = bench.boot_marked()
    if why:
        return why
    out, _ = bench.boot_marked(None, "--bbv", "--interval", "200")
    path, = out.glob("xtrace.*.core0.bb")
    heading, *names = path.with_suffix(".blocks").read_text().splitlines()
    places = {number: int(pc, 16) for number, pc in (line.split() for line in names)}
    lines = [[(places[number], int(count)) for number, count in re.findall(r":(\d+):(\d+) ", line)]
             for line in path.read_text().splitlines()]
    expect(heading == "#interval 200 thread 0" and all(sum(count for _, count in line) == 200 for line in lines[:-1]), heading)
    (data, _), = xtrace_tokens.files(whole).values()
    executed = collections.Counter(insn[1] for insn in read(data))
    counted = collections.Counter()
    for pc, count in sum(lines, []):
        counted[pc // KERNEL] += count
    # a block that holds a mark counts whole where it ends a part, and not at all where it begins one
    expect(counted[1] == executed[1] and abs(counted[0] - executed[0]) < 20, counted, executed)
    done = subprocess.run([bench.tool, "phases", "--json", out], capture_output=True, text=True, check=True)
    expect({row["thread"] for row in map(json.loads, done.stdout.splitlines()) if row["table"] == "interval"} == {0}, done.stdout)
    return None


def test_words(bench):
    "wrong use is told in one line"
    kernel, why = bench.machine()
    if why:
        return why
    qemu = ["--qemu", kernel / "qemu-system-aarch64"]
    image = ["--kernel", kernel / "kernel"]
    table = (
        (["--system"], [], "wants QEMU's options"),
        (["--initrd", "x"], ["y"], "--initrd is for --kernel"),
        (["--smp", "2"], ["y"], "--smp is for --kernel"),
        (["--kernel", "/nowhere"], [], "No such file"),
        (["--kernel", "/bin/sh"], [], "no kernel for AArch64"),
        ([*image, "--initrd", "/nowhere"], [], "No such file"),
        ([*image, "--sysroot", "/"], [], "--sysroot is for a program"),
        ([*image, *qemu, "--bbv", "--length", "5"], [], "--bbv takes all"),
        ([*image, *qemu, "--skip", "5"], [], "how many instructions?"),
        ([*image, "--qemu", "/nowhere/qemu"], [], "not found"),
        ([*image, *qemu], ["-nonsense"], "ended with status 1"),
    )
    for options, words, says in table:
        done = bench.run(options, words, bench.directory / "words")
        expect(done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr, options, words, done.returncode,
               done.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main(globals(), Bench))
