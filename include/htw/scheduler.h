/* SPDX-License-Identifier: MIT */
/*
 * htw/scheduler.h - timers for programs with threads: runs callbacks at their time, in a small pool of
 * threads or in your own event loop.
 * This is what most programs need. The rest: scheduler_options.h, timer.h (slack, state and place of a timer),
 * group.h (and keys), scope.h (deadlines that propagate), executor.h (your threads), loop.h (sleeping until a time), observe.h (what tools show).
 *
 *     static void expired(void *arg, const struct htw_expiration *expiration) { ... }
 *
 *     struct htw_scheduler *scheduler;
 *     if (htw_scheduler_create(&scheduler, NULL) != 0) ...
 *     if (htw_schedule(scheduler, 30 * HTW_SECOND, expired, connection, &handle) != 0) ...
 *     if (htw_cancel(scheduler, handle) == HTW_CANCELLED)
 *         release(connection);
 *
 * Time is int64_t nanoseconds of the scheduler's clock. A delay is relative to the present, a deadline is
 * absolute. A delay of 0 or less, or a deadline in the past, means now; HTW_NEVER_NS means never. A sum that
 * is too great becomes HTW_NEVER_NS. A callback never starts early: a deadline in the future is rounded up to
 * a tick. It starts late by less than a tick, plus the time that waking a thread takes.
 *
 * Threads. Any thread may call any function at any time, also in a callback, release hook or visitor, unless
 * the function says otherwise; not in a signal handler. Only htw_cancel_wait(), htw_scheduler_stop(),
 * _destroy(), _process(), _advance() and _set_clock() block; the others may spin briefly on a lock. The
 * library holds no lock while a callback, hook, visitor or executor runs. It may hold one while it calls an
 * allocator.
 *
 * Ownership of `arg`. While a timer is scheduled, the library keeps `arg`.
 *  - Without a release hook: the callback owns `arg` when it runs. The caller owns it again if scheduling
 *    fails, a cancel returns HTW_CANCELLED, its timer is replaced under a key, or a visitor receives it.
 *  - With a release hook (`release` of struct htw_spec): the library owns `arg` until it calls the hook,
 *    exactly once. The thread that ends the timer calls it: after the last run of the callback, inside the
 *    call that cancels or replaces the timer, or inside htw_scheduler_stop(), after the visitor.
 *  - The callback of a timer that repeats or reschedules itself cannot know whether another thread cancels the
 *    timer during the run. If one does, it owns `arg` once its htw_cancel_wait() has returned. So end such
 *    timers with htw_cancel_wait(), or give them a hook.
 *
 * Errors. Each function returns -EINVAL for NULL where NULL is not allowed, and -EOWNERDEAD in a child
 * process after fork, where the scheduler of the parent does nothing. Functions that cannot return an error
 * then return NULL, false, 0 or HTW_NEVER_NS, or do nothing. A child process may create its own scheduler.
 */
#ifndef HTW_SCHEDULER_H
#define HTW_SCHEDULER_H

#include <htw/scheduler_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A scheduler; opaque. */
struct htw_scheduler;

/** Identifies a timer; 0: none. When its timer has ended, a handle is stale. It never identifies another timer:
    memory that has held 2^32 timers is not used again. */
typedef uint64_t htw_handle;

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
 * Callbacks, release hooks, visitors and executors must return. If one throws a C++ exception or calls
 * pthread_exit(), or its thread is cancelled inside it, the library says on standard error which one it was,
 * and aborts. A longjmp() out of one is not noticed. A child process that is forked inside one must end by
 * exec or _exit(): if it returns, the library says so on standard error and calls _exit(1).
 */
typedef void htw_callback(void *arg, const struct htw_expiration *expiration);

/** Called exactly once when a timer has ended: the library does not use `arg` any more. */
typedef void htw_release_hook(void *arg);

