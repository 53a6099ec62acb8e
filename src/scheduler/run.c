/* SPDX-License-Identifier: MIT */
/* run.c - runs callbacks: what comes before one, and what after. */
#include "run.h"

#include "credit.h"
#include "wake.h"
#include "attributes.h"
#include "group.h"
#include "shard.h"
#include "wait.h"

_Thread_local struct htw__run *htw__innermost_run;

struct htw__runner *htw__runner_create(const struct htw_scheduler *scheduler) {
    struct htw__runner *runner = htw__allocate(&scheduler->allocator, sizeof(*runner));
    if (runner == NULL)
        return NULL;
    *runner = (struct htw__runner) { 0 };
    htw__lock_init(&runner->lock, HTW__RANK_SCHEDULER_RUNNER);
    HTW__ANNOTATE_ATOMIC(&runner->started, sizeof(*runner) - offsetof(struct htw__runner, started));
    htw__histogram_init(&runner->lateness);
    htw__histogram_init(&runner->duration);
    return runner;
}

void htw__runner_destroy(const struct htw_scheduler *scheduler, struct htw__runner *runner) {
    htw__release(&scheduler->allocator, runner, sizeof(*runner));
}

static void write_counters(struct htw__runner *runner) {
    if (runner->shared)
        htw__lock_acquire(&runner->lock);
}

static void wrote_counters(struct htw__runner *runner) {
    if (runner->shared)
        htw__lock_release(&runner->lock);
}

/* What a runner knows while it works on a batch. */
struct pass {
    struct htw__runner *runner;
    struct htw__shard *shard;
    struct htw__batch *batch;
    struct htw__run run;
    int64_t now_ns;
    struct htw__record *running; /* whose callback is being called; NULL: none */
    bool running_extra;          /* it has a second record */
    uint32_t ended_count;        /* records that are DONE, to be freed together */
    struct htw__record *ended[HTW__SLICE];
};

/* What a callback that starts is told and given. */
struct start {
    struct htw_expiration expiration;
    void *arg;
    bool has_attributes, repeats;
};

/* It was cancelled, rescheduled, or its group paused, when it was due already. Under the lock. */
static void put_back(struct htw__shard *shard, struct htw__record *record, uint64_t status,
                     bool *ret_wake) {
    if (htw__status_state(status) != HTW__QUEUED) {
        /* Cancelled. Who did that may still look at the record, under the lock. */
        htw__shard_free_record(shard, record);
        return;
    }
    struct htw__attributes *attributes = status & HTW__HAS_ATTRIBUTES ? record->attributes : NULL;
    int64_t now_ns = htw__now_ns(shard->scheduler);
    htw__status_set(record, htw__status_in(status, HTW__PENDING, status & HTW__HAS_ATTRIBUTES));
    htw__attributes_resume(record, attributes, now_ns);
    htw__attributes_file(shard, record, attributes, now_ns, ret_wake);
}

static bool is_to_run(uint64_t status) {
    return htw__status_state(status) == HTW__QUEUED && !(status & HTW__REARM);
}

/* Counts a run from the step to RUNNING on: whoever sees the step in the shard sees the count. */
static inline __attribute__((always_inline)) void count_start(struct pass *pass,
                                                              struct htw_expiration *expiration) {
    struct htw__runner *runner = pass->runner;
    expiration->late_ns = htw__late_ns(pass->now_ns, expiration->deadline_ns);
    write_counters(runner);
    if (expiration->late_ns > expiration->scheduler->late_threshold_ns)
        htw__counter_add(&runner->late, 1);
    htw__histogram_record(&runner->lateness, (uint64_t)expiration->late_ns);
    htw__counter_add(&runner->started, 1);
    wrote_counters(runner);
}

/* A timer without a second record starts without the lock. The deadline is read before the step to
   RUNNING. Who moves a queued one says so in `status` first, so that what was read is right if the
   step succeeds. */
static bool begin_plain(struct pass *pass, struct htw__record *record, uint64_t status,
                        struct start *start) {
    do {
        if (!is_to_run(status))
            return false;
        start->expiration.deadline_ns = htw__deadline_peek(record);
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__RUNNING, 0)));
    start->arg = record->arg;
    count_start(pass, &start->expiration);
    return true;
}

/* One with a second record starts under the lock: a pause of its group, or a new timer with its
   key, comes either before all of this or after it. */
