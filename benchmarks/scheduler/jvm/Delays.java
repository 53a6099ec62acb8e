// SPDX-License-Identifier: MIT

import java.util.SplittableRandom;

/** Draws delays, evenly between two bounds, for one multiplication each. */
final class Delays {
    private final SplittableRandom random;
    private final long shortestNs;
    private final long doubleSpan;

    Delays(long seed, long shortestNs, long longestNs) {
        random = new SplittableRandom(seed);
        this.shortestNs = shortestNs;
        doubleSpan = 2 * (longestNs - shortestNs + 1);
    }

    long nextNs() {
        return shortestNs + Math.multiplyHigh(random.nextLong() >>> 1, doubleSpan);
    }
}
