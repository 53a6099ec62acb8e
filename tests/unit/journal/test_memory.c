/* SPDX-License-Identifier: MIT */
/* test_memory.c - no memory, at each allocation of the journal and of SQLite. */
#include "../../../src/journal/queue.h"
#include "../../support/collisions.h"
#include "../../support/failing_calls.h"
#include "journal_fixture.h"

#include <htw/loop.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- SQLite's allocations */

static sqlite3_mem_methods system_memory;

static void *sqlite_malloc(int size) {
    return failing_call(0) ? NULL : system_memory.xMalloc(size);
}

static void *sqlite_realloc(void *memory, int size) {
    return failing_call(0) ? NULL : system_memory.xRealloc(memory, size);
}

__attribute__((constructor)) static void intercept(void) {
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
    sqlite3_mem_methods methods = system_memory;
    methods.xMalloc = sqlite_malloc;
    methods.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

/* ---- what is tried */

static bool is_expected(int error) {
    return error == 0 || error == -ENOMEM;
}

static bool see(void *context, const struct htw_job_info *info) {
    (void)context, (void)info;
    return true;
}

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    (void)arg, (void)result, (void)delivery;
}

/* A bit of everything. What was answered with 0 is counted in `ret_jobs`. False: another error than
   that of no memory. */
static bool make_changes(struct journal_fixture *f, uint64_t *ret_jobs) {
    uint64_t id;
    struct htw_job jobs[] = { JOB(.deadline_ns = START_NS + HTW_HOUR, TEXT("b")),
                              JOB(.deadline_ns = START_NS + HTW_HOUR, KEY("k")) };
    *ret_jobs = 0;
    int put = htw_journal_put(f->journal, START_NS + HTW_SECOND, "a", 1, &id);
    *ret_jobs += put == 0;
    const struct htw_journal_change change =
        CHANGE(.done = put == 0 ? &id : NULL, .done_count = put == 0, .jobs = jobs, .job_count = 2);
    int apply = htw_journal_apply(f->journal, &change);
    if (apply == 0)
        *ret_jobs += 2 - change.done_count;
    uint64_t last = apply == 0 ? jobs[1].id : id;
    int cancel = apply == 0 || put == 0 ? htw_journal_cancel(f->journal, last) : 0;
    *ret_jobs -= cancel == 0 && (apply == 0 || put == 0);
    struct htw_list_place place = { { 0 } };
    int list = htw_journal_list(f->journal, NULL, HTW_JOB_DELAYED, &place, 3, see, NULL);
    int lease = journal_lease_one(f->journal, "q", true, leased, NULL);
    int later = htw_journal_put_later(f->journal, START_NS + HTW_MINUTE, "c", 1, NULL, NULL, &id);
    int sync = htw_journal_sync(f->journal);
    while (sync == -ENOMEM && later == 0) { /* its own allocation, or that of the put? */
        later = -ENOMEM;
        sync = htw_journal_sync(f->journal);
        if (journal_stats(f).jobs > *ret_jobs)
            later = 0;
    }
    *ret_jobs += later == 0;
    return is_expected(put) && is_expected(apply) && is_expected(cancel) && is_expected(later) &&
           is_expected(sync) && (list >= 0 || list == -ENOMEM) &&
           (lease == -ETIMEDOUT || is_expected(lease));
}

/* One round, in which the n-th allocation is refused. Returns whether one was. */
static bool run_round(struct journal_fixture *f, void (*refuse)(struct journal_fixture *, long),
                      long nth) {
    char command[200];
    snprintf(command, sizeof(command), "rm -f %s*", f->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, START_NS), 0);
    f->seen_count = 0;
    refuse(f, nth);
    int error = journal_try_open(f);
    if (error == 0) {
        uint64_t jobs;
        bool sound = make_changes(f, &jobs);
        int advanced = htw_scheduler_advance(f->scheduler, 2 * HTW_HOUR);
        refuse(f, 0);
        if (!sound)
            fail_msg("refusal %ld: %s", nth, htw_journal_error());
        assert_int_equal(advanced, 0);
        uint64_t seen = f->seen_count;
        while (f->seen_count < jobs) { /* the reader tries again */
            usleep(10000);
            assert_int_equal(htw_scheduler_advance(f->scheduler, 0), 0);
        }
        assert_true(seen <= jobs);
        assert_int_equal(f->seen_count, jobs);
        (void)htw_journal_close(f->journal); /* a done may have been refused */
        f->journal = NULL;
    } else {
        refuse(f, 0);
        assert_int_equal(error, -ENOMEM);
        assert_string_not_equal(htw_journal_error(), "");
    }
    assert_int_equal(f->memory.live_blocks, 0);
    bool was_refused = f->memory.refusals > 0 || failing_calls->kinds[0].failed > 0;
    f->memory.refusals = 0;
    return was_refused;
}

static void refuse_own(struct journal_fixture *f, long nth) {
    if (nth == 0)
        failing_allocator_relent(&f->memory);
    else
        failing_allocator_fail(&f->memory, (size_t)nth, false);
}

static void refuse_of_sqlite(struct journal_fixture *f, long nth) {
    (void)f;
    if (nth == 0)
        failing_calls_relent();
    else
        failing_calls_plan(0, (unsigned)nth, 0, false);
}

/* holds: journal-4 */
JOURNAL_TEST(journal_refused_memory_at_each_allocation_changes_nothing) {
    long nth = 1;
    while (run_round(f, refuse_own, nth))
        nth++;
    assert_true(nth > 10);
}

/* holds: journal-4 */
JOURNAL_TEST(journal_refused_memory_of_sqlite_changes_nothing) {
    long nth = 1, rounds = 0;
    while (run_round(f, refuse_of_sqlite, nth)) {
        rounds++;
        nth = failing_next((unsigned)nth, 40);
    }
    assert_true(rounds > 50);
}

/* A file of others may hold any ids. */
UNIT_TEST(journal_with_crafted_ids_has_short_chains) {
    struct failing_allocator memory;
    struct htw__jobs jobs;
    failing_allocator_init(&memory);
    struct htw__queues queues;
    htw__jobs_init(&jobs, &memory.allocator);
    assert_int_equal(htw__queues_init(&queues, &memory.allocator, true), 0);
    collisions_find();
    for (size_t i = 0; i < COLLISIONS; i++) {
        struct htw__job *job =
            htw__job_create(&memory.allocator, &(struct htw__job_row) { .payload = "" });
        assert_non_null(job);
        assert_int_equal(htw__jobs_attach(&jobs, job, queues.unnamed), 0);
        memcpy(&job->position.id, collisions[i], COLLISION_SIZE);
        htw__jobs_add(&jobs, job, HTW__JOB_WAITING);
        assert_ptr_equal(htw__jobs_find(&jobs, job->position.id), job);
    }
    assert_in_range(longest_chain(&jobs.by_id), 1, COLLISIONS_CHAIN_MAX);
    htw__jobs_fini(&jobs);
    htw__queues_fini(&queues);
    assert_int_equal(memory.live_blocks, 0);
    failing_allocator_fini(&memory);
}
