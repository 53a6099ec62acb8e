# SPDX-License-Identifier: MIT
"""wire.py - a raw connection that speaks beanstalkd's protocol."""
import os
import re
import select
import socket
import struct

from programs import PATIENCE

WITH_BODY = (b"RESERVED ", b"FOUND ", b"OK ")  # the size is the last word of these lines


def whole_answer(data):
    """How many bytes the first answer in `data` has; 0 if it is not complete."""
    end = data.find(b"\r\n")
    if end < 0:
        return 0
    size = end + 2
    if data.startswith(WITH_BODY):
        size += int(data[:end].rsplit(b" ", 1)[1]) + 2
    return size if size <= len(data) else 0


class Wire:
    """To a server on a loopback port, or to the path of a socket."""

    def __init__(self, server, receive_buffer=None):
        is_path = isinstance(server, (str, os.PathLike))
        self.socket = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(os.fspath(server) if is_path else ("127.0.0.1", server.port))
        if not is_path:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()

    def vanish(self, reset):
        """Closes the connection, orderly or by a reset."""
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, command, body=None):
        """The answer to a command of text, without the end of the last line."""
        self.send(command.encode() + b"\r\n" + (b"" if body is None else body + b"\r\n"))
        return self.answer()

    def receive(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server has closed the connection")
        self.buffer += data

    def take(self):
        """The next answer if it has arrived whole, or None."""
        size = whole_answer(self.buffer)
        if not size:
            return None
        answer = bytes(self.buffer[:size - 2])
        del self.buffer[:size]
        return answer

    def answer(self):
        while (answer := self.take()) is None:
            self.receive()
        return answer

    def answers(self, count):
        return [self.answer() for _ in range(count)]

    def until_closed(self):
        try:
            while True:
                self.receive()
        except ConnectionError:
            return self.buffer

    def is_silent(self, seconds=0.0):
        return not self.buffer and not select.select([self.socket], [], [], seconds)[0]

    def put(self, body=b"x", priority=0, delay=0, ttr=60):
        """Returns the id."""
        answer = self.ask(f"put {priority} {delay} {ttr} {len(body)}", body)
        assert answer.startswith(b"INSERTED "), answer
        return int(answer.split()[1])

    def reserve(self, timeout=0):
        """Returns the id and the body, or None if there is none."""
        answer = self.ask(f"reserve-with-timeout {timeout}")
        if answer in (b"TIMED_OUT", b"DEADLINE_SOON"):
            return None
        line, body = answer.split(b"\r\n", 1)
        return int(line.split()[1]), body

    def stat(self, command, field):
        """A field of what stats, stats-job ID or stats-tube NAME tells, as text."""
        found = re.search(rf"^{field}: (.*)$", self.ask(command).decode(), re.M)
        return found and found[1]
