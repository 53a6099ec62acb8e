/* SPDX-License-Identifier: MIT */
/*
 * states.h - the set of states that a search has met, by a digest of 64 bits each.
 *
 * A search over 30 million states hides one behind an equal digest with a probability of 1 : 40 000.
 * The memory is bounded: a set that is full forgets new states, so that some are searched twice.
 */
#ifndef TESTS_ENUMERATE_STATES_H
#define TESTS_ENUMERATE_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct states {
    uint64_t *digests; /* 0: free */
    size_t capacity;   /* a power of two */
    size_t count;
    bool is_full;
};

/** Adds a value to a digest. */
static inline uint64_t digest_add(uint64_t digest, uint64_t value) {
    digest = (digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return digest ^ digest >> 32;
}

/** Adds a state; false: it is there already. */
bool states_insert(struct states *states, uint64_t digest);

void states_fini(struct states *states);

#endif /* TESTS_ENUMERATE_STATES_H */
