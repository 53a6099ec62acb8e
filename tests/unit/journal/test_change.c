/* SPDX-License-Identifier: MIT */
/* test_change.c - cancel, done, keys, changes of several parts, the mark, notices. */
#include "journal_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The notice of a change: stores its result. */
static void store(void *arg, int result) {
    *(int *)arg = result;
}

/* holds: journal-6 */
JOURNAL_TEST(journal_delivered_job_is_not_cancelled) {
    f->keeps = true;
    journal_open(f);
    uint64_t id = journal_put(f, HTW_SECOND, "a");
    journal_advance_to(f, HTW_SECOND);
    assert_int_equal(htw_journal_cancel(f->journal, id), -EALREADY);
    assert_non_null(strstr(htw_journal_error(), "has been delivered"));
    assert_int_equal(htw_journal_done(f->journal, id), 0);
    assert_int_equal(htw_journal_done(f->journal, id), -ENOENT);
    assert_int_equal(htw_journal_cancel(f->journal, id), -ENOENT);
}

/* holds: journal-14 */
JOURNAL_TEST(journal_ids_stay_valid_after_an_open_and_are_not_used_again) {
    journal_open(f);
    uint64_t id = journal_put(f, HTW_HOUR, "a");
    uint64_t ended = journal_put(f, HTW_HOUR, "b");
    assert_int_equal(htw_journal_cancel(f->journal, ended), 0);
    journal_close(f);
    journal_open(f);
    uint64_t later = journal_put(f, HTW_HOUR, "c");
    assert_true(later != id && later != ended);
    assert_int_equal(htw_journal_cancel(f->journal, ended), -ENOENT);
    assert_int_equal(htw_journal_cancel(f->journal, id), 0);
    journal_advance_to(f, HTW_DAY);
    assert_string_equal(journal_texts(f), "c");
}

/* ---- keys */

static uint64_t put_under(struct journal_fixture *f, const char *key, int64_t after_ns,
                          const char *text) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.deadline_ns = START_NS + after_ns;
    job.payload = text;
    job.payload_size = strlen(text);
    job.key = key;
    job.key_size = strlen(key);
    change.jobs = &job;
    change.job_count = 1;
    int error = htw_journal_apply(f->journal, &change);
    if (error != 0)
        fail_msg("htw_journal_apply: %d: %s", error, htw_journal_error());
    return job.id;
}

/* holds: journal-10 */
JOURNAL_TEST(journal_job_replaces_the_one_of_its_key) {
    journal_open(f);
    put_under(f, "k", HTW_SECOND, "a"); /* in memory */
    put_under(f, "k", HTW_HOUR, "b");   /* in the file */
    uint64_t id = put_under(f, "k", 2 * HTW_SECOND, "c");
    put_under(f, "", 2 * HTW_SECOND, "d");
    assert_int_equal(journal_stats(f).replaced, 2);
    assert_int_equal(journal_stats(f).jobs, 2);
    journal_advance_to(f, HTW_DAY);
    assert_int_equal(f->seen[0].key_size, 1);
    assert_string_equal(f->seen[0].key, "k");
    assert_true(f->seen[0].id == id);
    assert_true(f->seen[1].has_key && f->seen[1].key_size == 0);
    assert_string_equal(journal_texts(f), "c d");
    put_under(f, "k", HTW_DAY, "e"); /* the key is free again */
    assert_int_equal(journal_stats(f).replaced, 2);
}

/* ---- several parts */

