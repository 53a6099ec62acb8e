/* SPDX-License-Identifier: MIT */
/* check.h - what an event on a key does. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "state.h"

/* Asks the requests on a key, until `max` have ended with HTW_REASON_COMPLETED; how many have. */
int64_t htw__check(struct htw__frame *frame, uint64_t hash, const void *key, size_t size,
                   uint64_t max);

/* 0; what a call about a key answers when it cannot be one, or the purgatory is not this process's.
 */
int htw__key_refusal(const struct htw_purgatory *purgatory, const void *key, size_t key_size);

#endif /* HTW_SRC_PURGATORY_CHECK_H */
