# SPDX-License-Identifier: MIT
"""End-to-end tests of htw serve: test_serve.py PROGRAM [OPTION]... [GROUP|TEST]...

PROGRAM is htw, or beanstalkd: then beanstalkd is compared with itself, which must be silent.

  --clock FILE   strict_clock.so, without which beanstalkd loses the end of a lease now and then
  --faults FILE  faults.so, with which calls of htw serve fail, and its clock is set
  --seed N       of the first random history
  --histories N  that run side by side
  --rounds N     of random histories
  --replay JSON  the steps of one history, as a failure prints them
  --kills N      of the server under load
  --peers DIR    where fetched libraries are kept (default: nowhere)
  --verbose      count the answers
  --strict       for a quiet machine: differences that do not show again are failures
  --slowness N   for sanitizers: do less, and allow N times as long

beanstalkd gives the expected answers.
"""
import argparse
import importlib
import os
import resource
import shutil
import sys
import time
import traceback

sys.dont_write_bytecode = True  # the source tree stays clean

import differences  # noqa: E402
from harness import FILES, Skipped, notes, settings, tests  # noqa: E402
from servers import beanstalkd, htw_serve  # noqa: E402

SKIPPED = 77  # Meson's exit status for "skipped"
GROUPS = ["protocol", "blocking", "crowd", "histories", "planted", "limits", "stopping", "failures", "kills", "suites", "guide"]
LONG = ["suites"]  # only where they are named


def raise_limit():
    """Raises the limit on descriptors to what the crowd needs."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    return True


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("serve")
    parser.add_argument("names", nargs="*")
    for option in ("--seed", "--histories", "--rounds", "--kills", "--slowness"):
        parser.add_argument(option, type=int, default=getattr(settings, option[2:]))
    for option in ("--clock", "--faults", "--replay", "--peers"):
        parser.add_argument(option, default=getattr(settings, option[2:]))
    for option in ("--verbose", "--strict"):
        parser.add_argument(option, action="store_true")
    arguments = parser.parse_intermixed_args()
    vars(settings).update(vars(arguments))
    settings.serve = os.path.abspath(shutil.which(settings.serve) or settings.serve)
    settings.histories = max(1, settings.histories // settings.slowness)
    return set(arguments.names)


def run_on(server, function):
    with server:
        answers = function(server)
        server.finish()
    return answers


def run(test):
    """Runs a test with fresh servers, and returns a line for each difference that is accepted."""
    if test.kind == "own":
        run_on(htw_serve(*test.options), test.function)
        return []
    if test.kind in ("paired", "twins"):
        with beanstalkd() as first, (htw_serve() if test.kind == "paired" else beanstalkd()) as second:
            test.function(first, second)
            second.finish()
        return []
    expected = run_on(beanstalkd(), test.function)
    return differences.explain(expected, run_on(htw_serve(*test.options), test.function))


def attempt(test):
    """Runs a test, prints its result, and returns whether it passes; None: it was skipped."""
    began = time.monotonic()
    differing, word, failure = [], "ok", ""
    try:
        differing = run(test)
    except Skipped as reason:
        word, failure = "skipped", f": {reason}"
    except AssertionError as fault:
        word, failure = "FAIL", f": {fault}"
    except Exception:  # an error in the test fails only this test
        word, failure = "FAIL", f": {traceback.format_exc()}"
    print(f"{word} {test.name} ({time.monotonic() - began:.1f} s){failure}")
    for line in notes:
        print(f"   {line}")
    notes.clear()
    for line in differing:
        print(f"   {line}")
    sys.stdout.flush()
    return {"ok": True, "FAIL": False, "skipped": None}[word]


def main():
    names = parse_arguments()
    if shutil.which("beanstalkd") is None:
        print("skipped: not installed: beanstalkd")
        return SKIPPED
    if not raise_limit():
        print(f"skipped: not allowed to open {FILES} files")
        return SKIPPED
    for group in GROUPS:
        importlib.import_module(group)
    own = not settings.serve.endswith("beanstalkd")
    chosen = [test for test in tests if (own or test.kind != "own") and
              (test.group in names or test.name in names or not names and test.group not in LONG)]
    results = [attempt(test) for test in chosen]
    failed = results.count(False)
    print(f"{results.count(True)} passed, {failed} failed, {results.count(None)} skipped")
    return 0 if results and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
