/* SPDX-License-Identifier: MIT */
/* group.c - groups: which timers belong to one, when it is freed, and which there are. sweep.c has the
   calls that visit all timers of a group. */
#include "group.h"

#include "../base/user_code.h"

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
    if (group->keys != NULL) {
        add_bytes(group, 0 - (uint64_t)sizeof(*group->keys));
        htw__key_table_fini(group->keys);
        htw__release(allocator, group->keys, sizeof(*group->keys));
    }
    htw__release(allocator, group, sizeof(*group));
}

void htw__group_free_if_unused(struct htw_group *group) {
    if (group->destroyed && group->count == 0 && group->sweeps == 0)
        free_group(group);
}

struct htw__key_table *htw__group_keys(struct htw_group *group) {
    if (group->keys == NULL) {
        const struct htw_allocator *allocator = &group->shard->scheduler->allocator;
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
    if (htw__is_ending(scheduler))
        return -ESHUTDOWN;
    struct htw_group *group = htw__allocate(&scheduler->allocator, sizeof(*group));
    if (group == NULL)
        return -ENOMEM;
    *group = (struct htw_group) { .shard = htw__shard_here(scheduler) };
    htw__ring_init(&group->members);
    group->listed.group = group;
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

/* ---- all groups */

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

/* A visit of the groups of a shard, a slice at a time: its cursor is in their list meanwhile. */
struct visit {
    struct htw__shard *shard;
    struct htw__listed cursor;
    uint32_t count;
    struct htw_group_stats stats[HTW__SLICE];
    char names[HTW__SLICE][sizeof(((struct htw_group *)NULL)->name)];
};

/* Under the lock. */
static void copy_group(struct visit *visit, const struct htw_group *group) {
    char *name = visit->names[visit->count];
    if (group->destroyed)
        return;
    memcpy(name, group->name, sizeof(group->name));
    visit->stats[visit->count++] = (struct htw_group_stats) {
        .name = name,
        .address = group,
        .count = group->count,
        .paused = group->paused,
    };
}

/* Returns whether there is more; otherwise the cursor is in no list. Under the lock. */
static bool copy_slice(struct visit *visit) {
    struct htw__link *cursor = &visit->cursor.link;
    visit->count = 0;
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        struct htw__link *link = cursor->_next;
        htw__link_unlink(cursor);
        if (link == &visit->shard->all_groups)
            return false;
        htw__link_insert(&link->_next, cursor);
        const struct htw_group *group = HTW_CONTAINER_OF(link, struct htw__listed, link)->group;
        if (group != NULL)
            copy_group(visit, group);
    }
    return true;
}

static void visit_shard(struct htw__shard *shard, htw_group_visitor *visitor, void *context) {
    struct visit visit = { .shard = shard };
    bool more = true;
    HTW__ANNOTATE_OWN(&visit.cursor, sizeof(visit.cursor));
    htw__lock_acquire(&shard->lock);
    htw__ring_push_front(&shard->all_groups, &visit.cursor.link);
    while (more) {
        more = copy_slice(&visit);
        htw__lock_release(&shard->lock);
        for (uint32_t i = 0; i < visit.count; i++)
            HTW__CALL_USER("a visitor", shard->scheduler, visitor,
                           visitor(context, &visit.stats[i]));
        if (more)
            htw__lock_acquire(&shard->lock);
    }
}

int htw_scheduler_visit_groups(struct htw_scheduler *scheduler, htw_group_visitor *visitor,
                               void *context) {
    int refusal = htw__visit_refusal(scheduler, visitor != NULL);
    if (refusal != 0)
        return refusal;
    /* In a frame: a visitor that destroyed the scheduler would destroy what this thread uses. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    for (uint32_t i = 0; i < scheduler->shard_count; i++)
        visit_shard(&scheduler->shards[i], visitor, context);
    htw__callback_frame_pop(&frame);
    return 0;
}
