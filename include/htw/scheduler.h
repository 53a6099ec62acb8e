/* SPDX-License-Identifier: MIT */
/*
 * htw/scheduler.h - timers for threaded programs: callbacks at their time, from a
 * small pool of threads, from your own executor, or from your own event loop.
 *
 *     static void expired(void *arg, const struct htw_expiration *expiration) { ... }
 *
 *     struct htw_scheduler *scheduler;
 *     htw_scheduler_create(&scheduler, NULL);
 *     htw_schedule(scheduler, 30 * HTW_SECOND, expired, connection, &handle);
 *     ...
 *     if (htw_cancel(scheduler, handle) == HTW_CANCELLED)
 *         release(connection);
 *
 * Time is int64_t nanoseconds of the scheduler's clock. A delay of zero or less, or an
 * instant in the past, means now; HTW_NEVER_NS never comes; sums saturate. A deadline that is
 * ahead is rounded up to a tick, so a callback is never early; it is late by less than a tick
 * and what a wake-up takes. What is due now is not rounded up: it does not wait for the next tick.
 *
 * Thread safety. Unless a function says otherwise, any thread may call it at any time, also from a
 * callback, a release hook or a visitor. No function blocks, except htw_cancel_wait,
 * htw_scheduler_stop, _destroy, _advance, _set_time and _process; each may spin briefly on a lock.
 * The library holds no lock while a callback, hook, visitor or executor runs. It may hold one while
 * it calls an allocator.
 *
 * Who owns `arg`. Without a release hook: the library's from a successful schedule on; the
 * caller's again when a cancel answers HTW_CANCELLED, when a key was replaced, when a visitor is
 * given it, or when a task is dropped; the callback's from the moment that it runs. With a release
 * hook it is the library's until the hook has run, which it does exactly once. Results then only
 * say whether the callback will run. A callback that repeats, or reschedules itself, cannot tell
 * that its present run is the last one because another thread cancels it meanwhile: then `arg`
 * belongs to the thread that has cancelled, once its htw_cancel_wait() has returned. So cancel
 * such timers with htw_cancel_wait(), or give them a hook. The hook runs in the thread that ended
 * the timer: the one that ran the callback (right after it), that cancelled it, replaced its key,
 * stopped the scheduler (after the visitor), or dropped its task.
 *
 * Every function that takes a scheduler answers -EINVAL for NULL, and -EOWNERDEAD in a child
 * after fork, where the scheduler of the parent is inert (functions that return no int
 * answer false, 0, HTW_NEVER_NS or nothing). A child may create a scheduler of its own. A child
 * that returns from the callback, hook, visitor or executor in which it was forked runs nothing
 * else of its parent's scheduler. The call that it returns to ends at once: htw_scheduler_process,
 * _advance, _set_time, _stop, _destroy and htw_group_cancel answer -EOWNERDEAD, others what had
 * happened before the fork. A thread of the library ends there, and with it the child, as by
 * exit(0), unless the child has started other threads.
 */
#ifndef HTW_SCHEDULER_H
#define HTW_SCHEDULER_H

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A delay or a deadline that never comes. */
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

/** A callback that is due, in the hands of an executor; opaque. */
struct htw_task;

/**
 * Names a timer. 0 never names one. When the timer has ended the handle is stale, for ever:
 * it never comes to name another (a record that has used up its generations, 2^32,
 * is retired).
 */
typedef uint64_t htw_handle;

/** What a callback is told. */
struct htw_expiration {
    struct htw_scheduler *scheduler;
    htw_handle handle;   /**< its own; htw_reschedule() with it arms the timer again */
    int64_t deadline_ns; /**< for when it was planned, not rounded */
    int64_t late_ns;     /**< from the deadline to the start of the callback; at least 0 */
    uint64_t missed;     /**< periods left out since the run before (HTW_REPEAT_SKIP) */
};

/**
 * A timer's callback. `expiration` is valid until it returns.
 *
 * A callback may also end with a C++ exception, with pthread_exit(), or because its thread is
 * cancelled. Its run has ended then as if it had returned. What follows depends on the thread:
 *  - A thread of the program, in htw_scheduler_process(), _advance(), _set_time() or
 *    htw_task_run(): that call does not return. Timers that were due and have not been run wait for
 *    the next call.
 *  - A thread of the library: an exception ends the program (std::terminate), as in a std::thread.
 *    After pthread_exit() or a cancellation the thread goes on to serve the scheduler, and ends
 *    when the scheduler is stopped.
 *
 * Release hooks, visitors, executors and allocators must return. Asynchronous cancellation
 * (PTHREAD_CANCEL_ASYNCHRONOUS) must not be in force in any call of the library, and longjmp() must
 * not leave a callback.
 */
