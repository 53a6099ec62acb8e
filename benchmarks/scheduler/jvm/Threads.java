// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Each producer schedules a timer and cancels the one that it scheduled 1000 before. */
final class Threads implements Workload {
    private static final int LAG = 1000;

    @Override
    public void run(Options options, Peer peer, Report report) throws InterruptedException {
        List<Producer> producers = new ArrayList<>();
        for (int i = 0; i < options.producers; i++)
            producers.add(new Producer(peer, i));
        producers.forEach(Thread::start);
        Window.measurePairs(options, peer, report,
            () -> producers.stream().mapToLong(producer -> producer.pairs.get()).sum());
        Window.stop(producers);
        Window.check(peer, producers.stream().mapToLong(producer -> producer.scheduled).sum(),
            producers.stream().mapToLong(producer -> producer.cancelled).sum());
    }

    private static final class Producer extends Thread {
        final AtomicLong pairs = new AtomicLong();
        long scheduled;
        long cancelled;
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
            scheduled = LAG;
            while (!Window.isStopping()) {
                lap();
                pairs.lazySet(pairs.get() + LAG);
            }
            for (Object handle : handles)
                cancelled += peer.cancel(handle) ? 1 : 0;
        }

        private void lap() {
            int done = 0;
            for (int i = 0; i < LAG; i++) {
                Object oldest = handles[i];
                handles[i] = peer.schedule(task, delays.nextNs());
                done += peer.cancel(oldest) ? 1 : 0;
            }
            scheduled += LAG;
            cancelled += done;
        }
    }
}
