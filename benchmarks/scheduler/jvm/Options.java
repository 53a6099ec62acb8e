// SPDX-License-Identifier: MIT

import java.util.List;

/** What the command line asks for: options of htw-bench-scheduler. */
final class Options {
    final String workload;
    final String peer;
    final int producers;
    final double seconds;
    final double warmup;

    Options(String[] arguments) {
        Arguments given = new Arguments(arguments,
            List.of("--workload", "--peer", "--producers", "--seconds", "--warmup"),
            List.of("--quick"));
        boolean quick = given.has("--quick");
        workload = given.name("--workload",
            List.of("threads", "foreign", "headline", "lateness", "stall", "idle", "memory"));
        peer = given.name("--peer", Peers.NAMES);
        producers = given.whole("--producers", 1);
        seconds = given.number("--seconds", usualSeconds() / (quick ? 5 : 1));
        warmup = given.number("--warmup", quick ? 1 : 2);
        if (producers != 1 && !workload.equals("threads") && !workload.equals("foreign"))
            throw Arguments.wrong(workload + " has one producer");
    }

    private double usualSeconds() {
        switch (workload) {
        case "idle":
            return 20;
        case "headline":
        case "lateness":
            return 10;
        default:
            return 5;
        }
    }
}
