/* SPDX-License-Identifier: MIT */
/*
 * htw/purgatory.h - requests that wait until an event allows an answer, or until their timeout: a fetch that
 * waits for data, a produce that waits for replicas, a client blocked on a list.
 *
 *     struct fetch { struct htw_request request; struct client *client; ... };
 *
 *     static bool is_ready(void *context, struct htw_request *request) { ... }
 *     static void answer(void *context, struct htw_request *request, enum htw_reason reason)
 *     { ... }
 *     static void release(void *context, struct htw_request *request) { free(...); }
 *
 *     if (htw_purgatory_try_complete_else_watch(purgatory, &fetch->request, keys, 2,
 *                                               500 * HTW_MILLISECOND) < 0) ...
 *     ...
 *     htw_purgatory_check(purgatory, "orders-3", 8);      // data has arrived for this key
 *
 * A request waits on one or more keys (bytes), or on a threshold (htw/threshold.h), and has a timeout. Each
 * request ends exactly once, for one of four reasons (enum htw_reason). When it ends, the purgatory unlinks
 * it at once from all its keys and from its timeout, and keeps no reference to it. A key on which no request
 * waits takes no memory, once the queued checks of the key have run.
 *
 * Hooks. The purgatory calls these functions of the user (struct htw_purgatory_options):
 *  - `try_complete` says whether the request can be completed now. It may take what the request waits for: if
 *    it returns true, the request always ends with HTW_REASON_COMPLETED. The purgatory calls it before it
 *    links the request to its keys, once more when the request is linked to all of them (so that no event is
 *    missed), and then for each check of one of the keys; never for a cancel, a timeout or a close.
 *  - `on_complete` is called exactly once, with the reason.
 *  - `release` is the last call for a request, after `on_complete`. From the start of `release` on the
 *    library does not use the request any more: it may be freed or submitted again. Between `on_complete` and
 *    `release` no other thread of the library uses it.
 * Hooks and visitors must return, as callbacks must (htw_callback).
 *
 * Threads. Hooks run in the thread that calls a function of this header. The hooks of a request that expires,
 * and those of htw_purgatory_check_later(), run in the threads that run the scheduler's callbacks. Two
 * threads are never in hooks of the same request. If an event arrives while a thread is in `try_complete` of
 * a request, the other thread does not wait: it marks the request, and the first thread calls `try_complete`
 * again, so no event is lost. If `try_complete` itself causes an event for its request, it is called once
 * more (not repeatedly). After 16 such calls because of other threads, the thread schedules a check for later
 * and returns, so that no call is kept busy endlessly. (In embedded mode and with HTW_CLOCK_MANUAL, and if
 * the scheduler refuses that check, the thread continues.)
 *
 * Checks inside checks. A `try_complete` may check a key that its thread is checking already. The inner check
 * returns 0 at once; the outer check visits the key again and counts what ends. One call accepts as many
 * inner checks as there are requests on the key, and 16 more, so it ends even if hooks check their key each
 * time. (If hooks check many other keys whose hooks do the same, the number of calls multiplies with each
 * key.)
 *
 * Locks. The library holds no lock while a hook or visitor runs. Hooks may call every function of this
 * header, except htw_purgatory_destroy() and htw_threshold_destroy(), and every function of htw/scheduler.h,
 * for any key and any request, also their own. If you hold a lock of your own during a call and a hook takes
 * the same lock, that lock must be recursive. If you hold locks that hooks take in another order, call
 * htw_purgatory_check_later(). A chain of hooks, each of which checks a key for the next one, makes the stack
 * grow; htw_purgatory_check_later() does not.
 *
 * Any thread may call any function at any time, also in a hook, unless the function says otherwise. Only
 * htw_purgatory_destroy() and htw_threshold_destroy() block; the others may spin briefly on a lock. Who calls a
 * function for a request makes sure that its memory exists, and that it was not submitted again for something else.
 *
 * Errors. Each function returns -EINVAL for NULL where NULL is not allowed, and -EOWNERDEAD for a purgatory
 * of the parent process, after fork. Functions that cannot return an error return false or 0, or do nothing.
 * A child that is forked inside a hook or visitor must leave by exec or _exit(), as in a callback (htw_callback).
 *
 * The model is Kafka's DelayedOperationPurgatory. Differences: completed requests are unlinked at once, not
 * by a purge; no lock is held while hooks run; an event may complete a limited number of requests.
 */
#ifndef HTW_PURGATORY_H
#define HTW_PURGATORY_H

#include <htw/scheduler.h>
#include <htw/wheel.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Holds requests that wait; opaque. */
struct htw_purgatory;

