/* SPDX-License-Identifier: MIT */
/* test_refused.c - calls that are given wrongly are refused, and change nothing. */
#include "../../support/purgatory_case.h"
#include "../../support/refused_creation.h"

/* ---- options */

static int create_with(struct purgatory_case *test, const struct htw_purgatory_options *options) {
    struct htw_purgatory *purgatory = NULL;
    int error = htw_purgatory_create(&purgatory, test->scheduler, options);
    assert_null(purgatory);
    return error;
}

#define assert_refused_for(member, value)                    \
    do {                                                     \
        struct htw_purgatory_options bad_ = good;            \
        bad_.member = (value);                               \
        assert_int_equal(create_with(test, &bad_), -EINVAL); \
        assert_string_equal(htw_invalid_member(), #member);  \
    } while (0)

PURGATORY_TEST(purgatory_created_wrongly_is_refused) {
    static const uint32_t shards[] = {
        3, 5, 65535, 65537, HTW_PURGATORY_SHARDS_MAX * 2, UINT32_MAX
    };
    static const size_t sizes[] = { 0, 1, 8, SIZE_MAX };
    static const struct htw_allocator none = { NULL, NULL, NULL };
    const struct htw_purgatory_options good = purgatory_case_options();
    struct htw_purgatory *purgatory = NULL;
    assert_int_equal(htw_purgatory_create(NULL, test->scheduler, &good), -EINVAL);
    assert_int_equal(htw_purgatory_create(&purgatory, NULL, &good), -EINVAL);
    assert_int_equal(create_with(test, NULL), -EINVAL);
    assert_null(htw_invalid_member());
    assert_refused_for(on_complete, NULL);
    assert_refused_for(allocator, &none);
    for (size_t i = 0; i < COUNT_OF(shards); i++)
        assert_refused_for(shards, shards[i]);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_refused_for(struct_size, sizes[i]);
}

/* ---- calls */

PURGATORY_TEST(purgatory_request_given_wrongly_is_refused) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    struct htw_key key = { "k", 1 };
    const struct htw_key bad[] = { { "k", 1 }, { "l", 1 }, { "m", 1 }, { NULL, 1 } };
    const struct htw_key long_key = { "k", (size_t)UINT32_MAX + 1 };
    const struct {
        const struct htw_key *keys;
        size_t count;
    } cases[] = { { &key, 0 },
                  { NULL, 0 },
                  { NULL, 1 },
                  { bad, 4 },
                  { bad + 1, 3 },
                  { bad + 2, 2 },
                  { bad + 3, 1 },
                  { &key, SIZE_MAX },
                  { &key, SIZE_MAX / 16 },
                  { SIZE_MAX > UINT32_MAX ? &long_key : NULL, 1 } };
    struct htw_purgatory_stats before = purgatory_case_stats(test);
    assert_int_equal(htw_purgatory_try_complete_else_watch(NULL, &a->request, &key, 1, MS),
                     -EINVAL);
    assert_int_equal(htw_purgatory_try_complete_else_watch(test->purgatory, NULL, &key, 1, MS),
                     -EINVAL);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(waiter_submit_keys(a, MS, cases[i].keys, cases[i].count), -EINVAL);
    assert_same_stats(test, &before);
    assert_false(htw_request_is_pending(&a->request));
    assert_log(test, "");
}

static void visit_sizes(struct purgatory_case *test) {
    static const size_t sizes[] = { 0, 1, sizeof(struct htw_purgatory_stats) - 1,
                                    sizeof(struct htw_purgatory_stats) + 1, SIZE_MAX };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct htw_purgatory_stats stats = { .struct_size = sizes[i], .pending = 77 };
        assert_int_equal(htw_purgatory_get_stats(test->purgatory, &stats), -EINVAL);
        assert_int_equal(stats.pending, 77);
    }
}

