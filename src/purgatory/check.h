/* SPDX-License-Identifier: MIT */
/* check.h - what an event on a key does. */
#ifndef HTW_SRC_PURGATORY_CHECK_H
#define HTW_SRC_PURGATORY_CHECK_H

#include "state.h"

/* Asks the requests on a key, until `max` have ended with HTW_REASON_COMPLETED; how many have. */
int64_t htw__check(struct htw__frame *frame, uint64_t hash, const void *key, size_t size,
                   uint64_t max);

#endif /* HTW_SRC_PURGATORY_CHECK_H */
