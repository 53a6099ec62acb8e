/* SPDX-License-Identifier: MIT */
/*
 * htw/timer.h - what few programs need of a single timer: a range of times, the place in the program that
 * arms it, its state, the rest of its delay, another period.
 *
 * Threads, ownership and errors are as in htw/scheduler.h. No function blocks.
 */
#ifndef HTW_TIMER_H
#define HTW_TIMER_H

#include <htw/scheduler.h>

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ scheduling */

/**
 * Schedules a callback, once, at any time of a range (a delay with slack): callbacks whose ranges
 * overlap tend to run together, with fewer wake-ups (htw_wheel_schedule_within()). Otherwise as
 * htw_schedule().
 *
 * @param earliest_ns the shortest allowed delay.
 * @param latest_ns   the longest allowed delay; at least `earliest_ns`. If no tick is in the range,
 *                    the callback runs at the first tick after `earliest_ns`, or now, if that is 0
 *                    or less.
 * @return as htw_schedule();
 *         -EINVAL also if `earliest_ns` is greater than `latest_ns`.
 */
HTW_WARN_UNUSED static inline int htw_schedule_within(struct htw_scheduler *scheduler,
                                                      int64_t earliest_ns, int64_t latest_ns,
                                                      htw_callback *callback, void *arg,
                                                      htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = callback;
    spec.arg = arg;
    spec.when_ns = earliest_ns;
    spec.latest_ns = latest_ns;
    return earliest_ns > latest_ns ? -EINVAL
                                   : htw_schedule_spec(scheduler, &spec, ret_handle, NULL);
}

/* ------------------------------------------------------------------ places in the program */

/**
 * The place in a program where timers are armed, for tools to show: htw_scheduler_dump(). It must stay
 * as it is while a timer of it exists; HTW_HERE() makes one that is static and read-only.
 */
struct htw_site {
    htw_callback *callback; /**< not NULL */
    const char *name;       /**< what its timers are for, such as "idle"; NULL: none */
    const char *file;       /**< the source file, as the compiler was told its name; NULL: none */
    const char *function;   /**< the function that arms; NULL: none */
    uint32_t line;          /**< in `file`; 0: none */
};

/**
 * The site of this line: a `const struct htw_site *`.
 *
 *     htw_schedule_here(scheduler, 30 * HTW_SECOND, HTW_HERE(expired, "idle"), connection, &handle)
 *
 * Only in functions, for gcc, clang and compilers that have their statement expressions.
 *
 * @param here_callback a constant: the name of a function.
 * @param here_name     a constant string, or NULL.
 */
#ifdef __cplusplus
#define HTW_HERE(here_callback, here_name)                                                   \
    (__extension__({                                                                         \
        static constexpr htw_site htw_here = { here_callback, here_name, __FILE__, __func__, \
                                               __LINE__ };                                   \
        &htw_here;                                                                           \
    }))
#else
#define HTW_HERE(here_callback, here_name)                                                      \
    (__extension__({                                                                            \
        static const struct htw_site htw_here = { here_callback, here_name, __FILE__, __func__, \
                                                  __LINE__ };                                   \
        &htw_here;                                                                              \
    }))
#endif

/**
 * Copies a site and its texts into memory of the scheduler, for a site that is made at run time. Sites that are
 * alike have one copy, so what is counted of it goes on when the object that it stands for has gone and comes again.
 *
 * @param site its callback is not NULL.
 * @return the copy, which is freed with the scheduler;
 *         NULL: there is no memory, there are HTW_SITES_MAX copies, or an argument is wrong: schedule without
 *         a site.
 *
 * Cost: O(copies); not for each timer.
 */
HTW_API const struct htw_site *htw_scheduler_keep_site(struct htw_scheduler *scheduler,
                                                       const struct htw_site *site);

/**
 * Schedules the callback of a site, once, after a delay. Otherwise as htw_schedule(). For all else that a
 * timer can have: `site` of struct htw_spec.
 *
 * @param site see struct htw_site; not NULL.
 *
 * Cost: as htw_schedule(). The site takes no memory, but the callback's start reads it: a line of the
 * cache that all its timers share.
 */
