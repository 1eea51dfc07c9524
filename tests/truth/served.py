# served.py - runs commands of the tool, each in a process of its own, without starting it anew for each.
# SPDX-License-Identifier: Apache-2.0
"""TRACKWAY_SERVE names the library that serve.c is built into. Without it each command is started as any other."""
import atexit
import os
import socket
import subprocess
import sys


SECONDS = 300  # that a command may take


class Server:
    """Of one tool. Its commands have no standard input."""

    def __init__(self, tool, preload=None, **options):
        """preload: a library that each command needs; options: of subprocess.Popen()."""
        self.tool, self.preload, self.options = tool, preload, options
        self.requests, self.process = None, None
        self.library = os.environ.get("TRACKWAY_SERVE")

    def environment(self, *libraries, **more):
        # With the sanitizers half of a short run is the search for leaks: the cases and the unit tests have it.
        sanitizer = f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0" if "ASAN_OPTIONS" in os.environ else "detect_leaks=0"
        return {**os.environ, "ASAN_OPTIONS": sanitizer, **more, **({"LD_PRELOAD": ":".join(libraries)} if libraries else {})}

    def start(self):
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.requests.settimeout(SECONDS)
        self.written = [os.memfd_create(name) for name in ("output", "errors")]
        descriptors = (theirs.fileno(), *self.written)
        libraries = [self.library, self.preload] if self.preload else [self.library]
        self.process = subprocess.Popen([self.tool], pass_fds=descriptors, stdin=subprocess.DEVNULL, env=self.environment(
            *libraries, SERVE_FDS=",".join(map(str, descriptors))), **self.options)
        theirs.close()
        atexit.register(self.close)

    def take(self, descriptor):
        """What has been written, which makes room for the next."""
        data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.truncate(descriptor, 0)
        return data

    def run(self, *words, **more):
        """As subprocess.run() with what comes out of it. more: environment."""
        command = [self.tool, *words]
        if not self.library:
            environment = self.environment(*[self.preload] if self.preload else [], **more)
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS,
                                  env=environment, **self.options)
        if not self.requests:
            self.start()
        settings = [f"{name}={value}" for name, value in more.items()]
        self.requests.send(b"".join(os.fsencode(word) + b"\0" for word in settings + command))
        answer = self.requests.recv(4)
        if len(answer) != 4:
            raise OSError(f"no answer: {command}")
        status = os.waitstatus_to_exitcode(int.from_bytes(answer, sys.byteorder))
        return subprocess.CompletedProcess(command, status, *map(self.take, self.written))

    def close(self):
        self.requests.close()
        self.process.wait()
