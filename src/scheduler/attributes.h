/* SPDX-License-Identifier: MIT */
/* attributes.h - the optional properties of a timer: period, key, group, release hook, another
   clock. Also the steps that end a timer, with or without attributes. */
#ifndef HTW_SRC_SCHEDULER_ATTRIBUTES_H
#define HTW_SRC_SCHEDULER_ATTRIBUTES_H

#include "group.h"
#include "shard.h"

/* Guarded by the lock of the shard. */
struct htw__attributes {
    void *arg;
    htw_callback *callback; /* NULL: that of the record, or of its site */
    htw_release_hook *release;
    struct htw__record *record;
    struct htw__clockwork *clockwork; /* of its clock, in its shard */
    int64_t period_ns;                /* 0: does not repeat */
    uint64_t missed;                  /* periods left out since the last run */
    enum htw_repeat repeat;
    bool paused; /* the record is PENDING and never due, or QUEUED; its deadline_ns is what remains,
                    or an instant that the pause keeps */
    bool is_instant; /* the deadline was given as an instant, not as a delay */
    bool keyed;      /* `key` is in a table */
    struct htw_group *group;
    struct htw__member member; /* of `group` */
    struct htw__key_node key;
    char bytes[]; /* of the key */
};

/* The size of the block, with what follows it. */
static inline size_t htw__attributes_bytes(const struct htw__attributes *attributes) {
    return sizeof(*attributes) + attributes->key.size;
}

/* Whether another callback runs than that of the site. */
static inline bool htw__replaces_callback(const struct htw_spec *spec) {
    return spec->site != NULL && spec->callback != NULL && spec->callback != spec->site->callback;
}

/*
 * Whether a timer with this specification needs attributes.
 *
 * A new member of struct htw_spec stops the compiler here, since the list is by position. Add it to
 * the list and decide whether it needs attributes. If it does, name it below and copy it in
 * htw__attributes_create().
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static inline bool htw__attributes_are_needed(const struct htw_scheduler *scheduler,
                                              const struct htw_spec *spec) {
    const struct htw_spec all = {
        spec->struct_size,   spec->callback,  spec->arg,     spec->when_ns, spec->latest_ns,
        spec->absolute,      spec->period_ns, spec->repeat,  spec->key,     spec->key_size,
        spec->keep_existing, spec->group,     spec->release, spec->clock,   spec->site,
    };
    return all.period_ns > 0 || all.key != NULL || all.group != NULL || all.release != NULL ||
           (all.clock != HTW_CLOCK_DEFAULT && all.clock != scheduler->clock->name) ||
           htw__replaces_callback(&all);
}
#pragma GCC diagnostic pop

/* `hash` is that of the key. The result is in no group and no table yet. NULL: no memory. */
struct htw__attributes *htw__attributes_create(struct htw__clockwork *clockwork,
                                               const struct htw_spec *spec, uint64_t hash);

/* NULL is allowed. */
void htw__attributes_destroy(struct htw_scheduler *scheduler, struct htw__attributes *attributes);

/* The callback of a timer. `attributes` may be NULL. */
static inline htw_callback *htw__attributes_callback(const struct htw__record *record,
                                                     uint64_t status,
                                                     const struct htw__attributes *attributes) {
    return attributes != NULL && attributes->callback != NULL ? attributes->callback
                                                              : htw__callback_of(record, status);
}

/* ---- under the lock of the shard */

/* The clockwork in which a timer is armed. `attributes` may be NULL. */
static inline struct htw__clockwork *htw__clockwork_of(struct htw__shard *shard,
                                                       const struct htw__attributes *attributes) {
    return attributes == NULL ? &shard->own : attributes->clockwork;
}

/* The attributes of a record; NULL: it has none. */
static inline struct htw__attributes *htw__attributes_of(const struct htw__record *record,
                                                         uint64_t status) {
    return status & HTW__HAS_ATTRIBUTES ? record->attributes : NULL;
}

/* In what follows, `now_ns` is a time of the timer's clock. */

