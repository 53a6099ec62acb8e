/* SPDX-License-Identifier: MIT */
/* transaction.c - transactions on the file of a journal, and the counters that each stores; closing it. */
#include "../../base/clock.h"
#include "error.h"
#include "blocks.h"
#include "log.h"
#include "statements.h"

#include <errno.h>

/* How often a commit looks whether the files are in place. That takes two system calls, which in each
   commit would be a quarter of the time of one on some systems. */
#define CHECK_NS (10 * HTW_MILLISECOND)

int htw__database_begin(struct htw__database *self) {
    self->sqlite->added = (struct htw__added) { .last_put_us = self->last_put_us };
    htw__blocks_begin(&self->sqlite->blocks);
    if (!self->sqlite->log.is_rewritten)
        return htw__journal_fail(
            -ENOSPC, "%s-wal: no space to write the log of an earlier process again", self->name);
    return htw__statement_step(self, HTW__BEGIN);
}

int htw__database_changes(struct htw__database *self) {
    return sqlite3_total_changes(self->sqlite->connection);
}

/* With what the transaction has added. */
static int set_meta(struct htw__database *self, uint64_t next_id, uint64_t generation) {
    const struct htw__added *added = &self->sqlite->added;
    int error = htw__statement_run(self, HTW__SET_META,
                                   HTW__NUMBERS((int64_t)self->jobs + added->jobs, (int64_t)next_id,
                                                (int64_t)generation, added->last_put_us,
                                                (int64_t)self->generation));
    if (error == 0 && sqlite3_changes(self->sqlite->connection) == 0)
        return htw__database_distrust(
            self, "another journal has written to the file, without its lock file");
    return error;
}

/* The transaction is durable. */
static void take_over(struct htw__database *self, uint64_t next_id, uint64_t generation) {
    self->jobs += (uint64_t)self->sqlite->added.jobs;
    self->last_put_us = self->sqlite->added.last_put_us;
    self->from_inbox += (uint64_t)self->sqlite->added.inbox;
    self->next_id = next_id;
    self->generation = generation;
}

/* What is written to files that were removed is lost when they are closed. */
static int check_files(struct htw__database *self) {
    int64_t now = htw__clock_monotonic_ns();
    if (self->sqlite->checked_ns != 0 && now - self->sqlite->checked_ns < CHECK_NS)
        return 0;
    self->sqlite->checked_ns = now;
    int has_moved = 0;
    int result =
        sqlite3_file_control(self->sqlite->connection, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (result == SQLITE_OK && has_moved)
        return htw__database_distrust(self, "the file was removed or replaced");
    return htw__log_is_in_place(self)
               ? 0
               : htw__database_distrust(self, "the log of the file (-wal) was removed or replaced");
}

/* Never less than before: those that were reserved then may be in use by now. */
static uint64_t reserve_from(const struct htw__database *self, uint64_t next_id) {
    uint64_t end =
        self->ids_end - next_id > HTW__IDS_AHEAD ? next_id + HTW__IDS_AHEAD : self->ids_end;
    return end > self->next_id ? end : self->next_id;
}

static int commit(struct htw__database *self, uint64_t reserved, uint64_t generation, bool frees) {
    int error = self->is_in_memory ? 0 : set_meta(self, reserved, generation);
    if (error == 0 && !self->is_in_memory)
        error = check_files(self);
    if (error == 0)
        error = htw__room_secure(self, frees);
    if (error == 0)
        error = htw__frames_commit(self);
    if (error == 0)
        take_over(self, reserved, generation);
    return error;
}

int htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees) {
    int error = htw__blocks_sweep(self, HTW__BLOCKS_REST);
    return error == 0 ? commit(self, reserve_from(self, next_id), self->generation + 1, frees)
                      : error;
}

/* Some failures have rolled back already. Keeps the sentence of what failed before. */
void htw__database_rollback(struct htw__database *self) {
    if (!sqlite3_get_autocommit(self->sqlite->connection)) {
        (void)sqlite3_step(self->sqlite->statements[HTW__ROLLBACK]);
        (void)sqlite3_reset(self->sqlite->statements[HTW__ROLLBACK]);
    }
    htw__blocks_undo(&self->sqlite->blocks);
}

int htw__database_settle(struct htw__database *self, uint64_t next_id) {
    int error = htw__database_begin(self);
    if (error == 0) /* not with the generation that the transaction had which failed */
        error = commit(self, reserve_from(self, next_id), self->generation + 2, true);
    if (error != 0)
        htw__database_rollback(self);
    return error;
}

/* ---- transactions that read: as long as the statement has its row */

int htw__database_begin_snapshot(struct htw__database *self, uint64_t *ret_generation) {
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__READ_META];
    int result = htw__statement_step(self, HTW__READ_META);
    if (result != 1)
        return result < 0 ? result
                          : htw__database_distrust(self, "the journal has lost its counters");
    *ret_generation = (uint64_t)sqlite3_column_int64(statement, 0);
    self->sqlite->has_moved = sqlite3_column_int64(statement, 1) != 0;
    return 0;
}

void htw__database_end_snapshot(struct htw__database *self) {
    sqlite3_reset(self->sqlite->statements[HTW__READ_META]);
}

/* ---- closing */

/* No block without jobs is left, as far as it is known, and no id is reserved. */
static bool tidy_up(struct htw__database *self, uint64_t next_id) {
    if (self->is_in_memory || (self->sqlite->blocks.count == 0 && self->next_id == next_id))
        return true;
    int error = htw__database_begin(self);
    if (error == 0)
        error = htw__blocks_sweep(self, 0);
    if (error == 0)
        error = commit(self, next_id, self->generation + 1, true);
    if (error != 0)
        htw__database_rollback(self);
    return error == 0 || error == -ENOSPC;
}

void htw__database_close(struct htw__database *self, bool trusts_file, uint64_t next_id) {
    if (self->sqlite == NULL)
        return;
    if (trusts_file)
        trusts_file = tidy_up(self, next_id);
    if (trusts_file && self->sqlite->log.is_rewritten)
        htw__room_leave(self);
    htw__statements_finalize(self);
    if (self->sqlite->connection != NULL &&
        (!trusts_file || !self->sqlite->log.is_rewritten || self->is_guest))
        sqlite3_db_config(self->sqlite->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(self->sqlite->connection);
    sqlite3_free(self->sqlite);
    self->sqlite = NULL;
}
