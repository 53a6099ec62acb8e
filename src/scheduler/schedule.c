/* SPDX-License-Identifier: MIT */
/* schedule.c - the calls that arm a timer: range of ticks (slack), shard, clock, key. */
#include "attributes.h"
#include "credit.h"
#include "observe.h"
#include "../base/compiler.h"

/* ---- when a timer is due */

/* Its deadline, and the range of ticks in which it may expire. */
struct plan {
    int64_t deadline_ns;
    uint64_t earliest, latest;
};

/* With slack: the ticks that begin in [from, to]; if there is none, the first tick after it. */
static struct plan plan_between(const struct htw_scheduler *scheduler, int64_t from_ns,
                                int64_t to_ns) {
    struct plan plan = { from_ns, htw__tick_from(scheduler, from_ns), 0 };
    plan.latest = htw__tick_at(scheduler, to_ns);
    if (plan.latest < plan.earliest)
        plan.latest = plan.earliest;
    return plan;
}

/* The same for delays. If the first is 0 or less, the present tick is in the range. */
static struct plan plan_within(const struct htw_scheduler *scheduler,
                               const struct htw__clock *clock, int64_t earliest_ns,
                               int64_t latest_ns) {
    int64_t now_ns = htw__clock_now_ns(scheduler, clock);
    int64_t to_ns = htw__after_ns(now_ns, latest_ns);
    if (earliest_ns <= 0)
        return (struct plan) { now_ns, htw__tick_at(scheduler, now_ns),
                               htw__tick_at(scheduler, to_ns) };
    return plan_between(scheduler, htw__after_ns(now_ns, earliest_ns), to_ns);
}

static struct plan plan_at(const struct htw_scheduler *scheduler, int64_t deadline_ns) {
    uint64_t tick = htw__tick_from(scheduler, deadline_ns);
    return (struct plan) { deadline_ns, tick, tick };
}

/* A delay of 0 or less is due at once, not at the next tick. */
static struct plan plan_after(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                              int64_t delay_ns) {
    int64_t now_ns = htw__clock_now_ns(scheduler, clock);
    if (delay_ns <= 0)
        return (struct plan) { now_ns, 0, 0 };
    return plan_at(scheduler, htw__after_ns(now_ns, delay_ns));
}

/* ---- without attributes */

/* What every call that arms a timer begins with. 0 or a negative errno. */
static inline int refusal_of(const struct htw_scheduler *scheduler, htw_callback *callback) {
    int refusal = htw__scheduler_refusal(scheduler);
    return refusal == 0 && callback == NULL ? -EINVAL : refusal;
}

/* Starts the threads where that is still to be done. 0 or -ENOMEM. */
static int prepare(struct htw_scheduler *scheduler, unsigned mode) {
    return mode & HTW__MODE_STARTING ? htw__start_threads(scheduler, false) : 0;
}

/* Puts a new record into the wheel, for a tick of the plan. Under the lock. */
static inline int arm(struct htw__clockwork *clockwork, struct htw__record *record,
                      struct plan plan, unsigned *ret_wake) {
    record->deadline_ns = plan.deadline_ns;
    if (HTW__LIKELY(plan.earliest == plan.latest))
        return htw__clockwork_arm_new(clockwork, record, plan.earliest, plan.deadline_ns, ret_wake);
    int error = htw__clockwork_arm_within(clockwork, record, plan.earliest, plan.latest, ret_wake);
    int64_t chosen_ns = htw__tick_ns(clockwork->scheduler, htw_timer_deadline(&record->timer));
    if (record->deadline_ns < chosen_ns)
        record->deadline_ns = chosen_ns;
    return error;
}

/* Makes a record that is in the wheel PENDING. Returns its handle. Under the lock. */
static inline htw_handle begin(struct htw__shard *shard, struct htw__record *record, uint32_t index,
                               unsigned flags) {
    /* order: The record is new, and this thread's. */
    uint64_t status = atomic_load_explicit(&record->status, memory_order_relaxed) |
                      (unsigned)HTW__PENDING | flags; /* the state was HTW__FREE, which is 0 */
    htw__status_set(record, status);
    htw__counter_add(&shard->scheduled, 1);
    return htw__handle_at(shard, status, index);
}

