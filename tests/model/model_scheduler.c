/* SPDX-License-Identifier: MIT */
/*
 * model_scheduler.c - random histories of a scheduler whose timers have several clocks, compared after
 * each step with an oracle that visits all timers every time. For its arguments see arguments.h.
 *
 * There is one thread, and manual time; each clock is advanced with the others, and at times set alone,
 * forward or back. All times are whole ticks: tests/unit/scheduler has the rounding. Which timers run
 * in a step, and at what time, is known before it, except for the order of those of one instant. Some
 * timers of groups have a span; the scales of the groups change. Timers repeat in all ways, some move or cancel
 * themselves in their callback, and some have a release hook. Half of the histories have a limit of timers. The
 * counters are those of the oracle.
 */
/* holds: scheduler-9, scheduler-25, scheduler-28, scheduler-29 */
#include "arguments.h"

#include "../support/random.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMERS = 48,
    GROUPS = 2,
    KEYS = 4,
    SITES = 3,
    CLOCKS = HTW_CLOCK_MANUAL + 1,
    STEPS_A_HISTORY = 1500
};

#define TICK_NS HTW_MILLISECOND

static const enum htw_clock clocks[] = { HTW_CLOCK_MANUAL, HTW_CLOCK_MANUAL, HTW_CLOCK_REALTIME,
                                         HTW_CLOCK_MONOTONIC,
#ifndef HTW_PORTABLE
                                         HTW_CLOCK_BOOTTIME
#endif
};

/* What a callback does with its own timer. */
enum act { ACT_NOTHING, ACT_MOVE, ACT_CANCEL };

struct timed {
    htw_handle handle;
    enum htw_clock clock;
    bool pending;
    /* By its clock, at scale 1; while its group is paused: the rest, unless `keeps_instant`. */
    int64_t deadline_ns;
    bool keeps_instant; /* an instant of the wall clock, which a pause does not move */
    int64_t span_ns;    /* 0: none */
    int group, key;     /* -1: none */
    double kept_scale;  /* of the group that it had, which was destroyed */
    int64_t period_ns;  /* 0: runs once */
    enum htw_repeat repeat;
    uint64_t missed;                     /* periods that were left out since the last run */
    uint64_t told_missed, wanted_missed; /* what the last run was told of them */
    int site;                            /* -1: none */
    enum act act;                        /* in every third run nothing */
    int64_t act_ns;                      /* the delay of a move */
    bool is_hooked;
    uint64_t releases, wanted_releases;
    uint64_t runs, wanted;  /* what the library and the oracle have counted */
    int64_t ran_ns, due_ns; /* the own clock at the last run, and what the oracle wants there */
};

static struct model {
    struct htw_scheduler *scheduler;
    struct htw_group *groups[GROUPS];
    bool paused[GROUPS];
    double scales[GROUPS];
    struct timed timers[TIMERS];
    int64_t now_ns[CLOCKS];
    uint64_t limit; /* 0: none */
    struct htw_scheduler_stats counted;
    bool observes;
    struct htw_site_stats sites[SITES]; /* as counted */
    struct random_source source;
    uint64_t history, step;
    const char *failure;
    bool trace;
} model;

static void expect(bool holds, const char *what) {
    if (!holds && model.failure == NULL)
        model.failure = what;
}

#define EXPECT(condition) expect(condition, #condition)

static uint64_t below(uint64_t bound) {
    return random_below(&model.source, bound);
}

static int64_t ticks(uint64_t bound) {
    return (int64_t)below(bound) * TICK_NS;
}

static int64_t some_span(void) {
    switch (below(6)) {
    case 0:
        return 0;
    case 1:
        return ticks(100000);
    case 2:
        return ticks(3000);
    default:
        return ticks(60);
    }
}

/* ---- the oracle */

static bool is_paused(const struct timed *timer) {
    return timer->group >= 0 && model.paused[timer->group];
}

/* Whether deadline_ns is the rest of a delay. */
static bool has_rest(const struct timed *timer) {
    return is_paused(timer) && !timer->keeps_instant;
}

static int64_t sum(int64_t a, int64_t b) {
    return a == HTW_NEVER_NS || b == HTW_NEVER_NS ? HTW_NEVER_NS : a + b;
}

