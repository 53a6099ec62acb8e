/* SPDX-License-Identifier: MIT */
/* test_requests.c - a request in the call that submits it, and after it. */
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <string.h>

/* ---- asked */

static int64_t count_on_all(struct purgatory_case *test) {
    int64_t count = 0;
    for (const char *key = "klm"; *key != '\0'; key++)
        count += htw_purgatory_count_key(test->purgatory, key, 1);
    return count;
}

static void look_from_inside(struct waiter *self) {
    if (self->asked == 1)
        self->answer = count_on_all(self->test) == 0;
    else
        self->result = count_on_all(self->test);
}

PURGATORY_TEST(purgatory_request_is_asked_before_and_after_it_is_on_all_keys) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = look_from_inside;
    watch(a, MS, "k", "l", "m");
    assert_log(test, "a? a?");
    assert_true(a->answer);
    assert_int_equal(a->result, 3);
    assert_true(htw_request_is_pending(&a->request));
    assert_waiting(test, 1, 3, 3, 1);
}

UNIT_TEST(purgatory_without_try_complete_asks_no_request) {
    struct purgatory_case test;
    struct htw_purgatory_options options = purgatory_case_options();
    options.try_complete = NULL;
    purgatory_case_begin(&test, NULL, &options);
    struct waiter *a = purgatory_case_waiter(&test, 'a'), *b = purgatory_case_waiter(&test, 'b');
    a->ready = true;
    watch(a, HTW_NEVER_NS, "k");
    watch(b, MS, "k");
    assert_check_log(&test, "k", 0, "");
    assert_true(complete(a));
    assert_log_after(&test, MS, "aC a= bE b=");
    purgatory_case_end(&test);
}

UNIT_TEST(purgatory_without_release_ends_requests) {
    struct purgatory_case test;
    struct htw_purgatory_options options = purgatory_case_options();
    options.release = NULL;
    purgatory_case_begin(&test, NULL, &options);
    struct waiter *a = purgatory_case_waiter(&test, 'a'), *b = purgatory_case_waiter(&test, 'b');
    watch(a, HTW_NEVER_NS, "k");
    watch(b, MS, "k");
    a->ready = true;
    assert_int_equal(check_key(&test, "k"), 1);
    assert_ends_after(&test, MS, "aC bE");
    a->life = WAITER_FREE; /* with one thread no other can have it */
    assert_false(htw_request_is_pending(&a->request));
    assert_int_equal(submit(a, MS, "k"), HTW_FINISHED);
    purgatory_case_end(&test);
}

/* ---- refused */

static void assert_refused(struct waiter *self, int expected, const struct htw_key *keys,
                           size_t key_count) {
    struct htw_purgatory_stats before = purgatory_case_stats(self->test);
    assert_int_equal(waiter_submit_keys(self, MS, keys, key_count), expected);
    assert_same_stats(self->test, &before);
    assert_int_equal(self->ended + self->released, 0);
}

PURGATORY_TEST(purgatory_request_given_wrongly_is_refused) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    struct htw_key key = { "k", 1 };
    const struct htw_key bad[] = { { "k", 1 }, { "l", 1 }, { "m", 1 }, { NULL, 1 } };
    const struct htw_key long_key = { "k", (size_t)UINT32_MAX + 1 };
    assert_int_equal(htw_purgatory_try_complete_else_watch(NULL, &a->request, &key, 1, MS),
                     -EINVAL);
    assert_int_equal(htw_purgatory_try_complete_else_watch(test->purgatory, NULL, &key, 1, MS),
                     -EINVAL);
    assert_refused(a, -EINVAL, &key, 0);
    assert_refused(a, -EINVAL, NULL, 0);
    assert_refused(a, -EINVAL, NULL, 1);
    for (size_t count = 1; count <= 4; count++)
        assert_refused(a, -EINVAL, bad + 4 - count, count);
    assert_refused(a, -EINVAL, &key, SIZE_MAX);
    assert_refused(a, -EINVAL, &key, SIZE_MAX / 16);
    if (SIZE_MAX > UINT32_MAX)
        assert_refused(a, -EINVAL, &long_key, 1);
    assert_false(htw_request_is_pending(&a->request));
    watch(a, MS, "k");
}

