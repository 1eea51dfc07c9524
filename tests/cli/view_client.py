"""view_client - a page of `trackway view` without a browser: doc/view.md in Python."""
# SPDX-License-Identifier: Apache-2.0
import http.client
import json
import socket
import struct
import time
import urllib.parse

HEAD = struct.Struct("<4sIQQIIII")
ROW = struct.Struct("<IHHII")
COLUMNS = ("begin", "end", "busy", "item"), ("time", "least", "most", "last")


def padded(size):
    return (size + 7) & ~7


class Page:
    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.port = parts.port
        self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.cookie = ""
        answer, _ = self.get(f"/?{parts.query}")
        assert answer.status == 303 and answer.getheader("Location") == "/"
        self.set_cookie = answer.getheader("Set-Cookie")
        self.cookie = self.set_cookie.partition(";")[0]
        self.names = []
        self.trace = None

    def get(self, path):
        self.link.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        answer = self.link.getresponse()
        return answer, answer.read()

    def raw(self, line, *headers):
        """The status of what answers these very bytes of a request line and headers behind Host and the cookie."""
        lines = (line, b"Host: 127.0.0.1:%d" % self.port, b"Cookie: " + self.cookie.encode(), *headers, b"", b"")
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as link:
            link.sendall(b"\r\n".join(lines))
            return int(link.makefile("rb").readline().split()[1])

    def json(self, path):
        answer, body = self.get(path)
        assert answer.status == 200, (path, answer.status, body)
        return json.loads(body)

    def whole(self):
        """What /api/trace says once all has been read."""
        while self.json("/api/progress")["state"] == "reading":
            time.sleep(0.05)
        self.trace = self.json("/api/trace")
        assert self.trace["state"] == "done", self.trace
        return self.trace

    def window(self, begin, end, width, tracks=None):
        """The rows of a window, as dictionaries of lists."""
        kinds = [track["kind"] for track in self.trace["list"]]
        wanted = ",".join(map(str, tracks if tracks is not None else range(len(kinds))))
        answer, body = self.get(f"/api/window?from={begin}&to={end}&width={width}&names={len(self.names)}&tracks={wanted}")
        assert answer.status == 200, (answer.status, body)
        magic, _, first, last, count, name, names, text = HEAD.unpack_from(body)
        assert (magic, first, last, name) == (b"TWV1", begin, end, len(self.names))
        at, rows = HEAD.size, []
        for _ in range(count):
            row, at = self.row(body, at)
            row["of"] = kinds[row["track"]]
            rows.append(row)
        ends = struct.unpack_from(f"<{names}I", body, at)
        at += padded(4 * names)
        self.names += [body[at + start:at + stop].decode() for start, stop in zip((0, *ends), ends)]
        assert at + padded(text) == len(body)
        for row in rows:
            row["names"] = [self.names[number] for number in row.get("name", [])]
        return rows

    @staticmethod
    def row(body, at):
        track, lane, depth, kind, n = ROW.unpack_from(body, at)
        at += ROW.size
        row = {"track": track, "lane": lane, "depth": depth, "kind": kind}
        for column in COLUMNS[kind == 1]:
            row[column] = struct.unpack_from(f"<{n}d", body, at)
            at += 8 * n
        for column in ("count", "name") if kind != 1 else ():
            row[column] = struct.unpack_from(f"<{n}I", body, at)
            at += padded(4 * n)
        return row, at