typedef void htw_callback(void *arg, const struct htw_expiration *expiration);

/** Called once, when the library lets go of `arg`. */
typedef void htw_release_hook(void *arg);

/** A timer that will not run, given back. */
struct htw_unexpired {
    htw_handle handle; /**< stale already */
    htw_callback *callback;
    void *arg;           /**< the visitor's now, unless the timer has a release hook */
    int64_t deadline_ns; /**< HTW_NEVER_NS: never; of a paused one: as if resumed now */
};

/** Takes a timer that will not run. */
typedef void htw_unexpired_visitor(void *context, const struct htw_unexpired *unexpired);

/** Outcomes; errors are negative. */
enum htw_outcome {
    /** The handle or key names no timer that could still run: never did, or has ended. */
    HTW_GONE = 0,
    /** It was pending, and its callback will not run (again). */
    HTW_CANCELLED = 1,
    /** Its callback has started. If the timer repeats, this run is the last. */
    HTW_RUNNING = 2,
    /** The timer has its new deadline or period. */
    HTW_MOVED = 3
};

/** Which clock a scheduler goes by. */
enum htw_clock {
    HTW_CLOCK_MONOTONIC = 0, /**< never set; stands still while the machine is suspended */
    HTW_CLOCK_BOOTTIME = 1,  /**< never set; goes on while the machine is suspended */
    /**
     * The wall clock, nanoseconds since 1970: deadlines follow when it is set, forward or back.
     * So do delays, which are added to its present value when they are scheduled.
     */
    HTW_CLOCK_REALTIME = 2,
    /** Stands still until htw_scheduler_advance() or htw_scheduler_set_time(): for tests. */
    HTW_CLOCK_MANUAL = 3
};

/** Who runs the callbacks, instead of the library's threads. */
struct htw_executor {
    /**
     * Takes `count` tasks (1 to 64), each of which must be given to htw_task_run() or
     * htw_task_drop() exactly once, by any thread, inside this call or later. The array is
     * valid during the call. Called by the expirers, or by htw_scheduler_process().
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

/** How to create a scheduler. Start from HTW_SCHEDULER_OPTIONS_INIT. */
struct htw_scheduler_options {
    /** sizeof(struct htw_scheduler_options); set by the initialiser. */
    size_t struct_size;
    /** How fine time is divided: HTW_TICK_NS_MIN to _MAX; 0 means 1 ms. A fine tick costs
        nothing while no timer is due. */
    int64_t tick_ns;
    /** Buckets a level of the wheels, as in struct htw_wheel_options; 0 means 256. */
    uint32_t wheel_size;
    /** Independent parts with a lock of their own, up to HTW_SHARDS_MAX; a thread arms
        on that of the CPU on which it runs. 0 means one for each CPU that is online. */
    uint32_t shards;
    /** Threads that wait for deadlines, each for its share of the shards; up to
        HTW_EXPIRERS_MAX, and to the number of shards; 0 means 1. */
    uint32_t expirers;
    /** Threads that run callbacks, up to HTW_WORKERS_MAX, each started when it is first
        needed. 0: the expirers run them, and a slow callback delays all that follow. Without
        meaning if `embedded` is set or there is an `executor`. */
    uint32_t workers;
    enum htw_clock clock;
    /**
     * No threads: your event loop polls htw_scheduler_fd() or sleeps until
     * htw_scheduler_next(), and then calls htw_scheduler_process(). One shard will do then,
     * unless many threads schedule.
     */
    bool embedded;
    /** Start all threads at once, in htw_scheduler_create(); otherwise with the first timer. */
    bool start_threads;
    /** The most timers that may be pending at once: queued, paused and waiting between two
        periods, but not running (one that repeats keeps its place while it runs). Never
        exceeded; while other threads end timers, a call may be refused a little below it. 0 means
        no limit. */
    uint64_t max_pending;
    /** How much longer than to the earliest deadline an expirer may sleep, so that it serves
        several at once; at least 0. */
    int64_t timer_slack_ns;
    /** A callback that starts later than this after its deadline is counted as late;
        0 means 10 ms. */
    int64_t late_threshold_ns;
    /** What HTW_CLOCK_MANUAL starts from. */
    int64_t manual_start_ns;
    /** Threads are named "NAME-expirer-0", "NAME-worker-2", cut to the 15 characters of Linux
        at the end of NAME; NULL means "htw". */
    const char *thread_name;
    /** NULL: the library's workers. The struct is copied. */
    const struct htw_executor *executor;
    /** Where memory comes from; NULL means the default. Must be thread-safe. It may be called
        with a lock of the library held. */
    const struct htw_allocator *allocator;
};

/** The defaults: two workers and one expirer, started when needed; a tick of 1 ms. */
#define HTW_SCHEDULER_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(struct htw_scheduler_options), 0, 0, 0, 0, 2, HTW_CLOCK_MONOTONIC, false, false, 0, \
            0, 0, 0, NULL, NULL, NULL                                                              \
    }

