/* SPDX-License-Identifier: MIT */
/* samples.c - draws intervals and latencies. */
#include "samples.h"

#include <limits.h>
#include <math.h>

/* In (0, 1): 0 has no logarithm. */
static double uniform(struct random *random) {
    return ((double)(random_draw(random) >> 12) + 0.5) / 0x1p52;
}

/* By Box and Muller. */
static double normal(struct random *random) {
    double radius = sqrt(-2 * log(uniform(random)));
    return radius * cos(2 * 3.14159265358979323846 * uniform(random));
}

void samples_init(struct samples *samples) {
    struct random random;
    random_init(&random, 0);
    double mean = log(SAMPLES_MEDIAN_MS);
    double deviation = (log(SAMPLES_THIRD_QUARTILE_MS) - mean) / SAMPLES_NORMAL_QUARTILE;
    for (int i = 0; i < SAMPLES; i++) {
        samples->intervals[i] = (float)-log(uniform(&random));
        samples->latencies[i] =
            (unsigned short)fmin(USHRT_MAX, exp(mean + deviation * normal(&random)));
    }
}
