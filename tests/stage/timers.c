/* SPDX-License-Identifier: MIT */
/*
 * timers.c - threads arm, move and cancel timers, by handles, keys and groups, while these run: each comes back to
 * exactly one owner, in time, by a run, a cancel, a hook, or the stop.
 */
/* holds: scheduler-1, scheduler-2, scheduler-3, scheduler-4, scheduler-6, scheduler-8, scheduler-9, scheduler-10, scheduler-11,
   scheduler-12, scheduler-13, scheduler-14, scheduler-25 */
#include "scenes.h"
#include "../support/timer_info.h"

#include <htw/group.h>
#include <htw/loop.h>
#include <htw/observe.h>
#include <htw/timer.h>

#include <errno.h>
#include <string.h>

enum { TIMERS = 48, KEYS = 5, GROUPS = 2 };
#define PERIOD_NS HTW_MILLISECOND       /* at least */
#define SLACK_NS (20 * HTW_MILLISECOND) /* less than what is late */

struct group {
    struct htw_group *group;
    _Atomic bool is_busy; /* a thread pauses or resumes it */
    _Atomic int64_t
        paused_ns; /* when a pause had returned; 0: it is not paused, or is being resumed */
};

struct timer {
    _Atomic bool is_live; /* from arming until its owner has it back */
    _Atomic bool is_inside;
    _Atomic htw_handle handle;
    _Atomic int64_t earliest_ns; /* it does not run before */
    _Atomic bool has_hook;
    bool repeats, runs_again;
    struct group *group; /* NULL: none */
    enum htw_repeat repeat;
    int64_t period_ns;
    int64_t
        counted_ns; /* from when its period counts; written by callbacks, which do not overlap */
};

struct timers timers;
static struct timer all[STAGE_OWNERS][TIMERS];
static struct group groups[GROUPS];
static _Atomic unsigned inside;

static uint64_t number_of(const struct timer *timer) {
    return (uint64_t)(timer - all[0]);
}

static void count(_Atomic uint64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Its one owner has it, and its thread may arm it again. */
static void receive(struct timer *timer) {
    REQUIRE(atomic_exchange_explicit(&timer->is_live, false, memory_order_release));
}

static void release(void *arg) {
    receive(arg);
}

static void receive_unless_hooked(struct timer *timer) {
    if (!timer->has_hook)
        receive(timer);
}

void timers_take_back(void *context, const struct htw_unexpired *unexpired) {
    struct timer *timer = unexpired->arg;
    (void)context;
    REQUIRE(unexpired->callback != NULL && unexpired->handle != 0);
    count(&timers.visited);
    if (timer >= all[0] &&
        timer < all[STAGE_OWNERS - 1] + TIMERS) /* otherwise it is not of this scene */
        receive_unless_hooked(timer);
}

/* ---- runs */

static int64_t now_by(enum htw_clock clock) {
    return htw_scheduler_now_by(timers.scheduler, clock);
}

static void call_in_callback(struct timer *timer);

static void work(struct timer *timer) {
    struct random_source *random = stage_random();
    if (random_one_in(random, 32))
        stage_sleep_ns((int64_t)random_below(random, 2 * HTW_MILLISECOND));
    if (random_one_in(random, 8))
        call_in_callback(timer);
}

static void check_deadline(struct timer *timer, const struct htw_expiration *expiration) {
    int64_t deadline_ns = expiration->deadline_ns;
    REQUIRE(expiration->late_ns >= 0 && expiration->handle != 0);
    stage_require_in_time(expiration->clock, deadline_ns);
    if (expiration->clock == HTW_CLOCK_REALTIME) /* which may have been set back */
        return;
    REQUIRE(deadline_ns <= htw_scheduler_now_by(expiration->scheduler, expiration->clock));
    REQUIRE(deadline_ns >= atomic_load_explicit(&timer->earliest_ns, memory_order_relaxed));
    REQUIRE(!timer->repeats || timer->counted_ns == 0 ||
            deadline_ns >= timer->counted_ns + timer->period_ns);
    timer->counted_ns = deadline_ns;
}

/* One that was about to start when the pause returned starts soon. */
static void check_pause(const struct group *group) {
    int64_t paused_ns = group == NULL ? 0 : atomic_load(&group->paused_ns);
    if (paused_ns != 0)
        stage_require_in_time(HTW_CLOCK_MONOTONIC, paused_ns);
}

static void run(void *arg, const struct htw_expiration *expiration) {
    struct timer *timer = arg;
    stage_note("runs", number_of(timer), expiration->late_ns);
    REQUIRE(atomic_load_explicit(&timer->is_live, memory_order_relaxed));
    REQUIRE(!atomic_exchange_explicit(&timer->is_inside, true, memory_order_relaxed));
    REQUIRE(atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed) < timers.threads);
    check_deadline(timer, expiration);
    check_pause(timer->group);
    work(timer);
    if (timer->runs_again && random_one_in(stage_random(), 2)) {
        int result = htw_reschedule(expiration->scheduler, expiration->handle, PERIOD_NS);
        REQUIRE(result == HTW_MOVED || result == HTW_RUNNING || stage_excuses(result));
    }
    if (timer->repeats && timer->repeat == HTW_REPEAT_AFTER &&
        expiration->clock != HTW_CLOCK_REALTIME)
        timer->counted_ns = now_by(expiration->clock);
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    REQUIRE(atomic_exchange_explicit(&timer->is_inside, false, memory_order_relaxed));
    receive_unless_hooked(timer); /* from now on the owner may arm it again */
}

