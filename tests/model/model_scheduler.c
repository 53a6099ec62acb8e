/* SPDX-License-Identifier: MIT */
/*
 * model_scheduler.c - random histories of a scheduler in manual time, compared after each step with an oracle
 * (scheduler_oracle.h). For its arguments see arguments.h.
 *
 * There is one thread. Each clock goes on with the others, and at times is set alone, forward or back. Callbacks,
 * hooks after them, and an executor make steps of their own. Timers repeat in all ways, and some have keys, groups,
 * hooks and other clocks. Half of the histories have a limit of timers. In some steps memory is refused: then
 * a call that fails has changed nothing, and nothing else is late.
 */
/* holds: scheduler-1, scheduler-2, scheduler-3, scheduler-4, scheduler-5, scheduler-7, scheduler-8, scheduler-9 */
/* holds: scheduler-10, scheduler-12, scheduler-15, scheduler-16, scheduler-25, scheduler-27, scheduler-28 */
#include "arguments.h"
#include "scheduler_oracle.h"

#include "../support/failing_allocator.h"
#include "../support/oracle.h"
#include "../support/timer_info.h"

#include <htw/executor.h>
#include <htw/group.h>
#include <htw/loop.h>
#include <htw/timer.h>

enum { STEPS_A_HISTORY = 1500, STALE = 64, NESTED_STEPS = 40 };

static const enum htw_clock clocks[] = { HTW_CLOCK_MANUAL, HTW_CLOCK_MANUAL, HTW_CLOCK_REALTIME,
                                         HTW_CLOCK_MONOTONIC,
#if !defined(HTW_PORTABLE) || defined(_WIN32)
                                         HTW_CLOCK_BOOTTIME
#endif
};

static struct model {
    struct htw_scheduler *scheduler;
    struct htw_group *groups[GROUPS];
    struct failing_allocator memory;
    htw_handle stale[STALE]; /* of timers that have ended */
    bool observes;
    int cpu;                /* on which this thread seems to run: that of a shard */
    int64_t to_pass_ns;     /* of an advance that is going on */
    unsigned inside;        /* how many callbacks, hooks and executors this is in */
    unsigned nested_left;   /* steps that may yet be made inside */
    bool jumps;             /* a clock is being set */
    bool is_quiet;          /* a call is going on whose hooks make no step */
    struct timed *hooked;   /* its hook is called after its last run; NULL: none */
    struct timed *just_ran; /* whose hook may be called next */
    struct random_source source;
    uint64_t step;
    bool trace;
} model;

/* So that a history is the same each time. */
uint64_t __wrap_htw__random_seed(const void *owner);
uint64_t __wrap_htw__random_seed(const void *owner) {
    (void)owner;
    return 1;
}

int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void) {
    return model.cpu;
}

static uint64_t below(uint64_t bound) {
    return random_below(&model.source, bound);
}

/* Half of them are whole ticks. */
static int64_t ticks(uint64_t bound) {
    return (int64_t)below(bound) * TICK_NS + (int64_t)(below(2) * below(TICK_NS));
}

static int64_t some_delay(void) {
    switch (below(6)) {
    case 0:
        return below(2) == 0 ? 0 : -ticks(60);
    case 1:
        return ticks(100000);
    case 2:
        return ticks(3000);
    default:
        return ticks(60);
    }
}

/* A clock that is set may pass a wheel by many ticks. Until the wheel is served, a deadline in the present tick is
   rounded up (shard.c). */
static bool may_be_absolute(void) {
    return !model.jumps && below(2) == 0;
}

static struct timed *some_timer(void) {
    struct timed *timer = &ideal.timers[below(TIMERS)];
    if (ideal.running != NULL && below(3) == 0)
        return ideal.running;
    return timer != model.hooked ? timer : some_timer();
}

static struct htw_group *group_of(int group) {
    return group < 0 ? NULL : model.groups[group];
}

/* ---- the library calls */

static void take_step_inside(void);

/* Code of the user is called: before this instant nothing was due. */
static void note_time(void) {
    int64_t passed_ns = htw_scheduler_now(model.scheduler) - ideal.now_ns[HTW_CLOCK_MANUAL];
    EXPECT(passed_ns >= 0 && passed_ns <= model.to_pass_ns);
    EXPECT(passed_ns == 0 || passed_ns == ideal_least_left_ns());
    ideal_pass_time(passed_ns);
    model.to_pass_ns -= passed_ns;
}