/** Why a request has ended. */
enum htw_reason {
    /** `try_complete` returned true, htw_request_complete(), or the threshold has the value. */
    HTW_REASON_COMPLETED = 0,
    HTW_REASON_EXPIRED = 1,   /**< the timeout was reached */
    HTW_REASON_CANCELLED = 2, /**< htw_request_cancel() or htw_purgatory_cancel_key() */
    HTW_REASON_CLOSED = 3     /**< htw_purgatory_close() or htw_threshold_destroy() */
};

/** The outcome of a submission. */
enum htw_submission {
    HTW_WATCHED = 0, /**< the request waits; another thread may have ended it by now */
    HTW_FINISHED = 1 /**< the request has ended inside the call, in this thread */
};

/** A key: `size` bytes (0 to UINT32_MAX) at `bytes`. `bytes` may be NULL if `size` is 0. */
struct htw_key {
    const void *bytes;
    size_t size;
};

/** Private: a request on a key. */
struct htw__watch {
    uintptr_t _cell; /* its low bits say what that is */
};

/** Private: a request that waits for a value, in a tree ordered by value and arrival. */
struct htw__threshold_node {
    struct htw__threshold_node *_parent, *_left, *_right;
    uint64_t _value;
    uint64_t _arrival; /* 0: in no tree */
};

/** Private: how many keys a request stores in itself. */
#define HTW__REQUEST_WATCHES 6

/**
 * A request. Embed it in the struct of your request; the members are private.
 *
 * htw_request_init() or zeroing initialises it. From `release` on it may be submitted again. Between
 * submission and release it must not be moved, freed or touched. 104 bytes with 64-bit pointers.
 */
struct htw_request {
    uint32_t _state;
    uint32_t _count;
    uint32_t _since_ms;
    uint16_t _cpu;
    uint16_t _flags;
    struct htw_purgatory *_purgatory;
    struct htw_timer _timeout;
    union {
        struct htw__watch _few[HTW__REQUEST_WATCHES];
        struct {
            struct htw__watch *_watches;
            size_t _bytes;
        } _many;
        struct {
            struct htw__threshold_node _node;
            struct htw__condition *_condition;
        } _on_threshold;
    } _place;
};

/** Initialises a request, the same as zeroing it. Not for one that waits. NULL is ignored. */
static inline void htw_request_init(struct htw_request *request) {
    if (request != NULL)
        memset(request, 0, sizeof(*request));
}

/**
 * Returns whether a request was submitted and the library still uses it.
 *
 * With a `release` hook, do not free or submit a request because of a false result: the result becomes false
 * just before the hook is called, and only from the start of the hook on the caller owns the request again.
 * Without a `release` hook the result decides: when it is false, `on_complete` has returned, and any thread
 * may free the request or submit it again.
 *
 * @return true: it was submitted, and the library still uses it;
 *         false: the library does not use it (any more), or `request` is NULL.
 *
 * Threads: any, as long as the memory of the request exists.
 */
HTW_API bool htw_request_is_pending(const struct htw_request *request);

/** Called for a request that ends, before its `on_complete`, with the `context` of the call. */
typedef void htw_request_visitor(void *context, struct htw_request *request);

/** The limits of the options. */
#define HTW_PURGATORY_SHARDS_MAX 65536u

/** The options of a purgatory. Start from HTW_PURGATORY_OPTIONS_INIT, and set `on_complete`. */
struct htw_purgatory_options {
    /** sizeof(struct htw_purgatory_options); HTW_PURGATORY_OPTIONS_INIT sets it. */
    size_t struct_size;
    /** Returns whether the request can be completed now. NULL: no event completes requests, only
        htw_request_complete() and thresholds. */
    bool (*try_complete)(void *context, struct htw_request *request);
    /** The request has ended, for `reason`. Not NULL. */
    void (*on_complete)(void *context, struct htw_request *request, enum htw_reason reason);
    /** The request belongs to the user again. May be NULL: then `on_complete` must not free or
        submit it; it belongs to the user when htw_request_is_pending() returns false. */
    void (*release)(void *context, struct htw_request *request);
    /** Passed to the hooks. */
    void *context;
    /** The number of independent parts, each with its own lock, into which the keys are divided: a
        power of two up to HTW_PURGATORY_SHARDS_MAX; 0 means 4096. Each takes 320 bytes. */
    uint32_t shards;
    /** The allocator; NULL means the default one. Must be thread-safe. The library may call it
        while it holds a lock of its own. The struct is copied. */
    const struct htw_allocator *allocator;
    /** The name of its group and its timers, and so of all its requests, in htw_scheduler_dump(); up to 31 bytes
        are copied. NULL: "purgatory". */
    const char *name;
};

#define HTW_PURGATORY_OPTIONS_INIT HTW__INIT(htw_purgatory_options)

