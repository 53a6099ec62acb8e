// SPDX-License-Identifier: MIT

import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;

/**
 * A 4-ary heap that one thread owns; others hand timers over by a stack without a lock. A task runs in the
 * pool, which has one thread as the other peers have. Since JDK 25: this is compiled by an older one.
 */
final class ForkJoinPeer extends ExecutorPeer {
    private final ForkJoinPool pool;

    ForkJoinPeer() {
        this(new ForkJoinPool(1));
    }

    private ForkJoinPeer(ForkJoinPool pool) {
        super(asExecutor(pool));
        this.pool = pool;
    }

    private static ScheduledExecutorService asExecutor(Object pool) {
        if (pool instanceof ScheduledExecutorService executor)
            return executor;
        throw new IllegalStateException("the ForkJoinPool of this JVM has no timers");
    }

    @Override
    long pending() {
        try {
            return (long) ForkJoinPool.class.getMethod("getDelayedTaskCount").invoke(pool);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
