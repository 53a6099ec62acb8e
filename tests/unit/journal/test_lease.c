/* SPDX-License-Identifier: MIT */
/* test_lease.c - queues whose jobs are leased: states, steps, requests, policies, and what an open finds. */
#include "journal_fixture.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests, and what they were told */

#define TOLD_MAX 64

static struct told {
    char text[16];
    int result;
    uint64_t id;
    uint32_t attempt;
    int64_t end_ns, lease_ns;
} told[TOLD_MAX];
static size_t told_count;

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg;
    struct told *entry = &told[told_count++ % TOLD_MAX];
    *entry = (struct told) { .result = result };
    if (delivery == NULL)
        return;
    entry->id = delivery->id;
    entry->attempt = delivery->attempt;
    entry->end_ns = delivery->lease_end_ns;
    entry->lease_ns = delivery->lease_ns;
    memcpy(entry->text, delivery->payload,
           delivery->payload_size < 15 ? delivery->payload_size : 15);
}

static struct htw_lease lease_of(const char *const *queues, size_t count, int64_t wait_until_ns) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = queues;
    lease.queue_count = count;
    lease.wait_until_ns = wait_until_ns;
    return lease;
}

static uint64_t ask(struct journal_fixture *f, const char *queue, int64_t wait_until_ns) {
    const struct htw_lease lease = lease_of(&queue, 1, wait_until_ns);
    uint64_t request = 0;
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, &request), 0);
    return request;
}

static void sync_all(struct journal_fixture *f) {
    assert_int_equal(htw_journal_sync(f->journal), 0);
}

/* What was told since the last call: texts, or results. */
static const char *answers(struct journal_fixture *f) {
    static char text[TOLD_MAX * 16];
    char *end = text;
    sync_all(f);
    *end = '\0';
    for (size_t i = 0; i < told_count; i++)
        end += told[i].result == 0 ? sprintf(end, "%s%s", i == 0 ? "" : " ", told[i].text)
                                   : sprintf(end, "%s%d", i == 0 ? "" : " ", told[i].result);
    told_count = 0;
    return text;
}

/* Leases the first job of a queue, if there is one now. */
static struct told take(struct journal_fixture *f, const char *queue) {
    const struct htw_lease lease = lease_of(&queue, 1, INT64_MIN);
    told_count = 0;
    int result = htw_journal_lease(f->journal, &lease, leased, NULL);
    assert_int_equal(told_count, 1);
    assert_int_equal(told[0].result, result);
    told_count = 0;
    return told[0];
}

static uint64_t put(struct journal_fixture *f, const char *queue, uint32_t priority,
                    int64_t after_ns, const char *text) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.queue = queue;
    job.priority = priority;
    job.deadline_ns = START_NS + after_ns;
    job.payload = text;
    job.payload_size = strlen(text);
    change.jobs = &job;
    change.job_count = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    return job.id;
}

static int step(struct journal_fixture *f, uint64_t id, enum htw_job_step kind, uint32_t attempt,
                int64_t deadline_ns) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = id;
    update.step = kind;
    update.attempt = attempt;
    update.deadline_ns = deadline_ns;
    return htw_journal_update(f->journal, &update);
}

static bool add_queue(void *context, const struct htw_queue_stats *queue) {
    struct htw_queue_stats *sum = context;
    sum->delayed += queue->delayed;
    sum->ready += queue->ready;
    sum->leased += queue->leased;
    sum->buried += queue->buried;
    sum->done++; /* queues */
    return true;
}

static void assert_all_are_counted(struct journal_fixture *f) {
    struct htw_queue_stats sum = HTW_QUEUE_STATS_INIT;
    struct htw_journal_stats stats = journal_stats(f);
    assert_int_equal(htw_journal_list_queues(f->journal, add_queue, &sum), 0);
    assert_int_equal(stats.delayed, sum.delayed);
    assert_int_equal(stats.ready, sum.ready);
    assert_int_equal(stats.leased, sum.leased);
    assert_int_equal(stats.buried, sum.buried);
    assert_int_equal(stats.queues, sum.done);
}

/* Delayed, ready, leased, buried. */
static const char *counts(struct journal_fixture *f, const char *queue) {
    static char text[64];
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(f->journal, queue, &stats);
    assert_all_are_counted(f);
    if (error != 0)
        snprintf(text, sizeof(text), "%d", error);
    else
        snprintf(text, sizeof(text), "%d %d %d %d", (int)stats.delayed, (int)stats.ready,
                 (int)stats.leased, (int)stats.buried);
    return text;
}

static struct htw_job_info seen_info;

static bool see(void *context, const struct htw_job_info *info) {
    char *text = context;
    seen_info = *info;
    if (text != NULL)
        sprintf(text + strlen(text), "%s%.*s", text[0] == '\0' ? "" : " ", (int)info->payload_size,
                (const char *)info->payload);
    return true;
}

static const char *listed(struct journal_fixture *f, const char *queue, enum htw_job_state state,
                          uint32_t page) {
    static char text[32768];
    struct htw_list_place place = { { 0 } };
    int count;
    text[0] = '\0';
    do {
        count = htw_journal_list(f->journal, queue, state, &place, page, see, text);
        assert_true(count >= 0);
    } while (count == (int)page);
    return text;
}

