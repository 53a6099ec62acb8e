/* SPDX-License-Identifier: MIT */
/* ids.c - a hash table with linear probing, without marks of what was removed. */
#include "ids.h"

#include "../../../src/base/key_table.h"
#include "../../../src/base/random.h"
#include "memory.h"

#include <stdlib.h>

#define ROOM_LEAST 64u
#define FLAGS (HTW__ID_LEAVING | HTW__ID_UNSURE | HTW__ID_OCCURS(0) | HTW__ID_OCCURS(1))

void htw__ids_fini(struct htw__relay_ids *self) {
    free(self->entries);
    *self = (struct htw__relay_ids) { .entries = NULL };
}

uint64_t htw__ids_hash(struct htw__bytes key, struct htw__bytes id) {
    return htw__key_hash(id.bytes, id.size, htw__key_hash(key.bytes, key.size, key.bytes != NULL));
}

/* Where a hash is, if nothing else is there. */
static size_t first_place_of(const struct htw__relay_ids *self, uint64_t hash) {
    return (size_t)htw__key_hash(&hash, sizeof(hash), self->seed) & (self->room - 1);
}

/* Where a hash is, or would be. */
static size_t place_of(const struct htw__relay_ids *self, uint64_t hash) {
    size_t at = first_place_of(self, hash);
    while (self->entries[at].offset != 0 && self->entries[at].hash != hash)
        at = (at + 1) & (self->room - 1);
    return at;
}

int64_t htw__ids_find(const struct htw__relay_ids *self, uint64_t hash, int64_t *ret_flags) {
    int64_t found = self->room == 0 ? 0 : self->entries[place_of(self, hash)].offset;
    if (ret_flags != NULL)
        *ret_flags = found & FLAGS;
    return (found & ~FLAGS) - 1;
}

static void grow(struct htw__relay_ids *self) {
    struct htw__relay_ids larger = { .count = self->count, .unsure = self->unsure };
    larger.seed = self->room == 0 ? htw__random_seed(self) : self->seed;
    larger.room = self->room == 0 ? ROOM_LEAST : self->room * 2;
    larger.entries = htw__memory(larger.room * sizeof(*larger.entries));
    for (size_t i = 0; i < self->room; i++)
        if (self->entries[i].offset != 0)
            larger.entries[place_of(&larger, self->entries[i].hash)] = self->entries[i];
    free(self->entries);
    *self = larger;
}

void htw__ids_put(struct htw__relay_ids *self, uint64_t hash, int64_t offset, int64_t flags) {
    if ((self->count + 1) * 3 > self->room * 2)
        grow(self);
    struct htw__id *entry = &self->entries[place_of(self, hash)];
    self->count += entry->offset == 0;
    self->unsure -= (entry->offset & HTW__ID_UNSURE) != 0;
    self->unsure += (flags & HTW__ID_UNSURE) != 0;
    *entry = (struct htw__id) { hash, (offset + 1) | flags };
}

/* Later ones move up, so that each is still found from its own place on. */
void htw__ids_remove(struct htw__relay_ids *self, uint64_t hash) {
    size_t hole = self->room == 0 ? 0 : place_of(self, hash), mask = self->room - 1;
    if (self->room == 0 || self->entries[hole].offset == 0)
        return;
    self->count--;
    self->unsure -= (self->entries[hole].offset & HTW__ID_UNSURE) != 0;
    for (size_t at = (hole + 1) & mask; self->entries[at].offset != 0; at = (at + 1) & mask) {
        size_t own = first_place_of(self, self->entries[at].hash);
        if (((at - own) & mask) < ((at - hole) & mask))
            continue;
        self->entries[hole] = self->entries[at];
        hole = at;
    }
    self->entries[hole].offset = 0;
}

bool htw__ids_next_unsure(const struct htw__relay_ids *self, size_t *at, uint64_t *ret_hash) {
    for (; *at < self->room; ++*at)
        if ((self->entries[*at].offset & HTW__ID_UNSURE) != 0) {
            *ret_hash = self->entries[*at].hash;
            return true;
        }
    return false;
}
