/* SPDX-License-Identifier: MIT */
/* extra.c - the second record, of timers with a period, a key, a group or a hook. */
#include "extra.h"

#include "group.h"
#include "shard.h"

#include <string.h>

struct htw__extra *htw__extra_create(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                                     uint64_t hash) {
    size_t key_size = spec->key == NULL ? 0 : spec->key_size;
    size_t bytes = sizeof(struct htw__extra) + key_size;
    struct htw__extra *extra = htw__allocate(&scheduler->allocator, bytes);
    if (extra == NULL)
        return NULL;
    *extra = (struct htw__extra) {
        .arg = spec->arg,
        .release = spec->release,
        .period_ns = spec->period_ns,
        .repeat = spec->repeat,
        .group = spec->group,
        .bytes = bytes,
    };
    if (key_size > 0)
        memcpy(extra->key_bytes, spec->key, key_size);
    extra->key = (struct htw__key_node) { .hash = hash,
                                          .key = extra->key_bytes,
                                          .size = (uint32_t)key_size };
    return extra;
}

void htw__extra_destroy(struct htw_scheduler *scheduler, struct htw__extra *extra) {
    if (extra != NULL)
        htw__release(&scheduler->allocator, extra, extra->bytes);
}

static struct htw__key_table *table_of(struct htw__shard *shard, const struct htw__extra *extra) {
    return extra->group == NULL ? &shard->keys : extra->group->keys;
}

void htw__extra_enter_key(struct htw__shard *shard, struct htw__extra *extra) {
    struct htw__key_table *table = table_of(shard, extra);
    size_t before = htw__key_table_memory(table);
    htw__key_table_insert(table, &extra->key);
    if (extra->group != NULL) /* the table of the shard is asked when it has to be known */
        htw__counter_add(&shard->extra_bytes, htw__key_table_memory(table) - before);
    extra->keyed = true;
}

void htw__extra_leave_key(struct htw__shard *shard, struct htw__extra *extra) {
    if (!extra->keyed)
        return;
    struct htw__key_table *table = table_of(shard, extra);
    size_t before = htw__key_table_memory(table);
    htw__key_table_remove(table, &extra->key);
    if (extra->group != NULL)
        htw__counter_add(&shard->extra_bytes, htw__key_table_memory(table) - before);
    extra->keyed = false;
}

void htw__extra_pause(struct htw__record *record, struct htw__extra *extra, int64_t now_ns) {
    if (record->deadline_ns != HTW_FOREVER)
        record->deadline_ns = record->deadline_ns > now_ns ? record->deadline_ns - now_ns : 0;
    extra->paused = true;
}

void htw__extra_resume(struct htw__record *record, struct htw__extra *extra, int64_t now_ns) {
    if (extra == NULL || !extra->paused)
        return;
    record->deadline_ns = htw__after_ns(now_ns, record->deadline_ns);
    extra->paused = false;
}

void htw__extra_file(struct htw__shard *shard, struct htw__record *record, struct htw__extra *extra,
                     int64_t now_ns, bool *ret_wake) {
    if (extra == NULL || extra->group == NULL || !extra->group->paused) {
        htw__shard_file_surely(shard, record, now_ns, ret_wake);
        return;
    }
    htw__extra_pause(record, extra, now_ns);
    bool wake = false; /* it is not going to be due */
    int error = htw__shard_file(shard, record, HTW_NEVER, HTW_FOREVER, &wake);
    HTW_ASSERT(error == 0); /* no deadline needs no level */
    (void)error;
}

void htw__extra_detach(struct htw__shard *shard, struct htw__record *record, bool has_extra,
                       struct htw__ended *ret_ended) {
    struct htw__extra *extra = has_extra ? record->extra : NULL;
    if (has_extra && extra->paused)
        htw__extra_resume(record, extra, htw__now_ns(shard->scheduler));
    *ret_ended = (struct htw__ended) {
        .leftover = { .handle = htw__handle_of(shard, record),
                      .callback = record->callback,
                      .arg = has_extra ? extra->arg : record->arg,
                      .deadline_ns = record->deadline_ns },
        .extra = extra,
    };
    if (extra == NULL)
        return;
    htw__extra_leave_key(shard, extra);
    if (extra->group != NULL)
        htw__group_leave(extra->group, extra);
    htw__counter_set(&shard->extra_bytes, htw__counter_read(&shard->extra_bytes) - extra->bytes);
}

/* Whoever ended the timer is still in a call of the library: a hook that stopped the scheduler
   would take it away from under him. */
static void call_hook(struct htw_scheduler *scheduler, const struct htw__extra *extra) {
    struct htw__run run = { .scheduler = scheduler, .outer = htw__innermost_run };
    htw__innermost_run = &run;
    extra->release(extra->arg);
    htw__innermost_run = run.outer;
}

void htw__ended_settle(struct htw_scheduler *scheduler, const struct htw__ended *ended) {
    if (ended->extra == NULL)
        return;
    if (ended->extra->release != NULL)
        call_hook(scheduler, ended->extra);
    if (!htw__is_child(scheduler))
        htw__extra_destroy(scheduler, ended->extra);
}
