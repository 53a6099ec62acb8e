/* SPDX-License-Identifier: MIT */
/*
 * htw/scheduler.h - timers for programs with threads: runs callbacks at their time, in a small pool
 * of threads, in your own executor, or in your own event loop.
 *
 *     static void expired(void *arg, const struct htw_expiration *expiration) { ... }
 *
 *     struct htw_scheduler *scheduler;
 *     if (htw_scheduler_create(&scheduler, NULL) != 0) ...
 *     if (htw_schedule(scheduler, 30 * HTW_SECOND, expired, connection, &handle) != 0) ...
 *     ...
 *     if (htw_cancel(scheduler, handle) == HTW_CANCELLED)
 *         release(connection);
 *
 * Time is int64_t nanoseconds of the scheduler's clock. A delay is relative to the present, a
 * deadline is absolute. A delay of 0 or less, or a deadline in the past, means now; HTW_NEVER_NS
 * means never. A sum that is too great becomes HTW_NEVER_NS. A deadline in the future is rounded up
 * to a tick, so a callback never starts early; it starts late by less than a tick, plus the time
 * that waking a thread takes. A timer that is due now does not wait for the next tick.
 *
 * Threads. Any thread may call any function at any time, also from a callback, release hook or
 * visitor, unless the function says otherwise. Only these functions block: htw_cancel_wait(),
 * htw_scheduler_stop(), _destroy(), _advance(), _set_clock() and _process(). The others may spin
 * briefly on a lock. The library holds no lock while a callback, hook, visitor or executor runs; it
 * may hold one while it calls an allocator. No function may be called in a signal handler.
 *
 * Ownership of `arg`. While a timer is scheduled, the library keeps `arg`.
 *  - Without a release hook: the callback owns `arg` when it runs. The caller owns it again if
 *    scheduling fails, if a cancel returns HTW_CANCELLED, if its timer is replaced under a key, or
 *    if a visitor receives it.
 *  - With a release hook (`release` of struct htw_spec): the library owns `arg` until it calls the
 *    hook, exactly once. The hook runs in the thread that ended the timer: the thread that ran the
 *    callback (after the callback), that cancelled it (inside the cancel), that replaced its key,
 *    or that stopped the scheduler (after the visitor).
 *  - A callback that repeats or reschedules itself cannot know whether another thread has cancelled
 *    the timer during the run. Then that thread owns `arg` after its htw_cancel_wait() has
 *    returned. So end such timers with htw_cancel_wait(), or give them a hook.
 *
 * Errors. Each function returns -EINVAL for NULL where NULL is not allowed, and -EOWNERDEAD in a
 * child process after fork, where the scheduler of the parent does nothing. Functions that cannot
 * return an error then return false, 0 or HTW_NEVER_NS, or do nothing.
 *
 * Fork. A child process may create its own scheduler. A child that is forked inside a callback, hook,
 * visitor or executor must leave by exec or _exit(): see htw_callback.
 */
#ifndef HTW_SCHEDULER_H
#define HTW_SCHEDULER_H

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdio.h>

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

/** A scheduler; opaque. */
struct htw_scheduler;

/** A set of timers that are cancelled, paused and resumed together; opaque. */
struct htw_group;

/** A callback that is due, for an executor to run; opaque. */
struct htw_task;

/**
 * Identifies a timer; 0 identifies none. When the timer has ended the handle is stale, and never
 * identifies another timer. (A record is not used again after 2^32 timers.)
 */
typedef uint64_t htw_handle;

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

/** What a callback learns about its run. */
struct htw_expiration {
    struct htw_scheduler *scheduler;
    htw_handle handle;    /**< of this timer; htw_reschedule() with it starts the timer again */
    int64_t deadline_ns;  /**< the deadline of this run, not rounded */
    int64_t late_ns;      /**< time from the deadline to the start of the callback; at least 0 */
    uint64_t missed;      /**< periods skipped since the previous run (HTW_REPEAT_SKIP) */
    enum htw_clock clock; /**< the clock of `deadline_ns` and `late_ns`; not HTW_CLOCK_DEFAULT */
};

/**
 * The callback of a timer. `expiration` is valid until the callback returns.
 *
 * Callbacks, release hooks, visitors and executors must return. If one throws a C++
 * exception, calls pthread_exit() or is left by a cancellation of its thread, the library writes which
 * one it was to standard error, and aborts; longjmp() out of it is not noticed. A thread that is
 * cancelled in a call of the library ends after the call, if its cancellation is not asynchronous
 * (PTHREAD_CANCEL_ASYNCHRONOUS). Threads of the library cannot be cancelled.
 *
 * A child that is forked in a callback, hook, visitor or executor must leave by exec or _exit(). One that
 * returns ends there, in any thread: the library writes to standard error which code it was, and calls
 * _exit(1).
 */
typedef void htw_callback(void *arg, const struct htw_expiration *expiration);

/** Called exactly once when a timer has ended: the library does not use `arg` any more. */
typedef void htw_release_hook(void *arg);

struct htw_site;

/** How many frames of a stack are kept. */
#define HTW_STACK_FRAMES 16

/** The calls by which a timer was scheduled: return addresses, the innermost first. */
struct htw_stack {
    uint32_t depth; /**< how many frames there are */
    const void *frames[HTW_STACK_FRAMES];
};

/** A timer that ended without a run: cancelled, replaced, or not run before a stop. */
struct htw_unexpired {
    htw_handle handle; /**< stale; 0 in ret_replaced: no timer */
    htw_callback *callback;
    void *arg;                   /**< a visitor owns it now, unless the timer has a release hook */
    int64_t deadline_ns;         /**< HTW_NEVER_NS: never. Of a paused timer: as if resumed now */
    enum htw_clock clock;        /**< the clock of `deadline_ns`; not HTW_CLOCK_DEFAULT */
    const struct htw_site *site; /**< where it was armed; NULL: it had none */
    /** Only for the visitor of htw_scheduler_stop(), with HTW_OBSERVE_STACKS. NULL: none was kept. */
    const struct htw_stack *stack;
};

/** Called for a timer that ended without a run. `unexpired` is valid until it returns. */
typedef void htw_unexpired_visitor(void *context, const struct htw_unexpired *unexpired);

