/* SPDX-License-Identifier: MIT */
/* blocks.c - which blocks of ids are in the file. */
#include "blocks.h"

#include "../base/random.h"
#include "database.h"
#include "ids.h"
#include "rows.h"
#include "statement.h"

#include <string.h>

/* 0 is that of no id. */
static uint64_t number_of(uint64_t id) {
    return id / HTW__BLOCK_IDS + 1;
}

static uint64_t *entry_of(uint64_t *table, uint64_t block) {
    return &table[htw__random_mix(block) % HTW__BLOCKS_KNOWN];
}

static void forget(uint64_t *table, uint64_t block) {
    uint64_t *entry = entry_of(table, block);
    if (*entry == block)
        *entry = 0;
}

/* ---- rows */

int htw__blocks_use(struct htw__database *self, uint64_t id, uint64_t place) {
    uint64_t block = number_of(id), first = id - id % HTW__BLOCK_IDS;
    uint64_t *entry = entry_of(self->blocks.stored, block);
    if (*entry == block)
        return 0;
    struct sqlite3_stmt *statement = self->statements[HTW__STORE_BLOCK];
    sqlite3_bind_int64(statement, 1, (int64_t)place);
    sqlite3_bind_int64(statement, 2, (int64_t)first);
    sqlite3_bind_int64(statement, 3, (int64_t)(first + HTW__BLOCK_IDS - 1));
    int error = htw__statement_run(self, HTW__STORE_BLOCK);
    if (error == 0)
        *entry = block;
    return error;
}

/* Whether a job is left in the block, as far as its first rows say: a block of format 1 may have many. */
static int has_jobs(struct htw__database *self, uint64_t first, uint64_t last, bool *ret_has) {
    enum { PART = 32, PARTS = HTW__BLOCK_IDS / PART + 1 };
    struct htw__scan_row rows[PART];
    int64_t count = 0;
    *ret_has = true;
    for (int i = 0; i < PARTS && count == 0 && *ret_has; i++)
        count = htw__rows_of_block(self, &first, last, rows, PART, ret_has);
    *ret_has = count > 0 || *ret_has;
    return count < 0 ? (int)count : 0;
}

/* Removes the row of the candidate's block if it has no job. */
static int judge(struct htw__database *self, struct htw__block_candidate candidate) {
    struct sqlite3_stmt *of = self->statements[HTW__BLOCK_OF];
    sqlite3_bind_int64(of, 1, (int64_t)candidate.place);
    sqlite3_bind_int64(of, 2, (int64_t)candidate.id);
    int result = htw__statement_step(self, HTW__BLOCK_OF);
    if (result == SQLITE_DONE)
        return 0;
    if (result != SQLITE_ROW)
        return htw__database_fail(self, result);
    uint64_t first = (uint64_t)sqlite3_column_int64(of, 0);
    uint64_t last = (uint64_t)sqlite3_column_int64(of, 1);
    sqlite3_reset(of);
    bool has;
    int error = has_jobs(self, first, last, &has);
    if (error != 0 || has)
        return error;
    struct sqlite3_stmt *statement = self->statements[HTW__DELETE_BLOCK];
    sqlite3_bind_int64(statement, 1, (int64_t)candidate.place);
    sqlite3_bind_int64(statement, 2, (int64_t)first);
    forget(self->blocks.stored, number_of(first));
    return htw__statement_run(self, HTW__DELETE_BLOCK);
}

/* ---- candidates */

bool htw__blocks_is_leaving(const struct htw__blocks *self, uint64_t id) {
    uint64_t block = number_of(id);
    return self->leaving[htw__random_mix(block) % HTW__BLOCKS_KNOWN] == block;
}

static bool add(struct htw__blocks *self, uint64_t id, uint64_t place) {
    if (self->count == HTW__BLOCKS_CANDIDATES)
        return false;
    self->candidates[(self->first + self->count++) % HTW__BLOCKS_CANDIDATES] =
        (struct htw__block_candidate) { place, id };
    *entry_of(self->leaving, number_of(id)) = number_of(id);
    return true;
}

int htw__blocks_leave(struct htw__database *self, uint64_t id, uint64_t place) {
    return htw__blocks_is_leaving(&self->blocks, id) || add(&self->blocks, id, place)
               ? 0
               : judge(self, (struct htw__block_candidate) { place, id });
}

void htw__blocks_found_empty(struct htw__blocks *self, uint64_t first, uint64_t place) {
    if (!htw__blocks_is_leaving(self, first))
        (void)add(self, first, place);
}

int htw__blocks_sweep(struct htw__database *self, size_t left) {
    struct htw__blocks *blocks = &self->blocks;
    int error = 0;
    while (blocks->count > left && error == 0) {
        struct htw__block_candidate candidate = blocks->candidates[blocks->first];
        forget(blocks->leaving, number_of(candidate.id));
        blocks->first = (blocks->first + 1) % HTW__BLOCKS_CANDIDATES;
        blocks->count--;
        error = judge(self, candidate);
    }
    return error;
}

/* ---- transactions */

void htw__blocks_begin(struct htw__blocks *self) {
    self->begun = self->first;
}

/* Those that were swept are still in the ring: nothing was added after that. */
void htw__blocks_undo(struct htw__blocks *self, bool is_whole) {
    memset(self->stored, 0, sizeof(self->stored));
    if (!is_whole)
        return;
    self->count += (self->first - self->begun) % HTW__BLOCKS_CANDIDATES;
    self->first = self->begun;
}
