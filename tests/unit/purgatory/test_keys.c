/* SPDX-License-Identifier: MIT */
/* test_keys.c - the keys on which a request waits. The model has keys of many sizes. */
#include "../../../src/purgatory/state.h"
#include "../../support/collisions.h"
#include "../../support/purgatory_case.h"

/* holds: purgatory-8 */
PURGATORY_TEST(purgatory_duplicate_keys_count_once_and_each_byte_makes_another_key) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    const struct htw_key keys[] = { { "k", 1 }, { NULL, 0 }, { "k", 1 }, { "k\0", 2 }, { "x", 0 } };
    assert_int_equal(waiter_submit_keys(a, MS, keys, COUNT_OF(keys)), HTW_WATCHED);
    assert_waiting(test, 1, 3, 3, 1);
    assert_log(test, "a? a?");
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        assert_int_equal(htw_purgatory_check(test->purgatory, keys[i].bytes, keys[i].size), 0);
        assert_log(test, "a?");
    }
    assert_check_log(test, "l", 0, "");
}

/* Keys may come from strangers. */
PURGATORY_TEST(purgatory_with_crafted_keys_has_short_chains) {
    static struct htw_key keys[COLLISIONS];
    collisions_find();
    for (size_t i = 0; i < COLLISIONS; i++)
        keys[i] = (struct htw_key) { collisions[i], COLLISION_SIZE };
    struct waiter *waiter = purgatory_case_waiter(test, 'a');
    assert_int_equal(waiter_submit_keys(waiter, MS, keys, COLLISIONS), HTW_WATCHED);
    size_t count = 0;
    for (uint32_t i = 0; i < test->purgatory->shard_count; i++) {
        const struct htw__key_table *table = &test->purgatory->shards[i].table;
        count += htw__key_table_count(table) + test->purgatory->shards[i].first.has_key +
                 test->purgatory->shards[i].second.has_key;
        assert_true(longest_chain(table) <= COLLISIONS_CHAIN_MAX);
    }
    assert_int_equal(count, COLLISIONS);
}
