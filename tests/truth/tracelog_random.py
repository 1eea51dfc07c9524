# tracelog_random.py - random logs that are as the document has them, for what two programs are to say the same of.
# SPDX-License-Identifier: Apache-2.0
"""Times go on by 0 to 4 ms a line, so that much of all kinds is at the same time: stacks of several threads with recursion,
allocations, compilations inside others and on several threads, with further bodies, collections that overlap, nested ones
and in the background, with unknown reasons, reports of the heap, CPU times, pauses, names that are overloads, "?" where the
document has it."""
import random

CLASSES, FUNCTIONS, LINES = 6, 12, 600
REASONS = ("induced", "?", "background", "lowmemory", "induced-background")


class Maker:
    def __init__(self, seed):
        self.rng, self.lines, self.ms = random.Random(seed), [], 20  # the first usage is of 10 ms before
        self.threads = self.rng.randint(1, 4)
        self.stacks = {thread: [] for thread in range(self.threads)}
        self.compiling = {thread: [] for thread in range(self.threads)}
        self.collecting, self.bodies, self.cpu = [], 0, {}

    def put(self, *words):
        self.lines.append(" ".join(map(str, words)))

    def thread(self):
        return self.rng.randrange(self.threads)

    def begin(self):
        self.put("prf stm 2018-06-25 07:24:28.049 +09:00")
        for name, value in (("CollectionMethod", "Sampling"), ("SamplingTimeoutMs", 10), ("CpuTraceTimeoutMs", 10)):
            self.put("prf cfg", name, value)
        for thread in range(self.threads):
            self.put("thr crt", f"0x{0xA000 + thread:016X}", f"0x{thread:08x}")
            self.put("thr aos", f"0x{thread:08x}", 100 + thread)
        self.put("apd crf 0x0000000000000D00 0x64 0x00000000", '"random"')
        self.put("mod ldf 0x0000000000000E00 0x0000000000000000 0x0000000000000A00 0x00000000", '"/app/random.dll"')
        self.put("asm ldf 0x0000000000000A00 0x0000000000000D00 0x0000000000000E00 0x00000000", '"random"')
        for number in range(CLASSES):
            self.put("cls ldf", f"0x{0xC000 + number:016X}", f"0x{number:08x}", "0x0000000000000E00", f"0x{0x2000001 + number:08x}", "0x00000000")
            self.put("cls nam", f"0x{number:08x}", f'"Made.C{number}<T=System.Int32[,]>"')
        for number in range(FUNCTIONS):  # every third is an overload of the one before
            self.tell(number + 2)
            name = number - (number % 3 == 2)
            self.put("fun nam", f"0x{number + 2:08x}", f'"Made.C{name % CLASSES}::F{name}" "void" "({"int" if name < number else ""})"')

    def tell(self, iid, body=None):
        code = f" 0x{0x10000 + body * 0x100:016X}:0x40 0x0:0x0:0x20 0x7:0x20:0x40" if body else ""
        self.put("fun inf", f"0x{iid:08x}", f"0x{0xF000 + iid:016X}", f"0x{0xC000 + (iid - 2) % CLASSES:016X}",
                 "0x0000000000000E00", f"0x{0x6000001 + iid:08x}" + code)

    def frame(self):
        if self.rng.random() < 0.05:
            return "?"
        iid = f"0x{self.rng.randrange(FUNCTIONS) + self.rng.choice((0, 2)):x}"
        return iid + (f":0x{0x10000 + self.rng.randrange(0x400):016X}" if self.rng.random() < 0.5 else "")

    def sample(self, ticks=None):
        thread, rng = self.thread(), self.rng
        stack = self.stacks[thread]
        match, size = rng.randint(0, len(stack)), len(stack)
        more = [self.frame() for _ in range(rng.randint(match == 0, 5))]
        place = f":0x{0x10000 + rng.randrange(0x400):016X}" if match and rng.random() < 0.5 else ""
        self.stacks[thread] = stack[:match] + more
        self.put("sam str", f"0x{thread:08x}", self.ms, rng.randint(0, 3) if ticks is None else ticks, f"{match}:{size}{place}", *more)
        return thread

    def allocate(self):
        thread, rng = self.sample(0) if self.rng.random() < 0.7 else self.thread(), self.rng
        items = []
        for _ in range(rng.randint(1, 3)):
            iid, count = "?" if rng.random() < 0.05 else f"0x{rng.randrange(CLASSES):x}", rng.randint(1, 9)
            items.append(f"{iid}:{count}:{count * 8 * rng.randint(3, 50)}")
        self.put("sam mem", f"0x{thread:08x}", self.ms, *items)

    def compile(self):
        thread, rng = self.thread(), self.rng
        doing = self.compiling[thread]
        if doing and (rng.random() < 0.6 or len(doing) == 5):
            iid = doing.pop()
            failed = rng.random() < 0.1
            if not failed and rng.random() < 0.8:
                self.bodies += 1
                self.tell(iid, self.bodies)
            self.put("jit cmf", 100 + thread, self.ms, f"0x{0xF000 + iid:016X}", "0x80004005" if failed else "0x00000000")
            return
        iid = 2 + rng.randrange(FUNCTIONS)
        if iid in doing:
            return
        if rng.random() < 0.2:
            self.put("jit css", 100 + thread, self.ms, f"0x{0xF000 + iid:016X}")
            self.put("jit csf", 100 + thread, self.ms, f"0x{0xF000 + iid:016X}")
            return
        doing.append(iid)
        self.put("jit cms", 100 + thread, self.ms, f"0x{0xF000 + iid:016X}")

    def collect(self):
        rng = self.rng
        if self.collecting and rng.random() < 0.6:
            self.put("gch gcf", 100 + self.collecting.pop(), self.ms)
            if rng.random() < 0.7:
                self.report()
            return
        thread = self.thread()
        oldest = rng.randint(1, 4)
        self.collecting.append(thread)
        self.put("gch gcs", 100 + thread, self.ms, rng.choice(REASONS), "t" * oldest + "f" * (4 - oldest))

    def report(self):
        parts = ("LOH", "GEN2", "GEN1", "GEN0") + (("POH",) if self.rng.random() < 0.5 else ())
        self.put("gch gen", self.ms, *(f"{part}:{self.rng.randrange(10000)}:20000" for part in parts))

    def live(self):
        classes = self.rng.sample(range(CLASSES), self.rng.randint(0, CLASSES))
        self.put("gch alt", self.ms, *(f"0x{iid:x}:{self.rng.randint(1, 99)}:{self.rng.randint(24, 9999)}" for iid in classes))

    def use(self):
        thread, ms = self.rng.choice([None, *range(self.threads)]), self.ms
        us = self.rng.randrange(1000 * max(ms - self.cpu.get(thread, ms - 10), 1) + 1)
        self.cpu[thread] = ms
        self.put("prc cpu" if thread is None else f"thr cpu 0x{thread:08x}", ms, us)

    def pause(self):
        self.put("prf tps", self.ms)
        self.ms += self.rng.randint(0, 30)
        self.put("prf trs", self.ms)

    def log(self):
        self.begin()
        kinds = (self.sample, 8), (self.allocate, 4), (self.compile, 6), (self.collect, 3), (self.use, 4), (self.live, 1), (self.pause, 0.1)
        acts, weights = zip(*kinds)
        while len(self.lines) < LINES:
            self.ms += self.rng.choice((0, 0, 1, 2, 4))
            self.rng.choices(acts, weights)[0]()
        for thread in reversed(self.collecting):
            self.put("gch gcf", 100 + thread, self.ms)
        return ("\n".join(self.lines) + "\n").encode()


def log(seed):
    """The same for each seed."""
    return Maker(seed).log()
