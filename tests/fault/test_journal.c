/* SPDX-License-Identifier: MIT */
/*
 * test_journal.c - a journal on a disk that fails (faulty_vfs.h), judged by an oracle.
 *
 * A round opens a journal, changes it at random while faults of random kinds come at random
 * operations, and notes what each call has answered. In most rounds the power is cut at some point,
 * also while the journal is opened again. At the end the journal is opened on a disk that works, and
 * all that it delivers is compared with the answers:
 *  - a put that has answered 0, and no end of the job that may have been made: it is delivered;
 *  - a put that has failed, or a done or cancel that has answered 0: it is not;
 *  - if the journal had stopped when it answered -EIO: either.
 *
 * usage: as that of a model (arguments.h); a history is a round
 */
#include "../../src/journal/log.h"
#include "../model/arguments.h"
#include "../support/manual_time.h"
#include "../support/random.h"
#include "../support/test_folder.h"
#include "faulty_vfs.h"

#include <htw/journal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)
#define FACTS_MAX 400

enum expected { MUST, MUST_NOT, MAY };

/* What is known of a job. */
struct fact {
    uint64_t id;
    enum expected expected;
    bool is_delivered;
    int result; /* of a put with a notice */
};

static struct fact facts[FACTS_MAX];
static size_t fact_count;
static bool is_judging;
static struct random_source source;
static struct model_arguments arguments;
static uint64_t round_number;
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static char path[64], folder[TEST_FOLDER_SIZE];
static int64_t now_ns;
static bool may_mark[256], marks; /* values that the mark may have; whether it was ever set */
static unsigned char next_mark;
static uint64_t holder; /* the job of the key */

static void fail(const char *what, uint64_t id, int result) {
    fprintf(stderr, "--seed %llu --first %llu --histories 1: %s: job %llx, result %d: %s\n",
            (unsigned long long)arguments.seed, (unsigned long long)round_number, what,
            (unsigned long long)id, result, htw_journal_error());
    exit(1);
}

static struct fact *fact_of(uint64_t id) {
    for (size_t i = 0; i < fact_count; i++)
        if (facts[i].id == id)
            return &facts[i];
    return NULL;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    if (delivery->deadline_ns > htw_scheduler_now(scheduler))
        fail("early", delivery->id, 0);
    struct fact *fact = fact_of(delivery->id);
    if (!is_judging)
        return;
    if (fact == NULL)
        fail("a job that was never put is delivered", delivery->id, 0);
    if (fact->is_delivered)
        fail("delivered twice in one run", delivery->id, 0);
    if (fact->expected == MUST_NOT)
        fail("a job that had ended, or failed, is delivered", delivery->id, 0);
    if (delivery->payload_size < 8 || memcmp(delivery->payload, "payload ", 8) != 0)
        fail("another payload", delivery->id, 0);
    fact->is_delivered = true;
    htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

static void make_scheduler(void) {
    scheduler = manual_scheduler(now_ns);
    if (scheduler == NULL)
        fail("htw_scheduler_create", 0, 0);
}

static int open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.near_ns = 2 * HTW_MINUTE;
    options.max_memory = 256 * 1024;
    return htw_journal_open(&journal, scheduler, path, &options);
}

/* ---- the changes */

static bool has_stopped(void) {
    return htw_journal_sync(journal) == -EIO;
}

/* What an answer says about a change. */
static enum expected outcome_of(int result) {
    if (result == 0)
        return MUST;
    if (result != -EIO && result != -ENOSPC && result != -EAGAIN && result != -ENOMEM)
        fail("an unexpected result", 0, result);
    return result == -EIO && has_stopped() ? MAY : MUST_NOT;
}

static void store(void *arg, int result) {
    ((struct fact *)arg)->result = result;
}

static int64_t random_deadline(void) {
    return now_ns + (int64_t)random_below(&source, 6 * 60) * HTW_SECOND - 60 * HTW_SECOND;
}

static size_t random_payload(char **ret_payload) {
    static char payload[400000];
    size_t size = random_one_in(&source, 8) ? 8 + random_below(&source, sizeof(payload) - 8)
                                            : 8 + random_below(&source, 100);
    memcpy(payload, "payload ", 8);
    *ret_payload = payload;
    return size;
}

