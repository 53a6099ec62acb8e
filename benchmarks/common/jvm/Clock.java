// SPDX-License-Identifier: MIT

import java.util.concurrent.locks.LockSupport;

/** Sleeps until an instant of System.nanoTime(). */
final class Clock {
    static void sleepUntil(long instantNs) {
        for (;;) {
            long left = instantNs - System.nanoTime();
            if (left <= 0)
                return;
            LockSupport.parkNanos(left);
        }
    }

    static long nanoseconds(double seconds) {
        return (long) (seconds * 1e9);
    }
}