/* holds: journal-4 */
JOURNAL_TEST(journal_change_is_made_wholly_or_not_at_all) {
    journal_open(f);
    uint64_t a = journal_put(f, HTW_HOUR, "a");
    uint64_t b = put_under(f, "k", HTW_HOUR, "b");
    uint64_t ids[] = { a, b, 12345 };
    struct htw_job jobs[] = { HTW_JOB_INIT, HTW_JOB_INIT };
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    jobs[0].deadline_ns = jobs[1].deadline_ns = START_NS + HTW_SECOND;
    jobs[0].payload = "c";
    jobs[1].payload = "d";
    jobs[0].payload_size = jobs[1].payload_size = 1;
    jobs[1].key = "k";
    jobs[1].key_size = 1;
    change.done = ids;
    change.done_count = 3;
    change.jobs = jobs;
    change.job_count = 2;
    change.mark = "mark";
    change.mark_size = 4;
    assert_int_equal(htw_journal_apply(f->journal, &change), -ENOENT);
    assert_int_equal(journal_stats(f).jobs, 2);
    assert_int_equal(journal_stats(f).replaced, 0);
    assert_int_equal(htw_journal_get_mark(f->journal, NULL, 0), 0);
    change.done_count = 2;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    assert_true(jobs[0].id != jobs[1].id);
    char mark[8] = "";
    assert_int_equal(htw_journal_get_mark(f->journal, mark, sizeof(mark)), 4);
    assert_string_equal(mark, "mark");
    journal_close(f);
    journal_open(f);
    assert_int_equal(htw_journal_get_mark(f->journal, mark, 2), 4);
    journal_advance_to(f, HTW_DAY);
    assert_string_equal(journal_texts(f), "c d");
}

JOURNAL_TEST(journal_mark_can_become_empty_and_has_a_greatest_size) {
    static const char bytes[HTW_JOURNAL_MARK_MAX + 1];
    char read[HTW_JOURNAL_MARK_MAX];
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    journal_open(f);
    change.mark = bytes;
    change.mark_size = HTW_JOURNAL_MARK_MAX + 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EMSGSIZE);
    change.mark_size = HTW_JOURNAL_MARK_MAX;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    assert_int_equal(htw_journal_get_mark(f->journal, read, sizeof(read)), HTW_JOURNAL_MARK_MAX);
    change.mark = NULL;
    change.mark_size = 0;
    assert_int_equal(htw_journal_apply(f->journal, &change), 0);
    assert_int_equal(htw_journal_get_mark(f->journal, read, sizeof(read)), HTW_JOURNAL_MARK_MAX);
    change.mark = "";
    assert_int_equal(htw_journal_apply_later(f->journal, &change, NULL, NULL), 0);
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_int_equal(htw_journal_get_mark(f->journal, read, sizeof(read)), 0);
}

/* holds: journal-4 */
JOURNAL_TEST(journal_one_change_that_is_impossible_leaves_those_beside_it_alone) {
    int results[3] = { 1, 1, 1 };
    journal_open(f);
    uint64_t a = journal_put(f, HTW_HOUR, "a");
    uint64_t ids[2] = { a, 99 };
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.done = ids;
    change.done_count = 2;
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS + HTW_SECOND, "b", 1, store, &results[0], NULL),
        0);
    assert_int_equal(htw_journal_apply_later(f->journal, &change, store, &results[1]), 0);
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS + HTW_SECOND, "c", 1, store, &results[2], NULL),
        0);
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_true(results[0] == 0 && results[1] == -ENOENT && results[2] == 0);
    journal_advance_to(f, HTW_DAY);
    assert_string_equal(journal_texts(f), "b c a");
}

/* ---- later */

/* A step of `job`, or of the key "gone"; 0: none of these. A second id to end, a job that is put, and a mark go with it. */
struct unheeded {
    enum htw_job_step step;
    bool has_step, has_key, ends_another, puts, is_if_absent, has_mark;
    int expected; /* of htw_journal_sync() */
};

/* Only a single end, cancel or put-if-absent may find nothing to do without failing: any other change has lost something. */
static const struct unheeded unheeded[] = {
    { HTW_JOB_END, .has_step = true },
    { HTW_JOB_CANCEL, .has_step = true },
    { HTW_JOB_CANCEL, .has_step = true, .has_key = true },
    { .ends_another = true },
    { .puts = true, .is_if_absent = true },
    { HTW_JOB_RELEASE, .has_step = true, .expected = -ENOENT },
    { HTW_JOB_BURY, .has_step = true, .expected = -ENOENT },
    { HTW_JOB_MOVE, .has_step = true, .expected = -ENOENT },
    { HTW_JOB_END, .has_step = true, .ends_another = true, .expected = -ENOENT },
    { HTW_JOB_END, .has_step = true, .puts = true, .expected = -ENOENT },
    { HTW_JOB_END, .has_step = true, .has_mark = true, .expected = -ENOENT },
    { .ends_another = true, .puts = true, .expected = -ENOENT },
    { .puts = true, .is_if_absent = true, .has_mark = true, .expected = -EEXIST },
};