HTW_WARN_UNUSED static inline int htw_schedule_here(struct htw_scheduler *scheduler,
                                                    int64_t delay_ns, const struct htw_site *site,
                                                    void *arg, htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.site = site;
    spec.arg = arg;
    spec.when_ns = delay_ns;
    spec.latest_ns = delay_ns;
    return htw_schedule_spec(scheduler, &spec, ret_handle, NULL);
}

/** How many frames of a stack are kept. */
#define HTW_STACK_FRAMES 16

/** The calls by which a timer was scheduled: return addresses, the innermost first. */
struct htw_stack {
    uint32_t depth; /**< how many frames there are */
    const void *frames[HTW_STACK_FRAMES];
};

/** What an event of the flight recorder tells of a timer: htw_scheduler_visit(). */
enum htw_event_kind {
    HTW_EVENT_ARMED = 1,     /**< scheduled */
    HTW_EVENT_CANCELLED = 2, /**< cancelled or replaced, without a run */
    HTW_EVENT_MOVED = 3,     /**< given a new deadline; also after a run, if it runs again */
    HTW_EVENT_STARTED = 4,   /**< its callback begins */
    HTW_EVENT_ENDED = 5,     /**< its callback has returned */
    HTW_EVENT_WOKEN = 6 /**< an expirer has woken up, and this timer was the first due, if any */
};

/* ------------------------------------------------------------------ handles */

/**
 * Cancels a timer as htw_cancel(), and tells how much of its delay was left.
 *
 * @param ret_left_ns receives, with HTW_CANCELLED, the time to the deadline by the timer's clock: 0
 *                    if the timer was due; HTW_NEVER_NS if it had no deadline. Of a paused timer:
 *                    the rest that it kept.
 * @return as htw_cancel().
 *
 * Cost: as htw_cancel(), but reads the clock, and always locks the shard of the timer.
 */
HTW_API HTW_WARN_UNUSED int htw_cancel_remaining(struct htw_scheduler *scheduler, htw_handle handle,
                                                 int64_t *ret_left_ns);

/** As htw_reschedule(), but with a deadline of the timer's clock instead of a delay. */
HTW_API int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle,
                              int64_t deadline_ns);

/**
 * Gives a repeating timer another period, from its next run on, and reports the outcome.
 *
 * @param period_ns in nanoseconds; more than 0.
 * @return HTW_MOVED: the timer has the new period;
 *         HTW_GONE: the timer has ended, or `handle` never identified one;
 *         -EINVAL also if the timer does not repeat.
 */
HTW_API int htw_set_period(struct htw_scheduler *scheduler, htw_handle handle, int64_t period_ns);

/** What is known of a timer. */
struct htw_timer_info {
    /** By `clock`, not rounded. Of a paused timer: as if it were resumed now. While the callback is running: of
        this run, or what the timer was given since. */
    int64_t deadline_ns;
    enum htw_clock clock; /**< not HTW_CLOCK_DEFAULT */
    /** Whether it waits for a run: it has a deadline or HTW_NEVER_NS, is paused, or is due and its callback has
        not started. False while the callback is running, unless it was rescheduled since. */
    bool pending;
};

/**
 * Gets what is known of a timer.
 *
 * @return 0: success;
 *         -ENOENT: the handle is stale;
 *         -EINVAL.
 *
 * Cost: O(1); locks the shard of the timer.
 */
HTW_API int htw_scheduler_timer_info(struct htw_scheduler *scheduler, htw_handle handle,
                                     struct htw_timer_info *ret_info);

/** Returns whether a timer waits for a run: `pending` of struct htw_timer_info. False for a stale handle. */
static inline bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle) {
    struct htw_timer_info info;
    return htw_scheduler_timer_info(scheduler, handle, &info) == 0 && info.pending;
}

#ifdef __cplusplus
}
#endif

#endif /* HTW_TIMER_H */
