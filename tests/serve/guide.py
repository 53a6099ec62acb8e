# SPDX-License-Identifier: MIT
"""The programs of docs/serve.md, as they stand there: one puts a job with a delay, and a worker gets it; and the
one which moves jobs from beanstalkd."""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from clients import Wire
from harness import compared, equal, paired, wait_for
from suites import GO, execute, fetched, need, npm, pheanstalk, python

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
DELAY_S = 2


def programs(document, heading):
    section = re.search(rf"^## {heading}\n(.*?)^## ", (DOCS / document).read_text(), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def follow(server, language, ending, command, prepare=lambda file: file, **more):
    """Runs them, with the port of the server: each is a file that is prepared and appended to the command."""
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
        files = []
        for name, program in zip(("put", "work"), programs("serve.md", language), strict=True):
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
    wait_for(lambda: server.stat("current-jobs-reserved") == "0", f"that no job is reserved in {language}")
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


BURIED, DELAYED, READY = range(3)


def fill(wire):
    """Jobs in each state, in two tubes and with two priorities."""
    for tube, state, priority in itertools.product(("mail", "default"), (BURIED, DELAYED, READY), (7, 3, 7)):
        wire.ask(f"use {tube}")
        job = wire.put(f"{tube} {state} {priority}\r\n".encode(), priority, 1000 if state == DELAYED else 0, 90 + state)
        if state == BURIED:
            wire.ask(f"reserve-job {job}")
            wire.ask(f"bury {job} {priority}")


def empty(wire):
    """What is there, in its order but for delayed jobs, and removes it."""
    found = []
    for tube, state in itertools.product(("mail", "default"), ("ready", "delayed", "buried")):
        wire.ask(f"use {tube}")
        while (answer := wire.ask(f"peek-{state}")) != b"NOT_FOUND":
            job, body = int(answer.split()[1]), answer.split(b"\r\n", 1)[1]
            found.append((tube, state, body, *(wire.stat(f"stats-job {job}", name) for name in ("pri", "ttr"))))
            if state == "delayed":
                assert 900 < int(wire.stat(f"stats-job {job}", "time-left")) <= 1001
            wire.ask(f"delete {job}")
    return sorted(found, key=lambda job: job if job[1] == "delayed" else job[:2])


@paired
def the_program_that_moves_jobs_moves_all_of_them(old, new):
    [program] = programs("serve.md", "Coming from beanstalkd")
    program = program.replace("11300", str(old.port)).replace("11301", str(new.port))
    with Wire(old) as source, Wire(new) as target:
        fill(source)
        expected = empty(source)
        equal(len(expected), 18, "jobs")
        fill(source)
        status, output = execute([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(python())})
        equal((status, output), (0, ""), "the program")
        equal(empty(source), [], "jobs that are left")
        equal(empty(target), expected, "jobs that were moved")
