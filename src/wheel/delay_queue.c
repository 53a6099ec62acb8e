/* SPDX-License-Identifier: MIT */
/* delay_queue.c - which bucket is next: a bitmap for each level. */
#include "delay_queue.h"

#include "../base/annotate.h"

#include <errno.h>
#include <string.h>

static const struct htw__delay_queue_entry none = { HTW__DELAY_QUEUE_ABSENT, 0 };

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t bits) {
    *queue = (struct htw__delay_queue) { .top = none, .far = none, .bits = bits };
}

/* How many levels the ids less than `capacity` are of. */
static uint32_t level_count(const struct htw__delay_queue *queue, uint32_t capacity) {
    return (capacity + ((uint32_t)1 << queue->bits) - 1) >> queue->bits;
}

static size_t block_bytes(const struct htw__delay_queue *queue, uint32_t capacity) {
    return level_count(queue, capacity) * sizeof(struct htw__delay_queue_level) +
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
    struct htw__delay_queue_level *levels = (void *)(since + capacity);
    HTW__ANNOTATE_IGNORE_BEGIN();
    uint32_t level = level_count(queue, queue->capacity);
    if (queue->capacity > 0) {
        memcpy(keys, queue->keys, queue->capacity * sizeof(*keys));
        memcpy(since, queue->since, queue->capacity * sizeof(*since));
        memcpy(levels, queue->levels, level * sizeof(*levels));
    }
    for (uint32_t id = queue->capacity; id < capacity; id++)
        keys[id] = HTW__DELAY_QUEUE_ABSENT;
    for (; level < level_count(queue, capacity); level++)
        levels[level] = (struct htw__delay_queue_level) { .first = HTW__DELAY_QUEUE_ABSENT };
    HTW__ANNOTATE_IGNORE_END();
    htw__delay_queue_fini(queue, allocator);
    queue->keys = keys;
    queue->since = since;
    queue->levels = levels;
    queue->capacity = capacity;
    return 0;
}

uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue) {
    uint32_t count = 0;
    for (uint32_t level = 0; level < level_count(queue, queue->capacity); level++)
        count += htw__bitmap_count(&queue->levels[level].queued);
    return count;
}

size_t htw__delay_queue_memory(const struct htw__delay_queue *queue) {
    return block_bytes(queue, queue->capacity);
}

HTW__NOINLINE void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment) {
    uint32_t level = id >> queue->bits;
    struct htw__delay_queue_level *of = &queue->levels[level];
    if (queue->keys[id] == HTW__DELAY_QUEUE_ABSENT) {
        queue->since[id] = moment;
        htw__bitmap_add(&of->queued, id - (level << queue->bits));
    }
    queue->keys[id] = deadline;
    if (deadline >= of->first)
        return;
    of->first = deadline;
    struct htw__delay_queue_entry entry = { deadline, id };
    if (level > 0) {
        queue->levels_in_use |= (uint64_t)1 << level;
        if (htw__delay_queue_precedes(entry, queue->far))
            queue->far = entry;
    }
    if (htw__delay_queue_precedes(entry, queue->top))
        queue->top = entry;
}

/* The first bucket of a level; its key says which it is. */
static struct htw__delay_queue_entry first_of(const struct htw__delay_queue *queue,
                                              uint32_t level) {
    uint64_t key = queue->levels[level].first;
    uint32_t mask = ((uint32_t)1 << queue->bits) - 1;
    uint32_t slot = (uint32_t)(key >> (level * queue->bits)) & mask;
    return (struct htw__delay_queue_entry) { key, level << queue->bits | slot };
}

static struct htw__delay_queue_entry first_far(const struct htw__delay_queue *queue) {
    struct htw__delay_queue_entry first = none;
    for (uint64_t rest = queue->levels_in_use; rest != 0; rest &= rest - 1) {
        struct htw__delay_queue_entry entry = first_of(queue, htw__lowest_bit(rest));
        if (htw__delay_queue_precedes(entry, first))
            first = entry;
    }
    return first;
}

static struct htw__delay_queue_entry first_of_all(const struct htw__delay_queue *queue) {
    if (queue->far.key <= queue->levels[0].first)
        return queue->far;
    return first_of(queue, 0);
}

/* All other keys of its level are less than a window later than the removed one, so in cyclic order. */
HTW__NOINLINE void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    uint32_t id = queue->top.id;
    uint32_t level = id >> queue->bits;
    uint32_t first_id = level << queue->bits;
    struct htw__delay_queue_level *of = &queue->levels[level];
    queue->keys[id] = HTW__DELAY_QUEUE_ABSENT;
    htw__bitmap_remove(&of->queued, id - first_id);
    if (of->queued.summary == 0) {
        of->first = HTW__DELAY_QUEUE_ABSENT;
        queue->levels_in_use &= ~((uint64_t)1 << level);
    } else {
        of->first = queue->keys[first_id + htw__bitmap_next(&of->queued, id - first_id)];
    }
    if (level > 0)
        queue->far = first_far(queue);
    queue->top = first_of_all(queue);
}

/* Whether bitmap and keys of a level agree, and its first key is the earliest one. */
static bool level_is_valid(const struct htw__delay_queue *queue, uint32_t level) {
    const struct htw__delay_queue_level *of = &queue->levels[level];
    uint32_t first_id = level << queue->bits;
    uint32_t count = (uint32_t)1 << queue->bits;
    if (count > queue->capacity - first_id)
        count = queue->capacity - first_id;
    if (!htw__bitmap_is_valid(&of->queued, count))
        return false;
    struct htw__delay_queue_entry first = none;
    for (uint32_t id = first_id; id < first_id + count; id++) {
        uint64_t key = queue->keys[id];
        if (htw__bitmap_has(&of->queued, id - first_id) != (key != HTW__DELAY_QUEUE_ABSENT))
            return false;
        if (key < first.key)
            first = (struct htw__delay_queue_entry) { key, id };
    }
    bool is_in_use =
        level == 0 ? of->first != HTW__DELAY_QUEUE_ABSENT : queue->levels_in_use >> level & 1;
    return first.key == of->first && is_in_use == (first.key != HTW__DELAY_QUEUE_ABSENT) &&
           (!is_in_use || first_of(queue, level).id == first.id);
}

static bool are_same(struct htw__delay_queue_entry a, struct htw__delay_queue_entry b) {
    return a.key == b.key && (a.key == HTW__DELAY_QUEUE_ABSENT || a.id == b.id);
}

bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue) {
    uint32_t count = level_count(queue, queue->capacity);
    if (count < 64 && queue->levels_in_use >> count != 0)
        return false;
    for (uint32_t level = 0; level < count; level++)
        if (!level_is_valid(queue, level))
            return false;
    return are_same(queue->far, first_far(queue)) && are_same(queue->top, first_of_all(queue));
}