static void note_run(void *arg, const struct htw_expiration *expiration) {
    struct timed *timer = arg;
    note_time();
    ideal.lacked_memory |= model.memory.refusals > 0;
    EXPECT(ideal.running == NULL && ideal_may_run(timer));
    EXPECT(expiration->clock == timer->clock && expiration->handle == timer->handle);
    EXPECT(expiration->deadline_ns == ideal_deadline_ns(timer));
    EXPECT(expiration->late_ns == ideal.now_ns[timer->clock] - expiration->deadline_ns);
    EXPECT(expiration->missed == timer->missed);
    ideal_start(timer, expiration->late_ns);
    while (below(3) == 0)
        take_step_inside();
    ideal_finish(timer);
    model.just_ran = timer;
}

static bool is_one_of(int result, int a, int b) {
    return result == a || result == b;
}

/* The hook of a timer that ran is the last of it: nothing brings it back. */
static void note_release(void *arg) {
    struct timed *timer = arg;
    timer->releases++;
    if (model.is_quiet)
        return;
    EXPECT(model.just_ran == timer && !timer->lives);
    EXPECT(is_one_of(htw_reschedule(model.scheduler, timer->handle, 0), HTW_RUNNING, HTW_GONE));
    EXPECT(is_one_of(htw_cancel(model.scheduler, timer->handle), HTW_RUNNING, HTW_GONE));
    EXPECT(is_one_of(htw_cancel_wait(model.scheduler, timer->handle), -EDEADLK, HTW_GONE));
    EXPECT(htw_set_period(model.scheduler, timer->handle, TICK_NS) <= 0);
    EXPECT(!htw_is_pending(model.scheduler, timer->handle));
    model.hooked = timer;
    take_step_inside();
    model.hooked = NULL;
}

/* An executor. */
static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    size_t first = below(count);
    (void)context;
    note_time();
    for (size_t i = 0; i < count; i++) {
        if (below(8) == 0)
            take_step_inside();
        htw_task_run(tasks[(first + i) % count]);
    }
}

static const struct htw_site sites[SITES] = { { note_run, "first", "model", "schedule", 1 },
                                              { note_run, "second", "model", "schedule", 2 },
                                              { note_run, "third", "model", "schedule", 3 } };

/* ---- steps: schedule */

static void choose_properties(struct timed *timer) {
    timer->clock = clocks[below(sizeof(clocks) / sizeof(clocks[0]))];
    timer->group = (int)below(GROUPS + 2) - 2 < 0 ? -1 : (int)below(GROUPS);
    timer->key = below(3) == 0 ? (int)below(KEYS) : -1;
    timer->period_ns = below(6) == 0 ? TICK_NS / 3 + ticks(below(4) == 0 ? 2 : 500) : 0;
    timer->repeat = (enum htw_repeat)below(HTW_REPEAT_AFTER + 1);
    timer->missed = 0;
    timer->site = (int)below(2 * SITES) - SITES;
    timer->is_hooked = below(4) == 0;
}

static struct htw_spec spec_of(struct timed *timer, int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = note_run;
    spec.arg = timer;
    spec.clock = timer->clock;
    spec.absolute = delay_ns != HTW_NEVER_NS && may_be_absolute();
    spec.when_ns = spec.absolute ? ideal.now_ns[timer->clock] + delay_ns : delay_ns;
    if (below(6) == 0)
        spec.latest_ns = sum_ns(spec.when_ns, 1 + ticks(100));
    spec.group = group_of(timer->group);
    spec.key = timer->key < 0 ? NULL : &timer->key;
    spec.key_size = sizeof(timer->key);
    spec.period_ns = timer->period_ns;
    spec.repeat = timer->repeat;
    spec.site = timer->site < 0 ? NULL : &sites[timer->site];
    spec.release = timer->is_hooked ? note_release : NULL;
    spec.keep_existing = below(4) == 0;
    return spec;
}

