// SPDX-License-Identifier: MIT

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** 10 000 requests a second for which no event comes: how late they expire. */
final class PurgatoryExpire {
    private static final int KEYS = 1000;
    private static final long PERIOD_NS = 1_000_000;
    private static final int REQUESTS_A_PERIOD = 10;
    private static final int SHORTEST_MS = 1;
    private static final int LONGEST_MS = 200;
    private static final long PATIENCE_NS = 5_000_000_000L;

    private static Histogram histogram;
    private static final AtomicLong EXPIRED = new AtomicLong(); // written by the timer's thread

    static void run(PurgatoryOptions options, Report report) {
        DelayedOperationPurgatory<Waiter> purgatory = new DelayedOperationPurgatory<>("bench", 0);
        Key[] keys = Key.create(KEYS);
        histogram = new Histogram();
        long warm = submit(purgatory, keys, options.warmup);
        await(warm);
        histogram = new Histogram();
        long cpu = Machine.cpuNs();
        long measured = submit(purgatory, keys, options.seconds);
        await(warm + measured);
        cpu = Machine.cpuNs() - cpu;
        report.percentiles("late", histogram);
        report.line("early", histogram.early());
        report.line("cpu_ns_per_operation", (double) cpu / measured);
    }

    private static long submit(DelayedOperationPurgatory<Waiter> purgatory, Key[] keys,
                               double seconds) {
        SplittableRandom random = new SplittableRandom(1);
        long periods = Clock.nanoseconds(seconds) / PERIOD_NS;
        long start = System.nanoTime();
        for (long i = 0; i < periods; i++) {
            Clock.sleepUntil(start + i * PERIOD_NS);
            for (int j = 0; j < REQUESTS_A_PERIOD; j++)
                purgatory.tryCompleteElseWatch(
                    new Waiter(SHORTEST_MS + random.nextInt(LONGEST_MS - SHORTEST_MS + 1)),
                    List.of(keys[random.nextInt(KEYS)], keys[random.nextInt(KEYS)]));
        }
        return periods * REQUESTS_A_PERIOD;
    }

    private static void await(long count) {
        long patience = System.nanoTime() + PATIENCE_NS;
        while (EXPIRED.get() < count) {
            if (System.nanoTime() > patience)
                Bench.fail(count - EXPIRED.get() + " requests have not expired");
            Clock.sleepUntil(System.nanoTime() + PERIOD_NS);
        }
    }

    private static final class Waiter extends Operation {
        private final long deadlineNs;

        Waiter(long timeoutMs) {
            super(timeoutMs);
            deadlineNs = System.nanoTime() + timeoutMs * 1_000_000;
        }

        @Override
        public void onExpiration() {
            histogram.record(System.nanoTime() - deadlineNs);
            EXPIRED.lazySet(EXPIRED.get() + 1);
        }
    }
}
