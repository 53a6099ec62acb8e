/* SPDX-License-Identifier: MIT */
/* list.c - a ring whose size is a power of two. */
#include "list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 4

struct item *item_create(const void *bytes, size_t size) {
    struct item *item = malloc(sizeof(*item) + size);
    if (item == NULL)
        return NULL;
    item->size = size;
    if (size > 0)
        memcpy(item->bytes, bytes, size);
    return item;
}

size_t item_cost(const struct item *item) {
    return block_cost(sizeof(*item) + item->size);
}

static struct item **place(const struct list *list, size_t index) {
    return &list->items[(list->first + index) & (list->capacity - 1)];
}

/* Moves the items to a ring of `capacity`, which must be large enough. */
static bool resize(struct list *list, size_t capacity) {
    struct item **items = malloc(capacity * sizeof(*items));
    if (items == NULL)
        return false;
    for (size_t i = 0; i < list->count; i++)
        items[i] = *place(list, i);
    free(list->items);
    *list = (struct list) { .items = items, .count = list->count, .capacity = capacity };
    return true;
}

bool list_reserve(struct list *list, size_t more) {
    size_t capacity = list->capacity == 0 ? CAPACITY_MIN : list->capacity;
    while (capacity - list->count < more && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    return capacity == list->capacity || resize(list, capacity);
}

void list_push(struct list *list, enum list_end end, struct item *item) {
    if (end == LIST_LEFT)
        list->first = (list->first - 1) & (list->capacity - 1);
    list->count++;
    *place(list, end == LIST_LEFT ? 0 : list->count - 1) = item;
}

struct item *list_pop(struct list *list, enum list_end end) {
    struct item *item = *place(list, end == LIST_LEFT ? 0 : list->count - 1);
    list->count--;
    if (end == LIST_LEFT)
        list->first = (list->first + 1) & (list->capacity - 1);
    if (list->capacity > 64 && list->count < list->capacity / 8)
        resize(list, list->capacity / 2); /* without memory for that, it keeps its size */
    return item;
}

const struct item *list_at(const struct list *list, size_t index) {
    return *place(list, index);
}

size_t list_cost(const struct list *list) {
    return list->capacity == 0 ? 0 : block_cost(list->capacity * sizeof(*list->items));
}

void list_fini(struct list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(*place(list, i));
    free(list->items);
    *list = (struct list) { .items = NULL };
}
