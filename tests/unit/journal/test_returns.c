/* SPDX-License-Identifier: MIT */
/* test_returns.c - visits, notices and schedules of a journal return. What does not ends the process, and says what it was. */
/* holds: scheduler-22 */
#include "../../support/leaving.h"
#include "journal_fixture.h"

#include <stdlib.h>

/* ---- what leaves */

static bool visit_job(void *context, const struct htw_job_info *info) {
    (void)context;
    (void)info;
    leave();
    return true;
}

static bool visit_queue(void *context, const struct htw_queue_stats *stats) {
    (void)context;
    (void)stats;
    leave();
    return true;
}

static bool visit_rule(void *context, const struct htw_recurring *rule) {
    (void)context;
    (void)rule;
    leave();
    return true;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg;
    (void)result;
    (void)delivery;
    leave();
}

static bool may_return; /* a schedule is asked before the scene begins */

static int next_instant(const char *schedule, const char *zone, int64_t after_ns,
                        int64_t *ret_next_ns) {
    (void)schedule;
    (void)zone;
    if (!may_return)
        leave();
    *ret_next_ns = after_ns + HTW_HOUR;
    return 0;
}

/* ---- where from: each in a child of its own, with a journal in memory that has a job and a rule */

#define EXPECT_OK(call) EXPECT((call) == 0)

static uint64_t id;

static int set_rule(struct htw_journal *journal) {
    struct htw_recurring rule = HTW_RECURRING_INIT;
    rule.name = "rule";
    rule.schedule = "hourly";
    rule.job.payload = "x";
    rule.job.payload_size = 1;
    return htw_journal_set_recurring(journal, &rule);
}

/* Sets `id`, too. */
static struct htw_journal *create(void) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_journal_options journal_options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    options.clock = HTW_CLOCK_MANUAL;
    options.workers = 0;
    journal_options.next_instant = next_instant;
    EXPECT_OK(htw_scheduler_create(&scheduler, &options));
    EXPECT_OK(htw_journal_open(&journal, scheduler, NULL, &journal_options));
    may_return = true;
    EXPECT_OK(set_rule(journal));
    may_return = false;
    EXPECT_OK(htw_journal_put(journal, 0, "x", 1, &id));
    return journal;
}

static void in_peek(void) {
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_peek(journal, id, visit_job, NULL));
}

static void in_list(void) {
    struct htw_list_place place = { { 0 } };
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_list(journal, NULL, HTW_JOB_READY, &place, 1, visit_job, NULL));
}

static void in_list_of_queues(void) {
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_list_queues(journal, visit_queue, NULL));
}

static void in_list_of_rules(void) {
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_list_recurring(journal, NULL, 1, visit_rule, NULL));
}

static void in_schedule(void) {
    EXPECT_OK(set_rule(create()));
}

static void in_lease(void) {
    static const char *const queue = NULL;
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = &queue;
    lease.queue_count = 1;
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_lease(journal, &lease, leased, NULL));
}

static const struct scene scenes[] = {
    { in_peek, "a visit", .is_not_cancelled = false },
    { in_list, "a visit", .is_not_cancelled = false },
    { in_list_of_queues, "a visit", .is_not_cancelled = false },
    { in_list_of_rules, "a visit", .is_not_cancelled = false },
    { in_schedule, "next_instant", .is_not_cancelled = false },
};

UNIT_TEST(journal_code_that_does_not_return_aborts_and_is_named) {
    assert_all_abort(scenes, COUNT_OF(scenes));
}

/* In the thread that writes, which cannot be cancelled, and where an exception meets no handler: C++ ends the program. */
UNIT_TEST(journal_notice_of_a_blocking_lease_that_does_not_return_aborts_and_is_named) {
    static const struct scene scene = { in_lease, "a notice", .is_not_cancelled = true };
    leave = leave_by_exit;
    assert_aborts(&scene, true);
}
