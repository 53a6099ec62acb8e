/* SPDX-License-Identifier: MIT */
/* random.h - a mixing function for 64-bit numbers, and seeds for hashes. */
#ifndef HTW_SRC_BASE_RANDOM_H
#define HTW_SRC_BASE_RANDOM_H

#include "compiler.h"

#include <stdint.h>

/* The odd number nearest to 2^64 divided by the golden ratio: its multiples are spread evenly. */
#define HTW__RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer of SplitMix64. Of multiples of HTW__RANDOM_STEP it makes random numbers. */
static inline uint64_t htw__random_mix(uint64_t number) {
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

/*
 * A seed that strangers cannot guess, so that they cannot choose keys with equal hashes. While the
 * kernel has no entropy yet, it is made of the address of `owner` instead. Does not block.
 */
HTW__SHARED uint64_t htw__random_seed(const void *owner);

#endif /* HTW_SRC_BASE_RANDOM_H */