/* By the function that is made for it, where there is one. */
static int call_schedule(const struct htw_spec *spec, htw_handle *ret_handle,
                         struct htw_unexpired *ret_replaced) {
    struct htw_scheduler *scheduler = model.scheduler;
    bool is_plain = spec->clock == HTW_CLOCK_MANUAL && spec->group == NULL && spec->key == NULL &&
                    spec->release == NULL && below(4) != 0;
    bool has_range = spec->latest_ns > spec->when_ns;
    if (is_plain && spec->period_ns > 0 && !spec->absolute && !has_range && spec->site == NULL)
        return htw_schedule_every(scheduler, spec->when_ns, spec->period_ns, spec->repeat, note_run,
                                  spec->arg, ret_handle);
    if (is_plain && spec->period_ns == 0 && spec->site == NULL && spec->absolute && !has_range)
        return htw_schedule_at(scheduler, spec->when_ns, note_run, spec->arg, ret_handle);
    if (is_plain && spec->period_ns == 0 && spec->site == NULL && !spec->absolute && has_range)
        return htw_schedule_within(scheduler, spec->when_ns, spec->latest_ns, note_run, spec->arg,
                                   ret_handle);
    if (is_plain && spec->period_ns == 0 && !spec->absolute && !has_range)
        return spec->site == NULL
                   ? htw_schedule(scheduler, spec->when_ns, note_run, spec->arg, ret_handle)
                   : htw_schedule_here(scheduler, spec->when_ns, spec->site, spec->arg, ret_handle);
    return htw_schedule_spec(scheduler, spec, ret_handle, ret_replaced);
}

static int64_t tick_from(int64_t ns) {
    return ns <= 0 ? 0 : (ns + TICK_NS - 1) / TICK_NS;
}

/* The roundest tick of a range; if there is none in it, the next one. */
static int64_t choose_deadline(const struct htw_spec *spec, int64_t now_ns) {
    int64_t from_ns = spec->when_ns, to_ns = spec->latest_ns;
    if (!spec->absolute) {
        from_ns = sum_ns(now_ns, from_ns > 0 ? from_ns : 0);
        to_ns = sum_ns(now_ns, to_ns > 0 ? to_ns : 0);
    }
    if (spec->latest_ns <= spec->when_ns || from_ns == HTW_NEVER_NS)
        return from_ns;
    bool is_now = !spec->absolute && spec->when_ns <= 0;
    int64_t first = is_now ? now_ns / TICK_NS : tick_from(from_ns), last = to_ns / TICK_NS;
    if (last <= first)
        return from_ns;
    int64_t chosen_ns = (int64_t)oracle_slack((uint64_t)first, (uint64_t)last) * TICK_NS;
    return chosen_ns > from_ns ? chosen_ns : from_ns;
}

static void schedule(void) {
    struct timed *timer = some_timer();
    if (timer->lives)
        return;
    choose_properties(timer);
    struct htw_spec spec = spec_of(timer, below(20) == 0 ? HTW_NEVER_NS : some_delay());
    struct timed *old = ideal_holder(timer->group, timer->key);
    bool replaces = old != NULL && old != ideal.running, is_full = ideal_is_full();
    struct htw_unexpired replaced = { .handle = 0 };
    htw_handle handle = 77;
    size_t refusals = model.memory.refusals;
    int result = call_schedule(&spec, &handle, &replaced);
    if (result != 0) {
        EXPECT(handle == 77 && replaced.handle == 0);
        ideal.counted.refused += result == -EAGAIN;
        EXPECT((result == -ENOMEM && model.memory.refusals > refusals) ||
               (result == -EEXIST && old != NULL && spec.keep_existing) ||
               (result == -EAGAIN && is_full && !replaces));
        return;
    }
    EXPECT((old == NULL || !spec.keep_existing) && (!is_full || replaces));
    model.stale[below(STALE)] = timer->handle;
    timer->handle = handle;
    EXPECT((replaced.handle != 0) == replaces);
    if (replaces) {
        EXPECT(replaced.arg == (old->is_hooked ? NULL : old) && replaced.clock == old->clock);
        EXPECT(replaced.deadline_ns == ideal_deadline_ns(old));
    }
    if (old != NULL)
        ideal_cancel(old);
    timer->lives = true;
    ideal.counted.scheduled++;
    if (timer->site >= 0)
        ideal.sites[timer->site].armed++;
    ideal_arm(timer, choose_deadline(&spec, ideal.now_ns[timer->clock]), spec.absolute);
}

/* ---- steps: timers that there are */

