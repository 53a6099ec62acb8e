/* SPDX-License-Identifier: MIT */
/* run.c - runs the callbacks of a batch: the steps before and after each callback. */
#include "run.h"

#include "../base/user_code.h"
#include "attributes.h"
#include "observe.h"

struct htw__run_stats *htw__run_stats_create(const struct htw_scheduler *scheduler, uint32_t n) {
    struct htw__run_stats *run_stats = htw__allocate(&scheduler->allocator, sizeof(*run_stats));
    if (run_stats == NULL)
        return NULL;
    *run_stats = (struct htw__run_stats) { 0 };
    htw__lock_init(&run_stats->lock, HTW__RANK_SCHEDULER_RUN_STATS);
    htw__histogram_init(&run_stats->lateness);
    htw__histogram_init(&run_stats->duration);
    run_stats->number = n;
    return run_stats;
}

void htw__run_stats_destroy(const struct htw_scheduler *scheduler,
                            struct htw__run_stats *run_stats) {
    htw__release(&scheduler->allocator, run_stats, sizeof(*run_stats));
}

/* The work of a thread on a batch. */
struct pass {
    struct htw__run_stats *run_stats;
    struct htw__shard *shard;
    struct htw__callback_frame frame;
    int64_t now_ns;
    uint32_t ended_count; /* records that are DONE, to be freed together */
    struct htw__record *ended[HTW__SLICE];
};

/* The start of a callback. */
struct start {
    struct htw_expiration expiration;
    htw_callback *callback;
    void *arg;
    bool has_attributes, repeats;
};

/* ---- before the callback */

/* For a queued timer that is not run now: it was cancelled or rescheduled, its group was paused, or
   the scheduler is being stopped. It is freed or becomes pending again. Under the lock. */
static void put_back(struct htw__shard *shard, struct htw__record *record, uint64_t status,
                     unsigned *ret_wake) {
    if (htw__status_state(status) != HTW__QUEUED) {
        htw__slab_free(&shard->slab, &record->cell); /* it was cancelled */
        return;
    }
    struct htw__attributes *attributes = htw__attributes_of(record, status);
    int64_t now_ns = htw__clockwork_now_ns(htw__clockwork_of(shard, attributes));
    htw__status_set(record, htw__status_in(status, HTW__PENDING, status & HTW__HAS_ATTRIBUTES));
    htw__attributes_resume(record, attributes, now_ns);
    htw__attributes_arm(shard, record, attributes, now_ns, ret_wake);
}

static bool is_to_run(uint64_t status) {
    return htw__status_state(status) == HTW__QUEUED && !(status & HTW__REARM);
}

static __attribute__((cold)) HTW__NOINLINE void
count_late(struct htw__run_stats *run_stats, const struct htw_expiration *expiration) {
    htw__counter_add(&run_stats->late, 1);
    htw__note(expiration->scheduler, HTW__NOTE_LATE, expiration->late_ns);
}

/* Counts a run, at the step to RUNNING: a thread that sees the step under the lock of the shard
   sees the count. `now_ns` is a time of the timer's clock. */
static inline __attribute__((always_inline)) void
count_start(const struct pass *pass, struct htw_expiration *expiration, int64_t now_ns) {
    struct htw__run_stats *run_stats = pass->run_stats;
    expiration->late_ns = htw__late_ns(now_ns, expiration->deadline_ns);
    htw__run_stats_lock(run_stats);
    if (HTW__UNLIKELY(expiration->late_ns > expiration->scheduler->late_threshold_ns))
        count_late(run_stats, expiration);
    htw__histogram_record(&run_stats->lateness, (uint64_t)expiration->late_ns);
    htw__counter_add(&run_stats->started, 1);
    htw__run_stats_unlock(run_stats);
}

/* A timer without attributes starts without the lock. The deadline is read before the step to
   RUNNING. A thread that moves a queued timer sets HTW__REARM before it changes the deadline, so
   the deadline that was read is right if the step succeeds. */
static inline __attribute__((always_inline)) bool
begin_plain(struct pass *pass, struct htw__record *record, uint64_t status, struct start *start) {
    do {
        if (!is_to_run(status))
            return false;
        start->expiration.deadline_ns = htw__deadline_peek(record);
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__RUNNING, 0)));
    start->callback = htw__callback_of(record, status);
    start->arg = record->arg;
    start->expiration.clock = pass->shard->scheduler->clock->name;
    count_start(pass, &start->expiration, pass->now_ns);
    return true;
}

/* The present time of a timer's clock, where that of the own clock is known: each thread reads it
   once between two callbacks. */
static int64_t now_of(const struct pass *pass, const struct htw__clockwork *clockwork) {
    return clockwork == &pass->shard->own ? pass->now_ns : htw__clockwork_now_ns(clockwork);
}

/* A timer with attributes starts under the lock: a pause of its group, or a new timer with its key,
   comes before all of this or after it. */
