/* SPDX-License-Identifier: MIT */
/*
 * test_journal_calls.c - each system call of a journal, and of SQLite below it, fails in turn.
 *
 * A run opens a journal, makes changes, delivers, copies the log and closes, while one call fails,
 * once or from then on. Then the journal is opened on a system that works, and what it delivers is
 * compared with what the calls have answered. fsync() of SQLite fails in test_journal_disk.c.
 *
 * usage: fault_journal_calls [--all]: each call, with more errors; otherwise, of the calls of one
 * name, the first ones and fewer behind them
 */
/* holds: journal-4 */
#include "../../src/journal/database.h"
#include "../support/manual_time.h"
#include "../support/process.h"
#include "../support/test_folder.h"
#include "journal_calls.h"

#include <htw/journal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define START_NS (INT64_C(28333333) * HTW_MINUTE)

enum expected { NEVER_PUT, MUST, MUST_NOT, MAY };

static char folder[TEST_FOLDER_SIZE], path[64];
static struct htw_scheduler *scheduler;
static struct htw_journal *journal;
static char context[128];           /* which call fails, for messages */
static enum expected expected[128]; /* by the payload, which begins with a letter */
static uint64_t ids[128];
static unsigned seen[128];
static unsigned runs, refused_opens, stops, failures; /* the last: of this run */

static void fail(const char *what, int result) {
    journal_calls_relent();
    fprintf(stderr, "%s: %s: result %d: %s\n", context, what, result, htw_journal_error());
    exit(1);
}

static void remove_file(const char *name) {
    char at[80];
    snprintf(at, sizeof(at), "%s/%s", folder, name);
    unlink(at);
}

static void copy_file(const char *from, const char *to) {
    static char bytes[1 << 20];
    char names[2][80];
    snprintf(names[0], sizeof(names[0]), "%s/%s", folder, from);
    snprintf(names[1], sizeof(names[1]), "%s/%s", folder, to);
    FILE *in = fopen(names[0], "r"), *out = fopen(names[1], "w");
    if (in == NULL || out == NULL)
        fail("copy_file", 0);
    size_t size = fread(bytes, 1, sizeof(bytes), in);
    if (fwrite(bytes, 1, size, out) != size || fclose(in) != 0 || fclose(out) != 0)
        fail("copy_file", 0);
}

static void deliver(void *unused, const struct htw_delivery *delivery) {
    (void)unused;
    seen[(unsigned char)*(const char *)delivery->payload]++;
}

static int open_journal(void) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.deliver = deliver;
    return htw_journal_open(&journal, scheduler, path, &options);
}

static void make_scheduler(void) {
    scheduler = manual_scheduler(START_NS);
    if (scheduler == NULL)
        fail("htw_scheduler_create", 0);
}

/* ---- a run */

static enum expected outcome_of(int result) {
    if (result == 0)
        return MUST;
    failures++;
    if (result != -EIO && result != -ENOSPC && result != -ENOMEM && result != -EBUSY)
        fail("an unexpected answer of a change", result);
    if (htw_journal_error()[0] == '\0')
        fail("no sentence", result);
    if (result != -EIO || htw_journal_sync(journal) != -EIO)
        return MUST_NOT;
    stops++;
    return MAY;
}

static void put(char name, int64_t after_ns, size_t size) {
    static char payload[100000];
    payload[0] = name;
    int result = htw_journal_put(journal, START_NS + after_ns, payload, size, &ids[(unsigned)name]);
    expected[(unsigned)name] = outcome_of(result);
}

static void note_end(char name, int result) {
    enum expected *job = &expected[(unsigned)name];
    if (result == -ENOENT && *job != MUST) {
        *job = MUST_NOT;
        return;
    }
    enum expected outcome = outcome_of(result);
    if (outcome == MUST)
        *job = MUST_NOT;
    else if (outcome == MAY && *job == MUST)
        *job = MAY;
}

