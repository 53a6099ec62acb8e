# SPDX-License-Identifier: MIT
"""A server whose system calls and allocations fail as a test says, and whose wall clock a test sets (faults.c)."""
import mmap
import struct
import tempfile
import time

import pytest
from harness import settings
from programs import BUILD

AHEAD, SEEN, FIRST, TIMES, ERROR, ROUNDS, THREAD, NAME, SIZE = 0, 8, 16, 24, 32, 40, 48, 56, 80
SHORT = 0  # in place of an error: a part is done; below 0: it takes so many milliseconds
EVER = 1 << 40


class Faults:
    """The plan, in a file that the server maps. The clock is that of the next server, too."""

    def __init__(self, is_needed=True):
        self.works = settings.slowness == 1
        if is_needed and not self.works:
            pytest.skip("a sanitizer has allocations of its own")
        self.file = tempfile.NamedTemporaryFile(prefix="htw-serve-faults-")
        self.file.truncate(SIZE)
        self.page = mmap.mmap(self.file.fileno(), SIZE)
        self.steps = []  # what the clock showed at most before each
        self.environment = {"LD_PRELOAD": str(BUILD / "tests/serve_faults.so"), "HTW_FAULTS": self.file.name, "MALLOC_PERTURB_": "165"} if self.works else {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.page.close()
        self.file.close()

    def get(self, place):
        return struct.unpack_from("q", self.page, place)[0]

    def set(self, place, number):
        struct.pack_into("q", self.page, place, number)

    def plan(self, name, error, first=0, times=1):
        """From the call after `first` others on, `times` calls fail."""
        self.relent()
        struct.pack_into("24s", self.page, NAME, name.encode())
        for place, number in ((SEEN, 0), (FIRST, first), (ERROR, error), (TIMES, times)):
            self.set(place, number)

    def relent(self):
        self.set(TIMES, 0)

    def was_hit(self):
        return self.get(SEEN) > self.get(FIRST)

    # The wall clock

    def now_ns(self):
        return time.time_ns() + self.get(AHEAD)

    def step(self, by_ns):
        self.steps.append(self.now_ns())
        self.set(AHEAD, self.get(AHEAD) + by_ns)

    def most_ns(self, since):
        """What the clock has shown at most since there were so many steps."""
        return max(self.steps[since:] + [self.now_ns()])
