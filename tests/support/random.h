/* SPDX-License-Identifier: MIT */
/*
 * random.h - a small seeded source of numbers, so that a failing history can be
 * run again from its seed (the generator is splitmix64).
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random_source {
    uint64_t state;
};

static inline uint64_t random_next(struct random_source *source) {
    source->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = source->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/** A number from 0 to `bound` - 1; `bound` is at least 1. */
static inline uint64_t random_below(struct random_source *source, uint64_t bound) {
    return random_next(source) % bound;
}

/** True once in `many` times. */
static inline bool random_one_in(struct random_source *source, uint64_t many) {
    return random_below(source, many) == 0;
}

/** A number of which each magnitude, from one bit to 64, is equally likely. */
static inline uint64_t random_magnitude(struct random_source *source) {
    uint64_t number = random_next(source);
    return number >> random_below(source, 64);
}

#endif /* TESTS_RANDOM_H */
