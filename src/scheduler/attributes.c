/* SPDX-License-Identifier: MIT */
/* attributes.c - the optional properties of a timer: period, key, group, release hook, another
   clock. */
#include "attributes.h"

#include "../base/user_code.h"
#include "observe.h"

struct htw__attributes *htw__attributes_create(struct htw__clockwork *clockwork,
                                               const struct htw_spec *spec, uint64_t hash) {
    const struct htw_scheduler *scheduler = clockwork->shard->scheduler;
    size_t key_size = spec->key == NULL ? 0 : spec->key_size;
    size_t bytes = sizeof(struct htw__attributes) + key_size;
    struct htw__attributes *attributes = htw__allocate(&scheduler->allocator, bytes);
    if (attributes == NULL)
        return NULL;
    *attributes = (struct htw__attributes) {
        .arg = spec->arg,
        .callback = htw__replaces_callback(spec) ? spec->callback : NULL,
        .release = spec->release,
        .clockwork = clockwork,
        .period_ns = spec->period_ns,
        .repeat = spec->repeat,
        .is_instant = spec->absolute,
        .group = spec->group,
    };
    htw__key_copy(attributes->bytes, spec->key, key_size);
    htw__key_node_set(&attributes->key, hash, attributes->bytes, key_size);
    attributes->member.object = attributes;
    return attributes;
}

void htw__attributes_destroy(struct htw_scheduler *scheduler, struct htw__attributes *attributes) {
    if (attributes != NULL)
        htw__release(&scheduler->allocator, attributes, htw__attributes_bytes(attributes));
}

/* ---- pause and resume */

void htw__attributes_pause(struct htw__record *record, struct htw__attributes *attributes,
                           int64_t now_ns) {
    if (record->deadline_ns != HTW_NEVER_NS && !htw__attributes_keep_instant(attributes))
        record->deadline_ns = record->deadline_ns > now_ns ? record->deadline_ns - now_ns : 0;
    attributes->paused = true;
}

void htw__attributes_resume(struct htw__record *record, struct htw__attributes *attributes,
                            int64_t now_ns) {
    if (attributes == NULL || !attributes->paused)
        return;
    /* What was due is due from now on. */
    if (!htw__attributes_keep_instant(attributes))
        record->deadline_ns = htw__after_ns(now_ns, record->deadline_ns);
    attributes->paused = false;
}

void htw__attributes_arm(struct htw__shard *shard, struct htw__record *record,
                         struct htw__attributes *attributes, int64_t now_ns, unsigned *ret_wake) {
    struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    uint64_t tick = htw__tick_due(shard->scheduler, record->deadline_ns, now_ns);
    if (attributes != NULL && attributes->group != NULL && attributes->group->paused) {
        htw__attributes_pause(record, attributes, now_ns);
        tick = HTW_NEVER_TICK;
    }
    htw__clockwork_arm(clockwork, record, tick, ret_wake);
}

/* ---- keys */

int htw__timer_key_refusal(const struct htw_scheduler *scheduler, const struct htw_group *group,
                           const void *key, size_t key_size) {
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (key == NULL || key_size > UINT32_MAX ||
        (group != NULL && group->shard->scheduler != scheduler))
        return -EINVAL;
    return 0;
}

struct htw__shard *htw__key_shard(const struct htw_scheduler *scheduler,
                                  const struct htw_group *group, uint64_t hash) {
    if (group != NULL)
        return group->shard;
    /* By the high bits: the table uses the low ones. */
    return &scheduler->shards[(hash >> 32) % scheduler->shard_count];
}

static struct htw__key_table *table_of(struct htw__shard *shard, struct htw_group *group) {
    return group == NULL ? &shard->keys : &group->keys;
}

struct htw__record *htw__key_find(struct htw__shard *shard, struct htw_group *group, uint64_t hash,
                                  const void *key, size_t key_size) {
    struct htw__key_node *node = htw__key_table_find(table_of(shard, group), hash, key, key_size);
    return node == NULL ? NULL : HTW_CONTAINER_OF(node, struct htw__attributes, key)->record;
}

void htw__attributes_set_keyed(struct htw__shard *shard, struct htw__attributes *attributes,
                               bool keyed) {
    struct htw__key_table *table = table_of(shard, attributes->group);
    size_t before = htw__key_table_memory(table);
    if (attributes->keyed == keyed)
        return;
    if (keyed)
        htw__key_table_insert(table, &attributes->key);
    else
        htw__key_table_remove(table, &attributes->key);
    htw__counter_add(&shard->attributes_bytes, (uint64_t)htw__key_table_memory(table) - before);
    attributes->keyed = keyed;
}

/* ---- the end of a timer */

