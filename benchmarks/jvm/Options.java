// SPDX-License-Identifier: MIT

import java.util.List;

/** What the command line asks for. */
final class Options {
    static final String USAGE =
        "usage: java -cp ... Bench --workload NAME --peer NAME [OPTION]...\n"
        + "  --workload   threads, foreign, headline, lateness, stall, idle or memory\n"
        + "  --peer       jdk, netty-1ms or netty-100ms\n"
        + "  --producers  scheduling threads of threads and foreign (1)\n"
        + "  --seconds    measured time (threads, foreign 5; headline, lateness 10; idle 20)\n"
        + "  --warmup     seconds before it (2)\n"
        + "  --quick      a fifth of the measured time and half of the warm-up";

    private static final List<String> WORKLOADS =
        List.of("threads", "foreign", "headline", "lateness", "stall", "idle", "memory");

    String workload = "";
    String peer = "";
    int producers = 1;
    double seconds;
    double warmup;

    static Options parse(String[] arguments) {
        Options options = new Options();
        boolean quick = false;
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--quick")) {
                quick = true;
                continue;
            }
            if (i + 1 == arguments.length)
                throw new IllegalArgumentException(name + " is unknown, or lacks its value");
            options.set(name, arguments[++i]);
        }
        if (!WORKLOADS.contains(options.workload))
            throw new IllegalArgumentException("no such workload: " + options.workload);
        if (!Peer.NAMES.contains(options.peer))
            throw new IllegalArgumentException("no such peer: " + options.peer);
        boolean many = options.workload.equals("threads") || options.workload.equals("foreign");
        if (options.producers != 1 && !many)
            throw new IllegalArgumentException(options.workload + " has one producer");
        if (options.seconds == 0)
            options.seconds = options.usualSeconds() / (quick ? 5 : 1);
        if (options.warmup == 0)
            options.warmup = quick ? 1 : 2;
        return options;
    }

    private void set(String name, String value) {
        switch (name) {
        case "--workload":
            workload = value;
            break;
        case "--peer":
            peer = value;
            break;
        case "--producers":
            producers = (int) positive(name, value);
            break;
        case "--seconds":
            seconds = positive(name, value);
            break;
        case "--warmup":
            warmup = positive(name, value);
            break;
        default:
            throw new IllegalArgumentException("no such option: " + name);
        }
    }

    private static double positive(String name, String value) {
        double number;
        try {
            number = Double.parseDouble(value);
        } catch (NumberFormatException wrong) {
            number = 0;
        }
        if (!(number > 0 && number <= 3600) || name.equals("--producers") && number != (int) number)
            throw new IllegalArgumentException(name + ": not a number above 0: " + value);
        return number;
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

    private Options() {
    }
}
