/* SPDX-License-Identifier: MIT */
/*
 * test_rules.c - the rules of state.h that no answer of a call shows: what happens under the lock, what
 * without it, and the bounds of the parts.
 */
#include "../../../src/journal/database/statements.h"
#include "../../../src/journal/writer.h"
#include "../../support/told.h"
#include "journal_fixture.h"
#include "writer_waits.h"

#include <stdatomic.h>

/* ---- what the journal calls */

int __real_htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle,
                             int64_t deadline_ns);
int __wrap_htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle,
                             int64_t deadline_ns);

static struct journal_fixture *fixture_of_calls; /* NULL: calls are passed on unseen */
static _Atomic unsigned reschedules, unlocked_reschedules;
static _Atomic int refusal; /* of the scheduler; 0: none */

static void watch_calls(struct journal_fixture *f) {
    fixture_of_calls = f;
    reschedules = unlocked_reschedules = 0;
    refusal = 0;
}

int __wrap_htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle,
                             int64_t deadline_ns) {
    if (fixture_of_calls != NULL && fixture_of_calls->journal != NULL) {
        pthread_mutex_t *mutex = &fixture_of_calls->journal->mutex.mutex;
        reschedules++;
        if (pthread_mutex_trylock(mutex) == 0) {
            pthread_mutex_unlock(mutex);
            unlocked_reschedules++;
        }
        if (refusal != 0)
            return refusal;
    }
    return __real_htw_reschedule_at(scheduler, handle, deadline_ns);
}

/* ---- the lock */

/* Also when it is opened, with the writer at work already. */
JOURNAL_TEST(journal_reschedules_its_timers_under_its_lock) {
    journal_open(f);
    journal_put(f, HTW_HOUR, "a");
    watch_calls(f);
    for (int i = 0; i < 5; i++) {
        journal_close(f);
        reschedules = 0;
        journal_open(f);
        assert_true(reschedules > 0);
    }
    journal_put(f, HTW_MINUTE, "b");
    journal_advance_to(f, HTW_HOUR);
    fixture_of_calls = NULL;
    assert_string_equal(journal_texts(f), "b a");
    assert_int_equal(unlocked_reschedules, 0);
}

/* ---- a scheduler that refuses */

JOURNAL_TEST(journal_asks_a_scheduler_that_has_stopped_no_more) {
    journal_open(f);
    watch_calls(f);
    refusal = -ESHUTDOWN;
    journal_put(f, 2 * HTW_SECOND, "a");
    journal_put(f, HTW_SECOND, "b");
    fixture_of_calls = NULL;
    assert_int_equal(reschedules, 1);
}

/* The caller, which writes by itself, wakes the thread that asks again. */
JOURNAL_TEST(journal_asks_a_scheduler_without_memory_again_a_second_later) {
    journal_open(f);
    journal_put(f, 2 * HTW_SECOND, "b");
    journal_advance_to(f, 0); /* all is read */
    watch_calls(f);
    refusal = -ENOMEM;
    begin_told(keep_told);
    journal_put(f, HTW_SECOND, "a");
    refusal = 0;
    while (reschedules < 2)
        usleep(1000);
    fixture_of_calls = NULL;
    assert_told("no memory for a timer, so jobs may be late");
    journal_advance_to(f, 2 * HTW_SECOND);
    assert_string_equal(journal_texts(f), "a b");
}

/* ---- turns of writing and reading */

/* Puts jobs that are due in an hour, in one commit or few. */
static void put_many(struct journal_fixture *f, int count) {
    for (int i = 0; i < count; i++)
        assert_int_equal(
            htw_journal_put_later(f->journal, START_NS + HTW_HOUR, "a", 1, NULL, NULL, NULL), 0);
    journal_sync(f);
}

static struct journal_fixture *putter; /* puts jobs while the reader is at work */
static unsigned fetches, fetches_until_written[2];

int __real_htw__database_fetch(struct htw__database *self, uint64_t id,
                               struct htw__job_row *ret_row, struct htw__whereabouts *ret_where);
int __wrap_htw__database_fetch(struct htw__database *self, uint64_t id,
                               struct htw__job_row *ret_row, struct htw__whereabouts *ret_where);

static void is_written(void *arg, int result) {
    if (result == 0)
        *(unsigned *)arg = fetches;
}