/* How much sooner it is due than at scale 1: a part of its span. */
static int64_t lead_ns(const struct timed *timer) {
    if (timer->span_ns == 0)
        return 0;
    int64_t span = timer->span_ns / TICK_NS;
    double scale = timer->group < 0 ? timer->kept_scale : model.scales[timer->group];
    return (span - (int64_t)(scale * (double)span + 0.5)) * TICK_NS;
}

/* A time that is left, as long as it is left. */
static int64_t less(int64_t left, int64_t by) {
    if (left == HTW_NEVER_NS)
        return left;
    return left > by ? left - by : 0;
}

/* Whether the library may say so. One that a change of the scale made due is so since then. */
static bool is_deadline(const struct timed *timer, int64_t deadline_ns) {
    int64_t wanted_ns = timer->deadline_ns, now_ns = model.now_ns[timer->clock];
    if (has_rest(timer))
        wanted_ns = sum(now_ns, less(wanted_ns, lead_ns(timer)));
    else if (wanted_ns != HTW_NEVER_NS)
        wanted_ns -= lead_ns(timer);
    return deadline_ns == wanted_ns ||
           (timer->span_ns > 0 && deadline_ns > wanted_ns && deadline_ns <= now_ns);
}

/* How long until its deadline, if no clock is set. */
static int64_t rest_ns(const struct timed *timer) {
    if (timer->deadline_ns == HTW_NEVER_NS)
        return HTW_NEVER_NS;
    int64_t left = timer->deadline_ns - (has_rest(timer) ? 0 : model.now_ns[timer->clock]);
    return less(left, lead_ns(timer));
}

/* How long until it runs, if no clock is set. */
static int64_t left_ns(const struct timed *timer) {
    return !timer->pending || is_paused(timer) ? HTW_NEVER_NS : rest_ns(timer);
}

static int64_t least_left_ns(void) {
    int64_t least = HTW_NEVER_NS;
    for (int i = 0; i < TIMERS; i++)
        if (left_ns(&model.timers[i]) < least)
            least = left_ns(&model.timers[i]);
    return least;
}

static void end_in_oracle(struct timed *timer, uint64_t *counter) {
    timer->pending = false;
    timer->wanted_releases += timer->is_hooked;
    if (timer->site >= 0 && counter == &model.counted.cancelled)
        model.sites[timer->site].cancelled++;
    ++*counter;
}

static enum act act_of(const struct timed *timer, uint64_t run) {
    return run % 3 == 0 ? ACT_NOTHING : timer->act;
}

static void plan_next_run(struct timed *timer) {
    int64_t now_ns = model.now_ns[timer->clock];
    timer->deadline_ns += timer->period_ns;
    bool is_overdue = timer->deadline_ns <= now_ns;
    if (timer->repeat == HTW_REPEAT_AFTER || (timer->repeat == HTW_REPEAT_DELAY && is_overdue))
        timer->deadline_ns = now_ns + timer->period_ns;
    for (; timer->repeat == HTW_REPEAT_SKIP && timer->deadline_ns <= now_ns; timer->missed++)
        timer->deadline_ns += timer->period_ns;
    model.counted.missed += timer->missed;
}

static void run_in_oracle(struct timed *timer) {
    timer->wanted++;
    timer->wanted_missed = timer->missed;
    timer->missed = 0;
    timer->due_ns = model.now_ns[HTW_CLOCK_MANUAL];
    model.counted.runs++;
    if (timer->site >= 0)
        model.sites[timer->site].expired++;
    enum act act = act_of(timer, timer->wanted);
    if (timer->period_ns == 0)
        timer->key = -1;
    if (act == ACT_MOVE) {
        timer->keeps_instant = false;
        timer->deadline_ns = sum(model.now_ns[timer->clock], timer->act_ns + timer->span_ns);
        model.counted.moved++;
    } else if (timer->period_ns == 0 || act == ACT_CANCEL) {
        end_in_oracle(timer, &model.counted.fired);
    } else {
        plan_next_run(timer);
    }
}

static void pass_time(int64_t delta_ns) {
    for (int i = 0; i < CLOCKS; i++)
        model.now_ns[i] += delta_ns;
}

