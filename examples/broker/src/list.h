/* SPDX-License-Identifier: MIT */
/* list.h - a list of items, open at both ends: a ring of pointers. */
#ifndef BROKER_LIST_H
#define BROKER_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* A value. Its bytes never change. */
struct item {
    size_t size;
    char bytes[];
};

/* The memory of a malloc() of `size` bytes: 8 more, a multiple of 16, at least 32. */
static inline size_t block_cost(size_t size) {
    return size <= 24 ? 32 : (size + 8 + 15) & ~(size_t)15;
}

/* Returns NULL if there is no memory. */
struct item *item_create(const void *bytes, size_t size);

/* The memory of an item. */
size_t item_cost(const struct item *item);

enum list_end { LIST_LEFT, LIST_RIGHT };

/* A zeroed list is empty. */
struct list {
    struct item **items;
    size_t first;
    size_t count;
    size_t capacity; /* 0 or a power of two */
};

/* Makes room for `more` items. Returns false if there is no memory. */
bool list_reserve(struct list *list, size_t more);

/* There must be room; see list_reserve(). The list owns the item. */
void list_push(struct list *list, enum list_end end, struct item *item);

/* The list must not be empty. The caller owns the item. */
struct item *list_pop(struct list *list, enum list_end end);

/* `index` counts from the left and is less than `count`. */
const struct item *list_at(const struct list *list, size_t index);

/* The memory of the list, without its items. */
size_t list_cost(const struct list *list);

/* Frees the items, too. */
void list_fini(struct list *list);

#endif /* BROKER_LIST_H */