PURGATORY_TEST(purgatory_calls_given_wrongly_are_refused) {
    struct htw_purgatory *p = test->purgatory;
    struct htw_purgatory_stats stats = HTW_PURGATORY_STATS_INIT;
    struct htw_request *request = &watch_each(test, "A", HTW_SECOND, "k")->request;
    assert_int_equal(htw_purgatory_check(NULL, "k", 1), -EINVAL);
    assert_int_equal(htw_purgatory_check(p, NULL, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_at_most(NULL, "k", 1, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_at_most(p, NULL, 1, 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_later(NULL, "k", 1), -EINVAL);
    assert_int_equal(htw_purgatory_check_later(p, NULL, 1), -EINVAL);
    assert_int_equal(htw_purgatory_cancel_key(NULL, "k", 1, NULL, NULL), -EINVAL);
    assert_int_equal(htw_purgatory_cancel_key(p, NULL, 1, NULL, NULL), -EINVAL);
    assert_int_equal(htw_purgatory_count_key(NULL, "k", 1), -EINVAL);
    assert_int_equal(htw_purgatory_count_key(p, NULL, 1), -EINVAL);
    if (SIZE_MAX > UINT32_MAX)
        assert_int_equal(htw_purgatory_count_key(p, "k", SIZE_MAX), -EINVAL);
    assert_false(htw_request_complete(p, NULL));
    assert_false(htw_request_complete(NULL, request));
    assert_false(htw_request_cancel(p, NULL));
    assert_false(htw_request_cancel(NULL, request));
    assert_int_equal(htw_request_set_timeout(NULL, request, MS), -EINVAL);
    assert_int_equal(htw_request_set_timeout(p, NULL, MS), -EINVAL);
    assert_int_equal(htw_purgatory_close(NULL, NULL, NULL), -EINVAL);
    assert_int_equal(htw_purgatory_destroy(NULL), 0);
    assert_int_equal(htw_purgatory_get_stats(NULL, &stats), -EINVAL);
    assert_int_equal(htw_purgatory_get_stats(p, NULL), -EINVAL);
    visit_sizes(test);
    assert_int_equal(htw_purgatory_prometheus(NULL, stdout), -EINVAL);
    assert_int_equal(htw_purgatory_prometheus(p, NULL), -EINVAL);
    assert_log_after(test, MS, "");
}

THRESHOLD_TEST(threshold_given_wrongly_is_refused) {
    struct htw_request request = { 0 };
    struct htw_threshold *threshold = NULL, *given = test->threshold;
    await_value(test, 'a', 101);
    assert_int_equal(htw_threshold_create(NULL, 0, &threshold), -EINVAL);
    assert_int_equal(htw_threshold_create(test->purgatory, 0, NULL), -EINVAL);
    assert_null(threshold);
    assert_int_equal(htw_threshold_await(NULL, &request, 0, MS), -EINVAL);
    assert_int_equal(htw_threshold_await(given, NULL, 0, MS), -EINVAL);
    assert_int_equal(htw_threshold_await(given, NULL, 1000, MS), -EINVAL);
    assert_int_equal(htw_threshold_advance(NULL, 1), -EINVAL);
    assert_int_equal(htw_threshold_lower(NULL, 1), -EINVAL);
    assert_int_equal(htw_threshold_value(NULL), 0);
    assert_int_equal(htw_threshold_end_all(NULL, HTW_REASON_CANCELLED, NULL, NULL), -EINVAL);
    assert_int_equal(htw_threshold_end_all(given, HTW_REASON_EXPIRED, NULL, NULL), -EINVAL);
    assert_int_equal(htw_threshold_end_all(given, (enum htw_reason)4, NULL, NULL), -EINVAL);
    assert_int_equal(htw_threshold_destroy(NULL), 0);
    assert_false(htw_request_is_pending(&request));
    assert_log(test, "");
    assert_waiting(test, 1, 0, 0, 1);
}

/* ---- memory */

static struct htw_purgatory *created;

static int create(const struct htw_allocator *allocator) {
    struct htw_purgatory_options options = purgatory_case_options();
    options.allocator = allocator;
    created = NULL;
    int error = htw_purgatory_create(&created, purgatory_case.scheduler, &options);
    assert_int_equal(error == 0, created != NULL);
    return error;
}

static void destroy(void) {
    assert_int_equal(htw_purgatory_destroy(created), 0);
}

/* holds: purgatory-13 */
PURGATORY_TEST(purgatory_create_refused_memory_leaves_nothing) {
    assert_refused_creation_leaves_nothing(create, destroy);
}
