/* SPDX-License-Identifier: MIT */
/* test_threads.c - counts and events of many threads, also while they are switched on and off. */
#include "../unit.h"

#include <htw/group.h>
#include <htw/observe.h>
#include <htw/scheduler.h>
#include <htw/timer.h>

#include <pthread.h>
#include <stdatomic.h>

#define ARMING 3
#define TIMERS 64
#define EXPIRERS_MAX 2
#define BOTH (HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS)

static void nothing(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
}

static const struct htw_site sites[ARMING] = {
    { nothing, "first", NULL, NULL, 1 },
    { nothing, "second", NULL, NULL, 2 },
    { nothing, "third", NULL, NULL, 3 },
};

struct arming {
    pthread_t thread;
    struct htw_scheduler *scheduler;
    const struct htw_site *site;
    unsigned rounds;
    struct htw_group *group; /* NULL: none. It changes the name */
    struct arming *other;    /* whose timers it cancels, too */
    _Atomic htw_handle handles[TIMERS];
};

static void arm_one(struct arming *self, unsigned i) {
    htw_handle handle = 0;
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.site = self->site;
    spec.when_ns = (int64_t)(i % 4) * HTW_MILLISECOND;
    spec.period_ns = i % 16 == 0 ? HTW_MILLISECOND : 0;
    if (htw_schedule_spec(self->scheduler, &spec, &handle, NULL) != 0)
        abort();
    htw_handle before = atomic_exchange(&self->handles[i % TIMERS], handle);
    if (before != 0)
        htw_cancel(self->scheduler, before);
}

static void *arm_and_cancel(void *arg) {
    struct arming *self = arg;
    struct htw_site kept = *self->site;
    for (unsigned i = 0; i < self->rounds; i++) {
        arm_one(self, i);
        kept.line = i;
        if (self->group != NULL && i < 1000)
            (void)htw_scheduler_keep_site(self->scheduler, &kept);
        if (self->group != NULL && htw_group_set_name(self->group, i % 2 ? "odd" : NULL) != 0)
            abort();
        htw_handle others = atomic_exchange(&self->other->handles[(7 * i) % TIMERS], 0);
        if (others != 0 && i % 2 == 0)
            htw_cancel(self->scheduler, others);
        else if (others != 0)
            (void)htw_reschedule(self->scheduler, others, HTW_MILLISECOND);
        if (i % 2 != 0)
            atomic_exchange(&self->handles[(7 * i) % TIMERS], others);
    }
    return NULL;
}

static void start_arming(struct arming *all, struct htw_scheduler *scheduler, unsigned rounds,
                         struct htw_group *group) {
    for (unsigned i = 0; i < ARMING; i++) {
        all[i] = (struct arming) { .scheduler = scheduler,
                                   .site = &sites[i],
                                   .rounds = rounds,
                                   .group = group,
                                   .other = &all[(i + 1) % ARMING] };
        for (unsigned n = 0; n < TIMERS; n++)
            atomic_init(&all[i].handles[n], 0);
    }
    for (unsigned i = 0; i < ARMING; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, arm_and_cancel, &all[i]), 0);
}

static void end_arming(struct arming *all) {
    for (unsigned i = 0; i < ARMING; i++)
        pthread_join(all[i].thread, NULL);
}

struct sums {
    uint64_t armed, cancelled, expired, late, wakeups, pending;
};

static void add(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    struct sums *sums = context;
    sums->armed += stats->armed;
    sums->cancelled += stats->cancelled;
    sums->expired += stats->expired;
    sums->late += stats->late;
    sums->wakeups += stats->wakeups;
    sums->pending += stats->pending;
}

static struct sums sums_of(struct htw_scheduler *scheduler) {
    struct sums sums = { 0 };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_SITES, 0, add, &sums), 0);
    return sums;
}

static struct htw_scheduler_stats stats_of(struct htw_scheduler *scheduler) {
    struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
    assert_int_equal(htw_scheduler_get_stats(scheduler, &stats), 0);
    return stats;
}

static void see(void *context, const union htw_visited *visited) {
    (void)context, (void)visited;
}

struct order {
    int64_t last_ns;
    uint64_t count;
    bool wrong;
};

static void see_event(void *context, const union htw_visited *visited) {
    const struct htw_event *event = &visited->event;
    struct order *order = context;
    order->wrong |= event->time_ns < order->last_ns || event->kind < HTW_EVENT_ARMED ||
                    event->kind > HTW_EVENT_WOKEN ||
                    (event->kind != HTW_EVENT_WOKEN &&
                     (event->handle == 0 || event->origin.callback != nothing));
    order->last_ns = event->time_ns;
    order->count++;
}

static struct htw_scheduler *create(uint32_t observe, uint32_t expirers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.shards = 2;
    options.expirers = expirers;
    options.observe = observe;
    options.event_count = 2048;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    return scheduler;
}

/* No step is lost and none is counted twice: the sums are those of the statistics. */
static void assert_sums(struct htw_scheduler *scheduler) {
    assert_int_equal(htw_scheduler_stop(scheduler, NULL, NULL), 0);
    struct sums sums = sums_of(scheduler);
    struct htw_scheduler_stats stats = stats_of(scheduler);
    assert_int_equal(sums.armed, stats.scheduled);
    assert_int_equal(sums.cancelled, stats.cancelled);
    assert_int_equal(sums.expired, stats.runs);
    assert_int_equal(sums.late, stats.late);
    /* A wake-up that the stop cuts short is in no statistics. */
    assert_true(sums.wakeups <= stats.wakeups - stats.empty_wakeups + EXPIRERS_MAX);
    assert_int_equal(sums.pending, 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}

/* holds: scheduler-33 */
UNIT_TEST(sums_of_the_sites_are_those_of_the_statistics) {
    for (uint32_t expirers = 1; expirers <= EXPIRERS_MAX; expirers++) {
        struct arming all[ARMING];
        struct htw_scheduler *scheduler =
            create(expirers == 1 ? HTW_OBSERVE_SITES : BOTH, expirers);
        start_arming(all, scheduler, 2000, NULL);
        end_arming(all);
        assert_sums(scheduler);
    }
}

/* Everything is read and switched while it changes: for ThreadSanitizer. What is whole is what was recorded. */
/* holds: scheduler-33 */
UNIT_TEST(observing_is_switched_and_read_while_threads_work) {
    static const enum htw_visit others[] = { HTW_VISIT_HERDS, HTW_VISIT_WAKEUPS, HTW_VISIT_GROUPS,
                                             HTW_VISIT_SHARDS, HTW_VISIT_LEVELS };
    struct arming all[ARMING];
    struct htw_scheduler *scheduler = create(0, 1);
    struct htw_group *group;
    assert_int_equal(htw_group_create(scheduler, &group), 0);
    start_arming(all, scheduler, 8000, group);
    for (uint32_t i = 0; i < 200; i++) {
        struct order order = { .last_ns = 0 };
        assert_int_equal(htw_scheduler_observe(scheduler, i % 4), 0);
        assert_int_equal(htw_scheduler_observed(scheduler), i % 4);
        sums_of(scheduler);
        assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_EVENTS, 0, see_event, &order), 0);
        assert_false(order.wrong);
        for (size_t n = 0; n < sizeof(others) / sizeof(others[0]); n++)
            assert_int_equal(htw_scheduler_visit(scheduler, others[n], 0, see, NULL), 0);
        stats_of(scheduler);
    }
    end_arming(all);
    htw_group_destroy(group);
    assert_int_equal(htw_scheduler_stop(scheduler, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}
