/* SPDX-License-Identifier: MIT */
/*
 * scope.c - scopes: deadlines that propagate from an operation to all that it starts.
 *
 * The scopes of a tree are in one shard, under its scopes_lock, and are in its list `scopes` in preorder, the newest
 * child first: behind a scope come those in it, its RUN, which have a greater depth. So to enter or unlink a scope is
 * O(1), there are no pointers to parents, and a scope that has ended is in no list.
 *
 * ENDING A RUN
 *
 * A thread that ends a scope puts a cursor, on its stack, in the place of the scope, and then ends what is behind the
 * cursor, one scope a lock, while that has a greater depth. The cursor has the depth of the scope for which it stands.
 * So a thread that ends another run stops there, unless that run includes this one. Then it steps over the cursor
 * and ends what is left, of which the thread of the cursor finds nothing more. A scope that is entered meanwhile is
 * behind its parent, and so in the run. A thread that shortens a run has a cursor, too, over which all step.
 *
 * THE END OF A SCOPE AND ITS MEMORY
 *
 * Whoever finds a scope open under the lock ends it: that sets the reason, and CALLED if there is a callback. From then
 * on only two may touch it: the thread that calls the callback, until it clears CALLED, and the callback of the
 * timer, which may have started before it was cancelled, and takes the lock first. htw_scope_exit() waits for both.
 * An exit in the callback itself takes the scope out of the thread's frame, so that the thread does not touch it again.
 *
 * Why this is no use of groups: a group cancels timers, and a scope that is not tighter than its parent has none. A
 * group has no order, no parent and no callback, and a timer in it takes 140 bytes more.
 */
#include "shard.h"

#include "../base/user_code.h"

#include <htw/scope.h>

_Static_assert(HTW__IS_OF_SIZE(sizeof(struct htw_scope) == 56), "a scope");

/* `_state`: a reason, the cause in CAUSE_SHIFT, and these. */
#define REASON 3u
#define CAUSE_SHIFT 2u
#define CALLED 0x10u  /* its callback has not returned yet */
#define AWAITED 0x20u /* a thread waits until it has */
#define CURSOR 0x40u  /* no scope */

/* Deeper than any scope: of the cursor of a thread that shortens. */
#define NO_DEPTH UINT32_MAX

static uint32_t state_of(const struct htw_scope *scope) {
    /* order: Who sees an end, or that of the callback, sees what came before it. [relaxed: `scope-exit`] */
    return __atomic_load_n(&scope->_state, __ATOMIC_ACQUIRE);
}

static void set_state(struct htw_scope *scope, enum htw_scope_end why, enum htw_scope_end cause,
                      uint32_t called) {
    /* order: Who sees the end of a scope sees what came before it. [relaxed: `scope`] */
    __atomic_store_n(&scope->_state, (uint32_t)why | (uint32_t)cause << CAUSE_SHIFT | called,
                     __ATOMIC_RELEASE);
}

/* What every public call begins with, for a scope that was entered. */
static int refusal_of(const struct htw_scope *scope) {
    return scope == NULL || scope->_shard == NULL
               ? -EINVAL
               : htw__scheduler_refusal(scope->_shard->scheduler);
}

/* ---- a run; under the lock */

static void step_behind(struct htw_scope *cursor, struct htw_scope *scope) {
    htw__link_unlink(&cursor->_link);
    htw__link_insert(&scope->_link._next, &cursor->_link);
}

/* The next scope behind a cursor in the run of a scope of this depth; NULL: there is none. */
static struct htw_scope *next_in_run(const struct htw__shard *shard, struct htw_scope *cursor,
                                     uint32_t depth) {
    while (cursor->_link._next != &shard->scopes) {
        struct htw_scope *next = HTW_CONTAINER_OF(cursor->_link._next, struct htw_scope, _link);
        if (next->_depth <= depth)
            break;
        if (!(state_of(next) & CURSOR))
            return next;
        step_behind(cursor, next);
    }
    return NULL;
}

/* ---- the end */

/* Cancels the timer of a scope, unless its callback has started, which waits for the lock. Under the lock. */
static void disarm(struct htw_scope *scope) {
    if (scope->_timer != 0 && htw_cancel(scope->_shard->scheduler, scope->_timer) != HTW_RUNNING)
        scope->_timer = 0;
}

/* Calls the callback of a scope that is CALLED. */
static void call(struct htw_scheduler *scheduler, struct htw_scope *scope, enum htw_scope_end why,
                 htw_scope_callback *callback) {
    struct htw__callback_frame frame = { .scheduler = scheduler, .scope = scope };
    HTW__ANNOTATE_TAKE_OVER(scope);
    htw__callback_frame_push(&frame);
    HTW__CALL_USER("the callback of a scope", scheduler, callback, callback(scope, why));
    htw__callback_frame_pop(&frame);
    if (frame.scope == NULL)
        return; /* it was exited in its callback */
    HTW__ANNOTATE_HAND_OVER(scope);
    /* order: A thread that awaits the callback sees what it did. [relaxed: `scope-exit`] */
    uint32_t state = __atomic_fetch_and(&scope->_state, ~(CALLED | AWAITED), __ATOMIC_RELEASE);
    if (state & AWAITED)
        htw__cancel_waiters_notify(&scheduler->cancel_waiters);
}

