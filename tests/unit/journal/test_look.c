/* SPDX-License-Identifier: MIT */
/* test_look.c - peeking and listing beside commits: what a look sees, waits for, keeps, and holds up. */
#include "../../../src/journal/database/database.h"
#include "../../support/memcheck.h"
#include "journal_fixture.h"
#include "writer_waits.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

static void open_for_lease(struct journal_fixture *f, bool in_memory) {
    f->options.deliver = NULL;
    assert_int_equal(
        htw_journal_open(&f->journal, f->scheduler, in_memory ? NULL : f->path, &f->options), 0);
}

static uint64_t put_sized(struct journal_fixture *f, const char *queue, const void *payload,
                          size_t size) {
    return journal_put_struct(f, JOB(.queue = queue, .payload = payload, .payload_size = size));
}

static bool count_job(void *context, const struct htw_job_info *info) {
    (void)info;
    ++*(size_t *)context;
    return true;
}

/* The state of a job, or an error. */
static bool see_state(void *context, const struct htw_job_info *info) {
    *(int *)context = (int)info->state;
    return true;
}

static int state_of(struct journal_fixture *f, uint64_t id) {
    int state = -1, error = htw_journal_peek(f->journal, id, see_state, &state);
    return error == 0 ? state : error;
}

/* How many jobs a list shows, some at a time. */
static size_t listed(struct journal_fixture *f, enum htw_job_state state) {
    struct htw_list_place place = { { 0 } };
    size_t count = 0;
    while (htw_journal_list(f->journal, "q", state, &place, 3, count_job, &count) == 3)
        continue;
    return count;
}

/* ---- what a look sees */

static void count_problem(void *context, const char *problem) {
    (void)problem;
    ++*(size_t *)context;
}

static bool see_queue(void *context, const struct htw_queue_stats *stats) {
    if (stats->name != NULL)
        *(struct htw_queue_stats *)context = *stats;
    return true;
}

/* By the clock of the system: what was put in 2023 is due. */
JOURNAL_TEST(look_by_one_who_only_reads_sees_what_the_file_says) {
    struct journal_fixture view = { .journal = NULL };
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    size_t problems = 0;
    bool is_guest = true;
    open_for_lease(f, false);
    uint64_t ready = put_sized(f, "q", "x", 1);
    uint64_t due = put_sized(f, "q", "x", 1), never = put_sized(f, "q", "x", 1);
    assert_int_equal(journal_update(f, due, HTW_JOB_MOVE, START_NS + HTW_HOUR), 0);
    assert_int_equal(journal_update(f, never, HTW_JOB_MOVE, HTW_NEVER_NS), 0);
    assert_int_equal(htw_journal_open_to_read(&view.journal, f->path, &is_guest), 0);
    assert_false(is_guest);
    assert_int_equal(state_of(&view, due), HTW_JOB_READY);
    assert_int_equal(listed(&view, HTW_JOB_READY), 2);
    assert_int_equal(listed(&view, HTW_JOB_DELAYED), 1);
    assert_int_equal(htw_journal_list_queues(view.journal, see_queue, &stats), 0);
    assert_true(stats.delayed == 1 && stats.ready == 2 && stats.leased == 0);
    assert_int_equal(journal_update(f, ready, HTW_JOB_BURY, 0), 0); /* the file is free */
    assert_int_equal(state_of(&view, ready), HTW_JOB_BURIED);
    assert_int_equal(listed(&view, HTW_JOB_READY), 1);
    assert_int_equal(htw_journal_check(view.journal, count_problem, &problems), 0);
    assert_int_equal(problems, 0);
    assert_int_equal(htw_journal_check(f->journal, count_problem, &problems), -EINVAL);
    assert_int_equal(journal_update(&view, due, HTW_JOB_BURY, 0), -EROFS);
    assert_int_equal(htw_journal_put(view.journal, 0, "x", 1, NULL), -EROFS);
    assert_int_equal(htw_journal_close(view.journal), 0);
    assert_int_equal(htw_journal_open_to_read(&view.journal, f->folder, NULL), -EISDIR);
    strcat(f->path, "-empty");
    assert_int_equal(close(open(f->path, O_CREAT, 0600)), 0);
    assert_int_equal(htw_journal_open_to_read(&view.journal, f->path, NULL), 0);
    assert_int_equal(journal_stats(&view).jobs, 0);
    assert_int_equal(htw_journal_close(view.journal), 0);
}