/** Sets `options` to HTW_SCHEDULER_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_scheduler_options_init(struct htw_scheduler_options *options);

/* ------------------------------------------------------------------ life and death */

/**
 * Creates a scheduler.
 *
 * @param ret_scheduler where it goes; the caller destroys it.
 * @param options       how; NULL means all defaults. Not kept.
 * @return 0; -EINVAL when an option is out of its range or contradicts another; -ENOMEM when
 *         memory or a thread is lacking; -EMFILE, -ENFILE: no file descriptor for a timer.
 *
 * Threads that call one scheduler share its locks, without priority inheritance. Give them the same
 * scheduling class, and nice values that are near each other, or a real-time class to threads that
 * rarely call. A thread of SCHED_IDLE or of a high nice value that arms all the time, beside a busy
 * thread on its processor, has made calls of other threads take seconds: give it a scheduler of its
 * own.
 *
 * The threads block all signals. Memory: some 15 KiB a shard, 60 KiB for each thread that may
 * run callbacks, and 64 bytes a timer in blocks of 256 KiB.
 */
HTW_API HTW_WARN_UNUSED int htw_scheduler_create(struct htw_scheduler **ret_scheduler,
                                                 const struct htw_scheduler_options *options);

/**
 * Stops a scheduler: no callback starts any more; every timer that will not run is given back.
 *
 * Waits for the callbacks that run, and for the executor to run or drop what it holds (tasks
 * run from now on do nothing). Then calls `visitor` in this thread for each timer that has not run,
 * paused and never-due ones included, in no particular order.
 *
 * @param visitor may be NULL: then the library drops the arguments that have no release hook.
 * @return 0; -EDEADLK from a callback, hook or visitor of this scheduler. A second call
 *         waits until the first is over, and finds nothing.
 *
 * Afterwards scheduling answers -ESHUTDOWN, and every handle is stale. Blocks.
 */
HTW_API int htw_scheduler_stop(struct htw_scheduler *scheduler, htw_unexpired_visitor *visitor,
                               void *context);

/**
 * Stops the scheduler unless it was stopped, with no visitor (so it drops the arguments that
 * have no hook), and frees it; NULL is allowed. No other thread may be in a call on it, and groups
 * must not be used afterwards.
 *
 * @return 0; -EDEADLK as htw_scheduler_stop(); -EOWNERDEAD after fork: then its memory
 *         is left alone.
 */
HTW_API int htw_scheduler_destroy(struct htw_scheduler *scheduler);

