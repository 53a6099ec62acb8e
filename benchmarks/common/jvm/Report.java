// SPDX-License-Identifier: MIT

import java.util.Locale;

/** Prints one JSON object a line, each with one metric and its unit in the name. */
final class Report {
    private final String run;

    /** Takes the members with which every line begins. */
    Report(String format, Object... values) {
        run = "{" + String.format(Locale.ROOT, format, values) + ",";
    }

    void line(String metric, long value) {
        print(metric, Long.toString(value));
    }

    void line(String metric, double value) {
        print(metric, String.format(Locale.ROOT, "%.6g", value));
    }

    /** The percentiles of a histogram of nanoseconds, in microseconds. */
    void percentiles(String what, Histogram histogram) {
        line(what + "_p50_us", histogram.quantileNs(0.5) / 1e3);
        line(what + "_p99_us", histogram.quantileNs(0.99) / 1e3);
        line(what + "_p99.9_us", histogram.quantileNs(0.999) / 1e3);
        line(what + "_max_us", histogram.maxNs() / 1e3);
    }

    private void print(String metric, String value) {
        System.out.println(run + "\"metric\":\"" + metric + "\",\"value\":" + value + "}");
    }
}