/* Returns the flag that says which of the two it is. `site` may be NULL. */
static inline unsigned set_callback(struct htw__record *record, htw_callback *callback,
                                    const struct htw_site *site) {
    if (site != NULL)
        record->site = site;
    else
        record->callback = callback;
    return site != NULL ? HTW__HAS_SITE : 0;
}

static inline __attribute__((always_inline)) int
arm_plain(struct htw__shard *shard, struct plan plan, htw_callback *callback,
          const struct htw_site *site, void *arg, htw_handle *ret_handle,
          struct htw__record **ret_record, unsigned *ret_wake, unsigned mode,
          const struct htw_stack *stack) {
    struct htw__record *record;
    uint32_t index;
    if ((mode & HTW__MODE_LIMITED) && !htw__credit_acquire(shard)) {
        if (shard->closed)
            return -ESHUTDOWN;
        htw__counter_add(&shard->refused, 1);
        return -EAGAIN;
    }
    int error = htw__shard_allocate_record(shard, &record, &index);
    if (HTW__LIKELY(error == 0)) {
        unsigned flags = set_callback(record, callback, site);
        record->arg = arg;
        error = arm(&shard->own, record, plan, ret_wake);
        if (HTW__LIKELY(error == 0)) {
            *ret_handle = begin(shard, record, index, flags);
            *ret_record = record;
            HTW__PROBE5(arm, shard->scheduler, *ret_handle, HTW__PROBE_SITE(record),
                        HTW__PROBE_FLAGS(record), record->deadline_ns);
            htw__observe_armed(shard, mode, record, *ret_handle, stack);
            return 0;
        }
        htw__shard_free_record(shard, record);
    }
    if (mode & HTW__MODE_LIMITED)
        htw__credit_release(shard);
    return error;
}

/* `mode`: that of the scheduler. Where it is a constant, what that mode does not need is left out. */
static inline __attribute__((always_inline)) int
schedule_plain(struct htw_scheduler *scheduler, struct plan plan, htw_callback *callback,
               const struct htw_site *site, void *arg, htw_handle *ret_handle, unsigned mode,
               const struct htw_stack *stack) {
    struct htw__shard *shard = htw__shard_here(scheduler);
    htw_handle handle = 0;
    struct htw__record *record = NULL;
    unsigned wake = 0;
    htw__lock_acquire(&shard->lock);
    int error = arm_plain(shard, plan, callback, site, arg, &handle, &record, &wake, mode, stack);
    /* Before the shard is unlocked: the callback may read it. */
    if (error == 0 && ret_handle != NULL)
        *ret_handle = handle;
    HTW__ANNOTATE_HAND_OVER(record);
    htw__lock_release(&shard->lock);
    if (HTW__UNLIKELY(wake != 0))
        htw__clockwork_wake(&shard->own);
    return error;
}

static __attribute__((noinline)) int schedule_unusual(struct htw_scheduler *scheduler,
                                                      struct plan plan, htw_callback *callback,
                                                      const struct htw_site *site, void *arg,
                                                      htw_handle *ret_handle) {
    struct htw_stack stack;
    unsigned mode = htw__mode(scheduler);
    int error = prepare(scheduler, mode);
    return error == 0 ? schedule_plain(scheduler, plan, callback, site, arg, ret_handle, mode,
                                       htw__stack_take(scheduler, mode, &stack))
                      : error;
}

static __attribute__((noinline)) int schedule_tick_unusual(struct htw_scheduler *scheduler,
                                                           int64_t deadline_ns, uint64_t tick,
                                                           htw_callback *callback, void *arg,
                                                           htw_handle *ret_handle) {
    struct plan plan = { deadline_ns, tick, tick };
    return htw__mode(scheduler) == HTW_OBSERVE_SITES
               ? schedule_plain(scheduler, plan, callback, NULL, arg, ret_handle, HTW_OBSERVE_SITES,
                                NULL)
               : schedule_unusual(scheduler, plan, callback, NULL, arg, ret_handle);
}