/** The time of the scheduler's clock, in nanoseconds; 0 for NULL. */
HTW_API int64_t htw_scheduler_now(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ scheduling */

/**
 * Schedules a callback, once, after a delay.
 *
 * @param delay_ns   0 or less: now, but not inside this call. HTW_NEVER_NS: not before it is
 *                   rescheduled.
 * @param callback   not NULL.
 * @param arg        handed to the callback as it is; see above for who owns it.
 * @param ret_handle where the handle goes; may be NULL.
 * @return 0; -EINVAL; -EAGAIN: max_pending is reached; -ENOMEM: memory, or the thread that
 *         would be needed, is lacking; -ESHUTDOWN after stop. On failure nothing has changed
 *         and `arg` is the caller's.
 *
 * Cost: O(1); reads the clock, and takes the lock of this CPU's shard. The expirer
 * is told only when nothing earlier is pending in the shard.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule(struct htw_scheduler *scheduler, int64_t delay_ns,
                                         htw_callback *callback, void *arg, htw_handle *ret_handle);

/**
 * As htw_schedule(), at an instant of the scheduler's clock. Reads the clock only where the
 * instant may be over: when nothing is pending that is due two ticks earlier.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_at(struct htw_scheduler *scheduler, int64_t deadline_ns,
                                            htw_callback *callback, void *arg,
                                            htw_handle *ret_handle);

/**
 * As htw_schedule(), at any time in a range: timers whose ranges overlap tend to be run
 * together, with fewer wake-ups (htw_wheel_schedule_within()).
 *
 * @param earliest_ns the least delay that will do.
 * @param latest_ns   the greatest, at least `earliest_ns`. Where no tick lies between, the
 *                    one after `earliest_ns` is taken; or now, if that is 0 or less.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_within(struct htw_scheduler *scheduler,
                                                int64_t earliest_ns, int64_t latest_ns,
                                                htw_callback *callback, void *arg,
                                                htw_handle *ret_handle);

/** How a timer repeats. It never overlaps with itself: the next run starts after this one. */
enum htw_repeat {
    /** Fixed rate; periods that passed meanwhile are left out, and counted for the next run. */
    HTW_REPEAT_SKIP = 0,
    /** Fixed rate; runs that are overdue follow one another until they have caught up. */
    HTW_REPEAT_BURST = 1,
    /** Fixed rate; where a run was overdue, the periods count from its end from now on. */
    HTW_REPEAT_DELAY = 2,
    /** Fixed delay: a period from the end of a run to the start of the next. */
    HTW_REPEAT_AFTER = 3
};

/**
 * Schedules a callback that repeats until it is cancelled.
 *
 * @param first_ns  the delay of the first run, as in htw_schedule().
 * @param period_ns more than 0.
 * @return as htw_schedule(). HTW_REPEAT_SKIP after a run that ends at time t: the next
 *         planned instant after t.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_every(struct htw_scheduler *scheduler, int64_t first_ns,
                                               int64_t period_ns, enum htw_repeat repeat,
                                               htw_callback *callback, void *arg,
                                               htw_handle *ret_handle);

/** A timer with all that it may have. Start from HTW_SPEC_INIT. */
struct htw_spec {
    /** sizeof(struct htw_spec); set by the initialiser. */
    size_t struct_size;
    htw_callback *callback;
    void *arg;
    /** The delay, or with `absolute` the instant, at which it falls due; nanoseconds. */
    int64_t when_ns;
    /** When later than `when_ns`: any time until then will do. */
    int64_t latest_ns;
    bool absolute;
    /** More than 0: it repeats, in the manner of `repeat`. */
    int64_t period_ns;
    enum htw_repeat repeat;
    /**
     * Its key: `key_size` bytes (0 to UINT32_MAX), copied; NULL: none. At most one timer of a
     * group, or of those without a group, is pending under a key. The key is free again when
     * the callback of a timer that does not repeat starts.
     */
    const void *key;
    size_t key_size;
    /** If a timer is pending (or repeats) under the key, keep that one and answer -EEXIST;
        otherwise the new one replaces it. */
    bool keep_existing;
    /** NULL: none. A timer that joins a paused group waits until it is resumed. */
    struct htw_group *group;
    /** NULL: none. See at the top. */
    htw_release_hook *release;
};

#define HTW_SPEC_INIT                                                                         \
    {                                                                                         \
        sizeof(struct htw_spec), NULL, NULL, 0, 0, false, 0, HTW_REPEAT_SKIP, NULL, 0, false, \
            NULL, NULL                                                                        \
    }

/** Sets `spec` to HTW_SPEC_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_spec_init(struct htw_spec *spec);

/**
 * Schedules a timer as `spec` says.
 *
 * @param ret_handle   may be NULL.
 * @param ret_replaced receives the timer of the same key that was cancelled in favour of the new
 *                     one; `handle` is 0 if there was none. Its `arg` is the caller's, and NULL if
 *                     the timer had a release hook, which has been called. May be NULL.
 * @return 0; -EEXIST with `keep_existing`; the errors of htw_schedule(); -EINVAL also when
 *         `struct_size` is unknown, the period is negative, or the group is another scheduler's.
 *         Where max_pending is reached, a timer that replaces another one is accepted. If the timer
 *         that has the key is running, it is not replaced: it only loses the key, and if it
 *         repeats, this run is the last.
 *
 * Cost: allocates a second record (some 130 bytes and the key) when it repeats, has a key,
 * a group, or a release hook. Keyed and grouped timers live in the shard of their key or group.
 */
HTW_API HTW_WARN_UNUSED int htw_schedule_spec(struct htw_scheduler *scheduler,
                                              const struct htw_spec *spec, htw_handle *ret_handle,
                                              struct htw_unexpired *ret_replaced);

/* ------------------------------------------------------------------ handles */

/**
 * Cancels a timer. Never waits for a callback.
 *
 * @return HTW_CANCELLED: it will not run; HTW_RUNNING: it has started (for one that
 *         repeats, this run is the last); HTW_GONE: it has ended, or `handle` never named one.
 *
 * Of one cancel and one expiry exactly one wins. Cost: O(1). A timer of another CPU's shard
 * is claimed without its lock.
 */
HTW_API HTW_WARN_UNUSED int htw_cancel(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Cancels a timer, and if its callback runs, waits until it (and the release hook) has returned.
 *
 * @return as htw_cancel(), where HTW_RUNNING means: it was running, and has ended; -EDEADLK
 *         when it would wait for itself: from inside that very callback, or in a ring of
 *         callbacks each of which waits for the next (of one scheduler: a ring over two is
 *         not noticed). The timer is cancelled all the same.
 *
 * May block for as long as the callback runs. This is a cancellation point: a thread that is
 * cancelled while it waits has cancelled the timer, and no longer waits. No other function of this
 * header is one.
 */
HTW_API HTW_WARN_UNUSED int htw_cancel_wait(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * Cancels the timer that is pending or repeats under a key.
 *
 * @param group   the group whose key it is; NULL for timers without a group.
 * @param ret_arg where its argument goes with HTW_CANCELLED, if it has no release hook
 *                (otherwise NULL); may be NULL.
 * @return as htw_cancel(); -EINVAL when `key` is NULL.
 */
HTW_API HTW_WARN_UNUSED int htw_cancel_key(struct htw_scheduler *scheduler, struct htw_group *group,
                                           const void *key, size_t key_size, void **ret_arg);

/** The timer that is pending or repeats under a key; 0 if there is none. */
HTW_API htw_handle htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                                const void *key, size_t key_size);

/**
 * Gives a timer a new deadline, `delay_ns` from now; the handle stays.
 *
 * @return HTW_MOVED; HTW_RUNNING: too late, nothing has changed (in its own callback: it was
 *         cancelled meanwhile); HTW_GONE; -ESHUTDOWN; -ENOMEM, and -EAGAIN in the callback of a
 *         timer that does not repeat where max_pending is reached: nothing has changed. A timer
 * that waits in a paused group has this delay when it is resumed. In its own callback a timer may
 * be rescheduled, whether it repeats or not: it runs once more at that time (without its key, if it
 * had one and does not repeat). A repeating timer that runs elsewhere is moved, too: this is about
 * its next run. Later runs count from there.
 *
 * Cost: O(1); takes the lock of the timer's shard. To a later deadline it is nearly free.
 */
HTW_API int htw_reschedule(struct htw_scheduler *scheduler, htw_handle handle, int64_t delay_ns);

/** As htw_reschedule(), to an instant of the scheduler's clock. */
HTW_API int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle,
                              int64_t deadline_ns);

/**
 * Gives a repeating timer another period, which holds from its next run on.
 *
 * @param period_ns more than 0.
 * @return HTW_MOVED; HTW_GONE; -EINVAL also when the timer does not repeat.
 */
HTW_API int htw_set_period(struct htw_scheduler *scheduler, htw_handle handle, int64_t period_ns);

/** Whether the timer is going to run: pending, paused, or due and not started. */
HTW_API bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle);

