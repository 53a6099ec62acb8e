// SPDX-License-Identifier: MIT

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.server.purgatory.DelayedOperation;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** Submits requests and completes them, step by step; see driver.h. */
final class Driver extends Thread {
    private static final int TIMEOUT_MS = 200;
    private static final int RING = 256;
    private static final int BATCH = 256;
    private static final long STEP_NS = 1_000_000;

    final AtomicLong expired = new AtomicLong();
    long submitted;
    long completed;
    double halfLateNs;
    double endLateNs;
    long submittingNs;

    private final DelayedOperationPurgatory<Arrival> purgatory;
    private final Key[] keys;
    private final Samples samples;
    private final double rate;
    private final long startNs;
    private final long lengthNs;
    private final SplittableRandom random;
    private final Arrival[] ring = new Arrival[RING];
    private long step;
    private double nextNs;

    Driver(DelayedOperationPurgatory<Arrival> purgatory, Key[] keys, Samples samples, double rate,
           long startNs, long lengthNs, int number) {
        super("driver-" + number);
        this.purgatory = purgatory;
        this.keys = keys;
        this.samples = samples;
        this.rate = rate;
        this.startNs = startNs;
        this.lengthNs = lengthNs;
        random = new SplittableRandom(number);
    }

    @Override
    public void run() {
        long since = System.nanoTime() - startNs;
        while (since < lengthNs) {
            endLateNs = lateNs(since);
            if (since < lengthNs / 2)
                halfLateNs = endLateNs;
            serveRing(since);
            serveArrivals(since);
            if (lateNs(since) == 0)
                Clock.sleepUntil(startNs + (step + 1) * STEP_NS);
            since = System.nanoTime() - startNs;
        }
        submittingNs = since;
        long last = since + RING * STEP_NS;
        while (since < last) {
            Clock.sleepUntil(startNs + since + STEP_NS);
            since = System.nanoTime() - startNs;
            serveRing(since);
        }
    }

    private double lateNs(long since) {
        return Math.max(0, since - nextNs);
    }

    private void serveRing(long since) {
        while (step < since / STEP_NS) {
            int place = (int) (++step % RING);
            Arrival arrival = ring[place];
            ring[place] = null;
            while (arrival != null) {
                Arrival next = arrival.next;
                arrival.next = null;
                if (arrival.forceComplete())
                    completed++;
                arrival = next;
            }
        }
    }

    private void serveArrivals(long since) {
        for (int i = 0; i < BATCH && nextNs <= since; i++) {
            long draw = random.nextLong();
            nextNs += samples.interval(draw) * 1e9 / rate;
            arrive(samples.latencyMs(draw));
        }
    }

    private void arrive(int latencyMs) {
        Arrival arrival = new Arrival(expired);
        if (latencyMs < TIMEOUT_MS) {
            int place = (int) ((step + 1 + latencyMs) % RING);
            arrival.next = ring[place];
            ring[place] = arrival;
        }
        purgatory.tryCompleteElseWatch(arrival, List.of(draw(), draw(), draw()));
        submitted++;
    }

    private Key draw() {
        return keys[random.nextInt(keys.length)];
    }

    static final class Arrival extends DelayedOperation {
        Arrival next;
        private final AtomicLong expired;

        Arrival(AtomicLong expired) {
            super(TIMEOUT_MS);
            this.expired = expired;
        }

        @Override
        public boolean tryComplete() {
            return false;
        }

        @Override
        public void onComplete() {
        }

        @Override
        public void onExpiration() {
            expired.incrementAndGet();
        }
    }
}