/* The common case: the range is a single tick, and the mode is 0. */
static __attribute__((noinline)) int schedule_tick(struct htw_scheduler *scheduler,
                                                   int64_t deadline_ns, uint64_t tick,
                                                   htw_callback *callback, void *arg,
                                                   htw_handle *ret_handle) {
    return schedule_plain(scheduler, (struct plan) { deadline_ns, tick, tick }, callback, NULL, arg,
                          ret_handle, 0, NULL);
}

static __attribute__((noinline)) int schedule_range(struct htw_scheduler *scheduler,
                                                    struct plan plan, htw_callback *callback,
                                                    const struct htw_site *site, void *arg,
                                                    htw_handle *ret_handle) {
    if (HTW__UNLIKELY(htw__mode(scheduler) != 0))
        return schedule_unusual(scheduler, plan, callback, site, arg, ret_handle);
    return schedule_plain(scheduler, plan, callback, site, arg, ret_handle, 0, NULL);
}

int htw_schedule(struct htw_scheduler *scheduler, int64_t delay_ns, htw_callback *callback,
                 void *arg, htw_handle *ret_handle) {
    int error = refusal_of(scheduler, callback);
    if (error != 0)
        return error;
    struct plan plan = plan_after(scheduler, scheduler->clock, delay_ns);
    return HTW__LIKELY(htw__mode(scheduler) == 0)
               ? schedule_tick(scheduler, plan.deadline_ns, plan.earliest, callback, arg,
                               ret_handle)
               : schedule_tick_unusual(scheduler, plan.deadline_ns, plan.earliest, callback, arg,
                                       ret_handle);
}

int htw_schedule_at(struct htw_scheduler *scheduler, int64_t deadline_ns, htw_callback *callback,
                    void *arg, htw_handle *ret_handle) {
    int error = refusal_of(scheduler, callback);
    if (error != 0)
        return error;
    uint64_t tick = htw__tick_from(scheduler, deadline_ns);
    return HTW__LIKELY(htw__mode(scheduler) == 0)
               ? schedule_tick(scheduler, deadline_ns, tick, callback, arg, ret_handle)
               : schedule_tick_unusual(scheduler, deadline_ns, tick, callback, arg, ret_handle);
}

int htw_schedule_within(struct htw_scheduler *scheduler, int64_t earliest_ns, int64_t latest_ns,
                        htw_callback *callback, void *arg, htw_handle *ret_handle) {
    int error = refusal_of(scheduler, callback);
    if (error == 0 && earliest_ns > latest_ns)
        error = -EINVAL;
    if (error != 0)
        return error;
    return schedule_range(scheduler,
                          plan_within(scheduler, scheduler->clock, earliest_ns, latest_ns),
                          callback, NULL, arg, ret_handle);
}

int htw_schedule_here(struct htw_scheduler *scheduler, int64_t delay_ns,
                      const struct htw_site *site, void *arg, htw_handle *ret_handle) {
    int error = site == NULL ? -EINVAL : refusal_of(scheduler, site->callback);
    if (error != 0)
        return error;
    return schedule_range(scheduler, plan_after(scheduler, scheduler->clock, delay_ns), NULL, site,
                          arg, ret_handle);
}

/* ---- with attributes */

/* The first member that is wrong, except for `callback`: refusal_of(). NULL: none. */
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
    return NULL;
}

static htw_callback *callback_of(const struct htw_spec *spec) {
    return spec->callback != NULL || spec->site == NULL ? spec->callback : spec->site->callback;
}

static struct plan plan_of(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                           const struct htw_spec *spec) {
    bool has_range = spec->latest_ns > spec->when_ns;
    if (!has_range)
        return spec->absolute ? plan_at(scheduler, spec->when_ns)
                              : plan_after(scheduler, clock, spec->when_ns);
    return spec->absolute ? plan_between(scheduler, spec->when_ns, spec->latest_ns)
                          : plan_within(scheduler, clock, spec->when_ns, spec->latest_ns);
}