static void advance_oracle(int64_t delta_ns) {
    for (int64_t left; (left = least_left_ns()) <= delta_ns; delta_ns -= left) {
        pass_time(left);
        for (int i = 0; i < TIMERS; i++)
            if (left_ns(&model.timers[i]) == 0)
                run_in_oracle(&model.timers[i]);
    }
    pass_time(delta_ns);
}

/* ---- the library */

static void note_run(void *arg, const struct htw_expiration *expiration) {
    struct timed *timer = arg;
    timer->runs++;
    timer->told_missed = expiration->missed;
    timer->ran_ns = htw_scheduler_now(expiration->scheduler);
    EXPECT(expiration->clock == timer->clock);
    EXPECT(expiration->handle == timer->handle);
    int64_t now_ns = htw_scheduler_now_by(expiration->scheduler, timer->clock);
    EXPECT(expiration->deadline_ns <= now_ns);
    EXPECT(expiration->late_ns == now_ns - expiration->deadline_ns);
    switch (act_of(timer, timer->runs)) {
    case ACT_MOVE:
        EXPECT(htw_reschedule(expiration->scheduler, expiration->handle, timer->act_ns) ==
               HTW_MOVED);
        break;
    case ACT_CANCEL:
        EXPECT(htw_cancel(expiration->scheduler, expiration->handle) == HTW_RUNNING);
        break;
    default:
        break;
    }
}

static void note_release(void *arg) {
    struct timed *timer = arg;
    timer->releases++;
}

static const struct htw_site sites[SITES] = { { note_run, "first", "model", "schedule", 1 },
                                              { note_run, "second", "model", "schedule", 2 },
                                              { note_run, "third", "model", "schedule", 3 } };

static struct timed *some_timer(void) {
    return &model.timers[below(TIMERS)];
}

static struct timed *holder_of(int group, int key) {
    for (int i = 0; key >= 0 && i < TIMERS; i++) {
        struct timed *timer = &model.timers[i];
        if (timer->pending && timer->key == key && timer->group == group)
            return timer;
    }
    return NULL;
}

static struct htw_group *group_of(int group) {
    return group < 0 ? NULL : model.groups[group];
}

/* ---- steps */

static void set_deadline(struct timed *timer, int64_t delay_ns, bool is_instant) {
    timer->keeps_instant = is_instant && timer->clock == HTW_CLOCK_REALTIME;
    int64_t most_ns = sum(delay_ns, timer->span_ns);
    if (has_rest(timer))
        timer->deadline_ns = most_ns < 0 ? 0 : most_ns;
    else
        timer->deadline_ns = sum(model.now_ns[timer->clock], most_ns);
}

/* Often the same. */
static int64_t class_of_span(void) {
    static const int64_t spans[] = { 1, 7, 99, 100, 298, 1000, 98765 };
    return below(2) == 0 ? 0 : spans[below(sizeof(spans) / sizeof(spans[0]))] * TICK_NS;
}

