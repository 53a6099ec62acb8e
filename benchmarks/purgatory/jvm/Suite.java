// SPDX-License-Identifier: MIT

/** The workloads of htw-bench-purgatory, with Kafka's purgatory. */
final class Suite {
    static void run(String[] words) throws Exception {
        PurgatoryOptions options = new PurgatoryOptions(words);
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
        case "expire":
            PurgatoryExpire.run(options, report);
            break;
        default:
            Bench.fail("no such workload: " + options.workload);
        }
    }
}
