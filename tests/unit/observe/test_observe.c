/* SPDX-License-Identifier: MIT */
/* test_observe.c - what is counted by site, recorded and found of wake-ups and herds, where that is on. */
#include "../scheduler/scheduler_fixture.h"

#include <time.h>

#define BOTH (HTW_OBSERVE_SITES | HTW_OBSERVE_EVENTS)

static const struct htw_site idle = { probe_run, "idle", "server.c", "accept_one", 88 };
static const struct htw_site beat = { probe_run, "beat", "server.c", "start", 12 };

static void observe(struct scheduler_fixture *f, uint32_t what) {
    assert_int_equal(htw_scheduler_observe(f->scheduler, what), 0);
    assert_int_equal(htw_scheduler_observed(f->scheduler), what);
}

static void arm_site(struct scheduler_fixture *f, unsigned number, const struct htw_site *site,
                     int64_t delay_ns) {
    assert_int_equal(htw_schedule_here(f->scheduler, delay_ns, site, &f->probes[number],
                                       &f->probes[number].handle),
                     0);
}

/* ---- counts */

struct wanted {
    const void *address; /* NULL: of all sites */
    size_t visits;
    struct htw_site_stats stats;
};

static void add_stats(void *context, const union htw_visited *visited) {
    const struct htw_site_stats *stats = &visited->site;
    struct wanted *wanted = context;
    if (wanted->address != NULL && stats->origin.address != wanted->address)
        return;
    wanted->visits++;
    wanted->stats.pending += stats->pending;
    wanted->stats.armed += stats->armed;
    wanted->stats.cancelled += stats->cancelled;
    wanted->stats.expired += stats->expired;
    wanted->stats.late += stats->late;
    wanted->stats.callback_ns += stats->callback_ns;
    wanted->stats.wakeups += stats->wakeups;
}

/* The counts of a site. NULL: the sums of all. */
static struct htw_site_stats counts(struct htw_scheduler *scheduler, const struct htw_site *site) {
    struct wanted wanted = { .address = site };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_SITES, 0, add_stats, &wanted), 0);
    return wanted.stats;
}

#define assert_counts(scheduler, site, ...)                                           \
    do {                                                                              \
        struct htw_site_stats found_ = counts(scheduler, site);                       \
        const uint64_t numbers_[] = { found_.pending, found_.armed, found_.cancelled, \
                                      found_.expired, found_.late,  found_.wakeups }; \
        const uint64_t wanted_[] = { __VA_ARGS__ };                                   \
        for (size_t i_ = 0; i_ < sizeof(wanted_) / sizeof(wanted_[0]); i_++)          \
            assert_int_equal(numbers_[i_], wanted_[i_]);                              \
    } while (0)

static void see_nothing(void *context, const union htw_visited *visited) {
    (void)context, (void)visited;
}

SCHEDULER_TEST(observe_refuses_what_it_does_not_know) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    assert_int_equal(htw_scheduler_observe(NULL, 0), -EINVAL);
    assert_int_equal(htw_scheduler_observe(f->scheduler, 0x100), -EINVAL);
    assert_int_equal(htw_scheduler_observed(NULL), 0);
    assert_int_equal(htw_scheduler_observed(f->scheduler), 0);
    struct htw_scheduler *scheduler;
    options.observe = 0x80000000u;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "observe");
    options.observe = BOTH;
    options.event_count = HTW_EVENTS_MAX + 1;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), -EINVAL);
    assert_string_equal(htw_invalid_member(), "event_count");
    for (int number = HTW_VISIT_SITES - 1; number <= HTW_VISIT_LEVELS + 1; number++) {
        bool known = number >= HTW_VISIT_SITES && number <= HTW_VISIT_LEVELS;
        enum htw_visit what = (enum htw_visit)number;
        assert_int_equal(htw_scheduler_visit(NULL, what, 0, see_nothing, NULL), -EINVAL);
        assert_int_equal(htw_scheduler_visit(f->scheduler, what, 0, NULL, NULL), -EINVAL);
        assert_int_equal(htw_scheduler_visit(f->scheduler, what, 0, see_nothing, NULL),
                         known ? 0 : -EINVAL);
    }
}

