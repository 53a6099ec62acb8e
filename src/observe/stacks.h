/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - the stack of calls by which each timer was scheduled, while that is observed.
 *
 * A shard keeps them in a table of a fixed size, each at the place that the number of the timer's record says, with its
 * handle. A stack whose timer has ended makes room for the next; while its timer lives, a stack that would need the
 * same place is dropped.
 */
#ifndef HTW_SRC_OBSERVE_STACKS_H
#define HTW_SRC_OBSERVE_STACKS_H

#include "observation.h"
#include "safe_copy.h"

#include <stdio.h>

/* For one of so many shards. Under the mutex of the observation. False: no memory. */
bool htw__observer_add_stacks(struct htw__observer *observer, uint32_t shard_count);

/* As `take_stack` of struct htw__observe_calls. */
void htw__stack_fill(struct htw_stack *stack);

/* ---- under the lock of the shard */

/* The stack of a timer that was armed. */
void htw__stacks_keep(struct htw__shard *shard, htw_handle handle, const struct htw_stack *stack);

/* NULL: that of this timer is not known. */
const struct htw_stack *htw__stacks_find(const struct htw__shard *shard, htw_handle handle);

/* ---- stacks that are alike */

#define HTW__STACKS_ALIKE 32u

struct htw__stack_count {
    uint64_t timers;
    struct htw_stack stack;
};

/* Zeroed: nothing. */
struct htw__stack_census {
    struct htw__stack_count counts[HTW__STACKS_ALIKE];
    uint32_t count;
    uint64_t timers;
    uint64_t others;  /* timers whose stack is another one than these */
    uint64_t unknown; /* timers without a stack */
};

/* `stack` NULL: it is not known. */
void htw__stack_census_add(struct htw__stack_census *census, const struct htw_stack *stack);

/* Those of most timers first. */
void htw__stack_census_write(struct htw__stack_census *census, const struct htw__safe_copy *copy,
                             FILE *stream);

/* As `stop` of struct htw__observe_calls. */
void htw__stop_and_report(struct htw_scheduler *scheduler,
                          void (*stop)(struct htw_scheduler *, htw_unexpired_visitor *, void *));

#endif /* HTW_SRC_OBSERVE_STACKS_H */
