// SPDX-License-Identifier: MIT

import java.util.List;

/**
 * Runs one workload of htw-bench-wheel with Agrona's DeadlineTimerWheel in this JVM, and prints its
 * figures. Each workload warms up first: a JVM compiles what runs often.
 */
final class WheelBench {
    public static void main(String[] words) {
        Arguments given;
        String workload;
        int timers;
        boolean quick;
        int operations;
        long seed;
        try {
            given = new Arguments(words, List.of("--workload", "--peer", "--n", "--seed"),
                List.of("--quick", "--check-end"));
            workload = given.name("--workload", List.of("churn", "fifo", "expire"));
            given.name("--peer", List.of("agrona"));
            timers = given.whole("--n", 1_000_000);
            seed = given.whole("--seed", 1);
            quick = given.has("--quick");
        } catch (IllegalArgumentException wrong) {
            System.err.println("WheelBench: " + wrong.getMessage());
            System.exit(2);
            return;
        }
        operations = quick ? 400_000 : timers > 1_000_000 ? 1_000_000 : 4_000_000;
        Report report = new Report("\"workload\":\"%s\",\"peer\":\"agrona\",\"timers\":%d",
            workload, timers);
        Exhaustion.watch(report);
        boolean checkEnd = given.has("--check-end");
        switch (workload) {
        case "churn":
        case "fifo":
            WheelPairs.run(workload.equals("churn"), timers, operations, seed, checkEnd, report);
            break;
        default:
            WheelExpire.run(timers, seed, report);
        }
        Runtime.getRuntime().halt(0);
    }

    static void fail(String why) {
        System.err.println("WheelBench: " + why);
        Runtime.getRuntime().halt(1);
    }

    private WheelBench() {
    }
}
