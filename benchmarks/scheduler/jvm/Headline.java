// SPDX-License-Identifier: MIT

/**
 * One thread schedules as fast as it can, and all timers fire. The workload waits for the backlog
 * of the peer afterwards.
 */
final class Headline implements Workload {
    private static final int WARMUP_TIMERS_PER_MS = 500; // every peer can sustain this
    private static final int READ_CLOCK_EVERY = 1000;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Delays delays = new Delays(1, 1_000_000, 1_000_000_000);
        Expirations warmup = new Expirations();
        long warm = warmup.keepPace(peer, delays, WARMUP_TIMERS_PER_MS, options.warmup);
        warmup.await(warm, System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS));

        Expirations expirations = new Expirations();
        long cpuBefore = Machine.cpuNs();
        long start = System.nanoTime();
        long scheduled = 0;
        while (System.nanoTime() - start < Clock.nanoseconds(options.seconds)) {
            schedule(peer, expirations, delays);
            scheduled += READ_CLOCK_EVERY;
        }
        long fired = expirations.fired();
        long stop = System.nanoTime();
        boolean drained = expirations.await(scheduled, stop + Clock.nanoseconds(PATIENCE_SECONDS));
        double drainSeconds = (System.nanoTime() - stop) / 1e9;
        long cpuNs = Machine.cpuNs() - cpuBefore;
        double seconds = (stop - start) / 1e9;
        report.line("scheduled_per_s", scheduled / seconds);
        report.line("fired_per_s", fired / seconds);
        report.line("backlog_at_end", scheduled - fired);
        if (drained) {
            report.line("drain_s", drainSeconds);
        } else {
            report.line("drain_given_up_after_s", drainSeconds);
            report.line("unfired", scheduled - expirations.fired());
        }
        report.line("cpu_ns_per_timer", (double) cpuNs / expirations.fired());
        report.percentiles("lateness", expirations.lateness);
        report.line("early", expirations.lateness.early());
        expirations.check(scheduled);
    }

    private static void schedule(Peer peer, Expirations expirations, Delays delays) {
        for (int i = 0; i < READ_CLOCK_EVERY; i++)
            expirations.schedule(peer, delays.nextNs());
    }
}
