/* SPDX-License-Identifier: MIT */
/* test_cancel_wait.c - htw_cancel_wait() with real threads. They wait for each other by conditions,
   never for a time to pass. What threads find is recorded, and asserted when they are joined. */
#include "../../support/manual_time.h"
#include "../unit.h"

#include <htw/scheduler.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct htw_scheduler *create(uint32_t workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.shards = 2;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

static void destroy(struct htw_scheduler *scheduler) {
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

static void wait_for(_Atomic int *value, int least) {
    while (atomic_load(value) < least)
        sched_yield();
}

/* ---- one callback, one waiter */

struct slow {
    _Atomic int stage; /* 1: the callback has begun; 2: it may end; 3: it has; 4: and the hook */
    _Atomic int waiting;
    struct htw_scheduler *scheduler;
    htw_handle handle;
};

static void run_slowly(void *arg, const struct htw_expiration *expiration) {
    struct slow *slow = arg;
    (void)expiration;
    atomic_store(&slow->stage, 1);
    wait_for(&slow->stage, 2);
    atomic_store(&slow->stage, 3);
}

static void release_slowly(void *arg) {
    struct slow *slow = arg;
    for (int i = 0; i < 1000; i++)
        sched_yield();
    atomic_store(&slow->stage, 4);
}

struct waiter {
    struct slow *slow;
    int result;
    int seen; /* the stage when cancel_wait returned */
};

static void *cancel_and_wait(void *arg) {
    struct waiter *waiter = arg;
    struct slow *slow = waiter->slow;
    atomic_fetch_add(&slow->waiting, 1);
    waiter->result = htw_cancel_wait(slow->scheduler, slow->handle);
    waiter->seen = atomic_load(&slow->stage);
    return NULL;
}

/* Returns whether it has waited: the thread may be so late that the callback has ended. Then the timer is gone. */
static bool try_wait(void) {
    struct slow slow = { .scheduler = create(1) };
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = run_slowly;
    spec.arg = &slow;
    spec.release = release_slowly;
    assert_int_equal(htw_schedule_spec(slow.scheduler, &spec, &slow.handle, NULL), 0);
    wait_for(&slow.stage, 1);
    struct waiter waiter = { .slow = &slow };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_and_wait, &waiter), 0);
    wait_for(&slow.waiting, 1);
    for (int i = 0; i < 1000; i++)
        sched_yield(); /* likely, the waiter waits now */
    atomic_store(&slow.stage, 2);
    pthread_join(thread, NULL);
    bool has_waited = waiter.result == HTW_RUNNING;
    assert_int_equal(waiter.seen, 4);
    if (!has_waited)
        assert_int_equal(waiter.result, HTW_GONE);
    assert_int_equal(htw_pending(slow.scheduler), 0);
    destroy(slow.scheduler);
    return has_waited;
}

/* holds: scheduler-6 */
UNIT_TEST(cancel_wait_returns_when_the_hook_has) {
    while (!try_wait())
        ;
}

/* ---- a cycle: the callback of each waits for that of the next one */

enum { LINKS = 3 };

struct link {
    struct htw_scheduler *scheduler;
    _Atomic htw_handle *awaited;
    _Atomic int *begun; /* all wait for all to begin */
    int result;
    _Atomic int over;
};

static void wait_for_next(void *arg, const struct htw_expiration *expiration) {
    struct link *link = arg;
    (void)expiration;
    atomic_fetch_add(link->begun, 1);
    wait_for(link->begun, LINKS);
    link->result = htw_cancel_wait(link->scheduler, atomic_load(link->awaited));
    atomic_store(&link->over, 1);
}

/* Returns how many are refused. */
static int refused_in_cycle(void) {
    struct htw_scheduler *scheduler = create(LINKS);
    _Atomic htw_handle handles[LINKS];
    _Atomic int begun = 0;
    struct link links[LINKS];
    int refused = 0;
    for (int i = 0; i < LINKS; i++) {
        links[i] = (struct link) { scheduler, &handles[(i + 1) % LINKS], &begun, 0, 0 };
        htw_handle handle;
        /* Not due before all handles are known. */
        assert_int_equal(htw_schedule(scheduler, HTW_NEVER_NS, wait_for_next, &links[i], &handle),
                         0);
        atomic_init(&handles[i], handle);
    }
    for (int i = 0; i < LINKS; i++)
        assert_int_equal(htw_reschedule(scheduler, atomic_load(&handles[i]), 0), HTW_MOVED);
    for (int i = 0; i < LINKS; i++)
        wait_for(&links[i].over, 1);
    destroy(scheduler);
    for (int i = 0; i < LINKS; i++) {
        assert_true(links[i].result == -EDEADLK || links[i].result == HTW_RUNNING);
        refused += links[i].result == -EDEADLK;
    }
    return refused;
}

/* holds: scheduler-6 */
UNIT_TEST(cancel_wait_of_three_in_a_cycle_refuses_one) {
    for (int round = 0; round < 20; round++)
        assert_int_equal(refused_in_cycle(), 1);
}