/** The outcome of a cancel or a reschedule. */
enum htw_outcome {
    /** No timer has the handle or key: it has ended, or never existed. */
    HTW_GONE = 0,
    /** The timer was pending; its callback does not run (again). */
    HTW_CANCELLED = 1,
    /** The callback is running. After a cancel, this is its last run. */
    HTW_RUNNING = 2,
    /** The timer has its new deadline or period. */
    HTW_MOVED = 3
};

/** Runs callbacks in your own threads instead of those of the library. */
struct htw_executor {
    /**
     * Receives tasks. Give each of them exactly once to htw_task_run(), in any thread, inside this
     * call or later. Must return.
     *
     * @param context `context` below.
     * @param tasks   the array is valid during the call.
     * @param count   1 to 64.
     *
     * Threads: called by the expirers, or inside htw_scheduler_process(), _advance() or
     * _set_clock().
     */
    void (*execute)(void *context, struct htw_task *const *tasks, size_t count);
    void *context;
};

/** The limits of the options. */
#define HTW_TICK_NS_MIN HTW_MICROSECOND
#define HTW_TICK_NS_MAX HTW_HOUR
#define HTW_SHARDS_MAX 1024u
#define HTW_EXPIRERS_MAX 64u
#define HTW_WORKERS_MAX 256u
#define HTW_EVENTS_MAX 1048576u

/** What is observed, one bit each: htw_scheduler_observe(). */
#define HTW_OBSERVE_SITES 1u  /**< counts by site, wake-ups and herds */
#define HTW_OBSERVE_EVENTS 2u /**< the flight recorder: htw_scheduler_visit_events() */
#define HTW_OBSERVE_STACKS 4u /**< the stack of each call that schedules; with glibc only */

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
        for each CPU that is online. A thread schedules in the shard of the CPU on which it runs. */
    uint32_t shards;
    /** The number of threads that wait for deadlines, each for a part of the shards: up to
        HTW_EXPIRERS_MAX, and not more than shards; 0 means 1. */
    uint32_t expirers;
    /** The number of threads that may run callbacks at once, up to HTW_WORKERS_MAX. The expirers run
        short callbacks themselves; workers start when they are first needed. 0: only the expirers run
        callbacks, and a slow callback delays all that follow. Not used if `embedded` is set or there is an `executor`. */
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
        While other threads end timers, a call may be refused slightly below the limit. */
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
#define HTW_SCHEDULER_OPTIONS_INIT                                                               \
    {                                                                                            \
        sizeof(struct htw_scheduler_options), 0, 0, 0, 0, 2, HTW_CLOCK_DEFAULT, false, false, 0, \
            0, 0, 0, NULL, NULL, NULL, 0, 0                                                      \
    }

/** Sets `options` to HTW_SCHEDULER_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_options_init(struct htw_scheduler_options *options);

/**
 * Returns the name of the first member of `options` that htw_scheduler_create() refuses with -EINVAL, such as
 * "workers": for error messages. If `options` is NULL, so is the result.
 *
 * @return a static string, or NULL: no member is wrong by itself or beside another one.
 *
 * Threads: any. Cost: O(1).
 */
HTW_API const char *htw_scheduler_options_invalid(const struct htw_scheduler_options *options);

/* ------------------------------------------------------------------ creating and stopping */

/**
 * Creates a scheduler.
 *
 * @param ret_scheduler receives the scheduler. The caller owns it, and destroys it with
 *                      htw_scheduler_destroy().
 * @param options       NULL: the defaults. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: an option is out of its range, or contradicts another one;
 *         -ENOTSUP: `observe` has HTW_OBSERVE_STACKS, as htw_scheduler_observe();
 *         -ENOMEM: no memory, or no thread could be started;
 *         -EMFILE, -ENFILE: no file descriptor is left for a timer.
 *
 * The threads of the library block all signals. Memory: about 15 KiB for each shard, 60 KiB for
 * each thread that may run callbacks, and 64 bytes for each timer, in blocks of 256 KiB.
 *
 * Threads that call one scheduler share its locks, without priority inheritance. Give them the same
 * scheduling class and similar nice values; threads of a real-time class may call rarely. If a
 * thread of class SCHED_IDLE or with a high nice value schedules all the time, and shares its
 * processor with a busy thread, it can delay the calls of other threads by seconds: give it its own
 * scheduler.
 */
HTW_API HTW_WARN_UNUSED int htw_scheduler_create(struct htw_scheduler **ret_scheduler,
                                                 const struct htw_scheduler_options *options);

/**
 * Stops a scheduler: no callback starts any more, and each timer that has not run is handed back.
 *
 * Waits for callbacks that are running, and until the executor has given its tasks to
 * htw_task_run(), which runs none of them now. Then calls `visitor` in this thread for each timer that is left, paused
 * ones and those without a deadline included, in no particular order.
 *
 * @param visitor may be NULL: then the arguments of timers without a release hook are lost.
 * @param context is passed to `visitor`.
 * @return 0: success. A second call waits until the first one has ended, and finds no timer;
 *         -EDEADLK: called in a callback, hook, visitor or executor of this scheduler.
 *
 * Afterwards all handles are stale, and scheduling returns -ESHUTDOWN. Blocks.
 */
HTW_API int htw_scheduler_stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor,
                               void *context);

/**
 * Destroys a scheduler. Stops it first with no visitor, unless it was stopped. NULL is ignored.
 *
 * No other thread may be in a call with this scheduler. Its groups must not be used afterwards.
 *
 * @return 0: success;
 *         -EDEADLK: as htw_scheduler_stop(); the scheduler is not destroyed;
 *         -EOWNERDEAD: the memory of the parent process is not freed.
 *
 * Blocks, as htw_scheduler_stop().
 */
HTW_API int htw_scheduler_destroy(struct htw_scheduler *scheduler);

/** Returns the time of the scheduler's clock, in nanoseconds; 0 for NULL. Cost: reads the clock. */
HTW_API int64_t htw_scheduler_now(const struct htw_scheduler *scheduler);

/**
 * Returns the time of a clock that timers of the scheduler may have, in nanoseconds; 0 if they may
 * not have it, and for NULL. In a scheduler with HTW_CLOCK_MANUAL that is a manual time, too.
 */
HTW_API int64_t htw_scheduler_now_by(const struct htw_scheduler *scheduler, enum htw_clock clock);

