/* SPDX-License-Identifier: MIT */
/* attributes.c - the second record, of timers with a period, a key, a group or a hook. */
#include "attributes.h"

#include "group.h"
#include "shard.h"

#include <string.h>

struct htw__attributes *htw__attributes_create(struct htw_scheduler *scheduler,
                                               const struct htw_spec *spec, uint64_t hash) {
    size_t key_size = spec->key == NULL ? 0 : spec->key_size;
    size_t bytes = sizeof(struct htw__attributes) + key_size;
    struct htw__attributes *attributes = htw__allocate(&scheduler->allocator, bytes);
    if (attributes == NULL)
        return NULL;
    *attributes = (struct htw__attributes) {
        .arg = spec->arg,
        .release = spec->release,
        .period_ns = spec->period_ns,
        .repeat = spec->repeat,
        .group = spec->group,
        .bytes = bytes,
    };
    if (key_size > 0)
        memcpy(attributes->key_bytes, spec->key, key_size);
    attributes->key = (struct htw__key_node) { .hash = hash,
                                               .key = attributes->key_bytes,
                                               .size = (uint32_t)key_size };
    return attributes;
}

void htw__attributes_destroy(struct htw_scheduler *scheduler, struct htw__attributes *attributes) {
    if (attributes != NULL)
        htw__release(&scheduler->allocator, attributes, attributes->bytes);
}

static struct htw__key_table *table_of(struct htw__shard *shard,
                                       const struct htw__attributes *attributes) {
    return attributes->group == NULL ? &shard->keys : attributes->group->keys;
}

void htw__attributes_insert_key(struct htw__shard *shard, struct htw__attributes *attributes) {
    struct htw__key_table *table = table_of(shard, attributes);
    size_t before = htw__key_table_memory(table);
    htw__key_table_insert(table, &attributes->key);
    if (attributes->group != NULL) /* the table of the shard is asked when it has to be known */
        htw__counter_add(&shard->attributes_bytes, htw__key_table_memory(table) - before);
    attributes->keyed = true;
}

void htw__attributes_remove_key(struct htw__shard *shard, struct htw__attributes *attributes) {
    if (!attributes->keyed)
        return;
    struct htw__key_table *table = table_of(shard, attributes);
    size_t before = htw__key_table_memory(table);
    htw__key_table_remove(table, &attributes->key);
    if (attributes->group != NULL)
        htw__counter_add(&shard->attributes_bytes, htw__key_table_memory(table) - before);
    attributes->keyed = false;
}

void htw__attributes_pause(struct htw__record *record, struct htw__attributes *attributes,
                           int64_t now_ns) {
    if (record->deadline_ns != HTW_NEVER_NS)
        record->deadline_ns = record->deadline_ns > now_ns ? record->deadline_ns - now_ns : 0;
    attributes->paused = true;
}

void htw__attributes_resume(struct htw__record *record, struct htw__attributes *attributes,
                            int64_t now_ns) {
    if (attributes == NULL || !attributes->paused)
        return;
    record->deadline_ns = htw__after_ns(now_ns, record->deadline_ns);
    attributes->paused = false;
}

void htw__attributes_file(struct htw__shard *shard, struct htw__record *record,
                          struct htw__attributes *attributes, int64_t now_ns, bool *ret_wake) {
    if (attributes == NULL || attributes->group == NULL || !attributes->group->paused) {
        htw__shard_file_surely(shard, record, now_ns, ret_wake);
        return;
    }
    htw__attributes_pause(record, attributes, now_ns);
    bool wake = false; /* it is not going to be due */
    int error = htw__shard_file(shard, record, HTW_NEVER_TICK, HTW_NEVER_NS, &wake);
    HTW_ASSERT(error == 0); /* no deadline needs no level */
    (void)error;
}

void htw__attributes_detach(struct htw__shard *shard, struct htw__record *record,
                            bool has_attributes, struct htw__ended *ret_ended) {
    struct htw__attributes *attributes = has_attributes ? record->attributes : NULL;
    if (has_attributes && attributes->paused)
        htw__attributes_resume(record, attributes, htw__now_ns(shard->scheduler));
    *ret_ended = (struct htw__ended) {
        .unexpired = { .handle = htw__handle_of(shard, record),
                       .callback = record->callback,
                       .arg = has_attributes ? attributes->arg : record->arg,
                       .deadline_ns = record->deadline_ns },
        .attributes = attributes,
    };
    if (attributes == NULL)
        return;
    htw__attributes_remove_key(shard, attributes);
    if (attributes->group != NULL)
        htw__group_leave(attributes->group, attributes);
    htw__counter_set(&shard->attributes_bytes,
                     htw__counter_read(&shard->attributes_bytes) - attributes->bytes);
}

/* Whoever ended the timer is still in a call of the library: a hook that stopped the scheduler
   would take it away from under him. */
static void call_hook(struct htw_scheduler *scheduler, const struct htw__attributes *attributes) {
    struct htw__run run = { .scheduler = scheduler, .outer = htw__innermost_run };
    htw__innermost_run = &run;
    attributes->release(attributes->arg);
    htw__innermost_run = run.outer;
}

void htw__ended_settle(struct htw_scheduler *scheduler, const struct htw__ended *ended) {
    if (ended->attributes == NULL)
        return;
    if (ended->attributes->release != NULL)
        call_hook(scheduler, ended->attributes);
    if (!htw__is_child(scheduler))
        htw__attributes_destroy(scheduler, ended->attributes);
}
