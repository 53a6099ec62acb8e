/* SPDX-License-Identifier: MIT */
/* test_change.c - changes of several parts, the mark, notices, limits. */
#include "journal_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The notice of a change: stores its result. */
static void store(void *arg, int result) {
    *(int *)arg = result;
}

/* ---- several parts */

/* holds: journal-4 */
JOURNAL_TEST(journal_change_is_made_wholly_or_not_at_all) {
    journal_open(f);
    uint64_t a = journal_put(f, HTW_HOUR, "a");
    uint64_t b =
        journal_put_struct(f, JOB(.deadline_ns = START_NS + HTW_HOUR, TEXT("b"), KEY("k")));
    uint64_t ids[] = { a, b, 12345 };
    struct htw_job jobs[] = { JOB(.deadline_ns = START_NS + HTW_SECOND, TEXT("c")),
                              JOB(.deadline_ns = START_NS + HTW_SECOND, TEXT("d"), KEY("k")) };
    struct htw_journal_change change = CHANGE(.done = ids, .done_count = 3, .jobs = jobs,
                                              .job_count = 2, .mark = "mark", .mark_size = 4);
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
    static const char bytes[HTW_JOURNAL_MARK_MAX];
    static const struct {
        const void *mark;
        int size, after;
    } rows[] = {
        { bytes, sizeof(bytes), sizeof(bytes) },
        { NULL, 0, sizeof(bytes) }, /* it stays */
        { "", 0, 0 },
    };
    char read[HTW_JOURNAL_MARK_MAX];
    journal_open(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct htw_journal_change change =
            CHANGE(.mark = rows[i].mark, .mark_size = (size_t)rows[i].size);
        assert_int_equal(htw_journal_apply_later(f->journal, &change, NULL, NULL), 0);
        journal_sync(f);
        assert_int_equal(htw_journal_get_mark(f->journal, read, sizeof(read)), rows[i].after);
    }
}

/* holds: journal-4 */
JOURNAL_TEST(journal_one_change_that_is_impossible_leaves_those_beside_it_alone) {
    int results[3] = { 1, 1, 1 };
    journal_open(f);
    uint64_t a = journal_put(f, HTW_HOUR, "a");
    uint64_t ids[2] = { a, 99 };
    const struct htw_journal_change change = CHANGE(.done = ids, .done_count = 2);
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS + HTW_SECOND, "b", 1, store, &results[0], NULL),
        0);
    assert_int_equal(htw_journal_apply_later(f->journal, &change, store, &results[1]), 0);
    assert_int_equal(
        htw_journal_put_later(f->journal, START_NS + HTW_SECOND, "c", 1, store, &results[2], NULL),
        0);
    journal_sync(f);
    assert_true(results[0] == 0 && results[1] == -ENOENT && results[2] == 0);
    journal_advance_to(f, HTW_DAY);
    assert_string_equal(journal_texts(f), "b c a");
}

/* ---- later */

/* Only a single end, cancel or put-if-absent may find nothing to do without failing: any other change has lost something. */
JOURNAL_TEST(journal_sync_tells_of_each_change_that_was_lost) {
    static const uint64_t gone = 99;
#define STEP(...) .updates = &UPDATE(__VA_ARGS__), .update_count = 1
#define END .done = &gone, .done_count = 1
#define PUT(...) .jobs = &JOB(__VA_ARGS__), .job_count = 1
#define IF_ABSENT KEY("taken"), .flags = HTW_JOB_IF_ABSENT
#define MARK .mark = "m", .mark_size = 1
    const struct {
        struct htw_journal_change change;
        int expected;
    } rows[] = {
        { CHANGE(STEP(.id = 98)), 0 },
        { CHANGE(STEP(.id = 98, .step = HTW_JOB_CANCEL)), 0 },
        { CHANGE(STEP(KEY("gone"), .step = HTW_JOB_CANCEL)), 0 },
        { CHANGE(END), 0 },
        { CHANGE(PUT(IF_ABSENT)), 0 },
        { CHANGE(STEP(.id = 98, .step = HTW_JOB_RELEASE)), -ENOENT },
        { CHANGE(STEP(.id = 98, .step = HTW_JOB_BURY)), -ENOENT },
        { CHANGE(STEP(.id = 98, .step = HTW_JOB_MOVE)), -ENOENT },
        { CHANGE(STEP(.id = 98), END), -ENOENT },
        { CHANGE(STEP(.id = 98), PUT(.priority = 0)), -ENOENT },
        { CHANGE(STEP(.id = 98), MARK), -ENOENT },
        { CHANGE(END, PUT(.priority = 0)), -ENOENT },
        { CHANGE(PUT(IF_ABSENT), MARK), -EEXIST },
    };
    journal_open(f);
    journal_put_struct(f, JOB(.deadline_ns = START_NS + HTW_HOUR, KEY("taken")));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(htw_journal_apply_later(f->journal, &rows[i].change, NULL, NULL), 0);
        assert_int_equal(htw_journal_sync(f->journal), rows[i].expected);
        journal_sync(f);
    }
    assert_int_equal(journal_stats(f).jobs, 1);
}

struct chain {
    struct htw_journal *journal;
    int result, blocked[6];
};

static void try_to_block(void *arg, int result) {
    struct chain *chain = arg;
    chain->result = result;
    chain->blocked[0] = htw_journal_put(chain->journal, START_NS, "x", 1, NULL);
    chain->blocked[1] = htw_journal_cancel(chain->journal, 1);
    chain->blocked[2] = htw_journal_done(chain->journal, 1);
    chain->blocked[3] = htw_journal_sync(chain->journal);
    chain->blocked[4] = htw_journal_apply(chain->journal, &CHANGE(.mark = NULL));
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
    journal_sync(f);
    journal_sync(f);
    assert_int_equal(chain.result, 0);
    for (size_t i = 0; i < COUNT_OF(chain.blocked); i++)
        assert_int_equal(chain.blocked[i], -EDEADLK);
    journal_advance_to(f, 0);
    assert_string_equal(journal_texts(f), "x y");
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
    journal_sync(f);
    assert_int_equal(htw_journal_put_later(f->journal, at, bytes, 10000, NULL, NULL, NULL), 0);
    journal_sync(f);
    assert_int_equal(htw_journal_put(f->journal, at, bytes, sizeof(bytes), NULL), 0); /* alone */
}
