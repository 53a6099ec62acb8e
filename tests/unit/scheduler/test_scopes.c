/* SPDX-License-Identifier: MIT */
/* test_scopes.c - scopes, where one example says more than the histories of tests/model/model_scope.c: refusals, many
   scopes, waiting, and retries. */
#include "scheduler_fixture.h"

#include <htw/backoff.h>
#include <htw/scope.h>

#include <stdatomic.h>

/* A scope, and what its callback has seen. */
struct seen {
    struct htw_scope scope;
    enum htw_scope_end why;
    unsigned calls, order;
    const void *stack;
    void (*act)(struct seen *self);
    struct seen *peer;
    int result, result_of_peer;
};

static atomic_uint calls; /* of all */

static void note(struct htw_scope *scope, enum htw_scope_end why) {
    struct seen *self = HTW_CONTAINER_OF(scope, struct seen, scope);
    self->why = why;
    self->calls++;
    self->order = ++calls;
    self->stack = __builtin_frame_address(0);
    if (self->act != NULL)
        self->act(self);
}

static int enter(struct scheduler_fixture *f, struct seen *child, struct seen *parent,
                 int64_t delay_ns) {
    return htw_scope_enter(&child->scope, f->scheduler, parent != NULL ? &parent->scope : NULL,
                           delay_ns, note);
}

#define assert_enters(f, child, parent, delay_ns) \
    assert_int_equal(enter(f, child, parent, delay_ns), HTW_SCOPE_OPEN)

SCHEDULER_TEST(scope_that_was_not_entered_is_refused) {
    struct seen zeroed = { .calls = 0 }, child;
    assert_int_equal(htw_scope_exit(&zeroed.scope), -EINVAL);
    assert_int_equal(htw_scope_cancel(NULL), -EINVAL);
    assert_int_equal(htw_scope_left_ns(NULL), 0);
    assert_int_equal(enter(f, &child, &zeroed, MS), -EINVAL);
}

/* holds: scope-2 */
SCHEDULER_TEST(scope_for_whose_timer_there_is_no_room_is_not_entered) {
    struct seen root = { .calls = 0 }, child = { .calls = 0 }, tight = { .calls = 0 };
    f->options.max_pending = 1;
    scheduler_reopen(f);
    assert_enters(f, &root, NULL, 9 * MS);
    assert_enters(f, &child, &root, HTW_NEVER_NS);
    assert_int_equal(enter(f, &tight, &root, MS), -EAGAIN);
    assert_int_equal(htw_scope_shorten(&child.scope, MS), -EAGAIN);
    assert_int_equal(htw_scope_left_ns(&child.scope), 9 * MS);
    assert_int_equal(htw_scope_shorten(&root.scope, 5 * MS), HTW_SCOPE_OPEN);
    assert_int_equal(htw_scope_exit(&child.scope), HTW_SCOPE_OPEN);
    assert_int_equal(htw_scope_exit(&root.scope), HTW_SCOPE_OPEN);
}

/* ---- many */

enum { MANY = 1000 };

static struct seen many[MANY];

/* In one scope, or each in the one before it. However deep, they end in a loop. */
static void end_many(struct scheduler_fixture *f, bool nested) {
    struct seen root = { .calls = 0 };
    memset(many, 0, sizeof(many));
    calls = 0;
    assert_enters(f, &root, NULL, HTW_SECOND);
    for (unsigned i = 0; i < MANY; i++) {
        struct seen *parent = nested && i > 0 ? &many[i - 1] : &root;
        assert_enters(f, &many[i], parent, (nested ? MANY - i : i + 1) * MS);
    }
    assert_int_equal(htw_pending(f->scheduler), MANY); /* one has the deadline of the root */
    assert_int_equal(htw_scope_shorten(&root.scope, 500 * MS), HTW_SCOPE_OPEN);
    assert_int_equal(htw_pending(f->scheduler), 500);
    assert_int_equal(htw_scope_cancel(&root.scope), HTW_SCOPE_OPEN);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(many[i].order, nested ? i + 2 : MANY + 1 - i);
        assert_int_equal(many[i].why, HTW_SCOPE_PARENT);
        assert_ptr_equal(many[i].stack, many[0].stack);
        assert_int_equal(htw_scope_exit(&many[i].scope), HTW_SCOPE_PARENT);
    }
    assert_int_equal(calls, MANY + 1);
    assert_int_equal(htw_scope_exit(&root.scope), HTW_SCOPE_CANCELLED);
    assert_int_equal(htw_pending(f->scheduler), 0);
}

/* holds: scope-1, scope-5 */
SCHEDULER_TEST(scope_with_a_thousand_in_it_ends_them_in_order) {
    end_many(f, false);
    end_many(f, true);
}

