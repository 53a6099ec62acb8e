# SPDX-License-Identifier: MIT
"""conftest.py - fixtures of all tests in Python; what they share is in kit/.

The programs are those of the build in the folder HTW_BUILD, build/test if that is not set.
"""
import pathlib
import tempfile

import pytest


@pytest.fixture
def directory():
    """An empty folder, with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="htw-", dir="/tmp") as path:
        yield pathlib.Path(path)
