/* SPDX-License-Identifier: MIT */
/*
 * test_served.c - another thread's events come again and again while a request is asked.
 *
 * Each time the request is asked, a helper thread checks its key and so marks it. The call that
 * asked first must return, and no event may be lost. Then two threads defer checks of one key, and
 * the last test waits until a request is not pending.
 */
#include "../../../src/purgatory/outstanding.h"
#include "../../../src/purgatory/owner.h"
#include "../../../src/purgatory/shard.h"
#include "../unit.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS = 200, /* in all; the last one allows the request to be completed */
    FEW = 16      /* what a call serves of them */
};

static struct scene {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_request request;
    pthread_t helper;
    sem_t event, checked, released;
    bool over;
    unsigned events;
    unsigned asked_by_test;
    enum htw_reason reason;
} scene;

static _Thread_local bool is_test;

/* ---- where a call hands a request over to a deferred check, which waits for the lock meanwhile */

static struct {
    struct htw__lock *_Atomic lock; /* of the shard */
    atomic_uint waiting;            /* threads, for the lock */
    atomic_bool is_going_on, has_met_owner;
} hand_over;

bool __real_htw__request_disown_marked(struct htw_request *request);
bool __wrap_htw__request_disown_marked(struct htw_request *request);
bool __wrap_htw__request_disown_marked(struct htw_request *request) {
    if (!is_test)
        return __real_htw__request_disown_marked(request);
    atomic_store(&hand_over.is_going_on, true);
    while (atomic_load(&hand_over.waiting) == 0 && !atomic_load(&hand_over.has_met_owner))
        sched_yield();
    atomic_store(&hand_over.is_going_on, false);
    return __real_htw__request_disown_marked(request);
}

void __real_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock) {
    bool is_of_shard = lock == atomic_load(&hand_over.lock);
    atomic_fetch_add(&hand_over.waiting, is_of_shard);
    __real_htw__lock_wait(lock);
    atomic_fetch_sub(&hand_over.waiting, is_of_shard);
}

bool __real_htw__request_own_slow(struct htw_request *request);
bool __wrap_htw__request_own_slow(struct htw_request *request);
bool __wrap_htw__request_own_slow(struct htw_request *request) {
    if (atomic_load(&hand_over.is_going_on))
        atomic_store(&hand_over.has_met_owner, true);
    return __real_htw__request_own_slow(request);
}

static void *help(void *arg) {
    (void)arg;
    for (;;) {
        sem_wait(&scene.event);
        if (scene.over)
            return NULL;
        htw_purgatory_check(scene.purgatory, "k", 1);
        sem_post(&scene.checked);
    }
}

static bool try_complete(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    if (is_test)
        scene.asked_by_test++;
    if (scene.events == EVENTS)
        return true;
    scene.events++;
    sem_post(&scene.event);
    sem_wait(&scene.checked);
    return false;
}

static void on_complete(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    (void)request;
    scene.reason = reason;
}

static void release(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    sem_post(&scene.released);
}

static void begin(const struct htw_scheduler_options *timed) {
    scene = (struct scene) { .reason = HTW_REASON_CLOSED };
    is_test = true;
    sem_init(&scene.event, 0, 0);
    sem_init(&scene.checked, 0, 0);
    sem_init(&scene.released, 0, 0);
    atomic_store(&hand_over.has_met_owner, false);
    assert_int_equal(htw_scheduler_create(&scene.scheduler, timed), 0);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = 1;
    assert_int_equal(htw_purgatory_create(&scene.purgatory, scene.scheduler, &options), 0);
    atomic_store(&hand_over.lock, &htw__purgatory_shard_of(scene.purgatory, 0)->first.lock);
    assert_int_equal(pthread_create(&scene.helper, NULL, help, NULL), 0);
}

/* The first ask is not on the key yet, and the second is in the submission. */
static int submit(void) {
    struct htw_key key = { "k", 1 };
    return htw_purgatory_try_complete_else_watch(scene.purgatory, &scene.request, &key, 1,
                                                 HTW_NEVER_NS);
}

static void end(void) {
    assert_false(atomic_load(&hand_over.has_met_owner)); /* or its event is lost */
    sem_wait(&scene.released);
    scene.over = true;
    sem_post(&scene.event);
    assert_int_equal(pthread_join(scene.helper, NULL), 0);
    assert_int_equal(scene.reason, HTW_REASON_COMPLETED);
    assert_int_equal(scene.events, EVENTS);
    atomic_store(&hand_over.lock, NULL);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
    sem_destroy(&scene.event);
    sem_destroy(&scene.checked);
    sem_destroy(&scene.released);
}

/* holds: purgatory-23 */
UNIT_TEST(purgatory_call_that_others_keep_busy_returns_and_no_event_is_lost) {
    for (uint32_t workers = 0; workers < 2; workers++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.workers = workers;
        begin(&options);
        assert_int_equal(submit(), HTW_WATCHED);
        assert_int_equal(scene.asked_by_test, 2 + FEW); /* the first two are of the submission */
        end();
    }
}

static void never_due(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
}

/* The scheduler has no place for the check. */
/* holds: purgatory-23 */
UNIT_TEST(purgatory_busy_call_goes_on_where_no_check_can_be_queued) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.max_pending = 1;
    begin(&options);
    assert_int_equal(htw_schedule(scene.scheduler, 3600 * HTW_SECOND, never_due, NULL, NULL), 0);
    assert_int_equal(submit(), HTW_FINISHED);
    assert_int_equal(scene.asked_by_test, EVENTS + 1);
    end();
}

