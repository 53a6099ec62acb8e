// SPDX-License-Identifier: MIT

/** 100 000 timers a second, all of which fire: how late, and at what price. */
final class Lateness implements Workload {
    private static final int TIMERS_PER_MS = 100;
    private static final double PATIENCE_SECONDS = 60;

    @Override
    public void run(Options options, Peer peer, Report report) {
        Delays delays = new Delays(1, 1_000_000, 1_000_000_000);
        Pace.keep(peer, new Firing(), delays, TIMERS_PER_MS, options.warmup);

        Firing firing = new Firing(); // those of the warm-up still report to the other one
        long cpuBefore = Machine.cpuNs();
        long timers = Pace.keep(peer, firing, delays, TIMERS_PER_MS, options.seconds);
        long cpuNs = Machine.cpuNs() - cpuBefore;
        long patience = System.nanoTime() + Clock.nanoseconds(PATIENCE_SECONDS);
        if (!firing.await(timers, patience))
            report.line("unfired", timers - firing.fired());
        report.percentiles("lateness", firing.lateness);
        report.line("early", firing.lateness.early());
        report.line("cpu_ns_per_timer", (double) cpuNs / timers);
    }
}