/* Input and result of arming a timer. */
struct arming {
    const struct htw_spec *spec;
    struct htw__attributes *attributes;
    struct plan plan;
    htw_handle handle;
    struct htw__timer_end replaced; /* its handle is 0: none was replaced */
    struct htw__record *record;
    uint32_t index; /* of the record */
    bool has_credit;
    unsigned wake;                 /* see htw__clockwork_arm_new() */
    const struct htw_stack *stack; /* of htw__stack_take() */
};

/* Whether a timer with a key releases a credit when it is cancelled. This does not change under the
   lock: a timer with attributes does not start without it. */
static bool frees_credit(const struct htw__record *record) {
    enum htw__state state = htw__status_state(htw__status_of(record));
    return state == HTW__PENDING || state == HTW__QUEUED;
}

static struct htw__record *holder_of_key(struct htw__shard *shard, const struct arming *arming) {
    const struct htw_spec *spec = arming->spec;
    return spec->key == NULL ? NULL
                             : htw__key_find(shard, spec->group, arming->attributes->key.hash,
                                             spec->key, spec->key_size);
}

/* Takes what the timer needs: the table of its key, a credit, a record. The
   credit may be missing: the timer that is replaced may have one. Unlocks and locks the shard. */
static int reserve(struct htw__shard *shard, struct arming *arming) {
    const struct htw_spec *spec = arming->spec;
    if (spec->group != NULL && spec->key != NULL && htw__group_keys(spec->group) == NULL)
        return -ENOMEM;
    arming->has_credit = htw__credit_acquire(shard);
    int error = htw__shard_allocate_record(shard, &arming->record, &arming->index);
    if (error != 0 && arming->has_credit)
        htw__credit_release(shard);
    return error;
}

/* Puts the record into its wheel, unless the limit or the timer with the same key, `old`, forbids
   it. Nothing has changed after a failure. */
static int arm_reserved(struct htw__shard *shard, struct arming *arming,
                        const struct htw__record *old) {
    const struct htw_spec *spec = arming->spec;
    struct htw__attributes *attributes = arming->attributes;
    if (old != NULL && spec->keep_existing)
        return -EEXIST;
    if (!arming->has_credit && !(old != NULL && frees_credit(old))) {
        htw__counter_add(&shard->refused, 1);
        return -EAGAIN;
    }
    unsigned flags = set_callback(arming->record, spec->callback, spec->site);
    arming->record->attributes = attributes;
    int error = arm(attributes->clockwork, arming->record, arming->plan, &arming->wake);
    if (error == 0)
        arming->handle = begin(shard, arming->record, arming->index, HTW__HAS_ATTRIBUTES | flags);
    return error;
}

/* Cancels the timer that has the key; a running one only loses the key. */
static void replace(struct htw__shard *shard, struct arming *arming, struct htw__record *old) {
    htw__cancel_locked(shard, old, &arming->replaced);
    if (!arming->has_credit && shard->credit > 0)
        shard->credit--; /* the old timer has released it */
}

/* Takes the armed timer into its group and the table of its key. */
static void insert(struct htw__shard *shard, struct arming *arming) {
    struct htw__attributes *attributes = arming->attributes;
    struct htw_group *group = attributes->group;
    attributes->record = arming->record;
    htw__counter_add(&shard->attributes_bytes, htw__attributes_bytes(attributes));
    if (group != NULL)
        htw__group_add(group, &attributes->member);
    if (arming->spec->key != NULL)
        htw__attributes_insert_key(shard, attributes);
    if (group != NULL && group->paused)
        htw__attributes_arm(shard, arming->record, attributes,
                            htw__clockwork_now_ns(attributes->clockwork), &arming->wake);
}