static void begin_with_attributes(struct pass *pass, struct htw__record *record, uint64_t status,
                                  struct start *start) {
    struct htw__attributes *attributes = record->attributes;
    htw__status_set(record, htw__status_in(status, HTW__RUNNING, HTW__HAS_ATTRIBUTES));
    start->has_attributes = true;
    start->callback = htw__attributes_callback(record, status, attributes);
    start->repeats = attributes->period_ns > 0;
    start->arg = attributes->arg;
    start->expiration.deadline_ns = record->deadline_ns;
    start->expiration.clock = attributes->clockwork->clock->name;
    start->expiration.missed = attributes->missed;
    attributes->missed = 0;
    if (!start->repeats)
        htw__attributes_set_keyed(pass->shard, attributes, false);
    count_start(pass, &start->expiration, now_of(pass, attributes->clockwork));
}

/* True: the timer is RUNNING, and this thread must run its callback. */
static inline __attribute__((always_inline)) bool
begin(struct pass *pass, struct htw__record *record, struct start *start) {
    struct htw__shard *shard = pass->shard;
    uint64_t status = htw__status_of(record);
    if (!(status & HTW__HAS_ATTRIBUTES) && begin_plain(pass, record, status, start))
        return true;
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    status = htw__status_of(record);
    bool runs = (status & HTW__HAS_ATTRIBUTES) && is_to_run(status);
    if (runs)
        begin_with_attributes(pass, record, status, start);
    else
        put_back(shard, record, status, &wake);
    htw__lock_release(&shard->lock);
    if (wake != 0)
        htw__shard_wake(shard, wake);
    return runs;
}

/* ---- after the callback */

/* Sets a record that does not run again to DONE, and wakes the threads that wait for that. */
static void finish_record(struct pass *pass, struct htw__record *record) {
    uint64_t status = htw__status_of(record);
    while (!htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)))
        ;
    if (status & HTW__AWAITED)
        htw__cancel_waiters_notify(&pass->shard->scheduler->cancel_waiters);
    pass->ended[pass->ended_count++] = record;
}

/* Sets the deadline of the next run, after a run for `*deadline_ns` that has ended at `now_ns`.
   Returns how many periods are left out. */
