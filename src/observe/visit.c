/* SPDX-License-Identifier: MIT */
/* visit.c - calls a visitor for what tools show of a scheduler; of these, the groups. */
#include "visit.h"

#include "../scheduler/group.h"

/* ---- groups */

/* A visit of the groups of a shard, a slice at a time: its cursor is in their list meanwhile. */
struct slice {
    struct htw__shard *shard;
    struct htw__listed cursor;
    uint32_t count;
    struct htw_group_stats groups[HTW__SLICE];
    char names[HTW__SLICE][sizeof(((struct htw_group *)NULL)->name)];
};

/* Under the lock. */
static void copy_group(struct slice *slice, const struct htw_group *group) {
    char *name = slice->names[slice->count];
    if (group->destroyed)
        return;
    memcpy(name, group->name, sizeof(group->name));
    slice->groups[slice->count++] = (struct htw_group_stats) {
        .name = name,
        .address = group,
        .count = group->count,
        .paused = group->paused,
    };
}

/* Returns whether there is more; otherwise the cursor is in no list. Under the lock. */
static bool copy_slice(struct slice *slice) {
    struct htw__link *cursor = &slice->cursor.link;
    slice->count = 0;
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        struct htw__link *link = cursor->_next;
        htw__link_unlink(cursor);
        if (link == &slice->shard->all_groups)
            return false;
        htw__link_insert(&link->_next, cursor);
        const struct htw_group *group = HTW_CONTAINER_OF(link, struct htw__listed, link)->group;
        if (group != NULL)
            copy_group(slice, group);
    }
    return true;
}

/* Returns whether the visitor may see more. */
static bool visit_shard(struct htw__visit *visit, struct htw__shard *shard) {
    struct slice slice = { .shard = shard };
    bool more = true, wanted = true;
    HTW__ANNOTATE_OWN(&slice.cursor, sizeof(slice.cursor));
    htw__lock_acquire(&shard->lock);
    htw__ring_push_front(&shard->all_groups, &slice.cursor.link);
    while (more) {
        more = copy_slice(&slice);
        htw__lock_release(&shard->lock);
        for (uint32_t i = 0; i < slice.count && wanted; i++)
            wanted = htw__visit_show(visit, &(union htw_visited) { .group = slice.groups[i] });
        if (more)
            htw__lock_acquire(&shard->lock);
    }
    return wanted;
}

int htw__visit_groups(struct htw__visit *visit) {
    const struct htw_scheduler *scheduler = visit->scheduler;
    bool wanted = true;
    for (uint32_t i = 0; i < scheduler->shard_count && wanted; i++)
        wanted = visit_shard(visit, &scheduler->shards[i]);
    return 0;
}

/* ---- the call */

int htw_scheduler_visit(struct htw_scheduler *scheduler, enum htw_visit what, uint64_t most,
                        htw_visitor *visitor, void *context) {
    static const struct {
        int (*visit)(struct htw__visit *visit);
        bool shows_sites;
    } visits[] = {
        [HTW_VISIT_SITES] = { htw__visit_sites, true },
        [HTW_VISIT_GROUPS] = { htw__visit_groups, false },
        [HTW_VISIT_WAKEUPS] = { htw__visit_wakeups, true },
        [HTW_VISIT_HERDS] = { htw__visit_herds, true },
        [HTW_VISIT_EVENTS] = { htw__visit_events, true },
        [HTW_VISIT_SHARDS] = { htw__visit_shards, false },
        [HTW_VISIT_LEVELS] = { htw__visit_levels, false },
    };
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (visitor == NULL || what < HTW_VISIT_SITES || what > HTW_VISIT_LEVELS)
        return -EINVAL;
    struct htw__visit visit = {
        .scheduler = scheduler,
        .copy = { { -1, -1 } },
        .most = most == 0 ? UINT64_MAX : most,
        .visitor = visitor,
        .context = context,
    };
    /* In a frame: a visitor that destroyed the scheduler would destroy what this thread uses. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    if (visits[what].shows_sites)
        htw__safe_copy_init(&visit.copy);
    int error = visits[what].visit(&visit);
    htw__safe_copy_fini(&visit.copy);
    htw__callback_frame_pop(&frame);
    return error;
}
