// SPDX-License-Identifier: MIT

import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's hierarchical wheels of 20 buckets with a tick of 1 ms. One thread advances the clock, and hands
 * the timers that are due to another one, which runs them.
 */
final class KafkaPeer extends Peer {
    private final Timer timer = new SystemTimerReaper(THREAD_NAME, new SystemTimer(THREAD_NAME));

    KafkaPeer(String name) {
    }

    @Override
    Object schedule(Task task, long delayNs) {
        Wait wait = new Wait(task, delayNs);
        timer.add(wait);
        return wait;
    }

    @Override
    boolean cancel(Object handle) {
        ((TimerTask) handle).cancel();
        return true; // it does not tell
    }

    @Override
    long pending() {
        return timer.size();
    }

    private static final class Wait extends TimerTask {
        private final Task task;

        /** In whole milliseconds of a clock that is up to one behind; otherwise it would be early. */
        Wait(Task task, long delayNs) {
            super(Math.max(0, (delayNs + 1_999_999) / 1_000_000));
            this.task = task;
        }

        @Override
        public void run() {
            task.run();
        }
    }
}