static void open_for_lease(struct journal_fixture *f) {
    told_count = 0;
    journal_open(f);
}

/* ---- states and steps */

/* holds: journal-10a */
JOURNAL_TEST(lease_takes_the_first_job_by_priority_and_then_by_putting) {
    open_for_lease(f);
    put(f, "a", 2, -1, "late");
    put(f, "a", 1, -1, "b");
    put(f, "a", 1, 0, "c");
    put(f, "a", 0, HTW_SECOND, "delayed");
    assert_string_equal(counts(f, "a"), "1 3 0 0");
    assert_string_equal(take(f, "a").text, "b");
    assert_string_equal(take(f, "a").text, "c");
    assert_string_equal(counts(f, "a"), "1 1 2 0");
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(take(f, "a").text, "delayed");
    assert_string_equal(take(f, "a").text, "late");
    assert_int_equal(take(f, "a").result, -ETIMEDOUT);
    assert_string_equal(counts(f, "a"), "0 0 4 0");
    assert_string_equal(counts(f, "b"), "-2");
}

/* holds: journal-10a */
JOURNAL_TEST(lease_is_ended_by_its_attempt_alone) {
    open_for_lease(f);
    put(f, "a", 0, 0, "a");
    struct told first = take(f, "a");
    assert_int_equal(first.attempt, 1);
    assert_int_equal(step(f, first.id, HTW_JOB_RELEASE, 1, INT64_MIN), 0);
    assert_int_equal(step(f, first.id, HTW_JOB_END, 1, 0), -ESTALE);
    struct told second = take(f, "a");
    assert_int_equal(second.attempt, 2);
    assert_int_equal(step(f, first.id, HTW_JOB_END, 1, 0), -ESTALE);
    assert_int_equal(step(f, first.id, HTW_JOB_RELEASE, 1, 0), -ESTALE);
    assert_int_equal(step(f, first.id, HTW_JOB_CANCEL, 0, 0), -EALREADY);
    assert_int_equal(step(f, first.id, HTW_JOB_END, 2, 0), 0);
    assert_int_equal(step(f, first.id, HTW_JOB_END, 2, 0), -ENOENT);
    assert_string_equal(counts(f, "a"), "-2"); /* it has gone with its last job */
}

/* holds: journal-10f */
JOURNAL_TEST(lease_that_has_ended_gives_the_job_back) {
    f->options.lease_ns = 2 * HTW_SECOND;
    open_for_lease(f);
    put(f, "a", 0, 0, "a");
    struct told first = take(f, "a");
    assert_int_equal(first.end_ns, START_NS + 2 * HTW_SECOND);
    assert_int_equal(step(f, first.id, HTW_JOB_EXTEND, 1, START_NS + 3 * HTW_SECOND), 0);
    journal_advance_to(f, 3 * HTW_SECOND - 1);
    assert_string_equal(counts(f, "a"), "0 0 1 0");
    journal_advance_to(f, 3 * HTW_SECOND);
    assert_string_equal(counts(f, "a"), "0 1 0 0");
    assert_int_equal(step(f, first.id, HTW_JOB_EXTEND, 1, HTW_NEVER_NS), -ESTALE);
    assert_int_equal(take(f, "a").attempt, 2);
    assert_int_equal(htw_journal_peek(f->journal, first.id, see, NULL), 0);
    assert_int_equal(seen_info.state, HTW_JOB_LEASED);
    assert_int_equal(seen_info.attempts, 2);
    assert_int_equal(seen_info.timeouts, 1);
}

JOURNAL_TEST(lease_that_is_given_back_is_no_failure) {
    open_for_lease(f);
    uint64_t id = put(f, "a", 0, 0, "a");
    assert_int_equal(take(f, "a").attempt, 1);
    ask(f, "a", HTW_NEVER_NS);
    assert_string_equal(answers(f), "");
    assert_int_equal(step(f, id, HTW_JOB_EXTEND, 2, INT64_MIN), -ESTALE);
    assert_int_equal(step(f, id, HTW_JOB_EXTEND, 1, INT64_MIN), 0);
    assert_string_equal(answers(f), "a"); /* at once, without a step of time */
    assert_int_equal(step(f, id, HTW_JOB_EXTEND, 2, INT64_MIN), 0);
    assert_string_equal(counts(f, "a"), "0 1 0 0");
    assert_int_equal(htw_journal_peek(f->journal, id, see, NULL), 0);
    assert_int_equal(seen_info.state, HTW_JOB_READY);
    assert_int_equal(seen_info.attempts, 2);
    assert_int_equal(seen_info.timeouts, 0);
    assert_int_equal(seen_info.releases, 0);
}