SCHEDULER_TEST(counts_begin_when_they_are_switched_on_and_stay_when_off) {
    arm_site(f, 0, &idle, MS);
    assert_counts(f->scheduler, &idle, 1, 0, 0, 0);
    observe(f, HTW_OBSERVE_SITES);
    arm_site(f, 1, &idle, MS);
    arm_site(f, 2, &idle, 2 * MS);
    arm_site(f, 3, &beat, 5 * MS);
    assert_int_equal(cancel(f, 2), HTW_CANCELLED);
    assert_int_equal(cancel(f, 2), HTW_GONE);
    advance(f, MS);
    assert_counts(f->scheduler, &idle, 0, 2, 1, 2, 0, 1);
    assert_counts(f->scheduler, &beat, 1, 1, 0, 0, 0, 0);
    observe(f, 0);
    arm_site(f, 4, &idle, MS);
    advance(f, 10 * MS);
    assert_counts(f->scheduler, &idle, 0, 2, 1, 2, 0, 1);
    observe(f, HTW_OBSERVE_SITES);
    arm_site(f, 5, &idle, 0);
    assert_counts(f->scheduler, &idle, 1, 3, 1, 2, 0, 1);
}

/* So many that no table has room for them all. Each site still counts exactly, or among the others. */
/* holds: scheduler-33 */
SCHEDULER_TEST(counts_of_more_sites_than_are_told_apart_stay_exact) {
    enum { ALL = 3 * HTW_SITES_MAX };
    struct htw_site *sites = calloc(ALL, sizeof(*sites));
    assert_non_null(sites);
    observe(f, HTW_OBSERVE_SITES);
    uint64_t before = scheduler_stats(f).memory_bytes;
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < ALL; i++) {
            sites[i].callback = probe_run;
            assert_int_equal(
                htw_schedule_here(f->scheduler, MS, &sites[i], &f->probes[0], &f->probes[0].handle),
                0);
            if (round == 2)
                assert_int_equal(cancel(f, 0), HTW_CANCELLED);
        }
    advance(f, MS);
    struct wanted wanted = { .address = NULL };
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_SITES, 0, add_stats, &wanted), 0);
    assert_int_equal(wanted.visits, HTW_SITES_MAX + 1);
    assert_counts(f->scheduler, NULL, 0, 3 * ALL, ALL, 2 * ALL, 0, 1);
    assert_counts(f->scheduler, &sites[0], 0, 3, 1);
    assert_counts(f->scheduler, &sites[HTW_SITES_MAX - 1], 0, 3, 1);
    assert_counts(f->scheduler, &sites[HTW_SITES_MAX], 0, 0, 0);
    assert_in_range(scheduler_stats(f).memory_bytes - before, 1, 8 << 20);
    free(sites);
}

/* Whichever allocation fails: scheduling goes on, and nothing is counted twice or lost. */
/* holds: scheduler-33 */
SCHEDULER_TEST(counts_need_no_memory) {
    enum { SITES = 200 };
    static struct htw_site sites[SITES];
    observe(f, HTW_OBSERVE_SITES);
    for (unsigned i = 0; i < SITES; i++) {
        sites[i].callback = probe_run;
        arm_site(f, 0, &sites[i], MS); /* so that records are there */
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    }
    scheduler_reopen(f);
    arm(f, 0, MS);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_scheduler_observe(f->scheduler, BOTH), -ENOMEM);
    assert_int_equal(htw_scheduler_observed(f->scheduler), 0);
    failing_allocator_relent(&f->memory);
    observe(f, HTW_OBSERVE_SITES);
    failing_allocator_fail(&f->memory, 1, true);
    for (unsigned i = 0; i < SITES; i++) {
        arm_site(f, 0, &sites[i], MS);
        advance(f, MS);
    }
    failing_allocator_relent(&f->memory);
    assert_counts(f->scheduler, NULL, 0, SITES, 0, SITES, 0, SITES);
    assert_counts(f->scheduler, &sites[0], 0, 1, 0, 1, 0, 1);
    arm_site(f, 0, &sites[SITES - 1], MS);
    advance(f, MS);
    assert_counts(f->scheduler, &sites[SITES - 1], 0, 1, 0, 1, 0, 1);
}

