/* SPDX-License-Identifier: MIT */
/* test_value_tree.c - the tree of a threshold is not deep. In which order it gives requests, the model tells. */
#include "../../../src/threshold/value_tree.h"

#include "../unit.h"

enum { NODES = 4096 };

static struct htw__threshold_node nodes[NODES];

static size_t depth_of(const struct htw__threshold_node *node) {
    if (node == NULL)
        return 0;
    size_t left = depth_of(node->_left), right = depth_of(node->_right);
    return 1 + (left > right ? left : right);
}

/* 12 levels would be perfect; a random tree has some 28 at most. */
UNIT_TEST(value_tree_of_ordered_values_is_not_deep) {
    for (unsigned i = 0; i < 3; i++) { /* ascending, descending, all equal */
        struct htw__value_tree tree = { .seed = i };
        for (unsigned n = 0; n < NODES; n++)
            htw__value_tree_add(&tree, &nodes[n], i == 0 ? n : i == 1 ? NODES - n : 7);
        assert_in_range(depth_of(tree.root), 13, 40);
        for (unsigned n = 0; n < NODES / 2; n++)
            htw__value_tree_remove(&tree, &nodes[n]);
        assert_in_range(depth_of(tree.root), 12, 40);
        for (unsigned n = NODES / 2; n < NODES; n++)
            htw__value_tree_remove(&tree, &nodes[n]);
    }
}
