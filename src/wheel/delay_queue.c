/* SPDX-License-Identifier: MIT */
/* delay_queue.c - which bucket is next: a bitmap for each level, and a heap of the levels. */
#include "delay_queue.h"

#include "../base/annotate.h"

#include <errno.h>
#include <string.h>

static const struct htw__delay_queue_entry none = { HTW__DELAY_QUEUE_ABSENT, 0 };

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t bits) {
    *queue = (struct htw__delay_queue) { .bits = bits };
}

/* How many levels the ids less than `capacity` are of. */
static uint32_t level_count(const struct htw__delay_queue *queue, uint32_t capacity) {
    return (capacity + ((uint32_t)1 << queue->bits) - 1) >> queue->bits;
}

static size_t block_bytes(const struct htw__delay_queue *queue, uint32_t capacity) {
    return level_count(queue, capacity) * (sizeof(*queue->heap) + sizeof(*queue->queued)) +
           capacity * (sizeof(*queue->keys) + sizeof(*queue->since));
}

void htw__delay_queue_fini(struct htw__delay_queue *queue, const struct htw_allocator *allocator) {
    htw__release(allocator, queue->keys, block_bytes(queue, queue->capacity));
}

int htw__delay_queue_reserve(struct htw__delay_queue *queue, const struct htw_allocator *allocator,
                             uint32_t capacity) {
    if (capacity <= queue->capacity)
        return 0;
    uint64_t *keys = htw__allocate(allocator, block_bytes(queue, capacity));
    if (keys == NULL)
        return -ENOMEM;
    uint64_t *since = keys + capacity;
    struct htw__delay_queue_entry *heap = (void *)(since + capacity);
    struct htw__bitmap *queued = (void *)(heap + level_count(queue, capacity));
    HTW__ANNOTATE_IGNORE_BEGIN();
    uint32_t level = level_count(queue, queue->capacity);
    heap[0] = none;
    if (queue->capacity > 0) {
        memcpy(keys, queue->keys, queue->capacity * sizeof(*keys));
        memcpy(since, queue->since, queue->capacity * sizeof(*since));
        memcpy(heap, queue->heap, level * sizeof(*heap));
        memcpy(queued, queue->queued, level * sizeof(*queued));
    }
    for (uint32_t id = queue->capacity; id < capacity; id++)
        keys[id] = HTW__DELAY_QUEUE_ABSENT;
    for (; level < level_count(queue, capacity); level++)
        queued[level] = (struct htw__bitmap) { 0 };
    HTW__ANNOTATE_IGNORE_END();
    htw__delay_queue_fini(queue, allocator);
    queue->keys = keys;
    queue->since = since;
    queue->heap = heap;
    queue->queued = queued;
    queue->capacity = capacity;
    return 0;
}

uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue) {
    uint32_t count = 0;
    for (uint32_t level = 0; level < level_count(queue, queue->capacity); level++)
        count += htw__bitmap_count(&queue->queued[level]);
    return count;
}

size_t htw__delay_queue_memory(const struct htw__delay_queue *queue) {
    return block_bytes(queue, queue->capacity);
}

static uint32_t level_of(const struct htw__delay_queue *queue, uint32_t id) {
    return id >> queue->bits;
}

static void put(struct htw__delay_queue *queue, uint32_t position,
                struct htw__delay_queue_entry entry) {
    queue->heap[position] = entry;
    queue->positions[level_of(queue, entry.id)] = (uint8_t)position;
}

static void sift_up(struct htw__delay_queue *queue, uint32_t position,
                    struct htw__delay_queue_entry entry) {
    while (position > 0) {
        uint32_t parent = (position - 1) / 2;
        if (!htw__delay_queue_precedes(entry, queue->heap[parent]))
            break;
        put(queue, position, queue->heap[parent]);
        position = parent;
    }
    put(queue, position, entry);
}

/* Puts an entry in place of the top. */
static void sift_down(struct htw__delay_queue *queue, struct htw__delay_queue_entry entry) {
    uint32_t position = 0;
    for (uint32_t child; (child = 2 * position + 1) < queue->heap_count; position = child) {
        if (child + 1 < queue->heap_count &&
            htw__delay_queue_precedes(queue->heap[child + 1], queue->heap[child]))
            child++;
        if (htw__delay_queue_precedes(entry, queue->heap[child]))
            break;
        put(queue, position, queue->heap[child]);
    }
    put(queue, position, entry);
}

HTW__NOINLINE void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment) {
    uint32_t level = level_of(queue, id);
    struct htw__bitmap *queued = &queue->queued[level];
    bool is_first = queued->summary == 0;
    if (queue->keys[id] == HTW__DELAY_QUEUE_ABSENT) {
        queue->since[id] = moment;
        htw__bitmap_add(queued, id - (level << queue->bits));
    }
    queue->keys[id] = deadline;
    uint32_t position = is_first ? queue->heap_count++ : queue->positions[level];
    if (is_first || deadline < queue->heap[position].key)
        sift_up(queue, position, (struct htw__delay_queue_entry) { deadline, id });
}

/* All other keys of its level are less than a window later than the removed one, so in cyclic order. */
HTW__NOINLINE void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    uint32_t id = queue->heap[0].id;
    uint32_t level = level_of(queue, id);
    uint32_t first_id = level << queue->bits;
    struct htw__bitmap *queued = &queue->queued[level];
    queue->keys[id] = HTW__DELAY_QUEUE_ABSENT;
    htw__bitmap_remove(queued, id - first_id);
    struct htw__delay_queue_entry entry;
    if (queued->summary != 0) {
        id = first_id + htw__bitmap_next(queued, id - first_id);
        entry = (struct htw__delay_queue_entry) { queue->keys[id], id };
    } else if (--queue->heap_count > 0) {
        entry = queue->heap[queue->heap_count];
    } else {
        entry = none;
    }
    sift_down(queue, entry);
}

/* Whether bitmap and keys of a level agree, and its first bucket is in the heap. */
static bool level_is_valid(const struct htw__delay_queue *queue, uint32_t level) {
    const struct htw__bitmap *queued = &queue->queued[level];
    uint32_t first_id = level << queue->bits;
    uint32_t count = (uint32_t)1 << queue->bits;
    if (count > queue->capacity - first_id)
        count = queue->capacity - first_id;
    if (!htw__bitmap_is_valid(queued, count))
        return false;
    struct htw__delay_queue_entry first = none;
    for (uint32_t id = first_id; id < first_id + count; id++) {
        uint64_t key = queue->keys[id];
        if (htw__bitmap_has(queued, id - first_id) != (key != HTW__DELAY_QUEUE_ABSENT))
            return false;
        if (key < first.key)
            first = (struct htw__delay_queue_entry) { key, id };
    }
    if (first.key == HTW__DELAY_QUEUE_ABSENT)
        return true;
    uint32_t position = queue->positions[level];
    return position < queue->heap_count && queue->heap[position].key == first.key &&
           queue->heap[position].id == first.id;
}

bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue) {
    uint32_t levels_in_use = 0;
    for (uint32_t level = 0; level < level_count(queue, queue->capacity); level++) {
        if (!level_is_valid(queue, level))
            return false;
        levels_in_use += queue->queued[level].summary != 0;
    }
    for (uint32_t i = 1; i < queue->heap_count; i++)
        if (htw__delay_queue_precedes(queue->heap[i], queue->heap[(i - 1) / 2]))
            return false;
    return levels_in_use == queue->heap_count &&
           (levels_in_use > 0 || queue->heap[0].key == HTW__DELAY_QUEUE_ABSENT);
}
