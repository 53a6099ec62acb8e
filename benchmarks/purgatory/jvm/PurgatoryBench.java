// SPDX-License-Identifier: MIT

/**
 * Runs one workload of htw-bench-purgatory with Kafka's purgatory in this JVM, and prints its
 * figures.
 */
final class PurgatoryBench {
    public static void main(String[] arguments) throws Exception {
        PurgatoryOptions options;
        try {
            options = new PurgatoryOptions(arguments);
        } catch (IllegalArgumentException wrong) {
            System.err.println("PurgatoryBench: " + wrong.getMessage());
            System.exit(2);
            return;
        }
        Report report = new Report(
            "\"workload\":\"%s\",\"case\":\"%s\",\"peer\":\"kafka\",\"threads\":%d",
            options.workload, options.caseName(), options.threads);
        Exhaustion.watch(report);
        switch (options.workload) {
        case "pair":
            PurgatoryPair.run(options, report);
            break;
        case "memory":
            PurgatoryMemory.run(options, report);
            break;
        case "arrivals":
            PurgatoryArrivals.run(options, report);
            break;
        default:
            PurgatoryExpire.run(options, report);
        }
        Runtime.getRuntime().halt(0);
    }

    static void fail(String why) {
        System.err.println("PurgatoryBench: " + why);
        Runtime.getRuntime().halt(1);
    }

    private PurgatoryBench() {
    }
}