/* Each allocation in turn. */
/* holds: scheduler-33 */
SCHEDULER_TEST(switching_on_fails_whole) {
    bool failed = true;
    for (unsigned n = 1; failed && n < 100; n++) {
        scheduler_reopen(f);
        failing_allocator_fail(&f->memory, n, false);
        int error = htw_scheduler_observe(f->scheduler, BOTH);
        failed = error != 0;
        failing_allocator_relent(&f->memory);
        assert_int_equal(error, failed ? -ENOMEM : 0);
        assert_int_equal(htw_scheduler_observed(f->scheduler), failed ? 0 : BOTH);
        arm_site(f, 0, &idle, MS);
        advance(f, MS);
        assert_counts(f->scheduler, &idle, 0, !failed, 0, !failed);
    }
    assert_false(failed);
}

SCHEDULER_TEST(dump_has_what_was_counted_while_it_is) {
    observe(f, HTW_OBSERVE_SITES);
    arm_site(f, 0, &idle, MS);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    for (unsigned i = 0; i < 3; i++) {
        arm_site(f, 1, &beat, MS);
        advance(f, MS);
    }
    arm_site(f, 2, &idle, 15 * MS);
    char *text = scheduler_dump(f->scheduler);
    static const char counted[] =
        "scheduler htw: 1 pending, 1 site\n"
        "   pending  the first  wake-ups     armed cancelled   expired      late  ms in it  site\n"
        "         1     15 ms          0         2         1         0         0         0"
        "  idle accept_one() server.c:88\n"
        "         0      never         3         3         0         3         0         0"
        "  beat start() server.c:12\n"
        "next ";
    assert_memory_equal(text, counted, strlen(counted));
    assert_int_equal(cancel(f, 2), HTW_CANCELLED);
    free(text);
    observe(f, 0);
    text = scheduler_dump(f->scheduler);
    assert_string_equal(text, "scheduler htw: 0 pending, 0 sites\n");
    free(text);
}

/* ---- the next wake-ups */

struct wakeups {
    struct htw_wakeup found[HTW_WAKEUPS_MAX];
    size_t count;
};

static void keep_wakeup(void *context, const union htw_visited *visited) {
    const struct htw_wakeup *wakeup = &visited->wakeup;
    struct wakeups *wakeups = context;
    if (wakeups->count < HTW_WAKEUPS_MAX)
        wakeups->found[wakeups->count] = *wakeup;
    wakeups->count++;
}

static struct wakeups next_wakeups(struct htw_scheduler *scheduler) {
    struct wakeups wakeups = { .count = 0 };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_WAKEUPS, 0, keep_wakeup, &wakeups),
                     0);
    return wakeups;
}

LATER_TEST(wakeups_are_the_next_ticks_with_their_timers) {
    assert_int_equal(next_wakeups(f->scheduler).count, 0);
    arm_site(f, 0, &idle, 5 * MS);
    arm_site(f, 1, &beat, 5 * MS - 1); /* the same tick, and before */
    arm_site(f, 2, &beat, 5 * MS + 1);
    arm_site(f, 3, &idle, HTW_NEVER_NS);
    struct wakeups wakeups = next_wakeups(f->scheduler);
    assert_int_equal(wakeups.count, 2);
    assert_int_equal(wakeups.found[0].left_ns, 5 * MS);
    assert_int_equal(wakeups.found[0].timers, 2);
    assert_ptr_equal(wakeups.found[0].origin.address, &beat);
    assert_int_equal(wakeups.found[0].handle, f->probes[1].handle);
    assert_int_equal(wakeups.found[1].left_ns, 6 * MS);
    assert_int_equal(wakeups.found[1].timers, 1);
    advance(f, 5 * MS);
    assert_int_equal(next_wakeups(f->scheduler).found[0].left_ns, MS);
}

