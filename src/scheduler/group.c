/* SPDX-License-Identifier: MIT */
#include "group.h"

#include "cancel.h"
#include "expirer.h"
#include "shard.h"

#include <errno.h>

void htw__group_join(struct htw_group *group, struct htw__extra *extra) {
    extra->joined = group->sweep_count;
    htw__ring_push_back(&group->timers, &extra->in_group);
    group->count++;
}

static void release_group(struct htw_group *group) {
    const struct htw_allocator *allocator = &group->scheduler->allocator;
    if (group->keys != NULL) {
        htw__key_table_fini(group->keys);
        htw__release(allocator, group->keys, sizeof(*group->keys));
    }
    htw__release(allocator, group, sizeof(*group));
}

void htw__group_leave(struct htw_group *group, struct htw__extra *extra) {
    htw__link_unlink(&extra->in_group);
    group->count--;
    extra->group = NULL;
    if (group->abandoned && group->count == 0)
        release_group(group);
}

struct htw__key_table *htw__group_keys(struct htw_group *group) {
    if (group->keys == NULL) {
        const struct htw_allocator *allocator = &group->scheduler->allocator;
        group->keys = htw__allocate(allocator, sizeof(*group->keys));
        if (group->keys != NULL)
            htw__key_table_init(group->keys, allocator);
    }
    return group->keys;
}

void htw__group_file(struct htw__shard *shard, struct htw__record *record, struct htw__extra *extra,
                     bool *ret_wake) {
    if (extra == NULL || extra->group == NULL || !extra->group->paused) {
        if (extra != NULL)
            extra->paused = false; /* being resumed, and moved before its turn came */
        htw__shard_file_surely(shard, record, ret_wake);
        return;
    }
    int64_t now_ns = htw__now_ns(shard->scheduler);
    if (record->deadline_ns != HTW_FOREVER)
        record->deadline_ns = record->deadline_ns > now_ns ? record->deadline_ns - now_ns : 0;
    extra->paused = true;
    bool wake = false; /* it is not going to be due */
    int error = htw__shard_file(shard, record, HTW_NEVER, &wake);
    HTW__CHECK(error == 0); /* no deadline needs no level */
    (void)error;
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
    *ret_group = group;
    return 0;
}

static int refuse(const struct htw_group *group) {
    return group == NULL ? -EINVAL : htw__scheduler_refusal(group->scheduler);
}

/*
 * ---- sweeps: visits to all timers of a group, a slice at a time. There may be several at once.
 * None changes the order of the timers, which is that in which they joined: so each sees every one
 * that was there when it began, and knows by its number where those begin that were not.
 */

struct htw__sweep {
    struct htw_group *group;
    struct htw__sweep *next;
    struct htw__link cursor; /* among the timers, behind those that were visited */
    uint64_t number;
    /* Called for each timer, under the lock. Cancels it if `ended` is not NULL, and then tells
       whether it did. */
    bool (*visit)(struct htw__sweep *sweep, struct htw__record *record, struct htw__ended *ended);
    struct htw__ended ended[HTW__SLICE];
    uint32_t ended_count;
    bool wake;
};

static void start(struct htw__sweep *sweep) {
    struct htw_group *group = sweep->group;
    sweep->number = ++group->sweep_count;
    sweep->next = group->sweeps;
    group->sweeps = sweep;
    htw__ring_push_front(&group->timers, &sweep->cursor);
}

static void finish(struct htw__sweep *sweep) {
    struct htw__sweep **place = &sweep->group->sweeps;
    while (*place != sweep)
        place = &(*place)->next;
    *place = sweep->next;
    htw__link_unlink(&sweep->cursor);
}

static bool is_cursor(const struct htw_group *group, const struct htw__link *link) {
    for (const struct htw__sweep *sweep = group->sweeps; sweep != NULL; sweep = sweep->next)
        if (link == &sweep->cursor)
            return true;
    return false;
}

/* Whether there is more; if not, it is finished. Under the lock. */
static bool sweep_slice(struct htw__sweep *sweep) {
    struct htw_group *group = sweep->group;
    sweep->ended_count = 0;
    for (unsigned i = 0; i < HTW__SLICE; i++) {
        struct htw__link *link = sweep->cursor._next;
        bool is_timer = link != &group->timers && !is_cursor(group, link);
        struct htw__extra *extra =
            is_timer ? HTW_CONTAINER_OF(link, struct htw__extra, in_group) : NULL;
        if (link == &group->timers || (is_timer && extra->joined >= sweep->number)) {
            finish(sweep);
            return false;
        }
        htw__link_unlink(&sweep->cursor);
        htw__link_insert(&link->_next, &sweep->cursor);
        if (is_timer && sweep->visit(sweep, extra->record, &sweep->ended[sweep->ended_count]))
            sweep->ended_count++;
    }
    return true;
}

