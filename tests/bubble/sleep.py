# SPDX-License-Identifier: MIT
"""Threads of Python that sleep for up to 30 days, are joined, and wait with a timeout: prints the seconds that have passed."""
import threading
import time

began = time.monotonic()
threads = [threading.Thread(target=time.sleep, args=(day * 24 * 3600,)) for day in range(31)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(threading.Event().wait(60), int(time.monotonic() - began))
