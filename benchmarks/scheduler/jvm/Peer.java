// SPDX-License-Identifier: MIT

import java.util.concurrent.ThreadFactory;

/**
 * A timer under test. A class, not an interface: HotSpot binds calls statically while only one
 * subclass is loaded.
 */
abstract class Peer {
    /** For the thread of a peer that lets others name it. */
    static final String THREAD_NAME = "bench-timer";

    /** Returns the handle that cancel() takes. */
    abstract Object schedule(Task task, long delayNs);

    /** Returns whether the timer will not fire. */
    abstract boolean cancel(Object handle);

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
