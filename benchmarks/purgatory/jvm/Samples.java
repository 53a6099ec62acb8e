// SPDX-License-Identifier: MIT

import java.util.Random;

/** The random values of Kafka's own purgatory benchmark; see samples.h. */
final class Samples {
    private static final int BITS = 12;
    private static final int COUNT = 1 << BITS;
    private static final double MEDIAN_MS = 50;
    private static final double THIRD_QUARTILE_MS = 75;
    private static final double NORMAL_QUARTILE = 0.67448975;

    private final float[] intervals = new float[COUNT];
    private final int[] latencies = new int[COUNT];

    Samples() {
        Random random = new Random(0);
        double mean = Math.log(MEDIAN_MS);
        double deviation = (Math.log(THIRD_QUARTILE_MS) - mean) / NORMAL_QUARTILE;
        for (int i = 0; i < COUNT; i++) {
            intervals[i] = (float) -Math.log(1 - random.nextDouble());
            latencies[i] = (int) Math.exp(mean + deviation * random.nextGaussian());
        }
    }

    double interval(long draw) {
        return intervals[(int) draw & COUNT - 1];
    }

    int latencyMs(long draw) {
        return latencies[(int) (draw >>> BITS) & COUNT - 1];
    }
}