/* In the thread of the journal. */
int __wrap_htw__database_fetch(struct htw__database *self, uint64_t id,
                               struct htw__job_row *ret_row, struct htw__whereabouts *ret_where) {
    fetches++;
    if (putter != NULL && (fetches == 100 || fetches == 500))
        (void)!htw_journal_put_later(putter->journal, HTW_NEVER_NS, "b", 1, is_written,
                                     &fetches_until_written[fetches / 500], NULL);
    return __real_htw__database_fetch(self, id, ret_row, ret_where);
}

JOURNAL_TEST(journal_writes_between_two_steps_of_the_reader_as_often_as_it_reads) {
    enum { JOBS = 1000 };
    f->options.gather_ns = 1;
    journal_open(f);
    put_many(f, JOBS);
    fetches = fetches_until_written[0] = fetches_until_written[1] = 0;
    putter = f;
    journal_advance_to(f, HTW_HOUR);
    putter = NULL;
    journal_sync(f);
    assert_int_equal(fetches, JOBS);
    assert_in_range(fetches_until_written[0], 100, 499);
    assert_in_range(fetches_until_written[1], 500, JOBS - 1);
}

/* ---- a failure while a slot waits for the reader */

static struct journal_fixture *failing; /* its next commit fails; NULL: none does */
static _Atomic unsigned reader_waits;

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees);
int __wrap_htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees);

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (failing != NULL && condition == &failing->journal->read)
        reader_waits++;
    return __real_pthread_cond_wait(condition, mutex);
}

/* After this, who waits for the reader has waited since, and only the reader or a failure wakes it. */
static void let_slot_wait_again(struct htw_journal *journal) {
    pthread_mutex_lock(&journal->mutex.mutex);
    unsigned before = reader_waits;
    pthread_cond_broadcast(&journal->read);
    pthread_mutex_unlock(&journal->mutex.mutex);
    for (int i = 0; i < 10000 && reader_waits == before; i++)
        usleep(1000);
}

static _Atomic bool is_crossing;
/* The next commit of this thread lasts until the writer waits. */
static _Thread_local struct htw_journal *crossed;

int __wrap_htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees) {
    if (crossed != NULL) {
        is_crossing = true; /* another caller hands a change in */
        assert_true(writer_waits(crossed));
        crossed = NULL;
    }
    if (failing == NULL || failing->journal == NULL)
        return __real_htw__database_commit(self, next_id, frees);
    let_slot_wait_again(failing->journal);
    self->is_distrusted = true;
    return -EIO;
}

/* Advancing would not return otherwise: a journal that has stopped reads no more. */
/* holds: journal-5 */
JOURNAL_TEST(journal_that_stops_while_a_slot_waits_for_the_reader_wakes_it) {
    enum { JOBS = 1000 };
    f->options.gather_ns = 1;
    journal_open(f);
    put_many(f, JOBS);
    fetches = 0;
    reader_waits = 0;
    begin_told(keep_told);
    putter = failing = f;
    assert_int_equal(htw_scheduler_advance(f->scheduler, HTW_HOUR - HTW_MINUTE), 0);
    putter = failing = NULL;
    assert_told("the journal has stopped");
    assert_memory_equal(told.text, "2 journal: ", 11);
    assert_int_equal(htw_journal_sync(f->journal), -EIO);
    assert_in_range(fetches, 100, JOBS - 1);
    assert_true(reader_waits > 0);
    assert_int_equal(f->seen_count, 0);
}

/* ---- what nobody is told otherwise */

static struct htw_journal *calling;
static int waited;

static void wait_for_journal(enum htw_log_level level, const char *subsystem, const char *message) {
    waited = htw_journal_sync(calling);
    keep_told(level, subsystem, message); /* which the test waits for */
}

JOURNAL_TEST(journal_tells_of_a_change_that_has_failed_without_a_notice) {
    const uint64_t unknown[] = { 1000, 1001 };
    journal_open(f);
    calling = f->journal;
    begin_told(wait_for_journal);
    assert_int_equal(
        htw_journal_apply_later(f->journal, &CHANGE(.done = unknown, .done_count = 2), NULL, NULL),
        0);
    assert_int_equal(htw_journal_sync(f->journal), -ENOENT);
    assert_told("1 journal: ");
    assert_int_equal(waited, -EDEADLK);
}

/* ---- a caller that commits while another one waits */

static uint64_t second; /* a job */

