/* SPDX-License-Identifier: MIT */
/* test_deliver.c - when jobs are delivered, in what order, and how often. */
#include "journal_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* holds: journal-2 */
JOURNAL_TEST(journal_job_comes_at_its_deadline_and_not_before) {
    journal_open(f);
    uint64_t id = journal_put(f, 5 * HTW_SECOND, "a");
    journal_advance_to(f, 5 * HTW_SECOND - 1);
    assert_int_equal(f->seen_count, 0);
    journal_advance_to(f, 5 * HTW_SECOND);
    assert_int_equal(f->seen_count, 1);
    assert_true(f->seen[0].id == id && f->seen[0].deadline_ns == START_NS + 5 * HTW_SECOND);
    assert_int_equal(f->seen[0].late_ns, 0);
    journal_advance_to(f, HTW_HOUR);
    assert_string_equal(journal_texts(f), "a");
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* holds: journal-7 */
JOURNAL_TEST(journal_jobs_come_in_order_of_deadline_and_then_of_putting) {
    journal_open(f);
    journal_put(f, 3 * HTW_SECOND, "c");
    journal_put(f, 1 * HTW_SECOND, "a");
    journal_put(f, 3 * HTW_SECOND, "d");
    journal_put(f, 2 * HTW_SECOND, "b");
    journal_put(f, 90 * HTW_MINUTE, "f"); /* in the file only */
    journal_put(f, 3 * HTW_SECOND, "e");
    journal_advance_to(f, 2 * HTW_HOUR);
    assert_string_equal(journal_texts(f), "a b c d e f");
}

JOURNAL_TEST(journal_job_without_a_deadline_waits_until_it_is_cancelled) {
    uint64_t id;
    journal_open(f);
    assert_int_equal(htw_journal_put(f->journal, HTW_NEVER_NS, "a", 1, &id), 0);
    journal_advance_to(f, 365 * HTW_DAY);
    journal_close(f);
    journal_open(f);
    journal_advance_to(f, 366 * HTW_DAY);
    assert_int_equal(f->seen_count, 0);
    assert_int_equal(htw_journal_cancel(f->journal, id), 0);
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* holds: journal-1 */
JOURNAL_TEST(journal_job_that_is_not_done_comes_again_after_the_next_open) {
    journal_open(f);
    f->keeps = true;
    uint64_t a = journal_put(f, HTW_SECOND, "a");
    uint64_t b = journal_put(f, HTW_SECOND, "b");
    journal_put(f, HTW_HOUR, "c");
    journal_advance_to(f, HTW_SECOND);
    assert_string_equal(journal_texts(f), "a b");
    assert_int_equal(journal_stats(f).in_flight, 2);
    journal_advance_to(f, 2 * HTW_SECOND);
    assert_int_equal(f->seen_count, 0); /* not twice in one run */
    assert_int_equal(htw_journal_done(f->journal, a), 0);
    for (int i = 0; i < 3; i++) {
        journal_close(f);
        journal_open(f);
        assert_int_equal(journal_stats(f).found, 2);
        journal_advance_to(f, 2 * HTW_SECOND);
        assert_int_equal(f->seen_count, 1);
        assert_true(f->seen[0].id == b);
        assert_string_equal(journal_texts(f), "b");
    }
    assert_int_equal(htw_journal_done(f->journal, b), 0);
    journal_close(f);
    journal_open(f);
    journal_advance_to(f, 2 * HTW_HOUR);
    assert_string_equal(journal_texts(f), "c");
}

JOURNAL_TEST(journal_payload_and_key_of_any_size_come_whole) {
    static const size_t sizes[] = { 0, 1, 255, 256, 257, 4096, 100000, 20000000 };
    char *bytes = malloc(20000000);
    assert_non_null(bytes);
    memset(bytes, 'x', 20000000);
    journal_open(f);
    for (int round = 0; round < 2; round++) { /* from memory, and from the file */
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            struct htw_job job = HTW_JOB_INIT;
            struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
            job.deadline_ns = START_NS + (round == 0 ? HTW_MINUTE : HTW_HOUR) + (int64_t)i;
            job.payload = sizes[i] == 0 ? NULL : bytes;
            job.payload_size = sizes[i];
            job.key = i % 2 == 0 ? NULL : bytes;
            job.key_size = i % 2 == 0 ? 0 : i - 1;
            change.jobs = &job;
            change.job_count = 1;
            assert_int_equal(htw_journal_apply(f->journal, &change), 0);
        }
        if (round == 1) {
            journal_close(f);
            journal_open(f);
        }
        journal_advance_to(f, round == 0 ? 2 * HTW_MINUTE : 2 * HTW_HOUR);
        assert_int_equal(f->seen_count, COUNT_OF(sizes));
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            assert_int_equal(f->seen[i].payload_size, sizes[i]);
            assert_int_equal(f->seen[i].has_key, i % 2);
            assert_int_equal(f->seen[i].key_size, i % 2 == 0 ? 0 : i - 1);
            assert_true(sizes[i] == 0 || f->seen[i].payload[0] == 'x');
        }
        f->seen_count = 0;
    }
    free(bytes);
}