JOURNAL_TEST(journal_sync_tells_of_each_change_that_was_lost) {
    static const uint64_t gone = 99;
    journal_open(f);
    put_under(f, "taken", HTW_HOUR, "first");
    for (size_t i = 0; i < COUNT_OF(unheeded); i++) {
        const struct unheeded *row = &unheeded[i];
        struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
        struct htw_job_update update = HTW_JOB_UPDATE_INIT;
        struct htw_job job = HTW_JOB_INIT;
        update.step = row->step;
        update.id = row->has_key ? 0 : 98;
        update.key = row->has_key ? "gone" : NULL;
        update.key_size = row->has_key ? 4 : 0;
        job.key = row->is_if_absent ? "taken" : NULL;
        job.key_size = row->is_if_absent ? 5 : 0;
        job.flags = row->is_if_absent ? HTW_JOB_IF_ABSENT : 0;
        change.updates = &update;
        change.update_count = row->has_step;
        change.done = &gone;
        change.done_count = row->ends_another;
        change.jobs = &job;
        change.job_count = row->puts;
        change.mark = row->has_mark ? "m" : NULL;
        change.mark_size = row->has_mark;
        assert_int_equal(htw_journal_apply_later(f->journal, &change, NULL, NULL), 0);
        assert_int_equal(htw_journal_sync(f->journal), row->expected);
        assert_int_equal(htw_journal_sync(f->journal), 0);
    }
    assert_int_equal(journal_stats(f).jobs, 1);
}

struct chain {
    struct htw_journal *journal;
    int result, blocked[6];
};

static void try_to_block(void *arg, int result) {
    struct chain *chain = arg;
    struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    chain->result = result;
    chain->blocked[0] = htw_journal_put(chain->journal, START_NS, "x", 1, NULL);
    chain->blocked[1] = htw_journal_cancel(chain->journal, 1);
    chain->blocked[2] = htw_journal_done(chain->journal, 1);
    chain->blocked[3] = htw_journal_sync(chain->journal);
    chain->blocked[4] = htw_journal_apply(chain->journal, &nothing);
    chain->blocked[5] = htw_journal_close(chain->journal);
    if (htw_journal_put_later(chain->journal, START_NS, "y", 1, NULL, NULL, NULL) != 0)
        chain->result = 1;
}

/* holds: journal-11 */
JOURNAL_TEST(journal_notice_may_change_more_but_not_wait) {
    struct chain chain = { .result = 1 };
    journal_open(f);
    chain.journal = f->journal;
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS, "x", 1, try_to_block, &chain, NULL), 0);
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_int_equal(chain.result, 0);
    for (size_t i = 0; i < COUNT_OF(chain.blocked); i++)
        assert_int_equal(chain.blocked[i], -EDEADLK);
    journal_advance_to(f, 0);
    assert_string_equal(journal_texts(f), "x y");
}

static void close_inside(struct journal_fixture *f, const struct htw_delivery *delivery) {
    (void)delivery;
    if (htw_journal_close(f->journal) != -EDEADLK)
        f->early++;
}

JOURNAL_TEST(journal_is_not_closed_by_deliver) {
    f->act = close_inside;
    journal_open(f);
    journal_put(f, 0, "a");
    journal_advance_to(f, 0);
    assert_string_equal(journal_texts(f), "a");
}

/* ---- limits and misuse */

