/* SPDX-License-Identifier: MIT */
/*
 * htw/scope.h - deadlines that propagate: an operation, and all that it starts, ends by one deadline or one cancel.
 * Known as the cancel scopes of trio, the contexts of Go, the deadlines of gRPC.
 *
 *     struct rpc { struct htw_scope scope; ... };
 *     struct query { struct htw_scope scope; ... };
 *
 *     static void query_ended(struct htw_scope *scope, enum htw_scope_end why) { ... }
 *
 *     htw_scope_enter(&rpc->scope, scheduler, NULL, timeout_ns, rpc_ended);
 *     htw_scope_enter(&query->scope, scheduler, &rpc->scope, 50 * HTW_MILLISECOND, query_ended);
 *     send(query, htw_scope_left_ns(&query->scope));    // 50 ms, or what the rpc has left
 *     ...
 *     htw_scope_exit(&query->scope);
 *
 * A scope is entered in a parent or in none. Its deadline is its own or that of the parent, whichever is earlier. Only
 * a scope that is tighter than its parent arms a timer. A deadline may be shortened, which shortens those of the scopes
 * in it, and never lengthened: what was passed on to a peer cannot be taken back. For more time enter another scope;
 * what is prolonged again and again, such as an idle timeout, is a timer. A deadline is an instant of the scheduler's
 * clock: if that is a wall clock, and is set back, more time is left.
 *
 * The end. A scope ends once: by its deadline, by htw_scope_cancel(), or because its parent ends or is exited. Then
 * all scopes in it end: after their parent, the newest first, and each with all that is in it before the next one.
 * The thread that ends the parent takes one scope after the other: a scope that was not reached yet may still end for
 * another reason, be exited, or get children, which are reached, too. If two threads end a scope and a scope in it at
 * the same time, the first may end for the second what is left there.
 *
 * Callbacks. A scope that ends calls its callback once, with no lock held: by its deadline in a thread that runs
 * callbacks of the scheduler, otherwise inside the call that ends it. A callback may call every function, also to
 * exit, enter or end scopes of the same tree. It must return, as those of timers (htw_callback).
 *
 * Memory. A scope lies in your struct; the library allocates nothing for it except its timer, 64 bytes. Each scope
 * that was entered must be exited once, before its memory is used again and before the scheduler is destroyed; children may
 * be exited after their parent. After htw_scope_exit() no callback of the scope runs or will run.
 *
 * Timers of an operation: its callback cancels their group (group.h). Requests of the purgatory: enter a scope for
 * each, whose callback calls htw_request_cancel(), submit it with HTW_NEVER_NS, and exit the scope in `release`.
 * Retries (backoff.h): an attempt enters a scope in that of the operation, and begins only if that is open. After it
 * enter one for the pause, with htw_backoff_next(). If the pause ends by HTW_SCOPE_DEADLINE, the next attempt is due; if
 * by HTW_SCOPE_PARENT, the time of the operation is over. No attempt begins after the deadline, however late the
 * callback of the pause runs.
 *
 * Threads and errors are as in htw/scheduler.h: any thread may call any function at any time, as long as the scopes
 * that it names exist. Only htw_scope_exit() blocks. htw_scheduler_stop() also hands its visitor the timers of open scopes,
 * whose `arg` is the scope: it is not the visitor's. Then no deadline ends them; a cancel, a parent and an exit still do.
 */
#ifndef HTW_SCOPE_H
#define HTW_SCOPE_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether, and why, a scope has ended. */
enum htw_scope_end {
    HTW_SCOPE_OPEN = 0,      /**< it has not ended */
    HTW_SCOPE_DEADLINE = 1,  /**< its own deadline, earlier than that of its parent, has passed */
    HTW_SCOPE_CANCELLED = 2, /**< htw_scope_cancel(), or it was exited before its end */
    HTW_SCOPE_PARENT = 3     /**< its parent has ended; htw_scope_cause() says why */
};

struct htw_scope;
struct htw__shard;

/** Called once when a scope ends, unless it was exited before. `why`: not HTW_SCOPE_OPEN. */
typedef void htw_scope_callback(struct htw_scope *scope, enum htw_scope_end why);

/* Private: an integer of 64 bits that 32-bit machines, too, read in one piece. */
#if defined(__GNUC__) || defined(__clang__)
#define HTW__ALIGNED_8 __attribute__((aligned(8)))
#else
#define HTW__ALIGNED_8
#endif

