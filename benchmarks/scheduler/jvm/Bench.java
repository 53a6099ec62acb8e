// SPDX-License-Identifier: MIT

/**
 * Runs one workload with one peer in this JVM, and prints its figures. One of each, so that no peer
 * is affected by what the compiler and the collector know of another one.
 */
final class Bench {
    public static void main(String[] arguments) throws Exception {
        Options options;
        try {
            options = new Options(arguments);
        } catch (IllegalArgumentException wrong) {
            System.err.println("Bench: " + wrong.getMessage());
            System.exit(2);
            return;
        }
        Report report = new Report("\"workload\":\"%s\",\"peer\":\"%s\",\"producers\":%d",
            options.workload, options.peer, options.producers);
        Exhaustion.watch(report);
        workload(options.workload).run(options, Peers.named(options.peer), report);
        Runtime.getRuntime().halt(0); // an orderly end of millions of timers takes long
    }

    static void fail(String why) {
        System.err.println("Bench: " + why);
        Runtime.getRuntime().halt(1);
    }

    private static Workload workload(String name) {
        switch (name) {
        case "threads":
            return new Threads();
        case "foreign":
            return new Foreign();
        case "headline":
            return new Headline();
        case "lateness":
            return new Lateness();
        case "stall":
            return new Stall();
        case "idle":
            return new Idle();
        default:
            return new Memory();
        }
    }

    private Bench() {
    }
}
