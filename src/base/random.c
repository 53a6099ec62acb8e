/* SPDX-License-Identifier: MIT */
/* random.c - seeds for hashes. */
#include "random.h"

#include "../port/system.h"

uint64_t htw__random_seed(const void *owner) {
    uint64_t seed;
    if (!htw__system_random(&seed, sizeof(seed)))
        seed = htw__random_mix((uint64_t)(uintptr_t)owner * HTW__RANDOM_STEP);
    return seed;
}
