# SPDX-License-Identifier: MIT
"""Whether what was sampled stays level: robustly, so that neither a peak nor a pause decides.

The second half of the samples is judged; in the first a program may still grow to its level. The slope is that of Theil
and Sen, the median of the slopes between all pairs of samples. It must make less than a bound in the time of the half.
"""
import statistics
from typing import NamedTuple

MOST_SAMPLES = 400  # whose pairs are compared


class Growth(NamedTuple):
    level: float  # the median of the second half
    growth: float  # in its time, by the slope
    bound: float

    @property
    def is_flat(self):
        return self.growth < self.bound


def slope(points):
    """The median of the slopes between all pairs of `points` (time, value)."""
    step = -(-len(points) // MOST_SAMPLES)
    points = points[::step]
    return statistics.median((other[1] - one[1]) / (other[0] - one[0])
                             for i, one in enumerate(points) for other in points[i + 1:])


def judge(points, share, least):
    """`points`: pairs of a time and a value, in order. The bound is `share` of the level, but not below `least`."""
    half = [point for point in points if 2 * point[0] >= points[0][0] + points[-1][0]]
    assert len(half) >= 3, "too few samples"
    level = statistics.median(value for _, value in half)
    return Growth(level, slope(half) * (half[-1][0] - half[0][0]), max(share * level, least))


# ---- lateness: a histogram as the monitor has it: below 1 us, below 2 us, below 4 us and so on

BUCKETS = 24


def add_late(histogram, late_s):
    histogram[min(BUCKETS - 1, max(0, int(late_s * 1e6)).bit_length())] += 1


def p99_ms(histogram):
    """An upper bound, right up to a factor of two; None: nothing has run."""
    total, count = sum(histogram), 0
    for bucket, number in enumerate(histogram):
        count += number
        if total and count >= 0.99 * total:
            return 2 ** bucket / 1000
    return None
