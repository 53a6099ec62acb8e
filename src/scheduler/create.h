/* SPDX-License-Identifier: MIT */
/* create.h - creates a scheduler with an option that only tests use: the width of indices. */
#ifndef HTW_SRC_SCHEDULER_CREATE_H
#define HTW_SRC_SCHEDULER_CREATE_H

#include <htw/scheduler.h>

/*
 * As htw_scheduler_create(). `index_bits`, from 12 to 32, is the number of bits of a handle
 * for the timers of a shard; 0 means 32 minus the bits for the shard, which leaves 32 bits for the
 * generation. Tests choose 12 to run out of indices, or 32 to run out of generations.
 */
int htw__scheduler_create(struct htw_scheduler **ret_scheduler,
                          const struct htw_scheduler_options *options, uint32_t index_bits);

#endif /* HTW_SRC_SCHEDULER_CREATE_H */
