/* SPDX-License-Identifier: MIT */
/* journal_round.c - changes, their answers, and the judgement. */
#include "journal_round.h"

#include "../../src/journal/log.h"
#include "../support/manual_time.h"
#include "faulty_vfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAYLOAD_MAX = 400000 };

struct journal_round journal_round;

static struct journal_round *const at = &journal_round;

static struct fact *fact_of(uint64_t id) {
    for (size_t i = 0; i < at->fact_count; i++)
        if (at->facts[i].id == id)
            return &at->facts[i];
    return NULL;
}

static void deliver(void *context, const struct htw_delivery *delivery) {
    (void)context;
    if (delivery->deadline_ns > htw_scheduler_now(at->scheduler))
        round_fail("early", delivery->id, 0);
    struct fact *fact = fact_of(delivery->id);
    if (fact != NULL && fact->is_delivered)
        round_fail("delivered twice in one run", delivery->id, 0);
    if (fact != NULL)
        fact->is_delivered = true;
    if (!at->is_judging)
        return;
    if (fact == NULL)
        round_fail("a job that was never put is delivered", delivery->id, 0);
    if (fact->expected == MUST_NOT)
        round_fail("a job that had ended, or failed, is delivered", delivery->id, 0);
    if (delivery->payload_size < 8 || memcmp(delivery->payload, "payload ", 8) != 0)
        round_fail("another payload", delivery->id, 0);
    htw_journal_done_later(delivery->journal, delivery->id, NULL, NULL);
}

/* ---- opening and stopping */

static void make_scheduler(void) {
    at->scheduler = manual_scheduler(at->now_ns);
    if (at->scheduler == NULL)
        round_fail("htw_scheduler_create", 0, 0);
}

void round_init(const char *folder) {
    snprintf(at->path, sizeof(at->path), "%s/journal", folder);
    faulty_vfs_register();
    htw__log_checkpoint_pages = 30;
}

void round_begin(uint64_t seed) {
    static const char *const suffixes[] = { "", "-wal", "-shm", "-lock", "-journal" };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s%s", at->path, suffixes[i]);
        if (unlink(name) != 0 && errno != ENOENT)
            round_fail("a file cannot be removed", 0, errno);
    }
    at->fact_count = 0;
    at->holder = 0;
    at->is_judging = at->marks = false;
    memset(at->may_mark, 0, sizeof(at->may_mark));
    at->now_ns = ROUND_START_NS;
    faulty_vfs_reset(seed);
    make_scheduler();
}

int round_open(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    options.near_ns = 2 * HTW_MINUTE;
    options.max_memory = 256 * 1024;
    for (size_t i = 0; i < at->fact_count; i++)
        at->facts[i].is_delivered = false;
    return htw_journal_open(&at->journal, at->scheduler, at->path, &options);
}

void round_stop(bool is_cut) {
    if (is_cut)
        faulty_vfs_power_off();
    if (at->journal != NULL)
        (void)htw_journal_close(at->journal);
    at->journal = NULL;
    htw_scheduler_destroy(at->scheduler);
    if (is_cut)
        faulty_vfs_cut();
    make_scheduler();
}

/* ---- changes */

static bool has_stopped(void) {
    return htw_journal_sync(at->journal) == -EIO;
}

/* What an answer says about a change. */
static enum expected outcome_of(int result) {
    if (result == 0)
        return MUST;
    if (result != -EIO && result != -ENOSPC && result != -EAGAIN && result != -ENOMEM)
        round_fail("an unexpected result", 0, result);
    return result == -EIO && has_stopped() ? MAY : MUST_NOT;
}

static const char *payload_of(size_t size) {
    static char payload[PAYLOAD_MAX];
    if (size > sizeof(payload))
        abort();
    memcpy(payload, "payload ", 8);
    return payload;
}

static void add_fact(uint64_t id, enum expected expected) {
    if (id == 0)
        return;
    if (at->fact_count == FACTS_MAX)
        abort();
    at->facts[at->fact_count++] = (struct fact) { .id = id, .expected = expected };
}

void round_put(int64_t deadline_ns, size_t size) {
    uint64_t id = 0;
    int result = htw_journal_put(at->journal, deadline_ns, payload_of(size), size, &id);
    add_fact(id, outcome_of(result));
}

static void store(void *arg, int result) {
    *(int *)arg = result;
}

