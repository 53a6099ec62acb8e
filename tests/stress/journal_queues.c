/* SPDX-License-Identifier: MIT */
/*
 * journal_queues - threads that put jobs into queues, lease them, and end, release, bury, move, cancel or forget them,
 * while others kick, pause and look: each job ends once, no job is leased twice at once, none stays.
 *
 *     stress_journal_queues SECONDS
 */
/* holds: journal-10a */
#include "../support/test_folder.h"
#include "stress.h"

#include <htw/journal.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    JOBS_MAX = 100000,
    WAITING_MAX = 2000, /* producers rest while so many jobs have not ended */
    PRODUCERS = 2,
    CONSUMERS = 4,
    MEDDLERS = 1,
    QUEUES = 4,
    PRIORITIES = 3,
    FORGOTTEN_NS = 20 * HTW_MILLISECOND, /* a lease */
};

static const char *const names[QUEUES] = { NULL, "mail", "payments", "thumbnails" };

/* A job, by its number, which is its payload. */
static struct {
    _Atomic uint64_t id;
    _Atomic int64_t leased_until_ns; /* 0: not leased, or its state is about to change */
    _Atomic uint32_t attempt;
    _Atomic bool has_ended;
} jobs[JOBS_MAX];
static _Atomic uint64_t put, ended, leases, expired, requests, answers;
static _Atomic bool is_stopping;
static _Atomic unsigned producers = PRODUCERS;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;

static int64_t now_ns(void) {
    return htw_scheduler_now_by(scheduler, HTW_CLOCK_REALTIME);
}

static void must(int result, const char *what) {
    if (result < 0)
        stress_fail(__FILE__, __LINE__, "%s: %d: %s", what, result, htw_journal_error());
}

static void end(uint32_t number) {
    CHECK(!atomic_exchange(&jobs[number].has_ended, true));
    ended++;
}

/* ---- producers */

static void produce(struct stress_thread *thread) {
    while (stress_goes_on()) {
        if (put - ended > WAITING_MAX || put >= JOBS_MAX - PRODUCERS) {
            stress_sleep_ns(HTW_MILLISECOND);
            continue;
        }
        uint32_t number = (uint32_t)put++;
        struct htw_job job = HTW_JOB_INIT;
        struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
        job.queue = names[random_below(&thread->random, QUEUES)];
        job.priority = (uint32_t)random_below(&thread->random, PRIORITIES);
        job.payload = &number;
        job.payload_size = sizeof(number);
        if (random_one_in(&thread->random, 2))
            job.deadline_ns =
                now_ns() + (int64_t)random_below(&thread->random, 20 * HTW_MILLISECOND);
        change.jobs = &job;
        change.job_count = 1;
        must(htw_journal_apply(journal, &change), "apply");
        jobs[number].id = job.id;
    }
    producers--;
}

static bool has_more(void) {
    return producers > 0 || ended < put;
}

/* ---- consumers */

struct lease {
    uint32_t number, attempt;
    uint64_t id;
    int64_t end_ns;
};

static void begin_lease(struct lease *lease, const struct htw_delivery *delivery) {
    CHECK_EQUAL(delivery->payload_size, sizeof(lease->number));
    memcpy(&lease->number, delivery->payload, sizeof(lease->number));
    lease->attempt = delivery->attempt;
    lease->id = delivery->id;
    lease->end_ns = delivery->lease_end_ns;
    CHECK(!jobs[lease->number].has_ended);
    CHECK(atomic_exchange(&jobs[lease->number].attempt, lease->attempt) < lease->attempt);
    CHECK(atomic_exchange(&jobs[lease->number].leased_until_ns, lease->end_ns) <= now_ns());
    leases++;
}

/* A step of the job under its lease, which may have ended meanwhile. */
static struct htw_job_update step_of(const struct lease *lease, enum htw_job_step step) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    int64_t until_ns = lease->end_ns;
    update.id = lease->id;
    update.attempt = lease->attempt;
    update.step = step;
    (void)atomic_compare_exchange_strong(&jobs[lease->number].leased_until_ns, &until_ns, 0);
    return update;
}

static void check_result(const struct lease *lease, int result, const char *what) {
    bool is_late = now_ns() >= lease->end_ns;
    if (result == 0 || (is_late && (result == -ESTALE || result == -ENOENT)))
        return;
    stress_fail(__FILE__, __LINE__, "%s: %d: %s", what, result, htw_journal_error());
}

