/* SPDX-License-Identifier: MIT */
/*
 * htw/purgatory.h - requests that wait until an event allows them to be answered, or until
 * their time is up: a fetch that waits for data, a produce that waits for replicas, a client
 * blocked on a list.
 *
 *     struct fetch { struct htw_request request; struct client *client; ... };
 *
 *     static bool is_ready(void *context, struct htw_request *request) { ... }
 *     static void answer(void *context, struct htw_request *request, enum htw_reason reason)
 *     { ... }
 *     static void release(void *context, struct htw_request *request) { free(...); }
 *
 *     htw_purgatory_try_complete_else_watch(purgatory, &fetch->request, keys, 2,
 *                                           500 * HTW_MILLISECOND);
 *     ...
 *     htw_purgatory_check(purgatory, "orders-3", 8);      // data has arrived for this key
 *
 * A request waits on one or more keys (bytes) and has a timeout. Each request ends exactly once,
 * for one of four reasons (enum htw_reason). When it ends, the purgatory unlinks it at once from
 * all its keys and from its timeout. Nothing that has ended is retained. A key on which no request
 * waits takes no memory, once the checks that are queued for it have been made.
 *
 * Hooks. `try_complete` answers whether the request can be completed now. It may take what the
 * request waits for: a request whose `try_complete` has returned true always ends with
 * HTW_REASON_COMPLETED. The purgatory calls it before it links the request to its keys, once more
 * when the request is linked to all of them (so that no event is missed), and then for each check
 * of one of the keys; never for a cancel, an expiration or a close. `on_complete` is called
 * exactly once, with the reason. `release` is the last call for a request, after `on_complete`.
 * From inside `release` on, the library does not refer to the request any more: it may be freed or
 * submitted again. Threads other than the one in `release` learn nothing of the request after
 * `on_complete`. Hooks and visitors must return: a C++ exception, longjmp() or pthread_exit() must
 * not leave them.
 *
 * Threads. Hooks run in the thread that calls a function of this header. When a request expires,
 * and for htw_purgatory_check_later(), they run where the scheduler runs callbacks. Two threads
 * are never in hooks of one request at the same time. If an event arrives while a thread is in the
 * `try_complete` of a request, no thread waits and the event is not lost: it marks the request,
 * and that thread calls `try_complete` again. An event that a request's own `try_complete` causes
 * makes the purgatory call it once more, not for ever. Other threads cannot keep a call busy for
 * ever: after 16 calls because of them, the thread leaves the request to a check for later and
 * returns. (In embedded mode and manual time, and where the scheduler refuses that check, it goes
 * on.)
 *
 * Checks inside checks. A `try_complete` may check a key that its thread is checking already. The
 * inner check then does not run inside the outer one: it returns 0, and the outer check visits the
 * key again and counts what ends. One call accepts as many inner checks as there are requests on
 * the key, and 16 more, so hooks that check their key each time come to an end. (If hooks check
 * many other keys whose hooks do the same, the number of calls multiplies with each key.)
 *
 * Locks. The library holds no lock while a hook or visitor runs. They may call every function of
 * this header, except htw_purgatory_destroy() and htw_threshold_destroy(), and every function of
 * htw/scheduler.h, on any key and any request, their own included. If you hold a lock of your own
 * around a call, and a hook takes it again, that lock must be recursive. If you hold locks that
 * hooks take in another order, call htw_purgatory_check_later(). A chain of hooks, each of which
 * checks a key for the next one, grows the stack; htw_purgatory_check_later() does not.
 *
 * Thread safety. Any thread may call any function at any time, hooks included, unless the function
 * says otherwise. No function blocks, except htw_purgatory_destroy(); each may spin briefly on a
 * lock. Errors are negative. A NULL that is not allowed is answered with -EINVAL, a purgatory of
 * another process (after fork) with -EOWNERDEAD; functions that return no int answer false or 0,
 * or do nothing.
 *
 * Fork in a hook. A child that returns from the hook, visitor or executor in which it was forked
 * runs no other hook of its parent's, and takes no lock. The call that it returns to ends at once,
 * and answers -EOWNERDEAD (htw_request_complete() and htw_request_cancel() answer true). Where the
 * hook ran in a callback of the scheduler, htw/scheduler.h says what follows. The child leaves the
 * requests of its parent alone: they are not given back to it.
 *
 * The model is Kafka's DelayedOperationPurgatory. What differs: completed requests are unlinked at
 * once, not by a purge; no lock is held while hooks run; an event may complete a given number of
 * requests.
 */
