/* SPDX-License-Identifier: MIT */
/* test_heap - the indexed heap. */
#include "../../../src/base/heap.h"

#include "../unit.h"

#include <errno.h>
#include <stdlib.h>

enum { IDS = 64 };

static const struct htw_allocator *const memory = &htw__default_allocator;

static struct htw__heap reserved(void) {
    struct htw__heap heap;
    htw__heap_init(&heap);
    assert_int_equal(htw__heap_reserve(&heap, memory, IDS), 0);
    return heap;
}

UNIT_TEST(heap_popped_gives_keys_in_order) {
    struct htw__heap heap = reserved();
    for (uint32_t id = 0; id < IDS; id++) {
        htw__heap_lower(&heap, (id * 37 + 11) % 101, id);
        assert_true(htw__heap_is_valid(&heap));
    }
    uint64_t last = 0;
    for (uint32_t left = IDS; left > 0; left--) {
        assert_int_equal(heap.count, left);
        assert_true(heap.entries[0].key >= last);
        last = heap.entries[0].key;
        htw__heap_pop(&heap);
        assert_true(htw__heap_is_valid(&heap));
    }
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_with_equal_keys_gives_the_highest_id_first) {
    struct htw__heap heap = reserved();
    static const uint32_t ids[] = { 3, 9, 1, 7, 5 };
    for (size_t i = 0; i < 5; i++)
        htw__heap_lower(&heap, 42, ids[i]);
    static const uint32_t expected[] = { 9, 7, 5, 3, 1 };
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(heap.entries[0].id, expected[i]);
        htw__heap_pop(&heap);
    }
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_with_a_key_lowered_moves_it_forward) {
    struct htw__heap heap = reserved();
    for (uint32_t id = 0; id < IDS; id++)
        htw__heap_lower(&heap, 1000 + id, id);
    htw__heap_lower(&heap, 5, IDS - 1);
    assert_int_equal(heap.entries[0].id, IDS - 1);
    assert_int_equal(heap.entries[0].key, 5);
    assert_int_equal(heap.count, IDS);
    assert_true(htw__heap_is_valid(&heap));
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_popped_forgets_the_id) {
    struct htw__heap heap = reserved();
    htw__heap_lower(&heap, 7, 3);
    htw__heap_pop(&heap);
    assert_int_equal(heap.indices[3], HTW__HEAP_ABSENT);
    htw__heap_lower(&heap, 9, 3); /* a later key than before: it is a new entry */
    assert_int_equal(heap.entries[0].key, 9);
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_grown_keeps_its_entries) {
    struct htw__heap heap = reserved();
    for (uint32_t id = 0; id < IDS; id++)
        htw__heap_lower(&heap, 500 - id, id);
    assert_int_equal(htw__heap_reserve(&heap, memory, 4 * IDS), 0);
    assert_true(htw__heap_is_valid(&heap));
    assert_int_equal(heap.count, IDS);
    htw__heap_lower(&heap, 1, 4 * IDS - 1);
    assert_int_equal(heap.entries[0].id, 4 * IDS - 1);
    assert_true(htw__heap_is_valid(&heap));
    htw__heap_fini(&heap, memory);
}

static void *refuse(void *context, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    return NULL;
}

UNIT_TEST(heap_refused_memory_is_as_before) {
    struct htw__heap heap = reserved();
    htw__heap_lower(&heap, 8, 2);
    const struct htw_allocator refusing = { refuse, memory->release, NULL };
    assert_int_equal(htw__heap_reserve(&heap, &refusing, 2 * IDS), -ENOMEM);
    assert_int_equal(heap.capacity, IDS);
    assert_int_equal(heap.entries[0].id, 2);
    assert_true(htw__heap_is_valid(&heap));
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_out_of_order_is_found_invalid) {
    struct htw__heap heap = reserved();
    htw__heap_lower(&heap, 1, 1);
    htw__heap_lower(&heap, 2, 2);
    heap.entries[1].key = 0;
    assert_false(htw__heap_is_valid(&heap));
    htw__heap_fini(&heap, memory);
}

/* Pushes, lowers and pops at random, beside an array that is searched from end to end. */
UNIT_TEST(heap_asked_for_less_room_keeps_what_it_has) {
    struct htw__heap heap = reserved();
    struct htw__heap_entry *entries = heap.entries;
    assert_int_equal(htw__heap_reserve(&heap, memory, IDS - 1), 0);
    assert_int_equal(heap.capacity, IDS);
    assert_ptr_equal(heap.entries, entries);
    htw__heap_fini(&heap, memory);
}

UNIT_TEST(heap_in_random_use_agrees_with_a_table) {
    struct htw__heap heap = reserved();
    uint64_t table[IDS];
    for (uint32_t id = 0; id < IDS; id++)
        table[id] = UINT64_MAX;
    uint64_t numbers = 88172645463325252u;
    for (int step = 0; step < 100000; step++) {
        numbers = numbers * 6364136223846793005u + 1442695040888963407u;
        uint32_t id = (uint32_t)(numbers >> 33) % IDS;
        uint64_t key = (numbers >> 40) % 1000;
        if (numbers >> 63 && heap.count > 0) {
            uint32_t least = 0;
            for (uint32_t i = 1; i < IDS; i++)
                if (table[i] <= table[least])
                    least = i;
            assert_int_equal(heap.entries[0].id, least);
            assert_int_equal(heap.entries[0].key, table[least]);
            table[least] = HTW__HEAP_ABSENT;
            htw__heap_pop(&heap);
        } else if (key < table[id]) {
            table[id] = key;
            htw__heap_lower(&heap, key, id);
        }
        assert_true(htw__heap_is_valid(&heap));
    }
    htw__heap_fini(&heap, memory);
}