/* ------------------------------------------------------------------ creating and closing */

/**
 * Creates a purgatory.
 *
 * @param ret_purgatory receives the purgatory. The caller owns it, and destroys it with
 *                      htw_purgatory_destroy().
 * @param scheduler     keeps the timeouts, and runs the hooks of requests whose timeout ends. It may have
 *                      other users. It must exist longer than the purgatory, and should be stopped after the
 *                      purgatory is closed: a stopped scheduler ends no timeout, and its visitor receives
 *                      timers of the library, which it must ignore.
 * @param options       `on_complete` must be set. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: an option is out of its range;
 *         -ENOMEM, -ESHUTDOWN;
 *         -EOWNERDEAD: the scheduler belongs to the parent process.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_create(struct htw_purgatory **ret_purgatory,
                                                 struct htw_scheduler *scheduler,
                                                 const struct htw_purgatory_options *options);

/**
 * Closes a purgatory: ends all requests with HTW_REASON_CLOSED, and returns how many. From now on submissions
 * return -ESHUTDOWN.
 *
 * @param visitor called for each request that this call ends. If another thread is in a hook of the request,
 *                or this call is inside a hook of the request, the request is marked; that thread ends it
 *                when the hook returns, without a visitor. May be NULL.
 * @return 0 or more: how many this call ends, requests on thresholds and marked ones included. A second call
 *         finds none.
 *
 * Does not wait. Cost: O(requests); holds each lock only for a bounded number of them at a time.
 */
HTW_API int64_t htw_purgatory_close(struct htw_purgatory *purgatory, htw_request_visitor *visitor,
                                    void *context);

/**
 * Destroys a purgatory. Closes it first, unless it was closed. NULL is ignored.
 *
 * Waits until the last hook in a thread of the scheduler has returned. No other thread may be in a call with
 * this purgatory. Destroy its thresholds first.
 *
 * @return 0: success;
 *         -EDEADLK: called in a hook or visitor of this purgatory; it is not even closed;
 *         -EBUSY: it still has thresholds; it is not even closed;
 *         -EOWNERDEAD: the memory of the parent process is not freed.
 */
HTW_API int htw_purgatory_destroy(struct htw_purgatory *purgatory);

/* ------------------------------------------------------------------ requests */

/**
 * Submits a request: completes it if that is possible now, otherwise lets it wait on keys with a timeout;
 * reports the outcome.
 *
 * Calls `try_complete`; if it returns false, reads the clock for the timeout, links the request to its keys, and
 * calls `try_complete` once more. From then on the request may end in any thread, even before this call returns.
 *
 * @param request    initialised; it must not wait.
 * @param keys       are copied. Duplicates count once.
 * @param key_count  1 to UINT32_MAX; on 32-bit machines to SIZE_MAX / 64.
 * @param timeout_ns in nanoseconds, from now. 0 or less: the request expires at once, in a callback of the
 *                   scheduler (or at the end of this call). HTW_NEVER_NS: never. It never ends early; it can
 *                   be late like any timer of the scheduler. It is a duration: if the scheduler has the wall
 *                   clock, the monotonic clock measures it, and setting the wall clock changes nothing. With
 *                   HTW_CLOCK_BOOTTIME the time for which the machine is suspended counts. With
 *                   HTW_CLOCK_MANUAL a timeout follows htw_scheduler_set_clock(), as timers do.
 * @return HTW_WATCHED: the request waits;
 *         HTW_FINISHED: the request has ended; `on_complete` and `release` have been called;
 *         -EINVAL also for no keys;
 *         -EBUSY: the request is already submitted;
 *         -ESHUTDOWN: the purgatory is closed, or its scheduler was stopped;
 *         -EAGAIN: `max_pending` of the scheduler is reached, and the purgatory has no timer for the timeouts
 *         of this processor yet (one is enough);
 *         -ENOMEM.
 *
 * After a failure nothing has changed and the caller owns the request. Of the hooks, only `try_complete` was
 * called, and it returned false. (If the request was cancelled or closed before the failure was known, it
 * ends for that reason, and HTW_FINISHED is returned.)
 *
 * Cost: O(keys); for many keys O(keys * log keys). A request with up to six keys allocates nothing itself. A
 * key of up to 16 bytes takes nothing if its shard has room for it, and six requests fit there; otherwise it
 * takes 80 bytes, in blocks of 4 KiB, with one request. A longer key takes 64 bytes and its length. Each six
 * further requests on a key take 80 bytes.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_try_complete_else_watch(struct htw_purgatory *purgatory,
                                                                  struct htw_request *request,
                                                                  const struct htw_key *keys,
                                                                  size_t key_count,
                                                                  int64_t timeout_ns);

/**
 * Ends a request with HTW_REASON_COMPLETED without calling `try_complete`, and reports whether this call ends
 * it.
 *
 * @return true: this call has ended the request, or has marked it, and the thread that is in its hook ends
 *         it. (If that hook is a `try_complete` in a check, and returns true, the check counts the request,
 *         too.)
 *         false: it ends or has ended for another reason or by another call, or was never submitted.
 */
