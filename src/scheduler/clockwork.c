/* SPDX-License-Identifier: MIT */
/* clockwork.c - how timers enter and leave the wheel of a clockwork, and when the expirer serves
   it. */
#include "clockwork.h"

static int create_wheel(const struct htw_scheduler *scheduler, uint64_t start,
                        struct htw_wheel **ret_wheel) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = scheduler->wheel_size;
    options.start = start;
    options.allocator = &scheduler->allocator;
    return htw_wheel_create(ret_wheel, &options);
}

int htw__clockwork_init(struct htw__clockwork *clockwork, const struct htw__clock *clock,
                        uint32_t slot) {
    clockwork->clock = clock;
    clockwork->slot = slot;
    HTW__ANNOTATE_ATOMIC(&clockwork->wake_tick, sizeof(clockwork->wake_tick));
    atomic_init(&clockwork->wake_tick, HTW_NEVER_TICK);
    clockwork->fast_after_tick = HTW_NEVER_TICK;
    uint64_t start = htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork));
    return create_wheel(clockwork->scheduler, start, &clockwork->wheel);
}

void htw__clockwork_fini(struct htw__clockwork *clockwork) {
    htw_wheel_destroy(clockwork->wheel);
    htw_wheel_destroy(clockwork->previous);
}

/* ---- when the expirer must serve it */

/*
 * Sets wake_tick, and fast_after_tick with it. A timer for a tick after fast_after_tick is armed
 * with one comparison, because
 *  - the alarm is set for an earlier tick. wake_tick counts only when the alarm is set to it: while
 *    a thread has lowered wake_tick and not yet set the alarm (`waking`), no tick is after it.
 *    Otherwise a timer would be late by as long as that thread is stopped.
 *  - the deadline, which was rounded up to its tick, is not in the past. The clock was at
 *    clock_read_tick, and the expirer serves this at wake_tick. Unless the expirer is late by
 *    more than a tick, the present tick is at most one after the later of the two.
 */
static void set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick) {
    uint64_t later = tick > clockwork->clock_read_tick ? tick : clockwork->clock_read_tick;
    atomic_store_explicit(&clockwork->wake_tick, tick, memory_order_relaxed);
    clockwork->fast_after_tick =
        clockwork->waking == 0 && later != HTW_NEVER_TICK ? later + 1 : HTW_NEVER_TICK;
}

/* Makes the expirer serve this at `tick`, which is at most fast_after_tick. */
static void plan_wake(struct htw__clockwork *clockwork, uint64_t tick, unsigned *ret_wake) {
    uint64_t planned = htw__clockwork_wake_tick(clockwork);
    if (tick >= planned && (clockwork->waking == 0 || tick == HTW_NEVER_TICK))
        return;
    if (!(*ret_wake & 1u << clockwork->slot))
        clockwork->waking++;
    *ret_wake |= 1u << clockwork->slot;
    clockwork->clock_read_tick =
        htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork));
    set_wake_tick(clockwork, tick < planned ? tick : planned);
}

void htw__clockwork_wake(struct htw__clockwork *clockwork) {
    const struct htw_scheduler *scheduler = clockwork->scheduler;
    int64_t at_ns = htw__tick_ns(scheduler, htw__clockwork_wake_tick(clockwork));
    htw__wake_at(clockwork->waker, clockwork->clock, at_ns);
    htw__lock_acquire(clockwork->lock);
    clockwork->waking--;
    set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    htw__lock_release(clockwork->lock);
}

/* ---- arming */

int htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__record *record,
                            uint64_t tick, int64_t deadline_ns, unsigned *ret_wake) {
    const struct htw_scheduler *scheduler = clockwork->scheduler;
    if (tick != 0 && tick != HTW_NEVER_TICK && deadline_ns <= htw__clockwork_now_ns(clockwork))
        tick = htw__tick_at(scheduler, deadline_ns);
    int error = htw_wheel_schedule(clockwork->wheel, &record->timer, tick);
    if (error == 0)
        plan_wake(clockwork, tick, ret_wake);
    return error;
}

int htw__clockwork_arm_within(struct htw__clockwork *clockwork, struct htw__record *record,
                              uint64_t earliest, uint64_t latest, unsigned *ret_wake) {
    htw__clockwork_disarm_previous(clockwork, record);
    int error = htw_wheel_schedule_within(clockwork->wheel, &record->timer, earliest, latest);
    if (error == 0 && htw_timer_deadline(&record->timer) <= clockwork->fast_after_tick)
        plan_wake(clockwork, htw_timer_deadline(&record->timer), ret_wake);
    return error;
}

/* Arms a record for as late as the wheel can without growing: the record is armed again whenever it
   comes up. Which levels the wheel has is found by trying; it always has the lowest. */
static void arm_in_reach(struct htw__clockwork *clockwork, struct htw__record *record,
                         uint64_t tick) {
    struct htw_wheel *wheel = clockwork->wheel;
    uint32_t option = clockwork->scheduler->wheel_size;
    uint64_t size = option == 0 ? HTW_WHEEL_SIZE_DEFAULT : option;
    uint64_t now = htw_wheel_now(wheel);
    uint64_t distance = size - 1;
    while (distance <= (tick - now) / size)
        distance *= size;
    while (htw_wheel_schedule(wheel, &record->timer, now + distance) != 0) {
        HTW_ASSERT(distance >= size);
        distance /= size;
    }
}

/* Arms a record for its deadline_ns, or earlier if the wheel cannot grow: then
   htw__clockwork_collect() arms it again. Does not wake the expirer. */
