/* SPDX-License-Identifier: MIT */
/*
 * model_journal.c - random histories of a journal in manual time beside a list that is searched from
 * end to end. Everything that is delivered is compared: which job, when, with what, in what order.
 *
 * Histories put, replace, cancel and end jobs, near and far, advance and set the clock, close and
 * open the file, with memory for few jobs and for many. Usage: arguments.h.
 */
/* holds: journal-2, journal-3, journal-6, journal-7, journal-9, journal-10, journal-18 */
#include "../support/journal_structs.h"
#include "../support/manual_time.h"
#include "../support/random.h"
#include "arguments.h"

#include <htw/journal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define JOBS_MAX 3000
#define KEYS 8

enum state { WAITING, IN_FLIGHT, ENDED };

struct model_job {
    uint64_t id;
    int64_t deadline_ns;
    enum state state;
    unsigned key; /* 0: none */
    unsigned sum; /* of the payload */
    size_t size;
};

static struct model_arguments arguments;
static struct random_source source;
static uint64_t history, steps_done;
static struct model_job jobs[JOBS_MAX];
static size_t job_count, in_flight;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static struct htw_journal_options options;
static char path[MODEL_PATH_SIZE];
static bool keeps, is_ordered;
static uint64_t delivered;
static struct model_job *last; /* delivered in this advance */

static void fail(const char *what, uint64_t id, int result) {
    fprintf(
        stderr, "--seed %llu --first %llu --histories 1, step %llu: %s: job %llx, result %d: %s\n",
        (unsigned long long)arguments.seed, (unsigned long long)history,
        (unsigned long long)steps_done, what, (unsigned long long)id, result, htw_journal_error());
    exit(1);
}

static void expect(int result, int expected, const char *what, uint64_t id) {
    if (result != expected)
        fail(what, id, result);
}

static struct model_job *job_of(uint64_t id) {
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].id == id)
            return &jobs[i];
    return NULL;
}

static bool precedes(const struct model_job *a, const struct model_job *b) {
    return a->deadline_ns < b->deadline_ns || (a->deadline_ns == b->deadline_ns && a->id < b->id);
}

