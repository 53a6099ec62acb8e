// SPDX-License-Identifier: MIT

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A binary heap behind a lock, with one thread; cancelled timers are removed at once. */
final class JdkPeer extends Peer {
    private final ScheduledThreadPoolExecutor pool = new ScheduledThreadPoolExecutor(1, threadFactory());

    JdkPeer(String name) {
        pool.setRemoveOnCancelPolicy(true);
    }

    @Override
    Object schedule(Task task, long delayNs) {
        return pool.schedule((Runnable) task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    boolean cancel(Object handle) {
        return ((Future<?>) handle).cancel(false);
    }

    @Override
    long pending() {
        return pool.getQueue().size();
    }
}
