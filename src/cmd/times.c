/* SPDX-License-Identifier: MIT */
/* times.c - times in seconds and nanoseconds, and ticks. No product here needs more than 64 bits. */
#include "times.h"

int64_t htw__time_to_ns(struct htw__time time) {
    if (time.s > INT64_MAX / HTW__NS_PER_S - 1)
        return INT64_MAX;
    if (time.s < INT64_MIN / HTW__NS_PER_S)
        return INT64_MIN;
    return time.s * HTW__NS_PER_S + time.ns;
}

struct htw__time htw__time_of_tick(uint64_t tick, int64_t tick_ns) {
    int64_t many = (int64_t)(tick / HTW__NS_PER_S), few = (int64_t)(tick % HTW__NS_PER_S);
    int64_t tick_s = tick_ns / HTW__NS_PER_S, part_ns = tick_ns % HTW__NS_PER_S;
    return htw__time_of(many * tick_ns + few * tick_s, few * part_ns);
}

/* A long division: of the seconds, then of what is left in milliseconds, and so on. */
uint64_t htw__time_tick_before(struct htw__time time, int64_t tick_ns) {
    uint64_t divisor = (uint64_t)tick_ns, tick = (uint64_t)time.s / divisor;
    uint64_t rest = (uint64_t)time.s % divisor;
    for (int i = 0; i < 3; i++) {
        rest *= 1000;
        if (tick > (HTW_NEVER_TICK - rest / divisor) / 1000)
            return HTW_NEVER_TICK;
        tick = tick * 1000 + rest / divisor;
        rest %= divisor;
    }
    rest = (rest + (uint64_t)time.ns) / divisor;
    return tick > HTW_NEVER_TICK - rest ? HTW_NEVER_TICK : tick + rest;
}

uint64_t htw__time_tick_after(struct htw__time time, int64_t tick_ns) {
    return htw__time_tick_before(htw__time_of(time.s, time.ns + tick_ns - 1), tick_ns);
}
