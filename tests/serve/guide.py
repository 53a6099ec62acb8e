# SPDX-License-Identifier: MIT
"""The programs of docs/serve-clients.md, as they stand there: one puts a job with a delay, and a worker gets it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from harness import compared, equal, wait_for
from suites import GO, execute, fetched, need, npm, pheanstalk, python

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/serve-clients.md"
DELAY_S = 2


def programs(language):
    """The two programs of a language."""
    section = re.search(rf"^## {language}\n(.*?)^## ", GUIDE.read_text(), re.MULTILINE | re.DOTALL)[1]
    found = re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    equal(len(found), 2, f"programs in {language}")
    return found


def follow(server, language, ending, command, prepare=lambda file: file, **more):
    """Runs them, with the port of the server: each is a file that is prepared and appended to the command."""
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
        files = []
        for name, program in zip(("put", "work"), programs(language)):
            equal(program.count("11300"), 1, f"ports in {language}")
            files.append(pathlib.Path(folder) / (name + ending))
            files[-1].write_text(program.replace("11300", str(server.port)))
        put, work = map(prepare, files)
        began = time.time()
        equal(execute([*command, put], **more)[0], 0, f"exit status of what puts in {language}")
        with subprocess.Popen([*command, work], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **more) as worker:
            try:
                got = worker.stdout.readline()
                took = time.time() - began
                wait_for(lambda: server.stat("cmd-delete") == "1", f"a delete in {language}")
            finally:
                worker.kill()
    assert took >= DELAY_S, f"{took} s after the program began"
    equal(server.stat("current-jobs-reserved"), "0", "jobs that are reserved")
    return [("the worker", got)]


@compared
def the_guide_is_right_for_python(server):
    return follow(server, "Python", ".py", [sys.executable, "-u"], env={**os.environ, "PYTHONPATH": str(python())})


@compared
def the_guide_is_right_for_php(server):
    pheanstalk()
    return follow(server, "PHP", ".php", ["php"])


@compared
def the_guide_is_right_for_node(server):
    need("node")
    return follow(server, "Node", ".js", ["node"], env={**os.environ, "NODE_PATH": str(npm() / "node_modules")})


@compared
def the_guide_is_right_for_go(server):
    need("go")
    place = fetched("go-guide", [["go", "mod", "init", "guide"], ["go", "get", GO]])

    def build(file):
        program = file.with_suffix("")
        status, output = execute(["go", "build", "-o", program, file], cwd=place)
        equal(status, 0, output)
        return program
    return follow(server, "Go", ".go", [], build)


@compared
def the_guide_is_right_for_a_shell(server):
    need("nc")
    return follow(server, "Shell", ".sh", ["bash", "-eu"])
