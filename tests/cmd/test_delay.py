# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw delay`, and of `htw` itself: test_delay.py PROGRAM [NAME...]

Each test is a function `delay_<condition>_<outcome>`; they run on a few threads, since most
of them wait. Machines are shared: a test asserts that nothing comes early, and that what
should come does come within a time that only a fault exceeds.
"""
import sys

sys.dont_write_bytecode = True  # the source tree stays clean

import delay_failures  # noqa: E402, F401: importing them collects their tests
import delay_modes  # noqa: E402, F401
import delay_records  # noqa: E402, F401
import delay_signals  # noqa: E402, F401
import delay_saving  # noqa: E402, F401
import delay_time  # noqa: E402, F401
import htw_itself  # noqa: E402, F401
from harness import main  # noqa: E402


if __name__ == "__main__":
    sys.exit(main())
