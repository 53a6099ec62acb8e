// SPDX-License-Identifier: MIT

/**
 * One thread schedules as fast as it can, and all timers fire. What the peer cannot keep up with
 * piles up, and is waited for afterwards.
 */
final class Headline implements Workload {
    private static final int WARMUP_TIMERS_PER_MS = 500; // which every peer can keep up with
    private static final int READ_CLOCK_EVERY = 1000;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Delays delays = new Delays(1, 1_000_000, 1_000_000_000);
        Firing warmup = new Firing();
        long warm = Pace.keep(peer, warmup, delays, WARMUP_TIMERS_PER_MS, options.warmup);
        warmup.await(warm, System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS));

        Firing firing = new Firing();
        long cpuBefore = Machine.cpuNs();
        long start = System.nanoTime();
        long scheduled = 0;
        while (System.nanoTime() - start < Clock.nanoseconds(options.seconds)) {
            schedule(peer, firing, delays);
            scheduled += READ_CLOCK_EVERY;
        }
        long fired = firing.fired();
        long stop = System.nanoTime();
        boolean drained = firing.await(scheduled, stop + Clock.nanoseconds(PATIENCE_SECONDS));
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
            report.line("unfired", scheduled - firing.fired());
        }
        report.line("cpu_ns_per_timer", (double) cpuNs / firing.fired());
        report.percentiles("lateness", firing.lateness);
        report.line("early", firing.lateness.early());
    }

    private static void schedule(Peer peer, Firing firing, Delays delays) {
        for (int i = 0; i < READ_CLOCK_EVERY; i++)
            firing.schedule(peer, delays.nextNs());
    }
}