/* The timer that has the key, and has it no longer. */
static void cancel_by_key(const struct timed *timer) {
    struct timed *holder = ideal_holder(timer->group, timer->key);
    void *arg = NULL;
    if (timer->key < 0)
        return;
    bool is_given = holder != NULL && holder != ideal.running && !holder->is_hooked;
    int result = htw_cancel_key(model.scheduler, group_of(timer->group), &timer->key,
                                sizeof(timer->key), &arg);
    EXPECT(arg == (is_given ? holder : NULL));
    EXPECT(result == (holder == NULL ? HTW_GONE : ideal_cancel(holder)));
}

static void cancel(void) {
    struct timed *timer = some_timer();
    int64_t left_ns = 77;
    switch (below(4)) {
    case 0: {
        int result = htw_cancel_wait(model.scheduler, timer->handle);
        EXPECT(result == (timer == ideal.running ? -EDEADLK : ideal_cancel(timer)));
        if (timer == ideal.running)
            ideal_cancel(timer);
        break;
    }
    case 1: {
        int64_t rest_ns = ideal_rest_ns(timer);
        int result = htw_cancel_remaining(model.scheduler, timer->handle, &left_ns);
        EXPECT(result == ideal_cancel(timer));
        EXPECT(left_ns == (result == HTW_CANCELLED ? rest_ns : 77));
        break;
    }
    case 2:
        cancel_by_key(timer);
        break;
    default: {
        int result = htw_cancel(model.scheduler, timer->handle);
        EXPECT(result == ideal_cancel(timer));
    }
    }
}

static void set_period(void) {
    struct timed *timer = some_timer();
    int64_t period_ns = TICK_NS + ticks(300);
    int result = htw_set_period(model.scheduler, timer->handle, period_ns);
    bool is_gone = !timer->lives || (timer == ideal.running && ideal.ended);
    EXPECT(result == (is_gone ? HTW_GONE : timer->period_ns > 0 ? HTW_MOVED : -EINVAL));
    if (result == HTW_MOVED)
        timer->period_ns = period_ns;
}

/* What a move answers if there is memory. */
static int outcome_of_move(const struct timed *timer) {
    if (!timer->lives)
        return HTW_GONE;
    if (timer != ideal.running)
        return HTW_MOVED;
    if (ideal.ended)
        return HTW_RUNNING;
    return timer->period_ns == 0 && !ideal.moved && ideal_is_full() ? -EAGAIN : HTW_MOVED;
}

static void reschedule(void) {
    struct timed *timer = some_timer();
    int64_t delay_ns = below(20) == 0 ? HTW_NEVER_NS : some_delay();
    bool absolute = may_be_absolute();
    int64_t at_ns = sum_ns(ideal.now_ns[timer->clock], absolute || delay_ns > 0 ? delay_ns : 0);
    int result = absolute ? htw_reschedule_at(model.scheduler, timer->handle, at_ns)
                          : htw_reschedule(model.scheduler, timer->handle, delay_ns);
    EXPECT(result == outcome_of_move(timer));
    if (result != HTW_MOVED)
        return;
    ideal.moved |= timer == ideal.running;
    ideal.counted.moved++;
    ideal_arm(timer, at_ns, absolute);
}

/* A handle of a timer that has ended, with a bit changed at times, touches no other. */
static void try_stale(void) {
    htw_handle handle = model.stale[below(STALE)];
    int64_t unused_ns = 77;
    if (below(2) == 0)
        handle ^= UINT64_C(1) << below(64);
    for (int i = 0; i < TIMERS; i++)
        if (ideal.timers[i].handle == handle)
            return;
    EXPECT(!htw_is_pending(model.scheduler, handle));
    EXPECT(timer_deadline_of(model.scheduler, handle, &unused_ns) == -ENOENT && unused_ns == 77);
    EXPECT(timer_clock_of(model.scheduler, handle) == -ENOENT);
    EXPECT(htw_reschedule(model.scheduler, handle, 0) == HTW_GONE);
    EXPECT(htw_reschedule_at(model.scheduler, handle, 0) == HTW_GONE);
    EXPECT(htw_set_period(model.scheduler, handle, 1) == HTW_GONE);
    EXPECT(htw_cancel(model.scheduler, handle) == HTW_GONE);
    EXPECT(htw_cancel_wait(model.scheduler, handle) == HTW_GONE);
}

/* ---- steps: groups */

static void pause_or_resume(void) {
    int group = (int)below(GROUPS);
    bool pauses = below(2) == 0;
    EXPECT((pauses ? htw_group_pause : htw_group_resume)(model.groups[group]) == 0);
    (pauses ? ideal_pause : ideal_resume)(group);
}

