// SPDX-License-Identifier: MIT

// The lists of timers are private to this package.
package org.apache.kafka.server.util.timer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs timers in Kafka's own TimingWheel, in virtual time, and prints how often they were demoted, how many
 * expired, and how often the clock advanced.
 *
 * Arguments: the number of buckets in a level, and a file of lines `TICK arm TIMER DEADLINE`,
 * `TICK cancel TIMER` and `TICK end`.
 */
final class KafkaWheel {
    private final DelayQueue<TimerTaskList> queue = new DelayQueue<>();
    private final TimingWheel wheel;
    private final List<Task> tasks = new ArrayList<>();
    private long clock;
    private long demoted;
    private long expired;
    private long advances;

    private static final class Task extends TimerTask {
        Task() {
            super(0);
        }

        @Override
        public void run() {
        }
    }

    private KafkaWheel(int size) {
        wheel = new TimingWheel(1, size, 0, new AtomicInteger(), queue);
    }

    /** As SystemTimer.advanceClock(), but by the time of the run: the queue is asked for its head. */
    private void advance(long tick) {
        TimerTaskList bucket;
        while ((bucket = queue.peek()) != null && bucket.getExpiration() <= tick) {
            queue.remove(bucket);
            if (bucket.getExpiration() > clock) {
                clock = bucket.getExpiration();
                advances++;
            }
            wheel.advanceClock(bucket.getExpiration());
            bucket.flush(entry -> add(entry, true));
        }
    }

    private void add(TimerTaskEntry entry, boolean isAgain) {
        if (!wheel.add(entry))
            expired += entry.cancelled() ? 0 : 1;
        else if (isAgain)
            demoted++;
    }

    private void act(String[] words) {
        long tick = Long.parseLong(words[0]);
        advance(tick);
        if (words[1].equals("end"))
            return;
        int timer = Integer.parseInt(words[2]);
        while (tasks.size() <= timer)
            tasks.add(null);
        if (tasks.get(timer) != null) // a move is a cancel, and an arm
            tasks.get(timer).cancel();
        if (words[1].equals("arm")) {
            tasks.set(timer, new Task());
            add(new TimerTaskEntry(tasks.get(timer), Long.parseLong(words[3])), false);
            advance(tick);
        }
    }

    public static void main(String[] arguments) throws Exception {
        KafkaWheel run = new KafkaWheel(Integer.parseInt(arguments[0]));
        for (String line : Files.readAllLines(Path.of(arguments[1])))
            run.act(line.split(" "));
        System.out.println(run.demoted + " " + run.expired + " " + run.advances);
    }
}