static void schedule(void) {
    struct timed *timer = some_timer();
    if (timer->pending)
        return;
    struct htw_spec spec = HTW_SPEC_INIT;
    struct htw_unexpired replaced;
    timer->clock = clocks[below(sizeof(clocks) / sizeof(clocks[0]))];
    timer->group = (int)below(GROUPS + 2) - 2 < 0 ? -1 : (int)below(GROUPS);
    timer->key = below(3) == 0 ? (int)below(KEYS) : -1;
    timer->period_ns = below(6) == 0 ? TICK_NS + ticks(500) : 0;
    timer->repeat = (enum htw_repeat)below(HTW_REPEAT_AFTER + 1);
    timer->missed = 0;
    timer->act = below(4) == 0 ? (enum act)(1 + below(2)) : ACT_NOTHING;
    timer->act_ns = TICK_NS + ticks(50);
    timer->site = (int)below(2 * SITES) - SITES;
    timer->span_ns = timer->group >= 0 && timer->period_ns == 0 ? class_of_span() : 0;
    int64_t delay_ns = below(20) == 0 ? HTW_NEVER_NS : some_span();
    bool plain = timer->clock == HTW_CLOCK_MANUAL && timer->group < 0 && timer->key < 0 &&
                 timer->period_ns == 0 && below(2) == 0;
    timer->is_hooked = !plain && below(3) == 0;
    bool is_full = model.limit > 0 && model.counted.pending == model.limit;
    struct timed *old = holder_of(timer->group, timer->key);
    spec.callback = note_run;
    spec.arg = timer;
    spec.clock = timer->clock;
    spec.absolute = delay_ns != HTW_NEVER_NS && below(2) == 0;
    if (spec.absolute && timer->span_ns > 0 && below(3) == 0)
        delay_ns = -delay_ns;
    spec.when_ns = spec.absolute ? model.now_ns[timer->clock] + delay_ns : delay_ns;
    spec.span_ns = timer->span_ns;
    spec.group = group_of(timer->group);
    spec.key = timer->key < 0 ? NULL : &timer->key;
    spec.key_size = sizeof(timer->key);
    spec.period_ns = timer->period_ns;
    spec.repeat = timer->repeat;
    spec.site = timer->site < 0 ? NULL : &sites[timer->site];
    spec.release = timer->is_hooked ? note_release : NULL;
    spec.keep_existing = below(4) == 0;
    bool is_instant = spec.absolute;
    int result;
    if (!plain)
        result = htw_schedule_spec(model.scheduler, &spec, &timer->handle, &replaced);
    else if (timer->site < 0)
        result = htw_schedule(model.scheduler, delay_ns, note_run, timer, &timer->handle);
    else
        result = htw_schedule_here(model.scheduler, delay_ns, spec.site, timer, &timer->handle);
    if (old != NULL && spec.keep_existing) {
        EXPECT(result == -EEXIST);
        return;
    }
    if (old == NULL && is_full) {
        EXPECT(result == -EAGAIN);
        model.counted.refused++;
        return;
    }
    EXPECT(result == 0);
    EXPECT(plain || (replaced.handle == 0) == (old == NULL));
    if (old != NULL) {
        EXPECT(replaced.arg == (old->is_hooked ? NULL : old) && replaced.clock == old->clock);
        EXPECT(is_deadline(old, replaced.deadline_ns));
        end_in_oracle(old, &model.counted.cancelled);
    }
    timer->pending = true;
    model.counted.scheduled++;
    if (timer->site >= 0)
        model.sites[timer->site].armed++;
    set_deadline(timer, delay_ns, is_instant);
}

/* The timer that has the key, and has it no longer. */
static struct timed *cancel_by_key(const struct timed *timer) {
    if (timer->key < 0)
        return NULL;
    struct timed *holder = holder_of(timer->group, timer->key);
    void *arg = NULL;
    int result = htw_cancel_key(model.scheduler, group_of(timer->group), &timer->key,
                                sizeof(timer->key), &arg);
    EXPECT(result == (holder == NULL ? HTW_GONE : HTW_CANCELLED));
    EXPECT(arg == (holder != NULL && holder->is_hooked ? NULL : holder));
    return holder;
}

static void cancel(void) {
    struct timed *timer = some_timer();
    int wanted = timer->pending ? HTW_CANCELLED : HTW_GONE;
    int64_t left = 77;
    switch (below(4)) {
    case 0:
        EXPECT(htw_cancel_wait(model.scheduler, timer->handle) == wanted);
        break;
    case 1:
        EXPECT(htw_cancel_remaining(model.scheduler, timer->handle, &left) == wanted);
        EXPECT(left == (timer->pending ? rest_ns(timer) : 77));
        break;
    case 2:
        timer = cancel_by_key(timer);
        break;
    default:
        EXPECT(htw_cancel(model.scheduler, timer->handle) == wanted);
    }
    if (timer != NULL && timer->pending)
        end_in_oracle(timer, &model.counted.cancelled);
}

static void set_period(void) {
    struct timed *timer = some_timer();
    int64_t period_ns = TICK_NS + ticks(300);
    int result = htw_set_period(model.scheduler, timer->handle, period_ns);
    if (!timer->pending) {
        EXPECT(result == HTW_GONE);
        return;
    }
    EXPECT(result == (timer->period_ns > 0 ? HTW_MOVED : -EINVAL));
    if (timer->period_ns > 0)
        timer->period_ns = period_ns;
}

