/* SPDX-License-Identifier: MIT */
/* value_tree.c - the requests of a threshold, ordered by value: a treap. */
#include "value_tree.h"

#include "../base/random.h"

/* Arrivals that follow each other get priorities that do not. */
static uint64_t priority(const struct htw__value_tree *tree,
                         const struct htw__threshold_node *node) {
    return htw__random_mix((node->_arrival + tree->seed) * HTW__RANDOM_STEP);
}

static struct htw__threshold_node **place_of(struct htw__value_tree *tree,
                                             const struct htw__threshold_node *node) {
    struct htw__threshold_node *parent = node->_parent;
    if (parent == NULL)
        return &tree->root;
    return parent->_left == node ? &parent->_left : &parent->_right;
}

static void set_child(struct htw__threshold_node *parent, struct htw__threshold_node **place,
                      struct htw__threshold_node *child) {
    *place = child;
    if (child != NULL)
        child->_parent = parent;
}

/* Rotation: the node and its parent change places. */
static void rotate_up(struct htw__value_tree *tree, struct htw__threshold_node *node) {
    struct htw__threshold_node *parent = node->_parent, *above = parent->_parent;
    struct htw__threshold_node **place = place_of(tree, parent);
    if (parent->_left == node) {
        set_child(parent, &parent->_left, node->_right);
        set_child(node, &node->_right, parent);
    } else {
        set_child(parent, &parent->_right, node->_left);
        set_child(node, &node->_left, parent);
    }
    set_child(above, place, node);
}

void htw__value_tree_add(struct htw__value_tree *tree, struct htw__threshold_node *node,
                         uint64_t value) {
    struct htw__threshold_node **place = &tree->root, *parent = NULL;
    while (*place != NULL) {
        parent = *place; /* equal values: behind the others */
        place = value < parent->_value ? &parent->_left : &parent->_right;
    }
    *node = (struct htw__threshold_node) { ._value = value, ._arrival = ++tree->arrivals };
    set_child(parent, place, node);
    uint64_t own = priority(tree, node);
    while (node->_parent != NULL && own > priority(tree, node->_parent))
        rotate_up(tree, node);
}

void htw__value_tree_remove(struct htw__value_tree *tree, struct htw__threshold_node *node) {
    if (node->_arrival == 0)
        return;
    while (node->_left != NULL && node->_right != NULL)
        rotate_up(tree, priority(tree, node->_left) > priority(tree, node->_right) ? node->_left
                                                                                   : node->_right);
    set_child(node->_parent, place_of(tree, node),
              node->_left != NULL ? node->_left : node->_right);
    node->_arrival = 0;
}

struct htw__threshold_node *htw__value_tree_after(const struct htw__value_tree *tree,
                                                  uint64_t value, uint64_t arrival) {
    struct htw__threshold_node *found = NULL;
    for (struct htw__threshold_node *node = tree->root; node != NULL;) {
        bool is_behind =
            node->_value > value || (node->_value == value && node->_arrival > arrival);
        if (is_behind)
            found = node;
        node = is_behind ? node->_left : node->_right;
    }
    return found;
}
