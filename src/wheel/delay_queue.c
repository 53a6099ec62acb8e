/* SPDX-License-Identifier: MIT */
/* delay_queue.c - which bucket is next: a bitmap for each level, and the least of the first buckets. */
#include "delay_queue.h"

#include "../base/annotate.h"

#include <errno.h>
#include <string.h>

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t bits) {
    *queue = (struct htw__delay_queue) { .top = { HTW__DELAY_QUEUE_ABSENT, 0 }, .bits = bits };
}

/* How many levels the ids less than `capacity` are of. */
static uint32_t level_count(const struct htw__delay_queue *queue, uint32_t capacity) {
    return (capacity + ((uint32_t)1 << queue->bits) - 1) >> queue->bits;
}

static size_t block_bytes(const struct htw__delay_queue *queue, uint32_t capacity) {
    return level_count(queue, capacity) * sizeof(*queue->level) +
           capacity * (sizeof(*queue->keys) + sizeof(*queue->since));
}

void htw__delay_queue_fini(struct htw__delay_queue *queue, const struct htw_allocator *allocator) {
    htw__release(allocator, queue->keys, block_bytes(queue, queue->capacity));
}

int htw__delay_queue_reserve(struct htw__delay_queue *queue, const struct htw_allocator *allocator,
                             uint32_t capacity) {
    uint64_t *keys = htw__allocate(allocator, block_bytes(queue, capacity));
    if (keys == NULL)
        return -ENOMEM;
    uint64_t *since = keys + capacity;
    struct htw__delay_queue_level *level = (void *)(since + capacity);
    HTW__ANNOTATE_IGNORE_BEGIN();
    uint32_t count = level_count(queue, queue->capacity);
    if (queue->capacity > 0) {
        memcpy(keys, queue->keys, queue->capacity * sizeof(*keys));
        memcpy(since, queue->since, queue->capacity * sizeof(*since));
        memcpy(level, queue->level, count * sizeof(*level));
    }
    for (uint32_t id = queue->capacity; id < capacity; id++)
        keys[id] = HTW__DELAY_QUEUE_ABSENT;
    for (; count < level_count(queue, capacity); count++)
        level[count] = (struct htw__delay_queue_level) { .key = HTW__DELAY_QUEUE_ABSENT };
    HTW__ANNOTATE_IGNORE_END();
    htw__delay_queue_fini(queue, allocator);
    queue->keys = keys;
    queue->since = since;
    queue->level = level;
    queue->capacity = capacity;
    return 0;
}

uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue) {
    uint32_t count = htw__count_bits(queue->levels);
    for (uint32_t level = 0; level < level_count(queue, queue->capacity); level++)
        count += htw__bitmap_count(&queue->level[level].later);
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

/* The number of a bucket. */
/*@ requires \valid_read(queue) && queue->bits <= 12 && level < 64 && slot < (1 << queue->bits);
    assigns \nothing;
    ensures \result == (level << queue->bits) + slot && \result >> queue->bits == level; */
static uint32_t id_of(const struct htw__delay_queue *queue, uint32_t level, uint32_t slot) {
    return (level << queue->bits) + slot;
}

/*@ requires \valid_read(queue) && queue->bits <= 12;
    assigns \nothing;
    ensures \result == id - ((id >> queue->bits) << queue->bits) && \result < (1 << queue->bits); */
static uint32_t slot_of(const struct htw__delay_queue *queue, uint32_t id) {
    return id - (id >> queue->bits << queue->bits);
}

/* The keys of a level, by slot. */
/*@ requires \valid_read(queue) && queue->bits <= 12 && level < 64;
    assigns \nothing;
    ensures \result == queue->keys + (level << queue->bits); */
static uint64_t *keys_of(const struct htw__delay_queue *queue, uint32_t level) {
    return queue->keys + (level << queue->bits);
}

/*@ axiomatic widths { // a level has this many slots, at most 2^slot_bits, of 2^width ticks: any such numbers
        logic integer slots;
        logic integer slot_bits;
        logic integer width;
    }
    predicate has_slots(struct htw__delay_queue_level *level, uint64_t *keys) =
        \valid(level) && is_bitmap(&level->later) && 0 < slots <= HTW__BITMAP_SIZE && \valid(keys + (0 .. slots - 1)) &&
        \separated(level, keys + (0 .. slots - 1));
    predicate has_first(struct htw__delay_queue_level *level, uint64_t *keys) = level->key == HTW__DELAY_QUEUE_ABSENT ||
        (level->slot < slots && keys[level->slot] == level->key && !has(&level->later, level->slot));
    predicate has_later(struct htw__delay_queue_level *level, uint64_t *keys) =
        \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&level->later, slot) ==>
            slot < slots && level->key <= keys[slot] < HTW__DELAY_QUEUE_ABSENT;
    predicate has_all(struct htw__delay_queue_level *level, uint64_t *keys) =
        \forall integer slot; 0 <= slot < slots && keys[slot] != HTW__DELAY_QUEUE_ABSENT ==>
            has(&level->later, slot) || (level->key != HTW__DELAY_QUEUE_ABSENT && slot == level->slot);
    predicate is_sound(struct htw__delay_queue_level *level, uint64_t *keys) =
        has_slots(level, keys) && has_first(level, keys) && has_later(level, keys) && has_all(level, keys); */

/* Queues the bucket of a slot under `key`, or lowers its key to that. Returns whether it is the first now. One that is
   queued behind the first stays behind it. */
/*@ requires is_sound(level, keys);
    requires slot < slots && key < keys[slot] && (has(&level->later, slot) ==> level->key <= key);
    assigns *level, keys[slot];
    ensures has_slots(level, keys);
    ensures has_first(level, keys);
    ensures has_later(level, keys);
    ensures has_all(level, keys);
    ensures keys[slot] == key;
    ensures \result ? key < \old(level->key) && level->key == key && level->slot == slot :
        level->key == \old(level->key) && level->slot == \old(level->slot); */
static bool level_lower(struct htw__delay_queue_level *level, uint64_t *keys, uint32_t slot,
                        uint64_t key) {
    bool is_queued = keys[slot] != HTW__DELAY_QUEUE_ABSENT;
    keys[slot] = key;
    if (key < level->key) {
        if (level->key != HTW__DELAY_QUEUE_ABSENT && level->slot != slot)
            htw__bitmap_add(&level->later, level->slot);
        level->key = key;
        level->slot = slot;
        return true;
    }
    if (!is_queued)
        htw__bitmap_add(&level->later, slot);
    return false;
}

/*@ predicate is_in_window(integer bits, integer first, integer bucket, integer slot) =
        first <= bucket && bucket < first + (1 << bits) && (bucket & ((1 << bits) - 1)) == slot;
    predicate has_window(struct htw__delay_queue_level *level, uint64_t *keys) = 0 <= slot_bits <= 12 && 0 <= width < 64 &&
        is_in_window(slot_bits, level->key >> width, level->key >> width, level->slot) &&
        \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&level->later, slot) ==>
            is_in_window(slot_bits, level->key >> width, keys[slot] >> width, slot); */

/* The earliest bucket behind the first one: all keys are in the window of the level that begins with the first one, so their
   order is the cyclic order of the slots. */
/*@ requires \valid_read(level) && is_bitmap(&level->later) && level->later.summary != 0 && has_window(level, keys);
    assigns \nothing;
    ensures \result < HTW__BITMAP_SIZE && has(&level->later, \result);
    ensures \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE && has(&level->later, slot) ==> keys[\result] <= keys[slot]; */
static uint32_t level_second(const struct htw__delay_queue_level *level, const uint64_t *keys) {
    (void)keys; /* of the contract */
    return htw__bitmap_next(&level->later, level->slot);
}

/* Removes the first bucket. Returns whether there is another. */
/*@ requires is_sound(level, keys);
    requires level->key != HTW__DELAY_QUEUE_ABSENT && has_window(level, keys);
    assigns *level, keys[level->slot];
    ensures has_slots(level, keys);
    ensures has_first(level, keys);
    ensures has_later(level, keys);
    ensures has_all(level, keys);
    ensures keys[\old(level->slot)] == HTW__DELAY_QUEUE_ABSENT;
    ensures \result <==> level->key != HTW__DELAY_QUEUE_ABSENT; */
static bool level_pop(struct htw__delay_queue_level *level, uint64_t *keys) {
    keys[level->slot] = HTW__DELAY_QUEUE_ABSENT;
    if (level->later.summary == 0) {
        level->key = HTW__DELAY_QUEUE_ABSENT;
        return false;
    }
    level->slot = level_second(level, keys);
    level->key = keys[level->slot];
    htw__bitmap_remove(&level->later, level->slot);
    return true;
}

/*@ predicate is_used(struct htw__delay_queue *queue, integer level) = \valid_read(queue->level + level) &&
        queue->level[level].key < HTW__DELAY_QUEUE_ABSENT && queue->level[level].slot < (1 << queue->bits);
    predicate has_levels(struct htw__delay_queue *queue) = \valid_read(queue) && queue->bits <= 12 &&
        \forall integer level; 0 <= level < 64 && is_set(queue->levels, level) ==> is_used(queue, level);
    predicate is_first(struct htw__delay_queue *queue, integer level, integer key, integer id) =
        is_set(queue->levels, level) && key == queue->level[level].key && id == (level << queue->bits) + queue->level[level].slot;
    predicate is_before(struct htw__delay_queue *queue, integer key, integer id, integer level) =
        key < queue->level[level].key || (key == queue->level[level].key && level <= id >> queue->bits);
    predicate is_least(struct htw__delay_queue *queue, integer key, integer id) =
        (key == HTW__DELAY_QUEUE_ABSENT || is_first(queue, id >> queue->bits, key, id)) &&
        \forall integer level; 0 <= level < 64 && is_set(queue->levels, level) ==> is_before(queue, key, id, level); */

/* The least of the first buckets. The levels ascend, and of equal keys the last one wins. */
/*@ requires has_levels(queue);
    assigns \nothing;
    ensures is_least(queue, \result.key, \result.id); */
static struct htw__delay_queue_entry least(const struct htw__delay_queue *queue) {
    struct htw__delay_queue_entry least = { HTW__DELAY_QUEUE_ABSENT, 0 };
    /*@ ghost unsigned next = 0; */
    /*@ loop invariant 0 <= next <= 64 && (next == 0 ==> rest == queue->levels);
        loop invariant \forall integer i; 0 <= i < 64 ==> (is_set(rest, i) <==> next <= i && is_set(queue->levels, i));
        loop invariant \forall integer i; 0 <= i < next && is_set(queue->levels, i) ==> is_before(queue, least.key, least.id, i);
        loop invariant next == 0 ? least.key == HTW__DELAY_QUEUE_ABSENT :
            is_first(queue, least.id >> queue->bits, least.key, least.id) && least.id >> queue->bits < next;
        loop assigns rest, least, next;
        loop variant 64 - next; */
    for (uint64_t rest = queue->levels; rest != 0; rest &= rest - 1) {
        unsigned level = htw__lowest_bit(rest);
        if (queue->level[level].key <= least.key) {
            least.key = queue->level[level].key;
            least.id = id_of(queue, level, queue->level[level].slot);
        }
        /*@ ghost next = level + 1; */
    }
    return least;
}

/*@ predicate is_level(struct htw__delay_queue *queue, integer level) =
        \valid(queue) && queue->bits <= 12 && slots <= 1 << queue->bits && 0 <= level < 64 &&
        \separated(queue, queue->level + (0 .. 63), queue->keys + ((level << queue->bits) .. (level << queue->bits) + slots - 1)) &&
        is_sound(queue->level + level, queue->keys + (level << queue->bits));
    predicate is_told(struct htw__delay_queue *queue, integer level) =
        is_set(queue->levels, level) <==> queue->level[level].key != HTW__DELAY_QUEUE_ABSENT;
    predicate has_same{A, B}(struct htw__delay_queue *queue, integer level) =
        \forall integer slot; 0 <= slot < HTW__BITMAP_SIZE ==>
            (\at(has(&queue->level[level].later, slot), A) <==> \at(has(&queue->level[level].later, slot), B)); */

/* The first bucket of a level is new, or its key was lowered. */
/*@ requires is_level(queue, level) && is_used(queue, level);
    requires \forall integer i; 0 <= i < 64 && i != level && is_set(queue->levels, i) ==>
        is_used(queue, i) && is_before(queue, queue->top.key, queue->top.id, i);
    requires queue->level[level].key < queue->top.key ||
        is_first(queue, queue->top.id >> queue->bits, queue->top.key, queue->top.id);
    assigns queue->levels, queue->top;
    ensures is_level(queue, level);
    ensures is_told(queue, level);
    ensures has_levels(queue);
    ensures is_least(queue, queue->top.key, queue->top.id); */
static void offer_first(struct htw__delay_queue *queue, uint32_t level) {
    struct htw__delay_queue_entry first = { queue->level[level].key,
                                            id_of(queue, level, queue->level[level].slot) };
    queue->levels |= (uint64_t)1 << level;
    /*@ assert \forall integer i; 0 <= i < 64 ==>
            (is_set(queue->levels, i) <==> i == level || is_set(\at(queue->levels, Pre), i)); */
    if (htw__delay_queue_precedes(first, queue->top)) {
        queue->top.key = first.key;
        queue->top.id = first.id;
    }
    /*@ assert has_same{Pre, Here}(queue, level); */
}

/* The first bucket of a level was removed. `more`: there is another. */
/*@ requires is_level(queue, level) && is_set(queue->levels, level);
    requires more <==> queue->level[level].key != HTW__DELAY_QUEUE_ABSENT;
    requires \forall integer i; 0 <= i < 64 && i != level && is_set(queue->levels, i) ==> is_used(queue, i);
    assigns queue->levels, queue->top;
    ensures is_level(queue, level);
    ensures is_told(queue, level);
    ensures has_levels(queue);
    ensures is_least(queue, queue->top.key, queue->top.id); */
static void replace_first(struct htw__delay_queue *queue, uint32_t level, bool more) {
    if (!more)
        queue->levels &= ~((uint64_t)1 << level);
    /*@ assert \forall integer i; 0 <= i < 64 && i != level ==>
            (is_set(queue->levels, i) <==> is_set(\at(queue->levels, Pre), i)); */
    struct htw__delay_queue_entry top = least(queue);
    queue->top.key = top.key;
    queue->top.id = top.id;
    /*@ assert has_same{Pre, Here}(queue, level); */
}

/*@ predicate is_same_but{A, B}(struct htw__delay_queue *queue, integer level) =
        \at(queue->levels, A) == \at(queue->levels, B) && \at(queue->bits, A) == \at(queue->bits, B) &&
        \at(queue->top.key, A) == \at(queue->top.key, B) && \at(queue->top.id, A) == \at(queue->top.id, B) &&
        \at(queue->level, A) == \at(queue->level, B) && \at(queue->keys, A) == \at(queue->keys, B) &&
        \forall integer i; 0 <= i < 64 && i != level ==> \at(queue->level[i].key, A) == \at(queue->level[i].key, B) &&
            \at(queue->level[i].slot, A) == \at(queue->level[i].slot, B); */

/*@ predicate may_offer(struct htw__delay_queue *queue, integer id, integer deadline) =
        id - ((id >> queue->bits) << queue->bits) < slots &&
        (has(&queue->level[id >> queue->bits].later, id - ((id >> queue->bits) << queue->bits)) ==>
            queue->level[id >> queue->bits].key <= deadline) &&
        \valid(queue->since + id) && \separated(queue->since + id, queue, queue->level + (0 .. 63)) &&
        \separated(queue->since + id, queue->keys +
            (((id >> queue->bits) << queue->bits) .. ((id >> queue->bits) << queue->bits) + slots - 1)); */

/*@ requires has_levels(queue) && is_level(queue, id >> queue->bits);
    requires is_least(queue, queue->top.key, queue->top.id) && is_told(queue, id >> queue->bits);
    requires may_offer(queue, id, deadline) && deadline < queue->keys[id];
    assigns queue->top, queue->levels, queue->keys[id], queue->since[id], queue->level[id >> queue->bits];
    ensures is_level(queue, id >> queue->bits);
    ensures is_told(queue, id >> queue->bits);
    ensures has_levels(queue);
    ensures is_least(queue, queue->top.key, queue->top.id);
    ensures queue->keys[id] == deadline; */
HTW__NOINLINE void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment) {
    uint32_t level = level_of(queue, id);
    if (queue->keys[id] == HTW__DELAY_QUEUE_ABSENT)
        queue->since[id] = moment;
    bool is_first =
        level_lower(&queue->level[level], keys_of(queue, level), slot_of(queue, id), deadline);
    /*@ assert is_same_but{Pre, Here}(queue, level); */
    if (is_first)
        offer_first(queue, level);
}

