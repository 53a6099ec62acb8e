/* SPDX-License-Identifier: MIT */
/*
 * clocks.h - the clocks that a scheduler and its timers may use; the present time, in nanoseconds
 * and ticks.
 *
 * A scheduler has a clock of its own; its timers may use the others, too. In a scheduler with manual
 * time all of them are manual, and each has its own time.
 *
 * A NEW CLOCK is the next value of enum htw_clock, a row in clocks.c, and the function in base/clock.h
 * that reads it. What else must change, the compiler asks for. As the own clock of a scheduler it sets
 * the alarm, which knows only some of the kernel's clocks (port/alarm.h). If it can be set, the alarm
 * must treat it as it treats the wall clock. C++ (time.hpp), Python (_scheduler.py) and Rust (time.rs)
 * have an enumeration of their own.
 */
#ifndef HTW_SRC_SCHEDULER_CLOCKS_H
#define HTW_SRC_SCHEDULER_CLOCKS_H

#include "state.h"
#include "../base/compiler.h"

#include <htw/wheel.h>

struct htw__clock {
    int64_t (*read_ns)(void); /* NULL: manual time, a member of the scheduler */
    enum htw_clock name;
    htw__system_clock id; /* what the alarm of an expirer is set by, unless it is manual */
    bool is_settable; /* it may jump; durations then use another clock: steady.h; instants stay in
                         a pause: attributes.h */
};

/* The clock of a scheduler. NULL: there is no such clock, or this system does not have it. */
const struct htw__clock *htw__clock_of(enum htw_clock clock);

/* The clock of a timer. NULL: a timer of this scheduler cannot have it. */
const struct htw__clock *htw__clock_for(const struct htw_scheduler *scheduler,
                                        enum htw_clock clock);

/* Whether time changes only in htw_scheduler_advance() and htw_scheduler_set_clock(). */
static inline bool htw__is_manual(const struct htw_scheduler *scheduler) {
    return scheduler->clock->read_ns == NULL;
}

/* The time of a clock that a timer of the scheduler may have. */
static inline int64_t htw__clock_now_ns(const struct htw_scheduler *scheduler,
                                        const struct htw__clock *clock) {
    int64_t (*read_ns)(void) = clock->read_ns;
    /* order: Manual time: a number alone. */
    return HTW__LIKELY(read_ns != NULL)
               ? read_ns()
               : atomic_load_explicit(&scheduler->manual_ns[clock->name], memory_order_relaxed);
}

/* The time of the scheduler's own clock. */
static inline int64_t htw__now_ns(const struct htw_scheduler *scheduler) {
    return htw__clock_now_ns(scheduler, scheduler->clock);
}

/* The last tick that has begun at an instant. */
static inline uint64_t htw__tick_at(const struct htw_scheduler *scheduler, int64_t ns) {
    return ns < 0 ? 0 : htw__divide((uint64_t)ns, &scheduler->tick);
}

/* The first tick that begins at or after an instant. */
static inline uint64_t htw__tick_from(const struct htw_scheduler *scheduler, int64_t ns) {
    if (ns == HTW_NEVER_NS)
        return HTW_NEVER_TICK;
    return ns <= 0 ? 0 : htw__divide_up((uint64_t)ns, &scheduler->tick);
}

/* The tick at which a deadline is due. A deadline in the future is rounded up, so that no timer is
   early. One in the past is rounded down, so that no timer waits for the next tick. */
static inline uint64_t htw__tick_due(const struct htw_scheduler *scheduler, int64_t deadline_ns,
                                     int64_t now_ns) {
    return deadline_ns <= now_ns ? htw__tick_at(scheduler, deadline_ns)
                                 : htw__tick_from(scheduler, deadline_ns);
}

/* When a tick begins. */
static inline int64_t htw__tick_ns(const struct htw_scheduler *scheduler, uint64_t tick) {
    uint64_t ns;
    bool overflows = __builtin_mul_overflow(tick, scheduler->tick.value, &ns);
    return overflows || ns > INT64_MAX ? HTW_NEVER_NS : (int64_t)ns;
}

/* `now` and a delay; HTW_NEVER_NS where the sum does not fit. A negative delay counts as 0. */
/*@ assigns \nothing;
    ensures \result == (delay_ns <= 0 ? now : now + delay_ns > INT64_MAX ? HTW_NEVER_NS : now + delay_ns); */
static inline int64_t htw__after_ns(int64_t now, int64_t delay_ns) {
    int64_t sum;
    if (delay_ns <= 0)
        return now;
    return __builtin_add_overflow(now, delay_ns, &sum) ? HTW_NEVER_NS : sum;
}

/* When a timer is due: its deadline, and the tick to which that was rounded up; 0: at once. */
struct htw__due {
    int64_t deadline_ns;
    uint64_t tick;
};

static inline struct htw__due htw__due_at(const struct htw_scheduler *scheduler,
                                          int64_t deadline_ns) {
    return (struct htw__due) { deadline_ns, htw__tick_from(scheduler, deadline_ns) };
}

/* A delay of 0 or less is due at once, not at the next tick. */
static inline struct htw__due htw__due_after(const struct htw_scheduler *scheduler,
                                             const struct htw__clock *clock, int64_t delay_ns) {
    int64_t now_ns = htw__clock_now_ns(scheduler, clock);
    if (delay_ns <= 0)
        return (struct htw__due) { now_ns, 0 };
    return htw__due_at(scheduler, htw__after_ns(now_ns, delay_ns));
}

/* What the scheduler's own clock will show at an instant of another clock, if neither is set
   meanwhile; or a little less. */
int64_t htw__own_from_ns(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                         int64_t at_ns);

/* How long until an instant: at least 0; HTW_NEVER_NS where that does not fit. */
/*@ assigns \nothing;
    ensures \result == (at_ns == HTW_NEVER_NS || at_ns - now > INT64_MAX ? HTW_NEVER_NS : at_ns <= now ? 0 : at_ns - now); */
static inline int64_t htw__left_ns(int64_t now, int64_t at_ns) {
    int64_t left;
    if (at_ns == HTW_NEVER_NS)
        return HTW_NEVER_NS;
    if (at_ns <= now)
        return 0;
    return __builtin_sub_overflow(at_ns, now, &left) ? HTW_NEVER_NS : left;
}

/* How late it is; at least 0, since the clock may have been set back. */
/*@ assigns \nothing;
    ensures \result == (deadline_ns >= now ? 0 : now - deadline_ns > INT64_MAX ? INT64_MAX : now - deadline_ns); */
static inline int64_t htw__late_ns(int64_t now, int64_t deadline_ns) {
    int64_t late;
    if (deadline_ns >= now)
        return 0;
    return __builtin_sub_overflow(now, deadline_ns, &late) ? INT64_MAX : late;
}

#endif /* HTW_SRC_SCHEDULER_CLOCKS_H */
