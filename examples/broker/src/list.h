/* SPDX-License-Identifier: MIT */
/* list.h - items in a row, open at both ends: a ring of pointers. */
#ifndef BROKER_LIST_H
#define BROKER_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that do not change: a value. */
struct item {
    size_t size;
    char bytes[];
};

/* What malloc() takes for so many bytes: 8 more, in multiples of 16, and 32 at least. */
static inline size_t block_cost(size_t size) {
    return size <= 24 ? 32 : (size + 8 + 15) & ~(size_t)15;
}

/* NULL: no memory. */
struct item *item_create(const void *bytes, size_t size);

/* What an item takes. */
size_t item_cost(const struct item *item);

enum list_end { LIST_LEFT, LIST_RIGHT };

/* Zeroed, it is empty. */
struct list {
    struct item **items;
    size_t first;
    size_t count;
    size_t capacity; /* 0 or a power of two */
};

/* Makes sure that the next `more` pushes cannot fail; false: no memory. */
bool list_reserve(struct list *list, size_t more);

/* There must be room. */
void list_push(struct list *list, enum list_end end, struct item *item);

/* There must be an item; it is the caller's. */
struct item *list_pop(struct list *list, enum list_end end);

/* `index` counts from the left and is less than `count`. */
const struct item *list_at(const struct list *list, size_t index);

/* What the list takes, besides its items. */
size_t list_cost(const struct list *list);

/* Frees the items, too. */
void list_fini(struct list *list);

#endif /* BROKER_LIST_H */
