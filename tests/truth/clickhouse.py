"""clickhouse.py - Debian's clickhouse-server on loopback, for tests: started in a folder of the test's own, on free
ports, and ended with it; and questions to it."""
# SPDX-License-Identifier: Apache-2.0

import http.client
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse

PROGRAM = "clickhouse-server"

CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/errors.log</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{interserver}</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>10000000</mark_cache_size>{more}</yandex>
"""

USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage>
<allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default><secret><password>word</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></secret></users><quotas><default></default></quotas></yandex>
"""


def is_there():
    return shutil.which(PROGRAM, path=os.environ.get("PATH", "") + ":/usr/sbin")


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Refused(Exception):
    """What the server answers instead of rows."""


class Server:
    """A node. `more` stands in its configuration."""

    def __init__(self, folder, more="", ports=None, before=()):
        self.folder = pathlib.Path(folder).absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        for part in ("data", "tmp"):
            (self.folder / part).mkdir(exist_ok=True)
        self.http, self.tcp, self.interserver = ports or free_ports(3)
        (self.folder / "users.xml").write_text(USERS)
        (self.folder / "config.xml").write_text(
            CONFIG.format(folder=self.folder, http=self.http, tcp=self.tcp, interserver=self.interserver, more=more))
        self.process, self.before = None, list(before)

    def start(self, seconds=120):
        with open(self.folder / "out", "ab") as out:
            self.process = subprocess.Popen([*self.before, is_there(), f"--config-file={self.folder}/config.xml"], stdout=out,
                                            stderr=out, stdin=subprocess.DEVNULL)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                self.ask("SELECT 1")
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError(f"clickhouse-server does not start: {(self.folder / 'out').read_text()[-2000:]}")

    def send(self, number):
        os.kill(self.process.pid, number)

    def stop(self, number=signal.SIGTERM):
        """Ends it, and waits until it has let go of its folder."""
        if self.process and self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.send(number)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None

    def ask(self, query, database="default", body=None, **settings):
        """The answer as text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=60)
        settings = urllib.parse.urlencode({"database": database, **settings, **({"query": query} if body else {})})
        connection.request("POST", "/?" + settings, body if body is not None else query.encode())
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        if answer.status != 200:
            raise Refused(text)
        return text

    def rows(self, query, database="default"):
        """The rows of a query, each a list of texts."""
        return [line.split("\t") for line in self.ask(query + " FORMAT TabSeparated", database).splitlines()]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
