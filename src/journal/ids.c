/* SPDX-License-Identifier: MIT */
/* ids.c - gives ids, in blocks of 256, each for one place. */
#include "ids.h"

#include "../base/random.h"

#include <string.h>

/* The place is the first of its set after this. The set forgets the one that was used longest ago. */
static struct htw__open_block *find(struct htw__ids *self, uint64_t place) {
    struct htw__open_block *set = self->open[htw__random_mix(place) % HTW__IDS_SETS];
    struct htw__open_block found = { .place = place };
    size_t way = 0;
    while (way < HTW__IDS_WAYS - 1 && set[way].place != place)
        way++;
    if (set[way].place == place)
        found = set[way];
    memmove(set + 1, set, way * sizeof(*set));
    set[0] = found;
    return set;
}

uint64_t htw__ids_give(struct htw__ids *self, uint64_t place) {
    struct htw__open_block *block = find(self, place);
    if (block->next % HTW__BLOCK_IDS == 0) {
        block->next = self->next_block;
        self->next_block += HTW__BLOCK_IDS;
    }
    return block->next++;
}
