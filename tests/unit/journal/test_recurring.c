/* SPDX-License-Identifier: MIT */
/* test_recurring.c - jobs that come again: when, the policy of missed ones, what survives an open, and failures. */
/* holds: journal-10h */
#include "journal_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The schedule is a number of seconds, from START_NS on and back. */
static int refusal; /* 0: none */

static int every(const char *schedule, const char *zone, int64_t after_ns, int64_t *ret_next_ns) {
    int64_t period_ns = atoll(schedule) * HTW_SECOND;
    if (refusal != 0)
        return refusal;
    if (zone != NULL)
        return -ENOENT;
    if (period_ns <= 0)
        return -EINVAL;
    int64_t rest_ns = (after_ns - START_NS) % period_ns;
    *ret_next_ns = after_ns - rest_ns + (rest_ns < 0 ? 0 : period_ns);
    return 0;
}

static void open_with(struct journal_fixture *f, htw_next_instant *next_instant) {
    refusal = 0;
    f->options.next_instant = next_instant;
    journal_open(f);
}

/* While no journal is open, or back. */
static void set_clock(struct journal_fixture *f, int64_t after_ns) {
    assert_int_equal(htw_scheduler_set_time(f->scheduler, START_NS + after_ns), 0);
}

static struct htw_recurring rule_of(const char *name, const char *schedule) {
    struct htw_recurring rule = HTW_RECURRING_INIT;
    rule.name = name;
    rule.schedule = schedule;
    rule.job = JOB(TEXT(name));
    return rule;
}

static void set(struct journal_fixture *f, const struct htw_recurring *rule) {
    assert_int_equal(htw_journal_set_recurring(f->journal, rule), 0);
}

static bool print(void *context, const struct htw_recurring *rule) {
    char *text = context;
    if (rule->next_ns == INT64_MIN || rule->next_ns == HTW_NEVER_NS)
        sprintf(text + strlen(text), "%s@%s ", rule->name, rule->next_ns > 0 ? "never" : "unknown");
    else
        sprintf(text + strlen(text), "%s@%d ", rule->name,
                (int)((rule->next_ns - START_NS) / HTW_SECOND));
    return strcmp(rule->name, "stop") != 0;
}

static const char *listed(struct journal_fixture *f, const char *after, uint32_t count) {
    static char text[512];
    text[0] = '\0';
    assert_true(htw_journal_list_recurring(f->journal, after, count, print, text) >= 0);
    return text;
}

/* The seconds of the deadlines of what was delivered since the last call. */
static const char *deadlines(struct journal_fixture *f) {
    static char text[4096];
    char *end = text;
    *end = '\0';
    for (size_t i = 0; i < f->seen_count && end < text + sizeof(text) - 32; i++)
        end += sprintf(end, "%s%d", i == 0 ? "" : " ",
                       (int)((f->seen[i].deadline_ns - START_NS) / HTW_SECOND));
    f->seen_count = 0;
    return text;
}

