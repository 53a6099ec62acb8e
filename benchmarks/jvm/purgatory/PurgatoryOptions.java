// SPDX-License-Identifier: MIT

import java.util.List;

/** What the command line asks for: the options of htw-bench-purgatory. */
final class PurgatoryOptions {
    private static final List<String> WORKLOADS = List.of("pair", "memory", "arrivals", "expire");

    String workload = "";
    int threads = 1;
    int perRequest = 2;
    int keys = 1000;
    boolean ownKeys;
    boolean distinct;
    int requests;
    double rate;
    double seconds;
    double warmup = 2;

    static PurgatoryOptions parse(String[] arguments) {
        PurgatoryOptions options = new PurgatoryOptions();
        boolean quick = false;
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--quick"))
                quick = true;
            else if (name.equals("--own-keys"))
                options.ownKeys = true;
            else if (name.equals("--distinct"))
                options.distinct = true;
            else if (i + 1 == arguments.length)
                throw new IllegalArgumentException(name + " is unknown, or lacks its value");
            else
                options.set(name, arguments[++i]);
        }
        if (!WORKLOADS.contains(options.workload))
            throw new IllegalArgumentException("no such workload: " + options.workload);
        if (options.requests == 0)
            options.requests = options.workload.equals("pair") ? 1000 : quick ? 100_000 : 1_000_000;
        if (options.distinct)
            options.keys = options.requests * options.perRequest;
        if (options.seconds == 0)
            options.seconds = (options.workload.equals("arrivals") ? 1.5 : 2) / (quick ? 4 : 1);
        return options;
    }

    /** As in C, so that the same cases have the same name. */
    String caseName() {
        if (!workload.equals("pair") && !workload.equals("memory"))
            return "";
        return "k" + perRequest + "-" + requests + "-of-" + (distinct ? "distinct-" : "") + keys
            + (ownKeys ? "-each" : "");
    }

    private void set(String name, String value) {
        switch (name) {
        case "--workload":
            workload = value;
            break;
        case "--threads":
            threads = (int) positive(name, value);
            break;
        case "--per-request":
            perRequest = (int) positive(name, value);
            break;
        case "--keys":
            keys = (int) positive(name, value);
            break;
        case "--requests":
            requests = (int) positive(name, value);
            break;
        case "--rate":
            rate = positive(name, value);
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
        try {
            double number = Double.parseDouble(value);
            if (number > 0 && number <= 1e9)
                return number;
        } catch (NumberFormatException wrong) {
            // as a number that is out of range
        }
        throw new IllegalArgumentException(name + ": not a number above 0: " + value);
    }

    private PurgatoryOptions() {
    }
}
