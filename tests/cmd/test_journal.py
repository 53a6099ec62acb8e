# SPDX-License-Identifier: MIT
"""End-to-end tests of `htw journal`: test_journal.py PROGRAM [NAME...]. As test_delay.py."""
import sys

sys.dont_write_bytecode = True  # the source tree stays clean

import journal_command  # noqa: E402, F401: importing it collects its tests
from harness import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