JOURNAL_TEST(lease_says_how_long_those_of_its_job_last) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    const char *queue = "a";
    struct htw_lease lease = lease_of(&queue, 1, INT64_MIN);
    open_for_lease(f);
    job.queue = queue;
    job.lease_ns = 7 * HTW_SECOND;
    change.jobs = &job;
    change.job_count = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    lease.lease_ns = HTW_NEVER_NS; /* does not matter */
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), 0);
    assert_int_equal(told[told_count - 1].lease_ns, 7 * HTW_SECOND);
    assert_int_equal(told[told_count - 1].end_ns, HTW_NEVER_NS);
    told_count = 0;
}

/* holds: journal-10e */
JOURNAL_TEST(lease_steps_begin_with_certain_states) {
    static const struct {
        enum htw_job_step step;
        int delayed, ready, leased, buried;
    } rows[] = {
        { HTW_JOB_CANCEL, 0, 0, -EALREADY, 0 },
        { HTW_JOB_RELEASE, -EALREADY, -EALREADY, 0, -EALREADY },
        { HTW_JOB_BURY, 0, 0, 0, 0 },
        { HTW_JOB_KICK, 0, -EALREADY, -EALREADY, 0 },
        { HTW_JOB_MOVE, 0, 0, -EALREADY, 0 },
        { HTW_JOB_EXTEND, -EALREADY, -EALREADY, 0, -EALREADY },
        { HTW_JOB_END, 0, 0, 0, 0 },
    };
    open_for_lease(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t far_ns = START_NS + HTW_DAY;
        uint64_t leased_id = put(f, "l", 0, 0, "l"), buried = put(f, "b", 0, 0, "b");
        uint64_t delayed = put(f, "d", 0, HTW_DAY, "d"), ready = put(f, "r", 0, 0, "r");
        take(f, "l");
        assert_int_equal(step(f, buried, HTW_JOB_BURY, 0, 0), 0);
        assert_int_equal(step(f, delayed, rows[i].step, 0, far_ns), rows[i].delayed);
        assert_int_equal(step(f, ready, rows[i].step, 0, far_ns), rows[i].ready);
        assert_int_equal(step(f, leased_id, rows[i].step, 0, far_ns), rows[i].leased);
        assert_int_equal(step(f, buried, rows[i].step, 0, far_ns), rows[i].buried);
        uint64_t all[] = { delayed, ready, leased_id, buried };
        for (size_t j = 0; j < COUNT_OF(all); j++)
            (void)step(f, all[j], HTW_JOB_END, 0, 0);
    }
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* holds: journal-10e */
JOURNAL_TEST(lease_updates_of_a_change_are_made_together_or_not_at_all) {
    struct htw_job_update updates[2] = { HTW_JOB_UPDATE_INIT, HTW_JOB_UPDATE_INIT };
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    open_for_lease(f);
    updates[0].id = put(f, "a", 0, 0, "a");
    updates[1].id = put(f, "a", 0, 0, "b");
    updates[0].step = HTW_JOB_BURY;
    updates[1].step = HTW_JOB_RELEASE;
    change.updates = updates;
    change.update_count = 2;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EALREADY);
    assert_string_equal(counts(f, "a"), "0 2 0 0");
    updates[1].id = updates[0].id;
    updates[1].step = HTW_JOB_BURY;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    updates[1].id = updates[0].id + HTW_SECOND;
    assert_int_equal(htw_journal_apply(f->journal, &change), -ENOENT);
    assert_string_equal(counts(f, "a"), "0 2 0 0");
    assert_string_equal(take(f, "a").text, "a");
}

/* A later change of the same job waits for the earlier one, in one batch of changes. */
/* holds: journal-10a */
JOURNAL_TEST(lease_steps_of_one_job_follow_each_other) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    open_for_lease(f);
    update.id = put(f, "a", 0, 0, "a");
    static const enum htw_job_step steps[] = { HTW_JOB_BURY, HTW_JOB_KICK, HTW_JOB_BURY,
                                               HTW_JOB_KICK, HTW_JOB_END };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        update.step = steps[i];
        assert_int_equal(htw_journal_update_later(f->journal, &update, NULL, NULL), 0);
    }
    sync_all(f);
    assert_int_equal(journal_stats(f).jobs, 0);
    assert_int_equal(journal_stats(f).done, 1);
}

JOURNAL_TEST(lease_that_names_a_queue_twice_is_refused) {
    static const char *const names[] = { "a", "d", "b", "a", "c" };
    journal_open(f);
    const struct htw_lease twice = lease_of(names, COUNT_OF(names), HTW_NEVER_NS);
    const struct htw_lease once = lease_of(names, 3, HTW_NEVER_NS);
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    for (int i = 0; i < 2; i++) /* what was refused has left nothing behind */
        assert_int_equal(htw_journal_lease_later(f->journal, &twice, leased, NULL, NULL), -EINVAL);
    assert_non_null(strstr(htw_journal_error(), "twice"));
    assert_int_equal(htw_journal_get_queue(f->journal, "a", &stats), -ENOENT);
    for (int i = 0; i < 2; i++) /* another one may name it again */
        assert_int_equal(htw_journal_lease_later(f->journal, &once, leased, NULL, NULL), 0);
    assert_int_equal(htw_journal_get_queue(f->journal, "a", &stats), 0);
    assert_int_equal(stats.waiting, 2);
    put(f, "a", 0, 0, "x");
    assert_string_equal(answers(f), "x");
}

