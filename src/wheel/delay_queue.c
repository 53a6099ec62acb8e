/* SPDX-License-Identifier: MIT */
/* delay_queue.c - which bucket is next: a bitmap for each level, and the least of the first buckets. */
#include "delay_queue.h"

#include "../base/annotate.h"

#include <errno.h>
#include <string.h>

static const struct htw__delay_queue_entry absent = { HTW__DELAY_QUEUE_ABSENT, 0 };

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t bits) {
    *queue = (struct htw__delay_queue) { .top = absent, .bits = bits };
}

/* How many levels the ids less than `capacity` are of. */
static uint32_t level_count(const struct htw__delay_queue *queue, uint32_t capacity) {
    return (capacity + ((uint32_t)1 << queue->bits) - 1) >> queue->bits;
}

static size_t block_bytes(const struct htw__delay_queue *queue, uint32_t capacity) {
    return level_count(queue, capacity) * (sizeof(*queue->first) + sizeof(*queue->later)) +
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
    struct htw__delay_queue_entry *first = (void *)(since + capacity);
    struct htw__bitmap *later = (void *)(first + level_count(queue, capacity));
    HTW__ANNOTATE_IGNORE_BEGIN();
    uint32_t level = level_count(queue, queue->capacity);
    if (queue->capacity > 0) {
        memcpy(keys, queue->keys, queue->capacity * sizeof(*keys));
        memcpy(since, queue->since, queue->capacity * sizeof(*since));
        memcpy(first, queue->first, level * sizeof(*first));
        memcpy(later, queue->later, level * sizeof(*later));
    }
    for (uint32_t id = queue->capacity; id < capacity; id++)
        keys[id] = HTW__DELAY_QUEUE_ABSENT;
    for (; level < level_count(queue, capacity); level++)
        later[level] = (struct htw__bitmap) { 0 };
    HTW__ANNOTATE_IGNORE_END();
    htw__delay_queue_fini(queue, allocator);
    queue->keys = keys;
    queue->since = since;
    queue->first = first;
    queue->later = later;
    queue->capacity = capacity;
    return 0;
}

uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue) {
    uint32_t count = htw__count_bits(queue->levels);
    for (uint32_t level = 0; level < level_count(queue, queue->capacity); level++)
        count += htw__bitmap_count(&queue->later[level]);
    return count;
}

size_t htw__delay_queue_memory(const struct htw__delay_queue *queue) {
    return block_bytes(queue, queue->capacity);
}

/*@ requires \valid_read(queue) && queue->bits <= 12;
    assigns \nothing;
    ensures \result == id >> queue->bits; */
static uint32_t level_of(const struct htw__delay_queue *queue, uint32_t id) {
    return id >> queue->bits;
}

/*@ predicate has_first(struct htw__delay_queue *queue, integer level) = \valid_read(queue->first + level) &&
        queue->first[level].id >> queue->bits == level && queue->first[level].key < HTW__DELAY_QUEUE_ABSENT;
    predicate is_first(struct htw__delay_queue *queue, struct htw__delay_queue_entry entry) =
        is_set(queue->levels, entry.id >> queue->bits) && queue->first[entry.id >> queue->bits].key == entry.key &&
        queue->first[entry.id >> queue->bits].id == entry.id; */

/* The least of the first buckets. The levels ascend, and of equal keys the last one wins. */
/*@ requires \valid_read(queue) && queue->bits <= 12;
    requires \forall integer level; 0 <= level < 64 && is_set(queue->levels, level) ==> has_first(queue, level);
    assigns \nothing;
    ensures queue->levels == 0 ==> \result.key == HTW__DELAY_QUEUE_ABSENT;
    ensures queue->levels != 0 ==> is_first(queue, \result);
    ensures \forall integer level; 0 <= level < 64 && is_set(queue->levels, level) ==> !precedes(queue->first[level], \result); */
static struct htw__delay_queue_entry least(const struct htw__delay_queue *queue) {
    struct htw__delay_queue_entry least = { HTW__DELAY_QUEUE_ABSENT, 0 };
    /*@ ghost unsigned next = 0; */
    /*@ loop invariant 0 <= next <= 64 && (next == 0 ==> rest == queue->levels);
        loop invariant \forall integer i; 0 <= i < 64 ==> (is_set(rest, i) <==> next <= i && is_set(queue->levels, i));
        loop invariant \forall integer i; 0 <= i < next && is_set(queue->levels, i) ==> !precedes(queue->first[i], least);
        loop invariant next == 0 ? least.key == HTW__DELAY_QUEUE_ABSENT : is_first(queue, least) && least.id >> queue->bits < next;
        loop assigns rest, least, next;
        loop variant 64 - next; */
    for (uint64_t rest = queue->levels; rest != 0; rest &= rest - 1) {
        unsigned level = htw__lowest_bit(rest);
        if (queue->first[level].key <= least.key)
            least = queue->first[level];
        /*@ ghost next = level + 1; */
    }
    return least;
}

