/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - the stack of calls by which each timer was scheduled, while that is observed.
 *
 * A shard keeps them in a table of a fixed size, each at the place that the number of the timer's record says, with its
 * handle. A stack whose timer has ended makes room for the next; while its timer lives, a stack that would need the
 * same place is dropped, and counted.
 */
#ifndef HTW_SRC_OBSERVE_STACKS_H
#define HTW_SRC_OBSERVE_STACKS_H

#include "safe_copy.h"
#include "../scheduler/shard.h"

#include <stdio.h>

/* Creates the table of a shard, unless it has one. 0, -ENOMEM, or -ENOTSUP: there are no stacks here. Any
   thread. */
int htw__stacks_prepare(struct htw__shard *shard);

void htw__stacks_fini(struct htw__shard *shard);

/* Fills in the stack of the caller of the calling function. */
void htw__stack_fill(struct htw_stack *stack);

/* The same if it is to be kept. Returns `stack`; NULL: it is not. Not under a lock. */
static inline const struct htw_stack *htw__stack_take(const struct htw_scheduler *scheduler,
                                                      struct htw_stack *stack) {
    if (HTW__LIKELY(!(htw__mode(scheduler) & HTW_OBSERVE_STACKS)))
        return NULL;
    htw__stack_fill(stack);
    return stack;
}

/* ---- under the lock of the shard */

/* The stack of a timer that was armed. */
void htw__stacks_keep(struct htw__shard *shard, htw_handle handle, const struct htw_stack *stack);

/* The memory of the table. */
uint64_t htw__stacks_bytes(const struct htw__shard *shard);

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
    uint64_t others;  /* timers whose stack is another one than these */
    uint64_t unknown; /* timers without a stack */
    uint64_t dropped; /* stacks */
};

/* `stack` NULL: it is not known. */
void htw__stack_census_add(struct htw__stack_census *census, const struct htw_stack *stack);

/* Adds what the shards of a scheduler have dropped. */
void htw__stack_census_add_dropped(struct htw__stack_census *census,
                                   struct htw_scheduler *scheduler);

/* Those of most timers first. */
void htw__stack_census_write(struct htw__stack_census *census, const struct htw__safe_copy *copy,
                             FILE *stream);

#endif /* HTW_SRC_OBSERVE_STACKS_H */