/** A timer that ended without a run: cancelled, replaced, or not run before a stop. */
struct htw_unexpired {
    htw_handle handle; /**< stale. 0, only in `ret_replaced`: there was no timer */
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

/* ------------------------------------------------------------------ creating and stopping */

/**
 * Creates a scheduler. The caller owns it, and destroys it with htw_scheduler_destroy().
 *
 * @param options NULL: the defaults. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: an option is out of its range, or contradicts another one;
 *         -ENOTSUP: `observe` has HTW_OBSERVE_STACKS, with neither glibc nor Windows, or in a portable build;
 *         -ENOMEM: no memory, or no thread could be started;
 *         -EMFILE, -ENFILE: no file descriptor is left for a timer.
 *
 * Memory: about 25 KiB for each shard, 60 KiB for each thread that may run callbacks, and 64 bytes for each
 * timer, in blocks of 256 KiB.
 */
HTW_API HTW_WARN_UNUSED int htw_scheduler_create(struct htw_scheduler **ret_scheduler,
                                                 const struct htw_scheduler_options *options);

/**
 * Stops a scheduler: no callback starts any more, and each timer that has not run is handed back.
 * First waits until the callbacks that are running have returned, and until the executor has given all its
 * tasks to htw_task_run(), which no longer runs them. Then calls `visitor` in this thread for each timer that
 * is left, paused ones and those without a deadline included, in no order. From then on all handles are
 * stale, and scheduling returns -ESHUTDOWN.
 *
 * @param visitor may be NULL: then the arguments of timers without a release hook are lost.
 * @return 0: success. A second call waits until the first one has ended, and finds no timer;
 *         -EDEADLK: called in a callback, hook, visitor or executor of this scheduler.
 */
HTW_API int htw_scheduler_stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor,
                               void *context);

/**
 * Destroys a scheduler. Stops it first with no visitor, unless it was stopped. NULL is ignored. No other
 * thread may be in a call with this scheduler; its groups must not be used afterwards.
 *
 * @return 0: success;
 *         -EDEADLK: as htw_scheduler_stop(); the scheduler is not destroyed;
 *         -EOWNERDEAD: the memory of the parent process is not freed.
 */
HTW_API int htw_scheduler_destroy(struct htw_scheduler *scheduler);

