/* SPDX-License-Identifier: MIT */
/* test_key_table - the hash table of keys. */
#include "../../../src/base/key_table.h"

#include "../../support/collisions.h"
#include "../../support/failing_allocator.h"
#include "../../support/random.h"
#include "../unit.h"

enum { FEW = 3000, MANY = 1000000, SEED = 77 };

struct item {
    struct htw__key_node node;
    uint64_t number; /* the key */
    bool is_in;
};

static struct failing_allocator memory;
static struct htw__key_table table;
static struct item *items;

static void open_table(size_t count) {
    failing_allocator_init(&memory);
    htw__key_table_init(&table, &memory.allocator);
    items = calloc(count, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++) {
        items[i].number = i;
        htw__key_node_set(&items[i].node,
                          htw__key_hash(&items[i].number, sizeof items[i].number, SEED),
                          &items[i].number, sizeof items[i].number);
    }
}

static void open_for_few(void) {
    open_table(FEW);
}

static void open_for_many(void) {
    open_table(MANY);
}

/* Fails if the table broke a rule of the allocator or did not release all memory. */
static void close_table(void) {
    htw__key_table_fini(&table);
    bool is_good = memory.error == NULL && memory.live_blocks == 0;
    failing_allocator_fini(&memory);
    free(items);
    assert_true(is_good);
}

static void insert(size_t number) {
    htw__key_table_insert(&table, &items[number].node);
    items[number].is_in = true;
}

static void take_out(size_t number) {
    htw__key_table_remove(&table, &items[number].node);
    items[number].is_in = false;
}

/* Looks up by a copy of the key. */
static struct htw__key_node *find(size_t number) {
    uint64_t key = number;
    return htw__key_table_find(&table, items[number].node.hash, &key, sizeof key);
}

static bool is_told_rightly(size_t number) {
    return find(number) == (items[number].is_in ? &items[number].node : NULL);
}

static void assert_all_are_told_rightly(size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_true(is_told_rightly(i));
}

