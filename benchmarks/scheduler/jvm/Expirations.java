// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;

/** How many timers have fired, and how late. Only the thread of the timer writes here. */
final class Expirations {
    private static final long PERIOD_NS = 1_000_000;

    final Histogram lateness = new Histogram();
    private final AtomicLong fired = new AtomicLong();

    long fired() {
        return fired.get();
    }

    /** Schedules a timer that is counted here. Its delay counts from before the call. */
    void schedule(Peer peer, long delayNs) {
        peer.schedule(new Timer(this, System.nanoTime() + delayNs), delayNs);
    }

    /** Schedules so many timers each millisecond, and catches up if it is late. Returns how many. */
    long keepPace(Peer peer, Delays delays, int timersPerMs, double seconds) {
        long periods = Clock.nanoseconds(seconds) / PERIOD_NS;
        long start = System.nanoTime();
        for (long i = 0; i < periods; i++) {
            Clock.sleepUntil(start + i * PERIOD_NS);
            for (int j = 0; j < timersPerMs; j++)
                schedule(peer, delays.nextNs());
        }
        Clock.sleepUntil(start + periods * PERIOD_NS);
        return periods * timersPerMs;
    }

    /** Waits until so many have fired. Returns false if they have not by the deadline. */
    boolean await(long count, long deadlineNs) {
        while (fired() < count) {
            long now = System.nanoTime();
            if (now - deadlineNs >= 0)
                return false;
            Clock.sleepUntil(now + 1_000_000);
        }
        return true;
    }

    /** Ends the process if more timers have fired than were scheduled. */
    void check(long scheduled) {
        if (fired() > scheduled)
            Bench.fail(scheduled + " timers were scheduled, and " + fired() + " fired");
    }

    private static final class Timer extends Task {
        private final Expirations expirations;
        private final long deadlineNs;

        Timer(Expirations expirations, long deadlineNs) {
            this.expirations = expirations;
            this.deadlineNs = deadlineNs;
        }

        @Override
        public void run() {
            expirations.lateness.record(System.nanoTime() - deadlineNs);
            expirations.fired.lazySet(expirations.fired.get() + 1);
        }
    }
}
