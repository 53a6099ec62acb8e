/* SPDX-License-Identifier: MIT */
/* purgatory.c - creates, closes and destroys a purgatory; the list of its conditions. */
#include "../base/random.h"
#include "../base/refusal.h"
#include "check.h"
#include "condition.h"
#include "end.h"
#include "owner.h"
#include "timeout.h"
#include "walk.h"

#include <htw/group.h>

#include <stdio.h>

#define SHARDS_DEFAULT 4096u
#define CPUS_MAX 1024u

static const char *invalid_member(const struct htw_purgatory_options *options) {
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    if (options->on_complete == NULL)
        return "on_complete";
    if ((options->shards & (options->shards - 1)) != 0 ||
        options->shards > HTW_PURGATORY_SHARDS_MAX)
        return "shards";
    return options->allocator == NULL || htw__allocator_is_valid(options->allocator) ? NULL
                                                                                     : "allocator";
}

static void init(struct htw_purgatory *purgatory, struct htw_scheduler *scheduler,
                 const struct htw_purgatory_options *options) {
    *purgatory = (struct htw_purgatory) {
        .scheduler = scheduler,
        .try_complete = options->try_complete,
        .on_complete = options->on_complete,
        .release = options->release,
        .context = options->context,
        .shard_count = options->shards != 0 ? options->shards : SHARDS_DEFAULT,
        .cpu_count = htw__cpu_count(CPUS_MAX),
        .fork_count = htw__fork_count(),
        .allocator = options->allocator != NULL ? *options->allocator : htw__default_allocator,
    };
    purgatory->shard_shift = 63u - htw__lowest_bit(purgatory->shard_count);
    purgatory->seed = htw__random_seed(purgatory);
    htw__lock_init(&purgatory->lock, HTW__RANK_PURGATORY);
    htw__ring_init(&purgatory->conditions);
}

/* A copy of `like` with a name, which the scheduler keeps; `like` itself if that is not possible. */
static const struct htw_site *site_of(struct htw_scheduler *scheduler, const struct htw_site *like,
                                      const char *name) {
    struct htw_site site = *like;
    site.name = name;
    const struct htw_site *kept = htw_scheduler_keep_site(scheduler, &site);
    return kept != NULL ? kept : like;
}

static void set_name(struct htw_purgatory *purgatory, const char *name) {
    static const struct htw_site timeouts = { htw__expire_due, "purgatory", NULL, "timeouts", 0 };
    static const struct htw_site checks = { htw__make_deferred_check, "purgatory", NULL, "checks",
                                            0 };
    char cut[32];
    snprintf(cut, sizeof(cut), "%s", name == NULL ? "purgatory" : name);
    purgatory->timeouts = site_of(purgatory->scheduler, &timeouts, cut);
    purgatory->checks = site_of(purgatory->scheduler, &checks, cut);
    (void)htw_group_set_name(purgatory->callbacks, cut);
}

static void init_shard(struct htw__purgatory_shard *shard, struct htw_purgatory *purgatory) {
    *shard = (struct htw__purgatory_shard) { .purgatory = purgatory };
    htw__lock_init(&shard->first.lock, HTW__RANK_PURGATORY_SHARD);
    htw__key_table_init(&shard->table, &purgatory->allocator);
}

