/* SPDX-License-Identifier: MIT */
/* delays.h - draws delays, evenly between two bounds, for two multiplications each. */
#ifndef BENCH_SCHEDULER_DELAYS_H
#define BENCH_SCHEDULER_DELAYS_H

#include "../common/random.h"

struct delays {
    struct random random;
    int64_t shortest_ns;
    uint64_t span;
};

static inline void delays_init(struct delays *delays, uint64_t seed, int64_t shortest_ns,
                               int64_t longest_ns) {
    random_init(&delays->random, seed);
    delays->shortest_ns = shortest_ns;
    delays->span = (uint64_t)(longest_ns - shortest_ns) + 1;
}

static inline int64_t delays_next_ns(struct delays *delays) {
    random_state scaled = (random_state)random_draw(&delays->random) * delays->span;
    return delays->shortest_ns + (int64_t)(uint64_t)(scaled >> 64);
}

#endif
