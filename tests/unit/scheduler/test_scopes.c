/* SPDX-License-Identifier: MIT */
/* test_scopes.c - scopes, where one example says more than the histories of tests/model/model_scope.c: refusals, waiting,
   many children, and requests of the purgatory. */
#include "scheduler_fixture.h"

#include <htw/purgatory.h>
#include <htw/scope.h>

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* A scope, and what its callback has seen. */
struct seen {
    struct htw_scope scope;
    enum htw_scope_end why;
    unsigned calls, order;
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
UNIT_TEST(scope_for_whose_timer_there_is_no_room_is_not_entered) {
    struct scheduler_fixture *f = &scheduler_fixture;
    struct htw_scheduler_options options = scheduler_options();
    struct seen root = { .calls = 0 }, child = { .calls = 0 }, tight = { .calls = 0 };
    options.max_pending = 1;
    scheduler_open(f, &options, PROBES);
    assert_enters(f, &root, NULL, 9 * MS);
    assert_enters(f, &child, &root, HTW_NEVER_NS);
    assert_int_equal(enter(f, &tight, &root, MS), -EAGAIN);
    assert_int_equal(htw_scope_shorten(&child.scope, MS), -EAGAIN);
    assert_int_equal(htw_scope_left_ns(&child.scope), 9 * MS);
    assert_int_equal(htw_scope_shorten(&root.scope, 5 * MS), HTW_SCOPE_OPEN);
    assert_int_equal(htw_scope_left_ns(&child.scope), 5 * MS);
    advance(f, 5 * MS);
    assert_int_equal(child.why, HTW_SCOPE_PARENT);
    assert_int_equal(htw_scope_cause(&child.scope), HTW_SCOPE_DEADLINE);
    f->runs = 1; /* of the timer of a scope */
    assert_int_equal(htw_scope_exit(&root.scope), HTW_SCOPE_DEADLINE);
    assert_int_equal(htw_scope_exit(&child.scope), HTW_SCOPE_PARENT);
    scheduler_teardown();
}

/* ---- many */

enum { MANY = 1000 };

static struct seen many[MANY];

/* holds: scope-1, scope-5 */
SCHEDULER_TEST(scope_with_a_thousand_children_ends_them_newest_first) {
    struct seen root = { .calls = 0 };
    memset(many, 0, sizeof(many));
    calls = 0;
    assert_enters(f, &root, NULL, HTW_SECOND);
    for (unsigned i = 0; i < MANY; i++)
        assert_enters(f, &many[i], &root, (int64_t)i * MS + MS);
    assert_int_equal(htw_pending(f->scheduler), MANY); /* that of the last is the root's */
    assert_int_equal(htw_scope_shorten(&root.scope, 500 * MS), HTW_SCOPE_OPEN);
    assert_int_equal(htw_pending(f->scheduler), 500);
    assert_int_equal(htw_scope_cancel(&root.scope), HTW_SCOPE_OPEN);
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(many[i].order, MANY + 1 - i);
        assert_int_equal(many[i].why, HTW_SCOPE_PARENT);
        assert_int_equal(htw_scope_exit(&many[i].scope), HTW_SCOPE_PARENT);
    }
    assert_int_equal(htw_scope_exit(&root.scope), HTW_SCOPE_CANCELLED);
    assert_int_equal(htw_pending(f->scheduler), 0);
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

/* ---- requests of the purgatory */

struct fetch {
    struct htw_request request;
    struct htw_scope scope;
    struct htw_purgatory *purgatory;
    unsigned released;
    enum htw_reason reason;
};

static void cancel_fetch(struct htw_scope *scope, enum htw_scope_end why) {
    struct fetch *fetch = HTW_CONTAINER_OF(scope, struct fetch, scope);
    (void)why;
    htw_request_cancel(fetch->purgatory, &fetch->request);
}

static void note_reason(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    HTW_CONTAINER_OF(request, struct fetch, request)->reason = reason;
}

static void release_fetch(void *context, struct htw_request *request) {
    struct fetch *fetch = HTW_CONTAINER_OF(request, struct fetch, request);
    (void)context;
    htw_scope_exit(&fetch->scope);
    memset(&fetch->scope, 0xa5, sizeof(fetch->scope)); /* it is not used any more */
    fetch->released++;
}

static void submit_fetch(struct scheduler_fixture *f, struct fetch *fetch, struct seen *rpc) {
    struct htw_key key = { "k", 1 };
    assert_int_equal(
        htw_scope_enter(&fetch->scope, f->scheduler, &rpc->scope, HTW_NEVER_NS, cancel_fetch),
        HTW_SCOPE_OPEN);
    assert_int_equal(htw_purgatory_try_complete_else_watch(fetch->purgatory, &fetch->request, &key,
                                                           1, HTW_NEVER_NS),
                     HTW_WATCHED);
}

/* holds: scope-1 */
SCHEDULER_TEST(scope_that_ends_cancels_the_requests_in_it) {
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    struct htw_purgatory *purgatory;
    options.on_complete = note_reason;
    options.release = release_fetch;
    options.shards = 1;
    assert_int_equal(htw_purgatory_create(&purgatory, f->scheduler, &options), 0);
    struct seen rpc = { .calls = 0 };
    struct fetch fetches[2] = { { .purgatory = purgatory }, { .purgatory = purgatory } };
    assert_enters(f, &rpc, NULL, 5 * MS);
    submit_fetch(f, &fetches[0], &rpc);
    submit_fetch(f, &fetches[1], &rpc);
    assert_int_equal(htw_pending(f->scheduler), 1); /* one timer for all */
    assert_true(htw_request_complete(purgatory, &fetches[0].request));
    assert_int_equal(fetches[0].released, 1);
    advance(f, 5 * MS);
    f->runs = 1;
    assert_int_equal(fetches[0].reason, HTW_REASON_COMPLETED);
    assert_int_equal(fetches[1].reason, HTW_REASON_CANCELLED);
    assert_int_equal(fetches[1].released, 1);
    assert_int_equal(htw_scope_exit(&rpc.scope), HTW_SCOPE_DEADLINE);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
}