#ifndef HTW_PURGATORY_H
#define HTW_PURGATORY_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where requests wait; opaque. */
struct htw_purgatory;

/** A value, and the requests that wait until it has reached theirs; opaque. */
struct htw_threshold;

/** How a request has ended. */
enum htw_reason {
    HTW_REASON_COMPLETED =
        0, /**< `try_complete` said so, or htw_request_complete(), or a threshold */
    HTW_REASON_EXPIRED = 1,   /**< its timeout is over */
    HTW_REASON_CANCELLED = 2, /**< htw_request_cancel(), htw_purgatory_cancel_key() */
    HTW_REASON_CLOSED = 3     /**< htw_purgatory_close(), or htw_threshold_destroy() */
};

/** What has become of a request in the call that submitted it. */
enum htw_submission {
    HTW_WATCHED = 0, /**< it waits; by now it may have ended in another thread */
    HTW_FINISHED = 1 /**< it has ended within the call, in this thread */
};

/** A key: `size` bytes (0 to UINT32_MAX) at `bytes`, which may be NULL for none. */
struct htw_key {
    const void *bytes;
    size_t size;
};

/** Private: a request on a key. */
struct htw__watch {
    struct htw__link _link;
    uintptr_t _key; /* its low bits tell where the request is */
};

/** Private: a request that waits for a value, in a tree that is ordered by value and arrival. */
struct htw__waiting {
    struct htw__waiting *_parent, *_left, *_right;
    uint64_t _value;
    uint64_t _arrival; /* 0: in no tree */
};

/** Private: how many keys a request holds in itself. */
#define HTW__REQUEST_WATCHES 3

/**
 * A request; to be embedded in the user's own. All members are private. Zeroed, it is ready to be
 * submitted; so it is again from `release` on. Between submission and release it must neither
 * move nor be touched. 128 bytes with 64-bit pointers.
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
            struct htw__distant_watch *_watches;
            size_t _bytes;
        } _many;
        struct {
            struct htw__waiting _waiting;
            struct htw_threshold *_threshold;
        } _on_threshold;
    } _place;
};

/** Makes a request ready to be submitted, as zeroing it does. NULL is ignored. */
HTW_API void htw_request_init(struct htw_request *request);

/** sizeof(struct htw_request) in bytes, for languages that cannot include this header. */
HTW_API size_t htw_request_size(void);

/**
 * Whether the request has been submitted, and the library still refers to it.
 *
 * With a `release` hook, do not free or submit a request because of this answer: it turns false
 * just before the hook is called, and another thread may see that first. Only in the hook, and from
 * there on, is the request the user's again. Without a `release` hook the answer is the sign: once
 * it is false, `on_complete` has returned, nothing touches the request any more, and any thread may
 * free it or submit it again.
 *
 * @return false also for NULL and for a request that was never submitted. Any thread may ask, as
 * long as the memory is there.
 */
HTW_API bool htw_request_is_pending(const struct htw_request *request);

/** Takes a request on its way out; see htw_purgatory_cancel_key() and htw_purgatory_close(). */
typedef void htw_request_visitor(void *context, struct htw_request *request);

/** The limits of the options. */
#define HTW_PURGATORY_SHARDS_MAX 65536u

/** How to create a purgatory. Start from HTW_PURGATORY_OPTIONS_INIT, and set `on_complete`. */
struct htw_purgatory_options {
    /** sizeof(struct htw_purgatory_options); set by the initialiser. */
    size_t struct_size;
    /** Whether the request can be completed now. NULL: never by an event, only by
        htw_request_complete() and thresholds. */
    bool (*try_complete)(void *context, struct htw_request *request);
    /** The request has ended. Not NULL. */
    void (*on_complete)(void *context, struct htw_request *request, enum htw_reason reason);
    /** The request is the user's again. May be NULL: then `on_complete` may not free or submit
        it; it is the user's again when htw_request_is_pending() has answered false. */
    void (*release)(void *context, struct htw_request *request);
    /** Handed to the hooks as it is. */
    void *context;
    /** Parts with a lock of their own into which the keys are divided: a power of two up to
        HTW_PURGATORY_SHARDS_MAX; 0 means 2048. Each takes 512 bytes. */
    uint32_t shards;
    /** Where memory comes from; NULL means the default. Must be thread-safe. It may be called
        with a lock of the library held. */
    const struct htw_allocator *allocator;
};

