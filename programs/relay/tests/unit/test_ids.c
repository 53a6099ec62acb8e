/* SPDX-License-Identifier: MIT */
/* test_ids.c - the table of ids, against a plain array. */
#include "../../src/ids.h"

#include "support/random.h"
#include "unit/unit.h"

#define HASHES 300

static uint64_t hash_of(uint64_t number) {
    return number * UINT64_C(0x100000000);
}

UNIT_TEST(ids_table_is_as_an_array) {
    struct htw__relay_ids ids = { .entries = NULL };
    int64_t offsets[HASHES], flags[HASHES], found;
    uint64_t hash;
    struct random_source random = { 1 };
    for (size_t i = 0; i < HASHES; i++)
        offsets[i] = HTW__IDS_NONE;
    for (int turn = 0; turn < 20000; turn++) {
        uint64_t number = random_below(&random, HASHES);
        if (random_below(&random, 2) == 0) {
            offsets[number] = (int64_t)random_below(&random, 1000);
            flags[number] =
                (int64_t)random_below(&random, 2) * HTW__ID_OCCURS(random_below(&random, 2)) +
                (int64_t)random_below(&random, 2) * HTW__ID_LEAVING +
                (int64_t)random_below(&random, 2) * HTW__ID_UNSURE;
            htw__ids_put(&ids, hash_of(number), offsets[number], flags[number]);
        } else {
            offsets[number] = HTW__IDS_NONE;
            htw__ids_remove(&ids, hash_of(number));
        }
        if (turn % 100 != 0)
            continue;
        size_t count = 0, unsure = 0;
        for (uint64_t i = 0; i < HASHES; i++) {
            assert_int_equal(htw__ids_find(&ids, hash_of(i), &found), offsets[i]);
            if (offsets[i] < 0)
                continue;
            assert_int_equal(found, flags[i]);
            count++;
            unsure += (flags[i] & HTW__ID_UNSURE) != 0;
        }
        assert_int_equal(ids.count, count);
        assert_int_equal(ids.unsure, unsure);
        for (size_t at = 0; htw__ids_next_unsure(&ids, &at, &hash); at++)
            unsure--;
        assert_int_equal(unsure, 0);
    }
    htw__ids_fini(&ids);
}

/* A producer can make ids whose hashes have all bits in common that choose a place in a table without a secret. */
UNIT_TEST(ids_hashes_that_were_chosen_do_not_gather) {
    struct htw__relay_ids ids = { .entries = NULL };
    size_t run = 0, longest = 0;
    for (uint64_t i = 1; i <= 20000; i++)
        htw__ids_put(&ids, i << 32 | 0x77, 5, 0);
    for (size_t at = 0; at < ids.room; at++) {
        run = ids.entries[at].offset != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    assert_true(longest < 1000); /* about 50; without a secret all of them */
    htw__ids_fini(&ids);
}

UNIT_TEST(ids_tables_have_secrets_of_their_own) {
    struct htw__relay_ids one = { .entries = NULL }, other = { .entries = NULL };
    htw__ids_put(&one, 1, 5, 0);
    htw__ids_put(&other, 1, 5, 0);
    assert_true(one.seed != other.seed);
    htw__ids_fini(&one);
    htw__ids_fini(&other);
}

/* They stand in Kafka: another version must find them. */
UNIT_TEST(ids_hashes_stay_as_they_are) {
    const struct htw__bytes key = htw__bytes_of("key"), id = htw__bytes_of("id"),
                            none = { NULL, 0 }, empty = htw__bytes_of("");
    assert_int_equal(htw__ids_hash(key, id), UINT64_C(0x3ad134e46779bcaf));
    assert_int_equal(htw__ids_hash(none, id), UINT64_C(0x5c2247352f22dc30));
    assert_int_equal(htw__ids_hash(empty, id), UINT64_C(0x4e99aadd08126ef5));
}
