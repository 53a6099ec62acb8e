// SPDX-License-Identifier: MIT

import java.util.concurrent.atomic.AtomicLong;

/** The task of timers that are cancelled. */
final class NoTask extends Task {
    /** How many have fired nevertheless. */
    static final AtomicLong FIRED = new AtomicLong();

    @Override
    public void run() {
        FIRED.incrementAndGet();
    }
}
