// SPDX-License-Identifier: MIT

/** What the command line asks for: options of htw-bench-purgatory. */
final class PurgatoryOptions {
    final String workload;
    final int threads;
    final int perRequest;
    final int keys;
    final boolean ownKeys;
    final boolean distinct;
    final int requests;
    final double seconds;
    final double warmup;

    PurgatoryOptions(String[] arguments) {
        Arguments given = new Arguments(arguments);
        boolean quick = given.has("--quick");
        workload = given.text("--workload");
        threads = given.whole("--threads", 1);
        perRequest = given.whole("--per-request", 2);
        ownKeys = given.has("--own-keys");
        distinct = given.has("--distinct");
        requests = given.whole("--requests",
            workload.equals("pair") ? 1000 : quick ? 100_000 : 1_000_000);
        keys = distinct ? requests * perRequest : given.whole("--keys", 1000);
        seconds = given.number("--seconds",
            (workload.equals("arrivals") ? 1.5 : 2) / (quick ? 4 : 1));
        warmup = given.number("--warmup", 2);
    }

    /** As in C, so that the same cases have the same name. */
    String caseName() {
        if (!workload.equals("pair") && !workload.equals("memory"))
            return "";
        return "k" + perRequest + "-" + requests + "-of-" + (distinct ? "distinct-" : "") + keys
            + (ownKeys ? "-each" : "");
    }
}