static void reschedule(void) {
    struct timed *timer = some_timer();
    int64_t delay_ns = below(20) == 0 ? HTW_NEVER_NS : some_span();
    bool absolute = below(2) == 0;
    if (absolute && delay_ns != HTW_NEVER_NS && timer->span_ns > 0 && below(3) == 0)
        delay_ns = -delay_ns;
    int64_t at_ns = sum(model.now_ns[timer->clock], delay_ns);
    int result = absolute ? htw_reschedule_at(model.scheduler, timer->handle, at_ns)
                          : htw_reschedule(model.scheduler, timer->handle, delay_ns);
    EXPECT(result == (timer->pending ? HTW_MOVED : HTW_GONE));
    if (!timer->pending)
        return;
    set_deadline(timer, delay_ns, absolute);
    model.counted.moved++;
}

static void set_scale(void) {
    int group = (int)below(GROUPS);
    static const double scales[] = { 0, 1, 1, 0.3, 0.5, 0.999, 1e-9 };
    double scale = below(2) == 0 ? scales[below(sizeof(scales) / sizeof(scales[0]))]
                                 : (double)below(101) / 100;
    EXPECT(htw_group_set_scale(model.groups[group], scale) == 0);
    model.scales[group] = scale;
    EXPECT(htw_group_scale(model.groups[group]) == scale);
}

static bool moves_with_pause(const struct timed *timer, int group) {
    return timer->pending && timer->group == group && !timer->keeps_instant &&
           timer->deadline_ns != HTW_NEVER_NS;
}

/* The rest of a delay is at least 0, so that of a timer that is due does not say how late it is. */
static void pause_in_oracle(int group) {
    for (int i = 0; i < TIMERS && !model.paused[group]; i++) {
        struct timed *timer = &model.timers[i];
        if (moves_with_pause(timer, group))
            timer->deadline_ns = less(timer->deadline_ns, model.now_ns[timer->clock]);
    }
    model.paused[group] = true;
}

static void resume_in_oracle(int group) {
    for (int i = 0; i < TIMERS && model.paused[group]; i++) {
        struct timed *timer = &model.timers[i];
        if (!moves_with_pause(timer, group))
            continue;
        int64_t lead = lead_ns(timer);
        timer->deadline_ns =
            model.now_ns[timer->clock] + (timer->deadline_ns > lead ? timer->deadline_ns : lead);
    }
    model.paused[group] = false;
}

static void pause_or_resume(void) {
    int group = (int)below(GROUPS);
    bool pauses = below(2) == 0;
    EXPECT((pauses ? htw_group_pause : htw_group_resume)(model.groups[group]) == 0);
    (pauses ? pause_in_oracle : resume_in_oracle)(group);
}

static void take_unexpired(void *context, const struct htw_unexpired *unexpired) {
    struct timed *timer = unexpired->arg;
    EXPECT(timer->pending && unexpired->clock == timer->clock);
    EXPECT(is_deadline(timer, unexpired->deadline_ns));
    EXPECT(timer->releases == timer->wanted_releases);
    end_in_oracle(timer, context);
}

static void cancel_group(void) {
    int group = (int)below(GROUPS);
    uint64_t before = model.counted.cancelled;
    int64_t count = 0;
    for (int i = 0; i < TIMERS; i++)
        count += model.timers[i].pending && model.timers[i].group == group;
    EXPECT(htw_group_cancel(model.groups[group], take_unexpired, &model.counted.cancelled) ==
           count);
    EXPECT(model.counted.cancelled == before + (uint64_t)count);
}

/* Its timers go on without it, and another group has its place. */
static void replace_group(void) {
    int group = (int)below(GROUPS);
    resume_in_oracle(group);
    for (int i = 0; i < TIMERS; i++) {
        struct timed *timer = &model.timers[i];
        if (!timer->pending || timer->group != group)
            continue;
        timer->kept_scale = model.scales[group];
        timer->group = timer->key = -1;
    }
    htw_group_destroy(model.groups[group]);
    EXPECT(htw_group_create(model.scheduler, &model.groups[group]) == 0);
    model.scales[group] = 1;
}