#define HTW_PURGATORY_OPTIONS_INIT \
    { sizeof(struct htw_purgatory_options), NULL, NULL, NULL, NULL, 0, NULL }

/** Sets `options` to HTW_PURGATORY_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_purgatory_options_init(struct htw_purgatory_options *options);

/* ------------------------------------------------------------------ life and death */

/**
 * Creates a purgatory.
 *
 * @param ret_purgatory where it goes; the caller destroys it.
 * @param scheduler     keeps the timeouts, and runs the hooks of requests that expire. It must
 *                      outlive the purgatory, and should not be stopped before it is closed:
 *                      a stopped scheduler expires nothing, and its visitor is given timers of
 *                      the library's, to be ignored. It may serve others, too. An executor should
 *                      run every task: what it drops of a purgatory's it is given again, at
 *                      once at first, and then at intervals of up to a second.
 * @param options       how. Not kept.
 * @return 0; -EINVAL; -ENOMEM; -ESHUTDOWN; -EOWNERDEAD for a scheduler of another process.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_create(struct htw_purgatory **ret_purgatory,
                                                 struct htw_scheduler *scheduler,
                                                 const struct htw_purgatory_options *options);

/**
 * Ends all requests with HTW_REASON_CLOSED, and lets no other in: from now on they are answered
 * with -ESHUTDOWN.
 *
 * @param visitor called for each request that this call ends, before its `on_complete`; may
 *                be NULL. A request in whose hook another thread is (or that a hook up the stack
 *                belongs to) is marked, and ended by that thread when the hook returns, without a
 *                visitor.
 * @return how many this call ends, thresholds and marked requests included; -EINVAL; -EOWNERDEAD. A
 *         second call finds nothing.
 *
 * Does not wait. Cost: O(requests), in bounded slices.
 */
HTW_API int64_t htw_purgatory_close(struct htw_purgatory *purgatory, htw_request_visitor *visitor,
                                    void *context);

/**
 * Closes the purgatory unless it was closed, waits until the last hook that runs in a thread of the
 * scheduler has returned, and frees the purgatory; NULL is allowed. No other thread may be in a
 * call on it. Its thresholds must have been destroyed.
 *
 * @return 0; -EDEADLK from a hook or visitor of this purgatory, -EBUSY while it has thresholds:
 *         then it has not even been closed; -EOWNERDEAD after fork: then its memory is left alone.
 */
HTW_API int htw_purgatory_destroy(struct htw_purgatory *purgatory);

/* ------------------------------------------------------------------ requests */

/**
 * Completes a request if that is possible now; else lets it wait on keys, with a timeout.
 *
 * Asks `try_complete`; if it says no, puts the request on each of the keys, asks once more, and
 * arms the timeout. Events on its keys, the end of its timeout and all else may end it from then on
 * in any thread, even before this call returns.
 *
 * @param keys       copied. Duplicates count once.
 * @param key_count  at least 1, at most UINT32_MAX.
 * @param timeout_ns from now; 0 or less: it expires at once, wherever the scheduler runs callbacks
 *                   (or, if that is even before this call is over, at its end); HTW_NEVER_NS: never.
 *                   Never early, and as late as a timer of the scheduler. A timeout is a duration:
 *                   where the scheduler goes by the wall clock, it is measured by the monotonic
 *                   clock, and setting the wall clock changes nothing. HTW_CLOCK_BOOTTIME counts
 *                   the time for which the machine is suspended. With HTW_CLOCK_MANUAL a timeout
 *                   follows htw_scheduler_set_time(), as the scheduler's timers do.
 * @return HTW_WATCHED; HTW_FINISHED: on_complete and release have been called;
 *         -EINVAL also for no keys; -EBUSY: the request is submitted already; -ESHUTDOWN: the
 *         purgatory is closed, or its scheduler stopped; -EAGAIN: the scheduler's max_pending is
 *         reached, and it has no timer for the timeouts of this processor (one is enough);
 *         -ENOMEM. After an error nothing has changed, no hook except `try_complete` was called
 *         (and it answered false), and the request is the caller's. (If the request was cancelled or
 *         closed before the failure was known, it ends so, and HTW_FINISHED is returned.)
 *
 * Cost: O(keys), for many keys O(keys * log keys). A request with up to three keys
 * allocates nothing itself. A key on which no other request waits takes 64 bytes, out of blocks of
 * 4 KiB, or 48 bytes and its own length if it is longer than 16 bytes.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_try_complete_else_watch(struct htw_purgatory *purgatory,
                                                                  struct htw_request *request,
                                                                  const struct htw_key *keys,
                                                                  size_t key_count,
                                                                  int64_t timeout_ns);

/**
 * Ends a request with HTW_REASON_COMPLETED, without asking `try_complete`. The caller sees to it
 * that its memory is there still, and that it has not been submitted for something else meanwhile.
 *
 * @return true: this call has ended it, or has marked it so that the thread that is in its hook
 *         is going to; false: it has ended, or is about to, for another reason or by another call,
 *         or it was never submitted.
 */
