# SPDX-License-Identifier: MIT
"""conftest.py - options and servers of the tests of htw serve. beanstalkd gives the expected answers."""
import os
import resource
import shutil
import sys

import pytest

sys.path.append(os.path.dirname(__file__))
from harness import settings  # noqa: E402
from servers import Beanstalkd, HtwServe  # noqa: E402

FILES = 11000  # more descriptors than a crowd of clients and a server need


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, help="of the first random history, and of the kills")
    parser.addoption("--histories", type=int, default=150, help="random histories that run side by side")
    parser.addoption("--rounds", type=int, default=1, help="of random histories")
    parser.addoption("--replay", help="the steps of one history, as a failure prints them")
    parser.addoption("--kills", type=int, default=12, help="of the server under load")
    parser.addoption("--quiet-machine", action="store_true", help="judge lateness, too; differences that do not show again are failures")
    parser.addoption("--slowness", type=int, default=1, help="for sanitizers: do less, and allow N times as long")


def pytest_configure(config):
    config.addinivalue_line("markers", "options(words): the command line of htw serve")
    vars(settings).update(vars(config.option))
    settings.histories = max(1, settings.histories // settings.slowness)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.exit(f"not allowed to open {FILES} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    if not shutil.which("beanstalkd"):
        pytest.exit("not installed: beanstalkd")


def options_of(request):
    marker = request.node.get_closest_marker("options")
    return marker.args if marker else ()


@pytest.fixture
def server(request):
    with HtwServe(*options_of(request)) as server:
        yield server


@pytest.fixture
def beanstalkd():
    with Beanstalkd() as server:
        yield server


@pytest.fixture(params=["beanstalkd", "htw serve"])
def either(request):
    """One of both: that beanstalkd passes shows that the test itself is right."""
    with Beanstalkd() if request.param == "beanstalkd" else HtwServe(*options_of(request)) as server:
        yield server