static void put_buried(struct journal_fixture *f, const char *queue, uint64_t *ret_id) {
    *ret_id = put_sized(f, queue, "x", 1);
    assert_int_equal(journal_update(f, *ret_id, HTW_JOB_BURY, 0), 0);
}

static uint64_t number_of(struct journal_fixture *f, const char *name) {
    struct htw__queue *queue = NULL;
    htw__mutex_lock(&f->journal->mutex);
    assert_int_equal(htw__queues_get(&f->journal->queues, name, &queue), 0);
    uint64_t number = queue->number;
    htw__queues_drop(&f->journal->queues, queue);
    htw__mutex_unlock(&f->journal->mutex);
    return number;
}

/* The queue has ended between two parts of a list, and begun again. */
JOURNAL_TEST(look_lists_no_job_of_another_queue_that_has_got_the_number) {
    struct htw_list_place place = { { 0 } };
    size_t count = 0;
    char other[16] = "";
    uint64_t id, number = 0;
    open_for_lease(f, true);
    put_buried(f, "q", &id);
    number = number_of(f, "q");
    assert_int_equal(
        htw_journal_list(f->journal, "q", HTW_JOB_BURIED, &place, 1, count_job, &count), 1);
    assert_int_equal(journal_update(f, id, HTW_JOB_CANCEL, 0), 0);
    for (unsigned i = 0; i == 0 || number_of(f, other) != number; i++)
        snprintf(other, sizeof(other), "%u", i);
    put_buried(f, other, &id);
    put_buried(f, "q", &id);
    assert_int_equal(
        htw_journal_list(f->journal, "q", HTW_JOB_BURIED, &place, 9, count_job, &count), 0);
}

/* A change of it is being written: it is in no heap. */
JOURNAL_TEST(look_lists_jobs_that_are_held) {
    open_for_lease(f, false);
    uint64_t ids[7];
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        ids[i] = put_sized(f, "q", "x", 1);
    for (size_t i = 0; i < COUNT_OF(ids); i += 2) {
        htw__mutex_lock(&f->journal->mutex);
        htw__jobs_hold(&f->journal->jobs, htw__jobs_find(&f->journal->jobs, ids[i]));
        htw__mutex_unlock(&f->journal->mutex);
        assert_int_equal(listed(f, HTW_JOB_READY), COUNT_OF(ids));
    }
    for (size_t i = 0; i < COUNT_OF(ids); i += 2) {
        htw__mutex_lock(&f->journal->mutex);
        htw__jobs_unhold(&f->journal->jobs, htw__jobs_find(&f->journal->jobs, ids[i]));
        htw__mutex_unlock(&f->journal->mutex);
    }
    assert_int_equal(listed(f, HTW_JOB_READY), COUNT_OF(ids));
}

/* ---- what a look waits for */

/* As a commit does; the thread that writes may still be at work for the put before. */
static void take_database(struct htw_journal *journal) {
    for (bool was_free = false; !was_free; sched_yield()) {
        htw__mutex_lock(&journal->mutex);
        was_free = !journal->is_in_use;
        journal->is_in_use = true;
        htw__mutex_unlock(&journal->mutex);
    }
}

JOURNAL_TEST(look_does_not_wait_for_a_commit) {
    open_for_lease(f, false);
    uint64_t id = put_sized(f, "q", "x", 1);
    take_database(f->journal);
    int state = state_of(f, id);
    size_t count = listed(f, HTW_JOB_READY);
    htw__mutex_lock(&f->journal->mutex);
    htw__journal_release_database(f->journal);
    htw__mutex_unlock(&f->journal->mutex);
    assert_int_equal(state, HTW_JOB_READY);
    assert_int_equal(count, 1);
}

struct looker {
    struct journal_fixture *f;
    uint64_t id;
    int state;
    atomic_bool has_ended;
};

static void *look(void *arg) {
    struct looker *looker = arg;
    looker->state = state_of(looker->f, looker->id);
    atomic_store(&looker->has_ended, true);
    return NULL;
}

