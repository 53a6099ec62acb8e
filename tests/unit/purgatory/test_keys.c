/* SPDX-License-Identifier: MIT */
/* test_keys.c - the keys on which a request waits: none twice, each of any bytes. */
#include "../../../src/purgatory/cpu.h"
#include "../../../src/purgatory/shard.h"
#include "../../support/collisions.h"
#include "../../support/purgatory_case.h"

#include <errno.h>
#include <string.h>

/* As header and documents say; tests/api/docs.py reads the numbers here. */
UNIT_TEST(purgatory_structs_have_their_sizes) {
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(struct htw_request), 104);
    assert_int_equal(sizeof(struct htw__purgatory_shard), 256);
    assert_int_equal(sizeof(struct htw_threshold), 128);
}

static void make_keys(struct htw_key *keys, char (*names)[8], size_t count, size_t distinct) {
    for (size_t i = 0; i < count; i++) {
        int size = snprintf(names[i], sizeof(names[i]), "%u", (unsigned)(i * 7 % distinct));
        keys[i] = (struct htw_key) { names[i], (size_t)size };
    }
}

/* holds: purgatory-8 */
PURGATORY_TEST(purgatory_hundreds_of_duplicate_keys_count_once) {
    struct waiter *a = purgatory_case_waiter(test, 'a'), *b = purgatory_case_waiter(test, 'b');
    static char names[900][8];
    static struct htw_key keys[900];
    make_keys(keys, names, 900, 300);
    assert_int_equal(waiter_submit_keys(a, MS, keys, 900), HTW_WATCHED);
    assert_waiting(test, 1, 300, 300, 1);
    make_keys(keys, names, 900, 1);
    assert_int_equal(waiter_submit_keys(b, MS, keys, 900), HTW_WATCHED);
    assert_waiting(test, 2, 301, 300, 2);
    assert_log(test, "a? a? b? b?");
    assert_check_log(test, "0", 0, "a? b?");
    assert_true(complete(a));
    assert_waiting(test, 1, 1, 1, 1);
}

PURGATORY_TEST(purgatory_keys_are_copied) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    char name[40] = "short", long_name[40] = "a name of more than sixteen bytes";
    struct htw_key keys[] = { { name, 5 }, { long_name, strlen(long_name) } };
    assert_int_equal(waiter_submit_keys(a, MS, keys, 2), HTW_WATCHED);
    assert_log(test, "a? a?");
    memset(name, 'x', sizeof(name));
    memset(long_name, 'x', sizeof(long_name));
    memset(keys, 0, sizeof(keys));
    assert_int_equal(check_key(test, "short"), 0);
    assert_check_log(test, "a name of more than sixteen bytes", 0, "a? a?");
    assert_int_equal(htw_purgatory_check(test->purgatory, name, 5), 0);
    assert_log(test, "");
}

PURGATORY_TEST(purgatory_empty_key_is_a_key) {
    struct waiter *a = purgatory_case_waiter(test, 'a');
    const struct htw_key keys[] = { { NULL, 0 }, { "x", 0 } };
    assert_int_equal(waiter_submit_keys(a, MS, keys, 2), HTW_WATCHED);
    assert_waiting(test, 1, 1, 1, 1);
    assert_log(test, "a? a?");
    assert_int_equal(check_key(test, ""), 0);
    assert_int_equal(htw_purgatory_check(test->purgatory, NULL, 0), 0);
    assert_log(test, "a? a?");
    assert_int_equal(htw_purgatory_check(test->purgatory, "\0", 1), 0);
    assert_log(test, "");
    assert_int_equal(htw_purgatory_cancel_key(test->purgatory, NULL, 0, NULL, NULL), 1);
    assert_log(test, "aX a=");
}

/* Keys that differ in nothing but their last byte, or in their size. */
/* holds: purgatory-8 */
PURGATORY_TEST(purgatory_keys_of_any_size_are_distinguished) {
    static const size_t sizes[] = { 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 240, 241, 10000 };
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    static unsigned char bytes[10000];
    for (size_t i = 0; i < SIZES; i++) {
        struct waiter *a = purgatory_case_waiter(test, (char)('a' + i));
        assert_int_equal(waiter_submit_keys(a, MS, &(struct htw_key) { bytes, sizes[i] }, 1),
                         HTW_WATCHED);
    }
    assert_waiting(test, SIZES, SIZES, SIZES, SIZES);
    purgatory_case_forget_log(test);
    for (size_t i = 0; i < SIZES; i++) {
        const char expected[] = { (char)('a' + i), '?', '\0' };
        assert_int_equal(htw_purgatory_check(test->purgatory, bytes, sizes[i]), 0);
        assert_log(test, expected);
        bytes[sizes[i] - 1] = 1;
        assert_int_equal(htw_purgatory_check(test->purgatory, bytes, sizes[i]), 0);
        assert_log(test, "");
        bytes[sizes[i] - 1] = 0;
    }
}

/* ---- counted */

static int64_t count_key(struct purgatory_case *test, const char *key) {
    return htw_purgatory_count_key(test->purgatory, key, strlen(key));
}

/* More than are counted under one lock. */
/* holds: purgatory-19 */
PURGATORY_TEST(purgatory_count_of_many_is_exact_and_needs_no_memory) {
    static struct waiter waiters[1000];
    for (unsigned i = 0; i < 1000; i++) {
        waiter_init(&waiters[i], test, '\0');
        watch(&waiters[i], HTW_NEVER_NS, "k");
        if (i < 260 || i == 999) {
            failing_allocator_fail(&test->memory, 1, true);
            assert_int_equal(count_key(test, "k"), i + 1);
            failing_allocator_relent(&test->memory);
        }
    }
    assert_waiting(test, 1000, 1000, 1, 0);
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