static void put(void) {
    char *payload;
    size_t size = random_payload(&payload);
    struct fact *fact = &facts[fact_count];
    *fact = (struct fact) { .result = 1 };
    if (random_one_in(&source, 2)) {
        int result = htw_journal_put(journal, random_deadline(), payload, size, &fact->id);
        fact->expected = outcome_of(result);
    } else {
        int result = htw_journal_put_later(journal, random_deadline(), payload, size, store, fact,
                                           &fact->id);
        if (result != 0 && outcome_of(result) != MAY)
            return;
        (void)!htw_journal_sync(journal);
        if (result == 0 && fact->result == 1)
            fail("a sync returned before a notice", fact->id, 0);
        fact->expected = result != 0 ? MAY : outcome_of(fact->result);
    }
    fact_count += fact->id != 0;
}

/* A job that is ended may be one that was not put, too. */
static void end(bool is_cancel) {
    if (fact_count == 0)
        return;
    struct fact *fact = &facts[random_below(&source, fact_count)];
    int result =
        is_cancel ? htw_journal_cancel(journal, fact->id) : htw_journal_done(journal, fact->id);
    if (result == -EALREADY && is_cancel)
        return;
    if (result == -ENOENT) {
        if (fact->expected == MUST)
            fail("a job is gone", fact->id, result);
        fact->expected = MUST_NOT;
        return;
    }
    enum expected outcome = outcome_of(result);
    if (outcome == MUST && fact->expected == MUST_NOT)
        fail("a job that does not exist was ended", fact->id, result);
    if (outcome == MUST)
        fact->expected = MUST_NOT;
    else if (outcome == MAY && fact->expected == MUST)
        fact->expected = MAY;
}

/* One job ends and another is put, with a mark. */
static void replace(void) {
    char *payload;
    struct fact *old = NULL;
    for (size_t i = 0; i < fact_count && old == NULL; i++)
        if (facts[i].expected == MUST)
            old = &facts[i];
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.payload_size = random_payload(&payload);
    job.payload = payload;
    job.deadline_ns = random_deadline();
    change.jobs = &job;
    change.job_count = 1;
    change.done = old == NULL ? NULL : &old->id;
    change.done_count = old != NULL;
    change.mark = &next_mark;
    change.mark_size = 1;
    enum expected outcome = outcome_of(htw_journal_apply(journal, &change));
    if (outcome == MUST) {
        memset(may_mark, 0, sizeof(may_mark));
        marks = true;
    }
    if (outcome != MUST_NOT)
        may_mark[next_mark] = true;
    next_mark++;
    if (old != NULL && outcome != MUST_NOT)
        old->expected = outcome == MUST ? MUST_NOT : MAY;
    if (job.id != 0)
        facts[fact_count++] = (struct fact) { .id = job.id, .expected = outcome };
}

/* The job of the key may be replaced only by a put that is known. */
static void put_under_key(void) {
    char *payload;
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.payload_size = random_payload(&payload);
    job.payload = payload;
    job.deadline_ns = random_deadline();
    job.key = "key";
    job.key_size = 3;
    change.jobs = &job;
    change.job_count = 1;
    enum expected outcome = outcome_of(htw_journal_apply(journal, &change));
    struct fact *old = fact_of(holder);
    if (old != NULL && outcome == MUST)
        old->expected = MUST_NOT;
    else if (old != NULL && outcome == MAY && old->expected == MUST)
        old->expected = MAY;
    if (job.id != 0)
        facts[fact_count++] = (struct fact) { .id = job.id, .expected = outcome };
    if (outcome == MUST)
        holder = job.id;
}

static void advance(void) {
    int64_t delta_ns = (int64_t)random_below(&source, 40) * HTW_SECOND;
    now_ns += delta_ns;
    if (htw_scheduler_advance(scheduler, delta_ns) != 0)
        fail("htw_scheduler_advance", 0, 0);
}

static void change(unsigned steps) {
    for (unsigned i = 0; i < steps && fact_count + 2 < FACTS_MAX; i++)
        switch (random_below(&source, 10)) {
        case 0:
            advance();
            break;
        case 1:
            end(true);
            break;
        case 2:
            end(false);
            break;
        case 3:
            replace();
            break;
        case 4:
            put_under_key();
            break;
        default:
            put();
            break;
        }
}

/* ---- a round */