/** Returns the clock of a scheduler; HTW_CLOCK_MONOTONIC for NULL. */
HTW_API enum htw_clock htw_scheduler_clock(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ scheduling */

/**
 * Schedules a callback, once, after a delay.
 *
 * @param delay_ns   in nanoseconds. 0 or less: now, but not inside this call. HTW_NEVER_NS: not
 *                   before htw_reschedule().
 * @param callback   not NULL.
 * @param arg        is passed to the callback; see "Who owns `arg`" at the top.
 * @param ret_handle receives the handle, before the callback can run. May be NULL.
 * @return 0: success;
 *         -EINVAL;
 *         -EAGAIN: `max_pending` is reached;
 *         -ENOMEM: no memory, or the first thread of the scheduler could not be started;
 *         -ESHUTDOWN: the scheduler was stopped.
 *
 * After a failure nothing has changed, and the caller owns `arg`. Cost: O(1); reads the clock, and
 * locks the shard of this CPU. Wakes the expirer only if no earlier timer is pending in the shard.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule(struct htw_scheduler *scheduler, int64_t delay_ns,
                                         htw_callback *callback, void *arg, htw_handle *ret_handle);

/**
 * Schedules a callback, once, at a deadline. Otherwise as htw_schedule().
 *
 * @param deadline_ns absolute, in nanoseconds of the scheduler's clock.
 *
 * Cost: as htw_schedule(), but reads the clock only if no pending timer is due at least two ticks
 * before this one (the deadline could then be in the past).
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_at(struct htw_scheduler *scheduler, int64_t deadline_ns,
                                            htw_callback *callback, void *arg,
                                            htw_handle *ret_handle);

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
HTW_API HTW_WARN_UNUSED int htw_schedule_within(struct htw_scheduler *scheduler,
                                                int64_t earliest_ns, int64_t latest_ns,
                                                htw_callback *callback, void *arg,
                                                htw_handle *ret_handle);

/** How a timer repeats. Its runs never overlap: a run starts after the one before has ended. */
enum htw_repeat {
    /** Fixed rate. Periods that passed during a run are skipped; the next run receives their
        number. The next run is at the first planned time after this run ends. */
    HTW_REPEAT_SKIP = 0,
    /** Fixed rate. Overdue runs follow one another until they have caught up. */
    HTW_REPEAT_BURST = 1,
    /** Fixed rate. If a run was overdue, later periods count from its end. */
    HTW_REPEAT_DELAY = 2,
    /** Fixed delay: a period from the end of a run to the start of the next one. */
    HTW_REPEAT_AFTER = 3
};

/**
 * Schedules a callback that repeats until it is cancelled. Otherwise as htw_schedule().
 *
 * @param first_ns  the delay of the first run, in nanoseconds.
 * @param period_ns in nanoseconds; more than 0.
 * @param repeat    how late runs are treated.
 *
 * Allocates a block of attributes, as htw_schedule_spec().
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_every(struct htw_scheduler *scheduler, int64_t first_ns,
                                               int64_t period_ns, enum htw_repeat repeat,
                                               htw_callback *callback, void *arg,
                                               htw_handle *ret_handle);

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
HTW_API HTW_WARN_UNUSED int htw_schedule_here(struct htw_scheduler *scheduler, int64_t delay_ns,
                                              const struct htw_site *site, void *arg,
                                              htw_handle *ret_handle);

/** All properties that a timer can have. Start from HTW_SPEC_INIT. */
struct htw_spec {
    /** sizeof(struct htw_spec); HTW_SPEC_INIT sets it. */
    size_t struct_size;
    htw_callback *callback; /**< NULL: that of `site` */
    void *arg;              /**< as in htw_schedule() */
    /** The delay or, with `absolute`, the deadline, in nanoseconds. */
    int64_t when_ns;
    /** If greater than `when_ns`: the end of the range, as in htw_schedule_within(). */
    int64_t latest_ns;
    bool absolute; /**< whether `when_ns` and `latest_ns` are deadlines */
    /** More than 0: the timer repeats, as `repeat` says. 0: it runs once. */
    int64_t period_ns;
    enum htw_repeat repeat;
    /**
     * The key: `key_size` bytes (0 to UINT32_MAX), which are copied; NULL: none. At most one timer
     * of a group, or of those without a group, is pending under a key. When the callback of a timer
     * that does not repeat starts, the timer loses its key.
     */
    const void *key;
    size_t key_size;
    /** If a timer is pending or repeats under the key: keep that one and return -EEXIST; otherwise
        the new timer replaces it. */
    bool keep_existing;
    /** The group; NULL: none. In a paused group the timer waits until the group is resumed. */
    struct htw_group *group;
    /** The release hook; NULL: none. See "Who owns `arg`" at the top. */
    htw_release_hook *release;
    /**
     * The clock of the timer: of its deadlines, delays and periods, also of later ones
     * (htw_reschedule(), htw_group_pause()). HTW_CLOCK_DEFAULT: that of the scheduler. When the wall
     * clock is set, only timers with HTW_CLOCK_REALTIME are moved.
     */
    enum htw_clock clock;
    /** The site; NULL: none. A `callback` that is not the site's runs instead of it, and the timer has
        attributes: for a layer that calls the site's callback itself. */
    const struct htw_site *site;
};

#define HTW_SPEC_INIT                                                                         \
    {                                                                                         \
        sizeof(struct htw_spec), NULL, NULL, 0, 0, false, 0, HTW_REPEAT_SKIP, NULL, 0, false, \
            NULL, NULL, HTW_CLOCK_DEFAULT, NULL                                               \
    }

/** Sets `spec` to HTW_SPEC_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_spec_init(struct htw_spec *spec);

/**
 * Returns the name of the first member of `spec` that htw_schedule_spec() refuses with -EINVAL, such as
 * "period_ns": for error messages. If a pointer is NULL, so is the result.
 *
 * @return a static string, or NULL: no member is wrong by itself or beside another one.
 *
 * Threads: any. Cost: O(1).
 */
HTW_API const char *htw_spec_invalid(const struct htw_scheduler *scheduler,
                                     const struct htw_spec *spec);

/**
 * Schedules a timer with the properties of `spec`.
 *
 * @param spec         the library keeps no pointer to it.
 * @param ret_handle   receives the handle, before the callback can run. May be NULL.
 * @param ret_replaced receives the timer of the same key that this one has replaced;
 *                     `handle` is 0 if there was none. The caller owns its `arg`, which is NULL if
 *                     that timer had a release hook: the hook has run inside this call. May be
 *                     NULL.
 * @return 0: success, also if a timer was replaced. At `max_pending`, a timer may replace another;
 *         -EEXIST: a timer has the key, and `keep_existing` is set;
 *         -EINVAL also if `struct_size` is unknown, the period is negative, the group belongs to
 *         another scheduler, or a timer of this scheduler cannot have the clock (it is
 *         HTW_CLOCK_MANUAL and the scheduler's is not, or the system does not have it);
 *         -EMFILE, -ENFILE: only with another clock than the scheduler's: no file descriptor is left
 *         for a timer of the system;
 *         the errors of htw_schedule().
 *
 * After a failure nothing has changed, the caller owns `arg`, and the hook is not called. A timer
 * that is running is not replaced: it loses the key, and if it repeats, this run is its last.
 *
 * Cost: O(1). A timer that repeats or has a key, a group, a hook or another clock than the scheduler
 * has a block of attributes: about 140 bytes and the key. Timers with a key or group are in the
 * shard of the key or group. The first timer of a clock in a shard creates a wheel there, 15 KiB.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_spec(struct htw_scheduler *scheduler,
                                              const struct htw_spec *spec, htw_handle *ret_handle,
                                              struct htw_unexpired *ret_replaced);

/* ------------------------------------------------------------------ handles */

/**
 * Cancels a timer, and reports the outcome. Does not wait for a callback.
 *
 * Warning: if the timer has a release hook, the hook runs inside this call, in this thread. Do not
 * hold a lock that the hook takes.
 *
 * @return HTW_CANCELLED: the callback does not run (again); the caller owns `arg`, if there is no
 *         hook;
 *         HTW_RUNNING: the callback is running; if the timer repeats, this run is its last;
 *         HTW_GONE: the timer has ended, or `handle` never identified one.
 *
 * If a cancel and an expiration race, exactly one of them takes effect; the return value says
 * which. Cost: O(1). A timer in the shard of another CPU is cancelled without the lock of that
 * shard.
 */
HTW_API int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Cancels a timer, waits until its callback is not running, and reports the outcome.
 *
 * Waits for the release hook, too. If the timer was pending, the hook runs inside this call.
 *
 * @return HTW_CANCELLED: as htw_cancel();
 *         HTW_RUNNING: the callback was running, and has returned;
 *         HTW_GONE: as htw_cancel();
 *         -EDEADLK: the call would wait for itself: it is inside this very callback, or in a cycle
 *         of callbacks each of which waits for the next one. (A cycle through two schedulers is not
 *         detected.) The timer is cancelled, but its callback is still running.
 *
 * May block for as long as the callback runs. No function of this header is a cancellation point.
 */
HTW_API int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle);

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

