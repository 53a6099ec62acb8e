/* SPDX-License-Identifier: MIT */
/* states.c - a table with open addressing. */
#include "states.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 1 << 12, CAPACITY_MAX = 1 << 26 };

static size_t place_of(const struct states *states, uint64_t digest) {
    size_t place = (size_t)(digest >> 20) & (states->capacity - 1);
    while (states->digests[place] != 0 && states->digests[place] != digest)
        place = (place + 1) & (states->capacity - 1);
    return place;
}

static void grow(struct states *states) {
    struct states larger = { .capacity =
                                 states->capacity == 0 ? CAPACITY_MIN : states->capacity * 2,
                             .count = states->count };
    larger.digests = calloc(larger.capacity, sizeof(*larger.digests));
    if (larger.digests == NULL)
        abort();
    for (size_t i = 0; i < states->capacity; i++)
        if (states->digests[i] != 0)
            larger.digests[place_of(&larger, states->digests[i])] = states->digests[i];
    free(states->digests);
    *states = larger;
}

bool states_insert(struct states *states, uint64_t digest) {
    digest += digest == 0;
    if (states->count >= states->capacity / 4 * 3 && states->capacity < CAPACITY_MAX)
        grow(states);
    size_t place = place_of(states, digest);
    if (states->digests[place] == digest)
        return false;
    states->count++;
    states->is_full = states->count >= states->capacity / 8 * 7;
    if (!states->is_full)
        states->digests[place] = digest;
    return true;
}

void states_fini(struct states *states) {
    free(states->digests);
    *states = (struct states) { NULL, 0, 0, false };
}