static uint64_t plan_next_run(struct htw__attributes *attributes, int64_t *deadline_ns,
                              int64_t now_ns) {
    int64_t period_ns = attributes->period_ns;
    int64_t next_ns = htw__after_ns(*deadline_ns, period_ns);
    uint64_t missed = 0;
    if (attributes->repeat == HTW_REPEAT_AFTER ||
        (next_ns <= now_ns && attributes->repeat == HTW_REPEAT_DELAY)) {
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

/* For a timer that may run again, or has attributes. */
static void end_under_lock(struct pass *pass, struct htw__record *record) {
    struct htw__shard *shard = pass->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    uint64_t status = htw__status_of(record);
    struct htw__attributes *attributes = htw__attributes_of(record, status);
    const struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    bool repeats = attributes != NULL && attributes->period_ns > 0;
    bool again = !(status & HTW__CANCEL) && ((status & HTW__REARM) || repeats);
    struct htw__timer_end ended = { .attributes = NULL };
    if (again) {
        /* A timer that was moved may be due later than at the end of the callback. */
        int64_t now_ns =
            status & HTW__REARM ? htw__clockwork_now_ns(clockwork) : now_of(pass, clockwork);
        uint64_t missed =
            status & HTW__REARM ? 0 : plan_next_run(attributes, &record->deadline_ns, now_ns);
        htw__run_stats_lock(pass->run_stats);
        htw__counter_add(&pass->run_stats->missed, missed);
        htw__counter_add(&pass->run_stats->rearmed, 1);
        htw__run_stats_unlock(pass->run_stats);
        htw__status_set(record, htw__status_in(status, HTW__PENDING, status & HTW__HAS_ATTRIBUTES));
        htw__attributes_arm(shard, record, attributes, now_ns, &wake);
        htw__observe_moved(shard, record, htw__handle_of(shard, record));
    } else {
        htw__attributes_detach(shard, record, attributes != NULL, &ended);
        if (repeats)
            htw__credit_add(scheduler, 1); /* other timers released theirs when they started */
        /* Other threads find it RUNNING until it is DONE. They must not move it or read its
           attributes, which this thread frees. */
        htw__status_set(record, htw__status_in(status, HTW__RUNNING,
                                               HTW__CANCEL | (unsigned)(status & HTW__AWAITED)));
    }
    htw__lock_release(&shard->lock);
    if (wake != 0)
        htw__shard_wake(shard, wake);
    if (again)
        return;
    htw__timer_end_release(scheduler, &ended);
    finish_record(pass, record);
}

/* After a callback. `observed`: NULL: nothing is. */
static inline __attribute__((always_inline)) void
end_run(struct pass *pass, struct htw__record *record, bool has_attributes,
        const struct htw__observed_run *observed) {
    struct htw__run_stats *run_stats = pass->run_stats;
    int64_t end_ns = htw__now_ns(pass->shard->scheduler);
    htw__run_stats_lock(run_stats);
    htw__histogram_record(&run_stats->duration,
                          end_ns > pass->now_ns ? (uint64_t)(end_ns - pass->now_ns) : 0);
    htw__counter_add(&run_stats->ended, 1);
    htw__run_stats_unlock(run_stats);
    pass->now_ns = end_ns;
    if (observed != NULL)
        pass->shard->scheduler->calls->ended(run_stats, observed, end_ns);
    HTW__ANNOTATE_HAND_OVER(record); /* to the next run, and to a cancel that finds it over */
    if (has_attributes || (htw__status_of(record) & HTW__REARM))
        end_under_lock(pass, record);
    else
        finish_record(pass, record);
}

/* ---- a batch */

/* `usual`: a constant; what observes and counts credits is left out. */
static inline __attribute__((always_inline)) void run_one(struct pass *pass,
                                                          struct htw__record *record, bool usual) {
    struct htw__shard *shard = pass->shard;
    struct htw_scheduler *scheduler = shard->scheduler;
    struct start start = { .expiration.scheduler = scheduler };
    if (!begin(pass, record, &start))
        return;
    if (!usual && !start.repeats)
        htw__credit_add(scheduler, 1);
    start.expiration.handle = pass->frame.handle = htw__handle_of(shard, record);
    HTW__ANNOTATE_TAKE_OVER(record);
    struct htw__observed_run observed;
    bool is_observed = !usual && htw__is_observed(scheduler);
    if (is_observed)
        scheduler->calls->started(pass->run_stats, record, &start.expiration, pass->now_ns,
                                  &observed);

    HTW__PROBE6(expire_entry, scheduler, start.expiration.handle, HTW__PROBE_SITE(record),
                HTW__PROBE_FLAGS(record), start.expiration.deadline_ns, start.expiration.late_ns);
    HTW__CALL_USER("a callback", scheduler, start.callback,
                   start.callback(start.arg, &start.expiration));
    HTW__PROBE4(expire_exit, scheduler, pass->frame.handle, HTW__PROBE_SITE(record),
                HTW__PROBE_FLAGS(record));
    end_run(pass, record, start.has_attributes, is_observed ? &observed : NULL);
}

static __attribute__((noinline)) void run_unusual(struct pass *pass, struct htw__record *record) {
    run_one(pass, record, false);
}

/* From this many records on it pays to leave them to the next thread that arms in the shard: it
   fetches them ahead, and its cache does not lose other lines of the slab. For fewer records a
   cleanup would cost more. */
#define PUSH_MIN 16u

static void free_ended(struct pass *pass) {
    struct htw__shard *shard = pass->shard;
    if (pass->ended_count >= PUSH_MIN && htw__shard_has_room_for_stale(shard)) {
        htw__shard_push_all_stale(shard, pass->ended, pass->ended_count, pass->run_stats->pushed);
        return;
    }
    if (pass->ended_count == 0)
        return;
    htw__lock_acquire(&shard->lock);
    for (uint32_t i = 0; i < pass->ended_count; i++)
        htw__slab_free(&shard->slab, &pass->ended[i]->cell);
    htw__shard_unlock_freed(shard);
}

void htw__put_back_unstarted(struct htw__batch *batch) {
    struct htw__shard *shard = batch->shard;
    struct htw__record *record;
    unsigned wake = 0; /* nothing starts any more */
    htw__lock_acquire(&shard->lock);
    while ((record = htw__batch_next(batch)) != NULL)
        put_back(shard, record, htw__status_of(record), &wake);
    htw__lock_release(&shard->lock);
}

static __attribute__((cold)) void end_unusual(struct htw_scheduler *scheduler, unsigned mode,
                                              struct htw__batch *batch) {
    if (mode & HTW__MODE_STOPPING)
        htw__put_back_unstarted(batch);
    if (mode & HTW__MODE_NOTES)
        htw__notes_tell(scheduler);
}

void htw__run_batch(struct htw__run_stats *run_stats, struct htw__batch *batch) {
    struct htw_scheduler *scheduler = batch->shard->scheduler;
    struct htw__record *record;
    struct pass pass = {
        .run_stats = run_stats,
        .shard = batch->shard,
        .frame = { .scheduler = scheduler },
        .now_ns = htw__now_ns(scheduler),
    };
    htw__callback_frame_push(&pass.frame);
    unsigned mode;
    while (!((mode = htw__mode(scheduler)) & HTW__MODE_STOPPING) &&
           (record = htw__batch_next(batch)) != NULL) {
        if (HTW__LIKELY(mode == 0))
            run_one(&pass, record, true);
        else
            run_unusual(&pass, record);
    }
    htw__callback_frame_pop(&pass.frame);
    free_ended(&pass);
    if (HTW__UNLIKELY(mode & (HTW__MODE_STOPPING | HTW__MODE_NOTES)))
        end_unusual(scheduler, mode, batch);
}
