// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Hands objects from one thread to another one in batches, so that it costs little beside what is
 * done with them. A thread that waits sleeps: on few cores a thread that spins would take the CPU
 * time of the thread that it waits for.
 */
final class Ring {
    static final int BATCH = 100;
    private static final int CAPACITY = 64 * BATCH;
    private static final long NAP_NS = 50_000;

    private final Object[] slots = new Object[CAPACITY];
    private final AtomicLong pushed = new AtomicLong(); // written by the producer
    private volatile boolean closed;
    private final AtomicLong popped = new AtomicLong(); // written by the canceller

    void push(Object[] batch) {
        long position = pushed.get();
        while (position - popped.get() == CAPACITY)
            LockSupport.parkNanos(NAP_NS);
        System.arraycopy(batch, 0, slots, (int) (position % CAPACITY), BATCH);
        pushed.lazySet(position + BATCH);
    }

    /** The producer pushes no more. */
    void close() {
        closed = true;
    }

    /** Returns false if the ring is closed and empty. */
    boolean pop(Object[] batch) {
        long position = popped.get();
        while (position == pushed.get()) {
            if (closed && position == pushed.get())
                return false;
            LockSupport.parkNanos(NAP_NS);
        }
        System.arraycopy(slots, (int) (position % CAPACITY), batch, 0, BATCH);
        popped.lazySet(position + BATCH);
        return true;
    }

    /** How many objects were popped. */
    long popped() {
        return popped.get();
    }
}
