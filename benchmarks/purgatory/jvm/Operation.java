// SPDX-License-Identifier: MIT

import org.apache.kafka.server.purgatory.DelayedOperation;

/** A request that can be completed once an event has made it ready. */
class Operation extends DelayedOperation {
    volatile boolean ready;

    Operation(long timeoutMs) {
        super(timeoutMs);
    }

    @Override
    public boolean tryComplete() {
        return ready && forceComplete();
    }

    @Override
    public void onComplete() {
    }

    @Override
    public void onExpiration() {
    }
}
