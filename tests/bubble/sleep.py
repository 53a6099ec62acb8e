# SPDX-License-Identifier: MIT
"""Threads of Python that sleep, wait with a timeout, pass things and are joined: prints the seconds that have passed."""
import queue
import threading
import time

began = time.monotonic()
passed = queue.Queue()


def sleep_for_days():
    for hour in range(30 * 24):
        time.sleep(3600)
        passed.put(hour)


sleeper = threading.Thread(target=sleep_for_days)
sleeper.start()
hours = [passed.get(timeout=7200) for _ in range(30 * 24)]
sleeper.join()
print(len(hours), threading.Event().wait(60), int(time.monotonic() - began))
