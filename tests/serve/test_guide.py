# SPDX-License-Identifier: MIT
"""test_guide.py - the programs of docs/serve.md, as they stand there: one puts a job with a delay, and a worker gets it; and the
one which moves jobs from beanstalkd.

npm, pip and go fetch the libraries by name, once, into build/serve-peers; that of PHP is Debian's package. What cannot be fetched
or is not installed is skipped, with the reason.
"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
from harness import compared
from programs import ROOT, wait_for
from wire import Wire

LIMIT_S = 300
FETCHED = ROOT / "build/serve-peers"
DELAY_S = 2


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"not installed: {tool}")


def execute(command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=LIMIT_S, check=False, **more)
    return done.returncode, done.stdout


def fetched(name, commands):
    """The folder, in which the commands were run once."""
    place = FETCHED / name
    if (place / "fetched").exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for command in commands:
        status, output = execute(command, cwd=place)
        if status != 0:
            pytest.skip(f"cannot fetch: {' '.join(command[:3])}: {(output.strip().splitlines() or ['no reason'])[-1]}")
    (place / "fetched").touch()
    return place


def python():
    place = fetched("python", [[sys.executable, "-m", "pip", "install", "--quiet", "--target", ".", "greenstalk==2.1.1"]])
    return {"env": {**os.environ, "PYTHONPATH": str(place)}}


def programs_of(heading):
    section = re.search(rf"^## {heading}\n(.*?)^## ", (ROOT / "docs/serve.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def follow(server, language, ending, command, prepare=lambda file: file, **more):
    """Runs them, with the port of the server: each is a file that is prepared and appended to the command."""
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
        files = []
        for name, program in zip(("put", "work"), programs_of(language), strict=True):
            assert program.count("11300") == 1, f"ports in {language}"
            files.append(pathlib.Path(folder) / (name + ending))
            files[-1].write_text(program.replace("11300", str(server.port)))
        put, work = map(prepare, files)
        began = time.time()
        assert execute([*command, put], **more)[0] == 0, f"exit status of what puts in {language}"
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
def test_serve_the_guide_is_right_for_python(server):
    return follow(server, "Python", ".py", [sys.executable, "-u"], **python())


@compared
def test_serve_the_guide_is_right_for_php(server):
    need("php")
    if not os.path.exists("/usr/share/php/Pheanstalk/autoload.php"):
        pytest.skip("not installed: php-pda-pheanstalk")
    return follow(server, "PHP", ".php", ["php"])


@compared
def test_serve_the_guide_is_right_for_node(server):
    need("node", "npm")
    place = fetched("npm", [["npm", "init", "--yes"], ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "jackd@2.2.2"]])
    return follow(server, "Node", ".js", ["node"], env={**os.environ, "NODE_PATH": str(place / "node_modules")})


@compared
def test_serve_the_guide_is_right_for_go(server):
    need("go")
    place = fetched("go-guide", [["go", "mod", "init", "guide"], ["go", "get", "github.com/beanstalkd/go-beanstalk@v0.2.0"]])

    def build(file):
        program = file.with_suffix("")
        status, output = execute(["go", "build", "-o", program, file], cwd=place)
        assert status == 0, output
        return program
    return follow(server, "Go", ".go", [], build)


@compared
def test_serve_the_guide_is_right_for_a_shell(server):
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


def test_serve_the_program_that_moves_jobs_moves_all_of_them(beanstalkd, server):
    [program] = programs_of("Coming from beanstalkd")
    program = program.replace("11300", str(beanstalkd.port)).replace("11301", str(server.port))
    with Wire(beanstalkd) as source, Wire(server) as target:
        fill(source)
        expected = empty(source)
        assert len(expected) == 18, "jobs"
        fill(source)
        assert execute([sys.executable, "-c", program], **python()) == (0, "")
        assert empty(source) == [], "jobs that are left"
        assert empty(target) == expected, "jobs that were moved"