/**
 * Cancels the timer that is pending or repeats under a key, and reports the outcome.
 *
 * @param group    the group of the timer; NULL for timers without a group.
 * @param key      `key_size` bytes; not NULL.
 * @param key_size 0 to UINT32_MAX.
 * @param ret_arg  receives the argument with HTW_CANCELLED; NULL if the timer had a release hook,
 *                 which has run inside this call. May be NULL.
 * @return as htw_cancel().
 */
HTW_API int htw_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group,
                           const void *key, size_t key_size, void **ret_arg);

/** Returns the handle of the timer that is pending or repeats under a key; 0 if there is none. */
HTW_API htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                                const void *key, size_t key_size);

/**
 * Gives a timer a new deadline, and reports the outcome. The handle remains valid.
 *
 * @param delay_ns from now, as in htw_schedule(). The timer of a paused group has this delay when
 *                 the group is resumed.
 * @return HTW_MOVED: the timer has the new deadline; later periods count from there;
 *         HTW_RUNNING: nothing has changed: the callback is running, and the timer was cancelled
 *         during the run or (except in its own callback) does not repeat;
 *         HTW_GONE: the timer has ended, or `handle` never identified one;
 *         -EAGAIN: only in the callback of a timer that does not repeat: `max_pending` is reached;
 *         -ENOMEM, -ESHUTDOWN: nothing has changed.
 *
 * In its own callback any timer may be rescheduled: it runs again at that time (without its key, if
 * it had one and does not repeat). For a repeating timer that is running, this sets its next run.
 *
 * Cost: O(1); locks the shard of the timer. A move to a later deadline costs almost nothing.
 */
HTW_API int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns);

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

/**
 * Returns whether a timer waits for a run: it has a deadline or HTW_NEVER_NS, is paused, or is due
 * and its callback has not started. False for a stale handle, and while the callback is running.
 */
HTW_API bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Gets the deadline of a timer.
 *
 * @param ret_deadline_ns receives the deadline by the timer's clock, not rounded. Of a paused timer: as if it were
 *                        resumed now. While the callback is running: that of this run, or the
 *                        deadline that the timer was given since.
 * @return 0: success;
 *         -ENOENT: the handle is stale;
 *         -EINVAL.
 */
HTW_API int htw_deadline(struct htw_scheduler *scheduler, htw_handle handle,
                         int64_t *ret_deadline_ns);

/**
 * Returns the clock of a timer: an enumerator of enum htw_clock, not HTW_CLOCK_DEFAULT.
 *
 * @return more than 0: the clock;
 *         -ENOENT: the handle is stale.
 */
