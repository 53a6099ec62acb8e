/* SPDX-License-Identifier: MIT */
/*
 * random.h - random numbers that cost one multiplication each, because the draws of a workload are
 * part of what is measured. (D. H. Lehmer's generator, with the multiplier of P. L'Ecuyer's tables
 * for 128 bits.)
 */
#ifndef BENCH_COMMON_RANDOM_H
#define BENCH_COMMON_RANDOM_H

#include <stdint.h>

__extension__ typedef unsigned __int128 random_state;

struct random {
    random_state state;
};

static inline uint64_t random_draw(struct random *random) {
    random->state *= 0xda942042e4dd58b5u;
    return (uint64_t)(random->state >> 64);
}

/* Equal seeds give equal sequences. */
static inline void random_init(struct random *random, uint64_t seed) {
    random->state = ((random_state)(seed + 0x9e3779b97f4a7c15u) << 64) | 1; /* must be odd */
    for (int i = 0; i < 8; i++) /* until the seed has reached every bit */
        random_draw(random);
}

/* Maps 32 random bits to 0..bound-1. A draw has bits for two of these. */
static inline uint64_t random_scale(uint32_t bits, uint64_t bound) {
    return (bits * bound) >> 32;
}

static inline uint32_t random_high(uint64_t draw) {
    return (uint32_t)(draw >> 32);
}

static inline uint32_t random_low(uint64_t draw) {
    return (uint32_t)draw;
}

#endif /* BENCH_COMMON_RANDOM_H */