/* holds: journal-9 */
JOURNAL_TEST(journal_delivers_no_more_than_may_be_in_flight) {
    f->keeps = true;
    f->options.max_in_flight = 3;
    journal_open(f);
    for (int i = 0; i < 8; i++)
        journal_put(f, HTW_SECOND + i, "x");
    journal_advance_to(f, HTW_MINUTE);
    assert_int_equal(f->seen_count, 3);
    assert_int_equal(htw_journal_done(f->journal, f->seen[1].id), 0);
    journal_advance_to(f, HTW_MINUTE);
    assert_int_equal(f->seen_count, 4);
    assert_int_equal(htw_journal_done(f->journal, f->seen[0].id), 0);
    assert_int_equal(htw_journal_done(f->journal, f->seen[3].id), 0);
    journal_advance_to(f, HTW_MINUTE);
    assert_int_equal(f->seen_count, 6);
    assert_int_equal(journal_stats(f).in_flight, 3);
}

/* ---- a backlog */

static void fill_backlog(struct journal_fixture *f, unsigned count, int64_t spread_ns) {
    char text[16];
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "%u", i);
        int64_t deadline_ns =
            START_NS + HTW_HOUR +
            (int64_t)((i * UINT64_C(7919)) % count) * (spread_ns / (int64_t)count);
        assert_int_equal(
            htw_journal_put_later(f->journal, deadline_ns, text, strlen(text), NULL, NULL, NULL),
            0);
        if (i % 50 == 49)
            assert_int_equal(htw_journal_sync(f->journal), 0);
    }
    assert_int_equal(htw_journal_sync(f->journal), 0);
}

static void assert_backlog_comes(struct journal_fixture *f, unsigned count) {
    journal_advance_to(f, HTW_DAY);
    assert_int_equal(f->seen_count, count);
    for (unsigned i = 1; i < count; i++)
        assert_true(f->seen[i - 1].deadline_ns < f->seen[i].deadline_ns);
    assert_int_equal(journal_stats(f).jobs, 0);
    f->seen_count = 0;
}

/* With room for some hundred jobs, and an array for 1024 rows. */
/* holds: journal-8 */
JOURNAL_TEST(journal_backlog_of_one_bucket_comes_in_order_in_little_memory) {
    f->options.max_memory = 64 * 1024;
    journal_open(f);
    fill_backlog(f, 9000, HTW_MINUTE / 2);
    journal_close(f);
    journal_open(f);
    size_t before = f->memory.live_bytes;
    f->act = NULL;
    assert_backlog_comes(f, 9000);
    assert_true(journal_stats(f).memory_bytes < before + 300 * 1024);
}

/* Jobs that are put for the near future do not all fit, so the later ones go back to the file. */
/* holds: journal-8 */
JOURNAL_TEST(journal_with_little_memory_holds_fewer_jobs_ahead) {
    f->options.max_memory = 64 * 1024;
    journal_open(f);
    char text[16];
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(text, sizeof(text), "%u", i);
        journal_put(f, HTW_SECOND + (int64_t)((i * 37) % 3000) * HTW_MILLISECOND, text);
    }
    assert_true(journal_stats(f).in_memory < 400);
    journal_advance_to(f, HTW_MINUTE);
    assert_int_equal(f->seen_count, 3000);
    for (unsigned i = 1; i < 3000; i++)
        assert_true(f->seen[i - 1].deadline_ns < f->seen[i].deadline_ns);
}

/* Not even a place among the jobs in memory. */
/* holds: journal-8 */
JOURNAL_TEST(journal_jobs_of_the_far_future_take_no_memory) {
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    uint64_t before = journal_stats(f).memory_bytes;
    for (int i = 0; i < 300; i++)
        journal_put(f, HTW_HOUR, "a");
    assert_int_equal(journal_stats(f).memory_bytes, before);
}

/* ---- the clock */

JOURNAL_TEST(journal_without_deliver_keeps_all) {
    journal_open(f);
    uint64_t id = journal_put(f, HTW_SECOND, "a");
    journal_put(f, HTW_SECOND, "b");
    journal_close(f);
    struct htw_scheduler *scheduler = f->scheduler;
    htw_deliver *deliver = f->options.deliver;
    f->options.deliver = NULL;
    f->scheduler = NULL;
    journal_open(f);
    assert_int_equal(htw_journal_cancel(f->journal, id), 0);
    assert_int_equal(htw_journal_put(f->journal, START_NS, "c", 1, NULL), 0);
    assert_int_equal(journal_stats(f).jobs, 2);
    assert_int_equal(journal_stats(f).in_memory, 0);
    journal_close(f);
    f->options.deliver = deliver;
    f->scheduler = scheduler;
    journal_open(f);
    journal_advance_to(f, HTW_MINUTE);
    assert_string_equal(journal_texts(f), "c b");
}