static int init_shards(struct htw_purgatory *purgatory) {
    purgatory->shards =
        htw__allocate(&purgatory->allocator, purgatory->shard_count * sizeof(*purgatory->shards));
    if (purgatory->shards == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        init_shard(&purgatory->shards[i], purgatory);
    return 0;
}

static int init_cpus(struct htw_purgatory *purgatory) {
    purgatory->cpus =
        htw__allocate(&purgatory->allocator, purgatory->cpu_count * sizeof(*purgatory->cpus));
    if (purgatory->cpus == NULL)
        return -ENOMEM;
    int error = 0;
    for (uint32_t i = 0; i < purgatory->cpu_count; i++) /* all: the wheel of each is destroyed */
        error |= htw__cpu_init(&purgatory->cpus[i], purgatory);
    return error;
}

/* The purgatory may be created in part only. */
static void release_all(struct htw_purgatory *purgatory) {
    struct htw_allocator allocator = purgatory->allocator;
    htw_group_destroy(purgatory->callbacks);
    for (uint32_t i = 0; purgatory->cpus != NULL && i < purgatory->cpu_count; i++)
        htw_wheel_destroy(purgatory->cpus[i].wheel);
    for (uint32_t i = 0; purgatory->shards != NULL && i < purgatory->shard_count; i++)
        htw__key_table_fini(&purgatory->shards[i].table);
    htw__release(&allocator, purgatory->cpus, purgatory->cpu_count * sizeof(struct htw__cpu));
    htw__release(&allocator, purgatory->shards,
                 purgatory->shard_count * sizeof(struct htw__purgatory_shard));
    htw__allocator_forget(&purgatory->allocator);
    htw__release(&allocator, purgatory, sizeof(*purgatory));
}

int htw_purgatory_create(struct htw_purgatory **ret_purgatory, struct htw_scheduler *scheduler,
                         const struct htw_purgatory_options *options) {
    const char *member = options == NULL ? NULL : invalid_member(options);
    if (ret_purgatory == NULL || scheduler == NULL || options == NULL || member != NULL)
        return htw__refuse(member);
    const struct htw_allocator *allocator =
        options->allocator != NULL ? options->allocator : &htw__default_allocator;
    struct htw_purgatory *purgatory = htw__allocate(allocator, sizeof(*purgatory));
    if (purgatory == NULL)
        return -ENOMEM;
    init(purgatory, scheduler, options);
    HTW__ANNOTATE_ALLOCATED(purgatory, sizeof(*purgatory));
    htw__allocator_hide(&purgatory->allocator, &purgatory->users_allocator);
    int error = init_shards(purgatory);
    if (error == 0)
        error = init_cpus(purgatory);
    if (error == 0)
        error = htw_group_create(scheduler, &purgatory->callbacks);
    if (error != 0) {
        release_all(purgatory);
        return error;
    }
    set_name(purgatory, options->name);
    *ret_purgatory = purgatory;
    return 0;
}

/* ---- conditions */

int htw__condition_init(struct htw__condition *condition, const struct htw__condition_type *type,
                        struct htw_purgatory *purgatory, size_t bytes) {
    *condition = (struct htw__condition) { .type = type, .purgatory = purgatory };
    htw__lock_acquire(&purgatory->lock);
    /* order: A hint; closing takes the same lock afterwards. */
    bool closed = atomic_load_explicit(&purgatory->closed, memory_order_relaxed);
    if (!closed) {
        htw__ring_push_front(&purgatory->conditions, &condition->link);
        purgatory->condition_bytes += bytes;
    }
    htw__lock_release(&purgatory->lock);
    return closed ? -ESHUTDOWN : 0;
}

void htw__condition_fini(struct htw__condition *condition, size_t bytes) {
    struct htw_purgatory *purgatory = condition->purgatory;
    htw__lock_acquire(&purgatory->lock);
    htw__link_unlink(&condition->link);
    purgatory->condition_bytes -= bytes;
    htw__lock_release(&purgatory->lock);
    /* Other threads may be in hooks of requests that have expired or were busy. */
    htw__outstanding_wait(&condition->outstanding, NULL);
}

/* Takes a condition out of the list, and keeps it alive. NULL: none is left. */
static struct htw__condition *pop_condition(struct htw_purgatory *purgatory) {
    struct htw__condition *condition = NULL;
    htw__lock_acquire(&purgatory->lock);
    if (!htw__ring_is_empty(&purgatory->conditions)) {
        condition = HTW_CONTAINER_OF(purgatory->conditions._next, struct htw__condition, link);
        htw__link_unlink(&condition->link);
        htw__ring_init(&condition->link); /* htw__condition_fini() unlinks it once more */
        htw__outstanding_add(&condition->outstanding);
    }
    htw__lock_release(&purgatory->lock);
    return condition;
}

static int64_t close_conditions(struct htw__frame *frame) {
    int64_t closed = 0;
    struct htw__condition *condition;
    while ((condition = pop_condition(frame->purgatory)) != NULL) {
        closed += condition->type->close(condition, frame);
        htw__outstanding_remove(&condition->outstanding);
    }
    return closed;
}

/* ---- closing and destroying */

static int64_t close_shard(struct htw__frame *frame, struct htw__purgatory_shard *shard) {
    struct htw__walk walk = { .purgatory = frame->purgatory,
                              .shard = shard,
                              .mark = HTW__REQUEST_CLOSE };
    int64_t closed = 0;
    struct htw_request *request;
    while ((request = htw__walk_begin_orphan(&walk)) != NULL)
        for (; request != NULL; request = htw__walk_next(&walk)) {
            htw__request_end(frame, request, HTW_REASON_CLOSED);
            closed++;
        }
    return closed + walk.marked;
}

int64_t htw_purgatory_close(struct htw_purgatory *purgatory, htw_request_visitor *visitor,
                            void *context) {
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    struct htw__frame frame = { .visitor = visitor, .visitor_context = context };
    htw__frame_push(&frame, purgatory);
    /* order: The locks of the shards, under which requests are linked, decide. */
    atomic_store_explicit(&purgatory->closed, true, memory_order_relaxed);
    int64_t closed = 0;
    for (uint32_t i = 0; i < purgatory->shard_count; i++)
        closed += close_shard(&frame, &purgatory->shards[i]);
    closed += close_conditions(&frame);
    htw__frame_pop(&frame);
    return closed;
}

int htw_purgatory_destroy(struct htw_purgatory *purgatory) {
    if (purgatory == NULL)
        return 0;
    int refusal = htw__purgatory_refusal(purgatory);
    if (refusal != 0)
        return refusal;
    if (htw__frame_is_inside(purgatory))
        return -EDEADLK;
    htw__lock_acquire(&purgatory->lock);
    bool has_conditions = purgatory->condition_bytes > 0;
    htw__lock_release(&purgatory->lock);
    if (has_conditions)
        return -EBUSY;
    (void)htw_purgatory_close(purgatory, NULL, NULL);
    htw__outstanding_wait(&purgatory->outstanding, purgatory->callbacks);
    release_all(purgatory);
    return 0;
}
