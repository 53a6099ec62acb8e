/* SPDX-License-Identifier: MIT */
/* delay_queue.c - which bucket is next: a bitmap for the lowest level, a heap for the others. */
#include "delay_queue.h"

#include "../base/annotate.h"

#include <errno.h>
#include <string.h>

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t near_count) {
    *queue = (struct htw__delay_queue) {
        .near_count = near_count,
        .first_near = HTW__DELAY_QUEUE_ABSENT,
    };
    htw__heap_init(&queue->far);
}

static size_t keys_bytes(uint32_t capacity) {
    return capacity * sizeof(uint64_t);
}

void htw__delay_queue_fini(struct htw__delay_queue *queue, const struct htw_allocator *allocator) {
    htw__release(allocator, queue->keys, keys_bytes(queue->capacity));
    htw__heap_fini(&queue->far, allocator);
}

int htw__delay_queue_reserve(struct htw__delay_queue *queue, const struct htw_allocator *allocator,
                             uint32_t capacity) {
    if (capacity <= queue->capacity)
        return 0;
    uint64_t *keys = htw__allocate(allocator, keys_bytes(capacity));
    if (keys == NULL)
        return -ENOMEM;
    int error =
        capacity > queue->near_count ? htw__heap_reserve(&queue->far, allocator, capacity) : 0;
    if (error != 0) {
        htw__release(allocator, keys, keys_bytes(capacity));
        return error;
    }
    HTW__ANNOTATE_IGNORE_BEGIN();
    if (queue->capacity > 0)
        memcpy(keys, queue->keys, keys_bytes(queue->capacity));
    for (uint32_t id = queue->capacity; id < capacity; id++)
        keys[id] = HTW__DELAY_QUEUE_ABSENT;
    HTW__ANNOTATE_IGNORE_END();
    htw__release(allocator, queue->keys, keys_bytes(queue->capacity));
    queue->keys = keys;
    queue->capacity = capacity;
    return 0;
}

uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue) {
    return htw__bitmap_count(&queue->near) + queue->far.count;
}

size_t htw__delay_queue_memory(const struct htw__delay_queue *queue) {
    return keys_bytes(queue->capacity) + htw__heap_memory(&queue->far);
}

void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id, uint64_t deadline) {
    queue->keys[id] = deadline;
    if (id >= queue->near_count) {
        htw__heap_lower(&queue->far, deadline, id);
        return;
    }
    htw__bitmap_add(&queue->near, id);
    if (deadline < queue->first_near)
        queue->first_near = deadline;
}

/* All other near keys are less than a window later than the removed one, so in cyclic order. */
static void pop_near(struct htw__delay_queue *queue, uint32_t id) {
    htw__bitmap_remove(&queue->near, id);
    uint32_t next = htw__bitmap_next(&queue->near, id);
    queue->first_near = next == HTW__BITMAP_NONE ? HTW__DELAY_QUEUE_ABSENT : queue->keys[next];
}

void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    uint32_t id = htw__delay_queue_top_id(queue);
    queue->keys[id] = HTW__DELAY_QUEUE_ABSENT;
    if (id >= queue->near_count)
        htw__heap_pop(&queue->far);
    else
        pop_near(queue, id);
}

static bool near_is_valid(const struct htw__delay_queue *queue) {
    uint64_t first = HTW__DELAY_QUEUE_ABSENT;
    if (!htw__bitmap_is_valid(&queue->near, queue->near_count))
        return false;
    for (uint32_t id = 0; id < queue->near_count; id++) {
        if (htw__bitmap_has(&queue->near, id) != (queue->keys[id] != HTW__DELAY_QUEUE_ABSENT))
            return false;
        if (queue->keys[id] < first)
            first = queue->keys[id];
    }
    return first == queue->first_near;
}

bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue) {
    if (!htw__heap_is_valid(&queue->far)) /* its ids are valid from here on */
        return false;
    uint32_t present = 0;
    for (uint32_t id = queue->near_count; id < queue->capacity; id++)
        present += queue->keys[id] != HTW__DELAY_QUEUE_ABSENT;
    bool agree = present == queue->far.count;
    for (uint32_t i = 0; agree && i < queue->far.count; i++)
        agree = queue->keys[queue->far.entries[i].id] == queue->far.entries[i].key;
    return agree && near_is_valid(queue);
}
