/* SPDX-License-Identifier: MIT */
/* test_lease.c - requests for jobs of queues: when they are told, and what. (States and steps: model_journal.c.) */
#include "journal_fixture.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- requests, and what they were told */

#define TOLD_MAX 64

static struct told {
    char text[16];
    int result;
    uint64_t id;
    uint32_t attempt;
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
    memcpy(entry->text, delivery->payload,
           delivery->payload_size < 15 ? delivery->payload_size : 15);
}

static struct htw_lease lease_of(const char *const *queues, size_t count, int64_t wait_until_ns) {
    return LEASE(.queues = queues, .queue_count = count, .wait_until_ns = wait_until_ns);
}

static uint64_t ask(struct journal_fixture *f, const char *queue, int64_t wait_until_ns) {
    const struct htw_lease lease = lease_of(&queue, 1, wait_until_ns);
    uint64_t request = 0;
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, NULL, &request), 0);
    return request;
}

/* What was told since the last call: texts, or results. */
static const char *answers(struct journal_fixture *f) {
    static char text[TOLD_MAX * 16];
    char *end = text;
    journal_sync(f);
    *end = '\0';
    for (size_t i = 0; i < told_count; i++)
        end += told[i].result == 0 ? sprintf(end, "%s%s", i == 0 ? "" : " ", told[i].text)
                                   : sprintf(end, "%s%d", i == 0 ? "" : " ", told[i].result);
    told_count = 0;
    return text;
}

/* Leases the first job of a queue, if there is one now. */
static struct told take(struct journal_fixture *f, const char *queue) {
    told_count = 0;
    int result = journal_lease_one(f->journal, queue, false, leased, NULL);
    assert_int_equal(told_count, 1);
    assert_int_equal(told[0].result, result);
    told_count = 0;
    return told[0];
}

static uint64_t put(struct journal_fixture *f, const char *queue, uint32_t priority,
                    int64_t after_ns, const char *text) {
    return journal_put_struct(f, JOB(.queue = queue, .priority = priority,
                                     .deadline_ns = START_NS + after_ns, TEXT(text)));
}

/* Delayed, ready, leased, buried. */
static const char *counts(struct journal_fixture *f, const char *queue) {
    static char text[64];
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(f->journal, queue, &stats);
    if (error != 0)
        snprintf(text, sizeof(text), "%d", error);
    else
        snprintf(text, sizeof(text), "%d %d %d %d", (int)stats.delayed, (int)stats.ready,
                 (int)stats.leased, (int)stats.buried);
    return text;
}

static void open_for_lease(struct journal_fixture *f) {
    told_count = 0;
    journal_open(f);
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

/* Also where more was put than microseconds have passed, and the job was delayed when it was put. */
JOURNAL_TEST(lease_order_is_that_of_putting) {
    for (int i = 0; i < 2; i++) {
        journal_open(f);
        for (const char *text = "abcd"; *text != '\0' && i == 0; text++)
            journal_put_struct(f, JOB(.queue = "q", .payload = text, .payload_size = 1,
                                      .deadline_ns = START_NS + (*text == 'c') * HTW_MICROSECOND));
        journal_advance_to(f, (2 * i + 1) * HTW_MILLISECOND);
        for (int j = 0; j < 4; j++)
            ask(f, "q", HTW_NEVER_NS);
        journal_advance_to(f, (2 * i + 2) * HTW_MILLISECOND); /* what the file alone has is read */
        assert_string_equal(answers(f), "a b c d");
        journal_close(f);
    }
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

static sem_t is_inside, may_return;

/* The thread that tells requests is in here until the test lets it go on. */
static void leased_and_stay(void *arg, int result, const struct htw_delivery *delivery) {
    leased(arg, result, delivery);
    sem_post(&is_inside);
    sem_wait(&may_return);
}

JOURNAL_TEST(lease_that_has_ended_before_it_is_told_is_not_told) {
    struct htw_job jobs[] = { JOB(.queue = "a", TEXT("a")), JOB(.queue = "b", TEXT("b")) };
    const char *queue = "a";
    const struct htw_lease lease = lease_of(&queue, 1, HTW_NEVER_NS);
    f->options.lease_ns = HTW_SECOND;
    open_for_lease(f);
    sem_init(&is_inside, 0, 0);
    sem_init(&may_return, 0, 0);
    assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased_and_stay, NULL, NULL), 0);
    ask(f, "b", HTW_NEVER_NS);
    assert_int_equal(htw_journal_apply(f->journal, &CHANGE(.jobs = jobs, .job_count = 2)), 0);
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

/* Also after an open, which remembers the order of putting. */
/* holds: journal-2, serve-3 */
JOURNAL_TEST(lease_of_a_delayed_job_is_not_early_after_the_clock_was_set_back) {
    open_for_lease(f);
    journal_advance_to(f, HTW_HOUR);
    put(f, "a", 0, HTW_HOUR, "a");
    assert_string_equal(take(f, "a").text, "a");
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, START_NS), 0);
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
}

