// SPDX-License-Identifier: MIT

import java.util.List;
import java.util.function.LongSupplier;

/**
 * The measured time of a workload whose threads never stop: reads what they have done, and what the
 * process has cost, at its start and at its end.
 */
final class Window {
    private static final long SAMPLE_NS = 10_000_000;
    private static final long PATIENCE_NS = 5_000_000_000L;

    private static volatile boolean stopping;

    /** Sleeps for the warm-up and the measured time, then reports pairs. */
    static void measurePairs(Options options, Peer peer, Report report, LongSupplier pairs) {
        Clock.sleepUntil(System.nanoTime() + Clock.nanoseconds(options.warmup));
        long pairsBefore = pairs.getAsLong();
        long cpuBefore = Machine.cpuNs();
        long start = System.nanoTime();
        long end = start + Clock.nanoseconds(options.seconds);
        long pendingMax = 0;
        for (long next = start; next < end; next += SAMPLE_NS) {
            Clock.sleepUntil(next);
            pendingMax = Math.max(pendingMax, peer.pending());
        }
        Clock.sleepUntil(end);
        double seconds = (System.nanoTime() - start) / 1e9;
        long cpuNs = Machine.cpuNs() - cpuBefore;
        long done = pairs.getAsLong() - pairsBefore;
        report.line("pairs_per_s", done / seconds);
        report.line("cpu_ns_per_pair", (double) cpuNs / done);
        report.line("pending_max", pendingMax);
    }

    /** Tells the threads of the workload to end, and waits until they have. */
    static void stop(List<? extends Thread> threads) throws InterruptedException {
        stopping = true;
        for (Thread thread : threads)
            thread.join();
    }

    static boolean isStopping() {
        return stopping;
    }

    /** Fails unless each timer was cancelled or has fired, and none is pending. */
    static void check(Peer peer, long scheduled, long cancelled) {
        long patience = System.nanoTime() + PATIENCE_NS;
        while (cancelled + NoTask.FIRED.get() != scheduled || peer.pending() != 0) {
            if (System.nanoTime() > patience)
                Bench.fail("of " + scheduled + " timers " + cancelled + " were cancelled, "
                    + NoTask.FIRED.get() + " fired, " + peer.pending() + " are pending");
            Clock.sleepUntil(System.nanoTime() + SAMPLE_NS);
        }
    }
}
