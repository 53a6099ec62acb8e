/* SPDX-License-Identifier: MIT */
/* snapshot.c - the file and memory as they are at one instant, for those that only look at jobs. */
#include "snapshot.h"

#include <errno.h>

/* A snapshot begins again if a commit has ended between it and the lock. That this happens so often says that memory
   and the file are not of the same journal. */
#define TRIES_MAX 1000u

/* ---- turns: under the lock */

static void take_turn(struct htw_journal *journal) {
    uint64_t turn = journal->looks.taken++;
    while (journal->looks.ended != turn)
        htw__mutex_wait(&journal->mutex, &journal->idle);
}

static void end_turn(struct htw_journal *journal) {
    journal->looks.ended++;
    if (journal->looks.ended != journal->looks.taken)
        pthread_cond_broadcast(&journal->idle);
}

/* ---- on the second connection */

/* The first time. */
static int open_connection(struct htw_journal *journal) {
    if (journal->looks.database != NULL)
        return 0;
    struct htw__database *database = htw__journal_allocate(journal, sizeof(*database));
    if (database == NULL)
        return htw__journal_fail_as(-ENOMEM, "no memory to read the journal");
    int error = htw__database_open_to_read(database, &journal->path, true);
    if (error != 0)
        htw__journal_release(journal, database, sizeof(*database));
    else
        journal->looks.database = database;
    return error;
}

/* A commit that the snapshot sees has ended, and its thread is about to take the lock. */
static void wait_for_memory(struct htw_journal *journal, uint64_t generation) {
    journal->snapshot_waits = true;
    while (journal->is_in_use && journal->generation < generation && !journal->has_failed)
        htw__mutex_wait(&journal->mutex, &journal->idle);
    journal->snapshot_waits = false;
}

static int begin_to_read(struct htw_journal *journal, struct htw__database **ret_database) {
    uint64_t generation = 0;
    for (unsigned i = 0; i < TRIES_MAX; i++) {
        htw__mutex_unlock(&journal->mutex);
        int error = open_connection(journal);
        if (error == 0)
            error = htw__database_begin_snapshot(journal->looks.database, &generation);
        htw__mutex_lock(&journal->mutex);
        if (error != 0 && journal->looks.database != NULL && journal->looks.database->is_distrusted)
            htw__journal_stop(journal);
        if (error != 0)
            return error;
        *ret_database = journal->looks.database;
        wait_for_memory(journal, generation);
        if (generation == journal->generation || journal->has_failed)
            return 0;
        htw__database_end_snapshot(journal->looks.database);
    }
    return htw__journal_fail(-EBUSY, "%s: others change the file", journal->path.name);
}

/* ---- on the only one */

static void take_database(struct htw_journal *journal) {
    journal->look_waits = true;
    while (journal->is_in_use)
        htw__mutex_wait(&journal->mutex, &journal->idle);
    journal->look_waits = false;
    journal->is_in_use = true;
}

/* ---- both */

static bool is_transaction(const struct htw_journal *journal,
                           const struct htw__database *database) {
    return database != &journal->database || journal->is_read_only;
}

static void release(struct htw_journal *journal, const struct htw__database *database) {
    if (!is_transaction(journal, database))
        htw__journal_release_database(journal);
    end_turn(journal);
}

int htw__snapshot_begin(struct htw_journal *journal, struct htw__database **ret_database) {
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    *ret_database = &journal->database;
    htw__mutex_lock(&journal->mutex);
    if (htw__journal_is_inside(journal, false))
        return 0;
    take_turn(journal);
    uint64_t generation;
    if (journal->is_read_only) {
        if ((error = htw__database_begin_snapshot(&journal->database, &generation)) != 0)
            end_turn(journal);
    } else if (!htw__database_has_log(&journal->database)) {
        take_database(journal);
    } else if ((error = begin_to_read(journal, ret_database)) != 0) {
        end_turn(journal);
    }
    if (error == 0 && journal->has_failed) {
        htw__mutex_unlock(&journal->mutex);
        return htw__snapshot_end(journal, *ret_database,
                                 htw__journal_fail_as(-EIO, journal->failure));
    }
    if (error != 0)
        htw__mutex_unlock(&journal->mutex);
    return error;
}

int htw__snapshot_end(struct htw_journal *journal, struct htw__database *database, int error) {
    if (is_transaction(journal, database))
        htw__database_end_snapshot(database);
    htw__mutex_lock(&journal->mutex);
    if (database->is_distrusted)
        htw__journal_stop(journal);
    if (!htw__journal_is_inside(journal, false))
        release(journal, database);
    htw__mutex_unlock(&journal->mutex);
    return error;
}

void htw__snapshots_close(struct htw_journal *journal) {
    struct htw__database *database = journal->looks.database;
    if (database == NULL)
        return;
    htw__database_close(database, false, 0);
    htw__journal_release(journal, database, sizeof(*database));
}

/* ---- the public call that reads all of a file */

int htw_journal_check(struct htw_journal *journal, htw_problem *problem, void *context) {
    struct htw__database *database;
    int error = htw__journal_refusal(journal);
    if (error != 0)
        return error;
    if (problem == NULL || !journal->is_read_only)
        return htw__journal_fail_as(-EINVAL, "only a journal that is open to be read is checked");
    error = htw__snapshot_begin(journal, &database);
    if (error != 0)
        return error;
    htw__mutex_unlock(&journal->mutex);
    error = htw__database_check(database, &journal->path, problem, context);
    return htw__snapshot_end(journal, database, error);
}