/** Returns the time of the scheduler's clock, in nanoseconds; 0 for NULL. Cost: reads the clock. */
HTW_API int64_t htw_scheduler_now(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ scheduling */

/**
 * Schedules a callback, once, after a delay.
 *
 * @param delay_ns   in nanoseconds. 0 or less: now, but not inside this call. HTW_NEVER_NS: never, unless
 *                   htw_reschedule() gives it another delay.
 * @param arg        is passed to the callback; see "Ownership of `arg`" at the top.
 * @param ret_handle receives the handle, before the callback can run. May be NULL.
 * @return 0: success;
 *         -EINVAL; -EAGAIN: `max_pending` is reached;
 *         -ENOMEM: no memory, or the first thread of the scheduler could not be started;
 *         -ESHUTDOWN: the scheduler was stopped.
 *
 * After a failure nothing has changed, and the caller owns `arg`. Cost: O(1); reads the clock, and locks the
 * shard of this CPU or, if that is locked, the next. Wakes the expirer only if no earlier timer is pending in the shard.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule(struct htw_scheduler *scheduler, int64_t delay_ns,
                                         htw_callback *callback, void *arg, htw_handle *ret_handle);

/** As htw_schedule(), but at a deadline. Does not read the clock if another timer of the shard is due at least
    two ticks earlier. */
HTW_API HTW_WARN_UNUSED int htw_schedule_at(struct htw_scheduler *scheduler, int64_t deadline_ns,
                                            htw_callback *callback, void *arg,
                                            htw_handle *ret_handle);

/** How a timer repeats. Its runs never overlap: a run starts after the one before has ended. */
enum htw_repeat {
    /** Fixed rate. Planned times that pass during a run are skipped: the next run starts at the first one
        after it, and `missed` says how many were skipped. */
    HTW_REPEAT_SKIP = 0,
    HTW_REPEAT_BURST = 1, /**< fixed rate; overdue runs follow one another until they catch up */
    HTW_REPEAT_DELAY = 2, /**< fixed rate; if a run was overdue, periods count from its end */
    HTW_REPEAT_AFTER = 3  /**< fixed delay: a period from the end of a run to the next start */
};

/** All properties that a timer can have. Start from HTW_SPEC_INIT. */
struct htw_spec {
    size_t struct_size;     /**< sizeof(struct htw_spec) */
    htw_callback *callback; /**< NULL: that of `site` */
    void *arg;              /**< as in htw_schedule() */
    int64_t when_ns;        /**< the delay or, with `absolute`, the deadline */
    /** If greater than `when_ns`: the end of the range, as in htw_schedule_within(). */
    int64_t latest_ns;
    bool absolute;     /**< whether `when_ns` and `latest_ns` are deadlines */
    int64_t period_ns; /**< more than 0: the timer repeats, as `repeat` says; 0: it runs once */
    enum htw_repeat repeat;
    /** The key: `key_size` bytes (0 to UINT32_MAX), which are copied; NULL: none. At most one timer of a
        group, or of those without a group, is pending under a key. A timer that does not repeat loses its
        key when its callback starts. */
    const void *key;
    size_t key_size;
    bool keep_existing;        /**< if a timer is pending or repeats under the key, fail: -EEXIST */
    struct htw_group *group;   /**< NULL: none. While the group is paused, the timer waits */
    htw_release_hook *release; /**< NULL: none. See "Ownership of `arg`" at the top */
    /** The clock of its deadlines, delays and periods, also later ones. HTW_CLOCK_DEFAULT: the scheduler's.
        When the wall clock is set, only timers with HTW_CLOCK_REALTIME are moved. */
    enum htw_clock clock;
    /** The place in the source that tools show (timer.h); NULL: none. If `callback` is set as well, it runs
        instead of the site's; if it is another one, the timer has a block of attributes. */
    const struct htw_site *site;
};

#define HTW_SPEC_INIT HTW__INIT(htw_spec)

/**
 * Schedules a timer with the properties of `spec`, to which the library keeps no pointer.
 *
 * @param ret_replaced receives the timer of the same key that this one has replaced; `handle` is 0 if there
 *                     was none. The caller owns its `arg`, which is NULL if that timer had a release hook:
 *                     the hook has run inside this call. May be NULL.
 * @return 0: success. A timer that replaces another one is accepted also when `max_pending` is reached;
 *         -EEXIST: a timer has the key, and `keep_existing` is set;
 *         -EINVAL also if `struct_size` is unknown, the period is negative, the group belongs to another
 *         scheduler, the system does not have the clock, or the clock is HTW_CLOCK_MANUAL and that of the
 *         scheduler is not;
 *         -EMFILE, -ENFILE: no file descriptor is left for another clock than the scheduler's;
 *         the errors of htw_schedule().
 *
 * After a failure nothing has changed, the caller owns `arg`, and the hook is not called. A timer that is
 * running is not replaced: it loses the key, and if it repeats, this run is its last.
 * Cost: O(1). A timer that repeats or has a key, a group, a hook or another clock has a block of attributes:
 * about 140 bytes and the key. It is in the shard of its key or group. The first timer of another clock in a
 * shard creates a wheel there, 24 KiB.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_spec(struct htw_scheduler *scheduler,
                                              const struct htw_spec *spec, htw_handle *ret_handle,
                                              struct htw_unexpired *ret_replaced);

/** As htw_schedule_spec() of a timer that repeats until it is cancelled: first after the delay `first_ns`, then
    with the period `period_ns`, which is more than 0. */
HTW_WARN_UNUSED static inline int htw_schedule_every(struct htw_scheduler *scheduler,
                                                     int64_t first_ns, int64_t period_ns,
                                                     enum htw_repeat repeat, htw_callback *callback,
                                                     void *arg, htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = callback;
    spec.arg = arg;
    spec.when_ns = first_ns;
    spec.latest_ns = first_ns;
    spec.period_ns = period_ns > 0 ? period_ns : -1; /* which is refused */
    spec.repeat = repeat;
    return htw_schedule_spec(scheduler, &spec, ret_handle, NULL);
}

/* ------------------------------------------------------------------ cancelling and moving */

/** The outcome of a cancel or a reschedule. */
enum htw_outcome {
    HTW_GONE = 0,      /**< no timer has the handle or key: it has ended, or never existed */
    HTW_CANCELLED = 1, /**< the timer was pending; its callback does not run (again) */
    HTW_RUNNING = 2,   /**< the callback is running. After a cancel, this is its last run */
    HTW_MOVED = 3      /**< the timer has its new deadline or period */
};

/**
 * Cancels a timer, and reports the outcome. Does not wait for a callback. A release hook of the timer runs
 * inside this call: do not hold a lock that the hook takes.
 *
 * @return HTW_CANCELLED: the caller owns `arg`, if there is no hook;
 *         HTW_RUNNING: if the timer repeats, this run is its last;
 *         HTW_GONE.
 *
 * If a cancel and an expiration race, exactly one of them takes effect; the return value says which. Cost:
 * O(1). A timer in the shard of another CPU is cancelled without the lock of that shard.
 */
HTW_API int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Cancels a timer as htw_cancel(), waits until its callback and hook are not running, and reports the outcome.
 *
 * @return HTW_CANCELLED, HTW_GONE: as htw_cancel();
 *         HTW_RUNNING: the callback was running, and has returned;
 *         -EDEADLK: the call would wait for itself: it is inside this very callback, or in a cycle of
 *         callbacks of this scheduler each of which waits for the next one. The timer is cancelled, but its
 *         callback still runs.
 */
HTW_API int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Gives a timer a new deadline, and reports the outcome. The handle remains valid.
 *
 * @param delay_ns from now, as in htw_schedule(); of a timer in a paused group: from when it is resumed.
 * @return HTW_MOVED: the timer has the new deadline; later periods count from there;
 *         HTW_RUNNING: nothing has changed. The callback is running, and either the timer was cancelled
 *         during this run, or it does not repeat and the call is not in its callback;
 *         HTW_GONE;
 *         -EAGAIN: only in the callback of a timer that does not repeat: `max_pending` is reached;
 *         -ESHUTDOWN: nothing has changed.
 *
 * A callback may reschedule its own timer: one that does not repeat runs again at that time, without its key.
 * For a repeating timer that is running, this sets its next run, in its callback or elsewhere.
 * Cost: O(1); locks the shard of the timer. A move to a later deadline costs almost nothing.
 */
HTW_API int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns);

