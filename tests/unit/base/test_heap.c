/* SPDX-License-Identifier: MIT */
/* test_heap.c - the heap beside a search from end to end. */
#include "../../../src/base/heap.h"

#include "../../support/random.h"
#include "../unit.h"

#define NODES 200

static const struct htw_allocator *const memory = &htw__default_allocator;

struct item {
    struct htw__heap_node node;
    uint64_t key;
};

static struct item items[NODES];

static const struct item *item_of(const struct htw__heap_node *node) {
    return (const struct item *)(const void *)node; /* its first member */
}

static bool precedes(const struct htw__heap_node *a, const struct htw__heap_node *b) {
    uint64_t left = item_of(a)->key, right = item_of(b)->key;
    return left < right || (left == right && a < b);
}

static struct htw__heap make(size_t room) {
    struct htw__heap heap;
    htw__heap_init(&heap, precedes);
    assert_int_equal(htw__heap_reserve(&heap, memory, room), 0);
    return heap;
}

static void empty(struct htw__heap *heap) {
    for (struct htw__heap_node *node; (node = htw__heap_first(heap)) != NULL;)
        htw__heap_remove(heap, node);
    htw__heap_fini(heap, memory);
    assert_int_equal(htw__heap_memory(heap), 0);
}

static struct htw__heap_node *first_by_search(void) {
    struct htw__heap_node *first = NULL;
    for (size_t i = 0; i < NODES; i++)
        if (items[i].node.place != 0 && (first == NULL || precedes(&items[i].node, first)))
            first = &items[i].node;
    return first;
}

UNIT_TEST(heap_in_random_use_agrees_with_a_search) {
    struct random_source source = { 11 };
    struct htw__heap heap = make(NODES);
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[random_below(&source, NODES)];
        if (item->node.place != 0) {
            htw__heap_remove(&heap, &item->node);
            assert_int_equal(item->node.place, 0);
        } else {
            item->key = random_below(&source, 20);
            htw__heap_push(&heap, &item->node);
        }
        assert_ptr_equal(htw__heap_first(&heap), first_by_search());
    }
    empty(&heap);
}

UNIT_TEST(heap_sorted_is_in_order_and_still_a_heap) {
    struct random_source source = { 12 };
    struct htw__heap heap = make(NODES);
    for (uint32_t count = 0; count <= 33; count++) {
        while (heap.count < count) {
            struct item *item = &items[random_below(&source, NODES)];
            item->key = item->node.place != 0 ? item->key : random_below(&source, 10);
            if (item->node.place == 0)
                htw__heap_push(&heap, &item->node);
        }
        htw__heap_sort(&heap);
        assert_int_equal(heap.count, count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(heap.nodes[i]->place, i + 1);
            assert_true(i == 0 || precedes(heap.nodes[i - 1], heap.nodes[i]));
        }
        assert_ptr_equal(htw__heap_first(&heap), first_by_search());
    }
    empty(&heap);
}

UNIT_TEST(heap_grown_keeps_its_nodes) {
    struct htw__heap heap = make(1);
    for (size_t i = 0; i < NODES; i++) {
        items[i].key = NODES - i;
        assert_int_equal(htw__heap_reserve(&heap, memory, i + 1), 0);
        htw__heap_push(&heap, &items[i].node);
        assert_ptr_equal(htw__heap_first(&heap), &items[i].node);
    }
    assert_true(htw__heap_memory(&heap) >= NODES * sizeof(void *));
    uint32_t room = heap.room;
    assert_int_equal(htw__heap_reserve(&heap, memory, 1), 0);
    assert_int_equal(heap.room, room);
    empty(&heap);
}

static void *refuse(void *context, size_t size, size_t alignment) {
    (void)context, (void)size, (void)alignment;
    return NULL;
}

UNIT_TEST(heap_refused_memory_is_as_before) {
    const struct htw_allocator refusing = { .allocate = refuse };
    struct htw__heap heap = make(1);
    htw__heap_push(&heap, &items[0].node);
    uint32_t room = heap.room;
    assert_int_equal(htw__heap_reserve(&heap, &refusing, room + 1), -ENOMEM);
    assert_int_equal(htw__heap_reserve(&heap, memory, SIZE_MAX), -ENOMEM);
    assert_int_equal(heap.room, room);
    assert_ptr_equal(htw__heap_first(&heap), &items[0].node);
    empty(&heap);
}