static int kicked;

static void note_kick(void *arg, int result) {
    (void)arg;
    kicked = result;
}

/* holds: journal-10e */
JOURNAL_TEST(lease_notice_of_a_kick_has_the_number_of_jobs) {
    open_for_lease(f);
    for (int i = 0; i < 3; i++)
        assert_int_equal(step(f, put(f, "a", 0, 0, "a"), HTW_JOB_BURY, 0, 0), 0);
    assert_int_equal(htw_journal_kick_later(f->journal, "a", 2, note_kick, NULL), 0);
    sync_all(f);
    assert_int_equal(kicked, 2);
    assert_string_equal(counts(f, "a"), "0 2 0 1");
}

/* ---- requests */

/* holds: journal-10b */
JOURNAL_TEST(lease_requests_are_served_in_order_and_once) {
    open_for_lease(f);
    const char *both[] = { "a", "b" };
    const struct htw_lease lease = lease_of(both, 2, HTW_NEVER_NS);
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), 0);
    ask(f, "a", HTW_NEVER_NS);
    assert_string_equal(answers(f), "");
    assert_int_equal(journal_stats(f).requests, 2);
    put(f, "b", 0, 0, "1");
    assert_string_equal(answers(f), "1");
    put(f, "b", 0, 0, "2");
    put(f, "a", 0, 0, "3");
    assert_string_equal(answers(f), "3");
    put(f, "b", 7, 0, "4");
    put(f, "a", 5, 0, "5");
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), 0);
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), 0);
    assert_string_equal(answers(f), "2 5");
}

/* holds: journal-10b */
JOURNAL_TEST(lease_request_waits_until_its_time_or_its_cancel) {
    open_for_lease(f);
    ask(f, "a", START_NS + HTW_SECOND);
    uint64_t request = ask(f, "a", HTW_NEVER_NS);
    ask(f, "a", INT64_MIN);
    char text[32];
    snprintf(text, sizeof(text), "%d", -ETIMEDOUT);
    assert_string_equal(answers(f), text);
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(answers(f), text);
    assert_int_equal(htw_journal_lease_cancel(f->journal, request), 0);
    snprintf(text, sizeof(text), "%d", -ECANCELED);
    assert_string_equal(answers(f), text);
    assert_int_equal(htw_journal_lease_cancel(f->journal, request), -ENOENT);
    assert_string_equal(counts(f, "a"), "-2");
    ask(f, "a", HTW_NEVER_NS);
    journal_close(f);
    assert_int_equal(told[0].result, -ESHUTDOWN);
}

/* Keeps whether there is a queue "a". */
static void leased_beside(void *arg, int result, const struct htw_delivery *delivery) {
    struct journal_fixture *f = arg;
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    leased(NULL, htw_journal_get_queue(f->journal, "a", &stats), NULL);
    leased(NULL, result, delivery);
}

/* Making many queues, and removing them again, takes long. */
JOURNAL_TEST(lease_makes_a_queue_only_to_wait_for_it) {
    open_for_lease(f);
    const char *both[] = { "a", "b" };
    static const struct {
        int64_t wait_until_ns;
        bool has_job;
        int result, result_of_queue;
    } rows[] = {
        { INT64_MIN, false, -ETIMEDOUT, -ENOENT },
        { INT64_MIN, true, 0, -ENOENT },
        { HTW_NEVER_NS, true, 0, -ENOENT },
        { HTW_NEVER_NS, false, -ECANCELED, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct htw_lease lease = lease_of(both, 2, rows[i].wait_until_ns);
        uint64_t request = 0;
        if (rows[i].has_job)
            put(f, "b", 0, 0, "job");
        told_count = 0;
        assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased_beside, f, &request),
                         0);
        if (rows[i].result == -ECANCELED)
            assert_int_equal(htw_journal_lease_cancel(f->journal, request), 0);
        sync_all(f);
        assert_int_equal(told_count, 2);
        assert_int_equal(told[0].result, rows[i].result_of_queue);
        assert_int_equal(told[1].result, rows[i].result);
    }
    told_count = 0;
}

static sem_t is_inside, may_return;

/* The thread that tells requests is in here until the test lets it go on. */
static void leased_and_stay(void *arg, int result, const struct htw_delivery *delivery) {
    leased(arg, result, delivery);
    sem_post(&is_inside);
    sem_wait(&may_return);
}