HTW_API int htw_clock_of(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Returns how many timers are pending. Timers that are running do not count, also if they repeat.
 * Exact if no other thread is in a call. Cost: O(shards + threads).
 */
HTW_API uint64_t htw_pending(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ groups */

/**
 * Creates a group of timers, for example those of a connection or a tenant.
 *
 * @param ret_group receives the group. The caller owns it, and destroys it before the scheduler.
 * @return 0: success;
 *         -EINVAL, -ENOMEM, -ESHUTDOWN.
 */
HTW_API HTW_WARN_UNUSED int htw_group_create(struct htw_scheduler *scheduler,
                                             struct htw_group **ret_group);

/**
 * Gives a group a name, for tools to show: htw_scheduler_visit_groups(), htw_scheduler_dump().
 *
 * @param name up to 31 bytes are copied. NULL: none, as a new group.
 * @return 0: success.
 */
HTW_API int htw_group_set_name(struct htw_group *group, const char *name);

/**
 * Destroys a group; its timers continue without a group. NULL is ignored.
 *
 * Paused timers are resumed. The timers keep their keys until they end, but no call finds them by
 * key any more.
 */
HTW_API void htw_group_destroy(struct htw_group *group);

/**
 * Cancels all timers of a group, and returns how many. Timers that are scheduled during the call
 * may remain.
 *
 * @param visitor called for each timer that was cancelled, in no particular order, before its
 *                release hook. May be NULL.
 * @param context is passed to `visitor`.
 * @return 0 or more: how many were cancelled. Timers that are running do not count, but do not run
 *         again.
 *
 * Cost: O(timers of the group); holds each lock only for a bounded number of timers at a time.
 */
HTW_API int64_t htw_group_cancel(struct htw_group *group, htw_unexpired_visitor *visitor,
                                 void *context);

/**
 * Pauses a group: after this has returned, no callback of the group starts until it is resumed.
 *
 * Each timer keeps the rest of its delay. A callback that has started continues, and counts in
 * `runs` of the statistics. A timer that is due now is due again when the group is resumed; its
 * `late_ns` counts from then. To pause a paused group changes nothing.
 *
 * A timer whose deadline was given as an instant of HTW_CLOCK_REALTIME (`absolute`,
 * htw_reschedule_at()) keeps that instant: if the group is resumed before it, the timer runs on
 * time, otherwise at once, and its `late_ns` counts from the instant.
 *
 * @return 0: success.
 *
 * Cost: as htw_group_cancel().
 */
HTW_API int htw_group_pause(struct htw_group *group);

/** Resumes a group: each timer continues with the rest of its delay, or waits for its instant. As
    htw_group_pause(). */
HTW_API int htw_group_resume(struct htw_group *group);

/** Returns how many timers of a group are pending, paused or running; 0 for NULL. Cost: O(1). */
HTW_API uint64_t htw_group_count(struct htw_group *group);

/* ------------------------------------------------------------------ embedded */

/**
 * Returns a file descriptor that becomes readable when htw_scheduler_process() has something to do,
 * for epoll, poll, libuv or libev.
 *
 * It belongs to the scheduler: only wait for it, and do not read, write or close it. It also works
 * edge-triggered (EPOLLET): one call of htw_scheduler_process() for each event is enough, with any
 * budget.
 *
 * @return 0 or more: the file descriptor;
 *         -ENOTSUP: the scheduler is not embedded, or has HTW_CLOCK_MANUAL.
 */
HTW_API int htw_scheduler_fd(struct htw_scheduler *scheduler);

/**
 * Returns when htw_scheduler_process() has something to do.
 *
 * @return a time of the scheduler's clock: at most the earliest deadline, rounded up to a tick. It
 *         may be earlier after a timer was cancelled or moved, or while htw_scheduler_process() asks
 *         for another call (HTW_MORE). A deadline of another clock is converted by what both clocks
 *         show now, so ask again after a clock was set: unlike the file descriptor, a loop that
 *         sleeps until this time does not notice that;
 *         HTW_NEVER_NS: no timer has a deadline.
 */
HTW_API int64_t htw_scheduler_next(struct htw_scheduler *scheduler);

/**
 * Runs callbacks that are due, in this thread (or hands them to the executor), and reports whether
 * more work is left. Only for embedded schedulers.
 *
 * @param budget    the most callbacks to run; 0: all that are due at the start of the call. A timer
 *                  that a callback schedules for now may wait for the next call, so this one ends.
 * @param ret_count receives how many callbacks were run or handed over. May be NULL.
 * @return HTW_DONE: all that was due has run (with budget 0: all that was due at the start);
 *         HTW_MORE: the budget is used up, and the file descriptor is still readable. If the budget
 *         is exactly used up this is returned, too, and the next call may find nothing;
 *         -ENOTSUP: as htw_scheduler_fd();
 *         -EBUSY: another thread is in this function;
 *         -EDEADLK: called in a callback, hook, visitor or executor of this scheduler;
 *         -ESHUTDOWN.
 */
HTW_API int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget,
                                  size_t *ret_count);

/* ------------------------------------------------------------------ manual time */

/**
 * Advances all clocks of a scheduler with HTW_CLOCK_MANUAL, and runs all that becomes due.
 *
 * Stops at each tick at which a timer is due, over all shards, in order. All callbacks of a tick,
 * and what they schedule for that tick, have returned before the next tick. With 0 workers the
 * callbacks run in this thread, with 1 worker one at a time in the worker. Returns when the new
 * time is reached and nothing runs any more: all counters are exact then.
 *
 * @param delta_ns in nanoseconds; at least 0. 0: runs what is due now.
 * @return 0: success;
 *         -EINVAL also for a negative value;
 *         -ENOTSUP: the scheduler has another clock;
 *         -EDEADLK: called in a callback, hook, visitor or executor of this scheduler;
 *         -EBUSY: another thread is in this function;
 *         -ESHUTDOWN.
 *
 * Blocks until the callbacks have returned and the executor has run its tasks. It does
 * not return if the executor leaves tasks to this same thread for later, or while callbacks always
 * schedule more without a delay; then only a stop by another thread ends it.
 */
HTW_API int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns);

/**
 * Sets one clock of a scheduler with HTW_CLOCK_MANUAL in one step, as a user sets the wall clock. No
 * other clock changes.
 *
 * Forward: all that has become due runs, within each shard in order of ticks. Back: nothing runs
 * that is not due at the new time.
 *
 * @param clock   one that timers of the scheduler may have; HTW_CLOCK_DEFAULT is HTW_CLOCK_MANUAL.
 * @param time_ns the new time, in nanoseconds; at least 0.
 * @return as htw_scheduler_advance(), and blocks as that;
 *         -EINVAL also if timers may not have the clock.
 */
HTW_API int htw_scheduler_set_clock(struct htw_scheduler *scheduler, enum htw_clock clock,
                                    int64_t time_ns);

/* ------------------------------------------------------------------ executors */

