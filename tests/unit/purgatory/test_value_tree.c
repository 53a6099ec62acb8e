/* SPDX-License-Identifier: MIT */
/* test_value_tree.c - the tree of a threshold, compared with a sorted array. */
/* holds: purgatory-11 */
#include "../../../src/purgatory/value_tree.h"

#include "../../support/random.h"
#include "../unit.h"

enum { NODES = 4096 };

static struct htw__threshold_node nodes[NODES];

/* All nodes in order, without the tree's help; each must lead back to its parent. */
static size_t collect(const struct htw__threshold_node *node,
                      const struct htw__threshold_node *parent,
                      const struct htw__threshold_node **list, size_t depth, size_t *ret_depth) {
    if (node == NULL)
        return 0;
    assert_ptr_equal(node->_parent, parent);
    if (depth > *ret_depth)
        *ret_depth = depth;
    size_t count = collect(node->_left, node, list, depth + 1, ret_depth);
    list[count++] = node;
    return count + collect(node->_right, node, list + count, depth + 1, ret_depth);
}

/* Checks the order, and that a walk finds the same. Returns the depth. */
static size_t check(const struct htw__value_tree *tree, size_t count) {
    static const struct htw__threshold_node *list[NODES];
    size_t depth = 0;
    assert_int_equal(collect(tree->root, NULL, list, 1, &depth), count);
    const struct htw__threshold_node *node = htw__value_tree_after(tree, 0, 0);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(node, list[i]);
        if (i > 0)
            assert_true(
                list[i - 1]->_value < node->_value ||
                (list[i - 1]->_value == node->_value && list[i - 1]->_arrival < node->_arrival));
        node = htw__value_tree_after(tree, node->_value, node->_arrival);
    }
    assert_null(node);
    return depth;
}

UNIT_TEST(value_tree_with_any_history_stays_in_order) {
    static const uint64_t ranges[] = { 1, 5, 300, UINT64_MAX };
    struct random_source random = { 20260201 };
    for (unsigned i = 0; i < 4; i++) {
        struct htw__value_tree tree = { .seed = random_next(&random) };
        size_t count = 0;
        for (unsigned step = 0; step < 20000; step++) {
            struct htw__threshold_node *node = &nodes[random_below(&random, 600)];
            if (node->_arrival == 0) {
                htw__value_tree_add(&tree, node, random_below(&random, ranges[i]));
                count++;
            } else {
                htw__value_tree_remove(&tree, node);
                assert_int_equal(node->_arrival, 0);
                count--;
            }
            if (step % 50 == 0)
                check(&tree, count);
        }
        for (unsigned n = 0; n < 600; n++)
            htw__value_tree_remove(&tree, &nodes[n]);
        assert_null(tree.root);
    }
}

/* 12 levels would be perfect; a random tree has some 28 at most. */
UNIT_TEST(value_tree_of_ordered_values_is_not_deep) {
    for (unsigned i = 0; i < 3; i++) { /* ascending, descending, all equal */
        struct htw__value_tree tree = { .seed = i };
        for (unsigned n = 0; n < NODES; n++)
            htw__value_tree_add(&tree, &nodes[n], i == 0 ? n : i == 1 ? NODES - n : 7);
        assert_in_range(check(&tree, NODES), 13, 40);
        for (unsigned n = 0; n < NODES / 2; n++)
            htw__value_tree_remove(&tree, &nodes[n]);
        assert_in_range(check(&tree, NODES / 2), 12, 40);
        for (unsigned n = NODES / 2; n < NODES; n++)
            htw__value_tree_remove(&tree, &nodes[n]);
    }
}
