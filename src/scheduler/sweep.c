/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - group operations: cancel, pause, resume.
 *
 * A sweep visits all timers of a group, a slice at a time, and unlocks the shard between two
 * slices. Meanwhile other sweeps may visit the same timers. So each sweep puts two members without a
 * timer into the ring: `cursor` (group.h) moves from timer to timer until it reaches `end`. Timers
 * that join the group during the sweep are behind `end`.
 *
 * A new operation is a function `visit`, under the lock, and a call at the end of this file.
 */
#include "attributes.h"

#include <htw/group.h>

struct sweep {
    struct htw_group *group;
    struct htw__member cursor, end;
    /* Called for each timer, under the lock. Returns whether it has cancelled the timer, and filled
       in `ret_ended`. */
    bool (*visit)(struct sweep *sweep, struct htw__record *record,
                  struct htw__timer_end *ret_ended);
    bool sets_paused, paused; /* the group is paused or resumed at the start */
    struct htw__timer_end ended[HTW__SLICE];
    uint32_t ended_count;
    unsigned wake; /* see htw__clockwork_arm() */
};

static bool visit_cancel(struct sweep *sweep, struct htw__record *record,
                         struct htw__timer_end *ret_ended) {
    return htw__cancel_locked(sweep->group->shard, record, ret_ended) == HTW_CANCELLED;
}

/* Pauses or resumes a timer as its group is now: another sweep may have changed that meanwhile. */
static bool visit_paused(struct sweep *sweep, struct htw__record *record,
                         struct htw__timer_end *ret_ended) {
    (void)ret_ended;
    struct htw__attributes *attributes = record->attributes;
    uint64_t status = htw__status_of(record);
    if (attributes->paused == sweep->group->paused)
        return false;
    int64_t now_ns = htw__clockwork_now_ns(attributes->clockwork);
    if (attributes->paused) {
        htw__attributes_resume(record, attributes, now_ns);
    } else if (htw__status_state(status) == HTW__QUEUED) {
        htw__status_set(record, status | HTW__REARM); /* its runner makes it PENDING again */
        htw__attributes_pause(record, attributes, now_ns);
    }
    if (htw__status_state(status) == HTW__PENDING)
        htw__attributes_arm(sweep->group->shard, record, attributes, now_ns, &sweep->wake);
    return false;
}

/* ---- the sweep */

/* Under the lock. */
static void start(struct sweep *sweep) {
    HTW__ANNOTATE_OWN(&sweep->cursor, sizeof(sweep->cursor));
    HTW__ANNOTATE_OWN(&sweep->end, sizeof(sweep->end));
    sweep->group->sweeps++;
    if (sweep->sets_paused)
        sweep->group->paused = sweep->paused;
    htw__ring_push_front(&sweep->group->members, &sweep->cursor.link);
    htw__ring_push_back(&sweep->group->members, &sweep->end.link);
}

/* May free the group. Under the lock. */
static void finish(struct sweep *sweep) {
    htw__link_unlink(&sweep->cursor.link);
    htw__link_unlink(&sweep->end.link);
    sweep->group->sweeps--;
    htw__group_free_if_unused(sweep->group);
}

/* Returns whether there is more. If not, the group may have been freed. Under the lock. */
static bool sweep_slice(struct sweep *sweep) {
    sweep->ended_count = 0;
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        const struct htw__member *member = htw__cursor_step(&sweep->cursor, &sweep->end.link);
        if (member == NULL) {
            finish(sweep);
            return false;
        }
        const struct htw__attributes *attributes = member->object;
        if (attributes != NULL &&
            sweep->visit(sweep, attributes->record, &sweep->ended[sweep->ended_count]))
            sweep->ended_count++;
    }
    return true;
}

/* Returns how many timers were cancelled. */
static int64_t run(struct sweep *sweep, htw_unexpired_visitor *visitor, void *context) {
    struct htw__shard *shard = sweep->group->shard;
    int64_t cancelled = 0;
    bool more = true;
    htw__lock_acquire(&shard->lock);
    start(sweep);
    while (more) {
        more = sweep_slice(sweep);
        htw__shard_unlock_freed(shard);
        cancelled += sweep->ended_count;
        htw__timer_ends_release(shard->scheduler, sweep->ended, sweep->ended_count, visitor,
                                context);
        if (more)
            htw__lock_acquire(&shard->lock);
    }
    htw__shard_wake(shard, sweep->wake);
    return cancelled;
}

/* ---- the calls */

int64_t htw_group_cancel(struct htw_group *group, htw_unexpired_visitor *visitor, void *context) {
    int refusal = htw__group_refusal(group);
    if (refusal != 0)
        return refusal;
    struct sweep sweep = { .group = group, .visit = visit_cancel };
    return run(&sweep, visitor, context);
}

static int set_paused(struct htw_group *group, bool paused) {
    int refusal = htw__group_refusal(group);
    if (refusal != 0)
        return refusal;
    struct sweep sweep = { group, .visit = visit_paused, .sets_paused = true, .paused = paused };
    run(&sweep, NULL, NULL);
    return 0;
}

int htw_group_pause(struct htw_group *group) {
    return set_paused(group, true);
}

int htw_group_resume(struct htw_group *group) {
    return set_paused(group, false);
}

void htw_group_destroy(struct htw_group *group) {
    if (set_paused(group, false) != 0)
        return;
    struct htw__shard *shard = group->shard;
    htw__lock_acquire(&shard->lock);
    group->destroyed = true;
    htw__group_free_if_unused(group);
    htw__lock_release(&shard->lock);
}