/**
 * When the timer falls due.
 *
 * @param ret_deadline_ns the deadline, not rounded; for a paused timer as if it were resumed
 *                        now; while its callback runs, the one that this run was planned for, or
 *                        that it has been given since.
 * @return 0; -ENOENT when the handle is stale; -EINVAL.
 */
HTW_API int htw_deadline(struct htw_scheduler *scheduler, htw_handle handle,
                         int64_t *ret_deadline_ns);

/** How many timers are pending: not those that run now, whether or not they repeat. Exact when
   no other thread is in a call. O(shards + threads). */
HTW_API uint64_t htw_pending(const struct htw_scheduler *scheduler);

/* ------------------------------------------------------------------ groups */

/**
 * Creates a group: of a connection, or a tenant.
 *
 * @return 0; -EINVAL; -ENOMEM; -ESHUTDOWN. The caller destroys it, before the scheduler.
 */
HTW_API HTW_WARN_UNUSED int htw_group_create(struct htw_scheduler *scheduler,
                                             struct htw_group **ret_group);

/**
 * Destroys the group; NULL is allowed. Its timers go on without a group. They keep their
 * keys until they end, but no call can find them by key any more. Paused timers are resumed.
 */
HTW_API void htw_group_destroy(struct htw_group *group);

/**
 * Cancels all timers of a group. Those that are scheduled meanwhile may escape.
 *
 * @param visitor called for each that was cancelled, in no order; may be NULL.
 * @return how many were cancelled, at least 0 (running ones are not counted; repeating
 *         ones do not run again); -EINVAL for a NULL group; -EOWNERDEAD.
 *
 * Cost: O(timers of the group), in bounded slices.
 */