static void submit_from_inside(struct waiter *self) {
    self->result = submit(self, MS, "other");
}

PURGATORY_TEST(purgatory_request_that_is_pending_is_busy) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    struct htw_purgatory_options options = purgatory_case_options();
    struct htw_purgatory *elsewhere;
    options.context = test;
    options.allocator = &test->scheduler_memory.allocator;
    assert_int_equal(htw_purgatory_create(&elsewhere, test->scheduler, &options), 0);
    watch(a, HTW_NEVER_NS, "k");
    struct htw_purgatory_stats before = purgatory_case_stats(test);
    assert_int_equal(submit(a, MS, "k"), -EBUSY);
    assert_int_equal(submit(a, MS, "l", "m", "n"), -EBUSY);
    assert_int_equal(htw_purgatory_try_complete_else_watch(elsewhere, &a->request,
                                                           &(struct htw_key) { "k", 1 }, 1, MS),
                     -EBUSY);
    assert_same_stats(test, &before);
    assert_int_equal(htw_purgatory_destroy(elsewhere), 0);
    assert_log_after(test, HTW_SECOND, "a? a?");
}

PURGATORY_TEST(purgatory_request_in_its_hooks_is_busy) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_asked = submit_from_inside;
    a->on_ended = submit_from_inside;
    watch(a, MS, "k");
    assert_int_equal(a->result, -EBUSY);
    a->result = 0;
    purgatory_case_advance(test, MS);
    assert_int_equal(a->result, -EBUSY);
    assert_log(test, "a? a? aE a=");
}

/* ---- timeouts */

/* holds: purgatory-9 */
PURGATORY_TEST(purgatory_timeout_is_never_early) {
    static struct waiter waiters[500];
    for (unsigned i = 0; i < 500; i++) {
        waiter_init(&waiters[i], test, '\0');
        watch(&waiters[i], (int64_t)i * 77777 + 1, "k", "l");
        if (i % 10 == 0)
            purgatory_case_advance(test, 33333);
    }
    for (unsigned i = 0; i < 500; i++)
        purgatory_case_advance(test, MS / 5);
    for (unsigned i = 0; i < 500; i++) {
        assert_int_equal(waiters[i].ended, 1);
        assert_int_equal(waiters[i].reason, HTW_REASON_EXPIRED);
        assert_true(waiters[i].ended_ns - waiters[i].not_before_ns <= MS);
    }
    assert_waiting(test, 0, 0, 0, 0);
}

/* ---- the end */

static void submit_again(struct waiter *self) {
    self->on_released = NULL;
    self->result = submit(self, 2 * MS, "again", "k", "third");
}

PURGATORY_TEST(purgatory_request_may_be_used_again_from_release) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    a->on_released = submit_again;
    watch(a, MS, "k");
    purgatory_case_advance(test, MS);
    assert_int_equal(a->result, HTW_WATCHED);
    assert_log(test, "a? a? aE a= a? a?");
    assert_waiting(test, 1, 3, 3, 1);
    assert_log_after(test, MS, "");
    assert_log_after(test, MS, "aE a=");
    a->ready = true;
    a->on_released = submit_again;
    assert_int_equal(submit(a, MS, "k"), HTW_FINISHED);
    assert_int_equal(a->result, HTW_FINISHED);
    assert_log(test, "a? aC a= a? aC a=");
}

PURGATORY_TEST(purgatory_request_that_is_new_or_null_is_not_pending) {
    struct htw_request request, zeroed;
    memset(&request, 0xff, sizeof(request));
    memset(&zeroed, 0, sizeof(zeroed));
    htw_request_init(&request);
    htw_request_init(NULL);
    assert_memory_equal(&request, &zeroed, sizeof(zeroed));
    assert_false(htw_request_is_pending(&request));
    assert_false(htw_request_is_pending(NULL));
    if (sizeof(void *) == 8)
        assert_int_equal(sizeof(request), 104);
}
