// SPDX-License-Identifier: MIT

/** 100 000 timers a second, all of which fire: how late they are, and what they cost. */
final class Lateness implements Workload {
    private static final int TIMERS_PER_MS = 100;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Delays delays = new Delays(1, 1_000_000, 1_000_000_000);
        new Expirations().keepPace(peer, delays, TIMERS_PER_MS, options.warmup);

        Expirations expirations = new Expirations(); // those of the warm-up do not count
        long cpuBefore = Machine.cpuNs();
        long timers = expirations.keepPace(peer, delays, TIMERS_PER_MS, options.seconds);
        long cpuNs = Machine.cpuNs() - cpuBefore;
        long patience = System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS);
        if (!expirations.await(timers, patience))
            report.line("unfired", timers - expirations.fired());
        report.percentiles("lateness", expirations.lateness);
        report.line("early", expirations.lateness.early());
        report.line("cpu_ns_per_timer", (double) cpuNs / timers);
        expirations.check(timers);
    }
}
