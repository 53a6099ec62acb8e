/* SPDX-License-Identifier: MIT */
/* expirer.h - waits for deadlines and runs due timers, in a thread of its own or in that of the
   user (process.c). */
#ifndef HTW_SRC_SCHEDULER_EXPIRER_H
#define HTW_SRC_SCHEDULER_EXPIRER_H

#include "../base/counter.h"
#include "wake.h"

struct htw__expirer {
    alignas(64) struct htw__waker waker;
    struct htw_scheduler *scheduler;
    unsigned index;
    uint32_t first_shard; /* the one of its shards that it serves first */
    pthread_t thread;
    struct htw__run_stats *run_stats; /* where it runs callbacks itself; otherwise NULL */
    struct htw__batch batch;          /* where there are no workers */
    struct htw__counter wakeups, empty_wakeups;
};

/* Starts no thread. 0 or a negative errno; in either case htw__expirer_fini() must follow. */
int htw__expirer_init(struct htw__expirer *expirer, struct htw_scheduler *scheduler,
                      unsigned index);
void htw__expirer_fini(struct htw__expirer *expirer);

int htw__expirer_start(struct htw__expirer *expirer);

/* Waits for the thread, which ends when the scheduler is being stopped. */
void htw__expirer_join(struct htw__expirer *expirer);

/* The earliest tick at which one of its shards must be served; HTW_NEVER_TICK: none. */
uint64_t htw__expirer_next_tick(const struct htw__expirer *expirer);

/* Takes the timers of its shards that are due at `now_ns`, up to `budget`, and runs them or hands
   them over. Returns how many; if fewer than `budget`, no more are due, unless the scheduler is
   being stopped. */
size_t htw__expirer_run_due(struct htw__expirer *expirer, int64_t now_ns, size_t budget);

/* Cleans up its shards, if htw__wake_for_cleanup() was called. Unless `all` is set, shards whose
   threads will soon reuse the stale records are left for later. */
void htw__expirer_clean_up(struct htw__expirer *expirer, bool all);

#endif /* HTW_SRC_SCHEDULER_EXPIRER_H */
