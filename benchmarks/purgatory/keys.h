/* SPDX-License-Identifier: MIT */
/* keys.h - the keys of a workload: "topic-000000" and so on. */
#ifndef BENCH_PURGATORY_KEYS_H
#define BENCH_PURGATORY_KEYS_H

#include "../random.h"
#include "../scheduler/report.h"

#include <htw/purgatory.h>

#include <stdio.h>
#include <stdlib.h>

#define KEY_NAME_SIZE 16

struct keys {
    uint64_t count;
    size_t size; /* of each */
    char (*names)[KEY_NAME_SIZE];
};

static inline void keys_init(struct keys *keys, uint64_t count) {
    keys->count = count;
    keys->size = count <= 1000000 ? 12 : 14;
    keys->names = malloc(count * sizeof(*keys->names));
    if (keys->names == NULL)
        report_out_of_memory();
    for (uint64_t i = 0; i < count; i++)
        snprintf(keys->names[i], KEY_NAME_SIZE, "topic-%0*llu", (int)keys->size - 6,
                 (unsigned long long)i % 100000000);
}

static inline struct htw_key keys_at(const struct keys *keys, uint64_t index) {
    return (struct htw_key) { keys->names[index], keys->size };
}

#endif
