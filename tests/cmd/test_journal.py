# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw delay --journal` and `htw journal`: test_journal.py PROGRAM [NAME...]

As test_delay.py. Processes are killed at random moments; a failing test prints its seed.
"""
import sys

sys.dont_write_bytecode = True  # the source tree stays clean

import delay_journal  # noqa: E402, F401: importing them collects their tests
import delay_journal_faults  # noqa: E402, F401
import journal_command  # noqa: E402, F401
from harness import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