/* Ends a scope that is open. Unlocks, and locks again. */
static void end_one(struct htw__shard *shard, struct htw_scope *scope, enum htw_scope_end why,
                    enum htw_scope_end cause) {
    htw_scope_callback *callback = scope->_callback;
    htw__link_unlink(&scope->_link);
    disarm(scope);
    set_state(scope, why, cause, callback != NULL ? CALLED : 0);
    htw__lock_release(&shard->scopes_lock);
    if (callback != NULL)
        call(shard->scheduler, scope, why, callback);
    htw__lock_acquire(&shard->scopes_lock);
}

/* Ends a scope and its run, unless it has ended. Under the lock, which this releases. Returns why it had ended. */
static enum htw_scope_end end_tree(struct htw_scope *scope, enum htw_scope_end why) {
    struct htw__shard *shard = scope->_shard;
    enum htw_scope_end before = htw_scope_why(scope);
    if (before == HTW_SCOPE_OPEN) {
        struct htw_scope cursor = { ._depth = scope->_depth, ._state = CURSOR };
        HTW__ANNOTATE_OWN(&cursor, sizeof(cursor));
        htw__link_insert(scope->_link._back, &cursor._link);
        end_one(shard, scope, why, why);
        while ((scope = next_in_run(shard, &cursor, cursor._depth)) != NULL)
            end_one(shard, scope, HTW_SCOPE_PARENT, why);
        htw__link_unlink(&cursor._link);
    }
    htw__lock_release(&shard->scopes_lock);
    return before;
}

/* The timer of a scope: its callback. */
static void expire(void *arg, const struct htw_expiration *expiration) {
    struct htw_scope *scope = arg;
    (void)expiration;
    htw__lock_acquire(&scope->_shard->scopes_lock);
    scope->_timer = 0; /* from now on an exit need not wait for this */
    end_tree(scope, HTW_SCOPE_DEADLINE);
}

int htw_scope_cancel(struct htw_scope *scope) {
    int refusal = refusal_of(scope);
    if (refusal != 0)
        return refusal;
    htw__lock_acquire(&scope->_shard->scopes_lock);
    return (int)end_tree(scope, HTW_SCOPE_CANCELLED);
}

/* ---- enter */

/* A scope that has ended before it was entered. */
static int end_at_once(struct htw_scope *scope, enum htw_scope_end why, enum htw_scope_end cause) {
    set_state(scope, why, cause, 0);
    return (int)why;
}

/* Under the lock. */
static int enter(struct htw_scope *scope, struct htw_scope *parent, int64_t now_ns) {
    struct htw__shard *shard = scope->_shard;
    struct htw__link *before = parent != NULL ? &parent->_link : &shard->scopes;
    bool is_tighter = scope->_deadline_ns != HTW_NEVER_NS;
    if (htw_scope_why(parent) != HTW_SCOPE_OPEN)
        return end_at_once(scope, HTW_SCOPE_PARENT, htw_scope_cause(parent));
    if (parent != NULL && parent->_deadline_ns <= scope->_deadline_ns) {
        is_tighter = false;
        scope->_deadline_ns = parent->_deadline_ns;
    }
    if (scope->_deadline_ns <= now_ns)
        return end_at_once(scope, is_tighter ? HTW_SCOPE_DEADLINE : HTW_SCOPE_PARENT,
                           HTW_SCOPE_DEADLINE);
    /* Its callback may start at once, and then waits for the lock. */
    int error = is_tighter ? htw_schedule_at(shard->scheduler, scope->_deadline_ns, expire, scope,
                                             &scope->_timer)
                           : 0;
    if (error != 0)
        return error;
    htw__link_insert(&before->_next, &scope->_link);
    HTW__ANNOTATE_HAND_OVER(scope);
    return HTW_SCOPE_OPEN;
}

int htw_scope_enter(struct htw_scope *scope, struct htw_scheduler *scheduler,
                    struct htw_scope *parent, int64_t delay_ns, htw_scope_callback *callback) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (scope == NULL ||
        (parent != NULL && (parent->_shard == NULL || parent->_shard->scheduler != scheduler)))
        return -EINVAL;
    struct htw__shard *shard = parent != NULL ? parent->_shard : htw__shard_here(scheduler);
    int64_t now_ns = htw__now_ns(scheduler);
    HTW__ANNOTATE_OWN(scope, sizeof(*scope));
    *scope = (struct htw_scope) {
        ._deadline_ns = htw__after_ns(now_ns, delay_ns),
        ._shard = shard,
        ._callback = callback,
        ._depth = parent != NULL ? parent->_depth + 1 : 0,
    };
    htw__lock_acquire(&shard->scopes_lock);
    int result = enter(scope, parent, now_ns);
    htw__lock_release(&shard->scopes_lock);
    if (result < 0) /* otherwise its callback may have freed it by now */
        scope->_shard = NULL;
    return result;
}

/* ---- exit */

