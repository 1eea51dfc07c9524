# served.py - runs commands of the tool, each in a process of its own, without starting it anew for each.
# SPDX-License-Identifier: Apache-2.0
"""TRACKWAY_SERVE names the library that serve.c is built into. Without it each command is started as any other."""
import atexit
import os
import socket
import subprocess
import sys


class Server:
    """Of one tool. Its commands have no standard input."""

    def __init__(self, tool):
        self.tool, self.requests, self.process = tool, None, None
        self.library = os.environ.get("TRACKWAY_SERVE")

    def start(self):
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.written = [os.memfd_create(name) for name in ("output", "errors")]
        descriptors = (theirs.fileno(), *self.written)
        self.process = subprocess.Popen([self.tool], pass_fds=descriptors, stdin=subprocess.DEVNULL, env={
            **os.environ, "LD_PRELOAD": self.library, "SERVE_FDS": ",".join(map(str, descriptors))})
        theirs.close()
        atexit.register(self.close)

    def take(self, descriptor):
        """What has been written, which makes room for the next."""
        data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.truncate(descriptor, 0)
        return data

    def run(self, *words):
        """As subprocess.run() with what comes out of it."""
        command = [self.tool, *words]
        if not self.library:
            return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not self.requests:
            self.start()
        self.requests.send(b"".join(os.fsencode(word) + b"\0" for word in command))
        answer = self.requests.recv(4)
        if len(answer) != 4:
            raise OSError(f"the tool has ended: {command}")
        status = os.waitstatus_to_exitcode(int.from_bytes(answer, sys.byteorder))
        return subprocess.CompletedProcess(command, status, *map(self.take, self.written))

    def close(self):
        self.requests.close()
        self.process.wait()
