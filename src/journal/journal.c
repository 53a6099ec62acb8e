/* SPDX-License-Identifier: MIT */
/* journal.c - opening and closing a journal; its options. state.h has an overview. */
#include "../base/alloc.h"
#include "lease.h"
#include "reader.h"
#include "slot.h"
#include "snapshot.h"
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NEAR_NS (10 * HTW_MINUTE)
#define GATHER_NS (2 * HTW_MILLISECOND)
#define LEASE_NS HTW_MINUTE
#define INBOX_NS (100 * HTW_MILLISECOND)
#define MAX_MEMORY ((uint64_t)64 << 20)
#define MAX_IN_FLIGHT 100000u

/* ---- options */

static uint64_t or_default(uint64_t value, uint64_t default_value) {
    return value == 0 ? default_value : value;
}

/* The name of the first member that is out of its range; NULL: none. */
static const char *find_invalid(const struct htw_journal_options *options) {
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    if ((unsigned)options->synchronous > HTW_SYNCHRONOUS_NORMAL)
        return "synchronous";
    if (options->parallel > HTW_JOURNAL_PARALLEL_MAX)
        return "parallel";
    if (options->near_ns < 0 || options->near_ns > HTW_JOURNAL_NEAR_NS_MAX)
        return "near_ns";
    if (options->lease_ns < 0)
        return "lease_ns";
    if (options->gather_ns < 0 || options->gather_ns > HTW_JOURNAL_GATHER_NS_MAX)
        return "gather_ns";
    if (options->inbox_ns < 0 || (options->inbox_ns != 0 && !options->is_guest))
        return "inbox_ns";
    return options->allocator == NULL || htw__allocator_is_valid(options->allocator) ? NULL
                                                                                     : "allocator";
}

static void set_options(struct htw_journal *journal, struct htw_scheduler *scheduler,
                        const struct htw_journal_options *options) {
    journal->scheduler = scheduler;
    journal->deliver = options->deliver;
    journal->stopped = options->stopped;
    journal->context = options->context;
    journal->is_manual = scheduler != NULL && htw_scheduler_clock(scheduler) == HTW_CLOCK_MANUAL;
    journal->near_ns = options->near_ns == 0 ? NEAR_NS : options->near_ns;
    journal->gather_ns = options->gather_ns == 0 ? GATHER_NS : options->gather_ns;
    journal->lease_ns = options->lease_ns == 0 ? LEASE_NS : options->lease_ns;
    journal->guest.interval_ns = options->inbox_ns == 0 ? INBOX_NS : options->inbox_ns;
    journal->guest.look_ns = options->is_guest ? 0 : HTW_NEVER_NS;
    journal->max_jobs = options->max_jobs;
    journal->max_in_flight = or_default(options->max_in_flight, MAX_IN_FLIGHT);
    uint64_t half = or_default(options->max_memory, MAX_MEMORY) / 2;
    journal->queued_max = half > SIZE_MAX / 4 ? SIZE_MAX / 4 : (size_t)half;
    journal->waiting_max = journal->queued_max;
    journal->ready_max = journal->waiting_max / 2;
}

/* ---- opening */

static void init(struct htw_journal *journal) {
    htw__mutex_init(&journal->mutex, HTW__RANK_JOURNAL);
    htw__system_condition_init(&journal->work);
    pthread_cond_init(&journal->read, NULL);
    pthread_cond_init(&journal->idle, NULL);
    journal->last = &journal->first;
    htw__jobs_init(&journal->jobs, &journal->allocator);
    htw__leases_init(&journal->leases, &journal->allocator);
    htw__histogram_init(&journal->commit_ns);
    htw__histogram_init(&journal->durable_ns);
    htw__histogram_init(&journal->lateness_ns);
    journal->fork_count = htw__fork_count();
}

static void fini(struct htw_journal *journal) {
    struct htw_allocator allocator = journal->allocator;
    htw__slots_destroy(journal);
    htw__jobs_fini(&journal->jobs);
    htw__leases_fini(&journal->leases, &journal->allocator);
    htw__queues_fini(&journal->queues);
    pthread_cond_destroy(&journal->work);
    pthread_cond_destroy(&journal->read);
    pthread_cond_destroy(&journal->idle);
    htw__mutex_fini(&journal->mutex);
    allocator.release(allocator.context, journal, sizeof(*journal), HTW__JOURNAL_ALIGNMENT);
}

/* What the file says of it. */
static int load(struct htw_journal *journal) {
    struct htw__database *database = &journal->database;
    uint64_t generation;
    int error = htw__database_begin_snapshot(database, &generation);
    if (error == 0)
        error = htw__queues_load(&journal->queues, database);
    if (error == 0 && journal->is_read_only)
        error = htw__queues_count_due(&journal->queues, database, htw__journal_now(journal));
    htw__database_end_snapshot(database);
    if (error != 0)
        return error;
    journal->stats.found = journal->stats.jobs = database->jobs;
    journal->last_put_us = database->last_put_us;
    journal->generation = database->generation;
    journal->ids.next_block = journal->ids.reserved = database->next_id;
    journal->ids.end = database->ids_end;
    return 0;
}

