/* SPDX-License-Identifier: MIT */
/* test_memory.c - no memory, at each allocation of the journal and of SQLite. */
#include "../../../src/journal/queue.h"
#include "../../support/collisions.h"
#include "../../support/failing_calls.h"
#include "journal_fixture.h"

#include <sqlite3.h>

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

static bool says_so(void) {
    return strstr(htw_journal_error(), "memory") != NULL;
}

/* A call that is refused memory has changed nothing, and can be made again. */
#define INSIST(answer, call)                                                                  \
    do {                                                                                      \
        uint64_t queues = journal_stats(f).queues;                                            \
        int result = (call);                                                                  \
        if (result == -ENOMEM && says_so() && journal_stats(f).queues == queues)              \
            result = (call);                                                                  \
        if (result != (answer))                                                               \
            fail_msg("refusal %ld, %s: %d: %s", refusal, #call, result, htw_journal_error()); \
    } while (0)

static long refusal; /* which allocation is refused */

static bool see(void *context, const struct htw_job_info *info) {
    (void)context, (void)info;
    return true;
}

static void note(void *arg, int result) {
    *(int *)arg = result;
}

/* In a block of its own, which memory releases with the first lease. */
static const char payload[1000] = "q";

static void leased(void *arg, int result, const struct htw_delivery *delivery) {
    *(bool *)arg = result == 0 && delivery->payload_size == sizeof(payload) &&
                   memcmp(delivery->payload, payload, sizeof(payload)) == 0;
}

/* A job that was leased to a request that could not be told is leased again when that lease has ended. */
static void lease(struct journal_fixture *f, bool is_durable) {
    bool is_told = false;
    int result = -ETIMEDOUT;
    for (int i = 0; i < 9 && !is_told; i++) {
        result = journal_lease_one(f->journal, "q", is_durable, leased, &is_told);
        if (result != -ETIMEDOUT && !(result == -ENOMEM && says_so()))
            break;
        assert_int_equal(htw_scheduler_advance(f->scheduler, HTW_MINUTE), 0);
        (void)!htw_journal_sync(f->journal); /* the lease ends by a change */
    }
    if (!is_told)
        fail_msg("refusal %ld, a lease: %d: %s", refusal, result, htw_journal_error());
}

static void use_queue(struct journal_fixture *f) {
    struct htw_job job = JOB(.queue = "q", .payload = payload, .payload_size = sizeof(payload));
    struct htw_queue_policy policy = HTW_QUEUE_POLICY_INIT;
    struct htw_list_place place = { { 0 } };
    policy.initial_ns = policy.cap_ns = HTW_SECOND;
    INSIST(0, journal_put_job(f->journal, &job));
    INSIST(0, htw_journal_set_policy(f->journal, "q", &policy));
    INSIST(0, htw_journal_pause(f->journal, "q", 0));
    lease(f, true);
    INSIST(0, journal_update(f, job.id, HTW_JOB_RELEASE, 0));
    lease(f, false);
    INSIST(0, journal_update(f, job.id, HTW_JOB_EXTEND, INT64_MIN));
    lease(f, false);
    INSIST(0, journal_update(f, job.id, HTW_JOB_RELEASE, HTW_NEVER_NS));
    INSIST(1, htw_journal_kick(f->journal, "q", 1));
    INSIST(0, journal_update(f, job.id, HTW_JOB_BURY, 0));
    INSIST(1, htw_journal_list(f->journal, "q", HTW_JOB_BURIED, &place, 3, see, NULL));
    INSIST(1, htw_journal_kick(f->journal, "q", 1));
    INSIST(0, htw_journal_done(f->journal, job.id));
    policy.initial_ns = policy.cap_ns = 0;
    INSIST(0, htw_journal_set_policy(f->journal, "q", &policy));
}

enum { DELIVERED = 2 };

/* A bit of everything. */
static void make_changes(struct journal_fixture *f) {
    uint64_t id = 0;
    int durable = 1;
    struct htw_job jobs[] = { JOB(.deadline_ns = START_NS + HTW_HOUR, TEXT("b")),
                              JOB(.deadline_ns = START_NS + HTW_HOUR, KEY("k")) };
    INSIST(0, htw_journal_put(f->journal, START_NS + HTW_SECOND, "a", 1, &id));
    INSIST(0, htw_journal_apply(
                  f->journal, &CHANGE(.done = &id, .done_count = 1, .jobs = jobs, .job_count = 2)));
    INSIST(0, htw_journal_cancel(f->journal, jobs[1].id));
    use_queue(f);
    while (durable != 0) {
        INSIST(0, htw_journal_put_later(f->journal, START_NS + HTW_MINUTE, "c", 1, note, &durable,
                                        &id));
        INSIST(0, htw_journal_sync(f->journal));
        assert_true(durable == 0 || durable == -ENOMEM);
    }
}

/* One round, in which the n-th allocation is refused. Returns whether one was. */
static bool run_round(struct journal_fixture *f, void (*refuse)(struct journal_fixture *, long),
                      long nth) {
    char command[200];
    snprintf(command, sizeof(command), "rm -f %s*", f->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, START_NS), 0);
    f->seen_count = 0;
    refusal = nth;
    refuse(f, nth);
    int error = journal_try_open(f);
    if (error == 0) {
        make_changes(f);
        assert_int_equal(htw_scheduler_advance(f->scheduler, 2 * HTW_HOUR), 0);
        refuse(f, 0);
        assert_true(f->seen_count <= DELIVERED);
        while (f->seen_count < DELIVERED) { /* the reader tries again */
            usleep(10000);
            assert_int_equal(htw_scheduler_advance(f->scheduler, 0), 0);
        }
        (void)!htw_journal_sync(f->journal); /* a done may have been refused */
        assert_int_equal(journal_stats(f).queues, 1);
        assert_int_equal(journal_stats(f).requests, 0);
        (void)htw_journal_close(f->journal);
        f->journal = NULL;
    } else {
        refuse(f, 0);
        assert_int_equal(error, -ENOMEM);
        assert_true(says_so());
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
    assert_all_released(&memory);
}