/* "At 03:00" stays that time, however long the pause; clocks that cannot be set count durations. */
static inline bool htw__attributes_keep_instant(const struct htw__attributes *attributes) {
    return attributes->is_instant && attributes->clockwork->clock->is_settable;
}

/* The deadline of a timer; of a paused one, as if it were resumed now. `attributes` may be NULL. */
static inline int64_t htw__attributes_deadline_ns(const struct htw__record *record,
                                                  const struct htw__attributes *attributes) {
    if (attributes == NULL)
        return record->deadline_ns;
    if (!attributes->paused || htw__attributes_keep_instant(attributes))
        return record->deadline_ns;
    return htw__after_ns(htw__clockwork_now_ns(attributes->clockwork), record->deadline_ns);
}

/* Pauses a timer: deadline_ns becomes what remains, unless it is an instant of the wall clock. */
void htw__attributes_pause(struct htw__record *record, struct htw__attributes *attributes,
                           int64_t now_ns);

/* Resumes a timer, if it was paused: deadline_ns is an instant again. `attributes` may be NULL. */
void htw__attributes_resume(struct htw__record *record, struct htw__attributes *attributes,
                            int64_t now_ns);

/* Arms a record for its deadline_ns, or pauses it there if its group is paused. `attributes` may be
   NULL. `ret_wake`: as htw__clockwork_arm(). */
void htw__attributes_arm(struct htw__shard *shard, struct htw__record *record,
                         struct htw__attributes *attributes, int64_t now_ns, unsigned *ret_wake);

/* ---- keys */

/* What every public call with a key begins with: 0, -EINVAL or -EOWNERDEAD. */
int htw__timer_key_refusal(const struct htw_scheduler *scheduler, const struct htw_group *group,
                           const void *key, size_t key_size);

/* The shard in which the timer of a key lives. */
struct htw__shard *htw__key_shard(const struct htw_scheduler *scheduler,
                                  const struct htw_group *group, uint64_t hash);

/* The timer that has a key, in a group or without one; NULL: none. Under the lock of the shard. */
struct htw__record *htw__key_find(struct htw__shard *shard, struct htw_group *group, uint64_t hash,
                                  const void *key, size_t key_size);

/* Takes a timer into the table of its key, or out of it; it may be so already. Under the lock of the shard. */
void htw__attributes_set_keyed(struct htw__shard *shard, struct htw__attributes *attributes,
                               bool keyed);

/* ---- the end of a timer, without a run or after its last run */

struct htw__timer_end {
    struct htw_unexpired unexpired;
    struct htw__attributes *attributes; /* in no group and no table; NULL: it had none */
};

/* Step 1, under the lock of the shard: takes the attributes, if any, out of group and table. */
void htw__attributes_detach(struct htw__shard *shard, struct htw__record *record,
                            bool has_attributes, struct htw__timer_end *ret_ended);

/* Between the steps: the argument that the user gets back; NULL if the release hook gets it. */
static inline void *htw__timer_end_arg(const struct htw__timer_end *ended) {
    bool has_hook = ended->attributes != NULL && ended->attributes->release != NULL;
    return has_hook ? NULL : ended->unexpired.arg;
}

/* Step 2, with no lock held: calls the release hook, if any, and frees the attributes. */
void htw__timer_end_release(struct htw_scheduler *scheduler, const struct htw__timer_end *ended);

/* The same for several; before, the visitor is called for each. It may be NULL. */
void htw__timer_ends_release(struct htw_scheduler *scheduler, const struct htw__timer_end ended[],
                             uint32_t count, htw_unexpired_visitor *visitor, void *context);

/* Cancels a timer. Under the lock of its shard. After HTW_CANCELLED the caller must call
   htw__timer_end_release() with `*ret_ended`, when it has unlocked the shard. */
enum htw_outcome htw__cancel_locked(struct htw__shard *shard, struct htw__record *record,
                                    struct htw__timer_end *ret_ended);

#endif /* HTW_SRC_SCHEDULER_ATTRIBUTES_H */
