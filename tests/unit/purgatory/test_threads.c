/* SPDX-License-Identifier: MIT */
/*
 * test_threads.c - a request while another thread is in its hook. The two threads take turns, so
 * that each run is the same: the helper checks key "k" and stays in `try_complete`, the test acts,
 * and the helper goes on.
 */
#include "../../support/purgatory_case.h"

#include <pthread.h>
#include <semaphore.h>

static struct helper {
    struct purgatory_case *test;
    pthread_t thread;
    sem_t inside, go; /* the helper is in the hook, and may leave it */
    uint64_t max;     /* of its check */
    int64_t result;
    bool over; /* its check has returned */
} helper;

static _Thread_local bool is_helper;

/* False when the helper will not come (again). */
static bool await_inside(void) {
    sem_wait(&helper.inside);
    return !helper.over;
}

static void let_go(void) {
    sem_post(&helper.go);
}

/* The hook in which the helper stays. */
static void stay(struct waiter *self) {
    (void)self;
    if (is_helper) {
        sem_post(&helper.inside);
        sem_wait(&helper.go);
    }
}

static void *help(void *arg) {
    (void)arg;
    is_helper = true;
    helper.result = check_key_at_most(helper.test, "k", helper.max);
    helper.over = true;
    sem_post(&helper.inside);
    return NULL;
}

static void start(struct purgatory_case *test, uint64_t max) {
    helper = (struct helper) { .test = test, .max = max };
    sem_init(&helper.inside, 0, 0);
    sem_init(&helper.go, 0, 0);
    assert_int_equal(pthread_create(&helper.thread, NULL, help, NULL), 0);
}

/* What the helper's check has returned. */
static int64_t join(void) {
    let_go();
    assert_int_equal(pthread_join(helper.thread, NULL), 0);
    sem_destroy(&helper.inside);
    sem_destroy(&helper.go);
    return helper.result;
}

/* The helper is in the hook of a, the first of `count` on key "k". Its check ends `max` at most. */
static struct waiter *begin_at_most(struct purgatory_case *test, unsigned count, uint64_t max) {
    for (unsigned i = 0; i < count; i++)
        watch(purgatory_case_waiter(test, (char)('a' + i)), MS, "k", "l", "m");
    test->waiters[0].on_asked = stay;
    purgatory_case_forget_log(test);
    start(test, max);
    assert_true(await_inside());
    return test->waiters;
}

static struct waiter *begin(struct purgatory_case *test, unsigned count) {
    return begin_at_most(test, count, UINT64_MAX);
}

/* holds: purgatory-24 */
UNIT_TEST(purgatory_request_that_another_thread_asks_is_ended_by_it) {
    for (unsigned way = 0; way < 5; way++) {
        struct purgatory_case test;
        purgatory_case_begin(&test, NULL, NULL);
        struct waiter *a = begin(&test, 1);
        static const enum htw_reason reasons[] = { HTW_REASON_COMPLETED, HTW_REASON_CANCELLED,
                                                   HTW_REASON_CANCELLED, HTW_REASON_CLOSED,
                                                   HTW_REASON_EXPIRED };
        if (way == 0)
            assert_true(complete(a));
        else if (way == 1)
            assert_true(cancel(a));
        else if (way == 2)
            assert_int_equal(cancel_key(&test, "l"), 1);
        else if (way == 3)
            assert_int_equal(htw_purgatory_close(test.purgatory, waiter_visit, &test), 1);
        else
            purgatory_case_advance(&test, MS);
        assert_false(way < 4 && complete(a));
        assert_int_equal(a->ended, 0);
        join();
        assert_int_equal(a->reason, reasons[way]);
        assert_int_equal(a->ended + a->released, 2);
        assert_int_equal(a->visited, 0);
        assert_waiting(&test, 0, 0, 0, 0);
        purgatory_case_end(&test);
    }
}

/* Of several calls that want its end, the first counts it. */
/* holds: purgatory-24 */
PURGATORY_TEST(purgatory_request_that_another_thread_asks_is_counted_once) {
    struct waiter *w = begin(test, 3);
    assert_int_equal(check_key(test, "k"), 0);
    assert_true(cancel(&w[1]));
    assert_int_equal(cancel_key(test, "k"), 2);
    assert_int_equal(cancel_key(test, "l"), 0);
    assert_int_equal(htw_purgatory_close(test->purgatory, NULL, NULL), 0);
    assert_int_equal(join(), 0);
    assert_int_equal(w[0].reason, HTW_REASON_CANCELLED);
}

/*
 * A check counts what its `try_complete` has said, and nothing else: a request that another call has
 * ended belongs to that call, and takes no turn of the check. Otherwise one item would wake no waiter.
 */
/* holds: purgatory-24 */
UNIT_TEST(purgatory_request_that_another_call_completes_is_not_of_the_check) {
    for (unsigned way = 0; way < 3; way++) {
        struct purgatory_case test;
        purgatory_case_begin(&test, NULL, NULL);
        struct waiter *w = begin_at_most(&test, 2, 1);
        if (way == 0)
            assert_true(complete(&w[0]));
        else if (way == 1)
            assert_true(cancel(&w[0]));
        else
            assert_int_equal(cancel_key(&test, "l"), 2); /* b ends here, a in the other thread */
        w[1].ready = true;
        assert_int_equal(join(), way < 2);
        assert_ends(&test, way == 0 ? "aC bC" : way == 1 ? "aX bC" : "bX aX");
        purgatory_case_end(&test);
    }
}

/* If both want its end at the same time, both are told: the call before it knows what the hook says. */
/* holds: purgatory-24 */
PURGATORY_TEST(purgatory_request_that_is_ready_in_another_thread_counts_in_its_check_too) {
    struct waiter *w = begin_at_most(test, 2, 1);
    assert_true(complete(&w[0]));
    w[0].ready = true;
    assert_int_equal(join(), 1);
    assert_ends(test, "aC");
}
