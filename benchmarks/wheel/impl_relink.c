/* SPDX-License-Identifier: MIT */
/*
 * impl_relink.c - unlinks a list node and links it into another of 256 lists, and nothing else:
 * about the least that a wheel with lists can cost.
 */
#include "implementations.h"

#include <stdlib.h>

#define LISTS 256u

struct node {
    struct node *next, *previous;
};

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity, (void)tally;
    struct node *lists = malloc(LISTS * sizeof(*lists));
    for (size_t i = 0; lists != NULL && i < LISTS; i++)
        lists[i].next = lists[i].previous = &lists[i];
    return lists;
}

static void init(void *self, void *timer) {
    (void)self, (void)timer;
}

static void schedule(void *self, void *timer, uint64_t deadline) {
    struct node *list = (struct node *)self + (deadline >> 8) % LISTS;
    struct node *node = timer;
    node->next = list->next;
    node->previous = list;
    list->next->previous = node;
    list->next = node;
}

static void cancel(void *self, void *timer) {
    (void)self;
    struct node *node = timer;
    node->next->previous = node->previous;
    node->previous->next = node->next;
}

static void move(void *self, void *timer, uint64_t deadline) {
    cancel(self, timer);
    schedule(self, timer, deadline);
}

static void advance(void *self, uint64_t now) {
    (void)self, (void)now;
}

const struct bench_implementation bench_relink = {
    .name = "relink",
    .about = "bare relinking of a list node among 256 lists: about the least for a wheel",
    .timer_size =
        48, /* the node is 16 of these; a cache line with the record, as for most others */
    .counts_only = true,
    .create = create,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = move,
    .advance = advance,
};
