# SPDX-License-Identifier: MIT
"""conftest.py - a case for each test of the relay over a real Kafka. One cluster serves all tests that need one like it."""
import contextlib
import json
import os
import subprocess

import pytest

from case import Case
from client import Client
from cluster import Cluster, Missing


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="the tests that CI runs")
    parser.addoption("--long", action="store_true", help="also those that take minutes")


def cluster_of(item):
    marker = item.get_closest_marker("cluster")
    return dict(marker.kwargs) if marker else {}


def pytest_collection_modifyitems(config, items):
    def is_wanted(item):
        if item.get_closest_marker("long"):
            return config.option.long
        return bool(item.get_closest_marker("quick")) or not config.option.quick
    left_out = [item for item in items if not is_wanted(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted((item for item in items if item not in left_out),
                      key=lambda item: json.dumps(cluster_of(item), sort_keys=True))


def pytest_sessionstart(session):
    """The tests over a mock cluster that wait long (test_mock_long.c) do so beside these, unless some are selected."""
    session.beside = None
    if not (session.config.option.keyword or session.config.option.markexpr):
        program = os.path.join(os.environ.get("HTW_BUILD", "build/test"), "programs/relay/tests/test_relay_mock_long")
        session.beside = subprocess.Popen([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def pytest_sessionfinish(session):
    if session.beside:
        text = session.beside.communicate()[0]
        if session.beside.returncode:
            print(text)
            session.exitstatus = session.beside.returncode


class World:
    """A running cluster with a client."""

    def __init__(self, build, settings):
        self.build, self.program, self.settings = build, build.relay, settings
        with contextlib.ExitStack() as stack:  # what has been started is stopped, if the rest fails
            self.cluster = stack.enter_context(Cluster(os.environ.get("HTW_KAFKA", "build/kafka/3"), **settings))
            self.client = Client(self.cluster)
            stack.callback(self.client.close)
            self.stack = stack.pop_all()


@pytest.fixture(scope="session")
def worlds():
    running = []
    yield running
    for world in running:
        world.stack.close()


@pytest.fixture
def case(build, worlds, request):
    settings = cluster_of(request.node)
    if not worlds or worlds[0].settings != settings:
        while worlds:
            worlds.pop().stack.close()
        try:
            worlds.append(World(build, settings))
        except Missing as missing:
            pytest.skip(str(missing))
    case = Case(worlds[0])
    yield case
    case.close()
    for relay in case.relays:
        print(f"--- {relay.log}\n{relay.text()[-3000:]}", flush=True)
