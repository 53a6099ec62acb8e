/* SPDX-License-Identifier: MIT */
/*
 * due.h - the records of a loaded bucket whose time has come, in order of (deadline, offset).
 *
 * The wheel hands out timers that were due when they were armed in the order of arming. The progress of
 * a bucket needs the order of the deadlines, always. So what is due goes through this heap.
 */
#ifndef HTW_SRC_RELAY_DUE_H
#define HTW_SRC_RELAY_DUE_H

#include <stddef.h>
#include <stdint.h>

/* Embedded in what is ordered. All zero: not in a heap. */
struct htw__due_node {
    int64_t deadline_ms, offset; /* written before it is pushed */
    size_t place;                /* in the heap, plus 1; 0: none */
};

struct htw__due {
    struct htw__due_node **nodes;
    size_t count, room;
};

/* Makes room for `count` nodes in all. Returns 0 or -ENOMEM. All zero is an empty heap. */
int htw__due_reserve(struct htw__due *due, size_t count);
void htw__due_fini(struct htw__due *due);

/* Adds a node, for which there must be room. O(log n). */
void htw__due_push(struct htw__due *due, struct htw__due_node *node);

/* Removes a node, which must be in the heap. O(log n). */
void htw__due_remove(struct htw__due *due, struct htw__due_node *node);

/* The first node; NULL: none. */
struct htw__due_node *htw__due_first(const struct htw__due *due);

#endif /* HTW_SRC_RELAY_DUE_H */