/* Adds bucket `entry` to its level. */
static void add(struct htw__delay_queue *queue, struct htw__delay_queue_entry entry) {
    uint32_t level = level_of(queue, entry.id);
    struct htw__delay_queue_entry *first = &queue->first[level];
    if ((queue->levels >> level & 1) == 0) {
        queue->levels |= (uint64_t)1 << level;
    } else {
        struct htw__delay_queue_entry later = entry.key < first->key ? *first : entry;
        htw__bitmap_add(&queue->later[level], later.id - (level << queue->bits));
        if (later.id == entry.id)
            return;
    }
    *first = entry;
}

/* The key of a bucket that is not the first of its level stays later than that of the first. */
HTW__NOINLINE void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment) {
    struct htw__delay_queue_entry entry = { deadline, id };
    bool is_queued = queue->keys[id] != HTW__DELAY_QUEUE_ABSENT;
    queue->keys[id] = deadline;
    if (!is_queued) {
        queue->since[id] = moment;
        add(queue, entry);
    } else if (queue->first[level_of(queue, id)].id == id) {
        queue->first[level_of(queue, id)] = entry;
    }
    if (htw__delay_queue_precedes(entry, queue->top))
        queue->top = entry;
}

/*@ axiomatic widths { logic integer shift_of(integer level); } // a bucket of a level is 2^this ticks wide: any such function
    predicate is_in_window(integer bits, integer first, integer bucket, integer slot) =
        first <= bucket && bucket < first + (1 << bits) && (bucket & ((1 << bits) - 1)) == slot; */

/* The bucket behind the first one of a level, which has others: all keys are in the window of the level that begins with
   the first one, so their order is the cyclic order of the slots. */
/*@ requires \valid_read(queue) && queue->bits <= 12 && 0 <= shift_of(level) < 64 && level < 64;
    requires is_bitmap(&queue->later[level]) && \exists integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&queue->later[level], slot);
    requires first.id >= level << queue->bits &&
        is_in_window(queue->bits, first.key >> shift_of(level), first.key >> shift_of(level), first.id - (level << queue->bits));
    requires \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&queue->later[level], slot) ==>
        \valid_read(queue->keys + (level << queue->bits) + slot) &&
        is_in_window(queue->bits, first.key >> shift_of(level), queue->keys[(level << queue->bits) + slot] >> shift_of(level), slot);
    assigns \nothing;
    ensures has(&queue->later[level], \result.id - (level << queue->bits)) && \result.key == queue->keys[\result.id];
    ensures \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&queue->later[level], slot) ==>
        \result.key <= queue->keys[(level << queue->bits) + slot]; */
static struct htw__delay_queue_entry second(const struct htw__delay_queue *queue, uint32_t level,
                                            struct htw__delay_queue_entry first) {
    uint32_t first_id = level << queue->bits;
    uint32_t slot = htw__bitmap_next(&queue->later[level], first.id - first_id);
    /*@ assert is_in_window(queue->bits, first.key >> shift_of(level), queue->keys[first_id + slot] >> shift_of(level), slot); */
    /*@ assert \forall integer i; 0 <= i < HTW__BITMAP_SIZE && has(&queue->later[level], i) ==>
            queue->keys[first_id + slot] >> shift_of(level) < queue->keys[first_id + i] >> shift_of(level) || i == slot; */
    return (struct htw__delay_queue_entry) { queue->keys[first_id + slot], first_id + slot };
}

HTW__NOINLINE void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    struct htw__delay_queue_entry top = queue->top;
    uint32_t level = level_of(queue, top.id);
    struct htw__bitmap *later = &queue->later[level];
    queue->keys[top.id] = HTW__DELAY_QUEUE_ABSENT;
    if (later->summary != 0) {
        queue->first[level] = second(queue, level, top);
        htw__bitmap_remove(later, queue->first[level].id - (level << queue->bits));
    } else {
        queue->levels &= ~((uint64_t)1 << level);
    }
    queue->top = least(queue);
}

/* Whether bitmap and keys of a level agree, and its first bucket is known. */
static bool level_is_valid(const struct htw__delay_queue *queue, uint32_t level) {
    const struct htw__bitmap *later = &queue->later[level];
    const struct htw__delay_queue_entry *first =
        queue->levels >> level & 1 ? &queue->first[level] : &absent;
    uint32_t first_id = level << queue->bits;
    uint32_t count = (uint32_t)1 << queue->bits;
    if (count > queue->capacity - first_id)
        count = queue->capacity - first_id;
    if (!htw__bitmap_is_valid(later, count))
        return false;
    bool is_known = first == &absent;
    for (uint32_t id = first_id; id < first_id + count; id++) {
        uint64_t key = queue->keys[id];
        bool is_first = first != &absent && id == first->id;
        is_known |= is_first && key == first->key;
        bool is_later = htw__bitmap_has(later, id - first_id);
        if (!is_first && is_later != (key != HTW__DELAY_QUEUE_ABSENT))
            return false;
        if (is_later && key <= first->key)
            return false;
    }
    return is_known;
}

bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue) {
    uint32_t levels = level_count(queue, queue->capacity);
    if (levels < 64 && queue->levels >> levels != 0)
        return false;
    for (uint32_t level = 0; level < levels; level++)
        if (!level_is_valid(queue, level))
            return false;
    struct htw__delay_queue_entry first = least(queue);
    return queue->top.key == first.key && queue->top.id == first.id;
}
