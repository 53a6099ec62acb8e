// SPDX-License-Identifier: MIT

/** What the command line asks for: options of htw-bench-scheduler. */
final class Options {
    final String workload;
    final String peer;
    final int producers;
    final double seconds;
    final double warmup;

    Options(String[] arguments) {
        Arguments given = new Arguments(arguments);
        boolean quick = given.has("--quick");
        workload = given.text("--workload");
        peer = given.text("--peer");
        producers = given.whole("--producers", 1);
        seconds = given.number("--seconds", usualSeconds() / (quick ? 5 : 1));
        warmup = given.number("--warmup", quick ? 1 : 2);
    }

    private double usualSeconds() {
        switch (workload) {
        case "headline":
        case "lateness":
            return 10;
        default:
            return 5;
        }
    }
}
