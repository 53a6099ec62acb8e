/* SPDX-License-Identifier: MIT */
/* collisions.c - keys that collide, and the length of chains. */
#include "collisions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char collisions[COLLISIONS][COLLISION_SIZE];

/* A table of up to 2 * COLLISIONS buckets uses these bits of a hash. */
#define BITS_USED (2 * (uint64_t)COLLISIONS - 1)

void collisions_find(void) {
    size_t found = 0;
    for (uint32_t number = 0; found < COLLISIONS; number++) {
        char key[COLLISION_SIZE + 1];
        snprintf(key, sizeof(key), "%08" PRIx32, number);
        if ((htw__key_hash(key, COLLISION_SIZE, 0) & BITS_USED) == 0)
            memcpy(collisions[found++], key, COLLISION_SIZE);
    }
}

/* A chain ends where a node has no next one. */
size_t longest_chain(const struct htw__key_table *table) {
    size_t longest = 0, length = 0;
    struct htw__key_node *node = NULL;
    while ((node = htw__key_table_next(table, node)) != NULL) {
        length++;
        if (length > longest)
            longest = length;
        if (node->next == NULL)
            length = 0;
    }
    return longest;
}