static void advance(void) {
    int64_t delta_ns = below(8) == 0 ? ticks(200000) : ticks(40);
    advance_oracle(delta_ns);
    EXPECT(htw_scheduler_advance(model.scheduler, delta_ns) == 0);
}

static void set_clock(void) {
    enum htw_clock clock = clocks[below(sizeof(clocks) / sizeof(clocks[0]))];
    int64_t step_ns = below(2) == 0 ? some_span() : -some_span();
    if (model.now_ns[clock] + step_ns < 0)
        step_ns = 0;
    model.now_ns[clock] += step_ns;
    advance_oracle(0);
    EXPECT(htw_scheduler_set_clock(model.scheduler, clock, model.now_ns[clock]) == 0);
}

/* ---- comparison */

static void compare_timer(struct timed *timer) {
    int64_t deadline_ns = 77;
    EXPECT(timer->runs == timer->wanted);
    EXPECT(timer->told_missed == timer->wanted_missed);
    EXPECT(timer->releases == timer->wanted_releases);
    EXPECT(timer->runs == 0 || timer->ran_ns == timer->due_ns);
    EXPECT(htw_is_pending(model.scheduler, timer->handle) == timer->pending);
    int result = htw_deadline(model.scheduler, timer->handle, &deadline_ns);
    int clock = htw_clock_of(model.scheduler, timer->handle);
    if (!timer->pending) {
        EXPECT(result == -ENOENT && clock == -ENOENT);
        return;
    }
    EXPECT(result == 0 && clock == (int)timer->clock);
    EXPECT(is_deadline(timer, deadline_ns));
}

/* Timers that are pending count always, the rest while it is observed. */
static void compare_site(void *context, const struct htw_site_stats *stats) {
    unsigned *seen = context;
    for (int i = 0; i < SITES; i++) {
        const struct htw_site_stats *counted = &model.sites[i];
        if (stats->address != &sites[i])
            continue;
        *seen |= 1u << i;
        uint64_t pending = 0;
        for (int j = 0; j < TIMERS; j++)
            pending += model.timers[j].pending && model.timers[j].site == i;
        EXPECT(stats->pending == pending);
        EXPECT(stats->armed == (model.observes ? counted->armed : 0));
        EXPECT(stats->cancelled == (model.observes ? counted->cancelled : 0));
        EXPECT(stats->expired == (model.observes ? counted->expired : 0));
    }
}

static void compare_sites(void) {
    unsigned seen = 0;
    EXPECT(htw_scheduler_visit_sites(model.scheduler, compare_site, &seen) == 0);
    for (int i = 0; i < SITES; i++)
        EXPECT((seen >> i & 1) != 0 || !model.observes || model.sites[i].armed == 0);
}

/* What the oracle counts. */
static void compare_counters(void) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    const struct htw_scheduler_stats *counted = &model.counted;
    EXPECT(htw_scheduler_get_stats(model.scheduler, &stats) == 0);
    EXPECT(stats.scheduled == counted->scheduled && stats.fired == counted->fired);
    EXPECT(stats.cancelled == counted->cancelled && stats.handed_back == counted->handed_back);
    EXPECT(stats.runs == counted->runs && stats.missed == counted->missed);
    EXPECT(stats.refused == counted->refused && stats.moved == counted->moved);
    EXPECT(stats.pending == counted->pending && stats.running == 0);
    EXPECT(stats.lateness.count == counted->runs && stats.callback.count == counted->runs);
}

static void compare(void) {
    uint64_t pending = 0, grouped[GROUPS] = { 0 };
    for (int i = 0; i < TIMERS; i++) {
        struct timed *timer = &model.timers[i];
        compare_timer(timer);
        pending += timer->pending;
        if (timer->pending && timer->group >= 0)
            grouped[timer->group]++;
    }
    model.counted.pending = pending;
    EXPECT(htw_pending(model.scheduler) == pending);
    if (model.step % 8 == 0)
        compare_counters();
    if (model.step % 8 == 4)
        compare_sites();
    for (int i = 0; i < GROUPS; i++)
        EXPECT(htw_group_count(model.groups[i]) == grouped[i]);
    for (int i = 0; i < CLOCKS; i++)
        EXPECT(i == HTW_CLOCK_DEFAULT || htw_scheduler_now_by(model.scheduler, (unsigned)i) == 0 ||
               htw_scheduler_now_by(model.scheduler, (unsigned)i) == model.now_ns[i]);
    /* Exact, or earlier after a cancel or a move. */
    EXPECT(htw_scheduler_next(model.scheduler) <=
           sum(model.now_ns[HTW_CLOCK_MANUAL], least_left_ns()));
}

