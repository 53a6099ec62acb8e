// SPDX-License-Identifier: MIT

/** Timers for 1 to 60 000 ticks are armed, then the clock visits every tick; see workload_expire.c. */
final class WheelExpire {
    private static final int EVEN_MAX = 60_000;
    private static final int TIMERS_MIN = 20_000;
    private static final int FEW = 10_000;

    private long addNs;
    private long expireNs;
    private long wakeups;

    static void run(int n, long seed, Report report) {
        Timers few = new Timers(FEW, seed);
        for (int i = 0; i < 10; i++) // until the compiler knows the code
            new WheelExpire().round(few);
        few.checkEnd(10 * FEW);

        Timers timers = new Timers(n, seed);
        WheelExpire sum = new WheelExpire();
        int rounds = n < TIMERS_MIN ? TIMERS_MIN / n : 1;
        for (int i = 0; i < rounds; i++)
            sum.round(timers);
        double count = (double) rounds * n;
        timers.checkEnd((long) count);
        report.line("add_ns", sum.addNs / count);
        report.line("expire_ns", sum.expireNs / count);
        report.line("expire_wakeups", sum.wakeups / count);
    }

    private void round(Timers timers) {
        for (int i = 0; i < timers.n; i++)
            timers.deadlines[i] = 1 + ((timers.random.nextLong() >>> 32) * EVEN_MAX >>> 32);
        long start = System.nanoTime();
        arm(timers);
        addNs += System.nanoTime() - start;
        timers.checkCount(timers.n);
        start = System.nanoTime();
        visit(timers);
        expireNs += System.nanoTime() - start;
    }

    /** For the delays that were drawn. */
    private static void arm(Timers timers) {
        for (int i = 0; i < timers.n; i++)
            timers.schedule(i, timers.now + timers.deadlines[i]);
    }

    /** Every tick. A wake-up is one in which a timer fired. */
    private void visit(Timers timers) {
        for (int i = 0; i < EVEN_MAX; i++) {
            long fired = timers.fired;
            timers.advance();
            wakeups += timers.fired != fired ? 1 : 0;
        }
    }
}