/* ---- calls */

/* Half of them up to a second, or each magnitude is equally likely, up to 17 s. */
static int64_t some_delay(struct random_source *random) {
    if (random_one_in(random, 16))
        return random_one_in(random, 2) ? 0 : HTW_NEVER_NS;
    return (int64_t)(random_one_in(random, 2) ? random_below(random, HTW_SECOND)
                                              : random_magnitude(random) >> 30);
}

static int64_t time_after(enum htw_clock clock, int64_t delay_ns) {
    return delay_ns == HTW_NEVER_NS ? HTW_NEVER_NS : now_by(clock) + delay_ns;
}

static enum htw_clock some_clock(struct random_source *random) {
#if defined(HTW_PORTABLE) && !defined(_WIN32)
    static const enum htw_clock clocks[] = { HTW_CLOCK_DEFAULT, HTW_CLOCK_MONOTONIC,
                                             HTW_CLOCK_REALTIME };
#else
    static const enum htw_clock clocks[] = { HTW_CLOCK_DEFAULT, HTW_CLOCK_MONOTONIC,
                                             HTW_CLOCK_REALTIME, HTW_CLOCK_BOOTTIME };
#endif
    return clocks[random_below(random, sizeof(clocks) / sizeof(clocks[0]))];
}

static htw_handle handle_of(struct timer *timer) {
    return atomic_load_explicit(&timer->handle, memory_order_relaxed);
}