static void plan_faults(void) {
    static const enum fault faults[] = { FAULT_REFUSED, FAULT_TORN,  FAULT_FULL, FAULT_GROWTH,
                                         FAULT_QUOTA,   FAULT_LIMIT, FAULT_SYNC, FAULT_SYNC_FULL };
    long from = (long)(random_below(&source, 2) == 0 ? random_below(&source, 40)
                                                     : random_below(&source, 600));
    if (!random_one_in(&source, 5))
        faulty_vfs_plan(faults[random_below(&source, 8)], from,
                        random_one_in(&source, 3) ? 1000000 : 1 + (long)random_below(&source, 3));
    if (random_one_in(&source, 2))
        faulty_vfs_plan(FAULT_POWER, from + (long)random_below(&source, 100), 1);
}

static void close_and_cut(void) {
    if (random_one_in(&source, 2))
        faulty_vfs_power_off();
    if (journal != NULL)
        (void)htw_journal_close(journal);
    journal = NULL;
    htw_scheduler_destroy(scheduler);
    faulty_vfs_cut();
    make_scheduler();
}

/* The process starts anew; the kernel goes on, with what it takes for the content of the files. */
static void restart(void) {
    (void)htw_journal_close(journal);
    journal = NULL;
    if (faulty_vfs_has_power() && open_journal() == 0)
        change(5 + (unsigned)random_below(&source, 20));
}

static void judge(void) {
    is_judging = true;
    int error = open_journal();
    if (error != 0)
        fail("the journal cannot be opened again", 0, error);
    unsigned char mark = 0;
    int64_t size = htw_journal_get_mark(journal, &mark, 1);
    if (size < 0 || size > 1 || (size == 0 && marks) || (size == 1 && !may_mark[mark]))
        fail("the mark is wrong", mark, (int)size);
    now_ns += HTW_DAY;
    for (int i = 0; i < 3; i++) {
        if (htw_scheduler_advance(scheduler, i == 0 ? HTW_DAY : 0) != 0)
            fail("htw_scheduler_advance", 0, 0);
        error = htw_journal_sync(journal);
        if (error != 0)
            fail("htw_journal_sync", 0, error);
    }
    for (size_t i = 0; i < fact_count; i++)
        if (facts[i].expected == MUST && !facts[i].is_delivered)
            fail("a job is lost", facts[i].id, 0);
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw_journal_get_stats(journal, &stats);
    if (stats.jobs != 0)
        fail("the count of jobs is wrong", 0, (int)stats.jobs);
    error = htw_journal_close(journal);
    if (error != 0)
        fail("htw_journal_close", 0, error);
    journal = NULL;
}

static long run_round(uint64_t number) {
    char command[128];
    snprintf(command, sizeof(command), "rm -f %s*", path);
    if (system(command) != 0)
        exit(1);
    round_number = number;
    source.state = arguments.seed * UINT64_C(1000003) + number;
    fact_count = 0;
    holder = 0;
    is_judging = marks = false;
    memset(may_mark, 0, sizeof(may_mark));
    now_ns = START_NS;
    faulty_vfs_reset(random_next(&source));
    make_scheduler();
    plan_faults();
    int error = open_journal();
    if (error == 0)
        change(10 + (unsigned)random_below(&source, 60));
    else if (error != -EIO && error != -ENOSPC && error != -ENOENT && error != -EACCES)
        fail("an unexpected error of the first open", 0, error);
    while (journal != NULL && random_one_in(&source, 2))
        restart();
    long failures = faulty_vfs_failures();
    close_and_cut();
    while (random_one_in(&source, 3)) { /* the power fails again, while the journal is opened */
        faulty_vfs_plan(FAULT_POWER, (long)random_below(&source, 30), 1);
        error = open_journal();
        if (error == 0)
            advance();
        close_and_cut();
    }
    judge();
    htw_scheduler_destroy(scheduler);
    return failures;
}

int main(int argc, char **argv) {
    arguments = (struct model_arguments) { .seed = 1, .histories = 300 };
    if (!model_arguments_parse(&arguments, argc, argv))
        return 2;
    if (!test_folder_create(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    faulty_vfs_register();
    htw__log_checkpoint_pages = 30; /* so that the log begins again often */
    uint64_t faulty = 0;
    for (uint64_t i = 0; i < arguments.histories; i++)
        faulty += run_round(arguments.first + i) > 0;
    if (!test_folder_remove(folder) ||
        (arguments.histories >= 30 && faulty < arguments.histories / 3))
        return 1;
    printf("%llu rounds, %llu of them with faults: nothing lost, nothing twice\n",
           (unsigned long long)arguments.histories, (unsigned long long)faulty);
    return 0;
}
