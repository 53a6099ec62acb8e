// SPDX-License-Identifier: MIT

/** Schedules so many timers each millisecond, by the clock: whoever is late catches up. */
final class Pace {
    private static final long PERIOD_NS = 1_000_000;

    /** Returns how many timers were scheduled. */
    static long keep(Peer peer, Firing firing, Delays delays, int timersPerMs, double seconds) {
        long periods = Clock.nanoseconds(seconds) / PERIOD_NS;
        long start = System.nanoTime();
        for (long i = 0; i < periods; i++) {
            Clock.sleepUntil(start + i * PERIOD_NS);
            for (int j = 0; j < timersPerMs; j++)
                firing.schedule(peer, delays.nextNs());
        }
        Clock.sleepUntil(start + periods * PERIOD_NS);
        return periods * timersPerMs;
    }

    private Pace() {
    }
}