static bool see_state(void *context, const struct htw_job_info *info) {
    *(enum htw_job_state *)context = info->state;
    return true;
}

/* A look sees what this thread was told. */
static void check_look(const struct lease *lease, bool has_ended) {
    enum htw_job_state state = HTW_JOB_DONE;
    int result = htw_journal_peek(journal, lease->id, see_state, &state);
    if (has_ended)
        CHECK_EQUAL(result, -ENOENT);
    else
        CHECK((result == 0 && state == HTW_JOB_LEASED) || now_ns() >= lease->end_ns);
}

static void update(const struct lease *lease, enum htw_job_step step, int64_t deadline_ns) {
    struct htw_job_update update = step_of(lease, step);
    update.deadline_ns = deadline_ns;
    check_result(lease, htw_journal_update(journal, &update), "update");
}

static void finish(const struct lease *lease) {
    struct htw_job_update update = step_of(lease, HTW_JOB_END);
    int result = htw_journal_update(journal, &update);
    check_result(lease, result, "end");
    if (result != 0)
        return;
    end(lease->number);
    check_look(lease, true);
}

static void consume_lease(struct stress_thread *thread, const struct lease *lease) {
    check_look(lease, false);
    int64_t soon_ns = now_ns() + (int64_t)random_below(&thread->random, 5 * HTW_MILLISECOND);
    switch (is_stopping ? 0 : random_below(&thread->random, 8)) {
    case 0:
    case 1:
    case 2:
        finish(lease);
        break;
    case 3:
        update(lease, HTW_JOB_RELEASE, soon_ns);
        break;
    case 4:
        update(lease, HTW_JOB_BURY, INT64_MIN);
        break;
    case 5: {
        struct lease longer = *lease;
        struct htw_job_update extend = step_of(lease, HTW_JOB_EXTEND);
        longer.end_ns = extend.deadline_ns = now_ns() + HTW_MINUTE;
        int result = htw_journal_update(journal, &extend);
        check_result(lease, result, "extend");
        if (result == 0)
            finish(&longer);
        break;
    }
    default: /* its lease ends by itself */
        expired++;
        break;
    }
}

static void take(void *arg, int result, const struct htw_delivery *delivery) {
    if (result == 0)
        begin_lease(arg, delivery);
}

static void note_end(void *arg, int result) {
    struct lease *lease = arg;
    if (result == 0)
        end(lease->number);
    else if (result != -ESTALE && result != -ENOENT)
        stress_fail(__FILE__, __LINE__, "an end in a notice: %d: %s", result, htw_journal_error());
    free(lease);
}

/* In the thread that writes. */
static void answer(void *arg, int result, const struct htw_delivery *delivery) {
    struct lease *lease = arg;
    if (result == 0) {
        begin_lease(lease, delivery);
        struct htw_job_update update = step_of(lease, HTW_JOB_END);
        must(htw_journal_update_later(journal, &update, note_end, lease), "update_later");
    } else if (result == -ETIMEDOUT || result == -ECANCELED) {
        free(lease);
    } else {
        stress_fail(__FILE__, __LINE__, "a lease: %d: %s", result, htw_journal_error());
    }
    answers++;
}

static void ask_later(struct stress_thread *thread, const struct htw_lease *wanted) {
    struct lease *lease = malloc(sizeof(*lease));
    uint64_t request;
    CHECK(lease != NULL);
    requests++;
    must(htw_journal_lease_later(journal, wanted, answer, lease, &request), "lease_later");
    if (random_one_in(&thread->random, 4)) {
        int result = htw_journal_lease_cancel(journal, request);
        CHECK(result == 0 || result == -ENOENT);
    }
}

static void consume(struct stress_thread *thread) {
    while (has_more()) {
        const char *queues[QUEUES];
        struct htw_lease wanted = HTW_LEASE_INIT;
        uint64_t first = random_below(&thread->random, QUEUES);
        wanted.queue_count = 1 + random_below(&thread->random, QUEUES);
        for (size_t i = 0; i < wanted.queue_count; i++)
            queues[i] = names[(first + i) % QUEUES];
        wanted.queues = queues;
        wanted.is_durable = random_one_in(&thread->random, 4);
        wanted.lease_ns = random_one_in(&thread->random, 2) ? FORGOTTEN_NS : 5 * FORGOTTEN_NS;
        wanted.wait_until_ns = now_ns() + (int64_t)random_below(&thread->random, FORGOTTEN_NS);
        if (random_one_in(&thread->random, 4)) {
            ask_later(thread, &wanted);
            continue;
        }
        struct lease lease;
        int result = htw_journal_lease(journal, &wanted, take, &lease);
        if (result == 0)
            consume_lease(thread, &lease);
        else
            CHECK_EQUAL(result, -ETIMEDOUT);
    }
}

