# SPDX-License-Identifier: MIT
"""The dashboard and the alert rules of examples/relay/monitoring: test_monitoring.py RELAY BROKERS

RELAY serves its metrics over BROKERS, the program of mock.c: each metric that the files name must be there. Where promtool is
installed (Debian: prometheus), it reads all expressions, and lets each alert fire.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True  # the source tree stays clean

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../tests/kit"))

from http_hostile import shuts_nobody_out  # noqa: E402
from brokers import relay_in_memory  # noqa: E402
from relay import PATIENCE  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "..", "..", "examples", "relay", "monitoring")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as stream:
        return stream.read()


def expressions():
    """Those of the dashboard."""
    found = [target["expr"] for panel in json.loads(read("dashboard.json"))["panels"] for target in panel["targets"]]
    assert found, "the dashboard is empty"
    return found


def metrics(relay_program, brokers_program):
    """The names of the samples that a relay serves."""
    process = os.getpid()  # an address of its own on the loopback network, so that no port is taken
    host = f"127.{process >> 16 & 127 | 64}.{process >> 8 & 255}.{process & 255}"

    def ask(method="GET"):
        request = urllib.request.Request(f"http://{host}:9644/metrics", method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()

    with relay_in_memory(relay_program, brokers_program, "--metrics", f"{host}:9644"):
        text = ask()[1]
        assert ask("HEAD") == (200, "")
        shuts_nobody_out(lambda: socket.create_connection((host, 9644), timeout=PATIENCE), lambda: ask()[0])
    return set(re.findall(r"^(htw_\w+)", text, re.MULTILINE))


def check_names(served):
    for name in ("dashboard.json", "alerts.yml"):
        named = set(re.findall(r"\bhtw_relay_\w+", read(name)))
        assert named and named <= served, (name, "not served:", sorted(named - served))


def promtool(*words, folder):
    got = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert got.returncode == 0, (words, got.stdout, got.stderr)


def check_expressions(folder):
    shutil.copy(os.path.join(FOLDER, "alerts.yml"), folder)
    shutil.copy(os.path.join(HERE, "alerts_test.yml"), folder)
    promtool("check", "rules", "alerts.yml", folder=folder)
    promtool("test", "rules", "alerts_test.yml", folder=folder)
    rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
             for number, expression in enumerate(expressions())]
    with open(os.path.join(folder, "panels.yml"), "w", encoding="utf-8") as stream:
        json.dump({"groups": [{"name": "panels", "rules": rules}]}, stream)  # which is YAML as well
    promtool("check", "rules", "panels.yml", folder=folder)


def main(relay_program, brokers_program):
    with tempfile.TemporaryDirectory() as folder:
        check_names(metrics(relay_program, brokers_program))
        if shutil.which("promtool"):
            check_expressions(folder)
        else:
            print("skipped: the expressions: promtool is missing (Debian: prometheus)")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