static void take_unexpired(void *context, const struct htw_unexpired *unexpired) {
    struct timed *timer = unexpired->arg;
    ++*(int64_t *)context;
    EXPECT(timer->lives && timer != ideal.running && unexpired->clock == timer->clock);
    EXPECT(unexpired->handle == timer->handle && unexpired->callback == note_run);
    EXPECT(unexpired->deadline_ns == ideal_deadline_ns(timer));
    EXPECT(timer->releases == timer->wanted_releases);
}

static void cancel_group(void) {
    int group = (int)below(GROUPS);
    int64_t visited = 0;
    int64_t result = htw_group_cancel(model.groups[group], take_unexpired, &visited);
    EXPECT(result == visited && result == ideal_cancel_group(group));
}

/* Another group has its place. */
static void replace_group(void) {
    int group = (int)below(GROUPS);
    htw_group_destroy(model.groups[group]);
    ideal_forget_group(group);
    failing_allocator_relent(&model.memory);
    EXPECT(htw_group_create(model.scheduler, &model.groups[group]) == 0);
}

/* ---- steps: time */

/* So far that no timer that repeats runs too often. */
static int64_t farthest_ns(void) {
    int64_t least_ns = 200 * TICK_NS;
    for (int i = 0; i < TIMERS; i++) {
        const struct timed *timer = &ideal.timers[i];
        if (timer->lives && timer->period_ns > 0 && timer->period_ns < least_ns)
            least_ns = timer->period_ns;
    }
    return 1000 * least_ns;
}

/* Around a call that lets so much time pass, and runs callbacks. In one of them it is refused. */
static void begin_time(int64_t to_pass_ns) {
    model.is_quiet = false;
    if (model.inside == 0)
        model.to_pass_ns = to_pass_ns;
}

static void end_time(int result) {
    EXPECT(result == (model.inside > 0 ? -EDEADLK : 0));
    if (model.inside > 0)
        return;
    EXPECT(ideal_least_left_ns() > model.to_pass_ns);
    ideal_pass_time(model.to_pass_ns);
    model.to_pass_ns = 0;
}

static void advance(void) {
    int64_t delta_ns = below(8) == 0 ? ticks((uint64_t)(farthest_ns() / TICK_NS)) : ticks(40);
    begin_time(delta_ns);
    end_time(htw_scheduler_advance(model.scheduler, delta_ns));
}

static void set_clock(void) {
    enum htw_clock clock = clocks[below(sizeof(clocks) / sizeof(clocks[0]))];
    int64_t step_ns = some_delay(), far_ns = farthest_ns();
    step_ns = below(2) == 0 ? -step_ns : step_ns > far_ns ? far_ns : step_ns;
    int64_t time_ns = ideal.now_ns[clock] + step_ns;
    if (time_ns < 0)
        time_ns = 0;
    if (model.inside == 0)
        ideal_set_clock(clock, time_ns);
    model.jumps |= model.inside == 0;
    begin_time(0);
    end_time(htw_scheduler_set_clock(model.scheduler, clock, time_ns));
    model.jumps &= model.inside > 0;
}

/* ---- comparison */

static void compare_timer(const struct timed *timer) {
    int64_t deadline_ns = 77;
    EXPECT(timer->releases == timer->wanted_releases);
    EXPECT(htw_is_pending(model.scheduler, timer->handle) == ideal_is_pending(timer));
    int result = timer_deadline_of(model.scheduler, timer->handle, &deadline_ns);
    int clock = timer_clock_of(model.scheduler, timer->handle);
    EXPECT(result == (timer->lives ? 0 : -ENOENT));
    EXPECT(clock == (timer->lives ? (int)timer->clock : -ENOENT));
    EXPECT(!ideal_is_pending(timer) || deadline_ns == ideal_deadline_ns(timer));
}

static void compare_key(int group, int key) {
    const struct timed *holder = ideal_holder(group, key);
    EXPECT(htw_find_key(model.scheduler, group_of(group), &key, sizeof(key)) ==
           (holder == NULL ? 0 : holder->handle));
}

