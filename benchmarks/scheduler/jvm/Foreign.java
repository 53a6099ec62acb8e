// SPDX-License-Identifier: MIT

/** Each producer schedules timers, and another thread cancels them: two threads a producer. */
final class Foreign implements Workload {
    @Override
    public void run(Options options, Peer peer, Report report) {
        Ring[] rings = new Ring[options.producers];
        for (int i = 0; i < rings.length; i++) {
            Ring ring = new Ring();
            Delays delays = new Delays(i, 1_000_000_000L, 30_000_000_000L);
            rings[i] = ring;
            start("producer-" + i, () -> produce(peer, ring, delays));
            start("canceller-" + i, () -> cancel(peer, ring));
        }
        Window.measurePairs(options, peer, report, () -> {
            long pairs = 0;
            for (Ring ring : rings)
                pairs += ring.popped();
            return pairs;
        });
    }

    private static void produce(Peer peer, Ring ring, Delays delays) {
        Task task = new NoTask();
        Object[] batch = new Object[Ring.BATCH];
        for (;;) {
            schedule(peer, task, delays, batch);
            ring.push(batch);
        }
    }

    private static void schedule(Peer peer, Task task, Delays delays, Object[] batch) {
        for (int i = 0; i < batch.length; i++)
            batch[i] = peer.schedule(task, delays.nextNs());
    }

    private static void cancel(Peer peer, Ring ring) {
        Object[] batch = new Object[Ring.BATCH];
        for (;;) {
            ring.pop(batch);
            for (Object handle : batch)
                peer.cancel(handle);
        }
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
