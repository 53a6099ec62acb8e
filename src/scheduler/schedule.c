/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - the calls that arm a timer.
 *
 * Most timers have no attributes, and arm_plain() is all that happens. htw_schedule_spec() also arms those that have
 * some: arm_with_attributes(). Both end in publish(), where the timer gets into its wheel.
 */
#include "attributes.h"
#include "observe.h"
#include "../base/compiler.h"
#include "../base/refusal.h"

/* A timer that is being armed. */
struct arming {
    struct htw__due due;
    htw_callback *callback;
    const struct htw_site *site; /* NULL: the record points to the callback */
    void *arg;
    struct htw__attributes *attributes; /* NULL: it needs none */
    unsigned mode;                      /* of the scheduler, or 0 if that is known */
    const struct htw_stack *stack;      /* of htw__stack_take() */
};

/* ---- what all have in common */

/* What every call that arms a timer begins with. 0 or a negative errno. */
static inline int refusal_of(const struct htw_scheduler *scheduler, htw_callback *callback) {
    int refusal = htw__scheduler_refusal(scheduler);
    return refusal == 0 && callback == NULL ? -EINVAL : refusal;
}

/* Starts the threads where that is still to be done. 0 or -ENOMEM. */
static int prepare(struct htw_scheduler *scheduler, unsigned mode) {
    return mode & HTW__MODE_STARTING ? htw__start_threads(scheduler, false) : 0;
}

/* Puts a new record into its wheel, and makes it PENDING. Returns its handle. Under the lock. */
static inline __attribute__((always_inline)) htw_handle
publish(struct htw__shard *shard, struct htw__record *record, uint32_t index,
        const struct arming *arming, unsigned *ret_wake) {
    unsigned flags = HTW__PENDING;
    if (arming->site != NULL) {
        record->site = arming->site;
        flags |= HTW__HAS_SITE;
    } else {
        record->callback = arming->callback;
    }
    if (arming->attributes != NULL) {
        record->attributes = arming->attributes;
        flags |= HTW__HAS_ATTRIBUTES;
    } else {
        record->arg = arming->arg;
    }
    record->deadline_ns = arming->due.deadline_ns;
    htw__clockwork_arm(htw__clockwork_of(shard, arming->attributes), record, arming->due.tick,
                       ret_wake);
    /* order: The record is new, and this thread's. Its state is HTW__FREE, which is 0. */
    uint64_t status = atomic_load_explicit(&record->status, memory_order_relaxed) | flags;
    htw__status_set(record, status);
    htw__counter_add(&shard->scheduled, 1);
    htw_handle handle = htw__handle_at(shard, status, index);
    HTW__PROBE5(arm, shard->scheduler, handle, HTW__PROBE_SITE(record), HTW__PROBE_FLAGS(record),
                record->deadline_ns);
    htw__observe_armed(shard, arming->mode, record, handle, arming->stack);
    return handle;
}

/* ---- without attributes */

/* A record, and a credit where there is a limit. Under the lock. */
static inline __attribute__((always_inline)) int reserve_plain(struct htw__shard *shard,
                                                               unsigned mode,
                                                               struct htw__record **ret_record,
                                                               uint32_t *ret_index) {
    int error = htw__shard_allocate_record(shard, ret_record, ret_index);
    if (HTW__UNLIKELY(error != 0) || !(mode & HTW__MODE_LIMITED) ||
        htw__credit_acquire(shard->scheduler))
        return error;
    htw__slab_free(&shard->slab, &(*ret_record)->cell);
    htw__counter_add(&shard->refused, 1);
    return -EAGAIN;
}

/* Where the mode is a constant, what that does not need is left out. */
static inline __attribute__((always_inline)) int
arm_plain(struct htw_scheduler *scheduler, const struct arming *arming, htw_handle *ret_handle) {
    struct htw__record *record = NULL;
    uint32_t index;
    unsigned wake = 0;
    struct htw__shard *shard = htw__shard_lock_here(scheduler);
    int error = reserve_plain(shard, arming->mode, &record, &index);
    if (HTW__LIKELY(error == 0)) {
        htw_handle handle = publish(shard, record, index, arming, &wake);
        /* Before the shard is unlocked: the callback may read it. */
        if (ret_handle != NULL)
            *ret_handle = handle;
        HTW__ANNOTATE_HAND_OVER(record);
    }
    htw__lock_release(&shard->lock);
    if (HTW__UNLIKELY(wake != 0))
        htw__shard_wake(shard, wake);
    return error;
}

/* The common cases: nothing is observed, or how many timers each callback has. No site is given. */
static __attribute__((noinline)) int arm_usual(struct htw_scheduler *scheduler, struct htw__due due,
                                               htw_callback *callback, void *arg,
                                               htw_handle *ret_handle) {
    const struct arming arming = { .due = due, .callback = callback, .arg = arg };
    return arm_plain(scheduler, &arming, ret_handle);
}

static __attribute__((noinline)) int arm_counted(struct htw_scheduler *scheduler,
                                                 struct htw__due due, htw_callback *callback,
                                                 void *arg, htw_handle *ret_handle) {
    const struct arming arming = { due, callback, NULL, arg, NULL, HTW_OBSERVE_SITES, NULL };
    return arm_plain(scheduler, &arming, ret_handle);
}