/* Whether a walk visits each of the first `count` items that is in the table, and no other. */
static bool walk_is_right(size_t count) {
    size_t expected = 0;
    size_t visits = 0;
    bool *is_seen = calloc(count, sizeof *is_seen);
    if (is_seen == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        expected += items[i].is_in;
    struct htw__key_node *node = NULL;
    while ((node = htw__key_table_next(&table, node)) != NULL && visits <= expected) {
        size_t number = (size_t)((struct item *)(void *)node)->number;
        if (number >= count || !items[number].is_in || is_seen[number])
            break;
        is_seen[number] = true;
        visits++;
    }
    free(is_seen);
    return node == NULL && visits == expected;
}

UNIT_TEST(key_hash_is_xxh3) {
    assert_true(htw__key_hash(NULL, 0, 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(htw__key_hash("request", 7, 1) == htw__key_hash("request!", 7, 1));
    assert_true(htw__key_hash("request", 7, 1) != htw__key_hash("request", 7, 2));
    assert_true(htw__key_hash("request", 7, 1) != htw__key_hash("request", 6, 1));
}

UNIT_TEST_BETWEEN(open_for_few, close_table,
                  key_table_with_keys_of_any_size_finds_them_by_content) {
    static const size_t sizes[] = { 0, 1, 7, 16, 128, 240, 241, 1024, 1 << 20 };
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    struct {
        struct htw__key_node nodes[SIZES];
        char bytes[1 << 20];
    } *keys = malloc(sizeof *keys);
    char *same = malloc(1 << 20);
    assert_true(keys != NULL && same != NULL);
    struct htw__key_node *nodes = keys->nodes;
    char *bytes = keys->bytes;
    for (size_t i = 0; i < 1 << 20; i++)
        same[i] = bytes[i] = (char)(i * 31 % 127);
    for (size_t i = 0; i < SIZES; i++) {
        htw__key_node_set(&nodes[i], htw__key_hash(bytes, sizes[i], SEED), bytes, sizes[i]);
        htw__key_table_insert(&table, &nodes[i]);
    }
    for (size_t i = 0; i < SIZES; i++) {
        uint64_t hash = htw__key_hash(same, sizes[i], SEED);
        assert_ptr_equal(htw__key_table_find(&table, hash, same, sizes[i]), &nodes[i]);
        if (sizes[i] == 0)
            continue;
        same[sizes[i] - 1]++; /* with the old hash: the bytes decide */
        assert_null(htw__key_table_find(&table, hash, same, sizes[i]));
        same[sizes[i] - 1]--;
        assert_null(htw__key_table_find(&table, hash, same, sizes[i] - 1)); /* so does the size */
    }
    assert_ptr_equal(htw__key_table_find(&table, nodes[0].hash, NULL, 0), &nodes[0]);
    free(same);
    free(keys);
}

UNIT_TEST_BETWEEN(open_for_many, close_table,
                  key_table_of_a_million_keys_is_as_quick_as_a_small_one) {
    for (size_t i = 0; i < MANY; i++) {
        size_t buckets = table.buckets;
        insert(i);
        assert_true(table.buckets - buckets <= 2);
        assert_true(table.buckets >= table.count);
    }
    assert_int_equal(htw__key_table_count(&table), MANY);
    assert_true(htw__key_table_is_valid(&table));
    assert_int_equal(htw__key_table_memory(&table), memory.live_bytes);
    size_t longest = longest_chain(&table);
    print_message("the longest chain of %d keys: %zu\n", MANY, longest);
    assert_true(longest <= 16);
    assert_all_are_told_rightly(MANY);
    /* Emptied, it gives each node once. */
    struct htw__key_node *node;
    while ((node = htw__key_table_remove_any(&table)) != NULL) {
        struct item *item = (struct item *)(void *)node;
        assert_true(item->is_in);
        item->is_in = false;
        if (table.count % 100000 == 0)
            assert_true(htw__key_table_is_valid(&table));
    }
    assert_int_equal(htw__key_table_count(&table), 0);
    assert_int_equal(memory.live_blocks, 0);
    for (size_t i = 0; i < MANY; i++)
        assert_false(items[i].is_in);
}

UNIT_TEST_BETWEEN(open_for_few, close_table,
                  key_table_at_the_border_of_a_segment_does_not_allocate_again) {
    size_t count = 0;
    while (memory.calls < 7) /* the directory and six segments */
        insert(count++);
    for (int i = 0; i < 100; i++) {
        for (int down = 0; down < 50; down++)
            take_out(--count);
        for (int up = 0; up < 50; up++)
            insert(count++);
    }
    assert_int_equal(memory.calls, 7);
    assert_int_equal(memory.live_blocks, 7);
}

/* One history: grows and shrinks in turn, sometimes without memory. */
static const char *run_history(struct random_source *source, size_t keys, int steps) {
    uint64_t inserts_in_16 = 8;
    for (int step = 0; step < steps; step++) {
        if (random_one_in(source, keys))
            inserts_in_16 = 2 + random_below(source, 13);
        if (random_one_in(source, 50))
            failing_allocator_fail(&memory, 1 + (size_t)random_below(source, 3),
                                   random_one_in(source, 2));
        if (random_one_in(source, 50))
            failing_allocator_relent(&memory);
        size_t number = (size_t)random_below(source, keys);
        bool is_insert = random_below(source, 16) < inserts_in_16;
        if (is_insert && !items[number].is_in)
            insert(number);
        else if (!is_insert && items[number].is_in)
            take_out(number);
        if (!is_told_rightly(number) || !is_told_rightly((size_t)random_below(source, keys)))
            return "a key is found that is not in, or not found";
        if (!htw__key_table_is_valid(&table))
            return "the table is not valid";
        if (step % 64 == 0 && !walk_is_right(keys))
            return "a walk misses a node, or comes to a wrong one";
        if (htw__key_table_memory(&table) != memory.live_bytes)
            return "the memory is not what the table says";
    }
    return NULL;
}

UNIT_TEST_BETWEEN(open_for_few, close_table, key_table_in_random_use_agrees_with_an_array) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct random_source source = { seed };
        size_t keys =
            1 + (size_t)random_below(&source, 1 + (UINT64_C(1) << random_below(&source, 10)));
        /* Every fourth time with hashes of few bits, so that chains hold several of each. */
        uint64_t mask = seed % 4 == 0 ? 0x1f : UINT64_MAX;
        for (size_t i = 0; i < keys; i++)
            items[i].node.hash =
                htw__key_hash(&items[i].number, sizeof items[i].number, seed) & mask;
        const char *error = run_history(&source, keys, 4000);
        if (error != NULL)
            fail_msg("seed %llu, %zu keys: %s", (unsigned long long)seed, keys, error);
        failing_allocator_relent(&memory);
        for (size_t i = 0; i < keys; i++)
            if (items[i].is_in)
                take_out(i);
        assert_int_equal(memory.live_blocks, 0);
    }
}

UNIT_TEST_BETWEEN(open_for_few, close_table,
                  key_table_with_a_node_in_a_wrong_bucket_is_found_invalid) {
    for (size_t i = 0; i < 100; i++)
        insert(i);
    items[42].node.hash++;
    assert_false(htw__key_table_is_valid(&table));
    items[42].node.hash--;
    assert_true(htw__key_table_is_valid(&table));
}