/** A scope. Embed it in the struct of your operation; the members are private, and must be 0 before the first enter if
    it may be exited without one. Between enter and exit it must not be moved or freed. 56 bytes with 64-bit pointers. */
struct htw_scope {
    HTW__ALIGNED_8 int64_t _deadline_ns;
    struct htw__link _link; /* behind it are the scopes in it, the newest first */
    struct htw__shard *_shard;
    htw_scope_callback *_callback;
    htw_handle _timer;
    uint32_t _depth;
    uint32_t _state;
};

/**
 * Enters a scope, and reports whether it is open.
 *
 * @param scope    is overwritten; must not be one that was entered and not exited.
 * @param parent   a scope of the same scheduler, which must exist during this call only; NULL: none.
 * @param delay_ns until its own deadline, in nanoseconds. HTW_NEVER_NS: it has none of its own.
 * @param callback may be NULL.
 * @return HTW_SCOPE_OPEN; by now another thread may have ended it;
 *         HTW_SCOPE_DEADLINE, HTW_SCOPE_PARENT: it has ended at once, without a callback: its own deadline has passed,
 *         or the parent has ended or its deadline has passed;
 *         -EINVAL; -EAGAIN, -ENOMEM, -ESHUTDOWN as htw_schedule(), if it would have armed a timer.
 *
 * After an error the scope was not entered. Cost: O(1); reads the clock and takes a lock that the scopes of one tree
 * share.
 */
HTW_API HTW_WARN_UNUSED int htw_scope_enter(struct htw_scope *scope,
                                            struct htw_scheduler *scheduler,
                                            struct htw_scope *parent, int64_t delay_ns,
                                            htw_scope_callback *callback);

/**
 * Exits a scope, and reports whether it had ended. The scopes in it end for HTW_SCOPE_PARENT, inside this call; its
 * own callback is not called. Waits while the callback of the scope runs in another thread, so do not hold a lock
 * that the callback takes.
 *
 * @return HTW_SCOPE_OPEN: it had not ended, and its callback was not called;
 *         another one: it has ended for this reason, and its callback has returned or, if this call is in it, the
 *         library does not use the scope after it;
 *         -EDEADLK: the call would wait for itself: it is in a cycle of callbacks each of which waits for the next
 *         one. The memory is still in use;
 *         -EINVAL also if the scope is zeroed.
 *
 * Cost: O(1), and O(scopes in it).
 */
HTW_API int htw_scope_exit(struct htw_scope *scope);

/**
 * Ends a scope and all scopes in it, and reports whether it was open before.
 *
 * @return HTW_SCOPE_OPEN: this call has ended it;
 *         another one: it had ended for this reason; nothing has changed.
 *
 * Cost: O(scopes in it); holds a lock for one of them at a time.
 */
HTW_API int htw_scope_cancel(struct htw_scope *scope);

/**
 * Gives a scope an earlier deadline, and all scopes in it, and reports whether it is open.
 *
 * @param delay_ns from now; 0 or less: it ends at once, but not inside this call. If that is not earlier than its
 *                 deadline, nothing changes.
 * @return HTW_SCOPE_OPEN: the deadline is not later than that;
 *         another one: it has ended for this reason; nothing has changed;
 *         -EAGAIN, -ENOMEM, -ESHUTDOWN as htw_schedule(), if it had no timer; nothing has changed.
 *
 * If this and the expiration race, one of the two deadlines ends the scope. Cost: O(scopes in it); holds a lock for 64
 * of them at a time.
 */
HTW_API int htw_scope_shorten(struct htw_scope *scope, int64_t delay_ns);

/** Returns how much time a scope has left, in nanoseconds: what to pass to a peer, or as a timeout. HTW_NEVER_NS if it
    has no deadline; 0 if that has passed or the scope has ended. A subtraction from the present time; takes no lock. */
HTW_API int64_t htw_scope_left_ns(const struct htw_scope *scope);

/** Returns whether, and why, a scope has ended; it may be exited. Takes no lock. */
HTW_API enum htw_scope_end htw_scope_why(const struct htw_scope *scope);

/** Returns why a scope has ended and, if its parent has ended it, why the first of its ancestors has:
    HTW_SCOPE_OPEN, HTW_SCOPE_DEADLINE or HTW_SCOPE_CANCELLED. Takes no lock. */
HTW_API enum htw_scope_end htw_scope_cause(const struct htw_scope *scope);

#ifdef __cplusplus
}
#endif

#endif /* HTW_SCOPE_H */