/** Returns how many timers are pending. A timer that is running does not count, even if it repeats. Exact if no
    other thread is in a call. Cost: O(shards + threads). */
HTW_API uint64_t htw_pending(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ embedded */

/**
 * Returns a file descriptor that becomes readable when htw_scheduler_process() has something to do: for
 * epoll, poll, libuv or libev. It belongs to the scheduler: only wait for it, and do not read, write or close
 * it. It may be watched edge-triggered (EPOLLET): one call of htw_scheduler_process() for each event is enough,
 * whatever the budget.
 *
 * On Windows it is a handle, for WaitForMultipleObjects(): (HANDLE)(intptr_t)fd. It stays signaled while it would be
 * readable.
 *
 * @return 0 or more: the file descriptor;
 *         -ENOTSUP: the scheduler is not embedded, or has HTW_CLOCK_MANUAL.
 */
HTW_API int htw_scheduler_fd(struct htw_scheduler *scheduler);

/**
 * Runs callbacks that are due, in this thread or by the executor, and reports whether more work is left.
 *
 * @param budget    the most callbacks to run; 0: all that are due at the start of the call. A timer that a
 *                  callback schedules for now may wait for the next call: this one ends even if each
 *                  callback schedules another.
 * @param ret_count receives how many callbacks were run or handed over. May be NULL.
 * @return HTW_DONE: all that was due has run (with budget 0: all that was due at the start);
 *         HTW_MORE: the budget is used up, and the file descriptor is still readable. The next call may
 *         find nothing, if the budget was just enough;
 *         -ENOTSUP: as htw_scheduler_fd(); -EBUSY: another thread is in this function;
 *         -EDEADLK: called in a callback, hook, visitor or executor of this scheduler;
 *         -ESHUTDOWN.
 */
HTW_API int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget,
                                  size_t *ret_count);

/**
 * Advances all clocks of a scheduler with HTW_CLOCK_MANUAL, and runs all that becomes due.
 *
 * Stops at each tick at which a timer is due, over all shards, in order. All callbacks of a tick, and what
 * they schedule for that tick, have returned before the next tick. With HTW_NO_WORKERS the callbacks run in this
 * thread; with 1 worker, in that one, one at a time. When this returns, nothing runs: all counters are exact.
 *
 * @param delta_ns in nanoseconds; at least 0. 0: runs what is due now.
 * @return 0: success; -ENOTSUP: the scheduler has another clock;
 *         -EINVAL, -EBUSY, -EDEADLK, -ESHUTDOWN: as htw_scheduler_process().
 *
 * Blocks until the callbacks have returned and the executor has run its tasks. If the executor waits for this
 * thread to run tasks, or callbacks always schedule more without a delay, it returns only after a stop.
 */
HTW_API int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns);

#ifdef __cplusplus
}
#endif

#endif /* HTW_SCHEDULER_H */