void round_put_later(int64_t deadline_ns, size_t size) {
    uint64_t id = 0;
    int noticed = 1;
    int result = htw_journal_put_later(at->journal, deadline_ns, payload_of(size), size, store,
                                       &noticed, &id);
    if (result != 0 && outcome_of(result) != MAY)
        return;
    (void)!htw_journal_sync(at->journal);
    if (result == 0 && noticed == 1)
        round_fail("a sync returned before a notice", id, 0);
    add_fact(id, result != 0 ? MAY : outcome_of(noticed));
}

/* What is known of a job that a change of this outcome has ended. */
static void end_fact(struct fact *fact, enum expected outcome) {
    if (fact != NULL && outcome == MUST)
        fact->expected = MUST_NOT;
    else if (fact != NULL && outcome == MAY && fact->expected == MUST)
        fact->expected = MAY;
}

void round_end(struct fact *fact, bool is_cancel) {
    int result = is_cancel ? htw_journal_cancel(at->journal, fact->id)
                           : htw_journal_done(at->journal, fact->id);
    if (result == -EALREADY && is_cancel)
        return;
    if (result == -ENOENT) {
        if (fact->expected == MUST)
            round_fail("a job is gone", fact->id, result);
        fact->expected = MUST_NOT;
        return;
    }
    enum expected outcome = outcome_of(result);
    if (outcome == MUST && fact->expected == MUST_NOT)
        round_fail("a job that does not exist was ended", fact->id, result);
    end_fact(fact, outcome);
}

static struct htw_job job_of(int64_t deadline_ns, size_t size) {
    struct htw_job job = HTW_JOB_INIT;
    job.payload_size = size;
    job.payload = payload_of(size);
    job.deadline_ns = deadline_ns;
    return job;
}

void round_replace(struct fact *old, int64_t deadline_ns, size_t size) {
    struct htw_job job = job_of(deadline_ns, size);
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    change.jobs = &job;
    change.job_count = 1;
    change.done = old == NULL ? NULL : &old->id;
    change.done_count = old != NULL;
    change.mark = &at->next_mark;
    change.mark_size = 1;
    enum expected outcome = outcome_of(htw_journal_apply(at->journal, &change));
    if (outcome == MUST) {
        memset(at->may_mark, 0, sizeof(at->may_mark));
        at->marks = true;
    }
    if (outcome != MUST_NOT)
        at->may_mark[at->next_mark] = true;
    at->next_mark++;
    end_fact(old, outcome);
    add_fact(job.id, outcome);
}

/* The job of the key may be replaced only by a put that is known. */
void round_put_under_key(int64_t deadline_ns, size_t size) {
    struct htw_job job = job_of(deadline_ns, size);
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.key = "key";
    job.key_size = 3;
    change.jobs = &job;
    change.job_count = 1;
    enum expected outcome = outcome_of(htw_journal_apply(at->journal, &change));
    end_fact(fact_of(at->holder), outcome);
    add_fact(job.id, outcome);
    if (outcome == MUST)
        at->holder = job.id;
}

void round_advance(int64_t delta_ns) {
    at->now_ns += delta_ns;
    if (htw_scheduler_advance(at->scheduler, delta_ns) != 0)
        round_fail("htw_scheduler_advance", 0, 0);
}

/* ---- the judgement */

static void judge_mark(void) {
    unsigned char mark = 0;
    int64_t size = htw_journal_get_mark(at->journal, &mark, 1);
    if (size < 0 || size > 1 || (size == 0 && at->marks) || (size == 1 && !at->may_mark[mark]))
        round_fail("the mark is wrong", mark, (int)size);
}

void round_judge(void) {
    at->is_judging = true;
    int error = round_open();
    if (error != 0)
        round_fail("the journal cannot be opened again", 0, error);
    judge_mark();
    for (int i = 0; i < 3; i++) {
        round_advance(i == 0 ? HTW_DAY : 0);
        error = htw_journal_sync(at->journal);
        if (error != 0)
            round_fail("htw_journal_sync", 0, error);
    }
    for (size_t i = 0; i < at->fact_count; i++)
        if (at->facts[i].expected == MUST && !at->facts[i].is_delivered)
            round_fail("a job is lost", at->facts[i].id, 0);
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    htw_journal_get_stats(at->journal, &stats);
    if (stats.jobs != 0)
        round_fail("the count of jobs is wrong", 0, (int)stats.jobs);
    error = htw_journal_close(at->journal);
    if (error != 0)
        round_fail("htw_journal_close", 0, error);
    at->journal = NULL;
    htw_scheduler_destroy(at->scheduler);
}
