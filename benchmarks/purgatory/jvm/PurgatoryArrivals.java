// SPDX-License-Identifier: MIT

import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/**
 * The shape of Kafka's own purgatory benchmark; see arrivals.c, which finds the
 * rate in the same way.
 */
final class PurgatoryArrivals {
    private static final int KEYS = 100;
    private static final double TOO_FAST = 1e8;
    private static final double COMMON_RATE = 200e3;
    private static final double STEP_DOWN = 0.95;
    private static final double LOWEST = 0.4;
    private static final double LATE_NS = 10e6;
    private static final double GROWTH_NS = 2e6;
    private static final long PATIENCE_NS = 5_000_000_000L;

    private static final class Outcome {
        double servedPerS;
        double cpuNs;
        boolean sustained = true;
        long submitted;
        long expired;
    }

    private final PurgatoryOptions options;
    private final Report report;
    private final DelayedOperationPurgatory<Driver.Arrival> purgatory =
        new DelayedOperationPurgatory<>("bench", 0);
    private final Key[] keys = Key.create(KEYS);
    private final Samples samples = new Samples();

    static void run(PurgatoryOptions options, Report report) throws InterruptedException {
        new PurgatoryArrivals(options, report).run();
    }

    private PurgatoryArrivals(PurgatoryOptions options, Report report) {
        this.options = options;
        this.report = report;
    }

    private void run() throws InterruptedException {
        tryRate(COMMON_RATE, options.warmup);
        tryRate(TOO_FAST, options.warmup / 2);
        report.line("cpu_ns_per_operation_at_200k", tryRate(COMMON_RATE, options.seconds).cpuNs);
        Outcome most = tryRate(TOO_FAST, options.seconds);
        report.line("served_per_s_at_most", most.servedPerS);
        double rate = most.servedPerS;
        for (; rate >= most.servedPerS * LOWEST; rate *= STEP_DOWN) {
            Outcome outcome = tryRate(rate, options.seconds);
            if (outcome.sustained) {
                report.line("sustained_per_s", outcome.servedPerS);
                report.line("cpu_ns_per_operation", outcome.cpuNs);
                report.line("expired_percent", 100.0 * outcome.expired / outcome.submitted);
                return;
            }
        }
        report.line("not_sustained_per_s", rate);
    }

    private Outcome tryRate(double rate, double seconds) throws InterruptedException {
        Driver[] drivers = new Driver[options.threads];
        long cpu = Machine.cpuNs();
        long start = System.nanoTime();
        for (int i = 0; i < drivers.length; i++) {
            drivers[i] = new Driver(purgatory, keys, samples, rate / drivers.length, start,
                Clock.nanoseconds(seconds), i);
            drivers[i].start();
        }
        Outcome outcome = new Outcome();
        for (Driver driver : drivers) {
            driver.join();
            awaitExpired(driver);
            outcome.submitted += driver.submitted;
            outcome.expired += driver.expired.get();
            outcome.servedPerS += driver.submitted / (driver.submittingNs / 1e9);
            if (driver.endLateNs > LATE_NS || driver.endLateNs > driver.halfLateNs + GROWTH_NS)
                outcome.sustained = false;
        }
        outcome.cpuNs = (double) (Machine.cpuNs() - cpu) / outcome.submitted;
        return outcome;
    }

    private static void awaitExpired(Driver driver) {
        long patience = System.nanoTime() + PATIENCE_NS;
        while (driver.completed + driver.expired.get() != driver.submitted) {
            if (System.nanoTime() > patience)
                Bench.fail("of " + driver.submitted + " requests " + driver.completed
                    + " completed and " + driver.expired.get() + " expired");
            Clock.sleepUntil(System.nanoTime() + 1_000_000);
        }
    }
}