static void take_step(void) {
    static void (*const kinds[])(void) = {
        schedule,   schedule,        schedule,     schedule,      cancel,  cancel,
        reschedule, pause_or_resume, cancel_group, set_clock,     advance, advance,
        reschedule, set_scale,       set_period,   replace_group,
    };
    uint64_t kind = below(sizeof(kinds) / sizeof(kinds[0]));
    if ((kinds[kind] == cancel_group || kinds[kind] == replace_group) && below(4) != 0)
        return;
    if (model.trace)
        printf("step %" PRIu64 ": kind %" PRIu64 "\n", model.step, kind);
    kinds[kind]();
    compare();
}

/* ---- histories */

static void begin(uint64_t seed) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct model fresh = { .source = { seed }, .history = model.history, .trace = model.trace };
    model = fresh;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = 0;
    options.shards = 1 + (uint32_t)below(3);
    options.wheel_size = 4u << 2 * below(4);
    options.manual_start_ns = ticks(10000000);
    model.limit = below(2) == 0 ? 0 : 1 + below(TIMERS);
    options.max_pending = model.limit;
    model.observes = below(2) == 0;
    options.observe = model.observes ? HTW_OBSERVE_SITES : 0;
    for (int i = 0; i < CLOCKS; i++)
        model.now_ns[i] = options.manual_start_ns;
    EXPECT(htw_scheduler_create(&model.scheduler, &options) == 0);
    for (int i = 0; i < GROUPS; i++) {
        EXPECT(htw_group_create(model.scheduler, &model.groups[i]) == 0);
        model.scales[i] = 1;
    }
    for (int i = 0; i < TIMERS; i++)
        model.timers[i].clock = HTW_CLOCK_MANUAL;
}

static void end(void) {
    uint64_t pending = htw_pending(model.scheduler);
    EXPECT(htw_scheduler_stop(model.scheduler, take_unexpired, &model.counted.handed_back) == 0);
    EXPECT(model.counted.handed_back == pending);
    for (int i = 0; i < TIMERS; i++)
        EXPECT(!model.timers[i].pending &&
               model.timers[i].releases == model.timers[i].wanted_releases);
    model.counted.pending = 0;
    compare_counters();
    compare_sites();
    for (int i = 0; i < GROUPS; i++)
        htw_group_destroy(model.groups[i]);
    EXPECT(htw_scheduler_destroy(model.scheduler) == 0);
}

int main(int argc, char *argv[]) {
    struct model_arguments arguments = { .seed = 1, .steps = 100000, .histories = UINT64_MAX };
    if (!model_arguments_parse(&arguments, argc, argv))
        return 2;
    model.trace = arguments.trace;
    uint64_t steps = 0, histories = 0;
    for (uint64_t n = arguments.first; steps < arguments.steps && histories < arguments.histories;
         n++, histories++) {
        struct random_source seeds = { arguments.seed ^ n * UINT64_C(0x9e3779b97f4a7c15) };
        model.history = n;
        begin(random_next(&seeds));
        for (; model.step < STEPS_A_HISTORY && model.failure == NULL; model.step++, steps++)
            take_step();
        end();
        if (model.failure != NULL) {
            printf("FAILED: %s\n  seed %" PRIu64 ", history %" PRIu64 ", step %" PRIu64
                   "\n  again: %s --seed %" PRIu64 " --first %" PRIu64 " --histories 1 --trace\n",
                   model.failure, arguments.seed, n, model.step, argv[0], arguments.seed, n);
            return 1;
        }
    }
    printf("%" PRIu64 " steps in %" PRIu64 " histories, seed %" PRIu64 "\n", steps, histories,
           arguments.seed);
    return 0;
}