static __attribute__((noinline)) int arm_unusual(struct htw_scheduler *scheduler,
                                                 struct htw__due due, htw_callback *callback,
                                                 const struct htw_site *site, void *arg,
                                                 htw_handle *ret_handle) {
    struct htw_stack stack;
    unsigned mode = htw__mode(scheduler);
    int error = prepare(scheduler, mode);
    if (error != 0)
        return error;
    const struct arming arming = {
        due, callback, site, arg, NULL, mode, htw__stack_take(scheduler, mode, &stack)
    };
    return arm_plain(scheduler, &arming, ret_handle);
}

static inline int arm_by_mode(struct htw_scheduler *scheduler, struct htw__due due,
                              htw_callback *callback, void *arg, htw_handle *ret_handle) {
    unsigned mode = htw__mode(scheduler);
    if (HTW__LIKELY(mode == 0))
        return arm_usual(scheduler, due, callback, arg, ret_handle);
    if (mode == HTW_OBSERVE_SITES)
        return arm_counted(scheduler, due, callback, arg, ret_handle);
    return arm_unusual(scheduler, due, callback, NULL, arg, ret_handle);
}

int htw_schedule(struct htw_scheduler *scheduler, int64_t delay_ns, htw_callback *callback,
                 void *arg, htw_handle *ret_handle) {
    int error = refusal_of(scheduler, callback);
    if (error != 0)
        return error;
    struct htw__due due = htw__due_after(scheduler, scheduler->clock, delay_ns);
    return arm_by_mode(scheduler, due, callback, arg, ret_handle);
}

int htw_schedule_at(struct htw_scheduler *scheduler, int64_t deadline_ns, htw_callback *callback,
                    void *arg, htw_handle *ret_handle) {
    int error = refusal_of(scheduler, callback);
    if (error != 0)
        return error;
    return arm_by_mode(scheduler, htw__due_at(scheduler, deadline_ns), callback, arg, ret_handle);
}

/* ---- with slack */

/* Of the ticks from that of `due` up to `latest`, the one where timers meet. */
static struct htw__due due_up_to(const struct htw_scheduler *scheduler, struct htw__due due,
                                 uint64_t latest) {
    if (latest <= due.tick)
        return due;
    due.tick = htw__roundest(due.tick, latest);
    int64_t chosen_ns = htw__tick_ns(scheduler, due.tick);
    if (due.deadline_ns < chosen_ns)
        due.deadline_ns = chosen_ns;
    return due;
}

/* Between two delays. If the first is 0 or less, the present tick is in the range. */
static struct htw__due due_within(const struct htw_scheduler *scheduler,
                                  const struct htw__clock *clock, int64_t earliest_ns,
                                  int64_t latest_ns) {
    int64_t now_ns = htw__clock_now_ns(scheduler, clock);
    struct htw__due due = { now_ns, htw__tick_at(scheduler, now_ns) };
    if (earliest_ns > 0)
        due = htw__due_at(scheduler, htw__after_ns(now_ns, earliest_ns));
    return due_up_to(scheduler, due, htw__tick_at(scheduler, htw__after_ns(now_ns, latest_ns)));
}

/* ---- with attributes */

/* The first member that is wrong. NULL: none. */
static const char *invalid_member(const struct htw_scheduler *scheduler,
                                  const struct htw_spec *spec) {
    if (spec->struct_size != sizeof(*spec))
        return "struct_size";
    if (spec->period_ns < 0)
        return "period_ns";
    if (spec->repeat < HTW_REPEAT_SKIP || spec->repeat > HTW_REPEAT_AFTER)
        return "repeat";
    if (spec->key_size > UINT32_MAX)
        return "key_size";
    if (htw__clock_for(scheduler, spec->clock) == NULL)
        return "clock";
    if (spec->group != NULL && spec->group->shard->scheduler != scheduler)
        return "group";
    if (spec->site != NULL && spec->site->callback == NULL)
        return "site";
    return spec->callback == NULL && spec->site == NULL ? "callback" : NULL;
}

static struct htw__due due_of(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                              const struct htw_spec *spec) {
    if (!spec->absolute)
        return spec->latest_ns > spec->when_ns
                   ? due_within(scheduler, clock, spec->when_ns, spec->latest_ns)
                   : htw__due_after(scheduler, clock, spec->when_ns);
    struct htw__due due = htw__due_at(scheduler, spec->when_ns);
    return due_up_to(scheduler, due, htw__tick_at(scheduler, spec->latest_ns));
}

/* Whether a timer with a key releases a credit when it is cancelled. This does not change under the
   lock: a timer with attributes does not start without it. */
static bool frees_credit(const struct htw__record *record) {
    enum htw__state state = htw__status_state(htw__status_of(record));
    return state == HTW__PENDING || state == HTW__QUEUED;
}

/* Takes what the timer needs: a record, and a credit, or that of the timer that has its key, `*ret_old`. Unlocks and
   locks the shard; from its return on that stays locked. */
