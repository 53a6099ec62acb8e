# SPDX-License-Identifier: MIT
"""The clients of the tests: raw connections, and redis-cli."""
import select
import socket
import subprocess

from harness import PATIENCE, equal


class Wire:
    """A raw connection."""

    def __init__(self, server, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()

    def send(self, *arguments):
        self.socket.sendall(command(*arguments))

    def send_bytes(self, data):
        self.socket.sendall(data)

    def ask(self, *arguments):
        self.send(*arguments)
        return self.reply()

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the server has closed the connection")
        self.buffer += data

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def reply(self):
        """The next reply: bytes for a string, with the first byte for a status or an error; int; list;
        None."""
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind in b"+-":
            return line
        number = int(rest)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(number)]
        assert kind == b"$", line
        while len(self.buffer) < number + 2:
            self._more()
        text, end, self.buffer = (self.buffer[:number], self.buffer[number:number + 2],
                                  self.buffer[number + 2:])
        equal(end, b"\r\n", "end of a string")
        return text

    def until(self, end):
        """The bytes up to and with `end`."""
        while end not in self.buffer:
            self._more()
        at = self.buffer.index(end) + len(end)
        text, self.buffer = self.buffer[:at], self.buffer[at:]
        return text

    def until_closed(self):
        try:
            while True:
                self._more()
        except ConnectionError:
            return self.buffer

    def send_pipeline(self, commands):
        """Sends all commands at once, and returns the replies."""
        self.send_bytes(b"".join(command(*arguments) for arguments in commands))
        return [self.reply() for _ in commands]

    def is_silent(self, seconds=0.0):
        return not self.buffer and not select.select([self.socket], [], [], seconds)[0]


def command(*arguments):
    """A command as bytes."""
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)


SEPARATOR = "<----->"


def cli(server, script):
    """What redis-cli prints for each line of a script."""
    lines = [line.strip() for line in script.splitlines() if line.strip()]
    fed = "".join(f"{line}\necho {SEPARATOR}\n" for line in lines)
    done = subprocess.run(["redis-cli", "--no-raw", "-p", str(server.port)], input=fed,
                          capture_output=True, encoding="latin-1", timeout=PATIENCE,
                          check=False)
    equal((done.returncode, done.stderr), (0, ""), "redis-cli")
    answers = done.stdout.split(f'"{SEPARATOR}"\n')
    equal(answers.pop(), "", "the end of what redis-cli prints")
    equal(len(answers), len(lines), "answers to a script")
    return list(zip(lines, answers))


class Waiting:
    """redis-cli with one command that blocks."""

    def __init__(self, server, *arguments):
        self.arguments = arguments
        self.process = subprocess.Popen(["redis-cli", "--no-raw", "-p", str(server.port),
                                         *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def answer(self):
        try:
            text, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"no answer to {self.arguments}") from None
        return " ".join(map(str, self.arguments)), text

    def kill(self):
        self.process.kill()
        self.process.communicate()


def blocked(server, *commands):
    """redis-cli for each command, which come to wait in this order."""
    already = int(server.info("blocked_clients"))
    waiting = []
    for number, arguments in enumerate(commands, 1):
        waiting.append(Waiting(server, *arguments.split()))
        server.wait_until_blocked(already + number)
    return waiting
