// SPDX-License-Identifier: MIT

/** Timers that are cancelled and armed again long before they are due; see workload_churn.c. */
final class WheelPairs {
    private static final int DELAY_MIN = 1000;
    private static final int DELAY_SPAN = 59_000;
    private static final int FEW = 10_000;

    static void run(boolean random, int n, int operations, long seed, boolean checkEnd,
                    Report report) {
        Timers few = filled(FEW, seed); // until the compiler knows the code
        for (int i = 0; i < 20; i++)
            pairs(few, 50_000, 0, random);
        few.drain(DELAY_MIN + DELAY_SPAN, FEW);

        Timers timers = filled(n, seed);
        int warmUp = Math.min(Math.max(n / 4, 200_000), 1_000_000);
        pairs(timers, warmUp, 0, random);
        long start = System.nanoTime();
        pairs(timers, operations, warmUp % n, random);
        report.line("pair_ns", (double) (System.nanoTime() - start) / operations);
        timers.checkCount(n);
        if (checkEnd)
            timers.drain(DELAY_MIN + DELAY_SPAN, n);
    }

    private static Timers filled(int n, long seed) {
        Timers timers = new Timers(n, seed);
        for (int i = 0; i < n; i++)
            timers.schedule(i, delay(timers.random.nextLong()));
        return timers;
    }

    /** From the low half of the draw. */
    private static long delay(long draw) {
        return DELAY_MIN + ((draw & 0xffff_ffffL) * DELAY_SPAN >>> 32);
    }

    private static void pairs(Timers timers, int count, int first, boolean random) {
        int oldest = first;
        for (int i = 0; i < count; i++) {
            long draw = timers.random.nextLong();
            int timer = random ? (int) ((draw >>> 32) * timers.n >>> 32) : oldest;
            timers.pair(timer, delay(draw));
            oldest = oldest + 1 < timers.n ? oldest + 1 : 0;
        }
    }
}
