// SPDX-License-Identifier: MIT

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The timers of an executor of the JDK. */
abstract class ExecutorPeer extends Peer {
    private final ScheduledExecutorService executor;

    ExecutorPeer(ScheduledExecutorService executor) {
        this.executor = executor;
    }

    @Override
    Object schedule(Task task, long delayNs) {
        return executor.schedule((Runnable) task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    boolean cancel(Object handle) {
        return ((Future<?>) handle).cancel(false);
    }
}