/* ---- more jobs than memory has room for */

/* Each queue keeps a job in memory, also where that is more than READY jobs may take. */
/* holds: journal-9 */
JOURNAL_TEST(lease_of_a_job_that_is_due_does_not_wait_for_those_in_flight) {
    f->options.max_in_flight = 1;
    f->keeps = true;
    open_for_lease(f);
    journal_put(f, 1, "first");
    journal_put(f, 2, "second");
    uint64_t id = put(f, "a", 0, 3, "a");
    journal_advance_to(f, HTW_SECOND);
    assert_int_equal(f->seen_count, 1);
    assert_string_equal(counts(f, "a"), "0 1 0 0");
    assert_int_equal(take(f, "a").id, id);
    f->keeps = false;
    assert_int_equal(htw_journal_done(f->journal, f->seen[0].id), 0);
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(journal_texts(f), "first second");
}

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
    journal_sync(f);
    assert_true(journal_stats(f).memory_bytes < (2 << 20));
    assert_string_equal(take(f, "q7").text, "q7");
    assert_string_equal(take(f, "q1999").text, "q1999");
}

/* These would be moved in the file, so that memory can forget them. */
/* holds: journal-10c */
JOURNAL_TEST(lease_of_more_jobs_than_memory_has_room_for_needs_no_space) {
    enum { COUNT = 2000 };
    static struct htw_job jobs[COUNT];
    static char payload[200] = "a";
    const struct rlimit full = { 4096, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
    f->options.max_memory = 1 << 20;
    journal_open(f);
    for (int i = 0; i < COUNT; i++)
        jobs[i] = JOB(.queue = "q", .payload = payload, .payload_size = sizeof(payload),
                      .deadline_ns = START_NS + HTW_SECOND);
    assert_int_equal(htw_journal_apply(f->journal, &CHANGE(.jobs = jobs, .job_count = COUNT)), 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &full);
    journal_advance_to(f, HTW_MINUTE);
    ask(f, "q", HTW_NEVER_NS);
    journal_advance_to(f, 2 * HTW_MINUTE);
    assert_string_equal(answers(f), "a");
    setrlimit(RLIMIT_FSIZE, &none);
    journal_close(f);
}

/* holds: journal-10b */
JOURNAL_TEST(lease_of_a_job_that_the_file_has_lost_stops_the_journal) {
    const char *queue = "a";
    const struct htw_lease lease = lease_of(&queue, 1, HTW_NEVER_NS);
    open_for_lease(f);
    uint64_t id = put(f, queue, 0, HTW_HOUR, "a");
    assert_int_equal(journal_update(f, id, HTW_JOB_KICK, 0), 0);
    journal_close(f);
    journal_execute(f, "DELETE FROM htw_job");
    open_for_lease(f);
    assert_int_equal(htw_journal_lease(f->journal, &lease, leased, NULL), -EIO);
    assert_int_equal(htw_journal_pause(f->journal, queue, 0), -EIO);
    (void)htw_journal_close(f->journal);
    f->journal = NULL;
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
    assert_int_equal(journal_update(f, first.id, HTW_JOB_RELEASE, 0), 0);
    journal_advance_to(f, 17 * HTW_SECOND);
    assert_int_equal(oldest_s(f), 2);
    assert_int_equal(journal_update(f, first.id, HTW_JOB_BURY, 0), 0);
    assert_int_equal(journal_update(f, second.id, HTW_JOB_END, 0), 0);
    assert_int_equal(oldest_s(f), 0);
}