static void begin_with_attributes(struct pass *pass, struct htw__record *record, uint64_t status,
                                  struct start *start) {
    struct htw__attributes *attributes = record->attributes;
    htw__status_set(record, htw__status_in(status, HTW__RUNNING, HTW__HAS_ATTRIBUTES));
    start->has_attributes = true;
    start->repeats = attributes->period_ns > 0;
    start->arg = attributes->arg;
    start->expiration.deadline_ns = record->deadline_ns;
    start->expiration.missed = attributes->missed;
    attributes->missed = 0;
    if (!start->repeats)
        htw__attributes_remove_key(pass->shard, attributes);
    count_start(pass, &start->expiration);
}

/* Whether a queued timer is this thread's to run; if so, it is RUNNING. */
static bool begin(struct pass *pass, struct htw__record *record, struct start *start) {
    struct htw__shard *shard = pass->shard;
    uint64_t status = htw__status_of(record);
    if (!(status & HTW__HAS_ATTRIBUTES) && begin_plain(pass, record, status, start))
        return true;
    bool wake = false;
    htw__lock_acquire(&shard->lock);
    status = htw__status_of(record);
    bool runs = (status & HTW__HAS_ATTRIBUTES) && is_to_run(status);
    if (runs)
        begin_with_attributes(pass, record, status, start);
    else
        put_back(shard, record, status, &wake);
    htw__lock_release(&shard->lock);
    if (wake)
        htw__shard_wake(shard);
    return runs;
}

/* Sets a record to DONE that does not run again, and tells who waits for that. */
static void conclude(struct pass *pass, struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    while (!htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)))
        ;
    if (status & HTW__AWAITED)
        htw__wait_over(pass->shard->scheduler);
    pass->ended[pass->ended_count++] = record;
}

/* Sets the deadline to that of the next run, for a run that was planned for it and has
   ended at `now_ns`. Returns how many periods are left out. */
static uint64_t plan_next_run(struct htw__attributes *attributes, int64_t *deadline_ns,
                              int64_t now_ns) {
    int64_t period_ns = attributes->period_ns;
    int64_t next_ns = htw__after_ns(*deadline_ns, period_ns);
    uint64_t missed = 0;
    if (attributes->repeat == HTW_REPEAT_AFTER) {
        next_ns = htw__after_ns(now_ns, period_ns);
    } else if (next_ns <= now_ns && attributes->repeat == HTW_REPEAT_DELAY) {
        next_ns = htw__after_ns(now_ns, period_ns);
    } else if (next_ns <= now_ns && attributes->repeat == HTW_REPEAT_SKIP) {
        /* The difference of two instants may not fit 63 bits. */
        missed = ((uint64_t)now_ns - (uint64_t)next_ns) / (uint64_t)period_ns + 1;
        next_ns = htw__after_ns((int64_t)((uint64_t)next_ns + (missed - 1) * (uint64_t)period_ns),
                                period_ns);
    }
    *deadline_ns = next_ns;
    attributes->missed = missed;
    return missed;
}

/* After the callback of a timer that may run again, or has a second record. */
static void end_under_lock(struct pass *pass, struct htw__record *record) {
    struct htw__shard *shard = pass->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    bool wake = false;
    htw__lock_acquire(&shard->lock);
    uint64_t status = htw__status_of(record);
    struct htw__attributes *attributes = status & HTW__HAS_ATTRIBUTES ? record->attributes : NULL;
    bool repeats = attributes != NULL && attributes->period_ns > 0;
    bool again = !(status & HTW__CANCEL) && ((status & HTW__REARM) || repeats);
    struct htw__ended ended = { .attributes = NULL };
    if (again) {
        uint64_t missed =
            status & HTW__REARM ? 0 : plan_next_run(attributes, &record->deadline_ns, pass->now_ns);
        write_counters(pass->runner);
        htw__counter_add(&pass->runner->missed, missed);
        htw__counter_add(&pass->runner->rearmed, 1);
        wrote_counters(pass->runner);
        htw__status_set(record, htw__status_in(status, HTW__PENDING, status & HTW__HAS_ATTRIBUTES));
        /* Another thread may have moved it to an instant after the callback's end. */
        int64_t now_ns = status & HTW__REARM ? htw__now_ns(scheduler) : pass->now_ns;
        htw__attributes_file(shard, record, attributes, now_ns, &wake);
    } else {
        htw__attributes_detach(shard, record, attributes != NULL, &ended);
        if (repeats)
            htw__credit_give(shard); /* others have given theirs back when they began */
        /* Until it is DONE others find it running, but must not look for its second record, which
           is this thread's now, nor move it. */
        htw__status_set(record, htw__status_in(status, HTW__RUNNING,
                                               HTW__CANCEL | (unsigned)(status & HTW__AWAITED)));
    }
    htw__lock_release(&shard->lock);
    if (wake)
        htw__shard_wake(shard);
    if (again)
        return;
    htw__ended_settle(scheduler, &ended);
    if (!htw__is_child(scheduler))
        conclude(pass, record);
}