/* ---- waiting */

static void *cancel_in_thread(void *arg) {
    htw_scope_cancel(&((struct seen *)arg)->scope);
    return NULL;
}

static atomic_int met;

/* Both callbacks run, and each exits the scope of the other. */
static void exit_peer(struct seen *self) {
    atomic_fetch_add(&met, 1);
    while (atomic_load(&met) < 2)
        sched_yield();
    self->result = htw_scope_exit(&self->peer->scope);
    if (self->result >= 0) /* the callback of the other one has returned */
        self->result_of_peer = self->peer->result;
}

/* holds: scope-4 */
SCHEDULER_TEST(scope_exit_waits_for_the_callback_unless_that_waits_for_it) {
    struct seen one = { .act = exit_peer }, two = { .act = exit_peer };
    pthread_t thread;
    one.peer = &two;
    two.peer = &one;
    atomic_store(&met, 0);
    assert_enters(f, &one, NULL, HTW_NEVER_NS);
    assert_enters(f, &two, NULL, HTW_NEVER_NS);
    assert_int_equal(pthread_create(&thread, NULL, cancel_in_thread, &one), 0);
    htw_scope_cancel(&two.scope);
    pthread_join(thread, NULL);
    struct seen *waited = one.result >= 0 ? &one : &two;
    assert_int_equal(waited->result, HTW_SCOPE_CANCELLED);
    assert_int_equal(waited->result_of_peer, -EDEADLK);
    assert_int_equal(htw_scope_exit(&one.scope), HTW_SCOPE_CANCELLED);
    assert_int_equal(htw_scope_exit(&two.scope), HTW_SCOPE_CANCELLED);
}

static void *exit_in_thread(void *arg) {
    struct seen *self = arg;
    self->result = htw_scope_exit(&self->scope);
    return NULL;
}

static void exit_peer_in_thread(struct seen *self) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_in_thread, self->peer) == 0)
        pthread_join(thread, NULL);
}

/* Only its own callback delays an exit, not those of the scopes in it that its deadline has ended, too. */
SCHEDULER_TEST(scope_can_be_exited_while_those_in_it_end) {
    struct seen rpc = { .calls = 0 }, query = { .act = exit_peer_in_thread, .peer = &rpc };
    assert_enters(f, &rpc, NULL, MS);
    assert_enters(f, &query, &rpc, HTW_NEVER_NS);
    advance(f, MS);
    assert_int_equal(rpc.result, HTW_SCOPE_DEADLINE);
    assert_int_equal(htw_scope_exit(&query.scope), HTW_SCOPE_PARENT);
    f->runs = 1; /* of the timer of a scope */
}

/* ---- retries, as the header tells */

static struct htw_backoff backoff;

/* After a pause, or at first: an attempt in a scope of its own, which fails; then the next pause. `peer` is the
   operation, and `result` counts the attempts. */
static void attempt(struct seen *pause) {
    struct seen self = { .calls = 0 };
    htw_scope_exit(&pause->scope);
    if (pause->why == HTW_SCOPE_PARENT)
        return;
    if (enter(&scheduler_fixture, &self, pause->peer, HTW_NEVER_NS) == HTW_SCOPE_OPEN) {
        pause->result++;
        pause->result_of_peer =
            enter(&scheduler_fixture, pause, pause->peer, htw_backoff_next(&backoff));
    }
    htw_scope_exit(&self.scope);
}

/* Attempts at 0, 10 and 30 ms, and none at 70, when the time is over. `is_late`: nor at 80, where the pause until 30
   ends. */
static void retry(struct scheduler_fixture *f, bool is_late) {
    struct seen operation = { .calls = 0 }, pause = { .act = attempt, .peer = &operation };
    struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
    int64_t start_ns = htw_scheduler_now(f->scheduler);
    options.initial_ns = 10 * MS;
    options.jitter = HTW_NO_JITTER;
    assert_int_equal(htw_backoff_init(&backoff, &options), 0);
    assert_enters(f, &operation, NULL, 70 * MS);
    attempt(&pause);
    advance(f, is_late ? 10 * MS : 69 * MS);
    htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, start_ns + 80 * MS);
    assert_int_equal(pause.result, is_late ? 2 : 3);
    assert_int_equal(pause.why, is_late ? HTW_SCOPE_DEADLINE : HTW_SCOPE_PARENT);
    assert_int_equal(htw_scope_exit(&operation.scope), HTW_SCOPE_DEADLINE);
    f->runs += 3; /* of timers: two pauses and the operation */
}

/* holds: scope-3 */
SCHEDULER_TEST(retry_never_begins_after_the_deadline) {
    retry(f, false);
    retry(f, true);
}
