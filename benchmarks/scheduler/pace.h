/* SPDX-License-Identifier: MIT */
/* pace.h - schedules so many timers each millisecond, by the clock: whoever is late catches up. */
#ifndef BENCH_SCHEDULER_PACE_H
#define BENCH_SCHEDULER_PACE_H

#include "delays.h"
#include "firing.h"

/* Returns how many timers were scheduled. */
uint64_t pace_keep(const struct peer *peer, struct firing *firing, struct delays *delays,
                   unsigned timers_per_ms, double seconds);

#endif
