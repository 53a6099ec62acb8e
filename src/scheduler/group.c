/* SPDX-License-Identifier: MIT */
/* group.c - groups: which timers belong to one, and how long it lives. sweep.c visits them all. */
#include "group.h"

#include "shard.h"

#include <errno.h>

void htw__group_join(struct htw_group *group, struct htw__attributes *attributes) {
    attributes->in_group.attributes = attributes;
    htw__ring_push_back(&group->timers, &attributes->in_group.link);
    group->count++;
}

static void add_bytes(struct htw_group *group, size_t bytes) {
    htw__counter_add(&group->shard->attributes_bytes, bytes);
}

static void release_group(struct htw_group *group) {
    const struct htw_allocator *allocator = &group->scheduler->allocator;
    add_bytes(group, 0 - sizeof(*group));
    if (group->keys != NULL) {
        add_bytes(group, 0 - sizeof(*group->keys));
        htw__key_table_fini(group->keys);
        htw__release(allocator, group->keys, sizeof(*group->keys));
    }
    htw__release(allocator, group, sizeof(*group));
}

void htw__group_release_if_over(struct htw_group *group) {
    if (group->abandoned && group->count == 0 && group->sweeps == 0)
        release_group(group);
}

void htw__group_leave(struct htw_group *group, struct htw__attributes *attributes) {
    htw__link_unlink(&attributes->in_group.link);
    group->count--;
    attributes->group = NULL;
    htw__group_release_if_over(group);
}

struct htw__key_table *htw__group_keys(struct htw_group *group) {
    if (group->keys == NULL) {
        const struct htw_allocator *allocator = &group->scheduler->allocator;
        group->keys = htw__allocate(allocator, sizeof(*group->keys));
        if (group->keys != NULL) {
            htw__key_table_init(group->keys, allocator);
            add_bytes(group, sizeof(*group->keys));
        }
    }
    return group->keys;
}

int htw_group_create(struct htw_scheduler *scheduler, struct htw_group **ret_group) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (ret_group == NULL)
        return -EINVAL;
    if (atomic_load_explicit(&scheduler->stopping, memory_order_relaxed))
        return -ESHUTDOWN;
    struct htw_group *group = htw__allocate(&scheduler->allocator, sizeof(*group));
    if (group == NULL)
        return -ENOMEM;
    *group = (struct htw_group) { .scheduler = scheduler, .shard = htw__shard_here(scheduler) };
    htw__ring_init(&group->timers);
    htw__lock_acquire(&group->shard->lock);
    add_bytes(group, sizeof(*group));
    htw__lock_release(&group->shard->lock);
    *ret_group = group;
    return 0;
}

uint64_t htw_group_count(struct htw_group *group) {
    if (htw__group_refusal(group) != 0)
        return 0;
    htw__lock_acquire(&group->shard->lock);
    uint64_t count = group->count;
    htw__lock_release(&group->shard->lock);
    return count;
}