/* After the callback, however it has ended. */
static inline __attribute__((always_inline)) void end_run(struct pass *pass) {
    struct htw__runner *runner = pass->runner;
    struct htw__record *record = pass->running;
    int64_t end_ns = htw__now_ns(pass->shard->scheduler);
    pass->running = NULL;
    write_counters(runner);
    htw__histogram_record(&runner->duration,
                          end_ns > pass->now_ns ? (uint64_t)(end_ns - pass->now_ns) : 0);
    htw__counter_add(&runner->ended, 1);
    wrote_counters(runner);
    pass->now_ns = end_ns;
    if (pass->running_extra || (htw__status_of(record) & HTW__REARM))
        end_under_lock(pass, record);
    else
        conclude(pass, record);
}

static void run_one(struct pass *pass, struct htw__record *record) {
    struct htw__shard *shard = pass->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    struct start start = { .expiration.scheduler = scheduler };
    if (!begin(pass, record, &start))
        return;
    if (!start.repeats)
        htw__credit_return(scheduler, 1);
    htw_callback *callback = record->callback;
    start.expiration.handle = pass->run.handle = htw__handle_of(shard, record);

    pass->running_extra = start.has_attributes;
    pass->running = record;

    callback(start.arg, &start.expiration);
    if (htw__is_child(scheduler))
        return;

    end_run(pass);
}

/* From so many on it pays to leave records to whoever arms next: he fetches them ahead, and what he
   works on is not taken from his processor's cache. For a few records that is not worth a cleanup.
 */
#define LEAVE_MIN 16u

static void free_ended(struct pass *pass) {
    struct htw__shard *shard = pass->shard;
    if (pass->ended_count >= LEAVE_MIN) {
        htw__shard_push_all_stale(shard, pass->ended, pass->ended_count);
        return;
    }
    if (pass->ended_count == 0)
        return;
    htw__lock_acquire(&shard->lock);
    for (uint32_t i = 0; i < pass->ended_count; i++)
        htw__shard_free_record(shard, pass->ended[i]);
    bool dirty = htw__shard_is_dirty(shard);
    htw__lock_release(&shard->lock);
    if (dirty)
        htw__wake_for_cleanup(htw__expirer_of(shard));
}

static struct htw__record *take_next(struct htw__batch *batch) {
    uint32_t next = atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed);
    return next < batch->count ? batch->records[next] : NULL;
}

void htw__run_nothing(struct htw__batch *batch) {
    struct htw__shard *shard = batch->shard;
    struct htw__record *record;
    htw__lock_acquire(&shard->lock);
    while ((record = take_next(batch)) != NULL) {
        record->next = shard->unrun;
        shard->unrun = record;
    }
    htw__lock_release(&shard->lock);
}

/* A callback was left by a C++ exception, by pthread_exit() or because its thread was cancelled.
   That run has ended like any other; the timers that are left of the batch are put back. */
static __attribute__((noinline)) void end_unwound_run(struct pass *pass) {
    struct htw__shard *shard = pass->shard;
    struct htw__record *record;
    end_run(pass);
    while (!htw__is_over(shard->scheduler) && (record = take_next(pass->batch)) != NULL) {
        bool wake = false;
        htw__lock_acquire(&shard->lock);
        put_back(shard, record, htw__status_of(record), &wake);
        htw__lock_release(&shard->lock);
        if (wake)
            htw__shard_wake(shard);
    }
}

/* Also called when the stack is unwound through htw__run_batch(). */
static void end_pass(struct pass *pass) {
    const struct htw_scheduler *scheduler = pass->shard->scheduler;
    if (pass->running != NULL && !htw__is_child(scheduler))
        end_unwound_run(pass);
    htw__innermost_run = pass->run.outer;
    if (htw__is_child(scheduler))
        return;
    free_ended(pass);
    htw__run_nothing(pass->batch);
}

void htw__run_batch(struct htw__runner *runner, struct htw__batch *batch) {
    struct htw_scheduler *scheduler = batch->shard->scheduler;
    struct htw__record *record;
    struct pass pass __attribute__((cleanup(end_pass))) = {
        .runner = runner,
        .shard = batch->shard,
        .batch = batch,
        .run = { .scheduler = scheduler, .outer = htw__innermost_run },
        .now_ns = htw__now_ns(scheduler),
    };
    htw__innermost_run = &pass.run;
    while (!htw__is_over(scheduler) && (record = take_next(batch)) != NULL)
        run_one(&pass, record);
}
