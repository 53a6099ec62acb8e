/* SPDX-License-Identifier: MIT */
/* test_threads.c - real threads and the real clock: group commit, parallel delivery, a stop. */
#include "journal_fixture.h"

#include <sched.h>
#include <stdatomic.h>

#define THREADS 8
#define PER_THREAD 200

static void use_real_time(struct journal_fixture *f, uint32_t workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    assert_int_equal(htw_scheduler_destroy(f->scheduler), 0);
    options.workers = workers > 0
                          ? workers
                          : HTW_NO_WORKERS; /* and the default clock, which is not the wall clock */
    assert_int_equal(htw_scheduler_create(&f->scheduler, &options), 0);
}

static bool await_seen(struct journal_fixture *f, size_t count) {
    for (int i = 0; i < 3000; i++) {
        pthread_mutex_lock(&f->mutex);
        size_t seen = f->seen_count;
        pthread_mutex_unlock(&f->mutex);
        if (seen >= count)
            return true;
        usleep(10000);
    }
    return false;
}

/* Waits until what was seen is done, too: a job is counted at the beginning of its delivery. */
static bool await_no_jobs(struct journal_fixture *f) {
    for (int i = 0; i < 3000; i++) {
        struct htw_journal_stats stats = journal_stats(f);
        if (stats.jobs == 0 && stats.in_flight == 0)
            return true;
        usleep(10000);
    }
    return false;
}

static void *put_and_cancel(void *arg) {
    struct journal_fixture *f = arg;
    intptr_t cancelled = 0;
    for (int i = 0; i < PER_THREAD; i++) {
        uint64_t id;
        int64_t now = htw_scheduler_now_by(f->scheduler, HTW_CLOCK_REALTIME);
        int64_t deadline_ns = now + (i % 20) * HTW_MILLISECOND;
        if (htw_journal_put(f->journal, deadline_ns, "x", 1, &id) != 0)
            return (void *)-1;
        if (i % 4 == 0) {
            int result = htw_journal_cancel(f->journal, id);
            if (result != 0 && result != -EALREADY && result != -ENOENT)
                return (void *)-1;
            cancelled += result == 0;
        }
    }
    return (void *)cancelled;
}

static void run_threads(struct journal_fixture *f) {
    pthread_t threads[THREADS];
    size_t cancelled = 0;
    bool failed = false;
    journal_open(f);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_cancel, f), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed = failed || (intptr_t)result < 0;
        cancelled += (size_t)(intptr_t)result;
    }
    assert_false(failed);
    assert_true(await_seen(f, THREADS * PER_THREAD - cancelled));
    assert_true(await_no_jobs(f));
    struct htw_journal_stats stats = journal_stats(f);
    assert_int_equal(f->seen_count, THREADS * PER_THREAD - cancelled);
    assert_int_equal(stats.delivered, f->seen_count);
    assert_int_equal(stats.cancelled, cancelled);
    assert_true(stats.commits < stats.put + stats.done); /* callers share commits */
    journal_close(f);
}

/* holds: journal-6 */
JOURNAL_TEST(journal_threads_put_and_cancel_and_each_job_is_delivered_or_cancelled) {
    use_real_time(f, 4);
    f->options.parallel = 4;
    run_threads(f);
    strcat(f->path, "-of-a-program"); /* which the writer looks into again and again */
    journal_execute(f, "PRAGMA journal_mode = WAL");
    f->options.is_guest = true;
    f->options.inbox_ns = HTW_MILLISECOND;
    f->seen_count = 0;
    run_threads(f);
}

/* Nothing but a slot wakes the writer, since no job ends. */
/* holds: journal-8 */
JOURNAL_TEST(journal_reads_what_memory_had_no_room_for_when_others_were_delivered) {
    enum { JOBS = 300 };
    use_real_time(f, 1);
    f->options.max_memory = 16 << 10;
    f->keeps = true;
    journal_open(f);
    int64_t now = htw_scheduler_now_by(f->scheduler, HTW_CLOCK_REALTIME);
    for (int i = 0; i < JOBS; i++)
        journal_put(f, now + HTW_SECOND - START_NS, "x");
    assert_true(journal_stats(f).in_memory < JOBS);
    assert_true(await_seen(f, JOBS));
}

/* ---- a full queue */

struct flood {
    struct journal_fixture *f;
    bool waits; /* for each put */
    _Atomic bool stop;
};

/* One change after the other: a caller that is alone commits by itself, but not where test_rules.c says. */
static void *put_without_end(void *arg) {
    struct flood *flood = arg;
    while (!flood->stop) {
        int result = flood->waits ? htw_journal_put(flood->f->journal, HTW_NEVER_NS, "x", 1, NULL)
                                  : htw_journal_put_later(flood->f->journal, HTW_NEVER_NS, "x", 1,
                                                          NULL, NULL, NULL);
        if (result != 0 && result != -EAGAIN) /* little memory, in which `done` waits */
            return (void *)-1;
        if (result != 0)
            sched_yield();
    }
    return NULL;
}