HTW_API bool htw_request_complete(struct htw_purgatory *purgatory, struct htw_request *request);

/**
 * Ends a request with HTW_REASON_CANCELLED: its client has gone. Otherwise as
 * htw_request_complete(); a request that is marked ends so unless its `try_complete`, in which
 * another thread is, says yes, or the threshold on which it is just being put has its value.
 */
HTW_API bool htw_request_cancel(struct htw_purgatory *purgatory, struct htw_request *request);

/**
 * Gives a request that waits another timeout, longer or shorter.
 *
 * The caller sees to it that the memory of the request is there still, and that it has not been
 * submitted for something else meanwhile.
 *
 * @param timeout_ns from now; as in htw_purgatory_try_complete_else_watch(). HTW_NEVER_NS: never;
 *                   the request still counts as one with a timeout, and can be given another one.
 * @return 0: the earlier timeout does not count any more, the new one does. The request may be
 *         about to end for another reason.
 *         -ENOENT: nothing was changed, since no timeout of the request is running: it has expired
 *         or ended, it was submitted with HTW_NEVER_NS, or its submission is not complete yet;
 *         -ENOMEM, -EAGAIN, -ESHUTDOWN as in htw_purgatory_try_complete_else_watch(): the earlier
 *         timeout is still running;
 *         -EINVAL: a pointer is NULL;
 *         -EOWNERDEAD.
 *
 * Any thread may call it, hooks included, also while a thread is in the request's `try_complete`.
 * Cost: O(1).
 */
HTW_API int htw_request_set_timeout(struct htw_purgatory *purgatory, struct htw_request *request,
                                    int64_t timeout_ns);

/* ------------------------------------------------------------------ events */

/**
 * An event on a key: asks `try_complete` of each request that waits on it, in order of arrival, and
 * ends those that say yes.
 *
 * Requests that come to wait on the key meanwhile may be asked or not; none is asked twice
 * because of one call, unless a `try_complete` checks the key meanwhile: then all are asked again.
 * Hooks may watch, check or cancel any key.
 *
 * @param key must last until the call returns, also if it lies in something that hooks free.
 * @return how many have ended in this call with HTW_REASON_COMPLETED; -EINVAL; -EOWNERDEAD. (A
 *         request in whose hook another thread is, is marked. That thread asks it again, and
 * whether it says yes is not known yet: so it is counted by the call in which it ends, if at all.)
 *
 * Cost: O(requests on the key), and O(keys) for each that ends.
 */
HTW_API int64_t htw_purgatory_check(struct htw_purgatory *purgatory, const void *key,
                                    size_t key_size);

/**
 * As htw_purgatory_check(), but stops when `max` requests have ended: one item wakes one waiter.
 *
 * A request in whose hook another thread is, is marked and passed over. Where requests stand on
 * several keys, the one that ends may have taken what was there for another of its keys: call
 * again, until 0 is returned or nothing is left to be taken.
 *
 * @param max the most requests to complete; 0 checks none. If a `try_complete` checks the key
 *            meanwhile, its limit is added.
 */
HTW_API int64_t htw_purgatory_check_at_most(struct htw_purgatory *purgatory, const void *key,
                                            size_t key_size, uint64_t max);

/**
 * As htw_purgatory_check(), but soon, wherever the scheduler runs callbacks: for callers
 * that hold locks which hooks take. Runs no hook in this call. Checks of one key that have not
 * begun are one, also when requests leave the key and others come; until then the key takes memory.
 *
 * A check that was accepted is made, unless the scheduler or the purgatory ends before. If an
 * executor drops its task, the check is scheduled again: at once the first time, later each time
 * that follows, up to a second. If the scheduler refuses that, the thread that has dropped the task
 * makes the check.
 *
 * @return 0, also when no request waits on the key, and nothing remains to be done; -EINVAL;
 *         -ENOMEM, -EAGAIN, -ESHUTDOWN as htw_schedule(): then nothing will be checked;
 *         -EOWNERDEAD.
 */