HTW_API int64_t htw_group_cancel(struct htw_group *group, htw_unexpired_visitor *visitor,
                                 void *context);

/**
 * Stops the time of a group: none of its callbacks starts after this has returned, until it is
 * resumed; what remained of each delay is kept. Pausing twice is pausing once. A callback that has
 * started runs on: `runs` of the statistics counts it already. A timer that is due when its group
 * is paused is due again when the group is resumed, and its `late_ns` counts from there.
 *
 * @return 0; -EINVAL; -EOWNERDEAD. Cost: as htw_group_cancel().
 */
HTW_API int htw_group_pause(struct htw_group *group);

/** Lets the time of a group go on. @return as htw_group_pause(). */
HTW_API int htw_group_resume(struct htw_group *group);

/** How many timers of the group are pending, paused or running; 0 for NULL. O(1). */
HTW_API uint64_t htw_group_count(struct htw_group *group);

/* ------------------------------------------------------------------ embedded */

/**
 * A file descriptor that becomes readable when htw_scheduler_process() is to be called: for
 * epoll, poll, libuv, libev. It belongs to the scheduler; only wait for it.
 *
 * @return at least 0; -ENOTSUP unless the scheduler is embedded, and for HTW_CLOCK_MANUAL;
 *         -EMFILE, -ENFILE, -ENOMEM.
 */
HTW_API int htw_scheduler_fd(struct htw_scheduler *scheduler);

/**
 * When htw_scheduler_process() has something to do: an instant of the clock, not
 * later than the earliest deadline rounded up to a tick, and earlier at times where a timer has
 * been cancelled or moved; HTW_NEVER_NS: nothing has a deadline.
 */
HTW_API int64_t htw_scheduler_next(struct htw_scheduler *scheduler);

/**
 * Runs what is due, in this thread (or hands it to the executor). Only for embedded schedulers.
 *
 * @param budget    the most callbacks to run; 0: all that are due now. What a callback schedules
 *                  for now may wait for the next call, so that this one ends.
 * @param ret_count how many were run (or handed over); may be NULL.
 * @return HTW_DONE; HTW_MORE when the budget was spent (htw/wheel.h; the file descriptor is
 *         readable still); -ENOTSUP as htw_scheduler_fd(); -EBUSY while another thread is in it;
 * -EDEADLK from a callback; -ESHUTDOWN.
 */
HTW_API int htw_scheduler_process(struct htw_scheduler *scheduler, size_t budget,
                                  size_t *ret_count);

/* ------------------------------------------------------------------ manual time */

/**
 * Lets the time of a HTW_CLOCK_MANUAL scheduler go on.
 *
 * Visits in turn every tick at which a timer is due, over all shards; all callbacks of a
 * tick, and what they schedule for that tick, have returned before the next one. With 0 or 1
 * workers one callback runs at a time; with 0 they run in this thread. Returns when the time
 * is reached and all is quiet: every counter is exact then.
 *
 * @param delta_ns at least 0. 0 runs what is due now.
 * @return 0; -EINVAL also for a negative time; -ENOTSUP for another clock; -EDEADLK from a
 *         callback; -EBUSY while another thread is in it; -ESHUTDOWN.
 *
 * Blocks until the callbacks have returned. Does not return while callbacks keep
 * scheduling with no delay, unless another thread stops the scheduler; they keep no other
 * callback that is due waiting.
 */