/* If the reader waited for an empty queue, or for a file that nobody uses, advancing would not return. */
JOURNAL_TEST(journal_reads_jobs_while_threads_put_without_end) {
    static const struct {
        unsigned threads, jobs;
        bool waits;
        uint64_t max_memory;
    } rows[] = { { 2, 20, false, 1 << 20 }, { 1, 500, true, 4096 /* many steps of reading */ } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct flood flood = { .f = f, .waits = rows[i].waits };
        pthread_t threads[2];
        f->options.max_memory = rows[i].max_memory;
        journal_open(f);
        for (unsigned j = 0; j < rows[i].jobs; j++)
            journal_put(f, (1 + (int64_t)i) * HTW_HOUR, "far");
        for (unsigned j = 0; j < rows[i].threads; j++)
            assert_int_equal(pthread_create(&threads[j], NULL, put_without_end, &flood), 0);
        while (journal_stats(f).put < (rows[i].waits ? 1000 : 10000))
            usleep(1000);
        journal_advance_to(f, (1 + (int64_t)i) * HTW_HOUR);
        flood.stop = true;
        for (unsigned j = 0; j < rows[i].threads; j++) {
            void *failure;
            pthread_join(threads[j], &failure);
            assert_null(failure);
        }
        assert_int_equal(f->seen_count, rows[i].jobs);
        f->seen_count = 0;
        journal_close(f);
        unlink(f->path);
    }
}

/* ---- parallel */

static _Atomic unsigned inside, most;
static _Atomic bool open_gate;

static void stay(struct journal_fixture *f, const struct htw_delivery *delivery) {
    (void)f, (void)delivery;
    unsigned now = ++inside;
    for (unsigned seen = most; now > seen && !atomic_compare_exchange_weak(&most, &seen, now);)
        ;
    while (!open_gate)
        usleep(1000);
    inside--;
}

/* holds: journal-9 */
JOURNAL_TEST(journal_delivers_as_many_at_once_as_the_option_says) {
    use_real_time(f, 4);
    f->options.parallel = 3;
    f->act = stay;
    inside = most = 0;
    open_gate = false;
    journal_open(f);
    for (int i = 0; i < 20; i++)
        assert_int_equal(htw_journal_put(f->journal, 0, "x", 1, NULL), 0);
    for (int i = 0; i < 3000 && most < 3; i++)
        usleep(1000);
    usleep(20000);
    open_gate = true;
    assert_true(await_seen(f, 20));
    assert_int_equal(most, 3);
}

/* ---- opening */

enum { ROUNDS = 20 };

struct opener {
    struct journal_fixture *f;
    pthread_barrier_t *start;
    unsigned opened;
    int error; /* another one than that the file is open */
};

static void *open_again_and_again(void *arg) {
    struct opener *self = arg;
    pthread_barrier_wait(self->start);
    for (int i = 0; i < ROUNDS && self->error == 0; i++) {
        struct htw_journal *journal;
        int error = htw_journal_open(&journal, NULL, self->f->path, NULL);
        self->opened += error == 0;
        if (error == 0)
            error = htw_journal_close(journal);
        if (error != -EBUSY)
            self->error = error;
    }
    return NULL;
}

/* The lock of a file keeps other processes away, and not other threads. */
/* holds: journal-12 */
JOURNAL_TEST(journal_is_opened_by_one_of_the_threads_that_try) {
    struct opener openers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    unsigned opened = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        openers[i] = (struct opener) { f, &start, 0, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, open_again_and_again, &openers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(openers[i].error, 0);
        opened += openers[i].opened;
    }
    assert_true(opened > 0);
    pthread_barrier_destroy(&start);
}

/* ---- a close */

static int lease_result;

static void ignore(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg, (void)result, (void)delivery;
}

static void wait_for_lease(struct journal_fixture *f, const struct htw_delivery *delivery) {
    const char *queue = "q";
    const struct htw_lease lease =
        LEASE(.queues = &queue, .queue_count = 1, .wait_until_ns = HTW_NEVER_NS);
    lease_result = htw_journal_lease(delivery->journal, &lease, ignore, f);
}

/* The close waits for `deliver`, and that for its lease. No call of this thread wakes the writer, which ends that. */
JOURNAL_TEST(journal_that_is_closed_by_the_thread_that_processes_ends_leases) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    use_real_time(f, 1);
    f->act = wait_for_lease;
    journal_open(f);
    assert_int_equal(htw_journal_put(f->journal, 0, "x", 1, NULL), 0);
    while (htw_journal_get_queue(f->journal, "q", &stats) != 0 || stats.waiting == 0)
        usleep(1000);
    assert_int_equal(htw_journal_process(f->journal, 0), 0);
    assert_int_equal(htw_journal_close(f->journal), 0);
    f->journal = NULL;
    assert_int_equal(lease_result, -ESHUTDOWN);
}

/* ---- a scheduler that was stopped */

/* holds: journal-15 */
JOURNAL_TEST(journal_whose_scheduler_was_stopped_accepts_and_closes) {
    use_real_time(f, 2);
    journal_open(f);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    assert_int_equal(htw_journal_put(f->journal, 0, "x", 1, NULL), 0);
    journal_close(f);
    assert_int_equal(journal_try_open(f), -ESHUTDOWN);
    assert_null(f->journal);
}

/* ---- a thread that ends inside a call */

static void *wait_for_put(void *arg) {
    struct journal_fixture *f = arg;
    return (void *)(intptr_t)htw_journal_put(f->journal, START_NS, "x", 1, NULL);
}

/* holds: journal-17 */
JOURNAL_TEST(journal_put_of_a_cancelled_thread_is_finished) {
    journal_open(f);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_put, f), 0);
        sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    journal_sync(f);
    uint64_t jobs = journal_stats(f).jobs;
    journal_advance_to(f, 0);
    assert_int_equal(f->seen_count, jobs);
}