static void end(char name) {
    if (expected[(unsigned)name] != NEVER_PUT)
        note_end(name, htw_journal_done(journal, ids[(unsigned)name]));
}

/* ---- a queue */

static const char *const queue = "q";

static void put_in_queue(char name) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    job.queue = queue;
    job.payload = &name;
    job.payload_size = 1;
    job.deadline_ns = START_NS;
    change.jobs = &job;
    change.job_count = 1;
    expected[(unsigned)name] = outcome_of(htw_journal_apply(journal, &change));
    ids[(unsigned)name] = job.id;
}

static void note_lease(void *arg, int result, const struct htw_delivery *delivery) {
    uint32_t *attempt = arg;
    if (result != 0)
        return;
    *attempt = delivery->attempt;
    deliver(NULL, delivery);
}

static int lease(bool is_durable, uint32_t *ret_attempt) {
    struct htw_lease lease = HTW_LEASE_INIT;
    lease.queues = &queue;
    lease.queue_count = 1;
    lease.is_durable = is_durable;
    return htw_journal_lease(journal, &lease, note_lease, ret_attempt);
}

/* A lease that fails leaves the job as it is. */
static void lease_and_end(char name) {
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    int result = lease(true, &update.attempt);
    if (result == -ETIMEDOUT && expected[(unsigned)name] != MUST)
        return;
    (void)outcome_of(result);
    if (result != 0)
        return;
    update.id = ids[(unsigned)name];
    note_end(name, htw_journal_update(journal, &update));
}

/* Ends one job and puts another. */
static void replace(char old, char new) {
    struct htw_job job = HTW_JOB_INIT;
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    bool ends = expected[(unsigned)old] == MUST;
    job.payload = &new;
    job.payload_size = 1;
    job.deadline_ns = START_NS + HTW_HOUR;
    job.key = "key";
    job.key_size = 3;
    change.jobs = &job;
    change.job_count = 1;
    change.done = &ids[(unsigned)old];
    change.done_count = ends;
    change.mark = &new;
    change.mark_size = 1;
    enum expected outcome = outcome_of(htw_journal_apply(journal, &change));
    ids[(unsigned)new] = job.id;
    expected[(unsigned)new] = outcome;
    if (ends && outcome != MUST_NOT)
        expected[(unsigned)old] = outcome == MUST ? MUST_NOT : MAY;
}

static void change(void) {
    put('x', HTW_HOUR, 10);
    replace('a', 'y');
    put('z', HTW_HOUR, 100000);
    put('s', HTW_SECOND, 10);
    if (htw_scheduler_advance(scheduler, HTW_MINUTE) != 0)
        fail("htw_scheduler_advance", 0);
    end('b');
    end('s');
    put_in_queue('l');
    put_in_queue('m');
    lease_and_end('l');
    put('w', HTW_HOUR, 20000);
}

static void use(void) {
    journal = NULL;
    int error = open_journal();
    if (error == 0) {
        change();
        error = htw_journal_close(journal);
        if (error != 0 && error != -EIO && error != -ENOSPC)
            fail("an unexpected answer of the close", error);
        return;
    }
    refused_opens++;
    failures++;
    if (journal != NULL)
        fail("a journal, though it is refused", error);
    if (strstr(htw_journal_error(), folder) == NULL && error != -ENOMEM)
        fail("a refusal that does not name the file", error);
}

static void judge(void) {
    memset(seen, 0, sizeof(seen));
    int error = open_journal();
    if (error != 0)
        fail("the journal cannot be opened again", error);
    if (htw_scheduler_advance(scheduler, 2 * HTW_HOUR) != 0)
        fail("htw_scheduler_advance", 0);
    uint32_t attempt;
    while (lease(false, &attempt) == 0)
        ;
    for (char name = 'a'; name <= 'z'; name++) {
        unsigned count = seen[(unsigned)name];
        enum expected wanted = expected[(unsigned)name];
        if (count > 1 || (wanted == MUST && count == 0) ||
            ((wanted == MUST_NOT || wanted == NEVER_PUT) && count > 0)) {
            char what[40];
            snprintf(what, sizeof(what), "job %c comes %u times, wanted %d", name, count, wanted);
            fail(what, 0);
        }
    }
    error = htw_journal_close(journal);
    if (error != 0)
        fail("htw_journal_close", error);
}

