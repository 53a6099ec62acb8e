/* SPDX-License-Identifier: MIT */
/* test_process.c - a thread of the program that does what waits for the journal's. */
#include "journal_fixture.h"

/* What a notice has seen. */
static struct told {
    struct journal_fixture *f;
    pthread_t thread;
    int count, result;
    char text[16];
} told;

static void note(void *arg, int result) {
    struct told *self = arg;
    self->thread = pthread_self();
    self->result = result;
    self->count++;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    struct told *self = arg;
    note(arg, result);
    if (delivery != NULL)
        snprintf(self->text, sizeof(self->text), "%.*s", (int)delivery->payload_size,
                 (const char *)delivery->payload);
}

/* The journal's thread would wait for others, which never come. */
static void open_for_process(struct journal_fixture *f) {
    f->options.deliver = NULL;
    f->options.gather_ns = HTW_JOURNAL_GATHER_NS_MAX;
    journal_open(f);
    told = (struct told) { .f = f };
    assert_int_equal(htw_journal_process(f->journal, HTW_NEVER_NS), 0);
}

static void put_later(struct journal_fixture *f, const char *text, htw_durable *durable) {
    assert_int_equal(htw_journal_put_later(f->journal, 0, text, strlen(text), durable, &told, NULL),
                     0);
}

/* Where the other thread uses the file at the moment, it does the work. Returns whether this one has. */
static bool process_and_sync(struct journal_fixture *f) {
    assert_int_equal(htw_journal_process(f->journal, HTW_NEVER_NS), 0);
    journal_sync(f);
    return pthread_equal(told.thread, pthread_self()) != 0;
}

JOURNAL_TEST(process_makes_all_changes_in_one_commit_and_in_its_thread) {
    open_for_process(f);
    uint64_t before;
    int count = 0;
    do {
        before = journal_stats(f).commits;
        put_later(f, "a", note);
        put_later(f, "b", note);
        count += 2;
    } while (!process_and_sync(f) && count < 2000);
    assert_true(pthread_equal(told.thread, pthread_self()));
    assert_int_equal(told.count, count);
    assert_int_equal(told.result, 0);
    assert_int_equal(journal_stats(f).commits, before + 1);
    assert_int_equal(journal_stats(f).jobs, count);
}

/* Both wait for one commit, and the job is in memory, held by the first. */
JOURNAL_TEST(process_kicks_a_job_that_the_change_before_has_buried) {
    struct htw_job_update bury = HTW_JOB_UPDATE_INIT;
    open_for_process(f);
    assert_int_equal(htw_journal_put(f->journal, 0, "a", 1, &bury.id), 0);
    bury.step = HTW_JOB_BURY;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(htw_journal_update_later(f->journal, &bury, NULL, NULL), 0);
        assert_int_equal(htw_journal_kick_later(f->journal, NULL, 1, note, &told), 0);
        process_and_sync(f);
        assert_int_equal(told.result, 1);
    }
}

JOURNAL_TEST(process_answers_requests_in_its_thread) {
    static const char *const queue = NULL;
    const struct htw_lease lease =
        LEASE(.queues = &queue, .queue_count = 1, .wait_until_ns = HTW_NEVER_NS);
    open_for_process(f);
    do {
        assert_int_equal(htw_journal_lease_later(f->journal, &lease, leased, &told, NULL), 0);
        put_later(f, "a", NULL);
    } while (!process_and_sync(f) && told.count < 1000);
    assert_true(pthread_equal(told.thread, pthread_self()));
    assert_string_equal(told.text, "a");
}

static void put_another(void *arg, int result) {
    note(arg, result);
    (void)!htw_journal_put_later(told.f->journal, 0, "b", 1, note, &told, NULL);
}

JOURNAL_TEST(process_makes_the_changes_of_its_notices) {
    open_for_process(f);
    put_later(f, "a", put_another);
    (void)process_and_sync(f);
    (void)process_and_sync(
        f); /* what the other thread has added to the queue behind the first sync */
    assert_int_equal(told.count, 2);
    assert_int_equal(journal_stats(f).jobs, 2);
}

static void process(void *arg, int result) {
    struct told *self = arg;
    (void)result;
    self->result = htw_journal_process(self->f->journal, HTW_NEVER_NS);
}

JOURNAL_TEST(process_is_refused_in_a_notice) {
    open_for_process(f);
    put_later(f, "a", process);
    (void)process_and_sync(f);
    assert_int_equal(told.result, -EDEADLK);
    assert_int_equal(htw_journal_process(NULL, HTW_NEVER_NS), -EINVAL);
}

/* The thread would not process meanwhile. */
JOURNAL_TEST(process_lets_calls_of_its_thread_wait_for_the_other_one) {
    open_for_process(f);
    for (int i = 0; i < 2000; i++) /* so many that the thread must not gather more */
        put_later(f, "a", note);
    assert_int_equal(htw_journal_put(f->journal, 0, "b", 1, NULL), 0);
    journal_sync(f); /* and the notices */
    assert_int_equal(told.count, 2000);
    assert_int_equal(journal_lease_one(f->journal, NULL, false, leased, &told), 0);
    assert_int_equal(told.count, 2001);
    put_later(f, "c", note);
    journal_sync(f);
    assert_int_equal(told.count, 2002);
}

JOURNAL_TEST(process_without_patience_leaves_changes_to_the_other_thread) {
    open_for_process(f);
    for (int i = 0; i < 100; i++) {
        put_later(f, "a", note);
        assert_int_equal(htw_journal_process(f->journal, 0), 0);
        journal_sync(f);
        assert_int_equal(told.count, i + 1);
        assert_false(pthread_equal(told.thread, pthread_self()));
    }
}

/* Unless the other thread uses the file at the moment. */
JOURNAL_TEST(lease_of_a_thread_that_is_alone_is_told_in_it) {
    f->options.deliver = NULL;
    journal_open(f);
    for (int kind = 0; kind < 2; kind++) {
        told = (struct told) { .f = f };
        do {
            assert_int_equal(htw_journal_put(f->journal, 0, "a", 1, NULL), 0);
            assert_int_equal(journal_lease_one(f->journal, NULL, kind == 1, leased, &told), 0);
        } while (!pthread_equal(told.thread, pthread_self()) && told.count < 1000);
        assert_true(pthread_equal(told.thread, pthread_self()));
        assert_string_equal(told.text, "a");
    }
}