/**
 * Runs the callback of a task, unless its timer was cancelled or the scheduler is being stopped. The
 * task must not be used afterwards. NULL is ignored.
 *
 * An executor that ends lets another thread stop the scheduler, and gives the tasks that it has left to
 * this function: none of them runs any more, and each timer is handed back by htw_scheduler_stop().
 */
HTW_API void htw_task_run(struct htw_task *task);

/* ------------------------------------------------------------------ statistics */

/**
 * Counters since the scheduler was created. When no thread is in a call and nothing runs,
 * scheduled = fired + cancelled + handed_back + pending.
 */
struct htw_scheduler_stats {
    /** sizeof(struct htw_scheduler_stats); HTW_SCHEDULER_STATS_INIT sets it. */
    size_t struct_size;
    uint64_t scheduled;               /**< schedule calls that returned 0 */
    uint64_t fired;                   /**< timers that ended with a run */
    uint64_t cancelled;               /**< timers cancelled without a run; replaced ones count */
    uint64_t handed_back;             /**< timers that stop handed back */
    uint64_t runs;                    /**< callbacks started; more than `fired` if timers repeat */
    uint64_t late;                    /**< callbacks started later than `late_threshold_ns` */
    uint64_t missed;                  /**< periods skipped by HTW_REPEAT_SKIP */
    uint64_t refused;                 /**< schedule calls that returned -EAGAIN */
    uint64_t moved;                   /**< calls of htw_reschedule() that returned HTW_MOVED */
    uint64_t demoted;                 /**< number of demotions in the wheels */
    uint64_t wakeups;                 /**< times an expirer woke up or process was called */
    uint64_t empty_wakeups;           /**< of these, with nothing due */
    uint64_t pending;                 /**< timers pending now, as htw_pending() */
    uint64_t running;                 /**< callbacks running now */
    uint64_t memory_bytes;            /**< memory of the scheduler, attributes included */
    struct htw_distribution lateness; /**< from the deadline to the start of a callback */
    struct htw_distribution callback; /**< duration of callbacks */
};

#define HTW_SCHEDULER_STATS_INIT                                                         \
    {                                                                                    \
        sizeof(struct htw_scheduler_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            { 0, 0, 0, 0, 0, 0, 0 }, {                                                   \
            0, 0, 0, 0, 0, 0, 0                                                          \
        }                                                                                \
    }

/** Sets `stats` to HTW_SCHEDULER_STATS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_stats_init(struct htw_scheduler_stats *stats);

/**
 * Copies the statistics of a scheduler to `stats`.
 *
 * @param stats its `struct_size` must be set, as HTW_SCHEDULER_STATS_INIT does.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or `struct_size` is unknown;
 *         -ENOMEM.
 *
 * Cost: O(shards + threads), about 20 us; locks each shard briefly, one after the other.
 */
HTW_API int htw_scheduler_get_stats(struct htw_scheduler *scheduler,
                                    struct htw_scheduler_stats *stats);

/**
 * Writes the statistics in the text format of Prometheus, the distributions as histograms in
 * seconds. All names start with "htw_".
 *
 * @return 0: success;
 *         -EIO: writing to the stream failed;
 *         -ENOMEM.
 */
HTW_API int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream);

/** The number of buckets in the histograms below. */
#define HTW_SCHEDULER_HISTOGRAM_BUCKETS 24

/**
 * The distributions of the statistics as histograms: [0] counts what took less than 1 us; [i] what
 * took 2^(i-1) us or more, but less than 2^i us; the last one 2^22 us (4 seconds) or more. The bounds
 * are at most 1/64 off.
 */
struct htw_scheduler_histograms {
    /** sizeof(struct htw_scheduler_histograms); HTW_SCHEDULER_HISTOGRAMS_INIT sets it. */
    size_t struct_size;
    uint64_t lateness[HTW_SCHEDULER_HISTOGRAM_BUCKETS];
    uint64_t callback[HTW_SCHEDULER_HISTOGRAM_BUCKETS];
};

#define HTW_SCHEDULER_HISTOGRAMS_INIT                     \
    {                                                     \
        sizeof(struct htw_scheduler_histograms), { 0 }, { \
            0                                             \
        }                                                 \
    }

/** Sets it to HTW_SCHEDULER_HISTOGRAMS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_histograms_init(struct htw_scheduler_histograms *histograms);

/**
 * Copies the statistics and, beside them, the histograms.
 *
 * @param stats      as htw_scheduler_get_stats().
 * @param histograms its `struct_size` must be set, as HTW_SCHEDULER_HISTOGRAMS_INIT does.
 * @return as htw_scheduler_get_stats(). Cost: as that.
 */
HTW_API int htw_scheduler_get_histograms(struct htw_scheduler *scheduler,
                                         struct htw_scheduler_stats *stats,
                                         struct htw_scheduler_histograms *histograms);

/** A shard: the wheels, and the lock, that the threads of a processor use. */
struct htw_scheduler_shard {
    /** sizeof(struct htw_scheduler_shard); HTW_SCHEDULER_SHARD_INIT sets it. */
    size_t struct_size;
    uint64_t scheduled;    /**< schedule calls that returned 0 */
    uint64_t cancelled;    /**< timers that threads of this shard have cancelled */
    uint64_t moved;        /**< calls of htw_reschedule() that returned HTW_MOVED */
    uint64_t demoted;      /**< number of demotions in its wheels */
    uint64_t in_wheels;    /**< timers in its wheels now; those cancelled by threads of other shards
                                are among them for a short time */
    uint64_t groups;       /**< groups that exist, with one for each purgatory of the scheduler */
    uint64_t memory_bytes; /**< memory of its wheels, timers and attributes */
};

#define HTW_SCHEDULER_SHARD_INIT \
    { sizeof(struct htw_scheduler_shard), 0, 0, 0, 0, 0, 0, 0 }

/** Sets `shard` to HTW_SCHEDULER_SHARD_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_shard_init(struct htw_scheduler_shard *shard);

/**
 * Copies the counters of a shard, and returns how many shards there are.
 *
 * @param index from 0.
 * @param shard its `struct_size` must be set, as HTW_SCHEDULER_SHARD_INIT does.
 * @return the number of shards, at least 1;
 *         -EINVAL: a pointer is NULL, `struct_size` is unknown, or there is no such shard.
 *
 * Cost: O(1); locks the shard briefly.
 */