HTW_API HTW_WARN_UNUSED int htw_purgatory_check_later(struct htw_purgatory *purgatory,
                                                      const void *key, size_t key_size);

/**
 * Ends all requests that wait on a key with HTW_REASON_CANCELLED, in order of arrival.
 *
 * @param visitor called for each that this call ends, before its `on_complete`; may be NULL. A
 *                request in whose hook another thread is, is marked, and ended by that thread
 *                (unless its `try_complete` says yes) without a visitor.
 * @return how many this call ends, those that it has marked included; -EINVAL; -EOWNERDEAD.
 */
HTW_API int64_t htw_purgatory_cancel_key(struct htw_purgatory *purgatory, const void *key,
                                         size_t key_size, htw_request_visitor *visitor,
                                         void *context);

/**
 * Returns how many requests wait on a key.
 *
 * A request counts from when it was put on the key until it ends, also while a thread is in its
 * `try_complete`; in its `on_complete` it does not count any more.
 *
 * @param key      `key_size` bytes; may be NULL for none.
 * @param key_size 0 to UINT32_MAX.
 * @return 0 or more: exact if no request comes to the key or leaves it during the call;
 *         -EINVAL;
 *         -EOWNERDEAD.
 *
 * Any thread may call it, hooks included. Needs no memory. Cost: O(requests on the key), in bounded
 * slices.
 */
HTW_API int64_t htw_purgatory_count_key(struct htw_purgatory *purgatory, const void *key,
                                        size_t key_size);

/* ------------------------------------------------------------------ thresholds */

/**
 * Creates a threshold: of a partition's high watermark, of the last record acknowledged.
 *
 * Its requests have the hooks of the purgatory (but `try_complete`, which is not asked) and count
 * in its statistics. They are kept in a tree ordered by value: an advance costs nothing for those
 * that it does not reach.
 *
 * @param initial the value at first.
 * @return 0; -EINVAL; -ENOMEM; -ESHUTDOWN after close; -EOWNERDEAD. The caller destroys it, before
 *         the purgatory.
 *
 * Memory: 128 bytes. Requests that wait need none.
 */
HTW_API HTW_WARN_UNUSED int htw_threshold_create(struct htw_purgatory *purgatory, uint64_t initial,
                                                 struct htw_threshold **ret_threshold);

/**
 * Ends all requests that wait on it with HTW_REASON_CLOSED, and frees it; NULL is allowed.
 * No other thread may be in a call on it.
 *
 * @return 0; -EDEADLK from a hook or visitor of its purgatory; -EOWNERDEAD.
 *
 * Waits, as htw_purgatory_destroy(), for hooks of its requests that run in threads of the
 * scheduler.
 */
HTW_API int htw_threshold_destroy(struct htw_threshold *threshold);

/**
 * Completes a request if the threshold has reached a value; else lets it wait until it does,
 * with a timeout.
 *
 * @param value      the request is completed when the threshold is at `value` or beyond.
 * @param timeout_ns as in htw_purgatory_try_complete_else_watch().
 * @return as htw_purgatory_try_complete_else_watch().
 *
 * Cost: O(log requests on the threshold).
 */
HTW_API HTW_WARN_UNUSED int htw_threshold_await(struct htw_threshold *threshold,
                                                struct htw_request *request, uint64_t value,
                                                int64_t timeout_ns);

/**
 * Raises the value, and completes all requests that wait for it or for less, in order of
 * the values that they wait for. A value that is not greater than the present one is ignored:
 * values may be told out of order.
 *
 * @return how many this call ends, those included that another thread is just submitting, and ends
 *         there; -EINVAL; -EOWNERDEAD.
 *
 * Cost: O(log requests on the threshold) for each that ends.
 */
HTW_API int64_t htw_threshold_advance(struct htw_threshold *threshold, uint64_t value);

/**
 * Lowers the value: a log was truncated. Ends no request.
 *
 * Requests that wait go on waiting for the values that they have asked for. Those that an advance
 * has reached before are completed, also if that advance has not come to them yet.
 *
 * @param value the new value. One that is not less than the present value is ignored.
 * @return 0;
 *         -EINVAL: `threshold` is NULL;
 *         -EOWNERDEAD.
 *
 * Any thread may call it, hooks included. Needs no memory. Cost: O(1).
 */
HTW_API int htw_threshold_lower(struct htw_threshold *threshold, uint64_t value);