JOURNAL_TEST(lease_that_has_ended_before_it_is_told_is_not_told) {
    struct htw_job jobs[] = { HTW_JOB_INIT, HTW_JOB_INIT };
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    static const char *const queues[] = { "a", "b" };
    const struct htw_lease lease = lease_of(queues, 1, HTW_NEVER_NS);
    f->options.lease_ns = HTW_SECOND;
    open_for_lease(f);
    sem_init(&is_inside, 0, 0);
    sem_init(&may_return, 0, 0);
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased_and_stay, NULL, NULL), 0);
    ask(f, "b", HTW_NEVER_NS);
    for (int i = 0; i < 2; i++) {
        jobs[i].queue = jobs[i].payload = queues[i];
        jobs[i].payload_size = 1;
    }
    change.jobs = jobs;
    change.job_count = 2;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    sem_wait(&is_inside);
    ask(f, "b", HTW_NEVER_NS);
    assert_int_equal(htw_scheduler_advance(f->scheduler,
                                           START_NS + HTW_SECOND - htw_scheduler_now(f->scheduler)),
                     0);
    sem_post(&may_return);
    assert_string_equal(answers(f), "a b");
    assert_int_equal(told[1].attempt, 2);
    assert_string_equal(counts(f, "b"), "0 0 1 0");
}

/* In the thread that writes, which goes on when the journal is being closed. */
static void stay_until_close(void *arg, int result) {
    struct journal_fixture *f = arg;
    (void)result;
    while (htw_journal_pause(f->journal, "b", INT64_MIN) != -ESHUTDOWN)
        sched_yield();
}

/* holds: journal-10b */
JOURNAL_TEST(lease_request_whose_job_has_ended_is_told_by_a_close) {
    const char *queue = "a";
    struct htw_lease lease = lease_of(&queue, 1, HTW_NEVER_NS);
    f->options.gather_ns = HTW_JOURNAL_GATHER_NS_MAX;
    open_for_lease(f);
    uint64_t id = put(f, queue, 0, 0, "a");
    told_count = 0;
    assert_int_equal(
        htw_journal_put_later(f->journal, HTW_NEVER_NS, "b", 1, stay_until_close, f, NULL), 0);
    assert_int_equal(htw_journal_done_later(f->journal, id, NULL, NULL), 0);
    lease.is_durable = true;
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), 0);
    journal_close(f);
    assert_int_equal(told_count, 1);
    assert_int_equal(told[0].result, -ESHUTDOWN);
}

/* Also after an open, which remembers the order of putting. */
/* holds: journal-2, serve-3 */
JOURNAL_TEST(lease_of_a_delayed_job_is_not_early_after_the_clock_was_set_back) {
    open_for_lease(f);
    journal_advance_to(f, HTW_HOUR);
    put(f, "a", 0, HTW_HOUR, "a");
    assert_string_equal(take(f, "a").text, "a");
    assert_int_equal(htw_scheduler_set_time(f->scheduler, START_NS), 0);
    put(f, "b", 0, HTW_MINUTE, "b");
    assert_int_equal(take(f, "b").result, -ETIMEDOUT);
    journal_close(f);
    open_for_lease(f);
    put(f, "b", 0, HTW_MINUTE, "c");
    assert_int_equal(take(f, "b").result, -ETIMEDOUT);
    journal_advance_to(f, HTW_MINUTE);
    assert_string_equal(take(f, "b").text, "b");
    assert_string_equal(take(f, "b").text, "c");
    put(f, "b", 0, 0, "d");
    assert_string_equal(take(f, "b").text, "d");
}

/* holds: journal-10f */
JOURNAL_TEST(lease_pause_keeps_jobs_until_its_end) {
    open_for_lease(f);
    put(f, "a", 0, 0, "a");
    assert_int_equal(htw_journal_pause(f->journal, "a", START_NS + HTW_SECOND), 0);
    assert_int_equal(take(f, "a").result, -ETIMEDOUT);
    ask(f, "a", HTW_NEVER_NS);
    assert_string_equal(answers(f), "");
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(answers(f), "a");
    assert_int_equal(htw_journal_pause(f->journal, "a", HTW_NEVER_NS), 0);
    put(f, "a", 0, 0, "b");
    ask(f, "a", HTW_NEVER_NS);
    assert_string_equal(answers(f), "");
    assert_int_equal(htw_journal_pause(f->journal, "a", 0), 0);
    assert_string_equal(answers(f), "b");
    assert_int_equal(htw_journal_pause(f->journal, NULL, 0), -EINVAL);
}

struct listing {
    char text[64];
    unsigned left;
};

static bool see_queue(void *context, const struct htw_queue_stats *stats) {
    struct listing *listing = context;
    size_t end = strlen(listing->text);
    snprintf(listing->text + end, sizeof(listing->text) - end, "%s:%d ",
             stats->name == NULL ? "-" : stats->name, (int)(stats->delayed + stats->ready));
    return --listing->left > 0;
}

/* holds: journal-10g */
JOURNAL_TEST(lease_queues_are_listed_once_after_the_default_one) {
    struct listing all = { "", 100 }, some = { "", 2 };
    open_for_lease(f);
    put(f, "a", 0, 0, "ready");
    put(f, "a", 0, HTW_HOUR, "delayed");
    put(f, "b", 0, 0, "b");
    journal_put(f, HTW_HOUR, "d");
    assert_int_equal(htw_journal_list_queues(f->journal, see_queue, &all), 0);
    assert_memory_equal(all.text, "-:1 ", 4);
    assert_int_equal(strlen(all.text), 12);
    assert_non_null(strstr(all.text, "a:2 "));
    assert_non_null(strstr(all.text, "b:1 "));
    assert_int_equal(htw_journal_list_queues(f->journal, see_queue, &some), 0);
    assert_int_equal(strlen(some.text), 8);
}