HTW_API bool htw_request_complete(struct htw_purgatory *purgatory, struct htw_request *request);

/**
 * Ends a request with HTW_REASON_CANCELLED, for example because its client has gone, and reports whether this
 * call ends it. Otherwise as htw_request_complete().
 *
 * A request that this call has marked is completed instead if its `try_complete`, in which another thread is,
 * returns true, or if the threshold on which it is being put has its value.
 */
HTW_API bool htw_request_cancel(struct htw_purgatory *purgatory, struct htw_request *request);

/**
 * Gives a request that waits another timeout, longer or shorter.
 *
 * @param timeout_ns from now, as in htw_purgatory_try_complete_else_watch(). HTW_NEVER_NS: never; the request
 *                   still counts as one with a timeout, and can get another one.
 * @return 0: the new timeout has replaced the earlier one. The request may be about to end for another
 *         reason;
 *         -ENOENT: nothing has changed, because no timeout of the request is running: it has ended or
 *         expired, was submitted with HTW_NEVER_NS, or its submission has not returned yet;
 *         -ENOMEM, -EAGAIN, -ESHUTDOWN as htw_purgatory_try_complete_else_watch(): the earlier timeout is
 *         still running.
 *
 * Threads: any, also in a hook, and while a thread is in `try_complete` of the request. Cost: O(1).
 */
HTW_API int htw_request_set_timeout(struct htw_purgatory *purgatory, struct htw_request *request,
                                    int64_t timeout_ns);

/* ------------------------------------------------------------------ events */

/**
 * Reports an event on a key: calls `try_complete` of each request that waits on the key, in order of arrival,
 * ends those for which it returns true, and returns how many. Stops when it has returned true `max` times:
 * for one item, wake one waiter.
 *
 * Requests that arrive during the call may or may not be asked. No request is asked twice because of one
 * call, unless a `try_complete` checks the same key during the call: then all are asked again. Hooks may
 * watch, check or cancel any key. If requests wait on several keys, one that ends may have taken something of
 * another of its keys: call again until 0 is returned, or nothing is left to take.
 *
 * @param key      must exist until the call returns, also if it is in memory that hooks free.
 * @param key_size 0 to UINT32_MAX.
 * @param max      the most requests to complete; UINT64_MAX: all; 0: no request is asked. If a `try_complete`
 *                 checks the key during the call, the limit of that check is added.
 * @return 0 or more: for how many requests `try_complete` returned true in this call. Those that another call
 *         ends meanwhile, for example htw_request_complete(), do not count here. (A request whose hook is
 *         running in another thread is only marked. That thread asks it again, and a check that it makes
 *         counts it.)
 *
 * Cost: O(requests on the key), and O(keys) for each request that ends.
 */
HTW_API int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                            size_t key_size, uint64_t max);

/** Reports an event on a key to all that wait: htw_purgatory_check_at_most() with UINT64_MAX. */
static inline int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key,
                                          size_t key_size) {
    return htw_purgatory_check_at_most(purgatory, key, key_size, UINT64_MAX);
}

/**
 * Schedules a check of a key in a callback of the scheduler: for callers that hold locks which hooks take.
 * Runs no hook in this call.
 *
 * Checks of the same key that have not begun are merged. A check is a timer of the scheduler with two copies of the
 * key. An accepted check will run unless the scheduler is stopped or the purgatory is closed first.
 *
 * @return 0: success, also if no request waits on the key;
 *         -ENOMEM, -EAGAIN, -ESHUTDOWN as htw_schedule(): no check will be made.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_check_later(struct htw_purgatory *purgatory,
                                                      const void *key, size_t key_size);

/**
 * Ends all requests that wait on a key with HTW_REASON_CANCELLED, in order of arrival, and returns how many. Those that
 * arrive during the call may or may not be among them.
 *
 * @param visitor called for each request that this call ends. A request whose hook is running in another
 *                thread is only marked, and that thread ends it (unless its `try_complete` returns true)
 *                without a visitor. May be NULL.
 * @return 0 or more: how many this call ends, marked requests included.
 */
HTW_API int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key,
                                         size_t key_size, htw_request_visitor *visitor,
                                         void *context);

#ifdef __cplusplus
}
#endif

#endif /* HTW_PURGATORY_H */