HTW_API int htw_scheduler_get_shard(struct htw_scheduler *scheduler, uint32_t index,
                                    struct htw_scheduler_shard *shard);

/** What is known of a site. */
struct htw_site_stats {
    /** The site: a copy, valid until the visitor returns. NULL: its timers were armed with none. If the
        memory of a site, or one of its texts, is there no more, they are NULL. */
    const struct htw_site *site;
    const void *address;    /**< the site itself, as a name for it; NULL without one */
    htw_callback *callback; /**< NULL: those of all that found no room (HTW_SITES_MAX) */
    uint64_t pending;       /**< timers that wait, are due or are paused */
    int64_t next_ns;        /**< time to the earliest deadline, by each timer's clock; at least 0;
                                 HTW_NEVER_NS: none of them has one */
    /* Counted while HTW_OBSERVE_SITES is on, and kept when it is off. */
    uint64_t armed;       /**< schedule calls that returned 0 */
    uint64_t cancelled;   /**< timers cancelled without a run */
    uint64_t expired;     /**< callbacks started */
    uint64_t late;        /**< of these, later than `late_threshold_ns` */
    uint64_t callback_ns; /**< time in callbacks that have returned */
    uint64_t wakeups; /**< times an expirer woke up, and a timer of this site was the first due */
};

/** How many sites, and callbacks without one, are told apart. */
#define HTW_SITES_MAX 4096

/** Receives a site. `stats` is valid until it returns. */
typedef void htw_site_visitor(void *context, const struct htw_site_stats *stats);

/**
 * Counts the timers of each site, and calls a visitor for each; the one with most is first. Sites that have
 * counts and no timer are visited, too.
 *
 * @param visitor not NULL. No lock is held.
 * @param context is passed to `visitor`.
 * @return 0: success;
 *         -ENOMEM.
 *
 * Each site is copied before it is visited, texts up to 63 bytes of the name, 127 of the function and 255 of
 * the file. So a library whose timers have ended may be unloaded at any time.
 * Cost: O(records), some 10 ns each; locks a shard for 64 records at a time. Takes 0.8 MiB,
 * and two file descriptors, for the time of the call; with no descriptor left, sites are as if unloaded.
 */
HTW_API int htw_scheduler_visit_sites(struct htw_scheduler *scheduler, htw_site_visitor *visitor,
                                      void *context);

/** What is known of a group. */
struct htw_group_stats {
    const char *name;    /**< a copy, valid until the visitor returns; "": it has none */
    const void *address; /**< the group itself, as a name for it */
    uint64_t count;      /**< as htw_group_count() */
    bool paused;
};

/** Receives a group. `stats` is valid until it returns. */
typedef void htw_group_visitor(void *context, const struct htw_group_stats *stats);

/**
 * Calls a visitor for each group that is not destroyed, in no particular order. A purgatory has one, with
 * its name. Groups that are created during the call may be left out.
 *
 * @param visitor not NULL. No lock is held.
 * @param context is passed to `visitor`.
 * @return 0: success.
 *
 * Cost: O(groups); locks a shard for 64 groups at a time.
 */
HTW_API int htw_scheduler_visit_groups(struct htw_scheduler *scheduler, htw_group_visitor *visitor,
                                       void *context);

/**
 * Writes which timers are pending: by site, with the earliest deadline of each, and the next wake-ups; with
 * HTW_OBSERVE_SITES also what was counted, the site that wakes most first; and the groups with most timers. For
 * people; the form may change. docs/debugging.md has an example.
 *
 * @return 0: success;
 *         -EIO: writing to the stream failed;
 *         -ENOMEM.
 *
 * Cost: as htw_scheduler_visit_sites() and htw_scheduler_visit_groups().
 */
HTW_API int htw_scheduler_dump(struct htw_scheduler *scheduler, FILE *stream);

/* ------------------------------------------------------------------ observing */

/**
 * Sets what is observed, as the option `observe` does at creation: switches on the bits that are set, and
 * off the others.
 *
 * What was counted or recorded stays: after switching on again it goes on. Calls and callbacks that have
 * begun when the set changes may be observed by the old set.
 *
 * @param observe a set of HTW_OBSERVE_...; 0: nothing.
 * @return 0: success;
 *         -EINVAL also if another bit is set;
 *         -ENOTSUP: HTW_OBSERVE_STACKS, with another C library than glibc or in a portable build;
 *         -ENOMEM: nothing has changed.
 *
 * Threads: any. Off, it costs nothing. HTW_OBSERVE_SITES costs some nanoseconds for each timer that is
 * armed, cancelled or run, and 4 KiB for each shard, expirer and thread that runs callbacks (up to 350 KiB
 * where there are more than 48 sites), with 7 KiB more for each expirer. HTW_OBSERVE_EVENTS costs a reading
 * of the clock for each timer that is armed, cancelled or moved, and 48 bytes for each of `event_count`,
 * rounded up to a power of two for each part. The memory is freed with the scheduler. If there is none for
 * a further site, it counts among those that found no room: no call fails for that.
 * HTW_OBSERVE_STACKS is for finding errors: it takes a microsecond or two for each timer that is armed, and 9 MiB
 * for the stacks of 65536 timers, 1024 of a shard at least. While these are alive, the stacks of further ones
 * are dropped. htw_scheduler_dump() then lists the stacks of what is pending; htw_scheduler_stop() without
 * a visitor, and htw_scheduler_destroy(), write those of what is left to standard error.
 */
HTW_API HTW_WARN_UNUSED int htw_scheduler_observe(struct htw_scheduler *scheduler,
                                                  uint32_t observe);

/** Returns the set of what is observed; 0 for NULL. Threads: any. Cost: O(1). */
HTW_API uint32_t htw_scheduler_observed(const struct htw_scheduler *scheduler);

/** An instant at which an expirer will wake up. */
struct htw_wakeup {
    int64_t
        left_ns; /**< from now; at least 0. Rounded up to a tick, and without `timer_slack_ns` */
    uint64_t timers; /**< that are due at this tick */
    /* Of the first of them: as in struct htw_site_stats. */
    const struct htw_site *site;
    const void *address;
    htw_callback *callback;
    htw_handle handle;
};