/* Between a commit and the lock the file is ahead of memory: a look waits until memory has followed. */
JOURNAL_TEST(look_waits_for_memory_to_follow_the_file) {
    pthread_t thread;
    open_for_lease(f, false);
    struct looker looker = { .f = f, .id = put_sized(f, "q", "x", 1) };
    struct htw_journal *journal = f->journal;
    bool waits = false;
    take_database(journal);
    journal
        ->generation--; /* which is read only by who has the database, or has the lock and waits */
    assert_int_equal(pthread_create(&thread, NULL, look, &looker), 0);
    while (!waits && !atomic_load(&looker.has_ended)) {
        sched_yield();
        htw__mutex_lock(&journal->mutex);
        waits = journal->snapshot_waits;
        htw__mutex_unlock(&journal->mutex);
    }
    htw__mutex_lock(&journal->mutex);
    journal->generation++;
    htw__journal_release_database(journal);
    htw__mutex_unlock(&journal->mutex);
    pthread_join(thread, NULL);
    assert_true(waits);
    assert_int_equal(looker.state, HTW_JOB_READY);
}

static void *cancel_beside(void *arg) {
    struct looker *other = arg;
    other->state = htw_journal_cancel(other->f->journal, other->id);
    return NULL;
}

/* As a look is, where there is no log: while it has the database the writer waits for its end, which nothing else tells. */
JOURNAL_TEST(journal_wakes_its_writer_when_one_that_looks_has_ended) {
    pthread_t thread;
    open_for_lease(f, false);
    struct looker other = { .f = f, .id = put_sized(f, "q", "x", 1) };
    take_database(f->journal);
    assert_int_equal(pthread_create(&thread, NULL, cancel_beside, &other), 0);
    bool has_waited = writer_waits(f->journal);
    htw__mutex_lock(&f->journal->mutex);
    htw__journal_release_database(f->journal);
    htw__mutex_unlock(&f->journal->mutex);
    assert_true(has_waited);
    pthread_join(thread, NULL);
    assert_int_equal(other.state, 0);
}

/* ---- what a look holds up, and keeps */

#define LARGE 100000u

struct visitor {
    struct journal_fixture *f;
    size_t visits, live_bytes; /* the most that was allocated in a visit */
    bool ends, has_failed;
};

static bool use_journal(void *context, const struct htw_job_info *info) {
    struct visitor *visitor = context;
    struct journal_fixture *f = visitor->f;
    int state = -1;
    uint64_t id;
    visitor->visits++;
    visitor->has_failed |= htw_journal_put(f->journal, START_NS + HTW_HOUR, "y", 1, &id) != 0 ||
                           htw_journal_peek(f->journal, info->id, see_state, &state) != 0 ||
                           state != (int)info->state || htw_journal_cancel(f->journal, id) != 0 ||
                           (visitor->ends && htw_journal_done(f->journal, info->id) != 0);
    return true;
}

JOURNAL_TEST(look_holds_nothing_while_a_job_is_visited) {
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        struct htw_list_place place = { { 0 } };
        struct visitor visitor = { .f = f };
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        open_for_lease(f, in_memory);
        uint64_t id = put_sized(f, "q", "x", 1);
        put_sized(f, "q", "x", 1);
        assert_int_equal(htw_journal_peek(f->journal, id, use_journal, &visitor), 0);
        visitor.ends = true;
        assert_int_equal(
            htw_journal_list(f->journal, "q", HTW_JOB_READY, &place, 9, use_journal, &visitor), 2);
        assert_int_equal(visitor.visits, 3);
        assert_false(visitor.has_failed);
        assert_int_equal(htw_journal_get_queue(f->journal, "q", &stats), -ENOENT);
        journal_close(f);
    }
}

static bool measure(void *context, const struct htw_job_info *info) {
    struct visitor *visitor = context;
    struct journal_fixture *f = visitor->f;
    if (f->memory.live_bytes > visitor->live_bytes)
        visitor->live_bytes = f->memory.live_bytes;
    visitor->visits++;
    visitor->has_failed |= info->payload_size != LARGE;
    return true;
}

