// SPDX-License-Identifier: MIT

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** An operation submits a request, and completes the oldest one by an event on one of its keys. */
final class PurgatoryPair {
    private static final long TIMEOUT_MS = 30_000;
    private static final int LAP = 1000;
    private static final long PATIENCE_NS = 5_000_000_000L;

    private enum Phase { WARMING, MEASURING, STOPPING }

    private static volatile Phase phase = Phase.WARMING;

    static void run(PurgatoryOptions options, Report report) throws InterruptedException {
        DelayedOperationPurgatory<Waiter> purgatory = new DelayedOperationPurgatory<>("bench", 0);
        Key[] keys = Key.create(options.keys * (options.ownKeys ? options.threads : 1));
        Submitter[] submitters = new Submitter[options.threads];
        for (int i = 0; i < options.threads; i++) {
            submitters[i] = new Submitter(options, purgatory, keys, i);
            submitters[i].start();
        }
        Clock.sleepUntil(System.nanoTime() + Clock.nanoseconds(options.warmup));
        phase = Phase.MEASURING;
        long before = operations(submitters);
        long start = System.nanoTime();
        long cpuBefore = Machine.cpuNs();
        long end = start + Clock.nanoseconds(options.seconds);
        do
            Clock.sleepUntil(Math.max(end, System.nanoTime() + 1_000_000));
        while (operations(submitters) - before < 2L * LAP * options.threads);
        long done = operations(submitters) - before;
        long cpu = Machine.cpuNs() - cpuBefore;
        double seconds = (System.nanoTime() - start) / 1e9;
        phase = Phase.STOPPING;
        report.line("operations_per_s", done / seconds);
        report.line("cpu_ns_per_operation", (double) cpu / done);
        long[] laps = new long[0];
        for (Submitter submitter : submitters) {
            submitter.join();
            laps = submitter.lapsAnd(laps);
        }
        java.util.Arrays.sort(laps);
        if (laps.length > 0)
            report.line("ns_per_operation_p50", (double) laps[laps.length / 2] / LAP);
        awaitCompletion(submitters);
    }

    /** An event of another thread may complete it some time later. */
    private static void awaitCompletion(Submitter[] submitters) {
        long patience = System.nanoTime() + PATIENCE_NS;
        for (Submitter submitter : submitters) {
            for (Waiter waiter : submitter.pending) {
                while (waiter != null && !waiter.isCompleted()) {
                    if (System.nanoTime() > patience)
                        Bench.fail("a request has not completed");
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static long operations(Submitter[] submitters) {
        long sum = 0;
        for (Submitter submitter : submitters)
            sum += submitter.operations.get();
        return sum;
    }

    private static final class Waiter extends Operation {
        final Key key;

        Waiter(Key key) {
            super(TIMEOUT_MS);
            this.key = key;
        }
    }

    private static final class Submitter extends Thread {
        final AtomicLong operations = new AtomicLong();
        final Waiter[] pending;
        private final PurgatoryOptions options;
        private final DelayedOperationPurgatory<Waiter> purgatory;
        private final Key[] keys;
        private final int firstKey;
        private final SplittableRandom random;
        private final long[] laps = new long[1 << 20];
        private int lapCount;
        private int oldest;

        Submitter(PurgatoryOptions options, DelayedOperationPurgatory<Waiter> purgatory, Key[] keys,
                  int number) {
            super("submitter-" + number);
            this.options = options;
            this.purgatory = purgatory;
            this.keys = keys;
            firstKey = options.ownKeys ? number * options.keys : 0;
            random = new SplittableRandom(number);
            pending = new Waiter[Math.max(1, options.requests / options.threads)];
        }

        @Override
        public void run() {
            for (int i = 0; i < pending.length; i++)
                pending[i] = submit();
            long before = System.nanoTime();
            for (Phase now = phase; now != Phase.STOPPING; now = phase) {
                lap();
                long after = System.nanoTime();
                if (now == Phase.MEASURING && lapCount < laps.length)
                    laps[lapCount++] = after - before;
                before = after;
            }
            for (Waiter waiter : pending)
                complete(waiter);
        }

        long[] lapsAnd(long[] others) {
            long[] all = java.util.Arrays.copyOf(others, others.length + lapCount);
            System.arraycopy(laps, 0, all, others.length, lapCount);
            return all;
        }

        private void lap() {
            for (int i = 0; i < LAP; i++) {
                Waiter newest = submit();
                Waiter waiter = pending[oldest];
                pending[oldest] = newest;
                oldest = oldest + 1 == pending.length ? 0 : oldest + 1;
                complete(waiter);
            }
            operations.lazySet(operations.get() + LAP);
        }

        private Waiter submit() {
            Key first = draw();
            Waiter waiter = new Waiter(first);
            List<Key> on;
            if (options.perRequest == 1) {
                on = List.of(first);
            } else if (options.perRequest == 2) {
                on = List.of(draw(), first);
            } else {
                Key[] drawn = new Key[options.perRequest];
                for (int i = 0; i < drawn.length; i++)
                    drawn[i] = i == 0 ? first : draw();
                on = List.of(drawn);
            }
            if (purgatory.tryCompleteElseWatch(waiter, on))
                Bench.fail("a request was not watched");
            return waiter;
        }

        private Key draw() {
            return keys[firstKey + random.nextInt(options.keys)];
        }

        private void complete(Waiter waiter) {
            waiter.ready = true;
            int completed = purgatory.checkAndComplete(waiter.key);
            if (options.threads == 1 && completed != 1)
                Bench.fail("an event has completed " + completed + " requests");
        }
    }
}
