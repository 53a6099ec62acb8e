/* SPDX-License-Identifier: MIT */
/* keys.h - the keys of a call: checks that they are valid, and hashes each once. */
#ifndef HTW_SRC_PURGATORY_KEYS_H
#define HTW_SRC_PURGATORY_KEYS_H

#include "shard.h"

/* Up to this many keys need no memory, and are compared with each other. */
#define HTW__KEYS_FEW 16u

struct htw__hashed_key {
    uint64_t hash;
    const struct htw_key *key;
};

struct htw__keys {
    struct htw__hashed_key *hashed; /* `count` of them */
    size_t count;
    size_t allocated; /* 0: `hashed` is `few` */
    struct htw__hashed_key few[HTW__KEYS_FEW];
};

/* Whether all keys are valid, and there are 1 to UINT32_MAX of them. */
bool htw__keys_are_valid(const struct htw_key *keys, size_t count);

/* Hashes the keys and drops duplicates. 0 or -ENOMEM; then htw__keys_fini() is not needed. */
int htw__keys_init(struct htw__keys *keys, const struct htw_purgatory *purgatory,
                   const struct htw_key *source, size_t count);

void htw__keys_fini(struct htw__keys *keys, const struct htw_purgatory *purgatory);

/* Why a call about one key cannot begin: as htw__purgatory_refusal(), or -EINVAL for the key. */
int htw__key_refusal(const struct htw_purgatory *purgatory, const void *key, size_t key_size);

#endif /* HTW_SRC_PURGATORY_KEYS_H */
