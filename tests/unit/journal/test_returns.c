/* SPDX-License-Identifier: MIT */
/* test_returns.c - visits, notices and schedules of a journal return. What does not ends the process, and says what it was. */
/* holds: scheduler-22 */
#include "../../support/leaving.h"
#include "../../support/manual_time.h"
#include "journal_fixture.h"

#include <stdlib.h>

/* ---- what leaves */

static bool visit_job(void *context, const struct htw_job_info *info) {
    (void)context, (void)info;
    leave();
    return true;
}

static bool visit_queue(void *context, const struct htw_queue_stats *stats) {
    (void)context, (void)stats;
    leave();
    return true;
}

static bool visit_rule(void *context, const struct htw_recurring *rule) {
    (void)context, (void)rule;
    leave();
    return true;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg, (void)result, (void)delivery;
    leave();
}

static bool may_return; /* a schedule is asked before the scene begins */

static int next_instant(const char *schedule, const char *zone, int64_t after_ns,
                        int64_t *ret_next_ns) {
    (void)schedule, (void)zone;
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
    rule.name = rule.schedule = "hourly";
    return htw_journal_set_recurring(journal, &rule);
}

/* Sets `id`, too. */
static struct htw_journal *create(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_journal *journal;
    options.next_instant = next_instant;
    EXPECT_OK(htw_journal_open(&journal, manual_scheduler(START_NS), NULL, &options));
    may_return = true;
    EXPECT_OK(set_rule(journal));
    may_return = false;
    EXPECT_OK(htw_journal_put(journal, 0, "x", 1, &id));
    return journal;
}

static void in_peek(void) {
    struct htw_journal *journal = create(); /* which sets the id */
    EXPECT_OK(htw_journal_peek(journal, id, visit_job, NULL));
}

static void in_list(void) {
    struct htw_list_place place = { { 0 } };
    struct htw_journal *journal = create();
    EXPECT_OK(htw_journal_list(journal, NULL, HTW_JOB_READY, &place, 1, visit_job, NULL));
}

static void in_list_of_queues(void) {
    EXPECT_OK(htw_journal_list_queues(create(), visit_queue, NULL));
}

static void in_list_of_rules(void) {
    EXPECT_OK(htw_journal_list_recurring(create(), NULL, 1, visit_rule, NULL));
}

static void in_schedule(void) {
    EXPECT_OK(set_rule(create()));
}

static void in_lease(void) {
    EXPECT_OK(journal_lease_one(create(), NULL, false, leased, NULL));
}

static const struct scene scenes[] = {
    { in_peek, "a visit", false },           { in_list, "a visit", false },
    { in_list_of_queues, "a visit", false }, { in_list_of_rules, "a visit", false },
    { in_schedule, "next_instant", false },
};

UNIT_TEST(journal_code_that_does_not_return_aborts_and_is_named) {
    assert_all_abort(scenes, COUNT_OF(scenes));
}

/* In the thread that writes, which cannot be cancelled, and where an exception meets no handler: C++ ends the program. */
UNIT_TEST(journal_notice_of_a_blocking_lease_that_does_not_return_aborts_and_is_named) {
    static const struct scene scene = { in_lease, "a notice", true };
    leave = leave_by_exit;
    assert_aborts(&scene, true);
}
