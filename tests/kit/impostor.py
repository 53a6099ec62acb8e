# SPDX-License-Identifier: MIT
"""impostor.py - a server at the path of a socket, as a monitor has one, that answers what a test wants."""
import contextlib
import os
import socket
import threading


class Impostor(threading.Thread):
    """Answers each client with bytes, the last ones again and again. `requests` are the lines that have come."""

    def __init__(self, path, *answers):
        super().__init__(daemon=True)
        self.path, self.answers, self.requests = path, list(answers), []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.fspath(path))
        self.socket.listen(8)

    def run(self):
        with contextlib.suppress(OSError):  # it is over
            while True:
                client, _ = self.socket.accept()
                with client, contextlib.suppress(OSError):
                    self.requests.append(client.recv(100))
                    client.sendall(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.join()
        os.unlink(self.path)