/* ---- policies */

/* holds: journal-10f */
JOURNAL_TEST(lease_policy_delays_attempts_and_buries_after_the_last) {
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    open_for_lease(f);
    policy.attempts_max = 3;
    policy.initial_ns = HTW_SECOND;
    policy.cap_ns = HTW_MINUTE;
    policy.jitter = 0;
    assert_int_equal(htw_journal_set_policy(f->journal, "a", &policy), 0);
    uint64_t id = put(f, "a", 0, 0, "a");
    take(f, "a");
    assert_int_equal(step(f, id, HTW_JOB_RELEASE, 1, INT64_MIN), 0);
    assert_string_equal(counts(f, "a"), "1 0 0 0");
    journal_advance_to(f, HTW_SECOND);
    assert_int_equal(take(f, "a").attempt, 2);
    journal_advance_to(f, HTW_SECOND + HTW_MINUTE); /* the lease ends by itself */
    assert_string_equal(counts(f, "a"), "1 0 0 0");
    journal_close(f);
    open_for_lease(f);
    journal_advance_to(f, 3 * HTW_SECOND + HTW_MINUTE);
    assert_int_equal(take(f, "a").attempt, 3);
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(counts(f, "a"), "0 0 0 1");
    assert_int_equal(step(f, id, HTW_JOB_END, 0, 0), 0);
    assert_string_equal(counts(f, "a"), "0 0 0 0"); /* it has a policy */
    assert_int_equal(htw_journal_set_policy(f->journal, "a", NULL), 0);
    assert_string_equal(counts(f, "a"), "-2");
    policy.jitter = 2;
    assert_int_equal(htw_journal_set_policy(f->journal, "a", &policy), -EINVAL);
}

/* ---- opening again */

/* holds: journal-10c */
JOURNAL_TEST(lease_ends_with_the_process_unless_it_is_durable) {
    struct htw_lease lease = HTW_LEASE_INIT;
    const char *queue = "a";
    open_for_lease(f);
    put(f, "a", 0, 0, "a");
    put(f, "a", 0, 0, "b");
    lease.queues = &queue;
    lease.queue_count = 1;
    lease.is_durable = true;
    lease.lease_ns = HTW_HOUR;
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), 0);
    assert_string_equal(take(f, "a").text, "b");
    assert_string_equal(counts(f, "a"), "0 0 2 0");
    uint64_t id = told[0].id;
    journal_close(f);
    open_for_lease(f);
    assert_string_equal(take(f, "a").text, "b");
    assert_int_equal(take(f, "a").result, -ETIMEDOUT);
    journal_advance_to(f, HTW_HOUR);
    assert_int_equal(step(f, id, HTW_JOB_END, 0, 0), 0);
    struct told again = take(f, "a");
    assert_string_equal(again.text, "a");
    assert_int_equal(again.attempt, 2);
    assert_int_equal(step(f, again.id, HTW_JOB_END, 1, 0), -ESTALE);
}

/* ---- more jobs than memory has room for */

/* holds: journal-10a, journal-10g */
JOURNAL_TEST(lease_order_holds_with_more_ready_jobs_than_memory_holds) {
    enum { JOBS = 3000 };
    f->options.max_memory = 256 << 10;
    open_for_lease(f);
    char text[16];
    for (int i = 0; i < JOBS; i++) {
        snprintf(text, sizeof(text), "%d", i);
        put(f, "a", (uint32_t)(i % 3), i % 3 == 0 ? 0 : HTW_SECOND, text);
    }
    journal_close(f); /* most of the READY jobs are read when they are wanted */
    open_for_lease(f);
    journal_advance_to(f, HTW_SECOND);
    for (int i = 0; i < 100 && strcmp(counts(f, "a"), "0 3000 0 0") != 0; i++)
        journal_advance_to(f, HTW_SECOND);
    assert_string_equal(counts(f, "a"), "0 3000 0 0");
    sync_all(f);
    assert_true(journal_stats(f).memory_bytes < 1 << 20);
    char *expected = malloc(8 * JOBS), *end = expected;
    for (int priority = 0; priority < 3; priority++)
        for (int i = priority; i < JOBS; i += 3)
            end += sprintf(end, i == 0 ? "%d" : " %d", i);
    assert_string_equal(listed(f, "a", HTW_JOB_READY, 100), expected);
    free(expected);
    for (int priority = 0; priority < 3; priority++)
        for (int i = priority; i < JOBS; i += 3) {
            struct told got = take(f, "a");
            snprintf(text, sizeof(text), "%d", i);
            assert_string_equal(got.text, text);
            assert_int_equal(step(f, got.id, HTW_JOB_END, got.attempt, 0), 0);
        }
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* Nothing is written when the lease ends. */
JOURNAL_TEST(lease_that_has_ended_is_counted_also_when_the_job_has_left_memory) {
    struct htw_lease lease = HTW_LEASE_INIT;
    f->options.max_memory = 256 << 10;
    open_for_lease(f);
    lease.id = put(f, "a", 9, HTW_DAY, "last"); /* the lease of what is not in memory is written */
    lease.lease_ns = HTW_SECOND;
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), 0);
    journal_advance_to(f, HTW_SECOND);
    for (int i = 0; i < 3000; i++)
        put(f, "a", 0, 0, "first");
    sync_all(f);
    assert_true(journal_stats(f).in_memory < 3000);
    assert_int_equal(htw_journal_peek(f->journal, lease.id, see, NULL), 0);
    assert_int_equal(seen_info.state, HTW_JOB_READY);
    assert_int_equal(seen_info.attempts, 1);
    assert_int_equal(seen_info.timeouts, 1);
}