/* ---- herds */

struct herds {
    struct htw_herd found[HTW_HERDS_MAX];
    size_t count;
};

static void keep_herd(void *context, const union htw_visited *visited) {
    const struct htw_herd *herd = &visited->herd;
    struct herds *herds = context;
    if (herds->count < HTW_HERDS_MAX)
        herds->found[herds->count] = *herd;
    herds->count++;
}

static struct herds recent_herds(struct htw_scheduler *scheduler) {
    struct herds herds = { .count = 0 };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_HERDS, 0, keep_herd, &herds), 0);
    return herds;
}

static void arm_herd(struct scheduler_fixture *f, const struct htw_site *site, unsigned timers,
                     int64_t delay_ns) {
    for (unsigned i = 0; i < timers; i++)
        arm_site(f, 0, site, delay_ns - (int64_t)(i % 3));
}

LATER_TEST(herds_are_the_greatest_of_the_last_minute) {
    arm_herd(f, &beat, 500, MS);
    advance(f, 2 * MS);
    assert_int_equal(recent_herds(f->scheduler).count, 0); /* it was off */
    observe(f, HTW_OBSERVE_SITES);
    arm_herd(f, &idle, 300, HTW_SECOND);
    for (unsigned i = 1; i <= 40; i++)
        arm_herd(f, &beat, i, (int64_t)i * HTW_SECOND + 500 * MS);
    advance(f, HTW_MINUTE);
    struct herds herds = recent_herds(f->scheduler);
    assert_int_equal(herds.count, HTW_HERDS_MAX);
    assert_int_equal(herds.found[0].timers, 300);
    assert_int_equal(herds.found[0].ago_ns, 59 * HTW_SECOND);
    assert_ptr_equal(herds.found[0].origin.address, &idle);
    for (unsigned i = 1; i < HTW_HERDS_MAX; i++) {
        assert_int_equal(herds.found[i].timers, 41 - i);
        assert_int_equal(herds.found[i].ago_ns,
                         HTW_MINUTE - (41 - (int64_t)i) * HTW_SECOND - 500 * MS);
        assert_ptr_equal(herds.found[i].origin.address, &beat);
    }
    advance(f, 2 * HTW_SECOND);
    assert_int_equal(recent_herds(f->scheduler).found[0].timers, 40);
    advance(f, HTW_MINUTE);
    assert_int_equal(recent_herds(f->scheduler).count, 0);
}

/* Timers that wait for a slow callback, or a clock that was set, were due when they were due. */
LATER_TEST(herds_are_at_the_tick_at_which_they_were_due) {
    observe(f, HTW_OBSERVE_SITES);
    arm_herd(f, &idle, 100, 10 * MS);
    arm_herd(f, &beat, 200, 11 * MS);
    set_time(f, START_NS + HTW_SECOND);
    struct herds herds = recent_herds(f->scheduler);
    assert_int_equal(herds.count, 2);
    assert_int_equal(herds.found[0].timers, 200);
    assert_int_equal(herds.found[0].ago_ns, HTW_SECOND - 11 * MS);
    assert_int_equal(herds.found[1].ago_ns, HTW_SECOND - 10 * MS);
    set_time(f, START_NS); /* what is in the future now has not been */
    assert_int_equal(recent_herds(f->scheduler).count, 2);
    set_time(f, 1);
    assert_int_equal(recent_herds(f->scheduler).count, 0);
}