static void *end_second(void *arg) {
    struct journal_fixture *f = arg;
    while (!is_crossing)
        usleep(1000);
    assert_int_equal(htw_journal_done(f->journal, second), 0);
    return NULL;
}

/* An end sets no timer, which would wake the writer, too. */
JOURNAL_TEST(journal_wakes_its_writer_when_a_caller_has_committed) {
    pthread_t other;
    journal_open(f);
    second = journal_put(f, HTW_HOUR, "b");
    journal_advance_to(f, 0); /* all is read */
    assert_int_equal(pthread_create(&other, NULL, end_second, f), 0);
    for (int i = 0; i < 1000 && !is_crossing; i++) {
        uint64_t first = journal_put(f, HTW_HOUR, "a");
        crossed = f->journal; /* unless the writer has not finished yet, the caller commits */
        assert_int_equal(htw_journal_done(f->journal, first), 0);
        crossed = NULL;
    }
    assert_true(is_crossing);
    pthread_join(other, NULL);
}

/* ---- jobs that are put while others are read */

static struct journal_fixture *crowd; /* puts many jobs while the reader scans; NULL: does not */

enum { CROWD = 30 };

int64_t __real_htw__database_scan(struct htw__database *self, struct htw__scan *scan,
                                  struct htw__scan_row *rows, size_t capacity);
int64_t __wrap_htw__database_scan(struct htw__database *self, struct htw__scan *scan,
                                  struct htw__scan_row *rows, size_t capacity);

/* In the thread of the journal, which commits them before the end of the scan. */
static void put_crowd(struct journal_fixture *f) {
    struct htw_job jobs[CROWD];
    for (size_t i = 0; i < CROWD; i++)
        jobs[i] = JOB(.deadline_ns = START_NS + HTW_HOUR + HTW_SECOND);
    (void)!htw_journal_apply_later(f->journal, &CHANGE(.jobs = jobs, .job_count = CROWD), NULL,
                                   NULL);
}

int64_t __wrap_htw__database_scan(struct htw__database *self, struct htw__scan *scan,
                                  struct htw__scan_row *rows, size_t capacity) {
    if (crowd != NULL) {
        put_crowd(crowd);
        crowd = NULL;
    }
    return __real_htw__database_scan(self, scan, rows, capacity);
}

/* Memory has no room for them. */
/* holds: journal-7 */
JOURNAL_TEST(journal_jobs_that_are_put_during_a_scan_come_once) {
    enum { JOBS = 10 };
    f->options.gather_ns = 1;
    f->options.max_memory = CROWD * sizeof(struct htw__job);
    journal_open(f);
    for (int i = 0; i < JOBS; i++)
        journal_put(f, HTW_HOUR, "");
    crowd = f;
    journal_advance_to(f, HTW_HOUR - HTW_MINUTE);
    assert_null(crowd);
    assert_int_equal(journal_stats(f).jobs, JOBS + CROWD);
    journal_advance_to(f, HTW_HOUR + HTW_MINUTE);
    assert_int_equal(f->seen_count, JOBS + CROWD);
    assert_int_equal(journal_stats(f).jobs, 0);
}

/* ---- when a caller may commit by itself */

/* A journal in which nothing is to be done. */
static struct htw_journal *idle_journal(void) {
    static struct htw__sqlite sqlite;
    static struct htw_journal journal;
    sqlite.log = (struct htw__log) { .checkpoint_at = 1 };
    journal = (struct htw_journal) { .database.sqlite = &sqlite,
                                     .slot_count = 1,
                                     .reader.next_bucket = HTW__BUCKET_NONE,
                                     .guest.look_ns = HTW_NEVER_NS };
    assert_true(htw__writer_is_idle(&journal));
    return &journal;
}

/* Callers that commit one change after the other would keep the database from a writer that waits for it. Changes are
   made in their order, and several callers share a commit. */
UNIT_TEST(commit_is_left_to_the_writer_where_there_is_more_to_do) {
    for (int i = 0; i < 6; i++) {
        struct htw_journal *journal = idle_journal();
        struct htw__change change;
        journal->writer_waits = i == 0;
        journal->reader.is_scanning = i == 1;
        journal->database.sqlite->log.pages = i == 2;
        journal->is_in_use = i == 3;
        journal->first = i == 4 ? &change : NULL;
        journal->last_callers = i == 5 ? 2 : 1;
        assert_false(htw__writer_is_idle(journal));
    }
}
