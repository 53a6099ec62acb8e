/* SPDX-License-Identifier: MIT */
/*
 * htw/scheduler_options.h - how a scheduler is set up: units of time, the clocks, and the options of
 * htw_scheduler_create(). htw/scheduler.h includes it.
 *
 * Threads that call one scheduler share its locks, without priority inheritance. Give them the same
 * scheduling class and similar nice values; threads of a real-time class may call rarely. If a
 * thread of class SCHED_IDLE or with a high nice value schedules all the time, and shares its
 * processor with a busy thread, it can delay the calls of other threads by seconds: give it its own
 * scheduler.
 *
 * The threads of the library block all signals and cannot be cancelled. A thread of yours that is cancelled in
 * a call ends after the call, if its cancellation is not asynchronous (PTHREAD_CANCEL_ASYNCHRONOUS): no
 * function is a cancellation point.
 */
#ifndef HTW_SCHEDULER_OPTIONS_H
#define HTW_SCHEDULER_OPTIONS_H

#include <htw/base.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A delay that never ends, or a deadline that the clock never reaches, in nanoseconds. */
#define HTW_NEVER_NS INT64_MAX

/** Units of time, in nanoseconds. */
#define HTW_MICROSECOND INT64_C(1000)
#define HTW_MILLISECOND INT64_C(1000000)
#define HTW_SECOND INT64_C(1000000000)
#define HTW_MINUTE INT64_C(60000000000)
#define HTW_HOUR INT64_C(3600000000000)
#define HTW_DAY INT64_C(86400000000000)

/** The clock of a scheduler, or of one of its timers. */
enum htw_clock {
    /** Of a scheduler: HTW_CLOCK_MONOTONIC. Of a timer: the clock of its scheduler. */
    HTW_CLOCK_DEFAULT = 0,
    HTW_CLOCK_MONOTONIC = 1, /**< never set; stops while the machine is suspended */
    /** Never set; continues while the machine is suspended. Only on Linux: elsewhere -EINVAL. */
    HTW_CLOCK_BOOTTIME = 2,
    /**
     * The wall clock, in nanoseconds since 1970. When it is set, forward or back, deadlines follow.
     * So do delays, which are added to its value when they are scheduled. On other systems than Linux
     * it takes up to a second until a sleeping thread notices, which wakes up each second for that.
     */
    HTW_CLOCK_REALTIME = 3,
    /**
     * Changes only in htw_scheduler_advance() and _set_clock(): for tests. In a
     * scheduler with this clock, the other clocks of its timers are manual, too: each has a time
     * of its own, which begins with `manual_start_ns`.
     */
    HTW_CLOCK_MANUAL = 4
};

struct htw_executor; /* executor.h */

/** The limits of the options. */
#define HTW_TICK_NS_MIN HTW_MICROSECOND
#define HTW_TICK_NS_MAX HTW_HOUR
#define HTW_SHARDS_MAX 1024u
#define HTW_EXPIRERS_MAX 64u
#define HTW_WORKERS_MAX 256u
#define HTW_NO_WORKERS UINT32_MAX
#define HTW_EVENTS_MAX 1048576u

/** What is observed, one bit each: htw_scheduler_observe(). */
#define HTW_OBSERVE_SITES 1u  /**< counts by site, wake-ups and herds */
#define HTW_OBSERVE_EVENTS 2u /**< the flight recorder: htw_scheduler_visit() */
#define HTW_OBSERVE_STACKS 4u /**< the stack of each call that schedules; with glibc or Windows */

/** The options of a scheduler. Start from HTW_SCHEDULER_OPTIONS_INIT. */
struct htw_scheduler_options {
    /** sizeof(struct htw_scheduler_options); HTW_SCHEDULER_OPTIONS_INIT sets it. */
    size_t struct_size;
    /** The length of a tick, from HTW_TICK_NS_MIN to HTW_TICK_NS_MAX; 0 means 1 ms. A short tick
        costs nothing while no timer is due. */
    int64_t tick_ns;
    /** The number of buckets in each level of the wheels, as `size` of struct htw_wheel_options;
        0 means 256. */
    uint32_t wheel_size;
    /** The number of independent parts, each with its own lock, up to HTW_SHARDS_MAX; 0 means one
        for each CPU that is online. A thread schedules in the shard of the CPU on which it runs, or
        in the next one while that is locked. */
    uint32_t shards;
    /** The number of threads that wait for deadlines, each for a part of the shards: up to
        HTW_EXPIRERS_MAX, and not more than shards; 0 means 1. */
    uint32_t expirers;
    /** The number of threads that may run callbacks at once, up to HTW_WORKERS_MAX. The expirers run
        short callbacks themselves; workers start when they are first needed. 0 means 2. HTW_NO_WORKERS: only
        the expirers run callbacks, and a slow callback delays all that follow. Not used if `embedded` is set
        or there is an `executor`. */
    uint32_t workers;
    /** The clock of all deadlines and delays, except those of timers with another one (`clock` of
        struct htw_spec). */
    enum htw_clock clock;
    /**
     * No threads: your event loop waits for htw_scheduler_fd(), or until htw_scheduler_next(), and
     * then calls htw_scheduler_process(). One shard is enough, unless many threads schedule.
     */
    bool embedded;
    /** Start all threads in htw_scheduler_create(); otherwise they start with the first timer. */
    bool start_threads;
    /** The most timers that may be pending at once; 0 means no limit. Timers that wait, are due or
        are paused count. Running timers count only if they repeat. The limit is never exceeded.
        With a limit, all CPUs share a counter. */
    uint64_t max_pending;
    /** An expirer may sleep this much longer than to the earliest deadline, so that it serves
        several timers at once; at least 0. */
    int64_t timer_slack_ns;
    /** A callback that starts more than this after its deadline counts as late in the statistics;
        at least 0; 0 means 10 ms. */
    int64_t late_threshold_ns;
    /** The first value of HTW_CLOCK_MANUAL; at least 0. */
    int64_t manual_start_ns;
    /** The prefix of thread names: "NAME-expirer-0", "NAME-worker-2". Linux allows 15 characters,
        so NAME is cut at its end. NULL means "htw". */
    const char *thread_name;
    /** NULL: the workers of the library run the callbacks. The struct is copied. */
    const struct htw_executor *executor;
    /** The allocator; NULL means the default one. Must be thread-safe. The library may call it
        while it holds a lock of its own. The struct is copied. */
    const struct htw_allocator *allocator;
    /** What is observed from the beginning: a set of HTW_OBSERVE_...; 0: nothing. */
    uint32_t observe;
    /** How many events the flight recorder keeps, up to HTW_EVENTS_MAX; 0 means 65536. Each shard and each
        thread that runs callbacks has its part of them. */
    uint32_t event_count;
};

/** The defaults: one expirer and two workers, which start when needed; a tick of 1 ms. */
#define HTW_SCHEDULER_OPTIONS_INIT HTW__INIT(htw_scheduler_options)

#ifdef __cplusplus
}
#endif

#endif /* HTW_SCHEDULER_OPTIONS_H */
