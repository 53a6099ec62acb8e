// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;

/** Each producer schedules timers, and another thread cancels them: two threads a producer. */
final class Foreign implements Workload {
    @Override
    public void run(Options options, Peer peer, Report report) throws InterruptedException {
        List<Couple> couples = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < options.producers; i++) {
            Couple couple = new Couple(peer, i);
            couples.add(couple);
            threads.add(new Thread(couple::produce, "producer-" + i));
            threads.add(new Thread(couple::cancel, "canceller-" + i));
        }
        threads.forEach(Thread::start);
        Window.measurePairs(options, peer, report,
            () -> couples.stream().mapToLong(couple -> couple.ring.popped()).sum());
        Window.stop(threads);
        Window.check(peer, couples.stream().mapToLong(couple -> couple.scheduled).sum(),
            couples.stream().mapToLong(couple -> couple.cancelled).sum());
    }

    private static final class Couple {
        final Ring ring = new Ring();
        long scheduled;
        long cancelled;
        private final Peer peer;
        private final Delays delays;

        Couple(Peer peer, int number) {
            this.peer = peer;
            delays = new Delays(number, 1_000_000_000L, 30_000_000_000L);
        }

        void produce() {
            Task task = new NoTask();
            Object[] batch = new Object[Ring.BATCH];
            while (!Window.isStopping()) {
                schedule(task, batch);
                ring.push(batch);
            }
            ring.close();
        }

        private void schedule(Task task, Object[] batch) {
            for (int i = 0; i < batch.length; i++)
                batch[i] = peer.schedule(task, delays.nextNs());
            scheduled += batch.length;
        }

        void cancel() {
            Object[] batch = new Object[Ring.BATCH];
            while (ring.pop(batch))
                cancel(batch);
        }

        private void cancel(Object[] batch) {
            int done = 0;
            for (Object handle : batch)
                done += peer.cancel(handle) ? 1 : 0;
            cancelled += done;
        }
    }
}
