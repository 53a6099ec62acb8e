// SPDX-License-Identifier: MIT

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.DeadlineTimerWheel;

/**
 * A wheel with 65 536 spokes, so that each delay of the workloads has a spoke of its own, and what must
 * happen to its timers. Time is virtual and starts at 0.
 *
 * The wheel numbers its timers, and tells the number of one that expires; finding the timer is up to the
 * user. A number is a spoke and a place in it, so two arrays find it, which is the fastest way.
 *
 * A poll visits one spoke, and goes to the next one if the time is past it. So the time that poll() gets is
 * one tick ahead: then each tick takes one poll, and no timer is late.
 */
final class Timers {
    private static final int SPOKES = 65_536;
    private static final int PLACES = 16; // in a spoke, at first
    static final long IDLE = Long.MAX_VALUE;

    final int n;
    final SplittableRandom random;
    final long[] deadlines; // of each timer; IDLE: it must not fire
    final long[] ids;       // of each timer, as the wheel numbers it
    long now;
    long fired;
    private long wrong;
    private long late;
    private long before;
    private final DeadlineTimerWheel wheel =
        new DeadlineTimerWheel(TimeUnit.MILLISECONDS, 0, 1, SPOKES);
    private final int[][] owners = new int[SPOKES][PLACES]; // of numbers, by spoke and place
    private final DeadlineTimerWheel.TimerHandler handler = this::onExpiry;

    Timers(int n, long seed) {
        this.n = n;
        random = new SplittableRandom(seed);
        deadlines = new long[n];
        ids = new long[n];
        Arrays.fill(deadlines, IDLE);
        wheel.poll(1, handler, Integer.MAX_VALUE);
    }

    void schedule(int timer, long deadline) {
        deadlines[timer] = deadline;
        long id = wheel.scheduleTimer(deadline);
        ids[timer] = id;
        int spoke = (int) (id >>> 32);
        int place = (int) id;
        int[] owned = owners[spoke];
        if (place >= owned.length) {
            owned = Arrays.copyOf(owned, 2 * Math.max(place, owned.length));
            owners[spoke] = owned;
        }
        owned[place] = timer;
    }

    void pair(int timer, long deadline) {
        if (!wheel.cancelTimer(ids[timer]))
            Bench.fail("a timer that was pending could not be cancelled");
        schedule(timer, deadline);
    }

    /** Advances the clock to the next tick, and lets all fire that are due. */
    void advance() {
        before = now++;
        wheel.poll(now + 1, handler, Integer.MAX_VALUE);
    }

    private boolean onExpiry(TimeUnit unit, long at, long id) {
        int timer = owners[(int) (id >>> 32)][(int) id];
        long deadline = deadlines[timer];
        wrong += deadline > now ? 1 : 0;
        late += deadline <= before ? 1 : 0;
        deadlines[timer] = IDLE;
        fired++;
        return true;
    }

    void checkCount(long count) {
        if (wheel.timerCount() != count)
            Bench.fail(wheel.timerCount() + " timers are armed, not " + count);
    }

    /** Fails unless so many have fired, each once and in time, and none is armed. */
    void checkEnd(long count) {
        if (wrong != 0 || late != 0 || fired != count)
            Bench.fail(fired + " timers fired, not " + count + "; " + wrong + " wrongly, "
                + late + " late");
        checkCount(0);
    }

    void drain(long last, long count) {
        while (now < last)
            advance();
        checkEnd(count);
    }
}
