/* SPDX-License-Identifier: MIT */
/* visit.c - calls a visitor for what tools show of a scheduler; of these, the groups. */
#include "visit.h"

#include "../scheduler/group.h"

/* ---- groups */

/* One group at a time, with a cursor in their ring meanwhile. Returns whether the visitor may see more. */
static bool visit_shard(struct htw__visit *visit, struct htw__shard *shard) {
    struct htw__member cursor = { .object = NULL };
    const struct htw__member *member;
    bool wanted = true;
    HTW__ANNOTATE_OWN(&cursor, sizeof(cursor));
    htw__lock_acquire(&shard->lock);
    htw__ring_push_front(&shard->all_groups, &cursor.link);
    while (wanted && (member = htw__cursor_step(&cursor, &shard->all_groups)) != NULL) {
        const struct htw_group *group = member->object;
        bool is_shown = group != NULL && !group->destroyed;
        struct htw_group copy = { .count = 0 };
        if (is_shown)
            copy = *group;
        htw__lock_release(&shard->lock);
        const union htw_visited visited = { .group = { .name = copy.name,
                                                       .address = group,
                                                       .count = copy.count,
                                                       .paused = copy.paused } };
        if (is_shown)
            wanted = htw__visit_show(visit, &visited);
        htw__lock_acquire(&shard->lock);
    }
    htw__link_unlink(&cursor.link);
    htw__lock_release(&shard->lock);
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
    static int (*const visits[])(struct htw__visit * visit) = {
        [HTW_VISIT_SITES] = htw__visit_sites,     [HTW_VISIT_GROUPS] = htw__visit_groups,
        [HTW_VISIT_WAKEUPS] = htw__visit_wakeups, [HTW_VISIT_HERDS] = htw__visit_herds,
        [HTW_VISIT_EVENTS] = htw__visit_events,   [HTW_VISIT_SHARDS] = htw__visit_shards,
        [HTW_VISIT_LEVELS] = htw__visit_levels,
    };
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (visitor == NULL || what < HTW_VISIT_SITES || what > HTW_VISIT_LEVELS)
        return -EINVAL;
    struct htw__visit visit = {
        .scheduler = scheduler,
        .most = most == 0 ? UINT64_MAX : most,
        .visitor = visitor,
        .context = context,
    };
    /* In a frame: a visitor that destroyed the scheduler would destroy what this thread uses. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    htw__safe_copy_init(&visit.copy);
    int error = visits[what](&visit);
    htw__safe_copy_fini(&visit.copy);
    htw__callback_frame_pop(&frame);
    return error;
}