/** How many are told. */
#define HTW_WAKEUPS_MAX 10

/** Receives a wake-up. `wakeup` is valid until it returns. */
typedef void htw_wakeup_visitor(void *context, const struct htw_wakeup *wakeup);

/**
 * Calls a visitor for the next wake-ups, up to HTW_WAKEUPS_MAX, the first one first: the ticks at which timers
 * are due. Needs no bit of htw_scheduler_observe().
 *
 * @return as htw_scheduler_visit_sites(). Cost: as that.
 */
HTW_API int htw_scheduler_visit_wakeups(struct htw_scheduler *scheduler,
                                        htw_wakeup_visitor *visitor, void *context);

/** Timers that were due at one instant. */
struct htw_herd {
    int64_t ago_ns;  /**< from the instant to now */
    uint64_t timers; /**< that were due at this tick, whenever they ran */
    /* Of the first of them: as in struct htw_site_stats. */
    const struct htw_site *site;
    const void *address;
    htw_callback *callback;
};

/** How many are told. */
#define HTW_HERDS_MAX 16

/** Receives a herd. `herd` is valid until it returns. */
typedef void htw_herd_visitor(void *context, const struct htw_herd *herd);

/**
 * Calls a visitor for the instants of the last minute at which most timers were due, up to HTW_HERDS_MAX, the
 * greatest herd first. They are counted while HTW_OBSERVE_SITES is on.
 *
 * @return as htw_scheduler_visit_sites().
 *
 * With several expirers the parts of a herd are added up as far as each is among the 16 greatest within 4
 * seconds of its expirer. Cost: O(expirers).
 */
HTW_API int htw_scheduler_visit_herds(struct htw_scheduler *scheduler, htw_herd_visitor *visitor,
                                      void *context);

/** What an event tells of a timer. */
enum htw_event_kind {
    HTW_EVENT_ARMED = 1,     /**< scheduled */
    HTW_EVENT_CANCELLED = 2, /**< cancelled or replaced, without a run */
    HTW_EVENT_MOVED = 3,     /**< given a new deadline; also after a run, if it runs again */
    HTW_EVENT_STARTED = 4,   /**< its callback begins */
    HTW_EVENT_ENDED = 5,     /**< its callback has returned */
    HTW_EVENT_WOKEN = 6 /**< an expirer has woken up, and this timer was the first due, if any */
};

/** An event of the flight recorder. */
struct htw_event {
    enum htw_event_kind kind;
    /** STARTED, ENDED: the thread that runs the callback; WOKEN: the expirer; otherwise the shard.
        Numbers from 0. */
    uint32_t runner;
    /** By the monotonic clock; in a scheduler with HTW_CLOCK_MANUAL by its own. */
    int64_t time_ns;
    /** Of the timer, by the same clock, as it was at `time_ns`; HTW_NEVER_NS: none. After a run: that of
        this run. CANCELLED: HTW_NEVER_NS. A timer is late by the difference. */
    int64_t deadline_ns;
    int64_t duration_ns; /**< ENDED: of the callback; otherwise 0 */
    htw_handle handle;   /**< 0: none */
    /* As in struct htw_site_stats. */
    const struct htw_site *site;
    const void *address;
    htw_callback *callback;
};

/** Receives an event. `event` is valid until it returns. */
typedef void htw_event_visitor(void *context, const struct htw_event *event);

/**
 * Calls a visitor for the events that the flight recorder has, in the order of their time. They are recorded while
 * HTW_OBSERVE_EVENTS is on. No thread waits meanwhile; what happens after the beginning of the call is not visited.
 *
 * @param most     visit up to so many, the last ones; UINT64_MAX: all.
 * @param visitor  not NULL. No lock is held.
 * @param context  is passed to `visitor`.
 * @param ret_lost receives how many events were recorded before those that are visited: newer ones took their
 *                 place, or `most` leaves them out. May be NULL.
 * @return 0: success;
 *         -ENOMEM.
 *
 * A busy shard or thread loses its events before a calm one does: what is older than the first event of the
 * busiest is not complete. Cost: O(event_count log event_count); takes 72 bytes for each event, for the time of the call.
 */
HTW_API int htw_scheduler_visit_events(struct htw_scheduler *scheduler, uint64_t most,
                                       htw_event_visitor *visitor, void *context,
                                       uint64_t *ret_lost);

/** The most parts into which a level is divided. */
#define HTW_LEVEL_PARTS 64

/** How full a level of the wheels of all shards is, by the clock of the scheduler. */
struct htw_scheduler_level {
    /** sizeof(struct htw_scheduler_level); HTW_SCHEDULER_LEVEL_INIT sets it. */
    size_t struct_size;
    int64_t bucket_ns;   /**< the width of a bucket; HTW_NEVER_NS where that is more */
    uint32_t buckets;    /**< in this level of each wheel */
    uint32_t parts;      /**< how many members of `timers` count: a part is some buckets in a row */
    uint32_t clock_part; /**< the part in which the present time is; what follows it, to the end and
                              on from the beginning, is the future */
    /** The timers in each part. The counting stops at 64 for each bucket of a shard. */
    uint32_t timers[HTW_LEVEL_PARTS];
};

#define HTW_SCHEDULER_LEVEL_INIT                          \
    {                                                     \
        sizeof(struct htw_scheduler_level), 0, 0, 0, 0, { \
            0                                             \
        }                                                 \
    }

/** Sets `level` to HTW_SCHEDULER_LEVEL_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_level_init(struct htw_scheduler_level *level);

/**
 * Counts the timers of a level by parts, and returns how many levels there are.
 *
 * @param number from 0, the lowest level.
 * @param level  its `struct_size` must be set, as HTW_SCHEDULER_LEVEL_INIT does.
 * @return the number of levels that the wheels have, at least 1;
 *         -EINVAL: a pointer is NULL, `struct_size` is unknown, or there is no such level.
 *
 * Timers with another clock are in wheels of their own and are not counted.
 * Cost: O(shards * buckets); locks a shard for 64 buckets or 64 timers at a time.
 */
HTW_API int htw_scheduler_get_level(struct htw_scheduler *scheduler, unsigned number,
                                    struct htw_scheduler_level *level);

#ifdef __cplusplus
}
#endif

#endif /* HTW_SCHEDULER_H */