static void arm_always(struct htw__clockwork *clockwork, struct htw__record *record,
                       int64_t now_ns) {
    uint64_t tick = htw__tick_due(clockwork->scheduler, record->deadline_ns, now_ns);
    htw__clockwork_disarm_previous(clockwork, record);
    if (htw_wheel_schedule(clockwork->wheel, &record->timer, tick) != 0)
        arm_in_reach(clockwork, record, tick);
}

void htw__clockwork_arm_always(struct htw__clockwork *clockwork, struct htw__record *record,
                               int64_t now_ns, unsigned *ret_wake) {
    arm_always(clockwork, record, now_ns);
    if (htw_timer_deadline(&record->timer) <= clockwork->fast_after_tick)
        plan_wake(clockwork, htw_timer_deadline(&record->timer), ret_wake);
}

/* ---- a clock that was set back */

/*
 * The clock of a wheel cannot go back. So all timers move to a new wheel that begins at the new
 * time, a slice at a time; meanwhile both `previous` and `wheel` are in use. If there is no memory
 * for that, the old wheel stays. Its timers still come up at their time, but a timer that is armed
 * for a tick before the wheel's clock comes up at once, and is armed again until it is due.
 *
 * Wheels are created and destroyed without the lock, since both take long. Only the expirer
 * replaces wheels and advances their clocks, so it may read these without the lock.
 */
static struct htw_wheel *create_successor(const struct htw__clockwork *clockwork,
                                          uint64_t now_tick) {
    struct htw_wheel *wheel;
    if (clockwork->previous != NULL || now_tick >= htw_wheel_now(clockwork->wheel) ||
        create_wheel(clockwork->scheduler, now_tick, &wheel) != 0)
        return NULL;
    if (htw_wheel_reserve(wheel, HTW_NEVER_TICK) == 0)
        return wheel;
    htw_wheel_destroy(wheel);
    return NULL;
}

/* Moves up to HTW__SLICE timers. Returns the previous wheel, to be destroyed, when it is empty. */
static struct htw_wheel *move_from_previous(struct htw__clockwork *clockwork) {
    struct htw_wheel *previous = clockwork->previous;
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    if (htw_wheel_poll_batch(previous, HTW_NEVER_TICK, timers, HTW__SLICE, HTW__SLICE, &count) ==
        HTW_DONE)
        /* The timers that are left never become due. */
        while (count < HTW__SLICE && (timers[count] = htw_wheel_drain(previous)) != NULL)
            count++;
    for (size_t i = 0; i < count; i++) {
        /* Cannot fail: the wheel has all its levels. */
        int error = htw_wheel_schedule(clockwork->wheel, timers[i], htw_timer_deadline(timers[i]));
        HTW_ASSERT(error == 0);
        (void)error;
    }
    if (htw_wheel_count(previous) > 0)
        return NULL;
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    htw_wheel_get_stats(previous, &stats);
    clockwork->demoted += stats.demoted;
    clockwork->previous = NULL;
    return previous;
}

/* ---- due timers */

/* Adds timers that the wheel says are due to the batch, except those that were claimed or are not
   due by the clock. */
static void add_due(struct htw__clockwork *clockwork, struct htw_timer *const *timers, size_t count,
                    int64_t now_ns, struct htw__batch *batch) {
    for (size_t i = 0; i < count; i++) {
        struct htw__record *record = htw__record_of(timers[i]);
        uint64_t status = htw__status_of(record);
        /* A timer that was armed with no delay after `now_ns` was read is due, too. */
        if (htw__status_state(status) == HTW__PENDING && record->deadline_ns > now_ns) {
            int64_t later_ns = htw__clockwork_now_ns(clockwork);
            if (record->deadline_ns > later_ns) {
                arm_always(clockwork, record, later_ns); /* collect_slice() sets wake_tick */
                continue;
            }
        }
        if (htw__status_state(status) == HTW__PENDING &&
            htw__status_change(record, &status,
                               htw__status_in(status, HTW__QUEUED, status & HTW__HAS_ATTRIBUTES)))
            batch->records[batch->count++] = record;
    }
}

/* Under the lock. Returns whether there may be more. */
static bool collect_slice(struct htw__clockwork *clockwork, int64_t now_ns, uint64_t now_tick,
                          struct htw__batch *batch, uint32_t max) {
    struct htw_timer *timers[HTW__SLICE];
    size_t count;
    int progress =
        htw_wheel_poll_batch(clockwork->wheel, now_tick, timers, max, HTW__SLICE, &count);
    add_due(clockwork, timers, count, now_ns, batch);
    if (progress == HTW_MORE)
        return true;
    uint64_t next = htw_wheel_next(clockwork->wheel);
    /* The clock was set back and there was no memory for a new wheel: try again soon. */
    if (now_tick < htw_wheel_now(clockwork->wheel))
        next = now_tick + 1;
    set_wake_tick(clockwork, next);
    return false;
}

bool htw__clockwork_collect(struct htw__clockwork *clockwork, int64_t now_ns,
                            struct htw__batch *batch, uint32_t max) {
    uint64_t now_tick = htw__tick_at(clockwork->scheduler, now_ns);
    struct htw_wheel *successor = create_successor(clockwork, now_tick);
    struct htw_wheel *emptied = NULL;
    bool more = true;
    batch->count = 0;
    atomic_store_explicit(&batch->next, 0, memory_order_relaxed);
    htw__lock_acquire(clockwork->lock);
    clockwork->clock_read_tick = now_tick;
    set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    if (successor != NULL) {
        clockwork->previous = clockwork->wheel;
        clockwork->wheel = successor;
    }
    if (clockwork->previous != NULL)
        emptied = move_from_previous(clockwork);
    else
        more = collect_slice(clockwork, now_ns, now_tick, batch, max);
    htw__lock_release(clockwork->lock);
    htw_wheel_destroy(emptied);
    return more;
}
