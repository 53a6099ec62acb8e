/* SPDX-License-Identifier: MIT */
/* later.h - checks that are made by the scheduler's threads. */
#ifndef HTW_SRC_PURGATORY_LATER_H
#define HTW_SRC_PURGATORY_LATER_H

#include "state.h"

/* Drops the checks that are queued. Nobody makes any more. */
void htw__later_drop(struct htw__purgatory_shard *shard);

/* Whether of all callbacks the last has come. */
bool htw__later_is_quiet(struct htw__purgatory_shard *shard);

#endif /* HTW_SRC_PURGATORY_LATER_H */