/* In which the n-th call fails. Returns whether there was one. */
static bool run(bool is_new, unsigned call, unsigned nth, int error, bool is_lasting) {
    snprintf(context, sizeof(context), "%s journal, %s %u fails with %s%s", is_new ? "new" : "old",
             journal_calls_name(call), nth, strerror(error), is_lasting ? " for good" : "");
    remove_file("journal");
    remove_file("journal-wal");
    remove_file("journal-shm");
    if (!is_new) {
        copy_file("old", "journal");
        copy_file("old-wal", "journal-wal");
    }
    memset(expected, 0, sizeof(expected));
    expected['a'] = expected['b'] = expected['c'] = is_new ? NEVER_PUT : MUST;
    make_scheduler();
    unsigned files = entries_of("/proc/self/fd");
    failures = 0;
    journal_calls_fail(call, nth, error, is_lasting);
    use();
    bool was_hit = journal_calls_relent();
    if (error == EINTR && journal_calls_is_repeated(call) && failures > 0)
        fail("an interrupted call is not repeated", 0);
    if (nth == 1 && is_new && journal_calls_must_refuse(call) && !was_hit)
        fail("the call is not made", 0);
    if (was_hit && is_new && journal_calls_must_refuse(call) && error != EINTR && failures == 0)
        fail("a failure that must not be ignored", 0);
    if (entries_of("/proc/self/fd") != files)
        fail("files are left open", 0);
    htw_scheduler_destroy(scheduler);
    make_scheduler();
    judge();
    htw_scheduler_destroy(scheduler);
    runs++;
    return was_hit;
}

/* A journal with three jobs and its log, as a crash leaves it. */
static void make_old(void) {
    snprintf(context, sizeof(context), "the first journal");
    make_scheduler();
    if (open_journal() != 0)
        fail("htw_journal_open", 0);
    put('a', HTW_HOUR, 10);
    put('b', 30 * HTW_SECOND, 10);
    put('c', HTW_HOUR, 10);
    copy_file("journal", "old");
    copy_file("journal-wal", "old-wal");
    (void)htw_journal_close(journal);
    htw_scheduler_destroy(scheduler);
}

/* Each call of a name, from the first to the last that is made. */
static void fail_each(unsigned call, bool is_new, int error, bool is_lasting, bool all) {
    for (unsigned nth = 1; run(is_new, call, nth, error, is_lasting);)
        nth += all || nth < 3 ? 1 : nth;
}

int main(int argc, char **argv) {
    static const int errors[] = { EIO, EINTR, ENOSPC, EACCES, EMFILE, ENOMEM };
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    if (!test_folder_create(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/journal", folder);
    journal_calls_init();
    htw__log_checkpoint_pages = 10;
    make_old();
    for (unsigned call = 0; call < journal_calls_count(); call++)
        for (size_t e = 0; e < (all ? sizeof(errors) / sizeof(errors[0]) : 3); e++)
            for (unsigned is_new = 0; is_new < 2; is_new++) {
                fail_each(call, is_new, errors[e], false, all);
                if (errors[e] !=
                    EINTR) /* which comes of a signal, and these do not come for ever */
                    fail_each(call, is_new, errors[e], true, all);
            }
    if (!test_folder_remove(folder))
        return 1;
    printf("%u runs: %u times the journal was refused, and %u changes were stopped\n", runs,
           refused_opens, stops);
    return refused_opens < 100;
}