void htw__attributes_detach(struct htw__shard *shard, struct htw__record *record,
                            bool has_attributes, struct htw__timer_end *ret_ended) {
    struct htw__attributes *attributes = has_attributes ? record->attributes : NULL;
    const struct htw__clockwork *clockwork = htw__clockwork_of(shard, attributes);
    if (attributes != NULL && attributes->paused)
        htw__attributes_resume(record, attributes, htw__clockwork_now_ns(clockwork));
    uint64_t status = htw__status_of(record);
    *ret_ended = (struct htw__timer_end) {
        .unexpired = { .handle = htw__handle_of(shard, record),
                       .callback = htw__attributes_callback(record, status, attributes),
                       .arg = attributes != NULL ? attributes->arg : record->arg,
                       .deadline_ns = record->deadline_ns,
                       .clock = clockwork->clock->name,
                       .site = status & HTW__HAS_SITE ? record->site : NULL },
        .attributes = attributes,
    };
    if (attributes == NULL)
        return;
    htw__attributes_set_keyed(shard, attributes, false);
    if (attributes->group != NULL) {
        htw__group_remove(attributes->group, &attributes->member);
        attributes->group = NULL;
    }
    htw__counter_set(&shard->attributes_bytes, htw__counter_read(&shard->attributes_bytes) -
                                                   htw__attributes_bytes(attributes));
}

/* In a frame: the thread that ended the timer is still in a call of the library, and a hook or visitor that
   stopped the scheduler would destroy what that call uses. */
static void call_hook(struct htw_scheduler *scheduler, const struct htw__attributes *attributes) {
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    HTW__CALL_USER("a release hook", scheduler, attributes->release,
                   attributes->release(attributes->arg));
    htw__callback_frame_pop(&frame);
}

void htw__timer_end_release(struct htw_scheduler *scheduler, const struct htw__timer_end *ended) {
    if (ended->attributes == NULL)
        return;
    if (ended->attributes->release != NULL)
        call_hook(scheduler, ended->attributes);
    htw__attributes_destroy(scheduler, ended->attributes);
}

void htw__timer_ends_release(struct htw_scheduler *scheduler, const struct htw__timer_end ended[],
                             uint32_t count, htw_unexpired_visitor *visitor, void *context) {
    struct htw__callback_frame frame = { .scheduler = scheduler };
    htw__callback_frame_push(&frame);
    for (uint32_t i = 0; i < count; i++) {
        if (visitor != NULL)
            HTW__CALL_USER("a visitor", scheduler, visitor, visitor(context, &ended[i].unexpired));
        htw__timer_end_release(scheduler, &ended[i]);
    }
    htw__callback_frame_pop(&frame);
}

/* Makes this run the last one. The thread that runs the callback ends the timer. */
static enum htw_outcome cancel_running(struct htw__shard *shard, struct htw__record *record,
                                       uint64_t status) {
    do {
        if (htw__status_state(status) != HTW__RUNNING)
            return HTW_GONE; /* it has just ended */
    } while (!htw__status_change(record, &status, (status & ~(uint64_t)HTW__REARM) | HTW__CANCEL));
    bool has_attributes = status & HTW__HAS_ATTRIBUTES;
    if ((status & HTW__REARM) && !(has_attributes && record->attributes->period_ns > 0))
        htw__credit_add(shard->scheduler,
                        1); /* acquired by the callback when it rescheduled itself */
    if (has_attributes)
        htw__attributes_set_keyed(shard, record->attributes, false);
    return HTW_RUNNING;
}

enum htw_outcome htw__cancel_locked(struct htw__shard *shard, struct htw__record *record,
                                    struct htw__timer_end *ret_ended) {
    uint64_t status = htw__status_of(record);
    enum htw__state state;
    do {
        state = htw__status_state(status);
        if (state == HTW__RUNNING)
            return cancel_running(shard, record, status);
        if (state != HTW__PENDING && state != HTW__QUEUED)
            return HTW_GONE;
    } while (!htw__status_change(record, &status, htw__status_in(status, HTW__DONE, 0)));
    HTW__ANNOTATE_TAKE_OVER(record);
    if (state == HTW__PENDING)
        htw__clockwork_disarm(htw__clockwork_of(shard, htw__attributes_of(record, status)), record);
    htw__attributes_detach(shard, record, status & HTW__HAS_ATTRIBUTES, ret_ended);
    HTW__PROBE4(cancel, shard->scheduler, ret_ended->unexpired.handle, HTW__PROBE_SITE(record),
                HTW__PROBE_FLAGS(record));
    htw__counter_add(&shard->cancelled, 1);
    htw__credit_add(shard->scheduler, 1);
    htw__observe_cancelled(shard, htw__mode(shard->scheduler), record, ret_ended->unexpired.handle);
    if (state == HTW__PENDING) /* a queued one is freed by the thread that has its batch */
        htw__slab_free(&shard->slab, &record->cell);
    return HTW_CANCELLED;
}