/* holds: journal-9 */
JOURNAL_TEST(journal_holds_no_more_than_max_jobs) {
    uint64_t id = 0;
    f->options.max_jobs = 3;
    journal_open(f);
    for (int i = 0; i < 3; i++)
        id = journal_put(f, HTW_HOUR, "a");
    assert_int_equal(htw_journal_put(f->journal, START_NS, "b", 1, NULL), -EAGAIN);
    assert_non_null(strstr(htw_journal_error(), "max_jobs"));
    assert_int_equal(journal_stats(f).refused, 1);
    assert_int_equal(htw_journal_cancel(f->journal, id), 0);
    journal_put(f, HTW_HOUR, "b");
    journal_close(f);
    journal_open(f);
    assert_int_equal(htw_journal_put_later(f->journal, START_NS, "b", 1, NULL, NULL, NULL),
                     -EAGAIN);
}

/* holds: journal-8 */
JOURNAL_TEST(journal_refuses_what_would_exceed_max_memory_until_it_is_written) {
    static char bytes[1 << 20];
    f->options.max_memory = 256 * 1024;
    f->options.gather_ns = HTW_SECOND;
    journal_open(f);
    int64_t at = START_NS + HTW_HOUR;
    int error = 0;
    for (int i = 0; i < 100 && error == 0; i++)
        error = htw_journal_put_later(f->journal, at, bytes, 10000, NULL, NULL, NULL);
    assert_int_equal(error, -EAGAIN);
    assert_non_null(strstr(htw_journal_error(), "max_memory"));
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_int_equal(htw_journal_put_later(f->journal, at, bytes, 10000, NULL, NULL, NULL), 0);
    assert_int_equal(htw_journal_sync(f->journal), 0);
    assert_int_equal(htw_journal_put(f->journal, at, bytes, sizeof(bytes), NULL), 0); /* alone */
}

JOURNAL_TEST(journal_misuse_is_refused) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    journal_open(f);
    assert_int_equal(htw_journal_put(NULL, 0, "", 0, NULL), -EINVAL);
    assert_int_equal(htw_journal_put(f->journal, 0, NULL, 1, NULL), -EINVAL);
    assert_int_equal(htw_journal_put(f->journal, 0, "", SIZE_MAX, NULL), -EMSGSIZE);
    assert_int_equal(htw_journal_put(f->journal, 0, "", HTW_JOURNAL_JOB_MAX + 1, NULL), -EMSGSIZE);
    assert_int_equal(htw_journal_apply(f->journal, NULL), -EINVAL);
    assert_int_equal(htw_journal_apply_later(f->journal, NULL, NULL, NULL), -EINVAL);
    change.struct_size++;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    change.struct_size--;
    change.done_count = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    change.done_count = 0;
    change.job_count = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    change.jobs = &job;
    job.struct_size++;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    job.struct_size--;
    job.key_size = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    job.key = "k";
    job.payload = "";
    job.payload_size = HTW_JOURNAL_JOB_MAX;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EMSGSIZE);
    change.job_count = 0;
    change.mark_size = 1;
    assert_int_equal(htw_journal_apply(f->journal, &change), -EINVAL);
    assert_int_equal(htw_journal_get_mark(f->journal, NULL, 1), -EINVAL);
    assert_int_equal(htw_journal_get_stats(f->journal, NULL), -EINVAL);
    stats.struct_size++;
    assert_int_equal(htw_journal_get_stats(f->journal, &stats), -EINVAL);
    assert_int_equal(htw_journal_close(NULL), 0);
    htw_journal_options_init(NULL);
    htw_job_init(NULL);
    htw_journal_change_init(NULL);
    htw_journal_stats_init(NULL);
    assert_int_equal(journal_stats(f).jobs, 0);
}

JOURNAL_TEST(journal_initialisers_are_the_macros) {
    (void)f;
    const struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    const struct htw_job job = HTW_JOB_INIT;
    const struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    const struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    struct htw_journal_options options2;
    struct htw_job job2;
    struct htw_journal_change change2;
    struct htw_journal_stats stats2;
    htw_journal_options_init(&options2);
    htw_job_init(&job2);
    htw_journal_change_init(&change2);
    htw_journal_stats_init(&stats2);
    assert_int_equal(options2.struct_size, options.struct_size);
    assert_int_equal(job2.struct_size, job.struct_size);
    assert_int_equal(change2.struct_size, change.struct_size);
    assert_int_equal(stats2.struct_size, stats.struct_size);
}