JOURNAL_TEST(recurring_job_that_was_missed_comes_by_its_policy) {
    static const struct {
        uint32_t catch_up;
        int64_t after_ns, grace_ns;
        const char *deadlines;
    } rows[] = {
        { 0, 1000, 0, "960" }, /* late, but not by more than a minute */
        { 0, 1050, 20, "" },        { 0, 1040, 20, "1020" },
        { 1, 1050, 20, "1020" },    { 3, 1050, 20, "900 960 1020" },
        { 1000, 170, 0, "60 120" }, { 2, 61, 0, "60" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        open_with(f, every);
        struct htw_recurring rule = rule_of("a", "60");
        rule.catch_up = rows[i].catch_up;
        rule.grace_ns = rows[i].grace_ns * HTW_SECOND;
        set(f, &rule);
        journal_close(f);
        set_clock(f, rows[i].after_ns * HTW_SECOND);
        open_with(f, every);
        journal_advance_to(f, rows[i].after_ns * HTW_SECOND);
        assert_string_equal(deadlines(f), rows[i].deadlines);
        assert_int_equal(htw_journal_remove_recurring(f->journal, "a"), 0);
        journal_close(f);
        set_clock(f, 0);
    }
    open_with(f, every);
}

JOURNAL_TEST(recurring_catch_up_has_the_last_of_very_many) {
    open_with(f, every);
    struct htw_recurring rule = rule_of("a", "1");
    rule.catch_up = HTW_RECURRING_CATCH_UP_MAX;
    set(f, &rule);
    journal_close(f);
    set_clock(f, 400 * HTW_DAY);
    open_with(f, every);
    journal_advance_to(f, 400 * HTW_DAY);
    assert_int_equal(f->seen_count, HTW_RECURRING_CATCH_UP_MAX);
    for (size_t i = 0; i < f->seen_count; i++)
        assert_int_equal(f->seen[i].deadline_ns,
                         START_NS + 400 * HTW_DAY -
                             (HTW_RECURRING_CATCH_UP_MAX - 1 - (int64_t)i) * HTW_SECOND);
    f->seen_count = 0;
}

JOURNAL_TEST(recurring_job_does_not_come_twice_when_the_clock_is_set_back) {
    open_with(f, every);
    struct htw_recurring rule = rule_of("a", "3600");
    set(f, &rule);
    journal_advance_to(f, HTW_HOUR);
    assert_int_equal(f->seen_count, 1);
    set_clock(f, 30 * HTW_MINUTE);
    journal_close(f);
    open_with(f, every);
    set(f, &rule); /* as at each start of the program */
    journal_advance_to(f, 2 * HTW_HOUR - 1);
    assert_int_equal(f->seen_count, 1);
    journal_advance_to(f, 2 * HTW_HOUR);
    assert_string_equal(deadlines(f), "3600 7200");
}

JOURNAL_TEST(recurring_job_that_is_set_again_goes_on_unless_its_schedule_is_another) {
    open_with(f, every);
    struct htw_recurring rule = rule_of("a", "60");
    set(f, &rule);
    journal_close(f);
    set_clock(f, 90 * HTW_SECOND);
    f->options.next_instant = NULL;
    journal_open(f); /* nobody knows when */
    set(f, &rule);
    rule.name = "new";
    set(f, &rule);
    assert_string_equal(listed(f, NULL, 9), "a@60 new@unknown ");
    journal_close(f);
    open_with(f, every);
    journal_advance_to(f, 90 * HTW_SECOND);
    assert_string_equal(deadlines(f), "60");
    assert_string_equal(listed(f, NULL, 9), "a@120 new@120 ");
    rule = rule_of("a", "600");
    set(f, &rule);
    rule = rule_of("new", "60");
    rule.after_ns = START_NS - HTW_MINUTE;
    rule.catch_up = 9;
    set(f, &rule);
    journal_advance_to(f, 91 * HTW_SECOND);
    assert_string_equal(deadlines(f), "0 60");
    assert_string_equal(listed(f, NULL, 9), "a@600 new@120 ");
}

JOURNAL_TEST(recurring_job_with_a_key_is_there_once) {
    f->keeps = true;
    open_with(f, every);
    struct htw_recurring rule = rule_of("a", "60");
    rule.job.key = "k";
    rule.job.key_size = 1;
    rule.job.flags = HTW_JOB_IF_ABSENT;
    set(f, &rule);
    rule.name = "b";
    rule.job.key = "l";
    rule.job.flags = 0;
    set(f, &rule);
    for (int i = 1; i <= 3; i++)
        journal_advance_to(f, i * 60 * HTW_SECOND);
    assert_int_equal(f->seen_count, 4); /* a, and b thrice */
    assert_int_equal(journal_stats(f).jobs, 2);
    assert_int_equal(journal_stats(f).replaced, 2);
    assert_int_equal(
        htw_journal_done(f->journal, f->seen[0].key[0] == 'k' ? f->seen[0].id : f->seen[1].id), 0);
    journal_advance_to(f, 240 * HTW_SECOND);
    assert_int_equal(f->seen_count, 6);
    f->seen_count = 0;
}

JOURNAL_TEST(recurring_jobs_come_all_though_one_is_not_obeyed) {
    enum { RULES = 150 };
    char name[16];
    open_with(f, every);
    for (int i = 0; i < RULES; i++) {
        snprintf(name, sizeof(name), "r%d", i);
        struct htw_recurring rule = rule_of(name, "60");
        set(f, &rule);
    }
    refusal = -ENOMEM;
    journal_advance_to(f, 60 * HTW_SECOND);
    assert_int_equal(f->seen_count, 0);
    refusal = 0;
    journal_advance_to(f, 61 * HTW_SECOND);
    assert_int_equal(f->seen_count, RULES);
    f->seen_count = 0;
}

JOURNAL_TEST(recurring_job_waits_while_max_jobs_is_reached) {
    f->options.max_jobs = 1;
    f->keeps = true;
    open_with(f, every);
    struct htw_recurring rule = rule_of("a", "60");
    set(f, &rule);
    uint64_t id = journal_put(f, HTW_DAY, "x");
    journal_advance_to(f, 60 * HTW_SECOND);
    assert_string_equal(deadlines(f), "");
    assert_int_equal(htw_journal_cancel(f->journal, id), 0);
    journal_advance_to(f, 61 * HTW_SECOND);
    assert_string_equal(deadlines(f), "60");
}