static int open_file(struct htw_journal *journal, const char *path,
                     const struct htw_journal_options *options) {
    struct htw__database *database = &journal->database;
    bool is_read_only = journal->is_read_only;
    int error = htw__database_check_library();
    if (error == 0)
        error = is_read_only ? htw__journal_path_find(&journal->path, path)
                             : htw__journal_path_open(&journal->path, path);
    if (error != 0)
        return error;
    error = is_read_only ? htw__database_open_to_read(database, &journal->path, false)
                         : htw__database_open(database, &journal->path, options);
    if (error == 0 && (error = load(journal)) != 0)
        htw__database_close(database, false, 0);
    if (error != 0)
        htw__journal_path_close(&journal->path, false);
    return error;
}

/* 0 or a negative errno, and then the file may be open. */
static int start(struct htw_journal *journal, uint32_t parallel) {
    int error;
    if (journal->is_read_only)
        return 0;
    htw__reader_init(journal);
    if (journal->scheduler != NULL) {
        error = htw__slots_create(journal, parallel == 0 ? 1 : parallel);
        if (error != 0)
            return error;
    }
    error = htw__writer_start(journal);
    if (error != 0)
        return error;
    htw__mutex_lock(&journal->mutex);
    if (journal->deliver != NULL)
        htw__leases_look(journal, journal->queues.unnamed);
    htw__slots_arm(journal);
    htw__mutex_unlock(&journal->mutex);
    return 0;
}

/* Ends all threads and timers, and closes the file. -EDEADLK: nothing has changed, but nothing is
   delivered any more. */
static int end(struct htw_journal *journal) {
    htw__mutex_lock(&journal->mutex);
    journal->is_closing = true;
    htw__leases_end(journal, -ESHUTDOWN);
    pthread_cond_signal(&journal->work); /* it tells them, also if this thread processes */
    pthread_cond_broadcast(&journal->read);
    htw__mutex_unlock(&journal->mutex);
    int error = htw__slots_cancel(journal);
    if (error != 0)
        return error;
    htw__writer_stop(journal);
    htw__snapshots_close(journal);
    htw__database_close(&journal->database, !journal->has_failed && !journal->is_read_only,
                        journal->ids.next_block);
    htw__journal_path_close(&journal->path, true);
    return 0;
}

static int no_memory(void) {
    return htw__journal_fail_as(-ENOMEM, "no memory for a journal");
}

static int open_journal(struct htw_journal **ret_journal, struct htw_scheduler *scheduler,
                        const char *path, const struct htw_journal_options *options,
                        bool is_read_only) {
    int error = htw__fork_init();
    if (error != 0)
        return no_memory();
    const struct htw_allocator *allocator =
        options->allocator == NULL ? &htw__default_allocator : options->allocator;
    struct htw_journal *journal =
        allocator->allocate(allocator->context, sizeof(*journal), HTW__JOURNAL_ALIGNMENT);
    if (journal == NULL)
        return no_memory();
    memset(journal, 0, sizeof(*journal));
    journal->allocator = *allocator;
    journal->is_read_only = is_read_only;
    set_options(journal, scheduler, options);
    if (is_read_only)
        journal->lease_ns = 0; /* it is not known */
    init(journal);
    error =
        htw__queues_init(&journal->queues, &journal->allocator, htw__journal_may_deliver(journal));
    if (error != 0)
        error = no_memory();
    else
        error = open_file(journal, path, options);
    if (error != 0) {
        fini(journal);
        return error;
    }
    *ret_journal = journal; /* before `deliver` is called */
    error = start(journal, options->parallel);
    if (error != 0) {
        char sentence[HTW__JOURNAL_SENTENCE];
        memcpy(sentence, htw_journal_error(), sizeof(sentence));
        (void)end(journal);
        fini(journal);
        *ret_journal = NULL;
        return htw__journal_fail_as(error, sentence);
    }
    return 0;
}

int htw_journal_open(struct htw_journal **ret_journal, struct htw_scheduler *scheduler,
                     const char *path, const struct htw_journal_options *options) {
    static const struct htw_journal_options initial = HTW_JOURNAL_OPTIONS_INIT;
    if (options == NULL)
        options = &initial;
    if (ret_journal == NULL || (path == NULL && options->is_guest))
        return htw__journal_fail_as(-EINVAL, "an argument of htw_journal_open() is NULL");
    const char *member = find_invalid(options);
    if (member != NULL)
        return htw__journal_fail(-EINVAL, "the option %s of the journal is not valid", member);
    if (options->deliver != NULL && scheduler == NULL)
        return htw__journal_fail_as(-EINVAL, "a journal that delivers needs a scheduler");
    return open_journal(ret_journal, scheduler, path, options, false);
}

int htw_journal_open_to_read(struct htw_journal **ret_journal, const char *path,
                             bool *ret_is_guest) {
    static const struct htw_journal_options initial = HTW_JOURNAL_OPTIONS_INIT;
    if (ret_journal == NULL || path == NULL)
        return htw__journal_fail_as(-EINVAL, "an argument of htw_journal_open_to_read() is NULL");
    int error = open_journal(ret_journal, NULL, path, &initial, true);
    if (error == 0 && ret_is_guest != NULL)
        *ret_is_guest = (*ret_journal)->database.is_guest;
    return error;
}

/* ---- closing */

int htw_journal_close(struct htw_journal *journal) {
    if (journal == NULL)
        return 0;
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (htw__journal_is_inside(journal, true))
        return htw__journal_fail(-EDEADLK, "%s: a callback of the journal must not close it",
                                 journal->path.name);
    error = end(journal);
    if (error != 0)
        return error;
    if (journal->unreported != 0)
        error = htw__journal_fail_as(journal->unreported, journal->unreported_sentence);
    fini(journal);
    return error;
}
