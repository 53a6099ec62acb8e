/* SPDX-License-Identifier: MIT */
#include "pace.h"

#define PERIOD_NS 1000000

uint64_t pace_keep(const struct peer *peer, struct firing *firing, struct delays *delays,
                   unsigned timers_per_ms, double seconds) {
    int64_t periods = clock_ns(seconds) / PERIOD_NS;
    int64_t start_ns = clock_now_ns();
    for (int64_t i = 0; i < periods; i++) {
        clock_sleep_until(start_ns + i * PERIOD_NS);
        for (unsigned j = 0; j < timers_per_ms; j++)
            firing_schedule(firing, peer, delays_next_ns(delays));
    }
    clock_sleep_until(start_ns + periods * PERIOD_NS);
    return (uint64_t)periods * timers_per_ms;
}
