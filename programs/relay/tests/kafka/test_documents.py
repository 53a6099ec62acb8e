# SPDX-License-Identifier: MIT
"""The commands of docs/relay.md and of examples/relay/README.md, typed as they stand there."""
import os
import re
import shlex
import shutil
import signal
import subprocess


import pytest

from relay import PATIENCE, wait_for
import test_examples

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Commands that run until they are stopped, and what each says before the next one is typed.
RUNS_ON = {"htw relay .*--allow": "ready", "kcat -C -q": "hello", r"^(\./|python3 )consumer": None}


class Terminal:
    """A folder with the sources of the examples, where kafka-topics is a command. At its end, all that runs on is killed."""

    def __init__(self, case, name):
        self.bootstrap = case.cluster.bootstrap
        self.folder = os.path.join(case.cluster.folder, name)
        self.groups = []
        shutil.copytree(os.path.join(ROOT, "examples", "relay"), self.folder)
        topics = shlex.join(case.cluster.java("64m", "org.apache.kafka.tools.TopicCommand"))
        self.write("kafka-topics", f'#!/bin/sh\nexec {topics} "$@"\n')
        os.chmod(os.path.join(self.folder, "kafka-topics"), 0o755)
        self.write("output", "")
        folders = [self.folder, os.path.dirname(case.world.program), os.path.dirname(test_examples.PYTHON)]
        self.environment = dict(os.environ, PATH=":".join([*folders, os.environ["PATH"]]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for group in self.groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def output(self):
        """What commands that run on have said."""
        with open(os.path.join(self.folder, "output"), encoding="utf-8", errors="replace") as stream:
            return stream.read()

    def type(self, block):
        """The commands of a block, one after the other. Each must end with status 0, or run on."""
        script = ["set -euo pipefail"]
        for line in block.replace("localhost:9092", self.bootstrap).splitlines():
            command = next((command for command in RUNS_ON if re.search(command, line)), None)
            script.append(f"{{ {line}\n}} >>output 2>&1 &" if command else line)
            if RUNS_ON.get(command):
                script.append(f"until grep -q '{RUNS_ON[command]}' output; do kill -0 $!; sleep 0.1; done")
        # Lines of kcat and of the consumers come at once, as on a terminal.
        with subprocess.Popen(["stdbuf", "-oL", "bash", "-c", "\n".join(script)], cwd=self.folder,
                              env=self.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as shell:
            self.groups.append(shell.pid)
            try:
                text = shell.communicate(timeout=PATIENCE)[0]
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                text = shell.communicate()[0]
        assert shell.returncode == 0, f"status {shell.returncode} of:\n{block}\n{text}\n{self.output()}"


def find_blocks(path, commands):
    """The shell blocks of a document in which one of these commands stands."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return [block for block in BLOCK.findall(stream.read()) if re.search(commands, block, re.MULTILINE)]


@pytest.mark.quick
def test_the_commands_of_the_documents_do_what_they_say(case):
    why = test_examples.missing()
    if why:
        print(f"    skipped: {why}")
        return
    with Terminal(case, "relay.md") as terminal:
        for block in find_blocks("docs/relay.md", "localhost:9092"):
            if "htw relay http" not in block:  # test_http.py does what that says, at a free port
                terminal.type(block)
        assert re.search(r"hello htw-delivered-for=\d+", terminal.output()), terminal.output()
    with Terminal(case, "README.md") as terminal:
        for block in find_blocks("examples/relay/README.md", "localhost:9092|^cc "):
            terminal.type(re.sub(r"\blater\b", "later-2", block))  # the cluster has a topic of that name
        expected = ["hello-1\tanna\tfive seconds later-2\n", "hello-2\tanna\tat a time\n", "\tanna\thello\n"]
        wait_for(lambda: all(line in terminal.output() for line in expected), lambda: f"{expected} in {terminal.output()}")
        assert "please pay" not in terminal.output(), terminal.output()
