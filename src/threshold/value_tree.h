/* SPDX-License-Identifier: MIT */
/*
 * value_tree.h - the requests of a threshold, ordered by the values that they wait for, and then by
 * arrival.
 *
 * A treap: a search tree in which each node has a random priority that is not greater than its
 * parent's. So the depth is logarithmic for every order of insertion. The nodes are part of the
 * requests; nothing is allocated.
 *
 * All calls under the lock of the threshold.
 */
#ifndef HTW_SRC_THRESHOLD_VALUE_TREE_H
#define HTW_SRC_THRESHOLD_VALUE_TREE_H

#include <htw/purgatory.h>

struct htw__value_tree {
    struct htw__threshold_node *root; /* NULL: empty */
    uint64_t arrivals;                /* how many nodes were added: the number of the last one */
    uint64_t seed;                    /* of the priorities, so that no user can choose them */
};

/* Adds a node that is in no tree. O(log nodes). */
void htw__value_tree_add(struct htw__value_tree *tree, struct htw__threshold_node *node,
                         uint64_t value);

/* Removes a node, if it is in the tree. O(log nodes). */
void htw__value_tree_remove(struct htw__value_tree *tree, struct htw__threshold_node *node);

/* The first node behind a value and an arrival, in the order of the tree; all are behind (0, 0).
   NULL: there is none. O(log nodes). */
struct htw__threshold_node *htw__value_tree_after(const struct htw__value_tree *tree,
                                                  uint64_t value, uint64_t arrival);

#endif /* HTW_SRC_THRESHOLD_VALUE_TREE_H */
