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

    def launch(self):
        with open(self.folder / "out", "ab") as out:
            self.process = subprocess.Popen([*self.before, is_there(), f"--config-file={self.folder}/config.xml"], stdout=out,
                                            stderr=out, stdin=subprocess.DEVNULL)

    def start(self):
        self.launch()
        return self.wait()

    def wait(self, seconds=120):
        """Waits until it answers."""
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


# ---- Shards and replicas. ----

ZOOKEEPER = "/usr/share/java/zookeeper.jar"


def has_zookeeper():
    return shutil.which("java") and os.path.exists(ZOOKEEPER)


class Cluster:
    """ZooKeeper, and shards of two replicas each: `nodes` by shard."""

    def __init__(self, folder, shards=3, replicas=2):
        self.folder = pathlib.Path(folder)
        ports = free_ports(1 + 3 * shards * replicas)
        self.port, self.zookeeper = ports[0], None
        nodes = [[ports[1 + 3 * (shard * replicas + replica):][:3] for replica in range(replicas)] for shard in range(shards)]
        self.nodes = [[Server(self.folder / f"node-{shard}-{replica}", self.config(nodes, shard, replica), node)
                       for replica, node in enumerate(of_shard)] for shard, of_shard in enumerate(nodes)]

    def config(self, nodes, shard, replica):
        def remote(node):
            return f"<replica><host>127.0.0.1</host><port>{node[1]}</port></replica>"
        shards = "".join(f"<shard><internal_replication>true</internal_replication>{''.join(map(remote, shard))}</shard>"
                         for shard in nodes)
        return (f"<zookeeper><node><host>127.0.0.1</host><port>{self.port}</port></node></zookeeper>"
                f"<macros><shard>{shard}</shard><replica>{replica}</replica></macros>"
                f"<remote_servers><fleet>{shards}</fleet></remote_servers>")

    def all(self):
        return [node for shard in self.nodes for node in shard]

    def __enter__(self):
        data = self.folder / "zookeeper"
        data.mkdir(parents=True)
        (data / "zoo.cfg").write_text(f"tickTime=2000\ndataDir={data}\nclientPort={self.port}\n"
                                      "clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n")
        with open(data / "out", "wb") as out:
            self.zookeeper = subprocess.Popen(
                ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", ZOOKEEPER,
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(data / "zoo.cfg")],
                cwd=data, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            self.wait_for_zookeeper()
            for step in (Server.launch, Server.wait):
                for node in self.all():
                    step(node)
            for node in self.all():
                self.wait_for_session(node)
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_for_zookeeper(self):
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("ZooKeeper does not start")

    def wait_for_session(self, node):
        """ZooKeeper listens before it answers, and a node asks when it needs it."""
        until = time.monotonic() + 120
        while True:
            try:
                node.ask("SELECT count() FROM system.zookeeper WHERE path = '/'")
                return
            except Refused:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def __exit__(self, *_):
        for node in self.all():
            node.stop(signal.SIGKILL)
        if self.zookeeper:
            self.zookeeper.kill()
            self.zookeeper.wait()
