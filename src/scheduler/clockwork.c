/* SPDX-License-Identifier: MIT */
/* clockwork.c - how timers enter and leave the wheel of a clockwork, and when the expirer serves it;
   collect.c takes those that are due. */
#include "clockwork.h"

/* ---- its wheel */

static uint32_t wheel_size(const struct htw__clockwork *clockwork) {
    uint32_t option = clockwork->scheduler->wheel_size;
    return option == 0 ? HTW_WHEEL_SIZE_DEFAULT : option;
}

struct htw_wheel_options htw__clockwork_wheel_options(const struct htw__clockwork *clockwork,
                                                      uint64_t start) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = wheel_size(clockwork);
    options.start = start;
    options.allocator = &clockwork->scheduler->allocator;
    return options;
}

int htw__clockwork_init(struct htw__clockwork *clockwork, const struct htw__clock *clock,
                        uint32_t slot) {
    clockwork->clock = clock;
    clockwork->slot = slot;
    atomic_init(&clockwork->wake_tick, HTW_NEVER_TICK);
    clockwork->fast_after_tick = HTW_NEVER_TICK;
    struct htw_wheel_options options = htw__clockwork_wheel_options(
        clockwork, htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork)));
    return htw_wheel_create(&clockwork->wheel, &options);
}

void htw__clockwork_fini(struct htw__clockwork *clockwork) {
    htw_wheel_destroy(clockwork->wheel);
    htw_wheel_destroy(clockwork->previous);
}

/* Without a level for it, a record is armed for as late as the wheel can: it is armed again whenever
   it comes up. Which levels the wheel has is found by trying; it always has the lowest. */
static void arm_in_reach(struct htw__clockwork *clockwork, struct htw__record *record,
                         uint64_t tick) {
    struct htw_wheel *wheel = clockwork->wheel;
    uint64_t size = wheel_size(clockwork);
    uint64_t now = htw_wheel_now(wheel);
    uint64_t distance = size - 1;
    while (distance <= (tick - now) / size)
        distance *= size;
    while (htw_wheel_schedule(wheel, &record->timer, now + distance) != 0) {
        HTW_ASSERT(distance >= size);
        distance /= size;
    }
}

void htw__clockwork_put(struct htw__clockwork *clockwork, struct htw__record *record,
                        uint64_t tick) {
    htw__clockwork_disarm_previous(clockwork, record);
    if (htw_wheel_schedule(clockwork->wheel, &record->timer, tick) != 0)
        arm_in_reach(clockwork, record, tick);
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
 *  - the timer is not in the wheel before, which it would have to leave.
 */
void htw__clockwork_set_wake_tick(struct htw__clockwork *clockwork, uint64_t tick) {
    uint64_t later = tick > clockwork->clock_read_tick ? tick : clockwork->clock_read_tick;
    /* order: Alarms order it: see `resets`. */
    atomic_store_explicit(&clockwork->wake_tick, tick, memory_order_relaxed);
    bool is_fast = clockwork->waking == 0 && clockwork->previous == NULL;
    clockwork->fast_after_tick = is_fast && later != HTW_NEVER_TICK ? later + 1 : HTW_NEVER_TICK;
}

/* Makes the expirer serve a clockwork at `tick`, which is at most fast_after_tick. */
static void plan_alarm(struct htw__clockwork *clockwork, uint64_t tick, unsigned *ret_wake) {
    uint64_t planned = htw__clockwork_wake_tick(clockwork);
    if (tick >= planned && (clockwork->waking == 0 || tick == HTW_NEVER_TICK))
        return;
    if (!(*ret_wake & 1u << clockwork->slot))
        clockwork->waking++;
    *ret_wake |= 1u << clockwork->slot;
    clockwork->clock_read_tick =
        htw__tick_at(clockwork->scheduler, htw__clockwork_now_ns(clockwork));
    htw__clockwork_set_wake_tick(clockwork, tick < planned ? tick : planned);
}

void htw__clockwork_wake(struct htw__clockwork *clockwork) {
    const struct htw_scheduler *scheduler = clockwork->scheduler;
    int64_t at_ns = htw__tick_ns(scheduler, htw__clockwork_wake_tick(clockwork));
    htw__wake_at(clockwork->waker, clockwork->clock, at_ns);
    htw__lock_acquire(clockwork->lock);
    clockwork->waking--;
    htw__clockwork_set_wake_tick(clockwork, htw__clockwork_wake_tick(clockwork));
    htw__lock_release(clockwork->lock);
}

/* ---- arming */

void htw__clockwork_arm_near(struct htw__clockwork *clockwork, struct htw__record *record,
                             uint64_t tick, unsigned *ret_wake) {
    if (tick != 0 && tick != HTW_NEVER_TICK &&
        record->deadline_ns <= htw__clockwork_now_ns(clockwork))
        tick = htw__tick_at(clockwork->scheduler, record->deadline_ns);
    htw__clockwork_put(clockwork, record, tick);
    tick = htw_timer_deadline(&record->timer);
    if (tick <= clockwork->fast_after_tick)
        plan_alarm(clockwork, tick, ret_wake);
}