/* In manual time, and in embedded mode: the user may not come to run callbacks. */
/* holds: purgatory-23 */
UNIT_TEST(purgatory_busy_call_goes_on_where_no_thread_runs_callbacks) {
    for (unsigned way = 0; way < 2; way++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.embedded = way == 0;
        options.clock = way == 0 ? HTW_CLOCK_MONOTONIC : HTW_CLOCK_MANUAL;
        begin(&options);
        assert_int_equal(submit(), HTW_FINISHED);
        assert_int_equal(scene.asked_by_test, EVENTS + 1);
        end();
    }
}

/* ---- two threads that defer checks */

/* Relaxed, so that nothing but the library orders the threads. */
static struct {
    struct htw_purgatory *purgatory;
    atomic_bool has_begun, is_asked, may_go_on, is_over;
} deferral;

static void await(atomic_bool *flag) {
    while (!atomic_load_explicit(flag, memory_order_relaxed))
        sched_yield();
}

static void raise_flag(atomic_bool *flag) {
    atomic_store_explicit(flag, true, memory_order_relaxed);
}

/* The test has found no callback, and is about to schedule one: the other thread does so first, and its callback
   begins. */
bool __real_htw__outstanding_add(struct htw__outstanding *outstanding);
bool __wrap_htw__outstanding_add(struct htw__outstanding *outstanding);
bool __wrap_htw__outstanding_add(struct htw__outstanding *outstanding) {
    if (is_test && deferral.purgatory != NULL) {
        raise_flag(&deferral.has_begun);
        await(&deferral.is_asked);
    }
    return __real_htw__outstanding_add(outstanding);
}

static bool is_asked_in_a_callback(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    if (!is_test && !atomic_load_explicit(&deferral.may_go_on, memory_order_relaxed)) {
        raise_flag(&deferral.is_asked);
        await(&deferral.may_go_on);
    }
    return atomic_load_explicit(&deferral.may_go_on, memory_order_relaxed);
}

static void note_end(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    (void)request;
    if (reason == HTW_REASON_COMPLETED)
        raise_flag(&deferral.is_over);
}

static void *defer(void *arg) {
    await(&deferral.has_begun);
    *(int *)arg = htw_purgatory_check_later(deferral.purgatory, "k", 1);
    return NULL;
}

/* ThreadSanitizer sees it if what they share is not guarded. */
UNIT_TEST(purgatory_checks_that_two_threads_defer_at_once_are_both_made) {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_request request;
    struct htw_key key = { "k", 1 };
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    pthread_t other;
    int result = -1;
    options.try_complete = is_asked_in_a_callback;
    options.on_complete = note_end;
    options.shards = 1;
    is_test = true;
    htw_request_init(&request);
    assert_int_equal(htw_scheduler_create(&scheduler, NULL), 0);
    assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(purgatory, &request, &key, 1, HTW_NEVER_NS),
        HTW_WATCHED);
    deferral.purgatory = purgatory;
    assert_int_equal(pthread_create(&other, NULL, defer, &result), 0);
    assert_int_equal(htw_purgatory_check_later(purgatory, "k", 1), 0);
    deferral.purgatory = NULL;
    raise_flag(&deferral.may_go_on);
    await(&deferral.is_over);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_int_equal(result, 0);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* ---- htw_request_is_pending() */

static sem_t polled;

static bool is_ready(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    return false;
}

static void note_reason(void *context, struct htw_request *request, enum htw_reason reason) {
    if (!htw_request_is_pending(request)) /* or the other thread has freed it already */
        abort();
    *(enum htw_reason *)context = reason;
    sem_post(&polled); /* from now on the other thread waits for the request */
    for (unsigned i = 0; i < 100; i++)
        sched_yield();
}

static void *cancel_all(void *arg) {
    htw_purgatory_cancel_key(arg, "k", 1, NULL, NULL);
    return NULL;
}

/* A sanitizer sees the library touch the request after it has been freed. */
/* holds: purgatory-25 */
UNIT_TEST(purgatory_request_without_release_is_free_when_it_is_not_pending) {
    enum htw_reason reason = HTW_REASON_CLOSED;
    struct htw_scheduler_options timed = HTW_SCHEDULER_OPTIONS_INIT;
    timed.embedded = true;
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = is_ready;
    options.on_complete = note_reason;
    options.context = &reason;
    assert_int_equal(htw_scheduler_create(&scheduler, &timed), 0);
    assert_int_equal(htw_purgatory_create(&purgatory, scheduler, &options), 0);
    sem_init(&polled, 0, 0);
    for (unsigned i = 0; i < 100; i++) {
        struct htw_request *request = calloc(1, sizeof(*request));
        struct htw_key key = { "k", 1 };
        pthread_t thread;
        assert_non_null(request);
        assert_int_equal(
            htw_purgatory_try_complete_else_watch(purgatory, request, &key, 1, 3600 * HTW_SECOND),
            HTW_WATCHED);
        assert_int_equal(pthread_create(&thread, NULL, cancel_all, purgatory), 0);
        sem_wait(&polled);
        while (htw_request_is_pending(request))
            sched_yield();
        memset(request, 0xa5, sizeof(*request));
        free(request);
        assert_int_equal(reason, HTW_REASON_CANCELLED);
        reason = HTW_REASON_CLOSED;
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    sem_destroy(&polled);
    assert_int_equal(htw_purgatory_destroy(purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}
