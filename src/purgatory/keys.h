/* SPDX-License-Identifier: MIT */
/* keys.h - the keys of a request, hashed, each once. */
#ifndef HTW_SRC_PURGATORY_KEYS_H
#define HTW_SRC_PURGATORY_KEYS_H

#include "state.h"

/* With up to this many keys nothing is allocated, and each is compared with each. */
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

/* Whether they are keys at all, and neither none nor too many. */
bool htw__keys_are_valid(const struct htw_key *keys, size_t count);

/* Hashes them. 0 or -ENOMEM; then there is nothing to be given back. */
int htw__keys_init(struct htw__keys *keys, const struct htw_purgatory *purgatory,
                   const struct htw_key *source, size_t count);

void htw__keys_fini(struct htw__keys *keys, const struct htw_purgatory *purgatory);

#endif /* HTW_SRC_PURGATORY_KEYS_H */