/* 256 KiB, and one job above that. */
JOURNAL_TEST(look_copies_few_bytes_at_a_time) {
    static char large[LARGE];
    struct htw_list_place place = { { 0 } };
    struct visitor visitor = { .f = f };
    open_for_lease(f, false);
    for (int i = 0; i < 40; i++) {
        uint64_t id = put_sized(f, "q", large, sizeof(large));
        assert_int_equal(journal_update(f, id, HTW_JOB_BURY, 0), 0); /* not in memory */
    }
    assert_int_equal(listed(f, HTW_JOB_BURIED), 40);
    size_t before = f->memory.live_bytes;
    assert_int_equal(
        htw_journal_list(f->journal, "q", HTW_JOB_BURIED, &place, 100, measure, &visitor), 40);
    assert_int_equal(visitor.visits, 40);
    assert_false(visitor.has_failed);
    assert_true(visitor.live_bytes - before < ((size_t)256 << 10) + 2 * LARGE);
}

static bool write_much(void *context, const struct htw_job_info *info) {
    struct visitor *visitor = context;
    char text[1000];
    (void)info;
    memset(text, 'z', sizeof(text));
    for (int i = 0; i < 500; i++) {
        uint64_t id = put_sized(visitor->f, "other", text, sizeof(text));
        visitor->has_failed |= journal_update(visitor->f, id, HTW_JOB_END, 0) != 0;
    }
    visitor->visits++;
    return true;
}

/* ---- beside the writer */

static struct peeker {
    struct journal_fixture *f;
    uint64_t id;
    _Atomic bool is_over;
    sem_t told;
} peeker;

static void *peek_on(void *unused) {
    struct htw_journal *journal = peeker.f->journal;
    size_t count = 0;
    (void)unused;
    while (!atomic_load(&peeker.is_over)) {
        struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
        if (htw_journal_peek(journal, peeker.id, count_job, &count) != 0 ||
            listed(peeker.f, HTW_JOB_READY) != 1 ||
            htw_journal_get_queue(journal, "q", &stats) != 0 ||
            htw_journal_list_queues(journal, see_queue, &stats) != 0 || stats.ready != 1)
            return "a look has failed";
    }
    return NULL;
}

static void tell(void *arg, int result) {
    (void)arg, (void)result;
    sem_post(&peeker.told);
}

/* The writer goes on after a caller that commits by itself, while a look waits for memory to follow that commit. */
JOURNAL_TEST(look_leaves_no_change_behind) {
    pthread_t thread;
    void *failure;
    struct timespec end;
    f->options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    open_for_lease(f, false);
    peeker.f = f;
    peeker.id = put_sized(f, "q", "x", 1);
    atomic_store(&peeker.is_over, false);
    sem_init(&peeker.told, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, peek_on, NULL), 0);
    int rounds = RUNNING_ON_VALGRIND ? 100 : 2000; /* each takes it a tenth of a second */
    for (int i = 0; i < rounds; i++) {
        journal_put_struct(f, JOB(.queue = "q", .deadline_ns = HTW_NEVER_NS));
        assert_int_equal(htw_journal_put_later(f->journal, HTW_NEVER_NS, "z", 1, tell, NULL, NULL),
                         0);
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 60;
        if (sem_timedwait(&peeker.told, &end) != 0)
            fail_msg("the writer sleeps, after %d changes", i);
    }
    atomic_store(&peeker.is_over, true);
    pthread_join(thread, &failure);
    assert_null(failure);
}

/* A snapshot that lasts would keep the log from beginning again. */
JOURNAL_TEST(look_lets_the_log_begin_again_beside_a_slow_visit) {
    int pages = htw__log_checkpoint_pages;
    struct visitor visitor = { .f = f };
    htw__log_checkpoint_pages = 40;
    open_for_lease(f, false);
    uint64_t id = put_sized(f, "q", "x", 1);
    assert_int_equal(htw_journal_peek(f->journal, id, write_much, &visitor), 0);
    struct htw_journal_stats stats = journal_stats(f);
    htw__log_checkpoint_pages = pages;
    assert_false(visitor.has_failed);
    assert_true(stats.checkpoints > 10);
    assert_true(stats.log_bytes < 400 * 4096);
}

/* ---- without memory */