/* UBSan sees a sum that does not fit. */
LATER_TEST(a_timer_that_was_due_before_all_time_is_in_no_recent_herd) {
    observe(f, HTW_OBSERVE_SITES);
    struct htw_spec spec = probe_spec(f, 0, INT64_MIN + 1);
    spec.clock = HTW_CLOCK_REALTIME;
    spec.absolute = true;
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_REALTIME, 400 * HTW_DAY), 0);
    arm_spec(f, 0, &spec);
    advance(f, HTW_MINUTE);
    advance(f, HTW_MINUTE);
    assert_int_equal(f->probes[0].runs, 1);
    assert_int_equal(recent_herds(f->scheduler).count, 0);
    assert_counts(f->scheduler, NULL, 0, 1, 0, 1, 1);
}

/* ---- events */

#define EVENT_ROOM 64

struct events {
    struct htw_event found[EVENT_ROOM];
    size_t count;
    uint64_t lost;
    int64_t last_ns;
    bool ordered, misnamed;
};

static void keep_event(void *context, const union htw_visited *visited) {
    const struct htw_event *event = &visited->event;
    struct events *events = context;
    if (events->count < EVENT_ROOM)
        events->found[events->count] = *event;
    if (events->count == 0)
        events->lost = event->number;
    if (events->count > 0 && event->time_ns < events->last_ns)
        events->ordered = false;
    if (event->origin.address != NULL &&
        strcmp(event->origin.site->name, ((const struct htw_site *)event->origin.address)->name) !=
            0)
        events->misnamed = true;
    events->last_ns = event->time_ns;
    events->count++;
}

static struct events recorded(struct htw_scheduler *scheduler) {
    struct events events = { .ordered = true };
    assert_int_equal(htw_scheduler_visit(scheduler, HTW_VISIT_EVENTS, 0, keep_event, &events), 0);
    assert_true(events.ordered);
    assert_false(events.misnamed);
    return events;
}

#define assert_event(events, number, its_kind, its_time_ns, its_deadline_ns, probe)         \
    do {                                                                                    \
        const struct htw_event *event_ = &(events)->found[number];                          \
        assert_int_equal(event_->kind, HTW_EVENT_##its_kind);                               \
        assert_int_equal(event_->time_ns, START_NS + (its_time_ns));                        \
        assert_int_equal(event_->deadline_ns, its_deadline_ns);                             \
        assert_int_equal(event_->handle, (probe) < 0 ? 0 : f->probes[probe].handle);        \
        assert_ptr_equal(event_->origin.address, (probe) < 0 ? NULL : (const void *)&idle); \
    } while (0)

LATER_TEST(events_begin_when_they_are_switched_on) {
    arm_site(f, 0, &beat, MS);
    observe(f, HTW_OBSERVE_EVENTS);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED); /* armed before */
    struct events events = recorded(f->scheduler);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.found[0].kind, HTW_EVENT_CANCELLED);
    assert_ptr_equal(events.found[0].origin.address, &beat);
}

LATER_TEST(events_tell_of_moves_runs_and_wakeups) {
    observe(f, HTW_OBSERVE_EVENTS);
    arm_site(f, 1, &idle, 3 * MS);
    arm_site(f, 2, &idle, 5 * MS);
    advance(f, 2 * MS);
    assert_int_equal(reschedule(f, 1, 2 * MS), HTW_MOVED);
    assert_int_equal(cancel(f, 2), HTW_CANCELLED);
    advance(f, 6 * MS);
    const int64_t at_ns = START_NS;
    struct events events = recorded(f->scheduler);
    assert_int_equal(events.lost, 0);
    assert_event(&events, 0, ARMED, 0, at_ns + 3 * MS, 1);
    assert_event(&events, 1, ARMED, 0, at_ns + 5 * MS, 2);
    assert_event(&events, 2, MOVED, 2 * MS, at_ns + 4 * MS, 1);
    assert_event(&events, 3, CANCELLED, 2 * MS, HTW_NEVER_NS, 2);
    assert_event(&events, 4, WOKEN, 3 * MS, HTW_NEVER_NS, -1); /* it was moved to a later tick */
    assert_event(&events, 5, WOKEN, 4 * MS, at_ns + 4 * MS, 1);
    assert_event(&events, 6, STARTED, 4 * MS, at_ns + 4 * MS, 1);
    assert_event(&events, 7, ENDED, 4 * MS, at_ns + 4 * MS, 1);
    assert_int_equal(events.count, 8);
    observe(f, 0);
    arm_site(f, 1, &idle, MS);
    assert_int_equal(recorded(f->scheduler).count, 8);
}

