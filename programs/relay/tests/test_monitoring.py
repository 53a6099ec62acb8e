# SPDX-License-Identifier: MIT
"""The dashboard and the alert rules of examples/relay/monitoring: each metric that they name must be served. Where promtool is installed
(Debian: prometheus), it reads all expressions, and lets each alert fire.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import urllib.request

import pytest

from http_hostile import shuts_nobody_out
from relay import PATIENCE

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


PROCESS = os.getpid()  # an address of its own on the loopback network, so that no port is taken
HOST = f"127.{PROCESS >> 16 & 127 | 64}.{PROCESS >> 8 & 255}.{PROCESS & 255}"


def ask(method="GET"):
    request = urllib.request.Request(f"http://{HOST}:9644/metrics", method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.status, answer.read().decode()


@pytest.mark.options("--metrics", f"{HOST}:9644")
def test_metrics_that_the_files_name_are_served(in_memory):
    served = set(re.findall(r"^(htw_\w+)", ask()[1], re.MULTILINE))
    for name in ("dashboard.json", "alerts.yml"):
        named = set(re.findall(r"\bhtw_relay_\w+", read(name)))
        assert named and named <= served, (name, "not served:", sorted(named - served))
    assert ask("HEAD") == (200, "")
    shuts_nobody_out(lambda: socket.create_connection((HOST, 9644), timeout=PATIENCE), lambda: ask()[0],
                     in_memory[1].process.pid)


def promtool(*words, folder):
    got = subprocess.run(["promtool", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert got.returncode == 0, (words, got.stdout, got.stderr)


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is missing (Debian: prometheus)")
def test_expressions_are_read_and_alerts_fire(tmp_path):
    shutil.copy(os.path.join(FOLDER, "alerts.yml"), tmp_path)
    shutil.copy(os.path.join(HERE, "alerts_test.yml"), tmp_path)
    promtool("check", "rules", "alerts.yml", folder=tmp_path)
    promtool("test", "rules", "alerts_test.yml", folder=tmp_path)
    rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
             for number, expression in enumerate(expressions())]
    with open(os.path.join(tmp_path, "panels.yml"), "w", encoding="utf-8") as stream:
        json.dump({"groups": [{"name": "panels", "rules": rules}]}, stream)  # which is YAML as well
    promtool("check", "rules", "panels.yml", folder=tmp_path)