HTW_API int htw_scheduler_advance(struct htw_scheduler *scheduler, int64_t delta_ns);

/**
 * Sets a HTW_CLOCK_MANUAL scheduler to a time, as a user sets the wall clock: in one
 * step, forward or back. Forward, all that has become due runs, in order of ticks within a
 * shard; back, nothing runs that is not due at the new time. @return as htw_scheduler_advance().
 */
HTW_API int htw_scheduler_set_time(struct htw_scheduler *scheduler, int64_t time_ns);

/* ------------------------------------------------------------------ executors */

/**
 * Runs a task's callback, unless its timer was cancelled or the scheduler stopped meanwhile.
 * The task must not be touched afterwards. NULL is ignored.
 */
HTW_API void htw_task_run(struct htw_task *task);

/**
 * Ends a task's timer without running it, and reports the outcome. The task must not be used
 * afterwards.
 *
 * @param ret_arg where the timer's argument goes with HTW_CANCELLED: it is the caller's; NULL if the
 *                timer had a release hook, which has been called. May be NULL.
 * @return HTW_CANCELLED: this call has ended the timer; HTW_GONE: it was cancelled before; -EINVAL:
 *         `task` is NULL; -EOWNERDEAD.
 */
HTW_API HTW_WARN_UNUSED int htw_task_drop(struct htw_task *task, void **ret_arg);

/* ------------------------------------------------------------------ statistics */

/** How a quantity was distributed, in nanoseconds; percentiles are too great by 1/64 at most. */
struct htw_distribution {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    uint64_t max_ns;
};

/**
 * Counters since the scheduler was created. When all is quiet
 * scheduled = fired + cancelled + handed_back + pending.
 */
struct htw_scheduler_stats {
    /** sizeof(struct htw_scheduler_stats); set by HTW_SCHEDULER_STATS_INIT. */
    size_t struct_size;
    uint64_t scheduled;     /**< schedule calls that returned 0 */
    uint64_t fired;         /**< timers that ended with a run */
    uint64_t cancelled;     /**< timers cancelled before a run; replaced and dropped ones count */
    uint64_t handed_back;   /**< timers that stop gave to the visitor */
    uint64_t runs;          /**< callbacks started; more than fired where timers repeat */
    uint64_t late;          /**< callbacks started later than `late_threshold_ns` */
    uint64_t missed;        /**< periods left out by HTW_REPEAT_SKIP */
    uint64_t refused;       /**< schedule calls answered with -EAGAIN */
    uint64_t moved;         /**< htw_reschedule() that returned HTW_MOVED */
    uint64_t demoted;       /**< times a timer was re-filed in a wheel */
    uint64_t wakeups;       /**< times an expirer woke up, or process was called */
    uint64_t empty_wakeups; /**< of these, with nothing due */
    uint64_t pending;       /**< timers pending now, as htw_pending() */
    uint64_t running;       /**< callbacks running now */
    uint64_t memory_bytes;  /**< memory that the scheduler holds, second records included */
    struct htw_distribution lateness; /**< from the deadline to the start of the callback */
    struct htw_distribution callback; /**< how long callbacks took */
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
 * Fills in `stats`, whose `struct_size` must be set.
 *
 * @return 0; -EINVAL when a pointer is NULL or `struct_size` is unknown; -ENOMEM.
 *
 * Cost: O(shards + threads), some 50 us; takes each shard's lock for a moment, in turn.
 */
HTW_API int htw_scheduler_get_stats(struct htw_scheduler *scheduler,
                                    struct htw_scheduler_stats *stats);

/**
 * Writes the counters, and the distributions as histograms in seconds, in the text format of
 * Prometheus; every name starts with "htw_".
 *
 * @return 0; -EINVAL; -ENOMEM; -EIO when the stream failed.
 */
HTW_API int htw_scheduler_prometheus(struct htw_scheduler *scheduler, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif /* HTW_SCHEDULER_H */
