// SPDX-License-Identifier: MIT

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.concurrent.TimeUnit;

/**
 * A hashed wheel of 512 buckets (Netty's default) with one thread. Callers put new and
 * cancelled timers into queues, which that thread drains once a tick.
 */
final class NettyPeer extends Peer {
    private final HashedWheelTimer timer;

    NettyPeer(String name) {
        timer = new HashedWheelTimer(threadFactory(), name.equals("netty-1ms") ? 1 : 100, TimeUnit.MILLISECONDS);
    }

    @Override
    Object schedule(Task task, long delayNs) {
        return timer.newTimeout(task, delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    boolean cancel(Object handle) {
        return ((Timeout) handle).cancel();
    }

    /** Without timers that were cancelled before the wheel saw them; these are still in memory. */
    @Override
    long pending() {
        return timer.pendingTimeouts();
    }
}
