/* SPDX-License-Identifier: MIT */
/* test_observe.c - what is counted by site, recorded and found of wake-ups and herds, where that is on. */
#include "scheduler_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

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

static void add_stats(void *context, const struct htw_site_stats *stats) {
    struct wanted *wanted = context;
    if (wanted->address != NULL && stats->address != wanted->address)
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
    assert_int_equal(htw_scheduler_visit_sites(scheduler, add_stats, &wanted), 0);
    return wanted.stats;
}

#define assert_counts(scheduler, site, ...)                                                       \
    do {                                                                                          \
        struct htw_site_stats found_ = counts(scheduler, site);                                   \
        const uint64_t numbers_[] = { found_.pending,   found_.armed, found_.cancelled,           \
                                      found_.expired, found_.late,  found_.wakeups };             \
        const uint64_t wanted_[] = { __VA_ARGS__ };                                               \
        for (size_t i_ = 0; i_ < sizeof(wanted_) / sizeof(wanted_[0]); i_++)                      \
            assert_int_equal(numbers_[i_], wanted_[i_]);                                          \
    } while (0)

SCHEDULER_TEST(observe_refuses_what_it_does_not_know) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    assert_int_equal(htw_scheduler_observe(NULL, 0), -EINVAL);
    assert_int_equal(htw_scheduler_observe(f->scheduler, 0x100), -EINVAL);
    assert_int_equal(htw_scheduler_observed(NULL), 0);
    assert_int_equal(htw_scheduler_observed(f->scheduler), 0);
    options.observe = 0x80000000u;
    assert_string_equal(htw_scheduler_options_invalid(&options), "observe");
    options.observe = BOTH;
    options.event_count = HTW_EVENTS_MAX + 1;
    assert_string_equal(htw_scheduler_options_invalid(&options), "event_count");
    options.event_count = HTW_EVENTS_MAX;
    assert_null(htw_scheduler_options_invalid(&options));
    assert_int_equal(htw_scheduler_visit_events(f->scheduler, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_visit_herds(f->scheduler, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_visit_wakeups(f->scheduler, NULL, NULL), -EINVAL);
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
