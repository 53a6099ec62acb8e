# SPDX-License-Identifier: MIT
"""bench.py - what the tests of the benchmarks share: their programs, their runner, and what is refused."""
import contextlib
import io
import re
import subprocess
import sys

import pytest
from programs import BUILD, ROOT

RUNNER = ROOT / "benchmarks/run.py"
sys.path.insert(0, str(RUNNER.parent))
from common.report import print_all  # noqa: E402


def program(name):
    path = BUILD / ("programs/relay/benchmark" if name == "relay" else f"benchmarks/{name}") / f"htw-bench-{name}"
    if not path.exists():
        pytest.skip(f"not built: {path.name}")
    return path


def call(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def report_text(report, results):
    """The tables of these results, without the blanks that align them."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        print_all(report, {"machine": {"CPUs": 2}, "results": results})
    return re.sub(" +", " ", output.getvalue())


def refuses(run_it, says, lines):
    """Each command line, of words without blanks, ends with the status 2, and nothing else is printed."""
    for line in lines:
        run = run_it(*line.split())
        assert run.returncode == 2, (line, run.returncode, run.stderr)
        assert says in run.stderr and run.stderr != "" and run.stdout == "", (line, run.stderr)