static bool visit_cancel(struct htw__sweep *sweep, struct htw__record *record,
                         struct htw__ended *ended) {
    return htw__cancel_locked(sweep->group->shard, record, ended) == HTW_CANCELLED;
}

static bool visit_pause(struct htw__sweep *sweep, struct htw__record *record,
                        struct htw__ended *ended) {
    (void)ended;
    struct htw__shard *shard = sweep->group->shard;
    uint64_t ident = htw__ident_of(record);
    while (htw__ident_state(ident) == HTW__QUEUED) /* whoever takes it puts it back */
        if (htw__ident_change(record, &ident, ident | HTW__REARM))
            return false;
    if (htw__ident_state(ident) == HTW__PENDING && !record->extra->paused)
        htw__group_file(shard, record, record->extra, &sweep->wake);
    return false;
}

static bool visit_resume(struct htw__sweep *sweep, struct htw__record *record,
                         struct htw__ended *ended) {
    (void)ended;
    struct htw__extra *extra = record->extra;
    if (!extra->paused || sweep->group->paused) /* paused again meanwhile */
        return false;
    extra->paused = false;
    record->deadline_ns = htw__after_ns(htw__now_ns(sweep->group->scheduler), record->deadline_ns);
    htw__shard_file_surely(sweep->group->shard, record, &sweep->wake);
    return false;
}

static void settle(struct htw__sweep *sweep, htw_leftover_visitor *visitor, void *context) {
    for (uint32_t i = 0; i < sweep->ended_count; i++) {
        if (visitor != NULL)
            visitor(context, &sweep->ended[i].leftover);
        htw__ended_settle(sweep->group->scheduler, &sweep->ended[i]);
    }
}

int64_t htw_group_cancel(struct htw_group *group, htw_leftover_visitor *visitor, void *context) {
    int refusal = refuse(group);
    if (refusal != 0)
        return refusal;
    struct htw__shard *shard = group->shard;
    struct htw__sweep sweep = { .group = group, .visit = visit_cancel };
    int64_t cancelled = 0;
    bool more = true, dirty = false;
    htw__lock_take(&shard->lock);
    start(&sweep);
    while (more) {
        more = sweep_slice(&sweep);
        dirty = htw__shard_is_dirty(shard);
        htw__lock_give(&shard->lock);
        cancelled += sweep.ended_count;
        settle(&sweep, visitor, context);
        if (more)
            htw__lock_take(&shard->lock);
    }
    if (dirty)
        htw__expirer_plan_chore(htw__expirer_of(shard));
    return cancelled;
}

/* Pauses or resumes. The lock is taken and given back. */
static void set_paused(struct htw_group *group, bool paused) {
    struct htw__shard *shard = group->shard;
    struct htw__sweep sweep = { .group = group, .visit = paused ? visit_pause : visit_resume };
    bool more = true;
    htw__lock_take(&shard->lock);
    start(&sweep);
    group->paused = paused;
    while (more) {
        more = sweep_slice(&sweep);
        htw__lock_give(&shard->lock);
        if (more)
            htw__lock_take(&shard->lock);
    }
    if (sweep.wake)
        htw__shard_wake(shard);
}

int htw_group_pause(struct htw_group *group) {
    int refusal = refuse(group);
    if (refusal == 0)
        set_paused(group, true);
    return refusal;
}

int htw_group_resume(struct htw_group *group) {
    int refusal = refuse(group);
    if (refusal == 0)
        set_paused(group, false);
    return refusal;
}

void htw_group_destroy(struct htw_group *group) {
    if (refuse(group) != 0)
        return;
    struct htw__shard *shard = group->shard;
    set_paused(group, false);
    htw__lock_take(&shard->lock);
    group->abandoned = true;
    if (group->count == 0)
        release_group(group);
    htw__lock_give(&shard->lock);
}

uint64_t htw_group_count(struct htw_group *group) {
    if (refuse(group) != 0)
        return 0;
    htw__lock_take(&group->shard->lock);
    uint64_t count = group->count;
    htw__lock_give(&group->shard->lock);
    return count;
}
