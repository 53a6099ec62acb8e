/* SPDX-License-Identifier: MIT */
/* group.c - groups: which timers belong to one, and when it is freed. sweep.c has the calls that visit all
   timers of a group. */
#include "group.h"

#include <htw/group.h>

#include <stdio.h>

void htw__group_add(struct htw_group *group, struct htw__member *member) {
    htw__ring_push_back(&group->members, &member->link);
    group->count++;
}

void htw__group_remove(struct htw_group *group, struct htw__member *member) {
    htw__link_unlink(&member->link);
    group->count--;
    htw__group_free_if_unused(group);
}

static void add_bytes(struct htw_group *group, uint64_t bytes) {
    htw__counter_add(&group->shard->attributes_bytes, bytes);
}

static void free_group(struct htw_group *group) {
    const struct htw_allocator *allocator = &group->shard->scheduler->allocator;
    htw__link_unlink(&group->listed.link);
    group->shard->groups--;
    add_bytes(group, 0 - (uint64_t)sizeof(*group));
    htw__key_table_fini(&group->keys);
    htw__release(allocator, group, sizeof(*group));
}

void htw__group_free_if_unused(struct htw_group *group) {
    if (group->destroyed && group->count == 0 && group->sweeps == 0)
        free_group(group);
}

int htw_group_create(struct htw_scheduler *scheduler, struct htw_group **ret_group) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (ret_group == NULL)
        return -EINVAL;
    if (htw__is_ending(scheduler))
        return -ESHUTDOWN;
    struct htw_group *group = htw__allocate(&scheduler->allocator, sizeof(*group));
    if (group == NULL)
        return -ENOMEM;
    *group = (struct htw_group) { .shard = htw__shard_here(scheduler) };
    htw__ring_init(&group->members);
    htw__key_table_init(&group->keys, &scheduler->allocator);
    group->listed.object = group;
    htw__lock_acquire(&group->shard->lock);
    add_bytes(group, sizeof(*group));
    group->shard->groups++;
    htw__ring_push_back(&group->shard->all_groups, &group->listed.link);
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

int htw_group_set_name(struct htw_group *group, const char *name) {
    int refusal = htw__group_refusal(group);
    if (refusal != 0)
        return refusal;
    char copy[sizeof(group->name)];
    snprintf(copy, sizeof(copy), "%s", name == NULL ? "" : name);
    htw__lock_acquire(&group->shard->lock);
    memcpy(group->name, copy, sizeof(copy));
    htw__lock_release(&group->shard->lock);
    return 0;
}
