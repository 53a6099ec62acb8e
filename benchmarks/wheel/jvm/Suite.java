// SPDX-License-Identifier: MIT

/**
 * Runs one workload of htw-bench-wheel with Agrona's DeadlineTimerWheel in this JVM, and prints its
 * figures. Each workload warms up first: a JVM compiles what runs often.
 */
final class Suite {
    static void run(String[] words) {
        Arguments given = new Arguments(words);
        String workload = given.text("--workload");
        int timers = given.whole("--n", 1_000_000);
        long seed = given.whole("--seed", 1);
        int operations = given.has("--quick") ? 400_000 : timers > 1_000_000 ? 1_000_000 : 4_000_000;
        Report report = new Report("\"workload\":\"%s\",\"peer\":\"agrona\",\"timers\":%d",
            workload, timers);
        Exhaustion.watch(report);
        if (workload.equals("expire"))
            WheelExpire.run(timers, seed, report);
        else
            WheelPairs.run(workload.equals("churn"), timers, operations, seed, given.has("--check-end"), report);
    }
}
