// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Hands objects from one thread to one other, a batch at a time, so that the hand-over costs
 * little beside what is done with them. Whoever has to wait sleeps: on few cores a spinning
 * thread would take the time of those that it waits for.
 */
final class Ring {
    static final int BATCH = 100;
    private static final int CAPACITY = 64 * BATCH;
    private static final long NAP_NS = 50_000;

    private final Object[] slots = new Object[CAPACITY];
    private final AtomicLong put = new AtomicLong(); // written by the giver
    private final AtomicLong taken = new AtomicLong(); // written by the taker

    void give(Object[] batch) {
        long position = put.get();
        while (position - taken.get() == CAPACITY)
            LockSupport.parkNanos(NAP_NS);
        System.arraycopy(batch, 0, slots, (int) (position % CAPACITY), BATCH);
        put.lazySet(position + BATCH);
    }

    void take(Object[] batch) {
        long position = taken.get();
        while (position == put.get())
            LockSupport.parkNanos(NAP_NS);
        System.arraycopy(slots, (int) (position % CAPACITY), batch, 0, BATCH);
        taken.lazySet(position + BATCH);
    }

    /** How many objects have been taken. */
    long taken() {
        return taken.get();
    }
}