/* Each queue keeps a job in memory, also where that is more than READY jobs may take. */
JOURNAL_TEST(lease_of_more_queues_than_memory_has_room_for_goes_on) {
    enum { QUEUES = 2000 };
    char name[16];
    f->options.max_memory = 256 << 10;
    open_for_lease(f);
    put(f, "late", 0, HTW_SECOND, "late");
    for (int i = 0; i < QUEUES; i++) {
        snprintf(name, sizeof(name), "q%d", i);
        put(f, name, 0, 0, name);
    }
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(take(f, "late").text, "late");
    for (int i = 0; i < QUEUES; i++)
        put(f, "q7", 0, 0, "more");
    sync_all(f);
    assert_true(journal_stats(f).memory_bytes < (2 << 20));
    assert_string_equal(take(f, "q7").text, "q7");
    assert_string_equal(take(f, "q1999").text, "q1999");
}

/* ---- the default queue */

static void release_twice(struct journal_fixture *f, const struct htw_delivery *delivery) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = delivery->id;
    update.step = delivery->attempt < 3 ? HTW_JOB_RELEASE : HTW_JOB_END;
    update.attempt = delivery->attempt;
    update.deadline_ns = delivery->deadline_ns + HTW_SECOND;
    htw_journal_update_later(f->journal, &update, NULL, NULL);
}

/* holds: journal-10b */
JOURNAL_TEST(lease_of_a_job_that_the_file_has_lost_stops_the_journal) {
    const char *queue = "a";
    const struct htw_lease lease = lease_of(&queue, 1, HTW_NEVER_NS);
    open_for_lease(f);
    uint64_t id = put(f, queue, 0, HTW_HOUR, "a");
    assert_int_equal(step(f, id, HTW_JOB_KICK, 0, 0), 0);
    journal_close(f);
    journal_execute(f, "DELETE FROM job");
    open_for_lease(f);
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), -EIO);
    assert_int_equal(htw_journal_pause(f->journal, queue, 0), -EIO);
    (void)htw_journal_close(f->journal);
    f->journal = NULL;
}

JOURNAL_TEST(lease_default_queue_is_delivered_again_when_it_is_released) {
    f->keeps = true;
    f->act = release_twice;
    journal_open(f);
    journal_put(f, 0, "a");
    for (int i = 0; i < 4; i++)
        journal_advance_to(f, i * HTW_SECOND);
    assert_string_equal(journal_texts(f), "a a a");
    assert_int_equal(journal_stats(f).jobs, 0);
}

JOURNAL_TEST(lease_default_queue_that_was_leased_is_delivered_again) {
    htw_deliver *deliver = f->options.deliver;
    char text[16];
    f->options.deliver = NULL;
    open_for_lease(f);
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof(text), "%d", i);
        put(f, NULL, (uint32_t)(i % 2), 0, text);
    }
    journal_close(f);
    f->options.deliver = deliver;
    open_for_lease(f);
    for (int i = 0; i < 20 && journal_stats(f).jobs > 0; i++)
        journal_advance_to(f, HTW_SECOND);
    assert_int_equal(journal_stats(f).jobs, 0);
    assert_int_equal(f->seen_count, 200);
    assert_string_equal(counts(f, NULL), "0 0 0 0");
}

JOURNAL_TEST(lease_ready_jobs_count_as_memory) {
    enum { JOBS = 100 };
    char text[200] = { 0 };
    open_for_lease(f);
    memset(text, 'x', sizeof(text) - 1);
    uint64_t before = journal_stats(f).memory_bytes;
    for (int i = 0; i < JOBS; i++)
        put(f, "a", 0, 0, text);
    assert_true(journal_stats(f).memory_bytes - before >= JOBS * sizeof(text));
}

static int64_t oldest_s(struct journal_fixture *f) {
    return (int64_t)(journal_stats(f).oldest_ns + HTW_SECOND / 2) / HTW_SECOND;
}

