/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - what is done to all timers of a group: cancel, pause, resume.
 *
 * Sweeps: visits to all timers of a group, a slice at a time. Between two slices other sweeps
 * may pass over the same timers. So each puts two marks of its own into the list: `place` goes
 * from timer to timer, up to `end`, behind which stand those that join meanwhile.
 */
#include "cancel.h"
#include "attributes.h"
#include "group.h"
#include "shard.h"
#include "wake.h"

struct sweep {
    struct htw_group *group;
    struct htw__member place, end;
    /* Called for each timer, under the lock. Cancels it if `ended` is not NULL, and then tells
       whether it did. */
    bool (*visit)(struct sweep *sweep, struct htw__record *record, struct htw__ended *ended);
    struct htw__ended ended[HTW__SLICE];
    uint32_t ended_count;
    bool wake;
};

/* Under the lock. */
static void start(struct sweep *sweep) {
    sweep->group->sweeps++;
    htw__ring_push_front(&sweep->group->timers, &sweep->place.link);
    htw__ring_push_back(&sweep->group->timers, &sweep->end.link);
}

/* The group may be gone afterwards. */
static void finish(struct sweep *sweep) {
    htw__link_unlink(&sweep->place.link);
    htw__link_unlink(&sweep->end.link);
    sweep->group->sweeps--;
    htw__group_release_if_over(sweep->group);
}

/* Whether there is more; if not, the group may be gone. Under the lock. */
static bool sweep_slice(struct sweep *sweep) {
    sweep->ended_count = 0;
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        struct htw__link *link = sweep->place.link._next;
        if (link == &sweep->end.link) {
            finish(sweep);
            return false;
        }
        htw__link_unlink(&sweep->place.link);
        htw__link_insert(&link->_next, &sweep->place.link);
        struct htw__attributes *attributes =
            HTW_CONTAINER_OF(link, struct htw__member, link)->attributes;
        if (attributes != NULL &&
            sweep->visit(sweep, attributes->record, &sweep->ended[sweep->ended_count]))
            sweep->ended_count++;
    }
    return true;
}

static bool visit_cancel(struct sweep *sweep, struct htw__record *record,
                         struct htw__ended *ended) {
    return htw__cancel_locked(sweep->group->shard, record, ended) == HTW_CANCELLED;
}

static bool visit_pause(struct sweep *sweep, struct htw__record *record, struct htw__ended *ended) {
    (void)ended;
    struct htw__shard *shard = sweep->group->shard;
    struct htw__attributes *attributes = record->attributes;
    uint64_t status = htw__status_of(record);
    if (attributes->paused)
        return false;
    if (htw__status_state(status) == HTW__PENDING) {
        htw__attributes_file(shard, record, attributes, htw__now_ns(shard->scheduler),
                             &sweep->wake);
    } else if (htw__status_state(status) == HTW__QUEUED) {
        htw__status_set(record, status | HTW__REARM); /* whoever takes it puts it back */
        htw__attributes_pause(record, attributes, htw__now_ns(shard->scheduler));
    }
    return false;
}

static bool visit_resume(struct sweep *sweep, struct htw__record *record,
                         struct htw__ended *ended) {
    (void)ended;
    struct htw__shard *shard = sweep->group->shard;
    struct htw__attributes *attributes = record->attributes;
    /* Paused again meanwhile: then the later of the two holds. */
    if (!attributes->paused || sweep->group->paused)
        return false;
    int64_t now_ns = htw__now_ns(shard->scheduler);
    htw__attributes_resume(record, attributes, now_ns);
    if (htw__status_state(htw__status_of(record)) == HTW__PENDING)
        htw__shard_file_surely(shard, record, now_ns, &sweep->wake);
    return false;
}

/* 0, or in a child that a visitor or hook has forked, -EOWNERDEAD. */
static int settle(struct htw_scheduler *scheduler, const struct sweep *sweep,
                  htw_unexpired_visitor *visitor, void *context) {
    /* So that a visitor that stops the scheduler does not take it away from under this thread. */
    struct htw__run run = { .scheduler = scheduler, .outer = htw__innermost_run };
    htw__innermost_run = &run;
    for (uint32_t i = 0; i < sweep->ended_count && !htw__is_child(scheduler); i++) {
        if (visitor != NULL)
            visitor(context, &sweep->ended[i].unexpired);
        if (!htw__is_child(scheduler))
            htw__ended_settle(scheduler, &sweep->ended[i]);
    }
    htw__innermost_run = run.outer;
    return htw__scheduler_refusal(scheduler);
}

int64_t htw_group_cancel(struct htw_group *group, htw_unexpired_visitor *visitor, void *context) {
    int refusal = htw__group_refusal(group);
    if (refusal != 0)
        return refusal;
    struct htw__shard *shard = group->shard;
    struct sweep sweep = { .group = group, .visit = visit_cancel };
    int64_t cancelled = 0;
    bool more = true, dirty = false;
    htw__lock_acquire(&shard->lock);
    start(&sweep);
    while (more) {
        more = sweep_slice(&sweep);
        dirty = htw__shard_is_dirty(shard);
        htw__lock_release(&shard->lock);
        cancelled += sweep.ended_count;
        refusal = settle(shard->scheduler, &sweep, visitor, context);
        if (refusal != 0)
            return refusal;
        if (more)
            htw__lock_acquire(&shard->lock);
    }
    if (dirty)
        htw__wake_for_cleanup(htw__expirer_of(shard));
    return cancelled;
}

/* Pauses or resumes. The lock is taken and given back. */
static void set_paused(struct htw_group *group, bool paused) {
    struct htw__shard *shard = group->shard;
    struct sweep sweep = { .group = group, .visit = paused ? visit_pause : visit_resume };
    bool more = true;
    htw__lock_acquire(&shard->lock);
    start(&sweep);
    group->paused = paused;
    while (more) {
        more = sweep_slice(&sweep);
        htw__lock_release(&shard->lock);
        if (more)
            htw__lock_acquire(&shard->lock);
    }
    if (sweep.wake)
        htw__shard_wake(shard);
}

int htw_group_pause(struct htw_group *group) {
    int refusal = htw__group_refusal(group);
    if (refusal == 0)
        set_paused(group, true);
    return refusal;
}

int htw_group_resume(struct htw_group *group) {
    int refusal = htw__group_refusal(group);
    if (refusal == 0)
        set_paused(group, false);
    return refusal;
}

void htw_group_destroy(struct htw_group *group) {
    if (htw__group_refusal(group) != 0)
        return;
    struct htw__shard *shard = group->shard;
    set_paused(group, false);
    htw__lock_acquire(&shard->lock);
    group->abandoned = true;
    htw__group_release_if_over(group);
    htw__lock_release(&shard->lock);
}
