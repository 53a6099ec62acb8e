// SPDX-License-Identifier: MIT

/**
 * A million timers fall due within a millisecond, while another thread, the bystander, keeps
 * scheduling and cancelling: how long do its calls take?
 */
final class Stall implements Workload {
    private static final int BURST = 1_000_000;
    private static final int WARMUP_BURST = 100_000;
    private static final long AHEAD_NS = 3_000_000_000L;
    /** The second that is looked at begins so long before the burst. */
    private static final long BEFORE_NS = 100_000_000;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Bystander bystander = new Bystander(peer);
        bystander.setDaemon(true);
        bystander.start();
        burst(peer, WARMUP_BURST);

        long due = System.nanoTime() + AHEAD_NS;
        Firing firing = schedule(peer, BURST, due);
        report.line("filled_before_burst_ms", (due - System.nanoTime()) / 1e6);
        Clock.sleepUntil(due - BEFORE_NS);
        Histogram calls = new Histogram();
        bystander.recordTo(calls);
        Clock.sleepUntil(due - BEFORE_NS + 1_000_000_000L);
        long firedInWindow = firing.fired();
        bystander.recordTo(new Histogram());
        report.percentiles("schedule", calls);
        report.line("fired_in_window", firedInWindow);
        if (firing.await(BURST, System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS)))
            report.line("last_fired_late_ms", firing.lateness.maxNs() / 1e6);
        else
            report.line("unfired", BURST - firing.fired());
    }

    private static void burst(Peer peer, int timers) {
        Firing firing = schedule(peer, timers, System.nanoTime() + AHEAD_NS / 3);
        firing.await(timers, System.nanoTime() + AHEAD_NS);
    }

    /** All due within a millisecond, whatever their number. */
    private static Firing schedule(Peer peer, int timers, long due) {
        Firing firing = new Firing();
        for (long i = 0; i < timers; i++)
            firing.schedule(peer, due + i * 1_000_000 / timers - System.nanoTime());
        return firing;
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

        /** Where the duration of calls goes from now on; nothing goes elsewhere afterwards. */
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
