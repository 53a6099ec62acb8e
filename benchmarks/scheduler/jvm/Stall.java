// SPDX-License-Identifier: MIT

/**
 * A million timers fall due within a millisecond, while another thread, the bystander, schedules
 * and cancels: how long its calls take.
 */
final class Stall implements Workload {
    private static final int BURST = 1_000_000;
    private static final int WARMUP_BURST = 100_000;
    private static final long AHEAD_NS = 3_000_000_000L;
    /** The measured second starts so long before the burst. */
    private static final long BEFORE_NS = 100_000_000;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Bystander bystander = new Bystander(peer);
        bystander.setDaemon(true);
        bystander.start();
        burst(peer, WARMUP_BURST);

        long due = System.nanoTime() + AHEAD_NS;
        Expirations expirations = schedule(peer, BURST, due);
        Clock.sleepUntil(due - BEFORE_NS);
        Histogram calls = new Histogram();
        bystander.recordTo(calls);
        Clock.sleepUntil(due - BEFORE_NS + 1_000_000_000L);
        bystander.recordTo(new Histogram());
        report.percentiles("schedule", calls);
        if (expirations.await(BURST, System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS))) {
            report.line("last_fired_late_ms", expirations.lateness.maxNs() / 1e6);
            report.line("early", expirations.lateness.early());
        } else {
            report.line("unfired", BURST - expirations.fired());
        }
        expirations.check(BURST);
    }

    private static void burst(Peer peer, int timers) {
        Expirations expirations = schedule(peer, timers, System.nanoTime() + AHEAD_NS / 3);
        expirations.await(timers, System.nanoTime() + AHEAD_NS);
    }

    /** All fall due within a millisecond. */
    private static Expirations schedule(Peer peer, int timers, long due) {
        Expirations expirations = new Expirations();
        for (long i = 0; i < timers; i++)
            expirations.schedule(peer, due + i * 1_000_000 / timers - System.nanoTime());
        return expirations;
    }

    private static final class Bystander extends Thread {
        private static final int LAG = 1000;
        private static final long DELAY_NS = 30_000_000_000L;

        private final Peer peer;
        private volatile Histogram calls = new Histogram();
        private volatile long laps;
        private final Task task = new NoTask();
        private final Object[] handles = new Object[LAG];

        Bystander(Peer peer) {
            super("bystander");
            this.peer = peer;
        }

        @Override
        public void run() {
            for (int i = 0; i < LAG; i++)
                handles[i] = peer.schedule(task, DELAY_NS);
            for (;;) {
                lap(calls);
                laps++;
            }
        }

        /** When this returns, the bystander has stopped recording anywhere else. */
        void recordTo(Histogram histogram) {
            calls = histogram;
            long seen = laps;
            while (laps == seen)
                Clock.sleepUntil(System.nanoTime() + 1_000_000);
        }

        private void lap(Histogram histogram) {
            for (int i = 0; i < LAG; i++) {
                Object oldest = handles[i];
                long before = System.nanoTime();
                handles[i] = peer.schedule(task, DELAY_NS);
                histogram.record(System.nanoTime() - before);
                peer.cancel(oldest);
            }
        }
    }
}
