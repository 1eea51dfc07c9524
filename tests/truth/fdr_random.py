#!/usr/bin/python3
# fdr_random.py - writes XRay FDR logs of random calls, the same for the same seed: input for truth.py and stat.
# SPDX-License-Identifier: Apache-2.0
"""Usage: fdr_random.py SEED LOG

A log of version 5 with several threads, each with many buffers that stand anywhere among those of the others. Calls nest, but
some exits are missing, some have no entry, some belong to a call further down; functions call themselves; there are tail
exits, arguments, events, other processors, counters that jump ahead, ids of all sizes. A thread's counter never goes back,
because truth.py sorts by it. Nothing here comes from the library.
"""
import random
import struct
import sys

HEADER = struct.Struct("<HHIQQQ")
ENTER, EXIT, TAIL, ENTER_ARGS = range(4)
NEW_BUFFER, NEW_CPU, WRAP, WALL, CUSTOM, ARGUMENT, EXTENTS, PID = 0, 2, 3, 4, 5, 6, 7, 9
FREQUENCIES = [10**9, 2 * 10**9, 2599998000, 3 * 10**9 + 7, 333333333, 24 * 10**6]
IDS = [*range(1, 30), 1000, 2**20 - 1, 2**20, 2**20 + 1, 2**28 - 1]
DEPTH = 40


def metadata(kind, form="", *fields):
    return struct.pack("<B15s", kind << 1 | 1, struct.pack("<" + form, *fields))


class Thread:
    """One thread: its counter, and what it has open."""

    def __init__(self, draw, number):
        self.draw, self.number = draw, number
        self.ids = draw.sample(IDS, draw.randrange(2, len(IDS)))
        self.tsc, self.cpu, self.wall, self.stack = draw.randrange(10**12), draw.randrange(8), 1000, []

    def call(self, action, number):
        delta = self.draw.choice([0, 1, self.draw.randrange(300), self.draw.randrange(10**5)])
        if self.draw.random() < 0.002:
            delta = self.draw.randrange(2**32)
        self.tsc += delta
        return struct.pack("<II", number << 4 | action << 1, delta)

    def enter(self):
        again = self.stack and self.draw.random() < 0.1
        self.stack.append(self.draw.choice(self.stack if again else self.ids))
        if self.draw.random() < 0.95:
            return self.call(ENTER, self.stack[-1])
        arguments = [metadata(ARGUMENT, "Q", self.draw.getrandbits(64)) for _ in range(self.draw.randrange(4))]
        return self.call(ENTER_ARGS, self.stack[-1]) + b"".join(arguments)

    def leave(self):
        action = TAIL if self.draw.random() < 0.1 else EXIT
        if not self.stack or self.draw.random() < 0.005:
            return self.call(action, self.draw.choice(self.ids))  # mostly of a call that is not there
        if self.draw.random() < 0.01:
            del self.stack[self.draw.randrange(len(self.stack)) + 1:]  # their exits are missing
        return self.call(action, self.stack.pop())

    def other(self):
        kind = self.draw.randrange(4)
        if kind == 0:
            self.cpu = self.draw.randrange(300)
            self.tsc += self.draw.randrange(1000)
            return metadata(NEW_CPU, "HQ", self.cpu, self.tsc)
        if kind == 1:
            self.tsc += self.draw.randrange(2**33)
            return metadata(WRAP, "Q", self.tsc)
        if kind == 2:
            return metadata(ARGUMENT, "Q", 1)  # of no call
        payload, delta = self.draw.randbytes(self.draw.randrange(1, 80)), self.draw.randrange(1000)
        self.tsc += delta
        return metadata(CUSTOM, "ii", len(payload), delta) + payload

    def record(self):
        if self.draw.random() < 0.03:
            return self.other()
        deeper = self.draw.random() < (0.55 if len(self.stack) < DEPTH / 2 else 0.4)
        return self.enter() if deeper and len(self.stack) < DEPTH else self.leave()

    def buffer(self, room):
        self.tsc += 1
        self.wall += self.draw.randrange(1, 1000)
        parts = [metadata(NEW_BUFFER, "i", self.number), metadata(WALL, "QI", self.wall // 10**6, self.wall % 10**6),
                 metadata(PID, "i", 77), metadata(NEW_CPU, "HQ", self.cpu, self.tsc)]
        parts += [self.record() for _ in range(room)]
        body = b"".join(parts)
        return metadata(EXTENTS, "Q", len(body)) + body


def log(seed):
    draw = random.Random(seed)
    threads = [Thread(draw, 100 + i) for i in range(draw.randrange(1, 7))]
    most = draw.choice([30, 300, 3000])
    buffers = [draw.choice(threads).buffer(draw.randrange(1, most)) for _ in range(min(60, 9000 // most + 1))]
    draw.shuffle(buffers)
    return HEADER.pack(5, 1, 3, draw.choice(FREQUENCIES), 65536, 0) + b"".join(buffers)


def main():
    with open(sys.argv[2], "wb") as file:
        file.write(log(int(sys.argv[1])))


if __name__ == "__main__":
    main()
