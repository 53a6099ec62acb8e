# SPDX-License-Identifier: MIT
"""An `htw serve` on a file, for tests whose arguments are PROGRAM SERVE [NAME...]."""
import os
import signal
import subprocess
import sys

SERVE = os.path.abspath(sys.argv.pop(2))

from harness import PATIENCE, content_of, wait_for  # noqa: E402


class Served:
    def __init__(self, directory, *options, name="jobs", launch=(), **kwargs):
        self.file, self.said = os.path.join(directory, name), os.path.join(directory, name + ".said")
        options = options or ("--listen", "0")
        with open(self.said, "wb") as stream:
            self.process = subprocess.Popen([*launch, SERVE, *options, self.file], stdout=stream, stderr=stream, stdin=subprocess.DEVNULL, **kwargs)
        wait_for(lambda: "ready: " in self.text() or self.process.poll() is not None, "a server")
        assert self.process.poll() is None, self.text()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind:
            print(self.text())
            self.process.kill()
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(PATIENCE)
        assert kind or status in (0, -signal.SIGKILL), (status, self.text())

    def text(self):
        return content_of(self.said).decode()

    def places(self):
        return [line[7:] for line in self.text().splitlines() if line.startswith("ready: ")]

    def kill(self):
        self.process.kill()
        self.process.wait()
