# SPDX-License-Identifier: MIT
"""conftest.py - the programs that the tests of the relay start: those of the build in the folder HTW_BUILD, build/test if that is not set."""
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path[1:1] = [str(HERE), str(HERE / "kafka"), str(HERE.parents[2] / "tests/kit")]
import brokers  # noqa: E402


class Build:
    """The paths of the programs."""

    def __init__(self, folder):
        self.relay, self.brokers = str(folder / "htw-relay"), str(folder / "programs/relay/tests/relay_brokers")
        self.suspend = str(folder / "programs/relay/tests/relay_suspend.so")
        self.examples = [str(folder / "examples" / name) for name in ("relay_producer", "relay_consumer")]


@pytest.fixture(scope="session")
def build():
    return Build(pathlib.Path(os.environ.get("HTW_BUILD", "build/test")).resolve())


@pytest.fixture
def in_memory(build, request):
    """Brokers in memory, and a relay over them; `options` marks those of the relay."""
    marker = request.node.get_closest_marker("options")
    with brokers.relay_in_memory(build.relay, build.brokers, *(marker.args if marker else ())) as pair:
        yield pair


def pytest_configure(config):
    for line in ("options(words): of the relay", "quick: a part of CI", "long: with --long alone",
                 "cluster(nodes, settings): the Kafka that a test needs"):
        config.addinivalue_line("markers", line)
