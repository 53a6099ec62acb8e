/* SPDX-License-Identifier: MIT */
/* test_due.c - the heap of what is due, beside a search from end to end. */
#include "../../../src/relay/due.h"

#include "../../support/random.h"
#include "../unit.h"

#define NODES 200

static struct htw__due_node nodes[NODES];

static struct htw__due_node *first_by_search(void) {
    struct htw__due_node *first = NULL;
    for (size_t i = 0; i < NODES; i++)
        if (nodes[i].place != 0 &&
            (first == NULL || nodes[i].deadline_ms < first->deadline_ms ||
             (nodes[i].deadline_ms == first->deadline_ms && nodes[i].offset < first->offset)))
            first = &nodes[i];
    return first;
}

UNIT_TEST(due_first_is_the_earliest_and_then_the_lowest_offset) {
    struct random_source source = { 11 };
    struct htw__due due = { NULL, 0, 0 };
    assert_int_equal(htw__due_reserve(&due, NODES), 0);
    for (int step = 0; step < 20000; step++) {
        struct htw__due_node *node = &nodes[random_below(&source, NODES)];
        if (node->place != 0) {
            htw__due_remove(&due, node);
            assert_int_equal(node->place, 0);
        } else {
            node->deadline_ms = (int64_t)random_below(&source, 20);
            node->offset = node - nodes;
            htw__due_push(&due, node);
        }
        assert_ptr_equal(htw__due_first(&due), first_by_search());
    }
    htw__due_fini(&due);
}
