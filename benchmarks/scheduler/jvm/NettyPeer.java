// SPDX-License-Identifier: MIT

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/**
 * A hashed wheel of 512 buckets (Netty's default) with one thread. Callers leave new and
 * cancelled timers in queues, from which that thread takes them once a tick.
 */
final class NettyPeer extends Peer {
    private final HashedWheelTimer timer;

    NettyPeer(long tickMs) {
        timer = new HashedWheelTimer(threadFactory(), tickMs, TimeUnit.MILLISECONDS);
    }

    @Override
    Object schedule(Task task, long delayNs) {
        return timer.newTimeout(task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    void cancel(Object handle) {
        ((Timeout) handle).cancel();
    }

    /** Less than it keeps in memory: a timer cancelled before the wheel saw it is not counted. */
    @Override
    long pending() {
        return timer.pendingTimeouts();
    }
}
