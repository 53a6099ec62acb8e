/* SPDX-License-Identifier: MIT */
/* test_change.c - changes of several parts, notices, limits. */
#include "../../support/told.h"
#include "journal_fixture.h"

#include "../../../src/journal/change.h"

#include <signal.h>
#include <sys/resource.h>

/* The notice of a change: stores its result. */
static void store(void *arg, int result) {
    *(int *)arg = result;
}

/* ---- several parts */

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

/* holds: journal-10e */
JOURNAL_TEST(journal_key_is_that_of_the_last_job) {
    journal_open(f);
    for (unsigned i = 0; i < 3; i++)
        journal_put_struct(f, JOB(.deadline_ns = START_NS + HTW_MINUTE, KEY("k")));
    assert_int_equal(journal_stats(f).jobs, 1);
    assert_int_equal(
        htw_journal_apply(f->journal, &CHANGE(.updates = &UPDATE(KEY("k"), .step = HTW_JOB_CANCEL),
                                              .update_count = 1)),
        0);
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* What it does in the batch comes to nothing, also for the changes that follow it. */
JOURNAL_TEST(journal_put_that_finds_no_space_leaves_the_job_of_its_key_to_others) {
    static char large[1 << 20];
    const struct rlimit limit = { 400 << 10, RLIM_INFINITY },
                        none = { RLIM_INFINITY, RLIM_INFINITY };
    int results[2] = { 1, 1 };
    f->options.gather_ns = HTW_SECOND;
    journal_open(f);
    journal_put_struct(f, JOB(.deadline_ns = START_NS + HTW_DAY, KEY("k")));
    uint64_t ready = journal_put_struct(f, JOB(.queue = "q", KEY("l")));
    const struct htw__step stage = { .id = ready, .kind = HTW__STEP_STAGE, .is_optional = true };
    const struct htw_journal_change puts[] = {
        CHANGE(.jobs = &JOB(KEY("k"), .payload = large, .payload_size = sizeof(large)),
               .job_count = 1),
        CHANGE(.jobs = &JOB(KEY("l"), .payload = large, .payload_size = sizeof(large)),
               .job_count = 1),
    };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    begin_told(keep_told);
    assert_int_equal(htw_journal_apply_later(f->journal, &puts[0], store, &results[0]), 0);
    assert_int_equal(htw_journal_update_later(f->journal, &UPDATE(KEY("k"), .step = HTW_JOB_CANCEL),
                                              store, &results[1]),
                     0);
    journal_sync(f);
    assert_true(results[0] == -ENOSPC && results[1] == 0);
    assert_told("1 journal: ");
    assert_int_equal(htw_journal_apply_later(f->journal, &puts[1], store, &results[0]), 0);
    htw__mutex_lock(&f->journal->mutex);
    assert_int_equal(htw__submit_own(f->journal, HTW__OWN_STAGE, &stage, 1), 0);
    htw__mutex_unlock(&f->journal->mutex);
    journal_sync(f);
    setrlimit(RLIMIT_FSIZE, &none);
    assert_int_equal(journal_update(f, ready, HTW_JOB_MOVE, START_NS + HTW_DAY), 0);
    journal_close(f);
}

/* ---- later */

/* Only a single end, cancel or put-if-absent may find nothing to do without failing: any other change has lost something. */
JOURNAL_TEST(journal_sync_tells_of_each_change_that_was_lost) {
    static const uint64_t gone = 99;
#define STEP(...) .updates = &UPDATE(__VA_ARGS__), .update_count = 1
#define END .done = &gone, .done_count = 1
#define PUT(...) .jobs = &JOB(__VA_ARGS__), .job_count = 1
#define IF_ABSENT KEY("taken"), .flags = HTW_JOB_IF_ABSENT
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
        { CHANGE(END, PUT(.priority = 0)), -ENOENT },
        { CHANGE(.jobs = (struct htw_job[]) { JOB(IF_ABSENT), JOB(.priority = 0) }, .job_count = 2),
          -EEXIST },
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

/* In a notice, so that both are made by one transaction. */
struct pair {
    struct htw_journal *journal;
    struct htw_job_update updates[2]; /* of step LEASE: it is leased */
    int results[2];
};

#define LEASE_STEP ((enum htw_job_step)(HTW_JOB_EXTEND + 1))

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)delivery;
    store(arg, result);
}

static void update_both(void *arg, int result) {
    struct pair *pair = arg;
    for (size_t i = 0; i < 2 && result == 0; i++) {
        const struct htw_job_update *update = &pair->updates[i];
        int *answer = &pair->results[i];
        if (update->step == LEASE_STEP)
            (void)!htw_journal_lease_later(pair->journal, &LEASE(.id = update->id), leased, answer,
                                           NULL);
        else
            (void)!htw_journal_update_later(pair->journal, update, store, answer);
    }
}

/* holds: journal-10e */
JOURNAL_TEST(journal_cancel_by_key_follows_the_steps_beside_it) {
    static const struct {
        enum htw_job_step step;
        bool is_first;
        int cancel, other;
    } rows[] = { { HTW_JOB_BURY, true, 0, 0 },        { HTW_JOB_BURY, false, 0, -ENOENT },
                 { HTW_JOB_MOVE, true, 0, 0 },        { HTW_JOB_MOVE, false, 0, -ENOENT },
                 { HTW_JOB_END, true, -ENOENT, 0 },   { HTW_JOB_END, false, 0, -ENOENT },
                 { HTW_JOB_KICK, false, 0, -ENOENT }, { LEASE_STEP, true, -EALREADY, 0 } };
    journal_open(f);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t id = journal_put_struct(
            f, JOB(.queue = "a", KEY("k"),
                   .deadline_ns = START_NS + HTW_MINUTE * (rows[i].step != LEASE_STEP)));
        bool is_first = rows[i].is_first;
        struct pair pair = { .journal = f->journal, .results = { 1, 1 } };
        pair.updates[!is_first] =
            UPDATE(.id = id, .step = rows[i].step, .deadline_ns = START_NS + HTW_HOUR);
        pair.updates[is_first] = UPDATE(KEY("k"), .step = HTW_JOB_CANCEL);
        assert_int_equal(
            htw_journal_put_later(f->journal, HTW_NEVER_NS, "x", 1, update_both, &pair, NULL), 0);
        (void)!htw_journal_sync(f->journal);
        (void)!htw_journal_sync(f->journal);
        (void)!journal_update(f, id, HTW_JOB_END, 0); /* what is leased was told before */
        assert_int_equal(pair.results[is_first], rows[i].cancel);
        assert_int_equal(pair.results[!is_first], rows[i].other);
        assert_int_equal(journal_stats(f).jobs, i + 1);
    }
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
    chain->blocked[4] = htw_journal_apply(chain->journal, &CHANGE(.done = NULL));
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

JOURNAL_TEST(journal_payload_and_key_of_any_size_come_whole) {
    static const size_t sizes[] = { 0, 1, 255, 256, 257, 4096, 100000, 20000000 };
    char *bytes = malloc(20000000);
    assert_non_null(bytes);
    memset(bytes, 'x', 20000000);
    journal_open(f);
    for (int round = 0; round < 2; round++) { /* from memory, and from the file */
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            int64_t after_ns = (round == 0 ? HTW_MINUTE : HTW_HOUR) + (int64_t)i;
            journal_put_struct(f, JOB(.deadline_ns = START_NS + after_ns,
                                      .payload = sizes[i] == 0 ? NULL : bytes,
                                      .payload_size = sizes[i], .key = i % 2 == 0 ? NULL : bytes,
                                      .key_size = i % 2 == 0 ? 0 : i - 1));
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
