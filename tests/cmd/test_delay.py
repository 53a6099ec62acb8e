# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw delay`: test_delay.py PROGRAM [NAME...]

Each test is a function `delay_<condition>_<outcome>`; they run on a few threads, since most
of them wait. Machines are shared: a test asserts that nothing comes early, and that what
should come does come within a time that only a fault exceeds.
"""
import concurrent.futures
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True  # the source tree stays clean

import delay_failures  # noqa: E402, F401: importing them collects their tests
import delay_modes  # noqa: E402, F401
import delay_records  # noqa: E402, F401
import delay_signals  # noqa: E402, F401
import delay_saving  # noqa: E402, F401
import delay_time  # noqa: E402, F401
from harness import tests  # noqa: E402


def attempt(function):
    try:
        if function.__code__.co_argcount == 0:
            function()
        else:
            with tempfile.TemporaryDirectory() as directory:
                function(directory)
        return None
    except AssertionError as failure:
        return str(failure)
    except Exception:  # a fault of the test is a failed test, not the end of all
        return traceback.format_exc()


def main():
    chosen = [t for t in tests if len(sys.argv) < 3 or t.__name__ in sys.argv[2:]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for function, why in zip(chosen, pool.map(attempt, chosen)):
            if why is None:
                print("ok", function.__name__, flush=True)
            else:
                failed += 1
                print(f"FAIL {function.__name__}: {why}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
