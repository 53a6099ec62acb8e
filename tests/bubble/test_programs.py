# SPDX-License-Identifier: MIT
"""Programs that know nothing of a bubble run in one: 30 days pass in seconds, and nothing else is different."""

import os
import pathlib
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ["HTW_BUILD"])
LIBRARY = BUILD / "src/bubble/libhtw-bubble.so.0.3"
HERE = pathlib.Path(__file__).parent
PROGRAMS = [
    ([sys.executable, HERE / "sleep.py"], "False 2592060\n"),
    (["/bin/sleep", "30d"], ""),
    (["/bin/bash", "-c", "sleep 1h & sleep 2h; wait; echo $?"], "0\n"),
    # -EINVAL: calls of this program do not reach the library, which was loaded late.
    (["/usr/bin/env", "-u", "LD_PRELOAD", sys.executable, "-c",
      f"import ctypes; print(ctypes.CDLL('{LIBRARY}').htw_bubble_begin())"], "-22\n"),
]


def run(command, **environment):
    result = subprocess.run(command, env=os.environ | {"LD_PRELOAD": str(LIBRARY)} | environment, capture_output=True,
                            text=True, timeout=30, check=False)
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize("command, said", PROGRAMS)
def test_program_ends_at_once(command, said):
    assert run(command) == (0, said, "")


EXAMPLES = ["blocking_queue", "heartbeat", "keepalive_server", "loop_epoll", "loop_libuv", "retry", "scheduler_hello", "with_libuv"]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if (BUILD / "examples" / name).exists()])
def test_example_of_htw_runs(name):
    code, _, error = run([BUILD / "examples" / name])
    assert (code, error) == (0, "")


def test_fixture_begins_and_ends_a_bubble(tmp_path):
    page = (HERE / "../../examples/bubble.md").read_text()
    assert (HERE / "../../examples/bubble_test.c").read_text().split("\n", 2)[2] in page
    (tmp_path / "test_page.py").write_text(page.split("```python\n")[1].split("```")[0])
    code, said, _ = run([sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", tmp_path], HTW_BUBBLE="later")
    assert code == 0 and "1 passed" in said, said
