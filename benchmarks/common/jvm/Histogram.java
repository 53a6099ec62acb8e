// SPDX-License-Identifier: MIT

/**
 * Counts durations without allocating: exactly below 128 ns, then in 64 buckets an octave. A
 * quantile is at most 1.6 % too high. One thread records.
 */
final class Histogram {
    private static final int BITS = 6;
    private static final int HALF = 1 << BITS;

    private final long[] counts = new long[(64 - BITS) * HALF];
    private long total;
    private long early;
    private long maxNs;

    /** A negative value is that of an early timer; it counts as 0, and also as early. */
    void record(long ns) {
        total++;
        if (ns < 0) {
            early++;
            ns = 0;
        }
        maxNs = Math.max(maxNs, ns);
        counts[index(ns)]++;
    }

    long early() {
        return early;
    }

    long maxNs() {
        return maxNs;
    }

    long quantileNs(double quantile) {
        long wanted = (long) Math.ceil(quantile * total);
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted && seen > 0)
                return Math.min(highest(i), maxNs);
        }
        return 0;
    }

    private static int index(long ns) {
        int shift = Math.max(0, 63 - BITS - Long.numberOfLeadingZeros(ns));
        return shift * HALF + (int) (ns >>> shift);
    }

    /** The greatest value that has this index. */
    private static long highest(int index) {
        int shift = Math.max(0, index / HALF - 1);
        return ((long) (index - shift * HALF + 1) << shift) - 1;
    }
}
