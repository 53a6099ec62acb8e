/* SPDX-License-Identifier: MIT */
/* test_table.c - the broker's table of keys: correct, and no single operation is slow. */
#include "../src/entry.h"
#include "../src/table.h"

#include "../../../tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 20000, STEPS = 200000 };

static struct table table;
static struct entry *entries[MANY];
static bool is_in[MANY];

/* Few bits of hash, so that some keys collide. */
static uint32_t hash_of(uint32_t number) {
    return (uint32_t)(number * 2654435761u) & 0xfff0ffffu;
}

static void open_table(void) {
    memset(is_in, 0, sizeof is_in);
    for (uint32_t i = 0; i < MANY; i++) {
        entries[i] = calloc(1, sizeof(struct entry) + sizeof i);
        assert_non_null(entries[i]);
        memcpy(entries[i]->key, &i, sizeof i);
        entries[i]->key_size = sizeof i;
        entries[i]->hash = hash_of(i);
    }
    assert_true(table_init(&table));
}

static void close_table(void) {
    table_fini(&table);
    for (uint32_t i = 0; i < MANY; i++)
        free(entries[i]);
}

static struct entry *find(uint32_t number) {
    return table_find(&table, hash_of(number), (const char *)&number, sizeof number);
}

/* Inserts a key, or removes it if it is in the table. */
static void turn(uint32_t number) {
    if (is_in[number])
        table_remove(&table, entries[number]);
    else
        table_insert(&table, entries[number]);
    is_in[number] = !is_in[number];
}

static void check_all(void) {
    size_t count = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        assert_ptr_equal(find(i), is_in[i] ? entries[i] : NULL);
        count += is_in[i];
    }
    assert_int_equal(table.entry_count, count);
}

UNIT_TEST_BETWEEN(open_table, close_table, broker_table_finds_what_is_in_it) {
    unsigned short random[3] = { 5 };
    for (int step = 0; step < STEPS; step++) {
        /* The table grows and shrinks in turn. */
        uint32_t number = (uint32_t)nrand48(random) % MANY;
        if (is_in[number] == (step / 40000 % 2 == 1) || nrand48(random) % 4 == 0)
            turn(number);
        if (step % 20000 == 0)
            check_all();
    }
    check_all();
}

UNIT_TEST_BETWEEN(open_table, close_table, broker_table_moves_the_keys_of_one_bucket_at_a_time) {
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        size_t buckets = table.bucket_count, segments = table.segment_count;
        turn(i % MANY);
        if (i < MANY) {
            assert_in_range(table.bucket_count, buckets, buckets + 1);
            assert_in_range(table.segment_count, segments, segments + 1);
            assert_in_range(table.entry_count, 1, table.bucket_count);
        } else {
            assert_in_range(table.bucket_count, buckets - 2, buckets);
            assert_in_range(table.bucket_count, 1, 2 * table.entry_count + 1);
        }
    }
    assert_int_equal(table.bucket_count, 1);
}

UNIT_TEST_BETWEEN(open_table, close_table, broker_table_gives_memory_back) {
    size_t empty = table_memory(&table);
    for (uint32_t i = 0; i < MANY; i++)
        turn(i);
    assert_in_range(table_memory(&table), MANY * sizeof(void *), 2 * MANY * sizeof(void *));
    for (uint32_t i = 0; i < MANY; i++)
        turn(i);
    assert_in_range(table_memory(&table), empty, 2 * empty);
}

UNIT_TEST_BETWEEN(open_table, close_table, broker_table_taken_whole_is_empty) {
    for (uint32_t i = 0; i < MANY; i++)
        turn(i);
    size_t count = 0;
    for (struct entry *entry = table_remove_all(&table); entry != NULL;
         entry = entry->next_in_bucket)
        count++;
    assert_int_equal(count, MANY);
    memset(is_in, 0, sizeof is_in);
    check_all();
    turn(7);
    check_all();
}
