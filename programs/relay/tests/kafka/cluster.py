# SPDX-License-Identifier: MIT
"""A real Kafka for tests and the demo, on the loopback address, in a temporary folder.

    cluster.py fetch JARS [VERSION]       fetches the Apache artifacts with Maven, once
    cluster.py run JARS [NODES [NAME=VALUE]...]
                                          starts 1 or 3 nodes (KRaft, broker and controller in one),
                                          prints their addresses, and stops them at the end of its input

JARS is a folder below build/. VERSION is 3 or 4. Nothing else of the machine is used or changed.
"""
import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 90  # seconds for a node to start on a busy machine
CLUSTER_ID = "aHR3LXJlbGF5LXRlc3RzMQ"

# What a cluster for tests needs other than Kafka's defaults: small, and quick to start.
SETTINGS = {
    "num.network.threads": 2,
    "num.io.threads": 3,
    "log.cleaner.dedupe.buffer.size": 4 << 20,
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "true",  # so whatever asks for a topic that does not exist makes it, and a test sees that
}

LOG_3 = """log4j.rootLogger=WARN, out
log4j.logger.kafka.server.KafkaRaftServer=INFO
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.Target=System.err
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{HH:mm:ss,SSS} %p %m (%c{1})%n
"""
LOG_4 = """appender.out.type=Console
appender.out.name=out
appender.out.target=SYSTEM_ERR
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{HH:mm:ss,SSS} %p %m (%c{1})%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
logger.server.name=kafka.server.KafkaRaftServer
logger.server.level=info
"""


class Missing(Exception):
    """What the machine lacks, in a sentence. Tests are skipped then."""


def fetch(jars, version="3"):
    """Fetches the artifacts into the folder `jars`, unless they are there."""
    if not shutil.which("java"):
        raise Missing("java is missing (Debian: default-jdk-headless), so no Kafka can be started")
    if os.path.exists(os.path.join(jars, ".complete")):
        return
    if not shutil.which("mvn"):
        raise Missing("mvn is missing (Debian: maven), so Kafka cannot be fetched")
    shutil.rmtree(jars, ignore_errors=True)
    result = subprocess.run(
        ["mvn", "-B", "-q", "-f", os.path.join(HERE, "pom.xml"), f"-Pkafka-{version}",
         "dependency:copy-dependencies", "-DincludeScope=runtime",
         f"-DoutputDirectory={os.path.abspath(jars)}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if "ERROR" in line]
        raise Missing("Maven cannot fetch Kafka (is there a network?): " + (lines or ["no reason given"])[0])
    open(os.path.join(jars, ".complete"), "w").close()


def free_ports(number):
    """Ports that nothing listens on now. All are held until all are known, so they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Node:
    """One node: a process, its folder, and its output in the file `log`."""

    def __init__(self, cluster, number, port):
        self.cluster, self.number, self.port = cluster, number, port
        self.folder = os.path.join(cluster.folder, f"node{number}")
        self.log = os.path.join(cluster.folder, f"node{number}.log")
        self.properties = os.path.join(cluster.folder, f"node{number}.properties")
        self.process = None

    def format(self, voters, controller_port, settings):
        count = len(self.cluster.nodes)
        values = {
            "process.roles": "broker,controller",
            "node.id": self.number,
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": self.folder,
            "default.replication.factor": count,
            "offsets.topic.replication.factor": count,
            "transaction.state.log.replication.factor": count,
            "transaction.state.log.min.isr": min(count, 2),
            "min.insync.replicas": min(count, 2),
            **SETTINGS, **settings}
        with open(self.properties, "w") as stream:
            stream.writelines(f"{name}={value}\n" for name, value in values.items())
        os.mkdir(self.folder)  # as `kafka-storage format` leaves it, which takes two seconds of a processor
        with open(os.path.join(self.folder, "meta.properties"), "w") as stream:
            directory = base64.urlsafe_b64encode(f"htw-relay-node-{self.number}".encode()).decode().rstrip("=")
            stream.write(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={self.number}\ndirectory.id={directory}\n")

    def start(self, wait=True):
        with open(self.log, "ab") as log:
            self.seen = log.tell()
            command = self.cluster.java(self.cluster.heap, "kafka.Kafka", self.properties)
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if wait:
            self.wait_ready()

    def wait_ready(self):
        end = time.monotonic() + PATIENCE
        while b"Kafka Server started" not in self.output():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"Kafka does not start:\n{self.output()[-3000:].decode()}")
            time.sleep(0.05)

    def output(self):
        """What it has printed since its last start."""
        with open(self.log, "rb") as log:
            log.seek(self.seen)
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def suspend(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


class Cluster:
    """Nodes of one Kafka. Use it in a `with` statement: at its end all is stopped and removed."""

    def __init__(self, jars, nodes=1, heap="512m", compiler="-XX:TieredStopAtLevel=1", **settings):
        """The first compiler of the JVM alone is best for processes that live for seconds."""
        fetch(jars)
        self.jars, self.heap, self.compiler = os.path.abspath(jars), heap, compiler
        self.folder = tempfile.mkdtemp(prefix="htw-kafka-")
        ports = free_ports(2 * nodes)
        self.nodes = []
        self.nodes += [Node(self, i + 1, ports[i]) for i in range(nodes)]
        self.settings = {name.replace("_", "."): value for name, value in settings.items()}
        self.controllers = ports[nodes:]
        self.bootstrap = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        with open(os.path.join(self.folder, "log4j.properties"), "w") as stream:
            stream.write(LOG_3)
        with open(os.path.join(self.folder, "log4j2.properties"), "w") as stream:
            stream.write(LOG_4)

    def java(self, heap, main, *arguments, classes=None):
        """The command line of a program of Kafka, or of one that uses its libraries."""
        path = os.path.join(self.jars, "*")
        return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", self.compiler,
                f"-Dlog4j.configuration=file:{self.folder}/log4j.properties",
                f"-Dlog4j2.configurationFile={self.folder}/log4j2.properties",
                "-cp", f"{classes}:{path}" if classes else path, main, *arguments]

    def __enter__(self):
        voters = ",".join(f"{node.number}@127.0.0.1:{port}"
                          for node, port in zip(self.nodes, self.controllers))
        try:
            for node, port in zip(self.nodes, self.controllers):
                node.format(voters, port, self.settings)
            for node in self.nodes:
                node.start(wait=False)
            for node in self.nodes:
                node.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for node in self.nodes:  # nobody waits for what they would do at an orderly end, which takes many seconds
            if node.process:
                node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "fetch":
        fetch(*arguments[1:3])
    elif len(arguments) >= 2 and arguments[0] == "run":
        nodes = int(arguments[2]) if len(arguments) > 2 else 1
        settings = dict(one.split("=", 1) for one in arguments[3:])
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with Cluster(arguments[1], nodes, **settings) as cluster:
            print(cluster.bootstrap, cluster.folder, flush=True)
            sys.stdin.read()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
    except KeyboardInterrupt:
        sys.exit(130)
