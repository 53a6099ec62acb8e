/* SPDX-License-Identifier: MIT */
/*
 * test_served.c - another thread's events come again and again while a request is asked.
 *
 * Each time the request is asked, a helper thread checks its key and so marks it. The call that
 * asked first must return, and no event may be lost.
 */
#include "../../../src/purgatory/owner.h"
#include "../unit.h"

#include <htw/purgatory.h>

#include <pthread.h>
#include <semaphore.h>

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
    unsigned asked_by_test, handed_over_by_test;
    enum htw_reason reason;
} scene;

static _Thread_local bool is_test;

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

htw_handle __real_htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                               const void *key, size_t key_size);
htw_handle __wrap_htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                               const void *key, size_t key_size);

/* An event of another key comes while the request is handed over to a check that is found. */
htw_handle __wrap_htw_find_key(struct htw_scheduler *scheduler, struct htw_group *group,
                               const void *key, size_t key_size) {
    htw_handle found = __real_htw_find_key(scheduler, group, key, key_size);
    if (is_test && found != 0 && ++scene.handed_over_by_test < EVENTS)
        __atomic_fetch_or(&scene.request._state, HTW__REQUEST_AGAIN, __ATOMIC_RELEASE);
    return found;
}

static bool try_complete(void *context, struct htw_request *request) {
    (void)context, (void)request;
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
    (void)context, (void)request;
    scene.reason = reason;
}

static void release(void *context, struct htw_request *request) {
    (void)context, (void)request;
    sem_post(&scene.released);
}

static void begin(const struct htw_scheduler_options *timed) {
    scene = (struct scene) { .reason = HTW_REASON_CLOSED };
    is_test = true;
    sem_init(&scene.event, 0, 0);
    sem_init(&scene.checked, 0, 0);
    sem_init(&scene.released, 0, 0);
    assert_int_equal(htw_scheduler_create(&scene.scheduler, timed), 0);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = try_complete;
    options.on_complete = on_complete;
    options.release = release;
    options.shards = 1;
    assert_int_equal(htw_purgatory_create(&scene.purgatory, scene.scheduler, &options), 0);
    assert_int_equal(pthread_create(&scene.helper, NULL, help, NULL), 0);
}

/* The first ask is not on the key yet, and the second is in the submission. */
static int submit(void) {
    struct htw_key key = { "k", 1 };
    return htw_purgatory_try_complete_else_watch(scene.purgatory, &scene.request, &key, 1,
                                                 HTW_NEVER_NS);
}

static void end(void) {
    sem_wait(&scene.released);
    scene.over = true;
    sem_post(&scene.event);
    assert_int_equal(pthread_join(scene.helper, NULL), 0);
    assert_int_equal(scene.reason, HTW_REASON_COMPLETED);
    assert_int_equal(scene.events, EVENTS);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
    sem_destroy(&scene.event);
    sem_destroy(&scene.checked);
    sem_destroy(&scene.released);
}

static void never_due(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static const struct way {
    uint32_t workers;
    bool is_full, embedded, manual;
    bool goes_on; /* the call itself */
} ways[] = {
    { .workers = 0 },
    { .workers = 1 },
    { .is_full = true, .goes_on = true },  /* the scheduler has no place for a check */
    { .embedded = true, .goes_on = true }, /* the user may not come to run callbacks */
    { .manual = true, .goes_on = true },   /* likewise */
};

/* holds: purgatory-23 */
UNIT_TEST(purgatory_call_that_others_keep_busy_returns_or_goes_on_and_no_event_is_lost) {
    for (const struct way *way = ways; way < ways + COUNT_OF(ways); way++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.workers = way->workers > 0 ? way->workers : HTW_NO_WORKERS;
        options.max_pending = way->is_full;
        options.embedded = way->embedded;
        options.clock = way->manual ? HTW_CLOCK_MANUAL : HTW_CLOCK_MONOTONIC;
        begin(&options);
        if (way->is_full)
            assert_int_equal(htw_schedule(scene.scheduler, HTW_HOUR, never_due, NULL, NULL), 0);
        assert_int_equal(submit(), way->goes_on ? HTW_FINISHED : HTW_WATCHED);
        /* The first two are of the submission. */
        assert_int_equal(scene.asked_by_test, way->goes_on ? EVENTS + 1 : 2 + FEW);
        assert_int_equal(scene.handed_over_by_test, way->goes_on ? 0 : 1);
        end();
    }
}
