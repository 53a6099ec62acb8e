// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;

/** Timers that fire: how many have, and how late. Written by the timer's thread alone. */
final class Firing {
    final Histogram lateness = new Histogram();
    private final AtomicLong fired = new AtomicLong();

    long fired() {
        return fired.get();
    }

    /** Schedules a timer that reports here; its delay counts from before the call. */
    void schedule(Peer peer, long delayNs) {
        peer.schedule(new Timer(this, System.nanoTime() + delayNs), delayNs);
    }

    /** Waits until so many have fired; false when that is not by the deadline. */
    boolean await(long count, long deadlineNs) {
        while (fired() < count) {
            long now = System.nanoTime();
            if (now - deadlineNs >= 0)
                return false;
            Clock.sleepUntil(now + 1_000_000);
        }
        return true;
    }

    private static final class Timer extends Task {
        private final Firing firing;
        private final long deadlineNs;

        Timer(Firing firing, long deadlineNs) {
            this.firing = firing;
            this.deadlineNs = deadlineNs;
        }

        @Override
        public void run() {
            firing.lateness.record(System.nanoTime() - deadlineNs);
            firing.fired.lazySet(firing.fired.get() + 1);
        }
    }
}