/* Timers that are pending count always, the rest while it is observed. */
static void compare_site(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    unsigned *seen = context;
    for (int i = 0; i < SITES; i++) {
        const struct htw_site_stats *counted = &ideal.sites[i];
        if (stats->origin.address != &sites[i])
            continue;
        *seen |= 1u << i;
        uint64_t pending = 0;
        for (int j = 0; j < TIMERS; j++)
            pending += ideal.timers[j].lives && ideal.timers[j].site == i;
        EXPECT(stats->pending == pending);
        EXPECT(stats->armed == (model.observes ? counted->armed : 0));
        EXPECT(stats->cancelled == (model.observes ? counted->cancelled : 0));
        EXPECT(stats->expired == (model.observes ? counted->expired : 0));
        EXPECT(stats->late == (model.observes ? counted->late : 0));
    }
}

static void compare_sites(void) {
    unsigned seen = 0;
    EXPECT(htw_scheduler_visit(model.scheduler, HTW_VISIT_SITES, 0, compare_site, &seen) == 0);
    for (int i = 0; i < SITES; i++)
        EXPECT((seen >> i & 1) != 0 || !model.observes || ideal.sites[i].armed == 0);
}

static void compare_counters(void) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    const struct htw_scheduler_stats *counted = &ideal.counted;
    EXPECT(htw_scheduler_get_stats(model.scheduler, &stats) == 0);
    EXPECT(stats.scheduled == counted->scheduled && stats.fired == counted->fired);
    EXPECT(stats.cancelled == counted->cancelled && stats.handed_back == counted->handed_back);
    EXPECT(stats.runs == counted->runs && stats.missed == counted->missed);
    EXPECT(stats.refused == counted->refused && stats.moved == counted->moved);
    EXPECT(stats.late == counted->late);
    EXPECT(stats.pending == counted->pending && stats.running == 0);
    EXPECT(stats.lateness.count == counted->runs && stats.callback.count == counted->runs);
    EXPECT(stats.lateness.sum_ns == counted->lateness.sum_ns);
    EXPECT(stats.lateness.max_ns == counted->lateness.max_ns);
    EXPECT(stats.memory_bytes == model.memory.live_bytes);
}

static void add_shard(void *context, const union htw_visited *visited) {
    struct htw_scheduler_shard *sum = context;
    sum->scheduled += visited->shard.scheduled;
    sum->cancelled += visited->shard.cancelled;
    sum->moved += visited->shard.moved;
    sum->groups += visited->shard.groups;
}

static void compare_shards(void) {
    struct htw_scheduler_shard sum = { .scheduled = 0 };
    EXPECT(htw_scheduler_visit(model.scheduler, HTW_VISIT_SHARDS, 0, add_shard, &sum) == 0);
    EXPECT(sum.scheduled == ideal.counted.scheduled && sum.cancelled == ideal.counted.cancelled);
    EXPECT(sum.moved == ideal.counted.moved);
    EXPECT(sum.groups >= GROUPS); /* one that was destroyed stays for its timers */
}

static void compare(void) {
    uint64_t pending = 0, grouped[GROUPS] = { 0 };
    for (int i = 0; i < TIMERS; i++) {
        struct timed *timer = &ideal.timers[i];
        compare_timer(timer);
        pending += timer->lives;
        if (timer->lives && timer->group >= 0)
            grouped[timer->group]++;
    }
    ideal.counted.pending = pending;
    EXPECT(htw_pending(model.scheduler) == pending);
    if (model.step % 8 == 0)
        compare_counters();
    if (model.step % 8 == 4)
        compare_sites();
    if (model.step % 8 == 2)
        compare_shards();
    for (int i = 0; i < GROUPS; i++)
        EXPECT(htw_group_count(model.groups[i]) == grouped[i]);
    for (int i = 0; i < CLOCKS; i++)
        EXPECT(i == HTW_CLOCK_DEFAULT || htw_scheduler_now_by(model.scheduler, (unsigned)i) == 0 ||
               htw_scheduler_now_by(model.scheduler, (unsigned)i) == ideal.now_ns[i]);
    compare_key((int)below(GROUPS + 1) - 1, (int)below(KEYS));
    /* Exact, or earlier after a cancel or a move. */
    EXPECT(htw_scheduler_next(model.scheduler) <=
           sum_ns(ideal.now_ns[HTW_CLOCK_MANUAL], ideal_least_left_ns()));
}

/* ---- histories */

