/* SPDX-License-Identifier: MIT */
/* due.c - a binary heap of records that are due. */
#include "due.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int htw__due_reserve(struct htw__due *self, size_t count) {
    if (count <= self->room)
        return 0;
    size_t room = count < 64 ? 64 : count + count / 2;
    struct htw__due_node **nodes = realloc(self->nodes, room * sizeof(struct htw__due_node *));
    if (nodes == NULL)
        return -ENOMEM;
    self->nodes = nodes;
    self->room = room;
    return 0;
}

void htw__due_fini(struct htw__due *self) {
    free(self->nodes);
    *self = (struct htw__due) { NULL, 0, 0 };
}

static bool precedes(const struct htw__due_node *a, const struct htw__due_node *b) {
    return a->deadline_ms < b->deadline_ms ||
           (a->deadline_ms == b->deadline_ms && a->offset < b->offset);
}

static void put(struct htw__due *self, size_t place, struct htw__due_node *node) {
    self->nodes[place] = node;
    node->place = place + 1;
}

static void sift_up(struct htw__due *self, size_t place, struct htw__due_node *node) {
    for (; place > 0 && precedes(node, self->nodes[(place - 1) / 2]); place = (place - 1) / 2)
        put(self, place, self->nodes[(place - 1) / 2]);
    put(self, place, node);
}

static void sift_down(struct htw__due *self, size_t place, struct htw__due_node *node) {
    for (size_t child; (child = 2 * place + 1) < self->count; place = child) {
        if (child + 1 < self->count && precedes(self->nodes[child + 1], self->nodes[child]))
            child++;
        if (!precedes(self->nodes[child], node))
            break;
        put(self, place, self->nodes[child]);
    }
    put(self, place, node);
}

void htw__due_push(struct htw__due *self, struct htw__due_node *node) {
    sift_up(self, self->count++, node);
}

void htw__due_remove(struct htw__due *self, struct htw__due_node *node) {
    size_t place = node->place - 1;
    struct htw__due_node *last = self->nodes[--self->count];
    node->place = 0;
    if (last == node)
        return;
    if (place > 0 && precedes(last, self->nodes[(place - 1) / 2]))
        sift_up(self, place, last);
    else
        sift_down(self, place, last);
}

struct htw__due_node *htw__due_first(const struct htw__due *self) {
    return self->count > 0 ? self->nodes[0] : NULL;
}
