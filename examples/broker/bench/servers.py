# SPDX-License-Identifier: MIT
"""Starts and stops the servers, each on its own loopback port."""

import collections
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading

START_S = 20
STOP_S = 20
REPLY_S = 120  # for the deletion of millions of items
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class ServerError(Exception):
    """A server did not start, or gave an unexpected answer."""


class Server:
    """A server process. Its output after the ready line is discarded."""

    def __init__(self, name, command, ready):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="htw-bench-broker-")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, cwd=self.folder)
        self.pid = self.process.pid
        try:
            self.ready_line = self.await_line(ready)
        except ServerError:
            self.stop()
            raise
        threading.Thread(target=collections.deque, args=(self.process.stdout, 0),
                         daemon=True).start()
        self.port = None
        self.connection = None

    def await_line(self, ready):
        # Kills a server that prints nothing, which ends its output.
        alarm = threading.Timer(START_S, self.process.kill)
        alarm.start()
        said = []
        for line in self.process.stdout:
            said.append(line)
            if ready in line:
                alarm.cancel()
                return line
        alarm.cancel()
        raise ServerError(f"{self.name} does not start: {''.join(said[-5:]).strip()}")

    def connect(self, port):
        self.port = port
        self.connection = socket.create_connection(("127.0.0.1", port), REPLY_S)
        self.replies = self.connection.makefile("rb")
        return self

    def command(self, *words):
        """Sends a command, and returns its reply, which must have one line."""
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        self.connection.sendall(text.encode())
        reply = self.replies.readline().decode().strip()
        if not reply or reply[0] not in "+:":
            raise ServerError(f"{self.name} answers {' '.join(words)} with {reply!r}")
        return reply[1:]

    def cpu_s(self):
        """User and system time of all its threads, with a resolution of 10 ms."""
        text = pathlib.Path(f"/proc/{self.pid}/stat").read_text()
        fields = text.rsplit(")", 1)[1].split()  # from the third field on
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def stop(self):
        """Stops the server, and returns whether its exit status is 0."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status == 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_redis(program, prefix, max_clients):
    """Tries again with another port if another process has taken the free one meanwhile."""
    for attempt in range(5):
        port = free_port()
        command = [*prefix, program, "--bind", "127.0.0.1", "--port", str(port), "--save", "",
                   "--appendonly", "no", "--daemonize", "no", "--maxclients", str(max_clients)]
        try:
            return Server("redis", command, "Ready to accept connections").connect(port)
        except ServerError as error:
            if attempt == 4 or "Address already in use" not in str(error):
                raise


def start_broker(program, prefix, max_clients, threads=1):
    command = [*prefix, program, "--port", "0", "--threads", str(threads),
               "--max-clients", str(max_clients), "--max-memory", "0"]
    server = Server("broker", command, "ready on 127.0.0.1:")
    return server.connect(int(server.ready_line.rsplit(":", 1)[1]))
