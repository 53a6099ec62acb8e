/* SPDX-License-Identifier: MIT */
/*
 * test_flat.c - each operation of a purgatory 300 000 times, on ever new keys: its memory
 * stays as it is.
 */
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <string.h>

#define CALLS 300000

/* Keys inside and outside of a slot, each for a few calls only. */
static struct htw_key key_of(unsigned call, char bytes[40]) {
    memset(bytes, 'k', 40);
    memcpy(bytes, &call, sizeof(call));
    return (struct htw_key) { bytes, call % 2 == 0 ? 16 : 40 };
}

static int submit_new(struct purgatory_case *test, unsigned call, unsigned key_count) {
    char bytes[8][40];
    struct htw_key keys[8];
    for (unsigned i = 0; i < key_count; i++)
        keys[i] = key_of(call * 8 + i, bytes[i]);
    return waiter_submit_keys(&test->waiters[0], MS, keys, key_count);
}

static void complete_it(struct purgatory_case *test, unsigned call) {
    assert_int_equal(submit_new(test, call, 1), HTW_WATCHED);
    assert_true(complete(&test->waiters[0]));
}

static void cancel_it_on_many_keys(struct purgatory_case *test, unsigned call) {
    assert_int_equal(submit_new(test, call, 8), HTW_WATCHED);
    assert_true(cancel(&test->waiters[0]));
}

static void expire_it(struct purgatory_case *test, unsigned call) {
    assert_int_equal(submit_new(test, call, 1), HTW_WATCHED);
    assert_int_equal(htw_request_set_timeout(test->purgatory, &test->waiters[0].request, MS), 0);
    assert_int_equal(htw_scheduler_advance(test->scheduler, 2 * MS), 0);
    assert_false(htw_request_is_pending(&test->waiters[0].request));
}

static void check_it(struct purgatory_case *test, unsigned call) {
    char bytes[40];
    assert_int_equal(submit_new(test, call, 1), HTW_WATCHED);
    struct htw_key key = key_of(call * 8, bytes);
    assert_int_equal(htw_purgatory_check(test->purgatory, key.bytes, key.size), 0);
    assert_int_equal(htw_purgatory_count_key(test->purgatory, key.bytes, key.size), 1);
    test->waiters[0].ready = true;
    assert_int_equal(htw_purgatory_check_at_most(test->purgatory, key.bytes, key.size, 1), 1);
    test->waiters[0].ready = false;
}

static void check_it_later(struct purgatory_case *test, unsigned call) {
    char bytes[40];
    assert_int_equal(submit_new(test, call, 1), HTW_WATCHED);
    struct htw_key key = key_of(call * 8, bytes);
    test->waiters[0].ready = true;
    assert_int_equal(htw_purgatory_check_later(test->purgatory, key.bytes, key.size), 0);
    assert_int_equal(htw_scheduler_advance(test->scheduler, 0), 0);
    test->waiters[0].ready = false;
    assert_false(htw_request_is_pending(&test->waiters[0].request));
}

static void check_nothing(struct purgatory_case *test, unsigned call) {
    char bytes[40];
    struct htw_key key = key_of(call, bytes);
    assert_int_equal(htw_purgatory_check(test->purgatory, key.bytes, key.size), 0);
    assert_int_equal(htw_purgatory_check_later(test->purgatory, key.bytes, key.size), 0);
}

static void cancel_its_key(struct purgatory_case *test, unsigned call) {
    char bytes[40];
    assert_int_equal(submit_new(test, call, 1), HTW_WATCHED);
    assert_int_equal(submit_new(test, call, 1), -EBUSY);
    struct htw_key key = key_of(call * 8, bytes);
    assert_int_equal(htw_purgatory_cancel_key(test->purgatory, key.bytes, key.size, NULL, NULL), 1);
}

static void finish_it_at_once(struct purgatory_case *test, unsigned call) {
    test->waiters[0].ready = true;
    assert_int_equal(submit_new(test, call, 3), HTW_FINISHED);
    test->waiters[0].ready = false;
}

static void use_a_threshold(struct purgatory_case *test, unsigned call) {
    struct htw_threshold *before = test->threshold, *threshold;
    assert_int_equal(htw_threshold_create(test->purgatory, call, &threshold), 0);
    test->threshold = threshold;
    assert_int_equal(waiter_await(&test->waiters[0], call + 1, MS), HTW_WATCHED);
    assert_int_equal(htw_threshold_advance(threshold, call + 1), 1);
    assert_int_equal(htw_threshold_lower(threshold, call), 0);
    assert_int_equal(waiter_await(&test->waiters[0], call + 1, MS), HTW_WATCHED);
    assert_int_equal(htw_threshold_end_all(threshold, HTW_REASON_CANCELLED, NULL, NULL), 1);
    assert_int_equal(htw_threshold_destroy(threshold), 0);
    test->threshold = before;
}

static void read_statistics(struct purgatory_case *test, unsigned call) {
    (void)call;
    if (call % 100 == 0) /* they visit 4096 shards */
        assert_int_equal(purgatory_case_stats(test).pending, 0);
}

static void (*const operations[])(struct purgatory_case *test, unsigned call) = {
    complete_it,   cancel_it_on_many_keys, expire_it,         check_it,        check_it_later,
    check_nothing, cancel_its_key,         finish_it_at_once, use_a_threshold, read_statistics,
};

/* holds: purgatory-6 */
PURGATORY_TEST(purgatory_stays_as_it_is_whatever_is_called_how_often) {
    purgatory_case_waiter(test, 'a');
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        size_t blocks = 0, bytes = 0;
        for (unsigned call = 0; call < CALLS; call++) {
            operations[i](test, call);
            purgatory_case_forget_log(test);
            if (call == CALLS / 100) { /* what is kept for later is there by now */
                blocks = test->memory.live_blocks;
                bytes = test->memory.live_bytes;
            }
        }
        assert_true(test->memory.live_blocks <= blocks && test->memory.live_bytes <= bytes);
    }
}
