# SPDX-License-Identifier: MIT
"""What the tests of the benchmarks share: the runner, what it prints, and what is refused."""
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile

RUNNER = pathlib.Path(__file__).parents[2] / "benchmarks/run.py"
sys.path.insert(0, str(RUNNER.parent))
from common.report import print_all  # noqa: E402


def call(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=False, **more)


def quick_run(name, program, *arguments, folder=None):
    """The runner, with its file in a folder of its own. Returns how it ended, and the names of the files there."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        run = call(sys.executable, RUNNER, name, "--program", program, "--json", f"{place}/results.json", "--quick",
                   *arguments)
        assert run.returncode == 0, run.stderr
        return run, [path.name for path in pathlib.Path(place).iterdir()]


def report_text(report, results):
    """The tables of these results, without the blanks that align them."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        print_all(report, {"machine": {"CPUs": 2}, "results": results})
    return re.sub(" +", " ", output.getvalue())


def refuses(bench, says, *lines):
    """Each command line, of words without blanks, ends with the status 2, and nothing else is printed."""
    for line in lines:
        run = bench(*line.split())
        assert run.returncode == 2, (line, run.returncode, run.stderr)
        assert says in run.stderr and run.stderr != "" and run.stdout == "", (line, run.stderr)


def run(names):
    """Runs the functions of a test that are named bench_*, in order; the exit status is 1 if one fails."""
    failed = 0
    for name, function in list(names.items()):
        if not name.startswith("bench_"):
            continue
        try:
            function()
            print("ok", name, flush=True)
        except AssertionError as failure:
            failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
    sys.exit(1 if failed else 0)
