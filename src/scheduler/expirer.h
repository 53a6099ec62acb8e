/* SPDX-License-Identifier: MIT */
/* expirer.h - waits for deadlines and runs due timers, in a thread of its own or in that of the
   user (process.c). */
#ifndef HTW_SRC_SCHEDULER_EXPIRER_H
#define HTW_SRC_SCHEDULER_EXPIRER_H

#include "../base/histogram.h"
#include "shard.h"
#include "wake.h"

struct htw__thread;

struct htw__expirer {
    alignas(64) struct htw__waker waker;
    struct htw_scheduler *scheduler;
    unsigned index;
    uint32_t first_served;   /* the number of a clockwork: see htw__expirer_run_due() */
    bool begins;             /* the thread has just become the expirer */
    int64_t busy_since_ns;   /* when it woke up last, by the monotonic clock */
    struct htw__batch batch; /* where there are no workers */
    struct htw__counter wakeups, empty_wakeups;
    bool woken; /* and has not yet found out why */
};

/* Starts no thread. 0 or a negative errno; in either case htw__waker_fini() must follow. */
int htw__expirer_init(struct htw__expirer *expirer, struct htw_scheduler *scheduler,
                      unsigned index);

/* The times of the clocks that timers of a scheduler have, by slot. */
struct htw__present {
    unsigned
        slots; /* the set of those that are in use; that of the scheduler's own clock always is */
    int64_t ns[HTW__SLOT_COUNT];
};

struct htw__present htw__present_of(const struct htw_scheduler *scheduler);

/* When the expirer must serve one of its shards, as an instant of the scheduler's own clock. */
int64_t htw__expirer_next_ns(const struct htw__expirer *expirer);

/* How long until the expirer must serve one of its shards, by whatever clock; 0: it must now;
   HTW_NEVER_NS: never. */
int64_t htw__expirer_left_ns(const struct htw__expirer *expirer,
                             const struct htw__present *present);

/* Plans the alarm for when the expirer must serve one of its shards or clean up, or for
   `latest_ns`. Returns that instant. */
int64_t htw__expirer_plan_alarm(struct htw__expirer *expirer, int64_t latest_ns);

/* Takes the timers of its shards that are due, up to `budget`, and runs them or hands them over.
   Returns how many; if fewer than `budget`, no more are due, unless the scheduler is being
   stopped. `thread`: that of the expirer, which may be a worker afterwards; NULL: one of the
   user's. */
size_t htw__expirer_run_due(struct htw__expirer *expirer, struct htw__thread *thread,
                            const struct htw__present *present, size_t budget);

/* Cleans up its shards, if htw__wake_for_cleanup() was called. Unless `all` is set, shards whose
   threads will soon reuse the stale records are left for later. False: a timer is due, or the scheduler
   is being stopped, and there is more to clean up. */
bool htw__expirer_clean_up(struct htw__expirer *expirer, bool all);

#endif /* HTW_SRC_SCHEDULER_EXPIRER_H */