/*@ requires has_levels(queue) && is_level(queue, queue->top.id >> queue->bits);
    requires is_least(queue, queue->top.key, queue->top.id) && queue->top.key != HTW__DELAY_QUEUE_ABSENT;
    requires has_window(queue->level + (queue->top.id >> queue->bits),
        queue->keys + ((queue->top.id >> queue->bits) << queue->bits));
    assigns queue->top, queue->levels, queue->keys[queue->top.id], queue->level[queue->top.id >> queue->bits];
    ensures is_level(queue, \old(queue->top.id >> queue->bits));
    ensures is_told(queue, \old(queue->top.id >> queue->bits));
    ensures has_levels(queue);
    ensures is_least(queue, queue->top.key, queue->top.id);
    ensures queue->keys[\old(queue->top.id)] == HTW__DELAY_QUEUE_ABSENT; */
HTW__NOINLINE void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    uint32_t level = level_of(queue, queue->top.id);
    bool more = level_pop(&queue->level[level], keys_of(queue, level));
    /*@ assert is_same_but{Pre, Here}(queue, level); */
    replace_first(queue, level, more);
}

/* Whether bitmap and keys of a level agree, and its first bucket is known. */
static bool level_is_valid(const struct htw__delay_queue *queue, uint32_t number) {
    const struct htw__delay_queue_level *level = &queue->level[number];
    const uint64_t *keys = keys_of(queue, number);
    uint32_t count = (uint32_t)1 << queue->bits;
    if (count > queue->capacity - id_of(queue, number, 0))
        count = queue->capacity - id_of(queue, number, 0);
    bool has_first = level->key != HTW__DELAY_QUEUE_ABSENT;
    if (has_first != (queue->levels >> number & 1) || !htw__bitmap_is_valid(&level->later, count))
        return false;
    if (has_first && (level->slot >= count || keys[level->slot] != level->key))
        return false;
    for (uint32_t slot = 0; slot < count; slot++) {
        bool is_first = has_first && slot == level->slot;
        bool is_later = htw__bitmap_has(&level->later, slot);
        if (!is_first && is_later != (keys[slot] != HTW__DELAY_QUEUE_ABSENT))
            return false;
        if (is_later && keys[slot] <= level->key)
            return false;
    }
    return true;
}

bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue) {
    uint32_t levels = level_count(queue, queue->capacity);
    if (levels < 64 && queue->levels >> levels != 0)
        return false;
    for (uint32_t level = 0; level < levels; level++)
        if (!level_is_valid(queue, level))
            return false;
    struct htw__delay_queue_entry top = least(queue);
    return queue->top.key == top.key && queue->top.id == top.id;
}
