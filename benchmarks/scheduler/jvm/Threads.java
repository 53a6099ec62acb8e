// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;

/** Each producer schedules a timer and cancels the one that it scheduled 1000 before. */
final class Threads implements Workload {
    private static final int LAG = 1000;

    @Override
    public void run(Options options, Peer peer, Report report) {
        AtomicLong[] pairs = new AtomicLong[options.producers];
        for (int i = 0; i < pairs.length; i++) {
            Producer producer = new Producer(peer, i);
            pairs[i] = producer.pairs;
            producer.setDaemon(true);
            producer.start();
        }
        Window.measurePairs(options, peer, report, () -> sum(pairs));
    }

    static long sum(AtomicLong[] counters) {
        long sum = 0;
        for (AtomicLong counter : counters)
            sum += counter.get();
        return sum;
    }

    private static final class Producer extends Thread {
        final AtomicLong pairs = new AtomicLong();
        private final Peer peer;
        private final Task task = new NoTask();
        private final Delays delays;
        private final Object[] handles = new Object[LAG];

        Producer(Peer peer, int number) {
            super("producer-" + number);
            this.peer = peer;
            delays = new Delays(number, 1_000_000_000L, 30_000_000_000L);
        }

        @Override
        public void run() {
            for (int i = 0; i < LAG; i++)
                handles[i] = peer.schedule(task, delays.nextNs());
            for (;;) {
                lap();
                pairs.lazySet(pairs.get() + LAG);
            }
        }

        private void lap() {
            for (int i = 0; i < LAG; i++) {
                Object oldest = handles[i];
                handles[i] = peer.schedule(task, delays.nextNs());
                peer.cancel(oldest);
            }
        }
    }
}