/* ---- others */

static bool look_at(void *context, const struct htw_job_info *info) {
    uint32_t number;
    (void)context;
    CHECK_EQUAL(info->payload_size, sizeof(number));
    memcpy(&number, info->payload, sizeof(number));
    CHECK(number < JOBS_MAX);
    return true;
}

static void look(struct stress_thread *thread, const char *queue) {
    struct htw_list_place place = { { 0 } };
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    enum htw_job_state state = (enum htw_job_state)random_below(&thread->random, 4);
    must(htw_journal_list(journal, queue, state, &place, 100, look_at, NULL), "list");
    int result = htw_journal_get_queue(journal, queue, &stats);
    CHECK(result == 0 || result == -ENOENT);
}

/* A job that is leased, has ended, or has not been put wholly, is left alone. */
static void meddle_with_a_job(struct stress_thread *thread) {
    if (put == 0)
        return;
    uint32_t number = (uint32_t)random_below(&thread->random, put);
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = jobs[number].id;
    if (update.id == 0)
        return;
    bool cancels = random_one_in(&thread->random, 2);
    update.step = cancels ? HTW_JOB_CANCEL : HTW_JOB_MOVE;
    update.deadline_ns = now_ns() + (int64_t)random_below(&thread->random, FORGOTTEN_NS);
    int result = htw_journal_update(journal, &update);
    if (result == 0 && cancels)
        end(number);
    CHECK(result == 0 || result == -EALREADY || result == -ENOENT);
}

static void meddle(struct stress_thread *thread) {
    while (has_more()) {
        const char *queue = names[random_below(&thread->random, QUEUES)];
        switch (random_below(&thread->random, 5)) {
        case 0:
            must(htw_journal_kick(journal, queue, 50), "kick");
            break;
        case 1:
            must(htw_journal_pause(journal, queue,
                                   now_ns() + (is_stopping ? 0 : 3 * HTW_MILLISECOND)),
                 "pause");
            break;
        case 2:
            look(thread, queue);
            break;
        default:
            meddle_with_a_job(thread);
            break;
        }
    }
}

static void work(struct stress_thread *thread) {
    if (thread->index < PRODUCERS)
        produce(thread);
    else if (thread->index < PRODUCERS + CONSUMERS)
        consume(thread);
    else if (thread->index < PRODUCERS + CONSUMERS + MEDDLERS)
        meddle(thread);
    else {
        while (stress_goes_on())
            stress_sleep_ns(10 * HTW_MILLISECOND);
        is_stopping = true;
    }
}

int main(int argc, char *argv[]) {
    char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 16];
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.max_memory = 256 << 10; /* so that some jobs are in the file alone */
    stress_begin(argc, argv, 1);
    stress_part("queues");
    CHECK(test_folder_create(folder));
    snprintf(path, sizeof(path), "%s/journal", folder);
    scheduler = stress_create(NULL);
    must(htw_journal_open(&journal, scheduler, path, &options), "open");
    stress_run(PRODUCERS + CONSUMERS + MEDDLERS + 1, work, NULL);
    stress_await(&answers, requests);
    must(htw_journal_sync(journal), "sync");
    must(htw_journal_get_stats(journal, &stats), "get_stats");
    CHECK_EQUAL(stats.jobs, 0);
    CHECK_EQUAL(stats.put, put);
    CHECK_EQUAL(stats.done + stats.cancelled, put);
    for (unsigned i = 0; i < QUEUES; i++) {
        struct htw_queue_stats queue = HTW_QUEUE_STATS_INIT;
        if (htw_journal_get_queue(journal, names[i], &queue) == 0)
            CHECK_EQUAL(queue.delayed + queue.ready + queue.leased + queue.buried + queue.waiting,
                        0);
    }
    must(htw_journal_close(journal), "close");
    stress_finish(scheduler);
    (void)test_folder_remove(folder);
    printf("stress_journal_queues: %" PRIu64 " jobs, %" PRIu64 " leases, %" PRIu64
           " forgotten: ok\n",
           (uint64_t)put, (uint64_t)leases, (uint64_t)expired);
    return 0;
}