/* Under the lock. */
static int arm_with_attributes(struct htw__shard *shard, struct arming *arming) {
    int error = reserve(shard, arming);
    if (error != 0)
        return error;
    /* From here on the shard stays locked. */
    struct htw__record *old = holder_of_key(shard, arming);
    error = arm_reserved(shard, arming, old);
    if (error != 0) {
        htw__shard_free_record(shard, arming->record);
        if (arming->has_credit)
            htw__credit_release(shard);
        return error;
    }
    if (old != NULL)
        replace(shard, arming, old);
    insert(shard, arming);
    HTW__PROBE5(arm, shard->scheduler, arming->handle, HTW__PROBE_SITE(arming->record),
                HTW__PROBE_FLAGS(arming->record), arming->record->deadline_ns);
    htw__observe_armed(shard, htw__mode(shard->scheduler), arming->record, arming->handle,
                       arming->stack);
    return 0;
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
    unsigned mode = htw__mode(scheduler);
    int error = prepare(scheduler, mode);
    if (error == 0)
        error = htw__shard_clockwork(shard, clock, &clockwork);
    if (error != 0)
        return error;
    struct htw_stack stack;
    struct arming arming = { .spec = spec, .plan = plan_of(scheduler, clock, spec) };
    arming.stack = htw__stack_take(scheduler, mode, &stack);
    arming.attributes = htw__attributes_create(clockwork, spec, hash);
    if (arming.attributes == NULL)
        return -ENOMEM;
    htw__lock_acquire(&shard->lock);
    error = arm_with_attributes(shard, &arming);
    if (error == 0 && ret_handle != NULL)
        *ret_handle = arming.handle;
    if (error == 0 && ret_replaced != NULL) {
        *ret_replaced = arming.replaced.unexpired;
        ret_replaced->arg = htw__timer_end_arg(&arming.replaced);
    }
    if (error == 0)
        HTW__ANNOTATE_HAND_OVER(arming.record);
    htw__lock_release(&shard->lock);
    htw__shard_wake(shard, arming.wake);
    if (error != 0)
        htw__attributes_destroy(scheduler, arming.attributes);
    else if (arming.replaced.unexpired.handle != 0)
        htw__timer_end_release(scheduler, &arming.replaced);
    return error;
}

void htw_spec_init(struct htw_spec *spec) {
    static const struct htw_spec initial = HTW_SPEC_INIT;
    if (spec != NULL)
        *spec = initial;
}

const char *htw_spec_invalid(const struct htw_scheduler *scheduler, const struct htw_spec *spec) {
    if (scheduler == NULL || spec == NULL)
        return NULL;
    const char *member = invalid_member(scheduler, spec);
    return member == NULL && callback_of(spec) == NULL ? "callback" : member;
}

int htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                      htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    int error = htw__scheduler_refusal(scheduler);
    if (error == 0 && (spec == NULL || invalid_member(scheduler, spec) != NULL))
        error = -EINVAL;
    if (error == 0)
        error = refusal_of(scheduler, callback_of(spec));
    if (error != 0)
        return error;
    if (htw__attributes_are_needed(scheduler, spec))
        return schedule_with_attributes(scheduler, spec, ret_handle, ret_replaced);
    error = schedule_range(scheduler, plan_of(scheduler, scheduler->clock, spec), spec->callback,
                           spec->site, spec->arg, ret_handle);
    if (error == 0 && ret_replaced != NULL)
        *ret_replaced = (struct htw_unexpired) { .handle = 0 };
    return error;
}

int htw_schedule_every(struct htw_scheduler *scheduler, int64_t first_ns, int64_t period_ns,
                       enum htw_repeat repeat, htw_callback *callback, void *arg,
                       htw_handle *ret_handle) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = callback;
    spec.arg = arg;
    spec.when_ns = first_ns;
    spec.latest_ns = first_ns;
    spec.period_ns = period_ns;
    spec.repeat = repeat;
    int refusal = htw__scheduler_refusal(scheduler);
    if (refusal != 0)
        return refusal;
    if (period_ns <= 0)
        return -EINVAL;
    return htw_schedule_spec(scheduler, &spec, ret_handle, NULL);
}
