// SPDX-License-Identifier: MIT

import java.util.concurrent.ScheduledThreadPoolExecutor;

/** A binary heap behind a lock, with one thread; cancelled timers are removed at once. */
final class JdkPeer extends ExecutorPeer {
    private final ScheduledThreadPoolExecutor pool;

    JdkPeer() {
        this(new ScheduledThreadPoolExecutor(1, threadFactory()));
    }

    private JdkPeer(ScheduledThreadPoolExecutor pool) {
        super(pool);
        this.pool = pool;
        pool.setRemoveOnCancelPolicy(true);
    }

    @Override
    long pending() {
        return pool.getQueue().size();
    }
}
