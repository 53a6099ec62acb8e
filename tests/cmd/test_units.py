# SPDX-License-Identifier: MIT
"""test_units.py - the systemd units of packaging/systemd.

systemd itself says whether it understands them, and how much they let a service do, where `systemd-analyze` is installed. The
commands are started here as systemd starts them.
"""
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest
from programs import PATIENCE, PROGRAM, ROOT, command, content_of, file_with, needs, wait_for

pytestmark = [needs("journal"), needs("cron")]
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is missing (Debian: systemd)")
FOLDER = ROOT / "packaging/systemd"
PROGRAMS = os.path.dirname(PROGRAM)
# The most that systemd-analyze may find a service exposed, in tenths: 0 is nothing, 100 all.
EXPOSURE = {"htw-relay@.service": 12, "htw-cron.service": 15, "htw-delay@.service": 6, "htw-serve.service": 12}


def read(name):
    """The text of a unit, with the programs of this build."""
    for path in (name, name + ".in"):
        if os.path.exists(os.path.join(FOLDER, path)):
            text, sandbox = (content_of(os.path.join(FOLDER, file)).decode() for file in (path, "sandbox.in"))
            return text.replace("@BINDIR@", PROGRAMS).replace("@SANDBOX@", sandbox)
    raise AssertionError(f"there is no unit {name}")


def units():
    return sorted(name.removesuffix(".in") for name in os.listdir(FOLDER) if ".s" in name)


def write_all(directory):
    for name in units():
        file_with(directory, name, read(name).encode())


def command_of(name, variables):
    """The words of ExecStart, expanded as systemd does: ${NAME} is one word, $NAME as many as it holds."""
    line = re.search(r"^ExecStart=(.*)", read(name), re.MULTILINE)[1]
    for specifier, value in {"%i": "test", "%d": variables["CREDENTIALS_DIRECTORY"]}.items():
        line = line.replace(specifier, str(value))
    words = []
    for word in shlex.split(line):
        bare = re.fullmatch(r"\$(\w+)", word)
        words += shlex.split(variables[bare[1]]) if bare else [
            re.sub(r"\$\{(\w+)\}", lambda match: str(variables[match[1]]), word)]
    return words


@needs_systemd
def test_systemd_understands_each_unit(directory):
    write_all(directory)
    names = []
    for name in units():
        names.append(name.replace("@.", "@test."))
        if names[-1] != name:
            os.symlink(name, os.path.join(directory, names[-1]))
    for name in names:
        got = subprocess.run(["systemd-analyze", "verify", "--man=no", "--generators=no", os.path.join(directory, name)],
                             env={**os.environ, "SYSTEMD_UNIT_PATH": f"{directory}:"}, capture_output=True, text=True,
                             check=False)
        complaints = [line for line in (got.stdout + got.stderr).splitlines() if "htw" in line]
        assert (got.returncode, complaints) == (0, []), name


@needs_systemd
def test_the_sandbox_of_each_service_is_narrow(directory):
    write_all(directory)
    assert sorted(EXPOSURE) == [name for name in units() if name.endswith(".service")], "the services that are judged"
    for name, most in EXPOSURE.items():
        got = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", f"--threshold={most}",
                              os.path.join(directory, name)], capture_output=True, text=True, check=False)
        assert got.returncode == 0, f"{name}: {got.stdout}{got.stderr}"


def test_the_relay_accepts_its_command_line(directory):
    file_with(directory, "properties", re.search(r"^SetCredential=properties:(.*)", read("htw-relay@.service"),
                                                 re.MULTILINE)[1].encode())
    words = command_of("htw-relay@.service", {
        "CREDENTIALS_DIRECTORY": directory, "HTW_RELAY_BROKERS": "localhost:9", "HTW_RELAY_INSTANCE": "test.host-1",
        "HTW_RELAY_OPTIONS": "--allow 'orders.*' --metrics 9644", "HTW_RELAY_TOPIC": "later"})
    if not os.path.exists(words[0]):
        return  # a build without the relay
    got = subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (got.returncode, got.stderr) == (0, "")
    assert "Usage: htw relay" in got.stdout


def test_each_variable_of_the_relay_is_explained_or_set(directory):
    text = read("htw-relay@.service")
    for name in set(re.findall(r"\$\{?(\w+)", re.search(r"^ExecStart=(.*)", text, re.MULTILINE)[1])):
        assert re.search(rf"^#.*\b{name}\b", text, re.MULTILINE), f"{name} is not explained"
    assert re.findall(r"^Environment=(\w+)=", text, re.MULTILINE) == ["HTW_RELAY_TOPIC", "HTW_RELAY_INSTANCE"]


def test_delayed_lines_are_put_while_the_service_runs(directory):
    jobs, released = os.path.join(directory, "jobs"), os.path.join(directory, "released")
    with subprocess.Popen(command_of("htw-delay@.service", {"CREDENTIALS_DIRECTORY": ""}), cwd=directory, start_new_session=True) as process:
        try:
            wait_for(lambda: os.path.exists(jobs) and os.path.getsize(jobs) > 0, "the tables")
            for when, line in (("+1ms", "one"), ("+1d", "never"), ("2000-01-01T00:00:00Z", "two")):
                assert command("journal", "put", jobs, when, line).err == ""
            wait_for(lambda: sorted(content_of(released).split()) == [b"one", b"two"], "two lines")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
    assert b"never" in command("journal", "list", jobs).out


def test_jobs_are_served_with_the_options_and_the_token_of_the_file(directory):
    text = read("htw-serve.service")
    assert "EnvironmentFile=-/etc/htw/serve.conf\n" in text
    variables = dict(re.findall(r"^#  +(HTW_SERVE_\w+)=(.*)", text, re.MULTILINE))
    assert sorted(variables) == ["HTW_SERVE_OPTIONS", "HTW_SERVE_TOKEN"]
    options = "--listen 0 " + re.sub("--http [0-9]+", "--http 0", variables["HTW_SERVE_OPTIONS"])  # any ports
    words = command_of("htw-serve.service", {"CREDENTIALS_DIRECTORY": "", "HTW_SERVE_OPTIONS": options})
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=directory,
                          env={**os.environ, "HTW_SERVE_TOKEN": "0123456789abcdef"}) as process:
        ready = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert re.fullmatch(r"ready: 127\.0\.0\.1:\d+\nready: http://127\.0\.0\.1:\d+/\n", "".join(ready)), ready
    assert "jobs" in os.listdir(directory)