JOURNAL_TEST(lease_age_of_the_oldest_job_is_known) {
    open_for_lease(f);
    put(f, "a", 0, 10 * HTW_SECOND, "later");
    assert_int_equal(oldest_s(f), 0);
    put(f, "b", 7, 0, "now");
    journal_advance_to(f, 10 * HTW_SECOND);
    assert_int_equal(oldest_s(f), 10);
    journal_advance_to(f, 15 * HTW_SECOND);
    struct told first = take(f, "b");
    assert_int_equal(oldest_s(f), 5);
    struct told second = take(f, "a");
    assert_int_equal(oldest_s(f), 0);
    assert_int_equal(step(f, first.id, HTW_JOB_RELEASE, 0, 0), 0);
    journal_advance_to(f, 17 * HTW_SECOND);
    assert_int_equal(oldest_s(f), 2);
    assert_int_equal(step(f, first.id, HTW_JOB_BURY, 0, 0), 0);
    assert_int_equal(step(f, second.id, HTW_JOB_END, 0, 0), 0);
    assert_int_equal(oldest_s(f), 0);
}

/* ---- no memory */

/* holds: journal-10c */
JOURNAL_TEST(lease_without_memory_fails_or_is_made_wholly) {
    open_for_lease(f);
    for (size_t nth = 1; nth < 40; nth++) {
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        uint64_t id = put(f, "a", 0, 0, "a");
        int results[5];
        failing_allocator_fail(&f->memory, nth, false);
        const char *queue = "a";
        const struct htw_lease lease = lease_of(&queue, 1, INT64_MIN);
        results[0] = htw_journal_lease(f->journal, &lease, leased, NULL);
        results[1] = step(f, id, HTW_JOB_RELEASE, 0, 0);
        results[2] = step(f, id, HTW_JOB_BURY, 0, 0);
        results[3] = htw_journal_kick(f->journal, "a", 1);
        struct htw_list_place place = { { 0 } };
        results[4] = htw_journal_list(f->journal, "a", HTW_JOB_DELAYED, &place, 1, see, NULL);
        failing_allocator_relent(&f->memory);
        static const int good[] = { 0, 0, 0, 1, 0 };
        for (size_t i = 0; i < COUNT_OF(results); i++)
            if (results[i] != good[i] && results[i] != -ENOMEM && results[i] != -EALREADY &&
                results[i] != 0)
                fail_msg("request %zu, step %zu: %d", nth, i, results[i]);
        assert_int_equal(htw_journal_get_queue(f->journal, "a", &stats), 0);
        assert_int_equal(stats.delayed + stats.ready + stats.leased + stats.buried, 1);
        assert_int_equal(step(f, id, HTW_JOB_END, 0, 0), 0);
    }
    assert_int_equal(journal_stats(f).jobs, 0);
}

JOURNAL_TEST(lease_misuse_is_refused) {
    struct htw_lease lease = HTW_LEASE_INIT, lease2;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT, update2;
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT, stats2;
    struct htw_queue_policy policy2;
    struct htw_list_place place = { { 0 } };
    char name[HTW_QUEUE_NAME_MAX + 2];
    const char *queue = name;
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    open_for_lease(f);
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), -EINVAL);
    lease.queues = &queue;
    lease.queue_count = 1;
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, NULL), -EINVAL);
    name[HTW_QUEUE_NAME_MAX] = '\0';
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), -ETIMEDOUT);
    assert_int_equal(htw_journal_lease(f->journal, &lease, NULL, NULL), -EINVAL);
    assert_int_equal(htw_journal_lease(f->journal, NULL, leased, NULL), -EINVAL);
    queue = NULL;
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), -EINVAL);
    update.struct_size++;
    assert_int_equal(htw_journal_update(f->journal, &update), -EINVAL);
    assert_int_equal(htw_journal_update(f->journal, NULL), -EINVAL);
    assert_int_equal(htw_journal_update_later(f->journal, NULL, NULL, NULL), -EINVAL);
    stats.struct_size++;
    assert_int_equal(htw_journal_get_queue(f->journal, "a", &stats), -EINVAL);
    assert_int_equal(htw_journal_peek(f->journal, 1, NULL, NULL), -EINVAL);
    assert_int_equal(htw_journal_peek(f->journal, 1, see, NULL), -ENOENT);
    assert_int_equal(htw_journal_list(f->journal, "", HTW_JOB_READY, &place, 1, see, NULL),
                     -EINVAL);
    assert_int_equal(htw_journal_list_queues(f->journal, NULL, NULL), -EINVAL);
    journal_close(f);
    f->options.lease_ns = -1;
    assert_int_equal(journal_try_open(f), -EINVAL);
    f->options.lease_ns = 0;
    struct htw_scheduler *scheduler = f->scheduler;
    f->scheduler = NULL;
    f->options.deliver = NULL;
    open_for_lease(f);
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), -EINVAL);
    journal_close(f);
    f->scheduler = scheduler;
    htw_lease_init(&lease2);
    htw_job_update_init(&update2);
    htw_queue_stats_init(&stats2);
    htw_queue_policy_init(&policy2);
    assert_int_equal(lease2.struct_size, sizeof(lease2));
    assert_int_equal(update2.struct_size, sizeof(update2));
    assert_int_equal(stats2.struct_size, sizeof(stats2));
    assert_int_equal(policy2.struct_size, sizeof(policy2));
    htw_lease_init(NULL);
    htw_job_update_init(NULL);
    htw_queue_stats_init(NULL);
    htw_queue_policy_init(NULL);
}