/* Whether the callback of a scope has not returned. Then its end calls htw__cancel_waiters_notify(). */
static bool is_called(const struct htw_scheduler *scheduler, struct htw__awaited awaited) {
    (void)scheduler;
    /* order: As state_of(). The mutex orders the notification. [relaxed: `scope-exit`] */
    return __atomic_fetch_or(&awaited.scope->_state, AWAITED, __ATOMIC_ACQUIRE) & CALLED;
}

int htw_scope_exit(struct htw_scope *scope) {
    int refusal = refusal_of(scope);
    if (refusal != 0)
        return refusal;
    struct htw_scheduler *scheduler = scope->_shard->scheduler;
    struct htw__awaited awaited = { .scope = scope };
    struct htw__callback_frame *inside = htw__callback_frame_of(scheduler, awaited);
    htw__lock_acquire(&scope->_shard->scopes_lock);
    scope->_callback = NULL; /* if it was not called yet, it will not be */
    disarm(scope);
    htw_handle timer = scope->_timer; /* whose callback has started */
    enum htw_scope_end before = end_tree(scope, HTW_SCOPE_CANCELLED);
    if (inside != NULL)
        inside->scope = NULL;
    else if ((state_of(scope) & CALLED) && !htw__callback_await(scheduler, awaited, is_called))
        return -EDEADLK;
    HTW__ANNOTATE_TAKE_OVER(scope);
    if (timer != 0) /* it finds that the scope is not open */
        htw_cancel_wait(scheduler, timer);
    return (int)before;
}

/* ---- shorten */

/* Gives a scope in a run that is shortened the deadline of the run. Under the lock. */
static void shorten(struct htw_scope *scope, int64_t deadline_ns) {
    if (scope->_deadline_ns < deadline_ns)
        return;
    /* order: As htw_scope_left_ns() reads it. */
    __atomic_store_n(&scope->_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
    /* If its callback has started, that ends the scope: its own deadline has passed, too. */
    disarm(scope);
}

/* Sets the timer of a scope for an earlier deadline. Under the lock. */
static int arm_earlier(struct htw_scope *scope, int64_t deadline_ns) {
    struct htw_scheduler *scheduler = scope->_shard->scheduler;
    int result = scope->_timer != 0
                     ? htw_reschedule_at(scheduler, scope->_timer, deadline_ns)
                     : htw_schedule_at(scheduler, deadline_ns, expire, scope, &scope->_timer);
    if (result < 0)
        return result;
    /* order: As htw_scope_left_ns() reads it. */
    __atomic_store_n(&scope->_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
    return 0;
}

/* Under the lock, which this releases after each HTW__SLICE scopes. Then the scope may go. */
static void shorten_run(struct htw_scope *scope, int64_t deadline_ns) {
    struct htw__shard *shard = scope->_shard;
    struct htw_scope cursor = { ._depth = NO_DEPTH, ._state = CURSOR };
    uint32_t depth = scope->_depth;
    HTW__ANNOTATE_OWN(&cursor, sizeof(cursor));
    htw__link_insert(&scope->_link._next, &cursor._link);
    for (unsigned visited = 1; (scope = next_in_run(shard, &cursor, depth)) != NULL; visited++) {
        shorten(scope, deadline_ns);
        step_behind(&cursor, scope);
        if (visited % HTW__SLICE == 0) {
            htw__lock_release(&shard->scopes_lock);
            htw__lock_acquire(&shard->scopes_lock);
        }
    }
    htw__link_unlink(&cursor._link);
}

int htw_scope_shorten(struct htw_scope *scope, int64_t delay_ns) {
    int refusal = refusal_of(scope);
    if (refusal != 0)
        return refusal;
    struct htw__shard *shard = scope->_shard;
    int64_t deadline_ns = htw__after_ns(htw__now_ns(shard->scheduler), delay_ns);
    htw__lock_acquire(&shard->scopes_lock);
    int result = (int)htw_scope_why(scope);
    if (result == HTW_SCOPE_OPEN && deadline_ns < scope->_deadline_ns) {
        result = arm_earlier(scope, deadline_ns);
        if (result == 0)
            shorten_run(scope, deadline_ns);
    }
    htw__lock_release(&shard->scopes_lock);
    return result;
}

/* ---- questions */

int64_t htw_scope_left_ns(const struct htw_scope *scope) {
    if (refusal_of(scope) != 0 || htw_scope_why(scope) != HTW_SCOPE_OPEN)
        return 0;
    /* order: A number alone; it changes under the lock. */
    int64_t deadline_ns = __atomic_load_n(&scope->_deadline_ns, __ATOMIC_RELAXED);
    return htw__left_ns(htw__now_ns(scope->_shard->scheduler), deadline_ns);
}

enum htw_scope_end htw_scope_why(const struct htw_scope *scope) {
    return scope == NULL ? HTW_SCOPE_OPEN : (enum htw_scope_end)(state_of(scope) & REASON);
}

enum htw_scope_end htw_scope_cause(const struct htw_scope *scope) {
    uint32_t state = scope == NULL ? 0 : state_of(scope);
    return (enum htw_scope_end)(state >> CAUSE_SHIFT & REASON);
}