static unsigned sum_of(const void *bytes, size_t size) {
    unsigned sum = 1;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + ((const unsigned char *)bytes)[i];
    return sum;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    struct model_job *job = job_of(delivery->id);
    int64_t now = htw_scheduler_now(scheduler);
    if (job == NULL || job->state != WAITING)
        fail("delivered, and does not wait", delivery->id, 0);
    if (delivery->deadline_ns != job->deadline_ns || delivery->deadline_ns > now ||
        delivery->late_ns != now - delivery->deadline_ns)
        fail("the times are wrong", delivery->id, 0);
    if (delivery->payload_size != job->size || delivery->key_size != (job->key > 0) ||
        sum_of(delivery->payload, delivery->payload_size) != job->sum ||
        (job->key > 0 && *(const char *)delivery->key != (char)job->key))
        fail("another payload or key", delivery->id, 0);
    if (is_ordered && last != NULL && precedes(job, last))
        fail("out of order", delivery->id, 0);
    last = job;
    delivered++;
    job->state = keeps ? IN_FLIGHT : ENDED;
    in_flight += keeps;
    if (!keeps)
        htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

/* All that is due has been delivered, as many as may be in flight. */
static void check_due(void) {
    int64_t now = htw_scheduler_now(scheduler);
    uint64_t left = 0;
    if (in_flight >= options.max_in_flight)
        return;
    for (size_t i = 0; i < job_count; i++) {
        if (jobs[i].state == WAITING && jobs[i].deadline_ns <= now - HTW_MILLISECOND)
            fail("due, and not delivered", jobs[i].id, 0);
        left += jobs[i].state != ENDED;
    }
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw_journal_get_stats(journal, &stats);
    if (stats.jobs != left || stats.in_flight != in_flight)
        fail("the counts are wrong", left, (int)stats.jobs);
}

/* Where few may be in flight, more are delivered when the end of these is durable. */
static void settle(void) {
    uint64_t before;
    last = NULL;
    do {
        before = delivered;
        expect(htw_journal_sync(journal), 0, "htw_journal_sync", 0);
        expect(htw_scheduler_advance(scheduler, 0), 0, "htw_scheduler_advance", 0);
    } while (delivered != before);
    check_due();
}

/* ---- the steps */

static int64_t random_deadline(void) {
    int64_t now = htw_scheduler_now(scheduler);
    switch (random_below(&source, 5)) {
    case 0:
        return HTW_NEVER_NS;
    case 1:
        return now - (int64_t)random_below(&source, HTW_HOUR);
    case 2:
        return now + (int64_t)random_below(&source, 10) * HTW_SECOND;
    case 3:
        return now + (int64_t)random_below(&source, HTW_HOUR);
    default:
        return now + (int64_t)random_below(&source, 3 * HTW_DAY);
    }
}

static void end_in_model(struct model_job *job) {
    in_flight -= job->state == IN_FLIGHT;
    job->state = ENDED;
}

static void put(void) {
    static unsigned char payload[3000];
    if (job_count == JOBS_MAX)
        return;
    struct model_job *new_job = &jobs[job_count];
    size_t size = random_one_in(&source, 10) ? random_below(&source, sizeof(payload))
                                             : random_below(&source, 40);
    for (size_t i = 0; i < size; i++)
        payload[i] = (unsigned char)random_next(&source);
    *new_job = (struct model_job) { .deadline_ns = random_deadline(),
                                    .key = random_one_in(&source, 5)
                                               ? 1 + (unsigned)random_below(&source, KEYS)
                                               : 0,
                                    .sum = sum_of(payload, size),
                                    .size = size };
    char key = (char)new_job->key;
    struct htw_job job =
        JOB(.deadline_ns = new_job->deadline_ns, .payload = payload, .payload_size = size,
            .key = key == 0 ? NULL : &key, .key_size = key != 0);
    const struct htw_journal_change change = CHANGE(.jobs = &job, .job_count = 1);
    for (size_t i = 0; i < job_count; i++)
        if (key != 0 && jobs[i].key == new_job->key && jobs[i].state != ENDED)
            end_in_model(&jobs[i]);
    if (random_one_in(&source, 2))
        expect(htw_journal_apply_later(journal, &change, NULL, NULL), 0, "apply_later", 0);
    else
        expect(htw_journal_apply(journal, &change), 0, "htw_journal_apply", 0);
    new_job->id = job.id;
    job_count++;
}

static void end(void) {
    if (job_count == 0)
        return;
    struct model_job *job = &jobs[random_below(&source, job_count)];
    bool is_cancel = random_one_in(&source, 2);
    int result =
        is_cancel ? htw_journal_cancel(journal, job->id) : htw_journal_done(journal, job->id);
    if (job->state == ENDED)
        expect(result, -ENOENT, "ended twice", job->id);
    else if (is_cancel && job->state == IN_FLIGHT)
        expect(result, -EALREADY, "cancelled in flight", job->id);
    else {
        expect(result, 0, "not ended", job->id);
        end_in_model(job);
    }
}

static void open_journal(void) {
    expect(htw_journal_open(&journal, scheduler, path, &options), 0, "htw_journal_open", 0);
}

static void close_journal(void) {
    expect(htw_journal_close(journal), 0, "htw_journal_close", 0);
    const char *problem = journal_problem_of(path);
    if (problem != NULL)
        fail(problem, 0, 0);
}

static void open_again(void) {
    close_journal();
    for (size_t i = 0; i < job_count; i++)
        if (jobs[i].state == IN_FLIGHT)
            jobs[i].state = WAITING;
    in_flight = 0;
    open_journal();
    settle();
}

static void set_clock(void) {
    last = NULL;
    expect(htw_journal_sync(journal), 0, "htw_journal_sync", 0);
    is_ordered = false;
    expect(
        htw_scheduler_set_time(scheduler, START_NS + (int64_t)random_below(&source, 5 * HTW_DAY)),
        0, "htw_scheduler_set_time", 0);
    settle();
    is_ordered = options.parallel <= 1;
}

static void advance(void) {
    uint64_t most_ns = (uint64_t)(random_one_in(&source, 3) ? HTW_DAY : HTW_MINUTE);
    expect(htw_journal_sync(journal), 0, "htw_journal_sync", 0);
    last = NULL;
    expect(htw_scheduler_advance(scheduler, (int64_t)(random_magnitude(&source) % most_ns)), 0,
           "htw_scheduler_advance", 0);
    settle();
}

static void step(void) {
    uint64_t kind = random_below(&source, 40);
    if (kind == 0)
        open_again();
    else if (kind == 1)
        set_clock();
    else if (kind < 5)
        advance();
    else if (kind < 9)
        end();
    else if (kind == 9)
        keeps = !keeps;
    else
        put();
    if (in_flight > options.max_in_flight)
        fail("too many are in flight", 0, (int)in_flight);
}

static void run_history(uint64_t number, uint64_t steps) {
    history = number;
    source.state = arguments.seed * UINT64_C(1000003) + number;
    job_count = in_flight = 0;
    keeps = false;
    options = (struct htw_journal_options)HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.synchronous = HTW_SYNCHRONOUS_NORMAL;
    options.near_ns = random_one_in(&source, 2) ? 0 : 1 + (int64_t)random_below(&source, HTW_HOUR);
    options.max_memory = random_one_in(&source, 2) ? 0 : 30000 + random_below(&source, 200000);
    options.max_in_flight = random_one_in(&source, 2) ? 100000 : 1 + random_below(&source, 20);
    options.parallel = (uint32_t)random_below(&source, 4);
    is_ordered = options.parallel <= 1;
    scheduler = manual_scheduler(START_NS);
    expect(scheduler != NULL, true, "htw_scheduler_create", 0);
    open_journal();
    for (steps_done = 0; steps_done < steps; steps_done++)
        step();
    settle();
    close_journal();
    htw_scheduler_destroy(scheduler);
}

int main(int argc, char **argv) {
    arguments = (struct model_arguments) { .seed = 1, .steps = 20000, .histories = UINT64_MAX };
    return model_run_on_file(&arguments, argc, argv, path, run_history);
}