static int reserve(struct htw__shard *shard, const struct htw_spec *spec, uint64_t hash,
                   struct htw__record **ret_record, uint32_t *ret_index,
                   struct htw__record **ret_old) {
    struct htw_scheduler *scheduler = shard->scheduler;
    int error = htw__shard_allocate_record(shard, ret_record, ret_index);
    if (error != 0)
        return error;
    const struct htw__record *old = *ret_old =
        spec->key == NULL ? NULL
                          : htw__key_find(shard, spec->group, hash, spec->key, spec->key_size);
    if (old != NULL && spec->keep_existing) {
        error = -EEXIST;
    } else if (!htw__credit_acquire(scheduler)) {
        if (old != NULL && frees_credit(old)) {
            htw__credit_add(scheduler, -1); /* it comes back when `old` is cancelled */
        } else {
            htw__counter_add(&shard->refused, 1);
            error = -EAGAIN;
        }
    }
    if (error != 0)
        htw__slab_free(&shard->slab, &(*ret_record)->cell);
    return error;
}

/* Takes the armed timer into its group and the table of its key. */
static void insert(struct htw__shard *shard, struct htw__record *record, bool has_key) {
    struct htw__attributes *attributes = record->attributes;
    struct htw_group *group = attributes->group;
    attributes->record = record;
    htw__counter_add(&shard->attributes_bytes, htw__attributes_bytes(attributes));
    if (group != NULL)
        htw__group_add(group, &attributes->member);
    if (has_key)
        htw__attributes_set_keyed(shard, attributes, true);
    if (group != NULL && group->paused)
        htw__attributes_pause(record, attributes, htw__clockwork_now_ns(attributes->clockwork));
}

/* `ret_replaced`: the timer that had the key; its handle stays 0 if there was none. */
static int arm_with_attributes(struct htw__shard *shard, struct arming *arming,
                               const struct htw_spec *spec, htw_handle *ret_handle,
                               struct htw__timer_end *ret_replaced) {
    struct htw__record *record, *old;
    uint32_t index;
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    int error = reserve(shard, spec, arming->attributes->key.hash, &record, &index, &old);
    if (error == 0) {
        if (old != NULL) /* a running one only loses the key */
            htw__cancel_locked(shard, old, ret_replaced);
        if (spec->group != NULL && spec->group->paused)
            arming->due.tick = HTW_NEVER_TICK; /* insert() pauses it */
        htw_handle handle = publish(shard, record, index, arming, &wake);
        insert(shard, record, spec->key != NULL);
        if (ret_handle != NULL)
            *ret_handle = handle;
        HTW__ANNOTATE_HAND_OVER(record);
    }
    htw__lock_release(&shard->lock);
    htw__shard_wake(shard, wake);
    return error;
}

static int schedule_with_attributes(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                                    htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    const struct htw__clock *clock = htw__clock_for(scheduler, spec->clock);
    struct htw__clockwork *clockwork = NULL;
    uint64_t hash =
        spec->key == NULL ? 0 : htw__key_hash(spec->key, spec->key_size, scheduler->key_seed);
    struct htw__shard *shard = spec->key == NULL && spec->group == NULL
                                   ? htw__shard_here(scheduler)
                                   : htw__key_shard(scheduler, spec->group, hash);
    struct arming arming = { .callback = spec->callback,
                             .site = spec->site,
                             .mode = htw__mode(scheduler) };
    int error = prepare(scheduler, arming.mode);
    if (error == 0)
        error = htw__shard_clockwork(shard, clock, &clockwork);
    if (error != 0)
        return error;
    struct htw_stack stack;
    struct htw__timer_end replaced = { .attributes = NULL };
    arming.due = due_of(scheduler, clock, spec);
    arming.stack = htw__stack_take(scheduler, arming.mode, &stack);
    arming.attributes = htw__attributes_create(clockwork, spec, hash);
    if (arming.attributes == NULL)
        return -ENOMEM;
    error = arm_with_attributes(shard, &arming, spec, ret_handle, &replaced);
    if (error != 0) {
        htw__attributes_destroy(scheduler, arming.attributes);
        return error;
    }
    if (ret_replaced != NULL) {
        *ret_replaced = replaced.unexpired;
        ret_replaced->arg = htw__timer_end_arg(&replaced);
    }
    htw__timer_end_release(scheduler, &replaced);
    return 0;
}

int htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                      htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    int error = htw__scheduler_refusal(scheduler);
    if (error == -EINVAL || spec == NULL)
        return htw__refuse(NULL);
    if (error != 0)
        return error;
    const char *member = invalid_member(scheduler, spec);
    if (member != NULL)
        return htw__refuse(member);
    if (htw__attributes_are_needed(scheduler, spec))
        return schedule_with_attributes(scheduler, spec, ret_handle, ret_replaced);
    error = arm_unusual(scheduler, due_of(scheduler, scheduler->clock, spec), spec->callback,
                        spec->site, spec->arg, ret_handle);
    if (error == 0 && ret_replaced != NULL)
        *ret_replaced = (struct htw_unexpired) { .handle = 0 };
    return error;
}