/* holds: scheduler-33 */
LATER_TEST(events_that_are_lost_are_counted) {
    enum { PAIRS = 1000 };
    f->options = scheduler_options();
    f->options.event_count = 100;
    scheduler_reopen(f);
    observe(f, BOTH); /* the scheduler does not count the site by itself then */
    for (unsigned i = 0; i < PAIRS; i++) {
        arm_site(f, 0, &idle, (int64_t)(i + 1) * MS);
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    }
    struct events events = recorded(f->scheduler);
    assert_in_range(events.count, 50, 200);
    assert_int_equal(events.count + events.lost, 2 * PAIRS);
    /* The last ones, in their order. */
    assert_true(events.count <= EVENT_ROOM);
    assert_int_equal(events.found[events.count - 1].kind, HTW_EVENT_CANCELLED);
    assert_int_equal(events.found[events.count - 2].deadline_ns, PAIRS * MS);
    assert_int_equal(events.found[events.count - 4].deadline_ns, (PAIRS - 1) * MS);
}

LATER_TEST(events_need_memory_only_when_they_are_visited) {
    arm(f, 0, MS);
    observe(f, HTW_OBSERVE_EVENTS);
    failing_allocator_fail(&f->memory, 1, true);
    advance(f, MS);
    assert_ran(f, 0);
    assert_int_equal(htw_scheduler_visit(f->scheduler, HTW_VISIT_EVENTS, 0, keep_event, NULL),
                     -ENOMEM);
    failing_allocator_relent(&f->memory);
    struct events events = recorded(f->scheduler);
    assert_int_equal(events.count, 3);
    assert_int_equal(events.found[0].kind, HTW_EVENT_WOKEN);
    assert_int_equal(events.lost, 0);
}

UNIT_TEST(events_of_an_embedded_scheduler_are_by_the_monotonic_clock) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    options.embedded = true;
    options.clock = HTW_CLOCK_REALTIME;
    options.observe = BOTH;
    assert_int_equal(htw_scheduler_create(&scheduler, &options), 0);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t before_ns = now.tv_sec * HTW_SECOND + now.tv_nsec;
    assert_int_equal(htw_schedule_here(scheduler, HTW_HOUR, &idle, NULL, NULL), 0);
    assert_int_equal(htw_scheduler_process(scheduler, 0, NULL), HTW_DONE);
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t after_ns = now.tv_sec * HTW_SECOND + now.tv_nsec;
    struct events events = recorded(scheduler);
    assert_int_equal(events.count, 2);
    assert_int_equal(events.found[0].kind, HTW_EVENT_ARMED);
    assert_in_range(events.found[0].time_ns, before_ns, after_ns);
    /* The wall clock may be slewed. */
    assert_in_range(events.found[0].deadline_ns, before_ns + HTW_HOUR - HTW_SECOND,
                    after_ns + HTW_HOUR + HTW_SECOND);
    assert_int_equal(events.found[1].kind, HTW_EVENT_WOKEN);
    assert_int_equal(events.found[1].handle, 0);
    assert_int_equal(htw_scheduler_destroy(scheduler), 0);
}