/**
 * Ends all requests that wait on a threshold, in order of the values that they wait for, and
 * returns how many. The threshold keeps its value and can be used as before.
 *
 * Requests that come while the call runs, those submitted by hooks included, are not ended.
 *
 * @param reason  HTW_REASON_COMPLETED, HTW_REASON_CANCELLED or HTW_REASON_CLOSED.
 * @param visitor called for each request that this call ends, before its `on_complete`; may be
 *                NULL. A request that another thread is just submitting or ending is marked, and
 *                ended by that thread without a visitor.
 * @param context handed to `visitor` as it is.
 * @return how many this call ends, those that it has marked included, 0 or more;
 *         -EINVAL: `threshold` is NULL, or `reason` is another one;
 *         -EOWNERDEAD.
 *
 * Each request is the caller's again from its `release` on. Any thread may call it, hooks included.
 * Needs no memory. Cost: O(log requests on the threshold) for each of them.
 */
HTW_API int64_t htw_threshold_end_all(struct htw_threshold *threshold, enum htw_reason reason,
                                      htw_request_visitor *visitor, void *context);

/** The value; 0 for NULL. */
HTW_API uint64_t htw_threshold_value(struct htw_threshold *threshold);

/* ------------------------------------------------------------------ statistics */

/** Requests on keys, counted once for each key. Exact when no thread is in a call. O(shards). */
HTW_API uint64_t htw_purgatory_watched(struct htw_purgatory *purgatory);

/** Requests with a timeout that is still running. Exact when no thread is in a call. O(shards). */
HTW_API uint64_t htw_purgatory_delayed(struct htw_purgatory *purgatory);

/** The number of buckets in the histogram of waits. */
#define HTW_PURGATORY_WAIT_BUCKETS 24

/**
 * Counters since the purgatory was created, and what is there now. When all is quiet
 * submitted = completed + expired + cancelled + closed + pending.
 */
struct htw_purgatory_stats {
    /** sizeof(struct htw_purgatory_stats); set by HTW_PURGATORY_STATS_INIT. */
    size_t struct_size;
    uint64_t submitted;    /**< calls that were answered with HTW_WATCHED or HTW_FINISHED */
    uint64_t completed;    /**< HTW_REASON_COMPLETED */
    uint64_t expired;      /**< HTW_REASON_EXPIRED */
    uint64_t cancelled;    /**< HTW_REASON_CANCELLED */
    uint64_t closed;       /**< HTW_REASON_CLOSED */
    uint64_t pending;      /**< requests that wait now, on keys or thresholds */
    uint64_t delayed;      /**< of these, with a timeout */
    uint64_t watched;      /**< as htw_purgatory_watched() */
    uint64_t keys;         /**< keys on which requests wait */
    uint64_t alarms;       /**< timers of the scheduler that stand for all timeouts: two for each
                                processor, and one more while two hooks take long there */
    uint64_t memory_bytes; /**< held by the purgatory: not the requests, which are the user's */
    /**
     * A histogram of how long requests waited that have ended, for whatever reason. waits[0]: less
     * than 1 ms; waits[i]: less than 2^i ms, and not less than the half of that; the last: 2^22 ms
     * (70 minutes) or more.
     *
     * Of the requests that begin to wait on a processor in one millisecond, 16 at least are
     * measured, and others may not be: under load it is a sample. Those that ended within the call
     * that submitted them did not wait, and do not count. The time is that of the timeouts, a wait
     * of more than 49 days is counted as that much shorter.
     */
    uint64_t waits[HTW_PURGATORY_WAIT_BUCKETS];
    uint64_t waited_ms; /**< how long the requests in `waits` waited, in all */
};

#define HTW_PURGATORY_STATS_INIT \
    { sizeof(struct htw_purgatory_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, 0 }

/** Sets `stats` to HTW_PURGATORY_STATS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_purgatory_stats_init(struct htw_purgatory_stats *stats);

/**
 * Fills in `stats`, whose `struct_size` must be set.
 *
 * @return 0; -EINVAL when a pointer is NULL or `struct_size` is unknown; -EOWNERDEAD.
 *
 * Cost: O(shards); takes each shard's lock for a moment, in turn.
 */
HTW_API int htw_purgatory_get_stats(struct htw_purgatory *purgatory,
                                    struct htw_purgatory_stats *stats);

/**
 * Writes the statistics in the text format of Prometheus; every name starts with "htw_purgatory_".
 *
 * @return 0; -EINVAL; -EOWNERDEAD; -EIO when the stream failed.
 */
HTW_API int htw_purgatory_prometheus(struct htw_purgatory *purgatory, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif /* HTW_PURGATORY_H */