static void take_any_step(void) {
    static void (*const kinds[])(void) = {
        schedule,   schedule,        schedule,      schedule,  cancel,  cancel,
        reschedule, pause_or_resume, cancel_group,  set_clock, advance, advance,
        reschedule, set_period,      replace_group, try_stale,
    };
    uint64_t kind = below(sizeof(kinds) / sizeof(kinds[0]));
    if ((kinds[kind] == cancel_group || kinds[kind] == replace_group) && below(4) != 0)
        return;
    if (model.trace)
        printf("step %" PRIu64 ": kind %" PRIu64 ", inside %u\n", model.step, kind, model.inside);
    model.cpu = (int)below(4);
    model.is_quiet = true;
    kinds[kind]();
    model.is_quiet = false;
}

static void take_step_inside(void) {
    if (model.nested_left == 0 || model_failure != NULL)
        return;
    model.nested_left--;
    model.inside++;
    take_any_step();
    compare_timer(some_timer());
    compare_key((int)below(GROUPS + 1) - 1, (int)below(KEYS));
    model.inside--;
}

static void take_step(void) {
    model.nested_left = NESTED_STEPS;
    if (!model.observes && below(4) == 0)
        failing_allocator_fail(&model.memory, 1 + below(6), below(2) == 0);
    take_any_step();
    failing_allocator_relent(&model.memory);
    compare();
}

static void begin(uint64_t seed) {
    static const struct htw_executor executor = { execute, NULL };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    model = (struct model) { .source = { seed }, .trace = model.trace };
    ideal = (struct ideal_scheduler) { .limit = below(2) == 0 ? 0 : 1 + below(TIMERS) };
    failing_allocator_init(&model.memory);
    options.allocator = &model.memory.allocator;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = HTW_NO_WORKERS;
    options.executor = below(3) == 0 ? &executor : NULL;
    options.shards = 1 + (uint32_t)below(3);
    options.wheel_size = 4u << 2 * below(4);
    options.manual_start_ns = ticks(10000000);
    options.max_pending = ideal.limit;
    options.event_count = 64;
    options.observe =
        below(2) == 0 ? 0 : HTW_OBSERVE_SITES | (uint32_t)below(2) * HTW_OBSERVE_EVENTS;
    model.observes = options.observe != 0;
    for (int i = 0; i < CLOCKS; i++)
        ideal.now_ns[i] = options.manual_start_ns;
    EXPECT(htw_scheduler_create(&model.scheduler, &options) == 0);
    for (int i = 0; i < GROUPS; i++)
        EXPECT(htw_group_create(model.scheduler, &model.groups[i]) == 0);
    for (int i = 0; i < TIMERS; i++)
        ideal.timers[i].clock = HTW_CLOCK_MANUAL;
}

static void end(void) {
    uint64_t pending = htw_pending(model.scheduler);
    int64_t visited = 0;
    model.is_quiet = true;
    failing_allocator_fail(&model.memory, 1, true);
    EXPECT(htw_scheduler_stop(model.scheduler, take_unexpired, &visited) == 0);
    failing_allocator_relent(&model.memory);
    EXPECT((uint64_t)visited == pending);
    for (int i = 0; i < TIMERS; i++)
        if (ideal.timers[i].lives)
            ideal_end(&ideal.timers[i], &ideal.counted.handed_back);
    for (int i = 0; i < TIMERS; i++)
        EXPECT(ideal.timers[i].releases == ideal.timers[i].wanted_releases);
    EXPECT(ideal.counted.handed_back == pending);
    ideal.counted.pending = 0;
    compare_counters();
    compare_sites();
    for (int i = 0; i < GROUPS; i++)
        htw_group_destroy(model.groups[i]);
    EXPECT(htw_scheduler_destroy(model.scheduler) == 0);
    EXPECT(model.memory.live_blocks == 0 && model.memory.error == NULL);
    failing_allocator_fini(&model.memory);
}

static struct model_arguments arguments = { .seed = 1, .steps = 100000, .histories = UINT64_MAX };

static uint64_t run_history(uint64_t number) {
    struct random_source seeds = { arguments.seed ^ number * UINT64_C(0x9e3779b97f4a7c15) };
    model.trace = arguments.trace;
    begin(random_next(&seeds));
    for (; model.step < STEPS_A_HISTORY && model_failure == NULL; model.step++)
        take_step();
    uint64_t step = model.step;
    end();
    return step;
}

int main(int argc, char *argv[]) {
    return model_play(&arguments, argc, argv, run_history);
}
