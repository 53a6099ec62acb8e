/* SPDX-License-Identifier: MIT */
/*
 * keys.h - the keys of a workload: "topic-aaaaaaaa" and so on. They are written where they are
 * needed, as a server reads names from a request. A table of all keys would displace what is
 * measured from the caches.
 */
#ifndef BENCH_PURGATORY_KEYS_H
#define BENCH_PURGATORY_KEYS_H

#include <htw/purgatory.h>

#include <string.h>

#define KEY_PREFIX "topic-"
#define KEY_PREFIX_SIZE 6
#define KEY_SIZE (KEY_PREFIX_SIZE + 8)

struct key_name {
    char bytes[16];
};

/* Writes the name of a number, four bits a letter. Returns the key, which refers to the name. */
static inline struct htw_key keys_write(struct key_name *name, uint32_t number) {
    uint64_t letters = number;
    letters = (letters | letters << 16) & UINT64_C(0x0000ffff0000ffff);
    letters = (letters | letters << 8) & UINT64_C(0x00ff00ff00ff00ff);
    letters = (letters | letters << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    letters += 'a' * UINT64_C(0x0101010101010101);
    memcpy(name->bytes, KEY_PREFIX, KEY_PREFIX_SIZE);
    memcpy(name->bytes + KEY_PREFIX_SIZE, &letters, sizeof(letters));
    return (struct htw_key) { name->bytes, KEY_SIZE };
}

#endif