/* Of any owner: since handles are never used again, the hook is that of the handle if it is the same before and after. */
static void cancel(struct timer *timer, bool waits) {
    htw_handle handle = atomic_load(&timer->handle);
    bool has_hook = atomic_load(&timer->has_hook);
    if (atomic_load(&timer->handle) != handle)
        return; /* it is being armed again */
    int result =
        waits ? htw_cancel_wait(timers.scheduler, handle) : htw_cancel(timers.scheduler, handle);
    if (result == HTW_GONE || waits)
        REQUIRE(!htw_is_pending(timers.scheduler, handle));
    stage_note("cancels", number_of(timer), result);
    REQUIRE(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (result != HTW_CANCELLED)
        return;
    REQUIRE(htw_cancel(timers.scheduler, handle) == HTW_GONE);
    count(&timers.cancelled);
    if (!has_hook)
        receive(timer);
}

static struct htw_spec some_spec(struct random_source *random, struct timer *timer) {
    struct htw_spec spec = HTW_SPEC_INIT;
    timer->has_hook = random_one_in(random, 3);
    timer->repeats = timer->has_hook && random_one_in(random, 8);
    timer->runs_again = timer->has_hook && !timer->repeats && random_one_in(random, 4);
    timer->group = random_one_in(random, 4) ? &groups[random_below(random, GROUPS)] : NULL;
    timer->counted_ns = 0;
    spec.callback = run;
    spec.arg = timer;
    spec.when_ns = some_delay(random);
    spec.clock = some_clock(random);
    spec.release = timer->has_hook ? release : NULL;
    spec.group = timer->group == NULL ? NULL : timer->group->group;
    spec.keep_existing = random_one_in(random, 8);
    if (timer->repeats) {
        timer->period_ns = spec.period_ns =
            PERIOD_NS + (int64_t)random_below(random, 100 * HTW_MILLISECOND);
        timer->repeat = spec.repeat = (enum htw_repeat)random_below(random, 4);
    }
    return spec;
}

static int arm_by_spec(struct random_source *random, struct timer *timer, struct htw_spec *spec,
                       htw_handle *ret_handle) {
    uint64_t key = random_below(random, KEYS);
    struct htw_unexpired replaced = { .arg = timer };
    if (random_one_in(random, 4)) {
        spec->key = &key;
        spec->key_size = sizeof(key);
    }
    int result = htw_schedule_spec(timers.scheduler, spec, ret_handle, &replaced);
    if (result == 0 && replaced.handle != 0) {
        count(&timers.cancelled);
        if (replaced.arg != NULL) /* it has no hook */
            receive(replaced.arg);
    } else {
        REQUIRE(replaced.arg == (result == 0 ? NULL : timer));
        REQUIRE(result != -EEXIST || (spec->keep_existing && spec->key != NULL));
    }
    return result;
}

static int arm_in_some_way(struct random_source *random, struct timer *timer,
                           htw_handle *ret_handle) {
    struct htw_spec spec = some_spec(random, timer);
    bool is_plain = !timer->has_hook && timer->group == NULL && spec.clock == HTW_CLOCK_DEFAULT;
    int64_t delay_ns = spec.when_ns;
    atomic_store_explicit(&timer->earliest_ns,
                          timer->runs_again ? 0 : time_after(spec.clock, delay_ns),
                          memory_order_relaxed);
    if (!is_plain || random_one_in(random, 4))
        return arm_by_spec(random, timer, &spec, ret_handle);
    if (delay_ns != HTW_NEVER_NS && random_one_in(random, 4))
        return htw_schedule_within(timers.scheduler, delay_ns, delay_ns + SLACK_NS, run, timer,
                                   ret_handle);
    return htw_schedule(timers.scheduler, delay_ns, run, timer, ret_handle);
}

static bool is_refused(int result) {
    if (result == 0)
        return false;
    if (result == -EAGAIN)
        count(&timers.refused);
    REQUIRE((result == -EAGAIN && timers.has_limit) || result == -EEXIST || stage_excuses(result));
    return true;
}

/* By its owner. Another thread that has cancelled it may be about to receive it: then another time. */
static void arm(struct random_source *random, struct timer *timer) {
    htw_handle handle = 0;
    if (atomic_load_explicit(&timer->is_live, memory_order_acquire))
        cancel(timer, true);
    if (atomic_load_explicit(&timer->is_live, memory_order_acquire))
        return;
    atomic_store_explicit(&timer->handle, 0, memory_order_relaxed);
    atomic_store_explicit(&timer->is_live, true, memory_order_relaxed);
    int result = arm_in_some_way(random, timer, &handle);
    stage_note("arms", number_of(timer), result);
    if (is_refused(result)) {
        receive(timer);
        return;
    }
    REQUIRE(handle != 0);
    count(&timers.armed);
    atomic_store_explicit(&timer->handle, handle, memory_order_relaxed);
}

/* By its owner. Until the call returns, the earlier of the two deadlines may count. */
static void move(struct random_source *random, struct timer *timer) {
    htw_handle handle = handle_of(timer);
    int clock = timer_clock_of(timers.scheduler, handle);
    if (clock < 0 || timer->repeats || timer->runs_again)
        return;
    int64_t delay_ns = some_delay(random), before_ns = atomic_load(&timer->earliest_ns);
    int64_t then_ns = time_after((enum htw_clock)clock, delay_ns);
    atomic_store_explicit(&timer->earliest_ns, before_ns < then_ns ? before_ns : then_ns,
                          memory_order_relaxed);
    int result = htw_reschedule(timers.scheduler, handle, delay_ns);
    stage_note("moves", number_of(timer), result);
    REQUIRE(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE ||
            stage_excuses(result));
    atomic_store_explicit(&timer->earliest_ns, result == HTW_MOVED ? then_ns : before_ns,
                          memory_order_relaxed);
}

static void cancel_by_key(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    struct htw_group *group =
        random_one_in(random, 2) ? NULL : groups[random_below(random, GROUPS)].group;
    void *arg = NULL;
    if (random_one_in(random, 2)) {
        (void)htw_is_pending(timers.scheduler,
                             htw_find_key(timers.scheduler, group, &key, sizeof(key)));
        return;
    }
    int result = htw_cancel_key(timers.scheduler, group, &key, sizeof(key), &arg);
    stage_note("cancels a key", key, result);
    REQUIRE(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (result == HTW_CANCELLED)
        count(&timers.cancelled);
    if (arg != NULL) /* it has no hook */
        receive(arg);
}

/* ---- groups */

static void pause_or_resume(struct random_source *random, struct group *group) {
    if (atomic_exchange(&group->is_busy, true))
        return;
    bool pauses = random_one_in(random, 4);
    atomic_store(&group->paused_ns, 0);
    int result = pauses ? htw_group_pause(group->group) : htw_group_resume(group->group);
    stage_note(pauses ? "pauses" : "resumes", (uint64_t)(group - groups), result);
    REQUIRE(result == 0);
    if (pauses)
        atomic_store(&group->paused_ns, now_by(HTW_CLOCK_MONOTONIC));
    atomic_store(&group->is_busy, false);
}

static void use_groups(struct random_source *random) {
    struct group *group = &groups[random_below(random, GROUPS)];
    if (!random_one_in(random, 16)) {
        pause_or_resume(random, group);
        return;
    }
    int64_t cancelled = htw_group_cancel(group->group, timers_take_back, NULL);
    stage_note("cancels a group", (uint64_t)(group - groups), cancelled);
    REQUIRE(cancelled >= 0);
    atomic_fetch_add(&timers.cancelled, (uint64_t)cancelled);
    atomic_fetch_sub(&timers.visited, (uint64_t)cancelled);
}

/* ---- what the threads do */

static void look(void) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    int result = htw_scheduler_get_stats(timers.scheduler, &stats);
    REQUIRE(result == 0 || stage_excuses(result));
    REQUIRE(htw_pending(timers.scheduler) < INT64_MAX);
}

static struct timer *some_timer(struct random_source *random) {
    return &all[random_below(random, STAGE_OWNERS)][random_below(random, TIMERS)];
}

static void call_in_callback(struct timer *timer) {
    struct random_source *random = stage_random();
    switch (random_below(random, 4)) {
    case 0:
        cancel(timer, false);
        break;
    case 1:
        REQUIRE(htw_scheduler_stop(timers.scheduler, NULL, NULL) == -EDEADLK);
        break;
    case 2:
        cancel_by_key(random);
        break;
    default:
        cancel(some_timer(random), false);
    }
}

void timers_act(unsigned owner) {
    struct random_source *random = stage_random();
    struct timer *own = &all[owner][random_below(random, TIMERS)];
    switch (random_below(random, 32)) {
    case 0:
    case 1:
    case 2:
        cancel(own, true);
        break;
    case 3:
    case 4:
    case 5:
        cancel(some_timer(random), false);
        break;
    case 6:
    case 7:
        cancel_by_key(random);
        break;
    case 8:
        use_groups(random);
        break;
    case 9:
        if (random_one_in(random, 32))
            look();
        break;
    default:
        if (random_one_in(random, 2))
            arm(random, own);
        else
            move(random, own);
    }
}

/* ---- opening, judging, closing */

void timers_open(struct htw_scheduler *scheduler, unsigned threads, bool has_limit) {
    memset(&timers, 0, sizeof(timers));
    memset(all, 0, sizeof(all)); /* another scheduler may give the same handles again */
    timers.scheduler = scheduler;
    timers.threads = threads;
    timers.has_limit = has_limit;
    for (unsigned i = 0; i < GROUPS; i++) {
        int result;
        groups[i] = (struct group) { .group = NULL };
        while ((result = htw_group_create(scheduler, &groups[i].group)) != 0) {
            REQUIRE(stage_excuses(result));
            stage_sleep_ns(10 * HTW_MILLISECOND);
        }
    }
}

void timers_cancel(unsigned owner) {
    for (unsigned i = 0; i < TIMERS; i++)
        cancel(&all[owner][i], true);
}

void timers_judge(unsigned owner) {
    for (unsigned i = 0; i < TIMERS; i++) {
        htw_handle handle = handle_of(&all[owner][i]);
        if (!all[owner][i].is_live)
            continue;
        int clock = timer_clock_of(timers.scheduler, handle);
        int64_t deadline_ns;
        if (clock >= 0 && timer_deadline_of(timers.scheduler, handle, &deadline_ns) == 0)
            stage_require_in_time((enum htw_clock)clock, deadline_ns);
    }
}

void timers_close(void) {
    for (unsigned i = 0; i < GROUPS; i++)
        htw_group_destroy(groups[i].group);
    for (unsigned owner = 0; owner < STAGE_OWNERS; owner++)
        for (unsigned i = 0; i < TIMERS; i++)
            REQUIRE(!all[owner][i].is_live && !all[owner][i].is_inside);
    REQUIRE(inside == 0);
}
