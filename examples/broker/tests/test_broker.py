# SPDX-License-Identifier: MIT
"""End-to-end tests of the broker: test_broker.py BROKER [OPTION]... [GROUP|TEST]...

  --threads N   run the broker with N threads
  --alone       without redis-server: only what the tests assert, no comparison
  --strict      for a quiet machine: no timer may be more than 10 ms late
  --slowness N  for sanitizers: do less, and allow N times as long

The clients are redis-cli, redis-benchmark and python3-redis. redis-server gives the expected answers.
"""
import argparse
import importlib.util
import os
import resource
import shutil
import sys
import time
import traceback

sys.dont_write_bytecode = True  # the source tree stays clean

import differences  # noqa: E402
from harness import FILES, notes, settings, tests  # noqa: E402
from servers import broker, redis_server  # noqa: E402

SKIPPED = 77  # Meson's exit status for "skipped"
GROUPS = ["commands", "protocol", "blocking", "histories", "expiry", "crowd", "load", "limits",
          "stopping", "journal", "monitor"]


def missing():
    tools = [tool for tool in ("redis-server", "redis-cli", "redis-benchmark")
             if shutil.which(tool) is None]
    if importlib.util.find_spec("redis") is None:
        tools.append("python3-redis")
    return tools


def raise_limit():
    """Raises the limit on descriptors to what the crowd needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    return True


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("broker")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--slowness", type=int, default=1)
    arguments = parser.parse_intermixed_args()
    settings.broker = os.path.abspath(arguments.broker)
    settings.threads = arguments.threads
    settings.alone = arguments.alone
    settings.strict = arguments.strict
    settings.slowness = arguments.slowness
    return set(arguments.names)


def run_on(server, function):
    with server:
        answers = function(server)
        server.finish()
    return answers


def run(test):
    """Runs a test with fresh servers, and returns a line for each difference."""
    is_compared = test.is_compared and not settings.alone
    expected = run_on(redis_server(), test.function) if is_compared else None
    answers = run_on(broker(*test.options), test.function)
    return differences.explain(test.name, expected, answers) if is_compared else []


def attempt(test):
    """Runs a test, prints its result, and returns whether it passes."""
    began = time.monotonic()
    differing = []
    try:
        differing = run(test)
        failure = None
    except AssertionError as fault:
        failure = str(fault)
    except Exception:  # an error in the test fails only this test
        failure = traceback.format_exc()
    if failure is None:
        print(f"ok {test.name} ({time.monotonic() - began:.1f} s)")
    else:
        print(f"FAIL {test.name}: {failure}")
    for line in notes:
        print(f"   {line}")
    notes.clear()
    for line in differing:
        print(f"   differs: {line}")
    sys.stdout.flush()
    return failure is None


def main():
    names = parse_arguments()
    lacking = missing()
    if lacking:
        print(f"skipped: not installed: {' '.join(lacking)}")
        return SKIPPED
    if not raise_limit():
        print(f"skipped: not allowed to open {FILES} files")
        return SKIPPED
    for group in GROUPS:
        importlib.import_module(group)
    chosen = [test for test in tests if not names or test.group in names or test.name in names]
    passed = sum(map(attempt, chosen))
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
