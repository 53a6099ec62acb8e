// SPDX-License-Identifier: MIT

import java.util.List;
import java.util.concurrent.ThreadFactory;

/**
 * A timer under test. A class, not an interface: HotSpot binds calls statically while only one
 * subclass is loaded.
 */
abstract class Peer {
    static final List<String> NAMES = List.of("jdk", "netty-1ms", "netty-100ms");

    /** The name of the thread on which timers fire; Idle finds it by this. */
    static final String THREAD_NAME = "bench-timer";

    static Peer named(String name) {
        switch (name) {
        case "jdk":
            return new JdkPeer();
        case "netty-1ms":
            return new NettyPeer(1);
        default:
            return new NettyPeer(100);
        }
    }

    /** Returns the handle that cancel() takes. */
    abstract Object schedule(Task task, long delayNs);

    abstract void cancel(Object handle);

    /** How many timers the peer reports, with cancelled ones. */
    abstract long pending();

    static ThreadFactory threadFactory() {
        return work -> {
            Thread thread = new Thread(work, THREAD_NAME);
            thread.setDaemon(true);
            return thread;
        };
    }
}
