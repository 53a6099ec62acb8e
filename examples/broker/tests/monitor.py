# SPDX-License-Identifier: MIT
"""--monitor: blocked clients and values to come are seen from outside."""
import json
import os
import socket
import stat
import tempfile

from clients import Wire
from harness import equal, own, wait_for
from servers import broker


def snapshot(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(b"json\n")
        return json.loads(client.makefile("rb").readline())


def source(path, kind, name):
    return next(part for part in snapshot(path)[kind] if part["name"] == name)


@own()
def the_monitor_shows_who_is_blocked_and_ends_with_the_broker(_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with broker("--monitor", path) as server, Wire(server) as wire, Wire(server) as other:
            equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the socket")
            equal(source(path, "purgatories", "blocked")["watched"], 0)
            wire.send("BLPOP", "a", "b", 3600)
            server.wait_until_blocked(1)
            wait_for(lambda: source(path, "purgatories", "blocked")["watched"] == 2, "two watches")
            equal(source(path, "purgatories", "blocked")["keys"], 2, "keys")
            equal(other.ask("LPUSHIN", "a", 3600000, "late"), b"+OK")
            equal(source(path, "schedulers", "timers")["pending"] >= 1, True, "a value to come")
            server.stop()
            equal(os.path.exists(path), False, "the socket afterwards")


@own()
def a_monitor_that_cannot_be_opened_ends_the_broker_with_a_sentence(_):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "none", "socket")
        try:
            broker("--monitor", path).kill()
        except AssertionError as error:
            equal("--monitor" in str(error), True, str(error))
        else:
            raise AssertionError("the broker has started")
